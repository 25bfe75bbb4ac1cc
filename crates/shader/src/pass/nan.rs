//! Which NaN an application sees. Arithmetic may give any NaN: the CPU takes the sign and payload of one operand or
//! makes up its own, and which one depends on the machine and on how the compiler ordered the operands. So wherever
//! the translation lets a float become bits (stores, atomics, texels, outputs, OpBitcast, packing) it puts
//! [`Un::FCanon`], and this pass, after all that look for arithmetic, settles where that is needed:
//!
//! - A value that no arithmetic made keeps its bits: loads, constants, integers and what merely chooses among them.
//! - Arithmetic in the same block does it itself ([`Tri::FmaCanon`] and its like); its other readers cannot tell.
//! - What is left stays an op of its own.

use crate::ir::*;
use crate::isa::{Nan, facts, operands, operands_mut};

/// Walks over all blocks after which what they find is followed.
const WALKS: usize = 8;

pub fn settle(shader: &mut Shader) {
    let canons: Vec<(u32, Value)> = (0..)
        .zip(&shader.blocks)
        .flat_map(|(b, block)| block.insts.iter().map(move |v| (b, *v)))
        .filter_map(|(b, v)| Some((b, canon_of(shader, v)?)))
        .collect();
    if canons.is_empty() {
        return;
    }
    let mut block_of = vec![u32::MAX; shader.values.len()];
    for (b, block) in shader.blocks.iter().enumerate() {
        block.insts.iter().for_each(|v| block_of[v.0 as usize] = b as u32);
    }
    let own = |b: u32, x: Value| block_of[x.0 as usize] == b;
    let row = |shader: &Shader, x: Value| facts(&shader.data(x).inst).map(|f| f.nan);
    // Of most an op's row says it.
    let asked = |c: &(u32, Value)| {
        let better = own(c.0, c.1) && with_canon(shader.data(c.1)).is_some();
        !better && !matches!(row(shader, c.1), Some(Nan::Makes | Nan::Settles))
    };
    let known = canons.iter().any(asked).then(|| wild(shader));
    for &(b, x) in &canons {
        if own(b, x)
            && let Some(better) = with_canon(shader.data(x))
        {
            shader.values[x.0 as usize].inst = better;
        }
    }
    let wild = |shader: &Shader, x: Value| match row(shader, x) {
        Some(Nan::Settles) => false,
        Some(Nan::Makes) => true,
        _ => known.as_ref().is_some_and(|k| k[x.0 as usize]),
    };
    let mut instead: Vec<Value> = (0..shader.values.len() as u32).map(Value).collect();
    for block in &shader.blocks {
        for v in &block.insts {
            if let Some(x) = canon_of(shader, *v)
                && !wild(shader, x)
            {
                instead[v.0 as usize] = x;
            }
        }
    }
    let Shader { values, blocks, .. } = shader;
    for block in blocks {
        block.insts.retain(|v| instead[v.0 as usize] == *v);
        for v in &block.insts {
            operands_mut(&mut values[v.0 as usize].inst, |o| {
                // An operation that stands for itself may stand for another's operand in turn.
                while instead[o.0 as usize] != *o {
                    *o = instead[o.0 as usize];
                }
            });
        }
    }
}

fn canon_of(shader: &Shader, v: Value) -> Option<Value> {
    match shader.data(v).inst {
        Inst::Un(Un::FCanon, x) => Some(x),
        _ => None,
    }
}

fn with_canon(data: &ValueData) -> Option<Inst> {
    if data.ty != Ty::B32 {
        return None;
    }
    Some(match data.inst {
        Inst::Bin(Bin::FAdd, a, b) => Inst::Bin(Bin::FAddCanon, a, b),
        Inst::Bin(Bin::FSub, a, b) => Inst::Bin(Bin::FSubCanon, a, b),
        Inst::Bin(Bin::FMul, a, b) => Inst::Bin(Bin::FMulCanon, a, b),
        Inst::Tri(Tri::Fma, a, b, c) => Inst::Tri(Tri::FmaCanon, a, b, c),
        _ => return None,
    })
}

/// Values that may be a NaN of whatever bits: what float arithmetic made, and what came of that by other ops.
fn wild(shader: &Shader) -> Vec<bool> {
    let mut wild = vec![false; shader.values.len()];
    // Values that a loop's phi reads over the back edge.
    let mut feeds_back = vec![false; shader.values.len()];
    for (b, block) in shader.blocks.iter().enumerate() {
        for v in &block.insts {
            if let Inst::Phi(sources) = &shader.data(*v).inst {
                let back = sources.iter().filter(|s| s.0.0 as usize >= b);
                back.for_each(|s| feeds_back[s.1.0 as usize] = true);
            }
        }
    }
    for _ in 0..WALKS {
        let mut changed = false;
        for block in &shader.blocks {
            for &v in &block.insts {
                let data = shader.data(v);
                if !wild[v.0 as usize] && data.ty != Ty::Bool && makes_wild(shader, &data.inst, &wild) {
                    wild[v.0 as usize] = true;
                    // Only phis read what comes later: without news for them, one walk is enough.
                    changed |= feeds_back[v.0 as usize];
                }
            }
        }
        if !changed {
            return wild;
        }
    }
    // A long way over back edges is followed value by value.
    let readers = Readers::of(shader);
    let mut left: Vec<Value> =
        (0..shader.values.len() as u32).map(Value).filter(|v| wild[v.0 as usize]).collect();
    while let Some(v) = left.pop() {
        for &r in readers.of_value(v) {
            let data = shader.data(r);
            if !wild[r.0 as usize] && data.ty != Ty::Bool && makes_wild(shader, &data.inst, &wild) {
                wild[r.0 as usize] = true;
                left.push(r);
            }
        }
    }
    wild
}

fn makes_wild(shader: &Shader, inst: &Inst, wild: &[bool]) -> bool {
    let any_operand = || {
        let mut any = false;
        operands(inst, |o| {
            any |= wild[o.0 as usize]
                || matches!(shader.data(o).inst, Inst::Input(_))
                    && makes_wild(shader, &shader.data(o).inst, wild)
        });
        any
    };
    let by_row = |nan: Nan| match nan {
        Nan::Makes => true,
        Nan::Keeps => any_operand(),
        Nan::Settles => false,
    };
    if let Some(facts) = facts(inst) {
        return by_row(facts.nan);
    }
    match inst {
        Inst::Reduce { op, .. } => by_row(op.nan()),
        Inst::Product { kind, .. } => by_row(kind.nan()),
        // Filtered; a texel read alone keeps its bits.
        Inst::Image(image) => {
            image.texel == TexelType::F32 && matches!(image.op, ImageOp::Sample | ImageOp::Gather)
        }
        // Interpolated; a vertex's attributes were loaded.
        Inst::Input(Input::Varying(_)) => shader.stage == Stage::Fragment,
        Inst::Input(_) | Inst::Const(_) | Inst::Load { .. } | Inst::LoadRows { .. } | Inst::Atomic { .. } => {
            false
        }
        _ => any_operand(),
    }
}

//! Dead code: keeps what has an effect and what that reads, through phis and branches. An exchange whose old value nobody
//! reads is a store.

use crate::ir::{AtomicOp, ImageOp, Inst, Shader, Term, Ty, Value};
use crate::isa::{has_effect, operands};

/// Per value: how often live code reads it; and which values are live.
pub fn live(shader: &Shader) -> (Vec<u32>, Vec<bool>) {
    let n = shader.values.len();
    let (mut uses, mut live, mut passed) = (vec![0u32; n], vec![false; n], vec![false; n]);
    // From the end to the beginning readers come before what they read, but for phis of loops.
    let mut late: Vec<Value> = vec![];
    let mut read = |v: Value, live: &mut [bool], passed: &[bool], late: &mut Vec<Value>| {
        let i = v.0 as usize;
        uses[i] += 1;
        if !live[i] {
            live[i] = true;
            if passed[i] {
                late.push(v);
            }
        }
    };
    for block in shader.blocks.iter().rev() {
        if let Term::Branch { cond, .. } = block.term {
            read(cond, &mut live, &passed, &mut late);
        }
        for &v in block.insts.iter().rev() {
            let (i, inst) = (v.0 as usize, &shader.data(v).inst);
            passed[i] = true;
            if live[i] || has_effect(inst) {
                live[i] = true;
                operands(inst, |o| read(o, &mut live, &passed, &mut late));
            }
        }
    }
    while let Some(v) = late.pop() {
        operands(&shader.data(v).inst, |o| read(o, &mut live, &passed, &mut late));
    }
    (uses, live)
}

/// Drops dead instructions, and constants and inputs, which need no place, from the blocks.
pub fn dce(shader: &mut Shader) {
    let (uses, live) = live(shader);
    for (value, uses) in shader.values.iter_mut().zip(uses) {
        if uses != 0 {
            continue;
        }
        let op = match &mut value.inst {
            Inst::Atomic { op, .. } => op,
            Inst::Image(i) => match &mut i.op {
                ImageOp::Atomic(op) => op,
                _ => continue,
            },
            _ => continue,
        };
        // Who cannot see what an exchange replaced cannot tell it from a store: in what order others see its value is the
        // memory's affair, and what it releases a store releases.
        if *op == AtomicOp::Exchange {
            *op = AtomicOp::Store;
            value.ty = Ty::Void;
        }
    }
    let values = &shader.values;
    for block in &mut shader.blocks {
        block.insts.retain(|v| {
            live[v.0 as usize] && !matches!(values[v.0 as usize].inst, Inst::Const(_) | Inst::Input(_))
        });
    }
}

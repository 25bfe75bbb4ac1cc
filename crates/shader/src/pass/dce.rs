//! Dead code: keeps what has an effect and what that reads, through phis and branches. An exchange whose old value nobody
//! reads is a store.

use crate::ir::{AtomicOp, ImageOp, Inst, Shader, Term, Ty, Value};
use crate::isa::{has_effect, operands};

/// What is known of a value.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    /// How often live code reads it.
    pub uses: u32,
    pub live: bool,
    /// The walk has come by its definition.
    passed: bool,
}

/// Which values are live, by value.
pub fn live(shader: &Shader) -> Vec<Seen> {
    read_by(shader, has_effect)
}

/// The same, as if a debugged shader were not.
pub fn live_without_notes(shader: &Shader) -> Vec<Seen> {
    read_by(shader, |i| has_effect(i) && !matches!(i, Inst::Note { .. }))
}

/// Which values are read by an instruction that `roots` names, or by a branch.
fn read_by(shader: &Shader, roots: impl Fn(&Inst) -> bool) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); shader.values.len()];
    // From the end to the beginning readers come before what they read, but for phis of loops.
    let mut late: Vec<Value> = vec![];
    let read = |v: Value, seen: &mut [Seen], late: &mut Vec<Value>| {
        let s = &mut seen[v.0 as usize];
        s.uses += 1;
        if !s.live {
            s.live = true;
            if s.passed {
                late.push(v);
            }
        }
    };
    for block in shader.blocks.iter().rev() {
        if let Term::Branch { cond, .. } = block.term {
            read(cond, &mut seen, &mut late);
        }
        for &v in block.insts.iter().rev() {
            let inst = &shader.data(v).inst;
            let s = &mut seen[v.0 as usize];
            s.passed = true;
            s.live = s.live || roots(inst);
            if s.live {
                operands(inst, |o| read(o, &mut seen, &mut late));
            }
        }
    }
    while let Some(v) = late.pop() {
        operands(&shader.data(v).inst, |o| read(o, &mut seen, &mut late));
    }
    seen
}

/// Drops dead instructions, and constants and inputs, which need no place, from the blocks.
pub fn dce(shader: &mut Shader) {
    let seen = live(shader);
    for (value, seen) in shader.values.iter_mut().zip(&seen) {
        if seen.uses != 0 {
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
            seen[v.0 as usize].live && !matches!(values[v.0 as usize].inst, Inst::Const(_) | Inst::Input(_))
        });
    }
}

//! Dead code: keeps what has an effect and what that reads, through phis and branches. An exchange whose old value nobody
//! reads is a store.

use crate::ir::{AtomicOp, ImageOp, Inst, Shader, Term, Ty, Value};
use crate::isa::{has_effect, operands};

/// Per value: how often live code reads it; and which values are live.
pub fn live(shader: &Shader) -> (Vec<u32>, Vec<bool>) {
    let n = shader.values.len();
    let (mut uses, mut live) = (vec![0u32; n], vec![false; n]);
    let mut stack: Vec<Value> = vec![];
    let mut read = |v: Value, live: &mut Vec<bool>, stack: &mut Vec<Value>| {
        uses[v.0 as usize] += 1;
        if !std::mem::replace(&mut live[v.0 as usize], true) {
            stack.push(v);
        }
    };
    for block in &shader.blocks {
        for &v in &block.insts {
            if has_effect(&shader.data(v).inst) && !std::mem::replace(&mut live[v.0 as usize], true) {
                stack.push(v);
            }
        }
        if let Term::Branch { cond, .. } = block.term {
            read(cond, &mut live, &mut stack);
        }
    }
    while let Some(v) = stack.pop() {
        operands(&shader.data(v).inst, |o| read(o, &mut live, &mut stack));
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

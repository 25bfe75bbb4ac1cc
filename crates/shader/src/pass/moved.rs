//! Floats of 16 bits that are only moved: what is loaded, and stored as it is, goes as bits and not by way of a 32-bit float, which would
//! make a quiet NaN of a signalling one (and take two conversions).

use crate::ir::*;
use crate::isa::operands;

/// Walks over the code, after which it is left as it is if they still find something.
const WALKS: usize = 8;

/// What a value is here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Is {
    /// Of no concern.
    Other,
    /// 16 bits from memory, which may go as they are.
    Bits,
}

fn of_memory(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Load { mem: Mem::F16, .. }
            | Inst::LoadRows { mem: Mem::F16, .. }
            | Inst::Atomic { mem: Mem::F16, op: AtomicOp::Load, .. }
    )
}

/// The values that an instruction writes to memory as they are.
fn stored(inst: &Inst) -> Option<&[Value]> {
    match inst {
        Inst::Store { mem: Mem::F16, values, .. } => Some(values),
        Inst::StoreRows { mem: Mem::F16, values, .. } => Some(values),
        Inst::Atomic { mem: Mem::F16, op: AtomicOp::Store, a, .. } => Some(std::slice::from_ref(a)),
        _ => None,
    }
}

pub fn as_bits(shader: &mut Shader) {
    let mut is = vec![Is::Other; shader.values.len()];
    let mut any = false;
    for v in shader.blocks.iter().flat_map(|b| &b.insts) {
        let inst = &shader.data(*v).inst;
        let part = matches!(inst, Inst::Part(of, _) if is[of.0 as usize] == Is::Bits);
        if of_memory(inst) || part {
            is[v.0 as usize] = Is::Bits;
            any = true;
        }
    }
    if !any || !settled(shader, &mut is) {
        return;
    }
    for v in 0..shader.values.len() {
        let writes =
            stored(&shader.values[v].inst).is_some_and(|s| s.iter().all(|o| is[o.0 as usize] == Is::Bits));
        match &mut shader.values[v].inst {
            Inst::Store { mem, .. } | Inst::StoreRows { mem, .. } if writes => *mem = Mem::U16,
            Inst::Atomic { mem, .. } if writes => *mem = Mem::U16,
            Inst::Load { mem, .. } | Inst::LoadRows { mem, .. } | Inst::Atomic { mem, .. }
                if is[v] == Is::Bits =>
            {
                *mem = Mem::U16
            }
            _ => {}
        }
    }
}

/// Takes out what anything but such a store reads, and what is stored beside it, until nothing changes.
fn settled(shader: &Shader, is: &mut [Is]) -> bool {
    for _ in 0..WALKS {
        let mut changed = false;
        let mut out = |v: Value, is: &mut [Is]| {
            changed |= std::mem::replace(&mut is[v.0 as usize], Is::Other) == Is::Bits
        };
        for block in &shader.blocks {
            if let Term::Branch { cond, .. } = block.term {
                out(cond, is);
            }
            for &v in &block.insts {
                let inst = &shader.data(v).inst;
                match (stored(inst), inst) {
                    (Some(values), _) => {
                        if values.iter().any(|o| is[o.0 as usize] == Is::Other) {
                            values.iter().for_each(|o| out(*o, is));
                        }
                        // Its place is computed from other values.
                        operands(inst, |o| {
                            if !values.contains(&o) {
                                out(o, is);
                            }
                        });
                    }
                    // A part goes as the whole, and the whole as its parts.
                    (None, Inst::Part(of, _)) => {
                        if is[of.0 as usize] != is[v.0 as usize] {
                            out(*of, is);
                            out(v, is);
                        }
                    }
                    _ => operands(inst, |o| out(o, is)),
                }
            }
        }
        if !changed {
            return true;
        }
    }
    false
}

//! Changes of what is said about code: decorations, hints, modes, specialisation.

use crate::module::{Inst, Module, op};
use random::Random;

const RELAXED_PRECISION: u32 = 0;
const SPEC_ID: u32 = 1;
const NO_CONTRACTION: u32 = 42;
/// Restrict, Aliased, Volatile, Coherent: what a buffer may be.
const MEMORY: [u32; 4] = [19, 20, 21, 23];
/// NoPerspective, Centroid, Sample: how an input may be interpolated.
const INTERPOLATION: [u32; 3] = [13, 16, 17];
const LOCATION: u32 = 30;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;
const OFFSET: u32 = 35;
const ARRAY_STRIDE: u32 = 6;
const LOCAL_SIZE: u32 = 17;

/// Where a new decoration goes: after the last one, or before the first type.
fn end_of_decorations(m: &Module) -> usize {
    let last = m.insts.iter().rposition(|i| matches!(i.op, op::DECORATE | op::MEMBER_DECORATE));
    last.map_or_else(|| m.insts.iter().position(|i| i.op == 19).unwrap_or(m.code()), |n| n + 1)
}

/// A decoration more.
pub fn decorate(m: &mut Module, r: &mut Random) -> Option<()> {
    let code = m.code();
    let (id, decoration) = match r.index(4) {
        0 | 1 => {
            let computed: Vec<(u32, u32)> = m.insts[code..]
                .iter()
                .filter(|i| (126..=200).contains(&i.op))
                .map(|i| (i.op, i.id))
                .collect();
            let &(number, id) = r.of(&computed)?;
            let contracts = (126..=152).contains(&number) && r.once_in(2);
            (id, if contracts { NO_CONTRACTION } else { RELAXED_PRECISION })
        }
        // Variables: storage buffers and images are in Uniform, UniformConstant or StorageBuffer.
        2 => {
            let buffers: Vec<u32> = m.insts[..code]
                .iter()
                .filter(|i| i.op == op::VARIABLE && matches!(i.args[0], 12))
                .map(|i| i.id)
                .collect();
            (*r.of(&buffers)?, MEMORY[r.index(4)])
        }
        _ => {
            let fragment = m.insts.iter().filter(|i| i.op == op::ENTRY_POINT).all(|i| i.args[0] == 4);
            let plain = |i: &&Inst| {
                fragment
                    && i.op == op::VARIABLE
                    && i.args[0] == 1
                    && !m.insts.iter().any(|d| {
                        d.op == op::DECORATE && d.args[0] == i.id && (d.args[1] == 11 || d.args[1] == 14)
                    })
            };
            let inputs: Vec<u32> = m.insts[..code].iter().filter(plain).map(|i| i.id).collect();
            (*r.of(&inputs)?, INTERPOLATION[r.index(3)])
        }
    };
    let same = |i: &Inst| i.op == op::DECORATE && i.args == [id, decoration];
    if m.insts.iter().any(same) {
        m.insts.retain(|i| !same(i));
    } else {
        let at = end_of_decorations(m);
        m.insts.insert(at, Inst::new(op::DECORATE, 0, 0, &[id, decoration]));
    }
    Some(())
}

/// A decoration's number changes, now and then in ways that are not valid.
pub fn redecorate(m: &mut Module, r: &mut Random) -> Option<()> {
    let known = |i: &Inst| match i.op {
        op::DECORATE => {
            matches!(i.args.get(1), Some(&(BINDING | DESCRIPTOR_SET | LOCATION | ARRAY_STRIDE)))
                && i.args.len() > 2
        }
        op::MEMBER_DECORATE => i.args.get(2) == Some(&OFFSET) && i.args.len() > 3,
        op::EXECUTION_MODE => i.args.get(1) == Some(&LOCAL_SIZE) && i.args.len() > 4,
        _ => false,
    };
    let all: Vec<usize> = (0..m.insts.len()).filter(|at| known(&m.insts[*at])).collect();
    let at = *r.of(&all)?;
    let last_member =
        m.definition(m.insts[at].args[0]).filter(|d| d.op == op::TYPE_STRUCT).map(|d| d.args.len());
    let i = &mut m.insts[at];
    match i.op {
        op::EXECUTION_MODE => i.args[2 + r.index(3)] = [1, 2, 3, 4, 8, 16][r.index(6)],
        op::MEMBER_DECORATE => {
            // The last one moves without touching another.
            if last_member != Some(i.args[1] as usize + 1) && !r.once_in(4) {
                return None;
            }
            i.args[3] = i.args[3].wrapping_add(16 * (1 + r.index(8) as u32));
        }
        _ => match i.args[1] {
            ARRAY_STRIDE if r.once_in(2) => i.args[2] = i.args[2].wrapping_mul(2),
            ARRAY_STRIDE => i.args[2] = i.args[2].wrapping_add(16 * r.index(4) as u32),
            LOCATION => i.args[2] = r.index(16) as u32,
            DESCRIPTOR_SET => i.args[2] = r.index(4) as u32,
            _ => i.args[2] = r.index(80) as u32,
        },
    }
    Some(())
}

/// A hint to the compiler.
pub fn control(m: &mut Module, r: &mut Random) -> Option<()> {
    let hints = |i: &Inst| matches!(i.op, op::FUNCTION | op::LOOP_MERGE | op::SELECTION_MERGE);
    let all: Vec<usize> = (0..m.insts.len()).filter(|at| hints(&m.insts[*at])).collect();
    let at = *r.of(&all)?;
    let i = &mut m.insts[at];
    match i.op {
        op::FUNCTION => i.args[0] = [0, 1, 2, 4, 8][r.index(5)],
        op::SELECTION_MERGE => i.args[1] = r.index(3) as u32,
        _ => {
            i.args.truncate(2);
            match r.index(5) {
                3 => i.args.extend([0x100, r.index(9) as u32]),
                4 => i.args.extend([0x80, r.index(9) as u32]),
                n => i.args.push(n as u32),
            }
        }
    }
    Some(())
}

/// A constant becomes one that a pipeline may set.
pub fn specialise(m: &mut Module, r: &mut Random) -> Option<()> {
    let code = m.code();
    let fit = |at: &usize| matches!(m.insts[*at].op, op::CONSTANT | op::CONSTANT_TRUE | op::CONSTANT_FALSE);
    let all: Vec<usize> = (0..code).filter(fit).collect();
    let at = *r.of(&all)?;
    let id = m.insts[at].id;
    m.insts[at].op += op::SPEC_CONSTANT - op::CONSTANT;
    let taken: Vec<u32> = m
        .insts
        .iter()
        .filter(|i| i.op == op::DECORATE && i.args.get(1) == Some(&SPEC_ID))
        .filter_map(|i| i.args.get(2).copied())
        .collect();
    let number = (0..).find(|n| !taken.contains(n)).unwrap_or(0);
    let place = end_of_decorations(m);
    m.insts.insert(place, Inst::new(op::DECORATE, 0, 0, &[id, SPEC_ID, number]));
    Some(())
}

//! Changes of what is computed.

use crate::flow::{self, Flow};
use crate::module::{Inst, Module, Scalar, op};
use crate::table;
use random::Random;

/// At how many places it is looked for one that fits.
const LOOKS: usize = 32;

/// Places of instructions within blocks that change values can touch: no labels, no merges, no lines.
pub fn places(m: &Module, flows: &[Flow]) -> Vec<usize> {
    let inside = flows.iter().flat_map(|f| &f.blocks).flat_map(|b| b.begin + 1..=b.end);
    inside.filter(|at| !m.insts[*at].is_merge() && !m.insts[*at].is_line()).collect()
}

/// Whether an operand has to be a constant, if it is one.
fn wants_constant(i: &Inst) -> bool {
    (op::ACCESS_CHAIN..=op::IN_BOUNDS_PTR_ACCESS_CHAIN).contains(&i.op)
        || i.op == op::IMAGE_TEXEL_POINTER
        || op::GROUP_NON_UNIFORM.contains(&i.op)
        || i.op > 4000
}

/// Where an instruction's operands are that another value of the type can stand for.
fn free_operands(m: &Module, i: &Inst) -> Vec<usize> {
    if matches!(i.op, op::PHI | op::VARIABLE) || i.op == op::EXT_INST && !is_glsl(m, i) {
        return vec![];
    }
    let free = |at: &&usize| {
        let Some(d) = m.definition(i.args[**at]) else { return false };
        let pointer = m.definition(d.ty).is_some_and(|t| t.op == op::TYPE_POINTER);
        let excluded = d.ty == 0
            || matches!(d.op, op::FUNCTION | op::SAMPLED_IMAGE)
            || d.is_constant() && wants_constant(i)
            // A call's pointers are variables.
            || pointer && (i.op == op::FUNCTION_CALL || i.op == op::EXT_INST);
        !excluded
    };
    i.ids.iter().filter(free).copied().collect()
}

pub fn is_glsl(m: &Module, i: &Inst) -> bool {
    let set = i.args.first().and_then(|s| m.definition(*s));
    set.is_some_and(|s| s.op == op::EXT_INST_IMPORT && s.args.first() == Some(&u32::from_le_bytes(*b"GLSL")))
}

/// An operand becomes another value of its type.
pub fn swap_operand(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let at = *r.of(&places(m, &flows))?;
    let operand = *r.of(&free_operands(m, &m.insts[at]))?;
    let old = m.insts[at].args[operand];
    let ty = m.definition(old)?.ty;
    let mut others = flow::values(m, flow::around(&flows, at)?, at, ty);
    others.retain(|v| *v != old);
    m.insts[at].args[operand] = *r.of(&others)?;
    Some(())
}

/// The components that an operation computes with: its result's, or where that is a bool its operand's.
fn computes(m: &Module, i: &Inst) -> Option<Scalar> {
    let (result, _) = m.numbers(i.ty)?;
    let operand = i.ids.last().and_then(|p| m.definition(i.args[*p])).and_then(|d| m.numbers(d.ty));
    Some(if result == Scalar::Bool { operand.map_or(result, |o| o.0) } else { result })
}

/// An operation becomes another of the same signature.
pub fn other_op(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let known = |at: &usize| {
        let i = &m.insts[*at];
        if i.op == op::EXT_INST {
            is_glsl(m, i) && i.args.get(1).is_some_and(|n| table::extended(*n).is_some())
        } else {
            table::row(i.op).is_some()
        }
    };
    let at = *r.of(&places(m, &flows).into_iter().filter(known).collect::<Vec<_>>())?;
    let scalar = computes(m, &m.insts[at])?;
    let i = &mut m.insts[at];
    let extended = i.op == op::EXT_INST;
    let old = if extended { i.args[1] } else { i.op };
    let row = if extended { table::extended(old) } else { table::row(old) }?;
    let fit: Vec<u32> = row.iter().filter(|(o, of)| *o != old && of.takes(scalar)).map(|(o, _)| *o).collect();
    let new = *r.of(&fit)?;
    if extended {
        i.args[1] = new;
    } else {
        i.op = new;
    }
    Some(())
}

/// Numbers that show mistakes.
fn number(r: &mut Random, s: Scalar, old: u32) -> u32 {
    match s {
        Scalar::Float(16) => [0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7E00, 1, 0x7BFF][r.index(8)],
        Scalar::Float(_) => {
            let known =
                [0f32, -0.0, 1.0, -1.0, 0.5, f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-40];
            match r.index(12) {
                n if n < known.len() => known[n].to_bits(),
                10 => old ^ 1 << 31,
                _ => (r.u64() >> 20) as u32,
            }
        }
        _ => match r.index(8) {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            3 => 1 << 31,
            4 => old.wrapping_add(1),
            5 => old.wrapping_sub(1),
            6 => old ^ 1 << r.index(32),
            _ => r.index(64) as u32,
        },
    }
}

/// A literal of this many bits as a word: with zeros or its sign above.
fn narrowed(s: Scalar, word: u32) -> u32 {
    match s {
        Scalar::Int(8, false) => word & 0xFF,
        Scalar::Int(8, true) => word as i8 as u32,
        Scalar::Int(16, true) => word as i16 as u32,
        Scalar::Int(16, false) | Scalar::Float(16) => word & 0xFFFF,
        _ => word,
    }
}

/// A constant is used with another value: in one place, or (where none counts on it) in all.
pub fn other_constant(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let places = places(m, &flows);
    let (at, operand) = (0..LOOKS).find_map(|_| {
        let at = *r.of(&places)?;
        let operand = *r.of(&free_operands(m, &m.insts[at]))?;
        let constant = m.definition(m.insts[at].args[operand]).is_some_and(|d| d.op == op::CONSTANT);
        constant.then_some((at, operand))
    })?;
    let constant = m.definition(m.insts[at].args[operand])?.clone();
    let (scalar, _) = m.numbers(constant.ty)?;
    let mut args = constant.args.clone();
    let last = args.len() - 1;
    args[last] = narrowed(scalar, number(r, scalar, args[last]));
    let before = m.insts.len();
    let new = m.global(op::CONSTANT, constant.ty, &args);
    let at = at + m.insts.len() - before;
    m.insts[at].args[operand] = new;
    Some(())
}

/// Whether an instruction can stand a second time after itself.
pub fn repeats(i: &Inst) -> bool {
    let moves = matches!(i.op, op::PHI | op::VARIABLE | op::LABEL | op::FUNCTION_PARAMETER);
    !moves && !i.is_terminator() && !i.is_merge()
}

/// An instruction stands there twice; what comes later uses the one or the other.
pub fn repeat(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let at = *r.of(&places(m, &flows).into_iter().filter(|at| repeats(&m.insts[*at])).collect::<Vec<_>>())?;
    let mut copy = m.insts[at].clone();
    let (old, new) = (copy.id, if copy.id != 0 { m.fresh() } else { 0 });
    copy.id = new;
    let end = flow::around(&flows, at).and_then(|f| f.block(at).map(|b| f.blocks[b].end))?;
    m.insts.insert(at + 1, copy);
    if old != 0 {
        use_instead(m, r, at + 2..end + 2, old, new);
    }
    Some(())
}

/// Some of the uses in a range become those of another value.
pub fn use_instead(m: &mut Module, r: &mut Random, range: std::ops::Range<usize>, old: u32, new: u32) {
    for at in range {
        if !m.insts[at].args.contains(&old) {
            continue;
        }
        for operand in free_operands(m, &m.insts[at]) {
            if m.insts[at].args[operand] == old && !r.once_in(3) {
                m.insts[at].args[operand] = new;
            }
        }
    }
}

/// Something new is computed of a value, and used in its place.
pub fn compute(m: &mut Module, r: &mut Random) -> Option<()> {
    let flows = flow::flows(m);
    let usable = |at: &usize| {
        let i = &m.insts[*at];
        i.id != 0 && repeats(i) && m.numbers(i.ty).is_some() && i.op != op::FUNCTION
    };
    let places = places(m, &flows);
    let at = (0..LOOKS).find_map(|_| r.of(&places).copied().filter(usable))?;
    let f = flow::around(&flows, at)?;
    let end = f.blocks[f.block(at)?].end;
    let (ty, old) = (m.insts[at].ty, m.insts[at].id);
    let (scalar, n) = m.numbers(ty)?;
    let others = flow::values(m, f, at + 1, ty);
    let mut other = || *r.of(&others).unwrap_or(&old);
    let (b, c) = (other(), other());
    let sets =
        m.insts.iter().find(|i| i.op == op::EXT_INST_IMPORT && i.args[0] == u32::from_le_bytes(*b"GLSL"));
    let set = sets.map(|i| i.id);
    let bools: Vec<u32> = match m.insts.iter().find(|i| i.op == op::TYPE_BOOL && n == 1).map(|i| i.id) {
        Some(bool) => flow::values(m, f, at + 1, bool),
        None => vec![],
    };
    let one_of = |r: &mut Random, row: &[(u32, table::Of)]| {
        let fit: Vec<u32> = row.iter().filter(|(_, of)| of.takes(scalar)).map(|(o, _)| *o).collect();
        r.of(&fit).copied()
    };
    let select = r.of(&bools).copied().filter(|_| r.once_in(4));
    let id = m.fresh();
    let made = match (scalar, select) {
        (_, Some(condition)) => Inst::new(op::SELECT, ty, id, &[condition, old, b]),
        _ if r.once_in(10) => Inst::new(op::COPY_OBJECT, ty, id, &[old]),
        (Scalar::Float(_), None) => match (set, r.index(6)) {
            (Some(set), 0) => {
                Inst::new(op::EXT_INST, ty, id, &[set, one_of(r, table::EXT_FLOAT_UNARY)?, old])
            }
            (Some(set), 1) => {
                Inst::new(op::EXT_INST, ty, id, &[set, one_of(r, table::EXT_FLOAT_BINARY)?, old, b])
            }
            (Some(set), 2) => {
                Inst::new(op::EXT_INST, ty, id, &[set, one_of(r, table::EXT_FLOAT_TRIPLE)?, old, b, c])
            }
            (_, 3) => Inst::new(one_of(r, table::FLOAT_UNARY)?, ty, id, &[old]),
            _ => Inst::new(one_of(r, table::FLOAT_BINARY)?, ty, id, &[old, b]),
        },
        // An int of some other width or sign than the operation's is not one of it; bit operations are of 32 bits.
        (Scalar::Int(32, _), None) if r.once_in(5) => Inst::new(one_of(r, table::INT_UNARY)?, ty, id, &[old]),
        (Scalar::Int(..), None) => Inst::new(one_of(r, table::INT_BINARY)?, ty, id, &[old, b]),
        (Scalar::Bool, None) if r.once_in(3) => Inst::new(one_of(r, table::BOOL_UNARY)?, ty, id, &[old]),
        (Scalar::Bool, None) => Inst::new(one_of(r, table::BOOL_BINARY)?, ty, id, &[old, b]),
    };
    m.insts.insert(at + 1, made);
    use_instead(m, r, at + 2..end + 2, old, id);
    Some(())
}

/// Another component is taken.
pub fn other_component(m: &mut Module, r: &mut Random) -> Option<()> {
    let all: Vec<usize> = (0..m.insts.len())
        .filter(|at| matches!(m.insts[*at].op, op::VECTOR_SHUFFLE | op::COMPOSITE_EXTRACT))
        .collect();
    let at = *r.of(&all)?;
    let i = &m.insts[at];
    let size = |id: &u32| m.definition(*id).and_then(|d| m.numbers(d.ty)).map(|(_, n)| n as usize);
    let (first, n) = match i.op {
        op::VECTOR_SHUFFLE => (2, size(&i.args[0])? + size(&i.args[1])?),
        // Of a vector alone.
        _ if i.args.len() == 2 => (1, size(&i.args[0]).filter(|n| *n > 1)?),
        _ => return None,
    };
    let at_word = first + r.index(i.args.len().checked_sub(first).filter(|n| *n > 0)?);
    m.insts[at].args[at_word] = r.index(n) as u32;
    Some(())
}

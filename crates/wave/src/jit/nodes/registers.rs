//! Registers of ops as operands of nodes.

use crate::recording::{Id, Kind, Node, Tape};
use rustc_hash::FxHashMap;
use shader::bytecode::{Op, Program, Reg};
use shader::ir::Ty;
use std::rc::Rc;

/// By unit of a register of 32-bit lanes, or of 64-bit ones: what it holds from the program's begin on.
pub type Consts = FxHashMap<usize, (Ty, u64)>;

/// Those of a program.
pub fn consts(program: &Program) -> Rc<Consts> {
    let numbers = program.consts.iter().filter(|c| c.1 != Ty::Bool);
    Rc::new(numbers.map(|(r, ty, x)| (r.unit(), (*ty, *x))).collect())
}

/// What a register holds where nobody has written to it, as nodes.
pub fn given(tape: &mut Tape, consts: &Consts, r: Reg, kind: Kind) -> Id {
    let known = consts.get(&r.unit());
    let node = match (kind, known) {
        (Kind::Mask, _) => Node::Mask(Reg::varying(r.unit() as u16)),
        (Kind::Word, Some((Ty::B32, x))) => Node::Splat(*x as u32),
        (Kind::Word, _) => Node::Word(r),
        (Kind::Wide, Some((Ty::B64, x))) => {
            let part = tape.put(Node::Splat64(*x));
            Node::Parts(part, part)
        }
        (Kind::Wide, _) => {
            let first = tape.put(Node::Part(r, 0));
            // What is the same in all lanes has one part for both.
            let last = if r.is_uniform() { first } else { tape.put(Node::Part(r, 1)) };
            Node::Parts(first, last)
        }
    };
    tape.put(node)
}

/// The registers of an op's operands, in the order of its recording.
pub fn operands(op: &Op) -> [Reg; 5] {
    if shader::twins::of(op.code).is_some() {
        [op.a, op.c, Reg(op.e), Reg(op.imm as u16), Reg((op.imm >> 16) as u16)]
    } else {
        [op.a, op.b, op.c, Reg(op.e), Reg(op.imm as u16)]
    }
}

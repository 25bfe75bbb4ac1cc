//! The condition of ops that compare and branch.

use crate::recording::Id;
use shader::bytecode::{BEFORE_LEFT, Before, Code, Op, Reg};
use shader::ir::{self, Ty};
use smallvec::SmallVec;

/// The comparison of an op that compares, not negated: `value` says what a register holds, `made` what a kernel makes of values.
pub fn compared<T>(
    op: &Op,
    it: &mut T,
    mut value: impl FnMut(&mut T, Reg) -> Id,
    mut made: impl FnMut(&mut T, Code, &[Id]) -> Option<Id>,
) -> Option<Id> {
    let cmp = ir::Bin::ALL.iter().find(|b| **b as u16 == op.e & 0xFF)?;
    let first = value(it, op.a);
    let before = if op.code == Code::CMP_JMP { Before::Nothing } else { Before::of(op.e) };
    let code = match before {
        Before::Nothing => None,
        Before::FAdd => Some(Code::bin(ir::Bin::FAdd, Ty::B32)),
        Before::FSub => Some(Code::bin(ir::Bin::FSub, Ty::B32)),
        Before::FMul => Some(Code::bin(ir::Bin::FMul, Ty::B32)),
        Before::FSumSquares => Some(Code::bin(ir::Bin::FSumSquares, Ty::B32)),
        Before::Fma => Some(Code::tri(ir::Tri::Fma, Ty::B32)),
    };
    let second = match code {
        None => value(it, op.b),
        Some(code) => {
            let n = if before == Before::Fma { 3 } else { 2 };
            let x: SmallVec<[Id; 3]> = [op.b, op.c, op.d][..n].iter().map(|r| value(it, *r)).collect();
            made(it, code, &x)?
        }
    };
    let left = code.is_some() && op.e & BEFORE_LEFT != 0;
    let x = if left { [second, first] } else { [first, second] };
    made(it, Code::bin(*cmp, Ty::B32), &x)
}

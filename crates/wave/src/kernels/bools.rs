//! Ops from Bools to Bools: 32 bytes at a time.
//!
//! They write all sixteen masks, those of dead warps too: a Bool register does not tell whether it is uniform, and a
//! uniform one must be whole wherever it is looked at. Nobody can tell otherwise, for inactive lanes' Bools are
//! nobody's business.

use super::Registry;
use super::regs::reg;
use crate::kernel;
use crate::recording::{Id, Kind, Record, Recording};
use crate::state::State;
use shader::bytecode::{Code, Reg};
use shader::ir::{Bin, Tri, Ty, Un};
use simd::Simd;

/// Four masks a word.
type Words = [u64; 4];

/// # Safety
/// `r` is one of the op's registers ([`super::regs`]).
#[inline(always)]
unsafe fn load(st: &State, r: Reg) -> Words {
    // SAFETY: the caller's.
    unsafe { reg(st, r).cast::<Words>().read() }
}
macro_rules! each {
    ($i:ident => $e:expr) => {{
        let mut r = [0; 4];
        for $i in 0..4 {
            r[$i] = $e;
        }
        r
    }};
}
/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<S: Simd>(s: S, st: &State, r: Reg, w: Words) {
    // SAFETY: the caller's.
    unsafe { s.mstore(reg(st, r), w) }
}

kernel! {
    pub BAnd(S, s, st, op) {
        // SAFETY: the op's registers.
        let (a, b) = unsafe { (load(st, op.a), load(st, op.b)) };
        // SAFETY: as above.
        unsafe { store(s, st, op.d, each!(i => a[i] & b[i])) };
        op.on(1)
    }
    pub BOr(S, s, st, op) {
        // SAFETY: the op's registers.
        let (a, b) = unsafe { (load(st, op.a), load(st, op.b)) };
        // SAFETY: as above.
        unsafe { store(s, st, op.d, each!(i => a[i] | b[i])) };
        op.on(1)
    }
    pub BXor(S, s, st, op) {
        // SAFETY: the op's registers.
        let (a, b) = unsafe { (load(st, op.a), load(st, op.b)) };
        // SAFETY: as above.
        unsafe { store(s, st, op.d, each!(i => a[i] ^ b[i])) };
        op.on(1)
    }
    pub BNot(S, s, st, op) {
        // SAFETY: the op's registers.
        let a = unsafe { load(st, op.a) };
        // SAFETY: as above.
        unsafe { store(s, st, op.d, each!(i => !a[i])) };
        op.on(1)
    }
    pub Select(S, s, st, op) {
        // SAFETY: the op's registers.
        let (m, a, b) = unsafe { (load(st, op.a), load(st, op.b), load(st, op.c)) };
        // SAFETY: as above.
        unsafe { store(s, st, op.d, each!(i => (m[i] & a[i]) | (!m[i] & b[i]))) };
        op.on(1)
    }
}

/// What they are to compiled code.
const fn recorded(operands: &'static [Kind], run: fn(&[Id; 5]) -> [Id; 2]) -> Recording {
    Recording { operands, results: &[Kind::Mask], run }
}
const ONE: &[Kind] = &[Kind::Mask];
const TWO: &[Kind] = &[Kind::Mask; 2];

pub fn register(r: &mut Registry) {
    r.add::<BAnd>(Code::bin(Bin::BAnd, Ty::Bool));
    r.add::<BOr>(Code::bin(Bin::BOr, Ty::Bool));
    r.add::<BXor>(Code::bin(Bin::BXor, Ty::Bool));
    r.add::<BNot>(Code::un(Un::BNot, Ty::Bool));
    r.add::<Select>(Code::tri(Tri::Select, Ty::Bool));
    r.add::<Select>(Code::tri(Tri::BitSelect, Ty::Bool));
    let recorded = [
        (Code::bin(Bin::BAnd, Ty::Bool), recorded(TWO, |x| [Record.mand(x[0], x[1]), 0])),
        (Code::bin(Bin::BOr, Ty::Bool), recorded(TWO, |x| [Record.mor(x[0], x[1]), 0])),
        (Code::bin(Bin::BXor, Ty::Bool), recorded(TWO, |x| [Record.mxor(x[0], x[1]), 0])),
        (Code::un(Un::BNot, Ty::Bool), recorded(ONE, |x| [Record.mnot(x[0]), 0])),
    ];
    recorded.into_iter().for_each(|(code, it)| r.record(code, it));
}

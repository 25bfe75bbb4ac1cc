//! Control flow, masks and barriers.

use super::levels::{Compare, Steps, compare, kernel_forms};
use super::mask::{self, Masks};
use super::regs::{dst32, src32};
use crate::state::{Fault, State, Status};
use shader::bytecode::{Code, Op, Reg};
use shader::ir::Bin;
use std::sync::atomic::{Ordering, fence};

/// Loop iterations between two questions to the host whether to go on.
pub const PATIENCE: u32 = 4096;

/// The op at absolute index `i`.
#[inline(always)]
pub(super) unsafe fn at(st: &State, i: u32) -> *const Op {
    st.code.add(i as usize)
}

/// Stops the wave at `op`, which led to a fault.
#[cold]
pub fn fault(st: &mut State, op: *const Op, fault: Fault) -> *const Op {
    st.pc = op;
    stop(st, Status::Fault(fault))
}

/// Stops the wave: the main loop ends at a null op.
#[inline(always)]
pub fn stop(st: &mut State, status: Status) -> *const Op {
    st.status = status;
    std::ptr::null()
}

#[inline(always)]
unsafe fn end<L: Steps>(st: &mut State, _op: *const Op) -> *const Op {
    stop(st, Status::Done)
}

#[inline(always)]
unsafe fn jmp<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    at(st, (*op).imm)
}

#[inline(always)]
unsafe fn jmp_unless<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    if *(st.regs.add((*op).a.unit() * 64) as *const u16) == 0 { at(st, (*op).imm) } else { op.add(1) }
}

/// Splits exec into `yes` and `no` lanes by `cond`.
#[inline(always)]
unsafe fn split_by(st: &mut State, cond: Masks, yes: Reg, no: Reg, imm: u32, next: *const Op) -> *const Op {
    let e = mask::exec(st);
    let y = mask::and(e, cond);
    if !yes.is_none() {
        mask::store(st, yes, y);
    }
    if !no.is_none() {
        mask::store(st, no, mask::andn(e, cond));
    }
    if mask::set_exec(st, y) == 0 { at(st, imm) } else { next }
}

/// Moves the lanes of exec in `cond` to the waiting mask `to`.
#[inline(always)]
unsafe fn park_by(st: &mut State, cond: Masks, to: Reg, imm: u32, next: *const Op) -> *const Op {
    let e = mask::exec(st);
    if !to.is_none() {
        mask::store(st, to, mask::or(mask::load(st, to), mask::and(e, cond)));
    }
    if mask::set_exec(st, mask::andn(e, cond)) == 0 { at(st, imm) } else { next }
}

#[inline(always)]
unsafe fn split<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = *op;
    split_by(st, mask::load(st, o.a), o.d, o.b, o.imm, op.add(1))
}

/// As [`split`], but nothing changes when no lane is chosen.
#[inline(always)]
unsafe fn split_rare<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = *op;
    let c = mask::load(st, o.a);
    let y = mask::and(mask::exec(st), c);
    if mask::non_empty(&y) & st.all == 0 {
        return at(st, o.imm);
    }
    split_by(st, c, o.d, o.b, o.imm, op.add(1))
}

#[inline(always)]
unsafe fn join<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let m = mask::or(mask::exec(st), mask::load(st, (*op).a));
    if mask::set_exec(st, m) == 0 { at(st, (*op).imm) } else { op.add(1) }
}

#[inline(always)]
unsafe fn jmp_if<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    if *(st.regs.add((*op).a.unit() * 64) as *const u16) != 0 { at(st, (*op).imm) } else { op.add(1) }
}

#[inline(always)]
unsafe fn setexec<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let m = mask::load(st, (*op).a);
    if mask::set_exec(st, m) == 0 { at(st, (*op).imm) } else { op.add(1) }
}

#[inline(always)]
unsafe fn getexec<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    mask::store(st, (*op).d, mask::exec(st));
    op.add(1)
}

#[inline(always)]
unsafe fn orexec<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let d = (*op).d;
    mask::store(st, d, mask::or(mask::load(st, d), mask::exec(st)));
    op.add(1)
}

#[inline(always)]
unsafe fn park<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let d = (*op).d;
    if !d.is_none() {
        mask::store(st, d, mask::or(mask::load(st, d), mask::exec(st)));
    }
    mask::set_exec(st, [0; 16]);
    at(st, (*op).imm)
}

#[inline(always)]
unsafe fn park_if<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = *op;
    park_by(st, mask::load(st, o.a), o.b, o.imm, op.add(1))
}

#[cold]
#[inline(never)]
unsafe fn out_of_patience(st: &mut State) -> bool {
    st.patience = PATIENCE;
    // SAFETY: the host outlives the wave.
    (*st.host).expired()
}

#[inline(always)]
unsafe fn loop_<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let a = (*op).a;
    st.patience = st.patience.wrapping_sub(1);
    if st.patience == 0 && out_of_patience(st) {
        return fault(st, op, Fault::Watchdog);
    }
    if (*op).e != 0 {
        super::count::count(st, (*op).e as usize);
    }
    if a.is_none() {
        return at(st, (*op).imm);
    }
    let m = mask::load(st, a);
    mask::store(st, a, [0; 16]);
    if mask::set_exec(st, m) != 0 { at(st, (*op).imm) } else { op.add(1) }
}

#[inline(always)]
unsafe fn mask_andn<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = *op;
    mask::store(st, o.d, mask::andn(mask::load(st, o.a), mask::load(st, o.b)));
    op.add(1)
}

#[inline(always)]
unsafe fn mask_clear<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    mask::store(st, (*op).d, [0; 16]);
    op.add(1)
}

#[inline(always)]
unsafe fn barrier<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    fence(Ordering::SeqCst);
    if !st.yields {
        return op.add(1);
    }
    st.pc = op.add(1);
    stop(st, Status::Barrier)
}

#[inline(always)]
unsafe fn fence_<L: Steps>(_st: &mut State, op: *const Op) -> *const Op {
    fence(Ordering::SeqCst);
    op.add(1)
}

/// Masks as four words of 64 bits: stored one by one they could not be loaded as a vector without a stall.
pub(super) type Words = [u64; 4];

/// Lanes of groups of four warps; only groups with live warps are computed, dead warps' bits are any.
#[inline(always)]
unsafe fn compare_all<L: Steps, C: Compare>(st: &State, a: Reg, b: Reg) -> Words {
    let (pa, sa) = src32(st, a);
    let (pb, sb) = src32(st, b);
    if sa == 0 && sb == 0 {
        return if C::one(*pa, *pb) { [!0; 4] } else { [0; 4] };
    }
    let mut m = [0; 4];
    for g in 0..4 {
        if st.live >> (4 * g) & 15 != 0 {
            m[g] = L::compare4::<C>(pa.add(g * 4 * sa), sa, pb.add(g * 4 * sb), sb);
        }
    }
    m
}

/// The condition Bin(e & 0xFF)(a, b) over live warps, negated if bit 8 of `e` is set; 0 for a `Bin` that is no
/// comparison.
#[inline(always)]
unsafe fn condition<L: Steps>(st: &State, o: &Op) -> Words {
    let m = comparison::<L>(st, o.e & 0xFF, o.a, o.b);
    let flip = if o.e & 0x100 != 0 { !0 } else { 0 };
    [m[0] ^ flip, m[1] ^ flip, m[2] ^ flip, m[3] ^ flip]
}

#[inline(always)]
unsafe fn comparison<L: Steps>(st: &State, bin: u16, a: Reg, b: Reg) -> Words {
    macro_rules! pick {
        ($($n:ident),*) => {
            $(if bin == Bin::$n as u16 { return compare_all::<L, compare::$n>(st, a, b); })*
        };
    }
    pick!(ULt, SLt, FLt, FLe, ULe, SLe, IEq, INe, FEq, FNe);
    [0; 4]
}

/// A vector made in registers.
#[inline(always)]
fn masks(w: Words) -> Masks {
    // SAFETY: 32 bytes each; lane order is that of little-endian machines (see regs.rs).
    unsafe { std::mem::transmute(w) }
}

/// Whether any lane of exec is in `w`.
#[inline(always)]
fn any(st: &State, w: &Words) -> bool {
    // SAFETY: exec is 64 bytes, aligned to 64.
    let e = unsafe { *(st.exec.as_ptr() as *const Words) };
    (e[0] & w[0]) | (e[1] & w[1]) | (e[2] & w[2]) | (e[3] & w[3]) != 0
}

/// Goes on with the lanes `w` for which the condition of `op` holds: what its code does with them is asked here, so that a
/// condition is compiled once for all three.
#[inline(always)]
pub(super) unsafe fn go(st: &mut State, op: *const Op, w: Words) -> *const Op {
    let kind = (*op).code.unfused();
    if kind != Code::CMP_SPLIT && !any(st, &w) {
        return if kind == Code::CMP_PARK { op.add(2) } else { at(st, (*op).imm) };
    }
    let r = (*op.add(1)).regs();
    if kind == Code::CMP_PARK {
        park_by(st, masks(w), r[0], (*op).imm, op.add(2))
    } else {
        split_by(st, masks(w), r[0], r[1], (*op).imm, op.add(2))
    }
}

#[inline(always)]
unsafe fn cmp_branch<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let c = condition::<L>(st, &*op);
    go(st, op, c)
}

#[inline(always)]
unsafe fn cmp_jmp<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let o = &*op;
    let (x, y) = (*src32(st, o.a).0, *src32(st, o.b).0);
    macro_rules! pick {
        ($($n:ident),*) => {
            $(if o.e & 0xFF == Bin::$n as u16 { <compare::$n as Compare>::one(x, y) } else)* { false }
        };
    }
    let c = pick!(ULt, SLt, FLt, FLe, ULe, SLe, IEq, INe, FEq, FNe);
    if c != (o.e & 0x100 != 0) { at(st, o.imm) } else { op.add(1) }
}

fn alive(st: &State) -> Masks {
    // SAFETY: alive has 32 entries.
    unsafe { *(st.alive.as_ptr() as *const Masks) }
}

#[inline(always)]
unsafe fn narrow<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let e = mask::exec(st);
    mask::store(st, (*op).d, e);
    if mask::set_exec(st, mask::and(e, alive(st))) == 0 { at(st, (*op).imm) } else { op.add(1) }
}

#[inline(always)]
unsafe fn demote<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let m = mask::andn(alive(st), mask::exec(st));
    *(st.alive.as_mut_ptr() as *mut Masks) = m;
    if mask::non_empty(&m) & st.all == 0 { stop(st, Status::Done) } else { op.add(1) }
}

#[inline(always)]
unsafe fn helper<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    mask::store(st, (*op).d, mask::andn([!0; 16], alive(st)));
    op.add(1)
}

#[inline(always)]
unsafe fn loop_next<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    // A copy would be taken apart from a vector register.
    let o = &*op;
    let next = (*src32(st, o.a).0).wrapping_add(*src32(st, o.b).0);
    L::splat32(dst32(st, o.d, 0), next);
    st.patience = st.patience.wrapping_sub(1);
    if st.patience == 0 && out_of_patience(st) {
        return fault(st, op, Fault::Watchdog);
    }
    if o.e != 0 {
        super::count::count(st, o.e as usize);
    }
    cmp_jmp::<L>(st, at(st, o.imm))
}

kernel_forms! {
    LOOP_NEXT = loop_next;
    END = end;
    JMP = jmp;
    JMP_UNLESS = jmp_unless;
    SPLIT = split;
    SETEXEC = setexec;
    GETEXEC = getexec;
    OREXEC = orexec;
    PARK = park;
    PARK_IF = park_if;
    LOOP = loop_;
    MASK_ANDN = mask_andn;
    MASK_CLEAR = mask_clear;
    BARRIER = barrier;
    FENCE = fence_;
    CMP_SPLIT CMP_PARK CMP_SPLIT_RARE = cmp_branch;
    CMP_JMP = cmp_jmp;
    JOIN = join;
    JMP_IF = jmp_if;
    SPLIT_RARE = split_rare;
    NARROW = narrow;
    DEMOTE = demote;
    HELPER = helper;
}

//! Control flow, masks and barriers.

use super::cmp;
use super::forms::kernels;
use super::map::{B, Op2};
use super::mask::{self, Masks};
use super::mask_steps::{self, MaskMachine, Wave};
use super::pair::Word;
use super::regs::{dst32, reg, src32};
use crate::state::{At, Fault, State, Status};
use shader::bytecode::{Code, Op, Reg};
use shader::ir::Bin;
use simd::Steps;
use std::sync::atomic::{Ordering, fence};
use std::time::Instant;

/// Loop iterations between two questions to the host whether to go on.
pub const PATIENCE: u32 = 4096;

/// The op at absolute index `i`.
#[inline(always)]
pub(super) fn at(st: &State, i: u32) -> *const Op {
    st.code.wrapping_add(i as usize)
}

/// Stops the wave at `op`, which led to a fault.
#[cold]
pub fn fault(st: &mut State, op: At, fault: Fault) -> *const Op {
    st.pc = op.ptr();
    stop(st, Status::Fault(fault))
}

/// Stops the wave: the main loop ends at a null op.
#[inline(always)]
pub fn stop(st: &mut State, status: Status) -> *const Op {
    st.status = status;
    std::ptr::null()
}

#[inline(always)]
fn end<L: Steps>(_: L, st: &mut State, _op: At) -> *const Op {
    stop(st, Status::Done)
}

#[inline(always)]
fn jmp<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    at(st, op.imm)
}

#[inline(always)]
fn jmp_unless<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    let first = unsafe { reg(st, op.a).cast::<u16>().read() };
    if first == 0 { at(st, op.imm) } else { op.on(1) }
}

/// A wave for the steps of an op.
///
/// # Safety
/// As [`Wave::new`].
#[inline(always)]
unsafe fn wave(st: &mut State) -> Wave<'_> {
    // SAFETY: the caller's.
    unsafe { Wave::new(st) }
}

/// Where the wave goes on after an op that changed who executes: at op `imm` if no lane does.
#[inline(always)]
fn while_any(st: &State, imm: u32, next: *const Op) -> *const Op {
    if st.live == 0 { at(st, imm) } else { next }
}

#[inline(always)]
fn split<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    let mut m = unsafe { wave(st) };
    let c = m.load(o.a);
    mask_steps::split(&mut m, c, o.d, o.b, false);
    while_any(st, o.imm, op.on(1))
}

#[inline(always)]
fn split_rare<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    let mut m = unsafe { wave(st) };
    let c = m.load(o.a);
    if !mask_steps::split(&mut m, c, o.d, o.b, true) {
        return at(st, o.imm);
    }
    while_any(st, o.imm, op.on(1))
}

#[inline(always)]
fn join<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    mask_steps::set_exec(&mut unsafe { wave(st) }, op.a, true);
    while_any(st, op.imm, op.on(1))
}

#[inline(always)]
fn jmp_if<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    let first = unsafe { reg(st, op.a).cast::<u16>().read() };
    if first != 0 { at(st, op.imm) } else { op.on(1) }
}

#[inline(always)]
fn setexec<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    mask_steps::set_exec(&mut unsafe { wave(st) }, op.a, false);
    while_any(st, op.imm, op.on(1))
}

#[inline(always)]
fn getexec<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    mask_steps::get_exec(&mut unsafe { wave(st) }, op.d);
    op.on(1)
}

#[inline(always)]
fn orexec<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    mask_steps::wait(&mut unsafe { wave(st) }, op.d);
    op.on(1)
}

#[inline(always)]
fn park<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let imm = op.imm;
    // SAFETY: the op's register.
    mask_steps::wait(&mut unsafe { wave(st) }, op.d);
    mask::set_exec(st, [0; 16]);
    at(st, imm)
}

#[inline(always)]
fn park_if<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    let mut m = unsafe { wave(st) };
    let c = m.load(o.a);
    mask_steps::park_if(&mut m, c, o.b);
    while_any(st, o.imm, op.on(1))
}

/// Why the wave is to stop, if it is; asked when it has run out of loop iterations.
#[cold]
#[inline(never)]
pub fn out_of_patience(st: &mut State) -> Option<Fault> {
    st.patience = PATIENCE;
    if st.host.expired() {
        return Some(Fault::Stopped);
    }
    let now = Instant::now();
    let since = *st.asked.get_or_insert(now);
    (now.duration_since(since) > st.host.wave_time()).then_some(Fault::Watchdog)
}

#[inline(always)]
fn loop_<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let a = op.a;
    st.patience = st.patience.wrapping_sub(1);
    if st.patience == 0
        && let Some(why) = out_of_patience(st)
    {
        return fault(st, op, why);
    }
    if op.e != 0 {
        // SAFETY: a counter of the program.
        unsafe { super::count::count(st, op.e as usize) };
    }
    if a.is_none() {
        return at(st, op.imm);
    }
    // SAFETY: the op's register.
    let m = unsafe { mask::load(st, a) };
    // SAFETY: as above.
    unsafe { mask::store(st, a, [0; 16]) };
    if mask::set_exec(st, m) != 0 { at(st, op.imm) } else { op.on(1) }
}

#[inline(always)]
fn mask_andn<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    mask_steps::and_not(&mut unsafe { wave(st) }, o.d, o.a, o.b);
    op.on(1)
}

#[inline(always)]
fn mask_clear<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    mask_steps::clear(&mut unsafe { wave(st) }, op.d);
    op.on(1)
}

#[inline(always)]
fn barrier<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    fence(Ordering::SeqCst);
    if !st.yields {
        return op.on(1);
    }
    st.pc = op.on(1);
    stop(st, Status::Barrier)
}

#[inline(always)]
fn fence_<L: Steps>(_: L, _st: &mut State, op: At) -> *const Op {
    fence(Ordering::SeqCst);
    op.on(1)
}

/// Masks as four words of 64 bits: stored one by one they could not be loaded as a vector without a stall.
pub(super) type Words = [u64; 4];

/// Masks of groups of four warps. Only groups with live warps are computed; dead warps' bits have any value.
///
/// # Safety
/// The registers are the op's, of 32 bits.
#[inline(always)]
unsafe fn compare_all<L: Steps, C: Compare>(l: L, st: &State, a: Reg, b: Reg) -> Words
where
    <C::Vector as Op2>::A: Word,
    <C::Vector as Op2>::B: Word,
{
    let (pa, sa) = src32(st, a);
    let (pb, sb) = src32(st, b);
    if sa == 0 && sb == 0 {
        // SAFETY: the caller's.
        return if unsafe { C::one(*pa, *pb) } { [!0; 4] } else { [0; 4] };
    }
    let mut m = [0; 4];
    // One warp's lanes.
    macro_rules! warp {
        ($w:expr) => {{
            // SAFETY: the caller's; a wave has warps by fours.
            let (a, b) = unsafe { (l.iload(pa.add($w * sa).cast()), l.iload(pb.add($w * sb).cast())) };
            C::Vector::f(l, <C::Vector as Op2>::A::of(l, a), <C::Vector as Op2>::B::of(l, b))
        }};
    }
    for g in 0..4 {
        if st.live >> (4 * g) & 15 != 0 {
            m[g] = l.mbits4([warp!(4 * g), warp!(4 * g + 1), warp!(4 * g + 2), warp!(4 * g + 3)]);
        }
    }
    m
}

/// A comparison of 32 bits: one lane's, and its kernels' own.
trait Compare {
    type Vector: Op2<R = B>;
    fn one(a: u32, b: u32) -> bool;
}
macro_rules! compares {
    ($($name:ident: |$a:ident, $b:ident| $one:expr;)*) => {
        /// The comparisons of `Bin`, by its names.
        mod compare {
            $(pub struct $name;
            impl super::Compare for $name {
                type Vector = super::cmp::$name;
                #[inline(always)]
                fn one($a: u32, $b: u32) -> bool {
                    $one
                }
            })*
        }
    };
}
compares! {
    FEq: |a, b| f32::from_bits(a) == f32::from_bits(b);
    FNe: |a, b| f32::from_bits(a) != f32::from_bits(b);
    FLt: |a, b| f32::from_bits(a) < f32::from_bits(b);
    FLe: |a, b| f32::from_bits(a) <= f32::from_bits(b);
    IEq: |a, b| a == b;
    INe: |a, b| a != b;
    SLt: |a, b| (a as i32) < b as i32;
    SLe: |a, b| a as i32 <= b as i32;
    ULt: |a, b| a < b;
    ULe: |a, b| a <= b;
}

/// The condition Bin(e & 0xFF)(a, b) over live warps, negated if bit 8 of `e` is set; 0 for a `Bin` that is no
/// comparison.
///
/// # Safety
/// The op compares registers of 32 bits.
#[inline(always)]
unsafe fn condition<L: Steps>(l: L, st: &State, o: &Op) -> Words {
    // SAFETY: the caller's.
    let m = unsafe { comparison(l, st, o.e & 0xFF, o.a, o.b) };
    let flip = if o.e & 0x100 != 0 { !0 } else { 0 };
    [m[0] ^ flip, m[1] ^ flip, m[2] ^ flip, m[3] ^ flip]
}

/// # Safety
/// As [`compare_all`].
#[inline(always)]
unsafe fn comparison<L: Steps>(l: L, st: &State, bin: u16, a: Reg, b: Reg) -> Words {
    macro_rules! pick {
        ($($n:ident),*) => {
            // SAFETY: the caller's.
            $(if bin == Bin::$n as u16 { return unsafe { compare_all::<L, compare::$n>(l, st, a, b) }; })*
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
pub(super) fn go(st: &mut State, op: At, w: Words) -> *const Op {
    let kind = op.code.unfused();
    if kind != Code::CMP_SPLIT && !any(st, &w) {
        return if kind == Code::CMP_PARK { op.on(2) } else { at(st, op.imm) };
    }
    // SAFETY: each of these ops has one extension word, of registers.
    let (r, mut m) = unsafe { (op.ext(), wave(st)) };
    if kind == Code::CMP_PARK {
        mask_steps::park_if(&mut m, masks(w), r[0]);
    } else {
        mask_steps::split(&mut m, masks(w), r[0], r[1], false);
    }
    while_any(st, op.imm, op.on(2))
}

#[inline(always)]
fn cmp_branch<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: one of those ops.
    let c = unsafe { condition(l, st, &op) };
    go(st, op, c)
}

#[inline(always)]
fn cmp_jmp<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = &*op;
    // SAFETY: the op's registers.
    let (x, y) = unsafe { (*src32(st, o.a).0, *src32(st, o.b).0) };
    macro_rules! pick {
        ($($n:ident),*) => {
            $(if o.e & 0xFF == Bin::$n as u16 { <compare::$n as Compare>::one(x, y) } else)* { false }
        };
    }
    let c = pick!(ULt, SLt, FLt, FLe, ULe, SLe, IEq, INe, FEq, FNe);
    if c != (o.e & 0x100 != 0) { at(st, o.imm) } else { op.on(1) }
}

fn alive(st: &State) -> Masks {
    // SAFETY: alive has 32 entries.
    unsafe { *(st.alive.as_ptr() as *const Masks) }
}

#[inline(always)]
fn narrow<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let e = mask::exec(st);
    // SAFETY: the op's register.
    unsafe { mask::store(st, op.d, e) };
    if mask::set_exec(st, mask::and(e, alive(st))) == 0 { at(st, op.imm) } else { op.on(1) }
}

#[inline(always)]
fn demote<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let m = mask::andn(alive(st), mask::exec(st));
    // SAFETY: alive has 32 entries.
    unsafe { *(st.alive.as_mut_ptr() as *mut Masks) = m };
    if simd::non_zero(&m) & st.all == 0 { stop(st, Status::Done) } else { op.on(1) }
}

#[inline(always)]
fn helper<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: the op's register.
    unsafe { mask::store(st, op.d, mask::andn([!0; 16], alive(st))) };
    op.on(1)
}

#[inline(always)]
fn loop_next<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    // A copy would be taken apart from a vector register.
    let o = &*op;
    // SAFETY: the op's registers.
    unsafe {
        let next = (*src32(st, o.a).0).wrapping_add(*src32(st, o.b).0);
        l.splat32(dst32(st, o.d, 0), next);
    }
    st.patience = st.patience.wrapping_sub(1);
    if st.patience == 0
        && let Some(why) = out_of_patience(st)
    {
        return fault(st, op, why);
    }
    if o.e != 0 {
        // SAFETY: a counter of the program.
        unsafe { super::count::count(st, o.e as usize) };
    }
    // SAFETY: the check sees to it that a CMP_JMP is there.
    let test = unsafe { At::new(at(st, o.imm)) };
    cmp_jmp(l, st, test)
}

kernels! {
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

//! Subgroup operations by vectors: shuffles, reductions and scans of warps of 16 lanes, active lanes only ([`super::subgroup`] says what
//! inactive ones read as).
//!
//! A reduction folds halves: lane i with lane i ^ 8, then ^ 4 …; a scan adds what lies 1, 2, 4 and 8 lanes before. So the order of a sum
//! of floats is the same on every level.

use super::Registry;
use super::mask::Bits;
use super::regs::{dst32, dst64, src32, src64};
use super::wide::{dmax, dmin};
use crate::kernel;
use crate::recording::lines::{BEFORE, PARTNER, line};
use crate::recording::{self, Id, Kind, Record};
use crate::state::State;
use shader::bytecode::{Code, Op, Reg};
use shader::ir::ReduceOp;
use simd::{Simd, Table, ops};

/// Sixteen lanes of a width.
pub(super) trait Elements<S: Simd> {
    type V: Copy;
    /// # Safety
    /// `r` is one of the op's registers, of that width, and the wave has a warp `w`.
    unsafe fn read(s: S, st: &State, r: Reg, w: usize) -> Self::V;
    /// # Safety
    /// As [`Elements::read`].
    unsafe fn write(s: S, st: &State, r: Reg, w: usize, v: Self::V);
    fn splat(s: S, bits: u64) -> Self::V;
    fn shuffle(s: S, v: Self::V, from: S::I) -> Self::V;
    fn select(s: S, m: S::M, a: Self::V, b: Self::V) -> Self::V;
}

/// Words, and pairs of words.
pub(super) struct Words;
struct Wide;

impl<S: Simd> Elements<S> for Words {
    type V = S::I;
    #[inline(always)]
    unsafe fn read(s: S, st: &State, r: Reg, w: usize) -> S::I {
        let (p, step) = src32(st, r);
        // SAFETY: the caller's; registers are aligned.
        unsafe { s.iload(p.add(w * step).cast()) }
    }
    #[inline(always)]
    unsafe fn write(s: S, st: &State, r: Reg, w: usize, v: S::I) {
        // SAFETY: as above.
        unsafe { s.istore(dst32(st, r, w).cast(), v) };
    }
    #[inline(always)]
    fn splat(s: S, bits: u64) -> S::I {
        s.isplat(bits as u32)
    }
    #[inline(always)]
    fn shuffle(s: S, v: S::I, from: S::I) -> S::I {
        s.ishuffle(v, from)
    }
    #[inline(always)]
    fn select(s: S, m: S::M, a: S::I, b: S::I) -> S::I {
        s.isel(m, a, b)
    }
}

impl<S: Simd> Elements<S> for Wide {
    type V = S::L;
    #[inline(always)]
    unsafe fn read(s: S, st: &State, r: Reg, w: usize) -> S::L {
        let (p, step) = src64(st, r);
        // SAFETY: the caller's; registers are aligned.
        unsafe { s.lload(p.add(w * step).cast()) }
    }
    #[inline(always)]
    unsafe fn write(s: S, st: &State, r: Reg, w: usize, v: S::L) {
        // SAFETY: as above.
        unsafe { s.lstore(dst64(st, r, w).cast(), v) };
    }
    #[inline(always)]
    fn splat(s: S, bits: u64) -> S::L {
        s.lsplat(bits)
    }
    #[inline(always)]
    fn shuffle(s: S, v: S::L, from: S::I) -> S::L {
        s.lshuffle(v, from)
    }
    #[inline(always)]
    fn select(s: S, m: S::M, a: S::L, b: S::L) -> S::L {
        s.lsel(m, a, b)
    }
}

/// Lanes that have one `1 << step` before them in their cluster of `1 << cluster` lanes.
const fn followers(cluster: u32, step: u32) -> u16 {
    let mut m = 0;
    let mut i = 0;
    while i < 16 {
        if i & ((1 << cluster) - 1) >= 1 << step {
            m |= 1 << i;
        }
        i += 1;
    }
    m
}
const FOLLOWERS: [[u16; 4]; 5] = {
    let mut all = [[0; 4]; 5];
    let mut c = 0;
    while c < 5 {
        let mut s = 0;
        while s < 4 {
            all[c][s] = followers(c as u32, s as u32);
            s += 1;
        }
        c += 1;
    }
    all
};

/// What combines two lanes. (A type and no closure: closures are not inlined reliably.)
pub(super) trait Fold<S: Simd, T: Elements<S>> {
    fn of(&self, s: S, a: T::V, b: T::V) -> T::V;
}

macro_rules! folds {
    ($lanes:ident, $s:ident: $($op:ident = |$a:ident, $b:ident| $e:expr;)*) => { $(
        impl<S: Simd> Fold<S, $lanes> for $op {
            #[inline(always)]
            fn of(&self, $s: S, $a: <$lanes as Elements<S>>::V, $b: <$lanes as Elements<S>>::V) -> <$lanes as Elements<S>>::V {
                $e
            }
        }
    )* };
}
#[derive(Default)]
pub(super) struct IAdd;
#[derive(Default)]
pub(super) struct IMul;
#[derive(Default)]
pub(super) struct SMin;
#[derive(Default)]
pub(super) struct UMin;
#[derive(Default)]
pub(super) struct SMax;
#[derive(Default)]
pub(super) struct UMax;
#[derive(Default)]
pub(super) struct And;
#[derive(Default)]
pub(super) struct Or;
#[derive(Default)]
pub(super) struct Xor;
#[derive(Default)]
pub(super) struct FAdd;
#[derive(Default)]
pub(super) struct FMul;
#[derive(Default)]
pub(super) struct FMin;
#[derive(Default)]
pub(super) struct FMax;

folds! { Words, s:
    IAdd = |a, b| s.iadd(a, b);
    IMul = |a, b| s.imul(a, b);
    SMin = |a, b| s.smin(a, b);
    UMin = |a, b| s.umin(a, b);
    SMax = |a, b| s.smax(a, b);
    UMax = |a, b| s.umax(a, b);
    And = |a, b| s.iand(a, b);
    Or = |a, b| s.ior(a, b);
    Xor = |a, b| s.ixor(a, b);
    FAdd = |a, b| s.bits(s.fadd(s.from_bits(a), s.from_bits(b)));
    FMul = |a, b| s.bits(s.fmul(s.from_bits(a), s.from_bits(b)));
    FMin = |a, b| s.bits(ops::fmin(s, s.from_bits(a), s.from_bits(b)));
    FMax = |a, b| s.bits(ops::fmax(s, s.from_bits(a), s.from_bits(b)));
}
folds! { Wide, s:
    IAdd = |a, b| s.ladd(a, b);
    IMul = |a, b| s.lmul(a, b);
    SMin = |a, b| s.lsmin(a, b);
    UMin = |a, b| s.lumin(a, b);
    SMax = |a, b| s.lsmax(a, b);
    UMax = |a, b| s.lumax(a, b);
    And = |a, b| s.land(a, b);
    Or = |a, b| s.lor(a, b);
    Xor = |a, b| s.lxor(a, b);
    FAdd = |a, b| s.dbits(s.dadd(s.from_dbits(a), s.from_dbits(b)));
    FMul = |a, b| s.dbits(s.dmul(s.from_dbits(a), s.from_dbits(b)));
    FMin = |a, b| s.dbits(dmin(s, s.from_dbits(a), s.from_dbits(b)));
    FMax = |a, b| s.dbits(dmax(s, s.from_dbits(a), s.from_dbits(b)));
}

/// What an operation is done with, besides its function.
struct Plan {
    /// 0: a reduction; 1: an inclusive scan; 2: an exclusive one.
    scan: u16,
    /// The logarithm of a cluster's lanes.
    cluster: usize,
    /// What a scan begins with.
    identity: u64,
    /// What an inactive lane holds: it changes no bits.
    skip: u64,
}

/// One operation on all live warps.
///
/// # Safety
/// The op's registers are of that width.
#[inline(always)]
unsafe fn all<S: Simd, T: Elements<S>, F: Fold<S, T> + Default>(s: S, st: &State, o: &Op, plan: &Plan) {
    if !S::VECTORS {
        // SAFETY: the caller's.
        return unsafe { any::<S, T>(s, st, o, plan, Pointer(|s, a, b| F::default().of(s, a, b))) };
    }
    // SAFETY: the caller's.
    unsafe { each(s, st, o, plan, F::default()) }
}

/// An operation that is called.
struct Pointer<S: Simd, T: Elements<S>>(fn(S, T::V, T::V) -> T::V);

impl<S: Simd, T: Elements<S>> Fold<S, T> for Pointer<S, T> {
    #[inline(always)]
    fn of(&self, s: S, a: T::V, b: T::V) -> T::V {
        (self.0)(s, a, b)
    }
}

/// [`each`], compiled once for all operations.
///
/// # Safety
/// As [`all`].
#[inline(never)]
unsafe fn any<S: Simd, T: Elements<S>>(s: S, st: &State, o: &Op, plan: &Plan, f: Pointer<S, T>) {
    // SAFETY: the caller's.
    unsafe { each(s, st, o, plan, f) }
}

/// # Safety
/// As [`all`].
#[inline(always)]
unsafe fn each<S: Simd, T: Elements<S>, F: Fold<S, T>>(s: S, st: &State, o: &Op, plan: &Plan, f: F) {
    let skip = T::splat(s, plan.skip);
    for w in Bits(st.live) {
        let exec = st.exec[w];
        // SAFETY: the op's registers, a live warp; their width is the caller's.
        let mut x = unsafe { T::read(s, st, o.a, w) };
        if exec != 0xFFFF {
            x = T::select(s, s.mask(exec), x, skip);
        }
        let x = warp::<S, T, F>(s, x, plan, &f);
        // SAFETY: as above.
        unsafe { T::write(s, st, o.d, w, x) };
    }
}

/// The operation on one warp, whose inactive lanes change nothing.
#[inline(always)]
fn warp<S: Simd, T: Elements<S>, F: Fold<S, T>>(s: S, mut x: T::V, plan: &Plan, f: &F) -> T::V {
    if plan.scan == 0 {
        for step in (0..plan.cluster).rev() {
            // Both partners get the same: no operation knows which of its operands comes first, but by a NaN's payload.
            let partner = T::shuffle(s, x, s.iline(&PARTNER[step]));
            x = f.of(s, x, partner);
        }
        return x;
    }
    let rows = &FOLLOWERS[plan.cluster];
    if plan.scan == 2 {
        let before = T::shuffle(s, x, s.iline(&BEFORE[0]));
        x = T::select(s, s.mask(rows[0]), before, T::splat(s, plan.skip));
    }
    for step in 0..plan.cluster {
        let before = T::shuffle(s, x, s.iline(&BEFORE[step]));
        x = T::select(s, s.mask(rows[step]), f.of(s, before, x), x);
    }
    f.of(s, T::splat(s, plan.identity), x)
}

/// Of each lane what an operation on words makes of those before it, beginning with `skip`, which changes nothing; and of all of them.
#[inline(always)]
pub(super) fn before<S: Simd, F: Fold<S, Words>>(s: S, f: &F, x: S::I, skip: S::I) -> (S::I, u32) {
    let rows = &FOLLOWERS[4];
    let mut all = x;
    for n in 0..4 {
        let before = s.ishuffle(all, s.iline(&BEFORE[n]));
        all = s.isel(s.mask(rows[n]), f.of(s, before, all), all);
    }
    // (The last lane has all; it comes first.)
    let moved = s.ishuffle(all, s.iline(&BEFORE[0]));
    (s.isel(s.mask(rows[0]), moved, skip), ops::i_lanes(s, moved)[0])
}

/// The operation and the plan that an op's `e` says.
#[inline(always)]
fn parts(o: &Op, identity: fn(ReduceOp) -> [u64; 2]) -> (ReduceOp, Plan) {
    let op = ReduceOp::ALL[((o.e & 15) as usize).min(ReduceOp::ALL.len() - 1)];
    let [identity, skip] = identity(op);
    (op, Plan { scan: o.e >> 4 & 3, cluster: (o.e >> 8 & 7).min(4) as usize, identity, skip })
}

/// What a scan begins with, and what is skipped, by the numbers that a width has.
macro_rules! identities {
    ($u:ty, $s:ty, $f:ty) => {
        |op| match op {
            ReduceOp::IMul => [1; 2],
            ReduceOp::SMin => [<$s>::MAX as $u as u64; 2],
            ReduceOp::SMax => [<$s>::MIN as $u as u64; 2],
            ReduceOp::UMin | ReduceOp::And => [<$u>::MAX as u64; 2],
            ReduceOp::FAdd => [0, (-0.0 as $f).to_bits() as u64],
            ReduceOp::FMul => [(1.0 as $f).to_bits() as u64; 2],
            ReduceOp::FMin => [<$f>::INFINITY.to_bits() as u64; 2],
            ReduceOp::FMax => [<$f>::NEG_INFINITY.to_bits() as u64; 2],
            ReduceOp::IAdd | ReduceOp::UMax | ReduceOp::Or | ReduceOp::Xor => [0; 2],
        }
    };
}

const WORDS: fn(ReduceOp) -> [u64; 2] = identities!(u32, i32, f32);
const WIDE: fn(ReduceOp) -> [u64; 2] = identities!(u64, i64, f64);

/// Shuffles of all live warps.
///
/// # Safety
/// The op's registers are of that width; b's has words.
#[inline(always)]
unsafe fn shuffle<S: Simd, T: Elements<S>>(s: S, st: &State, o: &Op) {
    let none = T::splat(s, 0);
    for w in Bits(st.live) {
        let exec = st.exec[w];
        // SAFETY: the op's registers, a live warp; their width is the caller's.
        unsafe {
            let mut v = T::read(s, st, o.a, w);
            if exec != 0xFFFF && !o.a.is_uniform() {
                v = T::select(s, s.mask(exec), v, none);
            }
            let from = <Words as Elements<S>>::read(s, st, o.b, w);
            T::write(s, st, o.d, w, T::shuffle(s, v, from));
        }
    }
}

/// [`all`] of the op's own operation.
macro_rules! reduce {
    ($s:ident, $st:ident, $o:expr, $lanes:ident, $of:expr, $plan:expr, $($op:ident)*) => {
        match $of {
            // SAFETY: the op's code tells the width of its registers.
            $(ReduceOp::$op => unsafe { all::<S, $lanes, $op>($s, $st, &$o, &$plan) },)*
        }
    };
}

kernel! {
    Reduce32(S, s, st, op) {
        let o = *op;
        let (of, plan) = parts(&o, WORDS);
        reduce!(s, st, o, Words, of, plan, IAdd IMul SMin UMin SMax UMax And Or Xor FAdd FMul FMin FMax);
        op.on(1)
    }
    Reduce64(S, s, st, op) {
        let o = *op;
        let (of, plan) = parts(&o, WIDE);
        reduce!(s, st, o, Wide, of, plan, IAdd IMul SMin UMin SMax UMax And Or Xor FAdd FMul FMin FMax);
        op.on(1)
    }
    Shuffle32(S, s, st, op) {
        // SAFETY: registers of words.
        unsafe { shuffle::<S, Words>(s, st, &op) };
        op.on(1)
    }
    Shuffle64(S, s, st, op) {
        // SAFETY: registers of pairs of words.
        unsafe { shuffle::<S, Wide>(s, st, &op) };
        op.on(1)
    }
}

pub fn register(r: &mut Registry) {
    r.add::<Reduce32>(Code::REDUCE32);
    r.add::<Reduce64>(Code::REDUCE64);
    r.add::<Shuffle32>(Code::SHUFFLE32);
    r.add::<Shuffle64>(Code::SHUFFLE64);
}

/// How an op that reads a warp's lanes has its registers: those that it reads, and its result. None for other ops.
pub fn kinds(code: Code) -> Option<(&'static [Kind], Kind)> {
    use Kind::{Mask, Word};
    Some(match code {
        Code::REDUCE32 | Code::FIRST32 => (&[Word], Word),
        Code::REDUCE64 | Code::FIRST64 => (&[Kind::Wide], Kind::Wide),
        Code::SHUFFLE32 => (&[Word; 2], Word),
        Code::SHUFFLE64 => (&[Kind::Wide, Word], Kind::Wide),
        Code::BALLOT => (&[Mask], Word),
        _ => return None,
    })
}

/// Writes down such an op ([`crate::recording::with`]), of these operands, where the lanes of `exec` execute.
pub fn recorded(o: &Op, exec: Id, [a, b]: [Id; 2]) -> Id {
    let s = Record;
    let wide = || recording::Wide::of(a);
    macro_rules! reduce {
        ($lanes:ident, $of:expr, $plan:expr, $x:expr, $($op:ident)*) => {{
            let x = <$lanes as Elements<Record>>::select(s, exec, $x, <$lanes as Elements<Record>>::splat(s, $plan.skip));
            match $of {
                $(ReduceOp::$op => warp::<Record, $lanes, $op>(s, x, &$plan, &$op),)*
            }
        }};
    }
    // Lanes that do not execute read as nothing; a uniform register has none.
    let none = |id| if o.a.is_uniform() { id } else { s.isel(exec, id, s.isplat(0)) };
    match o.code {
        Code::REDUCE32 => {
            let (of, plan) = parts(o, WORDS);
            reduce!(Words, of, plan, a, IAdd IMul SMin UMin SMax UMax And Or Xor FAdd FMul FMin FMax)
        }
        Code::REDUCE64 => {
            let (of, plan) = parts(o, WIDE);
            reduce!(Wide, of, plan, wide(), IAdd IMul SMin UMin SMax UMax And Or Xor FAdd FMul FMin FMax).id()
        }
        Code::SHUFFLE32 => s.ishuffle(none(a), b),
        Code::SHUFFLE64 => {
            let v = if o.a.is_uniform() { wide() } else { s.lsel(exec, wide(), s.lsplat(0)) };
            s.lshuffle(v, b).id()
        }
        Code::FIRST32 => s.first(exec, a),
        Code::FIRST64 => s.lshuffle(wide(), s.first(exec, s.iline(&NUMBERS))).id(),
        _ => s.ballot(s.mand(exec, a)),
    }
}

/// Each lane's own number.
static NUMBERS: Table<16> = line(0, 0);

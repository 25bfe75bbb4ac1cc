//! Subgroup operations: each warp of 16 lanes on its own, active lanes only. Shuffles and reductions are next door ([`super::across`]).
//!
//! A register's inactive lanes hold what chance, another wave or another program left there: ops write them or not as is quickest.
//! No op may let another lane see that. What is read of an inactive lane is 0, or for derivatives the reading lane's own value;
//! a uniform register has no lanes, and reads as itself.

use super::forms::kernels;
use super::mask::{self, Bits};
use super::regs::{dst32, dst64, src32, src64};
use crate::state::{At, State};
use shader::bytecode::{Op, Reg};
use shader::ir::Quad;
use simd::Steps;

/// Lanes of one warp of a register.
///
/// # Safety
/// `r` is one of the op's registers, of that width, and the wave has a warp `w`.
trait Word: Copy + Default + 'static {
    unsafe fn read(st: &State, r: Reg, w: usize) -> [Self; 16];
    unsafe fn write(st: &State, r: Reg, w: usize, v: [Self; 16]);
}
macro_rules! words {
    ($($t:ident $src:ident $dst:ident;)*) => { $(
        impl Word for $t {
            #[inline(always)]
            unsafe fn read(st: &State, r: Reg, w: usize) -> [$t; 16] {
                let (p, s) = $src(st, r);
                // SAFETY: the caller's.
                unsafe { *(p.add(w * s) as *const [$t; 16]) }
            }
            #[inline(always)]
            unsafe fn write(st: &State, r: Reg, w: usize, v: [$t; 16]) {
                // SAFETY: the caller's.
                unsafe { *($dst(st, r, w) as *mut [$t; 16]) = v };
            }
        }
    )* };
}
words! {
    u32 src32 dst32;
    u64 src64 dst64;
}

#[inline(always)]
fn ballot<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's register.
    let a = unsafe { mask::load(st, o.a) };
    for w in Bits(st.live) {
        // SAFETY: the op's register, a live warp.
        unsafe { u32::write(st, o.d, w, [(st.exec[w] & a[w]) as u32; 16]) };
    }
    op.on(1)
}

#[inline(always)]
fn first<T: Word>(st: &mut State, op: At) -> *const Op {
    let o = *op;
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        unsafe {
            let v = T::read(st, o.a, w);
            T::write(st, o.d, w, [v[st.exec[w].trailing_zeros() as usize & 15]; 16]);
        }
    }
    op.on(1)
}

/// 0 in lanes that are not active.
#[inline(always)]
fn active<T: Copy + Default>(v: [T; 16], exec: u16) -> [T; 16] {
    let mut r = v;
    if exec != 0xFFFF {
        for i in 0..16 {
            r[i] = if exec >> i & 1 != 0 { v[i] } else { T::default() };
        }
    }
    r
}

/// One warp of a quad operation of which a lane may read inactive ones.
#[inline(always)]
fn broken_quad<T: Copy + Default>(v: [T; 16], exec: u16, from: i32, own: bool) -> [T; 16] {
    let zeroed = active(v, exec);
    let mut r = v;
    for i in 0..16 {
        let at = i & !3 | (from >> (2 * (i & 3)) & 3) as usize;
        r[i] = if own && exec >> at & 1 == 0 { v[i] } else { zeroed[at] };
    }
    r
}

/// Where the four lanes of a quad come from, two bits each, by quad operation ([`shader::ir::Quad`] by number): one lane
/// for all, the neighbour in x, in y, in both, the left, the right, the upper and the lower ones, and again one for all.
pub const FROM: [i32; Quad::ALL.len()] =
    [0x00, 0x55, 0xAA, 0xFF, 0xB1, 0x4E, 0x1B, 0xA0, 0xF5, 0x44, 0xEE, 0x00, 0x55, 0xAA];

/// Whether lanes have their own value in the place of an inactive one's.
fn is_derivative(e: u16) -> bool {
    Quad::from_number(e).is_some_and(Quad::is_derivative)
}

/// [`quad32`] and [`quad64`] where lanes may read inactive ones.
#[inline(never)]
fn broken_quads<T: Word>(st: &mut State, op: At) {
    let o = *op;
    let from = FROM[(o.e as usize).min(FROM.len() - 1)];
    let own = is_derivative(o.e);
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        unsafe {
            let v = T::read(st, o.a, w);
            T::write(st, o.d, w, broken_quad(v, st.exec[w], from, own));
        }
    }
}

#[inline(always)]
fn quad32<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    if !o.a.is_uniform() && !mask::has_whole_quads(st) {
        broken_quads::<u32>(st, op);
        return op.on(1);
    }
    let (p, s) = src32(st, o.a);
    let d = dst32(st, o.d, 0);
    let step = if o.d.is_uniform() { 0 } else { 16 };
    // Most waves' live warps are the first ones.
    let first = st.live.trailing_ones() as usize;
    let others = st.live & !((1u64 << first) - 1) as u32;
    // Where the lanes come from must be known to the compiler for a shuffle.
    macro_rules! go {
        ($($q:literal)*) => {
            match o.e {
                $($q => {
                    for w in 0..first {
                        // SAFETY: the op's registers, a live warp.
                        unsafe { l.quads32::<{ FROM[$q] }>(d.add(w * step), p.add(w * s)) };
                    }
                    for w in Bits(others) {
                        // SAFETY: the op's registers, a live warp.
                        unsafe { l.quads32::<{ FROM[$q] }>(d.add(w * step), p.add(w * s)) };
                    }
                },)*
                _ => {}
            }
        };
    }
    go!(0 1 2 3 4 5 6 7 8 9 10 11 12 13);
    op.on(1)
}

#[inline(always)]
fn quad64<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    if !o.a.is_uniform() && !mask::has_whole_quads(st) {
        broken_quads::<u64>(st, op);
        return op.on(1);
    }
    let from = FROM[(o.e as usize).min(FROM.len() - 1)];
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        let v = unsafe { u64::read(st, o.a, w) };
        let mut r = v;
        for i in 0..16 {
            r[i] = v[i & !3 | (from >> (2 * (i & 3)) & 3) as usize];
        }
        // SAFETY: as above.
        unsafe { u64::write(st, o.d, w, r) };
    }
    op.on(1)
}

macro_rules! widths {
    ($($name:ident = $f:ident::<$t:ty>;)*) => {
        $(#[inline(always)]
        fn $name<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
            $f::<$t>(st, op)
        })*
    };
}
widths! {
    first32 = first::<u32>;
    first64 = first::<u64>;
}

kernels! {
    BALLOT = ballot;
    FIRST32 = first32;
    FIRST64 = first64;
    QUAD32 = quad32;
    QUAD64 = quad64;
}

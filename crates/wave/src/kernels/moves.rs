//! Masked moves: how values reach a place where control flow meets.

use super::forms::kernels;
use super::mask::{self, Bits, Masks};
use super::mask_steps::{self, Wave};
use super::regs::{dst32, dst64, src32, src64};
use crate::state::{At, State};
use shader::bytecode::{Op, Reg};
use simd::Steps;

/// One warp's lanes `m` of `d` become those of `s`.
///
/// # Safety
/// Both are good for sixteen lanes.
#[inline(always)]
unsafe fn blend<T: Copy>(d: *mut T, s: *const T, m: u16) {
    // SAFETY: the caller's; what is at `s` is copied before there is a reference to `d`.
    let (s, d) = unsafe { (*(s as *const [T; 16]), &mut *(d as *mut [T; 16])) };
    if m == 0xFFFF {
        *d = s;
        return;
    }
    let old = *d;
    let mut new = s;
    for i in 0..16 {
        new[i] = if m & (1 << i) != 0 { s[i] } else { old[i] };
    }
    *d = new;
}

/// Moves the lanes `m` of the live warps from `a` to `d`.
///
/// # Safety
/// Both are registers of the op, of that width.
#[inline(always)]
unsafe fn move32<L: Steps>(l: L, st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src32(st, a);
    if d.is_uniform() {
        // A register may be moved to itself.
        // SAFETY: the caller's.
        unsafe { (dst32(st, d, 0) as *mut [u32; 16]).write(*(p as *const [u32; 16])) };
        return;
    }
    let d = dst32(st, d, 0);
    for w in Bits(st.live) {
        // SAFETY: the caller's.
        unsafe { l.blend32(d.add(w * 16), p.add(w * s), m[w & 15]) };
    }
}
/// # Safety
/// As [`move32`].
#[inline(always)]
unsafe fn move64<L: Steps>(_: L, st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src64(st, a);
    for w in Bits(st.live) {
        // SAFETY: the caller's.
        unsafe { blend(dst64(st, d, w), p.add(w * s), if d.is_uniform() { 0xFFFF } else { m[w] }) };
    }
}
/// # Safety
macro_rules! moves {
    ($($name:ident $with:ident |$st:ident, $o:ident| $mask:expr;)*) => {
        $(#[inline(always)]
        fn $name<L: Steps>(l: L, $st: &mut State, op: At) -> *const Op {
            let $o = *op;
            // SAFETY: the op's registers, of the widths of its code.
            unsafe {
                let m = $mask;
                $with(l, $st, $o.d, $o.a, &m);
            }
            op.on(1)
        })*
    };
}
moves! {
    movm32 move32 |st, o| mask::exec(st);
    movm64 move64 |st, o| mask::exec(st);
    movif32 move32 |st, o| mask::load(st, o.b);
    movif64 move64 |st, o| mask::load(st, o.b);
}

#[inline(always)]
fn movmb<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    mask_steps::move_some(&mut unsafe { Wave::new(st) }, o.d, o.a, None);
    op.on(1)
}

#[inline(always)]
fn movifb<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: the op's registers.
    mask_steps::move_some(&mut unsafe { Wave::new(st) }, o.d, o.a, Some(o.b));
    op.on(1)
}

kernels! {
    MOVM32 = movm32;
    MOVM64 = movm64;
    MOVMB = movmb;
    MOVIF32 = movif32;
    MOVIF64 = movif64;
    MOVIFB = movifb;
}

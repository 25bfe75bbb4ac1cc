//! Masked moves: how values reach a place where control flow meets.

use super::levels::{Steps, kernel_forms};
use super::mask::{self, Bits, Masks};
use super::regs::{dst32, dst64, src32, src64};
use crate::state::State;
use shader::bytecode::{Op, Reg};

/// One warp's lanes `m` of `d` become those of `s`.
#[inline(always)]
unsafe fn blend<T: Copy>(d: *mut T, s: *const T, m: u16) {
    let (d, s) = (&mut *(d as *mut [T; 16]), *(s as *const [T; 16]));
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

#[inline(always)]
unsafe fn move32(st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src32(st, a);
    for w in Bits(st.live) {
        blend(dst32(st, d, w), p.add(w * s), if d.is_uniform() { 0xFFFF } else { m[w] });
    }
}
#[inline(always)]
unsafe fn move64(st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src64(st, a);
    for w in Bits(st.live) {
        blend(dst64(st, d, w), p.add(w * s), if d.is_uniform() { 0xFFFF } else { m[w] });
    }
}
#[inline(always)]
unsafe fn move_bool(st: &State, d: Reg, a: Reg, m: &Masks) {
    let old = mask::load(st, d);
    mask::store(st, d, mask::or(mask::andn(old, *m), mask::and(mask::load(st, a), *m)));
}

macro_rules! moves {
    ($($name:ident $with:ident $mask:expr;)*) => {
        $(#[inline(always)]
        unsafe fn $name<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
            let o = *op;
            let mask: fn(&State, Reg) -> Masks = $mask;
            let m = mask(st, o.b);
            $with(st, o.d, o.a, &m);
            op.add(1)
        })*
    };
}
moves! {
    movm32 move32 |st, _| mask::exec(st);
    movm64 move64 |st, _| mask::exec(st);
    movmb move_bool |st, _| mask::exec(st);
    // SAFETY: a register of the program.
    movif32 move32 |st, b| unsafe { mask::load(st, b) };
    movif64 move64 |st, b| unsafe { mask::load(st, b) };
    movifb move_bool |st, b| unsafe { mask::load(st, b) };
}

kernel_forms! {
    MOVM32 = movm32;
    MOVM64 = movm64;
    MOVMB = movmb;
    MOVIF32 = movif32;
    MOVIF64 = movif64;
    MOVIFB = movifb;
}

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
unsafe fn move32<L: Steps>(st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src32(st, a);
    if d.is_uniform() {
        L::copy64(dst32(st, d, 0) as *mut u8, p as *const u8);
        return;
    }
    let d = dst32(st, d, 0);
    for w in Bits(st.live) {
        L::blend32(d.add(w * 16), p.add(w * s), m[w & 15]);
    }
}
#[inline(always)]
unsafe fn move64<L: Steps>(st: &State, d: Reg, a: Reg, m: &Masks) {
    let (p, s) = src64(st, a);
    for w in Bits(st.live) {
        blend(dst64(st, d, w), p.add(w * s), if d.is_uniform() { 0xFFFF } else { m[w] });
    }
}
#[inline(always)]
unsafe fn move_bool<L: Steps>(st: &State, d: Reg, a: Reg, m: &Masks) {
    let old = mask::load(st, d);
    mask::store(st, d, mask::or(mask::andn(old, *m), mask::and(mask::load(st, a), *m)));
}

#[inline(always)]
unsafe fn executing(st: &State, _: Reg) -> Masks {
    mask::exec(st)
}

macro_rules! moves {
    ($($name:ident $with:ident $mask:path;)*) => {
        $(#[inline(always)]
        unsafe fn $name<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
            let o = *op;
            let m = $mask(st, o.b);
            $with::<L>(st, o.d, o.a, &m);
            op.add(1)
        })*
    };
}
moves! {
    movm32 move32 executing;
    movm64 move64 executing;
    movmb move_bool executing;
    movif32 move32 mask::load;
    movif64 move64 mask::load;
    movifb move_bool mask::load;
}

kernel_forms! {
    MOVM32 = movm32;
    MOVM64 = movm64;
    MOVMB = movmb;
    MOVIF32 = movif32;
    MOVIF64 = movif64;
    MOVIFB = movifb;
}

//! Three operands, 32 and 64 bits.

use super::Registry;
use super::map::{B, D, F, I, L, Map3, ops3, register3};
use simd::{Simd, ops};

ops3! { S;
    Fma light (a: F, b: F, c: F) -> F = S::fma(a, b, c);
    FmaCanon light (a: F, b: F, c: F) -> F = ops::canon::<S>(S::fma(a, b, c));
    Select light (m: B, a: I, b: I) -> I = S::isel(m, a, b);
    BitSelect cold (m: I, a: I, b: I) -> I = S::ior(S::iand(m, a), S::iandn(m, b));
    UBfe cold (a: I, offset: I, count: I) -> I = {
        let mask = S::isub(S::ishl(S::isplat(1), count), S::isplat(1));
        S::iand(S::ishr(a, S::iand(offset, S::isplat(31))), mask)
    };
    SBfe cold (a: I, offset: I, count: I) -> I = {
        // A count of 0 shifts everything out first.
        let n = S::isub(S::isplat(32), S::umin(count, S::isplat(32)));
        let field = S::ishl(S::ishr(a, S::iand(offset, S::isplat(31))), n);
        S::isar(field, n)
    };
    FMix light (x: F, y: F, a: F) -> F = S::fma(a, y, S::fnma(a, x, x));
    FClamp light (x: F, low: F, high: F) -> F = ops::fmin::<S>(ops::fmax::<S>(x, low), high);
}

mod wide {
    use super::*;
    use crate::kernels::wide::{dmax, dmin, dneg};
    ops3! { S;
        Fma cold (a: D, b: D, c: D) -> D = S::dfma(a, b, c);
        Select cold (m: B, a: L, b: L) -> L = S::lsel(m, a, b);
        BitSelect cold (m: L, a: L, b: L) -> L = S::lxor(b, S::land(m, S::lxor(a, b)));
        UBfe cold (a: L, offset: I, count: I) -> L = {
            let down = S::lshr(a, S::iand(offset, S::isplat(63)));
            let n = S::isub(S::isplat(64), S::umin(count, S::isplat(64)));
            cut::<S>(S::lshr(S::lshl(down, low6::<S>(n)), low6::<S>(n)), count)
        };
        SBfe cold (a: L, offset: I, count: I) -> L = {
            let down = S::lshr(a, S::iand(offset, S::isplat(63)));
            let n = S::isub(S::isplat(64), S::umin(count, S::isplat(64)));
            cut::<S>(S::lsar(S::lshl(down, low6::<S>(n)), low6::<S>(n)), count)
        };
        FMix cold (x: D, y: D, a: D) -> D = S::dfma(a, y, S::dfma(dneg::<S>(a), x, x));
        FClamp cold (x: D, low: D, high: D) -> D = dmin::<S>(dmax::<S>(x, low), high);
    }
    /// 64-bit shifts take counts below 64; where 64 was meant, `cut` puts the result right.
    #[inline(always)]
    unsafe fn low6<S: Simd>(n: S::I) -> S::I {
        S::iand(n, S::isplat(63))
    }
    #[inline(always)]
    unsafe fn cut<S: Simd>(a: S::L, count: S::I) -> S::L {
        S::lsel(S::ieq(count, S::isplat(0)), S::lsplat(0), a)
    }
    pub fn register(r: &mut Registry) {
        register3!(r, B64: Fma Select BitSelect UBfe SBfe FMix FClamp);
    }
}

pub fn register(r: &mut Registry) {
    register3!(r, B32: Fma FmaCanon Select BitSelect UBfe SBfe FMix FClamp);
    wide::register(r);
}

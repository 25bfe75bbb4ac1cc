//! Three operands, 32 and 64 bits.

use super::Registry;
use super::map::{B, D, F, I, L, Map3, ops3, register3};
use simd::{Simd, ops};

ops3! { S, s;
    Fma light (a: F, b: F, c: F) -> F = s.fma(a, b, c);
    FmaCanon light (a: F, b: F, c: F) -> F = ops::canon(s, s.fma(a, b, c));
    Select light (m: B, a: I, b: I) -> I = s.isel(m, a, b);
    BitSelect cold (m: I, a: I, b: I) -> I = s.ior(s.iand(m, a), s.iandn(m, b));
    UBfe cold (a: I, offset: I, count: I) -> I = {
        let mask = s.isub(s.ishl(s.isplat(1), count), s.isplat(1));
        s.iand(s.ishr(a, s.iand(offset, s.isplat(31))), mask)
    };
    SBfe cold (a: I, offset: I, count: I) -> I = {
        // A count of 0 shifts everything out first.
        let n = s.isub(s.isplat(32), s.umin(count, s.isplat(32)));
        let field = s.ishl(s.ishr(a, s.iand(offset, s.isplat(31))), n);
        s.isar(field, n)
    };
    FMix light (x: F, y: F, a: F) -> F = s.fma(a, y, s.fnma(a, x, x));
    FClamp light (x: F, low: F, high: F) -> F = s.fmin_raw(s.fmax_raw(x, low), high);
}

mod wide {
    use super::*;
    use crate::kernels::wide::dneg;
    ops3! { S, s;
        Fma cold (a: D, b: D, c: D) -> D = s.dfma(a, b, c);
        Select cold (m: B, a: L, b: L) -> L = s.lsel(m, a, b);
        BitSelect cold (m: L, a: L, b: L) -> L = s.lxor(b, s.land(m, s.lxor(a, b)));
        UBfe cold (a: L, offset: I, count: I) -> L = {
            let down = s.lshr(a, s.iand(offset, s.isplat(63)));
            let n = s.isub(s.isplat(64), s.umin(count, s.isplat(64)));
            cut(s, s.lshr(s.lshl(down, low6(s, n)), low6(s, n)), count)
        };
        SBfe cold (a: L, offset: I, count: I) -> L = {
            let down = s.lshr(a, s.iand(offset, s.isplat(63)));
            let n = s.isub(s.isplat(64), s.umin(count, s.isplat(64)));
            cut(s, s.lsar(s.lshl(down, low6(s, n)), low6(s, n)), count)
        };
        FMix cold (x: D, y: D, a: D) -> D = s.dfma(a, y, s.dfma(dneg(s, a), x, x));
        FClamp cold (x: D, low: D, high: D) -> D = s.dmin_raw(s.dmax_raw(x, low), high);
    }
    /// 64-bit shifts take counts below 64; where 64 was meant, `cut` puts the result right.
    #[inline(always)]
    fn low6<S: Simd>(s: S, n: S::I) -> S::I {
        s.iand(n, s.isplat(63))
    }
    #[inline(always)]
    fn cut<S: Simd>(s: S, a: S::L, count: S::I) -> S::L {
        s.lsel(s.ieq(count, s.isplat(0)), s.lsplat(0), a)
    }
    pub fn register(r: &mut Registry) {
        register3!(r, B64: Fma Select BitSelect UBfe SBfe FMix FClamp);
    }
}

pub fn register(r: &mut Registry) {
    register3!(r, B32: Fma FmaCanon Select BitSelect UBfe SBfe FMix FClamp);
    wide::register(r);
}

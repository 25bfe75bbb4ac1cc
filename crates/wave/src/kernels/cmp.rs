//! Comparisons and tests, result Bool.

use super::Registry;
use super::map::{B, D, F, I, L, Map1, Map2, ops1, ops2, register1, register2};
use simd::{Simd, ops};

ops2! { S;
    FEq light (a: F, b: F) -> B = S::feq(a, b);
    FNe light (a: F, b: F) -> B = S::fne(a, b);
    FLt light (a: F, b: F) -> B = S::flt(a, b);
    FLe light (a: F, b: F) -> B = S::fle(a, b);
    IEq light (a: I, b: I) -> B = S::ieq(a, b);
    INe light (a: I, b: I) -> B = S::mnot(S::ieq(a, b));
    SLt light (a: I, b: I) -> B = S::sgt(b, a);
    SLe light (a: I, b: I) -> B = S::mnot(S::sgt(a, b));
    ULt light (a: I, b: I) -> B = S::ugt(b, a);
    ULe light (a: I, b: I) -> B = S::mnot(S::ugt(a, b));
}
ops1! { S;
    FIsNan cold (a: F) -> B = S::fne(a, a);
    FIsInf cold (a: F) -> B = S::feq(ops::fabs::<S>(a), S::fsplat(f32::INFINITY));
    IntToBool light (a: I) -> B = S::mnot(S::ieq(a, S::isplat(0)));
    BoolToInt light (m: B) -> I = S::isel(m, S::isplat(1), S::isplat(0));
}

mod wide {
    use super::*;
    use crate::kernels::wide::dabs;
    /// a > b, unsigned.
    #[inline(always)]
    unsafe fn above<S: Simd>(a: S::L, b: S::L) -> S::M {
        let s = S::lsplat(1 << 63);
        S::lgt(S::lxor(a, s), S::lxor(b, s))
    }
    ops2! { S;
        FEq cold (a: D, b: D) -> B = S::deq(a, b);
        FNe cold (a: D, b: D) -> B = S::dne(a, b);
        FLt cold (a: D, b: D) -> B = S::dlt(a, b);
        FLe cold (a: D, b: D) -> B = S::dle(a, b);
        IEq cold (a: L, b: L) -> B = S::leq(a, b);
        INe cold (a: L, b: L) -> B = S::mnot(S::leq(a, b));
        SLt cold (a: L, b: L) -> B = S::lgt(b, a);
        SLe cold (a: L, b: L) -> B = S::mnot(S::lgt(a, b));
        ULt cold (a: L, b: L) -> B = above::<S>(b, a);
        ULe cold (a: L, b: L) -> B = S::mnot(above::<S>(a, b));
    }
    ops1! { S;
        FIsNan cold (a: D) -> B = S::dne(a, a);
        FIsInf cold (a: D) -> B = S::deq(dabs::<S>(a), S::dsplat(f64::INFINITY));
        IntToBool cold (a: L) -> B = S::mnot(S::leq(a, S::lsplat(0)));
    }
    pub fn register(r: &mut Registry) {
        register2!(r, B64: FEq FNe FLt FLe IEq INe SLt SLe ULt ULe);
        register1!(r, B64: FIsNan FIsInf IntToBool);
    }
}

pub fn register(r: &mut Registry) {
    register2!(r, B32: FEq FNe FLt FLe IEq INe SLt SLe ULt ULe);
    register1!(r, B32: FIsNan FIsInf IntToBool BoolToInt);
    wide::register(r);
}

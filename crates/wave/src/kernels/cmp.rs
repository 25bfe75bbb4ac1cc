//! Comparisons and tests, result Bool.

use super::Registry;
use super::map::{B, D, F, I, L, Map1, Map2, ops1, ops2, register1, register2};
use simd::ops;

ops2! { S, s;
    FEq light (a: F, b: F) -> B = s.feq(a, b);
    FNe light (a: F, b: F) -> B = s.fne(a, b);
    FLt light (a: F, b: F) -> B = s.flt(a, b);
    FLe light (a: F, b: F) -> B = s.fle(a, b);
    IEq light (a: I, b: I) -> B = s.ieq(a, b);
    INe light (a: I, b: I) -> B = s.mnot(s.ieq(a, b));
    SLt light (a: I, b: I) -> B = s.sgt(b, a);
    SLe light (a: I, b: I) -> B = s.mnot(s.sgt(a, b));
    ULt light (a: I, b: I) -> B = s.ugt(b, a);
    ULe light (a: I, b: I) -> B = s.mnot(s.ugt(a, b));
}
ops1! { S, s;
    FIsNan cold (a: F) -> B = s.fne(a, a);
    FIsInf cold (a: F) -> B = s.feq(ops::fabs(s, a), s.fsplat(f32::INFINITY));
    IntToBool light (a: I) -> B = s.mnot(s.ieq(a, s.isplat(0)));
    BoolToInt light (m: B) -> I = s.isel(m, s.isplat(1), s.isplat(0));
}

mod wide {
    use super::*;
    use crate::kernels::wide::dabs;
    ops2! { S, s;
        FEq cold (a: D, b: D) -> B = s.deq(a, b);
        FNe cold (a: D, b: D) -> B = s.dne(a, b);
        FLt cold (a: D, b: D) -> B = s.dlt(a, b);
        FLe cold (a: D, b: D) -> B = s.dle(a, b);
        IEq cold (a: L, b: L) -> B = s.leq(a, b);
        INe cold (a: L, b: L) -> B = s.mnot(s.leq(a, b));
        SLt cold (a: L, b: L) -> B = s.lgt(b, a);
        SLe cold (a: L, b: L) -> B = s.mnot(s.lgt(a, b));
        ULt cold (a: L, b: L) -> B = ops::above(s, b, a);
        ULe cold (a: L, b: L) -> B = s.mnot(ops::above(s, a, b));
    }
    ops1! { S, s;
        FIsNan cold (a: D) -> B = s.dne(a, a);
        FIsInf cold (a: D) -> B = s.deq(dabs(s, a), s.dsplat(f64::INFINITY));
        IntToBool cold (a: L) -> B = s.mnot(s.leq(a, s.lsplat(0)));
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

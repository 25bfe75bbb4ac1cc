//! Two operands, 32 bits.

use super::Registry;
use super::map::{F, I, Map1, Map2, Map3, ops1, ops2, ops3};
use crate::simd::ops;
use shader::bytecode::Code;
use shader::ir::{Bin, Tri, Ty, Un};

ops2! { S;
    FAdd light (a: F, b: F) -> F = S::fadd(a, b);
    FSub light (a: F, b: F) -> F = S::fsub(a, b);
    FMul light (a: F, b: F) -> F = S::fmul(a, b);
    IAdd light (a: I, b: I) -> I = S::iadd(a, b);
}
ops1! { S;
    FNeg light (a: F) -> F = ops::fneg::<S>(a);
}
ops3! { S;
    Fma light (a: F, b: F, c: F) -> F = S::fma(a, b, c);
}

pub fn register(r: &mut Registry) {
    r.add::<Map2<FAdd>>(Code::bin(Bin::FAdd, Ty::B32));
    r.add::<Map2<FSub>>(Code::bin(Bin::FSub, Ty::B32));
    r.add::<Map2<FMul>>(Code::bin(Bin::FMul, Ty::B32));
    r.add::<Map2<IAdd>>(Code::bin(Bin::IAdd, Ty::B32));
    r.add::<Map1<FNeg>>(Code::un(Un::FNeg, Ty::B32));
    r.add::<Map3<Fma>>(Code::tri(Tri::Fma, Ty::B32));
}

//! Functions of f32 by own polynomials, within the precision that Vulkan's SPIR-V environment asks for.
//!
//! One algorithm, of correctly rounded operations only, so that every level gives the same bits. Fast paths hold for
//! ordinary operands; if any lane of a warp is out of the ordinary, the whole warp takes a path that is right for all
//! (and gives ordinary lanes the same bits). Polynomials are Remez fits of ours.
//! `tests/math.rs` measures the errors against f64. Where denormals are zeros (MXCSR's FTZ and DAZ) levels agree too, for what
//! becomes of one is told by operations on floats, or ends as zero (`tests/flushed.rs`).

mod exp;
mod hyper;
mod inverse;
mod log;
mod payne;
mod trig;

use super::Registry;
use super::map::{F, Map1, Map2, ops1, ops2, register1, register2};
use simd::Simd;

/// 1.5 · 2^23: adding it rounds to an integer, found in the sum's low bits.
const MAGIC: f32 = 12582912.0;
/// π as two floats: the first nearest to it, the second nearest to the rest.
const PI: f32 = std::f32::consts::PI;
const HALF_PI: f32 = std::f32::consts::FRAC_PI_2;
const HALF_PI_LO: f32 = -4.371_139e-8;

/// c[0] + x · (c[1] + …). The middle of long ones in Estrin's way: the chain of dependent operations, not their
/// number, is what the longer functions wait for. The lowest coefficients of the longest stay in Horner's way, for precision.
#[inline(always)]
fn poly<S: Simd, const N: usize>(s: S, x: S::F, c: [f32; N]) -> S::F {
    if N == 5 {
        let x2 = s.fmul(x, x);
        let p = s.fma(s.fsplat(c[1]), x, s.fsplat(c[0]));
        let q = s.fma(s.fsplat(c[3]), x, s.fsplat(c[2]));
        return s.fma(s.fma(s.fsplat(c[4]), x2, q), x2, p);
    }
    if N == 9 {
        // p, q, r: pairs of coefficients from the third on.
        let x2 = s.fmul(x, x);
        let p = s.fma(s.fsplat(c[3]), x, s.fsplat(c[2]));
        let q = s.fma(s.fsplat(c[5]), x, s.fsplat(c[4]));
        let r = s.fma(s.fsplat(c[7]), x, s.fsplat(c[6]));
        let high = s.fma(s.fsplat(c[8]), x2, r);
        let rest = s.fma(high, s.fmul(x2, x2), s.fma(q, x2, p));
        return s.fma(s.fma(rest, x, s.fsplat(c[1])), x, s.fsplat(c[0]));
    }
    let mut r = s.fsplat(c[N - 1]);
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        r = s.fma(r, x, s.fsplat(c[i]));
    }
    r
}
/// x · (1 + x² · P(x²)): keeps the sign of zero.
#[inline(always)]
fn odd<S: Simd, const N: usize>(s: S, x: S::F, c: [f32; N]) -> S::F {
    let z = s.fmul(x, x);
    s.fmul(x, s.fma(z, poly::<S, N>(s, z, c), s.fsplat(1.0)))
}

ops1! { S, s;
    /// Two roundings, so at most 1.5 units in the last place. Of a processor's divider these are two instructions, which wait for
    /// no other unit: polynomials of 19 took half as long again (Zen 4, `nbody`).
    FRsqrt heavy (a: F) -> F = s.fdiv(s.fsplat(1.0), s.fsqrt(a));
    FExp2 heavy (a: F) -> F = exp::exp2(s, a);
    FExp heavy (a: F) -> F = exp::exp(s, a);
    FLog2 heavy (a: F) -> F = log::log2(s, a);
    FLog heavy (a: F) -> F = log::ln(s, a);
    FSin heavy (a: F) -> F = trig::sin(s, a);
    FCos heavy (a: F) -> F = trig::cos(s, a);
    FTan cold (a: F) -> F = trig::tan(s, a);
    FAsin cold (a: F) -> F = inverse::asin(s, a);
    FAcos cold (a: F) -> F = inverse::acos(s, a);
    FAtan cold (a: F) -> F = inverse::atan(s, a);
    FSinh cold (a: F) -> F = hyper::sinh(s, a);
    FCosh cold (a: F) -> F = hyper::cosh(s, a);
    FTanh cold (a: F) -> F = hyper::tanh(s, a);
    FAsinh cold (a: F) -> F = hyper::asinh(s, a);
    FAcosh cold (a: F) -> F = hyper::acosh(s, a);
    FAtanh cold (a: F) -> F = hyper::atanh(s, a);
}
ops2! { S, s;
    /// exp2(y · log2 x); 1 where y is 0. NaN for negative x.
    FPow heavy (x: F, y: F) -> F = {
        let r = exp::exp2(s, s.fmul(y, log::log2(s, x)));
        s.fsel(s.feq(y, s.fsplat(0.0)), s.fsplat(1.0), r)
    };
    FAtan2 cold (y: F, x: F) -> F = inverse::atan2(s, y, x);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: FRsqrt FExp2 FExp FLog2 FLog FSin FCos FTan FAsin FAcos FAtan);
    register1!(r, B32: FSinh FCosh FTanh FAsinh FAcosh FAtanh);
    register2!(r, B32: FPow FAtan2);
}

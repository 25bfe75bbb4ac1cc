//! Functions of f32 by own polynomials, within the precision that Vulkan's SPIR-V environment asks for.
//!
//! One algorithm, of correctly rounded operations only, so that every level gives the same bits. Fast paths hold for
//! ordinary operands; if any lane of a warp is out of the ordinary, the whole warp takes a path that is right for all
//! (and gives ordinary lanes the same bits). Polynomials are Remez fits of ours.
//! `tests/math.rs` measures the errors against f64.

mod exp;
mod hyper;
mod inverse;
mod log;
mod payne;
mod root;
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
/// number, is what the longer functions wait for. The lowest coefficients stay in Horner's way, for precision.
#[inline(always)]
unsafe fn poly<S: Simd, const N: usize>(x: S::F, c: [f32; N]) -> S::F {
    if N == 6 || N == 9 {
        // p, q, r, s: pairs of coefficients from k on.
        let k = if N == 6 { 0 } else { 2 };
        let x2 = S::fmul(x, x);
        let p = S::fma(S::fsplat(c[k + 1]), x, S::fsplat(c[k]));
        let q = S::fma(S::fsplat(c[k + 3]), x, S::fsplat(c[k + 2]));
        let r = S::fma(S::fsplat(c[k + 5]), x, S::fsplat(c[k + 4]));
        if N == 6 {
            return S::fma(S::fma(r, x2, q), x2, p);
        }
        let high = S::fma(S::fsplat(c[8]), x2, r);
        let rest = S::fma(high, S::fmul(x2, x2), S::fma(q, x2, p));
        return S::fma(S::fma(rest, x, S::fsplat(c[1])), x, S::fsplat(c[0]));
    }
    let mut r = S::fsplat(c[N - 1]);
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        r = S::fma(r, x, S::fsplat(c[i]));
    }
    r
}
/// x · (1 + x² · P(x²)): keeps the sign of zero.
#[inline(always)]
unsafe fn odd<S: Simd, const N: usize>(x: S::F, c: [f32; N]) -> S::F {
    let z = S::fmul(x, x);
    S::fmul(x, S::fma(z, poly::<S, N>(z, c), S::fsplat(1.0)))
}

ops1! { S;
    FRsqrt heavy (a: F) -> F = root::rsqrt::<S>(a);
    FExp2 heavy (a: F) -> F = exp::exp2::<S>(a);
    FExp heavy (a: F) -> F = exp::exp::<S>(a);
    FLog2 heavy (a: F) -> F = log::log2::<S>(a);
    FLog heavy (a: F) -> F = log::ln::<S>(a);
    FSin heavy (a: F) -> F = trig::sin::<S>(a);
    FCos heavy (a: F) -> F = trig::cos::<S>(a);
    FTan cold (a: F) -> F = trig::tan::<S>(a);
    FAsin cold (a: F) -> F = inverse::asin::<S>(a);
    FAcos cold (a: F) -> F = inverse::acos::<S>(a);
    FAtan cold (a: F) -> F = inverse::atan::<S>(a);
    FSinh cold (a: F) -> F = hyper::sinh::<S>(a);
    FCosh cold (a: F) -> F = hyper::cosh::<S>(a);
    FTanh cold (a: F) -> F = hyper::tanh::<S>(a);
    FAsinh cold (a: F) -> F = hyper::asinh::<S>(a);
    FAcosh cold (a: F) -> F = hyper::acosh::<S>(a);
    FAtanh cold (a: F) -> F = hyper::atanh::<S>(a);
}
ops2! { S;
    /// exp2(y · log2 x); 1 where y is 0. NaN for negative x.
    FPow heavy (x: F, y: F) -> F = {
        let r = exp::exp2::<S>(S::fmul(y, log::log2::<S>(x)));
        S::fsel(S::feq(y, S::fsplat(0.0)), S::fsplat(1.0), r)
    };
    FAtan2 cold (y: F, x: F) -> F = inverse::atan2::<S>(y, x);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: FRsqrt FExp2 FExp FLog2 FLog FSin FCos FTan FAsin FAcos FAtan);
    register1!(r, B32: FSinh FCosh FTanh FAsinh FAcosh FAtanh);
    register2!(r, B32: FPow FAtan2);
}

//! What one atomic does.

use crate::kernels::memory::cell::{f16_to_f32, f32_to_f16};
use shader::ir::{AtomicOp, Mem};

/// GLSL.std.450 NMin on f64 (exact for f32 and f16): a NaN gives the other operand, −0 < +0.
fn float_min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b < a || (a == b && b.is_sign_negative()) { b } else { a }
}
fn float_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b > a || (a == b && b.is_sign_positive()) { b } else { a }
}

/// f32 arithmetic on memory bits; a NaN result is the one without sign and payload, as in `shader::pass::nan`.
#[inline(always)]
pub(super) fn float32(old: u64, a: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    let x = f(f32::from_bits(old as u32), f32::from_bits(a as u32));
    if x.is_nan() { 0x7FC0_0000 } else { x.to_bits() as u64 }
}
fn float64(old: u64, a: u64, f: impl Fn(f64, f64) -> f64) -> u64 {
    let x = f(f64::from_bits(old), f64::from_bits(a));
    if x.is_nan() { 0x7FF8 << 48 } else { x.to_bits() }
}
fn float16(old: u64, a: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    let wide = |x: u64| f16_to_f32(x as u16) as u64;
    f32_to_f16(float32(wide(old), wide(a), f) as u32) as u64
}

/// The new memory bits of one atomic; `old`, `a` and `b` (the comparator) are memory bits of `mem`'s width. `None`: no
/// write. The reference for every faster form.
pub fn apply(op: AtomicOp, mem: Mem, old: u64, a: u64, b: u64) -> Option<u64> {
    let bits = mem.bytes() * 8;
    let cut = |x: u64| if bits == 64 { x } else { x & ((1 << bits) - 1) };
    let signed = |x: u64| ((x << (64 - bits)) as i64) >> (64 - bits);
    macro_rules! float {
        ($f:expr) => {
            match mem {
                Mem::F16 => float16(old, a, |x, y| $f(x as f64, y as f64) as f32),
                Mem::B64 => float64(old, a, $f),
                // Rounding a sum of two f32 to f64 first does no harm: f64 has more than twice the digits.
                _ => float32(old, a, |x, y| $f(x as f64, y as f64) as f32),
            }
        };
    }
    Some(match op {
        AtomicOp::Load => return None,
        AtomicOp::Store | AtomicOp::Exchange => cut(a),
        AtomicOp::CompareExchange => {
            if cut(old) != cut(b) {
                return None;
            }
            cut(a)
        }
        AtomicOp::IAdd => cut(old.wrapping_add(a)),
        AtomicOp::ISub => cut(old.wrapping_sub(a)),
        AtomicOp::SMin => cut(signed(old).min(signed(a)) as u64),
        AtomicOp::SMax => cut(signed(old).max(signed(a)) as u64),
        AtomicOp::UMin => cut(old).min(cut(a)),
        AtomicOp::UMax => cut(old).max(cut(a)),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | cut(a),
        AtomicOp::Xor => old ^ cut(a),
        AtomicOp::FAdd => float!(|x: f64, y: f64| x + y),
        AtomicOp::FMin => float!(float_min),
        AtomicOp::FMax => float!(float_max),
    })
}

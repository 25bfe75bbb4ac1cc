//! Transcendental functions by plain arithmetic of f64, which is the same on every CPU. Results are far more precise than an f32.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, SQRT_2, TAU};

/// 2 to the n, for n of normal numbers.
fn power(n: i64) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

pub(crate) fn exp(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    let x = x.clamp(-1000.0, 1000.0);
    let n = (x / LN_2).round_ties_even();
    let r = x - n * LN_2;
    // |r| ≤ 0.35: the last term is below 2^-60.
    let sum = (1..=17).rev().fold(1.0, |s, k| 1.0 + s * r / k as f64);
    let half = n as i64 / 2;
    // Twice, for the factor itself may not be a number.
    sum * power(half.clamp(-1022, 1023)) * power((n as i64 - half).clamp(-1022, 1023))
}

/// The natural logarithm; −∞ of 0, NaN of what is below.
pub(crate) fn log(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x == f64::INFINITY {
        return if x == 0.0 { f64::NEG_INFINITY } else { x };
    }
    // Values of f32 are normal in f64.
    let bits = x.to_bits();
    let mut n = (bits >> 52) as i64 - 1023;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > SQRT_2 {
        (m, n) = (m / 2.0, n + 1);
    }
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let sum = (0..=12).rev().fold(0.0, |t, k| t * square + 1.0 / (2 * k + 1) as f64);
    n as f64 * LN_2 + 2.0 * s * sum
}

pub(crate) fn sin(x: f64) -> f64 {
    turned(x, 0.0)
}

pub(crate) fn cos(x: f64) -> f64 {
    turned(x, 1.0)
}

/// sin(x + quarters · π / 2).
fn turned(x: f64, quarters: f64) -> f64 {
    let r = x % TAU;
    let n = (r / (TAU / 4.0)).round_ties_even();
    let r = r - n * (TAU / 4.0);
    let square = r * r;
    let term = |s: f64, k: i32| 1.0 - s * square / (2 * k * (2 * k + 1)) as f64;
    let even = |s: f64, k: i32| 1.0 - s * square / (2 * k * (2 * k - 1)) as f64;
    match (n + quarters).rem_euclid(4.0) as i32 {
        0 => r * (1..=10).rev().fold(1.0, term),
        1 => (1..=10).rev().fold(1.0, even),
        2 => -r * (1..=10).rev().fold(1.0, term),
        _ => -(1..=10).rev().fold(1.0, even),
    }
}

pub(crate) fn tanh(x: f64) -> f64 {
    // Near 0 the quotient would cancel.
    if x.abs() < 0.01 {
        let square = x * x;
        return x * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)));
    }
    if x.abs() > 20.0 {
        return 1f64.copysign(x);
    }
    let e = exp(2.0 * x);
    (e - 1.0) / (e + 1.0)
}

pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(-x))
}

pub(crate) fn erf(x: f64) -> f64 {
    // From here on it is 1 in f32.
    if x.abs() >= 4.0 {
        return 1f64.copysign(x);
    }
    let (mut term, mut sum, mut k) = (x, x, 1);
    while k < 120 && term != 0.0 {
        term *= 2.0 * x * x / (2 * k + 1) as f64;
        sum += term;
        k += 1;
    }
    FRAC_2_SQRT_PI * exp(-x * x) * sum
}

/// a to the b, of a ≥ 0.
pub(crate) fn pow(a: f64, b: f64) -> f64 {
    if b == 0.0 { 1.0 } else { exp(b * log(a)) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn functions_agree_with_the_systems() {
        let near = |name: &str, x: f64, got: f64, real: f64| {
            let bound = 1e-12 * real.abs().max(1e-30);
            assert!((got - real).abs() <= bound || got == real, "{name}({x}) = {got}, not {real}");
        };
        for i in -4000..=4000 {
            let x = i as f64 * 0.01;
            near("exp", x, super::exp(x), x.exp());
            near("tanh", x, super::tanh(x), x.tanh());
            near("sigmoid", x, super::sigmoid(x), 1.0 / (1.0 + (-x).exp()));
            assert!(
                (super::sin(x) - x.sin()).abs() < 1e-13 && (super::cos(x) - x.cos()).abs() < 1e-13,
                "{x}"
            );
            let y = (x * 2.0).exp();
            near("log", y, super::log(y), y.ln());
            near("pow", y, super::pow(y, 1.25), y.powf(1.25));
        }
        // Of Abramowitz and Stegun's table 7.1.
        for (x, y) in
            [(0.5, 0.520_499_877_8), (1.0, 0.842_700_792_9), (2.0, 0.995_322_265_0), (-1.5, -0.966_105_146_5)]
        {
            assert!((super::erf(x) - y).abs() < 1e-10, "erf({x})");
        }
        assert_eq!([super::exp(-2000.0), super::exp(2000.0)], [0.0, f64::INFINITY]);
        assert_eq!(super::log(0.0), f64::NEG_INFINITY);
        assert!(
            super::sin(f64::INFINITY).is_nan()
                && super::cos(f64::NEG_INFINITY).is_nan()
                && super::log(-1.0).is_nan()
        );
    }
}

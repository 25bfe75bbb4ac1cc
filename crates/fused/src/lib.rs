//! Fused multiply–add where the C library's rounds twice: `mul_add` calls these functions on CPUs, and in code, without an instruction for
//! it. mingw's own `fmaf` goes by way of the x87's 64 bits. Other systems' are right, and this crate is empty there.
#![cfg(windows)]

use std::arch::x86_64::*;

#[target_feature(enable = "fma")]
fn one32(x: f32, y: f32, z: f32) -> f32 {
    _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(x), _mm_set_ss(y), _mm_set_ss(z)))
}

#[target_feature(enable = "fma")]
fn one64(x: f64, y: f64, z: f64) -> f64 {
    _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(x), _mm_set_sd(y), _mm_set_sd(z)))
}

/// `x * y + z`, rounded once.
#[unsafe(no_mangle)]
pub extern "C" fn fmaf(x: f32, y: f32, z: f32) -> f32 {
    match is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has it.
        true => unsafe { one32(x, y, z) },
        false => libm::fmaf(x, y, z),
    }
}

/// `x * y + z`, rounded once.
#[unsafe(no_mangle)]
pub extern "C" fn fma(x: f64, y: f64, z: f64) -> f64 {
    match is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has it.
        true => unsafe { one64(x, y, z) },
        false => libm::fma(x, y, z),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    /// Halfway cases of 24 bits that a sum of 64 bits hides.
    #[test]
    fn sums_are_rounded_once() {
        let one = |e: i32| 2f32.powi(e);
        let (x, y) = (black_box(1.0 + one(-12)), black_box(1.0 + one(-12)));
        // x·y is 1 + 2^-11 + 2^-24: half a unit above 1 + 2^-11. The least bit more or less decides.
        let base = 1.0 + one(-11);
        for (z, want) in [(one(-100), base + one(-23)), (-one(-100), base), (0.0, base)] {
            assert_eq!(x.mul_add(y, black_box(z)), want, "{z:e}");
            assert_eq!(libm::fmaf(x, y, z), want, "{z:e}");
        }
        let one = |e: i32| 2f64.powi(e);
        let (x, y) = (black_box(1.0 + one(-27)), black_box(1.0 + one(-26)));
        let base = 1.0 + one(-26) + one(-27);
        for (z, want) in [(one(-900), base + one(-52)), (-one(-900), base), (0.0, base)] {
            assert_eq!(x.mul_add(y, black_box(z)), want, "{z:e}");
            assert_eq!(libm::fma(x, y, z), want, "{z:e}");
        }
    }
}

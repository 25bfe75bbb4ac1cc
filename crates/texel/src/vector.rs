//! Sixteen lanes between arrays and vectors. What lies in arrays needs no promise of the caller's.

use simd::Simd;

/// Lanes of words.
#[inline(always)]
pub fn load<S: Simd>(s: S, a: &[u32; 16]) -> S::I {
    // SAFETY: sixteen words, of any alignment.
    unsafe { s.iloadu(a.as_ptr().cast()) }
}

#[inline(always)]
pub fn store<S: Simd>(s: S, to: &mut [u32; 16], v: S::I) {
    // SAFETY: sixteen words, of any alignment.
    unsafe { s.istoreu(to.as_mut_ptr().cast(), v) }
}

/// Lanes of floats.
#[inline(always)]
pub fn floats<S: Simd>(s: S, a: &[f32; 16]) -> S::F {
    // SAFETY: sixteen words, of any alignment.
    s.from_bits(unsafe { s.iloadu(a.as_ptr().cast()) })
}

#[inline(always)]
pub fn store_floats<S: Simd>(s: S, to: &mut [f32; 16], v: S::F) {
    // SAFETY: sixteen words, of any alignment.
    unsafe { s.istoreu(to.as_mut_ptr().cast(), s.bits(v)) }
}

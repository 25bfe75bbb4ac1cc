//! Blending into four unorm bytes in 16-bit fixed point ([`Simd::iblend8`]): result = source term + destination · factor, where neither term
//! nor factor depends on the destination. The error is less than a fiftieth of a code; every level gives the same bits.

use simd::Simd;

/// A number of 0 to 1 times `scale`, to the nearest; `high`: 65536 times as much, with a fraction below.
#[inline(always)]
pub fn fixed<S: Simd>(s: S, v: S::F, scale: f32, high: bool) -> S::I {
    // By a power of two everything rounds as it did.
    let by = if high { 65536.0 } else { 1.0 };
    s.f_to_s_raw(s.fadd(s.fmul(v, s.fsplat(scale * by)), s.fsplat(0.5 * by)))
}

/// Two channels' numbers in the halves of words, as [`fixed`] gives them.
#[inline(always)]
pub fn pair<S: Simd>(s: S, low: S::I, high: S::I) -> S::I {
    s.ior(s.iand(high, s.isplat(0xFFFF_0000)), low)
}

/// [`fixed`]'s scale for terms.
pub const TERM: f32 = 255.0 * 128.0;
/// And for factors.
pub const FACTOR: f32 = 32767.0;

/// `term` is scaled by [`TERM`], `factor` by [`FACTOR`]; channels in the order of the bytes, two to a word.
///
/// # Safety
/// `px` points to sixteen pixels.
#[inline(always)]
pub unsafe fn blend<S: Simd>(s: S, px: *mut u8, term: [S::I; 2], factor: [S::I; 2], mask: u16) {
    // SAFETY: the caller's pixels.
    unsafe {
        let new = s.iblend8(px, term, factor);
        if mask == 0xFFFF {
            s.istoreu(px, new);
        } else {
            s.istore_mask(px, s.mask(mask), new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simd::Level;

    #[inline(always)]
    fn body<S: Simd>(s: S, px: &mut [u8; 64], t: &[[u32; 16]; 4], k: &[[u32; 16]; 4], mask: u16) {
        let row = |r: &[u32; 16]| simd::ops::i_from(s, *r);
        // The bits below the higher number are unused.
        let high = |r: &[u32; 16]| simd::ops::i_from(s, r.map(|v| v << 16 | v & 0xFFF));
        let rows = |r: &[[u32; 16]; 4]| [pair(s, row(&r[0]), high(&r[1])), pair(s, row(&r[2]), high(&r[3]))];
        // SAFETY: sixteen pixels.
        unsafe { blend(s, px.as_mut_ptr(), rows(t), rows(k), mask) };
    }
    simd::by_level!(fn run = body, (px: &mut [u8; 64], t: &[[u32; 16]; 4], k: &[[u32; 16]; 4], mask: u16));

    /// Against exact arithmetic, on every level of this machine.
    #[test]
    fn near_exact_and_the_same_everywhere() {
        let mut seed = 1u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % n
        };
        for _ in 0..500 {
            let start: [u8; 64] = std::array::from_fn(|_| next(256) as u8);
            let mut t = [[0u32; 16]; 4];
            let mut k = [[0u32; 16]; 4];
            t.iter_mut().flatten().for_each(|t| *t = next(255 * 128 + 1));
            k.iter_mut().flatten().for_each(|k| *k = [0, 32767, next(32768)][next(3) as usize]);
            let mask = next(1 << 16) as u16 | if next(2) == 0 { 0xFFFF } else { 0 };
            let mut want = start;
            run(Level::PORTABLE, &mut want, &t, &k, mask);
            for l in 0..16 {
                for c in 0..4 {
                    let at = l * 4 + c;
                    let exact = t[c][l] as f64 / 128.0 + start[at] as f64 * k[c][l] as f64 / 32767.0;
                    let exact = if mask >> l & 1 != 0 { exact.min(255.0) } else { start[at] as f64 };
                    assert!((want[at] as f64 - exact).abs() <= 0.52, "{} {exact}", want[at]);
                }
            }
            for level in Level::tested() {
                let mut got = start;
                run(level, &mut got, &t, &k, mask);
                assert_eq!(got, want, "{level:?}");
            }
        }
    }
}

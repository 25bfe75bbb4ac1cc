//! Four floats, by instructions that every CPU of an architecture has: for code that handles one point or one box at a time.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Four floats. On every architecture the operations give the same bits.
#[derive(Clone, Copy)]
pub struct Quad(#[cfg(target_arch = "x86_64")] __m128, #[cfg(not(target_arch = "x86_64"))] [f32; 4]);

#[cfg(target_arch = "x86_64")]
impl Quad {
    #[inline(always)]
    pub fn new([x, y, z, w]: [f32; 4]) -> Quad {
        // SAFETY: SSE2 is part of x86-64, as in all that follows.
        Quad(unsafe { _mm_setr_ps(x, y, z, w) })
    }
    /// # Safety
    /// Four floats are readable; any alignment.
    #[inline(always)]
    pub unsafe fn load(from: *const f32) -> Quad {
        // SAFETY: the caller's.
        Quad(unsafe { _mm_loadu_ps(from) })
    }
    /// # Safety
    /// There is room for four floats; any alignment.
    #[inline(always)]
    pub unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { _mm_storeu_ps(to, self.0) }
    }
    /// [`Self::store`], past the caches where the CPU can: see [`crate::streamed`].
    ///
    /// # Safety
    /// There is room for four floats, aligned to sixteen bytes.
    #[inline(always)]
    pub unsafe fn stream(self, to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { _mm_stream_ps(to, self.0) }
    }
    /// Where it is less than `or`, itself; so `or` where either is NaN.
    #[inline(always)]
    pub fn min(self, or: Quad) -> Quad {
        // SAFETY: SSE2.
        Quad(unsafe { _mm_min_ps(self.0, or.0) })
    }
    /// Where it is greater than `or`, itself; so `or` where either is NaN.
    #[inline(always)]
    pub fn max(self, or: Quad) -> Quad {
        // SAFETY: SSE2.
        Quad(unsafe { _mm_max_ps(self.0, or.0) })
    }
    /// The last three, and the last once more.
    #[inline(always)]
    pub fn upper3(self) -> Quad {
        // SAFETY: SSE2.
        Quad(unsafe { _mm_shuffle_ps::<0xF9>(self.0, self.0) })
    }
    /// Cut to integers, which they must have room in.
    #[inline(always)]
    pub fn to_ints(self) -> [i32; 4] {
        let mut out = [0; 4];
        // SAFETY: SSE2; sixteen bytes.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), _mm_cvttps_epi32(self.0)) };
        out
    }
    /// Rows become columns.
    #[inline(always)]
    pub fn transpose([a, b, c, d]: [Quad; 4]) -> [Quad; 4] {
        // SAFETY: SSE2.
        unsafe {
            let (ab, cd) = (_mm_unpacklo_ps(a.0, b.0), _mm_unpacklo_ps(c.0, d.0));
            let (ab2, cd2) = (_mm_unpackhi_ps(a.0, b.0), _mm_unpackhi_ps(c.0, d.0));
            [
                Quad(_mm_movelh_ps(ab, cd)),
                Quad(_mm_movehl_ps(cd, ab)),
                Quad(_mm_movelh_ps(ab2, cd2)),
                Quad(_mm_movehl_ps(cd2, ab2)),
            ]
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[allow(clippy::missing_safety_doc, reason = "the other form has it")]
impl Quad {
    #[inline(always)]
    pub fn new(v: [f32; 4]) -> Quad {
        Quad(v)
    }
    #[inline(always)]
    pub unsafe fn load(from: *const f32) -> Quad {
        // SAFETY: the caller's.
        Quad(unsafe { from.cast::<[f32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    pub unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { to.cast::<[f32; 4]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    pub unsafe fn stream(self, to: *mut f32) {
        // SAFETY: the caller's.
        unsafe { self.store(to) }
    }
    #[inline(always)]
    fn with(self, b: Quad, f: impl Fn(f32, f32) -> f32) -> Quad {
        Quad(std::array::from_fn(|i| f(self.0[i], b.0[i])))
    }
    #[inline(always)]
    pub fn min(self, or: Quad) -> Quad {
        self.with(or, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    pub fn max(self, or: Quad) -> Quad {
        self.with(or, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    pub fn upper3(self) -> Quad {
        let [_, a, b, c] = self.0;
        Quad([a, b, c, c])
    }
    #[inline(always)]
    pub fn to_ints(self) -> [i32; 4] {
        self.0.map(|a| a as i32)
    }
    #[inline(always)]
    pub fn transpose(rows: [Quad; 4]) -> [Quad; 4] {
        std::array::from_fn(|i| Quad(std::array::from_fn(|k| rows[k].0[i])))
    }
}

impl Quad {
    #[inline(always)]
    pub fn splat(x: f32) -> Quad {
        Quad::new([x; 4])
    }
    #[inline(always)]
    pub fn get(self) -> [f32; 4] {
        let mut out = [0.0; 4];
        // SAFETY: four floats.
        unsafe { self.store(out.as_mut_ptr()) };
        out
    }
}

macro_rules! operator {
    ($trait:ident, $f:ident, $of:ident, $op:tt) => {
        impl std::ops::$trait for Quad {
            type Output = Quad;
            #[inline(always)]
            fn $f(self, b: Quad) -> Quad {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: SSE2 is part of x86-64.
                return Quad(unsafe { $of(self.0, b.0) });
                #[cfg(not(target_arch = "x86_64"))]
                self.with(b, |a, b| a $op b)
            }
        }
    };
}

operator!(Add, add, _mm_add_ps, +);
operator!(Sub, sub, _mm_sub_ps, -);
operator!(Mul, mul, _mm_mul_ps, *);

impl std::ops::Neg for Quad {
    type Output = Quad;
    #[inline(always)]
    fn neg(self) -> Quad {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        return Quad(unsafe { _mm_xor_ps(self.0, _mm_set1_ps(-0.0)) });
        #[cfg(not(target_arch = "x86_64"))]
        Quad(self.0.map(|a| -a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_quads_do() {
        let bits = |q: Quad| q.get().map(f32::to_bits);
        let is = |q: Quad, of: [f32; 4]| assert_eq!(bits(q), of.map(f32::to_bits));
        let nan = f32::NAN;
        let (a, b) = (Quad::new([1.0, -2.0, 0.0, nan]), Quad::new([0.5, 3.0, -0.0, 7.0]));
        is(a.min(b), [0.5, -2.0, -0.0, 7.0]);
        is(b.min(a), [0.5, -2.0, 0.0, nan]);
        is(a.max(b), [1.0, 3.0, -0.0, 7.0]);
        is(b.max(a), [1.0, 3.0, 0.0, nan]);
        is(Quad::splat(2.5) + b, [3.0, 5.5, 2.5, 9.5]);
        is(Quad::splat(2.5) - b, [2.0, -0.5, 2.5, -4.5]);
        is(Quad::splat(2.0) * b, [1.0, 6.0, -0.0, 14.0]);
        is(-b, [-0.5, -3.0, 0.0, -7.0]);
        is(b.upper3(), [3.0, -0.0, 7.0, 7.0]);
        assert_eq!(Quad::new([1.9, -1.9, 0.0, 1e6]).to_ints(), [1, -1, 0, 1_000_000]);
        let row = |k: usize| Quad::new(std::array::from_fn(|i| (k * 4 + i) as f32));
        for (i, column) in Quad::transpose([0, 1, 2, 3].map(row)).into_iter().enumerate() {
            is(column, std::array::from_fn(|k| (k * 4 + i) as f32));
        }
    }
}

//! Depth bounds, stencil and depth tests of a warp's samples (§ Fragment Operations).

use super::stencil::{self, Stored};
use crate::state::{State, StencilFace};
use crate::tile::memory::plane::quantise;
use ash::vk;
use simd::Simd;

/// From here to twice that an f32 is an integer.
const WHOLE: f32 = 8_388_608.0;

/// The tests of a draw against its depth and stencil attachments.
#[derive(Clone, Copy)]
pub struct Tests {
    pub test: bool,
    pub write: bool,
    pub compare: vk::CompareOp,
    /// As the tile holds depths: the test compares them with what is stored (§ Depth Bounds Test).
    bounds: Option<[f32; 2]>,
    stencil: Option<[StencilFace; 2]>,
    /// See [`crate::tile::memory::target::Plane::depth_scale`].
    pub scale: f32,
    clamp: bool,
    /// To this range, not the viewport's.
    range: Option<[f32; 2]>,
}

/// Lanes where `a op b` holds.
#[inline(always)]
fn compare<S: Simd>(s: S, op: vk::CompareOp, a: S::F, b: S::F) -> S::M {
    match op {
        vk::CompareOp::NEVER => s.mask(0),
        vk::CompareOp::LESS => s.flt(a, b),
        vk::CompareOp::EQUAL => s.feq(a, b),
        vk::CompareOp::LESS_OR_EQUAL => s.fle(a, b),
        vk::CompareOp::GREATER => s.flt(b, a),
        vk::CompareOp::NOT_EQUAL => s.fne(a, b),
        vk::CompareOp::GREATER_OR_EQUAL => s.fle(b, a),
        _ => s.mask(0xFFFF),
    }
}

impl Tests {
    /// `depth`, `stencil`: whether there are such attachments; `scale` that of the depth attachment.
    pub fn new(s: &State, depth: bool, stencil: bool, scale: f32) -> Tests {
        Tests {
            test: depth && s.depth.test,
            write: depth && s.depth.test && s.depth.write,
            compare: s.depth.compare,
            bounds: s.depth.bounds.filter(|_| depth).map(|b| b.map(|z| quantise(z, scale))),
            stencil: s.stencil.filter(|_| stencil),
            scale,
            clamp: s.raster.depth_clamp,
            range: s.raster.clamp_range,
        }
    }

    #[cfg(test)]
    pub fn plain(compare: vk::CompareOp) -> Tests {
        Tests {
            test: true,
            write: true,
            compare,
            bounds: None,
            stencil: None,
            scale: 0.0,
            clamp: false,
            range: None,
        }
    }

    /// Whether one depth passes against another.
    #[cfg(test)]
    pub fn passes_one(&self, z: f32, old: f32) -> bool {
        self.passes(simd::Portable, [z; 16], [old; 16]) & 1 != 0
    }

    /// The lanes left after each test in turn (depth bounds, stencil, depth). The caller sees which test failed.
    pub fn one_by_one(&self) -> [Tests; 3] {
        let first = Tests { test: false, write: false, ..*self };
        [Tests { stencil: None, ..first }, first, *self]
    }

    /// Only depth is compared: a failed test has no effect at all.
    pub fn only_depth(&self) -> bool {
        self.test && self.bounds.is_none() && self.stencil.is_none()
    }
    /// The least and the greatest depth that clamping leaves; `range`: the viewport's.
    #[inline(always)]
    fn limits(&self, range: [f32; 2]) -> [f32; 2] {
        let [a, b] = self.range.unwrap_or(range);
        [a.min(b), a.max(b)]
    }
    /// [`Tests::value`] of one number.
    #[inline]
    pub fn bound(&self, z: f32, range: [f32; 2]) -> f32 {
        let [lo, hi] = self.limits(range);
        let z = if self.clamp { z.max(lo).min(hi) } else { z };
        quantise(z, self.scale)
    }

    /// True when nothing is tested or written.
    pub fn idle(&self) -> bool {
        !self.test && self.bounds.is_none() && self.stencil.is_none()
    }
    /// False where nothing of the attachment can change.
    pub fn writes(&self) -> bool {
        self.write || self.stencil.is_some()
    }
    pub fn has_stencil(&self) -> bool {
        self.stencil.is_some()
    }

    /// A sample that fails the tests now would fail them later too, whatever passes in between.
    pub fn monotonic(&self) -> bool {
        use vk::CompareOp as C;
        self.stencil.is_none()
            && self.bounds.is_none()
            && (!self.write
                || matches!(
                    self.compare,
                    C::NEVER | C::LESS | C::LESS_OR_EQUAL | C::GREATER | C::GREATER_OR_EQUAL
                ))
    }

    /// Depth as the tile holds it, from what rasterisation or the shader gives.
    #[inline(always)]
    pub fn value<S: Simd>(&self, s: S, z: S::F, range: [f32; 2]) -> S::F {
        if !self.clamp {
            return self.stored(s, z);
        }
        let [lo, hi] = self.limits(range);
        self.stored(s, s.fmin_raw(s.fmax_raw(z, s.fsplat(lo)), s.fsplat(hi)))
    }

    /// As [`Self::value`], of quads that have a range each.
    #[inline(always)]
    pub fn value_of_quads<S: Simd>(&self, s: S, z: S::F, ranges: impl Fn(usize) -> [f32; 2]) -> S::F {
        if !self.clamp {
            return self.stored(s, z);
        }
        let (mut low, mut high) = ([0.0; 4], [0.0; 4]);
        for (q, (lo, hi)) in low.iter_mut().zip(&mut high).enumerate() {
            [*lo, *hi] = self.limits(ranges(q));
        }
        self.stored(s, s.fmin_raw(s.fmax_raw(z, s.fquads(low)), s.fquads(high)))
    }

    /// A depth as the attachment has it.
    #[inline(always)]
    fn stored<S: Simd>(&self, s: S, mut z: S::F) -> S::F {
        if self.scale != 0.0 {
            // The nearest integer, as `quantise` has it. Numbers from 2^23 to 2^24 have no fraction: so a multiplication
            // into them rounds once, to an integer. A tie has an even neighbour above (z = 0.5 alone makes one).
            let unit = s.fmin_raw(s.fmax_raw(z, s.fsplat(0.0)), s.fsplat(1.0));
            let (scale, whole) = (s.fsplat(self.scale), s.fsplat(WHOLE));
            z = s.fsub(s.fma(unit, scale, whole), whole);
            if self.scale > WHOLE {
                let large = s.fmul(unit, scale);
                z = s.fsel(s.fle(whole, large), large, z);
            }
        }
        z
    }

    /// Lanes whose depth passes the test against what the attachment holds.
    #[inline(always)]
    pub fn passes<S: Simd>(&self, s: S, z: S::F, old: S::F) -> u16 {
        s.mbits(self.passing(s, z, old))
    }
    /// As [`Self::passes`], as a mask.
    #[inline(always)]
    pub fn passing<S: Simd>(&self, s: S, z: S::F, old: S::F) -> S::M {
        compare(s, self.compare, z, old)
    }

    /// Tests the samples of `mask`, of depths `z`, and updates what is stored of them. Returns those that passed.
    ///
    /// # Safety
    /// Sixteen depths are stored, and sixteen stencil values if there is a stencil test; nobody else uses them.
    #[inline(always)]
    pub unsafe fn run<S: Simd>(&self, s: S, mask: u16, z: S::F, stored: &Stored) -> u16 {
        let &Stored { zs, write, .. } = stored;
        let mut live = mask;
        // SAFETY: sixteen floats.
        let old = s.from_bits(unsafe { s.iloadu(zs.cast()) });
        if let Some([lo, hi]) = self.bounds {
            live &= s.mbits(s.fle(s.fsplat(lo), old)) & s.mbits(s.fle(old, s.fsplat(hi)));
        }
        let mut passed = live;
        let depth_pass = if self.test { self.passes(s, z, old) } else { 0xFFFF };
        if let Some(faces) = &self.stencil {
            // SAFETY: there is a stencil test: sixteen bytes.
            passed &= unsafe { stencil::test(s, faces, live, depth_pass, stored) };
        }
        passed &= depth_pass;
        if self.write && write && passed != 0 {
            // SAFETY: sixteen floats.
            unsafe { s.istoreu(zs.cast(), s.bits(s.fsel(s.mask(passed), z, old))) };
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depths of fixed-point formats are the nearest integers, on every SIMD level: around each tie, around powers of two.
    #[test]
    fn depths_are_rounded_to_the_nearest() {
        for scale in [65535.0f32, 16777215.0] {
            let t = Tests { scale, ..Tests::plain(vk::CompareOp::LESS) };
            let around = |z: f32| (-8i32..8).map(move |d| f32::from_bits(z.to_bits().wrapping_add_signed(d)));
            let ties = (0..200_000u32).map(|i| ((i as f64 * 83.7).floor() + 0.5) / scale as f64);
            let mut all: Vec<f32> = ties.flat_map(|z| around(z as f32)).collect();
            all.extend((0..30).flat_map(|e| around(1.0 / (1u32 << e) as f32)));
            all.extend([0.0, -0.0, -1.0, 2.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45]);
            while !all.len().is_multiple_of(16) {
                all.push(0.5);
            }
            for level in simd::Level::tested() {
                let got = rounded(level, &t, &all);
                for (z, got) in all.iter().zip(got) {
                    let want = (*z as f64).clamp(0.0, 1.0) * scale as f64;
                    let want = if z.is_nan() { 0.0 } else { (want + 0.5).floor() };
                    assert_eq!(got as f64, want, "{z:e} by {scale} at {level:?}");
                    assert_eq!(got, quantise(*z, scale));
                }
            }
        }
    }

    fn rounded_body<S: Simd>(s: S, t: &Tests, all: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; all.len()];
        for (from, to) in all.chunks_exact(16).zip(out.chunks_exact_mut(16)) {
            // SAFETY: sixteen lanes.
            let z = s.from_bits(unsafe { s.iloadu(from.as_ptr().cast()) });
            // SAFETY: sixteen lanes.
            unsafe { s.istoreu(to.as_mut_ptr().cast(), s.bits(t.value(s, z, [0.0, 1.0]))) };
        }
        out
    }
    simd::by_level!(fn rounded = rounded_body, (t: &Tests, all: &[f32]) -> Vec<f32>);

    /// VK_EXT_depth_clamp_control: to one range, whatever the viewport's is; fixed-point depth to 0 to 1 besides.
    #[test]
    fn depth_is_clamped_to_the_range_that_is_set() {
        let plain = Tests::plain(vk::CompareOp::LESS);
        let clamp = |range, scale, z| Tests { clamp: true, range, scale, ..plain }.bound(z, [0.75, 0.25]);
        assert_eq!([0.1, 0.5, 0.9].map(|z| clamp(None, 0.0, z)), [0.25, 0.5, 0.75]);
        let set = Some([-1.0, 3.0]);
        assert_eq!([-2.0, 0.1, 2.5, 4.0].map(|z| clamp(set, 0.0, z)), [-1.0, 0.1, 2.5, 3.0]);
        assert_eq!([-2.0, 2.5].map(|z| clamp(set, 65535.0, z)), [0.0, 65535.0]);
        let vector = Tests { clamp: true, range: set, ..plain };
        let s = simd::Portable;
        let z = simd::ops::f_lanes(s, vector.value(s, simd::ops::f_from(s, [4.0; 16]), [0.0, 1.0]));
        assert_eq!(z, [3.0; 16]);
    }

    #[test]
    fn stencil_and_depth_in_order() {
        let face = StencilFace {
            fail: vk::StencilOp::INVERT,
            pass: vk::StencilOp::REPLACE,
            depth_fail: vk::StencilOp::INCREMENT_AND_WRAP,
            compare: vk::CompareOp::LESS,
            compare_mask: 0xF,
            write_mask: 0x7F,
            reference: 5,
        };
        let t = Tests {
            test: true,
            write: true,
            compare: vk::CompareOp::LESS,
            bounds: Some([0.25, 1.0]),
            stencil: Some([face, StencilFace { reference: 0xFF, ..face }]),
            scale: 0.0,
            clamp: false,
            range: None,
        };
        let mut zs = [0.5; 16];
        zs[3] = 0.2;
        let mut st = [0xF6u8; 16];
        st[2] = 0x05;
        let mut z = [0.4; 16];
        z[1] = 0.6;
        // Lane 0 passes; 1 fails depth; 2 fails stencil (5 < 5); 3 is out of bounds; 4 is a back face: 15 < 6 fails.
        // SAFETY: portable code, arrays of sixteen.
        let passed = unsafe {
            let z = simd::ops::f_from(simd::Portable, z);
            let (zs, st) = (zs.as_mut_ptr(), st.as_mut_ptr());
            t.run(
                simd::Portable,
                0b11111,
                z,
                &Stored { zs, st, front: 0b01111, write: true, reference: None },
            )
        };
        assert_eq!(passed, 1);
        assert_eq!(st[..6], [0x85, 0xF7, 0x7A, 0xF6, 0x89, 0xF6]);
        assert_eq!(zs[..5], [0.4, 0.5, 0.5, 0.2, 0.5]);
    }
}

//! Stencil tests of a warp's samples (§ Stencil Test).

use crate::state::StencilFace;
use ash::vk;
use simd::Simd;

/// Sixteen stencil values, a word each, and what they are compared with.
#[derive(Clone, Copy)]
struct Values<S: Simd> {
    old: S::I,
    /// References that a shader gave; the face's own otherwise.
    given: Option<S::I>,
}

/// Lanes where `a op b` holds, for numbers below 2³¹.
#[inline(always)]
fn compare<S: Simd>(s: S, op: vk::CompareOp, a: S::I, b: S::I) -> S::M {
    match op {
        vk::CompareOp::NEVER => s.mask(0),
        vk::CompareOp::LESS => s.sgt(b, a),
        vk::CompareOp::EQUAL => s.ieq(a, b),
        vk::CompareOp::LESS_OR_EQUAL => s.mnot(s.sgt(a, b)),
        vk::CompareOp::GREATER => s.sgt(a, b),
        vk::CompareOp::NOT_EQUAL => s.mnot(s.ieq(a, b)),
        vk::CompareOp::GREATER_OR_EQUAL => s.mnot(s.sgt(b, a)),
        _ => s.mask(0xFFFF),
    }
}

/// What an operation makes of stencil values.
#[inline(always)]
fn apply<S: Simd>(s: S, op: vk::StencilOp, old: S::I, reference: S::I) -> S::I {
    let (one, most) = (s.isplat(1), s.isplat(0xFF));
    match op {
        vk::StencilOp::ZERO => s.isplat(0),
        vk::StencilOp::REPLACE => reference,
        vk::StencilOp::INCREMENT_AND_CLAMP => s.smin(s.iadd(old, one), most),
        vk::StencilOp::DECREMENT_AND_CLAMP => s.smax(s.isub(old, one), s.isplat(0)),
        vk::StencilOp::INVERT => s.ixor(old, most),
        vk::StencilOp::INCREMENT_AND_WRAP => s.iand(s.iadd(old, one), most),
        vk::StencilOp::DECREMENT_AND_WRAP => s.iand(s.isub(old, one), most),
        _ => old,
    }
}

/// A face's test: lanes that pass it, and what all become.
#[inline(always)]
fn face<S: Simd>(s: S, f: &StencilFace, v: Values<S>, depth_pass: u16) -> (S::M, S::I) {
    let low = s.isplat(0xFF);
    let reference = s.iand(v.given.unwrap_or(s.isplat(f.reference)), low);
    let compared = s.isplat(f.compare_mask);
    let ok = compare(s, f.compare, s.iand(reference, compared), s.iand(v.old, compared));
    let mut new = apply(s, f.pass, v.old, reference);
    if depth_pass != 0xFFFF {
        new = s.isel(s.mask(depth_pass), new, apply(s, f.depth_fail, v.old, reference));
    }
    if s.mbits(ok) != 0xFFFF {
        new = s.isel(ok, new, apply(s, f.fail, v.old, reference));
    }
    let written = s.isplat(f.write_mask & 0xFF);
    (ok, s.ior(s.iandn(written, v.old), s.iand(new, written)))
}

/// What the attachments hold of sixteen samples, and what is to be known of them besides.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// Depths; stencil values, of which only the stencil test makes use.
    pub zs: *mut f32,
    pub st: *mut u8,
    /// Lanes of front faces.
    pub front: u16,
    /// What passes is written.
    pub write: bool,
    /// A shader's stencil references, which replace the state's.
    pub reference: Option<&'a [u32; 16]>,
}

/// Tests the samples of `live` and updates their stencil values if they are to be written. Returns the lanes that pass.
///
/// # Safety
/// The stencil values are sixteen bytes, which nobody else uses.
#[inline(always)]
pub unsafe fn test<S: Simd>(
    s: S,
    faces: &[StencilFace; 2],
    live: u16,
    depth_pass: u16,
    &Stored { st, front, write, reference, .. }: &Stored,
) -> u16 {
    // SAFETY: sixteen bytes; sixteen words.
    let v =
        unsafe { Values::<S> { old: s.iwiden8(st), given: reference.map(|r| s.iloadu(r.as_ptr().cast())) } };
    let alike = faces[0] == faces[1];
    let (ok, new) = if alike || front & live == live {
        face(s, &faces[0], v, depth_pass)
    } else if front & live == 0 {
        face(s, &faces[1], v, depth_pass)
    } else {
        let (a, b) = (face(s, &faces[0], v, depth_pass), face(s, &faces[1], v, depth_pass));
        let front = s.mask(front);
        (s.mor(s.mand(front, a.0), s.mand(s.mnot(front), b.0)), s.isel(front, a.1, b.1))
    };
    if write {
        // SAFETY: sixteen bytes.
        unsafe { s.inarrow8(st, s.isel(s.mask(live), new, v.old)) };
    }
    s.mbits(ok)
}

#[cfg(test)]
pub(crate) use tests::one;
#[cfg(test)]
mod tests {
    use super::*;

    /// One sample by the specification's words.
    pub(crate) fn one(f: &StencilFace, depth_pass: bool, old: u8, reference: u32) -> (bool, u8) {
        let r = reference as u8;
        let (a, b) = (r & f.compare_mask as u8, old & f.compare_mask as u8);
        let ok = match f.compare {
            vk::CompareOp::NEVER => false,
            vk::CompareOp::LESS => a < b,
            vk::CompareOp::EQUAL => a == b,
            vk::CompareOp::LESS_OR_EQUAL => a <= b,
            vk::CompareOp::GREATER => a > b,
            vk::CompareOp::NOT_EQUAL => a != b,
            vk::CompareOp::GREATER_OR_EQUAL => a >= b,
            _ => true,
        };
        let op = match (ok, depth_pass) {
            (false, _) => f.fail,
            (true, false) => f.depth_fail,
            _ => f.pass,
        };
        let new = match op {
            vk::StencilOp::ZERO => 0,
            vk::StencilOp::REPLACE => r,
            vk::StencilOp::INCREMENT_AND_CLAMP => old.saturating_add(1),
            vk::StencilOp::DECREMENT_AND_CLAMP => old.saturating_sub(1),
            vk::StencilOp::INVERT => !old,
            vk::StencilOp::INCREMENT_AND_WRAP => old.wrapping_add(1),
            vk::StencilOp::DECREMENT_AND_WRAP => old.wrapping_sub(1),
            _ => old,
        };
        let keep = !f.write_mask as u8;
        (ok, old & keep | new & !keep)
    }

    fn sixteen<S: Simd>(
        s: S,
        faces: &[StencilFace; 2],
        m: [u16; 3],
        st: &mut [u8; 16],
        r: Option<&[u32; 16]>,
    ) -> u16 {
        // SAFETY: an array of sixteen.
        unsafe {
            let (zs, st) = (std::ptr::null_mut(), st.as_mut_ptr());
            test(s, faces, m[0], m[1], &Stored { zs, st, front: m[2], write: true, reference: r })
        }
    }
    simd::by_level!(fn at_level = sixteen,
        (faces: &[StencilFace; 2], m: [u16; 3], st: &mut [u8; 16], r: Option<&[u32; 16]>) -> u16);

    /// Every comparison with every operation in each of its three places, on both faces, on every SIMD level.
    #[test]
    fn a_warp_is_tested_as_its_samples_are() {
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            seed >> 8
        };
        for case in 0..8 * 8 * 3 * 4u32 {
            let mut face = |at: u32| {
                let op = |place: u32, any: u32| {
                    let own = case / 8 % 8;
                    vk::StencilOp::from_raw(if case / 64 % 3 == place { own } else { any % 8 } as i32)
                };
                let any = next();
                StencilFace {
                    fail: op(0, any),
                    pass: op(1, any >> 3),
                    depth_fail: op(2, any >> 6),
                    compare: vk::CompareOp::from_raw(((case + at) % 8) as i32),
                    compare_mask: [u32::MAX, 0x0F, 0x13][next() as usize % 3],
                    write_mask: [u32::MAX, 0x7F, 0][next() as usize % 3],
                    reference: next(),
                }
            };
            let faces = [face(0), face(3)];
            let [live, depth_pass] = [0; 2].map(|_| next() as u16);
            let front = [0, 0xFFFF, next() as u16][next() as usize % 3];
            let given: [u32; 16] = std::array::from_fn(|_| next());
            let given = (case % 5 == 0).then_some(&given);
            let old: [u8; 16] = std::array::from_fn(|l| [0, 0xFF, next() as u8][(l + case as usize) % 3]);
            for level in simd::Level::tested() {
                let mut st = old;
                let ok = at_level(level, &faces, [live, depth_pass, front], &mut st, given);
                for l in 0..16 {
                    let bit = |m: u16| m >> l & 1 != 0;
                    let f = &faces[usize::from(!bit(front))];
                    let want = one(f, bit(depth_pass), old[l], given.map_or(f.reference, |r| r[l]));
                    if bit(live) {
                        assert_eq!((bit(ok), st[l]), want, "lane {l} of case {case} at {level:?}");
                    } else {
                        assert_eq!(st[l], old[l], "lane {l} of case {case} at {level:?}");
                    }
                }
            }
        }
    }
}

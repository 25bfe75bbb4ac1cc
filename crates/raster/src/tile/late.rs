//! What happens to a warp's coverage between shading and blending.

use super::cover::MAX_MASKS;
use super::fill;
use super::item::{Item, When};
use super::packer::Slot;
use super::shade::{sample_of, warp};
use super::target::Targets;

/// What happens to a warp's coverage after shading: sample mask, alpha to coverage, late tests, counting. The
/// lanes of which a sample is left, and the samples to count.
///
/// # Safety
/// `tile` is laid out by `targets`, and nobody else uses it.
#[inline(never)]
pub unsafe fn after(
    targets: &Targets,
    tile: *mut u8,
    origin: [i32; 2],
    item: &Item,
    slot: &mut Slot,
    words: &dyn Fn(usize) -> [u32; 16],
) -> (u16, u64) {
    let plan = &*item.plan;
    if let Some(i) = plan.mask_out {
        let m = words(i);
        for (s, mask) in slot.masks[..plan.samples].iter_mut().enumerate() {
            (0..16).for_each(|l| *mask &= !(((m[l] >> s & 1 == 0) as u16) << l));
        }
    }
    if let Some(i) = plan.coverage_alpha {
        let a = words(i);
        for l in 0..16 {
            let n = (f32::from_bits(a[l]).clamp(0.0, 1.0) * plan.samples as f32 + 0.5) as usize;
            (n..plan.samples).for_each(|s| slot.masks[s] &= !(1 << l));
        }
    }
    if matches!(plan.when, When::Both | When::Late) {
        let z = plan.frag_depth.map(|i| words(i).map(f32::from_bits));
        let reference = plan.stencil_ref.map(words);
        let mut masks = slot.masks;
        // SAFETY: the caller's tile.
        unsafe { late(targets, tile, origin, item, slot, &mut masks, z, reference) };
        slot.masks = masks;
    }
    let (mut any, mut passed) = (0, 0);
    for m in &slot.masks[..plan.samples] {
        passed += if plan.counts_early { 0 } else { m.count_ones() as u64 };
        any |= m;
    }
    (any, passed)
}

/// Depth and stencil tests after shading.
///
/// # Safety
/// As [`after`].
#[allow(clippy::too_many_arguments)]
unsafe fn late(
    targets: &Targets,
    tile: *mut u8,
    origin: [i32; 2],
    item: &Item,
    slot: &Slot,
    masks: &mut [u16; MAX_MASKS],
    written: Option<[f32; 16]>,
    reference: Option<[u32; 16]>,
) {
    let plan = &*item.plan;
    let warp = warp(simd::Portable, item, slot, origin);
    let front = fill::front(&warp.prims);
    let target = |a: Option<u32>| targets.list.get(a? as usize);
    let depth = target(plan.depth).and_then(|t| t.depth.as_ref());
    let stencil = target(plan.stencil).and_then(|t| t.stencil.as_ref());
    for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
        if *m == 0 {
            continue;
        }
        let z = match written {
            Some(z) => simd::ops::f_from(simd::Portable, z),
            None => {
                let places = warp.places(plan.places[s].map(|v| v as f32 / 16.0));
                warp.eval(&places, |p| &p.z)
            }
        };
        let mut value = [0.0; 16];
        for q in 0..4 {
            let v = simd::ops::f_lanes(
                simd::Portable,
                plan.tests.value(simd::Portable, z, item.depth_range(warp.prims[q])),
            );
            value[q * 4..q * 4 + 4].copy_from_slice(&v[q * 4..q * 4 + 4]);
        }
        let mut zs = [0f32; 16];
        let mut st = [0u8; 16];
        // SAFETY: planes of the caller's tile.
        let zp = depth.map(|p| unsafe { p.sample(tile, sample_of(p, s)) }.cast::<f32>());
        let sp = stencil.map(|p| unsafe { p.sample(tile, sample_of(p, s)) });
        for q in 0..4 {
            let at = slot.pixels[q] as usize;
            if let Some(p) = zp {
                // SAFETY: the quad's four pixels.
                zs[q * 4..][..4].copy_from_slice(unsafe { std::slice::from_raw_parts(p.add(at), 4) });
            }
            if let Some(p) = sp {
                // SAFETY: the quad's four pixels.
                st[q * 4..][..4].copy_from_slice(unsafe { std::slice::from_raw_parts(p.add(at), 4) });
            }
        }
        let tested = *m;
        let value = simd::ops::f_from(simd::Portable, value);
        // SAFETY: sixteen values each.
        *m = unsafe {
            plan.tests.run(
                simd::Portable,
                tested,
                value,
                zs.as_mut_ptr(),
                st.as_mut_ptr(),
                front,
                true,
                reference.as_ref(),
            )
        };
        for q in (0..4).filter(|q| tested >> (q * 4) & 0xF != 0) {
            let at = slot.pixels[q] as usize;
            if let Some(p) = zp {
                // SAFETY: the quad's four pixels.
                unsafe { p.add(at).copy_from_nonoverlapping(zs[q * 4..][..4].as_ptr(), 4) };
            }
            if let Some(p) = sp {
                // SAFETY: the quad's four pixels.
                unsafe { p.add(at).copy_from_nonoverlapping(st[q * 4..][..4].as_ptr(), 4) };
            }
        }
    }
}

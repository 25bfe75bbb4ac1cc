//! What happens to a warp's coverage between shading and blending: sample mask, alpha to coverage, late tests.

use super::warp;
use super::warp_of;
use crate::tile::cover::MAX_MASKS;
use crate::tile::item::Item;
use crate::tile::item::plan::When;
use crate::tile::memory::plane::sample_of;
use crate::tile::memory::target::Targets;
use crate::tile::pack::packer::Slot;
use crate::tile::record::{LateTold, explain};
use crate::tile::test::stencil::Stored;
use simd::Simd;
use std::cell::RefCell;
use texel::row::Row;
use texel::vector;

/// A warp after its program has run.
#[derive(Clone, Copy)]
pub struct Shaded<'a> {
    pub targets: &'a Targets,
    pub tile: *mut u8,
    pub origin: [i32; 2],
    pub item: &'a Item,
    /// Rows of the program's outputs.
    pub rows: &'a [Row],
    /// Which of the wave's warps it is.
    pub at: usize,
    /// Of a recorded pass: receives the tests that fail.
    pub told: Option<&'a RefCell<LateTold>>,
}

simd::by_level! {
    /// What happens to a warp's coverage after shading: sample mask, alpha to coverage, late tests, counting. The
    /// lanes of which a sample is left, and the samples to count.
    ///
    /// # Safety
    /// The tile is laid out by the targets, and nobody else uses it; the rows hold the warp.
    #[inline(never)]
    pub unsafe fn after = body, (shaded: Shaded, slot: &mut Slot) -> (u16, u64)
}

/// # Safety
/// As [`after`].
#[inline(always)]
unsafe fn body<S: Simd>(s: S, shaded: Shaded, slot: &mut Slot) -> (u16, u64) {
    let plan = &*shaded.item.plan;
    // SAFETY: the caller's rows.
    let words = |i: usize| unsafe { shaded.rows[i].words(s, shaded.at) };
    if let Some(i) = plan.mask_out {
        let m = words(i);
        for (n, mask) in slot.masks[..plan.samples].iter_mut().enumerate() {
            *mask &= !s.mbits(s.ieq(s.iand(m, s.isplat(1 << n)), s.isplat(0)));
        }
    }
    if let Some(i) = plan.coverage_alpha {
        let unit = s.fmin_raw(s.fmax_raw(s.from_bits(words(i)), s.fsplat(0.0)), s.fsplat(1.0));
        let covered = s.fadd(s.fmul(unit, s.fsplat(plan.samples as f32)), s.fsplat(0.5));
        for (n, mask) in slot.masks[..plan.samples].iter_mut().enumerate() {
            *mask &= s.mbits(s.fle(s.fsplat((n + 1) as f32), covered));
        }
    }
    if matches!(plan.when, When::Both | When::Late) {
        let z = plan.frag_depth.map(|i| s.from_bits(words(i)));
        // SAFETY: the caller's rows.
        let reference = plan.stencil_ref.map(|i| unsafe { shaded.rows[i].array(shaded.at) });
        let mut masks = slot.masks;
        // SAFETY: the caller's tile.
        unsafe { late(s, shaded, slot, &mut masks, z, reference) };
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
#[inline(always)]
unsafe fn late<S: Simd>(
    s: S,
    shaded: Shaded,
    slot: &Slot,
    masks: &mut [u16; MAX_MASKS],
    written: Option<S::F>,
    reference: Option<[u32; 16]>,
) {
    let Shaded { targets, tile, item, .. } = shaded;
    let plan = &*item.plan;
    let own = warp_of(s, item, slot, shaded.origin);
    let front = warp::front(&own.prims);
    let target = |a: Option<u32>| targets.list.get(a? as usize);
    let depth = target(plan.depth).and_then(|t| t.depth.as_ref());
    let stencil = target(plan.stencil).and_then(|t| t.stencil.as_ref());
    for (n, m) in masks[..plan.samples].iter_mut().enumerate() {
        let tested = *m;
        if tested == 0 {
            continue;
        }
        let z = match written {
            Some(z) => z,
            None => {
                let places = own.places(plan.places[n].map(|v| v as f32 / 16.0));
                own.eval(&places, |p| &p.z)
            }
        };
        let value = plan.tests.value_of_quads(s, z, |q| item.depth_range(own.prims[q]));
        let mut zs = [0u32; 16];
        let mut st = [0u8; 16];
        // SAFETY: planes of the caller's tile.
        let zp = depth.map(|p| unsafe { p.sample(tile, sample_of(p, n)) }.cast::<f32>());
        let sp = stencil.map(|p| unsafe { p.sample(tile, sample_of(p, n)) });
        let quads = |p: *mut f32| slot.pixels.map(|at| p.wrapping_add(at as usize).cast::<u8>());
        if let Some(p) = zp {
            // SAFETY: four quads of the plane.
            vector::store(s, &mut zs, unsafe { s.iload4(quads(p)) });
        }
        if let Some(p) = sp {
            for q in 0..4 {
                // SAFETY: the quad's four pixels.
                let own = unsafe { p.add(slot.pixels[q] as usize).cast::<[u8; 4]>().read_unaligned() };
                st[q * 4..][..4].copy_from_slice(&own);
            }
        }
        if let Some(told) = shaded.told {
            let depths = zs.map(f32::from_bits);
            let stored = Stored {
                zs: std::ptr::null_mut(),
                st: std::ptr::null_mut(),
                front,
                write: false,
                reference: reference.as_ref(),
            };
            let z = simd::ops::f_lanes(s, value);
            told.borrow_mut().tests(n, &z, explain(&plan.tests, tested, z, depths, st, &stored));
        }
        // SAFETY: sixteen values each.
        *m = unsafe {
            let (zs, st) = (zs.as_mut_ptr().cast(), st.as_mut_ptr());
            plan.tests.run(
                s,
                tested,
                value,
                &Stored { zs, st, front, write: true, reference: reference.as_ref() },
            )
        };
        // Quads without a tested sample may be anywhere: they are not written.
        for q in (0..4).filter(|q| tested >> (q * 4) & 0xF != 0) {
            let at = slot.pixels[q] as usize;
            if let Some(p) = zp {
                // SAFETY: the quad's four pixels.
                unsafe { p.add(at).cast::<[u32; 4]>().write_unaligned([0, 1, 2, 3].map(|l| zs[q * 4 + l])) };
            }
            if let Some(p) = sp {
                // SAFETY: the quad's four pixels.
                unsafe { p.add(at).cast::<[u8; 4]>().write_unaligned([0, 1, 2, 3].map(|l| st[q * 4 + l])) };
            }
        }
    }
}

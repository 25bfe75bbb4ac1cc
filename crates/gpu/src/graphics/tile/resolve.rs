//! Resolves at the end of a subpass (§ Render Pass Multisample Resolve Operations).

use super::blend;
use super::layout::{BLOCKS, PIXELS};
use super::target::{Plane, Targets};
use crate::graphics::pass::Subpass;
use ash::vk::ResolveModeFlags as Mode;

/// Resolves all attachments of a subpass that are to be.
///
/// # Safety
/// As [`Targets::load`].
pub unsafe fn run(targets: &Targets, sub: &Subpass, tile: *mut u8) {
    let target = |i: Option<u32>| targets.list.get(i? as usize);
    for (from, to) in sub.colors.iter().zip(&sub.resolves) {
        let Some((to, mode)) = *to else { continue };
        let (Some(f), Some(t)) =
            (target(*from).and_then(|t| t.color.as_ref()), target(Some(to)).and_then(|t| t.color.as_ref()))
        else {
            continue;
        };
        if f.bytes != t.bytes {
            continue;
        }
        let step = PIXELS * f.bytes;
        for b in 0..BLOCKS {
            let at = b * 16 * f.bytes;
            let (src, dst) = (f.sample(tile, 0).add(at), t.sample(tile, 0).add(at));
            blend::resolve(f.format, src, step, f.samples, mode != Mode::SAMPLE_ZERO, dst);
        }
    }
    if let Some((to, mode)) = sub.depth_resolve
        && let Some(f) = target(sub.depth).and_then(|t| t.depth.as_ref())
        && let Some(t) = target(Some(to)).and_then(|t| t.depth.as_ref())
    {
        depth(f, t, tile, mode);
    }
    if let Some((to, mode)) = sub.stencil_resolve
        && let Some(f) = target(sub.stencil).and_then(|t| t.stencil.as_ref())
        && let Some(t) = target(Some(to)).and_then(|t| t.stencil.as_ref())
    {
        stencil(f, t, tile, mode);
    }
}

unsafe fn depth(f: &Plane, t: &Plane, tile: *mut u8, mode: Mode) {
    let plane = |s: u32| std::slice::from_raw_parts(f.sample(tile, s).cast::<f32>(), PIXELS);
    let out = std::slice::from_raw_parts_mut(t.sample(tile, 0).cast::<f32>(), PIXELS);
    if mode == Mode::AVERAGE {
        // In f64 the sum is exact, so that samples of one depth have that depth's mean.
        let fixed = f.depth_scale() != 0.0;
        for (i, o) in out.iter_mut().enumerate() {
            let mean = (0..f.samples).map(|s| plane(s)[i] as f64).sum::<f64>() / f.samples as f64;
            *o = if fixed { (mean + 0.5).floor() } else { mean } as f32;
        }
        return;
    }
    out.copy_from_slice(plane(0));
    for s in 1..f.samples {
        for (o, v) in out.iter_mut().zip(plane(s)) {
            match mode {
                Mode::MIN => *o = o.min(*v),
                Mode::MAX => *o = o.max(*v),
                _ => {}
            }
        }
    }
}

unsafe fn stencil(f: &Plane, t: &Plane, tile: *mut u8, mode: Mode) {
    let plane = |s: u32| std::slice::from_raw_parts(f.sample(tile, s), PIXELS);
    let out = std::slice::from_raw_parts_mut(t.sample(tile, 0), PIXELS);
    out.copy_from_slice(plane(0));
    for s in 1..f.samples {
        for (o, v) in out.iter_mut().zip(plane(s)) {
            match mode {
                Mode::MIN => *o = (*o).min(*v),
                Mode::MAX => *o = (*o).max(*v),
                _ => {}
            }
        }
    }
}

//! Resolves at the end of a subpass (§ Render Pass Multisample Resolve Operations).

use super::blend::Colors;
use super::target::{Plane, Targets};
use crate::layout::{BLOCKS, PIXELS};
use crate::pass::Subpass;
use ash::vk::ResolveModeFlags as Mode;
use texel::format::{ChannelClass, FormatInfo, kernels};

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
            // SAFETY: a block of planes of the caller's tile, with pixels of one size.
            unsafe {
                let (src, dst) = (f.sample(tile, 0).add(at), t.sample(tile, 0).add(at));
                colors(f.format, src, step, f.samples, mode != Mode::SAMPLE_ZERO, dst);
            }
        }
    }
    if let Some((to, mode)) = sub.depth_resolve
        && let Some(f) = target(sub.depth).and_then(|t| t.depth.as_ref())
        && let Some(t) = target(Some(to)).and_then(|t| t.depth.as_ref())
    {
        // SAFETY: planes of the caller's tile.
        unsafe { depth(f, t, tile, mode) };
    }
    if let Some((to, mode)) = sub.stencil_resolve
        && let Some(f) = target(sub.stencil).and_then(|t| t.stencil.as_ref())
        && let Some(t) = target(Some(to)).and_then(|t| t.stencil.as_ref())
    {
        // SAFETY: planes of the caller's tile.
        unsafe { stencil(f, t, tile, mode) };
    }
}

/// The mean of the samples, or sample 0 of integers, of sixteen pixels.
///
/// # Safety
/// `from` points to sample 0's sixteen pixels, `step` bytes from one sample to the next; `to` to sixteen pixels.
unsafe fn colors(
    format: &'static FormatInfo,
    from: *const u8,
    step: usize,
    samples: u32,
    mean: bool,
    to: *mut u8,
) {
    let b = format.block_bytes as usize;
    if samples <= 1 || !mean || format.channel_class() != ChannelClass::Float {
        // SAFETY: sixteen pixels.
        return unsafe { to.copy_from(from, 16 * b) };
    }
    let offsets = std::array::from_fn(|i| i as u64 * b as u64);
    let gather = kernels::gather_fn(format);
    // Channels of 32 bits are added by pairs, and pairs by pairs: doubling is exact, so that samples of one colour have
    // that colour's mean (narrower channels have it in any order). Sum n is of 2^n samples then; there are 16 at most.
    let wide = format.components().iter().any(|c| c.bits == 32);
    let mut sums = [[[0f32; 16]; 4]; 5];
    for s in 0..samples as usize {
        let mut t: Colors = [[0; 16]; 4];
        // SAFETY: the sample's sixteen pixels.
        unsafe { gather(format, from.add(s * step), &offsets, &mut t) };
        let mut sum = t.map(|c| c.map(f32::from_bits));
        let (added, at) = if wide {
            (s.trailing_ones() as usize, s.trailing_ones() as usize)
        } else {
            ((s > 0) as usize, 0)
        };
        for low in &sums[..added] {
            for (a, b) in sum.iter_mut().flatten().zip(low.iter().flatten()) {
                *a += *b;
            }
        }
        sums[at] = sum;
    }
    let k = 1.0 / samples as f32;
    let out = sums[if wide { samples.ilog2() as usize } else { 0 }].map(|c| c.map(|v| (v * k).to_bits()));
    // SAFETY: sixteen pixels.
    unsafe { kernels::scatter_fn(format)(format, to, &offsets, 0xFFFF, &out) };
}

/// # Safety
/// Planes of depth of the tile, which nobody else uses; not the same.
unsafe fn depth(f: &Plane, t: &Plane, tile: *mut u8, mode: Mode) {
    // SAFETY: a plane's pixels, which are floats; the two lie apart.
    let plane = |s: u32| unsafe { std::slice::from_raw_parts(f.sample(tile, s).cast::<f32>(), PIXELS) };
    let out = unsafe { std::slice::from_raw_parts_mut(t.sample(tile, 0).cast::<f32>(), PIXELS) };
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

/// # Safety
/// Planes of stencil of the tile, which nobody else uses; not the same.
unsafe fn stencil(f: &Plane, t: &Plane, tile: *mut u8, mode: Mode) {
    // SAFETY: a plane's pixels, of a byte; the two lie apart.
    let plane = |s: u32| unsafe { std::slice::from_raw_parts(f.sample(tile, s), PIXELS) };
    let out = unsafe { std::slice::from_raw_parts_mut(t.sample(tile, 0), PIXELS) };
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

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk;

    /// Samples of one value have that mean to the bit; different ones the mean.
    #[test]
    fn means_of_samples() {
        let format = texel::format::info(vk::Format::R32_SFLOAT).unwrap();
        for samples in [1, 4, 8] {
            for value in [0.1f32, 1e-30, 3.0e38 / 8.0, -7.7] {
                let from = [value; 8 * 16];
                let mut to = [0f32; 16];
                // SAFETY: within what the test has made.
                unsafe { colors(format, from.as_ptr().cast(), 64, samples, true, to.as_mut_ptr().cast()) };
                assert_eq!(to, [value; 16], "{samples} samples");
            }
        }
        let bytes = texel::format::info(vk::Format::R8_UNORM).unwrap();
        let (from, mut to) = ([[10u8; 16], [20; 16], [30; 16], [40; 16]], [0u8; 16]);
        // SAFETY: within what the test has made.
        unsafe { colors(bytes, from.as_ptr().cast(), 16, 4, true, to.as_mut_ptr()) };
        assert_eq!(to, [25; 16]);
    }
}

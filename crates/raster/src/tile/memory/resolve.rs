//! Resolves at the end of a subpass (§ Render Pass Multisample Resolve Operations).

use super::plane::Plane;
use super::target::Targets;
use crate::layout::{BLOCKS, Blocks, PIXELS};
use crate::pass::Subpass;
use ash::vk::ResolveModeFlags as Mode;
use simd::{Level, Simd, ops};
use texel::format::wave::{self, Four, Plan, WARPS};
use texel::format::{ChannelClass, FormatInfo, NumClass};

/// Resolves all attachments of a subpass that are to be.
///
/// # Safety
/// As [`Targets::load`].
pub unsafe fn run(level: Level, targets: &Targets, sub: &Subpass, tile: *mut u8) {
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
        let mean = mode != Mode::SAMPLE_ZERO;
        // SAFETY: planes of the caller's tile, with pixels of one size.
        unsafe {
            let (from, to) = (f.sample(tile, 0), t.sample(tile, 0));
            let alike = f.alike(tile).map(|bits| &*bits);
            let all = Samples { format: f.format, from, step: PIXELS * f.bytes, count: f.samples, alike };
            colors(level, &all, mean, to, BLOCKS);
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

/// Samples of pixels that are resolved.
struct Samples<'a> {
    format: &'static FormatInfo,
    /// Sample 0's pixels, and how many bytes on the next sample's are.
    from: *const u8,
    step: usize,
    count: u32,
    /// Blocks of which sample 0 stands for all.
    alike: Option<&'a Blocks>,
}

simd::by_level! {
    /// The mean of the samples (or sample 0: of integers, and if no `mean` is asked for) of so many times sixteen pixels.
    ///
    /// # Safety
    /// The samples have these pixels, and `to` points to as many.
    unsafe fn colors = colors_body, (all: &Samples, mean: bool, to: *mut u8, blocks: usize)
}

#[inline(always)]
unsafe fn colors_body<S: Simd>(s: S, all: &Samples, mean: bool, to: *mut u8, blocks: usize) {
    let &Samples { format, from, step, count: samples, alike } = all;
    let bytes = 16 * format.block_bytes as usize;
    if samples <= 1 || !mean || format.channel_class() != ChannelClass::Float {
        // SAFETY: the caller's pixels.
        return unsafe { to.copy_from(from, blocks * bytes) };
    }
    let of_bytes = format.class == NumClass::Unorm
        && format.block_bytes == 4
        && format.components().iter().all(|c| c.bits == 8);
    let one = |b: usize| alike.is_some_and(|bits| bits[b / 64] >> (b % 64) & 1 != 0);
    // The mean of a code and itself is the code.
    let codes = matches!(format.class, NumClass::Unorm | NumClass::Srgb);
    if codes && (0..blocks).all(one) {
        // SAFETY: the caller's pixels.
        return unsafe { to.copy_from(from, blocks * bytes) };
    }
    if of_bytes {
        for b in 0..blocks {
            let (at, step) = (b * bytes, if one(b) { 0 } else { step });
            // SAFETY: sixteen of the caller's pixels.
            unsafe { mean_of_bytes(s, from.add(at), step, samples, to.add(at)) };
        }
        return;
    }
    let plan = Plan::new(format);
    for first in (0..blocks).step_by(WARPS) {
        let n = WARPS.min(blocks - first);
        let (mut at, mut to_at, mut steps) = ([from; WARPS], [to; WARPS], [step; WARPS]);
        for w in 0..n {
            steps[w] = if one(first + w) { 0 } else { step };
            at[w] = from.wrapping_add((first + w) * bytes);
            to_at[w] = to.wrapping_add((first + w) * bytes);
        }
        // SAFETY: blocks of the caller's pixels.
        unsafe { mean_of_floats(s, &plan, &mut at[..n], &steps, samples, &to_at[..n]) };
    }
}

/// Of sixteen pixels of four bytes: the nearest mean (a tie goes up).
///
/// # Safety
/// As [`colors`].
#[inline(always)]
unsafe fn mean_of_bytes<S: Simd>(s: S, from: *const u8, step: usize, samples: u32, to: *mut u8) {
    // Sixteen samples' sums fit sixteen bits.
    let low = s.isplat(0x00FF_00FF);
    let log = samples.ilog2();
    let half = s.isplat(((samples / 2) << 16) | (samples / 2));
    let mut sums = [half; 2];
    for k in 0..samples as usize {
        // SAFETY: the sample's sixteen pixels.
        let v = unsafe { s.iloadu(from.add(k * step)) };
        sums[0] = s.iadd(sums[0], s.iand(v, low));
        sums[1] = s.iadd(sums[1], s.iand(ops::shr(s, v, 8), low));
    }
    let [a, b] = sums.map(|sum| s.iand(ops::shr(s, sum, log), low));
    // SAFETY: sixteen pixels.
    unsafe { s.istoreu(to, s.ior(a, ops::shl(s, b, 8))) };
}

/// Of blocks, sample 0's at these places, which are changed.
///
/// # Safety
/// As [`colors`].
#[inline(always)]
unsafe fn mean_of_floats<S: Simd>(
    s: S,
    plan: &Plan,
    at: &mut [*const u8],
    steps: &[usize; WARPS],
    samples: u32,
    to: &[*mut u8],
) {
    let n = at.len().min(WARPS);
    // Channels of 32 bits are added by pairs, and pairs by pairs: doubling is exact, so that samples of one colour have
    // that colour's mean (narrower channels have it in any order). Sum n is of 2^n samples then; there are 16 at most.
    let wide = plan.wide();
    let (mut words, mut channels) = (Four::new(), Four::new());
    let mut sums = [const { Four::new() }; 5];
    let mask = plan.channels();
    // SAFETY: the caller's pixels; what is read has been written (all of it).
    unsafe {
        for k in 0..samples as usize {
            if k > 0 {
                for w in 0..n {
                    at[w] = at[w].wrapping_add(steps[w]);
                }
            }
            wave::load(s.level(), plan.bytes, at, &mut words);
            wave::decode(s.level(), plan, &words, n, &mut channels);
            let (added, last) = match wide {
                true => (k.trailing_ones() as usize, k.trailing_ones() as usize),
                false => ((k > 0) as usize, 0),
            };
            for c in 0..4 {
                if mask >> c & 1 == 0 {
                    continue;
                }
                for w in 0..n {
                    let mut sum = s.from_bits(channels.get(s, c, w));
                    for low in 0..added {
                        sum = s.fadd(sum, s.from_bits(sums[low].get(s, c, w)));
                    }
                    sums[last].put(s, c, w, s.bits(sum));
                }
            }
        }
        let share = s.fsplat(1.0 / samples as f32);
        let all = &mut sums[if wide { samples.ilog2() as usize } else { 0 }];
        for c in 0..4 {
            if mask >> c & 1 != 0 {
                for w in 0..n {
                    let mean = s.fmul(s.from_bits(all.get(s, c, w)), share);
                    all.put(s, c, w, s.bits(mean));
                }
            }
        }
        let rows = [all.row(0), all.row(1), all.row(2), all.row(3)];
        wave::encode(s.level(), plan, &rows, 0, n, &mut words);
        wave::store(s.level(), plan.bytes, &words, to);
    }
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
pub(crate) use tests::means;
#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk;

    pub(crate) fn means(level: Level) {
        means_of_samples(level);
        means_of_bytes(level);
    }

    /// Samples of one value have that mean to the bit; different ones the mean.
    fn means_of_samples(level: Level) {
        let format = |f| texel::format::info(f).unwrap();
        for samples in [1, 4, 8] {
            for value in [0.1f32, 1e-30, 3.0e38 / 8.0, -7.7] {
                let (from, mut to) = ([value; 8 * 16], [0f32; 16]);
                let (src, dst) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
                // SAFETY: within what the test has made.
                unsafe {
                    let format = format(vk::Format::R32_SFLOAT);
                    let all = Samples { format, from: src, step: 64, count: samples, alike: None };
                    colors(level, &all, true, dst, 1)
                };
                assert_eq!(to, [value; 16], "{samples} samples");
            }
        }
        let (from, mut to) = ([[10u8; 16], [20; 16], [30; 16], [40; 16]], [0u8; 16]);
        // SAFETY: within what the test has made.
        unsafe {
            let (src, dst) = (from.as_ptr().cast(), to.as_mut_ptr());
            let format = format(vk::Format::R8_UNORM);
            let all = Samples { format, from: src, step: 16, count: 4, alike: None };
            colors(level, &all, true, dst, 1);
        }
        assert_eq!(to, [25; 16]);
    }

    /// Bytes of every kind: no sum reaches its neighbour, and each mean is the nearest.
    fn means_of_bytes(level: Level) {
        const PIXELS: usize = 32;
        for samples in [2usize, 4, 8, 16] {
            let byte = |i: usize| if i.is_multiple_of(5) { 255 } else { (i * i * 31 + i * 7) as u8 };
            let from: Vec<u8> = (0..samples * PIXELS * 4).map(byte).collect();
            let mut to = [0u8; PIXELS * 4];
            let format = texel::format::info(vk::Format::B8G8R8A8_UNORM).unwrap();
            // SAFETY: within what the test has made.
            unsafe {
                let (src, dst) = (from.as_ptr(), to.as_mut_ptr());
                let count = samples as u32;
                let all = Samples { format, from: src, step: PIXELS * 4, count, alike: None };
                colors(level, &all, true, dst, 2);
            }
            for (i, got) in to.iter().enumerate() {
                let sum: u32 = (0..samples).map(|s| from[s * PIXELS * 4 + i] as u32).sum();
                let mean = sum as f64 / samples as f64;
                assert!((*got as f64 - mean).abs() <= 0.5, "{got} for {mean}, {samples} samples, {level:?}");
            }
        }
    }
}

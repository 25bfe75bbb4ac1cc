//! Scaled copies with format conversion.

use super::rows::{RowReader, copy_rows, write_row};
use super::slices::{Slices, aspects};
use super::{nearest, scaled};
use crate::format::{ChannelClass, codec};
use crate::image::{Image, Surface};
use ash::vk;

/// Two source texels and the weight of the second (0 for nearest).
pub(super) type Tap = (u32, u32, f32);

/// One axis of a blit: which destination texels, and where each reads the source.
pub(super) struct Axis {
    pub first: u32,
    /// By destination texel.
    pub taps: Vec<Tap>,
}

impl Axis {
    /// Vulkan specification, "Image Copies With Scaling": u = (i + ½ - dst0) · (src1 - src0) / (dst1 - dst0) + src0,
    /// clamped to the edge of the source image.
    fn new(src: [i32; 2], dst: [i32; 2], src_size: u32, dst_size: u32, linear: bool) -> Axis {
        let lo = dst[0].min(dst[1]).max(0);
        let hi = dst[0].max(dst[1]).min(dst_size as i32);
        if hi <= lo || src_size == 0 {
            return Axis { first: 0, taps: Vec::new() };
        }
        let scale = (src[1] as f64 - src[0] as f64) / (dst[1] as f64 - dst[0] as f64);
        let clamp = |v: f64| v.clamp(0.0, (src_size - 1) as f64) as u32;
        let tap = |i: i32| {
            let u = (i as f64 + 0.5 - dst[0] as f64) * scale + src[0] as f64;
            if linear {
                let base = (u - 0.5).floor();
                match ((u - 0.5) - base) as f32 {
                    // Rounded up: the texel before has no weight, and adds nothing.
                    1.0 => (clamp(base + 1.0), clamp(base + 2.0), 0.0),
                    w => (clamp(base), clamp(base + 1.0), w),
                }
            } else {
                let i = clamp(u.floor());
                (i, i, 0.0)
            }
        };
        Axis { first: lo as u32, taps: (lo..hi).map(tap).collect() }
    }

    /// True when every texel is read from its neighbour's neighbour: a plain copy.
    pub(super) fn is_copy(&self) -> bool {
        self.taps.iter().all(|t| t.2 == 0.0) && self.taps.windows(2).all(|w| w[1].0 == w[0].0 + 1)
    }
}

/// Decoded source rows, the last few of them.
struct Rows {
    reader: RowReader,
    layer: u32,
    x: u32,
    /// (y, z) and the row's texels; `None` before the first use.
    cache: [(Option<(u32, u32)>, Vec<[u32; 4]>); 4],
    /// When each was last asked for.
    used: [u64; 4],
    now: u64,
}

impl Rows {
    fn new(s: Surface, x: u32, width: usize) -> Rows {
        let cache = std::array::from_fn(|_| (None, vec![[0; 4]; width]));
        Rows { reader: RowReader::new(s), layer: 0, x, cache, used: [0; 4], now: 0 }
    }

    /// Index in the cache of a row, read if need be. The four rows asked for last all stay.
    fn row(&mut self, y: u32, z: u32) -> usize {
        self.now += 1;
        if let Some(i) = self.cache.iter().position(|c| c.0 == Some((y, z))) {
            self.used[i] = self.now;
            return i;
        }
        let i = (0..4).min_by_key(|&i| self.used[i]).unwrap_or(0);
        self.used[i] = self.now;
        self.cache[i].0 = Some((y, z));
        self.reader.read(self.x, y, z, 0, self.layer, &mut self.cache[i].1);
        i
    }

    fn start_layer(&mut self, layer: u32) {
        self.layer = layer;
        self.cache.iter_mut().for_each(|c| c.0 = None);
    }
}

/// `vkCmdBlitImage2`, one region. Depth and stencil are read nearest; integers too, whatever `filter` says.
pub fn blit_image(src: &Image, dst: &Image, r: &vk::ImageBlit2, filter: vk::Filter) {
    dst.written();
    for aspect in aspects(r.src_subresource.aspect_mask & r.dst_subresource.aspect_mask) {
        blit_aspect(src, dst, r, filter, aspect);
    }
}

fn blit_aspect(
    src: &Image,
    dst: &Image,
    r: &vk::ImageBlit2,
    filter: vk::Filter,
    aspect: vk::ImageAspectFlags,
) {
    // Depth slices are addressed through the z axis, so the slices of a 3D image are not used as such.
    let (Some(s), Some(d)) =
        (src.surface(aspect, r.src_subresource.mip_level), dst.surface(aspect, r.dst_subresource.mip_level))
    else {
        return;
    };
    let paired = s.format.paired() || d.format.paired();
    if paired || d.format.compressed() || s.format.is_64bit() || d.format.is_64bit() {
        return;
    }
    let flat = |image: &Image, sub: &vk::ImageSubresourceLayers, s: &Surface| {
        if image.image_type == vk::ImageType::TYPE_3D {
            Some((0, 1))
        } else {
            Slices::new(image, aspect, sub, 0, 1).map(|l| (l.at(0).1, l.count().min(s.layers)))
        }
    };
    let (Some((src_layer, sn)), Some((dst_layer, dn))) =
        (flat(src, &r.src_subresource, &s), flat(dst, &r.dst_subresource, &d))
    else {
        return;
    };
    let linear =
        filter == vk::Filter::LINEAR && s.format.filterable() && aspect == vk::ImageAspectFlags::COLOR;
    let [s0, s1] = r.src_offsets;
    let [d0, d1] = r.dst_offsets;
    let ax = Axis::new([s0.x, s1.x], [d0.x, d1.x], s.extent[0], d.extent[0], linear);
    let ay = Axis::new([s0.y, s1.y], [d0.y, d1.y], s.extent[1], d.extent[1], linear);
    let az = Axis::new([s0.z, s1.z], [d0.z, d1.z], s.extent[2], d.extent[2], linear);
    if ax.taps.is_empty() || ay.taps.is_empty() || az.taps.is_empty() {
        return;
    }
    let axes = [&ax, &ay, &az];
    let layers = (src_layer, dst_layer, sn.min(dn));
    if s.format.format == d.format.format
        && ax.is_copy()
        && ay.taps.iter().chain(&az.taps).all(|t| t.2 == 0.0)
    {
        return copied(&s, &d, axes, layers);
    }
    if !linear && nearest::has(&s, &d) {
        return nearest::blit(&s, &d, axes, layers);
    }
    let linear = linear && s.format.channel_class() == ChannelClass::Float;
    let level = settings::level();
    if scaled::has(level, &s, &d) {
        return scaled::blit(level, &s, &d, axes, layers, linear);
    }
    by_texels(&s, &d, axes, layers, linear);
}

/// What [`scaled`] does not have, texel by texel.
fn by_texels(s: &Surface, d: &Surface, axes: [&Axis; 3], (sl, dl, layers): (u32, u32, u32), linear: bool) {
    let [ax, ay, az] = axes;
    let lo = ax.taps.iter().map(|t| t.0).min().unwrap_or(0);
    let hi = ax.taps.iter().map(|t| t.1).max().unwrap_or(0);
    let taps: Vec<(usize, usize, f32)> =
        ax.taps.iter().map(|t| ((t.0 - lo) as usize, (t.1 - lo) as usize, t.2)).collect();
    let mut rows = Rows::new(*s, lo, (hi - lo + 1) as usize);
    let mut out = vec![[0u32; 4]; taps.len()];
    let (from, to) = (s.format.channel_class(), d.format.channel_class());
    for layer in 0..layers {
        rows.start_layer(sl + layer);
        for (z, tz) in az.taps.iter().enumerate() {
            for (y, ty) in ay.taps.iter().enumerate() {
                let a = rows.row(ty.0, tz.0);
                if linear {
                    let ids = [a, rows.row(ty.1, tz.0), rows.row(ty.0, tz.1), rows.row(ty.1, tz.1)];
                    let weights =
                        [(1.0 - ty.2) * (1.0 - tz.2), ty.2 * (1.0 - tz.2), (1.0 - ty.2) * tz.2, ty.2 * tz.2];
                    for (o, t) in out.iter_mut().zip(&taps) {
                        let mut acc = [0f32; 4];
                        for (&id, &w) in ids.iter().zip(&weights).filter(|(_, w)| **w != 0.0) {
                            let (p, q) = (&rows.cache[id].1[t.0], &rows.cache[id].1[t.1]);
                            for k in 0..4 {
                                let v = f32::from_bits(p[k]) * (1.0 - t.2) + f32::from_bits(q[k]) * t.2;
                                acc[k] += if t.2 == 0.0 { f32::from_bits(p[k]) * w } else { v * w };
                            }
                        }
                        *o = acc.map(f32::to_bits);
                    }
                } else {
                    let row = &rows.cache[a].1;
                    out.iter_mut().zip(&taps).for_each(|(o, t)| *o = row[t.0]);
                }
                if from != to {
                    out.iter_mut().for_each(|o| *o = codec::convert_class(*o, from, to));
                }
                write_row(d, ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer, &out);
            }
        }
    }
}

/// Same format, rows copied whole.
fn copied(s: &Surface, d: &Surface, [ax, ay, az]: [&Axis; 3], (sl, dl, layers): (u32, u32, u32)) {
    let n = ax.taps.len() as u32;
    for layer in 0..layers {
        for (z, tz) in az.taps.iter().enumerate() {
            let row = |first: usize, rows: usize| {
                let from = [ax.taps[0].0, ay.taps[first].0, tz.0];
                let to = [ax.first, ay.first + first as u32, az.first + z as u32];
                // SAFETY: the axes were cut to both surfaces.
                unsafe { copy_rows((s, from, 0, sl + layer), (d, to, 0, dl + layer), [n, rows as u32]) }
            };
            match ay.is_copy() {
                true => row(0, ay.taps.len()),
                false => (0..ay.taps.len()).for_each(|y| row(y, 1)),
            }
        }
    }
}

#[cfg(test)]
pub(crate) use tests::rows_are_their_texels;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::image_2d;

    const SUB: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    };

    fn fill(image: &Image, data: &[u8]) {
        let s = image.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
        let row = (s.blocks[0] * s.format.block_bytes) as usize;
        for (y, r) in data.chunks(row).enumerate() {
            // SAFETY: within what the test has made.
            unsafe { std::ptr::copy_nonoverlapping(r.as_ptr(), s.block(0, y as u32, 0, 0, 0), row) };
        }
    }

    fn read(image: &Image) -> Vec<u8> {
        let s = image.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
        let row = (s.blocks[0] * s.format.block_bytes) as usize;
        // SAFETY: within what the test has made.
        (0..s.blocks[1])
            .flat_map(|y| unsafe { std::slice::from_raw_parts(s.block(0, y, 0, 0, 0), row) }.to_vec())
            .collect()
    }

    fn blit(src: &Image, dst: &Image, s: [i32; 4], d: [i32; 4], filter: vk::Filter) {
        let corners =
            |c: [i32; 4]| [vk::Offset3D { x: c[0], y: c[1], z: 0 }, vk::Offset3D { x: c[2], y: c[3], z: 1 }];
        let r = vk::ImageBlit2::default()
            .src_subresource(SUB)
            .dst_subresource(SUB)
            .src_offsets(corners(s))
            .dst_offsets(corners(d));
        blit_image(src, dst, &r, filter);
    }

    #[test]
    fn nearest_scales_and_mirrors() {
        let src = image_2d(vk::Format::R8_UNORM, 2, 2);
        fill(&src, &[1, 2, 3, 4]);
        let dst = image_2d(vk::Format::R8_UNORM, 4, 2);
        blit(&src, &dst, [0, 0, 2, 2], [4, 0, 0, 2], vk::Filter::NEAREST);
        assert_eq!(read(&dst), [2, 2, 1, 1, 4, 4, 3, 3]);
        let dst = image_2d(vk::Format::R8_UNORM, 3, 2);
        blit(&src, &dst, [0, 2, 2, 0], [1, 0, 3, 2], vk::Filter::NEAREST);
        assert_eq!(read(&dst), [0, 3, 4, 0, 1, 2]);
    }

    /// Every format's bytes stay what they are, halved, doubled, mirrored and otherwise.
    #[test]
    fn nearest_keeps_bytes() {
        for format in [vk::Format::R8_SNORM, vk::Format::R5G6B5_UNORM_PACK16, vk::Format::R32_SFLOAT]
            .into_iter()
            .chain([vk::Format::R16G16B16A16_SFLOAT, vk::Format::R32G32B32_SFLOAT])
            .chain([
                vk::Format::R32G32B32A32_SINT,
                vk::Format::D32_SFLOAT,
                vk::Format::E5B9G9R9_UFLOAT_PACK32,
            ])
        {
            let bytes = crate::format::info(format).unwrap().block_bytes as usize;
            let aspect = match format {
                vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
                _ => vk::ImageAspectFlags::COLOR,
            };
            let data: Vec<u8> = (0..15 * 9 * bytes).map(|i| (i * 7 + i / 5) as u8).collect();
            let src = image_2d(format, 15, 9);
            let sub = vk::ImageSubresourceLayers { aspect_mask: aspect, ..SUB };
            // SAFETY: rows that images have.
            let row = |i: &Image, y| unsafe { i.surface(aspect, 0).unwrap().block(0, y, 0, 0, 0) };
            let base = |i: &Image| row(i, 0);
            let pitch = |i: &Image| row(i, 1) as usize - row(i, 0) as usize;
            for (y, row) in data.chunks(15 * bytes).enumerate() {
                // SAFETY: a row of the image.
                unsafe { base(&src).add(y * pitch(&src)).copy_from_nonoverlapping(row.as_ptr(), row.len()) }
            }
            for (w, h, mirrored) in [(7, 4, false), (30, 18, false), (31, 9, true), (5, 27, false)] {
                let dst = image_2d(format, w, h);
                let corner = |x: i32, y: i32, z: i32| vk::Offset3D { x, y, z };
                let (a, b) = if mirrored { (w as i32, 0) } else { (0, w as i32) };
                let r = vk::ImageBlit2::default()
                    .src_subresource(sub)
                    .dst_subresource(sub)
                    .src_offsets([corner(0, 0, 0), corner(15, 9, 1)])
                    .dst_offsets([corner(a, 0, 0), corner(b, h as i32, 1)]);
                blit_image(&src, &dst, &r, vk::Filter::NEAREST);
                for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
                    let u = (2 * if mirrored { w - 1 - x } else { x } + 1) * 15 / (2 * w);
                    let v = (2 * y + 1) * 9 / (2 * h);
                    let want = &data[(v * 15 + u) as usize * bytes..][..bytes];
                    // SAFETY: a texel of the image.
                    let got = unsafe {
                        let at = base(&dst).add(y as usize * pitch(&dst) + x as usize * bytes);
                        std::slice::from_raw_parts(at, bytes)
                    };
                    assert_eq!(got, want, "{format:?} {w} {h} {x} {y}");
                }
            }
        }
    }

    #[test]
    fn linear_by_hand() {
        let src = image_2d(vk::Format::R32_SFLOAT, 2, 1);
        fill(&src, &[0f32.to_le_bytes(), 8f32.to_le_bytes()].concat());
        let dst = image_2d(vk::Format::R32_SFLOAT, 4, 1);
        // u = 0.25, 0.75, 1.25, 1.75: weights of the second texel 0 (clamped), 1/4, 3/4, 1 (clamped).
        blit(&src, &dst, [0, 0, 2, 1], [0, 0, 4, 1], vk::Filter::LINEAR);
        let got: Vec<f32> = read(&dst).chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(got, [0.0, 2.0, 6.0, 8.0]);
    }

    /// Rows of sixteen texels at a time are those of single ones, bit by bit.
    pub(crate) fn rows_are_their_texels(level: simd::Level) {
        use vk::Format as F;
        let pairs = [
            (F::R8G8B8A8_UNORM, F::R8G8B8A8_UNORM),
            (F::B8G8R8A8_SRGB, F::R16G16B16A16_SFLOAT),
            (F::R16G16_SFLOAT, F::R8G8B8A8_SNORM),
            (F::R32_SFLOAT, F::R8_UNORM),
            (F::A2B10G10R10_UNORM_PACK32, F::R5G6B5_UNORM_PACK16),
            (F::R16G16_SINT, F::R8G8_SINT),
        ];
        // Of each kind, and of such as lack channels that the destination has.
        let others = [
            (F::R8_UNORM, F::R8_UNORM),
            (F::R8G8B8A8_SRGB, F::R8G8B8A8_SRGB),
            (F::R16G16_SFLOAT, F::R32G32B32A32_SFLOAT),
            (F::R16G16B16A16_SFLOAT, F::R16G16B16A16_SFLOAT),
            (F::B10G11R11_UFLOAT_PACK32, F::R32G32B32_SFLOAT),
            (F::E5B9G9R9_UFLOAT_PACK32, F::R16G16B16A16_SFLOAT),
            (F::R32G32B32_SFLOAT, F::R8G8_SNORM),
            (F::R8G8B8A8_UNORM, F::R8G8B8A8_UNORM),
            (F::B8G8R8A8_UNORM, F::B8G8R8A8_UNORM),
        ];
        let scales = [[18, 4], [37, 9], [50, 13], [1, 1], [16, 9]];
        let of = |pairs: &[(F, F)], size: [u32; 2], scales: &[[u32; 2]]| -> Vec<_> {
            pairs.iter().map(|p| (*p, size, scales.to_vec())).collect()
        };
        let mut cases = of(&pairs, [37, 9], &scales);
        cases.extend(of(&others, [128, 8], &[[64, 4], [128, 8], [128, 16], [256, 16], [3, 3]]));
        cases.extend(of(&others, [70, 10], &[[35, 5], [35, 10], [34, 5]]));
        let mut r = random::Random::new(1);
        for ((from, to), size, scales) in cases {
            let [width, height] = size;
            let src = image_2d(from, width, height);
            let s = src.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
            // No infinities in small floats.
            let kept = 0x7b;
            let data: Vec<u8> =
                (0..width * height * s.format.block_bytes).map(|_| r.u32() as u8 & kept).collect();
            fill(&src, &data);
            for [w, h] in scales {
                // The last: of a part of the source, at its own size.
                for n in 0..4 {
                    let (linear, mirrored, part) = (n > 0, n == 2, n == 3);
                    let [one, other] = [image_2d(to, w, h), image_2d(to, w, h)];
                    let side = |size: u32| if mirrored { [size as i32, 0] } else { [0, size as i32] };
                    let span = |all: u32, size: u32| [0, (if part { all.min(size) } else { all }) as i32];
                    let ax = Axis::new(span(width, w), side(w), width, w, linear);
                    let ay = Axis::new(span(height, h), side(h), height, h, linear);
                    let az = Axis::new([0, 1], [0, 1], 1, 1, linear);
                    let linear = linear && s.format.channel_class() == ChannelClass::Float;
                    let axes = [&ax, &ay, &az];
                    let to = |i: &Image| i.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
                    if !scaled::has(level, &s, &to(&one)) {
                        assert!(level == simd::Level::PORTABLE);
                        return;
                    }
                    scaled::blit(level, &s, &to(&one), axes, (0, 0, 1), linear);
                    by_texels(&s, &to(&other), axes, (0, 0, 1), linear);
                    assert!(read(&one) == read(&other), "{from:?}, {w} × {h}, linear: {linear}, {level:?}");
                }
            }
        }
    }

    #[test]
    fn conversions() {
        let src = image_2d(vk::Format::R8G8B8A8_UNORM, 1, 1);
        fill(&src, &[255, 128, 0, 64]);
        let dst = image_2d(vk::Format::B8G8R8A8_SRGB, 1, 1);
        blit(&src, &dst, [0, 0, 1, 1], [0, 0, 1, 1], vk::Filter::NEAREST);
        assert_eq!(read(&dst), [0, 188, 255, 64]);
        let src = image_2d(vk::Format::R32_SINT, 1, 1);
        fill(&src, &(-1000i32).to_le_bytes());
        let dst = image_2d(vk::Format::R8_SINT, 1, 1);
        blit(&src, &dst, [0, 0, 1, 1], [0, 0, 1, 1], vk::Filter::NEAREST);
        assert_eq!(read(&dst), [0x80]);
    }
}

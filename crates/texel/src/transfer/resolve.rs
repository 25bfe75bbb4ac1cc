//! Multisample resolve.

use super::means;
use super::rows::{RowReader, copy_row, write_row};
use super::slices::{Slices, aspects};
use crate::format::ChannelClass;
use crate::image::Image;
use ash::vk;
use ash::vk::ResolveModeFlags as Mode;

/// How each aspect is resolved: colour or depth, and stencil (VkResolveImageModeInfoKHR).
pub type Modes = [Mode; 2];

/// Adds a sample's row to those before it; depth and stencil lie in the first component.
fn accumulate(mode: Mode, stencil: bool, row: &mut [[u32; 4]], sum: &mut [[f64; 4]], next: &[[u32; 4]]) {
    let number = f32::from_bits;
    for ((t, a), n) in row.iter_mut().zip(sum).zip(next) {
        match mode {
            Mode::MIN | Mode::MAX => {
                let less = if stencil { n[0] < t[0] } else { number(n[0]) < number(t[0]) };
                if n[0] != t[0] && less == (mode == Mode::MIN) {
                    *t = *n;
                }
            }
            _ => a.iter_mut().zip(n).for_each(|(a, n)| *a += number(*n) as f64),
        }
    }
}

/// `vkCmdResolveImage2`, one region. Without `modes`: the mean of the samples for floating and normalised formats (in
/// linear space for sRGB), sample 0 for integers, depth and stencil.
pub fn resolve_image(src: &Image, dst: &Image, r: &vk::ImageResolve2, modes: Option<Modes>) {
    dst.written();
    for aspect in aspects(r.src_subresource.aspect_mask) {
        let stencil = aspect == vk::ImageAspectFlags::STENCIL;
        let asked = modes.map(|m| m[stencil as usize]);
        if asked == Some(Mode::NONE) {
            continue;
        }
        let (Some(s), Some(d)) = (
            Slices::new(src, aspect, &r.src_subresource, r.src_offset.z, r.extent.depth),
            Slices::new(dst, aspect, &r.dst_subresource, r.dst_offset.z, r.extent.depth),
        ) else {
            continue;
        };
        let at = |o: vk::Offset3D| Some((u32::try_from(o.x).ok()?, u32::try_from(o.y).ok()?));
        let (Some((sx, sy)), Some((dx, dy))) = (at(r.src_offset), at(r.dst_offset)) else { continue };
        let room = |a: u32, b: u32| a.saturating_sub(b);
        let w = r.extent.width.min(room(s.surface.extent[0], sx)).min(room(d.surface.extent[0], dx));
        let h = r.extent.height.min(room(s.surface.extent[1], sy)).min(room(d.surface.extent[1], dy));
        let color = aspect == vk::ImageAspectFlags::COLOR;
        let mean = s.surface.format.channel_class() == ChannelClass::Float && color;
        let mode = asked.unwrap_or(if mean { Mode::AVERAGE } else { Mode::SAMPLE_ZERO });
        let good = match mode {
            Mode::AVERAGE => mean || aspect == vk::ImageAspectFlags::DEPTH,
            Mode::MIN | Mode::MAX => !color,
            _ => false,
        };
        let samples = if good { s.surface.samples } else { 1 };
        if mode == Mode::AVERAGE
            && color
            && samples > 1
            && means::has(settings::level(), &s.surface, &d.surface)
        {
            for i in 0..s.count().min(d.count()) {
                means::slice(
                    settings::level(),
                    (&s.surface, [sx, sy], s.at(i)),
                    (&d.surface, [dx, dy], d.at(i)),
                    [w, h],
                );
            }
            continue;
        }
        let alike = s.surface.format.format == d.surface.format.format;
        if samples == 1 && color && alike && s.surface.format.is_integer() {
            for i in 0..s.count().min(d.count()) {
                let ((sz, sl), (dz, dl)) = (s.at(i), d.at(i));
                for y in 0..h {
                    let (from, to) = ([sx, sy + y, sz], [dx, dy + y, dz]);
                    // SAFETY: the rectangle was cut to both surfaces.
                    unsafe { copy_row((&s.surface, from, 0, sl), (&d.surface, to, 0, dl), w) };
                }
            }
            continue;
        }
        let mut reader = RowReader::new(s.surface);
        let mut row = vec![[0u32; 4]; w as usize];
        let mut next = row.clone();
        let mut sum = vec![[0f64; 4]; w as usize];
        for i in 0..s.count().min(d.count()) {
            let ((sz, sl), (dz, dl)) = (s.at(i), d.at(i));
            for y in 0..h {
                reader.read(sx, sy + y, sz, 0, sl, &mut row);
                sum.iter_mut().zip(&row).for_each(|(a, t)| *a = t.map(|v| f32::from_bits(v) as f64));
                for sample in 1..samples {
                    reader.read(sx, sy + y, sz, sample, sl, &mut next);
                    accumulate(mode, stencil, &mut row, &mut sum, &next);
                }
                if samples > 1 && mode == Mode::AVERAGE {
                    let scale = 1.0 / samples as f64;
                    row.iter_mut()
                        .zip(&sum)
                        .for_each(|(t, a)| *t = a.map(|v| ((v * scale) as f32).to_bits()));
                }
                write_row(&d.surface, dx, dy + y, dz, 0, dl, &row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{bound_image, image_2d, info_2d};

    /// Depth and stencil by the modes of VkResolveImageModeInfoKHR (maintenance10).
    #[test]
    fn depth_and_stencil_by_their_modes() {
        let format = vk::Format::D32_SFLOAT_S8_UINT;
        let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
        let mut info = info_2d(format, 1, 1);
        info.samples = vk::SampleCountFlags::TYPE_4;
        let (src, dst) = (bound_image(&info), image_2d(format, 1, 1));
        for (i, (z, s)) in [(0.5f32, 9u8), (0.125, 3), (0.75, 200), (0.25, 7)].into_iter().enumerate() {
            // SAFETY (both): samples of the image.
            let of = |aspect| unsafe { src.surface(aspect, 0).unwrap().block(0, 0, 0, i as u32, 0) };
            unsafe {
                of(depth).cast::<f32>().write_unaligned(z);
                *of(stencil) = s;
            }
        }
        let sub =
            vk::ImageSubresourceLayers { aspect_mask: depth | stencil, layer_count: 1, ..Default::default() };
        let r = vk::ImageResolve2::default().src_subresource(sub).dst_subresource(sub).extent(vk::Extent3D {
            width: 1,
            height: 1,
            depth: 1,
        });
        let resolved = |modes| {
            resolve_image(&src, &dst, &r, modes);
            // SAFETY (both): the image's texel.
            let of = |aspect| unsafe { dst.surface(aspect, 0).unwrap().block(0, 0, 0, 0, 0) };
            unsafe { (of(depth).cast::<f32>().read_unaligned(), *of(stencil)) }
        };
        assert_eq!(resolved(Some([Mode::AVERAGE, Mode::MAX])), (0.40625, 200));
        assert_eq!(resolved(Some([Mode::MIN, Mode::NONE])), (0.125, 200));
        assert_eq!(resolved(Some([Mode::MAX, Mode::MIN])), (0.75, 3));
        assert_eq!(resolved(Some([Mode::SAMPLE_ZERO; 2])), (0.5, 9));
        assert_eq!(resolved(None), (0.5, 9));
    }

    #[test]
    fn mean_of_four() {
        for (format, want) in [(vk::Format::R8_UNORM, 25), (vk::Format::R8_UINT, 10)] {
            let src = bound_image(&info_2d(format, 1, 1).samples(vk::SampleCountFlags::TYPE_4));
            let dst = image_2d(format, 1, 1);
            let s = src.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
            for (i, v) in [10u8, 20, 30, 40].into_iter().enumerate() {
                // SAFETY: within what the test has made.
                unsafe { *s.block(0, 0, 0, i as u32, 0) = v };
            }
            let sub = vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            };
            let r = vk::ImageResolve2::default()
                .src_subresource(sub)
                .dst_subresource(sub)
                .extent(vk::Extent3D { width: 1, height: 1, depth: 1 });
            resolve_image(&src, &dst, &r, None);
            // SAFETY: within what the test has made.
            assert_eq!(unsafe { *dst.surface(vk::ImageAspectFlags::COLOR, 0).unwrap().base }, want);
        }
    }
}

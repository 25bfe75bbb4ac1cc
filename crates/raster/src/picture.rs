//! What a render pass has left in its attachments, small, for people who look at a capture (docs/capture.md).

use super::pass::Rendering;
use ash::vk;
use texel::format::{ChannelClass, NumClass};
use texel::sample::ImageView;
use texel::transfer::RowReader;

/// No picture is larger: of larger attachments so many pixels as it takes become one.
const MOST: [u32; 2] = [1024, 1024];

/// Rows from the top, three bytes a pixel (sRGB).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
    /// Pixels of the attachment.
    pub of: [u32; 2],
}

/// The attachment that shows a pass: the last subpass's first colour or what it resolves to, else its depth.
fn shown(r: &Rendering) -> Option<&ImageView> {
    let view = |a: u32| r.attachments.get(a as usize)?.view.as_deref();
    let color = |s: &super::pass::Subpass| {
        let first = s.colors.iter().position(|c| c.is_some())?;
        let resolved = s.resolves.get(first).copied().flatten().map(|to| to.0);
        view(resolved.or(s.colors[first])?)
    };
    let subpasses = || r.subpasses.iter().rev();
    subpasses().find_map(color).or_else(|| subpasses().find_map(|s| view(s.depth?)))
}

/// As memory has it now; `None` for a pass without pictures, and formats that are none for eyes.
pub fn of(r: &Rendering) -> Option<Picture> {
    let view = shown(r)?;
    let aspects = view.range.aspect_mask;
    let depth = aspects.contains(vk::ImageAspectFlags::DEPTH);
    let aspect = if depth { vk::ImageAspectFlags::DEPTH } else { aspects };
    let surface = view.image.surface(aspect, view.range.base_mip_level)?;
    let surface = if depth { surface } else { surface.with_format(view.format)? };
    let format = surface.format;
    if format.compressed() || format.paired() || format.is_64bit() {
        return None;
    }
    let [w, h, _] = surface.extent;
    let by = w.div_ceil(MOST[0]).max(h.div_ceil(MOST[1])).max(1);
    let (width, height) = (w.div_ceil(by), h.div_ceil(by));
    let flat = view.image.extent[2] == 1;
    let (layer, z) = if flat { (view.range.base_array_layer, 0) } else { (0, view.range.base_array_layer) };
    let has = [b'r', b'g', b'b'].map(|c| format.has_component(c));
    let scale = if format.channel_class() == ChannelClass::Float { None } else { Some(255.0) };
    let mut reader = RowReader::new(surface);
    let mut row = vec![[0u32; 4]; w as usize];
    let mut sums = vec![[0f32; 3]; (width * height) as usize];
    for y in 0..h {
        reader.read(0, y, z, 0, layer, &mut row);
        for (x, texel) in row.iter().enumerate() {
            let sum = &mut sums[((y / by) * width) as usize + x / by as usize];
            for c in 0..3 {
                let at = if depth || (!has[c] && has[0] && !has[1]) { 0 } else { c };
                let v = scale.map_or(f32::from_bits(texel[at]), |s| (texel[at] & 255) as f32 / s);
                sum[c] += if v.is_finite() { v.clamp(0.0, 1.0) } else { 0.0 };
            }
        }
    }
    // Edges of the attachment have fewer pixels.
    let side = |n: u32, i: u32| (n - i * by).min(by);
    for (i, sum) in sums.iter_mut().enumerate() {
        let n = (side(w, i as u32 % width) * side(h, i as u32 / width)) as f32;
        sum.iter_mut().for_each(|v| *v /= n);
    }
    if depth {
        stretch(&mut sums);
    }
    // What lies in memory by sRGB, and numbers without bounds, is linear here.
    let linear = matches!(format.class, NumClass::Srgb | NumClass::Sfloat | NumClass::Ufloat) && !depth;
    let byte = |v: f32| ((if linear { encoded(v) } else { v }) * 255.0 + 0.5) as u8;
    Some(Picture { width, height, rgb: sums.iter().flat_map(|s| s.map(byte)).collect(), of: [w, h] })
}

/// Depth lies close to 1: from the least to the greatest.
fn stretch(sums: &mut [[f32; 3]]) {
    let (least, most) = sums.iter().fold((1f32, 0f32), |(a, b), s| (a.min(s[0]), b.max(s[0])));
    if most > least {
        sums.iter_mut().for_each(|s| s.iter_mut().for_each(|v| *v = (*v - least) / (most - least)));
    }
}

/// The transfer function of sRGB (IEC 61966-2-1).
fn encoded(v: f32) -> f32 {
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_goes_from_black_to_white() {
        let mut all = [[0.9; 3], [0.95; 3], [1.0; 3]];
        stretch(&mut all);
        assert_eq!([all[0][0], all[2][0]], [0.0, 1.0]);
        assert!((all[1][2] - 0.5).abs() < 1e-5);
        let mut flat = [[0.5; 3]; 2];
        stretch(&mut flat);
        assert_eq!(flat, [[0.5; 3]; 2]);
    }

    #[test]
    fn linear_is_encoded() {
        assert_eq!([0.0, 1.0].map(|v| (encoded(v) * 255.0 + 0.5) as u8), [0, 255]);
        // Middle grey: 0.2140 is 0.5 of sRGB.
        assert!((encoded(0.21404) - 0.5).abs() < 1e-4);
    }
}

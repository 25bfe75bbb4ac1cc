//! Levels of an image as small pictures, for people.

use super::{Blob, Record};
use ash::vk;
use serde::Serialize;
use texel::format::{ChannelClass, NumClass};
use texel::image::Surface;
use texel::sample::ImageView;
use texel::transfer::RowReader;

/// Pixels of a picture's longer side, at most; and of all of a level that is looked at.
const MOST: u32 = 512;
const MOST_TEXELS: u64 = 1 << 26;
/// Layers of a view that are shown: a cube's.
const MOST_LAYERS: u32 = 6;

/// A level of a layer: four bytes a pixel (sRGB and alpha), rows from the top.
#[derive(Clone, Serialize)]
pub struct Picture {
    pub level: u32,
    pub layer: u32,
    pub size: [u32; 2],
    /// Texels.
    pub of: [u32; 2],
    /// Depth and numbers outside 0 … 1 are stretched: the least and the greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f32; 2]>,
    /// `None`: there was no room.
    pub data: Option<Blob>,
}

/// What a view shows now.
pub fn of_view(record: &Record, view: &ImageView) -> Vec<Picture> {
    let (range, image) = (&view.range, &view.image);
    let aspects = range.aspect_mask;
    let depth = aspects.contains(vk::ImageAspectFlags::DEPTH);
    let aspect = if depth { vk::ImageAspectFlags::DEPTH } else { aspects };
    let mut all = vec![];
    let levels = (image.mips.saturating_sub(range.base_mip_level)).min(view.levels.len() as u32);
    for layer in 0..view.layers.min(MOST_LAYERS) {
        for level in 0..levels {
            let surface = image.surface(aspect, range.base_mip_level + level);
            let surface = surface.and_then(|s| if depth { Some(s) } else { s.with_format(view.format) });
            let Some(surface) = surface.filter(is_for_eyes) else { continue };
            let flat = image.extent[2] == 1;
            let (array, z) = if flat { (range.base_array_layer + layer, 0) } else { (0, layer) };
            let Some(made) = made(surface, array, z, depth) else { continue };
            let data = record.once(&made.rgba);
            let of = [surface.extent[0], surface.extent[1]];
            all.push(Picture { level, layer, size: made.size, of, range: made.range, data });
        }
    }
    all
}

fn is_for_eyes(s: &Surface) -> bool {
    let f = s.format;
    !f.paired() && !f.is_64bit() && s.extent[0] as u64 * s.extent[1] as u64 <= MOST_TEXELS
}

struct Made {
    size: [u32; 2],
    range: Option<[f32; 2]>,
    rgba: Vec<u8>,
}

fn made(surface: Surface, layer: u32, z: u32, depth: bool) -> Option<Made> {
    let [w, h, d] = surface.extent;
    if w == 0 || h == 0 || z >= d || layer >= surface.layers {
        return None;
    }
    let by = w.max(h).div_ceil(MOST);
    let (width, height) = (w.div_ceil(by), h.div_ceil(by));
    let format = surface.format;
    let class = format.channel_class();
    let value = |bits: u32| match class {
        ChannelClass::Float => f32::from_bits(bits),
        ChannelClass::Uint => bits as f32,
        ChannelClass::Sint => bits as i32 as f32,
    };
    let mut sums = vec![[0f32; 4]; (width * height) as usize];
    let mut reader = RowReader::new(surface);
    let mut row = vec![[0u32; 4]; w as usize];
    for y in 0..h {
        reader.read(0, y, z, 0, layer, &mut row);
        for (x, texel) in row.iter().enumerate() {
            let sum = &mut sums[((y / by) * width) as usize + x / by as usize];
            for (to, bits) in sum.iter_mut().zip(texel) {
                let v = value(*bits);
                *to += if v.is_finite() { v } else { 0.0 };
            }
        }
    }
    let side = |n: u32, i: u32| (n - i * by).min(by);
    for (i, sum) in sums.iter_mut().enumerate() {
        let n = (side(w, i as u32 % width) * side(h, i as u32 / width)) as f32;
        sum.iter_mut().for_each(|v| *v /= n);
    }
    let grey = depth || (format.has_component(b'r') && !format.has_component(b'g'));
    let shown = if grey { 1 } else { 3 };
    let all = || sums.iter().flat_map(|s| s[..shown].iter().copied());
    let (least, most) = all().fold((f32::MAX, f32::MIN), |(a, b), v| (a.min(v), b.max(v)));
    // Depth lies close to 1, and integers are any.
    let stretched = depth || class != ChannelClass::Float;
    let range = (stretched && most > least).then_some([least, most]);
    let linear = matches!(format.class, NumClass::Srgb | NumClass::Sfloat | NumClass::Ufloat) && !depth;
    let byte = |v: f32| {
        let v = range.map_or(v, |[a, b]| (v - a) / (b - a)).clamp(0.0, 1.0);
        ((if linear { encoded(v) } else { v }) * 255.0 + 0.5) as u8
    };
    let alpha = |v: f32| {
        if format.has_component(b'a') && class == ChannelClass::Float { v.clamp(0.0, 1.0) } else { 1.0 }
    };
    let pixel = |s: &[f32; 4]| {
        let [r, g, b] = [0, 1, 2].map(|c| byte(s[if grey { 0 } else { c }]));
        [r, g, b, (alpha(s[3]) * 255.0 + 0.5) as u8]
    };
    Some(Made { size: [width, height], range, rgba: sums.iter().flat_map(pixel).collect() })
}

/// The transfer function of sRGB (IEC 61966-2-1).
fn encoded(v: f32) -> f32 {
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

//! Texels of weight 0 add nothing (§ Texel Filtering): what lies beside a sample stays beside it, NaN and infinity too.
//!
//! The figures of [`flat`] at u = 0.25 are those of an NVIDIA H200.

use super::rig::{Rectangle, Rig, layers};
use super::{Check, Found, same, text};
use client::graphics::{Attachment, Bindings, Image, ImageInfo, Load, Pass, Resource, Sampler, barrier};
use vk::ImageAspectFlags as Aspect;

const SAMPLE: &[u8] = include_bytes!("../../shaders/extensions/sample.frag.spv");
const SAMPLE3D: &[u8] = include_bytes!("../../shaders/extensions/sample3d.frag.spv");
const RGBA32: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const RGBA16: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
const GOOD: [f32; 4] = [1.0, 2.0, 3.0, 4.0];

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: c"", run };
    vec![
        check("weight_0_flat", flat),
        check("weight_0_volume", volume),
        check("weight_0_levels", levels),
        check("weight_0_blit", blit),
    ]
}

/// Half floats of these, exactly representable, or not numbers.
fn half(v: f32) -> [u8; 2] {
    let bits: u16 = match v {
        1.0 => 0x3c00,
        2.0 => 0x4000,
        3.0 => 0x4200,
        4.0 => 0x4400,
        5.0 => 0x4500,
        6.0 => 0x4600,
        _ if v.is_nan() => 0x7e00,
        _ if v == INF => 0x7c00,
        _ => 0xfc00,
    };
    bits.to_le_bytes()
}

fn texture(rig: &Rig, info: ImageInfo, texels: &[[f32; 4]]) -> Result<Image, String> {
    let numbers = texels.iter().flatten();
    let bytes: Vec<u8> = match info.format {
        RGBA16 => numbers.flat_map(|v| half(*v)).collect(),
        _ => numbers.flat_map(|v| v.to_le_bytes()).collect(),
    };
    Image::with_texels(&rig.context, info, &bytes).map_err(text)
}

/// What a shader that samples at `at` gives: u, v and the level, or w.
fn sampled(rig: &Rig, t: &Image, s: &vk::SamplerCreateInfo, at: [f32; 3]) -> Result<[f32; 4], String> {
    let sampler = Sampler::new(&rig.context, s).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Texture(t, &sampler)]).map_err(text)?;
    let target = rig.image(ImageInfo::colour(RGBA32, [4; 2]))?;
    let p = rig.boxes_with(Some(&bindings), |i| {
        i.fragment = Some(if t.info.depth > 0 { SAMPLE3D } else { SAMPLE });
        i.colours = vec![RGBA32];
    })?;
    let mut push = Rectangle { from: 0.0, to: 8.0, value: 0, depth: 0.5 }.push();
    for (to, v) in push[16..].chunks_exact_mut(4).zip(at) {
        to.copy_from_slice(&v.to_le_bytes());
    }
    rig.run(|d, c| {
        let colours = vec![Attachment::new(&target, Load::DontCare)];
        Pass { colours, size: [4; 2], ..Default::default() }.record(d, c, |d, c| {
            p.bind(c, Some(&bindings), &push);
            // SAFETY: recording with everything bound.
            unsafe { d.cmd_draw(c, 6, 1, 0, 0) }
        });
    })?;
    let bytes = target.read(Aspect::COLOR, 16).map_err(text)?;
    let one = |k: usize| f32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[4 * k + i]));
    Ok([0, 1, 2, 3].map(one))
}

fn linear(wrap: vk::SamplerAddressMode) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .address_mode_u(wrap)
        .address_mode_v(wrap)
        .address_mode_w(wrap)
        .max_lod(vk::LOD_CLAMP_NONE)
}

fn bits(v: [f32; 4]) -> Vec<u64> {
    v.map(|v| v.to_bits().into()).to_vec()
}

/// Two columns, in the centre of either, the other one of no numbers; on both rows' centres and between them.
fn flat(rig: &Rig) -> Found {
    let mut all = Vec::new();
    for format in [RGBA32, RGBA16] {
        for bad in [[5.0, 6.0, NAN, NAN], [INF, -INF, NAN, INF]] {
            let left = texture(rig, ImageInfo::texture(format, [2; 2]), &[GOOD, bad, GOOD, bad])?;
            let right = texture(rig, ImageInfo::texture(format, [2; 2]), &[bad, GOOD, bad, GOOD])?;
            for wrap in [vk::SamplerAddressMode::CLAMP_TO_EDGE, vk::SamplerAddressMode::REPEAT] {
                for (image, u) in [(&left, 0.25), (&right, 0.75)] {
                    for v in [0.25, 0.5, 0.75] {
                        let got = sampled(rig, image, &linear(wrap), [u, v, 0.0])?;
                        same(&format!("{format:?} beside {bad:?} at {u} {v}, {wrap:?}"), got, GOOD)?;
                        all.extend(bits(got));
                    }
                }
            }
        }
    }
    Ok(all)
}

/// One texel of 2 × 2 × 2 at its centre, no numbers in all others.
fn volume(rig: &Rig) -> Found {
    let mut all = Vec::new();
    for format in [RGBA32, RGBA16] {
        for n in 0..8 {
            let texels: Vec<_> = (0..8).map(|i| if i == n { GOOD } else { [NAN, INF, -INF, NAN] }).collect();
            let image = texture(rig, ImageInfo::volume(format, [2; 3]), &texels)?;
            let at = [1, 2, 4].map(|bit| if n & bit == 0 { 0.25 } else { 0.75 });
            let got = sampled(rig, &image, &linear(vk::SamplerAddressMode::REPEAT), at)?;
            same(&format!("{format:?} at {at:?}"), got, GOOD)?;
            all.extend(bits(got));
        }
    }
    Ok(all)
}

/// Numbers on one level, none on the other, at exactly the first.
fn levels(rig: &Rig) -> Found {
    let mut all = Vec::new();
    let bad = [NAN, INF, -INF, NAN];
    for (fine, coarse, lod) in [(GOOD, bad, 0.0), (bad, GOOD, 1.0)] {
        let info = ImageInfo { mips: 2, ..ImageInfo::texture(RGBA32, [2; 2]) };
        let image = texture(rig, info, &[fine, fine, fine, fine, coarse])?;
        let got = sampled(rig, &image, &linear(vk::SamplerAddressMode::REPEAT), [0.25, 0.25, lod])?;
        same(&format!("level {lod}"), got, GOOD)?;
        all.extend(bits(got));
    }
    Ok(all)
}

/// Three texels to 47: the middle one of them lies in the middle of the second, (23 + ½) · 3 / 47 = 1½.
fn blit(rig: &Rig) -> Found {
    let mut info = ImageInfo::texture(RGBA32, [3, 1]);
    info.usage |= vk::ImageUsageFlags::TRANSFER_SRC;
    let mut all = Vec::new();
    for n in 0..2 {
        let bad = [NAN, INF, -INF, NAN];
        let from = texture(rig, info, &if n == 0 { [bad, GOOD, GOOD] } else { [GOOD, GOOD, bad] })?;
        let mut info = ImageInfo::colour(RGBA32, [47, 1]);
        info.usage |= vk::ImageUsageFlags::TRANSFER_DST;
        let to = rig.image(info)?;
        let corner = |x| vk::Offset3D { x, y: 1, z: 1 };
        let region = vk::ImageBlit {
            src_subresource: layers(Aspect::COLOR, 0, 0, 1),
            src_offsets: [vk::Offset3D::default(), corner(3)],
            dst_subresource: layers(Aspect::COLOR, 0, 0, 1),
            dst_offsets: [vk::Offset3D::default(), corner(47)],
        };
        rig.run(|d, c| {
            let general = vk::ImageLayout::GENERAL;
            let filter = vk::Filter::LINEAR;
            // SAFETY: recording with live handles.
            unsafe { d.cmd_blit_image(c, from.handle, general, to.handle, general, &[region], filter) }
            barrier(d, c);
        })?;
        let bytes = to.read(Aspect::COLOR, 16).map_err(text)?;
        let middle = &bytes[23 * 16..24 * 16];
        let got = [0, 1, 2, 3].map(|k| f32::from_le_bytes([0, 1, 2, 3].map(|i| middle[4 * k + i])));
        same(&format!("blit {n}"), got, GOOD)?;
        all.extend(bits(got));
    }
    Ok(all)
}

//! Samples images of common formats on one thread, and prints a warp's nanoseconds: block by block as fragments are; and, as of small
//! triangles, quads that lie here and there, of one level (`…-quads`), of two (`…-mips`), and compared with a depth (`…-compare`).
//!
//! `sample_bench [--times N] [name …]`: `r8`, `rg8`, `rgba8`, `srgb8`, `rgba16f`, `r32f`, `rgba8-mips`, …

use ash::vk;
use random::Random;
use simd::rows::{ImageRows, Rows};
use std::time::Instant;
use texel::for_tests::{bound_image, fill, info_2d, plain};
use texel::sample::{ImageView, Sampler, sample_wave};

const SIDE: u32 = 512;
/// Texels from one pixel to the next.
const STEPS: [f32; 4] = [0.3, 0.89, 1.0, 1.7];

fn main() {
    use vk::Format as F;
    let rows = [
        ("r8", F::R8_UNORM, Way::Blocks),
        ("rg8", F::R8G8_UNORM, Way::Blocks),
        ("rgba8", F::R8G8B8A8_UNORM, Way::Blocks),
        ("srgb8", F::R8G8B8A8_SRGB, Way::Blocks),
        ("rgba16f", F::R16G16B16A16_SFLOAT, Way::Blocks),
        ("r32f", F::R32_SFLOAT, Way::Blocks),
        ("rgba8-quads", F::R8G8B8A8_UNORM, Way::Quads),
        ("rgba8-mips", F::R8G8B8A8_UNORM, Way::Mips),
        ("srgb8-mips", F::R8G8B8A8_SRGB, Way::Mips),
        ("d32-compare", F::D32_SFLOAT, Way::Compare),
        ("rgba32f", F::R32G32B32A32_SFLOAT, Way::Blocks),
        ("r11g11b10f", F::B10G11R11_UFLOAT_PACK32, Way::Blocks),
        ("rgb10a2", F::A2B10G10R10_UNORM_PACK32, Way::Blocks),
        ("rgb9e5", F::E5B9G9R9_UFLOAT_PACK32, Way::Blocks),
        ("rgba8s", F::R8G8B8A8_SNORM, Way::Blocks),
        ("r5g6b5", F::R5G6B5_UNORM_PACK16, Way::Blocks),
        ("rgba16", F::R16G16B16A16_UNORM, Way::Blocks),
        ("rgb10a2-mips", F::A2B10G10R10_UNORM_PACK32, Way::Mips),
        ("rgba16f-mips", F::R16G16B16A16_SFLOAT, Way::Mips),
        ("bc1", F::BC1_RGBA_UNORM_BLOCK, Way::Blocks),
        ("bc1-srgb", F::BC1_RGBA_SRGB_BLOCK, Way::Blocks),
        ("bc3", F::BC3_UNORM_BLOCK, Way::Blocks),
        ("bc5", F::BC5_UNORM_BLOCK, Way::Blocks),
        ("bc6h", F::BC6H_UFLOAT_BLOCK, Way::Blocks),
        ("bc7", F::BC7_UNORM_BLOCK, Way::Blocks),
        ("bc7-mips", F::BC7_UNORM_BLOCK, Way::Mips),
        ("bc7-quads", F::BC7_UNORM_BLOCK, Way::Quads),
        ("etc2", F::ETC2_R8G8B8A8_UNORM_BLOCK, Way::Blocks),
        ("astc4", F::ASTC_4X4_UNORM_BLOCK, Way::Blocks),
        ("astc8", F::ASTC_8X8_UNORM_BLOCK, Way::Blocks),
    ];
    let mut args = std::env::args().skip(1);
    let (mut times, mut names) = (20, vec![]);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--times" => times = args.next().and_then(|n| n.parse().ok()).expect("a number"),
            _ => names.push(a),
        }
    }
    println!("{:?}, linear; ns a warp, best of {times}", settings::level());
    println!("texels a pixel {}", STEPS.map(|s| format!("{s:>8}")).concat());
    for (name, format, way) in rows.into_iter().filter(|f| names.is_empty() || names.iter().any(|n| n == f.0))
    {
        let mut info = info_2d(format, SIDE, SIDE);
        info.mip_levels = if way == Way::Mips { SIDE.ilog2() + 1 } else { 1 };
        let image = bound_image(&info);
        // (No infinities or NaN as floats of 16 or 32 bits.)
        let mut r = Random::new(1);
        let mut byte = || r.u32() as u8;
        for level in 0..info.mip_levels {
            let blocks = image
                .surface(vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH, level)
                .unwrap()
                .blocks;
            let n = blocks.iter().product::<u32>() * image.format.block_bytes;
            let whole = image.format.compressed();
            let data: Vec<u8> = (0..n).map(|_| if whole { byte() } else { byte() & 0x3B }).collect();
            fill(&image, level, 0, &data);
        }
        let view = plain(&image, vk::ImageViewType::TYPE_2D);
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE)
            .compare_enable(way == Way::Compare)
            .compare_op(vk::CompareOp::LESS_OR_EQUAL)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        let sampler = Sampler::new(&info, None, vk::SamplerReductionMode::WEIGHTED_AVERAGE);
        let best = STEPS
            .map(|step| (0..times).map(|_| pass(&view, &sampler, way, step)).fold(f64::INFINITY, f64::min));
        println!("{name:14} {}", best.map(|ns| format!("{ns:8.1}")).concat());
    }
}

/// What is sampled.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Blocks of a picture, side by side.
    Blocks,
    /// Quads of it that lie here and there.
    Quads,
    /// The same, with mipmaps.
    Mips,
    /// The same, of depths that are compared.
    Compare,
}

/// A warp's nanoseconds where a picture of so many texels a pixel is drawn once.
fn pass(view: &ImageView, sampler: &Sampler, way: Way, step: f32) -> f64 {
    let dref = [[0x1000_0000u32; 16]; 16];
    let mut out = [[[0u32; 16]; 16]; 4];
    let mut st = [[[0u32; 16]; 16]; 2];
    let exec = [0xFFFF; 32];
    let (mut spent, mut warps) = (0.0, 0);
    let pixels = (SIDE as f32 / step) as usize;
    // A row of blocks, as where a triangle covers a tile.
    for (top, left) in (0..pixels / 4).flat_map(|y| (0..pixels / 64).map(move |x| (y * 4, x * 64))) {
        for (w, lane) in (0..16).flat_map(|w| (0..16).map(move |l| (w, l))) {
            let x = left + w * 4 + (lane >> 1 & 2 | lane & 1);
            let y = top + (lane >> 2 & 2 | lane >> 1 & 1);
            // Within some thirty pixels, as a tile's.
            let away = if way == Way::Blocks {
                0
            } else {
                ((y / 2 * pixels + x / 2).wrapping_mul(2654435761) >> 20) % 16
            };
            let (x, y) = (x + away % 4 * 8, y + away / 4 * 8);
            st[0][w][lane] = ((x as f32 + 0.5) * step / SIDE as f32).to_bits();
            st[1][w][lane] = ((y as f32 + 0.5) * step / SIDE as f32).to_bits();
        }
        let coords = |k: usize| Rows { at: st[k].as_ptr().cast(), step: 64 };
        let wave = ImageRows {
            live: 0xFFFF,
            exec: &exec,
            coords: [coords(0), coords(1), Rows::NONE, Rows::NONE],
            lod: None,
            levels: Default::default(),
            dref: (way == Way::Compare).then_some(Rows { at: dref.as_ptr().cast(), step: 64 }),
            data: [Rows::NONE; 4],
            out: std::array::from_fn(|k| out[k].as_mut_ptr().cast()),
            lines: None,
            holes: None,
        };
        let from = Instant::now();
        for _ in 0..4 {
            // SAFETY: rows of sixteen warps.
            assert!(unsafe { sample_wave(view, sampler, 2, false, &wave) });
        }
        spent += from.elapsed().as_secs_f64() * 1e9;
        warps += 4 * 16;
    }
    spent / warps as f64
}

//! What only this room can see of conversions: planes without memory, texels by integer coordinates, lines that are touched.

use super::*;
use crate::for_tests::{bound_image, info_2d, space};
use crate::image::Image;
use crate::memory::{Bound, DeviceMemory};
use ash::vk;
use std::sync::Arc;

const NV12: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;

fn view(image: &Arc<Image>, format: vk::Format, model: vk::SamplerYcbcrModelConversion) -> ImageView {
    let info = vk::ImageViewCreateInfo::default()
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        });
    let conversion = Conversion::new(
        &vk::SamplerYcbcrConversionCreateInfo::default()
            .format(format)
            .ycbcr_model(model)
            .x_chroma_offset(vk::ChromaLocation::MIDPOINT)
            .y_chroma_offset(vk::ChromaLocation::MIDPOINT),
    );
    ImageView::converted(image.clone(), &info, 0.0, &conversion).expect("a valid view")
}

fn nearest() -> Sampler {
    let info = vk::SamplerCreateInfo::default()
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    Sampler::new(&info, None, vk::SamplerReductionMode::WEIGHTED_AVERAGE)
}

/// The same place for all lanes.
fn at(s: f32, t: f32) -> [[u32; 16]; 2] {
    [[s.to_bits(); 16], [t.to_bits(); 16]]
}

fn sampled(v: &ImageView, coords: &[[u32; 16]; 2]) -> [f32; 4] {
    let mut out = [[7; 16]; 4];
    sample_warp(v, &nearest(), &SampleArgs { dims: 2, coords, ..SampleArgs::default() }, 0xffff, &mut out);
    assert!(out.iter().all(|c| c.iter().all(|v| *v == c[0])));
    out.map(|c| f32::from_bits(c[0]))
}

/// 4 × 4 texels of NV12: luma is 16 · row + column, blue 100 and red 200 more than the block.
fn nv12() -> Arc<Image> {
    let image = bound_image(&info_2d(NV12, 4, 4));
    let [y, c] = [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1]
        .map(|a| image.surface(a, 0).expect("a plane"));
    for (j, i) in (0..4).flat_map(|j| (0..4).map(move |i| (j, i))) {
        // SAFETY: the texels exist.
        unsafe {
            *y.block(i, j, 0, 0, 0) = (16 * j + i) as u8;
            let pair = c.block(i / 2, j / 2, 0, 0, 0);
            (*pair, *pair.add(1)) = (100 + (i / 2 + 2 * (j / 2)) as u8, 200 + (i / 2 + 2 * (j / 2)) as u8);
        }
    }
    image
}

#[test]
fn channels_come_from_their_planes() {
    let v = view(&nv12(), NV12, vk::SamplerYcbcrModelConversion::RGB_IDENTITY);
    let bytes = |c: [f32; 4]| c.map(|v| (v * 255.0).round());
    assert_eq!(bytes(sampled(&v, &at(0.4, 0.9))), [202.0, 49.0, 102.0, 255.0]);
    // Beyond the edge, where conversions have no border; and nowhere.
    assert_eq!(bytes(sampled(&v, &at(9.0, -9.0))), [201.0, 3.0, 101.0, 255.0]);
    assert_eq!(bytes(sampled(&v, &at(f32::NAN, f32::INFINITY)))[3], 255.0);
    let coords = [[3; 16], [2; 16]];
    let (mut lo, mut hi) = ([[0; 16]; 4], [[0; 16]; 4]);
    fetch_warp(&v, &coords, None, None, 0xffff, &mut TexelData { lo: &mut lo, hi: &mut hi });
    assert_eq!(bytes(lo.map(|c| f32::from_bits(c[15]))), [203.0, 35.0, 103.0, 255.0]);
    let outside = [[4; 16], [u32::MAX; 16]];
    fetch_warp(&v, &outside, None, None, 0xffff, &mut TexelData { lo: &mut lo, hi: &mut hi });
    assert_eq!(lo.map(|c| f32::from_bits(c[0])), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn narrow_black_and_white() {
    let image = bound_image(&info_2d(NV12, 2, 2));
    let [y, c] = [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1]
        .map(|a| image.surface(a, 0).expect("a plane"));
    let info = vk::SamplerYcbcrConversionCreateInfo::default()
        .format(NV12)
        .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_601)
        .ycbcr_range(vk::SamplerYcbcrRange::ITU_NARROW);
    let plane = vk::ImageViewCreateInfo::default()
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(NV12)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        });
    let v = ImageView::converted(image.clone(), &plane, 0.0, &Conversion::new(&info)).expect("a valid view");
    for (luma, want) in [(16, 0.0f32), (235, 1.0), (126, 110.0 / 219.0)] {
        // SAFETY: the texels exist.
        unsafe {
            (0..4).for_each(|i| *y.block(i % 2, i / 2, 0, 0, 0) = luma);
            c.block(0, 0, 0, 0, 0).cast::<[u8; 2]>().write([128; 2]);
        }
        let got = sampled(&v, &at(0.3, 0.3));
        assert!(got[..3].iter().all(|g| (g - want).abs() < 1e-6), "{luma}: {got:?}");
    }
}

#[test]
fn a_plane_without_memory_leaves_nothing() {
    let info = info_2d(NV12, 4, 4).flags(vk::ImageCreateFlags::DISJOINT);
    let image = Arc::new(Image::new(space(), &info).expect("a valid image"));
    let memory =
        |n: u64| Bound { memory: DeviceMemory::allocate(space(), n, 0, false).expect("memory"), offset: 0 };
    assert!(!image.bind(memory(1 << 16)), "its planes are bound one by one");
    assert!(image.bind_plane(0, memory(image.plane_size(0).expect("a plane"))));
    let model = vk::SamplerYcbcrModelConversion::YCBCR_709;
    assert_eq!(sampled(&view(&image, NV12, model), &at(0.5, 0.5)), [0.0; 4]);
    assert!(!image.bind_plane(2, memory(1 << 16)) && !image.bind_plane(1, memory(1)));
    assert!(image.bind_plane(1, memory(image.plane_size(1).expect("a plane"))));
    // Luma and chroma 0: Cb and Cr are -128 / 255.
    let got = sampled(&view(&image, NV12, model), &at(0.5, 0.5));
    assert!((got[0] + 1.5748 * 128.0 / 255.0).abs() < 1e-6 && got[3] == 1.0, "{got:?}");
}

#[test]
fn each_plane_is_touched_and_costs_an_operation() {
    let v = view(&nv12(), NV12, vk::SamplerYcbcrModelConversion::YCBCR_709);
    let planes = [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1]
        .map(|a| v.image.surface(a, 0).expect("a plane").base as u64 / 64);
    let touched = Touched::default();
    let coords = at(0.0, 0.0);
    touched.sample(&v, &nearest(), &SampleArgs { dims: 2, coords: &coords, ..SampleArgs::default() }, 1);
    // Rows are a line each.
    assert_eq!(touched.into_lines(), planes);
    assert_eq!(v.ycbcr().map(Ycbcr::operations), Some(2));
    let pairs = bound_image(&info_2d(vk::Format::G8B8G8R8_422_UNORM, 4, 2));
    let v = view(&pairs, vk::Format::G8B8G8R8_422_UNORM, vk::SamplerYcbcrModelConversion::YCBCR_709);
    assert_eq!((v.ycbcr().map(Ycbcr::operations), v.query_size(0)), (Some(1), [4, 2, 0, 0]));
}

#[test]
fn pairs_are_never_read_as_texels_of_their_own() {
    let format = vk::Format::G16B16G16R16_422_UNORM;
    let pairs = bound_image(&info_2d(format, 4, 2));
    let v = view(&pairs, format, vk::SamplerYcbcrModelConversion::RGB_IDENTITY);
    // Four bytes of eight are a half: what stores or gathers by the view stays in its rows.
    assert_eq!((v.format.format, v.format.block_bytes), (vk::Format::R16G16_UNORM, 4));
    let l = &v.levels[0];
    assert!(l.size[0] as u64 * v.format.block_bytes as u64 <= l.row_pitch);
    let of_one = |format, aspect| {
        let info = vk::ImageViewCreateInfo::default()
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: aspect,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            });
        ImageView::new(pairs.clone(), &info, 0.0)
    };
    let color = vk::ImageAspectFlags::COLOR;
    assert!(of_one(format, color).is_ok_and(|v| v.format.block_bytes == 4));
    assert!(of_one(vk::Format::R16G16B16A16_UNORM, color).is_err());
    assert!(of_one(vk::Format::R16G16_UNORM, vk::ImageAspectFlags::PLANE_0).is_err());
}

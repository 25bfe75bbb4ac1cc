//! VK_KHR_maintenance8: copies between depth or stencil and colours of their size, blits between slices and layers,
//! offsets that are no constants, remainders of negative numbers, and its flags.

use super::owned::{self, Owned};
use super::rig::{RGBA8, Rig, SIDE, layers};
use super::{Check, Found, found, same, text};
use client::compute::KernelInfo;
use client::graphics::{Attachment, Bindings, Image, ImageInfo, Load, Pass, Resource, Sampler, barrier};
use client::{Buffer, Kernel};
use vk::ImageAspectFlags as Aspect;
use vk::ImageLayout as Layout;

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: c"VK_KHR_maintenance8", run };
    vec![
        check("copies_of_depth_and_colour", copies),
        check("blits_of_slices_and_layers", blits),
        check("offsets_of_any_value", offsets),
        check("remainders_of_negatives", remainders),
        check("flags_of_maintenance8", flags),
    ]
}

/// Layers of level 0.
fn base(aspect: Aspect, first: u32, count: u32) -> vk::ImageSubresourceLayers {
    layers(aspect, 0, first, count)
}

fn image(rig: &Rig, format: vk::Format, size: [u32; 2]) -> Result<Image, String> {
    let mut info = ImageInfo::texture(format, size);
    info.usage |= vk::ImageUsageFlags::TRANSFER_SRC;
    rig.image(info)
}

/// Writes texels of one aspect by a buffer.
fn upload(rig: &Rig, image: &Image, aspect: Aspect, bytes: &[u8]) -> Result<(), String> {
    let [width, height] = image.info.size;
    let region = vk::BufferImageCopy::default()
        .image_subresource(base(aspect, 0, 1))
        .image_extent(vk::Extent3D { width, height, depth: 1 });
    owned::upload(rig, image.handle, region, bytes)
}

/// Bits are the same on the other side, depths' and colours' alike; the other aspect is not touched.
fn copies(rig: &Rig) -> Found {
    use vk::Format as F;
    let (depth, stencil) = (Aspect::DEPTH, Aspect::STENCIL);
    let cases = [
        (F::D32_SFLOAT, depth, F::R32_SFLOAT, 4),
        (F::D32_SFLOAT_S8_UINT, depth, F::R32_SFLOAT, 4),
        (F::D16_UNORM, depth, F::R16_UNORM, 2),
        (F::D32_SFLOAT_S8_UINT, stencil, F::R8_UINT, 1),
        (F::S8_UINT, stencil, F::R8_UINT, 1),
    ];
    let mut all = Vec::new();
    for (format, aspect, other, bytes) in cases {
        let (z, c) = (image(rig, format, [2, 2])?, image(rig, other, [2, 2])?);
        let texels: Vec<u8> = match bytes {
            4 => [0.25f32, 0.5, 0.75, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect(),
            n => (1..=4 * n as u8).collect(),
        };
        let both = format == F::D32_SFLOAT_S8_UINT;
        let (rest, rest_bytes) = if aspect == depth { (stencil, 1) } else { (depth, 4) };
        let untouched = [0x3e; 16][..4 * rest_bytes].to_vec();
        if both {
            upload(rig, &z, rest, &untouched)?;
        }
        // To colour.
        upload(rig, &z, aspect, &texels)?;
        let copy = |from: &Image, a, to: &Image, b| {
            let region = vk::ImageCopy {
                src_subresource: base(a, 0, 1),
                dst_subresource: base(b, 0, 1),
                extent: vk::Extent3D { width: 2, height: 2, depth: 1 },
                ..Default::default()
            };
            rig.run(|d, c| {
                let general = Layout::GENERAL;
                // SAFETY: recording; both images hold the region.
                unsafe { d.cmd_copy_image(c, from.handle, general, to.handle, general, &[region]) }
                barrier(d, c);
            })
        };
        copy(&z, aspect, &c, Aspect::COLOR)?;
        let got = c.read(Aspect::COLOR, bytes).map_err(text)?;
        same(&format!("{format:?} to {other:?}"), got.clone(), texels.clone())?;
        // And back, the other way round.
        let back: Vec<u8> = texels.chunks(bytes).rev().flatten().copied().collect();
        upload(rig, &c, Aspect::COLOR, &back)?;
        copy(&c, Aspect::COLOR, &z, aspect)?;
        same(&format!("{other:?} to {format:?}"), z.read(aspect, bytes).map_err(text)?, back)?;
        if both {
            same("the other aspect", z.read(rest, rest_bytes).map_err(text)?, untouched)?;
        }
        all.extend(got.iter().map(|&b| u64::from(b)));
    }
    Ok(all)
}

/// An image of one byte a texel, with `layers` layers or slices of 2 × 2.
struct Solid<'r> {
    image: Owned<'r>,
    solid: bool,
    count: u32,
}

impl<'r> Solid<'r> {
    fn new(rig: &'r Rig, solid: bool, count: u32) -> Result<Solid<'r>, String> {
        let info = vk::ImageCreateInfo::default()
            .image_type(if solid { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
            .format(vk::Format::R8_UNORM)
            .extent(vk::Extent3D { width: 2, height: 2, depth: if solid { count } else { 1 } })
            .mip_levels(1)
            .array_layers(if solid { 1 } else { count })
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let image = Owned::new(rig, &info, vk::MemoryPropertyFlags::DEVICE_LOCAL)?;
        let change = vk::ImageMemoryBarrier::default()
            .new_layout(Layout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.handle)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: Aspect::COLOR,
                level_count: 1,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
                ..Default::default()
            });
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: recording with a live image.
        rig.run(|d, c| unsafe {
            d.cmd_pipeline_barrier(c, all, all, Default::default(), &[], &[], &[change])
        })?;
        Ok(Solid { image, solid, count })
    }

    fn region(&self) -> vk::BufferImageCopy {
        let (slices, layer_count) = if self.solid { (self.count, 1) } else { (1, self.count) };
        vk::BufferImageCopy::default()
            .image_subresource(base(Aspect::COLOR, 0, layer_count))
            .image_extent(vk::Extent3D { width: 2, height: 2, depth: slices })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), String> {
        self.image.upload(self.region(), bytes)
    }

    fn read(&self) -> Result<Vec<u8>, String> {
        self.image.download(self.region(), self.count as usize * 4)
    }

    fn blit(&self, to: &Solid, region: vk::ImageBlit) -> Result<(), String> {
        let g = Layout::GENERAL;
        self.image.rig.run(|d, c| {
            // SAFETY: recording; both images hold the region.
            unsafe {
                d.cmd_blit_image(c, self.image.handle, g, to.image.handle, g, &[region], vk::Filter::NEAREST)
            }
            barrier(d, c);
        })
    }
}

/// Slice 2 of a 3D image into layer 1 of an array of three, mirrored, and a layer into a slice. (More than one at a time
/// the specification still rules out: VUID 10207, 10208.)
fn blits(rig: &Rig) -> Found {
    let (solid, array) = (Solid::new(rig, true, 3)?, Solid::new(rig, false, 3)?);
    let texels: Vec<u8> = (1..=12).collect();
    solid.write(&texels)?;
    array.write(&[99; 12])?;
    let at = |x, y, z| vk::Offset3D { x, y, z };
    // A layer and the corners of a box in it, of each side.
    let region = |(from, src_offsets), (to, dst_offsets)| vk::ImageBlit {
        src_subresource: base(Aspect::COLOR, from, 1),
        src_offsets,
        dst_subresource: base(Aspect::COLOR, to, 1),
        dst_offsets,
    };
    let first = [at(0, 0, 0), at(2, 2, 1)];
    let into_layer = region((0, [at(0, 0, 2), at(2, 2, 3)]), (1, [at(2, 0, 0), at(0, 2, 1)]));
    solid.blit(&array, into_layer)?;
    let got = array.read()?;
    same("a slice as a layer", got.clone(), vec![99, 99, 99, 99, 10, 9, 12, 11, 99, 99, 99, 99])?;
    array.blit(&solid, region((1, first), (0, first)))?;
    same("a layer as a slice", solid.read()?, vec![10, 9, 12, 11, 5, 6, 7, 8, 9, 10, 11, 12])?;
    found(&got)
}

const OFFSET: &[u8] = include_bytes!("../../shaders/extensions/offset.frag.spv");

/// Fetches and samples three columns right and two rows below, or to the other side, as push constants say.
fn offsets(rig: &Rig) -> Found {
    let side = SIDE as usize;
    let texels: Vec<u8> = (0..side * side).flat_map(|i| [i as u8; 4]).collect();
    let mut info = ImageInfo::texture(RGBA8, [SIDE; 2]);
    info.usage |= vk::ImageUsageFlags::TRANSFER_SRC;
    let texture = Image::with_texels(&rig.context, info, &texels).map_err(text)?;
    let clamp = vk::SamplerAddressMode::CLAMP_TO_EDGE;
    let sampler =
        vk::SamplerCreateInfo::default().address_mode_u(clamp).address_mode_v(clamp).address_mode_w(clamp);
    let sampler = Sampler::new(&rig.context, &sampler).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Texture(&texture, &sampler)]).map_err(text)?;
    let target = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let p = rig.boxes_with(Some(&bindings), |i| i.fragment = Some(OFFSET))?;
    let mut all = Vec::new();
    for by in [[3i32, 2], [-2, -1], [0, 1]] {
        let mut push: Vec<u8> = [-1f32, -1.0, 1.0, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        push.extend([by[0], by[1], 0, 0, 0].iter().flat_map(|v| v.to_le_bytes()));
        rig.run(|d, c| {
            let colours = vec![Attachment::new(&target, Load::colour([1.0; 4]))];
            Pass { colours, size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
                p.bind(c, Some(&bindings), &push);
                // SAFETY: recording with everything bound.
                unsafe { d.cmd_draw(c, 6, 1, 0, 0) }
            });
        })?;
        let got = target.read(Aspect::COLOR, 4).map_err(text)?;
        for (i, texel) in got.chunks(4).enumerate() {
            let (x, y) = ((i % side) as i32 + by[0], (i / side) as i32 + by[1]);
            let inside = (0..SIDE as i32).contains(&x) && (0..SIDE as i32).contains(&y);
            // Fetches beyond the edge (upper half) give what robustness says; samples the edge.
            if i / side >= side / 2 || inside {
                let edge = |v: i32| v.clamp(0, SIDE as i32 - 1);
                let want = (edge(y) * SIDE as i32 + edge(x)) as u8;
                same(&format!("pixel {i} by {by:?}"), texel[0], want)?;
                all.push(want.into());
            }
        }
    }
    Ok(all)
}

const REM: &[u8] = include_bytes!("../../shaders/extensions/rem.comp.spv");

/// SMod has the divisor's sign, SRem the dividend's (SPIR-V, OpSMod and OpSRem).
fn remainders(rig: &Rig) -> Found {
    let pairs =
        [(7, 3, 1, 1), (-7, 3, 2, -1), (7, -3, -2, 1), (-7, -3, -1, -1), (-6, 3, 0, 0), (6, -3, 0, 0)];
    let minimum = [(i32::MIN, 7, 5, -2), (i32::MAX, -5, -3, 2)];
    let all: Vec<_> = pairs.into_iter().chain(minimum).collect();
    let out = Buffer::new(&rig.context, all.len() * 8).map_err(text)?;
    let mut from = Buffer::new(&rig.context, all.len() * 8).map_err(text)?;
    for (words, (a, b, ..)) in from.words_mut().chunks_mut(2).zip(&all) {
        (words[0], words[1]) = (*a as u32, *b as u32);
    }
    let info = KernelInfo { spirv: REM, bindings: 2, push_size: 0 };
    let kernel = Kernel::new(&rig.context, &info).map_err(text)?;
    kernel.run(&[&out, &from], &[], [all.len() as u32, 1, 1]).map_err(text)?;
    for (got, (a, b, modulo, rest)) in out.words().chunks(2).zip(&all) {
        same(&format!("{a} and {b}"), [got[0] as i32, got[1] as i32], [*modulo, *rest])?;
    }
    Ok(out.words().iter().map(|&w| w.into()).collect())
}

/// A pipeline cache that is merged into without synchronisation, and barriers whose ownership transfers have stages.
fn flags(rig: &Rig) -> Found {
    let d = &rig.context.device;
    // VK_PIPELINE_CACHE_CREATE_INTERNALLY_SYNCHRONIZED_MERGE_BIT_KHR
    let merged = vk::PipelineCacheCreateInfo::default().flags(vk::PipelineCacheCreateFlags::from_raw(8));
    // VK_DEPENDENCY_QUEUE_FAMILY_OWNERSHIP_TRANSFER_USE_ALL_STAGES_BIT_KHR
    let all_stages = vk::DependencyFlags::from_raw(0x20);
    // SAFETY: plain Vulkan calls with live handles.
    unsafe {
        let (into, from) = (
            d.create_pipeline_cache(&merged, None).map_err(text)?,
            d.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None).map_err(text)?,
        );
        let merged = d.merge_pipeline_caches(into, &[from]);
        d.destroy_pipeline_cache(into, None);
        d.destroy_pipeline_cache(from, None);
        merged.map_err(text)?;
    }
    let a = image(rig, vk::Format::R8_UINT, [2, 2])?;
    upload(rig, &a, Aspect::COLOR, &[1, 2, 3, 4])?;
    rig.run(|d, c| {
        let change = [vk::ImageMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COPY)
            .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
            .old_layout(Layout::GENERAL)
            .new_layout(Layout::GENERAL)
            .src_queue_family_index(0)
            .dst_queue_family_index(0)
            .image(a.handle)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: Aspect::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            })];
        let info = vk::DependencyInfo::default().dependency_flags(all_stages).image_memory_barriers(&change);
        // SAFETY: recording with live handles.
        unsafe { d.cmd_pipeline_barrier2(c, &info) }
    })?;
    let got = a.read(Aspect::COLOR, 1).map_err(text)?;
    same("contents stay", got.clone(), vec![1, 2, 3, 4])?;
    found(&got)
}

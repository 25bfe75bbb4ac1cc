//! VK_KHR_sampler_ycbcr_conversion: what samplers with conversions give, against the specification's formulas in `f64`.

use super::rig::{Rig, layers};
use super::{Check, Found, holds, same, text};
use client::Buffer;
use client::graphics::barrier;
use random::Random;
use vk::ImageAspectFlags as Aspect;
use vk::SamplerYcbcrModelConversion as Model;

const SHADER: &[u8] = include_bytes!("../../shaders/extensions/ycbcr.comp.spv");
const SIZE: [u32; 2] = [12, 6];
const LAYERS: u32 = 2;
const POINTS: usize = 192;

pub fn checks() -> Vec<Check> {
    let of = ash::khr::sampler_ycbcr_conversion::NAME;
    vec![Check { name: "ycbcr_samples", of, run: samples }]
}

/// How an image lies in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// Green; blue and red, in one plane or two.
    Planes(usize),
    /// Two texels a block; which component of each half is green.
    Pairs(usize),
    Rgba,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    format: vk::Format,
    kind: Kind,
    /// log2 of luma's texels for one of chroma's.
    shift: [u32; 2],
    bits: u32,
}

const fn shape(format: vk::Format, kind: Kind, shift: [u32; 2], bits: u32) -> Shape {
    Shape { format, kind, shift, bits }
}

/// What the two images are.
const PAIRS: [[Shape; 2]; 6] = [
    [
        shape(vk::Format::G8_B8R8_2PLANE_420_UNORM, Kind::Planes(2), [1, 1], 8),
        shape(vk::Format::G8B8G8R8_422_UNORM, Kind::Pairs(0), [1, 0], 8),
    ],
    [
        shape(vk::Format::G8_B8_R8_3PLANE_422_UNORM, Kind::Planes(3), [1, 0], 8),
        shape(vk::Format::B8G8R8G8_422_UNORM, Kind::Pairs(1), [1, 0], 8),
    ],
    [
        shape(vk::Format::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, Kind::Planes(3), [1, 1], 10),
        shape(vk::Format::G16_B16R16_2PLANE_444_UNORM, Kind::Planes(2), [0, 0], 16),
    ],
    [
        shape(vk::Format::G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16, Kind::Planes(2), [1, 0], 12),
        shape(vk::Format::R8G8B8A8_UNORM, Kind::Rgba, [0, 0], 8),
    ],
    [
        shape(vk::Format::G8_B8_R8_3PLANE_444_UNORM, Kind::Planes(3), [0, 0], 8),
        shape(vk::Format::B16G16R16G16_422_UNORM, Kind::Pairs(1), [1, 0], 16),
    ],
    [
        shape(vk::Format::G8_B8_R8_3PLANE_420_UNORM, Kind::Planes(3), [1, 1], 8),
        shape(vk::Format::G10X6B10X6G10X6R10X6_422_UNORM_4PACK16, Kind::Pairs(0), [1, 0], 10),
    ],
];

/// One plane: its texels' components, size and bytes, layer by layer.
struct Plane {
    aspect: Aspect,
    components: u32,
    size: [u32; 2],
    bytes: Vec<u8>,
}

impl Shape {
    fn wide(&self) -> usize {
        if self.bits == 8 { 1 } else { 2 }
    }

    fn planes(&self, random: &mut Random) -> Vec<Plane> {
        let [w, h] = SIZE;
        let half = [w >> self.shift[0], h >> self.shift[1]];
        let list = match self.kind {
            Kind::Planes(2) => vec![(Aspect::PLANE_0, 1, SIZE), (Aspect::PLANE_1, 2, half)],
            Kind::Planes(_) => {
                vec![(Aspect::PLANE_0, 1, SIZE), (Aspect::PLANE_1, 1, half), (Aspect::PLANE_2, 1, half)]
            }
            Kind::Pairs(_) => vec![(Aspect::COLOR, 2, SIZE)],
            Kind::Rgba => vec![(Aspect::COLOR, 4, SIZE)],
        };
        list.into_iter()
            .map(|(aspect, components, size)| {
                let values = components * size[0] * size[1] * LAYERS;
                // Unused bits are zero, below the others.
                let unused = if self.bits == 8 { 0 } else { 16 - self.bits };
                let one = |_| ((random.u32() >> 8 & 0xffff) << unused).to_le_bytes()[..self.wide()].to_vec();
                let bytes = (0..values).flat_map(one).collect();
                Plane { aspect, components, size, bytes }
            })
            .collect()
    }

    /// A component of a texel, 0 to 1; places beyond the edge are the edge's.
    fn texel(&self, p: &Plane, x: i64, y: i64, layer: u32, component: u32) -> f64 {
        let [x, y] = [(x, p.size[0]), (y, p.size[1])].map(|(v, n)| v.clamp(0, i64::from(n) - 1) as u32);
        let at = ((layer * p.size[1] + y) * p.size[0] + x) * p.components + component;
        let at = at as usize * self.wide();
        let raw = match self.wide() {
            1 => u32::from(p.bytes[at]),
            _ => u32::from(u16::from_le_bytes([p.bytes[at], p.bytes[at + 1]])) >> (16 - self.bits),
        };
        f64::from(raw) / f64::from((1u32 << self.bits) - 1)
    }
}

/// The nearest of a grid's values to a place, or those around it by their weights.
fn filtered(uv: [f64; 2], linear: bool, at: impl Fn(i64, i64) -> f64) -> f64 {
    if !linear {
        return at(uv[0].floor() as i64, uv[1].floor() as i64);
    }
    let [x, y] = uv.map(|u| (u - 0.5).floor());
    let [a, b] = [uv[0] - 0.5 - x, uv[1] - 0.5 - y];
    let (x, y) = (x as i64, y as i64);
    let row = |y| at(x, y) * (1.0 - a) + at(x + 1, y) * a;
    row(y) * (1.0 - b) + row(y + 1) * b
}

/// What conversion and sampler say.
#[derive(Clone, Copy, Debug)]
struct How {
    model: Model,
    narrow: bool,
    cosited: [bool; 2],
    chroma_linear: bool,
    linear: bool,
}

impl How {
    fn of(i: u32) -> How {
        let models = [
            Model::YCBCR_709,
            Model::YCBCR_601,
            Model::YCBCR_2020,
            Model::YCBCR_IDENTITY,
            Model::RGB_IDENTITY,
        ];
        How {
            model: models[i as usize % 5],
            narrow: i & 1 != 0,
            cosited: [i & 2 != 0, i & 4 != 0],
            chroma_linear: i & 8 != 0,
            linear: i & 16 != 0,
        }
    }

    /// The colour at a place in luma's texels ("Implicit Reconstruction", "Sampler Y'CBCR Range Expansion", "… Model Conversion").
    fn colour(&self, s: &Shape, planes: &[Plane], uv: [f64; 2], layer: u32) -> [f64; 4] {
        let chroma_at: [f64; 2] = std::array::from_fn(|k| match (s.shift[k], self.cosited[k]) {
            (0, _) => uv[k],
            (_, true) => (uv[k] + 0.5) / 2.0,
            (_, false) => uv[k] / 2.0,
        });
        let chroma_linear = if s.shift == [0, 0] { self.linear } else { self.chroma_linear };
        let own = |p: usize, c: u32| filtered(uv, self.linear, |x, y| s.texel(&planes[p], x, y, layer, c));
        let chroma =
            |p: usize, c: u32| filtered(chroma_at, chroma_linear, |x, y| s.texel(&planes[p], x, y, layer, c));
        let halves = |second: i64, c: u32| {
            let last = i64::from(SIZE[0]) / 2 - 1;
            let texel = |x: i64, y| s.texel(&planes[0], 2 * x.clamp(0, last) + second, y, layer, c);
            filtered(chroma_at, chroma_linear, texel)
        };
        let [r, g, b, a] = match s.kind {
            Kind::Planes(2) => [chroma(1, 1), own(0, 0), chroma(1, 0), 1.0],
            Kind::Planes(_) => [chroma(2, 0), own(0, 0), chroma(1, 0), 1.0],
            Kind::Pairs(luma) => {
                let other = 1 - luma as u32;
                [halves(1, other), own(0, luma as u32), halves(0, other), 1.0]
            }
            Kind::Rgba => [own(0, 0), own(0, 1), own(0, 2), own(0, 3)],
        };
        let most = ((1u64 << s.bits) - 1) as f64;
        let unit = f64::from(s.bits as i32 - 8).exp2();
        let (y, cb, cr) = if self.narrow {
            let c = |v: f64| (v * most - 128.0 * unit) / (224.0 * unit);
            ((g * most - 16.0 * unit) / (219.0 * unit), c(b), c(r))
        } else {
            let half = f64::from(s.bits as i32 - 1).exp2() / most;
            (g, b - half, r - half)
        };
        let [r, g, b] = match self.model {
            Model::RGB_IDENTITY => [r, g, b],
            Model::YCBCR_IDENTITY => [cr, y, cb],
            Model::YCBCR_709 => {
                let g = y - (0.13397432 * cb + 0.33480248 * cr) / 0.7152;
                [y + 1.5748 * cr, g, y + 1.8556 * cb]
            }
            Model::YCBCR_601 => {
                let g = y - (0.202008 * cb + 0.419198 * cr) / 0.587;
                [y + 1.402 * cr, g, y + 1.772 * cb]
            }
            _ => {
                let g = y - (0.11156702 * cb + 0.38737742 * cr) / 0.6780;
                [y + 1.4746 * cr, g, y + 1.8814 * cb]
            }
        };
        [r, g, b, a]
    }
}

/// An image with its memory (a plane's each, if it is disjoint), conversion, sampler and view.
struct Made<'r> {
    rig: &'r Rig,
    image: vk::Image,
    memory: Vec<vk::DeviceMemory>,
    conversion: vk::SamplerYcbcrConversion,
    sampler: vk::Sampler,
    view: vk::ImageView,
}

impl<'r> Made<'r> {
    fn new(rig: &'r Rig, s: &Shape, planes: &[Plane], how: &How, disjoint: bool) -> Result<Made<'r>, String> {
        let d = &rig.context.device;
        let disjoint = disjoint && matches!(s.kind, Kind::Planes(_));
        let flags = if disjoint { vk::ImageCreateFlags::DISJOINT } else { Default::default() };
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(vk::ImageType::TYPE_2D)
            .format(s.format)
            .extent(vk::Extent3D { width: SIZE[0], height: SIZE[1], depth: 1 })
            .mip_levels(1)
            .array_layers(LAYERS)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: plain Vulkan calls with structs that outlive them.
        unsafe {
            let image = d.create_image(&info, None).map_err(text)?;
            let mut memory = Vec::new();
            let parts: Vec<Option<Aspect>> =
                if disjoint { planes.iter().map(|p| Some(p.aspect)).collect() } else { vec![None] };
            for aspect in parts {
                let mut of = vk::ImagePlaneMemoryRequirementsInfo::default();
                let mut ask = vk::ImageMemoryRequirementsInfo2::default().image(image);
                if let Some(a) = aspect {
                    of.plane_aspect = a;
                    ask = ask.push_next(&mut of);
                }
                let mut needs = vk::MemoryRequirements2::default();
                d.get_image_memory_requirements2(&ask, &mut needs);
                let info = vk::MemoryAllocateInfo::default()
                    .allocation_size(needs.memory_requirements.size)
                    .memory_type_index(needs.memory_requirements.memory_type_bits.trailing_zeros());
                let m = d.allocate_memory(&info, None).map_err(text)?;
                memory.push(m);
                let mut plane = vk::BindImagePlaneMemoryInfo::default();
                let mut bind = vk::BindImageMemoryInfo::default().image(image).memory(m);
                if let Some(a) = aspect {
                    plane.plane_aspect = a;
                    bind = bind.push_next(&mut plane);
                }
                d.bind_image_memory2(&[bind]).map_err(text)?;
            }
            let place =
                |even| if even { vk::ChromaLocation::COSITED_EVEN } else { vk::ChromaLocation::MIDPOINT };
            let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            let range =
                if how.narrow { vk::SamplerYcbcrRange::ITU_NARROW } else { vk::SamplerYcbcrRange::ITU_FULL };
            let info = vk::SamplerYcbcrConversionCreateInfo::default()
                .format(s.format)
                .ycbcr_model(how.model)
                .ycbcr_range(range)
                .x_chroma_offset(place(how.cosited[0]))
                .y_chroma_offset(place(how.cosited[1]))
                .chroma_filter(filter(how.chroma_linear));
            let conversion = d.create_sampler_ycbcr_conversion(&info, None).map_err(text)?;
            let mut of = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
            let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(filter(how.linear))
                .min_filter(filter(how.linear))
                .address_mode_u(edge)
                .address_mode_v(edge)
                .address_mode_w(edge)
                .push_next(&mut of);
            let sampler = d.create_sampler(&info, None).map_err(text)?;
            let mut of = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
                .format(s.format)
                .subresource_range(vk::ImageSubresourceRange {
                    aspect_mask: Aspect::COLOR,
                    base_mip_level: 0,
                    level_count: 1,
                    base_array_layer: 0,
                    layer_count: LAYERS,
                })
                .push_next(&mut of);
            let view = d.create_image_view(&info, None).map_err(text)?;
            let made = Made { rig, image, memory, conversion, sampler, view };
            made.fill(planes)?;
            Ok(made)
        }
    }

    fn fill(&self, planes: &[Plane]) -> Result<(), String> {
        let range = vk::ImageSubresourceRange {
            aspect_mask: Aspect::COLOR,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: LAYERS,
        };
        self.rig.run(|d, c| {
            let change = vk::ImageMemoryBarrier::default()
                .new_layout(vk::ImageLayout::GENERAL)
                .image(self.image)
                .subresource_range(range);
            let all = vk::PipelineStageFlags::ALL_COMMANDS;
            // SAFETY: recording with live handles.
            unsafe { d.cmd_pipeline_barrier(c, all, all, Default::default(), &[], &[], &[change]) }
        })?;
        for p in planes {
            let region = vk::BufferImageCopy::default()
                .image_subresource(layers(p.aspect, 0, 0, LAYERS))
                .image_extent(vk::Extent3D { width: p.size[0], height: p.size[1], depth: 1 });
            super::owned::upload(self.rig, self.image, region, &p.bytes)?;
        }
        Ok(())
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        let d = &self.rig.context.device;
        // SAFETY: every submission has been waited for.
        unsafe {
            d.destroy_image_view(self.view, None);
            d.destroy_sampler(self.sampler, None);
            d.destroy_sampler_ycbcr_conversion(self.conversion, None);
            d.destroy_image(self.image, None);
            self.memory.iter().for_each(|m| d.free_memory(*m, None));
        }
    }
}

/// Runs the shader on points; the samplers are immutable, the images an array.
fn run(rig: &Rig, images: &[Made; 2], points: &[[f32; 4]]) -> Result<Vec<[f32; 4]>, String> {
    let bytes: Vec<u8> = points.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let (from, to) = (
        Buffer::with(&rig.context, &bytes).map_err(text)?,
        Buffer::new(&rig.context, bytes.len()).map_err(text)?,
    );
    let d = &rig.context.device;
    let compute = vk::ShaderStageFlags::COMPUTE;
    let (both, storage) = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::STORAGE_BUFFER);
    // SAFETY: plain Vulkan calls with structs that outlive them; work is waited for before anything goes.
    unsafe {
        let code = client::words(SHADER);
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).map_err(text)?;
        let samplers = [images[0].sampler, images[1].sampler];
        let binding = |n, ty, count| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(n)
                .descriptor_type(ty)
                .descriptor_count(count)
                .stage_flags(compute)
        };
        let bindings = [
            binding(0, both, 2).immutable_samplers(&samplers),
            binding(1, storage, 1),
            binding(2, storage, 1),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [d.create_descriptor_set_layout(&info, None).map_err(text)?];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = d.create_pipeline_layout(&info, None).map_err(text)?;
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(compute).module(module).name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline =
            d.create_compute_pipelines(Default::default(), &info, None).map_err(|(_, e)| text(e))?[0];
        let sizes = [(both, 2), (storage, 2)]
            .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&info, None).map_err(text)?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = d.allocate_descriptor_sets(&info).map_err(text)?;
        let views = [&images[0], &images[1]].map(|i| vk::DescriptorImageInfo {
            image_view: i.view,
            image_layout: vk::ImageLayout::GENERAL,
            ..Default::default()
        });
        let buffers = [&from, &to]
            .map(|b| [vk::DescriptorBufferInfo { buffer: b.handle, offset: 0, range: vk::WHOLE_SIZE }]);
        let write =
            |n, ty| vk::WriteDescriptorSet::default().dst_set(sets[0]).dst_binding(n).descriptor_type(ty);
        let writes = [
            write(0, both).image_info(&views),
            write(1, storage).buffer_info(&buffers[0]),
            write(2, storage).buffer_info(&buffers[1]),
        ];
        d.update_descriptor_sets(&writes, &[]);
        let ran = rig.run(|d, c| {
            let point = vk::PipelineBindPoint::COMPUTE;
            d.cmd_bind_pipeline(c, point, pipeline);
            d.cmd_bind_descriptor_sets(c, point, layout, 0, &sets, &[]);
            d.cmd_dispatch(c, points.len() as u32 / 64, 1, 1);
            barrier(d, c);
        });
        d.destroy_descriptor_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_descriptor_set_layout(layouts[0], None);
        d.destroy_shader_module(module, None);
        ran?;
    }
    Ok(to.words().as_chunks::<4>().0.iter().map(|c| c.map(f32::from_bits)).collect())
}

fn samples(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut found = Vec::new();
    for (n, pair) in PAIRS.iter().enumerate() {
        for i in 0..32u32 {
            let how = [How::of(i + n as u32), How::of(i * 7 + 3 * n as u32)];
            let planes = [pair[0].planes(&mut random), pair[1].planes(&mut random)];
            let made = [
                Made::new(rig, &pair[0], &planes[0], &how[0], true)?,
                Made::new(rig, &pair[1], &planes[1], &how[1], false)?,
            ];
            // Sixteenths of texels that are odd: none between two texels, and some beyond the edges.
            let mut places = Vec::new();
            let points: Vec<[f32; 4]> = (0..POINTS)
                .map(|k| {
                    let uv = SIZE
                        .map(|n| f64::from(random.u32() >> 8 & 0xffff) / 65536.0 * f64::from(n + 2) - 1.0);
                    let uv = uv.map(|u| (u * 8.0).floor() / 8.0 + 1.0 / 16.0);
                    let layer = random.u32() >> 8 & 1;
                    places.push((uv, layer));
                    let st = [0, 1].map(|k| (uv[k] / f64::from(SIZE[k])) as f32);
                    [st[0], st[1], layer as f32, (k % 4) as f32]
                })
                .collect();
            let colours = run(rig, &made, &points)?;
            for (k, (got, (uv, layer))) in colours.iter().zip(places).enumerate() {
                if k % 4 == 3 {
                    let size = [SIZE[0], SIZE[1], LAYERS, SIZE[0]].map(|v| v as f32);
                    same("textureSize", *got, size)?;
                    continue;
                }
                let which = (k % 4 == 1) as usize;
                let want = how[which].colour(&pair[which], &planes[which], uv, layer);
                // Weights have 8 bits at the least ("subTexelPrecisionBits"); Tuff's have more.
                let near = got.iter().zip(want).all(|(g, w)| (f64::from(*g) - w).abs() < 1e-4);
                let what =
                    format!("{:?} {:?} at {uv:?}: {got:?}, not {want:?}", pair[which].format, how[which]);
                holds(&what, near)?;
                found.extend(got.map(|g| u64::from(g.to_bits())));
            }
        }
    }
    Ok(found)
}

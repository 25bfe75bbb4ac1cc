//! Descriptors that are not what the shader takes them for, or point to what is gone: nothing outside the device's memory is
//! read or written, and the device goes on (issue of safety: a descriptor is used only as what it is, and never outlives what
//! it points to). All of it breaks Vulkan's valid usage, so that what a shader gets is only told where the driver promises it.

use crate::gpu::{Gpu, Mapped};
use crate::listen::{Heard, listening};
use ash::vk;
use vk::DescriptorType as T;

const IMAGES: &[u8] = include_bytes!("shaders/takes_images.comp.spv");
const TEXELS: &[u8] = include_bytes!("shaders/takes_texels.comp.spv");
const SAXPY: &[u8] = include_bytes!("../../../benches/kernels/saxpy.spv");
const WORDS: usize = 256;

/// Everything that the shaders can be given.
struct Things {
    g: Gpu,
    out: Mapped,
    texels: Mapped,
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
    sampler: vk::Sampler,
    buffer_views: [vk::BufferView; 2],
    texel_buffer: vk::Buffer,
    texel_memory: vk::DeviceMemory,
}

/// A layout of set 0, a pipeline layout of it alone, and a pool that has one such set.
struct Set {
    layout: vk::DescriptorSetLayout,
    pipeline_layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

// SAFETY (all blocks): handles are alive unless said otherwise, structures outlive the calls.
impl Things {
    fn new() -> Things {
        Things::of(Gpu::new())
    }

    fn of(g: Gpu) -> Things {
        let (out, texels) = (g.buffer(WORDS), g.buffer(WORDS));
        unsafe {
            let d = &g.device;
            let format = vk::Format::R32_UINT;
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(format)
                .extent(vk::Extent3D { width: 64, height: 64, depth: 1 })
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
                .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE);
            let image = d.create_image(&info, None).unwrap();
            let need = d.get_image_memory_requirements(image);
            let kind = need.memory_type_bits.trailing_zeros();
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(kind);
            let memory = d.allocate_memory(&info, None).unwrap();
            d.bind_image_memory(image, memory, 0).unwrap();
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range);
            let view = d.create_image_view(&info, None).unwrap();
            let sampler = d.create_sampler(&Default::default(), None).unwrap();
            let usage =
                vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
            let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
            let texel_buffer = d.create_buffer(&info, None).unwrap();
            let info = vk::MemoryAllocateInfo::default().allocation_size(4096);
            let texel_memory = d.allocate_memory(&info, None).unwrap();
            d.bind_buffer_memory(texel_buffer, texel_memory, 0).unwrap();
            let buffer_views = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32_UINT].map(|format| {
                let info = vk::BufferViewCreateInfo::default()
                    .buffer(texel_buffer)
                    .format(format)
                    .range(vk::WHOLE_SIZE);
                d.create_buffer_view(&info, None).unwrap()
            });
            Things { g, out, texels, image, memory, view, sampler, buffer_views, texel_buffer, texel_memory }
        }
    }

    /// A set of these types, and the buffer of results at binding 2.
    fn set(&self, types: [T; 2]) -> Set {
        let types = [types[0], types[1], T::STORAGE_BUFFER];
        let bindings: Vec<_> = (0..3)
            .map(|i| {
                let inline = types[i] == T::INLINE_UNIFORM_BLOCK;
                vk::DescriptorSetLayoutBinding::default()
                    .binding(i as u32)
                    .descriptor_type(types[i])
                    .descriptor_count(if inline { 32 } else { 1 })
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let sizes = types.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 64 });
        unsafe {
            let d = &self.g.device;
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = d.create_descriptor_set_layout(&info, None).unwrap();
            let layouts = [layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            let pipeline_layout = d.create_pipeline_layout(&info, None).unwrap();
            let mut blocks = vk::DescriptorPoolInlineUniformBlockCreateInfo::default()
                .max_inline_uniform_block_bindings(2);
            let info =
                vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes).push_next(&mut blocks);
            let pool = d.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = d.allocate_descriptor_sets(&info).unwrap()[0];
            let infos =
                [vk::DescriptorBufferInfo { buffer: self.out.buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(2)
                .descriptor_type(T::STORAGE_BUFFER)
                .buffer_info(&infos);
            d.update_descriptor_sets(&[write], &[]);
            Set { layout, pipeline_layout, pool, set }
        }
    }

    /// Writes what belongs to a type.
    fn write(&self, set: &Set, binding: u32, ty: T) {
        let images = [vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: self.view,
            image_layout: vk::ImageLayout::GENERAL,
        }];
        let views = [self.buffer_views[binding as usize & 1]];
        let write =
            vk::WriteDescriptorSet::default().dst_set(set.set).dst_binding(binding).descriptor_type(ty);
        let write = match ty {
            T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => write.texel_buffer_view(&views),
            _ => write.image_info(&images),
        };
        unsafe { self.g.device.update_descriptor_sets(&[write], &[]) };
    }

    fn pipeline(&self, spirv: &[u8], layout: vk::PipelineLayout) -> vk::Pipeline {
        let words = shader::words(spirv);
        unsafe {
            let d = &self.g.device;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = d.create_shader_module(&info, None).unwrap();
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let p = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            d.destroy_shader_module(module, None);
            p
        }
    }

    /// Runs one workgroup and checks that the device has survived it.
    fn dispatch(
        &mut self,
        p: vk::Pipeline,
        layout: vk::PipelineLayout,
        set: vk::DescriptorSet,
        offsets: &[u32],
    ) {
        self.out.words.fill(u32::MAX);
        let point = vk::PipelineBindPoint::COMPUTE;
        self.g.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, point, p);
            d.cmd_bind_descriptor_sets(c, point, layout, 0, &[set], offsets);
            d.cmd_dispatch(c, 1, 1, 1);
        });
    }

    fn free(self, sets: Vec<Set>, pipelines: &[vk::Pipeline]) {
        unsafe {
            let d = &self.g.device;
            pipelines.iter().for_each(|p| d.destroy_pipeline(*p, None));
            for s in sets {
                d.destroy_descriptor_pool(s.pool, None);
                d.destroy_pipeline_layout(s.pipeline_layout, None);
                d.destroy_descriptor_set_layout(s.layout, None);
            }
            self.buffer_views.iter().for_each(|v| d.destroy_buffer_view(*v, None));
            d.destroy_buffer(self.texel_buffer, None);
            d.free_memory(self.texel_memory, None);
            d.destroy_image_view(self.view, None);
            d.destroy_sampler(self.sampler, None);
            d.destroy_image(self.image, None);
            d.free_memory(self.memory, None);
        }
        self.g.free(self.out);
        self.g.free(self.texels);
    }
}

const AS_IMAGES: [T; 2] = [T::COMBINED_IMAGE_SAMPLER, T::STORAGE_IMAGE];
const AS_TEXELS: [T; 2] = [T::UNIFORM_TEXEL_BUFFER, T::STORAGE_TEXEL_BUFFER];

#[test]
fn the_right_ones_work() {
    let mut t = Things::new();
    let mut ended = (vec![], vec![]);
    for (types, spirv, size) in [(AS_IMAGES, IMAGES, 64), (AS_TEXELS, TEXELS, 1024)] {
        let s = t.set(types);
        (0..2).for_each(|b| t.write(&s, b, types[b as usize]));
        let p = t.pipeline(spirv, s.pipeline_layout);
        t.dispatch(p, s.pipeline_layout, s.set, &[]);
        assert_eq!(t.out.words[..64], [size * 100; 64]);
        t.dispatch(p, s.pipeline_layout, s.set, &[]);
        assert_eq!(t.out.words[63] / 1_000_000, 5, "the second addition finds the first");
        ended.0.push(s);
        ended.1.push(p);
    }
    t.free(ended.0, &ended.1);
}

/// The pipeline's layout itself says something else than the shader.
#[test]
fn texel_buffers_are_no_images_and_images_no_texel_buffers() {
    let mut t = Things::new();
    let mut ended = (vec![], vec![]);
    for (types, spirv) in [(AS_IMAGES, TEXELS), (AS_TEXELS, IMAGES)] {
        let s = t.set(types);
        (0..2).for_each(|b| t.write(&s, b, types[b as usize]));
        let p = t.pipeline(spirv, s.pipeline_layout);
        t.dispatch(p, s.pipeline_layout, s.set, &[]);
        assert_eq!(t.out.words[..64], [0; 64], "they count as null descriptors");
        ended.0.push(s);
        ended.1.push(p);
    }
    t.free(ended.0, &ended.1);
}

#[test]
fn descriptors_of_other_types_than_the_bindings_are_not_written() {
    let mut t = Things::new();
    let s = t.set(AS_IMAGES);
    (0..2).for_each(|b| t.write(&s, b, AS_IMAGES[b as usize]));
    (0..2).for_each(|b| t.write(&s, b, AS_TEXELS[b as usize]));
    let p = t.pipeline(IMAGES, s.pipeline_layout);
    t.dispatch(p, s.pipeline_layout, s.set, &[]);
    assert_eq!(t.out.words[..64], [6400; 64], "the images that were there stay");
    t.free(vec![s], &[p]);
}

/// Bytes of an inline block where the shader has an image: made to look like descriptors of the test's own memory.
#[test]
fn a_set_of_another_layout_counts_as_none() {
    let mut t = Things::new();
    let canary = vec![0xA5A5_A5A5u32; 4096];
    let inline = t.set([T::INLINE_UNIFORM_BLOCK, T::INLINE_UNIFORM_BLOCK]);
    let at = canary.as_ptr() as u64;
    for (words, binding) in [([at, 4096, at, at], 0), ([at, 4096, at | 1, at], 1)] {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut data = vk::WriteDescriptorSetInlineUniformBlock::default().data(&bytes);
        let mut w = vk::WriteDescriptorSet::default()
            .dst_set(inline.set)
            .dst_binding(binding)
            .descriptor_type(T::INLINE_UNIFORM_BLOCK)
            .push_next(&mut data);
        w.descriptor_count = bytes.len() as u32;
        unsafe { t.g.device.update_descriptor_sets(&[w], &[]) };
    }
    let mut ended = (vec![], vec![]);
    let buffers = [T::STORAGE_BUFFER, T::STORAGE_BUFFER];
    for (types, spirv) in [(AS_IMAGES, IMAGES), (AS_TEXELS, TEXELS), (buffers, SAXPY)] {
        let s = t.set(types);
        let p = t.pipeline(spirv, s.pipeline_layout);
        t.dispatch(p, s.pipeline_layout, inline.set, &[]);
        assert!(t.out.words.iter().all(|w| *w == u32::MAX), "there is nowhere to write to");
        ended.0.push(s);
        ended.1.push(p);
    }
    assert!(canary.iter().all(|w| *w == 0xA5A5_A5A5));
    ended.0.push(inline);
    t.free(ended.0, &ended.1);
}

/// What a shader does not read may be of any layout; the log tells of what it reads.
#[test]
fn only_sets_that_a_shader_reads_are_told_of() {
    let heard = Heard::default();
    let (instance, debug, messenger) = listening(&heard);
    let mut t = Things::of(Gpu::of(instance, &[], &mut vk::PhysicalDeviceVulkan11Features::default()));
    let (read, other) = (t.set([T::STORAGE_BUFFER; 2]), t.set(AS_IMAGES));
    let layout = |layouts: &[_]| {
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(layouts);
        unsafe { t.g.device.create_pipeline_layout(&info, None) }.unwrap()
    };
    // Sets 7 and 9 of all that this process says are this test's alone.
    let wanted = layout(&[read.layout; 10]);
    let bound = layout(&[other.layout; 10]);
    let p = t.pipeline(SAXPY, wanted);
    t.dispatch(p, bound, other.set, &[]);
    let told = |set: u32| {
        let message = format!("set {set} is bound with another layout");
        heard.lock().expect("no panic").iter().any(|m| m.contains(&message))
    };
    assert!(told(0), "the shader reads set 0");
    let point = vk::PipelineBindPoint::COMPUTE;
    t.g.run(|d, c| unsafe {
        d.cmd_bind_pipeline(c, point, p);
        d.cmd_bind_descriptor_sets(c, point, bound, 7, &[other.set], &[]);
        d.cmd_bind_descriptor_sets(c, point, bound, 9, &[other.set], &[]);
        d.cmd_bind_descriptor_sets(c, point, wanted, 0, &[read.set], &[]);
        d.cmd_dispatch(c, 1, 1, 1);
    });
    assert!(!told(7) && !told(9), "{heard:?}");
    unsafe {
        t.g.device.destroy_pipeline_layout(wanted, None);
        t.g.device.destroy_pipeline_layout(bound, None);
        debug.destroy_debug_utils_messenger(messenger, None);
    }
    t.free(vec![read, other], &[p]);
}

/// Views, sampler, image and buffers are gone, and others are made in their place, while sets still name them.
#[test]
fn what_is_destroyed_may_still_be_named() {
    let mut t = Things::new();
    let mut ended = (vec![], vec![]);
    for (types, spirv) in [(AS_IMAGES, IMAGES), (AS_TEXELS, TEXELS)] {
        let s = t.set(types);
        (0..2).for_each(|b| t.write(&s, b, types[b as usize]));
        let p = t.pipeline(spirv, s.pipeline_layout);
        ended.0.push(s);
        ended.1.push(p);
    }
    unsafe {
        let d = &t.g.device;
        t.buffer_views.iter().for_each(|v| d.destroy_buffer_view(*v, None));
        d.destroy_buffer(t.texel_buffer, None);
        d.destroy_image_view(t.view, None);
        d.destroy_sampler(t.sampler, None);
        d.destroy_image(t.image, None);
        d.free_memory(t.memory, None);
        d.free_memory(t.texel_memory, None);
        d.device_wait_idle().unwrap();
    }
    // Room that was given back is used again: a stale pointer would find other things there.
    let others: Vec<_> = (0..64).map(|_| Things::new()).collect();
    let junk: Vec<Vec<u8>> = (0..4096).map(|i| vec![0x5A; 16 + i % 512]).collect();
    for i in 0..2 {
        let (p, layout, set) = (ended.1[i], ended.0[i].pipeline_layout, ended.0[i].set);
        t.dispatch(p, layout, set, &[]);
        // And written over, copied, freed.
        let copy = vk::CopyDescriptorSet::default().src_set(set).dst_set(set).descriptor_count(1);
        unsafe { t.g.device.update_descriptor_sets(&[], &[copy]) };
        t.dispatch(p, layout, set, &[]);
    }
    drop(junk);
    for o in others {
        o.free(vec![], &[]);
    }
    let fresh = Things::new();
    (t.view, t.sampler, t.image, t.memory) =
        (vk::ImageView::null(), vk::Sampler::null(), vk::Image::null(), vk::DeviceMemory::null());
    (t.texel_buffer, t.texel_memory, t.buffer_views) =
        (vk::Buffer::null(), vk::DeviceMemory::null(), [vk::BufferView::null(); 2]);
    t.free(ended.0, &ended.1);
    fresh.free(vec![], &[]);
}

#[test]
fn a_dynamic_offset_ends_with_its_buffer() {
    let mut t = Things::new();
    let dynamic = [T::STORAGE_BUFFER_DYNAMIC; 2];
    let s = t.set(dynamic);
    // Two buffers side by side in one piece of memory.
    let half = WORDS as u64 * 2;
    let (near, far) = unsafe {
        let d = &t.g.device;
        let info = vk::BufferCreateInfo::default().size(half).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let both = [0, half].map(|at| {
            let b = d.create_buffer(&info, None).unwrap();
            d.bind_buffer_memory(b, t.texels.memory, at).unwrap();
            b
        });
        (both[0], both[1])
    };
    let infos = [near; 2].map(|buffer| vk::DescriptorBufferInfo { buffer, offset: 0, range: half });
    let w = vk::WriteDescriptorSet::default().dst_set(s.set).descriptor_type(dynamic[0]).buffer_info(&infos);
    unsafe { t.g.device.update_descriptor_sets(&[w], &[]) };
    let p = t.pipeline(SAXPY, s.pipeline_layout);
    t.texels.words.fill(1f32.to_bits());
    for offset in [half as u32, half as u32 - 64, u32::MAX - 63, 1 << 31] {
        t.dispatch(p, s.pipeline_layout, s.set, &[offset, offset]);
        let other = &t.texels.words[WORDS / 2..];
        assert!(other.iter().all(|w| *w == 1f32.to_bits()), "offset {offset}: the neighbour is as it was");
    }
    assert_ne!(t.texels.words[WORDS / 2 - 1], 1f32.to_bits(), "the last 64 bytes belong to the buffer");
    unsafe { [near, far].iter().for_each(|b| t.g.device.destroy_buffer(*b, None)) };
    t.free(vec![s], &[p]);
}

/// Sets, views and samplers that one thread destroys while another writes and copies them: what Vulkan asks a program not to
/// do, and programs do.
#[test]
fn what_ends_beside_an_update() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
    use vk::Handle;
    let t = Things::new();
    let d = &t.g.device;
    let bindings = [0, 1].map(|n| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(n)
            .descriptor_type(T::COMBINED_IMAGE_SAMPLER)
            .descriptor_count(8)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    });
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let layouts = [unsafe { d.create_descriptor_set_layout(&info, None) }.unwrap(); 4];
    let sizes = [vk::DescriptorPoolSize { ty: T::COMBINED_IMAGE_SAMPLER, descriptor_count: 64 }];
    let (set, view, sampler) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let (over, updates) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|s| {
        s.spawn(|| {
            while !over.load(SeqCst) {
                let dst = vk::DescriptorSet::from_raw(set.load(SeqCst));
                let info = [vk::DescriptorImageInfo {
                    sampler: vk::Sampler::from_raw(sampler.load(SeqCst)),
                    image_view: vk::ImageView::from_raw(view.load(SeqCst)),
                    image_layout: vk::ImageLayout::GENERAL,
                }; 8];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(dst)
                    .descriptor_type(T::COMBINED_IMAGE_SAMPLER)
                    .image_info(&info);
                let copy = vk::CopyDescriptorSet::default()
                    .src_set(dst)
                    .dst_set(dst)
                    .dst_binding(1)
                    .descriptor_count(8);
                unsafe { d.update_descriptor_sets(&[write], &[copy]) };
                updates.fetch_add(1, SeqCst);
            }
        });
        let mut round = 0;
        while round < 2000 || updates.load(SeqCst) < 2000 {
            round += 1;
            unsafe {
                let range = vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                };
                let info = vk::ImageViewCreateInfo::default()
                    .image(t.image)
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(vk::Format::R32_UINT)
                    .subresource_range(range);
                let own = d.create_image_view(&info, None).unwrap();
                let samples = d.create_sampler(&Default::default(), None).unwrap();
                let info = vk::DescriptorPoolCreateInfo::default().max_sets(4).pool_sizes(&sizes);
                let pool = d.create_descriptor_pool(&info, None).unwrap();
                let info =
                    vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                view.store(own.as_raw(), SeqCst);
                sampler.store(samples.as_raw(), SeqCst);
                for one in d.allocate_descriptor_sets(&info).unwrap() {
                    set.store(one.as_raw(), SeqCst);
                    std::hint::spin_loop();
                }
                if round % 2 == 0 {
                    d.reset_descriptor_pool(pool, Default::default()).unwrap();
                }
                d.destroy_descriptor_pool(pool, None);
                d.destroy_sampler(samples, None);
                d.destroy_image_view(own, None);
            }
        }
        over.store(true, SeqCst);
    });
    unsafe { d.destroy_descriptor_set_layout(layouts[0], None) };
    t.free(vec![], &[]);
}

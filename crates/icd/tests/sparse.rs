//! Sparse buffers and images through the real loader, with values worked out from § Sparse Resources: what is bound where, what holes give
//! and keep, in what order queues bind, and what is refused.

mod images;
mod refused;

use crate::gpu::{Gpu, Mapped};
use ash::vk;
use vk::ImageUsageFlags as Usage;

/// Bytes that are bound together, and words.
const BLOCK: u64 = 64 << 10;
const WORDS: usize = BLOCK as usize / 4;
/// Red 51, green 102, blue 153, alpha 204.
const COLOUR: u32 = 0xCC99_6633;
const GREY: [f32; 4] = [0.2, 0.4, 0.6, 0.8];
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

// SAFETY (all blocks): handles are alive, structures outlive the calls.

fn gpu() -> Gpu {
    let core = vk::PhysicalDeviceFeatures::default()
        .sparse_binding(true)
        .sparse_residency_buffer(true)
        .sparse_residency_image2_d(true)
        .sparse_residency_image3_d(true)
        .sparse_residency_aliased(true)
        .shader_resource_residency(true);
    Gpu::with(&[], &mut vk::PhysicalDeviceFeatures2::default().features(core))
}

/// Memory of the type that sparse resources ask for, and its words.
pub struct Store {
    pub memory: vk::DeviceMemory,
    pub words: &'static mut [u32],
}

fn store(g: &Gpu, blocks: u64, type_bits: u32) -> Store {
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(blocks * BLOCK)
        .memory_type_index(type_bits.trailing_zeros());
    unsafe {
        let memory = g.device.allocate_memory(&info, None).expect("memory");
        let at = g.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("mapped");
        Store { memory, words: std::slice::from_raw_parts_mut(at.cast(), blocks as usize * WORDS) }
    }
}

fn buffer(g: &Gpu, bytes: u64, more: vk::BufferCreateFlags) -> (vk::Buffer, vk::MemoryRequirements) {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let flags = vk::BufferCreateFlags::SPARSE_BINDING | more;
    let info = vk::BufferCreateInfo::default().size(bytes).usage(usage).flags(flags);
    unsafe {
        let b = g.device.create_buffer(&info, None).expect("a sparse buffer");
        (b, g.device.get_buffer_memory_requirements(b))
    }
}

fn part(at: u64, bytes: u64, memory: vk::DeviceMemory, offset: u64) -> vk::SparseMemoryBind {
    vk::SparseMemoryBind::default().resource_offset(at).size(bytes).memory(memory).memory_offset(offset)
}

fn bind(g: &Gpu, info: vk::BindSparseInfo) -> Result<(), vk::Result> {
    unsafe {
        g.device.queue_bind_sparse(g.queue, &[info], vk::Fence::null())?;
        g.device.queue_wait_idle(g.queue)
    }
}

fn bind_buffer(g: &Gpu, b: vk::Buffer, parts: &[vk::SparseMemoryBind]) -> Result<(), vk::Result> {
    let of = [vk::SparseBufferMemoryBindInfo::default().buffer(b).binds(parts)];
    bind(g, vk::BindSparseInfo::default().buffer_binds(&of))
}

/// A buffer that may have holes, with memory in its first block.
pub fn bound_buffer(g: &Gpu) -> (vk::Buffer, Store) {
    let (b, need) = buffer(g, BLOCK, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let m = store(g, 1, need.memory_type_bits);
    bind_buffer(g, b, &[part(0, BLOCK, m.memory, 0)]).expect("it is bound");
    (b, m)
}

fn copy(
    d: &ash::Device,
    c: vk::CommandBuffer,
    from: vk::Buffer,
    to: vk::Buffer,
    places: [u64; 2],
    size: u64,
) {
    let region = vk::BufferCopy { src_offset: places[0], dst_offset: places[1], size };
    unsafe { d.cmd_copy_buffer(c, from, to, &[region]) };
}

#[test]
fn a_buffer_with_holes_keeps_what_is_bound() {
    let g = gpu();
    // Four blocks, the last of which is short.
    let (b, need) = buffer(&g, 3 * BLOCK + 100, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    assert_eq!((need.size, need.alignment), (4 * BLOCK, BLOCK));
    let m = store(&g, 4, need.memory_type_bits);
    let out = g.buffer(4 * WORDS);
    let read = |words: &[u32]| [0, WORDS, 2 * WORDS, 3 * WORDS + 24].map(|i| words[i]);
    let all = |d: &ash::Device, c| copy(d, c, b, out.buffer, [0; 2], 3 * BLOCK + 100);
    bind_buffer(&g, b, &[part(0, BLOCK, m.memory, 0), part(2 * BLOCK, BLOCK, m.memory, 3 * BLOCK)]).unwrap();
    g.run(|d, c| unsafe {
        d.cmd_fill_buffer(c, b, 0, vk::WHOLE_SIZE, 7);
        all(d, c);
    });
    assert_eq!(read(out.words), [7, 0, 7, 0]);
    assert_eq!([0, 1, 2, 3].map(|i| m.words[i * WORDS]), [7, 0, 0, 7], "where memory is bound");
    // Memory that two places share, and one that is gone; the resource's end is no multiple of a block.
    let parts = [
        part(BLOCK, BLOCK, m.memory, 0),
        part(2 * BLOCK, BLOCK, vk::DeviceMemory::null(), 0),
        part(3 * BLOCK, BLOCK, m.memory, BLOCK),
    ];
    bind_buffer(&g, b, &parts).unwrap();
    g.run(|d, c| unsafe {
        d.cmd_fill_buffer(c, b, BLOCK, BLOCK, 8);
        d.cmd_update_buffer(c, b, 2 * BLOCK - 4, &[9; 8]);
        d.cmd_fill_buffer(c, b, 3 * BLOCK, 100, 10);
        all(d, c);
    });
    assert_eq!(read(out.words), [8, 8, 0, 10]);
    assert_eq!(
        (out.words[2 * WORDS - 1], m.words[3 * WORDS]),
        (0x0909_0909, 7),
        "what was unbound stays as it was"
    );
    unsafe {
        // Memory that is freed while it is bound, then used: nothing but what is there no more.
        g.device.free_memory(m.memory, None);
        g.run(all);
        g.device.destroy_buffer(b, None);
    }
    g.free(out);
}

#[test]
fn binds_happen_in_the_order_of_semaphores() {
    let g = gpu();
    let d = &g.device;
    let (b, need) = buffer(&g, BLOCK, Default::default());
    let m = store(&g, 2, need.memory_type_bits);
    (m.words[0], m.words[WORDS]) = (1, 2);
    let out = g.buffer(2);
    let copies = [0, 1].map(|i| g.record(|d, c| copy(d, c, b, out.buffer, [0, 4 * i], 4)));
    unsafe {
        let other = d.get_device_queue(0, 1);
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let line =
            d.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None).unwrap();
        let binary = d.create_semaphore(&Default::default(), None).unwrap();
        let fence = d.create_fence(&Default::default(), None).unwrap();
        let (lines, binaries) = ([line], [binary]);
        // The later things first, on another queue, where they wait: the second bind for the first copy, the second copy for that bind.
        let parts = [part(0, BLOCK, m.memory, BLOCK)];
        let of = [vk::SparseBufferMemoryBindInfo::default().buffer(b).binds(&parts)];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&[2])
            .signal_semaphore_values(&[3]);
        let mut group = vk::DeviceGroupBindSparseInfo::default();
        let second = [vk::BindSparseInfo::default()
            .wait_semaphores(&lines)
            .buffer_binds(&of)
            .signal_semaphores(&lines)
            .push_next(&mut values)
            .push_next(&mut group)];
        d.queue_bind_sparse(other, &second, vk::Fence::null()).unwrap();
        let buffers = [copies[1]];
        let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&[3])
            .signal_semaphore_values(&[4]);
        let last = [vk::SubmitInfo::default()
            .wait_semaphores(&lines)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&buffers)
            .signal_semaphores(&lines)
            .push_next(&mut values)];
        d.queue_submit(other, &last, vk::Fence::null()).unwrap();
        let parts = [part(0, BLOCK, m.memory, 0)];
        let of = [vk::SparseBufferMemoryBindInfo::default().buffer(b).binds(&parts)];
        let first = [vk::BindSparseInfo::default().buffer_binds(&of).signal_semaphores(&binaries)];
        d.queue_bind_sparse(g.queue, &first, fence).unwrap();
        d.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        let buffers = [copies[0]];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&[0])
            .signal_semaphore_values(&[2]);
        let then = [vk::SubmitInfo::default()
            .wait_semaphores(&binaries)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&buffers)
            .signal_semaphores(&lines)
            .push_next(&mut values)];
        d.queue_submit(g.queue, &then, vk::Fence::null()).unwrap();
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&lines).values(&[4]);
        d.wait_semaphores(&wait, u64::MAX).unwrap();
        assert_eq!(out.words, [1, 2]);
        d.device_wait_idle().unwrap();
        // A fence alone.
        d.reset_fences(&[fence]).unwrap();
        d.queue_bind_sparse(g.queue, &[], fence).unwrap();
        d.wait_for_fences(&[fence], true, u64::MAX).unwrap();
        d.destroy_fence(fence, None);
        lines.iter().chain(&binaries).for_each(|&s| d.destroy_semaphore(s, None));
        d.destroy_buffer(b, None);
        d.free_memory(m.memory, None);
    }
    g.free(out);
}

fn image(
    g: &Gpu,
    ty: vk::ImageType,
    format: vk::Format,
    [width, height, depth]: [u32; 3],
    mips: u32,
) -> vk::Image {
    let info = vk::ImageCreateInfo::default()
        .flags(vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY)
        .image_type(ty)
        .format(format)
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(mips)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(match format {
            RGBA => {
                Usage::SAMPLED
                    | Usage::STORAGE
                    | Usage::TRANSFER_SRC
                    | Usage::TRANSFER_DST
                    | Usage::COLOR_ATTACHMENT
            }
            _ => Usage::TRANSFER_SRC | Usage::TRANSFER_DST,
        });
    unsafe { g.device.create_image(&info, None) }.expect("a sparse image")
}

/// One sparse image block of level 0 of an RGBA8 image, of 128 × 128 texels.
fn block([x, y]: [i32; 2], memory: vk::DeviceMemory, offset: u64) -> vk::SparseImageMemoryBind {
    vk::SparseImageMemoryBind::default()
        .subresource(vk::ImageSubresource {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            array_layer: 0,
        })
        .offset(vk::Offset3D { x: 128 * x, y: 128 * y, z: 0 })
        .extent(vk::Extent3D { width: 128, height: 128, depth: 1 })
        .memory(memory)
        .memory_offset(offset)
}

fn bind_blocks(g: &Gpu, i: vk::Image, blocks: &[vk::SparseImageMemoryBind]) -> Result<(), vk::Result> {
    let of = [vk::SparseImageMemoryBindInfo::default().image(i).binds(blocks)];
    bind(g, vk::BindSparseInfo::default().image_binds(&of))
}

const LAYERS: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

fn whole([width, height, depth]: [u32; 3]) -> [vk::BufferImageCopy; 1] {
    let image_extent = vk::Extent3D { width, height, depth };
    [vk::BufferImageCopy { image_subresource: LAYERS, image_extent, ..Default::default() }]
}

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// The shader with the image, a storage image, a buffer for results and one with holes.
struct Shader {
    module: vk::ShaderModule,
    set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
}

impl Shader {
    fn new(g: &Gpu) -> Shader {
        use vk::DescriptorType as T;
        let types = [T::COMBINED_IMAGE_SAMPLER, T::STORAGE_IMAGE, T::STORAGE_BUFFER, T::STORAGE_BUFFER];
        let code = shader::words(include_bytes!("shaders/sparse.comp.spv"));
        let bindings: Vec<_> = (0..4)
            .map(|n| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(n)
                    .descriptor_type(types[n as usize])
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let d = &g.device;
        unsafe {
            let module =
                d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let layouts = [set];
            let push = [vk::PushConstantRange::default().size(16).stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
            let sizes = types.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let sets = d.allocate_descriptor_sets(&info).unwrap();
            Shader { module, set, layout, pipeline, pool, sets }
        }
    }

    fn buffers(&self, g: &Gpu, all: &[(u32, vk::Buffer)]) {
        for &(binding, buffer) in all {
            let of = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.sets[0])
                .dst_binding(binding)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&of);
            unsafe { g.device.update_descriptor_sets(&[write], &[]) };
        }
    }

    fn dispatch(&self, g: &Gpu, push: [u32; 4]) {
        let point = vk::PipelineBindPoint::COMPUTE;
        let bytes: Vec<u8> = push.iter().flat_map(|w| w.to_le_bytes()).collect();
        g.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, point, self.pipeline);
            d.cmd_bind_descriptor_sets(c, point, self.layout, 0, &self.sets, &[]);
            d.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &bytes);
            d.cmd_dispatch(c, 1, 1, 1);
        });
    }

    fn free(self, g: &Gpu) {
        let d = &g.device;
        unsafe {
            d.destroy_descriptor_pool(self.pool, None);
            d.destroy_pipeline(self.pipeline, None);
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_set_layout(self.set, None);
            d.destroy_shader_module(self.module, None);
        }
    }
}

fn texels(out: &Mapped) -> Vec<[f32; 4]> {
    out.words.chunks_exact(4).map(|t| [t[0], t[1], t[2], t[3]].map(f32::from_bits)).collect()
}

#[test]
fn shaders_see_zeros_in_the_holes_of_buffers() {
    let g = gpu();
    let s = Shader::new(&g);
    let (b, need) = buffer(&g, 16 * BLOCK, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let m = store(&g, 8, need.memory_type_bits);
    let out = g.buffer(64);
    // Every other block.
    let parts: Vec<_> = (0..8).map(|i| part(2 * i * BLOCK, BLOCK, m.memory, i * BLOCK)).collect();
    bind_buffer(&g, b, &parts).unwrap();
    s.buffers(&g, &[(2, out.buffer), (3, b)]);
    // A word of each block.
    s.dispatch(&g, [2, WORDS as u32, 0, 0]);
    let found = |out: &Mapped| texels(out).iter().map(|t| (t[0], t[1])).collect::<Vec<_>>();
    let by_block = |even: fn(f32) -> (f32, f32)| {
        (0..16).map(|i| if i % 2 == 0 { even(i as f32) } else { (0.0, 0.0) }).collect::<Vec<_>>()
    };
    assert_eq!(found(&out), by_block(|i| (100.0 + i, 101.0 + i)));
    let address =
        unsafe { g.device.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(b)) };
    s.dispatch(&g, [3, WORDS as u32, address as u32, (address >> 32) as u32]);
    assert_eq!(found(&out), by_block(|i| (200.0 + i, 300.0 + i)));
    assert_eq!((m.words[0], m.words[7 * WORDS]), (300, 314));
    // What was stored to holes is nowhere.
    let all = g.buffer(16 * WORDS);
    g.run(|d, c| copy(d, c, b, all.buffer, [0; 2], 16 * BLOCK));
    assert!((0..16).all(|i| (all.words[i * WORDS] == 0) == (i % 2 != 0)));
    s.free(&g);
    unsafe {
        g.device.destroy_buffer(b, None);
        g.device.free_memory(m.memory, None);
    }
    g.free(out);
    g.free(all);
}

/// Two threads bind and unbind while a third one's work reads: zeros or what is bound, and no crash.
#[test]
fn binds_while_others_read() {
    let g = gpu();
    let (b, need) = buffer(&g, 16 * BLOCK, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let m = store(&g, 16, need.memory_type_bits);
    m.words.fill(6);
    let out = g.buffer(16 * WORDS);
    let c = g.record(|d, c| copy(d, c, b, out.buffer, [0; 2], 16 * BLOCK));
    let d = &g.device;
    let other = unsafe { d.get_device_queue(0, 1) };
    std::thread::scope(|s| {
        s.spawn(|| {
            for n in 0..400u64 {
                let memory = if n % 3 == 0 { vk::DeviceMemory::null() } else { m.memory };
                let parts = [part(n * 7 % 16 * BLOCK, BLOCK, memory, n * 5 % 16 * BLOCK)];
                let of = [vk::SparseBufferMemoryBindInfo::default().buffer(b).binds(&parts)];
                let info = [vk::BindSparseInfo::default().buffer_binds(&of)];
                unsafe { d.queue_bind_sparse(other, &info, vk::Fence::null()) }.unwrap();
            }
        });
        for _ in 0..50 {
            g.submit(c, vk::Fence::null());
            unsafe { d.queue_wait_idle(g.queue) }.unwrap();
            assert!(out.words.iter().all(|&w| w == 0 || w == 6));
        }
    });
    unsafe {
        d.device_wait_idle().unwrap();
        d.destroy_buffer(b, None);
        d.free_memory(m.memory, None);
    }
    g.free(out);
}

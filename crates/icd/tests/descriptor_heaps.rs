//! VK_EXT_descriptor_heap: each way that a binding is mapped, the heap as shaders see it, and bytes there that are no descriptors.

use crate::generated::{address, command};
use crate::gpu::{COLOUR, Gpu, Mapped, Viewed};
use ::vk as new;
use ash::vk;
use client::cooperative::{op, text};
use new::DescriptorMappingSourceEXT as Source;
use random::Random;
use std::ffi::c_void;

type WriteSamplers = unsafe extern "system" fn(
    vk::Device,
    u32,
    *const vk::SamplerCreateInfo,
    *const new::HostAddressRangeEXT,
) -> vk::Result;
pub type WriteResources = unsafe extern "system" fn(
    vk::Device,
    u32,
    *const new::ResourceDescriptorInfoEXT,
    *const new::HostAddressRangeEXT,
) -> vk::Result;
type BindHeap = unsafe extern "system" fn(vk::CommandBuffer, *const new::BindHeapInfoEXT);
type PushData = unsafe extern "system" fn(vk::CommandBuffer, *const new::PushDataInfoEXT);
type Register = unsafe extern "system" fn(
    vk::Device,
    *const vk::SamplerCustomBorderColorCreateInfoEXT,
    vk::Bool32,
    *mut u32,
) -> vk::Result;

/// Words of a descriptor.
pub const WORDS: usize = 8;

fn gpu() -> Gpu {
    let mut heaps = new::PhysicalDeviceDescriptorHeapFeaturesEXT { descriptor_heap: 1, ..Default::default() };
    let mut untyped = new::PhysicalDeviceShaderUntypedPointersFeaturesKHR {
        shader_untyped_pointers: 1,
        p_next: (&raw mut heaps).cast(),
        ..Default::default()
    };
    let mut v11 =
        vk::PhysicalDeviceVulkan11Features { p_next: (&raw mut untyped).cast(), ..Default::default() };
    let names = [c"VK_EXT_descriptor_heap", c"VK_EXT_custom_border_color", c"VK_KHR_shader_untyped_pointers"];
    Gpu::with(&names, &mut v11)
}

/// The place of descriptor `k`.
pub fn place(heap: &Mapped, k: usize) -> new::HostAddressRangeEXT<'static> {
    let address = heap.words[k * WORDS..].as_ptr().cast_mut().cast();
    new::HostAddressRangeEXT { address, size: 4 * WORDS, ..Default::default() }
}

pub fn write_buffer(g: &Gpu, heap: &Mapped, k: usize, m: &Mapped) {
    let range = new::DeviceAddressRangeEXT { address: address(g, m), size: 4 * m.words.len() as u64 };
    let data = new::ResourceDescriptorDataEXT { p_address_range: &range };
    let ty = vk::DescriptorType::STORAGE_BUFFER;
    let info = new::ResourceDescriptorInfoEXT { ty, data, ..Default::default() };
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        let write: WriteResources = command(g, c"vkWriteResourceDescriptorsEXT");
        assert_eq!(write(g.device.handle(), 1, &info, &place(heap, k)), vk::Result::SUCCESS);
    }
}

fn write_image(g: &Gpu, heap: &Mapped, k: usize, i: &Viewed) {
    let view = vk::ImageViewCreateInfo::default()
        .image(i.image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .subresource_range(COLOUR);
    let image =
        new::ImageDescriptorInfoEXT { p_view: &view, layout: vk::ImageLayout::GENERAL, ..Default::default() };
    let data = new::ResourceDescriptorDataEXT { p_image: &image };
    let ty = vk::DescriptorType::SAMPLED_IMAGE;
    let info = new::ResourceDescriptorInfoEXT { ty, data, ..Default::default() };
    unsafe {
        let write: WriteResources = command(g, c"vkWriteResourceDescriptorsEXT");
        assert_eq!(write(g.device.handle(), 1, &info, &place(heap, k)), vk::Result::SUCCESS);
    }
}

pub fn mapping<'a>(
    (descriptor_set, first_binding, binding_count): (u32, u32, u32),
    source: Source,
    source_data: new::DescriptorMappingSourceDataEXT<'a>,
) -> new::DescriptorSetAndBindingMappingEXT<'a> {
    new::DescriptorSetAndBindingMappingEXT {
        descriptor_set,
        first_binding,
        binding_count,
        resource_mask: new::SpirvResourceTypeFlagsEXT::from_raw(0x7FFF_FFFF),
        source,
        source_data,
        s_type: <new::DescriptorSetAndBindingMappingEXT as vk::TaggedStructure>::STRUCTURE_TYPE,
        p_next: std::ptr::null(),
        _marker: Default::default(),
    }
}

/// A compute pipeline without a layout.
pub fn pipeline(
    g: &Gpu,
    code: &[u32],
    mappings: &[new::DescriptorSetAndBindingMappingEXT],
) -> Result<vk::Pipeline, vk::Result> {
    let info = new::ShaderDescriptorSetAndBindingMappingInfoEXT {
        mapping_count: mappings.len() as u32,
        p_mappings: mappings.as_ptr(),
        ..Default::default()
    };
    let flags = new::PipelineCreateFlags2CreateInfoKHR {
        // VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT
        flags: new::PipelineCreateFlags2::from_raw(1 << 36),
        ..Default::default()
    };
    unsafe {
        let d = &g.device;
        let module = d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code), None).unwrap();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        stage.p_next = (&raw const info).cast();
        let mut info = vk::ComputePipelineCreateInfo::default().stage(stage);
        info.p_next = (&raw const flags).cast();
        let made = d.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
        d.destroy_shader_module(module, None);
        made.map(|p| p[0]).map_err(|e| e.1)
    }
}

pub fn dispatch(g: &Gpu, p: vk::Pipeline, heaps: [Option<(u64, u64)>; 2], data: &[u32]) {
    let bind: [BindHeap; 2] =
        unsafe { [command(g, c"vkCmdBindSamplerHeapEXT"), command(g, c"vkCmdBindResourceHeapEXT")] };
    g.run(|d, c| unsafe {
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, p);
        for (bind, (address, size)) in bind.iter().zip(heaps).filter_map(|(b, h)| Some((b, h?))) {
            let heap_range = new::DeviceAddressRangeEXT { address, size };
            bind(c, &new::BindHeapInfoEXT { heap_range, ..Default::default() });
        }
        let push: PushData = command(g, c"vkCmdPushDataEXT");
        let data = new::HostAddressRangeConstEXT {
            address: data.as_ptr().cast::<c_void>(),
            size: size_of_val(data),
            ..Default::default()
        };
        push(c, &new::PushDataInfoEXT { data, ..Default::default() });
        d.cmd_dispatch(c, 1, 1, 1);
    });
}

pub fn heap_of(g: &Gpu, m: &Mapped) -> (u64, u64) {
    (address(g, m), 4 * m.words.len() as u64)
}

/// Descriptors of the test: outputs, five others' room, two inputs, an image; then plain data.
const OUT: usize = 0;
const INS: usize = 6;
const IMAGE: usize = 8;
const DATA: usize = 9;

#[test]
fn each_mapping_leads_where_it_says() {
    let g = gpu();
    let d = &g.device;
    let [heap, out, a, b] = [16 * WORDS, 16, 4, 4].map(|n| g.buffer(n));
    let image = g.image([1, 1], vk::ImageUsageFlags::SAMPLED);
    a.words.copy_from_slice(&[10, 11, 12, 13]);
    b.words.copy_from_slice(&[20, 21, 22, 23]);
    heap.words.fill(0);
    write_buffer(&g, &heap, OUT, &out);
    write_buffer(&g, &heap, INS, &a);
    write_buffer(&g, &heap, INS + 1, &b);
    write_image(&g, &heap, IMAGE, &image);
    heap.words[DATA * WORDS + 4] = 77;
    // Where the indirect address leads: the address of b's third word.
    let pointer = address(&g, &b) + 8;
    heap.words[DATA * WORDS + 6..][..2].copy_from_slice(&[pointer as u32, (pointer >> 32) as u32]);
    let mut index = 5;
    let colour = vk::ClearColorValue { float32: [0.0, 1.0, 0.0, 0.0] };
    let colour = vk::SamplerCustomBorderColorCreateInfoEXT::default().custom_border_color(colour);
    unsafe {
        let register: Register = command(&g, c"vkRegisterCustomBorderColorEXT");
        assert_eq!(register(d.handle(), &colour, 1, &mut index), vk::Result::SUCCESS);
        let again = register(d.handle(), &colour, 1, &mut index);
        assert_eq!(again, vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, "it is taken");
    }
    let named = new::SamplerCustomBorderColorIndexCreateInfoEXT { index, ..Default::default() };
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let mut sampler = vk::SamplerCreateInfo::default()
        .address_mode_u(border)
        .address_mode_v(border)
        .border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
    sampler.p_next = (&raw const named).cast();
    let descriptor = 4 * WORDS as u32;
    let constant = |k: usize, embedded| new::DescriptorMappingSourceDataEXT {
        constant_offset: new::DescriptorMappingSourceConstantOffsetEXT {
            heap_offset: k as u32 * descriptor,
            heap_array_stride: descriptor,
            p_embedded_sampler: embedded,
            ..Default::default()
        },
    };
    let none = std::ptr::null();
    // The index in push data is 2, three descriptors each; the first binding of the mapping is one before.
    let pushed = new::DescriptorMappingSourcePushIndexEXT {
        heap_offset: 0,
        push_offset: 0,
        heap_index_stride: 3 * descriptor,
        heap_array_stride: descriptor,
        ..Default::default()
    };
    let in_heap =
        new::DescriptorMappingSourceHeapDataEXT { heap_offset: DATA as u32 * descriptor, push_offset: 4 };
    let indirect = new::DescriptorMappingSourceIndirectAddressEXT { push_offset: 24, address_offset: 8 };
    let mut mappings = [
        mapping((3, 5, 1), Source::HEAP_WITH_CONSTANT_OFFSET, constant(OUT, none)),
        mapping(
            (3, 6, 9),
            Source::HEAP_WITH_PUSH_INDEX,
            new::DescriptorMappingSourceDataEXT { push_index: pushed },
        ),
        mapping((0, 0, 1), Source::PUSH_DATA, new::DescriptorMappingSourceDataEXT { push_data_offset: 8 }),
        mapping(
            (0, 1, 1),
            Source::PUSH_ADDRESS,
            new::DescriptorMappingSourceDataEXT { push_address_offset: 16 },
        ),
        mapping(
            (0, 2, 1),
            Source::RESOURCE_HEAP_DATA,
            new::DescriptorMappingSourceDataEXT { heap_data: in_heap },
        ),
        mapping(
            (0, 3, 1),
            Source::INDIRECT_ADDRESS,
            new::DescriptorMappingSourceDataEXT { indirect_address: indirect },
        ),
        mapping((1, 0, 1), Source::HEAP_WITH_CONSTANT_OFFSET, constant(IMAGE, &sampler)),
    ];
    let code = shader::words(include_bytes!("shaders/heaps.comp.spv"));
    assert!(pipeline(&g, &code, &mappings[..6]).is_err(), "a binding without a mapping");
    let p = pipeline(&g, &code, &mappings).expect("a pipeline");
    let to_a = address(&g, &a) + 12;
    // After it, 8 bytes on, lies the pointer.
    let to_pointer = heap_of(&g, &heap).0 + (DATA * WORDS + 4) as u64 * 4;
    let split = |x: u64| [x as u32, (x >> 32) as u32];
    let data = [[2, 16], [1234, 5678], split(to_a), split(to_pointer)].concat();
    dispatch(&g, p, [None, Some(heap_of(&g, &heap))], &data);
    let one = 1f32.to_bits();
    assert_eq!(out.words[..9], [11, 21, 1234, 5678, 13, 77, 22, 0, one]);
    // With the sampler in a heap: white.
    let samplers = g.buffer(2 * WORDS);
    let white = sampler.border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE);
    unsafe {
        let write: WriteSamplers = command(&g, c"vkWriteSamplerDescriptorsEXT");
        assert_eq!(write(d.handle(), 1, &white, &place(&samplers, 1)), vk::Result::SUCCESS);
    }
    mappings[6].source_data.constant_offset = new::DescriptorMappingSourceConstantOffsetEXT {
        p_embedded_sampler: none,
        sampler_heap_offset: descriptor,
        ..unsafe { mappings[6].source_data.constant_offset }
    };
    let q = pipeline(&g, &code, &mappings).expect("a pipeline");
    dispatch(&g, q, [Some(heap_of(&g, &samplers)), Some(heap_of(&g, &heap))], &data);
    assert_eq!(out.words[..9], [11, 21, 1234, 5678, 13, 77, 22, one, one]);

    // An index far beyond the heap, a heap that ends before the image, an image that is gone: nothing is there.
    let (own, resources, whole) = (heap_of(&g, &samplers), address(&g, &heap), heap_of(&g, &heap).1);
    let heap_only = |bytes: u64| [Some(own), Some((resources, bytes))];
    let far = [&[0x0FFF_FFFF][..], &data[1..]].concat();
    dispatch(&g, q, heap_only(whole), &far);
    assert_eq!(out.words[..4], [0, 0, 1234, 5678]);
    dispatch(&g, q, heap_only((IMAGE * WORDS * 4) as u64 + 31), &data);
    assert_eq!(out.words[..9], [11, 21, 1234, 5678, 13, 0, 22, 0, 0]);
    g.free_image(image);
    dispatch(&g, q, heap_only(whole), &data);
    assert_eq!(out.words[..9], [11, 21, 1234, 5678, 13, 77, 22, 0, 0]);
    // Any bytes: a tag with anything after it, bit by bit. What is read is nobody's business, but that it ends is.
    let mut r = Random::new(1);
    for round in 0..2000 {
        for w in &mut heap.words[INS * WORDS..] {
            *w = r.u32();
        }
        for k in INS..=IMAGE {
            heap.words[k * WORDS] = 0x7475_6601 + (round + k as u32) % 7;
        }
        samplers.words[WORDS + 1..].copy_from_slice(&heap.words[INS * WORDS + 1..][..WORDS - 1]);
        let [low, high] = split(to_a);
        heap.words[DATA * WORDS + 6..][..2].copy_from_slice(&[low, high]);
        dispatch(&g, q, heap_only(whole), &data);
        assert_eq!(out.words[2..5], [1234, 5678, 13]);
    }
    unsafe {
        d.destroy_pipeline(p, None);
        d.destroy_pipeline(q, None);
    }
    for m in [heap, out, a, b, samplers] {
        g.free(m);
    }
}

/// The heap's variable: a buffer by its descriptor, the size of one, and the heap's bytes as they are.
#[test]
fn shaders_see_the_heap() {
    let [main, void, function, uint, uints, block, in_heap, in_buffer, of_buffer] =
        [1, 2, 3, 4, 5, 6, 7, 8, 9];
    let [size, all, heap, one, two, three] = [10, 11, 12, 13, 14, 15];
    let [label, p, buffer, at, q, loaded, behind] = [20, 21, 22, 23, 24, 25, 26];
    const UNIFORM_CONSTANT: u32 = 0;
    const STORAGE: u32 = 12;
    let code = [
        // Shader, UntypedPointersKHR, DescriptorHeapEXT
        op(17, &[1]),
        op(17, &[4473]),
        op(17, &[5128]),
        op(10, &text("SPV_KHR_untyped_pointers")),
        op(10, &text("SPV_EXT_descriptor_heap")),
        op(14, &[0, 1]),
        op(15, &[&[5, main][..], &text("main"), &[heap]].concat()),
        op(16, &[main, 17, 1, 1, 1]),
        // ResourceHeapEXT; ArrayStrideIdEXT
        op(71, &[heap, 11, 5123]),
        op(332, &[all, 5124, size]),
        op(71, &[uints, 6, 4]),
        op(71, &[block, 2]),
        op(72, &[block, 0, 35, 0]),
        op(19, &[void]),
        op(33, &[function, void]),
        op(21, &[uint, 32, 0]),
        op(29, &[uints, uint]),
        op(30, &[block, uints]),
        op(43, &[uint, one, 1]),
        op(43, &[uint, two, 2]),
        op(43, &[uint, three, 3]),
        op(4417, &[in_heap, UNIFORM_CONSTANT]),
        op(4417, &[in_buffer, STORAGE]),
        // OpTypeBufferEXT, OpConstantSizeOfEXT
        op(5115, &[of_buffer, STORAGE]),
        op(5129, &[uint, size, of_buffer]),
        op(29, &[all, of_buffer]),
        op(4418, &[in_heap, heap, UNIFORM_CONSTANT]),
        op(54, &[void, main, 0, function]),
        op(248, &[label]),
        op(4419, &[in_heap, p, all, heap, one]),
        // OpBufferPointerEXT
        op(5119, &[in_buffer, buffer, p]),
        op(4419, &[in_buffer, at, uints, buffer, two]),
        op(62, &[at, size]),
        op(4419, &[in_heap, q, uints, heap, three]),
        op(61, &[uint, loaded, q]),
        op(4419, &[in_buffer, behind, uints, buffer, three]),
        op(62, &[behind, loaded]),
        op(253, &[]),
        op(56, &[]),
    ];
    let words = [&[0x0723_0203, 0x0001_0300, 0, 100, 0][..], &code.concat()].concat();
    let g = gpu();
    let [heap, out] = [2 * WORDS, 4].map(|n| g.buffer(n));
    heap.words.fill(0);
    heap.words[3] = 99;
    out.words.fill(7);
    write_buffer(&g, &heap, 1, &out);
    let made = pipeline(&g, &words, &[]).expect("a pipeline");
    dispatch(&g, made, [None, Some(heap_of(&g, &heap))], &[]);
    assert_eq!(*out.words, [7, 7, 4 * WORDS as u32, 99]);
    // Without the heap, and with one that ends before the descriptor, nothing is stored.
    out.words.fill(7);
    dispatch(&g, made, [None, None], &[]);
    dispatch(&g, made, [None, Some((address(&g, &heap), 4 * WORDS as u64 + 31))], &[]);
    assert_eq!(*out.words, [7; 4]);
    // SAFETY: nobody uses it any more.
    unsafe { g.device.destroy_pipeline(made, None) };
    g.free(heap);
    g.free(out);
}

//! Acceleration structures as descriptors: in sets, in descriptor buffers and in descriptor heaps. Each query fetches the vertices that
//! it hits.

use super::scene::*;
use crate::descriptor_heaps::{self as heaps, heap_of};
use crate::generated::command;
use ::vk as new;
use ash::vk;
use new::DescriptorMappingSourceEXT as Source;
use vk::DescriptorType as T;

/// The shader, which stores the vertices of the committed triangle where it stores an array that is constant.
fn fetching() -> Vec<u32> {
    let words = shader::words(include_bytes!("../shaders/rays_bound.comp.spv"));
    let (mut arrays, mut constants, mut query) = (vec![], vec![], [0; 2]);
    let new_id = words[3];
    let mut out = words[..5].to_vec();
    out[3] += 1;
    let (mut at, mut stores) = (5, 0);
    while at < words.len() {
        let (op, n) = (words[at] & 0xFFFF, (words[at] >> 16) as usize);
        let own = &words[at..at + n];
        match op {
            // OpMemoryModel, after capabilities and extensions.
            14 => {
                let name = b"SPV_KHR_ray_tracing_position_fetch\0\0";
                let name = name.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w));
                out.extend([10 | 10 << 16]);
                out.extend(name);
            }
            // The first OpCapability: RayQueryPositionFetchKHR.
            17 if at == 5 => out.extend([17 | 2 << 16, 5391]),
            28 => arrays.push(own[1]),
            44 if arrays.contains(&own[1]) => constants.push((own[2], own[1])),
            // OpRayQueryGetIntersectionTypeKHR: the query and the constant for what is committed.
            4479 => query = [own[3], own[4]],
            62 => {
                if let Some((_, ty)) = constants.iter().find(|c| c.0 == own[2]) {
                    out.extend([
                        5340 | 5 << 16,
                        *ty,
                        new_id,
                        query[0],
                        query[1],
                        62 | 3 << 16,
                        own[1],
                        new_id,
                    ]);
                    stores += 1;
                    at += n;
                    continue;
                }
            }
            _ => {}
        }
        out.extend(own);
        at += n;
    }
    assert_eq!(stores, 1);
    out
}

/// The type of the hit, t, and the vertices: the highest layer's.
fn want() -> [u32; 11] {
    let t = 2.0f32.to_bits();
    let v = [0.0f32, 0.0, 3.0, 1.0, 0.0, 3.0, 0.0, 1.0, 3.0].map(f32::to_bits);
    let mut out = [1, t, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    out[2..].copy_from_slice(&v);
    out
}

/// A pipeline of a layout with a set of the two bindings. SAFETY (all blocks): handles are alive, structures outlive the calls.
fn with_set(
    rig: &Rig,
    layout: vk::DescriptorSetLayoutCreateFlags,
    flags: vk::PipelineCreateFlags,
) -> (vk::DescriptorSetLayout, vk::PipelineLayout, vk::Pipeline) {
    let d = &rig.gpu.device;
    let binding = |n, ty| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(n)
            .descriptor_type(ty)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let bindings = [binding(0, T::ACCELERATION_STRUCTURE_KHR), binding(1, T::STORAGE_BUFFER)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().flags(layout).bindings(&bindings);
    let code = fetching();
    unsafe {
        let set = d.create_descriptor_set_layout(&info, None).expect("a layout");
        let sets = [set];
        let whole = d
            .create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&sets), None)
            .expect("a layout");
        let module = d
            .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
            .expect("a module");
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(whole).flags(flags)];
        let made = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).expect("a pipeline")[0];
        d.destroy_shader_module(module, None);
        (set, whole, made)
    }
}

#[test]
fn structures_in_sets_are_hit() {
    let rig = Rig::new();
    let (scene, out) = (rig.scene(), rig.memory(16));
    let d = &rig.gpu.device;
    let (layout, whole, pipeline) = with_set(&rig, Default::default(), Default::default());
    unsafe {
        let sizes = [T::ACCELERATION_STRUCTURE_KHR, T::STORAGE_BUFFER]
            .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
        let pool = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&pool, None).expect("a pool");
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = d.allocate_descriptor_sets(&info).expect("a set")[0];
        let all = [scene.handle];
        let mut named =
            vk::WriteDescriptorSetAccelerationStructureKHR::default().acceleration_structures(&all);
        let first = vk::WriteDescriptorSet { descriptor_count: 1, ..Default::default() }
            .dst_set(set)
            .descriptor_type(T::ACCELERATION_STRUCTURE_KHR)
            .push_next(&mut named);
        let buffers = [vk::DescriptorBufferInfo { buffer: out.buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let second = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(1)
            .descriptor_type(T::STORAGE_BUFFER)
            .buffer_info(&buffers);
        d.update_descriptor_sets(&[first, second], &[]);
        rig.run(|d, c| {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
            d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, whole, 0, &[set], &[]);
            d.cmd_dispatch(c, 1, 1, 1);
        })
        .expect("it runs");
        assert_eq!(out.read()[..11], want());
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(whole, None);
        d.destroy_descriptor_set_layout(layout, None);
        d.destroy_descriptor_pool(pool, None);
    }
}

/// Buffers share an allocation, one after the other, each at the next multiple of its alignment: as VMA places them.
#[test]
fn structures_beside_other_buffers_are_hit() {
    let rig = Rig::new();
    let d = &rig.gpu.device;
    let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
    let new_usage = vk::BufferUsageFlags2CreateInfoKHR {
        usage: vk::BufferUsageFlags2KHR::from_raw(usage.as_raw().into()),
        ..Default::default()
    };
    let mut by_new_usage = new_usage;
    let of_new = vk::BufferCreateInfo::default().size(4096).push_next(&mut by_new_usage);
    // SAFETY (the block): handles are alive, structures outlive the calls.
    unsafe {
        let buffer = d.create_buffer(&info, None).expect("a buffer");
        let need = d.get_buffer_memory_requirements(buffer);
        for info in [&info, &of_new] {
            let asked = vk::DeviceBufferMemoryRequirements::default().create_info(info);
            let mut said = vk::MemoryRequirements2::default();
            d.get_device_buffer_memory_requirements(&asked, &mut said);
            assert_eq!(said.memory_requirements.alignment, need.alignment);
        }
        // After a buffer of 64 bytes.
        let at = 64u64.next_multiple_of(need.alignment);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let memory = vk::MemoryAllocateInfo::default().allocation_size(at + need.size).push_next(&mut flags);
        let memory = d.allocate_memory(&memory, None).expect("memory");
        d.bind_buffer_memory(buffer, memory, at).expect("it is bound");
        let info = vk::AccelerationStructureCreateInfoKHR::default()
            .buffer(buffer)
            .size(4096)
            .ty(Type::BOTTOM_LEVEL);
        let handle = rig.structures.create_acceleration_structure(&info, None).expect("a structure");
        let bottom = Structure { handle, memory: rig.memory(4), size: 4096 };
        let bounds = rig.with(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0f32].map(f32::to_bits));
        rig.build_into(Type::BOTTOM_LEVEL, Flags::empty(), &[boxes(bounds.address)], &[1], None, &bottom)
            .expect("a build");
        assert!(rig.address(&bottom).is_multiple_of(256));
        let top = rig.top(Flags::empty(), &[of(IDENTITY, 1, 0xFF, 0, rig.address(&bottom))]);
        let ray = Ray { own: [1, 4.5f32.to_bits()], ..Ray::new([0.5, 0.5, 5.0], [0.0, 0.0, -1.0]) };
        let hit = rig.query(rig.address(&top), &[ray]).expect("it runs");
        // A box is hit.
        assert_eq!(hit[0][0], 2);
        rig.structures.destroy_acceleration_structure(handle, None);
        d.destroy_buffer(buffer, None);
        d.free_memory(memory, None);
    }
}

#[test]
fn structures_in_descriptor_buffers_are_hit() {
    let rig = Rig::new();
    let (scene, out) = (rig.scene(), rig.memory(16));
    let d = &rig.gpu.device;
    let buffers = ash::ext::descriptor_buffer::Device::new(&rig.gpu.instance, d);
    let (layout, whole, pipeline) = with_set(
        &rig,
        vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT,
        vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT,
    );
    // A whole set; then one whose structure's address is none, and one of zeros.
    let wild = [rig.address(&scene), 0xdead_0100, 0];
    for (k, at) in wild.into_iter().enumerate() {
        unsafe {
            let mut bytes = vec![0u8; buffers.get_descriptor_set_layout_size(layout) as usize];
            let mut put = |binding, info: &vk::DescriptorGetInfoEXT, n: usize| {
                let offset = buffers.get_descriptor_set_layout_binding_offset(layout, binding) as usize;
                buffers.get_descriptor(info, &mut bytes[offset..offset + n]);
            };
            let data = vk::DescriptorDataEXT { acceleration_structure: at };
            put(0, &vk::DescriptorGetInfoEXT::default().ty(T::ACCELERATION_STRUCTURE_KHR).data(data), 32);
            let named = vk::DescriptorAddressInfoEXT::default().address(out.address).range(64);
            let data = vk::DescriptorDataEXT { p_storage_buffer: &named };
            put(1, &vk::DescriptorGetInfoEXT::default().ty(T::STORAGE_BUFFER).data(data), 32);
            if k == 2 {
                bytes[..8].fill(0);
            }
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
            let memory = rig.with(&words);
            out.write(0, &[7; 16]);
            rig.run(|d, c| {
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
                let bound = vk::DescriptorBufferBindingInfoEXT::default()
                    .address(memory.address)
                    .usage(vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT);
                buffers.cmd_bind_descriptor_buffers(c, &[bound]);
                let point = vk::PipelineBindPoint::COMPUTE;
                buffers.cmd_set_descriptor_buffer_offsets(c, point, whole, 0, &[0], &[0]);
                d.cmd_dispatch(c, 1, 1, 1);
            })
            .expect("it runs");
        }
        let got = out.read();
        match k {
            0 => assert_eq!(got[..11], want()),
            _ => assert_eq!(got[0], 0, "a miss: {got:x?}"),
        }
    }
    unsafe {
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(whole, None);
        d.destroy_descriptor_set_layout(layout, None);
    }
}

#[test]
fn structures_in_heaps_are_hit() {
    let rig = Rig::new();
    let scene = rig.scene();
    let g = &rig.gpu;
    let [heap, out] = [16 * heaps::WORDS, 16].map(|n| g.buffer(n));
    heap.words.fill(0);
    let range = new::DeviceAddressRangeEXT { address: rig.address(&scene), size: scene.size };
    let data = new::ResourceDescriptorDataEXT { p_address_range: &range };
    let info =
        new::ResourceDescriptorInfoEXT { ty: T::ACCELERATION_STRUCTURE_KHR, data, ..Default::default() };
    unsafe {
        let write: heaps::WriteResources = command(g, c"vkWriteResourceDescriptorsEXT");
        let place = heaps::place(&heap, 3);
        assert_eq!(write(g.device.handle(), 1, &info, &place), vk::Result::SUCCESS);
    }
    heaps::write_buffer(g, &heap, 5, &out);
    let at = |k: u32| new::DescriptorMappingSourceDataEXT {
        constant_offset: new::DescriptorMappingSourceConstantOffsetEXT {
            heap_offset: k * 4 * heaps::WORDS as u32,
            ..Default::default()
        },
    };
    let constant = Source::HEAP_WITH_CONSTANT_OFFSET;
    let mappings = [heaps::mapping((0, 0, 1), constant, at(3)), heaps::mapping((0, 1, 1), constant, at(5))];
    let pipeline = heaps::pipeline(g, &fetching(), &mappings).expect("a pipeline");
    out.words.fill(7);
    heaps::dispatch(g, pipeline, [None, Some(heap_of(g, &heap))], &[0]);
    assert_eq!(out.words[..11], want());
    unsafe { g.device.destroy_pipeline(pipeline, None) };
}

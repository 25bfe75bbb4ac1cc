//! Protected memory (§ Protected Memory): what a host and unprotected submissions may not do, and what protected ones may not write.

use crate::common::physical_device;
use crate::listen::{Heard, listening};
use ::vk as new;
use ash::vk;

const BYTES: u64 = 256;

/// Types by their bits: those that programs have always found come first, and none but the last is protected.
fn types(i: &ash::Instance, p: vk::PhysicalDevice) -> Vec<vk::MemoryPropertyFlags> {
    let all = unsafe { i.get_physical_device_memory_properties(p) };
    all.memory_types[..all.memory_type_count as usize].iter().map(|t| t.property_flags).collect()
}

struct Rig {
    device: ash::Device,
    queue: vk::Queue,
    /// Of unprotected and of protected command buffers.
    pools: [vk::CommandPool; 2],
}

impl Rig {
    fn new(i: &ash::Instance, p: vk::PhysicalDevice) -> Rig {
        let one = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .flags(vk::DeviceQueueCreateFlags::PROTECTED)
            .queue_priorities(&one)];
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default().protected_memory(true);
        let mut tensors = new::PhysicalDeviceTensorFeaturesARM { tensors: 1, ..Default::default() };
        v11.p_next = (&raw mut tensors).cast();
        let names = [c"VK_ARM_tensors".as_ptr()];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut v11);
        unsafe {
            let device = i.create_device(p, &info, None).unwrap();
            assert_eq!(device.get_device_queue(0, 0), vk::Queue::null());
            let wanted = vk::DeviceQueueInfo2::default().flags(vk::DeviceQueueCreateFlags::PROTECTED);
            let queue = device.get_device_queue2(&wanted);
            let pools = [vk::CommandPoolCreateFlags::empty(), vk::CommandPoolCreateFlags::PROTECTED];
            let pools = pools.map(|f| {
                let info = vk::CommandPoolCreateInfo::default().flags(f);
                device.create_command_pool(&info, None).unwrap()
            });
            Rig { device, queue, pools }
        }
    }

    fn buffer(&self, protected: bool) -> (vk::Buffer, vk::DeviceMemory) {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        let flags = if protected { vk::BufferCreateFlags::PROTECTED } else { Default::default() };
        let info = vk::BufferCreateInfo::default().size(BYTES).usage(usage).flags(flags);
        unsafe {
            let buffer = self.device.create_buffer(&info, None).unwrap();
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let ty = needs.memory_type_bits.trailing_zeros();
            assert_eq!(ty == 3, protected);
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(ty);
            let memory = self.device.allocate_memory(&info, None).unwrap();
            self.device.bind_buffer_memory(buffer, memory, 0).unwrap();
            (buffer, memory)
        }
    }

    /// Records, submits and waits; both are protected or not.
    fn run(&self, protected: bool, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let pool = self.pools[usize::from(protected)];
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        unsafe {
            let c = self.device.allocate_command_buffers(&info).unwrap()[0];
            self.device.begin_command_buffer(c, &Default::default()).unwrap();
            record(&self.device, c);
            self.device.end_command_buffer(c).unwrap();
            self.submit(c, protected);
        }
    }

    unsafe fn submit(&self, c: vk::CommandBuffer, protected: bool) {
        let buffers = [c];
        let mut how = vk::ProtectedSubmitInfo::default().protected_submit(protected);
        let info = [vk::SubmitInfo::default().command_buffers(&buffers).push_next(&mut how)];
        unsafe {
            self.device.queue_submit(self.queue, &info, vk::Fence::null()).unwrap();
            self.device.device_wait_idle().unwrap();
        }
    }
}

fn copy(d: &ash::Device, c: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer) {
    let region = [vk::BufferCopy { size: BYTES, ..Default::default() }];
    unsafe { d.cmd_copy_buffer(c, from, to, &region) };
}

/// One that any dispatch can have.
fn pipeline(d: &ash::Device) -> (vk::PipelineLayout, vk::Pipeline) {
    let spirv = include_bytes!("shaders/short.comp.spv");
    let words: Vec<u32> = spirv.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(128)];
    unsafe {
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap();
        d.destroy_shader_module(module, None);
        (layout, made[0])
    }
}

#[test]
fn what_protected_memory_forbids_is_told_and_left_out() {
    let heard = Heard::default();
    let (i, debug, messenger) = listening(&heard);
    let told = || std::mem::take(&mut *heard.lock().expect("no panic"));
    let p = physical_device(&i);
    let all = types(&i, p);
    use vk::MemoryPropertyFlags as M;
    assert_eq!(all[3], M::DEVICE_LOCAL | M::PROTECTED);
    assert!(all[..3].iter().all(|t| !t.contains(M::PROTECTED)));
    let families = unsafe { i.get_physical_device_queue_family_properties(p) };
    assert!(families.iter().all(|f| f.queue_flags.contains(vk::QueueFlags::PROTECTED)));
    let rig = Rig::new(&i, p);
    let d = &rig.device;
    let (open, visible) = rig.buffer(false);
    let (secret, hidden) = rig.buffer(true);
    let words = unsafe { d.map_memory(visible, 0, BYTES, Default::default()).unwrap().cast::<[u32; 64]>() };
    unsafe { words.write([1; 64]) };
    assert_eq!(told(), [""; 0]);

    // The host: mapping, exporting, binding what is not protected.
    unsafe {
        assert!(d.map_memory(hidden, 0, BYTES, Default::default()).is_err());
        assert!(told()[0].contains("cannot be mapped"));
        let mut export = vk::ExportMemoryAllocateInfo::default()
            .handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(BYTES)
            .memory_type_index(3)
            .push_next(&mut export);
        assert!(d.allocate_memory(&info, None).is_err());
        assert!(told()[0].contains("neither imported nor exported"));
        for (flags, memory) in [(vk::BufferCreateFlags::PROTECTED, visible), (Default::default(), hidden)] {
            let usage = vk::BufferUsageFlags::TRANSFER_DST;
            let info = vk::BufferCreateInfo::default().size(BYTES).usage(usage).flags(flags);
            let buffer = d.create_buffer(&info, None).unwrap();
            assert!(d.bind_buffer_memory(buffer, memory, 0).is_err());
            assert!(told()[0].contains("protected memory is for protected resources"));
            d.destroy_buffer(buffer, None);
        }
        let flags = vk::BufferCreateFlags::PROTECTED | vk::BufferCreateFlags::SPARSE_BINDING;
        let info = vk::BufferCreateInfo::default().size(BYTES).flags(flags);
        assert!(d.create_buffer(&info, None).is_err());
        assert!(told()[0].contains("sparse resources cannot be"));
    }

    // Into protected memory by a protected submission: that is what they are for.
    rig.run(true, |d, c| copy(d, c, open, secret));
    assert_eq!(told(), [""; 0]);
    // And all that is forbidden: nothing of it happens, but what stands around it does.
    let queries = {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(1);
        unsafe { d.create_query_pool(&info, None).unwrap() }
    };
    let (layout, pipeline) = pipeline(d);
    type Case<'a> = (bool, &'a str, &'a dyn Fn(&ash::Device, vk::CommandBuffer));
    let cases: [Case; 5] = [
        (false, "vkCmdCopyBuffer2 reads protected memory in an unprotected submission", &|d, c| {
            copy(d, c, secret, open)
        }),
        (false, "vkCmdFillBuffer writes protected memory in an unprotected submission", &|d, c| unsafe {
            d.cmd_fill_buffer(c, secret, 0, BYTES, 5)
        }),
        (true, "vkCmdCopyBuffer2 writes unprotected memory in a protected submission", &|d, c| {
            copy(d, c, secret, open)
        }),
        (true, "vkCmdBeginQuery performs a query in a protected submission", &|d, c| unsafe {
            d.cmd_begin_query(c, queries, 0, Default::default());
            d.cmd_end_query(c, queries, 0);
        }),
        (true, "vkCmdDispatchIndirect is indirect, in a protected submission", &|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
            d.cmd_dispatch_indirect(c, secret, 0);
        }),
    ];
    for (protected, line, record) in cases {
        rig.run(protected, record);
        let told = told();
        let what = told.iter().filter(|t| t.contains(line) && t.ends_with("it is left out")).count();
        assert_eq!((what, told.len()), (1, 1), "{line}: {told:?}");
        assert_eq!(unsafe { words.read() }, [1u32; 64], "{line}");
    }
    rig.run(false, |d, c| unsafe {
        copy(d, c, secret, open);
        d.cmd_fill_buffer(c, open, 0, BYTES / 2, 3);
    });
    assert_eq!(told().len(), 1);
    assert_eq!(unsafe { words.read() }[31..33], [3, 1]);

    // Command buffers of the other kind, and a queue that was not created for it.
    let info = vk::CommandBufferAllocateInfo::default().command_pool(rig.pools[0]).command_buffer_count(1);
    unsafe {
        let c = d.allocate_command_buffers(&info).unwrap()[0];
        d.begin_command_buffer(c, &Default::default()).unwrap();
        d.end_command_buffer(c).unwrap();
        rig.submit(c, true);
    }
    let lines = told();
    assert!(
        lines.len() == 1 && lines[0].contains("a protected submission of an unprotected command buffer"),
        "{lines:?}"
    );
    tensors(&i, &rig, &told);
    unsafe {
        d.destroy_query_pool(queries, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        rig.pools.iter().for_each(|p| d.destroy_command_pool(*p, None));
        [open, secret].iter().for_each(|b| d.destroy_buffer(*b, None));
        [visible, hidden].iter().for_each(|m| d.free_memory(*m, None));
        d.destroy_device(None);
    }
    without_the_feature(&i, p);
    assert!(told()[0].contains("the feature protectedMemory is not enabled"));
    unsafe {
        debug.destroy_debug_utils_messenger(messenger, None);
        i.destroy_instance(None);
    }
}

/// Tensors: what memory they need and may have, and copies of them.
fn tensors(i: &ash::Instance, rig: &Rig, told: &dyn Fn() -> Vec<String>) {
    type Any = unsafe extern "system" fn();
    type Create = unsafe extern "system" fn(
        vk::Device,
        *const new::TensorCreateInfoARM,
        *const vk::AllocationCallbacks,
        *mut new::TensorARM,
    ) -> vk::Result;
    type Destroy = unsafe extern "system" fn(vk::Device, new::TensorARM, *const vk::AllocationCallbacks);
    type Needs = unsafe extern "system" fn(
        vk::Device,
        *const new::TensorMemoryRequirementsInfoARM,
        *mut vk::MemoryRequirements2,
    );
    type Bind = unsafe extern "system" fn(vk::Device, u32, *const new::BindTensorMemoryInfoARM) -> vk::Result;
    type Copy = unsafe extern "system" fn(vk::CommandBuffer, *const new::CopyTensorInfoARM);
    let d = rig.device.handle();
    let find = |n: &std::ffi::CStr| unsafe { i.get_device_proc_addr(d, n.as_ptr()).expect("the command") };
    // SAFETY (all blocks): commands have these types, structures outlive the calls, handles are alive.
    let (create, destroy, needs, bind, copy) = unsafe {
        use std::mem::transmute;
        (
            transmute::<Any, Create>(find(c"vkCreateTensorARM")),
            transmute::<Any, Destroy>(find(c"vkDestroyTensorARM")),
            transmute::<Any, Needs>(find(c"vkGetTensorMemoryRequirementsARM")),
            transmute::<Any, Bind>(find(c"vkBindTensorMemoryARM")),
            transmute::<Any, Copy>(find(c"vkCmdCopyTensorARM")),
        )
    };
    let dimensions = [64i64];
    let description = new::TensorDescriptionARM {
        format: vk::Format::R32_UINT,
        dimension_count: 1,
        p_dimensions: dimensions.as_ptr(),
        usage: new::TensorUsageFlagsARM::TRANSFER_SRC | new::TensorUsageFlagsARM::TRANSFER_DST,
        ..Default::default()
    };
    let made = [Default::default(), new::TensorCreateFlagsARM::PROTECTED].map(|flags| unsafe {
        let info = new::TensorCreateInfoARM { flags, p_description: &description, ..Default::default() };
        let mut tensor = new::TensorARM::null();
        assert_eq!(create(d, &info, std::ptr::null(), &mut tensor), vk::Result::SUCCESS);
        let of = new::TensorMemoryRequirementsInfoARM { tensor, ..Default::default() };
        let mut all = vk::MemoryRequirements2::default();
        needs(d, &of, &mut all);
        let all = all.memory_requirements;
        let ty = all.memory_type_bits.trailing_zeros();
        assert_eq!(ty == 3, !flags.is_empty());
        let info = vk::MemoryAllocateInfo::default().allocation_size(all.size).memory_type_index(ty);
        (tensor, rig.device.allocate_memory(&info, None).unwrap())
    });
    let bound = |tensor, memory| unsafe {
        bind(d, 1, &new::BindTensorMemoryInfoARM { tensor, memory, ..Default::default() })
    };
    let [(open, visible), (secret, hidden)] = made;
    for (tensor, memory) in [(open, hidden), (secret, visible)] {
        assert_ne!(bound(tensor, memory), vk::Result::SUCCESS);
        assert!(told()[0].contains("protected memory is for protected resources"));
    }
    for (tensor, memory) in made {
        assert_eq!(bound(tensor, memory), vk::Result::SUCCESS);
    }
    let run = |protected, src_tensor, dst_tensor| {
        let region = new::TensorCopyARM::default();
        let p_regions = &raw const region;
        let info = new::CopyTensorInfoARM {
            src_tensor,
            dst_tensor,
            region_count: 1,
            p_regions,
            ..Default::default()
        };
        rig.run(protected, |_, c| unsafe { copy(c, &info) });
        told()
    };
    assert_eq!(run(true, open, secret), [""; 0]);
    for (protected, src, dst, why) in [
        (false, secret, open, "vkCmdCopyTensorARM reads protected memory in an unprotected submission"),
        (false, open, secret, "vkCmdCopyTensorARM writes protected memory in an unprotected submission"),
        (true, secret, open, "vkCmdCopyTensorARM writes unprotected memory in a protected submission"),
    ] {
        let told = run(protected, src, dst);
        assert!(told.len() == 1 && told[0].contains(why), "{why}: {told:?}");
    }
    for (tensor, memory) in made {
        unsafe {
            destroy(d, tensor, std::ptr::null());
            rig.device.free_memory(memory, None);
        }
    }
}

/// A device without the feature makes no protected buffer.
fn without_the_feature(i: &ash::Instance, p: vk::PhysicalDevice) {
    let one = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&one)];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    unsafe {
        let d = i.create_device(p, &info, None).unwrap();
        let info = vk::BufferCreateInfo::default().size(BYTES).flags(vk::BufferCreateFlags::PROTECTED);
        assert!(d.create_buffer(&info, None).is_err());
        d.destroy_device(None);
    }
}

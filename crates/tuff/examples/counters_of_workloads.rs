//! VK_LAYER_TUFF_gpu_performance, set up by the program itself (VK_EXT_layer_settings): rows of what a dispatch cost. As
//! docs/examples/layer_settings.c. The layer is found where it is installed, or by VK_LAYER_PATH.

use ash::vk;
use std::error::Error;

const LAYER: &std::ffi::CStr = c"VK_LAYER_TUFF_gpu_performance";
const NUMBERS: u32 = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::ffi::CString::new(std::env::args().nth(1).ok_or("counters_of_workloads ROWS.csv")?)?;
    let values = [
        (c"mode", c"counters"),
        (c"csv", &*rows),
        (c"table", c"off"),
        (c"counters", c"MaliCompQueueTask,TuffSfuInstr"),
    ];
    let texts = values.map(|(_, value)| value.as_ptr());
    let settings: Vec<_> = values
        .iter()
        .zip(&texts)
        .map(|((name, _), text)| vk::LayerSettingEXT {
            p_layer_name: LAYER.as_ptr(),
            p_setting_name: name.as_ptr(),
            ty: vk::LayerSettingTypeEXT::STRING,
            value_count: 1,
            p_values: std::ptr::from_ref(text).cast(),
            ..Default::default()
        })
        .collect();
    let mut chain = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let layers = [LAYER.as_ptr()];
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .push_next(&mut chain);
    let library = client::Library::any()?;
    // SAFETY: valid usage: structures outlive the calls that read them, and what is recorded is waited for.
    unsafe {
        let instance = library.entry.create_instance(&info, None)?;
        let physical = instance.enumerate_physical_devices()?[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let device = instance.create_device(
            physical,
            &vk::DeviceCreateInfo::default().queue_create_infos(&queues),
            None,
        )?;
        let queue = device.get_device_queue(0, 0);

        // A buffer of numbers that the device may have for itself.
        let info = vk::BufferCreateInfo::default()
            .size(u64::from(NUMBERS) * 4)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;

        // double.comp over it.
        let words = client::words(include_bytes!("../../../docs/examples/double.spv"));
        let module =
            device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let set_layout = device.create_descriptor_set_layout(
            &vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding),
            None,
        )?;
        let set_layouts = [set_layout];
        let layout = device.create_pipeline_layout(
            &vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts),
            None,
        )?;
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: 1 }];
        let descriptors = device.create_descriptor_pool(
            &vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes),
            None,
        )?;
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(descriptors).set_layouts(&set_layouts);
        let set = device.allocate_descriptor_sets(&info)?[0];
        let whole = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&whole);
        device.update_descriptor_sets(&[write], &[]);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline =
            device.create_compute_pipelines(vk::PipelineCache::null(), &info, None).map_err(|(_, e)| e)?[0];

        let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?;
        device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
        device.cmd_bind_pipeline(commands[0], vk::PipelineBindPoint::COMPUTE, pipeline);
        device.cmd_bind_descriptor_sets(commands[0], vk::PipelineBindPoint::COMPUTE, layout, 0, &[set], &[]);
        device.cmd_dispatch(commands[0], NUMBERS / 64, 1, 1);
        device.end_command_buffer(commands[0])?;
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        device.queue_submit(queue, &submit, vk::Fence::null())?;
        device.queue_wait_idle(queue)?;

        // Rows are written as workloads end, the last when the device does.
        device.destroy_command_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_descriptor_pool(descriptors, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout, None);
        device.destroy_shader_module(module, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}

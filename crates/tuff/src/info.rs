//! `tuff info`: the device in a screenful.

use client::{Context, Library, drivers};

pub fn run() -> client::Result<()> {
    let icd = drivers::tuff_icd();
    // The driver itself, not the loader: the loader may have been told of other drivers.
    let context = Context::with(Library::driver(&drivers::library_of(&icd)?)?)?;
    let p = &context.properties;
    let limits = &p.limits;
    let version = |v: u32| {
        format!(
            "{}.{}.{}",
            ash::vk::api_version_major(v),
            ash::vk::api_version_minor(v),
            ash::vk::api_version_patch(v)
        )
    };
    let line = |name: &str, value: String| println!("{name:28} {value}");
    line("ICD file", icd.display().to_string());
    line("device", context.device_name());
    line("type", format!("{:?}", p.device_type));
    line("driver", format!("{} {}", context.driver_name, context.driver_info));
    line("Vulkan", version(p.api_version));
    line("driver version", version(p.driver_version));
    line("vendor, device", format!("{:#x}, {:#x}", p.vendor_id, p.device_id));
    for i in 0..context.memory.memory_heap_count as usize {
        let heap = context.memory.memory_heaps[i];
        line(&format!("memory heap {i}"), format!("{} MiB {:?}", heap.size >> 20, heap.flags));
    }
    for i in 0..context.memory.memory_type_count as usize {
        let kind = context.memory.memory_types[i];
        line(&format!("memory type {i}"), format!("heap {} {:?}", kind.heap_index, kind.property_flags));
    }
    line("workgroup invocations", limits.max_compute_work_group_invocations.to_string());
    line("workgroup size", format!("{:?}", limits.max_compute_work_group_size));
    line("shared memory", format!("{} bytes", limits.max_compute_shared_memory_size));
    line("push constants", format!("{} bytes", limits.max_push_constants_size));
    line("storage buffer range", format!("{} bytes", limits.max_storage_buffer_range));
    line("timestamp period", format!("{} ns", limits.timestamp_period));
    line("device extensions", context.extensions().len().to_string());
    Ok(())
}

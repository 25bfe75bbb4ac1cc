//! `tuff info`: the device in a screenful.

use client::{Context, Library, drivers};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tuff info
  tuff info --extensions
  tuff info --limits
  TUFF_GPU=small tuff info")]
pub struct Args {
    /// List the device's extensions, one a line.
    #[arg(long)]
    extensions: bool,
    /// List all of VkPhysicalDeviceLimits.
    #[arg(long)]
    limits: bool,
}

/// The members of a structure, with the names that Vulkan has for them, from its `{:?}`.
fn members(debug: &str) -> Vec<(String, String)> {
    let inside = debug.split_once('{').map_or("", |(_, rest)| rest.trim_end().trim_end_matches('}'));
    let (mut depth, mut from, mut all) = (0, 0, vec![]);
    let mut add = |text: &str| {
        let Some((name, value)) = text.trim().split_once(':') else { return };
        let mut words = name.split('_');
        let mut vulkan = words.next().unwrap_or_default().to_string();
        for word in words {
            let mut letters = word.chars();
            vulkan.extend(letters.next().map(|c| c.to_ascii_uppercase()));
            vulkan.extend(letters);
        }
        all.push((vulkan, value.trim().to_string()));
    };
    for (i, c) in inside.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                add(&inside[from..i]);
                from = i + 1;
            }
            _ => {}
        }
    }
    add(&inside[from..]);
    all
}

pub fn run(args: &Args) -> client::Result<()> {
    let icd = drivers::tuff_icd();
    // The driver itself, not the loader: the loader may have been told of other drivers.
    let context = Context::with(Library::driver(&drivers::library_of(&icd)?)?)?;
    let p = &context.properties;
    let limits = &p.limits;
    if args.extensions || args.limits {
        if args.extensions {
            let mut all = context.extensions();
            all.sort();
            all.iter().for_each(|e| println!("{}", plain::line(e)));
        }
        if args.limits {
            members(&format!("{limits:?}")).iter().for_each(|(name, value)| println!("{name:48} {value}"));
        }
        return Ok(());
    }
    let version = |v: u32| {
        format!(
            "{}.{}.{}",
            ash::vk::api_version_major(v),
            ash::vk::api_version_minor(v),
            ash::vk::api_version_patch(v)
        )
    };
    let line = |name: &str, value: String| println!("{name:28} {}", plain::line(&value));
    line("ICD file", icd.display().to_string());
    line("device", context.device_name());
    line("type", format!("{:?}", p.device_type));
    // VkPhysicalDeviceDriverProperties: what the driver says of itself begins with its name.
    line("driver", context.driver_info.clone());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_vulkans_names() {
        let limits = ash::vk::PhysicalDeviceLimits {
            max_image_dimension2_d: 16384,
            max_compute_work_group_size: [1024, 1024, 64],
            framebuffer_color_sample_counts: ash::vk::SampleCountFlags::TYPE_1
                | ash::vk::SampleCountFlags::TYPE_4,
            ..Default::default()
        };
        let all = members(&format!("{limits:?}"));
        let value = |name: &str| all.iter().find(|m| m.0 == name).map(|m| m.1.as_str());
        assert_eq!(value("maxImageDimension2D"), Some("16384"));
        assert_eq!(value("maxComputeWorkGroupSize"), Some("[1024, 1024, 64]"));
        assert_eq!(value("framebufferColorSampleCounts"), Some("TYPE_1 | TYPE_4"));
        // VkPhysicalDeviceLimits has 106 members.
        assert_eq!((all.len(), all[105].0.as_str()), (106, "nonCoherentAtomSize"));
    }
}

//! A library for LD_PRELOAD that keeps one frame which a program presents, on any driver, with a screen or without.
//!
//! `FRAME_FILE` is the picture to write (PPM: red, green and blue, 8 bits each), `FRAME_NUMBER` which presentation it is of,
//! from 1 (1 if not set). Works for programs that are linked to the loader and call its functions by name, as sample
//! browsers do; formats of swapchains of four times 8 bits.
//!
//! `FRAME_TIMES` is a file to which each presentation adds a line: the seconds of CPU time that the process has taken by then.
//!
//! Parts of a program's state are left out where `FRAME_WITHOUT` names them ([`without`]).
//!
//! So that pictures of different drivers can be compared, every device has the same name, and says that it has 1 and 4
//! samples alone: programs write the one and take as many as they can get of the other.

mod copy;
mod without;

use ash::vk;
use parking_lot::Mutex;
use preload::Next;
use std::collections::HashMap;
use std::ffi::c_char;
use std::io::Write;

/// What is known of the program's objects.
#[derive(Default)]
struct Known {
    devices: HashMap<vk::Device, vk::PhysicalDevice>,
    /// Of which device and queue family.
    queues: HashMap<vk::Queue, (vk::Device, u32)>,
    swapchains: HashMap<vk::SwapchainKHR, Swapchain>,
    presentations: u64,
}

#[derive(Clone, Copy)]
struct Swapchain {
    format: vk::Format,
    extent: vk::Extent2D,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Known) -> R) -> R {
    f(KNOWN.lock().get_or_insert_default())
}

/// What every device is called.
const NAME: &[u8] = b"a device";

/// # Safety
/// As the loader's, here and below.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkGetPhysicalDeviceProperties(
    physical: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    static NEXT: Next<vk::PFN_vkGetPhysicalDeviceProperties> = Next::new(c"vkGetPhysicalDeviceProperties");
    // SAFETY: as the loader's: the caller's arguments are good.
    unsafe {
        NEXT.get()(physical, properties);
        let p = &mut *properties;
        p.device_name = [0; vk::MAX_PHYSICAL_DEVICE_NAME_SIZE];
        p.device_name.iter_mut().zip(NAME).for_each(|(to, c)| *to = *c as c_char);
        let few = vk::SampleCountFlags::TYPE_1 | vk::SampleCountFlags::TYPE_4;
        p.limits.framebuffer_color_sample_counts &= few;
        p.limits.framebuffer_depth_sample_counts &= few;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkCreateDevice(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo,
    allocator: *const vk::AllocationCallbacks,
    device: *mut vk::Device,
) -> vk::Result {
    static NEXT: Next<vk::PFN_vkCreateDevice> = Next::new(c"vkCreateDevice");
    // SAFETY: as the loader's: the caller's arguments are good.
    unsafe {
        let result = NEXT.get()(physical, info, allocator, device);
        if result == vk::Result::SUCCESS {
            with(|k| k.devices.insert(*device, physical));
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkGetDeviceQueue(
    device: vk::Device,
    family: u32,
    index: u32,
    queue: *mut vk::Queue,
) {
    static NEXT: Next<vk::PFN_vkGetDeviceQueue> = Next::new(c"vkGetDeviceQueue");
    // SAFETY: as the loader's: the caller's arguments are good.
    unsafe {
        NEXT.get()(device, family, index, queue);
        with(|k| k.queues.insert(*queue, (device, family)));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkCreateSwapchainKHR(
    device: vk::Device,
    info: *const vk::SwapchainCreateInfoKHR,
    allocator: *const vk::AllocationCallbacks,
    swapchain: *mut vk::SwapchainKHR,
) -> vk::Result {
    static NEXT: Next<vk::PFN_vkCreateSwapchainKHR> = Next::new(c"vkCreateSwapchainKHR");
    // SAFETY: as the loader's: the caller's arguments are good. What is added every surface of a driver at hand has.
    unsafe {
        let mut info = *info;
        info.image_usage |= vk::ImageUsageFlags::TRANSFER_SRC;
        let result = NEXT.get()(device, &info, allocator, swapchain);
        if result == vk::Result::SUCCESS {
            let it = Swapchain { format: info.image_format, extent: info.image_extent };
            with(|k| k.swapchains.insert(*swapchain, it));
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkQueuePresentKHR(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR,
) -> vk::Result {
    static NEXT: Next<vk::PFN_vkQueuePresentKHR> = Next::new(c"vkQueuePresentKHR");
    // SAFETY: as the loader's: the caller's arguments are good.
    unsafe {
        keep(queue, &*info);
        time();
        NEXT.get()(queue, info)
    }
}

/// Counts a presentation, and writes its first swapchain's image if it is the one.
unsafe fn keep(queue: vk::Queue, info: &vk::PresentInfoKHR) {
    let file = std::env::var_os("FRAME_FILE").filter(|_| info.swapchain_count > 0 && !files::is_secure());
    let Some(file) = file else { return };
    let number = std::env::var("FRAME_NUMBER").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    // SAFETY: as the loader's: the caller's arguments are good.
    let (handle, index) = unsafe { (*info.p_swapchains, *info.p_image_indices) };
    let found = with(|k| {
        k.presentations += 1;
        let (device, family) = *k.queues.get(&queue)?;
        let all = (device, *k.devices.get(&device)?, family, *k.swapchains.get(&handle)?);
        (k.presentations == number).then_some(all)
    });
    let Some((device, physical, family, swapchain)) = found else { return };
    // SAFETY: objects that the program uses in this call.
    let picture = unsafe {
        copy::Copy { device, physical, queue, family }.picture(
            handle,
            index,
            swapchain.format,
            swapchain.extent,
        )
    };
    let written = picture.and_then(|p| std::fs::write(&file, p).map_err(|e| e.to_string()));
    if let Err(e) = written {
        eprintln!("frame-preload: {}: {e}", file.display());
    }
}

/// Adds the CPU time of the process to the file of times.
fn time() {
    let Some(file) = std::env::var_os("FRAME_TIMES").filter(|_| !files::is_secure()) else { return };
    let line = format!("{}\n", client::measure::Moment::now().cpu());
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(&file);
    if let Err(e) = opened.and_then(|mut f| f.write_all(line.as_bytes())) {
        eprintln!("frame-preload: {}: {e}", file.display());
    }
}

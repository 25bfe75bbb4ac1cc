use ash::{khr, vk};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use windows_sys::Win32::Foundation::HWND;
use windows_sys::Win32::Graphics::Gdi::{GetDC, GetPixel, ReleaseDC};
use windows_sys::Win32::UI::WindowsAndMessaging::*;
use windows_sys::w;

type Done<T> = Result<T, String>;

fn of(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |e| format!("{what}: {e:?}")
}

/// What is shown, and what GDI says of it (0x00BBGGRR).
const COLOUR: [f32; 4] = [1.0, 0.25, 0.5, 1.0];
const SEEN: u32 = 0x80_40_FF;

struct Shown {
    entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
}

pub fn run() -> Done<Vec<String>> {
    let library = client::Library::any().map_err(|e| e.to_string())?;
    let s = open(library.entry.clone())?;
    let mut lines = vec![];
    for (w, h) in [(200, 100), (333, 77)] {
        for format in [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM] {
            // SAFETY: a window of this process, shown on by objects that end before it does.
            let seen = unsafe { show(&s, w, h, format)? };
            let name = format!("{w}x{h} {format:?}");
            if seen != SEEN {
                return Err(format!("{name}: {seen:#x} is seen, not {SEEN:#x}"));
            }
            lines.push(format!("{name} {seen:06x}"));
        }
    }
    // SAFETY: nothing of them is in use.
    unsafe {
        s.device.destroy_device(None);
        s.instance.destroy_instance(None);
    }
    Ok(lines)
}

fn open(entry: ash::Entry) -> Done<Shown> {
    let names = [khr::surface::NAME.as_ptr(), khr::win32_surface::NAME.as_ptr()];
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
    let (one, swapchain) = ([1.0], [khr::swapchain::NAME.as_ptr()]);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&one)];
    let of_device =
        vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&swapchain);
    // SAFETY: structures that live as long as the calls.
    unsafe {
        let instance = entry.create_instance(&info, None).map_err(of("vkCreateInstance"))?;
        let all = instance.enumerate_physical_devices().map_err(of("devices"))?;
        let physical = *all.first().ok_or("no device")?;
        let device = instance.create_device(physical, &of_device, None).map_err(of("vkCreateDevice"))?;
        let queue = device.get_device_queue(0, 0);
        Ok(Shown { entry, instance, physical, device, queue })
    }
}

fn window(width: i32, height: i32) -> Done<HWND> {
    // A popup has no frame: the client area is all of it.
    let style = WS_POPUP | WS_VISIBLE;
    // SAFETY: a class that the system has; names that end in 0.
    let window = unsafe {
        CreateWindowExW(
            0,
            w!("STATIC"),
            w!("tuff"),
            style,
            0,
            0,
            width,
            height,
            null_mut(),
            null_mut(),
            null_mut(),
            null::<c_void>(),
        )
    };
    if window.is_null() { Err("no window".into()) } else { Ok(window) }
}

/// Handles what the window is told.
fn pump() {
    let mut message = MSG::default();
    // SAFETY: it fills the structure.
    unsafe {
        while PeekMessageW(&mut message, null_mut(), 0, 0, PM_REMOVE) != 0 {
            DispatchMessageW(&message);
        }
    }
}

/// The colour that is seen in a window after one picture of it.
///
/// # Safety
/// Nothing else uses the device.
unsafe fn show(s: &Shown, width: i32, height: i32, format: vk::Format) -> Done<u32> {
    let window = window(width, height)?;
    pump();
    // SAFETY: objects of this function's own, which live as long as their users.
    unsafe {
        let make = khr::win32_surface::Instance::new(&s.entry, &s.instance);
        let info = vk::Win32SurfaceCreateInfoKHR::default().hwnd(window as isize);
        let surface = make.create_win32_surface(&info, None).map_err(of("surface"))?;
        let surfaces = khr::surface::Instance::new(&s.entry, &s.instance);
        let can =
            surfaces.get_physical_device_surface_capabilities(s.physical, surface).map_err(of("can"))?;
        let is = can.current_extent;
        if (is.width, is.height) != (width as u32, height as u32) {
            return Err(format!("a window of {width} x {height} has {is:?}"));
        }
        if !make.get_physical_device_win32_presentation_support(s.physical, 0) {
            return Err("the family cannot present".into());
        }
        let swapchains = khr::swapchain::Device::new(&s.instance, &s.device);
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(2)
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(is)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        let swapchain = swapchains.create_swapchain(&info, None).map_err(of("swapchain"))?;
        let fence = s.device.create_fence(&Default::default(), None).map_err(of("fence"))?;
        let (image, _) = swapchains
            .acquire_next_image(swapchain, u64::MAX, vk::Semaphore::null(), fence)
            .map_err(of("acquire"))?;
        s.device.wait_for_fences(&[fence], true, u64::MAX).map_err(of("wait"))?;
        let images = swapchains.get_swapchain_images(swapchain).map_err(of("images"))?;
        let pool = clear(s, images[image as usize])?;
        let (chains, indices) = ([swapchain], [image]);
        let info = vk::PresentInfoKHR::default().swapchains(&chains).image_indices(&indices);
        swapchains.queue_present(s.queue, &info).map_err(of("present"))?;
        s.device.device_wait_idle().map_err(of("idle"))?;
        // (It shows what is on its way first.)
        swapchains.destroy_swapchain(swapchain, None);
        pump();
        let dc = GetDC(window);
        let seen = GetPixel(dc, width - 1, height - 1);
        ReleaseDC(window, dc);
        s.device.destroy_command_pool(pool, None);
        s.device.destroy_fence(fence, None);
        surfaces.destroy_surface(surface, None);
        DestroyWindow(window);
        Ok(seen)
    }
}

/// Fills an image with the colour; the pool of what did so.
///
/// # Safety
/// Nothing else uses the image and the queue.
unsafe fn clear(s: &Shown, image: vk::Image) -> Done<vk::CommandPool> {
    let d = &s.device;
    let all = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let barrier = |from, to| vk::ImageMemoryBarrier {
        old_layout: from,
        new_layout: to,
        image,
        subresource_range: all,
        src_access_mask: vk::AccessFlags::TRANSFER_WRITE,
        dst_access_mask: vk::AccessFlags::TRANSFER_WRITE,
        ..Default::default()
    };
    let stage = vk::PipelineStageFlags::TRANSFER;
    // SAFETY: the caller's; objects of this function's own.
    unsafe {
        let pool = d.create_command_pool(&Default::default(), None).map_err(of("pool"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let c = d.allocate_command_buffers(&info).map_err(of("commands"))?[0];
        d.begin_command_buffer(c, &Default::default()).map_err(of("begin"))?;
        let first = barrier(vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        d.cmd_pipeline_barrier(c, stage, stage, Default::default(), &[], &[], &[first]);
        let colour = vk::ClearColorValue { float32: COLOUR };
        d.cmd_clear_color_image(c, image, vk::ImageLayout::TRANSFER_DST_OPTIMAL, &colour, &[all]);
        let last = barrier(vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::ImageLayout::PRESENT_SRC_KHR);
        d.cmd_pipeline_barrier(c, stage, stage, Default::default(), &[], &[], &[last]);
        d.end_command_buffer(c).map_err(of("end"))?;
        let buffers = [c];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        d.queue_submit(s.queue, &[submit], vk::Fence::null()).map_err(of("submit"))?;
        d.queue_wait_idle(s.queue).map_err(of("idle"))?;
        Ok(pool)
    }
}

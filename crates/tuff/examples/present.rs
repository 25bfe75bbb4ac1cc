//! Presents frames of one colour each on no screen, for the tests of `tuff frames`: `present RRGGBB…`, a frame for each colour.

use ash::vk;
use client::context::Context;
use client::{Error, Library, Result};

const SIZE: vk::Extent2D = vk::Extent2D { width: 8, height: 4 };

fn main() -> Result<()> {
    let extensions = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
    let context = Context::of_instance(
        Library::any()?,
        &extensions,
        &[ash::khr::swapchain::NAME],
        std::ptr::null_mut(),
    )?;
    let colours: Vec<u32> = std::env::args()
        .skip(1)
        .map(|c| u32::from_str_radix(&c, 16).map_err(|e| Error(format!("{c}: {e}"))))
        .collect::<Result<_>>()?;
    let (device, instance) = (&context.device, &context.instance);
    let surfaces = ash::khr::surface::Instance::new(context.entry(), instance);
    let headless = ash::ext::headless_surface::Instance::new(context.entry(), instance);
    let swapchains = ash::khr::swapchain::Device::new(instance, device);
    let failed = |e: vk::Result| Error(e.to_string());
    // SAFETY: plain Vulkan calls with structures that outlive them.
    unsafe {
        let surface = headless.create_headless_surface(&Default::default(), None).map_err(failed)?;
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(2)
            .image_format(vk::Format::B8G8R8A8_UNORM)
            .image_extent(SIZE)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        let swapchain = swapchains.create_swapchain(&info, None).map_err(failed)?;
        let images = swapchains.get_swapchain_images(swapchain).map_err(failed)?;
        let fence = device.create_fence(&Default::default(), None).map_err(failed)?;
        for colour in colours {
            let acquired = swapchains.acquire_next_image(swapchain, u64::MAX, vk::Semaphore::null(), fence);
            let (image, _) = acquired.map_err(failed)?;
            device.wait_for_fences(&[fence], true, u64::MAX).map_err(failed)?;
            device.reset_fences(&[fence]).map_err(failed)?;
            context.run(|d, c| clear(d, c, images[image as usize], colour))?;
            let present = vk::PresentInfoKHR::default();
            let (chains, indices) = ([swapchain], [image]);
            let present = present.swapchains(&chains).image_indices(&indices);
            swapchains.queue_present(context.queue, &present).map_err(failed)?;
        }
        device.device_wait_idle().map_err(failed)?;
        device.destroy_fence(fence, None);
        swapchains.destroy_swapchain(swapchain, None);
        surfaces.destroy_surface(surface, None);
    }
    Ok(())
}

/// Fills the image with a colour (red in the upper bits), and makes it ready to be presented.
fn clear(device: &ash::Device, commands: vk::CommandBuffer, image: vk::Image, colour: u32) {
    let range = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(1)
        .layer_count(1);
    let channel = |shift: u32| (colour >> shift & 0xff) as f32 / 255.0;
    let colour = vk::ClearColorValue { float32: [channel(16), channel(8), channel(0), 1.0] };
    let (transfer, present) = (vk::ImageLayout::TRANSFER_DST_OPTIMAL, vk::ImageLayout::PRESENT_SRC_KHR);
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    let barrier = |from, to| {
        vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .old_layout(from)
            .new_layout(to)
            .image(image)
            .subresource_range(range)
    };
    let [before, after] =
        [(vk::ImageLayout::UNDEFINED, transfer), (transfer, present)].map(|(a, b)| [barrier(a, b)]);
    // SAFETY: recording into a command buffer that has begun, with live handles.
    unsafe {
        device.cmd_pipeline_barrier(commands, stages, stages, Default::default(), &[], &[], &before);
        device.cmd_clear_color_image(commands, image, transfer, &colour, &[range]);
        device.cmd_pipeline_barrier(commands, stages, stages, Default::default(), &[], &[], &after);
    }
}

//! A device that shows pictures: surfaces, swapchains of cleared images.

use crate::common::{entry, instance, physical_device};
use ash::vk;
use std::ffi::c_void;

pub struct Show {
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub surfaces: ash::khr::surface::Instance,
    pub device: ash::Device,
    pub swapchains: ash::khr::swapchain::Device,
    waits: ash::khr::present_wait::Device,
    pub queue: vk::Queue,
    pool: vk::CommandPool,
}

pub struct Chain {
    pub handle: vk::SwapchainKHR,
    pub images: Vec<vk::Image>,
}

impl Show {
    pub fn new() -> Show {
        let instance = instance(&[
            ash::khr::surface::NAME,
            ash::khr::get_surface_capabilities2::NAME,
            ash::ext::headless_surface::NAME,
            ash::khr::xcb_surface::NAME,
            ash::khr::xlib_surface::NAME,
        ]);
        let physical = physical_device(&instance);
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let names = [
            ash::khr::swapchain::NAME.as_ptr(),
            ash::khr::swapchain_mutable_format::NAME.as_ptr(),
            ash::khr::present_id::NAME.as_ptr(),
            ash::khr::present_wait::NAME.as_ptr(),
            ash::ext::image_compression_control::NAME.as_ptr(),
            ash::ext::image_compression_control_swapchain::NAME.as_ptr(),
        ];
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut ids = vk::PhysicalDevicePresentIdFeaturesKHR::default().present_id(true);
        let mut waits = vk::PhysicalDevicePresentWaitFeaturesKHR::default().present_wait(true);
        let mut compression =
            vk::PhysicalDeviceImageCompressionControlFeaturesEXT::default().image_compression_control(true);
        let mut of_swapchains = vk::PhysicalDeviceImageCompressionControlSwapchainFeaturesEXT::default()
            .image_compression_control_swapchain(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut v12)
            .push_next(&mut ids)
            .push_next(&mut waits)
            .push_next(&mut compression)
            .push_next(&mut of_swapchains);
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe {
            let device = instance.create_device(physical, &info, None).expect("a device is made");
            let pool = vk::CommandPoolCreateInfo::default();
            Show {
                surfaces: ash::khr::surface::Instance::new(entry(), &instance),
                swapchains: ash::khr::swapchain::Device::new(&instance, &device),
                waits: ash::khr::present_wait::Device::new(&instance, &device),
                queue: device.get_device_queue(0, 0),
                pool: device.create_command_pool(&pool, None).expect("a command pool is made"),
                instance,
                physical,
                device,
            }
        }
    }

    pub fn headless(&self) -> vk::SurfaceKHR {
        let ext = ash::ext::headless_surface::Instance::new(entry(), &self.instance);
        unsafe { ext.create_headless_surface(&Default::default(), None) }.expect("a surface is made")
    }

    pub fn xcb(&self, connection: *mut c_void, window: u32) -> vk::SurfaceKHR {
        let ext = ash::khr::xcb_surface::Instance::new(entry(), &self.instance);
        let info = vk::XcbSurfaceCreateInfoKHR::default().connection(connection).window(window);
        unsafe { ext.create_xcb_surface(&info, None) }.expect("a surface is made")
    }

    pub fn xlib(&self, display: *mut c_void, window: u32) -> vk::SurfaceKHR {
        let ext = ash::khr::xlib_surface::Instance::new(entry(), &self.instance);
        let info = vk::XlibSurfaceCreateInfoKHR::default().dpy(display.cast()).window(window.into());
        unsafe { ext.create_xlib_surface(&info, None) }.expect("a surface is made")
    }

    /// What a swapchain of three images with these bits needs to be made.
    pub fn info<'a>(
        surface: vk::SurfaceKHR,
        width: u32,
        height: u32,
        format: vk::Format,
        mode: vk::PresentModeKHR,
    ) -> vk::SwapchainCreateInfoKHR<'a> {
        vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(3)
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(vk::Extent2D { width, height })
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(mode)
            .clipped(true)
    }

    pub fn chain(&self, info: &vk::SwapchainCreateInfoKHR) -> Chain {
        unsafe {
            let handle = self.swapchains.create_swapchain(info, None).expect("a swapchain is made");
            let images = self.swapchains.get_swapchain_images(handle).expect("it has images");
            Chain { handle, images }
        }
    }

    pub fn end(&self, chain: Chain) {
        unsafe { self.swapchains.destroy_swapchain(chain.handle, None) };
    }

    pub fn semaphore(&self) -> vk::Semaphore {
        unsafe { self.device.create_semaphore(&Default::default(), None) }.expect("a semaphore is made")
    }

    /// An image that can be used now.
    pub fn acquire(&self, chain: &Chain) -> u32 {
        unsafe {
            let fence = self.device.create_fence(&Default::default(), None).expect("a fence is made");
            let second = 1_000_000_000;
            let (image, _) = self
                .swapchains
                .acquire_next_image(chain.handle, second, vk::Semaphore::null(), fence)
                .expect("an image is free");
            self.device.wait_for_fences(&[fence], true, second).expect("it is free at once");
            self.device.destroy_fence(fence, None);
            image
        }
    }

    /// Clears `rows` rows' worth of an image: all of it, for there are no partial clears, to one colour.
    pub fn clear(
        &self,
        image: vk::Image,
        colour: [f32; 4],
        wait: Option<(vk::Semaphore, u64)>,
    ) -> vk::Semaphore {
        let signal = self.semaphore();
        unsafe {
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let c = self.device.allocate_command_buffers(&info).expect("a command buffer")[0];
            self.device.begin_command_buffer(c, &Default::default()).expect("it begins");
            let range = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let value = vk::ClearColorValue { float32: colour };
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            self.device.cmd_clear_color_image(c, image, layout, &value, &[range]);
            self.device.end_command_buffer(c).expect("it ends");
            let (semaphores, values): (Vec<_>, Vec<_>) = wait.into_iter().unzip();
            let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; semaphores.len()];
            let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
                .wait_semaphore_values(&values)
                .signal_semaphore_values(&[0]);
            let (buffers, signals) = ([c], [signal]);
            let submit = vk::SubmitInfo::default()
                .wait_semaphores(&semaphores)
                .wait_dst_stage_mask(&stages)
                .command_buffers(&buffers)
                .signal_semaphores(&signals)
                .push_next(&mut timeline);
            self.device.queue_submit(self.queue, &[submit], vk::Fence::null()).expect("work is accepted");
        }
        signal
    }

    /// Presents an image after a semaphore; `id` names the presentation.
    pub fn present(
        &self,
        chain: &Chain,
        image: u32,
        wait: vk::Semaphore,
        id: u64,
    ) -> Result<bool, vk::Result> {
        let (chains, images, waits, ids) = ([chain.handle], [image], [wait], [id]);
        let mut ids = vk::PresentIdKHR::default().present_ids(&ids);
        let info = vk::PresentInfoKHR::default()
            .swapchains(&chains)
            .image_indices(&images)
            .wait_semaphores(&waits)
            .push_next(&mut ids);
        unsafe { self.swapchains.queue_present(self.queue, &info) }
    }

    /// Waits until the presentation of this id, or a later one, is seen.
    pub fn seen(&self, chain: &Chain, id: u64, nanoseconds: u64) -> vk::Result {
        match unsafe { self.waits.wait_for_present(chain.handle, id, nanoseconds) } {
            Ok(()) => vk::Result::SUCCESS,
            Err(e) => e,
        }
    }

    /// A colour through the whole way, from acquiring to being seen; whether the swapchain is suboptimal.
    pub fn show(&self, chain: &Chain, colour: [f32; 4], id: u64) -> bool {
        let image = self.acquire(chain);
        let cleared = self.clear(chain.images[image as usize], colour, None);
        let suboptimal = self.present(chain, image, cleared, id).expect("it is presented");
        assert_eq!(self.seen(chain, id, 5_000_000_000), vk::Result::SUCCESS);
        suboptimal
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        unsafe {
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

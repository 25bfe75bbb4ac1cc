//! Swapchains on a surface that nobody sees: acquiring, presenting, replacing.

use crate::show::Show;
use ::vk as new;
use ash::vk;
use std::time::{Duration, Instant};

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

#[test]
fn a_surface_says_what_it_can() {
    let s = Show::new();
    let surface = s.headless();
    unsafe {
        assert!(s.surfaces.get_physical_device_surface_support(s.physical, 0, surface).unwrap());
        let c = s.surfaces.get_physical_device_surface_capabilities(s.physical, surface).unwrap();
        assert_eq!((c.current_extent.width, c.current_extent.height), (u32::MAX, u32::MAX));
        assert!(c.min_image_count >= 1 && c.min_image_extent.width == 1);
        let formats = s.surfaces.get_physical_device_surface_formats(s.physical, surface).unwrap();
        for wanted in [
            vk::Format::B8G8R8A8_UNORM,
            vk::Format::B8G8R8A8_SRGB,
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R8G8B8A8_SRGB,
        ] {
            assert!(formats.iter().any(|f| f.format == wanted), "{wanted:?}");
        }
        let modes = s.surfaces.get_physical_device_surface_present_modes(s.physical, surface).unwrap();
        for wanted in [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE] {
            assert!(modes.contains(&wanted), "{wanted:?}");
        }
        s.surfaces.destroy_surface(surface, None);
    }
}

#[test]
fn images_come_and_go_in_any_order() {
    let s = Show::new();
    let surface = s.headless();
    let chain = s.chain(&Show::info(surface, 64, 48, RGBA, vk::PresentModeKHR::FIFO));
    assert_eq!(chain.images.len(), 3);
    let mut id = 0;
    for order in [[0usize, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
        let acquired = [s.acquire(&chain), s.acquire(&chain), s.acquire(&chain)];
        let mut sorted = acquired;
        sorted.sort();
        assert_eq!(sorted, [0, 1, 2], "each image once");
        for place in order {
            id += 1;
            let image = acquired[place];
            let cleared = s.clear(chain.images[image as usize], RED, None);
            assert_eq!(s.present(&chain, image, cleared, id), Ok(false));
        }
        assert_eq!(s.seen(&chain, id, 5_000_000_000), vk::Result::SUCCESS);
    }
    s.end(chain);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn no_image_is_had_in_time() {
    let s = Show::new();
    let surface = s.headless();
    let chain = s.chain(&Show::info(surface, 16, 16, RGBA, vk::PresentModeKHR::FIFO));
    let all: Vec<u32> = chain.images.iter().map(|_| s.acquire(&chain)).collect();
    let (fence, semaphore) =
        unsafe { (s.device.create_fence(&Default::default(), None).unwrap(), s.semaphore()) };
    let acquire =
        |timeout| unsafe { s.swapchains.acquire_next_image(chain.handle, timeout, semaphore, fence).err() };
    assert_eq!(acquire(0), Some(vk::Result::NOT_READY));
    let start = Instant::now();
    assert_eq!(acquire(30_000_000), Some(vk::Result::TIMEOUT));
    assert!(start.elapsed() >= Duration::from_millis(30));
    unsafe {
        assert!(!s.device.get_fence_status(fence).unwrap(), "a failed acquire signals nothing");
        // An image that was not acquired can't be presented.
        let cleared = s.clear(chain.images[0], RED, None);
        assert_eq!(s.present(&chain, 7, cleared, 1), Err(vk::Result::ERROR_VALIDATION_FAILED_EXT));
        // An acquire that waits is woken by a presentation.
        let image = all[1];
        let cleared = s.clear(chain.images[image as usize], RED, None);
        std::thread::scope(|t| {
            t.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                assert_eq!(s.present(&chain, image, cleared, 2), Ok(false));
            });
            let info = vk::AcquireNextImageInfoKHR::default()
                .swapchain(chain.handle)
                .timeout(u64::MAX)
                .semaphore(semaphore)
                .fence(fence)
                .device_mask(1);
            let got = s.swapchains.acquire_next_image2(&info).unwrap();
            assert_eq!(got, (image, false));
        });
        s.device.wait_for_fences(&[fence], true, 1_000_000_000).unwrap();
        // The semaphore is signalled: work that waits for it goes on.
        let stages = [vk::PipelineStageFlags::TRANSFER];
        let waits = [semaphore];
        let submit = vk::SubmitInfo::default().wait_semaphores(&waits).wait_dst_stage_mask(&stages);
        s.device.reset_fences(&[fence]).unwrap();
        s.device.queue_submit(s.queue, &[submit], fence).unwrap();
        s.device.wait_for_fences(&[fence], true, 1_000_000_000).unwrap();
        s.device.destroy_semaphore(semaphore, None);
        s.device.destroy_fence(fence, None);
        s.end(chain);
        s.surfaces.destroy_surface(surface, None);
    }
}

#[test]
fn a_new_swapchain_takes_the_place_of_the_old() {
    let s = Show::new();
    let surface = s.headless();
    let info = Show::info(surface, 32, 32, RGBA, vk::PresentModeKHR::MAILBOX);
    let old = s.chain(&info);
    let image = s.acquire(&old);
    unsafe {
        let second = s.swapchains.create_swapchain(&info, None);
        assert_eq!(second.err(), Some(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR));
    }
    let new = s.chain(&info.old_swapchain(old.handle));
    unsafe {
        let got = s.swapchains.acquire_next_image(old.handle, 0, vk::Semaphore::null(), vk::Fence::null());
        assert_eq!(got.err(), Some(vk::Result::ERROR_OUT_OF_DATE_KHR));
    }
    // What was acquired before can still be presented.
    let cleared = s.clear(old.images[image as usize], RED, None);
    assert_eq!(s.present(&old, image, cleared, 1), Ok(false));
    assert_eq!(s.seen(&old, 1, 5_000_000_000), vk::Result::SUCCESS);
    s.end(old);
    assert!(!s.show(&new, RED, 1));
    s.end(new);
    // Nobody is there any more: no need to name a predecessor.
    let third = s.chain(&info.old_swapchain(vk::SwapchainKHR::null()));
    s.end(third);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn presenting_waits_for_its_semaphores() {
    let s = Show::new();
    let surface = s.headless();
    let chain = s.chain(&Show::info(surface, 8, 8, RGBA, vk::PresentModeKHR::IMMEDIATE));
    unsafe {
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let gate = s.device.create_semaphore(&info, None).unwrap();
        let image = s.acquire(&chain);
        let cleared = s.clear(chain.images[image as usize], RED, Some((gate, 1)));
        assert_eq!(s.present(&chain, image, cleared, 1), Ok(false), "presenting does not block");
        assert_eq!(s.seen(&chain, 1, 30_000_000), vk::Result::TIMEOUT);
        let open = vk::SemaphoreSignalInfo::default().semaphore(gate).value(1);
        s.device.signal_semaphore(&open).unwrap();
        assert_eq!(s.seen(&chain, 1, 5_000_000_000), vk::Result::SUCCESS);
        s.device.device_wait_idle().unwrap();
        s.device.destroy_semaphore(gate, None);
        s.end(chain);
        s.surfaces.destroy_surface(surface, None);
    }
}

/// VK_EXT_multisampled_render_to_swapchain: a surface says so, and images come from such a swapchain.
#[test]
fn images_can_be_drawn_to_with_more_samples() {
    let s = Show::new();
    let surface = s.headless();
    let flag = new::SWAPCHAIN_CREATE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_BIT_EXT;
    let mut flags = new::SwapchainFlagsSurfaceCapabilitiesEXT::default();
    let mut caps = vk::SurfaceCapabilities2KHR { p_next: (&raw mut flags).cast(), ..Default::default() };
    let about = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
    let surfaces = ash::khr::get_surface_capabilities2::Instance::new(crate::common::entry(), &s.instance);
    let got = unsafe { surfaces.get_physical_device_surface_capabilities2(s.physical, &about, &mut caps) };
    assert_eq!(got, Ok(()));
    let mutable = vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT;
    assert!(
        flags.swapchain_supported_flags.contains(flag | mutable),
        "{:?}",
        flags.swapchain_supported_flags
    );
    assert!(!flags.swapchain_supported_flags.contains(vk::SwapchainCreateFlagsKHR::PROTECTED));
    let chain = s.chain(&Show::info(surface, 64, 48, RGBA, vk::PresentModeKHR::FIFO).flags(flag));
    let image = s.acquire(&chain);
    let cleared = s.clear(chain.images[image as usize], RED, None);
    assert_eq!(s.present(&chain, image, cleared, 1), Ok(false));
    assert_eq!(s.seen(&chain, 1, 5_000_000_000), vk::Result::SUCCESS);
    s.end(chain);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn swapchains_that_no_surface_has_are_refused() {
    let s = Show::new();
    let surface = s.headless();
    let good = Show::info(surface, 32, 32, RGBA, vk::PresentModeKHR::FIFO);
    let bad = [
        good.image_format(vk::Format::D32_SFLOAT),
        good.image_extent(vk::Extent2D { width: 0, height: 3 }),
        good.image_extent(vk::Extent2D { width: 1 << 20, height: 3 }),
        good.image_array_layers(4),
        good.present_mode(vk::PresentModeKHR::SHARED_DEMAND_REFRESH),
        good.image_usage(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
        good.min_image_count(1 << 30),
    ];
    for (i, info) in bad.iter().enumerate() {
        let made = unsafe { s.swapchains.create_swapchain(info, None) };
        assert!(made.is_err(), "case {i}");
    }
    let chain = s.chain(&good);
    s.end(chain);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

/// Surfaces' formats are compressed as other images of theirs are, unless a swapchain is asked to leave that
/// (VK_EXT_image_compression_control_swapchain).
#[test]
fn compression_of_swapchains() {
    use vk::ImageCompressionFlagsEXT as Flags;
    let s = Show::new();
    let surface = s.headless();
    let caps = ash::khr::get_surface_capabilities2::Instance::new(crate::common::entry(), &s.instance);
    let layouts = ash::ext::image_compression_control::Device::new(&s.instance, &s.device);
    unsafe {
        let info = vk::PhysicalDeviceSurfaceInfo2KHR::default().surface(surface);
        let n = caps.get_physical_device_surface_formats2_len(s.physical, &info).unwrap();
        let mut told = vec![vk::ImageCompressionPropertiesEXT::default(); n];
        let mut formats: Vec<_> =
            told.iter_mut().map(|t| vk::SurfaceFormat2KHR::default().push_next(t)).collect();
        caps.get_physical_device_surface_formats2(s.physical, &info, &mut formats).unwrap();
        let first = formats.iter().position(|f| f.surface_format.format == RGBA).unwrap();
        assert_eq!(told[first].image_compression_flags, Flags::DEFAULT);
        let good = Show::info(surface, 32, 32, RGBA, vk::PresentModeKHR::FIFO);
        for (asked, want) in [(Flags::DEFAULT, Flags::DEFAULT), (Flags::DISABLED, Flags::DISABLED)] {
            let mut control = vk::ImageCompressionControlEXT::default().flags(asked);
            let chain = s.chain(&good.push_next(&mut control));
            let part = vk::ImageSubresource2KHR::default().image_subresource(vk::ImageSubresource {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                ..Default::default()
            });
            let mut told = vk::ImageCompressionPropertiesEXT::default();
            let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut told);
            layouts.get_image_subresource_layout2(chain.images[0], &part, &mut layout);
            assert_eq!(told.image_compression_flags, want, "{asked:?}");
            s.end(chain);
        }
        s.surfaces.destroy_surface(surface, None);
    }
}

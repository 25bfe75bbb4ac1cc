//! Windows of an X server: what is presented is what the server shows.

use crate::show::{Chain, Show};
use ash::vk;
use std::ffi::{CString, c_char, c_void};
use std::time::{Duration, Instant};
use xserver::{Window, XServer};

const BGRA: vk::Format = vk::Format::B8G8R8A8_UNORM;
const FIFO: vk::PresentModeKHR = vk::PresentModeKHR::FIFO;

/// An orange that every format holds exactly, as a screen of depth 24 stores it.
const ORANGE: [f32; 4] = [1.0, 0.2, 0.0, 1.0];
const ORANGE_PIXEL: [u8; 3] = [0, 51, 255];

fn assert_all(pixels: &[u8], pixel: [u8; 3], what: &str) {
    for (i, p) in pixels.chunks(4).enumerate() {
        assert_eq!(p[..3], pixel, "{what}: pixel {i}");
    }
}

fn size_of(s: &Show, surface: vk::SurfaceKHR) -> (u32, u32) {
    let c = unsafe { s.surfaces.get_physical_device_surface_capabilities(s.physical, surface) };
    let e = c.expect("the window is there").current_extent;
    (e.width, e.height)
}

/// Formats and modes over one server.
fn colours(server: &XServer) {
    let s = Show::new();
    // An odd width: rows of images and of windows are padded differently.
    let window = Window::new(server, 123, 57);
    let surface = s.xcb(window.raw(), window.id);
    assert_eq!(size_of(&s, surface), (123, 57));
    let ext = ash::khr::xcb_surface::Instance::new(crate::common::entry(), &s.instance);
    let (formats, modes) = unsafe {
        let shows = |visual| {
            ext.get_physical_device_xcb_presentation_support(s.physical, 0, &mut *window.raw(), visual)
        };
        assert!(shows(window.visual) && !shows(0));
        (
            s.surfaces.get_physical_device_surface_formats(s.physical, surface).unwrap(),
            s.surfaces.get_physical_device_surface_present_modes(s.physical, surface).unwrap(),
        )
    };
    let mut old = Chain { handle: vk::SwapchainKHR::null(), images: vec![] };
    let mut id = 0;
    for f in &formats {
        for &mode in &modes {
            let info = Show::info(surface, 123, 57, f.format, mode).old_swapchain(old.handle);
            let new = s.chain(&info);
            if !old.images.is_empty() {
                s.end(old);
            }
            old = new;
            id += 1;
            s.show(&old, [0.0, 0.0, 1.0, 0.0], id);
            let blue = window.pixels(123, 57);
            assert_all(&blue, [255, 0, 0], &format!("blue, {:?}, {mode:?}", f.format));
            id += 1;
            // What is cleared in linear light is encoded in the image.
            let srgb = [vk::Format::B8G8R8A8_SRGB, vk::Format::R8G8B8A8_SRGB].contains(&f.format);
            let green = if srgb { 0.033_105 } else { ORANGE[1] };
            s.show(&old, [ORANGE[0], green, ORANGE[2], 1.0], id);
            assert_all(&window.pixels(123, 57), ORANGE_PIXEL, &format!("{:?}, {mode:?}", f.format));
        }
    }
    s.end(old);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn colours_by_shared_memory() {
    colours(&XServer::new(24, &[]));
}

#[test]
fn colours_over_the_wire() {
    colours(&XServer::new(24, &["-extension", "MIT-SHM"]));
}

#[test]
fn a_large_picture_goes_over_the_wire_in_pieces() {
    let server = XServer::new(24, &["-extension", "MIT-SHM", "-extension", "BIG-REQUESTS"]);
    let s = Show::new();
    let window = Window::new(&server, 700, 500);
    let surface = s.xcb(window.raw(), window.id);
    let chain = s.chain(&Show::info(surface, 700, 500, BGRA, FIFO));
    s.show(&chain, ORANGE, 1);
    assert_all(&window.pixels(700, 500), ORANGE_PIXEL, "a large picture");
    s.end(chain);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn a_screen_of_sixteen_bits() {
    let server = XServer::new(16, &[]);
    let s = Show::new();
    let window = Window::new(&server, 33, 20);
    let surface = s.xcb(window.raw(), window.id);
    let chain = s.chain(&Show::info(surface, 33, 20, BGRA, FIFO));
    s.show(&chain, [1.0, 0.0, 1.0, 1.0], 1);
    let pixels = window.pixels(33, 20);
    for row in pixels.chunks(68) {
        for p in row[..66].chunks(2) {
            assert_eq!(p, [0x1F, 0xF8]);
        }
    }
    s.end(chain);
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn a_window_changes_size_and_goes_away() {
    let server = XServer::new(24, &[]);
    let s = Show::new();
    let window = Window::new(&server, 100, 80);
    let surface = s.xcb(window.raw(), window.id);
    let first = s.chain(&Show::info(surface, 100, 80, BGRA, FIFO));
    assert!(!s.show(&first, ORANGE, 1));
    window.resize(160, 120);
    assert_eq!(size_of(&s, surface), (160, 120), "the application's own order holds");
    // The new size is seen with the next picture, and said from then on.
    s.show(&first, ORANGE, 2);
    assert!(s.show(&first, ORANGE, 3), "suboptimal");
    // The picture lies in the corner.
    let pixels = window.pixels(160, 120);
    let at = |x: usize, y: usize| &pixels[(y * 160 + x) * 4..][..3];
    assert_eq!((at(99, 79), at(100, 79), at(99, 80)), (&ORANGE_PIXEL[..], &[0; 3][..], &[0; 3][..]));
    let info = Show::info(surface, 160, 120, BGRA, FIFO).old_swapchain(first.handle);
    let second = s.chain(&info);
    s.end(first);
    assert!(!s.show(&second, ORANGE, 1));
    assert_all(&window.pixels(160, 120), ORANGE_PIXEL, "the new size");

    let image = s.acquire(&second);
    let cleared = s.clear(second.images[image as usize], ORANGE, None);
    window.destroy();
    let presented = s.present(&second, image, cleared, 2);
    assert!(matches!(presented, Ok(false) | Err(vk::Result::ERROR_SURFACE_LOST_KHR)), "{presented:?}");
    assert_eq!(s.seen(&second, 2, 5_000_000_000), vk::Result::ERROR_SURFACE_LOST_KHR);
    unsafe {
        s.device.device_wait_idle().unwrap();
        let got = s.swapchains.acquire_next_image(second.handle, 0, vk::Semaphore::null(), vk::Fence::null());
        assert_eq!(got.err(), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
        let c = s.surfaces.get_physical_device_surface_capabilities(s.physical, surface);
        assert_eq!(c.err(), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
        s.end(second);
        s.surfaces.destroy_surface(surface, None);
    }
}

#[test]
fn fifo_shows_each_at_the_screens_pace_and_mailbox_the_newest() {
    let server = XServer::new(24, &[]);
    let s = Show::new();
    let window = Window::new(&server, 20, 20);
    let surface = s.xcb(window.raw(), window.id);
    let fifo = s.chain(&Show::info(surface, 20, 20, BGRA, FIFO));
    let run = |chain: &Chain| {
        let start = Instant::now();
        for id in 1..=12 {
            let image = s.acquire(chain);
            let red = [id as f32 / 255.0, 0.0, 0.0, 1.0];
            let cleared = s.clear(chain.images[image as usize], red, None);
            assert_eq!(s.present(chain, image, cleared, id), Ok(false));
        }
        assert_eq!(s.seen(chain, 12, 5_000_000_000), vk::Result::SUCCESS);
        assert_all(&window.pixels(20, 20), [0, 0, 12], "the last");
        start.elapsed()
    };
    // Xvfb tells no rate of its own that is slower than 60 Hz by much; eleven pauses between twelve pictures.
    assert!(run(&fifo) >= Duration::from_millis(11 * 10), "FIFO is paced");
    let mailbox = Show::info(surface, 20, 20, BGRA, vk::PresentModeKHR::MAILBOX).old_swapchain(fifo.handle);
    let mailbox = s.chain(&mailbox);
    s.end(fifo);
    let quick = run(&mailbox);
    s.end(mailbox);
    assert!(quick < Duration::from_millis(11 * 10), "mailbox waits for nobody: {quick:?}");
    unsafe { s.surfaces.destroy_surface(surface, None) };
}

#[test]
fn an_image_of_the_applications_own_is_bound_to_a_swapchains() {
    let server = XServer::new(24, &[]);
    let s = Show::new();
    let window = Window::new(&server, 40, 30);
    let surface = s.xcb(window.raw(), window.id);
    let chain = s.chain(&Show::info(surface, 40, 30, BGRA, FIFO));
    unsafe {
        let mut of = vk::ImageSwapchainCreateInfoKHR::default().swapchain(chain.handle);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(BGRA)
            .extent(vk::Extent3D { width: 40, height: 30, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .push_next(&mut of);
        let alias = s.device.create_image(&info, None).unwrap();
        let number = s.acquire(&chain);
        let mut of =
            vk::BindImageMemorySwapchainInfoKHR::default().swapchain(chain.handle).image_index(number);
        let bind = vk::BindImageMemoryInfo::default().image(alias).push_next(&mut of);
        s.device.bind_image_memory2(&[bind]).unwrap();
        let cleared = s.clear(alias, ORANGE, None);
        s.present(&chain, number, cleared, 1).unwrap();
        assert_eq!(s.seen(&chain, 1, 5_000_000_000), vk::Result::SUCCESS);
        assert_all(&window.pixels(40, 30), ORANGE_PIXEL, "drawn into the other image");
        s.device.destroy_image(alias, None);
        s.end(chain);
        s.surfaces.destroy_surface(surface, None);
    }
}

#[test]
fn a_window_of_xlibs() {
    let server = XServer::new(24, &[]);
    let s = Show::new();
    let window = Window::new(&server, 50, 40);
    window.pixels(1, 1); // Xlib's connection is another: the server is to know the window.
    let name = CString::new(server.name.clone()).unwrap();
    // SAFETY: libX11's own functions, by their types in X11/Xlib.h.
    unsafe {
        let x11 = libc::dlopen(c"libX11.so.6".as_ptr(), libc::RTLD_NOW);
        assert!(!x11.is_null(), "this test needs libX11 (Debian: libx11-6)");
        let open: unsafe extern "C" fn(*const c_char) -> *mut c_void =
            std::mem::transmute(libc::dlsym(x11, c"XOpenDisplay".as_ptr()));
        let close: unsafe extern "C" fn(*mut c_void) -> i32 =
            std::mem::transmute(libc::dlsym(x11, c"XCloseDisplay".as_ptr()));
        let display = open(name.as_ptr());
        assert!(!display.is_null());
        let surface = s.xlib(display, window.id);
        assert_eq!(size_of(&s, surface), (50, 40));
        let ext = ash::khr::xlib_surface::Instance::new(crate::common::entry(), &s.instance);
        let visual = window.visual;
        assert!(ext.get_physical_device_xlib_presentation_support(s.physical, 0, display.cast(), visual));
        let chain = s.chain(&Show::info(surface, 50, 40, BGRA, FIFO));
        s.show(&chain, ORANGE, 1);
        assert_all(&window.pixels(50, 40), ORANGE_PIXEL, "by Xlib");
        s.end(chain);
        s.surfaces.destroy_surface(surface, None);
        close(display);
    }
}

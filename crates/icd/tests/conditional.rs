//! Conditional rendering (§ Conditional Rendering), and commands that name memory by its address.

use crate::gpu::{Gpu, Mapped};
use ::vk as new;
use ash::vk;
use std::ffi::CStr;

/// Clears, in a pass over one pixel, which are in order and may be discarded.
struct Pixel {
    target: crate::gpu::Viewed,
    out: Mapped,
}

fn device() -> Gpu {
    let mut f = vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default()
        .conditional_rendering(true)
        .inherited_conditional_rendering(true);
    Gpu::with(&[ash::ext::conditional_rendering::NAME, c"VK_KHR_device_address_commands"], &mut f)
}

impl Pixel {
    fn new(g: &Gpu) -> Pixel {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        Pixel { target: g.image([1; 2], usage), out: g.buffer(1) }
    }

    fn clear(d: &ash::Device, c: vk::CommandBuffer, red: u8) {
        let color = vk::ClearColorValue { float32: [f32::from(red) / 255.0, 0.0, 0.0, 0.0] };
        let what = [vk::ClearAttachment {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            color_attachment: 0,
            clear_value: vk::ClearValue { color },
        }];
        let rect = vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..Default::default() };
        let rects = [vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 }];
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe { d.cmd_clear_attachments(c, &what, &rects) };
    }

    /// The pixel after a pass that begins with 0.
    fn after(
        &self,
        g: &Gpu,
        flags: vk::RenderingFlags,
        before: impl FnOnce(&ash::Device, vk::CommandBuffer),
        inside: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> u32 {
        let rect = vk::Rect2D { extent: vk::Extent2D { width: 1, height: 1 }, ..Default::default() };
        g.run(|d, c| unsafe {
            before(d, c);
            let color = [vk::RenderingAttachmentInfo::default()
                .image_view(self.target.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)];
            let info = vk::RenderingInfo::default()
                .flags(flags)
                .render_area(rect)
                .layer_count(1)
                .color_attachments(&color);
            d.cmd_begin_rendering(c, &info);
            inside(d, c);
            d.cmd_end_rendering(c);
            let layers = vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                layer_count: 1,
                ..Default::default()
            };
            let region = [vk::BufferImageCopy::default()
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width: 1, height: 1, depth: 1 })];
            let general = vk::ImageLayout::GENERAL;
            d.cmd_copy_image_to_buffer(c, self.target.image, general, self.out.buffer, &region);
        });
        self.out.words[0]
    }
}

/// The word is read when the work is done, and decides: 0 discards; inverted, all else does.
#[test]
fn clears_are_discarded_by_a_word_of_memory() {
    let g = device();
    let p = Pixel::new(&g);
    let word = g.buffer(2);
    let conditional = ash::ext::conditional_rendering::Device::new(&g.instance, &g.device);
    for (value, inverted, drawn) in [(0, false, 1), (5, false, 9), (0, true, 9), (1 << 31, true, 1)] {
        let flags = match inverted {
            true => vk::ConditionalRenderingFlagsEXT::INVERTED,
            false => Default::default(),
        };
        let begin =
            vk::ConditionalRenderingBeginInfoEXT::default().buffer(word.buffer).offset(4).flags(flags);
        let pixel = p.after(
            &g,
            Default::default(),
            // By the device, in order; the word before says the opposite.
            |d, c| unsafe {
                d.cmd_fill_buffer(c, word.buffer, 0, 4, (value == 0) as u32);
                d.cmd_fill_buffer(c, word.buffer, 4, 4, value);
            },
            |d, c| unsafe {
                Pixel::clear(d, c, 1);
                (conditional.fp().cmd_begin_conditional_rendering_ext)(c, &begin);
                Pixel::clear(d, c, 9);
                (conditional.fp().cmd_end_conditional_rendering_ext)(c);
            },
        );
        assert_eq!(pixel, drawn, "{value} {inverted}");
        // Behind its end nothing is discarded.
        let pixel = p.after(
            &g,
            Default::default(),
            |_, c| unsafe { (conditional.fp().cmd_begin_conditional_rendering_ext)(c, &begin) },
            |d, c| unsafe {
                (conditional.fp().cmd_end_conditional_rendering_ext)(c);
                Pixel::clear(d, c, 3);
            },
        );
        assert_eq!(pixel, 3);
    }
    g.free(word);
    g.free_image(p.target);
    g.free(p.out);
}

#[test]
fn a_secondary_buffer_inherits_the_condition() {
    let g = device();
    let p = Pixel::new(&g);
    let word = g.buffer(1);
    let conditional = ash::ext::conditional_rendering::Device::new(&g.instance, &g.device);
    let secondary = unsafe {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(g.pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let s = g.device.allocate_command_buffers(&info).unwrap()[0];
        let mut inherits = vk::CommandBufferInheritanceConditionalRenderingInfoEXT::default()
            .conditional_rendering_enable(true);
        let formats = [vk::Format::R8G8B8A8_UNORM];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inheritance =
            vk::CommandBufferInheritanceInfo::default().push_next(&mut inherits).push_next(&mut rendering);
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(
                vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE
                    | vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
            )
            .inheritance_info(&inheritance);
        g.device.begin_command_buffer(s, &begin).unwrap();
        Pixel::clear(&g.device, s, 200);
        g.device.end_command_buffer(s).unwrap();
        s
    };
    let begin = vk::ConditionalRenderingBeginInfoEXT::default().buffer(word.buffer);
    for (value, want) in [(0, 0), (1, 200)] {
        let pixel = p.after(
            &g,
            vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
            |d, c| unsafe {
                d.cmd_fill_buffer(c, word.buffer, 0, 4, value);
                (conditional.fp().cmd_begin_conditional_rendering_ext)(c, &begin);
            },
            |d, c| unsafe { d.cmd_execute_commands(c, &[secondary]) },
        );
        assert_eq!(pixel, want);
    }
    g.free(word);
    g.free_image(p.target);
    g.free(p.out);
}

/// A command of an extension that ash does not know.
unsafe fn command<F: Copy>(g: &Gpu, name: &CStr) -> F {
    let f =
        unsafe { g.instance.get_device_proc_addr(g.device.handle(), name.as_ptr()) }.expect("it is there");
    // SAFETY: the caller says what the function is.
    unsafe { std::mem::transmute_copy(&f) }
}

fn address(g: &Gpu, m: &Mapped) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(m.buffer);
    unsafe { g.device.get_buffer_device_address(&info) }
}

pub fn range(address: u64, size: u64) -> new::DeviceAddressRangeKHR {
    new::DeviceAddressRangeKHR { address, size }
}

/// VK_KHR_device_address_commands: fills, updates and copies, by address.
#[test]
fn memory_is_filled_and_copied_by_address() {
    let g = device();
    let (a, b) = (g.buffer(16), g.buffer(16));
    let (at, to) = (address(&g, &a), address(&g, &b));
    unsafe {
        type Fill = unsafe extern "system" fn(vk::CommandBuffer, *const new::DeviceAddressRangeKHR, u32, u32);
        type Update = unsafe extern "system" fn(
            vk::CommandBuffer,
            *const new::DeviceAddressRangeKHR,
            u32,
            u64,
            *const std::ffi::c_void,
        );
        type Copy = unsafe extern "system" fn(vk::CommandBuffer, *const new::CopyDeviceMemoryInfoKHR);
        let fill: Fill = command(&g, c"vkCmdFillMemoryKHR");
        let update: Update = command(&g, c"vkCmdUpdateMemoryKHR");
        let copy: Copy = command(&g, c"vkCmdCopyMemoryKHR");
        g.run(|_, c| {
            fill(c, &range(at + 8, 16), 0, 0xABCD);
            update(c, &range(at, 8), 0, 8, [1u32, 2].as_ptr().cast());
            let region = new::DeviceMemoryCopyKHR {
                src_range: range(at, 24),
                dst_range: range(to + 4, 24),
                ..Default::default()
            };
            copy(
                c,
                &new::CopyDeviceMemoryInfoKHR { region_count: 1, p_regions: &region, ..Default::default() },
            );
        });
        assert_eq!(a.words[..7], [1, 2, 0xABCD, 0xABCD, 0xABCD, 0xABCD, 0]);
        assert_eq!(b.words[..8], [0, 1, 2, 0xABCD, 0xABCD, 0xABCD, 0xABCD, 0]);
    }
    g.free(a);
    g.free(b);
}

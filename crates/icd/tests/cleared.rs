//! Images that render passes clear again and again: what others wrote meanwhile does not stay.

use crate::gpu::{COLOUR, Gpu, Mapped, Viewed};
use ash::vk;
use random::Random;
use vk::ImageLayout as Layout;

/// Tiles wholly and in part within.
const SIZE: [u32; 2] = [130, 70];
const PIXELS: usize = (SIZE[0] * SIZE[1]) as usize;
const GREY: u32 = 0x8080_8080;
const WHITE: u32 = !0;
const DEPTH: f32 = 0.625;

fn usage() -> vk::ImageUsageFlags {
    vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST
}

fn layers(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask: aspect, mip_level: 0, base_array_layer: 0, layer_count: 1 }
}

fn extent([width, height]: [u32; 2]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth: 1 }
}

/// A render pass that clears, and draws nothing.
fn clear(d: &ash::Device, c: vk::CommandBuffer, view: vk::ImageView, value: vk::ClearValue, depth: bool) {
    let attachment = vk::RenderingAttachmentInfo::default()
        .image_view(view)
        .image_layout(Layout::GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(value);
    let colours = [attachment];
    let [width, height] = SIZE;
    let area = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
    let info = vk::RenderingInfo::default().render_area(area).layer_count(1);
    let info = match depth {
        true => info.depth_attachment(&attachment).stencil_attachment(&attachment),
        false => info.color_attachments(&colours),
    };
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        d.cmd_begin_rendering(c, &info);
        d.cmd_end_rendering(c);
    }
}

/// An image as [`Gpu::image`] makes them, in memory that there is.
fn in_memory(d: &ash::Device, memory: vk::DeviceMemory) -> vk::Image {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(extent(SIZE))
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage());
    unsafe {
        let image = d.create_image(&info, None).expect("an image");
        d.bind_image_memory(image, memory, 0).expect("it is bound");
        image
    }
}

fn grey() -> vk::ClearValue {
    // 128 of 255 (§ Conversion from Normalized Fixed-Point).
    vk::ClearValue { color: vk::ClearColorValue { float32: [128.0 / 255.0; 4] } }
}

fn barrier(d: &ash::Device, c: vk::CommandBuffer) {
    let all = vk::PipelineStageFlags::ALL_COMMANDS;
    let any = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let memory = [vk::MemoryBarrier::default().src_access_mask(any).dst_access_mask(any)];
    unsafe { d.cmd_pipeline_barrier(c, all, all, Default::default(), &memory, &[], &[]) }
}

/// What the image holds once a pass has cleared it.
fn cleared(g: &Gpu, image: &Viewed, out: &mut Mapped) {
    g.run(|d, c| {
        clear(d, c, image.view, grey(), false);
        barrier(d, c);
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers(vk::ImageAspectFlags::COLOR))
            .image_extent(extent(SIZE));
        unsafe { d.cmd_copy_image_to_buffer(c, image.image, Layout::GENERAL, out.buffer, &[region]) };
    });
}

#[test]
fn what_others_wrote_is_cleared() {
    let g = Gpu::new();
    let d = &g.device;
    let mut out = g.buffer(PIXELS);
    let white = g.buffer(PIXELS);
    white.words.fill(WHITE);
    let other = g.image(SIZE, usage());
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers(vk::ImageAspectFlags::COLOR))
        .image_extent(extent(SIZE));
    g.run(|d, c| unsafe {
        d.cmd_copy_buffer_to_image(c, white.buffer, other.image, Layout::GENERAL, &[region])
    });
    type Write<'a> = (&'a str, &'a dyn Fn(&Viewed));
    let all = [vk::Offset3D::default(), vk::Offset3D { x: SIZE[0] as i32, y: SIZE[1] as i32, z: 1 }];
    let colour = layers(vk::ImageAspectFlags::COLOR);
    let writes: [Write; 8] = [
        ("a copy from a buffer", &|i| {
            // One texel of a tile.
            let at = vk::Offset3D { x: 70, y: 66, z: 0 };
            let region = region.image_offset(at).image_extent(extent([1, 1]));
            g.run(|d, c| unsafe {
                d.cmd_copy_buffer_to_image(c, white.buffer, i.image, Layout::GENERAL, &[region])
            });
        }),
        ("a copy", &|i| {
            let r = vk::ImageCopy::default().src_subresource(colour).dst_subresource(colour);
            let r = r.extent(extent(SIZE));
            g.run(|d, c| unsafe {
                d.cmd_copy_image(c, other.image, Layout::GENERAL, i.image, Layout::GENERAL, &[r])
            });
        }),
        ("a blit", &|i| {
            let r = vk::ImageBlit::default().src_subresource(colour).dst_subresource(colour);
            let r = r.src_offsets(all).dst_offsets(all);
            let filter = vk::Filter::NEAREST;
            g.run(|d, c| unsafe {
                d.cmd_blit_image(c, other.image, Layout::GENERAL, i.image, Layout::GENERAL, &[r], filter)
            });
        }),
        ("a clear", &|i| {
            let value = vk::ClearColorValue { float32: [1.0; 4] };
            g.run(|d, c| unsafe { d.cmd_clear_color_image(c, i.image, Layout::GENERAL, &value, &[COLOUR]) });
        }),
        ("a pass of another colour", &|i| {
            let value = vk::ClearValue { color: vk::ClearColorValue { float32: [1.0; 4] } };
            g.run(|d, c| clear(d, c, i.view, value, false));
        }),
        ("a buffer of the same memory", &|i| unsafe {
            let usage = vk::BufferUsageFlags::TRANSFER_DST;
            let info = vk::BufferCreateInfo::default().size(4 * PIXELS as u64).usage(usage);
            let buffer = d.create_buffer(&info, None).expect("a buffer");
            d.bind_buffer_memory(buffer, i.memory, 0).expect("it is bound");
            g.run(|d, c| d.cmd_fill_buffer(c, buffer, 0, vk::WHOLE_SIZE, WHITE));
            d.destroy_buffer(buffer, None);
        }),
        ("an image of the same memory", &|i| unsafe {
            let image = in_memory(d, i.memory);
            let value = vk::ClearColorValue { float32: [1.0; 4] };
            g.run(|d, c| d.cmd_clear_color_image(c, image, Layout::GENERAL, &value, &[COLOUR]));
            d.destroy_image(image, None);
        }),
        ("the host", &|i| unsafe {
            let at = d.map_memory(i.memory, 0, vk::WHOLE_SIZE, Default::default()).expect("it is mapped");
            std::slice::from_raw_parts_mut(at.cast::<u32>(), PIXELS).fill(WHITE);
            d.unmap_memory(i.memory);
        }),
    ];
    for (what, write) in writes {
        let image = g.image(SIZE, usage());
        // The second time nothing is written.
        for _ in 0..2 {
            cleared(&g, &image, &mut out);
            assert!(out.words.iter().all(|w| *w == GREY), "before {what}");
        }
        for _ in 0..2 {
            write(&image);
            out.words.fill(0);
            cleared(&g, &image, &mut out);
            assert!(out.words.iter().all(|w| *w == GREY), "after {what}");
            if what.contains("same memory") {
                break;
            }
        }
        g.free_image(image);
    }
    // Memory that one image leaves to the next.
    let first = g.image(SIZE, usage());
    cleared(&g, &first, &mut out);
    unsafe {
        d.destroy_image_view(first.view, None);
        d.destroy_image(first.image, None);
        let image = in_memory(d, first.memory);
        let value = vk::ClearColorValue { float32: [1.0; 4] };
        g.run(|d, c| d.cmd_clear_color_image(c, image, Layout::GENERAL, &value, &[COLOUR]));
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(COLOUR);
        let view = d.create_image_view(&info, None).expect("a view is made");
        let next = Viewed { image, view, memory: first.memory };
        cleared(&g, &next, &mut out);
        assert!(out.words.iter().all(|w| *w == GREY));
        g.free_image(next);
    }
    g.free_image(other);
    g.free(out);
    g.free(white);
}

/// What is bound to a memory.
enum User {
    Image(vk::Image, vk::ImageView),
    Buffer(vk::Buffer),
}

/// Memories that images and buffers share or leave to each other, in any order: each holds what was written last, by whomever.
#[test]
fn any_order_of_writers() {
    let g = Gpu::new();
    let d = &g.device;
    let out = g.buffer(PIXELS);
    let mut r = Random::new(11);
    let mut random = move |n: u32| r.below(n);
    let colours = [0, GREY, WHITE].map(|word| (word, [(word & 0xFF) as f32 / 255.0; 4]));
    let made = |memory: vk::DeviceMemory| unsafe {
        let image = in_memory(d, memory);
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(COLOUR);
        User::Image(image, d.create_image_view(&info, None).expect("a view is made"))
    };
    let gone = |user: User| unsafe {
        match user {
            User::Image(image, view) => {
                d.destroy_image_view(view, None);
                d.destroy_image(image, None);
            }
            User::Buffer(buffer) => d.destroy_buffer(buffer, None),
        }
    };
    // All of a memory holds one word.
    let mut passes = 0;
    for _ in 0..30 {
        let first = g.image(SIZE, usage());
        let (memory, mut holds) = (first.memory, None);
        let size = unsafe { d.get_image_memory_requirements(first.image) }.size;
        let mut users = vec![User::Image(first.image, first.view)];
        for _ in 0..40 {
            let (word, colour) = colours[random(3) as usize];
            let value = vk::ClearColorValue { float32: colour };
            let own = random(users.len().max(1) as u32) as usize;
            match (random(12), users.get(own)) {
                (0, _) => users.push(made(memory)),
                (1, Some(_)) => gone(users.swap_remove(own)),
                // Once in a while, for from then on nothing is known of the memory.
                (2, _) if random(8) == 0 => unsafe {
                    let info =
                        vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
                    let buffer = d.create_buffer(&info, None).expect("a buffer");
                    d.bind_buffer_memory(buffer, memory, 0).expect("it is bound");
                    users.push(User::Buffer(buffer));
                },
                (3, _) if random(8) == 0 => unsafe {
                    let at = d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("mapped");
                    std::slice::from_raw_parts_mut(at.cast::<u32>(), size as usize / 4).fill(word);
                    holds = Some(word);
                },
                (4, Some(User::Image(image, _))) => {
                    let range = &[COLOUR];
                    g.run(|d, c| unsafe {
                        d.cmd_clear_color_image(c, *image, Layout::GENERAL, &value, range)
                    });
                    holds = Some(word);
                }
                (_, Some(User::Image(_, view))) => {
                    g.run(|d, c| clear(d, c, *view, vk::ClearValue { color: value }, false));
                    holds = Some(word);
                    passes += 1;
                }
                (_, Some(User::Buffer(buffer))) => {
                    g.run(|d, c| unsafe { d.cmd_fill_buffer(c, *buffer, 0, vk::WHOLE_SIZE, word) });
                    holds = Some(word);
                }
                _ => continue,
            }
            let image = users.iter().find_map(|u| if let User::Image(i, _) = u { Some(*i) } else { None });
            let (Some(image), Some(holds)) = (image, holds) else { continue };
            g.run(|d, c| {
                let region = vk::BufferImageCopy::default()
                    .image_subresource(layers(vk::ImageAspectFlags::COLOR))
                    .image_extent(extent(SIZE));
                unsafe { d.cmd_copy_image_to_buffer(c, image, Layout::GENERAL, out.buffer, &[region]) };
            });
            assert!(out.words.iter().all(|w| *w == holds), "{holds:#x}");
        }
        users.into_iter().for_each(gone);
        unsafe { d.free_memory(memory, None) };
    }
    assert!(passes > 300, "{passes}");
    g.free(out);
}

#[test]
fn depth_and_stencil_are_apart() {
    let g = Gpu::new();
    let d = &g.device;
    let out = g.buffer(PIXELS);
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    let range = vk::ImageSubresourceRange { aspect_mask: depth | stencil, ..COLOUR };
    unsafe {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent(SIZE))
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let image = d.create_image(&info, None).expect("an image");
        let need = d.get_image_memory_requirements(image);
        let info = vk::MemoryAllocateInfo::default().allocation_size(need.size);
        let memory = d.allocate_memory(&info, None).expect("memory");
        d.bind_image_memory(image, memory, 0).expect("it is bound");
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        let view = d.create_image_view(&info, None).expect("a view");
        let value =
            |stencil| vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: DEPTH, stencil } };
        // A pass clears both; then one of them is written, and another pass clears both to what one of them has.
        for (aspect, after) in [(depth, 7), (stencil, 7), (depth, 9), (stencil, 9)] {
            g.run(|d, c| clear(d, c, view, value(7), true));
            g.run(|d, c| {
                let value = vk::ClearDepthStencilValue { depth: 0.25, stencil: 3 };
                let only = vk::ImageSubresourceRange { aspect_mask: aspect, ..range };
                d.cmd_clear_depth_stencil_image(c, image, Layout::GENERAL, &value, &[only]);
            });
            g.run(|d, c| clear(d, c, view, value(after), true));
            for (aspect, texel) in [(depth, DEPTH.to_bits()), (stencil, 0x0101_0101 * after)] {
                g.run(|d, c| {
                    let region = vk::BufferImageCopy::default()
                        .image_subresource(layers(aspect))
                        .image_extent(extent(SIZE));
                    d.cmd_copy_image_to_buffer(c, image, Layout::GENERAL, out.buffer, &[region]);
                });
                let words = if aspect == depth { PIXELS } else { PIXELS / 4 };
                assert!(out.words[..words].iter().all(|w| *w == texel), "{aspect:?} {after}");
            }
        }
        d.destroy_image_view(view, None);
        d.destroy_image(image, None);
        d.free_memory(memory, None);
    }
    g.free(out);
}

//! Images outside of render passes: copies, clears, layouts, shaders.

use crate::Situation;
use crate::world::*;
use ash::vk;
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

pub const ALL: &[Situation] = &[
    ("clear_then_read", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::GENERAL)])?;
        w.run(|r| {
            r.clear(&image, L::GENERAL);
            if !fault {
                r.barrier(CLEAR, COPY_READ);
            }
            r.read_rows(&image, L::GENERAL, 0, SIZE, (0, 0));
        })
    }),
    ("rows_of_an_image", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::GENERAL)])?;
        w.run(|r| {
            r.write_rows(&image, L::GENERAL, 0, 32, (0, 0));
            r.read_rows(&image, L::GENERAL, if fault { 31 } else { 32 }, 8, (1, 0));
        })
    }),
    ("layout_changed_too_early", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::TRANSFER_DST_OPTIMAL)])?;
        w.run(|r| {
            r.write_rows(&image, L::TRANSFER_DST_OPTIMAL, 0, 64, (0, 0));
            let src = if fault { NONE } else { COPY_WRITE };
            r.change(&image, [L::TRANSFER_DST_OPTIMAL, L::TRANSFER_SRC_OPTIMAL], src, COPY_READ);
            r.read_rows(&image, L::TRANSFER_SRC_OPTIMAL, 0, 64, (1, 0));
        })
    }),
    ("layout_changed_without_availability", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::TRANSFER_DST_OPTIMAL)])?;
        w.run(|r| {
            r.write_rows(&image, L::TRANSFER_DST_OPTIMAL, 0, 64, (0, 0));
            let access = if fault { A::NONE } else { A::TRANSFER_WRITE };
            r.change(
                &image,
                [L::TRANSFER_DST_OPTIMAL, L::TRANSFER_SRC_OPTIMAL],
                (S::COPY, access),
                COPY_READ,
            );
            r.read_rows(&image, L::TRANSFER_SRC_OPTIMAL, 0, 64, (1, 0));
        })
    }),
    ("layout_changed_while_read", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::TRANSFER_SRC_OPTIMAL)])?;
        w.run(|r| {
            r.read_rows(&image, L::TRANSFER_SRC_OPTIMAL, 0, 64, (1, 0));
            let src = (if fault { S::COMPUTE_SHADER } else { S::COPY }, A::NONE);
            r.change(&image, [L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL], src, COPY_WRITE);
            r.write_rows(&image, L::TRANSFER_DST_OPTIMAL, 0, 64, (0, 0));
        })
    }),
    ("layout_changed_for_another_stage", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::TRANSFER_SRC_OPTIMAL)])?;
        w.run(|r| {
            let dst = if fault { FRAGMENT_READ } else { COPY_READ };
            r.change(&image, [L::TRANSFER_SRC_OPTIMAL, L::GENERAL], NONE, dst);
            r.read_rows(&image, L::GENERAL, 0, 64, (1, 0));
        })
    }),
    ("two_changes_of_layout", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::TRANSFER_SRC_OPTIMAL)])?;
        w.run(|r| {
            // Changes of layout are executed in order, whatever their stages.
            r.change(&image, [L::TRANSFER_SRC_OPTIMAL, L::GENERAL], NONE, NONE);
            let dst = if fault { (S::COPY, A::NONE) } else { COPY_READ };
            r.change(&image, [L::GENERAL, L::TRANSFER_SRC_OPTIMAL], NONE, dst);
            r.read_rows(&image, L::TRANSFER_SRC_OPTIMAL, 0, 64, (1, 0));
        })
    }),
    ("stores_of_two_dispatches", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::GENERAL)])?;
        let store = w.compute("store")?;
        let set = w.set(Bound { stored: Some(&image), ..Bound::default() })?;
        w.run(|r| {
            // Squares of 16 texels.
            r.dispatch(store, set, [0, 0], [2, 2]);
            r.dispatch(store, set, [if fault { 15 } else { 16 }, 8], [2, 2]);
        })
    }),
    ("fetch_after_store", |w, fault| {
        let image = w.target()?;
        w.prepare(&[(&image, L::GENERAL)])?;
        let (store, fetch) = (w.compute("store")?, w.compute("fetch")?);
        let set = w.set(Bound {
            buffers: [None, Some(&w.buffers[0])],
            stored: Some(&image),
            sampled: Some((&image, L::GENERAL)),
            ..Bound::default()
        })?;
        w.run(|r| {
            r.dispatch(store, set, [0, 0], [2, 2]);
            r.dispatch(fetch, set, [8, if fault { 15 } else { 16 }], [1, 1]);
        })
    }),
    ("sampled_after_copy", |w, fault| {
        let (image, target) = (w.target()?, w.target()?);
        w.prepare(&[(&image, L::TRANSFER_DST_OPTIMAL), (&target, L::COLOR_ATTACHMENT_OPTIMAL)])?;
        let draw = w.graphics(false, "sampled", None)?;
        let read = L::SHADER_READ_ONLY_OPTIMAL;
        let set = w.set(Bound { sampled: Some((&image, read)), ..Bound::default() })?;
        w.run(|r| {
            r.write_rows(&image, L::TRANSFER_DST_OPTIMAL, 0, 64, (0, 0));
            let dst = (if fault { S::COMPUTE_SHADER } else { S::FRAGMENT_SHADER }, A::SHADER_SAMPLED_READ);
            r.change(&image, [L::TRANSFER_DST_OPTIMAL, read], COPY_WRITE, dst);
            let op = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE);
            r.render((&target, L::COLOR_ATTACHMENT_OPTIMAL, op.0, op.1), None, || r.draw(draw, set));
        })
    }),
    ("image_in_the_memory_of_a_buffer", |w, fault| {
        // Aliases are the same memory.
        let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: SIZE, height: SIZE, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let at = client::Error::vk;
        // SAFETY: plain calls with structures of this function.
        unsafe {
            let d = &w.device;
            let image = d.create_image(&info, None).map_err(at("vkCreateImage"))?;
            let needs = d.get_image_memory_requirements(image);
            let buffer_info =
                vk::BufferCreateInfo::default().size(needs.size).usage(vk::BufferUsageFlags::TRANSFER_DST);
            let buffer = d.create_buffer(&buffer_info, None).map_err(at("vkCreateBuffer"))?;
            let both = needs.memory_type_bits & d.get_buffer_memory_requirements(buffer).memory_type_bits;
            let kind = w.context.memory_type(both, vk::MemoryPropertyFlags::empty())?;
            let allocate =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind);
            let memory = d.allocate_memory(&allocate, None).map_err(at("vkAllocateMemory"))?;
            d.bind_image_memory(image, memory, 0).map_err(at("vkBindImageMemory"))?;
            d.bind_buffer_memory(buffer, memory, 0).map_err(at("vkBindBufferMemory"))?;
            w.run(|r| {
                d.cmd_fill_buffer(r.buffer, buffer, 0, 4096, 0);
                if !fault {
                    r.barrier(CLEAR, CLEAR);
                }
                let range = vk::ImageSubresourceRange {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    level_count: 1,
                    layer_count: 1,
                    ..Default::default()
                };
                let barriers = [vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(if fault { S::NONE } else { S::CLEAR })
                    .dst_stage_mask(S::CLEAR)
                    .dst_access_mask(A::TRANSFER_WRITE)
                    .new_layout(L::TRANSFER_DST_OPTIMAL)
                    .image(image)
                    .subresource_range(range)];
                let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
                d.cmd_pipeline_barrier2(r.buffer, &info);
                let value = vk::ClearColorValue { float32: [1.0; 4] };
                d.cmd_clear_color_image(r.buffer, image, L::TRANSFER_DST_OPTIMAL, &value, &[range]);
            })
        }
    }),
];

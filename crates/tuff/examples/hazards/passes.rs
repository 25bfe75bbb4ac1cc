//! Render passes: attachments, subpasses, dependencies.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::graphics::{Image, ImageInfo};
use client::{Error, Result};
use vk::{
    AccessFlags as A1, AccessFlags2 as A, AttachmentLoadOp as Load, AttachmentStoreOp as Store,
    ImageLayout as L, PipelineStageFlags as S1, PipelineStageFlags2 as S,
};

const TARGET: L = L::COLOR_ATTACHMENT_OPTIMAL;

/// A dependency: subpasses, stages, accesses.
type Dependency = (u32, u32, [S1; 2], [A1; 2]);
const OUTSIDE: u32 = vk::SUBPASS_EXTERNAL;

/// A render pass with one colour attachment, and with a second subpass that reads it as input and draws to another one.
struct Built {
    pass: vk::RenderPass,
    frame: vk::Framebuffer,
}

fn build(
    w: &World,
    images: &[&Image],
    layouts: [L; 2],
    load: Load,
    dependencies: &[Dependency],
) -> Result<Built> {
    let attachment = |i: usize| {
        vk::AttachmentDescription::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(if i == 0 { load } else { Load::CLEAR })
            .store_op(Store::STORE)
            .initial_layout(if i == 0 { layouts[0] } else { TARGET })
            .final_layout(if i == 0 { layouts[1] } else { TARGET })
    };
    let attachments: Vec<_> = (0..images.len()).map(attachment).collect();
    let of = |attachment, layout| [vk::AttachmentReference { attachment, layout }];
    let (first, input, second) = (of(0, TARGET), of(0, L::SHADER_READ_ONLY_OPTIMAL), of(1, TARGET));
    let mut subpasses = vec![vk::SubpassDescription::default().color_attachments(&first)];
    if images.len() == 2 {
        subpasses
            .push(vk::SubpassDescription::default().input_attachments(&input).color_attachments(&second));
    }
    let dependencies: Vec<_> = dependencies
        .iter()
        .map(|(src, dst, stages, accesses)| {
            vk::SubpassDependency::default()
                .src_subpass(*src)
                .dst_subpass(*dst)
                .src_stage_mask(stages[0])
                .dst_stage_mask(stages[1])
                .src_access_mask(accesses[0])
                .dst_access_mask(accesses[1])
        })
        .collect();
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let views: Vec<_> = images.iter().map(|i| i.view).collect();
    // SAFETY: plain calls with structures of this function.
    unsafe {
        let pass = w.device.create_render_pass(&info, None).map_err(Error::vk("vkCreateRenderPass"))?;
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(SIZE)
            .height(SIZE)
            .layers(1);
        let frame = w.device.create_framebuffer(&info, None).map_err(Error::vk("vkCreateFramebuffer"))?;
        Ok(Built { pass, frame })
    }
}

/// A render pass of two subpasses without a dependency, which draw to these views of an image of two layers.
fn build_views(w: &World, image: &Image, views: [u32; 2]) -> Result<Built> {
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::R8G8B8A8_UNORM)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(Load::CLEAR)
        .store_op(Store::STORE)
        .initial_layout(TARGET)
        .final_layout(TARGET)];
    let color = [vk::AttachmentReference { attachment: 0, layout: TARGET }];
    let subpasses = [vk::SubpassDescription::default().color_attachments(&color); 2];
    let mut multiview = vk::RenderPassMultiviewCreateInfo::default().view_masks(&views);
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .push_next(&mut multiview);
    // SAFETY: plain calls with structures of this function.
    unsafe {
        let pass = w.device.create_render_pass(&info, None).map_err(Error::vk("vkCreateRenderPass"))?;
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(std::slice::from_ref(&image.view))
            .width(SIZE)
            .height(SIZE)
            .layers(1);
        let frame = w.device.create_framebuffer(&info, None).map_err(Error::vk("vkCreateFramebuffer"))?;
        Ok(Built { pass, frame })
    }
}

fn pass(r: &Recorder, built: &Built, first: impl FnOnce(), second: Option<&dyn Fn()>) {
    let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
    let clears = [vk::ClearValue::default(); 2];
    let info = vk::RenderPassBeginInfo::default()
        .render_pass(built.pass)
        .framebuffer(built.frame)
        .render_area(area)
        .clear_values(&clears);
    // SAFETY: recording, with live handles.
    unsafe {
        r.world.device.cmd_begin_render_pass(r.buffer, &info, vk::SubpassContents::INLINE);
        first();
        if let Some(second) = second {
            r.world.device.cmd_next_subpass(r.buffer, vk::SubpassContents::INLINE);
            second();
        }
        r.world.device.cmd_end_render_pass(r.buffer);
    }
}

const WRITE: [A1; 2] = [A1::COLOR_ATTACHMENT_WRITE, A1::COLOR_ATTACHMENT_WRITE];
const OUTPUT: [S1; 2] = [S1::COLOR_ATTACHMENT_OUTPUT; 2];

pub const ALL: &[Situation] = &[
    ("rendering_after_copy", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        let (draw, set) = (w.graphics(false, "plain", None)?, w.set(Bound::default())?);
        w.run(|r| {
            r.write_rows(&target, L::GENERAL, 0, 1, (0, 0));
            let dst = (if fault { S::FRAGMENT_SHADER } else { S::COLOR_ATTACHMENT_OUTPUT }, A::MEMORY_WRITE);
            r.barrier(COPY_WRITE, dst);
            r.render((&target, L::GENERAL, Load::CLEAR, Store::STORE), None, || r.draw(draw, set));
        })
    }),
    ("loaded_after_copy", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        let (draw, set) = (w.graphics(false, "plain", None)?, w.set(Bound::default())?);
        w.run(|r| {
            r.write_rows(&target, L::GENERAL, 0, 1, (0, 0));
            let access = if fault { A::COLOR_ATTACHMENT_WRITE } else { COLOR.1 };
            r.barrier(COPY_WRITE, (S::COLOR_ATTACHMENT_OUTPUT, access));
            r.render((&target, L::GENERAL, Load::LOAD, Store::STORE), None, || r.draw(draw, set));
        })
    }),
    ("two_passes_to_one_target", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, TARGET)])?;
        let (draw, set) = (w.graphics(false, "plain", None)?, w.set(Bound::default())?);
        w.run(|r| {
            r.render((&target, TARGET, Load::CLEAR, Store::STORE), None, || r.draw(draw, set));
            if !fault {
                r.barrier(COLOR, COLOR);
            }
            r.render((&target, TARGET, Load::LOAD, Store::STORE), None, || {
                // Draws of one pass are in order.
                r.draw(draw, set);
                r.draw(draw, set);
            });
        })
    }),
    ("depth_of_two_passes", |w, fault| {
        let (target, depth) = (w.target()?, w.depth()?);
        let layout = L::DEPTH_ATTACHMENT_OPTIMAL;
        w.prepare(&[(&target, TARGET), (&depth, layout)])?;
        w.run(|r| {
            let depth = (&*depth, layout, Load::CLEAR, Store::STORE);
            r.render((&target, TARGET, Load::CLEAR, Store::STORE), Some(depth), || ());
            r.barrier(COLOR, COLOR);
            if !fault {
                let tests = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
                let access = A::DEPTH_STENCIL_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
                r.barrier((tests, access), (tests, access));
            }
            r.render((&target, TARGET, Load::CLEAR, Store::STORE), Some(depth), || ());
        })
    }),
    ("copied_while_rendered", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        let (draw, set) = (w.graphics(false, "plain", None)?, w.set(Bound::default())?);
        w.run(|r| {
            r.render((&target, L::GENERAL, Load::CLEAR, Store::STORE), None, || r.draw(draw, set));
            let src = if fault { FRAGMENT_READ } else { COLOR };
            r.barrier(src, COPY_READ);
            r.read_rows(&target, L::GENERAL, 0, SIZE, (0, 0));
        })
    }),
    ("rendered_while_copied", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        w.run(|r| {
            r.read_rows(&target, L::GENERAL, 0, SIZE, (0, 0));
            r.barrier(
                (if fault { S::CLEAR } else { S::COPY }, A::NONE),
                (S::COLOR_ATTACHMENT_OUTPUT, A::NONE),
            );
            r.render((&target, L::GENERAL, Load::CLEAR, Store::STORE), None, || ());
        })
    }),
    ("target_read_by_fragments_of_the_next_pass", |w, fault| {
        let (image, target) = (w.target()?, w.target()?);
        w.prepare(&[(&image, L::GENERAL), (&target, TARGET)])?;
        let (plain, sampled) = (w.graphics(false, "plain", None)?, w.graphics(false, "sampled", None)?);
        let set = w.set(Bound { sampled: Some((&image, L::GENERAL)), ..Bound::default() })?;
        w.run(|r| {
            r.render((&image, L::GENERAL, Load::CLEAR, Store::STORE), None, || r.draw(plain, set));
            let dst = if fault { (S::VERTEX_SHADER, A::SHADER_READ) } else { FRAGMENT_READ };
            r.barrier(COLOR, dst);
            r.render((&target, TARGET, Load::CLEAR, Store::STORE), None, || r.draw(sampled, set));
        })
    }),
    ("initial_layout_without_dependency", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, TARGET)])?;
        let stages = if fault { [S1::TOP_OF_PIPE, S1::COLOR_ATTACHMENT_OUTPUT] } else { OUTPUT };
        let accesses = if fault { [A1::empty(), WRITE[1]] } else { WRITE };
        let built =
            build(w, &[&target], [L::UNDEFINED, TARGET], Load::CLEAR, &[(OUTSIDE, 0, stages, accesses)])?;
        w.run(|r| {
            pass(r, &built, || (), None);
            pass(r, &built, || (), None);
        })
    }),
    ("dependency_for_another_access", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        let second = if fault { A1::COLOR_ATTACHMENT_READ } else { A1::COLOR_ATTACHMENT_WRITE };
        let d = [(OUTSIDE, 0, OUTPUT, [WRITE[0], second])];
        let built = build(w, &[&target], [L::GENERAL, TARGET], Load::CLEAR, &d)?;
        w.run(|r| pass(r, &built, || (), None))
    }),
    ("final_layout_then_copy", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, TARGET)])?;
        let (to, access) = match fault {
            true => (S1::BOTTOM_OF_PIPE, A1::empty()),
            false => (S1::TRANSFER, A1::TRANSFER_READ),
        };
        let out = (0, OUTSIDE, [S1::COLOR_ATTACHMENT_OUTPUT, to], [A1::COLOR_ATTACHMENT_WRITE, access]);
        let built = build(w, &[&target], [TARGET, L::TRANSFER_SRC_OPTIMAL], Load::CLEAR, &[out])?;
        w.run(|r| {
            pass(r, &built, || (), None);
            r.read_rows(&target, L::TRANSFER_SRC_OPTIMAL, 0, SIZE, (0, 0));
        })
    }),
    ("input_attachment_of_the_subpass_before", |w, fault| {
        let (one, two) = (w.target()?, w.target()?);
        w.prepare(&[(&one, TARGET), (&two, TARGET)])?;
        let stage = if fault { S1::VERTEX_SHADER } else { S1::FRAGMENT_SHADER };
        let access = if fault { A1::SHADER_READ } else { A1::INPUT_ATTACHMENT_READ };
        let between = (0, 1, [S1::COLOR_ATTACHMENT_OUTPUT, stage], [A1::COLOR_ATTACHMENT_WRITE, access]);
        let out = (1, OUTSIDE, [S1::ALL_COMMANDS; 2], [A1::MEMORY_WRITE, A1::MEMORY_READ | A1::MEMORY_WRITE]);
        let out0 =
            (0, OUTSIDE, [S1::ALL_COMMANDS; 2], [A1::MEMORY_WRITE, A1::MEMORY_READ | A1::MEMORY_WRITE]);
        let built = build(
            w,
            &[&one, &two],
            [TARGET, L::SHADER_READ_ONLY_OPTIMAL],
            Load::CLEAR,
            &[between, out0, out],
        )?;
        let first = w.graphics(false, "plain", Some((built.pass, 0)))?;
        let second = w.graphics(false, "input", Some((built.pass, 1)))?;
        let set = w.set(Bound { input: Some((&one, L::SHADER_READ_ONLY_OPTIMAL)), ..Bound::default() })?;
        w.run(|r| pass(r, &built, || r.draw(first, set), Some(&|| r.draw(second, set))))
    }),
    ("views_of_two_subpasses", |w, fault| {
        // Each view is loaded by the first subpass that has it: the twin's second view needs no dependency.
        let info = ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIZE; 2]);
        let target =
            w.image(ImageInfo { layers: 2, usage: vk::ImageUsageFlags::COLOR_ATTACHMENT, ..info })?;
        w.prepare(&[(&target, TARGET)])?;
        let built = build_views(w, &target, [1, if fault { 3 } else { 2 }])?;
        let first = w.graphics(false, "plain", Some((built.pass, 0)))?;
        let second = w.graphics(false, "plain", Some((built.pass, 1)))?;
        let set = w.set(Bound::default())?;
        w.run(|r| pass(r, &built, || r.draw(first, set), Some(&|| r.draw(second, set))))
    }),
    ("clear_outside_then_load", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::GENERAL)])?;
        w.run(|r| {
            r.clear(&target, L::GENERAL);
            r.barrier(if fault { COPY_WRITE } else { CLEAR }, COLOR);
            r.render((&target, L::GENERAL, Load::LOAD, Store::STORE), None, || ());
        })
    }),
];

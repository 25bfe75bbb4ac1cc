//! Render passes: how they overlap, of every kind, with views, suspended.

use super::Done;
use super::rig::{COLOUR, Rig, SIDE, idle, submit};
use crate::check::text;
use ash::vk;
use client::graphics::{Image, ImageInfo, Pipeline, barrier};

/// The seed's diagram: three passes and a dispatch, with nothing that orders them.
pub fn diagram() -> Done {
    let rig = Rig::open()?;
    let targets = (0..3)
        .map(|_| Image::new(&rig.context, ImageInfo::colour(COLOUR, [SIDE; 2])).map_err(text))
        .collect::<Result<Vec<_>, _>>()?;
    let c = rig.context.record(|d, c| {
        for (i, t) in targets.iter().enumerate() {
            rig.labelled(c, &format!("pass {i}"), || {
                Rig::pass(t).record(d, c, |d, c| (0..=i).for_each(|_| rig.draw(d, c, &rig.pipeline)));
            });
        }
        rig.labelled(c, "dispatch", || rig.dispatch(d, c, 1000));
    });
    rig.context.submit_and_wait(c.map_err(text)?).map_err(text)
}

/// A render pass object with so many subpasses over one colour attachment, seen by these views.
unsafe fn object(d: &ash::Device, subpasses: usize, mask: u32, new: bool) -> Result<vk::RenderPass, String> {
    let (load, store) = (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE);
    let layout = vk::ImageLayout::GENERAL;
    if new {
        let attachments = [vk::AttachmentDescription2::default()
            .format(COLOUR)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(load)
            .store_op(store)
            .initial_layout(layout)
            .final_layout(layout)];
        let colours = [vk::AttachmentReference2::default().layout(layout)];
        let one = vk::SubpassDescription2::default().color_attachments(&colours).view_mask(mask);
        let list = vec![one; subpasses];
        let between = [between2()];
        let mut info = vk::RenderPassCreateInfo2::default().attachments(&attachments).subpasses(&list);
        if subpasses > 1 {
            info = info.dependencies(&between);
        }
        // SAFETY: a live device, of which the structure is.
        return unsafe { d.create_render_pass2(&info, None) }.map_err(text);
    }
    let attachments = [vk::AttachmentDescription::default()
        .format(COLOUR)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(load)
        .store_op(store)
        .initial_layout(layout)
        .final_layout(layout)];
    let colours = [vk::AttachmentReference::default().layout(layout)];
    let list = vec![vk::SubpassDescription::default().color_attachments(&colours); subpasses];
    let stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let access = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    let between = [vk::SubpassDependency {
        src_subpass: 0,
        dst_subpass: 1,
        src_stage_mask: stage,
        dst_stage_mask: stage,
        src_access_mask: access,
        dst_access_mask: access,
        dependency_flags: vk::DependencyFlags::BY_REGION,
    }];
    let masks = vec![mask; subpasses];
    let mut multiview = vk::RenderPassMultiviewCreateInfo::default().view_masks(&masks);
    let mut info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&list);
    if subpasses > 1 {
        info = info.dependencies(&between);
    }
    if mask != 0 {
        info = info.push_next(&mut multiview);
    }
    // SAFETY: a live device, of which the structure is.
    unsafe { d.create_render_pass(&info, None) }.map_err(text)
}

fn between2() -> vk::SubpassDependency2<'static> {
    let stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
    let access = vk::AccessFlags::COLOR_ATTACHMENT_WRITE;
    vk::SubpassDependency2::default()
        .src_subpass(0)
        .dst_subpass(1)
        .src_stage_mask(stage)
        .dst_stage_mask(stage)
        .src_access_mask(access)
        .dst_access_mask(access)
        .dependency_flags(vk::DependencyFlags::BY_REGION)
}

/// Draws once in each subpass of an object of either kind.
fn drawn(rig: &Rig, target: &Image, subpasses: usize, mask: u32, new: bool) -> Done {
    let d = &rig.context.device;
    // SAFETY: plain Vulkan calls with structs that outlive them; nothing is pending when it is destroyed.
    unsafe {
        let pass = object(d, subpasses, mask, new)?;
        let views = [target.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(SIDE)
            .height(SIDE)
            .layers(1);
        let framebuffer = d.create_framebuffer(&info, None).map_err(text)?;
        let pipelines = (0..subpasses as u32)
            .map(|s| {
                let mut info = Rig::drawn();
                info.render_pass = Some((pass, s));
                Pipeline::new(&rig.context, &info, None).map_err(text)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let area =
            vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: SIDE, height: SIDE } };
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: SIDE as f32,
            height: SIDE as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let clear = [vk::ClearValue::default()];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(pass)
            .framebuffer(framebuffer)
            .render_area(area)
            .clear_values(&clear);
        let inline = vk::SubpassContents::INLINE;
        let subpass = vk::SubpassBeginInfo::default().contents(inline);
        let end = vk::SubpassEndInfo::default();
        rig.context
            .run(|d, c| {
                match new {
                    true => d.cmd_begin_render_pass2(c, &begin, &subpass),
                    false => d.cmd_begin_render_pass(c, &begin, inline),
                }
                d.cmd_set_viewport(c, 0, &[viewport]);
                d.cmd_set_scissor(c, 0, &[area]);
                for (i, p) in pipelines.iter().enumerate() {
                    match (i, new) {
                        (0, _) => {}
                        (_, true) => d.cmd_next_subpass2(c, &subpass, &end),
                        (_, false) => d.cmd_next_subpass(c, inline),
                    }
                    rig.draw(d, c, p);
                }
                match new {
                    true => d.cmd_end_render_pass2(c, &end),
                    false => d.cmd_end_render_pass(c),
                }
            })
            .map_err(text)?;
        drop(pipelines);
        d.destroy_framebuffer(framebuffer, None);
        d.destroy_render_pass(pass, None);
    }
    Ok(())
}

/// Both kinds of objects, with one and with two subpasses; dynamic rendering with commands, and with secondaries.
pub fn kinds() -> Done {
    let rig = Rig::open()?;
    for (subpasses, new) in [(1, false), (1, true), (2, false), (2, true)] {
        drawn(&rig, &rig.target, subpasses, 0, new)?;
    }
    let pass = Rig::pass(&rig.target);
    rig.context.run(|d, c| pass.record(d, c, |d, c| rig.draw(d, c, &rig.pipeline))).map_err(text)?;
    let pool = rig.pool(vk::CommandPoolCreateFlags::empty())?;
    let secondary = rig.allocate(pool, vk::CommandBufferLevel::SECONDARY, 1)?[0];
    let formats = [COLOUR];
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&formats)
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let inherited = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inherited);
    rig.record(secondary, &begin, |d| viewport(d, secondary, || rig.draw(d, secondary, &rig.pipeline)))?;
    let mut with = Rig::pass(&rig.target);
    with.flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
    rig.context
        .run(|d, c| {
            // SAFETY: a recorded secondary, inside the pass that it continues.
            begin_end(d, c, &with, || unsafe { d.cmd_execute_commands(c, &[secondary]) })
        })
        .map_err(text)?;
    // SAFETY: nothing is pending.
    unsafe { rig.context.device.destroy_command_pool(pool, None) };
    Ok(())
}

fn viewport(d: &ash::Device, c: vk::CommandBuffer, f: impl FnOnce()) {
    let size = SIDE as f32;
    let viewport = vk::Viewport { x: 0.0, y: 0.0, width: size, height: size, min_depth: 0.0, max_depth: 1.0 };
    let extent = vk::Extent2D { width: SIDE, height: SIDE };
    // SAFETY: recording.
    unsafe {
        d.cmd_set_viewport(c, 0, &[viewport]);
        d.cmd_set_scissor(c, 0, &[vk::Rect2D { offset: Default::default(), extent }]);
    }
    f();
}

/// A pass whose contents are not this command buffer's commands, so that no state may be set in it.
fn begin_end(d: &ash::Device, c: vk::CommandBuffer, pass: &client::graphics::Pass, f: impl FnOnce()) {
    let a = &pass.colours[0];
    let colours = [vk::RenderingAttachmentInfo::default()
        .image_view(a.image.view)
        .image_layout(vk::ImageLayout::GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)];
    let extent = vk::Extent2D { width: pass.size[0], height: pass.size[1] };
    let info = vk::RenderingInfo::default()
        .flags(pass.flags)
        .render_area(vk::Rect2D { offset: Default::default(), extent })
        .layer_count(1)
        .color_attachments(&colours);
    // SAFETY: recording with live handles.
    unsafe {
        d.cmd_begin_rendering(c, &info);
        f();
        d.cmd_end_rendering(c);
    }
}

/// Passes with two views: dynamic rendering, and objects of both kinds.
pub fn multiview() -> Done {
    let rig = Rig::open()?;
    let mut info = ImageInfo::colour(COLOUR, [SIDE; 2]);
    info.layers = 2;
    let target = Image::new(&rig.context, info).map_err(text)?;
    let mut info = Rig::drawn();
    info.view_mask = 3;
    let pipeline = Pipeline::new(&rig.context, &info, None).map_err(text)?;
    let mut pass = Rig::pass(&target);
    pass.view_mask = 3;
    rig.context.run(|d, c| pass.record(d, c, |d, c| rig.draw(d, c, &pipeline))).map_err(text)?;
    drawn(&rig, &target, 1, 3, false)?;
    drawn(&rig, &target, 1, 3, true)
}

/// A pass in three parts of one command buffer; one in two parts of two command buffers of a batch, submitted twice.
pub fn suspended() -> Done {
    let rig = Rig::open()?;
    use vk::RenderingFlags as F;
    let part = |d: &ash::Device, c, flags| {
        let mut pass = Rig::pass(&rig.target);
        pass.flags = flags;
        pass.record(d, c, |d, c| rig.draw(d, c, &rig.pipeline));
    };
    let whole = rig.context.record(|d, c| {
        part(d, c, F::SUSPENDING);
        part(d, c, F::SUSPENDING | F::RESUMING);
        part(d, c, F::RESUMING);
        barrier(d, c);
        rig.dispatch(d, c, 3);
    });
    let first = rig.context.record(|d, c| {
        rig.dispatch(d, c, 5);
        barrier(d, c);
        part(d, c, F::SUSPENDING)
    });
    let last = rig.context.record(|d, c| {
        part(d, c, F::RESUMING);
        barrier(d, c)
    });
    submit(&rig.context, &[whole.map_err(text)?])?;
    let both = [first.map_err(text)?, last.map_err(text)?];
    idle(&rig.context)?;
    for _ in 0..2 {
        submit(&rig.context, &both)?;
        idle(&rig.context)?;
    }
    Ok(())
}

/// Labels of the program's that begin or end inside passes and between the parts of one: a suspended pass in two command
/// buffers, a pass that a label begins in, one that a label ends in, and a dispatch after.
pub fn labelled() -> Done {
    let rig = Rig::open()?;
    use vk::RenderingFlags as F;
    let name = |c, name: &str| {
        let name = std::ffi::CString::new(name).expect("no zeros");
        let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
        // SAFETY: recording; the name outlives the call.
        unsafe { rig.labels.cmd_begin_debug_utils_label(c, &label) };
    };
    // SAFETY: recording.
    let end = |c| unsafe { rig.labels.cmd_end_debug_utils_label(c) };
    let part = |d: &ash::Device, c, flags, inside: &dyn Fn()| {
        let mut pass = Rig::pass(&rig.target);
        pass.flags = flags;
        pass.record(d, c, |d, c| {
            rig.draw(d, c, &rig.pipeline);
            inside();
        });
    };
    let first = rig.context.record(|d, c| {
        name(c, "first part");
        part(d, c, F::SUSPENDING, &|| ());
        end(c);
        name(c, "second part");
    });
    let second = rig.context.record(|d, c| {
        part(d, c, F::RESUMING, &|| ());
        end(c);
        barrier(d, c);
    });
    let rest = rig.context.record(|d, c| {
        name(c, "begins outside");
        part(d, c, F::empty(), &|| {
            end(c);
            name(c, "begins inside");
        });
        end(c);
        barrier(d, c);
        rig.dispatch(d, c, 3);
    });
    submit(&rig.context, &[first.map_err(text)?, second.map_err(text)?, rest.map_err(text)?])?;
    idle(&rig.context)
}

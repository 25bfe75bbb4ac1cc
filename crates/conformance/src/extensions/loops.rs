//! Attachments that are more than one thing within a pass: VK_EXT_attachment_feedback_loop_layout, where a fragment reads
//! an attachment as an image, and attachments that share memory (VK_ATTACHMENT_DESCRIPTION_MAY_ALIAS_BIT, core).

use super::frame::{Frame, Use, after, colour, next, reference, seen};
use super::rig::{Rectangle, Rig, SIDE, cleared, fill};
use super::{Check, Found, found, same, text};
use client::graphics::{Bindings, Image, ImageInfo, Resource, Sampler};
use vk::AttachmentLoadOp as Load;
use vk::DependencyFlags as Flags;
use vk::ImageLayout as Layout;

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: ash::ext::attachment_feedback_loop_layout::NAME, run };
    vec![
        check("loop_of_colour", colours),
        Check {
            of: ash::ext::attachment_feedback_loop_dynamic_state::NAME,
            ..check("loop_when_set", when_set)
        },
        check("loop_of_depth", depths),
        check("aliases_in_their_order", order),
        check("aliases_as_inputs", inputs),
    ]
}

const LOOP: &[u8] = include_bytes!("../../shaders/extensions/loop.frag.spv");
const READ: &[u8] = include_bytes!("../../shaders/extensions/read.frag.spv");
const BOTH: Flags = Flags::from_raw(Flags::BY_REGION.as_raw() | Flags::FEEDBACK_LOOP_EXT.as_raw());

fn columns(from: f32, to: f32, value: u8, depth: f32) -> Rectangle {
    Rectangle { from, to, value, depth }
}

fn target(rig: &Rig) -> Result<Image, String> {
    let mut info = ImageInfo::colour(super::rig::RGBA8, [SIDE; 2]);
    info.usage |= vk::ImageUsageFlags::TRANSFER_DST
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT;
    rig.image(info)
}

fn nearest(rig: &Rig) -> Result<Sampler, String> {
    Sampler::new(&rig.context, &vk::SamplerCreateInfo::default()).map_err(text)
}

fn colours(rig: &Rig) -> Found {
    loops(rig, false)
}

/// As dynamic state says.
fn when_set(rig: &Rig) -> Found {
    loops(rig, true)
}

/// The pass's clear, then each draw after a barrier, is what the next draw reads at its own pixels.
fn loops(rig: &Rig, dynamic: bool) -> Found {
    let (instance, device) = (&rig.context.instance, &rig.context.device);
    let states = ash::ext::attachment_feedback_loop_dynamic_state::Device::new(instance, device);
    let (a, sampler) = (target(rig)?, nearest(rig)?);
    let mut of_a = colour(0);
    of_a[0].layout = Layout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
    let list = [vk::SubpassDescription2::default().color_attachments(&of_a)];
    let bindings = Bindings::new(&rig.context, &[Resource::Loop(&a, &sampler)]).map_err(text)?;
    let mut got = Vec::new();
    for load in [Load::CLEAR, Load::LOAD] {
        let f = Frame::new(rig, &[Use::new(&a, load)], &list, &[after(0, 0, BOTH)])?;
        let p = f.pipeline(0, 1, Some(&bindings), |i| {
            i.fragment = Some(LOOP);
            if dynamic {
                i.dynamic = vec![vk::DynamicState::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT];
            } else {
                i.flags = vk::PipelineCreateFlags::COLOR_ATTACHMENT_FEEDBACK_LOOP_EXT;
            }
        })?;
        rig.run(|d, c| {
            fill(d, c, &a, if load == Load::LOAD { 51 } else { 7 });
            f.record(d, c, &[cleared(51)], || {
                if dynamic {
                    // SAFETY: recording; the state is dynamic.
                    unsafe {
                        (states.fp().cmd_set_attachment_feedback_loop_enable_ext)(
                            c,
                            vk::ImageAspectFlags::COLOR,
                        )
                    };
                }
                for (from, to) in [(0.0, 4.0), (2.0, 8.0), (3.0, 4.0)] {
                    seen(d, c, BOTH);
                    columns(from, to, 51, 0.5).draw_with(d, c, &p, &bindings);
                }
            });
        })?;
        got = rig.reds(&a)?;
        same(&format!("{load:?}"), got.clone(), vec![102, 102, 153, 204, 102, 102, 102, 102])?;
    }
    found(&got)
}

/// Depth is read by the fragments that are tested against it.
fn depths(rig: &Rig) -> Found {
    let mut info = ImageInfo::depth(vk::Format::D32_SFLOAT, [SIDE; 2]);
    info.usage |= vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT;
    let (a, z, sampler) = (target(rig)?, rig.image(info)?, nearest(rig)?);
    let of_a = colour(0);
    let mut of_z = reference(1, vk::ImageAspectFlags::DEPTH);
    of_z.layout = Layout::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT;
    let list = [vk::SubpassDescription2::default().color_attachments(&of_a).depth_stencil_attachment(&of_z)];
    let uses = [Use::new(&a, Load::CLEAR), Use::new(&z, Load::CLEAR)];
    let f = Frame::new(rig, &uses, &list, &[after(0, 0, BOTH)])?;
    let bindings = Bindings::new(&rig.context, &[Resource::Loop(&z, &sampler)]).map_err(text)?;
    let flag = vk::PipelineCreateFlags::DEPTH_STENCIL_ATTACHMENT_FEEDBACK_LOOP_EXT;
    let write = f.pipeline(0, 1, None, |i| i.depth = Some((vk::CompareOp::LESS, true)))?;
    let read = f.pipeline(0, 1, Some(&bindings), |i| {
        (i.fragment, i.flags) = (Some(LOOP), flag);
        i.depth = Some((vk::CompareOp::LESS, false));
    })?;
    let mut clears = [vk::ClearValue::default(); 2];
    clears[1].depth_stencil = vk::ClearDepthStencilValue { depth: 0.6, stencil: 0 };
    rig.run(|d, c| {
        f.record(d, c, &clears, || {
            columns(0.0, 4.0, 255, 0.2).draw(d, c, &write, 1);
            seen(d, c, BOTH);
            // In front of what was cleared, and behind what was drawn but in column 3, where it is in front.
            columns(2.0, 8.0, 0, 0.4).draw_with(d, c, &read, &bindings);
            columns(3.0, 4.0, 0, 0.1).draw_with(d, c, &read, &bindings);
        });
    })?;
    let got = rig.reds(&a)?;
    // Depth 0.2 is 51, and 0.6 is 153.
    same("depths as colours", got.clone(), vec![255, 255, 255, 51, 153, 153, 153, 153])?;
    found(&got)
}

/// Attachment 1 is used first, attachment 0 of the same view after it: what memory holds at the end is attachment 0's.
fn order(rig: &Rig) -> Found {
    let a = target(rig)?;
    let (of_0, of_1) = (colour(0), colour(1));
    let list = [
        vk::SubpassDescription2::default().color_attachments(&of_1),
        vk::SubpassDescription2::default().color_attachments(&of_0),
    ];
    let mut uses = [Use::new(&a, Load::CLEAR), Use::new(&a, Load::LOAD)];
    uses.iter_mut().for_each(|u| u.alias = true);
    let mut got = Vec::new();
    for flags in [Flags::empty(), Flags::BY_REGION] {
        let f = Frame::new(rig, &uses, &list, &[after(0, 1, flags)])?;
        let (first, second) = (f.pipeline(0, 1, None, |_| ())?, f.pipeline(1, 1, None, |_| ())?);
        rig.run(|d, c| {
            fill(d, c, &a, 51);
            f.record(d, c, &[cleared(204), cleared(0)], || {
                columns(0.0, 4.0, 102, 0.5).draw(d, c, &first, 1);
                next(d, c);
                columns(0.0, 2.0, 153, 0.5).draw(d, c, &second, 1);
            });
        })?;
        got = rig.reds(&a)?;
        same("the later one", got.clone(), vec![153, 153, 204, 204, 204, 204, 204, 204])?;
    }
    found(&got)
}

/// Attachments 0 and 1 are one view; attachment 2 takes what each is, in turn, as an input attachment.
fn inputs(rig: &Rig) -> Found {
    let (a, b) = (target(rig)?, target(rig)?);
    let (of_0, of_1, of_2) = (colour(0), colour(1), colour(2));
    let draw = |c| vk::SubpassDescription2::default().color_attachments(c);
    let list = [
        draw(&of_0),
        draw(&of_2).input_attachments(&of_0),
        draw(&of_1),
        draw(&of_2).input_attachments(&of_1),
    ];
    let mut uses = [Use::new(&a, Load::LOAD), Use::new(&a, Load::CLEAR), Use::new(&b, Load::CLEAR)];
    (uses[0].alias, uses[1].alias) = (true, true);
    let input = Bindings::new(&rig.context, &[Resource::Input(&a)]).map_err(text)?;
    let mut all = Vec::new();
    for flags in [Flags::empty(), Flags::BY_REGION] {
        let in_order = |s| after(s, s + 1, flags);
        let f = Frame::new(rig, &uses, &list, &[in_order(0), in_order(1), in_order(2)])?;
        let draws = [f.pipeline(0, 1, None, |_| ())?, f.pipeline(2, 1, None, |_| ())?];
        let read = |s| f.pipeline(s, 1, Some(&input), |i| i.fragment = Some(READ));
        let reads = [read(1)?, read(3)?];
        rig.run(|d, c| {
            fill(d, c, &a, 51);
            f.record(d, c, &[cleared(0), cleared(204), cleared(7)], || {
                columns(0.0, 2.0, 102, 0.5).draw(d, c, &draws[0], 1);
                next(d, c);
                columns(0.0, 4.0, 0, 0.5).draw_with(d, c, &reads[0], &input);
                next(d, c);
                columns(7.0, 8.0, 153, 0.5).draw(d, c, &draws[1], 1);
                next(d, c);
                columns(5.0, 8.0, 0, 0.5).draw_with(d, c, &reads[1], &input);
            });
        })?;
        let got = rig.reds(&b)?;
        same("inputs", got.clone(), vec![102, 102, 51, 51, 7, 204, 204, 153])?;
        let last = rig.reds(&a)?;
        same("what stays", last.clone(), vec![204, 204, 204, 204, 204, 204, 204, 153])?;
        all.extend(got.iter().chain(&last).map(|&v| u64::from(v)));
    }
    Ok(all)
}

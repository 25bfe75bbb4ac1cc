//! VK_EXT_multisampled_render_to_single_sampled in render passes with subpasses.

use super::frame::{Frame, Use, after, colour, next, reference, seen};
use super::rig::{Rectangle, Rig, SIDE, chain, fill, floats};
use super::single_sampled::{FLAG, NAME, info, left, right, target};
use super::{Check, Found, found, holds, same, text};
use client::graphics::{Bindings, ImageInfo, Resource};
use vk::AttachmentLoadOp as Load;
use vk::DependencyFlags as Flags;
use vk::ResolveModeFlags as Mode;

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: NAME, run };
    vec![check("single_sampled_subpasses", subpasses), check("single_sampled_input_of_itself", itself)]
}

const INPUT: &[u8] = include_bytes!("../../shaders/extensions/input.frag.spv");

/// Subpass 0 draws with four samples, 1 reads that as an input attachment of eight, 2 draws with one. Merged into one
/// pass over the tiles, and not.
fn subpasses(rig: &Rig) -> Found {
    let format = vk::Format::D32_SFLOAT;
    let (a, b) = (rig.image(target())?, rig.image(target())?);
    let z = rig.image(ImageInfo { flags: FLAG, ..ImageInfo::depth(format, [SIDE; 2]) })?;
    let (of_a, of_b) = (colour(0), colour(1));
    let of_z = reference(2, vk::ImageAspectFlags::DEPTH);
    let (four, eight) = (info(4), info(8));
    let resolve = vk::SubpassDescriptionDepthStencilResolve {
        p_next: chain(&four),
        depth_resolve_mode: Mode::SAMPLE_ZERO,
        ..Default::default()
    };
    let mut list = [
        vk::SubpassDescription2::default().color_attachments(&of_a).depth_stencil_attachment(&of_z),
        vk::SubpassDescription2::default().color_attachments(&of_b).input_attachments(&of_a),
        vk::SubpassDescription2::default().color_attachments(&of_a),
    ];
    list[0].p_next = chain(&resolve);
    list[1].p_next = chain(&eight);
    let input = Bindings::new(&rig.context, &[Resource::Input(&a)]).map_err(text)?;
    let mut all = Vec::new();
    for flags in [Flags::empty(), Flags::BY_REGION] {
        let images = [Use::new(&a, Load::LOAD), Use::new(&b, Load::CLEAR), Use::new(&z, Load::CLEAR)];
        let f = Frame::new(rig, &images, &list, &[after(0, 1, flags), after(1, 2, flags)])?;
        let first = f.pipeline(0, 4, None, |i| i.depth = Some((vk::CompareOp::LESS, true)))?;
        let second = f.pipeline(1, 8, Some(&input), |i| i.fragment = Some(INPUT))?;
        let third = f.pipeline(2, 1, None, |_| ())?;
        let mut clears = [vk::ClearValue::default(); 3];
        clears[2].depth_stencil = vk::ClearDepthStencilValue { depth: 0.75, stencil: 0 };
        rig.run(|d, c| {
            fill(d, c, &a, 51);
            f.record(d, c, &clears, || {
                right(204).draw(d, c, &first, 1);
                next(d, c);
                Rectangle { to: 6.0, ..left(0) }.draw_with(d, c, &second, &input);
                next(d, c);
                Rectangle { from: 0.0, to: 1.0, value: 255, depth: 0.5 }.draw(d, c, &third, 1);
            });
        })?;
        // Pixel 2 was (51 + 204) / 2 = 127.5, which rounds to either side.
        let first = rig.reds(&a)?;
        let half = first[2];
        holds("half a pixel", half == 127 || half == 128)?;
        same("drawn with one sample", first.clone(), vec![255, 51, half, 204, 204, 204, 204, 204])?;
        // Seven samples of the value and one of its half: 7.5 / 8 of 51, 127.5 and 204, in columns that were drawn.
        let second = rig.reds(&b)?;
        holds("an eighth less of half a pixel", (119..=120).contains(&second[2]))?;
        same("read as samples", second.clone(), vec![48, 48, second[2], 191, 191, 191, 0, 0])?;
        let bytes = z.read(vk::ImageAspectFlags::DEPTH, 4).map_err(text)?;
        same("depth of sample 0", floats(&bytes), vec![0.75, 0.75, 0.75, 0.25, 0.25, 0.25, 0.25, 0.25])?;
        all.extend(first.iter().chain(&second).map(|&v| u64::from(v)));
    }
    Ok(all)
}

/// An input attachment that is the colour attachment of the same subpass: each sample reads its own. The first half
/// makes samples 0 and 2 of pixel 2 another value, then all is drawn over by what it holds, sample 1 by half of that.
fn itself(rig: &Rig) -> Found {
    let a = rig.image(target())?;
    let of_a = colour(0);
    let four = info(4);
    let mut list = [vk::SubpassDescription2::default().color_attachments(&of_a).input_attachments(&of_a)];
    list[0].p_next = chain(&four);
    let f = Frame::new(rig, &[Use::new(&a, Load::LOAD)], &list, &[after(0, 0, Flags::BY_REGION)])?;
    let input = Bindings::new(&rig.context, &[Resource::Input(&a)]).map_err(text)?;
    let first = f.pipeline(0, 4, None, |_| ())?;
    let second = f.pipeline(0, 4, Some(&input), |i| i.fragment = Some(INPUT))?;
    rig.run(|d, c| {
        fill(d, c, &a, 40);
        f.record(d, c, &[], || {
            left(160).draw(d, c, &first, 1);
            seen(d, c, Flags::BY_REGION);
            Rectangle { from: 0.0, ..right(0) }.draw_with(d, c, &second, &input);
        });
    })?;
    let got = rig.reds(&a)?;
    // Whole pixels: (3 · 160 + 80) / 4 and (3 · 40 + 20) / 4; pixel 2: samples 160, 20, 160, 40.
    same("every sample's own", got.clone(), vec![140, 140, 95, 35, 35, 35, 35, 35])?;
    found(&got)
}

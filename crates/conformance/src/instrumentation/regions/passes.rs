//! Render pass objects: both ways to begin them, subpasses and their merging, layers and views of each.

use super::super::{Check, Found, Rig, check_list, holds, same};
use super::target::{Grid, Target, ask, cover, image, pipeline, rect};
use super::{FORMAT, LAYER, PRIMITIVES, QUADS, THREADS, TRIANGLE, WARPS, to_layer};
use crate::extensions::frame::{Surface, Use, after, colour, next};
use client::graphics::{Image, Pipeline, barrier};
use vk::AttachmentLoadOp as Load;
use vk::DependencyFlags as Flags;
use vk::SubpassMergeStatusEXT as Status;

pub fn checks() -> Vec<Check> {
    check_list![
        regions_of_render_passes = begun,
        regions_of_subpasses = subpasses,
        regions_of_layers_of_subpasses = layers,
        regions_of_views_of_subpasses = views
    ]
}

const BLACK: [vk::ClearValue; 3] = [vk::ClearValue { color: vk::ClearColorValue { float32: [0.0; 4] } }; 3];

/// What [`super::dynamic`]'s triangle has, begun by vkCmdBeginRenderPass and by vkCmdBeginRenderPass2.
fn begun(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [160, 100], 4)?;
    let target = image(rig, [160, 100], 1)?;
    let d = &rig.context.device;
    let mut found = Vec::new();
    for second in [false, true] {
        let used = [Use::new(&target, Load::CLEAR)];
        let surface = match second {
            true => {
                let of = colour(0);
                let list = [vk::SubpassDescription2::default().color_attachments(&of)];
                Surface::new(&rig.context, &used, &list, &[], [160, 100], 1)?
            }
            false => Surface::of(&rig.context, first(d)?, &used, [160, 100], 1)?,
        };
        let p = pipeline(rig, |i| i.render_pass = Some((surface.pass, 0)))?;
        let out = Target::new(rig, grid.words() + 64)?;
        let (addresses, mut ids) = ([out.address], [THREADS, WARPS, PRIMITIVES, QUADS]);
        let asked = ask(&addresses, &mut ids);
        let mut begin = surface.begin(&BLACK[..1]);
        begin.p_next = (&raw const asked).cast();
        rig.run(|d, c| {
            if second {
                surface.record(d, c, &begin, || cover(d, c, &p, rect(0, 0, 160, 100)));
                return;
            }
            // SAFETY: recording with live handles.
            unsafe {
                d.cmd_begin_render_pass(c, &begin, vk::SubpassContents::INLINE);
                surface.whole(d, c);
                cover(d, c, &p, rect(0, 0, 160, 100));
                d.cmd_end_render_pass(c);
            }
            barrier(d, c);
        })?;
        out.is(if second { "the second way" } else { "the first way" }, &grid.filled(&TRIANGLE))?;
        found.extend(out.found());
    }
    Ok(found)
}

/// A render pass of one subpass by vkCreateRenderPass.
fn first(d: &ash::Device) -> Result<vk::RenderPass, String> {
    let of = [vk::AttachmentReference { attachment: 0, layout: vk::ImageLayout::GENERAL }];
    let list = [vk::SubpassDescription::default().color_attachments(&of)];
    let attachments = [vk::AttachmentDescription::default()
        .format(FORMAT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(Load::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(vk::ImageLayout::GENERAL)
        .final_layout(vk::ImageLayout::GENERAL)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&list);
    // SAFETY: a plain Vulkan call with structs that outlive it.
    unsafe { d.create_render_pass(&info, None) }.map_err(|e| format!("vkCreateRenderPass: {e}"))
}

/// How three subpasses hang together, and the physical subpass that each of them is part of.
struct Merging {
    what: &'static str,
    dependencies: Vec<vk::SubpassDependency2<'static>>,
    /// Subpasses that say that they must not be merged with those before them; all: the render pass says so.
    alone: [bool; 3],
    physical: [usize; 3],
    told: [Status; 3],
}

fn mergings() -> Vec<Merging> {
    let chain = |a, b| vec![after(0, 1, a), after(1, 2, b)];
    let by_region = || chain(Flags::BY_REGION, Flags::BY_REGION);
    let (no, yes, all) = (Status::NOT_MERGED_DEPENDENCIES, Status::MERGED, Status::DISALLOWED);
    let one = Status::NOT_MERGED_UNSPECIFIED;
    let make =
        |what, dependencies, alone, physical, told| Merging { what, dependencies, alone, physical, told };
    let any = [false; 3];
    vec![
        make("nothing to wait for", vec![], any, [0, 0, 0], [one, yes, yes]),
        make("by region", by_region(), any, [0, 0, 0], [one, yes, yes]),
        make("the last waits", chain(Flags::BY_REGION, Flags::empty()), any, [0, 0, 1], [one, yes, no]),
        make("the second waits", chain(Flags::empty(), Flags::BY_REGION), any, [0, 1, 1], [one, no, yes]),
        make("all wait", chain(Flags::empty(), Flags::empty()), any, [0, 1, 2], [one, no, no]),
        make("the last is alone", by_region(), [false, false, true], [0, 0, 1], [one, yes, all]),
        make("no merging", by_region(), [true; 3], [0, 1, 2], [all; 3]),
    ]
}

/// A surface of 128 × 64 pixels with three subpasses, each of which draws to the image of its number; and what the driver
/// told of them (VK_EXT_subpass_merge_feedback).
fn three<'r>(rig: &'r Rig, images: &[Image], m: &Merging) -> Result<Surface<'r>, String> {
    let alone = vk::RenderPassCreationControlEXT::default().disallow_merging(true);
    let mut told = [vk::RenderPassSubpassFeedbackInfoEXT::default(); 3];
    let mut asked =
        told.each_mut().map(|t| vk::RenderPassSubpassFeedbackCreateInfoEXT::default().subpass_feedback(t));
    for (a, _) in asked.iter_mut().zip(m.alone).filter(|(_, alone)| *alone && m.alone != [true; 3]) {
        a.p_next = (&raw const alone).cast();
    }
    let colours = [0, 1, 2].map(colour);
    let mut list = [vk::SubpassDescription2::default(); 3];
    for ((s, of), a) in list.iter_mut().zip(&colours).zip(&asked) {
        *s = s.color_attachments(of);
        s.p_next = (&raw const *a).cast();
    }
    let used: Vec<_> = images.iter().map(|i| Use::new(i, Load::CLEAR)).collect();
    let mut count = vk::RenderPassCreationFeedbackInfoEXT::default();
    let mut of_all = vk::RenderPassCreationFeedbackCreateInfoEXT::default().render_pass_feedback(&mut count);
    if m.alone == [true; 3] {
        of_all.p_next = (&raw const alone).cast();
    }
    let chain = (&raw const of_all).cast();
    let surface = Surface::chained(&rig.context, &used, &list, &m.dependencies, [128, 64], 1, chain)?;
    let number = m.physical[2] as u32 + 1;
    same(&format!("{}: subpasses left", m.what), count.post_merge_subpass_count, number)?;
    for (s, t) in told.iter().enumerate() {
        let got = (t.post_merge_index as usize, t.subpass_merge_status);
        same(&format!("{}: subpass {s}", m.what), got, (m.physical[s], m.told[s]))?;
        holds("a description", t.description[0] != 0)?;
    }
    Ok(surface)
}

/// Work of subpasses in each of two regions, in warps: all of both; the upper half of the left one; 16 columns of the
/// right one (4 × 16 warps).
const WORK: [[u32; 2]; 3] = [[256, 256], [128, 0], [0, 64]];

fn work(d: &ash::Device, c: vk::CommandBuffer, pipelines: &[Pipeline]) {
    let parts = [rect(0, 0, 128, 64), rect(0, 0, 64, 32), rect(64, 0, 16, 64)];
    for (s, (p, part)) in pipelines.iter().zip(parts).enumerate() {
        if s > 0 {
            next(d, c);
        }
        cover(d, c, p, part);
    }
}

/// Values lie by physical subpass. Three addresses, as many as subpasses; each of them 0 in turn, which moves nothing.
/// Where subpasses merged, addresses after the last physical one get zeros (the specification leaves that open).
fn subpasses(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [128, 64], 1)?;
    let images = (0..3).map(|_| image(rig, [128, 64], 1)).collect::<Result<Vec<_>, _>>()?;
    let mut found = Vec::new();
    for m in mergings() {
        let surface = three(rig, &images, &m)?;
        let made = |s| pipeline(rig, |i| i.render_pass = Some((surface.pass, s)));
        let pipelines = (0..3).map(made).collect::<Result<Vec<_>, _>>()?;
        for skipped in [None, Some(0), Some(1), Some(2)] {
            let out = Target::new(rig, 3 * grid.words() + 64)?;
            let mut addresses = [0, 1, 2].map(|i| out.address + 4 * (i * grid.words()) as u64);
            skipped.into_iter().for_each(|s: usize| addresses[s] = 0);
            let mut ids = [WARPS];
            let asked = ask(&addresses, &mut ids);
            let mut begin = surface.begin(&BLACK);
            begin.p_next = (&raw const asked).cast();
            rig.run(|d, c| surface.record(d, c, &begin, || work(d, c, &pipelines)))?;
            let mut sums = [[[0; 1]; 2]; 3];
            for (s, work) in WORK.iter().enumerate() {
                (0..2).for_each(|region| sums[m.physical[s]][region][0] += work[region]);
            }
            let mut want = sums.map(|s| grid.filled(&s));
            skipped.into_iter().for_each(|s| want[s].fill(super::FREE));
            out.is(&format!("{}, without {skipped:?}", m.what), &want.concat())?;
            found.extend(out.found());
        }
    }
    Ok(found)
}

/// Two subpasses of two layers: entry s · 2 + l. The first draws to all of layer 1, the second to the upper half of layer
/// 0.
fn layers(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let target = image(rig, [64, 64], 2)?;
    let of = colour(0);
    let list = [vk::SubpassDescription2::default().color_attachments(&of); 2];
    let mut found = Vec::new();
    for (flags, want) in [(Flags::empty(), [0, 256, 128, 0]), (Flags::BY_REGION, [128, 256, 0, 0])] {
        let used = [Use::new(&target, Load::CLEAR)];
        let surface = Surface::new(&rig.context, &used, &list, &[after(0, 1, flags)], [64, 64], 2)?;
        let made = |s| {
            pipeline(rig, |i| {
                i.vertex = LAYER;
                i.render_pass = Some((surface.pass, s));
            })
        };
        let (first, second) = (made(0)?, made(1)?);
        let out = Target::new(rig, 4 * grid.words() + 64)?;
        let addresses = [0, 1, 2, 3].map(|i| out.address + 4 * (i * grid.words()) as u64);
        let mut ids = [WARPS];
        let asked = ask(&addresses, &mut ids);
        let mut begin = surface.begin(&BLACK[..1]);
        begin.p_next = (&raw const asked).cast();
        rig.run(|d, c| {
            surface.record(d, c, &begin, || {
                to_layer(d, c, &first, 1, rect(0, 0, 64, 64));
                next(d, c);
                to_layer(d, c, &second, 0, rect(0, 0, 64, 32));
            });
        })?;
        out.is(&format!("{flags:?}"), &want.map(|w| grid.filled(&[[w]])).concat())?;
        found.extend(out.found());
    }
    Ok(found)
}

/// Two subpasses that don't merge, of view 0, and of views 1 and 2: three views to a subpass, so entries 0, 4 and 5. The
/// first draws to all, the second to the upper half.
fn views(rig: &Rig) -> Found {
    let grid = Grid::new(rig, [64, 64], 1)?;
    let target = image(rig, [64, 64], 3)?;
    let of = colour(0);
    let list = [0b001, 0b110].map(|v| vk::SubpassDescription2::default().color_attachments(&of).view_mask(v));
    let used = [Use::new(&target, Load::CLEAR)];
    let surface = Surface::new(&rig.context, &used, &list, &[after(0, 1, Flags::empty())], [64, 64], 1)?;
    let made = |s| pipeline(rig, |i| i.render_pass = Some((surface.pass, s)));
    let (first, second) = (made(0)?, made(1)?);
    let out = Target::new(rig, 3 * grid.words() + 64)?;
    let at = |i: usize| out.address + 4 * (i * grid.words()) as u64;
    let (addresses, mut ids) = ([at(0), 0, 0, 0, at(1), at(2)], [WARPS]);
    let asked = ask(&addresses, &mut ids);
    let mut begin = surface.begin(&BLACK[..1]);
    begin.p_next = (&raw const asked).cast();
    rig.run(|d, c| {
        surface.record(d, c, &begin, || {
            cover(d, c, &first, rect(0, 0, 64, 64));
            next(d, c);
            cover(d, c, &second, rect(0, 0, 64, 32));
        });
    })?;
    out.is("views", &[256, 128, 128].map(|w| grid.filled(&[[w]])).concat())?;
    Ok(out.found())
}

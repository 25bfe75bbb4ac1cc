//! The line of a recorded pass: its attachments, commands, states and tiles.

use crate::pass::Rendering;
use crate::record::state::StateFact;
use crate::record::{CommandFact, FormatFact, PassRecord, TileFact};
use crate::tile::memory::target::Targets;
use ash::vk;
use machine::facts;
use machine::shared::Shared;
use serde::Serialize;

#[derive(Serialize)]
pub struct PassLine {
    /// x, y, width, height.
    pub area: [i32; 4],
    pub layers: u32,
    pub attachments: Vec<AttachmentFact>,
    /// What streams of tiles number.
    pub planes: Vec<PlaneFact>,
    pub subpasses: Vec<SubpassFact>,
    pub states: Vec<StateFact>,
    pub commands: Vec<CommandFact>,
    pub tiles: Vec<TileFact>,
}

#[derive(Serialize)]
pub struct AttachmentFact {
    pub name: String,
    pub format: Option<FormatFact>,
    pub size: [u32; 3],
    pub samples: u32,
    /// Colour or depth, and stencil.
    pub load: [String; 2],
    pub store: [String; 2],
    /// Words of the clear value, of the depth, and the stencil value.
    pub clear: ([u32; 4], f32, u32),
}

#[derive(Serialize)]
pub struct PlaneFact {
    /// Which of the attachments; of stand-ins (VK_EXT_multisampled_render_to_single_sampled) the one that they stand for.
    pub attachment: usize,
    pub stands_in: bool,
    pub aspect: &'static str,
    /// Of a pixel, in a stream.
    pub bytes: usize,
    pub samples: u32,
    /// Of a fixed-point depth: the number that stands for 1. Depths are f32.
    pub scale: f32,
}

#[derive(Serialize)]
pub struct SubpassFact {
    pub colors: Vec<Option<u32>>,
    pub resolves: Vec<Option<u32>>,
    pub depth: Option<u32>,
    pub stencil: Option<u32>,
    pub inputs: Vec<Option<u32>>,
    pub views: u32,
}

/// An attachment that vkCmdClearAttachments clears, and to what.
pub fn cleared(a: &vk::ClearAttachment) -> String {
    // SAFETY: every member of the union is plain numbers.
    let (color, depth) = unsafe { (a.clear_value.color.float32, a.clear_value.depth_stencil) };
    match a.aspect_mask.contains(vk::ImageAspectFlags::COLOR) {
        true => format!("colour {} to {color:?}", a.color_attachment),
        false => format!("{:?} to {} and {}", a.aspect_mask, depth.depth, depth.stencil),
    }
}

/// The colour, depth and stencil to which the load operations of `a` clear; 0 for what they do not clear. An
/// application need not write the rest of the union: it may be other bytes on each run.
fn cleared_to(a: &crate::pass::Attachment) -> ([u32; 4], f32, u32) {
    let format = a.view.as_ref().map(|v| v.format);
    let (depth, stencil) = format.map_or((true, true), |f| (f.has_depth(), f.has_stencil()));
    let clears = |op, has| op == vk::AttachmentLoadOp::CLEAR && has;
    (
        if clears(a.load, !depth && !stencil) { a.clear.color } else { [0; 4] },
        if clears(a.load, depth) { a.clear.depth } else { 0.0 },
        if clears(a.stencil_load, stencil) { a.clear.stencil } else { 0 },
    )
}

impl PassLine {
    pub fn new(r: &Rendering, targets: &Targets, record: PassRecord, shared: &Shared) -> PassLine {
        let a = targets.area;
        let word = |v: &dyn std::fmt::Debug| format!("{v:?}").to_lowercase();
        let attachment = |a: &crate::pass::Attachment| AttachmentFact {
            name: a.view.as_ref().map(|v| facts::name(&*shared.report, &v.image)).unwrap_or_default(),
            format: a.view.as_ref().map(|v| FormatFact::of(v.format)),
            size: a.view.as_ref().map_or([0; 3], |v| {
                [0, 1, 2].map(|k| (v.image.extent[k] >> v.range.base_mip_level.min(31)).max(1))
            }),
            samples: a.view.as_ref().map_or(1, |v| v.samples),
            load: [word(&a.load), word(&a.stencil_load)],
            store: [word(&a.store), word(&a.stencil_store)],
            clear: cleared_to(a),
        };
        PassLine {
            area: [a.x0, a.y0, a.x1 - a.x0, a.y1 - a.y0],
            layers: crate::pass::layers(&r.subpasses, r.layers),
            attachments: r.attachments.iter().map(attachment).collect(),
            planes: planes(targets),
            subpasses: (r.subpasses.iter())
                .map(|s| SubpassFact {
                    colors: s.colors.clone(),
                    resolves: s.resolves.iter().map(|r| r.map(|(to, _)| to)).collect(),
                    depth: s.depth,
                    stencil: s.stencil,
                    inputs: s.inputs.clone(),
                    views: s.view_mask,
                })
                .collect(),
            states: record.states().cloned().collect(),
            tiles: record.tiles(),
            commands: record.commands,
        }
    }
}

fn planes(targets: &Targets) -> Vec<PlaneFact> {
    let stands_for = |i: usize| {
        let all = targets.expanded.iter().flat_map(|e| &e.pairs);
        all.into_iter().find(|(_, to)| *to as usize == i).map(|(from, _)| *from as usize)
    };
    let mut all = vec![];
    for (i, t) in targets.list.iter().enumerate() {
        let of = stands_for(i);
        for (aspect, p) in [("colour", &t.color), ("depth", &t.depth), ("stencil", &t.stencil)] {
            let Some(p) = p else { continue };
            all.push(PlaneFact {
                attachment: of.unwrap_or(i),
                stands_in: of.is_some(),
                aspect,
                bytes: p.bytes,
                samples: p.samples,
                scale: p.depth_scale(),
            });
        }
    }
    all
}

//! vkCmdClearAttachments within a tile.

use super::Here;
use crate::layout::TILE;
use crate::pass::Subpass;
use crate::state::Rect;
use crate::tile::counts::{InTile, TileCounts};
use crate::tile::memory::target::Targets;
use ash::vk;

/// Clears of one command.
pub struct Clear {
    pub attachments: Vec<vk::ClearAttachment>,
    pub rects: Vec<vk::ClearRect>,
}

impl Clear {
    /// Carries out the clears that touch the tile, and what they count there: each rectangle is drawn, by a program that gives its
    /// attachments what they are cleared to. With multiview `layered` is false: every view is cleared.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn run(
        &self,
        targets: &Targets,
        sub: &Subpass,
        &Here { tile, layer, origin, .. }: &Here,
        layered: bool,
    ) -> TileCounts {
        let mut counts = TileCounts::default();
        for r in &self.rects {
            if layered
                && !(r.base_array_layer..r.base_array_layer.saturating_add(r.layer_count)).contains(&layer)
            {
                continue;
            }
            let o = r.rect.offset;
            let all = Rect {
                x0: o.x,
                y0: o.y,
                x1: o.x.saturating_add(r.rect.extent.width as i32),
                y1: o.y.saturating_add(r.rect.extent.height as i32),
            }
            .intersect(&targets.area);
            let here = Rect {
                x0: (all.x0 - origin[0]).clamp(0, TILE),
                y0: (all.y0 - origin[1]).clamp(0, TILE),
                x1: (all.x1 - origin[0]).clamp(0, TILE),
                y1: (all.y1 - origin[1]).clamp(0, TILE),
            };
            if here.is_empty() {
                continue;
            }
            let samples = targets.list.iter().filter_map(|t| t.color.as_ref()).map(|p| p.samples).max();
            let side = |from: i32, to: i32| ((to + 1) / 2 - from / 2) as u64;
            let whole = |from: i32, to: i32| (to / 2 - (from + 1) / 2).max(0) as u64;
            let quads = side(here.x0, here.x1) * side(here.y0, here.y1);
            counts[InTile::Primitives] += targets.within.count(&here);
            counts[InTile::Quads] += quads;
            counts[InTile::Partial] += quads - whole(here.x0, here.x1) * whole(here.y0, here.y1);
            counts[InTile::Shaded] += quads;
            counts[InTile::Warps] += quads.div_ceil(4);
            counts[InTile::FullWarps] += quads / 4;
            for a in &self.attachments {
                if a.aspect_mask.contains(vk::ImageAspectFlags::COLOR) {
                    counts[InTile::Blended] += quads * samples.unwrap_or(1) as u64;
                }
                let target = |i: Option<u32>| targets.list.get(i? as usize);
                // SAFETY: the union's members are plain words; which one counts follows from the aspect.
                let (color, ds) = unsafe { (a.clear_value.color.uint32, a.clear_value.depth_stencil) };
                let mut planes = Vec::new();
                if a.aspect_mask.contains(vk::ImageAspectFlags::COLOR) {
                    let i = sub.colors.get(a.color_attachment as usize).copied().flatten();
                    planes.push(target(i).and_then(|t| t.color.as_ref()));
                }
                if a.aspect_mask.contains(vk::ImageAspectFlags::DEPTH) {
                    planes.push(target(sub.depth).and_then(|t| t.depth.as_ref()));
                }
                if a.aspect_mask.contains(vk::ImageAspectFlags::STENCIL) {
                    planes.push(target(sub.stencil).and_then(|t| t.stencil.as_ref()));
                }
                for p in planes.into_iter().flatten() {
                    // SAFETY: the caller's tile; the rectangle was cut to it.
                    unsafe { p.clear_rect(tile, &here, &p.encode_clear(color, ds.depth, ds.stencil)) };
                }
            }
        }
        counts
    }
}

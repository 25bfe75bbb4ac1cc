//! The attachments of a render pass: which bytes they are, and what the pass does with them.

use super::pass::Journal;
use super::{Tracker, ranges};
use crate::ordering::Layouts;
use ash::vk;
use raster::pass;
use std::ops::Range;
use vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, ImageAspectFlags as Aspects};

/// One aspect of an attachment of the pass. With multiview each view is an attachment of its own: it is loaded before the first subpass that
/// has it, and stored after the last (VkRenderPassMultiviewCreateInfo).
pub struct Target {
    pub index: u32,
    pub aspect: Aspects,
    pub view: Option<u32>,
    /// Subpasses that use it.
    pub used: Range<usize>,
    pub load: Load,
    pub store: Store,
    pub bytes: Vec<Range<u64>>,
    pub depth: bool,
    pub read_only: bool,
    pub layouts: Option<Layouts>,
    pub transient: bool,
    /// All that writes it is told of.
    pub known: bool,
}

impl Target {
    /// Whether the subpass has this view.
    pub fn is_in(&self, subpass: &pass::Subpass) -> bool {
        has_view(subpass, self.view)
    }
}

/// Whether a subpass has a view; without multiview there is none to have.
fn has_view(subpass: &pass::Subpass, view: Option<u32>) -> bool {
    view.is_none_or(|v| subpass.view_mask >> v & 1 != 0)
}

/// A layout in which nothing writes this aspect.
fn is_read_only(layout: vk::ImageLayout, stencil: bool) -> bool {
    use vk::ImageLayout as L;
    matches!(layout, L::DEPTH_STENCIL_READ_ONLY_OPTIMAL | L::READ_ONLY_OPTIMAL | L::SHADER_READ_ONLY_OPTIMAL)
        || stencil
            && matches!(layout, L::STENCIL_READ_ONLY_OPTIMAL | L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL)
        || !stencil
            && matches!(layout, L::DEPTH_READ_ONLY_OPTIMAL | L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL)
}

impl Tracker {
    pub(super) fn targets(&self, j: &Journal) -> Vec<Target> {
        let r = &j.rendering;
        let layers = pass::layers(&r.subpasses, r.layers);
        let along = |from: i32, to: i32| from.max(0) as u32..to.max(0) as u32;
        let area = [along(r.area.x0, r.area.x1), along(r.area.y0, r.area.y1)];
        let views: Vec<Option<u32>> = match pass::view_mask(&r.subpasses) {
            0 => vec![None],
            mask => (0..32).filter(|v| mask >> v & 1 != 0).map(Some).collect(),
        };
        let mut all = vec![];
        for (i, a) in r.attachments.iter().enumerate() {
            let Some(view) = &a.view else { continue };
            let index = i as u32;
            if !r.subpasses.iter().any(|s| s.uses(index)) {
                continue;
            }
            let color = !view.image.format.is_depth_stencil();
            let has = |stencil: bool| {
                r.subpasses.iter().any(|s| match stencil {
                    false => s.depth == Some(index) || s.depth_resolve.is_some_and(|d| d.0 == index),
                    true => s.stencil == Some(index) || s.stencil_resolve.is_some_and(|d| d.0 == index),
                }) || r.subpasses.iter().all(|s| {
                    s.depth != Some(index)
                        && s.stencil != Some(index)
                        && s.depth_resolve.is_none_or(|d| d.0 != index)
                        && s.stencil_resolve.is_none_or(|d| d.0 != index)
                })
            };
            let parts = match color {
                true => vec![(view.range.aspect_mask, a.load, a.store, 0)],
                false => [
                    (Aspects::DEPTH, a.load, a.store, 0),
                    (Aspects::STENCIL, a.stencil_load, a.stencil_store, 1),
                ]
                .into_iter()
                .filter(|p| view.image.format.aspects().contains(p.0) && has(p.3 == 1))
                .collect(),
            };
            for (aspect, load, store, k) in parts {
                let layouts = j.recorded.subpasses.iter().flatten().filter(|u| u.0 == index);
                let read_only =
                    layouts.clone().count() > 0 && layouts.clone().all(|u| is_read_only(u.1[k], k == 1));
                let first_layer = view.range.base_array_layer;
                for v in &views {
                    let uses = |s: &pass::Subpass| s.uses(index) && has_view(s, *v);
                    let Some(first) = r.subpasses.iter().position(uses) else { continue };
                    let last = r.subpasses.iter().rposition(uses).unwrap_or(first);
                    let (from, count) =
                        v.map_or((first_layer, layers), |v| (first_layer.saturating_add(v), 1));
                    all.push(Target {
                        index,
                        aspect,
                        view: *v,
                        used: first..last + 1,
                        load,
                        store,
                        bytes: ranges::attachment(
                            &view.image,
                            aspect,
                            view.range.base_mip_level,
                            from..from.saturating_add(count),
                            area.clone(),
                        ),
                        depth: !color,
                        read_only,
                        layouts: j.recorded.attachments.get(i).map(|l| l[k]),
                        known: view.image.tiling == vk::ImageTiling::OPTIMAL
                            && view.image.sparse().is_none()
                            && !view.image.flags.contains(vk::ImageCreateFlags::ALIAS)
                            && view.image.bound().is_some_and(|b| b.memory.is_own()),
                        transient: view.image.usage.contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT),
                    });
                }
            }
        }
        all
    }

    /// The bytes whose layouts an attachment's transitions change: all of its image view, or the layer of its view.
    pub(super) fn viewed(&self, j: &Journal, t: &Target) -> Vec<Range<u64>> {
        let Some(view) = j.rendering.attachments.get(t.index as usize).and_then(|a| a.view.as_ref()) else {
            return vec![];
        };
        let layers = match view.image.image_type {
            vk::ImageType::TYPE_3D => (0, vk::REMAINING_ARRAY_LAYERS),
            _ => t.view.map_or((view.range.base_array_layer, view.layers), |v| {
                (view.range.base_array_layer.saturating_add(v), 1)
            }),
        };
        ranges::subresources(
            &view.image,
            &vk::ImageSubresourceRange {
                aspect_mask: t.aspect,
                base_mip_level: view.range.base_mip_level,
                level_count: 1,
                base_array_layer: layers.0,
                layer_count: layers.1,
            },
        )
    }
}

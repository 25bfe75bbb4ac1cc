//! What commands read, write and discard of images, for who reads what a render pass did not store
//! ([`texel::image::discarded`]).

use crate::command::Command;
use ash::vk;
use machine::lost::Place;
use machine::shared::Report;
use machine::undefined;
use raster::pass::{self, Rendering};
use std::sync::Arc;
use texel::image::Image;
use texel::image::discarded::Part;
use texel::memory::poison;
use vk::ImageAspectFlags as Aspects;

/// How a pass begins or ends with one aspect of an attachment.
struct Use<'a> {
    image: &'a Arc<Image>,
    part: Part,
    /// The layers of these that are views of subpasses which use the attachment, a bit each; 0: all.
    views: u32,
    /// No other attachment has its memory.
    alone: bool,
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
}

/// The attachments of a pass that it uses, by aspect.
fn uses(r: &Rendering) -> impl Iterator<Item = Use<'_>> {
    let layers = pass::layers(&r.subpasses, r.layers);
    let along = |from: i32, to: i32| from.max(0) as u32..to.max(0) as u32;
    let area = [along(r.area.x0, r.area.x1), along(r.area.y0, r.area.y1)];
    r.attachments.iter().enumerate().flat_map(move |(i, a)| {
        let (i, area) = (i as u32, area.clone());
        let view = a.view.as_ref().filter(|_| r.subpasses.iter().any(|s| s.uses(i)));
        view.into_iter().flat_map(move |view| {
            let using = r.subpasses.iter().filter(|s| s.uses(i));
            let views = using.fold(0, |all, s| all | s.view_mask);
            let alone = r.attachments.iter().enumerate().all(|(k, other)| {
                k == i as usize || other.view.as_ref().is_none_or(|o| !meet(&o.image, &view.image))
            });
            let [mut depth, mut stencil] = [false; 2];
            for s in &r.subpasses {
                depth |= s.depth == Some(i) || s.depth_resolve.is_some_and(|d| d.0 == i);
                stencil |= s.stencil == Some(i) || s.stencil_resolve.is_some_and(|d| d.0 == i);
            }
            let color = !view.image.format.is_depth_stencil();
            let first = view.range.base_array_layer;
            let area = area.clone();
            [
                (color, view.range.aspect_mask, a.load, a.store),
                (depth, Aspects::DEPTH, a.load, a.store),
                (stencil, Aspects::STENCIL, a.stencil_load, a.stencil_store),
            ]
            .into_iter()
            .filter(|u| u.0)
            .map(move |(_, aspects, load, store)| Use {
                image: &view.image,
                part: Part {
                    aspects,
                    levels: view.range.base_mip_level..view.range.base_mip_level + 1,
                    layers: first..first.saturating_add(layers),
                    area: area.clone(),
                },
                views,
                alone,
                load,
                store,
            })
        })
    })
}

/// Whether images have memory in common.
fn meet(a: &Image, b: &Image) -> bool {
    let (Some((a, n)), Some((b, m))) = (a.span(), b.span()) else { return true };
    (a as u64) < b as u64 + m && (b as u64) < a as u64 + n
}

impl Use<'_> {
    /// Its contents may be anything from now on, and are to show that.
    fn undefine(&self) {
        let layers = self.part.layers.clone();
        // Of attachments that share memory one may be loaded or stored.
        if !self.alone {
            return;
        }
        if self.views == 0 {
            return self.image.undefine(&self.part);
        }
        for (_, layer) in (0..32).zip(layers).filter(|(view, _)| self.views >> view & 1 == 1) {
            self.image.undefine(&Part { layers: layer..layer + 1, ..self.part.clone() });
        }
    }
}

/// A pass begins: what it loads, it reads; what it need not load is undefined.
pub fn pass_begins(report: &dyn Report, r: &Rendering, place: &Place) {
    if poison::wanted() {
        uses(r).filter(|u| u.load == vk::AttachmentLoadOp::DONT_CARE).for_each(|u| u.undefine());
    }
    for u in uses(r).filter(|u| u.load == vk::AttachmentLoadOp::LOAD && u.image.discarded.any()) {
        undefined::read(report, u.image, &u.part, || place.to_string());
    }
}

/// A pass has ended, all of its parts. `name`: what it is for people.
pub fn pass_ended(r: &Rendering, name: &str, place: &Place) {
    if poison::wanted() {
        uses(r).filter(|u| u.store == vk::AttachmentStoreOp::DONT_CARE).for_each(|u| u.undefine());
    }
    let mut by: Option<Arc<str>> = None;
    for u in uses(r) {
        match u.store {
            vk::AttachmentStoreOp::STORE => u.image.discarded.written(&u.part),
            vk::AttachmentStoreOp::DONT_CARE => {
                let by = || by.get_or_insert_with(|| format!("{name}, ended by {place}").into()).clone();
                u.image.discarded.add(u.part, by)
            }
            _ => {}
        }
    }
}

/// A layout transition from UNDEFINED: the contents of these subresources may be anything.
pub fn transition(image: &Image, range: &vk::ImageSubresourceRange) {
    let (levels, layers) = image.resolve_range(range);
    let layers = if image.image_type == vk::ImageType::TYPE_3D { 0..u32::MAX } else { layers };
    let all = || 0..u32::MAX;
    image.undefine(&Part { aspects: range.aspect_mask, levels, layers, area: [all(), all()] });
}

fn part(image: &Image, s: &vk::ImageSubresourceLayers, [a, b]: [vk::Offset3D; 2]) -> Part {
    let along = |a: i32, b: i32| a.min(b).max(0) as u32..a.max(b).max(0) as u32;
    let layers = match image.image_type {
        vk::ImageType::TYPE_3D => along(a.z, b.z),
        _ => s.base_array_layer..s.base_array_layer.saturating_add(s.layer_count),
    };
    Part {
        aspects: s.aspect_mask,
        levels: s.mip_level..s.mip_level.saturating_add(1),
        layers,
        area: [along(a.x, b.x), along(a.y, b.y)],
    }
}

/// A box as two of its corners.
fn corners(at: vk::Offset3D, e: vk::Extent3D) -> [vk::Offset3D; 2] {
    let end = |at: i32, n: u32| at.saturating_add_unsigned(n);
    [at, vk::Offset3D { x: end(at.x, e.width), y: end(at.y, e.height), z: end(at.z, e.depth) }]
}

/// The host's `call` copies from a box of an image.
pub fn copied(
    report: &dyn Report,
    call: &str,
    image: &Image,
    sub: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    extent: vk::Extent3D,
) {
    undefined::read(report, image, &part(image, sub, corners(at, extent)), || call.into());
}

/// A transfer reads its source. What it writes, [`Image::written`] is told of.
pub fn transfer(report: &dyn Report, c: &Command, place: &Place) {
    let read = |src: &Image, s: &vk::ImageSubresourceLayers, between: [vk::Offset3D; 2]| {
        undefined::read(report, src, &part(src, s, between), || place.to_string());
    };
    match c {
        Command::CopyImage { src, regions, .. } if src.discarded.any() => {
            regions.iter().for_each(|r| read(src, &r.src_subresource, corners(r.src_offset, r.extent)))
        }
        Command::CopyImageToBuffer { src, regions, .. } if src.discarded.any() => regions
            .iter()
            .for_each(|r| read(src, &r.image_subresource, corners(r.image_offset, r.image_extent))),
        Command::BlitImage { src, regions, .. } if src.discarded.any() => {
            regions.iter().for_each(|r| read(src, &r.src_subresource, r.src_offsets))
        }
        Command::ResolveImage { src, regions, .. } if src.discarded.any() => {
            regions.iter().for_each(|r| read(src, &r.src_subresource, corners(r.src_offset, r.extent)))
        }
        _ => {}
    }
}

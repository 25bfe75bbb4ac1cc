//! Attachments as tiles see them: where each lies in memory and in a thread's tile buffer; loads, clears and stores.

use super::Here;
use super::density::Density;
use super::expand::{self, Expanded};
use super::plane::{Plane, PlaneKind};
use super::traffic::{Traffic, Way, Writes};
use crate::geometry::within::Within;
use crate::layout::Grid;
use crate::pass::{Attachment, Rendering, Subpass};
use crate::state::Rect;
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use texel::image::{Image, Packed};
use texel::memory::poison;
use texel::sample::ImageView;

/// No framebuffer is larger (pixels).
const MAX_SIDE: i32 = 16384;

/// An attachment; planes are absent where its format lacks them or it has no image.
#[derive(Clone, Default)]
pub struct Target {
    pub color: Option<Plane>,
    pub depth: Option<Plane>,
    pub stencil: Option<Plane>,
    pub samples: u32,
}

impl Target {
    pub fn planes(&self) -> impl Iterator<Item = &Plane> {
        [&self.color, &self.depth, &self.stencil].into_iter().flatten()
    }
}

/// What an attachment is of, for input attachments: image, level and first layer.
#[derive(Clone, Copy, PartialEq)]
struct Source(*const Image, u32, u32);

// SAFETY: the image's address is only compared.
unsafe impl Send for Source {}
unsafe impl Sync for Source {}

/// All attachments of a pass and the size of a tile buffer for them.
pub struct Targets {
    /// The attachments, then those that stand in for some of them ([`expand`]).
    pub list: Vec<Target>,
    /// How many are the pass's own.
    pub own: usize,
    /// What those are of, and by subpass whether it names them, be they drawn to in their own place or not.
    sources: Vec<Source>,
    uses: Vec<Vec<bool>>,
    /// The pass's subpasses, drawing to those that stand in.
    pub subpasses: Vec<Subpass>,
    /// Views that say at which rate fragments are shaded, by attachment.
    pub rates: Vec<Option<Arc<ImageView>>>,
    pub density: Option<Arc<Density>>,
    /// What stands in for what, by subpass.
    pub expanded: Vec<Expanded>,
    /// Subpasses between which the tile buffer holds each of the pass's own. All of them, but for attachments that share
    /// memory with others: from the first that uses it to the last.
    spans: Vec<Range<usize>>,
    /// Some attachments share memory: tiles are drawn subpass by subpass.
    pub aliased: bool,
    pub bytes: usize,
    pub area: Rect,
    /// Where tiles begin: at the framebuffer's corner, or, where a pass is counted by region, so that regions are tiles.
    pub grid: Grid,
    /// How large tiles of the modelled GPU are within these.
    pub within: Within,
    /// Counters are observed.
    pub observed: bool,
    /// The pass is recorded: each fragment is to come by, in order.
    pub recorded: bool,
}

/// The views of attachments that subpasses of a pass take shading rates from; nothing if there are none.
fn rates(r: &Rendering) -> Vec<Option<Arc<ImageView>>> {
    let says = |i: usize| r.subpasses.iter().any(|s| s.rate.is_some_and(|(a, _)| a as usize == i));
    if r.subpasses.iter().all(|s| s.rate.is_none()) {
        return vec![];
    }
    let views = r.attachments.iter().enumerate();
    views.map(|(i, a)| a.view.clone().filter(|_| says(i))).collect()
}

impl Targets {
    /// `observed`: counters are observed, also those of tiles that differ from what memory held before.
    pub fn new(r: &Rendering, observed: bool) -> Targets {
        let area = r.area.intersect(&Rect { x0: 0, y0: 0, x1: MAX_SIDE, y1: MAX_SIDE });
        let mut at = 0;
        // What no subpass uses is neither loaded nor stored (§ Render Pass Creation, VkAttachmentDescription).
        let uses = |i: usize| r.subpasses.iter().any(|s| s.uses(i as u32));
        let one = |(i, a): (usize, &Attachment)| if uses(i) { target(a, &mut at) } else { Target::default() };
        let mut list: Vec<Target> = r.attachments.iter().enumerate().map(one).collect();
        let own = list.len();
        let within = Within::of(list.iter().filter_map(|t| t.color.as_ref()).map(Plane::bits).sum());
        let stored = list.iter().flat_map(Target::planes).filter(|p| p.store == vk::AttachmentStoreOp::STORE);
        let bytes = stored.map(|p| p.row_pitch * p.height.max(0) as u64 * p.samples as u64).sum();
        let planes = list.iter_mut().flat_map(|t| [&mut t.color, &mut t.depth, &mut t.stencil]).flatten();
        planes.for_each(|p| {
            p.counted = observed;
            p.writes = Writes::of(bytes, observed && p.kind == PlaneKind::Color);
        });
        let mut subpasses = r.subpasses.clone();
        let spans: Vec<_> = (0..own).map(|i| span(r, &list, i)).collect();
        let all = 0..r.subpasses.len();
        let expanded: Vec<Expanded> =
            subpasses.iter_mut().map(|s| expand::plan(s, &mut list, own, at)).collect();
        let names =
            |s: usize, i: usize| subpasses[s].uses(i as u32) || expanded[s].stand_in(i as u32).is_some();
        let uses = (0..subpasses.len()).map(|s| (0..own).map(|i| names(s, i)).collect()).collect();
        Targets {
            sources: r.attachments.iter().map(source).collect(),
            uses,
            list,
            own,
            rates: rates(r),
            density: Density::new(r),
            subpasses,
            aliased: spans.iter().any(|s| *s != all),
            spans,
            bytes: expanded.iter().map(|e| e.bytes.end).fold(at, usize::max),
            expanded,
            area,
            grid: r.regions.as_ref().map_or(Grid::default(), |_| Grid::from([area.x0, area.y0])),
            within,
            observed,
            recorded: false,
        }
    }

    /// The attachment that is of this image, level and first layer; if several are, the one that subpass `s` names.
    pub fn input(&self, s: usize, image: *const Image, mip: u32, layer: u32) -> Option<usize> {
        let all = Source(image, mip, layer);
        let used = self.uses.get(s);
        let mut found = None;
        for (i, _) in self.sources.iter().enumerate().filter(|(_, s)| **s == all) {
            if used.is_some_and(|u| u[i]) {
                return Some(i);
            }
            found = found.or(Some(i));
        }
        found
    }

    /// The planes of attachment `i` that have this layer.
    fn planes(&self, i: usize, layer: u32) -> impl Iterator<Item = &Plane> {
        self.list[i].planes().filter(move |p| layer < p.layers)
    }

    /// The attachments that subpasses of `drawn` use, of those that the tile buffer holds now and then.
    fn held(&self, drawn: &Range<usize>) -> impl Iterator<Item = usize> {
        let meets = |s: &Range<usize>| !self.aliased || (s.start < drawn.end && drawn.start < s.end);
        (0..self.own).filter(move |&i| meets(&self.spans[i]))
    }

    /// Fills the tile buffer before subpasses `drawn` are; `loaded`: by attachment, whether that has been before.
    ///
    /// # Safety
    /// The tile buffer has [`Targets::bytes`] bytes; no other thread draws this tile.
    pub unsafe fn load(&self, here: &Here, drawn: &Range<usize>, loaded: &[bool]) -> Traffic {
        let mut traffic = Traffic::default();
        let tile = here.tile;
        for i in self.held(drawn) {
            for p in self.planes(i, here.layer) {
                match if loaded[i] { vk::AttachmentLoadOp::LOAD } else { p.load } {
                    // SAFETY: the caller's tile (here and below).
                    vk::AttachmentLoadOp::CLEAR => unsafe { p.fill(tile) },
                    vk::AttachmentLoadOp::LOAD => {
                        traffic.add(&unsafe { p.transfer(here, &self.area, Way::Load) });
                        // SAFETY: as above.
                        unsafe { p.set_alike(tile, false) };
                    }
                    // What memory holds shows that it is undefined. (The modelled GPU does not read it.)
                    _ if poison::wanted() => unsafe {
                        p.transfer(here, &self.area, Way::Load);
                        p.set_alike(tile, false);
                    },
                    // What the last tile left would go to memory otherwise.
                    // SAFETY: as above.
                    _ if p.store == vk::AttachmentStoreOp::STORE => unsafe { p.fill_with(tile, &[0; 16]) },
                    // (Whatever it is.)
                    _ => unsafe { p.set_alike(tile, true) },
                }
            }
        }
        traffic
    }

    /// Says of the attachments that [`Self::load`] filled that it did.
    pub fn have_loaded(&self, drawn: &Range<usize>, loaded: &mut [bool]) {
        self.held(drawn).for_each(|i| loaded[i] = true);
    }

    /// Whether the pass clears anything as it begins.
    pub fn clears(&self) -> bool {
        self.list[..self.own].iter().flat_map(Target::planes).any(|p| p.load == vk::AttachmentLoadOp::CLEAR)
    }

    /// The depth attachment that a pass starts by clearing, and its value as the tile holds it.
    pub fn cleared_depth(&self, layer: u32) -> Option<(u32, f32)> {
        let cleared = |p: &&Plane| p.load == vk::AttachmentLoadOp::CLEAR && layer < p.layers;
        self.list.iter().enumerate().find_map(|(i, t)| {
            let p = t.depth.as_ref().filter(cleared)?;
            let [a, b, c, d, ..] = p.clear;
            Some((i as u32, f32::from_le_bytes([a, b, c, d])))
        })
    }

    /// Writes the tile back after subpasses `drawn`: by the store operations what none after the first `done` subpasses
    /// uses, and all else for them to go on from. `unseen`: for [`Self::unseen`].
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn store(
        &self,
        here: &Here,
        drawn: &Range<usize>,
        done: usize,
        way: Way,
        unseen: &mut Vec<u64>,
    ) -> Traffic {
        let mut traffic = Traffic::default();
        for i in self.held(drawn) {
            let last = self.spans[i].end <= done;
            for p in self.planes(i, here.layer).filter(|p| !last || p.store == vk::AttachmentStoreOp::STORE) {
                // SAFETY: the caller's tile.
                let own = unsafe { p.transfer(here, &self.area, way) };
                traffic.add(&own);
                if own.unseen > 0 {
                    unseen.resize(unseen.len().max(self.own), 0);
                    unseen[i] += own.unseen;
                }
            }
        }
        self.written();
        traffic
    }

    /// Waits until stores that bypass the caches have arrived.
    fn written(&self) {
        if self.list[..self.own].iter().flat_map(Target::planes).any(|p| p.writes.past) {
            simd::streamed();
        }
    }

    /// What a thread has stored and not looked at, by attachment. It tells so when it has no more tiles: an atomic sum waits for what went
    /// past the caches.
    pub fn unseen(&self, by_attachment: &mut Vec<u64>) {
        for (target, bytes) in self.list.iter().zip(by_attachment.drain(..)) {
            // SAFETY: null, or of the image, which the pass keeps. All planes have the image's.
            let packed = target.planes().find_map(|p| unsafe { p.packed.as_ref() });
            if let Some(packed) = packed.filter(|_| bytes > 0) {
                packed.not_looked(bytes);
            }
        }
    }
    /// Called after a pass's tiles are stored. Returns how many bytes compression saves in those whose size was not computed.
    pub fn settle(&self) -> u64 {
        self.packed().map(Packed::settle).sum()
    }
    /// Called instead if tiles were stored only to make room.
    pub fn forget(&self) {
        self.packed().for_each(Packed::forget);
    }
    /// Compressed images, each plane's.
    fn packed(&self) -> impl Iterator<Item = &Packed> {
        // SAFETY: null, or of the image, which the pass keeps.
        self.list[..self.own].iter().flat_map(Target::planes).filter_map(|p| unsafe { p.packed.as_ref() })
    }

    /// Whether a tile that nothing is drawn in needs no tile buffer, if the pass is drawn at once.
    pub fn may_pass_over(&self) -> bool {
        let resolves = |s: &Subpass| {
            s.resolves.iter().any(Option::is_some) || s.depth_resolve.is_some() || s.stencil_resolve.is_some()
        };
        !self.aliased
            && self.expanded.iter().all(|e| e.pairs.is_empty())
            && !self.subpasses.iter().any(resolves)
    }

    /// Whether the depth of a pass that is drawn at once is not needed after its draws: it is neither stored nor resolved.
    pub fn depth_ends(&self) -> bool {
        let depth = |a: u32| self.list.get(a as usize)?.depth.as_ref();
        let stored = |a: u32| depth(a).is_some_and(|p| p.store == vk::AttachmentStoreOp::STORE);
        self.subpasses.len() == 1 && self.may_pass_over() && !self.subpasses[0].depth.is_some_and(stored)
    }

    /// A tile that nothing is drawn in, of a pass that is drawn at once: what [`Self::load`] and [`Self::store`] give, but
    /// clears go to memory as they are, and what would be loaded and stored again stays.
    ///
    /// # Safety
    /// As [`Targets::load`]; [`Self::may_pass_over`].
    pub unsafe fn pass_over(&self, here: &Here) -> [Traffic; 2] {
        let [mut loaded, mut stored] = [Traffic::default(); 2];
        for p in (0..self.own).flat_map(|i| self.planes(i, here.layer)) {
            // SAFETY: the caller's tile.
            let moved = |way| unsafe { p.transfer(here, &self.area, way) };
            if p.load == vk::AttachmentLoadOp::LOAD {
                loaded.add(&moved(Way::Skip));
            }
            if p.store == vk::AttachmentStoreOp::STORE {
                let cleared = p.load == vk::AttachmentLoadOp::CLEAR;
                stored.add(&moved(if cleared { Way::Clear } else { Way::Keep }));
            }
        }
        self.written();
        [loaded, stored]
    }
}

/// What is known of an image that the modelled GPU keeps compressed, or null.
fn packed(image: &Image) -> *const Packed {
    let of = image.packed.as_ref().filter(|_| counters::model::current().memory.afbc != 0);
    of.map_or(std::ptr::null(), |p| p)
}

/// [`Targets::spans`] of attachment `i`.
fn span(r: &Rendering, list: &[Target], i: usize) -> Range<usize> {
    let all = 0..r.subpasses.len();
    let shares =
        |(k, t): (usize, &Target)| k != i && t.planes().any(|a| list[i].planes().any(|b| a.memory_meets(b)));
    if r.subpasses.len() < 2 || !list.iter().enumerate().any(shares) {
        return all;
    }
    let uses = |s: &usize| r.subpasses[*s].uses(i as u32);
    match (all.clone().find(uses), all.clone().rev().find(uses)) {
        (Some(first), Some(last)) => first..last + 1,
        _ => all,
    }
}

fn source(a: &Attachment) -> Source {
    let Some(view) = &a.view else { return Source(std::ptr::null(), 0, 0) };
    // Planes are apart; images of several have one level.
    let plane = texel::format::plane_index(view.range.aspect_mask).map_or(0, |p| (p as u32) << 16);
    Source(
        std::sync::Arc::as_ptr(&view.image),
        view.range.base_mip_level | plane,
        view.range.base_array_layer,
    )
}

fn target(a: &Attachment, at: &mut usize) -> Target {
    let Some(view) = &a.view else { return Target { samples: 1, ..Target::default() } };
    let info = view.image.format;
    let r = &view.range;
    let mut t = Target { samples: view.samples, ..Target::default() };
    let mut place = |mut p: Plane| {
        p.at = *at;
        p.clear = p.encode_clear(a.clear.color, a.clear.depth, a.clear.stencil);
        *at += p.size();
        Some(p)
    };
    if !info.is_depth_stencil() {
        let Some(l) = view.levels.first() else { return t };
        if view.format.block_bytes <= 16 && !view.format.compressed() {
            t.color = place(Plane {
                base: l.base,
                row_pitch: l.row_pitch,
                sample_pitch: l.sample_pitch,
                layer_pitch: l.layer_pitch,
                split: l.split,
                layers: view.layers,
                width: l.size[0] as i32,
                height: l.size[1] as i32,
                format: view.format,
                bytes: view.format.block_bytes as usize,
                at: 0,
                samples: view.samples,
                kind: PlaneKind::Color,
                load: a.load,
                store: a.store,
                clear: [0; 16],
                blank: view.image.blank(0).map_or(std::ptr::null(), |b| b),
                packed: packed(&view.image),
                writes: Writes::default(),
                counted: false,
            });
        }
        return t;
    }
    for aspect in [vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL] {
        let Some(s) = view.image.surface(aspect, r.base_mip_level) else { continue };
        let stencil = aspect == vk::ImageAspectFlags::STENCIL;
        let kind = match s.format.format {
            _ if stencil => PlaneKind::Stencil,
            vk::Format::D16_UNORM => PlaneKind::Depth16,
            vk::Format::X8_D24_UNORM_PACK32 => PlaneKind::Depth24,
            _ => PlaneKind::Depth32,
        };
        let plane = place(Plane {
            // SAFETY: the view's first layer exists.
            base: unsafe { s.base.add((s.layer_pitch * r.base_array_layer as u64) as usize) },
            row_pitch: s.row_pitch,
            sample_pitch: s.sample_pitch,
            layer_pitch: s.layer_pitch,
            split: s.split,
            layers: view.layers,
            width: s.extent[0] as i32,
            height: s.extent[1] as i32,
            format: s.format,
            bytes: if stencil { 1 } else { 4 },
            at: 0,
            samples: view.samples,
            kind,
            load: if stencil { a.stencil_load } else { a.load },
            store: if stencil { a.stencil_store } else { a.store },
            clear: [0; 16],
            blank: view.image.blank(stencil as usize).map_or(std::ptr::null(), |b| b),
            packed: packed(&view.image),
            writes: Writes::default(),
            counted: false,
        });
        if stencil {
            t.stencil = plane;
        } else {
            t.depth = plane;
        }
    }
    t
}

#[cfg(test)]
impl Targets {
    /// Attachments without images, all of one subpass.
    pub fn of_planes(mut list: Vec<Target>, subpass: Subpass, area: Rect, observed: bool) -> Targets {
        let mut at = 0;
        for p in list.iter_mut().flat_map(|t| [&mut t.color, &mut t.depth, &mut t.stencil]).flatten() {
            p.at = at;
            p.counted = observed;
            at += p.size();
        }
        let own = list.len();
        Targets {
            sources: vec![Source(std::ptr::null(), 0, 0); own],
            uses: vec![vec![true; own]],
            within: Within::of(list.iter().filter_map(|t| t.color.as_ref()).map(Plane::bits).sum()),
            list,
            own,
            rates: vec![],
            density: None,
            subpasses: vec![subpass],
            expanded: vec![Expanded::default()],
            spans: vec![0..1; own],
            aliased: false,
            bytes: at,
            area,
            grid: Grid::default(),
            observed,
            recorded: false,
        }
    }
}

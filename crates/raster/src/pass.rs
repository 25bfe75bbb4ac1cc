//! What a render pass draws to. Both kinds of render passes and dynamic rendering come in this form.

use super::regions::Regions;
use super::state::Rect;
use ash::vk;
use std::sync::{Arc, OnceLock};
use texel::sample::ImageView;

/// A render pass instance, or a part of one.
#[derive(Clone)]
pub struct Rendering {
    /// Pixels that are loaded, cleared, drawn and stored.
    pub area: Rect,
    /// Layers drawn to; with a view mask, the views take their place.
    pub layers: u32,
    pub attachments: Vec<Attachment>,
    /// Dynamic rendering has one.
    pub subpasses: Vec<Subpass>,
    pub density: Option<DensityMap>,
    /// Counters to write for each region.
    pub regions: Option<Regions>,
    /// Pixels of each stripe (VK_ARM_render_pass_striped).
    pub stripes: Vec<u64>,
    /// It continues the part before it, which was suspended.
    pub resuming: bool,
    /// Another part will continue it.
    pub suspending: bool,
}

impl Rendering {
    /// Whether `next` describes the same render pass instance, as what resumes a part must.
    pub fn is_continued_by(&self, next: &Rendering) -> bool {
        let view = |a: &Attachment| a.view.as_ref().map(Arc::as_ptr);
        let drawn = |s: &Subpass| (s.view_mask, s.samples, s.expand);
        self.area == next.area
            && self.layers == next.layers
            && self.attachments.iter().map(view).eq(next.attachments.iter().map(view))
            && self.subpasses.iter().map(drawn).eq(next.subpasses.iter().map(drawn))
    }

    /// The same without the part that it says it continues: what attachments hold is all that there is of it.
    pub fn without_first_part(&self) -> Rendering {
        let mut alone = Rendering { resuming: false, ..self.clone() };
        for a in &mut alone.attachments {
            (a.load, a.stencil_load) = (vk::AttachmentLoadOp::LOAD, vk::AttachmentLoadOp::LOAD);
        }
        alone
    }
}

/// An attachment whose texels say how large fragments are (VK_EXT_fragment_density_map).
#[derive(Clone)]
pub struct DensityMap {
    /// Index of [`Rendering::attachments`].
    pub attachment: u32,
    /// Pixels of the framebuffer along x and y.
    pub framebuffer: [u32; 2],
    /// Layers without views have a layer of the map each.
    pub layered: bool,
    /// How far the map's layers are moved, in pixels: known when all of the pass is recorded; none: not at all.
    pub offsets: Arc<OnceLock<Vec<[i32; 2]>>>,
}

/// An image that subpasses use. The load operations take place before its first use, the stores after its last.
#[derive(Clone)]
pub struct Attachment {
    /// One level of the image; its layers are those of the view. `None`: a format without an image (nothing is kept).
    pub view: Option<Arc<ImageView>>,
    pub load: vk::AttachmentLoadOp,
    pub store: vk::AttachmentStoreOp,
    pub stencil_load: vk::AttachmentLoadOp,
    pub stencil_store: vk::AttachmentStoreOp,
    pub clear: ClearValue,
}

impl Attachment {
    /// One that no subpass draws to.
    pub fn kept(view: Arc<ImageView>) -> Attachment {
        Attachment {
            view: Some(view),
            load: vk::AttachmentLoadOp::LOAD,
            store: vk::AttachmentStoreOp::NONE,
            stencil_load: vk::AttachmentLoadOp::LOAD,
            stencil_store: vk::AttachmentStoreOp::NONE,
            clear: ClearValue::default(),
        }
    }
}

/// Both at hand, whichever the format needs.
#[derive(Clone, Copy, Default, Debug)]
pub struct ClearValue {
    /// Raw words: f32, u32 or i32 by the format's class.
    pub color: [u32; 4],
    pub depth: f32,
    pub stencil: u32,
}

/// Indices are those of [`Rendering::attachments`].
#[derive(Clone, Debug, Default)]
pub struct Subpass {
    /// 0: no multiview.
    pub view_mask: u32,
    pub colors: Vec<Option<u32>>,
    /// Colour i resolves to this one, by this mode; empty where nothing resolves.
    pub resolves: Vec<Option<(u32, vk::ResolveModeFlags)>>,
    pub depth: Option<u32>,
    pub stencil: Option<u32>,
    pub depth_resolve: Option<(u32, vk::ResolveModeFlags)>,
    pub stencil_resolve: Option<(u32, vk::ResolveModeFlags)>,
    /// Input attachments by index.
    pub inputs: Vec<Option<u32>>,
    /// The attachment that says at which rate fragments are shaded, and the pixels of one of its texels along x and y.
    pub rate: Option<(u32, [u32; 2])>,
    /// Samples of its attachments; 0 where it has none (the pipelines say).
    pub samples: u32,
    /// Samples that colour and depth/stencil attachments of one sample have while this subpass draws to them
    /// (VkMultisampledRenderToSingleSampledInfoEXT); 0: the one they have. Such an attachment resolves to itself.
    pub expand: u32,
    /// A dependency into this subpass that is not by region, or reaches stages before the fragment's: what came
    /// before must be in memory first.
    pub flush: bool,
}

impl Subpass {
    /// Whether it is drawn in a layer: one of its views, if it has any.
    pub fn has_view(&self, layer: u32) -> bool {
        self.view_mask == 0 || self.view_mask >> layer & 1 != 0
    }
    /// Whether the subpass names attachment `a` for anything.
    pub fn uses(&self, a: u32) -> bool {
        let resolves = self.resolves.iter().chain([&self.depth_resolve, &self.stencil_resolve]);
        self.colors.iter().chain(&self.inputs).chain([&self.depth, &self.stencil]).any(|u| *u == Some(a))
            || resolves.flatten().any(|(to, _)| *to == a)
    }
}

/// The views of all subpasses, a bit each; 0: a pass of layers.
pub fn view_mask(subpasses: &[Subpass]) -> u32 {
    subpasses.iter().fold(0, |m, s| m | s.view_mask)
}

/// Layers, or views up to the last one that any subpass has: addresses of a physical subpass.
pub fn layers(subpasses: &[Subpass], layers: u32) -> u32 {
    match view_mask(subpasses) {
        0 => layers,
        mask => 32 - mask.leading_zeros(),
    }
}

/// The physical subpass that subpass `s` is part of: one ends where what came before must be in memory.
pub fn physical(subpasses: &[Subpass], s: usize) -> u32 {
    subpasses.iter().take(s + 1).skip(1).filter(|s| s.flush).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subpasses_merge_until_one_must_wait() {
        let flush = |flush| Subpass { flush, ..Default::default() };
        let s = [flush(true), flush(false), flush(true), flush(false), flush(true)];
        assert_eq!([0, 1, 2, 3, 4].map(|i| physical(&s, i)), [0, 0, 1, 1, 2]);
    }
}

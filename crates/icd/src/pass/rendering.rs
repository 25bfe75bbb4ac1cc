//! Render pass instances for the GPU: from a render pass with its framebuffer, or from the description of a dynamic
//! rendering.

use crate::base::given::In;
use crate::device::performance;
use crate::instance::limits::MAX_COLORS;
use crate::instance::limits::{MAX_ARRAY_LAYERS, MAX_IMAGE_2D};
use crate::memory::image_view;
use crate::pass::convert;
use crate::pass::framebuffer;
use crate::pass::render_pass::{self, Pass};
use raster::pass::{Attachment, ClearValue, DensityMap, Rendering, Subpass};
use raster::state::Rect;
use std::sync::Arc;
use texel::sample::ImageView;
use vk::{AttachmentLoadOp as Load, AttachmentStoreOp as Store, RenderingFlags};

/// Both readings of a clear value: the attachment's format says which counts.
fn clear(v: &vk::ClearValue) -> ClearValue {
    // SAFETY: all members are plain numbers; the union is 16 bytes of the application's.
    unsafe {
        ClearValue { color: v.color.uint32, depth: v.depth_stencil.depth, stencil: v.depth_stencil.stencil }
    }
}

/// Contents that the pass does not look at may be loaded all the same; a store after it then keeps them.
fn load(op: Load) -> Load {
    if op == Load::NONE_KHR { Load::LOAD } else { op }
}

/// A VkRenderPassBeginInfo. `None`, after a line in the log, for a render pass or framebuffer that is none.
pub(crate) fn of_render_pass(info: In<vk::RenderPassBeginInfo>) -> Option<Rendering> {
    let pass = render_pass::get(info, info.render_pass)?;
    let frame = framebuffer::get(info, info.framebuffer)?;
    let given = info.find::<vk::RenderPassAttachmentBeginInfo>().map_or(&[][..], |a| a.attachments());
    let views = if frame.imageless { framebuffer::views(info, given) } else { frame.views.clone() };
    if views.len() < pass.attachments.len() {
        crate::base::debug::log_error(&format!(
            "vkCmdBeginRenderPass: {} image views for {} attachments",
            views.len(),
            pass.attachments.len()
        ));
    }
    // SAFETY: so many values wherever an attachment is cleared; else the count is 0 or the pointer null.
    let clears = unsafe { info.clear_values() };
    let density = pass.density.map(|attachment| DensityMap {
        attachment,
        framebuffer: frame.size,
        layered: pass.layered,
        offsets: Arc::default(),
    });
    Some(Rendering {
        density,
        area: area(&info.render_area),
        layers: frame.layers.min(MAX_ARRAY_LAYERS),
        attachments: attachments(&pass, &views, clears),
        subpasses: pass.gpu.clone(),
        regions: info.find().and_then(|i| performance::regions(i, &pass.gpu, frame.layers)),
        stripes: stripes(info.find()),
        resuming: false,
        suspending: false,
    })
}

/// The part of a render area in which a framebuffer can have pixels.
fn area(r: &vk::Rect2D) -> Rect {
    let most = Rect { x0: 0, y0: 0, x1: MAX_IMAGE_2D as i32, y1: MAX_IMAGE_2D as i32 };
    let r = convert::rect(r).intersect(&most);
    Rect { x1: r.x1.max(r.x0), y1: r.y1.max(r.y0), ..r }
}

/// Pixels of the stripes that a structure of a chain describes (VK_ARM_render_pass_striped).
fn stripes(info: Option<In<vk::RenderPassStripeBeginInfoARM>>) -> Vec<u64> {
    let pixels = |s: In<vk::RenderPassStripeInfoARM>| {
        u64::from(s.stripe_area.extent.width) * u64::from(s.stripe_area.extent.height)
    };
    info.map_or(vec![], |i| i.stripe_infos().iter().map(pixels).collect())
}

fn attachments(pass: &Pass, views: &[Option<Arc<ImageView>>], clears: &[vk::ClearValue]) -> Vec<Attachment> {
    let one = |(i, a): (usize, &render_pass::Attachment)| Attachment {
        view: views.get(i).cloned().flatten(),
        load: load(a.load),
        store: a.store,
        stencil_load: load(a.stencil_load),
        stencil_store: a.stencil_store,
        clear: clears.get(i).map_or(ClearValue::default(), clear),
    };
    pass.attachments.iter().enumerate().map(one).collect()
}

/// A VkRenderingInfo.
pub(crate) fn of_rendering(info: In<vk::RenderingInfo>) -> Rendering {
    let mut b = Build { expand: render_pass::expand(info.find()), attachments: Vec::new() };
    let mut s = Subpass { view_mask: info.view_mask, expand: b.expand, ..Default::default() };
    let colors = info.color_attachments();
    for c in colors.iter().take(MAX_COLORS) {
        let (index, resolve) = b.add(c);
        s.colors.push(index);
        s.resolves.push(resolve);
    }
    if s.resolves.iter().all(Option::is_none) {
        s.resolves.clear();
    }
    b.depth_stencil(info, &mut s);
    s.rate = info.find::<vk::RenderingFragmentShadingRateAttachmentInfoKHR>().and_then(|r| {
        let texel = r.shading_rate_attachment_texel_size;
        let at = b.push(Attachment::kept(image_view::get(info, r.image_view)?));
        Some((at, [texel.width, texel.height]))
    });
    let area = area(&info.render_area);
    let density = info.find::<vk::RenderingFragmentDensityMapAttachmentInfoEXT>().and_then(|d| {
        Some(DensityMap {
            attachment: b.push(Attachment::kept(image_view::get(info, d.image_view)?)),
            framebuffer: [area.x1.max(0) as u32, area.y1.max(0) as u32],
            layered: info.flags.contains(vk::RENDERING_PER_LAYER_FRAGMENT_DENSITY_BIT_VALVE),
            offsets: Arc::default(),
        })
    });
    // All may be read (VK_KHR_dynamic_rendering_local_read).
    s.inputs = s.colors.iter().chain([&s.depth, &s.stencil]).copied().collect();
    let used = s.colors.iter().flatten().chain(&s.depth).chain(&s.stencil).next();
    s.samples = used.and_then(|&a| b.attachments[a as usize].view.as_ref()).map_or(0, |v| v.image.samples);
    s.samples = s.samples.max(s.expand);
    let (subpasses, layers) = (vec![s], info.layer_count.clamp(1, MAX_ARRAY_LAYERS));
    Rendering {
        density,
        area,
        layers,
        attachments: b.attachments,
        regions: info.find().and_then(|i| performance::regions(i, &subpasses, layers)),
        subpasses,
        stripes: stripes(info.find()),
        resuming: info.flags.contains(RenderingFlags::RESUMING),
        suspending: info.flags.contains(RenderingFlags::SUSPENDING),
    }
}

struct Build {
    /// Samples of attachments of one; 0: just that.
    expand: u32,
    attachments: Vec<Attachment>,
}

type Resolve = Option<(u32, vk::ResolveModeFlags)>;

impl Build {
    /// The attachment of this view, made if it is not there.
    fn push(&mut self, a: Attachment) -> u32 {
        self.attachments.push(a);
        self.attachments.len() as u32 - 1
    }

    /// The target of the resolve of attachment `of`: itself where its one sample is expanded.
    fn resolve(&mut self, info: In<vk::RenderingAttachmentInfo>, of: u32) -> Resolve {
        if info.resolve_mode.is_empty() {
            return None;
        }
        let samples = self.attachments[of as usize].view.as_ref().map(|v| v.samples);
        if self.expand > 1 && samples == Some(1) {
            return Some((of, info.resolve_mode));
        }
        let view = image_view::get(info, info.resolve_image_view)?;
        let to = self.push(Attachment {
            view: Some(view),
            load: Load::DONT_CARE,
            store: Store::STORE,
            stencil_load: Load::DONT_CARE,
            stencil_store: Store::STORE,
            clear: ClearValue::default(),
        });
        Some((to, info.resolve_mode))
    }

    /// A colour attachment and its resolve.
    fn add(&mut self, info: In<vk::RenderingAttachmentInfo>) -> (Option<u32>, Resolve) {
        let Some(view) = image_view::get(info, info.image_view) else { return (None, None) };
        let index = self.push(Attachment {
            view: Some(view),
            load: load(info.load_op),
            store: info.store_op,
            stencil_load: Load::DONT_CARE,
            stencil_store: Store::DONT_CARE,
            clear: clear(&info.clear_value),
        });
        (Some(index), self.resolve(info, index))
    }

    /// Depth and stencil are one attachment where both are given: they have the same view. An aspect that is not
    /// given keeps what it holds.
    fn depth_stencil<'a>(&mut self, info: In<'a, vk::RenderingInfo<'a>>, s: &mut Subpass) {
        let one = |a: Option<In<'a, vk::RenderingAttachmentInfo<'a>>>, stencil: bool| {
            let a = a?;
            let view = image_view::get(info, a.image_view)?;
            let f = view.image.format;
            (if stencil { f.has_stencil() } else { f.has_depth() }).then_some((a, view))
        };
        let depth = one(info.depth_attachment(), false);
        let stencil = one(info.stencil_attachment(), true);
        let Some((any, view)) = depth.as_ref().or(stencil.as_ref()) else { return };
        let mut a = Attachment {
            view: Some(view.clone()),
            load: Load::LOAD,
            store: Store::NONE,
            stencil_load: Load::LOAD,
            stencil_store: Store::NONE,
            clear: clear(&any.clear_value),
        };
        if let Some((d, _)) = &depth {
            (a.load, a.store) = (load(d.load_op), d.store_op);
            a.clear.depth = clear(&d.clear_value).depth;
        }
        if let Some((t, _)) = &stencil {
            (a.stencil_load, a.stencil_store) = (load(t.load_op), t.store_op);
            a.clear.stencil = clear(&t.clear_value).stencil;
        }
        let at = self.push(a);
        s.depth = depth.as_ref().map(|_| at);
        s.stencil = stencil.as_ref().map(|_| at);
        let to = |b: &mut Build, a: &Option<(In<'a, vk::RenderingAttachmentInfo<'a>>, Arc<ImageView>)>| {
            a.as_ref().and_then(|(a, _)| b.resolve(*a, at))
        };
        s.depth_resolve = to(self, &depth);
        s.stencil_resolve = to(self, &stencil);
        // One image as the target of both is one attachment.
        if let (Some((d, _)), Some((t, mode))) = (s.depth_resolve, s.stencil_resolve)
            && d != t
            && self.same_view(d, t)
        {
            self.attachments.truncate(t as usize);
            s.stencil_resolve = Some((d, mode));
        }
        // An aspect that is not resolved keeps what it holds.
        for (resolve, of_depth) in [(s.depth_resolve, true), (s.stencil_resolve, false)] {
            let other = if of_depth { s.stencil_resolve } else { s.depth_resolve };
            if let Some((to, _)) = resolve
                && to != at
                && other.is_none_or(|(o, _)| o != to)
            {
                let a = &mut self.attachments[to as usize];
                let (l, st) = if of_depth {
                    (&mut a.stencil_load, &mut a.stencil_store)
                } else {
                    (&mut a.load, &mut a.store)
                };
                (*l, *st) = (Load::LOAD, Store::NONE);
            }
        }
    }

    fn same_view(&self, a: u32, b: u32) -> bool {
        match (&self.attachments[a as usize].view, &self.attachments[b as usize].view) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

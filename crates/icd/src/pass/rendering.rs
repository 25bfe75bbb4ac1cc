//! Render pass instances for the GPU: from a render pass with its framebuffer, or from the description of a dynamic
//! rendering.

use crate::base::chain;
use crate::device::performance;
use crate::instance::limits::MAX_COLORS;
use crate::instance::limits::{MAX_ARRAY_LAYERS, MAX_IMAGE_2D};
use crate::memory::image_view;
use crate::pass::convert;
use crate::pass::framebuffer;
use crate::pass::render_pass::{self, Pass};
use raster::pass::{Attachment, ClearValue, Rendering, Subpass};
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
///
/// # Safety
/// The structure and its chain are valid.
pub(crate) unsafe fn of_render_pass(info: &vk::RenderPassBeginInfo) -> Option<Rendering> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let pass = render_pass::get(info.render_pass)?;
        let frame = framebuffer::get(info.framebuffer)?;
        let given = chain::find::<vk::RenderPassAttachmentBeginInfo>(info.p_next)
            .map_or(&[][..], |a| chain::slice(a.p_attachments, a.attachment_count));
        let views = if frame.imageless { framebuffer::views(given) } else { frame.views.clone() };
        if views.len() < pass.attachments.len() {
            crate::base::debug::log_error(&format!(
                "vkCmdBeginRenderPass: {} image views for {} attachments",
                views.len(),
                pass.attachments.len()
            ));
        }
        let clears = chain::slice(info.p_clear_values, info.clear_value_count);
        Some(Rendering {
            area: area(&info.render_area),
            layers: frame.layers.min(MAX_ARRAY_LAYERS),
            attachments: attachments(&pass, &views, clears),
            subpasses: pass.gpu.clone(),
            regions: performance::regions(info.p_next, &pass.gpu, frame.layers),
            stripes: stripes(info.p_next),
            resuming: false,
            suspending: false,
        })
    }
}

/// The part of a render area in which a framebuffer can have pixels.
fn area(r: &vk::Rect2D) -> Rect {
    let most = Rect { x0: 0, y0: 0, x1: MAX_IMAGE_2D as i32, y1: MAX_IMAGE_2D as i32 };
    let r = convert::rect(r).intersect(&most);
    Rect { x1: r.x1.max(r.x0), y1: r.y1.max(r.y0), ..r }
}

/// Pixels of the stripes that a chain describes (VK_ARM_render_pass_striped).
unsafe fn stripes(p_next: *const std::ffi::c_void) -> Vec<u64> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = chain::find::<vk::RenderPassStripeBeginInfoARM>(p_next);
        let pixels = |s: &vk::RenderPassStripeInfoARM| {
            u64::from(s.stripe_area.extent.width) * u64::from(s.stripe_area.extent.height)
        };
        info.map_or(vec![], |i| {
            chain::slice(i.p_stripe_infos, i.stripe_info_count).iter().map(pixels).collect()
        })
    }
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
///
/// # Safety
/// The structure and its chain are valid.
pub(crate) unsafe fn of_rendering(info: &vk::RenderingInfo) -> Rendering {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let mut b = Build { expand: render_pass::expand(info.p_next), attachments: Vec::new() };
        let mut s = Subpass { view_mask: info.view_mask, expand: b.expand, ..Default::default() };
        let colors = chain::slice(info.p_color_attachments, info.color_attachment_count);
        for c in colors.iter().take(MAX_COLORS) {
            let (index, resolve) = b.add(c);
            s.colors.push(index);
            s.resolves.push(resolve);
        }
        if s.resolves.iter().all(Option::is_none) {
            s.resolves.clear();
        }
        b.depth_stencil(info, &mut s);
        // All may be read (VK_KHR_dynamic_rendering_local_read).
        s.inputs = s.colors.iter().chain([&s.depth, &s.stencil]).copied().collect();
        let used = s.colors.iter().flatten().chain(&s.depth).chain(&s.stencil).next();
        s.samples =
            used.and_then(|&a| b.attachments[a as usize].view.as_ref()).map_or(0, |v| v.image.samples);
        s.samples = s.samples.max(s.expand);
        let (subpasses, layers) = (vec![s], info.layer_count.clamp(1, MAX_ARRAY_LAYERS));
        Rendering {
            area: area(&info.render_area),
            layers,
            attachments: b.attachments,
            regions: performance::regions(info.p_next, &subpasses, layers),
            subpasses,
            stripes: stripes(info.p_next),
            resuming: info.flags.contains(RenderingFlags::RESUMING),
            suspending: info.flags.contains(RenderingFlags::SUSPENDING),
        }
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
    unsafe fn resolve(&mut self, info: &vk::RenderingAttachmentInfo, of: u32) -> Resolve {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            if info.resolve_mode.is_empty() {
                return None;
            }
            let samples = self.attachments[of as usize].view.as_ref().map(|v| v.samples);
            if self.expand > 1 && samples == Some(1) {
                return Some((of, info.resolve_mode));
            }
            let view = image_view::get(info.resolve_image_view)?;
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
    }

    /// A colour attachment and its resolve.
    unsafe fn add(&mut self, info: &vk::RenderingAttachmentInfo) -> (Option<u32>, Resolve) {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let Some(view) = image_view::get(info.image_view) else { return (None, None) };
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
    }

    /// Depth and stencil are one attachment where both are given: they have the same view. An aspect that is not
    /// given keeps what it holds.
    unsafe fn depth_stencil(&mut self, info: &vk::RenderingInfo, s: &mut Subpass) {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let one = |p: *const vk::RenderingAttachmentInfo<'static>, stencil: bool| {
                let a = p.as_ref()?;
                let view = image_view::get(a.image_view)?;
                let f = view.image.format;
                (if stencil { f.has_stencil() } else { f.has_depth() }).then_some((a, view))
            };
            let depth = one(info.p_depth_attachment.cast(), false);
            let stencil = one(info.p_stencil_attachment.cast(), true);
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
                a.clear.depth = d.clear_value.depth_stencil.depth;
            }
            if let Some((t, _)) = &stencil {
                (a.stencil_load, a.stencil_store) = (load(t.load_op), t.store_op);
                a.clear.stencil = t.clear_value.depth_stencil.stencil;
            }
            let at = self.push(a);
            s.depth = depth.as_ref().map(|_| at);
            s.stencil = stencil.as_ref().map(|_| at);
            let to = |b: &mut Build, a: &Option<(&vk::RenderingAttachmentInfo, Arc<ImageView>)>| {
                a.as_ref().and_then(|(a, _)| b.resolve(a, at))
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
    }

    fn same_view(&self, a: u32, b: u32) -> bool {
        match (&self.attachments[a as usize].view, &self.attachments[b as usize].view) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

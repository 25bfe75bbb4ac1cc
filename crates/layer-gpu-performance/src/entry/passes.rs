//! Render passes: of objects, old and new, and dynamic rendering.

use super::{Function, function, functions};
use crate::device::{self, Device};
use crate::guard::told;
use crate::recording::Recording;
use crate::table::next;
use ash::vk;
use vk::RenderingFlags as Flags;

functions! {
    pub(super) fn lookup;
    b"vkCmdBeginRenderPass" => begin_render_pass, PFN_vkCmdBeginRenderPass;
    b"vkCmdBeginRenderPass2" | b"vkCmdBeginRenderPass2KHR" => begin_render_pass2, PFN_vkCmdBeginRenderPass2;
    b"vkCmdNextSubpass" => next_subpass, PFN_vkCmdNextSubpass;
    b"vkCmdNextSubpass2" | b"vkCmdNextSubpass2KHR" => next_subpass2, PFN_vkCmdNextSubpass2;
    b"vkCmdEndRenderPass" => end_render_pass, PFN_vkCmdEndRenderPass;
    b"vkCmdEndRenderPass2" | b"vkCmdEndRenderPass2KHR" => end_render_pass2, PFN_vkCmdEndRenderPass2;
    b"vkCmdBeginRendering" | b"vkCmdBeginRenderingKHR" => begin_rendering, PFN_vkCmdBeginRendering;
    b"vkCmdEndRendering" | b"vkCmdEndRenderingKHR" => end_rendering, PFN_vkCmdEndRendering;
}

/// Runs `f` on the recording of a command buffer.
fn on(d: &Device, c: vk::CommandBuffer, f: impl FnOnce(&mut Recording)) {
    told(d.recording(c), f);
}

fn counted(n: u32, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Begins a pass of an object: its name, and its views.
unsafe fn open_object(d: &Device, c: vk::CommandBuffer, begin: &vk::RenderPassBeginInfo<'_>) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let info = d.passes.read().get(&begin.render_pass).cloned();
        let vk::Extent2D { width, height } = begin.render_area.extent;
        let (attachments, subpasses) = info.as_ref().map_or((0, 1), |i| (i.attachments, i.subpasses));
        let mut name = format!("{width}x{height}, {}", counted(attachments, "attachment"));
        if subpasses > 1 {
            name += &format!(", {subpasses} subpasses");
        }
        let views = info.as_ref().map_or(1, |i| i.views);
        if views > 1 {
            name += &format!(", {views} views");
        }
        let name = d.names.with(begin.render_pass, name);
        on(d, c, |r| r.open_pass(d, name, views, Flags::empty()));
    }
}

fn inline(contents: vk::SubpassContents) -> bool {
    contents == vk::SubpassContents::INLINE
}

unsafe extern "system" fn begin_render_pass(
    c: vk::CommandBuffer,
    begin: *const vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        open_object(&d, c, &*begin);
        next!(d, cmd_begin_render_pass(c, begin, contents));
        on(&d, c, |r| r.begun_pass(&d, inline(contents)));
    }
}

unsafe extern "system" fn begin_render_pass2(
    c: vk::CommandBuffer,
    begin: *const vk::RenderPassBeginInfo<'_>,
    subpass: *const vk::SubpassBeginInfo<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        open_object(&d, c, &*begin);
        next!(d, cmd_begin_render_pass2(c, begin, subpass));
        on(&d, c, |r| r.begun_pass(&d, inline((*subpass).contents)));
    }
}

unsafe extern "system" fn next_subpass(c: vk::CommandBuffer, contents: vk::SubpassContents) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        next!(d, cmd_next_subpass(c, contents));
        on(&d, c, |r| r.next_subpass(inline(contents)));
    }
}

unsafe extern "system" fn next_subpass2(
    c: vk::CommandBuffer,
    begin: *const vk::SubpassBeginInfo<'_>,
    end: *const vk::SubpassEndInfo<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        next!(d, cmd_next_subpass2(c, begin, end));
        on(&d, c, |r| r.next_subpass(inline((*begin).contents)));
    }
}

unsafe extern "system" fn end_render_pass(c: vk::CommandBuffer) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        on(&d, c, |r| r.closing_pass(&d));
        next!(d, cmd_end_render_pass(c));
        on(&d, c, |r| r.close_pass(&d));
    }
}

unsafe extern "system" fn end_render_pass2(c: vk::CommandBuffer, end: *const vk::SubpassEndInfo<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        on(&d, c, |r| r.closing_pass(&d));
        next!(d, cmd_end_render_pass2(c, end));
        on(&d, c, |r| r.close_pass(&d));
    }
}

unsafe extern "system" fn begin_rendering(c: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        let i = &*info;
        let vk::Extent2D { width, height } = i.render_area.extent;
        let depth = [i.p_depth_attachment, i.p_stencil_attachment].iter().any(|a| !a.is_null());
        let attachments = i.color_attachment_count + u32::from(depth);
        let views = i.view_mask.count_ones().max(1);
        let mut name = format!("{width}x{height}, {}", counted(attachments, "attachment"));
        if views > 1 {
            name += &format!(", {views} views");
        }
        on(&d, c, |r| r.open_pass(&d, name, views, i.flags));
        next!(d, cmd_begin_rendering(c, info));
        let inline = !i.flags.contains(Flags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
        on(&d, c, |r| r.begun_pass(&d, inline));
    }
}

unsafe extern "system" fn end_rendering(c: vk::CommandBuffer) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        on(&d, c, |r| r.closing_pass(&d));
        next!(d, cmd_end_rendering(c));
        on(&d, c, |r| r.close_pass(&d));
    }
}

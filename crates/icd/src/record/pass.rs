//! Render passes and attachment clears.

use crate::base::given::In;
use crate::pass::render_pass;
use crate::pass::rendering;
use crate::record::command_buffer::{CommandBuffer, Recorder};
use crate::record::sync;
use gpu::command::Command;
use raster::pass::Rendering;
use std::sync::Arc;

fn begin(r: &mut Recorder, rendering: Rendering) {
    r.subpasses_left = rendering.subpasses.len().saturating_sub(1);
    r.push(Command::BeginRendering(Arc::new(rendering)));
}

fn end(b: &CommandBuffer) {
    if let Some(mut r) = b.recording() {
        r.subpasses_left = 0;
        r.push(Command::EndRendering);
        let after = std::mem::take(&mut r.after);
        after.into_iter().for_each(|d| r.push(Command::Barrier(d)));
    }
}

pub(crate) fn cmd_begin_render_pass2(
    b: &CommandBuffer,
    info: In<vk::RenderPassBeginInfo>,
    _: In<vk::SubpassBeginInfo>,
) {
    if let (Some(rendering), Some(mut r)) = (rendering::of_render_pass(info), b.recording()) {
        let pass = render_pass::get(b, info.render_pass);
        let [before, after] = pass.as_ref().map(|p| p.outward()).unwrap_or_default();
        before.into_iter().for_each(|d| r.push(Command::Barrier(d)));
        r.after = after;
        if let Some(pass) = &pass {
            sync::record(&mut r, || sync::of_pass(sync::pass(pass)));
        }
        begin(&mut r, rendering);
    }
}

pub(crate) fn cmd_next_subpass2(b: &CommandBuffer, _: In<vk::SubpassBeginInfo>, _: In<vk::SubpassEndInfo>) {
    let Some(mut r) = b.recording() else { return };
    if r.subpasses_left == 0 {
        crate::base::debug::log_error("vkCmdNextSubpass: the render pass has no further subpass");
        return;
    }
    r.subpasses_left -= 1;
    r.push(Command::NextSubpass);
}

pub(crate) fn cmd_end_render_pass2(b: &CommandBuffer, _: In<vk::SubpassEndInfo>) {
    end(b);
}

pub(crate) fn cmd_begin_rendering(b: &CommandBuffer, info: In<vk::RenderingInfo>) {
    let rendering = rendering::of_rendering(info);
    if let Some(mut r) = b.recording() {
        r.draw.locate(Vec::new());
        let depth = rendering.subpasses.first().and_then(|s| s.depth.or(s.stencil));
        sync::record(&mut r, || sync::of_pass(sync::rendering(info, depth)));
        begin(&mut r, rendering);
    }
}

pub(crate) fn cmd_end_rendering(b: &CommandBuffer) {
    end(b);
}

pub(crate) fn cmd_end_rendering2_khr(b: &CommandBuffer, _: Option<In<vk::RenderingEndInfoKHR>>) {
    end(b);
}

pub(crate) fn cmd_clear_attachments(
    b: &CommandBuffer,
    attachments: &[vk::ClearAttachment],
    rects: &[vk::ClearRect],
) {
    let attachments = attachments.to_vec();
    let rects = rects.to_vec();
    if let Some(mut r) = b.recording() {
        r.push(Command::ClearAttachments { attachments, rects });
    }
}

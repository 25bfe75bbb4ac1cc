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
    r.density_offsets = rendering.density.as_ref().map(|d| d.offsets.clone());
    r.push(Command::BeginRendering(Arc::new(rendering)));
}

/// Ends a render pass. Its map of fragment densities is moved if the application says so now.
fn end(b: &CommandBuffer, moved: Option<In<vk::RenderPassFragmentDensityMapOffsetEndInfoEXT>>) {
    if let Some(mut r) = b.recording() {
        r.subpasses_left = 0;
        if let (Some(offsets), Some(moved)) = (r.density_offsets.take(), moved) {
            let all = moved.fragment_density_offsets().iter();
            // Nothing has set them: they were made when the pass began.
            let _ = offsets.set(all.map(|o| [o.x, o.y]).collect());
        }
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

pub(crate) fn cmd_end_render_pass2(b: &CommandBuffer, info: In<vk::SubpassEndInfo>) {
    end(b, info.find());
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
    end(b, None);
}

pub(crate) fn cmd_end_rendering2_khr(b: &CommandBuffer, info: Option<In<vk::RenderingEndInfoKHR>>) {
    end(b, info.and_then(|i| i.find()));
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

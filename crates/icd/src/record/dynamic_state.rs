//! Dynamic state: kept as it is set, for the draws to come.

use super::draw::Changing;
use crate::base::given::In;
use crate::instance::limits::{MAX_COLORS, MAX_VIEWPORTS};
use crate::pass::convert;
use crate::pipeline::draw_settings::{self, Settings};
use crate::record::command_buffer::CommandBuffer;
use raster::state::StencilFace;

/// Elements from `first` on.
fn place<T>(list: &mut [T], first: u32, items: impl Iterator<Item = T>) {
    list.iter_mut().skip(first as usize).zip(items).for_each(|(o, i)| *o = i);
}

fn count(n: usize) -> usize {
    n.min(MAX_VIEWPORTS)
}

/// Colour attachments `first..first + items` get new values.
fn colors<T>(
    s: &mut Settings,
    first: u32,
    items: &[T],
    set: impl Fn(&mut raster::state::BlendAttachment, &T),
) {
    let o = &mut s.output;
    o.blend.iter_mut().skip(first as usize).zip(items).for_each(|(b, i)| set(b, i));
    o.color_count = o.color_count.max((first as usize).saturating_add(items.len()).min(MAX_COLORS));
}

fn faces(s: &mut Settings, mask: vk::StencilFaceFlags, set: impl Fn(&mut StencilFace)) {
    let sides = [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK];
    for (bit, face) in sides.iter().zip(&mut s.fragment.stencil) {
        if mask.contains(*bit) {
            set(face);
        }
    }
}

/// Commands that change settings.
macro_rules! setters {
    ($($name:ident($($arg:ident: $ty:ty),*) |$s:ident| $set:expr;)*) => {$(
        pub(crate) fn $name(b: &CommandBuffer, $($arg: $ty),*) {
            if let Some(r) = b.recording() {
                let mut changing = Changing(r);
                let $s: &mut Settings = &mut changing;
                $set;
            }
        }
    )*};
}

setters! {
    cmd_set_viewport(first: u32, p: &[vk::Viewport]) |s|
        place(&mut s.geometry.viewports, first, p.iter().map(draw_settings::viewport));
    cmd_set_scissor(first: u32, p: &[vk::Rect2D]) |s|
        place(&mut s.geometry.scissors, first, p.iter().map(convert::rect));
    cmd_set_viewport_with_count(p: &[vk::Viewport]) |s| {
        s.geometry.viewport_count = count(p.len());
        place(&mut s.geometry.viewports, 0, p.iter().map(draw_settings::viewport))
    };
    cmd_set_scissor_with_count(p: &[vk::Rect2D]) |s| {
        s.geometry.scissor_count = count(p.len());
        place(&mut s.geometry.scissors, 0, p.iter().map(convert::rect))
    };
    cmd_set_line_width(width: f32) |s| s.geometry.line_width = width;
    cmd_set_depth_bias(constant: f32, clamp: f32, slope: f32) |s|
        s.geometry.bias = raster::state::DepthBias { constant, clamp, slope, ..draw_settings::NO_BIAS };
    cmd_set_depth_bias2_ext(info: In<vk::DepthBiasInfoEXT>) |s| {
        let (i, bias) = (info, &mut s.geometry.bias);
        *bias = draw_settings::NO_BIAS;
        bias.constant = i.depth_bias_constant_factor;
        bias.clamp = i.depth_bias_clamp;
        bias.slope = i.depth_bias_slope_factor;
        crate::pipeline::pipeline_state::depth_bias_form(i.find(), bias)
    };
    cmd_set_depth_bias_enable(on: vk::Bool32) |s| s.geometry.bias_enable = on != 0;
    cmd_set_blend_constants(c: &[f32; 4]) |s| s.output.constants = *c;
    cmd_set_depth_bounds(min: f32, max: f32) |s| s.fragment.bounds = [min, max];
    cmd_set_depth_bounds_test_enable(on: vk::Bool32) |s| s.fragment.bounds_test = on != 0;
    cmd_set_depth_test_enable(on: vk::Bool32) |s| s.fragment.depth_test = on != 0;
    cmd_set_depth_write_enable(on: vk::Bool32) |s| s.fragment.depth_write = on != 0;
    cmd_set_depth_compare_op(op: vk::CompareOp) |s| s.fragment.depth_compare = op;
    cmd_set_stencil_test_enable(on: vk::Bool32) |s| s.fragment.stencil_test = on != 0;
    cmd_set_stencil_compare_mask(f: vk::StencilFaceFlags, mask: u32) |s| faces(s, f, |s| s.compare_mask = mask);
    cmd_set_stencil_write_mask(f: vk::StencilFaceFlags, mask: u32) |s| faces(s, f, |s| s.write_mask = mask);
    cmd_set_stencil_reference(f: vk::StencilFaceFlags, reference: u32) |s| faces(s, f, |s| s.reference = reference);
    cmd_set_stencil_op(
        f: vk::StencilFaceFlags,
        fail: vk::StencilOp,
        pass: vk::StencilOp,
        depth_fail: vk::StencilOp,
        compare: vk::CompareOp
    ) |s| faces(s, f, |s| *s = StencilFace { fail, pass, depth_fail, compare, ..*s });
    cmd_set_cull_mode(mode: vk::CullModeFlags) |s| s.geometry.cull = mode;
    cmd_set_front_face(front: vk::FrontFace) |s| s.geometry.front = front;
    cmd_set_primitive_topology(topology: vk::PrimitiveTopology) |s| s.input.topology = topology;
    cmd_set_rasterizer_discard_enable(on: vk::Bool32) |s| s.geometry.discard = on != 0;
    cmd_set_primitive_restart_enable(on: vk::Bool32) |s| s.input.restart = on != 0;
    cmd_set_logic_op_ext(op: vk::LogicOp) |s| s.output.logic_op = op;
    cmd_set_color_write_enable_ext(on: &[vk::Bool32]) |s| {
        for (i, &on) in on.iter().take(MAX_COLORS).enumerate() {
            s.output.write_enable = s.output.write_enable & !(1 << i) | ((on != 0) as u32) << i;
        }
    };
    cmd_set_line_stipple(factor: u32, pattern: u16) |s| s.geometry.stipple = (factor, pattern);
    // VK_EXT_extended_dynamic_state3
    cmd_set_depth_clamp_enable_ext(on: vk::Bool32) |s| s.geometry.depth_clamp = on != 0;
    cmd_set_depth_clamp_range_ext(mode: vk::DepthClampModeEXT, range: Option<&vk::DepthClampRangeEXT>) |s|
        s.geometry.clamp_range = crate::pipeline::pipeline_state::clamp_range(mode, range);
    cmd_set_depth_clip_enable_ext(on: vk::Bool32) |s| s.geometry.depth_clip = Some(on != 0);
    cmd_set_depth_clip_negative_one_to_one_ext(on: vk::Bool32) |s| s.geometry.negative_one_to_one = on != 0;
    cmd_set_polygon_mode_ext(mode: vk::PolygonMode) |s| s.geometry.polygon_mode = mode;
    cmd_set_line_rasterization_mode_ext(mode: vk::LineRasterizationModeEXT) |s| s.geometry.line_mode = mode;
    cmd_set_line_stipple_enable_ext(on: vk::Bool32) |s| s.geometry.stipple_enable = on != 0;
    cmd_set_provoking_vertex_mode_ext(mode: vk::ProvokingVertexModeEXT) |s|
        s.geometry.provoking_last = mode == vk::ProvokingVertexModeEXT::LAST_VERTEX;
    cmd_set_patch_control_points_ext(n: u32) |s| s.geometry.patch_vertices = n;
    cmd_set_rasterization_stream_ext(stream: u32) |s| s.geometry.stream = stream;
    cmd_set_tessellation_domain_origin_ext(origin: vk::TessellationDomainOrigin) |s|
        s.geometry.domain_origin = origin;
    cmd_set_rasterization_samples_ext(n: vk::SampleCountFlags) |s| s.output.samples = convert::samples(n);
    cmd_set_sample_mask_ext(_n: vk::SampleCountFlags, mask: *const vk::SampleMask) |s|
        // SAFETY: null or a word (valid usage); there are no more samples than bits of it.
        s.output.mask = unsafe { mask.as_ref() }.copied().unwrap_or(u32::MAX);
    cmd_set_alpha_to_coverage_enable_ext(on: vk::Bool32) |s| s.output.alpha_to_coverage = on != 0;
    cmd_set_alpha_to_one_enable_ext(on: vk::Bool32) |s| s.output.alpha_to_one = on != 0;
    cmd_set_logic_op_enable_ext(on: vk::Bool32) |s| s.output.logic_op_enable = on != 0;
    cmd_set_color_blend_enable_ext(first: u32, on: &[vk::Bool32]) |s|
        colors(s, first, on, |b, &on| b.enable = on != 0);
    cmd_set_color_blend_equation_ext(first: u32, e: &[vk::ColorBlendEquationEXT]) |s|
        colors(s, first, e, |b, e| {
            b.src_color = e.src_color_blend_factor;
            b.dst_color = e.dst_color_blend_factor;
            b.color_op = e.color_blend_op;
            b.src_alpha = e.src_alpha_blend_factor;
            b.dst_alpha = e.dst_alpha_blend_factor;
            b.alpha_op = e.alpha_blend_op;
        });
    cmd_set_color_blend_advanced_ext(first: u32, a: &[vk::ColorBlendAdvancedEXT]) |s|
        colors(s, first, a, |b, a| {
            (b.color_op, b.alpha_op) = (a.advanced_blend_op, a.advanced_blend_op);
            b.advanced = raster::state::Advanced {
                src_premultiplied: a.src_premultiplied != 0,
                dst_premultiplied: a.dst_premultiplied != 0,
                overlap: a.blend_overlap,
                clamp: a.clamp_results != 0,
            };
        });
    cmd_set_sample_locations_ext(info: In<vk::SampleLocationsInfoEXT>) |s|
        s.output.sample_locations = draw_settings::sample_locations(info);
    cmd_set_sample_locations_enable_ext(on: vk::Bool32) |s| s.output.locations_enable = on != 0;
    cmd_set_conservative_rasterization_mode_ext(mode: vk::ConservativeRasterizationModeEXT) |s|
        s.geometry.conservative = mode;
    cmd_set_fragment_shading_rate_khr(size: &vk::Extent2D, combiners: &[vk::FragmentShadingRateCombinerOpKHR; 2]) |s|
        s.geometry.rate = draw_settings::rate(*size, *combiners);
    cmd_set_extra_primitive_overestimation_size_ext(size: f32) |s| s.geometry.extra_overestimation = size;
    cmd_set_color_write_mask_ext(first: u32, mask: &[vk::ColorComponentFlags]) |s|
        colors(s, first, mask, |b, &mask| b.write = mask);
}

// State that pipelines say as well, and must say alike, or that there is nothing to do for.

/// For draws with shader objects: pipelines are created with the same locations
/// (§ vkCmdSetRenderingAttachmentLocations).
pub(crate) fn cmd_set_rendering_attachment_locations(
    b: &CommandBuffer,
    info: In<vk::RenderingAttachmentLocationInfo>,
) {
    let Some(mut r) = b.recording() else { return };
    r.draw.change().output.locations = draw_settings::locations(info);
}

/// Input attachments are found by the views that descriptors name, whatever their index.
pub(crate) fn cmd_set_rendering_input_attachment_indices(
    b: &CommandBuffer,
    _: In<vk::RenderingInputAttachmentIndexInfo>,
) {
    b.recording();
}

/// Attachments that are sampled as well are read from memory like any other image, where the GPU brings them while this
/// is set ([`raster::state::FeedbackLoop`]).
pub(crate) fn cmd_set_attachment_feedback_loop_enable_ext(b: &CommandBuffer, aspects: vk::ImageAspectFlags) {
    let Some(mut r) = b.recording() else { return };
    r.draw.feedback_loop = !aspects.is_empty();
}

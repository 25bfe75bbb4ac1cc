//! The fixed-function state of VkGraphicsPipelineCreateInfo as [`Settings`]. What the specification says is ignored
//! is not even looked at: it may be a wild pointer.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::instance::limits::{MAX_BINDINGS, MAX_COLORS, MAX_VIEWPORTS};
use crate::pass::convert;
use crate::pass::render_pass::{self, Pass};
use crate::pipeline::draw_settings::{self, Dynamic, Fragment, Geometry, Input, Output};
use raster::state::{Advanced, BlendAttachment, DepthBias, StencilFace, VertexAttribute, VertexBinding};
use std::sync::Arc;

/// What a pipeline is made for: which attachments there are.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// Bit i: colour attachment i has a format.
    pub colors: u32,
    pub color_count: usize,
    pub depth: bool,
    pub stencil: bool,
}

impl Targets {
    /// Of the subpass or of VkPipelineRenderingCreateInfo.
    pub unsafe fn of(info: &vk::GraphicsPipelineCreateInfo) -> Targets {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            let has = |f: vk::Format| f != vk::Format::UNDEFINED;
            if info.render_pass != vk::RenderPass::null() {
                return match render_pass::get(info.render_pass) {
                    Some(p) => Self::subpass(&p, info.subpass),
                    None => Targets { colors: 0, color_count: 0, depth: false, stencil: false },
                };
            }
            match chain::find::<vk::PipelineRenderingCreateInfo>(info.p_next) {
                Some(r) => {
                    let formats = chain::slice(r.p_color_attachment_formats, r.color_attachment_count);
                    let colors = formats.iter().take(MAX_COLORS).enumerate();
                    Targets {
                        colors: colors.map(|(i, &f)| (has(f) as u32) << i).sum(),
                        color_count: formats.len().min(MAX_COLORS),
                        depth: has(r.depth_attachment_format),
                        stencil: has(r.stencil_attachment_format),
                    }
                }
                None => Targets { colors: 0, color_count: 0, depth: false, stencil: false },
            }
        }
    }

    fn subpass(pass: &Arc<Pass>, index: u32) -> Targets {
        let Some(s) = pass.subpasses.get(index as usize) else {
            return Targets { colors: 0, color_count: 0, depth: false, stencil: false };
        };
        let colors = s.colors.iter().take(MAX_COLORS).enumerate();
        let format = |a: u32| pass.attachments.get(a as usize).and_then(|a| texel::format::info(a.format));
        let depth = s.depth.as_ref().and_then(|d| d.attachment).and_then(format);
        Targets {
            colors: colors.map(|(i, r)| (r.attachment.is_some() as u32) << i).sum(),
            color_count: s.colors.len().min(MAX_COLORS),
            depth: depth.is_some_and(|f| f.has_depth()),
            stencil: depth.is_some_and(|f| f.has_stencil()),
        }
    }
}

/// The dynamic states a creation names.
pub(crate) unsafe fn dynamic(info: &vk::GraphicsPipelineCreateInfo) -> Dynamic {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut on = Dynamic::default();
        if let Some(d) = info.p_dynamic_state.as_ref() {
            for &s in chain::slice(d.p_dynamic_states, d.dynamic_state_count) {
                on.insert(Dynamic::of(s));
            }
        }
        on
    }
}

/// An attribute the device can fetch.
pub(crate) fn attribute(
    location: u32,
    binding: u32,
    format: vk::Format,
    offset: u32,
) -> Option<VertexAttribute> {
    let format = texel::format::info(format).filter(|f| f.vertex())?;
    Some(VertexAttribute { location, binding, format, offset })
}

pub(crate) unsafe fn input(info: &vk::GraphicsPipelineCreateInfo, on: Dynamic) -> Answer<Input> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut out = Input::default();
        if let Some(a) = info.p_input_assembly_state.as_ref() {
            out.topology = a.topology;
            out.restart = a.primitive_restart_enable != 0;
        }
        if on.has(Dynamic::VERTEX_INPUT_EXT) {
            return Ok(out);
        }
        let Some(v) = info.p_vertex_input_state.as_ref() else { return Ok(out) };
        let divisors = chain::find::<vk::PipelineVertexInputDivisorStateCreateInfoKHR>(v.p_next)
            .map_or(&[][..], |d| chain::slice(d.p_vertex_binding_divisors, d.vertex_binding_divisor_count));
        for b in chain::slice(v.p_vertex_binding_descriptions, v.vertex_binding_description_count) {
            if b.binding as usize >= MAX_BINDINGS {
                return Err(invalid(&format!("vkCreateGraphicsPipelines: vertex binding {}", b.binding)));
            }
            let divisor = divisors.iter().find(|d| d.binding == b.binding).map_or(1, |d| d.divisor);
            let divisor = (b.input_rate == vk::VertexInputRate::INSTANCE).then_some(divisor);
            out.bindings.push(VertexBinding { binding: b.binding, stride: b.stride, divisor });
        }
        for a in chain::slice(v.p_vertex_attribute_descriptions, v.vertex_attribute_description_count) {
            match attribute(a.location, a.binding, a.format, a.offset) {
                Some(a) => out.attributes.push(a),
                None => {
                    return Err(invalid(&format!(
                        "vkCreateGraphicsPipelines: vertices of format {:?}",
                        a.format
                    )));
                }
            }
        }
        Ok(out)
    }
}

pub(crate) unsafe fn depth_bias_form(p_next: *const std::ffi::c_void, bias: &mut DepthBias) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(r) = chain::find::<vk::DepthBiasRepresentationInfoEXT>(p_next) {
            bias.representation = r.depth_bias_representation;
            bias.exact = r.depth_bias_exact != 0;
        }
    }
}

unsafe fn raster(r: &vk::PipelineRasterizationStateCreateInfo, out: &mut Geometry) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        out.discard = r.rasterizer_discard_enable != 0;
        out.depth_clamp = r.depth_clamp_enable != 0;
        out.polygon_mode = r.polygon_mode;
        out.cull = r.cull_mode;
        out.front = r.front_face;
        out.bias_enable = r.depth_bias_enable != 0;
        out.bias.constant = r.depth_bias_constant_factor;
        out.bias.clamp = r.depth_bias_clamp;
        out.bias.slope = r.depth_bias_slope_factor;
        depth_bias_form(r.p_next, &mut out.bias);
        out.line_width = r.line_width;
        if let Some(c) = chain::find::<vk::PipelineRasterizationDepthClipStateCreateInfoEXT>(r.p_next) {
            out.depth_clip = Some(c.depth_clip_enable != 0);
        }
        if let Some(l) = chain::find::<vk::PipelineRasterizationLineStateCreateInfoKHR>(r.p_next) {
            out.line_mode = l.line_rasterization_mode;
            out.stipple_enable = l.stippled_line_enable != 0;
            out.stipple = (l.line_stipple_factor, l.line_stipple_pattern);
        }
        if let Some(p) = chain::find::<vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT>(r.p_next) {
            out.provoking_last = p.provoking_vertex_mode == vk::ProvokingVertexModeEXT::LAST_VERTEX;
        }
        if let Some(s) = chain::find::<vk::PipelineRasterizationStateStreamCreateInfoEXT>(r.p_next) {
            out.stream = s.rasterization_stream;
        }
        if let Some(c) = chain::find::<vk::PipelineRasterizationConservativeStateCreateInfoEXT>(r.p_next) {
            out.conservative = c.conservative_rasterization_mode;
            out.extra_overestimation = c.extra_primitive_overestimation_size;
        }
    }
}

/// Whether there are tessellation stages; without them the state may be a wild pointer.
unsafe fn tessellates(info: &vk::GraphicsPipelineCreateInfo) -> bool {
    // SAFETY: valid usage: the structure's pointers lead to what they are said to.
    let stages = unsafe { chain::slice(info.p_stages, info.stage_count) };
    stages.iter().any(|s| s.stage == vk::ShaderStageFlags::TESSELLATION_CONTROL)
}

/// What depth is clamped to, if not to the viewport's range (VK_EXT_depth_clamp_control).
pub(crate) unsafe fn clamp_range(
    mode: vk::DepthClampModeEXT,
    range: *const vk::DepthClampRangeEXT,
) -> Option<[f32; 2]> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    let range = unsafe { range.as_ref() };
    range
        .filter(|_| mode == vk::DepthClampModeEXT::USER_DEFINED_RANGE)
        .map(|r| [r.min_depth_clamp, r.max_depth_clamp])
}

pub(crate) unsafe fn geometry(info: &vk::GraphicsPipelineCreateInfo, on: Dynamic) -> Geometry {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut out = Geometry::default();
        // Null where all of it is dynamic.
        if let Some(r) = info.p_rasterization_state.as_ref() {
            raster(r, &mut out);
        }
        if let Some(t) = info.p_tessellation_state.as_ref().filter(|_| tessellates(info)) {
            out.patch_vertices = t.patch_control_points;
            if let Some(o) = chain::find::<vk::PipelineTessellationDomainOriginStateCreateInfo>(t.p_next) {
                out.domain_origin = o.domain_origin;
            }
        }
        if !rasterises(&out, on) {
            return out;
        }
        let Some(v) = info.p_viewport_state.as_ref() else { return out };
        if let Some(c) = chain::find::<vk::PipelineViewportDepthClampControlCreateInfoEXT>(v.p_next) {
            out.clamp_range = clamp_range(c.depth_clamp_mode, c.p_depth_clamp_range);
        }
        if let Some(c) = chain::find::<vk::PipelineViewportDepthClipControlCreateInfoEXT>(v.p_next) {
            out.negative_one_to_one = c.negative_one_to_one != 0;
        }
        if !on.has(Dynamic::VIEWPORT_WITH_COUNT) {
            out.viewport_count = (v.viewport_count as usize).min(MAX_VIEWPORTS);
            if !on.has(Dynamic::VIEWPORT) {
                let given = chain::slice(v.p_viewports, out.viewport_count as u32);
                out.viewports.iter_mut().zip(given).for_each(|(o, v)| *o = draw_settings::viewport(v));
            }
        }
        if !on.has(Dynamic::SCISSOR_WITH_COUNT) {
            out.scissor_count = (v.scissor_count as usize).min(MAX_VIEWPORTS);
            if !on.has(Dynamic::SCISSOR) {
                let given = chain::slice(v.p_scissors, out.scissor_count as u32);
                out.scissors.iter_mut().zip(given).for_each(|(o, r)| *o = convert::rect(r));
            }
        }
        out
    }
}

/// Whether primitives may be rasterised; if not, most of the state is ignored.
pub(crate) fn rasterises(g: &Geometry, on: Dynamic) -> bool {
    !g.discard || on.has(Dynamic::RASTERIZER_DISCARD_ENABLE)
}

fn face(s: &vk::StencilOpState) -> StencilFace {
    StencilFace {
        fail: s.fail_op,
        pass: s.pass_op,
        depth_fail: s.depth_fail_op,
        compare: s.compare_op,
        compare_mask: s.compare_mask,
        write_mask: s.write_mask,
        reference: s.reference,
    }
}

/// `targets`: `None` where a library leaves them open.
pub(crate) unsafe fn fragment(info: &vk::GraphicsPipelineCreateInfo, targets: Option<&Targets>) -> Fragment {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut out = Fragment::default();
        if targets.is_some_and(|t| !t.depth && !t.stencil) {
            return out;
        }
        if let Some(d) = info.p_depth_stencil_state.as_ref() {
            out.depth_test = d.depth_test_enable != 0;
            out.depth_write = d.depth_write_enable != 0;
            out.depth_compare = d.depth_compare_op;
            out.bounds_test = d.depth_bounds_test_enable != 0;
            out.bounds = [d.min_depth_bounds, d.max_depth_bounds];
            out.stencil_test = d.stencil_test_enable != 0;
            out.stencil = [face(&d.front), face(&d.back)];
        }
        out
    }
}

/// Multisample state, which a fragment shader library has as well where samples are shaded.
unsafe fn multisample(info: &vk::GraphicsPipelineCreateInfo, out: &mut Output) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let Some(m) = info.p_multisample_state.as_ref() else { return };
        out.samples = convert::samples(m.rasterization_samples);
        out.min_shading = (m.sample_shading_enable != 0).then_some(m.min_sample_shading);
        if let Some(&mask) = m.p_sample_mask.as_ref() {
            out.mask = mask;
        }
        out.alpha_to_coverage = m.alpha_to_coverage_enable != 0;
        out.alpha_to_one = m.alpha_to_one_enable != 0;
        if let Some(l) = chain::find::<vk::PipelineSampleLocationsStateCreateInfoEXT>(m.p_next) {
            out.locations_enable = l.sample_locations_enable != 0;
            out.sample_locations = draw_settings::sample_locations(&l.sample_locations_info);
        }
    }
}

pub(crate) fn blend(a: &vk::PipelineColorBlendAttachmentState) -> BlendAttachment {
    BlendAttachment {
        enable: a.blend_enable != 0,
        src_color: a.src_color_blend_factor,
        dst_color: a.dst_color_blend_factor,
        color_op: a.color_blend_op,
        src_alpha: a.src_alpha_blend_factor,
        dst_alpha: a.dst_alpha_blend_factor,
        alpha_op: a.alpha_blend_op,
        write: a.color_write_mask,
        advanced: draw_settings::NO_ADVANCED,
    }
}

pub(crate) unsafe fn output(info: &vk::GraphicsPipelineCreateInfo, targets: &Targets) -> Output {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let mut out = Output {
            has_color: targets.colors,
            has_depth: targets.depth,
            has_stencil: targets.stencil,
            color_count: targets.color_count,
            ..Default::default()
        };
        multisample(info, &mut out);
        if let Some(l) = chain::find::<vk::RenderingAttachmentLocationInfoKHR>(info.p_next) {
            out.locations = draw_settings::locations(l);
        }
        if targets.color_count == 0 {
            return out;
        }
        let Some(b) = info.p_color_blend_state.as_ref() else { return out };
        out.logic_op_enable = b.logic_op_enable != 0;
        out.logic_op = b.logic_op;
        out.constants = b.blend_constants;
        // Null where all of it is dynamic.
        let given = chain::slice(b.p_attachments, b.attachment_count);
        out.blend.iter_mut().zip(given).for_each(|(o, a)| *o = blend(a));
        if let Some(a) = chain::find::<vk::PipelineColorBlendAdvancedStateCreateInfoEXT>(b.p_next) {
            let advanced = Advanced {
                src_premultiplied: a.src_premultiplied != 0,
                dst_premultiplied: a.dst_premultiplied != 0,
                overlap: a.blend_overlap,
                clamp: false,
            };
            out.blend.iter_mut().for_each(|o| o.advanced = advanced);
        }
        if let Some(w) = chain::find::<vk::PipelineColorWriteCreateInfoEXT>(b.p_next) {
            for (i, &on) in
                chain::slice(w.p_color_write_enables, w.attachment_count).iter().take(32).enumerate()
            {
                if on == 0 {
                    out.write_enable &= !(1 << i);
                }
            }
        }
        out
    }
}

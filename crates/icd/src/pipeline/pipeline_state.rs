//! The fixed-function state of VkGraphicsPipelineCreateInfo as [`Settings`]. What the specification says is ignored
//! is not even looked at: it may be a wild pointer.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{In, array};
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
    pub fn of(info: In<vk::GraphicsPipelineCreateInfo>) -> Targets {
        let has = |f: vk::Format| f != vk::Format::UNDEFINED;
        if info.render_pass != vk::RenderPass::null() {
            return match render_pass::get(info, info.render_pass) {
                Some(p) => Self::subpass(&p, info.subpass),
                None => Targets { colors: 0, color_count: 0, depth: false, stencil: false },
            };
        }
        match info.find::<vk::PipelineRenderingCreateInfo>() {
            Some(r) => {
                // SAFETY: so many; only fragment parts ask.
                let formats = unsafe { r.color_attachment_formats() };
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
pub(crate) fn dynamic(info: In<vk::GraphicsPipelineCreateInfo>) -> Dynamic {
    let mut on = Dynamic::default();
    if let Some(d) = info.dynamic_state() {
        for &s in d.dynamic_states() {
            on.insert(Dynamic::of(s));
        }
    }
    on
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

pub(crate) fn input(info: In<vk::GraphicsPipelineCreateInfo>, on: Dynamic) -> Answer<Input> {
    let mut out = Input::default();
    // SAFETY: with vertex shaders, valid unless all of it is dynamic; then it is null.
    if let Some(a) = unsafe { info.input_assembly_state() } {
        out.topology = a.topology;
        out.restart = a.primitive_restart_enable != 0;
    }
    if on.has(Dynamic::VERTEX_INPUT_EXT) {
        return Ok(out);
    }
    // SAFETY: not dynamic, and so valid.
    let Some(v) = (unsafe { info.vertex_input_state() }) else { return Ok(out) };
    let divisors = v
        .find::<vk::PipelineVertexInputDivisorStateCreateInfoKHR>()
        .map_or(&[][..], |d| d.vertex_binding_divisors());
    for b in v.vertex_binding_descriptions() {
        if b.binding as usize >= MAX_BINDINGS {
            return Err(invalid(&format!("vkCreateGraphicsPipelines: vertex binding {}", b.binding)));
        }
        let divisor = divisors.iter().find(|d| d.binding == b.binding).map_or(1, |d| d.divisor);
        let divisor = (b.input_rate == vk::VertexInputRate::INSTANCE).then_some(divisor);
        out.bindings.push(VertexBinding { binding: b.binding, stride: b.stride, divisor });
    }
    for a in v.vertex_attribute_descriptions() {
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

pub(crate) fn depth_bias_form(info: Option<In<vk::DepthBiasRepresentationInfoEXT>>, bias: &mut DepthBias) {
    if let Some(r) = info {
        bias.representation = r.depth_bias_representation;
        bias.exact = r.depth_bias_exact != 0;
    }
}

fn raster(r: In<vk::PipelineRasterizationStateCreateInfo>, out: &mut Geometry) {
    out.discard = r.rasterizer_discard_enable != 0;
    out.depth_clamp = r.depth_clamp_enable != 0;
    out.polygon_mode = r.polygon_mode;
    out.cull = r.cull_mode;
    out.front = r.front_face;
    out.bias_enable = r.depth_bias_enable != 0;
    out.bias.constant = r.depth_bias_constant_factor;
    out.bias.clamp = r.depth_bias_clamp;
    out.bias.slope = r.depth_bias_slope_factor;
    depth_bias_form(r.find(), &mut out.bias);
    out.line_width = r.line_width;
    if let Some(c) = r.find::<vk::PipelineRasterizationDepthClipStateCreateInfoEXT>() {
        out.depth_clip = Some(c.depth_clip_enable != 0);
    }
    if let Some(l) = r.find::<vk::PipelineRasterizationLineStateCreateInfoKHR>() {
        out.line_mode = l.line_rasterization_mode;
        out.stipple_enable = l.stippled_line_enable != 0;
        out.stipple = (l.line_stipple_factor, l.line_stipple_pattern);
    }
    if let Some(p) = r.find::<vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT>() {
        out.provoking_last = p.provoking_vertex_mode == vk::ProvokingVertexModeEXT::LAST_VERTEX;
    }
    if let Some(s) = r.find::<vk::PipelineRasterizationStateStreamCreateInfoEXT>() {
        out.stream = s.rasterization_stream;
    }
    if let Some(c) = r.find::<vk::PipelineRasterizationConservativeStateCreateInfoEXT>() {
        out.conservative = c.conservative_rasterization_mode;
        out.extra_overestimation = c.extra_primitive_overestimation_size;
    }
}

/// Whether there are tessellation stages; without them the state may be a wild pointer.
fn tessellates(info: In<vk::GraphicsPipelineCreateInfo>) -> bool {
    super::pipeline_graphics::stages_of(info)
        .iter()
        .any(|s| s.stage == vk::ShaderStageFlags::TESSELLATION_CONTROL)
}

/// What depth is clamped to, if not to the viewport's range (VK_EXT_depth_clamp_control).
pub(crate) fn clamp_range(
    mode: vk::DepthClampModeEXT,
    range: Option<&vk::DepthClampRangeEXT>,
) -> Option<[f32; 2]> {
    range
        .filter(|_| mode == vk::DepthClampModeEXT::USER_DEFINED_RANGE)
        .map(|r| [r.min_depth_clamp, r.max_depth_clamp])
}

pub(crate) fn geometry(info: In<vk::GraphicsPipelineCreateInfo>, on: Dynamic) -> Geometry {
    let mut out = Geometry::default();
    // SAFETY: valid, or null if all of it is dynamic.
    if let Some(r) = unsafe { info.rasterization_state() } {
        raster(r, &mut out);
    }
    // SAFETY: with tessellation stages it is valid, or null if its state is dynamic.
    if let Some(t) = tessellates(info).then(|| unsafe { info.tessellation_state() }).flatten() {
        out.patch_vertices = t.patch_control_points;
        if let Some(o) = t.find::<vk::PipelineTessellationDomainOriginStateCreateInfo>() {
            out.domain_origin = o.domain_origin;
        }
    }
    if let Some(r) = info.find::<vk::PipelineFragmentShadingRateStateCreateInfoKHR>() {
        out.rate = draw_settings::rate(r.fragment_size, r.combiner_ops);
    }
    if !rasterises(&out, on) {
        return out;
    }
    // SAFETY: with rasterisation it is valid, or null if its state is dynamic.
    let Some(v) = (unsafe { info.viewport_state() }) else { return out };
    if let Some(c) = v.find::<vk::PipelineViewportDepthClampControlCreateInfoEXT>() {
        out.clamp_range = clamp_range(c.depth_clamp_mode, c.depth_clamp_range());
    }
    if let Some(c) = v.find::<vk::PipelineViewportDepthClipControlCreateInfoEXT>() {
        out.negative_one_to_one = c.negative_one_to_one != 0;
    }
    if !on.has(Dynamic::VIEWPORT_WITH_COUNT) {
        out.viewport_count = (v.viewport_count as usize).min(MAX_VIEWPORTS);
        if !on.has(Dynamic::VIEWPORT) {
            // SAFETY: not dynamic, and so valid.
            let given = unsafe { array(v.p_viewports, out.viewport_count) };
            out.viewports.iter_mut().zip(given).for_each(|(o, v)| *o = draw_settings::viewport(v));
        }
    }
    if !on.has(Dynamic::SCISSOR_WITH_COUNT) {
        out.scissor_count = (v.scissor_count as usize).min(MAX_VIEWPORTS);
        if !on.has(Dynamic::SCISSOR) {
            // SAFETY: not dynamic, and so valid.
            let given = unsafe { array(v.p_scissors, out.scissor_count) };
            out.scissors.iter_mut().zip(given).for_each(|(o, r)| *o = convert::rect(r));
        }
    }
    out
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
pub(crate) fn fragment(info: In<vk::GraphicsPipelineCreateInfo>, targets: Option<&Targets>) -> Fragment {
    let mut out = Fragment::default();
    if targets.is_some_and(|t| !t.depth && !t.stencil) {
        return out;
    }
    // SAFETY: with rasterisation and such an attachment it is valid, or null if all of it is dynamic.
    if let Some(d) = unsafe { info.depth_stencil_state() } {
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

/// Multisample state, which a fragment shader library has as well where samples are shaded.
fn multisample(info: In<vk::GraphicsPipelineCreateInfo>, out: &mut Output) {
    // SAFETY: with rasterisation it is valid, or null if all of it is dynamic.
    let Some(m) = (unsafe { info.multisample_state() }) else { return };
    out.samples = convert::samples(m.rasterization_samples);
    out.min_shading = (m.sample_shading_enable != 0).then_some(m.min_sample_shading);
    // SAFETY: null or a word; there are no more samples than bits of it.
    if let Some(&mask) = unsafe { m.p_sample_mask.as_ref() } {
        out.mask = mask;
    }
    out.alpha_to_coverage = m.alpha_to_coverage_enable != 0;
    out.alpha_to_one = m.alpha_to_one_enable != 0;
    if let Some(l) = m.find::<vk::PipelineSampleLocationsStateCreateInfoEXT>() {
        out.locations_enable = l.sample_locations_enable != 0;
        out.sample_locations = draw_settings::sample_locations(l.sample_locations_info());
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

pub(crate) fn output(info: In<vk::GraphicsPipelineCreateInfo>, targets: &Targets) -> Output {
    let mut out = Output {
        has_color: targets.colors,
        has_depth: targets.depth,
        has_stencil: targets.stencil,
        color_count: targets.color_count,
        ..Default::default()
    };
    multisample(info, &mut out);
    if let Some(l) = info.find::<vk::RenderingAttachmentLocationInfoKHR>() {
        out.locations = draw_settings::locations(l);
    }
    if targets.color_count == 0 {
        return out;
    }
    // SAFETY: with rasterisation and colour attachments it is valid, or null if all of it is dynamic.
    let Some(b) = (unsafe { info.color_blend_state() }) else { return out };
    out.logic_op_enable = b.logic_op_enable != 0;
    out.logic_op = b.logic_op;
    out.constants = b.blend_constants;
    let given = b.attachments();
    out.blend.iter_mut().zip(given).for_each(|(o, a)| *o = blend(a));
    if let Some(a) = b.find::<vk::PipelineColorBlendAdvancedStateCreateInfoEXT>() {
        let advanced = Advanced {
            src_premultiplied: a.src_premultiplied != 0,
            dst_premultiplied: a.dst_premultiplied != 0,
            overlap: a.blend_overlap,
            clamp: false,
        };
        out.blend.iter_mut().for_each(|o| o.advanced = advanced);
    }
    if let Some(w) = b.find::<vk::PipelineColorWriteCreateInfoEXT>() {
        for (i, &on) in w.color_write_enables().iter().take(32).enumerate() {
            if on == 0 {
                out.write_enable &= !(1 << i);
            }
        }
    }
    out
}

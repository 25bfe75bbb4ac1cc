//! The state of draws in the flat form in which pipelines and vkCmdSet* give it, grouped by the four parts of a
//! pipeline that can be made apart (VK_EXT_graphics_pipeline_library). A draw's [`State`] is the bound pipeline's
//! settings, with those that it says are dynamic from the command buffer.

use crate::base::given::In;
use crate::instance::limits::{MAX_BINDINGS, MAX_COLORS, MAX_OVERESTIMATION, MAX_VIEWPORTS};
use raster::state::{
    Advanced, Blend, BlendAttachment, Conservative, Depth, DepthBias, FragmentSize, Raster, Rect, Samples,
    ShadingRate, State, StencilFace, VertexAttribute, VertexBinding, VertexInput, Viewport,
};

/// A set of states that are dynamic.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Dynamic(u64);

macro_rules! dynamic {
    ($($name:ident)*; newer than ash: $($newer:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($name,)* $($newer,)* }
        impl Dynamic {
            $(pub const $name: Dynamic = Dynamic(1 << Index::$name as u64);)*
            $(pub const $newer: Dynamic = Dynamic(1 << Index::$newer as u64);)*

            /// The set of one state; empty for a state the device does not have.
            pub fn of(state: vk::DynamicState) -> Dynamic {
                match state {
                    $(vk::DynamicState::$name => Self::$name,)*
                    $(vk::$newer => Self::$newer,)*
                    _ => Dynamic(0),
                }
            }
        }
    };
}

dynamic! {
    VIEWPORT SCISSOR LINE_WIDTH DEPTH_BIAS BLEND_CONSTANTS DEPTH_BOUNDS STENCIL_COMPARE_MASK STENCIL_WRITE_MASK
    STENCIL_REFERENCE
    CULL_MODE FRONT_FACE PRIMITIVE_TOPOLOGY VIEWPORT_WITH_COUNT SCISSOR_WITH_COUNT VERTEX_INPUT_BINDING_STRIDE
    DEPTH_TEST_ENABLE DEPTH_WRITE_ENABLE DEPTH_COMPARE_OP DEPTH_BOUNDS_TEST_ENABLE STENCIL_TEST_ENABLE STENCIL_OP
    RASTERIZER_DISCARD_ENABLE DEPTH_BIAS_ENABLE PRIMITIVE_RESTART_ENABLE
    LOGIC_OP_EXT VERTEX_INPUT_EXT COLOR_WRITE_ENABLE_EXT LINE_STIPPLE_EXT
    DEPTH_CLAMP_ENABLE_EXT POLYGON_MODE_EXT RASTERIZATION_SAMPLES_EXT SAMPLE_MASK_EXT ALPHA_TO_COVERAGE_ENABLE_EXT
    ALPHA_TO_ONE_ENABLE_EXT LOGIC_OP_ENABLE_EXT COLOR_BLEND_ENABLE_EXT COLOR_BLEND_EQUATION_EXT COLOR_WRITE_MASK_EXT
    DEPTH_CLIP_ENABLE_EXT LINE_RASTERIZATION_MODE_EXT LINE_STIPPLE_ENABLE_EXT DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT
    PROVOKING_VERTEX_MODE_EXT PATCH_CONTROL_POINTS_EXT TESSELLATION_DOMAIN_ORIGIN_EXT
    RASTERIZATION_STREAM_EXT
    SAMPLE_LOCATIONS_EXT SAMPLE_LOCATIONS_ENABLE_EXT COLOR_BLEND_ADVANCED_EXT
    CONSERVATIVE_RASTERIZATION_MODE_EXT EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT FRAGMENT_SHADING_RATE_KHR;
    newer than ash: DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT
}

impl Dynamic {
    /// Of draws with shader objects.
    pub const ALL: Dynamic = Dynamic(u64::MAX);
    /// That of vkCmdSetRenderingAttachmentLocations, which pipelines have none for: they say it themselves.
    const ATTACHMENT_LOCATIONS: Dynamic = Dynamic(1 << 63);

    pub fn has(self, part: Dynamic) -> bool {
        self.0 & part.0 != 0
    }
    pub fn insert(&mut self, part: Dynamic) {
        self.0 |= part.0;
    }

    /// Those of the parts of a pipeline.
    pub fn of_parts(self, parts: vk::GraphicsPipelineLibraryFlagsEXT) -> Dynamic {
        use vk::GraphicsPipelineLibraryFlagsEXT as P;
        let input = Self::VERTEX_INPUT_EXT.0
            | Self::VERTEX_INPUT_BINDING_STRIDE.0
            | Self::PRIMITIVE_TOPOLOGY.0
            | Self::PRIMITIVE_RESTART_ENABLE.0;
        let fragment = Self::DEPTH_TEST_ENABLE.0
            | Self::DEPTH_WRITE_ENABLE.0
            | Self::DEPTH_COMPARE_OP.0
            | Self::DEPTH_BOUNDS_TEST_ENABLE.0
            | Self::DEPTH_BOUNDS.0
            | Self::STENCIL_TEST_ENABLE.0
            | Self::STENCIL_OP.0
            | Self::STENCIL_COMPARE_MASK.0
            | Self::STENCIL_WRITE_MASK.0
            | Self::STENCIL_REFERENCE.0;
        let output = Self::BLEND_CONSTANTS.0
            | Self::LOGIC_OP_EXT.0
            | Self::LOGIC_OP_ENABLE_EXT.0
            | Self::COLOR_WRITE_ENABLE_EXT.0
            | Self::COLOR_BLEND_ENABLE_EXT.0
            | Self::COLOR_BLEND_EQUATION_EXT.0
            | Self::COLOR_WRITE_MASK_EXT.0
            | Self::COLOR_BLEND_ADVANCED_EXT.0
            | Self::SAMPLE_LOCATIONS_EXT.0
            | Self::SAMPLE_LOCATIONS_ENABLE_EXT.0
            | Self::RASTERIZATION_SAMPLES_EXT.0
            | Self::SAMPLE_MASK_EXT.0
            | Self::ALPHA_TO_COVERAGE_ENABLE_EXT.0
            | Self::ALPHA_TO_ONE_ENABLE_EXT.0;
        let of = |part, bits: u64| if parts.contains(part) { bits } else { 0 };
        let all = of(P::VERTEX_INPUT_INTERFACE, input)
            | of(P::PRE_RASTERIZATION_SHADERS, !(input | fragment | output))
            | of(P::FRAGMENT_SHADER, fragment)
            | of(P::FRAGMENT_OUTPUT_INTERFACE, output);
        Dynamic(self.0 & all)
    }
}

/// Vertex input interface.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub bindings: Vec<VertexBinding>,
    pub attributes: Vec<VertexAttribute>,
    /// By binding number, where strides are dynamic.
    pub strides: [u32; MAX_BINDINGS],
    pub topology: vk::PrimitiveTopology,
    pub restart: bool,
}

/// Pre-rasterisation shaders.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub viewports: [Viewport; MAX_VIEWPORTS],
    pub viewport_count: usize,
    pub scissors: [Rect; MAX_VIEWPORTS],
    pub scissor_count: usize,
    pub negative_one_to_one: bool,
    pub discard: bool,
    pub depth_clamp: bool,
    /// `None`: the viewport's.
    pub clamp_range: Option<[f32; 2]>,
    /// Depth that is not clamped otherwise is to 0 to 1 (depthClampZeroOne).
    pub zero_one: bool,
    /// `None`: the opposite of `depth_clamp`.
    pub depth_clip: Option<bool>,
    pub polygon_mode: vk::PolygonMode,
    pub cull: vk::CullModeFlags,
    pub front: vk::FrontFace,
    pub bias_enable: bool,
    pub bias: DepthBias,
    pub line_width: f32,
    pub line_mode: vk::LineRasterizationModeEXT,
    pub stipple_enable: bool,
    pub stipple: (u32, u16),
    pub provoking_last: bool,
    pub stream: u32,
    pub patch_vertices: u32,
    pub domain_origin: vk::TessellationDomainOrigin,
    pub conservative: vk::ConservativeRasterizationModeEXT,
    /// Pixels.
    pub extra_overestimation: f32,
    pub rate: ShadingRate,
}

/// Fragment shader.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub depth_test: bool,
    pub depth_write: bool,
    pub depth_compare: vk::CompareOp,
    pub bounds_test: bool,
    pub bounds: [f32; 2],
    pub stencil_test: bool,
    /// Front, back.
    pub stencil: [StencilFace; 2],
}

/// Fragment output interface.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub samples: u32,
    pub min_shading: Option<f32>,
    pub mask: u32,
    pub alpha_to_coverage: bool,
    pub alpha_to_one: bool,
    pub locations_enable: bool,
    /// In 1/16 pixels.
    pub sample_locations: [[u8; 2]; 16],
    pub logic_op_enable: bool,
    pub logic_op: vk::LogicOp,
    pub constants: [f32; 4],
    pub color_count: usize,
    pub blend: [BlendAttachment; MAX_COLORS],
    /// VK_EXT_color_write_enable, bit i for attachment i.
    pub write_enable: u32,
    pub locations: Vec<u32>,
    /// Of the pipeline only: bit i unless the format of attachment i is undefined; depth, stencil.
    pub has_color: u32,
    pub has_depth: bool,
    pub has_stencil: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub input: Input,
    pub geometry: Geometry,
    pub fragment: Fragment,
    pub output: Output,
}

impl Default for Input {
    fn default() -> Self {
        Input {
            bindings: Vec::new(),
            attributes: Vec::new(),
            strides: [0; MAX_BINDINGS],
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
        }
    }
}

pub(crate) const NO_BIAS: DepthBias = DepthBias {
    constant: 0.0,
    clamp: 0.0,
    slope: 0.0,
    representation: vk::DepthBiasRepresentationEXT::LEAST_REPRESENTABLE_VALUE_FORMAT,
    exact: false,
};

impl Default for Geometry {
    fn default() -> Self {
        Geometry {
            viewports: Default::default(),
            viewport_count: 0,
            scissors: Default::default(),
            scissor_count: 0,
            negative_one_to_one: false,
            discard: false,
            depth_clamp: false,
            clamp_range: None,
            zero_one: false,
            depth_clip: None,
            polygon_mode: vk::PolygonMode::FILL,
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::COUNTER_CLOCKWISE,
            bias_enable: false,
            bias: NO_BIAS,
            line_width: 1.0,
            line_mode: vk::LineRasterizationModeEXT::DEFAULT,
            stipple_enable: false,
            stipple: (1, 0xffff),
            provoking_last: false,
            stream: 0,
            patch_vertices: 1,
            domain_origin: vk::TessellationDomainOrigin::UPPER_LEFT,
            conservative: vk::ConservativeRasterizationModeEXT::DISABLED,
            extra_overestimation: 0.0,
            rate: ShadingRate::default(),
        }
    }
}

impl Default for Fragment {
    fn default() -> Self {
        Fragment {
            depth_test: false,
            depth_write: false,
            depth_compare: vk::CompareOp::ALWAYS,
            bounds_test: false,
            bounds: [0.0, 1.0],
            stencil_test: false,
            stencil: [StencilFace { compare: vk::CompareOp::ALWAYS, ..Default::default() }; 2],
        }
    }
}

const NO_BLEND: BlendAttachment = BlendAttachment {
    enable: false,
    src_color: vk::BlendFactor::ONE,
    dst_color: vk::BlendFactor::ZERO,
    color_op: vk::BlendOp::ADD,
    src_alpha: vk::BlendFactor::ONE,
    dst_alpha: vk::BlendFactor::ZERO,
    alpha_op: vk::BlendOp::ADD,
    write: vk::ColorComponentFlags::RGBA,
    advanced: NO_ADVANCED,
};

/// What a pipeline asks of advanced blend operations that says nothing.
pub(crate) const NO_ADVANCED: Advanced = Advanced {
    src_premultiplied: true,
    dst_premultiplied: true,
    overlap: vk::BlendOverlapEXT::UNCORRELATED,
    clamp: false,
};

impl Default for Output {
    fn default() -> Self {
        Output {
            samples: 1,
            min_shading: None,
            mask: u32::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
            locations_enable: false,
            sample_locations: [[8; 2]; 16],
            logic_op_enable: false,
            logic_op: vk::LogicOp::COPY,
            constants: [0.0; 4],
            color_count: 0,
            blend: [NO_BLEND; MAX_COLORS],
            write_enable: u32::MAX,
            locations: Vec::new(),
            has_color: u32::MAX,
            has_depth: true,
            has_stencil: true,
        }
    }
}

/// `$to.member = $from.member` where that state is dynamic.
macro_rules! overlay {
    ($on:expr, $to:expr, $from:expr, $($name:ident $($member:ident)*;)*) => {
        $(if $on.has(Dynamic::$name) { $($to.$member = $from.$member;)* })*
    };
}

impl Settings {
    /// Takes what is dynamic from a command buffer's settings.
    pub fn overlay(&mut self, d: &Settings, on: Dynamic) {
        if on.has(Dynamic::VERTEX_INPUT_EXT) {
            self.input.bindings.clone_from(&d.input.bindings);
            self.input.attributes.clone_from(&d.input.attributes);
        }
        // Whichever said it last, vkCmdSetVertexInputEXT or a call that binds buffers.
        if on.has(Dynamic::VERTEX_INPUT_BINDING_STRIDE) || on.has(Dynamic::VERTEX_INPUT_EXT) {
            for b in &mut self.input.bindings {
                b.stride = d.input.strides.get(b.binding as usize).copied().unwrap_or(b.stride);
            }
        }
        overlay!(on, self.input, d.input, PRIMITIVE_TOPOLOGY topology; PRIMITIVE_RESTART_ENABLE restart;);
        overlay!(on, self.geometry, d.geometry,
            VIEWPORT viewports;
            VIEWPORT_WITH_COUNT viewports viewport_count;
            SCISSOR scissors;
            SCISSOR_WITH_COUNT scissors scissor_count;
            DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT negative_one_to_one;
            RASTERIZER_DISCARD_ENABLE discard;
            DEPTH_CLAMP_ENABLE_EXT depth_clamp;
            DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT clamp_range;
            DEPTH_CLIP_ENABLE_EXT depth_clip;
            POLYGON_MODE_EXT polygon_mode;
            CULL_MODE cull;
            FRONT_FACE front;
            DEPTH_BIAS_ENABLE bias_enable;
            DEPTH_BIAS bias;
            LINE_WIDTH line_width;
            LINE_RASTERIZATION_MODE_EXT line_mode;
            LINE_STIPPLE_ENABLE_EXT stipple_enable;
            LINE_STIPPLE_EXT stipple;
            PROVOKING_VERTEX_MODE_EXT provoking_last;
            PATCH_CONTROL_POINTS_EXT patch_vertices;
            RASTERIZATION_STREAM_EXT stream;
            TESSELLATION_DOMAIN_ORIGIN_EXT domain_origin;
            CONSERVATIVE_RASTERIZATION_MODE_EXT conservative;
            EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT extra_overestimation;
            FRAGMENT_SHADING_RATE_KHR rate;
        );
        overlay!(on, self.fragment, d.fragment,
            DEPTH_TEST_ENABLE depth_test;
            DEPTH_WRITE_ENABLE depth_write;
            DEPTH_COMPARE_OP depth_compare;
            DEPTH_BOUNDS_TEST_ENABLE bounds_test;
            DEPTH_BOUNDS bounds;
            STENCIL_TEST_ENABLE stencil_test;
        );
        for (face, from) in self.fragment.stencil.iter_mut().zip(&d.fragment.stencil) {
            overlay!(on, face, from,
                STENCIL_OP fail pass depth_fail compare;
                STENCIL_COMPARE_MASK compare_mask;
                STENCIL_WRITE_MASK write_mask;
                STENCIL_REFERENCE reference;
            );
        }
        overlay!(on, self.output, d.output,
            RASTERIZATION_SAMPLES_EXT samples;
            SAMPLE_MASK_EXT mask;
            ALPHA_TO_COVERAGE_ENABLE_EXT alpha_to_coverage;
            ALPHA_TO_ONE_ENABLE_EXT alpha_to_one;
            SAMPLE_LOCATIONS_ENABLE_EXT locations_enable;
            SAMPLE_LOCATIONS_EXT sample_locations;
            LOGIC_OP_ENABLE_EXT logic_op_enable;
            LOGIC_OP_EXT logic_op;
            BLEND_CONSTANTS constants;
            COLOR_WRITE_ENABLE_EXT write_enable;
        );
        if on.has(Dynamic::ATTACHMENT_LOCATIONS) {
            self.output.locations.clone_from(&d.output.locations);
        }
        // The pipeline's count is of no meaning where all that it counts is dynamic.
        let all = Dynamic::COLOR_BLEND_ENABLE_EXT.0 | Dynamic::COLOR_WRITE_MASK_EXT.0;
        let equations = Dynamic::COLOR_BLEND_EQUATION_EXT.0 | Dynamic::COLOR_BLEND_ADVANCED_EXT.0;
        if on.0 & all == all && on.0 & equations != 0 {
            self.output.color_count = self.output.color_count.max(d.output.color_count);
        }
        for (b, from) in self.output.blend.iter_mut().zip(&d.output.blend) {
            overlay!(on, b, from,
                COLOR_BLEND_ENABLE_EXT enable;
                COLOR_BLEND_EQUATION_EXT src_color dst_color color_op src_alpha dst_alpha alpha_op;
                COLOR_BLEND_ADVANCED_EXT color_op alpha_op advanced;
                COLOR_WRITE_MASK_EXT write;
            );
        }
    }

    /// The state for the GPU.
    pub fn build(self) -> State {
        let Settings { input: i, geometry: g, fragment: f, output: o } = self;
        let blend = |n: usize| {
            let mut b = o.blend[n];
            if (o.write_enable & o.has_color) >> n & 1 == 0 {
                b.write = vk::ColorComponentFlags::empty();
            }
            b
        };
        let depth_test = f.depth_test && o.has_depth;
        State {
            input: VertexInput { bindings: i.bindings, attributes: i.attributes },
            topology: i.topology,
            primitive_restart: i.restart,
            patch_vertices: g.patch_vertices.clamp(1, shader::stage_io::MAX_PATCH_VERTICES),
            lower_left: g.domain_origin == vk::TessellationDomainOrigin::LOWER_LEFT,
            viewports: g.viewports[..g.viewport_count.min(MAX_VIEWPORTS)].to_vec(),
            scissors: g.scissors[..g.scissor_count.min(MAX_VIEWPORTS)].to_vec(),
            depth_negative_one_to_one: g.negative_one_to_one,
            raster: Raster {
                discard: g.discard,
                depth_clamp: g.depth_clamp || g.zero_one,
                clamp_range: if g.depth_clamp { g.clamp_range } else { g.zero_one.then_some([0.0, 1.0]) },
                depth_clip: g.depth_clip.unwrap_or(!g.depth_clamp),
                polygon_mode: g.polygon_mode,
                cull: g.cull,
                front: g.front,
                depth_bias: g.bias_enable.then_some(g.bias),
                line_width: g.line_width,
                line_mode: g.line_mode,
                stipple: g.stipple_enable.then_some(g.stipple),
                provoking_last: g.provoking_last,
                stream: g.stream,
                conservative: match g.conservative {
                    vk::ConservativeRasterizationModeEXT::OVERESTIMATE => {
                        Some(Conservative::Over(g.extra_overestimation.clamp(0.0, MAX_OVERESTIMATION)))
                    }
                    vk::ConservativeRasterizationModeEXT::UNDERESTIMATE => Some(Conservative::Under),
                    _ => None,
                },
            },
            rate: g.rate,
            samples: Samples {
                count: o.samples,
                min_shading: o.min_shading,
                mask: o.mask,
                alpha_to_coverage: o.alpha_to_coverage,
                alpha_to_one: o.alpha_to_one,
                locations: o.locations_enable.then_some(o.sample_locations),
            },
            depth: Depth {
                test: depth_test,
                write: depth_test && f.depth_write,
                compare: f.depth_compare,
                bounds: (f.bounds_test && o.has_depth).then_some(f.bounds),
            },
            stencil: (f.stencil_test && o.has_stencil).then_some(f.stencil),
            blend: Blend {
                logic_op: o.logic_op_enable.then_some(o.logic_op),
                constants: o.constants,
                attachments: (0..o.color_count.min(MAX_COLORS)).map(blend).collect(),
                locations: o.locations,
            },
        }
    }
}

/// A pipeline's shading rate.
pub(crate) fn rate(size: vk::Extent2D, combiners: [vk::FragmentShadingRateCombinerOpKHR; 2]) -> ShadingRate {
    ShadingRate { size: FragmentSize::of(size), combiners }
}

pub(crate) fn viewport(v: &vk::Viewport) -> Viewport {
    Viewport {
        x: v.x,
        y: v.y,
        width: v.width,
        height: v.height,
        min_depth: v.min_depth,
        max_depth: v.max_depth,
    }
}

/// Sample locations in 1/16 pixels. The grid has one pixel.
pub(crate) fn sample_locations(info: In<vk::SampleLocationsInfoEXT>) -> [[u8; 2]; 16] {
    let mut out = [[8; 2]; 16];
    let place = |v: f32| (v * 16.0 + 0.5).clamp(0.0, 15.0) as u8;
    out.iter_mut().zip(info.sample_locations()).for_each(|(o, l)| *o = [place(l.x), place(l.y)]);
    out
}

/// Locations by attachment; none: the identity.
pub(crate) fn locations(info: In<vk::RenderingAttachmentLocationInfo>) -> Vec<u32> {
    // SAFETY: null or so many.
    unsafe { info.color_attachment_locations() }.iter().copied().take(MAX_COLORS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dynamic_states_come_from_the_command_buffer() {
        let mut fixed = Settings::default();
        fixed.geometry.viewport_count = 2;
        fixed.geometry.line_width = 3.0;
        let mut set = Settings::default();
        set.geometry.viewports[1].width = 7.0;
        set.geometry.viewport_count = 1;
        set.geometry.line_width = 5.0;
        let mut on = Dynamic::default();
        on.insert(Dynamic::of(vk::DynamicState::VIEWPORT));
        let mut both = fixed.clone();
        both.overlay(&set, on);
        let s = both.build();
        assert_eq!(s.viewports.len(), 2);
        assert_eq!(s.viewports[1].width, 7.0);
        assert_eq!(s.raster.line_width, 3.0);
        on.insert(Dynamic::of(vk::DynamicState::VIEWPORT_WITH_COUNT));
        on.insert(Dynamic::of(vk::DynamicState::LINE_WIDTH));
        fixed.overlay(&set, on);
        let s = fixed.build();
        assert_eq!(s.viewports.len(), 1);
        assert_eq!(s.raster.line_width, 5.0);
        assert_eq!(Dynamic::of(vk::DynamicState::VIEWPORT_SWIZZLE_NV), Dynamic::default());
    }

    #[test]
    fn writes_need_a_format_and_the_enable() {
        let mut s = Settings::default();
        s.output.color_count = 3;
        s.output.has_color = 0b101;
        s.output.write_enable = 0b110;
        let written: Vec<_> = s.build().blend.attachments.iter().map(|a| !a.write.is_empty()).collect();
        assert_eq!(written, [false, false, true]);
    }
}

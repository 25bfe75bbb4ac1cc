//! The state of a draw, complete: what pipelines and dynamic state say together.

use ash::vk;
use machine::lost::Title;
use shader::bytecode::Program;
use std::sync::Arc;
use texel::format::FormatInfo;

/// The compiled stages of a graphics pipeline.
pub struct GraphicsPipeline {
    pub vertex: Arc<Program>,
    /// Both or none.
    pub tessellation: Option<[Arc<Program>; 2]>,
    pub geometry: Option<Arc<Program>>,
    /// Of a mesh pipeline, whose mesh shader stands in the vertex shader's place.
    pub task: Option<Arc<Program>>,
    /// `None`: depth and stencil only, or rasterisation is discarded.
    pub fragment: Option<Arc<Program>>,
    pub title: Arc<Title>,
    pub feedback: FeedbackLoop,
}

/// Whether fragments of a pipeline's draws may read attachments of the pass as images (§ Feedback Loop).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeedbackLoop {
    #[default]
    Never,
    /// While vkCmdSetAttachmentFeedbackLoopEnableEXT says so.
    Dynamic,
    Always,
}

impl FeedbackLoop {
    /// Of a draw; `set`: what dynamic state says then.
    pub fn of_draw(self, set: bool) -> bool {
        match self {
            FeedbackLoop::Never => false,
            FeedbackLoop::Dynamic => set,
            FeedbackLoop::Always => true,
        }
    }
}

impl GraphicsPipeline {
    /// A shader reads the device's clock.
    pub fn reads_clock(&self) -> bool {
        let stages = [&self.geometry, &self.task, &self.fragment].into_iter().flatten();
        let all = stages.chain(self.tessellation.iter().flatten()).chain([&self.vertex]);
        all.into_iter().any(|p| p.reads_clock())
    }
    /// There are stages between vertices and rasterisation.
    pub fn is_staged(&self) -> bool {
        self.tessellation.is_some() || self.geometry.is_some()
    }
    /// The last stage before rasterisation.
    pub fn last(&self) -> &Arc<Program> {
        let evaluation = self.tessellation.as_ref().map(|t| &t[1]);
        self.geometry.as_ref().or(evaluation).unwrap_or(&self.vertex)
    }
    /// Its vertices are a mesh shader's.
    pub fn is_mesh(&self) -> bool {
        self.vertex.interface.io.mesh.is_some()
    }
    /// Control, evaluation, geometry and task.
    pub fn stages(&self) -> [Option<&Program>; 4] {
        let [control, evaluation] = match &self.tessellation {
            Some([c, e]) => [Some(&**c), Some(&**e)],
            None => [None, None],
        };
        [control, evaluation, self.geometry.as_deref(), self.task.as_deref()]
    }
    /// The stage of a program of those before rasterisation.
    pub fn programs(&self) -> impl Iterator<Item = (vk::ShaderStageFlags, &Arc<Program>)> {
        let [control, evaluation] = match &self.tessellation {
            Some([c, e]) => [Some(c), Some(e)],
            None => [None, None],
        };
        [
            (vk::ShaderStageFlags::VERTEX, Some(&self.vertex)),
            (vk::ShaderStageFlags::TESSELLATION_CONTROL, control),
            (vk::ShaderStageFlags::TESSELLATION_EVALUATION, evaluation),
            (vk::ShaderStageFlags::GEOMETRY, self.geometry.as_ref()),
        ]
        .into_iter()
        .filter_map(|(stage, p)| Some((stage, p?)))
    }
}

/// State as it is when a draw is recorded; shared by the draws between two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub input: VertexInput,
    pub topology: vk::PrimitiveTopology,
    pub primitive_restart: bool,
    /// Control points of a patch that comes in.
    pub patch_vertices: u32,
    /// The origin of a patch's domain is its lower left corner (VkTessellationDomainOrigin): windings turn round.
    pub lower_left: bool,
    /// At least one unless rasterisation is discarded.
    pub viewports: Vec<Viewport>,
    pub scissors: Vec<Rect>,
    /// Clip-space depth is −w to w (VK_EXT_depth_clip_control).
    pub depth_negative_one_to_one: bool,
    pub raster: Raster,
    pub rate: ShadingRate,
    pub samples: Samples,
    pub depth: Depth,
    /// Front and back faces; `None`: no stencil test.
    pub stencil: Option<[StencilFace; 2]>,
    pub blend: Blend,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexInput {
    pub bindings: Vec<VertexBinding>,
    pub attributes: Vec<VertexAttribute>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexBinding {
    pub binding: u32,
    /// Bytes.
    pub stride: u32,
    /// `None`: per vertex. Per instance: instances a step; 0 = all instances read element 0.
    pub divisor: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct VertexAttribute {
    pub location: u32,
    pub binding: u32,
    pub format: &'static FormatInfo,
    pub offset: u32,
}

impl PartialEq for VertexAttribute {
    fn eq(&self, o: &Self) -> bool {
        (self.location, self.binding, self.format.format, self.offset)
            == (o.location, o.binding, o.format.format, o.offset)
    }
}

/// As VkViewport; a negative height flips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Viewport {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
    pub min_depth: f32,
    pub max_depth: f32,
}

/// Pixels `x0 <= x < x1`, `y0 <= y < y1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    pub x0: i32,
    pub y0: i32,
    pub x1: i32,
    pub y1: i32,
}

impl Rect {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }
    /// Every pixel of `o` is in this one.
    #[inline(always)]
    pub fn contains(&self, o: &Rect) -> bool {
        self.x0 <= o.x0 && self.y0 <= o.y0 && self.x1 >= o.x1 && self.y1 >= o.y1
    }
    #[inline(always)]
    pub fn intersect(&self, o: &Rect) -> Rect {
        Rect { x0: self.x0.max(o.x0), y0: self.y0.max(o.y0), x1: self.x1.min(o.x1), y1: self.y1.min(o.y1) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Primitives end before rasterisation.
    pub discard: bool,
    /// Depth is clamped to the viewport's range (depthClampEnable), or to `clamp_range`.
    pub depth_clamp: bool,
    /// Least and most, of all viewports (VK_EXT_depth_clamp_control).
    pub clamp_range: Option<[f32; 2]>,
    /// Primitives are clipped to the near and far planes.
    pub depth_clip: bool,
    pub polygon_mode: vk::PolygonMode,
    pub cull: vk::CullModeFlags,
    pub front: vk::FrontFace,
    pub depth_bias: Option<DepthBias>,
    pub line_width: f32,
    pub line_mode: vk::LineRasterizationModeEXT,
    /// (factor, pattern) of stippled lines.
    pub stipple: Option<(u32, u16)>,
    /// Flat inputs come from the last vertex of a primitive (VK_EXT_provoking_vertex).
    pub provoking_last: bool,
    /// The vertex stream that is rasterised.
    pub stream: u32,
    pub conservative: Option<Conservative>,
}

/// How many pixels a fragment has (§ Primitive Fragment Shading Rate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadingRate {
    /// The pipeline's.
    pub size: FragmentSize,
    /// What becomes of the pipeline's and the primitive's, and of these and the attachment's.
    pub combiners: [vk::FragmentShadingRateCombinerOpKHR; 2],
}

impl Default for ShadingRate {
    fn default() -> ShadingRate {
        let keep = vk::FragmentShadingRateCombinerOpKHR::KEEP;
        ShadingRate { size: FragmentSize::ONE, combiners: [keep; 2] }
    }
}

/// Width and height of a fragment in pixels, as their binary logarithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentSize(pub [u8; 2]);

impl FragmentSize {
    pub const ONE: FragmentSize = FragmentSize([0; 2]);
    /// The largest is 4 × 4.
    pub const MOST: u8 = 2;

    /// Of a width and a height in pixels.
    pub fn of(size: vk::Extent2D) -> FragmentSize {
        let log = |n: u32| (n.max(1).ilog2() as u8).min(FragmentSize::MOST);
        FragmentSize([log(size.width), log(size.height)])
    }
    /// As shaders and attachments write it (§ Fragment Shading Rate Attachment).
    pub fn decode(rate: u32) -> FragmentSize {
        FragmentSize([rate >> 2 & 3, rate & 3].map(|n| n as u8))
    }
    /// As shaders read it.
    pub fn encode(self) -> u32 {
        (self.0[0] as u32) << 2 | self.0[1] as u32
    }
    /// Both, as an operation combines them.
    pub fn combine(self, other: FragmentSize, op: vk::FragmentShadingRateCombinerOpKHR) -> FragmentSize {
        use vk::FragmentShadingRateCombinerOpKHR as Op;
        FragmentSize(std::array::from_fn(|k| {
            let (a, b) = (self.0[k], other.0[k]);
            match op {
                Op::REPLACE => b,
                Op::MIN => a.min(b),
                Op::MAX => a.max(b),
                Op::MUL => a + b,
                _ => a,
            }
        }))
    }
    /// The same, no larger than the largest.
    pub fn clamped(self) -> FragmentSize {
        FragmentSize(self.0.map(|n| n.min(FragmentSize::MOST)))
    }
}

/// Which pixels a primitive covers other than by its samples (VK_EXT_conservative_rasterization).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conservative {
    /// Those that it touches when its edges are moved outward by so many pixels.
    Over(f32),
    /// Those that lie in it wholly.
    Under,
}

impl Conservative {
    /// Sub-pixels by which edges move outward along x and y each: half a pixel and more, or less half a pixel.
    pub fn outward(self) -> i64 {
        match self {
            Conservative::Over(extra) => 128 + (extra * 256.0).round_ties_even() as i64,
            Conservative::Under => -128,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthBias {
    pub constant: f32,
    /// 0: none.
    pub clamp: f32,
    pub slope: f32,
    pub representation: vk::DepthBiasRepresentationEXT,
    pub exact: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// rasterizationSamples: 1, 2, 4, 8 or 16.
    pub count: u32,
    /// `Some(minSampleShading)` when sample shading is enabled.
    pub min_shading: Option<f32>,
    /// Bit i: sample i may be covered.
    pub mask: u32,
    pub alpha_to_coverage: bool,
    pub alpha_to_one: bool,
    /// Where samples are, in 1/16 pixels, if not at the standard places (VK_EXT_sample_locations).
    pub locations: Option<[[u8; 2]; 16]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    pub test: bool,
    /// Only together with `test`.
    pub write: bool,
    pub compare: vk::CompareOp,
    pub bounds: Option<[f32; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StencilFace {
    pub fail: vk::StencilOp,
    pub pass: vk::StencilOp,
    pub depth_fail: vk::StencilOp,
    pub compare: vk::CompareOp,
    pub compare_mask: u32,
    pub write_mask: u32,
    pub reference: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Blend {
    pub logic_op: Option<vk::LogicOp>,
    pub constants: [f32; 4],
    /// One per colour attachment of the subpass, by index.
    pub attachments: Vec<BlendAttachment>,
    /// Which fragment output location feeds colour attachment i (VK_KHR_dynamic_rendering_local_read); identity
    /// where the list ends. `u32::MAX`: none.
    pub locations: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlendAttachment {
    pub enable: bool,
    pub src_color: vk::BlendFactor,
    pub dst_color: vk::BlendFactor,
    pub color_op: vk::BlendOp,
    pub src_alpha: vk::BlendFactor,
    pub dst_alpha: vk::BlendFactor,
    pub alpha_op: vk::BlendOp,
    /// Empty where colour writes are disabled (VK_EXT_color_write_enable).
    pub write: vk::ColorComponentFlags,
    /// How `color_op` blends where it is an advanced one.
    pub advanced: Advanced,
}

/// What advanced blend operations ask besides (VK_EXT_blend_operation_advanced).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advanced {
    pub src_premultiplied: bool,
    pub dst_premultiplied: bool,
    pub overlap: vk::BlendOverlapEXT,
    /// Results are clamped to 0 … 1.
    pub clamp: bool,
}

impl Default for Advanced {
    fn default() -> Advanced {
        Advanced {
            src_premultiplied: true,
            dst_premultiplied: true,
            overlap: vk::BlendOverlapEXT::UNCORRELATED,
            clamp: false,
        }
    }
}

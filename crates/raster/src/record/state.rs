//! A draw's state in words.

use super::FormatFact;
use crate::state::{Conservative, State};
use ash::vk;
use serde::Serialize;

#[derive(Clone, Serialize)]
pub struct StateFact {
    pub topology: String,
    pub restart: bool,
    pub patch: u32,
    pub bindings: Vec<BindingFact>,
    pub attributes: Vec<AttributeFact>,
    /// x, y, width, height, least and greatest depth of each.
    pub viewports: Vec<[f32; 6]>,
    /// x, y, width, height of each.
    pub scissors: Vec<[i32; 4]>,
    pub depth_negative_one_to_one: bool,
    pub raster: RasterFact,
    pub samples: SamplesFact,
    pub depth: DepthFact,
    /// Front and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stencil: Option<[StencilFact; 2]>,
    pub blend: BlendFact,
}

#[derive(Clone, Serialize)]
pub struct BindingFact {
    pub binding: u32,
    pub stride: u32,
    /// Instances a step; `None`: by vertex.
    pub divisor: Option<u32>,
}

#[derive(Clone, Serialize)]
pub struct AttributeFact {
    pub location: u32,
    pub binding: u32,
    pub format: FormatFact,
    pub offset: u32,
}

#[derive(Clone, Serialize)]
pub struct RasterFact {
    pub discard: bool,
    pub depth_clamp: bool,
    pub depth_clip: bool,
    pub polygon: String,
    pub cull: String,
    pub front: String,
    /// Constant, clamp, slope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<[f32; 3]>,
    pub line_width: f32,
    pub line_mode: String,
    pub provoking_last: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conservative: Option<&'static str>,
}

#[derive(Clone, Serialize)]
pub struct SamplesFact {
    pub count: u32,
    pub min_shading: Option<f32>,
    pub mask: u32,
    pub alpha_to_coverage: bool,
    pub alpha_to_one: bool,
}

#[derive(Clone, Serialize)]
pub struct DepthFact {
    pub test: bool,
    pub write: bool,
    pub compare: String,
    pub bounds: Option<[f32; 2]>,
}

#[derive(Clone, Serialize)]
pub struct StencilFact {
    pub compare: String,
    pub fail: String,
    pub depth_fail: String,
    pub pass: String,
    pub compare_mask: u32,
    pub write_mask: u32,
    pub reference: u32,
}

#[derive(Clone, Serialize)]
pub struct BlendFact {
    pub logic: Option<String>,
    pub constants: [f32; 4],
    pub attachments: Vec<BlendAttachmentFact>,
}

#[derive(Clone, Serialize)]
pub struct BlendAttachmentFact {
    pub enable: bool,
    /// Source factor, operation, destination factor.
    pub colour: [String; 3],
    pub alpha: [String; 3],
    /// Channels that are written: `RGBA`.
    pub write: String,
}

fn word(v: impl std::fmt::Debug) -> String {
    format!("{v:?}")
}

impl StateFact {
    pub fn of(s: &State) -> StateFact {
        let r = &s.raster;
        StateFact {
            topology: word(s.topology),
            restart: s.primitive_restart,
            patch: if s.topology == vk::PrimitiveTopology::PATCH_LIST { s.patch_vertices } else { 0 },
            bindings: (s.input.bindings.iter())
                .map(|b| BindingFact { binding: b.binding, stride: b.stride, divisor: b.divisor })
                .collect(),
            attributes: (s.input.attributes.iter())
                .map(|a| AttributeFact {
                    location: a.location,
                    binding: a.binding,
                    format: FormatFact::of(a.format),
                    offset: a.offset,
                })
                .collect(),
            viewports: (s.viewports.iter())
                .map(|v| [v.x, v.y, v.width, v.height, v.min_depth, v.max_depth])
                .collect(),
            scissors: s.scissors.iter().map(|r| [r.x0, r.y0, r.x1 - r.x0, r.y1 - r.y0]).collect(),
            depth_negative_one_to_one: s.depth_negative_one_to_one,
            raster: RasterFact {
                discard: r.discard,
                depth_clamp: r.depth_clamp,
                depth_clip: r.depth_clip,
                polygon: word(r.polygon_mode),
                cull: word(r.cull),
                front: word(r.front),
                bias: r.depth_bias.map(|b| [b.constant, b.clamp, b.slope]),
                line_width: r.line_width,
                line_mode: word(r.line_mode),
                provoking_last: r.provoking_last,
                conservative: r.conservative.map(|c| match c {
                    Conservative::Over(_) => "over",
                    Conservative::Under => "under",
                }),
            },
            samples: SamplesFact {
                count: s.samples.count,
                min_shading: s.samples.min_shading,
                mask: s.samples.mask,
                alpha_to_coverage: s.samples.alpha_to_coverage,
                alpha_to_one: s.samples.alpha_to_one,
            },
            depth: DepthFact {
                test: s.depth.test,
                write: s.depth.test && s.depth.write,
                compare: word(s.depth.compare),
                bounds: s.depth.bounds,
            },
            stencil: s.stencil.map(|faces| {
                faces.map(|f| StencilFact {
                    compare: word(f.compare),
                    fail: word(f.fail),
                    depth_fail: word(f.depth_fail),
                    pass: word(f.pass),
                    compare_mask: f.compare_mask,
                    write_mask: f.write_mask,
                    reference: f.reference,
                })
            }),
            blend: BlendFact {
                logic: s.blend.logic_op.map(word),
                constants: s.blend.constants,
                attachments: (s.blend.attachments.iter())
                    .map(|b| BlendAttachmentFact {
                        enable: b.enable,
                        colour: [word(b.src_color), word(b.color_op), word(b.dst_color)],
                        alpha: [word(b.src_alpha), word(b.alpha_op), word(b.dst_alpha)],
                        write: "RGBA"
                            .chars()
                            .zip(0..)
                            .filter(|(_, i)| b.write.as_raw() >> i & 1 != 0)
                            .map(|c| c.0)
                            .collect(),
                    })
                    .collect(),
            },
        }
    }
}

//! The plainest program and state of a draw, for these tests and for `examples/geometry_bench.rs`, which includes this
//! file: what is drawn with comes from there.

use super::*;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::interface::{Interface, Varying};

/// A program whose inputs become outputs; an input may stand in several slots.
pub fn program(stage: Stage, lanes: u32, slots: &[(Input, u16)], varyings: Vec<Varying>) -> Program {
    let units = lanes / 16;
    let reg = |i: usize| Reg::varying((i as u32 * units) as u16);
    let first = |s: &(Input, u16)| slots.iter().position(|o| o.0 == s.0).expect("itself at least");
    Program {
        stage,
        interface: Interface { varyings, ..Default::default() },
        outputs: slots.iter().map(|s| (s.1, reg(first(s)))).collect(),
        lanes,
        code: vec![Op::new(Code::END)],
        units: slots.len() as u32 * units,
        inputs: slots
            .iter()
            .enumerate()
            .filter(|(i, s)| first(s) == *i)
            .map(|(i, s)| (s.0, reg(i)))
            .collect(),
        ..Program::empty()
    }
}

/// Everything off, and the area for viewport and scissor.
pub fn state(input: VertexInput, topology: vk::PrimitiveTopology, area: Rect) -> State {
    State {
        input,
        topology,
        primitive_restart: false,
        patch_vertices: 1,
        lower_left: false,
        viewports: vec![Viewport {
            x: area.x0 as f32,
            y: area.y0 as f32,
            width: (area.x1 - area.x0) as f32,
            height: (area.y1 - area.y0) as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        }],
        scissors: vec![area],
        depth_negative_one_to_one: false,
        rate: Default::default(),
        raster: Raster {
            discard: false,
            depth_clamp: false,
            clamp_range: None,
            depth_clip: true,
            polygon_mode: vk::PolygonMode::FILL,
            cull: vk::CullModeFlags::NONE,
            front: vk::FrontFace::CLOCKWISE,
            depth_bias: None,
            line_width: 1.0,
            line_mode: vk::LineRasterizationModeEXT::DEFAULT,
            stipple: None,
            provoking_last: false,
            stream: 0,
            conservative: None,
        },
        samples: Samples {
            count: 1,
            min_shading: None,
            mask: u32::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
            locations: None,
        },
        depth: Depth { test: false, write: false, compare: vk::CompareOp::ALWAYS, bounds: None },
        stencil: None,
        blend: Blend { logic_op: None, constants: [0.0; 4], attachments: vec![], locations: vec![] },
    }
}

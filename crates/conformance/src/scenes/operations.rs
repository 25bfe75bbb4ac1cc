//! What happens to fragments: culling, discard, depth, stencil, blending.

use super::list::{EXACT, colour, triangles, vertex};
use super::{Draw, Expect, Program, Scene, State, Vertex};
use ash::vk;
use client::graphics::opaque;
use random::Random;

pub fn scenes() -> Vec<Scene> {
    vec![
        Scene::new("culling", culling(), EXACT),
        Scene::new("discard", discard(), EXACT),
        Scene { samples: 4, ..Scene::new("discard_4_samples", discard(), EXACT) },
        Scene::new("depth", depth(), near_ties()),
        Scene { samples: 4, ..Scene::new("depth_4_samples", depth(), near_ties()) },
        Scene::new("layers", layers(), near_ties()),
        Scene { samples: 4, ..Scene::new("layers_4_samples", layers(), near_ties()) },
        Scene { samples: 8, ..Scene::new("layers_8_samples", layers(), near_ties()) },
        Scene { samples: 4, ..Scene::new("heap_4_samples", heap(), near_ties()) },
        Scene::new("stencil", stencil(), EXACT),
        Scene { samples: 8, ..Scene::new("stencil_8_samples", stencil(), EXACT) },
        Scene { clear: [0.2, 0.6, 0.4, 0.8], ..Scene::new("blending", blending(), two_steps()) },
        Scene { samples: 4, ..Scene::new("blending_4_samples", blending(), two_steps()) },
    ]
}

/// Depths that are all but equal may be ordered either way.
fn near_ties() -> Expect {
    Expect::Reference { tolerance: 1.0, per_mille: 1 }
}

/// Blending rounds after every one of three layers, and a square of what is there doubles a difference.
fn two_steps() -> Expect {
    Expect::Reference { tolerance: 2.0, per_mille: 2 }
}

fn culling() -> Vec<Draw> {
    let mut draws = Vec::new();
    for (i, cull) in [vk::CullModeFlags::FRONT, vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT_AND_BACK]
        .into_iter()
        .enumerate()
    {
        for front_face in [vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE] {
            let state = State { cull, front_face, ..State::default() };
            draws.push(Draw::list(Program::Colour, triangles(20 + i as u32, 40, false), state));
        }
    }
    draws
}

fn discard() -> Vec<Draw> {
    let state = State { depth: Some((vk::CompareOp::LESS, true)), ..State::default() };
    vec![
        Draw::list(Program::Discard, triangles(31, 40, false), state),
        Draw::list(Program::Colour, triangles(32, 40, false), state),
    ]
}

/// Triangles through one another, under every comparison.
fn depth() -> Vec<Draw> {
    let list = [
        (vk::CompareOp::LESS, true),
        (vk::CompareOp::GREATER, false),
        (vk::CompareOp::GREATER_OR_EQUAL, true),
        (vk::CompareOp::LESS_OR_EQUAL, true),
        (vk::CompareOp::NOT_EQUAL, false),
        (vk::CompareOp::NEVER, true),
        (vk::CompareOp::ALWAYS, true),
        (vk::CompareOp::LESS, true),
    ];
    let draw = |(i, depth)| {
        let state = State { depth: Some(depth), ..State::default() };
        Draw::list(Program::Colour, triangles(40 + i, 30, true), state)
    };
    (0u32..).zip(list).map(draw).collect()
}

/// Layers over the whole picture, back to front and otherwise, with small things between: what lies under later opaque
/// layers need not be shaded, but its depths count.
fn layers() -> Vec<Draw> {
    use vk::CompareOp as C;
    let mut random = Random::default();
    let mut layer = |z: [f32; 3]| -> Vec<Vertex> {
        let corners = [[-200.0, -120.0], [760.0, -100.0], [-160.0, 800.0]];
        corners.iter().zip(z).map(|(at, z)| vertex(*at, z, colour(&mut random))).collect()
    };
    let drawn = |depth, vertices| {
        Draw::list(Program::Colour, vertices, State { depth: Some(depth), ..State::default() })
    };
    let back_to_front = (0..6).flat_map(|i| layer([0.95 - 0.05 * i as f32; 3])).collect();
    let slanted = layer([0.2, 0.9, 0.9]);
    let veil = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::CONSTANT_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
        ..opaque()
    };
    let veiled = State {
        depth: Some((C::LESS, false)),
        blend: veil,
        blend_constants: [0.0, 0.0, 0.0, 0.25],
        ..State::default()
    };
    let points = triangles(61, 40, true);
    vec![
        drawn((C::LESS, true), back_to_front),
        drawn((C::LESS, true), triangles(62, 40, true)),
        drawn((C::LESS, true), slanted.clone()),
        drawn((C::LESS_OR_EQUAL, false), layer([0.5, 0.55, 0.6])),
        drawn((C::EQUAL, false), slanted),
        Draw::list(Program::Colour, layer([0.5, 0.3, 0.8]), veiled),
        drawn((C::GREATER, true), [layer([0.1; 3]), layer([0.9, 0.7, 0.8]), layer([0.93; 3])].concat()),
        drawn((C::NOT_EQUAL, true), triangles(63, 30, true)),
        drawn((C::ALWAYS, true), [layer([0.4, 0.6, 0.5]), layer([0.6, 0.5, 0.4])].concat()),
        drawn((C::LESS, true), triangles(64, 30, true)),
        Draw { topology: vk::PrimitiveTopology::POINT_LIST, ..drawn((C::LESS, true), points) },
        drawn((C::GREATER_OR_EQUAL, true), layer([0.45, 0.5, 0.55])),
        drawn((C::LESS, true), [layer([0.44, 0.49, 0.54]), layer([0.3; 3])].concat()),
        drawn((C::LESS, false), triangles(65, 10, true)),
    ]
}

/// A heap of small triangles: opaque ones through each other, and veils between them.
fn heap() -> Vec<Draw> {
    let mut random = Random::default();
    let mut small = |count| -> Vec<Vertex> {
        let mut list = Vec::new();
        for _ in 0..count {
            let [x, y, reach] = [(); 3].map(|()| random.unit());
            // About corners of tiles, some of it outside of the picture.
            let centre =
                [64.0 * (x * 4.0).round() + 18.0 * (y - 0.5), 64.0 * (y * 4.0).round() + 18.0 * (x - 0.5)];
            for _ in 0..3 {
                let offset = [(); 2].map(|()| (random.unit() - 0.5) * (1.0 + 15.0 * reach));
                let at = [0, 1].map(|k| ((centre[k] + offset[k]) * 256.0).round() / 256.0);
                let z = 0.05 + 0.9 * random.unit();
                list.push(vertex(at, z, colour(&mut random)));
            }
        }
        list
    };
    let veil = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::CONSTANT_ALPHA,
        dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
        ..opaque()
    };
    let drawn = |depth| State { depth: Some(depth), ..State::default() };
    let veiled =
        State { blend: veil, blend_constants: [0.0, 0.0, 0.0, 0.5], ..drawn((vk::CompareOp::LESS, false)) };
    let with = |vertices, state| Draw::list(Program::Colour, vertices, state);
    vec![
        with(small(250), drawn((vk::CompareOp::LESS, true))),
        with(small(60), veiled),
        with(small(250), drawn((vk::CompareOp::GREATER_OR_EQUAL, true))),
        with(small(60), drawn((vk::CompareOp::NOT_EQUAL, false))),
        with(small(100), drawn((vk::CompareOp::LESS_OR_EQUAL, true))),
    ]
}

/// Both faces count in several ways, then colours show what has been counted.
fn stencil() -> Vec<Draw> {
    let face = |compare_op, pass_op, depth_fail_op, fail_op, reference, compare_mask, write_mask| {
        vk::StencilOpState {
            fail_op,
            pass_op,
            depth_fail_op,
            compare_op,
            compare_mask,
            write_mask,
            reference,
        }
    };
    use vk::{CompareOp as C, StencilOp as S};
    let rounds = [
        [
            face(C::ALWAYS, S::INCREMENT_AND_CLAMP, S::INVERT, S::KEEP, 0, 255, 255),
            face(C::ALWAYS, S::DECREMENT_AND_WRAP, S::ZERO, S::KEEP, 0, 255, 255),
        ],
        [
            face(C::LESS, S::REPLACE, S::INCREMENT_AND_WRAP, S::DECREMENT_AND_CLAMP, 2, 7, 0x3f),
            face(C::NOT_EQUAL, S::INVERT, S::KEEP, S::REPLACE, 5, 255, 0x0f),
        ],
        [
            face(C::GREATER_OR_EQUAL, S::ZERO, S::REPLACE, S::INCREMENT_AND_WRAP, 0x85, 255, 255),
            face(C::EQUAL, S::INCREMENT_AND_WRAP, S::DECREMENT_AND_CLAMP, S::INVERT, 3, 3, 255),
        ],
    ];
    let hidden = opaque().color_write_mask(vk::ColorComponentFlags::empty());
    let mut draws = Vec::new();
    for (i, faces) in (0..).zip(rounds) {
        // All at depth one half: the comparison fails where the last round wrote.
        let depth = Some((vk::CompareOp::LESS, i == 0));
        let state = State { stencil: Some(faces), depth, blend: hidden, ..State::default() };
        draws.push(Draw::list(Program::Colour, triangles(60 + i, 25, false), state));
    }
    let mut random = Random::default();
    for (compare_op, reference, compare_mask) in [
        (C::EQUAL, 1, 255),
        (C::LESS, 3, 0x7f),
        (C::EQUAL, 0x80, 0x80),
        (C::EQUAL, 2, 2),
        (C::NOT_EQUAL, 0, 12),
    ] {
        let keep = face(compare_op, S::KEEP, S::KEEP, S::KEEP, reference, compare_mask, 0);
        // Each adds its colour to what others have left.
        let sum = opaque()
            .blend_enable(true)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE);
        let state = State { stencil: Some([keep; 2]), blend: sum, ..State::default() };
        let shade = colour(&mut random).map(|c| c * 0.3);
        draws.push(Draw::list(Program::Colour, rectangle([0.0, 0.0], [256.0, 256.0], shade), state));
    }
    draws
}

/// Two triangles over a rectangle of pixels.
fn rectangle(from: [f32; 2], to: [f32; 2], colour: [f32; 4]) -> Vec<Vertex> {
    let corner = |x, y| vertex([x, y], 0.25, colour);
    let (a, b, c, d) =
        (corner(from[0], from[1]), corner(to[0], from[1]), corner(from[0], to[1]), corner(to[0], to[1]));
    vec![a, b, c, c, b, d]
}

/// A row of stripes for every factor, and for every operation; channel masks.
fn blending() -> Vec<Draw> {
    use vk::{BlendFactor as F, BlendOp as O};
    let factors = [
        (F::ZERO, F::ONE),
        (F::ONE, F::ZERO),
        (F::SRC_COLOR, F::DST_COLOR),
        (F::ONE_MINUS_SRC_COLOR, F::ONE_MINUS_DST_COLOR),
        (F::DST_COLOR, F::SRC_COLOR),
        (F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA),
        (F::DST_ALPHA, F::ONE_MINUS_DST_ALPHA),
        (F::ONE_MINUS_DST_ALPHA, F::DST_ALPHA),
        (F::CONSTANT_COLOR, F::ONE_MINUS_CONSTANT_COLOR),
        (F::CONSTANT_ALPHA, F::ONE_MINUS_CONSTANT_ALPHA),
        (F::SRC_ALPHA_SATURATE, F::ONE),
        (F::ONE, F::ONE),
    ];
    let operations = [O::ADD, O::SUBTRACT, O::REVERSE_SUBTRACT, O::MIN, O::MAX];
    let mut cells: Vec<vk::PipelineColorBlendAttachmentState> = Vec::new();
    let state = |(from, to), op| {
        opaque()
            .blend_enable(true)
            .src_color_blend_factor(from)
            .dst_color_blend_factor(to)
            .color_blend_op(op)
            .src_alpha_blend_factor(to)
            .dst_alpha_blend_factor(from)
            .alpha_blend_op(op)
    };
    cells.extend(factors.map(|f| state(f, O::ADD)));
    for op in operations {
        cells.extend([factors[5], factors[11], factors[8]].map(|f| state(f, op)));
    }
    for mask in [1, 2, 4, 8, 5, 10] {
        let mask = vk::ColorComponentFlags::from_raw(mask);
        cells.push(state(factors[5], O::ADD).color_write_mask(mask));
        cells.push(opaque().color_write_mask(mask));
    }
    let mut random = Random::default();
    let mut draws = Vec::new();
    for (i, blend) in cells.into_iter().enumerate() {
        let [x, y] = [(i % 8) as f32 * 32.0, (i / 8) as f32 * 50.0];
        let mut vertices = Vec::new();
        for layer in 0..3 {
            let shade = [random.unit(), random.unit(), random.unit(), random.unit()];
            let inset = 2.0 + 4.25 * layer as f32;
            let mut shape = rectangle([x + inset, y + inset], [x + 31.0, y + 47.0 - inset], shade);
            shape[5].colour = [random.unit(), random.unit(), random.unit(), random.unit()];
            vertices.extend(shape);
        }
        let state = State { blend, blend_constants: [0.25, 0.5, 0.75, 0.4], ..State::default() };
        draws.push(Draw::list(Program::Colour, vertices, state));
    }
    draws
}

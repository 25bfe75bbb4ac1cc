//! Scenes that nobody thought of: heaps of triangles of all sizes under states that go together anyhow.

use super::list::{colour, place, vertex};
use super::{Draw, Expect, Program, Scene, State, Vertex};
use ash::vk;
use client::graphics::opaque;
use random::Random;

/// One of `list`.
fn one_of<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.u32() as usize % list.len()]
}

/// Triangles that reach about as many pixels.
fn heap(random: &mut Random, count: u32, reach: f32) -> Vec<Vertex> {
    let mut list = Vec::new();
    for _ in 0..count {
        let centre = place(random, 10.0);
        let reach = reach * (0.3 + random.unit());
        let flat = random.u32().is_multiple_of(4);
        let level = 0.05 + 0.9 * random.unit();
        for _ in 0..3 {
            let offset = [(); 2].map(|()| ((random.unit() - 0.5) * reach * 256.0).round() / 256.0);
            let z = if flat { level } else { 0.05 + 0.9 * random.unit() };
            list.push(vertex([centre[0] + offset[0], centre[1] + offset[1]], z, colour(random)));
        }
    }
    list
}

/// The scene of a number, with positions that no program means to have. What comes of them is for nobody to say, but that it is the
/// same everywhere.
pub fn wild(seed: u32) -> Scene {
    let mut scene = random(seed);
    let mut sequence = Random::default();
    for _ in 0..seed % 4096 * 5 + 2 {
        sequence.u32();
    }
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -1e30,
        1e-42,
        -0.0,
        0.0,
        1.0,
        -1.0,
        2.0,
        1e9,
        -32768.0,
    ];
    for draw in &mut scene.draws {
        for vertex in &mut draw.vertices {
            if sequence.u32().is_multiple_of(12) {
                let k = sequence.u32() as usize % 4;
                vertex.at[k] = one_of(&mut sequence, &odd);
            }
        }
    }
    scene.name = format!("wild:{seed}").leak();
    scene.expect = Expect::Formula(Box::new(|_, _| None), 0.0);
    scene
}

/// The scene of a number.
pub fn random(seed: u32) -> Scene {
    use vk::CompareOp as C;
    let mut random = Random::default();
    for _ in 0..seed % 4096 * 3 + 1 {
        random.u32();
    }
    let r = &mut random;
    let samples = one_of(r, &[1, 1, 2, 4, 4, 4, 8]);
    let mut draws: Vec<Draw> = Vec::new();
    for _ in 0..3 + r.u32() % 6 {
        let compare = one_of(
            r,
            &[
                C::LESS,
                C::LESS,
                C::LESS_OR_EQUAL,
                C::GREATER,
                C::GREATER_OR_EQUAL,
                C::NOT_EQUAL,
                C::ALWAYS,
                C::NEVER,
            ],
        );
        let write = !r.u32().is_multiple_of(4);
        let depth = (!r.u32().is_multiple_of(8)).then_some((compare, write));
        let veil = vk::PipelineColorBlendAttachmentState {
            blend_enable: vk::TRUE,
            src_color_blend_factor: vk::BlendFactor::CONSTANT_ALPHA,
            dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
            ..opaque()
        };
        let blend = if r.u32().is_multiple_of(4) { veil } else { opaque() };
        let cull = one_of(r, &[vk::CullModeFlags::NONE, vk::CullModeFlags::NONE, vk::CullModeFlags::BACK]);
        let state = State { depth, blend, blend_constants: [0.0, 0.0, 0.0, 0.5], cull, ..State::default() };
        let program = if r.u32().is_multiple_of(8) { Program::Discard } else { Program::Colour };
        let (count, reach) = one_of(r, &[(150, 6.0), (80, 12.0), (50, 24.0), (20, 80.0), (4, 900.0)]);
        let draw = Draw::list(program, heap(r, count, reach), state);
        let again = r.u32().is_multiple_of(6);
        let vertices = draw.vertices.clone();
        draws.push(draw);
        if again {
            // The same depths once more.
            let state = State { depth: Some((C::EQUAL, write)), ..state };
            draws.push(Draw::list(Program::Colour, vertices, state));
        }
    }
    // Depths that are all but equal may be ordered either way, and blending rounds each time.
    let expect = Expect::Reference { tolerance: 3.0, per_mille: 2 };
    let name = format!("random:{seed}").leak();
    Scene { samples, ..Scene::new(name, draws, expect) }
}

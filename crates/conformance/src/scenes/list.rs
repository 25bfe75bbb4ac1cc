//! Coverage: triangles of every topology, points and lines, samples, instances, views, clipping.

use super::{Draw, Expect, Program, Scene, State, Vertex};
use ash::vk;
use random::Random;

/// Pixels of a 256² target to clip space: exact for positions on the 1/256 grid.
pub fn ndc(pixels: [f32; 2]) -> [f32; 2] {
    pixels.map(|p| p / 128.0 - 1.0)
}

pub fn vertex(pixels: [f32; 2], z: f32, colour: [f32; 4]) -> Vertex {
    let [x, y] = ndc(pixels);
    Vertex { at: [x, y, z, 1.0], colour }
}

/// A position on the 1/256 grid, up to `beyond` pixels outside of the target.
pub fn place(random: &mut Random, beyond: f32) -> [f32; 2] {
    [(); 2].map(|()| (((256.0 + 2.0 * beyond) * random.unit() - beyond) * 256.0).round() / 256.0)
}

pub fn colour(random: &mut Random) -> [f32; 4] {
    [random.unit(), random.unit(), random.unit(), 1.0]
}

/// Triangles of all sizes; the small ones are more.
pub fn triangles(seed: u32, count: u32, depth: bool) -> Vec<Vertex> {
    let mut random = Random::default();
    for _ in 0..seed {
        random.u32();
    }
    let mut list = Vec::new();
    for _ in 0..count {
        let centre = place(&mut random, 20.0);
        let reach = 200.0 * random.unit().powi(3) + 1.0;
        for _ in 0..3 {
            let offset = [(); 2].map(|()| ((random.unit() - 0.5) * reach * 256.0).round() / 256.0);
            let at = [centre[0] + offset[0], centre[1] + offset[1]];
            let z = if depth { 0.05 + 0.9 * random.unit() } else { 0.5 };
            list.push(vertex(at, z, colour(&mut random)));
        }
    }
    list
}

pub const EXACT: Expect = Expect::Reference { tolerance: 1.0, per_mille: 0 };

pub fn scenes() -> Vec<Scene> {
    let random = |name, samples| {
        let draws = vec![Draw::list(Program::Colour, triangles(1, 300, false), State::default())];
        Scene { samples, ..Scene::new(name, draws, EXACT) }
    };
    vec![
        random("triangles", 1),
        random("triangles_4_samples", 4),
        random("triangles_8_samples", 8),
        Scene::new("topologies", topologies(), EXACT),
        Scene::new("instances", instances(), EXACT),
        Scene { views: 3, ..Scene::new("views", views(), EXACT) },
        Scene { views: 2, samples: 4, ..Scene::new("views_4_samples", views(), EXACT) },
        Scene::new("points", points(), EXACT),
        lines("lines", 1),
        lines("lines_4_samples", 4),
        near_and_far(),
        horizon(),
        perspective(),
    ]
}

/// Strips and fans, in order and by index with restart; an odd strip's triangles keep their winding.
fn topologies() -> Vec<Draw> {
    let mut random = Random::default();
    let mut draws = Vec::new();
    let cull_back = State { cull: vk::CullModeFlags::BACK, ..State::default() };
    for (row, restart) in [false, true].into_iter().enumerate() {
        let y = 8.0 + 128.0 * row as f32;
        let zigzag: Vec<_> = (0..15)
            .map(|i| vertex([8.0 + 15.5 * i as f32, y + 40.25 * (i % 2) as f32], 0.5, colour(&mut random)))
            .collect();
        let strip: Vec<u32> = if restart {
            let cut = [u32::MAX];
            [&[0, 1, 2, 3, 4][..], &cut, &[5, 6], &cut, &[7, 8, 9, 10], &cut, &cut, &[11, 12, 13, 14]]
                .concat()
        } else {
            vec![]
        };
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        let base = Draw::list(Program::Colour, zigzag, cull_back);
        draws.push(Draw { topology, indices: strip, ..base });
        let mut wheel = vec![vertex([60.125, y + 84.0], 0.5, [1.0; 4])];
        for i in 0..11 {
            let angle = i as f32 / 11.0 * std::f32::consts::TAU;
            let at = [60.125 + 34.0 * angle.cos(), y + 84.0 + 34.0 * angle.sin()]
                .map(|v| (v * 256.0).round() / 256.0);
            wheel.push(vertex(at, 0.5, colour(&mut random)));
        }
        let fan =
            if restart { vec![0, 1, 2, 3, 4, u32::MAX, 0, 6, 7, u32::MAX, 0, 9, 10, 11, 1] } else { vec![] };
        let topology = vk::PrimitiveTopology::TRIANGLE_FAN;
        let front_face = vk::FrontFace::CLOCKWISE;
        let base = Draw::list(Program::Colour, wheel, State { front_face, ..cull_back });
        draws.push(Draw { topology, indices: fan, ..base });
        let corners = [[130.0, 50.0], [250.5, 60.0], [140.25, 118.0], [245.0, 110.75]];
        let square = corners.map(|[x, dy]| vertex([x, y + dy - 8.0], 0.5, colour(&mut random)));
        let base = Draw::list(Program::Colour, square.to_vec(), State::default());
        draws.push(Draw { indices: vec![0, 1, 2, 2, 1, 3], ..base });
    }
    draws
}

fn instances() -> Vec<Draw> {
    let mut vertices = triangles(7, 2, false);
    for v in &mut vertices {
        v.at = [v.at[0] * 0.25 - 0.7, v.at[1] * 0.25 - 0.7, 0.5, 1.0];
        // Halving and shifting leaves the grid of 1/256 px by no more than the float's own.
        (0..2).for_each(|c| v.at[c] = ((v.at[c] * 128.0 * 256.0).round()) / (128.0 * 256.0));
    }
    vec![Draw { instances: 13, ..Draw::list(Program::Colour, vertices, State::default()) }]
}

fn views() -> Vec<Draw> {
    vec![
        Draw::list(Program::Views, triangles(3, 40, false), State::default()),
        Draw { instances: 2, ..Draw::list(Program::Views, triangles(4, 3, false), State::default()) },
    ]
}

/// Squares whose edges lie between pixel centres. Their middles are inside of the target: a driver may clip others.
fn points() -> Vec<Draw> {
    let mut random = Random::default();
    let topology = vk::PrimitiveTopology::POINT_LIST;
    [7.5, 1.0, 16.5]
        .map(|point_size: f32| {
            let quarter = if point_size.fract() == 0.5 { 0.0 } else { 0.25 };
            let vertices = (0..20)
                .map(|_| {
                    let at = place(&mut random, -2.0).map(|v| (v * 2.0).round() / 2.0 + quarter);
                    vertex(at, 0.5, colour(&mut random))
                })
                .collect();
            let state = State { point_size, ..State::default() };
            Draw { topology, ..Draw::list(Program::Colour, vertices, state) }
        })
        .into()
}

/// Lines that stay inside the target: rectangles of width 1 by the specification's strict rule. A sample may lie on
/// the very edge, which the rule leaves open.
fn lines(name: &'static str, samples: u32) -> Scene {
    let mut random = Random::default();
    let mut some = |count| -> Vec<Vertex> {
        (0..count)
            .map(|_| {
                let at = place(&mut random, -4.0);
                vertex(at, 0.5, colour(&mut random))
            })
            .collect()
    };
    let list = Draw {
        topology: vk::PrimitiveTopology::LINE_LIST,
        ..Draw::list(Program::Colour, some(40), State::default())
    };
    let strip = Draw {
        topology: vk::PrimitiveTopology::LINE_STRIP,
        ..Draw::list(Program::Colour, some(12), State::default())
    };
    let expect = Expect::Reference { tolerance: 2.0, per_mille: 2 };
    Scene { samples, ..Scene::new(name, vec![list, strip], expect) }
}

/// A square whose depth runs from −1 to 2: only what lies between the planes is drawn.
fn near_and_far() -> Scene {
    let corner = |x: f32, y: f32| Vertex {
        at: [x, y, 0.5 + 1.5 * x, 1.0],
        colour: [x * 0.5 + 0.5, y * 0.5 + 0.5, 0.0, 1.0],
    };
    let (a, b, c, d) = (corner(-1.0, -1.0), corner(1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0));
    let formula = |x: u32, y: u32| {
        let [u, v] = [x, y].map(|p| (f64::from(p) + 0.5) / 256.0);
        let depth = 0.5 + 1.5 * (u * 2.0 - 1.0);
        // The plane's own column of pixels is left out.
        let near = depth.min(1.0 - depth);
        (near.abs() > 0.012).then_some(match near > 0.0 {
            true => [u * 255.0, v * 255.0, 0.0, 255.0],
            false => [0.125, 0.25, 0.5, 1.0].map(|c| c * 255.0),
        })
    };
    let draws = vec![Draw::list(Program::Colour, vec![a, b, c, c, b, d], State::default())];
    Scene::new("near_and_far", draws, Expect::Formula(Box::new(formula), 1.0))
}

/// A plain that goes through the eye to behind it (w from −8 to 8), with corners far outside of the target.
fn horizon() -> Scene {
    let corner = |x: f32, w: f32| Vertex {
        at: [x, 1.0, w * 0.5, w],
        colour: [x / 80.0 + 0.5, w / 16.0 + 0.5, 0.25, 1.0],
    };
    let (a, b, c, d) = (corner(-40.0, -8.0), corner(40.0, -8.0), corner(-40.0, 8.0), corner(40.0, 8.0));
    let formula = |x: u32, y: u32| {
        let [x, y] = [x, y].map(|p| (f64::from(p) + 0.5) / 128.0 - 1.0);
        // One row about the end of the plain is left out.
        if (y - 0.125).abs() < 0.01 {
            return None;
        }
        let w = 1.0 / y;
        Some(match y > 0.125 {
            true => [(x * w / 80.0 + 0.5) * 255.0, (w / 16.0 + 0.5) * 255.0, 0.25 * 255.0, 255.0],
            false => [0.125, 0.25, 0.5, 1.0].map(|c| c * 255.0),
        })
    };
    let draws = vec![Draw::list(Program::Colour, vec![a, b, c, c, b, d], State::default())];
    Scene::new("horizon", draws, Expect::Formula(Box::new(formula), 1.0))
}

/// Triangles in perspective, inside the view: w from 1 to 5, powers of two for exact positions.
fn perspective() -> Scene {
    let mut random = Random::default();
    let mut vertices = triangles(11, 60, true);
    for v in &mut vertices {
        let w = [1.0, 2.0, 4.0][(random.u32() % 3) as usize];
        v.at = [v.at[0] * w, v.at[1] * w, v.at[2] * w, w];
    }
    Scene::new("perspective", vec![Draw::list(Program::Colour, vertices, State::default())], EXACT)
}

//! Geometry, tessellation and mesh shaders, transform feedback: each draws what the reference draws of the vertices that
//! must come of it.

use super::list::{EXACT, colour, place, triangles, vertex};
use super::via::{How, Via};
use super::{Draw, Expect, Program, Scene, State, Vertex};
use ash::vk;
use random::Random;
use vk::PrimitiveTopology as T;
use vk::ShaderStageFlags as S;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/scenes/", $name, ".spv")).as_slice()
    };
}

pub fn scenes() -> Vec<Scene> {
    // An edge that is cut elsewhere than on the grid leaves its line by a fraction of the grid's step.
    let about = || Expect::Reference { tolerance: 2.0, per_mille: 4 };
    let (equal, odd, even) = (
        include_bytes!("../../../../benches/pictures/four.tese.spv").as_slice(),
        spirv!("triangles_fractional_odd.tese"),
        spirv!("triangles_fractional_even.tese"),
    );
    vec![
        Scene::new("geometry_split", vec![split()], EXACT),
        Scene::new("geometry_adjacency", adjacency(), EXACT),
        Scene::new("geometry_lines_and_points", lines_and_points(), EXACT),
        Scene::new("tessellated_triangles", vec![tessellated(equal, [4.0; 6])], EXACT),
        Scene::new("tessellated_fractional_odd", vec![tessellated(odd, [3.5; 6])], about()),
        Scene::new(
            "tessellated_fractional_even",
            vec![tessellated(even, [2.0, 3.25, 6.75, 1.0, 5.5, 1.0])],
            about(),
        ),
        Scene::new("tessellated_quads", vec![quads()], EXACT),
        Scene::new("tessellated_lines_and_points", vec![isolines(), points()], EXACT),
        Scene::new("mesh", mesh(), EXACT),
        Scene::new("captured", captured(), EXACT),
    ]
}

/// Draws `vertices` as they are, of what the device makes of `given`.
fn draw(topology: T, vertices: Vec<Vertex>, state: State, via: Via) -> Draw {
    Draw { topology, via: Some(via), ..Draw::list(Program::Colour, vertices, state) }
}

fn via(stages: &[(S, &'static [u8])], topology: T, vertices: Vec<Vertex>) -> Via {
    Via { stages: stages.to_vec(), topology, vertices, patch: 0, levels: [1.0; 6], how: How::Draw }
}

/// `a + x (b - a) + y (c - a)`.
fn between([a, b, c]: [Vertex; 3], [x, y]: [f32; 2]) -> Vertex {
    let mix = |a: [f32; 4], b: [f32; 4], c: [f32; 4]| {
        std::array::from_fn(|i| a[i] + x * (b[i] - a[i]) + y * (c[i] - a[i]))
    };
    Vertex { at: mix(a.at, b.at, c.at), colour: mix(a.colour, b.colour, c.colour) }
}

/// The vertices' positions on a grid of so many steps a pixel, that parts of their distances lie on one of 256.
fn coarse(mut list: Vec<Vertex>, steps: f32) -> Vec<Vertex> {
    for v in &mut list {
        for x in &mut v.at[..2] {
            *x = ((*x + 1.0) * 128.0 * steps).round() / steps / 128.0 - 1.0;
        }
    }
    list
}

fn corners(list: &[Vertex]) -> impl Iterator<Item = [Vertex; 3]> + '_ {
    list.chunks_exact(3).map(|t| [t[0], t[1], t[2]])
}

fn split() -> Draw {
    let given = coarse(triangles(11, 150, false), 64.0);
    let parts = |t: [Vertex; 3]| {
        let [a, b, c] = t;
        let [ab, bc, ca] = [[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]].map(|m| between(t, m));
        [a, ab, ca, ca, ab, bc, ca, bc, c, ab, b, bc]
    };
    let vertices = corners(&given).flat_map(parts).collect();
    draw(
        T::TRIANGLE_LIST,
        vertices,
        State::default(),
        via(&[(S::GEOMETRY, spirv!("split.geom"))], T::TRIANGLE_LIST, given),
    )
}

/// Specification, "Triangle Strips With Adjacency" and "Line Strips With Adjacency".
fn adjacency() -> Vec<Draw> {
    let mut random = Random::default();
    // Vertices 0, 2, 4 … are a zigzag's, those between them lie outside.
    let strip: Vec<_> = (0..18)
        .map(|i| {
            let y = 20.25 + 80.5 * (i / 2 % 2) as f32 + 10.0 * (i % 2) as f32;
            vertex([10.0 + 12.5 * i as f32, y], 0.5, colour(&mut random))
        })
        .collect();
    let n = strip.len() / 2 - 2;
    let mut all = Vec::new();
    for i in 0..n {
        let last = i + 1 == n;
        // Of triangle i, its vertices and what lies beyond the sides that begin at them, by the table.
        let (at, beyond) = match (i, i % 2, last) {
            (0, _, true) => ([0, 2, 4], [1, 5, 3]),
            (0, _, false) => ([0, 2, 4], [1, 6, 3]),
            (_, 1, false) => ([2 * i + 2, 2 * i, 2 * i + 4], [2 * i - 2, 2 * i + 3, 2 * i + 6]),
            (_, 0, false) => ([2 * i, 2 * i + 2, 2 * i + 4], [2 * i - 2, 2 * i + 6, 2 * i + 3]),
            (_, 1, true) => ([2 * i + 2, 2 * i, 2 * i + 4], [2 * i - 2, 2 * i + 3, 2 * i + 5]),
            _ => ([2 * i, 2 * i + 2, 2 * i + 4], [2 * i - 2, 2 * i + 5, 2 * i + 3]),
        };
        all.extend((0..3).map(|k| Vertex { at: strip[at[k]].at, colour: strip[beyond[k]].colour }));
    }
    // Odd triangles keep their winding.
    let state = State { cull: vk::CullModeFlags::BACK, ..State::default() };
    let filled = draw(
        T::TRIANGLE_LIST,
        all,
        state,
        via(&[(S::GEOMETRY, spirv!("adjacent.geom"))], T::TRIANGLE_STRIP_WITH_ADJACENCY, strip),
    );
    let line: Vec<_> = (0..12)
        .map(|_| {
            let [x, y] = place(&mut random, 0.0);
            vertex([x, 120.0 + y / 2.0], 0.5, colour(&mut random))
        })
        .collect();
    let sides = line
        .windows(4)
        .flat_map(|w| [(w[1].at, w[0].colour), (w[2].at, w[3].colour)])
        .map(|(at, colour)| Vertex { at, colour })
        .collect();
    let stage = [(S::GEOMETRY, spirv!("adjacent_lines.geom"))];
    vec![filled, draw(T::LINE_LIST, sides, State::default(), via(&stage, T::LINE_STRIP_WITH_ADJACENCY, line))]
}

fn lines_and_points() -> Vec<Draw> {
    let given = triangles(12, 40, false);
    let sides = corners(&given).flat_map(|[a, b, c]| [a, b, b, c, c, a]).collect();
    let outline = via(&[(S::GEOMETRY, spirv!("outline.geom"))], T::TRIANGLE_LIST, given);
    let mut random = Random::default();
    let line: Vec<_> = (0..30).map(|_| vertex(place(&mut random, -4.0), 0.5, colour(&mut random))).collect();
    let ends = line.windows(2).flat_map(|w| [w[1], w[0]]).collect();
    let dots = via(&[(S::GEOMETRY, spirv!("corners.geom"))], T::LINE_STRIP, line);
    let state = State { point_size: 6.0, ..State::default() };
    vec![draw(T::LINE_LIST, sides, State::default(), outline), draw(T::POINT_LIST, ends, state, dots)]
}

fn patches(evaluation: &'static [u8], given: Vec<Vertex>, levels: [f32; 6]) -> Via {
    let stages = [(S::TESSELLATION_CONTROL, spirv!("levels.tesc")), (S::TESSELLATION_EVALUATION, evaluation)];
    Via { patch: 3, levels, ..via(&stages, T::PATCH_LIST, given) }
}

/// Flat patches: however they are cut, the picture is that of their triangles.
fn tessellated(evaluation: &'static [u8], levels: [f32; 6]) -> Draw {
    let given = coarse(triangles(13, 60, false), 64.0);
    draw(T::TRIANGLE_LIST, given.clone(), State::default(), patches(evaluation, given, levels))
}

/// Corners and two neighbours of parallelograms.
fn parallelograms(count: usize) -> Vec<Vertex> {
    let mut list = coarse(triangles(14, count as u32, false), 16.0);
    list.iter_mut().for_each(|v| v.colour = v.colour.map(|c| c / 2.0));
    list
}

/// Tessellation's counter-clockwise is in a domain whose y goes down, as the picture's does: half of them are seen from behind.
fn quads() -> Draw {
    let given = parallelograms(40);
    let two = |t: [Vertex; 3]| {
        let [a, b, c] = t;
        [a, c, b, b, c, between(t, [1.0, 1.0])]
    };
    let vertices = corners(&given).flat_map(two).collect();
    let state = State { cull: vk::CullModeFlags::BACK, ..State::default() };
    draw(T::TRIANGLE_LIST, vertices, state, patches(spirv!("quads.tese"), given, [8.0; 6]))
}

/// Four lines of eight segments: none at the domain's lower end.
fn isolines() -> Draw {
    // All of them in the picture: the reference does not clip.
    let mut random = Random::default();
    let mut given = Vec::new();
    for _ in 0..12 {
        let corner = place(&mut random, -60.0);
        let near = [(); 2].map(|()| place(&mut random, -100.0).map(|v| v - 128.0));
        let all = [corner, [0, 1].map(|i| corner[i] + near[0][i]), [0, 1].map(|i| corner[i] + near[1][i])];
        given.extend(all.map(|at| vertex(at, 0.5, colour(&mut random).map(|c| c / 2.0))));
    }
    let given = coarse(given, 16.0);
    let lines = |t: [Vertex; 3]| {
        let end = move |i: i32, j: i32| between(t, [i as f32 / 8.0, j as f32 / 4.0]);
        (0..4).flat_map(move |j| (0..8).flat_map(move |i| [end(i, j), end(i + 1, j)]))
    };
    let vertices = corners(&given).flat_map(lines).collect();
    let levels = [4.0, 8.0, 1.0, 1.0, 1.0, 1.0];
    draw(T::LINE_LIST, vertices, State::default(), patches(spirv!("isolines.tese"), given, levels))
}

/// Each point of the domain once: the order in which they come would show where they overlap.
fn points() -> Draw {
    let given: Vec<_> = [[20.5, 20.5], [220.5, 36.5], [28.5, 220.5]]
        .into_iter()
        .zip([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]])
        .map(|(at, colour)| vertex(at, 0.5, colour))
        .collect();
    let t = [given[0], given[1], given[2]];
    let vertices =
        (0..5).flat_map(|j| (0..5).map(move |i| between(t, [i as f32 / 4.0, j as f32 / 4.0]))).collect();
    let state = State { point_size: 3.0, ..State::default() };
    draw(T::POINT_LIST, vertices, state, patches(spirv!("points.tese"), given, [4.0; 6]))
}

/// 300 triangles: nine task workgroups of 32, and one of 12.
fn mesh() -> Vec<Draw> {
    let given = triangles(15, 300, false);
    let stages = [(S::TASK_EXT, spirv!("parts.task")), (S::MESH_EXT, spirv!("parts.mesh"))];
    let parts = Via { how: How::Mesh(10), ..via(&stages, T::TRIANGLE_LIST, given.clone()) };
    let lined = triangles(16, 20, false);
    let sides = corners(&lined).flat_map(|[a, b, c]| [a, b, b, c, c, a]).collect();
    let stage = [(S::MESH_EXT, spirv!("lines.mesh"))];
    let lines = Via { how: How::Mesh(20), ..via(&stage, T::TRIANGLE_LIST, lined) };
    vec![
        draw(T::TRIANGLE_LIST, given, State::default(), parts),
        draw(T::LINE_LIST, sides, State::default(), lines),
    ]
}

/// A strip's triangles are captured as a list, odd ones with their winding.
fn captured() -> Vec<Draw> {
    let mut random = Random::default();
    let strip: Vec<_> = (0..80).map(|_| vertex(place(&mut random, 10.0), 0.5, colour(&mut random))).collect();
    let list = |i: usize| if i.is_multiple_of(2) { [i, i + 1, i + 2] } else { [i, i + 2, i + 1] };
    let vertices = (0..strip.len() - 2).flat_map(list).map(|i| strip[i]).collect();
    let given = Via { how: How::Captured, ..via(&[], T::TRIANGLE_STRIP, strip) };
    let state = State { cull: vk::CullModeFlags::BACK, ..State::default() };
    vec![draw(T::TRIANGLE_LIST, vertices, state, given)]
}

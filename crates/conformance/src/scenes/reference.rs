//! A renderer of scenes that is as simple as can be: every sample of every pixel asks every primitive, positions are
//! exact integers, everything else is f64. Vulkan specification, chapters "Rasterization" and "Fragment Operations".
//! It knows no clipping: scenes that need it have formulas.

use super::{Draw, Program, Scene, VIEW_SHIFT, Vertex};
use ash::vk;
use client::raster::{self, Point};

/// Colours in 255ths (means of samples), and samples that passed.
pub struct Picture {
    pub pixels: Vec<[f64; 4]>,
    pub passed: Vec<u64>,
}

/// Standard sample locations in 16ths of a pixel.
fn locations(samples: u32) -> &'static [[i64; 2]] {
    match samples {
        2 => &[[12, 12], [4, 4]],
        4 => &[[6, 2], [14, 6], [2, 10], [10, 14]],
        8 => &[[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]],
        _ => &[[8, 8]],
    }
}

#[derive(Clone, Copy)]
struct Sample {
    /// In 255ths, whole numbers.
    colour: [f64; 4],
    depth: f32,
    stencil: u8,
}

/// A vertex in framebuffer coordinates.
#[derive(Clone, Copy)]
struct Corner {
    at: Point,
    z: f64,
    /// 1 / w
    inverse: f64,
    colour: [f64; 4],
}

/// Where a primitive is.
enum Shape {
    Triangle([Point; 3]),
    /// Corners of a rectangle (lines and points) in 256ths of pixels, in order.
    Rectangle([[f64; 2]; 4]),
}

pub fn render(scene: &Scene) -> Picture {
    let [width, height] = scene.size;
    let clear = Sample { colour: scene.clear.map(|c| quantised(f64::from(c))), depth: 1.0, stencil: 0 };
    let locations = locations(scene.samples);
    let per_view = (width * height) as usize * locations.len();
    let mut samples = vec![clear; per_view * scene.views as usize];
    let mut passed = Vec::new();
    for draw in &scene.draws {
        let mut count = 0;
        for instance in 0..draw.instances {
            for primitive in assemble(draw) {
                for view in 0..scene.views {
                    let corners: Vec<_> =
                        primitive.iter().map(|v| corner(v, scene.size, instance, view)).collect();
                    let samples = &mut samples[view as usize * per_view..][..per_view];
                    count += rasterise(scene, draw, &corners, view, locations, samples);
                }
            }
        }
        passed.push(count);
    }
    let mean = |pixel: &[Sample]| -> [f64; 4] {
        std::array::from_fn(|c| pixel.iter().map(|s| s.colour[c]).sum::<f64>() / pixel.len() as f64)
    };
    Picture { pixels: samples.chunks_exact(locations.len()).map(mean).collect(), passed }
}

/// 255ths of a value in [0, 1].
fn quantised(value: f64) -> f64 {
    (value.clamp(0.0, 1.0) * 255.0).round()
}

fn corner(v: &Vertex, size: [u32; 2], instance: u32, view: u32) -> Corner {
    let [x, y, z, w] = v.at.map(f64::from);
    let x = x + f64::from(instance & 3) * 0.5 * w + f64::from(view) * f64::from(VIEW_SHIFT) * w;
    let y = y + f64::from(instance >> 2) * 0.5 * w;
    let pixels = [(x / w + 1.0) * 0.5 * f64::from(size[0]), (y / w + 1.0) * 0.5 * f64::from(size[1])];
    Corner { at: raster::snapped(pixels, 8), z: z / w, inverse: 1.0 / w, colour: v.colour.map(f64::from) }
}

/// The primitives of one instance. Specification, "Primitive Topologies".
fn assemble(draw: &Draw) -> Vec<Vec<Vertex>> {
    let all: Vec<u32> = (0..draw.vertices.len() as u32).collect();
    let indices = if draw.indices.is_empty() { &all } else { &draw.indices };
    let mut list = Vec::new();
    for run in indices.split(|i| *i == u32::MAX) {
        let n = run.len();
        let primitives: Vec<Vec<usize>> = match draw.topology {
            vk::PrimitiveTopology::POINT_LIST => (0..n).map(|i| vec![i]).collect(),
            vk::PrimitiveTopology::LINE_LIST => (0..n / 2).map(|i| vec![2 * i, 2 * i + 1]).collect(),
            vk::PrimitiveTopology::LINE_STRIP => (1..n).map(|i| vec![i - 1, i]).collect(),
            vk::PrimitiveTopology::TRIANGLE_STRIP => (2..n)
                .map(|i| if i % 2 == 0 { vec![i - 2, i - 1, i] } else { vec![i - 2, i, i - 1] })
                .collect(),
            vk::PrimitiveTopology::TRIANGLE_FAN => (2..n).map(|i| vec![i - 1, i, 0]).collect(),
            _ => (0..n / 3).map(|i| vec![3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        };
        list.extend(
            primitives
                .into_iter()
                .map(|p| p.into_iter().map(|i| draw.vertices[run[i] as usize]).collect::<Vec<_>>()),
        );
    }
    list
}

/// Draws one primitive: how many samples passed.
fn rasterise(
    scene: &Scene,
    draw: &Draw,
    corners: &[Corner],
    view: u32,
    locations: &[[i64; 2]],
    samples: &mut [Sample],
) -> u64 {
    let [width, height] = scene.size;
    let mut front = true;
    let shape = match corners {
        [a, b, c] => {
            // Specification, "Basic Polygon Rasterization": a positive area turns clockwise on the screen.
            let clockwise = raster::area(a.at, b.at, c.at) > 0;
            front = clockwise == (draw.state.front_face == vk::FrontFace::CLOCKWISE);
            let face = if front { vk::CullModeFlags::FRONT } else { vk::CullModeFlags::BACK };
            if draw.state.cull.contains(face) {
                return 0;
            }
            Shape::Triangle([a.at, b.at, c.at])
        }
        [a, b] => Shape::Rectangle(line(a.at, b.at)),
        [a, ..] => Shape::Rectangle(square(a.at, f64::from(draw.state.point_size))),
        [] => return 0,
    };
    let mut count = 0;
    let [xs, ys] = extent(&shape, scene.size);
    for (x, y) in ys.flat_map(|y| xs.clone().map(move |x| (x, y))) {
        let at = |location: [i64; 2]| {
            [i64::from(x) * 256 + location[0] * 16, i64::from(y) * 256 + location[1] * 16]
        };
        let covered: Vec<usize> = (0..locations.len()).filter(|s| shape.covers(at(locations[*s]))).collect();
        if covered.is_empty() {
            continue;
        }
        let Some(colour) = shade(draw, corners, at([8, 8]), [x, y], view) else { continue };
        for s in covered {
            let sample = &mut samples[((y * width + x) as usize) * locations.len() + s];
            let z = mixed(corners, at(locations[s]), |c| c.z);
            if tests(draw, front, z as f32, sample) {
                count += 1;
                blend(draw, colour, sample);
            }
        }
    }
    debug_assert!(height > 0);
    count
}

/// A line of width 1: the rectangle about it. Specification, "Basic Line Segment Rasterization".
fn line(a: Point, b: Point) -> [[f64; 2]; 4] {
    let [a, b] = [a, b].map(|p| p.map(|v| v as f64));
    let along = [b[0] - a[0], b[1] - a[1]];
    let length = along[0].hypot(along[1]).max(1e-9);
    let side = [-along[1] / length * 128.0, along[0] / length * 128.0];
    let moved = |p: [f64; 2], by: f64| [p[0] + side[0] * by, p[1] + side[1] * by];
    [moved(a, -1.0), moved(b, -1.0), moved(b, 1.0), moved(a, 1.0)]
}

/// A point's. Of two that touch, samples where they do are the right or the lower one's, as triangles have it: samples are whole numbers.
fn square(at: Point, size: f64) -> [[f64; 2]; 4] {
    let [x, y] = at.map(|v| v as f64);
    let r = size * 128.0;
    let to = r - 0.25;
    [[x - r, y - r], [x + to, y - r], [x + to, y + to], [x - r, y + to]]
}

impl Shape {
    fn covers(&self, p: Point) -> bool {
        match self {
            Shape::Triangle(t) => raster::weights(*t, p).is_some(),
            Shape::Rectangle(r) => (0..4).all(|i| {
                let (from, to) = (r[i], r[(i + 1) % 4]);
                (to[0] - from[0]) * (p[1] as f64 - from[1]) - (to[1] - from[1]) * (p[0] as f64 - from[0])
                    >= 0.0
            }),
        }
    }
}

fn extent(shape: &Shape, size: [u32; 2]) -> [std::ops::Range<u32>; 2] {
    match shape {
        Shape::Triangle(t) => raster::bounds(*t, size),
        Shape::Rectangle(r) => {
            let whole = |f: fn(f64) -> f64, a: usize| [r[a][0], r[a][1]].map(|v| f(v) as i64);
            let low = raster::bounds([0, 1, 2].map(|i| whole(f64::floor, i)), size);
            let high = raster::bounds([1, 2, 3].map(|i| whole(f64::ceil, i)), size);
            [0, 1].map(|a| low[a].start.min(high[a].start)..low[a].end.max(high[a].end))
        }
    }
}

/// A value that is linear on the screen.
fn mixed(corners: &[Corner], p: Point, of: impl Fn(&Corner) -> f64) -> f64 {
    let share = |a: &Corner, b: &Corner| raster::area(a.at, b.at, p) as f64;
    match corners {
        [a, b, c] => {
            let whole = raster::area(a.at, b.at, c.at) as f64;
            (share(b, c) * of(a) + share(c, a) * of(b) + share(a, b) * of(c)) / whole
        }
        [a, b] => {
            let along = [b.at[0] - a.at[0], b.at[1] - a.at[1]].map(|v| v as f64);
            let from = [p[0] - a.at[0], p[1] - a.at[1]].map(|v| v as f64);
            let t = (from[0] * along[0] + from[1] * along[1]) / (along[0].powi(2) + along[1].powi(2));
            of(a) * (1.0 - t) + of(b) * t
        }
        [a, ..] => of(a),
        [] => 0.0,
    }
}

fn shade(draw: &Draw, corners: &[Corner], centre: Point, pixel: [u32; 2], view: u32) -> Option<[f64; 4]> {
    let inverse = mixed(corners, centre, |c| c.inverse);
    let c: [f64; 4] = std::array::from_fn(|i| mixed(corners, centre, |c| c.colour[i] * c.inverse) / inverse);
    match draw.program {
        Program::Discard if (pixel[0] / 3 + pixel[1] / 3) % 2 == 1 => None,
        Program::Colour | Program::Discard => Some(c),
        Program::Views => Some([c[0], c[1], f64::from(view) * 0.25, c[3]]),
        Program::Texture | Program::Cube | Program::Large | Program::Secrets | Program::Leftovers => {
            unreachable!("such scenes have formulas or pictures")
        }
    }
}

fn compares<T: PartialOrd>(op: vk::CompareOp, a: T, b: T) -> bool {
    match op {
        vk::CompareOp::NEVER => false,
        vk::CompareOp::LESS => a < b,
        vk::CompareOp::EQUAL => a == b,
        vk::CompareOp::LESS_OR_EQUAL => a <= b,
        vk::CompareOp::GREATER => a > b,
        vk::CompareOp::NOT_EQUAL => a != b,
        vk::CompareOp::GREATER_OR_EQUAL => a >= b,
        _ => true,
    }
}

/// Stencil and depth tests with their writes.
fn tests(draw: &Draw, front: bool, z: f32, sample: &mut Sample) -> bool {
    let deep = draw.state.depth.is_none_or(|(op, _)| compares(op, z, sample.depth));
    let mut good = deep;
    if let Some(faces) = draw.state.stencil {
        let s = faces[usize::from(!front)];
        let held = u32::from(sample.stencil);
        good = compares(s.compare_op, s.reference & s.compare_mask, held & s.compare_mask);
        let op = match (good, deep) {
            (false, _) => s.fail_op,
            (true, false) => s.depth_fail_op,
            (true, true) => s.pass_op,
        };
        let new = match op {
            vk::StencilOp::ZERO => 0,
            vk::StencilOp::REPLACE => s.reference,
            vk::StencilOp::INCREMENT_AND_CLAMP => (held + 1).min(255),
            vk::StencilOp::DECREMENT_AND_CLAMP => held.saturating_sub(1),
            vk::StencilOp::INVERT => !held,
            vk::StencilOp::INCREMENT_AND_WRAP => held + 1,
            vk::StencilOp::DECREMENT_AND_WRAP => held.wrapping_sub(1),
            _ => held,
        };
        sample.stencil = ((held & !s.write_mask) | (new & s.write_mask)) as u8;
        good &= deep;
    }
    if let (true, Some((_, true))) = (good, draw.state.depth) {
        sample.depth = z;
    }
    good
}

fn blend(draw: &Draw, source: [f64; 4], sample: &mut Sample) {
    let b = &draw.state.blend;
    let source = source.map(|s| s.clamp(0.0, 1.0));
    let held = sample.colour.map(|c| c / 255.0);
    let constants = draw.state.blend_constants.map(f64::from);
    for c in 0..4 {
        if !b.color_write_mask.contains(vk::ColorComponentFlags::from_raw(1 << c)) {
            continue;
        }
        let (from, to, op) = match c {
            3 => (b.src_alpha_blend_factor, b.dst_alpha_blend_factor, b.alpha_blend_op),
            _ => (b.src_color_blend_factor, b.dst_color_blend_factor, b.color_blend_op),
        };
        let factor = |f| match f {
            vk::BlendFactor::ZERO => 0.0,
            vk::BlendFactor::SRC_COLOR => source[c],
            vk::BlendFactor::ONE_MINUS_SRC_COLOR => 1.0 - source[c],
            vk::BlendFactor::DST_COLOR => held[c],
            vk::BlendFactor::ONE_MINUS_DST_COLOR => 1.0 - held[c],
            vk::BlendFactor::SRC_ALPHA => source[3],
            vk::BlendFactor::ONE_MINUS_SRC_ALPHA => 1.0 - source[3],
            vk::BlendFactor::DST_ALPHA => held[3],
            vk::BlendFactor::ONE_MINUS_DST_ALPHA => 1.0 - held[3],
            vk::BlendFactor::CONSTANT_COLOR => constants[c],
            vk::BlendFactor::ONE_MINUS_CONSTANT_COLOR => 1.0 - constants[c],
            vk::BlendFactor::CONSTANT_ALPHA => constants[3],
            vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA => 1.0 - constants[3],
            vk::BlendFactor::SRC_ALPHA_SATURATE if c < 3 => source[3].min(1.0 - held[3]),
            _ => 1.0,
        };
        let (s, d) = (source[c] * factor(from), held[c] * factor(to));
        let value = match op {
            _ if b.blend_enable == 0 => source[c],
            vk::BlendOp::SUBTRACT => s - d,
            vk::BlendOp::REVERSE_SUBTRACT => d - s,
            vk::BlendOp::MIN => source[c].min(held[c]),
            vk::BlendOp::MAX => source[c].max(held[c]),
            _ => s + d,
        };
        sample.colour[c] = quantised(value);
    }
}

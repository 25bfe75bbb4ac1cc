//! Textures: levels, filters, anisotropy, cubes. Levels and faces of one colour each tell which of them was read.

use super::list::vertex;
use super::{Draw, Expect, Program, Scene, State, Texture, Vertex};
use ash::vk;
use random::Random;

const SIDE: u32 = 64;
const LEVELS: u32 = 7;

const PLAIN: &[u8] = include_bytes!("../../pictures/plain.png");
const PLAIN_ANISOTROPIC: &[u8] = include_bytes!("../../pictures/plain_anisotropic.png");

pub fn scenes() -> Vec<Scene> {
    let nearest = vk::SamplerMipmapMode::NEAREST;
    let linear = vk::SamplerMipmapMode::LINEAR;
    let mut list = vec![
        levels("levels", nearest, 1.0),
        levels("levels_linear", linear, 1.5),
        anisotropic("anisotropic_16", 16.0),
        anisotropic("anisotropic_4", 4.0),
        bilinear(),
        cube(),
    ];
    list.push(plain("plain", 1.0, 20, PLAIN));
    list.push(plain("plain_anisotropic", 8.0, 40, PLAIN_ANISOTROPIC));
    list
}

fn shade(level: u32) -> [u8; 4] {
    let l = level as u8;
    [255 - 40 * l, 30 * l, if l.is_multiple_of(2) { 200 } else { 20 }, 255]
}

/// A texture whose levels have one colour each.
fn coloured_levels(filter: vk::Filter, mip_filter: vk::SamplerMipmapMode, anisotropy: f32) -> Texture {
    let texels = (0..LEVELS).flat_map(|l| shade(l).repeat(((SIDE >> l) * (SIDE >> l)) as usize)).collect();
    Texture { side: SIDE, mips: LEVELS, cube: false, texels, filter, mip_filter, anisotropy }
}

/// A rectangle of pixels with texture coordinates that grow by `steps` texels a pixel.
fn rectangle(from: [f32; 2], size: [f32; 2], steps: [f32; 2]) -> Vec<Vertex> {
    let corner = |x: f32, y: f32| {
        let texels = [x * size[0] * steps[0], y * size[1] * steps[1]];
        let uv = texels.map(|t| t / SIDE as f32);
        vertex([from[0] + x * size[0], from[1] + y * size[1]], 0.5, [uv[0], uv[1], 0.0, 0.0])
    };
    let (a, b, c, d) = (corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0));
    vec![a, b, c, c, b, d]
}

/// Seven rows, 32 pixels high with four between them: `steps` gives texels a pixel in a half of a row, `level` the level
/// that is read there.
fn rows(
    name: &'static str,
    texture: Texture,
    steps: impl Fn(u32, u32) -> [f32; 2],
    level: impl Fn(u32, u32) -> f64 + 'static,
) -> Scene {
    let mut vertices = Vec::new();
    for (k, half) in (0..7).flat_map(|k| [(k, 0), (k, 1)]) {
        vertices.extend(rectangle([128.0 * half as f32, 36.0 * k as f32], [128.0, 32.0], steps(k, half)));
    }
    // Levels have 8 fractional bits at best, and a logarithm that need not be exact: 4/256 of 200 is 3.1.
    let tolerance = if texture.mip_filter == vk::SamplerMipmapMode::LINEAR { 4.0 } else { 0.0 };
    let formula = move |x: u32, y: u32| {
        let k = y / 36;
        if k >= 7 || y % 36 >= 32 {
            return Some([0.125, 0.25, 0.5, 1.0].map(|c: f64| (c * 255.0).round()));
        }
        let level = level(k, x / 128).clamp(0.0, 6.0);
        let (low, part) = (level.floor() as u32, level.fract());
        let (a, b) = (shade(low), shade((low + 1).min(6)));
        Some(std::array::from_fn(|c| f64::from(a[c]) * (1.0 - part) + f64::from(b[c]) * part))
    };
    let draws = vec![Draw::list(Program::Texture, vertices, State::default())];
    Scene { texture: Some(texture), ..Scene::new(name, draws, Expect::Formula(Box::new(formula), tolerance)) }
}

/// A row for each level: steps of powers of two, times `factor`.
fn levels(name: &'static str, mip_filter: vk::SamplerMipmapMode, factor: f32) -> Scene {
    let texture = coloured_levels(vk::Filter::LINEAR, mip_filter, 1.0);
    let steps = move |k: u32, _| [factor * (1 << k) as f32; 2];
    rows(name, texture, steps, move |k, _| f64::from(k) + f64::from(factor).log2())
}

/// Footprints eight times longer than wide on the left half, twice on the right, lying and standing in turn. The level
/// is that of the length over the number of samples. Specification, "Scale Factor, Level of Detail and Image Level
/// Selection".
fn anisotropic(name: &'static str, most: f32) -> Scene {
    let texture = coloured_levels(vk::Filter::LINEAR, vk::SamplerMipmapMode::NEAREST, most);
    let steps = |k: u32, half: u32| {
        let [a, b] = [[1.0, 8.0], [2.0, 4.0]][half as usize];
        if k.is_multiple_of(2) { [a, b] } else { [b, a] }
    };
    let level = move |_, half: u32| [8.0 / f64::from(most).min(8.0), 2.0][half as usize].log2();
    rows(name, texture, steps, level)
}

/// Random texels, four pixels a texel, repeating.
fn bilinear() -> Scene {
    let mut random = Random::default();
    let texels: Vec<u8> = (0..SIDE * SIDE).flat_map(|_| random.u32().to_le_bytes()).collect();
    let held = texels.clone();
    let formula = move |x: u32, y: u32| {
        let at = [x, y].map(|p| (f64::from(p) + 0.5) / 4.0 + 8.0 - 0.5);
        let part = at.map(|v| v - v.floor());
        let texel = |dx: i64, dy: i64, c: usize| {
            let [x, y] =
                [at[0].floor() as i64 + dx, at[1].floor() as i64 + dy].map(|v| v.rem_euclid(SIDE.into()));
            f64::from(held[(y * i64::from(SIDE) + x) as usize * 4 + c])
        };
        Some(std::array::from_fn(|c| {
            let row = |dy| texel(0, dy, c) * (1.0 - part[0]) + texel(1, dy, c) * part[0];
            row(0) * (1.0 - part[1]) + row(1) * part[1]
        }))
    };
    let corner = |x: f32, y: f32| vertex([x * 256.0, y * 256.0], 0.5, [x + 0.125, y + 0.125, 0.0, 0.0]);
    let (a, b, c, d) = (corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0), corner(1.0, 1.0));
    let texture = Texture {
        side: SIDE,
        mips: 1,
        cube: false,
        texels,
        filter: vk::Filter::LINEAR,
        mip_filter: vk::SamplerMipmapMode::NEAREST,
        anisotropy: 1.0,
    };
    let draws = vec![Draw::list(Program::Texture, vec![a, b, c, c, b, d], State::default())];
    Scene { texture: Some(texture), ..Scene::new("bilinear", draws, Expect::Formula(Box::new(formula), 2.0)) }
}

/// Directions all around: x is the longitude in four straight pieces, y the height. Specification, "Cube Map Face
/// Selection".
fn cube() -> Scene {
    let corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 1.0f32]];
    let mut vertices = Vec::new();
    for k in 0..4 {
        let corner = |i: usize, y: f32| {
            let [dx, dz] = corners[k + i];
            let x = 64.0 * (k + i) as f32;
            vertex([x, 128.0 + 128.0 * y], 0.5, [dx, 3.0 * y, dz, 0.0])
        };
        let (a, b, c, d) = (corner(0, -1.0), corner(1, -1.0), corner(0, 1.0), corner(1, 1.0));
        vertices.extend([a, b, c, c, b, d]);
    }
    let face =
        |f: u32| [40 * f as u8 + 15, 255 - 40 * f as u8, if f.is_multiple_of(2) { 0 } else { 255 }, 255];
    let formula = move |x: u32, y: u32| {
        let t = (f64::from(x) + 0.5) / 64.0;
        let (k, part) = (t.floor() as usize, t.fract());
        let mix = |c: usize| f64::from(corners[k][c]) * (1.0 - part) + f64::from(corners[k + 1][c]) * part;
        let d = [mix(0), 3.0 * ((f64::from(y) + 0.5) / 128.0 - 1.0), mix(1)];
        let size = d.map(f64::abs);
        let axis = (0..3).max_by(|a, b| size[*a].total_cmp(&size[*b])).unwrap_or(0);
        // Directions between two faces may go to either.
        let second = (0..3).filter(|a| *a != axis).map(|a| size[a]).fold(0.0, f64::max);
        let f = axis as u32 * 2 + u32::from(d[axis] < 0.0);
        (size[axis] - second > 0.02).then_some(face(f).map(f64::from))
    };
    let texture = Texture {
        side: 8,
        mips: 1,
        cube: true,
        texels: (0..6).flat_map(|f| face(f).repeat(64)).collect(),
        filter: vk::Filter::NEAREST,
        mip_filter: vk::SamplerMipmapMode::NEAREST,
        anisotropy: 1.0,
    };
    let draws = vec![Draw::list(Program::Cube, vertices, State::default())];
    Scene { texture: Some(texture), ..Scene::new("cube", draws, Expect::Formula(Box::new(formula), 0.0)) }
}

/// A chequered plain to the horizon, trilinear: levels change with every pixel, and the specification leaves room in
/// how they are chosen. lavapipe 25.0.7 drew what it is compared with (`scene-child --png`).
fn plain(name: &'static str, anisotropy: f32, per_mille: usize, png: &'static [u8]) -> Scene {
    let mut texels = Vec::new();
    for level in 0..LEVELS {
        let side = SIDE >> level;
        for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
            let cell = (side / 8).max(1);
            let light = if side < 16 { 128 } else { 255 * (((x / cell) + (y / cell)) % 2) as u8 };
            texels.extend([light, (x * 255 / side) as u8, (y * 255 / side) as u8, 255]);
        }
    }
    // The eye is one above the plain; w runs from 1 to 16.
    let corner = |x: f32, w: f32| Vertex { at: [x * w, 1.0, 0.5 * w, w], colour: [x * w, w, 0.0, 0.0] };
    let (a, b, c, d) = (corner(-1.0, 1.0), corner(1.0, 1.0), corner(-1.0, 16.0), corner(1.0, 16.0));
    let texture = Texture {
        side: SIDE,
        mips: LEVELS,
        cube: false,
        texels,
        filter: vk::Filter::LINEAR,
        mip_filter: vk::SamplerMipmapMode::LINEAR,
        anisotropy,
    };
    let draws = vec![Draw::list(Program::Texture, vec![a, b, c, c, b, d], State::default())];
    let expect = Expect::Lavapipe { png, tolerance: 24.0, per_mille };
    Scene { texture: Some(texture), ..Scene::new(name, draws, expect) }
}

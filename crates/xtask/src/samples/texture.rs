//! Made-up textures as KTX files (https://registry.khronos.org/KTX/specs/1.0/ktxspec.v1.html), with all levels: noise, so that
//! there is something to filter at every scale. Only operations that IEEE 754 defines: the bytes are the same everywhere.

/// Texels of a side, layers, and whether each has the six faces of a cube.
pub struct Shape {
    pub side: u32,
    pub layers: u32,
    pub cube: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// RGBA8, opaque.
    Colour,
    /// RGBA8, transparent but for blots with soft edges.
    Cutout,
    /// RGBA8, with a height as alpha.
    Height,
    /// RGBA8: a surface's normals, and its height as alpha.
    NormalHeight,
    /// RGBA8: normals, opaque.
    Normal,
    /// R8.
    Grey,
    /// RGBA of 16-bit floats, up to 32.
    Light,
}

/// A level of one face: values from 0 to 1, row by row.
type Face = Vec<[f32; 4]>;

pub fn texture(shape: &Shape, look: Look, seed: u32) -> Vec<u8> {
    // OpenGL's names: type, its bytes, format, internal format.
    let [ty, ty_size, format, internal] = match look {
        Look::Grey => [0x1401, 1, 0x1903, 0x8229],
        Look::Light => [0x140B, 2, 0x1908, 0x881A],
        _ => [0x1401, 1, 0x1908, 0x8058],
    };
    // The last levels would have rows of less than four bytes, or padding, which the examples' loader takes for texels.
    let levels = shape.side.ilog2() - 1;
    let faces = if shape.cube { 6 } else { 1 };
    let array = if shape.layers > 1 { shape.layers } else { 0 };
    let mut out = b"\xABKTX 11\xBB\r\n\x1A\n".to_vec();
    let header = [
        0x0403_0201,
        ty,
        ty_size,
        format,
        internal,
        format,
        shape.side,
        shape.side,
        0,
        array,
        faces,
        levels,
        0,
    ];
    out.extend(header.iter().flat_map(|w: &u32| w.to_le_bytes()));
    let mut all: Vec<Face> =
        (0..shape.layers * faces).map(|i| face(shape, look, seed * 64 + i / faces, i % faces)).collect();
    for level in 0..levels {
        let texels: Vec<Vec<u8>> = all.iter().map(|f| encoded(f, look)).collect();
        // Of a cube that is no array, a face's.
        let size = if shape.cube && array == 0 { texels[0].len() } else { texels.iter().map(Vec::len).sum() };
        out.extend((size as u32).to_le_bytes());
        texels.iter().for_each(|t| out.extend(t));
        all.iter_mut().for_each(|f| *f = halved(f, shape.side >> level));
    }
    out
}

/// The largest level.
fn face(shape: &Shape, look: Look, seed: u32, face: u32) -> Face {
    let side = shape.side;
    let at = |x: u32, y: u32| {
        let [u, v] = [x, y].map(|c| (2 * (c % side)) as f32 / side as f32 - 1.0);
        match (shape.cube, face) {
            // One period: it repeats.
            (false, _) => [(u + 1.0) * 4.0, (v + 1.0) * 4.0, 0.5],
            (_, 0) => on_sphere([1.0, -v, -u]),
            (_, 1) => on_sphere([-1.0, -v, u]),
            (_, 2) => on_sphere([u, 1.0, v]),
            (_, 3) => on_sphere([u, -1.0, -v]),
            (_, 4) => on_sphere([u, -v, 1.0]),
            (_, _) => on_sphere([-u, -v, -1.0]),
        }
    };
    let height = |x: u32, y: u32| cloud(at(x, y), seed);
    let texel = |x: u32, y: u32| {
        let h = height(x, y);
        match look {
            Look::Normal | Look::NormalHeight => {
                let (dx, dy) = (h - height(x + 1, y), h - height(x, y + 1));
                let steep = side as f32 / 16.0;
                let n = [dx * steep, dy * steep, 1.0];
                let long = (n[0] * n[0] + n[1] * n[1] + 1.0).sqrt();
                let [x, y, z] = n.map(|c| c / long * 0.5 + 0.5);
                [x, y, z, if look == Look::Normal { 1.0 } else { h }]
            }
            Look::Grey => [h, 0.0, 0.0, 1.0],
            _ => {
                let tint = [11, 12].map(|s| lattice(at(x, y), PERIOD, seed * 16 + s));
                let colour = [h, h * (0.5 + 0.5 * tint[0]), h * (0.5 + 0.5 * tint[1])];
                let alpha = match look {
                    Look::Cutout => ((h - 0.45) * 12.0).clamp(0.0, 1.0),
                    Look::Height => h,
                    _ => 1.0,
                };
                [colour[0], colour[1], colour[2], alpha]
            }
        }
    };
    (0..side * side).map(|i| texel(i % side, i / side)).collect()
}

fn on_sphere(d: [f32; 3]) -> [f32; 3] {
    let long = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    // Within one period.
    d.map(|c| c / long * 3.0 + 4.0)
}

/// After so much noise repeats.
const PERIOD: u32 = 8;

/// Noise of three scales, from 0 to 1.
fn cloud(p: [f32; 3], seed: u32) -> f32 {
    let octave = |scale: u32, s: u32| lattice(p.map(|c| c * scale as f32), PERIOD * scale, seed * 16 + s);
    octave(1, 0) * 0.5 + octave(4, 1) * 0.25 + octave(16, 2) * 0.25
}

/// Values at whole numbers, the same again after `period` of them, and straight lines between them.
fn lattice(p: [f32; 3], period: u32, seed: u32) -> f32 {
    let cell = p.map(|c| c as u32);
    let [x, y, z] = [0, 1, 2].map(|i| p[i] - cell[i] as f32);
    let value = |i: u32, j: u32, k: u32| {
        let c = [cell[0] + i, cell[1] + j, cell[2] + k].map(|c| c % period);
        (hash(c[0] | c[1] << 8 | c[2] << 16, seed) >> 8) as f32 / (1 << 24) as f32
    };
    let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
    let line = |j, k| mix(value(0, j, k), value(1, j, k), x);
    mix(mix(line(0, 0), line(1, 0), y), mix(line(0, 1), line(1, 1), y), z)
}

fn hash(n: u32, seed: u32) -> u32 {
    let mut h = n ^ seed.wrapping_mul(0x9E37_79B9);
    for factor in [0x7FEB_352D, 0x846C_A68B_u32] {
        h = (h ^ h >> 16).wrapping_mul(factor);
    }
    h ^ h >> 15
}

/// Means of four each.
fn halved(face: &Face, side: u32) -> Face {
    let (side, half) = (side as usize, side as usize / 2);
    let mean = |i: usize| {
        let at = i / half * 2 * side + i % half * 2;
        std::array::from_fn(|c| {
            (face[at][c] + face[at + 1][c] + face[at + side][c] + face[at + side + 1][c]) * 0.25
        })
    };
    (0..half * half).map(mean).collect()
}

fn encoded(face: &Face, look: Look) -> Vec<u8> {
    let byte = |v: f32| (v * 255.0 + 0.5) as u8;
    match look {
        Look::Grey => face.iter().map(|t| byte(t[0])).collect(),
        Look::Light => {
            let half = |v: f32| ((v.max(6.2e-5).to_bits() >> 13) - (112 << 10)) as u16;
            // Dark mostly, and lights.
            let bright = |v: f32| v * v * v * v * 32.0;
            let texel = |t: &[f32; 4]| [bright(t[0]), bright(t[1]), bright(t[2]), t[3]].map(half);
            face.iter().flat_map(texel).flat_map(u16::to_le_bytes).collect()
        }
        _ => face.iter().flatten().map(|&v| byte(v)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: usize = 64;

    #[test]
    fn levels_follow_each_other() {
        let plane = Shape { side: 16, layers: 1, cube: false };
        let t = texture(&plane, Look::Colour, 1);
        // 16, 8 and 4 texels, each with its size before it.
        assert_eq!(t.len(), HEADER + 3 * 4 + (256 + 64 + 16) * 4);
        assert_eq!(t[HEADER..HEADER + 4], 1024u32.to_le_bytes());
        assert_eq!(t[HEADER + 4 + 1024..][..4], 256u32.to_le_bytes());
        let cube = Shape { cube: true, ..plane };
        let t = texture(&cube, Look::Light, 1);
        assert_eq!(t.len(), HEADER + 3 * 4 + (256 + 64 + 16) * 8 * 6);
        assert_eq!(t[HEADER..HEADER + 4], 2048u32.to_le_bytes(), "a face's");
        let array = Shape { layers: 2, ..cube };
        let t = texture(&array, Look::Grey, 1);
        assert_eq!(t[HEADER..HEADER + 4], (256u32 * 12).to_le_bytes(), "all faces'");
    }

    #[test]
    fn noise_is_noise() {
        let plane = Shape { side: 64, layers: 1, cube: false };
        let t = texture(&plane, Look::Cutout, 3);
        let texels: Vec<&[u8]> = t[HEADER + 4..][..64 * 64 * 4].chunks(4).collect();
        let (least, most) = (texels.iter().map(|t| t[0]).min(), texels.iter().map(|t| t[0]).max());
        assert!(least < Some(80) && most > Some(170), "{least:?} {most:?}");
        assert!(texels.iter().any(|t| t[3] == 0) && texels.iter().any(|t| t[3] == 255));
        assert_ne!(texture(&plane, Look::Cutout, 4), t);
        // One of a half-float: 0x3C00.
        let light = texture(&plane, Look::Light, 3);
        assert_eq!(light[HEADER + 4..][6..8], [0, 0x3C]);
    }
}

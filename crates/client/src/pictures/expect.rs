//! What the pictures must look like, by formula.

use super::{LAYERS, SIZE, Spec, TEXTURE, Triangles};
use crate::raster;

/// Distance of rows and columns that are compared.
const STEP: u32 = 3;

/// The first wrong pixel, if there is one; `colour` is RGBA8, `depth` D32, both tightly packed; positions have
/// `subpixel_bits`.
pub fn check(spec: &Spec, colour: &[u8], depth: Option<&[u8]>, subpixel_bits: u32) -> Result<(), String> {
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    if colour.len() != pixels * 4 {
        return Err(format!("{} bytes of colour", colour.len()));
    }
    if let Some(depth) = depth {
        let nearest = spec.nearest;
        let values = depth.chunks_exact(4).map(|d| f32::from_le_bytes([d[0], d[1], d[2], d[3]]));
        if let Some((i, d)) = values.enumerate().find(|(_, d)| *d != nearest) {
            return Err(format!("depth of pixel {i}: {d}, not {nearest}"));
        }
    }
    match spec.triangles {
        Some(t) => triangles(t, colour, subpixel_bits.min(8)),
        None => layers(spec, colour),
    }
}

fn pixel(colour: &[u8], x: u32, y: u32) -> [u8; 4] {
    let at = ((y * SIZE[0] + x) * 4) as usize;
    [colour[at], colour[at + 1], colour[at + 2], colour[at + 3]]
}

fn far(got: [u8; 4], want: [f64; 4], tolerance: f64) -> bool {
    got.iter().zip(want).any(|(g, w)| (f64::from(*g) - w).abs() > tolerance)
}

/// Source colours in 255ths at a texture coordinate: the gradient, or the texture, bilinear.
fn source(spec: &Spec, texels: &[u8], uv: [f64; 2]) -> [f64; 4] {
    if !spec.texture {
        return [uv[0] * 0.25, uv[1] * 0.25, 0.5, 0.5].map(|v| v * 255.0);
    }
    let at = uv.map(|v| v * f64::from(TEXTURE) - 0.5);
    let cell = at.map(|v| v.floor() as i64);
    let part = [at[0] - at[0].floor(), at[1] - at[1].floor()];
    let mut sum = [0.0; 4];
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let weight =
            (if dx == 1 { part[0] } else { 1.0 - part[0] }) * (if dy == 1 { part[1] } else { 1.0 - part[1] });
        let side = i64::from(TEXTURE);
        let texel = (cell[1] + dy).rem_euclid(side) * side + (cell[0] + dx).rem_euclid(side);
        for (c, s) in sum.iter_mut().enumerate() {
            *s += weight * f64::from(texels[texel as usize * 4 + c]);
        }
    }
    sum
}

fn layers(spec: &Spec, colour: &[u8]) -> Result<(), String> {
    let texels = super::texels();
    // Half a step of rounding; filters weigh in 256ths; blending adds up errors by 1 / (1 - ½).
    let tolerance = match (spec.texture, spec.blend) {
        (false, false) => 1.0,
        (false, true) => 2.0,
        (true, false) => 3.0,
        (true, true) => 5.0,
    };
    for (x, y) in (0..SIZE[1])
        .step_by(STEP as usize)
        .flat_map(|y| (0..SIZE[0]).step_by(STEP as usize).map(move |x| (x, y)))
    {
        let uv = [
            (f64::from(x) + 0.5) * 2.0 / f64::from(SIZE[0]),
            (f64::from(y) + 0.5) * 2.0 / f64::from(SIZE[1]),
        ];
        let source = source(spec, &texels, uv);
        let mut want = source;
        if spec.blend {
            want = [0.0; 4];
            let alpha = source[3] / 255.0;
            for _ in 0..LAYERS {
                (0..4).for_each(|c| want[c] = source[c] * alpha + want[c] * (1.0 - alpha));
            }
        }
        let got = pixel(colour, x, y);
        if far(got, want, tolerance) {
            return Err(format!("pixel {x}, {y}: {got:?}, not {:?}", want.map(f64::round)));
        }
    }
    Ok(())
}

/// Four in a thousand pixels may lie on an edge that another rounding of the positions moves.
fn triangles(given: Triangles, colour: &[u8], subpixel_bits: u32) -> Result<(), String> {
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    let mut want = vec![[0.0f32; 4]; pixels];
    let corners = super::corners(given.given());
    for triangle in corners.chunks_exact(3) {
        let at = [0, 1, 2].map(|i| raster::snapped(triangle[i].0, subpixel_bits));
        let [xs, ys] = raster::bounds(at, SIZE);
        for (x, y) in ys.flat_map(|y| xs.clone().map(move |x| (x, y))) {
            let centre = [x, y].map(|v| i64::from(v) * raster::SUBPIXELS + raster::SUBPIXELS / 2);
            if let Some(weights) = raster::weights(at, centre) {
                let mix = |c: usize| (0..3).map(|i| weights[i] as f32 * triangle[i].1[c]).sum::<f32>();
                want[(y * SIZE[0] + x) as usize] = [0, 1, 2, 3].map(|c| mix(c) * 255.0);
            }
        }
    }
    // A colour changes by 64 steps a pixel or so: coarser positions make coarser colours.
    let tolerance = 2.0 + 64.0 / f64::from(1 << subpixel_bits);
    let mut wrong = 0;
    let mut first = None;
    for (i, want) in want.iter().enumerate() {
        let (x, y) = (i as u32 % SIZE[0], i as u32 / SIZE[0]);
        let got = pixel(colour, x, y);
        if far(got, want.map(f64::from), tolerance) {
            wrong += 1;
            first.get_or_insert((x, y, got, want.map(f32::round)));
        }
    }
    match first {
        Some((x, y, got, want)) if wrong * 250 > pixels => {
            Err(format!("{wrong} wrong pixels; the first one, {x}, {y}: {got:?}, not {want:?}"))
        }
        _ => Ok(()),
    }
}

/// What transform feedback must have left: half of each position, and each colour with 1 added.
pub fn captured(got: &[u8]) -> Result<(), String> {
    let given = super::vertices(Triangles::Captured.given());
    let floats = |b: &[u8]| -> Vec<f32> {
        b.chunks_exact(4).map(|f| f32::from_le_bytes([f[0], f[1], f[2], f[3]])).collect()
    };
    let want = floats(&given);
    for (i, (got, v)) in floats(got).iter().zip(want).enumerate() {
        let want = if i % 8 < 4 { 0.5 * v } else { v + 1.0 };
        if *got != want {
            return Err(format!("word {i} of what was captured: {got}, not {want}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pictures::PICTURES;

    #[test]
    fn a_driver_that_does_not_draw_is_seen() {
        let pixels = (SIZE[0] * SIZE[1]) as usize;
        let depth: Vec<u8> = (0..pixels).flat_map(|_| 1.0f32.to_le_bytes()).collect();
        assert!(captured(&vec![0; 3200]).is_err());
        for p in &PICTURES {
            assert!(check(p, &vec![0; pixels * 4], p.depth.then_some(&depth[..]), 8).is_err(), "{}", p.name);
        }
    }
}

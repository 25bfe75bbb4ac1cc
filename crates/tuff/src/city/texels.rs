//! The city's textures, made by formula: grass, rock, windows, marble.

use random::Random;

/// Side of the largest level in texels.
pub const SIDE: u32 = 256;
pub const LAYERS: u32 = 4;
pub const MIPS: u32 = 9;

type Texel = [f32; 4];

/// Noise that repeats: the mean of octaves of smoothed random cells, in [0, 1].
fn clouds(random: &mut Random, octaves: std::ops::Range<u32>) -> Vec<f32> {
    let side = SIDE as usize;
    let mut sum = vec![0.0; side * side];
    let mut whole = 0.0;
    for octave in octaves {
        let cells = 1usize << octave;
        let grid: Vec<f32> = (0..cells * cells).map(|_| random.unit()).collect();
        let size = 0.6f32.powi(octave as i32);
        whole += size;
        for (i, s) in sum.iter_mut().enumerate() {
            let at = [i % side, i / side].map(|v| v as f32 / side as f32 * cells as f32);
            let cell = at.map(|v| v as usize);
            let part = [at[0].fract(), at[1].fract()].map(|f| f * f * (3.0 - 2.0 * f));
            let value = |dx: usize, dy: usize| grid[(cell[1] + dy) % cells * cells + (cell[0] + dx) % cells];
            let row = |dy| value(0, dy) * (1.0 - part[0]) + value(1, dy) * part[0];
            *s += size * (row(0) * (1.0 - part[1]) + row(1) * part[1]);
        }
    }
    sum.iter().map(|s| s / whole).collect()
}

/// Two by two windows; alpha is 0 where there is glass.
fn windows(random: &mut Random, grain: &[f32]) -> Vec<Texel> {
    let blinds: [f32; 4] = std::array::from_fn(|_| random.unit());
    let half = SIDE / 2;
    (0..SIDE * SIDE)
        .map(|i| {
            let (x, y) = (i % SIDE, i / SIDE);
            let (u, v) = ((x % half) as f32 / half as f32, (y % half) as f32 / half as f32);
            let inside = (0.22..0.78).contains(&u) && (0.25..0.80).contains(&v);
            let bar = (u - 0.5).abs() < 0.025 || (v - 0.6).abs() < 0.02;
            let drawn = v > 0.55 + 0.25 * blinds[(y / half * 2 + x / half) as usize];
            let g = 0.85 + 0.15 * grain[i as usize];
            match (inside, bar) {
                (true, false) if drawn => [0.75 * g, 0.72 * g, 0.62 * g, 0.6],
                (true, false) => [0.16, 0.20, 0.26, 0.0],
                (true, true) => [0.9, 0.9, 0.88, 1.0],
                _ if v < 0.05 => [0.72 * g, 0.7 * g, 0.68 * g, 1.0],
                _ => [g, g, g, 1.0],
            }
        })
        .collect()
}

/// RGBA8, level by level, each with all its layers.
pub fn build() -> Vec<u8> {
    let mut random = Random::default();
    let fine = clouds(&mut random, 3..8);
    let coarse = clouds(&mut random, 2..7);
    let grey = |v: f32| [v, v, v, 1.0];
    let grass = fine.iter().zip(&coarse).map(|(f, c)| [0.4 + f, 0.5 + 0.5 * f + 0.4 * c, 0.5 + 0.5 * f, 1.0]);
    let rock = coarse.iter().zip(&fine).map(|(c, f)| {
        let crack = 1.0 - (c * 2.0 - 1.0).abs().powf(0.4);
        grey(0.35 + 0.5 * f + 0.35 * (1.0 - crack))
    });
    let marble = (0..SIDE * SIDE).map(|i| {
        let x = (i % SIDE) as f32 / SIDE as f32;
        let vein = ((x * 4.0 + coarse[i as usize] * 3.0) * std::f32::consts::PI).sin().abs().powf(0.35);
        grey(0.45 + 0.55 * vein)
    });
    let layers: [Vec<Texel>; 4] =
        [grass.collect(), rock.collect(), windows(&mut random, &fine), marble.collect()];
    let mut bytes = Vec::new();
    let mut levels = layers;
    for mip in 0..MIPS {
        let side = (SIDE >> mip) as usize;
        for level in &mut levels {
            bytes.extend(level.iter().flatten().map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8));
            let half = side / 2;
            *level = (0..half * half)
                .map(|i| {
                    let at = i / half * 2 * side + i % half * 2;
                    let four = [at, at + 1, at + side, at + side + 1];
                    std::array::from_fn(|c| four.iter().map(|t| level[*t][c]).sum::<f32>() / 4.0)
                })
                .collect();
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_of_every_layer_is_there() {
        let texels: u32 = (0..MIPS).map(|m| (SIDE >> m) * (SIDE >> m)).sum();
        assert_eq!(build().len() as u32, texels * LAYERS * 4);
    }
}

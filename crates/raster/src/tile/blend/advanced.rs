//! Advanced blend operations (§ Advanced Blend Operations), of sixteen pixels.
//!
//! Plain arithmetic lane by lane, so that all SIMD levels give the same bits; the operation is chosen once, outside the loops.

use crate::state::Advanced;
use ash::vk;
use vk::BlendOp as Op;

/// A channel of sixteen pixels.
type Lanes = [f32; 16];

/// Whether the operation is an advanced one.
pub fn is_advanced(op: Op) -> bool {
    (Op::ZERO_EXT..=Op::BLUE_EXT).contains(&op)
}

/// Source `s` over destination `d`, red to alpha. `half`: half a step of the attachment's colours, 0 of floats.
pub fn blend(op: Op, k: &Advanced, half: f32, s: &[Lanes; 4], d: &[Lanes; 4]) -> [Lanes; 4] {
    let (s, d) = match op < Op::PLUS_EXT {
        // Base colours, and colours that alpha has been multiplied with.
        true => (base(s, k.src_premultiplied), base(d, k.dst_premultiplied)),
        false => (multiplied(s, k.src_premultiplied), multiplied(d, k.dst_premultiplied)),
    };
    let mut out = if op < Op::PLUS_EXT { weighted(op, k.overlap, half, &s, &d) } else { more(op, &s, &d) };
    if !k.dst_premultiplied {
        // The destination holds base colours; without coverage there is none.
        out = base(&out, true);
    }
    if k.clamp {
        out = out.map(|c| c.map(|v| v.clamp(0.0, 1.0)));
    }
    out
}

fn base(c: &[Lanes; 4], multiplied: bool) -> [Lanes; 4] {
    let mut out = *c;
    if multiplied {
        for l in 0..16 {
            let a = c[3][l];
            (0..3).for_each(|k| out[k][l] = if a != 0.0 { c[k][l] / a } else { 0.0 });
        }
    }
    out
}

fn multiplied(c: &[Lanes; 4], is: bool) -> [Lanes; 4] {
    let mut out = *c;
    if !is {
        for l in 0..16 {
            (0..3).for_each(|k| out[k][l] = c[k][l] * c[3][l]);
        }
    }
    out
}

/// p0, p1 and p2: both cover, the source alone, the destination alone.
fn weights(overlap: vk::BlendOverlapEXT, s: f32, d: f32) -> [f32; 3] {
    match overlap {
        vk::BlendOverlapEXT::CONJOINT => [s.min(d), (s - d).max(0.0), (d - s).max(0.0)],
        vk::BlendOverlapEXT::DISJOINT => [(s + d - 1.0).max(0.0), s.min(1.0 - d), d.min(1.0 - s)],
        _ => [s * d, s * (1.0 - d), d * (1.0 - s)],
    }
}

/// X, Y and Z of the operation.
fn shares(op: Op) -> [f32; 3] {
    match op {
        Op::ZERO_EXT => [0.0, 0.0, 0.0],
        Op::SRC_EXT | Op::DST_ATOP_EXT => [1.0, 1.0, 0.0],
        Op::DST_EXT | Op::SRC_ATOP_EXT | Op::INVERT_EXT | Op::INVERT_RGB_EXT => [1.0, 0.0, 1.0],
        Op::SRC_IN_EXT | Op::DST_IN_EXT => [1.0, 0.0, 0.0],
        Op::SRC_OUT_EXT => [0.0, 1.0, 0.0],
        Op::DST_OUT_EXT => [0.0, 0.0, 1.0],
        Op::XOR_EXT => [0.0, 1.0, 1.0],
        _ => [1.0, 1.0, 1.0],
    }
}

/// f · p0 + Y · source · p1 + Z · destination · p2.
fn weighted(op: Op, overlap: vk::BlendOverlapEXT, half: f32, s: &[Lanes; 4], d: &[Lanes; 4]) -> [Lanes; 4] {
    let [x, y, z] = shares(op);
    let f = function(op, half, s, d);
    let mut out = [[0.0; 16]; 4];
    for l in 0..16 {
        let [p0, p1, p2] = weights(overlap, s[3][l], d[3][l]);
        for k in 0..3 {
            out[k][l] = f[k][l] * p0 + y * s[k][l] * p1 + z * d[k][l] * p2;
        }
        out[3][l] = x * p0 + y * p1 + z * p2;
    }
    out
}

fn each(s: &[Lanes; 4], d: &[Lanes; 4], f: impl Fn(f32, f32) -> f32) -> [Lanes; 3] {
    std::array::from_fn(|k| std::array::from_fn(|l| f(s[k][l], d[k][l])))
}

/// f(source, destination) of base colours.
fn function(op: Op, half: f32, s: &[Lanes; 4], d: &[Lanes; 4]) -> [Lanes; 3] {
    match op {
        Op::SRC_EXT | Op::SRC_OVER_EXT | Op::SRC_IN_EXT | Op::SRC_ATOP_EXT => each(s, d, |s, _| s),
        Op::DST_EXT | Op::DST_OVER_EXT | Op::DST_IN_EXT | Op::DST_ATOP_EXT => each(s, d, |_, d| d),
        Op::MULTIPLY_EXT => each(s, d, |s, d| s * d),
        Op::SCREEN_EXT => each(s, d, |s, d| s + d - s * d),
        Op::OVERLAY_EXT => each(s, d, |s, d| hard_light(d, s)),
        Op::DARKEN_EXT => each(s, d, f32::min),
        Op::LIGHTEN_EXT => each(s, d, f32::max),
        Op::COLORDODGE_EXT => each(s, d, |s, d| match (d > 0.0, s < 1.0) {
            (false, _) => 0.0,
            (true, true) => (d / (1.0 - s)).min(1.0),
            _ => 1.0,
        }),
        Op::COLORBURN_EXT => each(s, d, |s, d| match (d < 1.0, s > 0.0) {
            (false, _) => 1.0,
            (true, true) => 1.0 - ((1.0 - d) / s).min(1.0),
            _ => 0.0,
        }),
        Op::HARDLIGHT_EXT => each(s, d, hard_light),
        Op::SOFTLIGHT_EXT => each(s, d, |s, d| {
            if s <= 0.5 {
                d - (1.0 - 2.0 * s) * d * (1.0 - d)
            } else if d <= 0.25 {
                d + (2.0 * s - 1.0) * d * ((16.0 * d - 12.0) * d + 3.0)
            } else {
                d + (2.0 * s - 1.0) * (d.sqrt() - d)
            }
        }),
        Op::DIFFERENCE_EXT => each(s, d, |s, d| (d - s).abs()),
        Op::EXCLUSION_EXT => each(s, d, |s, d| s + d - 2.0 * s * d),
        Op::INVERT_EXT => each(s, d, |_, d| 1.0 - d),
        Op::INVERT_RGB_EXT => each(s, d, |s, d| s * (1.0 - d)),
        Op::LINEARDODGE_EXT => each(s, d, |s, d| if s + d <= 1.0 { s + d } else { 1.0 }),
        Op::LINEARBURN_EXT => each(s, d, |s, d| if s + d > 1.0 { s + d - 1.0 } else { 0.0 }),
        Op::VIVIDLIGHT_EXT => each(s, d, |s, d| {
            if s <= 0.0 {
                0.0
            } else if s < 0.5 {
                1.0 - ((1.0 - d) / (2.0 * s)).min(1.0)
            } else if s < 1.0 {
                (d / (2.0 * (1.0 - s))).min(1.0)
            } else {
                1.0
            }
        }),
        Op::LINEARLIGHT_EXT => each(s, d, |s, d| match 2.0 * s + d {
            v if v > 2.0 => 1.0,
            v if v > 1.0 => v - 1.0,
            _ => 0.0,
        }),
        Op::PINLIGHT_EXT => each(s, d, |s, d| match (2.0 * s - 1.0 > d, s < 0.5) {
            (true, true) => 0.0,
            (true, false) => 2.0 * s - 1.0,
            _ if s < 0.5 * d => 2.0 * s,
            _ => d,
        }),
        // The one operation that jumps: a sum is 1 that the attachment could not tell from it, for ¼ and a stored ¾ are.
        Op::HARDMIX_EXT => each(s, d, |s, d| if s + d < 1.0 - half { 0.0 } else { 1.0 }),
        Op::HSL_HUE_EXT => colours(s, d, |s, d| set_lum_sat(s, d, d)),
        Op::HSL_SATURATION_EXT => colours(s, d, |s, d| set_lum_sat(d, s, d)),
        Op::HSL_COLOR_EXT => colours(s, d, set_lum),
        Op::HSL_LUMINOSITY_EXT => colours(s, d, |s, d| set_lum(d, s)),
        _ => [[0.0; 16]; 3],
    }
}

fn hard_light(s: f32, d: f32) -> f32 {
    if s <= 0.5 { 2.0 * s * d } else { 1.0 - 2.0 * (1.0 - s) * (1.0 - d) }
}

type Rgb = [f32; 3];

fn colours(s: &[Lanes; 4], d: &[Lanes; 4], f: impl Fn(Rgb, Rgb) -> Rgb) -> [Lanes; 3] {
    let mut out = [[0.0; 16]; 3];
    for l in 0..16 {
        let c = f([s[0][l], s[1][l], s[2][l]], [d[0][l], d[1][l], d[2][l]]);
        (0..3).for_each(|k| out[k][l] = c[k]);
    }
    out
}

fn least(c: Rgb) -> f32 {
    c[0].min(c[1]).min(c[2])
}
fn most(c: Rgb) -> f32 {
    c[0].max(c[1]).max(c[2])
}
fn luminosity(c: Rgb) -> f32 {
    c[0] * 0.30 + c[1] * 0.59 + c[2] * 0.11
}

/// A colour with the luminosity of another, its components within 0 … 1.
fn set_lum(c: Rgb, of: Rgb) -> Rgb {
    let by = luminosity(of) - luminosity(c);
    let mut c = c.map(|v| v + by);
    let (lum, low, high) = (luminosity(c), least(c), most(c));
    if low < 0.0 {
        c = c.map(|v| lum + (v - lum) * lum / (lum - low));
    }
    if high > 1.0 {
        c = c.map(|v| lum + (v - lum) * (1.0 - lum) / (high - lum));
    }
    c
}

/// A colour with the saturation of one and the luminosity of another.
fn set_lum_sat(c: Rgb, sat: Rgb, lum: Rgb) -> Rgb {
    let (low, range, wanted) = (least(c), most(c) - least(c), most(sat) - least(sat));
    let c = if range > 0.0 { c.map(|v| (v - low) * wanted / range) } else { [0.0; 3] };
    set_lum(c, lum)
}

/// The additional RGB operations, of colours that alpha has been multiplied with.
fn more(op: Op, s: &[Lanes; 4], d: &[Lanes; 4]) -> [Lanes; 4] {
    let mut out = [[0.0; 16]; 4];
    for l in 0..16 {
        let (sa, da) = (s[3][l], d[3][l]);
        let sum = (sa + da).min(1.0);
        for k in 0..3 {
            let (s, d) = (s[k][l], d[k][l]);
            out[k][l] = match op {
                Op::PLUS_EXT => s + d,
                Op::PLUS_CLAMPED_EXT => (s + d).min(1.0),
                Op::PLUS_CLAMPED_ALPHA_EXT => (s + d).min(sum),
                Op::PLUS_DARKER_EXT => (sum - ((sa - s) + (da - d))).max(0.0),
                Op::MINUS_EXT => d - s,
                Op::MINUS_CLAMPED_EXT => (d - s).max(0.0),
                Op::CONTRAST_EXT => da / 2.0 + 2.0 * (d - da / 2.0) * (s - sa / 2.0),
                Op::INVERT_OVG_EXT => sa * (1.0 - d) + (1.0 - sa) * d,
                Op::RED_EXT if k == 0 => s,
                Op::GREEN_EXT if k == 1 => s,
                Op::BLUE_EXT if k == 2 => s,
                _ => d,
            };
        }
        out[3][l] = match op {
            Op::PLUS_EXT => sa + da,
            Op::PLUS_CLAMPED_EXT | Op::PLUS_CLAMPED_ALPHA_EXT | Op::PLUS_DARKER_EXT => sum,
            Op::MINUS_EXT => da - sa,
            Op::MINUS_CLAMPED_EXT => (da - sa).max(0.0),
            Op::INVERT_OVG_EXT => sa + da - sa * da,
            _ => da,
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(op: Op, k: Advanced, s: [f32; 4], d: [f32; 4]) -> [f32; 4] {
        blend(op, &k, 0.5 / 255.0, &s.map(|c| [c; 16]), &d.map(|c| [c; 16])).map(|c| c[5])
    }
    fn near(a: [f32; 4], b: [f32; 4]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} instead of {b:?}");
    }

    /// Figures by hand from the specification's tables.
    #[test]
    fn tables_of_the_specification() {
        let k = Advanced::default();
        // Base colours 0.5 and 0.25 at half coverage each: 0.25 · both, and 0.25 of each alone.
        let (s, d) = ([0.25, 0.25, 0.25, 0.5], [0.125, 0.125, 0.125, 0.5]);
        let by = 0.125 * 0.25 + 0.5 * 0.25 + 0.25 * 0.25;
        near(one(Op::MULTIPLY_EXT, k, s, d), [by, by, by, 0.75]);
        // Conjoint: all of both cover alike.
        let conjoint = Advanced { overlap: vk::BlendOverlapEXT::CONJOINT, ..k };
        near(one(Op::MULTIPLY_EXT, conjoint, s, d), [0.0625, 0.0625, 0.0625, 0.5]);
        // Disjoint: they share nothing.
        let disjoint = Advanced { overlap: vk::BlendOverlapEXT::DISJOINT, ..k };
        near(one(Op::MULTIPLY_EXT, disjoint, s, d), [0.375, 0.375, 0.375, 1.0]);
        // Base colours in and out: the result is divided by its alpha.
        let plain = Advanced { src_premultiplied: false, dst_premultiplied: false, ..k };
        let third = by / 0.75;
        near(
            one(Op::MULTIPLY_EXT, plain, [0.5, 0.5, 0.5, 0.5], [0.25, 0.25, 0.25, 0.5]),
            [third, third, third, 0.75],
        );
        // Grey of the destination's luminosity, for a source without colour.
        let full = |c: [f32; 3]| [c[0], c[1], c[2], 1.0];
        near(one(Op::HSL_COLOR_EXT, k, full([0.5; 3]), full([1.0, 0.0, 0.0])), full([0.3; 3]));
        near(one(Op::PLUS_DARKER_EXT, k, full([0.25; 3]), full([0.5; 3])), [0.0, 0.0, 0.0, 1.0]);
        near(one(Op::GREEN_EXT, k, full([0.1, 0.2, 0.3]), [0.4, 0.5, 0.6, 0.7]), [0.4, 0.2, 0.6, 0.7]);
        near(one(Op::ZERO_EXT, k, s, d), [0.0; 4]);
        // 191 / 255 is what eight bits have of ¾; 190 / 255 is less than ¾.
        near(one(Op::HARDMIX_EXT, k, full([0.25; 3]), full([191.0 / 255.0; 3])), full([1.0; 3]));
        near(one(Op::HARDMIX_EXT, k, full([0.25; 3]), full([190.0 / 255.0; 3])), full([0.0; 3]));
    }
}

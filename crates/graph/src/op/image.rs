//! Resizing of images.

use super::{Check, Rule, Run, need, steps};
use crate::plan::Stop;
use crate::types::{FLOAT, Type, Wide};
use crate::view::View;

const NEAREST: i64 = 1;
const BILINEAR: i64 = 2;

/// Channels that are computed at once.
const BLOCK: usize = 256;

pub(crate) fn check(k: &Check) -> Rule {
    let (v, output) = (k.value(1), k.result(0));
    let [mode] = k.ints(0, "mode")?;
    let [yn, yd, xn, xd] = k.ints(2, "scale")?;
    let [oy, ox] = k.ints(3, "offset")?;
    let [by, bx] = k.ints(4, "border")?;
    k.is_of(v, FLOAT | Type::I8.bit() | Type::I16.bit(), "input")?;
    let wanted = match (mode, v.ty) {
        (BILINEAR, Type::I8) => Type::I32,
        (BILINEAR, Type::I16) => Type::I48,
        (NEAREST | BILINEAR, ty) => ty,
        _ => return Err(format!("mode {mode} is none")),
    };
    need(output.ty == wanted, || format!("the output must be of type {wanted:?}"))?;
    k.has_rank(v, 4, "input")?;
    k.has_rank(output, 4, "output")?;
    for (v, name) in [(v, "input"), (output, "output")] {
        need(v.shape[1].max(v.shape[2]) < 16384, || format!("{name} must be less than 16384 high and wide"))?;
    }
    for (axis, n, d, o, b) in [("y", yn, yd, oy, by), ("x", xn, xd, ox, bx)] {
        need(n > 0 && d > 0 && n <= 1 << 11, || format!("scale {n} / {d} of {axis}"))?;
        need(d < 16 * n && n <= 256 * d, || format!("scale {n} / {d} of {axis} is too large or too small"))?;
        need(o >= -n && o < 16 * n, || format!("offset {o} of {axis}"))?;
        need(b >= -16 * n && b < n, || format!("border {b} of {axis}"))?;
    }
    let [n, ih, iw, c] = [0, 1, 2, 3].map(|d| v.shape[d] as i64);
    let oh = steps((ih - 1) * yn - oy + by, yd, "height")?;
    let ow = steps((iw - 1) * xn - ox + bx, xd, "width")?;
    k.has_shape(output, &[n, oh, ow, c], "output")
}

/// Two neighbours along an axis, and how far between them it is: a numerator.
struct Between {
    at: [usize; 2],
    rest: i64,
}

fn between(o: usize, n: i64, d: i64, offset: i64, size: usize) -> Between {
    let y = o as i64 * d + offset;
    let i = y.div_euclid(n);
    let at = [i.max(0), (i + 1).min(size as i64 - 1)].map(|i| i.clamp(0, size as i64 - 1) as usize);
    Between { at, rest: y - i * n }
}

struct Axes {
    numerators: [i64; 2],
    denominators: [i64; 2],
    offsets: [i64; 2],
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let (scale, offset) = (r.ints(2), r.ints(3));
    let of = Axes {
        numerators: [scale[0], scale[2]],
        denominators: [scale[1], scale[3]],
        offsets: [offset[0], offset[1]],
    };
    let [ny, nx] = of.numerators;
    if r.ints(0)[0] == NEAREST {
        nearest(r, &r.operands[1], &of);
    } else if r.operands[1].ty.is_float() {
        bilinear(r, &of, move |v: &[[f32; BLOCK]; 4], c: usize, dy: i64, dx: i64| {
            let (y, x) = (dy as f32 / ny as f32, dx as f32 / nx as f32);
            let upper = v[0][c] * ((1.0 - y) * (1.0 - x)) + v[1][c] * ((1.0 - y) * x);
            upper + v[2][c] * (y * (1.0 - x)) + v[3][c] * (y * x)
        });
    } else {
        bilinear(r, &of, move |v: &[[i64; BLOCK]; 4], c: usize, y: i64, x: i64| {
            v[0][c] * (ny - y) * (nx - x) + v[1][c] * (ny - y) * x + v[2][c] * y * (nx - x) + v[3][c] * y * x
        });
    }
    Ok(())
}

/// Calls `f` for each pixel of the output: its image, place, and what it lies between.
fn pixels(r: &Run, of: &Axes, f: impl Fn([usize; 3], [Between; 2]) + Sync) {
    let (input, out) = (&r.operands[1], &r.results[0]);
    r.pool.run((out.dim(0) * out.dim(1)) as u64, &|row| {
        let (n, y) = (row as usize / out.dim(1), row as usize % out.dim(1));
        for x in 0..out.dim(2) {
            let place = |i: usize, o: usize| {
                between(o, of.numerators[i], of.denominators[i], of.offsets[i], input.dim(1 + i))
            };
            f([n, y, x], [place(0, y), place(1, x)]);
        }
    });
}

fn nearest(r: &Run, input: &View, of: &Axes) {
    let out = &r.results[0];
    let bytes = out.dim(3) * out.ty.bytes();
    pixels(r, of, |[n, y, x], between| {
        let [iy, ix] = [0, 1].map(|i| between[i].at[(2 * between[i].rest >= of.numerators[i]) as usize]);
        out.span.copy(out.at(&[n, y, x]), input.span, input.at(&[n, iy, ix]), bytes);
    });
}

fn bilinear<T: Wide>(r: &Run, of: &Axes, mix: impl Fn(&[[T; BLOCK]; 4], usize, i64, i64) -> T + Sync) {
    let (input, out) = (&r.operands[1], &r.results[0]);
    pixels(r, of, |[n, y, x], [dy, dx]| {
        for begin in (0..out.dim(3)).step_by(BLOCK) {
            let m = (out.dim(3) - begin).min(BLOCK);
            let mut corners = [[T::default(); BLOCK]; 4];
            for (i, to) in corners.iter_mut().enumerate() {
                input.read(input.at(&[n, dy.at[i / 2], dx.at[i % 2], begin]), &mut to[..m]);
            }
            let mut made = [T::default(); BLOCK];
            made[..m].iter_mut().enumerate().for_each(|(c, o)| *o = mix(&corners, c, dy.rest, dx.rest));
            out.write(out.at(&[n, y, x, begin]), &made[..m]);
        }
    });
}

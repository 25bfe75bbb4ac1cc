//! Operations of every width against Rust's own arithmetic.

use crate::data::{ULP, equal, float, floats, near, words};
use crate::{Case, Run, case};
use half::f16;

pub fn cases() -> Vec<Case> {
    vec![
        case!("integers", [20, 1, 1], vec![vec![0; 20 * 64 * 28], words(20 * 64 * 2)], integers),
        case!("floats", [20, 1, 1], vec![vec![0; 20 * 64 * 24], float_pairs(20 * 64 * 2)], check_floats),
        case!(
            "functions",
            [20, 1, 1],
            vec![vec![0; 20 * 64 * 20], floats(20 * 64 * 2, -3.0, 3.0)],
            functions,
        ),
        case!("wide_types", [10, 1, 1], vec![vec![0; 10 * 64 * 14 * 2], words(10 * 64 * 4)], wide_types),
        case!("nans", [10, 1, 1], vec![vec![0; 10 * 64 * 24], nan_pairs(10 * 64 * 2)], nans),
        case!(
            "small_types",
            [10, 1, 1],
            vec![vec![0; 10 * 64 * 7], words(10 * 64 / 2), words(10 * 64)],
            small_types,
        ),
    ]
}

/// GLSL's findMSB of a signed value.
fn find_msb(s: i32) -> u32 {
    let bits = if s < 0 { !s } else { s } as u32;
    31u32.wrapping_sub(bits.leading_zeros())
}

fn integers(run: &Run) -> Result<(), String> {
    for (i, pair) in run.inputs[1].chunks_exact(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        let (s, t) = (a as i32, b as i32);
        let n = if b == 0 { 1 } else { b };
        let m = if t == 0 || t == -1 { 3 } else { t };
        let wide = u64::from(a) * u64::from(b);
        let (sum, carry) = a.overflowing_add(b);
        let (difference, borrow) = a.overflowing_sub(b);
        let signed = ((i64::from(s) * i64::from(t)) >> 32) as u32;
        let mask = ((1u32 << 13) - 1) << 7;
        let want: [u32; 28] = [
            sum,
            difference,
            a.wrapping_mul(b),
            a / n,
            a % n,
            s.wrapping_div(m) as u32,
            s.wrapping_rem(m) as u32,
            a << (b & 31),
            a >> (b & 31),
            (s >> (b & 31)) as u32,
            (a & b) ^ (a | !b),
            a.min(b),
            a.max(b),
            s.min(t) as u32,
            s.max(t) as u32,
            s.wrapping_abs() as u32,
            s.signum() as u32,
            if a == 0 { u32::MAX } else { a.trailing_zeros() },
            31u32.wrapping_sub(a.leading_zeros()),
            find_msb(s),
            a.count_ones(),
            a.reverse_bits(),
            (a >> 5) & 0x7ff,
            (((a << 16) as i32) >> 21) as u32,
            (a & !mask) | ((b << 7) & mask),
            (wide >> 32) as u32 ^ wide as u32,
            sum ^ u32::from(carry),
            signed ^ difference ^ u32::from(borrow),
        ];
        for (k, w) in want.iter().enumerate() {
            equal(i, &format!("result {k} of {a:#x}, {b:#x}"), run.output[i * 28 + k], *w)?;
        }
    }
    Ok(())
}

/// Moderate floats, with zeros, infinities and NaN among them.
fn float_pairs(count: usize) -> Vec<u32> {
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let mut list = floats(count, -5000.0, 5000.0);
    for (i, word) in list.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1 || i % 7 == 2) {
        *word = special[i * 31 / 7 % special.len()].to_bits();
    }
    list
}

fn check_floats(run: &Run) -> Result<(), String> {
    for (i, pair) in run.inputs[1].chunks_exact(2).enumerate() {
        let (a, b) = (float(pair[0]), float(pair[1]));
        let out = &run.output[i * 24..][..24];
        let compare = u32::from(a < b)
            | u32::from(a <= b) << 1
            | u32::from(a == b) << 2
            | u32::from(a != b) << 3
            | u32::from(a > b) << 4
            | u32::from(a >= b) << 5
            | u32::from(a.is_nan()) << 6
            | u32::from(a.is_infinite()) << 7;
        // `a != b` is an unordered comparison, the others are ordered.
        equal(i, &format!("comparisons of {a}, {b}"), out[20], compare)?;
        equal(i, "sign flip", out[22], if a.is_nan() { out[22] } else { (-a).to_bits() })?;
        for (k, want) in [(0, a + b), (1, a - b), (2, a * b)] {
            near(i, &format!("result {k} of {a}, {b}"), out[k], f64::from(want), 0.0, 0.0)?;
        }
        near(
            i,
            &format!("int to float of {:#x}", pair[0]),
            out[18],
            f64::from(pair[0] as i32 as f32),
            0.0,
            0.0,
        )?;
        near(i, &format!("uint to float of {:#x}", pair[0]), out[19], f64::from(pair[0] as f32), 0.0, 0.0)?;
        if !a.is_finite() || !b.is_finite() {
            continue;
        }
        let exact = [
            (4, a.floor()),
            (5, a.ceil()),
            (6, a.trunc()),
            (7, a.round_ties_even()),
            (8, a.abs()),
            (9, if a == 0.0 { 0.0 } else { a.signum() }),
            (10, a.min(b)),
            (11, a.max(b)),
            (12, a.clamp(-1.0, 2.0)),
            (13, if b < a { 0.0 } else { 1.0 }),
            (21, a - a.floor()),
        ];
        for (k, want) in exact {
            near(i, &format!("result {k} of {a}, {b}"), out[k], f64::from(want), 0.0, 0.0)?;
        }
        equal(i, &format!("float to int of {a}"), out[16], a as i32 as u32)?;
        equal(i, &format!("float to uint of {a}"), out[17], a.abs() as u32)?;
        let (a, b) = (f64::from(a), f64::from(b));
        if b != 0.0 {
            near(i, &format!("{a} / {b}"), out[3], a / b, 0.0, 2.5 * ULP)?;
        }
        near(i, &format!("sqrt {a}"), out[14], a.abs().sqrt(), 0.0, 3.0 * ULP)?;
        near(i, &format!("inversesqrt {a}"), out[15], 1.0 / (a.abs() + 0.5).sqrt(), 0.0, 3.0 * ULP)?;
        near(i, &format!("mix {a}, {b}"), out[23], a * 0.75 + b * 0.25, 1e-3, 4.0 * ULP)?;
    }
    Ok(())
}

/// Tolerances from the precision table of the specification (precision of GLSL.std.450 instructions), a little wider
/// where it derives one function from others.
fn functions(run: &Run) -> Result<(), String> {
    for (i, pair) in run.inputs[1].chunks_exact(2).enumerate() {
        let (a, b) = (f64::from(float(pair[0])), f64::from(float(pair[1])));
        let u = f64::from(float(pair[0]) * 0.1);
        let p = f64::from(float(pair[0]).abs() + 0.001);
        let trigonometric = 1.0 / 2048.0;
        let logarithm = if (0.5..=2.0).contains(&p) { 1.0 / f64::from(1 << 21) } else { 0.0 };
        let exponential = |x: f64| (3.0 + 2.0 * x.abs()) * ULP;
        let unit = u.clamp(-1.0, 1.0);
        let want: [(f64, f64, f64); 20] = [
            (a.sin(), trigonometric, 0.0),
            (a.cos(), trigonometric, 0.0),
            (u.tan(), 2.0 * trigonometric, 0.0),
            (unit.asin(), 1e-3, 4096.0 * ULP),
            (unit.acos(), 1e-3, 4096.0 * ULP),
            (a.atan(), 0.0, 4096.0 * ULP),
            (a.atan2(b), 0.0, 4096.0 * ULP),
            (u.sinh(), 1e-5, 1e-4),
            (u.cosh(), 1e-5, 1e-4),
            (a.tanh(), 1e-4, 1e-4),
            (a.asinh(), 1e-4, 1e-4),
            ((p + 1.0).acosh(), 1e-3, 1e-3),
            ((u * 0.9).clamp(-0.9, 0.9).atanh(), 1e-4, 1e-4),
            ((u * 8.0).exp(), 0.0, exponential(u * 8.0)),
            (p.ln(), logarithm, 3.0 * ULP),
            ((u * 10.0).exp2(), 0.0, exponential(u * 10.0)),
            (p.log2(), logarithm, 3.0 * ULP),
            (p.powf(b * 0.5), 0.0, 64.0 * ULP),
            ((a * a + b * b + 1.0).sqrt(), 0.0, 8.0 * ULP),
            (((a - b).powi(2) + (b - 1.0).powi(2)).sqrt(), 1e-6, 8.0 * ULP),
        ];
        for (k, (want, absolute, relative)) in want.into_iter().enumerate() {
            near(i, &format!("function {k} of {a}, {b}"), run.output[i * 20 + k], want, absolute, relative)?;
        }
    }
    Ok(())
}

fn wide_types(run: &Run) -> Result<(), String> {
    let wide = |words: &[u32], i: usize| u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32;
    for i in 0..10 * 64 {
        let (a, b) = (wide(&run.inputs[1], 2 * i), wide(&run.inputs[1], 2 * i + 1) | 1);
        let (s, t) = (a as i64, (b >> 1) as i64);
        let t = t.wrapping_add(2);
        let out: Vec<u64> = (0..14).map(|k| wide(run.output, i * 14 + k)).collect();
        let integers = [
            a.wrapping_add(b),
            a.wrapping_mul(b),
            a / b,
            a % b,
            s.wrapping_div(t) as u64,
            a << (b & 63),
            (s >> (b & 63)) as u64,
            u64::from(a < b) | u64::from(s < t) << 1,
        ];
        let wrong =
            |k: usize, want: u64| format!("[{i}] result {k} of {a:#x}, {b:#x}: {:#x}, not {want:#x}", out[k]);
        for (k, want) in integers.into_iter().enumerate() {
            if out[k] != want {
                return Err(wrong(k, want));
            }
        }
        let (d, e) = (s as f64, t as f64);
        let (f, g, h) = (d * e + d, d / e, d.abs().sqrt());
        if out[8] != f.to_bits() {
            return Err(wrong(8, f.to_bits()));
        }
        for (k, want) in [(9, g), (10, h)] {
            if (f64::from_bits(out[k]) - want).abs() > want.abs() * 2.0 * f64::EPSILON {
                return Err(wrong(k, want.to_bits()));
            }
        }
        if out[11] != u64::from(d > 0.0) {
            return Err(wrong(11, u64::from(d > 0.0)));
        }
        let own = f64::from_bits(out[9]);
        if f64::from_bits(out[12]) != own.floor() {
            return Err(wrong(12, own.floor().to_bits()));
        }
        if out[13] as i64 != (own * 0.5) as i64 {
            return Err(wrong(13, (own * 0.5) as i64 as u64));
        }
    }
    Ok(())
}

fn small_types(run: &Run) -> Result<(), String> {
    let byte = |i: usize| (run.inputs[1][i / 4] >> (i % 4 * 8)) as u8;
    let short = |i: usize| (run.inputs[2][i / 2] >> (i % 2 * 16)) as u16;
    for i in 0..10 * 64 {
        let (p, q, u, v) = (byte(2 * i), byte(2 * i + 1), short(2 * i), short(2 * i + 1));
        let (s, t) = (p as i8, q as i8);
        let bytes = [p.wrapping_add(q), p.wrapping_mul(q), (s >> 1) as u8, s.max(t) as u8];
        let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
        let f = f16::from_f32(f32::from(u) * (1.0 / 4096.0));
        let g = f16::from_f32(f32::from(v) * (1.0 / 8192.0) + 0.5);
        let (f32f, f32g) = (f.to_f32(), g.to_f32());
        let (sum, product) = (f16::from_f32(f32f + f32g), f16::from_f32(f32f * f32g));
        let want = [
            u32::from_le_bytes(bytes),
            pair(u.wrapping_mul(v), (u as i16).wrapping_div(7) as u16),
            i32::from(u as i16).wrapping_add(i32::from(s)) as u32,
            pair(sum.to_bits(), product.to_bits()),
            pair(f.to_bits(), g.to_bits()),
            pair(f16::from_f32(f32f.max(f32g)).to_bits(), f16::from_f32(f32f.floor()).to_bits()),
            u32::from(f < g) | u32::from(f == g) << 1,
        ];
        for (k, w) in want.into_iter().enumerate() {
            let what = format!("result {k} of {p:#x}, {q:#x}, {u:#x}, {v:#x}");
            equal(i, &what, run.output[i * 7 + k], w)?;
        }
    }
    Ok(())
}

/// Small floats, and NaN of every kind, zeros and infinities among them.
fn nan_pairs(count: usize) -> Vec<u32> {
    let special =
        [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffa5_5a5a, 0x7fff_ffff, 0x7f80_0000, 0xff80_0000, 0];
    let mut list = floats(count, -4.0, 4.0);
    for (i, word) in list.iter_mut().enumerate().filter(|(i, _)| i % 3 != 0 && i / 32 % 4 != 3) {
        *word = special[i * 7 / 5 % special.len()];
    }
    list
}

/// What floats leave in memory: a NaN that arithmetic made is the quiet one without sign and payload, a copy keeps its
/// bits.
fn nans(run: &Run) -> Result<(), String> {
    const NAN: u32 = 0x7fc0_0000;
    let pair = |i: usize| (float(run.inputs[1][2 * i]), float(run.inputs[1][2 * i + 1]));
    for i in 0..10 * 64 {
        let (a, b) = pair(i);
        let (na, nb) = pair(i ^ 1);
        let out = &run.output[i * 24..][..24];
        let mut looped = a;
        (0..i % 4).for_each(|_| looped = looped * b - a);
        let first = i / 16 * 16;
        let sum: f32 = (first..first + 16).map(|k| pair(k).0).sum();
        let wanted = [
            (0, a + b),
            (1, a * b),
            (2, a - b),
            (3, a / b),
            (4, a.mul_add(b, a)),
            (5, a * b + b),
            (6, -(a + b)),
            (7, if a < b { a * 2.0 } else { a }),
            (9, nb * nb),
            (10, b + a),
            (11, sum),
            (12, na + nb),
            (18, looped),
            (19, a * (i % 32 + 2) as f32),
            (21, a.sqrt()),
        ];
        for (k, want) in wanted {
            let what = format!("result {k} of {a:?}, {b:?}");
            if want.is_nan() {
                equal(i, &what, out[k], NAN)?;
            } else {
                near(i, &what, out[k], f64::from(want), 1e-4, 1e-4)?;
            }
        }
        equal(i, "copy", out[8], a.to_bits())?;
        let half = |x: f32| if x.is_nan() { 0x7e00 } else { u32::from(f16::from_f32(x).to_bits()) };
        equal(i, "packed halves", out[13], half(a + b) | half(a) << 16)?;
        let (ha, hb) = (f16::from_f32(a).to_f32(), f16::from_f32(b).to_f32());
        equal(i, "half bits", out[14], half(ha + hb))?;
        let double = f64::from(a) + f64::from(b);
        let double = if double.is_nan() { 0x7ff8 << 48 } else { double.to_bits() };
        equal(i, "low word of a double", out[15], double as u32)?;
        equal(i, "high word of a double", out[16], (double >> 32) as u32)?;
        if !a.is_finite() {
            equal(i, "exponent", out[17], 0)?;
        }
        let bits = if (a + b).is_nan() { NAN } else { (a + b).to_bits() };
        equal(i, "chosen bits", out[20], if a < b { !bits } else { bits })?;
        for k in [22, 23] {
            if float(out[k]).is_nan() {
                equal(i, "functions", out[k], NAN)?;
            }
        }
        if a.is_nan() {
            equal(i, "functions of NaN", out[23], NAN)?;
        }
    }
    Ok(())
}

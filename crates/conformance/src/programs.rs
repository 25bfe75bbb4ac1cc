//! Small programs: control flow, arrays, structures, packing, out-of-bounds accesses.

use crate::data::{ULP, all_equal, equal, float, floats, near, words};
use crate::{Case, Run, case};
use half::f16;

pub fn cases() -> Vec<Case> {
    vec![
        case!("control", [4, 5, 1], vec![vec![0; 4 * 32 * 5 * 4], words(4 * 32 * 5 * 4)], control),
        case!("arrays", [7, 1, 1], vec![vec![0; 7 * 48 * 16], words(7 * 48 * 16)], arrays),
        case!("matrices", [9, 1, 1], vec![vec![0; 9 * 64 * 12], floats(9 * 64 * 16, -2.0, 2.0)], matrices),
        case!("packing", [9, 1, 1], vec![vec![0; 9 * 64 * 8], words(9 * 64)], packing),
        case!("bounds", [4, 1, 1], vec![vec![0; 256], words(256)], bounds),
        Case {
            push: [3u32, 11].iter().flat_map(|w| w.to_le_bytes()).collect(),
            ..case!("builtins", [3, 2, 2], vec![vec![0; 9 * 10 * 14], words(9 * 10 * 14)], builtins,)
        },
    ]
}

fn collatz(mut n: u32) -> u32 {
    let mut count = 0;
    while n > 1 {
        if count > 300 {
            return 999;
        }
        n = if n & 1 == 0 { n >> 1 } else { n.wrapping_mul(3).wrapping_add(1) };
        count += 1;
    }
    count
}

/// What the shader `control` makes of a number.
pub fn control_of(x: u32) -> u32 {
    let mut v = x;
    let mut s = 0u32;
    for a in 0..v & 15 {
        if (a ^ v) % 5 == 3 {
            continue;
        }
        for b in a..20 {
            if b * a > (v >> 4 & 127) {
                break;
            }
            s += b * 3 + a;
            if s & 1023 == 77 {
                break;
            }
        }
        if s > 4000 {
            break;
        }
    }
    match v % 7 {
        0 => s = s.wrapping_add(1).wrapping_mul(3),
        1 => s = s.wrapping_mul(3),
        2 => s ^= 0x55,
        5 if v & 64 != 0 => s = s.wrapping_add(5),
        5 => s = s.wrapping_sub(9).wrapping_add(100),
        _ => s = s.wrapping_add(100),
    }
    let mut d = 0;
    loop {
        d += v & 3;
        v >>= 2;
        if v == 0 {
            break;
        }
    }
    if d > 30 {
        return d;
    }
    s.wrapping_mul(1000).wrapping_add(d).wrapping_add(collatz((x & 0xffff) + 1))
}

fn control(run: &Run) -> Result<(), String> {
    let want: Vec<u32> = run.inputs[1].iter().map(|x| control_of(*x)).collect();
    all_equal(run.output, &want)
}

fn arrays(run: &Run) -> Result<(), String> {
    let mut want: Vec<u32> = run.inputs[1].iter().map(|x| x % 1000).collect();
    want.chunks_exact_mut(16).for_each(<[u32]>::sort_unstable);
    all_equal(run.output, &want)
}

type Column = [f64; 4];

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn matrices(run: &Run) -> Result<(), String> {
    for (i, words) in run.inputs[1].chunks_exact(16).enumerate() {
        let f: Vec<f64> = words.iter().map(|w| f64::from(float(*w))).collect();
        let m: Vec<Column> = f.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
        let x: Column = [1.0, 2.0, 3.0, 4.0];
        let row = |r: usize| [m[0][r], m[1][r], m[2][r], m[3][r]];
        let v: Column = std::array::from_fn(|r| dot(&row(r), &x) + dot(&x, &m[r]));
        // b.r * mat3(0,s,0, -s,0,0, 0,0,1): its column 1 is -s · column 0 of b.r.
        let spun: [f64; 3] = std::array::from_fn(|r| -0.5 * m[0][r]);
        let p: [f64; 3] = std::array::from_fn(|r| v[r] + spun[r] * f[3]);
        let c = cross(p, [v[3], v[2], v[1]]);
        let col = |k: usize| [m[k][0], m[k][1], m[k][2]];
        let determinant = dot(&col(0), &cross(col(1), col(2)));
        let want = [
            v[0],
            v[1],
            v[2],
            v[3],
            dot(&m[2], &m[1]),
            dot(&m[3], &m[3]),
            m[1][0],
            dot(&p, &p),
            c[0],
            c[1],
            determinant,
            v[0] * c[2],
        ];
        for (k, w) in want.into_iter().enumerate() {
            near(i, &format!("result {k}"), run.output[i * 12 + k], w, 2e-2, 1e-4)?;
        }
    }
    Ok(())
}

fn packing(run: &Run) -> Result<(), String> {
    for (i, a) in run.inputs[1].iter().copied().enumerate() {
        let v = a.to_le_bytes().map(|b| f64::from(b) / 255.0 * 2.0 - 0.5);
        let out = &run.output[i * 8..][..8];
        // A value half-way between two codes may go either way.
        let channel = |k: usize, got: u32, want: f64| {
            let close = (f64::from(got as i32) - want).abs() <= 0.502;
            if close { Ok(()) } else { Err(format!("[{i}] pack {k} of {a:#x}: {got}, not {want}")) }
        };
        for (c, v) in v.into_iter().enumerate() {
            channel(0, u32::from(out[0].to_le_bytes()[c]), v.clamp(0.0, 1.0) * 255.0)?;
            channel(1, out[1].to_le_bytes()[c] as i8 as i32 as u32, v.clamp(-1.0, 1.0) * 127.0)?;
        }
        for c in 0..2 {
            let half = |w: u32| (w >> (16 * c)) as u16;
            channel(2, u32::from(half(out[2])), v[c].clamp(0.0, 1.0) * 65535.0)?;
            channel(3, half(out[3]) as i16 as i32 as u32, v[c + 2].clamp(-1.0, 1.0) * 32767.0)?;
            let got = f64::from(f16::from_bits(half(out[4])).to_f32());
            if (got - v[c] * 100.0).abs() > (v[c] * 100.0).abs() / 1024.0 + 1e-4 {
                return Err(format!("[{i}] packHalf2x16 of {a:#x}: {got}, not {}", v[c] * 100.0));
            }
        }
        equal(i, "there and back", out[5], a)?;
        let high = f16::from_bits(((a & 0x7bff_7bff) >> 16) as u16).to_f32();
        // Half-precision denormals may be flushed.
        near(i, "unpackHalf2x16", out[6], f64::from(high), 6.2e-5, 0.0)?;
        let snorm = (f64::from(a as u16 as i16) / 32767.0).max(-1.0);
        near(i, "unpackSnorm2x16", out[7], snorm, 0.0, 3.0 * ULP)?;
    }
    Ok(())
}

fn bounds(run: &Run) -> Result<(), String> {
    for (i, x) in run.inputs[1].iter().enumerate() {
        let want = if i % 2 == 0 { x.wrapping_add(1) } else { 1 };
        equal(i, "reads outside give zero, writes outside go nowhere", run.output[i], want)?;
    }
    Ok(())
}

fn builtins(run: &Run) -> Result<(), String> {
    for (i, x) in run.inputs[1].iter().enumerate() {
        let i32 = i as u32;
        let g = [i32 % 9, i32 / 9 % 10, i32 / 90];
        let w = [g[0] / 3, g[1] / 5, g[2] / 7];
        let l = [g[0] % 3, g[1] % 5, g[2] % 7];
        let local = l[0] + 3 * (l[1] + 5 * l[2]);
        let want = (local + 1000 * (w[0] + 10 * (w[1] + 10 * w[2]))) * 3 + 11 + 7;
        equal(i, "invocation", run.output[i], want.wrapping_add(*x))?;
    }
    Ok(())
}

//! The benchmark kernels, against plain Rust where that is affordable.

use crate::data::{equal, float, near};
use crate::{Case, Run};
use client::kernels::{self, Sequence, Spec};

pub fn cases() -> Vec<Case> {
    let checks: [(&str, fn(&Run) -> Result<(), String>); 10] = [
        ("mandel", mandel),
        ("saxpy", saxpy),
        ("sgemm", sgemm),
        ("sgemmt", sgemm),
        ("nbody", nbody),
        ("trans", trans),
        ("lut", lut),
        ("march", march),
        ("med", finite),
        ("large", any),
    ];
    checks.into_iter().map(|(name, check)| case(kernels::find(name).expect("a kernel"), check)).collect()
}

fn case(spec: &'static Spec, check: fn(&Run) -> Result<(), String>) -> Case {
    // The inputs of the benches; saxpy's are cut to what one dispatch covers.
    let (groups, limit) =
        if spec.groups[0] > 4096 { ([4096, 1, 1], 4 << 20) } else { (spec.groups, usize::MAX) };
    let mut random = Sequence::new();
    let inputs = spec
        .buffers
        .iter()
        .map(|size| {
            let words = 0..size.min(&limit) / 4;
            words.map(|_| if spec.raw { random.word() } else { random.unit().to_bits() }).collect()
        })
        .collect();
    Case { name: spec.name, spirv: spec.spirv, groups, push: spec.push(), inputs, check }
}

fn mandel(run: &Run) -> Result<(), String> {
    let mut different = 0;
    for (i, got) in run.output.iter().enumerate() {
        let cx = (i % 1024) as f32 * (3.0 / 1024.0) - 2.25;
        let cy = (i / 1024) as f32 * (2.5 / 1024.0) - 1.25;
        let (mut x, mut y) = (0.0f32, 0.0f32);
        let mut count = 0;
        while count < 256 {
            let (x2, y2) = (x * x, y * y);
            if x2 + y2 > 4.0 {
                break;
            }
            (y, x) = (2.0 * x * y + cy, x2 - y2 + cx);
            count += 1;
        }
        different += usize::from(count != *got);
    }
    // Fused and unfused arithmetic part ways on the border of the set.
    let share = different as f64 / run.output.len() as f64;
    if share < 0.01 { Ok(()) } else { Err(format!("{:.2} % of the counts are different", share * 100.0)) }
}

fn saxpy(run: &Run) -> Result<(), String> {
    let (y, x) = (&run.inputs[0], &run.inputs[1]);
    for i in 0..x.len() {
        let want = 0.5 * f64::from(float(x[i])) + 0.25 * f64::from(float(y[i]));
        near(i, "saxpy", run.output[i], want, 0.0, 2e-7)?;
    }
    Ok(())
}

fn sgemm(run: &Run) -> Result<(), String> {
    const N: usize = 512;
    let (a, b) = (&run.inputs[1], &run.inputs[2]);
    for i in (0..N * N).step_by(97) {
        let (r, c) = (i / N, i % N);
        let sum: f64 = (0..N).map(|k| f64::from(float(a[r * N + k])) * f64::from(float(b[k * N + c]))).sum();
        near(i, "product", run.output[i], sum, 0.0, 1e-5)?;
    }
    Ok(())
}

fn nbody(run: &Run) -> Result<(), String> {
    let body = |i: usize| -> [f64; 4] { std::array::from_fn(|c| f64::from(float(run.inputs[1][i * 4 + c]))) };
    for i in (0..4096).step_by(61) {
        let p = body(i);
        let mut a = [0.0; 3];
        for j in 0..4096 {
            let q = body(j);
            let d: [f64; 3] = std::array::from_fn(|c| q[c] - p[c]);
            let r2 = d.iter().map(|d| d * d).sum::<f64>() + 0.01;
            let pull = q[3] / (r2 * r2.sqrt());
            (0..3).for_each(|c| a[c] += d[c] * pull);
        }
        for (c, a) in a.into_iter().enumerate() {
            near(i, "acceleration", run.output[i * 4 + c], a, 0.5, 1e-3)?;
        }
        equal(i, "fourth component", run.output[i * 4 + 3], 0)?;
    }
    Ok(())
}

fn trans(run: &Run) -> Result<(), String> {
    for i in (0..run.output.len()).step_by(53) {
        let mut v = f64::from(float(run.inputs[1][i]));
        let mut s = 0.0;
        for _ in 0..16 {
            let d = (v.sin().exp() + 0.5).powf(1.3) + 0.1;
            let d = d.ln();
            s += d;
            v = v * 0.9 + d;
        }
        // Each round's error is carried on into the next one's argument.
        near(i, "sum", run.output[i], s, 2e-2, 2e-3)?;
    }
    Ok(())
}

fn lut(run: &Run) -> Result<(), String> {
    let table = &run.inputs[1];
    for i in (0..run.output.len()).step_by(7) {
        let mut v = (i as u32).wrapping_mul(2654435761);
        for k in 0..64 {
            let at = v.wrapping_add(k) & 4095;
            let byte = (table[(at >> 2) as usize] >> ((at & 3) * 8)) & 255;
            v = v.wrapping_mul(33) ^ byte;
        }
        equal(i, "hash", run.output[i], v)?;
    }
    Ok(())
}

/// The picture: opaque, the sky a gradient that is known, and in the middle something else than sky.
fn march(run: &Run) -> Result<(), String> {
    let side = kernels::MARCH_SIDE as usize;
    let sky = |y: usize| {
        let v = (y as f32 - 256.0) / 256.0;
        [0.2f32, 0.3, 0.5].map(|c| (c * (1.0 - v)).clamp(0.0, 1.0).sqrt() * 255.0)
    };
    let off = |x: usize, y: usize| {
        let got = run.output[y * side + x].to_le_bytes();
        (0..3).map(|c| (f32::from(got[c]) - sky(y)[c]).abs()).fold(0.0, f32::max)
    };
    if let Some(i) = run.output.iter().position(|w| w >> 24 != 255) {
        return Err(format!("pixel {i} is not opaque"));
    }
    for (x, y) in [(2, 500), (509, 400), (2, 300), (509, 300)] {
        if off(x, y) > 1.5 {
            return Err(format!("the sky at {x}, {y} is {:#x}", run.output[y * side + x]));
        }
    }
    if off(256, 256) < 8.0 { Err("no ball in the middle".into()) } else { Ok(()) }
}

/// Some numbers, whichever: the same ones on every level and thread count, which the test sees to.
fn finite(run: &Run) -> Result<(), String> {
    let written = run.output.iter().zip(&run.inputs[0]).filter(|(a, b)| a != b).count();
    if written < run.output.len() / 2 { Err(format!("only {written} words were written")) } else { Ok(()) }
}

/// NaN on every engine, by its nature.
fn any(run: &Run) -> Result<(), String> {
    finite(run)
}

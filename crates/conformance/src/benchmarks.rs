//! The benchmark kernels, against plain Rust where that is affordable.

use crate::data::{equal, float, near};
use crate::{Case, Run};
use client::kernels::{self, Spec};
use random::Random;

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
    let kernel = |name| kernels::find(name).expect("a kernel");
    let mut all: Vec<_> = checks.into_iter().map(|(name, check)| case(kernel(name), check)).collect();
    // The same modules with NoContraction on every float addition and multiplication: then nothing is fused, and
    // every word must be what Rust makes of it.
    all.push(Case {
        name: "mandel_precise",
        spirv: include_bytes!("../shaders/mandel_precise.spv"),
        ..case(kernel("mandel"), |run| mandel_differs_by(run, 0.0))
    });
    all.push(Case {
        name: "march_precise",
        spirv: include_bytes!("../shaders/march_precise.spv"),
        ..case(kernel("march"), |run| march_differs_by(run, 0.0))
    });
    all
}

fn case(spec: &'static Spec, check: fn(&Run) -> Result<(), String>) -> Case {
    // The inputs of the benches; saxpy's are cut to what one dispatch covers.
    let (groups, limit) =
        if spec.groups[0] > 4096 { ([4096, 1, 1], 4 << 20) } else { (spec.groups, usize::MAX) };
    let mut random = Random::default();
    let inputs = spec
        .buffers
        .iter()
        .map(|size| {
            let words = 0..size.min(&limit) / 4;
            words.map(|_| if spec.raw { random.u32() } else { random.unit().to_bits() }).collect()
        })
        .collect();
    Case { name: spec.name, spirv: spec.spirv, groups, push: spec.push(), inputs, check }
}

/// Fused and unfused arithmetic part ways on the border of the set.
fn mandel(run: &Run) -> Result<(), String> {
    mandel_differs_by(run, 0.0025)
}

/// At most a share of `limit` of the counts is not Rust's.
fn mandel_differs_by(run: &Run, limit: f64) -> Result<(), String> {
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
    let share = different as f64 / run.output.len() as f64;
    if share <= limit { Ok(()) } else { Err(format!("{:.2} % of the counts are different", share * 100.0)) }
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

type V3 = [f32; 3];

fn dot(a: V3, b: V3) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn scaled(a: V3, s: f32) -> V3 {
    a.map(|x| x * s)
}

fn plus(a: V3, b: V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn normalized(a: V3) -> V3 {
    scaled(a, 1.0 / dot(a, a).sqrt())
}

fn fract(x: f32) -> f32 {
    x - x.floor()
}

fn mix(a: f32, b: f32, t: f32) -> f32 {
    a * (1.0 - t) + b * t
}

#[expect(clippy::approx_constant, reason = "the number is the shader's")]
fn noise(x: V3) -> f32 {
    let hash = |p: V3| {
        let p = p.map(|c| fract(c * 0.3183099 + 0.1) * 17.0);
        fract(p[0] * p[1] * p[2] * (p[0] + p[1] + p[2]))
    };
    let i = x.map(f32::floor);
    let f = x.map(fract).map(|f| f * f * (3.0 - 2.0 * f));
    let at = |x: f32, y: f32, z: f32| hash(plus(i, [x, y, z]));
    let side = |z| {
        mix(mix(at(0.0, 0.0, z), at(1.0, 0.0, z), f[0]), mix(at(0.0, 1.0, z), at(1.0, 1.0, z), f[0]), f[1])
    };
    mix(side(0.0), side(1.0), f[2])
}

fn distance(p: V3) -> f32 {
    let mut d = dot(p, p).sqrt() - 1.0;
    if d < 0.4 {
        let (mut a, mut q) = (0.5, scaled(p, 3.0));
        for _ in 0..3 {
            d -= a * 0.2 * noise(q);
            q = scaled(q, 2.03);
            a *= 0.5;
        }
    }
    d.min(p[1] + 1.2)
}

/// march.comp in Rust, without fused operations.
fn march_pixel(x: usize, y: usize) -> [f32; 3] {
    let (u, v) = ((x as f32 - 256.0) / 256.0, (y as f32 - 256.0) / 256.0);
    let (origin, ray) = ([0.0, 0.0, -3.0], normalized([u, v, 1.6]));
    let at = |t: f32| plus(origin, scaled(ray, t));
    let mut t = 0.0;
    let mut hit = false;
    for _ in 0..64 {
        let d = distance(at(t));
        if d < 0.002 {
            hit = true;
            break;
        }
        t += d * 0.8;
        if t > 20.0 {
            break;
        }
    }
    let mut colour = scaled([0.2, 0.3, 0.5], 1.0 - v);
    if hit {
        let p = at(t);
        let slope = |e: V3| distance(plus(p, e)) - distance(plus(p, scaled(e, -1.0)));
        let n = normalized([slope([0.01, 0.0, 0.0]), slope([0.0, 0.01, 0.0]), slope([0.0, 0.0, 0.01])]);
        let l = normalized([0.6, 0.7, -0.5]);
        let mirrored = plus(ray, scaled(n, -2.0 * dot(n, ray)));
        let light = dot(mirrored, l).max(0.0).powf(16.0) + 0.05;
        colour = plus(scaled([0.9, 0.7, 0.5], dot(n, l).max(0.0)), [light; 3]);
    }
    colour.map(|c| c.clamp(0.0, 1.0).sqrt() * 255.0)
}

/// A fused operation's last bit makes another bump of the noise: it takes the fraction of products that reach 250 000,
/// where the last place of a float is 1/64. So 1.5 % of the pixels differ; without fusion (`march_precise`) none.
fn march(run: &Run) -> Result<(), String> {
    march_differs_by(run, 0.02)
}

/// The picture, every third pixel of every third row: at most a share of `limit` is not Rust's.
fn march_differs_by(run: &Run, limit: f64) -> Result<(), String> {
    let side = kernels::MARCH_SIDE as usize;
    let (mut pixels, mut different) = (0, 0);
    for (x, y) in (0..side).step_by(3).flat_map(|y| (0..side).step_by(3).map(move |x| (x, y))) {
        let got = run.output[y * side + x].to_le_bytes();
        if got[3] != 255 {
            return Err(format!("pixel {x}, {y} is not opaque"));
        }
        let want = march_pixel(x, y);
        pixels += 1;
        different += usize::from((0..3).any(|c| (f32::from(got[c]) - want[c]).abs() > 3.0));
    }
    let share = f64::from(different as u32) / f64::from(pixels);
    if share <= limit { Ok(()) } else { Err(format!("{:.2} % of the pixels are different", share * 100.0)) }
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

//! The benchmark shaders from SPIR-V, against plain Rust; and the same bits on every level and wave width.

use crate::common::levels;
use crate::spirv::*;
use simd::Level;
use wave::Worker;

fn kernel(name: &str) -> &'static Kernel {
    KERNELS.iter().find(|k| k.name == name).unwrap()
}

/// Runs a kernel with `groups` on one level; buffers before and after.
fn go(k: &Kernel, groups: [u32; 3], level: Level, lanes: Option<u32>) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let p = compile(&load(&k.path()), lanes).unwrap_or_else(|e| panic!("{}: {e}", k.name));
    let before = k.memory();
    let mut after = before.clone();
    run(&mut Worker::new(level), &p, &mut after, k.push, groups, 1);
    (before, after)
}
fn f(x: u32) -> f32 {
    f32::from_bits(x)
}
#[track_caller]
fn close(got: u32, want: f32, tolerance: f32, what: &str) {
    let got = f(got);
    assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "{what}: {got}, expected {want}");
}

#[test]
fn mandel() {
    let k = kernel("mandel");
    for level in levels() {
        let (_, out) = go(k, [64, 8, 1], level, None);
        let mut differ = 0;
        for y in 0..128u32 {
            for x in 0..1024u32 {
                let (cx, cy) = (x as f32 * (3.0 / 1024.0) - 2.25, y as f32 * (2.5 / 1024.0) - 1.25);
                let (mut a, mut b, mut i) = (0.0f32, 0.0f32, 0);
                while i < 256 && a * a + b * b <= 4.0 {
                    (a, b) = (a * a - b * b + cx, 2.0 * a * b + cy);
                    i += 1;
                }
                differ += (out[0][(y * 1024 + x) as usize] != i) as u32;
            }
        }
        // Fusion of multiply and add moves the last bit, and with it the count of points at the border.
        assert!(differ < 100, "{differ} of 131072 points differ");
    }
}

#[test]
fn saxpy() {
    let k = kernel("saxpy");
    for level in levels() {
        let (a, b) = go(k, [40, 1, 1], level, None);
        for i in 0..40 * 256 {
            close(b[0][i], 0.5 * f(a[1][i]) + 0.25 * f(a[0][i]), 1e-6, "saxpy");
        }
        assert_eq!(a[0][40 * 256..], b[0][40 * 256..], "words that no invocation owns");
        assert_eq!(a[1], b[1]);
    }
}

#[test]
fn matrix_products() {
    for name in ["sgemm", "sgemmt"] {
        let k = kernel(name);
        for level in levels() {
            // Two rows of tiles.
            let (a, b) = go(k, [32, 2, 1], level, None);
            for r in (0..32).step_by(5) {
                for c in (0..512).step_by(3) {
                    let sum: f64 =
                        (0..512).map(|i| f(a[1][r * 512 + i]) as f64 * f(a[2][i * 512 + c]) as f64).sum();
                    close(b[0][r * 512 + c], sum as f32, 1e-5, name);
                }
            }
        }
    }
}

#[test]
fn lut() {
    let k = kernel("lut");
    for level in levels() {
        let (a, b) = go(k, [9, 1, 1], level, None);
        let byte = |i: u32| a[1][(i >> 2) as usize] >> ((i & 3) * 8) & 255;
        for i in 0..9 * 256u32 {
            let mut v = i.wrapping_mul(2654435761);
            for j in 0..64 {
                v = v.wrapping_mul(33) ^ byte(v.wrapping_add(j) & 4095);
            }
            assert_eq!(b[0][i as usize], v, "invocation {i}");
        }
    }
}

/// No host, wave width or packing changes a result.
#[test]
fn same_bits_everywhere() {
    for (name, groups) in [
        ("nbody", [2, 1, 1]),
        ("trans", [20, 1, 1]),
        ("march", [32, 3, 1]),
        ("med", [7, 1, 1]),
        ("mandel", [64, 1, 1]),
        ("sgemmt", [32, 1, 1]),
    ] {
        let k = kernel(name);
        let want = go(k, groups, Level::PORTABLE, Some(64)).1;
        assert!(want != k.memory(), "{name} writes something");
        for level in levels() {
            for lanes in [64, 128, 256] {
                let got = go(k, groups, level, Some(lanes)).1;
                for (i, (&g, &w)) in got[0].iter().zip(&want[0]).enumerate() {
                    // NaNs may differ in sign and payload.
                    let same = g == w || f(g).is_nan() && f(w).is_nan();
                    assert!(same, "{name} on {level:?}, {lanes} lanes, word {i}: {g:#x}, expected {w:#x}");
                }
            }
        }
    }
}

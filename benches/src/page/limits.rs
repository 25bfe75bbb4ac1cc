//! What this machine can do at most, measured in the same run: multiplications and additions of registers, bytes of memory.

use client::kernels;
use client::measure::{Moment, min};
use client::pictures::SIZE;

/// A limit, and how near a row of the tables comes to it.
pub struct Limit {
    /// The kernel or picture.
    pub row: &'static str,
    pub what: &'static str,
    /// Seconds of one thread that the machine takes for the same flops or bytes.
    pub seconds: f64,
    /// The rate it is.
    pub rate: f64,
    pub unit: &'static str,
}

/// Rounds of each measurement, of which the best counts.
const ROUNDS: usize = 9;

/// The limits of one thread.
pub fn measure() -> Vec<Limit> {
    let kernel = |name| kernels::find(name).expect("it is one of the kernels");
    let peak = flops();
    // Of square matrices of this side.
    let side = f64::from(kernel("sgemm").n.unwrap_or(0));
    let gemm = 2.0 * side * side * side;
    // Vectors of floats.
    let [out, input] = [0, 1].map(|i| kernel("saxpy").buffers[i]);
    let axpy = best((vec![0.5f32; input / 4], vec![0.25f32; out / 4]), |(x, y)| {
        for (y, x) in y.iter_mut().zip(x.iter()) {
            *y += 2.5 * *x;
        }
    });
    let pixels = (SIZE[0] * SIZE[1]) as usize;
    let fill = best(vec![0u32; pixels], |image| {
        let colour = std::hint::black_box(0x1234_5678);
        image.fill(colour);
    });
    let of_gemm =
        |row| Limit { row, what: "multiply-adds", seconds: gemm / peak, rate: peak / 1e9, unit: "GFLOP/s" };
    // What is added to is read too.
    let bytes = (2 * out + input) as f64;
    let of_fill = |row| Limit {
        row,
        what: "the image's bytes, written once",
        seconds: fill,
        rate: (4 * pixels) as f64 / fill / 1e9,
        unit: "GB/s",
    };
    vec![
        Limit {
            row: "saxpy",
            what: "bytes read and written",
            seconds: axpy,
            rate: bytes / axpy / 1e9,
            unit: "GB/s",
        },
        of_gemm("sgemm"),
        of_gemm("sgemmt"),
        of_fill("flat-bare"),
        of_fill("tex-bare"),
    ]
}

/// The CPU time that `work` takes at least.
fn best<T>(mut state: T, mut work: impl FnMut(&mut T)) -> f64 {
    let times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Moment::now();
            work(&mut state);
            std::hint::black_box(&mut state);
            start.elapsed().cpu
        })
        .collect();
    min(&times)
}

/// Independent chains of fused multiply-adds: enough to hide their latency (4 cycles, two a cycle) at any width.
const CHAINS: usize = 12;
const STEPS: usize = 1 << 20;

/// Floating-point operations a second of one thread, two a multiply-add.
fn flops() -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the CPU has it, as was just asked.
            return rate(16, |s| unsafe { chains_avx512(s) });
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the CPU has both, as was just asked.
            return rate(8, |s| unsafe { chains_avx2(s) });
        }
    }
    rate(4, chains4)
}

fn rate(lanes: usize, work: fn(f32) -> f32) -> f64 {
    let seconds = best(0.0f32, |sum| *sum += work(std::hint::black_box(1.000_001)));
    (2 * lanes * CHAINS * STEPS) as f64 / seconds
}

/// The chains' ends, each of [`STEPS`] links.
#[inline(always)]
fn chains<V: Copy>(first: V, link: impl Fn(V) -> V) -> [V; CHAINS] {
    let mut ends = [first; CHAINS];
    for _ in 0..STEPS {
        ends = ends.map(&link);
    }
    ends
}

/// Without vectors of more than four, and without fused operations: two instructions, not one.
fn chains4(scale: f32) -> f32 {
    chains([1.0f32; 4], |end| end.map(|lane| lane * scale + 0.5)).iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn chains_avx512(scale: f32) -> f32 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps};
    let (scale, half) = (_mm512_set1_ps(scale), _mm512_set1_ps(0.5));
    let ends = chains(_mm512_set1_ps(1.0), |end| _mm512_fmadd_ps(end, scale, half));
    ends.into_iter().map(|end| _mm512_reduce_add_ps(end)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn chains_avx2(scale: f32) -> f32 {
    use std::arch::x86_64::{_mm256_cvtss_f32, _mm256_fmadd_ps, _mm256_set1_ps};
    let (scale, half) = (_mm256_set1_ps(scale), _mm256_set1_ps(0.5));
    let ends = chains(_mm256_set1_ps(1.0), |end| _mm256_fmadd_ps(end, scale, half));
    ends.into_iter().map(|end| _mm256_cvtss_f32(end)).sum()
}

//! VK_KHR_cooperative_matrix: whole products. Sums of floats are one fused multiply–add for each k, ascending; integers are exact, and
//! wrap or are held to their range.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::compute::KernelInfo;
use client::cooperative::{Element, Gemm};
use client::{Buffer, Kernel};
use half::{bf16, f16};
use random::Random;

pub fn checks() -> Vec<Check> {
    let of = ash::khr::cooperative_matrix::NAME;
    vec![
        Check { name: "products_of_floats", of, run: floats },
        Check { name: "products_of_bytes", of, run: bytes },
    ]
}

const SIZES: [u32; 3] = [32, 64, 48];

/// Rows and columns of the device's matrices.
const SIDES: [u32; 2] = [16, 8];

fn gemm(side: u32, left: Element, right: Element, sum: Element, by_column: bool) -> Gemm {
    let [m, n, k] = SIZES;
    Gemm {
        left,
        right,
        sum,
        m,
        n,
        k,
        side,
        tiles: [1, 2],
        subgroups: [2, 1],
        subgroup: 16,
        by_column,
        saturates: false,
    }
}

/// What C holds, for the bytes of A (by rows) and B (by rows or columns).
fn product(rig: &Rig, g: &Gemm, a: &[u8], b: &[u8]) -> Result<Vec<u8>, String> {
    let spirv: Vec<u8> = g.spirv().iter().flat_map(|w| w.to_le_bytes()).collect();
    let kernel =
        Kernel::new(&rig.context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 }).map_err(text)?;
    let (a, b) = (Buffer::with(&rig.context, a).map_err(text)?, Buffer::with(&rig.context, b).map_err(text)?);
    let c = Buffer::new(&rig.context, (g.m * g.n) as usize * g.sum.bytes()).map_err(text)?;
    let commands = kernel.record(&[&a, &b, &c], &[], &[([0; 3], g.groups())]).map_err(text)?;
    rig.context.submit_and_wait(commands).map_err(text)?;
    Ok(c.bytes().to_vec())
}

/// Rows as columns.
fn turned<T: Copy>(g: &Gemm, b: &[T]) -> Vec<T> {
    let (n, k) = (g.n as usize, g.k as usize);
    (0..n * k).map(|i| b[i % k * n + i / k]).collect()
}

/// Elements in memory, of numbers that the format has.
fn stored(e: Element, v: &[f32]) -> Vec<u8> {
    let bytes = |x: &f32| match e {
        Element::F16 => f16::from_f32(*x).to_bits().to_le_bytes().to_vec(),
        Element::Bf16 => bf16::from_f32(*x).to_bits().to_le_bytes().to_vec(),
        _ => x.to_bits().to_le_bytes().to_vec(),
    };
    v.iter().flat_map(bytes).collect()
}

fn rounded(e: Element, x: f32) -> f32 {
    match e {
        Element::F16 => f16::from_f32(x).to_f32(),
        Element::Bf16 => bf16::from_f32(x).to_f32(),
        _ => x,
    }
}

fn floats(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut all = Vec::new();
    let kinds = [
        (Element::F32, Element::F32),
        (Element::F16, Element::F32),
        (Element::F16, Element::F16),
        (Element::Bf16, Element::F32),
        (Element::Bf16, Element::Bf16),
    ];
    for (side, (of, sum)) in SIDES.into_iter().flat_map(|side| kinds.map(|k| (side, k))) {
        for by_column in [false, true] {
            let g = gemm(side, of, of, sum, by_column);
            let [m, n, k] = SIZES.map(|s| s as usize);
            let mut some = |count: usize| -> Vec<f32> {
                (0..count).map(|_| rounded(of, random.u32() as i32 as f32 / 2f32.powi(30))).collect()
            };
            let (a, b) = (some(m * k), some(k * n));
            let in_memory = if by_column { turned(&g, &b) } else { b.clone() };
            let got = product(rig, &g, &stored(of, &a), &stored(of, &in_memory))?;
            let mut want = Vec::new();
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                // An instruction is a product of two matrices, whose result is rounded to the type of the sums.
                let side = side as usize;
                let step = |sum_: f32, first: usize| {
                    let all = (first..first + side).fold(sum_, |s, l| a[i * k + l].mul_add(b[l * n + j], s));
                    rounded(sum, all)
                };
                want.push((0..k).step_by(side).fold(0.0, step));
            }
            if got != stored(sum, &want) {
                let differ = got.iter().zip(stored(sum, &want)).filter(|(a, b)| **a != *b).count();
                return Err(format!(
                    "{side}: {of:?} to {sum:?}, by column: {by_column}: {differ} bytes differ"
                ));
            }
            all.extend(got);
        }
    }
    found(&all)
}

fn bytes(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut all = Vec::new();
    let kinds = [
        (Element::S8, Element::S8, Element::S32),
        (Element::U8, Element::U8, Element::U32),
        (Element::S8, Element::U8, Element::S32),
        (Element::U8, Element::S8, Element::S32),
    ];
    for (side, (left, right, sum)) in SIDES.into_iter().flat_map(|side| kinds.map(|k| (side, k))) {
        for (by_column, saturates) in [(false, false), (true, false), (false, true)] {
            let g = Gemm { saturates, ..gemm(side, left, right, sum, by_column) };
            let [m, n, k] = SIZES.map(|s| s as usize);
            // Extremes among them.
            let mut some = |count: usize| -> Vec<u8> {
                let byte = |r: u32| if r & 0x300 == 0 { 0x80 } else { r as u8 };
                (0..count).map(|_| byte(random.u32() >> 8)).collect()
            };
            let (a, b) = (some(m * k), some(k * n));
            let in_memory = if by_column { turned(&g, &b) } else { b.clone() };
            let got = product(rig, &g, &a, &in_memory)?;
            let number = |e: Element, x: u8| if e == Element::S8 { x as i8 as i64 } else { x as i64 };
            let mut want = Vec::new();
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: i64 = (0..k).map(|l| number(left, a[i * k + l]) * number(right, b[l * n + j])).sum();
                want.extend((sum as i32).to_le_bytes());
            }
            if got != want {
                let differ = got.iter().zip(&want).filter(|(a, b)| a != b).count();
                return Err(format!(
                    "{side}: {left:?} · {right:?}, by column: {by_column}: {differ} bytes differ"
                ));
            }
            all.extend(got);
        }
    }
    found(&all)
}

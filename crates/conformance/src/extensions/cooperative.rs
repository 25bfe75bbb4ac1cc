//! VK_KHR_cooperative_matrix: whole products. Sums of floats are one fused multiply–add for each k, ascending; integers are exact, and
//! wrap or are held to their range.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::compute::KernelInfo;
use client::cooperative::{Element, Gemm, Step};
use client::{Buffer, Kernel};
use half::{bf16, f16};
use random::Random;

pub fn checks() -> Vec<Check> {
    let of = ash::khr::cooperative_matrix::NAME;
    vec![
        Check { name: "products_of_floats", of, run: floats },
        Check { name: "products_of_bytes", of, run: bytes },
        Check { name: "products_in_any_order", of, run: mixed },
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
    computed(rig, g, &g.spirv(), a, b)
}

fn computed(rig: &Rig, g: &Gemm, spirv: &[u32], a: &[u8], b: &[u8]) -> Result<Vec<u8>, String> {
    let spirv: Vec<u8> = spirv.iter().flat_map(|w| w.to_le_bytes()).collect();
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

const SIDE: usize = 16;
type Tile = [[f64; SIDE]; SIDE];

/// Products that follow each other, of matrices and sums that some of them share, read and write again.
fn mixed(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut all = Vec::new();
    let kinds = [(Element::F32, Element::F32), (Element::F16, Element::F16), (Element::S8, Element::S32)];
    for round in 0..45 {
        let (of, sum) = kinds[round % kinds.len()];
        let mut below = |n: usize| random.u32() as usize % n;
        let (down, along) = (1 + below(4), 1 + below(4));
        let g = Gemm {
            m: (SIDE * down) as u32,
            n: (SIDE * along) as u32,
            k: 3 * SIDE as u32,
            tiles: [down as u32, along as u32],
            subgroups: [1, 1],
            ..gemm(SIDE as u32, of, of, sum, false)
        };
        let steps: Vec<Step> = (0..1 + below(40))
            .map(|_| {
                let to = below(down * along);
                let from = if below(3) == 0 { below(down * along) } else { to };
                Step { to, left: below(down), right: below(along), from }
            })
            .collect();
        let [m, n, k] = [g.m, g.n, g.k].map(|s| s as usize);
        let mut some = |count: usize| -> Vec<f32> {
            let number = |r: u32| match of {
                Element::S8 => (r >> 24) as i8 as f32,
                _ => rounded(of, r as i32 as f32 / 2f32.powi(33)),
            };
            (0..count).map(|_| number(random.u32())).collect()
        };
        let (a, b) = (some(m * k), some(k * n));
        let bytes = |v: &[f32]| match of {
            Element::S8 => v.iter().map(|x| *x as i8 as u8).collect(),
            _ => stored(of, v),
        };
        let got = computed(rig, &g, &g.spirv_of(&steps), &bytes(&a), &bytes(&b))?;
        let mut sums: Vec<Tile> = vec![[[0.0; SIDE]; SIDE]; down * along];
        for block in 0..k / SIDE {
            for s in &steps {
                let mut tile = sums[s.from];
                for (i, row) in tile.iter_mut().enumerate() {
                    for (j, x) in row.iter_mut().enumerate() {
                        for l in SIDE * block..SIDE * (block + 1) {
                            let (a, b) = (a[(s.left * SIDE + i) * k + l], b[l * n + s.right * SIDE + j]);
                            *x = match sum {
                                Element::S32 => (*x as i64 as i32).wrapping_add(a as i32 * b as i32) as f64,
                                _ => a.mul_add(b, *x as f32) as f64,
                            };
                        }
                        if sum == Element::F16 {
                            *x = rounded(sum, *x as f32) as f64;
                        }
                    }
                }
                sums[s.to] = tile;
            }
        }
        let mut want = Vec::new();
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let x = sums[i / SIDE * along + j / SIDE][i % SIDE][j % SIDE];
            match sum {
                Element::S32 => want.extend((x as i64 as i32).to_le_bytes()),
                _ => want.extend(stored(sum, &[x as f32])),
            }
        }
        if got != want {
            let differ = got.iter().zip(&want).filter(|(a, b)| a != b).count();
            return Err(format!("round {round}, {of:?}: {differ} bytes differ: {steps:?}"));
        }
        all.extend(got);
    }
    found(&all)
}

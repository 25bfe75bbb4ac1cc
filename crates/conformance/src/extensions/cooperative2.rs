//! VK_NV_cooperative_matrix2: what becomes of each element, by the formulas of SPV_NV_cooperative_matrix2. All numbers are small, so that
//! no order of operations makes a difference.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::compute::KernelInfo;
use client::{Buffer, Kernel};

const MATRICES: &[u8] = include_bytes!("../../shaders/matrices/matrices.spv");
/// The same, of a workgroup of eight subgroups.
const WORKGROUP: &[u8] = include_bytes!("../../shaders/matrices/workgroup.spv");
const TENSORS: &[u8] = include_bytes!("../../shaders/matrices/tensors.spv");

/// Numbers that a shader has for each result.
const PART: usize = 1024;

pub fn checks() -> Vec<Check> {
    let of = super::rig::COOPERATIVE_MATRIX2;
    vec![
        Check { name: "changes_of_matrices", of, run: |rig| matrices(rig, MATRICES) },
        Check { name: "changes_of_a_workgroups_matrices", of, run: of_workgroups },
        Check { name: "matrices_in_tensors", of, run: tensors },
    ]
}

fn numbers() -> Vec<f32> {
    (0..PART).map(|i| (i * 7 % 23) as f32).collect()
}

fn bytes(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// What the shader leaves in the output.
fn run(rig: &Rig, spirv: &[u8], inputs: [&[u8]; 2], push: &[u8]) -> Result<Vec<f32>, String> {
    let [first, last] = inputs;
    let bindings = if last.is_empty() { 2 } else { 3 };
    let info = KernelInfo { spirv, bindings, push_size: push.len() as u32 };
    let kernel = Kernel::new(&rig.context, &info).map_err(text)?;
    let a = Buffer::with(&rig.context, first).map_err(text)?;
    let out = Buffer::with(&rig.context, &bytes(&vec![0.0; 9 * PART])).map_err(text)?;
    let mut buffers = vec![&a, &out];
    let packed = Buffer::with(&rig.context, if last.is_empty() { &[0; 4] } else { last }).map_err(text)?;
    buffers.extend((!last.is_empty()).then_some(&packed));
    let commands = kernel.record(&buffers, push, &[([0; 3], [1; 3])]).map_err(text)?;
    rig.context.submit_and_wait(commands).map_err(text)?;
    let words = out.bytes().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")));
    Ok(words.collect())
}

/// A result of so many rows and columns at a part of the output.
fn compare(
    name: &str,
    out: &[f32],
    part: usize,
    [rows, columns]: [usize; 2],
    want: impl Fn(usize, usize) -> f32,
) -> Result<(), String> {
    for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        let (got, want) = (out[part * PART + r * columns + c], want(r, c));
        if got != want {
            return Err(format!("{name}: row {r}, column {c} is {got}, not {want}"));
        }
    }
    Ok(())
}

fn matrices(rig: &Rig, spirv: &[u8]) -> Found {
    let a = numbers();
    let m = |r: usize, c: usize| a[16 * r + c];
    let n = |r: usize, c: usize| a[32 * r + c];
    let out = run(rig, spirv, [&bytes(&a), &[]], &[])?;
    compare("another use", &out, 0, [32, 16], m)?;
    compare("columns as rows", &out, 1, [16, 32], |r, c| m(c, r))?;
    let product = |r: usize, c: usize| n(r, c) + (0..16).map(|k| m(r, k) * m(c, k)).sum::<f32>();
    compare("their product", &out, 2, [32, 32], product)?;
    let placed = |r: usize, c: usize| match m(r, c) {
        x if x < 8.0 => 0.5,
        x => x + (1000 * r + c) as f32 * 0.5 + x,
    };
    compare("each element", &out, 3, [32, 16], placed)?;
    let row = |r: usize, _| (0..32).map(|c| n(r, c)).sum::<f32>();
    compare("rows", &out, 4, [32, 48], row)?;
    let column = |_, c: usize| (0..32).map(|r| n(r, c)).fold(f32::INFINITY, f32::min);
    compare("columns", &out, 6, [16, 32], column)?;
    let all: f32 = a.iter().sum();
    compare("rows and columns", &out, 7, [16, 16], |_, _| all)?;
    let square = |r: usize, c: usize| {
        let (r, c) = (2 * r, 2 * c);
        n(r, c) + n(r + 1, c) + n(r, c + 1) + n(r + 1, c + 1)
    };
    compare("squares", &out, 8, [16, 16], square)?;
    found(&bytes(&out))
}

/// A module whose workgroup has so many invocations.
fn sized(spirv: &[u8], invocations: u32) -> Vec<u8> {
    let mut words = client::words(spirv);
    // OpExecutionMode of an entry point, LocalSize: then x.
    let at = words.windows(3).position(|w| (w[0], w[2]) == (6 << 16 | 16, 17)).expect("a workgroup size");
    words[at + 3] = invocations;
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// One subgroup, several of them that share a matrix in some way, and as many as there can be. Three all have whole matrices.
fn of_workgroups(rig: &Rig) -> Found {
    let all = [16, 32, 48, 64, 128, 256].map(|n| matrices(rig, &sized(WORKGROUP, n)));
    let all = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    all.into_iter().next().ok_or_else(|| "nothing was run".into())
}

/// Numbers of four bits.
fn packed() -> Vec<u8> {
    (0..PART).map(|i| (i * 37 + i / 64) as u8).collect()
}

/// Columns and rows of the tensor, which begins at the fourth number.
const SIZE: [i32; 2] = [10, 24];

/// Coordinate `c` of a dimension of `n` by each clamp mode; none: the clamp value.
fn modes(c: i32, n: i32) -> [Option<i32>; 4] {
    let turned = c.rem_euclid(2 * n - 2);
    let mirrored = if turned >= n { 2 * n - 2 - turned } else { turned };
    [(0..n).contains(&c).then_some(c), Some(c.clamp(0, n - 1)), Some(c.rem_euclid(n)), Some(mirrored)]
}

fn tensors(rig: &Rig) -> Found {
    let (a, p) = (numbers(), packed());
    let at = |r: usize, c: usize| a[4 + 24 * r + c];
    let mut whole = Vec::new();
    for [row, column] in [[0i32, 0], [-3, -5], [2, 7], [-30, 40]] {
        let push = [row.to_le_bytes(), column.to_le_bytes()].concat();
        let out = run(rig, TENSORS, [&bytes(&a), &p], &push)?;
        for (mode, name) in ["a constant", "to the edge", "repeated", "mirrored"].into_iter().enumerate() {
            let name = format!("{name}, from {row}, {column} on");
            compare(&name, &out, mode, [16, 32], |r, c| {
                let [y, x] = [(r as i32 + row, SIZE[0]), (c as i32 + column, SIZE[1])];
                match (modes(y.0, y.1)[mode], modes(x.0, x.1)[mode]) {
                    (Some(y), Some(x)) => at(y as usize, x as usize),
                    _ => 0.25,
                }
            })?;
        }
        let turned = |r: usize, c: usize| {
            let k = 16 * r + c;
            at(1 + k % 8, 2 + k / 8 % 16)
        };
        compare("a view's order", &out, 4, [16, 16], turned)?;
        let clipped = |r: usize, c: usize| match ((3..11).contains(&r), (5..11).contains(&c)) {
            (true, true) => {
                let k = 6 * (r - 3) + c - 5;
                at(1 + k / 16, 2 + k % 16)
            }
            _ => 7.0,
        };
        compare("a view's clip", &out, 5, [16, 16], clipped)?;
        let stored = |r: usize, c: usize| if r < 12 && c < 13 { clipped(r + 2, c + 1) } else { 0.0 };
        compare("a store", &out, 6, [14, 20], stored)?;
        let decoded = |r: usize, c: usize| {
            let (y, x) = (3 + r, 5 + c);
            let (block, k) = ([y / 2, x / 4], y % 2 * 4 + x % 4);
            let byte = p[8 * (8 * block[0] + block[1]) + k / 2];
            (byte >> (4 * (k % 2)) & 15) as f32 + (100 * block[0] + block[1]) as f32
        };
        compare("a function that decodes", &out, 7, [16, 16], decoded)?;
        let depth = |r: usize, c: usize| {
            let k = 16 * r + c;
            // Of a row: pixel of two by two, its row, its column, its channel.
            let (row, pixel, down, along, channel) = (k / 128, k / 16 % 8, k / 8 % 2, k / 4 % 2, k % 4);
            a[row * 128 + down * 64 + pixel * 8 + along * 4 + channel]
        };
        compare("space to depth", &out, 8, [32, 16], depth)?;
        whole.extend(bytes(&out));
    }
    found(&whole)
}

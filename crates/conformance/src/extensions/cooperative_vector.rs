//! VK_NV_cooperative_vector: products of vectors and matrices, sums over invocations, conversions of matrices. A float of a result is the bias and
//! one fused multiply–add of 32-bit floats for each column in order, rounded at the end to its type; integers are exact and wrap.

use super::rig::{COOPERATIVE_VECTOR, Rig};
use super::{Check, Found, found, holds, same, text};
use client::compute::KernelInfo;
use client::vector::{GROUP, Product, SHARE, Sums, combinations, convert};
use client::{Buffer, Kernel};
use half::f16;
use random::Random;
use vk::CooperativeVectorMatrixLayoutNV as Layout;

// VkComponentTypeKHR
const F16: u32 = 0;
const F32: u32 = 1;
const S8: u32 = 3;
const S32: u32 = 5;
const U8: u32 = 7;
const U32: u32 = 9;
const S8_PACKED: u32 = 1_000_491_000;
const U8_PACKED: u32 = 1_000_491_001;
const E4M3: u32 = 1_000_491_002;
const E5M2: u32 = 1_000_491_003;

/// Those that every implementation has (§ VkCooperativeVectorPropertiesNV).
const MANDATORY: [[u32; 5]; 6] = [
    [F16, F16, F16, F16, F16],
    [U32, S8_PACKED, S8, S32, S32],
    [S8, S8, S8, S32, S32],
    [F32, S8, S8, S32, S32],
    [F16, E4M3, E4M3, F16, F16],
    [F16, E5M2, E5M2, F16, F16],
];

const GROUPS: u32 = 2;
const INVOCATIONS: u32 = GROUPS * GROUP;

pub fn checks() -> Vec<Check> {
    let of = COOPERATIVE_VECTOR;
    vec![
        Check { name: "products_with_vectors", of, run: products },
        Check { name: "sums_over_invocations", of, run: sums },
        Check { name: "conversions_of_matrices", of, run: conversions },
    ]
}

fn bytes_of(component: u32) -> u32 {
    match component {
        F16 => 2,
        S8 | U8 | E4M3 | E5M2 => 1,
        _ => 4,
    }
}

/// Numbers that the 8-bit formats have, and their bits.
const FEW: [(f64, u8, u8); 7] = [
    (0.0, 0, 0),
    (0.25, 0x28, 0x34),
    (-0.5, 0xB0, 0xB8),
    (1.0, 0x38, 0x3C),
    (-1.5, 0xBC, 0xBE),
    (2.0, 0x40, 0x40),
    (3.0, 0x44, 0x42),
];

/// A number of a type; those of vectors that are converted to bytes may lie beyond them, or between.
fn number(random: &mut Random, component: u32, interpretation: u32) -> f64 {
    let r = random.u32();
    match (component, interpretation) {
        (_, E4M3 | E5M2) => FEW[(r >> 8) as usize % FEW.len()].0,
        (F16 | F32, S8) => ((r >> 8) % 1200) as f64 / 4.0 - 150.0,
        (F16, _) | (F32, F16) => f16::from_f32(r as i32 as f32 / 2f32.powi(29)).to_f64(),
        (F32, _) => (r as i32 as f32 / 2f32.powi(29)).into(),
        (S8 | S8_PACKED, _) => r as u8 as i8 as f64,
        (U8 | U8_PACKED, _) => r as u8 as f64,
        (S32, S8) => ((r >> 8) % 700) as f64 - 350.0,
        (S32, _) => r as i32 as f64,
        _ => r as f64,
    }
}

fn stored(component: u32, v: f64) -> Vec<u8> {
    let few = || FEW.iter().find(|f| f.0 == v).expect("one of the few");
    match component {
        F16 => f16::from_f64(v).to_le_bytes().to_vec(),
        F32 => (v as f32).to_le_bytes().to_vec(),
        E4M3 => vec![few().1],
        E5M2 => vec![few().2],
        S8 | U8 | S8_PACKED | U8_PACKED => vec![v as i64 as u8],
        _ => (v as i64 as u32).to_le_bytes().to_vec(),
    }
}

/// A component of the input as the product takes it.
fn interpreted(interpretation: u32, v: f64) -> f64 {
    match interpretation {
        S8 => v.round_ties_even().clamp(-128.0, 127.0),
        U8 => v.round_ties_even().clamp(0.0, 255.0),
        _ => v,
    }
}

fn is_float(component: u32) -> bool {
    matches!(component, F16 | F32 | E4M3 | E5M2)
}

/// One component of a result.
fn component(p: &Product, row: &[f64], x: &[f64], bias: Option<f64>) -> Vec<u8> {
    let to = p.types[4];
    if !is_float(to) {
        let sum = row.iter().zip(x).fold(bias.unwrap_or(0.0) as i64, |s, (a, b)| s + (a * b) as i64);
        return (sum as u32).to_le_bytes().to_vec();
    }
    let step = |sum: Option<f32>, (a, b): (&f64, &f64)| {
        let (a, b) = (*a as f32, *b as f32);
        Some(sum.map_or(a * b, |s| a.mul_add(b, s)))
    };
    let sum = row.iter().zip(x).fold(bias.map(|b| b as f32), step).expect("a column");
    stored(to, if to == F16 { f16::from_f32(sum).to_f64() } else { sum.into() })
}

fn padded(bytes: u32) -> u32 {
    bytes.next_multiple_of(16)
}

/// A conversion of a matrix of so many rows and columns.
fn conversion(
    [rows, columns]: [u32; 2],
    from: (u32, Layout, u32),
    to: (u32, Layout, u32),
) -> vk::ConvertCooperativeVectorMatrixInfoNV<'static> {
    let component = |c: u32| vk::ComponentTypeKHR::from_raw(c as i32);
    vk::ConvertCooperativeVectorMatrixInfoNV {
        num_rows: rows,
        num_columns: columns,
        src_component_type: component(from.0),
        src_layout: from.1,
        src_stride: from.2 as usize,
        dst_component_type: component(to.0),
        dst_layout: to.1,
        dst_stride: to.2 as usize,
        ..Default::default()
    }
}

/// A matrix by rows, in another layout of the same type.
fn laid(rig: &Rig, of: u32, size: [u32; 2], rows: &[u8], to: Layout, stride: u32) -> Result<Vec<u8>, String> {
    let from = (of, Layout::ROW_MAJOR, size[1] * bytes_of(of));
    let info = conversion(size, from, (of, to, stride));
    let (_, n) = convert(&rig.context, &info, &[], &mut []).map_err(text)?;
    let mut out = vec![0; n];
    let (result, _) = convert(&rig.context, &info, rows, &mut out).map_err(text)?;
    same("a conversion", result, vk::Result::SUCCESS)?;
    Ok(out)
}

fn products(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut all = Vec::new();
    let there = combinations(&rig.context);
    for m in MANDATORY {
        holds(&format!("{m:?} is not reported"), there.contains(&m))?;
    }
    // Written out, and by row; columns that are no multiple of four.
    let sizes = [(5, 7, true, 0), (33, 21, true, 1), (20, 40, false, 1), (1, 300, true, 0)];
    for types in there {
        let small = matches!(types[2], E4M3 | E5M2);
        for (rows, columns, adds, several) in sizes {
            for (layout, transposed) in [
                (Layout::ROW_MAJOR, false),
                (Layout::COLUMN_MAJOR, false),
                (Layout::INFERENCING_OPTIMAL, false),
                (Layout::TRAINING_OPTIMAL, true),
            ] {
                if small && layout.as_raw() < 2 {
                    continue;
                }
                let line = if layout == Layout::COLUMN_MAJOR { rows } else { columns };
                let p = Product {
                    types,
                    rows,
                    columns,
                    layout: layout.as_raw() as u32,
                    transposed,
                    stride: padded(line * bytes_of(types[2])) + 16,
                    adds,
                    input_step: padded(columns * bytes_of(types[0])),
                    matrix_step: several,
                    result_step: padded(rows * bytes_of(types[4])),
                };
                all.extend(product(rig, &mut random, p)?);
            }
        }
    }
    found(&all)
}

/// Bytes of the results, if they are right. `p.matrix_step` not 0: several matrices.
fn product(rig: &Rig, random: &mut Random, mut p: Product) -> Result<Vec<u8>, String> {
    let [from, interpretation, of_matrix, of_bias, to] = p.types;
    let (rows, columns) = (p.rows as usize, p.columns as usize);
    let packed = matches!(interpretation, S8_PACKED | U8_PACKED);
    let have = if packed { interpretation } else { from };
    // What follows a vector's last component does not count.
    let mut inputs = vec![0x7F; (INVOCATIONS * p.input_step) as usize];
    let mut x = Vec::new();
    for i in 0..INVOCATIONS as usize {
        let v: Vec<f64> = (0..columns).map(|_| number(random, have, interpretation)).collect();
        let bytes: Vec<u8> = v.iter().flat_map(|v| stored(have, *v)).collect();
        inputs[i * p.input_step as usize..][..bytes.len()].copy_from_slice(&bytes);
        x.push(v.iter().map(|v| interpreted(interpretation, *v)).collect::<Vec<_>>());
    }
    let mut matrices = Vec::new();
    let mut w = Vec::new();
    for _ in 0..if p.matrix_step == 0 { 1 } else { INVOCATIONS.div_ceil(SHARE) } {
        let m: Vec<f64> = (0..rows * columns).map(|_| number(random, of_matrix, of_matrix)).collect();
        let layout = Layout::from_raw(p.layout as i32);
        // One that is transposed has columns as rows.
        let (size, turned) = match p.transposed {
            true => {
                ([p.columns, p.rows], (0..rows * columns).map(|k| m[k % rows * columns + k / rows]).collect())
            }
            false => ([p.rows, p.columns], m.clone()),
        };
        let bytes: Vec<u8> = turned.iter().flat_map(|v| stored(of_matrix, *v)).collect();
        let mut bytes = laid(rig, of_matrix, size, &bytes, layout, p.stride)?;
        bytes.resize(bytes.len().next_multiple_of(64), 0xEE);
        if p.matrix_step != 0 {
            p.matrix_step = bytes.len() as u32;
        }
        matrices.extend(bytes);
        w.push(m);
    }
    let bias: Vec<f64> = (0..rows).map(|_| number(random, of_bias, of_bias)).collect();
    let bias_bytes: Vec<u8> = bias.iter().flat_map(|v| stored(of_bias, *v)).collect();
    let spirv: Vec<u8> = p.spirv().iter().flat_map(|w| w.to_le_bytes()).collect();
    let out = run(rig, &spirv, [&inputs, &matrices, &bias_bytes], INVOCATIONS * p.result_step)?;
    let mut got = Vec::new();
    for (i, x) in x.iter().enumerate() {
        let m = &w[if p.matrix_step == 0 { 0 } else { i / SHARE as usize }];
        let result = &out[i * p.result_step as usize..][..rows * bytes_of(to) as usize];
        for (r, got) in result.chunks_exact(bytes_of(to) as usize).enumerate() {
            let want = component(&p, &m[r * columns..(r + 1) * columns], x, p.adds.then(|| bias[r]));
            if got != want {
                return Err(format!("{p:?}: invocation {i}, component {r}: {got:?}, not {want:?}"));
            }
        }
        got.extend_from_slice(result);
    }
    Ok(got)
}

/// What a shader leaves in its last buffer, of so many bytes; the others have contents.
fn run(rig: &Rig, spirv: &[u8], inputs: [&[u8]; 3], bytes: u32) -> Result<Vec<u8>, String> {
    let kernel = Kernel::new(&rig.context, &KernelInfo { spirv, bindings: 4, push_size: 0 }).map_err(text)?;
    let mut buffers = Vec::new();
    for input in inputs {
        let mut input = input.to_vec();
        input.resize(input.len().next_multiple_of(4), 0);
        buffers.push(Buffer::with(&rig.context, &input).map_err(text)?);
    }
    buffers.push(Buffer::new(&rig.context, bytes as usize).map_err(text)?);
    let list: Vec<&Buffer> = buffers.iter().collect();
    let commands = kernel.record(&list, &[], &[([0; 3], [GROUPS, 1, 1])]).map_err(text)?;
    rig.context.submit_and_wait(commands).map_err(text)?;
    Ok(buffers[3].bytes().to_vec())
}

/// Vectors of small integers, whose sums are exact in any order.
fn sums(rig: &Rig) -> Found {
    let mut random = Random::default();
    let mut all = Vec::new();
    for (of, rows, columns) in [(F16, 3, 5), (F32, 3, 5), (F16, 19, 20), (F32, 20, 19), (F32, 1, 300)] {
        let s = Sums { of, rows, columns, step: padded(2 * rows.max(columns)) };
        let spirv: Vec<u8> = s.spirv().iter().flat_map(|w| w.to_le_bytes()).collect();
        let kernel = Kernel::new(&rig.context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 });
        let kernel = kernel.map_err(text)?;
        let mut input = vec![0; (INVOCATIONS * 2 * s.step) as usize];
        let (rows, columns) = (rows as usize, columns as usize);
        let (mut product, mut sum) = (vec![0.0; rows * columns], vec![0.0; rows]);
        for i in 0..INVOCATIONS as usize {
            let mut vector = |n: usize, at: usize| -> Vec<f64> {
                let v: Vec<f64> = (0..n).map(|_| ((random.u32() >> 8) % 5) as f64 - 2.0).collect();
                let bytes: Vec<u8> = v.iter().flat_map(|v| stored(F16, *v)).collect();
                input[at..at + bytes.len()].copy_from_slice(&bytes);
                v
            };
            let step = s.step as usize;
            let (a, b) = (vector(rows, 2 * i * step), vector(columns, (2 * i + 1) * step));
            for (r, a) in a.iter().enumerate() {
                sum[r] += a;
                b.iter().enumerate().for_each(|(c, b)| product[r * columns + c] += a * b);
            }
        }
        let a = Buffer::with(&rig.context, &input).map_err(text)?;
        let zero = vec![0; rows * columns * bytes_of(of) as usize];
        let zero = laid(rig, of, [rows as u32, columns as u32], &zero, Layout::TRAINING_OPTIMAL, 0)?;
        let [m, v] =
            [zero.len(), padded(2 * rows as u32) as usize].map(|n| Buffer::with(&rig.context, &vec![0; n]));
        let (m, v) = (m.map_err(text)?, v.map_err(text)?);
        let commands = kernel.record(&[&a, &m, &v], &[], &[([0; 3], [GROUPS, 1, 1])]).map_err(text)?;
        rig.context.submit_and_wait(commands).map_err(text)?;
        let stride = columns as u32 * bytes_of(of);
        let size = [rows as u32, columns as u32];
        let info = conversion(size, (of, Layout::TRAINING_OPTIMAL, 0), (of, Layout::ROW_MAJOR, stride));
        let mut got = vec![0; rows * columns * bytes_of(of) as usize];
        let back = convert(&rig.context, &info, m.bytes(), &mut got).map_err(text)?;
        same("a conversion back", back.0, vk::Result::SUCCESS)?;
        let want: Vec<u8> = product.iter().flat_map(|v| stored(of, *v)).collect();
        same(&format!("{s:?}: outer products"), &got, &want)?;
        let want: Vec<u8> = sum.iter().flat_map(|v| stored(F16, *v)).collect();
        same(&format!("{s:?}: sums"), &v.bytes()[..want.len()], &want[..])?;
        all.extend(got);
        all.extend(want);
    }
    found(&all)
}

fn conversions(rig: &Rig) -> Found {
    let c = &rig.context;
    let size = [3, 5];
    // Numbers 0.5 · k as 32-bit floats by rows of 24 bytes, to 8 bits and back as 16 bits by columns.
    let mut rows = vec![0; 72];
    for k in 0..15 {
        rows[k / 5 * 24 + k % 5 * 4..][..4].copy_from_slice(&(0.5 * k as f32).to_le_bytes());
    }
    let small = conversion(size, (F32, Layout::ROW_MAJOR, 24), (E4M3, Layout::INFERENCING_OPTIMAL, 0));
    let (result, n) = convert(c, &small, &[], &mut []).map_err(text)?;
    same("a question of the size", result, vk::Result::SUCCESS)?;
    let mut optimal = vec![0xEE; n];
    same("a conversion", convert(c, &small, &rows, &mut optimal).map_err(text)?, (vk::Result::SUCCESS, n))?;
    let back = conversion(size, (E4M3, Layout::INFERENCING_OPTIMAL, 0), (F16, Layout::COLUMN_MAJOR, 8));
    let (_, m) = convert(c, &back, &[], &mut []).map_err(text)?;
    same("bytes of five columns of four", m, 40)?;
    let mut columns = vec![0xEE; m];
    same("and back", convert(c, &back, &optimal, &mut columns).map_err(text)?, (vk::Result::SUCCESS, m))?;
    for k in 0..15usize {
        let at = k % 5 * 8 + k / 5 * 2;
        same("an element", &columns[at..at + 2], &f16::from_f32(0.5 * k as f32).to_le_bytes())?;
    }
    // What is between columns stays.
    same("after a column", &columns[6..8], &[0xEE; 2])?;

    // The device makes the same bytes.
    let mut from = Buffer::addressed(c, 128, Default::default()).map_err(text)?;
    from.bytes_mut()[..72].copy_from_slice(&rows);
    let to = Buffer::addressed(c, n, Default::default()).map_err(text)?;
    let mut room = n;
    let mut info = small;
    info.src_size = rows.len();
    info.p_dst_size = &raw mut room;
    info.src_data.device_address = from.address();
    info.dst_data.device_address = to.address();
    let functions = client::vector::Functions::new(c).map_err(text)?;
    // SAFETY: recording; both buffers are as large as the structure says.
    rig.run(|_, commands| unsafe { (functions.record)(commands, 1, &info) })?;
    same("the device's matrix", to.bytes(), &optimal[..])?;

    // Too little room: nothing is written. What cannot be: errors.
    let mut less = vec![0xEE; n - 1];
    same("too little room", convert(c, &small, &rows, &mut less).map_err(text)?.0, vk::Result::INCOMPLETE)?;
    holds("nothing is written", less.iter().all(|b| *b == 0xEE))?;
    let wrong = [
        ("a source that ends early", small, 67),
        (
            "a stride less than a row",
            conversion(size, (F32, Layout::ROW_MAJOR, 16), (F32, Layout::ROW_MAJOR, 24)),
            72,
        ),
        ("bytes as floats", conversion(size, (S8, Layout::ROW_MAJOR, 8), (F32, Layout::ROW_MAJOR, 24)), 72),
        ("8 bits by rows", conversion(size, (F32, Layout::ROW_MAJOR, 24), (E4M3, Layout::ROW_MAJOR, 8)), 72),
        ("no rows", conversion([0, 5], (F32, Layout::ROW_MAJOR, 24), (F32, Layout::ROW_MAJOR, 24)), 72),
    ];
    for (what, info, bytes) in wrong {
        let (result, _) = convert(c, &info, &rows[..bytes], &mut [0; 512]).map_err(text)?;
        holds(what, result.as_raw() < 0)?;
    }
    optimal.extend(columns);
    found(&optimal)
}

//! Graphs of one operator, their data as f64.

use graph::{Alone, Graph, Node, Op, Plan, Pool, Port, Tensor, Type, Value};

#[derive(Clone, Debug)]
pub struct Data {
    ty: Type,
    shape: Vec<u32>,
    pub values: Vec<f64>,
    constant: bool,
}

/// A tensor that is bound.
pub fn t(ty: Type, shape: &[u32], values: &[f64]) -> Data {
    Data { ty, shape: shape.to_vec(), values: values.to_vec(), constant: false }
}

/// A constant.
pub fn c(ty: Type, shape: &[u32], values: &[f64]) -> Data {
    Data { constant: true, ..t(ty, shape, values) }
}

/// Mantissa bits, least normal exponent, and bits of a small float.
fn small(ty: Type) -> Option<(i32, i32, u32)> {
    Some(match ty {
        Type::F16 => (10, -14, 16),
        Type::BF16 => (7, -126, 16),
        Type::F8E4M3 => (3, -6, 8),
        Type::F8E5M2 => (2, -14, 8),
        _ => return None,
    })
}

/// Values that the type has exactly.
fn encode(ty: Type, v: f64) -> Vec<u8> {
    match ty {
        Type::Bool | Type::I8 => vec![v as i8 as u8],
        Type::I16 => (v as i16).to_le_bytes().to_vec(),
        Type::I32 => (v as i32).to_le_bytes().to_vec(),
        Type::I48 => (v as i64).to_le_bytes().to_vec(),
        Type::F32 => (v as f32).to_le_bytes().to_vec(),
        _ => {
            let (mantissa, low, bits) = small(ty).expect("a small float");
            let mut raw = 0u32;
            if v != 0.0 {
                let e = v.abs().log2().floor() as i32;
                assert!(e >= low, "{v} is not normal");
                raw = ((e - low + 1) as u32) << mantissa
                    | ((v.abs() / 2f64.powi(e) - 1.0) * 2f64.powi(mantissa)) as u32;
            }
            if v < 0.0 {
                raw |= 1 << (bits - 1);
            }
            raw.to_le_bytes()[..bits as usize / 8].to_vec()
        }
    }
}

fn decode(ty: Type, b: &[u8]) -> f64 {
    let word = |n: usize| b[..n].iter().rev().fold(0u64, |w, b| w << 8 | *b as u64);
    match ty {
        Type::Bool => b[0] as f64,
        Type::I8 => b[0] as i8 as f64,
        Type::I16 => word(2) as i16 as f64,
        Type::I32 => word(4) as i32 as f64,
        Type::I48 => word(8) as i64 as f64,
        Type::F32 => f32::from_bits(word(4) as u32) as f64,
        _ => {
            let (mantissa, low, bits) = small(ty).expect("a small float");
            let raw = word(bits as usize / 8) as u32;
            let magnitude = raw & ((1 << (bits - 1)) - 1);
            if ty == Type::F8E4M3 && magnitude == 0x7f {
                return f64::NAN;
            }
            let (e, m) = ((magnitude >> mantissa) as i32, (magnitude & ((1 << mantissa) - 1)) as f64);
            let value = (1.0 + m / 2f64.powi(mantissa)) * 2f64.powi(e + low - 1);
            let value = if magnitude == 0 { 0.0 } else { value };
            if raw >> (bits - 1) != 0 { -value } else { value }
        }
    }
}

/// Results of one operator; an error: the rule that is broken.
pub fn run(op: &str, operands: &[Data], results: &[&Data]) -> Result<Vec<Vec<f64>>, String> {
    run_on(op, operands, results, &Alone, 0)
}

/// With so many bytes between the rows of bound tensors.
pub fn run_on(
    op: &str,
    operands: &[Data],
    results: &[&Data],
    pool: &dyn Pool,
    gap: u64,
) -> Result<Vec<Vec<f64>>, String> {
    let op = (0..).map_while(Op::of).find(|o| o.name() == op).expect("an operator");
    let mut g = Graph::default();
    let mut memory = vec![];
    for (i, d) in operands.iter().enumerate() {
        let bytes: Vec<u8> = d.values.iter().flat_map(|v| encode(d.ty, *v)).collect();
        g.values.push(Value {
            ty: d.ty,
            shape: d.shape.clone(),
            constant: d.constant.then(|| bytes.clone().into()),
        });
        if !d.constant {
            g.inputs.push((Port { set: 0, binding: i as u32, element: 0 }, i as u32));
            memory.push(spread(d, &bytes, gap));
        }
    }
    let first = g.values.len() as u32;
    for (i, d) in results.iter().enumerate() {
        g.values.push(Value { ty: d.ty, shape: d.shape.clone(), constant: None });
        g.outputs.push((Port { set: 1, binding: i as u32, element: 0 }, first + i as u32));
    }
    let made: Vec<u32> = (first..g.values.len() as u32).collect();
    g.nodes.push(Node { op, operands: (0..first).collect(), results: made });
    let plan = Plan::new(g).map_err(|w| w.to_string())?;
    let mut outputs: Vec<_> =
        results.iter().map(|d| spread(d, &vec![0xee; d.values.len() * d.ty.bytes()], gap)).collect();
    let tensor = |(bytes, strides): &mut (Vec<u8>, Vec<u64>)| {
        // SAFETY: the vector's bytes, which live until the run has ended.
        unsafe { Tensor::new(bytes.as_mut_ptr(), bytes.len() as u64, strides.clone()) }
    };
    let inputs: Vec<Tensor> = memory.iter_mut().map(tensor).collect();
    let bound: Vec<Tensor> = outputs.iter_mut().map(tensor).collect();
    let mut room = (vec![0u8; plan.bytes() as usize], vec![]);
    plan.run(&inputs, &bound, &tensor(&mut room), pool, &|| false).map_err(|s| s.to_string())?;
    Ok(results.iter().zip(&outputs).map(|(d, (bytes, strides))| gathered(d, bytes, strides)).collect())
}

/// Strides with a gap after each row.
fn strides(d: &Data, gap: u64) -> Vec<u64> {
    let mut within = d.ty.bytes() as u64;
    let mut all = vec![];
    for (i, n) in d.shape.iter().rev().enumerate() {
        all.push(within);
        within = within * *n as u64 + if i == 0 { gap * d.ty.bytes() as u64 } else { 0 };
    }
    all.reverse();
    all
}

fn places(d: &Data, strides: &[u64]) -> Vec<usize> {
    let count = d.values.len();
    let place = |mut n: usize| {
        let mut at = 0;
        for (dim, s) in d.shape.iter().zip(strides).rev() {
            at += n % *dim as usize * *s as usize;
            n /= *dim as usize;
        }
        at
    };
    (0..count).map(place).collect()
}

fn spread(d: &Data, bytes: &[u8], gap: u64) -> (Vec<u8>, Vec<u64>) {
    let strides = strides(d, gap);
    let size = d.ty.bytes();
    let places = places(d, &strides);
    let mut all = vec![0xdd; places.last().map_or(0, |p| p + size)];
    for (at, b) in places.into_iter().zip(bytes.chunks(size)) {
        all[at..at + size].copy_from_slice(b);
    }
    (all, strides)
}

fn gathered(d: &Data, bytes: &[u8], strides: &[u64]) -> Vec<f64> {
    places(d, strides).into_iter().map(|at| decode(d.ty, &bytes[at..])).collect()
}

//! Each operator with values that were worked out by hand from the pseudocode of the TOSA 1.0 specification.

mod kit;

use graph::Type::{self, *};
use kit::{Data, c, run, t};

/// One operator: its operands, and the one result that it must have.
fn row(op: &str, operands: &[Data], result: Data) {
    let made = run(op, operands, &[&result]).unwrap_or_else(|why| panic!("{op}: {why}"));
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    let equal = made[0].len() == result.values.len() && made[0].iter().zip(&result.values).all(same);
    assert!(equal, "{op} {operands:?}: {:?}, not {:?}", made[0], result.values);
}

/// A zero point.
fn zero(ty: Type) -> Data {
    c(ty, &[1], &[0.0])
}

/// An attribute.
fn a(v: f64) -> Data {
    c(I32, &[], &[v])
}

fn flag(v: bool) -> Data {
    c(Bool, &[], &[v as u8 as f64])
}

#[test]
fn elementwise_of_one() {
    let x = t(F32, &[4], &[-1.5, 0.25, 4.0, 0.0]);
    row("ABS", std::slice::from_ref(&x), t(F32, &[4], &[1.5, 0.25, 4.0, 0.0]));
    row("ABS", &[t(I32, &[2], &[-7.0, 7.0])], t(I32, &[2], &[7.0, 7.0]));
    row("CEIL", std::slice::from_ref(&x), t(F32, &[4], &[-1.0, 1.0, 4.0, 0.0]));
    row("FLOOR", &[x], t(F32, &[4], &[-2.0, 0.0, 4.0, 0.0]));
    row("RECIPROCAL", &[t(F32, &[2], &[4.0, -0.5])], t(F32, &[2], &[0.25, -2.0]));
    row("RSQRT", &[t(F32, &[3], &[4.0, 0.25, 0.0])], t(F32, &[3], &[0.5, 2.0, f64::INFINITY]));
    row("EXP", &[t(F32, &[2], &[0.0, 1.0])], t(F32, &[2], &[1.0, std::f32::consts::E as f64]));
    row(
        "LOG",
        &[t(F32, &[3], &[1.0, 2.0, 0.0])],
        t(F32, &[3], &[0.0, std::f32::consts::LN_2 as f64, f64::NEG_INFINITY]),
    );
    row("SIN", &[t(F32, &[1], &[0.0])], t(F32, &[1], &[0.0]));
    row("COS", &[t(F32, &[1], &[0.0])], t(F32, &[1], &[1.0]));
    row("CLZ", &[t(I32, &[4], &[0.0, 1.0, -1.0, 65536.0])], t(I32, &[4], &[32.0, 31.0, 0.0, 15.0]));
    row("BITWISE_NOT", &[t(I8, &[2], &[5.0, -1.0])], t(I8, &[2], &[-6.0, 0.0]));
    row("LOGICAL_NOT", &[t(Bool, &[2], &[0.0, 1.0])], t(Bool, &[2], &[1.0, 0.0]));
    // −(−128) does not fit: 127. With zero points: −(5 − 1) + 3.
    row("NEGATE", &[t(I8, &[2], &[-128.0, 5.0]), zero(I8), zero(I8)], t(I8, &[2], &[127.0, -5.0]));
    row("NEGATE", &[t(I8, &[1], &[5.0]), c(I8, &[1], &[1.0]), c(I8, &[1], &[3.0])], t(I8, &[1], &[-1.0]));
    row("NEGATE", &[t(F16, &[1], &[1.5]), zero(F16), zero(F16)], t(F16, &[1], &[-1.5]));
}

#[test]
fn tables() {
    let squares: Vec<f64> = (-128..128).map(|i| (i * i / 256) as f64).collect();
    row(
        "TABLE",
        &[t(I8, &[3], &[-128.0, 0.0, 127.0]), c(I8, &[256], &squares)],
        t(I8, &[3], &[64.0, 0.0, 63.0]),
    );
    // Entry 256 is 0's, 257 that of 128: between them a slope of 2 for each of 128 steps. 3 · 2 · … in 7 bits more.
    let line: Vec<f64> = (-256..=256).map(|i| (2 * i) as f64).collect();
    row(
        "TABLE",
        &[t(I16, &[3], &[0.0, 3.0, -128.0]), c(I16, &[513], &line)],
        t(I32, &[3], &[0.0, 6.0, -256.0]),
    );
}

#[test]
fn activations() {
    let x = t(F32, &[3], &[-2.0, 0.5, f64::NAN]);
    let bounds = [c(F32, &[], &[-1.0]), c(F32, &[], &[1.0])];
    let clamp = |mode: f64| [bounds[0].clone(), bounds[1].clone(), a(mode), x.clone()];
    let made = run("CLAMP", &clamp(1.0), &[&t(F32, &[3], &[0.0; 3])]).expect("clamped");
    assert!(made[0][..2] == [-1.0, 0.5] && made[0][2].is_nan());
    // The mode that ignores NaNs makes them the least value.
    row("CLAMP", &clamp(2.0), t(F32, &[3], &[-1.0, 0.5, -1.0]));
    let ints = [c(I8, &[], &[-3.0]), c(I8, &[], &[4.0]), a(1.0), t(I8, &[3], &[-100.0, 0.0, 100.0])];
    row("CLAMP", &ints, t(I8, &[3], &[-3.0, 0.0, 4.0]));
    row("SIGMOID", &[t(F32, &[2], &[0.0, f64::NEG_INFINITY])], t(F32, &[2], &[0.5, 0.0]));
    row("TANH", &[t(F32, &[2], &[0.0, 100.0])], t(F32, &[2], &[0.0, 1.0]));
    row("ERF", &[t(F32, &[3], &[0.0, 9.0, -9.0])], t(F32, &[3], &[0.0, 1.0, -1.0]));
}

#[test]
fn elementwise_of_two() {
    let (x, y) = (t(F32, &[2, 2], &[1.0, 2.0, 3.0, 4.0]), t(F32, &[1, 2], &[10.0, 20.0]));
    let of = |v: [f64; 4]| t(F32, &[2, 2], &v);
    row("ADD", &[x.clone(), y.clone()], of([11.0, 22.0, 13.0, 24.0]));
    row("SUB", &[y.clone(), x.clone()], of([9.0, 18.0, 7.0, 16.0]));
    row("MUL", &[x.clone(), y.clone(), c(I8, &[1], &[0.0])], of([10.0, 40.0, 30.0, 80.0]));
    row(
        "ADD",
        &[t(I32, &[2, 1], &[1.0, 2.0]), t(I32, &[1, 2], &[10.0, 20.0])],
        t(I32, &[2, 2], &[11.0, 21.0, 12.0, 22.0]),
    );
    // In f16, 2048 + 1 is midway, and goes to the even 2048.
    row("ADD", &[t(F16, &[1], &[2048.0]), t(F16, &[1], &[1.0])], t(F16, &[1], &[2048.0]));
    // (6 · 7 + 2) >> 2, and −42 the same way; of bytes a product is not shifted.
    row(
        "MUL",
        &[t(I32, &[2], &[6.0, -6.0]), t(I32, &[2], &[7.0, 7.0]), c(I8, &[1], &[2.0])],
        t(I32, &[2], &[11.0, -10.0]),
    );
    row(
        "MUL",
        &[t(I8, &[1], &[-128.0]), t(I8, &[1], &[127.0]), c(I8, &[1], &[0.0])],
        t(I32, &[1], &[-16256.0]),
    );
    row("POW", &[t(F32, &[2], &[4.0, 9.0]), t(F32, &[2], &[0.0, 0.5])], t(F32, &[2], &[1.0, 3.0]));
    row("INTDIV", &[t(I32, &[2], &[7.0, -7.0]), t(I32, &[2], &[2.0, 2.0])], t(I32, &[2], &[3.0, -3.0]));
    let (p, q) = (t(I16, &[2], &[12.0, -2.0]), t(I16, &[2], &[10.0, 1.0]));
    let of = |v: [f64; 2]| t(I16, &[2], &v);
    row("BITWISE_AND", &[p.clone(), q.clone()], of([8.0, 0.0]));
    row("BITWISE_OR", &[p.clone(), q.clone()], of([14.0, -1.0]));
    row("BITWISE_XOR", &[p.clone(), q.clone()], of([6.0, -1.0]));
    row("LOGICAL_LEFT_SHIFT", &[p.clone(), of([3.0, 15.0])], of([96.0, 0.0]));
    row("LOGICAL_RIGHT_SHIFT", &[p.clone(), of([2.0, 1.0])], of([3.0, 32767.0]));
    // 11 >> 2 = 2, and the bit before is set; −3 >> 1 = −2, likewise.
    let shift = |round| [flag(round), of([11.0, -3.0]), of([2.0, 1.0])];
    row("ARITHMETIC_RIGHT_SHIFT", &shift(false), of([2.0, -2.0]));
    row("ARITHMETIC_RIGHT_SHIFT", &shift(true), of([3.0, -1.0]));
    let (p, q) = (t(Bool, &[4], &[0.0, 0.0, 1.0, 1.0]), t(Bool, &[4], &[0.0, 1.0, 0.0, 1.0]));
    row("LOGICAL_AND", &[p.clone(), q.clone()], t(Bool, &[4], &[0.0, 0.0, 0.0, 1.0]));
    row("LOGICAL_OR", &[p.clone(), q.clone()], t(Bool, &[4], &[0.0, 1.0, 1.0, 1.0]));
    row("LOGICAL_XOR", &[p.clone(), q.clone()], t(Bool, &[4], &[0.0, 1.0, 1.0, 0.0]));
    let (x, y) = (t(I32, &[3], &[1.0, 5.0, 3.0]), t(I32, &[3], &[2.0, 4.0, 3.0]));
    row("MAXIMUM", &[a(1.0), x.clone(), y.clone()], t(I32, &[3], &[2.0, 5.0, 3.0]));
    row("MINIMUM", &[a(1.0), x.clone(), y.clone()], t(I32, &[3], &[1.0, 4.0, 3.0]));
    row("MAXIMUM", &[a(2.0), t(F32, &[1], &[f64::NAN]), t(F32, &[1], &[4.0])], t(F32, &[1], &[4.0]));
    row("EQUAL", &[x.clone(), y.clone()], t(Bool, &[3], &[0.0, 0.0, 1.0]));
    row("GREATER", &[x.clone(), y.clone()], t(Bool, &[3], &[0.0, 1.0, 0.0]));
    row("GREATER_EQUAL", &[x, y], t(Bool, &[3], &[0.0, 1.0, 1.0]));
    row("EQUAL", &[t(F32, &[1], &[f64::NAN]), t(F32, &[1], &[f64::NAN])], t(Bool, &[1], &[0.0]));
    let which = t(Bool, &[1, 2], &[1.0, 0.0]);
    row(
        "SELECT",
        &[which, t(I8, &[2, 1], &[1.0, 2.0]), t(I8, &[1, 1], &[9.0])],
        t(I8, &[2, 2], &[1.0, 9.0, 2.0, 9.0]),
    );
}

#[test]
fn reductions() {
    let x = t(F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    row("REDUCE_SUM", &[a(0.0), x.clone()], t(F32, &[1, 3], &[5.0, 7.0, 9.0]));
    row("REDUCE_SUM", &[a(1.0), x.clone()], t(F32, &[2, 1], &[6.0, 15.0]));
    row("REDUCE_PRODUCT", &[a(1.0), x.clone()], t(F32, &[2, 1], &[6.0, 120.0]));
    row("REDUCE_MAX", &[a(0.0), a(1.0), x.clone()], t(F32, &[1, 3], &[4.0, 5.0, 6.0]));
    row("REDUCE_MIN", &[a(1.0), a(1.0), x.clone()], t(F32, &[2, 1], &[1.0, 4.0]));
    row("REDUCE_MIN", &[a(0.0), a(1.0), t(I8, &[2, 1], &[-5.0, 7.0])], t(I8, &[1, 1], &[-5.0]));
    row("REDUCE_ALL", &[a(1.0), t(Bool, &[2, 2], &[1.0, 1.0, 1.0, 0.0])], t(Bool, &[2, 1], &[1.0, 0.0]));
    row("REDUCE_ANY", &[a(1.0), t(Bool, &[2, 2], &[0.0, 0.0, 1.0, 0.0])], t(Bool, &[2, 1], &[0.0, 1.0]));
    row("REDUCE_MAX", &[a(0.0), a(2.0), t(F32, &[3], &[f64::NAN, -2.0, -3.0])], t(F32, &[1], &[-2.0]));
    // Of equal ones the first; NaN wins where it is propagated.
    row(
        "ARGMAX",
        &[a(1.0), a(1.0), t(I8, &[2, 3], &[3.0, 7.0, 7.0, 9.0, -1.0, 2.0])],
        t(I32, &[2], &[1.0, 0.0]),
    );
    row(
        "ARGMAX",
        &[a(0.0), a(1.0), t(F32, &[3, 2], &[1.0, 9.0, f64::NAN, 2.0, 5.0, 9.0])],
        t(I32, &[2], &[1.0, 0.0]),
    );
    row("ARGMAX", &[a(0.0), a(2.0), t(F32, &[3, 1], &[1.0, f64::NAN, 5.0])], t(I32, &[1], &[2.0]));
    row("ARGMAX", &[a(0.0), a(1.0), t(I8, &[4], &[3.0, 7.0, 7.0, -9.0])], t(I32, &[1], &[1.0]));
}

#[test]
fn layouts() {
    let x = t(I16, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    row(
        "TRANSPOSE",
        &[c(I32, &[2], &[1.0, 0.0]), x.clone()],
        t(I16, &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
    );
    row("REVERSE", &[a(1.0), x.clone()], t(I16, &[2, 3], &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]));
    row("REVERSE", &[a(0.0), x.clone()], t(I16, &[2, 3], &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0]));
    row(
        "RESHAPE",
        &[x.clone(), c(I32, &[3], &[3.0, 1.0, 2.0])],
        t(I16, &[3, 1, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    );
    row(
        "SLICE",
        &[x.clone(), c(I32, &[2], &[0.0, 1.0]), c(I32, &[2], &[2.0, 2.0])],
        t(I16, &[2, 2], &[2.0, 3.0, 5.0, 6.0]),
    );
    row(
        "TILE",
        &[x.clone(), c(I32, &[2], &[1.0, 2.0])],
        t(I16, &[2, 6], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0]),
    );
    row(
        "TILE",
        &[t(I8, &[1, 2], &[1.0, 2.0]), c(I32, &[2], &[2.0, 1.0])],
        t(I8, &[2, 2], &[1.0, 2.0, 1.0, 2.0]),
    );
    let padding = c(I32, &[4], &[0.0, 1.0, 1.0, 0.0]);
    row(
        "PAD",
        &[t(I16, &[1, 2], &[1.0, 2.0]), padding, c(I16, &[1], &[9.0])],
        t(I16, &[2, 3], &[9.0, 1.0, 2.0, 9.0, 9.0, 9.0]),
    );
    row(
        "CONCAT",
        &[a(1.0), x.clone(), t(I16, &[2, 1], &[7.0, 8.0])],
        t(I16, &[2, 4], &[1.0, 2.0, 3.0, 7.0, 4.0, 5.0, 6.0, 8.0]),
    );
    row(
        "CONCAT",
        &[a(0.0), t(I8, &[1, 2], &[1.0, 2.0]), t(I8, &[1, 2], &[3.0, 4.0])],
        t(I8, &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
    );
    let values = t(F16, &[1, 3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    row("GATHER", &[values.clone(), t(I32, &[1, 2], &[2.0, 0.0])], t(F16, &[1, 2, 2], &[5.0, 6.0, 1.0, 2.0]));
    let new = t(F16, &[1, 1, 2], &[8.0, 9.0]);
    row(
        "SCATTER",
        &[values, t(I32, &[1, 1], &[1.0]), new],
        t(F16, &[1, 3, 2], &[1.0, 2.0, 8.0, 9.0, 5.0, 6.0]),
    );
}

#[test]
fn conversions() {
    row(
        "CAST",
        &[t(F32, &[5], &[0.5, 1.5, -2.5, 300.0, -300.0])],
        t(I8, &[5], &[0.0, 2.0, -2.0, 127.0, -128.0]),
    );
    row("CAST", &[t(I32, &[2], &[300.0, -1.0])], t(I8, &[2], &[44.0, -1.0]));
    row("CAST", &[t(I8, &[2], &[0.0, -3.0])], t(Bool, &[2], &[0.0, 1.0]));
    row("CAST", &[t(Bool, &[2], &[0.0, 1.0])], t(I32, &[2], &[0.0, 1.0]));
    row("CAST", &[t(F32, &[3], &[1.0, 449.0, 1000.0])], t(F8E4M3, &[3], &[1.0, 448.0, f64::NAN]));
    row("CAST", &[t(I32, &[1], &[257.0])], t(BF16, &[1], &[256.0]));
    row("CAST", &[t(F16, &[1], &[0.5])], t(F32, &[1], &[0.5]));
}

fn rescale(flags: [bool; 4], rounding: f64, input: Data, scale: [Data; 2], zeros: [Data; 2]) -> Vec<Data> {
    let [scale32, per_channel, from_unsigned, to_unsigned] = flags;
    let [multiplier, shift] = scale;
    let [from, to] = zeros;
    vec![
        flag(scale32),
        a(rounding),
        flag(per_channel),
        flag(from_unsigned),
        flag(to_unsigned),
        input,
        multiplier,
        shift,
        from,
        to,
    ]
}

#[test]
fn rescaling() {
    let half = || [c(I32, &[1], &[1_073_741_824.0]), c(I8, &[1], &[31.0])];
    // (v · 2^30 + 2^30) >> 31.
    let v = t(I32, &[4], &[5.0, 4.0, -5.0, 1000.0]);
    let operands = rescale([true, false, false, false], 1.0, v, half(), [zero(I32), c(I8, &[1], &[-1.0])]);
    row("RESCALE", &operands, t(I8, &[4], &[2.0, 1.0, -3.0, 127.0]));
    // Each channel with a scale of its own: 1/2 and 1/4; from a zero point.
    let scale = [c(I32, &[2], &[1_073_741_824.0; 2]), c(I8, &[2], &[31.0, 32.0])];
    let v = t(I8, &[2, 2], &[10.0, 10.0, 18.0, 18.0]);
    let operands = rescale([true, true, false, false], 1.0, v, scale, [c(I8, &[1], &[2.0]), zero(I32)]);
    row("RESCALE", &operands, t(I32, &[2, 2], &[4.0, 2.0, 8.0, 4.0]));
    // 200 as a byte without a sign; and back.
    let v = t(I8, &[1], &[-56.0]);
    let operands = rescale([true, false, true, false], 1.0, v, half(), [zero(I8), zero(I16)]);
    row("RESCALE", &operands, t(I16, &[1], &[100.0]));
    // By 16 bits, of 48: (2^40 · 2^8 + 2^29) >> 30.
    let v = t(I48, &[1], &[1_099_511_627_776.0]);
    let scale = [c(I16, &[1], &[256.0]), c(I8, &[1], &[30.0])];
    let operands = rescale([false, false, false, false], 1.0, v, scale, [zero(I48), zero(I32)]);
    row("RESCALE", &operands, t(I32, &[1], &[262_144.0]));
    // Double rounding: (1 · 2^30 + 2^31 + 2^30) >> 32 = 1, once it is (2^30 + 2^31) >> 32 = 0.
    for (mode, result) in [(1.0, 0.0), (3.0, 1.0)] {
        let scale = [c(I32, &[1], &[1_073_741_824.0]), c(I8, &[1], &[32.0])];
        let v = t(I32, &[1], &[1.0]);
        let operands = rescale([true, false, false, false], mode, v, scale, [zero(I32), zero(I32)]);
        row("RESCALE", &operands, t(I32, &[1], &[result]));
    }
}

#[test]
fn pooling() {
    let window = |ints: [&[f64]; 3]| ints.map(|v| c(I32, &[v.len() as u32], v));
    let [kernel, stride, pad] = window([&[2.0, 2.0], &[1.0, 1.0], &[0.0, 0.0, 0.0, 1.0]]);
    let x = t(F32, &[1, 2, 2, 1], &[1.0, 2.0, 3.0, 4.0]);
    let max = [kernel.clone(), stride.clone(), pad.clone(), a(1.0), x.clone()];
    row("MAX_POOL2D", &max, t(F32, &[1, 1, 2, 1], &[4.0, 4.0]));
    let average = [kernel.clone(), stride.clone(), pad.clone(), a(3.0), x, zero(F32), zero(F32)];
    // What is padded does not count: (2 + 4) / 2.
    row("AVG_POOL2D", &average, t(F32, &[1, 1, 2, 1], &[2.5, 3.0]));
    // 10 / 4 rounds to 3 (the reciprocal rounds up); (2 + 4 − 2 · 1) / 2 − 1.
    let x = t(I8, &[1, 2, 2, 1], &[1.0, 2.0, 3.0, 4.0]);
    let average = [kernel.clone(), stride.clone(), pad.clone(), a(1.0), x.clone(), zero(I8), zero(I8)];
    row("AVG_POOL2D", &average, t(I8, &[1, 1, 2, 1], &[3.0, 3.0]));
    let zeros = [c(I8, &[1], &[1.0]), c(I8, &[1], &[-1.0])];
    let average = [kernel, stride, pad, a(1.0), x, zeros[0].clone(), zeros[1].clone()];
    row("AVG_POOL2D", &average, t(I8, &[1, 1, 2, 1], &[1.0, 1.0]));
}

fn convolution(op: &str, ints: &[&[f64]], acc: f64, tensors: [Data; 3], zeros: [Data; 2], result: Data) {
    let mut operands: Vec<Data> = ints.iter().map(|v| c(I32, &[v.len() as u32], v)).collect();
    operands.extend([a(acc), flag(false)]);
    operands.extend(tensors);
    operands.extend(zeros);
    row(op, &operands, result);
}

#[test]
fn convolutions() {
    let x = || t(F32, &[1, 2, 2, 1], &[1.0, 2.0, 3.0, 4.0]);
    let floats = || [zero(F32), zero(F32)];
    // Two kernels: one sums, the other takes the corner; a bias each.
    let w = c(F32, &[2, 2, 2, 1], &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let attributes: [&[f64]; 3] = [&[0.0; 4], &[1.0; 2], &[1.0; 2]];
    let bias = c(F32, &[2], &[0.5, 100.0]);
    convolution("CONV2D", &attributes, 3.0, [x(), w, bias], floats(), t(F32, &[1, 1, 1, 2], &[10.5, 101.0]));
    // Padded on the left and above by one; a stride of 2 leaves the corners.
    let w = || c(F32, &[1, 1, 1, 1], &[2.0]);
    let padded: [&[f64]; 3] = [&[1.0, 0.0, 1.0, 0.0], &[2.0; 2], &[1.0; 2]];
    let bias = || c(F32, &[1], &[0.0]);
    convolution(
        "CONV2D",
        &padded,
        3.0,
        [x(), w(), bias()],
        floats(),
        t(F32, &[1, 2, 2, 1], &[0.0, 0.0, 0.0, 8.0]),
    );
    // Elements of a window that lie two apart.
    let w = c(F32, &[1, 1, 2, 1], &[1.0, 10.0]);
    let apart: [&[f64]; 3] = [&[0.0; 4], &[1.0; 2], &[1.0, 2.0]];
    let x = t(F32, &[1, 1, 4, 1], &[1.0, 2.0, 3.0, 4.0]);
    convolution("CONV2D", &apart, 3.0, [x, w, bias()], floats(), t(F32, &[1, 1, 2, 1], &[31.0, 42.0]));
    // (5 − 1)(3 − 2) + (−1 − 1)(7 − 2) + 1000.
    let (x, w) = (t(I8, &[1, 1, 1, 2], &[5.0, -1.0]), c(I8, &[1, 1, 1, 2], &[3.0, 7.0]));
    let zeros = [c(I8, &[1], &[1.0]), c(I8, &[1], &[2.0])];
    convolution(
        "CONV2D",
        &attributes,
        1.0,
        [x, w, c(I32, &[1], &[1000.0])],
        zeros,
        t(I32, &[1, 1, 1, 1], &[994.0]),
    );
    // More products than a float holds exactly: 700 · 127 · 127 + 1.
    let (x, w) = (t(I8, &[1, 1, 1, 700], &[127.0; 700]), c(I8, &[1, 1, 1, 700], &[127.0; 700]));
    let zeros = [zero(I8), zero(I8)];
    convolution(
        "CONV2D",
        &attributes,
        1.0,
        [x, w, c(I32, &[1], &[1.0])],
        zeros,
        t(I32, &[1, 1, 1, 1], &[11_290_301.0]),
    );
    let (x, w) = (t(I16, &[1, 1, 1, 2], &[32767.0, -32768.0]), c(I8, &[1, 1, 1, 2], &[127.0, -128.0]));
    let zeros = [zero(I16), zero(I8)];
    let sum = 32767.0 * 127.0 + 32768.0 * 128.0;
    convolution(
        "CONV2D",
        &attributes,
        4.0,
        [x, w, c(I48, &[1], &[2.0])],
        zeros,
        t(I48, &[1, 1, 1, 1], &[sum + 2.0]),
    );
    let cube: [&[f64]; 3] = [&[0.0; 6], &[1.0; 3], &[1.0; 3]];
    let (x, w) = (t(F32, &[1, 2, 1, 2, 1], &[1.0, 2.0, 3.0, 4.0]), c(F32, &[1, 2, 1, 1, 1], &[1.0, 10.0]));
    convolution("CONV3D", &cube, 3.0, [x, w, bias()], floats(), t(F32, &[1, 1, 1, 2, 1], &[31.0, 42.0]));
    // Channels 1, 2 times (3, 4) and (5, 6).
    let (x, w) = (t(F32, &[1, 1, 1, 2], &[1.0, 2.0]), c(F32, &[1, 1, 2, 2], &[3.0, 4.0, 5.0, 6.0]));
    convolution(
        "DEPTHWISE_CONV2D",
        &attributes,
        3.0,
        [x, w, bias()],
        floats(),
        t(F32, &[1, 1, 1, 4], &[3.0, 4.0, 10.0, 12.0]),
    );
    // Each input spreads the kernel (1, 10) two apart.
    let (x, w) = (t(F32, &[1, 1, 2, 1], &[1.0, 2.0]), c(F32, &[1, 1, 2, 1], &[1.0, 10.0]));
    let spread: [&[f64]; 2] = [&[0.0; 4], &[1.0, 2.0]];
    convolution(
        "TRANSPOSE_CONV2D",
        &spread,
        3.0,
        [x, w, bias()],
        floats(),
        t(F32, &[1, 1, 4, 1], &[1.0, 10.0, 2.0, 20.0]),
    );
}

#[test]
fn products() {
    let (x, y) = (t(F32, &[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]), t(F32, &[1, 2, 1], &[5.0, 6.0]));
    row("MATMUL", &[x, y, zero(F32), zero(F32)], t(F32, &[1, 2, 1], &[17.0, 39.0]));
    let (x, y) = (t(I8, &[2, 1, 1], &[3.0, 4.0]), t(I8, &[2, 1, 2], &[5.0, 6.0, 7.0, 8.0]));
    let zeros = [c(I8, &[1], &[1.0]), c(I8, &[1], &[2.0])];
    row("MATMUL", &[x, y, zeros[0].clone(), zeros[1].clone()], t(I32, &[2, 1, 2], &[6.0, 8.0, 15.0, 18.0]));
    let (x, y) = (t(I16, &[1, 1, 1], &[-32768.0]), t(I16, &[1, 1, 1], &[-32768.0]));
    row("MATMUL", &[x, y, zero(I16), zero(I16)], t(I48, &[1, 1, 1], &[1_073_741_824.0]));
}

#[test]
fn resizing() {
    let resize = |mode: f64, scale: [f64; 4], border: [f64; 2], input: Data, result: Data| {
        let shapes = [c(I32, &[4], &scale), c(I32, &[2], &[0.0; 2]), c(I32, &[2], &border)];
        let [scale, offset, border] = shapes;
        row("RESIZE", &[a(mode), input, scale, offset, border], result);
    };
    let x = t(F32, &[1, 1, 2, 1], &[1.0, 3.0]);
    // Twice as wide: places 0, 1/2, 1, and, by the border, 3/2.
    resize(2.0, [1.0, 1.0, 2.0, 1.0], [0.0, 1.0], x.clone(), t(F32, &[1, 1, 4, 1], &[1.0, 2.0, 3.0, 3.0]));
    resize(1.0, [1.0, 1.0, 2.0, 1.0], [0.0, 1.0], x, t(F32, &[1, 1, 4, 1], &[1.0, 3.0, 3.0, 3.0]));
    // Integers are not divided: times 1 · 2.
    let x = t(I8, &[1, 1, 2, 1], &[1.0, 4.0]);
    resize(2.0, [1.0, 1.0, 2.0, 1.0], [0.0, 0.0], x, t(I32, &[1, 1, 3, 1], &[2.0, 5.0, 8.0]));
}

#[test]
fn transforms() {
    let none = flag(false);
    let (x, i) = (t(F32, &[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]), t(F32, &[1, 1, 4], &[0.0; 4]));
    let results = [t(F32, &[1, 1, 4], &[10.0, -2.0, -2.0, -2.0]), t(F32, &[1, 1, 4], &[0.0, 2.0, 0.0, -2.0])];
    let made =
        run("FFT2D", &[none.clone(), none.clone(), x.clone(), i], &[&results[0], &results[1]]).expect("made");
    for (m, r) in made.iter().zip(&results) {
        assert!(m.iter().zip(&r.values).all(|(a, b)| (a - b).abs() < 1e-6), "{m:?}");
    }
    let half = [t(F32, &[1, 1, 3], &[10.0, -2.0, -2.0]), t(F32, &[1, 1, 3], &[0.0, 2.0, 0.0])];
    let made = run("RFFT2D", &[none, x], &[&half[0], &half[1]]).expect("made");
    for (m, r) in made.iter().zip(&half) {
        assert!(m.iter().zip(&r.values).all(|(a, b)| (a - b).abs() < 1e-6), "{m:?}");
    }
}

#[test]
fn broken_rules_are_told() {
    let x = || t(F32, &[1, 2, 2, 1], &[0.0; 4]);
    let w = || c(F32, &[1, 1, 1, 1], &[1.0]);
    let bias = || c(F32, &[1], &[0.0]);
    let ints = |v: &[f64]| c(I32, &[v.len() as u32], v);
    let conv = |pad: Data, stride: Data, result: &Data| {
        let operands =
            [pad, stride, ints(&[1.0, 1.0]), a(3.0), flag(false), x(), w(), bias(), zero(F32), zero(F32)];
        run("CONV2D", &operands, &[result]).unwrap_err()
    };
    let result = t(F32, &[1, 2, 2, 1], &[0.0; 4]);
    for (told, why) in [
        (conv(ints(&[-1.0, 0.0, 0.0, 0.0]), ints(&[1.0, 1.0]), &result), "pad"),
        (conv(ints(&[0.0; 4]), ints(&[0.0, 1.0]), &result), "stride"),
        (conv(ints(&[0.0; 4]), ints(&[2.0, 1.0]), &result), "multiple of the stride"),
        (conv(ints(&[0.0; 4]), ints(&[1.0, 1.0]), &t(F32, &[1, 2, 3, 1], &[0.0; 6])), "must have the shape"),
        (conv(ints(&[0.0; 3]), ints(&[1.0, 1.0]), &result), "pad must be 4 integers"),
        (run("ADD", &[x(), t(F32, &[1, 3, 2, 1], &[0.0; 6])], &[&result]).unwrap_err(), "broadcast"),
        (run("ADD", &[x(), t(I32, &[1, 2, 2, 1], &[0.0; 4])], &[&result]).unwrap_err(), "same type"),
        (run("ADD", &[x()], &[&result]).unwrap_err(), "1 operands, of 2"),
        (run("REVERSE", &[a(4.0), x()], &[&result]).unwrap_err(), "axis 4 of 4"),
        (run("REVERSE", &[t(I32, &[1], &[0.0]), x()], &[&result]).unwrap_err(), "must be a constant"),
        (
            run("TRANSPOSE", &[ints(&[0.0, 1.0, 1.0, 3.0]), x()], &[&result]).unwrap_err(),
            "each dimension once",
        ),
        (run("CAST", &[t(F16, &[1], &[0.0])], &[&t(BF16, &[1], &[0.0])]).unwrap_err(), "F16 to BF16"),
    ] {
        assert!(told.contains(why), "{told}: {why}");
    }
}

/// Several threads, which take tasks in any order.
struct Threads;

impl graph::Pool for Threads {
    fn run(&self, tasks: u64, each: &(dyn Fn(u64) + Sync)) {
        let next = std::sync::atomic::AtomicU64::new(0);
        let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    while let Some(task) = Some(take()).filter(|t| *t < tasks) {
                        each(tasks - 1 - task);
                    }
                });
            }
        });
    }
}

/// The same bits with gaps between rows, and on any number of threads.
#[test]
fn threads_and_gaps_change_nothing() {
    let noise = |n: usize, seed: usize| -> Vec<f64> {
        (0..n).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f64 / 64.0 - 15.0).collect()
    };
    let ints = |v: &[f64]| c(I32, &[v.len() as u32], v);
    let image = [2, 13, 11, 7];
    let x = t(F32, &image, &noise(2 * 13 * 11 * 7, 1));
    let w = c(F32, &[9, 3, 3, 7], &noise(9 * 9 * 7, 2));
    let conv = vec![
        ints(&[1.0; 4]),
        ints(&[1.0; 2]),
        ints(&[1.0; 2]),
        a(3.0),
        flag(false),
        x.clone(),
        w,
        c(F32, &[9], &noise(9, 3)),
        zero(F32),
        zero(F32),
    ];
    let two = [t(F32, &[6, 700, 3], &noise(12600, 4)), t(F32, &[6, 1, 3], &noise(18, 5))];
    let (rows, columns) = (t(F32, &[1, 37, 300], &noise(11100, 6)), t(F32, &[1, 300, 21], &noise(6300, 7)));
    let pool = vec![ints(&[3.0; 2]), ints(&[1.0; 2]), ints(&[1.0; 4]), a(1.0), x.clone()];
    let cases: [(&str, Vec<Data>, &[u32]); 8] = [
        ("CONV2D", conv, &[2, 13, 11, 9]),
        ("ADD", two.to_vec(), &[6, 700, 3]),
        ("EXP", vec![two[0].clone()], &[6, 700, 3]),
        ("MATMUL", vec![rows, columns, zero(F32), zero(F32)], &[1, 37, 21]),
        ("MAX_POOL2D", pool, &image),
        ("REDUCE_SUM", vec![a(1.0), two[0].clone()], &[6, 1, 3]),
        ("TRANSPOSE", vec![ints(&[3.0, 0.0, 2.0, 1.0]), x.clone()], &[7, 2, 11, 13]),
        ("RESHAPE", vec![x, ints(&[22.0, 91.0])], &[22, 91]),
    ];
    for (op, operands, shape) in cases {
        let n = shape.iter().product::<u32>() as usize;
        let result = t(F32, shape, &vec![0.0; n]);
        let made = run(op, &operands, &[&result]).expect(op);
        for gap in [0, 3] {
            let other = kit::run_on(op, &operands, &[&result], &Threads, gap).expect(op);
            assert_eq!(made, other, "{op}, {gap} elements between rows");
        }
    }
}

//! Errors of the math functions against f64, over at least a million samples each, and their special values. The
//! bounds asserted are Vulkan's (appendix "Precision and Operation of SPIR-V Instructions") or tighter.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{Code, Op};
use shader::ir::{Bin, Ty, Un};
use simd::Level;

/// Where samples come from: all floats of magnitudes between two, both signs or one.
#[derive(Clone, Copy)]
struct Range {
    lo: f32,
    hi: f32,
    negative: bool,
    /// Equally spread in value; else in the logarithm (in bits).
    linear: bool,
}
const fn logs(lo: f32, hi: f32, negative: bool) -> Range {
    Range { lo, hi, negative, linear: false }
}
const fn even(lo: f32, hi: f32) -> Range {
    Range { lo, hi, negative: false, linear: true }
}

impl Range {
    fn sample(&self, rng: &mut Random) -> f32 {
        if self.linear {
            let t = (rng.u64() >> 11) as f64 / (1u64 << 53) as f64;
            return (self.lo as f64 + (self.hi as f64 - self.lo as f64) * t) as f32;
        }
        let (a, b) = (self.lo.to_bits(), self.hi.to_bits());
        let x = f32::from_bits(a + rng.below(b - a + 1));
        if self.negative && rng.u64() >> 50 & 1 != 0 { -x } else { x }
    }
}

fn ulp(x: f64) -> f64 {
    let e = (x.abs().log2().floor()).max(-126.0);
    (e - 23.0).exp2()
}

/// ln of the largest float.
const OVERFLOWS: f64 = 88.722_839_052_068_35;

enum Limit {
    /// Units in the last place, by the operands.
    Ulp(fn(f64, f64) -> f64),
    Abs(f64),
}

/// Runs `op` over samples at the widest level, checks that other levels agree, and gives the largest error.
fn measure(name: &str, op: Op, ranges: &[Range; 2], exact: fn(f64, f64) -> f64, limit: Limit) {
    const BLOCKS: usize = 4400;
    let two = !op.b.is_none();
    // A level that is named is alone in the other tests, and may be an emulator's: slow. Here the others' bits are needed.
    let named = std::env::var_os("TUFF_TEST_SIMD").is_some();
    let widest = levels().pop().expect("a level");
    let levels: Vec<Level> = Level::all().into_iter().filter(|l| *l <= widest).collect();
    let mut rng = Random::new(0x9E37_79B9_7F4A_7C15);
    let (mut worst, mut at, mut over) = (0f64, (0f32, 0f32), 0f64);
    let mut b = Bench::new(256);
    for block in (0..BLOCKS).step_by(if named { 8 } else { 1 }) {
        let mut x = [0f32; 256];
        let mut y = [0f32; 256];
        for i in 0..256 {
            x[i] = ranges[0].sample(&mut rng);
            y[i] = ranges[1].sample(&mut rng);
            b.set(Ty::B32, 0, i, x[i].to_bits() as u64);
            b.set(Ty::B32, 32, i, y[i].to_bits() as u64);
        }
        // The widest level on all, the others on every eighth block (they are slow or the same code).
        let mut first: Option<Vec<u64>> = None;
        for &level in levels.iter().rev() {
            if first.is_some() && block % 8 != 0 {
                break;
            }
            b.run(level, &op);
            let got: Vec<u64> = (0..256).map(|i| b.get(Ty::B32, RESULT as usize, i)).collect();
            match &first {
                None => first = Some(got),
                Some(f) => {
                    for i in 0..256 {
                        let nan = |v: u64| f32::from_bits(v as u32).is_nan();
                        let same = f[i] == got[i] || nan(f[i]) && nan(got[i]);
                        assert!(same, "{name}({}, {}) differs at {level:?}", x[i], y[i]);
                    }
                }
            }
        }
        for (i, &bits) in first.unwrap().iter().enumerate() {
            let got = f32::from_bits(bits as u32);
            let want = exact(x[i] as f64, y[i] as f64);
            let second = if two { y[i] as f64 } else { 0.0 };
            let (error, bound) = match limit {
                _ if want.is_nan() || got.is_nan() => {
                    assert!(want.is_nan() && got.is_nan(), "{name}({}, {second}) = {got}, not {want}", x[i]);
                    continue;
                }
                Limit::Abs(a) => ((got as f64 - want).abs(), a),
                Limit::Ulp(f) => {
                    let bound = f(x[i] as f64, second);
                    if got.is_infinite() {
                        let max = f32::MAX as f64;
                        assert!(want.abs() + ulp(max) * bound > max, "{name}({}) = {got}, not {want}", x[i]);
                        continue;
                    }
                    // Infinite references: the largest finite value is one unit off.
                    let want = want.clamp(-3.402823669209385e38, 3.402823669209385e38);
                    ((got as f64 - want).abs() / ulp(want), bound)
                }
            };
            if error > worst {
                (worst, at) = (error, (x[i], y[i]));
            }
            over = over.max(error / bound);
        }
    }
    let unit = if matches!(limit, Limit::Abs(_)) { "absolute" } else { "ULP" };
    let args = if two { format!("{}, {}", at.0, at.1) } else { format!("{}", at.0) };
    println!("{name:10} max error {worst:10.3e} {unit:8} at ({args}); {:.3} of the bound", over);
    assert!(over <= 1.0, "{name}: {worst} at ({args})");
}

fn one(op: Un, range: Range, limit: Limit) {
    let mut o = Op::new(Code::un(op, Ty::B32));
    o.d = operand(RESULT, false);
    o.a = operand(0, false);
    measure(&format!("{op:?}"), o, &[range, range], reference(op), limit);
}
fn reference(op: Un) -> fn(f64, f64) -> f64 {
    match op {
        Un::FRsqrt => |x, _| 1.0 / x.sqrt(),
        Un::FExp2 => |x, _| x.exp2(),
        Un::FExp => |x, _| x.exp(),
        Un::FLog2 => |x, _| x.log2(),
        Un::FLog => |x, _| x.ln(),
        Un::FSin => |x, _| x.sin(),
        Un::FCos => |x, _| x.cos(),
        Un::FTan => |x, _| x.tan(),
        Un::FAsin => |x, _| x.asin(),
        Un::FAcos => |x, _| x.acos(),
        Un::FAtan => |x, _| x.atan(),
        // As derived from the exponential: where that overflows they do.
        Un::FSinh => |x, _| if x.abs() > OVERFLOWS { x.signum() * f64::INFINITY } else { x.sinh() },
        Un::FCosh => |x, _| if x.abs() > OVERFLOWS { f64::INFINITY } else { x.cosh() },
        Un::FTanh => |x, _| x.tanh(),
        Un::FAsinh => |x, _| x.asinh(),
        Un::FAcosh => |x, _| x.acosh(),
        Un::FAtanh => |x, _| x.atanh(),
        _ => unreachable!(),
    }
}

const ALL: Range = logs(1e-45, f32::MAX, true);
const POSITIVE: Range = logs(1e-45, f32::MAX, false);

macro_rules! ulps {
    ($n:expr) => {
        Limit::Ulp(|_, _| $n)
    };
}

#[test]
fn roots_and_exponentials() {
    one(Un::FRsqrt, POSITIVE, ulps!(1.5));
    one(Un::FExp2, ALL, ulps!(1.5));
    one(Un::FExp2, even(-150.0, 128.0), ulps!(1.5));
    one(Un::FExp, ALL, ulps!(1.5));
    one(Un::FExp, even(-104.0, 88.8), ulps!(1.5));
    one(Un::FLog2, POSITIVE, ulps!(2.5));
    one(Un::FLog2, even(0.5, 2.0), ulps!(2.5));
    one(Un::FLog, POSITIVE, ulps!(2.5));
    one(Un::FLog, even(0.5, 2.0), ulps!(2.5));
}

#[test]
fn circular() {
    let pi = std::f32::consts::PI;
    one(Un::FSin, even(-pi, pi), Limit::Abs(1.5e-7));
    one(Un::FCos, even(-pi, pi), Limit::Abs(1.5e-7));
    one(Un::FSin, even(-1.5, 1.5), ulps!(2.5));
    one(Un::FCos, even(-1.5, 1.5), ulps!(2.0));
    one(Un::FSin, ALL, Limit::Abs(1.5e-7));
    one(Un::FCos, ALL, Limit::Abs(1.5e-7));
    one(Un::FSin, even(-140000.0, 140000.0), Limit::Abs(1.5e-7));
    one(Un::FCos, even(-140000.0, 140000.0), Limit::Abs(1.5e-7));
    one(Un::FTan, even(-pi, pi), ulps!(4.0));
    one(Un::FTan, even(-1000.0, 1000.0), ulps!(32.0));
}

#[test]
fn inverse_circular() {
    one(Un::FAsin, logs(1e-45, 1.0, true), ulps!(4.0));
    one(Un::FAsin, even(-1.0, 1.0), ulps!(4.0));
    one(Un::FAcos, even(-1.0, 1.0), ulps!(3.0));
    one(Un::FAtan, ALL, ulps!(3.0));
    one(Un::FAtan, even(-3.0, 3.0), ulps!(3.0));
}

#[test]
fn hyperbolic() {
    one(Un::FSinh, ALL, ulps!(4.0));
    one(Un::FSinh, even(-90.0, 90.0), ulps!(4.0));
    one(Un::FCosh, ALL, ulps!(4.0));
    one(Un::FCosh, even(-90.0, 90.0), ulps!(4.0));
    one(Un::FTanh, ALL, ulps!(4.0));
    one(Un::FTanh, even(-12.0, 12.0), ulps!(4.0));
    one(Un::FAsinh, ALL, ulps!(6.0));
    one(Un::FAcosh, logs(1.0, f32::MAX, false), ulps!(6.0));
    one(Un::FAcosh, even(1.0, 3.0), ulps!(6.0));
    one(Un::FAtanh, logs(1e-45, 1.0, true), ulps!(6.0));
}

fn two(op: Bin, ranges: [Range; 2], exact: fn(f64, f64) -> f64, limit: Limit) {
    let mut o = Op::new(Code::bin(op, Ty::B32));
    o.d = operand(RESULT, false);
    o.a = operand(0, false);
    o.b = operand(32, false);
    measure(&format!("{op:?}"), o, &ranges, exact, limit);
}

/// pow is exp2(y · log2 x): the product's error (3 ULP of log2, half of the product) times ln 2, and exp2's.
fn pow_bound(x: f64, y: f64) -> f64 {
    let p = (y * x.log2()).abs();
    3.0 + 2.0 * p + p * 3.5 * 2.0
}

#[test]
fn of_two() {
    two(Bin::FPow, [even(0.0, 10.0), even(-30.0, 30.0)], f64::powf, Limit::Ulp(pow_bound));
    two(Bin::FPow, [POSITIVE, even(-2.0, 2.0)], f64::powf, Limit::Ulp(pow_bound));
    two(Bin::FAtan2, [even(-10.0, 10.0), even(-10.0, 10.0)], f64::atan2, ulps!(4.0));
    two(Bin::FAtan2, [logs(1e-30, 1e30, true), logs(1e-5, 1e5, true)], f64::atan2, ulps!(4.0));
}

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = 1e-45;
const PI: f32 = std::f32::consts::PI;

fn value(level: Level, op: &Op, x: f32, y: f32) -> f32 {
    let mut b = Bench::new(64);
    for i in 0..64 {
        // One lane of the warp is special, the rest are not: the slow path serves both.
        let (x, y) = if i % 16 == 5 { (x, y) } else { (1.0, 1.0) };
        b.set(Ty::B32, 0, i, x.to_bits() as u64);
        b.set(Ty::B32, 32, i, y.to_bits() as u64);
    }
    b.run(level, op);
    f32::from_bits(b.get(Ty::B32, RESULT as usize, 21) as u32)
}
fn expect(op: Op, name: &str, x: f32, y: f32, want: f32) {
    let mut op = op;
    op.d = operand(RESULT, false);
    op.a = operand(0, false);
    for level in levels() {
        let got = value(level, &op, x, y);
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{name}({x:e}, {y:e}) at {level:?} = {got:e}, not {want:e}");
    }
}

#[test]
fn special_values() {
    use Un::*;
    let table: &[(Un, &[(f32, f32)])] = &[
        (FRsqrt, &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (NAN, NAN), (4.0, 0.5), (1.0, 1.0)]),
        (
            FExp2,
            &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (-149.0, TINY), (128.0, INF)],
        ),
        (
            FExp2,
            &[(-126.0, f32::MIN_POSITIVE), (127.0, 1.7014118e38), (-151.0, 0.0), (3.0, 8.0), (-1e30, 0.0)],
        ),
        (FExp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (89.0, INF), (-104.5, 0.0)]),
        (FLog2, &[(0.0, -INF), (-0.0, -INF), (INF, INF), (NAN, NAN), (-1.0, NAN), (-INF, NAN), (1.0, 0.0)]),
        (FLog2, &[(TINY, -149.0), (8.0, 3.0), (0.5, -1.0), (f32::MIN_POSITIVE, -126.0)]),
        (FLog, &[(0.0, -INF), (-0.0, -INF), (INF, INF), (NAN, NAN), (-TINY, NAN), (1.0, 0.0)]),
        (
            FSin,
            &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, TINY), (-TINY, -TINY)],
        ),
        (FSin, &[(PI / 2.0, 1.0), (-PI / 2.0, -1.0)]),
        (FCos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (NAN, NAN), (TINY, 1.0), (PI, -1.0)]),
        (FTan, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (NAN, NAN), (TINY, TINY)]),
        (FAsin, &[(0.0, 0.0), (-0.0, -0.0), (1.0, PI / 2.0), (-1.0, -PI / 2.0), (1.5, NAN), (NAN, NAN)]),
        (FAcos, &[(1.0, 0.0), (-1.0, PI), (0.0, PI / 2.0), (2.0, NAN), (-2.0, NAN), (NAN, NAN)]),
        (FAtan, &[(0.0, 0.0), (-0.0, -0.0), (INF, PI / 2.0), (-INF, -PI / 2.0), (NAN, NAN), (1.0, PI / 4.0)]),
        (FSinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (TINY, TINY), (88.8, INF)]),
        (FCosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (TINY, 1.0)]),
        (FTanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (TINY, TINY), (50.0, 1.0)]),
        (FAsinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (-TINY, -TINY)]),
        (FAcosh, &[(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)]),
        (FAtanh, &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (NAN, NAN), (TINY, TINY)]),
    ];
    for (op, cases) in table {
        for &(x, want) in *cases {
            expect(Op::new(Code::un(*op, Ty::B32)), &format!("{op:?}"), x, 0.0, want);
        }
    }
    let pairs: &[(Bin, &[(f32, f32, f32)])] = &[
        (Bin::FPow, &[(2.0, 3.0, 8.0), (0.0, 2.0, 0.0), (0.0, -1.0, INF), (5.0, 0.0, 1.0), (0.0, 0.0, 1.0)]),
        (Bin::FPow, &[(INF, 2.0, INF), (INF, -2.0, 0.0), (2.0, INF, INF), (0.5, INF, 0.0), (NAN, 1.0, NAN)]),
        (
            Bin::FPow,
            &[(2.0, NAN, NAN), (1.0, 7.5, 1.0), (2.0, 1e30, INF), (2.0, -1e30, 0.0), (-2.0, 2.0, NAN)],
        ),
        (Bin::FAtan2, &[(0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, PI), (-0.0, -1.0, -PI)]),
        (Bin::FAtan2, &[(1.0, 0.0, PI / 2.0), (-1.0, 0.0, -PI / 2.0), (0.0, 0.0, 0.0), (0.0, -0.0, PI)]),
        (Bin::FAtan2, &[(INF, INF, PI / 4.0), (INF, -INF, 3.0 * PI / 4.0), (1.0, INF, 0.0), (1.0, -INF, PI)]),
        (Bin::FAtan2, &[(NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, 1.0, PI / 2.0)]),
    ];
    for (op, cases) in pairs {
        for &(x, y, want) in *cases {
            let mut o = Op::new(Code::bin(*op, Ty::B32));
            o.b = operand(32, false);
            expect(o, &format!("{op:?}"), x, y, want);
        }
    }
}

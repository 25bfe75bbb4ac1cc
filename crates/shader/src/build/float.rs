//! Float arithmetic as the entry point's float controls want it: rounding toward zero, denormals flushed.
//!
//! The kernels round to nearest even and keep denormals. The other modes are made of exact operations, in shaders
//! that ask for them only:
//!
//! - Toward zero: the operation in a wider format or with its error computed exactly, then one step back where
//!   rounding to nearest went away from zero. For addition, subtraction and multiplication, and for conversions: what
//!   the specification wants correctly rounded. (Of 16 and 32 bits division is too.)
//! - Flushing: operands before and results after each instruction (appendix VK_KHR_shader_float_controls, issues 1
//!   and 2 say of which).

use super::Builder;
use super::emit::Emit;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Execution modes for one width.
#[derive(Clone, Copy, Default)]
pub(crate) struct FloatMode {
    pub toward_zero: bool,
    pub flush: bool,
}

/// Modes of 16, 32 and 64 bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct FloatModes([FloatMode; 3]);

impl FloatModes {
    /// `bits`: the width; another one changes nothing.
    pub fn set(&mut self, bits: u32, f: impl Fn(&mut FloatMode)) {
        if let Some(k) = [16, 32, 64].iter().position(|b| *b == bits) {
            f(&mut self.0[k]);
        }
    }
    pub fn of(&self, s: Sk) -> FloatMode {
        match s {
            Sk::F16 => self.0[0],
            Sk::F32 => self.0[1],
            Sk::F64 => self.0[2],
            _ => FloatMode::default(),
        }
    }
    pub fn any_flush(&self) -> bool {
        self.0.iter().any(|m| m.flush)
    }
}

impl Emit {
    fn zeroward(&self, s: Sk) -> bool {
        self.modes.of(s).toward_zero
    }
    /// Rounds a float result, in the register's format, to its width.
    #[inline]
    pub fn round(&mut self, s: Sk, v: Value) -> Value {
        match s {
            Sk::F16 if self.zeroward(s) => self.un(Un::F16RoundRtz, v),
            Sk::F16 => self.un(Un::F16Round, v),
            _ => v,
        }
    }
    fn float2(&mut self, s: Sk, op: Bin, a: Value, b: Value) -> Value {
        if self.zeroward(s) {
            return self.toward_zero(s, op, a, b);
        }
        let v = self.bin(op, a, b);
        self.round(s, v)
    }
    pub fn fadd(&mut self, s: Sk, a: Value, b: Value) -> Value {
        self.float2(s, Bin::FAdd, a, b)
    }
    pub fn fsub(&mut self, s: Sk, a: Value, b: Value) -> Value {
        self.float2(s, Bin::FSub, a, b)
    }
    /// a + b or a − b; where zeros' `signs` do not matter, a zero adds nothing.
    pub fn sum(&mut self, s: Sk, op: Bin, [a, b]: [Value; 2], signs: bool) -> Value {
        let minus = if s == Sk::F64 { 1 << 63 } else { 1 << 31 };
        let zero = |e: &Emit, v| e.as_const(v).is_some_and(|c| c & !minus == 0);
        if !signs && !self.exact && !self.modes.of(s).flush {
            if zero(self, b) {
                return a;
            }
            if zero(self, a) {
                return if op == Bin::FAdd { b } else { self.un(Un::FNeg, b) };
            }
        }
        self.float2(s, op, a, b)
    }
    pub fn fmul(&mut self, s: Sk, a: Value, b: Value) -> Value {
        self.float2(s, Bin::FMul, a, b)
    }
    pub fn fdiv(&mut self, s: Sk, a: Value, b: Value) -> Value {
        self.float2(s, Bin::FDiv, a, b)
    }
    /// a · b + c, fused unless the result must not be contracted.
    pub fn fmad(&mut self, s: Sk, a: Value, b: Value, c: Value) -> Value {
        if self.exact { self.two_steps(s, a, b, c) } else { self.ffma(s, a, b, c) }
    }
    /// GLSL.std.450 Fma.
    pub fn ffma(&mut self, s: Sk, a: Value, b: Value, c: Value) -> Value {
        if self.zeroward(s) {
            return self.two_steps(s, a, b, c);
        }
        let v = self.fma(a, b, c);
        self.round(s, v)
    }
    /// OpFmaKHR: a · b + c, rounded once. (Of 64 bits to nearest only: the device has it of 16 and 32.)
    pub fn fused(&mut self, s: Sk, x: [Value; 3]) -> Value {
        let zeroward = self.zeroward(s);
        let [a, b, c] = match s {
            Sk::F64 => x,
            Sk::F32 if !zeroward => x,
            // A product of theirs is exact in f64. So is the sum of halves, where what it lacks could change a half.
            _ => x.map(|v| self.un(Un::F32ToF64, v)),
        };
        let exact = std::mem::replace(&mut self.exact, true);
        let v = match s {
            Sk::F16 | Sk::F32 if zeroward => {
                let product = self.bin(Bin::FMul, a, b);
                let sum = self.sum_toward_zero(product, c);
                self.narrow_toward_zero(s, sum)
            }
            Sk::F16 => {
                let sum = self.fma(a, b, c);
                self.un(Un::F64ToF16, sum)
            }
            _ => self.fma(a, b, c),
        };
        self.exact = exact;
        v
    }
    fn two_steps(&mut self, s: Sk, a: Value, b: Value, c: Value) -> Value {
        let p = self.fmul(s, a, b);
        self.fadd(s, p, c)
    }

    /// `op` (a sum, difference, product or quotient) rounded toward zero.
    fn toward_zero(&mut self, s: Sk, op: Bin, a: Value, b: Value) -> Value {
        let exact = std::mem::replace(&mut self.exact, true);
        let v = if s == Sk::F64 {
            match op {
                Bin::FAdd => self.sum_toward_zero(a, b),
                Bin::FSub => {
                    let b = self.un(Un::FNeg, b);
                    self.sum_toward_zero(a, b)
                }
                Bin::FMul => self.product_toward_zero(a, b),
                _ => self.bin(op, a, b),
            }
        } else {
            // In f64 a product is exact, and a quotient too far from the numbers of the narrow format to be rounded to
            // one.
            let (a, b) = (self.un(Un::F32ToF64, a), self.un(Un::F32ToF64, b));
            let v = match op {
                Bin::FAdd => self.sum_toward_zero(a, b),
                Bin::FSub => {
                    let b = self.un(Un::FNeg, b);
                    self.sum_toward_zero(a, b)
                }
                _ => self.bin(op, a, b),
            };
            self.narrow_toward_zero(s, v)
        };
        self.exact = exact;
        v
    }
    /// `v` one step nearer to zero where `away`.
    fn step_back(&mut self, away: Value, v: Value) -> Value {
        let ty = self.ty(v);
        let minus = self.int(ty, -1);
        let less = self.add(v, minus);
        self.select(away, less, v)
    }
    /// Of f64.
    fn sum_toward_zero(&mut self, a: Value, b: Value) -> Value {
        // The error of the sum to nearest, exactly (Knuth).
        let s = self.bin(Bin::FAdd, a, b);
        let b2 = self.bin(Bin::FSub, s, a);
        let a2 = self.bin(Bin::FSub, s, b2);
        let (ea, eb) = (self.bin(Bin::FSub, a, a2), self.bin(Bin::FSub, b, b2));
        let e = self.bin(Bin::FAdd, ea, eb);
        self.toward_zero_of(s, e, [a, b])
    }
    /// `r`, off the exact result by `e` (that minus `r`), of finite or infinite operands.
    fn toward_zero_of(&mut self, r: Value, e: Value, [a, b]: [Value; 2]) -> Value {
        let zero = self.float(Ty::B64, 0.0);
        let (pos, neg) = (self.bin(Bin::FLt, zero, r), self.bin(Bin::FLt, r, zero));
        let (above, below) = (self.bin(Bin::FLt, zero, e), self.bin(Bin::FLt, e, zero));
        let up = self.bin(Bin::BAnd, pos, below);
        let down = self.bin(Bin::BAnd, neg, above);
        let away = self.bin(Bin::BOr, up, down);
        // What overflowed.
        let inf = self.un(Un::FIsInf, r);
        let (ia, ib) = (self.un(Un::FIsInf, a), self.un(Un::FIsInf, b));
        let meant = self.bin(Bin::BOr, ia, ib);
        let finite = self.un(Un::BNot, meant);
        let over = self.bin(Bin::BAnd, inf, finite);
        let away = self.select(inf, over, away);
        self.step_back(away, r)
    }
    /// Of f64.
    fn product_toward_zero(&mut self, a: Value, b: Value) -> Value {
        let product = |e: &mut Emit, a: Value, b: Value| {
            let p = e.bin(Bin::FMul, a, b);
            let minus = e.un(Un::FNeg, p);
            let rest = e.fma(a, b, minus);
            e.toward_zero_of(p, rest, [a, b])
        };
        let plain = product(self, a, b);
        // Where the error would be below every float, of scaled operands, and scaled back with a look at what that
        // did.
        let k = self.float(Ty::B64, f64::from_bits((1023 + 537) << 52));
        let down = self.constant(Ty::B64, 1);
        let (x, y) = (self.bin(Bin::FMul, a, k), self.bin(Bin::FMul, b, k));
        let big = product(self, x, y);
        let small = self.bin(Bin::FMul, big, down);
        let back = self.bin(Bin::FMul, small, k);
        let back = self.bin(Bin::FMul, back, k);
        let (back, size) = (self.un(Un::FAbs, back), self.un(Un::FAbs, big));
        let away = self.bin(Bin::FLt, size, back);
        let small = self.step_back(away, small);
        let limit = self.float(Ty::B64, f64::from_bits((1023 - 960) << 52));
        let size = self.un(Un::FAbs, plain);
        let tiny = self.bin(Bin::FLt, size, limit);
        self.select(tiny, small, plain)
    }
    /// f64 → f32 or f16, toward zero.
    pub fn narrow_toward_zero(&mut self, to: Sk, v: Value) -> Value {
        let f = self.un(Un::F64ToF32, v);
        let back = self.un(Un::F32ToF64, f);
        let (back, x) = (self.un(Un::FAbs, back), self.un(Un::FAbs, v));
        let away = self.bin(Bin::FLt, x, back);
        let f = self.step_back(away, f);
        if to == Sk::F16 { self.un(Un::F16RoundRtz, f) } else { f }
    }
    /// A 32- or 64-bit integer to f32 or f64, toward zero.
    pub fn int_toward_zero(&mut self, from: Sk, to: Sk, v: Value, signed: bool) -> Value {
        let wide = if from == Sk::I64 {
            let (low, high) = (self.un(Un::Lo32, v), self.un(Un::Hi32, v));
            let low = self.un(Un::U32ToF64, low);
            let high = self.un(if signed { Un::S32ToF64 } else { Un::U32ToF64 }, high);
            let k = self.float(Ty::B64, 4294967296.0);
            let high = self.bin(Bin::FMul, high, k);
            self.sum_toward_zero(high, low)
        } else {
            self.un(if signed { Un::S32ToF64 } else { Un::U32ToF64 }, v)
        };
        if to == Sk::F64 { wide } else { self.narrow_toward_zero(to, wide) }
    }

    /// `v` with denormals of its width made zeros, if the mode says so.
    pub fn flushed(&mut self, s: Sk, v: Value) -> Value {
        if !self.modes.of(s).flush {
            return v;
        }
        if s != Sk::F16 {
            return self.un(Un::FlushDenorm, v);
        }
        // An f16 in an f32: normal there.
        let size = self.un(Un::FAbs, v);
        let least = self.f32(1.0 / 16384.0);
        let small = self.bin(Bin::FLt, size, least);
        let sign = self.u32(0x8000_0000);
        let zero = self.bin(Bin::And, v, sign);
        self.select(small, zero, v)
    }
}

impl<'m> Builder<'m> {
    /// `n` float operands from `start` of the pool with their denormals flushed: where they are now.
    #[inline]
    pub(crate) fn flushed_operands(&mut self, s: Sk, start: usize, n: usize) -> usize {
        if !self.e.modes.of(s).flush {
            return start;
        }
        let new = self.pool.len();
        for k in 0..n {
            let v = self.e.flushed(s, self.pool[start + k]);
            self.pool.push(v);
        }
        new
    }
    /// Flushes the floats of the value that `i` has defined.
    pub(crate) fn flush_result(&mut self, i: &Code) -> Result<()> {
        if !self.e.modes.any_flush() {
            return Ok(());
        }
        let (ty, id) = self.result(i)?;
        let mut kinds = Vec::new();
        self.types.flatten(ty, &mut kinds)?;
        let (_, start, len) = self.value(id, i.at)?;
        if kinds.len() != len || !kinds.iter().any(|s| self.e.modes.of(*s).flush) {
            return Ok(());
        }
        let new = self.pool.len();
        for (k, s) in kinds.into_iter().enumerate() {
            let v = self.e.flushed(s, self.pool[start + k]);
            self.pool.push(v);
        }
        self.define(id, ty, new);
        Ok(())
    }
}

/// Arithmetic and conversions to floats, whose results are flushed.
pub(crate) fn is_float_instruction(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::FNegate
            | Op::FmaKHR
            | Op::Dot
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::FConvert
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::QuantizeToF16
    )
}

/// Arithmetic of a subgroup: flushed as the others.
pub(crate) fn is_float_group(op: Op) -> bool {
    use Op::*;
    matches!(op, GroupNonUniformFAdd | GroupNonUniformFMul | GroupNonUniformFMin | GroupNonUniformFMax)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval;

    /// ± m · 2^e
    struct Exact {
        negative: bool,
        m: u128,
        e: i32,
    }

    fn exact(x: f64) -> Exact {
        let bits = x.to_bits();
        let exp = (bits >> 52 & 0x7FF) as i32;
        let m = bits & ((1 << 52) - 1) | if exp == 0 { 0 } else { 1 << 52 };
        Exact { negative: x.is_sign_negative(), m: m as u128, e: exp.max(1) - 1075 }
    }

    /// Toward zero, to a format of `digits` bits, least exponent `least` of the last place and largest value `max`.
    fn cut(x: Exact, digits: i32, least: i32, max: f64) -> f64 {
        let length = 128 - x.m.leading_zeros() as i32;
        let drop = (length - digits).max(least - x.e).clamp(0, 127);
        let (mut r, mut e) = ((x.m >> drop) as f64, x.e + drop);
        // Steps that are exact until the last.
        while e != 0 && r != 0.0 && r.is_finite() {
            let step = e.clamp(-500, 500);
            r *= 2f64.powi(step);
            e -= step;
        }
        let r = r.min(max);
        if x.negative { -r } else { r }
    }

    fn sum(a: f64, b: f64) -> Exact {
        let (a, b) = (exact(a), exact(b));
        let (a, b) = if a.m == 0 || (b.m != 0 && a.e < b.e) { (b, a) } else { (a, b) };
        let gap = (a.e - b.e).clamp(0, 60);
        // Far below, only whether there is something counts.
        let low = if b.m == 0 {
            0
        } else if a.e - b.e > 60 {
            1
        } else {
            b.m as i128
        };
        let e = a.e - gap;
        let signed = |m: i128, n: bool| if n { -m } else { m };
        let total = signed((a.m as i128) << gap, a.negative) + signed(low, b.negative);
        Exact { negative: total < 0, m: total.unsigned_abs(), e }
    }

    fn product(a: f64, b: f64) -> Exact {
        let (a, b) = (exact(a), exact(b));
        Exact { negative: a.negative != b.negative, m: a.m * b.m, e: a.e + b.e }
    }

    /// x · y + z of numbers of 32 bits or fewer.
    fn fused(x: f64, y: f64, z: f64) -> Exact {
        let short = |mut n: Exact| {
            let zeros = n.m.trailing_zeros().min(127) as i32;
            (n.m, n.e) = (n.m >> zeros, n.e + zeros);
            n
        };
        let (a, b) = (short(product(x, y)), short(exact(z)));
        let (a, b) = if a.m == 0 || (b.m != 0 && a.e < b.e) { (b, a) } else { (a, b) };
        // Far below, only whether there is something counts.
        let gap = (a.e - b.e).clamp(0, 75);
        let low = match b.m {
            0 => 0,
            _ if a.e - b.e > 75 => 1,
            m => m as i128,
        };
        let signed = |m: i128, n: bool| if n { -m } else { m };
        let total = signed((a.m as i128) << gap, a.negative) + signed(low, b.negative);
        Exact { negative: total < 0, m: total.unsigned_abs(), e: a.e - gap }
    }

    /// As [`cut`], to the nearest, or the even one of two; `max` rounded up is infinity.
    fn nearest(x: Exact, digits: i32, least: i32, max: f64) -> f64 {
        let length = 128 - x.m.leading_zeros() as i32;
        let drop = (length - digits).max(least - x.e).clamp(0, 127);
        let (kept, rest) = (x.m >> drop, x.m & ((1 << drop) - 1));
        let half = if drop == 0 { 0 } else { 1u128 << (drop - 1) };
        let up = drop > 0 && (rest > half || rest == half && kept & 1 == 1);
        let whole = Exact { m: kept + up as u128, e: x.e + drop, negative: x.negative };
        let r = cut(whole, digits + 1, least, f64::INFINITY);
        if r.abs() > max { f64::INFINITY.copysign(r) } else { r }
    }

    /// OpFmaKHR rounds once, in either mode; also near ties, and where most of it cancels out.
    #[test]
    fn fused_operations_round_once() {
        let mut r = random::Random::default();
        for round in 0..60_000u32 {
            let s = [Sk::F16, Sk::F32][round as usize % 2];
            let number = |bits: u64| match s {
                Sk::F32 => {
                    let e = if bits & 1 == 0 { (bits >> 1) % 255 } else { 110 + (bits >> 1) % 40 };
                    f32::from_bits(((bits >> 32) as u32 & !(0xFF << 23)) | (e as u32) << 23) as f64
                }
                _ => {
                    let bits = eval::un(Un::BitsToF16, Ty::B32, bits & 0x83FF | ((bits >> 16) % 31) << 10);
                    f32::from_bits(bits.expect("exact") as u32) as f64
                }
            };
            let (digits, least, max) =
                if s == Sk::F16 { (11, -24, 65504.0) } else { (24, -149, f32::MAX as f64) };
            let (x, y) = (number(r.u64()), number(r.u64()));
            let z = match round % 5 {
                // What cancels the product, and the least number besides a product.
                0 => -cut(product(x, y), digits, least, max),
                1 => 2f64.powi(least),
                _ => number(r.u64()),
            };
            for zeroward in [false, true] {
                let mut e = Emit::new(64);
                e.modes.set(s.bits(), |m| m.toward_zero = zeroward);
                let operands = [x, y, z].map(|n| e.float(s.ty(), n));
                let v = e.fused(s, operands);
                let got = f32::from_bits(e.as_const(v).expect("folded") as u32) as f64;
                let round = if zeroward { cut } else { nearest };
                let want = round(fused(x, y, z), digits, least, max);
                assert!(got == want, "{s:?} {zeroward}: {x:e} · {y:e} + {z:e} is {got:e}, not {want:e}");
            }
        }
    }

    #[test]
    fn sums_and_products_are_cut() {
        let mut r = random::Random::default();
        let mut next = || r.u64();
        for round in 0..60_000u32 {
            let mut number = |s: Sk| {
                let r = next();
                match s {
                    Sk::F64 => {
                        // Exponents near each other, anywhere, at the ends.
                        let e = match r % 5 {
                            0 => 1023 - 30 + r / 5 % 60,
                            1 => r / 5 % 2047,
                            2 => r / 5 % 60,
                            3 => 480 + r / 5 % 80,
                            _ => 2046 - r / 5 % 60,
                        };
                        f64::from_bits((next() & !(0x7FF << 52)) | e << 52)
                    }
                    Sk::F32 => {
                        let e = if r.is_multiple_of(3) { r / 3 % 255 } else { 110 + r / 3 % 40 };
                        f32::from_bits((next() as u32 & !(0xFF << 23)) | (e as u32) << 23) as f64
                    }
                    _ => {
                        let bits = eval::un(Un::BitsToF16, Ty::B32, r & 0x83FF | ((r >> 16) % 31) << 10);
                        f32::from_bits(bits.expect("exact") as u32) as f64
                    }
                }
            };
            let s = [Sk::F16, Sk::F32, Sk::F64][round as usize % 3];
            let (x, y) = (number(s), number(s));
            let (digits, least, max) = match s {
                Sk::F16 => (11, -24, 65504.0),
                Sk::F32 => (24, -149, f32::MAX as f64),
                _ => (53, -1074, f64::MAX),
            };
            let mut e = Emit::new(64);
            e.modes.set(s.bits(), |m| m.toward_zero = true);
            let (a, b) = (e.float(s.ty(), x), e.float(s.ty(), y));
            let results = [
                (e.fadd(s, a, b), cut(sum(x, y), digits, least, max)),
                (e.fsub(s, a, b), cut(sum(x, -y), digits, least, max)),
                (e.fmul(s, a, b), cut(product(x, y), digits, least, max)),
            ];
            for (k, (v, want)) in results.into_iter().enumerate() {
                let bits = e.as_const(v).expect("folded");
                let got =
                    if s == Sk::F64 { f64::from_bits(bits) } else { f32::from_bits(bits as u32) as f64 };
                assert!(got == want, "{s:?} operation {k} of {x:e}, {y:e}: {got:e}, not {want:e}");
            }
        }
    }

    #[test]
    fn integers_are_cut() {
        let mut r = random::Random::default();
        let mut next = || r.u64();
        for round in 0..20_000 {
            let x = next() >> (round % 64);
            for signed in [false, true] {
                let negative = signed && (x as i64) < 0;
                let m = if negative { x.wrapping_neg() } else { x };
                let whole = || Exact { negative, m: m as u128, e: 0 };
                let mut e = Emit::new(64);
                let v = e.u64(x);
                let (f, d) = (
                    e.int_toward_zero(Sk::I64, Sk::F32, v, signed),
                    e.int_toward_zero(Sk::I64, Sk::F64, v, signed),
                );
                let f = f32::from_bits(e.as_const(f).expect("folded") as u32) as f64;
                assert_eq!(f, cut(whole(), 24, -149, f64::MAX), "{x:#x}");
                assert_eq!(
                    e.as_const(d).map(f64::from_bits),
                    Some(cut(whole(), 53, -1074, f64::MAX)),
                    "{x:#x}"
                );
            }
        }
    }

    #[test]
    fn zeros_infinities_and_nan_stay() {
        let list = [0.0, -0.0, 1.0, -2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for s in [Sk::F16, Sk::F32, Sk::F64] {
            for x in list {
                for y in list {
                    let mut e = Emit::new(64);
                    e.modes.set(s.bits(), |m| m.toward_zero = true);
                    let (a, b) = (e.float(s.ty(), x), e.float(s.ty(), y));
                    for (v, want) in [(e.fadd(s, a, b), x + y), (e.fmul(s, a, b), x * y)] {
                        let want = e.float(s.ty(), if want.is_nan() { f64::NAN } else { want });
                        assert_eq!(e.as_const(v), e.as_const(want), "{s:?} {x} {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn denormals_are_flushed() {
        let mut e = Emit::new(64);
        for bits in [16, 32, 64] {
            e.modes.set(bits, |m| m.flush = true);
        }
        for (s, least) in [(Sk::F16, 2f64.powi(-14)), (Sk::F32, 2f64.powi(-126)), (Sk::F64, 2f64.powi(-1022))]
        {
            for (x, want) in [(least, least), (-least, -least), (least * 0.75, 0.0), (least * -0.5, -0.0)] {
                let v = e.float(s.ty(), x);
                let (v, want) = (e.flushed(s, v), e.float(s.ty(), want));
                assert_eq!(e.as_const(v), e.as_const(want), "{s:?} {x:e}");
            }
        }
    }
}

//! The extended instruction set GLSL.std.450.

use super::Builder;
use super::arith::Class;
use super::emit::Emit;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Emit {
    /// A float constant of the kind's register width.
    pub fn fconst(&mut self, s: Sk, x: f64) -> Value {
        let v = self.float(s.ty(), x);
        if s == Sk::F16 { self.un(Un::F16Round, v) } else { v }
    }
    /// A constant that is not NaN.
    fn is_number(&self, s: Sk, v: Value) -> bool {
        self.as_const(v).is_some_and(|bits| !crate::isa::is_nan(s.ty(), bits))
    }
    /// x clamped to [0, 1].
    fn saturate(&mut self, s: Sk, x: Value) -> Value {
        let (zero, one) = (self.fconst(s, 0.0), self.fconst(s, 1.0));
        self.tri(Tri::FClamp, x, zero, one)
    }
    /// Fraction and whole, both of the sign of x; infinities have the fraction zero.
    fn modf(&mut self, s: Sk, x: Value) -> (Value, Value) {
        let whole = self.un(Un::FTrunc, x);
        let part = self.fsub(s, x, whole);
        let inf = self.un(Un::FIsInf, x);
        let zero = self.fconst(s, 0.0);
        let part = self.select(inf, zero, part);
        let minus = self.float(s.ty(), -0.0);
        let sign = self.bin(Bin::And, x, minus);
        (self.bin(Bin::Or, part, sign), whole)
    }
    fn smooth_step(&mut self, s: Sk, lo: Value, hi: Value, x: Value) -> Value {
        let (a, b) = (self.fsub(s, x, lo), self.fsub(s, hi, lo));
        let t = self.fdiv(s, a, b);
        let t = self.saturate(s, t);
        let (two, three) = (self.fconst(s, -2.0), self.fconst(s, 3.0));
        let k = self.fmad(s, t, two, three);
        let tt = self.fmul(s, t, t);
        self.fmul(s, tt, k)
    }
    /// x · (1 − a) + y · a; `keeps`: NaNs and infinities too.
    fn mix(&mut self, s: Sk, x: &[Value], keeps: bool) -> Value {
        if self.exact {
            let one = self.fconst(s, 1.0);
            let rest = self.fsub(s, one, x[2]);
            let (a, b) = (self.fmul(s, x[0], rest), self.fmul(s, x[1], x[2]));
            return self.fadd(s, a, b);
        }
        if x[0] == x[1] && !keeps {
            // Contracted to nothing.
            return x[0];
        }
        let v = self.tri(Tri::FMix, x[0], x[1], x[2]);
        self.round(s, v)
    }
}

impl<'m> Builder<'m> {
    /// OpExtInst of GLSL.std.450. Operands start at word 5.
    pub(crate) fn glsl(&mut self, i: &Code) -> Result<()> {
        let code = i.word(4)?;
        let op =
            GLOp::from_u32(code).ok_or_else(|| unsupported(format!("GLSL.std.450 instruction {code}")))?;
        self.set_flags(i.word(2)?);
        let r = self.glsl_op(i, op);
        self.e.reset_flags();
        r?;
        self.flush_result(i)
    }

    fn glsl_op(&mut self, i: &Code, op: GLOp) -> Result<()> {
        let f = |un: Un| {
            move |e: &mut Emit, s: Sk, x: &[Value]| {
                let v = e.un(un, x[0]);
                e.round(s, v)
            }
        };
        if let GLOp::InterpolateAtCentroid | GLOp::InterpolateAtSample | GLOp::InterpolateAtOffset = op {
            return self.interpolate_at(i, op);
        }
        match op {
            GLOp::Round | GLOp::RoundEven => self.floats(i, 1, f(Un::FRoundEven)),
            GLOp::Trunc => self.floats(i, 1, f(Un::FTrunc)),
            GLOp::Floor => self.floats(i, 1, f(Un::FFloor)),
            GLOp::Ceil => self.floats(i, 1, f(Un::FCeil)),
            GLOp::Fract => self.floats(i, 1, f(Un::FFract)),
            GLOp::FAbs => self.floats(i, 1, |e, _, x| e.un(Un::FAbs, x[0])),
            GLOp::FSign => self.floats(i, 1, |e, _, x| e.un(Un::FSign, x[0])),
            GLOp::SAbs => self.ints(i, 1, |e, s, x| {
                let v = e.sext(s, x[0]);
                let v = e.un(Un::IAbs, v);
                e.wrap(s, v)
            }),
            GLOp::SSign => self.ints(i, 1, |e, s, x| {
                let v = e.sext(s, x[0]);
                let v = e.un(Un::ISign, v);
                e.wrap(s, v)
            }),
            GLOp::Radians => self.floats(i, 1, |e, s, x| {
                let k = e.fconst(s, std::f64::consts::PI / 180.0);
                e.fmul(s, x[0], k)
            }),
            GLOp::Degrees => self.floats(i, 1, |e, s, x| {
                let k = e.fconst(s, 180.0 / std::f64::consts::PI);
                e.fmul(s, x[0], k)
            }),
            GLOp::Sin => self.narrow(i, 1, f(Un::FSin)),
            GLOp::Cos => self.narrow(i, 1, f(Un::FCos)),
            GLOp::Tan => self.narrow(i, 1, f(Un::FTan)),
            GLOp::Asin => self.narrow(i, 1, f(Un::FAsin)),
            GLOp::Acos => self.narrow(i, 1, f(Un::FAcos)),
            GLOp::Atan => self.narrow(i, 1, f(Un::FAtan)),
            GLOp::Sinh => self.narrow(i, 1, f(Un::FSinh)),
            GLOp::Cosh => self.narrow(i, 1, f(Un::FCosh)),
            GLOp::Tanh => self.narrow(i, 1, f(Un::FTanh)),
            GLOp::Asinh => self.narrow(i, 1, f(Un::FAsinh)),
            GLOp::Acosh => self.narrow(i, 1, f(Un::FAcosh)),
            GLOp::Atanh => self.narrow(i, 1, f(Un::FAtanh)),
            GLOp::Exp => self.narrow(i, 1, f(Un::FExp)),
            GLOp::Log => self.narrow(i, 1, f(Un::FLog)),
            GLOp::Exp2 => self.narrow(i, 1, f(Un::FExp2)),
            GLOp::Log2 => self.narrow(i, 1, f(Un::FLog2)),
            GLOp::Atan2 => self.narrow(i, 2, |e, s, x| {
                let v = e.bin(Bin::FAtan2, x[0], x[1]);
                e.round(s, v)
            }),
            GLOp::Pow => self.narrow(i, 2, |e, s, x| {
                let v = e.bin(Bin::FPow, x[0], x[1]);
                e.round(s, v)
            }),
            GLOp::Sqrt => self.floats(i, 1, f(Un::FSqrt)),
            GLOp::InverseSqrt => self.floats(i, 1, |e, s, x| e.rsqrt(s, x[0])),
            GLOp::FMin | GLOp::NMin => self.extreme(i, op == GLOp::NMin, Bin::FMin, Bin::NMin),
            GLOp::FMax | GLOp::NMax => self.extreme(i, op == GLOp::NMax, Bin::FMax, Bin::NMax),
            GLOp::FClamp | GLOp::NClamp => self.clamp(i, op == GLOp::NClamp),
            GLOp::UMin => self.ints(i, 2, |e, _, x| e.bin(Bin::UMin, x[0], x[1])),
            GLOp::UMax => self.ints(i, 2, |e, _, x| e.bin(Bin::UMax, x[0], x[1])),
            GLOp::UClamp => self.ints(i, 3, |e, _, x| {
                let v = e.bin(Bin::UMax, x[0], x[1]);
                e.bin(Bin::UMin, v, x[2])
            }),
            GLOp::SMin => self.signed(i, 2, |e, x| e.bin(Bin::SMin, x[0], x[1])),
            GLOp::SMax => self.signed(i, 2, |e, x| e.bin(Bin::SMax, x[0], x[1])),
            GLOp::SClamp => self.signed(i, 3, |e, x| {
                let v = e.bin(Bin::SMax, x[0], x[1]);
                e.bin(Bin::SMin, v, x[2])
            }),
            GLOp::FMix => {
                let keeps = self.keeps_numbers(i.word(2)?);
                self.floats(i, 3, |e, s, x| e.mix(s, x, keeps))
            }
            GLOp::Step => self.floats(i, 2, |e, _, x| e.bin(Bin::FStep, x[0], x[1])),
            GLOp::SmoothStep => self.floats(i, 3, |e, s, x| e.smooth_step(s, x[0], x[1], x[2])),
            GLOp::Fma => self.floats(i, 3, |e, s, x| e.ffma(s, x[0], x[1], x[2])),
            GLOp::FindILsb => self.find_bit(i, Un::FindLsb),
            GLOp::FindUMsb => self.find_bit(i, Un::FindUMsb),
            GLOp::FindSMsb => self.find_bit(i, Un::FindSMsb),
            GLOp::Modf | GLOp::ModfStruct => self.modf(i, op == GLOp::Modf),
            GLOp::Frexp | GLOp::FrexpStruct => self.frexp(i, op == GLOp::Frexp),
            GLOp::Ldexp => self.ldexp(i),
            GLOp::Determinant | GLOp::MatrixInverse => self.glsl_matrix(i, op),
            GLOp::Length
            | GLOp::Distance
            | GLOp::Cross
            | GLOp::Normalize
            | GLOp::FaceForward
            | GLOp::Reflect
            | GLOp::Refract => self.glsl_geometry(i, op),
            GLOp::InterpolateAtCentroid
            | GLOp::InterpolateAtSample
            | GLOp::InterpolateAtOffset
            | GLOp::IMix => Err(unsupported(format!("{op:?}"))),
            _ => self.glsl_pack(i, op),
        }
    }

    /// `n` operands of one kind, componentwise, to the same kind.
    pub(crate) fn componentwise(
        &mut self,
        i: &Code,
        word: usize,
        class: Class,
        n: usize,
        f: impl Fn(&mut Emit, Sk, &[Value]) -> Value,
    ) -> Result<()> {
        let (s, first, count) = self.numeric(i, word, class)?;
        let mut at = [first, 0, 0];
        for (k, a) in at.iter_mut().enumerate().take(n).skip(1) {
            let (t, start, m) = self.numeric(i, word + k, class)?;
            if t != s || m != count {
                return Err(i.bad("operands of different types"));
            }
            *a = start;
        }
        let (ty, id, r) = self.result_kind(i, class, count)?;
        if r != s {
            return Err(i.bad("the result type is not the operands'"));
        }
        let start = self.pool.len();
        for c in 0..count as usize {
            let x = at.map(|a| self.pool[a + c]);
            let v = f(&mut self.e, s, &x[..n]);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }
    fn floats(&mut self, i: &Code, n: usize, f: impl Fn(&mut Emit, Sk, &[Value]) -> Value) -> Result<()> {
        self.componentwise(i, 5, Class::Float, n, f)
    }
    /// As `floats`, for functions that 64-bit floats do not have.
    fn narrow(&mut self, i: &Code, n: usize, f: impl Fn(&mut Emit, Sk, &[Value]) -> Value) -> Result<()> {
        let (s, _, _) = self.numeric(i, 5, Class::Float)?;
        if s == Sk::F64 {
            return Err(i.bad("not defined for 64-bit floats"));
        }
        self.componentwise(i, 5, Class::Float, n, f)
    }
    /// The lesser or greater of two: by `plain` where the result for NaN and for zeros of two signs is free, or right because one
    /// operand is a constant; else by `whole`, which minds them.
    fn extreme(&mut self, i: &Code, minds: bool, plain: Bin, whole: Bin) -> Result<()> {
        let keeps = self.keeps_signs(i.word(2)?);
        self.floats(i, 2, |e, s, x| {
            let free = !keeps && (!minds || x[..2].iter().any(|v| e.is_number(s, *v)));
            e.bin(if free { plain } else { whole }, x[0], x[1])
        })
    }
    /// As [`Self::extreme`].
    fn clamp(&mut self, i: &Code, minds: bool) -> Result<()> {
        let keeps = self.keeps_signs(i.word(2)?);
        self.floats(i, 3, |e, s, x| {
            if !keeps && (!minds || x[1..3].iter().all(|v| e.is_number(s, *v))) {
                return e.tri(Tri::FClamp, x[0], x[1], x[2]);
            }
            let low = e.bin(Bin::NMax, x[0], x[1]);
            e.bin(Bin::NMin, low, x[2])
        })
    }
    fn ints(&mut self, i: &Code, n: usize, f: impl Fn(&mut Emit, Sk, &[Value]) -> Value) -> Result<()> {
        self.componentwise(i, 5, Class::Int, n, f)
    }
    fn signed(&mut self, i: &Code, n: usize, f: impl Fn(&mut Emit, &[Value]) -> Value) -> Result<()> {
        self.componentwise(i, 5, Class::Int, n, |e, s, x| {
            let mut y = [x[0]; 3];
            for (k, &v) in x.iter().enumerate() {
                y[k] = e.sext(s, v);
            }
            let v = f(e, &y[..x.len()]);
            e.wrap(s, v)
        })
    }

    fn find_bit(&mut self, i: &Code, op: Un) -> Result<()> {
        let (s, a, n) = self.numeric(i, 5, Class::Int)?;
        let (ty, id, r) = self.result_kind(i, Class::Int, n)?;
        let start = self.pool.len();
        for k in 0..n as usize {
            let x = self.pool[a + k];
            let v = if s == Sk::I64 {
                self.find_bit64(op, x)
            } else {
                let x = if op == Un::FindSMsb { self.e.sext(s, x) } else { x };
                self.e.un(op, x)
            };
            let v = self.e.int_to_int(Sk::I32, r, v, true);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }

    /// The 64-bit forms: one half's result, or the other's plus 32.
    fn find_bit64(&mut self, op: Un, x: Value) -> Value {
        let x = if op == Un::FindSMsb {
            // Highest bit that differs from the sign.
            let n = self.e.u32(63);
            let sign = self.e.bin(Bin::AShr, x, n);
            self.e.bin(Bin::Xor, x, sign)
        } else {
            x
        };
        let (lo, hi) = (self.e.un(Un::Lo32, x), self.e.un(Un::Hi32, x));
        let zero = self.e.u32(0);
        let k = self.e.u32(32);
        let op = if op == Un::FindLsb { op } else { Un::FindUMsb };
        let (a, b) = (self.e.un(op, lo), self.e.un(op, hi));
        let up = self.e.add(b, k);
        let hi_none = self.e.bin(Bin::IEq, hi, zero);
        if op == Un::FindLsb {
            let up = self.e.select(hi_none, b, up);
            let lo_none = self.e.bin(Bin::IEq, lo, zero);
            self.e.select(lo_none, up, a)
        } else {
            self.e.select(hi_none, a, up)
        }
    }

    fn modf(&mut self, i: &Code, through_pointer: bool) -> Result<()> {
        let (s, a, n) = self.numeric(i, 5, Class::Float)?;
        let x: Vec<Value> = self.pool[a..a + n as usize].to_vec();
        let each: Vec<_> = x.into_iter().map(|x| self.e.modf(s, x)).collect();
        self.two_results(i, through_pointer, each)
    }

    fn frexp(&mut self, i: &Code, through_pointer: bool) -> Result<()> {
        let (_, a, n) = self.numeric(i, 5, Class::Float)?;
        let mut each = Vec::new();
        for k in 0..n as usize {
            let x = self.pool[a + k];
            each.push((self.e.un(Un::FrexpSig, x), self.e.un(Un::FrexpExp, x)));
        }
        self.two_results(i, through_pointer, each)
    }

    /// First results as the value, second ones through the pointer or as the second member.
    fn two_results(&mut self, i: &Code, through_pointer: bool, each: Vec<(Value, Value)>) -> Result<()> {
        let mut second: Vec<Value> = each.iter().map(|p| p.1).collect();
        if through_pointer {
            let p = self.pointer(i.word(6)?, i.at)?;
            if let Some((s, _)) = self.types.numeric(p.ty)
                && Class::Int.holds(s)
            {
                for v in &mut second {
                    *v = self.e.int_to_int(Sk::I32, s, *v, true);
                }
            }
            let start = self.pool.len();
            self.pool.extend_from_slice(&second);
            self.store(&p, start, second.len(), i.at)?;
        }
        let start = self.pool.len();
        self.pool.extend(each.iter().map(|p| p.0));
        if !through_pointer {
            let (ty, _) = self.result(i)?;
            if let Some(m) = self.types.member(ty, 1)
                && let Some((s, _)) = self.types.numeric(m.ty)
                && Class::Int.holds(s)
            {
                for v in &mut second {
                    *v = self.e.int_to_int(Sk::I32, s, *v, true);
                }
            }
            self.pool.extend_from_slice(&second);
        }
        self.define_checked(i, start)
    }

    fn ldexp(&mut self, i: &Code) -> Result<()> {
        let (s, a, n) = self.numeric(i, 5, Class::Float)?;
        let (t, b, m) = self.numeric(i, 6, Class::Int)?;
        let (ty, id, r) = self.result_kind(i, Class::Float, n)?;
        if n != m || r != s {
            return Err(i.bad("operands of different types"));
        }
        let start = self.pool.len();
        for k in 0..n as usize {
            let mut e = self.pool[b + k];
            if t == Sk::I64 {
                // Nothing is left of a float between these.
                let (low, high) = (self.e.int(Ty::B64, -5000), self.e.int(Ty::B64, 5000));
                e = self.e.bin(Bin::SMax, e, low);
                e = self.e.bin(Bin::SMin, e, high);
            }
            let e = self.e.int_to_int(t, Sk::I32, e, true);
            let v = self.e.bin(Bin::FLdexp, self.pool[a + k], e);
            let v = self.e.round(s, v);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }
}

//! Arithmetic, comparison, logic: component by component.

use super::emit::Emit;
use super::types::Sk;
use super::{Builder, FAST_MATH_ALLOW_CONTRACT, FAST_MATH_NSZ, FAST_MATH_NUMBERS};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// What an operation's operands must be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Int,
    Float,
    /// Those that are only converted too.
    AnyFloat,
    Bool,
}

impl Class {
    pub fn holds(self, s: Sk) -> bool {
        match self {
            Class::Float => s.is_float() && !s.is_small(),
            Class::AnyFloat => s.is_float(),
            Class::Bool => s == Sk::Bool,
            Class::Int => !s.is_float() && s != Sk::Bool,
        }
    }
}

impl Emit {
    /// Cuts an integer result back to its width.
    #[inline]
    pub fn wrap(&mut self, s: Sk, v: Value) -> Value {
        match s {
            Sk::I8 => self.un(Un::ZExt8, v),
            Sk::I16 => self.un(Un::ZExt16, v),
            _ => v,
        }
    }
    /// Sign-extends a narrow integer to 32 bits.
    #[inline]
    pub fn sext(&mut self, s: Sk, v: Value) -> Value {
        match s {
            Sk::I8 => self.un(Un::SExt8, v),
            Sk::I16 => self.un(Un::SExt16, v),
            _ => v,
        }
    }
}

impl Builder<'_> {
    /// Operand `w` as components of one kind: (kind, first pool index, count).
    #[inline]
    pub(crate) fn numeric(&mut self, i: &Code, w: usize, class: Class) -> Result<(Sk, usize, u32)> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        match self.types.numeric(ty) {
            Some((s, n)) if class.holds(s) && n as usize == len => {
                Ok((s, self.flushed_operands(s, start, len), n))
            }
            _ => Err(i.bad(format!("operand {w} has the wrong type"))),
        }
    }
    /// Sets what is asked of the arithmetic that follows: that of the result `id`.
    #[inline]
    pub(crate) fn set_flags(&mut self, id: u32) {
        self.e.relaxed = self.m.flags(id) & RELAXED != 0;
        let asked = self.m.flags(id) & NO_CONTRACTION != 0;
        let mode = self.fast_math(id);
        self.e.exact = asked || mode.map_or(self.all_exact, |mode| mode & FAST_MATH_ALLOW_CONTRACT == 0);
    }
    /// Whether the sign of a result that is zero matters.
    pub(crate) fn keeps_signs(&self, id: u32) -> bool {
        self.fast_math(id).map_or(self.all_signs, |mode| mode & FAST_MATH_NSZ == 0)
    }
    /// Whether operands and results may be NaN or infinite.
    pub(crate) fn keeps_numbers(&self, id: u32) -> bool {
        self.fast_math(id).map_or(self.all_numbers, |mode| mode & FAST_MATH_NUMBERS != FAST_MATH_NUMBERS)
    }
    /// The fast-math mode that the result is decorated with.
    #[inline]
    fn fast_math(&self, id: u32) -> Option<u32> {
        let decorated = self.m.flags(id) & DECORATED != 0;
        if decorated { self.m.decoration(id, Decoration::FPFastMathMode) } else { None }
    }
    /// The type of `i`'s result: numeric, of this class, with `n` components.
    pub(crate) fn result_kind(&self, i: &Code, class: Class, n: u32) -> Result<(u32, u32, Sk)> {
        let (ty, id) = self.result(i)?;
        match self.types.numeric(ty) {
            Some((s, m)) if class.holds(s) && n == m => Ok((ty, id, s)),
            _ => Err(i.bad("the result type does not fit the operands")),
        }
    }

    /// One operand to a result of the same kind.
    pub(crate) fn map1(
        &mut self,
        i: &Code,
        class: Class,
        f: impl Fn(&mut Emit, Sk, Value) -> Value,
    ) -> Result<()> {
        let (s, a, n) = self.numeric(i, 3, class)?;
        let (ty, id, r) = self.result_kind(i, class, n)?;
        if r.ty() != s.ty() || (class == Class::Float && r != s) {
            return Err(i.bad("the result type is not the operand's"));
        }
        self.set_flags(id);
        let start = self.pool.len();
        for k in 0..n as usize {
            let v = f(&mut self.e, s, self.pool[a + k]);
            self.pool.push(v);
        }
        self.e.reset_flags();
        self.define(id, ty, start);
        Ok(())
    }

    /// Two operands of one kind to a result of class `to`.
    pub(crate) fn map2(
        &mut self,
        i: &Code,
        class: Class,
        to: Class,
        f: impl Fn(&mut Emit, Sk, Value, Value) -> Value,
    ) -> Result<()> {
        let (s, a, n) = self.numeric(i, 3, class)?;
        let (t, b, m) = self.numeric(i, 4, class)?;
        let (ty, id, r) = self.result_kind(i, to, n)?;
        if n != m || s != t || (class == to && r != s) {
            return Err(i.bad("operands of different types"));
        }
        self.set_flags(id);
        let start = self.pool.len();
        for k in 0..n as usize {
            let v = f(&mut self.e, s, self.pool[a + k], self.pool[b + k]);
            self.pool.push(v);
        }
        self.e.reset_flags();
        self.define(id, ty, start);
        Ok(())
    }

    fn int2(&mut self, i: &Code, op: Bin) -> Result<()> {
        self.map2(i, Class::Int, Class::Int, |e, s, a, b| {
            let v = e.bin(op, a, b);
            e.wrap(s, v)
        })
    }
    fn signed2(&mut self, i: &Code, op: Bin) -> Result<()> {
        self.map2(i, Class::Int, Class::Int, |e, s, a, b| {
            let (a, b) = (e.sext(s, a), e.sext(s, b));
            let v = e.bin(op, a, b);
            e.wrap(s, v)
        })
    }
    fn float2(&mut self, i: &Code, op: Bin) -> Result<()> {
        self.map2(i, Class::Float, Class::Float, |e, s, a, b| {
            let v = e.bin(op, a, b);
            e.round(s, v)
        })
    }
    fn compare(&mut self, i: &Code, class: Class, op: Bin, swap: bool, not: bool) -> Result<()> {
        let signed = matches!(op, Bin::SLt | Bin::SLe);
        self.map2(i, class, Class::Bool, |e, s, a, b| {
            let (a, b) = if signed { (e.sext(s, a), e.sext(s, b)) } else { (a, b) };
            let v = if swap { e.bin(op, b, a) } else { e.bin(op, a, b) };
            if not { e.un(Un::BNot, v) } else { v }
        })
    }

    /// True when the opcode is one of this group, translated.
    pub(crate) fn arithmetic(&mut self, i: &Code) -> Result<bool> {
        use Class::*;
        match i.op {
            Op::FAdd | Op::FSub => {
                let op = if i.op == Op::FAdd { Bin::FAdd } else { Bin::FSub };
                let signs = self.keeps_signs(i.word(2)?);
                self.map2(i, Float, Float, |e, s, a, b| e.sum(s, op, [a, b], signs))?
            }
            Op::FMul => self.map2(i, Float, Float, Emit::fmul)?,
            Op::FDiv => self.map2(i, Float, Float, Emit::fdiv)?,
            Op::FmaKHR => self.componentwise(i, 3, Float, 3, |e, s, x| e.fused(s, [x[0], x[1], x[2]]))?,
            Op::FRem => self.float2(i, Bin::FRem)?,
            Op::FMod => {
                // The remainder toward zero may be a denormal where the result is none: y less of it.
                self.keeps_denormals = true;
                self.float2(i, Bin::FMod)?
            }
            Op::FNegate => self.map1(i, Float, |e, _, a| e.un(Un::FNeg, a))?,
            Op::IAdd => self.int2(i, Bin::IAdd)?,
            Op::ISub => self.int2(i, Bin::ISub)?,
            Op::IMul => self.int2(i, Bin::IMul)?,
            Op::UDiv => self.int2(i, Bin::UDiv)?,
            Op::UMod => self.int2(i, Bin::URem)?,
            Op::SDiv => self.signed2(i, Bin::SDiv)?,
            Op::SRem => self.signed2(i, Bin::SRem)?,
            Op::SMod => self.signed2(i, Bin::SMod)?,
            Op::SNegate => self.map1(i, Int, |e, s, a| {
                let v = e.un(Un::INeg, a);
                e.wrap(s, v)
            })?,
            Op::Not => self.map1(i, Int, |e, s, a| {
                let v = e.un(Un::Not, a);
                e.wrap(s, v)
            })?,
            Op::BitwiseAnd => self.int2(i, Bin::And)?,
            Op::BitwiseOr => self.int2(i, Bin::Or)?,
            Op::BitwiseXor => self.int2(i, Bin::Xor)?,
            Op::LogicalAnd => self.map2(i, Bool, Bool, |e, _, a, b| e.bin(Bin::BAnd, a, b))?,
            Op::LogicalOr => self.map2(i, Bool, Bool, |e, _, a, b| e.bin(Bin::BOr, a, b))?,
            Op::LogicalNotEqual => self.map2(i, Bool, Bool, |e, _, a, b| e.bin(Bin::BXor, a, b))?,
            Op::LogicalEqual => self.map2(i, Bool, Bool, |e, _, a, b| {
                let x = e.bin(Bin::BXor, a, b);
                e.un(Un::BNot, x)
            })?,
            Op::LogicalNot => self.map1(i, Bool, |e, _, a| e.un(Un::BNot, a))?,
            Op::IEqual => self.compare(i, Int, Bin::IEq, false, false)?,
            Op::INotEqual => self.compare(i, Int, Bin::INe, false, false)?,
            Op::ULessThan => self.compare(i, Int, Bin::ULt, false, false)?,
            Op::ULessThanEqual => self.compare(i, Int, Bin::ULe, false, false)?,
            Op::UGreaterThan => self.compare(i, Int, Bin::ULt, true, false)?,
            Op::UGreaterThanEqual => self.compare(i, Int, Bin::ULe, true, false)?,
            Op::SLessThan => self.compare(i, Int, Bin::SLt, false, false)?,
            Op::SLessThanEqual => self.compare(i, Int, Bin::SLe, false, false)?,
            Op::SGreaterThan => self.compare(i, Int, Bin::SLt, true, false)?,
            Op::SGreaterThanEqual => self.compare(i, Int, Bin::SLe, true, false)?,
            Op::FOrdEqual => self.compare(i, Float, Bin::FEq, false, false)?,
            Op::FUnordNotEqual => self.compare(i, Float, Bin::FNe, false, false)?,
            Op::FOrdNotEqual | Op::LessOrGreater => {
                self.map2(i, Float, Bool, |e, _, a, b| less_or_greater(e, a, b))?
            }
            Op::FUnordEqual => self.map2(i, Float, Bool, |e, _, a, b| {
                let x = less_or_greater(e, a, b);
                e.un(Un::BNot, x)
            })?,
            Op::FOrdLessThan => self.compare(i, Float, Bin::FLt, false, false)?,
            Op::FOrdGreaterThan => self.compare(i, Float, Bin::FLt, true, false)?,
            Op::FOrdLessThanEqual => self.compare(i, Float, Bin::FLe, false, false)?,
            Op::FOrdGreaterThanEqual => self.compare(i, Float, Bin::FLe, true, false)?,
            Op::FUnordLessThan => self.compare(i, Float, Bin::FLe, true, true)?,
            Op::FUnordGreaterThan => self.compare(i, Float, Bin::FLe, false, true)?,
            Op::FUnordLessThanEqual => self.compare(i, Float, Bin::FLt, true, true)?,
            Op::FUnordGreaterThanEqual => self.compare(i, Float, Bin::FLt, false, true)?,
            Op::Ordered => self.map2(i, Float, Bool, |e, _, a, b| {
                let (x, y) = (e.bin(Bin::FEq, a, a), e.bin(Bin::FEq, b, b));
                e.bin(Bin::BAnd, x, y)
            })?,
            Op::Unordered => self.map2(i, Float, Bool, |e, _, a, b| {
                let (x, y) = (e.un(Un::FIsNan, a), e.un(Un::FIsNan, b));
                e.bin(Bin::BOr, x, y)
            })?,
            Op::IsNan => self.test(i, Un::FIsNan)?,
            Op::IsInf => self.test(i, Un::FIsInf)?,
            Op::Any => self.reduce_bools(i, Bin::BOr)?,
            Op::All => self.reduce_bools(i, Bin::BAnd)?,
            Op::Select => self.select_op(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn test(&mut self, i: &Code, op: Un) -> Result<()> {
        let (_, a, n) = self.numeric(i, 3, Class::Float)?;
        let (ty, id, _) = self.result_kind(i, Class::Bool, n)?;
        let start = self.pool.len();
        for k in 0..n as usize {
            let v = self.e.un(op, self.pool[a + k]);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }

    fn reduce_bools(&mut self, i: &Code, op: Bin) -> Result<()> {
        let (_, a, n) = self.numeric(i, 3, Class::Bool)?;
        let (ty, id, _) = self.result_kind(i, Class::Bool, 1)?;
        let mut v = self.pool[a];
        for k in 1..n as usize {
            v = self.e.bin(op, v, self.pool[a + k]);
        }
        self.define_one(id, ty, v);
        Ok(())
    }

    fn select_op(&mut self, i: &Code) -> Result<()> {
        let (_, c, nc) = self.numeric(i, 3, Class::Bool)?;
        let (_, a, na) = self.value(i.word(4)?, i.at)?;
        let (_, b, nb) = self.value(i.word(5)?, i.at)?;
        if na != nb || (nc != 1 && nc as usize != na) {
            return Err(i.bad("operands of different types"));
        }
        let mut out = Vec::with_capacity(na);
        for k in 0..na {
            let cond = self.pool[c + if nc == 1 { 0 } else { k }];
            let (x, y) = (self.pool[a + k], self.pool[b + k]);
            if self.e.ty(x) != self.e.ty(y) {
                return Err(i.bad("operands of different types"));
            }
            out.push(self.e.select(cond, x, y));
        }
        let start = self.pool.len();
        self.pool.extend(out);
        self.define_checked(i, start)
    }
}

fn less_or_greater(e: &mut Emit, a: Value, b: Value) -> Value {
    let (x, y) = (e.bin(Bin::FLt, a, b), e.bin(Bin::FLt, b, a));
    e.bin(Bin::BOr, x, y)
}

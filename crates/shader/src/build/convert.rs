//! Conversions between numbers, and bit casts.

use super::Builder;
use super::arith::Class;
use super::emit::Emit;
use super::small::Narrowing;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Emit {
    /// Integer to integer; `signed` says how to widen.
    pub fn int_to_int(&mut self, from: Sk, to: Sk, v: Value, signed: bool) -> Value {
        let v = if signed { self.sext(from, v) } else { v };
        match (from == Sk::I64, to == Sk::I64) {
            (true, true) => v,
            (true, false) => {
                let v = self.un(Un::Lo32, v);
                self.wrap(to, v)
            }
            (false, true) => self.un(if signed { Un::S32ToS64 } else { Un::U32ToU64 }, v),
            (false, false) => self.wrap(to, v),
        }
    }
    fn int_to_float(&mut self, from: Sk, to: Sk, v: Value, signed: bool, toward_zero: bool) -> Value {
        let v = if signed { self.sext(from, v) } else { v };
        if to.is_small() {
            let v = self.int_to_odd(from, v, signed);
            return self.small_of(to, v, Narrowing { toward_zero, saturates: false });
        }
        // To f16 through f32: integers within its range are exact there.
        if toward_zero && to != Sk::F16 {
            return self.int_toward_zero(from, to, v, signed);
        }
        let op = match (from == Sk::I64, to == Sk::F64, signed) {
            (false, false, true) => Un::S32ToF32,
            (false, false, false) => Un::U32ToF32,
            (false, true, true) => Un::S32ToF64,
            (false, true, false) => Un::U32ToF64,
            (true, false, true) => Un::S64ToF32,
            (true, false, false) => Un::U64ToF32,
            (true, true, true) => Un::S64ToF64,
            (true, true, false) => Un::U64ToF64,
        };
        let v = self.un(op, v);
        if to == Sk::F16 { self.float_to_float(Sk::F32, to, v, toward_zero) } else { v }
    }
    fn float_to_int(&mut self, from: Sk, to: Sk, v: Value, signed: bool) -> Value {
        let op = match (from == Sk::F64, to == Sk::I64, signed) {
            (false, false, true) => Un::F32ToS32,
            (false, false, false) => Un::F32ToU32,
            (false, true, true) => Un::F32ToS64,
            (false, true, false) => Un::F32ToU64,
            (true, false, true) => Un::F64ToS32,
            (true, false, false) => Un::F64ToU32,
            (true, true, true) => Un::F64ToS64,
            (true, true, false) => Un::F64ToU64,
        };
        let v = self.un(op, v);
        self.wrap(to, v)
    }
    pub fn float_to_float(&mut self, from: Sk, to: Sk, v: Value, toward_zero: bool) -> Value {
        match (from, to) {
            (a, b) if a == b => v,
            (_, to) if to.is_small() => {
                let v = if from == Sk::F64 { self.odd_of(v) } else { v };
                self.small_of(to, v, Narrowing { toward_zero, saturates: false })
            }
            (_, Sk::F64) => self.un(Un::F32ToF64, v),
            (Sk::F64, _) if toward_zero => self.narrow_toward_zero(to, v),
            (Sk::F64, Sk::F16) => self.un(Un::F64ToF16, v),
            (Sk::F64, _) => self.un(Un::F64ToF32, v),
            (_, Sk::F32) => v,
            (_, _) => self.un(if toward_zero { Un::F16RoundRtz } else { Un::F16Round }, v),
        }
    }

    /// A number as one of another kind; whether each is signed, if an integer.
    pub fn number(&mut self, [from, to]: [Sk; 2], [from_signed, to_signed]: [bool; 2], v: Value) -> Value {
        match (from.is_float(), to.is_float()) {
            (true, true) => self.float_to_float(from, to, v, false),
            (true, false) => self.float_to_int(from, to, v, to_signed),
            (false, true) => self.int_to_float(from, to, v, from_signed, false),
            (false, false) => self.int_to_int(from, to, v, from_signed),
        }
    }

    /// A float about to be looked at as bits: any NaN that arithmetic made becomes the one (see `pass::nan`).
    pub fn observed(&mut self, s: Sk, v: Value) -> Value {
        if !s.is_float() {
            return v;
        }
        let v = self.res(v);
        match self.values[v.0 as usize].inst {
            Inst::Const(_) | Inst::Load { .. } | Inst::Atomic { .. } | Inst::Un(Un::FCanon, _) => v,
            Inst::Part(t, _)
                if matches!(self.values[t.0 as usize].inst, Inst::Load { .. } | Inst::LoadRows { .. }) =>
            {
                v
            }
            _ => self.un(Un::FCanon, v),
        }
    }
    /// A scalar's bits, zero-extended to its register.
    pub fn bits_of(&mut self, s: Sk, v: Value) -> Value {
        let v = self.observed(s, v);
        match s {
            Sk::F16 => self.un(Un::F16ToBits, v),
            _ if s.is_small() => self.small_bits(s, v),
            _ => v,
        }
    }
    pub fn of_bits(&mut self, s: Sk, v: Value) -> Value {
        match s {
            Sk::F16 => self.un(Un::BitsToF16, v),
            _ if s.is_small() => self.of_small_bits(s, v),
            _ => v,
        }
    }

    /// Splits units of `from` bits into units of half, until they have `to` bits.
    fn explode(&mut self, mut from: u32, to: u32, mut list: Vec<Value>) -> Vec<Value> {
        while from > to {
            let mut out = Vec::with_capacity(list.len() * 2);
            for v in list {
                if from == 64 {
                    out.push(self.un(Un::Lo32, v));
                    out.push(self.un(Un::Hi32, v));
                } else {
                    let mask = self.u32((1 << (from / 2)) - 1);
                    let n = self.u32(from / 2);
                    out.push(self.bin(Bin::And, v, mask));
                    out.push(self.bin(Bin::LShr, v, n));
                }
            }
            list = out;
            from /= 2;
        }
        list
    }
    /// Joins units of `from` bits, low ones first, to units of `to` bits.
    fn join(&mut self, mut from: u32, to: u32, mut list: Vec<Value>) -> Vec<Value> {
        while from < to {
            let mut out = Vec::with_capacity(list.len() / 2);
            for p in list.chunks_exact(2) {
                out.push(if from == 32 {
                    self.bin(Bin::Pack64, p[0], p[1])
                } else {
                    let n = self.u32(from);
                    let high = self.bin(Bin::Shl, p[1], n);
                    self.bin(Bin::Or, p[0], high)
                });
            }
            list = out;
            from *= 2;
        }
        list
    }
}

impl Builder<'_> {
    pub(crate) fn conversion(&mut self, i: &Code) -> Result<bool> {
        use Class::*;
        match i.op {
            Op::ConvertFToS => {
                self.convert(i, AnyFloat, Int, |e, a, b, v, _| e.float_to_int(a, b, v, true))?
            }
            Op::ConvertFToU => {
                self.convert(i, AnyFloat, Int, |e, a, b, v, _| e.float_to_int(a, b, v, false))?
            }
            Op::ConvertSToF => {
                self.convert(i, Int, AnyFloat, |e, a, b, v, zero| e.int_to_float(a, b, v, true, zero))?
            }
            Op::ConvertUToF => {
                self.convert(i, Int, AnyFloat, |e, a, b, v, zero| e.int_to_float(a, b, v, false, zero))?
            }
            Op::UConvert => self.convert(i, Int, Int, |e, a, b, v, _| e.int_to_int(a, b, v, false))?,
            Op::SConvert => self.convert(i, Int, Int, |e, a, b, v, _| e.int_to_int(a, b, v, true))?,
            Op::FConvert => self.float_convert(i)?,
            Op::QuantizeToF16 => self.map1(i, Float, |e, _, a| e.un(Un::F16Quantize, a))?,
            Op::Bitcast => self.bitcast(i)?,
            Op::ConvertPtrToU | Op::ConvertUToPtr => self.pointer_cast(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn float_convert(&mut self, i: &Code) -> Result<()> {
        let any = Class::AnyFloat;
        let saturates = Decoration::SaturatedToLargestFloat8NormalConversionEXT;
        if !self.m.has(i.word(2)?, saturates) {
            return self.convert(i, any, any, |e, a, b, v, zero| e.float_to_float(a, b, v, zero));
        }
        self.convert(i, any, any, |e, a, b, v, toward_zero| match b {
            Sk::E4m3 | Sk::E5m2 if a != b => {
                let v = if a == Sk::F64 { e.odd_of(v) } else { v };
                e.small_of(b, v, Narrowing { toward_zero, saturates: true })
            }
            _ => e.float_to_float(a, b, v, toward_zero),
        })
    }

    fn convert(
        &mut self,
        i: &Code,
        from: Class,
        to: Class,
        f: impl Fn(&mut Emit, Sk, Sk, Value, bool) -> Value,
    ) -> Result<()> {
        let (s, a, n) = self.numeric(i, 3, from)?;
        let (a, n) = if self.is_cooperative(i, 3) { self.divided_as_result(i)? } else { (a, n) };
        let (ty, id, r) = self.result_kind(i, to, n)?;
        // FPRoundingMode: 0 to nearest even, 1 toward zero.
        let toward_zero = match self.m.decoration(id, Decoration::FPRoundingMode) {
            Some(0) => false,
            Some(1) => true,
            Some(_) => return Err(unsupported("rounding toward an infinity")),
            None => self.e.modes.of(r).toward_zero,
        };
        let start = self.pool.len();
        for k in 0..n as usize {
            let v = f(&mut self.e, s, r, self.pool[a + k], toward_zero);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }

    fn bitcast(&mut self, i: &Code) -> Result<()> {
        let (to, id) = self.result(i)?;
        let (from, start, len) = self.value(i.word(3)?, i.at)?;
        let mut a = Vec::new();
        let mut b = Vec::new();
        self.types.flatten(from, &mut a)?;
        self.types.flatten(to, &mut b)?;
        let (Some(&x), Some(&y)) = (a.first(), b.first()) else { return Err(i.bad("not on these types")) };
        if a.len() != len
            || x.bits() * a.len() as u32 != y.bits() * b.len() as u32
            || a.iter().any(|&s| s != x || s == Sk::Bool)
            || b.iter().any(|&s| s != y || s == Sk::Bool)
        {
            return Err(i.bad("the sizes differ"));
        }
        let mut list: Vec<Value> = self.pool[start..start + len].to_vec();
        for v in &mut list {
            *v = self.e.bits_of(x, *v);
        }
        let list = self.e.explode(x.bits(), y.bits(), list);
        let list = self.e.join(x.bits(), y.bits(), list);
        let start = self.pool.len();
        for v in list {
            let v = self.e.of_bits(y, v);
            self.pool.push(v);
        }
        self.define(id, to, start);
        Ok(())
    }

    fn pointer_cast(&mut self, i: &Code) -> Result<()> {
        let (ty, id) = self.result(i)?;
        let (_, start, len) = self.value(i.word(3)?, i.at)?;
        if len != 1 {
            return Err(i.bad("not a physical pointer"));
        }
        let v = self.pool[start];
        let to_int = i.op == Op::ConvertPtrToU;
        let want = if to_int {
            match self.types.numeric(ty) {
                Some((s, 1)) if Class::Int.holds(s) => s,
                _ => return Err(i.bad("the result type is no integer")),
            }
        } else {
            Sk::I64
        };
        let have = if self.e.ty(v) == Ty::B64 { Sk::I64 } else { Sk::I32 };
        let v = self.e.int_to_int(have, want, v, false);
        let new = self.pool.len();
        self.pool.push(v);
        if to_int {
            self.define(id, ty, new);
            return Ok(());
        }
        self.define_checked(i, new)
    }
}

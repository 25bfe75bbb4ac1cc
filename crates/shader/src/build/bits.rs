//! Shifts, bit fields, and multiplications and additions with a high part.

use super::Builder;
use super::arith::Class;
use super::emit::Emit;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Emit {
    /// A shift count or bit index as B32.
    pub fn count32(&mut self, v: Value) -> Value {
        if self.ty(v) == Ty::B64 { self.un(Un::Lo32, v) } else { v }
    }

    /// High 64 bits of a 64 × 64 bit product.
    fn umul_hi64(&mut self, a: Value, b: Value) -> Value {
        let mut half = |v: Value, op: Un| {
            let h = self.un(op, v);
            self.un(Un::U32ToU64, h)
        };
        let (al, ah) = (half(a, Un::Lo32), half(a, Un::Hi32));
        let (bl, bh) = (half(b, Un::Lo32), half(b, Un::Hi32));
        let ll = self.bin(Bin::IMul, al, bl);
        let lh = self.bin(Bin::IMul, al, bh);
        let hl = self.bin(Bin::IMul, ah, bl);
        let hh = self.bin(Bin::IMul, ah, bh);
        let n = self.u32(32);
        let low = self.u64(0xFFFF_FFFF);
        let ll_h = self.bin(Bin::LShr, ll, n);
        let (lh_l, lh_h) = (self.bin(Bin::And, lh, low), self.bin(Bin::LShr, lh, n));
        let (hl_l, hl_h) = (self.bin(Bin::And, hl, low), self.bin(Bin::LShr, hl, n));
        let mid = self.add(ll_h, lh_l);
        let mid = self.add(mid, hl_l);
        let carry = self.bin(Bin::LShr, mid, n);
        let hi = self.add(hh, lh_h);
        let hi = self.add(hi, hl_h);
        self.add(hi, carry)
    }

    /// (low, high) words of a product.
    fn mul_extended(&mut self, s: Sk, a: Value, b: Value, signed: bool) -> (Value, Value) {
        match s {
            Sk::I8 | Sk::I16 => {
                let (x, y) = if signed { (self.sext(s, a), self.sext(s, b)) } else { (a, b) };
                let p = self.bin(Bin::IMul, x, y);
                let n = self.u32(s.bits());
                let hi = self.bin(Bin::LShr, p, n);
                (self.wrap(s, p), self.wrap(s, hi))
            }
            Sk::I64 => {
                let lo = self.bin(Bin::IMul, a, b);
                let mut hi = self.umul_hi64(a, b);
                if signed {
                    let zero = self.u64(0);
                    for (x, y) in [(a, b), (b, a)] {
                        let neg = self.bin(Bin::SLt, x, zero);
                        let part = self.select(neg, y, zero);
                        hi = self.bin(Bin::ISub, hi, part);
                    }
                }
                (lo, hi)
            }
            _ => {
                let hi = if signed { Bin::SMulHi } else { Bin::UMulHi };
                (self.bin(Bin::IMul, a, b), self.bin(hi, a, b))
            }
        }
    }

    fn bit_reverse(&mut self, s: Sk, v: Value) -> Value {
        match s {
            Sk::I64 => {
                let (lo, hi) = (self.un(Un::Lo32, v), self.un(Un::Hi32, v));
                let (lo, hi) = (self.un(Un::BitReverse, lo), self.un(Un::BitReverse, hi));
                self.bin(Bin::Pack64, hi, lo)
            }
            _ => {
                let r = self.un(Un::BitReverse, v);
                let n = self.u32(32 - s.bits());
                self.bin(Bin::LShr, r, n)
            }
        }
    }
    /// Set bits, B32.
    pub fn bit_count(&mut self, v: Value) -> Value {
        if self.ty(v) == Ty::B64 {
            let (lo, hi) = (self.un(Un::Lo32, v), self.un(Un::Hi32, v));
            let (lo, hi) = (self.un(Un::BitCount, lo), self.un(Un::BitCount, hi));
            return self.add(lo, hi);
        }
        self.un(Un::BitCount, v)
    }

    /// 2^count − 1 in 64 bits, all ones from 64 on.
    fn ones64(&mut self, count: Value) -> Value {
        let (one, all) = (self.u64(1), self.u64(!0));
        let p = self.bin(Bin::Shl, one, count);
        let m = self.bin(Bin::ISub, p, one);
        let n = self.u32(64);
        let full = self.bin(Bin::ULe, n, count);
        self.select(full, all, m)
    }

    fn bit_extract(&mut self, s: Sk, v: Value, offset: Value, count: Value, signed: bool) -> Value {
        if s != Sk::I64 {
            let op = if signed { Tri::SBfe } else { Tri::UBfe };
            let v = self.tri(op, v, offset, count);
            return self.wrap(s, v);
        }
        let mask = self.ones64(count);
        let x = self.bin(Bin::LShr, v, offset);
        let x = self.bin(Bin::And, x, mask);
        if !signed {
            return x;
        }
        // Sign-extend from bit count − 1: (x ^ top) − top.
        let (one, zero) = (self.u64(1), self.u64(0));
        let k = self.u32(u32::MAX);
        let top = self.add(count, k);
        let top = self.bin(Bin::Shl, one, top);
        let none = self.u32(0);
        let empty = self.bin(Bin::IEq, count, none);
        let top = self.select(empty, zero, top);
        let x = self.bin(Bin::Xor, x, top);
        self.bin(Bin::ISub, x, top)
    }

    fn bit_insert(&mut self, s: Sk, base: Value, insert: Value, offset: Value, count: Value) -> Value {
        let mask = if s == Sk::I64 {
            let m = self.ones64(count);
            self.bin(Bin::Shl, m, offset)
        } else {
            self.bin(Bin::BitMask, count, offset)
        };
        let x = self.bin(Bin::Shl, insert, offset);
        let v = self.tri(Tri::BitSelect, mask, x, base);
        self.wrap(s, v)
    }
}

impl Builder<'_> {
    pub(crate) fn bit_op(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::ShiftLeftLogical => self.shift(i, Bin::Shl)?,
            Op::ShiftRightLogical => self.shift(i, Bin::LShr)?,
            Op::ShiftRightArithmetic => self.shift(i, Bin::AShr)?,
            Op::BitReverse => self.map1(i, Class::Int, |e, s, a| e.bit_reverse(s, a))?,
            Op::BitCount => {
                let (_, a, n) = self.numeric(i, 3, Class::Int)?;
                let (ty, id, r) = self.result_kind(i, Class::Int, n)?;
                let start = self.pool.len();
                for k in 0..n as usize {
                    let v = self.e.bit_count(self.pool[a + k]);
                    let v = if r == Sk::I64 { self.e.un(Un::U32ToU64, v) } else { v };
                    self.pool.push(v);
                }
                self.define(id, ty, start);
            }
            Op::BitFieldInsert => {
                let (s, a, n) = self.numeric(i, 3, Class::Int)?;
                let (t, b, m) = self.numeric(i, 4, Class::Int)?;
                let (ty, id, r) = self.result_kind(i, Class::Int, n)?;
                if n != m || s != t || r != s {
                    return Err(i.bad("operands of different types"));
                }
                let offset = self.int32(i.word(5)?, i.at)?;
                let count = self.int32(i.word(6)?, i.at)?;
                let start = self.pool.len();
                for k in 0..n as usize {
                    let v = self.e.bit_insert(s, self.pool[a + k], self.pool[b + k], offset, count);
                    self.pool.push(v);
                }
                self.define(id, ty, start);
            }
            Op::BitFieldSExtract | Op::BitFieldUExtract => {
                let signed = i.op == Op::BitFieldSExtract;
                let offset = self.int32(i.word(4)?, i.at)?;
                let count = self.int32(i.word(5)?, i.at)?;
                self.map1(i, Class::Int, |e, s, a| e.bit_extract(s, a, offset, count, signed))?;
            }
            Op::IAddCarry => self.pair(i, |e, s, a, b| {
                let sum = e.add(a, b);
                let lo = e.wrap(s, sum);
                let carry = e.bin(Bin::ULt, lo, a);
                (lo, carry_of(e, s, carry))
            })?,
            Op::ISubBorrow => self.pair(i, |e, s, a, b| {
                let d = e.bin(Bin::ISub, a, b);
                let borrow = e.bin(Bin::ULt, a, b);
                (e.wrap(s, d), carry_of(e, s, borrow))
            })?,
            Op::UMulExtended => self.pair(i, |e, s, a, b| e.mul_extended(s, a, b, false))?,
            Op::SMulExtended => self.pair(i, |e, s, a, b| e.mul_extended(s, a, b, true))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shift(&mut self, i: &Code, op: Bin) -> Result<()> {
        let (s, a, n) = self.numeric(i, 3, Class::Int)?;
        let (_, b, m) = self.numeric(i, 4, Class::Int)?;
        let (ty, id, r) = self.result_kind(i, Class::Int, n)?;
        if n != m || r != s {
            return Err(i.bad("operands of different types"));
        }
        let start = self.pool.len();
        for k in 0..n as usize {
            let count = self.e.count32(self.pool[b + k]);
            let x = if op == Bin::AShr { self.e.sext(s, self.pool[a + k]) } else { self.pool[a + k] };
            let v = self.e.bin(op, x, count);
            let v = self.e.wrap(s, v);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }

    /// Results that are a struct of two: all first members, then all second ones.
    fn pair(&mut self, i: &Code, f: impl Fn(&mut Emit, Sk, Value, Value) -> (Value, Value)) -> Result<()> {
        let (s, a, n) = self.numeric(i, 3, Class::Int)?;
        let (t, b, m) = self.numeric(i, 4, Class::Int)?;
        if n != m || s != t {
            return Err(i.bad("operands of different types"));
        }
        let each: Vec<_> =
            (0..n as usize).map(|k| f(&mut self.e, s, self.pool[a + k], self.pool[b + k])).collect();
        let start = self.pool.len();
        self.pool.extend(each.iter().map(|p| p.0));
        self.pool.extend(each.iter().map(|p| p.1));
        self.define_checked(i, start)
    }
}

/// A condition as 0 or 1 of an integer kind.
fn carry_of(e: &mut Emit, s: Sk, c: Value) -> Value {
    let v = e.un(Un::BoolToInt, c);
    if s == Sk::I64 { e.un(Un::U32ToU64, v) } else { v }
}

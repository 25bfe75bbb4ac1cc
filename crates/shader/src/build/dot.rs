//! Integer dot products.

use super::Builder;
use super::arith::Class;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Builder<'_> {
    pub(crate) fn dot_product(&mut self, i: &Code) -> Result<bool> {
        let (signed_a, signed_b, accumulate) = match i.op {
            Op::SDot => (true, true, false),
            Op::UDot => (false, false, false),
            Op::SUDot => (true, false, false),
            Op::SDotAccSat => (true, true, true),
            Op::UDotAccSat => (false, false, true),
            Op::SUDotAccSat => (true, false, true),
            _ => return Ok(false),
        };
        let (_, _, r) = self.result_kind(i, Class::Int, 1)?;
        let wide = if r == Sk::I64 { Sk::I64 } else { Sk::I32 };
        let (kind_a, word_a, n_a) = self.numeric(i, 3, Class::Int)?;
        let (kind_b, word_b, n_b) = self.numeric(i, 4, Class::Int)?;
        let mut sum = self.e.constant(wide.ty(), 0);
        if wide == Sk::I32 && (n_a, n_b) == (1, 1) && kind_a == Sk::I32 && kind_b == Sk::I32 {
            let op = match (signed_a, signed_b) {
                (true, true) => Bin::SDot4,
                (false, _) => Bin::UDot4,
                (true, false) => Bin::SUDot4,
            };
            sum = self.e.bin(op, self.pool[word_a], self.pool[word_b]);
        } else {
            let a = self.dot_operand(i, 3, signed_a, wide)?;
            let b = self.dot_operand(i, 4, signed_b, wide)?;
            if a.len() != b.len() {
                return Err(i.bad("operands of different types"));
            }
            for (x, y) in a.into_iter().zip(b) {
                let p = self.e.bin(Bin::IMul, x, y);
                sum = self.e.add(sum, p);
            }
        }
        if accumulate {
            let (s, acc, n) = self.numeric(i, 5, Class::Int)?;
            if s != r || n != 1 {
                return Err(i.bad("the accumulator has another type"));
            }
            let acc = self.e.int_to_int(s, wide, self.pool[acc], signed_a);
            sum = self.saturating_add(r, sum, acc, signed_a);
        }
        let v = self.e.wrap(r, sum);
        self.define_list(i, &[v])?;
        Ok(true)
    }

    /// The components, extended.
    fn dot_operand(&mut self, i: &Code, w: usize, signed: bool, wide: Sk) -> Result<Vec<Value>> {
        let (s, start, n) = self.numeric(i, w, Class::Int)?;
        let mut out = Vec::with_capacity(4);
        if n == 1 {
            if s != Sk::I32 {
                return Err(i.bad("a packed operand that is no 32-bit integer"));
            }
            let word = self.pool[start];
            for k in 0..4 {
                let by = self.e.u32(8 * k);
                let x = self.e.bin(Bin::LShr, word, by);
                let x = self.e.un(Un::ZExt8, x);
                out.push(self.e.int_to_int(Sk::I8, wide, x, signed));
            }
        } else {
            for k in 0..n as usize {
                out.push(self.e.int_to_int(s, wide, self.pool[start + k], signed));
            }
        }
        Ok(out)
    }

    /// a + b, held to the range of `r`; both are as wide as the register.
    pub(super) fn saturating_add(&mut self, r: Sk, a: Value, b: Value, signed: bool) -> Value {
        let ty = self.e.ty(a);
        let sum = self.e.add(a, b);
        let bits = r.bits();
        if bits < 32 {
            let (lo, hi) = if signed {
                (self.e.int(ty, -(1 << (bits - 1))), self.e.int(ty, (1 << (bits - 1)) - 1))
            } else {
                (self.e.int(ty, 0), self.e.int(ty, (1 << bits) - 1))
            };
            if signed {
                let v = self.e.bin(Bin::SMax, sum, lo);
                return self.e.bin(Bin::SMin, v, hi);
            }
            return self.e.bin(Bin::UMin, sum, hi);
        }
        if !signed {
            let over = self.e.bin(Bin::ULt, sum, a);
            let all = self.e.constant(ty, !0);
            return self.e.select(over, all, sum);
        }
        let n = self.e.u32(bits - 1);
        let sign = self.e.bin(Bin::AShr, a, n);
        let max = self.e.constant(ty, (1u64 << (bits - 1)) - 1);
        let bound = self.e.bin(Bin::Xor, sign, max);
        let (x, y) = (self.e.bin(Bin::Xor, a, sum), self.e.bin(Bin::Xor, b, sum));
        let both = self.e.bin(Bin::And, x, y);
        let zero = self.e.constant(ty, 0);
        let over = self.e.bin(Bin::SLt, both, zero);
        self.e.select(over, bound, sum)
    }
}

//! GLSL.std.450: packing and unpacking.

use super::Builder;
use super::arith::Class;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl<'m> Builder<'m> {
    pub(crate) fn glsl_pack(&mut self, i: &Code, op: GLOp) -> Result<()> {
        match op {
            GLOp::PackSnorm4x8 => self.pack(i, Un::PackSnorm8, 4),
            GLOp::PackUnorm4x8 => self.pack(i, Un::PackUnorm8, 4),
            GLOp::PackSnorm2x16 => self.pack(i, Un::PackSnorm16, 2),
            GLOp::PackUnorm2x16 => self.pack(i, Un::PackUnorm16, 2),
            GLOp::PackHalf2x16 => self.pack(i, Un::F16ToBits, 2),
            GLOp::UnpackSnorm4x8 => self.unpack(i, Un::UnpackSnorm8, 4),
            GLOp::UnpackUnorm4x8 => self.unpack(i, Un::UnpackUnorm8, 4),
            GLOp::UnpackSnorm2x16 => self.unpack(i, Un::UnpackSnorm16, 2),
            GLOp::UnpackUnorm2x16 => self.unpack(i, Un::UnpackUnorm16, 2),
            GLOp::UnpackHalf2x16 => self.unpack(i, Un::BitsToF16, 2),
            GLOp::PackDouble2x32 => {
                let (s, a, n) = self.numeric(i, 5, Class::Int)?;
                if (s, n) != (Sk::I32, 2) {
                    return Err(i.bad("the operand is no pair of words"));
                }
                let v = self.e.bin(Bin::Pack64, self.pool[a], self.pool[a + 1]);
                self.define_list(i, &[v])
            }
            GLOp::UnpackDouble2x32 => {
                let v = self.one_of(i.word(5)?, Ty::B64, i.at)?;
                let v = self.e.flushed(Sk::F64, v);
                let v = self.e.observed(Sk::F64, v);
                let (lo, hi) = (self.e.un(Un::Lo32, v), self.e.un(Un::Hi32, v));
                self.define_list(i, &[lo, hi])
            }
            _ => Err(unsupported(format!("{op:?}"))),
        }
    }

    fn pack(&mut self, i: &Code, op: Un, n: u32) -> Result<()> {
        let (s, a, m) = self.numeric(i, 5, Class::Float)?;
        if m != n || s == Sk::F64 {
            return Err(i.bad("the operand has the wrong type"));
        }
        let mut word = self.e.u32(0);
        for k in 0..n {
            let mut x = self.pool[a + k as usize];
            if op == Un::F16ToBits {
                x = self.e.un(Un::F16Round, x);
                x = self.e.flushed(Sk::F16, x);
                x = self.e.observed(Sk::F16, x);
            }
            let x = self.e.un(op, x);
            let by = self.e.u32(k * 32 / n);
            let x = self.e.bin(Bin::Shl, x, by);
            word = self.e.bin(Bin::Or, word, x);
        }
        self.define_list(i, &[word])
    }

    fn unpack(&mut self, i: &Code, op: Un, n: u32) -> Result<()> {
        let word = self.one_of(i.word(5)?, Ty::B32, i.at)?;
        let bits = 32 / n;
        let mask = self.e.u32((1 << bits) - 1);
        let mut out = Vec::new();
        for k in 0..n {
            let by = self.e.u32(k * bits);
            let x = self.e.bin(Bin::LShr, word, by);
            let x = self.e.bin(Bin::And, x, mask);
            let x = self.e.un(op, x);
            // UnpackHalf2x16 works on 16-bit floats.
            out.push(if op == Un::BitsToF16 { self.e.flushed(Sk::F16, x) } else { x });
        }
        self.define_list(i, &out)
    }
}

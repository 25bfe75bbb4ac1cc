//! A branch that a comparison of integers decides.

use super::super::assembler::{Made, TooMuch};
use super::{A32, B32};
use crate::jit::cycle::Cycle;
use crate::jit::cycle::decide::{Compare, Operand, Order};
use iced_x86::{Code, MemoryOperand, Register};

impl Cycle<'_> {
    /// Compares: the jump where it is true, and where it is not.
    pub fn compares(&mut self, at: u32, c: &Compare) -> Made<(Code, Code)> {
        let [a, b] = c.operands;
        self.lane(A32, a)?;
        if let Operand::Word(x) = b {
            self.e.m.ri(Code::Cmp_rm32_imm32, A32, x as i32)?;
        } else {
            self.lane(B32, b)?;
            self.e.m.rr(Code::Cmp_r32_rm32, A32, B32)?;
        }
        c.values().for_each(|id| self.e.used(at, id));
        let (yes, no) = match c.order {
            Order::Equal => (Code::Je_rel32_64, Code::Jne_rel32_64),
            Order::Greater => (Code::Jg_rel32_64, Code::Jle_rel32_64),
            Order::Above => (Code::Ja_rel32_64, Code::Jbe_rel32_64),
        };
        Ok(if c.not { (no, yes) } else { (yes, no) })
    }

    /// The first lane's word.
    fn lane(&mut self, to: Register, x: Operand) -> Made<()> {
        let id = match x {
            Operand::Word(x) => return self.e.m.ri(Code::Mov_rm32_imm32, to, x as i32),
            Operand::Value(id) => id,
        };
        match self.e.register_of(id) {
            Some(r) => self.e.m.first_lane(to, r),
            None => {
                let from = self.e.home(id).ok_or(TooMuch)?;
                self.e.m.rm(Code::Mov_r32_rm32, to, MemoryOperand { is_broadcast: false, ..from })
            }
        }
    }
}

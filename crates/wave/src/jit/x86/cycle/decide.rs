//! A branch as a truth that all lanes share says: where that compares integers, one of them is compared, and no vectors.

use super::super::assembler::{Made, TooMuch};
use super::block::reads;
use super::{A32, B32, Cycle};
use crate::jit::nodes::body::Body;
use crate::jit::nodes::region::Loop;
use crate::recording::{Bin, Id, Node, Un};
use iced_x86::{Code, MemoryOperand, Register};

#[derive(Clone, Copy, Debug)]
enum Operand {
    Value(Id),
    Word(u32),
}

/// A comparison of two integers: the jump where it is true, and where it is not.
#[derive(Clone, Debug)]
pub struct Compare {
    operands: [Operand; 2],
    yes: Code,
    no: Code,
    /// Nodes that nobody else reads, which are not computed.
    pub left_out: Vec<Id>,
}

/// How often items read each node.
fn readers(region: &Loop, body: &Body) -> Vec<u32> {
    let mut n = vec![0; body.nodes.len()];
    body.each.iter().for_each(|item| reads(region, body, *item, |id| n[id as usize] += 1));
    n
}

/// The comparison that `c` is, if it is one.
pub fn compare(region: &Loop, body: &Body, c: Id) -> Option<Compare> {
    const SIGN: u32 = 1 << 31;
    let n = readers(region, body);
    let mut left_out = vec![];
    let (mut at, mut not) = (c, false);
    // The truth itself is read by the branch alone, what it is made of by the truth.
    let mut alone = |id: Id, by: u32| {
        let is = n[id as usize] == by;
        if is {
            left_out.push(id);
        }
        is
    };
    if !alone(c, 0) {
        return None;
    }
    if let Node::Un(Un::MNot, x) = body.nodes[at as usize] {
        (at, not) = (x, true);
        if !alone(x, 1) {
            return None;
        }
    }
    let Node::Bin(op, a, b) = body.nodes[at as usize] else { return None };
    let mut operands = [a, b].map(|id| match body.nodes[id as usize] {
        Node::Splat(x) => Operand::Word(x),
        _ => Operand::Value(id),
    });
    let (mut yes, mut no) = match op {
        Bin::IEq => (Code::Je_rel32_64, Code::Jne_rel32_64),
        Bin::SGt => (Code::Jg_rel32_64, Code::Jle_rel32_64),
        Bin::UGt => (Code::Ja_rel32_64, Code::Jbe_rel32_64),
        _ => return None,
    };
    // Of unsigned ones AVX2 compares what is that much less ([`Simd::ugt`]).
    let turned = operands.map(|x| match x {
        Operand::Word(x) => Some(Operand::Word(x ^ SIGN)),
        Operand::Value(id) => match body.nodes[id as usize] {
            Node::Bin(Bin::Xor, x, s) if body.nodes[s as usize] == Node::Splat(SIGN) => {
                Some(Operand::Value(x))
            }
            _ => None,
        },
    });
    if op == Bin::SGt
        && let [Some(x), Some(y)] = turned
    {
        for id in [a, b] {
            alone(id, 1);
        }
        operands = [x, y];
        (yes, no) = (Code::Ja_rel32_64, Code::Jbe_rel32_64);
    }
    if not {
        (yes, no) = (no, yes);
    }
    let it = Compare { operands, yes, no, left_out };
    it.values().all(|id| body.uniform[id as usize]).then_some(it)
}

impl Compare {
    /// What it reads.
    pub fn values(&self) -> impl Iterator<Item = Id> + use<> {
        self.operands.into_iter().filter_map(|x| match x {
            Operand::Value(id) => Some(id),
            Operand::Word(_) => None,
        })
    }
}

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
        Ok((c.yes, c.no))
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

//! Subgroup operations, at 16 lanes: ballots fit the low half of their first word.

use super::Builder;
use super::arith::Class;
use super::builtins::SUBGROUP;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl<'m> Builder<'m> {
    pub(crate) fn subgroup(&mut self, i: &Code) -> Result<bool> {
        use Op::*;
        match i.op {
            GroupNonUniformElect => {
                let lane = self.lane();
                let first = self.e.push(Inst::First(lane), Ty::B32);
                let v = self.e.bin(Bin::IEq, first, lane);
                self.define_list(i, &[v])?;
            }
            GroupNonUniformAll => self.vote(i, 4, true)?,
            GroupNonUniformAny => self.vote(i, 4, false)?,
            SubgroupAllKHR => self.vote(i, 3, true)?,
            SubgroupAnyKHR => self.vote(i, 3, false)?,
            GroupNonUniformAllEqual => self.all_equal(i, 4)?,
            SubgroupAllEqualKHR => self.all_equal(i, 3)?,
            GroupNonUniformBroadcast | GroupNonUniformShuffle => {
                let lane = self.int32(i.word(5)?, i.at)?;
                self.lanes(i, 4, |b, v| b.shuffle(v, lane))?;
            }
            SubgroupReadInvocationKHR => {
                let lane = self.int32(i.word(4)?, i.at)?;
                self.lanes(i, 3, |b, v| b.shuffle(v, lane))?;
            }
            GroupNonUniformBroadcastFirst => self.lanes(i, 4, |b, v| b.first(v))?,
            SubgroupFirstInvocationKHR => self.lanes(i, 3, |b, v| b.first(v))?,
            GroupNonUniformShuffleXor | GroupNonUniformShuffleUp | GroupNonUniformShuffleDown => {
                let by = self.int32(i.word(5)?, i.at)?;
                let lane = self.lane();
                let op = match i.op {
                    GroupNonUniformShuffleXor => Bin::Xor,
                    GroupNonUniformShuffleUp => Bin::ISub,
                    _ => Bin::IAdd,
                };
                let from = self.e.bin(op, lane, by);
                self.lanes(i, 4, |b, v| b.shuffle(v, from))?;
            }
            GroupNonUniformRotateKHR => {
                let by = self.int32(i.word(5)?, i.at)?;
                let size = match i.get(6) {
                    Some(c) => self.cluster(c, i)?,
                    None => SUBGROUP,
                };
                let lane = self.lane();
                let mask = self.e.u32(size - 1);
                let rest = self.e.u32(!(size - 1));
                let sum = self.e.add(lane, by);
                let low = self.e.bin(Bin::And, sum, mask);
                let high = self.e.bin(Bin::And, lane, rest);
                let from = self.e.bin(Bin::Or, low, high);
                self.lanes(i, 4, |b, v| b.shuffle(v, from))?;
            }
            GroupNonUniformBallot => self.ballot(i, 4)?,
            SubgroupBallotKHR => self.ballot(i, 3)?,
            GroupNonUniformInverseBallot => {
                let word = self.ballot_word(i, 4)?;
                let lane = self.lane();
                let v = self.bit(word, lane);
                self.define_list(i, &[v])?;
            }
            GroupNonUniformBallotBitExtract => {
                let (s, start, n) = self.numeric(i, 4, Class::Int)?;
                if (s, n) != (Sk::I32, 4) {
                    return Err(i.bad("not a ballot"));
                }
                let index = self.int32(i.word(5)?, i.at)?;
                let five = self.e.u32(5);
                let which = self.e.bin(Bin::LShr, index, five);
                let mut word = self.pool[start];
                for k in 1..4 {
                    let c = self.e.u32(k as u32);
                    let hit = self.e.bin(Bin::IEq, which, c);
                    word = self.e.select(hit, self.pool[start + k], word);
                }
                let v = self.bit(word, index);
                self.define_list(i, &[v])?;
            }
            GroupNonUniformBallotBitCount => {
                let word = self.ballot_word(i, 5)?;
                let mask = match i.word(4)? {
                    0 => self.e.u32((1 << SUBGROUP) - 1),
                    k @ (1 | 2) => {
                        let lane = self.lane();
                        let one = self.e.u32(if k == 1 { 2 } else { 1 });
                        let p = self.e.bin(Bin::Shl, one, lane);
                        let one = self.e.u32(1);
                        self.e.bin(Bin::ISub, p, one)
                    }
                    _ => return Err(i.bad("bad group operation")),
                };
                let x = self.e.bin(Bin::And, word, mask);
                let v = self.e.un(Un::BitCount, x);
                self.define_list(i, &[v])?;
            }
            GroupNonUniformBallotFindLSB | GroupNonUniformBallotFindMSB => {
                let word = self.ballot_word(i, 4)?;
                let mask = self.e.u32((1 << SUBGROUP) - 1);
                let x = self.e.bin(Bin::And, word, mask);
                let op = if i.op == GroupNonUniformBallotFindLSB { Un::FindLsb } else { Un::FindUMsb };
                let v = self.e.un(op, x);
                self.define_list(i, &[v])?;
            }
            GroupNonUniformQuadBroadcast => {
                let index = i.word(5)?;
                match self.try_const(index) {
                    Some(k) => {
                        let q = [Quad::Broadcast0, Quad::Broadcast1, Quad::Broadcast2, Quad::Broadcast3];
                        let q = q[(k & 3) as usize];
                        self.lanes(i, 4, |b, v| b.e.push(Inst::Quad(q, v), b.e.ty(v)))?;
                    }
                    None => {
                        let index = self.int32(index, i.at)?;
                        let lane = self.lane();
                        let (high, low) = (self.e.u32(!3), self.e.u32(3));
                        let base = self.e.bin(Bin::And, lane, high);
                        let index = self.e.bin(Bin::And, index, low);
                        let from = self.e.bin(Bin::Or, base, index);
                        self.lanes(i, 4, |b, v| b.shuffle(v, from))?;
                    }
                }
            }
            GroupNonUniformQuadSwap => {
                let q = match self.const_u32(i.word(5)?, i.at)? {
                    0 => Quad::SwapX,
                    1 => Quad::SwapY,
                    2 => Quad::SwapDiagonal,
                    _ => return Err(i.bad("bad direction")),
                };
                self.lanes(i, 4, |b, v| b.e.push(Inst::Quad(q, v), b.e.ty(v)))?;
            }
            GroupNonUniformQuadAllKHR | GroupNonUniformQuadAnyKHR => {
                let all = i.op == GroupNonUniformQuadAllKHR;
                let p = self.one_of(i.word(3)?, Ty::Bool, i.at)?;
                let p = if all { self.e.un(Un::BNot, p) } else { p };
                let word = self.e.push(Inst::Ballot(p), Ty::B32);
                let lane = self.lane();
                let high = self.e.u32(!3);
                let base = self.e.bin(Bin::And, lane, high);
                let x = self.e.bin(Bin::LShr, word, base);
                let four = self.e.u32(15);
                let x = self.e.bin(Bin::And, x, four);
                let v = self.int_to_bool(x);
                let v = if all { self.e.un(Un::BNot, v) } else { v };
                self.define_list(i, &[v])?;
            }
            _ => match reduce_op(i.op) {
                Some((op, class)) => self.reduce(i, op, class)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    pub(super) fn lane(&mut self) -> Value {
        self.e.input(Input::SubgroupLane, Ty::B32)
    }
    /// Bit `n` of a word as Bool.
    fn bit(&mut self, word: Value, n: Value) -> Value {
        let x = self.e.bin(Bin::LShr, word, n);
        let one = self.e.u32(1);
        let x = self.e.bin(Bin::And, x, one);
        self.int_to_bool(x)
    }
    pub(super) fn shuffle(&mut self, v: Value, lane: Value) -> Value {
        let ty = self.e.ty(v);
        self.e.push(Inst::Shuffle(v, lane), ty)
    }
    fn first(&mut self, v: Value) -> Value {
        let ty = self.e.ty(v);
        self.e.push(Inst::First(v), ty)
    }

    /// `f` on each component of operand `w`; Bools go as integers.
    fn lanes(&mut self, i: &Code, w: usize, mut f: impl FnMut(&mut Self, Value) -> Value) -> Result<()> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        if self.types.numeric(ty).is_none() {
            return Err(i.bad("not a scalar or vector"));
        }
        let mut out = Vec::with_capacity(len);
        for k in 0..len {
            let v = self.pool[start + k];
            let v = self.e.res(v);
            if self.e.ty(v) == Ty::Bool {
                let x = self.e.un(Un::BoolToInt, v);
                let x = f(self, x);
                out.push(self.int_to_bool(x));
            } else {
                out.push(f(self, v));
            }
        }
        self.define_list(i, &out)
    }

    /// All (or any) of the active lanes' Bools.
    fn vote_value(&mut self, p: Value, all: bool) -> Value {
        let p = if all { self.e.un(Un::BNot, p) } else { p };
        let word = self.e.push(Inst::Ballot(p), Ty::B32);
        let zero = self.e.u32(0);
        self.e.bin(if all { Bin::IEq } else { Bin::INe }, word, zero)
    }
    fn vote(&mut self, i: &Code, w: usize, all: bool) -> Result<()> {
        let p = self.one_of(i.word(w)?, Ty::Bool, i.at)?;
        let v = self.vote_value(p, all);
        self.define_list(i, &[v])
    }

    fn all_equal(&mut self, i: &Code, w: usize) -> Result<()> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        let Some((s, _)) = self.types.numeric(ty) else { return Err(i.bad("not a scalar or vector")) };
        let mut same = self.e.bool(true);
        for k in 0..len {
            let v = self.e.res(self.pool[start + k]);
            let v = if s == Sk::Bool { self.e.un(Un::BoolToInt, v) } else { v };
            let first = self.first(v);
            let eq = self.e.bin(if s.is_float() { Bin::FEq } else { Bin::IEq }, v, first);
            same = self.e.bin(Bin::BAnd, same, eq);
        }
        let v = self.vote_value(same, true);
        self.define_list(i, &[v])
    }

    fn ballot(&mut self, i: &Code, w: usize) -> Result<()> {
        let p = self.one_of(i.word(w)?, Ty::Bool, i.at)?;
        let word = self.e.push(Inst::Ballot(p), Ty::B32);
        let zero = self.e.u32(0);
        self.define_list(i, &[word, zero, zero, zero])
    }
    /// First word of a ballot operand.
    fn ballot_word(&mut self, i: &Code, w: usize) -> Result<Value> {
        match self.numeric(i, w, Class::Int)? {
            (Sk::I32, start, 4) => Ok(self.pool[start]),
            _ => Err(i.bad("not a ballot")),
        }
    }

    fn cluster(&mut self, id: u32, i: &Code) -> Result<u32> {
        let n = self.const_u32(id, i.at)?;
        if !n.is_power_of_two() {
            return Err(i.bad("the cluster size is no power of two"));
        }
        Ok(n.min(SUBGROUP))
    }

    fn reduce(&mut self, i: &Code, op: ReduceOp, class: Class) -> Result<()> {
        let (scan, cluster) = match i.word(4)? {
            0 => (Scan::Reduce, SUBGROUP),
            1 => (Scan::Inclusive, SUBGROUP),
            2 => (Scan::Exclusive, SUBGROUP),
            3 => (Scan::Reduce, self.cluster(i.word(6)?, i)?),
            k => return Err(unsupported(format!("group operation {k}"))),
        };
        let (s, start, n) = self.numeric(i, 5, class)?;
        let mut out = Vec::with_capacity(n as usize);
        for k in 0..n as usize {
            let v = self.e.res(self.pool[start + k]);
            let signed = matches!(op, ReduceOp::SMin | ReduceOp::SMax);
            let value = match s {
                Sk::Bool => self.e.un(Un::BoolToInt, v),
                _ if signed => self.e.sext(s, v),
                _ => v,
            };
            let ty = self.e.ty(value);
            let r = self.e.push(Inst::Reduce { op, scan, cluster, value }, ty);
            let narrow = matches!(s, Sk::I8 | Sk::I16);
            let r = match op {
                // The identity of an exclusive scan is that of 32 bits: brought into range.
                ReduceOp::SMin if narrow => {
                    let k = self.e.u32((1 << (s.bits() - 1)) - 1);
                    self.e.bin(Bin::SMin, r, k)
                }
                ReduceOp::SMax if narrow => {
                    let k = self.e.int(Ty::B32, -(1 << (s.bits() - 1)));
                    self.e.bin(Bin::SMax, r, k)
                }
                _ => r,
            };
            out.push(match s {
                Sk::Bool => {
                    let one = self.e.u32(1);
                    let r = self.e.bin(Bin::And, r, one);
                    self.int_to_bool(r)
                }
                Sk::F16 => self.e.un(Un::F16Round, r),
                _ => self.e.wrap(s, r),
            });
        }
        self.define_list(i, &out)
    }
}

fn reduce_op(op: Op) -> Option<(ReduceOp, Class)> {
    use Class::*;
    Some(match op {
        Op::GroupNonUniformIAdd => (ReduceOp::IAdd, Int),
        Op::GroupNonUniformFAdd => (ReduceOp::FAdd, Float),
        Op::GroupNonUniformIMul => (ReduceOp::IMul, Int),
        Op::GroupNonUniformFMul => (ReduceOp::FMul, Float),
        Op::GroupNonUniformSMin => (ReduceOp::SMin, Int),
        Op::GroupNonUniformUMin => (ReduceOp::UMin, Int),
        Op::GroupNonUniformFMin => (ReduceOp::FMin, Float),
        Op::GroupNonUniformSMax => (ReduceOp::SMax, Int),
        Op::GroupNonUniformUMax => (ReduceOp::UMax, Int),
        Op::GroupNonUniformFMax => (ReduceOp::FMax, Float),
        Op::GroupNonUniformBitwiseAnd => (ReduceOp::And, Int),
        Op::GroupNonUniformBitwiseOr => (ReduceOp::Or, Int),
        Op::GroupNonUniformBitwiseXor => (ReduceOp::Xor, Int),
        Op::GroupNonUniformLogicalAnd => (ReduceOp::And, Bool),
        Op::GroupNonUniformLogicalOr => (ReduceOp::Or, Bool),
        Op::GroupNonUniformLogicalXor => (ReduceOp::Xor, Bool),
        _ => return None,
    })
}

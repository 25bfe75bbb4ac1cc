//! Nodes as instructions.

use super::assembler::{Made, TooMuch};
use super::encode::{BIF, BIT, BSL};
use crate::jit::emit::Emit;
use crate::recording::{Bin, Id, Node, Tri, Un};

impl Emit<'_> {
    pub fn compute(&mut self, at: u32, id: Id) -> Made<()> {
        match self.node(id) {
            Node::Un(op, a) => {
                let s = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                match op {
                    Un::Look16(table) => self.m.look(&table.0, d, s),
                    Un::Look(table) => self.m.look(&table.0, d, s),
                    _ => self.m.un(op, d, s),
                }
            }
            Node::Bin(op, a, b) => {
                let constant = match (op, self.node(b)) {
                    (Bin::Shl | Bin::Shr | Bin::Sar, Node::Splat(n @ ..32)) => Some(n),
                    (Bin::LShl | Bin::LShr | Bin::LSar, Node::Splat64(n @ ..64)) => Some(n as u32),
                    _ => None,
                };
                let ra = self.in_register(a)?;
                if let Some(n) = constant {
                    self.used(at, a);
                    self.used(at, b);
                    let d = self.define(id)?;
                    return self.m.shift(op, d, ra, n);
                }
                let rb = self.in_register(b)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.bin(op, d, ra, rb)
            }
            Node::Tri(op @ (Tri::Sel | Tri::LSel), mask, a, b) => self.select(at, id, op, [mask, a, b]),
            Node::Tri(op @ (Tri::Fma | Tri::Fnma | Tri::DFma | Tri::DFnma), a, b, c) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                let from = self.in_register(c)?;
                let d = if c != a && c != b && self.may_become(at, id, c, from) {
                    self.rename(c, id, from);
                    from
                } else {
                    let d = self.define(id)?;
                    self.m.copy(d, from)?;
                    d
                };
                [a, b, c].into_iter().for_each(|x| self.used(at, x));
                self.m.fma(op, d, ra, rb)
            }
            _ => Err(TooMuch),
        }
    }

    /// Register `r`, which `old` has, may have the value: `old` is not needed after item `at`, and the value is to be nowhere else.
    fn may_become(&self, at: u32, id: Id, old: Id, r: u8) -> bool {
        self.dies(at, old) && self.hints.get(&id).is_none_or(|hint| *hint == r)
    }

    /// One of the three instructions that select writes where one of the operands is.
    fn select(&mut self, at: u32, id: Id, op: Tri, x: [Id; 3]) -> Made<()> {
        debug_assert!(matches!(op, Tri::Sel | Tri::LSel), "a selection");
        let [mask, a, b] = x;
        let (m, ra, rb) = (self.in_register(mask)?, self.in_register(a)?, self.in_register(b)?);
        let ways = [(mask, m, BSL, [ra, rb]), (b, rb, BIT, [ra, m]), (a, ra, BIF, [rb, m])];
        for (old, d, word, [n, m]) in ways {
            let twice = x.iter().filter(|y| **y == old).count() > 1;
            if !twice && self.may_become(at, id, old, d) {
                self.rename(old, id, d);
                x.into_iter().for_each(|y| self.used(at, y));
                return self.m.dnm(word, d, n, m);
            }
        }
        let d = self.define(id)?;
        x.into_iter().for_each(|y| self.used(at, y));
        self.m.copy(d, m)?;
        self.m.dnm(BSL, d, ra, rb)
    }
}

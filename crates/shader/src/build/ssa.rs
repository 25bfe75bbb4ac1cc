//! Variables in SSA form on the fly (Braun, Buchwald, Hack, Leißa, Mallon, Zwinkau, 2013), one scalar at a time.

use super::Builder;
use super::control::FnInfo;
use super::emit::NO_BLOCK;
use crate::ir::*;
use crate::options::Result;
use rustc_hash::FxHashMap;
use small_sort::SmallSort;
use std::rc::Rc;

/// One scalar of a variable.
struct Scalar {
    ty: Ty,
    /// Representative of the variable in [`super::analysis::Analysis`]; 0 for internal ones, or [`ANYWHERE`].
    var: u32,
    /// Last definition: block and value; earlier ones are in [`Ssa::defs`].
    block: u32,
    value: Value,
    /// Place in the order of the last block that stores.
    last_store: u32,
    /// Something was stored.
    stored: bool,
    /// A bit of 64 for each line that [`Ssa::defs`] has a definition for: most questions are answered by it.
    lines: u64,
}

fn bit(line: u32) -> u64 {
    1 << (line % 64)
}

impl Ssa {
    /// `size`: values to expect.
    pub fn new(size: usize) -> Ssa {
        let defs = FxHashMap::with_capacity_and_hasher(size / 2, Default::default());
        Ssa { defs, ..Ssa::default() }
    }
}

/// A loop under translation.
pub(crate) struct Loop {
    pub info: Rc<FnInfo>,
    pub first: u32,
    pub last: u32,
    pub header: u32,
    /// Back edge in place.
    pub sealed: bool,
    /// Phis of variables that wait for the back edge.
    phis: Vec<(u32, Value)>,
}

impl Loop {
    pub fn new(info: Rc<FnInfo>, first: u32, last: u32, header: u32) -> Loop {
        Loop { info, first, last, header, sealed: false, phis: Vec::new() }
    }
}

#[derive(Default)]
pub(crate) struct Ssa {
    scalars: Vec<Scalar>,
    /// By scalar and line.
    defs: FxHashMap<(u32, u32), Value>,
    pub loops: Vec<Loop>,
    /// Place of each block in the order.
    place: Vec<u32>,
    /// The first block of each one's *line*: blocks of which each has one way in, from the one before, which has one
    /// way out. Variables have one definition a line, the last so far, for nobody else comes to its blocks.
    line: Vec<u32>,
    /// Blocks that no line goes on after: others than their successor follow, too.
    shut: Vec<bool>,
    /// The current block's line.
    here: u32,
    /// Places of the headers of loops whose back edge is still to come, outermost first.
    open: Vec<u32>,
    /// Lines of a walk that is under way.
    path: Vec<u32>,
}

/// In the place of a representative: a scalar that no instruction names, so that nothing says which loops store it.
pub(crate) const ANYWHERE: u32 = u32::MAX;

/// Steps of a walk after which it looks for what to pass at once.
const SHORT: u32 = 4;
/// Steps after which the lines it passes are told what it finds.
const LONG: u32 = 16;

impl Builder<'_> {
    /// A new scalar variable.
    pub(crate) fn new_scalar(&mut self, ty: Ty, var: u32) -> u32 {
        let s = Scalar { ty, var, block: NO_BLOCK, value: Value(0), last_store: 0, stored: false, lines: 0 };
        self.ssa.scalars.push(s);
        self.ssa.scalars.len() as u32 - 1
    }
    pub(crate) fn scalar_ty(&self, s: u32) -> Ty {
        self.ssa.scalars[s as usize].ty
    }
    /// The set of pointers that the scalar's variable is of.
    pub(crate) fn scalar_variable(&self, s: u32) -> u32 {
        self.ssa.scalars[s as usize].var
    }
    /// To be called after each `begin`.
    pub(crate) fn note_block(&mut self) {
        let n = self.e.blocks.len();
        if self.ssa.place.len() < n {
            self.ssa.place.resize(n, 0);
            self.ssa.line.resize(n, 0);
            self.ssa.shut.resize(n, false);
        }
        let cur = self.e.cur;
        self.ssa.place[cur as usize] = self.e.order.len() as u32 - 1;
        self.ssa.here = match self.e.blocks[cur as usize].preds[..] {
            [(p, _)]
                if !self.ssa.shut[p as usize] && matches!(self.e.blocks[p as usize].term, Term::Jump(_)) =>
            {
                self.ssa.line[p as usize]
            }
            _ => cur,
        };
        self.ssa.line[cur as usize] = self.ssa.here;
    }
    /// The current block only goes on choosing where `from` leads: nothing is stored in it.
    pub(crate) fn note_choice(&mut self, from: u32) {
        let cur = self.e.cur as usize;
        self.ssa.here = self.ssa.line[from as usize];
        self.ssa.line[cur] = self.ssa.here;
        self.ssa.shut[cur] = true;
    }
    /// The current block heads a loop.
    pub(crate) fn note_loop(&mut self, l: Loop) {
        let cur = self.e.cur;
        self.ssa.here = cur;
        self.ssa.line[cur as usize] = cur;
        self.ssa.open.push(self.ssa.place[cur as usize]);
        self.ssa.loops.push(l);
    }

    pub(crate) fn write_scalar(&mut self, s: u32, v: Value) {
        self.define_in(s, self.ssa.here, v);
        let place = self.e.order.len() as u32 - 1;
        let x = &mut self.ssa.scalars[s as usize];
        (x.last_store, x.stored) = (place, true);
    }
    /// Whether the scalar was ever stored.
    pub(crate) fn is_stored(&self, s: u32) -> bool {
        self.ssa.scalars[s as usize].stored
    }
    pub(crate) fn mark_stored(&mut self, s: u32) {
        self.ssa.scalars[s as usize].stored = true;
    }
    /// The value before everything else, set once.
    pub(crate) fn init_scalar(&mut self, s: u32, v: Value) {
        self.ssa.scalars[s as usize].lines |= bit(0);
        self.ssa.defs.insert((s, 0), v);
    }
    /// Of lines, as all below.
    #[inline]
    fn define_in(&mut self, s: u32, line: u32, v: Value) {
        let x = &mut self.ssa.scalars[s as usize];
        if line == self.ssa.here {
            if x.block != line && x.block != NO_BLOCK {
                let (b, old) = (x.block, x.value);
                x.lines |= bit(b);
                self.ssa.defs.insert((s, b), old);
            }
            let x = &mut self.ssa.scalars[s as usize];
            x.block = line;
            x.value = v;
        } else if x.block == line {
            x.value = v;
        } else {
            x.lines |= bit(line);
            self.ssa.defs.insert((s, line), v);
        }
    }
    #[inline]
    fn defined_in(&self, s: u32, line: u32) -> Option<Value> {
        let x = &self.ssa.scalars[s as usize];
        match x.block == line {
            true => Some(x.value),
            false if x.lines & bit(line) == 0 => None,
            false => self.ssa.defs.get(&(s, line)).copied(),
        }
    }

    #[inline]
    pub(crate) fn read_scalar(&mut self, s: u32) -> Result<Value> {
        let x = &self.ssa.scalars[s as usize];
        let v = if x.block == self.ssa.here { x.value } else { self.read_at_end(s, self.e.cur)? };
        Ok(self.e.res(v))
    }

    /// A dominator of block `b` further up, where the variable is what it is in `b`: nothing stored it since, nor can
    /// what is still to come of a loop that begins in between.
    fn same_above(&self, s: u32, b: u32) -> Option<u32> {
        let far = self.e.blocks[b as usize].jump;
        let (from, to) = (self.ssa.place[b as usize], self.ssa.place[far as usize]);
        if far == b || self.ssa.scalars[s as usize].last_store > to {
            return None;
        }
        let outer = self.ssa.open.partition_point(|h| *h <= from);
        (outer == 0 || self.ssa.open[outer - 1] <= to).then_some(far)
    }

    /// The variable's value at the end of a block (as far as it is translated).
    pub(crate) fn read_at_end(&mut self, s: u32, block: u32) -> Result<Value> {
        // Phis under completion: (line where the walk began, the phi's block, phi, next predecessor).
        let mut stack: Vec<(u32, u32, Value, usize)> = Vec::new();
        let mut start = self.ssa.line[block as usize];
        loop {
            let mut b = start;
            let mut steps = 0;
            let mut found = loop {
                b = self.ssa.line[b as usize];
                if let Some(v) = self.defined_in(s, b) {
                    break Some(v);
                }
                steps += 1;
                if steps > LONG {
                    self.work.spend(1)?;
                    self.ssa.path.push(b);
                }
                if steps > SHORT
                    && let Some(far) = self.same_above(s, b)
                {
                    b = far;
                    continue;
                }
                let bb = &self.e.blocks[b as usize];
                let n = bb.preds.len();
                if bb.open_loop != NO_BLOCK {
                    let l = &self.ssa.loops[bb.open_loop as usize];
                    let var = self.ssa.scalars[s as usize].var;
                    if var != ANYWHERE && !l.info.stored_between(var, l.first, l.last) {
                        // Whatever comes round is what came in.
                        if bb.idom != b {
                            b = bb.idom;
                            continue;
                        }
                    } else if !l.sealed {
                        let (ty, k) = (self.ssa.scalars[s as usize].ty, bb.open_loop);
                        // Its operands follow at the seal.
                        let phi = self.e.new_phi(b, ty);
                        self.ssa.loops[k as usize].phis.push((s, phi));
                        self.define_in(s, b, phi);
                        break Some(phi);
                    }
                }
                let bb = &self.e.blocks[b as usize];
                match n {
                    0 => {
                        let ty = self.ssa.scalars[s as usize].ty;
                        break Some(self.e.constant(ty, 0));
                    }
                    1 => b = bb.preds[0].0,
                    _ => {
                        let place = self.ssa.place[bb.idom as usize];
                        if bb.open_loop == NO_BLOCK && self.ssa.scalars[s as usize].last_store <= place {
                            b = bb.idom;
                            continue;
                        }
                        self.work.spend(1 + n)?;
                        let ty = self.ssa.scalars[s as usize].ty;
                        let phi = self.e.new_phi(b, ty);
                        self.e.check_size()?;
                        self.define_in(s, b, phi);
                        stack.push((start, b, phi, 0));
                        break None;
                    }
                }
            };
            let mut path = std::mem::take(&mut self.ssa.path);
            for b in path.drain(..) {
                if let Some(v) = found {
                    self.define_in(s, b, v);
                }
            }
            self.ssa.path = path;
            if let Some(v) = found
                && start != b
            {
                self.define_in(s, start, v);
            }
            // Feed finished values to the phis that wait for them.
            loop {
                let Some(&(began, b, phi, next)) = stack.last() else {
                    return Ok(found.expect("a walk without waiting phis ends with a value"));
                };
                if let Some(v) = found.take() {
                    let from = self.e.blocks[b as usize].preds[next - 1].0;
                    self.push_phi(phi, from, v);
                }
                let preds = &self.e.blocks[b as usize].preds;
                if next < preds.len() {
                    start = self.ssa.line[preds[next].0 as usize];
                    stack.last_mut().expect("checked").3 += 1;
                    break;
                }
                stack.pop();
                let v = self.simplify_phi(phi).unwrap_or(phi);
                self.define_in(s, b, v);
                if began != b {
                    self.define_in(s, began, v);
                }
                found = Some(v);
            }
        }
    }

    pub(crate) fn push_phi(&mut self, phi: Value, from: u32, v: Value) {
        if let Inst::Phi(args) = &mut self.e.values[phi.0 as usize].inst {
            args.push((Block(from), v));
        }
    }

    /// Replaces a phi whose operands are one value (or itself); the value then.
    pub(crate) fn simplify_phi(&mut self, phi: Value) -> Option<Value> {
        let n = match &self.e.values[phi.0 as usize].inst {
            Inst::Phi(args) => args.len(),
            _ => return None,
        };
        let mut same = None;
        for k in 0..n {
            let Inst::Phi(args) = &self.e.values[phi.0 as usize].inst else { return None };
            let v = self.e.res(args[k].1);
            if v == phi || Some(v) == same {
                continue;
            }
            if same.is_some() {
                return None;
            }
            same = Some(v);
        }
        let ty = self.e.ty(phi);
        let v = match same {
            Some(v) => v,
            None => self.e.constant(ty, 0),
        };
        self.e.replace(phi, v);
        Some(v)
    }

    /// Simplifies phis of the list until none can be: each is looked at again when one that it reads was replaced.
    pub(crate) fn simplify_phis(&mut self, phis: &[Value]) -> Result<()> {
        let mut replaced = vec![];
        for &phi in phis {
            if !self.e.is_replaced(phi) && self.simplify_phi(phi).is_some() {
                replaced.push(phi);
            }
        }
        if replaced.is_empty() {
            return Ok(());
        }
        // Who reads which phi of the list, under the names that they have by now.
        let mut readers: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for &phi in phis {
            let n = match &self.e.values[phi.0 as usize].inst {
                Inst::Phi(args) if !self.e.is_replaced(phi) => args.len(),
                _ => continue,
            };
            self.work.spend(n)?;
            for k in 0..n {
                let Inst::Phi(args) = &self.e.values[phi.0 as usize].inst else { break };
                let of = args[k].1;
                readers.entry(self.e.res(of)).or_default().push(phi);
            }
        }
        let mut left: Vec<Value> = readers.values().flatten().copied().collect();
        left.small_sort();
        left.dedup();
        while let Some(phi) = left.pop() {
            self.work.spend(1)?;
            if self.e.is_replaced(phi) {
                continue;
            }
            if let Some(v) = self.simplify_phi(phi)
                && let Some(list) = readers.remove(&phi)
            {
                self.work.spend(list.len())?;
                left.extend_from_slice(&list);
                // They read what stands for it now.
                readers.entry(v).or_default().extend(list);
            }
        }
        Ok(())
    }

    /// Completes the phis of a loop header once all its predecessors are known.
    pub(crate) fn seal_loop(&mut self, k: usize) -> Result<()> {
        self.ssa.loops[k].sealed = true;
        let header = self.ssa.loops[k].header;
        let place = self.ssa.place[header as usize];
        self.ssa.open.retain(|h| *h != place);
        let phis = std::mem::take(&mut self.ssa.loops[k].phis);
        for &(s, phi) in &phis {
            let n = self.e.blocks[header as usize].preds.len();
            let mut args = Vec::with_capacity(n);
            for p in 0..n {
                let from = self.e.blocks[header as usize].preds[p].0;
                args.push((Block(from), self.read_at_end(s, from)?));
            }
            self.e.values[phi.0 as usize].inst = Inst::Phi(args);
        }
        let phis: Vec<Value> = phis.into_iter().map(|p| p.1).collect();
        self.simplify_phis(&phis)
    }
}

//! A look at the entry point's functions before translation: which variables are indexed dynamically, which are
//! written, and in which blocks. Pointers that may be the same (through calls, phis, selects) are one set.

use super::access::Chain;
use super::control::FnInfo;
use super::types::TypeClass;
use super::unroll::Indexed;
use super::{Builder, MAX_CALL_DEPTH, MAX_INSTRUCTIONS};
use crate::options::{Error, Result};
use crate::spirv::*;
use rustc_hash::{FxHashMap, FxHashSet};
use small_sort::SmallSort;
use std::rc::Rc;

pub(crate) const DYNAMIC: u8 = 1;
pub(crate) const WRITTEN: u8 = 2;
pub(crate) const USED: u8 = 4;
/// Indexed by what is constant once loops are unrolled.
pub(crate) const SETTLES: u8 = 8;
/// Written otherwise than as a whole by one and the same constant.
pub(crate) const CHANGED: u8 = 16;

#[derive(Default)]
pub(crate) struct Analysis {
    parent: Vec<u32>,
    flags: Vec<u8>,
    /// Something is stored through a pointer of unknown origin.
    pub all_written: bool,
    /// Pointers that phis read.
    pub phi_pointers: FxHashMap<u32, ()>,
    /// Variables that are too large to choose among their scalars, and are values because all indices settle.
    pub settled: FxHashSet<u32>,
    /// Variables into which a constant is stored, and which: the same by all stores unless it is [`CHANGED`].
    pub fills: FxHashMap<u32, u32>,
    /// Variables that keep their first value (see `endless`).
    pub endless: FxHashSet<u32>,
}

impl Analysis {
    pub fn find(&mut self, id: u32) -> u32 {
        let mut r = id;
        while let Some(&p) = self.parent.get(r as usize)
            && p != 0
        {
            r = p;
        }
        let mut x = id;
        while x != r {
            x = std::mem::replace(&mut self.parent[x as usize], r);
        }
        r
    }
    fn union(&mut self, a: u32, b: u32) {
        let n = self.parent.len() as u32;
        if a >= n || b >= n || a == 0 || b == 0 {
            return;
        }
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.parent[a as usize] = b;
            self.flags[b as usize] |= self.flags[a as usize];
        }
    }
    fn mark(&mut self, id: u32, f: u8) {
        let r = self.find(id);
        if let Some(x) = self.flags.get_mut(r as usize) {
            *x |= f;
        }
    }
    pub fn has(&mut self, id: u32, f: u8) -> bool {
        let r = self.find(id);
        self.flags.get(r as usize).is_some_and(|x| x & f != 0)
    }
}

/// Stores and calls of a function: (position, pointer id), (position, function index).
#[derive(Default)]
pub(super) struct Events {
    pub stores: Vec<(u32, u32)>,
    calls: Vec<(u32, usize)>,
    /// Accesses to variables by indices that are no constants.
    indexed: Vec<Indexed>,
    /// Variables that may bound a loop.
    pub counters: Vec<u32>,
}

impl Builder<'_> {
    pub(crate) fn analyse(&mut self, entry: usize) -> Result<()> {
        let n = self.m.functions.len();
        self.infos = vec![None; n];
        self.uses.parent = vec![0; self.m.ids()];
        self.uses.flags = vec![0; self.m.ids()];
        let mut events: Vec<Events> = (0..n).map(|_| Events::default()).collect();
        let mut infos: Vec<Option<FnInfo>> = (0..n).map(|_| None).collect();
        // Depth-first over calls; `done` in postorder.
        let mut done = Vec::new();
        let mut state = vec![0u8; n];
        let mut blocks = 0;
        let mut stack = vec![(entry, 0usize)];
        state[entry] = 1;
        while let Some((f, next)) = stack.last_mut() {
            let f = *f;
            if infos[f].is_none() {
                let info = self.function_info(self.m.functions[f])?;
                self.scan(&info, &mut events[f])?;
                blocks += info.blocks.len();
                if blocks > MAX_INSTRUCTIONS as usize {
                    return Err(Error::TooLarge(format!(
                        "its functions have more than {MAX_INSTRUCTIONS} blocks"
                    )));
                }
                infos[f] = Some(info);
            }
            if let Some(&(_, callee)) = events[f].calls.get(*next) {
                *next += 1;
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                        if stack.len() > MAX_CALL_DEPTH {
                            return Err(Error::TooLarge("calls nested too deeply".into()));
                        }
                    }
                    1 => return Err(invalid(self.m.functions[f].start as usize, "recursion")),
                    _ => {}
                }
            } else {
                state[f] = 2;
                done.push(f);
                stack.pop();
            }
        }
        // Where each set of pointers is stored, calls included.
        let mut writes: Vec<Vec<u32>> = vec![Vec::new(); n];
        for &f in &done {
            let mut at: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for &(pos, p) in &events[f].stores {
                at.entry(self.uses.find(p)).or_default().push(pos);
            }
            for &(pos, callee) in &events[f].calls {
                self.work.spend(writes[callee].len())?;
                for &p in &writes[callee] {
                    at.entry(p).or_default().push(pos);
                }
            }
            for list in at.values_mut() {
                list.small_sort();
                list.dedup();
            }
            writes[f] = at.keys().copied().collect();
            writes[f].small_sort();
            let mut info = infos[f].take().expect("scanned above");
            info.stores = at;
            self.find_endless(&mut info, &events[f])?;
            self.plan_loops(&mut info, &events[f].indexed)?;
            for x in events[f].indexed.iter().filter(|x| !x.vector) {
                let settles = self.settles(&info, x.index, 0);
                self.uses.mark(x.base, if settles { SETTLES } else { DYNAMIC });
            }
            self.infos[f] = Some(Rc::new(info));
        }
        for id in &self.denied.variables {
            self.uses.mark(*id, DYNAMIC);
        }
        Ok(())
    }

    fn is_pointer(&self, id: u32) -> bool {
        self.pointer_class(id).is_some()
    }
    /// Storage class, when the id's result is a pointer.
    fn pointer_class(&self, id: u32) -> Option<StorageClass> {
        let i = self.m.inst(self.m.def_at(id)?);
        match self.types.kind(self.types.of(i.get(1)?, 0).ok()?) {
            TypeClass::Pointer(c, _) => Some(c),
            _ => None,
        }
    }

    fn scan(&mut self, info: &FnInfo, ev: &mut Events) -> Result<()> {
        for (pos, &b) in info.order.iter().enumerate() {
            let pos = pos as u32;
            let b = &info.blocks[b as usize];
            let mut at = b.start;
            while at <= b.term {
                let i = self.m.inst(at);
                self.scan_one(&i, pos, ev)?;
                at += i.len() as u32;
            }
        }
        Ok(())
    }

    fn scan_one(&mut self, i: &Code, pos: u32, ev: &mut Events) -> Result<()> {
        let mut write = |b: &mut Self, p: u32| {
            b.uses.mark(p, WRITTEN | USED | CHANGED);
            ev.stores.push((pos, p));
        };
        match i.op {
            Op::Variable => ev.counters.extend(self.may_be_endless(i)),
            Op::Load => {
                self.uses.mark(i.w[3], USED);
                if matches!(self.pointer_class(i.w[2]), Some(StorageClass::StorageBuffer)) {
                    self.uses.all_written = true;
                }
            }
            Op::Store if self.is_fill(i) => {
                self.uses.mark(i.w[1], WRITTEN | USED);
                ev.stores.push((pos, i.w[1]));
            }
            Op::CooperativeVectorMatrixMulNV => self.uses.mark(i.word(5)?, USED),
            Op::CooperativeVectorMatrixMulAddNV => {
                self.uses.mark(i.word(5)?, USED);
                self.uses.mark(i.word(8)?, USED);
            }
            Op::CooperativeVectorLoadNV => self.uses.mark(i.word(3)?, USED),
            Op::CooperativeVectorStoreNV
            | Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixStoreTensorNV
            | Op::CooperativeVectorReduceSumAccumulateNV
            | Op::CooperativeVectorOuterProductAccumulateNV => write(self, i.word(1)?),
            Op::Store | Op::AtomicStore | Op::AtomicFlagClear => write(self, i.w[1]),
            Op::CopyMemory | Op::CopyMemorySized => {
                write(self, i.w[1]);
                self.uses.mark(i.w[2], USED);
            }
            Op::UntypedArrayLengthKHR => self.uses.mark(i.word(4)?, USED),
            // Any buffer may be behind it.
            Op::BufferPointerEXT => {
                self.uses.mark(i.w[3], USED);
                self.uses.all_written = true;
            }
            Op::UntypedImageTexelPointerEXT => {
                self.uses.union(i.w[2], i.word(4)?);
                self.uses.mark(i.word(4)?, USED);
            }
            op if Chain::of(op).is_some() => self.scan_chain(i, pos, ev)?,
            Op::ImageTexelPointer | Op::CopyObject | Op::ArrayLength => {
                if self.is_pointer(i.w[2]) || i.op == Op::ImageTexelPointer {
                    self.uses.union(i.w[2], i.w[3]);
                }
                self.uses.mark(i.w[3], USED);
            }
            Op::Phi if self.is_pointer(i.w[2]) => {
                for pair in i.rest(3).chunks(2) {
                    self.uses.union(i.w[2], pair[0]);
                    self.uses.phi_pointers.insert(pair[0], ());
                }
            }
            Op::Select if self.is_pointer(i.w[2]) => {
                self.uses.union(i.w[2], i.w[4]);
                self.uses.union(i.w[2], i.w[5]);
            }
            _ if i.callee().is_some() => self.scan_call(i, pos, ev)?,
            Op::ReturnValue if self.is_pointer(i.w[1]) => {
                // Joined with the function's id, which calls join with their results: done through the callers'
                // conservative flag, as the function is not known here.
                self.uses.all_written = true;
            }
            Op::ExtInst => {
                // Modf and Frexp store through their last operand.
                if matches!(i.w[4], 35 | 51)
                    && let Some(p) = i.get(6)
                {
                    write(self, p);
                }
            }
            op if super::atomics::is_atomic(op) => {
                if op == Op::AtomicLoad {
                    self.uses.mark(i.w[3], USED);
                } else {
                    write(self, i.w[3]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scan_call(&mut self, i: &Code, pos: u32, ev: &mut Events) -> Result<()> {
        let Some(callee) = i.callee() else { return Ok(()) };
        let f = self.m.function(callee.id).ok_or_else(|| i.bad("the callee is not a function"))?;
        ev.calls.push((pos, f));
        let function = self.m.functions[f];
        let mut at = function.start;
        let mut k = 0;
        while at < function.end {
            let p = self.m.inst(at);
            match p.op {
                Op::FunctionParameter => {
                    if k >= callee.own {
                        let Some(arg) = i.get(callee.first + k - callee.own) else { break };
                        if self.is_pointer(p.w[2]) {
                            self.uses.union(p.w[2], arg);
                            self.uses.mark(arg, USED);
                        }
                    }
                    k += 1;
                }
                Op::Label => break,
                _ => {}
            }
            at += p.len() as u32;
        }
        if i.op == Op::FunctionCall && self.is_pointer(i.w[2]) {
            self.uses.union(i.w[2], i.w[3]);
        }
        Ok(())
    }

    /// Whether a whole variable is stored the constant that all others store, too.
    fn is_fill(&mut self, i: &Code) -> bool {
        let op = |id: u32| self.m.def_at(id).map(|at| self.m.inst(at));
        let Some(var) = op(i.w[1]).filter(|v| v.op == Op::Variable) else { return false };
        let constant = op(i.w[2]).is_some_and(|v| {
            matches!(v.op, Op::ConstantComposite | Op::SpecConstantComposite | Op::ConstantNull)
        });
        let first = var.get(4).unwrap_or(i.w[2]);
        constant && *self.uses.fills.entry(i.w[1]).or_insert(first) == i.w[2]
    }

    fn scan_chain(&mut self, i: &Code, pos: u32, ev: &mut Events) -> Result<()> {
        let Some(chain) = Chain::of(i.op) else { return Ok(()) };
        let base = i.word(chain.base)?;
        self.uses.union(i.w[2], base);
        self.uses.mark(base, USED);
        if chain.untyped {
            return Ok(());
        }
        let Some(StorageClass::Function | StorageClass::Private | StorageClass::Output) =
            self.pointer_class(i.w[3])
        else {
            return Ok(());
        };
        let Some(base) = self.m.def_at(i.w[3]) else { return Ok(()) };
        let TypeClass::Pointer(_, pointee) = self.types.kind(self.types.of(self.m.inst(base).w[1], i.at)?)
        else {
            return Ok(());
        };
        let mut ty = self.types.of(pointee, i.at)?;
        for &id in i.rest(4) {
            let c = self.try_const(id);
            let kind = self.types.kind(ty);
            if c.is_none() {
                let vector = matches!(kind, TypeClass::Vector(..) | TypeClass::Cooperative(..));
                ev.indexed.push(Indexed { pos, base: i.w[3], index: id, vector });
            }
            ty = match kind {
                TypeClass::Vector(e, _)
                | TypeClass::Cooperative(e, _)
                | TypeClass::Matrix(e, _)
                | TypeClass::Array(e, _)
                | TypeClass::Runtime(e) => e,
                TypeClass::Struct(..) => match c.and_then(|c| self.types.member(ty, c as u32)) {
                    Some(m) => m.ty,
                    None => return Ok(()),
                },
                _ => return Ok(()),
            };
        }
        Ok(())
    }
}

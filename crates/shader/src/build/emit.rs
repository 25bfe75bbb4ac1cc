//! The IR under construction: values, blocks, dominators, scoped common-subexpression elimination.
//!
//! Blocks are begun in their final order, when all forward predecessors have ended; so a block's immediate dominator
//! is known at once, and a value found in the table of known expressions may be used when its block dominates.

use super::float::FloatModes;
use crate::ir::*;
use crate::opt::known::Known;
use crate::options::{Error, Result};

/// Values a shader may have before optimisation.
pub const MAX_VALUES: usize = 1 << 21;
pub(crate) const NO_BLOCK: u32 = u32::MAX;
/// Where constants and the like are defined: before the entry block's own instructions.
pub(crate) const PRELUDE: u32 = u32::MAX - 1;

pub(crate) struct Bb {
    /// Predecessors, and the label in SPIR-V that each edge comes from.
    pub preds: Vec<(u32, u32)>,
    pub idom: u32,
    pub depth: u32,
    /// A dominator further up: see [`Emit::dominates`].
    pub jump: u32,
    pub begun: bool,
    /// The merge block of a loop that lives.
    pub loop_merge: bool,
    pub phis: Vec<Value>,
    pub insts: std::ops::Range<u32>,
    pub term: Term,
    pub merge: Merge,
    pub origin: Origin,
    /// A loop header whose back edge is still to come: index into the open loops of `ssa`.
    pub open_loop: u32,
}

pub(crate) struct Emit {
    pub values: Vec<ValueData>,
    /// Block in which each value is defined.
    pub def_block: Vec<u32>,
    alias: Vec<u32>,
    pub blocks: Vec<Bb>,
    pub order: Vec<u32>,
    pub cur: u32,
    /// Instructions of all blocks; each block's are contiguous.
    pub insts: Vec<Value>,
    /// Constants, inputs, descriptors: they come before the entry block's instructions.
    pub prelude: Vec<Value>,
    pub to_prelude: bool,
    pub exact: bool,
    /// Of what is emitted: [`ValueFlags::relaxed`].
    pub relaxed: bool,
    /// How float results are rounded and denormals treated.
    pub modes: FloatModes,
    known: Known,
}

impl Emit {
    /// `size`: values to expect.
    pub fn new(size: usize) -> Emit {
        let mut e = Emit {
            values: Vec::with_capacity(size),
            def_block: Vec::with_capacity(size),
            alias: Vec::with_capacity(size),
            blocks: Vec::new(),
            order: Vec::new(),
            cur: 0,
            insts: Vec::with_capacity(size),
            prelude: Vec::new(),
            to_prelude: false,
            exact: false,
            relaxed: false,
            modes: FloatModes::default(),
            known: Known::new(size),
        };
        let b = e.new_block();
        e.begin(b, Origin::default());
        e
    }

    pub fn new_block(&mut self) -> u32 {
        self.blocks.push(Bb {
            preds: Vec::new(),
            idom: 0,
            depth: 0,
            jump: 0,
            begun: false,
            loop_merge: false,
            phis: Vec::new(),
            insts: 0..0,
            term: Term::Return,
            merge: Merge::None,
            origin: Origin::default(),
            open_loop: NO_BLOCK,
        });
        self.blocks.len() as u32 - 1
    }

    /// Makes `b` the current block; its forward predecessors must have ended.
    pub fn begin(&mut self, b: u32, origin: Origin) {
        let mut idom = NO_BLOCK;
        for k in 0..self.blocks[b as usize].preds.len() {
            let p = self.blocks[b as usize].preds[k].0;
            idom = if idom == NO_BLOCK { p } else { self.common_dominator(idom, p) };
        }
        let (depth, jump) = if idom == NO_BLOCK {
            (0, b)
        } else {
            let p = &self.blocks[idom as usize];
            let j = &self.blocks[p.jump as usize];
            let skip = p.depth - j.depth == j.depth - self.blocks[j.jump as usize].depth;
            (p.depth + 1, if skip { j.jump } else { idom })
        };
        let at = self.insts.len() as u32;
        let bb = &mut self.blocks[b as usize];
        bb.idom = if idom == NO_BLOCK { b } else { idom };
        bb.depth = depth;
        bb.jump = jump;
        bb.begun = true;
        bb.insts = at..at;
        bb.origin = origin;
        self.order.push(b);
        self.cur = b;
    }

    /// Ends the current block.
    pub fn end(&mut self, term: Term) {
        let at = self.insts.len() as u32;
        let bb = &mut self.blocks[self.cur as usize];
        bb.insts.end = at;
        bb.term = term;
    }

    fn common_dominator(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let (x, y) = (&self.blocks[a as usize], &self.blocks[b as usize]);
            if x.depth > y.depth {
                a = if self.blocks[x.jump as usize].depth >= y.depth { x.jump } else { x.idom };
            } else if x.depth < y.depth {
                b = if self.blocks[y.jump as usize].depth >= x.depth { y.jump } else { y.idom };
            } else if x.idom == a || y.idom == b {
                return 0;
            } else if x.jump != y.jump {
                a = x.jump;
                b = y.jump;
            } else {
                a = x.idom;
                b = y.idom;
            }
        }
        a
    }

    #[inline]
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        if a == b || a == 0 || a == PRELUDE {
            return true;
        }
        let depth = self.blocks[a as usize].depth;
        let mut b = b;
        loop {
            let y = &self.blocks[b as usize];
            if y.depth <= depth {
                return a == b;
            }
            b = if self.blocks[y.jump as usize].depth >= depth { y.jump } else { y.idom };
        }
    }

    /// The value that stands for `v` after trivial phis were taken away.
    #[inline]
    pub fn res(&mut self, v: Value) -> Value {
        let a = self.alias[v.0 as usize];
        if a == v.0 {
            return v;
        }
        let mut r = a;
        while self.alias[r as usize] != r {
            r = self.alias[r as usize];
        }
        let mut x = v.0;
        while x != r {
            x = std::mem::replace(&mut self.alias[x as usize], r);
        }
        Value(r)
    }
    /// `v` (a phi) is always `to`.
    pub fn replace(&mut self, v: Value, to: Value) {
        self.alias[v.0 as usize] = to.0;
    }
    pub fn is_replaced(&self, v: Value) -> bool {
        self.alias[v.0 as usize] != v.0
    }

    /// What is asked of arithmetic is nothing to other instructions.
    fn flags(&self, inst: &Inst) -> ValueFlags {
        let arithmetic = matches!(inst, Inst::Un(..) | Inst::Bin(..) | Inst::Tri(..));
        let (exact, relaxed) = (self.exact && arithmetic, self.relaxed && arithmetic);
        ValueFlags { exact, relaxed, ..ValueFlags::default() }
    }
    /// Nothing is asked of what follows.
    #[inline]
    pub fn reset_flags(&mut self) {
        (self.exact, self.relaxed) = (false, false);
    }
    fn add_value(&mut self, inst: Inst, ty: Ty, block: u32) -> Value {
        let v = Value(self.values.len() as u32);
        let flags = self.flags(&inst);
        self.values.push(ValueData { inst, ty, flags });
        self.def_block.push(block);
        self.alias.push(v.0);
        v
    }
    /// Appends an instruction that orders others.
    pub fn push_order(&mut self, inst: Inst, ty: Ty, order: Order) -> Value {
        let v = self.push(inst, ty);
        self.values[v.0 as usize].flags.order = order;
        v
    }
    /// Appends an instruction to the current block.
    #[inline]
    pub fn push(&mut self, inst: Inst, ty: Ty) -> Value {
        if self.to_prelude {
            return self.push_prelude(inst, ty);
        }
        let v = self.add_value(inst, ty, self.cur);
        self.insts.push(v);
        v
    }
    pub fn push_prelude(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.add_value(inst, ty, PRELUDE);
        self.prelude.push(v);
        v
    }
    pub fn new_phi(&mut self, block: u32, ty: Ty) -> Value {
        let ways = self.blocks[block as usize].preds.len();
        let v = self.add_value(Inst::Phi(Vec::with_capacity(ways)), ty, block);
        self.blocks[block as usize].phis.push(v);
        v
    }
    /// Errors when the shader has grown beyond all bounds.
    pub fn check_size(&self) -> Result<()> {
        if self.values.len() > MAX_VALUES {
            return Err(Error::TooLarge(format!("it grows beyond {MAX_VALUES} scalar operations")));
        }
        Ok(())
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let bits = match ty {
            Ty::Bool => bits & 1,
            Ty::B32 => bits & 0xFFFF_FFFF,
            _ => bits,
        };
        self.given(Inst::Const(bits), ty)
    }
    pub fn u32(&mut self, x: u32) -> Value {
        self.constant(Ty::B32, x as u64)
    }
    pub fn u64(&mut self, x: u64) -> Value {
        self.constant(Ty::B64, x)
    }
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(Ty::B32, x.to_bits() as u64)
    }
    pub fn bool(&mut self, x: bool) -> Value {
        self.constant(Ty::Bool, x as u64)
    }
    /// A float constant of the width of `ty`.
    pub fn float(&mut self, ty: Ty, x: f64) -> Value {
        match ty {
            Ty::B64 => self.constant(ty, x.to_bits()),
            _ => self.f32(x as f32),
        }
    }
    pub fn int(&mut self, ty: Ty, x: i64) -> Value {
        self.constant(ty, x as u64)
    }
    #[inline]
    pub fn as_const(&self, v: Value) -> Option<u64> {
        match self.values[v.0 as usize].inst {
            Inst::Const(c) => Some(c),
            _ => None,
        }
    }
    #[inline]
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.0 as usize].ty
    }

    /// An expression without side effects: the value known already where one dominates, else a new one.
    #[inline]
    pub fn pure(&mut self, inst: Inst, ty: Ty) -> Value {
        let flags = self.flags(&inst);
        let found = self.known.find(&self.values, &inst, ty, flags);
        if let Some(v) = found.value {
            let def = self.def_block[v.0 as usize];
            if if self.to_prelude { def == PRELUDE } else { self.dominates(def, self.cur) } {
                self.values[v.0 as usize].flags.relaxed &= flags.relaxed;
                return v;
            }
        }
        let v = self.push(inst, ty);
        self.known.put(&self.values, found, v);
        v
    }
    /// One that reads no other: in the prelude wherever it is asked for.
    fn given(&mut self, inst: Inst, ty: Ty) -> Value {
        let saved = std::mem::replace(&mut self.to_prelude, true);
        let v = self.pure(inst, ty);
        self.to_prelude = saved;
        v
    }

    /// Part `i` of a tuple; `ty` is the part's type.
    pub fn part(&mut self, v: Value, i: u32, ty: Ty) -> Value {
        self.pure(Inst::Part(v, i), ty)
    }
    /// A value the engine supplies.
    pub fn input(&mut self, input: Input, ty: Ty) -> Value {
        self.given(Inst::Input(input), ty)
    }
    /// Address of a descriptor; in the prelude when the index is constant.
    pub fn descriptor(&mut self, source: DescriptorSource, index: Value, texels: bool) -> Value {
        let inst = Inst::Descriptor { source, index, texels };
        if self.as_const(index).is_some() { self.given(inst, Ty::B64) } else { self.pure(inst, Ty::B64) }
    }
    /// A load; those of memory that nobody writes are shared.
    pub fn load(&mut self, place: Place, offset: u32, mem: Mem, n: u8, flags: MemFlags) -> Value {
        let ty = if n == 1 { mem.ty() } else { Ty::Tuple };
        let inst = Inst::Load { place, offset, mem, n, flags };
        if flags.read_only && !flags.volatile { self.pure(inst, ty) } else { self.push(inst, ty) }
    }
}

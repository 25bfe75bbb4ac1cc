//! The IR under construction: values, blocks, dominators, scoped common-subexpression elimination.
//!
//! Blocks are begun in their final order, when all forward predecessors have ended; so a block's immediate dominator
//! is known at once, and a value found in the table of known expressions may be used when its block dominates.

use super::float::FloatModes;
use crate::ir::*;
use crate::options::{Error, Result};
use rustc_hash::FxHashMap;

/// Values a shader may have before optimisation.
const MAX_VALUES: usize = 6 << 20;
pub(crate) const NO_BLOCK: u32 = u32::MAX;
/// Where constants and the like are defined: before the entry block's own instructions.
pub(crate) const PRELUDE: u32 = u32::MAX - 1;

/// Kind and operands of an expression, packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key([u32; 5]);

impl std::hash::Hash for Key {
    #[inline]
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        let k = &self.0;
        h.write_u64((k[0] as u64) << 32 | k[1] as u64);
        h.write_u64((k[2] as u64) << 32 | k[3] as u64);
        h.write_u32(k[4]);
    }
}

pub(crate) struct Bb {
    /// Predecessors, and the label in SPIR-V that each edge comes from.
    pub preds: Vec<(u32, u32)>,
    pub idom: u32,
    pub depth: u32,
    jump: u32,
    pub begun: bool,
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
    /// How float results are rounded and denormals treated.
    pub modes: FloatModes,
    consts: FxHashMap<(u8, u64), Value>,
    cse: FxHashMap<Key, Value>,
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
            modes: FloatModes::default(),
            consts: FxHashMap::default(),
            cse: FxHashMap::with_capacity_and_hasher(size, Default::default()),
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
        self.alias[v.0 as usize] = r;
        Value(r)
    }
    /// `v` (a phi) is always `to`.
    pub fn replace(&mut self, v: Value, to: Value) {
        self.alias[v.0 as usize] = to.0;
    }
    pub fn is_replaced(&self, v: Value) -> bool {
        self.alias[v.0 as usize] != v.0
    }

    fn add_value(&mut self, inst: Inst, ty: Ty, block: u32) -> Value {
        let v = Value(self.values.len() as u32);
        let flags = ValueFlags { exact: self.exact };
        self.values.push(ValueData { inst, ty, flags });
        self.def_block.push(block);
        self.alias.push(v.0);
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
        let exact = std::mem::replace(&mut self.exact, false);
        let v = self.add_value(Inst::Phi(Vec::new()), ty, block);
        self.exact = exact;
        self.blocks[block as usize].phis.push(v);
        v
    }
    /// Errors when the shader has grown beyond all bounds.
    pub fn check_size(&self) -> Result<()> {
        if self.values.len() > MAX_VALUES {
            return Err(Error::TooLarge(format!("more than {MAX_VALUES} values after inlining")));
        }
        Ok(())
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let bits = match ty {
            Ty::Bool => bits & 1,
            Ty::B32 => bits & 0xFFFF_FFFF,
            _ => bits,
        };
        if let Some(&v) = self.consts.get(&(ty as u8, bits)) {
            return v;
        }
        let exact = std::mem::replace(&mut self.exact, false);
        let v = self.push_prelude(Inst::Const(bits), ty);
        self.exact = exact;
        self.consts.insert((ty as u8, bits), v);
        v
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
    pub fn pure(&mut self, key: Key, ty: Ty, inst: impl FnOnce() -> Inst) -> Value {
        if let Some(&v) = self.cse.get(&key) {
            let def = self.def_block[v.0 as usize];
            if if self.to_prelude { def == PRELUDE } else { self.dominates(def, self.cur) } {
                return v;
            }
        }
        let v = self.push(inst(), ty);
        self.cse.insert(key, v);
        v
    }

    pub fn key(&self, kind: u32, op: u32, a: u32, b: u32, c: u32) -> Key {
        Key([kind << 16 | op << 1 | self.exact as u32, a, b, c, 0])
    }

    /// Part `i` of a tuple; `ty` is the part's type.
    pub fn part(&mut self, v: Value, i: u32, ty: Ty) -> Value {
        let key = Key([5 << 16, v.0, i, 0, 0]);
        self.pure(key, ty, || Inst::Part(v, i))
    }
    /// A value the engine supplies; always in the entry block.
    pub fn input(&mut self, input: Input, ty: Ty) -> Value {
        let code = match input {
            Input::LocalId(i) => 0x100 | i as u32,
            Input::WorkgroupId(i) => 0x200 | i as u32,
            Input::NumWorkgroups(i) => 0x300 | i as u32,
            Input::FragCoord(i) => 0x400 | i as u32,
            Input::PointCoord(i) => 0x500 | i as u32,
            Input::Varying(i) => 0x1_0000 | i as u32,
            Input::SubgroupLane => 1,
            Input::SubgroupId => 2,
            Input::NumSubgroups => 3,
            Input::LocalIndex => 5,
            Input::DeviceIndex => 6,
            Input::VertexIndex => 7,
            Input::InstanceIndex => 8,
            Input::BaseVertex => 9,
            Input::BaseInstance => 10,
            Input::DrawIndex => 11,
            Input::ViewIndex => 12,
            Input::FrontFacing => 13,
            Input::SampleId => 14,
            Input::SampleMask => 15,
            Input::HelperInvocation => 16,
            Input::PrimitiveId => 17,
            Input::Layer => 18,
            Input::ViewportIndex => 19,
            Input::SamplePosition(i) => 0x600 | i as u32,
            Input::InvW(i) => 0x700 | i as u32,
            Input::CentroidOffset(i) => 0x800 | i as u32,
            Input::SampleOffset(i) => 0x900 | i as u32,
            Input::PlaneAt(i) => 0x2_0000 | i as u32,
            Input::PlaneDx(i) => 0x3_0000 | i as u32,
            Input::PlaneDy(i) => 0x4_0000 | i as u32,
        };
        let saved = (self.to_prelude, self.exact);
        (self.to_prelude, self.exact) = (true, false);
        let v = self.pure(Key([6 << 16, code, 0, 0, 0]), ty, || Inst::Input(input));
        (self.to_prelude, self.exact) = saved;
        v
    }
    /// Address of a descriptor; in the entry block when the index is constant.
    pub fn descriptor(&mut self, set: u32, binding: u32, index: Value, texels: bool) -> Value {
        let saved = (self.to_prelude, self.exact);
        self.exact = false;
        if self.as_const(index).is_some() {
            self.to_prelude = true;
        }
        let inst = Inst::Descriptor { set, binding, index, texels };
        let v = self.pure(Key([7 << 16, set, binding, index.0, texels as u32]), Ty::B64, || inst);
        (self.to_prelude, self.exact) = saved;
        v
    }
    /// A load; those of memory that nobody writes are shared.
    pub fn load(&mut self, place: Place, offset: u32, mem: Mem, n: u8, flags: MemFlags) -> Value {
        let ty = if n == 1 { mem.ty() } else { Ty::Tuple };
        let inst = Inst::Load { place, offset, mem, n, flags };
        if !flags.read_only || flags.volatile {
            return self.push(inst, ty);
        }
        let (kind, desc, addr) = match place {
            Place::Buffer { desc, addr } => (8, desc.0, addr.0),
            Place::Global { addr } => (9, 0, addr.0),
            Place::Shared { addr } => (10, 0, addr.0),
            Place::Scratch { addr } => (11, 0, addr.0),
            Place::Push { addr } => (12, 0, addr.0),
        };
        let key = Key([kind << 16, desc, addr, offset, mem as u32 | (n as u32) << 8]);
        self.pure(key, ty, || inst)
    }
}

//! Value numbering over the dominator tree with folding: equal movable operations become one where the first
//! dominates, constants fold, branches on constants become jumps.
//!
//! One walk in block order; a value met again in a block that its first occurrence does not dominate takes its place
//! in the table.

use crate::cfg::Cfg;
use crate::ir::{Input, Inst, Place, Shader, Term, Ty, Value, ValueData, ValueFlags};
use crate::isa::{is_movable, operands_mut};
use crate::opt::rules::{self, Better, Def, Site};
use crate::options::Result;

const EMPTY: u32 = u32::MAX;
/// Block of what is available everywhere.
const ANYWHERE: u32 = u32::MAX;

pub struct Gvn {
    /// Open addressing; values by hash of their instruction.
    table: Vec<u32>,
    filled: usize,
    hashes: Vec<u64>,
    block_of: Vec<u32>,
    replace: Vec<Value>,
    /// Constants made up meanwhile; appended to the shader's values as they are asked for.
    fresh: Vec<ValueData>,
    base: u32,
}

fn mix(h: u64, x: u64) -> u64 {
    (h.rotate_left(5) ^ x).wrapping_mul(0x517C_C1B7_2722_0A95)
}

fn hash(inst: &Inst, ty: Ty, flags: ValueFlags) -> u64 {
    let h = mix(flags.exact as u64, ty as u64);
    let h = match inst {
        Inst::Const(c) => mix(mix(h, 1), *c),
        Inst::Input(i) => {
            let (a, b) = match i {
                Input::LocalId(c) => (1, *c as u64),
                Input::WorkgroupId(c) => (2, *c as u64),
                Input::NumWorkgroups(c) => (3, *c as u64),
                Input::Varying(slot) => (5, *slot as u64),
                _ => (4, 0),
            };
            mix(mix(h, 2), a << 16 | b)
        }
        Inst::Un(op, a) => mix(mix(h, 0x100 + *op as u64), a.0 as u64),
        Inst::Bin(op, a, b) => mix(mix(h, 0x200 + *op as u64), (a.0 as u64) << 32 | b.0 as u64),
        Inst::Tri(op, a, b, c) => {
            mix(mix(mix(h, 0x300 + *op as u64), (a.0 as u64) << 32 | b.0 as u64), c.0 as u64)
        }
        Inst::Descriptor { set, binding, index, .. } => {
            mix(mix(mix(h, 3), (*set as u64) << 32 | *binding as u64), index.0 as u64)
        }
        Inst::BufferSize { desc } => mix(mix(h, 4), desc.0 as u64),
        Inst::Part(t, i) => mix(mix(h, 5), (t.0 as u64) << 8 | *i as u64),
        Inst::Load { place, offset, n, .. } => {
            let at = match place {
                Place::Buffer { desc, addr } => (desc.0 as u64) << 32 | addr.0 as u64,
                Place::Push { addr } => 1 << 63 | addr.0 as u64,
                _ => 0,
            };
            mix(mix(mix(h, 6), at), (*offset as u64) << 8 | *n as u64)
        }
        _ => h,
    };
    h ^ h >> 29
}

impl Gvn {
    fn new(shader: &Shader) -> Gvn {
        let n = shader.values.len();
        Gvn {
            table: vec![EMPTY; (2 * n).next_power_of_two().max(64)],
            filled: 0,
            hashes: vec![0; n],
            block_of: vec![ANYWHERE; n],
            replace: (0..n as u32).map(Value).collect(),
            fresh: vec![],
            base: n as u32,
        }
    }

    fn data<'a>(&'a self, shader: &'a Shader, v: u32) -> &'a ValueData {
        if v < self.base { &shader.values[v as usize] } else { &self.fresh[(v - self.base) as usize] }
    }

    /// The slot where an equal instruction is or would be.
    fn slot(&self, shader: &Shader, h: u64, inst: &Inst, ty: Ty, flags: ValueFlags) -> usize {
        let mask = self.table.len() - 1;
        let mut i = h as usize & mask;
        loop {
            let v = self.table[i];
            if v == EMPTY {
                return i;
            }
            if self.hashes[v as usize] == h {
                let d = self.data(shader, v);
                if d.ty == ty && d.flags == flags && d.inst == *inst {
                    return i;
                }
            }
            i = (i + 1) & mask;
        }
    }

    fn put(&mut self, slot: usize, v: u32, h: u64) {
        self.filled += (self.table[slot] == EMPTY) as usize;
        self.table[slot] = v;
        self.hashes[v as usize] = h;
        if self.filled * 4 > self.table.len() * 3 {
            let old = std::mem::take(&mut self.table);
            self.table = vec![EMPTY; old.len() * 2];
            let mask = self.table.len() - 1;
            for v in old.into_iter().filter(|v| *v != EMPTY) {
                let mut i = self.hashes[v as usize] as usize & mask;
                while self.table[i] != EMPTY {
                    i = (i + 1) & mask;
                }
                self.table[i] = v;
            }
        }
    }

    fn flush(&mut self, shader: &mut Shader) {
        shader.values.append(&mut self.fresh);
        self.base = shader.values.len() as u32;
    }

    /// The leader of an instruction equal to `v`, which becomes it if there is none that dominates.
    fn number(&mut self, shader: &Shader, cfg: &Cfg, v: Value) -> Value {
        let d = shader.data(v);
        let h = hash(&d.inst, d.ty, d.flags);
        let slot = self.slot(shader, h, &d.inst, d.ty, d.flags);
        let leader = self.table[slot];
        if leader != EMPTY {
            let (from, to) = (self.block_of[leader as usize], self.block_of[v.0 as usize]);
            if from == ANYWHERE || (to != ANYWHERE && cfg.dominates(from, to)) {
                return Value(leader);
            }
        }
        self.put(slot, v.0, h);
        v
    }
}

/// Runs the pass. True when a branch became a jump (blocks may be unreachable now).
pub fn gvn(shader: &mut Shader) -> Result<bool> {
    let cfg = Cfg::of(shader)?;
    let mut gvn = Gvn::new(shader);
    for (b, block) in shader.blocks.iter().enumerate() {
        for v in &block.insts {
            let i = v.0 as usize;
            if !matches!(shader.values[i].inst, Inst::Const(_) | Inst::Input(_)) {
                gvn.block_of[i] = b as u32;
            }
        }
    }
    for i in 0..shader.values.len() {
        if let Inst::Const(_) | Inst::Input(_) = shader.values[i].inst {
            settle(shader, &mut gvn, &cfg, Value(i as u32));
        }
    }
    let mut pruned = false;
    for b in 0..shader.blocks.len() {
        for k in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[k];
            settle(shader, &mut gvn, &cfg, v);
        }
        if let Term::Branch { cond, yes, no } = shader.blocks[b].term {
            let cond = gvn.replace[cond.0 as usize];
            shader.blocks[b].term = match shader.as_const(cond) {
                Some(c) => {
                    pruned |= yes != no;
                    Term::Jump(if c & 1 == 1 { yes } else { no })
                }
                None => Term::Branch { cond, yes, no },
            };
        }
    }
    finish_phis(shader, &mut gvn.replace);
    let replace = &gvn.replace;
    for block in &mut shader.blocks {
        block.insts.retain(|v| replace[v.0 as usize] == *v);
    }
    Ok(pruned)
}

/// Back edges read values that were replaced after their phis had been seen; phis that turn out to carry one value
/// go, until none does.
fn finish_phis(shader: &mut Shader, replace: &mut [Value]) {
    let resolve = |replace: &mut [Value], v: Value| {
        let mut r = replace[v.0 as usize];
        while replace[r.0 as usize] != r {
            r = replace[r.0 as usize];
        }
        replace[v.0 as usize] = r;
        r
    };
    let mut late = false;
    loop {
        let mut changed = false;
        for b in 0..shader.blocks.len() {
            for k in 0..shader.blocks[b].insts.len() {
                let v = shader.blocks[b].insts[k];
                let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { continue };
                if replace[v.0 as usize] != v {
                    continue;
                }
                sources.iter_mut().for_each(|s| s.1 = resolve(replace, s.1));
                let mut others = sources.iter().map(|s| s.1).filter(|o| *o != v);
                if let Some(first) = others.next()
                    && others.all(|o| o == first)
                {
                    replace[v.0 as usize] = first;
                    changed = true;
                }
            }
        }
        late |= changed;
        if !changed {
            break;
        }
    }
    if !late {
        return;
    }
    for b in 0..shader.blocks.len() {
        for k in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[k];
            operands_mut(&mut shader.values[v.0 as usize].inst, |o| *o = resolve(replace, *o));
        }
        if let Term::Branch { cond, .. } = &mut shader.blocks[b].term {
            *cond = resolve(replace, *cond);
        }
    }
}

/// The shader as rules see it, operands being final; constants that they make become values afterwards.
struct Settled<'a> {
    shader: &'a Shader,
    gvn: &'a mut Gvn,
}

impl Site for Settled<'_> {
    fn ty(&self, v: Value) -> Ty {
        self.shader.ty(v)
    }
    fn def(&mut self, v: Value) -> Def {
        Def::of(&self.shader.data(v).inst)
    }
    fn known(&self, v: Value) -> Option<u64> {
        self.shader.as_const(v)
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let gvn = &mut *self.gvn;
        let v = Value(gvn.base + gvn.fresh.len() as u32);
        gvn.fresh.push(ValueData { inst: Inst::Const(bits), ty, flags: ValueFlags::default() });
        gvn.hashes.push(0);
        gvn.block_of.push(ANYWHERE);
        gvn.replace.push(v);
        v
    }
    fn make(&mut self, _: Inst) -> Option<Value> {
        None
    }
}

/// One step of simplification.
fn simplify(s: &mut Settled, inst: &Inst, ty: Ty) -> Option<Better> {
    match *inst {
        Inst::Un(op, a) => rules::un(s, op, a),
        Inst::Bin(op, a, b) => rules::bin(s, op, a, b),
        Inst::Tri(op, a, b, c) => rules::tri(s, op, ty, [a, b, c]),
        Inst::Input(i) => input(s.shader, i),
        _ => None,
    }
}

fn input(shader: &Shader, input: Input) -> Option<Better> {
    let [x, y, z] = shader.workgroup;
    let n = x * y * z;
    match input {
        Input::LocalId(i) if i < 3 && shader.workgroup[i as usize] == 1 => Some(Better::Const(0)),
        Input::LocalIndex if y == 1 && z == 1 => Some(Better::Inst(Inst::Input(Input::LocalId(0)))),
        Input::NumSubgroups => Some(Better::Const(n.div_ceil(16) as u64)),
        Input::SubgroupId if n <= 16 => Some(Better::Const(0)),
        _ => None,
    }
}

fn settle(shader: &mut Shader, gvn: &mut Gvn, cfg: &Cfg, v: Value) {
    let i = v.0 as usize;
    if gvn.replace[i] != v {
        return;
    }
    {
        let replace = &gvn.replace;
        operands_mut(&mut shader.values[i].inst, |o| *o = replace[o.0 as usize]);
    }
    if let Inst::Phi(sources) = &shader.values[i].inst {
        // One value but for itself.
        let mut others = sources.iter().map(|s| s.1).filter(|o| *o != v);
        if let Some(first) = others.next()
            && others.all(|o| o == first)
        {
            gvn.replace[i] = first;
        }
        return;
    }
    for _ in 0..8 {
        let d = &shader.values[i];
        let better = simplify(&mut Settled { shader, gvn }, &d.inst, d.ty);
        gvn.flush(shader);
        match better {
            None => break,
            Some(Better::Value(o)) => {
                gvn.replace[i] = gvn.replace[o.0 as usize];
                return;
            }
            Some(Better::Const(c)) => {
                shader.values[i].inst = Inst::Const(c);
                shader.values[i].flags = ValueFlags::default();
                gvn.block_of[i] = ANYWHERE;
                break;
            }
            Some(Better::Inst(mut inst)) => {
                // New constants get their number first, so that equal instructions look equal.
                operands_mut(&mut inst, |o| {
                    if matches!(shader.values[o.0 as usize].inst, Inst::Const(_)) {
                        *o = gvn.number(shader, cfg, *o);
                    }
                });
                shader.values[i].inst = inst;
            }
        }
    }
    let inst = &shader.values[i].inst;
    if is_movable(inst) || matches!(inst, Inst::Part(..)) {
        gvn.replace[i] = gvn.number(shader, cfg, v);
    }
}

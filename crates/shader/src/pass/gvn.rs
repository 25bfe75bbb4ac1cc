//! Value numbering over the dominator tree with folding: equal movable operations become one where the first
//! dominates, constants fold, branches on constants become jumps.
//!
//! One walk in block order; a value met again in a block that its first occurrence does not dominate takes its place
//! in the table.

use crate::cfg::Cfg;
use crate::ir::{Input, Inst, Shader, Term, Ty, Value, ValueData, ValueFlags};
use crate::isa::{is_movable, operands_mut};
use crate::opt::known::Known;
use crate::opt::rules::{self, Better, Def, Site};
use crate::options::Result;
use rustc_hash::FxHashMap;

/// Block of what is available everywhere.
const ANYWHERE: u32 = u32::MAX;

pub struct Gvn {
    known: Known,
    block_of: Vec<u32>,
    replace: Vec<Value>,
    /// Constants made up meanwhile; appended to the shader's values as they are asked for.
    fresh: Vec<ValueData>,
    base: u32,
}

impl Gvn {
    fn new(shader: &Shader) -> Gvn {
        let n = shader.values.len();
        Gvn {
            known: Known::new(n),
            block_of: vec![ANYWHERE; n],
            replace: (0..n as u32).map(Value).collect(),
            fresh: vec![],
            base: n as u32,
        }
    }

    fn flush(&mut self, shader: &mut Shader) {
        shader.values.append(&mut self.fresh);
        self.base = shader.values.len() as u32;
    }

    /// The leader of an instruction equal to `v`, which becomes it if there is none that dominates.
    fn number(&mut self, shader: &Shader, cfg: &Cfg, v: Value) -> Value {
        let d = shader.data(v);
        let found = self.known.find(&shader.values, &d.inst, d.ty, d.flags);
        if let Some(leader) = found.value {
            let (from, to) = (self.block_of[leader.0 as usize], self.block_of[v.0 as usize]);
            if from == ANYWHERE || (to != ANYWHERE && cfg.dominates(from, to)) {
                return leader;
            }
        }
        self.known.put(&shader.values, found, v);
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
    finish_phis(shader, &mut gvn.replace)?;
    let replace = &gvn.replace;
    for block in &mut shader.blocks {
        block.insts.retain(|v| replace[v.0 as usize] == *v);
    }
    Ok(pruned)
}

/// Back edges read values that were replaced after their phis had been seen; phis that turn out to carry one value
/// go, until none does.
fn finish_phis(shader: &mut Shader, replace: &mut [Value]) -> Result<()> {
    let resolve = |replace: &mut [Value], v: Value| {
        let mut r = replace[v.0 as usize];
        while replace[r.0 as usize] != r {
            r = replace[r.0 as usize];
        }
        let mut x = v;
        while x != r {
            x = std::mem::replace(&mut replace[x.0 as usize], r);
        }
        r
    };
    // What a phi always carries, if that is one value.
    let carries = |shader: &mut Shader, replace: &mut [Value], v: Value| {
        let Inst::Phi(sources) = &mut shader.values[v.0 as usize].inst else { return None };
        if replace[v.0 as usize] != v {
            return None;
        }
        sources.iter_mut().for_each(|s| s.1 = resolve(replace, s.1));
        let mut others = sources.iter().map(|s| s.1).filter(|o| *o != v);
        others.next().filter(|first| others.all(|o| o == *first))
    };
    let mut late = false;
    let mut phis = vec![];
    for b in 0..shader.blocks.len() {
        for k in 0..shader.blocks[b].insts.len() {
            let v = shader.blocks[b].insts[k];
            if !matches!(shader.values[v.0 as usize].inst, Inst::Phi(_)) {
                continue;
            }
            match carries(shader, replace, v) {
                Some(one) => {
                    replace[v.0 as usize] = one;
                    late = true;
                }
                None => phis.push(v),
            }
        }
    }
    if late {
        // Those that read one that is gone are looked at again.
        let mut readers: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for &v in &phis {
            let Inst::Phi(sources) = &shader.values[v.0 as usize].inst else { continue };
            sources.iter().for_each(|s| readers.entry(resolve(replace, s.1)).or_default().push(v));
        }
        let mut left = phis;
        while let Some(v) = left.pop() {
            if let Some(one) = carries(shader, replace, v) {
                replace[v.0 as usize] = one;
                if let Some(list) = readers.remove(&v) {
                    shader.work.spend(list.len())?;
                    left.extend_from_slice(&list);
                    readers.entry(one).or_default().extend(list);
                }
            }
        }
    }
    if !late {
        return Ok(());
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
    Ok(())
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
        let leader = gvn.number(shader, cfg, v);
        shader.values[leader.0 as usize].flags.relaxed &= shader.values[i].flags.relaxed;
        gvn.replace[i] = leader;
    }
}

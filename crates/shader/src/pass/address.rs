//! Splits addresses of memory operations into [varying] + [uniform] + constant, each part summed from what changes
//! least, so that loops keep no varying address arithmetic: memory ops add the three parts themselves.
//!
//! An address is flattened modulo 2^32 into terms coefficient · value over IAdd, ISub, INeg, and IMul and Shl by
//! constants. Terms of one kind (varying or not, depth of the loop that defines them) and equal coefficient are
//! summed before they are scaled.

use crate::cfg::{Cfg, NONE};
use crate::ir::{Bin, Inst, Place, Shader, Ty, Un, Value, ValueData, ValueFlags};
use crate::lower::uniform::Uniformity;
use crate::options::Result;
use small_sort::SmallSort;

const MOST_TERMS: usize = 8;
/// Values looked at for one address, each as often as it is met.
const MOST_LOOKS: u32 = 512;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    varying: bool,
    depth: u32,
    factor: u32,
    value: Value,
}

/// An address as a sum.
#[derive(Default)]
struct Sum {
    /// Values and their coefficients.
    terms: Vec<(Value, u32)>,
    constant: u32,
    /// Looks at values; of too many there is no gain.
    looks: u32,
}

struct Split<'a> {
    shader: &'a mut Shader,
    cfg: &'a Cfg,
    u: &'a Uniformity,
    /// Instructions made for the operation at hand.
    made: Vec<Value>,
}

/// Where addresses were changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    Outside,
    InLoop,
}

/// `u`: what is known of lanes, if it is; `packed`: several workgroups may share a wave.
pub fn split(shader: &mut Shader, cfg: &Cfg, u: Option<Uniformity>, packed: bool) -> Result<Option<Where>> {
    // Most shaders have none, and need not be known better.
    let splits = |v: &Value| address(shader, *v).is_some_and(|a| Sum::of(shader, a.0).is_some());
    if !shader.blocks.iter().any(|b| b.insts.iter().any(splits)) {
        return Ok(None);
    }
    let u = match u {
        Some(u) => u,
        None => Uniformity::new(shader, cfg, packed, false)?,
    };
    let mut changed = None;
    for b in 0..shader.blocks.len() {
        let insts = std::mem::take(&mut shader.blocks[b].insts);
        let mut out = Vec::with_capacity(insts.len());
        for v in insts {
            if let Some((addr, offset, bytes)) = address(shader, v) {
                let mut it = Split { shader, cfg, u: &u, made: vec![] };
                if let Some((new, constant)) = it.run(addr, b as u32) {
                    out.append(&mut it.made);
                    let at = if cfg.loop_of[b] == NONE { Where::Outside } else { Where::InLoop };
                    changed = changed.max(Some(at));
                    if let Some((place, at)) = place_mut(shader, v) {
                        *at = offset.wrapping_add(if bytes { constant } else { 0 });
                        match place {
                            Place::Buffer { addr, .. }
                            | Place::Shared { addr }
                            | Place::Scratch { addr }
                            | Place::Push { addr }
                            | Place::Global { addr } => *addr = new,
                        }
                    }
                }
            }
            out.push(v);
        }
        shader.blocks[b].insts = out;
    }
    Ok(changed)
}

fn place_mut(shader: &mut Shader, v: Value) -> Option<(&mut Place, &mut u32)> {
    match &mut shader.values[v.0 as usize].inst {
        Inst::Load { place, offset, .. }
        | Inst::LoadRows { place, offset, .. }
        | Inst::Store { place, offset, .. }
        | Inst::StoreRows { place, offset, .. }
        | Inst::Atomic { place, offset, .. } => Some((place, offset)),
        _ => None,
    }
}

fn address(shader: &Shader, v: Value) -> Option<(Value, u32, bool)> {
    let (Inst::Load { place, offset, .. }
    | Inst::LoadRows { place, offset, .. }
    | Inst::Store { place, offset, .. }
    | Inst::StoreRows { place, offset, .. }
    | Inst::Atomic { place, offset, .. }) = &shader.data(v).inst
    else {
        return None;
    };
    match *place {
        Place::Buffer { addr, .. }
        | Place::Shared { addr }
        | Place::Scratch { addr }
        | Place::Push { addr } => Some((addr, *offset, true)),
        Place::Global { .. } => None,
    }
}

impl Sum {
    /// Of an address that may be worth to be split.
    fn of(shader: &Shader, addr: Value) -> Option<Sum> {
        let mut sum = Sum::default();
        if shader.as_const(addr).is_some() || !sum.flatten(shader, addr, 1, 0) {
            return None;
        }
        sum.terms.retain(|t| t.1 != 0);
        (sum.terms.len() > 1 || sum.terms.len() == 1 && sum.constant != 0).then_some(sum)
    }

    fn flatten(&mut self, shader: &Shader, v: Value, factor: u32, nesting: u32) -> bool {
        self.looks += 1;
        if self.looks > MOST_LOOKS {
            return false;
        }
        let inst = &shader.data(v).inst;
        let constant = |v: Value| shader.as_const(v).map(|c| c as u32);
        if let Some(c) = constant(v) {
            self.constant = self.constant.wrapping_add(c.wrapping_mul(factor));
            return true;
        }
        let nested = nesting + 1;
        if nesting < 12 {
            match *inst {
                Inst::Bin(Bin::IAdd, x, y) => {
                    return self.flatten(shader, x, factor, nested)
                        && self.flatten(shader, y, factor, nested);
                }
                Inst::Bin(Bin::ISub, x, y) => {
                    return self.flatten(shader, x, factor, nested)
                        && self.flatten(shader, y, factor.wrapping_neg(), nested);
                }
                Inst::Un(Un::INeg, x) => return self.flatten(shader, x, factor.wrapping_neg(), nested),
                Inst::Bin(Bin::IMul, x, y) => {
                    if let Some(c) = constant(y) {
                        return self.flatten(shader, x, factor.wrapping_mul(c), nested);
                    }
                    if let Some(c) = constant(x) {
                        return self.flatten(shader, y, factor.wrapping_mul(c), nested);
                    }
                }
                Inst::Bin(Bin::Shl, x, y) => {
                    if let Some(c) = constant(y) {
                        return self.flatten(shader, x, factor << (c & 31), nested);
                    }
                }
                _ => {}
            }
        }
        if let Some(t) = self.terms.iter_mut().find(|t| t.0 == v) {
            t.1 = t.1.wrapping_add(factor);
            return true;
        }
        self.terms.push((v, factor));
        self.terms.len() <= MOST_TERMS
    }
}

impl Split<'_> {
    /// The new address without its constant, and that; nothing when there is no gain.
    fn run(&mut self, addr: Value, b: u32) -> Option<(Value, u32)> {
        let Sum { terms, constant, .. } = Sum::of(self.shader, addr)?;
        let of = |&(value, factor): &(Value, u32)| Term {
            varying: self.u.varies_at(self.cfg, value, b),
            depth: self.depth(value),
            factor,
            value,
        };
        let mut terms: Vec<Term> = terms.iter().map(of).collect();
        let first = *terms.first()?;
        let mixed = terms.iter().any(|t| (t.varying, t.depth) != (first.varying, first.depth));
        if !mixed && constant == 0 {
            return None;
        }
        terms.small_sort();
        let cut = terms.partition_point(|t| !t.varying);
        let uniform = self.sum(&terms[..cut]);
        let varying = self.sum(&terms[cut..]);
        let new = match (varying, uniform) {
            (Some(v), Some(u)) => self.make(Bin::IAdd, v, u),
            (Some(v), None) => v,
            (None, Some(u)) => u,
            (None, None) => return None,
        };
        Some((new, constant))
    }

    fn depth(&self, v: Value) -> u32 {
        match self.u.def_block.get(v.0 as usize) {
            Some(&b) if b != NONE && !self.u.fixed[v.0 as usize] => {
                self.cfg.depth(self.cfg.loop_of[b as usize])
            }
            _ => 0,
        }
    }

    /// Σ factor · value of sorted terms: outermost first.
    fn sum(&mut self, terms: &[Term]) -> Option<Value> {
        let mut all: Option<Value> = None;
        let mut i = 0;
        while i < terms.len() {
            let Term { depth, factor, value, .. } = terms[i];
            let mut part = value;
            i += 1;
            while i < terms.len() && (terms[i].depth, terms[i].factor) == (depth, factor) {
                part = self.make(Bin::IAdd, part, terms[i].value);
                i += 1;
            }
            let scaled = self.scale(part, factor);
            all = Some(all.map_or(scaled, |a| self.make(Bin::IAdd, a, scaled)));
        }
        all
    }

    fn scale(&mut self, v: Value, factor: u32) -> Value {
        if factor == 1 {
            return v;
        }
        // p · q with q from further out: scale q, once.
        if let Inst::Bin(Bin::IMul, p, q) = self.shader.data(v).inst
            && self.shader.as_const(p).is_none()
            && self.shader.as_const(q).is_none()
        {
            let (dp, dq) = (self.depth(p), self.depth(q));
            if dp != dq {
                let (inner, outer) = if dp > dq { (p, q) } else { (q, p) };
                let outer = self.scale(outer, factor);
                return self.make(Bin::IMul, inner, outer);
            }
        }
        let (op, by) =
            if factor.is_power_of_two() { (Bin::Shl, factor.trailing_zeros()) } else { (Bin::IMul, factor) };
        let by = self.value(Inst::Const(by as u64));
        self.make(op, v, by)
    }

    fn make(&mut self, op: Bin, a: Value, b: Value) -> Value {
        let v = self.value(Inst::Bin(op, a, b));
        self.made.push(v);
        v
    }

    fn value(&mut self, inst: Inst) -> Value {
        self.shader.values.push(ValueData { inst, ty: Ty::B32, flags: ValueFlags::default() });
        Value(self.shader.values.len() as u32 - 1)
    }
}

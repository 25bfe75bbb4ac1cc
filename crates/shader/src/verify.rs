//! Checks the IR's rules: types, dominance, block order, phis. For tests and debug builds.

use crate::ir::*;
use crate::isa::Facts;
use crate::isa::code::ROWS;
use crate::notes::Scalar;
use crate::trees::Ancestors;
use small_sort::SmallSort;

/// The first rule broken, in words.
pub fn verify(s: &Shader) -> Result<(), String> {
    let n = s.blocks.len();
    if n == 0 {
        return Err("no blocks".into());
    }
    let mut preds: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (k, b) in s.blocks.iter().enumerate() {
        let mut bad = None;
        b.term.each_successor(|t| match preds.get_mut(t.0 as usize) {
            Some(p) => p.push(k as u32),
            None => bad = Some(t),
        });
        if let Some(t) = bad {
            return Err(format!("b{k} branches to {t:?}, which is not there"));
        }
        if let Term::Branch { cond, yes, no } = b.term {
            if s.values.get(cond.0 as usize).is_none_or(|v| v.ty != Ty::Bool) {
                return Err(format!("b{k}: the condition {cond:?} is no Bool"));
            }
            if yes == no {
                return Err(format!("b{k}: a branch with one target"));
            }
        }
    }
    order(s, &preds)?;
    let (idom, up) = dominators(&preds);
    let dominates = |a: u32, b: u32| up.is_above(&idom, a, b);
    let placeless = |x: Value| matches!(s.data(x).inst, Inst::Const(_) | Inst::Input(_));
    // Where each value is defined. Constants and inputs need no place.
    let mut at: Vec<Option<(u32, u32)>> = vec![None; s.values.len()];
    for (k, b) in s.blocks.iter().enumerate() {
        for (j, v) in b.insts.iter().enumerate() {
            match at.get_mut(v.0 as usize) {
                Some(x @ None) => *x = Some((k as u32, j as u32)),
                _ => return Err(format!("b{k}: {v:?} is listed twice or not there")),
            }
        }
    }
    for (k, b) in s.blocks.iter().enumerate() {
        let k = k as u32;
        let mut body = false;
        for (j, &v) in b.insts.iter().enumerate() {
            let data = s.data(v);
            if let Inst::Phi(args) = &data.inst {
                if body {
                    return Err(format!("b{k}: the phi {v:?} is not first"));
                }
                let mut from: Vec<u32> = args.iter().map(|a| a.0.0).collect();
                let mut want = preds[k as usize].clone();
                from.small_sort();
                want.small_sort();
                if from != want {
                    return Err(format!("b{k}: {v:?} has operands from {from:?}, predecessors are {want:?}"));
                }
                for &(p, x) in args {
                    match at.get(x.0 as usize) {
                        Some(Some((d, _))) if dominates(*d, p.0) => {}
                        Some(None) if placeless(x) => {}
                        _ => return Err(format!("b{k}: {v:?}: {x:?} does not reach from {p:?}")),
                    }
                    if s.ty(x) != data.ty {
                        return Err(format!("b{k}: {v:?}: {x:?} has another type"));
                    }
                }
                continue;
            }
            body = true;
            let mut bad = None;
            crate::isa::operands(&data.inst, |x| match at.get(x.0 as usize) {
                Some(&Some((d, i))) if (d == k && i < j as u32) || (d != k && dominates(d, k)) => {}
                Some(None) if placeless(x) => {}
                _ => bad = Some(x),
            });
            if let Some(x) = bad {
                return Err(format!("b{k}: {v:?} reads {x:?}, which is not defined there"));
            }
            types(s, v).map_err(|e| format!("b{k}: {v:?} {:?}: {e}", data.inst))?;
        }
        if let Term::Branch { cond, .. } = b.term {
            match at[cond.0 as usize] {
                Some((d, _)) if dominates(d, k) => {}
                None if placeless(cond) => {}
                _ => return Err(format!("b{k}: the condition {cond:?} is not defined there")),
            }
        }
    }
    Ok(())
}

fn order(s: &Shader, preds: &[Vec<u32>]) -> Result<(), String> {
    let n = s.blocks.len() as u32;
    let mut loops: Vec<(u32, u32)> = Vec::new();
    for (k, b) in s.blocks.iter().enumerate() {
        let k = k as u32;
        while loops.last().is_some_and(|l| l.1 < k) {
            loops.pop();
        }
        let back: Vec<u32> = preds[k as usize].iter().copied().filter(|&p| p >= k).collect();
        match b.merge {
            Merge::Loop { merge, cont } => {
                if back.len() != 1 {
                    return Err(format!("b{k}: a loop with {} back edges", back.len()));
                }
                let end = back[0];
                if loops.last().is_some_and(|l| l.1 < end) {
                    return Err(format!("b{k}: loops overlap"));
                }
                if cont.0 < k || cont.0 > end || merge.0 <= end || merge.0 >= n {
                    return Err(format!(
                        "b{k}: continue {cont:?} or merge {merge:?} is misplaced (end b{end})"
                    ));
                }
                for inside in k + 1..=end {
                    if preds[inside as usize].iter().any(|&p| p < k || p > end) {
                        return Err(format!("b{inside}: entered from outside its loop b{k}"));
                    }
                }
                loops.push((k, end));
            }
            _ if !back.is_empty() => return Err(format!("b{k}: a back edge to a block that heads no loop")),
            Merge::Selection(m) if m.0 <= k || m.0 >= n => {
                return Err(format!("b{k}: merge {m:?} is misplaced"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Immediate dominators, which blocks that nobody comes to lack; blocks come in an order in which one pass is enough.
fn dominators(preds: &[Vec<u32>]) -> (Vec<u32>, Ancestors) {
    let mut idom: Vec<u32> = (0..preds.len() as u32).collect();
    let mut up = Ancestors::new(preds.len());
    for k in 1..preds.len() as u32 {
        let reached = |p: &&u32| **p < k && (**p == 0 || idom[**p as usize] != **p);
        let each = preds[k as usize].iter().filter(reached).copied();
        if let Some(d) = each.reduce(|a, b| up.common(&idom, a, b)) {
            idom[k as usize] = d;
            up.hang(k, d);
        }
    }
    (idom, up)
}

fn types(s: &Shader, v: Value) -> Result<(), String> {
    let data = s.data(v);
    let is = |v: Value, ty: Ty| if s.ty(v) == ty { Ok(()) } else { Err(format!("{v:?} is no {ty:?}")) };
    let result = |ty: Ty| if data.ty == ty { Ok(()) } else { Err(format!("the result is no {ty:?}")) };
    let number = |v: Value| match s.ty(v) {
        Ty::B32 | Ty::B64 => Ok(()),
        ty => Err(format!("{v:?} is {ty:?}")),
    };
    let rows_place = |p: &Place| match p {
        Place::Buffer { .. } | Place::Global { .. } | Place::Shared { .. } => Ok(()),
        _ => Err("rows in memory of one lane"),
    };
    let place = |p: &Place| match *p {
        Place::Buffer { desc, addr } => is(desc, Ty::B64).and(is(addr, Ty::B32)),
        Place::Global { addr } => is(addr, Ty::B64),
        Place::Shared { addr } | Place::Scratch { addr } | Place::Push { addr } => is(addr, Ty::B32),
    };
    // `lead`: the operand that picks the width.
    let arithmetic = |facts: &Facts, operands: &[Value], lead: usize| {
        let types: Vec<Ty> = operands.iter().map(|v| s.ty(*v)).collect();
        if !facts.accepts(&types) {
            return Err(format!("operands are {types:?}, not {:?}", facts.operands));
        }
        result(facts.result(types[lead]))
    };
    match &data.inst {
        Inst::Un(op, a) => arithmetic(op.facts(), &[*a], 0),
        Inst::Bin(op, a, b) => arithmetic(op.facts(), &[*a, *b], 0),
        Inst::Tri(op, a, b, c) => arithmetic(op.facts(), &[*a, *b, *c], (*op == Tri::Select) as usize),
        Inst::Part(t, _) => is(*t, Ty::Tuple),
        Inst::Descriptor { source: DescriptorSource::Data(n), .. } if *n as usize >= s.data.len() => {
            Err("data that is not there".into())
        }
        Inst::Descriptor { source, index, .. } => {
            is(*index, if *source == DescriptorSource::Address { Ty::B64 } else { Ty::B32 })
                .and(result(Ty::B64))
        }
        Inst::Load { place: p, mem, n, .. } => {
            place(p)?;
            if !(1..=16).contains(n) {
                return Err("bad count".into());
            }
            result(if *n == 1 { mem.ty() } else { Ty::Tuple })
        }
        Inst::Store { place: p, mem, values, .. } => {
            place(p)?;
            if values.is_empty() || values.len() > 16 {
                return Err("bad count".into());
            }
            values.iter().try_for_each(|&v| is(v, mem.ty()))
        }
        Inst::LoadRows { place: p, stride, .. } => {
            rows_place(p)?;
            place(p)?;
            is(*stride, Ty::B32).and(result(Ty::Tuple))
        }
        Inst::StoreRows { place: p, mem, stride, values, .. } => {
            rows_place(p)?;
            place(p)?;
            if values.len() != ROWS {
                return Err("bad count".into());
            }
            is(*stride, Ty::B32)?;
            values.iter().try_for_each(|&v| is(v, mem.ty()))
        }
        Inst::Atomic { place: p, mem, a, b, .. } => {
            place(p)?;
            is(*a, mem.ty())?;
            b.map_or(Ok(()), |b| is(b, mem.ty()))
        }
        Inst::BufferSize { desc } => is(*desc, Ty::B64).and(result(Ty::B32)),
        Inst::BufferAddress { desc } => is(*desc, Ty::B64).and(result(Ty::B64)),
        Inst::Structure { desc } => is(*desc, Ty::B64).and(result(Ty::B64)),
        Inst::Ray { op, query, args } => {
            if args.len() != op.operands() {
                return Err("operands of a ray query".into());
            }
            let wide = |k: usize| if *op == RayOp::Begin && k == 0 { Ty::B64 } else { Ty::B32 };
            args.iter().enumerate().try_for_each(|(k, &a)| is(a, wide(k)))?;
            is(*query, Ty::B32).and(result(op.ty()))
        }
        Inst::Trace { op, args } => {
            let structure = op.has_structure() as usize;
            if args.len() != structure + op.operands() + 2 {
                return Err("operands of a trace".into());
            }
            let wide = |k: usize| if k < structure { Ty::B64 } else { Ty::B32 };
            args.iter().enumerate().try_for_each(|(k, &a)| is(a, wide(k)))?;
            result(op.ty())
        }
        Inst::Probe { op, site, args } => {
            let known = s.sites.get(*site as usize).is_some_and(|site| site.op == *op);
            let wide = args.len().checked_sub(op.operands()).filter(|n| *n <= 1 && known);
            let wide = wide.ok_or("operands of a probe")?;
            let ty = |k: usize| if k < wide { Ty::B64 } else { Ty::B32 };
            args.iter().enumerate().try_for_each(|(k, &a)| is(a, ty(k)))?;
            result(Ty::Void)
        }
        Inst::Note { note, args } => {
            let note = s.notes.all.get(*note as usize).ok_or("a note's number")?;
            let ty = |s: &Scalar| match s {
                Scalar::Bool => Ty::Bool,
                Scalar::I64 | Scalar::F64 => Ty::B64,
                _ => Ty::B32,
            };
            let scalars = |all: &[Value]| {
                let same = all.len() == note.scalars.len();
                same && all.iter().zip(&note.scalars).all(|(&a, s)| is(a, ty(s)).is_ok())
            };
            // As translated, aimed, and settled ([`crate::pass::note`]).
            let words = args.len() == note.words() + 1 && args.iter().all(|&a| is(a, Ty::B32).is_ok());
            let aimed = args.split_first().is_some_and(|(&a, rest)| is(a, Ty::B32).is_ok() && scalars(rest));
            if !words && !aimed && !scalars(args) {
                return Err("operands of a note".into());
            }
            result(Ty::Void)
        }
        Inst::Image(i) => {
            is(i.image, Ty::B64)?;
            i.coords.iter().chain(&i.grad).chain(&i.offsets).try_for_each(|&v| is(v, Ty::B32))?;
            result(match i.op {
                ImageOp::Write | ImageOp::Atomic(AtomicOp::Store) => Ty::Void,
                ImageOp::Atomic(_) => i.texel.ty(),
                ImageOp::Check(_) if i.component as usize >= s.sites.len() => {
                    return Err("a check's site".into());
                }
                ImageOp::Check(_) => Ty::B32,
                _ => Ty::Tuple,
            })
        }
        Inst::Product { rows, .. } => {
            if rows.len() != 3 * ROWS {
                return Err("rows of a product".into());
            }
            rows.iter().try_for_each(|&v| is(v, Ty::B32))?;
            result(Ty::Tuple)
        }
        Inst::Ballot(p) => is(*p, Ty::Bool).and(result(Ty::B32)),
        Inst::Shuffle(a, b) => number(*a).and(is(*b, Ty::B32)).and(result(s.ty(*a))),
        Inst::First(a) | Inst::Quad(_, a) | Inst::Reduce { value: a, .. } => number(*a).and(result(s.ty(*a))),
        _ => Ok(()),
    }
}

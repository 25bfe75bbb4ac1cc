//! The control-flow graph of a function: its blocks in structured order, its loops, where it stores variables.
//!
//! Order is reverse postorder with each header's merge block visited first, then its continue target: so forward
//! edges point forward, loops are contiguous and merge blocks follow their constructs.

use super::Builder;
use crate::options::{Error, Result};
use crate::spirv::*;
use rustc_hash::FxHashMap;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct FnBlock {
    pub label: u32,
    /// Offset of the first instruction after the label, and of the terminator.
    pub start: u32,
    pub term: u32,
    /// Block indices, or NONE.
    pub merge: u32,
    pub cont: u32,
    pub is_loop: bool,
    /// Position in the order, NONE when unreachable.
    pub pos: u32,
    /// For loop headers: position of the block with the back edge, NONE if none.
    pub loop_end: u32,
    /// For that block: its header.
    pub closes: u32,
    succ: (u32, u32),
    /// Offset of the instruction before the terminator, lines not counted: where a merge instruction stands.
    pub last: u32,
    /// Its instructions, those of functions that it calls among them.
    pub instructions: u32,
}

pub(crate) struct FnInfo {
    pub params: Vec<u32>,
    pub blocks: Vec<FnBlock>,
    pub order: Vec<u32>,
    succs: Vec<u32>,
    /// Variable (or pointer parameter) → positions of the blocks that may store through it, ascending.
    pub stores: FxHashMap<u32, Vec<u32>>,
    /// Loops that may be unrolled, by the positions of their headers.
    pub plans: Vec<super::unroll::Plan>,
}

impl FnInfo {
    /// Whether the variable may be stored in the blocks at positions `first..=last`.
    pub fn stored_between(&self, var: u32, first: u32, last: u32) -> bool {
        let Some(p) = self.stores.get(&var) else { return false };
        let k = p.partition_point(|&x| x < first);
        p.get(k).is_some_and(|&x| x <= last)
    }
    /// The only one of these blocks that may store the variable.
    pub fn only_store(&self, var: u32, first: u32, last: u32) -> Option<u32> {
        let p = self.stores.get(&var)?;
        let k = p.partition_point(|&x| x < first);
        let &at = p.get(k).filter(|&&x| x <= last)?;
        p.get(k + 1).is_none_or(|&x| x > last).then_some(at)
    }
    pub fn successors(&self, b: u32) -> &[u32] {
        let (first, end) = self.blocks[b as usize].succ;
        &self.succs[first as usize..end as usize]
    }
    pub fn index_of(&self, label_at: u32) -> Option<u32> {
        let k = self.blocks.partition_point(|b| b.start <= label_at);
        self.blocks.get(k).filter(|b| b.start - 2 == label_at).map(|_| k as u32)
    }
}

impl Builder<'_> {
    pub(crate) fn function_info(&self, f: Function) -> Result<FnInfo> {
        let mut info = FnInfo {
            params: Vec::new(),
            blocks: Vec::new(),
            order: Vec::new(),
            succs: Vec::new(),
            stores: FxHashMap::default(),
            plans: Vec::new(),
        };
        self.scan_blocks(f, &mut info)?;
        if info.blocks.is_empty() {
            return Err(unsupported(format!("function {} has no body (linkage)", f.id)));
        }
        self.link_blocks(&mut info)?;
        order_blocks(&mut info);
        self.check_structure(&mut info)?;
        Ok(info)
    }

    /// Finds block boundaries.
    fn scan_blocks(&self, f: Function, info: &mut FnInfo) -> Result<()> {
        let mut at = f.start + self.m.inst(f.start).len() as u32;
        let mut open: Option<FnBlock> = None;
        let (mut last, mut count) = (0, 0u32);
        while at < f.end {
            let i = self.m.inst(at);
            let next = at + i.len() as u32;
            match i.op {
                Op::FunctionParameter if info.blocks.is_empty() && open.is_none() => {
                    info.params.push(i.word(2)?)
                }
                Op::Label if open.is_none() => {
                    open = Some(FnBlock {
                        label: i.word(1)?,
                        start: next,
                        term: 0,
                        merge: NONE,
                        cont: NONE,
                        is_loop: false,
                        pos: NONE,
                        loop_end: NONE,
                        closes: NONE,
                        succ: (0, 0),
                        last: 0,
                        instructions: 0,
                    });
                }
                Op::Line | Op::NoLine | Op::Nop | Op::ExtInst | Op::FunctionEnd if open.is_none() => {}
                _ if open.is_none() => return Err(i.bad("outside a block")),
                Op::Label | Op::FunctionEnd | Op::FunctionParameter => {
                    return Err(i.bad("a block without a terminator"));
                }
                op if is_terminator(op) => {
                    let mut b = open.take().expect("a block is open");
                    b.term = at;
                    b.last = last;
                    b.instructions = count + 1;
                    (last, count) = (0, 0);
                    info.blocks.push(b);
                }
                Op::Line | Op::NoLine => {}
                _ => {
                    last = at;
                    let callee = i.callee().and_then(|c| self.m.function(c.id));
                    let one = callee.map_or(1, |f| (self.m.functions[f].end - self.m.functions[f].start) / 4);
                    count = count.saturating_add(one.saturating_mul(self.calls(&i)));
                }
            }
            at = next;
        }
        Ok(())
    }

    /// Resolves merge instructions and successors.
    fn link_blocks(&self, info: &mut FnInfo) -> Result<()> {
        let find = |info: &FnInfo, id: u32, at: usize| -> Result<u32> {
            let k = self.m.def_at(id).and_then(|d| info.index_of(d));
            k.ok_or_else(|| invalid(at, format!("id {id} is not a label of this function")))
        };
        for k in 0..info.blocks.len() {
            let b = info.blocks[k];
            let last = (b.last != 0).then(|| self.m.inst(b.last));
            if let Some(i) = last
                && matches!(i.op, Op::SelectionMerge | Op::LoopMerge)
            {
                info.blocks[k].merge = find(info, i.word(1)?, i.at)?;
                if i.op == Op::LoopMerge {
                    info.blocks[k].cont = find(info, i.word(2)?, i.at)?;
                    info.blocks[k].is_loop = true;
                }
            }
            let first = info.succs.len() as u32;
            let t = self.m.inst(b.term);
            match t.op {
                Op::Branch => {
                    let s = find(info, t.word(1)?, t.at)?;
                    info.succs.push(s);
                }
                Op::BranchConditional => {
                    for w in [2, 3] {
                        let s = find(info, t.word(w)?, t.at)?;
                        info.succs.push(s);
                    }
                }
                Op::Switch => {
                    let wide = self.switch_is_wide(&t)?;
                    for (_, label) in switch_cases(&t, wide)? {
                        let s = find(info, label, t.at)?;
                        info.succs.push(s);
                    }
                    let s = find(info, t.word(2)?, t.at)?;
                    info.succs.push(s);
                }
                _ => {}
            }
            if info.succs[first as usize..].contains(&0) {
                return Err(t.bad("a branch to the function's first block"));
            }
            info.blocks[k].succ = (first, info.succs.len() as u32);
        }
        Ok(())
    }

    pub(crate) fn switch_is_wide(&self, t: &Code) -> Result<bool> {
        let sel = self.m.def(t.word(1)?, t.at)?;
        let ty = self.types.of(sel.word(1)?, t.at)?;
        match self.types.numeric(ty) {
            Some((super::types::Sk::I64, 1)) => Ok(true),
            Some((s, 1)) if !s.is_float() => Ok(false),
            _ => Err(t.bad("the selector is no integer")),
        }
    }

    fn check_structure(&self, info: &mut FnInfo) -> Result<()> {
        let bad = |info: &FnInfo, b: u32, what: &str| {
            let b = &info.blocks[b as usize];
            Err(invalid(b.start as usize, format!("block {}: {what}", b.label)))
        };
        for k in 0..info.order.len() {
            let u = info.order[k];
            let (a, z) = info.blocks[u as usize].succ;
            for s in a..z {
                let v = info.succs[s as usize];
                let h = &mut info.blocks[v as usize];
                if h.pos > k as u32 {
                    continue;
                }
                if !h.is_loop {
                    return bad(info, u, "a branch backwards to a block without OpLoopMerge");
                }
                if h.loop_end != NONE && h.loop_end != k as u32 {
                    return bad(info, u, "a second back edge");
                }
                h.loop_end = k as u32;
                let old = std::mem::replace(&mut info.blocks[u as usize].closes, v);
                if old != NONE && old != v {
                    return bad(info, u, "back edges to two loops");
                }
            }
        }
        // Loops nest, are entered by their headers only, and their parts lie where they must.
        let mut stack: Vec<(u32, u32)> = Vec::new();
        for k in 0..info.order.len() as u32 {
            let u = info.order[k as usize];
            while stack.last().is_some_and(|l| l.1 < k) {
                stack.pop();
            }
            let b = info.blocks[u as usize];
            if b.loop_end != NONE {
                if stack.last().is_some_and(|l| l.1 < b.loop_end) {
                    return bad(info, u, "loops overlap");
                }
                let cont = info.blocks[b.cont as usize].pos;
                if !(k..=b.loop_end).contains(&cont) {
                    return bad(info, u, "the continue target lies outside the loop");
                }
                if info.blocks[b.merge as usize].pos <= b.loop_end {
                    return bad(info, u, "the merge block lies within the loop");
                }
                if stack.len() > super::MAX_LOOPS as usize {
                    return Err(Error::TooLarge("loops nested too deeply".into()));
                }
                stack.push((k, b.loop_end));
            } else if b.merge != NONE && info.blocks[b.merge as usize].pos <= k {
                return bad(info, u, "the merge block comes before its header");
            }
            for s in b.succ.0..b.succ.1 {
                let v = info.succs[s as usize];
                let to = info.blocks[v as usize].pos;
                // Into a loop from outside, past its header? Found by the loops around `to`: checked below.
                if to <= k && info.blocks[v as usize].loop_end < k {
                    return bad(info, u, "a branch backwards past the loop's end");
                }
            }
        }
        self.check_entries(info)
    }

    /// Every edge into a loop from outside goes to its header.
    fn check_entries(&self, info: &FnInfo) -> Result<()> {
        // Innermost loop of each position.
        let n = info.order.len();
        let mut inner = vec![NONE; n];
        let mut parent = vec![NONE; n];
        let mut stack: Vec<(u32, u32)> = Vec::new();
        for k in 0..n as u32 {
            while stack.last().is_some_and(|l| l.1 < k) {
                stack.pop();
            }
            let b = &info.blocks[info.order[k as usize] as usize];
            if b.loop_end != NONE {
                parent[k as usize] = stack.last().map_or(NONE, |l| l.0);
                stack.push((k, b.loop_end));
            }
            inner[k as usize] = stack.last().map_or(NONE, |l| l.0);
        }
        for (k, &u) in info.order.iter().enumerate() {
            let b = &info.blocks[u as usize];
            for s in b.succ.0..b.succ.1 {
                let v = &info.blocks[info.succs[s as usize] as usize];
                let mut l = inner[v.pos as usize];
                if l == v.pos {
                    l = parent[l as usize];
                }
                let Some(header) = info.order.get(l as usize) else { continue };
                let end = info.blocks[*header as usize].loop_end;
                if !(l..=end).contains(&(k as u32)) {
                    return Err(invalid(b.term as usize, format!("block {}: a branch into a loop", b.label)));
                }
            }
        }
        Ok(())
    }
}

/// Literals and labels of an OpSwitch (the default not counted).
pub(crate) fn switch_cases(t: &Code, wide: bool) -> Result<Vec<(u64, u32)>> {
    let n = if wide { 3 } else { 2 };
    let mut out = Vec::with_capacity(t.len() / n);
    for c in t.rest(3).chunks(n) {
        if c.len() != n {
            return Err(t.bad("cut short"));
        }
        let literal = if wide { c[0] as u64 | (c[1] as u64) << 32 } else { c[0] as u64 };
        out.push((literal, c[n - 1]));
    }
    Ok(out)
}

pub(crate) fn is_terminator(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

fn order_blocks(info: &mut FnInfo) {
    let n = info.blocks.len();
    let mut reached = vec![false; n];
    let mut work = vec![0u32];
    reached[0] = true;
    while let Some(b) = work.pop() {
        let (a, z) = info.blocks[b as usize].succ;
        for &s in &info.succs[a as usize..z as usize] {
            if !std::mem::replace(&mut reached[s as usize], true) {
                work.push(s);
            }
        }
    }
    // Depth-first with explicit state; children: merge, continue target, successors last to first.
    let mut seen = vec![false; n];
    let mut post = Vec::with_capacity(n);
    let mut stack = vec![(0u32, 0u32)];
    seen[0] = true;
    while let Some((b, step)) = stack.last_mut() {
        let blk = &info.blocks[*b as usize];
        let (a, z) = blk.succ;
        let child = match *step {
            0 => blk.merge,
            1 => blk.cont,
            k if k - 2 < z - a => info.succs[(z - 1 - (k - 2)) as usize],
            _ => {
                post.push(*b);
                stack.pop();
                continue;
            }
        };
        *step += 1;
        if child != NONE && reached[child as usize] && !seen[child as usize] {
            seen[child as usize] = true;
            stack.push((child, 0));
        }
    }
    post.reverse();
    for (k, &b) in post.iter().enumerate() {
        info.blocks[b as usize].pos = k as u32;
    }
    info.order = post;
}

//! Functions: blocks in structured order, terminators, calls inlined.

use super::control::{FnInfo, NONE, switch_cases};
use super::emit::NO_BLOCK;
use super::ssa::Loop;
use super::unroll::{Again, Unrolled};
use super::{Builder, MAX_INSTRUCTIONS, MAX_LOOPS};
use crate::ir::*;
use crate::notes::What;
use crate::options::{Error, Result};
use crate::spirv::*;
use std::rc::Rc;

/// A loop whose back edge is still to come.
pub(super) struct OpenLoop {
    /// Index of the header among the function's blocks, and its IR block.
    pub(super) block: u32,
    header: u32,
    ssa: usize,
    /// OpPhis of the header and their values.
    pub(super) phis: Vec<(u32, Vec<Value>)>,
    /// The back edge is there.
    closed: bool,
    /// No loop of the IR: its turns follow one another.
    pub(super) unrolled: Option<Unrolled>,
}

pub(super) struct Frame {
    pub(super) info: Rc<FnInfo>,
    function: u32,
    /// IR block of each block; NO_BLOCK until a branch to it is met.
    pub(super) targets: Vec<u32>,
    pub(super) loops: Vec<OpenLoop>,
    entry: bool,
    /// Where returns meet, and the variables that hold the result's scalars.
    ret: u32,
    ret_first: u32,
    ret_kinds: Vec<Ty>,
}

/// How a translated function ended.
pub(super) enum End {
    /// In the current block, with the result at these places of the pool.
    Returns(usize, usize),
    /// No invocation comes back.
    Never,
}

/// How a block ended.
enum Flow {
    Ended,
    /// The function's only return, at its end: translation goes on in the current block.
    Falls(usize, usize),
}

impl<'m> Builder<'m> {
    pub(crate) fn run_entry(&mut self, f: usize) -> Result<()> {
        self.note_block();
        match self.run_function(f, true)? {
            End::Returns(..) => {
                self.emit_outputs()?;
                self.e.end(Term::Return);
            }
            End::Never => {}
        }
        Ok(())
    }

    pub(super) fn begin(&mut self, b: u32, origin: Origin) {
        self.e.begin(b, origin);
        self.note_block();
    }

    pub(super) fn run_function(&mut self, f: usize, entry: bool) -> Result<End> {
        let info = self.infos[f].clone().ok_or_else(|| invalid(0, "a call to a function not looked at"))?;
        if self.on_stack[f] {
            return Err(invalid(self.m.functions[f].start as usize, "recursion"));
        }
        let head = self.m.inst(self.m.functions[f].start);
        let ret_ty = self.types.of(head.word(1)?, head.at)?;
        let mut kinds = Vec::new();
        self.types.flatten(ret_ty, &mut kinds)?;
        self.on_stack[f] = true;
        let caller = Origin { file: self.debug.file, line: self.debug.line, ..self.here };
        let n = info.blocks.len();
        let mut fr = Frame {
            info: info.clone(),
            function: self.m.functions[f].id,
            targets: vec![NO_BLOCK; n],
            loops: Vec::new(),
            entry,
            ret: NO_BLOCK,
            ret_first: 0,
            ret_kinds: kinds.iter().map(|k| k.ty()).collect(),
        };
        for (k, ty) in fr.ret_kinds.iter().enumerate() {
            let s = self.new_scalar(*ty, 0);
            if k == 0 {
                fr.ret_first = s;
            }
        }
        let mut falls = None;
        let mut next = 0;
        while let Some(&bi) = info.order.get(next) {
            let pos = next;
            next += 1;
            // For blocks that are not reached, of functions that are called often.
            self.work.spend(1)?;
            let b = &info.blocks[bi as usize];
            let origin = Origin { function: fr.function, label: b.label, file: 0, line: 0 };
            if pos == 0 {
                if entry {
                    self.e.blocks[0].origin = origin;
                } else {
                    let t = self.e.new_block();
                    let from = self.e.cur;
                    self.e.blocks[t as usize].preds.push((from, 0));
                    self.e.end(Term::Jump(Block(t)));
                    self.begin(t, origin);
                }
            } else {
                let t = fr.targets[bi as usize];
                if t == NO_BLOCK || self.e.blocks[t as usize].preds.is_empty() {
                    // Never reached; a live loop's merge block must exist all the same.
                    if t != NO_BLOCK && self.is_loop_merge(t) {
                        self.begin(t, origin);
                        self.e.end(Term::Return);
                    }
                    next = self.close_loop(&mut fr, bi)?.unwrap_or(next);
                    continue;
                }
                self.begin(t, origin);
            }
            self.count_instruction()?;
            self.here = origin;
            self.debug.clear();
            self.note_origin();
            if b.loop_end != NONE {
                self.open_loop(&mut fr, pos as u32, bi)?;
            }
            if let Flow::Falls(start, len) = self.run_block(&mut fr, pos as u32, bi)? {
                falls = Some((start, len));
            }
            next = self.close_loop(&mut fr, bi)?.unwrap_or(next);
        }
        self.on_stack[f] = false;
        if fr.ret != NO_BLOCK {
            // The caller's code goes on there.
            let origin = if entry { self.e.blocks[self.e.cur as usize].origin } else { caller };
            self.begin(fr.ret, origin);
            let mut vals = Vec::with_capacity(fr.ret_kinds.len());
            for k in 0..fr.ret_kinds.len() as u32 {
                vals.push(self.read_scalar(fr.ret_first + k)?);
            }
            let start = self.pool.len();
            self.pool.extend(vals);
            return Ok(End::Returns(start, fr.ret_kinds.len()));
        }
        Ok(match falls {
            Some((start, len)) => End::Returns(start, len),
            None => End::Never,
        })
    }

    /// Whether some loop header under way or done names the block as its merge.
    fn is_loop_merge(&self, t: u32) -> bool {
        self.e.blocks[t as usize].loop_merge
    }

    fn target(&mut self, fr: &mut Frame, b: u32) -> u32 {
        let t = &mut fr.targets[b as usize];
        if *t == NO_BLOCK {
            *t = self.e.new_block();
        }
        *t
    }

    fn open_loop(&mut self, fr: &mut Frame, pos: u32, bi: u32) -> Result<()> {
        let b = fr.info.blocks[bi as usize];
        let header = self.e.cur;
        let ssa = self.ssa.loops.len();
        if fr.loops.last().is_some_and(|l| l.block == bi) {
            // The next copy of one that is unrolled.
            return Ok(());
        }
        let unrolled = self.unrolled(&fr.info, pos)?;
        if unrolled.is_some() {
            fr.loops.push(OpenLoop { block: bi, header, ssa, phis: Vec::new(), closed: false, unrolled });
            return Ok(());
        }
        self.note_loop(Loop::new(fr.info.clone(), pos, b.loop_end, header));
        self.open_loops += 1;
        if self.open_loops > MAX_LOOPS {
            return Err(Error::TooLarge(format!("loops nested more than {MAX_LOOPS} deep")));
        }
        self.e.blocks[header as usize].open_loop = ssa as u32;
        let merge = self.target(fr, b.merge);
        let cont = if b.cont == bi { header } else { self.target(fr, b.cont) };
        self.e.blocks[header as usize].merge = Merge::Loop { merge: Block(merge), cont: Block(cont) };
        fr.loops.push(OpenLoop { block: bi, header, ssa, phis: Vec::new(), closed: false, unrolled });
        Ok(())
    }

    /// After a block: the loop that ends there, if it is live. Where the translation goes on, if not with the next block.
    fn close_loop(&mut self, fr: &mut Frame, bi: u32) -> Result<Option<usize>> {
        let h = fr.info.blocks[bi as usize].closes;
        if h == NONE || fr.loops.last().is_none_or(|l| l.block != h) {
            return Ok(None);
        }
        if fr.loops.last().is_some_and(|l| l.unrolled.is_some()) {
            return Ok(self.next_turn(fr, bi));
        }
        let l = fr.loops.pop().expect("checked");
        self.open_loops -= 1;
        let b = fr.info.blocks[h as usize];
        let Merge::Loop { merge, cont } = self.e.blocks[l.header as usize].merge else { return Ok(None) };
        if !l.closed {
            // Nothing comes round: no loop after all.
            self.seal_loop(l.ssa)?;
            for (_, phis) in &l.phis {
                for &phi in phis {
                    self.simplify_phi(phi);
                }
            }
            self.e.blocks[l.header as usize].open_loop = NO_BLOCK;
            self.e.blocks[l.header as usize].merge = Merge::Selection(merge);
            return Ok(None);
        }
        if !self.e.blocks[cont.0 as usize].begun {
            return Err(invalid(b.start as usize, "a back edge that does not pass the continue target"));
        }
        self.e.blocks[merge.0 as usize].loop_merge = true;
        if fr.info.blocks[b.merge as usize].pos == NONE {
            let origin = Origin {
                function: fr.function,
                label: fr.info.blocks[b.merge as usize].label,
                file: 0,
                line: 0,
            };
            self.begin(merge.0, origin);
            self.e.end(Term::Return);
        }
        Ok(None)
    }

    /// To be called for each instruction; its block's end is one, too.
    fn count_instruction(&mut self) -> Result<()> {
        self.instructions += 1;
        if self.instructions > MAX_INSTRUCTIONS {
            let what = format!("it grows beyond {MAX_INSTRUCTIONS} instructions when its calls are inlined");
            return Err(Error::TooLarge(what));
        }
        Ok(())
    }

    fn run_block(&mut self, fr: &mut Frame, pos: u32, bi: u32) -> Result<Flow> {
        let b = fr.info.blocks[bi as usize];
        let mut at = b.start;
        let before = self.instructions as usize + self.pool.len() + self.e.values.len();
        // Phis are read together, before anything is defined.
        let mut phis: Vec<(Code<'m>, usize)> = Vec::new();
        while at < b.term {
            let i = self.m.inst(at);
            match i.op {
                Op::Phi => {
                    let start = self.phi(fr, i)?;
                    phis.push((i, start));
                }
                Op::Line => self.line(&i)?,
                Op::NoLine => {
                    self.debug.clear();
                    self.note_origin();
                }
                _ => break,
            }
            at += i.len() as u32;
        }
        for k in 0..phis.len() {
            let (i, start) = phis[k];
            let (ty, id) = self.result(&i)?;
            self.define(id, ty, start);
            let end = phis.get(k + 1).map_or(self.pool.len(), |p| p.1);
            self.ids[id as usize].len = (end - start) as u32;
        }
        for (i, _) in phis {
            self.note(&i, What::Step)?;
        }
        while at < b.term {
            let i = self.m.inst(at);
            at += i.len() as u32;
            self.count_instruction()?;
            self.check_size()?;
            match i.op {
                Op::Line => self.line(&i)?,
                Op::NoLine => {
                    self.debug.clear();
                    self.note_origin();
                }
                Op::FunctionCall => {
                    if !self.call(i)? {
                        return Ok(Flow::Ended);
                    }
                }
                _ if i.callee().is_some() => {
                    if !self.cooperative_calls(&i)? {
                        return Ok(Flow::Ended);
                    }
                    self.note(&i, What::Step)?;
                }
                Op::Phi => return Err(i.bad("not at the start of its block")),
                _ => {
                    self.instruction(i)?;
                    self.note(&i, What::Step)?;
                }
            }
        }
        let grown = self.instructions as usize + self.pool.len() + self.e.values.len();
        self.work.spend(grown - before)?;
        self.terminator(fr, pos, bi)
    }

    fn line(&mut self, i: &Code) -> Result<()> {
        self.set_line(i)?;
        self.note_line();
        Ok(())
    }

    /// An edge from the current block. `Some(header)` for a back edge, with the block that will close the loop.
    fn edge(&mut self, fr: &mut Frame, pos: u32, bi: u32, to: u32) -> Result<(u32, bool)> {
        let label = fr.info.blocks[bi as usize].label;
        let cur = self.e.cur;
        if fr.info.blocks[to as usize].pos <= pos {
            if fr.loops.last().is_none_or(|l| l.block != to || l.closed) {
                let at = fr.info.blocks[bi as usize].term as usize;
                return Err(invalid(at, "a branch backwards that closes no loop"));
            }
            if let Some(u) = fr.loops.last_mut().and_then(|l| l.unrolled.as_mut()) {
                if u.left == 0 || (u.one_exit && u.out) {
                    return Err(self.again(Again::Loop(fr.info.blocks[to as usize].label)));
                }
                u.left -= 1;
                u.next = self.e.new_block();
                self.e.blocks[u.next as usize].preds.push((cur, label));
                return Ok((u.next, false));
            }
            let c = self.e.new_block();
            self.e.blocks[c as usize].preds.push((cur, label));
            return Ok((c, true));
        }
        for l in &mut fr.loops {
            let end = fr.info.blocks[l.block as usize].loop_end;
            if let Some(u) = &mut l.unrolled {
                u.out |= fr.info.blocks[to as usize].pos > end;
            }
        }
        let t = self.target(fr, to);
        self.e.blocks[t as usize].preds.push((cur, label));
        Ok((t, false))
    }

    /// Emits the block that closes the loop: a jump to its header.
    fn back_edge(&mut self, fr: &mut Frame, bi: u32, c: u32) -> Result<()> {
        let b = fr.info.blocks[bi as usize];
        let origin = self.e.blocks[self.e.cur as usize].origin;
        self.begin(c, Origin { label: b.label, ..origin });
        let l = fr.loops.last_mut().expect("edge() saw it");
        l.closed = true;
        let (header, ssa, block) = (l.header, l.ssa, l.block);
        let phis = std::mem::take(&mut l.phis);
        self.e.end(Term::Jump(Block(header)));
        self.e.blocks[header as usize].preds.push((c, b.label));
        if fr.info.blocks[block as usize].cont == block
            && let Merge::Loop { cont, .. } = &mut self.e.blocks[header as usize].merge
        {
            *cont = Block(c);
        }
        for (at, values) in &phis {
            let i = self.m.inst(*at);
            self.fill_phi(&i, values, c, b.label)?;
        }
        self.seal_loop(ssa)?;
        let phis: Vec<Value> = phis.into_iter().flat_map(|p| p.1).collect();
        self.simplify_phis(&phis)
    }

    /// Marks the current block as the header of its selection.
    fn select_merge(&mut self, fr: &mut Frame, pos: u32, bi: u32) {
        let b = fr.info.blocks[bi as usize];
        let at = self.e.cur as usize;
        if b.merge == NONE || b.loop_end != NONE || self.e.blocks[at].merge != Merge::None {
            return;
        }
        let m = fr.info.blocks[b.merge as usize].pos;
        let within = fr.loops.last().is_none_or(|l| m <= fr.info.blocks[l.block as usize].loop_end);
        if m != NONE && m > pos && within {
            let t = self.target(fr, b.merge);
            self.e.blocks[at].merge = Merge::Selection(Block(t));
        }
    }

    fn jump(&mut self, fr: &mut Frame, pos: u32, bi: u32, to: u32) -> Result<()> {
        let (t, back) = self.edge(fr, pos, bi, to)?;
        self.e.end(Term::Jump(Block(t)));
        if back { self.back_edge(fr, bi, t) } else { Ok(()) }
    }

    fn index(&self, fr: &Frame, label: u32, at: usize) -> Result<u32> {
        let d = self.m.def_at(label).and_then(|d| fr.info.index_of(d));
        d.ok_or_else(|| invalid(at, "not a label of this function"))
    }

    fn terminator(&mut self, fr: &mut Frame, pos: u32, bi: u32) -> Result<Flow> {
        let t = self.m.inst(fr.info.blocks[bi as usize].term);
        self.note(&t, What::Step)?;
        match t.op {
            Op::Branch => {
                let to = self.index(fr, t.word(1)?, t.at)?;
                self.jump(fr, pos, bi, to)?;
            }
            Op::BranchConditional => {
                let cond = self.one_of(t.word(1)?, Ty::Bool, t.at)?;
                let cond = self.e.res(cond);
                let yes = self.index(fr, t.word(2)?, t.at)?;
                let no = self.index(fr, t.word(3)?, t.at)?;
                match self.e.as_const(cond) {
                    _ if yes == no => self.jump(fr, pos, bi, yes)?,
                    Some(c) => self.jump(fr, pos, bi, if c != 0 { yes } else { no })?,
                    None => {
                        self.select_merge(fr, pos, bi);
                        let (y, back_y) = self.edge(fr, pos, bi, yes)?;
                        let (n, back_n) = self.edge(fr, pos, bi, no)?;
                        self.e.end(Term::Branch { cond, yes: Block(y), no: Block(n) });
                        if back_y {
                            self.back_edge(fr, bi, y)?;
                        }
                        if back_n {
                            self.back_edge(fr, bi, n)?;
                        }
                    }
                }
            }
            Op::Switch => self.switch(fr, pos, bi, t)?,
            Op::Return | Op::ReturnValue => return self.return_op(fr, pos, t),
            Op::Kill | Op::TerminateInvocation => {
                if self.opt.stage != Stage::Fragment {
                    return Err(t.bad("not in a fragment shader"));
                }
                self.e.push(Inst::Demote, Ty::Void);
                self.e.end(Term::Return);
            }
            Op::IgnoreIntersectionKHR | Op::TerminateRayKHR => self.end_any_hit(&t)?,
            Op::EmitMeshTasksEXT => {
                self.emit_mesh_tasks(&t)?;
                self.e.end(Term::Return);
            }
            // Undefined behaviour: ends the invocation.
            Op::Unreachable => self.e.end(Term::Return),
            _ => return Err(unsupported(format!("{:?}", t.op))),
        }
        Ok(Flow::Ended)
    }

    fn return_op(&mut self, fr: &mut Frame, pos: u32, t: Code<'m>) -> Result<Flow> {
        let (start, len) = if t.op == Op::ReturnValue {
            let (_, start, len) = self.value(t.word(1)?, t.at)?;
            (start, len)
        } else {
            (0, 0)
        };
        // Stages with outputs end in one block.
        if fr.entry && self.opt.stage.has_workgroups() {
            self.e.end(Term::Return);
            return Ok(Flow::Ended);
        }
        if len != fr.ret_kinds.len() {
            return Err(t.bad("the value is not of the function's type"));
        }
        for (k, ty) in fr.ret_kinds.iter().enumerate() {
            let v = self.pool[start + k];
            if self.e.ty(v) != *ty {
                return Err(t.bad("the value is not of the function's type"));
            }
        }
        if pos as usize + 1 == fr.info.order.len() && fr.ret == NO_BLOCK {
            return Ok(Flow::Falls(start, len));
        }
        if fr.ret == NO_BLOCK {
            fr.ret = self.e.new_block();
        }
        for k in 0..len {
            let v = self.e.res(self.pool[start + k]);
            self.write_scalar(fr.ret_first + k as u32, v);
        }
        let from = self.e.cur;
        self.e.blocks[fr.ret as usize].preds.push((from, 0));
        self.e.end(Term::Jump(Block(fr.ret)));
        Ok(Flow::Ended)
    }

    fn switch(&mut self, fr: &mut Frame, pos: u32, bi: u32, t: Code<'m>) -> Result<()> {
        let wide = self.switch_is_wide(&t)?;
        let (ty, start, len) = self.value(t.word(1)?, t.at)?;
        let Some((s, 1)) = self.types.numeric(ty) else { return Err(t.bad("the selector is no scalar")) };
        let sel = self.e.res(self.pool[start]);
        if len != 1 || s.is_float() || (self.e.ty(sel) == Ty::B64) != wide || self.e.ty(sel) == Ty::Bool {
            return Err(t.bad("the selector is no integer"));
        }
        let mask = if s.bits() == 64 { !0 } else { (1u64 << s.bits()) - 1 };
        let default = self.index(fr, t.word(2)?, t.at)?;
        // Cases by target, in the order of the targets' first mention.
        let mut targets: Vec<(u32, Vec<u64>)> = Vec::new();
        for (literal, label) in switch_cases(&t, wide)? {
            let to = self.index(fr, label, t.at)?;
            let literal = literal & mask;
            if let Some(c) = self.e.as_const(sel) {
                if c == literal {
                    return self.jump(fr, pos, bi, to);
                }
                continue;
            }
            if to == default {
                continue;
            }
            match targets.iter_mut().rev().take(64).find(|x| x.0 == to) {
                Some(x) => x.1.push(literal),
                None => targets.push((to, vec![literal])),
            }
        }
        if !targets.is_empty() {
            self.select_merge(fr, pos, bi);
        }
        for (to, literals) in targets {
            let mut cond = None;
            for l in literals {
                let k = self.e.constant(s.ty(), l);
                let hit = self.e.bin(Bin::IEq, sel, k);
                cond = Some(match cond {
                    Some(c) => self.e.bin(Bin::BOr, c, hit),
                    None => hit,
                });
            }
            let cond = cond.expect("each target has a literal");
            let (yes, back) = self.edge(fr, pos, bi, to)?;
            if back {
                return Err(t.bad("a back edge"));
            }
            let next = self.e.new_block();
            let (from, origin) = (self.e.cur, self.e.blocks[self.e.cur as usize].origin);
            let label = fr.info.blocks[bi as usize].label;
            self.e.blocks[next as usize].preds.push((from, label));
            self.e.end(Term::Branch { cond, yes: Block(yes), no: Block(next) });
            self.begin(next, origin);
            self.note_choice(from);
        }
        self.jump(fr, pos, bi, default)
    }
}

//! Functions as statements: structured control flow, and which values have variables of their own.
//!
//! A value that is used once, in the block that makes it, and that nothing between could change, stands where it is used. Every other one
//! has a variable: it is declared where it is made, or at the function's begin if it is used outside the braces around that place. A phi is
//! a variable that the edges to its block assign.

use super::expression::{self, Names};
use super::module::{Function, Parts, id, ids, number};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Statements of a function, and braces within braces.
const MOST: usize = 20_000;
const DEEP: usize = 96;
/// Bytes of a line.
const WIDE: usize = 8192;

/// A line of a function, and the braces around it.
pub(super) struct Line {
    indent: usize,
    pub(super) text: String,
    /// The value that is made here.
    makes: Option<u32>,
    /// Values that it names.
    pub(super) names: Vec<u32>,
}

/// Where jumps lead.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    /// Of the innermost loop: header, merge and continue.
    pub(super) header: Option<u32>,
    pub(super) merge: Option<u32>,
    pub(super) next: Option<u32>,
    /// Of the innermost switch.
    pub(super) switch: Option<u32>,
    /// What follows without a jump.
    pub(super) end: Option<u32>,
}

pub(super) struct Writer<'m> {
    m: &'m Parts,
    f: &'m Function,
    types: HashMap<u32, u32>,
    uses: HashMap<u32, usize>,
    /// Which block makes a value, and which uses it, if it is one.
    made: HashMap<u32, usize>,
    used: HashMap<u32, usize>,
    /// Values that stand where they are used, and places that pointers name; with the values that these name.
    waiting: HashMap<u32, (String, Vec<u32>)>,
    locals: HashSet<u32>,
    pub(super) lines: Vec<Line>,
    pub(super) indent: usize,
    named: Vec<u32>,
    deep: usize,
    pub(super) broken: bool,
}

/// It may change what loads give.
fn changes(op: Op) -> bool {
    let name = format!("{op:?}");
    matches!(
        op,
        Op::Store
            | Op::CopyMemory
            | Op::FunctionCall
            | Op::ImageWrite
            | Op::ControlBarrier
            | Op::MemoryBarrier
    ) || name.starts_with("Atomic")
        || name.starts_with("RayQuery")
        || name.starts_with("Emit")
        || name.starts_with("EndPrimitive")
        || name.starts_with("TraceRay")
}

/// It reads what others may change.
fn reads(op: Op) -> bool {
    matches!(op, Op::Load | Op::ImageRead | Op::ImageFetch | Op::ArrayLength)
        || format!("{op:?}").contains("Sample")
}

fn is_chain(op: Op) -> bool {
    matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain)
}

/// Writes a function; one that is too large, or not structured, as a comment.
pub fn function(m: &Parts, f: &Function, out: &mut String) {
    let parameters: Vec<String> =
        f.parameters.iter().map(|(id, ty)| super::types::declared(m, m.pointee(*ty), &m.name(*id))).collect();
    let head = format!("{} {}({})", m.type_name(f.returns), m.name(f.id), parameters.join(", "));
    let mut w = Writer::new(m, f);
    if let Some(first) = f.blocks.first() {
        w.region(first.id, Around::default());
    }
    if w.broken {
        let _ = writeln!(out, "{head} {{\n    // too large or not structured: see the SPIR-V\n}}");
        return;
    }
    let _ = writeln!(out, "{head} {{");
    w.finish(out);
    out.push_str("}\n");
}

impl<'m> Writer<'m> {
    fn new(m: &'m Parts, f: &'m Function) -> Writer<'m> {
        let mut w = Writer {
            m,
            f,
            types: f.parameters.iter().copied().collect(),
            uses: HashMap::new(),
            made: HashMap::new(),
            used: HashMap::new(),
            waiting: HashMap::new(),
            locals: HashSet::new(),
            lines: vec![],
            indent: 1,
            named: vec![],
            deep: 0,
            broken: false,
        };
        w.types.extend(m.globals.iter().map(|v| (v.id, v.ty)));
        for (n, b) in f.blocks.iter().enumerate() {
            for i in &b.code {
                if let (Some(id), Some(ty)) = (i.result_id, i.result_type) {
                    w.types.insert(id, ty);
                    w.made.insert(id, n);
                }
                let twice = i.class.opcode == Op::VectorShuffle && id(i, 0) == id(i, 1);
                for (k, of) in ids(i).enumerate().skip(twice as usize) {
                    *w.uses.entry(of).or_default() += 1;
                    // A phi's value is used at the end of the block that it comes from.
                    let phi = i.class.opcode == Op::Phi && k % 2 == 0;
                    let from =
                        if phi { id(i, k + 1).and_then(|b| f.by_id.get(&b)).copied() } else { Some(n) };
                    w.used.insert(of, from.unwrap_or(n));
                }
            }
        }
        w
    }

    pub(super) fn line(&mut self, text: String, makes: Option<u32>) {
        if self.lines.len() >= MOST || text.len() > WIDE {
            self.broken = true;
            return;
        }
        let names = std::mem::take(&mut self.named);
        self.lines.push(Line { indent: self.indent, text, makes, names });
    }

    pub(super) fn open(&mut self, text: String) {
        self.line(text, None);
        self.indent += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text.into(), None);
    }

    /// Blocks from `from` on, to where the region ends.
    fn region(&mut self, from: u32, around: Around) {
        self.deep += 1;
        if self.deep > DEEP {
            self.broken = true;
        }
        let mut next = self.block(from, around);
        while let Some(block) = next.filter(|_| !self.broken) {
            if self.jumps(block, around) {
                break;
            }
            next = self.block(block, around);
        }
        self.deep -= 1;
    }

    /// A jump to where braces end, if the target is such a place.
    pub(super) fn jumps(&mut self, target: u32, around: Around) -> bool {
        let text = match Some(target) {
            t if t == around.end => return true,
            t if t == around.switch => "break;",
            t if t == around.merge => match around.switch {
                Some(_) => "break /* of the loop */;",
                None => "break;",
            },
            t if t == around.next => {
                // What a loop does between two turns is done here.
                if let (Some(next), header) = (around.next, around.header) {
                    let inside = Around { next: None, end: header, ..around };
                    self.region(next, inside);
                }
                "continue;"
            }
            t if t == around.header => "continue;",
            _ => return false,
        };
        self.line(text.into(), None);
        true
    }

    /// Writes a block, and what its branch leads to; the block that follows, if one does.
    fn block(&mut self, block: u32, around: Around) -> Option<u32> {
        let f = self.f;
        let Some(n) = f.by_id.get(&block).copied() else {
            self.broken = true;
            return None;
        };
        let code = &f.blocks[n].code;
        let (last, body) = code.split_last()?;
        let merge = body.last().filter(|i| matches!(i.class.opcode, Op::LoopMerge | Op::SelectionMerge));
        let is_loop = merge.is_some_and(|i| i.class.opcode == Op::LoopMerge);
        let to = merge.and_then(|i| id(i, 0));
        let mut around = around;
        if is_loop {
            let next = merge.and_then(|i| id(i, 1));
            self.open("for (;;) {".into());
            around = Around { header: Some(block), merge: to, next, switch: None, end: next };
            if next == Some(block) {
                (around.next, around.end) = (None, Some(block));
            }
        }
        for (k, i) in body.iter().enumerate() {
            self.statement(i, &body[k + 1..], n);
        }
        let follows = match last.class.opcode {
            Op::Branch => {
                let target = id(last, 0)?;
                self.edge(block, target);
                if is_loop {
                    self.region_or_jump(target, around);
                    None
                } else if self.jumps(target, around) {
                    None
                } else {
                    Some(target)
                }
            }
            Op::BranchConditional => self.conditional(block, last, around, (is_loop, to)),
            Op::Switch => self.switch(block, last, around, to),
            Op::ReturnValue => {
                let value = self.operand(id(last, 0)?);
                self.line(format!("return {value};"), None);
                None
            }
            Op::Return => {
                // The last statement of a function needs none.
                if self.indent > 1 || around.end.is_some() {
                    self.line("return;".into(), None);
                }
                None
            }
            Op::Kill | Op::TerminateInvocation => {
                self.line("discard;".into(), None);
                None
            }
            Op::Unreachable => None,
            _ => {
                let text = expression::of(self.m, self, last);
                self.line(format!("{text};"), None);
                None
            }
        };
        if is_loop { self.turned(around, to) } else { follows }
    }

    /// The end of a loop's turn, and of the loop; what follows it.
    fn turned(&mut self, around: Around, merge: Option<u32>) -> Option<u32> {
        if let Some(next) = around.next {
            self.region(next, Around { next: None, end: around.header, ..around });
        }
        self.close("}");
        merge
    }

    /// A region, or the jump that stands for it.
    pub(super) fn region_or_jump(&mut self, target: u32, around: Around) -> bool {
        let jumped = self.jumps(target, around);
        if !jumped {
            self.region(target, around);
        }
        jumped
    }

    /// Assigns what the phis of a block take from another.
    pub(super) fn edge(&mut self, from: u32, to: u32) {
        let f = self.f;
        let Some(n) = f.by_id.get(&to) else { return };
        let phis: Vec<&Instruction> =
            f.blocks[*n].code.iter().take_while(|i| i.class.opcode == Op::Phi).collect();
        let mut all = vec![];
        for p in phis {
            let all_ids: Vec<u32> = ids(p).collect();
            let pairs = all_ids.chunks_exact(2);
            let Some(value) = pairs.into_iter().find(|c| c[1] == from).map(|c| c[0]) else { continue };
            let Some(of) = p.result_id else { continue };
            if value != of {
                all.push((of, value));
            }
        }
        // They change at once: where one reads another, all are read first.
        let names: Vec<(u32, String, Vec<u32>)> = all
            .iter()
            .map(|(of, value)| {
                let text = self.operand(*value);
                (*of, text, std::mem::take(&mut self.named))
            })
            .collect();
        let meets = names
            .iter()
            .enumerate()
            .any(|(k, (_, _, named))| names[..k].iter().any(|(of, _, _)| named.contains(of)));
        if meets {
            for (of, text, named) in &names {
                self.named.clone_from(named);
                let ty = self.types.get(of).map_or("?".into(), |t| self.m.type_name(*t));
                self.line(format!("{ty} t{of} = {text};"), None);
            }
        }
        for (of, text, named) in names {
            let text = if meets { format!("t{of}") } else { text };
            self.named = named;
            self.named.push(of);
            let name = self.m.name(of);
            self.line(format!("{name} = {text};"), None);
        }
    }

    /// A statement, or a value that waits for its use; `rest`: what follows in its block.
    fn statement(&mut self, i: &Instruction, rest: &[Instruction], block: usize) {
        let op = i.class.opcode;
        match op {
            Op::Phi | Op::LoopMerge | Op::SelectionMerge => return,
            Op::Variable => {
                let Some(of) = i.result_id else { return };
                let ty = self.types.get(&of).map_or(0, |t| self.m.pointee(*t));
                let initial = id(i, 1).map(|v| self.operand(v));
                let initial = initial.map_or(String::new(), |v| format!(" = {v}"));
                self.locals.insert(of);
                let text = super::types::declared(self.m, ty, &self.m.name(of));
                return self.line(format!("{text}{initial};"), None);
            }
            Op::Store => {
                let (Some(to), Some(value)) = (id(i, 0), id(i, 1)) else { return };
                let value = self.operand(value);
                let place = self.place(to);
                return self.line(format!("{place} = {value};"), None);
            }
            Op::CopyMemory => {
                let (Some(to), Some(from)) = (id(i, 0), id(i, 1)) else { return };
                let (from, to) = (self.place(from), self.place(to));
                return self.line(format!("{to} = {from};"), None);
            }
            // Lines, scopes and variables of debug information.
            Op::ExtInst
                if self
                    .m
                    .imports
                    .get(&id(i, 0).unwrap_or(0))
                    .is_some_and(|s| s.starts_with("NonSemantic")) =>
            {
                return;
            }
            _ => {}
        }
        let mark = self.named.len();
        let mut text = if is_chain(op) {
            expression::chain(self.m, self, i, matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain))
        } else {
            expression::of(self.m, self, i)
        };
        if text.len() > WIDE {
            self.broken = true;
            text.clear();
        }
        let Some(of) = i.result_id.filter(|_| i.result_type.is_some_and(|t| self.m.type_name(t) != "void"))
        else {
            return self.line(format!("{text};"), None);
        };
        if is_chain(op) {
            // A place is the same wherever it is named.
            let names = self.named.split_off(mark);
            self.waiting.insert(of, (text, names));
            return;
        }
        let once = self.uses.get(&of) == Some(&1) && self.used.get(&of) == Some(&block);
        let stays = !reads(op)
            || !rest.iter().take_while(|o| !ids(o).any(|u| u == of)).any(|o| changes(o.class.opcode));
        // What a value that waits is made of must not change either.
        let kept = stays && self.stays(rest, of);
        let simple = matches!(op, Op::SampledImage | Op::Image) || self.is_handle(of);
        if (once && kept && !changes(op) && text.len() < 160) || simple {
            let names = self.named.split_off(mark);
            self.waiting.insert(of, (text, names));
            return;
        }
        if !self.uses.contains_key(&of) && !changes(op) {
            self.named.truncate(mark);
            return;
        }
        if !self.uses.contains_key(&of) {
            return self.line(format!("{text};"), None);
        }
        self.line(text, Some(of));
    }

    /// Nothing between here and the use changes memory that a waiting operand was read from. (Expressions that wait contain loads.)
    fn stays(&self, rest: &[Instruction], of: u32) -> bool {
        let mut last = of;
        for o in rest {
            if changes(o.class.opcode) {
                return ids(o).any(|u| u == last);
            }
            // A chain of values that wait for each other ends with the statement that names the last.
            if ids(o).any(|u| u == last)
                && let Some(next) = o.result_id
            {
                last = next;
            }
        }
        true
    }

    /// An image or sampler: no variable holds one.
    fn is_handle(&self, of: u32) -> bool {
        let ty = self.types.get(&of).and_then(|t| self.m.def(*t));
        ty.is_some_and(|t| {
            matches!(t.class.opcode, Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage | Op::TypePointer)
        })
    }

    /// Declares variables where they can be seen by all that name them, and writes all lines.
    fn finish(self, out: &mut String) {
        // Braces as numbers: each line is in a scope, scopes are in scopes.
        let mut parents = vec![0usize];
        let (mut scope_of, mut stack) = (vec![], vec![0usize]);
        for l in &self.lines {
            while stack.len() < l.indent {
                parents.push(stack[stack.len() - 1]);
                stack.push(parents.len() - 1);
            }
            stack.truncate(l.indent.max(1));
            // `} else {` closes one and opens another.
            scope_of.push(stack[stack.len() - 1]);
            if l.text.starts_with("} else") {
                stack.truncate(l.indent);
            }
        }
        let within = |mut inner: usize, outer: usize| {
            loop {
                if inner == outer {
                    return true;
                }
                if inner == 0 {
                    return false;
                }
                inner = parents[inner];
            }
        };
        let mut made: HashMap<u32, (usize, usize)> = HashMap::new();
        let mut above: HashSet<u32> = HashSet::new();
        for (n, l) in self.lines.iter().enumerate() {
            if let Some(of) = l.makes {
                // What is written in several places (a loop's continue block) is one variable.
                if made.insert(of, (n, scope_of[n])).is_some() {
                    above.insert(of);
                }
            }
        }
        for (n, l) in self.lines.iter().enumerate() {
            for of in &l.names {
                match made.get(of) {
                    Some((_, scope)) if within(scope_of[n], *scope) => {}
                    _ => {
                        above.insert(*of);
                    }
                }
            }
        }
        let mut above: Vec<u32> =
            above.into_iter().filter(|of| self.made.contains_key(of) && !self.locals.contains(of)).collect();
        above.sort_unstable();
        for of in &above {
            let ty = self.types.get(of).copied().unwrap_or(0);
            let _ = writeln!(out, "    {};", super::types::declared(self.m, ty, &self.m.name(*of)));
        }
        for l in &self.lines {
            let space = "    ".repeat(l.indent);
            match l.makes {
                Some(of) if above.contains(&of) => {
                    let _ = writeln!(out, "{space}{} = {};", self.m.name(of), l.text);
                }
                Some(of) => {
                    let ty = self.types.get(&of).copied().unwrap_or(0);
                    let declared = super::types::declared(self.m, ty, &self.m.name(of));
                    let _ = writeln!(out, "{space}{declared} = {};", l.text);
                }
                None => {
                    let _ = writeln!(out, "{space}{}", l.text);
                }
            }
        }
    }
}

impl Names for Writer<'_> {
    fn operand(&mut self, of: u32) -> String {
        if self.m.is_constant(of) {
            return self.m.constant(of);
        }
        if let Some((text, names)) = self.waiting.get(&of) {
            self.named.extend(names);
            return text.clone();
        }
        if let Some(i) = self.m.def(of).filter(|i| i.class.opcode == Op::SpecConstantOp).cloned() {
            return self.computed(&i);
        }
        self.named.push(of);
        self.m.name(of)
    }
    fn place(&mut self, of: u32) -> String {
        self.operand(of)
    }
    fn type_of(&self, of: u32) -> Option<u32> {
        self.types.get(&of).copied().or_else(|| self.m.def(of).and_then(|i| i.result_type))
    }
}

impl Writer<'_> {
    /// An operation on specialisation constants.
    fn computed(&mut self, i: &Instruction) -> String {
        let op = number(i, 0);
        let name = match i.operands.first() {
            Some(Operand::LiteralSpecConstantOpInteger(op)) => format!("{op:?}"),
            _ => format!("op{}", op.unwrap_or(0)),
        };
        self.deep += 1;
        let arguments: Vec<String> =
            if self.deep > DEEP { vec![] } else { ids(i).map(|a| self.operand(a)).collect() };
        self.deep -= 1;
        format!("{name}({})", arguments.join(", "))
    }
}

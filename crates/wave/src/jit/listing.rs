//! Compiled code as text, for tests: the nodes of each segment and loop, and its machine code.

use super::generate::{Source, generate};
pub use super::machine::Target;
use super::nodes::body::Item;
use super::nodes::region::{Block, Check, End, Loop, To};
use super::nodes::segment::Segment;
use crate::recording::{Id, Node};
use rustc_hash::FxHashMap;
use shader::bytecode::{Program, Reg};
use simd::Level;
use std::fmt::Write;

/// A segment or loop.
pub struct Function {
    /// What it is, and its nodes.
    pub nodes: String,
    /// The code, and the constants after it.
    pub code: Vec<u8>,
}

/// Targets that code is made for, by their names.
pub fn targets() -> Vec<(&'static str, Target)> {
    Target::all().to_vec()
}

/// The functions of a program in the order in which they are made, on any CPU of the architecture.
///
/// Addresses in the code are those of this process.
pub fn functions(program: &Program, target: Target) -> Vec<Function> {
    let mut all = vec![];
    generate(program, target, crate::kernels::table(Level::PORTABLE), |source, code| {
        let nodes = match source {
            Source::Segment(s) => segment(s),
            Source::Loop(r) => region(r),
        };
        all.push(Function { nodes, code: code.to_vec() });
    });
    all
}

fn segment(s: &Segment) -> String {
    let mut out = format!("segment {}..{}\n", s.first, s.end);
    let mut names = Names { nodes: &s.body.nodes, known: FxHashMap::default() };
    for (what, items) in [("once", &s.body.once), ("each warp", &s.body.each)] {
        if !items.is_empty() {
            let _ = writeln!(out, "  {what}:");
            items.iter().for_each(|item| names.item(*item, &s.checks, &mut out));
        }
    }
    if !s.kept.is_empty() {
        let kept: Vec<String> = s.kept.iter().map(|id| names.value(*id)).collect();
        let _ = writeln!(out, "  set aside: {}", kept.join(" "));
    }
    if let Some(op) = &s.split {
        let _ = writeln!(out, "  then {} {} {}, or → {}", reg(op.d), reg(op.a), reg(op.b), op.imm);
    }
    out
}

fn region(r: &Loop) -> String {
    let exits: Vec<String> =
        r.exits.iter().map(|e| e.as_ref().map_or("-".into(), |e| e.0.to_string())).collect();
    let apart = if r.diverges { ", lanes go apart" } else { "" };
    let mut out = format!("loop at {}, exits {}{apart}\n", r.header, exits.join(" "));
    for (i, p) in r.places.iter().enumerate() {
        let _ = writeln!(out, "  place {i}: {p:?}");
    }
    for (i, l) in r.loads.iter().enumerate() {
        let _ = writeln!(
            out,
            "  load {i}: place {} word {} +{} shape {:#x} counts {:?}",
            l.place, l.word, l.imm as i32, l.shape, l.counts
        );
    }
    for (i, block) in r.blocks.iter().enumerate() {
        let _ = writeln!(out, "  block {i}:");
        of_block(block, &r.checks, &mut out);
    }
    out
}

fn of_block(block: &Block, checks: &[Check], out: &mut String) {
    let mut names = Names { nodes: &block.body.nodes, known: FxHashMap::default() };
    block.body.each.iter().for_each(|item| names.item(*item, checks, out));
    let to = |to: To| match to {
        To::Block(i) => format!("block {i}"),
        To::Out(lanes) => format!("exit {}", !lanes as usize),
    };
    if let Some(none) = block.none {
        let _ = writeln!(out, "    if the test finds none → {}", to(none));
    }
    let _ = match block.end {
        End::Go(t) => writeln!(out, "    → {}", to(t)),
        End::If(c, yes, no) => writeln!(out, "    if {} → {} else {}", names.value(c), to(yes), to(no)),
        End::Any { some, none } => writeln!(out, "    any → {} none → {}", to(some), to(none)),
        End::Park(t) => writeln!(out, "    park → {}", to(t)),
        End::Back { row, to: t, op } => writeln!(out, "    back (row {row}, op {op}) → {}", to(t)),
    };
}

fn reg(r: Reg) -> String {
    match r {
        Reg::NONE => "-".to_string(),
        r if r.is_uniform() => format!("u{}", r.unit()),
        r => format!("v{}", r.unit()),
    }
}

/// Nodes by numbers in the order in which they are met.
struct Names<'a> {
    nodes: &'a [Node],
    known: FxHashMap<Id, usize>,
}

impl Names<'_> {
    fn number(&mut self, id: Id) -> String {
        let next = self.known.len();
        format!("%{}", self.known.entry(id).or_insert(next))
    }

    /// A node as an operand.
    fn value(&mut self, id: Id) -> String {
        match self.nodes[id as usize] {
            Node::Word(r) => reg(r),
            Node::Mask(r) => format!("m{}", r.unit()),
            Node::Part(r, k) => format!("{}.{k}", reg(r)),
            Node::Exec => "exec".into(),
            Node::Splat(x) => format!("{x:#x}"),
            Node::Splat64(x) => format!("{x:#x}l"),
            Node::Truth(x) => x.to_string(),
            Node::Line(t) => format!("line{:?}", t.0),
            Node::Lanes(m) => format!("lanes {m:#x}"),
            _ => self.number(id),
        }
    }

    /// A node with its operands.
    fn node(&mut self, id: Id) -> String {
        let node = self.nodes[id as usize];
        let name = match node {
            Node::Un(u, _) => format!("{u:?}"),
            Node::Bin(b, ..) => format!("{b:?}"),
            Node::Tri(t, ..) => format!("{t:?}"),
            Node::Load(n, ..) => format!("load {n}"),
            Node::Phi(..) => "phi".into(),
            Node::Parts(..) => "parts".into(),
            _ => "given".into(),
        };
        // Tables are constants of the code.
        let name = name.split("(Table").next().unwrap_or_default().to_string();
        node.operands().fold(name, |text, x| format!("{text} {}", self.value(x)))
    }

    fn item(&mut self, item: Item, checks: &[Check], out: &mut String) {
        let text = match item {
            Item::Compute(id) => {
                let node = self.node(id);
                format!("{} = {node}", self.number(id))
            }
            Item::Store(r, id) if self.nodes[id as usize].is_mask() => {
                format!("m{} = {}", r.unit(), self.value(id))
            }
            Item::Store(r, id) => format!("{} = {}", reg(r), self.value(id)),
            Item::Wide(r, a, b) => format!("{} = {} {}", reg(r), self.value(a), self.value(b)),
            Item::Move(r, id) => format!("{} = {} where exec", reg(r), self.value(id)),
            Item::Tally(row) => format!("tally {row}"),
            Item::Check(n) => {
                let check = &checks[n as usize];
                let args: Vec<String> = check.args.iter().map(|id| self.value(*id)).collect();
                let results: Vec<String> = check.results.iter().map(|id| self.value(*id)).collect();
                let odd = self.value(check.odd);
                format!("{} = kernel of {} where {odd}", results.join(" "), args.join(" "))
            }
            Item::Test(id) => format!("test {}", self.value(id)),
            Item::Exec(id) => format!("exec = {}", self.value(id)),
            Item::If(id) => format!("if {}", self.value(id)),
            Item::Phi(r, id) => {
                let node = self.node(id);
                format!("{} = {node} for {}", self.number(id), reg(r))
            }
            Item::End => "end".into(),
            Item::Count(row, id) => format!("count {row} where {}", self.value(id)),
        };
        let _ = writeln!(out, "    {text}");
    }
}

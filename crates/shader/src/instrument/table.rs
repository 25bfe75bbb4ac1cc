//! The table of blocks: where each lies in the application's SPIR-V and in its source.

use super::lines::Lines;
use crate::options::Result;
use crate::spirv::*;
use small_sort::SmallSort;
use std::fmt::Write;

/// One basic block of the module as the application gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Dense, from 0, in the order of appearance.
    pub index: u32,
    /// The function's id and its OpName; an entry point without one has the entry point's name, any other none.
    pub function: u32,
    pub function_name: String,
    /// Id and OpName (often none) of the OpLabel.
    pub label: u32,
    pub label_name: String,
    /// Source file and line of the block's first instruction that has any, by OpLine or DebugLine; empty and 0 without.
    pub file: String,
    pub line: u32,
    /// All lines of that file that the block's instructions have, ascending.
    pub lines: Vec<u32>,
    /// It has an OpLoopMerge.
    pub loop_header: bool,
}

/// A block, and the word offset at which its mark belongs.
pub(super) struct Placed {
    pub block: Block,
    pub at: u32,
}

/// The instruction ends its block.
pub(super) fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::Unreachable
            | Op::TerminateInvocation
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

/// It may stand before what runs in a block.
pub(super) fn leads(op: Op) -> bool {
    matches!(op, Op::Phi | Op::Variable | Op::UntypedVariableKHR)
}

/// Adds the blocks of a function.
pub(super) fn blocks(m: &Module, f: &Function, lines: &mut Lines, out: &mut Vec<Placed>) -> Result<()> {
    let name = function_name(m, f.id)?;
    let mut open: Option<Placed> = None;
    // Nothing but phis and variables (and what may stand among them) so far.
    let mut leading = false;
    let mut found: Vec<(u32, u32)> = Vec::new();
    lines.clear();
    let mut at = f.start;
    while at < f.end {
        let i = m.inst(at);
        at += i.len() as u32;
        let is_line = lines.read(m, &i)?;
        match (&mut open, i.op) {
            (None, Op::Label) => {
                let index = out.len() as u32;
                let label_name = m.name(i.w[1]).unwrap_or_default();
                let function_name = name.clone();
                let block = Block {
                    index,
                    function: f.id,
                    function_name,
                    label: i.w[1],
                    label_name,
                    ..Block::default()
                };
                open = Some(Placed { block, at });
                leading = true;
                found.clear();
            }
            (Some(_), Op::Label) => return Err(i.bad("the block before has no end")),
            (Some(p), op) => {
                match op {
                    op if leads(op) && leading => p.at = at,
                    Op::Line | Op::NoLine => {}
                    Op::ExtInst if is_line || non_semantic(m, &i) => {}
                    _ => leading = false,
                }
                p.block.loop_header |= op == Op::LoopMerge;
                if !is_line
                    && !matches!(op, Op::Line | Op::NoLine)
                    && let Some(here) = lines.here()
                    // Line 0: made by the compiler.
                    && here.1 != 0
                {
                    found.push(here);
                }
                if ends_block(op) {
                    let mut p = open.take().expect("open");
                    if let Some(&(file, line)) = found.first() {
                        p.block.file = lines.file(file).into();
                        p.block.line = line;
                        let same = found.iter().filter(|l| l.0 == file).map(|l| l.1);
                        p.block.lines = same.collect();
                        p.block.lines.small_sort();
                        p.block.lines.dedup();
                    }
                    out.push(p);
                    // A line holds to the end of its block.
                    lines.clear();
                }
            }
            _ => {}
        }
    }
    match open {
        None => Ok(()),
        Some(p) => Err(invalid(f.start as usize, format!("the block of label {} has no end", p.block.label))),
    }
}

pub(super) fn non_semantic(m: &Module, i: &Code) -> bool {
    matches!(i.get(3).and_then(|s| m.ext_set(s)), Some(ExtSet::ShaderDebugInfo | ExtSet::NonSemantic))
}

fn function_name(m: &Module, id: u32) -> Result<String> {
    if let Some(n) = m.name(id) {
        return Ok(n);
    }
    for &at in &m.entries {
        let i = m.inst(at);
        if i.get(2) == Some(id) {
            return Ok(i.string(3)?.0);
        }
    }
    Ok(String::new())
}

/// A JSON string of `s`.
pub fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The table as JSON: an array of objects, one a line, with the members of [`Block`] by their names
/// (`index function functionName label labelName file line lines loopHeader`).
pub fn json(blocks: &[Block]) -> String {
    let mut out = String::from("[");
    for (i, b) in blocks.iter().enumerate() {
        let lines: Vec<String> = b.lines.iter().map(u32::to_string).collect();
        let _ = write!(
            out,
            "{}\n{{\"index\": {}, \"function\": {}, \"functionName\": {}, \"label\": {}, \"labelName\": {}, \
             \"file\": {}, \"line\": {}, \"lines\": [{}], \"loopHeader\": {}}}",
            if i == 0 { "" } else { "," },
            b.index,
            b.function,
            quoted(&b.function_name),
            b.label,
            quoted(&b.label_name),
            quoted(&b.file),
            b.line,
            lines.join(", "),
            b.loop_header
        );
    }
    out.push_str("\n]\n");
    out
}

//! Marks wherever the source line changes: for what is said of lines, where blocks are too coarse.

use super::lines::Lines;
use super::table::{ends_block, leads, non_semantic};
use super::{Entry, edit, functions, marks};
use crate::options::Result;
use crate::spirv::*;

/// What a mark begins: instructions of one block that are of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Empty and 0 where the module says nothing.
    pub file: String,
    pub line: u32,
    /// Id of the block's OpLabel.
    pub label: u32,
}

/// The module with a mark at the begin of each block and of each line in it; mark `i` is `stretches[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByLine {
    pub words: Vec<u32>,
    pub stretches: Vec<Stretch>,
}

/// Errors as [`super::instrument`].
pub fn by_line(module: &Module, entry: Entry) -> Result<ByLine> {
    let mut lines = Lines::new(module);
    let (mut places, mut stretches) = (vec![], vec![]);
    for f in functions(module, entry)? {
        function(module, &module.functions[f], &mut lines, &mut places, &mut stretches)?;
    }
    let mut edit = edit::Edit::new(module);
    if !places.is_empty() {
        marks::insert(&mut edit, &places)?;
    }
    Ok(ByLine { words: edit.apply()?, stretches })
}

fn function(
    m: &Module,
    f: &Function,
    lines: &mut Lines,
    places: &mut Vec<u32>,
    stretches: &mut Vec<Stretch>,
) -> Result<()> {
    // Nothing but phis and variables of the block so far, and where its first mark goes.
    let mut leading = None;
    let mut label = 0;
    let mut here = None;
    // A merge and the branch after it belong together.
    let mut merged = false;
    lines.clear();
    let mut at = f.start;
    while at < f.end {
        let i = m.inst(at);
        let start = at;
        at += i.len() as u32;
        let is_line = lines.read(m, &i)?;
        if i.op == Op::Label {
            (leading, label, here) = (Some(at), i.w[1], None);
            continue;
        }
        if label == 0 || is_line || matches!(i.op, Op::Line | Op::NoLine) {
            continue;
        }
        if leads(i.op) && leading.is_some() {
            leading = Some(at);
            continue;
        }
        if i.op == Op::ExtInst && non_semantic(m, &i) {
            continue;
        }
        let line = lines.here().filter(|l| l.1 != 0);
        let place = match leading.take() {
            Some(first) => Some(first),
            None => (line.is_some() && line != here && !merged).then_some(start),
        };
        merged = matches!(i.op, Op::SelectionMerge | Op::LoopMerge);
        if let Some(place) = place {
            here = line;
            places.push(place);
            let (file, line) = line.map_or((String::new(), 0), |l| (lines.file(l.0).to_string(), l.1));
            stretches.push(Stretch { file, line, label });
        }
        if ends_block(i.op) {
            // A line holds to the end of its block.
            lines.clear();
            label = 0;
        }
    }
    Ok(())
}

//! Branches that choose: `if` and `switch`.

use super::expression::{Names, closed};
use super::flow::{Around, Writer};
use super::module::id;
use rspirv::dr::{Instruction, Operand};

/// Blocks that a switch leads to, each with what it is chosen by; the default among them.
fn cases(last: &Instruction, default: u32) -> Vec<(u32, Vec<String>)> {
    let mut cases: Vec<(u32, Vec<String>)> = vec![];
    let mut k = 2;
    while let (Some(value), Some(target)) = (last.operands.get(k), id(last, k + 1)) {
        let value = match value {
            Operand::LiteralBit32(v) => (*v as i32).to_string(),
            Operand::LiteralBit64(v) => v.to_string(),
            _ => "?".into(),
        };
        match cases.iter_mut().find(|(t, _)| *t == target) {
            Some((_, all)) => all.push(format!("case {value}:")),
            None => cases.push((target, vec![format!("case {value}:")])),
        }
        k += 2;
    }
    match cases.iter_mut().find(|(t, _)| *t == default) {
        Some((_, all)) => all.push("default:".into()),
        None => cases.push((default, vec!["default:".into()])),
    }
    cases
}

impl Writer<'_> {
    /// A branch by a condition at the end of `block`, which begins a loop or has a merge; the block that follows, if one does.
    pub(super) fn conditional(
        &mut self,
        block: u32,
        last: &Instruction,
        around: Around,
        (is_loop, to): (bool, Option<u32>),
    ) -> Option<u32> {
        let c = self.operand(id(last, 0)?);
        let (yes, no) = (id(last, 1)?, id(last, 2)?);
        if is_loop || to.is_none() {
            // One side leaves: the other goes on without braces.
            let leaves = |t: u32| {
                [around.merge, around.next, around.header, around.switch].contains(&Some(t))
                    && Some(t) != around.end
            };
            let other = match (leaves(yes), leaves(no)) {
                (true, _) => Some((c.clone(), yes, no)),
                (_, true) => Some((format!("!{}", closed(c.clone())), no, yes)),
                _ => None,
            };
            if let Some((c, gone, stays)) = other {
                self.open(format!("if ({c}) {{"));
                self.edge(block, gone);
                self.jumps(gone, around);
                self.close("}");
                self.edge(block, stays);
                if is_loop {
                    self.region_or_jump(stays, around);
                    return None;
                }
                return if self.jumps(stays, around) { None } else { Some(stays) };
            }
        }
        let end = if is_loop { around.end } else { to.or(around.end) };
        let inside = Around { end, ..around };
        self.open(format!("if ({c}) {{"));
        self.edge(block, yes);
        let before = self.lines.len();
        self.region_or_jump(yes, inside);
        let mark = self.lines.len();
        self.indent -= 1;
        self.line("} else {".into(), None);
        self.indent += 1;
        self.edge(block, no);
        self.region_or_jump(no, inside);
        self.shortened(c, before, mark);
        self.close("}");
        if is_loop { None } else { to.filter(|t| Some(*t) != around.end) }
    }

    /// Leaves out a side that does nothing: lines before `before` end with the `if`, line `mark` is the `else`.
    fn shortened(&mut self, condition: String, before: usize, mark: usize) {
        if self.broken {
            return;
        }
        if self.lines.len() == mark + 1 {
            self.lines.truncate(mark);
        } else if mark == before && before > 0 && self.lines[before - 1].text.starts_with("if (") {
            self.lines[before - 1].text = format!("if (!{}) {{", closed(condition));
            let names = std::mem::take(&mut self.lines[mark].names);
            self.lines[before - 1].names.extend(names);
            self.lines.remove(mark);
        }
    }

    /// A switch at the end of `block`; the block that follows.
    pub(super) fn switch(
        &mut self,
        block: u32,
        last: &Instruction,
        around: Around,
        to: Option<u32>,
    ) -> Option<u32> {
        let c = self.operand(id(last, 0)?);
        let cases = cases(last, id(last, 1)?);
        self.open(format!("switch ({c}) {{"));
        for (at, (target, labels)) in cases.iter().enumerate() {
            self.line(labels.join(" "), None);
            self.indent += 1;
            self.edge(block, *target);
            // One case may go on with the next.
            let end = cases.get(at + 1).map(|c| c.0);
            self.region_or_jump(*target, Around { switch: to, end, ..around });
            self.indent -= 1;
        }
        self.close("}");
        to.filter(|t| Some(*t) != around.end)
    }
}

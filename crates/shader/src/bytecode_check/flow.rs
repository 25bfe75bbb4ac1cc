//! Where ops lead.

use super::{bad, wrong};
use crate::bytecode::{Code, Program};
use crate::isa::code::{extension_words, layout};
use crate::options::Result;

pub fn check(p: &Program, starts: &[bool]) -> Result<()> {
    let n = p.code.len();
    let prologue = p.prologue as usize;
    // A wave begins after it, at an op.
    if prologue >= n || !starts[prologue] {
        return Err(wrong("the prologue's end"));
    }
    let mut pc = 0;
    while pc < n {
        let op = &p.code[pc];
        let jumps = layout(op.code).label;
        let target = op.imm as usize;
        if jumps && !(target < n && starts[target]) {
            return Err(bad(pc, "jump target"));
        }
        // Only these ask whether the wave is to stop.
        if jumps && target <= pc && !matches!(op.code, Code::LOOP | Code::LOOP_NEXT) {
            return Err(bad(pc, "a loop that nobody ends"));
        }
        if op.code == Code::LOOP_NEXT && p.code[target].code != Code::CMP_JMP {
            return Err(bad(pc, "loop head"));
        }
        if pc < prologue && (jumps || matches!(op.code, Code::END | Code::BARRIER | Code::DEMOTE)) {
            return Err(bad(pc, "the prologue is no straight line"));
        }
        if jumps && target < prologue {
            return Err(bad(pc, "jump into the prologue"));
        }
        pc += 1 + extension_words(op);
    }
    Ok(())
}

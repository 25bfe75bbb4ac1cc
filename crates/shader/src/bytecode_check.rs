//! Checks a program before it runs: registers, jump targets, extension words and counters within bounds.

use crate::bytecode::{Code, DESC_GIVEN, ImageCode, Op, Program, Reg};
use crate::isa::code::{Words, extension_words, layout, more_registers};
use crate::options::{Error, Result};

/// Fails with the first op that would read or write outside the register file or jump outside the code.
pub fn check(program: &Program) -> Result<()> {
    let n = program.code.len();
    let bad = |pc: usize, what: &str| {
        Error::TooLarge(format!("bytecode op {pc}: {what} (an error of the compiler)"))
    };
    let units = program.units as usize;
    let widest = 2 * program.lanes as usize / 16;
    // Without the types of operands a varying register is checked by its first unit; the allocator gives whole ones, and the
    // engine's register files have room behind the last unit for the widest.
    let fits = |r: Reg| r.is_none() || r.unit() < units;
    if !matches!(program.lanes, 64 | 128 | 256) || widest > 32 {
        return Err(bad(0, "lanes"));
    }
    if !program.outputs.iter().all(|(_, r)| !r.is_none() && fits(*r)) {
        return Err(bad(0, "register of an output"));
    }
    let filled = program.consts.iter().map(|c| c.0).chain(program.inputs.iter().map(|i| i.1));
    if !filled.into_iter().all(|r| !r.is_none() && fits(r)) {
        return Err(bad(0, "register of a constant or an input"));
    }
    if !program.images.iter().flat_map(ImageCode::registers).all(fits) {
        return Err(bad(0, "register of an image operation"));
    }
    let mut starts = vec![false; n + 1];
    let mut pc = 0;
    while pc < n {
        starts[pc] = true;
        let op: &Op = &program.code[pc];
        if ![op.d, op.a, op.b, op.c].iter().all(|r| fits(*r)) {
            return Err(bad(pc, "register"));
        }
        if !more_registers(op).all(fits) {
            return Err(bad(pc, "register of a pair or twin"));
        }
        if matches!(op.code, Code::SEGMENT | Code::REGION | Code::QUAD_SEGMENT) {
            return Err(bad(pc, "compiled code"));
        }
        let words = extension_words(op);
        if pc + words >= n {
            return Err(bad(pc, "extension words or end missing"));
        }
        if layout(op.code).words != Words::Data {
            for w in &program.code[pc + 1..=pc + words] {
                if !w.regs().iter().all(|r| fits(*r)) {
                    return Err(bad(pc, "register of an extension word"));
                }
            }
        }
        if op.code == Code::IMAGE && op.imm as usize >= program.images.len() {
            return Err(bad(pc, "image"));
        }
        if op.code == Code::DESC
            && program.code[pc + 1].regs()[4].0 as u32 & DESC_GIVEN != 0
            && op.imm as usize >= program.given.len()
        {
            return Err(bad(pc, "descriptor of the program's"));
        }
        let counter = match op.code {
            Code::TALLY => op.imm,
            Code::LOOP | Code::LOOP_NEXT => op.e.into(),
            _ => 0,
        };
        // There is a row 0 always.
        if counter as usize >= program.profile.counters.len().max(1) {
            return Err(bad(pc, "counter"));
        }
        pc += 1 + words;
        if pc == n && op.code != Code::END && op.code != Code::JMP {
            return Err(bad(pc, "the code runs on past its end"));
        }
    }
    let mut pc = 0;
    while pc < n {
        let op = &program.code[pc];
        if layout(op.code).label && !(op.imm as usize <= n && starts[op.imm as usize]) {
            return Err(bad(pc, "jump target"));
        }
        if op.code == Code::LOOP_NEXT
            && program.code.get(op.imm as usize).map(|t| t.code) != Some(Code::CMP_JMP)
        {
            return Err(bad(pc, "loop head"));
        }
        pc += 1 + extension_words(op);
    }
    if program.prologue as usize > n || !starts[program.prologue as usize] {
        return Err(bad(0, "prologue"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Ty;

    fn program(code: Vec<Op>) -> Program {
        Program {
            stage: crate::ir::Stage::Compute,
            interface: Default::default(),
            outputs: vec![],
            lanes: 64,
            workgroup: [64, 1, 1],
            code,
            images: vec![],
            given: vec![],
            units: 8,
            consts: vec![(Reg::uniform(0), Ty::B32, 0)],
            inputs: vec![],
            prologue: 0,
            shared_bytes: 0,
            scratch_words: 0,
            zeroed: [0; 2],
            packed: false,
            multi_wave: false,
            keeps_denormals: false,
            quad_derivatives: false,
            blocks: vec![],
            files: vec![],
            profile: Default::default(),
            compiled: Default::default(),
        }
    }

    #[test]
    fn bad_programs_are_found() {
        let end = Op::new(Code::END);
        assert!(check(&program(vec![end])).is_ok());
        assert!(check(&program(vec![])).is_err());
        let mut jump = Op::new(Code::JMP);
        jump.imm = 7;
        assert!(check(&program(vec![jump, end])).is_err());
        let mut mov = Op::new(Code::SETEXEC);
        mov.a = Reg::varying(8);
        assert!(check(&program(vec![mov, end])).is_err());
        mov.a = Reg::varying(7);
        assert!(check(&program(vec![mov, end])).is_ok());
        assert!(check(&program(vec![mov])).is_err());
        // A counter that the program has not, and a constant's register.
        let mut tally = Op::new(Code::TALLY);
        tally.imm = 1;
        assert!(check(&program(vec![tally, end])).is_err());
        let p = program(vec![end]);
        assert!(check(&Program { consts: vec![(Reg::uniform(8), Ty::B32, 0)], ..p }).is_err());
        // A jump into an extension word.
        let mut split = Op::new(Code::CMP_SPLIT);
        split.imm = 1;
        assert!(check(&program(vec![split, Op::ext([Reg::NONE; 8]), end])).is_err());
    }
}

//! Which registers are read again: liveness over a program's ops, by units of the register file.
//!
//! Lanes that wait read their registers where they go on, which is on the wave's way through the code; so the graph of jumps
//! says who reads what a register holds. A register of 64 bits has two slots; where an op's width is not known both count as
//! read, and only the first as written.

use crate::recording::Kind;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::isa::code::{Field, Words, extension_words, layout, more_registers};

/// One bit a unit.
#[derive(Clone, PartialEq, Eq)]
pub struct Set(Vec<u64>);

impl Set {
    fn new(units: usize) -> Set {
        Set(vec![0; units.div_ceil(64)])
    }
    pub fn has(&self, unit: usize) -> bool {
        self.0.get(unit / 64).is_some_and(|w| w >> (unit % 64) & 1 != 0)
    }
    fn set(&mut self, unit: usize, on: bool) {
        if let Some(w) = self.0.get_mut(unit / 64) {
            *w = *w & !(1 << (unit % 64)) | (on as u64) << (unit % 64);
        }
    }
    /// Whether anything came to it.
    fn add(&mut self, other: &Set) -> bool {
        let mut more = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            more |= b & !*a != 0;
            *a |= b;
        }
        more
    }
}

/// A stretch of ops that nothing jumps into or out of but at its ends.
pub struct Block {
    pub first: usize,
    /// One past its last word.
    pub end: usize,
    pub next: [Option<usize>; 2],
    /// Live where it begins.
    pub before: Set,
}

pub struct Liveness<'p> {
    program: &'p Program,
    pub blocks: Vec<Block>,
    warps: usize,
    outputs: Set,
}

/// Ops looked at, times words of a set, at most: loops nested in each other ask for a turn each.
const MOST_STEPS: usize = 1 << 27;

impl<'p> Liveness<'p> {
    /// None for a program that asks for too much.
    pub fn new(program: &'p Program) -> Option<Liveness<'p>> {
        let words = program.units as usize / 64 + 1;
        let turn = program.code.len() * words.div_ceil(8);
        let mut left = MOST_STEPS.checked_sub(turn)?;
        let mut it = Liveness {
            program,
            blocks: blocks(program),
            warps: program.lanes as usize / 16,
            outputs: Set::new(program.units as usize),
        };
        for (_, r) in &program.outputs {
            it.outputs.set(r.unit(), true);
        }
        left = left.checked_sub(it.blocks.len() * words)?;
        let mut again = true;
        while again {
            again = false;
            left = left.checked_sub(turn)?;
            for b in (0..it.blocks.len()).rev() {
                let mut live = it.behind(b);
                it.back(b, &mut live, |_, _| ());
                again |= it.blocks[b].before.add(&live);
            }
        }
        Some(it)
    }

    /// Waves begin there, or their prologue.
    pub fn begins(&self, b: usize) -> bool {
        [0, self.program.prologue as usize].contains(&self.blocks[b].first)
    }

    /// Live after block `b`.
    pub fn behind(&self, b: usize) -> Set {
        let mut live = Set::new(self.program.units as usize);
        for n in self.blocks[b].next.iter().flatten() {
            live.add(&self.blocks[*n].before);
        }
        live
    }

    /// What is live after each of the block's ops, last first: (op, live after it).
    pub fn walk(&self, b: usize, f: impl FnMut(usize, &Set)) {
        let mut live = self.behind(b);
        self.back(b, &mut live, f);
    }

    /// Goes back through block `b`.
    fn back(&self, b: usize, live: &mut Set, mut f: impl FnMut(usize, &Set)) {
        let block = &self.blocks[b];
        let mut starts = vec![];
        let mut pc = block.first;
        while pc < block.end {
            starts.push(pc);
            pc += 1 + extension_words(&self.program.code[pc]);
        }
        for &pc in starts.iter().rev() {
            f(pc, live);
            self.op(pc, live);
        }
    }

    /// From what is live after an op to what is before it.
    fn op(&self, pc: usize, live: &mut Set) {
        let op = &self.program.code[pc];
        if matches!(op.code, Code::END | Code::DEMOTE) {
            live.add(&self.outputs);
        }
        if let Some(r) = crate::kernels::recording(op.code).filter(|r| !r.is_narrow()) {
            // What is arithmetic has them in order.
            let mut all = |reg: Reg, kind: Kind, on: bool| {
                live.set(reg.unit(), on);
                if kind == Kind::Wide {
                    live.set(reg.unit() + if reg.is_uniform() { 1 } else { self.warps }, on);
                }
            };
            all(op.d, r.results[0], false);
            [op.a, op.b, op.c].into_iter().zip(r.operands).for_each(|(reg, kind)| all(reg, *kind, true));
            return;
        }
        let narrow = is_narrow(op.code);
        fields(self.program, pc, |r, field| {
            if field == Field::Def {
                live.set(r.unit(), false);
            }
        });
        fields(self.program, pc, |r, field| {
            if field.reads() {
                live.set(r.unit(), true);
                if !narrow {
                    live.set(r.unit() + if r.is_uniform() { 1 } else { self.warps }, true);
                }
            }
        });
    }
}

/// All operands are of 32 bits or Bools.
fn is_narrow(code: Code) -> bool {
    // Of masks, or of words that are compared or moved.
    let masks = matches!(
        code.unfused(),
        Code::SPLIT
            | Code::SPLIT_RARE
            | Code::CMP_SPLIT
            | Code::CMP_SPLIT_RARE
            | Code::CMP_PARK
            | Code::CMP_JMP
            | Code::PARK
            | Code::PARK_IF
            | Code::JOIN
            | Code::SETEXEC
            | Code::GETEXEC
            | Code::OREXEC
            | Code::LOOP
            | Code::LOOP_NEXT
            | Code::MASK_CLEAR
            | Code::MASK_ANDN
            | Code::MOVM32
            | Code::MOVIF32
            | Code::MOVMB
            | Code::MOVIFB
            | Code::BALLOT
            | Code::FIRST32
            | Code::SHUFFLE32
            | Code::REDUCE32
            | Code::QUAD32
    );
    masks || crate::kernels::recording(code).is_some_and(|r| r.is_narrow())
}

/// Calls `f(register, what is done with it)` for each register of an op.
pub fn fields(program: &Program, pc: usize, mut f: impl FnMut(Reg, Field)) {
    let op = &program.code[pc];
    let l = layout(op.code);
    let mut field = |r: Reg, field: Field| {
        if !r.is_none() && field != Field::None {
            f(r, field);
        }
    };
    field(op.d, l.d);
    field(op.a, l.a);
    field(op.b, l.b);
    field(op.c, l.c);
    more_registers(op).for_each(|r| field(r, l.registers));
    if !matches!(l.words, Words::None | Words::Data) {
        let words = &program.code[pc + 1..pc + 1 + extension_words(op)];
        for (i, r) in words.iter().flat_map(Op::regs).enumerate() {
            field(r, l.extension(i));
        }
    }
    if op.code == Code::IMAGE {
        let image = &program.images[op.imm as usize];
        // Lanes outside exec keep what they had, wherever the host writes but some.
        image.registers().for_each(|r| field(r, Field::Use));
    }
}

fn jumps(op: &Op) -> bool {
    layout(op.code).label
}

fn blocks(program: &Program) -> Vec<Block> {
    let code = &program.code;
    let mut first = vec![false; code.len() + 1];
    first[0] = true;
    first[program.prologue as usize] = true;
    let mut pc = 0;
    while pc < code.len() {
        let op = &code[pc];
        let after = pc + 1 + extension_words(op);
        if jumps(op) {
            first[op.imm as usize] = true;
            first[after] = true;
        }
        // A wave goes on after a barrier, or ends here; the end of a counting loop looks at the comparison where it begins.
        if matches!(op.code, Code::BARRIER | Code::END | Code::DEMOTE) {
            first[after] = true;
        }
        pc = after;
    }
    let starts: Vec<usize> = (0..code.len()).filter(|i| first[*i]).collect();
    let number = |pc: usize| starts.binary_search(&pc).ok();
    let mut blocks = Vec::with_capacity(starts.len());
    for (b, &at) in starts.iter().enumerate() {
        let end = starts.get(b + 1).copied().unwrap_or(code.len());
        let mut last = at;
        while last + 1 + extension_words(&code[last]) < end {
            last += 1 + extension_words(&code[last]);
        }
        let op = &code[last];
        let stays = match op.code {
            Code::END | Code::JMP | Code::PARK => true,
            Code::LOOP => op.a.is_none(),
            _ => false,
        };
        let mut next =
            [(!stays).then(|| number(end)).flatten(), jumps(op).then(|| number(op.imm as usize)).flatten()];
        if op.code == Code::LOOP_NEXT {
            // It does the comparison at its target, and goes where that goes.
            next = [number(op.imm as usize), None];
        }
        blocks.push(Block { first: at, end, next, before: Set::new(program.units as usize) });
    }
    blocks
}

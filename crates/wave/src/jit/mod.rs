//! Tier 2: segments of bytecode, with the branches that lie within, and innermost loops whole ([`nodes`]), as machine
//! code.
//!
//! Other control flow, masks and memory stay interpreted. A segment's first op becomes a [`Code::SEGMENT`] in a copy of the program's
//! code, which leads to the function and on to the op after; all other ops stay where they are, so that jumps, faults and
//! counts mean what they did. What a segment's ops do is what their kernels' own functions say ([`crate::recording`]).

#[cfg(target_arch = "aarch64")]
mod arm;
mod cache;
mod cycle;
#[cfg_attr(windows, path = "dump/windows.rs")]
mod dump;
mod emit;
mod generate;
pub mod listing;
mod nodes;
mod pages;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::kernels::compiled::{Entry, Function, QuadSegment, with_address};
#[cfg(target_arch = "aarch64")]
use arm as machine;
pub use cache::ready;
use generate::generate;
use machine::Target;
use pages::Pages;
use shader::bytecode::{Code, CompiledCode, Op, Program};
use shader::isa::code::extension_words;
use simd::Level;
#[cfg(target_arch = "x86_64")]
use x86 as machine;

/// A program's compiled form.
pub struct Compiled {
    code: Vec<Op>,
    pages: Pages,
    level: usize,
    /// What ops of regions lead to.
    entries: Box<[Entry]>,
    /// What those of segments with quads lead to.
    quads: Box<[QuadSegment]>,
    /// Ops that segments have done by kernels: their code knows where they are.
    _ops: Vec<Box<[Op]>>,
    pub segments: usize,
    /// Branches within segments.
    pub branches: usize,
    pub regions: usize,
}

impl Compiled {
    /// For who looks at it.
    pub fn machine_code(&self) -> &[u8] {
        self.pages.code()
    }
}

impl CompiledCode for Compiled {
    fn code(&self) -> &[Op] {
        &self.code
    }
    fn level(&self) -> usize {
        self.level
    }
    fn bytes(&self) -> usize {
        let ops: usize = self.code.len() + self._ops.iter().map(|o| o.len()).sum::<usize>();
        self.pages.bytes() + ops * size_of::<Op>() + size_of_val(&*self.entries) + size_of_val(&*self.quads)
    }
}

/// Compiles the segments of `program` for a CPU of that level.
///
/// None if there is nothing to compile, too much of it, no code for the level, or no memory that may be executable.
pub fn compile(program: &Program, level: Level) -> Option<Compiled> {
    let made = generate(program, Target::of(level)?, crate::kernels::table(level), |_, _| ())?;
    let pages = Pages::new(&made.bytes)?;
    dump::functions(program, pages.code(), || {
        let of_segments = made.segments.iter().map(|s| ("segment", s.first, s.at));
        let of_regions = made.regions.iter().map(|r| ("loop", r.header, r.at));
        of_segments.chain(of_regions).collect()
    });
    let mut code = program.code.clone();
    let segments = made.segments.len();
    let (mut quads, mut of_quads) = (vec![], vec![]);
    for s in made.segments {
        let function = pages.ptr().wrapping_add(s.at) as u64;
        let mut next = s.end;
        if let Some(split) = s.split {
            // After all others: jumps to the op that compares find it where it was.
            next = code.len();
            code.extend([split, Op { imm: s.end as u32, ..Op::new(Code::JMP) }]);
        }
        let words = (next - s.first) as u32;
        if !s.quads {
            code[s.first] = with_address(Code::SEGMENT, function, words);
            continue;
        }
        // SAFETY: where `generate` put a function.
        let function = unsafe { std::mem::transmute::<usize, Function>(function as usize) };
        quads.push(QuadSegment { function, words, fallback: first_again(program, &mut code, s.first) });
        of_quads.push(s.first);
    }
    let quads: Box<[QuadSegment]> = quads.into();
    for (first, entry) in of_quads.into_iter().zip(&quads) {
        code[first] = with_address(Code::QUAD_SEGMENT, std::ptr::from_ref(entry) as u64, 0);
    }
    let headers: Vec<usize> = made.regions.iter().map(|r| r.header).collect();
    let known = made.regions.into_iter().map(|r| Entry {
        function: pages.ptr().wrapping_add(r.at) as usize,
        level,
        places: r.places,
        exits: r.exits,
        fallback: whole_again(program, &mut code, r.header),
        _ops: r.ops,
    });
    let entries: Box<[Entry]> = known.collect();
    let regions = entries.len();
    for (header, entry) in headers.into_iter().zip(&entries) {
        code[header] = entry.op();
    }
    Some(Compiled {
        code,
        pages,
        level: level.index(),
        entries,
        quads,
        _ops: made.ops,
        segments,
        branches: made.branches,
        regions,
    })
}

/// Puts the op at a loop's begin after all others, for waves that run the loop op by op: where it is then.
fn whole_again(program: &Program, code: &mut Vec<Op>, header: usize) -> u32 {
    // A segment's begin too: it goes on relative to where it lies, so the op itself is taken.
    let at = first_again(program, code, header);
    for op in &mut code[..at as usize] {
        if op.code == Code::LOOP_NEXT && op.imm == header as u32 {
            op.imm = at;
        }
    }
    at
}

/// Puts an op after all others, from where the wave goes on to what follows it in the program: where it is then.
fn first_again(program: &Program, code: &mut Vec<Op>, first: usize) -> u32 {
    let at = code.len() as u32;
    let after = first + 1 + extension_words(&program.code[first]);
    code.extend_from_slice(&program.code[first..after]);
    code.push(Op { imm: after as u32, ..Op::new(Code::JMP) });
    at
}

/// Whether compiled code has the op, wherever its registers allow it.
pub fn has(code: Code) -> bool {
    crate::kernels::recording(code).is_some()
}

//! Tier 2: segments of bytecode, with the branches that lie within, and innermost loops whole ([`nodes`]), as machine
//! code.
//!
//! Other control flow, masks and memory stay interpreted. A segment's first op becomes a [`Code::SEGMENT`] in a copy of the program's
//! code, which leads to the function and on to the op behind; all other ops stay where they are, so that jumps, faults and
//! counts mean what they did. What a segment's ops do is what their kernels' own functions say ([`crate::recording`]).

mod dump;
mod enter;
mod generate;
pub mod listing;
mod nodes;
mod pages;
mod x86;

use crate::kernels::mask;
use crate::state::{Kernel, State};
use enter::Entry;
use generate::generate;
use pages::Pages;
use shader::bytecode::{Code, CompiledCode, Op, Program, Reg};
use shader::isa::code::extension_words;
use simd::Level;
use x86::Target;

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

/// A segment that reads all lanes of quads.
struct QuadSegment {
    function: Function,
    /// Words of ops that it did, and a copy of the first of them, for a wave that does them one by one.
    words: u32,
    fallback: u32,
}

/// Compiled code: first byte of the registers, live warps, lanes that execute, and whose all that is.
type Function = unsafe extern "sysv64" fn(*mut u8, u32, *const u16, *mut State);

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
            // After all others: whoever jumps to the op that compares finds it where it was.
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

/// Puts the op at a loop's begin behind all others, for who runs the loop op by op: where it is then.
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

/// Puts an op behind all others, from where the wave goes on to what follows it in the program: where it is then.
fn first_again(program: &Program, code: &mut Vec<Op>, first: usize) -> u32 {
    let at = code.len() as u32;
    let after = first + 1 + extension_words(&program.code[first]);
    code.extend_from_slice(&program.code[first..after]);
    code.push(Op { imm: after as u32, ..Op::new(Code::JMP) });
    at
}

/// An op that has an address where others have registers.
fn with_address(code: Code, address: u64, imm: u32) -> Op {
    let part = |i: u32| Reg((address >> (16 * i)) as u16);
    Op { code, d: part(0), a: part(1), b: part(2), c: part(3), e: 0, imm }
}

/// The address of [`with_address`].
fn address_of(o: &Op) -> usize {
    o.d.0 as usize | (o.a.0 as usize) << 16 | (o.b.0 as usize) << 32 | (o.c.0 as usize) << 48
}

/// The kernel of [`Code::SEGMENT`].
///
/// # Safety
/// As [`crate::Kernel`]; the op is one of [`compile`]'s.
pub unsafe fn run(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    let o = unsafe { &*op };
    // SAFETY: where `compile` put a function, which lives as long as the op.
    let function: Function = unsafe { std::mem::transmute(address_of(o)) };
    // SAFETY: the state's registers and lanes; the code stays within what the program's ops name.
    unsafe { function(st.regs, st.live, st.exec.as_ptr(), st) };
    op.wrapping_add(o.imm as usize)
}

/// The kernel of [`Code::QUAD_SEGMENT`].
///
/// # Safety
/// As [`run`].
pub unsafe fn run_quads(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's; what `compile` put there lives as long as the op.
    let it = unsafe { &*(address_of(&*op) as *const QuadSegment) };
    if !mask::has_whole_quads(st) {
        return st.code.wrapping_add(it.fallback as usize);
    }
    // SAFETY: the state's registers and lanes; the code stays within what the program's ops name.
    unsafe { (it.function)(st.regs, st.live, st.exec.as_ptr(), st) };
    op.wrapping_add(it.words as usize)
}

/// Called by a segment's code: has a kernel do an op for one warp, whose registers are units of their own at `regs`.
///
/// # Safety
/// The state is that of a segment that runs; the kernel is the op's, which names units at `regs` and no other memory.
unsafe extern "sysv64" fn one(st: *mut State, op: *const Op, regs: *mut u8, kernel: usize) {
    // SAFETY: the caller's.
    let st = unsafe { &mut *st };
    let (own, live) = (std::mem::replace(&mut st.regs, regs), std::mem::replace(&mut st.live, 1));
    // SAFETY: the address of a kernel, of the level that the code is for.
    let kernel: Kernel = unsafe { std::mem::transmute(kernel) };
    // SAFETY: as above.
    unsafe { kernel(st, op) };
    (st.regs, st.live) = (own, live);
}

pub use enter::run as run_region;

/// Whether compiled code has the op, wherever its registers allow it.
pub fn has(code: Code) -> bool {
    crate::kernels::recording(code).is_some()
}

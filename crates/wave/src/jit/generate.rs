//! Machine code of a program: of its segments first, then of its loops.

use super::machine::{self, Target};
use super::nodes::body::Item;
use super::nodes::branch::Flow;
use super::nodes::live::Liveness;
use super::nodes::region::{self, Check};
use super::nodes::segment::{self, Draft};
use super::{cycle, emit};
use crate::kernels::compiled::Storage;
use crate::recording::{Node, Un};
use crate::state::Kernel;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::isa::code::extension_words;
use small_sort::SmallSort;

/// Fewer ops than that are as quick one by one.
const FEWEST: usize = 2;
/// Bytes of code of one program.
const MOST_BYTES: usize = 16 << 20;

/// A segment's code.
pub struct SegmentCode {
    /// Its first op, and where the interpreter goes on.
    pub first: usize,
    pub end: usize,
    /// As [`segment::Segment::split`].
    pub split: Option<Op>,
    /// It reads all lanes of quads.
    pub quads: bool,
    /// Where its function begins.
    pub at: usize,
}

/// A loop's code.
pub struct LoopCode {
    pub header: usize,
    pub places: Vec<Storage>,
    /// Ops at which the wave goes on: with lanes, and without any.
    pub exits: [u32; 2],
    /// Ops that its code has kernels do: the code has their addresses.
    pub ops: Box<[Op]>,
    /// Where its function begins.
    pub at: usize,
}

/// Code of a program, which may lie anywhere, aligned to 64.
#[derive(Default)]
pub struct Generated {
    pub bytes: Vec<u8>,
    pub segments: Vec<SegmentCode>,
    pub regions: Vec<LoopCode>,
    /// As [`LoopCode::ops`], of segments.
    pub ops: Vec<Box<[Op]>>,
    /// Branches within segments.
    pub branches: usize,
}

/// Source of a function, for listings.
pub enum Source<'a> {
    Segment(&'a segment::Segment),
    Loop(&'a region::Loop),
}

impl Generated {
    /// Adds a function: where it begins.
    fn add(&mut self, mut function: Vec<u8>) -> usize {
        let at = self.bytes.len();
        self.bytes.append(&mut function);
        self.bytes.resize(self.bytes.len().next_multiple_of(64), machine::FILL);
        at
    }
}

/// Generates code for all that is worth it. `see` is called with the source and the code of each function.
///
/// None if there is too much of it.
pub fn generate(
    program: &Program,
    target: Target,
    kernels: &[Kernel],
    mut see: impl FnMut(Source, &[u8]),
) -> Option<Generated> {
    let narrow = target.is_narrow();
    let liveness = Liveness::new(program)?;
    let mut made = Generated::default();
    // If code with branches within asked for too much, it is made without; if it meets its own registers, in pieces.
    let mut again = vec![(0, program.code.len())];
    for (branches, most) in [(true, usize::MAX), (false, usize::MAX), (false, 12), (false, 4)] {
        if again.is_empty() {
            break;
        }
        let flow = Flow::new(program, &liveness, branches);
        let mut drafts = vec![];
        for (first, end) in std::mem::take(&mut again) {
            let mut pc = first;
            while pc < end {
                match segment::draft(&program.code, &flow, pc, narrow, most) {
                    Some(d) => {
                        pc = d.end;
                        drafts.extend((d.ops >= FEWEST).then_some(d));
                    }
                    None => pc += 1 + extension_words(&program.code[pc]),
                }
            }
        }
        let mut drafts = drafts.into_iter().peekable();
        for (b, block) in liveness.blocks.iter().enumerate() {
            let mut here = vec![];
            // The last first, as liveness goes.
            while let Some(d) = drafts.next_if(|d: &Draft| d.last < block.end) {
                here.push(d);
            }
            if here.is_empty() {
                continue;
            }
            liveness.walk(b, |pc, live| {
                let Some(d) = here.pop_if(|d| d.last == pc) else { return };
                let place = (d.first, d.end);
                let Some(s) = d.finish(live) else { return again.push(place) };
                if s.body.each.len() < FEWEST || made.bytes.len() > MOST_BYTES {
                    return;
                }
                let own: Box<[Op]> = s.checks.iter().map(one_warp).collect();
                let Ok(function) = emit::compile(&s, target, &own, kernels) else { return again.push(place) };
                see(Source::Segment(&s), &function);
                let quads = s.body.nodes.iter().any(|n| matches!(n, Node::Un(Un::Quad(_), _)));
                made.branches += s.body.each.iter().filter(|i| matches!(i, Item::If(_))).count();
                let at = made.add(function);
                made.segments.push(SegmentCode { first: s.first, end: s.end, split: s.split, quads, at });
                made.ops.extend((!own.is_empty()).then_some(own));
            });
        }
        again.small_sort();
    }
    for body in region::loops(&liveness) {
        let Some(r) = region::build(program, &liveness, &body, narrow) else { continue };
        let ops: Box<[Op]> = r.checks.iter().map(one_warp).collect();
        if made.bytes.len() > MOST_BYTES {
            break;
        }
        let Ok(function) = cycle::compile(&r, target, &ops) else { continue };
        see(Source::Loop(&r), &function);
        let at = made.add(function);
        let exits = [0, 1].map(|i: usize| r.exits[i].as_ref().map_or(0, |e| e.0 as u32));
        made.regions.push(LoopCode { header: r.header, places: r.places, exits, ops, at });
    }
    Some(made)
}

/// The op of a check, for one warp whose registers are units of their own: two results, then the operands.
fn one_warp(check: &Check) -> Op {
    let r = |i: usize| Reg(if i < check.args.len() { 2 + i as u16 } else { 0 });
    let imm = |lo: usize, hi: usize| r(lo).0 as u32 | (r(hi).0 as u32) << 16;
    let op = Op { d: Reg(0), a: r(0), ..Op::new(check.code) };
    if check.results.len() == 2 {
        return Op { b: Reg(1), c: r(1), e: r(2).0, imm: imm(3, 4), ..op };
    }
    if (check.code.0 as usize) < Code::UNPAIRED {
        let arg = |i: usize| if i < check.args.len() { r(i) } else { Reg::NONE };
        return Op { b: arg(1), c: arg(2), ..op };
    }
    Op { b: r(1), c: r(2), e: r(3).0, imm: imm(4, 5), ..op }
}

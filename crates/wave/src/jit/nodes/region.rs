//! Regions: innermost loops that only compute and load, so that each warp may run them by itself.
//!
//! What a warp does there is what the interpreter would do with a wave of which no other warp is live: its ops look at nothing of
//! another warp's, and nobody sees in which order warps load. Uniform registers are each warp's own, for a loop's counter is
//! elsewhere for each; after the loop they hold what was written last, by the turns that warps were in.

use super::body::{Body, Item, units_of};
use super::live::{Liveness, Set};
use super::trace::Trace;
use crate::kernels::compiled::{MOST_STORAGES, Part, Storage};
use crate::kernels::mask_steps;
use crate::recording::{Id, Kind, Node};
use shader::bytecode::{Code, Program, Reg};
use shader::isa::code::extension_words;
use small_sort::SmallSort;

/// Where a block goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// At the region's block of this number.
    Block(usize),
    /// After the loop, with lanes or without any: at [`Loop::exits`] 0 and 1.
    Out(bool),
}

/// How a block ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    Go(To),
    /// As a truth that all lanes share says.
    If(Id, To, To),
    /// Some lanes execute, or none do ([`Item::Exec`] determined which).
    Any {
        some: To,
        none: To,
    },
    /// No lane executes.
    Park(To),
    /// Back to the loop's first block; counts at a row unless that is 0. The op, for the watchdog.
    Back {
        row: u16,
        to: To,
        op: u32,
    },
}

pub struct Block {
    pub body: Body,
    /// Where it is left if an [`Item::Test`] finds no lane.
    pub none: Option<To>,
    pub end: End,
}

/// One word of a load.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of its [`Storage`].
    pub place: u32,
    /// Added to the offset, once it has wrapped: words after the first.
    pub word: u32,
    /// Added to the offset.
    pub imm: u32,
    /// How the offset's lanes lie if all execute: `SHAPE_…`.
    pub shape: u16,
    /// How its accesses are counted, of a load's first word.
    pub counts: Option<Counts>,
    /// It is read together with others of its lane; [`Load::word`] is 0.
    pub part: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counts {
    /// One of which the lines are not told.
    Unknown,
    /// As the shape tells if all lanes of the wave execute, else as unknown.
    Shape,
    /// The lines of so many bytes at one offset.
    Bytes(u32),
}

/// An op that has a quick way for ordinary operands.
#[derive(Clone, Debug)]
pub struct Check {
    pub code: Code,
    pub args: Vec<Id>,
    pub results: Vec<Id>,
    /// Lanes for which the quick way is wrong.
    pub odd: Id,
}

pub struct Loop {
    /// Op at which it begins.
    pub header: usize,
    /// The first is the one that the loop comes back to.
    pub blocks: Vec<Block>,
    pub loads: Vec<Load>,
    pub checks: Vec<Check>,
    pub places: Vec<Storage>,
    /// Uniform registers that are written.
    pub uniforms: Vec<Reg>,
    /// Ops at which the wave goes on, with lanes and without, and what is read from there on.
    pub exits: [Option<(usize, Set)>; 2],
    /// Lanes may diverge.
    pub diverges: bool,
    /// Units of a varying register.
    pub warps: usize,
}

impl Loop {
    /// Whether a unit is read after the loop.
    pub fn read_later(&self, unit: usize) -> bool {
        self.exits.iter().flatten().any(|(_, live)| live.has(unit))
    }
}

/// Blocks of a region, and loads, at most.
pub const MOST_BLOCKS: usize = 64;
const MOST_LOADS: usize = 200;
/// Items of all blocks at most. Long stretches of arithmetic gain nothing from it: as segments several warps go side by side, and
/// nothing is kept from turn to turn that would fit in registers (`large` took 44 ms where they were regions too, 35 without).
/// Functions of a region with a way out for lanes out of the ordinary, at most.
const FEW_CHECKS: usize = 4;
const MOST_ITEMS: usize = 80;
/// The same of a loop that loads several scalars a lane, which the wave's registers need not keep then.
const MOST_ITEMS_OF_PARTS: usize = 320;
/// Words of code of a loop that it is looked at for: an op is an item or more, but for some moves.
const MOST_WORDS: usize = 2 * MOST_ITEMS;

/// The innermost loops, as numbers of their blocks in order.
pub fn loops(l: &Liveness) -> Vec<Vec<usize>> {
    let n = l.blocks.len();
    let mut reached = vec![false; n];
    let mut left: Vec<usize> = (0..n).filter(|b| l.begins(*b)).collect();
    while let Some(b) = left.pop() {
        if !std::mem::replace(&mut reached[b], true) {
            left.extend(l.blocks[b].next.iter().flatten());
        }
    }
    let mut preds = vec![vec![]; n];
    for b in (0..n).filter(|b| reached[*b]) {
        for &t in l.blocks[b].next.iter().flatten() {
            preds[t].push(b);
        }
    }
    let heads = |b: usize| preds[b].iter().any(|p| *p >= b);
    let mut all = vec![];
    for h in (0..n).filter(|b| heads(*b)) {
        let mut body = vec![h];
        let mut left: Vec<usize> = preds[h].iter().copied().filter(|p| *p >= h).collect();
        let mut fits = true;
        while let Some(b) = left.pop() {
            if body.contains(&b) {
                continue;
            }
            body.push(b);
            // Another loop within, or another way in.
            fits &= b > h && !heads(b) && body.len() <= MOST_BLOCKS;
            if !fits {
                break;
            }
            left.extend(&preds[b]);
        }
        if fits {
            body.small_sort();
            all.push(body);
        }
    }
    all
}

/// Exits of a region being made.
struct Ways<'l, 'p> {
    liveness: &'l Liveness<'p>,
    body: &'l [usize],
    exits: [Option<(usize, Set)>; 2],
}

impl Ways<'_, '_> {
    /// Where block `b` (of all) is, for who goes there with lanes or without; none where exits of one kind lead to several places.
    fn to(&mut self, b: usize, lanes: bool) -> Option<To> {
        if let Some(i) = self.body.iter().position(|x| *x == b) {
            return Some(To::Block(i));
        }
        let block = self.liveness.blocks.get(b)?;
        let exit = &mut self.exits[!lanes as usize];
        match exit {
            Some((pc, _)) if *pc != block.first => return None,
            Some(_) => (),
            None => *exit = Some((block.first, block.before.clone())),
        }
        Some(To::Out(lanes))
    }
}

/// The loop of these blocks as a region; none for one that does more than a region may.
///
/// Of many functions each has the way that is right for all lanes: it would be left too often for one with a lane out of the ordinary.
pub fn build(program: &Program, liveness: &Liveness, body: &[usize], narrow: bool) -> Option<Loop> {
    let region = built(program, liveness, body, narrow, false)?;
    let many = region.checks.len() > FEW_CHECKS && !narrow;
    if many { built(program, liveness, body, narrow, true) } else { Some(region) }
}

fn built(
    program: &Program,
    liveness: &Liveness,
    body: &[usize],
    narrow: bool,
    one_way: bool,
) -> Option<Loop> {
    let code = &program.code;
    if code[liveness.blocks[body[0]].first].code == Code::LOOP {
        // Of who runs the loop op by op a copy of its first op is run, and the watchdog is told which op was the last.
        return None;
    }
    if body.iter().map(|b| &liveness.blocks[*b]).map(|b| b.end - b.first).sum::<usize>() > MOST_WORDS {
        return None;
    }
    let consts = super::registers::consts(program);
    let mut ways = Ways { liveness, body, exits: [None, None] };
    let mut region = Loop {
        header: liveness.blocks[body[0]].first,
        blocks: vec![],
        loads: vec![],
        checks: vec![],
        places: vec![],
        uniforms: vec![],
        exits: [None, None],
        diverges: false,
        warps: program.lanes as usize / 16,
    };
    // Bools of which it is not known that they are no uniform ones.
    let mut unsure = vec![];
    let mut same_loads = false;
    for &b in body {
        let at = &liveness.blocks[b];
        let mut trace = Trace::new(narrow, one_way, consts.clone());
        let (mut pc, mut end) = (at.first, None);
        while pc < at.end {
            let after = pc + 1 + extension_words(&code[pc]);
            let fall = |ways: &mut Ways| at.next[0].and_then(|b| ways.to(b, true));
            let jump = |ways: &mut Ways, lanes: bool| at.next[1].and_then(|b| ways.to(b, lanes));
            let op = &code[pc];
            let ext = || code[pc + 1].regs();
            match op.code.unfused() {
                Code::JMP => end = Some(End::Go(jump(&mut ways, true)?)),
                Code::CMP_JMP => {
                    let c = trace.condition(op)?;
                    end = Some(End::If(trace.shared(c)?, jump(&mut ways, true)?, fall(&mut ways)?));
                }
                Code::JMP_IF => {
                    let c = trace.value(op.a, Kind::Mask);
                    end = Some(End::If(c, jump(&mut ways, true)?, fall(&mut ways)?));
                }
                Code::JMP_UNLESS => {
                    let c = trace.value(op.a, Kind::Mask);
                    end = Some(End::If(c, fall(&mut ways)?, jump(&mut ways, true)?));
                }
                Code::SPLIT_RARE | Code::CMP_SPLIT_RARE => {
                    let (c, yes, no) = match op.code {
                        Code::SPLIT_RARE => (trace.value(op.a, Kind::Mask), op.d, op.b),
                        _ => (trace.condition(op)?, ext()[0], ext()[1]),
                    };
                    let none = jump(&mut ways, true)?;
                    mask_steps::split(&mut trace, c, yes, no, true);
                    end = Some(End::Go(fall(&mut ways)?));
                    trace.none = Some(none);
                    region.diverges = true;
                }
                Code::SPLIT | Code::CMP_SPLIT => {
                    let (c, yes, no) = match op.code {
                        Code::SPLIT => (trace.value(op.a, Kind::Mask), op.d, op.b),
                        _ => (trace.condition(op)?, ext()[0], ext()[1]),
                    };
                    mask_steps::split(&mut trace, c, yes, no, false);
                    end = Some(End::Any { some: fall(&mut ways)?, none: jump(&mut ways, false)? });
                    region.diverges = true;
                }
                Code::PARK_IF | Code::CMP_PARK => {
                    let (c, to) = match op.code {
                        Code::PARK_IF => (trace.value(op.a, Kind::Mask), op.b),
                        _ => (trace.condition(op)?, ext()[0]),
                    };
                    mask_steps::park_if(&mut trace, c, to);
                    end = Some(End::Any { some: fall(&mut ways)?, none: jump(&mut ways, false)? });
                    region.diverges = true;
                }
                Code::PARK => {
                    mask_steps::wait(&mut trace, op.d);
                    end = Some(End::Park(jump(&mut ways, false)?));
                    region.diverges = true;
                }
                Code::SETEXEC | Code::JOIN => {
                    mask_steps::set_exec(&mut trace, op.a, op.code == Code::JOIN);
                    end = Some(End::Any { some: fall(&mut ways)?, none: jump(&mut ways, false)? });
                    region.diverges = true;
                }
                Code::LOOP if op.a.is_none() => {
                    end = Some(End::Back { row: op.e, to: jump(&mut ways, true)?, op: pc as u32 });
                }
                Code::LOOP_NEXT => {
                    trace.sum(op)?;
                    // It does the comparison where it leads.
                    let test = at.next[0].and_then(|b| ways.to(b, true))?;
                    end = Some(End::Back { row: op.e, to: test, op: pc as u32 });
                }
                Code::TALLY if op.e == 0 => trace.tally(u16::try_from(op.imm).ok()?),
                Code::LD_BUF | Code::LD_SHARED | Code::LD_PUSH => {
                    let ext = &code[pc + 1..after];
                    same_loads |= trace.load(op, ext, &mut region.loads, &mut region.places)?;
                }
                _ => trace.op(op, &mut region.checks)?,
            }
            if region.loads.len() > MOST_LOADS || region.places.len() > MOST_STORAGES {
                return None;
            }
            pc = after;
        }
        let end = match end {
            Some(end) => end,
            None => End::Go(at.next[0].and_then(|b| ways.to(b, true))?),
        };
        let none = trace.none;
        let body = trace.finish(&liveness.behind(b), &region.checks, &region.loads, end, &mut unsure);
        region.blocks.push(Block { body, none, end });
    }
    region.exits = ways.exits;
    let parts = region.loads.iter().any(|l| l.part.is_some());
    let most = if parts { MOST_ITEMS_OF_PARTS } else { MOST_ITEMS };
    if region.blocks.iter().map(|b| b.body.each.len()).sum::<usize>() > most {
        return None;
    }
    // Whether all lanes of the wave execute is not one warp's to know, where lanes go apart.
    if region.diverges && region.loads.iter().any(|l| l.counts == Some(Counts::Shape)) {
        return None;
    }
    if overlap(&region) {
        return None;
    }
    for item in region.blocks.iter().flat_map(|b| &b.body.each) {
        if let Item::Store(r, _) = item
            && r.is_uniform()
            && !region.uniforms.contains(r)
        {
            region.uniforms.push(*r);
        }
        // Each warp's own are words.
        if let Item::Wide(r, ..) = item
            && r.is_uniform()
        {
            return None;
        }
    }
    // What others store meanwhile each warp would find at another time.
    let differs = same_loads && region.uniforms.iter().any(|r| region.read_later(r.unit()));
    if differs || unsure.iter().any(|unit| region.read_later(*unit)) {
        return None;
    }
    Some(region)
}

/// Whether different registers share units. What one warp leaves in one of them another's turn would overwrite, which all warps of
/// a wave have behind them by then.
fn overlap(region: &Loop) -> bool {
    // By first unit: one past the last, and how it lies.
    let mut all: Vec<(usize, usize, Kind)> = vec![];
    let mut note = |r: Reg, kind: Kind| {
        let units = units_of(r, kind, region.warps);
        let it = (units.start, units.end, kind);
        if !all.contains(&it) {
            all.push(it);
        }
    };
    for body in region.blocks.iter().map(|b| &b.body) {
        for node in &body.nodes {
            match *node {
                Node::Word(r) => note(r, Kind::Word),
                Node::Mask(r) => note(r, Kind::Mask),
                Node::Part(r, _) => note(r, Kind::Wide),
                _ => (),
            }
        }
        for item in &body.each {
            match *item {
                Item::Store(r, id) => note(r, body.nodes[id as usize].kind()),
                Item::Wide(r, ..) => note(r, Kind::Wide),
                _ => (),
            }
        }
    }
    all.small_sort();
    all.windows(2).any(|w| w[1].0 < w[0].1)
}

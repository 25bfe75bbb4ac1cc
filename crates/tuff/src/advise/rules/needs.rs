//! What runs have to wait for, by what they read and write.

use crate::advise::Case;
use crate::advise::facts::{Uses, how};
use schedule::Step;
use std::collections::{BTreeMap, HashMap};

/// Stages by kind, as bits.
pub const VERTEX: u32 = 1;
pub const FRAGMENT: u32 = 2;
pub const COLOUR: u32 = 4;
pub const DEPTH: u32 = 8;
pub const COMPUTE: u32 = 16;
pub const TRANSFER: u32 = 32;
const EVERYTHING: u32 = 63;

/// Stages as VkPipelineStageFlagBits2, and as they are called.
const STAGES: [(u32, u64, &str); 6] = [
    // DRAW_INDIRECT, VERTEX_INPUT, PRE_RASTERIZATION_SHADERS
    (VERTEX, 0x2 | 0x4 | 0x40_0000_0000, "DRAW_INDIRECT | VERTEX_INPUT | PRE_RASTERIZATION_SHADERS"),
    (FRAGMENT, 0x80, "FRAGMENT_SHADER"),
    (COLOUR, 0x400, "COLOR_ATTACHMENT_OUTPUT"),
    (DEPTH, 0x100 | 0x200, "EARLY_FRAGMENT_TESTS | LATE_FRAGMENT_TESTS"),
    (COMPUTE, 0x800, "COMPUTE_SHADER"),
    (TRANSFER, 0x1000, "ALL_TRANSFER"),
];

pub fn flags(kinds: u32) -> u64 {
    STAGES.iter().filter(|s| kinds & s.0 != 0).fold(0, |f, s| f | s.1)
}

pub fn names(kinds: u32) -> String {
    let all: Vec<&str> = STAGES.iter().filter(|s| kinds & s.0 != 0).map(|s| s.2).collect();
    if all.is_empty() { "NONE".into() } else { all.join(" | ") }
}

/// Kinds that flags name, in the first or the second scope of a dependency: the begin of the pipe is nothing of the first, its end nothing of the second.
pub fn kinds(flags: u64, first: bool) -> u32 {
    const ALL_GRAPHICS: u64 = 0x8000;
    const ALL_COMMANDS: u64 = 0x1_0000;
    let pipe = if first { 0x2000 } else { 0x1 };
    // VERTEX_SHADER to GEOMETRY_SHADER, INDEX_INPUT, VERTEX_ATTRIBUTE_INPUT; COPY, RESOLVE, BLIT, CLEAR.
    const EARLY: u64 = 0x2 | 0x4 | 0x78 | 0x10_0000_0000 | 0x20_0000_0000 | 0x40_0000_0000;
    const MOVES: u64 = 0x1000 | 0x1_0000_0000 | 0x2_0000_0000 | 0x4_0000_0000 | 0x8_0000_0000;
    if flags & (ALL_COMMANDS | pipe) != 0 {
        return EVERYTHING;
    }
    let mut all = 0;
    for (kind, bits) in [
        (VERTEX, EARLY),
        (FRAGMENT, 0x80),
        (COLOUR, 0x400),
        (DEPTH, 0x300),
        (COMPUTE, 0x800),
        (TRANSFER, MOVES),
    ] {
        all |= if flags & bits != 0 { kind } else { 0 };
    }
    if flags & ALL_GRAPHICS != 0 { all | VERTEX | FRAGMENT | COLOUR | DEPTH } else { all }
}

/// Kinds of stages that read by these uses, and that write. `attachment`: the kind of those of an attachment.
fn of(h: u32, attachment: u32) -> [u32; 2] {
    let pick = |pairs: &[(u32, u32)]| pairs.iter().filter(|p| h & p.0 != 0).fold(0, |all, p| all | p.1);
    // An attachment is written at the end of tiles and when it is cleared, whether or not it is stored.
    let attached = how::LOADED | how::STORED | how::UNLOADED | how::UNSTORED;
    [
        pick(&[
            (how::VERTEX_READ, VERTEX),
            (how::FRAGMENT_READ, FRAGMENT),
            (how::COMPUTE_READ, COMPUTE),
            (how::TRANSFER_READ, TRANSFER),
            (how::LOADED, attachment),
        ]),
        pick(&[
            (how::VERTEX_WRITE, VERTEX),
            (how::FRAGMENT_WRITE, FRAGMENT),
            (how::COMPUTE_WRITE, COMPUTE),
            (how::TRANSFER_WRITE, TRANSFER),
            (attached, attachment),
        ]),
    ]
}

/// The last writers of something, and its readers since, with the places of their jobs.
#[derive(Clone, Copy, Default)]
struct State {
    wrote: (u32, usize),
    read: (u32, usize),
}

impl State {
    /// Something uses it: `found` hears of what it has to wait for, kinds of stages and the place of the job, and of its own stages.
    fn used(&mut self, at: usize, [reads, writes]: [u32; 2], found: &mut impl FnMut((u32, usize), u32)) {
        if self.wrote.0 != 0 && reads | writes != 0 {
            found(self.wrote, reads | writes);
        }
        if self.read.0 != 0 && writes != 0 {
            found(self.read, writes);
        }
        if writes != 0 {
            *self = State { wrote: (writes, at), read: (0, 0) };
        } else if reads != 0 {
            self.read = (self.read.0 | reads, at);
        }
    }
}

/// Images by number, buffers by their bytes.
#[derive(Default)]
struct Memory {
    images: HashMap<usize, State>,
    /// Do not overlap; by first byte, with the end.
    buffers: BTreeMap<u64, (u64, State)>,
    /// What may have used anything.
    anything: State,
}

impl Memory {
    /// States of all that overlaps, which are cut at the ends.
    fn buffer(&mut self, from: u64, end: u64, mut f: impl FnMut(&mut State)) {
        for at in [from, end] {
            let cut = self.buffers.range(..at).next_back().filter(|(_, (e, _))| *e > at);
            if let Some((begin, (e, state))) = cut.map(|(b, s)| (*b, *s)) {
                self.buffers.insert(begin, (at, state));
                self.buffers.insert(at, (e, state));
            }
        }
        let mut at = from;
        while at < end {
            let next = self.buffers.range(at..end).next().map(|(b, (e, _))| (*b, *e));
            match next {
                Some((b, e)) if b == at => at = e,
                Some((b, _)) => {
                    self.buffers.insert(at, (b, State::default()));
                    at = b;
                }
                None => {
                    self.buffers.insert(at, (end, State::default()));
                    at = end;
                }
            }
        }
        self.buffers.range_mut(from..end).for_each(|(_, (_, state))| f(state));
    }

    /// The job at a place uses things; `found` as of [`State::used`].
    fn run(
        &mut self,
        at: usize,
        uses: &Uses,
        attachment: impl Fn(usize) -> u32,
        found: &mut impl FnMut((u32, usize), u32),
    ) {
        let mut own = [0; 2];
        let mut all = |[reads, writes]: [u32; 2]| own = [own[0] | reads, own[1] | writes];
        for (i, h) in &uses.images {
            let of = of(*h, attachment(*i));
            all(of);
            self.images.entry(*i).or_default().used(at, of, found);
        }
        for (from, end, h) in &uses.buffers {
            let of = of(*h, 0);
            all(of);
            self.buffer(*from, *end, |state| state.used(at, of, found));
        }
        // It comes after what may have used anything, ...
        let anything = self.anything;
        if anything.wrote.0 != 0 && own[0] | own[1] != 0 {
            found(anything.wrote, own[0] | own[1]);
        }
        if anything.read.0 != 0 && own[1] != 0 {
            found(anything.read, own[1]);
        }
        // ... and if it may itself, after everything.
        let [reads, writes] = of(uses.anything, 0);
        if reads | writes != 0 {
            for state in self.images.values().chain(self.buffers.values().map(|b| &b.1)) {
                state.clone().used(at, [reads, writes], found);
            }
            self.anything.used(at, [reads, writes], found);
        }
    }
}

/// Of a device's steps that order work, the stages of earlier work that later work needs to have ended, and the stages of later work that need it.
pub struct Needs {
    /// Of barriers.
    pub barriers: HashMap<usize, [u32; 2]>,
    /// Of waits of the host: what no barrier orders.
    pub floors: HashMap<usize, [u32; 2]>,
}

/// What needs something that was used before needs the first barrier between the two that orders it. Work whose uses the capture does not have needs
/// everything.
pub fn needs(case: &Case, device: usize) -> Needs {
    let uses: HashMap<u64, &Uses> = case.uses().collect();
    let attachment = |i: usize| if case.image(i).usage.contains("DEPTH_STENCIL") { DEPTH } else { COLOUR };
    let mut memory = Memory::default();
    // By queue: place, first and second kinds.
    let mut barriers: HashMap<usize, Vec<(usize, u32, u32)>> = HashMap::new();
    let mut floors: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut found = Needs { barriers: HashMap::new(), floors: HashMap::new() };
    for (n, (queue, step)) in case.steps.devices[device].iter().enumerate() {
        match step {
            Step::Barrier(src, dst) => {
                barriers.entry(*queue).or_default().push((n, kinds(*src, true), kinds(*dst, false)));
                found.barriers.insert(n, [0; 2]);
            }
            Step::Floor(_) => {
                floors.entry(*queue).or_default().push(n);
                found.floors.insert(n, [0; 2]);
            }
            Step::Job { order, .. } => {
                let own = barriers.get(queue).map_or(&[][..], |b| b);
                let waits = floors.get(queue).map_or(&[][..], |f| f);
                let need = &mut found;
                let mut each = |(first, at): (u32, usize), second: u32| {
                    for (s, d) in pairs(first, second) {
                        let after = own.partition_point(|b| b.0 < at);
                        let by = own[after..].iter().find(|b| b.1 & s != 0 && b.2 & d != 0);
                        let step = match by {
                            Some(b) => need.barriers.get_mut(&b.0),
                            None => waits.iter().find(|f| **f > at).and_then(|f| need.floors.get_mut(f)),
                        };
                        if let Some(all) = step {
                            *all = [all[0] | s, all[1] | d];
                        }
                    }
                };
                match uses.get(order) {
                    Some(u) => memory.run(n, u, attachment, &mut each),
                    None => each((EVERYTHING, 0), EVERYTHING),
                }
            }
            _ => {}
        }
    }
    found
}

/// Each of some kinds with each of others.
fn pairs(first: u32, second: u32) -> impl Iterator<Item = (u32, u32)> {
    let bits = |of: u32| STAGES.iter().map(|s| s.0).filter(move |k| of & k != 0);
    bits(first).flat_map(move |s| bits(second).map(move |d| (s, d)))
}

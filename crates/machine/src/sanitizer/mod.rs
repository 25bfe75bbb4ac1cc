//! What sanitised shaders do wrong (`TUFF_SANITIZE`): a wave's probes against the rules of the crate `sanitize`.

mod plain;
mod tell;
mod texels;

use crate::footprint;
use crate::lost::{Place, Title};
use parking_lot::Mutex;
use sanitize::hazards;
use sanitize::{
    Access, Barriers, Conflict, Divergence, Finding, Findings, Invocation, Kind, Location, Memory, Order,
    Races, Space, Texel, Told, What,
};
use shader::bytecode::Program;
use shader::ir::{Decides, ProbeOp, Region, Site, Stage, Undefined};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use tell::{DERIVATIVE, location, missing_of_quads, nothing, race, told_as, what};
use texel::memory::poison;
use wave::{ProbeWave, Table};

pub use tell::{stopped, unused};

/// Whether shaders are to be sanitised.
pub fn wanted() -> bool {
    settings::get().sanitize.is_some()
}

/// What was found in this process so far.
#[derive(Default)]
pub struct Found {
    pub findings: Mutex<Findings>,
    /// Accesses that were checked.
    pub accesses: AtomicU64,
    /// What pipelines' programs are called, by their places in memory: that of their last pipeline.
    names: Mutex<HashMap<usize, String>>,
    /// Dispatches whose later accesses were not compared with each other.
    pub unfollowed: AtomicU64,
}

pub static FOUND: LazyLock<Found> = LazyLock::new(Found::default);

/// What the rules know of a dispatch, or of the draws that run under one host.
pub struct Sanitizer {
    command: String,
    /// Device addresses that the dispatch may write, if that is known.
    written: Option<Vec<Range<u64>>>,
    races: Mutex<Races>,
    /// Of a dispatch: the barriers of its workgroups, and the program's sites and name for what is told at its end.
    barriers: Option<(Mutex<Barriers>, Ended)>,
    /// Fragments that have begun.
    begun: AtomicU32,
    /// The draw whose fragments run, and the command that drew it; 0: those of several.
    draw: Mutex<(u32, Option<Arc<str>>)>,
    /// What programs that ran write, by their places in memory.
    writes: Mutex<HashMap<usize, Writes>>,
}

/// What a dispatch's last findings need of its program.
struct Ended {
    sites: Vec<(u32, Location)>,
    pipeline: String,
    stage: &'static str,
}

/// Memory that others see too.
#[derive(Clone, Copy)]
struct Writes {
    any: bool,
    texels: bool,
}

/// Notes which pipeline programs belong to, before they run.
pub fn name<'a>(programs: impl IntoIterator<Item = &'a Program>, pipeline: &Title) {
    let called = pipeline.steady();
    let mut names = FOUND.names.lock();
    for program in programs {
        names.insert(std::ptr::from_ref(program).addr(), called.clone());
    }
}

fn called(program: &Program) -> String {
    FOUND.names.lock().get(&std::ptr::from_ref(program).addr()).cloned().unwrap_or_default()
}

/// The numbers of a finding's invocations, in stages that have them.
fn numbers<const N: usize>(program: &Program, of: [Option<Invocation>; N]) -> Vec<[u32; 2]> {
    let known = of.into_iter().flatten().filter(|_| program.stage.has_workgroups());
    known.map(|i| [i.group, i.local]).collect()
}

/// One lane's access, as its probe tells it.
struct Lane {
    by: Invocation,
    offset: u64,
    /// Bytes of the buffer or of the workgroup's memory.
    size: Option<u64>,
    texel: Option<Texel>,
}

/// The numbers of a warp's lanes.
struct Who {
    group: u32,
    subgroup: u32,
    locals: [u32; 16],
}

impl Who {
    fn lane(&self, l: usize) -> Invocation {
        Invocation { group: self.group, local: self.locals[l] }
    }
}

impl Sanitizer {
    /// Of a dispatch of this program.
    pub fn of_dispatch(place: &Place, pipeline: &Title, program: &Program, tables: &[Table]) -> Sanitizer {
        name([program], pipeline);
        let written = written(program, tables);
        let at_barrier =
            |(i, s): (usize, &Site)| (s.op == ProbeOp::Barrier).then(|| (i as u32, location(program, s)));
        let sites: Vec<_> = program.sites.iter().enumerate().filter_map(at_barrier).collect();
        let ended = Ended { sites, pipeline: called(program), stage: program.stage.name() };
        let (races, draw, writes, begun) = Default::default();
        let barriers = Some((Mutex::default(), ended));
        Sanitizer { command: place.steady(), written, races, barriers, begun, draw, writes }
    }

    /// Of draws or rays, whose invocations are not compared with each other; `command`: what they run for.
    pub fn of_others(command: String) -> Sanitizer {
        let races = Mutex::new(Races::of_draws());
        let (draw, writes, begun) = Default::default();
        Sanitizer { command, written: Some(vec![]), races, barriers: None, begun, draw, writes }
    }

    /// The fragments of a draw are shaded from now on, or (`None`) those of several, which write no memory.
    pub fn draws(&self, draw: Option<(u64, &Place)>) {
        *self.draw.lock() = match draw {
            Some((serial, place)) => (serial as u32, Some(place.steady().into())),
            None => (0, None),
        };
    }

    /// What a program writes. Only of stages whose invocations are compared is anything said.
    fn writes_of(&self, program: &Program) -> Writes {
        let look = || {
            let compared = program.stage.has_workgroups() || program.stage == Stage::Fragment;
            let writes = |s: &&Site| matches!(s.op, ProbeOp::Write | ProbeOp::Atomic) && compared;
            let mut all = program.sites.iter().filter(writes).filter(|s| s.region != Region::Shared);
            let texels = all.clone().any(|s| s.region == Region::Image);
            Writes { any: all.next().is_some(), texels }
        };
        *self.writes.lock().entry(std::ptr::from_ref(program).addr()).or_insert_with(look)
    }

    fn command(&self) -> String {
        self.draw.lock().1.as_deref().unwrap_or(&self.command).to_string()
    }

    /// The numbers of lanes of warp `warp`, by what probes say.
    #[inline]
    fn who(
        &self,
        program: &Program,
        warp: usize,
        groups: &[u32; 16],
        numbers: &[u32; 16],
        lanes: u16,
    ) -> Who {
        let leader = lanes.trailing_zeros() as usize & 15;
        let mut locals = *numbers;
        for n in &mut locals {
            *n &= 0xFFFF;
        }
        if program.stage != Stage::Fragment {
            // A warp is of one workgroup, and is one of its subgroups.
            return Who { group: groups[leader], subgroup: numbers[leader] >> 16, locals };
        }
        let first = self.begun.load(Relaxed).wrapping_add(16 * warp as u32);
        let locals = match groups[leader] {
            0 => std::array::from_fn(|l| first.wrapping_add(l as u32) & 0xFFFF),
            _ => locals,
        };
        // Of fragments that share a warp, subgroup operations order accesses as of others.
        let subgroup = (first / 16) & 0xFF;
        Who { group: self.draw.lock().0, subgroup, locals }
    }

    /// Hears what a wave is about to do.
    pub fn probe(&self, wave: &ProbeWave) {
        let site = wave.site();
        if site.op == ProbeOp::Begin {
            // As many as a wave has at most.
            self.begun.fetch_add(16 * 32, Relaxed);
            return;
        }
        if let Some((base, span, accesses)) = self.harmless(wave, site) {
            FOUND.accesses.fetch_add(accesses, Relaxed);
            footprint::reads(wave, site, base, &span);
            return;
        }
        let mut races = self.races.lock();
        races.step();
        let mut accesses = 0;
        let buffer = if site.op == ProbeOp::Read && site.is_buffer() { wave.buffer() } else { None };
        let fragment = wave.program.stage == Stage::Fragment;
        let written = fragment && self.writes_of(wave.program).any;
        for (warp, lanes) in wave.warps() {
            if let Some(buffer) = buffer
                && !written
                && self.is_harmless(wave, site, warp, lanes, buffer)
            {
                let offsets = wave.operand(0, warp);
                let addresses = offsets.map(|o| buffer[0] + o as u64 + site.offset as u64);
                footprint::buffer(wave.program, hazards::What::Read, lanes, &addresses, site.bytes as u64);
                accesses += lanes.count_ones() as u64;
                continue;
            }
            if !fragment && self.plain(wave, site, warp, lanes, &mut races) {
                accesses += 16;
                continue;
            }
            let of = |k: usize| wave.operand(k, warp);
            let first = site.op.operands() - 2;
            let who = self.who(wave.program, warp, &of(first), &of(first + 1), lanes);
            match site.op {
                ProbeOp::Barrier => {
                    races.barrier(who.group, who.subgroup);
                    self.barrier(wave, lanes, &who);
                }
                ProbeOp::Fence | ProbeOp::Quad => {
                    races.fence(who.group, who.subgroup, order(site));
                    if fragment && site.op == ProbeOp::Quad {
                        self.quads(wave, warp, lanes);
                    }
                }
                ProbeOp::Begin => {}
                ProbeOp::Fault => {
                    let (born, values) = (of(0), of(1));
                    let faulty = (0..16).filter(|l| lanes >> l & 1 == 1 && born[*l] != 0);
                    faulty.for_each(|l| self.fault(wave, site, born[l], values[l], who.lane(l)));
                }
                ProbeOp::Read | ProbeOp::Write | ProbeOp::Atomic => {
                    accesses += lanes.count_ones() as u64;
                    self.access(wave, warp, lanes, &who, &mut races, written);
                }
            }
        }
        if accesses != 0 {
            FOUND.accesses.fetch_add(accesses, Relaxed);
        }
    }

    /// `written`: the memory that fragments read may be any that they write.
    fn access(&self, wave: &ProbeWave, warp: usize, lanes: u16, who: &Who, races: &mut Races, written: bool) {
        let site = wave.site();
        // An access's constant offset may take the sum round 2³², as the op's own addition does.
        // (Plain loops become vectors, closures over arrays calls.)
        let mut offsets = [0; 16];
        for (to, o) in offsets.iter_mut().zip(&wave.operand(0, warp)) {
            *to = o.wrapping_add(site.offset) as u64;
        }
        let bytes = site.bytes as u64;
        let (mut addresses, mut good) = (offsets, lanes);
        match site.region {
            Region::Buffer => {
                let buffers = match wave.buffer() {
                    Some(buffer) => [buffer; 16],
                    None => wave.buffers(warp, lanes),
                };
                for l in 0..16 {
                    let [base, size] = buffers[l];
                    addresses[l] = base.wrapping_add(offsets[l]);
                    good &= !(((offsets[l] + bytes > size) as u16) << l);
                }
                for l in (0..16).filter(|l| (lanes & !good) >> l & 1 == 1) {
                    let [base, size] = buffers[l];
                    let lane = Lane { by: who.lane(l), offset: offsets[l], size: Some(size), texel: None };
                    self.outside(wave, site, &lane, base == 0);
                }
            }
            Region::Shared => {
                let size = site.shared_bytes as u64;
                for (l, offset) in offsets.iter().enumerate() {
                    good &= !(((offset + bytes > size) as u16) << l);
                }
                for l in (0..16).filter(|l| (lanes & !good) >> l & 1 == 1) {
                    let lane = Lane { by: who.lane(l), offset: offsets[l], size: Some(size), texel: None };
                    self.outside(wave, site, &lane, false);
                }
            }
            Region::Global => {
                let more = site.offset as i32 as i64 as u64;
                for (to, a) in addresses.iter_mut().zip(&wave.addresses(warp)) {
                    *to = a.wrapping_add(more);
                }
            }
            // Checks tell of texels.
            Region::Image => return,
        }
        if site.region != Region::Shared {
            let what = match site.op {
                ProbeOp::Read => hazards::What::Read,
                ProbeOp::Write => hazards::What::Write,
                _ => hazards::What::Atomic,
            };
            footprint::buffer(wave.program, what, good, &addresses, bytes);
        }
        // Invocations of other stages have no numbers.
        if good == 0 || !(wave.program.stage.has_workgroups() || written) {
            return;
        }
        let what = match site.op {
            ProbeOp::Read => What::Read,
            ProbeOp::Write => What::Write,
            _ => What::Atomic,
        };
        let shared = site.region == Region::Shared;
        if what == What::Read && !shared && !written && !self.may_be_written(&addresses, good, bytes) {
            return;
        }
        let stored = wave.operand(1, warp);
        let access = Access {
            what,
            group: who.group,
            subgroup: who.subgroup,
            shared,
            bytes: site.bytes,
            site: wave.site,
            lanes: good,
            locals: &who.locals,
            addresses: &addresses,
            values: site.tells.then_some(&stored),
            order: order(site),
        };
        let compute = wave.program.stage.has_workgroups();
        races.access(&access, |l, told, conflict| {
            if told == Told::Dead && !compute {
                return;
            }
            let (kind, message) = told_as(told, || race(wave.program, &conflict, what, who.group));
            let size = match site.region {
                Region::Buffer => Some(wave.buffers(warp, 1 << l)[l][1]),
                Region::Shared => Some(site.shared_bytes as u64),
                Region::Global | Region::Image => None,
            };
            let offset = if site.region == Region::Global { addresses[l] } else { offsets[l] };
            let lane = Lane { by: who.lane(l), offset, size, texel: None };
            self.found(wave.program, site, kind, message, &lane, Some(conflict));
        });
    }

    /// A subgroup is at a barrier of its workgroup.
    fn barrier(&self, wave: &ProbeWave, lanes: u16, who: &Who) {
        let Some((barriers, _)) = &self.barriers else { return };
        let size: u32 = wave.program.workgroup.iter().product();
        let own = size.saturating_sub(16 * who.subgroup).min(16);
        let all = ((1u32 << own) - 1) as u16;
        let subgroups = [who.subgroup, size.div_ceil(16)];
        let Some(wrong) = barriers.lock().pass(who.group, subgroups, wave.site, [lanes, all]) else { return };
        let (message, other) = match wrong {
            Divergence::Elsewhere(site) => {
                ("subgroups of one workgroup are at different barriers", Some(site))
            }
            _ => ("a barrier that some invocations of the workgroup do not reach", None),
        };
        let leader = lanes.trailing_zeros() as usize & 15;
        self.diverges(wave.program, wave.site(), message, who.lane(leader), other);
    }

    /// Fragments take values of others of their quads.
    fn quads(&self, wave: &ProbeWave, warp: usize, lanes: u16) {
        if missing_of_quads(wave.executing(warp), lanes, wave.alive(warp)) != 0 {
            let by = Invocation { group: 0, local: 0 };
            self.diverges(wave.program, wave.site(), DERIVATIVE, by, None);
        }
    }

    fn diverges(&self, program: &Program, site: &Site, message: &str, by: Invocation, other: Option<u32>) {
        FOUND.findings.lock().add(Finding {
            kind: Kind::Divergence,
            message: message.into(),
            pipeline: called(program),
            stage: program.stage.name().into(),
            command: self.command(),
            here: location(program, site),
            there: other.and_then(|o| Some(location(program, program.sites.get(o as usize)?))),
            invocations: numbers(program, [Some(by)]),
            memory: nothing(),
            between: None,
            count: 1,
        });
    }

    /// An access outside its buffer or the workgroup's memory.
    fn outside(&self, wave: &ProbeWave, site: &Site, lane: &Lane, null: bool) {
        let (kind, message) = match null {
            true => (Kind::NullDescriptor, "a descriptor that names no buffer is used".to_string()),
            false => (Kind::OutOfBounds, format!("{} of {} bytes past the end", what(site.op), site.bytes)),
        };
        self.found(wave.program, site, kind, message, lane, None);
    }

    /// A value that is undefined decides something.
    fn fault(&self, wave: &ProbeWave, site: &Site, born: u32, value: u32, by: Invocation) {
        let Some(decides) = site.decides else { return };
        let birth = born.checked_sub(2).and_then(|b| wave.program.sites.get(b as usize));
        let Some((birth, undefined)) = birth.and_then(|b| Some((b, b.undefined?))) else { return };
        // A program may well compare what is not finite; and what it makes of it may be finite again.
        let finite = f32::from_bits(value).is_finite();
        let seen = matches!(decides, Decides::Stored | Decides::Shown | Decides::Handed);
        if undefined == Undefined::NotFinite && (!seen || finite) {
            return;
        }
        // A copy is as undefined, and so is a part of a word. What the next stage gets it may not read.
        let copy = match decides {
            Decides::Stored => value == poison::WORD || site.bytes < 4,
            Decides::Handed => true,
            _ => false,
        };
        if undefined.is_copied() && copy {
            return;
        }
        let what = match undefined {
            Undefined::Unchanged => "the whole state of a loop is the same in two iterations: it never ends",
            Undefined::Variable => "a variable that nothing has written",
            Undefined::Shared => "workgroup memory that nothing has written",
            Undefined::DivisionByZero => "the result of a division by zero",
            Undefined::Shift => "the result of a shift by at least the operand's width",
            Undefined::NotFinite if f32::from_bits(value).is_nan() => "a NaN from operands that are none",
            Undefined::NotFinite => "an infinity from finite operands",
            Undefined::Memory => "memory that nothing has written",
            Undefined::Texel => "a texel that nothing has written",
            Undefined::Push => "a push constant that nothing has set",
            Undefined::Attribute => "a vertex's attribute that nothing has written",
            Undefined::Conversion => "the result of converting a float that the integer type cannot hold",
        };
        let kind = match undefined {
            Undefined::Variable | Undefined::Shared => Kind::Uninitialized,
            Undefined::Unchanged => Kind::EndlessLoop,
            u if u.is_copied() => Kind::Uninitialized,
            _ => Kind::Arithmetic,
        };
        let decides = match decides {
            Decides::Branch => " decides a branch",
            Decides::Address => " is an address or an index",
            Decides::Stored | Decides::Shown | Decides::Handed => " is stored where others see it",
            Decides::End => "",
        };
        let mut here = location(wave.program, site);
        here.what = if undefined == Undefined::Unchanged { "loop" } else { "use" }.into();
        FOUND.findings.lock().add(Finding {
            kind,
            message: format!("{what}{decides}"),
            pipeline: called(wave.program),
            stage: wave.program.stage.name().into(),
            command: self.command(),
            here,
            there: Some(location(wave.program, birth)).filter(|_| undefined != Undefined::Unchanged),
            invocations: numbers(wave.program, [Some(by)]),
            memory: nothing(),
            between: None,
            count: 1,
        });
    }

    fn found(
        &self,
        program: &Program,
        site: &Site,
        kind: Kind,
        message: String,
        lane: &Lane,
        other: Option<Conflict>,
    ) {
        let space = match site.region {
            Region::Buffer => Space::Buffer,
            Region::Global => Space::Address,
            Region::Shared => Space::Shared,
            Region::Image => Space::Texel,
        };
        let there = other.and_then(|c| Some(location(program, program.sites.get(c.site as usize)?)));
        FOUND.findings.lock().add(Finding {
            kind,
            message,
            pipeline: called(program),
            stage: program.stage.name().into(),
            command: self.command(),
            here: location(program, site),
            there,
            invocations: numbers(program, [Some(lane.by), other.map(|c| c.by)]),
            memory: Memory {
                space,
                binding: site.binding,
                offset: lane.offset,
                bytes: site.bytes,
                size: lane.size,
                texel: lane.texel.clone(),
            },
            between: None,
            count: 1,
        });
    }
}

impl Drop for Sanitizer {
    fn drop(&mut self) {
        if self.races.get_mut().is_full() {
            FOUND.unfollowed.fetch_add(1, Relaxed);
        }
        let command = self.command();
        let Some((barriers, of)) = &mut self.barriers else { return };
        for wrong in barriers.get_mut().missing() {
            let Divergence::Missing { group, site } = wrong else { continue };
            let Some((_, here)) = of.sites.iter().find(|s| s.0 == site) else { continue };
            FOUND.findings.lock().add(Finding {
                kind: Kind::Divergence,
                message: "a barrier that some invocations of the workgroup do not reach".into(),
                pipeline: of.pipeline.clone(),
                stage: of.stage.into(),
                command: command.clone(),
                here: here.clone(),
                there: None,
                invocations: vec![[group, 0]],
                memory: nothing(),
                between: None,
                count: 1,
            });
        }
    }
}

fn order(site: &Site) -> Order {
    let shader::ir::Order { acquires, releases, wide, .. } = site.order;
    Order { acquires, releases, wide, reads: site.atomic[0], writes: site.atomic[1] }
}

/// What a program's writes may reach; `None`: anything.
fn written(program: &Program, tables: &[Table]) -> Option<Vec<Range<u64>>> {
    /// More descriptors than that are not looked at.
    const MOST: u32 = 64;
    let elsewhere = |r: Region| matches!(r, Region::Shared | Region::Image);
    let writes = |s: &&Site| matches!(s.op, ProbeOp::Write | ProbeOp::Atomic) && !elsewhere(s.region);
    let mut all: Vec<Range<u64>> = vec![];
    for site in program.sites.iter().filter(writes) {
        let [table, offset, stride, count] = site.descriptors.filter(|d| d[3] <= MOST)?;
        let table = tables.get(table as usize)?;
        for i in 0..count as u64 {
            let at = offset as u64 + i * stride as u64;
            if table.ptr.is_null() || at + size_of::<[u64; 2]>() as u64 > table.size {
                continue;
            }
            // SAFETY: within the table, which the dispatch holds while it runs; descriptors begin with an address and a size.
            let [base, size] = unsafe { table.ptr.add(at as usize).cast::<[u64; 2]>().read_unaligned() };
            let range = base..base.saturating_add(size);
            if !range.is_empty() && !all.contains(&range) {
                all.push(range);
            }
        }
    }
    Some(all)
}

//! What sanitised shaders do wrong (`TUFF_SANITIZE`): a wave's probes against the rules of the crate `sanitize`.

use crate::lost::{Place, Title};
use parking_lot::Mutex;
use sanitize::{Access, Conflict, Finding, Findings, Invocation, Kind, Location, Memory, Races, Space, What};
use shader::bytecode::Program;
use shader::ir::{Decides, ProbeOp, Region, Site, Undefined};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::{ProbeWave, Table};

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
}

/// Notes which pipeline programs belong to, before they run.
pub fn name<'a>(programs: impl IntoIterator<Item = &'a Program>, pipeline: &Title) {
    // A handle would be another one in every run.
    let called = match pipeline.name() {
        Some(name) => format!("'{name}' ({})", pipeline.entries()),
        None => format!("{:016x} ({})", pipeline.shaders(), pipeline.entries()),
    };
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
        Sanitizer { command: place.steady(), written, races: Mutex::default() }
    }

    /// Of draws or rays, whose invocations are not compared with each other; `command`: what they run for.
    pub fn of_others(command: String) -> Sanitizer {
        Sanitizer { command, written: Some(vec![]), races: Mutex::default() }
    }

    /// Hears what a wave is about to do.
    pub fn probe(&self, wave: &ProbeWave) {
        let site = wave.site();
        let mut races = self.races.lock();
        races.step();
        let mut accesses = 0;
        let buffer = if site.op == ProbeOp::Read && site.is_buffer() { wave.buffer() } else { None };
        for (warp, lanes) in wave.warps() {
            if let Some(buffer) = buffer
                && self.is_harmless(wave, site, warp, lanes, buffer)
            {
                accesses += lanes.count_ones() as u64;
                continue;
            }
            let of = |k: usize| wave.operand(k, warp);
            let first = site.op.operands() - 2;
            let leader = lanes.trailing_zeros() as usize & 15;
            let numbers = of(first + 1);
            // A warp is of one workgroup, and is one of its subgroups.
            let who = Who {
                group: of(first)[leader],
                subgroup: numbers[leader] >> 16,
                locals: numbers.map(|n| n & 0xFFFF),
            };
            match site.op {
                ProbeOp::Barrier => races.barrier(who.group, who.subgroup),
                ProbeOp::Fence => races.fence(who.group, who.subgroup),
                ProbeOp::Fault => {
                    let (born, values) = (of(0), of(1));
                    let faulty = (0..16).filter(|l| lanes >> l & 1 == 1 && born[*l] != 0);
                    faulty.for_each(|l| self.fault(wave, site, born[l], values[l], who.lane(l)));
                }
                ProbeOp::Read | ProbeOp::Write | ProbeOp::Atomic => {
                    accesses += lanes.count_ones() as u64;
                    self.access(wave, site, warp, lanes, &who, &mut races);
                }
            }
        }
        if accesses != 0 {
            FOUND.accesses.fetch_add(accesses, Relaxed);
        }
    }

    fn access(&self, wave: &ProbeWave, site: &Site, warp: usize, lanes: u16, who: &Who, races: &mut Races) {
        // An access's constant offset may take the sum round 2³², as the op's own addition does.
        let offsets = wave.operand(0, warp).map(|o| o.wrapping_add(site.offset) as u64);
        let bytes = site.bytes as u64;
        let (mut addresses, mut good) = (offsets, lanes);
        match site.region {
            Region::Buffer => {
                let buffers = wave.buffers(warp, lanes);
                for l in 0..16 {
                    let [base, size] = buffers[l];
                    addresses[l] = base.wrapping_add(offsets[l]);
                    good &= !(((offsets[l] + bytes > size) as u16) << l);
                }
                for l in (0..16).filter(|l| (lanes & !good) >> l & 1 == 1) {
                    let [base, size] = buffers[l];
                    let lane = Lane { by: who.lane(l), offset: offsets[l], size: Some(size) };
                    self.outside(wave, site, &lane, base == 0);
                }
            }
            Region::Shared => {
                let size = site.shared_bytes as u64;
                for l in (0..16).filter(|l| lanes >> l & 1 == 1 && offsets[*l] + bytes > size) {
                    good &= !(1 << l);
                    let lane = Lane { by: who.lane(l), offset: offsets[l], size: Some(size) };
                    self.outside(wave, site, &lane, false);
                }
            }
            Region::Global => {
                let more = site.offset as i32 as i64 as u64;
                addresses = wave.addresses(warp).map(|a| a.wrapping_add(more));
            }
        }
        // Invocations of other stages have no numbers.
        if good == 0 || !wave.program.stage.has_workgroups() {
            return;
        }
        let what = match site.op {
            ProbeOp::Read => What::Read,
            ProbeOp::Write => What::Write,
            _ => What::Atomic,
        };
        let shared = site.region == Region::Shared;
        if what == What::Read && !shared && !self.may_be_written(&addresses, good, bytes) {
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
        };
        races.access(&access, |l, conflict| {
            let message =
                format!("{} and {} {}", told(conflict.what), told(what), between(&conflict, who.group));
            let size = match site.region {
                Region::Buffer => Some(wave.buffers(warp, 1 << l)[l][1]),
                Region::Shared => Some(site.shared_bytes as u64),
                Region::Global => None,
            };
            let offset = if site.region == Region::Global { addresses[l] } else { offsets[l] };
            let lane = Lane { by: who.lane(l), offset, size };
            self.found(wave, Kind::DataRace, message, &lane, Some(conflict));
        });
    }

    /// Most reads: of one buffer, within it, and of bytes that the dispatch does not write.
    fn is_harmless(&self, wave: &ProbeWave, site: &Site, warp: usize, lanes: u16, buffer: [u64; 2]) -> bool {
        let offsets = wave.operand(0, warp);
        let (mut low, mut high) = (u32::MAX, 0);
        for (l, offset) in offsets.into_iter().enumerate() {
            let there = lanes >> l & 1 == 1;
            low = low.min(if there { offset } else { u32::MAX });
            high = high.max(if there { offset } else { 0 });
        }
        // Where a constant offset takes the sum round 2³², the general way knows more.
        let (low, high) = (low.checked_add(site.offset), high.checked_add(site.offset));
        let (Some(low), Some(high)) = (low, high) else { return false };
        let [base, size] = buffer;
        let end = high as u64 + site.bytes as u64;
        end <= size && !self.writes(base + low as u64..base + end)
    }

    /// Whether the dispatch may write what some lanes read.
    fn may_be_written(&self, addresses: &[u64; 16], lanes: u16, bytes: u64) -> bool {
        let all = (0..16).filter(|l| lanes >> l & 1 == 1).map(|l| addresses[l]);
        let (low, high) =
            all.fold((u64::MAX, 0), |(low, high), a| (low.min(a), high.max(a.saturating_add(bytes))));
        self.writes(low..high)
    }

    /// Whether the dispatch may write any of these bytes.
    fn writes(&self, bytes: Range<u64>) -> bool {
        let Some(written) = &self.written else { return true };
        written.iter().any(|w| w.start < bytes.end && bytes.start < w.end)
    }

    /// An access outside its buffer or the workgroup's memory.
    fn outside(&self, wave: &ProbeWave, site: &Site, lane: &Lane, null: bool) {
        let (kind, message) = match null {
            true => (Kind::NullDescriptor, "a descriptor that names no buffer is used".to_string()),
            false => (Kind::OutOfBounds, format!("{} of {} bytes past the end", what(site.op), site.bytes)),
        };
        self.found(wave, kind, message, lane, None);
    }

    /// A value that is undefined decides something.
    fn fault(&self, wave: &ProbeWave, site: &Site, born: u32, value: u32, by: Invocation) {
        let Some(decides) = site.decides else { return };
        let birth = born.checked_sub(2).and_then(|b| wave.program.sites.get(b as usize));
        let Some((birth, undefined)) = birth.and_then(|b| Some((b, b.undefined?))) else { return };
        // A program may well compare what is not finite; and what it makes of it may be finite again.
        let finite = f32::from_bits(value).is_finite();
        if undefined == Undefined::NotFinite && (decides != Decides::Stored || finite) {
            return;
        }
        let what = match undefined {
            Undefined::Variable => "a variable that nothing has written",
            Undefined::Shared => "workgroup memory that nothing has written",
            Undefined::DivisionByZero => "the result of a division by zero",
            Undefined::Shift => "the result of a shift by at least the operand's width",
            Undefined::NotFinite if f32::from_bits(value).is_nan() => "a NaN from operands that are none",
            Undefined::NotFinite => "an infinity from finite operands",
            Undefined::Conversion => "the result of converting a float that the integer type cannot hold",
        };
        let kind = match undefined {
            Undefined::Variable | Undefined::Shared => Kind::Uninitialized,
            _ => Kind::Arithmetic,
        };
        let decides = match decides {
            Decides::Branch => "decides a branch",
            Decides::Address => "is an address or an index",
            Decides::Stored => "is stored where others see it",
        };
        let mut here = location(wave.program, site);
        here.what = "use".into();
        FOUND.findings.lock().add(Finding {
            kind,
            message: format!("{what} {decides}"),
            pipeline: called(wave.program),
            stage: wave.program.stage.name().into(),
            command: self.command.clone(),
            here,
            there: Some(location(wave.program, birth)),
            invocations: numbers(wave.program, [Some(by)]),
            memory: Memory { space: Space::Value, binding: None, offset: 0, bytes: 0, size: None },
            count: 1,
        });
    }

    fn found(&self, wave: &ProbeWave, kind: Kind, message: String, lane: &Lane, other: Option<Conflict>) {
        let (program, site) = (wave.program, wave.site());
        let space = match site.region {
            Region::Buffer => Space::Buffer,
            Region::Global => Space::Address,
            Region::Shared => Space::Shared,
        };
        let there = other.and_then(|c| Some(location(program, program.sites.get(c.site as usize)?)));
        FOUND.findings.lock().add(Finding {
            kind,
            message,
            pipeline: called(wave.program),
            stage: program.stage.name().into(),
            command: self.command.clone(),
            here: location(program, site),
            there,
            invocations: numbers(program, [Some(lane.by), other.map(|c| c.by)]),
            memory: Memory {
                space,
                binding: site.binding,
                offset: lane.offset,
                bytes: site.bytes,
                size: lane.size,
            },
            count: 1,
        });
    }
}

impl Drop for Sanitizer {
    fn drop(&mut self) {
        if self.races.get_mut().is_full() {
            FOUND.unfollowed.fetch_add(1, Relaxed);
        }
    }
}

/// What a program's writes may reach; `None`: anything.
fn written(program: &Program, tables: &[Table]) -> Option<Vec<Range<u64>>> {
    /// More descriptors than that are not looked at.
    const MOST: u32 = 64;
    let writes = |s: &&Site| matches!(s.op, ProbeOp::Write | ProbeOp::Atomic) && s.region != Region::Shared;
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

fn location(program: &Program, site: &Site) -> Location {
    let o = site.origin;
    let file = if o.line == 0 { None } else { program.files.get(o.file as usize) };
    Location {
        what: what(site.op).into(),
        file: file.cloned().unwrap_or_default(),
        line: o.line,
        function: o.function,
        block: o.label,
    }
}

fn what(op: ProbeOp) -> &'static str {
    match op {
        ProbeOp::Read => "read",
        ProbeOp::Write => "write",
        ProbeOp::Atomic => "atomic",
        ProbeOp::Barrier => "barrier",
        ProbeOp::Fence => "fence",
        ProbeOp::Fault => "result",
    }
}

fn told(what: What) -> &'static str {
    match what {
        What::Read => "read",
        What::Write => "write",
        What::Atomic => "atomic",
    }
}

fn between(conflict: &Conflict, group: u32) -> &'static str {
    match conflict.by.group == group {
        true => "of one workgroup are not ordered",
        false => "of different workgroups are not ordered",
    }
}

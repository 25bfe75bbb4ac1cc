//! What sanitised shaders do wrong (`TUFF_SANITIZE`): a wave's probes against the rules of the crate `sanitize`.

use crate::lost::{Place, Title};
use parking_lot::Mutex;
use sanitize::{Access, Conflict, Finding, Findings, Invocation, Kind, Location, Memory, Races, Space, What};
use shader::bytecode::Program;
use shader::ir::{Decides, ProbeOp, Region, Site, Stage, Undefined};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::ProbeWave;

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
    /// Dispatches whose later accesses were not compared with each other.
    pub unfollowed: AtomicU64,
}

pub static FOUND: LazyLock<Found> = LazyLock::new(Found::default);

/// What the rules know of a dispatch, or of the draws that run under one host.
pub struct Sanitizer {
    command: String,
    /// The pipeline's name, or a hash of its shaders, and their entry points.
    pipeline: String,
    races: Mutex<Races>,
}

/// One lane's access, as its probe tells it.
struct Lane {
    by: Invocation,
    address: u64,
    offset: u64,
    /// Bytes of the buffer or of the workgroup's memory.
    size: Option<u64>,
    null: bool,
}

impl Sanitizer {
    pub fn new(place: &Place, pipeline: &Title) -> Sanitizer {
        // A handle would be another one in every run.
        let pipeline = match pipeline.name() {
            Some(name) => format!("'{name}' ({})", pipeline.entries()),
            None => format!("{:016x} ({})", pipeline.shaders(), pipeline.entries()),
        };
        Sanitizer { command: place.steady(), pipeline, races: Mutex::default() }
    }

    /// Hears what a wave is about to do.
    pub fn probe(&self, wave: &ProbeWave) {
        let site = wave.site();
        let mut races = self.races.lock();
        races.step();
        for (warp, lanes) in wave.warps() {
            let of = |k: usize| wave.operand(k, warp);
            let first = site.op.operands() - 2;
            let (groups, locals) = (of(first), of(first + 1));
            let by = |l: usize| Invocation { group: groups[l], local: locals[l] };
            let active = (0..16).filter(|l| lanes >> l & 1 == 1);
            match site.op {
                ProbeOp::Barrier => active.for_each(|l| races.barrier(by(l))),
                ProbeOp::Fence => active.for_each(|l| races.fence(by(l))),
                ProbeOp::Fault => {
                    let (born, values) = (of(0), of(1));
                    active
                        .filter(|l| born[*l] != 0)
                        .for_each(|l| self.fault(wave, site, born[l], values[l], by(l)));
                }
                ProbeOp::Read | ProbeOp::Write | ProbeOp::Atomic => {
                    FOUND.accesses.fetch_add(lanes.count_ones() as u64, Relaxed);
                    let (offsets, stored) = (of(0), of(1));
                    let buffers = if site.is_buffer() { wave.buffers(warp, lanes) } else { [[0; 2]; 16] };
                    let addresses = if site.is_global() { wave.addresses(warp) } else { [0; 16] };
                    for l in active {
                        let lane = lane(site, by(l), offsets[l], buffers[l], addresses[l]);
                        self.access(wave, site, &lane, stored[l], &mut races);
                    }
                }
            }
        }
    }

    fn access(&self, wave: &ProbeWave, site: &Site, lane: &Lane, stored: u32, races: &mut Races) {
        let past = lane.size.is_some_and(|size| lane.offset + site.bytes as u64 > size);
        if lane.null || past {
            let (kind, message) = match lane.null {
                true => (Kind::NullDescriptor, "a descriptor that names no buffer is used".to_string()),
                false => {
                    (Kind::OutOfBounds, format!("{} of {} bytes past the end", what(site.op), site.bytes))
                }
            };
            return self.found(wave, kind, message, lane, None);
        }
        // Invocations of other stages have no numbers.
        if !wave.program.stage.has_workgroups() {
            return;
        }
        let access = Access {
            what: match site.op {
                ProbeOp::Read => What::Read,
                ProbeOp::Write => What::Write,
                _ => What::Atomic,
            },
            by: lane.by,
            shared: site.region == Region::Shared,
            address: lane.address,
            bytes: site.bytes,
            site: wave.site,
            value: site.tells.then_some(stored),
        };
        if let Some(conflict) = races.access(&access) {
            let message =
                format!("{} and {} {}", told(conflict.what), what(site.op), between(&conflict, &access));
            self.found(wave, Kind::DataRace, message, lane, Some(conflict));
        }
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
            pipeline: self.pipeline.clone(),
            stage: stage(wave.program.stage).into(),
            command: self.command.clone(),
            here,
            there: Some(location(wave.program, birth)),
            invocations: vec![[by.group, by.local]],
            memory: Memory { space: Space::Value, binding: None, offset: 0, bytes: 0, size: None },
            count: 1,
        });
    }

    fn found(&self, wave: &ProbeWave, kind: Kind, message: String, lane: &Lane, other: Option<Conflict>) {
        let (program, site) = (wave.program, wave.site());
        let number = |i: Invocation| [i.group, i.local];
        let space = match site.region {
            Region::Buffer => Space::Buffer,
            Region::Global => Space::Address,
            Region::Shared => Space::Shared,
        };
        let there = other.and_then(|c| Some(location(program, program.sites.get(c.site as usize)?)));
        FOUND.findings.lock().add(Finding {
            kind,
            message,
            pipeline: self.pipeline.clone(),
            stage: stage(program.stage).into(),
            command: self.command.clone(),
            here: location(program, site),
            there,
            invocations: [lane.by].into_iter().chain(other.map(|c| c.by)).map(number).collect(),
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

fn lane(site: &Site, by: Invocation, offset: u32, buffer: [u64; 2], address: u64) -> Lane {
    // An access's constant offset may take the sum round 2³², as the op's own addition does.
    let at = offset.wrapping_add(site.offset) as u64;
    match site.region {
        Region::Buffer => {
            let [base, size] = buffer;
            Lane { by, address: base.wrapping_add(at), offset: at, size: Some(size), null: base == 0 }
        }
        Region::Shared => {
            Lane { by, address: at, offset: at, size: Some(site.shared_bytes as u64), null: false }
        }
        Region::Global => {
            let at = address.wrapping_add(site.offset as i32 as i64 as u64);
            Lane { by, address: at, offset: at, size: None, null: false }
        }
    }
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

fn between(conflict: &Conflict, access: &Access) -> &'static str {
    match conflict.by.group == access.by.group {
        true => "of one workgroup are not ordered",
        false => "of different workgroups are not ordered",
    }
}

fn stage(s: Stage) -> &'static str {
    match s {
        Stage::Vertex => "vertex",
        Stage::TessControl => "tessellation control",
        Stage::TessEval => "tessellation evaluation",
        Stage::Geometry => "geometry",
        Stage::Task => "task",
        Stage::Mesh => "mesh",
        Stage::Fragment => "fragment",
        Stage::Compute => "compute",
        Stage::RayGen => "ray generation",
        Stage::Intersection => "intersection",
        Stage::AnyHit => "any-hit",
        Stage::ClosestHit => "closest-hit",
        Stage::Miss => "miss",
        Stage::Callable => "callable",
    }
}

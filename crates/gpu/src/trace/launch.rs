//! A vkCmdTraceRaysKHR: its waves of ray generation shaders, over the device's threads.

use super::host::Role;
use super::stage::{Caller, LANES, Levels, Words};
use super::table::{Region, record};
use super::{MAX_RAYS, RayPipeline, Size, Trace};
use machine::count;
use machine::host::DeviceHost;
use machine::instrumentation::Blocks;
use machine::lost::Blame;
use machine::rays::Structures;
use machine::sanitizer::{self, Sanitizer};
use machine::shared::Shared;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use texel::memory::AddressSpace;
use wave::{Fault, Stop, Table, Usage, Worker};

/// Waves that a thread takes at a time.
const CHUNK: u64 = 4;

/// What all shaders of a launch have in common.
pub struct Context<'a> {
    pub shared: &'a Shared,
    pub pipeline: &'a RayPipeline,
    pub device: DeviceHost<'a>,
    pub tables: &'a [Table],
    pub push: &'a [u8],
    /// Ray generation, miss, hit and callable.
    pub regions: [Region; 4],
    pub size: [u32; 3],
    /// Of each shader, for this launch.
    pub serials: Vec<u64>,
    pub(super) blocks: Vec<Blocks>,
    instrumented: bool,
    usage: Vec<Mutex<Usage>>,
    /// The first fault, and whose it was.
    fault: Mutex<Option<(Stop, usize)>>,
}

impl Context<'_> {
    /// Notes a shader's fault.
    pub fn failed(&self, stop: Stop, shader: usize) -> Fault {
        self.fault.lock().get_or_insert((stop, shader));
        stop.fault
    }
    /// Takes what a worker has counted for a shader.
    pub fn count(&self, shader: usize, worker: &mut Worker) {
        let program = &self.pipeline.shaders[shader].program;
        let counted = self.blocks[shader].take_rows(worker, program, self.instrumented);
        self.usage[shader].lock().add(&counted);
    }
    /// Takes what a worker has followed through caches, of all shaders: their sum is what counts.
    pub fn followed(&self, worker: &mut Worker) {
        let mut usage = Usage::default();
        worker.tally.take_cache(&mut usage);
        if let Some(sum) = self.usage.first() {
            sum.lock().add(&usage);
        }
    }
    pub fn structures(&self) -> Structures<'_> {
        Structures(&self.shared.memory)
    }
}

/// What a launch did.
pub struct Launched {
    pub size: [u32; 3],
    /// By shader of the pipeline.
    pub usage: Vec<Usage>,
    pub blocks: Vec<Blocks>,
    pub blame: Option<Blame>,
}

/// Why a trace does not run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// This address is no memory of the device.
    Address(u64),
    /// More rays than [`MAX_RAYS`].
    TooMany([u32; 3]),
}

/// The launch's size and tables.
fn resolve(memory: &AddressSpace, t: &Trace) -> Result<([Region; 4], [u32; 3]), Refused> {
    let read = |at: u64, bytes: u64| {
        let there = memory.from(at).is_some_and(|n| n >= bytes);
        if there { Ok(at) } else { Err(Refused::Address(at)) }
    };
    let (regions, size) = match t.size {
        Size::Direct(size) => (t.tables, size),
        Size::At(at) => {
            let at = read(at, 12)?;
            // SAFETY: twelve bytes of the device's memory.
            (t.tables, unsafe { (at as *const [u32; 3]).read_unaligned() })
        }
        Size::WithTables(at) => {
            let at = read(at, 104)?;
            // VkTraceRaysIndirectCommand2KHR: record and size of the ray generation shader, three regions, the launch's size.
            // SAFETY: 104 bytes of the device's memory.
            let w = unsafe { (at as *const [u64; 13]).read_unaligned() };
            let region = |k: usize| Region { address: w[k], size: w[k + 1], stride: w[k + 2] };
            let first = Region { address: w[0], stride: w[1], size: w[1] };
            let size = [w[11] as u32, (w[11] >> 32) as u32, w[12] as u32];
            ([first, region(2), region(5), region(8)], size)
        }
    };
    let rays = size.iter().map(|&n| n as u128).product::<u128>();
    if rays > MAX_RAYS.into() { Err(Refused::TooMany(size)) } else { Ok((regions, size)) }
}

/// Runs a trace; `begin`: modelled time at which it begins.
///
/// # Errors
/// The size is at an address that is no memory of the device, or too large.
pub fn launch(shared: &Shared, t: &Trace, begin: u64) -> Result<Launched, Refused> {
    let (regions, size) = resolve(&shared.memory, t)?;
    let pipeline = &*t.pipeline;
    let tables = t.bindings.tables();
    static SERIAL: AtomicU64 = AtomicU64::new(1 << 48);
    let shaders = pipeline.shaders.len();
    let sanitizer = sanitizer::wanted().then(|| {
        sanitizer::name(pipeline.shaders.iter().map(|s| &*s.program), &pipeline.title);
        Sanitizer::of_others("a launch of rays".into())
    });
    let context = Context {
        shared,
        pipeline,
        device: DeviceHost::at(shared, begin).sanitized(sanitizer.as_ref()),
        tables: &tables,
        push: &t.bindings.push,
        regions,
        size,
        serials: (0..shaders).map(|_| SERIAL.fetch_add(1, Relaxed)).collect(),
        blocks: (0..shaders).map(|_| Blocks::default()).collect(),
        instrumented: t.instrumentation.is_some(),
        usage: (0..shaders).map(|_| Mutex::default()).collect(),
        fault: Mutex::new(None),
    };
    let first = record(&shared.memory, pipeline, &regions[0], 0);
    if let Some((r, shader)) = first.and_then(|r| Some((r, r.group.general?))) {
        run(&context, shader, r.data);
    }
    let fault = context.fault.into_inner();
    let blame = fault.map(|(stop, shader)| {
        let s = &pipeline.shaders[shader];
        Blame::new(stop, stage_name(s.program.stage), &s.program, &pipeline.title)
    });
    Ok(Launched {
        size,
        usage: context.usage.into_iter().map(Mutex::into_inner).collect(),
        blocks: context.blocks,
        blame,
    })
}

fn stage_name(stage: shader::ir::Stage) -> &'static str {
    use shader::ir::Stage::*;
    match stage {
        RayGen => "ray generation",
        Intersection => "intersection",
        AnyHit => "any-hit",
        ClosestHit => "closest-hit",
        Miss => "miss",
        Callable => "callable",
        _ => "other",
    }
}

/// Blocks of a launch: 16 × 16 where it has two dimensions of so many, so that a wave's rays are close together; else rows.
fn block([w, h, _]: [u32; 3]) -> [u64; 2] {
    if w >= 16 && h >= 16 { [16, 16] } else { [LANES as u64, 1] }
}

fn run(context: &Context, shader: usize, record: u64) {
    let size = context.size.map(u64::from);
    if size.contains(&0) {
        return;
    }
    let [bw, bh] = block(context.size);
    let (across, down) = (size[0].div_ceil(bw), size[1].div_ceil(bh));
    let waves = across * down * size[2];
    let next = AtomicU64::new(0);
    let work = || {
        let levels = Levels::new(context);
        'all: loop {
            let from = next.fetch_add(CHUNK, Relaxed);
            if from >= waves {
                break;
            }
            levels.follow(context.shared.traced(from / CHUNK, waves.div_ceil(CHUNK), count::TRACED_RAYS));
            for wave in from..waves.min(from + CHUNK) {
                if context.shared.hub.stops() || context.fault.lock().is_some() {
                    break 'all;
                }
                let (x, y) = (wave % across * bw, wave / across % down * bh);
                let z = (wave / (across * down)) as u32;
                let mut callers = Vec::with_capacity(LANES);
                for (dy, dx) in (0..bh).flat_map(|dy| (0..bw).map(move |dx| (dy, dx))) {
                    // Quads of four neighbours, as everywhere: lanes of a row come in order all the same, for nobody asks for derivatives.
                    let (x, y) = (x + dx, y + dy);
                    if x < size[0] && y < size[1] {
                        callers.push(Caller {
                            lane: callers.len(),
                            ..Caller::first([x as u32, y as u32, z], record)
                        });
                    }
                }
                let mut none = Words::default();
                let ran = levels.run(0, 0, shader, &callers, &mut none, &[], |_| Role::Plain, |_, _| {});
                if ran.is_err() {
                    break 'all;
                }
            }
        }
        levels.finish();
    };
    context.shared.pool.run(waves.div_ceil(CHUNK), &work);
}

//! Runs one shader of a pipeline for a list of lanes.

use super::host::{RayHost, Role};
use super::launch::Context;
use bvh::{Hit, Ray};
use machine::rays::{columns, moved, rotated};
use parking_lot::Mutex;
use shader::bytecode::Program;
use shader::ir::{Input, ray_input as at};
use std::ops::Range;
use wave::cache::Sizes;
use wave::{Fault, Job, Stop, TraceWave, Worker};

pub use machine::rays::LANES;

/// How deep shaders may call each other, whatever the pipeline says: each level is a worker with registers of its own.
const LEVELS: usize = 2 * super::MAX_RECURSION as usize + 34;

/// What a lane of a shader is about.
#[derive(Clone, Copy)]
pub struct Caller {
    /// Which lane of the rays that are traced, or data that is shared, it is.
    pub lane: usize,
    pub launch: [u32; 3],
    /// Address of its shader record's data.
    pub record: u64,
    pub ray: Ray,
    /// Address of the structure that the ray began in.
    pub top: u64,
    /// RayTmaxKHR.
    pub t: f32,
    pub hit: Hit,
    pub kind: u32,
}

impl Caller {
    /// A lane of the shader that a launch begins with.
    pub fn first(launch: [u32; 3], record: u64) -> Caller {
        let ray =
            Ray { origin: [0.0; 3], t_min: 0.0, direction: [0.0; 3], t_max: 0.0, flags: 0, cull_mask: 0 };
        Caller { lane: 0, launch, record, ray, top: 0, t: 0.0, hit: Hit::default(), kind: 0 }
    }
}

/// Words that lanes of different shaders share: word `w` of lane `l` at `w · LANES + l`.
#[derive(Default)]
pub struct Words {
    pub words: u32,
    data: Vec<u32>,
}

impl Words {
    pub fn new(words: u32) -> Words {
        Words { words, data: vec![0; words as usize * LANES] }
    }
    /// The data that goes with a wave's op.
    pub fn take(wave: &TraceWave) -> Words {
        let [first, n] = wave.data();
        let mut words = Words::new(n);
        for lane in lanes_of(wave) {
            (0..n).for_each(|k| words.set(k, lane, wave.read(first + k, lane)));
        }
        words
    }
    /// Gives the data back to where [`Self::take`] found it.
    pub fn give(&self, wave: &mut TraceWave) {
        let [first, n] = wave.data();
        for lane in lanes_of(wave) {
            (0..n).for_each(|k| wave.write(first + k, lane, self.get(k, lane)));
        }
    }
    pub fn get(&self, word: u32, lane: usize) -> u32 {
        self.data.get(word as usize * LANES + lane).copied().unwrap_or(0)
    }
    pub fn set(&mut self, word: u32, lane: usize, bits: u32) {
        if let Some(w) = self.data.get_mut(word as usize * LANES + lane) {
            *w = bits;
        }
    }
}

/// The active lanes of a wave.
pub fn lanes_of(wave: &TraceWave) -> impl Iterator<Item = usize> + use<> {
    wave.warps().flat_map(|(w, mask)| (0..16).filter(move |l| mask >> l & 1 != 0).map(move |l| w * 16 + l))
}

/// A thread's workers, one for each level of shaders that call each other.
pub struct Levels<'a> {
    context: &'a Context<'a>,
    workers: Vec<Mutex<Option<Level>>>,
    /// The caches that accesses are followed through at present.
    through: Mutex<Option<Sizes>>,
}

/// A worker, and the shader that its counts are of.
struct Level {
    worker: Worker,
    counted: Option<usize>,
}

impl<'a> Levels<'a> {
    pub fn new(context: &'a Context<'a>) -> Levels<'a> {
        let workers = (0..LEVELS).map(|_| Mutex::new(None)).collect();
        Levels { context, workers, through: Mutex::new(None) }
    }

    /// From now on accesses are followed through these caches, which begin empty; each level has its own.
    pub fn follow(&self, through: Option<Sizes>) {
        let before = std::mem::replace(&mut *self.through.lock(), through);
        if before.is_none() && through.is_none() {
            return;
        }
        for level in &self.workers {
            if let Some(level) = &mut *level.lock() {
                self.context.followed(&mut level.worker);
                level.worker.tally.trace(through);
            }
        }
    }

    /// Tells what has been counted, and gives the workers back.
    pub fn finish(self) {
        self.follow(None);
        for level in self.workers {
            if let Some(mut level) = level.into_inner() {
                level.tell(self.context);
                self.context.shared.workers.give(level.worker);
            }
        }
    }

    /// Runs a shader for lanes; `words` are the payload or callable data, `attributes` the hit attributes of each caller.
    ///
    /// # Errors
    /// The fault of a wave, which the context knows of.
    pub fn run<'r>(
        &self,
        depth: usize,
        recursion: u32,
        shader: usize,
        callers: &[Caller],
        words: &mut Words,
        attributes: &[[u32; 8]],
        mut role: impl FnMut(Range<usize>) -> Role<'r>,
        mut ended: impl FnMut(Range<usize>, Role<'r>),
    ) -> Result<(), Fault> {
        let context = self.context;
        let Some(level) = self.workers.get(depth) else {
            return Err(context.failed(Stop { fault: Fault::Depth, op: 0 }, shader));
        };
        let mut level = level.lock();
        let level = level.get_or_insert_with(|| {
            let mut worker = context.shared.worker();
            worker.tally.trace(*self.through.lock());
            Level { worker, counted: None }
        });
        if level.counted != Some(shader) {
            level.tell(context);
            level.counted = Some(shader);
        }
        let program = &*context.pipeline.shaders[shader].program;
        let wave = program.lanes as usize;
        let mut from = 0;
        while from < callers.len() {
            let part = from..callers.len().min(from + wave);
            let host = RayHost {
                context,
                levels: self,
                depth,
                recursion,
                shader,
                callers: &callers[part.clone()],
                role: role(part.clone()),
                objects: Mutex::default(),
            };
            let ran = one(&mut level.worker, context, program, &host, words, attributes.get(part.clone()));
            if let Err(stop) = ran {
                return Err(context.failed(stop, shader));
            }
            ended(part.clone(), host.role);
            from = part.end;
        }
        Ok(())
    }
}

impl Level {
    fn tell(&mut self, context: &Context) {
        if let Some(shader) = self.counted {
            context.count(shader, &mut self.worker);
        }
    }
}

/// One wave.
fn one(
    worker: &mut Worker,
    context: &Context,
    program: &Program,
    host: &RayHost,
    words: &mut Words,
    attributes: Option<&[[u32; 8]]>,
) -> Result<(), Stop> {
    let callers = host.callers;
    let job = Job {
        serial: context.serials[host.shader],
        program,
        tables: context.tables,
        push: context.push,
        host,
        arena: context.shared.arena(),
    };
    let mut lanes = worker.open(&job)?;
    lanes.begin(callers.len());
    fill(&mut lanes, context, program, callers);
    let io = program.interface.io.ray.unwrap_or_default();
    let wave = program.lanes as usize;
    let [first, n] = io.incoming;
    {
        let private = lanes.private();
        let end = (io.words as usize * wave).min(private.len());
        private[..end].fill(0);
        for (l, c) in callers.iter().enumerate() {
            for w in 0..n.min(words.words) {
                private[(first + w) as usize * wave + l] = words.get(w, c.lane);
            }
            let own = attributes.and_then(|a| a.get(l)).copied().unwrap_or_default();
            for w in 0..io.attribute[1].min(8) {
                private[(io.attribute[0] + w) as usize * wave + l] = own[w as usize];
            }
        }
    }
    lanes.run()?;
    let private = lanes.private();
    for (l, c) in callers.iter().enumerate() {
        for w in 0..n.min(words.words) {
            words.set(w, c.lane, private[(first + w) as usize * wave + l]);
        }
    }
    Ok(())
}

/// What a caller's built-ins say that lies in structures: transforms of the instance (object to world, world to object), and vertices.
struct Space {
    transforms: ([f32; 12], [f32; 12]),
    positions: [[f32; 3]; 3],
}

impl Space {
    const NONE: Space = Space { transforms: (IDENTITY, IDENTITY), positions: [[0.0; 3]; 3] };

    /// `reads`: whether any built-in of these numbers is read.
    fn of(context: &Context, c: &Caller, reads: impl Fn(Range<u8>) -> bool) -> Space {
        let mut out = Space::NONE;
        let structures = context.structures();
        if reads(at::OBJECT_ORIGIN..at::T_MIN) || reads(at::OBJECT_TO_WORLD..at::POSITIONS) {
            let found = structures.at(c.top).and_then(|top| bvh::transforms(top, &c.hit));
            out.transforms = found.unwrap_or(out.transforms);
        }
        if reads(at::POSITIONS..at::COUNT) {
            let found = structures.at(c.hit.structure).and_then(|b| bvh::positions(b, &c.hit));
            out.positions = found.unwrap_or_default();
        }
        out
    }
}

/// A built-in of a caller.
pub fn value(context: &Context, c: &Caller, k: u8) -> u32 {
    value_in(context, c, &Space::of(context, c, |numbers| numbers.contains(&k)), k)
}

fn value_in(context: &Context, c: &Caller, space: &Space, k: u8) -> u32 {
    let float = |v: &[f32], first: u8| v.get((k - first) as usize).map_or(0, |v| v.to_bits());
    let (to_world, to_object) = &space.transforms;
    match k {
        at::LAUNCH_ID..at::LAUNCH_SIZE => c.launch[(k - at::LAUNCH_ID) as usize],
        at::LAUNCH_SIZE..at::RECORD => context.size[(k - at::LAUNCH_SIZE) as usize],
        at::RECORD => c.record as u32,
        7 => (c.record >> 32) as u32,
        at::WORLD_ORIGIN..at::WORLD_DIRECTION => float(&c.ray.origin, at::WORLD_ORIGIN),
        at::WORLD_DIRECTION..at::OBJECT_ORIGIN => float(&c.ray.direction, at::WORLD_DIRECTION),
        at::OBJECT_ORIGIN..at::OBJECT_DIRECTION => float(&moved(to_object, c.ray.origin), at::OBJECT_ORIGIN),
        at::OBJECT_DIRECTION..at::T_MIN => float(&rotated(to_object, c.ray.direction), at::OBJECT_DIRECTION),
        at::T_MIN => c.ray.t_min.to_bits(),
        at::T_MAX => c.t.to_bits(),
        at::CUSTOM_INDEX => c.hit.custom_index,
        at::INSTANCE_ID => c.hit.instance,
        at::PRIMITIVE_ID => c.hit.primitive,
        at::GEOMETRY_INDEX => c.hit.geometry,
        at::HIT_KIND => c.kind,
        at::RAY_FLAGS => c.ray.flags,
        at::CULL_MASK => c.ray.cull_mask,
        at::OBJECT_TO_WORLD..at::WORLD_TO_OBJECT => float(&columns(to_world), at::OBJECT_TO_WORLD),
        at::WORLD_TO_OBJECT..at::POSITIONS => float(&columns(to_object), at::WORLD_TO_OBJECT),
        at::POSITIONS..at::COUNT => float(space.positions.as_flattened(), at::POSITIONS),
        _ => 0,
    }
}

/// Gives a wave its built-ins.
fn fill(lanes: &mut wave::Lanes, context: &Context, program: &Program, callers: &[Caller]) {
    let reads = |numbers: Range<u8>| {
        program.inputs.iter().any(|i| matches!(i.0, Input::Ray(k) if numbers.contains(&k)))
    };
    let mut spaces = vec![];
    if reads(at::OBJECT_ORIGIN..at::T_MIN) || reads(at::OBJECT_TO_WORLD..at::COUNT) {
        spaces.extend(callers.iter().map(|c| Space::of(context, c, reads)));
    }
    for i in 0..program.inputs.len() {
        let Input::Ray(k) = program.inputs[i].0 else { continue };
        let rows = lanes.input(i);
        for (w, row) in rows.iter_mut().enumerate() {
            for (l, to) in row.iter_mut().enumerate() {
                let lane = w * 16 + l;
                let space = spaces.get(lane).unwrap_or(&Space::NONE);
                *to = callers.get(lane).map_or(0, |c| value_in(context, c, space, k));
            }
        }
    }
}

const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

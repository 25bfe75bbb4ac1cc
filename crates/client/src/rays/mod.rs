//! Ray tracing: rays through a scene of two million triangles, by queries in a compute shader and by a ray tracing pipeline; builds and
//! updates of acceleration structures; the first trace of a new pipeline.

mod city;
mod pipeline;
pub mod structure;
pub mod trace;

use crate::measure::{Moment, Span};
use crate::{Buffer, Context, Error, Result};
use ash::vk;
pub use pipeline::Pipeline;
use std::rc::Rc;
pub use structure::{Structure, Structures, indexed, instance, triangles};
use trace::Tracer;

/// Rays of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rays {
    Primary,
    Shadow,
    Diffuse,
}

impl Rays {
    /// How many of them hit something: what Embree's robust mode and ours find. Roundings may differ a little.
    fn hits(self) -> f64 {
        match self {
            Rays::Primary => 646_213.0,
            Rays::Shadow => 488_054.0,
            Rays::Diffuse => 423_907.0,
        }
    }
}

/// What shoots rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Query,
    Pipeline,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Trace(By, Rays),
    /// A bottom structure of the whole scene, with these flags.
    Build(vk::BuildAccelerationStructureFlagsKHR),
    Update,
    /// A top structure of [`INSTANCES`].
    Top,
}

/// A row.
pub struct Spec {
    pub name: &'static str,
    what: What,
}

const fn row(name: &'static str, what: What) -> Spec {
    Spec { name, what }
}

pub static ROWS: [Spec; 10] = [
    row("query-primary", What::Trace(By::Query, Rays::Primary)),
    row("query-shadow", What::Trace(By::Query, Rays::Shadow)),
    row("query-diffuse", What::Trace(By::Query, Rays::Diffuse)),
    row("pipeline-primary", What::Trace(By::Pipeline, Rays::Primary)),
    row("pipeline-shadow", What::Trace(By::Pipeline, Rays::Shadow)),
    row("pipeline-diffuse", What::Trace(By::Pipeline, Rays::Diffuse)),
    row("build-fast", What::Build(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_BUILD)),
    row("build-good", What::Build(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE)),
    row("build-update", What::Update),
    row("build-top", What::Top),
];

/// Pipelines whose first trace is timed.
pub const FIRST: [&str; 2] = ["first-query", "first-pipeline"];

/// Instances of the row `build-top`.
const INSTANCES: u32 = 1 << 16;

pub fn find(name: &str) -> Option<&'static Spec> {
    ROWS.iter().find(|r| r.name == name)
}

impl Spec {
    /// The unit of the row: millions of it a second.
    pub fn unit(&self) -> &'static str {
        match self.what {
            What::Trace(..) => "Mrays/s",
            What::Build(_) | What::Update => "Mtri/s",
            What::Top => "Minst/s",
        }
    }
}

/// The scene on the device, and the rays that are known by now.
pub struct Ready {
    context: Rc<Context>,
    structures: Structures,
    positions: Vec<city::V>,
    vertices: Buffer,
    /// Of the scene, with PREFER_FAST_TRACE.
    bottom: Structure,
    top: Structure,
    /// By [`Rays`].
    rays: [Buffer; 3],
    counts: [u32; 3],
    row: Option<Row>,
}

/// A row that is set up.
struct Row {
    name: &'static str,
    commands: vk::CommandBuffer,
    /// Things that it does.
    count: u32,
    _tracer: Option<Tracer>,
    _structures: Vec<Structure>,
    _buffers: Vec<Buffer>,
}

/// Usage of buffers that structures are built from.
pub const INPUT: vk::BufferUsageFlags =
    vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;

fn bytes<T: Copy, const N: usize>(all: &[[T; N]]) -> &[u8] {
    // SAFETY: the callers' elements are floats and words, without padding.
    unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), size_of_val(all)) }
}

/// A buffer of these, which everything of ray tracing may read.
pub fn filled<T: Copy, const N: usize>(context: &Rc<Context>, all: &[[T; N]]) -> Result<Buffer> {
    let mut buffer = Buffer::addressed(context, size_of_val(all), INPUT)?;
    buffer.bytes_mut().copy_from_slice(bytes(all));
    Ok(buffer)
}

impl Ready {
    /// # Errors
    /// Those that begin with [`crate::pictures::MISSING`] say that the driver has no ray tracing.
    pub fn new(context: &Rc<Context>) -> Result<Ready> {
        Ready::by(context, By::Query)
    }

    /// The first rays are traced by this.
    fn by(context: &Rc<Context>, by: By) -> Result<Ready> {
        if by == By::Query {
            context.needs(ash::khr::ray_query::NAME)?;
        }
        let structures = Structures::new(context)?;
        let positions = city::triangles();
        let vertices = filled(context, &positions)?;
        let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
        let bottom = structures.build(flags, &triangles(&vertices), positions.len() as u32 / 3)?;
        let top = structures.top(&[structure::instance(bottom.address, [0.0; 3])])?;
        let primary = city::primary(city::EYE);
        let tracer = Tracer::new(context, by, 0, 0.0)?;
        let rays = filled(context, &primary)?;
        let hits = Buffer::addressed(context, primary.len() * 8, vk::BufferUsageFlags::empty())?;
        let count = primary.len() as u32;
        context.run(|_, c| tracer.record(c, &top, &rays, &hits, count))?;
        let (shadow, diffuse) = city::secondary(&positions, &primary, |i| {
            let [t, triangle] = [0, 1].map(|k| hits.words()[i * 2 + k]);
            let t = f32::from_bits(t);
            (t >= 0.0 && (triangle as usize) < positions.len() / 3).then_some((t, triangle as usize))
        });
        if shadow.is_empty() {
            return Err(Error("no ray hits the scene".into()));
        }
        let counts = [count, shadow.len() as u32, diffuse.len() as u32];
        let rays = [rays, filled(context, &shadow)?, filled(context, &diffuse)?];
        Ok(Ready {
            context: context.clone(),
            structures,
            positions,
            vertices,
            bottom,
            top,
            rays,
            counts,
            row: None,
        })
    }

    /// Seconds for a million rays, triangles or instances, repeated for about `budget_ms`.
    pub fn time(&mut self, spec: &'static Spec, budget_ms: u64) -> Result<Span> {
        if self.row.as_ref().is_none_or(|r| r.name != spec.name) {
            self.leave();
            self.row = Some(self.make(spec)?);
        }
        let Some(row) = &self.row else { return Err(Error("no row".into())) };
        let start = Moment::now();
        let mut times = 0;
        loop {
            self.context.submit_and_wait(row.commands)?;
            times += 1;
            let span = start.elapsed();
            if span.wall * 1e3 >= budget_ms as f64 {
                let n = f64::from(times) * f64::from(row.count) / 1e6;
                return Ok(Span { wall: span.wall / n, cpu: span.cpu / n });
            }
        }
    }

    fn leave(&mut self) {
        if let Some(row) = self.row.take() {
            self.context.free(row.commands);
        }
    }

    /// Sets a row up and runs it once: what is compiled is compiled, pages are touched, and the hits are compared with what they must be.
    fn make(&self, spec: &'static Spec) -> Result<Row> {
        let context = &self.context;
        let triangle_count = self.positions.len() as u32 / 3;
        let mut row = Row {
            name: spec.name,
            commands: vk::CommandBuffer::null(),
            count: triangle_count,
            _tracer: None,
            _structures: vec![],
            _buffers: vec![],
        };
        match spec.what {
            What::Trace(by, of) => {
                let (rays, count) = (&self.rays[of as usize], self.counts[of as usize]);
                // TERMINATE_ON_FIRST_HIT and SKIP_CLOSEST_HIT.
                let flags = if of == Rays::Shadow { 0xC } else { 0 };
                let tracer = Tracer::new(context, by, flags, 0.0)?;
                let hits = Buffer::addressed(context, count as usize * 8, vk::BufferUsageFlags::empty())?;
                row.commands = context.record(|_, c| tracer.record(c, &self.top, rays, &hits, count))?;
                context.submit_and_wait(row.commands)?;
                let t = hits.words().iter().step_by(2).map(|t| f32::from_bits(*t));
                let found = t.filter(|t| *t >= 0.0).count() as f64;
                if (found / of.hits() - 1.0).abs() > 1e-4 {
                    return Err(Error(format!("{found} rays hit something, not {}", of.hits())));
                }
                row.count = count;
                row._tracer = Some(tracer);
                row._buffers.push(hits);
            }
            What::Build(flags) => {
                let job = self.structures.prepare(flags, &triangles(&self.vertices), triangle_count)?;
                row.commands = context.record(|_, c| self.structures.record(c, &job, false))?;
                context.submit_and_wait(row.commands)?;
                row._buffers.push(job.scratch);
                row._structures.push(job.to);
            }
            What::Update => {
                let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE
                    | vk::BuildAccelerationStructureFlagsKHR::ALLOW_UPDATE;
                let job = self.structures.prepare(flags, &triangles(&self.vertices), triangle_count)?;
                context.run(|_, c| self.structures.record(c, &job, false))?;
                row.commands = context.record(|_, c| self.structures.record(c, &job, true))?;
                context.submit_and_wait(row.commands)?;
                row._buffers.push(job.scratch);
                row._structures.push(job.to);
            }
            What::Top => {
                // Scattered over a square, so that few of them overlap.
                let at = |k: u32| {
                    let mixed = k.wrapping_mul(0x9E37_79B1);
                    [(mixed >> 20) as f32 * 400.0, 0.0, (mixed >> 8 & 0xFFF) as f32 * 400.0]
                };
                let all: Vec<_> =
                    (0..INSTANCES).map(|k| structure::instance(self.bottom.address, at(k))).collect();
                let data = filled(context, &all)?;
                let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
                let job = self.structures.prepare(flags, &structure::instances(&data), INSTANCES)?;
                row.commands = context.record(|_, c| self.structures.record(c, &job, false))?;
                context.submit_and_wait(row.commands)?;
                row.count = INSTANCES;
                row._buffers.extend([job.scratch, data]);
                row._structures.push(job.to);
            }
        }
        Ok(row)
    }
}

/// A ray: origin, least t, direction, greatest t; and what it hits: bits of t (below 0: nothing) and the triangle's number.
pub type Traced = ([f32; 8], [u32; 2]);

/// Traces the rays of all kinds by a ray tracing pipeline, or `given` ones. Of shadow rays, which end with any hit, both words of a hit are 0.
pub fn hits(context: &Rc<Context>, given: Option<[Vec<[f32; 8]>; 3]>) -> Result<[Vec<Traced>; 3]> {
    let ready = Ready::by(context, By::Pipeline)?;
    let of = |rays: Rays| -> Result<Vec<Traced>> {
        let own = || {
            let words = ready.rays[rays as usize].words();
            words.as_chunks::<8>().0.iter().map(|r| r.map(f32::from_bits)).collect()
        };
        let list = given.as_ref().map_or_else(own, |given| given[rays as usize].clone());
        let flags = if rays == Rays::Shadow { 0xC } else { 0 };
        let tracer = Tracer::new(context, By::Pipeline, flags, 0.0)?;
        let hits = Buffer::addressed(context, list.len() * 8, vk::BufferUsageFlags::empty())?;
        let buffer = filled(context, &list)?;
        context.run(|_, c| tracer.record(c, &ready.top, &buffer, &hits, list.len() as u32))?;
        Ok(list.into_iter().zip(hits.words().as_chunks::<2>().0.iter().copied()).collect())
    };
    Ok([of(Rays::Primary)?, of(Rays::Shadow)?, of(Rays::Diffuse)?])
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Creation of a pipeline that no cache has, and a trace of 64 rays with it. Whatever the driver sets up once is done before, with another
/// pipeline.
pub fn first(context: &Rc<Context>, name: &str, seed: u64) -> Result<Span> {
    let by = match FIRST.iter().position(|f| *f == name) {
        Some(0) => By::Query,
        Some(1) => By::Pipeline,
        _ => return Err(Error(format!("no first trace is called {name}"))),
    };
    context.needs(ash::khr::ray_query::NAME)?;
    const RAYS: u32 = 64;
    let structures = Structures::new(context)?;
    let corners: [city::V; 3] = [[-1.0, -1.0, 1.0], [3.0, -1.0, 1.0], [-1.0, 3.0, 1.0]];
    let vertices = filled(context, &corners)?;
    let bottom = structures.build(Default::default(), &triangles(&vertices), 1)?;
    let top = structures.top(&[structure::instance(bottom.address, [0.0; 3])])?;
    let ray = |k: u32| [0.0, k as f32 / 128.0, 0.0, 0.0, 0.0, 0.0, 1.0, 10.0];
    let all: Vec<city::Ray> = (0..RAYS).map(ray).collect();
    let rays = filled(context, &all)?;
    let hits = Buffer::addressed(context, RAYS as usize * 8, vk::BufferUsageFlags::empty())?;
    // Of so many values each seed is a constant of its own.
    let constant = |seed: u64| (seed >> 40) as f32 / (1u64 << 24) as f32 + 0.5;
    let run = |seed: u64| -> Result<Tracer> {
        let tracer = Tracer::new(context, by, 0, constant(seed))?;
        context.run(|_, c| tracer.record(c, &top, &rays, &hits, RAYS))?;
        Ok(tracer)
    };
    let before = run(!seed)?;
    let start = Moment::now();
    let tracer = run(seed)?;
    let span = start.elapsed();
    drop((before, tracer));
    if hits.words().iter().step_by(2).any(|t| f32::from_bits(*t) != 1.0) {
        return Err(Error("not all rays hit the triangle at 1".into()));
    }
    Ok(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own() {
        let mut names: Vec<_> = ROWS.iter().map(|r| r.name).chain(FIRST).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn the_scene_is_large_and_mixed() {
        let t = city::triangles();
        assert_eq!(t.len() % 3, 0);
        assert!(t.len() / 3 > 1_000_000, "{}", t.len() / 3);
        let longest = |t: &[city::V]| {
            let side = |a: city::V, b: city::V| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f32>().sqrt();
            side(t[0], t[1]).max(side(t[1], t[2])).max(side(t[2], t[0]))
        };
        let sides: Vec<f32> = t.as_chunks::<3>().0.iter().map(|t| longest(t)).collect();
        assert!(sides.iter().any(|s| *s > 1000.0) && sides.iter().filter(|s| **s < 0.5).count() > 100_000);
        assert_eq!(city::primary(city::EYE).len(), 1024 * 768);
    }
}

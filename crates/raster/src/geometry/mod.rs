//! Geometry: from a recorded draw to primitives that tiles can draw (design, section 3).
//!
//! A draw's primitives are cut into chunks of about a thousand, the same at any thread count. For each chunk a thread
//! assembles ([`assembly`]: which vertices, each once), fetches and shades ([`fetch`], [`vertex`]: waves whose outputs
//! become columns), culls, clips ([`clip`]) and sets up ([`setup`] for sixteen filled triangles at a time, [`points`],
//! [`raster`], [`line`], [`bresenham`] for what is rarer). What chunks made is appended in their order. [`bin`] then sorts
//! primitives into tiles.

pub mod assembly;
mod batch;
pub mod bin;
pub mod bresenham;
pub mod clip;
mod conservative;
mod counts;
pub mod feedback;
pub mod fetch;
pub mod line;
pub mod mesh;
mod parallel;
mod pieces;
pub mod plane;
mod points;
pub mod raster;
pub mod setup;
pub mod stages;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
pub mod traffic;
#[cfg(test)]
pub(crate) use tests::polygons::every_level_gives_the_same_bits;
pub mod vertex;
pub mod viewport;
pub mod within;
mod work;

use crate::draw::{Call, Draw};
use crate::layout::Grid;
use crate::record::mesh::MeshOut;
use crate::state::{GraphicsPipeline, Rect, State};
use assembly::{Assembly, TopologyClass};
pub use batch::Batch;
use counters::Event;
pub use counts::GeometryCounts;
use feedback::Feedback;
use fetch::Fetch;
use machine::instrumentation::{Active, Blocks};
use machine::lost::{Blame, Title};
use machine::shared::Shared;
use parking_lot::Mutex;
use pieces::Halt;
use plane::Bias;
use raster::Rasterizer;
use shader::bytecode::Program;
use shader::cost::COUNTED;
use stages::Stages;
use stream::Unnoted;
use texel::format::FormatInfo;
use vertex::Outputs;
pub use vertex::has_rate;
use viewport::Map;
use wave::graphics::Job;
use wave::{Host, Stop, Table};
use work::{Work, stream_of, streams};

/// Primitives for which room is made beforehand.
const MOST: u64 = 1 << 22;

/// What geometry makes of a pipeline and a state before any draw with them.
pub struct Prepared {
    /// What rasterisation wants of a last stage that is a vertex or mesh shader.
    outputs: Outputs,
    maps: Vec<Map>,
    bias: Option<Bias>,
}

impl Prepared {
    /// For draws within `area`; `depth`: the depth attachment's format; `recorded`: primitives' ids are wanted.
    pub fn new(
        p: &GraphicsPipeline,
        s: &State,
        area: Rect,
        depth: Option<&'static FormatInfo>,
        recorded: bool,
    ) -> Prepared {
        let mut outputs = Outputs::new(&p.vertex, p.fragment.as_deref(), 0);
        outputs.ids |= recorded;
        Prepared {
            outputs,
            maps: Map::all(s, area),
            bias: s.raster.depth_bias.as_ref().map(|b| Bias::new(b, depth)),
        }
    }
}

/// What a draw is drawn in.
pub struct GeometryContext<'a> {
    pub shared: &'a Shared,
    pub host: &'a dyn Host,
    /// The draw's.
    pub tables: &'a [Table],
    /// Names the draw's vertex program with its bindings, as [`Job::serial`].
    pub serial: u64,
    /// Pixels that may be drawn.
    pub area: Rect,
    /// Where tiles begin.
    pub grid: Grid,
    /// Where an instrumented draw's metrics go.
    pub active: Option<&'a Active>,
    /// Layers of the framebuffer (without multiview).
    pub layers: u32,
    /// Which of its command's draws it is.
    pub index: u32,
    /// The view to draw, with multiview.
    pub view: Option<u32>,
    pub prepared: &'a Prepared,
    /// Of a recorded draw: what its vertices become goes there too.
    pub record: Option<&'a Mutex<MeshOut>>,
}

/// Where a draw's geometry stopped.
pub enum Stopped<'d> {
    Stage {
        stop: Stop,
        stage: &'static str,
        program: &'d Program,
    },
    /// There is no memory for this.
    Memory(&'static str),
}

impl Stopped<'_> {
    const PRIMITIVES: Self = Stopped::Memory("the primitives of a draw");

    pub fn blame(&self, title: &Title) -> Blame {
        match self {
            Stopped::Stage { stop, stage, program } => Blame::new(*stop, stage, program, title),
            Stopped::Memory(what) => Blame::memory(what),
        }
    }
}

/// Runs one call of a draw and hands its primitives to `each`, in order, until that says false: most draws' at once, after those
/// that `out` has already, those of large ones in parts.
///
/// # Errors
/// The fault that ended a vertex wave; what came before it has been handed on.
pub fn run<'d>(
    ctx: &GeometryContext,
    draw: &'d Draw,
    call: &Call,
    feedback: Option<&mut Feedback>,
    out: &mut Box<Batch>,
    each: &mut dyn FnMut(&mut Box<Batch>) -> bool,
) -> Result<(), Stopped<'d>> {
    let assembly = match Assembly::new(&ctx.shared.hub, draw, call) {
        Ok(assembly) => assembly,
        Err(Unnoted::Memory) => return Err(Stopped::Memory("the places of primitive restarts")),
        // Whoever asked for it says so.
        Err(Unnoted::Stopped) => return Ok(()),
    };
    let events = &mut out.counts.events;
    events[Event::InputVertices] += assembly.vertices * call.instances as u64;
    events[Event::InputPrimitives] += assembly.total;
    events[assembly.kind.event()] += assembly.total;
    // Of all instances: what one has read, the L2 has for the next, and a draw that large has few.
    events[Event::TilerReadBeats] += assembly.index_bytes().div_ceil(16);
    if assembly.total == 0 {
        each(out);
        return Ok(());
    }
    let pipeline = &*draw.pipeline;
    let state = &*draw.state;
    let last = &**pipeline.last();
    let stages = Stages::new(draw, ctx.view);
    // What stages make, and what is captured, is wanted by stream.
    let mut by_stream = (stages.is_some() || feedback.is_some()).then(|| streams(draw, feedback.is_some()));
    by_stream.iter_mut().flatten().flatten().for_each(|o| o.ids |= ctx.record.is_some());
    // Where a stream is chosen that nothing is emitted to, nothing is drawn.
    let nothing = Outputs::default();
    let outputs = match &by_stream {
        Some(streams) => streams[stream_of(draw)].as_ref().unwrap_or(&nothing),
        None => &ctx.prepared.outputs,
    };
    let kind = stages.as_ref().map_or(assembly.kind, |s| s.kind);
    let raster = Rasterizer::new(ctx, state, outputs, kind, assembly.provoking_of(kind));
    let fetch = Fetch::new(draw, call, &pipeline.vertex, ctx.index, ctx.view);
    // (Vertices of a recorded draw are kept in their order.)
    let strips = kind == TopologyClass::Line && state.raster.stipple.is_some() || ctx.record.is_some();
    let program = &*pipeline.vertex;
    let active = ctx.active.filter(|_| program.profile.mark_count > 0);
    let (instrumented, blocks) = (active.is_some(), Blocks::default());
    // What a program writes it must write once.
    let counted = COUNTED && ctx.shared.observed.counts();
    let once = program.interface.writes_memory || !counted || stages.is_some();
    let deferred = if once { 0 } else { counters::model::current().tiler.deferred };
    let staged = stages.zip(by_stream.as_ref());
    let job = Job {
        serial: ctx.serial,
        program: &pipeline.vertex,
        tables: ctx.tables,
        push: &draw.bindings.push,
        host: ctx.host,
        arena: ctx.shared.arena(),
    };
    let shared = ctx.shared;
    let work = Work {
        shared,
        job,
        assembly,
        fetch,
        raster,
        outputs,
        staged,
        program,
        stream: stream_of(draw),
        last,
        counted,
        deferred,
        grid: ctx.grid,
        instrumented,
        blocks,
    };
    // A stipple pattern goes on from chunk to chunk, and so does what transform feedback has written.
    let result = pieces::deal(shared, &work, strips, feedback, out, each);
    work.blocks.add_to(&shared.model.core, active, ctx.index, ash::vk::ShaderStageFlags::VERTEX);
    for (_, stage) in work.staged.iter().flat_map(|(s, _)| s.each()) {
        let active = ctx.active.filter(|_| stage.instrumented);
        stage.blocks.add_to(&shared.model.core, active, ctx.index, stage.stage);
    }
    result.map_err(|halt| {
        let Halt::Stop(stop) = halt else { return Stopped::PRIMITIVES };
        let stopped = work.staged.as_ref().and_then(|(s, _)| s.stopped());
        let of = |i: usize| Some((stages::NAMES[i], draw.pipeline.stages()[i]?));
        let (stage, program) = stopped.and_then(of).unwrap_or(("vertex", &pipeline.vertex));
        Stopped::Stage { stop, stage, program }
    })
}

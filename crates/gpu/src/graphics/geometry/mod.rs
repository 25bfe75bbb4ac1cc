//! Geometry: from a recorded draw to primitives that tiles can draw (design, section 3).
//!
//! A draw's primitives are cut into chunks of about a thousand, the same at any thread count. For each chunk a thread
//! assembles ([`assembly`]: which vertices, each once), fetches and shades ([`fetch`], [`vertex`]: waves whose outputs
//! become columns), culls, clips ([`clip`]) and sets up ([`setup`] for sixteen filled triangles at a time, [`raster`],
//! [`line`], [`bresenham`] for what is rarer). What chunks made is appended in their order. [`bin`] then sorts
//! primitives into tiles.

pub mod assembly;
pub mod bin;
pub mod bresenham;
pub mod clip;
pub mod fetch;
mod level;
pub mod line;
pub mod plane;
pub mod raster;
pub mod setup;
#[cfg(test)]
mod tests;
pub mod vertex;
pub mod viewport;

use crate::device::Shared;
use crate::format::FormatInfo;
use crate::graphics::draw::{Call, Draw};
use crate::graphics::prim::{Plane, Prim};
use crate::graphics::state::Rect;
use assembly::{Assembled, Assembly, Kind};
use fetch::Fetch;
use line::Stipple;
use parking_lot::Mutex;
use plane::Bias;
use raster::Rasterizer;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use vertex::{Outputs, Vertices};
use viewport::Map;
use wave::graphics::{Job, Lanes};
use wave::{Fault, Host, Table, Worker};

/// What a draw is drawn in.
pub struct GeometryContext<'a> {
    pub shared: &'a Shared,
    pub host: &'a dyn Host,
    /// Names the draw's vertex program with its bindings, as [`Job::serial`].
    pub serial: u64,
    /// Pixels that may be drawn.
    pub area: Rect,
    /// Layers of the framebuffer (without multiview).
    pub layers: u32,
    /// The depth attachment's format.
    pub depth: Option<&'static FormatInfo>,
}

/// Counts of vertex pipeline statistics (Vulkan specification, "Pipeline Statistics Queries").
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub input_vertices: u64,
    pub input_primitives: u64,
    pub vertex_invocations: u64,
    pub clipping_invocations: u64,
    pub clipping_primitives: u64,
}

impl Statistics {
    pub fn add(&mut self, o: &Statistics) {
        self.input_vertices += o.input_vertices;
        self.input_primitives += o.input_primitives;
        self.vertex_invocations += o.vertex_invocations;
        self.clipping_invocations += o.clipping_invocations;
        self.clipping_primitives += o.clipping_primitives;
    }
}

/// Primitives of one or more draws, in order.
#[derive(Default)]
pub struct Batch {
    pub prims: Vec<Prim>,
    /// [`Prim::planes`] points here.
    pub planes: Vec<Plane>,
    /// [`Prim::pixels`] points here.
    pub pixels: Vec<[i32; 2]>,
    pub statistics: Statistics,
}

impl Batch {
    /// Empty again; the memory is kept.
    pub fn clear(&mut self) {
        self.prims.clear();
        self.planes.clear();
        self.pixels.clear();
        self.statistics = Statistics::default();
    }
}

/// What a thread keeps from draw to draw.
#[derive(Default)]
struct Scratch {
    chunk: Assembled,
    vertices: Vertices,
}

thread_local! {
    static SCRATCH: std::cell::RefCell<Option<Box<Scratch>>> = const { std::cell::RefCell::new(None) };
}

/// Runs `f` with the thread's scratch (with a new one if a draw is under way on this thread already, which happens
/// when the pool makes it help elsewhere).
fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.with(|s| s.borrow_mut().take()).unwrap_or_default();
    let result = f(&mut scratch);
    SCRATCH.with(|s| *s.borrow_mut() = Some(scratch));
    result
}

/// One call of a draw, ready to be run chunk by chunk.
struct Work<'a> {
    assembly: Assembly,
    fetch: Fetch,
    raster: Rasterizer<'a>,
    outputs: &'a Outputs,
}

impl Work<'_> {
    fn chunk(
        &self,
        c: u64,
        s: &mut Scratch,
        lanes: &mut Lanes,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        self.assembly.assemble(c, &mut s.chunk);
        out.statistics.vertex_invocations += s.chunk.index.len() as u64;
        s.vertices.shade(self.outputs, &self.fetch, &s.chunk, lanes)?;
        if !self.raster.maps.is_empty() {
            s.vertices.place(self.raster.level, self.outputs, &self.raster.maps, self.raster.clip_z);
        }
        self.raster.chunk(&s.vertices, &s.chunk, stipple, out);
        Ok(())
    }
}

/// A chunk's results in the batch of the thread that made them.
struct Piece {
    chunk: u64,
    thread: usize,
    prims: std::ops::Range<usize>,
    planes: std::ops::Range<usize>,
    pixels: std::ops::Range<usize>,
}

/// Runs one call of a draw and appends its primitives to `out`. `view`: the view to draw, with multiview.
///
/// # Errors
/// The fault that ended a vertex wave; `out` then holds some of the primitives.
pub fn run(
    ctx: &GeometryContext,
    draw: &Draw,
    call: &Call,
    draw_index: u32,
    view: Option<u32>,
    out: &mut Batch,
) -> Result<(), Fault> {
    let assembly = Assembly::new(draw, call);
    out.statistics.input_vertices += assembly.vertices * call.instances as u64;
    out.statistics.input_primitives += assembly.total;
    if assembly.total == 0 {
        return Ok(());
    }
    let pipeline = &*draw.pipeline;
    let state = &*draw.state;
    let outputs = Outputs::new(&pipeline.vertex, pipeline.fragment.as_deref());
    let bias = state.raster.depth_bias.as_ref().map(|b| Bias::new(b, ctx.depth));
    let raster = Rasterizer::new(
        ctx.shared.level,
        state,
        &outputs,
        Map::all(state, ctx.area),
        bias,
        assembly.kind,
        assembly.provoking(),
        (ctx.layers, view),
    );
    let fetch = Fetch::new(draw, call, &pipeline.vertex, draw_index, view);
    let strips = assembly.kind == Kind::Line && state.raster.stipple.is_some();
    let chunks = assembly.chunks();
    let work = Work { assembly, fetch, raster, outputs: &outputs };

    let mut tables = [Table::NONE; 33];
    for (t, s) in tables.iter_mut().zip(&draw.bindings.sets) {
        if let Some(s) = s {
            *t = Table { ptr: s.ptr(), size: s.size() as u64 };
        }
    }
    if let Some(s) = &draw.bindings.dynamic {
        tables[32] = Table { ptr: s.ptr(), size: s.size() as u64 };
    }
    let job = Job {
        serial: ctx.serial,
        program: &pipeline.vertex,
        tables: &tables,
        push: &draw.bindings.push,
        host: ctx.host,
        arena: crate::memory::arena(),
    };

    let shared = ctx.shared;
    let threads = (shared.threads as u64).min(chunks) as usize;
    // A stipple pattern goes on from chunk to chunk.
    if threads <= 1 || strips {
        return with_worker(shared, |worker| {
            with_scratch(|scratch| {
                let mut lanes = worker.open(&job)?;
                let mut stipple = Stipple::default();
                (0..chunks).try_for_each(|c| work.chunk(c, scratch, &mut lanes, &mut stipple, out))
            })
        });
    }

    let next = AtomicU64::new(0);
    let fault: Mutex<Option<Fault>> = Mutex::new(None);
    let done: Mutex<(Vec<(usize, Batch)>, Vec<Piece>)> = Mutex::default();
    let thread = |number: usize| {
        let mut batch = Batch::default();
        let mut pieces = Vec::new();
        let result = with_worker(shared, |worker| {
            with_scratch(|scratch| {
                let mut lanes = worker.open(&job)?;
                loop {
                    let chunk = next.fetch_add(1, Relaxed);
                    if chunk >= chunks {
                        return Ok(());
                    }
                    let from = (batch.prims.len(), batch.planes.len(), batch.pixels.len());
                    work.chunk(chunk, scratch, &mut lanes, &mut Stipple::default(), &mut batch)?;
                    pieces.push(Piece {
                        chunk,
                        thread: number,
                        prims: from.0..batch.prims.len(),
                        planes: from.1..batch.planes.len(),
                        pixels: from.2..batch.pixels.len(),
                    });
                }
            })
        });
        if let Err(f) = result {
            fault.lock().get_or_insert(f);
            next.store(chunks, Relaxed);
        }
        let mut done = done.lock();
        done.0.push((number, batch));
        done.1.append(&mut pieces);
    };
    shared.pool.in_place_scope(|s| {
        for number in 1..threads {
            let thread = &thread;
            s.spawn(move |_| thread(number));
        }
        thread(0);
    });
    if let Some(f) = fault.into_inner() {
        return Err(f);
    }
    let (mut batches, mut pieces) = done.into_inner();
    batches.sort_unstable_by_key(|b| b.0);
    pieces.sort_unstable_by_key(|p| p.chunk);
    append(shared, &batches, &pieces, out);
    Ok(())
}

fn with_worker<R>(shared: &Shared, f: impl FnOnce(&mut Worker) -> R) -> R {
    let mut worker = shared.workers.take(shared.level);
    let result = f(&mut worker);
    shared.workers.give(worker);
    result
}

/// Appends threads' results in the order of chunks, in parallel.
fn append(shared: &Shared, batches: &[(usize, Batch)], pieces: &[Piece], out: &mut Batch) {
    let sum = |f: fn(&Piece) -> usize| pieces.iter().map(f).sum::<usize>();
    let (prims, planes, pixels) = (sum(|p| p.prims.len()), sum(|p| p.planes.len()), sum(|p| p.pixels.len()));
    for (_, b) in batches {
        out.statistics.add(&b.statistics);
    }
    let (prims_at, planes_at, pixels_at) = (out.prims.len(), out.planes.len(), out.pixels.len());
    out.prims.reserve(prims);
    out.planes.reserve(planes);
    out.pixels.reserve(pixels);
    let (mut to_prims, mut to_planes, mut to_pixels) = (
        &mut out.prims.spare_capacity_mut()[..prims],
        &mut out.planes.spare_capacity_mut()[..planes],
        &mut out.pixels.spare_capacity_mut()[..pixels],
    );
    shared.pool.in_place_scope(|s| {
        let (mut plane_base, mut pixel_base) = (planes_at, pixels_at);
        for p in pieces {
            let batch = &batches[p.thread].1;
            let (a, b, c);
            (a, to_prims) = to_prims.split_at_mut(p.prims.len());
            (b, to_planes) = to_planes.split_at_mut(p.planes.len());
            (c, to_pixels) = to_pixels.split_at_mut(p.pixels.len());
            let (first_plane, first_pixel) = (plane_base, pixel_base);
            plane_base += p.planes.len();
            pixel_base += p.pixels.len();
            s.spawn(move |_| {
                for (to, from) in a.iter_mut().zip(&batch.prims[p.prims.clone()]) {
                    let mut prim = from.clone();
                    prim.planes = prim.planes - p.planes.start as u32 + first_plane as u32;
                    if prim.pixels.1 > 0 {
                        prim.pixels.0 = prim.pixels.0 - p.pixels.start as u32 + first_pixel as u32;
                    }
                    to.write(prim);
                }
                for (to, from) in b.iter_mut().zip(&batch.planes[p.planes.clone()]) {
                    to.write(*from);
                }
                for (to, from) in c.iter_mut().zip(&batch.pixels[p.pixels.clone()]) {
                    to.write(*from);
                }
            });
        }
    });
    // SAFETY: the pieces fill the room exactly.
    unsafe {
        out.prims.set_len(prims_at + prims);
        out.planes.set_len(planes_at + planes);
        out.pixels.set_len(pixels_at + pixels);
    }
}

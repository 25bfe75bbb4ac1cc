//! Ray queries of waves, and the threads that build acceleration structures.

use crate::pool::Pool;
use bvh::{Bytes, Histogram, Hit, HitKind, Ray, Rays, Scene, Step, Traversal, Visits, WarpVisits};
use parking_lot::Mutex;
use shader::ir::{Intersection, RayAttribute, RayOp};
use simd::Level;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use texel::memory::AddressSpace;
use wave::tally::{RayCounts, RayUnit};
use wave::{Queries, RayWave};

/// A device's threads, as builders of structures use them.
pub struct Builders<'a>(pub &'a Pool);

impl bvh::Pool for Builders<'_> {
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        self.0.run(tasks as u64, &|| {
            loop {
                let task = next.fetch_add(1, Relaxed);
                if task >= tasks {
                    return;
                }
                f(task);
            }
        });
    }
    fn threads(&self) -> usize {
        self.0.threads()
    }
}

/// The structures that lie in a device's memory.
pub struct Structures<'a>(pub &'a AddressSpace);

impl Structures<'_> {
    /// What lies at a device address, which a shader may have made up; `None`: it is no memory.
    pub fn at(&self, address: u64) -> Option<Bytes> {
        if address == 0 || !address.is_multiple_of(256) {
            return None;
        }
        let n = self.0.from(address)?;
        // SAFETY: so many bytes of the device's memory can be read and written, by anybody at any time.
        Some(unsafe { Bytes::new(address as *mut u8, usize::try_from(n).unwrap_or(usize::MAX)) })
    }
}

impl Scene for Structures<'_> {
    fn bottom(&self, address: u64) -> Option<Bytes> {
        self.at(address)
    }
}

/// How many rays the workload under way has begun in each structure, by address: kept for a capture. A device runs one workload at a time.
#[derive(Default)]
pub struct Begun(Mutex<BTreeMap<u64, u64>>);

impl Begun {
    /// So many rays begin in the structure at this address.
    pub fn add(&self, top: u64, rays: u64) {
        if settings::get().capture.is_some() {
            *self.0.lock().entry(top).or_default() += rays;
        }
    }
    /// Those of the workload that has ended.
    pub fn take(&self) -> BTreeMap<u64, u64> {
        std::mem::take(&mut self.0.lock())
    }
}

/// Adds to a program's counts what warps of rays visited. `begun`: how many rays began.
pub fn add_visits(counts: &mut RayCounts, seen: &Histogram, begun: u64) {
    use RayUnit::*;
    counts[Begun] += begun;
    let all = |bins: &[u64; 4]| bins.iter().sum::<u64>();
    counts[Boxes] += 8 * all(&seen.nodes) + 4 * all(&seen.boxes);
    for (k, to) in [BoxNodes1, BoxNodes5, BoxNodes9, BoxNodes13].into_iter().enumerate() {
        counts[to] += seen.nodes[k] + seen.boxes[k];
    }
    for (k, to) in [TriangleNodes1, TriangleNodes5, TriangleNodes9, TriangleNodes13].into_iter().enumerate() {
        counts[to] += seen.triangles[k];
    }
    counts[OpaqueHits] += seen.opaque_hits;
    counts[OtherHits] += seen.other_hits;
    counts[Misses] += seen.misses;
    counts[FirstHits] += seen.first_hits;
}

/// Lanes of the widest wave.
pub const LANES: usize = 256;

/// How far a query is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Progress {
    /// Never begun, or ended.
    #[default]
    Ended,
    /// Begun; no step was taken yet.
    Begun,
    /// Its traversal waits at a candidate.
    Candidate,
}

/// One query of one lane.
struct Query {
    progress: Progress,
    ray: Ray,
    /// Address of the structure that the ray began in.
    top: u64,
    /// What the traversal found that has ended.
    committed: Hit,
    /// What the query is at between the steps of a traversal with candidates. Kept for the next ray.
    traversal: Option<Box<Traversal>>,
}

impl Default for Query {
    fn default() -> Query {
        let ray =
            Ray { origin: [0.0; 3], t_min: 0.0, direction: [0.0; 3], t_max: 0.0, flags: 0, cull_mask: 0 };
        Query { progress: Progress::Ended, ray, top: 0, committed: Hit::default(), traversal: None }
    }
}

/// A wave's: query `q` of lane `l` at `q · LANES + l`.
#[derive(Default)]
struct Kept {
    queries: Vec<Query>,
    /// Room for the rays of a batch and what they hit: not cleared for each.
    rows: RayRows,
    hits: Vec<Hit>,
}

/// Runs an op for a wave's lanes. `counted`: what rays visit is counted, and told here where they begin.
pub fn run(wave: &mut RayWave, structures: &Structures, level: Level, counted: Option<&Begun>) {
    // Rays that go on after candidates.
    let mut visits = counted.map(|_| WarpVisits::default());
    let count = wave.count as usize;
    let mut kept = take(wave.queries, count);
    let mut batch = Batch::default();
    for (w, lanes) in wave.warps() {
        let numbers = wave.query(w);
        for (lane, number) in numbers.into_iter().enumerate() {
            let number = number as usize;
            if lanes >> lane & 1 == 0 || number >= count {
                continue;
            }
            let at = w * 16 + lane;
            let Some(q) = kept.queries.get_mut(number * LANES + at) else { continue };
            match wave.op {
                RayOp::Begin => {}
                RayOp::Proceed => match q.progress {
                    Progress::Begun => batch.add(at, number, q),
                    Progress::Candidate => {
                        let more = q.step(structures, visits.as_mut().map(|v| (v, at)));
                        wave.set(0, w, lane, more as u32);
                    }
                    Progress::Ended => wave.set(0, w, lane, 0),
                },
                RayOp::Terminate => q.end(),
                RayOp::Confirm => {
                    if let (Progress::Candidate, Some(t)) = (q.progress, &mut q.traversal) {
                        t.commit_triangle();
                    }
                }
                RayOp::Generate => {
                    let t_hit = f32::from_bits(wave.operand(0, w)[lane]);
                    if let (Progress::Candidate, Some(t)) = (q.progress, &mut q.traversal) {
                        t.commit_box(t_hit);
                    }
                }
                RayOp::Get(attribute, which) => {
                    let words = q.get(attribute, which, structures);
                    for (k, v) in words.into_iter().enumerate().take(attribute.components() as usize) {
                        wave.set(k, w, lane, v);
                    }
                }
            }
        }
        if wave.op == RayOp::Begin {
            begin(wave, &mut kept, w, lanes);
        }
    }
    if let Some(mut visits) = visits {
        add_visits(wave.asked.counts, &visits.take(), 0);
    }
    if !batch.lanes.is_empty() {
        batch.trace(&mut kept, structures, level, wave, counted);
    }
    wave.queries.kept = Some(kept);
}

/// The wave's queries, those of an earlier one ended.
fn take(queries: &mut Queries, count: usize) -> Box<Kept> {
    let old = queries.kept.take().and_then(|k| k.downcast::<Kept>().ok());
    let mut kept = old.unwrap_or_default();
    if std::mem::take(&mut queries.fresh) {
        kept.queries.iter_mut().for_each(|q| q.progress = Progress::Ended);
    }
    if kept.queries.len() < count * LANES {
        kept.queries.resize_with(count * LANES, Query::default);
    }
    kept
}

/// Begins the queries of a warp.
fn begin(wave: &RayWave, kept: &mut Kept, w: usize, lanes: u16) {
    let (numbers, tops) = (wave.query(w), wave.structure(w));
    let operands: [[u32; 16]; RayOp::BEGIN_OPERANDS - 1] = std::array::from_fn(|k| wave.operand(k, w));
    for lane in (0..16).filter(|l| lanes >> l & 1 != 0) {
        let number = numbers[lane] as usize;
        let Some(q) = kept.queries.get_mut(number * LANES + w * 16 + lane) else { continue };
        let float = |k: usize| f32::from_bits(operands[k][lane]);
        q.ray = Ray {
            flags: operands[0][lane],
            cull_mask: operands[1][lane] & 0xFF,
            origin: [2, 3, 4].map(float),
            t_min: float(5),
            direction: [6, 7, 8].map(float),
            t_max: float(9),
        };
        q.top = tops[lane];
        q.committed = Hit { t: q.ray.t_max, ..Hit::default() };
        q.progress = Progress::Begun;
    }
}

/// What a lane's query has found: its ray, the structure that it began in, and the committed hit. `None`: there is no such query.
pub fn committed(queries: &Queries, number: u32, lane: usize) -> Option<(Ray, u64, Hit)> {
    let kept = queries.kept.as_ref().filter(|_| !queries.fresh)?.downcast_ref::<Kept>()?;
    let q = kept.queries.get((number as usize).checked_mul(LANES)?.checked_add(lane)?)?;
    let hit = match (q.progress, &q.traversal) {
        (Progress::Candidate, Some(t)) => *t.committed(),
        _ => q.committed,
    };
    Some((q.ray, q.top, hit))
}

impl Query {
    fn end(&mut self) {
        if let (Progress::Candidate, Some(t)) = (self.progress, &self.traversal) {
            self.committed = *t.committed();
        }
        self.progress = Progress::Ended;
    }

    /// Goes on to the next candidate; false: there is none. `visits`: who is told of them, and the ray's lane.
    fn step(&mut self, structures: &Structures, visits: Option<(&mut WarpVisits, usize)>) -> bool {
        let Some(t) = &mut self.traversal else { return false };
        let step = match visits {
            None => t.next(structures),
            Some((visits, lane)) => {
                visits.ray(lane);
                t.next_counted(structures, visits)
            }
        };
        let more = step != Step::Done;
        if !more {
            self.end();
        }
        more
    }

    /// The words of an attribute.
    fn get(&self, attribute: RayAttribute, which: Intersection, structures: &Structures) -> [u32; 12] {
        let traversal = self.traversal.as_deref().filter(|_| self.progress == Progress::Candidate);
        let hit = match (which, traversal) {
            (Intersection::Candidate, Some(t)) => *t.candidate(),
            (Intersection::Committed, Some(t)) => *t.committed(),
            _ => self.committed,
        };
        let mut out = [0; 12];
        let mut put = |values: &[f32]| {
            for (to, v) in out.iter_mut().zip(values) {
                *to = v.to_bits();
            }
        };
        let transforms = || {
            let of_top = || bvh::transforms(structures.at(self.top)?, &hit);
            if hit.kind == HitKind::None { None } else { of_top() }
        };
        match attribute {
            RayAttribute::T => put(&[hit.t]),
            RayAttribute::Barycentrics => put(&hit.barycentrics),
            RayAttribute::RayTMin => put(&[self.ray.t_min]),
            RayAttribute::WorldRayDirection => put(&self.ray.direction),
            RayAttribute::WorldRayOrigin => put(&self.ray.origin),
            RayAttribute::ObjectToWorld => {
                put(&transforms().map_or(IDENTITY, |(m, _)| columns(&m)));
            }
            RayAttribute::WorldToObject => {
                put(&transforms().map_or(IDENTITY, |(_, m)| columns(&m)));
            }
            RayAttribute::ObjectRayDirection => {
                put(&transforms().map_or(self.ray.direction, |(_, m)| rotated(&m, self.ray.direction)));
            }
            RayAttribute::ObjectRayOrigin => {
                put(&transforms().map_or(self.ray.origin, |(_, m)| moved(&m, self.ray.origin)));
            }
            RayAttribute::VertexPositions => {
                let found = structures.at(hit.structure).and_then(|b| bvh::positions(b, &hit));
                put(found.unwrap_or_default().as_flattened());
            }
            _ => {
                out[0] = match attribute {
                    RayAttribute::Type => match (which, hit.kind) {
                        (Intersection::Candidate, HitKind::Box) => 1,
                        (Intersection::Candidate, _) => 0,
                        (Intersection::Committed, HitKind::None) => 0,
                        (Intersection::Committed, HitKind::Triangle) => 1,
                        (Intersection::Committed, HitKind::Box) => 2,
                    },
                    RayAttribute::InstanceCustomIndex => hit.custom_index,
                    RayAttribute::InstanceId => hit.instance,
                    RayAttribute::ShaderBindingTableRecordOffset => hit.sbt_offset,
                    RayAttribute::GeometryIndex => hit.geometry,
                    RayAttribute::PrimitiveIndex => hit.primitive,
                    RayAttribute::FrontFace => hit.front as u32,
                    RayAttribute::CandidateAABBOpaque => hit.opaque as u32,
                    _ => self.ray.flags,
                }
            }
        }
        out
    }
}

const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

/// Three rows of four as four columns of three.
pub fn columns(m: &[f32; 12]) -> [f32; 12] {
    std::array::from_fn(|k| m[k % 3 * 4 + k / 3])
}

/// A direction through three rows of four.
pub fn rotated(m: &[f32; 12], v: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|r| m[4 * r] * v[0] + m[4 * r + 1] * v[1] + m[4 * r + 2] * v[2])
}

/// A point through three rows of four.
pub fn moved(m: &[f32; 12], p: [f32; 3]) -> [f32; 3] {
    let v = rotated(m, p);
    [0, 1, 2].map(|r| v[r] + m[4 * r + 3])
}

/// [`bvh::trace`], and [`bvh::trace_counted`] where visits are counted.
pub fn trace(
    level: Level,
    top: Bytes,
    scene: &dyn Scene,
    rays: &Rays,
    hits: &mut [Hit],
    left: &mut dyn FnMut(usize, &Traversal, Step),
    visits: Option<&mut WarpVisits>,
) {
    match visits {
        None => bvh::trace(level, top, scene, rays, hits, left),
        Some(visits) => bvh::trace_counted(level, top, scene, rays, hits, left, visits),
    }
}

/// Rays of a wave's lanes that begin their way together.
#[derive(Default)]
struct Batch {
    /// Lane and number of each query.
    lanes: Vec<(usize, usize)>,
    top: u64,
    /// Not all begin in the same structure.
    mixed: bool,
}

impl Batch {
    fn add(&mut self, lane: usize, number: usize, q: &Query) {
        self.mixed |= !self.lanes.is_empty() && self.top != q.top;
        self.top = q.top;
        self.lanes.push((lane, number));
    }

    fn trace(
        &self,
        kept: &mut Kept,
        structures: &Structures,
        level: Level,
        wave: &mut RayWave,
        counted: Option<&Begun>,
    ) {
        if self.mixed {
            // One structure after the other.
            let mut tops: Vec<u64> =
                self.lanes.iter().map(|&(l, n)| kept.queries[n * LANES + l].top).collect();
            tops.sort_unstable();
            tops.dedup();
            for top in tops {
                let of = |&&(l, n): &&(usize, usize)| kept.queries[n * LANES + l].top == top;
                let lanes = self.lanes.iter().filter(of).copied().collect();
                Batch { lanes, top, mixed: false }.trace(kept, structures, level, wave, counted);
            }
            return;
        }
        let Kept { queries, rows, hits } = kept;
        rows.clear();
        hits.resize(LANES, Hit::default());
        let mut number_of = [0; LANES];
        for &(lane, number) in &self.lanes {
            let q = &queries[number * LANES + lane];
            rows.set(lane, &q.ray);
            number_of[lane] = number;
            hits[lane] = q.committed;
        }
        let mut waiting = [0u64; LANES / 64];
        let mut seen = counted.map(|_| WarpVisits::default());
        if let Some(top) = structures.at(self.top) {
            let mut left = |lane: usize, t: &Traversal, _| {
                let q = &mut queries[number_of[lane] * LANES + lane];
                match &mut q.traversal {
                    Some(own) => **own = t.clone(),
                    none => *none = Some(Box::new(t.clone())),
                }
                q.progress = Progress::Candidate;
                waiting[lane / 64] |= 1 << (lane % 64);
            };
            trace(level, top, structures, &rows.rays(), hits, &mut left, seen.as_mut());
        }
        if let Some(begun) = counted {
            begun.add(self.top, self.lanes.len() as u64);
        }
        if let Some(mut seen) = seen {
            add_visits(wave.asked.counts, &seen.take(), self.lanes.len() as u64);
        }
        for &(lane, number) in &self.lanes {
            let waits = waiting[lane / 64] >> (lane % 64) & 1;
            if waits == 0 {
                let q = &mut queries[number * LANES + lane];
                q.committed = hits[lane];
                q.progress = Progress::Ended;
            }
            wave.set(0, lane / 16, lane % 16, waits as u32);
        }
    }
}

/// Rays of a wave, component by component, as [`trace`] takes them.
pub struct RayRows {
    floats: [[f32; LANES]; 8],
    words: [[u32; LANES]; 2],
    mask: [u64; LANES / 64],
}

impl Default for RayRows {
    fn default() -> RayRows {
        RayRows { floats: [[0.0; LANES]; 8], words: [[0; LANES]; 2], mask: [0; LANES / 64] }
    }
}

impl RayRows {
    /// No lane has a ray.
    fn clear(&mut self) {
        self.mask = [0; LANES / 64];
    }

    pub fn set(&mut self, lane: usize, r: &Ray) {
        let [ox, oy, oz] = r.origin;
        let [dx, dy, dz] = r.direction;
        for (row, v) in self.floats.iter_mut().zip([ox, oy, oz, r.t_min, dx, dy, dz, r.t_max]) {
            row[lane] = v;
        }
        (self.words[0][lane], self.words[1][lane]) = (r.flags, r.cull_mask);
        self.mask[lane / 64] |= 1 << (lane % 64);
    }

    pub fn rays(&self) -> Rays<'_> {
        let f = |k: usize| &self.floats[k][..];
        Rays {
            origin: [f(0), f(1), f(2)],
            t_min: f(3),
            direction: [f(4), f(5), f(6)],
            t_max: f(7),
            flags: &self.words[0],
            cull_mask: &self.words[1],
            mask: &self.mask,
        }
    }
}

#[cfg(test)]
#[path = "rays_tests.rs"]
mod tests;

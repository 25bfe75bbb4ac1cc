//! The rays that one call of a wave traces (OpTraceRayKHR), from their beginning to the end of their closest-hit and miss shaders.

use super::host::{Decision, RayHost, Role};
use super::stage::{Caller, LANES, Words};
use super::table::{Record, record};
use bvh::{Hit, HitKind, Ray, Step, Traversal, Visits, WarpVisits, ray_flags};
use machine::rays::{RayRows, add_visits, trace};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use wave::{Fault, TraceWave};

/// HitKindFrontFacingTriangleKHR and HitKindBackFacingTriangleKHR.
const FRONT: u32 = 0xFE;
const BACK: u32 = 0xFF;

/// One ray.
#[derive(Clone, Copy)]
struct Way {
    ray: Ray,
    top: u64,
    /// Offset and stride of the ray in the table of hit groups, and number of its miss shader's record.
    offset: u32,
    stride: u32,
    miss: u32,
    launch: [u32; 3],
    committed: Hit,
    kind: u32,
    attributes: [u32; 8],
}

/// A ray at a candidate.
struct Waiting {
    lane: usize,
    traversal: Box<Traversal>,
}

pub struct Shot {
    ways: Vec<Option<Way>>,
    payload: Words,
    waiting: Vec<Waiting>,
    /// Where visits are told if they are counted.
    visits: Option<WarpVisits>,
}

/// Bits of a triangle's hit.
fn of_triangle(hit: &Hit) -> (u32, [u32; 8]) {
    let [u, v] = hit.barycentrics.map(f32::to_bits);
    (if hit.front { FRONT } else { BACK }, [u, v, 0, 0, 0, 0, 0, 0])
}

/// Candidates that any-hit shaders judge, and what they are told of each.
struct Candidate {
    lane: usize,
    hit: Hit,
    kind: u32,
    attributes: [u32; 8],
}

impl Shot {
    /// Where a ray ends at present.
    pub fn t_max(&self, lane: usize) -> f32 {
        let waiting = self.waiting.iter().find(|w| w.lane == lane);
        waiting.map_or(0.0, |w| w.traversal.t_max())
    }

    /// OpTraceRayKHR.
    ///
    /// # Errors
    /// The fault of a shader.
    pub fn trace(host: &RayHost, wave: &mut TraceWave) -> Result<(), Fault> {
        let context = host.context;
        if host.recursion >= context.pipeline.recursion {
            let stop = wave::Stop { fault: Fault::Depth, op: 0 };
            return Err(context.failed(stop, host.shader));
        }
        let mut shot = Shot::gather(host, wave);
        let begun = shot.ways.iter().flatten().count() as u64;
        shot.traverse(host)?;
        shot.judge(host)?;
        if let Some(visits) = &mut shot.visits {
            add_visits(wave.counts, &visits.take(), begun);
        }
        shot.finish(host)?;
        let [first, n] = wave.data();
        for (w, mask) in wave.warps() {
            for l in (0..16).filter(|l| mask >> l & 1 != 0) {
                let lane = w * 16 + l;
                (0..n).for_each(|k| wave.write(first + k, lane, shot.payload.get(k, lane)));
            }
        }
        Ok(())
    }

    fn gather(host: &RayHost, wave: &TraceWave) -> Shot {
        let [first, n] = wave.data();
        let counted = host.context.shared.observed.counts();
        let mut shot = Shot {
            ways: vec![None; LANES],
            payload: Words::new(n),
            waiting: vec![],
            visits: counted.then(WarpVisits::default),
        };
        for (w, mask) in wave.warps() {
            let tops = wave.structure(w);
            let rows: [[u32; 16]; 13] = std::array::from_fn(|k| wave.operand(k, w));
            for l in (0..16).filter(|l| mask >> l & 1 != 0) {
                let lane = w * 16 + l;
                let Some(caller) = host.callers.get(lane) else { continue };
                let float = |k: usize| f32::from_bits(rows[k][l]);
                let ray = Ray {
                    flags: rows[0][l],
                    cull_mask: rows[1][l] & 0xFF,
                    origin: [5, 6, 7].map(float),
                    t_min: float(8),
                    direction: [9, 10, 11].map(float),
                    t_max: float(12),
                };
                shot.ways[lane] = Some(Way {
                    ray,
                    top: tops[l],
                    offset: rows[2][l] & 15,
                    stride: rows[3][l] & 15,
                    miss: rows[4][l] & 0xFFFF,
                    launch: caller.launch,
                    committed: Hit { t: ray.t_max, ..Hit::default() },
                    kind: 0,
                    attributes: [0; 8],
                });
                (0..n).for_each(|k| shot.payload.set(k, lane, wave.read(first + k, lane)));
            }
        }
        shot
    }

    /// Brings each ray to its end or to its first candidate; one structure after the other.
    fn traverse(&mut self, host: &RayHost) -> Result<(), Fault> {
        let context = host.context;
        let structures = context.structures();
        let mut tops: Vec<u64> = self.ways.iter().flatten().map(|w| w.top).collect();
        tops.sort_unstable();
        tops.dedup();
        for top in tops {
            let mut rays = Box::new(RayRows::default());
            let mut hits = vec![Hit::default(); LANES];
            for (lane, way) in self.ways.iter().enumerate() {
                let Some(way) = way.as_ref().filter(|w| w.top == top) else { continue };
                // IncomingRayFlagsKHR does not have what the pipeline adds.
                rays.set(lane, &Ray { flags: way.ray.flags | context.pipeline.ray_flags, ..way.ray });
                hits[lane] = way.committed;
            }
            let Some(bytes) = structures.at(top) else { continue };
            let waiting = &mut self.waiting;
            let mut left = |lane: usize, t: &Traversal, _| {
                waiting.push(Waiting { lane, traversal: Box::new(t.clone()) });
            };
            let visits = self.visits.as_mut();
            trace(context.shared.level, bytes, &structures, &rays.rays(), &mut hits, &mut left, visits);
            if let Some(visits) = &mut self.visits {
                // Nodes of another structure are others.
                visits.end_warp();
            }
            for (way, hit) in self.ways.iter_mut().zip(hits) {
                if let Some(way) = way.as_mut().filter(|w| w.top == top) {
                    way.committed = hit;
                    (way.kind, way.attributes) = of_triangle(&hit);
                }
            }
        }
        Ok(())
    }

    /// The record of a hit's group.
    fn hit_record<'a>(host: &RayHost<'a, '_>, way: &Way, hit: &Hit) -> Option<Record<'a>> {
        let number = way.offset as u64 + way.stride as u64 * hit.geometry as u64 + hit.sbt_offset as u64;
        let context = host.context;
        record(&context.shared.memory, context.pipeline, &context.regions[2], number)
    }

    /// Lets shaders judge candidates until each ray is at its end.
    fn judge(&mut self, host: &RayHost) -> Result<(), Fault> {
        let structures = host.context.structures();
        while !self.waiting.is_empty() {
            if host.context.shared.hub.stops() {
                return Err(Fault::Stopped);
            }
            // Intersection shaders first: they find the shot as it is.
            let mut boxes: BTreeMap<usize, Vec<Caller>> = BTreeMap::new();
            let mut triangles = vec![];
            for w in &self.waiting {
                let (Some(way), hit) = (&self.ways[w.lane], *w.traversal.candidate()) else { continue };
                if hit.kind == HitKind::Triangle {
                    let (kind, attributes) = of_triangle(&hit);
                    triangles.push(Candidate { lane: w.lane, hit, kind, attributes });
                    continue;
                }
                let found = Self::hit_record(host, way, &hit);
                if let Some((r, shader)) = found.and_then(|r| Some((r, r.group.intersection?))) {
                    let t = w.traversal.t_max();
                    let caller = Self::caller(way, w.lane, r.data, hit, 0, t);
                    boxes.entry(shader).or_default().push(caller);
                }
            }
            for (shader, callers) in boxes {
                // Its waves report hits, whose any-hit shaders may write to payloads.
                let mut none = Words::default();
                let mut rest = &callers[..];
                let wave = host.context.pipeline.shaders[shader].program.lanes as usize;
                while !rest.is_empty() {
                    let (part, after) = rest.split_at(rest.len().min(wave));
                    rest = after;
                    let mut shot = Some(Mutex::new(&mut *self));
                    let role = |_: Range<usize>| shot.take().map_or(Role::Plain, Role::Intersection);
                    host.levels.run(
                        host.depth + 1,
                        host.recursion + 1,
                        shader,
                        part,
                        &mut none,
                        &[],
                        role,
                        |_, _| {},
                    )?;
                }
            }
            for (candidate, decision) in triangles.iter().zip(self.any_hit(host, &triangles, 1)?) {
                let at = self.waiting.iter().position(|w| w.lane == candidate.lane);
                let (Some(at), Some(way)) = (at, &mut self.ways[candidate.lane]) else { continue };
                let traversal = &mut self.waiting[at].traversal;
                if decision != Decision::Ignore {
                    traversal.commit_triangle();
                    (way.kind, way.attributes) = (candidate.kind, candidate.attributes);
                }
                if decision == Decision::Terminate {
                    traversal.terminate();
                }
            }
            if let Some(visits) = &mut self.visits {
                // Rays that go on meet nodes anew.
                visits.end_warp();
            }
            let ways = &mut self.ways;
            let visits = &mut self.visits;
            self.waiting.retain_mut(|w| {
                // What opaque triangles commit on the way has attributes of its own.
                let before = *w.traversal.committed();
                let step = match visits {
                    None => w.traversal.next(&structures),
                    Some(visits) => {
                        visits.ray(w.lane);
                        w.traversal.next_counted(&structures, visits)
                    }
                };
                let now = *w.traversal.committed();
                if let Some(way) = &mut ways[w.lane] {
                    if now != before && now.kind == HitKind::Triangle {
                        (way.kind, way.attributes) = of_triangle(&now);
                    }
                    way.committed = now;
                }
                step != Step::Done
            });
        }
        Ok(())
    }

    fn caller(way: &Way, lane: usize, record: u64, hit: Hit, kind: u32, t: f32) -> Caller {
        Caller { lane, launch: way.launch, record, ray: way.ray, top: way.top, t, hit, kind }
    }

    /// What any-hit shaders decide on candidates. `deeper`: levels below the host's.
    fn any_hit(
        &mut self,
        host: &RayHost,
        candidates: &[Candidate],
        deeper: usize,
    ) -> Result<Vec<Decision>, Fault> {
        let mut decisions = vec![Decision::Accept; candidates.len()];
        let mut lists: BTreeMap<usize, Vec<(usize, Caller)>> = BTreeMap::new();
        for (i, c) in candidates.iter().enumerate() {
            let Some(way) = &self.ways[c.lane] else { continue };
            let found = Self::hit_record(host, way, &c.hit);
            if let Some((r, shader)) = found.and_then(|r| Some((r, r.group.any_hit?))) {
                let caller = Self::caller(way, c.lane, r.data, c.hit, c.kind, c.hit.t);
                lists.entry(shader).or_default().push((i, caller));
            }
        }
        for (shader, list) in lists {
            let callers: Vec<Caller> = list.iter().map(|l| l.1).collect();
            let attributes: Vec<[u32; 8]> = list.iter().map(|l| candidates[l.0].attributes).collect();
            host.levels.run(
                host.depth + deeper,
                host.recursion + 1,
                shader,
                &callers,
                &mut self.payload,
                &attributes,
                |_| Role::AnyHit(Mutex::new(Box::new([Decision::Accept; LANES]))),
                |part, role| {
                    if let Role::AnyHit(told) = role {
                        let told = told.into_inner();
                        for (l, k) in part.enumerate() {
                            decisions[list[k].0] = told[l];
                        }
                    }
                },
            )?;
        }
        Ok(decisions)
    }

    /// OpReportIntersectionKHR of a wave of intersection shaders.
    ///
    /// # Errors
    /// The fault of an any-hit shader.
    pub fn report(host: &RayHost, wave: &mut TraceWave) -> Result<(), Fault> {
        let Role::Intersection(shot) = &host.role else { return Ok(()) };
        let mut shot = shot.lock();
        let shot = &mut **shot;
        let [first, n] = wave.data();
        let mut candidates = vec![];
        let mut opaque = vec![];
        let mut places = vec![];
        for (w, mask) in wave.warps() {
            let (ts, kinds) = (wave.operand(0, w), wave.operand(1, w));
            for l in (0..16).filter(|l| mask >> l & 1 != 0) {
                wave.set(w, l, 0);
                let Some(caller) = host.callers.get(w * 16 + l) else { continue };
                let t = f32::from_bits(ts[l]);
                let inside = caller.ray.t_min <= t && t <= shot.t_max(caller.lane);
                if !inside {
                    continue;
                }
                let mut attributes = [0; 8];
                for (k, to) in attributes.iter_mut().enumerate().take(n as usize) {
                    *to = wave.read(first + k as u32, w * 16 + l);
                }
                let hit = Hit { t, ..caller.hit };
                let list = if hit.opaque { &mut opaque } else { &mut candidates };
                list.push(Candidate { lane: caller.lane, hit, kind: kinds[l], attributes });
                places.push((hit.opaque, w, l));
            }
        }
        let decided = shot.any_hit(host, &candidates, 1)?;
        let (mut judged, mut plain) = (candidates.iter().zip(decided), opaque.iter());
        for (is_opaque, w, l) in places {
            let next = match is_opaque {
                true => plain.next().map(|c| (c, Decision::Accept)),
                false => judged.next(),
            };
            let Some((c, decision)) = next else { continue };
            if decision == Decision::Ignore {
                continue;
            }
            let at = shot.waiting.iter().position(|w| w.lane == c.lane);
            let (Some(at), Some(way)) = (at, &mut shot.ways[c.lane]) else { continue };
            let traversal = &mut shot.waiting[at].traversal;
            let before = *traversal.committed();
            if traversal.commit_box(c.hit.t) {
                if *traversal.committed() != before {
                    (way.kind, way.attributes) = (c.kind, c.attributes);
                    way.committed = *traversal.committed();
                }
                wave.set(w, l, 1);
            }
            if decision == Decision::Terminate {
                traversal.terminate();
            }
        }
        Ok(())
    }

    /// Runs closest-hit and miss shaders.
    fn finish(&mut self, host: &RayHost) -> Result<(), Fault> {
        let context = host.context;
        let mut lists: BTreeMap<usize, Vec<(Caller, [u32; 8])>> = BTreeMap::new();
        for (lane, way) in self.ways.iter().enumerate() {
            let Some(way) = way else { continue };
            let hit = way.committed;
            let (found, shader) = match hit.kind {
                HitKind::None => {
                    let r = record(
                        &context.shared.memory,
                        context.pipeline,
                        &context.regions[1],
                        way.miss.into(),
                    );
                    (r, r.and_then(|r| r.group.general))
                }
                _ if way.ray.flags & ray_flags::SKIP_CLOSEST_HIT != 0 => continue,
                _ => {
                    let r = Self::hit_record(host, way, &hit);
                    (r, r.and_then(|r| r.group.closest_hit))
                }
            };
            if let (Some(r), Some(shader)) = (found, shader) {
                let t = if hit.kind == HitKind::None { way.ray.t_max } else { hit.t };
                let caller = Self::caller(way, lane, r.data, hit, way.kind, t);
                lists.entry(shader).or_default().push((caller, way.attributes));
            }
        }
        for (shader, list) in lists {
            let callers: Vec<Caller> = list.iter().map(|l| l.0).collect();
            let attributes: Vec<[u32; 8]> = list.iter().map(|l| l.1).collect();
            host.levels.run(
                host.depth + 1,
                host.recursion + 1,
                shader,
                &callers,
                &mut self.payload,
                &attributes,
                |_| Role::Plain,
                |_, _| {},
            )?;
        }
        Ok(())
    }
}

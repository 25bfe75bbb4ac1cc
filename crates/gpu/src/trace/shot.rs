//! The rays that one call of a wave traces (OpTraceRayKHR), from their beginning to the end of their closest-hit and miss shaders.

use super::host::{Decision, RayHost, Role};
use super::object::{Object, execute};
use super::stage::{Caller, LANES, Words};
use super::table::{Record, record};
use super::way::{Way, of_triangle};
use bvh::{Hit, HitKind, Ray, Step, Traversal, Visits, WarpVisits};
use machine::footprint;
use machine::rays::{RayRows, add_visits, trace};
use parking_lot::Mutex;
use shader::ir::TraceOp;
use std::collections::BTreeMap;
use std::ops::Range;
use wave::{Fault, TraceWave};

pub struct Shot {
    /// Of each lane.
    ways: Vec<Option<Way>>,
    payload: Words,
    /// Of each lane whose ray is at a candidate.
    waiting: Vec<Option<Box<Traversal>>>,
    /// Where visits are told if they are counted.
    visits: Option<WarpVisits>,
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
        self.waiting.get(lane).and_then(|w| w.as_ref()).map_or(0.0, |t| t.t_max())
    }

    /// Traces the rays of OpTraceRayKHR or OpHitObjectTraceRayEXT to their ends.
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
            add_visits(wave.asked.counts, &visits.take(), begun);
        }
        let lanes = shot.ways.iter().enumerate();
        let ends = lanes.filter_map(|(lane, way)| Some((lane, Object::of(way.as_ref()?))));
        match wave.op {
            TraceOp::HitTrace => host.objects.lock().put(host, wave, ends),
            _ => execute(host, ends, &mut shot.payload, host.recursion + 1)?,
        }
        shot.payload.give(wave);
        Ok(())
    }

    fn gather(host: &RayHost, wave: &TraceWave) -> Shot {
        // A hit object's number is before the ray's operands.
        let skip = wave.op.operands() - TraceOp::Trace.operands();
        let counted = host.context.shared.observed.counts();
        let mut shot = Shot {
            ways: vec![None; LANES],
            payload: Words::take(wave),
            waiting: (0..LANES).map(|_| None).collect(),
            visits: counted.then(WarpVisits::default),
        };
        for (w, mask) in wave.warps() {
            let tops = wave.structure(w);
            let rows: [[u32; 16]; 13] = std::array::from_fn(|k| wave.operand(skip + k, w));
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
            if self.visits.is_some() {
                let begun = self.ways.iter().flatten().filter(|w| w.top == top).count();
                context.shared.rays_begun.add(top, begun as u64);
            }
            let Some(bytes) = structures.at(top) else { continue };
            if context.shared.hazards.is_some() {
                footprint::structure(top, bytes);
            }
            let waiting = &mut self.waiting;
            let mut left = |lane: usize, t: &Traversal, _| {
                waiting[lane] = Some(Box::new(t.clone()));
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
        let context = host.context;
        record(&context.shared.memory, context.pipeline, &context.regions[2], way.record(hit).into())
    }

    /// Lets shaders judge candidates until each ray is at its end.
    fn judge(&mut self, host: &RayHost) -> Result<(), Fault> {
        let structures = host.context.structures();
        while self.waiting.iter().any(Option::is_some) {
            if host.context.shared.hub.stops() {
                return Err(Fault::Stopped);
            }
            // Intersection shaders first: they find the shot as it is.
            let mut boxes: BTreeMap<usize, Vec<Caller>> = BTreeMap::new();
            let mut triangles = vec![];
            for (lane, traversal) in self.waiting.iter().enumerate() {
                let (Some(way), Some(traversal)) = (&self.ways[lane], traversal) else { continue };
                let hit = *traversal.candidate();
                if hit.kind == HitKind::Triangle {
                    let (kind, attributes) = of_triangle(&hit);
                    triangles.push(Candidate { lane, hit, kind, attributes });
                    continue;
                }
                let found = Self::hit_record(host, way, &hit);
                if let Some((r, shader)) = found.and_then(|r| Some((r, r.group.intersection?))) {
                    let caller = way.caller(lane, r.data, hit, 0, traversal.t_max());
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
                let lane = candidate.lane;
                let (Some(traversal), Some(way)) = (&mut self.waiting[lane], &mut self.ways[lane]) else {
                    continue;
                };
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
            for (lane, waiting) in self.waiting.iter_mut().enumerate() {
                let Some(traversal) = waiting else { continue };
                // What opaque triangles commit on the way has attributes of its own.
                let before = *traversal.committed();
                let step = match &mut self.visits {
                    None => traversal.next(&structures),
                    Some(visits) => {
                        visits.ray(lane);
                        traversal.next_counted(&structures, visits)
                    }
                };
                let now = *traversal.committed();
                if let Some(way) = &mut self.ways[lane] {
                    if now != before && now.kind == HitKind::Triangle {
                        (way.kind, way.attributes) = of_triangle(&now);
                    }
                    way.committed = now;
                }
                if step == Step::Done {
                    *waiting = None;
                }
            }
        }
        Ok(())
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
                let caller = way.caller(c.lane, r.data, c.hit, c.kind, c.hit.t);
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
            let (Some(traversal), Some(way)) = (&mut shot.waiting[c.lane], &mut shot.ways[c.lane]) else {
                continue;
            };
            let (before, mut accepted) = (*traversal.committed(), 0);
            if traversal.commit_box(c.hit.t) {
                if *traversal.committed() != before {
                    (way.kind, way.attributes) = (c.kind, c.attributes);
                    way.committed = *traversal.committed();
                }
                accepted = 1;
            }
            if decision == Decision::Terminate {
                traversal.terminate();
            }
            // The shader that reported the hit ends with its ray.
            wave.set(w, l, accepted | (traversal.has_ended() as u32) << 1);
        }
        Ok(())
    }
}

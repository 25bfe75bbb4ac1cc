//! Hit objects (SPV_EXT_shader_invocation_reorder): what rays have come to, kept until their closest-hit and miss shaders run.
//!
//! A reorder regroups the invocations that a wave calls, not those of the wave itself: the shaders that its objects name run for all its
//! lanes (256), one shader after the other, each on full waves. With a hint, the lanes of a shader come in the order of the hints.

use super::host::{RayHost, Role};
use super::stage::{Caller, LANES, Words, lanes_of, value};
use super::table::{Record, record};
use super::way::{Way, of_triangle};
use bvh::{Hit, HitKind, Ray, ray_flags};
use shader::ir::{TraceOp, ray_input as at};
use small_sort::SmallSort;
use std::collections::BTreeMap;
use wave::{Fault, TraceWave};

/// What a ray has come to.
#[derive(Clone, Copy)]
pub struct Object {
    way: Way,
    /// Neither a hit nor a miss.
    empty: bool,
    /// Number of the record whose shader is to run.
    record: u32,
}

const NOWHERE: Ray =
    Ray { origin: [0.0; 3], t_min: 0.0, direction: [0.0; 3], t_max: 0.0, flags: 0, cull_mask: 0 };

impl Object {
    /// A ray's that has ended.
    pub fn of(way: &Way) -> Object {
        let hit = &way.committed;
        let record = if hit.kind == HitKind::None { way.miss } else { way.record(hit) };
        Object { way: *way, empty: false, record }
    }

    /// Of a ray that no traversal has moved.
    fn new(ray: Ray, launch: [u32; 3], committed: Hit, top: u64) -> Object {
        let (kind, attributes) = of_triangle(&committed);
        let way = Way { ray, top, offset: 0, stride: 0, miss: 0, launch, committed, kind, attributes };
        Object { way, empty: false, record: 0 }
    }

    fn empty() -> Object {
        Object { empty: true, ..Object::new(NOWHERE, [0; 3], Hit::default(), 0) }
    }

    fn is_hit(&self) -> bool {
        !self.empty && self.way.committed.kind != HitKind::None
    }

    fn is_miss(&self) -> bool {
        !self.empty && self.way.committed.kind == HitKind::None
    }

    /// The record that it names.
    fn find<'a>(&self, host: &RayHost<'a, '_>) -> Option<Record<'a>> {
        let context = host.context;
        let table = &context.regions[if self.is_hit() { 2 } else { 1 }];
        record(&context.shared.memory, context.pipeline, table, self.record.into()).filter(|_| !self.empty)
    }

    /// A call of the object's shader.
    fn caller(&self, lane: usize, record: u64) -> Caller {
        let (way, hit) = (&self.way, self.way.committed);
        let (kind, t) = if self.is_hit() { (way.kind, hit.t) } else { (0, way.ray.t_max) };
        way.caller(lane, record, hit, kind, t)
    }

    fn get(&self, host: &RayHost, number: u8) -> u32 {
        match number {
            at::IS_EMPTY => self.empty as u32,
            at::IS_HIT => self.is_hit() as u32,
            at::IS_MISS => self.is_miss() as u32,
            at::RECORD_INDEX => self.record,
            _ => {
                let record = self.find(host).map_or(0, |r| r.data);
                value(host.context, &self.caller(0, record), number)
            }
        }
    }
}

/// Hit objects of a wave.
#[derive(Default)]
pub struct Objects {
    /// Object `n` of lane `l` at `n · LANES + l`.
    list: Vec<Object>,
    /// What lanes gave as hints of their next call.
    hints: Vec<u32>,
}

impl Objects {
    fn at(&mut self, host: &RayHost, number: u32, lane: usize) -> Option<&mut Object> {
        let count = host.context.pipeline.shaders[host.shader].program.queries;
        if number >= count || lane >= LANES {
            return None;
        }
        let at = number as usize * LANES + lane;
        if self.list.len() <= at {
            self.list.resize(count as usize * LANES, Object::empty());
        }
        self.list.get_mut(at)
    }

    /// Rays of OpHitObjectTraceRayEXT have come to this.
    pub fn put(&mut self, host: &RayHost, wave: &TraceWave, ends: impl Iterator<Item = (usize, Object)>) {
        for (lane, end) in ends {
            let number = wave.operand(0, lane / 16)[lane % 16];
            if let Some(object) = self.at(host, number, lane) {
                *object = end;
            }
        }
    }

    /// An op on the objects of a wave's lanes.
    pub fn run(&mut self, host: &RayHost, wave: &mut TraceWave) {
        let [first, n] = wave.data();
        for lane in lanes_of(wave) {
            let operand = |k: usize| wave.operand(k, lane / 16)[lane % 16];
            let float = |k: usize| f32::from_bits(operand(k));
            let number = operand(0);
            let launch = host.callers.get(lane).map_or([0; 3], |c| c.launch);
            if wave.op == TraceOp::Reorder {
                let bits = operand(2).min(32);
                self.hints.resize(LANES, 0);
                // The higher bits come first.
                self.hints[lane % LANES] = (operand(1) as u64 & ((1 << bits) - 1)) as u32;
                continue;
            }
            let Some(object) = self.at(host, number, lane) else { continue };
            match wave.op {
                TraceOp::HitEmpty => *object = Object::empty(),
                TraceOp::HitRecord => object.record = operand(1),
                TraceOp::HitMiss => {
                    let ray = Ray {
                        flags: operand(1),
                        cull_mask: 0xFF,
                        origin: [3, 4, 5].map(float),
                        t_min: float(6),
                        direction: [7, 8, 9].map(float),
                        t_max: float(10),
                    };
                    *object = Object {
                        record: operand(2) & 0xFFFF,
                        ..Object::new(ray, launch, Hit { t: ray.t_max, ..Hit::default() }, 0)
                    };
                }
                TraceOp::HitQuery => {
                    let Some((ray, top, hit)) = machine::rays::committed(wave.queries, operand(1), lane)
                    else {
                        *object = Object::empty();
                        continue;
                    };
                    let empty = hit.kind == HitKind::None;
                    *object = Object { record: operand(2), empty, ..Object::new(ray, launch, hit, top) };
                    if hit.kind == HitKind::Box {
                        object.way.kind = operand(3);
                        object.way.attributes = [0; 8];
                        for k in 0..n.min(8) {
                            object.way.attributes[k as usize] = wave.read(first + k, lane);
                        }
                    }
                }
                TraceOp::HitAttributes => {
                    let attributes = object.way.attributes;
                    for k in 0..n.min(8) {
                        wave.write(first + k, lane, attributes[k as usize]);
                    }
                }
                TraceOp::HitGet => {
                    let got = object.get(host, operand(1) as u8);
                    wave.set(lane / 16, lane % 16, got);
                }
                _ => {}
            }
        }
    }

    /// OpHitObjectExecuteShaderEXT.
    ///
    /// # Errors
    /// The fault of a shader.
    pub fn execute(host: &RayHost, wave: &mut TraceWave) -> Result<(), Fault> {
        let mut payload = Words::take(wave);
        let (mut list, mut deeper) = (vec![], 0);
        {
            let mut objects = host.objects.lock();
            let hints = std::mem::take(&mut objects.hints);
            for lane in lanes_of(wave) {
                let number = wave.operand(0, lane / 16)[lane % 16];
                deeper = wave.operand(1, lane / 16)[lane % 16];
                let hint = hints.get(lane).copied().unwrap_or(0);
                list.extend(objects.at(host, number, lane).map(|object| (hint, (lane, *object))));
            }
        }
        // Of equal hints, lanes keep their order.
        list.small_sort_by_key(|l| l.0);
        execute(host, list.into_iter().map(|l| l.1), &mut payload, host.recursion + deeper.min(1))?;
        payload.give(wave);
        Ok(())
    }
}

/// Runs closest-hit and miss shaders of lanes' objects, one shader after the other, each for lanes in the list's order. `recursion`: theirs.
///
/// # Errors
/// The fault of a shader.
pub fn execute(
    host: &RayHost,
    ends: impl Iterator<Item = (usize, Object)>,
    payload: &mut Words,
    recursion: u32,
) -> Result<(), Fault> {
    let mut lists: BTreeMap<usize, (Vec<Caller>, Vec<[u32; 8]>)> = BTreeMap::new();
    // Many name the same record as the one before.
    let mut last = None;
    for (lane, object) in ends {
        if object.is_hit() && object.way.ray.flags & ray_flags::SKIP_CLOSEST_HIT != 0 {
            continue;
        }
        let names = (object.is_hit(), object.empty, object.record);
        let found = match last {
            Some((same, found)) if same == names => found,
            _ => object.find(host),
        };
        last = Some((names, found));
        let Some(r) = found else { continue };
        let shader = if object.is_hit() { r.group.closest_hit } else { r.group.general };
        if let Some(shader) = shader {
            let (callers, attributes) =
                lists.entry(shader).or_insert_with(|| (Vec::with_capacity(LANES), Vec::with_capacity(LANES)));
            callers.push(object.caller(lane, r.data));
            attributes.push(object.way.attributes);
        }
    }
    for (shader, (callers, attributes)) in lists {
        host.levels.run(
            host.depth + 1,
            recursion,
            shader,
            &callers,
            payload,
            &attributes,
            |_| Role::Plain,
            |_, _| {},
        )?;
    }
    Ok(())
}

//! The loop of a traversal.

use super::node::{boxes, limits};
use super::space::{point, vector};
use super::triangle::{hit, triangles};
use super::{Entry, Hit, HitKind, NoVisits, STACK, Scene, Step, Traversal, ray_flags};
use crate::layout::{Child, INDEX, Kind, LEAF_BIT, NODE_BIT, Record, View};
use crate::{Visits, geometry_flags, instance_flags, micromap};
use simd::{Level, Simd};

type Walk<V> = unsafe fn(&mut Traversal, &dyn Scene, &mut V) -> Step;
type Many = unsafe fn(&mut [Traversal; SLOTS], &mut dyn Source, &dyn Scene);

/// The loop for a level, with its visits told to a `V`. A ray is one chain of dependent steps, and those of the wider level take longer: on
/// Zen 5 it is a fifth slower.
pub fn of<V: Visits>(level: Level) -> Walk<V> {
    simd::form!(level, <V: Visits> unsafe fn(t: &mut Traversal, scene: &dyn Scene, visits: &mut V) -> Step = walk; cold)
}

/// The loop over many rays.
pub fn many_of(level: Level) -> Many {
    simd::form!(level, unsafe fn(all: &mut [Traversal; SLOTS], source: &mut dyn Source, scene: &dyn Scene) = many; cold)
}

/// Rays that are on their way at the same time: each is a chain of dependent steps, and a core has room for the steps of several.
pub const SLOTS: usize = 2;

/// Where rays come from, and hits go.
pub trait Source {
    /// Starts the next ray there; false if there is none.
    fn start(&mut self, slot: usize, t: &mut Traversal) -> bool;
    fn end(&mut self, slot: usize, t: &Traversal, step: Step);
}

/// Traces all rays of a source, a step of each in turn.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn many<S: Simd>(s: S, all: &mut [Traversal; SLOTS], source: &mut dyn Source, scene: &dyn Scene) {
    // As `begin` and `advance` have it.
    let mut next = [NO_RAY; SLOTS];
    let mut step = None;
    for slot in 0..SLOTS {
        // SAFETY: this function's.
        next[slot] = unsafe { refill(s, slot, &mut all[slot], source, scene) };
    }
    while next != [NO_RAY; SLOTS] {
        for slot in 0..SLOTS {
            if next[slot] == NO_RAY {
                continue;
            }
            // SAFETY: this function's.
            unsafe {
                next[slot] = advance(s, &mut all[slot], next[slot], scene, &mut step);
                if next[slot] == ENDED {
                    source.end(slot, &all[slot], step.take().unwrap_or(Step::Done));
                    next[slot] = refill(s, slot, &mut all[slot], source, scene);
                }
            }
        }
    }
}

/// In place of a child: the slot has no ray, or its ray has ended.
const NO_RAY: u32 = 3 << 30;
const ENDED: u32 = NO_RAY | 1;

/// Starts the next ray that has anywhere to go.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn refill<S: Simd>(
    s: S,
    slot: usize,
    t: &mut Traversal,
    source: &mut dyn Source,
    scene: &dyn Scene,
) -> u32 {
    loop {
        if !source.start(slot, t) {
            return NO_RAY;
        }
        // SAFETY: this function's.
        match unsafe { begin(s, t, scene, &mut NoVisits) } {
            None => return 0,
            Some(step) => source.end(slot, t, step),
        }
    }
}

/// One step: a node or a leaf. `child` is the one to visit, or 0 to take one from the stack. What is returned is the next one, or [`ENDED`].
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn advance<S: Simd>(
    s: S,
    t: &mut Traversal,
    child: u32,
    scene: &dyn Scene,
    step: &mut Option<Step>,
) -> u32 {
    let child = if child == 0 { pop(t) } else { child };
    let Some((view, place, which)) = current(t).filter(|_| child != ENDED) else {
        t.done = true;
        return ENDED;
    };
    if child >> 30 == NODE_BIT >> 30 {
        let limits = limits(s, t.t_min, t.t_max);
        // SAFETY: this function's.
        return unsafe { visit(s, t, &view, (place, which), child & INDEX, limits, &mut NoVisits) };
    }
    if child >> 30 != LEAF_BIT >> 30 {
        return 0;
    }
    if which == 0 {
        enter(s, t, &view, child & INDEX, scene);
        return 0;
    }
    // SAFETY: this function's.
    *step = unsafe { leaf_of(s, t, child & INDEX, ALL, scene, &mut NoVisits) };
    if step.is_some() { ENDED } else { 0 }
}

/// # Safety
/// None beyond the traversal's own: its views are of structures.
#[inline(always)]
unsafe fn walk<S: Simd, V: Visits>(s: S, t: &mut Traversal, scene: &dyn Scene, visits: &mut V) -> Step {
    // SAFETY: this function's.
    if let Some(step) = unsafe { begin(s, t, scene, visits) } {
        return step;
    }
    loop {
        let mut child = pop(t);
        let Some((view, place, which)) = current(t).filter(|_| child != ENDED) else { break };
        let limits = limits(s, t.t_min, t.t_max);
        // Down to a leaf.
        while child >> 30 == NODE_BIT >> 30 {
            // SAFETY: this function's.
            child = unsafe { visit(s, t, &view, (place, which), child & INDEX, limits, visits) };
        }
        if child >> 30 != LEAF_BIT >> 30 {
            if child == ENDED {
                break;
            }
            continue;
        }
        let leaf = child & INDEX;
        if which == 0 {
            enter(s, t, &view, leaf, scene);
            continue;
        }
        visits.leaf(place, leaf, view.kind == Kind::Triangles);
        // SAFETY: this function's.
        if let Some(step) = unsafe { leaf_of(s, t, leaf, ALL, scene, visits) } {
            return step;
        }
    }
    t.done = true;
    Step::Done
}

/// A child of the bottom structure that the ray is in, and all below it; the ray's stack is empty. Some step if the traversal ends there.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
pub unsafe fn below<S: Simd>(
    s: S,
    t: &mut Traversal,
    view: &View,
    child: u32,
    scene: &dyn Scene,
) -> Option<Step> {
    let mut child = child;
    loop {
        let limits = limits(s, t.t_min, t.t_max);
        while child >> 30 == NODE_BIT >> 30 {
            // SAFETY: this function's.
            child = unsafe { visit(s, t, view, (1, 1), child & INDEX, limits, &mut NoVisits) };
        }
        if child >> 30 == LEAF_BIT >> 30 {
            // SAFETY: this function's.
            let step = unsafe { leaf_of(s, t, child & INDEX, ALL, scene, &mut NoVisits) };
            if step.is_some() {
                return step;
            }
        } else if child == ENDED {
            t.done = true;
            return Some(Step::Done);
        }
        child = loop {
            if t.height == 0 {
                return None;
            }
            t.height -= 1;
            // SAFETY: everything below the height was written.
            let entry = unsafe { t.stack[t.height as usize].assume_init() };
            if entry.t <= t.t_max {
                break entry.child;
            }
        };
    }
}

/// What comes before the first step, or after a candidate. Some step if the traversal ends there.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn begin<S: Simd, V: Visits>(
    s: S,
    t: &mut Traversal,
    scene: &dyn Scene,
    visits: &mut V,
) -> Option<Step> {
    t.candidate.kind = HitKind::None;
    if t.done {
        // A shader has accepted the hit.
        if t.flags & ray_flags::TERMINATE_ON_FIRST_HIT != 0 && t.committed.kind != HitKind::None {
            visits.first_hit();
        }
        return Some(Step::Done);
    }
    if std::mem::take(&mut t.fresh) && !t.world.set_boxes(s, t.world.origin, t.world.direction) {
        t.done = true;
        return Some(Step::Done);
    }
    if t.pending.1 != 0 {
        let (leaf, lanes) = std::mem::take(&mut t.pending);
        // SAFETY: this function's.
        return unsafe { leaf_of(s, t, leaf, lanes, scene, visits) };
    }
    None
}

/// The next child from the stack, or [`ENDED`].
#[inline(always)]
fn pop(t: &mut Traversal) -> u32 {
    loop {
        // From the bottom structure back to the top one.
        if t.height <= t.base {
            if t.bottom.take().is_none() {
                return ENDED;
            }
            t.base = 0;
            continue;
        }
        t.height -= 1;
        // SAFETY: everything below the height was written.
        let entry = unsafe { t.stack[t.height as usize].assume_init() };
        if entry.t <= t.t_max {
            return entry.child;
        }
    }
}

/// The structure that the traversal is in, as visits are told it, and 0 for the top one or 1.
#[inline(always)]
fn current(t: &Traversal) -> Option<(View, u32, usize)> {
    match t.bottom {
        Some(view) => Some((view, t.instance.index.wrapping_add(1), 1)),
        None => t.top.map(|view| (view, 0, 0)),
    }
}

/// Visits a node: the child that is next, 0 if none is hit, or [`ENDED`].
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn visit<S: Simd, V: Visits>(
    s: S,
    t: &mut Traversal,
    view: &View,
    (place, which): (u32, usize),
    at: u32,
    limits: S::F,
    visits: &mut V,
) -> u32 {
    let Some(node) = view.node(at) else { return 0 };
    // A whole tree has fewer.
    if t.budget[which] == 0 || t.height as usize + 8 > STACK {
        return ENDED;
    }
    t.budget[which] -= 1;
    visits.node(place, at);
    let space = if which == 1 { &t.object } else { &t.world };
    // SAFETY: a node of the view; then `near` is written.
    unsafe {
        let hits = boxes(s, node, space, limits, &mut t.near);
        put(t, node, hits)
    }
}

/// Puts the children of a node that are hit on the stack, but for the one that is next: the nearest, or any if any hit will do.
///
/// # Safety
/// `node` is a node, there is room for eight entries, and `t.near` has where the ray enters its children.
#[inline(always)]
unsafe fn put(t: &mut Traversal, node: *mut u8, hits: u32) -> u32 {
    if hits == 0 {
        return 0;
    }
    let near = &t.near;
    let entry = |hits: u32| {
        let k = hits.trailing_zeros() & 7;
        // SAFETY: eight children from byte 16.
        let child = unsafe { node.cast::<u32>().add(4 + k as usize).read_volatile() };
        Entry { child, t: near.0[k as usize] }
    };
    let from = t.height as usize;
    // SAFETY: there is room for eight entries.
    let stack = unsafe { t.stack.get_unchecked_mut(from..from + 8) };
    let first = entry(hits);
    let mut rest = hits & (hits - 1);
    let mut end = 0;
    if t.flags & ray_flags::TERMINATE_ON_FIRST_HIT != 0 {
        // Any hit will do. Without branches for up to three of them, which is hard to foresee.
        stack[0].write(entry(rest));
        end += (rest != 0) as usize;
        rest &= rest.wrapping_sub(1);
        stack[1].write(entry(rest));
        end += (rest != 0) as usize;
        rest &= rest.wrapping_sub(1);
        while rest != 0 {
            stack[end & 7].write(entry(rest));
            rest &= rest - 1;
            end += 1;
        }
        t.height = (from + end) as u32;
        return first.child;
    }
    // The nearest is next, the others wait, the farthest lowest. (With branches: a core goes on with the child that it foresees.)
    if rest == 0 {
        return first.child;
    }
    let mut best = first;
    while rest != 0 {
        let mut put = entry(rest);
        rest &= rest - 1;
        if put.t < best.t {
            std::mem::swap(&mut put, &mut best);
        }
        let mut at = end;
        // SAFETY: what is below `end` was written; it is below 8.
        unsafe {
            while at > 0 {
                let before = stack.get_unchecked(at - 1).assume_init();
                if before.t >= put.t {
                    break;
                }
                stack.get_unchecked_mut(at).write(before);
                at -= 1;
            }
            stack.get_unchecked_mut(at).write(put);
        }
        end += 1;
    }
    t.height = (from + end) as u32;
    best.child
}

/// Goes into the structure of an instance, if the ray may hit it.
#[inline(always)]
pub fn enter<S: Simd>(s: S, t: &mut Traversal, top: &View, leaf: u32, scene: &dyn Scene) {
    if enter_without_rows(t, top, leaf, scene) {
        t.object.set_rows(s);
    }
}

/// [`enter`] without the rows of the space; true if the ray is in the structure.
#[inline(always)]
pub fn enter_without_rows(t: &mut Traversal, top: &View, leaf: u32, scene: &dyn Scene) -> bool {
    let Some(at) = top.leaf(leaf) else { return false };
    // SAFETY: a leaf of a top structure.
    let record = unsafe { Record::read(at) };
    if record.mask() & t.cull_mask == 0 {
        return false;
    }
    let view = match t.known {
        Some((address, view)) if address == record.structure => view,
        _ => {
            let Some(bytes) = scene.bottom(record.structure) else { return false };
            let Some((view, _)) = View::of(bytes) else { return false };
            t.known = Some((record.structure, view));
            view
        }
    };
    let skip = match view.kind {
        Kind::Triangles => ray_flags::SKIP_TRIANGLES,
        Kind::Boxes => ray_flags::SKIP_AABBS,
        Kind::Instances => return false,
    };
    if t.flags & skip != 0 {
        return false;
    }
    let origin = point(&record.world_to_object, t.world.origin);
    let direction = vector(&record.world_to_object, t.world.direction);
    if !t.object.set_triangles(origin, direction) {
        return false;
    }
    (t.instance, t.record, t.bottom, t.base) = (record, leaf, Some(view), t.height);
    t.budget[1] = view.node_count;
    let from = t.t_min;
    t.push(Child::Node(0).word(), from);
    true
}

/// All lanes of a leaf.
pub const ALL: u32 = 0xF;

/// The hits of a leaf's lanes. Some step if the caller is to judge a candidate, or the traversal has ended.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
pub unsafe fn leaf_of<S: Simd, V: Visits>(
    s: S,
    t: &mut Traversal,
    leaf: u32,
    lanes: u32,
    scene: &dyn Scene,
    visits: &mut V,
) -> Option<Step> {
    let view = t.bottom?;
    let block = view.leaf(leaf)?;
    let is_triangles = view.kind == Kind::Triangles;
    let (front, back);
    if is_triangles {
        // SAFETY: a block of the view.
        (front, back) = unsafe { triangles(s, block, &t.object, &mut t.edges) };
    } else {
        (front, back) = (boxes_of(t, &view, block), 0);
    }
    let mut left = (front | back) & lanes;
    // A block that is gone on with had a hit.
    let mut missed = is_triangles && lanes == ALL;
    while left != 0 {
        let lane = left.trailing_zeros() as usize & 3;
        left &= left - 1;
        let mut found = Hit { kind: HitKind::Triangle, front: front >> lane & 1 != 0, ..Hit::default() };
        if is_triangles {
            let [at, u, v] = hit(&t.edges, lane, &t.object);
            if !(t.t_min < at && at <= t.t_max) {
                continue;
            }
            (found.t, found.barycentrics) = (at, [u, v]);
            if t.instance.flags() & instance_flags::FLIP_FACING != 0 {
                found.front = !found.front;
            }
            let cull = if found.front { ray_flags::CULL_FRONT_FACING } else { ray_flags::CULL_BACK_FACING };
            if t.flags & cull != 0 && t.instance.flags() & instance_flags::FACING_CULL_DISABLE == 0 {
                continue;
            }
            // Exclusive of the ray's own end.
            if t.committed.kind == HitKind::None && at == t.t_max {
                continue;
            }
        } else {
            found = Hit { kind: HitKind::Box, t: t.edges.edge.0[lane], ..Hit::default() };
        }
        found.primitive = view.word(block, 0, 12 + lane);
        let word = view.word(block, 1, 12 + lane);
        (found.geometry, found.geometry_flags) = (word & 0xFF_FFFF, (word >> 24) as u8);
        (found.instance, found.custom_index, found.sbt_offset) =
            (t.instance.index, t.instance.custom_index(), t.instance.sbt_offset());
        (found.instance_flags, found.structure, found.record) =
            (t.instance.flags(), t.instance.structure, t.record);
        found.place = leaf.wrapping_mul(4) | lane as u32;
        let own = view.word(block, 2, 12 + lane);
        let mut opaque = found.geometry_flags as u32 & geometry_flags::OPAQUE != 0;
        if is_triangles
            && own != micromap::PLAIN
            && t.instance.flags() & instance_flags::DISABLE_MICROMAPS == 0
        {
            match micromap::judge(&mut t.map, scene, own, &found, t.flags) {
                Some(of_map) => opaque = of_map,
                None => continue,
            }
        }
        found.opaque = is_opaque(t.flags, t.instance.flags(), opaque);
        let cull = if found.opaque { ray_flags::CULL_OPAQUE } else { ray_flags::CULL_NO_OPAQUE };
        if t.flags & cull != 0 {
            continue;
        }
        if is_triangles {
            if !t.is_closer(&found) {
                continue;
            }
            visits.hit(found.opaque);
            missed = false;
            if found.opaque {
                t.commit(found);
                if t.done {
                    visits.first_hit();
                    return Some(Step::Done);
                }
                continue;
            }
        }
        t.pending = (leaf, left);
        t.candidate = found;
        t.origin_in_object = (t.object.origin, t.object.direction);
        return Some(if is_triangles { Step::Triangle(found) } else { Step::Box(found) });
    }
    if missed {
        visits.miss();
    }
    None
}

/// `own`: what the geometry or its micromap says.
fn is_opaque(ray: u32, instance: u8, own: bool) -> bool {
    if ray & ray_flags::OPAQUE != 0 {
        true
    } else if ray & ray_flags::NO_OPAQUE != 0 {
        false
    } else if instance & instance_flags::FORCE_OPAQUE != 0 {
        true
    } else if instance & instance_flags::FORCE_NO_OPAQUE != 0 {
        false
    } else {
        own
    }
}

/// The boxes of a block that the ray meets; where goes to the first four of `t.edges.edge`.
#[inline(never)]
fn boxes_of(t: &mut Traversal, view: &View, block: *mut u8) -> u32 {
    let mut out = 0;
    for lane in 0..4 {
        // Unused.
        if view.word(block, 2, 12 + lane) == 0 {
            continue;
        }
        let (mut near, mut far) = (t.t_min, t.t_max);
        for axis in 0..3 {
            let (low, high) = (view.float(block, axis, lane), view.float(block, axis, 4 + lane));
            let inverse = t.object.inverse16[axis];
            let (a, b) = ((low - t.object.origin[axis]) * inverse, (high - t.object.origin[axis]) * inverse);
            // Each has three roundings.
            let (a, b) = if t.object.near[axis] == 0 { (a, b) } else { (b, a) };
            // By a factor: what has become infinite stays so.
            const ROUNDING: f32 = 1.0 / (1 << 21) as f32;
            let a = a * if a < 0.0 { 1.0 + ROUNDING } else { 1.0 - ROUNDING };
            let b = b * if b < 0.0 { 1.0 - ROUNDING } else { 1.0 + ROUNDING };
            // (A NaN constrains nothing.)
            if a > near {
                near = a;
            }
            if b < far {
                far = b;
            }
        }
        if near <= far {
            t.edges.edge.0[lane] = near;
            out |= 1 << lane;
        }
    }
    out
}

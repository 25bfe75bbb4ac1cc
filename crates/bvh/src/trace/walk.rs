//! The loop of a traversal.

use super::node::{boxes, limits};
use super::space::{point, vector};
use super::triangle::{hit, triangles};
use super::{Entry, Hit, HitKind, STACK, Scene, Step, Traversal, ray_flags};
use crate::layout::{Child, INDEX, Kind, LEAF_BIT, NODE_BIT, Record, View};
use crate::{Visits, geometry_flags, instance_flags, micromap};
use simd::{Level, Simd};

type Walk<V> = unsafe fn(&mut Traversal, &dyn Scene, &mut V) -> Step;

/// The loop for a level, with its visits told to a `V`. A ray is one chain of dependent steps, and those of the wider level take longer: on
/// Zen 5 it is a fifth slower.
pub fn of<V: Visits>(level: Level) -> Walk<V> {
    simd::form!(level, <V: Visits> unsafe fn(t: &mut Traversal, scene: &dyn Scene, visits: &mut V) -> Step = walk; cold)
}

/// # Safety
/// None beyond the traversal's own: its views are of structures.
#[inline(always)]
unsafe fn walk<S: Simd, V: Visits>(s: S, t: &mut Traversal, scene: &dyn Scene, visits: &mut V) -> Step {
    t.candidate.kind = HitKind::None;
    if t.done {
        // A shader has accepted the hit.
        if t.flags & ray_flags::TERMINATE_ON_FIRST_HIT != 0 && t.committed.kind != HitKind::None {
            visits.first_hit();
        }
        return Step::Done;
    }
    if std::mem::take(&mut t.fresh) && !t.world.set_boxes(s, t.world.origin, t.world.direction) {
        t.done = true;
        return Step::Done;
    }
    if t.pending.1 != 0 {
        let (leaf, lanes) = std::mem::take(&mut t.pending);
        // SAFETY: this function's.
        if let Some(step) = unsafe { leaf_of(s, t, leaf, lanes, scene, visits) } {
            return step;
        }
    }
    loop {
        // From the bottom structure back to the top one.
        if t.height <= t.base {
            if t.bottom.take().is_none() {
                break;
            }
            t.base = 0;
            continue;
        }
        t.height -= 1;
        // SAFETY: everything below the height was written.
        let Entry { child, t: enters } = unsafe { t.stack[t.height as usize].assume_init() };
        if enters > t.t_max {
            continue;
        }
        let mut child = child;
        let (view, place, which) = match t.bottom {
            Some(view) => (view, t.instance.index.wrapping_add(1), 1),
            None => match t.top {
                Some(view) => (view, 0, 0),
                None => break,
            },
        };
        let space = if which == 1 { &t.object } else { &t.world };
        let limits = limits(s, t.t_min, t.t_max);
        // Down to a leaf.
        while child >> 30 == NODE_BIT >> 30 {
            let at = child & INDEX;
            child = 0;
            let Some(node) = view.node(at) else { break };
            // A whole tree has fewer.
            if t.budget[which] == 0 || t.height as usize + 8 > STACK {
                t.done = true;
                return Step::Done;
            }
            t.budget[which] -= 1;
            visits.node(place, at);
            // SAFETY: a node of the view.
            let mut hits = unsafe { boxes(s, node, space, limits, &mut t.near) };
            if hits == 0 {
                break;
            }
            // SAFETY: eight children from byte 16; bits of `hits` are below 8.
            let child_of = |k: u32| unsafe { node.cast::<u32>().add(4 + k as usize).read_volatile() };
            let first = hits.trailing_zeros() & 7;
            hits &= hits - 1;
            child = child_of(first);
            if hits == 0 {
                continue;
            }
            if t.flags & ray_flags::TERMINATE_ON_FIRST_HIT != 0 {
                // Any hit will do.
                while hits != 0 {
                    let k = hits.trailing_zeros() & 7;
                    hits &= hits - 1;
                    let put = Entry { child: child_of(k), t: t.near.0[k as usize] };
                    // SAFETY: there is room for eight entries.
                    unsafe { t.stack.get_unchecked_mut(t.height as usize).write(put) };
                    t.height += 1;
                }
                continue;
            }
            // The nearest is next, the others wait, the farthest lowest.
            let mut best = Entry { child, t: t.near.0[first as usize] };
            let from = t.height as usize;
            let mut end = from;
            while hits != 0 {
                let k = hits.trailing_zeros() & 7;
                hits &= hits - 1;
                let mut put = Entry { child: child_of(k), t: t.near.0[k as usize] };
                if put.t < best.t {
                    std::mem::swap(&mut put, &mut best);
                }
                let mut at = end;
                // SAFETY: there is room for eight entries, and what is below `end` was written.
                unsafe {
                    while at > from {
                        let before = t.stack.get_unchecked(at - 1).assume_init();
                        if before.t >= put.t {
                            break;
                        }
                        t.stack.get_unchecked_mut(at).write(before);
                        at -= 1;
                    }
                    t.stack.get_unchecked_mut(at).write(put);
                }
                end += 1;
            }
            t.height = end as u32;
            child = best.child;
        }
        if child >> 30 != LEAF_BIT >> 30 {
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

/// Goes into the structure of an instance, if the ray may hit it.
#[inline(always)]
fn enter<S: Simd>(s: S, t: &mut Traversal, top: &View, leaf: u32, scene: &dyn Scene) {
    let Some(at) = top.leaf(leaf) else { return };
    // SAFETY: a leaf of a top structure.
    let record = unsafe { Record::read(at) };
    if record.mask() & t.cull_mask == 0 {
        return;
    }
    let view = match t.known {
        Some((address, view)) if address == record.structure => view,
        _ => {
            let Some(bytes) = scene.bottom(record.structure) else { return };
            let Some((view, _)) = View::of(bytes) else { return };
            t.known = Some((record.structure, view));
            view
        }
    };
    let skip = match view.kind {
        Kind::Triangles => ray_flags::SKIP_TRIANGLES,
        Kind::Boxes => ray_flags::SKIP_AABBS,
        Kind::Instances => return,
    };
    if t.flags & skip != 0 {
        return;
    }
    let origin = point(&record.world_to_object, t.world.origin);
    let direction = vector(&record.world_to_object, t.world.direction);
    if !t.object.set(s, origin, direction) {
        return;
    }
    (t.instance, t.record, t.bottom, t.base) = (record, leaf, Some(view), t.height);
    t.budget[1] = view.node_count;
    let from = t.t_min;
    t.push(Child::Node(0).word(), from);
}

/// All lanes of a leaf.
const ALL: u32 = 0xF;

/// The hits of a leaf's lanes. Some step if the caller is to judge a candidate, or the traversal has ended.
///
/// # Safety
/// As [`walk`].
#[inline(always)]
unsafe fn leaf_of<S: Simd, V: Visits>(
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

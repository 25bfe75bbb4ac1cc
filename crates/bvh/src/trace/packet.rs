//! The rays of a warp together, where they go the same way: a node is read once for all that meet it, and the steps of one ray need not
//! wait for those of another.
//!
//! A ray's hits are the same as alone ([`super::walk`]). What is closest does not depend on the order. A ray that ends with its first hit
//! visits here what it visits alone, in the same order. A ray that comes to a candidate which a shader must judge begins anew, alone.

use super::node::{Row, Warp};
use super::walk::{ALL, below, enter_without_rows, leaf_of};
use super::{Scene, Step, Traversal};
use crate::NoVisits;
use crate::layout::{Child, DEPTH, INDEX, Kind, LEAF_BIT, NODE_BIT};
use simd::{Level, Simd};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Rays of a warp.
pub const RAYS: usize = 16;

/// Fewer rays are quicker alone.
pub const LEAST: u32 = 4;

/// A child of a node that was visited.
#[derive(Clone, Copy)]
struct Entry {
    child: u32,
    /// The rays that meet it.
    rays: u16,
    /// Where they enter it: number `k` of this frame, if it is one.
    frame: u8,
    k: u8,
}

/// No frame.
const NONE: u8 = u8::MAX;

/// Nodes on the way to where the rays are.
const FRAMES: usize = 2 * DEPTH;
/// A node leaves at most a child twice, for two parts of the rays.
const STACK: usize = FRAMES * 16;

/// Where rays enter each child of a node.
type Frame = [Row; 8];

/// Room for the rays of a warp.
pub struct Packet {
    pub rays: [Traversal; RAYS],
    world: Warp,
    object: Warp,
    frames: [MaybeUninit<Frame>; FRAMES],
    stack: [MaybeUninit<Entry>; STACK],
}

thread_local! {
    /// This thread's, between two uses: it is large.
    static KEPT: Cell<Option<Box<Packet>>> = const { Cell::new(None) };
}

impl Packet {
    /// One whose rays know of no structure yet.
    pub fn take(level: Level) -> Box<Packet> {
        let kept = KEPT.take().filter(|p| p.rays[0].level == level);
        let mut packet = kept.unwrap_or_else(|| {
            Box::new(Packet {
                rays: std::array::from_fn(|_| Traversal::idle(level)),
                world: Warp::EMPTY,
                object: Warp::EMPTY,
                frames: [const { MaybeUninit::uninit() }; FRAMES],
                stack: [const { MaybeUninit::uninit() }; STACK],
            })
        });
        for t in &mut packet.rays {
            // What lay at an address may be another structure now.
            (t.known, t.map) = (None, Default::default());
        }
        packet
    }

    pub fn keep(self: Box<Packet>) {
        KEPT.set(Some(self));
    }
}

type Together = unsafe fn(&mut Packet, u16, bool, &dyn Scene) -> u16;

/// The loop for a level.
pub fn of(level: Level) -> Together {
    simd::form!(level, unsafe fn(packet: &mut Packet, rays: u16, first_hit: bool, scene: &dyn Scene) -> u16 = together)
}

/// The lanes of a mask.
#[inline(always)]
fn lanes(mut mask: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < RAYS).then_some(lane)
    })
}

/// Traces rays that have been started in the same structure; with `first_hit` all of them end with their first hit. The result has those
/// that must begin anew, alone. All others are done.
///
/// # Safety
/// None beyond the traversals' own: their views are of structures.
#[inline(always)]
unsafe fn together<S: Simd>(s: S, p: &mut Packet, rays: u16, first_hit: bool, scene: &dyn Scene) -> u16 {
    let mut live = 0;
    for l in lanes(rays) {
        let t = &mut p.rays[l];
        if t.done {
            continue;
        }
        if t.world.aim(t.world.origin, t.world.direction) {
            live |= 1 << l;
            p.world.set(l, &t.world);
            (p.world.t_min.0[l], p.world.t_max.0[l]) = (t.t_min, t.t_max);
        } else {
            t.done = true;
        }
    }
    let Some(top) = lanes(live).next().and_then(|l| p.rays[l].top) else { return 0 };
    // The signs of the directions, here and in the bottom structure.
    let Some(near) = signs(p, live, |t| &t.world.near) else { return live };
    p.world.near = near;
    p.world.ready(s);
    (p.object.t_min, p.object.t_max) = (p.world.t_min, p.world.t_max);
    let mut alone = 0;
    // Rays whose space has rows.
    let mut rows = 0u16;
    let (mut height, mut base) = (0, 0);
    // The bottom structure that the rays are in.
    let mut bottom = None;
    // A whole tree's nodes are visited once, or by each ray in its own order.
    let visits = |nodes: u32| nodes as u64 * if first_hit { RAYS as u64 } else { 1 };
    let mut budget = [visits(top.node_count), 0];
    let mut frames = 0;
    let mut next = Entry { child: Child::Node(0).word(), rays: live, frame: NONE, k: 0 };
    'all: loop {
        let mut entry = next;
        next.rays = 0;
        let mut mask = entry.rays & live;
        if mask == 0 {
            // From the stack.
            if height <= base {
                if bottom.take().is_none() {
                    break;
                }
                base = 0;
                continue;
            }
            height -= 1;
            // SAFETY: everything below the height was written.
            entry = unsafe { p.stack[height].assume_init() };
            mask = entry.rays & live;
            if entry.frame != NONE {
                frames = entry.frame as usize + 1;
                if !first_hit {
                    // SAFETY: of a frame that has entries, the rows of their children were written.
                    let near = unsafe { p.frames[entry.frame as usize].assume_init_ref() };
                    let near = &near[entry.k as usize & 7].0;
                    // SAFETY: sixteen floats each.
                    let (t, most) =
                        unsafe { (s.fload(near.as_ptr().cast()), s.fload(p.object.t_max.0.as_ptr().cast())) };
                    mask &= s.mbits(s.fle(t, most));
                }
            }
            if mask == 0 {
                continue;
            }
        }
        let child = entry.child;
        let which = bottom.is_some() as usize;
        let view = bottom.unwrap_or(top);
        if which == 1 && mask & (mask - 1) == 0 {
            // One ray goes on alone.
            let l = mask.trailing_zeros() as usize & 15;
            let t = &mut p.rays[l];
            if rows & mask == 0 {
                t.object.set_rows(s);
                rows |= mask;
            }
            // SAFETY: this function's.
            match unsafe { below(s, t, &view, child, scene) } {
                None => p.object.t_max.0[l] = t.t_max,
                Some(step) => {
                    live &= !mask;
                    alone |= if step == Step::Done { 0 } else { mask };
                }
            }
            continue;
        }
        if child >> 30 == NODE_BIT >> 30 {
            let Some(node) = view.node(child & INDEX) else { continue };
            // A whole tree has fewer.
            if budget[which] == 0 || height + 16 > STACK || frames == FRAMES {
                break 'all;
            }
            budget[which] -= 1;
            let frame = p.frames[frames].as_mut_ptr().cast::<Row>();
            if which == 0 {
                p.world.t_max = p.object.t_max;
            }
            let of = if which == 1 { &p.object } else { &p.world };
            // SAFETY: a node of the view; the frame's rows.
            let met = unsafe { of.boxes(s, node, frame) };
            let rays_of = |k: usize| met[k] & mask;
            let entry = |k: usize, rays: u16| {
                // SAFETY: eight children from byte 16.
                let child = unsafe { node.cast::<u32>().add(4 + k).read_volatile() };
                Entry { child, rays, frame: frames as u8, k: k as u8 }
            };
            if first_hit {
                // Each ray goes to the first child that it meets, and then from the last one to the second.
                let mut begun = 0;
                let mut first = [0; 8];
                for k in 0..8 {
                    first[k] = rays_of(k) & !begun;
                    begun |= first[k];
                    let rest = rays_of(k) & !first[k];
                    if rest != 0 {
                        p.stack[height].write(entry(k, rest));
                        height += 1;
                    }
                }
                for k in 0..8 {
                    if first[k] != 0 {
                        if next.rays != 0 {
                            p.stack[height].write(next);
                            height += 1;
                        }
                        next = entry(k, first[k]);
                    }
                }
            } else {
                // The nearest is next, the farthest lowest: by the first ray that meets each.
                let from = height;
                let mut t_of = [0.0; 8];
                for k in 0..8 {
                    let rays = rays_of(k);
                    if rays == 0 {
                        continue;
                    }
                    // SAFETY: written, as the child is there.
                    let t = unsafe { (*frame.add(k)).0[rays.trailing_zeros() as usize & 15] };
                    let mut at = height;
                    while at > from && t_of[(at - 1 - from) & 7] < t {
                        p.stack[at] = p.stack[at - 1];
                        t_of[(at - from) & 7] = t_of[(at - 1 - from) & 7];
                        at -= 1;
                    }
                    p.stack[at].write(entry(k, rays));
                    t_of[(at - from) & 7] = t;
                    height += 1;
                }
                if height > from {
                    height -= 1;
                    // SAFETY: just written.
                    next = unsafe { p.stack[height].assume_init() };
                }
            }
            frames += (next.rays != 0) as usize;
            continue;
        }
        if child >> 30 != LEAF_BIT >> 30 {
            continue;
        }
        if which == 1 {
            for l in lanes(mask) {
                let t = &mut p.rays[l];
                if view.kind == Kind::Boxes {
                    t.object.set_rows(s);
                }
                // SAFETY: this function's.
                match unsafe { leaf_of(s, t, child & INDEX, ALL, scene, &mut NoVisits) } {
                    None => p.object.t_max.0[l] = t.t_max,
                    Some(step) => {
                        live &= !(1 << l);
                        alone |= if step == Step::Done { 0 } else { 1 << l };
                    }
                }
            }
            continue;
        }
        // An instance.
        let mut inside = 0;
        for l in lanes(mask) {
            let t = &mut p.rays[l];
            (t.bottom, t.height) = (None, 0);
            let is_inside = enter_without_rows(t, &top, child & INDEX, scene);
            (t.base, t.height) = (0, 0);
            if let Some(view) = t.bottom.filter(|_| is_inside) {
                p.object.set(l, &t.object);
                inside |= 1 << l;
                bottom = Some(view);
            }
        }
        if let Some(view) = bottom {
            match signs(p, inside, |t| &t.object.near) {
                Some(near) => {
                    p.object.ready(s);
                    rows = 0;
                    p.object.near = near;
                    budget[1] = visits(view.node_count);
                    base = height;
                    next = Entry { child: Child::Node(0).word(), rays: inside, frame: NONE, k: 0 };
                }
                None => {
                    bottom = None;
                    live &= !inside;
                    alone |= inside;
                }
            }
        }
    }
    for l in lanes(rays & !alone) {
        p.rays[l].done = true;
    }
    alone
}

/// The signs of directions, if they are the same.
#[inline(always)]
fn signs(p: &Packet, rays: u16, of: impl Fn(&Traversal) -> &[u8; 3]) -> Option<[u8; 3]> {
    let first = of(&p.rays[lanes(rays).next()?]);
    lanes(rays).all(|l| of(&p.rays[l]) == first).then_some(*first)
}

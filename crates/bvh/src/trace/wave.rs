//! The rays of a wave.

use super::packet::{self, Packet, RAYS};
use super::walk::{self, SLOTS, Source};
use super::{Hit, NoVisits, Ray, Scene, Step, Told, Traversal, ray_flags};
use crate::layout::{Kind, OPAQUE, TRIANGLES, View};
use crate::{Bytes, Visits};
use simd::Level;

/// Rays of a wave, a slice a component; all have at least as many elements as there are lanes.
#[derive(Clone, Copy)]
pub struct Rays<'a> {
    pub origin: [&'a [f32]; 3],
    pub t_min: &'a [f32],
    pub direction: [&'a [f32]; 3],
    pub t_max: &'a [f32],
    pub flags: &'a [u32],
    pub cull_mask: &'a [u32],
    /// Lanes that have a ray, one bit each.
    pub mask: &'a [u64],
}

impl Rays<'_> {
    /// Lanes that are in every slice.
    fn len(&self) -> usize {
        let lens = [
            self.t_min.len(),
            self.t_max.len(),
            self.flags.len(),
            self.cull_mask.len(),
            self.mask.len() * 64,
        ];
        let vectors = self.origin.iter().chain(&self.direction).map(|s| s.len());
        lens.into_iter().chain(vectors).min().unwrap_or(0)
    }

    /// Words of the mask of 256 lanes.
    const WORDS: usize = 4;

    /// Lanes that have a ray, below `limit`.
    fn lanes(&self, limit: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.len().min(limit)).filter(|l| self.mask[l / 64] >> (l % 64) & 1 != 0)
    }

    #[inline(always)]
    fn ray(&self, lane: usize) -> Ray {
        Ray {
            origin: self.origin.map(|s| s[lane]),
            t_min: self.t_min[lane],
            direction: self.direction.map(|s| s[lane]),
            t_max: self.t_max[lane],
            flags: self.flags[lane],
            cull_mask: self.cull_mask[lane],
        }
    }
}

/// Traces every ray of `rays` until its end, or to its first candidate that a shader must judge. `hits` has the closest hit of each ray
/// that ended; `left` is called for the others, with the lane, the traversal (clone it to resume it) and the candidate.
pub fn trace(
    level: Level,
    top: Bytes,
    scene: &dyn Scene,
    rays: &Rays,
    hits: &mut [Hit],
    left: &mut dyn FnMut(usize, &Traversal, Step),
) {
    let (top, all_are) = match View::of(top) {
        Some((view, header)) if view.kind == Kind::Instances => (Some(view), header.all),
        _ => (None, 0),
    };
    let walk = walk::of::<NoVisits>(level);
    let together = packet::of(level);
    let mut packet = None;
    let mut all: [Traversal; SLOTS] = std::array::from_fn(|_| Traversal::idle(level));
    let mut some = [0u64; Rays::WORDS];
    let lanes = rays.len().min(hits.len());
    for first in (0..lanes).step_by(RAYS) {
        let mask = (rays.mask[first / 64] >> (first % 64)) as u16;
        let mask = if lanes - first < RAYS { mask & ((1 << (lanes - first)) - 1) } else { mask };
        let of = |l: usize| rays.flags[first + l] & ray_flags::TERMINATE_ON_FIRST_HIT != 0;
        let mut alone = mask;
        if mask.count_ones() >= packet::LEAST {
            let lead = mask.trailing_zeros() as usize;
            let first_hit = of(lead);
            // Which candidates a shader sees depends on the order: rays have their own unless there are none.
            let closest = |l: usize| {
                let wanted = match rays.flags[first + l] & (ray_flags::OPAQUE | ray_flags::NO_OPAQUE) {
                    0 => TRIANGLES | OPAQUE,
                    ray_flags::OPAQUE => TRIANGLES,
                    _ => return false,
                };
                all_are & wanted == wanted
            };
            let signs = |l: usize| rays.direction.map(|d| d[first + l].is_sign_negative());
            if bits(mask).all(|l| of(l) == first_hit && (first_hit || closest(l)) && signs(l) == signs(lead))
            {
                let packet = packet.get_or_insert_with(|| Packet::take(level));
                for l in bits(mask) {
                    packet.rays[l].start(top, &rays.ray(first + l));
                }
                // SAFETY: the level is this CPU's.
                alone = unsafe { together(packet, mask, first_hit, scene) };
                for l in bits(mask & !alone) {
                    hits[first + l] = packet.rays[l].committed;
                }
            }
        }
        for l in bits(alone) {
            let lane = first + l;
            if of(l) && lane / 64 < some.len() {
                some[lane / 64] |= 1 << (lane % 64);
                continue;
            }
            let t = &mut all[0];
            t.start(top, &rays.ray(lane));
            // SAFETY: as above.
            match unsafe { walk(t, scene, &mut NoVisits) } {
                Step::Done => hits[lane] = t.committed,
                step => left(lane, t, step),
            }
        }
    }
    if some != [0; Rays::WORDS] {
        let mut wave = Wave { top, rays, of: some, lane: [0; SLOTS], hits, left };
        // SAFETY: as above.
        unsafe { walk::many_of(level)(&mut all, &mut wave, scene) };
    }
    if let Some(packet) = packet {
        packet.keep();
    }
}

/// The bits of a mask.
fn bits(mask: u16) -> impl Iterator<Item = usize> + Clone {
    (0..RAYS).filter(move |l| mask >> l & 1 != 0)
}

/// [`trace`] with the visits told, by lane.
pub fn trace_counted(
    level: Level,
    top: Bytes,
    scene: &dyn Scene,
    rays: &Rays,
    hits: &mut [Hit],
    left: &mut dyn FnMut(usize, &Traversal, Step),
    visits: &mut dyn Visits,
) {
    let view = View::of(top).map(|(view, _)| view).filter(|v| v.kind == Kind::Instances);
    let walk = walk::of::<Told>(level);
    let mut t = Traversal::idle(level);
    let mut visits = Told(visits);
    // One ray after the other, so that what is told of a ray is together.
    for lane in rays.lanes(hits.len()) {
        t.start(view, &rays.ray(lane));
        visits.ray(lane);
        // SAFETY: the level is this CPU's.
        match unsafe { walk(&mut t, scene, &mut visits) } {
            Step::Done => hits[lane] = t.committed,
            step => left(lane, &t, step),
        }
    }
}

/// Rays of [`trace`] that end with their first hit. They need no order of what they hit, and so take few steps that a core cannot
/// foresee: several at once are quicker than one after the other. Others are not.
struct Wave<'a, 'r> {
    top: Option<View>,
    rays: &'a Rays<'r>,
    /// Lanes that have not begun.
    of: [u64; Rays::WORDS],
    /// Whose ray is in a slot.
    lane: [usize; SLOTS],
    hits: &'a mut [Hit],
    left: &'a mut dyn FnMut(usize, &Traversal, Step),
}

impl Source for Wave<'_, '_> {
    fn start(&mut self, slot: usize, t: &mut Traversal) -> bool {
        let Some(word) = self.of.iter().position(|w| *w != 0) else { return false };
        let lane = word * 64 + self.of[word].trailing_zeros() as usize;
        self.of[word] &= self.of[word] - 1;
        t.start(self.top, &self.rays.ray(lane));
        self.lane[slot] = lane;
        true
    }
    fn end(&mut self, slot: usize, t: &Traversal, step: Step) {
        let lane = self.lane[slot];
        match step {
            Step::Done => self.hits[lane] = t.committed,
            step => (self.left)(lane, t, step),
        }
    }
}

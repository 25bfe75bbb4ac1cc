//! The rays of a wave.

use super::{Hit, NoVisits, Ray, Scene, Step, Told, Traversal, walk};
use crate::layout::{Kind, View};
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
    all(level, top, scene, rays, hits, left, &mut NoVisits);
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
    all(level, top, scene, rays, hits, left, &mut Told(visits));
}

fn all<V: Visits>(
    level: Level,
    top: Bytes,
    scene: &dyn Scene,
    rays: &Rays,
    hits: &mut [Hit],
    left: &mut dyn FnMut(usize, &Traversal, Step),
    visits: &mut V,
) {
    let view = View::of(top).map(|(view, _)| view).filter(|v| v.kind == Kind::Instances);
    let walk = walk::of::<V>(level);
    let mut t = Traversal::idle(level);
    for lane in (0..rays.len().min(hits.len())).filter(|l| rays.mask[l / 64] >> (l % 64) & 1 != 0) {
        t.start(view, &rays.ray(lane));
        visits.ray(lane);
        // SAFETY: the level is this CPU's.
        match unsafe { walk(&mut t, scene, visits) } {
            Step::Done => hits[lane] = t.committed,
            step => left(lane, &t, step),
        }
    }
}

//! The boxes of active primitives.

use super::shapes::{List, Shapes, chunks};
use super::{Places, Prim, room};
use crate::{Error, Input, Pool};
use simd::Level;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// In the place of an inactive primitive, until they are removed.
const INACTIVE: Prim = Prim { low: [0.0; 3], geometry: u32::MAX, minus_high: [0.0; 3], primitive: 0 };

/// Primitives `from` and on, into `out`: how many are inactive.
#[inline(always)]
fn prims_body(list: List, geometry: u32, from: usize, out: &mut [MaybeUninit<Prim>]) -> usize {
    match list {
        List::Triangles(all) => prims_of(all, geometry, from, out),
        List::Boxes(all) => prims_of(all, geometry, from, out),
        List::Instances(all) => prims_of(all, geometry, from, out),
    }
}

#[inline(always)]
fn prims_of<T: Shapes>(all: T, geometry: u32, from: usize, out: &mut [MaybeUninit<Prim>]) -> usize {
    let mut inactive = 0;
    for (i, place) in out.iter_mut().enumerate() {
        match all.pair(from + i) {
            Some(pair) => {
                place.write(pair.prim(geometry, (from + i) as u32));
            }
            None => {
                inactive += 1;
                place.write(INACTIVE);
            }
        }
    }
    inactive
}

simd::by_level!(fn prims = plain prims_body, (list: List, geometry: u32, from: usize, out: &mut [MaybeUninit<Prim>]) -> usize);

/// The active primitives, in their order.
pub fn gather(level: Level, input: &Input, pool: &dyn Pool) -> Result<Vec<Prim>, Error> {
    let (chunks, total) = chunks(input)?;
    let mut out = room::<Prim>(total)?;
    let places = Places(out.spare_capacity_mut().as_mut_ptr());
    let inactive = AtomicUsize::new(0);
    pool.run(chunks.len(), &|task| {
        let c = chunks[task];
        // SAFETY: chunks have separate places, all within the capacity.
        let out = unsafe { std::slice::from_raw_parts_mut(places.get().add(c.place), c.count) };
        inactive
            .fetch_add(prims(level, List::of(input, c.geometry), c.geometry as u32, c.first, out), Relaxed);
    });
    // SAFETY: the tasks wrote every place.
    unsafe { out.set_len(total) };
    if inactive.into_inner() != 0 {
        out.retain(|p| p.geometry != INACTIVE.geometry);
    }
    Ok(out)
}

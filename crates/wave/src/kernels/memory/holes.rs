//! Stores to sparse buffers: what falls into a hole is dropped. Reads find zeros there, as long as nobody stores.

use super::linear::{each_lane, store_values, store_values_where};
use super::offsets::Offsets;
use super::warp::Extent;
use crate::kernels::mask::Bits;
use crate::state::{At, State};

/// Whether an address is one of a resource that may have holes.
#[inline(always)]
pub fn may_be(st: &State, addr: u64) -> bool {
    st.arena.may_have_holes(addr)
}

/// Of a whole region.
#[inline(always)]
pub fn may_be_in(st: &State, r: &Extent) -> bool {
    may_be(st, r.ptr() as u64)
}

/// Lanes of `ex` whose place has memory.
#[inline(always)]
pub fn resident(st: &State, places: &[u64; 16], ex: u16) -> u16 {
    if Bits(ex as u32).any(|i| may_be(st, places[i])) { asked(st, places, ex) } else { ex }
}
#[cold]
#[inline(never)]
fn asked(st: &State, places: &[u64; 16], ex: u16) -> u16 {
    Bits(ex as u32).filter(|&i| st.host.resident(places[i])).fold(0, |m, i| m | 1 << i)
}

/// [`store_values`] to what may be a hole.
///
/// # Safety
/// As [`store_values`].
#[inline(always)]
pub unsafe fn store_lane(st: &State, op: At, r: Extent, w: usize, lane: usize, o: u64) {
    if may_be_in(st, &r) {
        // SAFETY: the caller's.
        unsafe { store_there(st, op, r, w, lane, o) }
    } else {
        // SAFETY: the caller's.
        unsafe { store_values(st, op, r, w, lane, o) }
    }
}

/// # Safety
/// As [`store_values`].
#[cold]
#[inline(never)]
unsafe fn store_there(st: &State, op: At, r: Extent, w: usize, lane: usize, o: u64) {
    let there = |o: u64| st.host.resident((r.ptr() as u64).wrapping_add(o));
    // SAFETY: the caller's.
    unsafe { store_values_where(st, op, r, w, lane, o, there) }
}

/// A whole store op to one region, or to those of the lanes' own descriptors.
#[cold]
#[inline(never)]
pub fn store(st: &State, op: At, one: Option<Extent>) {
    let Some(r) = one else {
        // SAFETY: active lanes.
        return each_lane(st, op, |r, w, lane, o| unsafe { store_lane(st, op, r, w, lane, o as u64) });
    };
    let off = Offsets::new(st, op);
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        let offsets = unsafe { off.whole(w) };
        for lane in Bits(st.exec[w] as u32) {
            // SAFETY: an active lane.
            unsafe { store_lane(st, op, r, w, lane, offsets[lane] as u64) };
        }
    }
}

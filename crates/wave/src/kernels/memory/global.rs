//! Loads and stores by device address. An address outside device memory is a fault, never a crash.

use super::holes::store_lane;
use super::linear::{self, load_uniform, load_values};
use super::warp::Extent;
use crate::kernels::control::fault;
use crate::kernels::lines;
use crate::kernels::mask::Bits;
use crate::kernels::regs::{last_lane, src32, src64};
use crate::state::{At, Fault, State};
use shader::bytecode::{Op, mem_of, n_of};
use simd::Steps;

/// The part of device memory around `near` (which lies within it) that 32-bit offsets reach, half of them on either
/// side.
#[inline(always)]
fn window(st: &State, near: u64) -> Extent {
    let start = near.saturating_sub(1 << 30).max(st.arena.start);
    // SAFETY: all of the arena is mapped ([`crate::Arena`]).
    unsafe { Extent::new(start as *mut u8, (st.arena.end - start).min(1 << 31)) }
}

/// Whether `addr .. addr + bytes` may be touched.
#[inline(always)]
pub fn allowed(st: &State, addr: u64, bytes: u32) -> bool {
    st.arena.holds(addr, bytes) || outside(st, addr, bytes)
}
#[cold]
#[inline(never)]
fn outside(st: &State, addr: u64, bytes: u32) -> bool {
    st.host.foreign(addr, bytes as u64)
}

/// The constant part of the address: imm and a uniform c.
#[inline(always)]
pub fn addend(st: &State, op: At) -> u64 {
    let c = op.c;
    // SAFETY: the op's register.
    op.imm as u64 + if c.is_none() { 0 } else { unsafe { *src32(st, c).0 as u64 } }
}

/// How one warp's accesses go.
pub enum Path {
    /// Offsets from a region; those of inactive lanes are harmless.
    Window(Extent),
    /// Lane by lane, all allowed.
    Lanes,
    Fault(u64),
}

/// Splits the addresses `p + k` of the lanes `ex` into a window and offsets.
#[inline(always)]
pub fn plan(st: &State, p: &[u64; 16], k: u64, ex: u16, bytes: u32, out: &mut [u32; 16]) -> Path {
    let near = p[ex.trailing_zeros() as usize & 15].wrapping_add(k);
    if st.arena.holds(near, bytes) {
        let r = window(st, near);
        let mut bad = 0u16;
        for i in 0..16 {
            let o = p[i].wrapping_add(k).wrapping_sub(r.ptr() as u64);
            bad |= ((o > r.size() - bytes as u64) as u16) << i;
            out[i] = o as u32;
        }
        if bad & ex == 0 {
            if bad != 0 {
                for o in Bits(bad as u32) {
                    out[o] = near.wrapping_sub(r.ptr() as u64) as u32;
                }
            }
            return Path::Window(r);
        }
    }
    for i in Bits(ex as u32) {
        let a = p[i].wrapping_add(k);
        if !allowed(st, a, bytes) {
            return Path::Fault(a);
        }
    }
    Path::Lanes
}

/// One lane's place as a region of its own.
///
/// # Safety
/// It may be touched ([`allowed`]).
#[inline(always)]
unsafe fn exactly(addr: u64, bytes: u32) -> Extent {
    // SAFETY: the caller's.
    unsafe { Extent::new(addr as *mut u8, bytes as u64) }
}

#[inline(always)]
pub fn ld_global<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    lines::count(l, st, op);
    let n = n_of(op.e);
    let bytes = mem_of(op.e).bytes() * n as u32;
    let (p, s) = src64(st, op.a);
    let k = addend(st, op);
    if s == 0 {
        // SAFETY: the op's register.
        let a = unsafe { *p }.wrapping_add(k);
        if !allowed(st, a, bytes) {
            return fault(st, op, Fault::Address(a));
        }
        // SAFETY: just asked.
        load_uniform(st, op, unsafe { exactly(a, bytes) }, 0);
        return op.after(n);
    }
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut o = [0; 16];
        // SAFETY: the op's register, a live warp; looked at before anything is written.
        let q = unsafe { &*(p.add(w * s) as *const [u64; 16]) };
        match plan(st, q, k, ex, bytes, &mut o) {
            // SAFETY: a live warp, and its offsets.
            Path::Window(r) => unsafe { linear::load_warp(l, st, op, r, w, o.as_ptr(), 0, ex) },
            Path::Lanes => {
                let own = *q;
                for lane in Bits(ex as u32) {
                    // SAFETY: the plan says that they may be touched; an active lane.
                    unsafe {
                        let r = exactly(own[lane].wrapping_add(k), bytes);
                        load_values(st, op, r, w, lane, 0);
                    }
                }
            }
            Path::Fault(a) => return fault(st, op, Fault::Address(a)),
        }
    }
    op.after(n)
}

#[inline(always)]
pub fn st_global<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    lines::count(l, st, op);
    let n = n_of(op.e);
    let bytes = mem_of(op.e).bytes() * n as u32;
    let (p, s) = src64(st, op.a);
    let k = addend(st, op);
    if s == 0 {
        // SAFETY: the op's register.
        let a = unsafe { *p }.wrapping_add(k);
        if !allowed(st, a, bytes) {
            return fault(st, op, Fault::Address(a));
        }
        let (w, lane) = last_lane(st);
        // SAFETY: just asked; a warp of the wave.
        unsafe { store_lane(st, op, exactly(a, bytes), w, lane, 0) };
        return op.after(n);
    }
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut o = [0; 16];
        // SAFETY: the op's register, a live warp; stores write none.
        let q = unsafe { &*(p.add(w * s) as *const [u64; 16]) };
        match plan(st, q, k, ex, bytes, &mut o) {
            // SAFETY: a live warp, and its offsets.
            Path::Window(r) => unsafe { linear::store_warp(l, st, op, r, w, o.as_ptr(), 0, ex) },
            Path::Lanes => {
                for lane in Bits(ex as u32) {
                    // SAFETY: the plan says that they may be touched; an active lane.
                    unsafe {
                        let r = exactly(q[lane].wrapping_add(k), bytes);
                        store_lane(st, op, r, w, lane, 0);
                    }
                }
            }
            Path::Fault(a) => return fault(st, op, Fault::Address(a)),
        }
    }
    op.after(n)
}

//! Loads and stores by device address. An address outside device memory is a fault, never a crash.

use super::linear::{load_one, load_uniform, store_one};
use super::warp::Region;
use crate::kernels::control::fault;
use crate::kernels::levels::Steps;
use crate::kernels::lines;
use crate::kernels::mask::Bits;
use crate::kernels::regs::{after, last_lane, src32, src64, value_reg};
use crate::state::{Fault, State};
use shader::bytecode::{Op, mem_of, n_of};

/// The part of device memory around `near` (which lies within it) that 32-bit offsets reach, half of them on either
/// side.
#[inline(always)]
fn window(st: &State, near: u64) -> Region {
    let start = near.saturating_sub(1 << 30).max(st.arena.0);
    Region { ptr: start as *mut u8, size: (st.arena.1 - start).min(1 << 31) }
}

#[inline(always)]
pub fn in_arena(st: &State, addr: u64, bytes: u32) -> bool {
    addr >= st.arena.0 && st.arena.1.saturating_sub(addr) >= bytes as u64 && addr < st.arena.1
}

/// Whether `addr .. addr + bytes` may be touched.
#[inline(always)]
pub unsafe fn allowed(st: &State, addr: u64, bytes: u32) -> bool {
    in_arena(st, addr, bytes) || outside(st, addr, bytes)
}
#[cold]
#[inline(never)]
unsafe fn outside(st: &State, addr: u64, bytes: u32) -> bool {
    (*st.host).foreign(addr, bytes as u64)
}

/// The constant part of the address: imm and a uniform c.
#[inline(always)]
pub unsafe fn addend(st: &State, op: *const Op) -> u64 {
    let c = (*op).c;
    (*op).imm as u64 + if c.is_none() { 0 } else { *src32(st, c).0 as u64 }
}

/// How one warp's accesses go.
pub enum Path {
    /// Offsets from a region; those of inactive lanes are harmless.
    Window(Region),
    /// Lane by lane, all allowed.
    Lanes,
    Fault(u64),
}

/// Splits the addresses `p + k` of the lanes `ex` into a window and offsets.
#[inline(always)]
pub unsafe fn plan(st: &State, p: *const u64, k: u64, ex: u16, bytes: u32, out: &mut [u32; 16]) -> Path {
    let near = (*p.add(ex.trailing_zeros() as usize & 15)).wrapping_add(k);
    if in_arena(st, near, bytes) {
        let r = window(st, near);
        let mut bad = 0u16;
        for i in 0..16 {
            let o = (*p.add(i)).wrapping_add(k).wrapping_sub(r.ptr as u64);
            bad |= ((o > r.size - bytes as u64) as u16) << i;
            out[i] = o as u32;
        }
        if bad & ex == 0 {
            if bad != 0 {
                for o in Bits(bad as u32) {
                    out[o] = near.wrapping_sub(r.ptr as u64) as u32;
                }
            }
            return Path::Window(r);
        }
    }
    for i in Bits(ex as u32) {
        let a = (*p.add(i)).wrapping_add(k);
        if !allowed(st, a, bytes) {
            return Path::Fault(a);
        }
    }
    Path::Lanes
}

/// One scalar's place as a region of its own.
#[inline(always)]
fn exactly(addr: u64, bytes: u32) -> Region {
    Region { ptr: addr as *mut u8, size: bytes as u64 }
}

#[inline(always)]
pub unsafe fn ld_global<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    lines::count::<L>(st, op);
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    let bytes = mem.bytes() * n as u32;
    let (p, s) = src64(st, (*op).a);
    let k = addend(st, op);
    if s == 0 {
        let a = (*p).wrapping_add(k);
        if !allowed(st, a, bytes) {
            return fault(st, op, Fault::Address(a));
        }
        load_uniform(st, op, exactly(a, bytes), 0);
        return after(op, n);
    }
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut o = [0; 16];
        let q = p.add(w * s);
        match plan(st, q, k, ex, bytes, &mut o) {
            Path::Window(r) => L::load_warp(st, op, r, w, o.as_ptr(), 0, ex),
            Path::Lanes => {
                let own = *(q as *const [u64; 16]);
                for lane in Bits(ex as u32) {
                    let r = exactly(own[lane].wrapping_add(k), bytes);
                    for i in 0..n {
                        let x = value_reg(op, n, i);
                        if !x.is_none() {
                            load_one(st, r, mem, x, w, lane, i as u64 * mem.bytes() as u64);
                        }
                    }
                }
            }
            Path::Fault(a) => return fault(st, op, Fault::Address(a)),
        }
    }
    after(op, n)
}

#[inline(always)]
pub unsafe fn st_global<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    lines::count::<L>(st, op);
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    let bytes = mem.bytes() * n as u32;
    let (p, s) = src64(st, (*op).a);
    let k = addend(st, op);
    if s == 0 {
        let a = (*p).wrapping_add(k);
        if !allowed(st, a, bytes) {
            return fault(st, op, Fault::Address(a));
        }
        let (w, lane) = last_lane(st);
        for i in 0..n {
            let x = value_reg(op, n, i);
            store_one(st, exactly(a, bytes), mem, x, w, lane, i as u64 * mem.bytes() as u64);
        }
        return after(op, n);
    }
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut o = [0; 16];
        let q = p.add(w * s);
        match plan(st, q, k, ex, bytes, &mut o) {
            Path::Window(r) => L::store_warp(st, op, r, w, o.as_ptr(), 0, ex),
            Path::Lanes => {
                for lane in Bits(ex as u32) {
                    let r = exactly((*q.add(lane)).wrapping_add(k), bytes);
                    for i in 0..n {
                        let x = value_reg(op, n, i);
                        store_one(st, r, mem, x, w, lane, i as u64 * mem.bytes() as u64);
                    }
                }
            }
            Path::Fault(a) => return fault(st, op, Fault::Address(a)),
        }
    }
    after(op, n)
}

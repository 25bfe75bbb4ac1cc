//! Loads and stores of buffers, workgroup memory and push constants.

use super::cell::{C8, C16, C32, C64, CF16};
use super::offsets::Offsets;
use super::warp::{self, Extent};
use super::{bytes, halves, holes};
use crate::kernels::forms::inlined_with_vectors;
use crate::kernels::mask::{Bits, is_full};
use crate::kernels::regs::{dst32, dst64, last_lane, reg, splat32, splat64, src32, src64};
use crate::kernels::{count, lines};
use crate::state::{At, State};
use shader::bytecode::{Op, Reg, mem_bits, mem_of, n_of};
use shader::ir::Mem;
use simd::Steps;

/// Address and size of the buffer that a descriptor names.
///
/// # Safety
/// `desc` points at a descriptor's 32 bytes: what DESC gave, for active lanes. Who wrote the descriptor keeps what it names.
#[inline(always)]
pub unsafe fn buffer(desc: u64) -> Extent {
    let d = desc as *const u64;
    // SAFETY: the caller's.
    unsafe { Extent::new(*d as *mut u8, *d.add(1)) }
}
/// Workgroup memory, where the wave is of one workgroup.
#[inline(always)]
pub fn shared(st: &State) -> Extent {
    // SAFETY: so the state has it.
    unsafe { Extent::new(st.shared, st.shared_bytes as u64) }
}
/// Workgroup memory of warp `w`'s workgroup.
#[inline(always)]
pub fn shared_of(st: &State, w: usize) -> Extent {
    // SAFETY: within what the worker reserved for all of them.
    unsafe { Extent::new(st.shared.wrapping_add(st.shared_at[w & 15] as usize), st.shared_bytes as u64) }
}

/// What an op's offsets are within.
pub trait Regions: Copy {
    /// The same region for every warp.
    const ONE: bool;
    fn of(&self, st: &State, w: usize) -> Extent;
}
impl Regions for Extent {
    const ONE: bool = true;
    #[inline(always)]
    fn of(&self, _: &State, _: usize) -> Extent {
        *self
    }
}
/// Each warp's workgroup's memory.
#[derive(Clone, Copy)]
pub struct Packed;
impl Regions for Packed {
    const ONE: bool = false;
    #[inline(always)]
    fn of(&self, st: &State, w: usize) -> Extent {
        shared_of(st, w)
    }
}
#[inline(always)]
pub fn push(st: &State) -> Extent {
    // SAFETY: so the state has it; no op stores there.
    unsafe { Extent::new(st.push as *mut u8, st.push_bytes as u64) }
}

/// One load of `n` scalars at offset `o`, the same for all lanes.
#[inline(always)]
pub fn load_uniform(st: &State, op: At, r: Extent, o: u32) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    for i in 0..n {
        // SAFETY: one of the op's values.
        let d = unsafe { op.value(n, i) };
        if d.is_none() {
            continue;
        }
        let at = o as u64 + i as u64 * mem.bytes() as u64;
        // SAFETY: the op's register.
        unsafe {
            match mem {
                Mem::U8 => splat32(st, d, r.read::<C8>(at)),
                Mem::U16 => splat32(st, d, r.read::<C16>(at)),
                Mem::F16 => splat32(st, d, r.read::<CF16>(at)),
                Mem::B32 => splat32(st, d, r.read::<C32>(at)),
                Mem::B64 => splat64(st, d, r.read::<C64>(at)),
            }
        }
    }
}

/// Loads warp `w`, whose lanes all read at offset `o`.
///
/// # Safety
/// The wave has such a warp.
#[inline(always)]
unsafe fn load_same<L: Steps>(l: L, st: &State, op: At, r: Extent, w: usize, o: u64) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    for i in 0..n {
        // SAFETY: one of the op's values.
        let x = unsafe { op.value(n, i) };
        if x.is_none() {
            continue;
        }
        let o = o + i as u64 * mem.bytes() as u64;
        // SAFETY: the op's register.
        unsafe {
            match mem {
                Mem::U8 => l.splat32(dst32(st, x, w), r.read::<C8>(o)),
                Mem::U16 => l.splat32(dst32(st, x, w), r.read::<C16>(o)),
                Mem::F16 => l.splat32(dst32(st, x, w), r.read::<CF16>(o)),
                Mem::B32 => l.splat32(dst32(st, x, w), r.read::<C32>(o)),
                Mem::B64 => *(dst64(st, x, w) as *mut [u64; 16]) = [r.read::<C64>(o); 16],
            }
        }
    }
}

inlined_with_vectors! {
    /// Loads warp `w`: offsets `p + k`, lanes `ex`.
    ///
    /// # Safety
    /// The wave has such a warp, and its sixteen offsets are at `p`.
    pub unsafe fn load_warp = load_warp_here, (st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16)
}

/// # Safety
/// As [`load_warp`].
#[inline(always)]
unsafe fn load_warp_here<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    if mem == Mem::B32 {
        if n == 1 {
            // SAFETY: the op's register; offsets are the caller's.
            unsafe { warp::load32(l, r, dst32(st, op.d, w), p, k, ex) };
            return;
        }
        let mut unread = std::mem::MaybeUninit::<[u32; 16]>::uninit();
        let unread = unread.as_mut_ptr() as *mut u32;
        let at = |i: usize| {
            // SAFETY: one of the op's values.
            let x = unsafe { op.value(n, i) };
            if x.is_none() { unread } else { dst32(st, x, w) }
        };
        if n == 4 {
            // SAFETY: the op's registers, or what nobody reads; offsets are the caller's.
            unsafe { warp::load32n(l, r, &[at(0), at(1), at(2), at(3)], p, k, ex) };
            return;
        }
        let mut d = [unread; 16];
        for (i, d) in d[..n].iter_mut().enumerate() {
            *d = at(i);
        }
        // SAFETY: as above.
        unsafe { warp::load32n(l, r, &d[..n], p, k, ex) };
        return;
    }
    // SAFETY: the caller's.
    unsafe { load_warp_other(l, st, op, r, w, p, k, ex) };
}

/// # Safety
/// As [`load_warp`].
#[inline(always)]
unsafe fn load_warp_other<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    if matches!(mem, Mem::U16 | Mem::F16) {
        // SAFETY: the caller's.
        return unsafe { halves::load(l, st, op, r, w, p, k, ex) };
    }
    // SAFETY: the caller's.
    if mem == Mem::U8 && n.is_multiple_of(4) && unsafe { bytes::load(l, st, op, r, w, p, k, ex) } {
        return;
    }
    let step = n as u32 * mem.bytes();
    // Destinations may take the offsets' register.
    // SAFETY: the caller's.
    let own = unsafe { *(p as *const [u32; 16]) };
    let p = own.as_ptr();
    for i in 0..n {
        // SAFETY: one of the op's values.
        let x = unsafe { op.value(n, i) };
        if x.is_none() {
            continue;
        }
        let add = i as u32 * mem.bytes();
        // SAFETY: the op's register.
        unsafe {
            match mem {
                Mem::U8 => warp::load_any::<L, C8>(l, r, dst32(st, x, w), p, k, add, step, ex),
                Mem::U16 | Mem::F16 => {}
                Mem::B32 => warp::load_any::<L, C32>(l, r, dst32(st, x, w), p, k, add, step, ex),
                Mem::B64 => warp::load_any::<L, C64>(l, r, dst64(st, x, w), p, k, add, step, ex),
            }
        }
    }
}

inlined_with_vectors! {
    /// Stores warp `w`'s lanes `ex`.
    ///
    /// # Safety
    /// As [`load_warp`].
    pub unsafe fn store_warp = store_warp_here, (st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16)
}

/// # Safety
/// As [`store_warp`].
#[inline(always)]
unsafe fn store_warp_here<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    if mem == Mem::B32 {
        let src = |x: Reg| {
            let (v, s) = src32(st, x);
            v.wrapping_add(w * s)
        };
        if n == 1 {
            // SAFETY: the op's register; offsets are the caller's.
            unsafe { warp::store32(l, r, src(op.d), p, k, ex) };
            return;
        }
        // SAFETY: one of the op's values.
        let at = |i| src(unsafe { op.value(n, i) });
        if n == 4 {
            // SAFETY: the op's registers; offsets are the caller's.
            unsafe { warp::store32n(l, r, &[at(0), at(1), at(2), at(3)], p, k, ex) };
            return;
        }
        let mut v = [std::ptr::null(); 16];
        for (i, v) in v[..n].iter_mut().enumerate() {
            *v = at(i);
        }
        // SAFETY: as above.
        unsafe { warp::store32n(l, r, &v[..n], p, k, ex) };
        return;
    }
    // SAFETY: the caller's.
    unsafe { store_warp_other(l, st, op, r, w, p, k, ex) };
}

/// # Safety
/// As [`load_warp`].
#[inline(always)]
unsafe fn store_warp_other<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    if matches!(mem, Mem::U16 | Mem::F16) {
        // SAFETY: the caller's.
        return unsafe { halves::store(l, st, op, r, w, p, k, ex) };
    }
    // SAFETY: the caller's.
    if mem == Mem::U8 && n.is_multiple_of(4) && unsafe { bytes::store(l, st, op, r, w, p, k, ex) } {
        return;
    }
    if n > 1 {
        for lane in Bits(ex as u32) {
            // SAFETY: the caller's.
            let o = unsafe { *p.add(lane) }.wrapping_add(k) as u64;
            // SAFETY: the caller's.
            unsafe { store_values(st, op, r, w, lane, o) };
        }
        return;
    }
    let (v, s) = src32(st, op.d);
    let v = v.wrapping_add(w * s);
    // SAFETY: the op's register; offsets are the caller's.
    unsafe {
        match mem {
            Mem::U8 => warp::store_any::<L, C8>(l, r, v, p, k, ex),
            Mem::U16 | Mem::F16 => {}
            Mem::B32 => warp::store_any::<L, C32>(l, r, v, p, k, ex),
            Mem::B64 => {
                let (v, s) = src64(st, op.d);
                warp::store_any::<L, C64>(l, r, v.add(w * s), p, k, ex)
            }
        }
    }
}

/// A whole load op.
#[inline(always)]
pub fn load_region<L: Steps, R: Regions>(l: L, st: &mut State, op: At, r: R) -> *const Op {
    let n = n_of(op.e);
    let off = Offsets::new(st, op);
    if R::ONE && off.is_uniform() {
        load_uniform(st, op, r.of(st, 0), off.k);
        return op.after(n);
    }
    if off.is_uniform() {
        for w in Bits(st.live) {
            // SAFETY: a live warp.
            unsafe { load_same(l, st, op, r.of(st, w), w, off.k as u64) };
        }
        return op.after(n);
    }
    if op.e & 0xFF == mem_bits(Mem::B32, 1) && is_full(st) {
        let d = reg(st, op.d) as *mut u32;
        for w in Bits(st.live) {
            let p = off.lanes(w);
            // SAFETY: the op's registers, a live warp.
            unsafe { warp::load32_full(l, r.of(st, w), d.add(w * 16), p, off.k) };
        }
        return op.after(n);
    }
    for w in Bits(st.live) {
        // SAFETY: a live warp.
        unsafe { load_warp_of(l, st, op, r.of(st, w), w, off.lanes(w), off.k, st.exec[w]) };
    }
    op.after(n)
}

/// As [`load_warp`] for an op that may stand for several loads.
///
/// # Safety
/// As [`load_warp`].
#[inline(always)]
pub unsafe fn load_warp_of<L: Steps>(
    l: L,
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let parts = count::parts(&op);
    // SAFETY: the caller's.
    unsafe {
        let offsets = &*(p as *const [u32; 16]);
        if parts == 1 || r.holds_lanes(l, offsets, k, parts * count::part_bytes(&op), ex) {
            load_warp(l, st, op, r, w, p, k, ex);
        } else {
            load_parts(st, op, r, w, p, k, ex);
        }
    }
}

/// Loads warp `w` of an op that stands for several loads, some of them out of bounds: each load's offset is mod 2^32 by itself.
///
/// # Safety
/// As [`load_warp`].
#[cold]
#[inline(never)]
unsafe fn load_parts(st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    let (bytes, part) = (mem.bytes(), count::part_bytes(&op));
    // Results may take the offsets' register.
    // SAFETY: the caller's.
    let own = unsafe { *(p as *const [u32; 16]) };
    for i in 0..n {
        // SAFETY: one of the op's values.
        let x = unsafe { op.value(n, i) };
        if x.is_none() {
            continue;
        }
        let (before, inside) = (i as u32 * bytes / part * part, i as u32 * bytes % part);
        for lane in Bits(ex as u32) {
            let o = own[lane].wrapping_add(k).wrapping_add(before) as u64 + inside as u64;
            // SAFETY: the op's register; the rest is the caller's.
            unsafe { load_one(st, r, mem, x, w, lane, o) };
        }
    }
}

/// A whole store op.
#[inline(always)]
pub fn store_region<L: Steps, R: Regions>(l: L, st: &mut State, op: At, r: R) -> *const Op {
    let n = n_of(op.e);
    let off = Offsets::new(st, op);
    if R::ONE && off.is_uniform() {
        store_same(st, op, r.of(st, 0), off.k);
        return op.after(n);
    }
    if off.is_uniform() {
        for w in Bits(st.live) {
            // The last lane wins.
            let lane = 15 - st.exec[w].leading_zeros() as usize;
            // SAFETY: an active lane of a live warp.
            unsafe { store_values(st, op, r.of(st, w), w, lane, off.k as u64) };
        }
        return op.after(n);
    }
    for w in Bits(st.live) {
        let p = off.lanes(w);
        // SAFETY: a live warp.
        unsafe { store_warp(l, st, op, r.of(st, w), w, p, off.k, st.exec[w]) };
    }
    op.after(n)
}

/// All lanes store to one offset: the last active lane wins.
pub fn store_same(st: &State, op: At, r: Extent, o: u32) {
    let (w, lane) = last_lane(st);
    // SAFETY: a warp of the wave.
    unsafe { store_values(st, op, r, w, lane, o as u64) };
}

/// Stores one lane's values, one after the other from offset `o` on.
///
/// # Safety
/// The wave has such a warp and lane.
#[inline(always)]
pub unsafe fn store_values(st: &State, op: At, r: Extent, w: usize, lane: usize, o: u64) {
    // SAFETY: the caller's.
    unsafe { store_values_where(st, op, r, w, lane, o, |_| true) }
}

/// Those of them whose offset `there` says yes to.
///
/// # Safety
/// As [`store_values`].
#[inline(always)]
pub unsafe fn store_values_where(
    st: &State,
    op: At,
    r: Extent,
    w: usize,
    lane: usize,
    o: u64,
    there: impl Fn(u64) -> bool,
) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    for i in 0..n {
        let at = o + i as u64 * mem.bytes() as u64;
        if there(at) {
            // SAFETY: one of the op's values, a register that stores need; the rest is the caller's.
            unsafe { store_one(st, r, mem, op.value(n, i), w, lane, at) };
        }
    }
}

/// Loads one lane's values, one after the other from offset `o` on.
///
/// # Safety
/// As [`store_values`].
#[inline(always)]
pub unsafe fn load_values(st: &State, op: At, r: Extent, w: usize, lane: usize, o: u64) {
    let (mem, n) = (mem_of(op.e), n_of(op.e));
    for i in 0..n {
        // SAFETY: one of the op's values.
        let x = unsafe { op.value(n, i) };
        if !x.is_none() {
            // SAFETY: the op's register; the rest is the caller's.
            unsafe { load_one(st, r, mem, x, w, lane, o + i as u64 * mem.bytes() as u64) };
        }
    }
}

/// Stores one lane's scalar of register `x` at offset `o`.
///
/// # Safety
/// `x` is one of the op's registers, and the wave has such a warp and lane.
#[inline(always)]
unsafe fn store_one(st: &State, r: Extent, mem: Mem, x: Reg, w: usize, lane: usize, o: u64) {
    let (v, s) = src32(st, x);
    // SAFETY: the caller's.
    unsafe {
        let v = v.add(w * s + lane);
        match mem {
            Mem::U8 => r.write::<C8>(o, *v),
            Mem::U16 => r.write::<C16>(o, *v),
            Mem::F16 => r.write::<CF16>(o, *v),
            Mem::B32 => r.write::<C32>(o, *v),
            Mem::B64 => {
                let (v, s) = src64(st, x);
                r.write::<C64>(o, *v.add(w * s + lane))
            }
        }
    }
}

/// Reads one lane's scalar at offset `o` into register `x`.
///
/// # Safety
/// As [`store_one`].
#[inline(always)]
unsafe fn load_one(st: &State, r: Extent, mem: Mem, x: Reg, w: usize, lane: usize, o: u64) {
    // SAFETY: the caller's.
    unsafe {
        let d = dst32(st, x, w).add(lane);
        match mem {
            Mem::U8 => *d = r.read::<C8>(o),
            Mem::U16 => *d = r.read::<C16>(o),
            Mem::F16 => *d = r.read::<CF16>(o),
            Mem::B32 => *d = r.read::<C32>(o),
            Mem::B64 => *dst64(st, x, w).add(lane) = r.read::<C64>(o),
        }
    }
}

#[inline(always)]
pub fn ld_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let (d, s) = src64(st, op.b);
    if s == 0
        && let Some(x) = lines::takes(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address.
        let r = unsafe { buffer(*d) };
        // SAFETY: `takes` gave the offsets.
        return unsafe { lines::load(l, st, op, r, x) };
    }
    lines::count(l, st, op);
    if s == 0 {
        // SAFETY: as above.
        let r = unsafe { buffer(*d) };
        return load_region(l, st, op, r);
    }
    // SAFETY: active lanes.
    each_lane(st, op, |r, w, lane, o| unsafe { load_values(st, op, r, w, lane, o as u64) });
    op.after(n_of(op.e))
}

#[inline(always)]
pub fn st_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let (d, s) = src64(st, op.b);
    // SAFETY: the op's register, which has a descriptor's address.
    let one = (s == 0).then(|| unsafe { buffer(*d) });
    if one.is_none_or(|r| holes::may_be_in(st, &r)) {
        lines::count(l, st, op);
        holes::store(st, op, one);
        return op.after(n_of(op.e));
    }
    // SAFETY: as above.
    let r = unsafe { buffer(*d) };
    if let Some(x) = lines::takes(st, op) {
        // SAFETY: `takes` gave the offsets.
        return unsafe { lines::store(l, st, op, r, x) };
    }
    lines::count(l, st, op);
    store_region(l, st, op, r)
}

/// Active lanes with a descriptor of their own: region, warp, lane, offset. Operands are copied warp by warp before
/// the first call, so that results may take their registers.
#[inline(always)]
pub fn each_lane(st: &State, op: At, mut f: impl FnMut(Extent, usize, usize, u32)) {
    let (d, s) = src64(st, op.b);
    let off = Offsets::new(st, op);
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        let (offsets, desc) = unsafe { (off.whole(w), *(d.add(w * s) as *const [u64; 16])) };
        for lane in Bits(st.exec[w] as u32) {
            // SAFETY: active lanes have a descriptor's address.
            f(unsafe { buffer(desc[lane]) }, w, lane, offsets[lane]);
        }
    }
}

#[inline(always)]
pub fn ld_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if st.packed {
        lines::count(l, st, op);
        return load_region(l, st, op, Packed);
    }
    let r = shared(st);
    if let Some(x) = lines::takes(st, op) {
        // SAFETY: `takes` gave the offsets.
        return unsafe { lines::load(l, st, op, r, x) };
    }
    lines::count(l, st, op);
    load_region(l, st, op, r)
}
#[inline(always)]
pub fn st_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if st.packed {
        lines::count(l, st, op);
        return store_region(l, st, op, Packed);
    }
    let r = shared(st);
    if let Some(x) = lines::takes(st, op) {
        // SAFETY: `takes` gave the offsets.
        return unsafe { lines::store(l, st, op, r, x) };
    }
    lines::count(l, st, op);
    store_region(l, st, op, r)
}
#[inline(always)]
pub fn ld_push<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let r = push(st);
    load_region(l, st, op, r)
}

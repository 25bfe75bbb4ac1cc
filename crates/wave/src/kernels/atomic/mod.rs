//! Atomics: active lanes one after another, in lane order; those on one word, of a warp or of several, as one atomic
//! that leaves the same. Buffers and device addresses use the host's atomics; workgroup and private memory belong to the
//! thread, plain accesses do.

mod apply;
mod batch;
mod memory;
mod sums;
mod words;

pub use apply::apply;
use batch::{Batch, add32};
use memory::Own;
pub use memory::{Device, Memory};

use super::control::fault;
use super::forms::kernels;
use super::mask::Bits;
use super::memory::cell::C64;
use super::memory::cell::{f16_to_f32, f32_to_f16};
use super::memory::global::{Path, addend, plan};
use super::memory::holes;
use super::memory::linear::{buffer, shared_of};
use super::memory::offsets::Offsets;
use super::memory::warp::{Extent, load_any, load32, store_any, store32};
use super::regs::{dst32, dst64, src32, src64};
use crate::state::{At, Fault, State};
use shader::bytecode::{Op, Reg, mem_of};
use shader::ir::{AtomicOp, Mem};
use simd::Steps;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::fence;

fn op_of(e: u16) -> AtomicOp {
    AtomicOp::ALL[(e >> 8) as usize & 15]
}

/// Memory bits of 16 lanes of a register; NONE gives zeros.
///
/// # Safety
/// `r` is one of the op's registers or none, and the wave has such a warp.
#[inline(always)]
unsafe fn operands(st: &State, r: Reg, mem: Mem, w: usize) -> [u64; 16] {
    let mut v = [0; 16];
    if r.is_none() {
        return v;
    }
    if mem == Mem::B64 {
        let (p, s) = src64(st, r);
        // SAFETY: the caller's.
        return unsafe { *(p.add(w * s) as *const [u64; 16]) };
    }
    let (p, s) = src32(st, r);
    // SAFETY: the caller's.
    let own = unsafe { *(p.add(w * s) as *const [u32; 16]) };
    if mem == Mem::F16 {
        for i in 0..16 {
            v[i] = f32_to_f16(own[i]) as u64;
        }
    } else {
        for i in 0..16 {
            v[i] = own[i] as u64;
        }
    }
    v
}

/// Old memory bits into the result register's active lanes.
///
/// # Safety
/// As [`operands`].
#[inline(always)]
unsafe fn results(st: &State, d: Reg, mem: Mem, w: usize, old: &[u64; 16], ex: u16) {
    if d.is_none() {
        return;
    }
    if mem == Mem::B32 && ex == 0xFFFF {
        let d = dst32(st, d, w);
        for i in 0..16 {
            // SAFETY: the caller's.
            unsafe { *d.add(i) = old[i] as u32 };
        }
        return;
    }
    for i in Bits(ex as u32) {
        // SAFETY: the caller's.
        unsafe {
            if mem == Mem::B64 {
                *dst64(st, d, w).add(i) = old[i];
            } else if mem == Mem::F16 {
                *dst32(st, d, w).add(i) = f16_to_f32(old[i] as u16);
            } else {
                *dst32(st, d, w).add(i) = old[i] as u32;
            }
        }
    }
}

/// Lanes of `left` whose place is that of lane `i`, which is one of them.
#[inline(always)]
fn alike<L: Steps>(l: L, p: &[u64; 16], low: &[u32; 16], left: u16, i: usize) -> u16 {
    let m = l.same_mask(low, low[i]) & left;
    let mut all = m;
    for l in Bits(m as u32) {
        if p[l] != p[i] {
            all &= !(1 << l);
        }
    }
    all
}

/// One warp's atomics, lane after lane of `ok`: what was there before each (of a store: anything), 0 for other lanes.
///
/// # Safety
/// Places of `ok` are live memory.
#[inline(always)]
pub unsafe fn each<M: Memory>(
    p: &[u64; 16],
    at: AtomicOp,
    mem: Mem,
    a: &[u64; 16],
    b: &[u64; 16],
    ok: u16,
) -> [u64; 16] {
    let mut old = [0; 16];
    // With what is known at compilation, one atomic is one instruction.
    macro_rules! each {
        ($at:ident, $mem:ident) => {
            for i in Bits(ok as u32) {
                // SAFETY: the caller's.
                old[i] = unsafe { M::one(p[i] as *mut u8, AtomicOp::$at, Mem::$mem, a[i], b[i]) };
            }
        };
    }
    match (at, mem) {
        (AtomicOp::Exchange, Mem::B32) => each!(Exchange, B32),
        (AtomicOp::IAdd, Mem::B32) => each!(IAdd, B32),
        // SAFETY: the caller's.
        _ => return unsafe { others::<M>(p, at, mem, a, b, ok) },
    }
    old
}

/// The rest of [`each`], once for all levels.
///
/// # Safety
/// As [`each`].
#[inline(never)]
unsafe fn others<M: Memory>(
    p: &[u64; 16],
    at: AtomicOp,
    mem: Mem,
    a: &[u64; 16],
    b: &[u64; 16],
    ok: u16,
) -> [u64; 16] {
    let mut old = [0; 16];
    for i in Bits(ok as u32) {
        // SAFETY: the caller's.
        old[i] = unsafe { M::one(p[i] as *mut u8, at, mem, a[i], b[i]) };
    }
    old
}

/// One warp's FAdds on several words, `ok` lanes; a word's lanes as one atomic.
///
/// # Safety
/// As [`each`].
#[inline(always)]
unsafe fn add_lanes<L: Steps, M: Memory>(l: L, p: &[u64; 16], a: &[u64; 16], ok: u16) -> [u64; 16] {
    let mut old = [0; 16];
    let mut low = [0; 16];
    for i in 0..16 {
        low[i] = p[i] as u32;
    }
    let mut left = ok & l.repeated(&low);
    for l in Bits((ok & !left) as u32) {
        let change = |before| {
            old[l] = before;
            add32(before, a[l])
        };
        // SAFETY: the caller's.
        unsafe { M::change(p[l] as *mut u8, Mem::B32, change) };
    }
    while left != 0 {
        let i = left.trailing_zeros() as usize;
        let m = alike(l, p, &low, left, i);
        left &= !m;
        let change = |before| {
            let mut now = before;
            for l in Bits(m as u32) {
                old[l] = now;
                now = add32(now, a[l]);
            }
            now
        };
        // SAFETY: the caller's.
        unsafe { M::change(p[i] as *mut u8, Mem::B32, change) };
    }
    old
}

/// As [`add_lanes`], where nobody else can see what is half done, and somebody reads what was there before.
///
/// # Safety
/// As [`each`].
#[inline(always)]
unsafe fn add_alone(p: &[u64; 16], a: &[u64; 16], ok: u16) -> [u64; 16] {
    let mut old = [0; 16];
    for i in Bits(ok as u32) {
        let change = |before| {
            old[i] = before;
            add32(before, a[i])
        };
        // SAFETY: the caller's.
        unsafe { Own::change(p[i] as *mut u8, Mem::B32, change) };
    }
    old
}

/// Runs one op over the live warps. `places` gives the addresses of a warp's lanes, and which of the active ones are in
/// bounds; an address of none that is a fault.
///
/// # Safety
/// Those in bounds are live memory of as many bytes as `places` is told.
#[inline(always)]
unsafe fn run<L: Steps, M: Memory>(
    l: L,
    st: &mut State,
    op: At,
    places: impl Fn(&State, usize, u16, u32, &mut [u64; 16]) -> Result<u16, u64>,
) -> *const Op {
    let o = *op;
    // SAFETY: atomics have one extension word, of registers.
    let ext = unsafe { op.ext() };
    let (mem, at) = (mem_of(o.e), op_of(o.e));
    let mut batch = Batch { place: 0, n: 0, warps: [(0, 0); 16], a: [[0; 16]; 16], b: [[0; 16]; 16] };
    macro_rules! flush {
        () => {
            if batch.n > 0 {
                // SAFETY: the caller's.
                unsafe { batch.run::<M>(at, mem, !o.d.is_none()) };
                for (&(w, ex), old) in batch.warps[..batch.n].iter().zip(&batch.a) {
                    // SAFETY: the op's register, a live warp.
                    unsafe { results(st, o.d, mem, w, old, ex) };
                }
            }
        };
    }
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut p = [0u64; 16];
        let ok = match places(st, w, ex, mem.bytes(), &mut p) {
            Ok(ok) => ok,
            Err(a) => return fault(st, op, Fault::Address(a)),
        };
        // SAFETY: the op's registers, a live warp.
        let (a, b) = unsafe { (operands(st, ext[0], mem, w), operands(st, ext[1], mem, w)) };
        let first = p[ex.trailing_zeros() as usize & 15];
        // A sum that nobody sees meanwhile is as quick lane by lane, wherever it is.
        let lone_sum = st.alone && (at, mem) == (AtomicOp::FAdd, Mem::B32);
        if !lone_sum && ok == ex && same(&p, first) | !ex == 0xFFFF {
            if batch.n == 16 || batch.n > 0 && batch.place != first {
                flush!();
                batch.n = 0;
            }
            batch.place = first;
            let n = batch.n & 15;
            (batch.warps[n], batch.a[n], batch.b[n]) = ((w, ex), a, b);
            batch.n += 1;
        } else {
            // In the order of lanes, the earlier warps' first.
            flush!();
            batch.n = 0;
            // SAFETY: places are the caller's; the op's register, a live warp.
            unsafe {
                let old = if (at, mem) == (AtomicOp::FAdd, Mem::B32) {
                    if st.alone { add_alone(&p, &a, ok) } else { add_lanes::<L, M>(l, &p, &a, ok) }
                } else if st.alone {
                    each::<Own>(&p, at, mem, &a, &b, ok)
                } else {
                    each::<M>(&p, at, mem, &a, &b, ok)
                };
                results(st, o.d, mem, w, &old, ex);
            }
        }
    }
    flush!();
    op.on(2)
}

/// Lanes whose place is `first`.
#[inline(always)]
fn same(p: &[u64; 16], first: u64) -> u16 {
    let mut m = 0;
    for (i, p) in p.iter().enumerate() {
        m |= ((*p == first) as u16) << i;
    }
    m
}

/// Addresses at one warp's offsets within a region, and which lanes of `ex` are in bounds.
///
/// # Safety
/// The wave has such a warp.
#[inline(always)]
unsafe fn within<L: Steps>(
    l: L,
    r: Extent,
    off: &Offsets,
    w: usize,
    ex: u16,
    bytes: u32,
    out: &mut [u64; 16],
) -> u16 {
    let Some(limit) = r.limit(bytes) else { return 0 };
    // SAFETY: the caller's.
    let o = unsafe { off.whole(w) };
    for (out, o) in out.iter_mut().zip(o) {
        *out = (r.ptr() as u64).wrapping_add(o as u64);
    }
    l.bound_mask(&o, 0, limit) & ex
}

/// Whether an operation is a load or a store of 32 or 64 bits: those of aligned words, which no host tears, so they go by
/// vectors.
fn moves(e: u16) -> bool {
    matches!(op_of(e), AtomicOp::Load | AtomicOp::Store) && matches!(mem_of(e), Mem::B32 | Mem::B64)
}

/// Does an operation of those ([`moves`]) for one warp, at the offsets `p + k` of a region.
///
/// # Safety
/// The wave has such a warp, and its offsets are at `p`.
#[inline(always)]
unsafe fn moved<L: Steps>(l: L, st: &State, op: At, r: Extent, w: usize, p: *const u32, k: u32, ex: u16) {
    // SAFETY: atomics have one extension word, of registers.
    let (o, value) = (*op, unsafe { op.ext() }[0]);
    let mem = mem_of(o.e);
    match (op_of(o.e), mem) {
        (AtomicOp::Load, Mem::B32) if !o.d.is_none() => {
            let mut v = [0u32; 16];
            // SAFETY: offsets are the caller's; the op's register.
            unsafe {
                load32(l, r, v.as_mut_ptr(), p, k, ex);
                put(dst32(st, o.d, w), &v, ex);
            }
        }
        (AtomicOp::Load, Mem::B64) if !o.d.is_none() => {
            let mut v = [0u64; 16];
            // SAFETY: as above.
            unsafe {
                load_any::<L, C64>(l, r, v.as_mut_ptr(), p, k, 0, 8, ex);
                put(dst64(st, o.d, w), &v, ex);
            }
        }
        (AtomicOp::Store, Mem::B32) => {
            fence(Release);
            let (v, s) = src32(st, value);
            // SAFETY: as above.
            let at = unsafe { &*(p as *const [u32; 16]) };
            let first = at[ex.trailing_zeros() as usize & 15];
            // Of lanes that store to one place the last is seen.
            let ex =
                if l.same_mask(at, first) | !ex == 0xFFFF { 0x8000u16 >> ex.leading_zeros() } else { ex };
            if ex.is_power_of_two() {
                let (o, lane) = (first.wrapping_add(k) as u64, ex.trailing_zeros() as usize);
                if r.holds(o, 4) {
                    // SAFETY: within the region; the op's register, a live warp.
                    unsafe { (r.ptr().add(o as usize) as *mut u32).write_unaligned(*v.add(w * s + lane)) };
                }
            } else {
                // SAFETY: as above.
                unsafe { store32(l, r, v.add(w * s), p, k, ex) };
            }
        }
        (AtomicOp::Store, Mem::B64) => {
            fence(Release);
            let (v, s) = src64(st, value);
            // SAFETY: as above.
            unsafe { store_any::<L, C64>(l, r, v.add(w * s), p, k, ex) };
        }
        // A load of which nobody reads the result.
        _ => {}
    }
    fence(Acquire);
}

/// Active lanes of a result.
///
/// # Safety
/// `d` is good for sixteen lanes.
#[inline(always)]
unsafe fn put<T: Copy>(d: *mut T, v: &[T; 16], ex: u16) {
    // SAFETY: the caller's.
    let d = unsafe { &mut *(d as *mut [T; 16]) };
    if ex == 0xFFFF {
        *d = *v;
        return;
    }
    for i in 0..16 {
        d[i] = if ex >> i & 1 != 0 { v[i] } else { d[i] };
    }
}

/// [`moved`] for all live warps, at offsets of a region that `of` gives.
#[inline(always)]
fn move_all<L: Steps>(
    l: L,
    st: &State,
    op: At,
    off: &Offsets,
    of: impl Fn(&State, usize) -> Extent,
) -> *const Op {
    for w in Bits(st.live) {
        // SAFETY: a live warp.
        unsafe { moved(l, st, op, of(st, w), w, off.lanes(w), off.k, st.exec[w]) };
    }
    op.on(2)
}

#[inline(always)]
fn at_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    super::count::touch(st, op);
    let off = Offsets::new(st, op);
    let (d, s) = src64(st, op.b);
    // SAFETY: the op's register, which has a descriptor's address.
    let one = (s == 0).then(|| unsafe { buffer(*d) });
    if let Some(r) = one.filter(|r| moves(op.e) && !holes::may_be_in(st, r)) {
        return move_all(l, st, op, &off, |_, _| r);
    }
    if let Some(r) = one.filter(|r| st.alone && sums::is_sum(op) && !holes::may_be_in(st, r)) {
        // SAFETY: the op's.
        unsafe { sums::all(l, st, op, r, &off) };
        return op.on(2);
    }
    if let Some(r) = one.filter(|r| L::VECTORS && words::has(op) && !holes::may_be_in(st, r)) {
        // SAFETY: the op's.
        unsafe { words::all::<L, Device>(l, st, op, &off, |_, _| r) };
        return op.on(2);
    }
    let places = |st: &State, w: usize, ex: u16, bytes: u32, out: &mut [u64; 16]| {
        if let Some(r) = one {
            // SAFETY: a live warp.
            let ok = unsafe { within(l, r, &off, w, ex, bytes, out) };
            return Ok(if holes::may_be_in(st, &r) { holes::resident(st, out, ok) } else { ok });
        }
        // SAFETY: a live warp.
        let o = unsafe { off.whole(w) };
        let mut ok = 0;
        for i in Bits(ex as u32) {
            // SAFETY: the op's register, an active lane: it has a descriptor's address.
            let r = unsafe { buffer(*d.add(w * s + i)) };
            out[i] = (r.ptr() as u64).wrapping_add(o[i] as u64);
            ok |= (r.holds(o[i] as u64, bytes) as u16) << i;
        }
        Ok(holes::resident(st, out, ok))
    };
    // SAFETY: within regions.
    unsafe { run::<L, Device>(l, st, op, places) }
}

#[inline(always)]
fn at_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    super::count::touch(st, op);
    let off = Offsets::new(st, op);
    if moves(op.e) {
        return move_all(l, st, op, &off, shared_of);
    }
    if L::VECTORS && words::has(op) {
        // SAFETY: the op's.
        unsafe { words::all::<L, Own>(l, st, op, &off, shared_of) };
        return op.on(2);
    }
    // SAFETY: a live warp; within regions.
    unsafe {
        run::<L, Own>(l, st, op, |st, w, ex, bytes, out| {
            Ok(within(l, shared_of(st, w), &off, w, ex, bytes, out))
        })
    }
}

#[inline(always)]
fn at_global<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    super::count::touch(st, op);
    let (p, s) = src64(st, op.a);
    let k = addend(st, op);
    let bytes = mem_of(op.e).bytes();
    if moves(op.e) && s != 0 {
        for w in Bits(st.live) {
            let (mut o, ex) = ([0; 16], st.exec[w]);
            // SAFETY: the op's register, a live warp.
            let mut places = unsafe { *(p.add(w * s) as *const [u64; 16]) };
            match plan(st, &places, k, ex, bytes, &mut o) {
                // SAFETY: a live warp, and its offsets.
                Path::Window(r) => unsafe { moved(l, st, op, r, w, o.as_ptr(), 0, ex) },
                Path::Lanes => {
                    places.iter_mut().for_each(|p| *p = p.wrapping_add(k));
                    let (at, mem) = (op_of(op.e), mem_of(op.e));
                    // SAFETY: the plan says that they may be touched; the op's registers, a live warp.
                    unsafe {
                        let a = operands(st, op.ext()[0], mem, w);
                        let there = holes::resident(st, &places, ex);
                        let old = each::<Device>(&places, at, mem, &a, &[0; 16], there);
                        results(st, op.d, mem, w, &old, ex);
                    }
                }
                Path::Fault(a) => return fault(st, op, Fault::Address(a)),
            }
        }
        return op.on(2);
    }
    let places = |st: &State, w: usize, ex: u16, bytes: u32, out: &mut [u64; 16]| {
        let mut o = [0; 16];
        // SAFETY: the op's register, a live warp; nothing is written meanwhile.
        let p = unsafe { &*(p.add(w * s) as *const [u64; 16]) };
        match plan(st, p, k, ex, bytes, &mut o) {
            Path::Window(r) => {
                for i in 0..16 {
                    out[i] = r.ptr() as u64 + o[i] as u64;
                }
            }
            Path::Lanes => {
                for i in Bits(ex as u32) {
                    out[i] = p[i].wrapping_add(k);
                }
                return Ok(holes::resident(st, out, ex));
            }
            Path::Fault(a) => return Err(a),
        }
        Ok(ex)
    };
    // SAFETY: the plan says that they may be touched.
    unsafe { run::<L, Device>(l, st, op, places) }
}

/// Private words; a 64-bit value's words lie apart, so the value is put together and taken apart.
#[inline(always)]
fn at_scratch<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    super::count::touch(st, op);
    let o = *op;
    // SAFETY: atomics have one extension word, of registers.
    let ext = unsafe { op.ext() };
    let (mem, at) = (mem_of(o.e), op_of(o.e));
    let off = Offsets::new(st, op);
    let words = if mem == Mem::B64 { 2 } else { 1 };
    let pitch = st.warps as usize * 16;
    for w in Bits(st.live) {
        let ex = st.exec[w];
        // SAFETY: the op's registers, a live warp.
        let (index, a, b) =
            unsafe { (off.whole(w), operands(st, ext[0], mem, w), operands(st, ext[1], mem, w)) };
        let mut old = [0u64; 16];
        for i in Bits(ex as u32) {
            if index[i] as u64 + words > st.scratch_words as u64 {
                continue;
            }
            let p = (st.scratch as *mut u32).wrapping_add(index[i] as usize * pitch + w * 16 + i);
            // SAFETY: the invocation has `words` words from there, `pitch` apart.
            let mut v = unsafe { *p } as u64;
            if words == 2 {
                // SAFETY: as above.
                v |= (unsafe { *p.add(pitch) } as u64) << 32;
            }
            // Scalars of 16 bits lie in scratch as in registers.
            if mem == Mem::F16 {
                v = f32_to_f16(v as u32) as u64;
            }
            old[i] = v;
            if let Some(mut n) = apply(at, mem, v, a[i], b[i]) {
                if mem == Mem::F16 {
                    n = f16_to_f32(n as u16) as u64;
                }
                // SAFETY: as above.
                unsafe { *p = n as u32 };
                if words == 2 {
                    // SAFETY: as above.
                    unsafe { *p.add(pitch) = (n >> 32) as u32 };
                }
            }
        }
        // SAFETY: as above.
        unsafe { results(st, o.d, mem, w, &old, ex) };
    }
    op.on(2)
}

kernels! {
    AT_BUF = at_buf;
    AT_GLOBAL = at_global;
    AT_SHARED = at_shared;
    AT_SCRATCH = at_scratch;
}

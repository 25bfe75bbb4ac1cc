//! Loads and stores of buffers, workgroup memory and push constants.

use super::cell::{C8, C16, C32, C64, CF16};
use super::offsets::Offsets;
use super::warp::{self, Region};
use crate::kernels::levels::Steps;
use crate::kernels::lines;
use crate::kernels::mask::{Bits, is_full};
use crate::kernels::regs::{after, dst32, dst64, last_lane, splat32, splat64, src32, src64, value_reg};
use crate::state::State;
use shader::bytecode::{Op, Reg, mem_bits, mem_of, n_of};
use shader::ir::Mem;

/// Address and size of the buffer that a descriptor names.
///
/// # Safety
/// `desc` points at a descriptor's 32 bytes.
#[inline(always)]
pub unsafe fn buffer(desc: u64) -> Region {
    let d = desc as *const u64;
    Region { ptr: *d as *mut u8, size: *d.add(1) }
}
/// Workgroup memory, where the wave is of one workgroup.
#[inline(always)]
pub fn shared(st: &State) -> Region {
    Region { ptr: st.shared, size: st.shared_bytes as u64 }
}
/// Workgroup memory of warp `w`'s workgroup.
#[inline(always)]
pub fn shared_of(st: &State, w: usize) -> Region {
    // Within what the worker reserved for all of them.
    Region { ptr: st.shared.wrapping_add(st.shared_at[w & 15] as usize), size: st.shared_bytes as u64 }
}

/// What an op's offsets are within.
pub trait Regions: Copy {
    /// The same region for every warp.
    const ONE: bool;
    fn of(&self, st: &State, w: usize) -> Region;
}
impl Regions for Region {
    const ONE: bool = true;
    #[inline(always)]
    fn of(&self, _: &State, _: usize) -> Region {
        *self
    }
}
/// Each warp's workgroup's memory.
#[derive(Clone, Copy)]
pub struct Packed;
impl Regions for Packed {
    const ONE: bool = false;
    #[inline(always)]
    fn of(&self, st: &State, w: usize) -> Region {
        shared_of(st, w)
    }
}
#[inline(always)]
pub fn push(st: &State) -> Region {
    Region { ptr: st.push as *mut u8, size: st.push_bytes as u64 }
}

/// One load of `n` scalars at offset `o`, the same for all lanes.
#[inline(always)]
pub unsafe fn load_uniform(st: &State, op: *const Op, r: Region, o: u32) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    for i in 0..n {
        let d = value_reg(op, n, i);
        if d.is_none() {
            continue;
        }
        let at = o as u64 + i as u64 * mem.bytes() as u64;
        match mem {
            Mem::U8 => splat32(st, d, r.read::<C8>(at)),
            Mem::U16 => splat32(st, d, r.read::<C16>(at)),
            Mem::F16 => splat32(st, d, r.read::<CF16>(at)),
            Mem::B32 => splat32(st, d, r.read::<C32>(at)),
            Mem::B64 => splat64(st, d, r.read::<C64>(at)),
        }
    }
}

/// Loads warp `w`: offsets `p + k`, lanes `ex`.
#[inline(always)]
pub unsafe fn load_warp<L: Steps>(
    st: &State,
    op: *const Op,
    r: Region,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    if mem == Mem::B32 {
        if n == 1 {
            warp::load32::<L>(r, dst32(st, (*op).d, w), p, k, ex);
            return;
        }
        let mut unread = std::mem::MaybeUninit::<[u32; 16]>::uninit();
        let unread = unread.as_mut_ptr() as *mut u32;
        let at = |i: usize| {
            let x = value_reg(op, n, i);
            if x.is_none() { unread } else { dst32(st, x, w) }
        };
        if n == 4 {
            warp::load32n::<L>(r, &[at(0), at(1), at(2), at(3)], p, k, ex);
            return;
        }
        let mut d = [unread; 16];
        for (i, d) in d[..n].iter_mut().enumerate() {
            *d = at(i);
        }
        warp::load32n::<L>(r, &d[..n], p, k, ex);
        return;
    }
    load_warp_other::<L>(st, op, r, w, p, k, ex);
}

#[inline(always)]
unsafe fn load_warp_other<L: Steps>(
    st: &State,
    op: *const Op,
    r: Region,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    let step = n as u32 * mem.bytes();
    // Destinations may take the offsets' register.
    let mut own = [0u32; 16];
    own.copy_from_slice(std::slice::from_raw_parts(p, 16));
    let p = own.as_ptr();
    for i in 0..n {
        let x = value_reg(op, n, i);
        if x.is_none() {
            continue;
        }
        let add = i as u32 * mem.bytes();
        match mem {
            Mem::U8 => warp::load_any::<L, C8>(r, dst32(st, x, w), p, k, add, step, ex),
            Mem::U16 => warp::load_any::<L, C16>(r, dst32(st, x, w), p, k, add, step, ex),
            Mem::F16 => warp::load_any::<L, CF16>(r, dst32(st, x, w), p, k, add, step, ex),
            Mem::B32 => warp::load_any::<L, C32>(r, dst32(st, x, w), p, k, add, step, ex),
            Mem::B64 => warp::load_any::<L, C64>(r, dst64(st, x, w), p, k, add, step, ex),
        }
    }
}

/// Stores warp `w`'s lanes `ex`.
#[inline(always)]
pub unsafe fn store_warp<L: Steps>(
    st: &State,
    op: *const Op,
    r: Region,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    if mem == Mem::B32 {
        let src = |x: Reg| {
            let (v, s) = src32(st, x);
            v.add(w * s)
        };
        if n == 1 {
            warp::store32::<L>(r, src((*op).d), p, k, ex);
            return;
        }
        if n == 4 {
            let at = |i| src(value_reg(op, n, i));
            warp::store32n::<L>(r, &[at(0), at(1), at(2), at(3)], p, k, ex);
            return;
        }
        let mut v = [std::ptr::null(); 16];
        for (i, v) in v[..n].iter_mut().enumerate() {
            *v = src(value_reg(op, n, i));
        }
        warp::store32n::<L>(r, &v[..n], p, k, ex);
        return;
    }
    store_warp_other::<L>(st, op, r, w, p, k, ex);
}

#[inline(always)]
unsafe fn store_warp_other<L: Steps>(
    st: &State,
    op: *const Op,
    r: Region,
    w: usize,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    if n > 1 {
        for lane in Bits(ex as u32) {
            let o = (*p.add(lane)).wrapping_add(k) as u64;
            for i in 0..n {
                let x = value_reg(op, n, i);
                store_one(st, r, mem, x, w, lane, o + i as u64 * mem.bytes() as u64);
            }
        }
        return;
    }
    let (v, s) = src32(st, (*op).d);
    let v = v.add(w * s);
    match mem {
        Mem::U8 => warp::store_any::<L, C8>(r, v, p, k, ex),
        Mem::U16 => warp::store_any::<L, C16>(r, v, p, k, ex),
        Mem::F16 => warp::store_any::<L, CF16>(r, v, p, k, ex),
        Mem::B32 => warp::store_any::<L, C32>(r, v, p, k, ex),
        Mem::B64 => {
            let (v, s) = src64(st, (*op).d);
            warp::store_any::<L, C64>(r, v.add(w * s), p, k, ex)
        }
    }
}

/// A whole load op.
#[inline(always)]
pub unsafe fn load_region<L: Steps, R: Regions>(st: &mut State, op: *const Op, r: R) -> *const Op {
    let n = n_of((*op).e);
    let off = Offsets::new(st, &*op);
    if R::ONE && off.is_uniform() {
        load_uniform(st, op, r.of(st, 0), off.k);
        return after(op, n);
    }
    if (*op).e & 0xFF == mem_bits(Mem::B32, 1) && is_full(st) {
        let d = st.regs.add((*op).d.unit() * 64) as *mut u32;
        for w in Bits(st.live) {
            let p = off.lanes(w);
            L::load32_full(r.of(st, w), d.add(w * 16), p, off.k);
        }
        return after(op, n);
    }
    for w in Bits(st.live) {
        let p = off.lanes(w);
        L::load_warp(st, op, r.of(st, w), w, p, off.k, st.exec[w]);
    }
    after(op, n)
}

/// A whole store op.
#[inline(always)]
pub unsafe fn store_region<L: Steps, R: Regions>(st: &mut State, op: *const Op, r: R) -> *const Op {
    let n = n_of((*op).e);
    let off = Offsets::new(st, &*op);
    if R::ONE && off.is_uniform() {
        store_same(st, op, r.of(st, 0), off.k);
        return after(op, n);
    }
    for w in Bits(st.live) {
        let p = off.lanes(w);
        L::store_warp(st, op, r.of(st, w), w, p, off.k, st.exec[w]);
    }
    after(op, n)
}

/// All lanes store to one offset: the last active lane wins.
unsafe fn store_same(st: &State, op: *const Op, r: Region, o: u32) {
    let (mem, n) = (mem_of((*op).e), n_of((*op).e));
    let (w, lane) = last_lane(st);
    for i in 0..n {
        store_one(st, r, mem, value_reg(op, n, i), w, lane, o as u64 + i as u64 * mem.bytes() as u64);
    }
}

/// Stores one lane's scalar of register `x` at offset `o`.
#[inline(always)]
pub unsafe fn store_one(st: &State, r: Region, mem: Mem, x: Reg, w: usize, lane: usize, o: u64) {
    let (v, s) = src32(st, x);
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

/// Reads one lane's scalar at offset `o` into register `x`.
#[inline(always)]
pub unsafe fn load_one(st: &State, r: Region, mem: Mem, x: Reg, w: usize, lane: usize, o: u64) {
    let d = dst32(st, x, w).add(lane);
    match mem {
        Mem::U8 => *d = r.read::<C8>(o),
        Mem::U16 => *d = r.read::<C16>(o),
        Mem::F16 => *d = r.read::<CF16>(o),
        Mem::B32 => *d = r.read::<C32>(o),
        Mem::B64 => *dst64(st, x, w).add(lane) = r.read::<C64>(o),
    }
}

#[inline(always)]
pub unsafe fn ld_buf<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let (d, s) = src64(st, (*op).b);
    if s == 0
        && let Some(x) = lines::takes(st, &*op)
    {
        return lines::load::<L>(st, op, buffer(*d), x);
    }
    lines::count::<L>(st, op);
    if s == 0 {
        let r = buffer(*d);
        return load_region::<L, _>(st, op, r);
    }
    let n = n_of((*op).e);
    each_lane(st, op, |r, w, lane, o| {
        let mem = mem_of((*op).e);
        for i in 0..n {
            let x = value_reg(op, n, i);
            if !x.is_none() {
                load_one(st, r, mem, x, w, lane, o as u64 + i as u64 * mem.bytes() as u64);
            }
        }
    });
    after(op, n)
}

#[inline(always)]
pub unsafe fn st_buf<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let (d, s) = src64(st, (*op).b);
    if s == 0
        && let Some(x) = lines::takes(st, &*op)
    {
        return lines::store::<L>(st, op, buffer(*d), x);
    }
    lines::count::<L>(st, op);
    if s == 0 {
        let r = buffer(*d);
        return store_region::<L, _>(st, op, r);
    }
    let n = n_of((*op).e);
    each_lane(st, op, |r, w, lane, o| {
        let mem = mem_of((*op).e);
        for i in 0..n {
            store_one(st, r, mem, value_reg(op, n, i), w, lane, o as u64 + i as u64 * mem.bytes() as u64);
        }
    });
    after(op, n)
}

/// Active lanes with a descriptor of their own: region, warp, lane, offset. Operands are copied warp by warp before
/// the first call, so that results may take their registers.
#[inline(always)]
pub unsafe fn each_lane(st: &State, op: *const Op, mut f: impl FnMut(Region, usize, usize, u32)) {
    let (d, s) = src64(st, (*op).b);
    let off = Offsets::new(st, &*op);
    for w in Bits(st.live) {
        let offsets = off.whole(w);
        let desc = *(d.add(w * s) as *const [u64; 16]);
        for lane in Bits(st.exec[w] as u32) {
            f(buffer(desc[lane]), w, lane, offsets[lane]);
        }
    }
}

#[inline(always)]
pub unsafe fn ld_shared<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    if st.packed {
        lines::count::<L>(st, op);
        return load_region::<L, _>(st, op, Packed);
    }
    let r = shared(st);
    if let Some(x) = lines::takes(st, &*op) {
        return lines::load::<L>(st, op, r, x);
    }
    lines::count::<L>(st, op);
    load_region::<L, _>(st, op, r)
}
#[inline(always)]
pub unsafe fn st_shared<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    if st.packed {
        lines::count::<L>(st, op);
        return store_region::<L, _>(st, op, Packed);
    }
    let r = shared(st);
    if let Some(x) = lines::takes(st, &*op) {
        return lines::store::<L>(st, op, r, x);
    }
    lines::count::<L>(st, op);
    store_region::<L, _>(st, op, r)
}
#[inline(always)]
pub unsafe fn ld_push<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    let r = push(st);
    load_region::<L, _>(st, op, r)
}

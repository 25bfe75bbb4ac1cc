//! Descriptors, buffer sizes, the clock.

use super::forms::kernels;
use super::mask::Bits;
use super::memory::linear::buffer;
use super::regs::{dst32, dst64, splat32, splat64, src32, src64};
use crate::host::Table;
use crate::made::MadeUp;
use crate::state::{At, State};
use shader::bytecode::{
    DESC_ADDRESS, DESC_DATA, DESC_EMBEDDED, DESC_IN_MEMORY, DESC_INLINE, DESC_TEXELS, Op,
};
use shader::options::DESCRIPTOR_BYTES;
use simd::Steps;

/// What unbound and out-of-range descriptors are.
#[repr(align(32))]
pub struct Null(pub [u64; 4]);
pub static NULL: Null = Null([0; 4]);

pub fn null() -> u64 {
    NULL.0.as_ptr() as u64
}

/// The address of the acceleration structure that a descriptor names. Nothing is known of it: the host checks what lies there.
///
/// # Safety
/// `desc` is the address of a descriptor: what DESC gave, of an active lane.
#[inline(always)]
pub(super) unsafe fn structure_of(desc: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { *(desc as *const u64) }
}

/// Where array element `index` lies; `k` = byte offset of element 0.
fn element(t: &Table, k: u32, index: u32, stride: u32, count: u32) -> u64 {
    let o = k as u64 + index as u64 * stride as u64;
    if index >= count || t.ptr.is_null() || o + DESCRIPTOR_BYTES as u64 > t.size {
        return null();
    }
    t.ptr as u64 + o
}

/// The worker's descriptors that are in no table.
fn made(st: &mut State) -> &mut MadeUp {
    // SAFETY: the worker's own, used by nobody else while its wave runs.
    unsafe { &mut *st.made }
}

/// Address of a buffer descriptor of the `bytes` bytes of inline data at `k`; the worker keeps it until the dispatch
/// ends.
fn inline(st: &mut State, t: &Table, k: u32, bytes: u32) -> u64 {
    if t.ptr.is_null() || k as u64 > t.size {
        return null();
    }
    made(st).buffer(t.ptr as u64 + k as u64, (bytes as u64).min(t.size - k as u64))
}

/// Bytes of device memory from `at` on, `most` at most; 0 for an address that is none.
fn live(st: &State, at: u64, most: u64) -> u64 {
    match st.arena.from(at) {
        Some(left) => most.min(left),
        None if st.host.foreign(at, most) => most,
        None => 0,
    }
}

/// Where array element `index` is, of a table that the application writes: what the host says of its bytes.
fn element_in_memory(st: &mut State, t: &Table, k: u32, index: u32, form: [u32; 3]) -> u64 {
    let [stride, count, form] = form;
    let o = k as u64 + index as u64 * stride as u64;
    let at = (t.ptr as u64).wrapping_add(o);
    let bytes = DESCRIPTOR_BYTES as u64;
    if index >= count || t.ptr.is_null() || o + bytes > t.size || live(st, at, bytes) < bytes {
        return null();
    }
    // Never taken for more than bytes: the application may write them at any time.
    // SAFETY: so many bytes live there.
    let raw = unsafe { (at as *const [u64; 4]).read_unaligned() };
    if raw == [0; 4] {
        return null();
    }
    let texels = form & DESC_TEXELS != 0;
    let host = st.host;
    made(st).meaning(raw, texels, || host.descriptor(&raw, texels))
}

/// Data of a table that the application writes: `count` bytes from byte `k` + `index` on, as far as there are.
fn inline_in_memory(st: &mut State, t: &Table, k: u32, index: u32, count: u32) -> u64 {
    let o = k as u64 + index as u64;
    if t.ptr.is_null() || o >= t.size {
        return null();
    }
    let at = (t.ptr as u64).wrapping_add(o);
    let bytes = live(st, at, (count as u64).min(t.size - o));
    if bytes == 0 { null() } else { made(st).buffer(at, bytes) }
}

/// All device memory from `at` on, as far as it is one piece.
fn from_address(st: &mut State, at: u64) -> u64 {
    let bytes = st.arena.from(at).or_else(|| st.host.foreign_from(at)).unwrap_or(0);
    if bytes == 0 { null() } else { made(st).buffer(at, bytes) }
}

/// One descriptor of a table that is no plain one.
fn special_one(st: &mut State, t: &Table, k: u32, index: u64, form: [u32; 3]) -> u64 {
    let [_, count, kind] = form;
    if kind & DESC_EMBEDDED != 0 {
        // SAFETY: the check of programs: there are so many.
        let raw = unsafe { *st.embedded.add(k as usize) };
        let host = st.host;
        return made(st).meaning(raw, false, || host.descriptor(&raw, false));
    }
    if kind & DESC_DATA != 0 {
        // SAFETY: the check of programs: there are so many.
        let (at, bytes) = unsafe { (*st.data.add(k as usize)).place() };
        return made(st).buffer(at, bytes);
    }
    match kind & (DESC_INLINE | DESC_IN_MEMORY | DESC_ADDRESS) {
        DESC_ADDRESS => from_address(st, index),
        DESC_INLINE => inline(st, t, k, count),
        DESC_IN_MEMORY => element_in_memory(st, t, k, index as u32, form),
        _ => inline_in_memory(st, t, k, index as u32, count),
    }
}

/// Descriptors of a table that is no plain one.
#[cold]
#[inline(never)]
fn special(st: &mut State, op: At, t: &Table, form: [u32; 3]) {
    let o = *op;
    let wide = form[2] & DESC_ADDRESS != 0;
    if o.a.is_none() || o.a.is_uniform() {
        let i = match wide {
            _ if o.a.is_none() => 0,
            // SAFETY: the op's register.
            true => unsafe { *src64(st, o.a).0 },
            // SAFETY: the op's register.
            false => unsafe { *src32(st, o.a).0 as u64 },
        };
        let a = special_one(st, t, o.imm, i, form);
        // SAFETY: the op's register.
        unsafe { splat64(st, o.d, a) };
        return;
    }
    for w in Bits(st.live) {
        let index: [u64; 16] = match wide {
            true => {
                let (p, s) = src64(st, o.a);
                // SAFETY: the op's register, a live warp.
                unsafe { *(p.add(w * s) as *const [u64; 16]) }
            }
            false => {
                let (p, s) = src32(st, o.a);
                // SAFETY: the op's register, a live warp.
                unsafe { *(p.add(w * s) as *const [u32; 16]) }.map(u64::from)
            }
        };
        let mut last = (index[0], special_one(st, t, o.imm, index[0], form));
        for (i, &x) in index.iter().enumerate() {
            if x != last.0 {
                last = (x, special_one(st, t, o.imm, x, form));
            }
            // SAFETY: the op's register, a live warp.
            unsafe { *dst64(st, o.d, w).add(i) = last.1 };
        }
    }
}

#[inline(always)]
fn desc<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    // SAFETY: a DESC has one extension word, of data.
    let [stride, count, form, _] = unsafe { *(op.on(1) as *const [u32; 4]) };
    // SAFETY: there are so many tables.
    let t = if (o.e as u32) < st.table_count { unsafe { *st.tables.add(o.e as usize) } } else { Table::NONE };
    if form != 0 {
        special(st, op, &t, [stride, count, form]);
        return op.on(2);
    }
    if o.a.is_none() || o.a.is_uniform() {
        // SAFETY: the op's register.
        let i = if o.a.is_none() { 0 } else { unsafe { *src32(st, o.a).0 } };
        // SAFETY: the op's register.
        unsafe { splat64(st, o.d, element(&t, o.imm, i, stride, count)) };
        return op.on(2);
    }
    let (p, s) = src32(st, o.a);
    for w in Bits(st.live) {
        // SAFETY: the op's register, a live warp.
        let index = unsafe { *(p.add(w * s) as *const [u32; 16]) };
        for (i, &x) in index.iter().enumerate() {
            // SAFETY: the op's register, a live warp.
            unsafe { *dst64(st, o.d, w).add(i) = element(&t, o.imm, x, stride, count) };
        }
    }
    op.on(2)
}

#[inline(always)]
fn buf_size<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    let (p, s) = src64(st, o.b);
    // SAFETY: what DESC gave.
    let size = |d: u64| unsafe { buffer(d) }.size().min(u32::MAX as u64) as u32;
    if s == 0 {
        // SAFETY: the op's registers.
        unsafe { splat32(st, o.d, size(*p)) };
        return op.on(1);
    }
    for w in Bits(st.live) {
        // SAFETY: the op's register, a live warp.
        let desc = unsafe { *(p.add(w * s) as *const [u64; 16]) };
        for i in Bits(st.exec[w] as u32) {
            // SAFETY: the op's register, a live warp.
            unsafe { *dst32(st, o.d, w).add(i) = size(desc[i]) };
        }
    }
    op.on(1)
}

#[inline(always)]
fn buf_addr<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let o = *op;
    let (p, s) = src64(st, o.b);
    // SAFETY: what DESC gave.
    let address = |d: u64| unsafe { buffer(d) }.ptr() as u64;
    if s == 0 {
        // SAFETY: the op's registers.
        unsafe { splat64(st, o.d, address(*p)) };
        return op.on(1);
    }
    for w in Bits(st.live) {
        // SAFETY: the op's register, a live warp.
        let desc = unsafe { *(p.add(w * s) as *const [u64; 16]) };
        for i in Bits(st.exec[w] as u32) {
            // SAFETY: the op's register, a live warp.
            unsafe { *dst64(st, o.d, w).add(i) = address(desc[i]) };
        }
    }
    op.on(1)
}

#[inline(always)]
fn clock<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // Time goes on within a wave by what its warps have passed, on average, and by the readings.
    let (passed, warps) = (st.count.passed(), st.count.live().max(1));
    let (began, readings) = st.count.clock.get_or_insert((passed, 0));
    *readings += 1;
    let t = *readings + st.host.ticks(std::array::from_fn(|i| (passed[i] - began[i]) / warps));
    let t = st.host.clock() + t;
    // SAFETY: the op's register.
    unsafe { splat64(st, op.d, t) };
    op.on(1)
}

kernels! {
    DESC = desc;
    BUF_SIZE = buf_size;
    BUF_ADDR = buf_addr;
    CLOCK = clock;
}

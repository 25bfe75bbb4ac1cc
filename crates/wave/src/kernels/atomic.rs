//! Atomics: active lanes one after another, in lane order. Buffers and device addresses use the host's atomics;
//! workgroup and private memory belong to the thread, plain accesses do.

use super::control::stop;
use super::levels::{Steps, kernel_forms};
use super::mask::Bits;
use super::memory::cell::{f16_to_f32, f32_to_f16};
use super::memory::global::{addend, allowed};
use super::memory::linear::{buffer, shared};
use super::memory::offsets::Offsets;
use super::memory::warp::Region;
use super::regs::{dst32, dst64, src32, src64};
use crate::state::{Fault, State, Status};
use shader::bytecode::{Op, Reg, mem_of};
use shader::ir::{AtomicOp, Mem};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// GLSL.std.450 NMin on f64 (exact for f32 and f16): a NaN gives the other operand, −0 < +0.
fn float_min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b < a || (a == b && b.is_sign_negative()) { b } else { a }
}
fn float_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b > a || (a == b && b.is_sign_positive()) { b } else { a }
}

/// f32 arithmetic on memory bits; a NaN result is the one without sign and payload, as in `shader::pass::nan`.
fn float32(old: u64, a: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    let x = f(f32::from_bits(old as u32), f32::from_bits(a as u32));
    if x.is_nan() { 0x7FC0_0000 } else { x.to_bits() as u64 }
}
fn float64(old: u64, a: u64, f: impl Fn(f64, f64) -> f64) -> u64 {
    let x = f(f64::from_bits(old), f64::from_bits(a));
    if x.is_nan() { 0x7FF8 << 48 } else { x.to_bits() }
}
fn float16(old: u64, a: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
    let wide = |x: u64| f16_to_f32(x as u16) as u64;
    f32_to_f16(float32(wide(old), wide(a), f) as u32) as u64
}

/// The new memory bits of one atomic; `old`, `a` and `b` (the comparator) are memory bits of `mem`'s width. `None`: no
/// write. The reference for every faster form.
pub fn apply(op: AtomicOp, mem: Mem, old: u64, a: u64, b: u64) -> Option<u64> {
    let bits = mem.bytes() * 8;
    let cut = |x: u64| if bits == 64 { x } else { x & ((1 << bits) - 1) };
    let signed = |x: u64| ((x << (64 - bits)) as i64) >> (64 - bits);
    macro_rules! float {
        ($f:expr) => {
            match mem {
                Mem::F16 => float16(old, a, |x, y| $f(x as f64, y as f64) as f32),
                Mem::B64 => float64(old, a, $f),
                // Rounding a sum of two f32 to f64 first does no harm: f64 has more than twice the digits.
                _ => float32(old, a, |x, y| $f(x as f64, y as f64) as f32),
            }
        };
    }
    Some(match op {
        AtomicOp::Load => return None,
        AtomicOp::Store | AtomicOp::Exchange => cut(a),
        AtomicOp::CompareExchange => {
            if cut(old) != cut(b) {
                return None;
            }
            cut(a)
        }
        AtomicOp::IAdd => cut(old.wrapping_add(a)),
        AtomicOp::ISub => cut(old.wrapping_sub(a)),
        AtomicOp::SMin => cut(signed(old).min(signed(a)) as u64),
        AtomicOp::SMax => cut(signed(old).max(signed(a)) as u64),
        AtomicOp::UMin => cut(old).min(cut(a)),
        AtomicOp::UMax => cut(old).max(cut(a)),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | cut(a),
        AtomicOp::Xor => old ^ cut(a),
        AtomicOp::FAdd => float!(|x: f64, y: f64| x + y),
        AtomicOp::FMin => float!(float_min),
        AtomicOp::FMax => float!(float_max),
    })
}

fn op_of(e: u16) -> AtomicOp {
    AtomicOp::ALL[(e >> 8) as usize & 15]
}

/// Plain read-modify-write; any alignment.
unsafe fn plain(p: *mut u8, op: AtomicOp, mem: Mem, a: u64, b: u64) -> u64 {
    macro_rules! go {
        ($t:ty) => {{
            let p = p as *mut $t;
            let old = p.read_unaligned();
            if let Some(n) = apply(op, mem, old as u64, a, b) {
                p.write_unaligned(n as $t);
            }
            old as u64
        }};
    }
    match mem {
        Mem::U8 => go!(u8),
        Mem::U16 | Mem::F16 => go!(u16),
        Mem::B32 => go!(u32),
        Mem::B64 => go!(u64),
    }
}

/// With the host's atomics. Misaligned addresses (which the API forbids) are plain accesses.
unsafe fn host(p: *mut u8, op: AtomicOp, mem: Mem, a: u64, b: u64) -> u64 {
    if !(p as usize).is_multiple_of(mem.bytes() as usize) {
        return plain(p, op, mem, a, b);
    }
    macro_rules! cas {
        ($at:ty, $t:ty) => {{
            let p = <$at>::from_ptr(p as *mut $t);
            match p.fetch_update(SeqCst, SeqCst, |old| apply(op, mem, old as u64, a, b).map(|n| n as $t)) {
                Ok(o) | Err(o) => o as u64,
            }
        }};
    }
    macro_rules! native {
        ($at:ty, $t:ty) => {{
            let q = <$at>::from_ptr(p as *mut $t);
            match op {
                AtomicOp::Load => q.load(SeqCst) as u64,
                AtomicOp::Store | AtomicOp::Exchange => q.swap(a as $t, SeqCst) as u64,
                AtomicOp::CompareExchange => match q.compare_exchange(b as $t, a as $t, SeqCst, SeqCst) {
                    Ok(o) | Err(o) => o as u64,
                },
                AtomicOp::IAdd => q.fetch_add(a as $t, SeqCst) as u64,
                AtomicOp::ISub => q.fetch_sub(a as $t, SeqCst) as u64,
                _ => cas!($at, $t),
            }
        }};
    }
    match mem {
        Mem::U8 => plain(p, op, mem, a, b),
        Mem::U16 | Mem::F16 => cas!(AtomicU16, u16),
        Mem::B32 => native!(AtomicU32, u32),
        Mem::B64 => native!(AtomicU64, u64),
    }
}

/// Memory bits of 16 lanes of a register; NONE gives zeros.
unsafe fn operands(st: &State, r: Reg, mem: Mem, w: usize) -> [u64; 16] {
    let mut v = [0; 16];
    if r.is_none() {
        return v;
    }
    if mem == Mem::B64 {
        let (p, s) = src64(st, r);
        return *(p.add(w * s) as *const [u64; 16]);
    }
    let (p, s) = src32(st, r);
    for (i, v) in v.iter_mut().enumerate() {
        let x = *p.add(w * s + i);
        *v = if mem == Mem::F16 { f32_to_f16(x) as u64 } else { x as u64 };
    }
    v
}

/// Old memory bits into the result register's active lanes.
unsafe fn results(st: &State, d: Reg, mem: Mem, w: usize, old: &[u64; 16], ex: u16) {
    if d.is_none() {
        return;
    }
    for i in Bits(ex as u32) {
        if mem == Mem::B64 {
            *dst64(st, d, w).add(i) = old[i];
        } else if mem == Mem::F16 {
            *dst32(st, d, w).add(i) = f16_to_f32(old[i] as u16);
        } else {
            *dst32(st, d, w).add(i) = old[i] as u32;
        }
    }
}

/// Runs one op over the live warps. `places` gives the address of each active lane of a warp (0: out of bounds).
#[inline(always)]
unsafe fn run(
    st: &mut State,
    op: *const Op,
    places: impl Fn(&State, usize, u16, u32, &mut [u64; 16]) -> Result<(), u64>,
    one: unsafe fn(*mut u8, AtomicOp, Mem, u64, u64) -> u64,
) -> *const Op {
    let o = *op;
    let ext = (*op.add(1)).regs();
    let (mem, at) = (mem_of(o.e), op_of(o.e));
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let mut p = [0u64; 16];
        if let Err(a) = places(st, w, ex, mem.bytes(), &mut p) {
            return stop(st, Status::Fault(Fault::Address(a)));
        }
        let a = operands(st, ext[0], mem, w);
        let mut old = [0u64; 16];
        let first = p[ex.trailing_zeros() as usize & 15];
        let add = matches!(at, AtomicOp::IAdd | AtomicOp::ISub) && matches!(mem, Mem::B32 | Mem::B64);
        if add && first != 0 && Bits(ex as u32).all(|i| p[i] == first) {
            // One address: one atomic of the sum; each lane gets what it would have seen.
            let mut sum = 0u64;
            for i in Bits(ex as u32) {
                old[i] = sum;
                sum = sum.wrapping_add(a[i]);
            }
            let before = one(first as *mut u8, at, mem, sum, 0);
            for old in old.iter_mut() {
                *old =
                    if at == AtomicOp::IAdd { before.wrapping_add(*old) } else { before.wrapping_sub(*old) };
            }
        } else {
            let b = operands(st, ext[1], mem, w);
            for i in Bits(ex as u32) {
                if p[i] != 0 {
                    old[i] = one(p[i] as *mut u8, at, mem, a[i], b[i]);
                }
            }
        }
        results(st, o.d, mem, w, &old, ex);
    }
    op.add(2)
}

/// Byte offsets of one warp.
#[inline(always)]
unsafe fn offsets(off: &Offsets, w: usize) -> [u32; 16] {
    let mut o = [off.k; 16];
    if !off.is_uniform() {
        let mut tmp = [0; 16];
        let p = off.lanes(w, &mut tmp);
        for (i, o) in o.iter_mut().enumerate() {
            *o = (*p.add(i)).wrapping_add(off.k);
        }
    }
    o
}

fn place(r: Region, o: u32, bytes: u32) -> u64 {
    if r.holds(o as u64, bytes) { r.ptr as u64 + o as u64 } else { 0 }
}

#[inline(always)]
unsafe fn at_buf<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    super::count::touch(st, op);
    let off = Offsets::new(st, &*op);
    let (d, s) = src64(st, (*op).b);
    run(
        st,
        op,
        |_, w, ex, bytes, out| {
            let o = offsets(&off, w);
            for i in Bits(ex as u32) {
                out[i] = place(buffer(*d.add(w * s + i)), o[i], bytes);
            }
            Ok(())
        },
        host,
    )
}

#[inline(always)]
unsafe fn at_shared<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    super::count::touch(st, op);
    let off = Offsets::new(st, &*op);
    run(
        st,
        op,
        |st, w, ex, bytes, out| {
            let o = offsets(&off, w);
            for i in Bits(ex as u32) {
                out[i] = place(shared(st), o[i], bytes);
            }
            Ok(())
        },
        plain,
    )
}

#[inline(always)]
unsafe fn at_global<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    super::count::touch(st, op);
    let (p, s) = src64(st, (*op).a);
    let k = addend(st, op);
    run(
        st,
        op,
        |st, w, ex, bytes, out| {
            for i in Bits(ex as u32) {
                out[i] = (*p.add(w * s + i)).wrapping_add(k);
                if !allowed(st, out[i], bytes) {
                    return Err(out[i]);
                }
            }
            Ok(())
        },
        host,
    )
}

/// Private words; a 64-bit value's words lie apart, so the value is put together and taken apart.
#[inline(always)]
unsafe fn at_scratch<L: Steps>(st: &mut State, op: *const Op) -> *const Op {
    super::count::touch(st, op);
    let o = *op;
    let ext = (*op.add(1)).regs();
    let (mem, at) = (mem_of(o.e), op_of(o.e));
    let off = Offsets::new(st, &*op);
    let words = if mem == Mem::B64 { 2 } else { 1 };
    let pitch = st.warps as usize * 16;
    for w in Bits(st.live) {
        let ex = st.exec[w];
        let index = offsets(&off, w);
        let a = operands(st, ext[0], mem, w);
        let b = operands(st, ext[1], mem, w);
        let mut old = [0u64; 16];
        for i in Bits(ex as u32) {
            if index[i] as u64 + words > st.scratch_words as u64 {
                continue;
            }
            let p = (st.scratch as *mut u32).add(index[i] as usize * pitch + w * 16 + i);
            let mut v = *p as u64;
            if words == 2 {
                v |= (*p.add(pitch) as u64) << 32;
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
                *p = n as u32;
                if words == 2 {
                    *p.add(pitch) = (n >> 32) as u32;
                }
            }
        }
        results(st, o.d, mem, w, &old, ex);
    }
    op.add(2)
}

kernel_forms! {
    AT_BUF = at_buf;
    AT_GLOBAL = at_global;
    AT_SHARED = at_shared;
    AT_SCRATCH = at_scratch;
}

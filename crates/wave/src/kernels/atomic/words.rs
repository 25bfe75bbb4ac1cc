//! Atomics on 32-bit integers within one region of memory: a warp's on one word as one atomic, what each lane finds by vectors; others
//! lane by lane, each by an instruction of its own.

use super::memory::{Memory, Own};
use super::op_of;
use crate::kernels::across::{self, Fold, before};
use crate::kernels::mask::Bits;
use crate::kernels::memory::offsets::Offsets;
use crate::kernels::memory::warp::Extent;
use crate::kernels::regs::{dst32, src32};
use crate::state::{At, State};
use shader::bytecode::{Reg, mem_of};
use shader::ir::{AtomicOp, Mem};
use simd::Steps;

/// Whether the op is one of those.
#[inline(always)]
pub fn has(op: At) -> bool {
    use AtomicOp::*;
    let integer = !matches!(op_of(op.e), Load | Store | FAdd | FMin | FMax);
    mem_of(op.e) == Mem::B32 && integer
}

/// The op for all live warps, at offsets of a region that `of` gives for each.
///
/// # Safety
/// The op is one ([`has`]), its registers the wave's.
#[inline(always)]
pub unsafe fn all<L: Steps, M: Memory>(
    l: L,
    st: &State,
    op: At,
    off: &Offsets,
    of: impl Fn(&State, usize) -> Extent,
) {
    // SAFETY: atomics have one extension word, of registers.
    let (o, ext) = (*op, unsafe { op.ext() });
    let at = op_of(o.e);
    let zero = [0u32; 16];
    // Of what is not there any words will do.
    let operand = |r, w| match st_operand(st, r) {
        Some((p, step)) => p.wrapping_add(w * step),
        None => zero.as_ptr(),
    };
    for w in Bits(st.live) {
        let (region, ex) = (of(st, w), st.exec[w]);
        // SAFETY: a live warp.
        let places = unsafe { off.whole(w) };
        let (a, b) = (operand(ext[0], w), operand(ext[1], w));
        let first = places[ex.trailing_zeros() as usize & 15];
        // SAFETY: the op's registers, a live warp; what is done lies within the region.
        unsafe {
            let (a, b) = (&*(a as *const [u32; 16]), &*(b as *const [u32; 16]));
            let one = l.same_mask(&places, first) | !ex == 0xFFFF && region.holds(first as u64, 4);
            let old = match one {
                true => {
                    let p = region.ptr().wrapping_add(first as usize);
                    if st.alone {
                        on_one::<L, Own>(l, p, at, a, b, ex)
                    } else {
                        on_one::<L, M>(l, p, at, a, b, ex)
                    }
                }
                false => {
                    let ok = region.limit(4).map_or(0, |limit| l.bound_mask(&places, 0, limit) & ex);
                    let mut old = [0; 16];
                    if st.alone {
                        each::<Own>(region.ptr(), &places, at, a, b, ok, &mut old);
                    } else {
                        each::<M>(region.ptr(), &places, at, a, b, ok, &mut old);
                    }
                    l.iloadu(old.as_ptr().cast())
                }
            };
            if !o.d.is_none() {
                let d = dst32(st, o.d, w).cast();
                let old = if ex == 0xFFFF { old } else { l.isel(l.mask(ex), old, l.iload(d)) };
                l.istore(d, old);
            }
        }
    }
}

#[inline(always)]
fn st_operand(st: &State, r: Reg) -> Option<(*const u32, usize)> {
    (!r.is_none()).then(|| src32(st, r))
}

/// Lanes `ex` on the word at `p`: what each finds.
///
/// # Safety
/// The word is live memory.
#[inline(always)]
unsafe fn on_one<L: Steps, M: Memory>(
    l: L,
    p: *mut u8,
    at: AtomicOp,
    a: &[u32; 16],
    b: &[u32; 16],
    ex: u16,
) -> L::I {
    // SAFETY: sixteen words.
    let x = unsafe { l.iloadu(a.as_ptr().cast()) };
    // What the lanes' operands come to before they meet memory; `skip` leaves that as it is.
    macro_rules! gathered {
        ($op:ident, $skip:expr, $x:expr) => {{
            let skip = l.isplat($skip);
            let x = if ex == 0xFFFF { $x } else { l.isel(l.mask(ex), $x, skip) };
            let (prefix, sum) = before(l, &across::$op, x, skip);
            // SAFETY: the caller's.
            let found = unsafe { M::one(p, AtomicOp::$op, Mem::B32, sum as u64, 0) };
            return <across::$op as Fold<L, across::Words>>::of(
                &across::$op,
                l,
                l.isplat(found as u32),
                prefix,
            );
        }};
    }
    match at {
        AtomicOp::IAdd => gathered!(IAdd, 0, x),
        AtomicOp::ISub => gathered!(IAdd, 0, l.isub(l.isplat(0), x)),
        AtomicOp::SMin => gathered!(SMin, i32::MAX as u32, x),
        AtomicOp::SMax => gathered!(SMax, i32::MIN as u32, x),
        AtomicOp::UMin => gathered!(UMin, u32::MAX, x),
        AtomicOp::UMax => gathered!(UMax, 0, x),
        AtomicOp::And => gathered!(And, u32::MAX, x),
        AtomicOp::Or => gathered!(Or, 0, x),
        AtomicOp::Xor => gathered!(Xor, 0, x),
        _ => (),
    }
    let mut old = [0u32; 16];
    let swap = at == AtomicOp::Exchange;
    let change = |found: u64| {
        let mut now = found as u32;
        for i in Bits(ex as u32) {
            old[i & 15] = now;
            now = if swap || now == b[i & 15] { a[i & 15] } else { now };
        }
        now as u64
    };
    // SAFETY: the caller's.
    unsafe {
        M::change(p, Mem::B32, change);
        l.iloadu(old.as_ptr().cast())
    }
}

/// Lanes `ok`, each on its own word.
///
/// # Safety
/// Their words are live memory.
#[inline(never)]
unsafe fn each<M: Memory>(
    base: *mut u8,
    places: &[u32; 16],
    at: AtomicOp,
    a: &[u32; 16],
    b: &[u32; 16],
    ok: u16,
    old: &mut [u32; 16],
) {
    // With what is known at compilation, one atomic is one instruction.
    macro_rules! each {
        ($($op:ident)*) => {
            match at {
                $(AtomicOp::$op => {
                    for i in Bits(ok as u32) {
                        let i = i & 15;
                        let p = base.wrapping_add(places[i] as usize);
                        // SAFETY: the caller's.
                        old[i] = unsafe { M::one(p, AtomicOp::$op, Mem::B32, a[i] as u64, b[i] as u64) } as u32;
                    }
                })*
                _ => (),
            }
        };
    }
    each!(Exchange CompareExchange IAdd ISub SMin SMax UMin UMax And Or Xor)
}

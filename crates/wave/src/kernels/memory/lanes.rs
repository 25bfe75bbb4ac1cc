//! Loads of several scalars a lane, or of 16 bits, of one buffer in tight loops: all lanes of the live warps are active, and lines are not
//! counted. What is out of bounds goes to the general form.

use super::cell::Row;
use super::fast::each;
use super::halves::put;
use super::linear;
use super::offsets::Words;
use super::warp::{self, Extent};
use crate::counting::tally::AccessKind;
use crate::kernels::count;
use crate::kernels::mask::Bits;
use crate::kernels::regs::reg;
use crate::state::{At, State};
use shader::bytecode::{Op, SHAPE_SAME, SHAPE_SINGLE, mem_of, n_of};
use shader::ir::Mem;
use simd::{Steps, ops};

/// What a lane loads.
#[derive(Clone, Copy, PartialEq)]
pub enum Lane {
    Words2,
    Words4,
    /// 16-bit scalars.
    Half,
    Halves2,
    Halves4,
}

/// What such an op loads, and from where.
#[inline(always)]
pub fn of(st: &State, o: At) -> Option<(Lane, Words)> {
    let lane = match (mem_of(o.e), n_of(o.e)) {
        (Mem::B32, 2) => Lane::Words2,
        (Mem::B32, 4) => Lane::Words4,
        (Mem::F16 | Mem::U16, 1) => Lane::Half,
        (Mem::F16 | Mem::U16, 2) => Lane::Halves2,
        (Mem::F16 | Mem::U16, 4) => Lane::Halves4,
        _ => return None,
    };
    let shaped = o.e & (SHAPE_SAME | SHAPE_SINGLE) != 0;
    if shaped || st.count.exact { None } else { Some((lane, Words::all(st, o)?)) }
}

/// # Safety
/// `lane` and `x` are what [`of`] said of the op.
#[inline(always)]
pub unsafe fn load<L: Steps>(l: L, st: &mut State, o: At, r: Extent, lane: Lane, x: Words) -> *const Op {
    let Words { p, k } = x;
    let (mem, n) = (mem_of(o.e), n_of(o.e));
    let step = mem.bytes() * n as u32;
    // Results that nobody reads.
    let mut unread = std::mem::MaybeUninit::<[u32; 256]>::uninit();
    let mut d = [unread.as_mut_ptr() as *mut u32; 4];
    for (i, d) in d[..n].iter_mut().enumerate() {
        // SAFETY: one of the op's values.
        let x = unsafe { o.value(n, i) };
        if !x.is_none() {
            *d = reg(st, x) as *mut u32;
        }
    }
    for _ in 0..count::parts(&o) {
        count::unknown(st, AccessKind::Read);
    }
    let end = r.run_end(16 * step);
    // Below it, words of which a half is asked for are in the region too.
    let words = r.limit(4);
    each!(st.live, |w| {
        // SAFETY: the op's registers, a live warp; what is read was asked for.
        unsafe {
            let at = &*(p.add(w * 16) as *const [u32; 16]);
            let first = at[0].wrapping_add(k);
            let [a, b, c, e] = [d[0].add(w * 16), d[1].add(w * 16), d[2].add(w * 16), d[3].add(w * 16)];
            if at[1].wrapping_sub(at[0]) == step && (first as u64) < end && l.is_run(at, step) {
                let q = r.ptr().add(first as usize);
                for line in 0..4 {
                    if line * 4 < step as usize {
                        simd::prefetch(q.wrapping_add(16 * step as usize + 64 * line));
                    }
                }
                match lane {
                    Lane::Words2 => l.run2(q, a, b),
                    Lane::Words4 => l.run4(q, [a, b, c, e]),
                    Lane::Half => l.run_halves(q, mem == Mem::F16, a),
                    Lane::Halves2 => halves(l, mem, l.iloadu(q), a, Some(b)),
                    Lane::Halves4 => l.run_halves4(q, mem == Mem::F16, [a, b, c, e]),
                }
            } else if (lane == Lane::Half || lane == Lane::Halves2)
                && let Some(limit) = words
                && l.bound_mask(at, k, limit) == 0xFFFF
            {
                let mut row = Row::NEW;
                warp::load32_full(l, r, row.at(), p.add(w * 16), k);
                halves(l, mem, l.iload(row.at().cast()), a, if n == 2 { Some(b) } else { None });
            } else {
                linear::load_warp_of(l, st, o, r, w, p.add(w * 16), k, 0xFFFF);
            }
        }
    });
    o.after(n)
}

/// The low halves of words, and the high ones.
///
/// # Safety
/// The results are good for sixteen lanes.
#[inline(always)]
unsafe fn halves<L: Steps>(l: L, mem: Mem, both: L::I, low: *mut u32, high: Option<*mut u32>) {
    // SAFETY: the caller's.
    unsafe {
        put(l, mem, low, l.iand(both, l.isplat(0xFFFF)));
        if let Some(high) = high {
            put(l, mem, high, ops::shr(l, both, 16));
        }
    }
}

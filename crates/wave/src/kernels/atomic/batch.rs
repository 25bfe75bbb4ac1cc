//! Atomics of several warps on one word.

use super::apply::{apply, float32};
use super::memory::Memory;
use crate::kernels::mask::Bits;
use shader::ir::{AtomicOp, Mem};

/// Atomics of several warps on one word: one atomic for all of them.
pub(super) struct Batch {
    pub place: u64,
    /// Warps and their active lanes.
    pub n: usize,
    pub warps: [(usize, u16); 16],
    pub a: [[u64; 16]; 16],
    pub b: [[u64; 16]; 16],
}

/// What an operation's operands come to before they meet memory, and what that leaves as it is; `None` for operations
/// that must be done one after another.
fn gathers(at: AtomicOp, mem: Mem) -> Option<(AtomicOp, u64)> {
    let all = u64::MAX >> (64 - mem.bytes() * 8);
    Some(match at {
        _ if mem == Mem::F16 => return None,
        AtomicOp::IAdd | AtomicOp::ISub => (AtomicOp::IAdd, 0),
        AtomicOp::SMin => (at, all >> 1),
        AtomicOp::SMax => (at, all >> 1 ^ all),
        AtomicOp::UMin | AtomicOp::And => (at, all),
        AtomicOp::UMax | AtomicOp::Or | AtomicOp::Xor => (at, 0),
        _ => return None,
    })
}

impl Batch {
    /// Does what was gathered, lane after lane as far as anyone can tell. `old`: whether anybody reads what was there
    /// before; it takes the place of `a`.
    ///
    /// # Safety
    /// The place is live memory.
    #[inline(always)]
    pub unsafe fn run<M: Memory>(&mut self, at: AtomicOp, mem: Mem, old: bool) {
        let p = self.place as *mut u8;
        let warps = &self.warps[..self.n];
        if at == AtomicOp::Load {
            // SAFETY: the caller's.
            let v = unsafe { M::one(p, at, mem, 0, 0) };
            self.a[..self.n].fill([v; 16]);
        } else if let Some((gather, nothing)) = gathers(at, mem) {
            let mut sum = nothing;
            for (&(_, ex), a) in warps.iter().zip(&mut self.a) {
                for i in Bits(ex as u32) {
                    let before = sum;
                    sum = apply(gather, mem, sum, a[i], 0).unwrap_or(sum);
                    a[i] = before;
                }
            }
            // SAFETY: the caller's.
            let before = unsafe { M::one(p, at, mem, sum, 0) };
            for a in self.a[..self.n].iter_mut().filter(|_| old).flatten() {
                *a = apply(at, mem, before, *a, 0).unwrap_or(before);
            }
        } else {
            let mut seen = [[0; 16]; 16];
            let change = |before| {
                let mut now = before;
                for (((_, ex), seen), (a, b)) in warps.iter().zip(&mut seen).zip(self.a.iter().zip(&self.b)) {
                    for i in Bits(*ex as u32) {
                        seen[i] = now;
                        now = if (at, mem) == (AtomicOp::FAdd, Mem::B32) {
                            add32(now, a[i])
                        } else {
                            apply(at, mem, now, a[i], b[i]).unwrap_or(now)
                        };
                    }
                }
                now
            };
            // SAFETY: the caller's.
            unsafe { M::change(p, mem, change) };
            self.a = seen;
        }
    }
}

#[inline(always)]
pub(super) fn add32(old: u64, a: u64) -> u64 {
    float32(old, a, |x, y| x + y)
}

//! Byte offsets of a memory op: a + c + imm.

use crate::kernels::mask::is_full;
use crate::kernels::regs::src32;
use crate::state::{At, State};
use shader::bytecode::{Reg, mem_bits};
use shader::ir::Mem;

/// One 32-bit word a lane.
pub const WORD: u16 = mem_bits(Mem::B32, 1);

/// Offsets of the usual loads and stores, of a word each and with all lanes of the live warps active: per lane
/// `p[lane] + k` (mod 2^32).
#[derive(Clone, Copy)]
pub struct Words {
    pub p: *const u32,
    pub k: u32,
}

impl Words {
    #[inline(always)]
    pub fn of(st: &State, o: At) -> Option<Words> {
        if o.e & 0xFF == WORD { Words::all(st, o) } else { None }
    }
    /// The offsets, however many scalars a lane has.
    #[inline(always)]
    pub fn all(st: &State, o: At) -> Option<Words> {
        // A varying `a` that is not NONE, and `c` uniform or NONE.
        if o.a.is_uniform() || !o.c.is_uniform() || !is_full(st) {
            return None;
        }
        // SAFETY: the op's register.
        let k = if o.c.is_none() { 0 } else { unsafe { *src32(st, o.c).0 } };
        Some(Words { p: src32(st, o.a).0, k: o.imm.wrapping_add(k) })
    }
}

/// Per lane `base[lane] + k` (mod 2^32); no `base`, the same for all lanes.
#[derive(Clone, Copy)]
pub struct Offsets {
    base: *const u32,
    pub k: u32,
}

/// What a uniform offset adds to `k`.
static NOTHING: [u32; 16] = [0; 16];

impl Offsets {
    #[inline(always)]
    pub fn new(st: &State, o: At) -> Offsets {
        let mut r = Offsets { base: std::ptr::null(), k: o.imm };
        // SAFETY: the op's registers.
        unsafe {
            r.add(st, o.a);
            r.add(st, o.c);
        }
        r
    }
    /// # Safety
    /// `r` is one of the op's registers, or none.
    #[inline(always)]
    unsafe fn add(&mut self, st: &State, r: Reg) {
        if r.is_none() {
            return;
        }
        let (p, s) = src32(st, r);
        if s == 0 {
            // SAFETY: the caller's.
            self.k = self.k.wrapping_add(unsafe { *p });
        } else {
            self.base = p;
        }
    }
    /// The same for all lanes: `k`.
    #[inline(always)]
    pub fn is_uniform(&self) -> bool {
        self.base.is_null()
    }
    /// The 16 offsets of warp `w`, without `k`. They are there for live warps, as long as their register is not written.
    #[inline(always)]
    pub fn lanes(&self, w: usize) -> *const u32 {
        if self.is_uniform() { NOTHING.as_ptr() } else { self.base.wrapping_add(w * 16) }
    }
    /// The 16 offsets of warp `w`.
    ///
    /// # Safety
    /// The wave has such a warp.
    #[inline(always)]
    pub unsafe fn whole(&self, w: usize) -> [u32; 16] {
        // SAFETY: the caller's; the op's register.
        let mut o = unsafe { *(self.lanes(w) as *const [u32; 16]) };
        for o in &mut o {
            *o = o.wrapping_add(self.k);
        }
        o
    }
}

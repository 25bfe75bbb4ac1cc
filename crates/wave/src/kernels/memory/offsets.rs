//! Byte offsets of a memory op: a + c + imm.

use crate::kernels::regs::src32;
use crate::state::State;
use shader::bytecode::{Op, Reg};

/// Per lane `base[lane] + second[lane] + k` (mod 2^32); null parts are absent.
#[derive(Clone, Copy)]
pub struct Offsets {
    base: *const u32,
    second: *const u32,
    pub k: u32,
}

impl Offsets {
    /// # Safety
    /// The op's registers lie within the register file.
    #[inline(always)]
    pub unsafe fn new(st: &State, o: &Op) -> Offsets {
        let mut r = Offsets { base: std::ptr::null(), second: std::ptr::null(), k: o.imm };
        r.add(st, o.a);
        r.add(st, o.c);
        r
    }
    #[inline(always)]
    unsafe fn add(&mut self, st: &State, r: Reg) {
        if r.is_none() {
            return;
        }
        let (p, s) = src32(st, r);
        if s == 0 {
            self.k = self.k.wrapping_add(*p);
        } else if self.base.is_null() {
            self.base = p;
        } else {
            self.second = p;
        }
    }
    /// The same for all lanes: `k`.
    #[inline(always)]
    pub fn is_uniform(&self) -> bool {
        self.base.is_null()
    }
    /// The 16 offsets of warp `w`, without `k`. Not for uniform offsets.
    ///
    /// # Safety
    /// As [`Offsets::new`]; `tmp` outlives the result.
    #[inline(always)]
    pub unsafe fn lanes(&self, w: usize, tmp: &mut [u32; 16]) -> *const u32 {
        let p = self.base.add(w * 16);
        if self.second.is_null() {
            return p;
        }
        let q = self.second.add(w * 16);
        for i in 0..16 {
            tmp[i] = (*p.add(i)).wrapping_add(*q.add(i));
        }
        tmp.as_ptr()
    }
}

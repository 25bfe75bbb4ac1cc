//! [`Steps`] as fours of 128-bit vectors.

#![allow(unused_unsafe, reason = "which intrinsics are safe to call depends on the compiler's version")]
#![allow(clippy::needless_range_loop, reason = "lanes are loops over indices of several arrays")]

use super::parts::*;
use super::{Neon, four};
use crate::{Simd, Steps, WINDOW};
use std::arch::aarch64::*;

type Words = [uint32x4_t; 4];

#[inline(always)]
fn load(p: &[u32; 16]) -> Words {
    // SAFETY: sixteen words.
    unsafe { Neon.iloadu(p.as_ptr().cast()) }
}

/// t + lane · s.
#[inline(always)]
fn line(t: u32, s: u32) -> Words {
    const LANES: [[u32; 4]; 4] = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]];
    // SAFETY: every CPU of the architecture has the instructions; four words each.
    unsafe { four!(I => vmlaq_u32(vdupq_n_u32(t), vld1q_u32(LANES[I].as_ptr()), vdupq_n_u32(s))) }
}

/// Where offset 0 lies in its line, added to what is `k` beyond the offsets; and bits that must be 0 from `WINDOW` on.
#[inline(always)]
fn begins(p: &[u32; 16], k: u32, lead: u32) -> (Words, Words) {
    let s = Neon;
    let r = s.iadd(load(p), s.isplat(k));
    let from = s.iadd(r, s.isplat(lead));
    (from, s.ior(r, from))
}

/// All lanes' bits, one of 64 for each line of a byte.
#[inline(always)]
fn lines(at: Words, low: uint32x4_t, high: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
    let (mut low, mut high) = (low, high);
    for v in at {
        // SAFETY: every CPU of the architecture has the instructions. A shift by 32 or more, and one to the right, leave 0.
        unsafe {
            let (one, line) = (vdupq_n_u32(1), signed(vshrq_n_u32::<6>(v)));
            low = vorrq_u32(low, vshlq_u32(one, line));
            high = vorrq_u32(high, vshlq_u32(one, vsubq_s32(line, vdupq_n_s32(32))));
        }
    }
    (low, high)
}

/// The or of all lanes of both, those of `high` above those of `low`.
#[inline(always)]
fn joined(low: uint32x4_t, high: uint32x4_t) -> u64 {
    // SAFETY: every CPU of the architecture has the instructions.
    unsafe {
        let v = vorrq_u32(vzip1q_u32(low, high), vzip2q_u32(low, high));
        let v = vreinterpretq_u64_u32(v);
        vgetq_lane_u64::<0>(v) | vgetq_lane_u64::<1>(v)
    }
}

#[inline(always)]
fn any(v: Words) -> u32 {
    // SAFETY: every CPU of the architecture has the instructions.
    unsafe {
        let v = vreinterpretq_u64_u32(vorrq_u32(vorrq_u32(v[0], v[1]), vorrq_u32(v[2], v[3])));
        let both = vgetq_lane_u64::<0>(v) | vgetq_lane_u64::<1>(v);
        both as u32 | (both >> 32) as u32
    }
}

impl Steps for Neon {
    #[inline(always)]
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16 {
        self.mbits(self.ieq(load(p), line(t, s)))
    }
    #[inline(always)]
    fn same_mask(self, p: &[u32; 16], b: u32) -> u16 {
        self.mbits(self.ieq(load(p), self.isplat(b)))
    }
    #[inline(always)]
    fn is_run(self, p: &[u32; 16], s: u32) -> bool {
        !self.many(self.ixor(load(p), line(p[0], s)))
    }
    #[inline(always)]
    fn repeated(self, p: &[u32; 16]) -> u16 {
        let all = load(p);
        let mut seen = self.isplat(0);
        for i in 0..16 {
            let same = self.ieq(all, self.isplat(p[i]));
            seen = self.ior(seen, self.mand(same, self.mask(!(1 << i))));
        }
        self.mbits(seen)
    }
    #[inline(always)]
    unsafe fn words2(self, q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
        // SAFETY: the caller's.
        unsafe {
            let pairs = self.lgather(q, load(o));
            self.istoreu(a.cast(), self.lo(pairs));
            self.istoreu(b.cast(), self.hi(pairs));
        }
    }
    #[inline(always)]
    unsafe fn words4(self, q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
        for g in [0, 4, 8, 12] {
            // SAFETY: the caller's.
            unsafe {
                let v = transpose(four!(I => vld1q_u32(q.add(o[g + I] as usize).cast())));
                for j in 0..4 {
                    vst1q_u32(d[j].add(g), v[j]);
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn run2(self, q: *const u8, a: *mut u32, b: *mut u32) {
        for g in [0, 4, 8, 12] {
            // SAFETY: the caller's.
            unsafe {
                let v = vld2q_u32(q.add(8 * g).cast());
                vst1q_u32(a.add(g), v.0);
                vst1q_u32(b.add(g), v.1);
            }
        }
    }
    #[inline(always)]
    unsafe fn run4(self, q: *const u8, d: [*mut u32; 4]) {
        for g in [0, 4, 8, 12] {
            // SAFETY: the caller's.
            unsafe {
                let v = vld4q_u32(q.add(16 * g).cast());
                vst1q_u32(d[0].add(g), v.0);
                vst1q_u32(d[1].add(g), v.1);
                vst1q_u32(d[2].add(g), v.2);
                vst1q_u32(d[3].add(g), v.3);
            }
        }
    }
    #[inline(always)]
    unsafe fn run_halves(self, q: *const u8, floats: bool, d: *mut u32) {
        // SAFETY: the caller's.
        unsafe {
            match floats {
                true => self.fstore(d.cast(), self.fload16(q)),
                false => self.istoreu(d.cast(), self.iwiden16(q)),
            }
        }
    }
    #[inline(always)]
    unsafe fn run_halves4(self, q: *const u8, floats: bool, d: [*mut u32; 4]) {
        for g in [0, 4, 8, 12] {
            // SAFETY: the caller's.
            unsafe {
                let v = vld4_u16(q.add(8 * g).cast());
                for (d, v) in d.into_iter().zip([v.0, v.1, v.2, v.3]) {
                    let v = if floats { vreinterpretq_u32_f32(from_halves(v)) } else { vmovl_u16(v) };
                    vst1q_u32(d.add(g), v);
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn store_words4(self, q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
        for g in [0, 4, 8, 12] {
            // SAFETY: the caller's.
            unsafe {
                let rows = transpose(four!(I => vld1q_u32(v[I].add(g))));
                for i in 0..4 {
                    vst1q_u32(q.add(o[g + i] as usize).cast(), rows[i]);
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn blend32(self, d: *mut u32, s: *const u32, m: u16) {
        // SAFETY: the caller's.
        unsafe {
            let (old, new) = (self.iloadu(d.cast()), self.iloadu(s.cast()));
            self.istoreu(d.cast(), self.isel(self.mask(m), new, old));
        }
    }
    #[inline(always)]
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16 {
        let at = self.iadd(load(p), self.isplat(k));
        self.mbits(self.mnot(self.ugt(at, self.isplat(limit))))
    }
    #[inline(always)]
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
        // SAFETY: the caller's; offsets that are read at are no more than `limit`.
        unsafe {
            let at = self.iadd(self.iloadu(p.cast()), self.isplat(k));
            let beyond = self.ugt(at, self.isplat(limit));
            let words = self.iwords(base, self.iandn(beyond, at));
            self.istoreu(d.cast(), self.iandn(beyond, words));
        }
    }
    #[inline(always)]
    unsafe fn quads32<const FROM: i32>(self, d: *mut u32, s: *const u32) {
        // SAFETY: the caller's.
        unsafe {
            let v = self.from_bits(self.iloadu(s.cast()));
            self.istoreu(d.cast(), self.bits(self.fpick::<FROM>(v, v)));
        }
    }
    #[inline(always)]
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64> {
        let (from, all) = begins(p, k, lead);
        let to = self.iadd(from, self.isplat(bytes - 1));
        if any(self.ior(all, to)) >= WINDOW {
            return None;
        }
        let zero = self.isplat(0)[0];
        let (low, high) = lines(from, zero, zero);
        let (low, high) = lines(to, low, high);
        Some(joined(low, high))
    }
    #[inline(always)]
    fn near_words(self, p: &[u32; 16], k: u32, lead: u32) -> Option<u64> {
        let (from, all) = begins(p, k, lead);
        // Of what lies in its line only the sum is to be a multiple of four.
        if any(all) >= WINDOW || any(from) & 3 != 0 {
            return None;
        }
        let zero = self.isplat(0)[0];
        let (low, high) = lines(from, zero, zero);
        Some(joined(low, high))
    }
    #[inline(always)]
    fn distinct(self, l: &[u32; 16]) -> u32 {
        let all = load(l);
        let mut seen = self.isplat(0);
        for i in 0..15 {
            let same = self.ieq(all, self.isplat(l[i]));
            // Those after it.
            seen = self.ior(seen, self.mand(same, self.mask(!0 << (i + 1))));
        }
        16 - self.mbits(seen).count_ones()
    }
}

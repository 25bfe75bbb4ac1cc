//! [`Steps`] as loops.

#![allow(clippy::needless_range_loop, reason = "lanes are loops over indices of several arrays")]

use super::Portable;
use crate::{Steps, WINDOW};

impl Steps for Portable {
    #[inline(always)]
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16 {
        let mut m = 0;
        for i in 0..16u32 {
            m |= ((p[i as usize] == t.wrapping_add(i.wrapping_mul(s))) as u16) << i;
        }
        m
    }
    #[inline(always)]
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= ((p[i].wrapping_add(k) <= limit) as u16) << i;
        }
        m
    }
    #[inline(always)]
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
        for i in 0..16 {
            // SAFETY: the caller's; offsets that are read at are no more than `limit`.
            unsafe {
                let o = (*p.add(i)).wrapping_add(k);
                *d.add(i) =
                    if o <= limit { (base.add(o as usize) as *const u32).read_unaligned() } else { 0 };
            }
        }
    }
    #[inline(never)]
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64> {
        let (mut lines, mut all) = (0u64, 0u32);
        for i in 0..16 {
            let r = p[i].wrapping_add(k);
            let from = r.wrapping_add(lead);
            let to = from.wrapping_add(bytes - 1);
            all |= r | to;
            lines |= 1 << (from >> 6 & 63) | 1 << (to >> 6 & 63);
        }
        (all < WINDOW).then_some(lines)
    }
    #[inline(never)]
    fn distinct(self, l: &[u32; 16]) -> u32 {
        let mut n = 16;
        for i in 1..16 {
            let mut seen = false;
            for j in 0..i {
                seen |= l[j] == l[i];
            }
            n -= seen as u32;
        }
        n
    }
}

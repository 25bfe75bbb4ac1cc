//! Steps over one warp's sixteen words in memory, for kernels of loads and stores.

#![allow(clippy::needless_range_loop, reason = "lanes are loops over indices of several arrays")]

use crate::Simd;

/// Bytes of the 64 lines that [`Steps::near`] tells apart.
pub const WINDOW: u32 = 4096;

/// Steps over one warp. A level without an implementation has no forms of the kernels that need it: they are `cold`
/// ([`crate::form`]), and the level's row names another level.
///
/// # Safety
/// Pointers are good for 16 lanes of what they point at, of any alignment.
pub trait Steps: Simd {
    /// Lanes whose offset is `t + lane · s` (mod 2^32).
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16;
    /// Lanes whose offset is `b`.
    #[inline(always)]
    fn same_mask(self, p: &[u32; 16], b: u32) -> u16 {
        self.stride_mask(p, b, 0)
    }
    /// Whether every lane's offset is the first one's + lane · s.
    #[inline(always)]
    fn is_run(self, p: &[u32; 16], s: u32) -> bool {
        self.stride_mask(p, p[0], s) == 0xFFFF
    }
    /// Lanes whose offset some other lane has too.
    #[inline(always)]
    fn repeated(self, p: &[u32; 16]) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= self.same_mask(p, p[i]) & !(1 << i);
        }
        m
    }
    /// Two words at each offset of `o` from `q`, which are there.
    #[inline(always)]
    unsafe fn words2(self, q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
        let (mut x, mut y) = ([0; 16], [0; 16]);
        for i in 0..16 {
            // SAFETY: the caller's.
            let v = unsafe { (q.add(o[i] as usize) as *const u64).read_unaligned() };
            (x[i], y[i]) = (v as u32, (v >> 32) as u32);
        }
        // SAFETY: the caller's.
        unsafe {
            *(a as *mut [u32; 16]) = x;
            *(b as *mut [u32; 16]) = y;
        }
    }
    /// Four words at each offset of `o` from `q`, which are there.
    #[inline(always)]
    unsafe fn words4(self, q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
        let mut v = [[0u32; 16]; 4];
        for i in 0..16 {
            // SAFETY: the caller's.
            let row = unsafe { (q.add(o[i] as usize) as *const [u32; 4]).read_unaligned() };
            for j in 0..4 {
                v[j][i] = row[j];
            }
        }
        for j in 0..4 {
            // SAFETY: the caller's.
            unsafe { *(d[j] as *mut [u32; 16]) = v[j] };
        }
    }
    /// As [`Steps::words2`], each lane's after the one's before.
    #[inline(always)]
    unsafe fn run2(self, q: *const u8, a: *mut u32, b: *mut u32) {
        const EIGHTS: [u32; 16] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120];
        // SAFETY: the caller's.
        unsafe { self.words2(q, &EIGHTS, a, b) };
    }
    /// As [`Steps::words4`], each lane's after the one's before.
    #[inline(always)]
    unsafe fn run4(self, q: *const u8, d: [*mut u32; 4]) {
        const SIXTEENS: [u32; 16] = [0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240];
        // SAFETY: the caller's.
        unsafe { self.words4(q, &SIXTEENS, d) };
    }
    /// Sixteen 16-bit scalars, one after the other: as floats, or as the low halves of words.
    #[inline(always)]
    unsafe fn run_halves(self, q: *const u8, floats: bool, d: *mut u32) {
        let mut v = [0; 16];
        for i in 0..16 {
            // SAFETY: the caller's.
            v[i] = unsafe { (q.add(2 * i) as *const u16).read_unaligned() } as u32;
        }
        // SAFETY: the caller's.
        unsafe {
            *(d as *mut [u32; 16]) = v;
            if floats {
                self.fstore(d.cast(), self.f16_to_f(self.iload(d.cast())));
            }
        }
    }
    /// Four 16-bit scalars a lane, each lane's after the one's before: as floats, or as the low halves of words.
    #[inline(always)]
    unsafe fn run_halves4(self, q: *const u8, floats: bool, d: [*mut u32; 4]) {
        for (j, d) in d.into_iter().enumerate() {
            let mut v = [0; 16];
            for i in 0..16 {
                // SAFETY: the caller's.
                v[i] = unsafe { (q.add(8 * i + 2 * j) as *const u16).read_unaligned() } as u32;
            }
            // SAFETY: the caller's.
            unsafe {
                *(d as *mut [u32; 16]) = v;
                if floats {
                    self.fstore(d.cast(), self.f16_to_f(self.iload(d.cast())));
                }
            }
        }
    }
    /// Stores four words at each offset, in lane order; there is room.
    #[inline(always)]
    unsafe fn store_words4(self, q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
        for i in 0..16 {
            // SAFETY: the caller's.
            unsafe {
                let row = [*v[0].add(i), *v[1].add(i), *v[2].add(i), *v[3].add(i)];
                (q.add(o[i] as usize) as *mut [u32; 4]).write_unaligned(row);
            }
        }
    }
    /// Lanes `m` of `d` become those of `s`, which may be the same.
    #[inline(always)]
    unsafe fn blend32(self, d: *mut u32, s: *const u32, m: u16) {
        // SAFETY: the caller's.
        let (old, new) = unsafe { (*(d as *const [u32; 16]), *(s as *const [u32; 16])) };
        let mut r = old;
        for i in 0..16 {
            r[i] = if m & (1 << i) != 0 { new[i] } else { old[i] };
        }
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = r };
    }
    /// Stores the words of lanes `m`; touches no other memory, so `d` need be good for no other.
    #[inline(always)]
    unsafe fn store_mask(self, d: *mut u8, v: *const u32, m: u16) {
        for i in 0..16 {
            if m >> i & 1 != 0 {
                // SAFETY: the caller's.
                unsafe { (d as *mut u32).wrapping_add(i).write_unaligned(*v.add(i)) };
            }
        }
    }
    /// Lanes whose `offset + k` (mod 2^32) is at most `limit`.
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16;
    /// Words at `base + ((p[i] + k) mod 2^32)`, 0 where that exceeds `limit`; `base` must be readable for 4 bytes at
    /// 0 to `limit`. `d` may be `p`.
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32);
    /// Lane i of each quad becomes that quad's lane `FROM >> 2 i & 3`.
    #[inline(always)]
    unsafe fn quads32<const FROM: i32>(self, d: *mut u32, s: *const u32) {
        // SAFETY: the caller's.
        let v = unsafe { *(s as *const [u32; 16]) };
        let mut r = v;
        for i in 0..16 {
            r[i] = v[i & !3 | (FROM >> (2 * (i & 3)) & 3) as usize];
        }
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = r };
    }
    /// The 64 bytes at `s`, which may not overlap those at `d`.
    #[inline(always)]
    unsafe fn copy64(self, d: *mut u8, s: *const u8) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(s, d, 64) };
    }
    #[inline(always)]
    unsafe fn splat32(self, d: *mut u32, v: u32) {
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = [v; 16] };
    }
    /// Lane i touches `bytes` (1 to 64) from `r + lead` on, `r = p[i] + k` (mod 2^32), `lead` < 64. The lines touched,
    /// bit j for bytes 64 j to 64 j + 63; if any lane's r or any byte lies beyond line 63, nothing.
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64>;
    /// As [`Steps::near`] for four bytes; nothing, too, if a lane's lie at no multiple of four.
    #[inline(always)]
    fn near_words(self, p: &[u32; 16], k: u32, lead: u32) -> Option<u64> {
        self.near(p, k, lead, 4)
    }
    /// How many different numbers there are.
    fn distinct(self, l: &[u32; 16]) -> u32;
}

//! Memory that ends where the process may no longer read.

use std::ptr::{null_mut, slice_from_raw_parts};

const PAGE: usize = 4096;

/// Bytes between two pages that nobody may touch; the last one lies right before the second.
pub struct Guarded {
    map: *mut u8,
    mapped: usize,
    bytes: usize,
}

impl Guarded {
    pub fn new(bytes: usize) -> Guarded {
        let inner = bytes.next_multiple_of(PAGE).max(PAGE);
        let mapped = inner + 2 * PAGE;
        // SAFETY: fresh memory; its inner pages are made readable and writable.
        let map = unsafe {
            let map = libc::mmap(
                null_mut(),
                mapped,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert!(map != libc::MAP_FAILED, "mmap");
            let map = map.cast::<u8>();
            assert_eq!(libc::mprotect(map.add(PAGE).cast(), inner, libc::PROT_READ | libc::PROT_WRITE), 0);
            map
        };
        Guarded { map, mapped, bytes }
    }
    fn at(&self) -> *mut u8 {
        // SAFETY: within the mapping.
        unsafe { self.map.add(self.mapped - PAGE - self.bytes) }
    }
    pub fn address(&self) -> u64 {
        self.at() as u64
    }
    pub fn size(&self) -> u64 {
        self.bytes as u64
    }
    /// Numbers that a seed decides, and what lies before them on their page.
    pub fn fill(&mut self, seed: u64) {
        let inner = self.mapped - 2 * PAGE;
        let mut r = random::Random::new(seed);
        for at in (0..inner).step_by(8) {
            // Floats near 1, small numbers, and anything.
            let word = match r.index(4) {
                0 => (r.u64() as u32 % 64) as u64 | (r.u64() % 16) << 32,
                1 => 0x3F80_0000_3F00_0000 | r.u64() & 0x001F_FFFF_001F_FFFF,
                2 => 0,
                _ => r.u64(),
            };
            // SAFETY: within the inner pages, which are this object's.
            unsafe { self.map.add(PAGE + at).cast::<u64>().write_unaligned(word) };
        }
    }
    /// All of the inner pages: nothing before the bytes may change either.
    pub fn all(&self) -> Vec<u8> {
        // SAFETY: within the mapping; nobody writes now.
        unsafe { (*slice_from_raw_parts(self.map.add(PAGE), self.mapped - 2 * PAGE)).to_vec() }
    }
    /// What lies before the bytes.
    pub fn before(&self) -> Vec<u8> {
        let mut all = self.all();
        all.truncate(all.len() - self.bytes);
        all
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody's any more.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}

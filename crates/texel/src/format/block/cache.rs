//! Decoded blocks that each thread keeps. They are known by what is in them, not by where they lie, so that nothing has to be thrown away when memory changes,
//! no matter which code writes it; and they are bounded: half a megabyte a thread.

use super::packed::Decode;
use super::{FormatInfo, MAX_TEXELS};
use std::cell::UnsafeCell;

/// Bytes of a table's entries, and how many it has, as a power of two: blocks of sixteen texels of four and of eight bytes, and others. (Vectors
/// of sixteen bytes may be read that end beyond an entry.)
const TABLES: [(usize, u32); 3] = [(64, 10), (128, 9), ((MAX_TEXELS * 8).next_multiple_of(64) + 64, 7)];

/// What a table's entry is of; formats are not 0.
#[derive(Clone, Copy, PartialEq)]
#[repr(C, align(32))]
struct Key {
    block: u128,
    format: i32,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

struct Table {
    keys: Vec<Key>,
    texels: Vec<Line>,
}

/// A thread's decoded blocks.
pub struct Cached {
    tables: [Table; 3],
}

impl Cached {
    const fn new() -> Cached {
        Cached { tables: [const { Table { keys: Vec::new(), texels: Vec::new() } }; 3] }
    }

    /// The table for a format's blocks, of `bytes` when they are decoded.
    pub fn table(bytes: u32) -> usize {
        TABLES.iter().position(|t| bytes as usize <= t.0).unwrap_or(2)
    }

    /// The texels of a block. They stay until the next one is asked for.
    ///
    /// # Safety
    /// `table` is that of the format's decoded blocks, `decode` its decoder on this machine; no one else uses the thread's blocks.
    #[inline(always)]
    pub unsafe fn find(
        &mut self,
        table: usize,
        info: &'static FormatInfo,
        decode: Decode,
        block: u128,
    ) -> *const u8 {
        let (bytes, log2) = TABLES[table];
        let t = &mut self.tables[table];
        if t.keys.is_empty() {
            t.fill(bytes, log2);
        }
        let (low, high) = (block as u64, (block >> 64) as u64);
        let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
        let n = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log2)) as usize;
        let key = Key { block, format: info.format.as_raw() };
        // SAFETY: both have as many as the hash has numbers.
        unsafe {
            let texels = t.texels.as_mut_ptr().cast::<u8>().add(n * bytes);
            let there = t.keys.get_unchecked_mut(n);
            if *there != key {
                decode(info, block, texels);
                *there = key;
            }
            texels
        }
    }
}

impl Table {
    #[cold]
    fn fill(&mut self, bytes: usize, log2: u32) {
        self.keys = vec![Key { block: 0, format: 0 }; 1 << log2];
        self.texels = vec![Line([0; 64]); (bytes / 64) << log2];
    }
}

thread_local! {
    static BLOCKS: UnsafeCell<Cached> = const { UnsafeCell::new(Cached::new()) };
}

/// This thread's blocks: good for as long as the thread is, for one user at a time.
#[inline]
pub fn cached() -> *mut Cached {
    BLOCKS.with(|b| b.get())
}

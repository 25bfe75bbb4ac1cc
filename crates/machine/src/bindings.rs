//! What a dispatch or draw is recorded with, beside its pipeline.

use crate::descriptor::SetMemory;
use crate::descriptor_memory::MAX_DESCRIPTOR_BUFFER_RANGE;
use shader::options::{DYNAMIC_TABLE, Heap, TABLES};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::sync::Arc;
use wave::Table;

/// A heap of descriptors: device address and bytes; 0: none is bound.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct HeapRange {
    pub address: u64,
    pub size: u64,
}

/// Sets and push constants as they were when a dispatch was recorded.
#[derive(Clone, Default)]
pub struct Bindings {
    /// Index = set number. Update-after-bind writes are seen because the memory is shared.
    pub sets: SmallVec<[Option<Arc<SetMemory>>; 4]>,
    /// Device addresses of the sets that lie in descriptor buffers, by set number; 0 for any other.
    pub addresses: Option<Arc<[u64]>>,
    /// Descriptors of dynamic buffers with their offsets added, laid out as the pipeline layout says.
    pub dynamic: Option<Arc<SetMemory>>,
    pub push: Push,
    /// Of samplers, and of resources.
    pub heaps: [HeapRange; 2],
}

/// Push constants, or push data: part of what is recorded, so that a draw with others takes no memory of its own.
#[derive(Clone, Copy)]
pub struct Push {
    bytes: [u8; Push::ROOM],
    /// Something was pushed, or what was not is to show.
    any: bool,
}

impl Push {
    /// maxPushConstantsSize.
    pub const ROOM: usize = 256;

    /// Overwrites bytes from `offset` on. False: they end beyond the room.
    pub fn put(&mut self, offset: usize, data: &[u8]) -> bool {
        let end = offset.checked_add(data.len());
        let Some(to) = end.and_then(|end| self.bytes.get_mut(offset..end)) else { return false };
        to.copy_from_slice(data);
        self.any = true;
        true
    }
}

impl Default for Push {
    fn default() -> Push {
        let any = texel::memory::poison::wanted();
        let word = if any { texel::memory::poison::WORD } else { 0 }.to_le_bytes();
        Push { bytes: std::array::from_fn(|i| word[i % 4]), any }
    }
}

impl Deref for Push {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        if self.any { &self.bytes } else { &[] }
    }
}

/// Descriptor tables as a wave sees them, up to the last one that there is.
pub struct Tables {
    room: [MaybeUninit<Table>; TABLES],
    len: usize,
}

impl Tables {
    /// Table `i` is this; those before it that were not set are none.
    fn set(&mut self, i: usize, table: Table) {
        for t in self.room[..i].iter_mut().skip(self.len) {
            t.write(Table::NONE);
        }
        self.room[i].write(table);
        self.len = self.len.max(i + 1);
    }
}

impl Deref for Tables {
    type Target = [Table];
    fn deref(&self) -> &[Table] {
        // SAFETY: `set` has written so many.
        unsafe { self.room[..self.len].assume_init_ref() }
    }
}

impl Bindings {
    /// The tables as a wave sees them.
    pub fn tables(&self) -> Tables {
        let mut tables = Tables { room: [MaybeUninit::uninit(); TABLES], len: 0 };
        let table = |s: &SetMemory| Table { ptr: s.ptr(), size: s.size() as u64 };
        for (i, s) in self.sets.iter().enumerate().take(DYNAMIC_TABLE as usize) {
            if let Some(s) = s {
                tables.set(i, table(s));
            }
        }
        let addresses = self.addresses.iter().flat_map(|a| a.iter());
        for (i, &a) in addresses.enumerate().take(DYNAMIC_TABLE as usize) {
            if a != 0 {
                tables.set(i, Table { ptr: a as *const u8, size: MAX_DESCRIPTOR_BUFFER_RANGE });
            }
        }
        if let Some(s) = &self.dynamic {
            tables.set(DYNAMIC_TABLE as usize, table(s));
        }
        for (i, h) in self.heaps.iter().enumerate() {
            if h.address != 0 {
                tables
                    .set(Heap::FIRST_TABLE as usize + i, Table { ptr: h.address as *const u8, size: h.size });
            }
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pushed_lies_within_the_room() {
        let mut p = Push::default();
        assert!(p.is_empty());
        assert!(p.put(4, &[1, 2]) && p.put(1, &[9]));
        assert_eq!(p[..7], [0, 9, 0, 0, 1, 2, 0]);
        assert!(p.put(255, &[7]) && !p.put(255, &[8, 8]) && !p.put(usize::MAX, &[1]));
        assert_eq!((p.len(), p[255]), (256, 7));
    }

    #[test]
    fn tables_end_with_the_last_one_that_there_is() {
        let set = Arc::new(SetMemory::new(64).expect("memory"));
        let mut b = Bindings::default();
        assert!(b.tables().is_empty());
        b.sets = smallvec::smallvec![None, Some(set.clone()), None];
        let t = b.tables();
        assert_eq!((t.len(), t[0].size, t[1].ptr), (2, 0, set.ptr().cast_const()));
        b.heaps[1] = HeapRange { address: 4096, size: 512 };
        let t = b.tables();
        assert_eq!((t.len(), t[1].size, t[33].size, t[34].size), (TABLES, 64, 0, 512));
    }
}

//! What a dispatch or draw is recorded with, beside its pipeline.

use crate::descriptor::SetMemory;
use crate::descriptor_memory::MAX_DESCRIPTOR_BUFFER_RANGE;
use shader::options::{DYNAMIC_TABLE, Heap, TABLES};
use std::sync::Arc;

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
    pub sets: Vec<Option<Arc<SetMemory>>>,
    /// Device addresses of the sets that lie in descriptor buffers, by set number; 0 for any other.
    pub addresses: Option<Arc<[u64]>>,
    /// Descriptors of dynamic buffers with their offsets added, laid out as the pipeline layout says.
    pub dynamic: Option<Arc<SetMemory>>,
    pub push: Arc<[u8]>,
    /// Of samplers, and of resources.
    pub heaps: [HeapRange; 2],
}

impl Bindings {
    /// The tables as a wave sees them.
    pub fn tables(&self) -> [wave::Table; TABLES] {
        let mut tables = [wave::Table::NONE; TABLES];
        for (t, s) in tables.iter_mut().zip(&self.sets) {
            if let Some(s) = s {
                *t = wave::Table { ptr: s.ptr(), size: s.size() as u64 };
            }
        }
        for (t, &a) in tables.iter_mut().zip(self.addresses.iter().flat_map(|a| a.iter())) {
            if a != 0 {
                *t = wave::Table { ptr: a as *const u8, size: MAX_DESCRIPTOR_BUFFER_RANGE };
            }
        }
        if let Some(s) = &self.dynamic {
            tables[DYNAMIC_TABLE as usize] = wave::Table { ptr: s.ptr(), size: s.size() as u64 };
        }
        for (t, h) in tables[Heap::FIRST_TABLE as usize..].iter_mut().zip(&self.heaps) {
            if h.address != 0 {
                *t = wave::Table { ptr: h.address as *const u8, size: h.size };
            }
        }
        tables
    }
}

//! What a dispatch or draw is recorded with, beside its pipeline.

use crate::descriptor::SetMemory;
use crate::descriptor_memory::MAX_DESCRIPTOR_BUFFER_RANGE;
use std::sync::Arc;

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
}

impl Bindings {
    /// The tables as a wave sees them.
    pub fn tables(&self) -> [wave::Table; 33] {
        let mut tables = [wave::Table::NONE; 33];
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
            tables[32] = wave::Table { ptr: s.ptr(), size: s.size() as u64 };
        }
        tables
    }
}

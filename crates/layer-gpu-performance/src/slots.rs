//! Query pools of timestamps, on a free list.

use crate::table::{Table, next};
use ash::vk;
use parking_lot::Mutex;

/// Queries of a pool.
pub(crate) const POOL: u32 = 64;

/// A device's query pools that no command buffer has.
#[derive(Default)]
pub(crate) struct Pools {
    free: Mutex<Vec<vk::QueryPool>>,
    all: Mutex<Vec<vk::QueryPool>>,
}

/// Where a timestamp goes: how manieth of the command buffer's pools, and its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub pool: u32,
    pub query: u32,
}

impl Pools {
    /// A pool that is to be reset before its use.
    pub unsafe fn take(&self, device: &crate::device::Device) -> Result<vk::QueryPool, vk::Result> {
        if let Some(pool) = self.free.lock().pop() {
            return Ok(pool);
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(POOL);
        let mut pool = vk::QueryPool::null();
        let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
        next!(device, create_query_pool(device.handle, &info, std::ptr::null(), &mut pool), else missing)
            .result()?;
        self.all.lock().push(pool);
        Ok(pool)
    }

    pub fn give_back(&self, pools: impl Iterator<Item = vk::QueryPool>) {
        self.free.lock().extend(pools);
    }

    /// How many there are, and how many of them are free.
    pub fn counts(&self) -> (usize, usize) {
        (self.all.lock().len(), self.free.lock().len())
    }

    pub unsafe fn destroy(&self, handle: vk::Device, table: &Table) {
        self.free.lock().clear();
        for pool in self.all.lock().drain(..) {
            if let Some(f) = table.destroy_query_pool {
                f(handle, pool, std::ptr::null())
            }
        }
    }
}

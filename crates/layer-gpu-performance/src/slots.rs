//! Query pools on a free list: of timestamps, or of performance queries of one queue family.

use crate::table::{Table, next};
use ash::vk;
use parking_lot::Mutex;

/// Timestamps of a pool.
pub(crate) const POOL: u32 = 64;

/// A device's query pools of one sort that no command buffer has.
pub(crate) struct Pools {
    /// Queries of a pool.
    pub size: u32,
    free: Mutex<Vec<vk::QueryPool>>,
    all: Mutex<Vec<vk::QueryPool>>,
    /// Queue family and counters; without them queries are timestamps.
    counters: Option<(u32, Vec<u32>)>,
}

/// Where a query is: the index of its pool among those of the command buffer, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub pool: u32,
    pub query: u32,
}

impl Pools {
    pub fn of_timestamps() -> Pools {
        Pools { size: POOL, free: Mutex::default(), all: Mutex::default(), counters: None }
    }

    /// Of performance queries, of these counters of a queue family.
    pub fn of_counters(size: u32, family: u32, counters: Vec<u32>) -> Pools {
        Pools { size, counters: Some((family, counters)), ..Pools::of_timestamps() }
    }

    /// A pool that is to be reset before its use.
    pub unsafe fn take(&self, device: &crate::device::Device) -> Result<vk::QueryPool, vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if let Some(pool) = self.free.lock().pop() {
                return Ok(pool);
            }
            let mut performance = vk::QueryPoolPerformanceCreateInfoKHR::default();
            let mut info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(self.size);
            if let Some((family, counters)) = &self.counters {
                performance = performance.queue_family_index(*family).counter_indices(counters);
                info = info.query_type(vk::QueryType::PERFORMANCE_QUERY_KHR).push_next(&mut performance);
            }
            let mut pool = vk::QueryPool::null();
            let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
            next!(device, create_query_pool(device.handle, &info, std::ptr::null(), &mut pool), else missing)
                .result()?;
            self.all.lock().push(pool);
            Ok(pool)
        }
    }

    pub fn give_back(&self, pool: vk::QueryPool) {
        self.free.lock().push(pool);
    }

    /// How many there are, and how many of them are free.
    pub fn counts(&self) -> (usize, usize) {
        (self.all.lock().len(), self.free.lock().len())
    }

    pub unsafe fn destroy(&self, handle: vk::Device, table: &Table) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            self.free.lock().clear();
            for pool in self.all.lock().drain(..) {
                if let Some(f) = table.destroy_query_pool {
                    f(handle, pool, std::ptr::null())
                }
            }
        }
    }
}

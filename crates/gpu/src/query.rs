//! Query pools: results as 64-bit words with an availability mark a query.

use ash::vk;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

pub struct QueryPool {
    pub kind: vk::QueryType,
    pub statistics: vk::QueryPipelineStatisticFlags,
    /// Values a query (without availability).
    pub words: u32,
    pub count: u32,
    values: Vec<AtomicU64>,
    available: Vec<AtomicU64>,
}

impl QueryPool {
    pub fn new(kind: vk::QueryType, count: u32, statistics: vk::QueryPipelineStatisticFlags) -> QueryPool {
        let words =
            if kind == vk::QueryType::PIPELINE_STATISTICS { statistics.as_raw().count_ones() } else { 1 };
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        QueryPool {
            kind,
            statistics,
            words,
            count,
            values: zeros((words * count) as usize),
            available: zeros(count as usize),
        }
    }

    pub fn reset(&self, first: u32, count: u32) {
        for q in first..first.saturating_add(count).min(self.count) {
            self.available[q as usize].store(0, SeqCst);
            for w in 0..self.words {
                self.values[(q * self.words + w) as usize].store(0, SeqCst);
            }
        }
    }

    /// Stores a query's words and makes it available.
    pub fn finish(&self, query: u32, words: &[u64]) {
        if query >= self.count {
            return;
        }
        for (w, &v) in words.iter().enumerate().take(self.words as usize) {
            self.values[query as usize * self.words as usize + w].store(v, SeqCst);
        }
        self.available[query as usize].store(1, SeqCst);
    }

    pub fn is_available(&self, query: u32) -> bool {
        query < self.count && self.available[query as usize].load(SeqCst) != 0
    }

    /// Writes queries `first..first + count` at `out + i · stride` as vkGetQueryPoolResults does (§ Copying query
    /// results); false when one was not available (its values are then written only with PARTIAL).
    ///
    /// # Safety
    /// `out` has room for the last query's words at that stride.
    pub unsafe fn write(
        &self,
        first: u32,
        count: u32,
        out: *mut u8,
        stride: u64,
        flags: vk::QueryResultFlags,
    ) -> bool {
        let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
        let put = |at: *mut u8, i: usize, v: u64| {
            if wide {
                at.cast::<u64>().add(i).write_unaligned(v)
            } else {
                at.cast::<u32>().add(i).write_unaligned(v as u32)
            }
        };
        let mut all = true;
        for i in 0..count {
            let q = first + i;
            if q >= self.count {
                return false;
            }
            let at = out.add((i as u64 * stride) as usize);
            let ready = self.is_available(q);
            all &= ready;
            if ready || flags.contains(vk::QueryResultFlags::PARTIAL) {
                for w in 0..self.words as usize {
                    put(at, w, self.values[q as usize * self.words as usize + w].load(SeqCst));
                }
            }
            if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
                put(at, self.words as usize, ready as u64);
            }
        }
        all
    }
}

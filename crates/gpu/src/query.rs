//! Query pools: results as 64-bit words with an availability mark a query.

use crate::graphics::run::PassRun;
use crate::graphics::statistics::{Epochs, Statistics};
use crate::sync::Hub;
use ash::vk;
use std::sync::Arc;
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

/// Queries that count on a queue.
#[derive(Default)]
pub struct Queries {
    /// Everything counted before the pass that is under way.
    total: Statistics,
    active: Vec<Active>,
    /// Ended within the pass under way, with their epochs: their values are known when its tiles are drawn.
    ended: Vec<(Active, usize)>,
}

struct Active {
    pool: Arc<QueryPool>,
    query: u32,
    began: Began,
    /// Queries it takes: the views of a multiview subpass. All but the first give 0 (§ Multiview and queries).
    views: u32,
}

enum Began {
    At(Statistics),
    /// In this epoch of the pass under way.
    InPass(usize),
}

impl Queries {
    pub fn any(&self) -> bool {
        !self.active.is_empty()
    }
    pub fn add_compute(&mut self, invocations: u64) {
        self.total.0[Statistics::COMPUTE] += invocations;
    }

    pub fn begin(&mut self, pass: Option<&mut PassRun>, pool: &Arc<QueryPool>, query: u32) {
        let (began, views) = match pass {
            Some(p) => (Began::InPass(p.epochs.advance()), p.views()),
            None => (Began::At(self.total), 1),
        };
        self.active.push(Active { pool: pool.clone(), query, began, views });
    }

    pub fn end(&mut self, hub: &Hub, pass: Option<&mut PassRun>, pool: &Arc<QueryPool>, query: u32) {
        let Some(i) = self.active.iter().position(|a| Arc::ptr_eq(&a.pool, pool) && a.query == query) else {
            return;
        };
        let a = self.active.swap_remove(i);
        match pass {
            Some(p) => self.ended.push((a, p.epochs.advance())),
            None => self.finish(hub, &a, &self.total, None),
        }
    }

    /// `epochs`: those of the pass that has just ended, for queries that began in it.
    fn finish(&self, hub: &Hub, a: &Active, now: &Statistics, epochs: Option<&Epochs>) {
        let began = match (&a.began, epochs) {
            (Began::At(s), _) => *s,
            (Began::InPass(e), Some(epochs)) => self.at(epochs, *e),
            (Began::InPass(_), None) => *now,
        };
        let words = now.since(&began).words(a.pool.kind, a.pool.statistics);
        hub.change(|| {
            a.pool.finish(a.query, &words);
            (1..a.views).for_each(|v| a.pool.finish(a.query + v, &vec![0; words.len()]));
        });
    }

    fn at(&self, epochs: &Epochs, epoch: usize) -> Statistics {
        let mut s = self.total;
        s.add(&epochs.before(epoch));
        s
    }

    /// The pass's tiles are drawn.
    pub fn pass_ended(&mut self, hub: &Hub, epochs: &Epochs) {
        for (a, epoch) in std::mem::take(&mut self.ended) {
            self.finish(hub, &a, &self.at(epochs, epoch), Some(epochs));
        }
        for i in 0..self.active.len() {
            if let Began::InPass(e) = self.active[i].began {
                self.active[i].began = Began::At(self.at(epochs, e));
            }
        }
        self.total.add(&epochs.all());
    }
}

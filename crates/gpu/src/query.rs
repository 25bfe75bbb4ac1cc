//! Query pools: results as 64-bit words with an availability mark a query.

use crate::count;
use crate::device::Shared;
use crate::graphics::run::PassRun;
use crate::graphics::statistics::{Epochs, statistic};
use crate::time::{Line, Span};
use ash::vk;
use counters::{Counts, Event, Model, Phase};
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

    /// The words of a query's result, from what was counted between its begin and its end.
    pub fn evaluate(&self, c: &Counts, _model: &Model) -> Vec<u64> {
        match self.kind {
            vk::QueryType::OCCLUSION => vec![c[Event::SamplesPassed]],
            vk::QueryType::PIPELINE_STATISTICS => (0..32)
                .filter(|b| self.statistics.as_raw() >> b & 1 != 0)
                .map(|b| statistic(b).map_or(0, |e| c[e]))
                .collect(),
            _ => vec![0],
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
pub struct Queries {
    shared: Arc<Shared>,
    /// Everything counted before the pass that is under way.
    total: Counts,
    active: Vec<Active>,
    /// Ended within the pass under way, with their epochs: their values are known when its tiles are drawn.
    ended: Vec<(Active, usize)>,
    /// Timestamps within the pass under way, likewise.
    stamps: Vec<Stamp>,
}

struct Active {
    pool: Arc<QueryPool>,
    query: u32,
    began: Began,
    /// Queries it takes: the views of a multiview subpass. All but the first give 0 (§ Multiview and queries).
    views: u32,
}

struct Stamp {
    pool: Arc<QueryPool>,
    query: u32,
    stages: vk::PipelineStageFlags2,
    epoch: usize,
    views: u32,
}

enum Began {
    At(Box<Counts>),
    /// In this epoch of the pass under way.
    InPass(usize),
}

impl Queries {
    pub fn new(shared: Arc<Shared>) -> Queries {
        Queries { shared, total: Counts::default(), active: vec![], ended: vec![], stamps: vec![] }
    }
    pub fn any(&self) -> bool {
        !self.active.is_empty()
    }
    /// A workload outside render passes.
    pub fn add(&mut self, c: &Counts) {
        self.total.add(c);
    }

    pub fn begin(&mut self, pass: Option<&mut PassRun>, pool: &Arc<QueryPool>, query: u32) {
        let (began, views) = match pass {
            Some(p) => (Began::InPass(p.epochs.advance()), p.views()),
            None => (Began::At(Box::new(self.total)), 1),
        };
        self.active.push(Active { pool: pool.clone(), query, began, views });
    }

    pub fn end(&mut self, pass: Option<&mut PassRun>, pool: &Arc<QueryPool>, query: u32) {
        let Some(i) = self.active.iter().position(|a| Arc::ptr_eq(&a.pool, pool) && a.query == query) else {
            return;
        };
        let a = self.active.swap_remove(i);
        match pass {
            Some(p) => self.ended.push((a, p.epochs.advance())),
            None => self.finish(&a, &self.total, None),
        }
    }

    /// A timestamp. In a render pass it falls where the work before it would have ended, had the pass's draws been
    /// drawn one after another.
    pub fn stamp(
        &mut self,
        pass: Option<&mut PassRun>,
        line: &mut Line,
        pool: &Arc<QueryPool>,
        query: u32,
        stages: vk::PipelineStageFlags2,
    ) {
        match pass {
            Some(p) => {
                let (epoch, views) = (p.epochs.advance(), p.views());
                self.stamps.push(Stamp { pool: pool.clone(), query, stages, epoch, views });
            }
            None => {
                let t = line.stamp(stages);
                self.shared.hub.change(|| pool.finish(query, &[t]));
            }
        }
    }

    /// `epochs`: those of the pass that has just ended, for queries that began in it.
    fn finish(&self, a: &Active, now: &Counts, epochs: Option<&Epochs>) {
        let began = match (&a.began, epochs) {
            (Began::At(s), _) => **s,
            (Began::InPass(e), Some(epochs)) => self.at(epochs, *e),
            (Began::InPass(_), None) => *now,
        };
        let words = a.pool.evaluate(&now.since(&began), &self.shared.model);
        self.shared.hub.change(|| {
            a.pool.finish(a.query, &words);
            (1..a.views).for_each(|v| a.pool.finish(a.query + v, &vec![0; words.len()]));
        });
    }

    fn at(&self, epochs: &Epochs, epoch: usize) -> Counts {
        let mut s = self.total;
        s.add(&epochs.before(epoch));
        s
    }

    /// The pass's tiles are drawn; its binning and main phases lie at `spans`.
    pub fn pass_ended(&mut self, epochs: &Epochs, spans: &[Span; 2]) {
        for (a, epoch) in std::mem::take(&mut self.ended) {
            self.finish(&a, &self.at(epochs, epoch), Some(epochs));
        }
        for i in 0..self.active.len() {
            if let Began::InPass(e) = self.active[i].began {
                self.active[i].began = Began::At(Box::new(self.at(epochs, e)));
            }
        }
        self.total.add(&epochs.all());
        let whole = count::ticks(&epochs.all(), &self.shared.model);
        for s in std::mem::take(&mut self.stamps) {
            let part = count::ticks(&epochs.before(s.epoch), &self.shared.model);
            let within = |phase: usize, span: &Span| span.begin + part[phase].min(whole[phase]);
            let early = vk::PipelineStageFlags2::TOP_OF_PIPE
                | vk::PipelineStageFlags2::DRAW_INDIRECT
                | vk::PipelineStageFlags2::VERTEX_INPUT
                | vk::PipelineStageFlags2::VERTEX_SHADER;
            let t = if early.contains(s.stages) {
                within(Phase::Binning as usize, &spans[0])
            } else {
                within(Phase::Main as usize, &spans[1])
            };
            self.shared.hub.change(|| (0..s.views).for_each(|v| s.pool.finish(s.query + v, &[t])));
        }
    }
}

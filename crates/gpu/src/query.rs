//! Query pools: results as 64-bit words with an availability mark a query.

use crate::pass_time::Times;
use ash::vk;
use counters::{Counter, Counts, Event, Value};
use machine::shared::Shared;
use machine::time::Line;
use raster::run::PassRun;
use raster::statistics::{self, Sums};
use settings::Storage;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Release, SeqCst},
};
use texel::memory::sparse::resident;

/// What a query can ask of an acceleration structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StructureProperty {
    CompactedSize,
    SerializationSize,
    SerializationBottomLevelPointers,
    Size,
}

impl StructureProperty {
    pub fn of(query: vk::QueryType) -> Option<StructureProperty> {
        Some(match query {
            vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR
            | vk::QueryType::MICROMAP_COMPACTED_SIZE_EXT => StructureProperty::CompactedSize,
            vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_SIZE_KHR
            | vk::QueryType::MICROMAP_SERIALIZATION_SIZE_EXT => StructureProperty::SerializationSize,
            vk::QueryType::ACCELERATION_STRUCTURE_SERIALIZATION_BOTTOM_LEVEL_POINTERS_KHR => {
                StructureProperty::SerializationBottomLevelPointers
            }
            vk::QueryType::ACCELERATION_STRUCTURE_SIZE_KHR => StructureProperty::Size,
            _ => return None,
        })
    }
}

/// Words of results, or of marks, that a pool may have: a gibibyte.
const MAX_WORDS: usize = 1 << 27;

pub struct QueryPool {
    pub kind: QueryKind,
    /// Values a query (without availability).
    pub words: u32,
    pub count: u32,
    values: Box<[AtomicU64]>,
    /// A bit for each pass of each query that has its values; other kinds have one pass.
    available: Box<[AtomicU64]>,
    /// When what made it available had ended, in modelled time.
    ended: Box<[AtomicU64]>,
    passes: u32,
}

pub enum QueryKind {
    Occlusion,
    Statistics(vk::QueryPipelineStatisticFlags),
    Timestamp,
    /// Primitives that transform feedback captured of a vertex stream, and those that it would have with room enough.
    Feedback,
    /// Primitives of a vertex stream that reach rasterisation or would.
    Generated,
    /// Primitives that mesh shaders made.
    MeshPrimitives,
    /// A number of acceleration structures.
    Structure(StructureProperty),
    /// Counters in the order in which results have them, of which a pass measures so many (VK_KHR_performance_query).
    Performance {
        counters: Vec<&'static Counter>,
        per_pass: u32,
        /// How all are stored; `None`: each as the catalogue says.
        storage: Option<Storage>,
    },
}

/// Passes that so many counters take on a GPU that counts `slots` at once (0: all).
pub fn performance_passes(counters: usize, slots: u32) -> u32 {
    if slots == 0 { 1 } else { (counters as u32).div_ceil(slots).max(1) }
}

/// The word of a VkPerformanceCounterResultKHR.
fn word(value: Value, storage: Option<Storage>) -> u64 {
    let number = match value {
        Value::Uint64(v) => v as f64,
        Value::Float64(v) => v,
    };
    // Casts to integers stop at the greatest one.
    let whole = match value {
        Value::Uint64(v) => v,
        Value::Float64(v) => v as u64,
    };
    match (storage, value) {
        (None, Value::Uint64(_)) | (Some(Storage::Uint64), _) => whole,
        (None, Value::Float64(_)) | (Some(Storage::Float64), _) => number.to_bits(),
        (Some(Storage::Int64), _) => whole.min(i64::MAX as u64),
        (Some(Storage::Int32), _) => whole.min(i32::MAX as u64),
        (Some(Storage::Uint32), _) => whole.min(u64::from(u32::MAX)),
        (Some(Storage::Float32), _) => u64::from((number as f32).to_bits()),
    }
}

impl QueryPool {
    /// `None`: there is no memory for so many.
    pub fn new(kind: QueryKind, count: u32) -> Option<QueryPool> {
        let (words, passes) = match &kind {
            QueryKind::Occlusion
            | QueryKind::Timestamp
            | QueryKind::Generated
            | QueryKind::MeshPrimitives
            | QueryKind::Structure(_) => (1, 1),
            QueryKind::Feedback => (2, 1),
            QueryKind::Statistics(bits) => (bits.as_raw().count_ones(), 1),
            QueryKind::Performance { counters, per_pass, .. } => {
                (counters.len() as u32, performance_passes(counters.len(), *per_pass))
            }
        };
        let zeros = |n: u64| {
            let n = usize::try_from(n).ok().filter(|n| *n <= MAX_WORDS)?;
            bytemuck::allocation::try_zeroed_slice_box(n).ok()
        };
        Some(QueryPool {
            kind,
            words,
            count,
            values: zeros(words as u64 * count as u64)?,
            available: zeros(count as u64 * (passes as u64).div_ceil(64))?,
            ended: zeros(count as u64)?,
            passes,
        })
    }

    /// The marks of a query's passes.
    fn marks(&self, query: u32) -> &[AtomicU64] {
        let n = self.passes.div_ceil(64) as usize;
        &self.available[query as usize * n..][..n]
    }

    pub fn reset(&self, first: u32, count: u32) {
        for q in first..first.saturating_add(count).min(self.count) {
            self.marks(q).iter().for_each(|m| m.store(0, SeqCst));
            for w in 0..self.words {
                self.values[q as usize * self.words as usize + w as usize].store(0, SeqCst);
            }
        }
    }

    /// When the last of those of `first..first + count` that are available ended.
    pub fn ended(&self, first: u32, count: u32) -> u64 {
        let queries = (first..first.saturating_add(count).min(self.count)).filter(|q| self.is_available(*q));
        queries.map(|q| self.ended[q as usize].load(SeqCst)).max().unwrap_or(0)
    }

    /// Stores a query's words and makes it available; `time`: when what it tells of had ended.
    pub fn finish(&self, query: u32, words: &[u64], time: u64) {
        self.finish_pass(query, 0, 0, words, time);
    }

    /// Stores words from `first` on, and that this pass of the query is done.
    fn finish_pass(&self, query: u32, pass: u32, first: usize, words: &[u64], time: u64) {
        if query >= self.count || pass >= self.passes {
            return;
        }
        let base = query as usize * self.words as usize;
        for (w, &v) in (first..self.words as usize).zip(words) {
            self.values[base + w].store(v, SeqCst);
        }
        self.ended[query as usize].store(time, SeqCst);
        self.marks(query)[pass as usize / 64].fetch_or(1 << (pass % 64), SeqCst);
    }

    /// What was counted between a query's begin and end, in this pass of a performance query, becomes its result.
    fn finish_counts(&self, query: u32, [pass, index]: [u32; 2], c: &Counts, time: u64) {
        let stream = index as usize;
        match &self.kind {
            QueryKind::Occlusion => self.finish(query, &[c[Event::SamplesPassed]], time),
            QueryKind::Statistics(bits) => self.finish(query, &statistics::words(c, *bits), time),
            QueryKind::Feedback => {
                self.finish(query, &[c[Event::captured(stream)], c[Event::needed(stream)]], time);
            }
            QueryKind::Generated => self.finish(query, &[c[Event::generated(stream)]], time),
            QueryKind::MeshPrimitives => self.finish(query, &[c[Event::MeshPrimitives]], time),
            QueryKind::Timestamp | QueryKind::Structure(_) => {}
            QueryKind::Performance { counters, per_pass, storage } => {
                let n = if *per_pass == 0 { counters.len() } else { *per_pass as usize };
                let first = pass as usize * n;
                let group = counters.get(first..(first + n).min(counters.len())).unwrap_or_default();
                let model = counters::model::current();
                let words: Vec<u64> = group.iter().map(|k| word(k.value(c, model), *storage)).collect();
                self.finish_pass(query, pass, first, &words, time);
            }
        }
    }

    pub fn is_available(&self, query: u32) -> bool {
        query < self.count
            && self.marks(query).iter().map(|m| m.load(SeqCst).count_ones()).sum::<u32>() == self.passes
    }

    /// Whether results are 64-bit words, and whether availability follows them. Performance queries have words of
    /// 8 bytes, whatever the flags say, and never that mark (§ Performance Queries).
    fn layout(&self, flags: vk::QueryResultFlags) -> (bool, bool) {
        if matches!(self.kind, QueryKind::Performance { .. }) {
            return (true, false);
        }
        (
            flags.contains(vk::QueryResultFlags::TYPE_64),
            flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY),
        )
    }

    /// Bytes of one query's result.
    pub fn result_size(&self, flags: vk::QueryResultFlags) -> u64 {
        let (wide, mark) = self.layout(flags);
        (self.words as u64 + mark as u64) * if wide { 8 } else { 4 }
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
        let (wide, mark) = self.layout(flags);
        // A host may poll availability in mapped memory: a value is there before its mark. Programs that keep to the
        // rules have their words aligned (VUID-vkCmdCopyQueryPoolResults-flags-00822 and -00823).
        let put = |at: *mut u8, i: usize, v: u64| {
            if !resident(at.wrapping_add(i * if wide { 8 } else { 4 })) {
                return;
            }
            // SAFETY: the caller has room for the query's words; the atomic ones are of aligned words.
            unsafe {
                if wide {
                    let at = at.cast::<u64>().add(i);
                    if at.is_aligned() {
                        AtomicU64::from_ptr(at).store(v, Release);
                    } else {
                        at.write_unaligned(v);
                    }
                } else {
                    let at = at.cast::<u32>().add(i);
                    if at.is_aligned() {
                        AtomicU32::from_ptr(at).store(v as u32, Release);
                    } else {
                        at.write_unaligned(v as u32);
                    }
                }
            }
        };
        let mut all = true;
        for i in 0..count {
            let Some(q) = first.checked_add(i).filter(|q| *q < self.count) else { return false };
            // SAFETY: the caller has room for every query at that stride.
            let at = unsafe { out.add((i as u64 * stride) as usize) };
            let ready = self.is_available(q);
            all &= ready;
            if ready || flags.contains(vk::QueryResultFlags::PARTIAL) {
                for w in 0..self.words as usize {
                    put(at, w, self.values[q as usize * self.words as usize + w].load(SeqCst));
                }
            }
            if mark {
                put(at, self.words as usize, ready as u64);
            }
        }
        all
    }
}

/// A place in the pass under way, from which on it counts apart.
pub struct InPass {
    epoch: usize,
    views: Vec<u32>,
}

impl InPass {
    pub fn of(p: &mut PassRun) -> InPass {
        InPass { epoch: p.epochs.advance(), views: p.views() }
    }
}

/// Queries that count on a queue.
pub struct Queries {
    shared: Arc<Shared>,
    /// Everything counted before the pass that is under way.
    total: Counts,
    /// When all of that had ended.
    ended_at: u64,
    active: Vec<Active>,
    /// Those that what is executed now falls into.
    open: Vec<(Arc<QueryPool>, u32)>,
    /// Ended within the pass under way, with their epochs: their values are known when its tiles are drawn.
    ended: Vec<(Active, usize)>,
    /// Timestamps within the pass under way, likewise.
    stamps: Vec<Stamp>,
    /// Pass of performance queries that the submission under way is for (VkPerformanceQuerySubmitInfoKHR).
    pub performance_pass: u32,
}

struct Stamp {
    pool: Arc<QueryPool>,
    query: u32,
    stages: vk::PipelineStageFlags2,
    epoch: usize,
    /// Each has a query of its own.
    views: Vec<u32>,
}

struct Active {
    pool: Arc<QueryPool>,
    query: u32,
    began: Began,
    /// Of the subpass that it began in: each has a query of its own, with what the view counted.
    views: Vec<u32>,
    /// Pass of a performance query; vertex stream of one of primitives.
    pass: [u32; 2],
}

enum Began {
    At(Box<Counts>),
    /// In this epoch of the pass under way.
    InPass(usize),
}

impl Queries {
    pub fn new(shared: Arc<Shared>) -> Queries {
        Queries {
            shared,
            total: Counts::default(),
            ended_at: 0,
            active: vec![],
            open: vec![],
            ended: vec![],
            stamps: vec![],
            performance_pass: 0,
        }
    }
    /// A query is active that counts fragments or samples which hidden surface removal would spare. Performance queries
    /// are none: they tell what is done.
    pub fn need_all(&self) -> bool {
        let spares = |k: &QueryKind| {
            use QueryKind::*;
            matches!(k, Performance { .. } | Feedback | Generated | MeshPrimitives)
        };
        self.open.iter().any(|(pool, _)| !spares(&pool.kind))
    }
    /// A query begins with what is executed next, whenever that will have run.
    pub fn opens(&mut self, pool: &Arc<QueryPool>, query: u32) {
        self.open.push((pool.clone(), query));
    }
    /// A query ends with what was executed last.
    pub fn closes(&mut self, pool: &Arc<QueryPool>, query: u32) {
        self.open.retain(|(p, q)| !(Arc::ptr_eq(p, pool) && *q == query));
    }
    /// A workload outside render passes, which ended then.
    pub fn add(&mut self, c: &Counts, end: u64) {
        self.total += c;
        self.ended_at = self.ended_at.max(end);
    }

    pub fn begin(&mut self, at: Option<InPass>, pool: Arc<QueryPool>, query: u32, pass: [u32; 2]) {
        let (began, views) = match at {
            Some(p) => (Began::InPass(p.epoch), p.views),
            None => (Began::At(Box::new(self.total)), vec![]),
        };
        self.active.push(Active { pool, query, began, views, pass });
    }

    pub fn end(&mut self, at: Option<InPass>, pool: &Arc<QueryPool>, query: u32) {
        let Some(i) = self.active.iter().position(|a| Arc::ptr_eq(&a.pool, pool) && a.query == query) else {
            return;
        };
        let a = self.active.swap_remove(i);
        match at {
            Some(p) => self.ended.push((a, p.epoch)),
            None => self.finish(&a, &self.total, None),
        }
    }

    /// A timestamp. In a render pass it falls where the part of the draws before it ends, by what they cost.
    pub fn stamp(
        &mut self,
        at: Option<InPass>,
        line: &mut Line,
        pool: Arc<QueryPool>,
        query: u32,
        stages: vk::PipelineStageFlags2,
    ) {
        match at {
            Some(p) => self.stamps.push(Stamp { pool, query, stages, epoch: p.epoch, views: p.views }),
            None => {
                let t = line.stamp(stages);
                self.shared.hub.change(|| pool.finish(query, &[t], t));
            }
        }
    }

    /// A query ends here; `sums`: of the pass that has just ended, in this epoch of which it did.
    fn finish(&self, a: &Active, now: &Counts, sums: Option<(&Sums, usize)>) {
        let each: Vec<Counts> = match (&a.began, sums) {
            (Began::InPass(begin), Some((sums, end))) => {
                let of = |v: &u32| sums.before_of(end, *v).since(sums.before_of(*begin, *v));
                a.views.iter().map(of).collect()
            }
            (Began::At(began), _) => vec![now.since(began)],
            (Began::InPass(_), None) => vec![Counts::default()],
        };
        self.shared.hub.change(|| {
            for (query, counted) in (a.query..).zip(&each) {
                a.pool.finish_counts(query, a.pass, counted, self.ended_at);
            }
            // One that ended elsewhere has all in its first.
            for query in (a.query..).skip(each.len()).take(a.views.len().saturating_sub(each.len())) {
                a.pool.finish_counts(query, a.pass, &Counts::default(), self.ended_at);
            }
        });
    }

    /// Everything counted so far, but what a pass under way has.
    pub fn total(&self) -> &Counts {
        &self.total
    }

    /// Everything counted up to this epoch of the pass that has just ended.
    pub fn at(&self, sums: &Sums, epoch: usize) -> Counts {
        let mut s = self.total;
        s += &sums.before(epoch);
        s
    }

    /// The pass's tiles are drawn, and these are its times.
    pub fn pass_ended(&mut self, sums: &Sums, times: &Times, line: &mut Line) {
        self.ended_at = self.ended_at.max(times.spans[1].end);
        for (a, epoch) in std::mem::take(&mut self.ended) {
            self.finish(&a, &self.at(sums, epoch), Some((sums, epoch)));
        }
        for i in 0..self.active.len() {
            if let Began::InPass(e) = self.active[i].began {
                self.active[i].began = Began::At(Box::new(self.at(sums, e)));
            }
        }
        self.total += &sums.all();
        // Views follow one another, each with stamps of its own, in their order.
        let mut told = vec![line.told(); times.views()];
        for s in std::mem::take(&mut self.stamps) {
            let early = vk::PipelineStageFlags2::TOP_OF_PIPE
                | vk::PipelineStageFlags2::DRAW_INDIRECT
                | vk::PipelineStageFlags2::VERTEX_INPUT
                | vk::PipelineStageFlags2::VERTEX_SHADER;
            self.shared.hub.change(|| {
                for (query, view) in (s.query..).zip(&s.views) {
                    let [binning, main] = times.at_of(s.epoch, *view);
                    let t = if early.contains(s.stages) { binning } else { main };
                    let t = told[times.place(*view)].tell(t);
                    s.pool.finish(query, &[t], t);
                }
            });
        }
        told.into_iter().for_each(|t| line.also_told(t));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_stored_as_asked() {
        let (whole, float) = (Value::Uint64((1 << 40) + 5), Value::Float64(2.75));
        assert_eq!([word(whole, None), word(float, None)], [(1 << 40) + 5, 2.75f64.to_bits()]);
        for (storage, want) in [
            (Storage::Uint64, [(1 << 40) + 5, 2]),
            (Storage::Int64, [(1 << 40) + 5, 2]),
            // What does not fit is the greatest that does; the upper half is zero.
            (Storage::Uint32, [u64::from(u32::MAX), 2]),
            (Storage::Int32, [i32::MAX as u64, 2]),
            (Storage::Float32, [((1u64 << 40) as f32).to_bits(), 2.75f32.to_bits()].map(u64::from)),
            (Storage::Float64, [(((1u64 << 40) + 5) as f64).to_bits(), 2.75f64.to_bits()]),
        ] {
            assert_eq!([whole, float].map(|v| word(v, Some(storage))), want, "{storage:?}");
        }
    }
}

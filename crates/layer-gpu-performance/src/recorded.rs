//! What a command buffer holds once it is recorded: its workloads, and where the results of their queries are.

use crate::device::Device;
use crate::slots::Slot;
use crate::table::next;
use ash::vk;
use parking_lot::Mutex;
use std::sync::Arc;

/// Words of 64 bits of a timestamp in memory: the value, and whether it is there.
const STAMP: u32 = 2;
pub(crate) const WORD: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum WorkloadKind {
    Dispatch,
    Trace,
    Build,
    RenderPass,
    Copy,
    Blit,
    Clear,
    Fill,
    Update,
    Resolve,
}

impl WorkloadKind {
    pub fn text(self) -> &'static str {
        match self {
            WorkloadKind::Dispatch => "dispatch",
            WorkloadKind::Trace => "trace rays",
            WorkloadKind::Build => "build",
            WorkloadKind::RenderPass => "render pass",
            WorkloadKind::Copy => "copy",
            WorkloadKind::Blit => "blit",
            WorkloadKind::Clear => "clear",
            WorkloadKind::Fill => "fill",
            WorkloadKind::Update => "update",
            WorkloadKind::Resolve => "resolve",
        }
    }
}

/// Labels at a place of a command buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    /// Labels of the queue, or of the primary, that the command buffer has ended.
    pub popped: usize,
    /// Its own that are open, outermost first.
    pub open: Vec<Arc<str>>,
}

impl Labels {
    pub fn begin(&mut self, name: Arc<str>) {
        self.open.push(name);
    }
    pub fn end(&mut self) {
        if self.open.pop().is_none() {
            self.popped += 1;
        }
    }
    /// What is open inside `outer`.
    pub fn within(&self, outer: &[Arc<str>]) -> Vec<Arc<str>> {
        let kept = outer.len().saturating_sub(self.popped);
        outer[..kept].iter().chain(&self.open).cloned().collect()
    }
}

/// Timestamps inside a multiview pass: as many queries from each slot on as it has views.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Views {
    pub begin: Slot,
    pub end: Slot,
    pub count: u32,
    /// They are written. Else there was no place for one inside the pass.
    pub told: bool,
}

/// A workload.
#[derive(Debug)]
pub(crate) struct Work {
    /// The number of its label `t<tag>`: one for each recorded workload of the process.
    pub tag: u32,
    pub kind: WorkloadKind,
    pub name: String,
    pub labels: Arc<Labels>,
    /// The first part of a suspended pass has a beginning alone, the last an end.
    pub begin: Option<Slot>,
    pub end: Option<Slot>,
    pub views: Option<Views>,
    /// Its performance query.
    pub counts: Option<Slot>,
    pub resumes: bool,
    pub suspends: bool,
    /// Direct dispatches of no workgroups do nothing: the driver has no record of them.
    pub empty: bool,
    /// Why its time is not measured.
    pub reason: Option<String>,
    /// Why it has no performance query.
    pub uncounted: Option<&'static str>,
}

/// Where the results of an executed secondary are when the primary has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Results {
    /// In its own query pools.
    Pools,
    /// Put aside before it was executed again: buffer and offset.
    Aside(vk::Buffer, u64),
    /// Gone.
    Lost(&'static str),
}

#[derive(Debug)]
pub(crate) enum Item {
    /// Index among the workloads.
    Work(usize),
    Secondary {
        recorded: Arc<Recorded>,
        labels: Arc<Labels>,
        results: Results,
    },
}

/// What a command buffer's query pool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Stamps,
    /// The timestamps of views, some of which may not be written.
    Views,
    /// Performance queries of so many words each; copied and reset on the device, or read and reset by the host.
    Counts {
        words: u32,
        copied: bool,
    },
}

impl Use {
    /// Words of a query's result.
    fn words(self) -> u32 {
        match self {
            Use::Stamps | Use::Views => STAMP,
            Use::Counts { words, copied } => words * u32::from(copied),
        }
    }
}

/// A query pool of a command buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolUse {
    pub pool: vk::QueryPool,
    /// Its first so many queries are written.
    pub used: u32,
    /// Words of the pools before it.
    pub base: u32,
    pub what: Use,
}

impl PoolUse {
    /// Words of all its results.
    pub fn words(&self) -> u32 {
        self.used * self.what.words()
    }
}

/// The last submission of a command buffer that may be pending several times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastUse {
    pub queue: vk::Queue,
    /// What the submission signals when it has ended.
    pub signal: (vk::Semaphore, u64),
}

#[derive(Debug)]
pub(crate) struct Recorded {
    /// The queue family that it is for.
    pub family: u32,
    pub works: Vec<Work>,
    pub items: Vec<Item>,
    pub pools: Vec<PoolUse>,
    /// VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, or a secondary has it.
    pub simultaneous: bool,
    pub ends_suspended: bool,
    /// Labels that it leaves.
    pub labels: Labels,
    pub last_use: Mutex<Option<LastUse>>,
}

impl Recorded {
    /// Words of its own results.
    pub fn own(&self) -> u32 {
        self.pools.iter().map(PoolUse::words).sum()
    }

    /// Pools of performance queries, its own and of what it executes, that are copied or not.
    fn counting(self: &Arc<Recorded>, by_device: bool) -> impl Iterator<Item = &PoolUse> {
        let is = move |p: &&PoolUse| matches!(p.what, Use::Counts { copied, .. } if copied == by_device);
        self.all().flat_map(|r| &r.pools).filter(is)
    }

    /// It or what it executes has performance queries that are copied, or that the host reads.
    pub fn counts(self: &Arc<Recorded>, by_device: bool) -> bool {
        self.counting(by_device).next().is_some()
    }

    pub fn secondaries(&self) -> impl Iterator<Item = (&Arc<Recorded>, Results)> {
        self.items.iter().filter_map(|i| match i {
            Item::Secondary { recorded, results, .. } => Some((recorded, *results)),
            Item::Work(_) => None,
        })
    }

    /// Words of the results of one execution, with those of its secondaries.
    pub fn total(&self) -> u32 {
        self.own() + self.secondaries().map(|(s, _)| s.own()).sum::<u32>()
    }

    /// It, and what it executes.
    pub fn all(self: &Arc<Recorded>) -> impl Iterator<Item = &Arc<Recorded>> {
        std::iter::once(self).chain(self.secondaries().map(|(s, _)| s))
    }

    /// Where the words of a slot begin among its own.
    pub fn place(&self, slot: Slot) -> usize {
        let p = &self.pools[slot.pool as usize];
        (p.base + slot.query * p.what.words()) as usize
    }

    /// Resets what the host reads.
    pub unsafe fn reset_by_host(self: &Arc<Recorded>, d: &Device) {
        // SAFETY: the caller's.
        unsafe {
            for p in self.counting(false) {
                next!(d, reset_query_pool(d.handle, p.pool, 0, p.used));
            }
        }
    }

    /// Records that what is copied is reset.
    pub unsafe fn reset_by_device(self: &Arc<Recorded>, d: &Device, to: vk::CommandBuffer) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            for p in self.counting(true) {
                next!(d, cmd_reset_query_pool(to, p.pool, 0, p.used));
            }
        }
    }

    /// Records the copies of its own results, in the order of their slots.
    pub unsafe fn copy_own(&self, d: &Device, to: vk::CommandBuffer, buffer: vk::Buffer, offset: u64) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            // The results are there when this is reached, for what writes them comes before it; without WAIT the copy need
            // not be ordered after that (§ Copying Query Results). Views have that order from the end of their pass: for
            // what was not written nothing may wait, and validation layers know only the first view's (1.3.239).
            // Performance queries are 64-bit words and have no mark of availability, whatever is asked for.
            let all = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            let wait = vk::QueryResultFlags::WAIT;
            let mut pools: Vec<_> = self.pools.iter().filter(|p| p.words() > 0).collect();
            pools.sort_by_key(|p| p.what == Use::Views);
            for p in pools {
                let flags = match p.what {
                    Use::Stamps => all | wait,
                    Use::Views => all,
                    Use::Counts { .. } => wait,
                };
                let (at, stride) = (offset + u64::from(p.base) * WORD, u64::from(p.what.words()) * WORD);
                next!(d, cmd_copy_query_pool_results(to, p.pool, 0, p.used, buffer, at, stride, flags));
            }
        }
    }

    /// Records the copies of all its results: its own, then those of each secondary as it was executed.
    pub unsafe fn copy_all(&self, d: &Device, to: vk::CommandBuffer, buffer: vk::Buffer, offset: u64) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            self.copy_own(d, to, buffer, offset);
            let mut at = offset + u64::from(self.own()) * WORD;
            for (s, results) in self.secondaries() {
                match results {
                    Results::Pools => s.copy_own(d, to, buffer, at),
                    Results::Aside(from, place) if s.own() > 0 => {
                        let size = u64::from(s.own()) * WORD;
                        let region = vk::BufferCopy { src_offset: place, dst_offset: at, size };
                        next!(d, cmd_copy_buffer(to, from, buffer, 1, &region));
                    }
                    Results::Aside(..) | Results::Lost(_) => {}
                }
                at += u64::from(s.own()) * WORD;
            }
        }
    }

    /// Some results were put aside.
    pub fn has_aside(&self) -> bool {
        self.secondaries().any(|(_, r)| matches!(r, Results::Aside(..)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_reach_over_command_buffers() {
        let outer: Vec<Arc<str>> = ["a", "b"].map(Arc::from).to_vec();
        let mut l = Labels::default();
        l.begin("c".into());
        assert_eq!(l.within(&outer).join("/"), "a/b/c");
        l.end();
        l.end();
        l.begin("d".into());
        assert_eq!(l.within(&outer).join("/"), "a/d");
        l.end();
        l.end();
        // One more than there are.
        l.end();
        assert_eq!(l.within(&outer).len(), 0);
    }
}

//! A command buffer while it is recorded: what the layer puts around each workload.
//!
//! In front of a workload: with serialisation a full barrier, in counter mode a label `t<tag>` or the begin of a
//! performance query, a timestamp of TOP_OF_PIPE. After it: a timestamp of BOTTOM_OF_PIPE, the label's or the query's
//! end, a full barrier. Nothing of this stands in a render pass, but the timestamps of a multiview pass's views.

use crate::arena::Region;
use crate::device::{Device, PoolInfo, Source};
use crate::recorded::{Item, Labels, PoolUse, Recorded, Results, Use, Views, WORD, Work, WorkloadKind};
use crate::slots::{POOL, Slot};
use crate::table::next;
use ash::vk;
use parking_lot::Mutex;
use std::sync::Arc;
use vk::{AccessFlags as Access, PipelineStageFlags as Stages};

/// A pass between its begin and end.
pub(crate) struct Pass {
    work: usize,
    suspends: bool,
    /// Commands, not secondaries, are recorded in the subpass under way.
    pub inline: bool,
}

pub(crate) struct Recording {
    handle: vk::CommandBuffer,
    pub pool: Arc<PoolInfo>,
    secondary: bool,
    simultaneous: bool,
    /// It is submitted at most once.
    once: bool,
    /// It begins with the rest of a suspended pass.
    resumes: bool,
    /// A secondary that lies in a pass of its primary: part of that.
    in_pass: bool,
    pools: Vec<PoolUse>,
    works: Vec<Work>,
    items: Vec<Item>,
    labels: Labels,
    /// `labels` as the last workload shares it.
    shared: Option<Arc<Labels>>,
    /// A label that was inserted: the next workload's.
    inserted: Option<Arc<str>>,
    pass: Option<Pass>,
    suspended: bool,
    /// The compute pipeline that is bound.
    pub pipeline: vk::Pipeline,
    /// The ray tracing pipeline that is bound.
    pub rays: vk::Pipeline,
    aside: Vec<Region>,
    done: Option<Arc<Recorded>>,
}

/// A view's timestamps need this many queries in one pool.
const MAX_VIEWS: u32 = POOL / 2;

const SUSPENDED: &str =
    "not counted: a suspended pass, whose query would have to end in another command buffer";

impl Recording {
    pub fn new(handle: vk::CommandBuffer, pool: Arc<PoolInfo>, secondary: bool) -> Recording {
        Recording {
            handle,
            pool,
            secondary,
            simultaneous: false,
            once: false,
            resumes: false,
            in_pass: false,
            pools: vec![],
            works: vec![],
            items: vec![],
            labels: Labels::default(),
            shared: None,
            inserted: None,
            pass: None,
            suspended: false,
            pipeline: vk::Pipeline::null(),
            rays: vk::Pipeline::null(),
            aside: vec![],
            done: None,
        }
    }

    /// Gives everything back that it has of the device, and forgets what was recorded.
    pub fn reset(&mut self, d: &Device) {
        for p in self.pools.drain(..) {
            d.pools(p.what, self.pool.family).give_back(p.pool);
        }
        self.aside.drain(..).for_each(|r| d.aside.give_back(&r));
        *self = Recording::new(self.handle, self.pool.clone(), self.secondary);
    }

    /// It was reset, and is recorded now.
    pub fn begin(&mut self, flags: vk::CommandBufferUsageFlags) {
        self.simultaneous = flags.contains(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        self.once = flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        self.in_pass = flags.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE);
    }

    /// What it holds is fixed now.
    pub fn end(&mut self) {
        let items = std::mem::take(&mut self.items);
        let mut base = 0;
        for p in &mut self.pools {
            p.base = base;
            base += p.words();
        }
        let secondary = |i: &Item| matches!(i, Item::Secondary { recorded, .. } if recorded.simultaneous);
        self.done = Some(Arc::new(Recorded {
            family: self.pool.family,
            simultaneous: self.simultaneous || items.iter().any(secondary),
            works: std::mem::take(&mut self.works),
            items,
            pools: self.pools.clone(),
            ends_suspended: self.suspended,
            labels: std::mem::take(&mut self.labels),
            last_use: Mutex::default(),
        }));
    }

    pub fn done(&self) -> Option<Arc<Recorded>> {
        self.done.clone()
    }

    pub fn begin_label(&mut self, name: Arc<str>) {
        self.labels.begin(name);
        self.shared = None;
    }

    pub fn end_label(&mut self) {
        self.labels.end();
        self.shared = None;
    }

    pub fn insert_label(&mut self, name: Arc<str>) {
        self.inserted = Some(name);
    }

    /// Labels of the next workload.
    fn current(&mut self) -> Arc<Labels> {
        let shared = self.shared.get_or_insert_with(|| Arc::new(self.labels.clone()));
        match self.inserted.take() {
            None => shared.clone(),
            Some(name) => {
                let mut labels = Labels::clone(shared);
                labels.begin(name);
                Arc::new(labels)
            }
        }
    }

    /// `n` consecutive queries, of pools for this use. A pool of timestamps is reset where its first are taken: outside
    /// passes alone. What counts is reset by the host, and again before it is used again.
    unsafe fn take(&mut self, d: &Device, n: u32, what: Use) -> Result<Slot, vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let pools = d.pools(what, self.pool.family);
            let at = match self.room(n, what, pools.size) {
                Some(at) => at,
                None => {
                    let pool = pools.take(d)?;
                    match what {
                        Use::Counts { .. } => next!(d, reset_query_pool(d.handle, pool, 0, pools.size)),
                        _ => next!(d, cmd_reset_query_pool(self.handle, pool, 0, pools.size)),
                    }
                    self.pools.push(PoolUse { pool, used: 0, base: 0, what });
                    self.pools.len() - 1
                }
            };
            let query = self.pools[at].used;
            self.pools[at].used += n;
            Ok(Slot { pool: at as u32, query })
        }
    }

    /// The last pool for this use, if it has so many queries left.
    fn room(&self, n: u32, what: Use, size: u32) -> Option<usize> {
        let last = self.pools.iter().rposition(|p| p.what == what);
        last.filter(|at| self.pools[*at].used + n <= size)
    }

    unsafe fn stamp(&self, d: &Device, stage: Stages, slot: Slot) {
        // SAFETY: the caller's.
        unsafe {
            let pool = self.pools[slot.pool as usize].pool;
            next!(d, cmd_write_timestamp(self.handle, stage, pool, slot.query));
        }
    }

    /// Everything before is done, and seen, before anything after begins.
    unsafe fn barrier(&self, d: &Device) {
        // SAFETY: the caller's.
        unsafe {
            if d.settings.serialise {
                let all = Access::MEMORY_READ | Access::MEMORY_WRITE;
                memory_barrier(d, self.handle, [Stages::ALL_COMMANDS, Stages::ALL_COMMANDS], [all, all]);
            }
        }
    }

    unsafe fn begin_tag(&self, d: &Device, tag: u32) {
        // SAFETY: the caller's.
        unsafe {
            if matches!(d.source, Source::Channel(_)) {
                let name = std::ffi::CString::new(format!("t{tag}")).unwrap_or_default();
                let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
                next!(d, cmd_begin_label(self.handle, &label));
            }
        }
    }

    /// A workload begins: its place among the works. `None` inside of passes, whose part it is.
    pub unsafe fn open(&mut self, d: &Device, kind: WorkloadKind, name: String) -> Option<usize> {
        // SAFETY: the caller's.
        unsafe {
            if self.in_pass || self.pass.is_some() {
                return None;
            }
            Some(self.open_part(d, kind, name, 0, (false, false)))
        }
    }

    unsafe fn open_part(
        &mut self,
        d: &Device,
        kind: WorkloadKind,
        name: String,
        views: u32,
        (resumes, suspends): (bool, bool),
    ) -> usize {
        // SAFETY: the caller's.
        unsafe {
            let labels = self.current();
            let tag = crate::device::next_tag();
            let reason = self.pool.unmeasured.map(String::from);
            let mut w = Work {
                tag,
                kind,
                name,
                labels,
                begin: None,
                end: None,
                views: None,
                counts: None,
                resumes,
                suspends,
                empty: false,
                reason,
                // It began elsewhere.
                uncounted: (resumes && matches!(d.source, Source::Queries(_))).then_some(SUSPENDED),
            };
            self.resumes |= resumes && self.items.is_empty();
            if !resumes {
                self.barrier(d);
                if w.reason.is_none()
                    && let Err(e) = self.slots(d, &mut w, views)
                {
                    w.reason = Some(format!("no query pool: {e:?}"));
                }
                self.begin_tag(d, tag);
                self.begin_counting(d, &mut w);
                if let Some(slot) = w.begin {
                    self.stamp(d, Stages::TOP_OF_PIPE, slot);
                }
            }
            self.works.push(w);
            self.works.len() - 1
        }
    }

    /// Begins a performance query, or says why not. Where the time is not measured that is told.
    unsafe fn begin_counting(&mut self, d: &Device, w: &mut Work) {
        // SAFETY: the caller's.
        unsafe {
            let Source::Queries(q) = &d.source else { return };
            if w.reason.is_some() {
                return;
            }
            let family = self.pool.family;
            let what = Use::Counts { words: q.words(family), copied: self.simultaneous };
            let is_new = self.room(1, what, d.pools(what, family).size).is_none();
            let another = is_new && self.pools.iter().any(|p| p.what == what);
            let refused = if w.suspends {
                Some(SUSPENDED)
            } else if self.resumes {
                Some("not counted: its command buffer begins with the rest of a suspended pass")
            } else if self.secondary && !self.once {
                Some(
                    "not counted: a secondary command buffer that may be executed again without a reset of its queries",
                )
            } else {
                q.refusal(family, another, self.secondary, self.simultaneous)
            };
            w.uncounted = refused;
            if refused.is_some() {
                return;
            }
            match self.take(d, 1, what) {
                Ok(slot) => {
                    let pool = self.pools[slot.pool as usize].pool;
                    next!(d, cmd_begin_query(self.handle, pool, slot.query, vk::QueryControlFlags::empty()));
                    w.counts = Some(slot);
                }
                Err(_) => w.uncounted = Some("not counted: no query pool"),
            }
        }
    }

    /// Takes all that the workload needs while no pass is under way.
    unsafe fn slots(&mut self, d: &Device, w: &mut Work, views: u32) -> Result<(), vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            w.begin = Some(self.take(d, 1, Use::Stamps)?);
            if w.suspends {
                return Ok(());
            }
            w.end = Some(self.take(d, 1, Use::Stamps)?);
            if views > 1 && views <= MAX_VIEWS {
                let (begin, end) = (self.take(d, views, Use::Views)?, self.take(d, views, Use::Views)?);
                w.views = Some(Views { begin, end, count: views, told: false });
            }
            Ok(())
        }
    }

    /// A workload ends.
    pub unsafe fn close(&mut self, d: &Device, at: usize) {
        // SAFETY: the caller's.
        unsafe {
            if self.works[at].resumes && !self.works[at].suspends && self.works[at].reason.is_none() {
                match self.take(d, 1, Use::Stamps) {
                    Ok(slot) => self.works[at].end = Some(slot),
                    Err(e) => self.works[at].reason = Some(format!("no query pool: {e:?}")),
                }
            }
            self.items.push(Item::Work(at));
            let w = &self.works[at];
            if w.suspends {
                return;
            }
            if let Some(slot) = w.end {
                self.stamp(d, Stages::BOTTOM_OF_PIPE, slot);
            }
            if let Some(slot) = w.counts {
                next!(d, cmd_end_query(self.handle, self.pools[slot.pool as usize].pool, slot.query));
            }
            if matches!(d.source, Source::Channel(_)) {
                next!(d, cmd_end_label(self.handle));
            }
            self.barrier(d);
        }
    }

    /// Marks a direct dispatch of no workgroups.
    pub fn empty(&mut self, at: usize) {
        self.works[at].empty = true;
    }

    /// A pass is about to begin. `views`: 1 without multiview, 0 where subpasses differ.
    pub unsafe fn open_pass(&mut self, d: &Device, name: String, views: u32, flags: vk::RenderingFlags) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if self.in_pass || self.pass.is_some() {
                return;
            }
            let resumes = flags.contains(vk::RenderingFlags::RESUMING);
            let suspends = flags.contains(vk::RenderingFlags::SUSPENDING);
            let work = self.open_part(d, WorkloadKind::RenderPass, name, views, (resumes, suspends));
            self.pass = Some(Pass { work, suspends, inline: false });
        }
    }

    /// The pass has begun: views' beginnings.
    pub unsafe fn begun_pass(&mut self, d: &Device, inline: bool) {
        // SAFETY: the caller's.
        unsafe {
            let Some(p) = &mut self.pass else { return };
            p.inline = inline;
            let w = &mut self.works[p.work];
            let Some(v) = w.views.as_mut().filter(|_| inline) else { return };
            v.told = true;
            let slot = v.begin;
            self.stamp(d, Stages::BOTTOM_OF_PIPE, slot);
        }
    }

    pub fn next_subpass(&mut self, inline: bool) {
        if let Some(p) = &mut self.pass {
            p.inline = inline;
        }
    }

    /// The pass is about to end: views' ends.
    pub unsafe fn closing_pass(&mut self, d: &Device) {
        // SAFETY: the caller's.
        unsafe {
            let Some(p) = &self.pass else { return };
            let Some(v) = self.works[p.work].views.filter(|v| v.told) else { return };
            if p.inline {
                self.stamp(d, Stages::BOTTOM_OF_PIPE, v.end);
            }
        }
    }

    /// The pass has ended.
    pub unsafe fn close_pass(&mut self, d: &Device) {
        // SAFETY: the caller's.
        unsafe {
            let Some(p) = self.pass.take() else { return };
            self.suspended = p.suspends;
            self.close(d, p.work);
        }
    }

    /// Inside a pass, or between the parts of a suspended one, where nothing may be recorded.
    fn closed(&self) -> bool {
        self.in_pass || self.pass.is_some() || self.suspended
    }

    /// Secondaries are executed, one by one where they have workloads of their own. `false`: nothing was recorded, for
    /// they are a pass's.
    pub unsafe fn execute(
        &mut self,
        d: &Device,
        list: &[(vk::CommandBuffer, Option<Arc<Recorded>>)],
    ) -> bool {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if self.in_pass || self.pass.is_some() {
                return false;
            }
            for (handle, recorded) in list {
                if let Some(r) = recorded.as_ref().filter(|r| !r.items.is_empty()) {
                    self.put_aside(d, r);
                    let labels = self.current();
                    self.items.push(Item::Secondary { recorded: r.clone(), labels, results: Results::Pools });
                }
                next!(d, cmd_execute_commands(self.handle, 1, handle));
                if let Some(r) = recorded.as_ref().filter(|r| !r.items.is_empty()) {
                    self.suspended = r.ends_suspended;
                }
            }
            true
        }
    }

    /// What this secondary measured is about to be overwritten, if it was executed before: copies it.
    unsafe fn put_aside(&mut self, d: &Device, again: &Arc<Recorded>) {
        // SAFETY: the caller's.
        unsafe {
            let closed = self.closed();
            let handle = self.handle;
            for item in self.items.iter_mut().rev() {
                let Item::Secondary { recorded, results: results @ Results::Pools, .. } = item else {
                    continue;
                };
                if !Arc::ptr_eq(recorded, again) || again.own() == 0 {
                    continue;
                }
                if closed {
                    *results = Results::Lost("executed again inside of a suspended pass");
                    continue;
                }
                let Ok(region) = d.aside.take(d, u64::from(again.own()) * WORD) else {
                    *results = Results::Lost("no memory to put its timestamps aside");
                    continue;
                };
                // An earlier submission of this command buffer may still be read from there.
                let stages = [Stages::TRANSFER, Stages::TRANSFER];
                memory_barrier(d, handle, stages, [Access::TRANSFER_READ, Access::TRANSFER_WRITE]);
                again.copy_own(d, handle, region.buffer, region.offset);
                *results = Results::Aside(region.buffer, region.offset);
                self.aside.push(region);
            }
        }
    }
}

/// Records a memory barrier: stages and accesses of the first and second scope.
pub(crate) unsafe fn memory_barrier(
    d: &Device,
    to: vk::CommandBuffer,
    stages: [Stages; 2],
    access: [Access; 2],
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let b = vk::MemoryBarrier::default().src_access_mask(access[0]).dst_access_mask(access[1]);
        let none = vk::DependencyFlags::empty();
        let (p, q) = (std::ptr::null(), std::ptr::null());
        next!(d, cmd_pipeline_barrier(to, stages[0], stages[1], none, 1, &b, 0, p, 0, q));
    }
}

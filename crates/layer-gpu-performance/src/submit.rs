//! Everything that is submitted: batches of both kinds, sparse bindings, presents. The program's structures are copied
//! where something is added to them.

use crate::chain::{self, Chain, slice};
use crate::device::{self, Device, Source};
use crate::guard::caught;
use crate::line::Operation;
use crate::queue::{App, Change, Plan};
use crate::table::next;
use ash::vk;
use std::ffi::c_void;
use vk::Result as R;

const FAILED: R = R::ERROR_INITIALIZATION_FAILED;
const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

/// Plans these batches, makes the call with what is changed of them, and keeps or drops the plan by its result. `call`
/// gets nothing where the batches are to go as they are.
unsafe fn submit(
    queue: vk::Queue,
    batches: impl FnOnce(&Device) -> Vec<App>,
    call: impl FnOnce(&Device, &[Change]) -> R,
) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(queue) else { return FAILED };
        let Some(q) = d.queue(queue) else { return d.seen(call(&d, &[])) };
        let result = {
            let mut q = q.lock();
            let batches = caught(|| {
                q.collect(&d, false);
                let batches = batches(&d);
                if matches!(d.source, Source::Queries(_)) {
                    let buffers = batches.iter().flat_map(|b| &b.buffers);
                    buffers.filter_map(|c| d.recorded(*c)).for_each(|r| q.settle(&d, &r));
                }
                batches
            });
            // Held over the call: on all queues the order of the line is that of the driver's calls.
            let mut line = d.line.as_ref().map(|l| l.lock());
            let mut plan = Plan::default();
            let mut before = None;
            caught(|| {
                let batches = batches.unwrap_or_default();
                let signals = batches.iter().flat_map(|b| &b.signals);
                before = line.as_ref().map(|l| l.before(signals));
                batches.into_iter().for_each(|b| q.plan(&d, line.as_deref_mut(), b, &mut plan));
            });
            let result = call(&d, &plan.changes);
            caught(|| {
                if result == R::SUCCESS {
                    q.commit(plan);
                } else {
                    q.cancel(plan);
                    if let (Some(line), Some(before)) = (&mut line, before) {
                        line.restore(before);
                    }
                }
            });
            result
        };
        d.seen(result)
    }
}

/// Operations on semaphores with the values of a VkTimelineSemaphoreSubmitInfo; 0 where there are none.
unsafe fn operations(semaphores: &[vk::Semaphore], values: &[u64]) -> Vec<Operation> {
    let value = |i: usize| values.get(i).copied().unwrap_or(0);
    semaphores.iter().enumerate().map(|(i, s)| (*s, value(i))).collect()
}

unsafe fn operations2(p: *const vk::SemaphoreSubmitInfo<'_>, count: u32) -> Vec<Operation> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { slice(p, count).iter().map(|s| (s.semaphore, s.value)).collect() }
}

/// Values of waits and signals in a chain.
unsafe fn values<'a>(p_next: *const c_void) -> (&'a [u64], &'a [u64]) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::find::<vk::TimelineSemaphoreSubmitInfo>(p_next).map_or((&[], &[]), |t| {
            (
                slice(t.p_wait_semaphore_values, t.wait_semaphore_value_count),
                slice(t.p_signal_semaphore_values, t.signal_semaphore_value_count),
            )
        })
    }
}

/// What a batch of an older kind has: a VkSubmitInfo's, or a VkBindSparseInfo's.
#[derive(Clone, Copy)]
struct Own<'a> {
    p_next: *const c_void,
    waits: &'a [vk::Semaphore],
    stages: &'a [vk::PipelineStageFlags],
    buffers: &'a [vk::CommandBuffer],
    signals: &'a [vk::Semaphore],
}

impl<'a> Own<'a> {
    unsafe fn submitted(s: &vk::SubmitInfo<'a>) -> Own<'a> {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            Own {
                p_next: s.p_next,
                waits: slice(s.p_wait_semaphores, s.wait_semaphore_count),
                stages: slice(s.p_wait_dst_stage_mask, s.wait_semaphore_count),
                buffers: slice(s.p_command_buffers, s.command_buffer_count),
                signals: slice(s.p_signal_semaphores, s.signal_semaphore_count),
            }
        }
    }

    unsafe fn bound(s: &vk::BindSparseInfo<'a>) -> Own<'a> {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            Own {
                p_next: s.p_next,
                waits: slice(s.p_wait_semaphores, s.wait_semaphore_count),
                stages: &[],
                buffers: &[],
                signals: slice(s.p_signal_semaphores, s.signal_semaphore_count),
            }
        }
    }

    unsafe fn app(&self, d: &Device) -> App {
        // SAFETY: the caller's.
        unsafe {
            let (waits, signals) = values(self.p_next);
            App {
                buffers: self.buffers.to_vec(),
                waits: operations(self.waits, waits),
                signals: operations(self.signals, signals),
                frame: d.frames.of_batch(self.p_next),
            }
        }
    }
}

/// The program's array with what is added.
fn with<T: Copy>(own: &[T], added: impl IntoIterator<Item = T>) -> Vec<T> {
    own.iter().copied().chain(added).collect()
}

/// The program's array after what is added: the layer knows of a batch's end before the program does.
fn behind<T: Copy>(own: &[T], added: impl IntoIterator<Item = T>) -> Vec<T> {
    added.into_iter().chain(own.iter().copied()).collect()
}

/// What a changed batch points to.
struct Batch {
    buffers: Vec<vk::CommandBuffer>,
    waits: Vec<vk::Semaphore>,
    stages: Vec<vk::PipelineStageFlags>,
    signals: Vec<vk::Semaphore>,
    wait_values: Vec<u64>,
    signal_values: Vec<u64>,
    chain: Chain,
    timeline: Box<vk::TimelineSemaphoreSubmitInfo<'static>>,
    /// VkDeviceGroupSubmitInfo's: waits, masks, signals.
    group: [Vec<u32>; 3],
}

impl Batch {
    /// Copies a chain, with values for all semaphores and a device group's arrays as long as the batch's are. An error
    /// where that cannot be: a structure that is not known stands before what is to be changed.
    unsafe fn new(own: &Own, change: &Change) -> Result<Batch, vk::StructureType> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let Own { p_next, waits, stages, buffers, signals } = *own;
            let (own_waits, own_signals) = values(p_next);
            let semaphores = |o: &[Operation]| o.iter().map(|o| o.0).collect::<Vec<_>>();
            let padded =
                |own: &[u64], n: usize| (0..n).map(|i| own.get(i).copied().unwrap_or(0)).collect::<Vec<_>>();
            let added = |o: &[Operation]| o.iter().map(|o| o.1).collect::<Vec<_>>();
            let mut b = Batch {
                buffers: change
                    .buffers
                    .as_ref()
                    .map_or(buffers.to_vec(), |list| list.iter().map(|c| c.0).collect()),
                waits: with(waits, semaphores(&change.waits)),
                stages: with(stages, change.waits.iter().map(|_| ALL)),
                signals: behind(signals, semaphores(&change.signals)),
                wait_values: with(&padded(own_waits, waits.len()), added(&change.waits)),
                signal_values: behind(&padded(own_signals, signals.len()), added(&change.signals)),
                chain: Chain::copy(p_next),
                timeline: Box::default(),
                group: [vec![], vec![], vec![]],
            };
            if !change.waits.is_empty() || !change.signals.is_empty() {
                let (w, s) = (&b.wait_values, &b.signal_values);
                let fill = |t: &mut vk::TimelineSemaphoreSubmitInfo| {
                    (t.wait_semaphore_value_count, t.p_wait_semaphore_values) = (w.len() as u32, w.as_ptr());
                    (t.signal_semaphore_value_count, t.p_signal_semaphore_values) =
                        (s.len() as u32, s.as_ptr());
                };
                match b.chain.find::<vk::TimelineSemaphoreSubmitInfo>()? {
                    Some(t) => fill(t),
                    None => {
                        fill(&mut b.timeline);
                        b.chain.push(&mut *b.timeline);
                    }
                }
            }
            if let Some(g) = b.chain.find::<vk::DeviceGroupSubmitInfo>()? {
                let masks = slice(g.p_command_buffer_device_masks, g.command_buffer_count);
                // What is added runs on the first device.
                let mask = |from: Option<usize>| from.and_then(|i| masks.get(i)).copied().unwrap_or(1);
                let masks = match &change.buffers {
                    Some(list) if !masks.is_empty() => list.iter().map(|c| mask(c.1)).collect(),
                    _ => masks.to_vec(),
                };
                let first = |own: &[u32], added: &[Operation]| match own.is_empty() {
                    true => vec![],
                    false => added.iter().map(|_| 0).collect(),
                };
                let waits = slice(g.p_wait_semaphore_device_indices, g.wait_semaphore_count);
                let signals = slice(g.p_signal_semaphore_device_indices, g.signal_semaphore_count);
                let (more_waits, more_signals) =
                    (first(waits, &change.waits), first(signals, &change.signals));
                b.group = [with(waits, more_waits), masks, behind(signals, more_signals)];
                let [w, m, s] = &b.group;
                (g.wait_semaphore_count, g.p_wait_semaphore_device_indices) = (w.len() as u32, w.as_ptr());
                (g.command_buffer_count, g.p_command_buffer_device_masks) = (m.len() as u32, m.as_ptr());
                (g.signal_semaphore_count, g.p_signal_semaphore_device_indices) =
                    (s.len() as u32, s.as_ptr());
            }
            Ok(b)
        }
    }
}

impl Change {
    fn is_none(&self) -> bool {
        self.buffers.is_none() && self.waits.is_empty() && self.signals.is_empty()
    }
}

/// What the call's batches become; an error where nothing is known of a structure, so that its batch cannot be changed.
unsafe fn changed(own: &[Own], changes: &[Change]) -> Result<Vec<Batch>, R> {
    // SAFETY: the caller's.
    unsafe {
        let parts = own.iter().zip(changes).map(|(o, c)| Batch::new(o, c));
        parts.collect::<Result<_, _>>().map_err(|s| {
            crate::say(&format!("a submission's chain has a structure that is unknown here ({s:?})"));
            FAILED
        })
    }
}

/// Hands batches to the next layer: as they are where nothing changes, or else what they become.
unsafe fn submit_own(
    queue: vk::Queue,
    own: Vec<Own>,
    unchanged: impl Fn(&Device) -> R,
    next: impl Fn(&Device, &[Batch]) -> R,
) -> R {
    // SAFETY: the caller's: what the batches point to is as the specification says.
    unsafe {
        let batches = |d: &Device| own.iter().map(|o| o.app(d)).collect();
        submit(queue, batches, |d, changes| {
            if changes.iter().all(Change::is_none) {
                return unchanged(d);
            }
            changed(&own, changes).map_or_else(|result| result, |parts| next(d, &parts))
        })
    }
}

pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let own = slice(infos, count).iter().map(|s| Own::submitted(s)).collect();
        let unchanged = |d: &Device| next!(d, queue_submit(queue, count, infos, fence), else FAILED);
        submit_own(queue, own, unchanged, |d, parts| {
            let info = |b: &Batch| {
                let mut s = vk::SubmitInfo::default()
                    .wait_semaphores(&b.waits)
                    .wait_dst_stage_mask(&b.stages)
                    .command_buffers(&b.buffers)
                    .signal_semaphores(&b.signals);
                s.p_next = b.chain.head();
                // SAFETY: what it points to outlives the call.
                std::mem::transmute::<vk::SubmitInfo<'_>, vk::SubmitInfo<'static>>(s)
            };
            let list: Vec<_> = parts.iter().map(info).collect();
            next!(d, queue_submit(queue, count, list.as_ptr(), fence), else FAILED)
        })
    }
}

pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let own = slice(infos, count);
        let batches = |d: &Device| {
            let app = |s: &vk::SubmitInfo2| {
                let buffers = slice(s.p_command_buffer_infos, s.command_buffer_info_count);
                App {
                    buffers: buffers.iter().map(|b| b.command_buffer).collect(),
                    waits: operations2(s.p_wait_semaphore_infos, s.wait_semaphore_info_count),
                    signals: operations2(s.p_signal_semaphore_infos, s.signal_semaphore_info_count),
                    frame: d.frames.of_batch(s.p_next),
                }
            };
            own.iter().map(app).collect()
        };
        submit(queue, batches, |d, changes| {
            if changes.iter().all(Change::is_none) {
                return next!(d, queue_submit2(queue, count, infos, fence), else FAILED);
            }
            let all = vk::PipelineStageFlags2::ALL_COMMANDS;
            let operation =
                |o: &Operation| vk::SemaphoreSubmitInfo::default().semaphore(o.0).value(o.1).stage_mask(all);
            let mut parts = Vec::with_capacity(own.len());
            for (s, c) in own.iter().zip(changes) {
                let waits = with(
                    slice(s.p_wait_semaphore_infos, s.wait_semaphore_info_count),
                    c.waits.iter().map(operation),
                );
                let signals = behind(
                    slice(s.p_signal_semaphore_infos, s.signal_semaphore_info_count),
                    c.signals.iter().map(operation),
                );
                let buffers = slice(s.p_command_buffer_infos, s.command_buffer_info_count);
                let buffers = match &c.buffers {
                    None => buffers.to_vec(),
                    Some(list) => list
                        .iter()
                        .map(|(c, from)| match from {
                            Some(i) => buffers[*i],
                            None => vk::CommandBufferSubmitInfo::default().command_buffer(*c),
                        })
                        .collect(),
                };
                parts.push((waits, buffers, signals));
            }
            let info = |(s, (waits, buffers, signals)): (&vk::SubmitInfo2<'_>, &(Vec<_>, Vec<_>, Vec<_>))| {
                let mut i = vk::SubmitInfo2::default()
                    .flags(s.flags)
                    .wait_semaphore_infos(waits)
                    .command_buffer_infos(buffers)
                    .signal_semaphore_infos(signals);
                i.p_next = s.p_next;
                // SAFETY: what it points to outlives the call.
                std::mem::transmute::<vk::SubmitInfo2<'_>, vk::SubmitInfo2<'static>>(i)
            };
            let list: Vec<_> = own.iter().zip(&parts).map(info).collect();
            next!(d, queue_submit2(queue, count, list.as_ptr(), fence), else FAILED)
        })
    }
}

pub(crate) unsafe extern "system" fn queue_bind_sparse(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let own = slice(infos, count).iter().map(|s| Own::bound(s)).collect();
        let unchanged = |d: &Device| next!(d, queue_bind_sparse(queue, count, infos, fence), else FAILED);
        submit_own(queue, own, unchanged, |d, parts| {
            let mut list = slice(infos, count).to_vec();
            for (s, b) in list.iter_mut().zip(parts) {
                (s.wait_semaphore_count, s.p_wait_semaphores) = (b.waits.len() as u32, b.waits.as_ptr());
                (s.signal_semaphore_count, s.p_signal_semaphores) =
                    (b.signals.len() as u32, b.signals.as_ptr());
                s.p_next = b.chain.head();
            }
            next!(d, queue_bind_sparse(queue, count, list.as_ptr(), fence), else FAILED)
        })
    }
}

/// A present waits for binary semaphores alone (VUID-vkQueuePresentKHR-pWaitSemaphores-03267), so a batch without
/// commands stands in the line for it: it waits for the present's semaphores, and signals them again.
unsafe fn stand_in(d: &Device, queue: vk::Queue, own: &[vk::Semaphore]) -> Option<R> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let line = d.line.as_ref()?;
        let q = d.queue(queue)?;
        let mut q = q.lock();
        let mut line = line.lock();
        let before = line.before([].iter());
        let (wait, signal) = line.next();
        let waits = with(own, wait.map(|w| w.0));
        let signals = with(own, [signal.0]);
        let wait_values = with(&vec![0; own.len()], wait.map(|w| w.1));
        let signal_values = with(&vec![0; own.len()], [signal.1]);
        let stages = vec![ALL; waits.len()];
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let info = vk::SubmitInfo::default()
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        let result = next!(d, queue_submit(queue, 1, &info, vk::Fence::null()), else FAILED);
        match result {
            R::SUCCESS => q.count_one(),
            _ => line.restore(before),
        }
        Some(result)
    }
}

pub(crate) unsafe extern "system" fn queue_present(
    queue: vk::Queue,
    info: *const vk::PresentInfoKHR<'_>,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(queue) else { return FAILED };
        let own = slice((*info).p_wait_semaphores, (*info).wait_semaphore_count);
        let stood = caught(|| stand_in(&d, queue, own)).flatten();
        if stood == Some(R::ERROR_DEVICE_LOST) {
            return d.seen(R::ERROR_DEVICE_LOST);
        }
        let result = next!(d, queue_present(queue, info), else FAILED);
        caught(|| {
            d.frames.presented();
            d.collect(false);
        });
        d.seen(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::Handle;

    #[test]
    fn values_and_masks_grow_with_what_is_added_and_the_programs_stay() {
        let (own, line) = (vk::Semaphore::from_raw(7), vk::Semaphore::from_raw(9));
        let buffer = vk::CommandBuffer::from_raw;
        // The program's: a binary wait without a value, a timeline signal of 5, a mask for its command buffer.
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[5]);
        let group = vk::DeviceGroupSubmitInfo::default().command_buffer_device_masks(&[2]);
        timeline.p_next = (&raw const group).cast();
        let change = Change {
            buffers: Some(vec![(buffer(1), Some(0)), (buffer(2), None)]),
            waits: vec![(line, 3)],
            signals: vec![(line, 4)],
        };
        // SAFETY: a valid chain.
        unsafe {
            let p = (&raw const timeline).cast();
            let (waits, stages, buffers) = ([own], [ALL], [buffer(1)]);
            let own = Own { p_next: p, waits: &waits, stages: &stages, buffers: &buffers, signals: &waits };
            let b = Batch::new(&own, &change).ok().unwrap();
            assert_eq!((b.waits.len(), b.stages.len(), b.signals.len(), b.buffers.len()), (2, 2, 2, 2));
            let (waits, signals) = values(b.chain.head());
            assert_eq!((waits, signals), (&[0, 3][..], &[4, 5][..]));
            let g = chain::find::<vk::DeviceGroupSubmitInfo>(b.chain.head()).unwrap();
            let masks = slice(g.p_command_buffer_device_masks, g.command_buffer_count);
            assert_eq!((masks, g.wait_semaphore_count), (&[2, 1][..], 0));
        }
        assert_eq!((timeline.signal_semaphore_value_count, group.command_buffer_count), (1, 1));
    }

    /// As a sparse binding has it: no stages, no command buffers, no chain of its own.
    #[test]
    fn values_are_given_where_the_program_gave_none() {
        let (own, line) = (vk::Semaphore::from_raw(7), vk::Semaphore::from_raw(9));
        let change = Change { buffers: None, waits: vec![], signals: vec![(line, 1)] };
        // SAFETY: no chain.
        unsafe {
            let (p_next, waits) = (std::ptr::null(), [own]);
            let own = Own { p_next, waits: &waits, stages: &[], buffers: &[], signals: &[] };
            let b = Batch::new(&own, &change).ok().unwrap();
            assert_eq!(b.signals, [line]);
            assert_eq!(values(b.chain.head()), (&[0][..], &[1][..]));
        }
    }
}

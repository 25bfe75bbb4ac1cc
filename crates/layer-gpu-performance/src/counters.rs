//! Counter mode by the channel: the driver's records of finished workloads, by the tags that the layer has put around them.
//!
//! A record belongs to a queue's batch, and in there to the workload with its tag; a command buffer that is in a batch
//! several times has as many records of each, in the order of execution. A record has the labels that were open as its workload
//! began, so whatever labels the program begins or ends inside a pass, or between the parts of a suspended one, the tag is the
//! innermost; a suspended pass has one record, with its first part's tag.

use crate::output::Value;
use ash::vk;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;
use std::time::Duration;
use vk::Handle;

/// Records that wait to be read, at most.
const CAPACITY: u32 = 1 << 20;

pub(crate) struct Counters {
    channel: channel::Channel,
    reader: channel::Reader,
    device: u32,
    /// Places in the catalogue of the counters that are wanted.
    chosen: Vec<usize>,
    names: Vec<String>,
    /// Events by queue, batch and tag.
    pending: BTreeMap<(u32, u64, u32), VecDeque<Vec<u64>>>,
    told: bool,
}

impl Counters {
    /// Of a device; `wanted` names counters, none of them: all. An error says why there are no counters.
    pub fn open(device: vk::Device, wanted: &[String]) -> Result<Counters, String> {
        let channel = channel::Channel::find().ok_or("the driver has no counters (tuff_channel)")?;
        let number = channel.device_number(device.as_raw() as *const c_void);
        let number = number.ok_or("the device is not of the driver that has counters")?;
        let all = channel.counters();
        let mut chosen: Vec<usize> = (0..all.len()).collect();
        if !wanted.is_empty() {
            chosen.retain(|c| wanted.iter().any(|w| w == all[*c].machine));
            for w in wanted.iter().filter(|w| !all.iter().any(|c| c.machine == **w)) {
                crate::say(&format!("setting 'counters': there is no {w}"));
            }
        }
        let names = chosen.iter().map(|c| all[*c].machine.to_string()).collect();
        let reader = channel.reader(CAPACITY).ok_or("no memory for its counters")?;
        reader.start();
        let pending = BTreeMap::new();
        Ok(Counters { channel, reader, device: number, chosen, names, pending, told: false })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn drain(&mut self) {
        while let channel::Read::Record(r) = self.reader.read(Some(Duration::ZERO)) {
            let tag =
                r.label.rsplit('/').next().and_then(|l| l.strip_prefix('t')).and_then(|t| t.parse().ok());
            if let Some(tag) =
                tag.filter(|_| r.device == self.device && r.kind != channel::WorkloadKind::Mark)
            {
                let key = (r.queue, r.submission, tag);
                self.pending.entry(key).or_default().push_back(r.events.to_vec());
            }
        }
        if self.reader.lost() > 0 && !self.told {
            self.told = true;
            crate::say("the driver's records came faster than they were read: some are lost");
        }
    }

    /// The counters of the next execution of a workload in a queue's batch, which has ended; and what is wrong with them.
    pub fn take(&mut self, queue: vk::Queue, batch: u64, tag: u32) -> (Vec<Value>, Option<&'static str>) {
        self.drain();
        let unknown = (vec![], Some("no counters: the driver has no record of it"));
        let Some(queue) = self.channel.queue_number(queue.as_raw() as *const c_void) else { return unknown };
        let Some(records) = self.pending.get_mut(&(queue, batch, tag)) else { return unknown };
        let events = records.pop_front();
        let Some(values) = events.and_then(|e| self.channel.evaluate(&e)) else { return unknown };
        let value = |c: &usize| match values[*c] {
            channel::Value::Uint64(v) => Value::Whole(v),
            channel::Value::Float64(v) => Value::Float(v),
        };
        (self.chosen.iter().map(value).collect(), None)
    }

    /// Nobody asks for batches of this queue before `batch` again.
    pub fn forget(&mut self, queue: vk::Queue, batch: u64) {
        self.drain();
        let Some(queue) = self.channel.queue_number(queue.as_raw() as *const c_void) else { return };
        self.pending.retain(|(q, b, _), _| *q != queue || *b >= batch);
    }
}

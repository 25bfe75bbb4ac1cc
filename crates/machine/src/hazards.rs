//! What the queues of a sanitised device share to find hazards between commands, and what the host has waited for.

use parking_lot::Mutex;
use sanitize::hazards::{HostWrites, Memory, Seen};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use texel::image::Image;

/// What memory belongs to, for messages.
#[derive(Clone)]
pub struct Resource {
    /// "buffer", for example.
    pub kind: &'static str,
    pub handle: u64,
    pub bytes: Range<u64>,
    pub image: Option<Weak<Image>>,
}

/// Where a queue is: of what a semaphore or a fence tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub queue: u32,
    pub tag: u64,
}

impl Mark {
    /// In one word; 0 is none.
    pub fn packed(self) -> u64 {
        (self.queue as u64 + 1) << 48 | self.tag & 0xFFFF_FFFF_FFFF
    }
    pub fn of(packed: u64) -> Option<Mark> {
        let queue = (packed >> 48).checked_sub(1)? as u32;
        Some(Mark { queue, tag: packed & 0xFFFF_FFFF_FFFF })
    }
}

/// Of a device.
#[derive(Default)]
pub struct Hazards {
    pub memory: Mutex<Memory>,
    pub host: Mutex<HostWrites>,
    /// Commands, signals and passes are numbered in one row.
    tags: AtomicU64,
    seen: Mutex<Seen>,
    /// Moves of images between queues of which the second barrier is still to come.
    moves: Mutex<HashSet<[u64; 6]>>,
    /// Protected memory.
    pub protected: Mutex<Vec<Range<u64>>>,
    /// By first byte; several may begin there.
    resources: Mutex<BTreeMap<(u64, u64), Resource>>,
}

impl Hazards {
    pub fn tag(&self) -> u64 {
        self.tags.fetch_add(1, Relaxed) + 1
    }

    /// The host has waited for what has this mark.
    pub fn saw(&self, mark: u64) {
        if let Some(m) = Mark::of(mark) {
            self.seen.lock().add(m.queue, m.tag);
        }
    }
    /// The host has waited for all that a queue has done; the last tag of it.
    pub fn saw_all(&self, queue: u32) -> u64 {
        let tag = self.tags.load(Relaxed);
        self.seen.lock().add(queue, tag);
        tag
    }
    pub fn seen(&self) -> Seen {
        self.seen.lock().clone()
    }

    /// Whether this is the first one of the two barriers of a move between queues.
    pub fn releases(&self, key: [u64; 6]) -> bool {
        let mut moves = self.moves.lock();
        let first = moves.insert(key);
        if !first {
            moves.remove(&key);
        }
        first
    }

    /// A buffer or an image has been bound to memory.
    pub fn bound(&self, resource: Resource) {
        self.resources.lock().insert((resource.bytes.start, resource.handle), resource);
    }
    pub fn released(&self, at: u64, handle: u64) {
        self.resources.lock().remove(&(at, handle));
    }
    /// The smallest that has this byte.
    pub fn resource(&self, at: u64) -> Option<Resource> {
        let all = self.resources.lock();
        let has = all.range(..=(at, u64::MAX)).rev().map(|(_, r)| r).filter(|r| r.bytes.contains(&at));
        has.min_by_key(|r| r.bytes.end - r.bytes.start).cloned()
    }
}

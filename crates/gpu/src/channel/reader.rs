//! A reader: records that wait to be read, a bounded number of them.

use super::{Listener, Record};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Records that a reader keeps at most, whatever is asked for.
pub const MAX_CAPACITY: u32 = 1 << 20;

/// It is opened stopped.
pub struct Reader {
    /// Held while it starts or stops, one at a time.
    changing: Mutex<()>,
    state: Mutex<State>,
    /// A record has come, or the reader is stopped.
    changed: Condvar,
    capacity: usize,
}

struct State {
    waiting: VecDeque<Arc<Record>>,
    started: bool,
    lost: u64,
}

/// What a read gives.
pub enum Read {
    Record(Arc<Record>),
    /// None came in time.
    Nothing,
    /// The reader is stopped, and nothing is left.
    Ended,
}

impl Reader {
    /// One that keeps `capacity` records, brought to 1..=[`MAX_CAPACITY`]; `None` when memory is short.
    pub fn open(capacity: u32) -> Option<Arc<Reader>> {
        let capacity = capacity.clamp(1, MAX_CAPACITY) as usize;
        let mut waiting = VecDeque::new();
        waiting.try_reserve_exact(capacity).ok()?;
        let state = Mutex::new(State { waiting, started: false, lost: 0 });
        Some(Arc::new(Reader { changing: Mutex::new(()), state, changed: Condvar::new(), capacity }))
    }

    pub fn start(self: &Arc<Self>) {
        let _changing = self.changing.lock();
        if !std::mem::replace(&mut self.state.lock().started, true) {
            super::listen(self.clone());
        }
    }

    /// Nothing comes any more once this returns; every reader that waits for more is told.
    pub fn stop(&self) {
        let _changing = self.changing.lock();
        super::forget(self);
        self.state.lock().started = false;
        self.changed.notify_all();
    }

    /// The oldest record, waiting so long for one (`None`: for ever).
    pub fn read(&self, timeout: Option<Duration>) -> Read {
        let until = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut state = self.state.lock();
        loop {
            if let Some(record) = state.waiting.pop_front() {
                return Read::Record(record);
            }
            if !state.started {
                return Read::Ended;
            }
            match until {
                None => self.changed.wait(&mut state),
                Some(t) => {
                    if self.changed.wait_until(&mut state, t).timed_out() && state.waiting.is_empty() {
                        return if state.started { Read::Nothing } else { Read::Ended };
                    }
                }
            }
        }
    }

    /// Records that were thrown away for want of room, since it was opened.
    pub fn lost(&self) -> u64 {
        self.state.lock().lost
    }
}

impl Listener for Reader {
    fn record(&self, record: &Arc<Record>) {
        let mut state = self.state.lock();
        let oldest = if state.waiting.len() >= self.capacity { state.waiting.pop_front() } else { None };
        state.lost += oldest.is_some() as u64;
        state.waiting.push_back(record.clone());
        drop(state);
        self.changed.notify_one();
        // `oldest` is freed here, without the lock.
    }
}

//! Deals the chunks of a dispatch to threads.
//!
//! Neighbours often share lines of memory, which threads that take turns would pass to and fro. So a thread takes a run
//! of chunks at once; who has none left takes half of another's, so that all end together. The earliest chunk that is not
//! done is always somebody's next, so chunks may wait for earlier ones (as the look-back of prefix sums does).

use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Chunks of a run at most: shaders that wait for earlier workgroups would wait longer.
const RUN: u64 = 16;

/// Chunks that a thread takes beside the next one, where others wait for them.
const FEW: u64 = 2;

/// No run begins there: nothing more is to be done.
const STOPPED: u64 = u64::MAX;

pub struct Chunks {
    count: u64,
    /// Where the next run begins.
    next: AtomicU64,
    /// What each thread has left of its run.
    left: Vec<Mutex<Range<u64>>>,
    joined: AtomicUsize,
}

impl Chunks {
    /// `0..count` for so many threads.
    pub fn new(count: u64, threads: usize) -> Chunks {
        Chunks {
            count,
            next: AtomicU64::new(0),
            left: (0..threads.max(1)).map(|_| Mutex::new(0..0)).collect(),
            joined: AtomicUsize::new(0),
        }
    }

    /// A thread's number, for [`Chunks::take`].
    pub fn join(&self) -> usize {
        self.joined.fetch_add(1, Relaxed) % self.left.len()
    }

    /// The thread's next chunk.
    pub fn take(&self, thread: usize) -> Option<u64> {
        if self.next.load(Relaxed) == STOPPED {
            return None;
        }
        if let Some(c) = self.left[thread].lock().next() {
            return Some(c);
        }
        let run = (self.count / self.left.len() as u64).clamp(1, RUN);
        let fresh = self.next.fetch_update(Relaxed, Relaxed, |n| (n < self.count).then(|| n + run));
        let mut mine = match fresh {
            Ok(from) => from..(from + run).min(self.count),
            Err(_) => self.steal(thread)?,
        };
        let c = mine.next();
        *self.left[thread].lock() = mine;
        c
    }

    /// More chunks for the thread, the next ones of its run as long as `wanted` says so: how many. One thread alone may have all of
    /// them, others few, for what they have is not shared any more.
    pub fn more(&self, thread: usize, wanted: impl Fn(u64) -> bool) -> u64 {
        let most = if self.left.len() == 1 { RUN } else { FEW };
        let mut mine = self.left[thread].lock();
        let n = mine.clone().take(most as usize).take_while(|c| wanted(*c)).count() as u64;
        mine.start += n;
        n
    }

    /// The later half of what another thread has left.
    fn steal(&self, thread: usize) -> Option<Range<u64>> {
        let n = self.left.len();
        (1..n).find_map(|i| {
            let mut theirs = self.left[(thread + i) % n].lock();
            let from = theirs.start + (theirs.end - theirs.start) / 2;
            let half = from..theirs.end;
            theirs.end = from;
            (!half.is_empty()).then_some(half)
        })
    }

    /// Nobody takes any more.
    pub fn stop(&self) {
        self.next.store(STOPPED, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_is_taken_once_and_the_earliest_is_always_next() {
        for (count, threads) in [(0, 1), (1, 2), (5, 3), (32, 2), (1000, 2), (257, 7)] {
            let chunks = Chunks::new(count, threads);
            let numbers: Vec<usize> = (0..threads).map(|_| chunks.join()).collect();
            let mut seen = vec![false; count as usize];
            // An uneven pace: thread t takes one in t + 1 turns.
            for turn in 0.. {
                let mut idle = 0;
                for &t in &numbers {
                    if turn % (t + 1) != 0 {
                        continue;
                    }
                    match chunks.take(t) {
                        Some(c) => assert!(!std::mem::replace(&mut seen[c as usize], true), "{c} twice"),
                        None => idle += 1,
                    }
                }
                let first = seen.iter().position(|s| !s).unwrap_or(seen.len()) as u64;
                let next = chunks.next.load(Relaxed).min(count);
                assert!(first >= next || chunks.left.iter().any(|l| l.lock().start == first), "{first}");
                if idle == numbers.len() {
                    break;
                }
            }
            assert!(seen.iter().all(|s| *s), "{count} chunks, {threads} threads");
        }
    }

    #[test]
    fn more_are_those_that_follow_and_are_wanted() {
        for (threads, most) in [(1, 15), (2, FEW)] {
            let chunks = Chunks::new(100, threads);
            assert_eq!(chunks.take(0), Some(0));
            assert_eq!(chunks.more(0, |_| false), 0);
            assert_eq!(chunks.more(0, |c| c < 2), 1);
            assert_eq!(chunks.more(0, |_| true), most.min(14));
            let next = 2 + most.min(14);
            assert_eq!(chunks.take(0), Some(next));
        }
    }

    #[test]
    fn nothing_is_left_after_a_stop() {
        let chunks = Chunks::new(100, 2);
        assert_eq!(chunks.take(0), Some(0));
        chunks.stop();
        assert_eq!((chunks.take(0), chunks.take(1)), (None, None));
    }
}

//! The threads that a device's work goes to, beside the queue's own that runs it.
//!
//! A queue's thread takes part in its work itself, so one less than there may be wait in the pool: with more, two would share a CPU, and
//! schedulers are slow to part them. Who has finished waits for nobody who has not begun: threads may be busy with another queue's work.

use crate::Mode;
use crate::threads::Thread;
use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

/// Bytes of stack of a thread that shades, a queue's too: frames of a tile's vectors are large, above all in builds with debug
/// assertions. Only what is used is memory.
pub const STACK: usize = 8 << 20;

/// How many others each thread asks for help: to ask takes a microsecond, so a thread that has work for a hundred
/// does not ask all of them itself, and for work of a few microseconds hardly any is asked.
const FAN: u64 = 4;

/// Turns of waiting before a thread sleeps: some tens of microseconds, about what it takes to be woken.
const TURNS: u32 = 1000;

/// The threads. When it is dropped they have ended, to the last of their own clean-up: the loader may unload the library right after,
/// and rayon's pool alone only tells them to end.
pub struct Pool {
    /// None for one thread.
    pool: ManuallyDrop<Option<ThreadPool>>,
    threads: Vec<Thread>,
}

impl Pool {
    /// For so many threads, who asks for work among them.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(count: usize) -> Result<Pool, ThreadPoolBuildError> {
        let mut threads = Vec::new();
        if count <= 1 {
            return Ok(Pool { pool: ManuallyDrop::new(None), threads });
        }
        let built = ThreadPoolBuilder::new()
            .num_threads(count - 1)
            .spawn_handler(|t| {
                let name = format!("tuff-shade-{}", t.index());
                let run = || {
                    let _mode = Mode::plain();
                    t.run();
                };
                threads.push(Thread::spawn(thread::Builder::new().name(name).stack_size(STACK), run)?);
                Ok(())
            })
            .build();
        match built {
            Ok(pool) => Ok(Pool { pool: ManuallyDrop::new(Some(pool)), threads }),
            Err(e) => {
                // Those that there are were told to end.
                threads.into_iter().for_each(Thread::join);
                Err(e)
            }
        }
    }

    /// Threads that work at once, who asks for work among them.
    pub fn threads(&self) -> usize {
        self.threads.len() + 1
    }

    /// Runs `work` here, and on others that are free: as many as there are tasks for. It takes tasks until none is left.
    pub fn run(&self, tasks: u64, work: &(dyn Fn() + Sync)) {
        let others = (self.threads.len() as u64).min(tasks.saturating_sub(1));
        let Some(pool) = self.pool.as_ref().filter(|_| others > 0) else { return work() };
        // SAFETY: nobody calls it any more once `close` is over, which is before this function is.
        let work: &'static (dyn Fn() + Sync) = unsafe { std::mem::transmute(work) };
        let job = Arc::new(Job {
            work,
            inside: AtomicU32::new(0),
            others,
            owner: std::thread::current(),
            panic: Mutex::default(),
        });
        for i in 0..others.min(FAN) {
            let job = job.clone();
            pool.spawn(move || job.help(i));
        }
        job.work();
        job.close();
        let panic = job.panic.lock().take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Calls `f` for each of `all` with its number, on all threads.
    pub fn each<T: Send>(&self, all: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        let tasks = all.len() as u64;
        let left = Mutex::new(all.iter_mut().enumerate());
        let next = || left.lock().next();
        self.run(tasks, &|| {
            while let Some((i, one)) = next() {
                f(i, one);
            }
        });
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: dropped here alone.
        unsafe { ManuallyDrop::drop(&mut self.pool) };
        self.threads.drain(..).for_each(Thread::join);
    }
}

/// Nobody may begin any more.
const CLOSED: u32 = 1 << 31;

/// Work that others are asked to help with.
struct Job {
    work: &'static (dyn Fn() + Sync),
    /// How many others are at it, and [`CLOSED`].
    inside: AtomicU32,
    /// How many are to be asked.
    others: u64,
    owner: thread::Thread,
    /// What a thread panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job {
    fn work(&self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(self.work)) {
            self.panic.lock().get_or_insert(panic);
        }
    }

    /// As the `i`-th of the others, on a thread of the pool.
    fn help(self: &Arc<Self>, i: u64) {
        let begin = |n: u32| (n & CLOSED == 0).then_some(n + 1);
        if self.inside.fetch_update(SeqCst, SeqCst, begin).is_err() {
            return;
        }
        let first = FAN * (i + 1);
        for i in first..(first + FAN).min(self.others) {
            let job = self.clone();
            rayon::spawn(move || job.help(i));
        }
        self.work();
        if self.inside.fetch_sub(1, SeqCst) == CLOSED + 1 {
            self.owner.unpark();
        }
    }

    /// Lets nobody begin any more and waits for those who have.
    fn close(&self) {
        self.inside.fetch_or(CLOSED, SeqCst);
        let mut turns = 0;
        while self.inside.load(SeqCst) != CLOSED {
            if turns < TURNS {
                turns += 1;
                std::hint::spin_loop();
            } else {
                std::thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// What has not come by then never comes.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn each_task_is_done_once_by_no_more_threads_than_there_are() {
        for (threads, tasks) in [(1, 5), (2, 1), (2, 100), (4, 3), (4, 1000)] {
            let pool = Pool::new(threads).unwrap();
            assert_eq!(pool.threads(), threads);
            let (next, who) = (AtomicU64::new(0), Mutex::new(HashSet::new()));
            let mut done = vec![0; tasks];
            pool.each(&mut done, |i, done| {
                *done += i + 1;
                next.fetch_add(1, SeqCst);
                who.lock().insert(std::thread::current().id());
            });
            assert!(done.iter().enumerate().all(|(i, done)| *done == i + 1));
            assert_eq!(next.into_inner(), tasks as u64);
            assert!(who.into_inner().len() <= threads.min(tasks));
        }
    }

    #[test]
    fn two_threads_work_at_once() {
        let pool = Pool::new(2).unwrap();
        let barrier = std::sync::Barrier::new(2);
        pool.run(2, &|| {
            barrier.wait();
        });
    }

    #[test]
    fn who_has_finished_does_not_wait_for_threads_that_are_busy_elsewhere() {
        let pool = Pool::new(2).unwrap();
        let (both, end) = (std::sync::Barrier::new(3), std::sync::Barrier::new(3));
        std::thread::scope(|s| {
            s.spawn(|| {
                pool.run(2, &|| {
                    both.wait();
                    end.wait();
                });
            });
            both.wait();
            // Its only thread is busy now.
            let (told, done) = channel();
            let pool = &pool;
            s.spawn(move || {
                let mut all = [0; 8];
                pool.each(&mut all, |i, one| *one = i);
                told.send(all).unwrap();
            });
            let done = done.recv_timeout(LONG);
            end.wait();
            assert_eq!(done, Ok([0, 1, 2, 3, 4, 5, 6, 7]));
        });
    }

    #[test]
    fn a_panic_comes_to_who_asked_and_the_threads_live_on() {
        let pool = Pool::new(2).unwrap();
        for other in [false, true] {
            let (barrier, owner) = (std::sync::Barrier::new(2), std::thread::current().id());
            let work = || {
                barrier.wait();
                assert!((std::thread::current().id() == owner) == other, "on purpose");
            };
            let panic = catch_unwind(AssertUnwindSafe(|| pool.run(2, &work))).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        }
        let barrier = std::sync::Barrier::new(2);
        pool.run(2, &|| {
            barrier.wait();
        });
    }
}

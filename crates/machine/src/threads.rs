//! Threads of the driver: they are there in the process that made them, not in a child that it forks.

use std::thread::{Builder, JoinHandle};

/// A thread that its owner ends.
pub struct Thread {
    process: u32,
    handle: JoinHandle<()>,
}

impl Thread {
    /// # Errors
    /// The system's, when it has no thread.
    pub fn spawn(builder: Builder, run: impl FnOnce() + Send + 'static) -> std::io::Result<Thread> {
        Ok(Thread { process: std::process::id(), handle: builder.spawn(run)? })
    }

    /// It is of this process.
    pub fn is_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Waits for its end. In a child of the process there is nobody to wait for: a device may be destroyed there, as functions do that run
    /// at a program's end.
    pub fn join(self) {
        if self.is_here() {
            // (What it panicked with has been told.)
            let _ = self.handle.join();
        } else {
            std::mem::forget(self.handle);
        }
    }
}

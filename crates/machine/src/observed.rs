//! Whether anybody can look at counters, or at modelled time, which comes of them.
//!
//! What only they tell is not counted until somebody can look (docs/model.md, "When it is counted"): work is counted from the first
//! submission on that is made after an observer was there. That is the program's own order of calls, so counts are the same on every
//! run. What the API tells without counters (occlusion, pipeline statistics) is always counted.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Of a device.
#[derive(Default)]
pub struct Observed {
    /// Submissions that are made now are to be counted.
    asked: AtomicBool,
    /// Work that is done now is counted.
    counts: AtomicBool,
}

/// Somebody may look at all devices of the process.
static ALL: AtomicBool = AtomicBool::new(false);

/// From now on all devices' submissions are counted.
pub fn ask_all() {
    ALL.store(true, SeqCst);
}

impl Observed {
    /// From the start.
    pub fn always() -> Observed {
        Observed { asked: true.into(), counts: true.into() }
    }
    /// From now on submissions are counted.
    pub fn ask(&self) {
        self.asked.store(true, SeqCst);
    }
    /// Whether a submission that is made now is to be counted.
    pub fn asked(&self) -> bool {
        self.asked.load(SeqCst) || ALL.load(SeqCst)
    }
    /// A submission begins that was `asked` for, or not; one that is ends the time in which nothing is counted.
    pub fn begin(&self, asked: bool) {
        if asked {
            self.counts.store(true, SeqCst);
        }
    }
    /// Whether work is counted wholly.
    #[inline]
    pub fn counts(&self) -> bool {
        self.counts.load(SeqCst)
    }
}

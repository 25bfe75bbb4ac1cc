//! What is asked of a device's lines, in its order, for a capture.

use crate::line::Transfer;
use counters::{Model, Work};
use serde::{Deserialize, Serialize};

/// Something that a queue asks of its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Nothing that follows begins before this time.
    Floor(u64),
    /// Work of these stages waits for this time.
    Wait(u64, u64),
    /// A submission begins.
    Submission,
    /// Work of the second stages waits for that of the first.
    Barrier(u64, u64),
    /// A job, or the two of a render pass.
    Job { what: What, work: usize, order: u64 },
    /// The jobs so far are placed together.
    Settle,
    /// When work of these stages ends, others are told.
    Done(u64),
    /// When everything ends, others are told.
    Ended,
}

/// What a workload is to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    Dispatch,
    Pass,
    Copy,
    Blit,
    Resolve,
    Clear,
    Structure,
}

impl What {
    pub fn transfer(t: Transfer) -> What {
        match t {
            Transfer::Copy => What::Copy,
            Transfer::Blit => What::Blit,
            Transfer::Resolve => What::Resolve,
            Transfer::Clear => What::Clear,
            Transfer::Structure => What::Structure,
        }
    }
    /// Unless it is a dispatch or a render pass.
    pub(crate) fn as_transfer(self) -> Option<Transfer> {
        Some(match self {
            What::Dispatch | What::Pass => return None,
            What::Copy => Transfer::Copy,
            What::Blit => Transfer::Blit,
            What::Resolve => Transfer::Resolve,
            What::Clear => Transfer::Clear,
            What::Structure => Transfer::Structure,
        })
    }
}

/// All of a process: the file `schedule.json` of a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    pub version: u32,
    /// The model that ran.
    pub model: Model,
    /// Sizes of the L2 that works tell of, besides the model's.
    #[serde(default)]
    pub l2_kib: Vec<u64>,
    /// Workloads' work, each once.
    pub works: Vec<Work>,
    /// By device: the number of its queue, and what that asked.
    pub devices: Vec<Vec<(usize, Step)>>,
    /// Steps that there was no room for.
    pub lost: u64,
}

impl Steps {
    /// Of the shape. It changes when readers of the last one would misread the new one.
    pub const VERSION: u32 = 1;
}

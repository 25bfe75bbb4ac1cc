//! How much compiling one shader may take: a count of steps, never a clock, so that the same module is refused on every
//! machine or on none.
//!
//! A step is a look at something of the shader: an instruction, a value, an edge, a scalar of a composite. Most passes
//! look at each thing once, which bounds on the module's growth keep short ([`crate::build::MAX_INSTRUCTIONS`],
//! [`crate::build::MAX_VALUES`]); whatever may look at one thing many times spends a step for each time. Ordinary
//! shaders spend ten to forty steps a value.

use crate::options::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Steps of one shader: a few seconds of a slow core. The largest shaders of real programs spend a hundredth.
pub const MAX_STEPS: u64 = 1 << 27;

/// Steps that were taken so far. (One thread counts; atomic, so that a shader may go to another.)
#[derive(Debug, Default)]
pub struct Work {
    steps: AtomicU64,
}

impl Work {
    /// Takes `n` steps. Fails when they are too many in all.
    #[inline]
    pub fn spend(&self, n: usize) -> Result<()> {
        let steps = self.steps.load(Relaxed).saturating_add(n as u64);
        self.steps.store(steps, Relaxed);
        if steps > MAX_STEPS { Err(exhausted()) } else { Ok(()) }
    }

    pub fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }
}

#[cold]
fn exhausted() -> Error {
    Error::TooLarge(format!("compiling it takes more than {MAX_STEPS} steps"))
}

impl Clone for Work {
    fn clone(&self) -> Work {
        Work { steps: self.steps().into() }
    }
}

/// What it cost says nothing of what a shader is.
impl PartialEq for Work {
    fn eq(&self, _: &Work) -> bool {
        true
    }
}

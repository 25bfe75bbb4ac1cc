//! Views and samplers that were destroyed but may still be named, by address, in descriptor memory of work under
//! way. They are kept until every queue was seen idle.

use parking_lot::Mutex;
use std::any::Any;

#[derive(Default)]
pub(crate) struct Quarantine(Mutex<Vec<Box<dyn Any + Send>>>);

/// Objects kept before the queues are asked whether they are idle.
const PATIENCE: usize = 256;

impl Quarantine {
    /// Takes what a destroyed object owned.
    pub fn keep(&self, what: Box<dyn Any + Send>, gpu: &gpu::device::Device) {
        let mut kept = self.0.lock();
        kept.push(what);
        if kept.len().is_multiple_of(PATIENCE) && gpu.is_idle() {
            kept.clear();
        }
    }

    /// Frees everything if no queue has work.
    pub fn empty_if_idle(&self, gpu: &gpu::device::Device) {
        let mut kept = self.0.lock();
        if !kept.is_empty() && gpu.is_idle() {
            kept.clear();
        }
    }
}

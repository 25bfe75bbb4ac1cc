//! Compiled pipelines.

use machine::lost::Title;
use shader::bytecode::Program;
use std::sync::Arc;

pub struct ComputePipeline {
    pub program: Arc<Program>,
    /// Index of a push-constant-free identity used to skip needless set-up between dispatches.
    pub id: u64,
    pub title: Arc<Title>,
}

//! Compiled pipelines.

use shader::bytecode::Program;

pub struct ComputePipeline {
    pub program: Program,
    /// Index of a push-constant-free identity used to skip needless set-up between dispatches.
    pub id: u64,
    /// Name for messages: entry point.
    pub name: String,
}

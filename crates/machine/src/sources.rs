//! What a pipeline was made of, as a recorded frame shows it ([`crate::lost::Title`] has it while frames are recorded).

use shader::options::Binding;
use std::sync::Arc;

/// A shader as the application gave it.
pub struct Source {
    /// As [`shader::ir::Stage::name`] has it.
    pub stage: &'static str,
    pub entry: String,
    /// Little-endian words.
    pub module: Arc<[u8]>,
    /// SpecId, and the value's bits zero-extended.
    pub spec: Vec<(u32, u64)>,
}

/// All of a pipeline.
#[derive(Default)]
pub struct Sources {
    pub stages: Vec<Source>,
    /// Set, binding, and where the layout has it.
    pub bound: Vec<(u32, u32, Binding)>,
    /// Push constants that the layout has.
    pub push_bytes: u32,
}

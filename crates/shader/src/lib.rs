//! Shaders: SPIR-V in, bytecode for the wave engine out.
//!
//! The way of a shader: [`spirv`] parses words into a flat module; [`build`] translates one entry point, fully
//! inlined and scalarised, into SSA ([`ir`]); [`pass`] optimises it; [`lower`] assigns registers, linearises the
//! structured control flow into mask operations and emits [`bytecode`]. What each op is stands in [`isa`].
//! Knows only SPIR-V: no Vulkan, no images' layouts, no SIMD.

// (`mul_add` calls it on Windows.)
use fused as _;

pub mod build;
pub mod bytecode;
pub mod bytecode_check;
pub mod bytecode_print;
pub mod bytecode_read;
pub mod cfg;
pub mod cost;
pub mod data;
pub mod data_graph;
pub mod eval;
pub mod instrument;
pub mod interface;
pub mod ir;
pub mod ir_print;
pub mod ir_read;
pub mod isa;
pub mod lower;
pub mod notes;
mod opt;
pub mod options;
mod ordered;
pub mod pairs;
pub mod pass;
mod serial;
mod spirv;
pub mod stage_io;
mod trees;
pub mod twins;
pub mod vectors;
pub mod verify;
mod work;

pub use build::capability;
pub use spirv::Module;
pub use work::{MAX_STEPS, Work};

/// The words of a SPIR-V module, as files have them: little endian; what is left of a last word is left out.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect()
}

/// SPIR-V to a program ready to run: one entry point of a module, specialised.
pub fn compile(module: &Module, options: &options::Options) -> options::Result<bytecode::Program> {
    Ok(compile_counted(module, options)?.0)
}

/// The same, and the steps that it took ([`MAX_STEPS`]): for tests of compile time that no clock disturbs.
pub fn compile_counted(
    module: &Module,
    options: &options::Options,
) -> options::Result<(bytecode::Program, u64)> {
    let mut shader = build::build(module, options)?;
    let program = pass::compile_ir(&mut shader, options)?;
    Ok((program, shader.work.steps()))
}

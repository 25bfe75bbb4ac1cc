//! Shaders: SPIR-V in, bytecode for the wave engine out.
//!
//! The way of a shader: [`spirv`] parses words into a flat module; [`build`] translates one entry point, fully
//! inlined and scalarised, into SSA ([`ir`]); [`pass`] optimises it; [`lower`] assigns registers, linearises the
//! structured control flow into mask operations and emits [`bytecode`].
//! Knows only SPIR-V: no Vulkan, no images' layouts, no SIMD.

pub mod bytecode;
pub mod bytecode_check;
pub mod bytecode_print;
pub mod cfg;
pub mod eval;
mod interim;
pub mod ir;
pub mod lower;
pub mod options;
pub mod pass;
mod serial;
pub mod visit;

pub use interim::{Module, compile};

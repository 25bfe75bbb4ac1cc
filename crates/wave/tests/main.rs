//! Programs on waves, a file a subject.

#![allow(clippy::needless_range_loop)]

#[path = "../examples/mutants/forged.rs"]
mod changed;
mod common;
#[path = "../examples/mutants/engine.rs"]
mod engine;
#[path = "../examples/mutants/guarded.rs"]
mod guarded;
mod one_op;
#[path = "common/spirv.rs"]
mod spirv;

mod control;
mod divergence;
mod exact;
mod flushed;
mod forged;
mod fused;
mod held;
#[cfg(target_arch = "x86_64")]
mod jit;
mod kernels;
mod lanes;
mod lines;
#[cfg(target_arch = "x86_64")]
mod listings;
#[cfg(target_arch = "x86_64")]
mod loops;
mod math;
mod memory;
mod merged;
mod operations;
mod pairs;
#[cfg(target_arch = "x86_64")]
mod programs;
mod reach;
mod rows;
mod stages;
mod twins;
#[cfg(target_arch = "x86_64")]
mod unrolled;

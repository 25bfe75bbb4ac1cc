//! Programs on waves, a file a subject.

#![allow(clippy::needless_range_loop)]

#[path = "../examples/mutants/forged.rs"]
mod changed;
mod common;
#[path = "../src/jit/arm/encode.rs"]
#[allow(dead_code)]
mod encode;
#[path = "../examples/mutants/engine.rs"]
mod engine;
#[path = "../examples/mutants/guarded.rs"]
mod guarded;
mod one_op;
#[path = "common/spirv.rs"]
mod spirv;

mod control;
mod divergence;
mod encodings;
mod exact;
mod flushed;
mod forged;
mod fused;
mod held;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod jit;
mod kernels;
mod lanes;
mod lines;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod listings;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod loops;
mod math;
mod memory;
mod merged;
mod operations;
mod pairs;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod programs;
mod reach;
mod rows;
mod stages;
mod twins;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod unrolled;

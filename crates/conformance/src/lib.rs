//! Compute programs with answers computed on the CPU, to run on a driver through the Vulkan API.
//!
//! `shaders/` has their GLSL and, beside it, the SPIR-V that `cargo xtask shaders` made of it.
//! The `compute-child` binary runs them on the driver that its environment shows; `tests/` starts it on Tuff for every
//! SIMD level and several thread counts, and wants the right answers and the same bits from all. Pictures are the same
//! in [`scenes`] and `scene-child`.

// (`mul_add` calls it on Windows.)
use fused as _;

mod arithmetic;
mod benchmarks;
pub mod channel;
pub mod check;
mod data;
pub mod descriptor_buffers;
pub mod extensions;
pub mod frames;
pub mod instrumentation;
mod invocations;
pub mod layer;
mod meter;
pub mod micro;
pub mod pictures;
pub mod programs;
pub mod scenes;
pub mod traces;
pub mod trips;

/// The variable with the emulator's command, under which a program that is started by a test runs as the test does.
pub const EMULATOR: &str = "CONFORMANCE_EMULATOR";

use client::compute::KernelInfo;
use client::{Buffer, Context, Kernel};
use std::rc::Rc;

/// What a program's buffers held before, and the output (buffer 0) after.
pub struct Run<'a> {
    pub inputs: &'a [Vec<u32>],
    pub output: &'a [u32],
}

/// A program with its data and its check.
pub struct Case {
    pub name: &'static str,
    pub spirv: &'static [u8],
    pub groups: [u32; 3],
    pub push: Vec<u8>,
    /// Contents of each buffer in words; the first is the output.
    pub inputs: Vec<Vec<u32>>,
    /// What is wrong with the output, if anything.
    pub check: fn(&Run) -> Result<(), String>,
}

/// A case by its shader's name: without push constants.
macro_rules! case {
    ($name:literal, $groups:expr, $inputs:expr, $check:expr $(,)?) => {
        Case {
            name: $name,
            spirv: include_bytes!(concat!("../shaders/", $name, ".spv")),
            groups: $groups,
            push: Vec::new(),
            inputs: $inputs,
            check: $check,
        }
    };
}
pub(crate) use case;

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut all = arithmetic::cases();
    all.extend(programs::cases());
    all.extend(invocations::cases());
    all.extend(benchmarks::cases());
    all
}

impl Case {
    /// Runs the case: the output.
    pub fn run(&self, context: &Rc<Context>) -> client::Result<Vec<u32>> {
        let mut buffers = Vec::new();
        for words in &self.inputs {
            let mut buffer = Buffer::new(context, words.len() * 4)?;
            buffer.words_mut().copy_from_slice(words);
            buffers.push(buffer);
        }
        let info = KernelInfo {
            spirv: self.spirv,
            bindings: buffers.len() as u32,
            push_size: self.push.len() as u32,
        };
        let kernel = Kernel::new(context, &info)?;
        kernel.run(&buffers.iter().collect::<Vec<_>>(), &self.push, self.groups)?;
        Ok(buffers[0].words().to_vec())
    }

    /// Outputs with one hash are taken to be the same bits.
    pub fn hash(&self, output: &[u32]) -> u64 {
        // FNV-1a over words.
        output.iter().fold(0xcbf2_9ce4_8422_2325, |h, w| (h ^ u64::from(*w)).wrapping_mul(0x100_0000_01b3))
    }

    /// Checks an output of [`Case::run`] against the CPU's answer.
    pub fn check(&self, output: &[u32]) -> Result<(), String> {
        (self.check)(&Run { inputs: &self.inputs, output })
    }
}

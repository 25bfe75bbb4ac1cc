//! VK_ARM_shader_instrumentation and VK_ARM_performance_counters_by_region through the loader: the extensions' rules,
//! and counts that are worked out from the shaders' sources and from geometry; modelled time, by the model's figures.
//!
//! `shaders/instrumentation` has the GLSL and what `glslangValidator -V --target-env vulkan1.2 -gVS` made of it: with
//! lines, so that a block is named by the line that it holds. What is expected is computed here from what the source
//! says, for warps of 16 consecutive invocations, or of 4 × 4 pixels; nothing expected was read off a driver.

mod compute;
mod graphics;
mod regions;
mod rig;
mod rules;
mod time;

pub use rig::{Rig, Row};

/// What a check found: every value it read, for comparison between runs.
pub type Found = Result<Vec<u64>, String>;

pub struct Check {
    pub name: &'static str,
    pub run: fn(&Rig) -> Found,
}

pub fn checks() -> Vec<Check> {
    let mut all = rules::checks();
    all.extend(compute::checks());
    all.extend(graphics::checks());
    all.extend(regions::checks());
    all.extend(time::checks());
    all
}

/// An error unless the two are equal.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: {got:?}, not {want:?}")) }
}

/// An error with `what` unless it holds.
pub(crate) fn holds(what: &str, condition: bool) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_string()) }
}

//! VK_ARM_shader_instrumentation and VK_ARM_performance_counters_by_region through the loader: the extensions' rules,
//! and counts that are worked out from the shaders' sources and from geometry; modelled time, by the model's figures.
//!
//! `shaders/instrumentation` has the GLSL and what `glslangValidator -V --target-env vulkan1.2 -gVS` made of it: with
//! lines, so that a block is named by the line that it holds. What is expected is computed here from what the source
//! says, for warps of 16 consecutive invocations, or of 4 × 4 pixels; nothing expected was read off a driver.

mod compute;
mod executables;
mod graphics;
mod regions;
mod rig;
mod rules;
mod stages;
mod time;

pub use crate::check::Found;
pub(crate) use crate::check::{check_list, holds, same, text};
pub use rig::{Rig, Row};

pub struct Check {
    pub name: &'static str,
    pub run: fn(&Rig) -> Found,
}

pub fn checks() -> Vec<Check> {
    let mut all = rules::checks();
    all.extend(compute::checks());
    all.extend(executables::checks());
    all.extend(graphics::checks());
    all.extend(stages::checks());
    all.extend(regions::checks());
    all.extend(time::checks());
    all
}

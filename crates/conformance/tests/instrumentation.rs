//! VK_ARM_shader_instrumentation: every rule, and counts worked out from the shaders' sources; the same values on every
//! SIMD level and thread count.

use crate::common::Way;
use std::collections::BTreeMap;

fn run(way: Way) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<_> = conformance::instrumentation::checks().iter().map(|c| c.name).collect();
    crate::common::run(env!("CARGO_BIN_EXE_instrumentation-child"), &names, way, false)
}

#[test]
fn rules_and_counts_hold_alike_on_every_level_and_thread_count() {
    crate::common::same_everywhere(None, &[1, 2, 5], run);
}

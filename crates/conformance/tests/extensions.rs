//! Extensions through the loader, with values worked out from the specification; the same on every SIMD level and thread
//! count.

use crate::common::Way;
use std::collections::BTreeMap;

fn run(way: Way) -> Result<BTreeMap<String, String>, String> {
    let names: Vec<_> = conformance::extensions::checks().iter().map(|c| c.name).collect();
    crate::common::run(env!("CARGO_BIN_EXE_extensions-child"), &names, way, false)
}

#[test]
fn rules_hold_alike_on_every_level_and_thread_count() {
    crate::common::same_everywhere(None, &[1, 2], run);
}

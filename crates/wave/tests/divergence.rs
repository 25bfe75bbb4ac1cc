//! Random shaders whose lanes go apart and read each other, active or not: the same memory and outputs on every SIMD level, interpreted and
//! compiled. Many more by `examples/mutants`.

use crate::engine::{self, Memory, Ran};
use shader::ir::Stage;

/// Modules that are changed, and their stages. None whose lanes write what others read.
const MODULES: [(&str, &[u8], Stage); 4] = [
    ("saxpy", include_bytes!("../../../benches/kernels/saxpy.spv"), Stage::Compute),
    ("march", include_bytes!("../../../benches/kernels/march.spv"), Stage::Compute),
    ("med", include_bytes!("../../../benches/kernels/med.spv"), Stage::Compute),
    ("medium", include_bytes!("../../../benches/pictures/medium.frag.spv"), Stage::Fragment),
];

/// How many of each are run; `TUFF_DIVERGENT` says otherwise.
fn count() -> u64 {
    std::env::var("TUFF_DIVERGENT").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

#[test]
fn what_lanes_read_of_each_other_is_the_same_everywhere() {
    let mut memory = Memory::new();
    let (mut same, mut refused) = (0, 0);
    for (name, bytes, stage) in MODULES {
        let words = shader::words(bytes);
        for seed in 0..count() {
            let changed = mutate::diverge(&words, seed * 4 + 1).expect("there is much to change");
            let lanes = [64, 128, 256][seed as usize % 3];
            let options = engine::options(stage, "main", lanes);
            let program = shader::Module::parse(&changed).and_then(|m| shader::compile(&m, &options));
            let Ok(program) = program else {
                refused += 1;
                continue;
            };
            match memory.run(&program, seed) {
                Ran::Same => same += 1,
                Ran::Stopped => {}
                Ran::Wrong(what) => panic!("{name}, seed {seed}, {lanes} lanes: {what}"),
            }
        }
    }
    assert!(same > 2 * count() && refused < count() / 2, "{same} the same, {refused} refused");
}

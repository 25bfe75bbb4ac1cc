//! Any words through the parser, the translation and the lowering: results or errors, never a panic or a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shader::ir::Stage;
use shader::options::{Binding, Options};

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    let Ok(module) = shader::Module::parse(&words) else { return };
    let binding =
        |_, b: u32| Some(Binding { table: 0, offset: 32 * (b & 255), stride: 32, count: 4, inline_data: false });
    for (entry, _) in module.entry_points() {
        let options = Options {
            stage: Stage::Compute,
            entry: &entry,
            spec: &[],
            binding: &binding,
            push_bytes: 256,
            lanes: None,
            machine: Default::default(),
            optimise: true,
        };
        if let Ok(shader) = shader::build::build(&module, &options) {
            shader::verify::verify(&shader).expect("the IR keeps its rules");
        }
        let _ = shader::compile(&module, &options);
    }
});

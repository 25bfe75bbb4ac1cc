//! Any words through the parser, the translation, the lowering and the instrumenting pass: results or errors, never a
//! panic or a hang.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use shader::bytecode::Program;
use shader::instrument::{Entry, Form, instrument};
use shader::ir::Stage;
use shader::options::{Binding, Options, WaveWidth};

/// Entry points that are looked at: a module can name one function many times.
const ENTRIES: usize = 4;

fn binding(_: u32, b: u32) -> Option<Binding> {
    // Of every kind that a layout can have; one binding is missing from it.
    let plain = Binding::new(0, 32 * (b & 255), 4);
    (b != 77).then_some(Binding { inline_data: b == 70, in_memory: b == 71, ..plain })
}

/// What is broken is the module, not what the compiler made of it.
fn blame(e: &shader::options::Error) {
    let text = e.to_string();
    assert!(!text.contains("error of the compiler") && !text.contains("broke its own rules"), "{text}");
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = shader::Module::parse(shader::words(bytes)) else { return };
    for (entry, model) in module.entry_points().into_iter().take(ENTRIES) {
        let stage = match model {
            0 => Stage::Vertex,
            4 => Stage::Fragment,
            _ => Stage::Compute,
        };
        let options = Options { spec: &[(0, 3)], ..Options::new(stage, &entry, &binding) };
        match shader::build::build(&module, &options) {
            Ok(shader) => shader::verify::verify(&shader).expect("the IR keeps its rules"),
            Err(e) => blame(&e),
        }
        match shader::compile(&module, &options) {
            Ok(program) => {
                let again = Program::from_bytes(&program.to_bytes()).expect("its own bytes");
                assert!(again == program, "a program is what its bytes say");
            }
            Err(e) => blame(&e),
        }
        if let Ok(marked) = instrument(&module, Entry::Named(&entry, Some(model)), Form::Marks) {
            // What the pass makes is a module, whether or not it compiles.
            let marked = shader::Module::parse(&marked.words).expect("an instrumented module parses");
            let _ = shader::compile(&marked, &options);
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let words = shader::words(&data[..size]);
    // Six in eight stay valid as often as not; one is changed without regard to the language, one by bytes.
    let changed = match seed % 8 {
        0 => None,
        1 => {
            let mut words = words;
            mutate::words::mutate(&mut words, max_size / 4, seed.into()).then_some(words)
        }
        _ => mutate::mutate(&words, seed.into()).filter(|w| w.len() <= max_size / 4),
    };
    let Some(words) = changed else { return fuzzer_mutate(data, size, max_size) };
    for (to, word) in data.chunks_exact_mut(4).zip(&words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    4 * words.len()
});

//! Any bytes as a program of a pipeline cache's blob: one that is written as it was read, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shader::bytecode::Program;

fuzz_target!(|bytes: &[u8]| {
    if let Some(program) = Program::from_bytes(bytes) {
        let written = program.to_bytes();
        let again = Program::from_bytes(&written).expect("its own bytes");
        // Not the bytes that came: any number but 0 is true. Not the program either: it may hold a NaN.
        assert!(again.to_bytes() == written, "a program is what its bytes say");
    }
});

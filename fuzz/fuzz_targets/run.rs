//! Any bytes as a program of a pipeline cache's blob: one that the check lets through stays within its memory on every SIMD level,
//! interpreted and compiled.
#![no_main]

#[path = "../../crates/wave/examples/mutants/engine.rs"]
#[allow(dead_code, reason = "the comparison is for mutants")]
mod engine;
#[path = "../../crates/wave/examples/mutants/forged.rs"]
#[allow(dead_code, reason = "libFuzzer makes the changes")]
mod forged;
#[path = "../../crates/wave/examples/mutants/guarded.rs"]
mod guarded;

use libfuzzer_sys::fuzz_target;
use shader::bytecode::Program;
use std::cell::RefCell;

thread_local! {
    static MEMORY: RefCell<engine::Memory> = RefCell::new(engine::Memory::new());
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(program) = Program::from_bytes(bytes).filter(forged::fits) {
        MEMORY
            .with_borrow_mut(|memory| memory.survive(&program, bytes.len() as u64))
            .expect("nothing has changed beside buffers");
    }
});

//! How much memory creation asks for: fresh pages and copies of lists that grow are a good part of its time.

use shader::Module;
use shader::ir::Stage;
use shader::options::{Binding, Options};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has asked for.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn note(bytes: usize) {
    // A thread that ends has none any more.
    let _ = ASKED.try_with(|a| a.set(a.get() + bytes));
}

// SAFETY: the system's allocator does all of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller's.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that are asked for while `f` runs.
fn asked<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = ASKED.get();
    let result = f();
    (result, ASKED.get() - before)
}

#[test]
fn creation_asks_for_little_memory() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/kernels/large.spv");
    let words = shader::words(&std::fs::read(path).expect("the bench's kernel"));
    let binding = |_: u32, b: u32| Some(Binding::new(0, 32 * b, 1));
    let options = Options::new(Stage::Compute, "main", &binding);
    let bytes = 4 * words.len();
    let (module, parsing) = asked(|| Module::parse(words).expect("parses"));
    // What finds ids and decorations, beside the words, which are not copied.
    assert!(parsing < bytes, "parsing {bytes} bytes asks for {parsing}");
    let (program, compiling) = asked(|| shader::compile(&module, &options).expect("compiles"));
    let ops = program.code.len();
    assert!(compiling < 1500 * ops, "compiling {ops} ops asks for {compiling} bytes");
}

//! The end of the process, or of the library in it: what is measured is written, though the program may have destroyed nothing.

extern "C" fn at_end() {
    crate::guard::caught(crate::output::finish);
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

/// The linker has done it all: build.rs has the library stay loaded.
pub(crate) fn prepare() {}

//! The library stays loaded when the loader is done with it: what it has measured is written when the process ends, and
//! files are opened once, though a program may make one instance after another.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_CFG_WINDOWS").is_some() {
        // The library pins itself (end/windows.rs). The same bytes at any time.
        println!("cargo::rustc-cdylib-link-arg=-Wl,--no-insert-timestamp");
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

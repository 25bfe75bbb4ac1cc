//! The release library: its size, what it needs, what it exports.

use client::drivers::{library_of, tuff_icd};
use std::path::PathBuf;
use std::process::Command;

fn library() -> PathBuf {
    let path = library_of(&tuff_icd()).unwrap();
    assert!(path.exists(), "{} is not built: cargo build --release -p icd", path.display());
    path
}

fn readelf(arguments: &[&str]) -> String {
    let output = Command::new("readelf")
        .args(arguments)
        .arg(library())
        .output()
        .expect("readelf (Debian's binutils) is installed");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether the library was built for `cargo xtask sanitize`: large, and with a need of its own. Says so then.
fn is_sanitized(test: &str) -> bool {
    let needed = readelf(&["-d", "-W"]);
    let yes = needed.lines().any(|l| l.contains("(NEEDED)") && l.contains("san"));
    if yes {
        not_run::say(&format!("conformance::library::{test}"), "a release library, not a sanitizer's");
    }
    yes
}

#[test]
fn it_is_under_16_megabytes() {
    if is_sanitized("it_is_under_16_megabytes") {
        return;
    }
    let size = std::fs::metadata(library()).unwrap().len();
    assert!(size < 16_000_000, "{size} bytes");
}

#[test]
fn it_needs_only_the_c_library() {
    if is_sanitized("it_needs_only_the_c_library") {
        return;
    }
    // The dynamic loader is a part of the C library that thread-local storage needs by name.
    let allowed = ["libc.so", "libm.so", "libgcc_s.so", "ld-linux"];
    let dynamic = readelf(&["-d", "-W"]);
    let needed: Vec<_> = dynamic.lines().filter(|l| l.contains("(NEEDED)")).collect();
    assert!(!needed.is_empty());
    let other: Vec<_> = needed.iter().filter(|l| !allowed.iter().any(|a| l.contains(a))).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn it_exports_the_loader_interface_and_the_channel() {
    let symbols = readelf(&["--dyn-syms", "-W"]);
    for name in [
        "vk_icdNegotiateLoaderICDInterfaceVersion",
        "vk_icdGetInstanceProcAddr",
        "vk_icdGetPhysicalDeviceProcAddr",
        "tuff_channel",
    ] {
        let defined = |l: &&str| l.split_whitespace().last() == Some(name) && !l.contains(" UND ");
        assert!(symbols.lines().any(|l| defined(&l)), "{name} is not exported");
    }
}

/// The library is stripped; `libvulkan_tuff.map` beside it says where its functions are, for the driver's own messages.
#[test]
fn the_map_beside_it_tells_where_functions_are() {
    if is_sanitized("the_map_beside_it_tells_where_functions_are") {
        return;
    }
    let path = library().with_extension("map");
    let map = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = "vk_icdGetInstanceProcAddr";
    let symbols = readelf(&["--dyn-syms", "-W"]);
    let row = symbols.lines().find(|l| l.split_whitespace().last() == Some(name)).expect("it is exported");
    let at = u64::from_str_radix(row.split_whitespace().nth(1).unwrap(), 16).unwrap();
    let told = |l: &str| {
        let words: Vec<_> = l.split_whitespace().collect();
        words.len() == 5 && words[4] == name && u64::from_str_radix(words[0], 16) == Ok(at)
    };
    assert!(map.lines().any(told), "{name} is at {at:#x}");
    assert!(map.lines().filter(|l| l.contains(" _ZN") || l.contains(" _R")).count() > 1000);
    let sections = readelf(&["-S", "-W"]);
    assert!(!sections.contains(".symtab"), "not stripped:\n{sections}");
}

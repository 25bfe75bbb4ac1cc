//! Compiled code as text.
//!
//! A file of `tests/listings` has cases: `; case NAME`, a program as `shader::bytecode_print` writes it, and what comes of it with
//! AVX-512 and with AVX2: nodes, machine code, and the constants that it reads. `tests/listings-aarch64` has what comes of it there, by
//! the cases' names. TUFF_BLESS=1 writes the present results.

#[cfg(target_arch = "aarch64")]
#[path = "disassembly/arm.rs"]
mod disassembly;
#[cfg(target_arch = "x86_64")]
#[path = "disassembly/x86.rs"]
mod disassembly;

use disassembly::disassembled;
use std::fmt::Write;
use std::path::Path;

fn listing(text: &str) -> Result<String, String> {
    let program = shader::bytecode_read::read(text)?;
    let mut out = String::new();
    for (name, target) in wave::jit::listing::targets() {
        let _ = writeln!(out, "; becomes, with {name}");
        let functions = wave::jit::listing::functions(&program, target);
        if functions.is_empty() {
            out.push_str("nothing\n");
        }
        for f in functions {
            let _ = write!(out, "{}  code:\n{}", f.nodes, disassembled(&f.code));
        }
    }
    Ok(out)
}

#[test]
fn programs_become_what_is_recorded() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let bless = std::env::var_os("TUFF_BLESS").is_some();
    let apart = cfg!(target_arch = "aarch64");
    let mut cases = 0;
    for e in std::fs::read_dir(tests.join("listings")).expect("tests/listings") {
        let path = e.expect("an entry").path();
        let inputs = std::fs::read_to_string(&path).expect("readable");
        let recorded = match apart {
            true => tests.join("listings-aarch64").join(path.file_name().expect("a file")),
            false => path.clone(),
        };
        let mut parts = inputs.split("; case ");
        let before = parts.next().unwrap_or("");
        let mut now = if apart { String::new() } else { before.to_string() };
        for case in parts {
            let (name, rest) = case.split_once('\n').expect("a case");
            let (input, _) = rest.split_once("\n; becomes").unwrap_or((rest, ""));
            let got = listing(input).unwrap_or_else(|e| panic!("{}: {name}: {e}", path.display()));
            let input = if apart { "" } else { input.trim_end() };
            let _ = write!(now, "; case {name}\n{input}\n\n{got}\n");
            cases += 1;
        }
        let now = format!("{}\n", now.trim_end());
        if bless {
            std::fs::write(&recorded, &now).expect("writable");
            continue;
        }
        let text = std::fs::read_to_string(&recorded).unwrap_or_default();
        if now != text {
            let line = now.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let part: Vec<&str> = now.lines().skip(line.saturating_sub(5)).take(30).collect();
            panic!("{}, from line {} on, is now:\n{}", recorded.display(), line + 1, part.join("\n"));
        }
    }
    assert!(cases >= 40, "{cases} cases");
}

//! The IR's text, and passes by themselves.
//!
//! A file of `tests/passes` is a case or several: `; pass NAME`, the IR before, `; becomes`, and what comes of it: IR, or
//! the listing of the bytecode where the pass is `lower`. TUFF_BLESS=1 writes what comes of it now.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use modules::{below, entries, options};
use shader::ir::{DescriptorSource, Inst, Shader};
use shader::ir_print::print;
use shader::ir_read::read;
use shader::lower::lower;
use shader::pass::{PASSES, optimise};
use shader::verify::verify;
use std::path::Path;

/// The text says all: a shader read back prints as it did, keeps the rules, and becomes the same program.
fn same(name: &str, s: &Shader) {
    let text = print(s);
    let back = read(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
    assert!(print(&back) == text, "{name}:\n{text}\nwas read as\n{}", print(&back));
    assert_eq!((verify(s), verify(&back)), (Ok(()), Ok(())), "{name}");
    let options = options(s.stage, "");
    let (a, b) = (lower(s, &options), lower(&back, &options));
    match (a, b) {
        (Ok(a), Ok(b)) => assert!(a == b, "{name}: another program"),
        (a, b) => assert_eq!(a.err().map(|e| e.to_string()), b.err().map(|e| e.to_string()), "{name}"),
    }
}

#[test]
fn text_reads_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shaders = 0;
    for (path, words) in below(vec![root.join("crates"), root.join("benches")]) {
        let module = shader::Module::parse(&words).expect("parses");
        for (entry, stage) in entries(&module) {
            let name = format!("{} {entry}", path.display());
            let options = options(stage, &entry);
            let Ok(mut s) = shader::build::build(&module, &options) else { continue };
            same(&name, &s);
            optimise(&mut s, &options).expect("optimises");
            same(&name, &s);
            shaders += 1;
        }
    }
    assert!(shaders >= 100, "{shaders} shaders");
}

/// Few shaders of this repository have them all.
#[test]
fn sources_of_descriptors_read_back() {
    use DescriptorSource::*;
    for (text, source) in [
        ("3.70", Binding { set: 3, binding: 70 }),
        // A set's number is no sign of another source.
        ("4294967295.0", Binding { set: u32::MAX, binding: 0 }),
        ("null", Null),
        ("heap Samplers", Heap(shader::options::Heap::Samplers)),
        ("heap Resources", Heap(shader::options::Heap::Resources)),
        ("bytes Resources", HeapBytes(shader::options::Heap::Resources)),
        ("address", Address),
        ("embedded 2", Embedded(2)),
        ("data 1", Data(1)),
    ] {
        let line = format!("    %0: B64 = descriptor {text}[0]\n");
        let s =
            read(&format!("Compute [64, 1, 1]\nb0:\n{line}    store B32 buffer %0[0 + 4] = 1\n    return\n"))
                .unwrap_or_else(|e| panic!("{text}: {e}"));
        let is = |i: &Inst| matches!(i, Inst::Descriptor { source: of, .. } if *of == source);
        assert!(s.values.iter().any(|v| is(&v.inst)), "{text}");
        assert!(print(&s).contains(&line), "{}", print(&s));
    }
}

#[test]
fn listings_of_bytecode_read_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut programs = 0;
    for (path, words) in below(vec![root.join("crates"), root.join("benches")]) {
        let module = shader::Module::parse(&words).expect("parses");
        for (entry, stage) in entries(&module) {
            let Ok(p) = shader::compile(&module, &options(stage, &entry)) else { continue };
            if !p.images.is_empty() {
                continue;
            }
            let text = shader::bytecode_print::print(&p);
            let what = format!("{} {entry}:\n{text}", path.display());
            let q = shader::bytecode_read::read(&text).unwrap_or_else(|e| panic!("{e}: {what}"));
            for (i, (a, b)) in p.code.iter().zip(&q.code).enumerate() {
                assert_eq!(a, b, "op {i}, {what}");
            }
            assert_eq!(shader::bytecode_print::print(&q), text, "{what}");
            assert_eq!((p.code.len(), p.consts, p.inputs), (q.code.len(), q.consts, q.inputs), "{what}");
            assert_eq!((p.lanes, p.units, p.prologue), (q.lanes, q.units, q.prologue), "{what}");
            assert_eq!((p.workgroup, p.packed, p.outputs), (q.workgroup, q.packed, q.outputs), "{what}");
            programs += 1;
        }
    }
    assert!(programs >= 100, "{programs} programs");
}

#[test]
fn what_is_no_ir_is_told() {
    let head = "Compute [1, 1, 1]\nb0:\n";
    for (text, what) in [
        ("", "no end"),
        ("Compute [1, 1]\n", "line 1"),
        ("b1:\n", "in order"),
        (head, "no end"),
        (&format!("{head}    %0: B32 = FAdd 1\n    return\n"), "1 operands, not 2"),
        (&format!("{head}    %0: B32 = FAdd 1, %7\n    return\n"), "%7 is not defined"),
        (&format!("{head}    %0: B32 = Frob 1\n    return\n"), "`Frob`"),
        (&format!("{head}    %0: B32 = FNeg 1 2\n    return\n"), "what is `2`"),
        (&format!("{head}    %0: B33 = FNeg 1\n    return\n"), "`B33`"),
        (&format!("{head}b1:\n    return\n"), "has no end"),
        (&format!("{head}    %99999999: B32 = FNeg 1\n    return\n"), "too many"),
    ] {
        let error = read(text).expect_err(text);
        assert!(error.contains(what), "{text}: {error}");
    }
}

/// What the pass of a name makes of a shader, as text.
fn apply(pass: &str, input: &str) -> Result<String, String> {
    let mut s = read(input)?;
    verify(&s)?;
    let options = options(s.stage, "main");
    if pass == "lower" {
        let program = lower(&s, &options).map_err(|e| e.to_string())?;
        shader::bytecode_check::check(&program).map_err(|e| e.to_string())?;
        return Ok(shader::bytecode_print::print(&program));
    }
    let (_, run) = PASSES.iter().find(|p| p.0 == pass).ok_or_else(|| format!("no pass {pass}"))?;
    run(&mut s, &options).map_err(|e| e.to_string())?;
    Ok(print(&s))
}

#[test]
fn passes_make_what_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let bless = std::env::var_os("TUFF_BLESS").is_some();
    let mut seen = vec![];
    for e in std::fs::read_dir(folder).expect("tests/passes") {
        let path = e.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let mut now = String::new();
        let mut cases = text.split("; pass ");
        now.push_str(cases.next().unwrap_or(""));
        for case in cases {
            let (pass, rest) = case.split_once('\n').expect("a case");
            let (input, _) = rest.split_once("; becomes\n").unwrap_or((rest, ""));
            let name = pass.split([' ', ':']).next().unwrap_or("");
            let got = apply(name, input).unwrap_or_else(|e| panic!("{}: {pass}: {e}", path.display()));
            now.push_str(&format!("; pass {pass}\n{}\n\n; becomes\n{got}\n", input.trim_end()));
            seen.push(name.to_string());
        }
        let now = format!("{}\n", now.trim_end());
        if bless {
            std::fs::write(&path, &now).expect("writable");
        } else {
            assert!(now == text, "{} is now:\n{now}", path.display());
        }
    }
    for (name, _) in PASSES {
        assert!(seen.iter().any(|s| s == name), "no case of {name}");
    }
    assert!(seen.iter().any(|s| s == "lower"), "no case of lower");
}

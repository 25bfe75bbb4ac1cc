//! The instrumenting pass: what it inserts, word for word, for small modules; what holds for every module of this
//! repository: only insertions, a mark in each block and in front of whatever runs, valid by spirv-val.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use modules::{below, read};
use shader::Module;
use shader::instrument::{
    Block, Counters, Entry, Form, Instrumented, MARKS_SET, blocks, instrument, json, sources,
};
use spirv::Op;
use std::fmt::Write;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const ATOMICS: Form = Form::Atomics(Counters { set: 7, binding: 3, wide: false });
const WIDE: Form = Form::Atomics(Counters { set: 0, binding: 99, wide: true });
const FORMS: [(&str, Form); 3] = [("marks", Form::Marks), ("atomics", ATOMICS), ("wide", WIDE)];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn own(name: &str) -> Vec<u32> {
    read(root().join("tests/instrument").join(name))
}

/// Every module that is checked in: those of this room, of the conformance tests, of the kernels, of the demo.
fn all_modules() -> Vec<(String, Vec<u32>)> {
    let folders = vec![
        root().join("tests"),
        root().join("../conformance"),
        root().join("../client/src"),
        root().join("../gpu"),
        root().join("../tuff"),
        root().join("../../benches"),
    ];
    let out: Vec<_> =
        below(folders).into_iter().map(|(p, words)| (p.to_string_lossy().into_owned(), words)).collect();
    assert!(out.len() >= 60, "only {} modules", out.len());
    out
}

/// The instructions after the header.
fn instructions(words: &[u32]) -> Vec<&[u32]> {
    let mut out = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let n = (words[at] >> 16) as usize;
        out.push(&words[at..at + n]);
        at += n;
    }
    out
}

fn op(i: &[u32]) -> Op {
    Op::from_u32(i[0] & 0xFFFF).expect("an opcode")
}

/// Each instruction of `output`, and whether it is new; everything of `input` is there, in its order.
fn compare<'a>(input: &'a [u32], output: &'a [u32]) -> Vec<(bool, &'a [u32])> {
    assert_eq!(input[..3], output[..3]);
    assert_eq!(input[4], output[4]);
    let old = instructions(input);
    let mut next = 0;
    let mut out = Vec::new();
    for i in instructions(output) {
        let same = old.get(next).is_some_and(|o| {
            *o == i || (op(o) == Op::EntryPoint && op(i) == Op::EntryPoint && i[1..].starts_with(&o[1..]))
        });
        next += same as usize;
        out.push((!same, i));
    }
    assert_eq!(next, old.len(), "instructions of the input are gone");
    out
}

fn text(input: &[u32], made: &Instrumented) -> String {
    let mut out = String::new();
    for (new, i) in compare(input, &made.words) {
        // What the pass leaves alone before the functions is of no interest.
        if new
            || !matches!(
                op(i),
                Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate | Op::String | Op::Source
            )
        {
            let _ = write!(out, "{} {:?}", if new { '+' } else { ' ' }, op(i));
            for w in &i[1..] {
                let _ = write!(out, " {w}");
            }
            out.push('\n');
        }
    }
    out + &json(&made.blocks)
}

fn make(name: &str, form: Form) -> Instrumented {
    let words = own(name);
    let m = Module::parse(&words).expect("parses");
    instrument(&m, Entry::Named("main", None), form).expect("instruments")
}

/// TUFF_BLESS=1 writes what is there now.
#[test]
fn small_modules_become_what_is_recorded() {
    for (name, form) in [
        ("marks.spv", "marks"),
        ("marks.spv", "atomics"),
        ("trips.1.0.spv", "atomics"),
        ("trips.1.4.spv", "wide"),
        ("trips.1.6.spv", "marks"),
        ("trips.line.spv", "marks"),
        ("trips.debug.spv", "marks"),
    ] {
        let f = FORMS.iter().find(|f| f.0 == form).expect("a form").1;
        let got = text(&own(name), &make(name, f));
        let path = root().join(format!("tests/instrument/{name}.{form}"));
        if std::env::var_os("TUFF_BLESS").is_some() {
            std::fs::write(&path, &got).expect("writable");
        }
        let want = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(got == want, "{name} {form} is now:\n{got}");
    }
}

/// The number of the mark that the instructions after a label begin with, and how many instructions it takes.
fn mark_at(rest: &[&[u32]], set: Option<u32>, constants: &dyn Fn(u32) -> Option<u32>) -> Option<u32> {
    match set {
        Some(set) => {
            let i = rest.first()?;
            (op(i) == Op::ExtInst && i[3] == set && i[4] == 1).then(|| constants(i[5])).flatten()
        }
        None => {
            let (chain, add) = (rest.first()?, rest.get(1)?);
            let good = op(chain) == Op::AccessChain && op(add) == Op::AtomicIAdd && add[3] == chain[2];
            good.then(|| constants(chain[5])).flatten()
        }
    }
}

#[test]
fn every_block_of_every_module_has_its_mark_and_nothing_else_changes() {
    for (name, words) in all_modules() {
        let m = Module::parse(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
        let labels = instructions(&words).iter().filter(|i| op(i) == Op::Label).count();
        for (form, f) in FORMS {
            let made = instrument(&m, Entry::All, f).unwrap_or_else(|e| panic!("{name} {form}: {e}"));
            assert_eq!(made.blocks.len(), labels, "{name} {form}");
            assert_eq!(made.blocks, blocks(&m, Entry::All).expect("a table"), "{name} {form}");
            compare(&words, &made.words);
            let all = instructions(&made.words);
            let constant = |id: u32| all.iter().find(|i| op(i) == Op::Constant && i[2] == id).map(|i| i[3]);
            let import = all.iter().find(|i| {
                let mut bytes = i[1..].iter().skip(1).flat_map(|w| w.to_le_bytes());
                op(i) == Op::ExtInstImport && MARKS_SET.bytes().all(|b| bytes.next() == Some(b))
            });
            assert_eq!(import.is_some(), form == "marks", "{name} {form}");
            let set = import.map(|i| i[1]);
            let step = if form == "wide" { 2 } else { 1 };
            let heads = all.iter().enumerate().filter(|(_, i)| op(i) == Op::Label);
            for (seen, (k, i)) in heads.enumerate() {
                let mut at = k + 1;
                while mark_at(&all[at..], set, &constant) != Some(seen as u32 * step) {
                    let o = op(all[at]);
                    let stays = matches!(o, Op::Phi | Op::Variable | Op::Line | Op::NoLine | Op::ExtInst);
                    assert!(stays, "{name} {form}: {o:?} comes before the mark of block {seen}");
                    at += 1;
                }
                assert_eq!(made.blocks[seen].label, i[1], "{name} {form}");
                assert_eq!(made.blocks[seen].index, seen as u32);
            }
        }
    }
}

/// spirv-val's opinion, if it finds fault.
fn fault(words: &[u32], environment: &str) -> Option<String> {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", environment, "--scalar-block-layout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val (Debian's spirv-tools) is installed");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().expect("piped").write_all(&bytes).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    if out.status.success() { None } else { Some(text) }
}

/// The oldest Vulkan environment that takes a version.
fn environment(words: &[u32]) -> &'static str {
    match words[1] >> 8 & 0xFF {
        0..=2 => "vulkan1.0",
        3 => "vulkan1.1",
        4 => "vulkan1.1spv1.4",
        5 => "vulkan1.2",
        _ => "vulkan1.3",
    }
}

#[test]
fn spirv_val_finds_no_fault() {
    for (name, words) in all_modules() {
        let environment = environment(&words);
        // What it refuses as it is (an extension that this spirv-val does not know) says nothing about the pass.
        if fault(&words, environment).is_some() {
            not_run::say(
                &format!(
                    "shader::instrument::spirv_val_finds_no_fault of {}",
                    name.rsplit('/').next().unwrap_or(&name)
                ),
                "a newer spirv-val, which takes the module as it is",
            );
            continue;
        }
        let m = Module::parse(&words).expect("parses");
        for (form, f) in FORMS {
            let made = instrument(&m, Entry::All, f).expect("instruments");
            if let Some(text) = fault(&made.words, environment) {
                panic!("{name} {form}: {text}");
            }
        }
    }
}

#[test]
fn every_version_is_valid() {
    let mut versions: Vec<Vec<u32>> =
        ["1.0", "1.3", "1.4", "1.5", "1.6"].iter().map(|v| own(&format!("trips.{v}.spv"))).collect();
    for minor in [1, 2] {
        let mut words = own("trips.1.0.spv");
        words[1] = 0x0001_0000 | minor << 8;
        versions.push(words);
    }
    for words in versions {
        let env = if words[1] < 0x0001_0300 { "spv1.2" } else { environment(&words) };
        assert_eq!(fault(&words, env), None, "{:#x} before", words[1]);
        let m = Module::parse(&words).expect("parses");
        for (form, f) in FORMS {
            let made = instrument(&m, Entry::All, f).expect("instruments");
            assert_eq!(fault(&made.words, env), None, "{:#x} {form}", words[1]);
        }
    }
}

/// The blocks of `function`, as (line, lines, is a loop header).
fn of<'a>(all: &'a [Block], function: &str) -> Vec<(u32, &'a [u32], bool)> {
    let here = all.iter().filter(|b| b.function_name.trim_end_matches("(u1;") == function);
    here.map(|b| (b.line, b.lines.as_slice(), b.loop_header)).collect()
}

/// Lines as one finds them in trips.comp.
#[test]
fn lines_are_those_of_the_source() {
    for name in ["trips.line.spv", "trips.debug.spv"] {
        let m = Module::parse(own(name)).expect("parses");
        let all = blocks(&m, Entry::All).expect("a table");
        assert!(all.iter().filter(|b| b.line != 0).all(|b| b.file == "trips.comp"), "{name}");
        let main = of(&all, "main");
        // Entry; the loop's header, test, body, step, merge; then, merge of the if.
        assert_eq!(main.len(), 8, "{name}");
        assert_eq!(main.iter().filter(|b| b.2).count(), 1, "{name}");
        let body = main.iter().filter(|b| b.1 == [19]).count();
        assert_eq!(body, 1, "{name}: {main:?}");
        assert!(main.iter().any(|b| b.1 == [21]), "{name}: {main:?}");
        assert_eq!(main[0].0, 16, "{name}");
        let twist = of(&all, "twist");
        assert_eq!(twist.iter().map(|b| b.0).collect::<Vec<_>>(), [9, 10, 11], "{name}");
        assert!(sources(&m).iter().any(|s| s.text.contains("odd sums take a branch")), "{name}");
    }
}

#[test]
fn an_entry_point_has_only_the_functions_it_calls() {
    let m = Module::parse(own("trips.1.0.spv")).expect("parses");
    let main = blocks(&m, Entry::Named("main", Some(5))).expect("a table");
    assert_eq!(main, blocks(&m, Entry::All).expect("a table"));
    assert!(blocks(&m, Entry::Named("main", Some(4))).is_err());
    assert!(blocks(&m, Entry::Named("nobody", None)).is_err());
}

#[test]
fn a_taken_binding_is_an_error() {
    let m = Module::parse(own("trips.1.0.spv")).expect("parses");
    let at = |binding| Form::Atomics(Counters { set: 0, binding, wide: false });
    assert!(instrument(&m, Entry::All, at(1)).is_err());
    assert!(instrument(&m, Entry::All, at(2)).is_ok());
}

/// A mark changes nothing for a compiler that does not know it: the program is the same.
#[test]
fn atomics_compile() {
    use shader::options::{Binding, Options};
    let binding = |_, b| Some(Binding::new(0, 32 * b, 4));
    for name in ["trips.1.0.spv", "trips.1.6.spv", "trips.debug.spv"] {
        for (form, f) in FORMS {
            let made = make(name, f);
            let m = Module::parse(&made.words).expect("parses");
            let o = Options::new(shader::ir::Stage::Compute, "main", &binding);
            shader::compile(&m, &o).unwrap_or_else(|e| panic!("{name} {form}: {e}"));
        }
    }
}

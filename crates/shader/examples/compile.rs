//! Compiles every vertex, fragment and compute entry point of SPIR-V files and counts what came of it, one line a
//! distinct error: for corpora.
//! `cargo run --profile quick -p shader --example compile -- [--mutate N] FILE.spv…`

#[allow(dead_code, reason = "others use the rest")]
#[path = "../tests/modules/mod.rs"]
mod modules;

use modules::{damaged, entries, options};
use shader::options::Options;
use std::collections::BTreeMap;

fn main() {
    let (files, mutations) = modules::arguments();
    let (mut good, mut errors) = (0, BTreeMap::<String, (u32, String)>::new());
    let mut random = random::Random::new(1);
    for path in &files {
        let words = modules::read(path);
        if mutations == 0 {
            for (what, ok) in compile(&words, true) {
                if ok {
                    good += 1;
                } else {
                    errors.entry(what).or_insert((0, path.clone())).0 += 1;
                }
            }
            continue;
        }
        for _ in 0..mutations {
            let w = damaged(&words, &mut random);
            let print = random.once_in(2);
            let copy = w.clone();
            let r = std::panic::catch_unwind(move || compile(&w, print));
            match r {
                Ok(list) => good += list.iter().filter(|r| r.1).count(),
                Err(_) => {
                    let to = temporary::file("panic-", ".spv").expect("a temporary file");
                    let bytes: Vec<u8> = copy.iter().flat_map(|w| w.to_le_bytes()).collect();
                    std::fs::write(&to, bytes).expect("a writable file");
                    let to = to.display().to_string();
                    errors.entry("panic".into()).or_insert((0, to)).0 += 1;
                }
            }
        }
    }
    for (what, (n, path)) in &errors {
        println!("{n:5} {what} ({path})");
    }
    println!("{good} programs");
}

/// What became of each entry point.
fn compile(words: &[u32], optimise: bool) -> Vec<(String, bool)> {
    let module = match shader::Module::parse(words) {
        Ok(m) => m,
        Err(e) => return vec![(e.to_string(), false)],
    };
    let mut out = vec![];
    for (entry, stage) in entries(&module) {
        let options = Options { optimise, ..options(stage, &entry) };
        let built = shader::build::build(&module, &options).and_then(|mut s| {
            let checked = shader::verify::verify(&s);
            shader::pass::compile_ir(&mut s, &options).map(|_| checked)
        });
        out.push(match built {
            Ok(Ok(())) => (String::new(), true),
            Ok(Err(e)) => (format!("verify: {e}"), false),
            Err(e) => {
                // Numbers differ from case to case.
                let text = e.to_string();
                let text = text
                    .split_whitespace()
                    .map(|w| if w.trim_matches(':').chars().all(|c| c.is_ascii_digit()) { "N" } else { w });
                (format!("{stage:?}: {}", text.collect::<Vec<_>>().join(" ")), false)
            }
        });
    }
    out
}

//! Compiles every vertex, fragment and compute entry point of SPIR-V files and counts what came of it, one line a
//! distinct error: for corpora.
//! `cargo run --profile quick -p shader --example compile -- [--mutate N] FILE.spv…`

use shader::ir::Stage;
use shader::options::{Binding, Options};
use std::collections::BTreeMap;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut mutations = 0;
    if args.first().is_some_and(|a| a == "--mutate") {
        mutations = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(1);
        args.drain(..2.min(args.len()));
    }
    let (mut good, mut errors) = (0, BTreeMap::<String, (u32, String)>::new());
    let mut seed = 1u64;
    for path in &args {
        let bytes = std::fs::read(path).expect("a readable file");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
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
            let mut w = words.clone();
            for _ in 0..1 + seed % 3 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let at = 5 + (seed >> 33) as usize % (w.len() - 5);
                let other = (seed >> 20) as usize % w.len();
                w[at] = match seed >> 60 {
                    0..=5 => w[other],
                    6..=9 => w[at] ^ 1 << (seed >> 50 & 31),
                    10..=13 => w[at].wrapping_add(1 + (seed >> 50 & 3) as u32),
                    _ => (seed >> 8) as u32,
                };
            }
            let copy = w.clone();
            let r = std::panic::catch_unwind(move || compile(&w, seed & 1 << 40 != 0));
            match r {
                Ok(list) => good += list.iter().filter(|r| r.1).count(),
                Err(_) => {
                    let to = format!("/tmp/panic-{seed:x}.spv");
                    let bytes: Vec<u8> = copy.iter().flat_map(|w| w.to_le_bytes()).collect();
                    std::fs::write(&to, bytes).expect("a writable file");
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
    let binding = |_, b: u32| Some(Binding::new(0, b % 64 * 32, 64));
    let mut out = vec![];
    for (entry, model) in module.entry_points() {
        let stage = match model {
            0 => Stage::Vertex,
            4 => Stage::Fragment,
            5 => Stage::Compute,
            _ => continue,
        };
        let options = Options {
            stage,
            entry: &entry,
            spec: &[],
            binding: &binding,
            push_bytes: 256,
            lanes: None,
            machine: Default::default(),
            optimise,
        };
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

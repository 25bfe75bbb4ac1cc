//! Changed programs through the check and the engine: `forged [--runs N] [--seed S] [--from N] [--seeds FOLDER] [--at FILE] FILE.spv…`
//!
//! Programs of the modules are changed in some places ([`changed`]) as bytes of a pipeline cache. Those that the check lets through run on every SIMD
//! level, interpreted and compiled, with buffers between guard pages, until there were N runs (100000). A run that leaves its memory ends
//! the process, or is said; with `--at` its number is in that file. With `--seeds` the programs' bytes are written to a folder, for the fuzz target
//! `run`.
//!
//! `cargo run --profile quick -p wave --example forged -- $(git ls-files '*.spv')`; with the address sanitizer: fuzz/README.md.

#[path = "../mutants/engine.rs"]
#[allow(dead_code, reason = "the comparison is for mutants")]
mod engine;
#[path = "../mutants/forged.rs"]
mod forged;
#[path = "../mutants/guarded.rs"]
mod guarded;

use std::time::{Duration, Instant};

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut runs, mut seed, mut from, mut seeds, mut files) = (100_000u64, 1u64, 0u64, None, vec![]);
    let mut at = None;
    while let Some(a) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse().ok()).expect("a number");
        match a.as_str() {
            "--runs" => runs = number(),
            "--seed" => seed = number(),
            "--from" => from = number(),
            "--seeds" => seeds = arguments.next(),
            "--at" => at = arguments.next(),
            _ => files.push(a),
        }
    }
    let read = |f: &String| shader::words(&std::fs::read(f).unwrap_or_else(|e| panic!("{f}: {e}")));
    let programs = forged::programs(files.iter().map(|f| (f.as_str(), read(f))));
    println!("{} programs of {} modules", programs.len(), files.len());
    assert!(!programs.is_empty(), "there is something to change");
    if let Some(folder) = seeds {
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        for (n, (_, p)) in programs.iter().enumerate() {
            std::fs::write(format!("{folder}/{n}"), p.to_bytes()).expect("a file can be written");
        }
        return std::process::ExitCode::SUCCESS;
    }
    let mut memory = engine::Memory::new();
    let mut counts = forged::Counts::default();
    let (start, mut told) = (Instant::now(), Instant::now());
    let (mut n, mut wrong) = (from, false);
    while counts.runs < runs {
        // Each by a seed of its own, so that one can be run again alone.
        let mut r = random::Random::new(
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ n.wrapping_mul(0xBF58_476D_1CE4_E5B9),
        );
        r.u64();
        let (name, p) = &programs[r.index(programs.len())];
        if let Some(at) = &at {
            std::fs::write(at, format!("--from {n}: {name}\n")).expect("the file can be written");
        }
        if let Err(e) = counts.one(p, &mut memory, &mut r) {
            println!("WRONG --seed {seed} --from {n}: {name}: {e}");
            wrong = true;
        }
        n += 1;
        if told.elapsed() > Duration::from_secs(20) {
            println!("{counts:?}, {:.0} s", start.elapsed().as_secs_f64());
            told = Instant::now();
        }
    }
    println!("{counts:?}, {:.0} s", start.elapsed().as_secs_f64());
    std::process::ExitCode::from(wrong as u8)
}

//! Prints a hash of the programs that each SPIR-V file compiles to, with several sets of options: for showing that a
//! change of the compiler leaves its code as it was. With `--mutate N`: of N damaged copies of each file too, for paths
//! that whole shaders do not take.
//! `cargo run --profile quick -p shader --example hashes -- [--mutate N] FILE.spv…`

use shader::instrument::{Entry, Form, instrument};
use shader::ir::Stage;
use shader::options::{Binding, Options};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut mutations = 0;
    if args.first().is_some_and(|a| a == "--mutate") {
        mutations = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(1);
        args.drain(..2.min(args.len()));
    }
    std::panic::set_hook(Box::new(|_| {}));
    for path in &args {
        let bytes = std::fs::read(path).expect("a readable file");
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let (mut code, mut text) = (DefaultHasher::new(), DefaultHasher::new());
        let mut programs = all(&words, &mut code, &mut text);
        let mut seed = words.len() as u64;
        for _ in 0..mutations {
            programs += all(&damaged(&words, &mut seed), &mut code, &mut text);
        }
        println!("{:016x} {:016x} {programs:5} {path}", code.finish(), text.finish());
    }
}

/// A copy with one to three words changed.
fn damaged(words: &[u32], seed: &mut u64) -> Vec<u32> {
    let mut w = words.to_vec();
    for _ in 0..1 + *seed % 3 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let at = 5 + (*seed >> 33) as usize % (w.len() - 5);
        let other = (*seed >> 20) as usize % w.len();
        w[at] = match *seed >> 60 {
            0..=5 => w[other],
            6..=9 => w[at] ^ 1 << (*seed >> 50 & 31),
            10..=13 => w[at].wrapping_add(1 + (*seed >> 50 & 3) as u32),
            _ => (*seed >> 8) as u32,
        };
    }
    w
}

/// Hashes what every option set makes of every entry point: its bytes, and its listing. Returns how many are programs.
fn all(words: &[u32], code: &mut DefaultHasher, text: &mut DefaultHasher) -> u32 {
    let mut programs = 0;
    for marked in [false, true] {
        let made = catch_unwind(AssertUnwindSafe(|| {
            let module = shader::Module::parse(words)?;
            if !marked {
                return Ok(module);
            }
            let with = instrument(&module, Entry::All, Form::Marks)?;
            shader::Module::parse(&with.words)
        }));
        let module = match made {
            Ok(Ok(m)) => m,
            Ok(Err(e)) => {
                code.write(e.to_string().as_bytes());
                continue;
            }
            Err(_) => {
                code.write(b"panic");
                continue;
            }
        };
        for (entry, model) in module.entry_points() {
            let stage = match model {
                0 => Stage::Vertex,
                4 => Stage::Fragment,
                5 => Stage::Compute,
                _ => continue,
            };
            for (optimise, lanes, in_memory) in
                [(true, None, false), (true, Some(64), true), (true, Some(128), false), (false, None, false)]
            {
                if marked && !optimise {
                    continue;
                }
                let binding = |_, b: u32| Some(Binding { in_memory, ..Binding::new(0, b % 64 * 32, 64) });
                let options = Options {
                    stage,
                    entry: &entry,
                    spec: &[],
                    binding: &binding,
                    push_bytes: 256,
                    lanes,
                    machine: Default::default(),
                    optimise,
                };
                match catch_unwind(AssertUnwindSafe(|| shader::compile(&module, &options))) {
                    Ok(Ok(program)) => {
                        programs += 1;
                        code.write(&program.to_bytes());
                        let mut listing = shader::bytecode_print::print(&program);
                        let _ = write!(listing, "{:?} {:?}", program.interface, program.profile);
                        text.write(listing.as_bytes());
                    }
                    Ok(Err(e)) => code.write(e.to_string().as_bytes()),
                    Err(_) => code.write(b"panic"),
                }
            }
        }
    }
    programs
}

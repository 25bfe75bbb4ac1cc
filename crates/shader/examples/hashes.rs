//! Prints a hash of the programs that each SPIR-V file compiles to, with several sets of options: for showing that a
//! change of the compiler leaves its code as it was. With `--mutate N`: of N damaged copies of each file too, for paths
//! that whole shaders do not take.
//! `cargo run --profile quick -p shader --example hashes -- [--mutate N] FILE.spv…`

#[allow(dead_code, reason = "others use the rest")]
#[path = "../tests/modules/mod.rs"]
mod modules;

use modules::{damaged, entries, options};
use shader::instrument::{Entry, Form, instrument};
use shader::options::{Binding, Options, WaveWidth};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn main() {
    let (files, mutations) = modules::arguments();
    std::panic::set_hook(Box::new(|_| {}));
    for path in &files {
        let words = modules::read(path);
        let (mut code, mut text) = (DefaultHasher::new(), DefaultHasher::new());
        let mut programs = all(&words, &mut code, &mut text);
        let mut random = random::Random::new(words.len() as u64);
        for _ in 0..mutations {
            programs += all(&damaged(&words, &mut random), &mut code, &mut text);
        }
        println!("{:016x} {:016x} {programs:5} {path}", code.finish(), text.finish());
    }
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
        for (entry, stage) in entries(&module) {
            for (optimise, lanes, in_memory) in
                [(true, None, false), (true, Some(64), true), (true, Some(128), false), (false, None, false)]
            {
                if marked && !optimise {
                    continue;
                }
                let binding = |_, b: u32| Some(Binding { in_memory, ..Binding::new(0, b % 64 * 32, 64) });
                let options = Options {
                    binding: &binding,
                    width: lanes.map_or(WaveWidth::BEST, WaveWidth::Lanes),
                    optimise,
                    ..options(stage, &entry)
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

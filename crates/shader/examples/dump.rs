//! Prints the IR and the bytecode of a SPIR-V file's first entry point (of a stage), and how long parsing and
//! translation took. With `--marks`: of the instrumented module.
//! `cargo run --release -p shader --example dump -- FILE.spv [quiet] [--marks] [--stage vertex|fragment|compute]`

#[allow(dead_code, reason = "others use the rest")]
#[path = "../tests/modules/mod.rs"]
mod modules;

use modules::{entries, options};
use shader::ir::Stage;
use std::time::Instant;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let wanted = args.iter().position(|a| a == "--stage").map(|at| {
        let name = args.drain(at..(at + 2).min(args.len())).nth(1).unwrap_or_default();
        match name.as_str() {
            "vertex" => Stage::Vertex,
            "fragment" => Stage::Fragment,
            _ => Stage::Compute,
        }
    });
    let marked = args.iter().position(|a| a == "--marks").map(|at| args.remove(at)).is_some();
    let path = args.first().expect("a .spv file").clone();
    let quiet = args.len() > 1;
    let mut words = modules::read(&path);
    if marked {
        use shader::instrument::{Entry, Form, instrument};
        let with = shader::Module::parse(&words).and_then(|m| instrument(&m, Entry::All, Form::Marks));
        match with {
            Ok(with) => words = with.words,
            Err(e) => return println!("{path}: {e}"),
        }
    }
    let mut best = (f64::MAX, f64::MAX);
    let mut shader = None;
    let mut program = None;
    let mut lower = f64::MAX;
    for _ in 0..if quiet { 20 } else { 1 } {
        let t = Instant::now();
        let m = match shader::Module::parse(&words) {
            Ok(m) => m,
            Err(e) => return println!("{path}: {e}"),
        };
        let a = t.elapsed().as_secs_f64();
        let found = entries(&m).into_iter().find(|e| wanted.is_none_or(|stage| stage == e.1));
        let (entry, stage) = found.unwrap_or((String::new(), Stage::Compute));
        let o = options(stage, &entry);
        let t = Instant::now();
        match shader::build::build(&m, &o) {
            Ok(s) => shader = Some(s),
            Err(e) => return println!("{path}: {e}"),
        }
        best = (best.0.min(a), best.1.min(t.elapsed().as_secs_f64()));
        let t = Instant::now();
        let mut s = shader.clone().expect("translated");
        match shader::pass::compile_ir(&mut s, &o) {
            Ok(p) => program = Some(p),
            Err(e) => return println!("{path}: {e}"),
        }
        lower = lower.min(t.elapsed().as_secs_f64());
    }
    let s = shader.expect("translated");
    if !quiet {
        print!("{}", shader::ir_print::print(&s));
        if let Some(p) = &program {
            print!("{}", shader::bytecode_print::print(p));
            println!("{:?}", p.interface);
            p.profile.marks.iter().for_each(|m| println!("{m:?}"));
        }
    }
    println!(
        "{path}: parse {:.3} ms, build {:.3} ms, lower {:.3} ms, {} blocks, {} values, verify {:?}",
        best.0 * 1e3,
        best.1 * 1e3,
        lower * 1e3,
        s.blocks.len(),
        s.values.len(),
        shader::verify::verify(&s)
    );
}

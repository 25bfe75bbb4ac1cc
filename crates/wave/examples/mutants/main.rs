//! Mutants of shaders through the compiler and the engine: `mutants [--valid N] [--seed S] [--keep FOLDER] FILE.spv…`
//!
//! Each module is changed in one to eight places ([`mutate`]), half the time a mutant that was valid is changed on; then
//! SPIRV-Tools validates it. Valid or not, it is compiled for 64, 128 and 256 lanes: no panic, no error that is the
//! compiler's own, in time, and a program is what its bytes say. One width's program of each valid module runs on every SIMD
//! level with buffers between guard pages: the same bits everywhere, and none beyond. What a valid module is refused for is listed.
//! What goes wrong is kept in the folder, and the exit code is 1. N valid modules are made (100000).
//! With `--check` the files are looked at as they are.
//!
//! `cargo run --profile quick -p wave --example mutants -- $(git ls-files '*.spv')`

#[allow(dead_code, reason = "one part is for changed programs")]
mod engine;
mod guarded;
mod validator;

use engine::{Memory, Ran};
use shader::bytecode::Program;
use shader::ir::Stage;
use shader::options::{Error, Options};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use validator::Validator;

/// What one compilation may take.
const SLOW: Duration = Duration::from_secs(10);
/// Valid mutants of a file that are changed on.
const POOL: usize = 16;
/// How much larger than its file a mutant may be.
const GROWTH: usize = 4;

#[derive(Default)]
struct Counts {
    made: u64,
    valid: u64,
    /// Compilations of valid modules that gave programs, and that gave errors.
    programs: u64,
    refused: u64,
    ran: u64,
    stopped: u64,
    wrong: u64,
    /// Why valid modules are refused, and invalid ones are not valid: how often, and a seed.
    refusals: BTreeMap<String, (u64, String)>,
    invalid: BTreeMap<String, (u64, String)>,
}

/// A message without its numbers and names: one line for one reason.
fn reason(text: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for c in text.lines().next().unwrap_or_default().chars() {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

fn add(to: &mut BTreeMap<String, (u64, String)>, text: &str, name: &str) {
    to.entry(reason(text)).or_insert_with(|| (0, name.into())).0 += 1;
}

struct Mutants {
    keep: PathBuf,
    counts: Counts,
    memory: Memory,
    /// All widths run.
    every: bool,
}

impl Mutants {
    fn wrong(&mut self, words: &[u32], name: &str, what: &str) {
        self.counts.wrong += 1;
        println!("WRONG {name}: {what}");
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let file = self.keep.join(format!("{name}.spv"));
        if let Err(e) = std::fs::write(&file, bytes) {
            println!("{}: {e}", file.display());
        }
    }

    fn compile(&mut self, words: &[u32], name: &str, valid: bool) {
        let parsed = catch_unwind(AssertUnwindSafe(|| shader::Module::parse(words)));
        let module = match parsed {
            Ok(Ok(m)) => m,
            Ok(Err(e)) => return self.refuse(words, name, valid, &e),
            Err(_) => return self.wrong(words, name, "the parser panics"),
        };
        for (entry, model) in module.entry_points().into_iter().take(2) {
            let stage = match model {
                0 => Stage::Vertex,
                4 => Stage::Fragment,
                5 => Stage::Compute,
                _ => continue,
            };
            for lanes in [64, 128, 256] {
                let options = Options { optimise: lanes != 128, ..engine::options(stage, &entry, lanes) };
                let start = Instant::now();
                let made = catch_unwind(AssertUnwindSafe(|| shader::compile(&module, &options)));
                let took = start.elapsed();
                if took > SLOW {
                    self.wrong(words, name, &format!("{lanes} lanes: compiled for {took:?}"));
                }
                match made {
                    Ok(Ok(program)) => {
                        // One of the widths runs.
                        let run =
                            valid && (self.every || lanes == [64, 128, 256][self.counts.made as usize % 3]);
                        self.program(words, name, valid, run, &program);
                    }
                    Ok(Err(e)) => self.refuse(words, name, valid, &e),
                    Err(_) => self.wrong(words, name, &format!("{lanes} lanes: the compiler panics")),
                }
            }
        }
    }

    fn refuse(&mut self, words: &[u32], name: &str, valid: bool, e: &Error) {
        let text = e.to_string();
        if text.contains("error of the compiler") || text.contains("broke its own rules") {
            self.wrong(words, name, &text);
        }
        if valid {
            self.counts.refused += 1;
            if !self.counts.refusals.contains_key(&reason(&text)) {
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                let _ = std::fs::write(self.keep.join(format!("refused-{name}.spv")), bytes);
            }
            add(&mut self.counts.refusals, &text, name);
        }
    }

    fn program(&mut self, words: &[u32], name: &str, valid: bool, run: bool, program: &Program) {
        let bytes = program.to_bytes();
        if Program::from_bytes(&bytes).is_none_or(|again| again != *program && again.to_bytes() != bytes) {
            self.wrong(words, name, "a program is not what its bytes say");
        }
        self.counts.programs += valid as u64;
        if !run {
            return;
        }
        let seed = words.iter().fold(7u64, |s, w| s.wrapping_mul(31).wrapping_add(*w as u64));
        let lanes = program.lanes;
        match catch_unwind(AssertUnwindSafe(|| self.memory.run(program, seed))) {
            Ok(Ran::Same) => self.counts.ran += 1,
            Ok(Ran::Stopped) => self.counts.stopped += 1,
            Ok(Ran::Wrong(what)) => self.wrong(words, name, &format!("{lanes} lanes: {what}")),
            Err(_) => self.wrong(words, name, &format!("{lanes} lanes: the engine panics")),
        }
    }

    fn show(&self, title: &str, start: Instant) {
        let c = &self.counts;
        println!(
            "{title}{} made, {} valid ({:.1} %), {} programs of valid ones, {} refusals, {} ran the same, {} stopped, {} wrong; {:.0} s",
            c.made,
            c.valid,
            100.0 * c.valid as f64 / c.made.max(1) as f64,
            c.programs,
            c.refused,
            c.ran,
            c.stopped,
            c.wrong,
            start.elapsed().as_secs_f64()
        );
    }
}

/// Ends the process when one module takes a minute: which one is said.
fn watch(current: &'static AtomicU64) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = current.load(Relaxed);
            if now != last {
                (last, since) = (now, Instant::now());
            } else if since.elapsed() > Duration::from_secs(60) {
                println!("WRONG mutant {now} takes more than a minute");
                std::process::exit(1);
            }
        }
    });
}

static CURRENT: AtomicU64 = AtomicU64::new(0);

fn main() -> std::process::ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mut valid, mut seed, mut keep) =
        (100_000u64, 1u64, PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/mutants")));
    let (mut files, mut check) = (vec![], false);
    while let Some(a) = arguments.next() {
        let mut number = || arguments.next().and_then(|n| n.parse().ok()).expect("a number");
        match a.as_str() {
            "--check" => check = true,
            "--valid" => valid = number(),
            "--seed" => seed = number(),
            "--keep" => keep = arguments.next().expect("a folder").into(),
            _ => files.push(a),
        }
    }
    std::fs::create_dir_all(&keep).expect("the folder can be made");
    std::panic::set_hook(Box::new(|p| println!("panic: {p}")));
    let mut validator = Validator::new(&keep).expect("the validator");
    let mut seeds = vec![];
    for path in &files {
        let words = shader::words(&std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}")));
        match validator.check(&words) {
            Ok(()) => seeds.push((path, words)),
            Err(e) => println!("left out: {path}: {}", e.lines().next().unwrap_or_default()),
        }
    }
    println!("{} modules, {} of them valid", files.len(), seeds.len());
    assert!(!seeds.is_empty(), "there is something to change");
    watch(&CURRENT);
    let mut pools: Vec<Vec<Vec<u32>>> = vec![vec![]; seeds.len()];
    let mut m = Mutants { keep, counts: Counts::default(), memory: Memory::new(), every: check };
    if check {
        for (path, words) in &seeds {
            m.compile(words, path, true);
        }
        m.counts.refusals.keys().for_each(|why| println!("{why}"));
        return std::process::ExitCode::from((m.counts.wrong > 0) as u8);
    }
    let mut r = random::Random::new(seed);
    let (start, mut told) = (Instant::now(), Instant::now());
    while m.counts.valid < valid {
        CURRENT.fetch_add(1, Relaxed);
        let file = r.index(seeds.len());
        let base = match r.of(&pools[file]) {
            Some(mutant) if r.once_in(2) => mutant.clone(),
            _ => seeds[file].1.clone(),
        };
        let Some(words) = mutate::mutate(&base, r.u64()) else { continue };
        if words.len() > GROWTH * seeds[file].1.len() {
            continue;
        }
        m.counts.made += 1;
        let stem = PathBuf::from(seeds[file].0).file_stem().map(|s| s.to_string_lossy().into_owned());
        let name = format!("{seed}-{}-{}", m.counts.made, stem.unwrap_or_default());
        let verdict = validator.check(&words);
        // Whoever wants to know where the process ended finds it here.
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let _ = std::fs::write(m.keep.join("current.spv"), bytes);
        m.counts.valid += verdict.is_ok() as u64;
        m.compile(&words, &name, verdict.is_ok());
        match verdict {
            Ok(()) if pools[file].len() < POOL => pools[file].push(words),
            Ok(()) => {
                let at = r.index(POOL);
                pools[file][at] = words;
            }
            Err(e) => add(&mut m.counts.invalid, &e, &name),
        }
        if told.elapsed() > Duration::from_secs(20) {
            m.show("", start);
            told = Instant::now();
        }
    }
    println!("\ninvalid, by reason:");
    m.counts.invalid.iter().for_each(|(why, (n, name))| println!("{n:7} {why} ({name})"));
    println!("\nvalid and refused, by reason:");
    m.counts.refusals.iter().for_each(|(why, (n, name))| println!("{n:7} {why} ({name})"));
    m.show("\n", start);
    println!("the validator ended {} times", validator.ended);
    std::process::ExitCode::from((m.counts.wrong > 0) as u8)
}

//! `tuff instrument`: the instrumenting pass on a file.

use client::{Error, Result};
use rspirv::binary::{Consumer, ParseAction, ParseState};
use rspirv::dr::{Instruction, ModuleHeader};
use shader::Module;
use shader::instrument::{Counters, Entry, Form, instrument, json};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tuff instrument lit.spv -o marked.spv --table blocks.json
  tuff instrument lit.spv -o counting.spv --atomics --set 3 --binding 0 --wide --table blocks.json
  tuff instrument all.spv -o marked.spv --entry shadow")]
pub struct Args {
    /// The SPIR-V module.
    input: PathBuf,
    /// Output file for the instrumented module.
    #[arg(short, long)]
    output: PathBuf,
    /// Instrument only the functions that this entry point calls; default: all functions.
    #[arg(long)]
    entry: Option<String>,
    /// Count with atomics in a storage buffer: element i is the number of invocations that ran block i.
    #[arg(long, requires = "binding")]
    atomics: bool,
    /// Descriptor set of the buffer.
    #[arg(long, default_value_t = 0, requires = "atomics")]
    set: u32,
    /// Binding of the buffer.
    #[arg(long, requires = "atomics")]
    binding: Option<u32>,
    /// Use 64-bit counts: two words each, the low one first.
    #[arg(long, requires = "atomics")]
    wide: bool,
    /// Write the table of blocks (function, label, source line) as JSON.
    #[arg(long)]
    table: Option<PathBuf>,
}

/// The module in a file.
pub fn module(path: &Path) -> Result<Module> {
    parsed(path, &std::fs::read(path).map_err(|e| Error::file(path, e))?)
}

/// The module in these bytes, which are that file's or come of it.
pub fn parsed(path: &Path, bytes: &[u8]) -> Result<Module> {
    if !bytes.len().is_multiple_of(4) {
        return Err(Error::file(path, "not SPIR-V: its size is no multiple of 4"));
    }
    Module::parse(shader::words(bytes)).map_err(|e| Error::file(path, e))
}

/// Calls `f` with each instruction. (rspirv's own module has no place for instructions of debug info among the types.)
pub fn instructions(m: &Module, f: impl FnMut(&Instruction)) -> std::result::Result<(), ParseState> {
    struct Each<F>(F);
    impl<F: FnMut(&Instruction)> Consumer for Each<F> {
        fn initialize(&mut self) -> ParseAction {
            ParseAction::Continue
        }
        fn finalize(&mut self) -> ParseAction {
            ParseAction::Continue
        }
        fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
            ParseAction::Continue
        }
        fn consume_instruction(&mut self, i: Instruction) -> ParseAction {
            (self.0)(&i);
            ParseAction::Continue
        }
    }
    rspirv::binary::parse_words(m.words(), &mut Each(f))
}

/// Which functions an `--entry` means.
pub fn entry(name: &Option<String>) -> Entry<'_> {
    name.as_deref().map_or(Entry::All, |n| Entry::Named(n, None))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| Error::file(path, e))
}

pub fn run(args: &Args) -> Result<()> {
    let m = module(&args.input)?;
    let form = match args.binding {
        Some(binding) if args.atomics => Form::Atomics(Counters { set: args.set, binding, wide: args.wide }),
        _ => Form::Marks,
    };
    let made = instrument(&m, entry(&args.entry), form).map_err(|e| Error::file(&args.input, e))?;
    let bytes: Vec<u8> = made.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    write(&args.output, &bytes)?;
    if let Some(table) = &args.table {
        write(table, json(&made.blocks).as_bytes())?;
    }
    println!("{}: {} blocks", args.output.display(), made.blocks.len());
    if let Form::Atomics(c) = form {
        let size = made.blocks.len() * if c.wide { 8 } else { 4 };
        println!("counters: set {}, binding {}, {size} bytes, zeroed before the first run", c.set, c.binding);
    }
    Ok(())
}

//! `tuff frames`: runs a program, and writes what it presents as PNG files.

use crate::compare::Image;
use crate::run;
use client::{Error, Result};
use settings::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff frames golden -n 1,100 -- ./game
  tuff frames new -n 1,100 -- ./game && tuff compare golden new --report difference.html

More: docs/pictures.md.")]
pub struct Args {
    /// The folder for the files: 000001.png is the first frame. If several processes present, each has a folder in it.
    folder: PathBuf,
    /// The frames to write, counted from 1 in each process: numbers and ranges of them. Default: all.
    #[arg(short, long, value_name = "1,5-10", value_parser = numbers)]
    numbers: Option<String>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

/// As the driver reads them.
fn numbers(text: &str) -> std::result::Result<String, String> {
    read(text, &settings::FRAME_NUMBERS.kind)
}

/// The same of frames of captures.
pub fn captured(text: &str) -> std::result::Result<String, String> {
    read(text, &settings::CAPTURE_FRAMES.kind)
}

fn read(text: &str, kind: &settings::Ranges) -> std::result::Result<String, String> {
    match kind.read(text.as_ref()) {
        Some(_) => Ok(text.into()),
        None => Err(kind.allowed()),
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let (ended, left) = run::frames(&args.program, args.numbers.as_deref())?;
    let mut written = 0;
    for (process, to) in left.files.iter().zip(places(&left.programs(), &args.folder)) {
        written += converted(process, &to)?;
    }
    if written > 0 {
        eprintln!("tuff: {written} frames in {}", args.folder.display());
    }
    Ok(ended.code())
}

/// A folder for each process: `folder` itself for one, else one in it that is called after the program.
fn places<'a>(programs: &'a [String], folder: &Path) -> Vec<PathBuf> {
    if programs.len() == 1 {
        return vec![folder.into()];
    }
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let mut place = |program: &'a String| {
        let n = times.entry(program).and_modify(|n| *n += 1).or_insert(1);
        let name = plain::line(program).replace('/', "_");
        folder.join(if *n == 1 { name } else { format!("{name}.{n}") })
    };
    programs.iter().map(&mut place).collect()
}

/// Writes a process's frames; how many there are.
fn converted(from: &Path, to: &Path) -> Result<usize> {
    let entries = std::fs::read_dir(from).map_err(|e| Error::file(from, e))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    for file in &files {
        let name = file.with_extension("png");
        Image::read(file)?.write(&to.join(name.file_name().unwrap_or_default()))?;
    }
    Ok(files.len())
}

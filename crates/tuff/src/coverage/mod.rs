//! `tuff coverage`: runs a program, and tells which lines of its shaders ran.

mod flow;
mod lcov;
mod shader;
mod sources;

use crate::run;
use client::{Error, Result};
use lcov::{Counts, Coverage, shares};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff coverage -o shaders.info -- ./program && genhtml --branch-coverage -o html shaders.info
  tuff coverage -o shaders.info --append -- ./second_program          adds to what is there
  tuff coverage --fail-under 80 -- ./tests                            exit status 1 below 80 % of the lines

The shaders need line information: -g of glslang and glslc, -gVS to embed the source too. More: docs/coverage.md.")]
pub struct Args {
    /// The file to write, in lcov's format.
    #[arg(short, long, value_name = "FILE.info", default_value = "coverage.info")]
    output: PathBuf,
    /// Add to the counts that the file has.
    #[arg(long)]
    append: bool,
    /// Exit with status 1 if fewer lines ran, in percent of all lines of the file.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_under: Option<f64>,
    /// The folder for sources that modules embed and that are not on disk [default: the output's name with .sources].
    #[arg(long, value_name = "FOLDER")]
    sources: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    let n = text.parse().ok().filter(|n| (0.0..=100.0).contains(n));
    n.ok_or_else(|| "it must be a number from 0 to 100".into())
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let in_output = |e: String| Error::file(&args.output, e);
    let mut all = match std::fs::read_to_string(&args.output) {
        Ok(text) if args.append => lcov::read(&text).map_err(in_output)?,
        Err(e) if args.append && e.kind() != std::io::ErrorKind::NotFound => {
            return Err(in_output(e.to_string()));
        }
        _ => Coverage::new(),
    };
    let (ended, left) = run::shaders(&args.program)?;
    let folder = args.sources.clone().unwrap_or_else(|| args.output.with_extension("sources"));
    let shaders = counted(&left.files, &mut sources::Folder::new(folder, args.append), &mut all)?;
    std::fs::write(&args.output, lcov::text(&all)).map_err(|e| in_output(e.to_string()))?;
    eprint!("{}", told(&all, &shaders));
    let percent = shares(all.values())[0].percent();
    let under = args.fail_under.filter(|least| percent < *least);
    if let Some(least) = under {
        eprintln!("tuff: {percent:.1} % of the lines ran, less than {least} %");
    }
    let failed = under.is_some() || shaders.lacks_all();
    let code = ended.code();
    Ok(if failed && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// Shaders that ran, each process's by itself.
#[derive(Default)]
struct Shaders {
    all: usize,
    /// Of these, those without lines.
    without: usize,
}

impl Shaders {
    fn lacks_all(&self) -> bool {
        self.all != 0 && self.all == self.without
    }
}

/// Adds what the shaders of a program's processes have counted. Each is added by itself, so that the order of processes, and their
/// division into several runs, change nothing.
fn counted(files: &[PathBuf], folder: &mut sources::Folder, all: &mut Coverage) -> Result<Shaders> {
    let mut shaders = Shaders::default();
    // By name and text, in whose order the names on disk are given.
    let mut by_source: BTreeMap<(String, Option<String>), Counts> = BTreeMap::new();
    for json in files {
        let shader = shader::read(json)?;
        shaders.all += 1;
        shaders.without += usize::from(shader.files.is_empty());
        let mut texts = sources::texts(&shader.module);
        for (name, counts) in shader.files {
            let text = texts.remove(&name);
            let stem = || json.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = if name.is_empty() { stem() } else { name };
            by_source.entry((name, text)).or_default().add(&counts);
        }
    }
    for ((name, text), counts) in by_source {
        all.entry(folder.path(&name, text.as_deref())?).or_default().add(&counts);
    }
    Ok(shaders)
}

fn told(all: &Coverage, shaders: &Shaders) -> String {
    let mut out = String::new();
    if shaders.without != 0 {
        out += &format!(
            "tuff: {} of {} shaders have no line information and are left out: compile them with -g\n",
            shaders.without, shaders.all
        );
    }
    let share =
        |(name, s): (&str, lcov::Share)| format!("{} of {} {name} ({:.1} %)", s.hit, s.found, s.percent());
    let shares = ["lines", "functions", "branches"].into_iter().zip(shares(all.values())).map(share);
    out + &format!("tuff: ran: {}\n", shares.collect::<Vec<_>>().join(", "))
}

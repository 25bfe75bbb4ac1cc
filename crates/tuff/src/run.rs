//! `tuff run`, `tuff gl`: a program on the driver, and what is made of what it leaves.

use crate::{check, report, trace};
use client::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// What every program may be run with.
#[derive(clap::Args)]
pub struct Common {
    /// Write what every workload cost to this file (JSON, the same on every run), and ten lines of it when the program has ended.
    #[arg(long)]
    counters: Option<PathBuf>,
    /// Write a page of all that was measured (see `tuff report`).
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write when each workload ran, and what was counted then, as a Perfetto trace (docs/trace.md).
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Keep all that `tuff report` reads in this folder (docs/capture.md).
    #[arg(long, value_name = "FOLDER")]
    capture: Option<PathBuf>,
    /// Write how long every workload took, and its counters, to this file (.json, or else CSV), by the GPU Performance
    /// layer: docs/gpu-performance-layer.md. Its other settings are the environment's.
    #[arg(long)]
    workloads: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff run -- vkcube --c 100
  tuff run --counters cost.json --check -- vkcube --c 100
  tuff run --report cube.html -- vkcube --c 20
  tuff run --trace cube.perfetto-trace -- vkcube --c 20      for ui.perfetto.dev
  tuff run --shaders blocks -- vkcube --c 20      then: tuff annotate blocks/….spv blocks/….json")]
pub struct Args {
    /// Check the file of counters when the program has ended: a line for each invariant of the model that does not hold, and failure.
    #[arg(long, requires = "counters")]
    check: bool,
    /// Instrument every shader, and leave here what each basic block cost: pairs of `.spv` and `.json` files for
    /// `tuff annotate`.
    #[arg(long)]
    shaders: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

type More = Vec<(&'static str, OsString)>;

/// A program that has ended.
pub struct Ended {
    status: ExitStatus,
    /// What there is to say of its end; empty of a good one.
    why: String,
}

impl Ended {
    /// What this process ends with: as a shell tells of how a program has ended.
    pub fn code(&self) -> ExitCode {
        use std::os::unix::process::ExitStatusExt;
        if !self.why.is_empty() {
            eprintln!("tuff: {}", self.why);
        }
        let code = self.status.code().or(self.status.signal().map(|s| 128 + s)).unwrap_or(1);
        ExitCode::from(u8::try_from(code).unwrap_or(1))
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let ended = common(&args.common, &[("TUFF_INSTRUMENT", args.shaders.as_deref())], vec![])?;
    if let Some(file) = args.common.counters.as_deref().filter(|_| args.check) {
        match check::run(file) {
            // A program that fails is a failure too, whatever it has left.
            Err(e) if !ended.status.success() => eprintln!("tuff: {e}"),
            checked => checked?,
        }
    }
    Ok(ended.code())
}

/// A folder that goes when nobody needs it any more.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program; what it leaves is told, and made a page of. Becomes the program where nothing is wanted.
pub fn common(args: &Common, paths: &[(&str, Option<&Path>)], more: More) -> Result<Ended> {
    let name = format!("tuff-capture-{}", std::process::id());
    let temporary =
        (args.report.is_some() || args.trace.is_some()).then(|| Temporary(std::env::temp_dir().join(name)));
    let capture = args.capture.as_deref().or(temporary.as_ref().map(|t| t.0.as_path()));
    let own = [
        ("TUFF_COUNTERS", args.counters.as_deref()),
        ("TUFF_CAPTURE", capture),
        (rows_of(args.workloads.as_deref()), args.workloads.as_deref()),
    ];
    let paths: Vec<_> = own.into_iter().chain(paths.iter().copied()).collect();
    let mut command = prepared(&args.program, &paths, more)?;
    let file = capture.map(|c| c.join(report::capture::FILE));
    let left: Vec<&Path> = [args.counters.as_deref(), file.as_deref()].into_iter().flatten().collect();
    if left.is_empty() {
        return Err(become_program(command));
    }
    // What an earlier run has left says nothing of this one.
    for file in &left {
        if let Err(e) = std::fs::remove_file(file)
            && e.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::file(file, e));
        }
    }
    let status = command.status().map_err(|e| failed(&command, e))?;
    tell(args, capture, &left)?;
    let why = if status.success() { String::new() } else { failed(&command, status).0 };
    Ok(Ended { status, why })
}

/// What the program has left.
fn tell(args: &Common, capture: Option<&Path>, left: &[&Path]) -> Result<()> {
    let Some(first) = left.iter().find(|f| f.exists()) else {
        let none = "the program has left no counters: it has used no device of Tuff's";
        // Whoever wants a page or a trace has none; a file that is not there is seen by who looks for it.
        return match args.report.is_some() || args.trace.is_some() {
            true => Err(Error(none.into())),
            false => {
                eprintln!("tuff: {}: {none}", left[0].display());
                Ok(())
            }
        };
    };
    report::tell(first)?;
    if let (Some(file), Some(folder)) = (&args.trace, capture) {
        trace::write(folder, file)?;
    }
    if let (Some(page), Some(folder)) = (&args.report, capture) {
        let title = args.program.iter().map(|a| a.rsplit('/').next().unwrap_or(a)).collect::<Vec<_>>();
        report::write(&[(folder, title.join(" "))], page)?;
    } else if let Some(folder) = &args.capture {
        eprintln!("tuff: {}: look at it with `tuff report {}`", folder.display(), folder.display());
    }
    Ok(())
}

/// The layer's variable for a file of rows: JSON or CSV, by its extension.
fn rows_of(file: Option<&Path>) -> &'static str {
    let is_json = file.is_some_and(|f| f.extension().is_some_and(|e| e == "json"));
    if is_json { "TUFF_PERFORMANCE_JSON" } else { "TUFF_PERFORMANCE_CSV" }
}

/// The program, on Tuff.
fn prepared(program: &[String], paths: &[(&str, Option<&Path>)], more: More) -> Result<Command> {
    let icd = client::drivers::tuff_icd();
    let library = client::drivers::library_of(&icd)?;
    if !library.exists() {
        let line = format!("{} is not built: cargo build --release -p icd", library.display());
        return Err(Error(line));
    }
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).env("VK_DRIVER_FILES", &icd).env("VK_ICD_FILENAMES", &icd).envs(more);
    for (variable, path) in paths {
        let Some(path) = path else { continue };
        // The program may change its directory.
        let path = std::path::absolute(path).map_err(|e| Error::file(path, e))?;
        command.env(variable, path);
    }
    if paths.iter().any(|(v, path)| v.starts_with("TUFF_PERFORMANCE") && path.is_some()) {
        measured(&mut command)?;
    }
    Ok(command)
}

fn failed(command: &Command, why: impl std::fmt::Display) -> Error {
    Error(format!("{}: {why}", command.get_program().display()))
}

/// Becomes the program; returns only if that is impossible.
fn become_program(mut command: Command) -> Error {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    failed(&command, error)
}

/// Puts the GPU Performance layer in front of what the environment has, in counter mode unless it says otherwise.
fn measured(command: &mut Command) -> Result<()> {
    let before = |variable: &str, first: OsString| {
        let rest = std::env::var_os(variable).filter(|v| !v.is_empty());
        rest.map_or(first.clone(), |rest| [first, rest].join(OsStr::new(":")))
    };
    let folder = client::drivers::layer_folder()?;
    // VK_LAYER_PATH replaces the system's folders; VK_ADD_LAYER_PATH, which adds to them, is unknown to older loaders.
    let system = ["/etc/vulkan/explicit_layer.d", "/usr/share/vulkan/explicit_layer.d"];
    let installed = folder.clone();
    let mut path = before("VK_LAYER_PATH", folder.into_os_string());
    for folder in system.into_iter().filter(|&f| Path::new(f) != installed) {
        path = [path, folder.into()].join(OsStr::new(":"));
    }
    command
        .env("VK_LAYER_PATH", path)
        .env("VK_INSTANCE_LAYERS", before("VK_INSTANCE_LAYERS", client::drivers::LAYER.into()));
    if std::env::var_os("TUFF_PERFORMANCE_MODE").is_none() {
        command.env("TUFF_PERFORMANCE_MODE", "counters");
    }
    Ok(())
}

//! `tuff run`, `tuff gl`: a program on the driver, and what is made of what it leaves.

mod gather;
mod merge;
mod private;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;

use crate::{check, frame, report, trace, whatif};
use client::{Error, Result};
use private::{Kind, Private, Process};

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
pub use system::{listen_folder, name};

/// What every program may be run with.
#[derive(clap::Args)]
pub struct Common {
    /// Write the cost of every workload to this file (JSON, the same in every run), and print a ten-line summary when the program ends.
    #[arg(long)]
    counters: Option<PathBuf>,
    /// Write an HTML page with all measurements (see `tuff report`).
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the times and counters of each workload as a Perfetto trace (docs/trace.md).
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write everything that `tuff report` needs to this folder (docs/capture.md).
    #[arg(long, value_name = "FOLDER")]
    capture: Option<PathBuf>,
    /// Only the work of these frames is in counters, captures and reports: numbers and ranges of them, as the files number frames (from 0 if
    /// the program gives no numbers). What precedes the first present is frame 0.
    #[arg(long, value_name = "5,10-19", value_parser = crate::frames::captured)]
    frames: Option<String>,
    /// Write the time and counters of each workload to this file (.json; any other name: CSV), using the GPU Performance
    /// layer (docs/gpu-performance-layer.md). The environment controls the layer's other settings.
    #[arg(long)]
    workloads: Option<PathBuf>,
    /// Let other processes read counters and workloads while the program runs: `tuff top` in another terminal (docs/channel.md).
    #[arg(long)]
    listen: bool,
    /// Fail if neither the program nor any of its child processes created a device on Tuff. (Without this option it is only a warning,
    /// unless something was to be measured.)
    #[arg(long)]
    must_use: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("checked").args(["counters", "capture"]).multiple(true))]
#[command(after_help = "Examples:
  tuff run -- vkcube --c 100
  tuff run --must-use -- vkcube --c 100           fails if the program uses another driver
  tuff run --counters cost.json --check -- vkcube --c 100
  tuff run --report cube.html -- vkcube --c 20
  tuff run --frames 10-19 --counters cost.json -- vkcube --c 20
  tuff run --trace cube.perfetto-trace -- vkcube --c 20      for ui.perfetto.dev
  tuff run --frame 10 --capture cube -- vkcube --c 20        then: tuff frame cube
  tuff run --shaders blocks -- vkcube --c 20      then: tuff annotate blocks/….spv blocks/….json")]
pub struct Args {
    /// When the program ends, check its counters and its capture: print a line for each violated invariant of the model, and fail if there is
    /// one.
    #[arg(long, requires = "checked")]
    check: bool,
    /// Instrument every shader, and write the cost of each basic block to this folder, as pairs of `.spv` and `.json` files for
    /// `tuff annotate`.
    #[arg(long)]
    shaders: Option<PathBuf>,
    /// Record these frames draw by draw in the capture, for `tuff frame`: numbers as in captures, from 0 on (`7`, `3-4`); of a program that
    /// presents nothing, submissions.
    #[arg(long, value_name = "N[-M]", requires = "capture", value_parser = numbers)]
    frame: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// What `TUFF_FRAME` may say.
fn numbers(text: &str) -> std::result::Result<String, String> {
    use settings::Kind;
    let kind = &settings::FRAME.kind;
    kind.read(OsStr::new(text)).map(|_| text.to_string()).ok_or_else(|| format!("must be {}", kind.allowed()))
}

type More = Vec<(&'static str, OsString)>;

/// A program that has ended.
pub struct Ended {
    status: ExitStatus,
    /// What there is to say of its end, or of the run's; empty of a good one.
    why: String,
}

impl Ended {
    /// Of a program that was run elsewhere.
    #[cfg_attr(windows, expect(dead_code, reason = "only `tuff top` runs programs elsewhere"))]
    pub fn of(status: ExitStatus, why: String) -> Ended {
        Ended { status, why }
    }
    /// What this process ends with: as a shell tells of how a program has ended; of a program that ended well 1 where the run did not.
    pub fn code(&self) -> ExitCode {
        if self.why.is_empty() {
            return ExitCode::SUCCESS;
        }
        eprintln!("tuff: {}", self.why);
        let code = self.status.code().or(system::signal(self.status).map(|s| 128 + s)).unwrap_or(1);
        ExitCode::from(u8::try_from(code).unwrap_or(1).max(1))
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let frame = args.frame.iter().map(|n| (settings::FRAME.name, n.into()));
    let ended = common(&args.common, args.shaders.as_deref(), frame.collect())?;
    if args.frame.is_some() {
        tell_frame(args)?;
    }
    let capture = args.common.capture.as_ref().map(|c| c.join(report::capture::FILE));
    let files = args.common.counters.iter().chain(&capture);
    let checked = files.filter(|f| args.check && f.exists()).map(|f| check::run(f));
    let replayed = args.common.capture.iter().filter(|_| args.check).map(|c| whatif::check(c));
    for done in checked.chain(replayed) {
        match done {
            // A program that fails is a failure too, whatever it has left.
            Err(e) if !ended.why.is_empty() => eprintln!("tuff: {e}"),
            done => done?,
        }
    }
    Ok(ended.code())
}

/// Says whether the frame was there.
fn tell_frame(args: &Args) -> Result<()> {
    let Some(capture) = &args.common.capture else { return Ok(()) };
    let folder = capture.display();
    match capture.join(frame::FOLDER).exists() {
        true => eprintln!("tuff: {folder}: step through the frame with `tuff frame {folder}`"),
        false => {
            let numbers = args.frame.as_deref().unwrap_or_default();
            return Err(Error(format!("the program has had no frame {numbers}: nothing was recorded")));
        }
    }
    Ok(())
}

/// Runs the program; what it and its children leave is put together, told, and made a page of.
pub fn common(args: &Common, shaders: Option<&Path>, more: More) -> Result<Ended> {
    let rows =
        args.workloads.as_deref().map(|f| Kind::Rows { json: f.extension().is_some_and(|e| e == "json") });
    let captures = args.capture.is_some() || args.report.is_some() || args.trace.is_some();
    let kinds = [
        args.counters.as_ref().map(|_| Kind::Counters),
        captures.then_some(Kind::Capture),
        shaders.map(|_| Kind::Shaders),
        rows,
    ];
    let kinds: Vec<Kind> = kinds.into_iter().flatten().collect();
    let private = Private::new(kinds.clone())?;
    let mut command = prepared(&args.program, more)?;
    if args.listen {
        let folder = listen_folder()?;
        // The driver makes the folder itself, for its user alone.
        if let Some(above) = folder.parent() {
            std::fs::create_dir_all(above).map_err(|e| Error::file(above, e))?;
        }
        command.env(settings::LISTEN.name, folder);
    }
    if let Some(frames) = &args.frames {
        command.env(settings::CAPTURE_FRAMES.name, frames);
    }
    private.ask(&mut command);
    if rows.is_some() {
        measured(&mut command)?;
    }
    // What an earlier run has left says nothing of this one.
    let capture = args.capture.as_ref().map(|c| c.join(report::capture::FILE));
    let files = [&args.counters, &capture, &args.report, &args.trace, &args.workloads];
    for file in files.into_iter().flatten() {
        if let Err(e) = std::fs::remove_file(file)
            && e.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::file(file, e));
        }
    }
    let status = client::child::run(&mut command).map_err(|e| failed(&command, e))?;
    private.wait();
    let name = command.get_program().display().to_string();
    let nothing = left(args, shaders, &private, &kinds, &name)?;
    let why = match status.success() {
        true => nothing.unwrap_or_default(),
        false => {
            nothing.inspect(|n| eprintln!("tuff: {n}"));
            failed(&command, status).0
        }
    };
    Ok(Ended { status, why })
}

/// Runs the program with sanitised shaders; the files that its processes have left, in a folder that lives as long as the result.
pub fn findings(program: &[String]) -> Result<(Ended, Left)> {
    let (mut ended, left) = alone(program, Kind::Findings, vec![])?;
    if ended.why.is_empty() && left.files.is_empty() {
        ended.why = format!("{} never created a device on Tuff: nothing was checked", program[0]);
    }
    Ok((ended, left))
}

/// Runs the program with instrumented shaders; a `.json` of each shader that ran in each process, beside its `.spv`.
pub fn shaders(program: &[String]) -> Result<(Ended, Left)> {
    let (mut ended, mut left) = alone(program, Kind::Shaders, vec![])?;
    left.files = left.files.iter().flat_map(|folder| gather::files(folder)).collect();
    left.files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    if ended.why.is_empty() && left.files.is_empty() {
        ended.why = format!("{} has run no shader on Tuff: nothing was counted", program[0]);
    }
    Ok((ended, left))
}

/// Runs the program; a folder of frames for each process that presented some. `numbers`: which frames; `None`: all.
pub fn frames(program: &[String], numbers: Option<&str>) -> Result<(Ended, Left)> {
    let more = numbers.map(|n| (settings::FRAME_NUMBERS.name, n.into()));
    let (mut ended, left) = alone(program, Kind::Frames, more.into_iter().collect())?;
    if ended.why.is_empty() && left.files.is_empty() {
        ended.why = format!(
            "{} has presented no such frame on Tuff; what is drawn off screen is not presented",
            program[0]
        );
    }
    Ok((ended, left))
}

/// Runs the program with debugged shaders, until the invocation's frame is over; a file of each process. `aim`: as `TUFF_DEBUG_AT` has it.
pub fn debugged(
    program: &[String],
    aim: String,
    folder: Option<&Path>,
    environment: &BTreeMap<String, String>,
) -> Result<Left> {
    let mut more: More = vec![(settings::DEBUG_AT.name, aim.into())];
    // One thread, in whose order all is recorded, waits for nobody.
    more.push((settings::REFRESH.name, "0".into()));
    let in_place = |command: &mut Command| {
        command.envs(environment);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        // What the program says must not come between what this one does.
        command.stdin(Stdio::null()).stdout(std::io::stderr());
    };
    let (ended, left) = asked(program, Kind::Debug, more, in_place)?;
    // The driver ends a program when all has been recorded.
    if !ended.why.is_empty() && !system::ended_by_driver(ended.status) {
        eprintln!("tuff: {}", ended.why);
    }
    Ok(left)
}

/// Runs the program, asked for one kind of files.
fn alone(program: &[String], kind: Kind, more: More) -> Result<(Ended, Left)> {
    asked(program, kind, more, |_| ())
}

/// The same, with changes to its command.
fn asked(
    program: &[String],
    kind: Kind,
    more: More,
    change: impl FnOnce(&mut Command),
) -> Result<(Ended, Left)> {
    let private = Private::new(vec![kind])?;
    let mut command = prepared(program, more)?;
    change(&mut command);
    private.ask(&mut command);
    let status = client::child::run(&mut command).map_err(|e| failed(&command, e))?;
    private.wait();
    let processes = private.processes();
    lost(&private, &processes).iter().for_each(|line| eprintln!("tuff: {line}"));
    let files = private.left(kind);
    let why = if status.success() { String::new() } else { failed(&command, status).0 };
    Ok((Ended { status, why }, Left { files, private }))
}

/// Files of a run, as long as this lives.
pub struct Left {
    pub files: Vec<PathBuf>,
    private: Private,
}

impl Left {
    /// The program of the process that has left each of the files (or folders).
    pub fn programs(&self) -> Vec<String> {
        let processes = self.private.processes();
        self.files.iter().map(|f| gather::program(&processes, f)).collect()
    }
}

/// Gathers and tells what the program has left; `Some`: why the run was for nothing.
fn left(
    args: &Common,
    shaders: Option<&Path>,
    private: &Private,
    kinds: &[Kind],
    name: &str,
) -> Result<Option<String>> {
    let processes = private.processes();
    let lost = lost(private, &processes);
    let (mut left, mut missing) = (vec![], vec![]);
    let mut captured = None;
    for kind in kinds {
        let (there, what) = match kind {
            Kind::Counters => {
                let to = args.counters.as_deref().unwrap_or(Path::new(""));
                let there = gather::counters(private, &processes, to)?;
                left.extend(there.then(|| to.to_path_buf()));
                (there, "counters")
            }
            Kind::Capture => {
                let to = args.capture.clone().unwrap_or_else(|| private.whole());
                let there = gather::capture(private, &processes, &to)?;
                left.extend(there.then(|| to.join(report::capture::FILE)));
                if there {
                    let text = report::capture::command_text(&args.program);
                    gather::write(&to.join(report::capture::COMMAND), text)?;
                }
                captured = there.then_some(to);
                (there, "capture")
            }
            // `findings`, `frames` and `debugged` ask for them.
            Kind::Findings | Kind::Frames | Kind::Debug => (true, "other files"),
            Kind::Shaders => (gather::shaders(private, shaders.unwrap_or(Path::new("")))?, "shaders"),
            Kind::Rows { json } => {
                let to = args.workloads.as_deref().unwrap_or(Path::new(""));
                (gather::rows(private, *json, to)?, "rows of workloads")
            }
        };
        if !there {
            missing.push(what);
        }
    }
    let idle = match left.first() {
        Some(file) => report::Capture::read(file)?.workloads.is_empty(),
        None => false,
    };
    if let Some(first) = left.first().filter(|_| !idle) {
        report::tell(first)?;
    }
    if let Some(folder) = &captured {
        show(args, folder)?;
    }
    lost.iter().for_each(|line| eprintln!("tuff: {line}"));
    if processes.is_empty() && left.is_empty() {
        let never = format!("{name} never created a device on Tuff");
        return Ok(match kinds.is_empty() && !args.must_use {
            true => {
                eprintln!("tuff: {never}");
                None
            }
            false => Some(if kinds.is_empty() { never } else { format!("{never}: nothing was measured") }),
        });
    }
    if !missing.is_empty() {
        return Ok(Some(format!("{name} has left no {}", missing.join(", no "))));
    }
    if idle {
        return Ok(Some(format!(
            "{name} created a device on Tuff, and had it do nothing: nothing was measured"
        )));
    }
    Ok(None)
}

/// A line for each process that has left nothing, or may leave more.
fn lost(private: &Private, processes: &[Process]) -> Vec<String> {
    let line = |p: &Process| {
        let who = format!("{} (process {})", p.program.escape_debug(), p.name);
        if p.runs() {
            return Some(format!("{who} goes on: what it does from now on is not measured"));
        }
        let why = "a signal has ended it, or it ended without its exit handlers";
        (!private.has_left(p)).then(|| format!("{who} has left nothing: {why}"))
    };
    // Where nothing was asked for nobody needs to know.
    if private.asks() { processes.iter().filter_map(line).collect() } else { vec![] }
}

/// What is made of a capture.
fn show(args: &Common, folder: &Path) -> Result<()> {
    if let Some(file) = &args.trace {
        trace::write(folder, file)?;
    }
    if let Some(page) = &args.report {
        let title = args.program.iter().map(|a| name(a)).collect::<Vec<_>>();
        report::write(&[(folder, title.join(" "))], page)?;
    } else if args.capture.is_some() {
        eprintln!("tuff: {}: look at it with `tuff report {}`", folder.display(), folder.display());
    }
    Ok(())
}

/// The conformance version that programs are told of: of the CTS for Vulkan 1.4, which is what the driver is tested with.
const CONFORMANT: &str = "1.4.0.0";
const CONFORMANCE: &str = "TUFF_CONFORMANCE";

/// The program, on Tuff.
pub fn prepared(program: &[String], more: More) -> Result<Command> {
    let icd = client::drivers::tuff_icd();
    let library = client::drivers::library_of(&icd)?;
    if !library.exists() {
        let line = format!("{} is not built: cargo build --release -p icd", library.display());
        return Err(Error(line));
    }
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]).env("VK_DRIVER_FILES", &icd).env("VK_ICD_FILENAMES", &icd).envs(more);
    if std::env::var_os(CONFORMANCE).is_none() {
        command.env(CONFORMANCE, CONFORMANT);
        eprintln!(
            "tuff: the driver reports conformance version {CONFORMANT} ({}), because programs that use wgpu would ignore it otherwise; \
             it has not been submitted to Khronos",
            CONFORMANCE
        );
    }
    Ok(command)
}

pub fn failed(command: &Command, why: impl std::fmt::Display) -> Error {
    Error(format!("{}: {why}", command.get_program().display()))
}

/// Puts the GPU Performance layer in front of what the environment has, in counter mode unless it says otherwise.
fn measured(command: &mut Command) -> Result<()> {
    let joined = |variable: &str, first: OsString, by: &str| {
        let rest = std::env::var_os(variable).filter(|v| !v.is_empty());
        rest.map_or(first.clone(), |rest| [first, rest].join(OsStr::new(by)))
    };
    let before = |variable: &str, first: OsString| joined(variable, first, system::SEPARATOR);
    let folder = client::drivers::layer_folder()?;
    let (variable, searched) = system::layers();
    let installed = folder.clone();
    let mut path = before(variable, folder.into_os_string());
    for folder in searched.iter().filter(|f| Path::new(f) != installed) {
        path = [path, folder.into()].join(OsStr::new(system::SEPARATOR));
    }
    command
        .env(variable, path)
        .env("VK_INSTANCE_LAYERS", before("VK_INSTANCE_LAYERS", client::drivers::LAYER.into()))
        // Whoever disables all layers does not mean this one.
        .env(
            "VK_LOADER_LAYERS_ENABLE",
            joined("VK_LOADER_LAYERS_ENABLE", client::drivers::LAYER.into(), ","),
        );
    if std::env::var_os("TUFF_PERFORMANCE_MODE").is_none() {
        command.env("TUFF_PERFORMANCE_MODE", "counters");
    }
    Ok(())
}

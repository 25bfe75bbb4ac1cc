//! `tuff top`: what a running program's workloads cost, a table every second, by the channel of the process (docs/channel.md).

mod table;

use crate::run;
use channel::remote::{Info, Line, Records, Remote};
use client::{Error, Result};
use std::io::{ErrorKind, IsTerminal};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use table::{Sums, table};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff top -- vkcube                     runs the program; its own output is not shown
  tuff top --once -- vkcube --c 100      one table of the whole run
  tuff run --listen -- vkcube            in one terminal, and in another one:
  tuff top                               the only process that listens
  tuff top 4711                          one of several, by its number
  tuff top /run/user/1000/tuff/4711.sock")]
pub struct Args {
    /// The process's number, or the path of its socket; default: the only process that listens.
    #[arg(conflicts_with = "program")]
    process: Option<String>,
    /// Seconds between tables.
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    interval: f64,
    /// No table but the last, of everything.
    #[arg(long)]
    once: bool,
    /// Rows of a table; those that take longest come first.
    #[arg(long, default_value_t = 15)]
    rows: usize,
    /// A program to run, and its arguments.
    #[arg(last = true)]
    program: Vec<String>,
}

impl Args {
    /// It runs a program itself.
    pub fn runs(&self) -> bool {
        !self.program.is_empty()
    }
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "no number of seconds".to_string())?;
    (0.05..=86400.0).contains(&seconds).then_some(seconds).ok_or("from 0.05 to 86400 seconds".into())
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.runs() {
        return program(args);
    }
    let socket = match &args.process {
        Some(name) if name.contains('/') => PathBuf::from(name),
        Some(name) => run::listen_folder()?.join(format!("{name}.sock")),
        None => only(&run::listen_folder()?)?,
    };
    let remote = Remote::connect(&socket).map_err(|e| {
        let how = "run the program with `tuff run --listen -- PROGRAM`";
        Error(format!("{}: {e}; {how}", plain::path(&socket)))
    })?;
    watch(args, remote).map_err(|e| Error(format!("{}: {e}", plain::path(&socket))))?;
    Ok(ExitCode::SUCCESS)
}

/// The socket of the only process that listens in a folder.
fn only(folder: &Path) -> Result<PathBuf> {
    // What a process has left that was killed does not answer.
    let live: Vec<PathBuf> = sockets(folder).into_iter().filter(|s| Remote::connect(s).is_ok()).collect();
    match &live[..] {
        [one] => Ok(one.clone()),
        [] => {
            Err(Error(format!("no process listens in {}: tuff run --listen -- PROGRAM", plain::path(folder))))
        }
        many => {
            let numbers: Vec<_> = many.iter().filter_map(|s| s.file_stem()?.to_str()).collect();
            Err(Error(format!("several processes listen: name one of {}", numbers.join(", "))))
        }
    }
}

/// The sockets of a folder, in the order of their names. A folder of another user's has none: what listens there is not to be believed.
fn sockets(folder: &Path) -> Vec<PathBuf> {
    // SAFETY: it has no conditions.
    let own = std::fs::symlink_metadata(folder).is_ok_and(|m| m.uid() == unsafe { libc::geteuid() });
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|_| own);
    let sockets = entries.filter(|e| e.file_type().is_ok_and(|t| t.is_socket()));
    let mut paths: Vec<PathBuf> = sockets.map(|e| e.path()).collect();
    paths.sort();
    paths
}

/// Runs a program, and watches its processes one after the other.
fn program(args: &Args) -> Result<ExitCode> {
    let folder = temporary::folder("tuff-top-").map_err(|e| Error::file(&std::env::temp_dir(), e))?;
    let listens = vec![(settings::LISTEN.name, folder.path().as_os_str().to_owned())];
    let mut command = run::prepared(&args.program, listens)?;
    command.stdout(Stdio::null());
    let ended = AtomicBool::new(false);
    let (status, seen) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| watch_all(args, folder.path(), &ended));
        // The child ends with the thread that starts it, so this is the first one.
        let status = client::child::run(&mut command);
        ended.store(true, Relaxed);
        (status, watching.join())
    });
    let status = status.map_err(|e| run::failed(&command, e))?;
    let seen = seen.unwrap_or_else(|e| std::panic::resume_unwind(e))?;
    let why = match status.success() {
        false => run::failed(&command, status).0,
        true if seen == 0 => format!("{} never created a device on Tuff", plain::line(&args.program[0])),
        true => String::new(),
    };
    Ok(run::Ended::of(status, why).code())
}

/// Watches what listens in a folder until the program has ended; how many processes did.
fn watch_all(args: &Args, folder: &Path, ended: &AtomicBool) -> Result<usize> {
    let mut seen: Vec<PathBuf> = vec![];
    loop {
        let last = ended.load(Relaxed);
        let next = sockets(folder).into_iter().find(|s| !seen.contains(s));
        match next {
            Some(socket) => {
                // It may have ended meanwhile.
                if let Ok(remote) = Remote::connect(&socket) {
                    watch(args, remote).map_err(|e| Error(format!("{}: {e}", plain::path(&socket))))?;
                }
                seen.push(socket);
            }
            None if last => return Ok(seen.len()),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// What a table shows beside times.
const COUNTERS: [&str; 2] = ["MaliExtBusRd", "MaliExtBusWr"];

/// Shows tables until the process ends.
fn watch(args: &Args, mut remote: Remote) -> std::io::Result<()> {
    remote.set_timeout(Some(Duration::from_secs(5)))?;
    let info = match remote.info() {
        Ok(info) => info,
        // It has ended before it could say who it is.
        Err(e) if has_ended(&e) => return Ok(()),
        Err(e) => return Err(e),
    };
    // Of a program that is run here nothing is to be missed.
    let records = if args.runs() { remote.all(&COUNTERS) } else { remote.read(&COUNTERS) };
    let mut records = records?;
    records.set_timeout(Some(Duration::from_millis(100)))?;
    let interval = Duration::from_secs_f64(args.interval);
    let mut all = Sums::default();
    let clear = std::io::stdout().is_terminal() && !args.once;
    let mut seen = true;
    while seen {
        let (sums, more) = gather(&mut records, interval)?;
        all.add(&sums);
        seen = more;
        if more && !args.once {
            show(&info, &sums, args.rows, clear, "");
        }
    }
    show(&info, &all, args.rows, clear, "in all: ");
    Ok(())
}

fn show(info: &Info, sums: &Sums, rows: usize, clear: bool, which: &str) {
    // Home, and everything below it erased.
    let first = if clear { "\x1b[H\x1b[J" } else { "" };
    println!("{first}{}", table(info, sums, rows, which));
}

fn has_ended(e: &std::io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(e.kind(), UnexpectedEof | ConnectionReset | BrokenPipe)
}

/// What comes within a time; false: nothing will come after it.
fn gather(records: &mut Records, time: Duration) -> std::io::Result<(Sums, bool)> {
    let until = Instant::now() + time;
    let mut sums = Sums::default();
    while Instant::now() < until {
        match records.line() {
            Ok(Line::Record(record)) => sums.record(&record),
            Ok(Line::Lost(lost)) => sums.lost = lost,
            Ok(Line::Ended) => return Ok((sums, false)),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(e) if has_ended(&e) => return Ok((sums, false)),
            Err(e) => return Err(e),
        }
    }
    Ok((sums, true))
}

//! `api-fuzz`: see README.md of this folder's parent.

use api_fuzz::record::Driver;
use api_fuzz::run::{self, Plan};
use api_fuzz::shared;
use api_fuzz::supervise::Options;
use clap::Parser;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    about = "Sequences of Vulkan calls with valid, stale, wrong and huge arguments, on a driver's library"
)]
struct Args {
    /// The driver: libvulkan_tuff.so.
    #[arg(long, value_name = "PATH")]
    library: PathBuf,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ends after so many calls.
    #[arg(long, default_value_t = 100_000)]
    calls: u64,
    /// Ends after so much time.
    #[arg(long)]
    seconds: Option<u64>,
    /// Calls of one run, which is a process with a device of its own.
    #[arg(long, default_value_t = 5000)]
    each: u64,
    /// 2: another thread calls too, with objects of its own on the same device.
    #[arg(long, default_value_t = 1)]
    threads: u32,
    /// The first run's number.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Where runs that found something leave what they said.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where a replay writes each of its calls.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Where it is written how often each command was called, and how often with success.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// One run once more.
    #[arg(long, value_name = "SEED:RUN")]
    replay: Option<String>,
    /// One run with as few calls as still do it; the trace has them then.
    #[arg(long, value_name = "SEED:RUN", conflicts_with = "replay")]
    minimise: Option<String>,
    /// For replays: a file with the calls to make.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    #[arg(long, hide = true)]
    child: bool,
    #[arg(long, hide = true)]
    map: Option<PathBuf>,
}

fn child(a: Args) -> Result<(), String> {
    let map = a.map.ok_or("no --map")?;
    let keep = match a.keep {
        None => None,
        Some(k) => {
            let text = std::fs::read_to_string(&k).map_err(|e| format!("{}: {e}", k.display()))?;
            let key = |l: &str| u64::from_str_radix(l.trim_start_matches("0x"), 16).ok();
            Some(text.lines().filter_map(key).collect())
        }
    };
    let trace = a.trace.map(|t| File::create(&t).map_err(|e| format!("{}: {e}", t.display()))).transpose()?;
    Driver::load(&a.library)?;
    let shared = shared::map(&map).map_err(|e| e.to_string())?;
    run::run(Plan {
        threads: a.threads,
        seed: a.seed,
        iteration: a.first,
        calls: a.each,
        keep,
        trace,
        shared,
    });
    Ok(())
}

fn place(text: &str) -> Result<(u64, u64), String> {
    let (seed, run) = text.split_once(':').ok_or("SEED:RUN is wanted")?;
    Ok((seed.parse().map_err(|_| "a seed")?, run.parse().map_err(|_| "a run")?))
}

fn parent(a: Args) -> Result<bool, String> {
    let own = || temporary::folder("api-fuzz-").map(temporary::Folder::keep);
    // It stays: findings lie there.
    let folder = a.folder.map_or_else(own, Ok).map_err(|e| format!("a temporary folder: {e}"))?;
    let library = a.library.canonicalize().map_err(|e| format!("{}: {e}", a.library.display()))?;
    let mut o = Options {
        library,
        seed: a.seed,
        calls: a.calls,
        seconds: a.seconds,
        each: a.each,
        folder,
        first: a.first,
        threads: a.threads,
    };
    let mut tell = |line: &str| println!("{line}");
    let trace = a.trace.unwrap_or_else(|| o.folder.join("trace"));
    if let Some(at) = a.replay.as_ref().or(a.minimise.as_ref()) {
        let (seed, run) = place(at)?;
        o.seed = seed;
        if a.minimise.is_some() {
            o.minimise(run, &trace, &mut tell)?;
            tell(&format!("what is left: {}", trace.display()));
            return Ok(false);
        }
        let found = o.replay(run, &trace, a.keep.as_deref())?;
        if let Some(f) = &found {
            f.calls.iter().for_each(|c| tell(c));
            tell(&f.what);
        }
        return Ok(found.is_none());
    }
    let totals = o.fuzz(&mut tell)?;
    tell(&totals.report());
    if let Some(t) = a.table {
        std::fs::write(&t, totals.table()).map_err(|e| format!("{}: {e}", t.display()))?;
    }
    Ok(totals.findings.is_empty())
}

fn main() -> ExitCode {
    let a = Args::parse();
    let done = if a.child { child(a).map(|()| true) } else { parent(a) };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

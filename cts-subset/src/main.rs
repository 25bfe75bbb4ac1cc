//! Runs samples of the Vulkan conformance tests (VK-GL-CTS, `deqp-vk`) on a driver.
//!
//! Case names and patterns come from the files in `lists/`; a crash or a hang costs one case; failures that are
//! expected are named with their reasons in `expected.toml`; `baseline.tsv` says what peers make of the same lists.
//! The exit code is 0 when nothing unexpected happened, 1 when something did, 2 when the run itself is impossible.

mod baseline;
mod cases;
mod deqp;
mod expected;
mod outcome;
mod report;
mod run;

use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs conformance test samples and compares them with a baseline.
#[derive(Parser)]
pub struct Args {
    /// The deqp-vk binary of VK-GL-CTS.
    #[arg(long)]
    deqp_vk: PathBuf,
    /// Only these categories (names of files in lists/ without `.txt`; `*` matches anything).
    #[arg(long)]
    category: Vec<String>,
    /// A list file of your own instead of the categories: a case name or a pattern with `*` on each line.
    #[arg(long)]
    list: Vec<PathBuf>,
    /// Only cases that match one of these patterns.
    #[arg(long)]
    case: Vec<String>,
    /// The driver's ICD file; default: the checkout's icd.json.
    #[arg(long)]
    icd: Option<PathBuf>,
    /// Processes at once; default: one per CPU.
    #[arg(long)]
    jobs: Option<usize>,
    /// Cases in one deqp-vk process.
    #[arg(long, default_value_t = 60)]
    chunk: usize,
    /// Seconds that one case may take.
    #[arg(long, default_value_t = 60.0)]
    case_timeout: f64,
    /// A further argument for deqp-vk (`--deqp-arg=--deqp-archive-dir=...`).
    #[arg(long, allow_hyphen_values = true)]
    deqp_arg: Vec<String>,
    /// What peers make of the lists.
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// The peers of the baseline to compare with, commas between them: the part before `_pass` in a column's name. Of
    /// several the better counts, list by list.
    #[arg(long, default_value = "lavapipe25,lavapipe26")]
    peer: String,
    /// An earlier run's JSON (of another driver, say) or a `.txt` list of passed cases: what was passed there and is
    /// not in this run is listed.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Expected results; default: expected.toml beside this crate.
    #[arg(long)]
    expected: Option<PathBuf>,
    #[arg(long)]
    json: Option<PathBuf>,
    #[arg(long)]
    junit: Option<PathBuf>,
    /// Write each bad case's name and message to this file.
    #[arg(long)]
    bad: Option<PathBuf>,
    /// Print each bad case's message and the log's text.
    #[arg(long)]
    show: bool,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("cts-subset: {e}");
            ExitCode::from(2)
        }
    }
}

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn run(args: &Args) -> Result<bool, String> {
    let at = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    let icd = at(&args.icd.clone().unwrap_or_else(client::drivers::tuff_icd))?;
    let driver = client::drivers::name_of(&icd);
    let deqp = deqp::Deqp::new(at(&args.deqp_vk)?, icd.clone(), args.case_timeout, args.deqp_arg.clone());

    let mut categories = if args.list.is_empty() {
        cases::from_folder(&here("lists"), &args.category)?
    } else {
        args.list.iter().map(|f| cases::from_file(f)).collect::<Result<Vec<_>, _>>()?
    };
    for c in &mut categories {
        c.expand(&deqp)?;
        c.keep_matching(&args.case);
    }
    categories.retain(|c| !c.cases.is_empty());
    if categories.is_empty() {
        return Err("no case is left to run".into());
    }
    let expectations = expected::load(args.expected.as_deref().unwrap_or(&here("expected.toml")), &driver)?;
    let baseline = baseline::load(args.baseline.as_deref().unwrap_or(&here("baseline.tsv")), &args.peer)?;
    let passes = here(&format!("{}-pass.txt", args.peer.split(',').next().unwrap_or_default()));
    let peer = if passes.exists() { Some(report::load_results(&passes)?) } else { None };
    let against = args.against.as_deref().map(report::load_results).transpose()?;

    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())).max(1);
    let total: usize = categories.iter().map(|c| c.cases.len()).sum();
    println!(
        "{total} cases of {} categories on {driver} ({}), {jobs} at once",
        categories.len(),
        icd.display()
    );
    let run = run::run(&deqp, &categories, jobs, args.chunk.max(1), &expectations, &baseline, peer.as_ref());
    let run = report::Run { driver, categories: run };
    run.summary(&args.peer);
    if let Some(peer) = &against {
        run.print_against(peer, args.show);
    }
    if args.show {
        run.show();
    }
    let write = |path: &Option<PathBuf>, text: String| match path {
        Some(p) => std::fs::write(p, text).map_err(|e| format!("{}: {e}", p.display())),
        None => Ok(()),
    };
    write(&args.json, run.json())?;
    write(&args.junit, run.junit())?;
    write(&args.bad, run.bad())?;
    Ok(run.good())
}

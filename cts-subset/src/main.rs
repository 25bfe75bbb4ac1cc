//! Runs samples of the Vulkan conformance tests (VK-GL-CTS, `deqp-vk`) on a driver.
//!
//! Case names and patterns come from the files in `lists/`; a crash or a hang costs one case; failures that are
//! expected are named with their reasons in `expected.toml`; `baseline.tsv` says what peers make of the same lists.
//! The exit code is 0 when nothing unexpected happened, 1 when something did, 2 when the run itself is impossible.

#[macro_use]
extern crate say;

mod baseline;
mod cases;
mod deqp;
mod expected;
mod merge;
mod outcome;
mod report;
mod run;
mod shard;

use clap::{Parser, Subcommand};
use shard::Shard;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs conformance test samples and compares them with a baseline.
#[derive(Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  cts-subset --deqp-vk build/deqp-vk
  cts-subset --deqp-vk build/deqp-vk --category 'sub*' --show
  cts-subset --deqp-vk build/deqp-vk --list mine.txt --json mine.json --junit mine.xml
  cts-subset --deqp-vk build/deqp-vk --shard 2/4 --costs yesterday.json --json shard2.json
  cts-subset --deqp-vk build/deqp-vk --shard slurm --json shard.json
  cts-subset merge shard1.json shard2.json shard3.json shard4.json --junit all.xml"
)]
pub struct Cli {
    #[command(flatten)]
    args: Args,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Merge the JSON files of all shards of a run, and evaluate them as one run.
    #[command(after_help = "\
Examples:
  cts-subset merge shards/*.json
  cts-subset merge shards/*.json --json all.json --junit all.xml --bad bad.tsv --show")]
    Merge {
        /// The files that the shards wrote with --json.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        judged: Judged,
    },
}

#[derive(clap::Args)]
pub struct Args {
    /// The deqp-vk binary of VK-GL-CTS.
    #[arg(long, required = true)]
    deqp_vk: Option<PathBuf>,
    /// Only these categories (names of files in lists/ without `.txt`; `*` matches anything).
    #[arg(long)]
    category: Vec<String>,
    /// A list file of your own instead of the categories: a case name or a pattern with `*` on each line.
    #[arg(long)]
    list: Vec<PathBuf>,
    /// Only cases that match one of these patterns.
    #[arg(long)]
    case: Vec<String>,
    /// Run only one shard, to divide the cases among machines: I/N (I from 1), slurm (reads an array job's variables) or
    /// kubernetes/N (reads an indexed Job's). All shards must have the same lists and costs; merge them with `cts-subset merge`.
    #[arg(long, value_name = "I/N", requires = "json")]
    shard: Option<String>,
    /// JSON of an earlier run, whose times per case are used to make shards equally long. Default: the times that the
    /// baseline's peer took for each category.
    #[arg(long, value_name = "FILE", requires = "shard")]
    costs: Option<PathBuf>,
    /// The driver's ICD file; default: the checkout's icd.json.
    #[arg(long)]
    icd: Option<PathBuf>,
    /// Number of parallel processes; default: one per CPU.
    #[arg(long)]
    jobs: Option<usize>,
    /// Number of cases per deqp-vk process.
    #[arg(long, default_value_t = 60)]
    chunk: usize,
    /// Time limit for one case, in seconds.
    #[arg(long, default_value_t = 60.0)]
    case_timeout: f64,
    /// A further argument for deqp-vk (`--deqp-arg=--deqp-archive-dir=...`).
    #[arg(long, allow_hyphen_values = true)]
    deqp_arg: Vec<String>,
    #[command(flatten)]
    judged: Judged,
}

/// How results are evaluated, and where they are written.
#[derive(clap::Args)]
pub struct Judged {
    /// The peers' results for the lists; default: baseline.tsv beside this crate.
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// The baseline's peers to compare with (comma-separated): the part before `_pass` in a column's name. With
    /// several, the best one counts for each list.
    #[arg(long, default_value = "lavapipe25,lavapipe26")]
    peer: String,
    /// JSON of an earlier run (for example, with another driver) or a `.txt` list of passed cases. Cases that passed
    /// there but not in this run are listed.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Expected results; default: expected.toml beside this crate.
    #[arg(long)]
    expected: Option<PathBuf>,
    /// Write all results to this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write all results as JUnit XML.
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
    let cli = Cli::parse();
    let result = match &cli.task {
        Some(Task::Merge { files, judged }) => merge(files, judged),
        None => run(&cli.args),
    };
    match result {
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

/// What results are held against.
struct Measure {
    expectations: Vec<expected::Expectation>,
    peer: Option<report::Results>,
    against: Option<report::Results>,
}

impl Judged {
    fn baseline(&self) -> Result<baseline::Baseline, String> {
        baseline::load(self.baseline.as_deref().unwrap_or(&here("baseline.tsv")), &self.peer)
    }

    fn measure(&self, driver: &str) -> Result<Measure, String> {
        let expectations =
            expected::load(self.expected.as_deref().unwrap_or(&here("expected.toml")), driver)?;
        let passes = here(&format!("{}-pass.txt", self.peer.split(',').next().unwrap_or_default()));
        let peer = if passes.exists() { Some(report::load_results(&passes)?) } else { None };
        let against = self.against.as_deref().map(report::load_results).transpose()?;
        Ok(Measure { expectations, peer, against })
    }

    /// Prints and writes what a run was; whether it was good.
    fn tell(&self, run: &report::Run, measure: &Measure) -> Result<bool, String> {
        run.summary(&self.peer);
        if let Some(peer) = &measure.against {
            run.print_against(peer, self.show);
        }
        if self.show {
            run.show();
        }
        let write = |path: &Option<PathBuf>, text: String| match path {
            Some(p) => std::fs::write(p, text).map_err(|e| format!("{}: {e}", p.display())),
            None => Ok(()),
        };
        write(&self.json, run.json())?;
        write(&self.junit, run.junit())?;
        write(&self.bad, run.bad())?;
        Ok(run.good())
    }
}

fn merge(files: &[PathBuf], judged: &Judged) -> Result<bool, String> {
    let (driver, mut categories) = merge::load_all(files, &judged.baseline()?)?;
    let measure = judged.measure(&driver)?;
    println!("{} shards of a run on {driver}", files.len());
    report::header();
    for run in &mut categories {
        run.judge(&measure.expectations, measure.peer.as_ref());
        report::row(run);
    }
    judged.tell(&report::Run { driver, categories, part: None }, &measure)
}

fn run(args: &Args) -> Result<bool, String> {
    let at = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    let shard = args.shard.as_ref().map(|s| Shard::parse(s, &|name| std::env::var(name).ok())).transpose()?;
    let icd = at(&args.icd.clone().unwrap_or_else(client::drivers::tuff_icd))?;
    let driver = client::drivers::name_of(&icd);
    let binary = at(args.deqp_vk.as_deref().ok_or("--deqp-vk is missing")?)?;
    let deqp = deqp::Deqp::new(binary, icd.clone(), args.case_timeout, args.deqp_arg.clone());

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
    let baseline = args.judged.baseline()?;
    let measure = args.judged.measure(&driver)?;
    let mut part = None;
    if let Some(Shard { index, count }) = shard {
        let cases = args.costs.as_deref().map(shard::load).transpose()?.unwrap_or_default();
        let costs = shard::Costs { cases, baseline: &baseline };
        let plan = shard::cut(&mut categories, Shard { index, count }, &costs);
        let all = categories.iter().map(|c| (c.name.clone(), c.cases.clone())).collect();
        part = Some(report::Part { index, count, plan, categories: all });
        // There may be more shards than cases.
        categories.retain(|c| !c.cases.is_empty());
    }

    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())).max(1);
    let total: usize = categories.iter().map(|c| c.cases.len()).sum();
    let which = shard.map_or(String::new(), |s| format!("shard {} of {}: ", s.index, s.count));
    println!(
        "{which}{total} cases of {} categories on {driver} ({}), {jobs} at once",
        categories.len(),
        icd.display()
    );
    let (expectations, peer) = (&measure.expectations, measure.peer.as_ref());
    let run = run::run(&deqp, &categories, jobs, args.chunk.max(1), expectations, &baseline, peer);
    args.judged.tell(&report::Run { driver, categories: run, part }, &measure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_helps_examples_are_taken() {
        Cli::command().debug_assert();
        let mut command = Cli::command();
        let helps = [
            command.get_after_help().cloned(),
            command.find_subcommand_mut("merge").and_then(|c| c.get_after_help().cloned()),
        ];
        let text: String = helps.into_iter().flatten().map(|h| h.to_string() + "\n").collect();
        let lines: Vec<_> = text.lines().filter(|l| l.starts_with("  cts-subset ")).collect();
        assert!(lines.len() > 6, "{text}");
        for line in lines {
            if let Err(e) = Cli::try_parse_from(line.split_whitespace().map(|w| w.trim_matches('\''))) {
                panic!("{line}: {e}");
            }
        }
        // Neither nothing nor both.
        assert!(Cli::try_parse_from(["cts-subset"]).is_err());
        assert!(
            Cli::try_parse_from(["cts-subset", "--deqp-vk", "x", "--shard", "1/2"]).is_err(),
            "without --json"
        );
        assert!(Cli::try_parse_from(["cts-subset", "merge"]).is_err());
    }
}

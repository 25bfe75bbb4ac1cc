//! `tuff history`: costs over commits, as one page that needs nothing else.

mod entry;
mod series;

use crate::diff::limits::Limits;
use crate::report;
use client::{Error, Result};
use entry::Entry;
use serde_json::json;
use series::Series;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
A history is a file of lines, one for each commit. A CI job appends one and keeps the file; the page is made of it.

Examples:
  tuff history --append history.jsonl --commit $(git rev-parse HEAD) --title \"$(git log -1 --format=%s)\" cost.json -o history.html
  tuff history history.jsonl -o history.html --link https://github.com/me/game/commit/{commit} --thresholds tuff.toml
  tuff history results -o history.html             a folder of files of `run --counters`, named by commit
  tuff history a1b2c3.json d4e5f6.json -o history.html")]
pub struct Args {
    /// Files of `run --counters` (called by their commits), histories (.jsonl), and folders with these; the oldest first. Files of a folder are
    /// in the order in which they were written.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Output file.
    #[arg(short, long, default_value = "history.html")]
    output: PathBuf,
    /// Append the given file of counters to this history, as this --commit's, and make the page of all of it.
    #[arg(long, value_name = "FILE.jsonl", requires = "commit")]
    append: Option<PathBuf>,
    /// The commit of the file to append. A line of the same commit is replaced.
    #[arg(long, requires = "append")]
    commit: Option<String>,
    /// Its title, shown beside it.
    #[arg(long, requires = "append")]
    title: Option<String>,
    /// The address of a commit; `{commit}` stands for its name.
    #[arg(long, value_name = "URL")]
    link: Option<String>,
    /// Draw the budgets (`max`) of this file of limits as lines (docs/diff.md).
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Commits that a page has, the last.
const COMMITS: usize = 1_000;
/// Workloads that a page has: those that cost most at the end.
const WORKLOADS: usize = 400;

/// An address that a browser may follow: the web's.
fn link(text: &str) -> Result<()> {
    match text.starts_with("https://") || text.starts_with("http://") {
        true => Ok(()),
        false => Err(Error(format!("--link {text}: neither https:// nor http://"))),
    }
}

/// All commits that are asked for, the oldest first.
fn entries(args: &Args) -> Result<Vec<Entry>> {
    let Some(history) = &args.append else {
        let mut all = vec![];
        for file in &args.files {
            all.append(&mut entry::read(file)?);
        }
        return Ok(all);
    };
    let [file] = &args.files[..] else {
        return Err(Error("--append takes one file of `run --counters`".into()));
    };
    let commit = args.commit.clone().unwrap_or_default();
    let new = Entry::of_file(file, commit, args.title.clone().unwrap_or_default())?;
    let mut all = if history.exists() { entry::read(history)? } else { vec![] };
    all.retain(|e| e.commit != new.commit);
    all.push(new);
    entry::write(history, &all)?;
    Ok(all)
}

pub fn run(args: &Args) -> Result<()> {
    args.link.as_deref().map(link).transpose()?;
    let mut all = entries(args)?;
    let lost = all.len().saturating_sub(COMMITS);
    all.drain(..lost);
    let Some(last) = all.last() else {
        return Err(Error("no commit: there are no files of `run --counters` in it".into()));
    };
    let limits = Limits::new(args.thresholds.as_deref(), &[], &last.file.total)?;
    let mut series = series::of(&all, &limits);
    let more = series.len().saturating_sub(WORKLOADS);
    series.truncate(WORKLOADS);
    let steps: usize = series.iter().map(Series::steps).sum();
    let gpus: Vec<&str> = all.iter().map(|e| e.file.gpu.as_str()).collect();
    let data = json!({
        "captures": [], "takes": [], "parts": [], "figures": [], "counters": series::counters(),
        "commits": all.iter().map(|e| json!([e.commit, e.title])).collect::<Vec<_>>(),
        "gpus": gpus, "link": args.link, "series": series.iter().map(Series::json).collect::<Vec<_>>(),
        "lost": lost, "more": more,
    });
    let name = args.output.file_stem().unwrap_or_default().to_string_lossy();
    let style = [report::STYLE, STYLE].concat();
    let scripts = [report::BASE, report::THEME, SCRIPT].concat();
    let text = report::filled(PAGE, &name, &style, &data, &scripts);
    std::fs::write(&args.output, &text).map_err(|e| Error::file(&args.output, e))?;
    eprintln!(
        "tuff: {}: {}, {}, {}",
        args.output.display(),
        report::many(all.len(), "commit"),
        report::many(series.len() - 1, "workload"),
        report::many(steps, "step")
    );
    Ok(())
}

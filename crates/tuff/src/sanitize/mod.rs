//! `tuff sanitize`: runs a program, and reports what its shaders do wrong.

mod formats;
mod page;
mod suppressions;
#[cfg(test)]
mod tests;
mod text;

use crate::run;
use ::sanitize::{FILE_VERSION, File, Finding, Findings, Kind};
use client::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use suppressions::Suppressions;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff sanitize -- ./program
  tuff sanitize --fail --junit findings.xml -- ./program          exit status 1 if there is a finding
  tuff sanitize --only data-race --report findings.html -- ./program
  tuff sanitize --suppress known.txt --sarif findings.sarif -- ./program

Kinds: data-race, out-of-bounds, null-descriptor, uninitialized, arithmetic, divergence, endless-loop, hazard, discarded-read,
feedback-loop, protection; with --only also dead-store, unused-binding and needless-traffic. A line of a suppression file is a
kind (or *) and, after a space, text that the finding's line contains; lines that begin with # are comments. More: docs/sanitize.md.")]
pub struct Args {
    /// Report only findings of these kinds (separated by commas).
    #[arg(long, value_delimiter = ',', value_parser = kind)]
    only: Vec<Kind>,
    /// Do not report the findings that this file names.
    #[arg(long, value_name = "FILE")]
    suppress: Vec<PathBuf>,
    /// Write the findings as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the findings as JUnit XML: a failed case each.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0, for code scanning.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write the findings as an HTML page.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Exit with status 1 if there is a finding.
    #[arg(long)]
    fail: bool,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

fn kind(text: &str) -> std::result::Result<Kind, String> {
    let known = Kind::ALL.into_iter().find(|k| k.name() == text);
    known.ok_or_else(|| format!("the kinds are {}", Kind::ALL.map(Kind::name).join(", ")))
}

/// What all processes of a program left, and what of it is reported.
struct Report {
    findings: Vec<Finding>,
    suppressed: u64,
    accesses: u64,
    unfollowed: u64,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let suppressions = Suppressions::read(&args.suppress)?;
    let (ended, left) = run::findings(&args.program)?;
    let report = gathered(&left.files, &args.only, &suppressions)?;
    eprint!("{}", text::told(&report));
    let write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
        Some(path) => std::fs::write(path, text()).map_err(|e| Error::file(path, e)),
        None => Ok(()),
    };
    let name = run::name(&args.program[0]);
    write(&args.json, &|| formats::json(&report))?;
    write(&args.junit, &|| formats::junit(&report, name))?;
    write(&args.sarif, &|| formats::sarif(&report))?;
    write(&args.report, &|| page::html(&report, name))?;
    let found = args.fail && !report.findings.is_empty();
    let code = ended.code();
    Ok(if found && code == ExitCode::SUCCESS { ExitCode::FAILURE } else { code })
}

/// Puts the files of a program's processes together. Findings are in the order of their places, for processes have none.
fn gathered(files: &[PathBuf], only: &[Kind], suppressions: &Suppressions) -> Result<Report> {
    let mut all = Findings::default();
    let mut report = Report { findings: vec![], suppressed: 0, accesses: 0, unfollowed: 0 };
    for path in files {
        let file = read(path)?;
        report.accesses += file.accesses;
        report.unfollowed += file.unfollowed;
        for finding in file.findings {
            // Advice is for those who ask for it.
            let wanted =
                if only.is_empty() { !finding.kind.is_advice() } else { only.contains(&finding.kind) };
            if !wanted {
                continue;
            }
            match suppressions.has(&finding) {
                true => report.suppressed += 1,
                false => all.add(finding),
            }
        }
    }
    report.findings = all.all().to_vec();
    report.findings.sort_by(|a, b| {
        let key = |f: &Finding| {
            (f.kind, f.pipeline.clone(), f.here.clone(), f.there.clone(), text::line(f), text::details(f))
        };
        key(a).cmp(&key(b))
    });
    Ok(report)
}

fn read(path: &Path) -> Result<File> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
    let file: File = serde_json::from_str(&text).map_err(|e| Error::file(path, e))?;
    match file.version {
        FILE_VERSION => Ok(file),
        other => Err(Error::file(path, format!("version {other}, and this tool reads {FILE_VERSION}"))),
    }
}

//! The tests' programs, run one by one.

use crate::cargo::call_with;
use crate::test::Tally;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub struct Program {
    pub package: String,
    /// The package's folder, in which cargo runs its tests.
    folder: PathBuf,
    path: PathBuf,
}

/// What one line of cargo's says, if it is of a program of tests.
fn program(line: &str) -> Option<Program> {
    let json: serde_json::Value = serde_json::from_str(line).ok()?;
    if json["reason"] != "compiler-artifact" || json["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(json["manifest_path"].as_str()?).parent()?.to_path_buf();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    Some(Program { package, folder, path: json["executable"].as_str()?.into() })
}

/// Builds what `command` (a `cargo test --no-run`) names.
pub fn build(mut command: Command) -> Result<Vec<Program>, String> {
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    let mut programs = vec![];
    call_with(command, |child| {
        let stdout = child.stdout.take().ok_or("cargo has no output")?;
        programs.extend(BufReader::new(stdout).lines().map_while(Result::ok).filter_map(|l| program(&l)));
        Ok(())
    })?;
    Ok(programs)
}

/// Runs them; `prepare` says how. All are run, also after one has failed.
pub fn run<'a>(
    programs: impl Iterator<Item = &'a Program>,
    prepare: impl Fn(&mut Command),
) -> Result<(), String> {
    let (mut tally, mut failed) = (Tally::default(), vec![]);
    for p in programs {
        let mut command = Command::new(&p.path);
        command.current_dir(&p.folder).env("CARGO_MANIFEST_DIR", &p.folder).stdout(Stdio::piped());
        prepare(&mut command);
        let end = call_with(command, |child| {
            let stdout = child.stdout.take().ok_or("a test has no output")?;
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                println!("{line}");
                tally.read(&line);
            }
            Ok(())
        });
        failed.extend(end.err());
    }
    tally.show();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn programs_of_tests_are_found_among_what_cargo_says() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/a/crates/icd/Cargo.toml","profile":{"test":true},"executable":"/t/x"}"#;
        let p = program(line).expect("one");
        assert_eq!(
            (&p.package[..], p.folder.to_str(), p.path.to_str()),
            ("icd", Some("/a/crates/icd"), Some("/t/x"))
        );
        for other in [line.replace("true", "false"), line.replace("\"/t/x\"", "null"), "no".into()] {
            assert!(program(&other).is_none(), "{other}");
        }
    }
}

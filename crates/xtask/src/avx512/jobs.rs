//! What runs in the emulated machine, and how to tell that it was right.

use crate::cargo::{icd_file, on_driver, programs, release, root, target_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One program's run.
pub struct Job {
    pub name: String,
    /// Settings (`NAME=value`), the program's path in the machine, its arguments.
    pub words: Vec<String>,
    /// The program, and what else is to be there in `/jobs`.
    pub files: Vec<PathBuf>,
    want: Want,
}

enum Want {
    /// A test program's closing line, with a test that passed.
    Tests,
    /// These lines, from a driver that says that it runs AVX-512 kernels.
    Driver(Vec<String>),
    /// An end without an error.
    End,
}

impl Job {
    fn new(name: String, program: &Path, settings: &[&str], arguments: &[&str], want: Want) -> Job {
        let file = program.file_name().unwrap_or_default().to_string_lossy();
        let mut words: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        words.push(format!("/jobs/{file}"));
        words.extend(arguments.iter().map(|a| a.to_string()));
        Job { name, words, files: vec![program.into()], want }
    }

    /// Leaves out what fails on a machine that converts between kinds of numbers wrongly: Debian's Bochs.
    pub fn without_conversions(&mut self) {
        if self.name == "wave/exact" {
            self.words.extend(["--skip", "one_operand"].map(String::from));
        }
        if let Want::Driver(lines) = &mut self.want {
            lines.retain(|l| !["nans ", "small_types "].iter().any(|case| l.starts_with(case)));
        }
    }

    /// What was not as it should be, by the lines of the console.
    pub fn wrong(&self, console: &[String]) -> Vec<String> {
        let begin = format!("== run {}", self.name);
        let end = format!("== end {} ", self.name);
        let Some(from) = console.iter().position(|l| *l == begin) else {
            return vec!["did not start".into()];
        };
        let said = &console[from..];
        let Some(to) = said.iter().position(|l| l.starts_with(&end)) else {
            return vec!["did not end".into()];
        };
        let (said, code) = (&said[..to], &said[to][end.len()..]);
        let mut wrong = Vec::new();
        if code != "0" {
            wrong.push(format!("ended with {code}"));
        }
        match &self.want {
            Want::End => {}
            Want::Tests => {
                let good =
                    |l: &String| l.starts_with("test result: ok. ") && !l.starts_with("test result: ok. 0 ");
                if !said.iter().any(good) {
                    wrong.push("no test passed".into());
                }
            }
            Want::Driver(lines) => {
                if !said.iter().any(|l| l.contains("kernels Avx512")) {
                    wrong.push("the driver does not run AVX-512 kernels".into());
                }
                let absent = lines.iter().filter(|l| !said.contains(l));
                wrong.extend(absent.map(|l| format!("did not say {l}")));
            }
        }
        wrong
    }
}

/// The test programs of the crates with kernels, then what runs on the driver as clients see it: all that `only` may
/// name.
pub fn tests(only: &[String]) -> Result<Vec<Job>, String> {
    let packages = ["simd", "wave", "texel", "machine", "raster"];
    let wanted = |group: &str| {
        let other = |o: &str| packages.iter().chain(&["driver"]).any(|g| *g != group && o.starts_with(g));
        only.is_empty() || only.iter().any(|o| !other(o))
    };
    let mut jobs = Vec::new();
    for package in packages.iter().filter(|g| wanted(g)) {
        for (_, target, path) in
            programs(&["test", "--no-run", "--profile", "quick", "--lib", "--tests", "-p", package], |_| {})?
        {
            let name = if target == *package { target } else { format!("{package}/{target}") };
            let settings = ["TUFF_SIMD=avx512", "TUFF_TEST_SIMD=avx512"];
            jobs.push(Job::new(name, &path, &settings, &["--test-threads=1", "--color=never"], Want::Tests));
        }
    }
    if wanted("driver") {
        jobs.extend(clients()?);
    }
    Ok(jobs)
}

/// The conformance programs, with the driver as it is released.
fn clients() -> Result<Vec<Job>, String> {
    release(&["icd"], &[])?;
    let library = target_folder().join("release/libvulkan_tuff.so");
    let icd = target_folder().join("avx512/icd.json");
    std::fs::create_dir_all(target_folder().join("avx512"))
        .and_then(|()| std::fs::write(&icd, icd_file(&library)))
        .map_err(|e| format!("{}: {e}", icd.display()))?;
    let mut jobs = Vec::new();
    for (_, target, path) in
        programs(&["build", "--profile", "quick", "--bins", "-p", "conformance"], |_| {})?
    {
        let lines = match target.as_str() {
            "scene-child" => goldens()?,
            "compute-child" | "instrumentation-child" => portable(&path, &icd)?,
            _ => continue,
        };
        let name = format!("driver/{}", target.trim_end_matches("-child"));
        let mut job = Job::new(name, &path, &["TUFF_SIMD=avx512"], &[], Want::Driver(lines));
        job.files.push(library.clone());
        jobs.push(job);
    }
    Ok(jobs)
}

/// The scenes' one hash for all levels.
fn goldens() -> Result<Vec<String>, String> {
    let file = root().join("crates/conformance/goldens.txt");
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).map(str::to_string).collect())
}

/// What a program says here, on portable kernels.
fn portable(program: &Path, icd: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new(program);
    command.env("TUFF_SIMD", "portable").env("TUFF_NO_LOADER", "1");
    on_driver(&mut command, icd);
    let output = command.output().map_err(|e| format!("{}: {e}", program.display()))?;
    let lines: Vec<_> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect();
    let good = output.status.success() && !lines.is_empty();
    if good {
        Ok(lines)
    } else {
        Err(format!("{} on portable kernels: {}", program.display(), lines.join("\n")))
    }
}

/// Benchmark shaders on both levels. The machine's time goes by instructions.
pub fn counts() -> Result<Vec<Job>, String> {
    let made = programs(&["build", "--profile", "quick", "--example", "kernel_bench", "-p", "wave"], |_| {})?;
    let (_, _, bench) = made.first().ok_or("no kernel_bench")?;
    let job = |level: &str| {
        let arguments = ["--times", "1", "--level", level, "mandel", "sgemm", "march"];
        Job::new(format!("count/{level}"), bench, &[], &arguments, Want::End)
    };
    Ok(vec![job("avx2"), job("avx512")])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(want: Want, console: &str) -> Vec<String> {
        let job = Job::new("a".into(), Path::new("/x/a"), &[], &[], want);
        job.wrong(&console.lines().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_ran_to_its_good_end_passes() {
        let passed = "== run a\ntest result: ok. 3 passed; 0 failed\n== end a 0";
        assert!(wrong(Want::Tests, passed).is_empty());
        assert_eq!(wrong(Want::Tests, ""), ["did not start"]);
        assert_eq!(wrong(Want::Tests, "== run a\ntest result: ok. 3 passed"), ["did not end"]);
        assert_eq!(wrong(Want::Tests, &passed.replace("a 0", "a 101")), ["ended with 101"]);
        assert_eq!(wrong(Want::Tests, &passed.replace("ok. 3", "ok. 0")), ["no test passed"]);
        // Another job's lines do not count.
        assert_eq!(
            wrong(Want::Tests, &format!("== run a\n== end a 0\n{passed}").replace("run a\nt", "run b\nt")),
            ["no test passed"]
        );
    }

    #[test]
    fn a_driver_names_the_level_and_says_every_line() {
        let want = || Want::Driver(vec!["x 1".into(), "y 2".into()]);
        let good = "== run a\ntuff: a device of 1 threads, kernels Avx512\ny 2\nx 1\n== end a 0";
        assert!(wrong(want(), good).is_empty());
        assert_eq!(wrong(want(), &good.replace("512", "2")), ["the driver does not run AVX-512 kernels"]);
        assert_eq!(wrong(want(), &good.replace("x 1", "x 3")), ["did not say x 1"]);
    }
}

//! `cargo xtask sanitize address|thread`: the driver built with one of LLVM's sanitizers, under the tests, the conformance
//! suite and samples of the CTS. Anything that is reported fails the task.
//!
//! The run time that rustc brings along is a static library for programs. Here it is a shared one (made of rustc's, or
//! clang's), because the driver is loaded by programs that were compiled without it as well (`deqp-vk`, vulkaninfo):
//! whatever is run has it preloaded. Threads are looked at with a standard library that is built the same way (rust-src), or its locks would
//! be none to the sanitizer.

mod cases;
mod programs;
mod reports;
mod runtime;

use crate::cargo::{call, cargo, root, target_folder};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-gnu";

#[derive(clap::Args)]
pub struct Args {
    sanitizer: Sanitizer,
    /// What to run; default: all three, the CTS only with `--deqp-vk`.
    suites: Vec<Suite>,
    /// The deqp-vk binary of VK-GL-CTS; it is not instrumented.
    #[arg(long)]
    deqp_vk: Option<PathBuf>,
    /// A file with CTS cases, one name per line; default: an even sample of cts-subset's lists.
    #[arg(long)]
    list: Vec<PathBuf>,
    /// Packages to leave out.
    #[arg(long)]
    exclude: Vec<String>,
    /// The sanitizer's shared runtime; default: rustc's for addresses, clang's for threads.
    #[arg(long)]
    runtime: Option<PathBuf>,
    /// How many cases the sample has.
    #[arg(long, default_value_t = 3000)]
    cases: usize,
    /// deqp-vk processes at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Arguments for the tests' programs: a filter, say.
    #[arg(last = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sanitizer {
    Address,
    Thread,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// The workspace's tests, but for conformance.
    Tests,
    /// Scenes through the loader.
    Conformance,
    /// deqp-vk on the instrumented driver.
    Cts,
}

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Thread => "thread",
        }
    }
    /// What rustc calls its run time, and the variable that it reads its options from.
    fn short(self) -> (&'static str, &'static str) {
        match self {
            Sanitizer::Address => ("asan", "ASAN_OPTIONS"),
            Sanitizer::Thread => ("tsan", "TSAN_OPTIONS"),
        }
    }
    fn options(self, reports: &Path) -> String {
        let own = match self {
            // Large allocations are asked for fallibly: that one fails is no mistake. Leaks: a process that ends owns
            // its instance still, and children (cc, Mesa) are others' programs. A test may preload something before
            // the run time, and a test links the driver besides loading it: two of each global, of different names.
            Sanitizer::Address => {
                "allocator_may_return_null=1:detect_leaks=0:verify_asan_link_order=0:detect_odr_violation=0"
                    .into()
            }
            // What a program without instrumentation does with its own memory is not known.
            Sanitizer::Thread => {
                let known = root().join("crates/xtask/src/sanitize/thread.supp");
                format!(
                    "allocator_may_return_null=1:ignore_noninstrumented_modules=1:die_after_fork=0:history_size=4:suppressions={}",
                    known.display()
                )
            }
        };
        format!("log_path={}:{own}", reports.join("report").display())
    }
}

/// What all commands of a run have in common.
struct Build {
    sanitizer: Sanitizer,
    /// The run time as a shared library.
    runtime: PathBuf,
    target: PathBuf,
    reports: PathBuf,
}

impl Build {
    /// The environment of what is run: options, and threads that have each other to race with.
    fn watched(&self, command: &mut Command) {
        let (_, variable) = self.sanitizer.short();
        command.env(variable, self.sanitizer.options(&self.reports));
        // Every temporary has a place of its own between red zones: frames of vectors are many times as large as they are without (where
        // 128 KiB are enough for the microbenchmarks).
        command.env("RUST_MIN_STACK", (64 << 20).to_string());
        if std::env::var_os("TUFF_THREADS").is_none() && self.sanitizer == Sanitizer::Thread {
            command.env("TUFF_THREADS", "3");
        }
        // Everything takes ten times as long; tests about the watchdog have limits of their own.
        if std::env::var_os("TUFF_WATCHDOG_MS").is_none() {
            command.env("TUFF_WATCHDOG_MS", "600000");
        }
        if let Ok(path) = which("llvm-symbolizer") {
            command.env("ASAN_SYMBOLIZER_PATH", &path).env("TSAN_SYMBOLIZER_PATH", &path);
        }
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = cargo(words);
        command.args(["--target", TARGET]);
        if self.sanitizer == Sanitizer::Thread {
            command.arg("-Zbuild-std");
        }
        let flags = [
            format!("-Zsanitizer={}", self.sanitizer.name()),
            // The shared one instead.
            "-Zexternal-clangrt".into(),
            format!("-Clink-arg={}", self.runtime.display()),
            "-Cforce-frame-pointers=yes".into(),
        ];
        command
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    fn folder(&self) -> PathBuf {
        self.target.join(TARGET).join("debug")
    }
    fn icd(&self) -> PathBuf {
        self.folder().join("tuff_icd.json")
    }
    fn layer(&self) -> PathBuf {
        self.folder().join("layers")
    }

    /// Builds tests, driver and layer; writes manifests that name them.
    fn build(&self, exclude: &[String]) -> Result<Vec<programs::Program>, String> {
        // The driver's library comes with its crate's tests. One build for all: cargo gives crates other features where other
        // packages are chosen, and would compile the kernels once more. No doctests: they are compiled by another program.
        let mut all = self.cargo(&["test", "--workspace", "--no-run", "--lib", "--bins", "--tests"]);
        // Nothing of the driver is in these, and their tests start what no sanitizer's run time is made for: cargo, and a
        // shell that ends itself by a signal.
        all.args(["--exclude", "xtask", "--exclude", "cts-subset"]);
        // It serves dlsym, which the run time asks before there is any shadow memory.
        all.args(["--exclude", "perfmon-gl"]);
        if self.sanitizer == Sanitizer::Thread {
            // It writes into mapped memory while the device does, and ends without destroying what it made, on purpose.
            all.args(["--exclude", "api-fuzz"]);
        }
        exclude.iter().for_each(|p| _ = all.args(["--exclude", p]));
        let programs = programs::build(all)?;
        call(self.cargo(&["build", "-p", "layer-gpu-performance", "--lib"]))?;
        let library = self.folder().join("deps/libvulkan_tuff.so");
        let icd = serde_json::json!({
            "file_format_version": "1.0.1",
            "ICD": { "library_path": library, "api_version": "1.4.0" },
        });
        write(&self.icd(), &icd.to_string())?;
        let original = root().join("crates/layer-gpu-performance/VkLayer_TUFF_gpu_performance.json");
        let text = std::fs::read_to_string(&original).map_err(|e| format!("{}: {e}", original.display()))?;
        std::fs::create_dir_all(self.layer()).map_err(|e| format!("{}: {e}", self.layer().display()))?;
        let layer = self.layer().join("VkLayer_TUFF_gpu_performance.json");
        write(&layer, &text.replace("../../target/release/", "../"))?;
        Ok(programs)
    }

    fn run(&self, suite: Suite, programs: &[programs::Program], args: &Args) -> Result<(), String> {
        let conformance = match suite {
            Suite::Tests => false,
            Suite::Conformance => true,
            Suite::Cts => return self.cts(args),
        };
        let chosen = programs.iter().filter(|p| (p.package == "conformance") == conformance);
        programs::run(chosen, |command| {
            command.env("LD_PRELOAD", &self.runtime).args(&args.rest);
            command.env("TUFF_ICD", self.icd()).env("TUFF_LAYER", self.layer());
            self.watched(command);
        })
    }

    fn cts(&self, args: &Args) -> Result<(), String> {
        let deqp = args.deqp_vk.as_deref().ok_or("cts needs --deqp-vk")?;
        let deqp = deqp.canonicalize().map_err(|e| format!("{}: {e}", deqp.display()))?;
        // The runner itself is not watched: it starts this, which is deqp-vk with the run time before it.
        let script = self.target.join("deqp-vk-watched");
        let folder = deqp.parent().unwrap_or(Path::new("/"));
        write(
            &script,
            &format!(
                "#!/bin/sh\ncd '{}' && LD_PRELOAD='{}' exec '{}' \"$@\"\n",
                folder.display(),
                self.runtime.display(),
                deqp.display()
            ),
        )?;
        make_executable(&script)?;
        let lists = match &args.list[..] {
            [] => {
                let list = self.target.join("cases.txt");
                write(&list, &cases::sample(&root().join("cts-subset/lists"), args.cases)?)?;
                vec![list]
            }
            lists => lists.to_vec(),
        };
        let mut command = cargo(&["run", "--quiet", "-p", "cts-subset", "--"]);
        command.arg("--icd").arg(self.icd()).arg("--deqp-vk").arg(&script);
        command.args(["--jobs", &args.jobs.to_string(), "--case-timeout", "600"]);
        command.arg("--bad").arg(self.target.join("bad.tsv"));
        for list in &lists {
            command.arg("--list").arg(list);
        }
        self.watched(&mut command);
        call(command)
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn make_executable(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(|e| format!("{}: {e}", path.display()))
}

fn which(name: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|f| f.join(name)).find(|p| p.is_file());
    found.ok_or_else(|| format!("{name} is not installed"))
}

pub fn run(args: &Args) -> Result<(), String> {
    let target = target_folder().join("sanitize").join(args.sanitizer.name());
    let reports = target.join("reports");
    let _ = std::fs::remove_dir_all(&reports);
    std::fs::create_dir_all(&reports).map_err(|e| format!("{}: {e}", reports.display()))?;
    let runtime = match (&args.runtime, args.sanitizer) {
        (Some(path), _) => path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?,
        (None, Sanitizer::Address) => runtime::make(args.sanitizer.short().0, &target)?,
        (None, Sanitizer::Thread) => runtime::of_clang()?,
    };
    let build = Build { sanitizer: args.sanitizer, runtime, target, reports };
    let programs = build.build(&args.exclude)?;
    let all = [Suite::Tests, Suite::Conformance, Suite::Cts];
    let suites = match &args.suites[..] {
        [] => &all[..if args.deqp_vk.is_some() { 3 } else { 2 }],
        some => some,
    };
    let mut failed = Vec::new();
    for suite in suites {
        let name = suite.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default();
        let before = reports::read(&build.reports)?.len();
        if let Err(e) = build.run(*suite, &programs, args) {
            eprintln!("xtask: {name}: {e}");
            failed.push(name.clone());
        }
        let reports = reports::read(&build.reports)?.len() - before;
        println!("xtask: sanitize {}: {name}: {reports} reports", build.sanitizer.name());
    }
    let found = reports::read(&build.reports)?;
    reports::show(&found);
    match (found.len(), &failed[..]) {
        (0, []) => Ok(()),
        (0, failed) => Err(format!("no reports; failed: {}", failed.join(", "))),
        (n, _) => Err(format!("{n} reports in {}", build.reports.display())),
    }
}

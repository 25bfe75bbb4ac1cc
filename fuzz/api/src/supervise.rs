//! The parent: runs one process after the other, notices how each ends, and makes findings small.

use crate::COMMANDS;
use crate::shared::{self, RING, Shared};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// No call ends for so long: it hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes that a run may have in memory.
const RESIDENT: u64 = 3 << 30;

pub struct Options {
    pub library: PathBuf,
    pub seed: u64,
    pub calls: u64,
    pub seconds: Option<u64>,
    /// Calls of one run.
    pub each: u64,
    /// Where the output of runs that found something is left.
    pub folder: PathBuf,
    /// The first run's number.
    pub first: u64,
    pub threads: u32,
}

/// How a run ended that should not have ended so.
pub struct Finding {
    pub iteration: u64,
    pub what: String,
    /// The last calls.
    pub calls: Vec<String>,
}

#[derive(Default)]
pub struct Totals {
    pub runs: u64,
    pub calls: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub silent: u64,
    /// Calls and successes, by command.
    pub by_command: Vec<(u64, u64)>,
    pub findings: Vec<Finding>,
}

/// What a run's own arguments are.
struct Errand<'a> {
    iteration: u64,
    keep: Option<&'a Path>,
    trace: Option<&'a Path>,
    folder: PathBuf,
}

impl Options {
    fn child(&self, e: &Errand) -> Result<(Child, &'static Shared, PathBuf), String> {
        fs::create_dir_all(&e.folder).map_err(|x| format!("{}: {x}", e.folder.display()))?;
        let (map, err) = (e.folder.join("shared"), e.folder.join("stderr"));
        let _ = fs::remove_file(&map);
        let shared = shared::map(&map).map_err(|x| x.to_string())?;
        let me = std::env::current_exe().map_err(|x| x.to_string())?;
        let stderr = File::create(&err).map_err(|x| x.to_string())?;
        let mut c = Command::new(me);
        c.arg("--child").arg("--library").arg(&self.library);
        c.args(["--seed", &self.seed.to_string(), "--first", &e.iteration.to_string()]);
        c.args(["--threads", &self.threads.to_string(), "--each", &self.each.to_string()])
            .arg("--map")
            .arg(&map);
        if let Some(k) = e.keep {
            c.arg("--keep").arg(k);
        }
        if let Some(t) = e.trace {
            c.arg("--trace").arg(t);
        }
        let asan = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096:handle_abort=1:\
                    quarantine_size_mb=64:malloc_context_size=12:detect_stack_use_after_return=0";
        for (name, value) in [
            ("TUFF_WATCHDOG_MS", "60"),
            ("TUFF_THREADS", "2"),
            ("TUFF_LOG", "error"),
            ("TUFF_REFRESH", "0"),
            ("ASAN_OPTIONS", asan),
        ] {
            if std::env::var_os(name).is_none() {
                c.env(name, value);
            }
        }
        c.env_remove("DISPLAY").stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        Ok((c.spawn().map_err(|x| x.to_string())?, shared, err))
    }

    /// One run to its end; what was found, if anything.
    fn one(&self, e: &Errand) -> Result<(Option<Finding>, &'static Shared), String> {
        let (mut child, shared, err) = self.child(e)?;
        let mut seen = (0, Instant::now());
        let mut ended = None;
        let status = loop {
            if let Some(s) = child.try_wait().map_err(|x| x.to_string())? {
                break s;
            }
            std::thread::sleep(Duration::from_millis(10));
            let calls = shared.calls.load(Relaxed) + shared.phase.load(Relaxed);
            if calls != seen.0 {
                seen = (calls, Instant::now());
            }
            let resident = fs::read_to_string(format!("/proc/{}/statm", child.id()))
                .ok()
                .and_then(|s| s.split(' ').nth(1)?.parse::<u64>().ok())
                .unwrap_or(0)
                * 4096;
            if ended.is_none() && resident > RESIDENT {
                ended = Some(format!("memory: {} MiB", resident >> 20));
            } else if ended.is_none() && seen.1.elapsed() > PATIENCE {
                ended = Some("hang: no call has ended for a minute".into());
            } else {
                continue;
            }
            // Where it is: a sanitizer writes that when it is aborted; else a core would say.
            // SAFETY: a child of ours that has not been waited for.
            unsafe { libc::kill(child.id() as i32, libc::SIGABRT) };
            std::thread::sleep(Duration::from_secs(3));
            let _ = child.kill();
        };
        let said = String::from_utf8_lossy(&fs::read(&err).unwrap_or_default()).into_owned();
        let fault = said.lines().find(|l| {
            l.contains("inside the driver")
                || l.contains("panicked at")
                || l.contains("ERROR: AddressSanitizer")
        });
        let what = match (ended, fault) {
            (Some(e), _) => Some(e),
            (_, Some(line)) => Some(format!("{line}{}", place(&said))),
            _ if status.code() == Some(crate::fixture::TOO_BUSY) => None,
            _ if !status.success() => Some(format!("{status}")),
            _ if shared.faults.load(Relaxed) > 0 => Some("the driver told of a fault inside it".into()),
            _ => None,
        };
        let finding = what.map(|mut what| {
            let n = shared.calls.load(Relaxed);
            let last = n.saturating_sub(RING as u64)..n;
            let call = |i: u64| {
                let (key, command) = &shared.ring[i as usize % RING];
                let name = COMMANDS.get(command.load(Relaxed) as usize).map_or("?", |c| c.name);
                format!("{:#x} {name}", key.load(Relaxed))
            };
            let calls: Vec<String> = last.map(call).collect();
            if let Some(name) = calls.last().and_then(|c| c.split(' ').nth(1)) {
                what = what.replacen(')', &format!(") after {name}"), 1);
            }
            Finding { iteration: e.iteration, what, calls }
        });
        Ok((finding, shared))
    }

    /// Runs until there were as many calls or seconds as asked for.
    pub fn fuzz(&self, tell: &mut dyn FnMut(&str)) -> Result<Totals, String> {
        let mut t = Totals { by_command: vec![(0, 0); COMMANDS.len()], ..Default::default() };
        let begun = Instant::now();
        let mut said = Instant::now();
        let mut iteration = self.first;
        // Runs in a row that made no call.
        let mut idle = 0;
        while t.calls < self.calls && self.seconds.is_none_or(|s| begun.elapsed().as_secs() < s) {
            let folder = self.folder.join(format!("{}-{iteration}", self.seed));
            let e = Errand { iteration, keep: None, trace: None, folder: folder.clone() };
            let (finding, shared) = self.one(&e)?;
            t.add(shared);
            idle = if shared.calls.load(Relaxed) == 0 { idle + 1 } else { 0 };
            if idle > 20 {
                return Err("the fixture's work does not end in time".into());
            }
            if let Some(f) = finding.as_ref().filter(|_| shared.phase.load(Relaxed) == shared::FIXTURE) {
                return Err(format!("{}: the fixture itself: {}", folder.display(), f.what));
            }
            match finding {
                Some(f) => {
                    tell(&format!(
                        "finding at {}:{iteration}, see {}: {}",
                        self.seed,
                        folder.display(),
                        f.what
                    ));
                    t.findings.push(f);
                }
                None => {
                    let _ = fs::remove_dir_all(&folder);
                }
            }
            if said.elapsed().as_secs() >= 30 {
                said = Instant::now();
                let (c, f) = (t.calls, t.findings.len());
                tell(&format!("{} s: {c} calls in {} runs, {f} findings", begun.elapsed().as_secs(), t.runs));
            }
            iteration += 1;
        }
        Ok(t)
    }

    /// One run once more, each call written to a file.
    pub fn replay(
        &self,
        iteration: u64,
        trace: &Path,
        keep: Option<&Path>,
    ) -> Result<Option<Finding>, String> {
        let folder = self.folder.join("replay");
        Ok(self.one(&Errand { iteration, keep, trace: Some(trace), folder })?.0)
    }

    /// Leaves out what a finding does not need: halves, quarters and so on, as long as it ends as wrongly.
    pub fn minimise(&self, iteration: u64, trace: &Path, tell: &mut dyn FnMut(&str)) -> Result<(), String> {
        let Some(whole) = self.replay(iteration, trace, None)? else {
            return Err("it does not happen again".into());
        };
        tell(&whole.what);
        let text = fs::read_to_string(trace).map_err(|e| e.to_string())?;
        let keys = text.lines().filter_map(|l| l.strip_prefix("0x")?.split(' ').next().map(str::to_string));
        let mut keys: Vec<String> = keys.collect();
        let list = self.folder.join("keep");
        let fails = |keys: &[String]| -> Result<bool, String> {
            fs::write(&list, keys.join("\n")).map_err(|e| e.to_string())?;
            Ok(self
                .replay(iteration, trace, Some(&list))?
                .is_some_and(|f| kind(&f.what) == kind(&whole.what)))
        };
        let mut part = keys.len().div_ceil(2);
        while part > 0 {
            let (mut at, before) = (0, keys.len());
            while at < keys.len() {
                let mut without = keys.clone();
                without.drain(at..(at + part).min(keys.len()));
                if fails(&without)? {
                    keys = without;
                } else {
                    at += part;
                }
            }
            tell(&format!("{} calls of {before}", keys.len()));
            part = if part == 1 && keys.len() < before { 1 } else { part / 2 };
        }
        fails(&keys)?;
        Ok(())
    }
}

/// What a finding is, without numbers that differ from run to run.
fn kind(what: &str) -> String {
    let words = what.split_whitespace().filter(|w| !w.contains("0x") && !w.contains("=="));
    words.take(12).collect::<Vec<_>>().join(" ")
}

/// The first frames of a sanitizer's report that are the driver's.
fn place(said: &str) -> String {
    let frames = said.lines().skip_while(|l| !l.contains("ERROR: AddressSanitizer"));
    let ours = frames.filter(|l| l.trim_start().starts_with('#') && !l.contains("/rustc/"));
    let names = ours.filter_map(|l| l.split(" in ").nth(1)).take(5);
    names.map(|n| format!("\n    {n}")).collect()
}

impl Totals {
    fn add(&mut self, s: &Shared) {
        self.runs += 1;
        self.calls += s.calls.load(Relaxed);
        self.succeeded += s.succeeded.load(Relaxed);
        self.failed += s.failed.load(Relaxed);
        self.silent += s.silent.load(Relaxed);
        for (sum, one) in self.by_command.iter_mut().zip(&s.by_command) {
            sum.0 += one.0.load(Relaxed) as u64;
            sum.1 += one.1.load(Relaxed) as u64;
        }
    }

    /// Calls and successes of each command, a line each.
    pub fn table(&self) -> String {
        let rows = COMMANDS.iter().zip(&self.by_command);
        rows.map(|(c, (calls, fine))| format!("{}\t{calls}\t{fine}\n", c.name)).collect()
    }

    /// What was done, and what was found, as text.
    pub fn report(&self) -> String {
        let never = |f: &dyn Fn(&(u64, u64)) -> bool| -> Vec<&str> {
            COMMANDS.iter().zip(&self.by_command).filter(|(_, n)| f(n)).map(|(c, _)| c.name).collect()
        };
        let (absent, refused) = (never(&|n| n.0 == 0), never(&|n| n.0 > 0 && n.1 == 0));
        let mut kinds: BTreeMap<String, (usize, u64)> = BTreeMap::new();
        for f in &self.findings {
            kinds.entry(kind(&f.what)).or_insert((0, f.iteration)).0 += 1;
        }
        let mut out = format!(
            "{} calls in {} runs: {} succeeded, {} failed, {} of commands that cannot fail\n\
             {} of {} commands called; never: {}\nnever with success: {}\n{} findings\n",
            self.calls,
            self.runs,
            self.succeeded,
            self.failed,
            self.silent,
            COMMANDS.len() - absent.len(),
            COMMANDS.len(),
            absent.join(" "),
            refused.join(" "),
            self.findings.len()
        );
        for (kind, (n, first)) in kinds {
            out += &format!("  {n} × (run {first}) {kind}\n");
        }
        out
    }
}

//! Running deqp-vk on a list of cases, through crashes and hangs.

use crate::outcome::{CaseResult, Outcome};
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A deqp-vk binary and the driver that it shall see.
pub struct Deqp {
    binary: PathBuf,
    icd: PathBuf,
    case_timeout: Duration,
    /// Further arguments for deqp-vk.
    arguments: Vec<String>,
    /// Numbers this process's temporary files.
    files: AtomicU64,
}

/// How one process went.
struct Ended {
    results: Vec<CaseResult>,
    /// The case that had begun when the process ended, and for how long.
    open: Option<(String, f64)>,
    hung: bool,
    status: ExitStatus,
    stderr: String,
}

impl Deqp {
    /// Absolute paths: deqp-vk runs in its own folder, where its data is.
    pub fn new(binary: PathBuf, icd: PathBuf, case_timeout_s: f64, arguments: Vec<String>) -> Self {
        let case_timeout = Duration::from_secs_f64(case_timeout_s);
        Self { binary, icd, case_timeout, arguments, files: AtomicU64::new(0) }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(&self.arguments)
            .current_dir(self.binary.parent().unwrap_or(Path::new("/")))
            .env("VK_ICD_FILENAMES", &self.icd)
            .env("VK_DRIVER_FILES", &self.icd)
            // Mesa's disk cache would flatter lavapipe in a second run.
            .env("MESA_SHADER_CACHE_DISABLE", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // A group of its own, so that a kill reaches whatever it starts.
            .process_group(0);
        command
    }

    /// Names of the cases that match a pattern, as deqp-vk knows them.
    pub fn names(&self, pattern: &str) -> Result<Vec<String>, String> {
        let output = self
            .command()
            .args(["--deqp-runmode=stdout-caselist", "--deqp-case", pattern])
            .stderr(Stdio::null())
            .output()
            .map_err(|e| format!("{}: {e}", self.binary.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let names: Vec<_> =
            text.lines().filter_map(|l| l.strip_prefix("TEST: ")).map(str::to_string).collect();
        if names.is_empty() {
            Err(format!("deqp-vk knows no case that matches {pattern}"))
        } else {
            Ok(names)
        }
    }

    /// Runs all of `cases`, starting deqp-vk again after whatever ends it; a result for every case, in order.
    pub fn run(&self, cases: &[String]) -> Vec<CaseResult> {
        let mut done: HashMap<String, CaseResult> = HashMap::new();
        let mut left: Vec<String> = cases.to_vec();
        let mut starts_without_progress = 0;
        while !left.is_empty() {
            let wanted: HashSet<&String> = left.iter().collect();
            let before = done.len();
            let (message, outcome) = match self.process(&left) {
                Ok(ended) => {
                    for r in ended.results {
                        if wanted.contains(&r.name) {
                            done.insert(r.name.clone(), r);
                        }
                    }
                    let outcome = if ended.hung { Outcome::Timeout } else { Outcome::Crash };
                    let mut message = how(ended.status, ended.hung, self.case_timeout);
                    if !ended.stderr.is_empty() {
                        message += &format!("; stderr: {}", ended.stderr);
                    }
                    if let Some((name, seconds)) = ended.open {
                        let (message, details) = (message.clone(), vec![]);
                        done.insert(name.clone(), CaseResult { name, outcome, message, details, seconds });
                    }
                    // A clean end that leaves cases out: the binary does not know them.
                    let unknown = ended.status.success() && !ended.hung;
                    (message, if unknown { Outcome::NotRun } else { outcome })
                }
                Err(e) => (e, Outcome::NotRun),
            };
            left.retain(|c| !done.contains_key(c));
            if done.len() > before {
                starts_without_progress = 0;
                continue;
            }
            starts_without_progress += 1;
            // Nothing moved: give up the first case, or all of them where deqp-vk plainly does not get on.
            let give_up =
                if outcome == Outcome::NotRun || starts_without_progress >= 3 { left.len() } else { 1 };
            for name in left.drain(..give_up.min(left.len())) {
                let message = message.clone();
                done.insert(
                    name.clone(),
                    CaseResult { name, outcome, message, details: vec![], seconds: 0.0 },
                );
            }
        }
        cases.iter().filter_map(|c| done.remove(c)).collect()
    }

    fn process(&self, cases: &[String]) -> Result<Ended, String> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let stem = client::scratch(&number.to_string()).map_err(|e| e.to_string())?;
        let (list, log) = (stem.with_extension("txt"), stem.with_extension("qpa"));
        std::fs::write(&list, cases.join("\n") + "\n").map_err(|e| format!("{}: {e}", list.display()))?;
        let result = self.watch(&list, &log);
        let _ = std::fs::remove_file(&list);
        let mut ended = result?;
        if ended.results.iter().any(|r| r.outcome.is_bad()) {
            let mut texts = log_texts(&log);
            for r in ended.results.iter_mut().filter(|r| r.outcome.is_bad()) {
                r.details = texts.remove(&r.name).unwrap_or_default();
            }
        }
        let _ = std::fs::remove_file(&log);
        Ok(ended)
    }

    /// Starts one process and follows its output until it ends or one case takes too long.
    fn watch(&self, list: &Path, log: &Path) -> Result<Ended, String> {
        let mut child = self
            .command()
            .arg(format!("--deqp-caselist-file={}", list.display()))
            .arg(format!("--deqp-log-filename={}", log.display()))
            .args([
                "--deqp-log-images=disable",
                "--deqp-log-shader-sources=disable",
                "--deqp-shadercache=disable",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.binary.display()))?;
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let stderr = child.stderr.take().expect("piped");
        let errors = std::thread::spawn(move || tail(stderr));
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
        let mut results = Vec::new();
        let mut open: Option<(String, Instant)> = None;
        let mut hung = false;
        let mut last = Instant::now();
        loop {
            let patience = self.case_timeout.saturating_sub(last.elapsed());
            match lines.recv_timeout(patience) {
                Ok(line) => {
                    if let Some(name) = case_line(&line) {
                        open = Some((name.to_string(), Instant::now()));
                        last = Instant::now();
                    } else if let (Some((outcome, message)), Some((name, since))) =
                        (result_line(&line), &open)
                    {
                        let seconds = since.elapsed().as_secs_f64();
                        let (name, message) = (name.clone(), message.to_string());
                        results.push(CaseResult { name, outcome, message, details: vec![], seconds });
                        open = None;
                        last = Instant::now();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    hung = true;
                    kill(&mut child);
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // The output is closed, but a process can hang in its last breath too.
        let end = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|e| format!("deqp-vk: {e}"))? {
                Some(status) => break status,
                None if end.elapsed() > self.case_timeout => kill(&mut child),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let stderr = errors.join().unwrap_or_default();
        let open = open.map(|(name, since)| (name, since.elapsed().as_secs_f64()));
        Ok(Ended { results, open, hung, status, stderr })
    }
}

fn kill(child: &mut Child) {
    // SAFETY: a signal to the group that this child leads.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
}

/// The last lines of a stream, joined.
fn tail(mut stream: impl Read) -> String {
    const KEEP: usize = 2000;
    let mut kept = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(n) = stream.read(&mut chunk) {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&chunk[..n]);
        let extra = kept.len().saturating_sub(KEEP);
        kept.drain(..extra);
    }
    let text = String::from_utf8_lossy(&kept);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(6)..].join(" | ")
}

fn how(status: ExitStatus, hung: bool, timeout: Duration) -> String {
    match (hung, status.signal()) {
        (true, _) => format!("no result in {} s", timeout.as_secs_f64()),
        (false, Some(signal)) => format!("killed by signal {signal}"),
        (false, None) => format!("the process ended: {status}"),
    }
}

/// `Test case 'NAME'..` → NAME
fn case_line(line: &str) -> Option<&str> {
    line.strip_prefix("Test case '")?.split_once("'..").map(|(name, _)| name)
}

/// `  Fail (message)` → the result and the message
fn result_line(line: &str) -> Option<(Outcome, &str)> {
    let line = line.strip_prefix("  ")?;
    let (word, rest) = line.split_once(' ')?;
    let message = rest.trim_end().strip_prefix('(')?;
    Some((Outcome::from_word(word)?, message.strip_suffix(')').unwrap_or(message)))
}

/// The `<Text>` lines of each case in a log, the first and the last few.
fn log_texts(path: &Path) -> HashMap<String, Vec<String>> {
    const KEEP: usize = 24;
    let mut all: HashMap<String, Vec<String>> = HashMap::new();
    let Ok(file) = std::fs::File::open(path) else { return all };
    let mut current: Option<String> = None;
    let mut inside = false;
    for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        if let Some(name) = line.strip_prefix("#beginTestCaseResult ") {
            current = Some(name.trim().to_string());
        } else if line.starts_with("#endTestCaseResult") || line.starts_with("#terminateTestCaseResult") {
            current = None;
        }
        let Some(name) = &current else { continue };
        let mut text = line.trim();
        if let Some(at) = text.find("<Text>") {
            text = &text[at + 6..];
            inside = true;
        }
        if !inside {
            continue;
        }
        if let Some(at) = text.find("</Text>") {
            text = &text[..at];
            inside = false;
        }
        let plain =
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        let texts = all.entry(name.clone()).or_default();
        if !plain.is_empty() {
            texts.push(plain);
        }
        if texts.len() > KEEP {
            texts.remove(KEEP / 2);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_deqp() {
        assert_eq!(case_line("Test case 'dEQP-VK.a.b'.."), Some("dEQP-VK.a.b"));
        assert_eq!(case_line("Test run totals:"), None);
        assert_eq!(result_line("  Fail (a (b))"), Some((Outcome::Fail, "a (b)")));
        assert_eq!(result_line("  Pass (Pass)"), Some((Outcome::Pass, "Pass")));
        assert_eq!(result_line("  Passed:        1/1 (100.0%)"), None);
        assert_eq!(result_line("Fail (x)"), None);
    }

    /// A script that is open for writing in one thread while another one forks cannot be executed (ETXTBSY).
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

    /// A shell script in place of deqp-vk.
    fn fake(name: &str, script: &str) -> Deqp {
        use std::os::unix::fs::PermissionsExt;
        let path = client::scratch(&format!("fake-{name}")).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Deqp::new(path, "/nowhere.json".into(), 1.0, vec![])
    }

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| s.to_string()).collect()
    }

    #[test]
    fn crashes_and_hangs_cost_one_case_each() {
        let _guard = ONE_AT_A_TIME.lock();
        let deqp = fake(
            "mixed",
            r#"for c in $(cat "${1#*=}"); do echo "Test case '$c'.."; case $c in
                crash) echo boom >&2; kill -SEGV $$;; hang) sleep 60;; fail) echo "  Fail (wrong)";;
                *) echo "  Pass (Pass)";; esac; done"#,
        );
        let cases = names(&["a", "crash", "b", "hang", "fail", "c"]);
        let results = deqp.run(&cases);
        std::fs::remove_file(&deqp.binary).unwrap();
        let outcomes: Vec<_> = results.iter().map(|r| r.outcome).collect();
        use Outcome::*;
        assert_eq!(outcomes, [Pass, Crash, Pass, Timeout, Fail, Pass]);
        assert_eq!(results.iter().map(|r| r.name.clone()).collect::<Vec<_>>(), cases);
        assert!(results[1].message.contains("signal 11") && results[1].message.contains("boom"));
        assert_eq!(results[4].message, "wrong");
    }

    #[test]
    fn unknown_cases_and_dead_binaries_end() {
        let _guard = ONE_AT_A_TIME.lock();
        let knows_one = fake(
            "unknown",
            r#"grep -qx a "${1#*=}" && { echo "Test case 'a'.."; echo "  Pass (Pass)"; }; exit 0"#,
        );
        let outcomes: Vec<_> = knows_one.run(&names(&["a", "b"])).iter().map(|r| r.outcome).collect();
        std::fs::remove_file(&knows_one.binary).unwrap();
        assert_eq!(outcomes, [Outcome::Pass, Outcome::NotRun]);
        let dies = fake("dies", "exit 3");
        let outcomes: Vec<_> =
            dies.run(&names(&["a", "b", "c", "d", "e"])).iter().map(|r| r.outcome).collect();
        std::fs::remove_file(&dies.binary).unwrap();
        assert_eq!(outcomes, [Outcome::Crash; 5]);
        let absent = Deqp::new("/no/such/deqp".into(), "/nowhere.json".into(), 1.0, vec![]);
        assert_eq!(absent.run(&names(&["a"]))[0].outcome, Outcome::NotRun);
    }
}

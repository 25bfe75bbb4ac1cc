//! What a build does that is to fail when a shader got dearer: `tuff run --counters` twice, and `tuff diff`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tuff() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tuff"))
}

/// A file of this test's, gone when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary(std::env::temp_dir().join(format!("tuff-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The counters of a program that multiplies matrices of 512 × 512 so many times: `tuff`'s own child, for which Tuff is
/// a driver as any other.
fn multiply(times: usize, threads: usize, name: &str) -> Temporary {
    let (file, output) = (Temporary::new(name), Temporary::new(&format!("{name}.out")));
    let mut run = tuff();
    run.arg("run").arg("--counters").arg(&file.0).arg("--").arg(env!("CARGO_BIN_EXE_tuff")).arg("child");
    run.env("TUFF_THREADS", threads.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = run.spawn().unwrap();
    let request = serde_json::json!({ "Output": { "kernel": "sgemm", "path": output.0 } });
    let mut stdin = child.stdin.take().unwrap();
    (0..times).for_each(|_| writeln!(stdin, "{request}").unwrap());
    drop(stdin);
    let answers = child.wait_with_output().unwrap();
    assert!(answers.status.success());
    let text = String::from_utf8_lossy(&answers.stdout);
    assert_eq!(text.matches("Done").count(), times, "{text}");
    file
}

fn diff(a: &Path, b: &Path, limits: &[&str]) -> Output {
    let mut diff = tuff();
    diff.arg("diff").arg(a).arg(b);
    limits.iter().for_each(|l| {
        diff.arg("--max-increase").arg(l);
    });
    diff.output().unwrap()
}

#[test]
fn a_program_that_got_dearer_fails() {
    let before = multiply(1, 1, "before.json");
    let text = std::fs::read_to_string(&before.0).unwrap();
    for threads in [1, 2] {
        let again = multiply(1, threads, "again.json");
        assert!(text == std::fs::read_to_string(&again.0).unwrap(), "{threads} threads");
    }
    // A thread for each of 512 × 512 elements multiplies and adds 512 times; a warp has 16.
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["total"]["TuffFmaInstr"], 512 * 512 / 16 * 512);

    let same = diff(&before.0, &before.0, &["fma=0%", "cycles=0%"]);
    assert_eq!((same.status.code(), &same.stdout[..]), (Some(0), &b"no difference\n"[..]));

    let after = multiply(2, 2, "after.json");
    let table = diff(&before.0, &after.0, &[]);
    assert_eq!(table.status.code(), Some(0), "no limit, no failure");
    let rows = String::from_utf8_lossy(&table.stdout).into_owned();
    let fma: Vec<_> = rows.lines().filter(|l| l.contains("TuffFmaInstr")).collect();
    let words: Vec<_> = fma[0].split_whitespace().collect();
    assert_eq!((fma.len(), &words[..]), (1, &["TuffFmaInstr", "8388608", "16777216", "+100.00", "%"][..]));

    let dearer = diff(&before.0, &after.0, &["fma=99.9%"]);
    assert_eq!(dearer.status.code(), Some(1));
    assert_eq!(dearer.stdout, table.stdout);
    let why = String::from_utf8_lossy(&dearer.stderr).into_owned();
    assert!(why.contains("TuffFmaInstr of all workloads: 8388608 to 16777216, +100.00 %"), "{why}");
    for limits in [&["fma=100%"][..], &["fma=200%", "warps=0%"]] {
        assert_eq!(diff(&before.0, &after.0, limits).status.code(), Some(0), "{limits:?}");
    }
    // Cheaper is never dearer.
    assert_eq!(diff(&after.0, &before.0, &["fma=0%"]).status.code(), Some(0));
}

#[test]
fn what_cannot_be_compared_is_an_error() {
    let file = multiply(1, 2, "file.json");
    let nowhere = Temporary::new("nowhere.json");
    let other = Temporary::new("other.json");
    std::fs::write(&other.0, "{}").unwrap();
    for (b, limit, say) in [
        (&nowhere.0, "fma=1%", "nowhere.json"),
        (&other.0, "fma=1%", "not a file of `tuff run --counters`"),
        (&file.0, "fma", "NAME=PERCENT"),
        (&file.0, "fma=much", "much is no number"),
        (&file.0, "unheard=1%", "no counter is called unheard"),
    ] {
        let output = diff(&file.0, b, &[limit]);
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{limit}: {why}");
        assert!(why.contains(say), "{why}");
    }
}

//! The channel from another process: `tuff top`, the crate's reader, and readers that behave badly, with programs that run.

use channel::remote::{Line, Remote};
use serde_json::json;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TUFF: &str = env!("CARGO_BIN_EXE_tuff");

fn request(folder: &Path, kernel: &str) -> String {
    json!({ "Output": { "kernel": kernel, "path": folder.join(kernel) } }).to_string()
}

fn tuff(arguments: &[&str], folder: &Path) -> (Option<i32>, String, String) {
    let mut command = Command::new(TUFF);
    command.args(arguments).env("TUFF_CONFORMANCE", "1.4.0.0").env("XDG_RUNTIME_DIR", folder);
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// A program that runs kernels as it is told, and listens.
struct Program {
    child: Child,
    folder: PathBuf,
}

impl Program {
    /// SIGPIPE ends it, as it does programs that are not Rust's.
    fn start(folder: &Path) -> Program {
        let line = format!("trap - PIPE; exec '{TUFF}' run --listen -- '{TUFF}' child");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).env("XDG_RUNTIME_DIR", folder).env("TUFF_CONFORMANCE", "1.4.0.0");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut it = Program { child, folder: folder.into() };
        it.run("saxpy");
        it
    }

    fn run(&mut self, kernel: &str) {
        let line = request(&self.folder, kernel) + "\n";
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        // Its answer: a line.
        let mut byte = [0];
        let out = self.child.stdout.as_mut().unwrap();
        while out.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {}
    }

    /// The socket, once it is there.
    fn socket(&self) -> PathBuf {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let entries = std::fs::read_dir(self.folder.join("tuff")).into_iter().flatten().flatten();
            if let Some(entry) = entries.into_iter().next() {
                return entry.path();
            }
            assert!(Instant::now() < until, "no socket");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_program_is_run_and_shown() {
    let folder = temporary::folder("tuff-").unwrap();
    let lines = ["saxpy", "sgemm", "saxpy"].map(|k| request(folder.path(), k)).join("' '");
    let program = format!("printf '%s\\n' '{lines}' | '{TUFF}' child; echo not shown");
    let shown = || {
        let (code, table, said) = tuff(&["top", "--once", "--", "sh", "-c", &program], folder.path());
        assert_eq!(code, Some(0), "{said}");
        // Without the process's number.
        let (first, rest) = table.split_once('\n').unwrap();
        assert!(first.starts_with("tuff (process ") && first.contains("in all: "), "{table}");
        (first.split_once(") on ").unwrap().1.to_string(), rest.to_string())
    };
    let (first, rows) = shown();
    assert!(first.starts_with("G720 class, 10 cores: "), "{first}");
    let dispatches = rows.lines().filter(|l| l.contains("dispatch")).count();
    assert!(dispatches >= 2 && !rows.contains("not shown"), "{rows}");
    // All of it is the model's: the same again.
    assert_eq!(shown(), (first, rows));
    let (code, _, said) = tuff(&["top", "--", "true"], folder.path());
    assert!(code == Some(1) && said.contains("true never created a device on Tuff"), "{said}");
    let (code, _, said) = tuff(&["top", "--", "sh", "-c", "exit 3"], folder.path());
    assert!(code == Some(3) && said.contains("exit status: 3"), "{said}");
}

#[test]
fn a_running_program_is_found_and_read() {
    let folder = temporary::folder("tuff-").unwrap();
    let (code, _, said) = tuff(&["top"], folder.path());
    assert!(code == Some(1) && said.contains("no process listens"), "{said}");
    let mut program = Program::start(folder.path());
    let socket = program.socket();
    let mut remote = Remote::connect(&socket).unwrap();
    let info = remote.info().unwrap();
    assert!(info.gpu.starts_with("G720 class") && info.counters.len() > 100, "{}", info.gpu);
    let active = "TuffFmaInstr";
    let before = remote.totals(&[active]).unwrap()[active];
    assert!(before > 0.0);
    let mut records = remote.read(&[active]).unwrap();
    program.run("sgemm");
    let mut sum = 0.0;
    let mut dispatches = 0;
    records.set_timeout(Some(Duration::from_secs(2))).unwrap();
    while let Ok(Line::Record(record)) = records.line() {
        sum += record.counters[active];
        dispatches += (record.kind == "dispatch" && record.bound.is_some()) as u64;
    }
    assert!(dispatches > 0);
    // What was read is what the totals have grown by.
    let mut remote = Remote::connect(&socket).unwrap();
    assert_eq!(remote.totals(&[active]).unwrap()[active], before + sum);
    assert!(remote.totals(&["MaliNone"]).unwrap_err().to_string().contains("no counter MaliNone"));
    // `tuff top` finds it, and ends with it.
    let top = Command::new(TUFF)
        .args(["top", "--interval", "0.2"])
        .env("XDG_RUNTIME_DIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    program.run("saxpy");
    program.end();
    let shown = top.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.status.success() && text.contains("in all: ") && text.contains("dispatch"), "{text}");
    assert!(!socket.exists(), "it has taken its socket with it");
}

/// What readers do makes no difference to the program: not to its results, and not to whether it ends well.
#[test]
fn bad_readers_do_the_program_no_harm() {
    let folder = temporary::folder("tuff-").unwrap();
    let mut program = Program::start(folder.path());
    let expected = std::fs::read(folder.path().join("saxpy")).unwrap();
    let socket = program.socket();
    let connect = || UnixStream::connect(&socket).unwrap();
    let mut held = vec![];
    for (said, keep) in [
        (&b"read *\n"[..], true),
        (b"all *\nread *\n", true),
        (b"read *\n", false),
        (b"\xff\xfe\x00", true),
        (b"totals", false),
        (&[b'a'; 100_000], false),
    ] {
        let mut stream = connect();
        // The other end may have gone already.
        let _ = stream.write_all(said);
        if keep {
            held.push(stream);
        }
    }
    for _ in 0..20 {
        program.run("saxpy");
    }
    assert_eq!(std::fs::read(folder.path().join("saxpy")).unwrap(), expected);
    let mut remote = Remote::connect(&socket).unwrap();
    assert!(remote.totals(&["MaliGPUActiveCy"]).unwrap()["MaliGPUActiveCy"] > 0.0);
    let begin = Instant::now();
    program.end();
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

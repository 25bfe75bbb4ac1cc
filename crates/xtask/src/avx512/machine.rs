//! The emulated machine: Bochs, with its serial line in a file that is read while it grows.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const BIOS: &str = "/usr/share/bochs/BIOS-bochs-latest";
pub const VGA: &str = "/usr/share/vgabios/vgabios-stdvga.bin";

/// Emulated time goes by instructions alone, so that many a second; the counter of cycles counts them.
pub const INSTRUCTIONS_A_SECOND: u64 = 100_000_000;

fn configuration(disc: &Path, serial: &Path, log: &Path, cpu: &str) -> String {
    let (disc, serial, log) = (disc.display(), serial.display(), log.display());
    format!(
        "config_interface: textconfig\n\
         display_library: term\n\
         memory: guest=1024, host=1024\n\
         romimage: file={BIOS}\n\
         vgaromimage: file={VGA}\n\
         boot: cdrom\n\
         ata0-master: type=cdrom, path={disc}, status=inserted\n\
         com1: enabled=1, mode=file, dev={serial}\n\
         cpu: model={cpu}, count=1, ips={INSTRUCTIONS_A_SECOND}, reset_on_triple_fault=0\n\
         clock: sync=none\n\
         log: {log}\n\
         panic: action=fatal\nerror: action=report\ninfo: action=ignore\ndebug: action=ignore\n"
    )
}

/// Boots from `disc` and shows the console's lines until the jobs have ended; gives them back.
pub fn run(
    folder: &Path,
    disc: &Path,
    cpu: &str,
    patience: Duration,
    jobs: usize,
) -> Result<Vec<String>, String> {
    let [serial, log, rc, go] = ["serial.txt", "bochs.log", "bochsrc", "go"].map(|n| folder.join(n));
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::write(&serial, "").map_err(at)?;
    std::fs::write(&rc, configuration(disc, &serial, &log, cpu)).map_err(at)?;
    // Debian's Bochs has its debugger compiled in, and asks it what to do.
    std::fs::write(&go, "continue\n").map_err(at)?;
    let start = Instant::now();
    let mut bochs = Command::new("nice")
        .args(["-n", "19", "bochs", "-q", "-f"])
        .arg(&rc)
        .arg("-rc")
        .arg(&go)
        // Its display is a terminal's; nobody looks at it.
        .env("TERM", "vt100")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("bochs: {e}"))?;
    println!("xtask: {cpu} boots ({jobs} jobs; console in {})", serial.display());
    let mut tail = Tail::default();
    let mut lines = Vec::new();
    let mut heard = Instant::now();
    let end = loop {
        let ended = bochs.try_wait().map_err(|e| e.to_string())?;
        let fresh = tail.lines(&serial).map_err(at)?;
        if !fresh.is_empty() {
            heard = Instant::now();
        }
        for line in &fresh {
            println!("{:6.0} s | {line}", start.elapsed().as_secs_f64());
        }
        let done = fresh.iter().any(|l| l == "== all");
        lines.extend(fresh);
        if done {
            break Ok(());
        }
        if let Some(status) = ended {
            break Err(format!("the machine stopped ({status}): {}", log.display()));
        }
        if heard.elapsed() > patience {
            break Err("the machine says nothing any more".to_string());
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let _ = bochs.kill();
    let _ = bochs.wait();
    println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
    end.map(|()| lines)
}

/// A file that grows, read by lines.
#[derive(Default)]
struct Tail {
    from: u64,
    begun: Vec<u8>,
}

impl Tail {
    /// Whole lines that have come since the last call.
    fn lines(&mut self, path: &Path) -> std::io::Result<Vec<String>> {
        let mut file = std::fs::File::open(path)?;
        file.seek(SeekFrom::Start(self.from))?;
        self.from += file.read_to_end(&mut self.begun)? as u64;
        let mut lines = Vec::new();
        while let Some(n) = self.begun.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=n).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end().to_string());
        }
        Ok(lines)
    }
}

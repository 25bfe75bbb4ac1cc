//! The emulated machine: Bochs, with its serial line in a file that is read while it grows.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub const BIOS: &str = "/usr/share/bochs/BIOS-bochs-latest";
pub const VGA: &str = "/usr/share/vgabios/vgabios-stdvga.bin";

/// Emulated time goes by instructions alone, so that many a second; the counter of cycles counts them.
pub const INSTRUCTIONS_A_SECOND: u64 = 100_000_000;

/// A Bochs to run.
pub enum Bochs {
    /// Debian's, mended: a terminal for a display, and the debugger compiled in.
    Debian(PathBuf),
    /// A build of the user's own: without a display, without the debugger.
    Own(PathBuf),
}

/// Where Debian's package has the program.
const DEBIAN: &str = "/usr/bin/bochs-bin";

/// Up to the newest Bochs (3.0), the decoder refuses gathers whose index lies in registers 16 to 31: it takes the bit
/// that names them (EVEX.V') for a stray operand. This is the end of 2.7's `assign_srcs`: eax = 3 ("illegal VVV"), and
/// if r15 is 0, eax = 0. What follows is the function's end.
const STRAY: [u8; 16] = *b"\xb8\x03\0\0\0\x45\x85\xff\x75\x02\x31\xc0\x48\x83\xc4\x28";
/// Of [`STRAY`], the conditional jump.
const JUMP: std::ops::Range<usize> = 8..10;

impl Bochs {
    /// A copy of Debian's Bochs in `folder` that executes all gathers: nothing counts as a stray operand.
    pub fn debian(folder: &Path) -> Result<Bochs, String> {
        let mut bytes = std::fs::read(DEBIAN).map_err(|e| format!("{DEBIAN}: {e}"))?;
        let mut places = bytes.windows(STRAY.len()).enumerate().filter(|(_, w)| *w == STRAY).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(at), None) => bytes[at + JUMP.start..at + JUMP.end].fill(0x90),
            _ => {
                return Err(format!(
                    "{DEBIAN} is not Debian 12's Bochs 2.7, so its gathers cannot be mended: name another with --bochs \
                     (docs/avx512.md)"
                ));
            }
        }
        let copy = folder.join("bochs");
        let write = std::fs::write(&copy, bytes)
            .and_then(|()| std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)));
        write.map_err(|e| format!("{}: {e}", copy.display()))?;
        Ok(Bochs::Debian(copy))
    }

    fn command(&self, folder: &Path) -> std::io::Result<Command> {
        let (Bochs::Debian(program) | Bochs::Own(program)) = self;
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program).arg("-q").arg("-f").arg(folder.join("bochsrc"));
        if let Bochs::Debian(_) = self {
            // The debugger asks what to do.
            let go = folder.join("go");
            std::fs::write(&go, "continue\n")?;
            command.arg("-rc").arg(go);
        }
        // The display is a terminal's; nobody looks at it.
        command.env("TERM", "vt100").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: prctl alone, a system call: an emulator must not outlive the task.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            })
        };
        Ok(command)
    }

    fn display(&self) -> &'static str {
        match self {
            Bochs::Debian(_) => "term",
            Bochs::Own(_) => "nogui",
        }
    }
}

fn configuration(display: &str, disc: &Path, serial: &Path, log: &Path, cpu: &str) -> String {
    let (disc, serial, log) = (disc.display(), serial.display(), log.display());
    format!(
        "config_interface: textconfig\n\
         display_library: {display}\n\
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
    bochs: &Bochs,
    folder: &Path,
    disc: &Path,
    cpu: &str,
    patience: Duration,
    jobs: usize,
) -> Result<Vec<String>, String> {
    let [serial, log, rc] = ["serial.txt", "bochs.log", "bochsrc"].map(|n| folder.join(n));
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::write(&serial, "").map_err(at)?;
    std::fs::write(&rc, configuration(bochs.display(), disc, &serial, &log, cpu)).map_err(at)?;
    let start = Instant::now();
    let mut bochs = bochs.command(folder).map_err(at)?.spawn().map_err(|e| format!("bochs: {e}"))?;
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

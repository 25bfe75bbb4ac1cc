//! One run of a client: started, measured, and what it showed kept.

use super::list::Client;
use client::Error;
use client::drivers::{Driver, Threads};
use std::cell::OnceCell;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use xserver::{Kept, XServer};

/// What a run took, in seconds, and gave.
#[derive(Debug, Default)]
pub struct Run {
    pub wall: f64,
    /// Of all threads of the process, and of the processes that it waited for.
    pub cpu: f64,
    /// What it wrote to its standard output.
    pub output: Vec<u8>,
    /// The bytes of red, green and blue of its window's pixels, if there is a window to look at.
    pub picture: Vec<u8>,
}

/// Files of this run of the benches; gone with it.
pub struct Place {
    folder: temporary::Folder,
    pub python: PathBuf,
    /// The clip, made when the first client wants it.
    clip: OnceCell<Result<PathBuf, String>>,
}

impl Place {
    pub fn new(python: &Path) -> client::Result<Place> {
        let folder = temporary::folder("tuff-clients-");
        let folder = folder.map_err(|e| Error::file(&std::env::temp_dir(), e))?;
        Ok(Place { folder, python: python.into(), clip: OnceCell::new() })
    }

    /// A few seconds of ffmpeg's moving test picture.
    fn clip(&self) -> Result<String, String> {
        let make = || {
            let clip = self.folder.path().join("clip.mkv");
            let mut ffmpeg = Command::new("ffmpeg");
            ffmpeg
                .args(["-hide_banner", "-loglevel", "error", "-f", "lavfi"])
                .args(["-i", "testsrc2=size=640x360:rate=30", "-frames:v", "120"])
                .args(["-pix_fmt", "yuv420p", "-c:v", "ffv1"])
                .arg(&clip);
            let made = ffmpeg.output().map_err(|e| format!("ffmpeg: {e}"))?;
            let said = String::from_utf8_lossy(&made.stderr);
            if made.status.success() { Ok(clip) } else { Err(format!("ffmpeg makes no clip: {said}")) }
        };
        self.clip.get_or_init(make).clone().map(|c| c.to_string_lossy().into_owned())
    }

    /// A word of the table, with its names in braces replaced.
    fn word(&self, word: &str, part: &str, device: &str) -> Result<String, String> {
        let mut word = word.replace("{part}", part).replace("{device}", device);
        word = word.replace("{folder}", concat!(env!("CARGO_MANIFEST_DIR"), "/clients"));
        word = word.replace("{python}", &self.python.to_string_lossy());
        if word.contains("{clip}") {
            word = word.replace("{clip}", &self.clip()?);
        }
        Ok(word)
    }

    /// Runs one command of a client on one driver, whose device has this name. A failure that says what is `forgiven`
    /// is none.
    pub fn run(
        &self,
        client: &Client,
        words: &[String],
        part: &str,
        (driver, device): (&Driver, &str),
        threads: Threads,
        forgiven: Option<&str>,
    ) -> Result<Run, String> {
        let words = words.iter().map(|w| self.word(w, part, device)).collect::<Result<Vec<_>, _>>()?;
        let [out, err] = ["out", "err"].map(|name| self.folder.path().join(name));
        let file = |path: &Path| std::fs::File::create(path).map_err(|e| format!("{}: {e}", path.display()));
        // A server for each run: nothing is left of the one before. It is no child of the client: its time is its own.
        let server = client.window.map(|_| XServer::new(24, &[]));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
        driver.prepare(&mut command, threads);
        command.envs(&client.environment);
        if let Some(server) = &server {
            command.env("DISPLAY", &server.name);
        }
        let window = client.window.zip(server.as_ref());
        let (status, mut run) = measure(command, Duration::from_secs(client.timeout_s), window)?;
        let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
        run.output = read(&out)?;
        let errors = read(&err)?;
        let said = String::from_utf8_lossy(&run.output) + String::from_utf8_lossy(&errors);
        if !status.success() && !forgiven.is_some_and(|f| said.contains(f)) {
            let last: Vec<_> = said.lines().rev().filter(|l| !l.trim().is_empty()).take(3).collect();
            return Err(format!("{status}: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | ")));
        }
        Ok(run)
    }
}

/// Runs a command to its end, or kills it after `timeout`; meanwhile gets hold of its window.
fn measure(
    mut command: Command,
    timeout: Duration,
    window: Option<([u16; 2], &XServer)>,
) -> Result<(ExitStatus, Run), String> {
    // SAFETY: prctl is a system call. The client ends when this process does.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    let mut kept = None;
    let (status, usage) = loop {
        let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: valid pointers; the process is our child and has not been waited for.
        match unsafe { libc::wait4(child.id() as i32, &mut status, libc::WNOHANG, usage.as_mut_ptr()) } {
            0 => {}
            -1 => return Err(format!("wait4: {}", std::io::Error::last_os_error())),
            // SAFETY: plain data, and wait4 filled it.
            _ => break (status, unsafe { usage.assume_init() }),
        }
        if start.elapsed() > timeout {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("not done after {} s", timeout.as_secs()));
        }
        if let (None, Some(([width, height], server))) = (&kept, window) {
            kept = Kept::find(server, width, height);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = start.elapsed().as_secs_f64();
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    let picture = match (kept, window) {
        (Some(kept), Some(([width, height], _))) => {
            kept.pixels(width, height).chunks(4).flat_map(|p| [p[2], p[1], p[0]]).collect()
        }
        _ => vec![],
    };
    Ok((ExitStatus::from_raw(status), Run { wall, cpu, output: vec![], picture }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::null());
        command
    }

    #[test]
    fn the_time_of_what_a_client_starts_counts() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (status, run) =
            measure(sh(&format!("sh -c '{busy}'; true")), Duration::from_secs(60), None).unwrap();
        assert!(status.success() && run.cpu > 0.01, "{run:?}");
        let (_, idle) = measure(sh("sleep 0.1; true"), Duration::from_secs(60), None).unwrap();
        assert!(idle.cpu < run.cpu && idle.wall >= 0.1, "{idle:?}, {run:?}");
    }

    #[test]
    fn what_does_not_end_is_ended() {
        let start = Instant::now();
        assert!(measure(sh("exec sleep 60"), Duration::from_millis(50), None).is_err());
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn words_are_replaced() {
        let place = Place::new(Path::new("/venv/python")).unwrap();
        let word = |w| place.word(w, "build:nframes=1", "Some GPU").unwrap();
        assert_eq!(word("--device={device}"), "--device=Some GPU");
        assert_eq!((word("{part}"), word("{python}")), ("build:nframes=1".into(), "/venv/python".into()));
        assert!(Path::new(&word("{folder}/clients.toml")).exists());
    }
}

//! One example on one driver, and whether what it drew is what a peer drew.

use super::{Args, folder, table::Row};
use crate::cargo::{on_driver, target_folder, wait_for};
use crate::picture::Picture;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Driver {
    pub name: String,
    /// Its ICD file, absolute.
    pub icd: PathBuf,
}

/// What became of a run.
#[derive(Default, Debug)]
pub struct Outcome {
    /// It ended with success.
    pub ended: bool,
    pub seconds: f64,
    /// The frame, or the picture that the example writes itself.
    pub picture: Option<Picture>,
    /// All that it wrote to its outputs.
    pub said: String,
}

/// Longest run of an example.
const LIMIT: Duration = Duration::from_secs(300);

/// Percent of the pixels that may differ.
const USUAL: f64 = 0.2;

/// A program of the examples and what it is run with.
pub struct Example<'a> {
    pub program: &'a Path,
    pub resources: &'a Path,
    pub row: &'a Row,
}

impl Example<'_> {
    /// Runs it in a folder of its own, for the frame that is compared.
    pub fn run(&self, driver: &Driver, args: &Args) -> Result<Outcome, String> {
        let place = place()?;
        let mut command = self.command(driver, args, args.frame);
        command.env("FRAME_FILE", place.join("frame.ppm")).env("FRAME_NUMBER", args.frame.to_string());
        wait(command, &place)
    }

    /// Milliseconds of CPU time that one of `frames` frames takes on one thread, those after the compared one; `None`: it did not draw
    /// them all.
    pub fn time(&self, driver: &Driver, args: &Args, frames: u32) -> Result<Option<f64>, String> {
        let place = place()?;
        let times = place.join("times");
        let mut command = self.command(driver, args, args.frame + frames);
        command.env("FRAME_TIMES", &times).env("TUFF_THREADS", "1").env("LP_NUM_THREADS", "1");
        let outcome = wait(command, &place)?;
        let seconds: Vec<f64> = std::fs::read_to_string(&times)
            .unwrap_or_default()
            .lines()
            .filter_map(|l| l.parse().ok())
            .collect();
        let (first, last) =
            (seconds.get(args.frame as usize - 1), seconds.get((args.frame + frames) as usize - 1));
        Ok(first.zip(last).filter(|_| outcome.good()).map(|(a, b)| (b - a) * 1e3 / f64::from(frames)))
    }

    fn command(&self, driver: &Driver, args: &Args, frames: u32) -> Command {
        let mut command = match &args.through[..] {
            [] => Command::new(self.program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(self.program);
                command
            }
        };
        // A clock that stands still, no wait before the first frame, and no end but by the number of frames.
        command.args(["--benchmark", "--benchwarmup", "0", "--benchruntime", "100000", "--benchmarkframes"]);
        command.arg(frames.to_string()).arg("--resourcepath").arg(self.resources);
        if args.validation {
            command.arg("--validation");
        }
        on_driver(&mut command, &driver.icd)
            .env("LD_PRELOAD", target_folder().join("release/libframe_preload.so"))
            .env("FRAME_WITHOUT", self.row.without.join(","))
            .envs(self.row.environment.iter());
        command
    }
}

/// The folder in which examples run, emptied.
fn place() -> Result<PathBuf, String> {
    let place = folder().join("run");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    Ok(place)
}

/// Runs a command in a folder and waits for its end.
fn wait(mut command: Command, place: &Path) -> Result<Outcome, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", place.display());
    let [out, err] = ["out", "err"].map(|n| place.join(n));
    let file = |p: &Path| std::fs::File::create(p).map_err(failed);
    command.current_dir(place).stdin(Stdio::null()).stdout(file(&out)?).stderr(file(&err)?);
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{}: {e}", command.get_program().display()))?;
    let status = wait_for(&mut child, LIMIT).map_err(failed)?;
    let seconds = start.elapsed().as_secs_f64();
    let read = |p: &Path| String::from_utf8_lossy(&std::fs::read(p).unwrap_or_default()).into_owned();
    let mut said = read(&out) + &read(&err);
    match status {
        Some(status) if !status.success() => said += &format!("\n{status}"),
        None => said += &format!("\nnot done after {} s", LIMIT.as_secs()),
        _ => {}
    }
    Ok(Outcome { ended: status.is_some_and(|s| s.success()), seconds, picture: picture(place)?, said })
}

/// The one PPM file in a folder, if there is one.
fn picture(place: &Path) -> Result<Option<Picture>, String> {
    let files = std::fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.path());
    let Some(path) = files.into_iter().find(|p| p.extension().is_some_and(|e| e == "ppm")) else {
        return Ok(None);
    };
    let said = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let bytes = std::fs::read(&path).map_err(|e| said(&e))?;
    Picture::read(&bytes).map(Some).map_err(|e| said(&e))
}

impl Outcome {
    /// Whether it ended as it should.
    pub fn good(&self) -> bool {
        self.ended
    }

    /// The end of what it said, in a line.
    pub fn last_words(&self) -> String {
        let lines: Vec<_> = self.said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join(" | ")
    }

    /// What it said of its work, where it draws nothing.
    fn words(&self) -> Vec<&str> {
        let told = |l: &&str| !["runtime", "fps"].iter().any(|w| l.starts_with(w));
        self.said.lines().map(str::trim).filter(told).collect()
    }
}

/// What a comparison came to.
pub struct Judged {
    /// For the table.
    pub words: String,
    pub wrong: Option<String>,
}

/// Compares a run with a peer's.
pub fn judge(own: &Outcome, peer: &Outcome, row: &Row) -> Judged {
    let nothing = |words: &str| Judged { words: words.into(), wrong: None };
    if !own.good() || !peer.good() {
        return nothing("-");
    }
    let (a, b) = match (&own.picture, &peer.picture) {
        (Some(a), Some(b)) => (a, b),
        (None, None) if own.words() == peer.words() => return nothing("the same output"),
        (None, None) => return Judged { words: "-".into(), wrong: Some("another output".into()) },
        _ => return Judged { words: "-".into(), wrong: Some("one has a picture, the other none".into()) },
    };
    let Some(d) = a.difference(b) else {
        return Judged { words: "-".into(), wrong: Some("pictures of different sizes".into()) };
    };
    let words = format!("{} ({:.4} %), {}", d.pixels, d.percent(), d.most);
    let limit = row.limit.unwrap_or(USUAL);
    let wrong = if a.is_plain() && !row.plain {
        Some("nothing but one colour".into())
    } else {
        (d.percent() > limit)
            .then(|| format!("{:.2} % of the pixels differ, more than {limit} %", d.percent()))
    };
    Judged { words, wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drew(bytes: &[u8]) -> Outcome {
        let picture = Picture { width: bytes.len() / 3, height: 1, bytes: bytes.into() };
        Outcome { ended: true, picture: Some(picture), ..Default::default() }
    }

    #[test]
    fn pictures_decide() {
        let row = Row::default();
        let (a, b) = (drew(&[1, 2, 3, 4, 5, 6]), drew(&[1, 2, 3, 4, 5, 60]));
        assert_eq!(judge(&a, &a, &row).wrong, None);
        assert!(judge(&a, &b, &row).wrong.unwrap().contains("50.00 %"));
        assert_eq!(judge(&a, &b, &Row { limit: Some(50.0), ..Row::default() }).wrong, None);
        assert!(judge(&drew(&[7; 6]), &drew(&[7; 6]), &row).wrong.is_some(), "one colour");
        assert_eq!(judge(&drew(&[7; 6]), &drew(&[7; 6]), &Row { plain: true, ..Row::default() }).wrong, None);
        let said = |w: &str| Outcome { ended: true, said: w.into(), ..Default::default() };
        assert_eq!(judge(&said("1 2\nfps : 3"), &said("1 2\nfps : 4"), &row).wrong, None);
        assert!(judge(&said("1 2"), &said("1 3"), &row).wrong.is_some());
        assert!(judge(&a, &said(""), &row).wrong.is_some());
    }
}

//! `cargo xtask docs`: the commands of README.md and docs/*.md, run as a reader would. A block of `sh` is one script; a
//! comment above it says what is slow, what is run where the packages are installed, and what is not run, with the reason
//! ([`blocks`]).
//!
//! A page's scripts run in a folder of its own, which has links to what a checkout has: what they write is not left in the
//! checkout. cargo and git are called in the checkout itself. `PROGRAM` is one that draws, and `tuff` the one that was built.

pub mod blocks;

use crate::cargo::{call, own, release, root, target_folder, wait_for};
use crate::needs::{HEADERS, provide};
use blocks::{Block, How, Line};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// Only quick commands, as `cargo xtask test` does.
    #[arg(long)]
    quick: bool,
    /// Only pages whose names contain this.
    #[arg(long)]
    only: Option<String>,
    /// Only list what would run, and what would not, with the reason.
    #[arg(long)]
    list: bool,
}

/// How long a block may take.
const QUICK: Duration = Duration::from_secs(120);
const SLOW: Duration = Duration::from_secs(3600);

/// What is built before, so that the pages' own builds find all done.
const PACKAGES: [&str; 3] = ["icd", "layer-gpu-performance", "perfmon-gl"];

/// Something that draws, for a page's PROGRAM.
const PROGRAM: &str = "#!/bin/sh\nexec vkcube --c 3 \"$@\"\n";

/// The pages, by their paths in the checkout.
pub fn pages() -> Result<Vec<(String, Vec<Block>)>, String> {
    let mut names = vec!["README.md".to_string()];
    let docs = std::fs::read_dir(root().join("docs")).map_err(|e| format!("docs: {e}"))?;
    names.extend(
        docs.flatten().map(|e| format!("docs/{}", e.file_name().display())).filter(|n| n.ends_with(".md")),
    );
    names.sort();
    let read = |name: String| {
        let text = std::fs::read_to_string(root().join(&name)).map_err(|e| format!("{name}: {e}"))?;
        let blocks = blocks::parse(&text).map_err(|e| format!("{name}:{e}"))?;
        Ok((name, blocks))
    };
    names.into_iter().map(read).collect()
}

pub fn run(args: &Args) -> Result<(), String> {
    let mut pages = pages()?;
    pages.retain(|(name, _)| args.only.as_ref().is_none_or(|o| name.contains(o)));
    if args.list {
        list(&pages);
        return Ok(());
    }
    if !args.quick {
        release(&PACKAGES, &[])?;
    }
    provide("the pages' commands", &HEADERS)?;
    let screen = Screen::new()?;
    let (mut ran, mut failed) = (0, Vec::new());
    for (name, blocks) in &pages {
        let mut folder = None;
        for block in blocks {
            let wanted = |how: &How| *how == How::Quick || *how == How::Slow && !args.quick;
            let lines: Vec<_> = block.lines.iter().filter(|l| wanted(&l.how)).collect();
            let Some(first) = lines.first() else { continue };
            let folder = match &folder {
                Some(folder) => folder,
                None => folder.insert(Folder::new(name)?),
            };
            let slow = lines.iter().any(|l| l.how == How::Slow);
            let script = script(&lines);
            let start = Instant::now();
            match folder.run(&script, &screen.name, if slow { SLOW } else { QUICK }) {
                Ok(()) => ran += lines.len(),
                Err(e) => failed.push(format!("{name}:{}: {e}", first.number)),
            }
            println!(
                "xtask: {:5.1} s  {name}:{} ({} commands)",
                start.elapsed().as_secs_f64(),
                first.number,
                lines.len()
            );
        }
    }
    println!("{ran} commands of the pages were run");
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Commands as one script, which says where it ended.
fn script(lines: &[&Line]) -> String {
    let mut script = String::from("trap 'echo \"at line $at\" >&2' ERR\n");
    lines.iter().for_each(|l| script += &format!("at={}\n{}\n", l.number, l.text));
    script
}

fn list(pages: &[(String, Vec<Block>)]) {
    for (name, blocks) in pages {
        for line in blocks.iter().flat_map(|b| &b.lines) {
            let how = match &line.how {
                How::Quick => "quick".into(),
                How::Slow => "slow".into(),
                How::Installed => "installed".into(),
                How::NotRun(reason) => format!("not run ({reason})"),
            };
            println!("{name}:{}: {how}: {}", line.number, line.text);
        }
    }
}

/// An X server, for as long as this lives.
struct Screen {
    server: Child,
    name: String,
}

impl Screen {
    fn new() -> Result<Screen, String> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", "800x600x24"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("Xvfb: {e}"))?;
        let mut number = String::new();
        if let Some(out) = server.stdout.take() {
            let read = std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut number);
            read.map_err(|e| format!("Xvfb: {e}"))?;
        }
        Ok(Screen { server, name: format!(":{}", number.trim()) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Folders that are no links, so that the way up from a layer's manifest in one of them leads to `target` here, wherever that is.
const OWN: [&str; 2] = ["crates", "layer-gpu-performance"];

/// Makes `to` a folder with what `from` has.
fn links(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)?.flatten() {
        let (name, there) = (entry.file_name(), to.join(entry.file_name()));
        if OWN.iter().any(|own| name == *own) {
            std::fs::create_dir(&there)?;
            links(&entry.path(), &there)?;
        } else if name != "target" && name != ".git" {
            symlink(entry.path(), there)?;
        }
    }
    Ok(())
}

/// Where a page's scripts run.
struct Folder {
    path: PathBuf,
    programs: PathBuf,
}

impl Folder {
    fn new(page: &str) -> Result<Folder, String> {
        let path = target_folder().join("docs").join(page.replace('/', "-"));
        let folder = Folder { programs: path.join(".programs"), path };
        folder.make().map_err(|e| format!("{}: {e}", folder.path.display()))?;
        Ok(folder)
    }

    fn make(&self) -> std::io::Result<()> {
        if self.path.exists() {
            std::fs::remove_dir_all(&self.path)?;
        }
        std::fs::create_dir_all(&self.programs)?;
        links(&root(), &self.path)?;
        symlink(target_folder(), self.path.join("target"))?;
        symlink(target_folder().join("release/tuff"), self.programs.join("tuff"))?;
        let found = |name: &str| {
            std::env::split_paths(&std::env::var_os("PATH")?).map(|f| f.join(name)).find(|p| p.exists())
        };
        for name in ["cargo", "git"] {
            let Some(real) = found(name) else { continue };
            let script =
                format!("#!/bin/sh\ncd '{}' && exec '{}' \"$@\"\n", root().display(), real.display());
            executable(&self.programs.join(name), &script)?;
        }
        executable(&self.programs.join("PROGRAM"), PROGRAM)
    }

    /// Runs a script; what it printed is the error where it fails.
    fn run(&self, script: &str, display: &str, patience: Duration) -> Result<(), String> {
        let mut path = vec![self.programs.clone()];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(path).map_err(|e| format!("PATH: {e}"))?;
        let log = self.path.join(".log");
        let at = |e: std::io::Error| format!("{}: {e}", log.display());
        let file = std::fs::File::create(&log).map_err(at)?;
        let mut command = Command::new("bash");
        command
            .args(["-eEuo", "pipefail", "-c", script])
            .current_dir(&self.path)
            .env("PATH", path)
            .env("PWD", &self.path)
            .env("CARGO_TARGET_DIR", target_folder())
            .env("DISPLAY", display)
            .stdin(Stdio::null())
            .stdout(file.try_clone().map_err(at)?)
            .stderr(file)
            .process_group(0);
        let mut child = command.spawn().map_err(|e| format!("bash: {e}"))?;
        let group = child.id() as libc::pid_t;
        let status = wait_for(&mut child, patience).map_err(|e| format!("bash: {e}"))?;
        // What it left behind ends with it.
        // SAFETY: a system call; the group is the script's own.
        unsafe { libc::kill(-group, libc::SIGKILL) };
        let why = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) => status.to_string(),
            None => format!("not done in {} s", patience.as_secs()),
        };
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        let last: Vec<_> = said.lines().rev().take(12).collect();
        Err(format!("{why}\n    {}", last.into_iter().rev().collect::<Vec<_>>().join("\n    ")))
    }
}

fn executable(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::write(path, text)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// The quick ones, as a step of `cargo xtask test`: the driver has been built.
pub fn quick() -> Result<(), String> {
    call(own(&["docs", "--quick"])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_told_with_its_line() {
        let folder = Folder::new("tests-of-xtask").unwrap();
        let run = |first: &str, patience| {
            let page = format!("text\n```sh\n{first}\necho here > made\n```\n");
            let blocks = blocks::parse(&page).unwrap();
            let lines: Vec<&Line> = blocks[0].lines.iter().collect();
            folder.run(&script(&lines), ":0", patience)
        };
        assert_eq!(run("test -d crates && test ! -e made", QUICK), Ok(()));
        assert_eq!(std::fs::read_to_string(folder.path.join("made")).unwrap(), "here\n");
        let failed = run("echo said; false | cat", QUICK).unwrap_err();
        assert_eq!(failed, "exit status: 1\n    said\n    at line 3");
        assert_eq!(run("sleep 60", Duration::from_millis(100)).unwrap_err(), "not done in 0 s\n    ");
        std::fs::remove_dir_all(&folder.path).unwrap();
    }

    #[test]
    fn comments_of_the_pages_say_what_is_known() {
        let pages = super::pages().unwrap();
        assert!(pages.iter().flat_map(|p| &p.1).flat_map(|b| &b.lines).count() > 20);
    }
}

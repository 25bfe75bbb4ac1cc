//! `cargo xtask fresh`: what a newcomer meets. Makes a bare Debian 12 in a chroot, with a Rust toolchain and nothing else
//! of ours, clones the checkout's last commit into it, and runs the README's commands there.
//!
//! Mounts live in a namespace of the processes that run in the chroot ([`chroot`]), so they are gone when these have
//! ended, however they end; this process and the host never have them.

pub mod chroot;
pub mod host;

use crate::cargo::{call, root};
use crate::needs::{Need, has_program, provide};
use chroot::Chroot;
use host::{Host, Mirrors};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    /// The folder for the chroot: it must be missing, empty, or made by this command before. Default:
    /// a new folder in the system's temporary folder.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Keep the chroot for inspection (otherwise it is removed).
    #[arg(long)]
    keep: bool,
    /// The Debian archive to install from; default: that of the host's apt sources.
    #[arg(long)]
    mirror: Option<String>,
}

/// What Rust needs of a bare Debian: a linker and the C library's headers, certificates, and git for the clone.
const PACKAGES: &str = "gcc,libc6-dev,ca-certificates,git";

/// The README's commands.
const COMMANDS: [&[&str]; 2] = [&["cargo", "xtask", "demo"], &["cargo", "xtask", "test"]];

/// What making a chroot needs.
pub const NEEDS: [Need; 3] = [
    Need { what: "debootstrap", package: "debootstrap", here: has_program },
    Need { what: "git", package: "git", here: has_program },
    Need { what: "unshare", package: "util-linux", here: has_program },
];

/// Ctrl-C was pressed: what runs in the chroot has got it too, and ends.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// A step that has run: its name, whether it went well, and its seconds.
struct Step {
    name: String,
    result: Result<(), String>,
    seconds: f64,
}

impl Step {
    /// How it ended, without the command's line, which has been shown.
    fn end(&self) -> &str {
        match &self.result {
            Ok(()) => "exit status: 0",
            Err(e) => e.rfind(": exit status").or(e.rfind(": signal")).map_or(e, |at| &e[at + 2..]),
        }
    }
}

/// Runs a step, unless Ctrl-C came before it.
fn step(steps: &mut Vec<Step>, name: &str, run: impl FnOnce() -> Result<(), String>) -> bool {
    let start = Instant::now();
    let stopped = INTERRUPTED.load(Ordering::Relaxed);
    let result = if stopped { Err("interrupted".into()) } else { run() };
    let good = result.is_ok();
    steps.push(Step { name: name.into(), result, seconds: start.elapsed().as_secs_f64() });
    good
}

pub fn run(args: &Args) -> Result<(), String> {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return Err("fresh makes a chroot and mounts into it: run it as root".into());
    }
    provide("a fresh machine", &NEEDS)?;
    let host = Host::read()?;
    let mirrors = match &args.mirror {
        Some(main) => Mirrors { main: main.clone(), security: None },
        None => Mirrors::of_host()?,
    };
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::signal(libc::SIGINT, interrupt as *const () as libc::sighandler_t) };
    let chroot = match &args.root {
        Some(path) => Chroot::empty(path)?,
        None => Chroot::temporary("tuff-fresh-")?,
    };
    let mut steps = Vec::new();
    let ready = step(&mut steps, "debootstrap", || chroot.install(&mirrors.main, PACKAGES))
        && step(&mut steps, "taken over from the host", || host.give(&chroot, &mirrors))
        && step(&mut steps, "git clone", || clone(&chroot));
    if ready {
        for words in COMMANDS {
            step(&mut steps, &words.join(" "), || call(chroot.command(&host, words)));
        }
    }
    let removed = if args.keep {
        println!("xtask: the chroot is left at {}", chroot.path.display());
        Ok(())
    } else {
        chroot.remove()
    };
    println!("\na fresh Debian 12, {} CPUs", std::thread::available_parallelism().map_or(1, |n| n.get()));
    for s in &steps {
        println!("  {:26} {:6.0} s   {}", s.name, s.seconds, s.end());
    }
    let failed: Vec<_> = steps.iter().filter(|s| s.result.is_err()).map(|s| s.name.as_str()).collect();
    match failed[..] {
        [] => removed,
        _ => Err(format!("failed: {}", failed.join(", "))),
    }
}

/// The checkout's last commit, as anyone would get it.
fn clone(chroot: &Chroot) -> Result<(), String> {
    // A checkout may be another user's than root.
    let git = || {
        let mut git = Command::new("git");
        git.args(["-c", "safe.directory=*", "-C"]).arg(root());
        git
    };
    let changed = git().args(["status", "--porcelain"]).output().map_err(|e| format!("git: {e}"))?;
    if !changed.stdout.is_empty() {
        println!("xtask: fresh runs what is committed; the checkout has changes besides");
    }
    let mut clone = git();
    clone.args(["clone", "--quiet", "--no-hardlinks", "."]).arg(chroot.checkout());
    call(clone)?;
    let mut log = git();
    log.arg("-C").arg(chroot.checkout()).args(["log", "-1", "--oneline"]);
    call(log)
}

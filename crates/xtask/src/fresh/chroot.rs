//! The chroot: made, entered, removed.

use super::host::Host;
use crate::cargo::call;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file in a folder that we made, so that it may be removed.
const MARK: &str = ".tuff-fresh";

/// Where the host's toolchain is seen, read-only; and what commands find by PATH.
pub const RUST: &str = "/opt/rust";
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const CHECKOUT: &str = "/root/tuff";

/// `sh -c` of these lines is the first process of its namespaces: when it ends, all others end and the mounts are gone.
/// It is not replaced by the program, for a first process does not hear of Ctrl-C unless it asks.
const ALONE: &str = r#"set -e; trap 'exit 130' INT TERM; "$@""#;
const INSIDE: &str = r#"set -e; trap 'exit 130' INT TERM
root=$1 rust=$2; shift 2
if [ -n "$rust" ]; then
    mount --bind "$rust" "$root/opt/rust"
    mount -o remount,bind,ro "$root/opt/rust"
fi
mount -t sysfs -o ro sys "$root/sys"
mount -t tmpfs shm "$root/dev/shm"
chroot "$root" "$@""#;

pub struct Chroot {
    pub path: PathBuf,
    /// The temporary folder that it was made in.
    outer: Option<PathBuf>,
}

/// `script` with arguments to come, as the first process of namespaces of its own, with /proc at `proc`.
fn isolated(script: &str, proc: &Path) -> Command {
    let mut mount_proc = std::ffi::OsString::from("--mount-proc=");
    mount_proc.push(proc);
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"])
        .arg(mount_proc)
        .args(["sh", "-c", script, "fresh"]);
    // SAFETY: prctl is a system call. When this process is killed, so is unshare, and what it started with it.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    command
}

/// What is mounted at or below a folder, by the text of `/proc/self/mounts`.
fn mounted(mounts: &str, folder: &Path) -> Vec<PathBuf> {
    let paths = mounts.lines().filter_map(|l| l.split(' ').nth(1));
    // What would end a column is written as octal numbers.
    let plain = |p: &str| {
        p.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
    };
    paths.map(|p| PathBuf::from(plain(p))).filter(|p| p.starts_with(folder)).collect()
}

/// An error if anything is mounted at or below a folder: its files are others'.
fn nothing_mounted(folder: &Path) -> Result<(), String> {
    let mounts =
        std::fs::read_to_string("/proc/self/mounts").map_err(|e| format!("/proc/self/mounts: {e}"))?;
    match &mounted(&mounts, folder)[..] {
        [] => Ok(()),
        [first, ..] => Err(format!("{} is mounted: nothing is removed", first.display())),
    }
}

impl Chroot {
    /// A folder to make it in that nobody else can look into, and that has no name of an earlier run's.
    pub fn temporary(prefix: &str) -> Result<Chroot, String> {
        let made = temporary::folder(prefix);
        let made = made.map_err(|e| format!("{}: {e}", std::env::temp_dir().display()))?;
        // Not removed but by `remove`, which looks at what is mounted in it.
        let outer = made.keep();
        Ok(Chroot { outer: Some(outer.clone()), ..Chroot::empty(&outer.join("root"))? })
    }

    /// An empty folder to make it in; one of an earlier run is removed first.
    pub fn empty(path: &Path) -> Result<Chroot, String> {
        let at = |e: std::io::Error| format!("{}: {e}", path.display());
        std::fs::create_dir_all(path).map_err(at)?;
        let chroot = Chroot { path: path.canonicalize().map_err(at)?, outer: None };
        let holds = std::fs::read_dir(&chroot.path).map_err(at)?.next().is_some();
        if holds && !chroot.path.join(MARK).is_file() {
            return Err(format!("{} holds something that fresh did not make", path.display()));
        }
        chroot.remove()?;
        std::fs::create_dir_all(&chroot.path).map_err(at)?;
        std::fs::write(chroot.path.join(MARK), "made by cargo xtask fresh\n").map_err(at)?;
        Ok(chroot)
    }

    /// Debian 12, as small as it comes, with some packages (with commas between them).
    pub fn install(&self, mirror: &str, packages: &str) -> Result<(), String> {
        let mut command = isolated(ALONE, Path::new("/proc"));
        let include = format!("--include={packages}");
        command.args(["debootstrap", "--variant=minbase", &include, "bookworm"]).arg(&self.path).arg(mirror);
        command.stdout(self.log()?);
        let failed = |e| {
            let log = std::fs::read_to_string(self.log_path()).unwrap_or_default();
            let mut last: Vec<_> = log.lines().rev().take(5).collect();
            last.reverse();
            format!("{}\n{e}", last.join("\n"))
        };
        call(command).map_err(failed)?;
        let null = self.path.join("dev/null");
        match null.metadata() {
            Ok(m) if m.file_type().is_char_device() => {}
            _ => return Err(format!("{} is no device: is the folder mounted with nodev?", null.display())),
        }
        for folder in [&RUST[1..], "dev/shm"] {
            let folder = self.path.join(folder);
            std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        Ok(())
    }

    fn log_path(&self) -> PathBuf {
        self.path.with_extension("log")
    }

    /// For what nobody reads unless it fails.
    fn log(&self) -> Result<std::fs::File, String> {
        std::fs::File::create(self.log_path()).map_err(|e| format!("{}: {e}", self.log_path().display()))
    }

    /// Where the clone lies, as the host sees it.
    pub fn checkout(&self) -> PathBuf {
        self.path.join(&CHECKOUT[1..])
    }

    /// A program with its arguments, to be run in the clone.
    pub fn command(&self, host: &Host, words: &[&str]) -> Command {
        let mut command = self.enter(host, &host.toolchain, CHECKOUT, words);
        command.env("PATH", format!("{RUST}/bin:{PATH}")).env("CARGO_TARGET_DIR", "/root/target");
        command
    }

    /// The same without a toolchain or a clone.
    pub fn bare(&self, host: &Host, words: &[&str]) -> Command {
        self.enter(host, Path::new(""), "/root", words)
    }

    fn enter(&self, host: &Host, toolchain: &Path, folder: &str, words: &[&str]) -> Command {
        let mut command = isolated(INSIDE, &self.path.join("proc"));
        command
            .arg(&self.path)
            .arg(toolchain)
            .args(["env", "-C", folder])
            .args(words)
            .env_clear()
            .envs(host.variables.iter().map(|(n, v)| (n, v)))
            .env("PATH", PATH)
            .env("HOME", "/root")
            .env("LANG", "C.UTF-8");
        command
    }

    /// Removes everything, unless something of others' is mounted there.
    pub fn remove(&self) -> Result<(), String> {
        nothing_mounted(&self.path)?;
        let mut remove = Command::new("rm");
        // Should a mount come between, rm leaves it alone.
        remove.args(["-rf", "--one-file-system", "--"]).arg(&self.path).arg(self.log_path());
        call(remove)?;
        if let Some(outer) = &self.outer {
            let _ = std::fs::remove_dir(outer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_a_folder_are_found_whatever_their_names() {
        let mounts = "proc /proc proc rw 0 0\n\
            t /tmp/a tmpfs rw 0 0\n\
            t /tmp/a\\040b/opt tmpfs rw 0 0\n\
            t /tmp/a/x\\134y tmpfs rw 0 0\n\
            t /tmp/ab tmpfs rw 0 0\n";
        let of = |folder: &str| mounted(mounts, Path::new(folder));
        assert_eq!(of("/tmp/a"), [Path::new("/tmp/a"), Path::new("/tmp/a/x\\y")]);
        assert_eq!(of("/tmp/a b"), [Path::new("/tmp/a b/opt")]);
        assert!(of("/tmp/c").is_empty());
    }

    #[test]
    fn what_others_made_is_not_removed() {
        let outer = temporary::folder("tuff-").unwrap();
        let folder = outer.path().join("root");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("mine"), "x").unwrap();
        assert!(Chroot::empty(&folder).is_err());
        assert!(folder.join("mine").exists());
        std::fs::write(folder.join(MARK), "").unwrap();
        let made = Chroot::empty(&folder).unwrap();
        assert!(!folder.join("mine").exists() && folder.join(MARK).exists());
        made.remove().unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_with_a_mount_is_left_alone() {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let some = mounted(&mounts, Path::new("/proc"));
        assert!(!some.is_empty(), "/proc is mounted here");
        assert!(nothing_mounted(Path::new("/proc")).is_err());
        assert_eq!(nothing_mounted(Path::new("/nowhere")), Ok(()));
    }
}

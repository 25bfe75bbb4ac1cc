//! Debian's packages for AArch64, unpacked to a folder of their own: this system's packages and their lists stay as they are.

use crate::cargo::{call, target_folder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's keys, which the packages of a fresh system have.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Bytes of addresses that an emulated program may have.
const ADDRESSES: u64 = 40 << 30;

/// A Debian for AArch64, of which programs take their loader, libraries and manifests.
pub struct System {
    pub root: PathBuf,
}

impl System {
    /// Packages of a suite of Debian and what they depend on, unpacked once.
    pub fn get(suite: &str, packages: &[&str]) -> Result<System, String> {
        let folder = target_folder().join("aarch64-system").join(suite);
        let root = folder.join("root");
        let done = folder.join("packages");
        let wanted = packages.join(" ");
        if std::fs::read_to_string(&done).is_ok_and(|text| text == wanted) {
            return Ok(System { root });
        }
        let at = |e: std::io::Error| format!("{}: {e}", folder.display());
        for part in ["lists/partial", "cache/archives/partial", "root"] {
            std::fs::create_dir_all(folder.join(part)).map_err(at)?;
        }
        let source = format!("deb [signed-by={KEYS}] http://deb.debian.org/debian {suite} main\n");
        std::fs::write(folder.join("sources.list"), source).map_err(at)?;
        call(apt(&folder, &["update", "-q"]))?;
        let mut install =
            apt(&folder, &["install", "-q", "-y", "--no-install-recommends", "--download-only"]);
        install.args(packages);
        call(install)?;
        let archives = std::fs::read_dir(folder.join("cache/archives")).map_err(at)?.flatten();
        for package in archives.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "deb")) {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("-x").arg(&package).arg(&root);
            call(unpack)?;
        }
        // Since Debian 13 a package of its own has this link, which nothing depends on.
        if !root.join("lib").exists() {
            std::os::unix::fs::symlink("usr/lib", root.join("lib")).map_err(at)?;
        }
        std::fs::write(&done, wanted).map_err(at)?;
        Ok(System { root })
    }

    /// A command that runs a program with this system's libraries, under QEMU with these options.
    pub fn run(&self, options: &[&str], program: &Path) -> Command {
        // The driver reserves 16 TiB of addresses, or as many as it may. QEMU 7.2 has a table of all their pages: some bytes for each.
        let mut command = Command::new("prlimit");
        command.args([&format!("--as={ADDRESSES}"), "qemu-aarch64"]);
        command.args(options).arg("-L").arg(&self.root).arg(program);
        command.env("CONFORMANCE_EMULATOR", format!("qemu-aarch64 -L {}", self.root.display()));
        command.env_remove("LD_LIBRARY_PATH").env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command
    }
}

/// apt with lists, cache and sources of its own, which takes no package for installed.
fn apt(folder: &Path, words: &[&str]) -> Command {
    let of = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new("apt-get");
    for option in [
        "APT::Architecture=arm64".into(),
        "APT::Architectures=arm64".into(),
        // The user that apt downloads as may not reach the folder.
        "APT::Sandbox::User=root".into(),
        "Dir::State::status=/dev/null".into(),
        "Dir::Etc::sourceparts=/dev/null".into(),
        format!("Dir::Etc::sourcelist={}", of("sources.list")),
        format!("Dir::State::Lists={}", of("lists")),
        format!("Dir::Cache={}", of("cache")),
    ] {
        command.args(["-o", &option]);
    }
    command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

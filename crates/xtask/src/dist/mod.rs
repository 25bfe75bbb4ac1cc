//! `cargo xtask dist`: packages for people who do not build. One tree of files below a prefix (`tree`), written as a tar.gz,
//! which works wherever it is unpacked, and as a .deb. Whoever builds the same commit with the same toolchain has the
//! same bytes: `--check` builds a copy of the sources in another folder and compares; `--try` installs what was made.
//!
//! Archives are written here, by the crates `tar` and `flate2`: what dpkg-deb makes depends on its version and its
//! compressor's, and not every system that builds has it. A .deb is three members of an `ar` archive ([`deb`]), which
//! dpkg-deb reads in the test and in `--try`.

mod build;
mod deb;
mod guides;
mod libraries;
mod licences;
mod links;
mod npm;
mod pack;
mod sbom;
mod tree;
mod trial;
mod wheel;
mod windows;

use crate::aarch64::Foreign;
use crate::cargo::{call, root, target_folder};
use crate::windows::WINDOWS;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

#[derive(clap::Args)]
pub struct Args {
    /// Output folder; default: dist in the target folder, or dist/aarch64 with --target.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Build a second time, from a copy of the sources in another folder, and fail unless all bytes are equal.
    #[arg(long)]
    check: bool,
    /// Install the .deb in a bare Debian 12 with vulkan-tools, run programs on it, remove it, and check that nothing is left;
    /// then do the same with the tar.gz. Needs root.
    #[arg(long = "try")]
    trial: bool,
    /// Pack what was built to this folder before (target/release, for example), instead of building. Such packages have paths of this
    /// machine in them: they are for trials.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["check", "no_build"])]
    built: Option<PathBuf>,
    /// Package for another machine or system than this one: aarch64-unknown-linux-gnu, whose programs run under qemu-user here, or
    /// x86_64-pc-windows-gnu (a zip with the driver).
    #[arg(long, value_name = "TRIPLE", conflicts_with_all = ["trial", "no_build"])]
    target: Option<String>,
    /// With --try: use the existing packages.
    #[arg(long, requires = "trial")]
    no_build: bool,
    /// With --try: the archive to install Debian from. Default: that of the host's own apt sources.
    #[arg(long)]
    mirror: Option<String>,
}

/// The crates that are shipped.
const PACKAGES: [&str; 6] =
    ["tuff", "icd", "layer-gpu-performance", "perfmon-gl", "libmali", "kbase-preload"];

/// Another machine that packages are for, if one was named: set once, when the command begins.
static TARGET: OnceLock<Foreign> = OnceLock::new();

fn target() -> Option<&'static Foreign> {
    TARGET.get()
}

/// The machine that packages are for: the one that builds, or the one that was named.
fn machine() -> &'static str {
    target().map_or(std::env::consts::ARCH, |foreign| foreign.machine)
}

/// The version that all our crates have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The packages, as they lie in a folder.
struct Packages {
    archive: PathBuf,
    deb: PathBuf,
    wheel: PathBuf,
    npm: PathBuf,
    /// What is linked into them, as CycloneDX; it is in each of them too.
    sbom: PathBuf,
    /// The SHA-256 of each of them, as `sha256sum --check` reads it.
    sums: PathBuf,
}

impl Packages {
    fn of(folder: &Path) -> Packages {
        Packages {
            archive: folder.join(format!("{}.tar.gz", pack::folder_name())),
            deb: folder.join(format!("tuff_{VERSION}_{}.deb", deb::architecture())),
            wheel: folder.join(wheel::file_name()),
            npm: folder.join(npm::file_name()),
            sbom: folder.join(format!("tuff-{VERSION}.cdx.json")),
            sums: folder.join("SHA256SUMS"),
        }
    }

    fn files(&self) -> [&Path; 6] {
        [&self.archive, &self.deb, &self.wheel, &self.npm, &self.sbom, &self.sums]
    }
}

pub fn run(args: &Args) -> Result<(), String> {
    if let Some(triple) = args.target.as_deref().filter(|t| !t.starts_with(std::env::consts::ARCH)) {
        let foreign = Foreign::named(triple)?;
        foreign.provide("packages")?;
        TARGET.get_or_init(|| foreign);
    }
    if args.target.as_deref() == Some(WINDOWS.triple) {
        let _ = TARGET.set(WINDOWS);
        return windows::run(args);
    }
    // The list of sums is one machine's.
    let folder = target().map_or("dist".into(), |foreign| format!("dist/{}", foreign.machine));
    let out = args.out.clone().unwrap_or_else(|| target_folder().join(folder));
    let packages = Packages::of(&out);
    if !args.no_build {
        let time = time(&root())?;
        match &args.built {
            Some(folder) => pack(&root(), folder, time, &packages)?,
            None => make(&root(), &target_folder().join("dist/build"), time, &packages)?,
        }
        if args.check {
            check(&out, time, &packages)?;
        }
    }
    for file in packages.files() {
        let size = file.metadata().map_err(|e| format!("{}: {e}", file.display()))?.len();
        println!("{size:>10} bytes  {}", file.display());
    }
    if args.trial { trial::run(&packages, args.mirror.as_deref()) } else { Ok(()) }
}

/// The time that packages say they were made at, in seconds: SOURCE_DATE_EPOCH, or the last commit's.
fn time(source: &Path) -> Result<u64, String> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return time.parse().map_err(|_| format!("SOURCE_DATE_EPOCH is no number of seconds: {time}"));
    }
    let time = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(source))?;
    time.trim().parse().map_err(|_| format!("git log: no time in {time:?}"))
}

/// What a command prints.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let out = command.output().map_err(|e| format!("{name}: {e}"))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
        false => {
            let said = if out.stderr.is_empty() { &out.stdout } else { &out.stderr };
            Err(format!("{name}: {}: {}", out.status, String::from_utf8_lossy(said).trim()))
        }
    }
}

/// Builds and packs a checkout.
fn make(source: &Path, target: &Path, time: u64, packages: &Packages) -> Result<(), String> {
    pack(source, &build::build(source, target, time, &PACKAGES)?, time, packages)
}

/// Packs what was built to a folder.
fn pack(source: &Path, release: &Path, time: u64, packages: &Packages) -> Result<(), String> {
    let tree = tree::collect(source, release, time)?;
    let write = |path: &Path, bytes: Vec<u8>| {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(path, bytes))
            .map_err(|e| format!("{}: {e}", path.display()))
    };
    let mut sums = String::new();
    let made = [
        (&packages.archive, pack::archive(&tree, time)?),
        (&packages.deb, deb::package(&tree, time)?),
        (&packages.wheel, wheel::wheel(&tree, source, time)?),
        (&packages.npm, npm::package(&tree, source, time)?),
        (&packages.sbom, tree[sbom::PLACE].bytes.clone()),
    ];
    for (path, bytes) in made {
        let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
        sums += &format!("{hash}  {}\n", path.file_name().unwrap_or_default().display());
        write(path, bytes)?;
    }
    write(&packages.sums, sums.into_bytes())
}

/// Makes the packages of a copy of the sources, in another folder, and compares.
fn check(out: &Path, time: u64, packages: &Packages) -> Result<(), String> {
    let folder = target_folder().join("dist/again");
    let source = folder.join("elsewhere/sources");
    if source.exists() {
        std::fs::remove_dir_all(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    }
    copy(&root(), &source)?;
    let again = Packages::of(&folder);
    make(&source, &folder.join("build"), time, &again)?;
    let mut differ = Vec::new();
    for (one, two) in packages.files().into_iter().zip(again.files()) {
        let read = |p: &Path| std::fs::read(p).map_err(|e| format!("{}: {e}", p.display()));
        let (a, b) = (read(one)?, read(two)?);
        if a != b {
            let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
            let name = one.file_name().unwrap_or_default().display();
            differ.push(format!(
                "{name} differs from byte {at} of {} ({} the second time)",
                a.len(),
                b.len()
            ));
        }
    }
    match differ[..] {
        [] => {
            println!("xtask: two builds in two folders, the same bytes in {}", out.display());
            Ok(())
        }
        _ => Err(differ.join("; ")),
    }
}

/// Copies what a checkout consists of, as it is now: committed files with their changes, and new ones that are not ignored.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let list = output(
        Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(from),
    )?;
    for name in list.split('\0').filter(|n| !n.is_empty()) {
        let (here, there) = (from.join(name), to.join(name));
        // Deleted, but not yet for git; a link to a target folder elsewhere.
        if !here.is_file() {
            continue;
        }
        let folder = there.parent().unwrap_or(to);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::copy(&here, &there))
            .map_err(|e| format!("{name}: {e}"))?;
    }
    let mut all = Command::new("cargo");
    all.args(["fetch", "--locked"]).current_dir(to);
    call(all)
}

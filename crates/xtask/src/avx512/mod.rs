//! `cargo xtask avx512`: what no machine at hand can run. Boots a Debian kernel in Bochs, a PC emulator whose CPU has
//! AVX-512, and runs there the kernels' tests, and the conformance programs on the driver: docs/avx512.md.

mod image;
mod jobs;
mod machine;

use crate::cargo::{call, target_folder};
use crate::needs::{Need, has_program, provide};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
pub struct Args {
    /// Only the jobs whose names contain one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only the tests whose names contain this.
    #[arg(long)]
    test: Option<String>,
    /// Only print what would run.
    #[arg(long)]
    list: bool,
    /// Instead of the tests, count the instructions that the benchmark shaders execute with AVX2 and with AVX-512.
    #[arg(long)]
    count: bool,
    /// The CPU that Bochs emulates (see `bochs --help cpu`).
    #[arg(long, default_value = "corei7_skylake_x")]
    cpu: String,
    /// A Bochs instead of Debian's: with AVX-512, without its debugger, with the display `nogui`.
    #[arg(long)]
    bochs: Option<PathBuf>,
    /// Minutes without a line from the machine after which it counts as hung.
    #[arg(long, default_value_t = 30)]
    patience: u64,
}

const NEEDS: [Need; 8] = [
    Need { what: "Bochs", package: "bochs", here: |_| has_program("bochs") },
    Need {
        what: "Bochs's text display",
        package: "bochs-term",
        here: |_| Path::new("/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_term_gui.so").exists(),
    },
    Need { what: "Bochs's BIOS", package: "bochsbios", here: |_| Path::new(machine::BIOS).exists() },
    Need { what: "a VGA BIOS", package: "vgabios", here: |_| Path::new(machine::VGA).exists() },
    Need { what: "isolinux.bin", package: "isolinux", here: |_| Path::new(image::ISOLINUX).exists() },
    Need { what: "ldlinux.c32", package: "syslinux-common", here: |_| Path::new(image::LDLINUX).exists() },
    Need { what: "xorriso", package: "xorriso", here: has_program },
    Need { what: "a busybox of one file", package: "busybox-static", here: |_| image::has_busybox() },
];

pub fn run(args: &Args) -> Result<(), String> {
    let mut jobs = if args.count { jobs::counts()? } else { jobs::tests(&args.only)? };
    if !args.only.is_empty() {
        jobs.retain(|j| args.only.iter().any(|o| j.name.contains(o.as_str())));
    }
    if args.bochs.is_none() && !args.count {
        println!("xtask: this Bochs converts numbers wrongly: what shows it is left out (docs/avx512.md)");
        jobs.iter_mut().for_each(jobs::Job::without_conversions);
    }
    if let Some(test) = &args.test {
        jobs.iter_mut().for_each(|j| j.words.push(test.clone()));
    }
    if jobs.is_empty() {
        return Err("no job has such a name".into());
    }
    if args.list {
        jobs.iter().for_each(|j| println!("{}: {}", j.name, j.words.join(" ")));
        return Ok(());
    }
    provide("the emulated machine's parts", &NEEDS)?;
    let folder = target_folder().join("avx512");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let kernel = kernel(&folder)?;
    let disc = image::make(&folder, &kernel, &jobs)?;
    let bochs = match &args.bochs {
        Some(program) => machine::Bochs::Own(program.clone()),
        None => machine::Bochs::debian(&folder)?,
    };
    let console =
        machine::run(&bochs, &folder, &disc, &args.cpu, Duration::from_secs(args.patience * 60), jobs.len())?;
    if args.count {
        count(&console);
    }
    verdict(&jobs, &console)
}

/// Shows times of `kernel_bench` as the instructions they are in a machine whose clock counts them.
fn count(console: &[String]) {
    println!("{:8} {:>6} {:>24}", "shader", "level", "million instructions");
    let mut level = "";
    for line in console {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("=="), Some("run"), Some(job)) => level = job.trim_start_matches("count/"),
            (Some(shader), Some(ms), Some("ms")) => {
                let seconds = ms.parse().unwrap_or(0.0) * 1e-3;
                println!(
                    "{shader:8} {level:>6} {:24.1}",
                    seconds * machine::INSTRUCTIONS_A_SECOND as f64 * 1e-6
                );
            }
            _ => {}
        }
    }
}

/// Whether every job did what it should, by the lines on the machine's console.
fn verdict(jobs: &[jobs::Job], console: &[String]) -> Result<(), String> {
    let flags = console.iter().find(|l| l.starts_with("flags")).map_or("", String::as_str);
    for feature in ["avx512f", "avx512bw", "avx512dq", "avx512vl"] {
        if !flags.split_whitespace().any(|f| f == feature) {
            return Err(format!("the machine's CPU has no {feature}"));
        }
    }
    let mut failed = 0;
    for job in jobs {
        let wrong = job.wrong(console);
        failed += !wrong.is_empty() as u32;
        wrong.iter().for_each(|w| println!("xtask: {}: {w}", job.name));
    }
    println!("{} passed, {failed} failed", jobs.len() as u32 - failed);
    if failed == 0 { Ok(()) } else { Err("AVX-512 is not right".into()) }
}

/// Debian's newest kernel for virtual machines, unpacked but not installed. (Newer ones unpack themselves sooner.)
fn kernel(folder: &Path) -> Result<PathBuf, String> {
    let find = || -> Option<PathBuf> {
        let boot = std::fs::read_dir(folder.join("kernel/boot")).ok()?;
        let mut names: Vec<_> = boot.flatten().map(|e| e.path()).collect();
        names.retain(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("vmlinuz-")));
        names.sort();
        names.pop()
    };
    if let Some(k) = find() {
        return Ok(k);
    }
    let names = Command::new("apt-cache").args(["pkgnames", "linux-image-"]).output();
    let names = names.map_err(|e| format!("apt-cache: {e}"))?;
    let names = String::from_utf8_lossy(&names.stdout).into_owned();
    let newest = names
        .lines()
        .filter(|n| {
            n.ends_with("-cloud-amd64") && n["linux-image-".len()..].starts_with(|c: char| c.is_ascii_digit())
        })
        .max_by_key(|n| {
            n.split(|c: char| !c.is_ascii_digit()).filter_map(|p| p.parse().ok()).collect::<Vec<u32>>()
        })
        .ok_or("apt knows no linux-image-*-cloud-amd64: apt-get update")?;
    let mut download = Command::new("apt-get");
    download.args(["download", "-q", newest]).current_dir(folder);
    call(download)?;
    let files = std::fs::read_dir(folder).map_err(|e| e.to_string())?;
    let package = files
        .flatten()
        .map(|e| e.path())
        .find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&format!("{newest}_"))))
        .ok_or_else(|| format!("apt-get left no {newest}_*.deb"))?;
    let mut unpack = Command::new("dpkg-deb");
    unpack.arg("-x").arg(&package).arg(folder.join("kernel"));
    call(unpack)?;
    find().ok_or_else(|| format!("{} has no boot/vmlinuz", package.display()))
}

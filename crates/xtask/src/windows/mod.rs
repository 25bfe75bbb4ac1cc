//! `cargo xtask windows`: that Tuff is the same on Windows. The driver and the conformance programs are built by mingw for x86-64, and run
//! under Wine: they must say what they say on Linux, case by case, and cost the same.

mod layer;
mod tool;

use crate::aarch64::Foreign;
use crate::cargo::{call, cargo, icd_file, own_driver, root, target_folder};
use crate::needs::{Need, has_program, provide};
use crate::same::{PROGRAMS, Report, children, of, outcome};
use layer::Place;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Args {
    /// Run only these conformance programs, such as `scene-child`; `tests`: those of crates alone; `tuff`: its commands.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// A Vulkan loader for Windows (vulkan-1.dll; docs/windows.md has how to build one). Without one, programs load the driver itself.
    #[arg(long, value_name = "FILE")]
    loader: Option<PathBuf>,
    /// Run the programs with plain kernels on one thread, and without compiled shaders, besides.
    #[arg(long)]
    all: bool,
    /// Run the driver, the layer and `tuff` as they are released, instead of the quicker build of `cargo build`.
    #[arg(long)]
    release: bool,
    /// Run those that were built to this folder before, for example by `cargo xtask dist`.
    #[arg(long, value_name = "FOLDER", conflicts_with = "release")]
    built: Option<PathBuf>,
}

/// Windows, as another machine that packages are for.
pub const WINDOWS: Foreign = Foreign { triple: TRIPLE, machine: "x86_64" };

const TRIPLE: &str = "x86_64-pc-windows-gnu";

/// What `--only` calls the tests of crates.
const TESTS: &str = "tests";

/// Conformance programs of Windows alone, and whether they need a display: each line is a case that passed, or says what is wrong.
const OWN: [(&str, bool); 2] = [("window-child", true), ("external-child", false)];

const TOOLS: [Need; 1] =
    [Need { what: "x86_64-w64-mingw32-gcc", package: "gcc-mingw-w64-x86-64", here: has_program }];

/// (Wine's DXGI, which the loader asks for adapters, needs a display.)
const NEEDS: [Need; 3] = [
    Need { what: "wine", package: "wine", here: has_program },
    Need { what: "xvfb-run", package: "xvfb", here: has_program },
    Need { what: "xauth", package: "xauth", here: has_program },
];

/// Crates whose tests need no driver and no program of the system.
const CRATES: [&str; 4] = ["fused", "simd", "texel", "schedule"];

/// A Wine of its own: the user's stays as it is.
struct Wine {
    prefix: PathBuf,
}

impl Wine {
    fn new(folder: &Path) -> Result<Wine, String> {
        let wine = Wine { prefix: folder.join("wine") };
        std::fs::create_dir_all(&wine.prefix).map_err(|e| format!("{}: {e}", wine.prefix.display()))?;
        let mut boot = wine.run("wineboot");
        boot.arg("--init");
        call(boot)?;
        wine.complete()?;
        Ok(wine)
    }

    /// Adds what Wine before 9 lacks (bcryptprimitives.c).
    fn complete(&self) -> Result<(), String> {
        let library = self.prefix.join("drive_c/windows/system32/bcryptprimitives.dll");
        if library.exists() {
            return Ok(());
        }
        let source = root().join("crates/xtask/src/windows/bcryptprimitives.c");
        let mut gcc = Command::new("x86_64-w64-mingw32-gcc");
        gcc.args(["-shared", "-O1", "-o"]).arg(&library).arg(source).arg("-ladvapi32");
        call(gcc)
    }

    /// A command that runs a program of Windows, without a display.
    fn run(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("wine");
        command.arg(program);
        self.prepare(&mut command);
        command.env_remove("DISPLAY");
        command
    }

    /// As [`Wine::run`], on a display that nobody sees.
    fn show(&self, program: impl AsRef<OsStr>) -> Command {
        // What still runs of Wine has another display, or none.
        let mut end = Command::new("wineserver");
        self.prepare(end.arg("-k"));
        let _ = end.status();
        let mut command = Command::new("xvfb-run");
        command.args(["-a", "wine"]).arg(program);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .env("WINEPREFIX", &self.prefix)
            .env("WINEDEBUG", "-all")
            .env("WINEDLLOVERRIDES", "vulkan-1=n")
            .env_remove("WAYLAND_DISPLAY");
    }

    /// Tells the loader of one manifest alone, by the registry: it does not look at variables in a process with more rights than the
    /// user's, and Wine's processes have them all. `what`: `Drivers` or `ExplicitLayers`.
    fn register(&self, what: &str, manifest: &Path) -> Result<(), String> {
        let key = format!("HKLM\\SOFTWARE\\Khronos\\Vulkan\\{what}");
        let mut forget = self.run("reg");
        forget.args(["delete", &key, "/f"]);
        // (There may be none.)
        let _ = forget.status();
        let mut add = self.run("reg");
        add.args(["add", &key, "/f", "/v"]).arg(of_windows(manifest)).args(["/t", "REG_DWORD", "/d", "0"]);
        call(add)
    }
}

/// A path as programs of Windows see it.
fn of_windows(path: &Path) -> String {
    format!("Z:{}", path.display().to_string().replace('/', "\\"))
}

/// What building for Windows takes.
pub fn provide_tools(whom: &str) -> Result<(), String> {
    provide(&format!("{whom} for Windows"), &TOOLS)?;
    let mut target = Command::new("rustup");
    target.args(["target", "add", TRIPLE]);
    call(target)
}

pub fn run(args: &Args) -> Result<(), String> {
    let known = |name: &String| {
        [TESTS, layer::CHILD, tool::NAME].contains(&&**name)
            || OWN.iter().any(|p| p.0 == name)
            || PROGRAMS.iter().any(|p| p.name == name)
    };
    if let Some(name) = args.only.iter().find(|name| !known(name)) {
        return Err(format!("no conformance program {name} is compared"));
    }
    if args.loader.is_none() && args.only.iter().any(|name| name == layer::CHILD) {
        return Err(format!("{} needs --loader: without a loader there are no layers", layer::CHILD));
    }
    provide_tools("tests")?;
    provide("tests for Windows", &NEEDS)?;
    let folder = target_folder().join("windows");
    let wine = Wine::new(&folder)?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|o| o == name);
    let mut report = Report::new("Linux");
    if wanted(TESTS)
        && let Err(e) = tests(&wine)
    {
        report.wrong(e);
    }
    let programs: Vec<_> = PROGRAMS.iter().filter(|p| wanted(p.name)).collect();
    // Without a loader there are no layers.
    let layered = wanted(layer::CHILD) && args.loader.is_some();
    let own: Vec<_> = OWN.iter().filter(|p| wanted(p.0)).collect();
    if programs.is_empty() && own.is_empty() && !layered && !wanted(tool::NAME) {
        return report.end();
    }
    let built = build(args)?;
    let icd = icd(&folder, &built)?;
    let there = children(&["--target", TRIPLE], |_| ())?;
    let way = Way { batch: way(args, &wine, &folder, &icd)?, wine };
    for &&(name, display) in &own {
        if let Err(e) = passes(&way, &of(&there, name)?, name, display) {
            report.wrong(e);
        }
    }
    if layered || wanted(tool::NAME) || !programs.is_empty() {
        let more: &[&str] = if layered { &[tool::NAME, layer::CRATE] } else { &[tool::NAME] };
        let own = own_driver(&folder.join("linux"), more)?;
        let here = children(&[], |_| ())?;
        if layered {
            let [here, there] = [&here, &there].map(|list| of(list, layer::CHILD));
            let here = Place { program: &here?, icd: &own, library: Place::linux() };
            let there = Place { program: &there?, icd: &icd, library: Place::windows(&built) };
            layer::compare(&way.wine, &folder, &here, &there, &mut report)?;
        }
        if wanted(tool::NAME) {
            let place = |programs, name: &str| tool::Place { folder: folder.join(name), programs };
            let (here, there) = (place(&here, "linux/tool"), place(&there, "tool"));
            tool::compare(&way.wine, &here, &there, [&own, &icd], &built, &mut report)?;
        }
        for program in programs {
            let (cases, want) = program.native(&here, &own, &folder)?;
            for settings in if args.all { &SETTINGS[..] } else { &SETTINGS[..1] } {
                let start = Instant::now();
                let mut command = way.run(&program.of(&there)?, false);
                command.envs(settings.iter().copied());
                let name = settings.iter().fold(program.name.to_string(), |n, (k, v)| format!("{n} {k}={v}"));
                report.compare(
                    &name,
                    &want,
                    outcome(command, &icd, &folder, &cases, program.counts),
                    program.counts,
                );
                println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
            }
        }
    }
    report.end()
}

/// Settings that programs run with, the usual ones first.
const SETTINGS: [&[(&str, &str)]; 3] =
    [&[], &[("TUFF_SIMD", "portable"), ("TUFF_THREADS", "1")], &[("TUFF_JIT", "0"), ("TUFF_THREADS", "3")]];

/// How programs come to the driver: by the loader, or by a batch file.
struct Way {
    wine: Wine,
    batch: Option<PathBuf>,
}

impl Way {
    /// Runs a program; with `display`, one that makes windows.
    fn run(&self, program: &Path, display: bool) -> Command {
        match &self.batch {
            // (The loader asks for adapters.)
            None => self.wine.show(program),
            Some(batch) => {
                let mut command = if display { self.wine.show("cmd") } else { self.wine.run("cmd") };
                command.args(["/c", &of_windows(batch), &of_windows(program)]);
                command
            }
        }
    }
}

fn way(args: &Args, wine: &Wine, folder: &Path, icd: &Path) -> Result<Option<PathBuf>, String> {
    let Some(loader) = &args.loader else { return direct(folder, icd).map(Some) };
    wine.register("Drivers", icd)?;
    let beside = target_folder().join(TRIPLE).join("debug/vulkan-1.dll");
    std::fs::copy(loader, &beside).map_err(|e| format!("{}: {e}", loader.display()))?;
    Ok(None)
}

/// Runs a program whose lines are cases that pass.
fn passes(way: &Way, program: &Path, name: &str, display: bool) -> Result<(), String> {
    let output = way.run(program, display).output().map_err(|e| format!("{name}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (all, good) = (text.lines().count(), text.lines().filter(|l| !l.starts_with("WRONG")).count());
    println!("xtask: {name}: {good} of {all} cases pass");
    match output.status.success() && good > 0 && good == all {
        true => Ok(()),
        false => {
            Err(format!("{name}: {}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// A batch file that runs a program on the driver without a loader. Wine keeps variables that begin with `VK_` from programs, so they are
/// set there.
fn direct(folder: &Path, icd: &Path) -> Result<PathBuf, String> {
    let batch = folder.join("direct.bat");
    let text = format!("@set TUFF_NO_LOADER=1\r\n@set VK_DRIVER_FILES={}\r\n@%*\r\n", of_windows(icd));
    std::fs::write(&batch, text).map_err(|e| format!("{}: {e}", batch.display()))?;
    Ok(batch)
}

/// Tests of crates under Wine.
fn tests(wine: &Wine) -> Result<(), String> {
    let mut tests = cargo(&["test", "--target", TRIPLE, "--no-fail-fast", "--lib"]);
    tests.args(CRATES.iter().flat_map(|name| ["-p", name]));
    // (It reads sources, whose paths have other separators there.)
    tests.args(["--", "--skip", "no_kernel_is_left_out"]);
    tests.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER", "wine");
    wine.prepare(&mut tests);
    tests.env_remove("DISPLAY");
    call(tests)
}

/// Builds the driver, the layer and `tuff`; the folder that they lie in.
fn build(args: &Args) -> Result<PathBuf, String> {
    if let Some(folder) = &args.built {
        return std::path::absolute(folder).map_err(|e| format!("{}: {e}", folder.display()));
    }
    let mut build = cargo(&["build", "-p", "icd", "-p", layer::CRATE, "-p", tool::NAME, "--target", TRIPLE]);
    build.args(args.release.then_some("--release"));
    call(build)?;
    Ok(target_folder().join(TRIPLE).join(if args.release { "release" } else { "debug" }))
}

/// An ICD file for the driver in a folder.
fn icd(folder: &Path, built: &Path) -> Result<PathBuf, String> {
    let library = built.join("vulkan_tuff.dll");
    let size = library.metadata().map_err(|e| format!("{}: {e}", library.display()))?.len();
    println!("xtask: {size} bytes of {}", library.display());
    let icd = folder.join("tuff_icd.json");
    // (Twice: JSON has the backslash for itself.)
    let library = of_windows(&library).replace('\\', "\\\\");
    std::fs::write(&icd, icd_file(Path::new(&library))).map_err(|e| format!("{}: {e}", icd.display()))?;
    Ok(icd)
}

//! `cargo xtask cases`: small programs of others, each of which showed a fault once, and what they print now.
//!
//! The folder has them in C or C++ with their shaders beside them; a README there says what each is about.

use crate::cargo::{call, on_driver, own_driver, target_folder};
use crate::needs::{GXX, HEADERS, LOADER, Need, has_program, provide};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// The folder with the programs.
    #[arg(long)]
    source: PathBuf,
    /// Vulkan-Headers of 1.4.345 or newer, for programs that need them: the folder with `vulkan/vulkan.h`.
    #[arg(long)]
    headers: Option<PathBuf>,
    /// The folder with those of this project's shaders that some programs use.
    #[arg(long, default_value = "benches/pictures")]
    pictures: PathBuf,
}

/// What a program printed, run by run.
type Printed = [String];

struct Case {
    name: &'static str,
    /// Below the folder.
    source: &'static str,
    newer_headers: bool,
    /// Shaders and what becomes of them; names without a folder are this project's pictures.
    shaders: &'static [(&'static str, &'static str)],
    /// Variables of each run.
    runs: &'static [&'static [(&'static str, &'static str)]],
    right: fn(&Printed) -> Result<(), String>,
}

const CASES: [Case; 4] = [
    Case {
        name: "a set of another type than the pool's",
        source: "pool.c",
        newer_headers: false,
        shaders: &[],
        runs: &[&[]],
        right: |p| all_of(&p[0], 5, |line| line.ends_with(": 0")),
    },
    Case {
        name: "a copy of what a pass discarded",
        source: "dontcare.c",
        newer_headers: false,
        shaders: &[],
        runs: &[&[]],
        right: |p| {
            let told = p[0].contains("reads image") && p[0].contains("VK_ATTACHMENT_STORE_OP_DONT_CARE");
            told.then_some(()).ok_or("nothing is told".into())
        },
    },
    Case {
        name: "counts without compiled code, and with it",
        source: "jit_counts/j.c",
        newer_headers: false,
        shaders: &[
            ("jit_counts/s/grid.vert", "s/grid.vert.spv"),
            ("medium.frag", "s/medium.frag.spv"),
            ("large.frag", "s/large.frag.spv"),
        ],
        runs: &[&[], &[("TUFF_JIT", "0")], &[("TUFF_JIT", "always")], &[("TUFF_SIMD", "portable")]],
        right: |p| {
            all_of(&p[0], 2, |line| line.contains("warps="))?;
            p.iter().all(|other| *other == p[0]).then_some(()).ok_or("they differ".into())
        },
    },
    Case {
        name: "a pass in two suspended parts",
        source: "suspended/sr.cpp",
        newer_headers: true,
        shaders: &[("suspended/v.vert", "v.spv"), ("suspended/f.frag", "f.spv")],
        runs: &[&[]],
        right: |p| {
            let time = |begin: &str| {
                let line = p[0].lines().find(|l| l.trim_start().starts_with(begin)).ok_or("no such line")?;
                let digits = |w: &&str| w.chars().all(|c| c.is_ascii_digit());
                let word = line.split_whitespace().rfind(digits).ok_or("no time in its line")?;
                word.parse::<f64>().map_err(|_| "no number")
            };
            let (whole, parts) = (time("one pass, two draws")?, time("suspended/resumed, a draw in each")?);
            let ratio = parts / whole;
            (0.9..1.1).contains(&ratio).then_some(()).ok_or(format!("{ratio:.2} times the whole pass"))
        },
    },
];

fn all_of(text: &str, lines: usize, right: impl Fn(&str) -> bool) -> Result<(), String> {
    let own: Vec<_> = text.lines().filter(|l| !l.starts_with("tuff: ")).collect();
    (own.len() >= lines && own.iter().all(|l| right(l))).then_some(()).ok_or("not what is wanted".into())
}

const GLSLANG: Need = Need { what: "glslangValidator", package: "glslang-tools", here: has_program };

pub fn run(args: &Args) -> Result<(), String> {
    provide("the cases", &[GXX, GLSLANG, LOADER, HEADERS[0]])?;
    let folder = target_folder().join("cases");
    let icd = own_driver(&folder, &[])?;
    let mut wrong = vec![];
    for case in &CASES {
        if case.newer_headers && args.headers.is_none() {
            not_run::say(case.source, "Vulkan-Headers of 1.4.345 or newer (--headers)");
            continue;
        }
        let printed = case.printed(args, &folder, &icd)?;
        match (case.right)(&printed) {
            Ok(()) => println!("{}: {}: as it should be", case.source, case.name),
            Err(e) => {
                println!("{}", printed.join("\n"));
                wrong.push(format!("{}: {}: {e}", case.source, case.name));
            }
        }
    }
    println!(
        "The others: adapters.py and adapter.js by `cargo xtask programs`, three by `cargo xtask pages` (antialias.html)"
    );
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

impl Case {
    fn printed(&self, args: &Args, folder: &Path, icd: &Path) -> Result<Vec<String>, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.source);
        let source = std::path::absolute(&args.source).map_err(failed)?;
        let stem = Path::new(self.source).file_stem().unwrap_or_default();
        let folder = folder.join(stem);
        std::fs::create_dir_all(folder.join("s")).map_err(failed)?;
        for (from, to) in self.shaders {
            let at = if from.contains('/') { source.join(from) } else { args.pictures.join(from) };
            let mut glslang = Command::new("glslangValidator");
            glslang.args(["-V", "--target-env", "vulkan1.3", "-o"]).arg(folder.join(to)).arg(at);
            call(glslang)?;
        }
        let program = folder.join("program");
        let mut compile = Command::new(if self.source.ends_with(".cpp") { "g++" } else { "cc" });
        if self.source.ends_with(".cpp") {
            compile.arg("-std=c++17");
        }
        if let Some(headers) = args.headers.as_ref().filter(|_| self.newer_headers) {
            compile.arg("-I").arg(std::path::absolute(headers).map_err(failed)?);
        }
        compile.arg("-w").arg(source.join(self.source)).arg("-o").arg(&program).args(["-lvulkan", "-lm"]);
        call(compile)?;
        let run = |variables: &&[(&str, &str)]| {
            let mut command = Command::new(&program);
            on_driver(&mut command, icd).envs(variables.iter().copied()).current_dir(&folder);
            let out = command.output().map_err(failed)?;
            Ok(String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned())
        };
        self.runs.iter().map(run).collect()
    }
}

//! `cargo xtask programs`: programs that hide a software driver, installed, run as their users run them, and again below `tuff run`
//! with what docs/programs.md says to set. And (`--suites`) test suites of others, on Tuff and on lavapipe.

mod suites;
mod table;

use crate::cargo::{call, on_driver, own_driver, root, target_folder};
use crate::needs::{Need, VENV, has_program, provide};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use table::{From, PROGRAMS, Program, Start};

#[derive(clap::Args)]
pub struct Args {
    /// Only these programs (comma-separated; a part of the name is enough).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only write the table in docs/programs.md.
    #[arg(long)]
    write: bool,
    /// Run test suites instead, from the clones `wgpu-py`, `pygfx` and `vello` in this folder.
    #[arg(long, value_name = "FOLDER")]
    suites: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<(), String> {
    if args.write {
        return write();
    }
    let folder = target_folder().join("programs");
    let icd = own_driver(&folder, &["perfmon-gl"])?;
    let installed = Installed { folder };
    if let Some(clones) = &args.suites {
        return suites::run(clones, &installed, &icd);
    }
    let chosen = |p: &&Program| args.only.is_empty() || args.only.iter().any(|o| p.name.contains(o.as_str()));
    let mut wrong = vec![];
    for p in PROGRAMS.iter().filter(chosen) {
        if let Err(e) = installed.install(&p.from) {
            not_run::say(p.name, &e);
            continue;
        }
        let without = installed.shows(p, &icd, false)?;
        let with = installed.shows(p, &icd, true)?;
        println!("{}: as it is {}, by `{}` {}", p.name, says(without), p.command(), says(with));
        if without {
            wrong.push(format!("{}: uses Tuff as it is: docs/programs.md says that it does not", p.name));
        }
        if !with {
            wrong.push(format!("{}: does not use Tuff by `{}`", p.name, p.command()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

fn says(uses: bool) -> &'static str {
    if uses { "on Tuff" } else { "not on Tuff" }
}

fn write() -> Result<(), String> {
    let path = root().join("docs/programs.md");
    let failed = |e| format!("{}: {e}", path.display());
    let page = std::fs::read_to_string(&path).map_err(failed)?;
    let page = table::written(&page).ok_or("docs/programs.md has no place for the table")?;
    std::fs::write(&path, page).map_err(failed)
}

/// What is installed for the programs, and where.
pub struct Installed {
    folder: PathBuf,
}

impl Installed {
    pub fn python(&self) -> PathBuf {
        self.folder.join("python/bin/python")
    }

    pub fn pip(&self, packages: &[&str]) -> Result<(), String> {
        if !self.python().exists() {
            provide("the programs", &[VENV])?;
            let mut make = Command::new("python3");
            make.args(["-m", "venv"]).arg(self.folder.join("python"));
            call(make)?;
        }
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "-q", "--disable-pip-version-check"]).args(packages);
        call(pip)
    }

    fn modules(&self) -> PathBuf {
        self.folder.join("npm/node_modules")
    }

    fn install(&self, from: &From) -> Result<(), String> {
        match from {
            From::Pip(packages) => self.pip(packages),
            From::Npm(package, program) => {
                if self.modules().join(program).exists() {
                    return Ok(());
                }
                provide("the programs", &[Need { what: "npm", package: "npm", here: has_program }])?;
                let mut npm = Command::new("npm");
                npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(self.folder.join("npm"));
                call({
                    npm.arg(package);
                    npm
                })
            }
            From::Debian(package) => {
                let here = |what: &str| has_program(if what == "mesa-utils" { "glxinfo" } else { what });
                provide("the programs", &[Need { what: package, package, here }])
            }
        }
    }

    fn command(&self, p: &Program) -> Command {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let script = |name: &str| own.join("programs").join(name);
        let (program, mut arguments, last) = match (&p.start, &p.from) {
            (Start::Script(name), _) => (self.python(), &[][..], Some(script(name))),
            (Start::Packaged(file, arguments), _) => (self.site_packages().join(file), *arguments, None),
            (Start::Npm(arguments, name), From::Npm(_, program)) => {
                (self.modules().join(program), *arguments, Some(script(name)))
            }
            (Start::Npm(..), _) => unreachable!("a program of npm's comes from npm"),
            (Start::System(program, arguments), _) => (program.into(), *arguments, None),
        };
        let mut command = Command::new(program);
        if let [first @ .., "PAGE"] = arguments {
            arguments = first;
            command.arg(format!("--user-data-dir={}", self.folder.join("profile").display()));
            command.args(arguments).arg(format!("file://{}", own.join("pages/webgpu.html").display()));
        } else {
            command.args(arguments).args(last);
        }
        command.envs(p.always.iter().copied());
        command
    }

    fn site_packages(&self) -> PathBuf {
        let lib = self.folder.join("python/lib");
        let versions = std::fs::read_dir(&lib).into_iter().flatten().flatten();
        let found = versions.map(|v| v.path().join("site-packages")).find(|p| p.exists());
        found.unwrap_or(lib)
    }

    /// Whether a program says that it uses Tuff: by what the page says to set, or with the loader's variables alone.
    fn shows(&self, p: &Program, icd: &Path, as_told: bool) -> Result<bool, String> {
        let plain = self.command(p);
        let mut command = Command::new("timeout");
        // What has no display of its own gets one.
        command.arg("120");
        if p.gl {
            provide("the programs", &[Need { what: "xvfb-run", package: "xvfb", here: has_program }])?;
            command.args(["xvfb-run", "-a"]);
        }
        if as_told {
            command.arg(target_folder().join("release/tuff"));
            command.args([if p.gl { "gl" } else { "run" }, "--"]);
            command.envs(p.set.iter().copied());
        }
        command.arg(plain.get_program()).args(plain.get_args());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        on_driver(&mut command, icd).env("TUFF_ICD", icd).stdin(Stdio::null());
        let out = command.output().map_err(|e| format!("{}: {e}", p.name))?;
        let text = [out.stdout, out.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let uses = text.lines().any(|line| p.shows.iter().all(|s| line.contains(s)));
        if as_told && !uses {
            eprintln!("{text}");
        }
        Ok(uses && (out.status.success() || !as_told))
    }
}

//! `cargo xtask arm-layers`: ARM-software/libGPULayers, built outside the checkout and run on Tuff, unmodified. What its
//! layers say of a scene is compared with what the channel says of it (docs/arm-layers.md).

pub mod build;
pub mod compare;
pub mod host;
mod join;
pub mod runs;

use crate::cargo::{call, own_driver, target_folder};
use crate::needs::{CMAKE, GXX, LOADER, NINJA, Need, VENV, has_program, provide};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// A clone of https://github.com/ARM-software/libGPULayers with its submodules.
    #[arg(long)]
    source: PathBuf,
    /// Use the layers that were built before.
    #[arg(long)]
    no_build: bool,
    /// Only layer_gpu_timeline, which builds much faster.
    #[arg(long)]
    timeline_only: bool,
}

const NEEDS: [Need; 6] =
    [CMAKE, NINJA, GXX, Need { what: "python3", package: "python3", here: has_program }, VENV, LOADER];

/// What the generated code of lglpy needs, and Perfetto's schema as it is published.
const PYTHON: [&str; 2] = ["protobuf==7.36.2", "perfetto==0.59.1"];

pub fn run(args: &Args) -> Result<(), String> {
    let hosts = prepare(&args.source)?;
    let folder = folder();
    let driver = own_driver(&folder, &["libmali", "kbase-preload", "arm-scene", "tuff"])?;
    let layers = build::layers(&hosts.source, &folder, args.no_build, args.timeline_only)?;
    let compared = runs::all(&runs::Setting { folder, hosts, driver, layers })?;
    let mut different = Vec::new();
    for c in &compared {
        c.print();
        if !c.same() {
            different.push(c.title.clone());
        }
    }
    println!();
    compared.iter().for_each(|c| println!("{}", c.summary()));
    if different.is_empty() { Ok(()) } else { Err(format!("not equal: {}", different.join(", "))) }
}

/// Where the layers are built and run.
pub fn folder() -> PathBuf {
    target_folder().join("arm-layers")
}

/// What building and running the layers of this clone needs.
pub fn prepare(source: &Path) -> Result<host::Hosts, String> {
    let source = build::source(source)?;
    provide("Arm's layers", &NEEDS)?;
    let python = python(&folder().join("venv"))?;
    Ok(host::Hosts { source, python })
}

/// A Python that has what lglpy imports.
fn python(venv: &Path) -> Result<PathBuf, String> {
    let python = venv.join("bin/python");
    if !python.exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(venv);
        call(make)?;
    }
    let mut has = Command::new(&python);
    has.args(["-c", "import google.protobuf, perfetto"]).stderr(std::process::Stdio::null());
    if !has.status().is_ok_and(|s| s.success()) {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "-q"]).args(PYTHON);
        call(pip)?;
    }
    Ok(python)
}

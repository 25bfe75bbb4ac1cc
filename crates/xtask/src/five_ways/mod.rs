//! `cargo xtask five-ways`: one scene, an OpenGL program on Mesa's zink, measured by every interface that Tuff's counters
//! have: the ledger, our layer by the channel and by VK_KHR_performance_query, GL_AMD_performance_monitor, and Arm's
//! layer_gpu_profile. All must say the same. The table goes to docs/counters.md.

mod table;
mod ways;

use crate::arm_layers;
use crate::arm_layers::compare::Compared;
use crate::cargo::{release, root};
use crate::needs::{has_library, has_zink};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// A clone of https://github.com/ARM-software/libGPULayers with its submodules. Without it, Arm's layer is left out,
    /// and the table is printed but not written.
    #[arg(long)]
    source: Option<PathBuf>,
    /// Use Arm's layer as built before.
    #[arg(long, requires = "source")]
    no_build: bool,
}

/// What the scene needs besides Tuff.
const WHAT: &str = "Mesa's zink (Debian's libgl1-mesa-dri and libegl1)";

pub fn run(args: &Args) -> Result<(), String> {
    if !has_zink() || !has_library("libEGL.so.1") {
        return match args.source {
            Some(_) => Err(format!("five-ways needs {WHAT}")),
            None => {
                not_run::say("one scene measured four ways", WHAT);
                Ok(())
            }
        };
    }
    release(&["icd", "layer-gpu-performance", "perfmon-gl", "kbase-preload"], &[])?;
    // By itself: with an example among them, what the driver's own tests ask of its dependencies would be built into it.
    release(&["perfmon-gl"], &["--example", "perfmon_scene"])?;
    let arm = match &args.source {
        Some(source) => {
            let hosts = arm_layers::prepare(source)?;
            let layer = arm_layers::build::profile(&hosts.source, &arm_layers::folder(), args.no_build)?;
            Some((hosts, layer))
        }
        None => None,
    };
    let measured = ways::all(arm.as_ref())?;
    let compared = measured.compare()?;
    let page = table::page(&measured, &compared);
    println!("\n{page}");
    let different: Vec<_> = compared.iter().filter(|c| !c.same()).map(|c| c.title.as_str()).collect();
    compared.iter().for_each(Compared::print_differences);
    compared.iter().for_each(|c| println!("{}", c.summary()));
    if !different.is_empty() {
        return Err(format!("not equal: {}", different.join(", ")));
    }
    if args.source.is_some() {
        table::put(&root().join("docs/counters.md"), &page)?;
    }
    Ok(())
}

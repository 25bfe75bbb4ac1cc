//! A program of frames whose workloads have labels, which `cargo xtask arm-layers` runs with Arm's layers. It leaves
//! `records.json`, what the channel said of every workload, and `picture.rgba`, what it drew, in the folder that it is
//! given.
//!
//! It uses the commands that Arm's layers know: a blit, a resolve or vkCmdUpdateBuffer is no workload of theirs.

mod legacy;
mod records;
mod scene;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: arm-scene FOLDER");
        return ExitCode::FAILURE;
    };
    match run(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("arm-scene: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> client::Result<()> {
    let context = scene::context()?;
    let channel = channel::Channel::find()
        .ok_or_else(|| client::Error(format!("{} has no channel", context.driver_name)))?;
    let mut reader = channel
        .reader(records::CAPACITY)
        .ok_or_else(|| client::Error("the channel has no memory for a reader".into()))?;
    reader.start();
    let scene = scene::Scene::new(&context)?;
    for frame in 0..scene::FRAMES {
        scene.frame(frame)?;
    }
    let picture = scene.picture()?;
    reader.stop();
    let text = records::json(&channel, &mut reader)?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|e| client::Error(format!("{}: {e}", path.display())))
    };
    write("records.json", text.as_bytes())?;
    write("picture.rgba", &picture)
}

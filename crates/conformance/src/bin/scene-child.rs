//! Draws the scenes named in its arguments (all of them without any) on the driver that the environment shows: a line
//! with name and hash for each good one, a line with what is wrong for each other one; `random:N` and `wild:N` are those of a number. `--png FOLDER` writes each
//! picture there before it is checked.

use conformance::scenes::{random, scenes, wild, write_png};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let mut folder = None;
    if names.first().is_some_and(|n| n == "--png") && names.len() > 1 {
        folder = Some(PathBuf::from(names.remove(1)));
        names.remove(0);
    }
    let context = match client::Context::staged() {
        Ok(c) if c.graphics => c,
        Ok(c) => {
            println!("WRONG all: {} has no queue that draws", c.device_name());
            return ExitCode::FAILURE;
        }
        Err(e) => {
            println!("WRONG all: {e}");
            return ExitCode::FAILURE;
        }
    };
    let mut good = true;
    let numbered = |name: &String| match name.split_once(':')? {
        ("random", n) => Some(random(n.parse().ok()?)),
        ("wild", n) => Some(wild(n.parse().ok()?)),
        _ => None,
    };
    for scene in scenes().into_iter().chain(names.iter().filter_map(numbered)) {
        if !names.is_empty() && !names.iter().any(|n| n == scene.name) {
            continue;
        }
        let drawn = scene.run(&context).map_err(|e| e.to_string());
        let verdict = drawn.and_then(|output| {
            if let Some(folder) = &folder {
                let note = format!("drawn by {} ({})", context.device_name(), context.driver_info);
                let size = [scene.size[0], scene.size[1] * scene.views];
                write_png(&folder.join(format!("{}.png", scene.name)), size, &output.pixels, &note)?;
            }
            scene.check(&output).map(|()| scene.hash(&output))
        });
        match verdict {
            Ok(hash) => println!("{} {hash:016x}", scene.name),
            Err(e) => {
                println!("WRONG {}: {e}", scene.name);
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

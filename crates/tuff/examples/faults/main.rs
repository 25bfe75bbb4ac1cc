//! Small scenes, each with one fault that `tuff advise` knows, or cured of it: `faults SCENE fault|cured`. Without arguments: the scenes' names.

mod scenes;
mod stage;

use client::{Error, Result};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, way] = &arguments[..] else {
        scenes::ALL.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let cured = match &**way {
        "fault" => false,
        "cured" => true,
        _ => return Err(Error(format!("{way}: neither fault nor cured"))),
    };
    let draw = scenes::ALL.iter().find(|(name, _)| name == scene);
    let (_, draw) = draw.ok_or_else(|| Error(format!("no scene is called {scene}")))?;
    draw(&stage::Stage::new()?, cured)
}

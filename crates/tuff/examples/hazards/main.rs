//! Small situations of hazards between commands and of tiles, for `tuff sanitize` and its tests: `hazards NAME fault|twin`, or `hazards`
//! for their names. A twin is the same program without the fault.

mod buffers;
mod graphs;
mod host;
mod images;
mod passes;
mod protection;
mod queues;
mod rays;
mod tiles;
mod world;

use client::{Error, Result};
use world::World;

/// A name, and what it does; true: with the fault.
type Situation = (&'static str, fn(&mut World, bool) -> Result<()>);

fn all() -> impl Iterator<Item = &'static Situation> {
    let plain = [buffers::ALL, images::ALL, passes::ALL, queues::ALL, host::ALL, rays::ALL, graphs::ALL];
    plain.into_iter().chain([protection::ALL, tiles::ALL]).flatten()
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, variant] = &arguments[..] else {
        all().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let run = all().find(|(n, _)| n == name).ok_or_else(|| Error(format!("{name} is none")))?.1;
    let mut world = World::open()?;
    run(&mut world, variant == "fault")?;
    world.end()
}

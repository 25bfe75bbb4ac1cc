//! `cargo xtask samples`: Sascha Willems' examples (https://github.com/SaschaWillems/Vulkan), built outside the checkout, drawn
//! on Tuff and its peers without a screen, and compared picture by picture.
//!
//! Every example runs in its benchmark mode, where its clock stands still and nothing is random, and
//! `crates/frame-preload` keeps one of its frames: the same on every driver. What the table `samples.toml` says of an
//! example, it says with its reason.

mod build;
mod messages;
mod resources;
mod run;
mod table;
mod texture;
mod times;

use crate::cargo::{own_driver, target_folder};
use crate::needs::{CMAKE, GXX, LOADER, NINJA, Need, lavapipe, provide};
use run::{Driver, Example, Outcome};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// A clone of https://github.com/SaschaWillems/Vulkan with its submodules.
    #[arg(long)]
    source: PathBuf,
    /// Use the examples that were built before.
    #[arg(long)]
    no_build: bool,
    /// The drivers: names, or names with ICD files, as in `tuff,lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json`. The
    /// first is the one under test.
    #[arg(long, value_delimiter = ',', default_value = "tuff,lavapipe")]
    drivers: Vec<String>,
    /// Only these examples (comma-separated).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Not these examples.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Which frame is compared, from 1.
    #[arg(long, default_value_t = 4)]
    frame: u32,
    /// With validation layers: what they say is listed, and what they say of the first driver alone is a failure.
    #[arg(long)]
    validation: bool,
    /// A command that runs each example: its words come first (a chroot with newer layers).
    #[arg(long, value_delimiter = ' ')]
    through: Vec<String>,
    /// Keep the pictures, and those of the differences, in this folder.
    #[arg(long)]
    save: Option<PathBuf>,
    /// Compare CPU time instead of pictures: so many frames of each example, on one thread, in alternating rounds.
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..))]
    times: Option<u32>,
    /// Write the table of times as a page (docs/samples-times.md).
    #[arg(long, requires = "times")]
    page: Option<PathBuf>,
}

const NEEDS: [Need; 4] = [CMAKE, NINJA, GXX, LOADER];

/// Where examples are built and run.
fn folder() -> PathBuf {
    target_folder().join("samples")
}

pub fn run(args: &Args) -> Result<(), String> {
    let source = build::source(&args.source)?;
    provide("the examples", &NEEDS)?;
    let own = own_driver(&folder(), &["frame-preload"])?;
    let drivers = args.drivers.iter().map(|d| driver(d, &own)).collect::<Result<Vec<_>, _>>()?;
    let table = table::Table::read()?;
    let names = table.chosen(&build::names(&source)?, &args.only, &args.without)?;
    let programs = build::examples(&source, &folder().join("build"), &names, args.no_build)?;
    let resources = resources::gather(&source, &folder().join("resources"))?;
    if let Some(frames) = args.times {
        return times::compare(args, frames, &names, &table, &programs, &resources, &drivers);
    }
    let mut lines = Lines::new(&drivers);
    for name in &names {
        let program = programs.join(name);
        if !program.exists() {
            lines.not_built(name);
            continue;
        }
        let row = table.row(name);
        let otherwise = row.otherwise.iter().map(|o| (format!("{name} otherwise"), &**o));
        for (name, row) in [(name.clone(), &row)].into_iter().chain(otherwise) {
            let example = Example { program: &program, resources: &resources, row };
            let runs = drivers.iter().map(|d| example.run(d, args));
            let runs = runs.collect::<Result<Vec<_>, _>>()?;
            if let Some(folder) = &args.save {
                save(folder, &name, &drivers, &runs)?;
            }
            lines.add(&name, row, &runs);
        }
    }
    lines.end(args.validation)
}

/// A driver of the command line: `name` or `name=ICD file`.
fn driver(word: &str, own: &Path) -> Result<Driver, String> {
    let (name, icd) = match word.split_once('=') {
        Some((name, icd)) => (name, std::path::absolute(icd).map_err(|e| format!("{icd}: {e}"))?),
        None if word == "tuff" => (word, own.into()),
        None if word == "lavapipe" => (word, lavapipe().ok_or("no lavapipe (Debian's mesa-vulkan-drivers)")?),
        None => return Err(format!("{word}: say where its ICD file is: {word}=FILE")),
    };
    Ok(Driver { name: name.into(), icd })
}

fn save(folder: &Path, name: &str, drivers: &[Driver], runs: &[Outcome]) -> Result<(), String> {
    let write = |file: String, bytes: Vec<u8>| {
        let path = folder.join(file);
        std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let first = runs.first().and_then(|r| r.picture.as_ref());
    for (i, (driver, run)) in drivers.iter().zip(runs).enumerate() {
        let Some(picture) = &run.picture else { continue };
        write(format!("{name}.{}.ppm", driver.name), picture.file())?;
        if let Some(difference) = first.filter(|_| i > 0).and_then(|f| f.shown_beside(picture)) {
            write(format!("{name}.{}-{}.ppm", drivers[0].name, driver.name), difference.file())?;
        }
    }
    Ok(())
}

/// What is printed: a line an example, then what was wrong.
struct Lines {
    drivers: Vec<String>,
    wrong: Vec<String>,
    /// Examples by what became of them.
    equal: usize,
    refused: usize,
    messages: messages::All,
}

impl Lines {
    fn new(drivers: &[Driver]) -> Lines {
        let drivers: Vec<_> = drivers.iter().map(|d| d.name.clone()).collect();
        print!("\n{:42}", "example");
        drivers.iter().for_each(|d| print!("{:>14}", format!("{d}, s")));
        drivers[1..].iter().for_each(|d| print!("{:>34}", format!("beside {d}: pixels, most")));
        println!("  remarks");
        Lines { drivers, wrong: vec![], equal: 0, refused: 0, messages: Default::default() }
    }

    fn not_built(&mut self, name: &str) {
        println!("{name:42} not built");
        self.wrong.push(format!("{name}: not built"));
    }

    fn add(&mut self, name: &str, row: &table::Row, runs: &[Outcome]) {
        print!("{name:42}");
        for run in runs {
            let word = if run.good() { format!("{:.2}", run.seconds) } else { "-".into() };
            print!("{word:>14}");
        }
        let mut remarks = vec![];
        let own = &runs[0];
        for (peer, run) in self.drivers[1..].iter().zip(&runs[1..]) {
            let judged = run::judge(own, run, row);
            print!("{:>34}", judged.words);
            remarks.extend(judged.wrong.iter().map(|w| format!("beside {peer}: {w}")));
        }
        // What no driver can do, and what the table says that it refuses, is no fault.
        let refused = !own.good() && (row.refused.is_some() || runs.iter().all(|r| !r.good()));
        match &row.refused {
            Some(words) if !own.said.contains(words) => {
                remarks.push(format!("{} does not say \"{words}\"", self.drivers[0]))
            }
            None if !own.good() && !refused => {
                remarks.push(format!("{}: {}", self.drivers[0], own.last_words()))
            }
            _ => {}
        }
        let notes = runs.iter().zip(&self.drivers).filter(|(r, _)| !r.good());
        let notes: Vec<_> = notes.map(|(r, d)| format!("{d} says: {}", r.last_words())).collect();
        let reason = row.reason.iter().cloned();
        println!("  {}", remarks.iter().cloned().chain(notes).chain(reason).collect::<Vec<_>>().join("; "));
        self.refused += usize::from(refused);
        self.equal += usize::from(remarks.is_empty() && !refused);
        self.wrong.extend(remarks.into_iter().map(|r| format!("{name}: {r}")));
        for (driver, run) in self.drivers.iter().zip(runs) {
            self.messages.add(name, driver, &run.said);
        }
    }

    fn end(mut self, validation: bool) -> Result<(), String> {
        println!("\nxtask: {} as they should be, {} not for this driver", self.equal, self.refused);
        if validation {
            self.messages.print();
            let own = self.messages.of_one_alone(&self.drivers[0]);
            self.wrong.extend(own.into_iter().map(|m| format!("{} alone: {m}", self.drivers[0])));
        }
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.join("\n       ")) }
    }
}

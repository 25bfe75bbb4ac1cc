//! The city, path traced: times, the picture, and what each bounce costs the modelled GPU's ray tracing unit.

use super::city::{agreement, ask};
use super::{Args, command, draw_bars, voice};
use crate::city::paths::{BOUNCES, RESOLVE, SAMPLES, SIZE};
use crate::city::{Answer, Ask};
use crate::picture::Picture;
use client::drivers::{self, Driver, Threads};
use client::session::Voice;
use client::{Error, Result};
use std::io::IsTerminal;
use std::time::Duration;

/// Seconds of one driver, and what it traced.
struct Figures {
    build: f64,
    one: f64,
    all: f64,
    rays: Vec<[u32; 2]>,
    rgba: Vec<u8>,
}

fn traced(voice: &mut Voice, driver: &Driver) -> Result<(Answer, Vec<u8>)> {
    let path = client::scratch(&format!("paths-{}", driver.name))?;
    let answer = ask(voice, &Ask::Paths { size: SIZE, rgba: path.clone() });
    let rgba = std::fs::read(&path).map_err(|e| Error::file(&path, e));
    let _ = std::fs::remove_file(&path);
    Ok((answer?, rgba?))
}

fn measure(driver: &Driver) -> Result<Figures> {
    let (one, _) = traced(&mut voice(driver, Threads::Count(1))?, driver)?;
    let (all, rgba) = traced(&mut voice(driver, Threads::All)?, driver)?;
    match (one, all) {
        (Answer::Traced { build, picture, rays }, Answer::Traced { picture: all, .. }) => {
            Ok(Figures { build: build[1], one: picture[1], all: all[0], rays, rgba })
        }
        other => Err(Error(format!("unexpected answer {other:?}"))),
    }
}

/// A row of the table by bounce.
pub struct Cost {
    pub name: String,
    /// Rays in all, and those to the sun; `None`: it traces none.
    pub rays: Option<[u32; 2]>,
    pub boxes: u64,
    pub triangles: u64,
    /// Nodes that at least 13 of a warp's 16 rays visit together.
    full: u64,
    nanoseconds: u64,
}

impl Cost {
    pub fn full_percent(&self) -> f64 {
        self.full as f64 / (self.boxes + self.triangles).max(1) as f64 * 100.0
    }
    pub fn milliseconds(&self) -> f64 {
        self.nanoseconds as f64 / 1e6
    }
}

/// The workload that has this label in a file of counters.
fn cost(file: &serde_json::Value, label: &str, rays: Option<[u32; 2]>) -> Option<Cost> {
    let all = file["workloads"].as_array()?;
    let found = all.iter().find(|w| w["label"].as_str().is_some_and(|l| l.contains(label)))?;
    let count = |name: String| found["counters"][name].as_u64().unwrap_or(0);
    let nodes = |kind| [1, 5, 9, 13].map(|n| count(format!("MaliRTU{kind}Bin{n}")));
    let (boxes, triangles) = (nodes("Box"), nodes("Tri"));
    Some(Cost {
        name: label.into(),
        rays,
        boxes: boxes.iter().sum(),
        triangles: triangles.iter().sum(),
        full: boxes[3] + triangles[3],
        nanoseconds: found["elapsed_ns"].as_u64()?,
    })
}

/// What each bounce and the last step cost, by a file of counters. `rays`: of paths and to the sun, by bounce.
pub fn by_bounce(file: &serde_json::Value, rays: &[[u32; 2]]) -> Result<Vec<Cost>> {
    let bounces = BOUNCES.iter().zip(rays).map(|(label, [paths, sun])| (*label, Some([paths + sun, *sun])));
    let all = bounces.chain([(RESOLVE, None)]).map(|(label, rays)| {
        let label = label.to_string_lossy();
        cost(file, &label, rays).ok_or_else(|| Error(format!("no counters of '{label}'")))
    });
    all.collect()
}

/// Traces the picture once more, counted, and prints what each bounce costs.
fn costs(driver: &Driver, rays: &[[u32; 2]]) -> Result<()> {
    let path = client::scratch("paths-counters.json")?;
    let mut command = command()?;
    command.env("TUFF_COUNTERS", &path);
    // Its end writes the file.
    traced(&mut Voice::start(command, driver, Threads::All, Duration::from_secs(120))?, driver)?;
    let file = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
    let _ = std::fs::remove_file(&path);
    let file: serde_json::Value = serde_json::from_slice(&file).map_err(|e| Error::file(&path, e))?;
    println!(
        "Cost by bounce, as the modelled GPU counts it (nodes: visits by a warp of 16 rays; full: the share by 13 or more of them)\n"
    );
    println!(
        "{:16} {:>9} {:>11} {:>11} {:>15} {:>6} {:>9}",
        "", "rays", "to the sun", "box nodes", "triangle nodes", "full", "time, ms"
    );
    for c in by_bounce(&file, rays)? {
        let (name, time) = (&c.name, c.milliseconds());
        match c.rays {
            Some([rays, sun]) => println!(
                "{name:16} {rays:>9} {sun:>11} {:>11} {:>15} {:>4.0} % {time:>9.2}",
                c.boxes,
                c.triangles,
                c.full_percent(),
            ),
            None => {
                println!("{name:16} {:>9} {:>11} {:>11} {:>15} {:>6} {time:>9.2}\n", "", "", "", "", "");
            }
        }
    }
    Ok(())
}

pub fn run(args: &Args) -> Result<()> {
    let (drivers, absent) = drivers::all();
    let [width, height] = SIZE;
    println!(
        "The same city, path traced at {width}×{height} by a ray tracing pipeline: {SAMPLES} paths a pixel, up to {} bounces, each with a ray to the sun.\n",
        BOUNCES.len() - 1
    );
    println!("{:12} {:>16} {:>20} {:>20}", "", "structure,", "create + picture,", "create + picture,");
    println!("{:12} {:>16} {:>20} {:>20}", "", "ms (CPU)", "1 thread, ms (CPU)", "all, ms (wall)");
    let mut own: Option<Figures> = None;
    let mut lines = Vec::new();
    let mut bars = Vec::new();
    for driver in &drivers {
        match measure(driver) {
            Ok(f) => {
                let cell = |of: fn(&Figures) -> f64| match &own {
                    Some(o) => format!("{:.1} ({:.1}×)", of(&f) * 1e3, of(&f) / of(o)),
                    None => format!("{:.1}", of(&f) * 1e3),
                };
                let cells = (cell(|f| f.build), cell(|f| f.one), cell(|f| f.all));
                println!("{:12} {:>16} {:>20} {:>20}", driver.name, cells.0, cells.1, cells.2);
                bars.push((driver.name.clone(), f.one, f.all));
                match &own {
                    None => own = Some(f),
                    Some(o) => lines.push(format!("{}: {}", driver.name, agreement(&o.rgba, &f.rgba))),
                }
            }
            // A model without a ray tracing unit has no rays, as a peer may have none.
            Err(Error(e)) if e.contains(client::pictures::MISSING) => {
                println!("{:12} has no ray tracing ({e})", driver.name);
                if own.is_none() {
                    println!();
                    return Ok(());
                }
            }
            Err(e) if own.is_none() => return Err(Error(format!("{}: {e}", driver.name))),
            Err(e) => println!("{:12} {e}", driver.name),
        }
    }
    absent.iter().for_each(|name| println!("{name:12} not installed"));
    let Some(own) = own else { return Err(Error("no driver".into())) };
    println!("(in brackets: the peer's time over Tuff's)\n");
    lines.iter().for_each(|line| println!("{line}"));
    draw_bars("picture, 1 thread", bars.iter().map(|(n, one, _)| (n, *one)));
    draw_bars("picture, all threads", bars.iter().map(|(n, _, all)| (n, *all)));
    println!();
    match std::env::var_os("TUFF_COUNTERS") {
        // Whoever counts the demo gets the counters.
        Some(_) => {}
        None => costs(&drivers[0], &own.rays)?,
    }
    let picture = Picture { width: width as usize, height: height as usize, rgba: own.rgba };
    let path = args.path("-paths");
    picture.write_png(&path).map_err(Error)?;
    if args.columns > 0 {
        let colours = std::io::stdout().is_terminal();
        println!("{}", if colours { picture.ansi(args.columns) } else { picture.ascii(args.columns) });
    }
    println!("The picture: {}\n", path.display());
    Ok(())
}

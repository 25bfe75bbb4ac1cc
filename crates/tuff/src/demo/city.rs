//! The city's part of the demo: times, the picture, how it agrees with the peers', and the heat map.

use super::{Args, draw_bars, heat, voice};
use crate::city::{Answer, Ask, CELL, COUNTER, SIZE};
use crate::picture::Picture;
use client::drivers::{self, Driver, Threads};
use client::measure::min;
use client::session::{self, Request, Voice};
use client::{Error, Result};
use std::io::IsTerminal;

/// Best times of one driver in seconds, and what it drew.
struct Figures {
    first: f64,
    one: f64,
    all: f64,
    triangles: u32,
    rgba: Vec<u8>,
    counts: Vec<u32>,
}

pub(super) fn ask(voice: &mut Voice, ask: &Ask) -> Result<Answer> {
    let value = serde_json::to_value(ask).map_err(|e| Error(e.to_string()))?;
    match voice.ask(&Request::Own(value)).map_err(Error)? {
        session::Answer::Own(value) => serde_json::from_value(value).map_err(|e| Error(e.to_string())),
        other => Err(Error(format!("unexpected answer {other:?}"))),
    }
}

/// Wall and CPU seconds.
fn span(answer: Answer) -> Result<(f64, f64)> {
    match answer {
        Answer::Span { wall, cpu } => Ok((wall, cpu)),
        other => Err(Error(format!("unexpected answer {other:?}"))),
    }
}

fn measure(driver: &Driver, rounds: usize) -> Result<Figures> {
    let mut one = voice(driver, Threads::Count(1))?;
    let mut all = voice(driver, Threads::All)?;
    let first = span(ask(&mut one, &Ask::First)?)?.1;
    let (mut ones, mut alls) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let frames = Ask::Frames { budget_ms: 100 };
        ones.push(span(ask(&mut one, &frames)?)?.1);
        alls.push(span(ask(&mut all, &frames)?)?.0);
    }
    let file = |what: &str| client::scratch(&format!("city-{}-{what}", driver.name));
    let (rgba, heat) = (file("rgba")?, file("heat")?);
    let drawn = ask(&mut all, &Ask::Picture { rgba: rgba.clone(), heat: heat.clone() });
    let read = |path: &std::path::PathBuf| {
        let bytes = std::fs::read(path).map_err(|e| Error(format!("{}: {e}", path.display())));
        let _ = std::fs::remove_file(path);
        bytes
    };
    let (rgba, heat) = (read(&rgba), read(&heat));
    let Answer::Drawn { triangles } = drawn? else { return Err(Error("no picture".into())) };
    let counts = heat?.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    Ok(Figures { first, one: min(&ones), all: min(&alls), triangles, rgba: rgba?, counts })
}

/// Share of pixels that differ by more than 16 of 255 in a channel: edges and levels may, a little.
pub(super) fn agreement(own: &[u8], peer: &[u8]) -> String {
    let far = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 16);
    let pixels = own.len() / 4;
    let different = own.chunks_exact(4).zip(peer.chunks_exact(4)).filter(far).count();
    let share = different as f64 / pixels as f64 * 100.0;
    let verdict =
        if own.len() == peer.len() && share < 1.0 { "the same picture" } else { "a DIFFERENT picture" };
    format!("{verdict} as Tuff's: {share:.3} % of pixels differ by more than 16 of 255")
}

pub fn run(args: &Args) -> Result<()> {
    let (drivers, absent) = drivers::all();
    let [width, height] = SIZE;
    println!(
        "A city by the sea, {width}×{height}: a 2048² shadow pass, then lit, textured and shadowed with 4 samples.\n"
    );
    println!("{:12} {:>20} {:>18} {:>20}", "", "create + first", "frame, 1 thread", "frame, all threads");
    println!("{:12} {:>20} {:>18} {:>20}", "", "frame, ms (CPU)", "ms (CPU)", "ms (wall)");
    let mut own: Option<Figures> = None;
    let mut lines = Vec::new();
    let mut bars = Vec::new();
    for driver in &drivers {
        match measure(driver, args.rounds.max(1)) {
            Ok(f) => {
                let cell = |of: fn(&Figures) -> f64| match &own {
                    Some(o) => format!("{:.1} ({:.2}×)", of(&f) * 1e3, of(&f) / of(o)),
                    None => format!("{:.1}", of(&f) * 1e3),
                };
                let cells = (cell(|f| f.first), cell(|f| f.one), cell(|f| f.all));
                println!("{:12} {:>20} {:>18} {:>20}", driver.name, cells.0, cells.1, cells.2);
                bars.push((driver.name.clone(), f.one, f.all));
                match &own {
                    None => own = Some(f),
                    Some(o) => lines.push(format!("{}: {}", driver.name, agreement(&o.rgba, &f.rgba))),
                }
            }
            // Peers are company; without Tuff there is no demo.
            Err(e) if own.is_none() => return Err(Error(format!("{}: {e}", driver.name))),
            Err(e) => println!("{:12} {e}", driver.name),
        }
    }
    absent.iter().for_each(|name| println!("{name:12} not installed"));
    let Some(own) = own else { return Err(Error("no driver".into())) };
    println!(
        "(in brackets: the peer's time over Tuff's; {} triangles in each of the two passes)\n",
        own.triangles
    );
    lines.iter().for_each(|line| println!("{line}"));
    draw_bars("frame, 1 thread", bars.iter().map(|(n, one, _)| (n, *one)));
    draw_bars("frame, all threads", bars.iter().map(|(n, _, all)| (n, *all)));
    let picture = Picture { width: width as usize, height: height as usize, rgba: own.rgba };
    show(args, &picture, &own.counts)
}

/// Writes picture and heat map, draws them small.
fn show(args: &Args, picture: &Picture, counts: &[u32]) -> Result<()> {
    let path = args.path("");
    picture.write_png(&path).map_err(Error)?;
    let colours = std::io::stdout().is_terminal();
    if args.columns > 0 {
        println!("\n{}", if colours { picture.ansi(args.columns) } else { picture.ascii(args.columns) });
    }
    println!("The picture: {}\n", path.display());
    let map = heat::map(counts, picture);
    let path = args.path("-heat");
    map.write_png(&path).map_err(Error)?;
    let mean = counts.iter().map(|c| f64::from(*c)).sum::<f64>() / counts.len() as f64;
    let most = counts.iter().copied().max().unwrap_or(0);
    println!(
        "Tile cost: '{COUNTER}' of the main pass in each region of {CELL}×{CELL} pixels, as the driver counts them\n\
         (VK_ARM_performance_counters_by_region). Mean {mean:.0}, most {most}."
    );
    if args.columns > 0 {
        println!("{}", if colours { map.ansi(args.columns) } else { heat::text(counts) });
    }
    println!("The heat map: {}\n", path.display());
    Ok(())
}

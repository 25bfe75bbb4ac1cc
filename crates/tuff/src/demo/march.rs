//! The march kernel draws a noisy ball by ray marching.

use super::{Args, ask, device, draw_bars, voice};
use crate::picture::Picture;
use client::drivers::{self, Driver, Threads};
use client::kernels::{self, MARCH_SIDE};
use client::measure::min;
use client::session::{Answer, Request};
use std::io::IsTerminal;

const KERNEL: &str = "march";

/// Best times of one driver in seconds.
struct Figures {
    device: String,
    create: f64,
    one: f64,
    all: f64,
    /// The output, four 8-bit channels a word.
    words: Vec<u32>,
}

pub fn run(args: &Args) -> client::Result<()> {
    let (drivers, absent) = drivers::all();
    let side = MARCH_SIDE as usize;
    println!("A noisy ball, ray marched by a compute shader at {side}×{side}.\n");
    println!("{:12} {:>20} {:>16} {:>18}", "", "create + first", "run, 1 thread", "run, all threads");
    println!("{:12} {:>20} {:>16} {:>18}", "", "dispatch, ms (CPU)", "ms (CPU)", "ms (wall)");
    let mut own: Option<Figures> = None;
    let mut devices = Vec::new();
    let mut bars = Vec::new();
    for driver in &drivers {
        match measure(driver, args.rounds.max(1)) {
            Ok(f) => {
                let cell = |of: fn(&Figures) -> f64, digits: usize| match &own {
                    Some(o) => format!("{:.digits$} ({:.1}×)", of(&f) * 1e3, of(&f) / of(o)),
                    None => format!("{:.digits$}", of(&f) * 1e3),
                };
                let (create, one, all) = (cell(|f| f.create, 2), cell(|f| f.one, 1), cell(|f| f.all, 1));
                println!("{:12} {create:>20} {one:>16} {all:>18}", driver.name);
                devices.push(format!("{}: {}", driver.name, f.device));
                bars.push((driver.name.clone(), f.create, f.one, f.all));
                match &own {
                    None => own = Some(f),
                    Some(o) => devices.push(agreement(driver, &o.words, &f.words)),
                }
            }
            // Peers are company; without Tuff there is no demo.
            Err(e) if own.is_none() => return Err(client::Error(format!("{}: {e}", driver.name))),
            Err(e) => println!("{:12} {e}", driver.name),
        }
    }
    absent.iter().for_each(|name| println!("{name:12} not installed"));
    println!("(in brackets: the peer's time over Tuff's)\n");
    devices.iter().for_each(|line| println!("{line}"));
    draw_bars("create + first dispatch", bars.iter().map(|(n, create, _, _)| (n, *create)));
    draw_bars("run, 1 thread", bars.iter().map(|(n, _, one, _)| (n, *one)));
    draw_bars("run, all threads", bars.iter().map(|(n, _, _, all)| (n, *all)));

    let words = own.map(|f| f.words).unwrap_or_default();
    let rgba = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    // The shader's y grows upwards.
    let picture = Picture { width: side, height: side, rgba }.flipped();
    let path = args.path("-march");
    picture.write_png(&path).map_err(client::Error)?;
    if args.columns > 0 {
        let colours = std::io::stdout().is_terminal();
        println!("\n{}", if colours { picture.ansi(args.columns) } else { picture.ascii(args.columns) });
    }
    println!("The picture: {}", path.display());
    Ok(())
}

fn agreement(driver: &Driver, own: &[u32], peer: &[u32]) -> String {
    let d = kernels::Output::Rgba8.compare(own, peer);
    let verdict = if d.equal { "the same picture" } else { "a DIFFERENT picture" };
    let share = d.share * 100.0;
    format!("  {verdict} as Tuff's: {share:.3} % of pixels differ by more than 2 of 255 ({})", driver.name)
}

fn measure(driver: &Driver, rounds: usize) -> client::Result<Figures> {
    let device = device(driver)?;
    let create = Request::Create { kernel: KERNEL.into() };
    let mut creates = Vec::new();
    for _ in 0..rounds.min(3) {
        creates.push(span(ask(driver, Threads::Count(1), &create)?)?.1);
    }
    let mut one = voice(driver, Threads::Count(1))?;
    let mut all = voice(driver, Threads::All)?;
    let time = Request::Time { kernel: KERNEL.into(), budget_ms: 100 };
    let (mut ones, mut alls) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ones.push(span(one.ask(&time).map_err(client::Error)?)?.1);
        alls.push(span(all.ask(&time).map_err(client::Error)?)?.0);
    }
    let path = client::scratch(&format!("march-{}", driver.name))?;
    all.ask(&Request::Output { kernel: KERNEL.into(), path: path.clone() }).map_err(client::Error)?;
    let bytes = std::fs::read(&path).map_err(|e| client::Error(format!("{}: {e}", path.display())));
    let _ = std::fs::remove_file(&path);
    let words = bytes?.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    Ok(Figures { device, create: min(&creates), one: min(&ones), all: min(&alls), words })
}

/// Wall and CPU seconds of an answer.
fn span(answer: Answer) -> client::Result<(f64, f64)> {
    match answer {
        Answer::Span { wall, cpu } => Ok((wall, cpu)),
        other => Err(client::Error(format!("unexpected answer {other:?}"))),
    }
}

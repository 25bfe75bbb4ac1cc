//! `tuff overhead`: what the GPU Performance layer costs a program, in CPU time of the city's frames.

use crate::city::{Answer, Ask};
use client::drivers::{Driver, LAYER, Threads, layer_folder, tuff_icd};
use client::session::{self, Request, Voice};
use client::{Error, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tuff overhead
  tuff overhead --rounds 3 --budget 1000 --limit 10")]
pub struct Args {
    /// Rounds, each without and with the layer; the best of each counts.
    #[arg(long, default_value_t = 8)]
    rounds: usize,
    /// Milliseconds of drawing per round.
    #[arg(long, default_value_t = 3000)]
    budget: u64,
    /// Maximum overhead of the layer, in percent of a frame's time.
    #[arg(long, default_value_t = 5.0)]
    limit: f64,
}

/// A child that draws, with the layer, whose rows go to this file, or without.
fn start(layer: Option<&Path>) -> Result<Voice> {
    let driver = Driver { name: "tuff".into(), icd: tuff_icd() };
    let mut command = Command::new(std::env::current_exe().map_err(|e| Error(e.to_string()))?);
    command.arg("child").env_remove("VK_INSTANCE_LAYERS");
    if let Some(csv) = layer {
        command
            .env("VK_LAYER_PATH", layer_folder()?)
            .env("VK_INSTANCE_LAYERS", LAYER)
            .env("VK_LOADER_LAYERS_ENABLE", LAYER)
            .env("TUFF_PERFORMANCE_SERIALISE", "0")
            .env("TUFF_PERFORMANCE_MODE", "time")
            .env("TUFF_PERFORMANCE_TABLE", "off")
            .env("TUFF_PERFORMANCE_CSV", csv);
    }
    Voice::start(command, &driver, Threads::Count(1), Duration::from_secs(120))
}

fn ask(voice: &mut Voice, ask: Ask) -> Result<(f64, f64)> {
    let value = serde_json::to_value(ask).map_err(|e| Error(e.to_string()))?;
    let session::Answer::Own(value) = voice.ask(&Request::Own(value)).map_err(Error)? else {
        return Err(Error("an unexpected answer".into()));
    };
    match serde_json::from_value(value).map_err(|e| Error(e.to_string()))? {
        Answer::Span { wall, cpu } => Ok((wall, cpu)),
        Answer::Drawn { .. } | Answer::Traced { .. } => Err(Error("an unexpected answer".into())),
    }
}

/// Prints both and the difference; an error above the limit.
pub fn run(args: &Args) -> Result<()> {
    let csv = client::scratch("overhead.csv")?;
    let mut voices = [start(None)?, start(Some(&csv))?];
    for v in &mut voices {
        ask(v, Ask::First)?;
    }
    if !csv.exists() {
        return Err(Error("the loader has not loaded the layer".into()));
    }
    let mut least = [f64::INFINITY; 2];
    for _ in 0..args.rounds.max(1) {
        for (v, least) in voices.iter_mut().zip(&mut least) {
            let (_, cpu) = ask(v, Ask::Frames { budget_ms: args.budget })?;
            *least = least.min(cpu);
        }
    }
    drop(voices);
    let _ = std::fs::remove_file(&csv);
    let [without, with] = least;
    let percent = 100.0 * (with / without - 1.0);
    println!(
        "{:.3} ms of CPU time a frame without the layer, {:.3} ms with it: {percent:+.2} %",
        without * 1e3,
        with * 1e3
    );
    if percent <= args.limit { Ok(()) } else { Err(Error(format!("more than {} %", args.limit))) }
}

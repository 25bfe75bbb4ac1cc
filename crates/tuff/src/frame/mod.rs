//! `tuff frame`: a recorded frame as one page to step through, or a pixel's history as text (docs/frame.md).

mod changes;
mod data;
mod fragments;
mod page;
mod pixel;
mod pool;
mod shaders;
mod spirv;
mod tiles;
mod value;

pub use data::FOLDER;

use client::{Error, Result};
use data::Recorded;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff run --frame 10 --capture cube -- vkcube --c 20
  tuff frame cube                                 writes cube.frame.html
  tuff frame cube -o frame.html --limit 20        at most 20 MB
  tuff frame cube --pixel 120,80                  what happened to a pixel, fragment by fragment")]
pub struct Args {
    /// A folder from `run --capture` with `--frame`.
    capture: PathBuf,
    /// The page; default: the capture's name with `.frame.html`.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Print the history of a pixel instead: column and row.
    #[arg(long, value_name = "X,Y", value_parser = position, conflicts_with = "output")]
    pixel: Option<[i64; 2]>,
    /// Print it as JSON.
    #[arg(long, requires = "pixel")]
    json: bool,
    /// Size of the page in MB, at most: what is left out is said there.
    #[arg(long, default_value = "50", value_name = "MB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    limit: u32,
    /// Which of a program's processes, from 1 on.
    #[arg(long, default_value = "1", value_name = "N")]
    process: usize,
}

fn position(text: &str) -> std::result::Result<[i64; 2], String> {
    let both = text.split_once(',').and_then(|(x, y)| Some([x.trim().parse().ok()?, y.trim().parse().ok()?]));
    both.ok_or_else(|| "two numbers with a comma between them, as 120,80".into())
}

pub fn run(args: &Args) -> Result<()> {
    let recorded = Recorded::open(&args.capture, args.process)?;
    if let Some(at) = args.pixel {
        let (events, missing) = pixel::history(&recorded, at)?;
        if missing > 0 {
            eprintln!(
                "tuff: {missing} streams of the pixel's tiles were not recorded: TUFF_FRAME_MIB was reached"
            );
        }
        match args.json {
            true => println!("{}", serde_json::to_string(&events).map_err(|e| Error(e.to_string()))?),
            false => print!("{}", pixel::text(&recorded, &events)),
        }
        return Ok(());
    }
    let title = args.capture.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let to = args.output.clone().unwrap_or_else(|| args.capture.with_extension("frame.html"));
    let page = page::page(&recorded, &title, args.limit as usize * 1_000_000)?;
    if page.len() > args.limit as usize * 1_000_000 {
        let mb = page.len().div_ceil(1_000_000);
        eprintln!("tuff: the page has {mb} MB, and nothing more could be left out");
    }
    std::fs::write(&to, page).map_err(|e| Error::file(&to, e))?;
    eprintln!("tuff: {}", to.display());
    Ok(())
}

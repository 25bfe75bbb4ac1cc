//! `tuff demo`: a city drawn with triangles and path traced, and a ball ray marched by a compute shader, on Tuff and on
//! the installed peers. Every driver runs in a child process of its own, through the Vulkan loader, or without one by loading the
//! driver itself. It ends with a page of what that cost (`tuff report`).

mod city;
mod heat;
mod march;
mod page;
mod paths;

use client::drivers::{Driver, Threads};
use client::session::{Answer, Request, Voice};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tuff demo
  tuff demo --only paths
  tuff demo --only city --rounds 1 --out /tmp/city.png --columns 0")]
pub struct Args {
    /// Output file for the city's picture; the others go to the same folder. Default: tuff-demo.png in the target folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Rounds of each timing; the best one counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Width of the thumbnail in characters; 0 for none.
    #[arg(long, default_value_t = 64)]
    columns: usize,
    /// Only one part: city, paths, march or page.
    #[arg(long)]
    only: Option<String>,
}

impl Args {
    /// The picture's path, with `what` before the extension.
    fn path(&self, what: &str) -> PathBuf {
        let path = self.out.clone().unwrap_or_else(default_path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        path.with_file_name(format!("{stem}{what}.png"))
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|o| o == part)
    }
}

pub fn run(args: &Args) -> client::Result<()> {
    if client::Library::loader().is_err() {
        println!("No Vulkan loader on this machine: each driver's library is loaded directly.\n");
    }
    if args.wants("city") {
        city::run(args)?;
    }
    if args.wants("paths") {
        paths::run(args)?;
    }
    if args.wants("march") {
        march::run(args)?;
    }
    if args.wants("page") {
        page::run(args)?;
    }
    Ok(())
}

/// A bar a driver, the longest time the whole width.
fn draw_bars<'a>(title: &str, times: impl Iterator<Item = (&'a String, f64)> + Clone) {
    const WIDTH: f64 = 50.0;
    let longest = times.clone().map(|(_, t)| t).fold(0.0, f64::max);
    println!("\n{title}");
    for (name, time) in times {
        let length = (time / longest * WIDTH).round().max(1.0) as usize;
        println!("  {name:12} {} {:.2} ms", "█".repeat(length), time * 1e3);
    }
}

fn voice(driver: &Driver, threads: Threads) -> client::Result<Voice> {
    Voice::start(command()?, driver, threads, Duration::from_secs(120))
}

/// This program as a child.
fn command() -> client::Result<Command> {
    let this = std::env::current_exe().map_err(|e| client::Error(format!("own path: {e}")))?;
    let mut command = Command::new(this);
    command.arg("child");
    Ok(command)
}

/// Asks a fresh child one thing.
fn ask(driver: &Driver, threads: Threads, request: &Request) -> client::Result<Answer> {
    voice(driver, threads)?.ask(request).map_err(client::Error)
}

/// The device and its driver, in words.
fn device(driver: &Driver) -> client::Result<String> {
    match ask(driver, Threads::All, &Request::Hello)? {
        Answer::Hello { device, driver, .. } => Ok(format!("{device} ({driver})")),
        other => Err(client::Error(format!("unexpected answer {other:?}"))),
    }
}

/// Beside the profile's folder that this program lies in.
fn default_path() -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    exe.ancestors().nth(2).unwrap_or(Path::new(".")).join("tuff-demo.png")
}

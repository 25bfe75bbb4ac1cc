//! `tuff compare`: pictures beside golden ones.

mod image;
mod report;
mod sources;

use client::{Error, Result};
use image::Difference;
pub use image::Image;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "\
Exit code: 0; 1 if a picture differs by more than allowed, is missing, or has no golden one; 2 if files cannot be read.

Examples:
  tuff compare golden new --update                             # accepts the new pictures
  tuff compare golden new --report difference.html --junit pictures.xml
  tuff compare golden new --tolerance 2 --max-pixels 0.1       # for golden pictures that a GPU has drawn
  tuff compare before.png after.png --difference out

More: docs/pictures.md.")]
pub struct Args {
    /// The golden pictures: a PNG or PPM file, a folder of them, or a capture's folder.
    golden: PathBuf,
    /// The pictures to judge, likewise.
    new: PathBuf,
    /// How much a channel may differ, of 255.
    #[arg(long, default_value_t = 0, value_name = "N")]
    tolerance: u8,
    /// How many pixels of a picture may differ by more, in percent.
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT")]
    max_pixels: f64,
    /// Write a picture of each difference to this folder.
    #[arg(long, value_name = "FOLDER")]
    difference: Option<PathBuf>,
    /// Write a page with the pictures that differ side by side.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the result for each picture as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Compare, then make the new pictures the golden ones. Golden ones that have no new one stay.
    #[arg(long)]
    update: bool,
}

/// What became of a picture.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    Same,
    /// It differs, and not by more than allowed.
    Allowed(Difference),
    Differs(Difference),
    /// Width and height before and after.
    Resized([u32; 2], [u32; 2]),
    /// Only the golden one is there.
    Missing,
    /// There is no golden one.
    New,
}

impl Verdict {
    fn fails(&self) -> bool {
        !matches!(self, Verdict::Same | Verdict::Allowed(_))
    }
    /// In a line.
    fn line(&self) -> String {
        let difference = |d: &Difference| {
            let Difference { differing, beyond, pixels, most } = d;
            let beyond = match beyond == differing {
                true => String::new(),
                false => format!(", {beyond} ({:.3} %) by more than allowed", d.percent()),
            };
            let share = *differing as f64 * 100.0 / (*pixels).max(1) as f64;
            format!("{differing} of {pixels} pixels ({share:.3} %) differ{beyond}, by at most {most} of 255")
        };
        match self {
            Verdict::Same => "the same".into(),
            Verdict::Allowed(d) | Verdict::Differs(d) => difference(d),
            Verdict::Resized(a, b) => format!("{} x {} became {} x {}", a[0], a[1], b[0], b[1]),
            Verdict::Missing => "missing (remove the golden picture if that is meant)".into(),
            Verdict::New => "has no golden picture (--update adds it)".into(),
        }
    }
}

/// A picture of either side, and what became of it.
pub struct Compared {
    pub name: String,
    pub verdict: Verdict,
    /// Golden, new, and where they differ, of those that fail.
    pub images: [Option<Image>; 3],
}

fn compared(name: &str, golden: Option<&Path>, new: Option<&Path>, args: &Args) -> Result<Compared> {
    let golden = golden.map(Image::read).transpose()?;
    let new = new.map(Image::read).transpose()?;
    let mut shown = None;
    let verdict = match (&golden, &new) {
        (None, _) => Verdict::New,
        (_, None) => Verdict::Missing,
        (Some(a), Some(b)) => match b.against(a, args.tolerance) {
            None => Verdict::Resized([a.width, a.height], [b.width, b.height]),
            Some((d, _)) if d.differing == 0 => Verdict::Same,
            Some((d, image)) => {
                shown = Some(image);
                if d.percent() <= args.max_pixels { Verdict::Allowed(d) } else { Verdict::Differs(d) }
            }
        },
    };
    // All of a long run's pictures would not fit into memory.
    let images = if verdict.fails() { [golden, new, shown] } else { [None, None, None] };
    Ok(Compared { name: name.into(), verdict, images })
}

/// Makes the new pictures the golden ones.
fn update(args: &Args, golden: &sources::Pictures, new: &sources::Pictures) -> Result<()> {
    if args.golden.is_file() || (!args.golden.exists() && args.new.is_file()) {
        return new.values().try_for_each(|file| Image::read(file)?.write(&args.golden));
    }
    if sources::is_capture(&args.golden) {
        return Err(Error::file(&args.golden, "a capture cannot be updated: write a new one"));
    }
    for (name, file) in new {
        // A golden picture keeps its file, whatever format the new one has.
        let to = args.golden.join(format!("{name}.png"));
        if let Some(old) = golden.get(name).filter(|old| **old != to) {
            std::fs::remove_file(old).map_err(|e| Error::file(old, e))?;
        }
        Image::read(file)?.write(&to)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::file(path, e))
}

/// How many pictures fail.
fn judged(args: &Args) -> Result<usize> {
    let golden = match args.update && !args.golden.exists() {
        true => sources::Pictures::new(),
        false => sources::pictures(&args.golden)?,
    };
    let mut new = sources::pictures(&args.new)?;
    let mut golden = golden;
    // Two files are compared whatever they are called.
    if args.golden.is_file() && args.new.is_file() {
        golden = golden.into_values().map(|file| (String::new(), file)).collect();
        new = new.into_values().map(|file| (String::new(), file)).collect();
    }
    let names: BTreeSet<&String> = golden.keys().chain(new.keys()).collect();
    let mut all = vec![];
    for name in names {
        let of = |side: &'_ sources::Pictures| side.get(name).cloned();
        let called = if name.is_empty() { args.new.display().to_string() } else { name.clone() };
        let one = compared(&called, of(&golden).as_deref(), of(&new).as_deref(), args)?;
        if one.verdict != Verdict::Same {
            println!("{}: {}", plain::line(&one.name), one.verdict.line());
        }
        if let (Some(folder), Some(image)) = (&args.difference, &one.images[2]) {
            let stem = if name.is_empty() { "difference" } else { name };
            image.write(&folder.join(format!("{stem}.png")))?;
        }
        all.push(one);
        // A page shows only so many.
        let kept = all.iter().filter(|c: &&Compared| c.images.iter().any(Option::is_some)).count();
        if kept > report::SHOWN
            && let Some(last) = all.last_mut()
        {
            last.images = [None, None, None];
        }
    }
    let failures = all.iter().filter(|c| c.verdict.fails()).count();
    let same = all.iter().filter(|c| c.verdict == Verdict::Same).count();
    println!(
        "{} pictures: {same} the same, {} differ as allowed, {failures} failed",
        all.len(),
        all.len() - same - failures
    );
    if let Some(path) = &args.report {
        write(path, &report::html(&all, args)?)?;
    }
    if let Some(path) = &args.junit {
        write(path, &report::junit(&all))?;
    }
    if args.update {
        update(args, &golden, &new)?;
        return Ok(0);
    }
    Ok(failures)
}

/// The process's exit code: see the help.
pub fn run(args: &Args) -> ExitCode {
    match judged(args) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(e) => {
            eprintln!("tuff: {}", plain::message(&e.to_string()));
            ExitCode::from(2)
        }
    }
}

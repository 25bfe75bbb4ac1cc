//! `tuff report`: a capture, or two beside each other, as one page that needs nothing else.

pub mod capture;
mod data;
mod frames;
mod occupancy;
pub mod picture;
mod shaders;
mod structures;
mod summary;

pub use capture::Capture;
pub use shaders::Printer;
pub use summary::{bytes, lines, many, time, words};

use client::{Error, Result};
use serde_json::json;
use settings::Kind;
use std::io::{IsTerminal, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  tuff run --capture frames -- vkcube --c 20
  tuff report frames                              writes frames.html
  tuff report after --against before -o both.html
  tuff report frames --frames 10-19               only what belongs to these frames
  tuff run --report out.html -- vkcube --c 20     run and report in one command")]
pub struct Args {
    /// A folder from `run --capture`, or a file from `run --counters` (which has no time line, regions or shaders).
    file: PathBuf,
    /// An earlier capture, to compare with side by side.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Only the work of these frames: numbers and ranges of them.
    #[arg(long, value_name = "5,10-19", value_parser = crate::frames::captured)]
    frames: Option<String>,
    /// Output file; default: the capture's name with `.html`.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// What is under way, on a terminal alone.
struct Progress {
    shown: bool,
    longest: usize,
}

impl Progress {
    fn new() -> Progress {
        Progress { shown: std::io::stderr().is_terminal(), longest: 0 }
    }
    fn tell(&mut self, what: &str) {
        if self.shown {
            self.longest = self.longest.max(what.chars().count());
            eprint!("\rtuff report: {what:width$}", width = self.longest);
            let _ = std::io::stderr().flush();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.longest > 0 {
            eprint!("\r{:width$}\r", "", width = self.longest + 13);
        }
    }
}

/// The page's parts, in the order in which they stand in it.
pub const STYLE: &str = include_str!("page.css");
/// What other pages are made with too: elements, numbers in words, colours.
pub const BASE: &str = include_str!("base.js");
pub const THEME: &str = include_str!("theme.js");
const SCRIPTS: [&str; 14] = [
    BASE,
    THEME,
    include_str!("overview.js"),
    include_str!("table.js"),
    include_str!("timeline.js"),
    include_str!("range.js"),
    include_str!("occupancy.js"),
    include_str!("flame.js"),
    include_str!("regions.js"),
    include_str!("shaders.js"),
    include_str!("structures.js"),
    include_str!("advice.js"),
    include_str!("compare.js"),
    include_str!("main.js"),
];
const PAGE: &str = include_str!("page.html");

/// A picture that a program has made of what it shows, and a table about it.
pub struct Figure {
    pub title: String,
    pub size: [usize; 2],
    /// Three bytes a pixel, rows from the top.
    pub rgb: Vec<u8>,
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub note: String,
}

/// A page of captures: the one that is shown, and the one that it is held against.
fn page(
    captures: &[Capture],
    titles: &[String],
    figures: &[Figure],
    progress: &mut Progress,
) -> Result<String> {
    let names = data::Names::of(captures);
    let mut all = vec![];
    let shaders = captures.iter().map(shaders::read).collect::<Result<Vec<_>>>()?;
    for ((c, shaders), title) in captures.iter().zip(&shaders).zip(titles) {
        all.push(data::of(c, shaders, &names, title, |what| progress.tell(&format!("{title}: {what}")))?);
    }
    let compared = match (captures, &shaders[..]) {
        ([after, _], [now, before]) => shaders::compared((after, now), before)?,
        _ => vec![],
    };
    let figure = |f: &Figure| -> Result<serde_json::Value> {
        let picture = picture::whole(f.size, f.rgb.clone())?;
        Ok(json!({ "title": f.title, "picture": picture, "head": f.head, "rows": f.rows, "note": f.note }))
    };
    let figures = figures.iter().map(figure).collect::<Result<Vec<_>>>()?;
    let data = json!({
        "figures": figures, "version": env!("CARGO_PKG_VERSION"), "counters": names.json(), "takes": data::all_takes(), "parts": data::all_parts(), "captures": all, "comparedShaders": compared,
    });
    Ok(filled(PAGE, &titles.join(" against "), STYLE, &data, &SCRIPTS.concat()))
}

/// A page of a template with `{{title}}`, `{{style}}`, `{{data}}` and `{{scripts}}`, in this order.
pub fn filled(page: &str, title: &str, style: &str, data: &serde_json::Value, scripts: &str) -> String {
    // `</script>` in a string would end the script.
    let data = data.to_string().replace('<', "\\u003c");
    let title = plain::xml(title);
    let parts = [("{{title}}", &*title), ("{{style}}", style), ("{{data}}", &data), ("{{scripts}}", scripts)];
    let (mut out, mut rest) = (String::with_capacity(data.len() + 100_000), page);
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.push_str(before);
        out.push_str(part);
        rest = after;
    }
    out + rest
}

/// What a capture is called.
fn title(path: &Path) -> String {
    let own = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().and_then(Path::file_name).filter(|_| own == "capture");
    folder.map_or(own, |f| f.to_string_lossy().into_owned())
}

/// Writes the page of these files, the first being shown; says where it is.
pub fn write(files: &[(&Path, String)], output: &Path) -> Result<()> {
    write_with(files, &[], &[], output)
}

/// The same, with figures in its overview; of these frames alone, if there are any.
pub fn write_with(
    files: &[(&Path, String)],
    figures: &[Figure],
    frames: &[RangeInclusive<u64>],
    output: &Path,
) -> Result<()> {
    let mut progress = Progress::new();
    let (mut captures, mut titles) = (vec![], vec![]);
    for (file, title) in files {
        progress.tell(&format!("reading {}", file.display()));
        let mut capture = Capture::read(file)?;
        if !frames.is_empty() {
            capture.only(frames).map_err(|e| Error::file(file, e))?;
        }
        captures.push(capture);
        titles.push(title.clone());
    }
    let text = page(&captures, &titles, figures, &mut progress)?;
    std::fs::write(output, &text).map_err(|e| Error::file(output, e))?;
    drop(progress);
    let shown = &captures[0];
    eprintln!(
        "tuff: {}: {}, {}, {} by region, {}",
        output.display(),
        summary::many(shown.workloads.len(), "workload"),
        summary::many(shown.frames.len(), "frame"),
        summary::many(shown.passes.len(), "render pass"),
        summary::bytes(text.len() as f64)
    );
    Ok(())
}

pub fn run(args: &Args) -> Result<()> {
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.html", title(&args.file))));
    let files = [Some(&args.file), args.against.as_ref()].into_iter().flatten();
    let files: Vec<_> = files.map(|f| (f.as_path(), title(f))).collect();
    let frames =
        args.frames.as_ref().and_then(|f| settings::CAPTURE_FRAMES.kind.read(f.as_ref())).unwrap_or_default();
    write_with(&files, &[], &frames, &output)
}

/// Prints what a person reads of a capture.
pub fn tell(file: &Path) -> Result<()> {
    let text = lines(&Capture::read(file)?);
    // Whole, for other processes write too.
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

//! `cargo xtask pages`: pages of WebGL 2 and WebGPU of our own in Chromium, on Tuff and on the SwiftShader that Chromium
//! brings, without a screen; the pictures are compared.
//!
//! Tuff says here that it is an integrated GPU (`TUFF_DEVICE_TYPE`): among CPUs WebGPU takes SwiftShader first. Each page says
//! on the console which device it was drawn by, and whether all went well: a page that another device drew is a failure.
//! With `--three`, examples of three.js instead ([`three`]).

mod browser;
mod three;

use crate::cargo::{call, on_driver, own_driver, target_folder};
use crate::needs::{Need, has_program, provide};
use crate::picture::Picture;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Args {
    /// Chromium's executable.
    #[arg(long, default_value = "chromium")]
    chromium: String,
    /// The ICD file of Chromium's SwiftShader.
    #[arg(long, default_value = "/usr/lib/chromium/vk_swiftshader_icd.json")]
    swiftshader: PathBuf,
    /// Save the pictures in this folder.
    #[arg(long)]
    save: Option<PathBuf>,
    /// Show examples of three.js instead: a checkout of https://github.com/mrdoob/three.js.
    #[arg(long, value_name = "CLONE")]
    three: Option<PathBuf>,
    /// Number of three.js examples, chosen at even distances.
    #[arg(long, default_value_t = 50, requires = "three")]
    count: usize,
    /// These examples of three.js alone (comma-separated).
    #[arg(long, value_delimiter = ',', requires = "three")]
    only: Vec<String>,
    /// A further driver to compare the examples' CPU time with, by name and ICD file: `lavapipe=FILE`.
    #[arg(long, requires = "three")]
    peer: Option<String>,
    /// Write the table of three.js's examples to this file.
    #[arg(long, requires = "three")]
    table: Option<PathBuf>,
}

const CHROMIUM: Need = Need { what: "chromium", package: "chromium", here: has_program };

/// A page, and percent of the pixels that may differ from SwiftShader's by more than 2 % of a channel.
struct Page {
    file: &'static str,
    limit: f64,
}

const PAGES: [Page; 3] = [
    Page { file: "webgl2.html", limit: 0.5 },
    Page { file: "antialias.html", limit: 0.5 },
    Page { file: "webgpu.html", limit: 0.5 },
];

/// Who draws a page: its name, which is also in its device's name, and its ICD file.
struct Side {
    name: String,
    icd: PathBuf,
}

/// Chromium's options: its own drawing, WebGL and WebGPU, all by the Vulkan driver that the loader finds.
const OPTIONS: [&str; 13] = [
    "--headless=new",
    "--no-sandbox",
    "--enable-features=Vulkan",
    "--use-angle=vulkan",
    "--use-vulkan=native",
    "--ignore-gpu-blocklist",
    "--enable-unsafe-webgpu",
    "--enable-webgpu-developer-features",
    "--disable-gpu-watchdog",
    "--hide-scrollbars",
    "--no-first-run",
    // Else Chromium refuses WebGL on lavapipe.
    "--enable-unsafe-swiftshader",
    "--enable-logging=stderr",
];

/// The options of a picture of one page: the page's clock runs ahead until nothing is to be done, and only then is the picture
/// taken.
const ONE_PAGE: [&str; 2] = ["--window-size=768,620", "--virtual-time-budget=200000"];

pub fn run(args: &Args) -> Result<(), String> {
    if args.chromium == "chromium" {
        provide("the pages", &[CHROMIUM])?;
    }
    let folder = target_folder().join("pages");
    let own = Side { name: "tuff".into(), icd: own_driver(&folder, &[])? };
    let peer = args.peer.as_deref().map(|p| p.split_once('=').ok_or("--peer: NAME=FILE")).transpose()?;
    let peer = peer.map(|(name, icd)| Side { name: name.into(), icd: icd.into() });
    let judge = Side { name: "swiftshader".into(), icd: args.swiftshader.clone() };
    let sides: Vec<_> = [own].into_iter().chain(peer).chain([judge]).collect();
    if let Some(clone) = &args.three {
        return three::run(clone, args, &sides, &folder);
    }
    let mut wrong = vec![];
    for page in &PAGES {
        let mut drawn = vec![];
        for side in &sides {
            let shown = show(page, side, &folder, args)?;
            println!("{} on {}: {}", page.file, side.name, shown.device.as_deref().unwrap_or("no device"));
            wrong.extend(shown.wrong(side).map(|w| format!("{} on {}: {w}", page.file, side.name)));
            drawn.extend(shown.picture);
        }
        let [own, peer] = &drawn[..] else { continue };
        let Some(d) = own.difference(peer) else {
            wrong.push(format!("{}: pictures of different sizes", page.file));
            continue;
        };
        println!(
            "{}: {} of {} pixels differ ({:.4} %), the most by {}",
            page.file,
            d.pixels,
            d.of,
            d.percent(),
            d.most
        );
        if d.percent() > page.limit || own.is_plain() {
            wrong.push(format!(
                "{}: {:.4} % of the pixels differ, more than {} %",
                page.file,
                d.percent(),
                page.limit
            ));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

/// What became of a page.
#[derive(Default)]
struct Shown {
    picture: Option<Picture>,
    device: Option<String>,
    /// It said that it came to its end.
    done: bool,
    error: Option<String>,
}

impl Shown {
    fn wrong(&self, side: &Side) -> Option<String> {
        let device = self.device.as_deref().unwrap_or_default().to_lowercase();
        match self {
            Shown { error: Some(e), .. } => Some(e.clone()),
            Shown { picture: None, .. } => Some("no picture".into()),
            Shown { done: false, .. } => Some("the page did not come to its end".into()),
            _ => (!device.contains(&side.name)).then(|| format!("drawn by {device:?}")),
        }
    }

    /// Takes what a page says from Chromium's log: `... "tuff-page: WORDS", source: ...`.
    fn hear(&mut self, log: &str) {
        for line in log.lines().filter_map(|l| l.split_once("\"tuff-page: ")) {
            let words = line.1.rsplit_once("\", source:").map_or(line.1, |(w, _)| w);
            match words.split_once(": ") {
                Some(("device", name)) => self.device = Some(name.into()),
                Some(("error", what)) => self.error = Some(what.into()),
                _ => self.done |= words == "done",
            }
        }
    }
}

/// Shows a page once, in a profile of its own.
fn show(page: &Page, side: &Side, folder: &Path, args: &Args) -> Result<Shown, String> {
    let profile = folder.join("profile");
    let _ = std::fs::remove_dir_all(&profile);
    let keep = args.save.as_deref().unwrap_or(folder);
    let at = |p: &Path| std::path::absolute(p).map_err(|e| format!("{}: {e}", p.display()));
    let keep = at(keep)?;
    std::fs::create_dir_all(&profile).map_err(|e| format!("{}: {e}", profile.display()))?;
    std::fs::create_dir_all(&keep).map_err(|e| format!("{}: {e}", keep.display()))?;
    let png = keep.join(format!("{}.{}.png", page.file, side.name));
    let _ = std::fs::remove_file(&png);
    let log = folder.join("log");
    let file = std::fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut chromium = Command::new("timeout");
    chromium.args(["300", &args.chromium]).args(OPTIONS).args(ONE_PAGE);
    chromium
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--screenshot={}", png.display()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages");
    chromium.arg(format!("file://{source}/{}", page.file));
    on_driver(&mut chromium, &side.icd).env("TUFF_DEVICE_TYPE", "integrated");
    chromium.stdout(Stdio::null()).stderr(file);
    call(chromium)?;
    let mut shown = Shown::default();
    shown.hear(&String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()));
    if let Ok(bytes) = std::fs::read(&png) {
        shown.picture = Some(Picture::read_png(&bytes).map_err(|e| format!("{}: {e}", png.display()))?);
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_says_is_heard() {
        let side = |name: &str| Side { name: name.into(), icd: PathBuf::new() };
        let mut shown =
            Shown { picture: Some(Picture { width: 1, height: 1, bytes: vec![0; 3] }), ..Shown::default() };
        assert!(shown.wrong(&side("tuff")).is_some(), "not done");
        let line =
            |words: &str| format!("[1:INFO:CONSOLE:8] \"tuff-page: {words}\", source: file:///x.html (8)\n");
        shown.hear(&(line("device: ANGLE (Tuff, x)") + "else\n" + &line("done")));
        assert_eq!(shown.device.as_deref(), Some("ANGLE (Tuff, x)"));
        assert_eq!(shown.wrong(&side("tuff")), None);
        assert!(shown.wrong(&side("swiftshader")).unwrap().contains("tuff"));
        shown.hear(&line("error: no WebGL 2"));
        assert_eq!(shown.wrong(&side("tuff")).as_deref(), Some("no WebGL 2"));
    }
}

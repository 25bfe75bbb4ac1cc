//! `cargo xtask pages --three CLONE`: examples of three.js (https://github.com/mrdoob/three.js), chosen evenly from all that its
//! own test runs, on Tuff and its peers. The rule for a right picture is that test's: 800 × 500 pixels halved, at most 0.3 % of
//! them further apart than a tenth of the largest distance of colours; here a smoothed edge counts too.

use super::browser::{Browser, Tab};
use super::{Args, OPTIONS, Side};
use crate::picture::Picture;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WIDTH: u32 = 800;
const HEIGHT: u32 = 500;
/// Frames before the picture, and after it for the time.
const FRAMES: u32 = 2;
const TIMED: u32 = 8;
/// Percent of the pixels.
const LIMIT: f64 = 0.3;
/// No request for so long: the page has loaded.
const IDLE: Duration = Duration::from_secs(4);
const PATIENCE: Duration = Duration::from_secs(60);

/// What one side made of an example.
#[derive(Default)]
struct Shown {
    picture: Option<Picture>,
    /// CPU milliseconds of the GPU process: from the navigation to the picture, and each of the frames after it.
    load: f64,
    frame: Option<f64>,
    errors: Vec<String>,
}

/// Serves the clone on a port of its own, for modules are not loaded from files.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path) -> Result<Server, String> {
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("python3: {e}"))?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line).map_err(|e| format!("python3: {e}"))?;
        }
        let port = line.split("port ").nth(1).and_then(|l| l.split(' ').next()).and_then(|p| p.parse().ok());
        Ok(Server { child, port: port.ok_or_else(|| format!("python3 -m http.server: {line:?}"))? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The examples that three.js's own test runs: all pages but the list of exceptions in its runner.
fn names(clone: &Path) -> Result<Vec<String>, String> {
    let read = |p: &Path| std::fs::read_to_string(p).map_err(|e| format!("{}: {e}", p.display()));
    let runner = read(&clone.join("test/e2e/puppeteer.js"))?;
    let list = runner.split_once("exceptionList = [").and_then(|(_, rest)| rest.split_once("];"));
    let list = list.ok_or("no list of exceptions in test/e2e/puppeteer.js")?.0;
    let excepted = |name: &str| list.contains(&format!("'{name}'"));
    let folder = clone.join("examples");
    let files = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<_> = files
        .flatten()
        .filter_map(|f| Some(f.file_name().to_str()?.strip_suffix(".html")?.to_string()))
        .filter(|n| n.starts_with("webgl") || n.starts_with("webgpu"))
        .filter(|n| !excepted(n))
        .collect();
    names.sort();
    Ok(names)
}

/// `count` of them, as far from each other as possible.
fn evenly(all: &[String], count: usize) -> Vec<String> {
    let count = count.min(all.len());
    (0..count).map(|i| all[(2 * i + 1) * all.len() / (2 * count)].clone()).collect()
}

pub fn run(clone: &Path, args: &Args, sides: &[Side], folder: &Path) -> Result<(), String> {
    let all = names(clone)?;
    let chosen = if args.only.is_empty() { evenly(&all, args.count) } else { args.only.clone() };
    println!("{} of {} examples", chosen.len(), all.len());
    let server = Server::start(clone)?;
    let mut results: Vec<Vec<Shown>> = vec![];
    for side in sides {
        let folder = folder.join(format!("three-{}", side.name));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        results.push(side_of(side, &chosen, &server, &folder, args)?);
    }
    table(&chosen, sides, &results, args)
}

/// All examples on one side, by one browser; a browser that ended is started again.
fn side_of(
    side: &Side,
    chosen: &[String],
    server: &Server,
    folder: &Path,
    args: &Args,
) -> Result<Vec<Shown>, String> {
    let mut browser: Option<Browser> = None;
    let mut results = vec![];
    for name in chosen {
        let running = match &mut browser {
            Some(running) => running,
            None => browser.insert(start(side, folder, args)?),
        };
        let start = Instant::now();
        let mut shown = Shown::default();
        if let Err(e) = show(running, name, server, &mut shown) {
            shown.errors.push(e);
            browser = None;
        }
        println!(
            "{} {name}: {:.1} s, CPU {:.0} ms, a frame {:.1} ms {}",
            side.name,
            start.elapsed().as_secs_f64(),
            shown.load,
            shown.frame.unwrap_or_default(),
            shown.errors.join("; ")
        );
        if let (Some(picture), Some(keep)) = (&shown.picture, &args.save) {
            let path = keep.join(format!("{name}.{}.ppm", side.name));
            std::fs::write(&path, picture.file()).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        results.push(shown);
    }
    Ok(results)
}

fn start(side: &Side, folder: &Path, args: &Args) -> Result<Browser, String> {
    let mut chromium = Command::new(&args.chromium);
    chromium.args(OPTIONS).arg(format!("--user-data-dir={}", folder.join("profile").display()));
    crate::cargo::on_driver(&mut chromium, &side.icd).env("TUFF_DEVICE_TYPE", "integrated");
    let mut browser = Browser::start(&chromium, folder)?;
    let begin = Instant::now();
    while let Err(e) = browser.gpu_seconds() {
        if begin.elapsed() > Duration::from_secs(30) {
            return Err(e);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(browser)
}

fn show(browser: &mut Browser, name: &str, server: &Server, shown: &mut Shown) -> Result<(), String> {
    let (before, process) = browser.gpu_seconds()?;
    let tab = browser.open(WIDTH, HEIGHT, include_str!("still.js"))?;
    let url = format!("http://localhost:{}/examples/{name}.html", server.port);
    browser.call(Some(&tab), "Page.navigate", json!({"url": url}))?;
    load(browser, &tab, shown);
    browser.evaluate(&tab, "tuffPage.clean()")?;
    load(browser, &tab, shown);
    let ran = browser.evaluate(&tab, &format!("tuffPage.go({FRAMES}, 6000)"))?;
    let png = browser.picture(&tab)?;
    shown.picture = Some(Picture::read_png(&png)?.halved());
    let (drawn, _) = browser.gpu_seconds()?;
    shown.load = (drawn - before) * 1e3;
    if ran == true {
        let more = browser.evaluate(&tab, &format!("tuffPage.go({TIMED}, 20000)"))?;
        browser.picture(&tab)?;
        let (after, _) = browser.gpu_seconds()?;
        shown.frame = (more == true).then(|| (after - drawn) * 1e3 / f64::from(TIMED));
    }
    hear(&browser.events(&tab, Duration::ZERO), shown);
    browser.close(&tab)?;
    if browser.gpu_seconds()?.1 != process {
        shown.errors.push("the GPU process ended".into());
    }
    Ok(())
}

/// Waits until nothing arrives any more. Requests that have begun are not counted: the end of a worker's is not told here.
fn load(browser: &mut Browser, tab: &Tab, shown: &mut Shown) {
    let (start, mut quiet) = (Instant::now(), Instant::now());
    while start.elapsed() < PATIENCE && quiet.elapsed() < IDLE {
        let events = browser.events(tab, Duration::from_millis(100));
        if hear(&events, shown) {
            quiet = Instant::now();
        }
    }
}

/// Takes errors from events; whether the network did something.
fn hear(events: &[serde_json::Value], shown: &mut Shown) -> bool {
    let mut requests = false;
    for event in events {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent"
            | "Network.dataReceived"
            | "Network.loadingFinished"
            | "Network.loadingFailed" => requests = true,
            "Runtime.exceptionThrown" => {
                let details = &parameters["exceptionDetails"];
                let what = details["exception"]["description"].as_str().or(details["text"].as_str());
                shown.errors.push(first_line(what.unwrap_or("an exception")));
            }
            "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
                let words = parameters["args"].as_array().into_iter().flatten();
                let words: Vec<_> = words
                    .filter_map(|a| a["value"].as_str().or(a["description"].as_str()))
                    .map(first_line)
                    .collect();
                shown.errors.push(words.join(" "));
            }
            "Inspector.targetCrashed" => shown.errors.push("the page crashed".into()),
            _ => {}
        }
    }
    requests
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(160).collect()
}

/// Prints the table: pictures beside the last side's (SwiftShader), times beside every other one's.
fn table(chosen: &[String], sides: &[Side], results: &[Vec<Shown>], args: &Args) -> Result<(), String> {
    let mut text = String::from("| example | pixels that differ |");
    let names: Vec<_> = sides.iter().map(|s| s.name.as_str()).collect();
    for name in &names {
        text += &format!(" {name}: load, frame (CPU ms) |");
    }
    text += &format!("\n|---|---|{}\n", "---|".repeat(names.len()));
    let mut wrong = vec![];
    let mut ratios = vec![(vec![], vec![]); sides.len()];
    for (i, name) in chosen.iter().enumerate() {
        let of: Vec<&Shown> = results.iter().map(|r| &r[i]).collect();
        let (own, judge) = (of[0], of[of.len() - 1]);
        let differ = match (&own.picture, &judge.picture) {
            (Some(a), Some(b)) if a.is_plain() && b.is_plain() => {
                println!("{name}: one colour on both sides, which shows nothing");
                Some(0.0)
            }
            (Some(a), Some(b)) => a.seen_apart(b),
            _ => None,
        };
        let peers = format!("{:?}", of[1..].iter().map(|s| s.errors.len()).collect::<Vec<_>>());
        match differ {
            None => wrong.push(format!("{name}: no two pictures of one size (errors of peers: {peers})")),
            Some(p) if p > LIMIT => wrong.push(format!("{name}: {p:.2} % of the pixels differ")),
            Some(_) => {}
        }
        for error in own.errors.iter().filter(|e| !judge.errors.contains(e)) {
            wrong.push(format!("{name}: {error}"));
        }
        text += &format!("| {name} | {} |", differ.map_or("no picture".into(), |p| format!("{p:.2} %")));
        for (side, shown) in of.iter().enumerate() {
            let frame = shown.frame.map_or("-".into(), |f| format!("{f:.1}"));
            text += &format!(" {:.0}, {frame} |", shown.load);
            ratios[side].0.push(shown.load / own.load);
            ratios[side].1.extend(shown.frame.zip(own.frame).map(|(s, o)| s.max(0.1) / o.max(0.1)));
        }
        text.push('\n');
    }
    for (name, (loads, frames)) in names.iter().zip(&ratios).skip(1) {
        let mean =
            |r: &[f64]| (r.iter().map(|x| x.max(1e-3).ln()).sum::<f64>() / r.len().max(1) as f64).exp();
        let below = frames.iter().filter(|r| **r < 1.5).count();
        text += &format!(
            "\nCPU time of {name} over Tuff's, geometric means: load {:.2}, a frame {:.2} ({below} of {} below 1.5).\n",
            mean(loads),
            mean(frames),
            frames.len()
        );
    }
    println!("{text}");
    if let Some(page) = &args.table {
        std::fs::write(page, &text).map_err(|e| format!("{}: {e}", page.display()))?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_chosen_evenly() {
        let all: Vec<_> = (0..10).map(|i| i.to_string()).collect();
        assert_eq!(evenly(&all, 2), ["2", "7"]);
        assert_eq!(evenly(&all, 10), all);
        assert_eq!(evenly(&all, 20), all);
    }
}

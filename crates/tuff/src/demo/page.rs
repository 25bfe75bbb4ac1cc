//! The demo's end: the city, drawn and path traced, and the ball once more, captured, as a page.

use super::{Args, paths};
use crate::city::{Answer, Ask, paths::SIZE};
use crate::report::{self, Figure};
use client::session::{Answer as Said, Request};
use client::{Error, Result};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a child is asked: the city thrice, the ball, and the path-traced city.
fn requests(product: &Path, rgba: &Path) -> Result<String> {
    let own = |ask: &Ask| serde_json::to_value(ask).map(Request::Own).map_err(|e| Error(e.to_string()));
    let frame = Ask::Frames { budget_ms: 0 };
    let all = [
        own(&Ask::First)?,
        own(&frame)?,
        own(&frame)?,
        Request::Output { kernel: "march".into(), path: product.into() },
        own(&Ask::Paths { size: SIZE, rgba: rgba.into() })?,
    ];
    all.iter().map(|r| serde_json::to_string(r).map(|l| l + "\n").map_err(|e| Error(e.to_string()))).collect()
}

/// The path-traced picture, with what each bounce costs. `said`: the child's answers, of which the last is about it; `None`: the model
/// has no rays.
fn traced(capture: &Path, said: &str, rgba: &Path) -> Result<Option<Figure>> {
    let last = said.lines().last().unwrap_or_default();
    let rays = match serde_json::from_str(last) {
        Ok(Said::Own(own)) => match serde_json::from_value(own) {
            Ok(Answer::Traced { rays, .. }) => rays,
            other => return Err(Error(format!("unexpected answer {other:?}"))),
        },
        Ok(Said::Error(e)) if e.contains(client::pictures::MISSING) => return Ok(None),
        other => return Err(Error(format!("unexpected answer {other:?}"))),
    };
    let file = capture.join("capture.json");
    let text = std::fs::read(&file).map_err(|e| Error::file(&file, e))?;
    let counters = serde_json::from_slice(&text).map_err(|e| Error::file(&file, e))?;
    let row = |c: &paths::Cost| {
        let [rays, sun] = c.rays.map_or([String::new(), String::new()], |r| r.map(|n| n.to_string()));
        let nodes = |n: u64| if c.rays.is_some() { n.to_string() } else { String::new() };
        let full = if c.rays.is_some() { format!("{:.0} %", c.full_percent()) } else { String::new() };
        let time = format!("{:.2} ms", c.milliseconds());
        vec![c.name.clone(), rays, sun, nodes(c.boxes), nodes(c.triangles), full, time]
    };
    let rgba = std::fs::read(rgba).map_err(|e| Error::file(rgba, e))?;
    Ok(Some(Figure {
        title: "The city, path traced".into(),
        size: SIZE.map(|n| n as usize),
        rgb: rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect(),
        head: ["", "rays", "to the sun", "box nodes", "triangle nodes", "full", "time"].map(String::from).into(),
        rows: paths::by_bounce(&counters, &rays)?.iter().map(row).collect(),
        note: "Cost by bounce on the modelled GPU. Nodes are visits by a warp of 16 rays; full is the share of visits by 13 or more of them."
            .into(),
    }))
}

pub fn run(args: &Args) -> Result<()> {
    let failed = |e: std::io::Error| Error(format!("the demo's report: {e}"));
    let this = std::env::current_exe().map_err(failed)?;
    let folder = client::scratch("capture")?;
    let [product, rgba] = ["ball", "paths"].map(|e| folder.with_extension(e));
    let mut command = Command::new(&this);
    command.args(["run", "--capture"]).arg(&folder).arg("--").arg(&this).arg("child");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(requests(&product, &rgba)?.as_bytes()).map_err(failed)?;
    }
    let out = child.wait_with_output().map_err(failed)?;
    let page = args.path("").with_extension("html");
    let done = match out.status.success() {
        true => traced(&folder, &String::from_utf8_lossy(&out.stdout), &rgba).and_then(|figure| {
            let figures: Vec<Figure> = figure.into_iter().collect();
            report::write_with(&[(&folder, "city, paths and ball".into())], &figures, &[], &page)
        }),
        false => Err(Error(format!("the demo's report: {}", out.status))),
    };
    let _ = std::fs::remove_dir_all(&folder);
    let _ = [product, rgba].map(std::fs::remove_file);
    done?;
    println!("\nAll that was measured, to look at: {}", page.display());
    Ok(())
}

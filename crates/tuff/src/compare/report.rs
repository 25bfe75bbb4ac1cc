//! What `tuff compare` leaves: a page for people, JUnit for a CI system.

use super::{Args, Compared, Image};
use crate::junit::{failed, suite, xml};
use crate::report::picture::base64;
use client::Result;
use plain::xml as escape;
use quick_junit::TestCaseStatus;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// Pictures with their differences on the page.
pub const SHOWN: usize = 40;

/// Pixels of their longer side there.
const PIXELS: u32 = 640;

fn embedded(image: &Image) -> Result<String> {
    let folder = temporary::folder("tuff-compare-").map_err(|e| client::Error(e.to_string()))?;
    let path = folder.path().join("a.png");
    image.thumbnail(PIXELS).write(&path)?;
    let bytes = std::fs::read(&path).map_err(|e| client::Error::file(&path, e))?;
    Ok(format!("data:image/png;base64,{}", base64(&bytes)))
}

/// A page without scripts.
pub fn html(all: &[Compared], args: &Args) -> Result<String> {
    let failures = all.iter().filter(|c| c.verdict.fails()).count();
    let head = match failures {
        0 => "no picture differs by more than allowed".into(),
        n => format!("{n} of {} pictures failed", all.len()),
    };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{head} — tuff compare</title>\n<style>\n{STYLE}</style>\n<h1>{head}</h1>\n"
    );
    let name = |p: &std::path::Path| escape(&p.display().to_string());
    let _ = writeln!(
        out,
        "<p class=\"sum\">{} (golden) and {} (new), allowed: {} % of the pixels by more than {} of 255. \
         Red: more than that; yellow: less.</p>",
        name(&args.golden),
        name(&args.new),
        args.max_pixels,
        args.tolerance
    );
    let mut left_out = 0;
    for c in all.iter().filter(|c| c.verdict.fails()) {
        if c.images.iter().all(Option::is_none) {
            left_out += 1;
            continue;
        }
        let _ = writeln!(
            out,
            "<article>\n<h2>{}</h2>\n<p>{}</p>\n<div>",
            escape(&c.name),
            escape(&c.verdict.line())
        );
        for (what, image) in ["golden", "new", "difference"].iter().zip(&c.images) {
            let Some(image) = image else { continue };
            let _ = writeln!(
                out,
                "<figure><img src=\"{}\" alt=\"{}: {what}\"><figcaption>{what}, {} × {}</figcaption></figure>",
                embedded(image)?,
                escape(&c.name),
                image.width,
                image.height
            );
        }
        out.push_str("</div>\n</article>\n");
    }
    if left_out > 0 {
        let _ = writeln!(out, "<p>{left_out} more failed; the page shows the first {SHOWN}.</p>");
    }
    let others: Vec<_> = all.iter().filter(|c| !c.verdict.fails()).collect();
    if !others.is_empty() {
        let _ = writeln!(out, "<details><summary>{} passed</summary>\n<ul>", others.len());
        for c in others {
            let _ = writeln!(out, "<li>{}: {}</li>", escape(&c.name), escape(&c.verdict.line()));
        }
        out.push_str("</ul></details>\n");
    }
    out.push_str("</html>\n");
    Ok(out)
}

pub fn junit(all: &[Compared]) -> String {
    let cases = all.iter().map(|c| {
        let status = match c.verdict.fails() {
            true => failed("picture", c.verdict.line(), c.verdict.line()),
            false => TestCaseStatus::success(),
        };
        (plain::line(&c.name).into_owned(), status)
    });
    xml("tuff compare", vec![suite("pictures", cases)])
}

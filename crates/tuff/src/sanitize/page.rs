//! Findings as an HTML page without scripts.

use super::{Report, text};
use ::sanitize::Finding;
use plain::xml as escape;
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

pub fn html(report: &Report, program: &str) -> String {
    let title = format!("{} — tuff sanitize", escape(program));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n<h1>{}</h1>\n",
        escape(program)
    );
    let n = report.findings.len();
    let found = if n == 1 { "1 finding".into() } else { format!("{n} findings") };
    let _ = write!(out, "<p class=\"sum\">{found} in {} accesses of shaders", report.accesses);
    if report.suppressed != 0 {
        let _ = write!(out, "; {} suppressed", report.suppressed);
    }
    if report.unfollowed != 0 {
        let _ = write!(out, "; {} dispatches not checked for data races to the end", report.unfollowed);
    }
    out.push_str("</p>\n");
    report.findings.iter().for_each(|f| article(&mut out, f));
    out.push_str("</html>\n");
    out
}

fn article(out: &mut String, f: &Finding) {
    let _ = write!(
        out,
        "<article>\n<h2><span class=\"kind\">{}</span> {}</h2>\n<dl>\n",
        f.kind.name(),
        escape(&f.message)
    );
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
        }
    };
    if let Some(b) = &f.between {
        row("Later", text::side(&b.later));
        row("Earlier", b.earlier.as_ref().map_or(String::new(), text::side));
        row("Memory", text::memory(f));
        row("Times", f.count.to_string());
        out.push_str("</dl>\n</article>\n");
        return;
    }
    row("Place", format!("{} at {}", f.here.what, text::place(&f.here)));
    if let Some(there) = &f.there {
        row("Other place", format!("{}: {}", text::origin(f, there), text::place(there)));
    }
    row("Memory", text::memory(f));
    row("Pipeline", format!("{}, {} shader", f.pipeline, f.stage));
    row("First seen", f.command.clone());
    row("Invocations", text::invocations(f));
    row("Times", f.count.to_string());
    out.push_str("</dl>\n</article>\n");
}

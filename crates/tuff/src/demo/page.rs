//! The demo's end: the city and the ball once more, captured, as a page.

use super::Args;
use crate::report;
use client::{Error, Result};
use std::io::Write;
use std::process::{Command, Stdio};

/// What a child is asked: the city thrice, and the ball.
fn requests(product: &std::path::Path) -> String {
    let frame = "{\"Own\":{\"Frames\":{\"budget_ms\":0}}}\n";
    let ball = serde_json::json!({ "Output": { "kernel": "march", "path": product } });
    format!("{{\"Own\":\"First\"}}\n{frame}{frame}{ball}\n")
}

pub fn run(args: &Args) -> Result<()> {
    let failed = |e: std::io::Error| Error(format!("the demo's report: {e}"));
    let this = std::env::current_exe().map_err(failed)?;
    let folder = client::scratch("capture")?;
    let product = folder.with_extension("ball");
    let mut command = Command::new(&this);
    command.args(["run", "--capture"]).arg(&folder).arg("--").arg(&this).arg("child");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(requests(&product).as_bytes()).map_err(failed)?;
    }
    let status = child.wait().map_err(failed)?;
    let page = args.path("").with_extension("html");
    let done = match status.success() {
        true => report::write(&[(&folder, "city and ball".into())], &page),
        false => Err(Error(format!("the demo's report: {status}"))),
    };
    let _ = std::fs::remove_dir_all(&folder);
    let _ = std::fs::remove_file(&product);
    done?;
    println!("\nAll that was measured, to look at: {}", page.display());
    Ok(())
}

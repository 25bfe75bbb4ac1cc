//! The invocations of a recording.

use super::Request;
use shader::notes::{File, Warp};
use std::io::{Result, Write};

/// Those that the request asks for, in the order in which they began.
pub fn chosen<'a>(files: &'a [File], request: &Request) -> Vec<(&'a File, &'a Warp)> {
    let all = files.iter().flat_map(|f| f.warps.iter().map(move |w| (f, w)));
    all.filter(|(f, w)| fits(f, w, request)).collect()
}

fn fits(file: &File, warp: &Warp, request: &Request) -> bool {
    let module = &file.modules[warp.module as usize];
    let label = |l: &String| warp.labels == *l || warp.labels.split('/').any(|own| own == l);
    let shader = |s: &String| {
        module.entry == *s
            || format!("{:016x}", module.hash).starts_with(s.trim_start_matches("0x"))
            || warp.pipeline.contains(s.as_str())
    };
    request.label.as_ref().is_none_or(label)
        && request.shader.as_ref().is_none_or(shader)
        && request.draw.is_none_or(|d| d == warp.draw)
        && request.frame.is_none_or(|f| f == warp.frame)
}

pub fn line(file: &File, warp: &Warp) -> String {
    let module = &file.modules[warp.module as usize];
    let steps = warp.records.len();
    format!(
        "frame {}, draw {}: {} of pipeline {}: {} shader '{}' {:016x}, {} words{}",
        warp.frame,
        warp.draw,
        plain::line(&warp.command),
        plain::line(&warp.pipeline),
        module.stage.name(),
        plain::line(&module.entry),
        module.hash,
        steps,
        if warp.lost > 0 { ", cut" } else { "" },
    )
}

pub fn print(files: &[File], request: &Request, out: &mut impl Write) -> Result<()> {
    let all = chosen(files, request);
    for (k, (file, warp)) in all.iter().enumerate() {
        writeln!(out, "{k}: {}", line(file, warp))?;
    }
    if all.is_empty() {
        writeln!(out, "{}", nothing(files, request))?;
    }
    Ok(())
}

/// Why there is nothing to debug.
pub fn nothing(files: &[File], request: &Request) -> String {
    let recorded: usize = files.iter().map(|f| f.warps.len()).sum();
    match (files.len(), recorded) {
        (0, _) => "the program has created no device on Tuff".into(),
        (_, 0) => {
            let frame = request.frame.map_or(String::new(), |f| format!(" in frame {f}"));
            format!("no shader has run for that invocation{frame}")
        }
        _ => format!(
            "{recorded} invocations were recorded, and none is what was asked for (--list without filters shows them)"
        ),
    }
}

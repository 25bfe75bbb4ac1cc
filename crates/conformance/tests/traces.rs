//! How far what is told of external memory is from what it is if every access goes through the caches: the sampled traffic of kernels, copies and pictures against
//! all of it (`TUFF_TRACE=all`).

use client::drivers::Threads;
use std::fmt::Write;
use std::process::Command;

const BEGIN: &str = "<!-- written by conformance's traces -->\n";
const END: &str = "<!-- end of the traces -->";

/// Bytes that may be told too many or too few: so much of what there is, and a stretch of 64 KiB, by which the L2 is kept.
const SHARE: f64 = 0.02;
const MORE: f64 = 65_536.0;

/// Name, read and written.
fn traffic(all: bool) -> Vec<(String, [f64; 2])> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traces-child"));
    crate::common::driver().prepare(&mut child, Threads::Count(2));
    child.env("TUFF_TRACE", if all { "all" } else { "" });
    let out = child.output().expect("it runs");
    let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{said}{errors}");
    let row = |l: &str| {
        let mut parts = l.split(';');
        let name = parts.next()?.to_string();
        let mut number = || parts.next()?.parse().ok();
        Some((name, [number()?, number()?]))
    };
    said.lines().filter_map(row).collect()
}

#[test]
fn samples_tell_what_all_accesses_do() {
    let [samples, all] = [false, true].map(traffic);
    assert!(samples.len() > 30 && samples.len() == all.len());
    let mut wrong = vec![];
    let mut table = String::from(
        "| workload | read, samples | read, all | written, samples | written, all |\n|---|---|---|---|---|\n",
    );
    for ((name, told), (_, is)) in samples.iter().zip(&all) {
        let _ = writeln!(table, "| {name} | {} | {} | {} | {} |", told[0], is[0], told[1], is[1]);
        if told.iter().zip(is).any(|(told, is)| (told - is).abs() > SHARE * is + MORE) {
            wrong.push(format!("{name}: {told:?}, all: {is:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/model.md");
    let text = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (old, after) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("TUFF_BLESS").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page");
    } else {
        assert!(old == table, "docs/model.md has another table: TUFF_BLESS=1 writes it");
    }
}

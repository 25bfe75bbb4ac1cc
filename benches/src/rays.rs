//! Ray tracing: rays and builds a second, and the first trace of a pipeline.

use crate::parent::{Bench, Section, What, clock, words};
use client::drivers::Threads;
use client::rays::{FIRST, Spec};
use client::session::Request;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn section(bench: &Bench, threads: Threads) -> Section {
    let budget_ms = bench.args.budget_ms;
    let request = |r: &'static Spec| (r.name, Request::Rays { row: r.name.into(), budget_ms });
    let mut rows = bench.rounds(threads, bench.chosen.rays.iter().copied().map(request));
    for (row, spec) in rows.iter_mut().zip(&bench.chosen.rays) {
        row.work = Some((1.0, spec.unit()));
    }
    let title = format!("ray tracing, {}", words(threads));
    Section { what: What::Rays, title, clock: clock(threads), rows, threads }
}

/// Creation + first trace of pipelines with a constant that is new in every process.
pub fn first_traces(bench: &Bench, threads: Threads) -> Section {
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let rows = FIRST
        .into_iter()
        .map(|name| {
            bench.fresh(threads, name, || {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                Request::FirstTrace { name: name.into(), seed }
            })
        })
        .collect();
    let title = format!("first trace of a new pipeline (creation + 64 rays), {}", words(threads));
    Section { what: What::First, title, clock: clock(threads), rows, threads }
}

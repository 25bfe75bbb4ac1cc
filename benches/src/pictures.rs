//! The pictures: are they right, how fast are they drawn, how long takes the first frame, how much memory a large pass.

use crate::parent::{Bench, Section, What, clock, words};
use client::drivers::Threads;
use client::pictures::{FIRST_FRAMES, Spec};
use client::session::{Answer, Request};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The verdict on a picture that is as its formula says.
pub const RIGHT: &str = "right";

/// Resident memory of one driver's process, in bytes.
#[derive(Serialize, Debug, Default)]
pub struct Memory {
    pub before: u64,
    pub peak: u64,
    pub resolved_image: u64,
    pub error: Option<String>,
}

/// Every driver's pictures against the formula.
pub fn verdicts(bench: &Bench) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    if !bench.chosen.pictures.is_empty() {
        println!("\npictures, against their formulas");
    }
    for p in &bench.chosen.pictures {
        let mut verdicts = BTreeMap::new();
        for driver in &bench.drivers {
            let verdict = match bench.once(driver, Threads::All, &Request::Check { picture: p.name.into() }) {
                Ok(Answer::Done) => RIGHT.to_string(),
                Ok(other) => format!("unexpected answer {other:?}"),
                Err(e) => e,
            };
            println!("  {:10} {:12} {verdict}", p.name, driver.name);
            verdicts.insert(driver.name.clone(), verdict);
        }
        all.insert(p.name.to_string(), verdicts);
    }
    all
}

/// Millions of pixels or triangles a second, net of clear. Who clears sooner has less to subtract: [`frames`] shows the
/// sum.
pub fn speeds(bench: &Bench, threads: Threads) -> Section {
    let mut section = of(bench, threads, What::Net, "pictures net of clear");
    for (row, picture) in section.rows.iter_mut().zip(&bench.chosen.pictures) {
        row.work = Some(picture.work());
    }
    section
}

/// Milliseconds of whole frames.
pub fn frames(bench: &Bench, threads: Threads) -> Section {
    of(bench, threads, What::Frames, "pictures with their clear")
}

fn of(bench: &Bench, threads: Threads, what: What, title: &str) -> Section {
    let (budget_ms, whole) = (bench.args.budget_ms, what == What::Frames);
    let request = |p: &Spec| (p.name, Request::Picture { picture: p.name.into(), budget_ms, whole });
    Section {
        what,
        title: format!("{title}, {}", words(threads)),
        clock: clock(threads),
        rows: bench.rounds(threads, bench.chosen.pictures.iter().copied().map(request)),
        threads,
    }
}

/// Creation + first draw of pipelines whose constants are new in every process.
pub fn first_frames(bench: &Bench, threads: Threads) -> Section {
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let rows = FIRST_FRAMES
        .iter()
        .map(|first| {
            bench.fresh(threads, first.name, || {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                Request::FirstFrame { shader: first.name.to_string(), seed }
            })
        })
        .collect();
    let title = format!("first frame of a new pipeline (creation + draw over one tile), {}", words(threads));
    Section { what: What::First, title, clock: clock(threads), rows, threads }
}

/// The peak of the large multisampled pass, on all threads.
pub fn memory(bench: &Bench) -> BTreeMap<String, Memory> {
    const MIB: f64 = (1 << 20) as f64;
    println!("\nmemory of a 4096×4096 RGBA8 + D32 pass with 4× transient attachments, MiB resident");
    println!("{:12} {:>10} {:>10} {:>28}", "", "before", "peak", "peak less resolved image");
    let mut all = BTreeMap::new();
    for driver in &bench.drivers {
        let memory = match bench.once(driver, Threads::All, &Request::Footprint) {
            Ok(Answer::Footprint { before, peak, image }) => {
                let [b, p, above] = [before, peak, peak - image].map(|v| v as f64 / MIB);
                println!("{:12} {b:>10.1} {p:>10.1} {above:>28.1}", driver.name);
                Memory { before, peak, resolved_image: image, error: None }
            }
            Ok(other) => Memory { error: Some(format!("unexpected answer {other:?}")), ..Default::default() },
            Err(e) => Memory { error: Some(e), ..Default::default() },
        };
        if let Some(e) = &memory.error {
            println!("{:12} {e}", driver.name);
        }
        all.insert(driver.name.clone(), memory);
    }
    all
}

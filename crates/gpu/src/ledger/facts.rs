//! The file of a capture's facts beside counters (docs/capture.md): images, what runs read and write, attachments, state of draws.

use super::{Queue, file};
use counters::work::Counted;
use machine::facts::{ImageFact, Uses, images};
use raster::facts::{DrawFacts, PassFacts};
use serde::Serialize;
use small_sort::SmallSort;

/// Of the shape. It changes when readers of the last one would misread the new one; what is added changes nothing.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct File<'a> {
    version: u32,
    images: Vec<ImageFact>,
    uses: Vec<&'a Uses>,
    /// Order of a run, and which of `uses` are its.
    runs: Vec<(u64, usize)>,
    passes: Vec<Pass<'a>>,
}

#[derive(Serialize)]
struct Pass<'a> {
    workload: usize,
    /// Order of the run that the facts are of.
    order: u64,
    #[serde(flatten)]
    facts: &'a PassFacts,
    draws: Vec<Draw<'a>>,
}

#[derive(Serialize)]
struct Draw<'a> {
    name: &'a str,
    label: &'a str,
    #[serde(flatten)]
    facts: &'a DrawFacts,
    counted: Counted,
}

pub(super) fn json(devices: &[Vec<Queue>]) -> Vec<u8> {
    let (mut uses, mut runs, mut passes, mut workloads) = (vec![], vec![], vec![], 0);
    for q in devices.iter().flatten() {
        let first = uses.len();
        uses.extend(&q.uses);
        runs.extend(q.runs.iter().filter_map(|r| Some((r.number.order, first + r.uses?))));
        passes.extend(q.rows.iter().enumerate().filter_map(|(i, row)| {
            let (record, run) = row.longest.as_ref()?;
            let seen = record.seen.as_deref()?;
            let draws = seen.draws.told.iter();
            Some(Pass {
                workload: workloads + i,
                order: q.runs.get(*run)?.number.order,
                facts: &seen.facts,
                draws: draws
                    .map(|d| Draw {
                        name: &d.name,
                        label: &d.label,
                        facts: &d.facts,
                        counted: Counted::of(&d.counts),
                    })
                    .collect(),
            })
        }));
        workloads += q.rows.len();
    }
    runs.small_sort();
    file::written(&File { version: VERSION, images: images(), uses, runs, passes })
}

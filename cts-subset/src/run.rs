//! The run: chunks of cases go to a fixed number of workers; a category is reported when its last chunk is done.

use crate::baseline::Baseline;
use crate::cases::Category;
use crate::deqp::Deqp;
use crate::expected::Expectation;
use crate::report::{self, CategoryRun, Results};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

pub fn run(
    deqp: &Deqp,
    categories: &[Category],
    jobs: usize,
    chunk: usize,
    expectations: &[Expectation],
    baseline: &Baseline,
    peer: Option<&Results>,
) -> Vec<CategoryRun> {
    // A short list is cut finer, so that no worker idles while another has all of it.
    let work: Vec<(usize, &[String])> = categories
        .iter()
        .enumerate()
        .flat_map(|(i, c)| {
            let size = chunk.min(c.cases.len().div_ceil(jobs)).max(1);
            c.cases.chunks(size).map(move |cases| (i, cases))
        })
        .collect();
    let mut open: Vec<usize> =
        (0..categories.len()).map(|i| work.iter().filter(|(c, _)| *c == i).count()).collect();
    let mut runs: Vec<CategoryRun> = categories
        .iter()
        .map(|c| CategoryRun::new(c.name.clone(), c.cases.len(), baseline.get(&c.name).copied()))
        .collect();
    report::header();
    let next = AtomicUsize::new(0);
    let (send, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (send, next, work) = (send.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((category, cases)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let results = deqp.run(cases);
                    if send.send((*category, results, start.elapsed().as_secs_f64())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (category, results, seconds) in results {
            let run = &mut runs[category];
            run.cases.extend(results);
            // Wall time had the workers been the category's alone.
            run.seconds += seconds / jobs as f64;
            open[category] -= 1;
            if open[category] == 0 {
                run.judge(expectations, peer);
                report::row(run);
            }
        }
    });
    runs
}

//! That modelled time costs little: ten thousand draws of a pass over five hundred regions, and ten thousand jobs, within a second.

use counters::cost::{self, Draw};
use counters::{Ask, Counts, Event, Job, Load, Model, Phase, Unit};
use schedule::{Gpu, Known, Line};
use std::time::Instant;

const DRAWS: u64 = 10_000;
const REGIONS: u64 = 500;
/// Jobs that the driver places together.
const TOGETHER: usize = 128;

/// Draws of different sizes, each in some of the regions.
fn pass(m: &Model) -> Job {
    let mut all = Counts::default();
    all[Event::MainJobs] = 1;
    all[Event::MainTasks] = REGIONS;
    let draws: Vec<Draw> = (0..DRAWS)
        .map(|n| {
            let mut load = Load::default();
            load[Ask::Warps] = 10 + n % 977;
            load[Ask::Fma] = 100 * (1 + n % 13);
            load[Ask::Samples] = n % 7;
            Draw { load, tasks: 1 + n % REGIONS }
        })
        .collect();
    draws.iter().for_each(|d| all[(Phase::Main, Unit::Warps)] += d.load[Ask::Warps]);
    let weights: Vec<u64> = (0..REGIONS).map(|n| 1000 + 31 * (n % 17)).collect();
    cost::main(&all, &draws, &weights, REGIONS, m).job
}

#[test]
fn ten_thousand_draws_and_jobs_within_a_second() {
    let m = Model::default();
    let begin = Instant::now();
    let main = pass(&m);
    assert!(main.cycles > 0);
    let (mut gpu, mut line) = (Gpu::default(), Line::default());
    let mut c = Counts::default();
    c[Event::ComputeJobs] = 1;
    c[Event::ComputeTasks] = 100;
    c[(Phase::Compute, Unit::Fma)] = 100_000;
    c[(Phase::Compute, Unit::Warps)] = 1000;
    let job = cost::compute(&c, &m);
    let mut last = 0;
    for _ in 0..DRAWS as usize / TOGETHER {
        let mut ahead = line.ahead();
        (0..TOGETHER).for_each(|n| if n % 2 == 0 { ahead.dispatch(&job) } else { ahead.pass([&job, &main]) });
        let mut known = Known(ahead.run(&mut gpu, &m).into());
        for n in 0..TOGETHER {
            let end = match n % 2 {
                0 => line.dispatch(&mut known, &job, &m).end,
                _ => line.pass(&mut known, [&job, &main], &m)[1].end,
            };
            last = end.max(last);
        }
    }
    let took = begin.elapsed();
    assert!(last > DRAWS && took.as_secs_f64() < 1.0, "{took:?}");
    println!("{took:?}");
}

//! A capture (docs/capture.md) as a Perfetto trace: docs/trace.md.

mod perfetto;
mod proto;

use crate::report;
use crate::report::capture::{Capture, Run, Workload};
use counters::{Block, Counter, Measure, catalogue};
use perfetto::{Category, CounterSpec, Specification, Stage, Trace};
use std::collections::BTreeMap;
use std::path::Path;

const fn specification(name: &'static str, description: &'static str, category: Category) -> Specification {
    Specification { name, description, category }
}

/// Hardware queues, then stages, by the names that Mali's driver gives them: Arm's readers know no others.
const SPECIFICATIONS: [Specification; 17] = [
    specification("compute", "The queue of compute work.", Category::Compute),
    specification("binning", "The queue of binning.", Category::Graphics),
    specification("main", "The queue of main phases.", Category::Graphics),
    specification("compute", "A dispatch.", Category::Compute),
    specification("binning", "Positions of a render pass, and where its primitives are.", Category::Graphics),
    specification("main", "Regions of a render pass.", Category::Graphics),
    specification("copy buffer", "A copy to a buffer.", Category::Other),
    specification("fill buffer", "A buffer's words are set.", Category::Other),
    specification("copy image", "A copy to an image, or a resolve.", Category::Other),
    specification("blit image", "A copy with a filter.", Category::Other),
    specification("clear image", "An image's texels are set.", Category::Other),
    specification("trace_rays", "A launch of a ray tracing pipeline.", Category::Compute),
    specification(FAST_BUILD, "Builds that prefer a fast build.", Category::Compute),
    specification(FAST_TRACE, "Other builds.", Category::Compute),
    specification("acceleration structure update", "Updates of structures.", Category::Compute),
    specification("acceleration structure copy to memory", "A structure is serialised.", Category::Other),
    specification("acceleration structure copy from memory", "A structure is deserialised.", Category::Other),
];
const QUEUES: usize = 3;
const FAST_BUILD: &str = "acceleration structure 'fast build' build";
const FAST_TRACE: &str = "acceleration structure 'fast trace' build";

/// The place of a job's queue among the specifications.
fn queue(name: &str) -> Option<usize> {
    SPECIFICATIONS[..QUEUES].iter().position(|s| s.name == name)
}

/// The place of what a job does.
fn stage(w: &Workload, queue: usize) -> usize {
    let name = match (w.kind.as_str(), w.name.as_str()) {
        ("transfer", "copy buffer" | "copy image to buffer") => "copy buffer",
        ("transfer", "fill buffer" | "update buffer") => "fill buffer",
        ("transfer", "blit image") => "blit image",
        ("transfer", "clear image") => "clear image",
        ("transfer", "build acceleration structures (fast build)") => FAST_BUILD,
        ("transfer", "build acceleration structures") => FAST_TRACE,
        ("transfer", "update acceleration structures") => "acceleration structure update",
        ("transfer", "serialize acceleration structure") => "acceleration structure copy to memory",
        ("transfer", "deserialize acceleration structure") => "acceleration structure copy from memory",
        // Mali's driver has no name for these: a copy of bytes, and work of the compute queue.
        ("transfer", "copy acceleration structure") => "copy buffer",
        ("transfer", "build micromaps") => "compute",
        ("transfer", _) => "copy image",
        ("trace rays", _) => "trace_rays",
        _ => SPECIFICATIONS[queue].name,
    };
    let place = SPECIFICATIONS[QUEUES..].iter().position(|s| s.name == name);
    QUEUES + place.expect("a stage for each queue and name above")
}

/// The label of a workload as Arm's GPU Timeline layer wants it back: its own tag (t and a number), which it puts around each
/// workload, within the application's labels; else all labels.
fn tag(label: &str) -> &str {
    let last = label.rsplit('/').next().unwrap_or(label);
    let is_tag =
        last.strip_prefix('t').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if is_tag { last } else { label }
}

/// When a run's first job began and its last one ended.
fn span(run: &Run) -> Option<(u64, u64)> {
    let begin = run.jobs.iter().map(|j| j.begin_ns).min()?;
    Some((begin, run.jobs.iter().map(|j| j.end_ns).max()?.max(begin)))
}

/// Spans by name, in order of their begins, on tracks of which none holds two at once.
fn tracks(trace: &mut Trace, name: &str, first: u64, mut spans: Vec<(u64, u64, String)>) -> u64 {
    spans.sort();
    // What is on each track ends here.
    let mut ends: Vec<u64> = vec![];
    for (begin, end, what) in spans {
        let free = ends.iter().position(|e| *e <= begin).unwrap_or_else(|| {
            trace.track(first + ends.len() as u64, name);
            ends.push(0);
            ends.len() - 1
        });
        ends[free] = end;
        trace.slice(first + free as u64, begin, end, &what);
    }
    first + ends.len() as u64
}

/// Each device's frames, from the first run's begin to the last one's end.
fn frames(capture: &Capture, runs: &[Run]) -> Vec<(u64, u64, String)> {
    let mut all: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
    for run in runs {
        let (Some(frame), Some((begin, end))) = (run.frame, span(run)) else { continue };
        let of = all.entry((capture.workloads[run.workload].device, frame)).or_insert((begin, end));
        *of = (of.0.min(begin), of.1.max(end));
    }
    all.into_iter().map(|((_, frame), (begin, end))| (begin, end, format!("frame {frame}"))).collect()
}

/// Runs of a queue that follow each other under one label.
fn labels(capture: &Capture, runs: &[Run]) -> Vec<(u64, u64, String)> {
    let mut all: Vec<(u64, u64, String)> = vec![];
    let mut last = None;
    for run in runs {
        let w = &capture.workloads[run.workload];
        let Some((begin, end)) = span(run) else { continue };
        let here = (w.device, w.queue, &w.label);
        match all.last_mut() {
            _ if w.label.is_empty() => {}
            Some(of) if last == Some(here) => {
                *of = (of.0.min(begin), of.1.max(end), std::mem::take(&mut of.2))
            }
            _ => all.push((begin, end, w.label.clone())),
        }
        last = Some(here);
    }
    all
}

/// Counters that add up, by their places in a device's descriptor.
fn counted(runs: &[&Run]) -> Vec<&'static Counter> {
    let has = |c: &Counter| runs.iter().any(|r| r.counters.contains_key(c.machine));
    catalogue::reported().iter().copied().filter(|c| c.block != Block::Derived && has(c)).collect()
}

/// MeasureUnit.
fn units(c: &Counter) -> &'static [u64] {
    match (c.measure(), c.unit) {
        (Measure::Bytes, _) => &[7],
        (Measure::Nanoseconds, _) => &[19],
        (Measure::Percentage, _) => &[37],
        (_, "instructions") => &[40],
        (_, "pixels") => &[26],
        (_, "primitives") => &[38],
        _ => &[],
    }
}

/// GpuCounterGroup: of memory, of primitives, or the system's.
fn group(c: &Counter) -> u64 {
    match c.block {
        Block::MemorySystem => 5,
        Block::Tiler => 4,
        Block::GpuFrontend => 1,
        Block::ShaderCore | Block::Derived => 0,
    }
}

/// What one device counted. A run's counts are spread evenly from its begin to its end, so that what is shown at a moment is what all
/// that ran then counted; samples add up to the runs' counts.
fn counters(trace: &mut Trace, device: u64, runs: &[&Run]) {
    let specs = counted(runs);
    let spans: Vec<_> = runs.iter().filter_map(|r| Some((span(r)?, *r))).collect();
    let mut times: Vec<u64> = spans.iter().flat_map(|((b, e), _)| [*b, *e]).collect();
    times.sort_unstable();
    times.dedup();
    let Some(first) = times.first().copied().filter(|_| !specs.is_empty()) else { return };
    let about: Vec<_> = specs
        .iter()
        .map(|c| CounterSpec { name: c.human, description: c.description, units: units(c), group: group(c) })
        .collect();
    trace.counter_specs(first, device, &about);
    // By interval, what each counter counted in it; the sample stands at the interval's end.
    let mut samples: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); times.len()];
    for ((begin, end), run) in &spans {
        let place = |t: u64| times.binary_search(&t).unwrap_or(0);
        let (from, to) = (place(*begin), place(*end));
        for (i, c) in specs.iter().enumerate() {
            let v = crate::report::capture::number(&run.counters, c.machine);
            if v == 0.0 {
                continue;
            }
            if from == to {
                *samples[to].entry(i).or_default() += v;
            }
            for k in from..to {
                let part = (times[k + 1] - times[k]) as f64 / (end - begin) as f64;
                *samples[k + 1].entry(i).or_default() += v * part;
            }
        }
    }
    let mut shown: Vec<bool> = vec![true; specs.len()];
    for (k, sample) in samples.iter().enumerate() {
        // A counter that counts nothing any more says so once.
        let of = |i: &usize| sample.get(i).copied().unwrap_or(0.0);
        let values: Vec<(usize, f64)> =
            (0..specs.len()).filter(|i| shown[*i] || sample.contains_key(i)).map(|i| (i, of(&i))).collect();
        shown = (0..specs.len()).map(|i| sample.contains_key(&i)).collect();
        if !values.is_empty() {
            trace.counters(times[k], device, &values);
        }
    }
}

/// What else is told of a job.
fn extra(w: &Workload, run: &Run, job: &crate::report::capture::Job) -> Vec<(&'static str, String)> {
    let mut all = vec![("workload", w.what()), ("VkQueue", w.queue.to_string())];
    if !w.label.is_empty() {
        // By this name Arm's readers look for it.
        all.push(("Labels", tag(&w.label).into()));
        all.push(("all labels", w.label.clone()));
    }
    all.extend(run.frame.map(|f| ("frame", f.to_string())));
    all.extend(job.bound.as_ref().map(|b| ("bound by", b.clone())));
    let cycles = [
        ("active cycles", job.active_cycles),
        ("blocked cycles", job.blocked_cycles),
        ("drained cycles", job.drained_cycles),
        ("waited cycles", job.waited_cycles),
    ];
    all.extend(cycles.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name, n.to_string())));
    all
}

/// The file's bytes.
///
/// # Errors
/// The capture has no runs: it is a file of `run --counters`.
pub fn perfetto(capture: &Capture) -> client::Result<Vec<u8>> {
    let none = || client::Error("no capture: a file of `run --counters` has no runs".into());
    let runs = capture.runs.as_ref().ok_or_else(none)?;
    let mut trace = Trace::default();
    trace.begin(&SPECIFICATIONS);
    let spans: Vec<_> = runs.iter().filter_map(span).collect();
    trace.clocks(spans.iter().map(|s| s.0).min().unwrap_or(0));
    let mut id = 0;
    for run in runs {
        let w = &capture.workloads[run.workload];
        for job in &run.jobs {
            let Some(queue) = queue(&job.queue) else { continue };
            id += 1;
            let name = if w.label.is_empty() { w.what() } else { w.label.clone() };
            trace.stage(&Stage {
                id,
                begin_ns: job.begin_ns,
                duration_ns: job.end_ns.saturating_sub(job.begin_ns),
                gpu: w.device,
                queue,
                stage: stage(w, queue),
                submission: run.submission,
                name: &name,
                extra: extra(w, run, job),
            });
        }
    }
    let next = tracks(&mut trace, "Frames", 1, frames(capture, runs));
    tracks(&mut trace, "Labels", next, labels(capture, runs));
    let devices: std::collections::BTreeSet<u64> = capture.workloads.iter().map(|w| w.device).collect();
    for device in devices {
        let own: Vec<&Run> = runs.iter().filter(|r| capture.workloads[r.workload].device == device).collect();
        counters(&mut trace, device, &own);
    }
    trace.clocks(spans.iter().map(|s| s.1).max().unwrap_or(0));
    Ok(trace.bytes())
}

/// Makes the trace of a capture's folder.
pub fn write(folder: &Path, file: &Path) -> client::Result<()> {
    let bytes = perfetto(&Capture::read(folder)?)?;
    std::fs::write(file, &bytes).map_err(|e| client::Error::file(file, e))?;
    eprintln!(
        "tuff: {}: a trace of {}, for ui.perfetto.dev",
        file.display(),
        report::bytes(bytes.len() as f64)
    );
    Ok(())
}

#[cfg(test)]
mod tests;

//! What the page knows, as JSON that is small: counters by columns, names once.

use super::capture::{ACTIVE, Capture, Counters, FACTS, Job, Regions, command, number};
use super::{occupancy, picture, shaders, structures};
use crate::advise::Advice;
use crate::costs::Shader;
use client::Result;
use counters::bound::{Take, Wait};
use counters::{Counter, catalogue};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Bytes of counters by run that a page has of a capture: of more, counters that come later in the catalogue are left out.
const RUNS: usize = 1_300_000;
/// Runs that a page has of a capture, the first.
const MOST_RUNS: usize = 8_000;
/// Runs of more have no takes, or no waits, of their own: their workloads' tell.
const DETAILED: usize = 3_000;
const WAITING: usize = 800;
/// Draws that a page has of a capture, of its passes in order, and bytes of their counters.
const MOST_DRAWS: usize = 4_000;
const DRAWS: usize = 460_000;
/// Bytes of counters by region.
const REGIONS: usize = 650_000;
/// Advice that a page has, the first.
const MOST_ADVICE: usize = 40;
/// Operators of a data graph that a page has, the first.
const MOST_OPERATORS: usize = 2_000;
/// Bytes of pictures.
const PICTURES: usize = 900_000;

/// What the table shows before somebody chooses columns: it has room before all others.
const FIRST: [&str; 8] = [
    CORES,
    ACTIVE,
    "MaliFragWarp",
    "MaliFragRastQd",
    "TuffFmaInstr",
    "TuffTexFilterOps",
    "MaliExtBusRdBy",
    "MaliExtBusWrBy",
];
/// Cores' cycles of a pass, which its draws share.
const CORES: &str = "MaliAnyActiveCy";

/// Front-end queues, as jobs name them.
const QUEUES: [&str; 3] = ["compute", "binning", "main"];

/// As many digits as a person reads; whole numbers whole.
fn brief(v: f64) -> Value {
    if v.fract() == 0.0 && v.abs() < 9e15 {
        return json!(v as i64);
    }
    let digits = 5 - v.abs().log10().floor().clamp(-300.0, 300.0) as i32;
    // A negative power is not exact, nor the same on all systems.
    let scale = 10f64.powi(digits.abs());
    json!(if digits < 0 { (v / scale).round() * scale } else { (v * scale).round() / scale })
}

/// The counters that the page names, of all captures.
pub struct Names(Vec<&'static Counter>);

impl Names {
    pub fn of(captures: &[Capture]) -> Names {
        let regions = |c: &'_ Capture, m: &str| {
            c.passes.iter().filter_map(|p| p.regions.as_ref()).any(|r| r.counters.contains_key(m))
        };
        let used = |k: &&&Counter| {
            captures.iter().any(|c| number(&c.total, k.machine) != 0.0 || regions(c, k.machine))
        };
        Names(catalogue::reported().iter().filter(used).copied().collect())
    }

    /// Machine name, human name, unit, block, description, whether values add up.
    pub fn json(&self) -> Value {
        let sums = |c: &Counter| c.block != counters::Block::Derived && c.unit != "percent";
        let of =
            |c: &&Counter| json!([c.machine, c.human, c.unit, c.block.title(), c.description, sums(c) as u8]);
        self.0.iter().map(of).collect()
    }

    /// By place of the counter a column, of those that are not 0 everywhere; as many columns as there is `room` for, [`FIRST`]
    /// before the others, and how many have none.
    fn columns<'a>(&self, rows: impl Iterator<Item = &'a Counters> + Clone, room: usize) -> (Value, usize) {
        let (mut all, mut size, mut left_out) = (Map::new(), 0, 0);
        let mut order: Vec<_> = self.0.iter().enumerate().collect();
        order.sort_by_key(|(_, c)| !FIRST.contains(&c.machine));
        for (i, c) in order {
            let column: Vec<Value> = rows.clone().map(|r| brief(number(r, c.machine))).collect();
            if column.iter().all(|v| *v == 0) {
                continue;
            }
            let text: usize = column.iter().map(|v| v.to_string().len() + 1).sum();
            if size + text > room {
                left_out += 1;
                continue;
            }
            size += text;
            all.insert(i.to_string(), column.into());
        }
        (Value::Object(all), left_out)
    }

    /// The same of counters that are columns already.
    fn regions(&self, r: &Regions, room: &mut usize) -> Map<String, Value> {
        let mut all = Map::new();
        for (i, c) in self.0.iter().enumerate() {
            let Some(Value::Array(values)) = r.counters.get(c.machine) else { continue };
            let column: Vec<Value> = values.iter().map(|v| v.as_f64().map_or(json!(0), brief)).collect();
            let size: usize = column.iter().map(|v| v.to_string().len() + 1).sum();
            if size > *room {
                continue;
            }
            *room -= size;
            all.insert(i.to_string(), column.into());
        }
        all
    }
}

fn takes(j: &Job) -> Value {
    let of = |t: &Take| number(&j.takes, t.key());
    let some = Take::ALL.iter().enumerate().filter(|(_, t)| of(t) > 0.0);
    some.flat_map(|(i, t)| [json!(i), brief(of(t))]).collect()
}

/// The parts of a job's time by their places in [`all_parts`], nanoseconds.
fn waits(j: &Job) -> Value {
    let some = part_keys().enumerate().map(|(i, key)| (i, number(&j.waits, key))).filter(|p| p.1 > 0.0);
    some.flat_map(|(i, ns)| [json!(i), brief(ns)]).collect()
}

fn part_keys() -> impl Iterator<Item = &'static str> {
    Wait::ALL.iter().map(|w| w.key()).chain(Take::ALL.iter().map(|t| t.key()))
}

/// Words of all that a job's time has parts of, and those that it takes itself.
pub fn all_parts() -> Value {
    let waits = Wait::ALL.iter().map(|w| json!([w.words(), w.doc(), false]));
    waits.chain(Take::ALL.iter().map(|t| json!([t.words(), t.doc(), true]))).collect()
}

fn place(key: &str) -> i64 {
    Take::ALL.iter().position(|t| t.key() == key).map_or(-1, |i| i as i64)
}

fn bound(j: &Job) -> i64 {
    j.bound.as_deref().map_or(-1, place)
}

/// Active cycles by what bound them, the places of things before each.
fn bounds(j: &Job) -> Value {
    j.by_bound().iter().flat_map(|(key, cycles)| [json!(place(key)), json!(cycles)]).collect()
}

fn queue(j: &Job) -> usize {
    QUEUES.iter().position(|q| *q == j.queue).unwrap_or(0)
}

/// Key and words of all that takes time, by their places.
pub fn all_takes() -> Value {
    Take::ALL.iter().map(|t| json!([t.key(), t.words(), t.doc()])).collect()
}

/// A capture; `tell` hears what is under way.
pub fn of(
    c: &Capture,
    shaders: &[Shader],
    names: &Names,
    name: &str,
    mut tell: impl FnMut(String),
) -> Result<Value> {
    let workloads: Vec<Value> = c
        .workloads
        .iter()
        .map(|w| {
            let job = |j: &Job| {
                json!([
                    queue(j),
                    j.active_cycles,
                    j.blocked_cycles,
                    j.drained_cycles,
                    j.waited_cycles,
                    bound(j),
                    takes(j),
                    bounds(j),
                    waits(j)
                ])
            };
            json!({
                "device": w.device, "queue": w.queue, "kind": w.kind, "label": w.label, "name": w.named(), "times": w.times,
                "begin": w.begin_ns, "end": w.end_ns, "time": w.cycles() / c.cycles_a_ns(),
                "jobs": w.jobs.iter().map(job).collect::<Vec<_>>(),
                "operators": &w.operators[..w.operators.len().min(MOST_OPERATORS)],
                "operatorsLost": w.operators.len().saturating_sub(MOST_OPERATORS),
            })
        })
        .collect();
    let all_runs = c.runs.as_deref().unwrap_or_default();
    let runs = &all_runs[..all_runs.len().min(MOST_RUNS)];
    let mut jobs: Vec<Value> = vec![];
    for (i, r) in runs.iter().enumerate() {
        for j in &r.jobs {
            let mut job = vec![
                json!(i),
                json!(queue(j)),
                json!(j.begin_ns),
                json!(j.end_ns.saturating_sub(j.begin_ns)),
                json!(j.active_cycles),
                json!(j.blocked_cycles),
                json!(j.drained_cycles),
                json!(j.waited_cycles),
                json!(bound(j)),
            ];
            if runs.len() <= DETAILED {
                job.push(takes(j));
            }
            if runs.len() <= WAITING {
                job.push(waits(j));
            }
            jobs.push(job.into());
        }
    }
    tell("counters".into());
    let (run_columns, left_out) = names.columns(runs.iter().map(|r| &r.counters), RUNS);
    let room = usize::MAX;
    let total = names.columns([&c.total].into_iter(), room).0;
    let all_draws = c.passes.iter().enumerate().flat_map(|(i, p)| p.draws.iter().map(move |d| (i, d)));
    let draws: Vec<_> = all_draws.clone().take(MOST_DRAWS).collect();
    let draws_lost =
        (all_draws.count() - draws.len()) as u64 + c.passes.iter().map(|p| p.draws_lost).sum::<u64>();
    let (draw_columns, draw_columns_left_out) = names.columns(draws.iter().map(|d| &d.1.counters), DRAWS);
    // Labels and names once: a pass draws much in the same way.
    let mut titles: Vec<[&str; 2]> = vec![];
    let mut known = HashMap::new();
    let mut title = vec![];
    for (_, d) in &draws {
        let words = [d.label.as_str(), d.name.as_str()];
        title.push(*known.entry(words).or_insert_with(|| {
            titles.push(words);
            titles.len() - 1
        }));
    }
    let passes = passes(c, names, &mut tell)?;
    let (structures, structures_lost) = structures::of(c);
    let shaders = shaders::of(c, shaders, |i, n| tell(format!("shader {} of {n}", i + 1)))?;
    let occupancy = occupancy::of(c, runs);
    tell("advice".into());
    let advice = advice(c);
    Ok(json!({
        "name": name, "command": c.runs.as_ref().and_then(|_| command(&c.folder)), "gpu": c.gpu, "model": c.model, "captured": c.runs.is_some(),
        "total": total,
        "workloads": workloads,
        "workloadCounters": names.columns(c.workloads.iter().map(|w| &w.counters), room).0,
        "frames": c.frames.iter().map(|f| json!([f.device, f.queue, f.frame])).collect::<Vec<_>>(),
        "frameCounters": names.columns(c.frames.iter().map(|f| &f.counters), room).0,
        "runs": runs.iter().map(|r| json!([r.workload, r.frame, r.submission, brief(number(&r.counters, ACTIVE) / c.cycles_a_ns())])).collect::<Vec<_>>(),
        "runsLost": c.runs_lost + (all_runs.len() - runs.len()) as u64,
        "runCounters": run_columns,
        "runCountersLeftOut": left_out,
        "jobs": jobs,
        "occupancy": occupancy,
        "passes": passes,
        "drawTitles": titles,
        "draws": draws.iter().zip(title).map(|((pass, _), t)| json!([pass, t])).collect::<Vec<_>>(),
        "drawsLost": draws_lost,
        "drawCounters": draw_columns,
        "drawCountersLeftOut": draw_columns_left_out,
        "shaders": shaders,
        "structures": structures,
        "structuresLost": structures_lost,
        "advice": advice,
    }))
}

/// What `tuff advise` says of a capture that has the facts for it, or why it says nothing.
fn advice(c: &Capture) -> Value {
    if c.runs.is_none() || !c.folder.join(FACTS).exists() {
        return Value::Null;
    }
    match Advice::of(&c.folder, &[], false) {
        Ok(mut advice) => {
            let more = advice.items.len().saturating_sub(MOST_ADVICE);
            advice.items.truncate(MOST_ADVICE);
            advice.small += more;
            crate::advise::json(&advice)
        }
        Err(e) => json!({ "error": plain::message(&e.to_string()) }),
    }
}

/// Pictures and regions, as many as there is room for.
fn passes(c: &Capture, names: &Names, tell: &mut impl FnMut(String)) -> Result<Vec<Value>> {
    let mut room = REGIONS;
    let each = PICTURES / c.passes.iter().filter(|p| p.picture.is_some()).count().max(1);
    let mut all = vec![];
    for (i, p) in c.passes.iter().enumerate() {
        tell(format!("picture {} of {}", i + 1, c.passes.len()));
        let picture = match &p.picture {
            Some(file) => picture::embedded(&c.folder.join(file), each)?,
            None => None,
        };
        let regions = p.regions.as_ref().map(|r| {
            json!({
                "side": r.side, "origin": r.origin, "across": r.across, "down": r.down,
                "counters": names.regions(r, &mut room),
            })
        });
        let run = c.runs.as_ref().and_then(|r| r.get(p.run));
        all.push(json!({
            "workload": p.workload, "run": p.run, "picture": picture, "of": p.picture_of, "regions": regions,
            "cores": run.map_or(0.0, |r| number(&r.counters, CORES)),
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_brief_and_whole_ones_whole() {
        assert_eq!(brief(12_345_678.0), json!(12_345_678));
        assert_eq!(brief(0.123_456_789), json!(0.123457));
        assert_eq!(brief(1_234.567_891), json!(1234.57));
        assert_eq!(brief(0.0), json!(0));
    }

    #[test]
    fn columns_of_zeros_are_left_out_and_so_is_what_has_no_room() {
        let names = Names(catalogue::reported().iter().take(2).copied().collect());
        let [a, b] = [names.0[0].machine, names.0[1].machine];
        let row =
            |x: u64, y: u64| Counters::from_iter([(a.to_string(), json!(x)), (b.to_string(), json!(y))]);
        let rows = [row(1, 0), row(22, 0)];
        assert_eq!(names.columns(rows.iter(), 100), (json!({ "0": [1, 22] }), 0));
        let rows = [row(1, 2), row(3, 4)];
        assert_eq!(names.columns(rows.iter(), 5), (json!({ "0": [1, 3] }), 1));
    }
}

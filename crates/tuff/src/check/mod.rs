//! `tuff run --check`: whether the file of `--counters`, or of `--capture`, agrees with itself, with the model's figures and with the catalogue's
//! formulas. It knows the file and what is published of the model (docs/model.md), not the driver.

mod rows;

use counters::formula::Formula;
use counters::{Counter, Counts, Model, catalogue};
use rows::{Is, NAMES, On, ROWS};
use serde_json::Value;
use std::path::Path;

/// What was found.
#[derive(Debug)]
struct Report {
    /// A line for each violation.
    told: Vec<String>,
    /// What was checked, in a line.
    summary: String,
}

fn error(text: String) -> client::Error {
    client::Error(text)
}

/// A workload, frame, device or the total.
struct Place {
    name: String,
    /// Of all counters of the catalogue, in its order, then of [`NAMES`].
    values: Vec<f64>,
    on: &'static [On],
}

/// A side of an invariant.
struct Side {
    text: &'static str,
    formula: Formula,
    /// The counter whose formula it is: it cuts what that gives.
    of: Option<&'static Counter>,
}

impl Side {
    fn parse(text: &'static str) -> client::Result<Side> {
        let own = |n: &str| NAMES.iter().position(|o| *o == n).map(|i| catalogue::all().len() + i);
        let formula = Formula::parse(text, &|n| catalogue::place(n).or_else(|| own(n))).map_err(error)?;
        Ok(Side { text, formula, of: None })
    }
    fn value(&self, place: &Place, m: &Model) -> f64 {
        let v = self.formula.value(&Counts::default(), m, &|i| place.values.get(i).copied().unwrap_or(0.0));
        self.of.map_or(v, |c| c.cut(v))
    }
}

struct Invariant {
    name: String,
    on: On,
    left: Side,
    is: Is,
    right: Side,
}

/// Those of the table, and that each counter follows from others as its formula says.
fn invariants() -> client::Result<Vec<Invariant>> {
    let mut all = vec![];
    for r in ROWS {
        let (left, right) = (Side::parse(r.left)?, Side::parse(r.right)?);
        all.push(Invariant { name: r.name.into(), on: r.on, left, is: r.is, right });
    }
    for &c in catalogue::reported() {
        let (Some(text), Some(formula)) = (c.formula, c.from_others()) else { continue };
        let right = Side { text, formula, of: Some(c) };
        let name = format!("formula of {}", c.machine);
        all.push(Invariant { name, on: On::All, left: Side::parse(c.machine)?, is: Is::Equal, right });
    }
    Ok(all)
}

/// Beyond what reading a number from text rounds.
fn exceeds(a: f64, b: f64) -> bool {
    // What is no number exceeds all.
    a.is_nan() || b.is_nan() || a > b + a.abs().max(b.abs()) * 1e-12
}

impl Invariant {
    /// A line if it does not hold.
    fn violated(&self, place: &Place, m: &Model) -> Option<String> {
        let (a, b) = (self.left.value(place, m), self.right.value(place, m));
        let (wrong, want) = match self.is {
            Is::AtMost => (exceeds(a, b), "is more than"),
            Is::Equal => (exceeds(a, b) || exceeds(b, a), "is not"),
        };
        let (left, right) = (self.left.text, self.right.text);
        wrong.then(|| format!("{}: {}: {left} = {a} {want} {right} = {b}", place.name, self.name))
    }
}

/// The values that the file has of a place; what it leaves out is 0, what is no number NaN.
fn values(counters: &Value, own: [f64; NAMES.len()]) -> Vec<f64> {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    let of = |c: &Counter| counters.get(c.machine).map_or(0.0, number);
    catalogue::all().iter().map(of).chain(own).collect()
}

/// Those of the file's lists that there must be.
fn list<'a>(v: &'a Value, name: &str) -> client::Result<&'a Vec<Value>> {
    v[name].as_array().ok_or_else(|| error("not a file of `tuff run --counters`".into()))
}

fn text<'a>(v: &'a Value, key: &str) -> &'a str {
    v[key].as_str().unwrap_or_default()
}

fn workload(w: &Value, cycles_a_ns: f64) -> Place {
    let label = plain::line(text(w, "label"));
    let at = format!("{}.{} {label}{}", w["device"], w["queue"], if label.is_empty() { "" } else { ": " });
    let number = |k: &str| w[k].as_f64().unwrap_or(f64::NAN);
    let [times, begin, end, elapsed] = ["times", "begin_ns", "end_ns", "elapsed_ns"].map(number);
    let name =
        format!("{at}{} {}, {times} times", plain::line(text(w, "kind")), plain::line(text(w, "name")));
    let own = [(elapsed + times) * cycles_a_ns, times, begin, end, elapsed];
    let on: &[On] = match text(w, "kind") {
        "render pass" => &[On::All, On::Timed, On::Workload, On::Pass],
        _ => &[On::All, On::Timed, On::Workload],
    };
    Place { name, values: values(&w["counters"], own), on }
}

/// The devices: each all its workloads, from the first begin to the last end.
fn devices(list: &[Value], workloads: &[Place], cycles_a_ns: f64) -> Vec<Place> {
    let counters = catalogue::all().len();
    let mut all: Vec<(&Value, Place)> = vec![];
    for (w, place) in list.iter().zip(workloads) {
        let at = all.iter().position(|(d, _)| **d == w["device"]).unwrap_or_else(|| {
            let values = vec![0.0; counters].into_iter().chain([0.0, 0.0, f64::INFINITY, 0.0, 0.0]).collect();
            all.push((
                &w["device"],
                Place { name: format!("device {}", w["device"]), values, on: &[On::Timed] },
            ));
            all.len() - 1
        });
        let to = &mut all[at].1.values;
        for (i, (to, v)) in to.iter_mut().zip(&place.values).enumerate() {
            *to = match i.checked_sub(counters).map(|n| NAMES[n]) {
                Some("begin_ns") => to.min(*v),
                Some("end_ns") => to.max(*v),
                _ => *to + v,
            };
        }
        // The time from begin to end is not the sum of the workloads'.
        let [elapsed, times, begin, end, elapsed_ns] = [0, 1, 2, 3, 4].map(|n: usize| counters + n);
        to[elapsed_ns] = to[end] - to[begin];
        to[elapsed] = (to[elapsed_ns] + to[times]) * cycles_a_ns;
    }
    // Ratios are no sums: rows of devices have none.
    all.into_iter().map(|(_, place)| place).collect()
}

/// That places add up to the total, or do not go beyond it; how many were looked at.
fn sums(places: &[Place], total: &Place, what: &str, whole: bool, told: &mut Vec<String>) -> usize {
    let mut checked = 0;
    for (i, c) in catalogue::all().iter().enumerate() {
        let Some(formula) = c.formula.filter(|_| c.block != catalogue::Block::Derived) else { continue };
        let sum: f64 = places.iter().map(|p| p.values[i]).sum();
        // Counters of so many lanes or bytes are cut once for each place.
        let cut = if formula.contains('/') { places.len() as f64 } else { 0.0 };
        checked += 1;
        let t = total.values[i];
        if exceeds(sum, t) || (whole && exceeds(t, sum + cut)) {
            let is = if whole { "is not" } else { "is less than" };
            told.push(format!("total: sum of {what}: {} = {t} {is} {sum}", c.machine));
        }
    }
    checked
}

/// That the parts of each job's time add up to it; how many were looked at. (Files that are older than `waits` have none.)
fn waits(list: &[Value], what: &str, told: &mut Vec<String>) -> usize {
    let mut checked = 0;
    for (i, w) in list.iter().enumerate() {
        for job in w["jobs"].as_array().into_iter().flatten() {
            let (Some(all), Some(parts)) = (job["duration_ns"].as_u64(), job["waits"].as_object()) else {
                continue;
            };
            let sum: u64 = parts.values().map(|n| n.as_u64().unwrap_or(u64::MAX / 64)).sum();
            // Of one run, its begin and end are known too.
            let runs = job["begin_ns"].as_u64().zip(job["end_ns"].as_u64());
            let ran = runs.map_or(0, |(begin, end)| end.saturating_sub(begin));
            checked += 1;
            if sum != all || ran > all {
                let name = if w["name"].is_string() {
                    plain::line(text(w, "name")).into_owned()
                } else {
                    i.to_string()
                };
                told.push(format!(
                    "{what} {name}: {} queue: the parts of its time: sum of waits = {sum} is not duration_ns = {all}, of which it ran {ran}",
                    plain::line(text(job, "queue"))
                ));
            }
        }
    }
    checked
}

/// # Errors
/// It is no such file.
fn check(json: &str) -> client::Result<Report> {
    judge(&serde_json::from_str(json).map_err(|e| error(e.to_string()))?, &invariants()?)
}

fn judge(v: &Value, invariants: &[Invariant]) -> client::Result<Report> {
    let (listed, frames) = (list(v, "workloads")?, list(v, "frames")?);
    let m: Model = serde_json::from_value(v["model"].clone()).map_err(|e| error(format!("model: {e}")))?;
    let cycles_a_ns = m.clock_mhz as f64 / 1000.0;
    let workloads: Vec<Place> = listed.iter().map(|w| workload(w, cycles_a_ns)).collect();
    let frames: Vec<Place> = frames
        .iter()
        .map(|f| Place {
            name: format!("{}.{} frame {}", f["device"], f["queue"], f["frame"]),
            values: values(&f["counters"], Default::default()),
            on: &[On::All],
        })
        .collect();
    let devices = devices(listed, &workloads, cycles_a_ns);
    let total =
        Place { name: "total".into(), values: values(&v["total"], Default::default()), on: &[On::All] };
    let (mut told, mut checked) = (vec![], 0);
    for place in workloads.iter().chain(&frames).chain(&devices).chain([&total]) {
        for i in invariants.iter().filter(|i| place.on.contains(&i.on)) {
            checked += 1;
            told.extend(i.violated(place, &m));
        }
    }
    let runs = v["runs"].as_array().map_or(&[][..], |r| r);
    let beside = sums(&workloads, &total, "workloads", true, &mut told)
        + sums(&frames, &total, "frames", false, &mut told)
        + waits(listed, "workload", &mut told)
        + waits(runs, "run", &mut told);
    let summary = format!(
        "{} workloads, {} frames, {} devices and the total checked: {} invariants, {} comparisons, {} violated",
        workloads.len(),
        frames.len(),
        devices.len(),
        invariants.len() + beside,
        checked + beside,
        told.len()
    );
    Ok(Report { told, summary })
}

/// Checks a file, and says what was found.
pub fn run(file: &Path) -> client::Result<()> {
    let say = |e: &dyn std::fmt::Display| error(format!("{}: {e}", file.display()));
    let json = std::fs::read_to_string(file).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            say(&"the program has left no counters: it has used no device of Tuff's")
        }
        _ => say(&e),
    })?;
    let report = check(&json).map_err(|e| say(&e))?;
    report.told.iter().for_each(|line| eprintln!("tuff: {line}"));
    match report.told.is_empty() {
        true => {
            eprintln!("tuff: {}", report.summary);
            Ok(())
        }
        false => Err(error(report.summary)),
    }
}

#[cfg(test)]
mod tests;

//! `tuff diff`: two files of `tuff run --counters` side by side, and whether something got dearer.

use clap::Args as ClapArgs;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(ClapArgs)]
pub struct Args {
    before: PathBuf,
    after: PathBuf,
    /// NAME=PERCENT: fail when the counter's total, or that of a workload, grew by more. NAME is a machine name
    /// (TuffFmaInstr), a part of one name only, or one of fma, cvt, sfu, ls, tex, cycles, read, write, warps, time.
    #[arg(long, value_name = "NAME=PERCENT")]
    max_increase: Vec<String>,
    /// Show workloads that differ too, not only totals.
    #[arg(long)]
    workloads: bool,
}

/// Short names for what one asks for most.
const SHORT: [(&str, &str); 10] = [
    ("fma", "TuffFmaInstr"),
    ("cvt", "TuffCvtInstr"),
    ("sfu", "TuffSfuInstr"),
    ("ls", "MaliLSIssueCy"),
    ("tex", "TuffTexFilterOps"),
    ("cycles", "MaliGPUActiveCy"),
    ("read", "MaliExtBusRdBt"),
    ("write", "MaliExtBusWrBt"),
    ("warps", "MaliFragWarp"),
    ("time", ELAPSED),
];

/// Beside counters: the nanoseconds that something took.
const ELAPSED: &str = "elapsed_ns";

type Counters = BTreeMap<String, f64>;

struct File {
    gpu: String,
    /// The model's figures; an older file has none.
    model: Value,
    /// With `elapsed_ns`, that of all devices, each from its first workload's begin to its last one's end.
    total: Counters,
    /// By queue, kind, label and name; with `times` and `elapsed_ns`.
    workloads: BTreeMap<String, Counters>,
}

fn error(text: String) -> client::Error {
    client::Error(text)
}

fn counters(v: &Value) -> Counters {
    let entries = v.as_object().into_iter().flatten();
    entries.filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect()
}

fn read(path: &Path) -> client::Result<File> {
    let say = |e: &dyn std::fmt::Display| error(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| say(&e))?;
    let v: Value = serde_json::from_str(&text).map_err(|e| say(&e))?;
    let list = v["workloads"].as_array().ok_or_else(|| say(&"not a file of `tuff run --counters`"))?;
    let mut workloads = BTreeMap::new();
    for w in list {
        let text = |k: &str| w[k].as_str().unwrap_or_default().to_string();
        let [kind, label, name] = ["kind", "label", "name"].map(text);
        let place = format!("{}.{}", w["device"], w["queue"]);
        let key = format!("{place} {label}{}{kind} {name}", if label.is_empty() { "" } else { ": " });
        let mut of = counters(&w["counters"]);
        of.extend(["times", ELAPSED].into_iter().filter_map(|k| Some((k.to_string(), w[k].as_f64()?))));
        workloads.insert(key, of);
    }
    let mut total = counters(&v["total"]);
    total.extend(elapsed(list).map(|ns| (ELAPSED.to_string(), ns as f64)));
    let gpu = v["gpu"].as_str().unwrap_or_default().to_string();
    Ok(File { gpu, model: v["model"].clone(), total, workloads })
}

/// The nanoseconds of all devices; `None` in a file without times.
fn elapsed(workloads: &[Value]) -> Option<u64> {
    let mut devices: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for w in workloads {
        let (begin, end) = (w["begin_ns"].as_u64()?, w["end_ns"].as_u64()?);
        let of = devices.entry(w["device"].as_u64()?).or_insert((begin, end));
        *of = (of.0.min(begin), of.1.max(end));
    }
    Some(devices.values().map(|(begin, end)| end.saturating_sub(*begin)).sum())
}

/// The model's figures that differ: `core.warps 64 and 32`.
fn figures(at: &str, a: &Value, b: &Value, differ: &mut Vec<String>) {
    if let (Some(x), Some(y)) = (a.as_object(), b.as_object()) {
        let keys: std::collections::BTreeSet<&String> = x.keys().chain(y.keys()).collect();
        let dot = if at.is_empty() { "" } else { "." };
        keys.into_iter().for_each(|k| figures(&format!("{at}{dot}{k}"), &a[k], &b[k], differ));
    } else if a != b {
        differ.push(format!("{at} {a} and {b}"));
    }
}

/// Files of different models have nothing to be compared.
fn same_model(a: &File, b: &File) -> client::Result<()> {
    let mut differ = vec![];
    if a.gpu != b.gpu {
        differ.push(format!("{} and {}", a.gpu, b.gpu));
    }
    if !a.model.is_null() && !b.model.is_null() {
        let mut all = vec![];
        figures("", &a.model, &b.model, &mut all);
        differ.extend(all.into_iter().filter(|f| !f.starts_with("name ")));
    }
    match differ.is_empty() {
        true => Ok(()),
        false => Err(error(format!("the files are of different models: {}", differ.join(", ")))),
    }
}

/// The machine name that `name` stands for.
fn find(name: &str, known: &Counters) -> client::Result<String> {
    let lower = name.to_lowercase();
    if let Some((_, full)) = SHORT.iter().find(|(s, _)| *s == lower) {
        return Ok(full.to_string());
    }
    if let Some(k) = known.keys().find(|k| k.to_lowercase() == lower) {
        return Ok(k.clone());
    }
    let like: Vec<&String> = known.keys().filter(|k| k.to_lowercase().contains(&lower)).collect();
    match like[..] {
        [one] => Ok(one.clone()),
        [] => Err(error(format!("no counter is called {name}"))),
        _ => Err(error(format!(
            "{name} may be any of {} counters, {} and {} among them",
            like.len(),
            like[0],
            like[1]
        ))),
    }
}

/// Growth in percent; infinite from nothing.
fn growth(a: f64, b: f64) -> f64 {
    match (a, b) {
        (a, b) if a == b => 0.0,
        (0.0, _) => f64::INFINITY,
        // In this order whole percents of whole numbers come out exact.
        _ => (b - a) * 100.0 / a,
    }
}

fn table(title: &str, a: &Counters, b: &Counters, out: &mut String) {
    use std::fmt::Write;
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut any = false;
    for n in names {
        let (x, y) = (a.get(n).copied().unwrap_or(0.0), b.get(n).copied().unwrap_or(0.0));
        if x != y {
            if !std::mem::replace(&mut any, true) {
                let _ = writeln!(out, "{title}");
            }
            let _ = writeln!(out, "  {n:<32}{x:>16}{y:>16}{:>+10.2} %", growth(x, y));
        }
    }
}

pub fn run(args: &Args) -> client::Result<()> {
    let (mut a, mut b) = (read(&args.before)?, read(&args.after)?);
    same_model(&a, &b)?;
    // An older file has no times: that is no difference.
    if a.total.contains_key(ELAPSED) != b.total.contains_key(ELAPSED) {
        for f in [&mut a, &mut b] {
            f.workloads.values_mut().chain([&mut f.total]).for_each(|c| c.retain(|k, _| k != ELAPSED));
        }
    }
    let mut limits = vec![];
    for limit in &args.max_increase {
        let (name, percent) =
            limit.split_once('=').ok_or_else(|| error(format!("--max-increase {limit}: NAME=PERCENT")))?;
        let percent: f64 = percent
            .trim_end_matches('%')
            .parse()
            .map_err(|_| error(format!("--max-increase {limit}: {percent} is no number")))?;
        limits.push((find(name, &b.total)?, percent));
    }
    let mut out = String::new();
    table("all workloads", &a.total, &b.total, &mut out);
    let none = Counters::new();
    let keys: std::collections::BTreeSet<&String> = a.workloads.keys().chain(b.workloads.keys()).collect();
    let mut dearer = vec![];
    for key in keys {
        let (x, y) = (a.workloads.get(key).unwrap_or(&none), b.workloads.get(key).unwrap_or(&none));
        if args.workloads {
            table(key, x, y, &mut out);
        }
        // A workload that is new in one of them has nothing to be compared with: the totals speak of it.
        if a.workloads.contains_key(key) && b.workloads.contains_key(key) {
            check(key, x, y, &limits, &mut dearer);
        }
    }
    check("all workloads", &a.total, &b.total, &limits, &mut dearer);
    print!("{}", if out.is_empty() { "no difference\n".to_string() } else { out });
    if dearer.is_empty() {
        return Ok(());
    }
    Err(error(format!("dearer than allowed:\n  {}", dearer.join("\n  "))))
}

fn check(what: &str, a: &Counters, b: &Counters, limits: &[(String, f64)], dearer: &mut Vec<String>) {
    for (name, most) in limits {
        let (x, y) = (a.get(name).copied().unwrap_or(0.0), b.get(name).copied().unwrap_or(0.0));
        let g = growth(x, y);
        if g > *most {
            dearer.push(format!("{name} of {what}: {x} to {y}, {g:+.2} % where {most} % is allowed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, f64)]) -> Counters {
        list.iter().map(|(k, v)| (k.to_string(), *v)).collect()
    }

    #[test]
    fn growth_beyond_the_limit_is_told() {
        let (a, b) = (of(&[("X", 100.0), ("New", 0.0)]), of(&[("X", 103.0), ("New", 1.0)]));
        let mut told = vec![];
        check("w", &a, &b, &[("X".into(), 3.0)], &mut told);
        assert!(told.is_empty());
        check("w", &a, &b, &[("X".into(), 2.0), ("New".into(), 1000.0)], &mut told);
        assert_eq!(told.len(), 2);
        assert!(told[0].contains("+3.00 %"), "{}", told[0]);
        // Cheaper is never too dear.
        told.clear();
        check("w", &b, &a, &[("X".into(), 0.0)], &mut told);
        assert!(told.is_empty());
    }

    #[test]
    fn models_are_compared_by_name_and_figures() {
        let file = |gpu: &str, model: Value| {
            let (total, workloads) = Default::default();
            File { gpu: gpu.into(), model, total, workloads }
        };
        let of = |warps: u64| serde_json::json!({ "name": "a", "cores": 10, "core": { "warps": warps } });
        let why = |a: &File, b: &File| same_model(a, b).map_err(|e| e.to_string());
        let a = file("a", of(64));
        assert_eq!(why(&a, &file("a", of(64))), Ok(()));
        assert_eq!(why(&a, &file("a", Value::Null)), Ok(()), "an older file");
        let told = |what: &str| Err(format!("the files are of different models: {what}"));
        assert_eq!(why(&a, &file("a", of(32))), told("core.warps 64 and 32"));
        assert_eq!(why(&a, &file("b", Value::Null)), told("a and b"));
    }

    #[test]
    fn a_devices_time_is_from_its_first_begin_to_its_last_end() {
        let row = |device: u64, begin: u64, end: u64| serde_json::json!({ "device": device, "begin_ns": begin, "end_ns": end });
        assert_eq!(elapsed(&[row(0, 10, 30), row(0, 5, 25), row(1, 100, 101)]), Some(25 + 1));
        assert_eq!(elapsed(&[serde_json::json!({ "device": 0 })]), None);
    }

    #[test]
    fn counters_are_found_by_short_names_and_parts() {
        let known = of(&[("MaliFragWarp", 0.0), ("MaliFragThread", 0.0)]);
        assert_eq!(find("FMA", &known).unwrap(), "TuffFmaInstr");
        assert_eq!(find("malifragwarp", &known).unwrap(), "MaliFragWarp");
        assert_eq!(find("thread", &known).unwrap(), "MaliFragThread");
        assert!(find("frag", &known).is_err() && find("nothing", &known).is_err());
    }
}

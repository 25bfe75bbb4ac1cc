//! A file of `tuff run --counters` as `tuff diff` sees it.

use client::Error;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Beside counters: the nanoseconds that something took.
pub const ELAPSED: &str = "elapsed_ns";

pub type Counters = BTreeMap<String, f64>;

pub struct File {
    pub gpu: String,
    /// The model's figures; an older file has none.
    pub model: Value,
    /// With `elapsed_ns`, that of all devices, each from its first workload's begin to its last one's end.
    pub total: Counters,
    /// By queue, kind, label and name; with `times` and `elapsed_ns`.
    pub workloads: BTreeMap<String, Counters>,
}

fn counters(v: &Value) -> Counters {
    let entries = v.as_object().into_iter().flatten();
    entries.filter_map(|(k, v)| Some((plain::line(k).into_owned(), v.as_f64()?))).collect()
}

pub fn read(path: &Path) -> client::Result<File> {
    let say = |e: &dyn std::fmt::Display| Error::file(path, e);
    let text = std::fs::read_to_string(path).map_err(|e| say(&e))?;
    parse(&text).map_err(|e| say(&e))
}

pub fn parse(text: &str) -> Result<File, String> {
    let v: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let list = v["workloads"].as_array().ok_or("not a file of `tuff run --counters`")?;
    let mut workloads = BTreeMap::new();
    for w in list {
        let text = |k: &str| plain::line(w[k].as_str().unwrap_or_default()).into_owned();
        let [kind, label, name] = ["kind", "label", "name"].map(text);
        let place = format!("{}.{}", w["device"], w["queue"]);
        let key = format!("{place} {label}{}{kind} {name}", if label.is_empty() { "" } else { ": " });
        let mut of = counters(&w["counters"]);
        of.extend(["times", ELAPSED].into_iter().filter_map(|k| Some((k.to_string(), w[k].as_f64()?))));
        workloads.insert(key, of);
    }
    let mut total = counters(&v["total"]);
    total.extend(elapsed(list).map(|ns| (ELAPSED.to_string(), ns as f64)));
    let gpu = plain::line(v["gpu"].as_str().unwrap_or_default()).into_owned();
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
pub fn same_model(a: &File, b: &File) -> client::Result<()> {
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
        false => Err(Error(format!("the files are of different models: {}", differ.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

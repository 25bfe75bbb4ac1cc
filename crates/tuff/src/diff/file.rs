//! A file of `tuff run --counters` as `tuff diff` sees it.

use crate::costs::keys::{self, Key};
use crate::sums;
use client::Error;
use counters::Model;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Beside counters: the nanoseconds that something took.
pub const ELAPSED: &str = "elapsed_ns";

pub type Counters = BTreeMap<String, f64>;

#[derive(Default)]
pub struct File {
    pub gpu: String,
    /// The model's figures; an older file has none.
    pub model: Value,
    /// With `elapsed_ns`: that of all workloads, each from its begin to its end.
    pub total: Counters,
    /// Workloads of the same line and shaders, whichever device, queue or process they ran on, in whatever order.
    pub workloads: BTreeMap<Name, Workload>,
    /// What its workloads' shaders are known by; none in older files.
    pub keys: Vec<Key>,
    /// Of a capture, where its shaders are.
    pub folder: Option<PathBuf>,
    /// Device, number and counters of frames, by queue.
    pub frames: Vec<(u64, u64, Counters)>,
}

/// What a workload is called in every run: nothing of it depends on the order of things.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Name {
    /// Label, kind, name, and what the application calls its pipelines.
    pub line: String,
    /// The hash of its shaders; empty where it has none, or in older files.
    pub shaders: String,
}

/// With `times` and `elapsed_ns` among its counters.
#[derive(Clone, Default)]
pub struct Workload {
    pub counters: Counters,
    /// As the file has them, for sums.
    parts: Vec<sums::Counters>,
    /// What it is without its name: label, kind, and what the application calls its pipelines.
    pub group: String,
    /// Its place among the file's workloads.
    pub place: usize,
    /// Which of the file's keys are its shaders'.
    pub stages: Vec<usize>,
    times: f64,
    elapsed: Option<f64>,
}

impl Workload {
    /// Several as one.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Workload>, model: &Value) -> Workload {
        let mut sum = Workload::default();
        for w in all {
            sum.parts.extend(w.parts.iter().cloned());
            sum.times += w.times;
            sum.elapsed = w.elapsed.map(|e| e + sum.elapsed.unwrap_or(0.0));
        }
        sum.settle(model);
        sum
    }

    fn settle(&mut self, model: &Value) {
        let parts: Vec<&sums::Counters> = self.parts.iter().collect();
        let model = serde_json::from_value::<Model>(model.clone());
        self.counters = match (&parts[..], model) {
            ([one], _) => counters(one),
            (_, Ok(model)) => counters(&sums::of(&parts, &model)),
            // An older file, without a model: sums, of ratios too.
            _ => parts.iter().fold(Counters::new(), |mut sum, p| {
                counters(p).into_iter().for_each(|(k, v)| *sum.entry(k).or_default() += v);
                sum
            }),
        };
        self.counters.insert("times".into(), self.times);
        self.counters.extend(self.elapsed.map(|e| (ELAPSED.to_string(), e)));
    }
}

fn counters(v: &sums::Counters) -> Counters {
    v.iter().filter_map(|(k, v)| Some((plain::line(k).into_owned(), v.as_f64()?))).collect()
}

/// A file, or a capture's folder.
pub fn read(path: &Path) -> client::Result<File> {
    read_with(path).map(|f| f.0)
}

/// The same, and its bytes.
pub fn read_with(path: &Path) -> client::Result<(File, Vec<u8>)> {
    let own = if path.is_dir() { path.join(crate::report::capture::FILE) } else { path.to_path_buf() };
    let bytes = std::fs::read(&own).map_err(|e| Error::file(&own, e))?;
    let mut file = parse(&String::from_utf8_lossy(&bytes)).map_err(|e| Error::file(&own, e))?;
    file.folder = path.is_dir().then(|| path.to_path_buf());
    Ok((file, bytes))
}

/// What the shaders of a file are known by.
fn keys(v: &Value) -> Vec<Key> {
    let key = |s: &Value| {
        let text = |k: &str| plain::line(s[k].as_str().unwrap_or_default()).into_owned();
        let names = ["module", "pipeline"].map(text).into_iter().filter(|n| !n.is_empty()).collect();
        let sketch = keys::sketch(s["interface"].as_str().unwrap_or(""), s["sketch"].as_str().unwrap_or(""));
        Key { stage: text("stage"), entry: text("entry"), names, hash: text("hash"), sketch }
    };
    v.as_array().map_or(&[][..], |l| l).iter().map(key).collect()
}

pub fn parse(text: &str) -> Result<File, String> {
    let v: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let list = v["workloads"].as_array().ok_or("not a file of `tuff run --counters`")?;
    let none = sums::Counters::new();
    let of = |v: &Value| v.as_object().cloned().unwrap_or_else(|| none.clone());
    let mut workloads: BTreeMap<Name, Workload> = BTreeMap::new();
    let keys = keys(&v["shaders"]);
    let stages = |v: &Value| -> Vec<usize> {
        let all = v.as_array().map_or(&[][..], |l| l).iter().filter_map(|n| Some(n.as_u64()? as usize));
        all.filter(|n| *n < keys.len()).collect()
    };
    for w in list {
        let text = |k: &str| plain::line(w[k].as_str().unwrap_or_default()).into_owned();
        let [kind, label, name] = ["kind", "label", "name"].map(text);
        let pipelines = w["pipelines"].as_array().map_or(&[][..], |p| p).iter().filter_map(Value::as_str);
        let pipelines = pipelines.map(|p| plain::line(p).into_owned()).collect::<Vec<_>>().join(", ");
        let colon = if label.is_empty() { "" } else { ": " };
        let named = if pipelines.is_empty() { pipelines } else { format!(" [{pipelines}]") };
        let line = format!("{label}{colon}{kind} {name}{named}");
        let place = workloads.len();
        let sum = workloads.entry(Name { line, shaders: text("shaders") }).or_insert_with(|| Workload {
            group: format!("{label}{colon}{kind}{named}"),
            place,
            stages: stages(&w["stages"]),
            ..Workload::default()
        });
        sum.parts.push(of(&w["counters"]));
        sum.times += w["times"].as_f64().unwrap_or(0.0);
        sum.elapsed = w[ELAPSED].as_f64().map(|e| e + sum.elapsed.unwrap_or(0.0));
    }
    workloads.values_mut().for_each(|w| w.settle(&v["model"]));
    let mut total = counters(&of(&v["total"]));
    let elapsed: Option<f64> = list.iter().map(|w| w[ELAPSED].as_f64()).sum();
    total.extend(elapsed.map(|ns| (ELAPSED.to_string(), ns)));
    let gpu = plain::line(v["gpu"].as_str().unwrap_or_default()).into_owned();
    let frames = v["frames"].as_array().map_or(&[][..], |l| l).iter().map(|f| {
        let number = |k: &str| f[k].as_u64().unwrap_or(0);
        (number("device"), number("frame"), counters(&of(&f["counters"])))
    });
    let frames = frames.collect();
    Ok(File { gpu, model: v["model"].clone(), total, workloads, keys, folder: None, frames })
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
        false => Err(Error(format!("the files have different models: {}", differ.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_compared_by_name_and_figures() {
        let file = |gpu: &str, model: Value| File { gpu: gpu.into(), model, ..File::default() };
        let of = |warps: u64| serde_json::json!({ "name": "a", "cores": 10, "core": { "warps": warps } });
        let why = |a: &File, b: &File| same_model(a, b).map_err(|e| e.to_string());
        let a = file("a", of(64));
        assert_eq!(why(&a, &file("a", of(64))), Ok(()));
        assert_eq!(why(&a, &file("a", Value::Null)), Ok(()), "an older file");
        let told = |what: &str| Err(format!("the files have different models: {what}"));
        assert_eq!(why(&a, &file("a", of(32))), told("core.warps 64 and 32"));
        assert_eq!(why(&a, &file("b", Value::Null)), told("a and b"));
    }

    /// Neither devices nor their order are told apart; shaders are.
    #[test]
    fn workloads_are_what_they_are_called() {
        let row = |device: u64, shaders: &str, fma: u64| {
            serde_json::json!({
                "device": device, "queue": 0, "kind": "dispatch", "label": "a\nb", "name": "main 1x1x1", "shaders": shaders,
                "pipelines": ["blur", "fog"], "times": 2, "elapsed_ns": 5, "counters": { "TuffFmaInstr": fma }
            })
        };
        let file = |rows: &[Value]| {
            let v = serde_json::json!({ "gpu": "x", "total": {}, "workloads": rows });
            parse(&v.to_string()).unwrap()
        };
        let f = file(&[row(0, "aa", 1), row(1, "bb", 10), row(2, "aa", 100)]);
        let of = |shaders: &str| {
            let line = "a\\nb: dispatch main 1x1x1 [blur, fog]".to_string();
            let c = &f.workloads[&Name { line, shaders: shaders.into() }].counters;
            [c["TuffFmaInstr"], c["times"], c[ELAPSED]]
        };
        assert_eq!((f.workloads.len(), of("aa"), of("bb")), (2, [101.0, 4.0, 10.0], [10.0, 2.0, 5.0]));
        assert_eq!(f.total[ELAPSED], 15.0);
        let without = file(&[serde_json::json!({ "kind": "k", "counters": {} })]);
        assert!(!without.total.contains_key(ELAPSED));
    }
}

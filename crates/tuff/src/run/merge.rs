//! Files of several processes as one: counters and captures (docs/capture.md), shaders, and the GPU Performance layer's rows.
//!
//! Processes are put in an order that does not depend on which of them was faster: by program, then by what they have left.

use crate::sums;
use client::{Error, Result};
use counters::Model;
use schedule::{Step, Steps};
use serde_json::{Value, json};
use std::path::Path;

/// What a process has left.
pub struct Part {
    pub program: String,
    pub text: String,
    file: Value,
    /// The schedule of a capture.
    pub steps: Option<Steps>,
    /// Its facts beside counters.
    pub facts: Option<Value>,
}

impl Part {
    pub fn read(program: String, file: &Path) -> Result<Part> {
        let text = std::fs::read_to_string(file).map_err(|e| Error::file(file, e))?;
        let of = format!("counters of {program}");
        let file = serde_json::from_str(&text).map_err(|e| Error(format!("{of}: {e}")))?;
        Ok(Part { program, text, file, steps: None, facts: None })
    }

    fn list(&self, key: &str) -> &[Value] {
        self.file[key].as_array().map_or(&[], |l| l)
    }

    /// How many devices it has numbers for.
    fn devices(&self) -> u64 {
        let lists = ["workloads", "frames"].into_iter().flat_map(|k| self.list(k));
        lists.filter_map(|w| w["device"].as_u64()).max().map_or(0, |most| most + 1)
    }

    /// Positions of its runs are below this.
    fn orders(&self) -> u64 {
        let runs = self.list("runs").iter().filter_map(|r| r["order"].as_u64());
        let steps = self.steps.iter().flat_map(|s| s.devices.iter().flatten());
        let jobs = steps.filter_map(|(_, step)| match step {
            Step::Job { order, .. } => Some(*order),
            _ => None,
        });
        runs.chain(jobs).max().map_or(0, |most| most + 1)
    }
}

/// In an order that is the same on every run.
pub fn sort(parts: &mut [Part]) {
    parts.sort_by(|a, b| (&a.program, &a.text).cmp(&(&b.program, &b.text)));
}

/// One file of several: devices, workloads and runs are numbered on from one process to the next.
pub fn counters(parts: &[Part]) -> Result<String> {
    let first = &parts[0].file;
    for p in parts {
        if p.file["model"] != first["model"] {
            let (a, b) = (&first["gpu"], &p.file["gpu"]);
            return Err(Error(format!("processes have modelled different GPUs: {a} and {b}")));
        }
    }
    let (mut device, mut workload, mut run, mut order, mut structure) = (0, 0, 0, 0, 0);
    let mut lists: [Vec<Value>; 7] = Default::default();
    let [workloads, frames, runs, passes, structures, processes, shaders] = &mut lists;
    let add = |v: &mut Value, by: u64| {
        if let Some(n) = v.as_u64() {
            *v = (n + by).into();
        }
    };
    for p in parts {
        let moved = |key: &str, to: &mut Vec<Value>, numbers: &[(&str, u64)]| {
            to.extend(p.list(key).iter().map(|element| {
                let mut element = element.clone();
                for (name, by) in numbers {
                    add(&mut element[*name], *by);
                }
                element
            }));
        };
        let (before, structures_before) = (passes.len(), structures.len());
        let (workloads_before, shaders_before) = (workloads.len(), shaders.len() as u64);
        moved("workloads", workloads, &[("device", device)]);
        for w in &mut workloads[workloads_before..] {
            let stages = w.get_mut("stages").and_then(Value::as_array_mut);
            stages.into_iter().flatten().for_each(|s| add(s, shaders_before));
        }
        moved("shaders", shaders, &[]);
        moved("frames", frames, &[("device", device)]);
        moved("runs", runs, &[("workload", workload), ("order", order)]);
        moved("passes", passes, &[("workload", workload), ("run", run)]);
        for pass in &mut passes[before..] {
            if let Some(moved) = pass["picture"].as_str().and_then(|file| picture(file, workload)) {
                pass["picture"] = moved.into();
            }
        }
        moved("structures", structures, &[]);
        for s in &mut structures[structures_before..] {
            if s.get("from").is_some() {
                add(&mut s["from"], structure);
            }
            for (key, by) in [("instances", structure), ("traces", order)] {
                let pairs = s.get_mut(key).and_then(Value::as_array_mut);
                pairs.into_iter().flatten().for_each(|pair| add(&mut pair[0], by));
            }
        }
        processes.push(json!({ "program": p.program, "first_device": device, "devices": p.devices() }));
        device += p.devices();
        workload += p.list("workloads").len() as u64;
        run += p.list("runs").len() as u64;
        order += p.orders();
        structure += p.list("structures").len() as u64;
    }
    let [workloads, frames, runs, passes, structures, processes, shaders] = lists;
    let mut out = String::from("{");
    let mut put = |key: &str, value: &Value| {
        let comma = if out.len() > 1 { "," } else { "" };
        out += &format!("{comma}{}:{}", json!(key), lines(value));
    };
    put("version", &first["version"]);
    put("gpu", &first["gpu"]);
    put("model", &first["model"]);
    put("total", &total(parts)?);
    put("workloads", &workloads.into());
    if !shaders.is_empty() {
        put("shaders", &shaders.into());
    }
    put("frames", &frames.into());
    put("processes", &processes.into());
    if first.get("runs").is_some() {
        put("runs", &runs.into());
        let lost: u64 = parts.iter().filter_map(|p| p.file["runs_lost"].as_u64()).sum();
        put("runs_lost", &lost.into());
        put("passes", &passes.into());
        if !structures.is_empty() {
            put("structures", &structures.into());
        }
        for key in ["structures_lost", "structure_traces_lost"] {
            let lost: u64 = parts.iter().filter_map(|p| p.file[key].as_u64()).sum();
            if lost > 0 {
                put(key, &lost.into());
            }
        }
    }
    Ok(out + "}\n")
}

/// One schedule of several, each on devices of its own: works and runs are numbered on. `None`: one of them is missing.
pub fn schedules(parts: &mut [Part]) -> Option<Steps> {
    let orders: Vec<u64> = parts.iter().map(Part::orders).collect();
    let mut all: Option<Steps> = None;
    let mut first = 0;
    for (p, orders) in parts.iter_mut().zip(orders) {
        let mut steps = p.steps.take()?;
        let works = all.as_ref().map_or(0, |a| a.works.len());
        for (_, step) in steps.devices.iter_mut().flatten() {
            if let Step::Job { work, order, .. } = step {
                *work += works;
                *order += first;
            }
        }
        first += orders;
        match &mut all {
            None => all = Some(steps),
            Some(all) => {
                all.l2_kib.retain(|kib| steps.l2_kib.contains(kib));
                all.works.append(&mut steps.works);
                all.devices.append(&mut steps.devices);
                all.lost += steps.lost;
            }
        }
    }
    all
}

/// Facts of several processes: images, uses, workloads and places of runs are numbered on. Device memory of each process has an address range of
/// its own. `None`: one of them is missing.
pub fn facts(parts: &[Part]) -> Option<Value> {
    let all: Vec<&Value> = parts.iter().map(|p| p.facts.as_ref()).collect::<Option<_>>()?;
    let (mut images, mut uses, mut order, mut workload, mut memory) = (0u64, 0u64, 0u64, 0u64, 0u64);
    let mut lists: [Vec<Value>; 4] = Default::default();
    let list = |v: &Value, key: &str| v[key].as_array().cloned().unwrap_or_default();
    for (f, part) in all.iter().zip(parts) {
        let moved = |v: &mut Value, by: u64| {
            if let Some(n) = v.as_u64() {
                *v = (n + by).into();
            }
        };
        let own = [list(f, "images"), list(f, "uses"), list(f, "runs"), list(f, "passes")];
        let [own_images, mut own_uses, mut own_runs, mut own_passes] = own;
        let mut end = 0;
        for u in &mut own_uses {
            if let Some(of) = u.get_mut("images").and_then(Value::as_object_mut) {
                let renamed = std::mem::take(of).into_iter();
                *of = renamed
                    .filter_map(|(i, how)| Some(((i.parse::<u64>().ok()? + images).to_string(), how)))
                    .collect();
            }
            for b in u.get_mut("buffers").and_then(Value::as_array_mut).into_iter().flatten() {
                end = end.max(b[1].as_u64().unwrap_or(0));
                moved(&mut b[0], memory);
                moved(&mut b[1], memory);
            }
        }
        for r in &mut own_runs {
            moved(&mut r[0], order);
            moved(&mut r[1], uses);
        }
        for p in &mut own_passes {
            moved(&mut p["workload"], workload);
            moved(&mut p["order"], order);
            let of = |key: &str, v: &mut Value| {
                v.get_mut(key).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default()
            };
            let (mut attachments, mut draws) = (of("attachments", p), of("draws", p));
            attachments
                .iter_mut()
                .filter(|a| a.get("image").is_some())
                .for_each(|a| moved(&mut a["image"], images));
            for d in &mut draws {
                d.get_mut("textures")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                    .for_each(|t| moved(&mut t["image"], images));
                d.get_mut("replaces")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                    .for_each(|i| moved(i, images));
            }
            (p["attachments"], p["draws"]) = (attachments.into(), draws.into());
        }
        images += own_images.len() as u64;
        uses += own_uses.len() as u64;
        order += part.orders();
        workload += part.list("workloads").len() as u64;
        memory += end;
        lists
            .iter_mut()
            .zip([own_images, own_uses, own_runs, own_passes])
            .for_each(|(to, own)| to.extend(own));
    }
    let [images, uses, runs, passes] = lists;
    Some(
        json!({ "version": all.first()?["version"], "images": images, "uses": uses, "runs": runs, "passes": passes }),
    )
}

/// `passes/3.ppm` of a process whose first workload is the `by`th of all.
pub fn picture(file: &str, by: u64) -> Option<String> {
    let number = file.strip_prefix("passes/")?.strip_suffix(".ppm")?;
    Some(format!("passes/{}.ppm", number.parse::<u64>().ok()? + by))
}

/// How many workloads there are before each process's first.
pub fn first_workloads(parts: &[Part]) -> Vec<u64> {
    let mut next = 0;
    let first = |p: &Part| {
        let first = next;
        next += p.list("workloads").len() as u64;
        first
    };
    parts.iter().map(first).collect()
}

/// A value; of a list an element in each line, as the driver writes them.
fn lines(value: &Value) -> String {
    match value.as_array() {
        Some(list) => {
            let list: Vec<String> = list.iter().map(Value::to_string).collect();
            format!("[{}{}\n]", if list.is_empty() { "" } else { "\n" }, list.join(",\n"))
        }
        None => value.to_string(),
    }
}

/// What all processes counted.
fn total(parts: &[Part]) -> Result<Value> {
    let model: Model =
        serde_json::from_value(parts[0].file["model"].clone()).map_err(|e| Error(format!("model: {e}")))?;
    let totals: Vec<&sums::Counters> = parts.iter().filter_map(|p| p.file["total"].as_object()).collect();
    Ok(sums::of(&totals, &model).into())
}

/// Two processes' measurements of one shader (docs/instrumentation.md): values of blocks are added up, in all and by draw.
pub fn shaders(a: &mut Value, b: &Value) {
    blocks(a, b);
    // A draw is what has the same words; `times` and `blocks` are its numbers.
    let words = |d: &Value| {
        let mut words = d.clone();
        if let Some(w) = words.as_object_mut() {
            w.retain(|key, _| key != "times" && key != "blocks");
        }
        words
    };
    let Some(draws) = a["draws"].as_array_mut() else { return };
    for other in b["draws"].as_array().into_iter().flatten() {
        match draws.iter_mut().find(|d| words(d) == words(other)) {
            None => draws.push(other.clone()),
            Some(draw) => {
                blocks(draw, other);
                draw["times"] = sum(&draw["times"], &other["times"]);
            }
        }
    }
}

fn sum(a: &Value, b: &Value) -> Value {
    a.as_u64().unwrap_or(0).saturating_add(b.as_u64().unwrap_or(0)).into()
}

fn blocks(a: &mut Value, b: &Value) {
    let Some(blocks) = a["blocks"].as_array_mut() else { return };
    for other in b["blocks"].as_array().into_iter().flatten() {
        let Some(block) = blocks.iter_mut().find(|x| x["index"] == other["index"]) else {
            blocks.push(other.clone());
            continue;
        };
        let values = block["values"].as_array_mut().into_iter().flatten();
        for (to, v) in values.zip(other["values"].as_array().into_iter().flatten()) {
            *to = sum(to, v);
        }
    }
    blocks.sort_by_key(|x| x["index"].as_u64());
}

/// Rows of the GPU Performance layer: the head once.
pub fn csv(parts: &[String]) -> String {
    let head = parts.first().and_then(|p| p.lines().next()).unwrap_or_default();
    let mut out = format!("{head}\n");
    for p in parts {
        // Another head (counters of another source) stays: it says what its rows are.
        out += p.strip_prefix(head).and_then(|p| p.strip_prefix('\n')).unwrap_or(p);
    }
    out
}

/// The same of its JSON: lists are put one after another.
pub fn json_rows(parts: &[Value]) -> Value {
    let mut all = parts.first().cloned().unwrap_or_default();
    for p in parts.iter().skip(1) {
        for (key, list) in p.as_object().into_iter().flatten() {
            if let (Some(to), Some(list)) = (all[key].as_array_mut(), list.as_array()) {
                to.extend(list.iter().cloned());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_of_the_second_process_follow_those_of_the_first() {
        let part = |name: &str, order: u64| {
            let structure = |from: Value, instances: Value, traces: Value| json!({ "name": name, "from": from, "instances": instances, "traces": traces });
            let run = json!({ "workload": 0, "frame": null, "submission": 0, "order": order, "jobs": [], "counters": {} });
            let workload = json!({ "device": 0, "stages": [0] });
            let file = json!({
                "version": 1, "gpu": "g720", "model": Model::default(), "total": {}, "workloads": [workload], "frames": [], "runs": [run],
                "shaders": [{ "hash": name }],
                "runs_lost": 0, "passes": [], "structures_lost": 2,
                "structures": [
                    structure(Value::Null, json!([]), json!([])),
                    structure(json!(0), json!([[0, 3]]), json!([[order, 64]])),
                ],
            });
            Part { program: name.into(), text: name.into(), file, steps: None, facts: None }
        };
        let all: Value = serde_json::from_str(&counters(&[part("a", 4), part("b", 7)]).unwrap()).unwrap();
        let of = |i: usize| ["name", "from", "instances", "traces"].map(|k| all["structures"][i][k].clone());
        assert_eq!(of(1), [json!("a"), json!(0), json!([[0, 3]]), json!([[4, 64]])]);
        assert_eq!(of(2), [json!("b"), Value::Null, json!([]), json!([])]);
        // Two structures and five places of runs came before.
        assert_eq!(of(3), [json!("b"), json!(2), json!([[2, 3]]), json!([[5 + 7, 64]])]);
        assert_eq!(all["structures_lost"], 4);
        // So are shaders, and who ran them.
        assert_eq!((&all["workloads"][1]["stages"], &all["shaders"][1]["hash"]), (&json!([1]), &json!("b")));
    }

    /// Two processes of an image, a use, a run and a pass each: the second's are numbered on, and its memory lies after the first's.
    #[test]
    fn facts_of_the_second_process_follow_those_of_the_first() {
        let part = |name: &str, order: u64| {
            let file = json!({ "workloads": [{}, {}], "runs": [{ "order": order }] });
            let facts = json!({
                "version": 1, "images": [{ "name": name }], "uses": [{ "images": { "0": 512 }, "buffers": [[16, 64, 4]] }], "runs": [[order, 0]],
                "passes": [{
                    "workload": 1, "order": order, "attachments": [{ "image": 0 }, { "image": null }],
                    "draws": [{ "textures": [{ "image": 0 }], "replaces": [0] }],
                }],
            });
            Part { program: name.into(), text: name.into(), file, steps: None, facts: Some(facts) }
        };
        let all = facts(&[part("a", 4), part("b", 7)]).unwrap();
        assert_eq!(all["uses"][1], json!({ "images": { "1": 512 }, "buffers": [[80, 128, 4]] }));
        assert_eq!(all["runs"], json!([[4, 0], [12, 1]]));
        assert_eq!(all["passes"][1]["workload"], 3);
        assert_eq!(all["passes"][1]["attachments"], json!([{ "image": 1 }, { "image": null }]));
        assert_eq!(all["passes"][1]["draws"], json!([{ "textures": [{ "image": 1 }], "replaces": [1] }]));
        let mut one = part("b", 7);
        one.facts = None;
        assert_eq!(facts(&[part("a", 4), one]), None);
    }

    #[test]
    fn draws_of_the_same_words_are_added_up() {
        let file = |draw: u64, block: u64, n: u64| {
            json!({
                "entry": "main",
                "blocks": [{ "index": block, "values": [n, 1] }],
                "draws": [{ "label": "a", "workload": "w", "times": 2, "draw": draw, "blocks": [{ "index": block, "values": [n, 1] }] }]
            })
        };
        let mut all = file(0, 3, 10);
        for more in [file(0, 3, 5), file(0, 1, 7), file(1, 3, 9)] {
            shaders(&mut all, &more);
        }
        assert_eq!(
            all["blocks"],
            json!([{ "index": 1, "values": [7, 1] }, { "index": 3, "values": [24, 3] }])
        );
        let draws = all["draws"].as_array().unwrap();
        assert_eq!(draws.len(), 2);
        let blocks = json!([{ "index": 1, "values": [7, 1] }, { "index": 3, "values": [15, 2] }]);
        assert_eq!((&draws[0]["times"], &draws[0]["blocks"]), (&json!(6), &blocks));
        assert_eq!((&draws[1]["draw"], &draws[1]["times"]), (&json!(1), &json!(2)));
    }
}

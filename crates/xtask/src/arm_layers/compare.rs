//! What the layers say, beside what the channel says.

use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// A workload of the channel, or a frame (with no label).
pub struct Workload {
    pub kind: String,
    pub label: String,
    pub name: String,
    pub frame: Option<u64>,
    /// By machine name.
    pub counters: BTreeMap<String, f64>,
}

/// The columns of layer_gpu_profile: its own names of the counters that it selects, and the counters.
const COLUMNS: [(&str, &str); 19] = [
    ("Compute queue active cycles", "MaliCompQueueActiveCy"),
    ("Vertex queue active cycles", "MaliVertQueueActiveCy"),
    ("Binning phase queue active cycles", "MaliBinningQueueActiveCy"),
    ("Non-fragment queue active cycles", "MaliNonFragQueueActiveCy"),
    ("Fragment queue active cycles", "MaliFragQueueActiveCy"),
    ("Main phase queue active cycles", "MaliMainQueueActiveCy"),
    ("External read bytes", "MaliExtBusRdBy"),
    ("External write bytes", "MaliExtBusWrBy"),
    ("Input primitives", "MaliGeomTotalPrim"),
    ("Visible primitives", "MaliGeomVisiblePrim"),
    ("Non-fragment threads", "MaliNonFragThread"),
    ("Fragment threads", "MaliFragThread"),
    ("Arithmetic unit instructions", "MaliEngInstr"),
    ("Arithmetic unit FMA instructions", "MaliEngFMAInstr"),
    ("Arithmetic unit CVT instructions", "MaliEngCVTInstr"),
    ("Arithmetic unit SFU instructions", "MaliEngSFUInstr"),
    ("Varying unit cycles", "MaliVarIssueCy"),
    ("Texture unit cycles", "MaliTexIssueCy"),
    ("Load/store unit cycles", "MaliLSIssueCy"),
];

/// libGPUCounters' equation of MaliTexIssueCy for this GPU makes a percentage of it, of the cores' active cycles.
const SHARES: [(&str, &str); 1] = [("MaliTexIssueCy", "MaliCoreActiveCy")];

/// The CSV has two digits after the decimal point.
const ROUNDING: f64 = 0.005 + 1e-9;

/// A table of things that were compared.
pub struct Compared {
    pub title: String,
    /// Rows and columns in the order of their first appearance, and what was found of each.
    rows: Vec<String>,
    columns: Vec<String>,
    cells: BTreeMap<(usize, usize), bool>,
    differences: Vec<String>,
}

fn place(list: &mut Vec<String>, name: &str) -> usize {
    list.iter().position(|l| l == name).unwrap_or_else(|| {
        list.push(name.into());
        list.len() - 1
    })
}

impl Compared {
    pub fn new(title: &str) -> Compared {
        let (rows, columns, cells) = Default::default();
        Compared { title: title.into(), rows, columns, cells, differences: Vec::new() }
    }

    /// A cell; `how` says what differs.
    pub fn cell(&mut self, row: &str, column: &str, same: bool, how: impl FnOnce() -> String) {
        let at = (place(&mut self.rows, row), place(&mut self.columns, column));
        self.cells.insert(at, same);
        if !same {
            self.differences.push(format!("{row}, {column}: {}", how()));
        }
    }

    /// Everything is equal, and there was something.
    pub fn same(&self) -> bool {
        self.differences.is_empty() && !self.cells.is_empty()
    }

    /// Workloads down, counters across.
    pub fn print(&self) {
        println!("\n{}", self.title);
        let width = self.rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
        for (i, column) in self.columns.iter().enumerate() {
            println!("  {i:2}: {column}");
        }
        let head: String = (0..self.columns.len()).map(|i| format!("{i:>3}")).collect();
        println!("  {:width$}{head}", "");
        for (r, row) in self.rows.iter().enumerate() {
            let cell = |c| match self.cells.get(&(r, c)) {
                Some(true) => "  =",
                Some(false) => "  ≠",
                None => "   ",
            };
            let cells: String = (0..self.columns.len()).map(cell).collect();
            println!("  {row:width$}{cells}");
        }
        self.differences.iter().for_each(|d| println!("  differs: {d}"));
    }

    pub fn print_differences(&self) {
        self.differences.iter().for_each(|d| println!("  differs: {}: {d}", self.title));
    }

    /// How many things are equal, and how many were compared.
    pub fn counts(&self) -> (usize, usize) {
        let n = self.cells.len();
        (n - self.differences.len().min(n), n)
    }

    pub fn summary(&self) -> String {
        let (equal, n) = self.counts();
        format!("{}: {equal} of {n} equal", self.title)
    }
}

/// Workloads and frames of what arm-scene leaves.
pub fn records(text: &[u8]) -> Result<(Vec<Workload>, Vec<Workload>), String> {
    let all: Value = serde_json::from_slice(text).map_err(|e| format!("records.json: {e}"))?;
    let list = |name: &str| {
        let list = all[name].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(workload).collect()
    };
    Ok((list("workloads"), list("frames")))
}

/// A workload of a JSON file of ours.
pub fn workload(v: &Value) -> Workload {
    let text = |name: &str| v[name].as_str().unwrap_or_default().to_string();
    let counters = v["counters"].as_object().into_iter().flatten();
    Workload {
        kind: text("kind"),
        label: text("label"),
        name: text("name"),
        frame: v["frame"].as_u64(),
        counters: counters.filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect(),
    }
}

/// A CSV file's lines by their fields; the layer's have no quotes.
fn csv(path: &Path) -> Result<Vec<Vec<String>>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.lines().map(|l| l.split(',').map(String::from).collect()).collect())
}

/// The kind of a workload as layer_gpu_profile and layer_gpu_timeline call it.
fn kind(theirs: &str) -> &str {
    match theirs {
        "render_pass" | "renderpass" => "render pass",
        "compute" | "dispatch" => "dispatch",
        "image_transfer" | "buffer_transfer" | "imagetransfer" | "buffertransfer" => "transfer",
        other => other,
    }
}

/// What a column of the layer has for this workload.
fn expected(column: &str, ours: &Workload) -> Option<f64> {
    let (_, machine) = COLUMNS.iter().find(|(name, _)| *name == column)?;
    let value = *ours.counters.get(*machine)?;
    match SHARES.iter().find(|(of, _)| of == machine) {
        None => Some(value),
        Some((_, whole)) => match *ours.counters.get(*whole)? {
            0.0 => Some(0.0),
            whole => Some(value / whole * 100.0),
        },
    }
}

/// The workloads of a CSV file as the layer has them, by the machine names of its counters that are ours.
pub fn rows(path: &Path) -> Result<Vec<Workload>, String> {
    let table = csv(path)?;
    let (head, lines) = table.split_first().ok_or("an empty table")?;
    let is_share = |machine: &str| SHARES.iter().any(|(of, _)| *of == machine);
    let row = |line: &Vec<String>| {
        let counters = head.iter().zip(line).filter_map(|(column, value)| {
            let (_, machine) = COLUMNS.iter().find(|(name, _)| name == column)?;
            Some((machine.to_string(), value.parse().ok()?)).filter(|_| !is_share(machine))
        });
        let (kind, label, name) = Default::default();
        Workload { kind, label, name, frame: None, counters: counters.collect() }
    };
    Ok(lines.iter().map(row).collect())
}

/// Compares a line's counters.
fn counters(c: &mut Compared, row: &str, head: &[String], line: &[String], ours: &Workload) {
    for (column, value) in head.iter().zip(line) {
        if matches!(&**column, "Index" | "Workload type" | "Label" | "Frame ID") {
            continue;
        }
        let ours = expected(column, ours);
        let theirs = value.parse::<f64>();
        let same = matches!((ours, &theirs), (Some(a), Ok(b)) if (a - b).abs() <= ROUNDING);
        c.cell(row, column, same, || match ours {
            Some(ours) => format!("the layer has {value}, the channel {ours}"),
            None => "a counter that the channel has not".into(),
        });
    }
}

/// A CSV file for each frame, a line for each workload.
pub fn workloads(title: &str, ours: &[Workload], folder: &Path) -> Result<Compared, String> {
    let mut c = Compared::new(title);
    let mut frames: Vec<u64> = ours.iter().filter_map(|w| w.frame).collect();
    frames.dedup();
    for frame in frames {
        let ours: Vec<_> = ours.iter().filter(|w| w.frame == Some(frame)).collect();
        let table = csv(&folder.join(format!("frame_{frame:05}.csv")))?;
        let (head, lines) = table.split_first().ok_or("an empty table")?;
        c.cell(&format!("frame {frame}"), "workloads", lines.len() == ours.len(), || {
            format!("the layer has {}, the channel {}", lines.len(), ours.len())
        });
        for (i, (line, w)) in lines.iter().zip(&ours).enumerate() {
            let row =
                format!("{frame}.{i} {}{}{}", w.label, if w.label.is_empty() { "" } else { ": " }, w.name);
            let of = |name: &str| head.iter().position(|h| h == name).and_then(|i| line.get(i));
            let theirs = of("Workload type").map_or("", |t| kind(t));
            c.cell(&row, "kind", theirs == w.kind, || {
                format!("the layer has {theirs}, the channel {}", w.kind)
            });
            let theirs = of("Label").map(|l| l.replace('|', "/")).unwrap_or_default();
            c.cell(&row, "label", theirs == w.label, || format!("the layer has {theirs}"));
            counters(&mut c, &row, head, line, w);
        }
    }
    Ok(c)
}

/// One CSV file, a line for each frame.
pub fn frames(title: &str, ours: &[Workload], folder: &Path) -> Result<Compared, String> {
    let mut c = Compared::new(title);
    let table = csv(&folder.join("capture.csv"))?;
    let (head, lines) = table.split_first().ok_or("an empty table")?;
    c.cell("capture", "frames", lines.len() == ours.len(), || {
        format!("the layer has {}, the channel {}", lines.len(), ours.len())
    });
    for (line, w) in lines.iter().zip(ours) {
        let frame = w.frame.unwrap_or_default().to_string();
        let row = format!("frame {frame}");
        let theirs = line.first().cloned().unwrap_or_default();
        c.cell(&row, "number", theirs == frame, || format!("the layer has {theirs}"));
        counters(&mut c, &row, head, line, w);
    }
    Ok(c)
}

/// The metadata of layer_gpu_timeline. The tag of each of its workloads is the label of one of ours, for the layer puts its
/// tags in the place of the program's labels; those it sends as metadata: `plain` has them, from a run without it.
pub fn timeline(title: &str, ours: &[Workload], plain: &[Workload], file: &Path) -> Result<Compared, String> {
    let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let frames: Value = serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let list = |v: &Value, name: &str| v[name].as_array().cloned().unwrap_or_default();
    let mut theirs = Vec::new();
    for frame in frames.as_array().into_iter().flatten() {
        let workloads = list(frame, "submits").into_iter().flat_map(|s| list(&s, "workloads"));
        theirs.extend(workloads.map(|w| (frame["frame"].as_u64(), w)));
    }
    // A frame that has not ended is not written.
    let ours: Vec<_> = ours.iter().zip(plain).filter(|(w, _)| w.frame.is_some()).collect();
    let mut c = Compared::new(title);
    c.cell("metadata", "workloads", theirs.len() == ours.len(), || {
        format!("the layer has {}, the channel {}", theirs.len(), ours.len())
    });
    let mut tags = HashSet::new();
    for (i, ((frame, t), (w, plain))) in theirs.iter().zip(&ours).enumerate() {
        let tag = format!("t{}", t["tid"]);
        let row = format!("{i} {tag} {}: {}", plain.label, plain.name);
        c.cell(&row, "tag", tag == w.label, || format!("the layer has {tag}, the channel {}", w.label));
        c.cell(&row, "tag is its own", tags.insert(tag.clone()), || format!("{tag} is there twice"));
        let labels = list(t, "label");
        let labels = labels.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("/");
        c.cell(&row, "the program's labels", labels == plain.label, || format!("the layer has {labels}"));
        let theirs = kind(t["type"].as_str().unwrap_or_default());
        c.cell(&row, "kind", theirs == w.kind, || format!("the layer has {theirs}, the channel {}", w.kind));
        c.cell(&row, "frame", *frame == w.frame, || format!("the layer has {frame:?}"));
    }
    Ok(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, label: &str, value: f64) -> Workload {
        let counters = [("MaliFragThread".to_string(), value)].into();
        Workload { kind: kind.into(), label: label.into(), name: "n".into(), frame: Some(0), counters }
    }

    fn folder(file: &str, text: &str) -> temporary::Folder {
        let folder = temporary::folder("tuff-").unwrap();
        std::fs::write(folder.path().join(file), text).unwrap();
        folder
    }

    #[test]
    fn a_line_is_a_workload() {
        let text = "Index,Workload type,Fragment threads,Label\n0,render_pass,12.00,a|b\n1,compute,0.00,\n";
        let folder = folder("frame_00000.csv", text);
        let compare = |list: &[Workload]| workloads("", list, folder.path()).unwrap();
        let same = compare(&[of("render pass", "a/b", 12.0), of("dispatch", "", 0.0)]);
        assert!(same.same(), "{:?}", same.differences);
        assert_eq!(same.cells.len(), 7);
        let other = compare(&[of("render pass", "a/c", 12.01), of("transfer", "", 0.0)]);
        assert_eq!(other.differences.len(), 3, "{:?}", other.differences);
        assert!(!compare(&[of("render pass", "a/b", 12.0)]).same());
    }

    #[test]
    fn a_column_that_is_not_known_differs() {
        let folder = folder("capture.csv", "Frame ID,Fragment threads,Surprises\n0,5.00,1.00\n");
        let c = frames("", &[of("", "", 5.0)], folder.path()).unwrap();
        assert_eq!((c.cells.len(), c.differences.len()), (4, 1));
        assert!(c.summary().ends_with("3 of 4 equal"));
    }

    #[test]
    fn tags_are_labels_one_to_one() {
        let text = r#"[{"frame": 0, "submits": [{"workloads": [
            {"type": "dispatch", "tid": 1, "label": ["a", "b"]}, {"type": "renderpass", "tid": 2, "label": []}]}]}]"#;
        let folder = folder("t.json", text);
        let plain = [of("dispatch", "a/b", 0.0), of("render pass", "", 0.0)];
        let compare = |tags: [&str; 2]| {
            let ours = [of("dispatch", tags[0], 0.0), of("render pass", tags[1], 0.0)];
            timeline("", &ours, &plain, &folder.path().join("t.json")).unwrap()
        };
        assert!(compare(["t1", "t2"]).same());
        assert_eq!(compare(["t2", "t1"]).differences.len(), 2);
    }
}

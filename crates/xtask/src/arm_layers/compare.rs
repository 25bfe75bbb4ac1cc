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

/// The CSV has two places behind the point.
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

    pub fn summary(&self) -> String {
        let n = self.cells.len();
        format!("{}: {} of {n} equal", self.title, n - self.differences.len().min(n))
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

fn workload(v: &Value) -> Workload {
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

/// Compares a line's counters.
fn counters(c: &mut Compared, row: &str, head: &[String], line: &[String], ours: &Workload) {
    for (column, value) in head.iter().zip(line) {
        if matches!(&**column, "Index" | "Workload type" | "Label" | "Frame ID") {
            continue;
        }
        let machine = COLUMNS.iter().find(|(name, _)| name == column).map(|(_, machine)| *machine);
        let ours = machine.and_then(|m| ours.counters.get(m));
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

/// The metadata of layer_gpu_timeline: the tag of each of its workloads is the innermost label of one of ours, the others
/// are the program's.
pub fn timeline(title: &str, ours: &[Workload], file: &Path) -> Result<Compared, String> {
    let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let frames: Value = serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let list = |v: &Value, name: &str| v[name].as_array().cloned().unwrap_or_default();
    let frames = frames.as_array().cloned().unwrap_or_default();
    let submits = frames.iter().flat_map(|f| list(f, "submits"));
    let theirs: Vec<Value> = submits.flat_map(|s| list(&s, "workloads")).collect();
    // A frame that has not ended is not written.
    let ours: Vec<_> = ours.iter().filter(|w| w.frame.is_some()).collect();
    let mut c = Compared::new(title);
    c.cell("metadata", "workloads", theirs.len() == ours.len(), || {
        format!("the layer has {}, the channel {}", theirs.len(), ours.len())
    });
    let mut tags = HashSet::new();
    for (t, w) in theirs.iter().zip(&ours) {
        let tag = format!("t{}", t["tid"]);
        let labels = list(t, "label");
        let labels = labels.iter().filter_map(Value::as_str).chain([&*tag]).collect::<Vec<_>>().join("/");
        let row = format!("{}: {}", w.label, w.name);
        c.cell(&row, "tag and labels", labels == w.label, || format!("the layer has {labels}"));
        c.cell(&row, "tag is its own", tags.insert(tag.clone()), || format!("{tag} is there twice"));
        let theirs = kind(t["type"].as_str().unwrap_or_default());
        c.cell(&row, "kind", theirs == w.kind, || format!("the layer has {theirs}, the channel {}", w.kind));
    }
    Ok(c)
}

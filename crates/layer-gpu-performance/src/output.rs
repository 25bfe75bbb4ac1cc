//! Where rows go: CSV and JSON as they come, and a table of what is alike.

use crate::settings::{Settings, Table};
use parking_lot::Mutex;
use plain::{csv as field, json as quoted};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

/// A counter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    Whole(u64),
    Signed(i64),
    Float(f64),
    /// The workload's queue has no such counter.
    None,
}

impl Value {
    fn text(self) -> String {
        match self {
            Value::Whole(v) => v.to_string(),
            Value::Signed(v) => v.to_string(),
            Value::Float(v) if v.is_finite() => v.to_string(),
            Value::Float(_) | Value::None => "null".into(),
        }
    }
}

/// A workload, each time that it ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub device: u32,
    pub queue: u32,
    pub frame: Option<u64>,
    /// Among the device's batches, from 0.
    pub submission: u64,
    pub kind: &'static str,
    pub name: String,
    pub labels: String,
    /// The command buffer's name.
    pub commands: String,
    /// Begin in nanoseconds of the device's clock, and how long it took.
    pub span: Option<(f64, f64)>,
    /// Nanoseconds of each view of a multiview pass, where the driver tells.
    pub views: Vec<Option<f64>>,
    /// Parts of a suspended pass; else 1.
    pub parts: u32,
    /// As many as the output has names of, or none.
    pub counters: Vec<Value>,
    /// Why there is no time.
    pub reason: Option<String>,
    /// What else is to be known.
    pub note: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    kind: &'static str,
    name: String,
    labels: String,
}

#[derive(Clone)]
struct Sum {
    times: u64,
    total: f64,
    least: f64,
    most: f64,
}

struct Files {
    csv: Option<BufWriter<File>>,
    json: Option<Json>,
    counters: Vec<String>,
    order: Vec<Key>,
    sums: HashMap<Key, Sum>,
    unmeasured: BTreeMap<String, u64>,
    /// Devices that are gone: number, name, query pools, free ones of these.
    devices: Vec<(u32, String, usize, usize)>,
    rows: u64,
}

/// A file that is whole whenever it is flushed: its end is written again after each flush.
struct Json {
    file: BufWriter<File>,
    /// Where the end begins.
    at: u64,
    any: bool,
}

/// What instances with the same files share.
pub(crate) struct Output {
    settings: Settings,
    files: Mutex<Files>,
    devices: AtomicUsize,
}

/// Whose outputs they are: the child of a fork has a copy, with locks that nobody may open, and must not write it.
static PROCESS: OnceLock<u32> = OnceLock::new();
static OUTPUTS: Mutex<Vec<Arc<Output>>> = Mutex::new(vec![]);

/// The output of these settings' files, with these counters' names in its heads.
pub(crate) fn open(settings: &Settings, counters: &[String]) -> Arc<Output> {
    PROCESS.get_or_init(std::process::id);
    let mut all = OUTPUTS.lock();
    let same = |o: &&Arc<Output>| {
        let s = &o.settings;
        (&s.csv, &s.json, &s.table) == (&settings.csv, &settings.json, &settings.table)
    };
    let output = match all.iter().find(same) {
        Some(o) => o.clone(),
        None => {
            all.push(Arc::new(files::within_limits(|| Output::new(settings, counters))));
            all[all.len() - 1].clone()
        }
    };
    output.devices.fetch_add(1, SeqCst);
    output
}

/// The process ends: what is there is written. No Vulkan is called, for the driver may be gone.
pub(crate) fn finish() {
    if PROCESS.get() == Some(&std::process::id()) {
        OUTPUTS.lock().iter().for_each(|o| o.flush(o.devices.load(SeqCst) > 0));
    }
}

fn create(path: &Path) -> Option<File> {
    File::create(path).inspect_err(|e| crate::say(&format!("{}: {e}", plain::path(path)))).ok()
}

impl Output {
    fn new(settings: &Settings, counters: &[String]) -> Output {
        let mut csv = settings.csv.as_deref().and_then(create).map(BufWriter::new);
        if let Some(f) = &mut csv {
            let head = "device,queue,frame,submission,kind,name,labels,command_buffer,begin_ns,elapsed_ns,views_ns,\
                        parts,not_measured,note";
            let names: String = counters.iter().map(|c| format!(",{}", field(c))).collect();
            let _ = writeln!(f, "{head}{names}");
        }
        let json = settings.json.as_deref().and_then(create).and_then(|file| {
            let mut file = BufWriter::new(file);
            let head = "{\n  \"layer\": \"VK_LAYER_TUFF_gpu_performance\",\n  \"workloads\": [";
            file.write_all(head.as_bytes()).ok()?;
            Some(Json { file, at: head.len() as u64, any: false })
        });
        let files = Files {
            csv,
            json,
            counters: counters.to_vec(),
            order: vec![],
            sums: HashMap::new(),
            unmeasured: BTreeMap::new(),
            devices: vec![],
            rows: 0,
        };
        Output { settings: settings.clone(), files: Mutex::new(files), devices: AtomicUsize::new(0) }
    }

    /// Something that has no row was not measured.
    pub fn unmeasured(&self, why: &str) {
        *self.files.lock().unmeasured.entry(why.into()).or_default() += 1;
    }

    pub fn write(&self, rows: Vec<Row>) {
        let mut f = self.files.lock();
        files::within_limits(|| {
            for row in rows {
                f.row(row);
            }
            if f.rows > 4096 {
                f.rows = 0;
                f.flush();
            }
        });
    }

    /// A device is gone, that had so many query pools and as many free ones. The last one's table is printed.
    pub fn close(&self, number: u32, name: &str, (pools, free): (usize, usize)) {
        self.files.lock().devices.push((number, name.into(), pools, free));
        self.flush(self.devices.fetch_sub(1, SeqCst) == 1);
    }

    fn flush(&self, last: bool) {
        files::within_limits(|| self.flush_all(last));
    }

    fn flush_all(&self, last: bool) {
        let mut f = self.files.lock();
        f.flush();
        if !last || (f.order.is_empty() && f.unmeasured.is_empty()) {
            return;
        }
        match &self.settings.table {
            Table::Off => {}
            Table::Stderr => {
                let _ = std::io::stderr().write_all(f.table().as_bytes());
                f.order.clear();
                f.sums.clear();
                f.unmeasured.clear();
            }
            Table::File(path) => {
                if let Err(e) = std::fs::write(path, f.table()) {
                    crate::say(&format!("{}: {e}", plain::path(path)));
                }
            }
        }
    }
}

fn or_empty<T: ToString>(v: Option<T>) -> String {
    v.map_or(String::new(), |v| v.to_string())
}

impl Files {
    fn row(&mut self, r: Row) {
        if let Some(f) = &mut self.csv {
            let views: Vec<String> = r.views.iter().map(|v| or_empty(*v)).collect();
            let cells = [
                r.device.to_string(),
                r.queue.to_string(),
                or_empty(r.frame),
                r.submission.to_string(),
                r.kind.to_string(),
                field(&r.name),
                field(&r.labels),
                field(&r.commands),
                or_empty(r.span.map(|s| s.0)),
                or_empty(r.span.map(|s| s.1)),
                views.join(";"),
                r.parts.to_string(),
                field(r.reason.as_deref().unwrap_or_default()),
                r.note.map_or(String::new(), field),
            ];
            let none = || ",".repeat(self.counters.len());
            let values = r.counters.iter().map(|v| format!(",{}", v.text())).collect::<String>();
            let values = if r.counters.is_empty() { none() } else { values };
            let _ = writeln!(f, "{}{values}", cells.join(","));
        }
        if let Some(j) = &mut self.json {
            let text = json(&r, &self.counters);
            let text = format!("{}\n    {text}", if j.any { "," } else { "" });
            j.any = true;
            if j.file.write_all(text.as_bytes()).is_ok() {
                j.at += text.len() as u64;
            }
        }
        self.rows += 1;
        if let Some(why) = &r.reason {
            *self.unmeasured.entry(format!("{} {}: {why}", r.kind, r.name)).or_default() += 1;
        }
        if let Some(note) = r.note {
            *self.unmeasured.entry(note.into()).or_default() += 1;
        }
        let Some((_, elapsed)) = r.span else { return };
        let key = Key { kind: r.kind, name: r.name, labels: r.labels };
        match self.sums.get_mut(&key) {
            Some(s) => {
                s.times += 1;
                s.total += elapsed;
                s.least = s.least.min(elapsed);
                s.most = s.most.max(elapsed);
            }
            None => {
                self.order.push(key.clone());
                self.sums.insert(key, Sum { times: 1, total: elapsed, least: elapsed, most: elapsed });
            }
        }
    }

    fn flush(&mut self) {
        if let Some(f) = &mut self.csv {
            let _ = f.flush();
        }
        let Some(j) = &mut self.json else { return };
        let list = self
            .unmeasured
            .iter()
            .map(|(why, n)| format!("\n    {{\"reason\": {}, \"times\": {n}}}", quoted(why)));
        let list = list.collect::<Vec<_>>().join(",");
        let devices = self.devices.iter().map(|(number, name, pools, free)| {
            let name = quoted(name);
            format!("{{\"device\": {number}, \"name\": {name}, \"query_pools\": {pools}, \"query_pools_free\": {free}}}")
        });
        let devices = devices.collect::<Vec<_>>().join(", ");
        let close = if list.is_empty() { "" } else { "\n  " };
        let end = format!("\n  ],\n  \"not_measured\": [{list}{close}],\n  \"devices\": [{devices}]\n}}\n");
        let written = j.file.write_all(end.as_bytes()).and_then(|()| j.file.flush());
        let length = j.at + end.len() as u64;
        let cut = written.and_then(|()| j.file.get_ref().set_len(length));
        if cut.and_then(|()| j.file.seek(SeekFrom::Start(j.at))).is_err() {
            crate::say("the JSON file cannot be written");
            self.json = None;
        }
    }

    /// What is alike in one line, the dearest first; then what was not measured.
    fn table(&self) -> String {
        let mut lines: Vec<(&Key, &Sum)> = self.order.iter().map(|k| (k, &self.sums[k])).collect();
        lines.sort_by(|a, b| b.1.total.total_cmp(&a.1.total));
        let all: f64 = lines.iter().map(|l| l.1.total).sum();
        let mut s = String::from("VK_LAYER_TUFF_gpu_performance: milliseconds of the GPU's time\n");
        let _ = writeln!(
            s,
            "{:>8} {:>11} {:>6} {:>10} {:>10} {:>10}  workload",
            "times", "total", "%", "mean", "least", "most"
        );
        for (k, m) in lines {
            let ms = |ns: f64| ns / 1e6;
            let share = if all > 0.0 { 100.0 * m.total / all } else { 0.0 };
            let labels =
                if k.labels.is_empty() { String::new() } else { format!(" [{}]", plain::line(&k.labels)) };
            let _ = writeln!(
                s,
                "{:>8} {:>11.4} {share:>6.1} {:>10.4} {:>10.4} {:>10.4}  {}: {}{labels}",
                m.times,
                ms(m.total),
                ms(m.total / m.times as f64),
                ms(m.least),
                ms(m.most),
                k.kind,
                plain::line(&k.name)
            );
        }
        for (why, n) in &self.unmeasured {
            let _ = writeln!(s, "{n:>8} not measured, or not as asked: {}", plain::line(why));
        }
        s
    }
}

fn json(r: &Row, names: &[String]) -> String {
    let number = |v: Option<f64>| v.map_or("null".to_string(), |v| v.to_string());
    let mut s = format!(
        "{{\"device\": {}, \"queue\": {}, \"frame\": {}, \"submission\": {}, \"kind\": {}, \"name\": {}, \
         \"labels\": {}, \"command_buffer\": {}, \"begin_ns\": {}, \"elapsed_ns\": {}, \"parts\": {}",
        r.device,
        r.queue,
        r.frame.map_or("null".to_string(), |f| f.to_string()),
        r.submission,
        quoted(r.kind),
        quoted(&r.name),
        quoted(&r.labels),
        quoted(&r.commands),
        number(r.span.map(|s| s.0)),
        number(r.span.map(|s| s.1)),
        r.parts
    );
    if !r.views.is_empty() {
        let views: Vec<String> = r.views.iter().map(|v| number(*v)).collect();
        let _ = write!(s, ", \"views_ns\": [{}]", views.join(", "));
    }
    if let Some(why) = &r.reason {
        let _ = write!(s, ", \"not_measured\": {}", quoted(why));
    }
    if let Some(note) = r.note {
        let _ = write!(s, ", \"note\": {}", quoted(note));
    }
    if !r.counters.is_empty() {
        let pairs = names.iter().zip(&r.counters).map(|(n, v)| format!("{}: {}", quoted(n), v.text()));
        let _ = write!(s, ", \"counters\": {{{}}}", pairs.collect::<Vec<_>>().join(", "));
    }
    s.push('}');
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_whole_after_every_flush() {
        let folder = temporary::folder("tuff-").unwrap();
        let folder = folder.path();
        let (csv, json) = (folder.join("a.csv"), folder.join("a.json"));
        let table = Table::File(folder.join("a.txt"));
        let settings =
            Settings { csv: Some(csv.clone()), json: Some(json.clone()), table, ..Default::default() };
        let o = Output::new(&settings, &["A".into(), "B".into()]);
        let row = |name: &str, ns| Row {
            kind: "copy",
            name: name.into(),
            span: Some((1.0, ns)),
            parts: 1,
            counters: vec![Value::Whole(3), Value::Float(0.5)],
            ..Row::default()
        };
        o.unmeasured("a long reason that the next end does not have, so that the file gets shorter");
        o.flush(false);
        assert!(std::fs::read_to_string(&json).unwrap().ends_with("]\n}\n"));
        o.files.lock().unmeasured.clear();
        o.write(vec![row("a \"b\", c", 2e6), row("d", 1e6), row("d", 3e6)]);
        let lost = Row { span: None, counters: vec![], reason: Some("lost".into()), ..row("e", 0.0) };
        o.write(vec![lost]);
        o.flush(true);
        let text = std::fs::read_to_string(&csv).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].ends_with(",not_measured,note,A,B"), "{text}");
        assert_eq!(lines[1], "0,0,,0,copy,\"a \"\"b\"\", c\",,,1,2000000,,1,,,3,0.5");
        assert_eq!(lines[4], "0,0,,0,copy,e,,,,,,1,lost,,,");
        let text = std::fs::read_to_string(&json).unwrap();
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains("\"not_measured\": \"lost\"") && text.ends_with("]\n}\n"), "{text}");
        let text = std::fs::read_to_string(folder.join("a.txt")).unwrap();
        let second = text.lines().nth(2).unwrap();
        assert!(second.contains("4.0000") && second.ends_with("copy: d"), "{text}");
    }

    #[test]
    fn hostile_names_are_text() {
        let folder = temporary::folder("tuff-").unwrap();
        let folder = folder.path();
        let [csv, json, table] = ["a.csv", "a.json", "a.txt"].map(|n| folder.join(n));
        let settings = Settings {
            csv: Some(csv.clone()),
            json: Some(json.clone()),
            table: Table::File(table.clone()),
            ..Default::default()
        };
        let o = Output::new(&settings, &[]);
        let wild = "a\n\x1b[2J9 copy: fine\u{202e}";
        let row = |name: &str, ns| Row {
            kind: "copy",
            name: name.into(),
            labels: wild.into(),
            commands: "=HYPERLINK(\"x\")".into(),
            span: Some((-1.0, ns)),
            parts: 1,
            ..Row::default()
        };
        let lost = Row { span: None, reason: Some(wild.into()), ..row("@b", 0.0) };
        o.write(vec![row(wild, 1e6), row("-1", 1e6), lost]);
        o.flush(true);
        let [csv, json, table] = [csv, json, table].map(|f| std::fs::read_to_string(f).unwrap());
        for text in [&csv, &json, &table] {
            assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
        }
        assert_eq!((csv.lines().count(), table.lines().count()), (4, 5), "{csv}\n{table}");
        let name = "a\\n\\x1b[2J9 copy: fine\\u{202e}";
        let link = "\"'=HYPERLINK(\"\"x\"\")\"";
        // Numbers are as they were.
        assert!(csv.contains(&format!(",copy,'-1,{name},{link},-1,1000000,")), "{csv}");
        assert!(
            csv.contains(",copy,'@b,") && table.contains(&format!("copy: {name} [{name}]")),
            "{csv}{table}"
        );
    }
}

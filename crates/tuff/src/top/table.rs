//! Workloads added up by what they are, as a table.

use channel::remote::{Info, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Kinds of workloads that are kept apart, and frames that are told apart; what comes beyond them goes into one row.
const MAX_KEYS: usize = 4096;
const MAX_FRAMES: usize = 1 << 20;
/// Bytes of a transaction of external memory.
const LINE: f64 = 64.0;

/// Equal workloads.
#[derive(Clone, Default)]
struct Row {
    times: u64,
    /// Each from its begin to its end, in nanoseconds.
    elapsed: u64,
    /// Lines of external memory, read and written.
    lines: f64,
    /// Nanoseconds by what bound the runs.
    bounds: BTreeMap<String, u64>,
}

impl Row {
    fn add(&mut self, o: &Row) {
        self.times += o.times;
        self.elapsed = self.elapsed.saturating_add(o.elapsed);
        self.lines += o.lines;
        for (by, time) in &o.bounds {
            let sum = self.bounds.entry(by.clone()).or_default();
            *sum = sum.saturating_add(*time);
        }
    }
    /// What bound it longest.
    fn bound(&self) -> &str {
        self.bounds.iter().max_by_key(|b| b.1).map_or("", |b| b.0)
    }
}

/// What came in a time.
#[derive(Default)]
pub struct Sums {
    /// By kind, label and name.
    rows: BTreeMap<(String, String, String), Row>,
    /// Those that began, by device and number.
    frames: BTreeSet<(u32, u64)>,
    /// Records that never came, since the reading began.
    pub lost: u64,
}

impl Sums {
    pub fn record(&mut self, r: &Record) {
        if r.kind == "mark" {
            return;
        }
        if let Some(frame) = r.frame.filter(|_| self.frames.len() < MAX_FRAMES) {
            self.frames.insert((r.device, frame));
        }
        let elapsed = r.span[1].saturating_sub(r.span[0]);
        let lines = r.counters.values().sum();
        let bounds = r.bound.iter().map(|b| (b.clone(), elapsed)).collect();
        self.row((r.kind.clone(), r.label.clone(), r.name.clone())).add(&Row {
            times: 1,
            elapsed,
            lines,
            bounds,
        });
    }

    pub fn add(&mut self, o: &Sums) {
        for (key, row) in &o.rows {
            self.row(key.clone()).add(row);
        }
        self.frames.extend(o.frames.iter().take(MAX_FRAMES.saturating_sub(self.frames.len())));
        self.lost = self.lost.max(o.lost);
    }

    fn row(&mut self, key: (String, String, String)) -> &mut Row {
        let room = self.rows.len() < MAX_KEYS || self.rows.contains_key(&key);
        let others = || ("others".into(), String::new(), String::new());
        self.rows.entry(if room { key } else { others() }).or_default()
    }
}

/// A line on the process, and so many rows, those that take longest first.
pub fn table(info: &Info, sums: &Sums, most: usize, which: &str) -> String {
    let mut rows: Vec<_> = sums.rows.iter().collect();
    rows.sort_by(|a, b| b.1.elapsed.cmp(&a.1.elapsed).then_with(|| a.0.cmp(b.0)));
    let all = rows.iter().map(|r| r.1.elapsed).fold(0, u64::saturating_add);
    let frames = sums.frames.len();
    // Without frames, of all that came.
    let (count, a_frame) = if frames > 0 { (frames as f64, " a frame") } else { (1.0, "") };
    let ms = |ns: u64| ns as f64 / 1e6 / count;
    let program = info.program.rsplit('/').next().unwrap_or_default();
    let mut out =
        format!("{} (process {}) on {}: {which}", plain::line(program), info.process, plain::line(&info.gpu));
    if frames > 0 {
        let _ = write!(out, "{frames} frame{}, ", if frames == 1 { "" } else { "s" });
    }
    let _ = write!(out, "{:.3} ms of modelled time{a_frame}", ms(all));
    if sums.lost > 0 {
        let _ = write!(out, "; {} records were lost", sums.lost);
    }
    let _ =
        writeln!(out, "\n{:>10} {:>6} {:>7} {:>9}  {:26} workload", "ms", "share", "times", "MB", "bound by");
    for ((kind, label, name), row) in rows.iter().take(most) {
        let share = if all > 0 { 100.0 * row.elapsed as f64 / all as f64 } else { 0.0 };
        let mb = row.lines * LINE / 1e6 / count;
        let what = [kind, label, name].map(|t| plain::line(t)).join("  ");
        let _ = writeln!(
            out,
            "{:10.3} {share:5.1}% {:7} {mb:9.3}  {:26} {}",
            ms(row.elapsed),
            row.times,
            plain::line(row.bound()),
            what.replace("    ", "  ").trim_end()
        );
    }
    if rows.len() > most {
        let rest = rows[most..].iter().map(|r| r.1.elapsed).fold(0, u64::saturating_add);
        let _ = writeln!(out, "{:10.3}                           {} more", ms(rest), rows.len() - most);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, name: &str, frame: Option<u64>, ns: u64, bound: &str, lines: f64) -> Record {
        Record {
            order: 0,
            queue_order: 0,
            submission: 0,
            device: 0,
            queue: 0,
            kind: kind.into(),
            views: 1,
            frame,
            span: [1000, 1000 + ns],
            label: String::new(),
            name: name.into(),
            bound: Some(bound.into()),
            counters: [("MaliExtBusRd".to_string(), lines)].into(),
        }
    }

    fn info() -> Info {
        Info {
            tuff: 1,
            process: 7,
            program: "/usr/bin/x\x1b[2J".into(),
            gpu: "g720".into(),
            counters: vec![],
        }
    }

    /// By hand: two frames, 3 ms and 1 ms of passes and a dispatch of 2 ms: 3 ms a frame; the pass's 4 of 6 ms are two thirds.
    #[test]
    fn a_table_is_of_frames() {
        let mut sums = Sums::default();
        let mut first = Sums::default();
        first.record(&record("render pass", "a", Some(1), 3_000_000, "external memory", 31_250.0));
        sums.add(&first);
        sums.record(&record("render pass", "a", Some(2), 1_000_000, "arithmetic", 31_250.0));
        sums.record(&record("dispatch", "b\nc", Some(2), 2_000_000, "arithmetic", 0.0));
        sums.record(&record("mark", "tuff.mark:x", Some(9), 0, "", 0.0));
        let text = table(&info(), &sums, 1, "");
        let expected = "x\\x1b[2J (process 7) on g720: 2 frames, 3.000 ms of modelled time a frame\n\
            \x20       ms  share   times        MB  bound by                   workload\n\
            \x20    2.000  66.7%       2     2.000  external memory            render pass  a\n\
            \x20    1.000                           1 more\n";
        assert_eq!(text, expected);
        assert!(table(&info(), &sums, 9, "").contains("dispatch  b\\nc\n"));
    }

    #[test]
    fn strangers_names_take_no_more_than_their_room() {
        let mut sums = Sums::default();
        for i in 0..MAX_KEYS + 10 {
            sums.record(&record("dispatch", &i.to_string(), None, 1, "", 0.0));
        }
        assert_eq!(sums.rows.len(), MAX_KEYS + 1);
        assert_eq!(sums.rows.values().map(|r| r.times).sum::<u64>(), MAX_KEYS as u64 + 10);
        let mut wild = record("dispatch", "x", None, 0, "", 0.0);
        wild.span = [u64::MAX, 0];
        sums.record(&wild);
        wild.span = [0, u64::MAX];
        (0..3).for_each(|_| sums.record(&wild));
        assert!(table(&info(), &sums, 5, "").lines().count() == 8);
    }
}

//! What `tuff run --counters` ends with: ten lines for people.

use super::capture::{ACTIVE, Capture, Workload, number};
use counters::bound::Take;
use std::fmt::Write;

/// Workloads that are named.
const DEAREST: usize = 4;

/// Nanoseconds in the unit that reads best.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.1} µs", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}

pub fn bytes(n: f64) -> String {
    match n {
        n if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        n if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        n if n >= 1e3 => format!("{:.1} kB", n / 1e3),
        n => format!("{n:.0} B"),
    }
}

/// So many of what is called so.
pub fn many(n: usize, what: &str) -> String {
    let more = if what.ends_with('s') { "es" } else { "s" };
    format!("{n} {what}{}", if n == 1 { "" } else { more })
}

/// What a key of `takes` means.
pub fn words(key: &str) -> &str {
    Take::ALL.iter().find(|t| t.key() == key).map_or(key, |t| t.words())
}

/// The queue and what binds it, of the job that goes on longest.
fn bound(w: &Workload) -> String {
    let of = w.longest().and_then(|j| Some(format!("{}: {}", j.queue, words(j.bound.as_deref()?))));
    plain::line(&of.unwrap_or_default()).into_owned()
}

/// At most so many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// The lines.
pub fn lines(c: &Capture) -> String {
    let mut out = String::new();
    let all: f64 = c.workloads.iter().map(Workload::cycles).sum();
    let percent = |cycles: f64| 100.0 * cycles / all.max(1.0);
    let runs: u64 = c.workloads.iter().map(|w| w.times).sum();
    let cycles = c.cycles_a_ns();
    let busy = number(&c.total, ACTIVE);
    let _ = writeln!(
        out,
        "tuff: {} of the modelled GPU ({}, {} MHz): {} that ran {runs} times in all",
        time(busy / cycles),
        plain::line(&c.gpu),
        c.model["clock_mhz"],
        many(c.workloads.len(), "workload")
    );
    let of = |name: &str| c.frames.iter().map(|f| number(&f.counters, name)).collect::<Vec<_>>();
    let times = of(ACTIVE);
    match times.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((at, most)) => {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            let _ = writeln!(
                out,
                "frames    {}: {} on average, at most {} (frame {})",
                times.len(),
                time(mean / cycles),
                time(most / cycles),
                c.frames[at].frame
            );
        }
        None => out.push_str("frames    none: nothing was presented\n"),
    }
    let mut dearest: Vec<&Workload> = c.workloads.iter().collect();
    dearest.sort_by(|a, b| b.cycles().total_cmp(&a.cycles()));
    out.push_str("dearest      time       %   times  bound by                        workload\n");
    for w in dearest.iter().take(DEAREST) {
        let _ = writeln!(
            out,
            "{:>17} {:>7.1} {:>7}  {:<30}  {}",
            time(w.cycles() / cycles),
            percent(w.cycles()),
            w.times,
            cut(&bound(w), 30),
            cut(&w.title(), 60)
        );
    }
    if dearest.len() > DEAREST {
        let rest: f64 = dearest[DEAREST..].iter().map(|w| w.cycles()).sum();
        let share = percent(rest);
        let _ = writeln!(
            out,
            "{:>17} {share:>7.1}           {} more",
            time(rest / cycles),
            dearest.len() - DEAREST
        );
    }
    let _ = writeln!(
        out,
        "binds     {}",
        binds(c)
            .iter()
            .map(|(key, share)| format!("{} {share:.0} %", plain::line(words(key))))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let [read, written] = ["MaliExtBusRdBy", "MaliExtBusWrBy"].map(|n| number(&c.total, n));
    let _ = writeln!(out, "memory    {} read, {} written", bytes(read), bytes(written));
    out
}

/// Of all jobs' active cycles, the percent that each thing binds; the first first, and no more than four.
pub fn binds(c: &Capture) -> Vec<(String, f64)> {
    let mut by: Vec<(String, u64)> = vec![];
    for j in c.workloads.iter().flat_map(|w| &w.jobs) {
        for (key, cycles) in j.by_bound() {
            match by.iter_mut().find(|b| b.0 == key) {
                Some(b) => b.1 += cycles,
                None => by.push((key, cycles)),
            }
        }
    }
    by.sort_by_key(|b| std::cmp::Reverse(b.1));
    let all: u64 = by.iter().map(|b| b.1).sum();
    let share = |n: u64| 100.0 * n as f64 / all.max(1) as f64;
    by.into_iter().take(4).map(|(key, n)| (key, share(n))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(workloads: usize, frames: usize) -> Capture {
        let job = serde_json::json!({
            "queue": "main", "jobs": 1, "active_cycles": 100, "blocked_cycles": 0, "drained_cycles": 0,
            "waited_cycles": 0, "bound": "texture", "takes": { "texture": 90 }
        });
        let workload = |i: usize| {
            serde_json::json!({
                "device": 0, "queue": 0, "kind": "render pass", "label": "", "name": format!("n{i}"),
                "times": 2, "begin_ns": 0, "end_ns": 9, "elapsed_ns": 5, "jobs": [job],
                "counters": { ACTIVE: 1300 * (i + 1) }
            })
        };
        let frame = |i: usize| serde_json::json!({ "device": 0, "queue": 0, "frame": 7 + i, "counters": { ACTIVE: 1300 * (i + 1) } });
        serde_json::from_value(serde_json::json!({
            "version": 1, "gpu": "g720", "model": { "clock_mhz": 1300 },
            "total": { ACTIVE: 1300 * workloads * (workloads + 1) / 2, "MaliExtBusRdBy": 12_000_000 },
            "workloads": (0..workloads).map(workload).collect::<Vec<_>>(),
            "frames": (0..frames).map(frame).collect::<Vec<_>>()
        }))
        .unwrap()
    }

    #[test]
    fn ten_lines_name_frames_the_dearest_and_what_binds() {
        let text = lines(&capture(9, 3));
        let all: Vec<&str> = text.lines().collect();
        assert_eq!(all.len(), 10, "{text}");
        assert!(
            all[0].starts_with("tuff: 45.0 µs of the modelled GPU (g720, 1300 MHz): 9 workloads that ran 18")
        );
        assert_eq!(all[1], "frames    3: 2.0 µs on average, at most 3.0 µs (frame 9)");
        assert!(all[3].contains("9.0 µs    20.0       2  main: texture unit"), "{text}");
        assert!(all[7].contains("33.3           5 more"), "{text}");
        assert_eq!(all[8], "binds     texture unit 100 %");
        assert_eq!(all[9], "memory    12.00 MB read, 0 B written");
        // Names are text, whatever they hold.
        let mut hostile = capture(1, 1);
        let wild = "a\n\x1b[2Jtuff: ok\u{202e}".to_string();
        hostile.gpu = wild.clone();
        let of = &mut hostile.workloads[0];
        (of.kind, of.label) = (wild.clone(), wild.clone());
        hostile.workloads[0].jobs[0].bound = Some(wild);
        let text = lines(&hostile);
        assert_eq!(text.lines().count(), 6, "{text:?}");
        assert!(!text.contains(['\x1b', '\u{202e}']) && text.contains("a\\n\\x1b[2Jtuff: ok"), "{text:?}");
        // What there is not takes no line, or says so.
        assert!(lines(&capture(1, 0)).contains("none: nothing was presented"));
        assert_eq!(lines(&capture(0, 0)).lines().count(), 5);
    }
}

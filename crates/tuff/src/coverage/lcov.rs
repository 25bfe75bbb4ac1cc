//! Tracefiles of lcov: what was counted by source file, as text and back. (The format is described in geninfo's manual page.)

use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lines: BTreeMap<u32, u64>,
    /// By name: the first line and the calls.
    pub functions: BTreeMap<String, (u32, u64)>,
    /// By line, branch instruction of the line, and successor; `None`: the branch instruction never ran.
    pub branches: BTreeMap<(u32, u32, u32), Option<u64>>,
}

/// By source file.
pub type Coverage = BTreeMap<String, Counts>;

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        for (line, n) in &other.lines {
            add(self.lines.entry(*line).or_default(), *n);
        }
        for (name, (line, n)) in &other.functions {
            let at = self.functions.entry(name.clone()).or_insert((*line, 0));
            at.0 = at.0.min(*line);
            add(&mut at.1, *n);
        }
        for (place, n) in &other.branches {
            let at = self.branches.entry(*place).or_default();
            *at = match (*at, *n) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            };
        }
    }
}

fn add(to: &mut u64, n: u64) {
    *to = to.saturating_add(n);
}

/// How many there are, and how many of them ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub found: usize,
    pub hit: usize,
}

impl Share {
    fn of(counts: impl Iterator<Item = u64>) -> Share {
        counts.fold(Share::default(), |s, n| Share { found: s.found + 1, hit: s.hit + usize::from(n != 0) })
    }

    /// In percent; of nothing, 0.
    pub fn percent(self) -> f64 {
        if self.found == 0 { 0.0 } else { self.hit as f64 * 100.0 / self.found as f64 }
    }
}

/// Shares of lines, functions and branches.
pub fn shares<'a>(all: impl IntoIterator<Item = &'a Counts>) -> [Share; 3] {
    let mut sum = [Share::default(); 3];
    for c in all {
        let of = [
            Share::of(c.lines.values().copied()),
            Share::of(c.functions.values().map(|f| f.1)),
            Share::of(c.branches.values().map(|n| n.unwrap_or(0))),
        ];
        sum.iter_mut().zip(of).for_each(|(s, o)| (s.found, s.hit) = (s.found + o.found, s.hit + o.hit));
    }
    sum
}

pub fn text(all: &Coverage) -> String {
    let mut out = String::new();
    for (file, c) in all {
        let [lines, functions, branches] = shares([c]);
        let _ = writeln!(out, "TN:\nSF:{file}");
        for (name, (line, _)) in &c.functions {
            let _ = writeln!(out, "FN:{line},{name}");
        }
        for (name, (_, n)) in &c.functions {
            let _ = writeln!(out, "FNDA:{n},{name}");
        }
        let _ = writeln!(out, "FNF:{}\nFNH:{}", functions.found, functions.hit);
        for ((line, branch, way), n) in &c.branches {
            let n = n.map_or("-".to_string(), |n| n.to_string());
            let _ = writeln!(out, "BRDA:{line},{branch},{way},{n}");
        }
        let _ = writeln!(out, "BRF:{}\nBRH:{}", branches.found, branches.hit);
        for (line, n) in &c.lines {
            let _ = writeln!(out, "DA:{line},{n}");
        }
        let _ = writeln!(out, "LF:{}\nLH:{}\nend_of_record", lines.found, lines.hit);
    }
    out
}

pub fn read(text: &str) -> Result<Coverage, String> {
    let mut all = Coverage::new();
    let mut of: Option<(String, Counts)> = None;
    for (row, n) in text.lines().zip(1..) {
        let wrong = || format!("line {n}: '{}' is no record that this tool reads", plain::line(row));
        let (key, rest) = row.split_once(':').unwrap_or((row, ""));
        match key {
            "SF" => of = Some((rest.to_string(), Counts::default())),
            "end_of_record" => {
                let (file, counts) = of.take().ok_or_else(wrong)?;
                all.entry(file).or_default().add(&counts);
            }
            "FN" | "FNDA" | "DA" | "BRDA" => {
                let counts = &mut of.as_mut().ok_or_else(wrong)?.1;
                record(counts, key, rest).ok_or_else(wrong)?;
            }
            // The sums are made anew.
            "" | "TN" | "FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH" => {}
            _ => return Err(wrong()),
        }
    }
    match of {
        Some((file, _)) => Err(format!("'{}' has no end_of_record", plain::line(&file))),
        None => Ok(all),
    }
}

fn record(counts: &mut Counts, key: &str, rest: &str) -> Option<()> {
    let mut one = Counts::default();
    let (first, after) = rest.split_once(',')?;
    match key {
        "FN" => drop(one.functions.insert(after.into(), (first.parse().ok()?, 0))),
        // The function's line is that of its FN, which comes first.
        "FNDA" => {
            let line = counts.functions.get(after)?.0;
            one.functions.insert(after.into(), (line, first.parse().ok()?));
        }
        // A checksum may follow.
        "DA" => {
            let n = after.split(',').next()?.parse().ok()?;
            one.lines.insert(first.parse().ok()?, n);
        }
        _ => {
            let mut parts = after.split(',');
            let (branch, way, n) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
            let n = if n == "-" { None } else { Some(n.parse().ok()?) };
            one.branches.insert((first.parse().ok()?, branch, way), n);
        }
    }
    counts.add(&one);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(line: u64, call: u64, ways: [Option<u64>; 2]) -> Counts {
        Counts {
            lines: [(3, line), (4, 0)].into(),
            functions: [("f".to_string(), (3, call))].into(),
            branches: [((3, 0, 0), ways[0]), ((3, 0, 1), ways[1])].into(),
        }
    }

    #[test]
    fn text_is_read_back() {
        let all = Coverage::from([
            ("a.frag".into(), counts(7, 1, [Some(7), Some(0)])),
            ("b.frag".into(), counts(0, 0, [None, None])),
        ]);
        assert_eq!(read(&text(&all)).unwrap(), all);
        assert_eq!(read("").unwrap(), Coverage::new());
        for bad in
            ["DA:1,1", "SF:a\nDA:1,x\nend_of_record", "SF:a\nDA:1,1", "SF:a\nXY:1\nend_of_record", "hello"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_add_up_in_any_order() {
        let (a, b) = (counts(7, 1, [Some(7), Some(0)]), counts(0, 0, [None, None]));
        let sum = |x: &Counts, y: &Counts| {
            let mut x = x.clone();
            x.add(y);
            x
        };
        assert_eq!(sum(&a, &b), sum(&b, &a));
        assert_eq!(sum(&a, &b), a);
        assert_eq!(sum(&a, &a), counts(14, 2, [Some(14), Some(0)]));
        let [lines, functions, branches] = shares([&a, &b]);
        assert_eq!([lines.hit, functions.hit, branches.hit], [1, 1, 1]);
        assert_eq!([lines.found, functions.found, branches.found], [4, 2, 4]);
        assert_eq!((lines.percent(), Share::default().percent()), (25.0, 0.0));
    }
}

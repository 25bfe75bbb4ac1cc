//! Which workload of one file is which of the other.
//!
//! Workloads of the same line and shaders are the same. Of one line, those whose shaders the other file does not have are taken to be the
//! same with other shaders: one and one, or several as a sum.

use super::file::{File, Name, Workload};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A workload in both files, or in one.
pub struct Pair<'a> {
    pub name: String,
    pub before: Option<Cow<'a, Workload>>,
    pub after: Option<Cow<'a, Workload>>,
}

/// Digits of a hash that are shown.
const SHOWN: usize = 8;

/// A file's workloads of one line, by their shaders.
fn of_line<'a>(all: &'a BTreeMap<Name, Workload>, line: &str) -> BTreeMap<&'a str, &'a Workload> {
    let from = Name { line: line.into(), shaders: String::new() };
    let of = all.range(from..).take_while(|(n, _)| n.line == line);
    of.map(|(n, w)| (n.shaders.as_str(), w)).collect()
}

/// All workloads of both files; what has vanished (or is fewer than before), a line each.
pub fn pairs<'a>(a: &'a File, b: &'a File) -> (Vec<Pair<'a>>, Vec<String>) {
    let lines: BTreeSet<&str> =
        a.workloads.keys().chain(b.workloads.keys()).map(|n| n.line.as_str()).collect();
    let (mut all, mut vanished) = (vec![], vec![]);
    for line in lines {
        let (mut before, mut after) = (of_line(&a.workloads, line), of_line(&b.workloads, line));
        let both: Vec<&str> = before.keys().filter(|s| after.contains_key(*s)).copied().collect();
        let same: Vec<_> =
            both.iter().filter_map(|s| Some((*s, before.remove(s)?, after.remove(s)?))).collect();
        let others = !(before.is_empty() && after.is_empty());
        // Of one pair the line says all.
        let alone = same.len() + usize::from(others) == 1;
        for (shaders, x, y) in same {
            let hash = &shaders[..shaders.len().min(SHOWN)];
            let name = if alone { line.to_string() } else { format!("{line} (shaders {hash})") };
            all.push(Pair { name, before: Some(Cow::Borrowed(x)), after: Some(Cow::Borrowed(y)) });
        }
        if !others {
            continue;
        }
        let sum = |of: &BTreeMap<&str, &'a Workload>, model| match of.len() {
            0 => None,
            1 => of.values().next().map(|w| Cow::Borrowed(*w)),
            _ => Some(Cow::Owned(Workload::sum(of.values().copied(), model))),
        };
        if after.len() < before.len() {
            vanished.push(match after.len() {
                0 if alone => line.to_string(),
                n => format!("{line}: {} with shaders that are there no more, {n} with others", before.len()),
            });
        }
        let name = if alone { line.to_string() } else { format!("{line} (other shaders)") };
        all.push(Pair { name, before: sum(&before, &a.model), after: sum(&after, &b.model) });
    }
    (all, vanished)
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;
    use serde_json::json;

    fn file(rows: &[(u64, &str, &str, u64)]) -> File {
        let row = |&(device, name, shaders, fma): &(u64, &str, &str, u64)| {
            json!({
                "device": device, "queue": 0, "kind": "dispatch", "label": "", "name": name, "shaders": shaders,
                "times": 1, "elapsed_ns": 1, "counters": { "TuffFmaInstr": fma }
            })
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        parse(&json!({ "gpu": "x", "total": {}, "workloads": rows }).to_string()).unwrap()
    }

    fn paired(a: &File, b: &File) -> (Vec<(String, Option<f64>, Option<f64>)>, Vec<String>) {
        let (all, vanished) = pairs(a, b);
        let fma = |w: &Option<Cow<Workload>>| w.as_ref().map(|w| w.counters["TuffFmaInstr"]);
        (all.iter().map(|p| (p.name.clone(), fma(&p.before), fma(&p.after))).collect(), vanished)
    }

    #[test]
    fn the_order_of_devices_is_of_no_account() {
        let a = file(&[(0, "main", "aa", 100), (1, "main", "bb", 400)]);
        // The same tests in another order; one shader was changed, and costs 75 % more.
        let b = file(&[(0, "main", "bb", 400), (1, "main", "cc", 175)]);
        let (all, vanished) = paired(&a, &b);
        assert_eq!(
            all,
            [
                ("dispatch main (shaders bb)".into(), Some(400.0), Some(400.0)),
                ("dispatch main (other shaders)".into(), Some(100.0), Some(175.0))
            ]
        );
        assert!(vanished.is_empty());
        // Alone of its line it needs no more words.
        let (all, _) = paired(&file(&[(0, "main", "aa", 1)]), &file(&[(3, "main", "cc", 2)]));
        assert_eq!(all, [("dispatch main".into(), Some(1.0), Some(2.0))]);
    }

    #[test]
    fn what_has_vanished_is_told() {
        let a = file(&[(0, "x", "aa", 1), (0, "y", "aa", 1), (0, "y", "bb", 2), (0, "z", "aa", 1)]);
        let b = file(&[(0, "y", "cc", 5), (0, "z", "aa", 1), (0, "new", "aa", 1)]);
        let (all, vanished) = paired(&a, &b);
        let y = "dispatch y: 2 with shaders that are there no more, 1 with others";
        assert_eq!(vanished, ["dispatch x", y]);
        assert_eq!(all.len(), 4);
        assert_eq!(all[2], ("dispatch y".into(), Some(3.0), Some(5.0)));
        assert_eq!(all[0], ("dispatch new".into(), None, Some(1.0)));
    }
}

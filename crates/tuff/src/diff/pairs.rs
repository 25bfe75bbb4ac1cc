//! Which workload of one file is which of the other.
//!
//! Workloads of the same line and shaders are the same. Of one line, those whose shaders the other file does not have are the same with
//! edited shaders: which is which follows from how alike their shaders are ([`keys`]), and of what is left from their order. What is left of
//! several lines is the same if it differs in its name alone (another number of workgroups, another size) and its shaders are alike. In
//! older files, which do not say what shaders are known by, those of one line are a sum.

use super::file::{File, Name, Workload};
use crate::costs::keys::{self, Key};
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

/// Of several of one line: with the first digits of its shaders' hash.
fn told_apart(n: &Name) -> String {
    format!("{} (shaders {})", n.line, n.shaders.chars().take(SHOWN).collect::<String>())
}

/// A workload of a file that has not been found in the other.
type Left<'a> = (&'a Name, &'a Workload);

/// A file's workloads of one line, by their shaders.
fn of_line<'a>(all: &'a BTreeMap<Name, Workload>, line: &str) -> BTreeMap<&'a str, Left<'a>> {
    let from = Name { line: line.into(), shaders: String::new() };
    let of = all.range(from..).take_while(|(n, _)| n.line == line);
    of.map(|(n, w)| (n.shaders.as_str(), (n, w))).collect()
}

fn stages<'a>(file: &'a File, w: &Workload) -> Vec<&'a Key> {
    w.stages.iter().filter_map(|i| file.keys.get(*i)).collect()
}

/// How alike the shaders of two workloads are.
fn likeness(a: &File, b: &File, x: Left, y: Left) -> f64 {
    match x.0.shaders == y.0.shaders && !x.0.shaders.is_empty() {
        true => 1.0,
        false => keys::all(&stages(a, x.1), &stages(b, y.1)),
    }
}

/// In the order of the file.
fn in_order<'a>(left: BTreeMap<&'a str, Left<'a>>) -> Vec<Left<'a>> {
    let mut all: Vec<Left> = left.into_values().collect();
    all.sort_by_key(|l| l.1.place);
    all
}

/// Takes the pairs out of both lists.
fn take<'a>(
    before: &mut Vec<Left<'a>>,
    after: &mut Vec<Left<'a>>,
    pairs: &[(usize, usize)],
) -> Vec<(Left<'a>, Left<'a>)> {
    let found = pairs.iter().map(|(i, j)| (before[*i], after[*j])).collect();
    let keep = |all: &mut Vec<Left<'a>>, gone: BTreeSet<usize>| {
        let mut at = 0..;
        all.retain(|_| !gone.contains(&at.next().unwrap_or(0)));
    };
    keep(before, pairs.iter().map(|p| p.0).collect());
    keep(after, pairs.iter().map(|p| p.1).collect());
    found
}

fn borrowed(w: &Workload) -> Option<Cow<'_, Workload>> {
    Some(Cow::Borrowed(w))
}

/// Pairs of the workloads of a line that both files have.
struct Line<'a> {
    line: &'a str,
    /// Of the same shaders, and of edited ones.
    pairs: Vec<(Left<'a>, Left<'a>)>,
    before: Vec<Left<'a>>,
    after: Vec<Left<'a>>,
}

impl<'a> Line<'a> {
    fn of(a: &'a File, b: &'a File, line: &'a str) -> Line<'a> {
        let (mut before, mut after) = (of_line(&a.workloads, line), of_line(&b.workloads, line));
        let both: Vec<&str> = before.keys().filter(|s| after.contains_key(*s)).copied().collect();
        let mut pairs: Vec<_> =
            both.iter().filter_map(|s| Some((before.remove(s)?, after.remove(s)?))).collect();
        let (mut before, mut after) = (in_order(before), in_order(after));
        let known = |all: &[Left]| all.iter().all(|l| !l.1.stages.is_empty());
        if known(&before) && known(&after) {
            let alike = |i: usize, j: usize| likeness(a, b, before[i], after[j]);
            let found = keys::matched(before.len(), after.len(), alike, keys::LIKELY);
            pairs.extend(take(&mut before, &mut after, &found));
            let rest: Vec<_> = (0..before.len().min(after.len())).map(|i| (i, i)).collect();
            pairs.extend(take(&mut before, &mut after, &rest));
        }
        Line { line, pairs, before, after }
    }

    /// The pairs by their names, and what the line's others add up to if older files do not tell them apart.
    fn tell(&mut self, a: &'a File, b: &'a File, all: &mut Vec<Pair<'a>>, vanished: &mut Vec<String>) {
        let sums = !self.before.is_empty() && !self.after.is_empty();
        // Of one pair the line says all.
        let alone = self.pairs.len()
            + usize::from(sums)
            + usize::from(!sums) * (self.before.len() + self.after.len())
            == 1;
        let line = self.line;
        for (x, y) in &self.pairs {
            let name = if alone { line.to_string() } else { told_apart(x.0) };
            all.push(Pair { name, before: borrowed(x.1), after: borrowed(y.1) });
        }
        if !sums {
            return;
        }
        let sum = |of: &[Left<'a>], model| match of {
            [one] => borrowed(one.1),
            _ => Some(Cow::Owned(Workload::sum(of.iter().map(|l| l.1), model))),
        };
        if self.after.len() < self.before.len() {
            let [n, m] = [self.before.len(), self.after.len()];
            vanished.push(format!("{line}: {n} with shaders that are there no more, {m} with others"));
        }
        let name = if alone { line.to_string() } else { format!("{line} (other shaders)") };
        all.push(Pair { name, before: sum(&self.before, &a.model), after: sum(&self.after, &b.model) });
        (self.before, self.after) = (vec![], vec![]);
    }
}

/// All workloads of both files; what has vanished (or is fewer than before), a line each.
pub fn pairs<'a>(a: &'a File, b: &'a File) -> (Vec<Pair<'a>>, Vec<String>) {
    let lines: BTreeSet<&str> =
        a.workloads.keys().chain(b.workloads.keys()).map(|n| n.line.as_str()).collect();
    let (mut all, mut vanished) = (vec![], vec![]);
    let (mut before, mut after) = (vec![], vec![]);
    let mut many = BTreeSet::new();
    for line in lines {
        let mut of = Line::of(a, b, line);
        of.tell(a, b, &mut all, &mut vanished);
        if of.pairs.len() + of.before.len() + of.after.len() > 1 {
            many.insert(line);
        }
        before.extend(of.before);
        after.extend(of.after);
    }
    // What has another name than before, and nothing else.
    let alike = |i: usize, j: usize| {
        let (x, y): (Left, Left) = (before[i], after[j]);
        let same = x.1.group == y.1.group && !x.1.stages.is_empty();
        if same { likeness(a, b, x, y) } else { 0.0 }
    };
    let found = keys::matched(before.len(), after.len(), alike, RENAMED);
    for (x, y) in take(&mut before, &mut after, &found) {
        let name = format!("{} (before: {})", y.0.line, x.0.line);
        all.push(Pair { name, before: borrowed(x.1), after: borrowed(y.1) });
    }
    let name = |l: &Left| match many.contains(l.0.line.as_str()) {
        true => told_apart(l.0),
        false => l.0.line.clone(),
    };
    for x in &before {
        vanished.push(name(x));
        all.push(Pair { name: name(x), before: borrowed(x.1), after: None });
    }
    all.extend(after.iter().map(|y| Pair { name: name(y), before: None, after: borrowed(y.1) }));
    all.sort_by(|x, y| x.name.cmp(&y.name));
    (all, vanished)
}

/// Workloads of several names are the same if their shaders are more alike than this.
const RENAMED: f64 = 0.6;

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
                ("dispatch main (other shaders)".into(), Some(100.0), Some(175.0)),
                ("dispatch main (shaders bb)".into(), Some(400.0), Some(400.0))
            ]
        );
        assert!(vanished.is_empty());
        // Alone of its line it needs no more words.
        let (all, _) = paired(&file(&[(0, "main", "aa", 1)]), &file(&[(3, "main", "cc", 2)]));
        assert_eq!(all, [("dispatch main".into(), Some(1.0), Some(2.0))]);
    }

    /// A shader is (hash, hashes of its sketch); a workload is (name, its shaders).
    fn drawn(shaders: &[(&str, &[u32])], rows: &[(&str, &[usize], u64)]) -> File {
        let digits = |of: &[u32]| of.iter().map(|h| format!("{h:08x}")).collect::<String>();
        let shader = |s: &(&str, &[u32])| json!({ "stage": "fragment", "entry": "main", "hash": s.0, "interface": "1", "sketch": digits(s.1) });
        let row = |&(name, stages, fma): &(&str, &[usize], u64)| {
            let hash: Vec<&str> = stages.iter().map(|i| shaders[*i].0).collect();
            json!({
                "kind": "render pass", "label": "", "name": name, "shaders": hash.join("+"), "stages": stages, "times": 1,
                "elapsed_ns": 1, "counters": { "TuffFmaInstr": fma }
            })
        };
        let (shaders, rows): (Vec<_>, Vec<_>) =
            (shaders.iter().map(shader).collect(), rows.iter().map(row).collect());
        parse(&json!({ "gpu": "x", "total": {}, "workloads": rows, "shaders": shaders }).to_string()).unwrap()
    }

    /// Two passes of one line. Both shaders are edited, their order changes, and a third pass comes before them.
    #[test]
    fn edited_reordered_and_inserted() {
        let a = drawn(
            &[("aa", &[1, 2, 3, 4]), ("bb", &[11, 12, 13, 14])],
            &[("64x64", &[0], 100), ("64x64", &[1], 400)],
        );
        let b = drawn(
            &[("nn", &[21, 22, 23, 24]), ("dd", &[11, 12, 13, 15]), ("ee", &[1, 2, 3, 5])],
            &[("64x64", &[0], 7), ("64x64", &[1], 404), ("64x64", &[2], 101)],
        );
        let (all, vanished) = paired(&a, &b);
        assert_eq!(
            all,
            [
                ("render pass 64x64 (shaders aa)".into(), Some(100.0), Some(101.0)),
                ("render pass 64x64 (shaders bb)".into(), Some(400.0), Some(404.0)),
                ("render pass 64x64 (shaders nn)".into(), None, Some(7.0)),
            ]
        );
        assert!(vanished.is_empty(), "{vanished:?}");
        // Another size with the same shader is the same pass; what is like nothing is gone, and new.
        let a = drawn(&[("aa", &[1, 2, 3, 4]), ("bb", &[11, 12])], &[("64x64", &[0], 100), ("8x8", &[1], 3)]);
        let b =
            drawn(&[("aa", &[1, 2, 3, 4]), ("zz", &[91, 92])], &[("128x128", &[0], 400), ("9x9", &[1], 5)]);
        let (all, vanished) = paired(&a, &b);
        assert_eq!(
            all[0],
            ("render pass 128x128 (before: render pass 64x64)".into(), Some(100.0), Some(400.0))
        );
        assert_eq!((all.len(), &vanished[..]), (3, &["render pass 8x8".to_string()][..]));
    }

    #[test]
    fn what_has_vanished_is_told() {
        let a = file(&[(0, "x", "aa", 1), (0, "y", "aa", 1), (0, "y", "bb", 2), (0, "z", "aa", 1)]);
        let b = file(&[(0, "y", "cc", 5), (0, "z", "aa", 1), (0, "new", "aa", 1)]);
        let (all, vanished) = paired(&a, &b);
        let y = "dispatch y: 2 with shaders that are there no more, 1 with others";
        assert_eq!(vanished, [y, "dispatch x"]);
        assert_eq!(all.len(), 4);
        assert_eq!(all[2], ("dispatch y".into(), Some(3.0), Some(5.0)));
        assert_eq!(all[0], ("dispatch new".into(), None, Some(1.0)));
    }
}

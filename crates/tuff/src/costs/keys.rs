//! Which shader of one file is which of another, when sources, order and neighbours have changed (docs/diff.md).

use shader::instrument::{HASHES, Sketch};

/// What a shader is known by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Key {
    pub stage: String,
    pub entry: String,
    /// What the application calls its pipelines and its modules.
    pub names: Vec<String>,
    /// Of its contents: equal ones are the same shader.
    pub hash: String,
    pub sketch: Sketch,
}

/// What is more alike than this is taken to be the same shader, edited.
pub const LIKELY: f64 = 0.35;

impl Key {
    /// From 0 (another shader) to 1 (this one). Most of it is the instructions that both have; names and interfaces decide among shaders whose
    /// instructions are equally alike.
    pub fn likeness(&self, o: &Key) -> f64 {
        if self.stage != o.stage {
            return 0.0;
        }
        if self.hash == o.hash && !self.hash.is_empty() {
            return 1.0;
        }
        let yes = |is: bool| f64::from(u8::from(is));
        let names = match (self.names.is_empty(), o.names.is_empty()) {
            (true, true) => 0.5,
            (false, false) => yes(self.names.iter().any(|n| o.names.contains(n))),
            _ => 0.0,
        };
        let interface = yes(self.sketch.interface == o.sketch.interface);
        // Less than the same contents, however much they have in common.
        0.99 * (0.6 * self.sketch.likeness(&o.sketch)
            + 0.2 * names
            + 0.1 * interface
            + 0.1 * yes(self.entry == o.entry))
    }
}

/// The sketch of a file's words: hexadecimal digits, eight a hash. What is none is an empty one.
pub fn sketch(interface: &str, hashes: &str) -> Sketch {
    let digits = hashes.as_bytes().chunks_exact(8).take(HASHES);
    let number = |d: &[u8]| u32::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok();
    let mut hashes: Vec<u32> = digits.filter_map(number).collect();
    hashes.sort_unstable();
    Sketch { interface: u64::from_str_radix(interface, 16).unwrap_or(0), hashes }
}

/// How alike two lists of shaders are: each of one with its likest of the other, by the longer list.
pub fn all(a: &[&Key], b: &[&Key]) -> f64 {
    let pairs = matched(a.len(), b.len(), |i, j| a[i].likeness(b[j]), 0.0);
    let sum: f64 = pairs.iter().map(|(i, j)| a[*i].likeness(b[*j])).sum();
    sum / a.len().max(b.len()).max(1) as f64
}

/// Pairs of places that are more alike than `least`, the likest first, each place once. Of equals those whose order is the same.
pub fn matched(
    before: usize,
    after: usize,
    likeness: impl Fn(usize, usize) -> f64,
    least: f64,
) -> Vec<(usize, usize)> {
    let all = (0..before).flat_map(|i| (0..after).map(move |j| (i, j)));
    let mut all: Vec<(f64, usize, usize)> = all.map(|(i, j)| (likeness(i, j), i, j)).collect();
    all.retain(|p| p.0 > least);
    all.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then(a.1.abs_diff(a.2).cmp(&b.1.abs_diff(b.2))).then(a.1.cmp(&b.1))
    });
    let (mut taken, mut pairs) = ((vec![false; before], vec![false; after]), vec![]);
    for (_, i, j) in all {
        if !taken.0[i] && !taken.1[j] {
            (taken.0[i], taken.1[j]) = (true, true);
            pairs.push((i, j));
        }
    }
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, hash: &str, hashes: &[u32]) -> Key {
        Key {
            stage: "fragment".into(),
            entry: "main".into(),
            names: Some(name).filter(|n| !n.is_empty()).map(String::from).into_iter().collect(),
            hash: hash.into(),
            sketch: Sketch { interface: 1, hashes: hashes.to_vec() },
        }
    }

    #[test]
    fn contents_then_instructions_then_names() {
        let a = key("lit", "aa", &[1, 2, 3, 4]);
        assert_eq!(a.likeness(&key("other", "aa", &[9])), 1.0);
        // Three of five hashes: 0.99 (0.6 · 3/5 + 0.2 + 0.1 + 0.1).
        let edited = a.likeness(&key("lit", "bb", &[1, 2, 3, 5]));
        assert!((edited - 0.99 * 0.76).abs() < 1e-9, "{edited}");
        assert!(edited > a.likeness(&key("", "bb", &[1, 2, 3, 5])));
        assert_eq!(a.likeness(&Key { stage: "vertex".into(), ..a.clone() }), 0.0);
    }

    /// Both were edited, one was put before them: each is found again, whatever the order.
    #[test]
    fn edited_ones_are_found_among_several() {
        let before = [key("", "aa", &[1, 2, 3, 4, 5, 6]), key("", "bb", &[11, 12, 13, 14, 15, 16])];
        let after = [
            key("", "cc", &[21, 22, 23, 24]),
            key("", "dd", &[11, 12, 13, 14, 15, 99]),
            key("", "ee", &[1, 2, 3, 4, 5, 98]),
        ];
        let likeness = |i: usize, j: usize| before[i].likeness(&after[j]);
        assert_eq!(matched(2, 3, likeness, LIKELY), [(0, 2), (1, 1)]);
    }

    #[test]
    fn digits_are_hashes_and_anything_else_is_none() {
        assert_eq!(sketch("10", "0000000200000001"), Sketch { interface: 16, hashes: vec![1, 2] });
        assert_eq!(sketch("x", "zzzzzzzz1"), Sketch::default());
    }
}

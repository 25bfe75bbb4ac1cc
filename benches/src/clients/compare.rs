//! Whether a client's output on one driver is what it is on another.

use super::run::Run;
use serde::Deserialize;

/// How outputs are compared; columns of the table of clients say more.
#[derive(Deserialize, Debug, Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Near(f64),
    Window(f64),
    Numbers(f64),
    Within(f64),
}

impl Check {
    /// What is wrong with a run's output beside a peer's; nothing if it is right. `plain` pictures are one colour.
    pub fn wrong(self, own: &Run, peer: &Run, plain: bool) -> Option<String> {
        match self {
            Check::Near(limit) => near(&own.output, &peer.output, limit, plain),
            Check::Window(limit) => near(&own.picture, &peer.picture, limit, plain),
            Check::Numbers(limit) => {
                let text = |run: &Run| String::from_utf8_lossy(&run.output).into_owned();
                numbers(&text(own), &text(peer), limit)
            }
            Check::Within(limit) => within(&String::from_utf8_lossy(&own.output), limit),
        }
    }
}

/// Bytes of pictures.
fn near(own: &[u8], peer: &[u8], limit: f64, plain: bool) -> Option<String> {
    if own.is_empty() || own.len() != peer.len() {
        return Some(format!("{} bytes of pictures, and the peer's are {}", own.len(), peer.len()));
    }
    if !plain && own.iter().all(|b| *b == own[0]) {
        return Some(format!("nothing but {}", own[0]));
    }
    let sum: u64 = own.iter().zip(peer).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    let mean = sum as f64 / own.len() as f64;
    (mean > limit).then(|| format!("the mean difference is {mean:.2}, more than {limit}"))
}

/// Lines of `name value`; others are a library's own.
fn read(text: &str) -> Vec<(&str, f64)> {
    let line = |l| <str>::split_once(l, ' ').and_then(|(n, v)| Some((n, v.parse().ok()?)));
    text.lines().filter_map(line).collect()
}

/// Numbers that are right if they are no more than `limit`, whatever the peer's are.
fn within(own: &str, limit: f64) -> Option<String> {
    let own = read(own);
    if own.is_empty() {
        return Some("no output".into());
    }
    let (name, value) = own.into_iter().find(|(_, v)| v.is_nan() || *v > limit)?;
    Some(format!("{name} is {value}, more than {limit}"))
}

fn numbers(own: &str, peer: &str, limit: f64) -> Option<String> {
    let (own, peer) = (read(own), read(peer));
    if own.is_empty() || own.iter().map(|l| l.0).ne(peer.iter().map(|l| l.0)) {
        return Some(format!("{own:?} are not the peer's numbers"));
    }
    let off = |a: f64, b: f64| (a - b).abs() / b.abs();
    // Written so that NaN is wrong too.
    let far = own.iter().zip(&peer).find(|((_, a), (_, b))| !(a == b || off(*a, *b) <= limit));
    far.map(|((name, a), (_, b))| format!("{name} is {a}, not {b}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_means_the_mean_and_not_one_colour() {
        assert_eq!(near(&[10, 20, 30, 40], &[11, 21, 29, 40], 1.0, false), None);
        assert!(near(&[10, 20, 30, 40], &[10, 20, 30, 50], 1.0, false).is_some());
        assert!(near(&[0; 4], &[0; 4], 1.0, false).is_some(), "black is wrong, even where the peer is black");
        assert_eq!(near(&[0; 4], &[0; 4], 1.0, true), None);
        assert!(near(&[9; 4], &[0; 4], 1.0, true).is_some());
        assert!(near(&[1, 2], &[1, 2, 3], 1.0, false).is_some());
        assert!(near(&[], &[], 1.0, false).is_some());
    }

    #[test]
    fn numbers_are_compared_by_name() {
        let peer = "[Library] version 1\nx 1.0\ny -200\nz 0\n";
        assert_eq!(numbers("x 1.001\ny -199.9\nz 0\n", peer, 0.01), None);
        assert!(numbers("x 1.001\ny 199.9\nz 0\n", peer, 0.01).unwrap().starts_with("y is"));
        assert!(numbers("x nan\ny -200\nz 0\n", peer, 0.01).is_some());
        assert!(numbers("x 1\ny -200\n", peer, 0.01).is_some());
        assert!(numbers("", "", 0.01).is_some());
    }
}

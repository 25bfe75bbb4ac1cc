//! Modules of the repository, there and back, and changed.

use super::*;
use random::Random;

const SAXPY: &[u8] = include_bytes!("../../../benches/kernels/saxpy.spv");

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn a_module_is_what_its_words_say() {
    let words = words(SAXPY);
    assert_eq!(Module::parse(&words).expect("a module").words(), words);
    assert!(Module::parse(&words[..4]).is_none() && Module::parse(&words[..6]).is_none());
}

#[test]
fn a_seed_says_what_changes() {
    let words = words(SAXPY);
    let all: Vec<_> = (0..200).map(|seed| mutate(&words, seed).expect("there is much to change")).collect();
    assert!(all.iter().all(|w| Module::parse(w).is_some()));
    // A change may undo the one before it.
    assert!(all.iter().filter(|w| **w == words).count() <= 2);
    assert_eq!(all[7], mutate(&words, 7).expect("as before"));
    let kinds: std::collections::HashSet<_> = all.iter().collect();
    assert!(kinds.len() > 190, "{}", kinds.len());
}

/// Nothing that is no module ends the mutator.
#[test]
fn damaged_modules_are_changed_or_left() {
    let words = words(SAXPY);
    let mut r = Random::new(1);
    for seed in 0..2000 {
        let mut w = words.clone();
        for _ in 0..1 + r.index(4) {
            let at = r.index(w.len());
            w[at] = if r.once_in(2) { w[at] ^ 1 << r.index(32) } else { w[r.index(words.len())] };
        }
        let _ = mutate(&w, seed);
    }
}

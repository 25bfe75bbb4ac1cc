//! 128-bit content hashes: the same on every run and machine (keys of pipeline caches, the build's). XXH3, for
//! it is quick, its algorithm is fixed, and nobody gains by making two inputs of one application's meet.

use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::Xxh3;

/// Of what says itself how it is hashed.
#[derive(Clone, Default)]
pub(crate) struct Hasher128(Xxh3);

impl Hasher128 {
    pub fn done(&self) -> u128 {
        self.0.digest128()
    }
}

impl Hasher for Hasher128 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// SPIR-V words.
pub(crate) fn words(words: &[u32]) -> u128 {
    let mut h = Hasher128::default();
    words.hash(&mut h);
    h.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn bytes(b: &[u8]) -> u128 {
        let mut h = Hasher128::default();
        h.write(b);
        h.done()
    }

    #[test]
    fn near_inputs_differ() {
        let mut seen = HashSet::new();
        for n in 0..64usize {
            let mut b = vec![0u8; n];
            assert!(seen.insert(bytes(&b)), "length {n}");
            for i in 0..n * 8 {
                b[i / 8] ^= 1 << (i % 8);
                assert!(seen.insert(bytes(&b)), "bit {i} of {n} bytes");
                b[i / 8] ^= 1 << (i % 8);
            }
        }
        assert_ne!(words(&[1, 2]), words(&[2, 1]));
        assert_ne!(words(&[1]), words(&[1, 0]));
    }

    /// Blobs and file names hold them: a release of the crate must not change them in silence.
    #[test]
    fn the_algorithm_is_the_one_that_was_chosen() {
        // XXH3_128bits of nothing, as its specification has it.
        assert_eq!(bytes(b""), 0x99aa06d3014798d86001c324468d497f);
        let mut h = Hasher128::default();
        h.write(b"ab");
        h.write(b"c");
        assert_eq!(h.done(), bytes(b"abc"));
    }
}

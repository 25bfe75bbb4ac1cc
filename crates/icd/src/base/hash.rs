//! 128-bit content hashes: the same on every run and machine (keys of pipeline caches, the build's). BLAKE3, cut to half
//! its length: a cache may hold programs of several parties that do not trust each other, as a browser's does, and none of them can
//! make two modules with the same key.

use std::hash::Hasher;

/// Of what says itself how it is hashed.
#[derive(Clone, Default)]
pub(crate) struct Hasher128(Vec<u8>);

impl Hasher128 {
    pub fn done(&self) -> u128 {
        bytes(&self.0)
    }
}

impl Hasher for Hasher128 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    fn finish(&self) -> u64 {
        self.done() as u64
    }
}

/// Of plain bytes.
pub(crate) fn bytes(bytes: &[u8]) -> u128 {
    blake3::hash(bytes).as_bytes().first_chunk().map_or(0, |half| u128::from_be_bytes(*half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
    }

    /// Blobs and file names hold them: a release of the crate must not change them in silence.
    #[test]
    fn the_algorithm_is_the_one_that_was_chosen() {
        // The first half of BLAKE3 of nothing, as its test vectors have it.
        assert_eq!(bytes(b"").to_be_bytes(), 0xaf1349b9f5f9a1a6a0404dea36dcc949_u128.to_be_bytes());
        let mut h = Hasher128::default();
        h.write(b"ab");
        h.write(b"c");
        assert_eq!(h.done(), bytes(b"abc"));
    }
}

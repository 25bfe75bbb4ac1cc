//! 128-bit content hashes: the same on every run and machine (keys of pipeline caches, checks of their blobs).

use std::hash::{Hash, Hasher};

/// Two 64-bit FNV-like lanes over 8-byte words, with different multipliers, finished by an avalanche.
#[derive(Clone)]
pub(crate) struct Hasher128 {
    a: u64,
    b: u64,
    bytes: u64,
}

impl Default for Hasher128 {
    fn default() -> Self {
        Hasher128 { a: 0x243F_6A88_85A3_08D3, b: 0x1319_8A2E_0370_7344, bytes: 0 }
    }
}

/// The finaliser of MurmurHash3.
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ x >> 33
}

impl Hasher128 {
    pub fn word(&mut self, w: u64) {
        self.a = (self.a ^ w).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        self.b = (self.b.rotate_left(23) ^ w).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        self.bytes += 8;
    }
    pub fn done(&self) -> u128 {
        let a = mix(self.a ^ self.bytes);
        let b = mix(self.b ^ a.rotate_left(32));
        (mix(a ^ b) as u128) << 64 | b as u128
    }
}

impl Hasher for Hasher128 {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for w in words {
            self.word(u64::from_le_bytes(*w));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        // The length in the last word tells "ab" from "ab\0".
        self.word(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }
    fn finish(&self) -> u64 {
        self.done() as u64
    }
}

pub(crate) fn bytes(b: &[u8]) -> u128 {
    let mut h = Hasher128::default();
    h.write(b);
    h.done()
}

/// SPIR-V words.
pub(crate) fn words(words: &[u32]) -> u128 {
    let mut h = Hasher128::default();
    let (pairs, rest) = words.as_chunks::<2>();
    for p in pairs {
        h.word(p[0] as u64 | (p[1] as u64) << 32);
    }
    (rest, words.len()).hash(&mut h);
    h.done()
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
        assert_ne!(words(&[1, 2]), words(&[2, 1]));
        assert_ne!(words(&[1]), words(&[1, 0]));
    }
}

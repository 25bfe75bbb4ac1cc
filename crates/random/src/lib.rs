//! The pseudo-random numbers of all tests, benches and tools: PCG32 (XSH RR, https://www.pcg-random.org). A seed gives the same numbers on
//! every machine and in every version: checksums of kernels and pictures are kept in the repository, and failures are reported by seed.

/// A generator. Its numbers follow from its seed alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Random(u64);

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
/// PCG's default stream.
const INCREMENT: u64 = 0xda3e_39cb_94b9_5bdb;

/// The state with which PCG's own library begins.
impl Default for Random {
    fn default() -> Random {
        Random(0x853c_49e6_748f_ea9b)
    }
}

impl Random {
    /// Any seed serves: seeds that differ in one bit give unrelated numbers.
    pub fn new(seed: u64) -> Random {
        let mut r = Random(INCREMENT.wrapping_add(seed));
        r.u32();
        r
    }

    pub fn u32(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let x = (((old >> 18) ^ old) >> 27) as u32;
        x.rotate_right((old >> 59) as u32)
    }

    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) << 32 | u64::from(self.u32())
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        self.u32().checked_rem(n).unwrap_or(0)
    }

    /// An index into `n` things; 0 if there are none.
    pub fn index(&mut self, n: usize) -> usize {
        self.u64().checked_rem(n as u64).unwrap_or(0) as usize
    }

    /// One of them, if there are any.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.index(all.len()))
    }

    /// True once in `n` times, on average.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// True in this percentage of calls, on average.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// A float in [0, 1) with 24 random bits.
    pub fn unit(&mut self) -> f32 {
        (self.u32() >> 8) as f32 / (1u32 << 24) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's integers, by a program that also gives the published numbers of pcg32-demo (seed 42, stream 54: 0xa15c02b7 …).
    #[test]
    fn numbers_follow_pcgs_definition() {
        let mut r = Random::default();
        assert_eq!([(); 4].map(|()| r.u32()), [0x152c_a78d, 0x027c_6003, 0xcb07_bbf3, 0xf98b_efee]);
        let mut r = Random::new(42);
        assert_eq!([(); 4].map(|()| r.u32()), [0xddaa_6c75, 0x3237_b41c, 0xe070_ca56, 0xc17a_7979]);
    }

    #[test]
    fn ranges_are_kept() {
        let mut r = Random::new(1);
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[r.below(7) as usize] += 1;
            assert!((0.0..1.0).contains(&r.unit()));
        }
        // The mean is 1000, the standard deviation 29.
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!((r.below(0), r.index(0), r.of::<u8>(&[])), (0, 0, None));
        assert_eq!(r.of(&[5]), Some(&5));
    }
}

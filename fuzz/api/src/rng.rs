//! Random numbers that are the same everywhere: SplitMix64.

#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    /// A line of numbers of its own for each seed and place.
    pub fn new(seed: u64, place: u64) -> Rng {
        let mut r = Rng(seed ^ place.wrapping_mul(0xd1b5_4a32_d192_ed03));
        Rng(r.word())
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.word() % n as u64) as usize }
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// A number that arithmetic tends to forget, or a small one.
    pub fn number(&mut self) -> u64 {
        match self.below(12) {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => u32::MAX as u64,
            4 => 1 << 31,
            5 => 1 << 63,
            6 => u64::MAX - self.below(16) as u64,
            7 => (1u64 << self.below(64)).wrapping_sub(self.below(2) as u64),
            8 => self.word(),
            _ => self.below(70) as u64,
        }
    }

    pub fn float(&mut self) -> f32 {
        const ODD: [f32; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            1e-45,
            1e10,
        ];
        match self.below(3) {
            0 => self.below(4096) as f32 / 16.0 - 20.0,
            _ => ODD[self.below(ODD.len())],
        }
    }
}

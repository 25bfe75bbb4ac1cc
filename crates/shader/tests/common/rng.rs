//! A small generator of pseudo-random numbers: the same sequence everywhere.

pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = self.0 >> 33 ^ self.0 >> 13;
        x as u32
    }
    pub fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

//! Arguments that a seed decides.

use random::Random;

/// Numbers of their own for each seed and place.
pub fn seeded(seed: u64, place: u64) -> Random {
    Random::new(Random::new(seed ^ place.wrapping_mul(0xd1b5_4a32_d192_ed03)).u64())
}

/// A number that arithmetic tends to forget, or a small one.
pub fn number(r: &mut Random) -> u64 {
    match r.index(12) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => u32::MAX as u64,
        4 => 1 << 31,
        5 => 1 << 63,
        6 => u64::MAX - r.index(16) as u64,
        7 => (1u64 << r.index(64)).wrapping_sub(r.index(2) as u64),
        8 => r.u64(),
        _ => r.index(70) as u64,
    }
}

pub fn float(r: &mut Random) -> f32 {
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
    match r.index(3) {
        0 => r.index(4096) as f32 / 16.0 - 20.0,
        _ => ODD[r.index(ODD.len())],
    }
}

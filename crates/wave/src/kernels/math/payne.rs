//! Reduction of large arguments by π/2, one lane at a time, exact (Payne and Hanek's method in fixed point).

/// A word of zeros and the first 256 bits of 2/π after the point.
const TWO_OVER_PI: [u32; 9] = [
    0,
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
    0xDEBB_C561,
];

/// (q mod 4, r) with x = q · π/2 + r, |r| ≤ π/4; for 2^10 ≤ |x| < ∞. NaN for others' r.
pub fn reduce(x: f32) -> (u32, f64) {
    let bits = x.to_bits();
    let exp = (bits >> 23 & 0xFF) as i32;
    if !(137..255).contains(&exp) {
        return (0, f64::NAN);
    }
    let m = (bits & 0x7F_FFFF | 0x80_0000) as u128;
    // |x| = m · 2^(exp − 150). Bits of 2/π whose product with that has weight 4 or more do not matter: take 96 bits
    // from the one of weight 2 on.
    let start = (exp - 150 + 30) as usize;
    let (word, shift) = (start / 32, start % 32);
    let mut window = 0u128;
    for i in 0..4 {
        window = window << 32 | *TWO_OVER_PI.get(word + i).unwrap_or(&0) as u128;
    }
    let window = window << shift >> 32;
    // Fixed point: 2 bits of integer, 94 of fraction, in the low 96 bits.
    let p = m * window;
    let fraction = (p >> 30) as u64;
    let q = (p >> 94) as u32 + (fraction >> 63) as u32;
    let r = fraction as i64 as f64 * (std::f64::consts::FRAC_PI_2 / 18446744073709551616.0);
    if bits >> 31 != 0 { (q.wrapping_neg() & 3, -r) } else { (q & 3, r) }
}

//! Input data and comparisons that the checks share.

use random::Random;

/// Pseudo-random words; every ninth or so is a special one.
pub fn words(count: usize) -> Vec<u32> {
    const SPECIAL: [u32; 8] = [0, 1, 2, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff, 0x8000_0001, 31];
    let mut random = Random::default();
    (0..count)
        .map(|_| match random.u32() % 9 {
            0 => SPECIAL[(random.u32() % 8) as usize],
            1 => random.u32() % 64,
            _ => random.u32(),
        })
        .collect()
}

/// Pseudo-random floats in [low, high) as words.
pub fn floats(count: usize, low: f32, high: f32) -> Vec<u32> {
    let mut random = Random::default();
    (0..count).map(|_| (low + (high - low) * random.unit()).to_bits()).collect()
}

pub fn float(word: u32) -> f32 {
    f32::from_bits(word)
}

/// The word at `index` is `want`.
pub fn equal(index: usize, what: &str, got: u32, want: u32) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("[{index}] {what}: {got:#x}, not {want:#x}")) }
}

/// All of `got` is `want`.
pub fn all_equal(got: &[u32], want: &[u32]) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} words, not {}", got.len(), want.len()));
    }
    got.iter().zip(want).enumerate().try_for_each(|(i, (g, w))| equal(i, "word", *g, *w))
}

/// The float at `index` is `want` within `absolute` + `relative` · |want|.
pub fn near(
    index: usize,
    what: &str,
    got: u32,
    want: f64,
    absolute: f64,
    relative: f64,
) -> Result<(), String> {
    let g = f64::from(float(got));
    let close =
        (g - want).abs() <= absolute + relative * want.abs() || g == want || (g.is_nan() && want.is_nan());
    if close { Ok(()) } else { Err(format!("[{index}] {what}: {g}, not {want}")) }
}

/// One unit in the last place of an f32, relative.
pub const ULP: f64 = 1.0 / (1u32 << 23) as f64;

//! Texels of several warps over vectors, in steps: words out of memory, channels out of words, words out of channels, and back to
//! memory. What a format is like is asked once a step and component, and then comes a loop over the warps: one form a SIMD
//! level serves every row of the table about as quickly as one for that row alone would.
//!
//! The bits are those of the one-lane codecs (`codec.rs`), which the tests compare. Formats of 64-bit components are not for
//! this, nor is a shared exponent for [`encode`].

// Loops over warps index several arrays at once.
#![allow(clippy::needless_range_loop)]

pub use super::warp::Plan;
use super::warp::{Coding, Part, decode as decoded, encode as encoded, exponents};
use crate::row::Row;
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// The most warps of a step, a wave's: what they are made into stays in the first cache.
pub const WARPS: usize = 16;

/// Sixteen lanes of each of a step's warps: the words of texels, or their channels. Nothing is in it to begin with.
#[repr(C, align(64))]
pub struct Four([[MaybeUninit<[u32; 16]>; WARPS]; 4]);

impl Four {
    #[inline(always)]
    pub const fn new() -> Four {
        Four([[MaybeUninit::uninit(); WARPS]; 4])
    }
    /// # Safety
    /// It has been written.
    #[inline(always)]
    pub unsafe fn get<S: Simd>(&self, s: S, k: usize, w: usize) -> S::I {
        // SAFETY: sixteen words on a line; they are something, says the caller.
        unsafe { s.iload(self.0[k][w].as_ptr().cast()) }
    }
    #[inline(always)]
    pub fn put<S: Simd>(&mut self, s: S, k: usize, w: usize, v: S::I) {
        // SAFETY: sixteen words on a line.
        unsafe { s.istore(self.0[k][w].as_mut_ptr().cast(), v) };
    }
    /// A channel's rows, of which those are to be read that have been written.
    #[inline(always)]
    pub fn row(&self, k: usize) -> Row {
        Row::at(self.0[k].as_ptr().cast())
    }
}

impl Default for Four {
    fn default() -> Four {
        Four::new()
    }
}

/// Where a channel's rows are after [`decode`]: 0 and one, in all lanes, of channels that texels have not.
#[inline(always)]
pub fn channel(plan: &Plan, of: &Four, k: usize) -> Row {
    static ONES: [[u32; 16]; 2] = [[1; 16], [0x3F80_0000; 16]];
    if plan.channels() >> k & 1 != 0 {
        of.row(k)
    } else if k == 3 {
        Row::one(&ONES[(plan.one != 1) as usize])
    } else {
        Row::zero()
    }
}

simd::by_level! {
    /// Words of sixteen texels of so many bytes, side by side at each place.
    ///
    /// # Safety
    /// They are readable; there are at most [`WARPS`] places.
    #[inline(never)]
    pub unsafe fn load = load_body, (bytes: usize, at: &[*const u8], out: &mut Four)
}

#[inline(always)]
unsafe fn load_body<S: Simd>(s: S, bytes: usize, at: &[*const u8], out: &mut Four) {
    let n = at.len().min(WARPS);
    // SAFETY: sixteen texels of so many bytes at each place (all of it).
    unsafe {
        match bytes {
            1 => {
                for w in 0..n {
                    out.put(s, 0, w, s.iwiden8(at[w]));
                }
            }
            2 => {
                for w in 0..n {
                    out.put(s, 0, w, s.iwiden16(at[w]));
                }
            }
            4 => {
                for w in 0..n {
                    out.put(s, 0, w, s.iloadu(at[w]));
                }
            }
            8 => {
                for w in 0..n {
                    let [a, b] = ops::apart(s, [s.iloadu(at[w]), s.iloadu(at[w].add(64))]);
                    out.put(s, 0, w, a);
                    out.put(s, 1, w, b);
                }
            }
            12 => {
                for w in 0..n {
                    let v = apart3(s, [s.iloadu(at[w]), s.iloadu(at[w].add(64)), s.iloadu(at[w].add(128))]);
                    for k in 0..3 {
                        out.put(s, k, w, v[k]);
                    }
                }
            }
            16 => {
                for w in 0..n {
                    let first = at[w].cast_mut();
                    let mut v = [s.isplat(0); 4];
                    for k in 0..4 {
                        v[k] = s.iload4([
                            first.add(16 * k),
                            first.add(64 + 16 * k),
                            first.add(128 + 16 * k),
                            first.add(192 + 16 * k),
                        ]);
                    }
                    let v = s.itranspose4(v);
                    for k in 0..4 {
                        out.put(s, k, w, v[k]);
                    }
                }
            }
            _ => {
                for w in 0..n {
                    let mut words = [[0u32; 16]; 4];
                    for lane in 0..16 {
                        let mut texel = [0u32; 4];
                        let from = at[w].add(lane * bytes);
                        texel.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, bytes.min(16));
                        (0..4).for_each(|k| words[k][lane] = texel[k]);
                    }
                    for k in 0..4 {
                        out.put(s, k, w, ops::i_from(s, words[k]));
                    }
                }
            }
        }
    }
}

simd::by_level! {
    /// The reverse of [`load`].
    ///
    /// # Safety
    /// As there, writable; the words are there.
    #[inline(never)]
    pub unsafe fn store = store_body, (bytes: usize, from: &Four, at: &[*mut u8])
}

#[inline(always)]
unsafe fn store_body<S: Simd>(s: S, bytes: usize, from: &Four, at: &[*mut u8]) {
    let n = at.len().min(WARPS);
    // SAFETY: sixteen texels of so many bytes at each place, whose words are there (all of it).
    unsafe {
        match bytes {
            1 => {
                for w in 0..n {
                    s.inarrow8(at[w], from.get(s, 0, w));
                }
            }
            2 => {
                for w in 0..n {
                    s.inarrow16(at[w], from.get(s, 0, w));
                }
            }
            4 => {
                for w in 0..n {
                    s.istoreu(at[w], from.get(s, 0, w));
                }
            }
            8 => {
                for w in 0..n {
                    let [a, b] = ops::together(s, [from.get(s, 0, w), from.get(s, 1, w)]);
                    s.istoreu(at[w], a);
                    s.istoreu(at[w].add(64), b);
                }
            }
            12 => {
                for w in 0..n {
                    let v = together3(s, [from.get(s, 0, w), from.get(s, 1, w), from.get(s, 2, w)]);
                    for k in 0..3 {
                        s.istoreu(at[w].add(64 * k), v[k]);
                    }
                }
            }
            16 => {
                for w in 0..n {
                    let mut v = [s.isplat(0); 4];
                    for k in 0..4 {
                        v[k] = from.get(s, k, w);
                    }
                    let v = s.itranspose4(v);
                    for k in 0..4 {
                        let first = at[w].add(16 * k);
                        s.istore4([first, first.add(64), first.add(128), first.add(192)], v[k]);
                    }
                }
            }
            _ => {
                for w in 0..n {
                    let mut words = [[0u32; 16]; 4];
                    for k in 0..bytes.div_ceil(4).min(4) {
                        words[k] = ops::i_lanes(s, from.get(s, k, w));
                    }
                    for lane in 0..16 {
                        let texel = [words[0][lane], words[1][lane], words[2][lane], words[3][lane]];
                        at[w].add(lane * bytes).copy_from(texel.as_ptr().cast(), bytes.min(16));
                    }
                }
            }
        }
    }
}

/// The words of sixteen texels of three: the first of each, and so on.
#[inline(always)]
pub(super) fn apart3<S: Simd>(s: S, v: [S::I; 3]) -> [S::I; 3] {
    let mut out = v;
    for k in 0..3 {
        let from = ops::i_from(s, EVERY_THIRD[k]);
        let last = s.ugt(from, s.isplat(31));
        out[k] = s.isel(last, s.ishuffle(v[2], from), s.ishuffle2(v[0], v[1], from));
    }
    out
}

/// The reverse of [`apart3`].
#[inline(always)]
pub(super) fn together3<S: Simd>(s: S, v: [S::I; 3]) -> [S::I; 3] {
    let mut out = v;
    for k in 0..3 {
        let (texel, kind) = (ops::i_from(s, THIRDS[k].0), ops::i_from(s, THIRDS[k].1));
        let two = s.isel(s.ieq(kind, s.isplat(0)), s.ishuffle(v[0], texel), s.ishuffle(v[1], texel));
        out[k] = s.isel(s.ieq(kind, s.isplat(2)), s.ishuffle(v[2], texel), two);
    }
    out
}

/// Of 48 words every third.
const EVERY_THIRD: [[u32; 16]; 3] = {
    let mut t = [[0; 16]; 3];
    let mut i = 0;
    while i < 48 {
        t[i % 3][i / 3] = i as u32;
        i += 1;
    }
    t
};

/// Of the 48 words of sixteen texels of three, by sixteens: the texel of each, and which of its words it is.
pub(super) const THIRDS: [([u32; 16], [u32; 16]); 3] = {
    let mut t = [([0; 16], [0; 16]); 3];
    let mut i = 0;
    while i < 48 {
        (t[i / 16].0[i % 16], t[i / 16].1[i % 16]) = (i as u32 / 3, i as u32 % 3);
        i += 1;
    }
    t
};

/// `$body` with `$c`, a constant that is `$how`.
macro_rules! of_coding {
    ($how:expr, $c:ident => $body:expr) => {
        of_coding!(@ $how, $c => $body;
            Unorm Unorm24 Snorm Uscaled Sscaled Uint Sint Half Whole Ufloat Srgb)
    };
    (@ $how:expr, $c:ident => $body:expr; $($coding:ident)*) => {
        match $how {
            $(Coding::$coding => {
                const $c: Coding = Coding::$coding;
                $body
            })*
        }
    };
}

simd::by_level! {
    /// The channels that texels have, out of the words of `n` warps. [`channel`] says where those are that they have not.
    ///
    /// # Safety
    /// The words are there.
    #[inline(never)]
    pub unsafe fn decode = decode_body, (plan: &Plan, words: &Four, n: usize, out: &mut Four)
}

#[inline(always)]
unsafe fn decode_body<S: Simd>(s: S, plan: &Plan, words: &Four, n: usize, out: &mut Four) {
    let n = n.min(WARPS);
    if plan.shared_exponent() {
        for w in 0..n {
            // SAFETY: the caller's words.
            let v = exponents(s, unsafe { words.get(s, 0, w) });
            for k in 0..3 {
                out.put(s, k, w, v[k]);
            }
        }
        return;
    }
    for part in plan.parts() {
        // SAFETY: the caller's words.
        of_coding!(part.how, HOW => unsafe { decode_part(s, HOW, part, words, n, out) });
    }
}

#[inline(always)]
unsafe fn decode_part<S: Simd>(s: S, how: Coding, part: &Part, words: &Four, n: usize, out: &mut Four) {
    let all = s.isplat(u32::MAX >> (32 - part.bits));
    let (word, channel, shift) = (part.word & 3, part.channel & 3, s.isplat(part.shift));
    for w in 0..n {
        // SAFETY: the caller's words.
        let v = s.iand(s.ishr(unsafe { words.get(s, word, w) }, shift), all);
        out.put(s, channel, w, decoded(s, how, part.bits, part.step, v));
    }
}

simd::by_level! {
    /// Words of the warps `first..first + n` of these channels.
    ///
    /// # Safety
    /// The rows hold these warps, of the channels that texels have at least.
    #[inline(never)]
    pub unsafe fn encode = encode_body, (plan: &Plan, channels: &[Row; 4], first: usize, n: usize, out: &mut Four)
}

#[inline(always)]
unsafe fn encode_body<S: Simd>(
    s: S,
    plan: &Plan,
    channels: &[Row; 4],
    first: usize,
    n: usize,
    out: &mut Four,
) {
    let n = n.min(WARPS);
    let mut begun = 0u32;
    for part in plan.parts() {
        let more = begun >> part.word & 1 != 0;
        begun |= 1 << part.word;
        // SAFETY: the caller's rows.
        of_coding!(part.how, HOW => unsafe { encode_part(s, HOW, part, channels, first, n, more, out) });
    }
}

/// `more`: other components of the words have been put there.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn encode_part<S: Simd>(
    s: S,
    how: Coding,
    part: &Part,
    channels: &[Row; 4],
    first: usize,
    n: usize,
    more: bool,
    out: &mut Four,
) {
    let (row, word, shift) = (channels[part.channel & 3], part.word & 3, s.isplat(part.shift));
    for w in 0..n {
        // SAFETY: the caller's rows.
        let v = encoded(s, how, part.bits, unsafe { row.words(s, first + w) });
        let v = s.ishl(v, shift);
        // SAFETY: a component has been put there.
        let v = if more { s.ior(v, unsafe { out.get(s, word, w) }) } else { v };
        out.put(s, word, w, v);
    }
}

#[cfg(test)]
pub(crate) use tests::steps_are_their_texels;
#[cfg(test)]
mod tests {
    use super::super::kernels::tests::{any_channel, whole_formats};
    use super::super::kernels::{load_fn, store_fn};
    use super::*;
    use random::Random;
    use simd::Level;

    /// Every uncompressed format whose aspects are one, on so many warps, against the codec that does one texel.
    pub(crate) fn steps_are_their_texels(level: Level) {
        let mut random = Random::new(3);
        for i in whole_formats() {
            let plan = Plan::new(i);
            let (load_one, store_one) = (load_fn(i), store_fn(i));
            let bytes = i.block_bytes as usize;
            for case in 0..12 {
                let n = case % WARPS + 1;
                // Warps lie apart, and not on lines.
                let step = 16 * bytes + case % 5;
                let memory: Vec<u8> = (0..step * n).map(|_| random.u32() as u8).collect();
                let at: Vec<*const u8> = (0..n).map(|w| memory[w * step..].as_ptr()).collect();
                let (mut words, mut channels) = (Four::new(), Four::new());
                // SAFETY: sixteen texels at each place; what is read has been written.
                unsafe {
                    load(level, bytes, &at, &mut words);
                    decode(level, &plan, &words, n, &mut channels);
                }
                for (w, at) in at.iter().enumerate() {
                    // SAFETY: as above.
                    let got = [0, 1, 2, 3].map(|k| unsafe { channel(&plan, &channels, k).array(w) });
                    for lane in 0..16 {
                        // SAFETY: as above.
                        let want = unsafe { load_one(i, at.add(lane * bytes)) };
                        assert_eq!(got.map(|c| c[lane]), want, "{} on {level:?}", i.name);
                    }
                }
                if plan.shared_exponent() {
                    continue;
                }
                // From the second of n + 1 warps on.
                let rows: [Vec<[u32; 16]>; 4] = std::array::from_fn(|_| {
                    (0..=n).map(|_| std::array::from_fn(|_| any_channel(&mut random))).collect()
                });
                let mut packed = vec![0u8; step * n];
                let to: Vec<*mut u8> = (0..n).map(|w| packed[w * step..].as_mut_ptr()).collect();
                let channels = std::array::from_fn(|k| Row::at(rows[k].as_ptr()));
                // SAFETY: as above.
                unsafe {
                    encode(level, &plan, &channels, 1, n, &mut words);
                    store(level, bytes, &words, &to);
                }
                for (w, lane) in (0..n).flat_map(|w| (0..16).map(move |l| (w, l))) {
                    let texel = [0, 1, 2, 3].map(|k| rows[k][w + 1][lane]);
                    let mut want = [0u8; 16];
                    // SAFETY: room for a texel.
                    unsafe { store_one(i, want.as_mut_ptr(), texel) };
                    let got = &packed[w * step + lane * bytes..][..bytes];
                    assert_eq!(got, &want[..bytes], "{} on {level:?}, {texel:x?}", i.name);
                }
            }
        }
    }
}

//! Texels of formats that have no kernel of their own, by their [`Plan`](crate::format::plan::Plan), and of compressed blocks: these are decoded
//! on the way ([`super::blocks`]), or have been decoded to a tile ([`super::tile`]).
//!
//! What depends on the format are functions of their own, which waves' kernels call: these are the same for all such formats.

use super::corners::Corners;
use super::forms::PORTABLE;
use super::found::{Found, edge, moved};
use super::place::{self, weighted};
use super::points::Points;
use super::texels::{HIGH, LOW, Texels, narrow, words as word, words4};
use super::tile::{self, Place, Tiles};
use super::unit::Unit;
use super::warp::mix;
use super::window;
use super::{Fast, LEVELS, NO_LAST, blocks, faces, fetch, gather, levels, lod, nearest, solid};
use crate::format::kernels::Channels;
use crate::sample::args::{SampleArgs, Warp4};
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::rows::ImageRows;
use simd::{Level, Simd, ops};

/// A texel of each lane at `base + at`: see [`Fast::reads`].
type One = unsafe fn(&Fast, *const u8, &[u32; 16], &mut Channels);
/// As [`super::nearest::warps`].
type Nearest = unsafe fn(&Fast, &ImageView, &Sampler, bool, &ImageRows);
/// Four texels of each lane at `base + at`: see [`Fast::reads`].
type Load = unsafe fn(&Fast, *const u8, &[[u32; 16]; 4], &mut [Channels; 4]);
/// As [`blocks::texels`].
type Decoded = unsafe fn(&Fast, *const u8, &[[u32; 16]], &mut [[[u32; 16]; 4]; 4]);
/// As [`super::found::filter`].
type Filter = unsafe fn(&Fast, &Found, &Corners, &[f32; 4], &mut Channels);
/// As [`super::apart::apart`].
type Apart = unsafe fn(&Fast, usize, &Corners, &[f32; 4], &mut Channels);
/// As [`Tiles::cover`].
type Cover = unsafe fn(&mut Tiles, &Fast, usize, &[*const Corners]) -> Option<Place>;

/// As [`levels::warps`].
type Levels = unsafe fn(&Fast, &ImageView, &Sampler, &ImageRows) -> u32;

/// As [`fetch::fetch`].
type Fetch = unsafe fn(&Fast, &ImageView, usize, bool, &ImageRows);
/// As [`gather::gather`].
type Gather = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Warp4) -> bool;
/// As [`solid::sample`].
type Solid = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Warp4);
/// As [`nearest::give`].
type GivePoints = unsafe fn(&Fast, &ImageView, &ImageRows, &[(usize, u16)], &[Points; 2], &[u32; 4]);
/// As [`gather::warps`].
type Gathers = unsafe fn(&Fast, &ImageView, &Sampler, u32, &ImageRows) -> u32;
/// As [`solid::warps`].
type Solids = unsafe fn(&Fast, &ImageView, &Sampler, &ImageRows) -> u32;
/// As [`faces::warps`].
type Faces = unsafe fn(&Fast, &ImageView, &Sampler, bool, &ImageRows) -> u32;
/// As [`levels::extra`].
type AllTaps = unsafe fn(&Fast, &ImageView, &Sampler, &ImageRows, &mut [u32; 32]);
/// As [`lod::extra`].
type Taps = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16) -> u32;

/// What is there for a machine.
#[derive(Clone, Copy)]
pub struct Functions {
    pub one: One,
    pub nearest_flat: Nearest,
    pub nearest_blocks: Nearest,
    pub nearest_other: Nearest,
    pub load: Load,
    pub decoded: Decoded,
    pub filter: Filter,
    pub apart: Apart,
    pub cover: Cover,
    pub levels: Levels,
    pub taps: Taps,
    pub fetch: Fetch,
    pub gather: Gather,
    pub solid: Solid,
    pub points: GivePoints,
    pub all_taps: AllTaps,
    pub gathers: Gathers,
    pub solids: Solids,
    pub faces: Faces,
}

impl Functions {
    pub fn of(machine: Level) -> Option<Functions> {
        Some(Functions {
            one: simd::form!(
                machine,
                unsafe fn(f: &Fast, base: *const u8, at: &[u32; 16], out: &mut Channels) = texel;
                portable if PORTABLE
            )?,
            nearest_flat: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, wave: &ImageRows)
                    = nearest::warps::<_, { nearest::FLAT }>;
                portable if PORTABLE
            )?,
            nearest_blocks: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, wave: &ImageRows)
                    = nearest::warps::<_, { nearest::BLOCKS }>;
                portable if PORTABLE
            )?,
            nearest_other: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, wave: &ImageRows)
                    = nearest::warps::<_, { nearest::OTHER }>;
                portable if PORTABLE
            )?,
            load: simd::form!(
                machine,
                unsafe fn(f: &Fast, base: *const u8, at: &[[u32; 16]; 4], out: &mut [Channels; 4]) = texels;
                portable if PORTABLE
            )?,
            decoded: simd::form!(
                machine,
                unsafe fn(f: &Fast, base: *const u8, at: &[[u32; 16]], out: &mut [[[u32; 16]; 4]; 4]) = blocks::texels;
                portable if PORTABLE
            )?,
            filter: simd::form!(
                machine,
                unsafe fn(f: &Fast, found: &Found, at: &Corners, border: &[f32; 4], out: &mut Channels) = filter;
                portable if PORTABLE
            )?,
            apart: simd::form!(
                machine,
                unsafe fn(f: &Fast, level: usize, at: &Corners, border: &[f32; 4], out: &mut Channels) = apart;
                portable if PORTABLE
            )?,
            cover: simd::form!(
                machine,
                unsafe fn(tiles: &mut Tiles, f: &Fast, level: usize, warps: &[*const Corners]) -> Option<Place>
                    = tile::cover;
                portable if PORTABLE
            )?,
            fetch: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, level: usize, arrayed: bool, wave: &ImageRows) = fetch::fetch;
                portable if PORTABLE
            )?,
            gather: simd::form!(
                machine,
                unsafe fn(
                    f: &Fast,
                    view: &ImageView,
                    sampler: &Sampler,
                    args: &SampleArgs,
                    mask: u16,
                    out: &mut Warp4,
                ) -> bool = gather::gather;
                portable if PORTABLE
            )?,
            solid: simd::form!(
                machine,
                unsafe fn(
                    f: &Fast,
                    view: &ImageView,
                    sampler: &Sampler,
                    args: &SampleArgs,
                    mask: u16,
                    out: &mut Warp4,
                ) = solid::sample;
                portable if PORTABLE
            )?,
            points: simd::form!(
                machine,
                unsafe fn(
                    f: &Fast,
                    view: &ImageView,
                    wave: &ImageRows,
                    several: &[(usize, u16)],
                    points: &[Points; 2],
                    edge: &[u32; 4],
                ) = nearest::give;
                portable if PORTABLE
            )?,
            all_taps: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, wave: &ImageRows, taps: &mut [u32; 32])
                    = levels::extra;
                portable if PORTABLE
            )?,
            gathers: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, component: u32, wave: &ImageRows) -> u32
                    = gather::warps;
                portable if PORTABLE
            )?,
            solids: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, wave: &ImageRows) -> u32 = solid::warps;
                portable if PORTABLE
            )?,
            faces: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, wave: &ImageRows) -> u32
                    = faces::warps;
                portable if PORTABLE
            )?,
            taps: simd::form!(
                machine,
                fn(f: &Fast, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> u32 = lod::extra;
                portable if PORTABLE
            )?,
            levels: simd::form!(
                machine,
                unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, wave: &ImageRows) -> u32
                    = levels::warps::<_, Any<false>>;
                portable if PORTABLE
            )?,
        })
    }
}

/// Texels of any format; whether those of waves are words.
pub struct Any<const WORD: bool>;

impl<const WORD: bool> Texels for Any<WORD> {
    const N: usize = 4;
    // (Of no matter: `unit` has it.)
    const SHIFT: u32 = 2;
    const FLOATS: bool = true;
    const ANY: bool = true;
    const WORD: bool = WORD;
    #[inline(always)]
    fn bytes(f: &Fast) -> bool {
        f.plan.filters_bytes
    }
    #[inline(always)]
    fn floats(f: &Fast) -> bool {
        f.floats
    }
    #[inline(always)]
    fn has(f: &Fast, k: usize) -> bool {
        f.plan.has >> k & 1 != 0
    }
    #[inline(always)]
    fn has_all(f: &Fast) -> bool {
        f.plan.has == 15
    }
    #[inline(always)]
    fn unit(f: &Fast) -> Unit {
        f.reads
    }
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        let (mut from, mut to) = ([0; 16], [[0; 16]; 4]);
        store(s, &mut from, at);
        // SAFETY: the caller's texels.
        unsafe { (f.any.one)(f, base, &from, &mut to) };
        for k in 0..4 {
            out[k] = s.from_bits(load(s, &to[k]));
        }
    }
    #[inline(always)]
    unsafe fn load4<S: Simd>(s: S, f: &Fast, base: *const u8, at: &[S::I; 4], out: &mut [[S::F; 4]; 4]) {
        let (mut from, mut to) = ([[0; 16]; 4], [[[0; 16]; 4]; 4]);
        for n in 0..4 {
            store(s, &mut from[n], at[n]);
        }
        // SAFETY: the caller's texels.
        unsafe { (f.any.load)(f, base, &from, &mut to) };
        for n in 0..4 {
            for k in 0..4 {
                out[n][k] = s.from_bits(load(s, &to[n][k]));
            }
        }
    }
}

/// Sixteen words to where there is room, which may have been nothing yet.
///
/// # Safety
/// There is room.
#[inline(always)]
pub unsafe fn put<S: Simd>(s: S, to: *mut [u32; 16], v: S::I) {
    // SAFETY: the caller's.
    unsafe { s.istoreu(to.cast(), v) };
}

/// Puts the words of texel `n` there, of as many as it has.
///
/// # Safety
/// Texels at `base + at` are readable; of small ones, the aligned words that they are in. `to` has room.
#[inline(always)]
pub unsafe fn words_of<S: Simd, const N: usize>(
    s: S,
    bytes: u32,
    base: *const u8,
    at: S::I,
    to: *mut [[[u32; 16]; N]; 4],
    n: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        match bytes {
            1 | 2 => put(s, &raw mut (*to)[0][n], narrow(s, base, at)),
            4 => put(s, &raw mut (*to)[0][n], word(s, base, at)),
            8 => {
                let [a, b] = s.igather2(base, at);
                put(s, &raw mut (*to)[0][n], a);
                put(s, &raw mut (*to)[1][n], b);
            }
            12 => {
                // Not four words: there may be none after the last.
                let [a, b] = s.igather2(base, at);
                put(s, &raw mut (*to)[0][n], a);
                put(s, &raw mut (*to)[1][n], b);
                put(s, &raw mut (*to)[2][n], word(s, base, s.iadd(at, s.isplat(8))));
            }
            _ => {
                let all = words4(s, base, at);
                for k in 0..4 {
                    put(s, &raw mut (*to)[k][n], all[k]);
                }
            }
        }
    }
}

/// A texel of each lane, as [`Functions::one`] and [`Functions::load`] have them; channels that there are not are something.
///
/// # Safety
/// Texels at `base + at` are there.
#[inline(always)]
pub unsafe fn one<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I) -> [S::F; 4] {
    let mut words = [[[0; 16]; 1]; 4];
    if f.reads == Unit::Decoded {
        let (mut from, mut to) = ([[0; 16]], [[[0; 16]; 4]; 4]);
        store(s, &mut from[0], at);
        // SAFETY: the caller's texels.
        unsafe { (f.any.decoded)(f, base, &from, &mut to) };
        (words[0][0], words[1][0]) = (to[0][0], to[1][0]);
    } else {
        // SAFETY: the caller's texels.
        unsafe { words_of(s, f.plan.bytes, base, at, &mut words, 0) };
    }
    let mut out = [[0; 16]; 4];
    for k in 0..4 {
        if f.plan.has >> k & 1 != 0 {
            let w = [load(s, &words[f.plan.word(k) % 4][0])];
            let [v] = f.plan.channel(s, k, &w, &f.plan.scales(s, &w));
            store(s, &mut out[k], s.bits(v));
        }
    }
    let [a, b, c, d] = [load(s, &out[0]), load(s, &out[1]), load(s, &out[2]), load(s, &out[3])];
    [s.from_bits(a), s.from_bits(b), s.from_bits(c), s.from_bits(d)]
}

/// # Safety
/// As [`one`].
#[inline(always)]
unsafe fn texel<S: Simd>(s: S, f: &Fast, base: *const u8, at: &[u32; 16], out: &mut Channels) {
    // SAFETY: the caller's texels.
    let t = unsafe { one(s, f, base, load(s, at)) };
    for k in 0..4 {
        store(s, &mut out[k], s.bits(t[k]));
    }
}

/// # Safety
/// As [`one`], of four texels.
#[inline(always)]
unsafe fn texels<S: Simd>(s: S, f: &Fast, base: *const u8, at: &[[u32; 16]; 4], out: &mut [Channels; 4]) {
    let mut words = [[[0; 16]; 4]; 4];
    if f.reads == Unit::Decoded {
        // SAFETY: the caller's texels.
        unsafe { (f.any.decoded)(f, base, at, &mut words) };
    } else {
        for i in 0..4 {
            // SAFETY: the caller's texels.
            unsafe { words_of(s, f.plan.bytes, base, load(s, &at[i]), &mut words, i) };
        }
    }
    for k in 0..4 {
        if f.plan.has >> k & 1 != 0 {
            let w = four(s, &words[f.plan.word(k) % 4]);
            let t = f.plan.channel(s, k, &w, &f.plan.scales(s, &w));
            for i in 0..4 {
                store(s, &mut out[i][k], s.bits(t[i]));
            }
        }
    }
}

#[inline(always)]
pub fn four<S: Simd>(s: S, of: &[[u32; 16]; 4]) -> [S::I; 4] {
    [load(s, &of[0]), load(s, &of[1]), load(s, &of[2]), load(s, &of[3])]
}

/// Filters the 2×2 texels of each lane, row by row: a channel after the other, from its bits to the result.
pub struct Weigh<S: Simd> {
    weight: [S::F; 2],
    kept: [S::I; 2],
    /// Texels may be infinite or NaN.
    floats: bool,
    /// Channels are bytes until they are filtered.
    bytes: bool,
}

impl<S: Simd> Weigh<S> {
    #[inline(always)]
    pub fn of(s: S, f: &Fast, corners: &Corners) -> Weigh<S> {
        let weight = corners.weights(s);
        let all = s.isplat(!0);
        let kept = if f.floats { [place::kept(s, weight[0]), place::kept(s, weight[1])] } else { [all; 2] };
        Weigh { weight, kept, floats: f.floats, bytes: f.plan.filters_bytes }
    }

    #[inline(always)]
    pub fn channel(&self, s: S, corners: &Corners, border: f32, line: bool, t: &[S::F; 4]) -> S::I {
        let v = self.mixed(s, corners, border, line, t);
        s.bits(if self.bytes { s.fma(v, s.fsplat(HIGH), s.fmul(v, s.fsplat(LOW))) } else { v })
    }

    #[inline(always)]
    fn between(&self, s: S, axis: usize, a: S::F, b: S::F) -> S::F {
        if self.floats {
            weighted::<S, Any<true>>(s, a, b, self.weight[axis], self.kept[axis])
        } else {
            mix(s, a, b, self.weight[axis])
        }
    }

    #[inline(always)]
    pub fn mixed(&self, s: S, corners: &Corners, border: f32, line: bool, t: &[S::F; 4]) -> S::F {
        let [mut upper, mut lower] = [[t[0], t[1]], [t[2], t[3]]];
        edge(s, corners, 0, border, &mut upper);
        let row = self.between(s, 0, upper[0], upper[1]);
        if line {
            return row;
        }
        edge(s, corners, 1, border, &mut lower);
        let below = self.between(s, 0, lower[0], lower[1]);
        self.between(s, 1, row, below)
    }
}

/// # Safety
/// What has been found is of the corners.
#[inline(always)]
unsafe fn filter<S: Simd>(
    s: S,
    f: &Fast,
    found: &Found,
    corners: &Corners,
    border: &[f32; 4],
    out: &mut Channels,
) {
    let weigh = Weigh::of(s, f, corners);
    let all = four(s, &found.texels);
    let scales = f.plan.scales(s, &all);
    for k in 0..4 {
        if f.plan.has >> k & 1 == 0 {
            continue;
        }
        let mut t = [weigh.weight[0]; 4];
        if found.in_window {
            let w = [load(s, &found.window)];
            let [of] = f.plan.channel(s, k, &w, &f.plan.scales(s, &w));
            for n in 0..4 {
                t[n] = moved(s, s.bits(of), all[n]);
            }
        } else {
            t = f.plan.channel(s, k, &all, &scales);
        }
        store(s, &mut out[k], weigh.channel(s, corners, border[k], f.line, &t));
    }
}

/// Words of the 2×2 texels of each lane, of as many as a texel has.
///
/// # Safety
/// The corners are those of texels of the level; `w` has room.
#[inline(always)]
pub unsafe fn words<S: Simd>(s: S, f: &Fast, level: usize, corners: &Corners, w: *mut [[[u32; 16]; 4]; 4]) {
    let level = level % LEVELS;
    let (i, base, bytes) = (corners.texels(s), f.level(level), f.plan.bytes);
    let x = [f.reads.after(s, i[0][0]), f.reads.after(s, i[0][1])];
    let right = s.ieq(s.iadd(i[0][0], s.isplat(1)), i[0][1]);
    let pairs = matches!(bytes, 1 | 2 | 8) && f.last[level] != NO_LAST && s.mbits(right) == 0xFFFF;
    // Of rows of eight texels words change their lanes by one instruction each.
    let by_rows = bytes == 8 && pairs && !f.line && S::ONE_VECTOR;
    let close = if by_rows { window::rows(s, f, 3, level, corners) } else { None };
    if let Some(close) = &close {
        let upper = s.mask(0xFF);
        for y in 0..2 {
            // SAFETY: eight texels of rows of the level.
            let [a, b] = unsafe { close.load(s, y) };
            let first = ops::shl(s, close.at[y], 1);
            for k in 0..4 {
                let at = s.iadd(first, s.isplat(k));
                let word = s.isel(upper, s.ishuffle2(a[0], a[1], at), s.ishuffle2(b[0], b[1], at));
                // SAFETY: the caller has room.
                unsafe { put(s, &raw mut (*w)[k as usize % 2][2 * y + k as usize / 2], word) };
            }
        }
    }
    for y in 0..if f.line { 1 } else { 2 } {
        if close.is_some() {
            break;
        }
        let row = s.imul(i[1][y], s.isplat(f.row_pitch[level]));
        let left = s.iadd(row, x[0]);
        // SAFETY: the caller's texels; with `pairs`, both of each pair; four bytes from `last` on are of the level, and from each place before it.
        unsafe {
            if !pairs {
                words_of(s, bytes, base, left, w, 2 * y);
                words_of(s, bytes, base, s.iadd(row, x[1]), w, 2 * y + 1);
            } else if bytes == 8 {
                let both = words4(s, base, left);
                for k in 0..4 {
                    put(s, &raw mut (*w)[k % 2][2 * y + k / 2], both[k]);
                }
            } else {
                // Not beyond the level: single bytes may be its last.
                let from = if bytes == 1 { s.umin(left, s.isplat(f.last[level])) } else { left };
                let both = s.ishr(s.iwords(base, from), ops::shl(s, s.isub(left, from), 3));
                put(s, &raw mut (*w)[0][2 * y], both);
                put(s, &raw mut (*w)[0][2 * y + 1], ops::shr(s, both, 8 * bytes));
            }
        }
    }
}

/// # Safety
/// The corners are those of texels of the level.
#[inline(always)]
unsafe fn apart<S: Simd>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    border: &[f32; 4],
    out: &mut Channels,
) {
    let mut w = [[[0; 16]; 4]; 4];
    // SAFETY: the caller's.
    unsafe { self::words(s, f, level, corners, &mut w) };
    let weigh = Weigh::of(s, f, corners);
    for k in 0..4 {
        if f.plan.has >> k & 1 != 0 {
            let t = f.plan.channel(s, k, &four(s, &w[f.plan.word(k) % 4]), &[weigh.weight[0]; 4]);
            store(s, &mut out[k], weigh.channel(s, corners, border[k], f.line, &t));
        }
    }
}

/// What a border's colour is, and what results are, in the order of the format's channels: kernels of some formats have them otherwise.
#[inline(always)]
pub fn ordered<T: Copy>(f: &Fast, own: bool, of: &[T; 4]) -> [T; 4] {
    let [a, b, c, d] = *of;
    if own && f.swapped { [c, b, a, d] } else { [a, b, c, d] }
}

/// Results of [`Functions`] as vectors; `own`: for a kernel of a format.
#[inline(always)]
pub fn vectors<S: Simd>(s: S, f: &Fast, own: bool, of: &Channels, out: &mut [S::F; 4]) {
    for k in 0..4 {
        out[k] = s.from_bits(load(s, &of[k]));
    }
    *out = ordered(f, own, out);
}

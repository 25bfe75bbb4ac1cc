//! Blits sixteen texels at a time: each source row is decoded whole, into channels, and filtered along x once; a destination row is a
//! sum of such rows, encoded whole. The sums are those of single texels ([`super::blit`]), in their order.

// Loops over groups index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::blit::{Axis, Tap};
use super::halve;
use super::rows::rows_are_whole;
use crate::format::kernels::Channels;
use crate::format::wave::{self, Four, Plan, WARPS};
use crate::format::{ChannelClass, codec};
use crate::image::Surface;
use crate::row::Row;
use simd::{Level, Simd, ops};

const LANES: usize = 16;
/// Texels of two vectors.
const WINDOW: u32 = 2 * LANES as u32;
/// Bytes of the largest warp.
const WARP: usize = LANES * 16;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; LANES]);

/// Sixteen destination columns.
struct Group {
    /// The first of the source texels, and from it on those of each column.
    from: u32,
    first: Line,
    second: Line,
    /// Of the second.
    weight: Line,
    /// All are within two vectors.
    near: bool,
    /// No second texel has a weight that counts.
    copies: bool,
    /// How many columns there are.
    count: usize,
}

impl Group {
    /// `lo`: the source row's first texel.
    fn new(taps: &[Tap], lo: u32, linear: bool) -> Group {
        // What lies beyond the last is as that.
        let tap = |lane: usize| taps[lane.min(taps.len() - 1)];
        let from = taps.iter().map(|t| t.0.min(t.1)).min().unwrap_or(lo);
        let last = taps.iter().map(|t| t.0.max(t.1)).max().unwrap_or(lo);
        Group {
            from: from - lo,
            first: Line(std::array::from_fn(|lane| tap(lane).0 - from)),
            second: Line(std::array::from_fn(|lane| tap(lane).1 - from)),
            weight: Line(std::array::from_fn(|lane| tap(lane).2.to_bits())),
            near: last - from < WINDOW,
            copies: !linear || taps.iter().all(|t| t.2 == 0.0),
            count: taps.len(),
        }
    }
}

/// What a row's texels are made of: both formats, channels that the destination has, whether they are filtered, and classes of
/// channels where these differ.
struct Work {
    from: Plan,
    to: Plan,
    wanted: u32,
    linear: bool,
    converted: Option<(ChannelClass, ChannelClass)>,
}

impl Work {
    /// A channel that texels have not.
    fn missing(&self, k: usize) -> Line {
        Line([if k == 3 { self.from.one } else { 0 }; LANES])
    }
}

/// A source row's channels one after the other, each with room to look beyond it.
struct Decoded {
    lines: Vec<Line>,
    texels: usize,
}

impl Decoded {
    fn new(work: &Work, texels: usize) -> Decoded {
        let lines = texels.div_ceil(LANES) + 2;
        Decoded { lines: (0..4).flat_map(|k| vec![work.missing(k); lines]).collect(), texels }
    }
}

/// Where decoded warps go: lines from one warp's to the next's, and from one channel's to the next's.
struct Lines {
    first: *mut Line,
    warp: usize,
    channel: usize,
}

/// Source rows, filtered along x: the last that were asked for, as many as a destination row is made of.
struct Rows<'a> {
    surface: &'a Surface,
    work: &'a Work,
    groups: &'a [Group],
    /// The source row's first texel.
    lo: u32,
    /// Columns are its texels one after the other.
    copies: bool,
    layer: u32,
    decoded: Decoded,
    /// y, z and layer; `None` before the first use.
    rows: Vec<(Option<[u32; 3]>, Vec<[Line; 4]>)>,
    /// When each was last asked for.
    used: [u64; 4],
    now: u64,
    kernels: Kernels,
}

impl Rows<'_> {
    /// The place of a row, filtered if need be.
    fn row(&mut self, y: u32, z: u32) -> usize {
        self.now += 1;
        let at = Some([y, z, self.layer]);
        let found = self.rows.iter().position(|r| r.0 == at);
        let i = found.unwrap_or_else(|| (0..self.rows.len()).min_by_key(|&i| self.used[i]).unwrap_or(0));
        self.used[i] = self.now;
        if found.is_none() {
            self.rows[i].0 = at;
            // SAFETY: the row exists, and the texels of it that are decoded: taps were cut to the surface. Kernels are of the level.
            unsafe {
                let base = self.surface.block(self.lo, y, z, 0, self.layer);
                let row = &mut self.rows[i].1;
                if self.copies {
                    // Columns are texels, one after the other.
                    assert!(self.decoded.texels.div_ceil(LANES) <= row.len());
                    let lines = Lines { first: row.as_mut_ptr().cast(), warp: 4, channel: 1 };
                    (self.kernels.decode)(self.work, base, self.decoded.texels, &lines);
                } else {
                    let d = &mut self.decoded;
                    let lines = Lines { first: d.lines.as_mut_ptr(), warp: 1, channel: d.lines.len() / 4 };
                    (self.kernels.decode)(self.work, base, d.texels, &lines);
                    (self.kernels.across)(self.work, d, self.groups, row);
                }
            }
        }
        i
    }
}

/// The steps of a blit, as compiled for a level.
#[derive(Clone, Copy)]
struct Kernels {
    /// Decodes a row.
    decode: unsafe fn(&Work, *const u8, usize, &Lines),
    /// Filters a row along x.
    across: unsafe fn(&Work, &Decoded, &[Group], &mut [[Line; 4]]),
    /// Writes a destination row: the sum of `rows`, each with its weight; the first alone, where nothing is filtered.
    down: unsafe fn(&Work, &[(&[[Line; 4]], f32)], &[Group], *mut u8),
    halve: halve::Row,
}

impl Kernels {
    /// None of portable code, which makes texels one by one.
    fn new(level: Level) -> Option<Kernels> {
        Some(Kernels {
            decode: simd::form!(
                level,
                unsafe fn(work: &Work, base: *const u8, texels: usize, out: &Lines) = decode;
                portable if false
            )?,
            across: simd::form!(
                level,
                fn(work: &Work, row: &Decoded, groups: &[Group], out: &mut [[Line; 4]]) = across;
                portable if false
            )?,
            down: simd::form!(
                level,
                unsafe fn(work: &Work, rows: &[(&[[Line; 4]], f32)], groups: &[Group], at: *mut u8) = down;
                portable if false
            )?,
            halve: halve::row(level)?,
        })
    }
}

/// # Safety
/// As many texels are readable, and `out` has lines for them.
#[inline(always)]
unsafe fn decode<S: Simd>(s: S, work: &Work, base: *const u8, texels: usize, out: &Lines) {
    let bytes = work.from.bytes;
    let has = work.from.channels() & work.wanted;
    let whole = texels / LANES;
    let mut last = [0u8; WARP];
    let left = texels - whole * LANES;
    // SAFETY: what is no warp; room for one.
    unsafe { last.as_mut_ptr().copy_from(base.add(whole * LANES * bytes), left * bytes) };
    let warps = whole + (left > 0) as usize;
    let (mut words, mut channels) = (Four::new(), Four::new());
    for first in (0..warps).step_by(WARPS) {
        let n = WARPS.min(warps - first);
        let mut at = [last.as_ptr(); WARPS];
        for w in 0..n {
            if first + w < whole {
                at[w] = base.wrapping_add((first + w) * LANES * bytes);
            }
        }
        // SAFETY: the row's texels, or the copy of the last ones; words are read that were written (here and below).
        unsafe {
            wave::load(s.level(), bytes, &at[..n], &mut words);
            wave::decode(s.level(), &work.from, &words, n, &mut channels);
        }
        for c in 0..4 {
            if has >> c & 1 != 0 {
                for w in 0..n {
                    // SAFETY: a line of the caller's.
                    unsafe {
                        let line = out.first.add(out.warp * (first + w) + out.channel * c);
                        s.istore(line.cast(), channels.get(s, c, w));
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn across<S: Simd>(s: S, work: &Work, row: &Decoded, groups: &[Group], out: &mut [[Line; 4]]) {
    let each = row.lines.len() / 4;
    for (g, out) in groups.iter().zip(out) {
        // Two lines follow the row's last texel.
        let from = (g.from as usize).min(each * LANES - WINDOW as usize);
        let base = row.lines.as_ptr().cast::<u32>().wrapping_add(from).cast::<u8>();
        if !g.near {
            far(s, work, base, each, g, out);
            continue;
        }
        let (first, second) = (load(s, &g.first), load(s, &g.second));
        for c in 0..4 {
            if work.wanted >> c & 1 == 0 {
                continue;
            }
            let p = base.wrapping_add(c * each * size_of::<Line>());
            // SAFETY: two vectors of the channel's lines.
            let (low, high) = unsafe { (s.iloadu(p), s.iloadu(p.add(64))) };
            let a = s.ishuffle2(low, high, first);
            let b = if g.copies { a } else { s.ishuffle2(low, high, second) };
            beside(s, g, a, b, &mut out[c]);
        }
    }
}

/// Columns whose texels lie far apart.
#[inline(always)]
fn far<S: Simd>(s: S, work: &Work, base: *const u8, each: usize, g: &Group, out: &mut [Line; 4]) {
    for c in 0..4 {
        if work.wanted >> c & 1 == 0 {
            continue;
        }
        let p = base.wrapping_add(c * each * size_of::<Line>());
        // SAFETY: texels of the channel's lines (here and below).
        let a = unsafe { s.iwords(p, ops::shl(s, load(s, &g.first), 2)) };
        let b = if g.copies { a } else { unsafe { s.iwords(p, ops::shl(s, load(s, &g.second), 2)) } };
        beside(s, g, a, b, &mut out[c]);
    }
}

/// A texel and its neighbour. One without a weight adds nothing.
#[inline(always)]
fn beside<S: Simd>(s: S, g: &Group, a: S::I, b: S::I, out: &mut Line) {
    let mut v = a;
    if !g.copies {
        let weight = s.from_bits(load(s, &g.weight));
        let (rest, single) = (s.fsub(s.fsplat(1.0), weight), s.feq(weight, s.fsplat(0.0)));
        let both = s.fadd(s.fmul(s.from_bits(a), rest), s.fmul(s.from_bits(b), weight));
        v = s.isel(single, a, s.bits(both));
    }
    // SAFETY: a line.
    unsafe { s.istore(out.0.as_mut_ptr().cast(), v) };
}

#[inline(always)]
fn load<S: Simd>(s: S, line: &Line) -> S::I {
    // SAFETY: a line.
    unsafe { s.iload(line.0.as_ptr().cast()) }
}

/// # Safety
/// There is room for as many texels as the groups have columns.
#[inline(always)]
unsafe fn down<S: Simd>(s: S, work: &Work, rows: &[(&[[Line; 4]], f32)], groups: &[Group], at: *mut u8) {
    let bytes = work.to.bytes;
    let mut words = Four::new();
    for first in (0..groups.len()).step_by(WARPS) {
        let n = WARPS.min(groups.len() - first);
        let mut sum = Four::new();
        for c in 0..4 {
            if work.wanted >> c & 1 == 0 {
                continue;
            }
            let of = |k: usize| &rows[k].0[first..first + n];
            match rows.len() {
                _ if !work.linear => {
                    for (w, row) in of(0).iter().enumerate() {
                        sum.put(s, c, w, load(s, &row[c]));
                    }
                }
                2 => {
                    let (one, two) = (s.fsplat(rows[0].1), s.fsplat(rows[1].1));
                    for (w, (a, b)) in of(0).iter().zip(of(1)).enumerate() {
                        let a = s.fmul(s.from_bits(load(s, &a[c])), one);
                        let b = s.fmul(s.from_bits(load(s, &b[c])), two);
                        // (From 0 on: of negative zeros the sum is not one.)
                        sum.put(s, c, w, s.bits(s.fadd(s.fadd(s.fsplat(0.0), a), b)));
                    }
                }
                count => {
                    for w in 0..n {
                        let mut v = s.fsplat(0.0);
                        for k in 0..count {
                            let share = s.from_bits(load(s, &rows[k].0[first + w][c]));
                            v = s.fadd(v, s.fmul(share, s.fsplat(rows[k].1)));
                        }
                        sum.put(s, c, w, s.bits(v));
                    }
                }
            }
        }
        if let Some((from, to)) = work.converted {
            for w in 0..n {
                // SAFETY: what was put there; channels that are not wanted are nothing.
                unsafe { convert(s, &mut sum, w, work.wanted, from, to) };
            }
        }
        let channels: [Row; 4] = [sum.row(0), sum.row(1), sum.row(2), sum.row(3)];
        let (mut places, mut last) = ([at; WARPS], [0u8; WARP]);
        let mut count = LANES;
        for w in 0..n {
            count = groups[first + w].count;
            let here = at.wrapping_add((first + w) * LANES * bytes);
            places[w] = if count < LANES { last.as_mut_ptr() } else { here };
        }
        // SAFETY: the caller's texels, or room for a warp of them, of which the row has the first.
        unsafe {
            wave::encode(s.level(), &work.to, &channels, 0, n, &mut words);
            wave::store(s.level(), bytes, &words, &places[..n]);
            if count < LANES {
                at.add((first + n - 1) * LANES * bytes).copy_from(last.as_ptr(), count * bytes);
            }
        }
    }
}

/// Numbers of another class.
///
/// # Safety
/// The wanted channels of the warp are there.
#[inline(always)]
unsafe fn convert<S: Simd>(s: S, of: &mut Four, w: usize, wanted: u32, from: ChannelClass, to: ChannelClass) {
    let mut t: Channels = [[0; LANES]; 4];
    for c in 0..4 {
        if wanted >> c & 1 != 0 {
            // SAFETY: the caller's.
            t[c] = ops::i_lanes(s, unsafe { of.get(s, c, w) });
        }
    }
    for l in 0..LANES {
        let texel = codec::convert_class([t[0][l], t[1][l], t[2][l], t[3][l]], from, to);
        for c in 0..4 {
            t[c][l] = texel[c];
        }
    }
    for c in 0..4 {
        of.put(s, c, w, ops::i_from(s, t[c]));
    }
}

/// Whether [`blit`] has such a blit, and form for the level; `d`: what is written.
pub(super) fn has(level: Level, s: &Surface, d: &Surface) -> bool {
    Kernels::new(level).is_some() && rows_are_whole(s, d)
}

/// A blit whose axes were cut to both surfaces. `linear`: of floats, by the taps' weights; the nearest texel otherwise.
pub(super) fn blit(
    level: Level,
    s: &Surface,
    d: &Surface,
    [ax, ay, az]: [&Axis; 3],
    (sl, dl, layers): (u32, u32, u32),
    linear: bool,
) {
    let Some(kernels) = Kernels::new(level) else { return };
    if linear && halve::suits(s.format, d.format, [ax, ay, az]) {
        let plan = Plan::new(s.format);
        for layer in 0..layers {
            for (z, tz) in az.taps.iter().enumerate() {
                for (y, ty) in ay.taps.iter().enumerate() {
                    // SAFETY: the axes were cut to both surfaces, and so many texels are on them.
                    unsafe {
                        let from =
                            [ty.0, ty.1].map(|y| s.block(ax.taps[0].0, y, tz.0, 0, sl + layer).cast_const());
                        let at = d.block(ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer);
                        (kernels.halve)(&plan, from, at, ax.taps.len());
                    }
                }
            }
        }
        return;
    }
    let lo = ax.taps.iter().map(|t| t.0.min(t.1)).min().unwrap_or(0);
    let hi = ax.taps.iter().map(|t| t.0.max(t.1)).max().unwrap_or(0);
    // (Neighbours that have no weight are not read of a row that is copied.)
    let texels = if ax.is_copy() { ax.taps.len() } else { (hi - lo + 1) as usize };
    let groups: Vec<Group> = ax.taps.chunks(LANES).map(|taps| Group::new(taps, lo, linear)).collect();
    let (from, to) = (s.format.channel_class(), d.format.channel_class());
    let plans = (Plan::new(s.format), Plan::new(d.format));
    let converted = (from != to).then_some((from, to));
    let work = Work { from: plans.0, to: plans.1, wanted: plans.1.channels(), linear, converted };
    let missing = [0, 1, 2, 3].map(|k| work.missing(k));
    let between = |axis: &Axis| linear && axis.taps.iter().any(|t| t.2 != 0.0);
    let count = [ay, az].map(|axis| 1 + between(axis) as usize).iter().product::<usize>().max(2);
    let mut rows = Rows {
        surface: s,
        work: &work,
        groups: &groups,
        lo,
        copies: ax.is_copy(),
        layer: 0,
        decoded: Decoded::new(&work, texels),
        rows: (0..count).map(|_| (None, vec![missing; groups.len()])).collect(),
        used: [0; 4],
        now: 0,
        kernels,
    };
    for layer in 0..layers {
        rows.layer = sl + layer;
        for (z, tz) in az.taps.iter().enumerate() {
            for (y, ty) in ay.taps.iter().enumerate() {
                let mut shares = [(rows.row(ty.0, tz.0), 1.0); 4];
                let mut count = 1;
                if linear {
                    let all = [
                        (ty.0, tz.0, (1.0 - ty.2) * (1.0 - tz.2)),
                        (ty.1, tz.0, ty.2 * (1.0 - tz.2)),
                        (ty.0, tz.1, (1.0 - ty.2) * tz.2),
                        (ty.1, tz.1, ty.2 * tz.2),
                    ];
                    count = 0;
                    for (y, z, w) in all.into_iter().filter(|(.., w)| *w != 0.0) {
                        shares[count] = (rows.row(y, z), w);
                        count += 1;
                    }
                }
                let shares = shares.map(|(i, w)| (&rows.rows[i].1[..], w));
                // SAFETY: the axes were cut to both surfaces.
                unsafe {
                    let at = d.block(ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer);
                    (kernels.down)(&work, &shares[..count], &groups, at);
                }
            }
        }
    }
}

//! Which texels samples read, and how many cache lines those are: where the kernels read, without the texels. Lines are counted where
//! every row of every level begins with one, so that a texel's line is its row's and its column's added.

use super::entry::{Row, flat, flat_kernels};
use super::lod::{Lods, lods};
use super::place::{Levels, Place, bordered, levels, nearest_at, scaled, square};
use super::unit::Unit;
use super::warp::{filters, placed, plain, tapped};
use super::{Fast, cube};
use crate::memory::sparse::{BLOCK, resident};
use crate::sample::args::{SampleArgs, lanes};
use crate::sample::sampler::{MAX_ANISOTROPY, Sampler};
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::Simd;
use simd::ops;
use std::mem::MaybeUninit;

/// Vectors of lines that a warp has at most: taps, two levels, four texels filtered and one that is the nearest.
const MOST: usize = MAX_ANISOTROPY as usize * 2 * 5;
/// No line: more than any (images here have less than 4 GiB).
const NONE: u32 = i32::MAX as u32;

/// Lines that lanes touch, by blocks of sixteen rows of four: the line with which its block begins, and which of the
/// block's 64 it is.
#[repr(C, align(64))]
struct Lines {
    n: usize,
    blocks: [MaybeUninit<[u32; 16]>; MOST],
    bits: [MaybeUninit<[u32; 16]>; MOST],
}

impl Default for Lines {
    #[inline(always)]
    fn default() -> Lines {
        Lines { n: 0, blocks: [MaybeUninit::uninit(); MOST], bits: [MaybeUninit::uninit(); MOST] }
    }
}

/// What is told of the texels that a warp reads, a vector at a time.
trait Sink<S: Simd> {
    /// Lanes read the texel in row `row`, from byte `column` of it on, of their levels.
    fn add(&mut self, s: S, l: &Levels<S>, column: S::I, row: S::I, lanes: S::M);
}

impl<S: Simd> Sink<S> for Lines {
    #[inline(always)]
    fn add(&mut self, s: S, l: &Levels<S>, at: S::I, number: S::I, lanes: S::M) {
        let (column, row) = (column(s, at), row(s, l, number));
        let block = s.isel(lanes, s.iadd(column[0], row[0]), s.isplat(NONE));
        let (blocks, bits) = (self.blocks[self.n].as_mut_ptr(), self.bits[self.n].as_mut_ptr());
        // SAFETY: arrays of sixteen words.
        unsafe {
            s.istoreu(blocks.cast(), block);
            s.istoreu(bits.cast(), s.iadd(column[1], row[1]));
        }
        self.n += 1;
    }
}

/// Offsets from the view's first texel that lanes read at, each in its order. Large, and most of it rarely used: stays where
/// it is made.
pub struct Reads {
    n: usize,
    at: [MaybeUninit<[u32; 16]>; MOST],
    lanes: [u16; MOST],
}

impl Reads {
    /// Those of one lane.
    #[inline]
    pub fn of(&self, lane: usize) -> impl Iterator<Item = u32> {
        let reads = self.at[..self.n].iter().zip(&self.lanes);
        // SAFETY: `add` has written the first `n`.
        reads
            .filter(move |(_, lanes)| **lanes >> lane & 1 != 0)
            .map(move |(at, _)| unsafe { at.assume_init_ref() }[lane])
    }
}

impl Reads {
    /// Those of all lanes: each of theirs beside the same of their neighbours.
    #[inline]
    pub fn all(&self, mask: u16) -> impl Iterator<Item = u32> {
        let reads = self.at[..self.n].iter().zip(&self.lanes);
        // SAFETY: as above.
        reads.flat_map(move |(at, on)| lanes(*on & mask).map(move |l| unsafe { at.assume_init_ref() }[l]))
    }
}

impl Default for Reads {
    #[inline(always)]
    fn default() -> Reads {
        Reads { n: 0, at: [MaybeUninit::uninit(); MOST], lanes: [0; MOST] }
    }
}

impl<S: Simd> Sink<S> for Reads {
    #[inline(always)]
    fn add(&mut self, s: S, l: &Levels<S>, column: S::I, row: S::I, lanes: S::M) {
        let at = s.iadd(s.iadd(column, l.start), s.imul(row, l.row_pitch));
        // SAFETY: an array of sixteen words.
        unsafe { s.istoreu(self.at[self.n].as_mut_ptr().cast(), at) };
        self.lanes[self.n] = s.mbits(lanes);
        self.n += 1;
    }
}

/// Lanes that read a texel that has no memory. `base`: the view's first texel, of which all are less than 4 GiB less a block away.
#[inline(always)]
pub fn missing<S: Simd>(s: S, reads: &Reads, base: *const u8) -> u16 {
    let within = base as u64 % BLOCK;
    let mut lanes = 0;
    for (at, &mask) in reads.at[..reads.n].iter().zip(&reads.lanes) {
        // SAFETY: `add` has written the first `n`.
        let at = unsafe { s.iloadu(at.as_ptr().cast()) };
        // (A texel lies in one block.)
        let block = ops::shr(s, s.iadd(at, s.isplat(within as u32)), BLOCK.trailing_zeros());
        let mut left = mask;
        while left != 0 {
            let first = shared(s, block, left);
            let same = s.mbits(s.ieq(block, first)) & left;
            left &= !same;
            let number = ops::i_lanes(s, first)[0] as u64;
            if !resident((base as u64 - within + number * BLOCK) as *const u8) {
                lanes |= same;
            }
        }
    }
    lanes
}

impl Lines {
    /// How many different lines there are, block by block.
    #[inline(always)]
    fn distinct<S: Simd>(&mut self, s: S) -> u32 {
        let (zero, one, none) = (s.isplat(0), s.isplat(1), s.isplat(NONE));
        let mut lowest = none;
        for v in &self.blocks[..self.n] {
            // SAFETY: `add` has written the first `n`.
            lowest = s.smin(lowest, unsafe { s.iloadu(v.as_ptr().cast()) });
        }
        let mut count = 0;
        loop {
            let first = least(s, lowest);
            if first == NONE {
                return count;
            }
            let first = s.isplat(first);
            let (mut low, mut high) = (zero, zero);
            lowest = none;
            for i in 0..self.n {
                // SAFETY: `add` has written the first `n`.
                let (blocks, bits) =
                    unsafe { (self.blocks[i].assume_init_mut(), self.bits[i].assume_init_ref()) };
                let block = load(s, blocks);
                let here = s.ieq(block, first);
                let bit = load(s, bits);
                // Shifts by 32 and more, or by less than 0, leave nothing.
                low = s.ior(low, s.isel(here, s.ishl(one, bit), zero));
                high = s.ior(high, s.isel(here, s.ishl(one, s.isub(bit, s.isplat(32))), zero));
                let left = s.isel(here, none, block);
                store(s, blocks, left);
                lowest = s.smin(lowest, left);
            }
            count += any(s, low).count_ones() + any(s, high).count_ones();
        }
    }
}

/// A column's share of its line's block and bit. `at`: bytes.
#[inline(always)]
fn column<S: Simd>(s: S, at: S::I) -> [S::I; 2] {
    let line = ops::shr(s, at, 6);
    let bit = s.iand(line, s.isplat(3));
    [s.isub(line, bit), bit]
}

/// A row's share, by its number. `l`: of its level.
#[inline(always)]
fn row<S: Simd>(s: S, l: &Levels<S>, row: S::I) -> [S::I; 2] {
    let bit = s.iand(row, s.isplat(15));
    let first = s.imul(s.isub(row, bit), ops::shr(s, l.row_pitch, 6));
    [s.iadd(first, ops::shr(s, l.start, 6)), ops::shl(s, bit, 2)]
}

#[inline(always)]
fn least<S: Simd>(s: S, v: S::I) -> u32 {
    let v = ops::i_lanes(s, v);
    let mut low = v[0];
    for x in v {
        low = if x < low { x } else { low };
    }
    low
}

/// Bits of any lane.
#[inline(always)]
fn any<S: Simd>(s: S, v: S::I) -> u32 {
    let mut all = 0;
    for x in ops::i_lanes(s, v) {
        all |= x;
    }
    all
}

/// Texels of the lanes' places on their levels, as [`super::place::at_level`] reads them.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn at_level<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    p: &Place<S>,
    level: S::I,
    any_linear: bool,
    any_nearest: bool,
    nearest: S::M,
    lanes: S::M,
    out: &mut impl Sink<S>,
) {
    let l = levels(s, f, level, p.layer);
    let numbers = numbered(s, &l);
    let u = scaled(s, sampler, p, &l);
    if any_linear {
        let lanes = if any_nearest { s.mand(lanes, s.mnot(nearest)) } else { lanes };
        linear(s, f, sampler, p, &l, &u, lanes, out);
    }
    if any_nearest {
        let lanes = if any_linear { s.mand(lanes, nearest) } else { lanes };
        let mut outside = s.mask(0);
        let [x, y] = nearest_at(s, f, sampler, &numbers, &u, f.unit, &mut outside);
        out.add(s, &l, x, y, s.mand(lanes, s.mnot(outside)));
    }
}

#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn linear<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    p: &Place<S>,
    l: &Levels<S>,
    u: &[S::F; 2],
    lanes: S::M,
    out: &mut impl Sink<S>,
) {
    if cube::seamless(f, sampler) {
        let c = cube::corners(s, l, u);
        if s.many(s.mand(lanes, c.across)) {
            for n in 0..4 {
                let t = c.texel(s, p, l, n);
                let l = Levels { start: t.start, ..*l };
                let row = f.unit.row(s, f, &numbered(s, &l), t.row);
                out.add(s, &l, f.unit.column(s, f, &l, t.column), row, s.mand(lanes, s.mnot(t.none)));
            }
            return;
        }
    }
    let q = square(s, f, sampler, &numbered(s, l), u, f.unit);
    for y in 0..2 {
        for x in 0..2 {
            let inside = s.mnot(s.mor(q.outside[0][x], q.outside[1][y]));
            out.add(s, l, q.steps[0][x], q.steps[1][y], s.mand(lanes, inside));
        }
    }
}

/// As if rows lay one byte apart: their offsets are their numbers.
#[inline(always)]
fn numbered<S: Simd>(s: S, l: &Levels<S>) -> Levels<S> {
    Levels { start: s.isplat(0), row_pitch: s.isplat(1), ..*l }
}

/// The number of different lines among those of two columns and two rows a lane, if all lie around the first lane's: a
/// bit each of four columns and of eight rows, or sixteen if `WIDE`.
#[inline(always)]
fn window<S: Simd, const WIDE: bool>(s: S, columns: [S::I; 2], rows: [S::I; 2], mask: u16) -> Option<u32> {
    // So many before the first lane's: a warp is four pixels high.
    let (before, last) = if WIDE { (8, 15) } else { (3, 7) };
    let (zero, one, lanes) = (s.isplat(0), s.isplat(1), s.mask(mask));
    let from = s.isub(shared(s, columns[0], mask), one);
    let (a, b) = (s.isub(columns[0], from), s.isub(columns[1], from));
    let from = s.isub(shared(s, rows[0], mask), s.isplat(before));
    let (c, d) = (s.isub(rows[0], from), s.isub(rows[1], from));
    // Numbers of windows' sizes, which are powers of two, stay below them.
    let far = s.mor(s.ugt(s.ior(a, b), s.isplat(3)), s.ugt(s.ior(c, d), s.isplat(last)));
    let is_full = mask == 0xffff;
    if s.many(if is_full { far } else { s.mand(lanes, far) }) {
        return None;
    }
    let bits = s.ior(s.ishl(one, a), s.ishl(one, b));
    let bits = if is_full { bits } else { s.isel(lanes, bits, zero) };
    let (c, d) = (ops::shl(s, c, 2), ops::shl(s, d, 2));
    let mut n = any(s, s.ior(s.ishl(bits, c), s.ishl(bits, d))).count_ones();
    if WIDE {
        let half = s.isplat(32);
        let high = s.ior(s.ishl(bits, s.isub(c, half)), s.ishl(bits, s.isub(d, half)));
        n += any(s, high).count_ones();
    }
    Some(n)
}

/// The number of lines of filtered reads of one level of one layer, if [`window`] tells it.
#[inline(always)]
fn near<S: Simd>(s: S, f: &Fast, sampler: &Sampler, p: &Place<S>, level: S::I, mask: u16) -> Option<u32> {
    let l = numbered(s, &levels(s, f, level, p.layer));
    let u = scaled(s, sampler, p, &l);
    if cube::seamless(f, sampler) && s.many(s.mand(s.mask(mask), cube::corners(s, &l, &u).across)) {
        return None;
    }
    let q = square(s, f, sampler, &l, &u, f.unit);
    if bordered(f, sampler) {
        let [[a, b], [c, d]] = q.outside;
        let outside = s.mor(s.mor(a, b), s.mor(c, d));
        if s.many(s.mand(s.mask(mask), outside)) {
            return None;
        }
    }
    let [columns, rows] = q.steps;
    window::<S, true>(s, [ops::shr(s, columns[0], 6), ops::shr(s, columns[1], 6)], rows, mask)
}

/// The same of the columns and rows of the only level ([`super::corners::corners`]).
#[inline(always)]
pub fn near_corners<S: Simd>(s: S, f: &Fast, [columns, rows]: &[[S::I; 2]; 2], mask: u16) -> Option<u32> {
    let (mut columns, mut rows) = (*columns, *rows);
    match f.unit {
        Unit::Shift(n) => {
            for c in &mut columns {
                *c = ops::shr(s, *c, 6 - n);
            }
        }
        unit => {
            let one = Levels {
                size: [s.fsplat(1.0); 2],
                texels: rows,
                row_pitch: s.isplat(1),
                layer_pitch: rows[0],
                start: s.isplat(0),
                // (Columns and rows of different blocks are different, whatever lies between.)
                split: [[s.isplat(0); 2]; 2],
            };
            for k in 0..2 {
                columns[k] = ops::shr(s, unit.column(s, f, &one, columns[k]), 6);
                rows[k] = unit.row(s, f, &one, rows[k]);
            }
        }
    }
    match window::<S, false>(s, columns, rows, mask) {
        None => window::<S, true>(s, columns, rows, mask),
        n => n,
    }
}

/// The base of the offsets (`out`, which has none yet) that a warp's sample reads at, if that is of a class that has a
/// kernel; of 1D views, whose only row a filter reads twice, none.
pub fn reads(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Reads,
) -> Option<*const u8> {
    let f = flat_kernels(view).filter(|f| !f.line && f.rows)?;
    let mut nearest = None;
    let sampler = f.sampler(sampler, &mut nearest);
    let mut row = Row::default();
    let args = &flat(f, args, &mut row)?;
    // SAFETY: the kernel was picked for this machine.
    unsafe { (f.runs.reads)(f, view, sampler, args, mask, out) };
    Some(f.base)
}

/// What a warp's lanes `mask` read.
#[inline(always)]
pub fn read<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Reads,
) {
    let mut place = placed(s, f, view, sampler, args);
    // (No closures: they would be compiled without the level's features.)
    let levels = if plain(f, sampler) { None } else { Some(lods(s, f, view, sampler, args)) };
    all(s, f, sampler, &mut place, levels.as_ref(), s.mask(mask), out);
}

/// [`near_corners`] of columns and rows in memory.
#[inline(always)]
pub fn near_stored<S: Simd>(s: S, f: &Fast, i: &[[[u32; 16]; 2]; 2], mask: u16) -> Option<u32> {
    let mut at = [[s.isplat(0); 2]; 2];
    for k in 0..2 {
        for side in 0..2 {
            at[k][side] = load(s, &i[k][side]);
        }
    }
    near_corners(s, f, &at, mask)
}

/// [`near`] of each of the lanes' levels: no two of them share a line.
#[inline(always)]
fn near_levels<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    p: &Place<S>,
    l: &Lods<S>,
    mask: u16,
) -> Option<u32> {
    let (_, any_nearest, _) = filters(s, sampler, l);
    if any_nearest || l.most > 1 {
        return None;
    }
    // A lane reads a level once.
    let (mut fine, mut coarse) = (mask, mask & s.mbits(l.blended));
    let mut n = 0;
    while fine | coarse != 0 {
        let level = if fine != 0 { shared(s, l.fine, fine) } else { shared(s, l.coarse, coarse) };
        let a = s.mbits(s.ieq(l.fine, level)) & fine;
        let b = s.mbits(s.ieq(l.coarse, level)) & coarse;
        n += near(s, f, sampler, p, level, a | b)?;
        fine &= !a;
        coarse &= !b;
    }
    Some(n)
}

/// The first lane's number, in all lanes.
#[inline(always)]
fn shared<S: Simd>(s: S, v: S::I, mask: u16) -> S::I {
    s.ishuffle(v, s.isplat(mask.trailing_zeros() & 15))
}

/// Texels of the lanes; `levels`: none where there is one, with one filter ([`plain`]).
#[inline(always)]
fn all<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    place: &mut Place<S>,
    levels: Option<&Lods<S>>,
    lanes: S::M,
    out: &mut impl Sink<S>,
) {
    match levels {
        Some(l) => several(s, f, sampler, place, l, lanes, out),
        None => {
            let linear = sampler.mag_linear;
            at_level(s, f, sampler, place, s.isplat(0), linear, !linear, s.mask(0), lanes, out);
        }
    }
}

/// As [`super::several`] goes through levels and taps.
#[inline(always)]
fn several<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    place: &mut Place<S>,
    l: &Lods<S>,
    lanes: S::M,
    out: &mut impl Sink<S>,
) {
    let (any_linear, any_nearest, nearest) = filters(s, sampler, l);
    let st = place.st;
    for tap in 0..l.most {
        let mut lanes = lanes;
        if l.most > 1 {
            place.st = tapped(s, &st, &l.axis, l.taps, tap);
            lanes = s.mand(lanes, s.flt(s.fsplat(tap as f32), l.taps));
        }
        at_level(s, f, sampler, place, l.fine, any_linear, any_nearest, nearest, lanes, out);
        if s.many(l.blended) {
            let lanes = s.mand(lanes, l.blended);
            at_level(s, f, sampler, place, l.coarse, any_linear, any_nearest, nearest, lanes, out);
        }
    }
}

/// The number of lines that a warp's lanes `mask` touch.
#[inline(always)]
pub fn lines<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
) -> u32 {
    let mut place = placed(s, f, view, sampler, args);
    let levels = if plain(f, sampler) { None } else { Some(lods(s, f, view, sampler, args)) };
    let one_layer = s.mbits(s.ieq(place.layer, shared(s, place.layer, mask))) & mask == mask;
    let near = match &levels {
        _ if !one_layer => None,
        Some(l) => near_levels(s, f, sampler, &place, l, mask),
        None if sampler.mag_linear => near(s, f, sampler, &place, s.isplat(0), mask),
        None => None,
    };
    if let Some(n) = near {
        return n;
    }
    let mut out = Lines::default();
    all(s, f, sampler, &mut place, levels.as_ref(), s.mask(mask), &mut out);
    out.distinct(s)
}

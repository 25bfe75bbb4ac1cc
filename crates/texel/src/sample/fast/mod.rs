//! Samples of 1D and 2D images and cubes of the common formats over the wave engine's vectors: all sixteen lanes go through each step
//! together, on any mixture of levels, with any wrap mode, offsets, depth comparison and anisotropy. The bits are those
//! of the general path (`filter.rs`), which the tests compare, on every SIMD level.
//!
//! Everything here is `inline(always)`, generic over [`Simd`], and plain loops: closures and array adaptors are not
//! inlined into functions with CPU features of their own.

mod any;
mod apart;
mod blocks;
mod compare;
mod corners;
mod cube;
mod entry;
mod faces;
mod fetch;
mod forms;
mod found;
mod gather;
mod levels;
mod lod;
mod nearest;
mod place;
mod points;
mod solid;
mod splits;
mod square;
mod texels;
mod tile;
mod touch;
mod unit;
mod warp;
mod waves;
mod window;

use super::sampler::Sampler;
use super::view::Level;
use crate::format::plan::Plan;
use crate::format::{FormatInfo, NumClass, TexelKind};
use any::Functions;
use blocks::Blocks;
pub(super) use entry::{extra_taps, gather, sample, sample_solid};
pub use entry::{
    extra_taps_wave, fetch_wave, gather_wave, missing_samples, sample_lines, sample_solid_wave, sample_wave,
};
pub(super) use forms::PORTABLE;
use forms::{Family, Runs, pick};
use splits::Splits;
pub use texels::scale;
pub(super) use touch::{Reads, reads};
use unit::Unit;

/// Levels that a table holds: one vector's lanes.
const LEVELS: usize = 16;
/// See [`Fast::last`].
const NO_LAST: u32 = u32::MAX;
/// Bytes of a cache line.
const LINE: usize = 64;

/// What the kernels need of a view: per level one lane of each vector. A 1D image has one row.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Fast {
    /// Width and height, as floats and as integers.
    size: [[f32; 16]; 2],
    texels: [[u32; 16]; 2],
    /// Bytes.
    row_pitch: [u32; 16],
    layer_pitch: [u32; 16],
    /// First texel, bytes from the base level's.
    start: [u32; 16],
    base: *const u8,
    /// Bytes from there to the end of the last level.
    bytes_in_all: u32,
    /// Where the last four bytes of a level's first layer begin, from its first texel; [`NO_LAST`] if it has not as many.
    last: [u32; 16],
    /// Of levels in sparse image blocks, if there are such.
    split: Option<Splits>,
    /// A row of a level lies its pitch after the one before: those of sparse image blocks too, but where these have slices.
    rows: bool,
    /// Bytes of a texel.
    bytes: u32,
    /// What offsets in memory are made in.
    unit: Unit,
    /// What those are made in that texels are loaded by, by `any`.
    reads: Unit,
    any: Functions,
    blocks: Option<Blocks>,
    /// How channels are made of bits, where `runs` are for any format.
    plan: Plan,
    /// The same for texels that are results as they are.
    exact: Plan,
    /// There is one.
    planned: bool,
    /// Texels may be infinite or NaN.
    floats: bool,
    /// Texels are integers, of which the nearest is taken.
    integers: bool,
    /// Every row begins with a cache line.
    aligned: bool,
    /// Both sizes of every level are powers of two.
    pow2: [bool; 2],
    count: usize,
    /// The view is one-dimensional.
    line: bool,
    /// The view is of cubes, whose faces are layers.
    cube: bool,
    /// The depth comparison has kernels.
    compares: bool,
    /// The format's first channel is the kernels' third one, and the other way round: the same kernels are for both orders.
    swapped: bool,
    runs: Runs,
    family: Family,
    /// The general path instead, to compare with.
    #[cfg(test)]
    pub(super) off: bool,
}

/// What [`Fast`] has kernels for, by the coordinates of a sample: one, two, or a direction.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Line,
    Flat,
    Cube,
    /// Of three, whose slices are layers. Only [`solid`] is for these.
    Solid,
}

impl Fast {
    /// The sampler as the view's texels are read: integers are not filtered. `nearest` is room.
    #[inline]
    pub(super) fn sampler<'a>(&self, sampler: &'a Sampler, nearest: &'a mut Option<Sampler>) -> &'a Sampler {
        if self.integers { nearest.insert(sampler.nearest()) } else { sampler }
    }

    /// Coordinates of a sample, but for the layer.
    fn dims(&self) -> usize {
        if self.cube { 3 } else { 2 - self.line as usize }
    }

    /// The kernels for levels of a format; none for formats without, and for images of 4 GiB and
    /// more.
    ///
    /// # Safety
    /// The levels are of that kind, texels of the format, with so many layers each; their memory stays for as long as
    /// this.
    pub unsafe fn new(
        format: &'static FormatInfo,
        kind: Kind,
        levels: &[Level],
        layers: u32,
    ) -> Option<Box<Fast>> {
        use TexelKind as K;
        let first = levels.first().filter(|l| (l.base as usize).is_multiple_of(4))?;
        if levels.len() > LEVELS {
            return None;
        }
        let split = Splits::of(levels);
        if split.is_none() && levels.iter().any(|l| !l.split.is_none()) {
            return None;
        }
        // Warps of these sample from tiles, as those of plans do.
        let family = if split.is_some() { Family::any(format)? } else { Family::of(format)? };
        let [w, h, _] = first.size;
        let unit = match format.block_bytes {
            _ if format.compressed() => Unit::Blocks,
            n if !n.is_power_of_two() => Unit::Bytes(n),
            n if split.is_some() => Unit::Split(n.trailing_zeros()),
            n => Unit::Shift(n.trailing_zeros()),
        };
        let mut plan = Plan::of(format);
        let own = plan;
        if filters_bytes(format.kind) && kind != Kind::Solid {
            plan = plan.map(Plan::of_bytes);
        }
        let planned = plan.is_some();
        let (blocks, plan) = match Blocks::new(format, [w, h]) {
            Some((blocks, plan)) => (Some(blocks), plan),
            None if format.compressed() => return None,
            None => (None, plan.unwrap_or(Plan::NONE)),
        };
        let runs = pick(family, settings::level())?;
        let mut f = Fast {
            size: [[1.0; 16]; 2],
            texels: [[1; 16]; 2],
            row_pitch: [0; 16],
            layer_pitch: [0; 16],
            start: [0; 16],
            base: first.base,
            bytes_in_all: 0,
            last: [NO_LAST; 16],
            rows: split.as_ref().is_none_or(|s| s.extra[1] == [0; 16]),
            split,
            bytes: format.block_bytes,
            unit,
            reads: if format.compressed() { Unit::Decoded } else { unit },
            any: Functions::of(settings::level())?,
            blocks,
            plan,
            exact: own.unwrap_or(plan),
            planned: planned || format.compressed(),
            floats: matches!(format.class, NumClass::Sfloat | NumClass::Ufloat),
            integers: format.is_integer(),
            family,
            // (A texel of another size may lie in two lines.)
            aligned: (first.base as usize).is_multiple_of(LINE) && format.block_bytes.is_power_of_two(),
            pow2: [true; 2],
            count: levels.len(),
            line: kind == Kind::Line,
            cube: kind == Kind::Cube,
            compares: matches!(family, Family::Own(K::R32Sfloat | K::R16Unorm | K::D24)),
            swapped: matches!(family, Family::Own(K::Bgra8Unorm)),
            runs,
            #[cfg(test)]
            off: false,
        };
        for (i, l) in levels.iter().enumerate() {
            let start = (l.base as usize).checked_sub(first.base as usize)? as u64;
            let [w, h, _] = l.size;
            let end = start
                .checked_add(l.layer_pitch.checked_mul(layers as u64)?)?
                .checked_add(l.row_pitch.checked_mul(format.blocks(h, 1) as u64)?)?
                .checked_add(l.split.offset(format.blocks(w, 0) - 1, format.blocks(h, 1) - 1))?;
            let whole = (start | l.layer_pitch | l.row_pitch).is_multiple_of(format.block_bytes as u64);
            let up = f.blocks.as_ref().map_or(0, |b| b.up());
            if end > u32::MAX as u64 >> up || f.blocks.is_some() && !whole {
                return None;
            }
            f.bytes_in_all = f.bytes_in_all.max(end as u32);
            for (k, n) in [w, h].into_iter().enumerate() {
                f.size[k][i] = n as f32;
                f.texels[k][i] = n;
                f.pow2[k] &= n.is_power_of_two();
            }
            f.aligned &= (start | l.row_pitch | l.layer_pitch).is_multiple_of(LINE as u64);
            f.row_pitch[i] = l.row_pitch as u32;
            f.layer_pitch[i] = l.layer_pitch as u32;
            f.start[i] = start as u32;
            let bytes = (h as u64 - 1) * l.row_pitch + w as u64 * format.block_bytes as u64;
            f.last[i] = bytes.checked_sub(4).map_or(NO_LAST, |b| b as u32);
        }
        f.aligned &= f.rows;
        Some(Box::new(f))
    }

    /// Lanes make texels each of their own compressed blocks.
    #[inline(always)]
    fn decodes(&self) -> bool {
        matches!(&self.blocks, Some(b) if b.lanes.is_some())
    }

    /// The first texel of one of its levels.
    #[inline(always)]
    fn level(&self, level: usize) -> *const u8 {
        self.base.wrapping_add(self.start[level % LEVELS] as usize)
    }

    /// As of a view of one layer of this one, which is not of cubes.
    #[inline]
    fn of_layer(&self, layer: u32) -> Fast {
        let mut of = self.clone();
        for (start, pitch) in of.start.iter_mut().zip(&self.layer_pitch).take(self.count) {
            // (All of the view has 32 bits.)
            *start = start.wrapping_add(layer.wrapping_mul(*pitch));
        }
        if self.count == 1 {
            // Kernels of one level look for no other's start.
            of.base = self.base.wrapping_add(of.start[0] as usize);
            of.start[0] = 0;
        }
        of
    }

    /// Whether the two differ in nothing but their place; formats are compared elsewhere.
    pub(super) fn is_like(&self, o: &Fast) -> bool {
        let n = self.count;
        // Most have one level.
        let same = |a: &[u32; 16], b: &[u32; 16]| a[0] == b[0] && (n == 1 || a[..n] == b[..n]);
        n == o.count
            && self.line == o.line
            && self.cube == o.cube
            && (0..2).all(|k| same(&self.texels[k], &o.texels[k]))
            && same(&self.row_pitch, &o.row_pitch)
            && same(&self.layer_pitch, &o.layer_pitch)
            && same(&self.start, &o.start)
            && self.split == o.split
    }
}

/// Whether the channels of a 1D or 2D image or a cube of the format are filtered as numbers 0..=255, see [`scale`], on every path.
pub(super) fn filters_bytes(kind: TexelKind) -> bool {
    use TexelKind as K;
    matches!(kind, K::R8Unorm | K::Rg8Unorm | K::Rgba8Unorm | K::Bgra8Unorm)
}

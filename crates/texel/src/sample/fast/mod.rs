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
mod waves;
mod window;

use super::args::{SampleArgs, Warp4};
use super::blend::border;
use super::sampler::Sampler;
use super::view::{ImageView, Level};
use crate::format::plan::Plan;
use crate::format::{FormatInfo, NumClass, TexelKind};
use crate::vector::{load, store};
use any::{Any, Functions};
use blocks::Blocks;
use corners::{ANY, corners};
use cube::Direction;
pub(super) use entry::{extra_taps, gather, sample, sample_solid};
pub use entry::{
    extra_taps_wave, fetch_wave, gather_wave, missing_samples, sample_lines, sample_solid_wave, sample_wave,
};
use lod::{Lods, lods};
use place::{Place, at_level, bordered};
use simd::rows::ImageRows;
use simd::{Level as Machine, Simd};
use splits::Splits;
use std::mem::MaybeUninit;
pub use texels::scale;
use texels::{Bytes, Depth24, Float, Half, Texels, Unorm16};
pub(super) use touch::{Reads, reads};
use unit::Unit;
use waves::warps;
use window::Close;

/// Levels that a table holds: one vector's lanes.
const LEVELS: usize = 16;
/// See [`Fast::last`].
const NO_LAST: u32 = u32::MAX;
/// Bytes of a cache line.
const LINE: usize = 64;

type Run = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Warp4);
type RunWave = unsafe fn(&Fast, &ImageView, &Sampler, bool, &ImageRows);
type Count = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16) -> u32;

type Read = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Reads);
type Missing = unsafe fn(&Reads, *const u8) -> u16;
/// Lines of the columns and rows of the 2×2 texels of each lane, where they are few.
type Near = unsafe fn(&Fast, &[[[u32; 16]; 2]; 2], u16) -> Option<u32>;

/// The kernels of a format for a machine: one warp, and a wave of them; one that counts the lines that a warp touches, one
/// that says which texels it reads, and one that says which lanes' texels have no memory.
#[derive(Clone, Copy)]
struct Runs {
    warp: Run,
    wave: RunWave,
    lines: Count,
    near: Near,
    reads: Read,
    missing: Missing,
}

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

/// Which texels kernels are for: those of one kind, or of any format by its plan.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Own(TexelKind),
    /// Texels are words, or what blocks are decoded to is such.
    Any {
        words: bool,
    },
}

impl Family {
    fn of(format: &FormatInfo) -> Option<Family> {
        use TexelKind as K;
        match format.kind {
            K::R8Unorm
            | K::Rg8Unorm
            | K::Rgba8Unorm
            | K::Bgra8Unorm
            | K::R16Unorm
            | K::D24
            | K::Rgba16Sfloat
            | K::R32Sfloat
            | K::Rgba32Sfloat => Some(Family::Own(format.kind)),
            _ => Family::any(format),
        }
    }

    fn any(format: &FormatInfo) -> Option<Family> {
        let bytes = match format.kind {
            TexelKind::Block(_) => crate::format::block::packing(format)?.bytes(),
            _ => Plan::of(format)?.bytes,
        };
        Some(Family::Any { words: bytes == 4 })
    }
}

/// The kernels of texels for a machine, if it has any.
fn pick(family: Family, machine: Machine) -> Option<Runs> {
    use TexelKind as K;
    let kind = match family {
        Family::Own(kind) => kind,
        Family::Any { words } => {
            // Warps of their own go one way, whatever a texel's size.
            let runs = form::<Any<false>>(machine)?;
            return Some(if words { Runs { wave: wave::<Any<true>>(machine)?, ..runs } } else { runs });
        }
    };
    match kind {
        K::R8Unorm => form::<Bytes<1>>(machine),
        K::Rg8Unorm => form::<Bytes<2>>(machine),
        K::Rgba8Unorm | K::Bgra8Unorm => form::<Bytes<4>>(machine),
        K::R16Unorm => form::<Unorm16>(machine),
        K::D24 => form::<Depth24>(machine),
        K::Rgba16Sfloat => form::<Half<4>>(machine),
        K::R32Sfloat => form::<Float<1>>(machine),
        K::Rgba32Sfloat => form::<Float<4>>(machine),
        _ => None,
    }
}

/// An x86-64 CPU without AVX2 is rare, and `wide` gives the same bits: a third of all kernels' code.
const PORTABLE: bool = Machine::COUNT == 1;

/// The kernel for waves.
fn wave<T: Texels>(machine: Machine) -> Option<RunWave> {
    simd::form!(
        machine,
        <T: Texels> unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, w: &ImageRows)
            = warps::<_, T>;
        portable if PORTABLE
    )
}

/// The kernels of texels for a machine, if it has any.
fn form<T: Texels>(machine: Machine) -> Option<Runs> {
    Some(Runs {
        warp: simd::form!(
            machine,
            <T: Texels> unsafe fn(
                f: &Fast,
                view: &ImageView,
                sampler: &Sampler,
                args: &SampleArgs,
                mask: u16,
                out: &mut Warp4,
            ) = body::<_, T>;
            portable if PORTABLE
        )?,
        wave: wave::<T>(machine)?,
        lines: simd::form!(
            machine,
            fn(f: &Fast, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> u32 = touch::lines;
            portable if PORTABLE
        )?,
        near: simd::form!(
            machine,
            fn(f: &Fast, i: &[[[u32; 16]; 2]; 2], mask: u16) -> Option<u32> = touch::near_stored;
            portable if PORTABLE
        )?,
        reads: simd::form!(
            machine,
            fn(
                f: &Fast,
                view: &ImageView,
                sampler: &Sampler,
                args: &SampleArgs,
                mask: u16,
                out: &mut Reads,
            ) = touch::read;
            portable if PORTABLE
        )?,
        missing: simd::form!(
            machine,
            fn(reads: &Reads, base: *const u8) -> u16 = touch::missing;
            portable if PORTABLE
        )?,
    })
}

#[cfg(test)]
impl Fast {
    /// The same kernels for another machine, if it has them.
    pub(super) fn on(&self, machine: Machine) -> Option<Box<Fast>> {
        let (runs, any) = (pick(self.family, machine)?, Functions::of(machine)?);
        Some(Box::new(Fast { runs, any, ..self.clone() }))
    }
}

/// `f32` bits of a warp's operand.
#[inline(always)]
fn floats<S: Simd>(s: S, a: &[u32; 16]) -> S::F {
    s.from_bits(load(s, a))
}

/// One level and one filter.
#[inline(always)]
fn plain(f: &Fast, sampler: &Sampler) -> bool {
    f.count == 1 && sampler.mag_linear == sampler.min_linear && sampler.anisotropy <= 1.0
}

/// [`plain`], and what [`corners`] takes but for offsets.
#[inline(always)]
fn filters_plainly(f: &Fast, sampler: &Sampler, arrayed: bool) -> bool {
    f.count == 1 && sampler.anisotropy <= 1.0 && filters_inside(f, sampler, arrayed)
}

/// As [`filters_plainly`], of any level.
#[inline(always)]
fn filters_inside(f: &Fast, sampler: &Sampler, arrayed: bool) -> bool {
    sampler.mag_linear
        && sampler.min_linear
        && !arrayed
        && !sampler.unnormalized
        && (f.planned || !bordered(f, sampler))
        && !f.cube
}

/// The layers of so many that coordinates name; NaN gives the first.
#[inline(always)]
fn layer_of<S: Simd>(s: S, a: S::F, layers: u32) -> S::I {
    let a = s.fmax_raw(s.fround_even(a), s.fsplat(0.0));
    s.f_to_s_raw(s.fmin_raw(a, s.fsplat((layers - 1) as f32)))
}

/// Where a warp's lanes sample.
#[inline(always)]
fn placed<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, args: &SampleArgs) -> Place<S> {
    let zero = s.fsplat(0.0);
    let mut place = Place::<S> {
        st: [floats(s, &args.coords[0]), floats(s, &args.coords[1])],
        offset: [zero; 2],
        layer: s.isplat(0),
        first: s.isplat(0),
        face: s.isplat(0),
        last: s.isplat(view.layers - 1),
        shift: s.isplat(0),
        dref: zero,
        border: if bordered(f, sampler) { border(view, sampler) } else { [0; 4] },
        op: None,
    };
    if f.swapped {
        place.border.swap(0, 2);
    }
    if let Some(o) = args.offsets {
        for k in 0..2 {
            place.offset[k] = s.s_to_f(load(s, &o[k]));
        }
    }
    if args.arrayed {
        let (at, layers) = if f.cube { (3, (view.layers / 6).max(1)) } else { (2, view.layers) };
        place.layer = layer_of(s, floats(s, &args.coords[at]), layers);
    }
    if f.cube {
        let d = Direction::new(s, args);
        place.st = d.project(s);
        place.face = d.face;
        place.first = s.imul(place.layer, s.isplat(6));
        place.layer = s.umin(s.iadd(place.first, d.face), place.last);
    }
    if let Some(shift) = args.shift {
        place.shift = load(s, shift.0);
    }
    if let (Some(d), Some(op)) = (args.dref, sampler.compare) {
        place.op = Some(op);
        place.dref = floats(s, d);
        if view.format.class == NumClass::Unorm {
            place.dref = s.fmin_raw(s.fmax_raw(place.dref, zero), s.fsplat(1.0));
        }
    }
    place
}

/// The border's channels as texels are filtered.
#[inline(always)]
fn edge_color<T: Texels>(f: &Fast, view: &ImageView, sampler: &Sampler) -> [f32; 4] {
    let mut to = [0.0; 4];
    if bordered(f, sampler) {
        let mut of = border(view, sampler);
        if f.swapped {
            of.swap(0, 2);
        }
        for k in 0..4 {
            let v = f32::from_bits(of[k]);
            to[k] = if T::BYTES || f.plan.filters_bytes { v * 255.0 } else { v };
        }
    }
    to
}

/// # Safety
/// Shifts are those of an [`super::Alike`], and have 32 bits with the view's own bytes.
#[inline(always)]
unsafe fn body<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) {
    let zero = s.fsplat(0.0);
    let st = [floats(s, &args.coords[0]), floats(s, &args.coords[1])];
    let mut color = [zero; 4];
    let plain = plain(f, sampler);
    let unmoved = args.offsets.is_none() && args.shift.is_none();
    if T::WORD && unmoved && filters_plainly(f, sampler, args.arrayed) {
        let (mut at, mut found) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let at = corners::<S, ANY>(s, f, sampler, 0, &st, &mut at);
        if T::floats(f) {
            at.settle(s);
        }
        let border = edge_color::<T>(f, view, sampler);
        // SAFETY: these are corners of the view.
        let found = unsafe { found::find::<S, T>(s, f, 0, at, &mut Close::No, &mut found) };
        found::filter::<S, T>(s, f, found, at, true, &border, &mut color);
        return finish::<S, T>(s, f, view, &color, mask, out);
    }
    let mut place = placed(s, f, view, sampler, args);
    if plain {
        // SAFETY: the caller has the shifts right; there are no others than of views alike.
        unsafe {
            at_level::<S, T>(
                s,
                f,
                sampler,
                &place,
                s.isplat(0),
                sampler.mag_linear,
                !sampler.mag_linear,
                s.mask(0),
                &mut color,
            )
        };
    } else {
        let l = lods(s, f, view, sampler, args);
        // SAFETY: as above.
        unsafe { several::<S, T>(s, f, sampler, &mut place, &l, &mut color) };
    }
    finish::<S, T>(s, f, view, &color, mask, out);
}

/// Result `k`.
#[inline(always)]
fn swizzled<S: Simd, T: Texels>(s: S, f: &Fast, view: &ImageView, color: &[S::F; 4], k: usize) -> S::I {
    match view.channel(k) {
        Some(c) => {
            if T::has(f, c) {
                s.bits(color[c])
            } else {
                s.isplat(if c == 3 { view.channels.one() } else { 0 })
            }
        }
        None => s.isplat(view.constant(k)),
    }
}

/// Channels in the format's order.
#[inline(always)]
fn ordered<S: Simd, T: Texels>(f: &Fast, color: &[S::F; 4]) -> [S::F; 4] {
    let [a, b, c, d] = *color;
    if T::N == 4 && f.swapped { [c, b, a, d] } else { [a, b, c, d] }
}

/// Swizzles, and stores the active lanes.
#[inline(always)]
fn finish<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    color: &[S::F; 4],
    mask: u16,
    out: &mut Warp4,
) {
    let color = &ordered::<S, T>(f, color);
    if view.identity && T::has_all(f) && mask == 0xffff {
        for k in 0..4 {
            store(s, &mut out[k], s.bits(color[k]));
        }
        return;
    }
    let m = s.mask(mask);
    for k in 0..4 {
        let v = swizzled::<S, T>(s, f, view, color, k);
        let v = if mask == 0xffff { v } else { s.isel(m, v, load(s, &out[k])) };
        store(s, &mut out[k], v);
    }
}

/// Whether some lanes filter linearly, whether some take the nearest texel, and those.
#[inline(always)]
fn filters<S: Simd>(s: S, sampler: &Sampler, l: &Lods<S>) -> (bool, bool, S::M) {
    let nearest = if sampler.mag_linear { s.mnot(l.magnified) } else { l.magnified };
    if sampler.mag_linear == sampler.min_linear {
        return (sampler.mag_linear, !sampler.mag_linear, nearest);
    }
    let magnified = s.mbits(l.magnified);
    let linear = if sampler.mag_linear { magnified } else { !magnified };
    (linear != 0, linear != 0xffff, nearest)
}

/// The place of tap `tap` of several. The taps of a lane that has fewer lie somewhere; they do not count.
#[inline(always)]
fn tapped<S: Simd>(s: S, st: &[S::F; 2], axis: &[S::F; 2], taps: S::F, tap: u32) -> [S::F; 2] {
    let t = s.fdiv(s.fsplat((tap + 1) as f32), s.fadd(taps, s.fsplat(1.0)));
    let t = s.fsub(t, s.fsplat(0.5));
    [s.fadd(st[0], s.fmul(axis[0], t)), s.fadd(st[1], s.fmul(axis[1], t))]
}

/// All taps and both levels of each.
///
/// # Safety
/// As [`at_level`].
#[inline(always)]
unsafe fn several<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    place: &mut Place<S>,
    l: &Lods<S>,
    color: &mut [S::F; 4],
) {
    let zero = s.fsplat(0.0);
    let (any_linear, any_nearest, nearest) = filters(s, sampler, l);
    let passes = if s.many(l.blended) { 2 } else { 1 };
    let st = place.st;
    for tap in 0..l.most {
        if l.most > 1 {
            place.st = tapped(s, &st, &l.axis, l.taps, tap);
        }
        let mut r = [zero; 4];
        for pass in 0..passes {
            let level = if pass == 0 { l.fine } else { l.coarse };
            let mut t = [zero; 4];
            // SAFETY: as the caller says of the shifts.
            unsafe {
                at_level::<S, T>(s, f, sampler, place, level, any_linear, any_nearest, nearest, &mut t)
            };
            for k in 0..T::N {
                r[k] = if pass == 0 { t[k] } else { s.fsel(l.blended, mix(s, r[k], t[k], l.weight), r[k]) };
            }
        }
        if l.most == 1 {
            *color = r;
            return;
        }
        let counts = s.flt(s.fsplat(tap as f32), l.taps);
        for k in 0..T::N {
            color[k] = s.fsel(counts, s.fadd(color[k], r[k]), color[k]);
        }
    }
    for c in color.iter_mut().take(T::N) {
        *c = s.fdiv(*c, l.taps);
    }
}

/// As the general path's of finite numbers, or of weights other than 0: a product and a sum, each rounded.
#[inline(always)]
fn mix<S: Simd>(s: S, a: S::F, b: S::F, w: S::F) -> S::F {
    s.fadd(a, s.fmul(s.fsub(b, a), w))
}

//! One level (of each lane) filtered: coordinates, wrapping, texels, weights.

use super::super::coords::LIMIT;
use super::super::sampler::{Sampler, Wrap};
use super::texels::Texels;
use super::unit::Unit;
use super::warp::mix;
use super::{Fast, cube};
use crate::vector::load;
use ash::vk::CompareOp;
use simd::Simd;
use simd::ops;

/// Where the lanes sample, and what they compare with.
pub struct Place<S: Simd> {
    pub st: [S::F; 2],
    pub offset: [S::F; 2],
    pub layer: S::I,
    /// Of a cube: its first layer, the face, and the view's last layer.
    pub first: S::I,
    pub face: S::I,
    pub last: S::I,
    /// Bytes from the view's texels to each lane's.
    pub shift: S::I,
    /// Raw bits.
    pub border: [u32; 4],
    pub dref: S::F,
    pub op: Option<CompareOp>,
}

/// Levels' properties, a lane each.
pub struct Levels<S: Simd> {
    pub size: [S::F; 2],
    pub texels: [S::I; 2],
    pub row_pitch: S::I,
    pub layer_pitch: S::I,
    /// First texel of the layer.
    pub start: S::I,
    /// Of columns and rows, as [`super::Splits`] has them; 0 of views without.
    pub split: [[S::I; 2]; 2],
}

impl<S: Simd> Levels<S> {
    /// Counted as [`Fast::reads`] does.
    #[inline(always)]
    pub fn count(&mut self, s: S, f: &Fast) {
        if f.reads != Unit::Decoded {
            return;
        }
        let up = f.blocks.as_ref().map_or(0, |b| b.up());
        let [[_, column], [_, row]] = &mut self.split;
        for of in [&mut self.row_pitch, &mut self.layer_pitch, &mut self.start, column, row] {
            *of = ops::shl(s, *of, up);
        }
    }

    /// What is to be added for the sparse image blocks before a column's or a row's.
    #[inline(always)]
    pub fn beyond(&self, s: S, axis: usize, at: S::I) -> S::I {
        let [shift, extra] = self.split[axis];
        s.imul(s.ishr(at, shift), extra)
    }
}

#[inline(always)]
pub fn levels<S: Simd>(s: S, f: &Fast, level: S::I, layer: S::I) -> Levels<S> {
    levels_of(s, f, level, layer, true)
}

/// `splits`: the kernel is one of those for views with sparse image blocks too.
#[inline(always)]
pub fn levels_of<S: Simd>(s: S, f: &Fast, level: S::I, layer: S::I, splits: bool) -> Levels<S> {
    let mut split = [[s.isplat(0); 2]; 2];
    if splits && let Some(of) = &f.split {
        for k in 0..2 {
            split[k] = [pick(s, &of.shift[k], level), pick(s, &of.extra[k], level)];
        }
    }
    if f.count == 1 {
        let start = s.imul(layer, s.isplat(f.layer_pitch[0]));
        return Levels {
            size: [s.fsplat(f.size[0][0]), s.fsplat(f.size[1][0])],
            texels: [s.isplat(f.texels[0][0]), s.isplat(f.texels[1][0])],
            row_pitch: s.isplat(f.row_pitch[0]),
            layer_pitch: s.isplat(f.layer_pitch[0]),
            start,
            split,
        };
    }
    let w = pick(s, &f.texels[0], level);
    let h = pick(s, &f.texels[1], level);
    let layer_pitch = pick(s, &f.layer_pitch, level);
    let start = s.imul(layer, layer_pitch);
    Levels {
        layer_pitch,
        size: [s.s_to_f(w), s.s_to_f(h)],
        texels: [w, h],
        row_pitch: pick(s, &f.row_pitch, level),
        start: s.iadd(start, pick(s, &f.start, level)),
        split,
    }
}

#[inline(always)]
fn pick<S: Simd>(s: S, table: &[u32; 16], level: S::I) -> S::I {
    s.ishuffle(load(s, table), level)
}

/// Texel numbers along an axis brought inside; lanes of the border are set in `outside`, and 0.
#[inline(always)]
pub fn wrapped<S: Simd>(s: S, mode: Wrap, i: S::I, n: S::I, pow2: bool, outside: &mut S::M) -> S::I {
    let zero = s.isplat(0);
    let last = s.isub(n, s.isplat(1));
    match mode {
        Wrap::Edge => s.smin(s.smax(i, zero), last),
        Wrap::Repeat if pow2 => s.iand(i, last),
        Wrap::MirrorEdge => s.smin(s.ixor(i, ops::sar(s, i, 31)), last),
        Wrap::Border => {
            // Negative numbers are large as unsigned ones.
            let out = s.ugt(i, last);
            *outside = s.mor(*outside, out);
            s.isel(out, zero, i)
        }
        Wrap::Mirror if pow2 => {
            let all = s.ior(last, n);
            let r = s.iand(i, all);
            s.isel(s.sgt(n, r), r, s.ixor(r, all))
        }
        Wrap::Repeat | Wrap::Mirror => {
            let mirror = matches!(mode, Wrap::Mirror);
            let period = if mirror { s.iadd(n, n) } else { n };
            // |i| ≤ 2^24 + 1, so that the quotient is at most one off.
            let q = s.f_to_s_raw(s.ffloor(s.fdiv(s.s_to_f(i), s.s_to_f(period))));
            let r = s.isub(i, s.imul(q, period));
            let r = s.isel(s.sgt(zero, r), s.iadd(r, period), r);
            let r = s.isel(s.sgt(period, r), r, s.isub(r, period));
            if !mirror {
                return r;
            }
            let back = s.isub(s.isub(period, s.isplat(1)), r);
            s.isel(s.sgt(n, r), r, back)
        }
    }
}

/// How an axis wraps. The texels of a seamless face that are needed beyond its edges are found by [`cube`].
#[inline(always)]
fn mode(f: &Fast, sampler: &Sampler, k: usize) -> Wrap {
    if cube::seamless(f, sampler) { Wrap::Edge } else { sampler.wrap[k] }
}

/// Replaces the border's texels if there are some, compares. `done`: channels are results, not as they are filtered.
#[inline(always)]
fn settled<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    p: &Place<S>,
    border: bool,
    outside: S::M,
    done: bool,
    out: &mut [S::F; 4],
) {
    if border {
        for k in 0..T::N {
            let b = f32::from_bits(p.border[k]);
            let b = if T::bytes(f) && !done { b * 255.0 } else { b };
            out[k] = s.fsel(outside, s.fsplat(b), out[k]);
        }
    }
    if T::N == 1
        && let Some(op) = p.op
    {
        out[0] = compared(s, op, p.dref, out[0]);
    }
}

/// 1 where the comparison of the reference with the texel holds, 0 elsewhere.
#[inline(always)]
pub fn compared<S: Simd>(s: S, op: CompareOp, d: S::F, t: S::F) -> S::F {
    let m = match op {
        CompareOp::LESS => s.flt(d, t),
        CompareOp::EQUAL => s.feq(d, t),
        CompareOp::LESS_OR_EQUAL => s.fle(d, t),
        CompareOp::GREATER => s.flt(t, d),
        CompareOp::NOT_EQUAL => s.fne(d, t),
        CompareOp::GREATER_OR_EQUAL => s.fle(t, d),
        CompareOp::ALWAYS => s.mask(0xffff),
        _ => s.mask(0),
    };
    s.fsel(m, s.fsplat(1.0), s.fsplat(0.0))
}

/// Unnormalised coordinates on the lanes' levels.
#[inline(always)]
pub fn scaled<S: Simd>(s: S, sampler: &Sampler, p: &Place<S>, l: &Levels<S>) -> [S::F; 2] {
    let mut u = [s.fsplat(0.0); 2];
    for k in 0..2 {
        let scaled = if sampler.unnormalized { p.st[k] } else { s.fmul(p.st[k], l.size[k]) };
        let v = s.fadd(scaled, p.offset[k]);
        // NaN gives the lower end.
        u[k] = s.fmin_raw(s.fmax_raw(v, s.fsplat(-LIMIT)), s.fsplat(LIMIT));
    }
    u
}

/// The nearest texels: offsets by column and by row, to be added; lanes of the border are set in `outside`.
#[inline(always)]
pub fn nearest_at<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    l: &Levels<S>,
    u: &[S::F; 2],
    unit: Unit,
    outside: &mut S::M,
) -> [S::I; 2] {
    let mut steps = [l.start; 2];
    for k in 0..2 {
        let i = s.f_to_s_raw(s.ffloor(u[k]));
        let i = wrapped(s, mode(f, sampler, k), i, l.texels[k], f.pow2[k], outside);
        steps[k] = if k == 0 { unit.column(s, f, l, i) } else { unit.row(s, f, l, i) };
    }
    steps
}

/// Columns and rows of the nearest texels of the only level, without layers and offsets; lanes of the border are set in `outside`.
#[inline(always)]
pub fn nearest_texels<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    st: &[S::F; 2],
    outside: &mut S::M,
) -> [S::I; 2] {
    let mut i = [s.isplat(0); 2];
    for k in 0..2 {
        let scaled = if sampler.unnormalized { st[k] } else { s.fmul(st[k], s.fsplat(f.size[k][0])) };
        let u = s.fmin_raw(s.fmax_raw(scaled, s.fsplat(-LIMIT)), s.fsplat(LIMIT));
        let n = s.isplat(f.texels[k][0]);
        i[k] = wrapped(s, mode(f, sampler, k), s.f_to_s_raw(s.ffloor(u)), n, f.pow2[k], outside);
    }
    i
}

/// The 2×2 texels around places: offsets by column and by row, to be added.
pub struct Square<S: Simd> {
    pub weight: [S::F; 2],
    pub steps: [[S::I; 2]; 2],
    /// Lanes of the border, by axis and side.
    pub outside: [[S::M; 2]; 2],
}

#[inline(always)]
pub fn square<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    l: &Levels<S>,
    u: &[S::F; 2],
    unit: Unit,
) -> Square<S> {
    let half = s.fsplat(0.5);
    let mut q = Square { weight: [half; 2], steps: [[l.start; 2]; 2], outside: [[s.mask(0); 2]; 2] };
    for k in 0..2 {
        let v = s.fsub(u[k], half);
        let base = s.ffloor(v);
        q.weight[k] = s.fsub(v, base);
        let i = s.f_to_s_raw(base);
        for side in 0..2 {
            let i = if side == 1 { s.iadd(i, s.isplat(1)) } else { i };
            let i = wrapped(s, mode(f, sampler, k), i, l.texels[k], f.pow2[k], &mut q.outside[k][side]);
            q.steps[k][side] = if k == 0 { unit.column(s, f, l, i) } else { unit.row(s, f, l, i) };
        }
    }
    q
}

/// The lanes' places on their levels, filtered linearly or not; lanes of `nearest` take the nearest texel where both
/// kinds occur.
///
/// # Safety
/// The place's shifts lead to texels of views alike, and have 32 bits with the view's own bytes.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub unsafe fn at_level<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    p: &Place<S>,
    level: S::I,
    any_linear: bool,
    any_nearest: bool,
    nearest: S::M,
    out: &mut [S::F; 4],
) {
    let mut l = levels_of(s, f, level, p.layer, T::ANY);
    l.start = s.iadd(l.start, p.shift);
    if T::ANY {
        l.count(s, f);
    }
    let u = scaled(s, sampler, p, &l);
    if any_linear {
        // SAFETY: the level is the lanes' own, with the caller's shifts.
        unsafe { linear::<S, T>(s, f, sampler, p, &l, &u, out) };
    }
    if any_nearest {
        let mut outside = s.mask(0);
        let [x, y] = nearest_at(s, f, sampler, &l, &u, T::unit(f), &mut outside);
        let at = s.iadd(x, y);
        let mut t = [s.fsplat(0.0); 4];
        // SAFETY: columns and rows have been brought inside the level, which has the caller's shifts.
        unsafe { T::load(s, f, f.base, at, &mut t) };
        T::finish(s, f, &mut t);
        settled::<S, T>(s, f, p, bordered(f, sampler), outside, true, &mut t);
        for k in 0..T::N {
            out[k] = if any_linear { s.fsel(nearest, t[k], out[k]) } else { t[k] };
        }
    }
}

/// Coordinates outside may meet the border's colour.
#[inline(always)]
pub fn bordered(f: &Fast, sampler: &Sampler) -> bool {
    !cube::seamless(f, sampler)
        && (matches!(sampler.wrap[0], Wrap::Border) || matches!(sampler.wrap[1], Wrap::Border))
}

/// [`mix`] of texels, of which those of weight 0 add nothing; `kept`: of the difference's bits, all or (where the weight
/// is 0) the sign, as the general path does it.
#[inline(always)]
pub fn weighted<S: Simd, T: Texels>(s: S, a: S::F, b: S::F, w: S::F, kept: S::I) -> S::F {
    if !T::FLOATS {
        return mix(s, a, b, w);
    }
    let d = s.from_bits(s.iand(s.bits(s.fsub(b, a)), kept));
    s.fadd(a, s.fmul(d, w))
}

/// Bits for [`weighted`].
#[inline(always)]
pub fn kept<S: Simd>(s: S, w: S::F) -> S::I {
    s.isel(s.feq(w, s.fsplat(0.0)), s.isplat(0x8000_0000), s.isplat(!0))
}

/// Where a weight has rounded to 1, just below the centre of the first texel, the texels before it have none: the next
/// ones stand in for them.
#[inline(always)]
fn settle<S: Simd>(s: S, q: &mut Square<S>) {
    for k in 0..2 {
        let all = s.feq(q.weight[k], s.fsplat(1.0));
        q.weight[k] = s.fsel(all, s.fsplat(0.0), q.weight[k]);
        q.steps[k][0] = s.isel(all, q.steps[k][1], q.steps[k][0]);
        let [a, b] = q.outside[k];
        q.outside[k][0] = s.mor(s.mand(all, b), s.mand(s.mnot(all), a));
    }
}

/// The 2×2 texels around each place, weighted.
///
/// # Safety
/// As [`at_level`]; `u` are coordinates on the levels `l`.
#[inline(always)]
unsafe fn linear<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    p: &Place<S>,
    l: &Levels<S>,
    u: &[S::F; 2],
    out: &mut [S::F; 4],
) {
    let half = s.fsplat(0.5);
    if cube::seamless(f, sampler) {
        let c = cube::corners(s, l, u);
        if s.many(c.across) {
            // SAFETY: the caller's levels and places on them.
            return unsafe { across::<S, T>(s, f, p, l, &c, out) };
        }
    }
    let mut q = square(s, f, sampler, l, u, T::unit(f));
    let mut kept = [s.isplat(!0); 2];
    if T::floats(f) {
        settle(s, &mut q);
        kept = [self::kept(s, q.weight[0]), self::kept(s, q.weight[1])];
    }
    let Square { weight, steps, outside } = q;
    let border = bordered(f, sampler);
    // What a texel's right neighbour needs not ask of memory once more.
    let bytes = f.bytes;
    let beside = s.ieq(s.iadd(steps[0][0], s.isplat(bytes)), steps[0][1]);
    let pairs = (T::WORD || T::PAIRS && bytes != 1) && s.mbits(beside) == 0xffff;
    // The row of a 1D image blends with no other.
    let alone = s.mask(if f.line { 0xFFFF } else { 0 });
    let at = |x: usize, y: usize| s.iadd(steps[0][x], steps[1][y]);
    let mut blocks = [[half; 4]; 4];
    if T::ANY {
        // SAFETY: columns and rows have been brought inside the level, which has the caller's shifts.
        unsafe { T::load4(s, f, f.base, &[at(0, 0), at(1, 0), at(0, 1), at(1, 1)], &mut blocks) };
    }
    for y in 0..2 {
        let (mut a, mut b) = ([half; 4], [half; 4]);
        let [left, right] = [at(0, y), at(1, y)];
        // SAFETY: columns and rows have been brought inside the level, which has the caller's shifts; with `pairs`, texels
        // side by side.
        unsafe {
            if T::ANY {
                (a, b) = (blocks[2 * y], blocks[2 * y + 1]);
            } else if pairs {
                T::beside(s, f, f.base, left, &mut a, &mut b);
            } else {
                T::load(s, f, f.base, left, &mut a);
                T::load(s, f, f.base, right, &mut b);
            }
        }
        let m = [s.mor(outside[0][0], outside[1][y]), s.mor(outside[0][1], outside[1][y])];
        settled::<S, T>(s, f, p, border, m[0], false, &mut a);
        settled::<S, T>(s, f, p, border, m[1], false, &mut b);
        for k in 0..T::N {
            let row = weighted::<S, T>(s, a[k], b[k], weight[0], kept[0]);
            out[k] = if y == 0 {
                row
            } else if T::FLOATS {
                s.fsel(alone, out[k], weighted::<S, T>(s, out[k], row, weight[1], kept[1]))
            } else {
                weighted::<S, T>(s, out[k], row, weight[1], kept[1])
            };
        }
    }
    T::finish(s, f, out);
}

/// [`linear`] where some lanes' texels lie on several faces of a cube. The corner of three becomes the mean of the others ("Cube
/// Map Edge Handling").
///
/// # Safety
/// As [`linear`]; the levels are of a cube.
#[inline(always)]
unsafe fn across<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    p: &Place<S>,
    l: &Levels<S>,
    c: &cube::Corners<S>,
    out: &mut [S::F; 4],
) {
    let none = s.mask(0);
    let mut t = [[s.fsplat(0.0); 4]; 4];
    let mut missing = [none; 4];
    let mut at4 = [p.layer; 4];
    for n in 0..4 {
        let at = c.texel(s, p, l, n as u32);
        missing[n] = at.none;
        let row = T::unit(f).row(s, f, &Levels { start: at.start, ..*l }, at.row);
        at4[n] = s.iadd(T::unit(f).column(s, f, l, at.column), row);
    }
    // SAFETY: texels of the cube's layers, which have the caller's shifts.
    unsafe { T::load4(s, f, f.base, &at4, &mut t) };
    for n in 0..4 {
        settled::<S, T>(s, f, p, false, none, false, &mut t[n]);
    }
    if s.many(s.mor(s.mor(missing[0], missing[1]), s.mor(missing[2], missing[3]))) {
        // Means are of results.
        let mut whole = t;
        for w in &mut whole {
            T::finish(s, f, w);
        }
        for n in 0..4 {
            let others = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]][n];
            for k in 0..T::N {
                let [a, b, c] = [whole[others[0]][k], whole[others[1]][k], whole[others[2]][k]];
                let mean = s.fdiv(s.fadd(s.fadd(a, b), c), s.fsplat(3.0));
                let mean = if T::bytes(f) { s.fmul(mean, s.fsplat(255.0)) } else { mean };
                t[n][k] = s.fsel(missing[n], mean, t[n][k]);
            }
        }
    }
    let mut weight = c.weight;
    let mut kept = [s.isplat(!0); 2];
    if T::floats(f) {
        for k in 0..2 {
            let all = s.feq(weight[k], s.fsplat(1.0));
            weight[k] = s.fsel(all, s.fsplat(0.0), weight[k]);
            kept[k] = self::kept(s, weight[k]);
            for n in 0..4 {
                if n & (1 << k) == 0 {
                    for i in 0..T::N {
                        t[n][i] = s.fsel(all, t[n | 1 << k][i], t[n][i]);
                    }
                }
            }
        }
    }
    for k in 0..T::N {
        let upper = weighted::<S, T>(s, t[0][k], t[1][k], weight[0], kept[0]);
        let lower = weighted::<S, T>(s, t[2][k], t[3][k], weight[0], kept[0]);
        out[k] = weighted::<S, T>(s, upper, lower, weight[1], kept[1]);
    }
    T::finish(s, f, out);
}

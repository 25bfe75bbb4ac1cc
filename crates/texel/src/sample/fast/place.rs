//! One level (of each lane) filtered: coordinates, wrapping, texels, weights.

use super::super::coords::LIMIT;
use super::super::sampler::{Sampler, Wrap};
use super::texels::words;
use super::{Fast, Texels, mix};
use ash::vk::CompareOp;
use simd::Simd;
use simd::ops;

/// Where the lanes sample, and what they compare with.
pub struct Place<S: Simd> {
    pub st: [S::F; 2],
    pub offset: [S::F; 2],
    pub layer: S::I,
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
    /// First texel of the layer.
    pub start: S::I,
}

#[inline(always)]
pub unsafe fn levels<S: Simd>(f: &Fast, level: S::I, layer: S::I) -> Levels<S> {
    if f.count == 1 {
        let start = S::imul(layer, S::isplat(f.layer_pitch[0]));
        return Levels {
            size: [S::fsplat(f.size[0][0]), S::fsplat(f.size[1][0])],
            texels: [S::isplat(f.texels[0][0]), S::isplat(f.texels[1][0])],
            row_pitch: S::isplat(f.row_pitch[0]),
            start,
        };
    }
    let w = pick::<S>(&f.texels[0], level);
    let h = pick::<S>(&f.texels[1], level);
    let start = S::imul(layer, pick::<S>(&f.layer_pitch, level));
    Levels {
        size: [S::s_to_f(w), S::s_to_f(h)],
        texels: [w, h],
        row_pitch: pick::<S>(&f.row_pitch, level),
        start: S::iadd(start, pick::<S>(&f.start, level)),
    }
}

#[inline(always)]
unsafe fn pick<S: Simd>(table: &[u32; 16], level: S::I) -> S::I {
    S::ishuffle(S::iloadu(table.as_ptr().cast()), level)
}

/// Texel numbers along an axis brought inside; lanes of the border are set in `outside`, and 0.
#[inline(always)]
unsafe fn wrapped<S: Simd>(mode: Wrap, i: S::I, n: S::I, pow2: bool, outside: &mut S::M) -> S::I {
    let zero = S::isplat(0);
    let last = S::isub(n, S::isplat(1));
    match mode {
        Wrap::Edge => S::smin(S::smax(i, zero), last),
        Wrap::Repeat if pow2 => S::iand(i, last),
        Wrap::MirrorEdge => S::smin(S::ixor(i, ops::sar::<S>(i, 31)), last),
        Wrap::Border => {
            // Negative numbers are large as unsigned ones.
            let out = S::ugt(i, last);
            *outside = S::mor(*outside, out);
            S::isel(out, zero, i)
        }
        Wrap::Repeat | Wrap::Mirror => {
            let mirror = matches!(mode, Wrap::Mirror);
            let period = if mirror { S::iadd(n, n) } else { n };
            // |i| ≤ 2^24 + 1, so that the quotient is at most one off.
            let q = S::f_to_s_raw(S::ffloor(S::fdiv(S::s_to_f(i), S::s_to_f(period))));
            let r = S::isub(i, S::imul(q, period));
            let r = S::isel(S::sgt(zero, r), S::iadd(r, period), r);
            let r = S::isel(S::sgt(period, r), r, S::isub(r, period));
            if !mirror {
                return r;
            }
            let back = S::isub(S::isub(period, S::isplat(1)), r);
            S::isel(S::sgt(n, r), r, back)
        }
    }
}

/// Reads texels, replaces the border's if there are some, compares. `done`: channels as results, not as they are
/// filtered.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
unsafe fn read<S: Simd, T: Texels>(
    f: &Fast,
    p: &Place<S>,
    at: S::I,
    border: bool,
    outside: S::M,
    done: bool,
    out: &mut [S::F; 4],
) {
    T::load::<S>(f.base, at, out);
    if done {
        T::finish::<S>(out);
    }
    if border {
        for k in 0..T::N {
            let b = f32::from_bits(p.border[k]);
            let b = if T::BYTES && !done { b * 255.0 } else { b };
            out[k] = S::fsel(outside, S::fsplat(b), out[k]);
        }
    }
    if T::N == 1
        && let Some(op) = p.op
    {
        out[0] = compared::<S>(op, p.dref, out[0]);
    }
}

/// 1 where the comparison of the reference with the texel holds, 0 elsewhere.
#[inline(always)]
unsafe fn compared<S: Simd>(op: CompareOp, d: S::F, t: S::F) -> S::F {
    let m = match op {
        CompareOp::LESS => S::flt(d, t),
        CompareOp::EQUAL => S::feq(d, t),
        CompareOp::LESS_OR_EQUAL => S::fle(d, t),
        CompareOp::GREATER => S::flt(t, d),
        CompareOp::NOT_EQUAL => S::fne(d, t),
        CompareOp::GREATER_OR_EQUAL => S::fle(t, d),
        CompareOp::ALWAYS => S::mask(0xffff),
        _ => S::mask(0),
    };
    S::fsel(m, S::fsplat(1.0), S::fsplat(0.0))
}

/// Unnormalised coordinates on the lanes' levels.
#[inline(always)]
pub unsafe fn scaled<S: Simd>(s: &Sampler, p: &Place<S>, l: &Levels<S>) -> [S::F; 2] {
    let mut u = [S::fsplat(0.0); 2];
    for k in 0..2 {
        let scaled = if s.unnormalized { p.st[k] } else { S::fmul(p.st[k], l.size[k]) };
        let v = S::fadd(scaled, p.offset[k]);
        // NaN gives the lower end.
        u[k] = S::fmin_raw(S::fmax_raw(v, S::fsplat(-LIMIT)), S::fsplat(LIMIT));
    }
    u
}

/// The nearest texels: offsets by column and by row, to be added; lanes of the border are set in `outside`.
#[inline(always)]
pub unsafe fn nearest_at<S: Simd>(
    f: &Fast,
    s: &Sampler,
    l: &Levels<S>,
    u: &[S::F; 2],
    shift: u32,
    outside: &mut S::M,
) -> [S::I; 2] {
    let mut steps = [l.start; 2];
    for k in 0..2 {
        let i = S::f_to_s_raw(S::ffloor(u[k]));
        let i = wrapped::<S>(s.wrap[k], i, l.texels[k], f.pow2[k], outside);
        steps[k] = if k == 0 { ops::shl::<S>(i, shift) } else { S::iadd(S::imul(i, l.row_pitch), l.start) };
    }
    steps
}

/// The nearest texels of the only level, without layers, offsets, borders and comparison: results.
#[inline(always)]
pub unsafe fn nearest<S: Simd, T: Texels>(f: &Fast, s: &Sampler, st: &[S::F; 2], out: &mut [S::F; 4]) {
    let mut u = *st;
    for k in 0..2 {
        let scaled = if s.unnormalized { st[k] } else { S::fmul(st[k], S::fsplat(f.size[k][0])) };
        u[k] = S::fmin_raw(S::fmax_raw(scaled, S::fsplat(-LIMIT)), S::fsplat(LIMIT));
    }
    let l = levels::<S>(f, S::isplat(0), S::isplat(0));
    let [x, y] = nearest_at::<S>(f, s, &l, &u, T::SHIFT, &mut S::mask(0));
    T::load::<S>(f.base, S::iadd(x, y), out);
    T::finish::<S>(out);
}

/// The 2×2 texels around places: offsets by column and by row, to be added.
pub struct Square<S: Simd> {
    pub weight: [S::F; 2],
    pub steps: [[S::I; 2]; 2],
    /// Lanes of the border, by axis and side.
    pub outside: [[S::M; 2]; 2],
}

#[inline(always)]
pub unsafe fn square<S: Simd>(f: &Fast, s: &Sampler, l: &Levels<S>, u: &[S::F; 2], shift: u32) -> Square<S> {
    let half = S::fsplat(0.5);
    let mut q = Square { weight: [half; 2], steps: [[l.start; 2]; 2], outside: [[S::mask(0); 2]; 2] };
    for k in 0..2 {
        let v = S::fsub(u[k], half);
        let base = S::ffloor(v);
        q.weight[k] = S::fsub(v, base);
        let i = S::f_to_s_raw(base);
        for side in 0..2 {
            let i = if side == 1 { S::iadd(i, S::isplat(1)) } else { i };
            let i = wrapped::<S>(s.wrap[k], i, l.texels[k], f.pow2[k], &mut q.outside[k][side]);
            q.steps[k][side] =
                if k == 0 { ops::shl::<S>(i, shift) } else { S::iadd(S::imul(i, l.row_pitch), l.start) };
        }
    }
    q
}

/// The lanes' places on their levels, filtered linearly or not; lanes of `nearest` take the nearest texel where both
/// kinds occur.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub unsafe fn at_level<S: Simd, T: Texels>(
    f: &Fast,
    s: &Sampler,
    p: &Place<S>,
    level: S::I,
    any_linear: bool,
    any_nearest: bool,
    nearest: S::M,
    out: &mut [S::F; 4],
) {
    let mut l = levels::<S>(f, level, p.layer);
    l.start = S::iadd(l.start, p.shift);
    let u = scaled::<S>(s, p, &l);
    if any_linear {
        linear::<S, T>(f, s, p, &l, &u, out);
    }
    if any_nearest {
        let mut outside = S::mask(0);
        let [x, y] = nearest_at::<S>(f, s, &l, &u, T::SHIFT, &mut outside);
        let at = S::iadd(x, y);
        let mut t = [S::fsplat(0.0); 4];
        read::<S, T>(f, p, at, bordered(s), outside, true, &mut t);
        for k in 0..T::N {
            out[k] = if any_linear { S::fsel(nearest, t[k], out[k]) } else { t[k] };
        }
    }
}

/// Coordinates outside may meet the border's colour.
#[inline(always)]
pub fn bordered(s: &Sampler) -> bool {
    matches!(s.wrap[0], Wrap::Border) || matches!(s.wrap[1], Wrap::Border)
}

/// How [`simple`] wraps: as the sampler says; both axes repeat sizes that are powers of two; both clamp to the edge.
pub const ANY: u8 = 0;
pub const REPEAT: u8 = 1;
pub const EDGE: u8 = 2;

/// Columns and rows of the 2×2 texels around places on the only level, and how far they lie between them.
#[inline(always)]
pub unsafe fn corners<S: Simd, const MODE: u8>(
    f: &Fast,
    s: &Sampler,
    st: &[S::F; 2],
) -> ([[S::I; 2]; 2], [S::F; 2]) {
    let half = S::fsplat(0.5);
    let one = S::isplat(1);
    let mut weight = [half; 2];
    let mut i = [[one; 2]; 2];
    let mut none = S::mask(0);
    for k in 0..2 {
        let u = S::fmul(st[k], S::fsplat(f.size[k][0]));
        let v = S::fsub(S::fmin_raw(S::fmax_raw(u, S::fsplat(-LIMIT)), S::fsplat(LIMIT)), half);
        let base = S::ffloor(v);
        weight[k] = S::fsub(v, base);
        let n = S::isplat(f.texels[k][0]);
        let a = S::f_to_s_raw(base);
        let (mode, pow2) = match MODE {
            REPEAT => (Wrap::Repeat, true),
            EDGE => (Wrap::Edge, false),
            _ => (s.wrap[k], f.pow2[k]),
        };
        i[k][0] = wrapped::<S>(mode, a, n, pow2, &mut none);
        i[k][1] = wrapped::<S>(mode, S::iadd(a, one), n, pow2, &mut none);
    }
    (i, weight)
}

/// [`linear`] for texels on one level without layers, offsets, borders and comparison, whose [`corners`] these are: few
/// enough values that those of one word stay in registers.
#[inline(always)]
pub unsafe fn simple<S: Simd, T: Texels>(
    f: &Fast,
    (i, weight): ([[S::I; 2]; 2], [S::F; 2]),
    out: &mut [S::F; 4],
) {
    if !T::WORD {
        return apart::<S, T>(f, i, weight, out);
    }
    let half = S::fsplat(0.5);
    let one = S::isplat(1);
    let pairs = S::mbits(S::ieq(S::iadd(i[0][0], one), i[0][1])) == 0xffff;
    let x = [ops::shl::<S>(i[0][0], 2), ops::shl::<S>(i[0][1], 2)];
    let pitch = S::isplat(f.row_pitch[0]);
    // All words are on their way before the first is used.
    let mut w = [[one; 2]; 2];
    for y in 0..2 {
        let row = S::imul(i[1][y], pitch);
        if pairs {
            w[y] = S::igather2(f.base, S::iadd(row, x[0]));
        } else {
            w[y] = [words::<S>(f.base, S::iadd(row, x[0])), words::<S>(f.base, S::iadd(row, x[1]))];
        }
    }
    for y in 0..2 {
        let (mut a, mut b) = ([half; 4], [half; 4]);
        T::unpack::<S>(w[y][0], &mut a);
        T::unpack::<S>(w[y][1], &mut b);
        for k in 0..T::N {
            let row = mix::<S>(a[k], b[k], weight[0]);
            out[k] = if y == 0 { row } else { mix::<S>(out[k], row, weight[1]) };
        }
    }
    T::finish::<S>(out);
}

/// [`mix`] of texels, of which those of weight 0 add nothing; `kept`: of the difference's bits, all or (where the weight
/// is 0) the sign, as the general path does it.
#[inline(always)]
unsafe fn weighted<S: Simd, T: Texels>(a: S::F, b: S::F, w: S::F, kept: S::I) -> S::F {
    if !T::FLOATS {
        return mix::<S>(a, b, w);
    }
    let d = S::from_bits(S::iand(S::bits(S::fsub(b, a)), kept));
    S::fadd(a, S::fmul(d, w))
}

/// Bits for [`weighted`].
#[inline(always)]
unsafe fn kept<S: Simd>(w: S::F) -> S::I {
    S::isel(S::feq(w, S::fsplat(0.0)), S::isplat(0x8000_0000), S::isplat(!0))
}

/// [`simple`] for texels of other sizes.
#[inline(always)]
unsafe fn apart<S: Simd, T: Texels>(
    f: &Fast,
    mut i: [[S::I; 2]; 2],
    mut weight: [S::F; 2],
    out: &mut [S::F; 4],
) {
    let half = S::fsplat(0.5);
    let mut kept = [S::isplat(!0); 2];
    if T::FLOATS {
        // As `settle`.
        for k in 0..2 {
            let all = S::feq(weight[k], S::fsplat(1.0));
            weight[k] = S::fsel(all, S::fsplat(0.0), weight[k]);
            i[k][0] = S::isel(all, i[k][1], i[k][0]);
            kept[k] = self::kept::<S>(weight[k]);
        }
    }
    let x = [ops::shl::<S>(i[0][0], T::SHIFT), ops::shl::<S>(i[0][1], T::SHIFT)];
    let right = S::ieq(S::iadd(i[0][0], S::isplat(1)), i[0][1]);
    let pairs = T::PAIRS && f.last.is_some() && S::mbits(right) == 0xffff;
    let last = S::isplat(f.last.unwrap_or(0));
    for y in 0..2 {
        if y == 1 && f.line {
            break;
        }
        let row = S::imul(i[1][y], S::isplat(f.row_pitch[0]));
        let (mut a, mut b) = ([half; 4], [half; 4]);
        if pairs {
            T::pair::<S>(f.base, S::iadd(row, x[0]), last, &mut a, &mut b);
        } else {
            T::load::<S>(f.base, S::iadd(row, x[0]), &mut a);
            T::load::<S>(f.base, S::iadd(row, x[1]), &mut b);
        }
        for k in 0..T::N {
            let row = weighted::<S, T>(a[k], b[k], weight[0], kept[0]);
            out[k] = if y == 0 { row } else { weighted::<S, T>(out[k], row, weight[1], kept[1]) };
        }
    }
    T::finish::<S>(out);
}

/// Where a weight has rounded to 1, just below the centre of the first texel, the texels before it have none: the next
/// ones stand in for them.
#[inline(always)]
unsafe fn settle<S: Simd>(q: &mut Square<S>) {
    for k in 0..2 {
        let all = S::feq(q.weight[k], S::fsplat(1.0));
        q.weight[k] = S::fsel(all, S::fsplat(0.0), q.weight[k]);
        q.steps[k][0] = S::isel(all, q.steps[k][1], q.steps[k][0]);
        let [a, b] = q.outside[k];
        q.outside[k][0] = S::mor(S::mand(all, b), S::mand(S::mnot(all), a));
    }
}

/// The 2×2 texels around each place, weighted.
#[inline(always)]
unsafe fn linear<S: Simd, T: Texels>(
    f: &Fast,
    s: &Sampler,
    p: &Place<S>,
    l: &Levels<S>,
    u: &[S::F; 2],
    out: &mut [S::F; 4],
) {
    let half = S::fsplat(0.5);
    let mut q = square::<S>(f, s, l, u, T::SHIFT);
    let mut kept = [S::isplat(!0); 2];
    if T::FLOATS {
        settle::<S>(&mut q);
        kept = [self::kept::<S>(q.weight[0]), self::kept::<S>(q.weight[1])];
    }
    let Square { weight, steps, outside } = q;
    let border = bordered(s);
    // The row of a 1D image blends with no other.
    let alone = S::mask(if f.line { 0xFFFF } else { 0 });
    for y in 0..2 {
        let (mut a, mut b) = ([half; 4], [half; 4]);
        let m = S::mor(outside[0][0], outside[1][y]);
        read::<S, T>(f, p, S::iadd(steps[0][0], steps[1][y]), border, m, false, &mut a);
        let m = S::mor(outside[0][1], outside[1][y]);
        read::<S, T>(f, p, S::iadd(steps[0][1], steps[1][y]), border, m, false, &mut b);
        for k in 0..T::N {
            let row = weighted::<S, T>(a[k], b[k], weight[0], kept[0]);
            out[k] = if y == 0 {
                row
            } else if T::FLOATS {
                S::fsel(alone, out[k], weighted::<S, T>(out[k], row, weight[1], kept[1]))
            } else {
                weighted::<S, T>(out[k], row, weight[1], kept[1])
            };
        }
    }
    T::finish::<S>(out);
}

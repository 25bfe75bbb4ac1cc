//! The blend equation (§ Blending): sixteen pixels at a time, in registers, for each kind of pixels.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::blend::Writer;
use ash::vk::{BlendFactor as F, BlendOp};
use simd::{Level, Simd};
use texel::format::pixels::Pixels;
use texel::row::Row;

/// [`run`] of a kind of pixels: the writer, places, the first warp, both sources, lanes.
pub(super) type Blend = unsafe fn(&Writer, &[*mut u8], usize, &[Row; 4], Option<&[Row; 4]>, &[u16]);

/// A function of its own a kind.
pub(super) fn of<P: Pixels>(level: Level) -> Blend {
    simd::form!(
        level,
        <P: Pixels> unsafe fn(
            writer: &Writer,
            at: &[*mut u8],
            first: usize,
            src: &[Row; 4],
            src1: Option<&[Row; 4]>,
            masks: &[u16],
        ) = run::<_, P>
    )
}

/// Warps `first..first + at.len()` of a wave into sixteen pixels each.
///
/// # Safety
/// Sixteen pixels of the writer's format, which is of this kind, are at each place; the rows hold these warps.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn run<S: Simd, P: Pixels>(
    s: S,
    writer: &Writer,
    at: &[*mut u8],
    first: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    masks: &[u16],
) {
    let codes = &writer.codes;
    let zero = [s.isplat(0); 4];
    let (mut old, mut below) = ([zero; APART], [[s.fsplat(0.0); 4]; APART]);
    for from in (0..at.len()).step_by(APART) {
        let n = APART.min(at.len() - from);
        if P::LONG {
            for i in 0..n {
                // SAFETY: the caller's pixels (all of it).
                old[i] = unsafe { P::load(s, codes, at[from + i]) };
                below[i] = P::decode(s, codes, &old[i]);
            }
        }
        for i in 0..n {
            let (at, mask, w) = (at[from + i], masks[from + i], first + from + i);
            // SAFETY: the caller's rows (here and below).
            let a = unsafe { operands::<S, P>(s, src, w) };
            let b = match src1 {
                Some(src1) => unsafe { operands::<S, P>(s, src1, w) },
                None => a,
            };
            let (mut before, mut d) = (old[i], below[i]);
            if !P::LONG {
                before = unsafe { P::load(s, codes, at) };
                d = P::decode(s, codes, &before);
            }
            let mut new = P::encode(s, codes, &equation(s, writer, P::CHANNELS, &a, &d, &b));
            if mask != 0xFFFF || writer.keep.is_some() {
                let lanes = s.isel(s.mask(mask), s.isplat(!0), s.isplat(0));
                let select = P::select(s, lanes, &writer.keep.unwrap_or([!0; 4]));
                for k in 0..P::VECTORS {
                    new[k] = s.ior(s.iand(select[k], new[k]), s.iandn(select[k], before[k]));
                }
            }
            unsafe { P::store(s, codes, at, &new) };
        }
    }
}

/// Warps whose pixels are read before any of them is blended, where that takes long: a CPU has only so many instructions in
/// flight, and what a warp does waits for what it did before.
const APART: usize = 4;

/// Channels of a warp as operands: those that pixels have, and alpha.
///
/// # Safety
/// The rows hold the warp.
#[inline(always)]
unsafe fn operands<S: Simd, P: Pixels>(s: S, rows: &[Row; 4], w: usize) -> [S::F; 4] {
    let mut out = [s.fsplat(0.0); 4];
    for c in 0..4 {
        if c < P::CHANNELS || c == 3 {
            // SAFETY: the caller's rows.
            let v = unsafe { rows[c].float(s, w) };
            out[c] = if P::UNIT { s.fmin_raw(s.fmax_raw(v, s.fsplat(0.0)), s.fsplat(1.0)) } else { v };
        }
    }
    out
}

/// The first `n` channels: source `a`, destination `d`, second source `b`.
#[inline(always)]
pub(super) fn equation<S: Simd>(
    s: S,
    writer: &Writer,
    n: usize,
    a: &[S::F; 4],
    d: &[S::F; 4],
    b: &[S::F; 4],
) -> [S::F; 4] {
    let e = &writer.blend;
    let colors = n.min(3);
    let mut out = part(s, writer, e.color_op, (e.src_color, e.dst_color), 0, colors, (a, d, b));
    if n == 4 {
        out[3] = part(s, writer, e.alpha_op, (e.src_alpha, e.dst_alpha), 3, 4, (a, d, b))[3];
    }
    out
}

/// Channels `from..to`.
#[inline(always)]
fn part<S: Simd>(
    s: S,
    writer: &Writer,
    op: BlendOp,
    (sf, df): (F, F),
    from: usize,
    to: usize,
    (a, d, b): (&[S::F; 4], &[S::F; 4], &[S::F; 4]),
) -> [S::F; 4] {
    let mut out = *a;
    if matches!(op, BlendOp::MIN | BlendOp::MAX) {
        let least = op == BlendOp::MIN;
        for c in from..to {
            out[c] = if least { s.fmin_raw(a[c], d[c]) } else { s.fmax_raw(a[c], d[c]) };
        }
        return out;
    }
    let x = times(s, writer, sf, from, to, a, (a, d, b));
    let y = times(s, writer, df, from, to, d, (a, d, b));
    match op {
        BlendOp::SUBTRACT => {
            for c in from..to {
                out[c] = s.fsub(x[c], y[c]);
            }
        }
        BlendOp::REVERSE_SUBTRACT => {
            for c in from..to {
                out[c] = s.fsub(y[c], x[c]);
            }
        }
        _ => {
            for c in from..to {
                out[c] = s.fadd(x[c], y[c]);
            }
        }
    }
    out
}

/// Channels `from..to` of `v` times their factor.
#[inline(always)]
pub(super) fn times<S: Simd>(
    s: S,
    writer: &Writer,
    f: F,
    from: usize,
    to: usize,
    v: &[S::F; 4],
    (a, d, b): (&[S::F; 4], &[S::F; 4], &[S::F; 4]),
) -> [S::F; 4] {
    let one = s.fsplat(1.0);
    let mut out = *v;
    // What kind of factor it is, once for all channels.
    macro_rules! each {
        ($c:ident => $k:expr) => {
            for $c in from..to {
                out[$c] = s.fmul(v[$c], $k);
            }
        };
    }
    let k = &writer.constants;
    match f {
        F::ZERO => {
            for c in from..to {
                out[c] = s.fsplat(0.0);
            }
        }
        F::SRC_COLOR => each!(c => a[c]),
        F::ONE_MINUS_SRC_COLOR => each!(c => s.fsub(one, a[c])),
        F::DST_COLOR => each!(c => d[c]),
        F::ONE_MINUS_DST_COLOR => each!(c => s.fsub(one, d[c])),
        F::SRC_ALPHA => each!(c => a[3]),
        F::ONE_MINUS_SRC_ALPHA => {
            let k = s.fsub(one, a[3]);
            each!(c => k)
        }
        F::DST_ALPHA => each!(c => d[3]),
        F::ONE_MINUS_DST_ALPHA => {
            let k = s.fsub(one, d[3]);
            each!(c => k)
        }
        F::CONSTANT_COLOR => each!(c => s.fsplat(k[c])),
        F::ONE_MINUS_CONSTANT_COLOR => each!(c => s.fsub(one, s.fsplat(k[c]))),
        F::CONSTANT_ALPHA => each!(c => s.fsplat(k[3])),
        F::ONE_MINUS_CONSTANT_ALPHA => each!(c => s.fsub(one, s.fsplat(k[3]))),
        // (Of alpha it is one.)
        F::SRC_ALPHA_SATURATE if from < 3 => {
            let k = s.fmin_raw(a[3], s.fsub(one, d[3]));
            each!(c => k)
        }
        F::SRC1_COLOR => each!(c => b[c]),
        F::ONE_MINUS_SRC1_COLOR => each!(c => s.fsub(one, b[c])),
        F::SRC1_ALPHA => each!(c => b[3]),
        F::ONE_MINUS_SRC1_ALPHA => {
            let k = s.fsub(one, b[3]);
            each!(c => k)
        }
        _ => {}
    }
    out
}

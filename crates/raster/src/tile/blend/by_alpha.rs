//! Blending into four unorm bytes by addition, with factors that are linear in the source's alpha: the usual ones. The tests compare the bits
//! with those of the general path for such factors.

use super::{Warps, fixed};
use crate::state::BlendAttachment;
use ash::vk::BlendFactor as F;
use simd::Simd;
use texel::row::Row;

/// Source and destination factor, each `[c, d]` for c + d · alpha. Exact: c and d are such that at most one of the
/// product and the sum rounds, as the factor's own formula does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ByAlpha {
    color: [[f32; 2]; 2],
    alpha: [[f32; 2]; 2],
}

impl ByAlpha {
    /// `None` if a factor is of another kind.
    pub fn new(b: &BlendAttachment, constants: &[f32; 4]) -> Option<ByAlpha> {
        let factor = |f: F, alpha: bool| {
            Some(match f {
                F::ZERO => [0.0, 0.0],
                F::ONE => [1.0, 0.0],
                F::SRC_ALPHA => [0.0, 1.0],
                F::ONE_MINUS_SRC_ALPHA => [1.0, -1.0],
                F::SRC_COLOR if alpha => [0.0, 1.0],
                F::ONE_MINUS_SRC_COLOR if alpha => [1.0, -1.0],
                F::CONSTANT_ALPHA => [constants[3], 0.0],
                F::ONE_MINUS_CONSTANT_ALPHA => [1.0 - constants[3], 0.0],
                F::CONSTANT_COLOR if alpha => [constants[3], 0.0],
                F::ONE_MINUS_CONSTANT_COLOR if alpha => [1.0 - constants[3], 0.0],
                _ => return None,
            })
        };
        Some(ByAlpha {
            color: [factor(b.src_color, false)?, factor(b.dst_color, false)?],
            alpha: [factor(b.src_alpha, true)?, factor(b.dst_alpha, true)?],
        })
    }
}

/// c + d · alpha.
#[inline(always)]
fn linear<S: Simd>(s: S, k: [f32; 2], alpha: S::F) -> S::F {
    s.fadd(s.fsplat(k[0]), s.fmul(s.fsplat(k[1]), alpha))
}

/// What a warp's alpha says.
#[derive(Clone, Copy)]
struct OfAlpha<S: Simd> {
    /// The source's factor for colours.
    source: S::F,
    /// Alpha's own term, for the upper half.
    term: S::I,
    /// The destination's factors.
    factor: [S::I; 2],
}

#[inline(always)]
fn of_alpha<S: Simd>(s: S, k: &ByAlpha, alpha: S::F) -> OfAlpha<S> {
    let source = linear(s, k.color[0], alpha);
    let own = if k.alpha[0] == k.color[0] { source } else { linear(s, k.alpha[0], alpha) };
    let d = linear(s, k.color[1], alpha);
    let color = fixed::fixed(s, d, fixed::FACTOR, false);
    let both = s.ior(color, s.ishl(color, s.isplat(16)));
    let last = if k.alpha[1] == k.color[1] {
        both
    } else {
        let e = linear(s, k.alpha[1], alpha);
        fixed::pair(s, color, fixed::fixed(s, e, fixed::FACTOR, true))
    };
    let term = fixed::fixed(s, s.fmul(alpha, own), fixed::TERM, true);
    OfAlpha { source, term, factor: [both, last] }
}

/// Clamped to 0 … 1; NaN gives 0.
///
/// # Safety
/// As [`Row::words`].
#[inline(always)]
unsafe fn unit<S: Simd>(s: S, row: &Row, w: usize) -> S::F {
    // SAFETY: as the caller says.
    let v = unsafe { row.float(s, w) };
    s.fmin_raw(s.fmax_raw(v, s.fsplat(0.0)), s.fsplat(1.0))
}

/// A colour's term.
///
/// # Safety
/// As [`Row::words`].
#[inline(always)]
unsafe fn color<S: Simd>(s: S, row: &Row, w: usize, of: &OfAlpha<S>, high: bool) -> S::I {
    // SAFETY: as the caller says.
    let v = unsafe { unit(s, row, w) };
    fixed::fixed(s, s.fmul(v, of.source), fixed::TERM, high)
}

/// Blends warps of a wave into their blocks of sixteen pixels each at `base`; `swap`: blue comes first.
///
/// # Safety
/// The rows hold these warps, the tile these blocks.
#[inline(always)]
pub unsafe fn run<S: Simd>(s: S, k: &ByAlpha, swap: bool, base: *mut u8, blocks: &[u8], warps: &Warps) {
    let [r, g, b, a] = *warps.src;
    let src = if swap { [b, g, r, a] } else { [r, g, b, a] };
    // SAFETY: as the caller says.
    unsafe {
        match a.same() {
            false => body::<S, false>(s, k, base, blocks, &Warps { src: &src, ..*warps }),
            true => body::<S, true>(s, k, base, blocks, &Warps { src: &src, ..*warps }),
        }
    }
}

/// The rows of the channels are in the order of the bytes. `SAME`: alpha is the same in all warps.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn body<S: Simd, const SAME: bool>(s: S, k: &ByAlpha, base: *mut u8, blocks: &[u8], warps: &Warps) {
    let &Warps { src, first, masks, .. } = warps;
    // SAFETY: the rows hold these warps (here and below).
    let mut of = of_alpha(s, k, unsafe { unit(s, &src[3], first) });
    let same = SAME && src[2].same();
    let mut last = fixed::pair(s, unsafe { color(s, &src[2], first, &of, false) }, of.term);
    for (i, b) in blocks.iter().enumerate() {
        let w = first + i;
        if !SAME {
            of = of_alpha(s, k, unsafe { unit(s, &src[3], w) });
        }
        let colors =
            unsafe { fixed::pair(s, color(s, &src[0], w, &of, false), color(s, &src[1], w, &of, true)) };
        if !same {
            last = fixed::pair(s, unsafe { color(s, &src[2], w, &of, false) }, of.term);
        }
        // SAFETY: the tile has the block.
        unsafe { fixed::blend(s, base.add(*b as usize * 64), [colors, last], of.factor, masks[i]) };
    }
}

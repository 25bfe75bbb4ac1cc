//! Blending into four unorm bytes by addition, with factors linear in the source's alpha: the usual ones. The bits are
//! those of `blend`'s general way for such factors, which the tests compare.

use super::blend8;
use super::row::Row;
use crate::state::BlendAttachment;
use ash::vk::BlendFactor as F;
use simd::Simd;

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

/// Factors of a warp: the source's as they are, the destination's in 16-bit fixed point; colour and alpha.
struct Factors<S: Simd> {
    source: [S::F; 2],
    destination: [S::I; 2],
}

#[inline(always)]
fn factors<S: Simd>(s: S, k: &ByAlpha, alpha: S::F) -> Factors<S> {
    let source = [linear(s, k.color[0], alpha), linear(s, k.alpha[0], alpha)];
    let d = [linear(s, k.color[1], alpha), linear(s, k.alpha[1], alpha)];
    Factors { source, destination: [fixed(s, d[0], 32767.0), fixed(s, d[1], 32767.0)] }
}

#[inline(always)]
fn linear<S: Simd>(s: S, k: [f32; 2], alpha: S::F) -> S::F {
    s.fadd(s.fsplat(k[0]), s.fmul(s.fsplat(k[1]), alpha))
}

#[inline(always)]
fn fixed<S: Simd>(s: S, v: S::F, scale: f32) -> S::I {
    s.f_to_s_raw(s.fadd(s.fmul(v, s.fsplat(scale)), s.fsplat(0.5)))
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

/// Blends the warps `first..first + blocks.len()` of a wave into their blocks of sixteen pixels each at `base`.
///
/// # Safety
/// The rows hold these warps, the tile these blocks.
#[inline(always)]
pub unsafe fn run<S: Simd>(
    s: S,
    k: &ByAlpha,
    swap: bool,
    base: *mut u8,
    blocks: &[u8],
    first: usize,
    src: &[Row; 4],
    masks: &[u16],
) {
    // SAFETY: as the caller says.
    unsafe {
        match (swap, src[3].same()) {
            (false, false) => body::<S, false, false>(s, k, base, blocks, first, src, masks),
            (false, true) => body::<S, false, true>(s, k, base, blocks, first, src, masks),
            (true, false) => body::<S, true, false>(s, k, base, blocks, first, src, masks),
            (true, true) => body::<S, true, true>(s, k, base, blocks, first, src, masks),
        }
    }
}

/// `SWAP`: blue comes first. `SAME`: alpha is the same in all warps.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn body<S: Simd, const SWAP: bool, const SAME: bool>(
    s: S,
    k: &ByAlpha,
    base: *mut u8,
    blocks: &[u8],
    first: usize,
    src: &[Row; 4],
    masks: &[u16],
) {
    // SAFETY: the rows hold these warps (here and below).
    let mut a = unsafe { unit(s, &src[3], first) };
    let mut f = factors(s, k, a);
    for (i, b) in blocks.iter().enumerate() {
        let w = first + i;
        if !SAME {
            a = unsafe { unit(s, &src[3], w) };
            f = factors(s, k, a);
        }
        // SAFETY: as above.
        let (r, g, b0) = unsafe { (unit(s, &src[0], w), unit(s, &src[1], w), unit(s, &src[2], w)) };
        let scale = 255.0 * 128.0;
        let r = fixed(s, s.fmul(r, f.source[0]), scale);
        let g = fixed(s, s.fmul(g, f.source[0]), scale);
        let b0 = fixed(s, s.fmul(b0, f.source[0]), scale);
        let a = fixed(s, s.fmul(a, f.source[1]), scale);
        let [d, e] = f.destination;
        let term = if SWAP { [b0, g, r, a] } else { [r, g, b0, a] };
        // SAFETY: the tile has the block.
        unsafe { blend8::blend(s, base.add(*b as usize * 64), &term, &[d, d, d, e], masks[i]) };
    }
}

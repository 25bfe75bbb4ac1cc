//! Blending, logic operations and writes of pixels into a tile (§ The Framebuffer): how an attachment is written, and the paths for four unorm
//! bytes. [`wave`] has the path for any format.

pub mod advanced;
pub mod blocks;
pub mod by_alpha;
pub mod equation;
pub mod fixed;
pub mod shader;
pub mod wave;
pub mod whole;

use crate::state::{Advanced, Blend, BlendAttachment};
use advanced::is_advanced;
use ash::vk;
use blocks::write_blocks;
use by_alpha::ByAlpha;
use equation::{Factors, Operands};
use simd::Simd;
use std::ops::Range;
use texel::format::pixels::{Codes, PixelKind};
use texel::format::wave::Plan;
use texel::format::{Component, FormatInfo, NumClass};
use texel::row::Row;
use texel::vector;
use wave::write_warps;

/// Sixteen lanes of four channels, raw bits.
pub type Colors = [[u32; 16]; 4];

/// Warps of a wave that are written: their colours, and lanes of each.
#[derive(Clone, Copy)]
pub struct Warps<'a> {
    /// Rows of the four channels, and of the second source's.
    pub src: &'a [Row; 4],
    pub src1: Option<&'a [Row; 4]>,
    /// The rows' first warp that is written.
    pub first: usize,
    /// Lanes of each warp that is written.
    pub masks: &'a [u16],
}

impl<'a> Warps<'a> {
    /// Some of these warps.
    #[inline(always)]
    pub fn part(&self, of: Range<usize>) -> Warps<'a> {
        Warps { first: self.first + of.start, masks: &self.masks[of], ..*self }
    }
}

/// How one colour attachment is written; chosen once a draw.
#[derive(Clone)]
pub struct Writer {
    format: &'static FormatInfo,
    pub(in crate::tile) plan: Plan,
    pub(in crate::tile) codes: Codes,
    pub(in crate::tile) factors: Factors,
    /// Pixels are written by `blend_equation`, as such.
    pub(in crate::tile) equation: Option<PixelKind>,
    pub(in crate::tile) bytes: usize,
    pub(in crate::tile) kind: BlendPath,
    pub(in crate::tile) blend: BlendAttachment,
    pub(in crate::tile) constants: [f32; 4],
    pub(in crate::tile) logic: Option<vk::LogicOp>,
    /// Bits of a pixel's words that may change, where not all may.
    pub(in crate::tile) keep: Option<[u32; 4]>,
    /// Least and greatest blend operand of fixed-point formats.
    pub(in crate::tile) range: Option<[f32; 2]>,
    by_shader: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::tile) enum BlendPath {
    /// Nothing is written.
    None,
    /// Four unorm bytes; the channel of byte i: 0, 1, 2, 3 or 2, 1, 0, 3.
    Bytes {
        swap: bool,
        blend: bool,
    },
    /// Four unorm bytes, blended by addition with factors that don't depend on the destination.
    Fixed {
        swap: bool,
    },
    /// The same, with factors that depend on nothing but the source's alpha.
    ByAlpha {
        swap: bool,
        factors: ByAlpha,
    },
    Generic,
}

impl Writer {
    pub fn new(format: &'static FormatInfo, blend: &Blend, index: usize) -> Writer {
        let off = BlendAttachment {
            enable: false,
            src_color: vk::BlendFactor::ONE,
            dst_color: vk::BlendFactor::ZERO,
            color_op: vk::BlendOp::ADD,
            src_alpha: vk::BlendFactor::ONE,
            dst_alpha: vk::BlendFactor::ZERO,
            alpha_op: vk::BlendOp::ADD,
            write: vk::ColorComponentFlags::empty(),
            advanced: Advanced::default(),
        };
        let mut b = blend.attachments.get(index).copied().unwrap_or(off);
        // Logic operations replace blending; on formats that have none they do nothing (§ Logical Operations).
        let logical = format.is_integer() || matches!(format.class, NumClass::Unorm | NumClass::Snorm);
        let logic = blend.logic_op.filter(|_| logical);
        let pixels = PixelKind::of(format);
        // (What has no equation is not blendable.)
        if blend.logic_op.is_some() || format.is_integer() || pixels.is_none() {
            b.enable = false;
        }
        let present: Vec<_> = format.components().iter().map(|c| 1u32 << c.channel()).collect();
        let all = present.iter().fold(0, |a, b| a | b);
        let write = b.write.as_raw() & all;
        let keep = (write != all).then(|| {
            let mut words = [0u32; 4];
            for c in format.components().iter().filter(|c| write >> c.channel() & 1 != 0) {
                // (No component crosses a word.)
                words[c.offset as usize / 32] |= (u32::MAX >> (32 - c.bits)) << (c.offset % 32);
            }
            words
        });
        let swap = match format.format {
            vk::Format::R8G8B8A8_UNORM | vk::Format::A8B8G8R8_UNORM_PACK32 => Some(false),
            vk::Format::B8G8R8A8_UNORM => Some(true),
            _ => None,
        };
        let kind = match swap {
            _ if write == 0 => BlendPath::None,
            _ if b.enable && is_advanced(b.color_op) => BlendPath::Generic,
            Some(swap) if keep.is_none() && logic.is_none() && b.enable && simple(&b) => {
                match ByAlpha::new(&b, &blend.constants.map(|c| c.clamp(0.0, 1.0))) {
                    Some(factors) => BlendPath::ByAlpha { swap, factors },
                    None => BlendPath::Fixed { swap },
                }
            }
            Some(swap) if keep.is_none() && logic.is_none() => BlendPath::Bytes { swap, blend: b.enable },
            _ => BlendPath::Generic,
        };
        let range = match format.class {
            NumClass::Unorm | NumClass::Srgb => Some([0.0, 1.0]),
            NumClass::Snorm => Some([-1.0, 1.0]),
            _ => None,
        };
        let mut constants = blend.constants;
        if let Some([lo, hi]) = range {
            constants.iter_mut().for_each(|c| *c = c.clamp(lo, hi));
        }
        let opaque = !b.enable && logic.is_none() && keep.is_none();
        Writer {
            by_shader: shader::needed(format, &b, logic.is_some(), opaque),
            format,
            bytes: format.block_bytes as usize,
            kind,
            blend: b,
            constants,
            logic,
            keep,
            range,
            plan: Plan::new(format),
            codes: Codes::new(format),
            factors: Factors::new(&b),
            equation: pixels.filter(|_| !(b.enable && is_advanced(b.color_op))),
        }
    }

    pub fn writes(&self) -> bool {
        self.kind != BlendPath::None
    }
    /// Replaces all of a pixel, whatever was there.
    pub fn opaque(&self) -> bool {
        self.writes() && !self.blend.enable && self.logic.is_none() && self.keep.is_none()
    }
    /// A Mali would blend with a shader.
    pub fn by_shader(&self) -> bool {
        self.by_shader
    }
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// Half a step of the format's channels, where they have steps.
    pub(in crate::tile) fn half(&self) -> f32 {
        let steps = |c: &Component| ((1u64 << c.bits.clamp(1, 32)) - 1) as f32;
        match (self.range, self.format.components()) {
            (Some([lo, hi]), [c, ..]) => 0.5 * (hi - lo) / steps(c),
            _ => 0.0,
        }
    }

    /// Writes the lanes of `mask` to sixteen consecutive pixels.
    ///
    /// # Safety
    /// `px` points to sixteen pixels of the format.
    #[inline(always)]
    pub unsafe fn write<S: Simd>(
        &self,
        s: S,
        px: *mut u8,
        src: &[S::I; 4],
        src1: Option<&[S::I; 4]>,
        mask: u16,
    ) {
        match self.kind {
            BlendPath::None => {}
            // SAFETY: sixteen pixels of four bytes (here and below).
            BlendPath::Bytes { swap, blend: false } => unsafe { self.replace4(s, px, src, mask, swap) },
            BlendPath::Bytes { swap, blend: true } => unsafe { self.blend4(s, px, src, src1, mask, swap) },
            BlendPath::Fixed { swap } => unsafe { self.fixed(s, px, src, src1, mask, swap) },
            BlendPath::ByAlpha { .. } => {
                let src = stored(s, src);
                // SAFETY: one block, of the caller's pixels; the rows are one for all warps.
                unsafe {
                    let warps = Warps { src: &rows(&src), src1: None, first: 0, masks: &[mask] };
                    write_blocks(s.level(), self, px, &[0], &warps);
                }
            }
            BlendPath::Generic => {
                let (src, src1) = (stored(s, src), src1.map(|c| stored(s, c)));
                let second = src1.as_ref().map(rows);
                // SAFETY: the caller's sixteen pixels.
                unsafe {
                    let warps = Warps { src: &rows(&src), src1: second.as_ref(), first: 0, masks: &[mask] };
                    write_warps(s.level(), self, &[px], &warps);
                }
            }
        }
    }

    /// Writes the lanes of `mask` to four quads of pixels of four bytes.
    ///
    /// # Safety
    /// `at` points to four pixels of the format each; the quads of `mask` do not overlap.
    #[inline(always)]
    pub unsafe fn write_quads4<S: Simd>(
        &self,
        s: S,
        at: [*mut u8; 4],
        src: &[S::I; 4],
        src1: Option<&[S::I; 4]>,
        mask: u16,
    ) {
        // SAFETY: the caller's quads.
        let old = unsafe { s.iload4(at) };
        let new = match self.kind {
            BlendPath::Bytes { swap, blend: false } => self.new4(s, old, src, None, swap, false),
            // (A separate function: the code that writes quads is large enough.)
            _ => {
                let mut px = [0u32; 16];
                vector::store(s, &mut px, old);
                let second = src1.map(|c| stored(s, c));
                // All lanes are no more work than some; lanes outside the mask are dropped below.
                let lanes = if self.kind == BlendPath::Generic { mask } else { 0xFFFF };
                let px_at = px.as_mut_ptr().cast();
                // SAFETY: sixteen pixels of four bytes.
                unsafe { write_at(s.level(), self, px_at, &stored(s, src), second.as_ref(), lanes) };
                vector::load(s, &px)
            }
        };
        // SAFETY: as above.
        unsafe { s.istore4(at, s.isel(s.mask(mask), new, old)) };
    }

    /// Whether pixels have four bytes and are replaced; if so, whether red and blue change places.
    #[inline(always)]
    pub fn replaces_four_bytes(&self) -> Option<bool> {
        match self.kind {
            BlendPath::Bytes { swap, blend: false } => Some(swap),
            _ => None,
        }
    }

    /// Replaces the lanes of `mask` of sixteen pixels.
    ///
    /// # Safety
    /// `px` points to sixteen pixels of four bytes.
    #[inline(always)]
    pub(in crate::tile) unsafe fn replace4<S: Simd>(
        &self,
        s: S,
        px: *mut u8,
        src: &[S::I; 4],
        mask: u16,
        swap: bool,
    ) {
        let new = self.new4(s, s.isplat(0), src, None, swap, false);
        // SAFETY: the caller's sixteen pixels.
        unsafe { put4(s, px, mask, new) };
    }

    /// Blends the lanes of `mask` into sixteen pixels.
    ///
    /// # Safety
    /// As [`Self::replace4`].
    #[inline(always)]
    unsafe fn blend4<S: Simd>(
        &self,
        s: S,
        px: *mut u8,
        src: &[S::I; 4],
        src1: Option<&[S::I; 4]>,
        mask: u16,
        swap: bool,
    ) {
        // SAFETY: the caller's sixteen pixels.
        let old = unsafe { s.iloadu(px) };
        let new = self.new4(s, old, src, src1, swap, true);
        // SAFETY: the caller's sixteen pixels.
        unsafe { put4(s, px, mask, new) };
    }

    /// What becomes of sixteen pixels of four bytes.
    #[inline(always)]
    pub(in crate::tile) fn new4<S: Simd>(
        &self,
        s: S,
        old: S::I,
        src: &[S::I; 4],
        src1: Option<&[S::I; 4]>,
        swap: bool,
        blend: bool,
    ) -> S::I {
        let shift = |c: usize| s.isplat(8 * if swap && c < 3 { 2 - c } else { c } as u32);
        let mut a = [s.fsplat(0.0); 4];
        for c in 0..4 {
            a[c] = s.from_bits(src[c]);
        }
        if blend {
            let mut d = a;
            let mut a1 = a;
            for c in 0..4 {
                // The product differs from the exact quotient by far less than a code.
                let code = s.iand(s.ishr(old, shift(c)), s.isplat(0xFF));
                d[c] = s.fmul(s.s_to_f(code), s.fsplat(1.0 / 255.0));
                a[c] = unit(s, a[c]);
                if let Some(src1) = src1 {
                    a1[c] = unit(s, s.from_bits(src1[c]));
                }
            }
            a = Operands::new(s, self, &a, &d, &a1).blended(s, self, 4);
        }
        let mut new = s.isplat(0);
        for c in 0..4 {
            // As `num::f32_to_unorm`; NaN becomes 0.
            let v = s.fadd(s.fmul(unit(s, a[c]), s.fsplat(255.0)), s.fsplat(0.5));
            new = s.ior(new, s.ishl(s.f_to_s_raw(v), shift(c)));
        }
        new
    }

    /// # Safety
    /// As [`Self::replace4`].
    #[inline(always)]
    unsafe fn fixed<S: Simd>(
        &self,
        s: S,
        px: *mut u8,
        src: &[S::I; 4],
        src1: Option<&[S::I; 4]>,
        mask: u16,
        swap: bool,
    ) {
        let mut a = [s.fsplat(0.0); 4];
        for c in 0..4 {
            a[c] = unit(s, s.from_bits(src[c]));
        }
        let mut a1 = a;
        if let Some(src1) = src1 {
            for c in 0..4 {
                a1[c] = unit(s, s.from_bits(src1[c]));
            }
        }
        let mut term = *src;
        let mut factor = *src;
        // (No factor is of the destination.)
        let of = Operands::new(s, self, &a, &a, &a1);
        for c in 0..4 {
            let t = of.times(s, self, false, c, a[c]);
            let k = of.times(s, self, true, c, s.fsplat(1.0));
            let at = if swap && c < 3 { 2 - c } else { c };
            term[at] = fixed::fixed(s, t, fixed::TERM, c % 2 != 0);
            factor[at] = fixed::fixed(s, k, fixed::FACTOR, c % 2 != 0);
        }
        let term = [fixed::pair(s, term[0], term[1]), fixed::pair(s, term[2], term[3])];
        let factor = [fixed::pair(s, factor[0], factor[1]), fixed::pair(s, factor[2], factor[3])];
        // SAFETY: the caller's sixteen pixels.
        unsafe { fixed::blend(s, px, term, factor, mask) };
    }
}

/// Puts the lanes of `mask` of sixteen pixels of four bytes.
///
/// # Safety
/// As [`Writer::replace4`].
#[inline(always)]
unsafe fn put4<S: Simd>(s: S, px: *mut u8, mask: u16, new: S::I) {
    // SAFETY: the caller's sixteen pixels.
    unsafe {
        if mask == 0xFFFF {
            s.istoreu(px, new);
        } else {
            s.istore_mask(px, s.mask(mask), new);
        }
    }
}

/// # Safety
/// As [`Writer::write`].
#[inline(always)]
unsafe fn write<S: Simd>(s: S, w: &Writer, px: *mut u8, src: &Colors, src1: Option<&Colors>, mask: u16) {
    let words = |c: &Colors| [0, 1, 2, 3].map(|k: usize| vector::load(s, &c[k]));
    // SAFETY: as the caller says.
    unsafe { w.write(s, px, &words(src), src1.map(words).as_ref(), mask) };
}
simd::by_level! {
    /// [`Writer::write`] as a function of its own.
    #[inline(never)]
    pub(in crate::tile) unsafe fn write_at = write, (w: &Writer, px: *mut u8, src: &Colors, src1: Option<&Colors>, mask: u16)
}

/// Addition, with factors that are the same whatever the destination is.
fn simple(b: &BlendAttachment) -> bool {
    use vk::BlendFactor as F;
    let of_source = |f| {
        !matches!(
            f,
            F::DST_COLOR
                | F::DST_ALPHA
                | F::ONE_MINUS_DST_COLOR
                | F::ONE_MINUS_DST_ALPHA
                | F::SRC_ALPHA_SATURATE
        )
    };
    (b.color_op, b.alpha_op) == (vk::BlendOp::ADD, vk::BlendOp::ADD)
        && [b.src_color, b.dst_color, b.src_alpha, b.dst_alpha].into_iter().all(of_source)
}

/// Channels as functions of their own take them.
#[inline(always)]
pub(in crate::tile) fn stored<S: Simd>(s: S, c: &[S::I; 4]) -> Colors {
    let mut out = [[0; 16]; 4];
    for k in 0..4 {
        vector::store(s, &mut out[k], c[k]);
    }
    out
}

/// Channels of one warp.
#[inline(always)]
fn rows(colors: &Colors) -> [Row; 4] {
    [0, 1, 2, 3].map(|c| Row::new(&colors[c..c + 1]))
}

/// Clamped to 0 … 1; NaN gives 0.
#[inline(always)]
fn unit<S: Simd>(s: S, v: S::F) -> S::F {
    s.fmin_raw(s.fmax_raw(v, s.fsplat(0.0)), s.fsplat(1.0))
}

#[cfg(test)]
pub(crate) use tests::the_general_way_is_the_formula;
#[cfg(test)]
mod tests;

//! Texels that are results as they are, not filtered: of waves, four at a time. A channel is made for four of them together, so that what
//! is known of it is looked at once.

use super::any::{self, words_of};
use super::texels::{HIGH, LOW};
use super::unit::Unit;
use super::{Fast, blocks};
use crate::sample::view::ImageView;
use crate::vector::load;
use simd::Simd;

/// Four texels of each lane: of four warps, or the four of a gather.
#[repr(C, align(64))]
pub struct Points {
    /// Where they are, as [`Fast::reads`] counts.
    pub at: [[u32; 16]; 4],
    /// Lanes of the border.
    pub outside: [u16; 4],
    words: [[[u32; 16]; 4]; 4],
}

impl Points {
    /// The first texel, four times.
    pub const NONE: Points = Points { at: [[0; 16]; 4], outside: [0; 4], words: [[[0; 16]; 4]; 4] };

    /// Reads the first `n` of them.
    ///
    /// # Safety
    /// They are texels of the view, which has a plan.
    #[inline(always)]
    pub unsafe fn read<S: Simd>(&mut self, s: S, f: &Fast, n: usize) {
        // SAFETY: the caller's.
        unsafe {
            if f.reads == Unit::Decoded {
                return blocks::texels(s, f, f.base, &self.at[..n.min(4)], &mut self.words);
            }
            for i in 0..n.min(4) {
                words_of(s, f.plan.bytes, f.base, load(s, &self.at[i]), &mut self.words, i);
            }
        }
    }

    /// A channel of the four.
    #[inline(always)]
    pub fn channel<S: Simd>(&self, s: S, f: &Fast, k: usize) -> [S::F; 4] {
        let all = any::four(s, &self.words[f.plan.word(k) % 4]);
        f.plan.channel(s, k, &all, &f.plan.scales(s, &all))
    }
}

/// What results are of.
#[derive(Clone, Copy)]
pub enum Source {
    Channel(usize),
    /// The same of every texel.
    Same(u32),
}

impl Source {
    /// Of result `k` of a view.
    #[inline(always)]
    pub fn of(f: &Fast, view: &ImageView, k: usize) -> Source {
        match view.channel(k) {
            Some(c) if f.plan.has >> c & 1 != 0 => Source::Channel(c % 4),
            Some(c) => Source::Same(if c == 3 { view.channels.one() } else { 0 }),
            None => Source::Same(view.constant(k)),
        }
    }
}

/// A channel of four texels as results: the border's where lanes are outside.
#[inline(always)]
pub fn settled<S: Simd>(s: S, f: &Fast, t: [S::F; 4], outside: &[u16; 4], border: u32) -> [S::I; 4] {
    let mut out = [s.isplat(border); 4];
    for n in 0..4 {
        let mut v = t[n];
        if f.plan.filters_bytes {
            v = s.fma(v, s.fsplat(HIGH), s.fmul(v, s.fsplat(LOW)));
        }
        out[n] = if outside[n] == 0 { s.bits(v) } else { s.isel(s.mask(outside[n]), out[n], s.bits(v)) };
    }
    out
}

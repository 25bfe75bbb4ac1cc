//! Texels that are results as they are, not filtered: of waves, four at a time. A channel is made for four of them together, so that what
//! is known of it is looked at once.

use super::Fast;
use super::any::{self, words_of};
use super::unit::Unit;
use crate::sample::view::ImageView;
use crate::vector::load;
use simd::Simd;
use std::mem::MaybeUninit;

/// Four texels of each lane: of four warps, or the four of a gather.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Points {
    /// Where they are, as [`Fast::reads`] counts.
    pub at: [[u32; 16]; 4],
    /// Lanes of the border.
    pub outside: [u16; 4],
}

/// Words of four texels of each lane.
#[repr(C, align(64))]
pub struct Words(MaybeUninit<[[[u32; 16]; 4]; 4]>);

impl Points {
    /// The first texel, four times.
    pub const NONE: Points = Points { at: [[0; 16]; 4], outside: [0; 4] };

    /// Reads the first `n` of them; the others are zeros.
    ///
    /// # Safety
    /// They are texels of the view, which has a plan.
    #[inline(always)]
    pub unsafe fn read<S: Simd>(&self, s: S, f: &Fast, n: usize, to: &mut Words) {
        // SAFETY: the caller's.
        unsafe {
            if f.reads == Unit::Decoded {
                return (f.any.decoded)(f, f.base, &self.at[..n.min(4)], to.0.write([[[0; 16]; 4]; 4]));
            }
            let to = to.0.as_mut_ptr();
            for i in 0..4 {
                if i >= n {
                    for k in 0..4 {
                        any::put(s, &raw mut (*to)[k][i], s.isplat(0));
                    }
                } else {
                    words_of(s, f.plan.bytes, f.base, load(s, &self.at[i]), to, i);
                }
            }
        }
    }

    /// A channel of the four, as a result: `border` where lanes are outside.
    ///
    /// # Safety
    /// The words are theirs, of this view.
    #[inline(always)]
    pub unsafe fn channel<S: Simd>(&self, s: S, f: &Fast, words: &Words, k: usize, border: u32) -> [S::I; 4] {
        // SAFETY: a word that texels of the format have, of each of the four.
        let all = any::four(s, unsafe { &(*words.0.as_ptr())[f.exact.word(k) % 4] });
        let of = f.exact.channel(s, k, &all, &f.exact.scales(s, &all));
        let mut out = [s.bits(of[0]), s.bits(of[1]), s.bits(of[2]), s.bits(of[3])];
        if self.outside != [0; 4] {
            self.mark(s, border, &mut out);
        }
        out
    }

    /// Puts the border's result where lanes are outside.
    #[inline(always)]
    pub fn mark<S: Simd>(&self, s: S, border: u32, out: &mut [S::I; 4]) {
        for n in 0..4 {
            out[n] = s.isel(s.mask(self.outside[n]), s.isplat(border), out[n]);
        }
    }
}

impl Words {
    pub const NONE: Words = Words(MaybeUninit::uninit());
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

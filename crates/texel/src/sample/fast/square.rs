//! The 2×2 texels around a warp's places, read together by plans: of any size.

use super::any::{self, Any, Weigh};
use super::corners::Corners;
use super::found::{self, Found, moved};
use super::place::{levels, weighted};
use super::points::Source;
use super::warp::mix;
use super::waves::{TOGETHER, store};
use super::window::{self, Close};
use super::{Fast, LEVELS};
use crate::format::plan::{Coding, Plan};
use crate::sample::view::ImageView;
use crate::vector::{load, store as store_lanes};
use simd::Simd;
use simd::rows::ImageRows;
use std::mem::MaybeUninit;

/// Each lane's texels.
#[repr(C, align(64))]
pub struct Square {
    /// Texels of one word.
    found: MaybeUninit<Found>,
    /// Words of others, row by row, of as many as a texel has.
    words: MaybeUninit<[[[u32; 16]; 4]; 4]>,
}

impl Square {
    pub const NONE: Square = Square { found: MaybeUninit::uninit(), words: MaybeUninit::uninit() };

    /// Reads those of a level. `near`: as [`found::find`] has it.
    ///
    /// # Safety
    /// The corners are of texels of the view's level; the view has a plan, and no blocks.
    #[inline(always)]
    pub unsafe fn read<S: Simd>(
        &mut self,
        s: S,
        f: &Fast,
        level: usize,
        corners: &Corners,
        near: &mut Close,
    ) {
        // SAFETY: the caller's texels.
        unsafe {
            if f.plan.bytes == 4 {
                found::find::<S, Any<true>>(s, f, level, corners, near, &mut self.found);
                return;
            }
            let to = self.words.as_mut_ptr();
            if f.plan.bytes <= 2 && *near != Close::No {
                if window::narrow(s, f, level, corners, &raw mut (*to)[0]) {
                    return;
                }
                *near = Close::No;
            }
            any::words(s, f, level % LEVELS, corners, to);
        }
    }

    /// Reads those of the only level of a view whose lanes make texels each of their own blocks.
    ///
    /// # Safety
    /// The corners are of texels of the view's only level.
    #[inline(always)]
    pub unsafe fn decode<S: Simd>(&mut self, s: S, f: &Fast, corners: &Corners) {
        let mut l = levels(s, f, s.isplat(0), s.isplat(0));
        l.count(s, f);
        let i = corners.texels(s);
        let mut at = [[0; 16]; 4];
        for n in 0..4 {
            let row = f.reads.row(s, f, &l, i[1][n >> 1]);
            store_lanes(s, &mut at[n], s.iadd(f.reads.column(s, f, &l, i[0][n & 1]), row));
        }
        let words = self.words.write([[[0; 16]; 4]; 4]);
        // SAFETY: texels of the level.
        unsafe { (f.any.decoded)(f, f.base, &at, words) };
        if f.plan.bytes == 4 {
            self.found.write(Found { texels: words[0], window: [0; 16], in_window: false });
        }
    }

    /// A channel of the four, by one of the view's plans.
    ///
    /// # Safety
    /// [`Self::read`] has been called, of a view with that plan's texels.
    #[inline(always)]
    pub unsafe fn channel<S: Simd>(&self, s: S, plan: &Plan, k: usize) -> [S::F; 4] {
        macro_rules! by {
            ($($coding:ident)*) => {
                match plan.coding_of(k) {
                    $(Coding::$coding => self.channel_as::<S, { Coding::$coding as u8 }>(s, plan, k),)*
                }
            };
        }
        // SAFETY: the caller's.
        unsafe { by!(Unorm Snorm Uint Sint Whole Float Srgb Exponent Deep) }
    }

    /// [`Self::channel`] of a coding that is known.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn channel_as<S: Simd, const CODING: u8>(&self, s: S, plan: &Plan, k: usize) -> [S::F; 4] {
        let all;
        if plan.bytes != 4 {
            // SAFETY: read, says the caller: a channel's word, of all that a texel has.
            all = unsafe { &(*self.words.as_ptr())[plan.word(k) % 4] };
        } else {
            // SAFETY: read, says the caller.
            let found = unsafe { self.found.assume_init_ref() };
            all = &found.texels;
            if found.in_window {
                let w = [load(s, &found.window)];
                let [of] = plan.channel_as::<S, 1, CODING>(s, k, &w, &plan.scales(s, &w));
                let (of, at) = (s.bits(of), any::four(s, all));
                return [moved(s, of, at[0]), moved(s, of, at[1]), moved(s, of, at[2]), moved(s, of, at[3])];
            }
        }
        let all = any::four(s, all);
        plan.channel_as::<S, 4, CODING>(s, k, &all, &plan.scales(s, &all))
    }
}

/// How far a warp's places lie from the upper slice to the lower one, and what is kept of differences.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Depth {
    pub weight: [u32; 16],
    pub kept: [u32; 16],
}

impl Depth {
    pub const NONE: Depth = Depth { weight: [0; 16], kept: [0; 16] };
}

/// Some warps' squares: of one slice, or of two one after the other.
pub struct Squares<'a> {
    pub warps: &'a [(usize, u16)],
    /// Warps that have none, a bit each.
    pub apart: u32,
    pub squares: &'a [Square; TOGETHER],
    pub at: &'a [MaybeUninit<Corners>; TOGETHER],
    /// Of two slices.
    pub depth: Option<&'a [Depth; TOGETHER]>,
}

/// A channel of them, filtered.
///
/// # Safety
/// As [`filtered`].
#[inline(always)]
unsafe fn channel<S: Simd, const CODING: u8, const SLICES: bool>(
    s: S,
    f: &Fast,
    out: *mut u8,
    of: &Squares,
    c: usize,
    border: f32,
) {
    for (i, &(w, mask)) in of.warps.iter().enumerate() {
        if of.apart >> i & 1 != 0 {
            continue;
        }
        let i = i % TOGETHER;
        // SAFETY: the caller's.
        unsafe {
            let at = of.at[i].assume_init_ref();
            let weigh = Weigh::of(s, f, at);
            let first = if SLICES { 2 * i % TOGETHER } else { i };
            let t = of.squares[first].channel_as::<S, CODING>(s, &f.plan, c);
            let mut v = weigh.channel(s, at, border, f.line, &t);
            if SLICES && let Some(depth) = of.depth {
                let t = of.squares[(first + 1) % TOGETHER].channel_as::<S, CODING>(s, &f.plan, c);
                let (a, b) = (s.from_bits(v), s.from_bits(weigh.channel(s, at, border, f.line, &t)));
                let weight = s.from_bits(load(s, &depth[i].weight));
                v = s.bits(if f.floats {
                    weighted::<S, Any<true>>(s, a, b, weight, load(s, &depth[i].kept))
                } else {
                    mix(s, a, b, weight)
                });
            }
            store(s, out, w, v, mask);
        }
    }
}

/// Stores what some warps' texels are when they are filtered, a result after the other: what is known of a channel is looked at once.
/// `border`: as [`super::edge_color`].
///
/// # Safety
/// Squares and corners of the warps are there, of the view's only level; the wave has the warps.
#[inline(always)]
pub unsafe fn filtered<S: Simd, const SLICES: bool>(
    s: S,
    f: &Fast,
    view: &ImageView,
    wave: &ImageRows,
    of: &Squares,
    border: &[f32; 4],
) {
    for k in 0..4 {
        let out = wave.out[k];
        if out.is_null() {
            continue;
        }
        let c = match Source::of(f, view, k) {
            Source::Channel(c) => c,
            Source::Same(v) => {
                for (i, &(w, mask)) in of.warps.iter().enumerate() {
                    if of.apart >> i & 1 == 0 {
                        // SAFETY: the caller's wave.
                        unsafe { store(s, out, w, s.isplat(v), mask) };
                    }
                }
                continue;
            }
        };
        macro_rules! by {
            ($($coding:ident)*) => {
                match f.plan.coding_of(c) {
                    $(Coding::$coding => {
                        channel::<S, { Coding::$coding as u8 }, SLICES>(s, f, out, of, c, border[c])
                    })*
                    // Integers are not filtered.
                    Coding::Uint | Coding::Sint => {}
                }
            };
        }
        // SAFETY: the caller's.
        unsafe { by!(Unorm Snorm Whole Float Srgb Exponent Deep) }
    }
}

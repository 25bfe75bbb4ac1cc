//! The 2×2 texels around a warp's places, read together by plans: of any size.

use super::any::{self, Any, Weigh};
use super::corners::Corners;
use super::found::{self, Found, moved};
use super::points::Source;
use super::waves::{Several, TOGETHER, store};
use super::window::Close;
use super::{Fast, LEVELS};
use crate::format::plan::Plan;
use crate::sample::view::ImageView;
use crate::vector::load;
use simd::Simd;
use simd::rows::ImageRows;
use std::mem::MaybeUninit;

/// Each lane's texels.
#[repr(C, align(64))]
pub struct Square {
    /// Texels of one word.
    found: MaybeUninit<Found>,
    /// Words of others, row by row.
    words: [[[u32; 16]; 4]; 4],
}

impl Square {
    pub const NONE: Square = Square { found: MaybeUninit::uninit(), words: [[[0; 16]; 4]; 4] };

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
            } else {
                any::words(s, f, level % LEVELS, corners, &mut self.words);
            }
        }
    }

    /// A channel of the four, by one of the view's plans.
    ///
    /// # Safety
    /// [`Self::read`] has been called, of a view with that plan's texels.
    #[inline(always)]
    pub unsafe fn channel<S: Simd>(&self, s: S, plan: &Plan, k: usize) -> [S::F; 4] {
        let mut all = &self.words[plan.word(k) % 4];
        if plan.bytes == 4 {
            // SAFETY: read, says the caller.
            let found = unsafe { self.found.assume_init_ref() };
            all = &found.texels;
            if found.in_window {
                let w = [load(s, &found.window)];
                let [of] = plan.channel(s, k, &w, &plan.scales(s, &w));
                let (of, at) = (s.bits(of), any::four(s, all));
                return [moved(s, of, at[0]), moved(s, of, at[1]), moved(s, of, at[2]), moved(s, of, at[3])];
            }
        }
        let all = any::four(s, all);
        plan.channel(s, k, &all, &plan.scales(s, &all))
    }
}

/// Stores what some warps' texels are when they are filtered, a result after the other. `apart`: warps that have none, a bit each;
/// `border`: as [`super::edge_color`].
///
/// # Safety
/// Squares and corners of the others are there, of the view's only level; the caller's wave has the warps.
#[inline(always)]
pub unsafe fn filtered<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    wave: &ImageRows,
    (several, apart): (&Several, u32),
    squares: &[Square; TOGETHER],
    at: &[MaybeUninit<Corners>; TOGETHER],
    border: &[f32; 4],
) {
    for k in 0..4 {
        if wave.out[k].is_null() {
            continue;
        }
        let source = Source::of(f, view, k);
        for (i, &(w, mask)) in several.iter().enumerate() {
            if apart >> i & 1 != 0 {
                continue;
            }
            let v = match source {
                Source::Channel(c) => {
                    // SAFETY: the caller's.
                    let (at, t) = unsafe {
                        (at[i % TOGETHER].assume_init_ref(), squares[i % TOGETHER].channel(s, &f.plan, c))
                    };
                    Weigh::of(s, f, at).channel(s, at, border[c], f.line, &t)
                }
                Source::Same(v) => s.isplat(v),
            };
            // SAFETY: the caller's wave.
            unsafe { store(s, wave.out[k], w, v, mask) };
        }
    }
}

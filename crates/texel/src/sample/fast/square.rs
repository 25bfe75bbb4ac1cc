//! The 2×2 texels around a warp's places, read together by plans: of any size. Those of gathers and of 3D images' slices, which are
//! not of a kernel of their own.

use super::any::{self, Any};
use super::corners::Corners;
use super::found::{self, Found, moved};
use super::window::Close;
use super::{Fast, LEVELS};
use crate::format::plan::Plan;
use crate::vector::load;
use simd::Simd;
use std::mem::MaybeUninit;

/// Words of each lane's texels, row by row; of texels of one word as [`Found`] has them.
#[repr(C, align(64))]
pub struct Square {
    words: [[[u32; 16]; 4]; 4],
    window: Option<[u32; 16]>,
}

impl Square {
    pub const NONE: Square = Square { words: [[[0; 16]; 4]; 4], window: None };

    /// Reads those of a level. `near`: as [`found::find`] has it.
    ///
    /// # Safety
    /// The corners are of texels of the view's level; the view has a plan, and no blocks.
    #[inline(always)]
    pub unsafe fn read<S: Simd>(&mut self, s: S, f: &Fast, level: usize, corners: &Corners, near: &mut Close) {
        self.window = None;
        if f.plan.bytes == 4 {
            let mut to = MaybeUninit::<Found>::uninit();
            // SAFETY: the caller's texels, of a word each.
            let found = unsafe { found::find::<S, Any<true>>(s, f, level, corners, near, &mut to) };
            self.words[0] = found.texels;
            self.window = found.in_window.then_some(found.window);
            return;
        }
        // SAFETY: the caller's texels.
        unsafe { any::words(s, f, level % LEVELS, corners, &mut self.words) };
    }

    /// A channel of the four, by one of the view's plans.
    #[inline(always)]
    pub fn channel<S: Simd>(&self, s: S, plan: &Plan, k: usize) -> [S::F; 4] {
        let all = any::four(s, &self.words[plan.word(k) % 4]);
        let Some(window) = &self.window else {
            return plan.channel(s, k, &all, &plan.scales(s, &all));
        };
        let w = [load(s, window)];
        let [of] = plan.channel(s, k, &w, &plan.scales(s, &w));
        let of = s.bits(of);
        [moved(s, of, all[0]), moved(s, of, all[1]), moved(s, of, all[2]), moved(s, of, all[3])]
    }
}

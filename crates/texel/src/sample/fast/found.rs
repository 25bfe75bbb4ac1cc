//! Texels of a word each by the short way, in two steps: where those of a warp are they are read, and what was read is filtered. Of several
//! warps all are read first, for a warp's steps wait for each other.

use super::corners::Corners;
use super::place::{self, weighted};
use super::texels::{Texels, words};
use super::window::{self, Close, window};
use super::{Fast, LEVELS, any};
use crate::vector::load;
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// A warp's texels on a level.
#[repr(C, align(64))]
pub struct Found {
    /// The upper two of each lane, and then the lower two: or which of `window` they are.
    pub texels: [[u32; 16]; 4],
    pub window: [u32; 16],
    pub in_window: bool,
}

/// Reads the texels on a level of a view without layers, whose [`super::corners`] these are: of views without borders, not compared.
/// `near`: how close together the lanes' texels may lie, and then did.
///
/// # Safety
/// They are of texels of the view's level, of a word each.
#[inline(always)]
pub unsafe fn find<'a, S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    near: &mut Close,
    to: &'a mut MaybeUninit<Found>,
) -> &'a Found {
    let i = corners.texels(s);
    let level = level % LEVELS;
    let one = s.isplat(1);
    let pairs = s.mbits(s.ieq(s.iadd(i[0][0], one), i[0][1])) == 0xffff;
    // All words are on their way before the first is used.
    let mut w = [[one; 2]; 2];
    let mut at = w;
    let mut all = one;
    let wide = S::ONE_VECTOR;
    let (mut found, mut in_window) = (false, false);
    if *near != Close::No && pairs {
        // SAFETY: with `pairs`, each of the caller's texels has a right neighbour.
        let close =
            if *near == Close::Four { unsafe { window(s, f, level, corners, &mut at) } } else { None };
        if let Some(close) = close {
            // Where words change their lanes by one instruction, channels do.
            in_window = !T::BYTES || wide;
            (all, w) = (close, at);
            for y in 0..if in_window { 0 } else { 2 } {
                w[y] = [s.ishuffle(all, at[y][0]), s.ishuffle(all, at[y][1])];
            }
            found = true;
        } else {
            // SAFETY: as above.
            found = wide && unsafe { window::eight(s, f, level, corners, &mut w) };
            *near = if found { Close::Eight } else { Close::No };
        }
    }
    if !found {
        let x = [ops::shl(s, i[0][0], 2), ops::shl(s, i[0][1], 2)];
        let pitch = s.isplat(f.row_pitch[level]);
        let base = f.level(level);
        for y in 0..2 {
            let row = s.imul(i[1][y], pitch);
            // SAFETY: the caller's texels; with `pairs`, the word after each is its right neighbour.
            w[y] = unsafe {
                if pairs {
                    s.igather2(base, s.iadd(row, x[0]))
                } else {
                    [words(s, base, s.iadd(row, x[0])), words(s, base, s.iadd(row, x[1]))]
                }
            };
        }
    }
    let found = to.as_mut_ptr();
    // SAFETY: sixteen lanes each; all of it is written where it is read.
    unsafe {
        for (y, k) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            s.istoreu((&raw mut (*found).texels[2 * y + k]).cast(), w[y][k]);
        }
        s.istoreu((&raw mut (*found).window).cast(), all);
        (*found).in_window = in_window;
        &*found
    }
}

/// Filters them: few enough values that they stay in registers. `edges`: some may be the border's.
#[inline(always)]
pub fn filter<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    found: &Found,
    corners: &Corners,
    edges: bool,
    border: &[f32; 4],
    out: &mut [S::F; 4],
) {
    if T::ANY || edges && corners.edged {
        let (own, mut to) = (!T::ANY, [[0; 16]; 4]);
        // SAFETY: picked for this machine.
        unsafe { (f.any.filter)(f, found, corners, &any::ordered(f, own, border), &mut to) };
        return any::vectors(s, f, own, &to, out);
    }
    let weight = corners.weights(s);
    let mut kept = [s.isplat(!0); 2];
    if T::floats(f) {
        kept = [place::kept(s, weight[0]), place::kept(s, weight[1])];
    }
    let half = s.fsplat(0.5);
    let w = |y: usize, k: usize| load(s, &found.texels[2 * y + k]);
    if found.in_window {
        let mut c = [half; 4];
        T::unpack(s, f, load(s, &found.window), &mut c);
        for k in 0..T::N {
            if !T::has(f, k) {
                continue;
            }
            let c = s.bits(c[k]);
            for y in 0..2 {
                let t = [moved(s, c, w(y, 0)), moved(s, c, w(y, 1))];
                let row = weighted::<S, T>(s, t[0], t[1], weight[0], kept[0]);
                out[k] = if y == 0 { row } else { weighted::<S, T>(s, out[k], row, weight[1], kept[1]) };
            }
        }
        return T::finish(s, f, out);
    }
    for y in 0..2 {
        let (mut a, mut b) = ([half; 4], [half; 4]);
        T::unpack(s, f, w(y, 0), &mut a);
        T::unpack(s, f, w(y, 1), &mut b);
        for k in 0..T::N {
            if !T::has(f, k) {
                continue;
            }
            let t = [a[k], b[k]];
            let row = weighted::<S, T>(s, t[0], t[1], weight[0], kept[0]);
            out[k] = if y == 0 { row } else { weighted::<S, T>(s, out[k], row, weight[1], kept[1]) };
        }
    }
    T::finish(s, f, out);
}

/// Puts the border's channel in the place of what a row's two texels have of it, where it is asked for.
#[inline(always)]
pub fn edge<S: Simd>(s: S, corners: &Corners, y: usize, border: f32, t: &mut [S::F; 2]) {
    if corners.edged {
        for x in 0..2 {
            t[x] = s.fsel(corners.of_border(s, x, y), s.fsplat(border), t[x]);
        }
    }
}

/// Lane i of the result is lane `at[i]` of the channel.
#[inline(always)]
pub fn moved<S: Simd>(s: S, channel: S::I, at: S::I) -> S::F {
    s.from_bits(s.ishuffle(channel, at))
}

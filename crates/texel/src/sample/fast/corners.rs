//! The 2×2 texels around a warp's places on one level.

use super::super::coords::LIMIT;
use super::super::sampler::{Sampler, Wrap};
use super::place::wrapped;
use super::{Fast, LEVELS};
use crate::vector::{floats, load, store, store_floats};
use simd::Simd;
use std::mem::MaybeUninit;

/// How [`corners`] wraps: as the sampler says; both axes repeat sizes that are powers of two; both clamp to the edge.
pub const ANY: u8 = 0;
pub const REPEAT: u8 = 1;
pub const EDGE: u8 = 2;

/// Columns and rows, first the lower one, and how far the places lie between them. In memory: where a warp's texels lie is asked of
/// some lanes by themselves, and those of several warps are found before the first are filtered.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Corners {
    pub i: [[[u32; 16]; 2]; 2],
    weight: [[f32; 16]; 2],
    /// Lanes of the border, by axis and side.
    outside: [[u16; 2]; 2],
    /// There are such.
    pub edged: bool,
}

impl Corners {
    /// The first texel of all lanes.
    pub const NONE: Corners =
        Corners { i: [[[0; 16]; 2]; 2], weight: [[0.0; 16]; 2], outside: [[0; 2]; 2], edged: false };

    /// Columns and rows.
    #[inline(always)]
    pub fn texels<S: Simd>(&self, s: S) -> [[S::I; 2]; 2] {
        let of = &self.i;
        [[load(s, &of[0][0]), load(s, &of[0][1])], [load(s, &of[1][0]), load(s, &of[1][1])]]
    }
    #[inline(always)]
    pub fn weights<S: Simd>(&self, s: S) -> [S::F; 2] {
        [floats(s, &self.weight[0]), floats(s, &self.weight[1])]
    }
    /// Lanes whose texel of that column and row of the 2×2 is the border's.
    #[inline(always)]
    pub fn of_border<S: Simd>(&self, s: S, x: usize, y: usize) -> S::M {
        s.mask(self.outside[0][x] | self.outside[1][y])
    }
    /// Where a weight has rounded to 1, just below the centre of the first texel, the texels before it have none: the next
    /// ones stand in for them.
    #[inline(always)]
    pub fn settle<S: Simd>(&mut self, s: S) {
        for k in 0..2 {
            let weight = floats(s, &self.weight[k]);
            let all = s.feq(weight, s.fsplat(1.0));
            if s.many(all) {
                store_floats(s, &mut self.weight[k], s.fsel(all, s.fsplat(0.0), weight));
                let next = load(s, &self.i[k][1]);
                let settled = s.isel(all, next, load(s, &self.i[k][0]));
                store(s, &mut self.i[k][0], settled);
                let [a, b] = self.outside[k];
                self.outside[k][0] = b & s.mbits(all) | a & !s.mbits(all);
            }
        }
    }
    /// Lanes that are not active read what the first of the others does.
    #[inline(always)]
    pub fn keep_to<S: Simd>(&mut self, s: S, mask: u16) {
        let first = s.isplat(mask.trailing_zeros() & 15);
        for of in self.i.as_flattened_mut() {
            let i = load(s, of);
            store(s, of, s.isel(s.mask(mask), i, s.ishuffle(i, first)));
        }
    }
    /// What is the least of all lanes' columns (`axis` 0) or rows, if these grow or fall along a warp's rows or columns.
    #[inline(always)]
    pub fn least(&self, axis: usize) -> u32 {
        least(&self.i[axis][0])
    }
}

/// As [`Corners::least`].
#[inline(always)]
pub fn least(of: &[u32; 16]) -> u32 {
    of[0].min(of[15])
}

/// Puts those of a level's places there.
#[inline(always)]
pub fn corners<'a, S: Simd, const MODE: u8>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    level: usize,
    st: &[S::F; 2],
    out: &'a mut MaybeUninit<Corners>,
) -> &'a mut Corners {
    let level = level % LEVELS;
    let half = s.fsplat(0.5);
    let one = s.isplat(1);
    let to = out.as_mut_ptr();
    let mut edged = false;
    for k in 0..2 {
        let u = s.fmul(st[k], s.fsplat(f.size[k][level]));
        let v = s.fsub(s.fmin_raw(s.fmax_raw(u, s.fsplat(-LIMIT)), s.fsplat(LIMIT)), half);
        let (base, a) = s.ffloor_int(v);
        let n = s.isplat(f.texels[k][level]);
        let (mode, pow2) = match MODE {
            REPEAT => (Wrap::Repeat, true),
            EDGE => (Wrap::Edge, false),
            _ => (sampler.wrap[k], f.pow2[k]),
        };
        let (mut here, mut next) = (s.mask(0), s.mask(0));
        let i =
            [wrapped(s, mode, a, n, pow2, &mut here), wrapped(s, mode, s.iadd(a, one), n, pow2, &mut next)];
        let outside = if matches!(mode, Wrap::Border) { [s.mbits(here), s.mbits(next)] } else { [0; 2] };
        edged |= outside != [0; 2];
        // SAFETY: sixteen lanes each.
        unsafe {
            s.istoreu((&raw mut (*to).weight[k]).cast(), s.bits(s.fsub(v, base)));
            s.istoreu((&raw mut (*to).i[k][0]).cast(), i[0]);
            s.istoreu((&raw mut (*to).i[k][1]).cast(), i[1]);
            (*to).outside[k] = outside;
        }
    }
    // SAFETY: there is room for it.
    unsafe { (*to).edged = edged };
    // SAFETY: all of it has been written.
    unsafe { out.assume_init_mut() }
}

//! Depth comparisons of a wave, as where shadows are looked up: the four texels around a place are compared with its reference, and
//! what came of that is filtered. Of warps all of whose texels are inside, however the axes wrap.

use super::super::coords::LIMIT;
use super::Fast;
use super::place::compared;
use super::texels::Texels;
use super::warp::{filters_inside, mix};
use super::waves::{TOGETHER, Warps, coordinates, count, give};
use crate::format::NumClass;
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector;
use ash::vk::CompareOp;
use simd::rows::{ImageRows, Rows};
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// Whether [`warps`] has a way for the format.
#[inline(always)]
pub fn suits<T: Texels>(f: &Fast, sampler: &Sampler, arrayed: bool) -> bool {
    T::DEPTHS
        && f.compares
        && f.count == 1
        && sampler.anisotropy <= 1.0
        && filters_inside(f, sampler, arrayed)
        && f.texels[0][0] >= 2
        && f.texels[1][0] >= 2
}

/// Where the upper left one of the 2×2 texels around each lane's place is, in bytes, and how far the place lies from it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct At {
    upper: [u32; 16],
    weight: [[f32; 16]; 2],
}

/// Warps of a wave, compared with `dref` by `op`. Those that are left, which reach across an edge (a bit each).
///
/// # Safety
/// Rows and results are those of a wave; the view's format and the sampler [`suits`].
#[inline(always)]
pub unsafe fn warps<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
    (dref, op): (Rows, CompareOp),
) -> u32 {
    let mut left = 0;
    let half = s.fsplat(0.5);
    let pitch = s.isplat(f.row_pitch[0]);
    let clamps = view.format.class == NumClass::Unorm;
    let mut all = Warps::of(wave);
    let mut inside = [(0, 0); TOGETHER];
    let mut at = [const { MaybeUninit::<At>::uninit() }; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return left;
        }
        let mut n = 0;
        for &(w, mask) in several.iter() {
            // SAFETY: the caller's wave.
            let st = unsafe { coordinates(s, wave, w) };
            let (mut first, mut weight) = ([pitch; 2], [half; 2]);
            let mut outside = s.mask(0);
            for k in 0..2 {
                let u = s.fmul(st[k], s.fsplat(f.size[k][0]));
                let v = s.fsub(s.fmin_raw(s.fmax_raw(u, s.fsplat(-LIMIT)), s.fsplat(LIMIT)), half);
                let (base, texel) = s.ffloor_int(v);
                weight[k] = s.fsub(v, base);
                // Negative numbers are large as unsigned ones.
                let out = s.ugt(texel, s.isplat(f.texels[k][0] - 2));
                outside = s.mor(outside, out);
                first[k] = texel;
            }
            if s.many(s.mand(outside, s.mask(mask))) {
                left |= 1 << w;
                continue;
            }
            let upper = s.iadd(s.imul(first[1], pitch), ops::shl(s, first[0], T::SHIFT));
            // Lanes that are not active may ask for anything.
            let upper = s.isel(s.mask(mask), upper, s.isplat(0));
            let to = at[n].as_mut_ptr();
            // SAFETY: sixteen lanes each.
            unsafe {
                s.istoreu((&raw mut (*to).upper).cast(), upper);
                s.istoreu((&raw mut (*to).weight[0]).cast(), s.bits(weight[0]));
                s.istoreu((&raw mut (*to).weight[1]).cast(), s.bits(weight[1]));
            }
            inside[n] = (w, mask);
            n += 1;
        }
        for (at, &(w, mask)) in at[..n].iter().zip(&inside) {
            // SAFETY: the first n have been written; the caller's wave.
            let (at, mut d) = unsafe { (at.assume_init_ref(), s.from_bits(s.iloadu(dref.warp(w)))) };
            if clamps {
                d = s.fmin_raw(s.fmax_raw(d, s.fsplat(0.0)), s.fsplat(1.0));
            }
            // SAFETY: the caller's wave.
            unsafe { count(s, f, view, sampler, false, wave, (w, mask), false) };
            let upper = vector::load(s, &at.upper);
            let weight = [vector::floats(s, &at.weight[0]), vector::floats(s, &at.weight[1])];
            let mut row = [half; 2];
            for y in 0..2 {
                let (mut a, mut b) = ([half; 4], [half; 4]);
                let from = if y == 0 { upper } else { s.iadd(upper, pitch) };
                // SAFETY: a texel with a right neighbour, in a row that has one below it.
                unsafe { T::pair(s, f, f.base, from, from, 1, &mut a, &mut b) };
                row[y] = mix(s, compared(s, op, d, a[0]), compared(s, op, d, b[0]), weight[0]);
            }
            let color = [mix(s, row[0], row[1], weight[1]); 4];
            // SAFETY: the caller's wave.
            unsafe { give::<S, T>(s, f, view, wave, w, mask, &color) };
        }
    }
}

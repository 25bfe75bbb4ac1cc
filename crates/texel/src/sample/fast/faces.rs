//! Samples of cubes by waves: most warps' lanes lie within one face, which is then a 2D image's layer. Those that reach across an edge are
//! left.

use super::Fast;
use super::cube::{self, Direction};
use super::lod;
use super::place::levels;
use super::warp::{layer_of, plain};
use super::waves::{Operands, Warps};
use crate::sample::coords::LIMIT;
use crate::sample::sampler::{Sampler, Wrap};
use crate::sample::view::ImageView;
use crate::vector::store;
use simd::rows::{ImageRows, LevelRows, Rows};
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// Lanes of a wave's warps.
type Lanes = [[u32; 16]; 32];

/// Warps of a wave; those that are left, a bit each.
///
/// # Safety
/// Rows and results are those of a wave; the view is of cubes.
#[inline(always)]
pub unsafe fn warps<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
) -> u32 {
    let zero = s.isplat(0);
    let cubes = (view.layers / 6).max(1);
    let several = !plain(f, sampler);
    // Footprints on cubes are as wide as they are long.
    let mut flat = Sampler { anisotropy: 1.0, ..sampler.clone() };
    if sampler.seamless {
        flat.wrap = [Wrap::Edge; 3];
    }
    let mut at = MaybeUninit::<[Lanes; 3]>::uninit();
    let to = at.as_mut_ptr().cast::<[u32; 16]>();
    let (mut layers, mut live) = ([0; 32], 0u32);
    for (w, mask) in Warps::of(wave) {
        macro_rules! c {
            ($k:expr) => {
                // SAFETY: the wave has rows of sixteen lanes for each warp.
                s.from_bits(unsafe { s.iloadu(wave.coords[$k].warp(w)) })
            };
        }
        let d = Direction::of(s, [c!(0), c!(1), c!(2)]);
        let st = d.project(s);
        let mut face = d.face;
        if arrayed {
            face = s.iadd(face, s.imul(layer_of(s, c!(3), cubes), s.isplat(6)));
        }
        let face = s.umin(face, s.isplat(view.layers - 1));
        let layer = ops::i_lanes(s, face)[mask.trailing_zeros() as usize & 15];
        let mut elsewhere = s.mnot(s.ieq(face, s.isplat(layer)));
        let mut on = [zero; 2];
        if several {
            // SAFETY: the caller's wave.
            let own = unsafe { Operands::of(s, f, arrayed, wave, w) };
            let args = own.args(f, arrayed, wave);
            let base = match args.lod {
                Some(lod) => super::warp::floats(s, lod),
                None => lod::of_cube(s, f, sampler, &args),
            };
            let l = lod::based(s, f, view, sampler, base, &args);
            on = [l.fine, l.coarse];
            // SAFETY: three times 32 rows.
            unsafe { store(s, &mut *to.add(64 + w), s.bits(base)) };
        }
        if cube::seamless(f, sampler) && (sampler.mag_linear || sampler.min_linear) {
            for level in on {
                let l = levels(s, f, level, zero);
                let mut u = st;
                for k in 0..2 {
                    // As `place::scaled`.
                    let v = s.fmul(st[k], l.size[k]);
                    u[k] = s.fmin_raw(s.fmax_raw(v, s.fsplat(-LIMIT)), s.fsplat(LIMIT));
                }
                elsewhere = s.mor(elsewhere, cube::corners(s, &l, &u).across);
                if !several {
                    break;
                }
            }
        }
        if s.mbits(elsewhere) & mask != 0 {
            continue;
        }
        // SAFETY: three times 32 rows.
        unsafe {
            store(s, &mut *to.add(w), s.bits(st[0]));
            store(s, &mut *to.add(32 + w), s.bits(st[1]));
        }
        layers[w % 32] = layer;
        live |= 1 << w;
    }
    let left = wave.live & !live;
    let rows = |k: usize| Rows { at: to.wrapping_add(32 * k).cast(), step: 64 };
    let lod = several.then(|| rows(2));
    // The gradients are in the level.
    let levels = LevelRows { grad: None, ..wave.levels };
    while live != 0 {
        let layer = layers[live.trailing_zeros() as usize % 32];
        let mut some = 0;
        for w in 0..32 {
            some |= ((layers[w] == layer) as u32) << w;
        }
        some &= live;
        live &= !some;
        let mut own = f.of_layer(layer);
        own.cube = false;
        let coords = [rows(0), rows(1), Rows::NONE, Rows::NONE];
        // SAFETY: the caller's wave; rows of all of these warps have been written; picked for this machine.
        unsafe {
            (own.runs.wave)(&own, view, &flat, false, &ImageRows { live: some, coords, lod, levels, ..*wave })
        };
    }
    left
}

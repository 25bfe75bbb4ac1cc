//! Fetches of a wave by integer coordinates, from one level of a view.

use super::Fast;
use super::place::{Levels, levels};
use super::points::Points;
use super::waves::Warps;
use crate::sample::view::ImageView;
use crate::vector::store;
use simd::Simd;
use simd::rows::ImageRows;

/// What does not exist is as [`crate::sample::fetch_warp`] has it.
///
/// # Safety
/// Rows and results are those of a wave; the view has the level.
#[inline(always)]
pub unsafe fn fetch<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    level: usize,
    arrayed: bool,
    wave: &ImageRows,
) {
    let (zero, one) = (s.isplat(0), s.isplat(1));
    let none = view.swizzled(view.outside());
    let mut all = Warps::of(wave);
    let mut points = [Points::NONE; 2];
    let first = levels(s, f, s.isplat(level as u32), zero);
    loop {
        let several = all.several();
        if several.is_empty() {
            return;
        }
        for of in &mut points {
            of.outside = [0; 4];
        }
        for (i, &(w, _)) in several.iter().enumerate() {
            // (No closures: they would be compiled without the level's features.)
            macro_rules! c {
                ($k:expr) => {
                    // SAFETY: the wave has rows of sixteen lanes for each warp.
                    unsafe { s.iloadu(wave.coords[$k].warp(w)) }
                };
            }
            let x = c!(0);
            let (y, layer) = match (f.line, arrayed) {
                (false, false) => (c!(1), zero),
                (false, true) => (c!(1), c!(2)),
                (true, false) => (zero, zero),
                (true, true) => (zero, c!(1)),
            };
            let mut l = Levels { ..first };
            // Negative coordinates are huge as unsigned ones.
            let beyond = s.mor(s.ugt(x, s.isub(l.texels[0], one)), s.ugt(y, s.isub(l.texels[1], one)));
            let beyond = s.mor(beyond, s.ugt(layer, s.isplat(view.layers - 1)));
            let inside = s.mnot(beyond);
            let [x, y, layer] =
                [s.isel(inside, x, zero), s.isel(inside, y, zero), s.isel(inside, layer, zero)];
            l.start = s.iadd(l.start, s.imul(layer, l.layer_pitch));
            l.count(s, f);
            let to = &mut points[i / 4 % 2];
            store(s, &mut to.at[i % 4], s.iadd(f.reads.column(s, f, &l, x), f.reads.row(s, f, &l, y)));
            to.outside[i % 4] = s.mbits(beyond);
        }
        // SAFETY: texels of the level; the caller's wave.
        unsafe { (f.any.points)(f, view, wave, &several, &points, &none) };
    }
}

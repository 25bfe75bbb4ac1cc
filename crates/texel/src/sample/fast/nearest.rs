//! Nearest texels of waves, of any format: of a view's only level.

use super::Fast;
use super::any::{Any, one};
use super::corners::Corners;
use super::place;
use super::tile::{Place, Tiles};
use super::waves::{TOGETHER, Warps, coordinates, count, give, one_warp};
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector;
use simd::Simd;
use simd::rows::ImageRows;

/// # Safety
/// Rows and results are those of a wave; view and sampler have one level, one filter, no layers and no border.
#[inline(always)]
pub unsafe fn warps<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, wave: &ImageRows) {
    let mut tiles = Tiles::of(f);
    let mut all = Warps::of(wave);
    let mut at = [Corners::NONE; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return;
        }
        let mut places = [Place::default(); TOGETHER];
        let mut apart = 0u32;
        if let Some(tiles) = &mut tiles {
            tiles.clear();
            let mut list = [std::ptr::null::<Corners>(); TOGETHER];
            for (i, &(w, mask)) in several.iter().enumerate() {
                // SAFETY: the caller's wave.
                let st = unsafe { coordinates(s, wave, w) };
                let texel = place::nearest_texels(s, f, sampler, &st);
                for k in 0..2 {
                    vector::store(s, &mut at[i].i[k][0], texel[k]);
                    vector::store(s, &mut at[i].i[k][1], texel[k]);
                }
                if mask != 0xFFFF {
                    at[i].keep_to(s, mask);
                }
                list[i] = &at[i];
            }
            // SAFETY: texels of the view's only level.
            unsafe {
                if let Some(place) = tiles.cover(f, 0, &list[..several.len()]) {
                    places = [place; TOGETHER];
                } else {
                    for i in 0..several.len() {
                        match tiles.cover(f, 0, &list[i..=i]) {
                            Some(place) => places[i] = place,
                            None => apart |= 1 << i,
                        }
                    }
                }
            }
        }
        for (i, &(w, mask)) in several.iter().enumerate() {
            // SAFETY: the caller's wave; texels of the level, or of a tile with all that the warp reads.
            unsafe {
                count(s, f, view, sampler, false, wave, (w, mask));
                if apart >> i & 1 != 0 {
                    one_warp(s, f, view, sampler, false, wave, (w, mask));
                    continue;
                }
                let color = if let Some(tiles) = &mut tiles {
                    tiles.put(0, places[i]);
                    let v = &tiles.view;
                    let row = s.imul(vector::load(s, &at[i].i[1][0]), s.isplat(v.row_pitch[0]));
                    let from = s.iadd(v.reads.column(s, v, vector::load(s, &at[i].i[0][0])), row);
                    one(s, v, v.level(0), from)
                } else {
                    let st = coordinates(s, wave, w);
                    one(s, f, f.base, place::nearest_offsets(s, f, sampler, &st, f.reads))
                };
                give::<S, Any<false>>(s, f, view, wave, w, mask, &color);
            }
        }
    }
}

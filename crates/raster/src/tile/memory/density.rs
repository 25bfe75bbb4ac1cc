//! The map that says how large fragments are in the regions of a framebuffer (§ Fragment Density Map Operations).

use crate::pass::{DensityMap, Rendering, view_mask};
use crate::state::FragmentSize;
use std::sync::Arc;
use texel::sample::ImageView;

/// Pixels along x and y that a texel covers, least and most (minFragmentDensityTexelSize, max…).
pub const TEXEL: [u32; 2] = [8, 64];

/// A pass's map.
pub struct Density {
    map: DensityMap,
    /// Keeps the texels; it has a level.
    view: Arc<ImageView>,
    /// Pixels of a texel, as binary logarithms; and as they would be without the least.
    texel: [u32; 2],
    meant: [u32; 2],
    /// Each view or layer of the pass has a layer of the map.
    by_layer: bool,
}

/// Pixels that a texel covers along an axis, as a binary logarithm, but for the limits: of so many pixels, and of a map with so many texels.
fn meant(pixels: u32, texels: u32) -> u32 {
    (pixels / texels.max(1)).clamp(1, TEXEL[1]).next_power_of_two().ilog2()
}

/// The binary logarithm of a fragment's side, from a texel's channel: no larger than the inverse of the density.
fn log_side(density: f32) -> u8 {
    // A density that is no number above 0 gives no area: one pixel.
    let at_most = |log: u8| density > 0.0 && density <= 1.0 / f32::from(1u8 << log);
    (1..=FragmentSize::MOST).rev().find(|log| at_most(*log)).unwrap_or(0)
}

impl Density {
    /// `None` without a map, or if its view shows no memory.
    pub fn new(r: &Rendering) -> Option<Arc<Density>> {
        let map = r.density.clone()?;
        let view = r.attachments.get(map.attachment as usize)?.view.clone()?;
        let size = view.levels.first()?.size;
        let by_layer = view.layers > 1 && (map.layered || view_mask(&r.subpasses) != 0);
        let meant: [u32; 2] = std::array::from_fn(|k| meant(map.framebuffer[k], size[k]));
        let texel = meant.map(|log| log.max(TEXEL[0].ilog2()));
        (view.samples == 1).then(|| Arc::new(Density { map, view, texel, meant, by_layer }))
    }

    /// The size of fragments in the area of [`TEXEL`]`[0]` pixels that begins at a pixel, in a view or layer. They are no larger than a texel is
    /// meant to be, and end where the framebuffer ends.
    pub fn at(&self, pixel: [i32; 2], layer: u32) -> FragmentSize {
        let layer = if self.by_layer { layer.min(self.view.layers.saturating_sub(1)) } else { 0 };
        let offset = self.map.offsets.get().and_then(|o| o.get(layer as usize)).copied().unwrap_or_default();
        let level = &self.view.levels[0];
        let [x, y] = [0, 1].map(|k| {
            let texel = pixel[k].saturating_sub(offset[k]).max(0) as u32 >> self.texel[k];
            texel.min(level.size[k].saturating_sub(1))
        });
        // SAFETY: the view, which is kept, has the level, the layer and the texel.
        let texel = self.view.swizzled(unsafe { self.view.read(level, x, y, 0, layer, 0) });
        FragmentSize([0, 1].map(|k| {
            let left = (i64::from(self.map.framebuffer[k]) - i64::from(pixel[k])) as u32;
            let cut = if left < TEXEL[0] { left.trailing_zeros() } else { u32::MAX };
            log_side(f32::from_bits(texel[k])).min(cut.min(self.meant[k]) as u8)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_cover_powers_of_two() {
        // 2^ceil(log2(floor(framebuffer / map))), up to the largest.
        for (pixels, texels, log) in
            [(33, 2, 4), (1024, 64, 4), (100, 3, 6), (33, 16, 1), (4096, 2, 6), (8, 0, 3), (8, 16, 0)]
        {
            assert_eq!(meant(pixels, texels), log, "{pixels} pixels, {texels} texels");
        }
    }

    #[test]
    fn fragments_are_no_larger_than_densities_allow() {
        let sides = [
            (1.0, 0),
            (0.51, 0),
            (0.5, 1),
            (128.0 / 255.0, 0),
            (127.0 / 255.0, 1),
            (0.26, 1),
            (0.25, 2),
            (0.1, 2),
        ];
        for (density, log) in sides {
            assert_eq!(log_side(density), log, "{density}");
        }
        assert_eq!([0.0, -1.0, f32::NAN, f32::INFINITY].map(log_side), [0; 4]);
    }
}

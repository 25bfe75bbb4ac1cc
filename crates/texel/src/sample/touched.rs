//! The cache lines of texels that an operation touches.

use super::fast;
use super::filter::{self, Lane};
use super::view::{ImageView, Level};
use super::{BufferView, SampleArgs, Sampler, lanes, texel};
use std::cell::RefCell;

/// Gathers cache lines (address / 64), as often as they are touched.
#[derive(Default)]
pub struct Touched(RefCell<Vec<u64>>);

impl Touched {
    /// Goes on with lines that are there already.
    pub fn new(lines: Vec<u64>) -> Touched {
        Touched(RefCell::new(lines))
    }
    pub fn into_lines(self) -> Vec<u64> {
        self.0.into_inner()
    }

    /// A texel of a view, or the block that holds it.
    ///
    /// # Safety
    /// The texel exists.
    pub(super) unsafe fn texel(&self, view: &ImageView, l: &Level, [x, y, z, layer]: [u32; 4], sample: u32) {
        self.bytes(view.block(l, x, y, z, layer, sample) as u64, view.format.block_bytes as u64);
    }

    fn bytes(&self, at: u64, n: u64) {
        let mut lines = self.0.borrow_mut();
        for line in at >> 6..=(at + n - 1) >> 6 {
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
    }

    /// Texels of filtered samples.
    pub fn sample(&self, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) {
        if view.levels.is_empty() {
            return;
        }
        if let Some((base, at)) = fast::corner_offsets(view, sampler, args) {
            for lane in lanes(mask) {
                for at in &at {
                    self.bytes(base as u64 + at[lane] as u64, view.format.block_bytes as u64);
                }
            }
        } else {
            filter::lanes_sampled(view, sampler, args, mask, Some(self), |_, _| {});
        }
    }

    /// Texels of a gather.
    pub fn gather(&self, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) {
        let Some(l) = view.levels.first().filter(|_| view.min_lod < 1.0) else { return };
        let border = filter::border(view, sampler);
        for lane in lanes(mask) {
            let (ctx, place) = Lane::new(view, sampler, args, border, lane, Some(self));
            ctx.gather(l, place, args.offsets, lane);
        }
    }

    /// Texels by integer coordinates, as [`super::fetch_warp`] has them.
    pub fn fetch(
        &self,
        view: &ImageView,
        coords: &[[u32; 16]],
        lod: Option<&[u32; 16]>,
        sample: Option<&[u32; 16]>,
        mask: u16,
    ) {
        for lane in lanes(mask) {
            if let Some((l, at, n)) = texel::found(view, coords, lod, sample, lane) {
                // SAFETY: it was found.
                unsafe { self.texel(view, l, at, n) }
            }
        }
    }

    /// Texels of a buffer.
    pub fn buffer(&self, view: &BufferView, index: &[u32; 16], mask: u16) {
        for lane in lanes(mask) {
            if let Some(p) = view.address(index[lane]) {
                self.bytes(p as u64, view.format.block_bytes as u64);
            }
        }
    }
}

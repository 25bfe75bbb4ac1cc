//! The cache lines of texels that an operation touches.

use super::args::{SampleArgs, lanes};
use super::blend::border;
use super::fast;
use super::filter::{self, Lane};
use super::lines::Touched;
use super::sampler::Sampler;
use super::texel;
use super::view::{BufferView, ImageView};

impl Touched {
    /// Texels of filtered samples.
    pub fn sample(&self, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) {
        if view.levels.is_empty() {
            return;
        }
        let mut reads = fast::Reads::default();
        if let Some(base) = fast::reads(view, sampler, args, mask, &mut reads) {
            let texels = reads.all(mask).map(|at| base as u64 + at as u64);
            if self.exactly(view.format.block_bytes, texels) {
                return;
            }
            for at in lanes(mask).flat_map(|lane| reads.of(lane)) {
                self.bytes(base as u64 + at as u64, view.format.block_bytes as u64);
            }
        } else if let Some(y) = &view.ycbcr {
            y.touch(view, sampler, args, mask, self);
        } else {
            filter::lanes_sampled(view, sampler, args, mask, Some(self), |_, _| {});
        }
    }

    /// Texels of a gather.
    pub fn gather(&self, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) {
        let Some(l) = view.levels.first().filter(|_| view.min_lod < 1.0) else { return };
        let border = border(view, sampler);
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

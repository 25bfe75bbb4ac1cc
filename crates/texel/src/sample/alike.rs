//! Views that differ in their place only, as those of a large array of descriptors often do: lanes of a warp that sample
//! one each go together.

use super::args::{SampleArgs, Shift, Warp4, few, lanes};
use super::fast;
use super::filter::sample_warp;
use super::sampler::Sampler;
use super::view::ImageView;

/// Lanes that sample views that are alike, with samplers of the same content.
pub struct Alike<'a> {
    view: &'a ImageView,
    sampler: &'a Sampler,
    mask: u16,
    /// Lanes of views other than the first.
    others: u16,
    /// Addresses of first texels, by lane.
    base: [u64; 16],
    /// The view whose texels come first.
    lead: &'a ImageView,
}

fn base(view: &ImageView) -> u64 {
    view.levels.first().map_or(0, |l| l.base as u64)
}

impl<'a> Alike<'a> {
    pub fn new(view: &'a ImageView, sampler: &'a Sampler, mask: u16) -> Alike<'a> {
        Alike { view, sampler, mask, others: 0, base: [base(view); 16], lead: view }
    }

    pub fn mask(&self) -> u16 {
        self.mask
    }

    /// Adds other lanes; false if their view or sampler is not like the first.
    #[inline]
    pub fn add(&mut self, view: &'a ImageView, sampler: &'a Sampler, mask: u16) -> bool {
        if !(std::ptr::eq(self.sampler, sampler) || self.sampler == sampler) {
            return false;
        }
        if !std::ptr::eq(self.view, view) {
            if !view.is_like(self.view) {
                return false;
            }
            let at = base(view);
            lanes(mask).for_each(|l| self.base[l] = at);
            self.others |= mask;
            self.lead = if at < base(self.lead) { view } else { self.lead };
        }
        self.mask |= mask;
        true
    }

    /// Samples for all lanes; false, with nothing done, where that is not possible at once.
    pub fn sample(&self, args: &SampleArgs, out: &mut Warp4) -> bool {
        if self.others == 0 {
            sample_warp(self.view, self.sampler, args, self.mask, out);
            return true;
        }
        let first = base(self.lead);
        let (mut shift, mut far) = ([0; 16], 0);
        for l in lanes(self.mask) {
            let bytes = self.base[l] - first;
            shift[l] = bytes as u32;
            far |= bytes >> 32;
        }
        let args = SampleArgs { shift: Some(Shift(&shift)), ..*args };
        far == 0 && !few(self.mask) && fast::sample(self.lead, self.sampler, &args, self.mask, out)
    }
}

impl ImageView {
    /// Whether samples of the two differ in nothing but where their texels are.
    fn is_like(&self, o: &ImageView) -> bool {
        let (Some(a), Some(b)) = (&self.fast, &o.fast) else { return false };
        std::ptr::eq(self.format, o.format)
            && self.swizzle == o.swizzle
            && self.dims == o.dims
            && self.layers == o.layers
            && self.min_lod == o.min_lod
            && a.is_like(b)
    }
}

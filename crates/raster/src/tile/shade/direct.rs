//! Writes of warps whose quads belong to several primitives, as most draws have them: one sample, and one attachment of four bytes a pixel,
//! which is replaced. What [`crate::tile::shade`] checks for each warp is checked once a wave.

use crate::tile::blend::Writer;
use crate::tile::counts;
use crate::tile::item::Item;
use crate::tile::pack::packer::Slot;
use crate::tile::task::Task;
use simd::Simd;
use texel::row::Row;

/// Pixels that are replaced.
pub(in crate::tile) struct Direct<'a> {
    writer: &'a Writer,
    /// Red and blue change places.
    swap: bool,
    /// The tile's pixels.
    base: *mut u8,
    rows: [Row; 4],
}

/// What [`Direct::write`] wrote: samples, and quads.
#[derive(Default)]
pub(in crate::tile) struct Written {
    pub passed: u64,
    pub quads: u64,
}

impl Direct<'_> {
    /// Writes the lanes `alive` of a warp.
    ///
    /// # Safety
    /// The rows hold warp `w`; the slot's quads are the tile's.
    #[inline(always)]
    pub(in crate::tile) unsafe fn write<S: Simd>(
        &self,
        s: S,
        slot: &Slot,
        w: usize,
        alive: u16,
        done: &mut Written,
    ) {
        let mask = slot.masks[0] & alive;
        done.passed += mask.count_ones() as u64;
        done.quads += counts::quads(mask);
        // SAFETY: the rows hold the warp.
        let colors = unsafe {
            [
                self.rows[0].words(s, w),
                self.rows[1].words(s, w),
                self.rows[2].words(s, w),
                self.rows[3].words(s, w),
            ]
        };
        let mut nowhere = [0; 4];
        let at = slot.quads4(self.base, mask, &mut nowhere);
        // SAFETY: four quads of the plane, no two the same, of the writer's format.
        unsafe { self.writer.replace_quads4(s, at, &colors, self.swap, mask) };
    }
}

impl Writer {
    /// As [`Self::write_quads4`], of a writer of [`Self::replaces_four_bytes`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn replace_quads4<S: Simd>(
        &self,
        s: S,
        at: [*mut u8; 4],
        src: &[S::I; 4],
        swap: bool,
        mask: u16,
    ) {
        // SAFETY: the caller's quads.
        let old = unsafe { s.iload4(at) };
        let new = self.new4(s, old, src, None, swap, false);
        // SAFETY: as above.
        unsafe { s.istore4(at, s.isel(s.mask(mask), new, old)) };
    }
}

impl Task<'_> {
    /// How warps that are not full are written, if that is all that is left to do with their pixels: one sample and one attachment
    /// of four bytes a pixel, which are replaced.
    #[inline(always)]
    pub(in crate::tile) fn direct<'i>(
        &self,
        item: &'i Item,
        channels: &impl Fn(&[Option<usize>; 4]) -> [Row; 4],
    ) -> Option<Direct<'i>> {
        let plan = &*item.plan;
        let [c] = &plan.colors[..] else { return None };
        if plan.samples != 1 || plan.late || plan.alters_alpha || c.second.is_some() {
            return None;
        }
        let swap = c.writer.replaces_four_bytes()?;
        let p = self.targets.list[c.attachment as usize].color.as_ref()?;
        // SAFETY: the task's tile has the plane.
        let base = unsafe { p.sample(self.tile, 0) };
        Some(Direct { writer: &c.writer, swap, base, rows: channels(&c.outputs) })
    }
}

//! Primitives whose coverage is not that of a polygon's samples: smooth lines, conservative primitives, lists of pixels.

use super::block::block;
use crate::layout::{TILE, pixel, sample_locations};
use crate::tile::cover::{self, MAX_SAMPLES};
use crate::tile::task::{Of, Task};
use wave::Stop;

impl Task<'_> {
    /// A smooth line: pixels of which any of sixteen samples is covered, with their share of them
    /// (§ Smooth Lines leaves the filter open).
    pub(in crate::tile) fn smooth(&mut self, of: &Of) -> Result<(), Stop> {
        if !self.cover.set(of.prim, &of.item.batch.edges, self.origin, false, sample_locations(16), false) {
            return Ok(());
        }
        cover::list(self.level, self.cover, self.covered);
        for k in 0..self.covered.count {
            let (b, sixteen) = (self.covered.blocks[k] as usize, self.covered.masks[k]);
            let any = sixteen.iter().fold(0, |a, m| a | m);
            let mut masks = [0; MAX_SAMPLES];
            masks[..of.item.plan.samples].fill(any);
            for l in 0..16 {
                self.coverage[l] = sixteen.iter().filter(|m| **m >> l & 1 != 0).count() as u8;
            }
            block(self.level, self, of, b, &masks)?;
        }
        self.coverage = [16; 16];
        Ok(())
    }

    /// A primitive that covers the pixels whose centres are in it, all samples of each.
    pub(in crate::tile) fn centers(&mut self, of: &Of) -> Result<(), Stop> {
        if !self.cover.set(of.prim, &of.item.batch.edges, self.origin, false, sample_locations(1), true) {
            return Ok(());
        }
        cover::list(self.level, self.cover, self.covered);
        for k in 0..self.covered.count {
            let mut masks = [0; MAX_SAMPLES];
            masks[..of.item.plan.samples].fill(self.covered.masks[k][0]);
            block(self.level, self, of, self.covered.blocks[k] as usize, &masks)?;
        }
        Ok(())
    }

    /// A primitive that covers listed pixels.
    pub(in crate::tile) fn pixels(&mut self, of: &Of) -> Result<(), Stop> {
        let [first, count] = of.prim.listed();
        for &[x, y] in &of.item.batch.pixels[first as usize..(first + count) as usize] {
            let b = &of.prim.bounds.rect();
            let (tx, ty) = (x - self.origin[0], y - self.origin[1]);
            let inside = x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1;
            if inside && (0..TILE).contains(&tx) && (0..TILE).contains(&ty) {
                let p = pixel(tx as usize, ty as usize);
                let mut masks = [0; MAX_SAMPLES];
                masks[..of.item.plan.samples].fill(1 << (p % 16));
                block(self.level, self, of, p / 16, &masks)?;
            }
        }
        Ok(())
    }
}

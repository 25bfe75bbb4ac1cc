//! What render passes left undefined in an image (VK_ATTACHMENT_STORE_OP_DONT_CARE): to read it is a mistake that shows only on a
//! GPU that discards tiles, so it is told once per image.

use ash::vk;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A part of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub aspects: vk::ImageAspectFlags,
    pub levels: Range<u32>,
    /// Layers; slices of a 3D image.
    pub layers: Range<u32>,
    /// Texels of the level along x and y.
    pub area: [Range<u32>; 2],
}

fn meet(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Part {
    fn meets(&self, other: &Part) -> bool {
        self.aspects.intersects(other.aspects)
            && meet(&self.levels, &other.levels)
            && meet(&self.layers, &other.layers)
            && self.area.iter().zip(&other.area).all(|(a, b)| meet(a, b))
    }
    /// Whether it has all of a level's texels in a layer.
    fn holds(&self, aspect: vk::ImageAspectFlags, level: u32, layer: u32, extent: [u32; 2]) -> bool {
        self.aspects.contains(aspect)
            && self.levels.contains(&level)
            && self.layers.contains(&layer)
            && self.area.iter().zip(extent).all(|(a, n)| a.start == 0 && a.end >= n)
    }
}

/// Parts that are remembered at most. Of what is discarded beyond them nothing is told.
const MOST: usize = 64;

/// The parts of one image that are undefined, each with the pass that discarded it.
#[derive(Default)]
pub struct Discarded {
    any: AtomicBool,
    /// Nothing is to be told of the image, or all has been told.
    ended: AtomicBool,
    parts: Mutex<Vec<(Part, Arc<str>)>>,
}

impl Discarded {
    /// Nothing is told of the image: others than its own commands may write it.
    pub fn end(&self) {
        self.ended.store(true, Relaxed);
        self.forget();
    }

    /// Whether there is anything to look for.
    #[inline]
    pub fn any(&self) -> bool {
        self.any.load(Relaxed)
    }

    /// A pass has ended that does not store `part`. `pass`: what people call it.
    pub fn add(&self, part: Part, pass: impl FnOnce() -> Arc<str>) {
        if self.ended.load(Relaxed) {
            return;
        }
        let mut parts = self.parts.lock();
        parts.retain(|p| !p.0.meets(&part));
        if parts.len() < MOST {
            parts.push((part, pass()));
        }
        self.any.store(!parts.is_empty(), Relaxed);
    }

    /// Something of `part` has been written. What it meets is no longer told of, whether all of that was written or not.
    pub fn written(&self, part: &Part) {
        if self.any() {
            let mut parts = self.parts.lock();
            parts.retain(|p| !p.0.meets(part));
            self.any.store(!parts.is_empty(), Relaxed);
        }
    }

    /// Any of the image may have been written.
    pub fn forget(&self) {
        if self.any() {
            self.parts.lock().clear();
            self.any.store(false, Relaxed);
        }
    }

    /// Texels of `part` are read: the pass that discarded some of them, the first time.
    pub fn read(&self, part: &Part) -> Option<Arc<str>> {
        if !self.any() {
            return None;
        }
        let pass = self.parts.lock().iter().find(|p| p.0.meets(part)).map(|p| p.1.clone())?;
        self.told(pass)
    }

    /// Some texels of `part` are read, it is not known which: the pass that discarded one of its layers, the first time, if all of
    /// its texels are discarded. `extent`: the texels of a level.
    pub fn read_somewhere(&self, part: &Part, extent: impl Fn(u32) -> [u32; 2]) -> Option<Arc<str>> {
        if !self.any() {
            return None;
        }
        let parts = self.parts.lock();
        let by = |level, layer| parts.iter().find(|p| p.0.holds(part.aspects, level, layer, extent(level)));
        let mut pass = None;
        for level in part.levels.clone() {
            for layer in part.layers.clone() {
                pass = Some(by(level, layer)?.1.clone());
            }
        }
        drop(parts);
        self.told(pass?)
    }

    fn told(&self, pass: Arc<str>) -> Option<Arc<str>> {
        let first = !self.ended.swap(true, Relaxed);
        self.forget();
        first.then_some(pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(levels: Range<u32>, layers: Range<u32>, area: [Range<u32>; 2]) -> Part {
        Part { aspects: vk::ImageAspectFlags::DEPTH, levels, layers, area }
    }

    fn discarded(p: Part) -> Discarded {
        let d = Discarded::default();
        d.add(p, || "a pass".into());
        d
    }

    #[test]
    fn a_read_is_told_once_and_only_where_it_meets_what_was_discarded() {
        let d = discarded(part(1..2, 3..4, [8..16, 0..16]));
        let apart = [
            part(0..1, 3..4, [0..16, 0..16]),
            part(1..2, 0..3, [0..16, 0..16]),
            part(1..2, 3..4, [0..8, 0..16]),
            Part { aspects: vk::ImageAspectFlags::STENCIL, ..part(1..2, 3..4, [0..16, 0..16]) },
        ];
        assert!(apart.iter().all(|p| d.read(p).is_none()));
        let all = part(0..5, 0..9, [0..16, 0..16]);
        assert_eq!(d.read(&all).as_deref(), Some("a pass"));
        d.add(part(1..2, 3..4, [8..16, 0..16]), || unreachable!("nobody asks any more"));
        assert!(d.read(&all).is_none() && !d.any());
    }

    #[test]
    fn what_is_written_is_forgotten() {
        let all = part(0..1, 0..1, [0..16, 0..16]);
        let d = discarded(all.clone());
        d.written(&part(0..1, 1..2, [0..16, 0..16]));
        assert!(d.any());
        // Part of it suffices: what is left may be told of wrongly otherwise.
        d.written(&part(0..1, 0..1, [0..1, 0..1]));
        assert!(!d.any() && d.read(&all).is_none());
        let d = discarded(all.clone());
        d.forget();
        assert!(d.read(&all).is_none());
    }

    #[test]
    fn a_view_of_which_one_layer_is_defined_may_be_read() {
        let view = part(0..2, 0..6, [0..16, 0..16]);
        let extent = |level: u32| [16 >> level; 2];
        let d = discarded(part(0..1, 0..6, [0..16, 0..16]));
        assert!(d.read_somewhere(&view, extent).is_none());
        d.add(part(1..2, 0..5, [0..8, 0..8]), || "another".into());
        assert!(d.read_somewhere(&view, extent).is_none());
        d.add(part(1..2, 5..6, [0..8, 0..7]), || "another".into());
        assert!(d.read_somewhere(&view, extent).is_none(), "a row is defined");
        d.add(part(1..2, 5..6, [0..8, 0..8]), || "the last".into());
        assert_eq!(d.read_somewhere(&view, extent).as_deref(), Some("the last"));
    }

    #[test]
    fn of_an_image_that_others_write_nothing_is_told() {
        let d = Discarded::default();
        d.end();
        let all = part(0..1, 0..1, [0..16, 0..16]);
        d.add(all.clone(), || unreachable!("nobody asks"));
        assert!(d.read(&all).is_none());
    }
}

//! Attachments of one sample that a subpass draws to with several (VK_EXT_multisampled_render_to_single_sampled,
//! § Render Pass Creation, VkMultisampledRenderToSingleSampledInfoEXT).
//!
//! Such an attachment has a stand-in: planes with that many samples, which exist only in the tile buffer. At the beginning of the subpass every
//! sample takes the pixel's value, and at its end the samples are resolved. Before and after, memory sees only the attachment with one
//! sample. Stand-ins of different subpasses share their place in the tile buffer. If tiles are drawn while a subpass is still being
//! recorded, the samples are put aside.

use crate::layout::PIXELS;
use crate::pass::Subpass;
use crate::tile::memory::plane::Plane;
use crate::tile::memory::target::{Target, Targets};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;

/// The stand-ins of a subpass.
#[derive(Clone, Default)]
pub struct Expanded {
    /// (attachment, stand-in): indices into [`Targets::list`].
    pub pairs: Vec<(u32, u32)>,
    /// Where they lie in the tile buffer.
    pub bytes: Range<usize>,
}

/// Makes `sub` draw to stand-ins, from byte `at` of the tile buffer on, where it is to expand attachments. The first
/// `own` of the list are attachments.
pub fn plan(sub: &mut Subpass, list: &mut Vec<Target>, own: usize, at: usize) -> Expanded {
    let mut e = Expanded { pairs: Vec::new(), bytes: at..at };
    if sub.expand <= 1 {
        return e;
    }
    let samples = sub.expand;
    for a in sub.colors.iter_mut().chain([&mut sub.depth, &mut sub.stencil]) {
        let Some(i) = a.filter(|i| (*i as usize) < own) else { continue };
        if let Some(to) = e.stand_in(i) {
            *a = Some(to);
            continue;
        }
        let t = &list[i as usize];
        if t.samples != 1 || t.planes().next().is_none() {
            continue;
        }
        let mut place = |p: &Option<Plane>| {
            let p = p.as_ref()?.expanded(samples, e.bytes.end);
            e.bytes.end += p.size();
            Some(p)
        };
        let many =
            Target { color: place(&t.color), depth: place(&t.depth), stencil: place(&t.stencil), samples };
        *a = Some(list.len() as u32);
        e.pairs.push((i, list.len() as u32));
        list.push(many);
    }
    e
}

impl Targets {
    /// What subpass `s` draws to instead of attachment `a`, if anything.
    pub fn stand_in(&self, s: usize, a: u32) -> Option<&Target> {
        self.list.get(self.expanded.get(s)?.stand_in(a)? as usize)
    }
}

impl Expanded {
    /// What stands in for attachment `a`.
    pub fn stand_in(&self, a: u32) -> Option<u32> {
        self.pairs.iter().find(|(from, _)| *from == a).map(|(_, to)| *to)
    }

    /// Every sample takes its pixel's value.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn spread(&self, targets: &Targets, tile: *mut u8) {
        for (from, to) in &self.pairs {
            let (one, many) = (&targets.list[*from as usize], &targets.list[*to as usize]);
            for (f, t) in one.planes().zip(many.planes()) {
                // SAFETY: a plane of the caller's tile.
                let apart = unsafe {
                    t.set_alike(tile, true);
                    t.samples_in(tile, 0)
                };
                for s in 0..apart {
                    // SAFETY: planes of the caller's tile, which lie apart in it and have pixels of one size.
                    unsafe {
                        t.sample(tile, s).copy_from_nonoverlapping(f.sample(tile, 0), PIXELS * f.bytes)
                    };
                }
            }
        }
    }
}

/// Samples of tiles that are not done with: those of a subpass under way, by layer and tile.
#[derive(Default)]
pub struct Aside(Mutex<HashMap<(u32, [i32; 2]), Box<[u8]>>>);

impl Aside {
    /// Puts a tile's samples aside.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn save(&self, e: &Expanded, tile: *const u8, layer: u32, at: [i32; 2]) {
        // SAFETY: the part of the caller's tile that holds these planes.
        let bytes = unsafe { std::slice::from_raw_parts(tile.add(e.bytes.start), e.bytes.len()) };
        self.0.lock().insert((layer, at), bytes.into());
    }

    /// Brings them back. False if there are none.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn restore(&self, e: &Expanded, tile: *mut u8, layer: u32, at: [i32; 2]) -> bool {
        let kept = self.0.lock().remove(&(layer, at)).filter(|b| b.len() == e.bytes.len());
        if let Some(b) = &kept {
            // SAFETY: as in `save`, and as many bytes.
            unsafe { tile.add(e.bytes.start).copy_from_nonoverlapping(b.as_ptr(), b.len()) };
        }
        kept.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_without_images_have_no_stand_ins() {
        let one = || Target { samples: 1, ..Target::default() };
        let mut list = vec![one(), one()];
        let mut sub =
            Subpass { colors: vec![Some(0), None, Some(7)], depth: Some(1), expand: 4, ..Default::default() };
        let e = plan(&mut sub, &mut list, 2, 64);
        assert_eq!((e.pairs.len(), e.bytes, list.len()), (0, 64..64, 2));
        assert_eq!((sub.colors, sub.depth), (vec![Some(0), None, Some(7)], Some(1)));
    }

    #[test]
    fn samples_put_aside_come_back_once() {
        let e = Expanded { pairs: Vec::new(), bytes: 2..5 };
        let aside = Aside::default();
        let mut tile = [1u8, 2, 3, 4, 5, 6];
        // SAFETY: within what the test has made.
        unsafe {
            aside.save(&e, tile.as_ptr(), 1, [2, 3]);
            tile.fill(0);
            assert!(!aside.restore(&e, tile.as_mut_ptr(), 0, [2, 3]));
            assert!(aside.restore(&e, tile.as_mut_ptr(), 1, [2, 3]));
            assert!(!aside.restore(&e, tile.as_mut_ptr(), 1, [2, 3]));
        }
        assert_eq!(tile, [0, 0, 3, 4, 5, 0]);
    }
}

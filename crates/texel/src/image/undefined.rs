//! Parts of images become undefined ([`crate::memory::poison`]).

use super::discarded::Part;
use super::{Blank, Image, Surface};
use crate::memory::poison;
use ash::vk::ImageAspectFlags as Aspects;
use std::ops::Range;

impl Image {
    /// What a part holds is undefined from now on. Images that may have holes keep theirs.
    pub fn undefine(&self, part: &Part) {
        if self.sparse().is_some() {
            return;
        }
        self.blank.iter().for_each(Blank::forget);
        // Of an image of several planes the colour is all of them.
        let all = part.aspects.contains(Aspects::COLOR) && !self.format.is_depth_stencil();
        for plane in &self.layout.planes {
            if !all && !part.aspects.intersects(plane.aspect) {
                continue;
            }
            for level in part.levels.start..part.levels.end.min(self.mips) {
                if let Some(surface) = self.surface(plane.aspect, level) {
                    undefine(&surface, part, self.layers == 1 && surface.blocks[2] > 1);
                }
            }
        }
    }
}

/// `solid`: layers of the part are slices.
fn undefine(s: &Surface, part: &Part, solid: bool) {
    let [width, height, _] = s.format.block_extent;
    // Blocks that lie wholly within the area, or within it and the level.
    let along = |area: &Range<u32>, texels: u32, block: u32, blocks: u32| {
        let end = if area.end >= texels { blocks } else { area.end / block };
        area.start.div_ceil(block)..end.min(blocks)
    };
    let xs = along(&part.area[0], s.extent[0], width, s.blocks[0]);
    let ys = along(&part.area[1], s.extent[1], height, s.blocks[1]);
    let (layers, slices) = match solid {
        true => (0..1, part.layers.start..part.layers.end.min(s.blocks[2])),
        false => (part.layers.start..part.layers.end.min(s.layers), 0..s.blocks[2]),
    };
    let bytes = s.format.block_bytes as u64;
    for layer in layers {
        for sample in 0..s.samples {
            for z in slices.clone() {
                for y in ys.clone().filter(|_| !xs.is_empty()) {
                    // SAFETY: the surface has these blocks; nobody else uses what is undefined.
                    unsafe {
                        s.stretches([xs.start, y, z], sample, layer, xs.end - xs.start, |at, _, n| {
                            poison::fill(at, n as u64 * bytes)
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{info_2d, space};
    use crate::memory::{Bound, DeviceMemory};
    use ash::vk;

    #[test]
    fn only_the_part_is_undefined() {
        let image = Image::new(space(), &info_2d(vk::Format::R8_UNORM, 40, 20)).unwrap();
        let memory = DeviceMemory::allocate(space(), image.size(), 0, false).unwrap();
        assert!(image.bind(Bound { memory, offset: 0 }));
        let part = Part { aspects: Aspects::COLOR, levels: 0..1, layers: 0..1, area: [8..24, 4..u32::MAX] };
        image.undefine(&part);
        let s = image.surface(Aspects::COLOR, 0).unwrap();
        for y in 0..20 {
            for x in 0..40 {
                // SAFETY: texels of the image.
                let is = unsafe { *s.block(x, y, 0, 0, 0) != 0 };
                let wanted = (8..24).contains(&x) && y >= 4 && x % 4 != 1;
                assert_eq!(is, wanted, "{x} {y}");
            }
        }
        image.undefine(&Part { aspects: Aspects::DEPTH, area: [0..40, 0..20], ..part });
        // SAFETY: as above.
        assert_eq!(unsafe { *s.block(0, 0, 0, 0, 0) }, 0, "it has no depth");
    }
}

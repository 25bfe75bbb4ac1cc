//! Values of Vulkan in the form that draws and passes have them in.

use raster::state::Rect;

/// A rectangle of pixels; what lies beyond 32 bits is cut.
pub(crate) fn rect(r: &vk::Rect2D) -> Rect {
    let end = |at: i32, size: u32| (at as i64 + size as i64).min(i32::MAX as i64) as i32;
    Rect {
        x0: r.offset.x,
        y0: r.offset.y,
        x1: end(r.offset.x, r.extent.width),
        y1: end(r.offset.y, r.extent.height),
    }
}

/// A sample count as its number; what is none counts as one.
pub(crate) fn samples(s: vk::SampleCountFlags) -> u32 {
    let n = s.as_raw();
    if n.is_power_of_two() && n <= 64 { n } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_do_not_overflow() {
        let r = rect(&vk::Rect2D {
            offset: vk::Offset2D { x: 5, y: -3 },
            extent: vk::Extent2D { width: u32::MAX, height: 4 },
        });
        assert_eq!(r, Rect { x0: 5, y0: -3, x1: i32::MAX, y1: 1 });
    }
}

//! Which points a triangle covers, in exact integers: what pictures are compared with.
//! Vulkan specification, "Basic Polygon Rasterization", and the top-left rule that hardware and other interfaces fix.

/// A position in 256ths of a pixel, y down.
pub type Point = [i64; 2];

/// Steps of a pixel.
pub const SUBPIXELS: i64 = 256;

/// A position in pixels on the grid of a driver with so many sub-pixel bits (at most 8), halves rounded up.
pub fn snapped(pixels: [f64; 2], bits: u32) -> Point {
    let steps = 1 << bits;
    pixels.map(|p| (p * f64::from(steps) + 0.5).floor() as i64 * (SUBPIXELS / i64::from(steps)))
}

/// Twice the signed area: positive where a, b, c turn clockwise on the screen.
pub fn area(a: Point, b: Point, c: Point) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The weights of the three corners at `p` where the triangle covers it, of either winding. Corners lie within
/// ± 2²⁹, so that products stay within 64 bits.
pub fn weights(corners: [Point; 3], p: Point) -> Option<[f64; 3]> {
    let whole = area(corners[0], corners[1], corners[2]);
    if whole == 0 {
        return None;
    }
    let mut weights = [0.0; 3];
    for (i, weight) in weights.iter_mut().enumerate() {
        let (mut from, mut to) = (corners[(i + 1) % 3], corners[(i + 2) % 3]);
        if whole < 0 {
            (from, to) = (to, from);
        }
        let side = area(from, to, p);
        let direction = [to[0] - from[0], to[1] - from[1]];
        let top_or_left = direction[1] < 0 || (direction[1] == 0 && direction[0] > 0);
        if side < 0 || (side == 0 && !top_or_left) {
            return None;
        }
        *weight = side as f64 / whole.abs() as f64;
    }
    Some(weights)
}

/// The pixels of a target of `size` whose squares meet the triangle's bounding box: x and y ranges.
pub fn bounds(corners: [Point; 3], size: [u32; 2]) -> [std::ops::Range<u32>; 2] {
    [0, 1].map(|axis| {
        let of = corners.map(|c| c[axis]);
        let low = of.into_iter().min().unwrap_or(0).div_euclid(SUBPIXELS);
        let high = of.into_iter().max().unwrap_or(0).div_euclid(SUBPIXELS) + 1;
        let limit = i64::from(size[axis]);
        low.clamp(0, limit) as u32..high.clamp(0, limit) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles that share edges cover every point of their union once.
    #[test]
    fn shared_edges_belong_to_one_triangle() {
        let corner = |x: i64, y: i64| [x * SUBPIXELS, y * SUBPIXELS];
        let (nw, ne, se, sw) = (corner(0, 0), corner(8, 0), corner(8, 8), corner(0, 8));
        for middle in [[1024, 1024], [1152, 1152], [700, 1300]] {
            let fan = [[nw, ne, middle], [ne, se, middle], [sw, middle, se], [sw, nw, middle]];
            for (x, y) in (0..8).flat_map(|y| (0..8).map(move |x| (x, y))) {
                let p = [x * SUBPIXELS + 128, y * SUBPIXELS + 128];
                let hits: Vec<_> = fan.iter().filter_map(|t| weights(*t, p)).collect();
                assert_eq!(hits.len(), 1, "{middle:?} {p:?}");
                assert!((hits[0].iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn left_and_top_edges_count_right_and_bottom_do_not() {
        let square = |p| {
            let (a, b, c, d) = ([128, 128], [384, 128], [384, 384], [128, 384]);
            weights([a, b, c], p).is_some() || weights([a, c, d], p).is_some()
        };
        assert!(square([128, 128]));
        assert!(!square([384, 128]) && !square([128, 384]) && !square([384, 384]));
        assert_eq!(bounds([[128, 128], [384, 128], [384, 384]], [64, 64]), [0..2, 0..2]);
    }
}

//! From clip space to the framebuffer (Vulkan specification, "Coordinate Transformations", "Controlling the Viewport").

use crate::state::{Rect, State, Viewport};

/// Pixels within which snapped coordinates must lie: what [`crate::prim::Edge`] has room for.
pub const GUARD: [f32; 2] = [-8192.0, 24576.0];
/// Kept free at the guard band's ends for rounding.
pub const MARGIN: f32 = 4.0;
/// Sub-pixels of a pixel.
pub const SUB: f32 = 256.0;

/// One viewport, ready for use.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Framebuffer coordinate = scale · (clip / w) + offset.
    pub scale: [f32; 3],
    pub offset: [f32; 3],
    /// Pixels that may be drawn: scissor and render area; and the same within the viewport's rectangle, for what is
    /// clipped to it.
    pub scissor: Rect,
    pub inside: Rect,
    /// The rectangle has fractions of pixels: primitives must be clipped to it.
    pub clip_xy: bool,
}

impl Map {
    pub fn new(v: &Viewport, scissor: Rect, area: Rect, negative_one_to_one: bool) -> Map {
        let (hx, hy) = (v.width * 0.5, v.height * 0.5);
        let (sz, oz) = if negative_one_to_one {
            ((v.max_depth - v.min_depth) * 0.5, (v.max_depth + v.min_depth) * 0.5)
        } else {
            (v.max_depth - v.min_depth, v.min_depth)
        };
        let x = [v.x, v.x + v.width];
        let y = [v.y.min(v.y + v.height), v.y.max(v.y + v.height)];
        let whole = x.iter().chain(&y).all(|c| c.fract() == 0.0);
        let scissor = scissor.intersect(&area);
        let rect = Rect {
            x0: x[0].floor() as i32,
            y0: y[0].floor() as i32,
            x1: x[1].ceil() as i32,
            y1: y[1].ceil() as i32,
        };
        Map {
            scale: [hx, hy, sz],
            offset: [v.x + hx, v.y + hy, oz],
            scissor,
            inside: scissor.intersect(&rect),
            clip_xy: !whole,
        }
    }

    /// Those of a draw.
    pub fn all(state: &State, area: Rect) -> Vec<Map> {
        let nothing = Rect::default();
        let of = |(i, v)| {
            let scissor = state.scissors.get(i).copied().unwrap_or(nothing);
            Map::new(v, scissor, area, state.depth_negative_one_to_one)
        };
        state.viewports.iter().enumerate().map(of).collect()
    }

    /// Framebuffer coordinates of a clip-space position.
    #[inline(always)]
    pub fn window(&self, p: [f32; 4]) -> [f32; 3] {
        [
            p[0] / p[3] * self.scale[0] + self.offset[0],
            p[1] / p[3] * self.scale[1] + self.offset[1],
            p[2] / p[3] * self.scale[2] + self.offset[2],
        ]
    }
}

/// A framebuffer coordinate in sub-pixels, nearest even; wild ones end up outside the guard band.
#[inline(always)]
#[allow(clippy::manual_clamp)] // `clamp` keeps a NaN
pub fn snap(c: f32) -> i32 {
    let c = (c * SUB).round_ties_even().max(-1e8).min(1e8);
    // SAFETY: within ±1e8 (a NaN has become −1e8).
    unsafe { c.to_int_unchecked() }
}

/// True where a framebuffer coordinate keeps clear of the guard band's ends.
#[inline(always)]
pub fn in_guard(c: f32) -> bool {
    c > GUARD[0] + MARGIN && c < GUARD[1] - MARGIN
}

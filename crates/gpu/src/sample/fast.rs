//! Kernels for eight-bit RGBA images in two dimensions: nearest and bilinear, repeat or clamp, without comparison,
//! reduction or anisotropy. The same bits as the general path.

use super::coords::{floor, layer, wrap};
use super::filter::mix;
use super::lod;
use super::sampler::{Reduction, Sampler, Wrap};
use super::view::{ImageView, Level};
use super::{SampleArgs, Warp4, lanes};
use crate::format::{TexelKind, num};
use std::sync::LazyLock;

/// Byte order and curve of the texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Rgba,
    Bgra,
    RgbaSrgb,
    BgraSrgb,
}

/// The kernels' class of a view, if it has one.
pub(super) fn order(view: &ImageView) -> Option<Order> {
    if view.dims != 2 || view.is_cube || view.samples != 1 {
        return None;
    }
    match view.format.kind {
        TexelKind::Rgba8Unorm => Some(Order::Rgba),
        TexelKind::Bgra8Unorm => Some(Order::Bgra),
        TexelKind::Rgba8Srgb => Some(Order::RgbaSrgb),
        TexelKind::Bgra8Srgb => Some(Order::BgraSrgb),
        _ => None,
    }
}

static UNORM: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|i| i as f32 / 255.0));

/// Decoding tables of the colours and of alpha.
struct Tables {
    color: &'static [f32; 256],
    alpha: &'static [f32; 256],
    bgr: bool,
}

impl Tables {
    fn of(order: Order) -> Tables {
        let color = match order {
            Order::Rgba | Order::Bgra => &*UNORM,
            _ => num::srgb8_table(),
        };
        Tables { color, alpha: &UNORM, bgr: matches!(order, Order::Bgra | Order::BgraSrgb) }
    }
    #[inline(always)]
    fn decode(&self, v: u32) -> [f32; 4] {
        let [a, b, c, d] = v.to_le_bytes();
        let (r, b8) = if self.bgr { (c, a) } else { (a, c) };
        [self.color[r as usize], self.color[b as usize], self.color[b8 as usize], self.alpha[d as usize]]
    }
}

/// Samples if view, sampler and operands are of a class that has a kernel; false if not.
pub(super) fn sample(view: &ImageView, s: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) -> bool {
    let Some(order) = view.rgba8 else { return false };
    let eligible = args.dims == 2
        && args.dref.is_none()
        && s.reduction == Reduction::Average
        && s.anisotropy <= 1.0
        && s.wrap[..2].iter().all(|w| *w != Wrap::Border);
    if !eligible {
        return false;
    }
    let t = Tables::of(order);
    let plain = view.levels.len() == 1 && s.mag_linear == s.min_linear;
    for lane in lanes(mask) {
        let c = |k: usize| f32::from_bits(args.coords[k][lane]);
        let st = [c(0), c(1)];
        let z = if args.arrayed { layer(c(2), view.layers) } else { 0 };
        let offset = args.offsets.map_or([0.0; 2], |o| [0, 1].map(|k| o[k][lane] as i32 as f32));
        let level = |l: &Level, linear: bool| one_level(view, s, &t, l, st, offset, z, linear);
        let v = if plain {
            level(&view.levels[0], s.mag_linear)
        } else {
            let lambda = lod::lod(view, s, args, lane).lambda;
            let linear = if lambda <= 0.0 { s.mag_linear } else { s.min_linear };
            let (fine, coarse, w) = lod::levels(view, s, lambda);
            let a = level(&view.levels[fine], linear);
            if w == 0.0 || fine == coarse {
                a
            } else {
                let b = level(&view.levels[coarse], linear);
                std::array::from_fn(|k| mix(a[k], b[k], w))
            }
        };
        let v = view.swizzled(v.map(f32::to_bits));
        (0..4).for_each(|k| out[k][lane] = v[k]);
    }
    true
}

#[inline(always)]
fn one_level(
    view: &ImageView,
    s: &Sampler,
    t: &Tables,
    l: &Level,
    st: [f32; 2],
    offset: [f32; 2],
    z: u32,
    linear: bool,
) -> [f32; 4] {
    let u: [f32; 2] = std::array::from_fn(|k| {
        let scaled = if s.unnormalized { st[k] } else { st[k] * l.size[k] as f32 };
        scaled + offset[k]
    });
    // Borders are not of this class, so wrapping always gives a texel.
    let at = |k: usize, i: i32| wrap(s.wrap[k], i, l.size[k]).unwrap_or(0);
    // SAFETY: wrapped into the level; the layer was clamped.
    let load =
        |x: u32, y: u32| t.decode(unsafe { view.address(l, x, y, 0, z, 0).cast::<u32>().read_unaligned() });
    if !linear {
        return load(at(0, floor(u[0])), at(1, floor(u[1])));
    }
    let base = u.map(|u| (u - 0.5).floor());
    let w: [f32; 2] = std::array::from_fn(|k| u[k] - 0.5 - base[k]);
    let i = base.map(|b| b as i32);
    let (x0, x1) = (at(0, i[0]), at(0, i[0].saturating_add(1)));
    let (y0, y1) = (at(1, i[1]), at(1, i[1].saturating_add(1)));
    let (a, b, c, d) = (load(x0, y0), load(x1, y0), load(x0, y1), load(x1, y1));
    std::array::from_fn(|k| mix(mix(a[k], b[k], w[0]), mix(c[k], d[k], w[0]), w[1]))
}

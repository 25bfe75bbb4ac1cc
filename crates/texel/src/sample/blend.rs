//! What all filters share: the formula that two texels are blended by, and the border's texel.

use super::sampler::{Sampler, Wrap};
use super::view::ImageView;
use crate::format::ChannelClass;

/// `a` where the weight is 0, whatever `b` is; exactly `a` where both are equal and finite.
#[inline(always)]
pub(super) fn mix(a: f32, b: f32, w: f32) -> f32 {
    let d = b - a;
    // 0 times infinity or NaN would not be 0. The sign stays that of the product of finite texels.
    let d = if w == 0.0 { 0f32.copysign(d) } else { d };
    a + d * w
}

/// "Border Replacement": the colour's components that the format has; the others read as ever.
pub(super) fn border(view: &ImageView, sampler: &Sampler) -> [u32; 4] {
    let none = [0, 0, 0, view.channels.one()];
    if !sampler.wrap.iter().any(|w| matches!(w, Wrap::Border)) {
        return none;
    }
    let mut t: [u32; 4] = std::array::from_fn(|k| if view.has[k] { sampler.border[k] } else { none[k] });
    if view.channels == ChannelClass::Float && !view.floats {
        // Fixed-point texels are finite, which their kernels rely on.
        t = t.map(|v| match f32::from_bits(v) {
            x if x.is_nan() => 0,
            x if x.is_infinite() => x.signum().to_bits(),
            _ => v,
        });
    }
    t
}

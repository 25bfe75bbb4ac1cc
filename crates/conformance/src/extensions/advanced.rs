//! VK_EXT_blend_operation_advanced: colours by hand from the specification's equations.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same};
use client::graphics::{Attachment, ImageInfo, Load, Pass, opaque};
use vk::BlendOp as Op;
use vk::BlendOverlapEXT as Overlap;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "advanced_blending", of: ash::ext::blend_operation_advanced::NAME, run }]
}

/// 0.6 in all channels over 0.2, alpha too.
fn run(rig: &Rig) -> Found {
    let states = ash::ext::extended_dynamic_state3::Device::new(&rig.context.instance, &rig.context.device);
    let image = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let below = rig.boxes(|_| ())?;
    let p = rig.boxes(|i| {
        i.blend = opaque().blend_enable(true);
        i.dynamic = vec![vk::DynamicState::COLOR_BLEND_ADVANCED_EXT];
    })?;
    let cases = [
        // Base colours are 1, both weigh 0.12, the source alone 0.48, the destination alone 0.08.
        (Op::MULTIPLY_EXT, true, Overlap::UNCORRELATED, 173),
        (Op::DIFFERENCE_EXT, true, Overlap::UNCORRELATED, 143),
        // 0.2, 0.4 and 0; then 0, 0.6 and 0.2.
        (Op::DIFFERENCE_EXT, true, Overlap::CONJOINT, 102),
        (Op::DIFFERENCE_EXT, true, Overlap::DISJOINT, 204),
        // (0.12 · 0.12 + 0.6 · 0.48 + 0.2 · 0.08) / 0.68
        (Op::MULTIPLY_EXT, false, Overlap::UNCORRELATED, 119),
        (Op::PLUS_EXT, true, Overlap::UNCORRELATED, 204),
        (Op::MINUS_EXT, true, Overlap::UNCORRELATED, 0),
        (Op::RED_EXT, true, Overlap::UNCORRELATED, 153),
        (Op::BLUE_EXT, true, Overlap::UNCORRELATED, 51),
        (Op::ZERO_EXT, true, Overlap::UNCORRELATED, 0),
    ];
    let mut all = Vec::new();
    for (op, premultiplied, overlap, want) in cases {
        rig.run(|d, c| {
            let to = Attachment::new(&image, Load::colour([0.0; 4]));
            Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
                let whole = Rectangle { from: 0.0, to: 8.0, value: 51, depth: 0.5 };
                whole.draw(d, c, &below, 1);
                let how = vk::ColorBlendAdvancedEXT {
                    advanced_blend_op: op,
                    src_premultiplied: premultiplied.into(),
                    dst_premultiplied: premultiplied.into(),
                    blend_overlap: overlap,
                    clamp_results: vk::FALSE,
                };
                p.bind(c, None, &[]);
                // SAFETY: recording; the state is dynamic.
                unsafe { states.cmd_set_color_blend_advanced(c, 0, &[how]) };
                Rectangle { value: 153, ..whole }.draw(d, c, &p, 1);
            });
        })?;
        let got = rig.reds(&image)?;
        same(&format!("{op:?}, {overlap:?}, premultiplied: {premultiplied}"), got.clone(), vec![want; 8])?;
        all.extend(got);
    }
    found(&all)
}

//! VK_EXT_depth_bias_control: what a constant factor is a multiple of, exactly (§ Depth Bias, depthBiasExact).

use super::rig::{Rectangle, Rig, SIDE, chain};
use super::{Check, Found, holds, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass};
use vk::DepthBiasRepresentationEXT as Form;

const NAME: &std::ffi::CStr = ash::ext::depth_bias_control::NAME;

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "depth_bias_representations", of: NAME, run },
        Check { name: "depth_bias_resolved", of: NAME, run: resolved },
    ]
}

/// Depth as stored, of a rectangle at depth `z` with a bias of these factors; `form`: what constants are multiples of, and
/// whether exactly.
fn drawn(
    rig: &Rig,
    format: vk::Format,
    z: f32,
    (form, exact): (Form, bool),
    constant: f32,
    clamp: f32,
) -> Result<u32, String> {
    let image = rig.image(ImageInfo::depth(format, [SIDE; 2]))?;
    let p = rig.boxes(|i| {
        (i.depth_format, i.depth) = (format, Some((vk::CompareOp::ALWAYS, true)));
        i.depth_bias = Some([0.0; 3]);
        i.dynamic = vec![vk::DynamicState::DEPTH_BIAS];
        i.colours.clear();
    })?;
    let control = ash::ext::depth_bias_control::Device::new(&rig.context.instance, &rig.context.device);
    let how =
        vk::DepthBiasRepresentationInfoEXT::default().depth_bias_representation(form).depth_bias_exact(exact);
    let bias = vk::DepthBiasInfoEXT {
        p_next: chain(&how),
        depth_bias_constant_factor: constant,
        depth_bias_clamp: clamp,
        ..Default::default()
    };
    rig.run(|d, c| {
        let depth = Some(Attachment::new(&image, Load::depth(1.0, 0)));
        Pass { depth, size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            // SAFETY: recording with the extension enabled.
            unsafe { (control.fp().cmd_set_depth_bias2_ext)(c, &bias) }
            Rectangle { from: 0.0, to: 8.0, value: 0, depth: z }.draw(d, c, &p, 1);
        });
    })?;
    let bytes = if format == vk::Format::D16_UNORM { 2 } else { 4 };
    let all = image.read(vk::ImageAspectFlags::DEPTH, bytes).map_err(text)?;
    let mut word = [0; 4];
    word[..bytes].copy_from_slice(&all[..bytes]);
    // Of 24 bits the others are nothing's.
    let mask = if format == vk::Format::X8_D24_UNORM_PACK32 { 0xFF_FFFF } else { u32::MAX };
    Ok(u32::from_le_bytes(word) & mask)
}

fn run(rig: &Rig) -> Found {
    let (float, unorm) = (vk::Format::D32_SFLOAT, vk::Format::D16_UNORM);
    let (quarter, half) = (0.25f32.to_bits(), 0.5f32.to_bits());
    let format = Form::LEAST_REPRESENTABLE_VALUE_FORMAT;
    let forced = Form::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM;
    let cases = [
        // A floating-point depth's r is 2^(e − 23), one place of depths like the primitive's own.
        (float, 0.5, format, 3.0, 0.0, half + 3),
        (float, 0.25, format, 3.0, 0.0, quarter + 3),
        // Or 2^−24 always: two places at a quarter.
        (float, 0.5, forced, 3.0, 0.0, half + 3),
        (float, 0.25, forced, 3.0, 0.0, quarter + 6),
        // Or 1.
        (float, 0.25, Form::FLOAT, 0.125, 0.0, 0.375f32.to_bits()),
        (float, 0.25, Form::FLOAT, 0.125, 0.0625, 0.3125f32.to_bits()),
        (float, 0.25, Form::FLOAT, -0.125, -0.0625, 0.1875f32.to_bits()),
        // Fixed-point: 2^−16. (0.25 + 2 / 65536) · 65535 = 16385.75, and 0.375 · 65535 = 24575.6.
        (unorm, 0.25, format, 2.0, 0.0, 16386),
        (unorm, 0.25, forced, 2.0, 0.0, 16386),
        (unorm, 0.25, Form::FLOAT, 0.125, 0.0, 24576),
    ];
    let mut all = Vec::new();
    for (f, z, form, constant, clamp, want) in cases {
        let got = drawn(rig, f, z, (form, true), constant, clamp)?;
        same(&format!("{f:?} at {z}, {form:?} {constant}, clamped to {clamp}"), got, want)?;
        all.push(got.into());
    }
    Ok(all)
}

/// A constant factor of 1 is seen, whatever the depth (§ Depth Bias Computation): r is the smallest difference that stays
/// distinct in the attachment. Depths that lie halfway between two codes tell: with 2⁻ⁿ, what is rounded up to a code stays
/// there, for codes are 1 / (2ⁿ − 1) apart.
fn resolved(rig: &Rig) -> Found {
    let how = (Form::LEAST_REPRESENTABLE_VALUE_FORMAT, false);
    // Beyond these codes a float has no place left to be just above the middle.
    for (format, bits, codes) in
        [(vk::Format::D16_UNORM, 16, &[0u32, 1, 100][..]), (vk::Format::X8_D24_UNORM_PACK32, 24, &[0])]
    {
        let most = ((1u32 << bits) - 1) as f64;
        for &code in codes {
            let middle = (code as f64 + 0.5) / most;
            let mut z = middle as f32;
            if (z as f64) < middle {
                z = z.next_up();
            }
            let [plain, biased, back] = [0.0, 1.0, -1.0].map(|c| drawn(rig, format, z, how, c, 0.0));
            let (plain, biased, back) = (plain?, biased?, back?);
            let what = format!("{format:?} at {z}: {plain}, biased {biased}, {back}");
            holds(&what, biased > plain && (back < plain || code == 0))?;
            // And r is 2 · 2⁻ⁿ at most: less than two codes.
            holds(&what, biased - plain <= 2)?;
        }
    }
    Ok(vec![])
}

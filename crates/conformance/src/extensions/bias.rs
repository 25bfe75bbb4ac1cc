//! VK_EXT_depth_bias_control: what a constant factor is a multiple of, exactly (§ Depth Bias, depthBiasExact).

use super::rig::{Rectangle, Rig, SIDE, chain};
use super::{Check, Found, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass};
use vk::DepthBiasRepresentationEXT as Form;

const NAME: &std::ffi::CStr = ash::ext::depth_bias_control::NAME;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "depth_bias_representations", of: NAME, run }]
}

/// Depth as stored, of a rectangle at depth `z` with a bias of these factors.
fn drawn(
    rig: &Rig,
    format: vk::Format,
    z: f32,
    form: Form,
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
        vk::DepthBiasRepresentationInfoEXT::default().depth_bias_representation(form).depth_bias_exact(true);
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
    Ok(u32::from_le_bytes(word))
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
        let got = drawn(rig, f, z, form, constant, clamp)?;
        same(&format!("{f:?} at {z}, {form:?} {constant}, clamped to {clamp}"), got, want)?;
        all.push(got.into());
    }
    Ok(all)
}

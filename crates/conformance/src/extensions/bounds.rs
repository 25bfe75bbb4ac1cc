//! The depth bounds test (§ Depth Bounds Test) compares what is stored: bounds are rounded to the attachment's format as
//! depths are.

use super::rig::{Rectangle, Rig, SIDE};
use super::{Check, Found, same};
use client::graphics::{Attachment, ImageInfo, Load, Pass};

pub fn checks() -> Vec<Check> {
    vec![Check { name: "depth_bounds_are_rounded", of: c"", run }]
}

/// Whether a rectangle over depth `z` passes these bounds.
fn passes(rig: &Rig, format: vk::Format, z: f32, bounds: [f32; 2], dynamic: bool) -> Result<bool, String> {
    let colour = rig.image(ImageInfo::colour(super::rig::RGBA8, [SIDE; 2]))?;
    let depth = rig.image(ImageInfo::depth(format, [SIDE; 2]))?;
    let writes = rig.boxes(|i| (i.depth_format, i.depth) = (format, Some((vk::CompareOp::ALWAYS, true))))?;
    let tests = rig.boxes(|i| {
        i.depth_format = format;
        i.depth_bounds = (!dynamic).then_some(bounds);
        if dynamic {
            i.dynamic = vec![vk::DynamicState::DEPTH_BOUNDS_TEST_ENABLE, vk::DynamicState::DEPTH_BOUNDS];
        }
    })?;
    let all = Rectangle { from: 0.0, to: 8.0, value: 0, depth: z };
    rig.run(|d, c| {
        let colours = vec![Attachment::new(&colour, Load::DontCare)];
        let depth = Some(Attachment::new(&depth, Load::depth(1.0, 0)));
        Pass { colours, depth, size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            all.draw(d, c, &writes, 1);
            if dynamic {
                // SAFETY: recording; the states are dynamic.
                unsafe {
                    d.cmd_set_depth_bounds_test_enable(c, true);
                    d.cmd_set_depth_bounds(c, bounds[0], bounds[1]);
                }
            }
            Rectangle { value: 255, ..all }.draw(d, c, &tests, 1);
        });
    })?;
    Ok(rig.reds(&colour)?[0] == 255)
}

fn run(rig: &Rig) -> Found {
    let (d16, d24, d32) = (vk::Format::D16_UNORM, vk::Format::X8_D24_UNORM_PACK32, vk::Format::D32_SFLOAT);
    // Stored as 32768 (of 65535) and 8388608 (of 16777215), both a half more than ½ is; ¾ as 49151 and 12582911, a
    // quarter less. A bound of 0.500005 is 32768 too, but 8388691.
    let cases = [
        (0.5, [0.0, 0.5], [true, true, true]),
        (0.5, [0.5, 1.0], [true, true, true]),
        (0.5, [0.5, 0.5], [true, true, true]),
        (0.75, [0.75, 1.0], [true, true, true]),
        (0.75, [0.0, 0.75], [true, true, true]),
        (0.5, [0.500005, 1.0], [true, false, false]),
        (0.5, [0.0, 0.499], [false, false, false]),
        (0.5, [0.501, 1.0], [false, false, false]),
    ];
    let mut found = Vec::new();
    for (z, bounds, want) in cases {
        for (format, want) in [d16, d24, d32].into_iter().zip(want) {
            for dynamic in [false, true] {
                let got = passes(rig, format, z, bounds, dynamic)?;
                same(&format!("{format:?} {z} in {bounds:?}, dynamic: {dynamic}"), got, want)?;
                found.push(got.into());
            }
        }
    }
    Ok(found)
}

//! Where samples are (§ Multisampling, "Standard sample locations"), and where VK_EXT_sample_locations puts them.
//!
//! Rectangles end at 5/16 of pixel 2: what the resolve leaves there says how many samples lie left of that.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same};
use client::graphics::{Attachment, ImageInfo, Load, Pass, Pipeline};

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "standard_sample_locations", of: c"", run: standard },
        Check { name: "chosen_sample_locations", of: ash::ext::sample_locations::NAME, run: chosen },
    ]
}

/// Red of the first row, `before` having been recorded before the draw.
fn drawn(
    rig: &Rig,
    samples: u32,
    pipeline: &Pipeline,
    before: impl Fn(vk::CommandBuffer),
) -> Result<Vec<u8>, String> {
    let resolved = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let several = rig.image(ImageInfo { samples, ..ImageInfo::colour(RGBA8, [SIDE; 2]) })?;
    rig.run(|d, c| {
        let to = Attachment { resolve: Some(&resolved), ..Attachment::new(&several, Load::colour([0.0; 4])) };
        Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            pipeline.bind(c, None, &[]);
            before(c);
            Rectangle { from: 0.0, to: 2.3125, value: 255, depth: 0.5 }.draw(d, c, pipeline, 1);
        });
    })?;
    rig.reds(&resolved)
}

fn standard(rig: &Rig) -> Found {
    let mut all = Vec::new();
    // x of 2: 12, 4; of 4: 6, 14, 2, 10; of 8: 9, 7, 13, 5, 3, 1, 11, 15; of 16: 9, 7, 5, 12, 3, 10, 13, 11, 6, 8, 4, 2, 0,
    // 15, 14, 1 sixteenths.
    for (samples, left) in [(2, 1), (4, 1), (8, 2), (16, 5)] {
        let p = rig.boxes(|i| i.samples = samples)?;
        let got = drawn(rig, samples, &p, |_| ())?;
        let part = (255.0 * left as f64 / samples as f64 + 0.5) as u8;
        same(&format!("{samples} samples"), got.clone(), vec![255, 255, part, 0, 0, 0, 0, 0])?;
        all.extend(got);
    }
    found(&all)
}

fn chosen(rig: &Rig) -> Found {
    let (instance, device) = (&rig.context.instance, &rig.context.device);
    let locations = ash::ext::sample_locations::Device::new(instance, device);
    let states = ash::ext::extended_dynamic_state3::Device::new(instance, device);
    let p = rig.boxes(|i| {
        i.samples = 4;
        i.dynamic =
            vec![vk::DynamicState::SAMPLE_LOCATIONS_EXT, vk::DynamicState::SAMPLE_LOCATIONS_ENABLE_EXT];
    })?;
    let mut all = Vec::new();
    // Three of the four left of 5/16; standard ones where they are not enabled.
    for (on, left) in [(true, 191), (false, 64)] {
        let got = drawn(rig, 4, &p, |c| {
            let at = [1.0, 3.0, 4.0, 15.0].map(|x: f32| vk::SampleLocationEXT { x: x / 16.0, y: x / 16.0 });
            let info = vk::SampleLocationsInfoEXT::default()
                .sample_locations_per_pixel(vk::SampleCountFlags::TYPE_4)
                .sample_location_grid_size(vk::Extent2D { width: 1, height: 1 })
                .sample_locations(&at);
            // SAFETY: recording; the states are dynamic.
            unsafe {
                locations.cmd_set_sample_locations(c, &info);
                states.cmd_set_sample_locations_enable(c, on);
            }
        })?;
        same(&format!("enabled: {on}"), got.clone(), vec![255, 255, left, 0, 0, 0, 0, 0])?;
        all.extend(got);
    }
    found(&all)
}

//! VK_EXT_fragment_density_map, 2 and _offset: a rectangle over the columns 1.6 to 30.4 of 32, and all of 16 rows. A map's texel covers 8 × 8
//! pixels or more. Fragments begin at multiples of their size; a fragment whose middle is covered covers all of its pixels.

use super::rig::{RGBA8, Rectangle, Rig, SIDE, whole_of};
use super::{Check, Found, found, same, text};
use client::graphics::{Attachment, Image, ImageInfo, Load};
use client::{Context, Library};
use std::ffi::CStr;

const OFFSET: &CStr = c"VK_EXT_fragment_density_map_offset";

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "density_maps", of: OFFSET, run },
        Check { name: "density_one", of: OFFSET, run: |_| covered(ONE, 1) },
        Check { name: "density_half", of: OFFSET, run: |_| covered(TWO, 2) },
        Check { name: "density_quarter", of: OFFSET, run: |_| covered(FOUR, 4) },
    ]
}

const FRAGMENT: &[u8] = include_bytes!("../../shaders/extensions/density.frag.spv");
const SIZE: [u32; 2] = [32, 16];

/// Densities that give fragments of 1, 2 and 4 pixels along an axis: no larger than their inverse.
const ONE: u8 = 255;
const TWO: u8 = 127;
const FOUR: u8 = 63;

struct Case {
    /// Width, height and layers of the map, and its texels: densities along x and y.
    map: [u32; 3],
    texels: Vec<[u8; 2]>,
    offsets: Vec<vk::Offset2D>,
    /// Views, a bit each.
    views: u32,
    samples: u32,
    /// By view, row of areas of 8 × 8 pixels, and column: width and height of the fragments.
    expected: Vec<[[[u32; 2]; 4]; 2]>,
}

/// A device with density maps. (They may not be used together with shading rates.)
fn open() -> Result<Rig, String> {
    let mut map = vk::PhysicalDeviceFragmentDensityMapFeaturesEXT::default()
        .fragment_density_map(true)
        .fragment_density_map_dynamic(true)
        .fragment_density_map_non_subsampled_images(true);
    let mut offset = vk::PhysicalDeviceFragmentDensityMapOffsetFeaturesEXT {
        fragment_density_map_offset: vk::TRUE,
        p_next: (&raw mut map).cast(),
        ..Default::default()
    };
    let names = [ash::ext::fragment_density_map::NAME, OFFSET];
    let context = Context::extended(Library::any().map_err(text)?, &names, (&raw mut offset).cast());
    Ok(Rig { context: context.map_err(text)? })
}

/// The pixels of the target's layers, row by row.
fn drawn(
    rig: &Rig,
    c: &Case,
    draw: impl FnOnce(&ash::Device, vk::CommandBuffer),
) -> Result<Vec<[u8; 4]>, String> {
    let layers = 32 - c.views.leading_zeros();
    let (device, instance) = (&rig.context.device, &rig.context.instance);
    let colour = |samples| ImageInfo { layers: layers.max(1), samples, ..ImageInfo::colour(RGBA8, SIZE) };
    let (image, several) = (rig.image(colour(1))?, rig.image(colour(c.samples))?);
    let mut info = ImageInfo::texture(vk::Format::R8G8_UNORM, [c.map[0], c.map[1]]);
    info.layers = c.map[2];
    info.usage |= vk::ImageUsageFlags::FRAGMENT_DENSITY_MAP_EXT;
    let map = Image::with_texels(&rig.context, info, c.texels.as_flattened()).map_err(text)?;
    let mut density = vk::RenderingFragmentDensityMapAttachmentInfoEXT::default()
        .image_view(map.view)
        .image_layout(vk::ImageLayout::GENERAL);
    type End = unsafe extern "system" fn(vk::CommandBuffer, *const vk::RenderingEndInfoKHR<'_>);
    // SAFETY: the device has the command, of this type.
    let end: End = unsafe {
        let end = instance.get_device_proc_addr(device.handle(), c"vkCmdEndRendering2EXT".as_ptr());
        std::mem::transmute(end.ok_or("no vkCmdEndRendering2EXT")?)
    };
    rig.run(|d, commands| {
        let (target, resolve) = if c.samples > 1 { (&several, Some(&image)) } else { (&image, None) };
        let colours = [Attachment { resolve, ..Attachment::new(target, Load::colour([0.0; 4])) }.info()];
        let extent = vk::Extent2D { width: SIZE[0], height: SIZE[1] };
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { extent, ..Default::default() })
            .layer_count(1)
            .view_mask(c.views)
            .color_attachments(&colours)
            .push_next(&mut density);
        let moved = vk::RenderPassFragmentDensityMapOffsetEndInfoEXT {
            fragment_density_offset_count: c.offsets.len() as u32,
            p_fragment_density_offsets: c.offsets.as_ptr(),
            ..Default::default()
        };
        let ends = vk::RenderingEndInfoKHR { p_next: (&raw const moved).cast(), ..Default::default() };
        // SAFETY: recording, with live handles and structures.
        unsafe {
            d.cmd_begin_rendering(commands, &info);
            whole_of(d, commands, SIZE);
            draw(d, commands);
            end(commands, &ends);
        }
    })?;
    let bytes = image.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    Ok(bytes.chunks(4).map(|p| [p[0], p[1], p[2], p[3]]).collect())
}

/// What fragments of these sizes give. Four samples: see the case.
fn expected(areas: &[[[u32; 2]; 4]; 2], samples: u32) -> Vec<[u8; 4]> {
    let mut all = Vec::new();
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            let [w, h] = areas[y as usize / 8][x as usize / 8];
            let (left, top) = (x / w * w, y / h * h);
            // Twice the middle.
            let (x, y) = (2 * left + w, 2 * top + h);
            let covered = match samples {
                1 => 4 * u32::from((4..61).contains(&x)),
                _ if left == 0 || left + w == SIZE[0] => 2,
                _ => 4,
            };
            all.push([x, y, w * 16 + h, 16 + w].map(|v| (v * covered / 4) as u8));
        }
    }
    all
}

/// A triangle that covers all of the target, at one density: all fragments are of `size` pixels along both axes. Its counters are worked out
/// in `tests/counters.rs`.
fn covered(density: u8, size: u32) -> Found {
    let rig = open()?;
    let c = Case {
        map: [1, 1, 1],
        texels: vec![[density; 2]],
        offsets: vec![],
        views: 0,
        samples: 1,
        expected: vec![],
    };
    let p = rig.boxes(|i| {
        i.fragment = Some(FRAGMENT);
        i.flags = vk::PipelineCreateFlags::RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_EXT;
    })?;
    let got = drawn(&rig, &c, |d, commands| {
        let words = [-3f32, -1.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        p.bind(commands, None, &words.map(f32::to_le_bytes).concat());
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_draw(commands, 3, 1, 0, 0) };
    })?;
    match got.iter().find(|texel| u32::from(texel[2]) != size * 16 + size) {
        None => found(&got.into_flattened()),
        Some(wrong) => Err(format!("{wrong:?}, not fragments of {size} pixels along both axes")),
    }
}

fn run(_: &Rig) -> Found {
    let rig = open()?;
    let case = |map, texels: &[[u8; 2]], expected| Case {
        map,
        texels: texels.to_vec(),
        offsets: vec![],
        views: 0,
        samples: 1,
        expected,
    };
    let texels = [
        [[ONE, ONE], [TWO, ONE], [FOUR, TWO], [TWO, FOUR]],
        // The first says nothing that could be a density.
        [[0, 0], [ONE, FOUR], [FOUR, FOUR], [TWO, TWO]],
    ];
    let texels = texels.as_flattened();
    let (first, second) = ([[1, 1], [2, 1], [4, 2], [2, 4]], [[1, 1], [1, 4], [4, 4], [2, 2]]);
    let moved = |x, y| vec![vk::Offset2D { x, y }];
    let plain = || case([4, 2, 1], texels, vec![[first, second]]);
    let right = [first[0], first[0], first[1], first[2]];
    let below = [second[1], second[2], second[3], second[3]];
    let layer = [[FOUR, FOUR], [TWO, TWO]];
    let cases = [
        plain(),
        // Samples of a fragment are spread over its area: of four, at 1.5, 3.5, 0.5 and 2.5 of 4 columns, two lie on either side of
        // both edges. The resolve halves what the fragment gave.
        Case { samples: 4, ..case([1, 1, 1], &[[FOUR, FOUR]], vec![[[[4, 4]; 4]; 2]]) },
        // The map moves right: its first column is in the first two areas.
        Case {
            offsets: moved(8, 0),
            expected: vec![[right, [second[0], second[0], second[1], second[2]]]],
            ..plain()
        },
        // Left and up; and so far that only its corner is left.
        Case { offsets: moved(-8, -8), expected: vec![[below; 2]], ..plain() },
        Case { offsets: moved(i32::MIN, i32::MIN), expected: vec![[[second[3]; 4]; 2]], ..plain() },
        Case { offsets: moved(i32::MAX, i32::MAX), expected: vec![[[first[0]; 4]; 2]], ..plain() },
        // Texels cover 16 pixels along x.
        case([2, 1, 1], &[[TWO, ONE], [FOUR, FOUR]], vec![[[[2, 1], [2, 1], [4, 4], [4, 4]]; 2]]),
        // Inverses that are no sizes: 3.98 and 1.99 are less than 4 and 2.
        case([1, 1, 1], &[[64, 128]], vec![[[[2, 1]; 4]; 2]]),
        // A map with more texels than the framebuffer has areas.
        case(
            [8, 1, 1],
            &[[ONE, ONE], [TWO, TWO], [FOUR, ONE], [ONE, FOUR], [0, 0], [0, 0], [0, 0], [0, 0]],
            vec![[[[1, 1], [2, 2], [4, 1], [1, 4]]; 2]],
        ),
        // A layer for each view; and one for all, though there are two.
        Case { views: 3, ..case([1, 1, 2], &layer, vec![[[[4, 4]; 4]; 2], [[[2, 2]; 4]; 2]]) },
        Case { views: 3, ..case([1, 1, 1], &layer[1..], vec![[[[2, 2]; 4]; 2]; 2]) },
        // A view without a layer of its own.
        Case {
            views: 7,
            ..case([1, 1, 2], &layer, vec![[[[4, 4]; 4]; 2], [[[2, 2]; 4]; 2], [[[2, 2]; 4]; 2]])
        },
    ];
    let mut all = Vec::new();
    for (n, c) in cases.iter().enumerate() {
        let p = rig.boxes(|i| {
            i.fragment = Some(FRAGMENT);
            (i.view_mask, i.samples) = (c.views, c.samples);
            i.flags = vk::PipelineCreateFlags::RENDERING_FRAGMENT_DENSITY_MAP_ATTACHMENT_EXT;
        })?;
        let columns = |x: f32| x / SIZE[0] as f32 * SIDE as f32;
        let all_but_edges = Rectangle { from: columns(1.6), to: columns(30.4), value: 0, depth: 0.0 };
        let got = drawn(&rig, c, |d, commands| all_but_edges.draw(d, commands, &p, 1))?;
        let pixels = (SIZE[0] * SIZE[1]) as usize;
        for (view, (got, want)) in got.chunks(pixels).zip(&c.expected).enumerate() {
            same(&format!("case {n}, view {view}"), got.to_vec(), expected(want, c.samples))?;
        }
        all.extend(got.into_flattened());
    }
    found(&all)
}

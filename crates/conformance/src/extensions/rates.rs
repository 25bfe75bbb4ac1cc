//! VK_KHR_fragment_shading_rate: a rectangle over columns 2 to 5 of 8; row 4. Fragments begin at multiples of their size, and what one
//! gives is in all of its pixels that are covered.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same, text};
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass};
use vk::FragmentShadingRateCombinerOpKHR as Op;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "shading_rates", of: ash::khr::fragment_shading_rate::NAME, run }]
}

const FRAGMENT: &[u8] = include_bytes!("../../shaders/extensions/rate.frag.spv");
const VERTEX: &[u8] = include_bytes!("../../shaders/extensions/rate.vert.spv");

/// Rates: log2 of the width · 4 + log2 of the height.
struct Case {
    /// The pipeline's width and height.
    pipeline: [u32; 2],
    primitive: u32,
    attachment: Option<u8>,
    ops: [Op; 2],
    /// Width and height of the fragments.
    expected: [u32; 2],
}

/// The pixels of row 4.
fn drawn(rig: &Rig, c: &Case) -> Result<Vec<[u8; 4]>, String> {
    let rates = ash::khr::fragment_shading_rate::Device::new(&rig.context.instance, &rig.context.device);
    let image = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let p = rig.boxes(|i| {
        (i.vertex, i.fragment) = (VERTEX, Some(FRAGMENT));
        i.dynamic = vec![vk::DynamicState::FRAGMENT_SHADING_RATE_KHR];
        if c.attachment.is_some() {
            i.flags = vk::PipelineCreateFlags::RENDERING_FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
        }
    })?;
    let mut info = ImageInfo::texture(vk::Format::R8_UINT, [1; 2]);
    info.usage |= vk::ImageUsageFlags::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    let texel = Image::with_texels(&rig.context, info, &[c.attachment.unwrap_or(0)]).map_err(text)?;
    let side = vk::Extent2D { width: SIDE, height: SIDE };
    let rate = vk::RenderingFragmentShadingRateAttachmentInfoKHR::default()
        .image_view(texel.view)
        .image_layout(vk::ImageLayout::GENERAL)
        .shading_rate_attachment_texel_size(side);
    let chain = if c.attachment.is_some() { (&raw const rate).cast() } else { std::ptr::null() };
    rig.run(|d, commands| {
        let colours = vec![Attachment::new(&image, Load::colour([0.0; 4]))];
        Pass { colours, size: [SIDE; 2], chain, ..Default::default() }.record(d, commands, |d, commands| {
            p.bind(commands, None, &[]);
            let [width, height] = c.pipeline;
            // SAFETY: recording; the state is dynamic.
            unsafe {
                (rates.fp().cmd_set_fragment_shading_rate_khr)(
                    commands,
                    &vk::Extent2D { width, height },
                    &c.ops,
                );
            }
            Rectangle { from: 1.6, to: 6.4, value: 0, depth: c.primitive as f32 }.draw(d, commands, &p, 1);
        });
    })?;
    let bytes = image.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    let row = 4 * SIDE as usize;
    Ok(bytes[4 * row..5 * row].chunks(4).map(|p| [p[0], p[1], p[2], p[3]]).collect())
}

/// What the fragments of one size give in row 4.
fn row(size: [u32; 2]) -> Vec<[u8; 4]> {
    // Twice the middle in x of columns 2 to 5, by the fragment's width, and in y of row 4, by its height.
    let (x, step) = match size[0] {
        1 => ([5, 7, 9, 11], 1),
        2 => ([6, 6, 10, 10], 2),
        _ => ([4, 4, 12, 12], 4),
    };
    let y = [9, 10, 12][size[1].ilog2() as usize];
    let rate = (size[0].ilog2() << 2 | size[1].ilog2()) as u8;
    let mut row = vec![[0; 4]; 8];
    (0..4).for_each(|i| row[2 + i] = [x[i], y, rate, step]);
    row
}

fn run(rig: &Rig) -> Found {
    let case = |pipeline, primitive, attachment, ops, expected| Case {
        pipeline,
        primitive,
        attachment,
        ops,
        expected,
    };
    let keep = [Op::KEEP; 2];
    let cases = [
        case([1, 1], 0, None, keep, [1, 1]),
        case([2, 1], 0, None, keep, [2, 1]),
        case([2, 2], 5, None, keep, [2, 2]),
        case([4, 2], 0, None, keep, [4, 2]),
        case([4, 4], 0, None, keep, [4, 4]),
        // The primitive's: 5 is 2 × 2, 1 is 1 × 2.
        case([1, 1], 5, None, [Op::REPLACE, Op::KEEP], [2, 2]),
        case([4, 1], 5, None, [Op::MIN, Op::KEEP], [2, 1]),
        case([4, 1], 5, None, [Op::MAX, Op::KEEP], [4, 2]),
        case([2, 1], 5, None, [Op::MUL, Op::KEEP], [4, 2]),
        case([4, 4], 5, None, [Op::MUL, Op::KEEP], [4, 4]),
        // And the attachment's: 9 is 4 × 2.
        case([1, 1], 0, Some(9), [Op::KEEP, Op::REPLACE], [4, 2]),
        case([2, 2], 1, Some(9), [Op::REPLACE, Op::MIN], [1, 2]),
        case([2, 4], 5, Some(9), [Op::MIN, Op::MAX], [4, 2]),
        case([1, 2], 0, Some(9), [Op::KEEP, Op::MUL], [4, 4]),
        // It is there, and not asked.
        case([1, 2], 0, Some(9), keep, [1, 2]),
    ];
    let mut all = Vec::new();
    for c in cases {
        let got = drawn(rig, &c)?;
        let what =
            format!("{:?} primitive {} attachment {:?} {:?}", c.pipeline, c.primitive, c.attachment, c.ops);
        same(&what, got.clone(), row(c.expected))?;
        all.extend(got.into_flattened());
    }
    found(&all)
}

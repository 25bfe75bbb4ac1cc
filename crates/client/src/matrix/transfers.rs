//! Transfers of 1024², four in a command buffer, by format.

use super::formats::Format;
use super::texels::{image, layers, needs, noise};
use super::{Made, missing};
use crate::graphics::{ImageInfo, barrier};
use crate::{Buffer, Context, Result};
use ash::vk;
use std::rc::Rc;

const WAYS: [&str; 11] = [
    "clear",
    "copy",
    "from a buffer",
    "to a buffer",
    "blit, nearest",
    "blit, half",
    "blit, double",
    "mip chain",
    "to RGBA16F",
    "resolve, 4",
    "resolve, 8",
];
const SIZE: u32 = 1024;
const TIMES: usize = 4;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

pub fn rows() -> Vec<String> {
    let has = |f: &Format, way: &str| match way {
        "clear" => f.block == [1, 1],
        "blit, half" | "blit, double" | "mip chain" | "to RGBA16F" => {
            f.is_colour() && f.kind == super::formats::Kind::Float
        }
        "resolve, 4" | "resolve, 8" => f.is_colour() && f.block == [1, 1],
        _ => true,
    };
    let formats = Format::all().filter(|f| !f.name.contains("SCALED"));
    let rows = formats
        .flat_map(|f| WAYS.into_iter().filter(move |w| has(&f, w)).map(move |w| format!("{w}: {}", f.name)));
    ["fill: 16 MiB", "copy: 16 MiB"].map(String::from).into_iter().chain(rows).collect()
}

/// One blit of a level to a level.
fn blit([from, to]: [(u32, u32); 2]) -> vk::ImageBlit {
    let corners = |s: u32| [vk::Offset3D::default(), vk::Offset3D { x: s as i32, y: s as i32, z: 1 }];
    let colour = vk::ImageAspectFlags::COLOR;
    vk::ImageBlit::default()
        .src_subresource(layers(colour, from.0, 1))
        .src_offsets(corners(from.1))
        .dst_subresource(layers(colour, to.0, 1))
        .dst_offsets(corners(to.1))
}

/// Levels and sizes of the blits of a way.
fn blits(way: &str) -> Vec<[(u32, u32); 2]> {
    match way {
        "blit, half" => vec![[(0, SIZE), (1, SIZE / 2)]],
        "blit, double" => vec![[(1, SIZE / 2), (0, SIZE)]],
        "mip chain" => (1..11).map(|l| [(l - 1, SIZE >> (l - 1)), (l, SIZE >> l)]).collect(),
        _ => vec![[(0, SIZE), (0, SIZE)]],
    }
}

fn buffers(context: &Rc<Context>, way: &str) -> Result<Made> {
    let bytes = 16 << 20;
    let (from, to) = (Buffer::new(context, bytes)?, Buffer::new(context, bytes)?);
    let commands = context.record(|device, commands| {
        for _ in 0..TIMES {
            let size = bytes as u64;
            // SAFETY: recording into a command buffer that has begun; both buffers are that large.
            unsafe {
                match way {
                    "fill" => device.cmd_fill_buffer(commands, to.handle, 0, size, 7),
                    _ => device.cmd_copy_buffer(
                        commands,
                        from.handle,
                        to.handle,
                        &[vk::BufferCopy::default().size(size)],
                    ),
                }
            }
            barrier(device, commands);
        }
    })?;
    Ok((commands, vec![Box::new(from), Box::new(to)]))
}

pub fn make(context: &Rc<Context>, way: &str, of: &str) -> Result<Option<Made>> {
    use vk::{FormatFeatureFlags as F, ImageUsageFlags as U};
    if of == "16 MiB" {
        return buffers(context, way).map(Some);
    }
    let Some(f) = Format::find(of).filter(|_| WAYS.contains(&way)) else { return Ok(None) };
    let aspect = match () {
        _ if f.is_depth() => vk::ImageAspectFlags::DEPTH,
        _ => f.aspects,
    };
    let mut info = ImageInfo::texture(f.format, [SIZE, SIZE]);
    info.usage = U::TRANSFER_SRC | U::TRANSFER_DST;
    // A view wants a use.
    let viewed = if f.is_colour() { F::SAMPLED_IMAGE } else { F::DEPTH_STENCIL_ATTACHMENT };
    needs(context, &f, F::TRANSFER_SRC | F::TRANSFER_DST | viewed)?;
    info.usage |= if f.is_colour() { U::SAMPLED } else { U::DEPTH_STENCIL_ATTACHMENT };
    let linear = ["blit, half", "blit, double", "mip chain"].contains(&way);
    if way.starts_with("blit") || linear || way == "to RGBA16F" {
        needs(context, &f, F::BLIT_SRC)?;
        if way != "to RGBA16F" {
            needs(context, &f, F::BLIT_DST)?;
        }
        if linear {
            needs(context, &f, F::SAMPLED_IMAGE_FILTER_LINEAR)?;
        }
        info.mips = 11;
    }
    let resolve = way.strip_prefix("resolve, ").and_then(|s| s.parse().ok());
    let many = match resolve {
        Some(samples) => {
            needs(context, &f, F::COLOR_ATTACHMENT)?;
            let many = ImageInfo { samples, mips: 1, usage: U::TRANSFER_SRC | U::COLOR_ATTACHMENT, ..info };
            Some(image(context, &f, many)?)
        }
        None => None,
    };
    if way == "to a buffer" && f.name.starts_with("X8_D24") {
        return Err(missing("what a buffer has of X8"));
    }
    let from = noise(context, &f, info)?;
    let other = Format::find("R16G16B16A16_SFLOAT").filter(|_| way == "to RGBA16F");
    let to = match other {
        Some(o) => image(context, &o, ImageInfo { format: o.format, mips: 1, ..info })?,
        None => image(context, &f, info)?,
    };
    let blocks = f.block.map(|b| SIZE.div_ceil(b) as usize).iter().product::<usize>();
    let buffer = Buffer::new(context, (blocks * f.bytes as usize).next_multiple_of(16))?;
    let extent = vk::Extent3D { width: SIZE, height: SIZE, depth: 1 };
    let sub = layers(aspect, 0, 1);
    let region = vk::BufferImageCopy::default().image_subresource(sub).image_extent(extent);
    let copy = vk::ImageCopy::default().src_subresource(sub).dst_subresource(sub).extent(extent);
    let range = vk::ImageSubresourceRange {
        aspect_mask: aspect,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    let filter = if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let commands = context.record(|device, commands| {
        for time in 0..TIMES {
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                match way {
                    "clear" if f.is_colour() => {
                        let value = vk::ClearColorValue { uint32: [time as u32 * 3, 1, 2, 3] };
                        device.cmd_clear_color_image(commands, to.handle, GENERAL, &value, &[range]);
                    }
                    "clear" => {
                        let value =
                            vk::ClearDepthStencilValue { depth: 0.1 * time as f32, stencil: time as u32 };
                        device.cmd_clear_depth_stencil_image(commands, to.handle, GENERAL, &value, &[range]);
                    }
                    "copy" => {
                        device.cmd_copy_image(commands, from.handle, GENERAL, to.handle, GENERAL, &[copy])
                    }
                    "from a buffer" => {
                        device.cmd_copy_buffer_to_image(
                            commands,
                            buffer.handle,
                            to.handle,
                            GENERAL,
                            &[region],
                        );
                    }
                    "to a buffer" => {
                        device.cmd_copy_image_to_buffer(
                            commands,
                            from.handle,
                            GENERAL,
                            buffer.handle,
                            &[region],
                        );
                    }
                    _ => {}
                }
                if let Some(many) = &many {
                    let region =
                        vk::ImageResolve::default().src_subresource(sub).dst_subresource(sub).extent(extent);
                    device.cmd_resolve_image(commands, many.handle, GENERAL, to.handle, GENERAL, &[region]);
                }
                if info.mips > 1 {
                    // A chain is made within one image.
                    let within = if way == "mip chain" { &from } else { &to };
                    for b in blits(way) {
                        device.cmd_blit_image(
                            commands,
                            from.handle,
                            GENERAL,
                            within.handle,
                            GENERAL,
                            &[blit(b)],
                            filter,
                        );
                        barrier(device, commands);
                    }
                }
            }
            barrier(device, commands);
        }
    })?;
    Ok(Some((commands, vec![Box::new(from), Box::new(to), Box::new(buffer), Box::new(many)])))
}

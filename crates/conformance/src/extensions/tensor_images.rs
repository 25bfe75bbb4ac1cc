//! VK_ARM_tensors: tensors that share memory with images. Expected values follow from the extension: the last dimension is a texel's
//! components, the others are width, height and depth, from the inside outwards.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::data_graph::{self, Code, Described};
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, barrier};
use client::tensor::{Element, Shift, Tensor};
use client::{Buffer, Context};
use random::Random;
use std::rc::Rc;

const NAME: &std::ffi::CStr = c"VK_ARM_data_graph";

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "tensors_are_images", of: NAME, run: shared },
        Check { name: "images_go_through_graphs", of: NAME, run: graphs },
        Check { name: "tensors_that_are_no_images_are_refused", of: NAME, run: refused },
    ]
}

/// An image that tensors may share memory with.
fn image(context: &Rc<Context>, format: vk::Format, size: [u32; 3], texels: &[u8]) -> Result<Image, String> {
    let mut info = ImageInfo::texture(format, [size[0], size[1]]);
    info.depth = size[2];
    info.usage |= vk::ImageUsageFlags::TRANSFER_SRC | vk::IMAGE_USAGE_TENSOR_ALIASING_BIT_ARM;
    if size[2] == 0 {
        info.usage |= vk::ImageUsageFlags::COLOR_ATTACHMENT;
    }
    Image::with_texels(context, info, texels).map_err(text)
}

/// A barrier with the image's layout while tensors use it.
fn to_tensor(device: &ash::Device, commands: vk::CommandBuffer, image: &Image) {
    let range = vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        level_count: 1,
        layer_count: 1,
        ..Default::default()
    };
    for (old, new) in [
        (vk::ImageLayout::GENERAL, vk::IMAGE_LAYOUT_TENSOR_ALIASING_ARM),
        (vk::IMAGE_LAYOUT_TENSOR_ALIASING_ARM, vk::ImageLayout::GENERAL),
    ] {
        let change = [vk::ImageMemoryBarrier::default()
            .old_layout(old)
            .new_layout(new)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(image.handle)
            .subresource_range(range)
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe { device.cmd_pipeline_barrier(commands, all, all, Default::default(), &[], &[], &change) };
    }
}

fn shared(_: &Rig) -> Found {
    use vk::Format as F;
    let (context, functions, _) = data_graph::open().map_err(text)?;
    let mut random = Random::default();
    let mut all = vec![];
    // Rows of 84, 42 and 10 bytes, and of 64, which need no padding.
    for (format, element, components, [w, h, d]) in [
        (F::R8G8B8A8_UNORM, Element::U8, 4, [21u32, 13, 0]),
        (F::B8G8R8A8_UNORM, Element::U8, 4, [16, 5, 0]),
        (F::R16G16_SFLOAT, Element::F16, 2, [21, 13, 0]),
        (F::R32_SFLOAT, Element::F32, 1, [7, 3, 0]),
        (F::R8G8_UNORM, Element::U8, 2, [5, 3, 4]),
        (F::R16G16B16A16_UINT, Element::U16, 4, [9, 2, 3]),
    ] {
        let count = (w * h * d.max(1)) as usize * components as usize;
        let bytes = count * element.bytes();
        // Numbers in every format, so that nothing rounds.
        let texels: Vec<u8> = (0..bytes).map(|_| random.u32() as u8 & 0x3F).collect();
        let of = image(&context, format, [w, h, d], &texels)?;
        let [wide, high, deep] = [w, h, d].map(i64::from);
        let dimensions = [&[deep][..if d > 0 { 1 } else { 0 }], &[high, wide, components as i64]].concat();
        let alias = Tensor::of_image(&context, &functions, element, &dimensions, &of).map_err(text)?;
        let mut plain = Tensor::new(&context, &functions, element, &dimensions, None, false).map_err(text)?;
        let copy = |from: &Tensor, to: &Tensor| {
            context.run(|device, c| {
                to_tensor(device, c, &of);
                from.copy_to(c, to);
                to_tensor(device, c, &of);
            })
        };
        let is = |what: &str, got: &[u8], wanted: &[u8]| match got == wanted {
            true => Ok(()),
            false => Err(format!("{format:?}, {dimensions:?}, {what}: {got:?}, not {wanted:?}")),
        };
        copy(&alias, &plain).map_err(text)?;
        is("copied out", &plain.bytes()[..bytes], &texels)?;
        // A shader reads the image's memory as a tensor.
        let mut made = Tensor::new(&context, &functions, element, &dimensions, None, false).map_err(text)?;
        let sizes = Buffer::new(&context, 64).map_err(text)?;
        let rank = dimensions.len() as u32;
        let program = Shift { element, rank, shift: 0, at_once: 1, outside: 0, in_turn: false };
        program.run(&context, &alias, &made, &sizes, count as u32).map_err(text)?;
        is("read by a shader", &made.bytes()[..bytes], &texels)?;
        // And writes it; commands read the image.
        made.bytes_mut().iter_mut().for_each(|b| *b = random.u32() as u8 & 0x3F);
        program.run(&context, &made, &alias, &sizes, count as u32).map_err(text)?;
        plain.bytes_mut()[..bytes].copy_from_slice(&texels);
        if d == 0 {
            let read = of.read(vk::ImageAspectFlags::COLOR, bytes / (w * h) as usize).map_err(text)?;
            is("written by a shader", &read, &made.bytes()[..bytes])?;
            copy(&plain, &alias).map_err(text)?;
            let read = of.read(vk::ImageAspectFlags::COLOR, bytes / (w * h) as usize).map_err(text)?;
            is("copied in", &read, &texels)?;
        }
        all.extend_from_slice(&made.bytes()[..bytes]);
    }
    found(&all)
}

/// A pass clears an image, a graph adds it to another one and writes a third, which commands read.
fn graphs(_: &Rig) -> Found {
    const ADD: u32 = 14;
    const SHAPE: [u32; 4] = [1, 9, 21, 4];
    let (context, functions, of_graphs) = data_graph::open().map_err(text)?;
    let bytes = 9 * 21 * 4 * 2;
    let halves: Vec<u8> = (0..bytes / 2).flat_map(|i| [0, [0x3C, 0x40, 0xBC][i % 3]]).collect();
    let new = |texels: &[u8]| image(&context, vk::Format::R16G16B16A16_SFLOAT, [21, 9, 0], texels);
    let images = [new(&vec![0; bytes])?, new(&halves)?, new(&vec![0; bytes])?];
    let dimensions = SHAPE.map(i64::from);
    let tensors: Result<Vec<Tensor>, String> = (images.iter())
        .map(|i| Tensor::of_image(&context, &functions, Element::F16, &dimensions, i).map_err(text))
        .collect();
    let tensors = tensors?;
    let pass = Pass {
        colours: vec![Attachment::new(&images[0], Load::colour([0.5, 1.0, -2.0, 0.25]))],
        size: [21, 9],
        ..Pass::default()
    };
    context
        .run(|device, commands| {
            pass.record(device, commands, |_, _| {});
            barrier(device, commands);
        })
        .map_err(text)?;
    let mut g = Code::new();
    let [a, b] = [(); 2].map(|()| g.input(Element::F16, &SHAPE));
    let sum = g.operator(ADD, Element::F16, &SHAPE, &[a, b]);
    g.output(sum, Element::F16, &SHAPE);
    let described = || Described { element: Element::F16, dimensions: &dimensions, strides: None };
    let bound: Vec<_> = tensors.iter().map(|t| (t, described())).collect();
    data_graph::run(&context, &of_graphs, &g.spirv(), &bound, &[]).map_err(text)?;
    let made = images[2].read(vk::ImageAspectFlags::COLOR, 8).map_err(text)?;
    // 1, 2 and -1 more than the clear value's components.
    let sums = [
        [0x3E00u16, 0x4100, 0xB800],
        [0x4000, 0x4200, 0x0000],
        [0xBC00, 0x0000, 0xC200],
        [0x3D00, 0x4080, 0xBA00],
    ];
    let wanted: Vec<u8> = (0..bytes / 2).flat_map(|i| sums[i % 4][i % 3].to_le_bytes()).collect();
    if made != wanted {
        return Err(format!("{made:x?}, not {wanted:x?}"));
    }
    found(&made)
}

fn refused(_: &Rig) -> Found {
    let (context, functions, _) = data_graph::open().map_err(text)?;
    let of = image(&context, vk::Format::R8G8B8A8_UNORM, [4, 4, 0], &[0; 64])?;
    // Five components, five dimensions, more memory than the image has, and an offset that overflows.
    for dimensions in [
        &[4i64, 4, 5][..],
        &[1, 1, 4, 4, 4],
        &[1 << 12, 1 << 12, 4],
        &[i64::MAX, i64::MAX, 4, 4],
        &[4, -4, 4],
    ] {
        if Tensor::of_image(&context, &functions, Element::U8, dimensions, &of).is_ok() {
            return Err(format!("{dimensions:?} is made and bound"));
        }
    }
    // Formats whose texels are not elements one after the other.
    for format in
        [vk::Format::R8G8B8A8_SRGB, vk::Format::A2B10G10R10_UNORM_PACK32, vk::Format::R5G6B5_UNORM_PACK16]
    {
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(format)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(vk::IMAGE_USAGE_TENSOR_ALIASING_BIT_ARM);
        let mut out = vk::ImageFormatProperties2::default();
        // SAFETY: structures outlive the call.
        let told = unsafe {
            let instance = &context.instance;
            instance.get_physical_device_image_format_properties2(context.physical, &info, &mut out)
        };
        if told.is_ok() {
            return Err(format!("{format:?} may be shared with tensors"));
        }
    }
    found(&[])
}

//! Images of which parts are bound.

use super::*;

#[test]
fn an_image_is_read_and_stored_to_where_it_is_bound() {
    let g = gpu();
    let d = &g.device;
    // Level 0 has 4 × 2 blocks, level 1 2 × 1; levels 2 and 3 are the tail.
    let i = image(&g, vk::ImageType::TYPE_2D, RGBA, [512, 256, 1], 4);
    let needs = unsafe { d.get_image_memory_requirements(i) };
    let told = unsafe { d.get_image_sparse_memory_requirements(i) };
    let [told] = told[..] else { panic!("{told:?}") };
    let grain = told.format_properties.image_granularity;
    assert_eq!((grain.width, grain.height, grain.depth), (128, 128, 1));
    assert_eq!((needs.alignment, needs.size), (BLOCK, 11 * BLOCK));
    assert_eq!(
        (told.image_mip_tail_first_lod, told.image_mip_tail_size, told.image_mip_tail_offset),
        (2, BLOCK, 10 * BLOCK)
    );
    let m = store(&g, 4, needs.memory_type_bits);
    bind_blocks(&g, i, &[block([0, 0], m.memory, 0), block([2, 0], m.memory, BLOCK)]).unwrap();
    let tail = [part(told.image_mip_tail_offset, BLOCK, m.memory, 2 * BLOCK)];
    let of = [vk::SparseImageOpaqueMemoryBindInfo::default().image(i).binds(&tail)];
    bind(&g, vk::BindSparseInfo::default().image_opaque_binds(&of)).unwrap();
    let range = vk::ImageSubresourceRange { level_count: 4, ..crate::gpu::COLOUR };
    let out = g.buffer(512 * 256);
    let at = |out: &Mapped, x: usize, y: usize| out.words[512 * y + x];
    let read = |d: &ash::Device, c| unsafe {
        d.cmd_copy_image_to_buffer(c, i, GENERAL, out.buffer, &whole([512, 256, 1]))
    };
    g.run(|d, c| unsafe {
        d.cmd_clear_color_image(c, i, GENERAL, &vk::ClearColorValue { float32: GREY }, &[range]);
        read(d, c);
    });
    for (y, row) in out.words.chunks(512).enumerate() {
        for (x, &t) in row.iter().enumerate() {
            let bound = y < 128 && (x / 128) % 2 == 0;
            assert_eq!(t, if bound { COLOUR } else { 0 }, "{x} {y}");
        }
    }
    assert!(m.words[..2 * WORDS].iter().all(|&t| t == COLOUR), "a block has its texels and no others");

    let s = Shader::new(&g);
    let result = g.buffer(16 * 8);
    let view = |levels| {
        let info = vk::ImageViewCreateInfo::default()
            .image(i)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(RGBA)
            .subresource_range(vk::ImageSubresourceRange { level_count: levels, ..range });
        unsafe { d.create_image_view(&info, None) }.unwrap()
    };
    let views = [view(4), view(1)];
    let linear = vk::SamplerCreateInfo::default()
        .mag_filter(vk::Filter::LINEAR)
        .min_filter(vk::Filter::LINEAR)
        .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
        .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let sampler = unsafe { d.create_sampler(&linear, None) }.unwrap();
    for (n, ty) in [vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::STORAGE_IMAGE]
        .into_iter()
        .enumerate()
    {
        let of = [vk::DescriptorImageInfo { sampler, image_view: views[n], image_layout: GENERAL }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(s.sets[0])
            .dst_binding(n as u32)
            .descriptor_type(ty)
            .image_info(&of);
        unsafe { d.update_descriptor_sets(&[write], &[]) };
    }
    s.buffers(&g, &[(2, result.buffer), (3, result.buffer)]);
    s.dispatch(&g, [0; 4]);
    let all = texels(&result);
    let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let zero = [0.0; 4];
    for n in 0..16 {
        let (texel, resident) = match n {
            // Two fetches from each block, then a load from each: the first and the third are bound.
            0..8 => {
                if n % 4 < 2 {
                    (GREY, 1.0)
                } else {
                    (zero, 0.0)
                }
            }
            8..12 => {
                if n % 2 == 0 {
                    (GREY, 1.0)
                } else {
                    (zero, 0.0)
                }
            }
            // Half a bound texel, half one that is not.
            12 => (GREY.map(|c| c / 2.0), 0.0),
            13 => ([0.8, 0.0, 0.0, 0.8], 0.0),
            _ => (GREY, 1.0),
        };
        assert!(near(all[2 * n], texel), "{n}: {:?}, not {texel:?}", all[2 * n]);
        assert_eq!(all[2 * n + 1], [resident; 4], "{n}");
    }

    // Stores to every other block are dropped: memory that comes there has none of them.
    s.dispatch(&g, [1, 0, 0, 0]);
    bind_blocks(&g, i, &[block([1, 0], m.memory, 3 * BLOCK)]).unwrap();
    g.run(read);
    let row: Vec<u32> = (0..8).map(|k| at(&out, 64 * k + 2, 7)).collect();
    let new = 0x00FF_00FF;
    assert_eq!(row, [new, new, 0, 0, new, new, 0, 0]);
    // The first block's memory goes elsewhere, with what it holds.
    bind_blocks(&g, i, &[block([0, 0], vk::DeviceMemory::null(), 0), block([3, 1], m.memory, 0)]).unwrap();
    g.run(read);
    assert_eq!((at(&out, 2, 7), at(&out, 3 * 128 + 2, 128 + 7), at(&out, 511, 255)), (0, new, COLOUR));

    // A pass that clears, and keeps nothing where nothing is.
    let colour = [vk::RenderingAttachmentInfo::default()
        .image_view(views[1])
        .image_layout(GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(vk::ClearValue { color: vk::ClearColorValue { float32: [1.0; 4] } })];
    let area = vk::Rect2D { offset: Default::default(), extent: vk::Extent2D { width: 512, height: 256 } };
    let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colour);
    g.run(|d, c| unsafe {
        d.cmd_begin_rendering(c, &info);
        d.cmd_end_rendering(c);
        read(d, c);
    });
    let corners = [[0, 0], [128, 0], [256, 127], [511, 127], [383, 255], [384, 128]];
    assert_eq!(corners.map(|[x, y]| at(&out, x, y) == !0), [false, true, true, false, false, true]);
    bind_blocks(&g, i, &[block([0, 0], m.memory, BLOCK)]).unwrap();
    g.run(read);
    assert_eq!((at(&out, 0, 0), at(&out, 0, 128)), (!0, 0), "two places of one memory");

    s.free(&g);
    unsafe {
        d.destroy_sampler(sampler, None);
        views.into_iter().for_each(|v| d.destroy_image_view(v, None));
        d.destroy_image(i, None);
        d.free_memory(m.memory, None);
    }
    g.free(result);
    g.free(out);
}

/// Bytes go in and out of images of every shape of block, which are bound as a whole, and lie in memory block by block.
#[test]
fn blocks_of_every_shape_hold_their_texels() {
    let g = gpu();
    let d = &g.device;
    let (flat, solid) = (vk::ImageType::TYPE_2D, vk::ImageType::TYPE_3D);
    for (ty, format, bytes, extent) in [
        (flat, vk::Format::R8_UINT, 1, [300, 260, 1]),
        (flat, vk::Format::R32G32_UINT, 8, [200, 70, 1]),
        (flat, vk::Format::R32G32B32A32_UINT, 16, [65, 129, 1]),
        (solid, vk::Format::R8_UINT, 1, [70, 40, 33]),
        (solid, vk::Format::R16_UINT, 2, [33, 33, 33]),
        (solid, vk::Format::R32_UINT, 4, [40, 33, 17]),
    ] {
        let i = image(&g, ty, format, extent, 1);
        let needs = unsafe { d.get_image_memory_requirements(i) };
        let m = store(&g, needs.size / BLOCK, needs.memory_type_bits);
        let parts = [part(0, needs.size, m.memory, 0)];
        let of = [vk::SparseImageOpaqueMemoryBindInfo::default().image(i).binds(&parts)];
        bind(&g, vk::BindSparseInfo::default().image_opaque_binds(&of)).unwrap();
        let words = (extent.iter().product::<u32>() * bytes).div_ceil(4) as usize;
        let (from, to) = (g.buffer(words), g.buffer(words));
        for (n, w) in from.words.iter_mut().enumerate() {
            *w = (n as u32).wrapping_mul(0x9E37_79B1);
        }
        g.run(|d, c| unsafe {
            d.cmd_copy_buffer_to_image(c, from.buffer, i, GENERAL, &whole(extent));
            d.cmd_copy_image_to_buffer(c, i, GENERAL, to.buffer, &whole(extent));
        });
        let n = words - 1;
        assert!(from.words[..n] == to.words[..n], "{format:?} {extent:?}");
        unsafe {
            d.destroy_image(i, None);
            d.free_memory(m.memory, None);
        }
        g.free(from);
        g.free(to);
    }
}

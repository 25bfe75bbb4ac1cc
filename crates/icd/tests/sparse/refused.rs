//! What cannot be bound.

use super::*;

#[test]
fn binds_that_cannot_be_are_refused() {
    let g = gpu();
    let d = &g.device;
    let bad = Err(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    let (b, need) = buffer(&g, 4 * BLOCK, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let m = store(&g, 2, need.memory_type_bits);
    let none = vk::DeviceMemory::null();
    let plain = g.buffer(WORDS);
    for (what, of) in [
        ("unaligned place", part(4, BLOCK, m.memory, 0)),
        ("unaligned memory", part(0, BLOCK, m.memory, 64)),
        ("unaligned size", part(0, 100, m.memory, 0)),
        ("nothing", part(0, 0, m.memory, 0)),
        ("beyond the buffer", part(3 * BLOCK, 2 * BLOCK, m.memory, 0)),
        ("far beyond it", part(0u64.wrapping_sub(BLOCK), 2 * BLOCK, none, 0)),
        ("beyond memory", part(0, 2 * BLOCK, m.memory, BLOCK)),
        ("far beyond that", part(0, BLOCK, m.memory, 0u64.wrapping_sub(BLOCK))),
        ("memory of another type", part(0, BLOCK, plain.memory, 0)),
    ] {
        assert_eq!(bind_buffer(&g, b, &[of]), bad, "{what}");
    }
    assert_eq!(
        bind_buffer(&g, plain.buffer, &[part(0, BLOCK, m.memory, 0)]),
        bad,
        "a buffer that is not sparse"
    );
    let i = image(&g, vk::ImageType::TYPE_2D, RGBA, [200, 130, 1], 3);
    let ok = block([0, 0], m.memory, 0);
    let with = |change: fn(&mut vk::SparseImageMemoryBind)| {
        let mut b = ok;
        change(&mut b);
        b
    };
    for (what, of) in [
        ("an offset within a block", with(|b| b.offset.x = 64)),
        ("a negative one", with(|b| b.offset.y = -128)),
        ("one outside", with(|b| b.offset.x = 256)),
        ("a part of a block", with(|b| b.extent.width = 100)),
        ("nothing", with(|b| b.extent.height = 0)),
        ("more than there is", with(|b| b.extent.width = u32::MAX)),
        ("slices", with(|b| b.extent.depth = 2)),
        ("a level of the tail", with(|b| b.subresource.mip_level = 1)),
        ("no level", with(|b| b.subresource.mip_level = 99)),
        ("no layer", with(|b| b.subresource.array_layer = 1)),
        ("no aspect", with(|b| b.subresource.aspect_mask = vk::ImageAspectFlags::DEPTH)),
        (
            "more memory than there is",
            with(|b| b.extent = vk::Extent3D { width: 200, height: 130, depth: 1 }),
        ),
    ] {
        assert_eq!(bind_blocks(&g, i, &[of]), bad, "{what}");
    }
    assert_eq!(bind_blocks(&g, i, &[ok]), Ok(()));
    let edge = block([1, 1], m.memory, BLOCK).extent(vk::Extent3D { width: 72, height: 2, depth: 1 });
    assert_eq!(bind_blocks(&g, i, &[edge]), Ok(()), "blocks at an edge are whole");
    // What overlaps: the last one stays. What is bound and freed: so does the memory.
    let parts = [part(0, 2 * BLOCK, m.memory, 0), part(BLOCK, BLOCK, m.memory, 0), part(0, BLOCK, none, 0)];
    assert_eq!(bind_buffer(&g, b, &parts), Ok(()));
    m.words[0] = 5;
    let out = g.buffer(2 * WORDS);
    g.run(|d, c| copy(d, c, b, out.buffer, [0; 2], 2 * BLOCK));
    assert_eq!((out.words[0], out.words[WORDS]), (0, 5));
    // As many as one likes of a few blocks; more blocks than the system can map, then nothing is left of them.
    let many: Vec<_> =
        (0..200_000).map(|n| part(n % 4 * BLOCK, BLOCK, m.memory, n / 3 % 2 * BLOCK)).collect();
    assert_eq!(bind_buffer(&g, b, &many), Ok(()));
    let (large, _) = buffer(&g, 1 << 32, vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let refused = (0..16).find_map(|n| {
        // Every block of 256 MiB to one of memory.
        let parts: Vec<_> = (0..4096).map(|k| part((4096 * n + k) * BLOCK, BLOCK, m.memory, 0)).collect();
        bind_buffer(&g, large, &parts).err()
    });
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    match limit.and_then(|l| l.trim().parse::<u64>().ok()) {
        // A buffer has 65 536 blocks, and a quarter of the limit is left to the process.
        Some(limit) if limit / 4 * 3 < 60_000 => {
            assert_eq!(refused, Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY))
        }
        _ => not_run::say("a shortage of mappings", "a vm.max_map_count below 80 000"),
    }
    unsafe { d.destroy_buffer(large, None) };
    assert_eq!(bind_buffer(&g, b, &many[..1000]), Ok(()), "there is room again");
    // Memory of another device is memory.
    let other = gpu();
    let theirs = store(&other, 1, need.memory_type_bits);
    let _ = bind_buffer(&g, b, &[part(0, BLOCK, theirs.memory, 0)]);
    unsafe {
        other.device.free_memory(theirs.memory, None);
        drop(other);
        d.free_memory(m.memory, None);
        g.run(|d, c| {
            d.cmd_fill_buffer(c, b, 0, vk::WHOLE_SIZE, 3);
            copy(d, c, b, out.buffer, [0; 2], 2 * BLOCK);
        });
        // No such memory, buffer or image any more.
        assert!(bind_buffer(&g, b, &[part(0, BLOCK, m.memory, 0)]).is_err());
        d.destroy_buffer(b, None);
        assert!(bind_buffer(&g, b, &[part(0, BLOCK, none, 0)]).is_err());
        d.destroy_image(i, None);
        assert!(bind_blocks(&g, i, &[ok]).is_err());
        let mut group = vk::DeviceGroupBindSparseInfo::default().memory_device_index(3);
        assert!(bind(&g, vk::BindSparseInfo::default().push_next(&mut group)).is_err());
        for flags in [vk::BufferCreateFlags::SPARSE_RESIDENCY, vk::BufferCreateFlags::SPARSE_ALIASED] {
            let info = vk::BufferCreateInfo::default()
                .size(64)
                .usage(vk::BufferUsageFlags::TRANSFER_DST)
                .flags(flags);
            assert_eq!(d.create_buffer(&info, None).err(), bad.err(), "{flags:?}");
        }
    }
    g.free(plain);
    g.free(out);
}

//! The tables against ash's structures, and what becomes of a call that is copied, changed and laid out.

use crate::record::id;
use crate::tree::{Tree, peek};
use crate::world::World;
use crate::{COMMANDS, STRUCTS};
use ash::vk;
use std::mem::offset_of;

fn size(name: &str) -> usize {
    STRUCTS.iter().find(|s| s.name == name).map_or(0, |s| s.size as usize)
}

fn offset(name: &str, member: &str) -> usize {
    let s = STRUCTS.iter().find(|s| s.name == name).expect("a structure");
    s.members.iter().find(|m| m.name == member).expect("a member").at as usize
}

#[test]
fn structures_lie_as_in_c() {
    assert_eq!(size("VkBufferCreateInfo"), size_of::<vk::BufferCreateInfo>());
    assert_eq!(size("VkGraphicsPipelineCreateInfo"), size_of::<vk::GraphicsPipelineCreateInfo>());
    assert_eq!(size("VkPhysicalDeviceProperties2"), size_of::<vk::PhysicalDeviceProperties2>());
    assert_eq!(size("VkImageBlit2"), size_of::<vk::ImageBlit2>());
    assert_eq!(size("VkClearAttachment"), size_of::<vk::ClearAttachment>());
    assert_eq!(size("VkDescriptorGetInfoEXT"), size_of::<vk::DescriptorGetInfoEXT>());
    assert_eq!(
        offset("VkGraphicsPipelineCreateInfo", "subpass"),
        offset_of!(vk::GraphicsPipelineCreateInfo, subpass)
    );
    assert_eq!(
        offset("VkRenderingAttachmentInfo", "clearValue"),
        offset_of!(vk::RenderingAttachmentInfo, clear_value)
    );
    assert_eq!(
        offset("VkPhysicalDeviceLimits", "maxSamplerAnisotropy"),
        offset_of!(vk::PhysicalDeviceLimits, max_sampler_anisotropy)
    );
}

fn call() -> Tree {
    let families = [3, 1, 4];
    let mut external = vk::ExternalMemoryBufferCreateInfo::default()
        .handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
    let info =
        vk::BufferCreateInfo::default().size(77).queue_family_indices(&families).push_next(&mut external);
    let mut out = 5u64;
    let words = [1, (&raw const info) as u64, 0, (&raw mut out) as u64];
    // SAFETY: parameters of this command.
    unsafe { Tree::of_call(id("vkCreateBuffer").expect("a command"), &words) }
}

#[test]
fn a_copied_call_says_the_same() {
    let tree = call();
    let laid = tree.lay_out();
    // SAFETY: the tree's own memory, which is as the structures say.
    unsafe {
        let info = &*(laid.words()[1] as *const vk::BufferCreateInfo);
        assert_eq!((info.size, info.queue_family_index_count), (77, 3));
        assert_eq!(std::slice::from_raw_parts(info.p_queue_family_indices, 3), [3, 1, 4]);
        let next = &*info.p_next.cast::<vk::ExternalMemoryBufferCreateInfo>();
        assert_eq!(next.handle_types, vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        assert!(next.p_next.is_null() && laid.words()[3] != 0 && laid.words()[2] == 0);
    }
    assert!(tree.text().contains("queueFamilyIndexCount: 0x3"), "{}", tree.text());
}

/// Whatever is changed or made up, no array is shorter than its count says.
#[test]
fn counts_are_settled() {
    let world = World::new();
    let mut rng = crate::arguments::seeded(1, 2);
    let mut nulls = 0;
    for round in 0..20_000 {
        let command = rng.index(COMMANDS.len()) as u16;
        let mut tree = if round % 3 == 0 { call() } else { Tree::from_nothing(command, &world, &mut rng) };
        tree.mutate(rng.index(4), &world, &mut rng);
        for fd in tree.settle(&world, &mut rng) {
            // SAFETY: made for this call alone.
            unsafe { libc::close(fd) };
        }
        for p in tree.places().iter().filter(|p| p.member.is_some_and(|m| m.pointers > 0)) {
            let Some((node, at, bytes, scale)) = tree.counted_by(p) else { continue };
            let said = tree.get(node, at, bytes) as usize;
            match tree.link(p.node, p.at) {
                Some(to) => assert!(said <= tree.nodes[to].count * scale, "{}", tree.text()),
                None => nulls += (said > 0) as u32,
            }
        }
        let laid = tree.lay_out();
        assert_eq!(laid.words().len(), COMMANDS[tree.command as usize].params.len());
    }
    assert!(nulls > 100, "null arrays that have a count: {nulls}");
}

#[test]
fn numbers_are_the_same_everywhere() {
    let mut r = crate::arguments::seeded(1, 2);
    let first = [r.u64(), r.u64()];
    let mut r = crate::arguments::seeded(1, 2);
    assert_eq!([r.u64(), r.u64()], first);
    // SAFETY: eight bytes.
    assert_eq!(unsafe { peek(7u64.to_le_bytes().as_ptr(), 4) }, 7);
}

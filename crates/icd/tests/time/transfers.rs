//! Whose queue transfers run on, what they cost there, and what barriers' stages take in of them.

use super::Heavy;
use crate::gpu::{Mapped, Viewed};
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

const COLOUR: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

/// Images of 256 × 256 and 128 × 128 pixels of four bytes, and a buffer for the larger one's.
struct Lab {
    h: Heavy,
    large: Viewed,
    other: Viewed,
    small: Viewed,
    buffer: Mapped,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Lab {
    fn new() -> Lab {
        let h = Heavy::new();
        let usage = vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST
            | vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let [large, other, small] = [256, 256, 128].map(|side| h.c.g.image([side; 2], usage));
        let buffer = h.c.g.buffer(256 * 256);
        Lab { h, large, other, small, buffer }
    }
    fn free(self) {
        [self.large, self.other, self.small].into_iter().for_each(|i| self.h.c.g.free_image(i));
        self.h.c.g.free(self.buffer);
        self.h.free();
    }
    fn clear(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let value = vk::ClearColorValue { float32: [1.0; 4] };
        unsafe {
            d.cmd_clear_color_image(
                c,
                self.large.image,
                vk::ImageLayout::GENERAL,
                &value,
                &[crate::gpu::COLOUR],
            )
        };
    }
    fn blit(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let corner = |side: i32| [vk::Offset3D::default(), vk::Offset3D { x: side, y: side, z: 1 }];
        let region = [vk::ImageBlit::default()
            .src_subresource(COLOUR)
            .src_offsets(corner(256))
            .dst_subresource(COLOUR)
            .dst_offsets(corner(128))];
        let general = vk::ImageLayout::GENERAL;
        let (from, to) = (self.large.image, self.small.image);
        unsafe { d.cmd_blit_image(c, from, general, to, general, &region, vk::Filter::LINEAR) };
    }
    fn copy(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let extent = vk::Extent3D { width: 256, height: 256, depth: 1 };
        let region = [vk::ImageCopy {
            src_subresource: COLOUR,
            dst_subresource: COLOUR,
            extent,
            ..Default::default()
        }];
        let general = vk::ImageLayout::GENERAL;
        unsafe { d.cmd_copy_image(c, self.large.image, general, self.other.image, general, &region) };
    }
    fn fill(&self, d: &ash::Device, c: vk::CommandBuffer) {
        unsafe { d.cmd_fill_buffer(c, self.buffer.buffer, 0, vk::WHOLE_SIZE, 7) };
    }
    fn read_back(&self, d: &ash::Device, c: vk::CommandBuffer) {
        let extent = vk::Extent3D { width: 256, height: 256, depth: 1 };
        let region =
            [vk::BufferImageCopy { image_subresource: COLOUR, image_extent: extent, ..Default::default() }];
        unsafe {
            let general = vk::ImageLayout::GENERAL;
            d.cmd_copy_image_to_buffer(c, self.large.image, general, self.buffer.buffer, &region)
        };
    }
}

#[test]
fn tiles_do_what_render_passes_can() {
    let l = Lab::new();
    const NAMES: [&str; 8] = [
        "Compute jobs",
        "Main phase jobs",
        "Main phase tasks",
        "Tiles",
        "Tile unit write beats to L2 memory system",
        "Texture unit read beats from L2 cache",
        "Main phase queue active cycles",
        "Compute queue active cycles",
    ];
    // 256 KiB are 16 384 beats, in 16 regions; of 56 bytes a cycle external memory takes 4681.1 cycles. 1000 for the job.
    let clear = l.h.c.count(NAMES, |d, c| l.clear(d, c));
    assert_eq!(clear, [0.0, 1.0, 16.0, 64.0, 16_384.0, 0.0, 5682.0, 0.0]);
    // 256 KiB in, 64 KiB out, in four regions: 16 384 beats through texture units, and four tasks of 100, on four cores:
    // 4196; memory takes 327 680 / 56 = 5851.4.
    let blit = l.h.c.count(NAMES, |d, c| l.blit(d, c));
    assert_eq!(blit, [0.0, 1.0, 4.0, 16.0, 4096.0, 16_384.0, 6852.0, 0.0]);
    // 512 KiB: 9362.3.
    let copy = l.h.c.count(NAMES, |d, c| l.copy(d, c));
    assert_eq!(copy, [0.0, 1.0, 16.0, 64.0, 16_384.0, 16_384.0, 10_363.0, 0.0]);
    // By compute: four tasks of 64 KiB, 1024 issues and 4096 beats each, on four cores, and 20 for the task: 4116; memory 4681.1,
    // or twice as much.
    assert_eq!(l.h.c.count(NAMES, |d, c| l.fill(d, c)), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5682.0]);
    assert_eq!(l.h.c.count(NAMES, |d, c| l.read_back(d, c)), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 10_363.0]);
    l.free();
}

/// A clear beside a dispatch, unless a barrier is between them, of the stage that a clear is of, or of all transfers.
#[test]
fn barriers_take_in_transfers_on_either_queue() {
    let l = Lab::new();
    let h = &l.h;
    // When the transfer ends, and when a dispatch after it ends. The stamps of a queue do not run backwards, so the dispatch's stamp is
    // written before the transfer's.
    let ends = |stage: Option<Stages>, transfer: &dyn Fn(&ash::Device, vk::CommandBuffer), dispatch: bool| {
        h.c.g.run(|d, c| {
            unsafe { d.cmd_reset_query_pool(c, h.pool, 0, 3) };
            h.barrier(c, Stages::ALL_COMMANDS, Stages::ALL_COMMANDS);
            h.stamp(c, 0, Stages::ALL_COMMANDS);
            transfer(d, c);
            if let Some(s) = stage {
                h.barrier(c, s, Stages::COMPUTE_SHADER);
            }
            if dispatch {
                // One core's work: it is over before the transfer, if it begins with it.
                h.dispatch(c, 1, 100);
            }
            h.stamp(c, 1, Stages::COMPUTE_SHADER);
            h.stamp(c, 2, Stages::ALL_TRANSFER);
        });
        let [begin, computed, transferred] = h.times::<3>(0);
        assert!(transferred > begin);
        [computed - begin, transferred - begin]
    };
    let after = |stage: Option<Stages>, transfer: &dyn Fn(&ash::Device, vk::CommandBuffer)| {
        let [_, alone] = ends(None, transfer, false);
        let [computed, _] = ends(stage, transfer, true);
        computed > alone
    };
    let clear = |d: &ash::Device, c| l.clear(d, c);
    let copy = |d: &ash::Device, c| l.copy(d, c);
    assert!(!after(None, &clear) && !after(None, &copy));
    for (stage, waits) in [
        (Stages::CLEAR, true),
        (Stages::ALL_TRANSFER, true),
        (Stages::COPY, false),
        (Stages::ALL_GRAPHICS, false),
    ] {
        assert_eq!(after(Some(stage), &clear), waits, "{stage:?}");
    }
    for (stage, waits) in [(Stages::COPY, true), (Stages::ALL_TRANSFER, true), (Stages::CLEAR, false)] {
        assert_eq!(after(Some(stage), &copy), waits, "{stage:?}");
    }
    // On the compute queue a dispatch is after it anyway.
    assert!(after(None, &|d, c| l.fill(d, c)));
    l.free();
}

//! Devices of which nobody can see counters at first: what is counted, and how long things take, once somebody can. A process of its
//! own, for the channel is all devices'.

mod common;
#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod gpu;

use ash::vk::{self, Handle};
use channel::Channel;
use gpu::{Gpu, Mapped, Viewed};
use std::ffi::c_void;

const SIDE: u32 = 256;

/// What is worked on: two buffers and an image.
struct Things {
    from: Mapped,
    to: Mapped,
    image: Viewed,
}

impl Things {
    fn new(g: &Gpu) -> Things {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        Things { from: g.buffer(1 << 16), to: g.buffer(1 << 16), image: g.image([SIDE, SIDE], usage) }
    }

    /// A fill, a copy, and a pass that clears.
    fn work(&self, d: &ash::Device, c: vk::CommandBuffer, blue: f32) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        let wait = || {
            // SAFETY (here and below): handles are alive, structures outlive the calls.
            unsafe { d.cmd_pipeline_barrier(c, all, all, Default::default(), &memory, &[], &[]) }
        };
        unsafe {
            d.cmd_fill_buffer(c, self.from.buffer, 0, 1 << 17, 7);
            wait();
            d.cmd_copy_buffer(
                c,
                self.from.buffer,
                self.to.buffer,
                &[vk::BufferCopy::default().size(1 << 16)],
            );
            wait();
            let attachment = [vk::RenderingAttachmentInfo::default()
                .image_view(self.image.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(vk::ClearValue {
                    color: vk::ClearColorValue { float32: [0.0, 0.0, blue, 1.0] },
                })];
            let extent = vk::Extent2D { width: SIDE, height: SIDE };
            let info = vk::RenderingInfo::default()
                .render_area(vk::Rect2D { extent, ..Default::default() })
                .layer_count(1)
                .color_attachments(&attachment);
            d.cmd_begin_rendering(c, &info);
            d.cmd_end_rendering(c);
            wait();
        }
    }

    /// The nanoseconds that it takes, by timestamps of `pool`.
    fn timed(&self, g: &Gpu, pool: vk::QueryPool, blue: f32) -> u64 {
        g.run(|d, c| unsafe {
            d.cmd_reset_query_pool(c, pool, 0, 2);
            d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            self.work(d, c, blue);
            d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 1);
        });
        let mut got = [0u64; 2];
        unsafe { g.device.get_query_pool_results(pool, 0, &mut got, vk::QueryResultFlags::TYPE_64) }.unwrap();
        got[1] - got[0]
    }

    fn free(self, g: &Gpu) {
        g.free(self.from);
        g.free(self.to);
        g.free_image(self.image);
    }
}

fn stamps(g: &Gpu) -> vk::QueryPool {
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
    unsafe { g.device.create_query_pool(&info, None) }.unwrap()
}

/// Copies and a fill of one submission, and a copy of another, that nobody looks at: how many there are, and how many lines of 64 bytes
/// they read.
fn unseen(g: &Gpu) -> [u64; 2] {
    let (from, to) = (g.buffer(1024), g.buffer(1024));
    from.words.iter_mut().zip(1..).for_each(|(w, i)| *w = i);
    let copy = |d: &ash::Device, c: vk::CommandBuffer, at: u64, size: u64| {
        let region = [vk::BufferCopy { src_offset: at, dst_offset: at, size }];
        // SAFETY: both buffers have as many bytes.
        unsafe { d.cmd_copy_buffer(c, from.buffer, to.buffer, &region) };
    };
    g.run(|d, c| {
        (0..15).for_each(|i| copy(d, c, i * 256, 256));
        // SAFETY: so many bytes of the buffer.
        unsafe { d.cmd_fill_buffer(c, to.buffer, 15 * 256, 128, 9) };
    });
    g.run(|d, c| copy(d, c, 15 * 256 + 128, 100));
    assert_eq!(to.words[..15 * 64], from.words[..15 * 64]);
    assert_eq!((to.words[15 * 64], to.words[15 * 64 + 32]), (9, from.words[15 * 64 + 32]));
    g.free(from);
    g.free(to);
    [17, 15 * 4 + 2]
}

/// What comes before the first observer changes neither how long things take nor what they count, and is done as ever.
#[test]
fn what_is_seen_is_as_if_somebody_had_always_looked() {
    let mut seen = vec![];
    let unseen_by = Gpu::new();
    let [jobs, lines] = unseen(&unseen_by);
    for early in [false, true] {
        let g = Gpu::new();
        let d = &g.device;
        let things = [Things::new(&g), Things::new(&g)];
        // A pool of timestamps is an observer; so is the channel, of all devices there are and will be.
        let first = early.then(|| stamps(&g));
        g.run(|d, c| things[0].work(d, c, 1.0));
        assert!(things[0].to.words[..1 << 14].iter().all(|w| *w == 7), "early: {early}");
        let pool = first.unwrap_or_else(|| stamps(&g));
        // Another's lines that the caches have are written first.
        g.run(|d, c| things[0].work(d, c, 0.5));
        let took = things[1].timed(&g, pool, 0.25);
        let channel = Channel::find().expect("the driver is loaded");
        let device = channel.device_number(d.handle().as_raw() as *const c_void).expect("a device");
        g.run(|d, c| things[0].work(d, c, 0.5));
        let before = channel.totals(Some(device)).unwrap();
        let again = things[1].timed(&g, pool, 0.75);
        let after = channel.totals(Some(device)).unwrap();
        let counted: Vec<u64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
        assert!(took > 0 && again > 0 && counted.iter().any(|n| *n > 0));
        let names = channel.event_names();
        let of = |name: &str| counted[names.iter().position(|n| *n == name).unwrap()];
        // Lines of 64 bytes: of the fill and the copy, and a pixel of four bytes for each of the image.
        assert_eq!(of("Compute.ExtWrites"), ((1 << 17) + (1 << 16)) / 64);
        assert_eq!(of("TilePixelsWritten"), (SIDE * SIDE) as u64);
        seen.push((took, again, counted));
        // SAFETY: all work has ended.
        unsafe { d.destroy_query_pool(pool, None) };
        things.into_iter().for_each(|t| t.free(&g));
    }
    let channel = Channel::find().expect("the driver is loaded");
    let number =
        channel.device_number(unseen_by.device.handle().as_raw() as *const c_void).expect("a device");
    let (names, all) = (channel.event_names(), channel.totals(Some(number)).unwrap());
    let of = |name: &str| all[names.iter().position(|n| *n == name).unwrap()];
    assert_eq!([of("ComputeJobs"), of("Compute.LsReadFull")], [jobs, lines], "what nobody looked at");
    assert!(seen[0] == seen[1], "{:?}", [seen[0].0, seen[0].1, seen[1].0, seen[1].1]);
}

//! What binds, by performance queries and timestamps through the loader: how busy units are, what overlaps, how large tiles are, what
//! operations cost. Figures are the default model's (G720), by hand.

use crate::gpu::{Gpu, Viewed};
use crate::model::Counted;
use crate::time::Heavy;
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

/// Cores of the model, and bytes of external memory a cycle.
const CORES: f64 = 10.0;
const BUS: f64 = 56.0;
/// Of a job.
const OVERHEAD: f64 = 1000.0;

/// A pass over targets of a format, all of them cleared.
fn pass(g: &Gpu, targets: &[Viewed], side: u32, c: vk::CommandBuffer, draw: impl FnOnce()) {
    let colours: Vec<_> = targets
        .iter()
        .map(|t| {
            vk::RenderingAttachmentInfo::default()
                .image_view(t.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        })
        .collect();
    let area = vk::Rect2D { extent: vk::Extent2D { width: side, height: side }, ..Default::default() };
    let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colours);
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        g.device.cmd_begin_rendering(c, &info);
        draw();
        g.device.cmd_end_rendering(c);
    }
}

/// A fill of 8 MiB streams: 8 388 608 / 56 = 149 797 cycles of memory. All ten cores hold it as long, though what they do themselves are
/// 131 072 lines of stores, 13 107 cycles of each: load/store is busy a ninth to a tenth of the time, and nothing is at 100 %.
#[test]
fn cores_hold_their_warps_while_memory_binds() {
    let m = Counted::new();
    let to = m.g.buffer(2 << 20);
    let names = [
        "Compute queue active cycles",
        "Any workload active cycles",
        "Execution core active cycles",
        "Load/store unit utilization",
    ];
    let [queue, any, exec, busy] = m.count(names, |d, c| {
        // SAFETY: handles are alive.
        unsafe { d.cmd_fill_buffer(c, to.buffer, 0, vk::WHOLE_SIZE, 1) }
    });
    let memory = (8 << 20) as f64 / BUS;
    assert!((queue - (memory + OVERHEAD)).abs() < 10.0, "{queue}");
    assert!((any / (CORES * memory) - 1.0).abs() < 0.02, "{any} {exec}");
    assert_eq!(exec, any);
    let lines = (8 << 20) as f64 / 64.0;
    assert!((busy - 100.0 * lines / exec).abs() < 0.1 && (8.0..10.0).contains(&busy), "{busy}");
    m.g.free(to);
    m.free();
}

/// 1024² pixels: tiles of 32 × 32 up to 256 bits a pixel, half as large up to 512, and so on. A triangle over all of it is rasterised in
/// each, and each tile's list has it.
#[test]
fn tiles_shrink_with_what_pixels_hold() {
    const SIDE: u32 = 1024;
    let m = Counted::new();
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let wide = vk::Format::R32G32B32A32_SFLOAT;
    let names = ["Tiles", "Rasterized primitives"];
    let narrow = vk::Format::R8G8B8A8_UNORM;
    let [one, four, eight, sixteen] = [
        vk::SampleCountFlags::TYPE_1,
        vk::SampleCountFlags::TYPE_4,
        vk::SampleCountFlags::TYPE_8,
        vk::SampleCountFlags::TYPE_16,
    ];
    for (format, attachments, samples, tiles) in [
        (narrow, 1, one, 1024.0),
        (narrow, 8, one, 1024.0),
        (wide, 2, one, 1024.0),
        (wide, 3, one, 2048.0),
        (wide, 4, one, 2048.0),
        (wide, 8, one, 4096.0),
        // Of 32 bits a sample 128, 256, 512 and 1024 bits a pixel; of 128 bits 2048.
        (narrow, 1, four, 1024.0),
        (narrow, 1, eight, 1024.0),
        (narrow, 1, sixteen, 2048.0),
        (narrow, 2, sixteen, 4096.0),
        (wide, 1, sixteen, 8192.0),
    ] {
        let targets: Vec<Viewed> =
            (0..attachments).map(|_| m.g.multisampled(format, [SIDE; 2], 1, usage, samples)).collect();
        let got = m.count(names, |d, c| pass(&m.g, &targets, SIDE, c, || clear(d, c, SIDE)));
        assert_eq!(got, [tiles; 2], "{format:?} × {attachments}, {samples:?}");
        targets.into_iter().for_each(|t| m.g.free_image(t));
    }
    m.free();
    // 128² pixels of 32 bits: 16 tiles, in each of which the triangle is.
    let h = Heavy::new();
    let names = ["Tiles", "Rasterized primitives", "Primitive references in tile lists"];
    assert_eq!(h.c.count(names, |_, c| h.pass(c, || h.draw(c, 1))), [16.0; 3]);
    h.free();
}

/// Clears the first attachment of a pass.
fn clear(d: &ash::Device, c: vk::CommandBuffer, side: u32) {
    let attachment = [vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue { color: vk::ClearColorValue { float32: [1.0; 4] } },
    }];
    let rect = vk::Rect2D { extent: vk::Extent2D { width: side, height: side }, ..Default::default() };
    let rects = [vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 }];
    // SAFETY: handles are alive, structures outlive the call.
    unsafe { d.cmd_clear_attachments(c, &attachment, &rects) };
}

/// A dispatch of which all cores' arithmetic takes long, and a pass that clears a large target, which memory takes: they share the GPU,
/// whichever comes first, and what a barrier between them costs is that they do not.
#[test]
fn jobs_that_are_ready_share_the_gpu_in_either_order() {
    let h = Heavy::new();
    let g = &h.c.g;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let target = g.image_of(vk::Format::R32G32B32A32_SFLOAT, [1024; 2], 1, usage);
    let targets = [target];
    let names = ["GPU active cycles"];
    // 640 workgroups of four warps: 64 a core; a multiplication is 16 cycles of a core for them all, and so on.
    let dispatch = |c| h.dispatch(c, 640, 16_000);
    let [alone] = h.c.count(names, |_, c| dispatch(c));
    let [stream] = h.c.count(names, |_, c| pass(g, &targets, 1024, c, || ()));
    let [first] = h.c.count(names, |_, c| {
        dispatch(c);
        pass(g, &targets, 1024, c, || ());
    });
    let [last] = h.c.count(names, |_, c| {
        pass(g, &targets, 1024, c, || ());
        dispatch(c);
    });
    let [apart] = h.c.count(names, |_, c| {
        dispatch(c);
        h.barrier(c, Stages::COMPUTE_SHADER, Stages::ALL_GRAPHICS);
        pass(g, &targets, 1024, c, || ());
    });
    assert!((first / last - 1.0).abs() < 0.05, "{first} {last}");
    assert!((apart / (alone + stream) - 1.0).abs() < 0.02, "{apart} {alone} {stream}");
    // Loading and storing 16 MiB each is all memory's; the cores are free for the dispatch but for what writes tiles.
    let saved = alone + stream - first;
    assert!(saved > 0.4 * alone.min(stream), "{first} {alone} {stream}");
    let [target] = targets;
    g.free_image(target);
    h.free();
}

/// A stamp in a pass that runs beside a long dispatch is not before the dispatch's; it has its time.
#[test]
fn stamps_do_not_run_backwards() {
    let h = Heavy::new();
    h.c.g.run(|_, c| {
        h.dispatch(c, 10, 4000);
        h.stamp(c, 0, Stages::COMPUTE_SHADER);
        h.pass(c, || {
            h.draw(c, 1);
            h.stamp(c, 1, Stages::ALL_GRAPHICS);
            h.draw(c, 1);
            h.stamp(c, 2, Stages::ALL_GRAPHICS);
        });
        h.stamp(c, 3, Stages::TOP_OF_PIPE);
        h.stamp(c, 4, Stages::COLOR_ATTACHMENT_OUTPUT);
    });
    let t = h.times::<5>(0);
    assert!(t.windows(2).all(|w| w[0] <= w[1]), "{t:?}");
    h.free();
}

/// A clear within a pass is a draw: of 128² pixels 4096 quads, 1024 warps, each with two instructions (ATEST, BLEND).
#[test]
fn clears_in_a_pass_are_drawn() {
    let h = Heavy::new();
    let names = [
        "Rasterized fine quads",
        "Fragment warps",
        "Fragment CVT warp-instructions",
        "Quads blended or written",
    ];
    let got = h.c.count(names, |d, c| h.pass(c, || clear(d, c, crate::model::SIDE)));
    assert_eq!(got, [4096.0, 1024.0, 2048.0, 4096.0]);
    assert_eq!(h.c.count(names, |_, c| h.pass(c, || ())), [0.0; 4]);
    h.free();
}

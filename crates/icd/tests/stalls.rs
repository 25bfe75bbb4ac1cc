//! Stalls, bands, translation and command streams through the loader, on the default model: figures worked out from its file and
//! docs/model.md.

use crate::model::Counted;
use crate::time::Heavy;
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

/// A megabyte filled, on a device by itself.
fn fill(g: &crate::gpu::Gpu, d: &ash::Device, c: vk::CommandBuffer) -> crate::gpu::Mapped {
    let buffer = g.buffer(1 << 18);
    // SAFETY: recording, with live handles.
    unsafe { d.cmd_fill_buffer(c, buffer.buffer, 0, vk::WHOLE_SIZE, 9) };
    buffer
}

#[test]
fn a_fill_that_memory_holds_up() {
    let m = Counted::new();
    let mut buffer = None;
    let names = [
        "Output external write stall cycles",
        "Output external read stall cycles",
        "Input internal write stall cycles",
        "Output external outstanding writes 0-25%",
        "Output external outstanding writes 25-50%",
        "Output external outstanding writes 50-75%",
        "Output external outstanding writes 75-100%",
        "Output external WriteNoSnoopFull transactions",
        "Output external WriteNoSnoopPartial transactions",
        "Output internal write requests",
        "MMU lookup requests",
        "MMU L3 table read requests",
        "MMU L3 lookup TLB hits",
        "MMU L2 table read requests",
        "MMU L2 lookup TLB hits",
        "Command stream 2 wait stall cycles",
    ];
    let got = m.count(names, |d, c| buffer = Some(fill(&m.g, d, c)));
    // 16 384 lines: 18 725 cycles of memory, 4096 of four slices, two tasks of 1044 of a core. Each slice is refused by what is
    // between. A request finds its slice taken in 4096 of 18 725 cycles. 256 lines of 64 / 56 cycles are 292; 16 384 · 292 / 18 725 =
    // 255 are outstanding, and a write finds up to 510, of which each quarter is 64: 16 384 · 64 / 510 = 2056.
    let want = [
        4.0 * (18_725.0 - 4_096.0),
        0.0,
        3_583.0,
        2_056.0,
        2_056.0,
        2_056.0,
        16_384.0 - 3.0 * 2_056.0,
        16_384.0,
        0.0,
        16_384.0,
        256.0,
        256.0,
        0.0,
        1.0,
        255.0,
        0.0,
    ];
    for ((name, got), want) in names.iter().zip(got).zip(want) {
        assert_eq!(got, want, "{name}");
    }
    m.g.free(buffer.unwrap());
    m.free();
}

/// A stream waits for what is before a barrier, in another one, and for nothing else.
#[test]
fn streams_wait_at_barriers() {
    let h = Heavy::new();
    let mut buffers = vec![];
    let names = [
        "Command stream 1 wait stall cycles",
        "Command stream 1 active cycles",
        "Command stream 2 active cycles",
        "Main phase queue active cycles",
    ];
    let mut measure = |waits: bool| {
        h.c.count(names, |d, c| {
            buffers.push(fill(&h.c.g, d, c));
            if waits {
                h.barrier(c, Stages::ALL_COMMANDS, Stages::ALL_COMMANDS);
            }
            h.pass(c, || ());
        })
    };
    // 19 725 cycles at 1.3 a nanosecond are 15 173.1 ns: 15 174, which are 19 726 cycles.
    let [waits, active, compute, main] = measure(true);
    assert_eq!([waits, compute], [19_726.0, 19_726.0]);
    // Waits and the pass; a tick is 1.3 cycles.
    assert!((0.0..3.0).contains(&(active - waits - main)), "{active} {waits} {main}");
    let [waits, active, ..] = measure(false);
    assert_eq!(waits, 0.0);
    assert!(active > 0.0);
    buffers.into_iter().for_each(|b| h.c.g.free(b));
    h.free();
}

/// Draws' parts of what warps wait for add up to the pass's; bands to the transactions of each part.
#[test]
fn parts_add_up() {
    let h = Heavy::new();
    let names = [
        "Processing unit starvation cycles",
        "Fragment pre-pipe buffer active cycles",
        "Output external read transactions",
        "Output external outstanding reads 0-25%",
        "Output external outstanding reads 25-50%",
        "Output external outstanding reads 50-75%",
        "Output external outstanding reads 75-100%",
    ];
    let rounds = [100, 200, 300];
    let whole = h.c.count(names, |_, c| h.pass(c, || rounds.into_iter().for_each(|n| h.draw(c, n))));
    let parts = [0, 1, 2].map(|at| {
        h.c.inside(names, |_, c, from, to| {
            h.pass(c, || {
                for (i, n) in rounds.into_iter().enumerate() {
                    if i == at {
                        from()
                    }
                    h.draw(c, n);
                    if i == at {
                        to()
                    }
                }
            })
        })
    });
    for k in [0, 1] {
        assert_eq!(parts.iter().map(|p| p[k]).sum::<f64>(), whole[k], "{}: {parts:?}", names[k]);
    }
    assert!(whole[1] > 0.0, "{whole:?}");
    for p in parts.iter().chain([&whole]) {
        assert_eq!(p[3..].iter().sum::<f64>(), p[2], "{p:?}");
    }
    h.free();
}

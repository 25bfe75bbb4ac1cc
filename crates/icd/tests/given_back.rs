//! What a program's objects took is given back to the system when they go.

mod common;
#[path = "common/gpu.rs"]
mod gpu;

use ash::vk;
use gpu::Gpu;

/// Bytes of this process in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = pages.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("the second of its numbers");
    pages * 4096
}

const MIB: u64 = 1 << 20;

/// A gibibyte or so of commands, in command buffers that come and go in turns, so that what stays lies between.
#[test]
fn recorded_commands_are_given_back() {
    let all = Gpu::new();
    let before = resident();
    let peak = {
        let g = Gpu::new();
        let (from, to) = (g.buffer(1024), g.buffer(1024));
        let buffers: Vec<_> = (0..8)
            .map(|n| {
                g.record(|d, c| {
                    for i in 0..200_000u64 {
                        let region = [vk::BufferCopy::default().src_offset(i % 512 * 4).size(8 + 4 * n)];
                        // SAFETY: the buffers are alive.
                        unsafe { d.cmd_copy_buffer(c, from.buffer, to.buffer, &region) };
                    }
                })
            })
            .collect();
        g.submit(buffers[0], vk::Fence::null());
        // SAFETY: nothing is destroyed before.
        unsafe { g.device.queue_wait_idle(g.queue) }.expect("it ends");
        let peak = resident();
        g.free(from);
        g.free(to);
        peak
    };
    let after = resident();
    let show = format!("{} MiB, {} MiB, {} MiB", before / MIB, peak / MIB, after / MIB);
    assert!(peak > before + 100 * MIB, "{show}");
    assert!(after < before + 40 * MIB, "{show}");
    println!("{show}");
    drop(all);
}

//! The L2 from one workload to the next, through the loader: figures worked out by hand.

use crate::model::Traffic;
use ash::vk;

/// 64 KiB of 2 MiB.
const WORDS: u32 = 16 << 10;
const GROUPS: u32 = WORDS / 256;
const BYTES: f64 = WORDS as f64 * 4.0;
/// A dispatch's two descriptors, 32 bytes each: one line, from memory each time.
const NAMED: f64 = 64.0;
/// Each line is read, and then written.
const CHANGE: u32 = 1;

const MOVED: [&str; 2] = ["Output external read bytes", "Output external write bytes"];
const FLUSHED: [&str; 2] = ["L2 cache flush requests", "L2 cache flush cycles"];

#[test]
fn it_lives_as_long_as_the_device() {
    let t = Traffic::new(WORDS as usize);
    let change = |d: &ash::Device, c: vk::CommandBuffer| t.record(d, c, CHANGE, GROUPS);
    let changed = || {
        t.m.inside(MOVED, |d, c, begin, end| {
            begin();
            change(d, c);
            end();
        })
    };
    t.m.empty_l2();
    assert_eq!(changed(), [NAMED + BYTES, BYTES]);
    // It has them now, cleaned before this command buffer: what is written becomes dirty anew.
    assert_eq!(changed(), [NAMED, BYTES]);
    // Within a command buffer what is dirty is written once.
    let twice = t.m.inside(MOVED, |d, c, begin, end| {
        begin();
        change(d, c);
        change(d, c);
        end();
    });
    assert_eq!(twice, [2.0 * NAMED, BYTES]);
    // 1024 dirty lines at 56 bytes a cycle, once; then none.
    let flushed = |record: &dyn Fn(&ash::Device, vk::CommandBuffer)| {
        t.m.inside(FLUSHED, |d, c, begin, end| {
            begin();
            record(d, c);
            end();
        })
    };
    let nothing = |d: &ash::Device, c: vk::CommandBuffer| t.record(d, c, CHANGE, 1);
    assert_eq!(flushed(&nothing), [1.0, (BYTES / 56.0).ceil()]);
    // Of that one workgroup 1 KiB is dirty. Without a workload nothing is told of it, until there is one.
    assert_eq!(flushed(&|_, _| ()), [0.0, 0.0]);
    assert_eq!(flushed(&nothing), [1.0, (1024.0f64 / 56.0).ceil()]);
    t.m.empty_l2();
    assert_eq!(changed(), [NAMED + BYTES, BYTES]);
    t.free();
}

/// What transfers read and write is there too; as much as it holds beside it pushes that out.
#[test]
fn transfers_go_through_it() {
    let t = Traffic::new(WORDS as usize);
    let other = t.m.g.buffer(WORDS as usize);
    t.m.empty_l2();
    let copy = |d: &ash::Device, c: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer| {
        let region = [vk::BufferCopy::default().size(BYTES as u64)];
        unsafe { d.cmd_copy_buffer(c, from, to, &region) };
    };
    let counted = |record: &dyn Fn(&ash::Device, vk::CommandBuffer)| {
        t.m.inside(MOVED, |d, c, begin, end| {
            begin();
            record(d, c);
            end();
        })
    };
    let (a, b) = (t.out.buffer, other.buffer);
    assert_eq!(counted(&|d, c| unsafe { d.cmd_fill_buffer(c, a, 0, vk::WHOLE_SIZE, 3) }), [0.0, BYTES]);
    assert_eq!(counted(&|d, c| t.record(d, c, CHANGE, GROUPS)), [NAMED, BYTES]);
    assert_eq!(counted(&|d, c| copy(d, c, a, b)), [0.0, BYTES]);
    assert_eq!(counted(&|d, c| copy(d, c, b, a)), [0.0, BYTES]);
    t.m.empty_l2();
    assert_eq!(counted(&|d, c| copy(d, c, b, a)), [BYTES, BYTES]);
    t.m.g.free(other);
    t.free();
}

/// Memory that is allocated is new to it, whose ever it was before.
#[test]
fn memory_is_new_when_it_is_allocated() {
    let t = Traffic::new(WORDS as usize);
    t.m.empty_l2();
    let filled = |words: usize| {
        let buffer = t.m.g.buffer(words);
        let copied = t.m.inside(MOVED, |d, c, begin, end| {
            begin();
            let region = [vk::BufferCopy::default().size(BYTES as u64)];
            unsafe { d.cmd_copy_buffer(c, buffer.buffer, t.out.buffer, &region) };
            end();
        });
        t.m.g.free(buffer);
        copied
    };
    for _ in 0..3 {
        assert_eq!(filled(WORDS as usize), [BYTES, BYTES]);
    }
    t.free();
}

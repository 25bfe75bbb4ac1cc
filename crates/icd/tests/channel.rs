//! The channel of a device with two queues.

mod common;
#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod gpu;

use ash::vk::{self, Handle};
use channel::{Channel, MARK_PREFIX, Read, WorkloadKind};
use gpu::Gpu;
use std::ffi::{CString, c_void};

/// Queues are numbered as the application asks for them; each counts its records, its submissions and, in marks, what it
/// has done itself.
#[test]
fn each_queue_has_its_own_numbers_and_marks() {
    let instance = common::instance(&[ash::ext::debug_utils::NAME]);
    let g = Gpu::of(instance, &[], &mut vk::PhysicalDeviceVulkan11Features::default());
    let d = &g.device;
    let labels = ash::ext::debug_utils::Device::new(&g.instance, d);
    let channel = Channel::find().expect("the driver is loaded");
    let device = channel.device_number(d.handle().as_raw() as *const c_void).expect("a device");
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    let queues = [0, 1].map(|i| unsafe { d.get_device_queue(0, i) });
    let numbers = queues.map(|q| channel.queue_number(q.as_raw() as *const c_void));
    assert_eq!(numbers, [Some(0), Some(1)]);
    // One for each: nothing orders the queues.
    let buffers = [0, 1].map(|_| g.buffer(1 << 16));
    let name = CString::new(format!("{MARK_PREFIX}here")).unwrap();
    let fill = |queue: usize, bytes: u64| {
        g.record(|d, c| unsafe {
            d.cmd_fill_buffer(c, buffers[queue].buffer, 0, bytes, 1);
            let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
            labels.cmd_insert_debug_utils_label(c, &label);
        })
    };
    let mut reader = channel.reader(100).expect("a reader");
    reader.start();
    // Bytes that are filled, by queue, in batches; a line of 64 is an external write.
    for (queue, bytes) in [(0, 640), (1, 64), (1, 128), (0, 6400), (1, 256)] {
        let lists = [fill(queue, bytes)];
        let batch = [vk::SubmitInfo::default().command_buffers(&lists)];
        unsafe { d.queue_submit(queues[queue], &batch, vk::Fence::null()) }.unwrap();
    }
    unsafe { d.device_wait_idle() }.unwrap();
    reader.stop();
    let writes = channel.event_names().iter().position(|n| *n == "Compute.ExtWrites").unwrap();
    let mut seen = [vec![], vec![]];
    let mut orders = vec![];
    while let Read::Record(r) = reader.read(None) {
        assert_eq!((r.device, r.frame), (device, None));
        orders.push(r.order);
        let mark = r.kind == WorkloadKind::Mark;
        seen[r.queue as usize].push((r.queue_order, r.submission, mark, r.events[writes]));
    }
    let first = [(0, 0, false, 10), (1, 0, true, 10), (2, 1, false, 100), (3, 1, true, 110)];
    assert_eq!(seen[0], first);
    let second = [
        (0, 0, false, 1),
        (1, 0, true, 1),
        (2, 1, false, 2),
        (3, 1, true, 3),
        (4, 2, false, 4),
        (5, 2, true, 7),
    ];
    assert_eq!(seen[1], second);
    orders.sort_unstable();
    orders.dedup();
    assert_eq!(orders.len(), 10, "no two are the same");
    assert_eq!(channel.totals(Some(device)).unwrap()[writes], 110 + 7);
    buffers.into_iter().for_each(|b| g.free(b));
}

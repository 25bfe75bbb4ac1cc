//! A program that forks. Its device is the parent's to use; but who ends as programs do destroys it in the child too, where none of the
//! driver's threads are.

mod common;
#[path = "common/gpu.rs"]
mod gpu;

use ash::vk;
use gpu::Gpu;
use std::io::Read;
use std::os::fd::AsRawFd;

/// Runs `work` in a child; what the child said there.
///
/// # Safety
/// It needs none of this process's threads.
unsafe fn in_child(work: impl FnOnce()) -> String {
    let (mut said, told) = std::io::pipe().expect("a pipe");
    // SAFETY: the child ends by itself, within a while; what it says goes to the parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: as above.
        unsafe {
            libc::alarm(60);
            libc::dup2(told.as_raw_fd(), 2);
            work();
            libc::_exit(7)
        }
    }
    drop(told);
    let mut lines = String::new();
    said.read_to_string(&mut lines).expect("what the child said");
    let mut status = 0;
    // SAFETY: the child from above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "{status:x}: {lines}");
    lines
}

#[test]
fn a_child_ends_without_the_threads() {
    common::entry();
    // SAFETY: the only test of this program, before the driver reads its settings.
    unsafe {
        std::env::set_var("TUFF_THREADS", "3");
        std::env::set_var("TUFF_LOG", "error");
    }
    let gpu = Gpu::new();
    let words = gpu.buffer(64);
    let buffer = words.buffer;
    // SAFETY: the buffer is alive, here and below.
    let fill = |d: &ash::Device, c, with| unsafe { d.cmd_fill_buffer(c, buffer, 0, vk::WHOLE_SIZE, with) };
    gpu.run(|d, c| fill(d, c, 5));
    let (device, queue, pool) = (&gpu.device, gpu.queue, gpu.pool);
    // SAFETY: the child's own of all that; nothing is under way.
    let said = unsafe {
        in_child(|| {
            device.destroy_command_pool(pool, None);
            device.destroy_buffer(buffer, None);
            device.free_memory(words.memory, None);
            device.destroy_device(None);
            gpu.instance.destroy_instance(None);
        })
    };
    assert_eq!(said, "");

    // With work under way, which waits for the parent.
    // SAFETY: all of it is alive until the work has ended.
    unsafe {
        let event = device.create_event(&Default::default(), None).expect("an event");
        let c = gpu.record(|d, c| {
            let (host, copy) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::TRANSFER);
            d.cmd_wait_events(c, &[event], host, copy, &[], &[], &[]);
            fill(d, c, 6);
        });
        gpu.submit(c, vk::Fence::null());
        let said = in_child(|| {
            let lost = Err(vk::Result::ERROR_DEVICE_LOST);
            assert!(device.queue_wait_idle(queue) == lost);
            assert!(device.queue_submit(queue, &[], vk::Fence::null()) == lost);
            device.destroy_device(None);
        });
        assert!(said.contains("a queue is used in a fork of its process"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(words.words, [5; 64]);
        device.set_event(event).expect("it is set");
        device.queue_wait_idle(queue).expect("work ends");
        device.destroy_event(event, None);
    }
    assert_eq!(words.words, [6; 64]);
    gpu.free(words);
}

//! Programs that are hard on a layer: many command buffers, odd orders, a fork, a lost device.

use super::Done;
use super::bare::Bare;
use super::rig::{Rig, idle, submit};
use crate::check::text;
use ash::vk;
use client::compute::KernelInfo;
use client::{Buffer, Kernel};
use vk::CommandPoolCreateFlags as Pool;

const PRIMARY: vk::CommandBufferLevel = vk::CommandBufferLevel::PRIMARY;
const NONE: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::empty();

/// 10 000 command buffers of a fill each, submitted one by one.
pub fn many() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    for _ in 0..10_000 {
        b.submit(0, &[b.fills(NONE, &[64])?], &[], &[])?;
    }
    b.close(&[])
}

/// Command buffers that are begun again and reset while they are recorded, that end with labels open or end others', that
/// hold nothing, are freed or lose their pool before they are submitted; submissions of nothing. One dispatch is executed.
pub fn odd() -> Done {
    let rig = Rig::open()?;
    let (d, queue) = (&rig.context.device, rig.context.queue);
    let pool = rig.pool(Pool::RESET_COMMAND_BUFFER)?;
    let all = rig.allocate(pool, PRIMARY, 4)?;
    let label = vk::DebugUtilsLabelEXT::default().label_name(c"open");
    // SAFETY: live handles; what is submitted was recorded whole, and is waited for.
    unsafe {
        d.begin_command_buffer(all[0], &Default::default()).map_err(text)?;
        rig.dispatch(d, all[0], 1);
        d.reset_command_buffer(all[0], vk::CommandBufferResetFlags::RELEASE_RESOURCES).map_err(text)?;
        rig.record(all[0], &Default::default(), |d| {
            rig.labels.cmd_begin_debug_utils_label(all[0], &label);
            rig.dispatch(d, all[0], 2);
        })?;
        // Recorded again without having been submitted.
        rig.record(all[1], &Default::default(), |d| rig.dispatch(d, all[1], 3))?;
        rig.record(all[1], &Default::default(), |_| rig.labels.cmd_end_debug_utils_label(all[1]))?;
        rig.record(all[2], &Default::default(), |d| rig.dispatch(d, all[2], 4))?;
        d.free_command_buffers(pool, &[all[2]]);
        d.queue_submit(queue, &[], vk::Fence::null()).map_err(text)?;
        submit(&rig.context, &[])?;
        submit(&rig.context, &[all[0], all[1]])?;
        // Begun, and its pool goes.
        d.begin_command_buffer(all[3], &Default::default()).map_err(text)?;
        rig.dispatch(d, all[3], 5);
        idle(&rig.context)?;
        d.destroy_command_pool(pool, None);
    }
    Ok(())
}

/// A process that forks between two submissions. The child ends, as programs do that start others.
#[cfg(unix)]
pub fn forked() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    b.submit(0, &[b.fills(NONE, &[256])?], &[], &[])?;
    b.idle()?;
    // SAFETY: the child does nothing but end, by the way that runs what is registered for the end of a process.
    unsafe {
        match libc::fork() {
            0 => libc::exit(0),
            child => drop(libc::waitpid(child, std::ptr::null_mut(), 0)),
        }
    }
    b.submit(0, &[b.fills(NONE, &[512])?], &[], &[])?;
    b.close(&[])
}

/// A dispatch that ends, and one of a loop that does not, which the watchdog stops (TUFF_WATCHDOG_MS): the device is lost
/// under way.
pub fn lost() -> Done {
    let rig = Rig::open()?;
    rig.context.run(|d, c| rig.dispatch(d, c, 1)).map_err(text)?;
    let spirv = include_bytes!("../../shaders/static/trips.comp.spv");
    let kernel = Kernel::new(&rig.context, &KernelInfo { spirv, bindings: 3, push_size: 0 }).map_err(text)?;
    let mut trips = Buffer::new(&rig.context, 64).map_err(text)?;
    trips.words_mut().fill(i32::MAX as u32);
    kernel.set(&[&rig.buffers[0], &rig.buffers[1], &trips]);
    let endless = rig.context.record(|d, c| {
        kernel.bind(c, &[]);
        // SAFETY: recording with everything bound.
        unsafe { d.cmd_dispatch(c, 1, 1, 1) };
    });
    submit(&rig.context, &[endless.map_err(text)?])?;
    match idle(&rig.context) {
        Err(e) if e.contains("lost") => Ok(()),
        other => Err(format!("the device is not lost: {other:?}")),
    }
}

//! Submissions with semaphores of the program's own, two queues, two devices.

use super::Done;
use super::bare::Bare;
use super::rig::{Rig, idle, submit};
use crate::check::text;
use ash::vk;

const NONE: vk::CommandBufferUsageFlags = vk::CommandBufferUsageFlags::empty();

/// Fills of 256 to 2048 bytes in batches that wait for each other by a binary and a timeline semaphore, by both calls;
/// one batch without commands; then one that waits for the host's signal, given before.
pub fn semaphores() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    let (timeline, binary) = (b.semaphore(true)?, b.semaphore(false)?);
    let lists = [256, 512, 1024, 2048].map(|size| b.fills(NONE, &[size]));
    let [one, two, three, four] = lists.map(|l| l.map(|l| [l]));
    b.submit(0, &one?, &[], &[(timeline, 1), (binary, 0)])?;
    b.submit(0, &two?, &[(binary, 0), (timeline, 1)], &[(timeline, 2), (binary, 0)])?;
    b.submit(0, &[], &[(timeline, 2)], &[(timeline, 3)])?;
    b.submit(0, &three?, &[(binary, 0)], &[])?;
    b.idle()?;
    b.signal(timeline, 4)?;
    b.submit(0, &four?, &[(timeline, 4)], &[])?;
    b.close(&[timeline, binary])
}

/// A batch that waits for what the host signals later, one after it, and, when both have ended, a third.
pub fn future() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    let timeline = b.semaphore(true)?;
    let lists = [256, 512, 1024].map(|size| b.fills(NONE, &[size]));
    let [one, two, three] = lists.map(|l| l.map(|l| [l]));
    b.submit(0, &one?, &[(timeline, 1)], &[])?;
    b.submit(0, &two?, &[], &[])?;
    b.signal(timeline, 1)?;
    b.idle()?;
    b.submit(0, &three?, &[], &[])?;
    b.close(&[timeline])
}

/// One command buffer pending on both queues at once; then a batch that waits for what the other queue's signals later.
pub fn both() -> Done {
    let b = Bare::open(vk::API_VERSION_1_3, true, None)?;
    if b.queues.len() < 2 {
        b.close(&[])?;
        return Err("needs: two queues".into());
    }
    let shared = [b.fills(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE, &[65536])?];
    for i in 0..6 {
        b.submit(i % 2, &shared, &[], &[])?;
    }
    b.idle()?;
    let timeline = b.semaphore(true)?;
    let waits = [b.fills(NONE, &[256])?];
    let signals = [b.fills(NONE, &[512])?];
    b.submit(0, &waits, &[(timeline, 1)], &[])?;
    b.submit(1, &signals, &[], &[(timeline, 1)])?;
    b.close(&[timeline])
}

/// Two devices at once, of two instances: dispatches of 10 and 20 workgroups on the first, of 30 on the second.
pub fn devices() -> Done {
    let (a, b) = (Rig::open()?, Rig::open()?);
    for (rig, groups) in [(&a, 10), (&b, 30), (&a, 20)] {
        let c = rig.context.record(|d, c| rig.dispatch(d, c, groups)).map_err(text)?;
        submit(&rig.context, &[c])?;
    }
    idle(&a.context)?;
    idle(&b.context)
}

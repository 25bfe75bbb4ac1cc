//! What the host does to memory: copies of its own, and writes to mapped memory that commands use ([`sanitize::hazards::HostWrites`]).

use super::{ranges, tell};
use ash::vk;
use machine::hazards::{Hazards, Mark};
use machine::shared::Shared;
use sanitize::hazards::{Access, Contents, Fences, HostWrites, Line, Seen, What, Who, access, stage};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use texel::image::Image;

/// How long the host waits for what it has submitted, so that what it writes next comes after it in every run.
const PATIENCE: Duration = Duration::from_secs(2);

fn write(h: &Hazards) -> Access {
    Access {
        who: Arc::new(Who { tag: h.tag(), place: "the host".into(), part: String::new() }),
        line: Line::Signal(0),
        stage: stage::HOST,
        access: access::HOST_WRITE,
        what: What::Write,
        attachment: false,
        contents: Contents::Values,
        fences: Fences::default(),
    }
}

/// The host has written a part of an image, outside of any queue.
pub fn copied(
    shared: &Shared,
    image: &Image,
    sub: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    extent: vk::Extent3D,
) {
    let Some(h) = &shared.hazards else { return };
    let new = write(h);
    let mut memory = h.memory.lock();
    for r in ranges::part(image, sub, at, extent) {
        memory.access(&new, r, &Seen::default(), |_, _| ());
    }
}

/// The host can write memory from now on. `own`: nobody else can.
pub fn mapped(shared: &Shared, bytes: Range<u64>, own: bool) {
    if let Some(h) = shared.hazards.as_ref().filter(|_| own) {
        h.host.lock().maps(bytes);
    }
}

/// The host has waited for what has a mark; 0 is something that no queue of the device signalled.
pub fn saw(shared: &Shared, mark: u64) {
    let Some(h) = &shared.hazards else { return };
    h.saw(mark);
    match Mark::of(mark) {
        Some(m) => judge(shared, h, |host, found| host.saw(m.tag, &read, found)),
        None => h.host.lock().forget_all(),
    }
}

/// The host has waited for all that a queue has done.
pub fn saw_all(shared: &Shared, queue: usize) {
    let Some(h) = &shared.hazards else { return };
    let tag = h.saw_all(queue as u32);
    judge(shared, h, |host, found| host.saw(tag, &read, found));
}

/// The host may know the end of whatever has ended.
pub fn may_know(shared: &Shared) {
    if let Some(h) = &shared.hazards {
        h.host.lock().forget_all();
    }
}

/// The host can wait in ways that the driver does not see.
pub fn waits_elsewhere(shared: &Shared) {
    if let Some(h) = &shared.hazards {
        h.host.lock().blind();
    }
}

/// The host has submitted or signalled something: it goes on when what can run has run.
pub fn settle(shared: &Shared) {
    if shared.hazards.is_some() {
        shared.hub.wait(PATIENCE.as_nanos() as u64, || shared.turns.is_quiet());
    }
}

/// A submission begins, or has ended.
pub fn works(shared: &Shared, begins: bool) {
    let Some(h) = &shared.hazards else { return };
    match begins {
        true => judge(shared, h, |host, found| host.works(&read, found)),
        false => h.host.lock().rests(&read),
    }
}

/// Tells of what the host has written meanwhile.
fn judge(
    shared: &Shared,
    h: &Hazards,
    ask: impl FnOnce(&mut HostWrites, &mut dyn FnMut(Range<u64>, sanitize::hazards::Conflict)),
) {
    let mut found = vec![];
    ask(&mut h.host.lock(), &mut |range, c| tell::join(&mut found, range, c));
    if found.is_empty() {
        return;
    }
    let new = write(h);
    found.iter().for_each(|t| tell::conflict(h, &*shared.report, &new, t, false));
}

fn read(range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    // SAFETY: the range is part of an allocation's memory, which stays mapped until [`HostWrites`] is told to forget it, under the lock
    // that the caller holds. The program may be writing it: then bytes are old or new.
    unsafe { std::ptr::copy_nonoverlapping(range.start as *const u8, bytes.as_mut_ptr(), bytes.len()) };
    bytes
}

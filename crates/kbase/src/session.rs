//! A reader of counters: what `kinstr_prfcnt_setup` gives. Samples are taken when they are asked for, into a ring that the
//! caller maps; its file descriptor is readable while there are some.

use crate::abi::{
    CMD_DISCARD, CMD_SAMPLE_SYNC, CMD_START, CMD_STOP, ControlCmd, KINSTR_CMD, KINSTR_GET_SAMPLE,
    KINSTR_PUT_SAMPLE, SampleAccess,
};
use crate::sample::{Head, Layout};
use crate::source::Source;
use crate::user;
use crate::{Errno, Mapping, Result};
use parking_lot::Mutex;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Samples that wait at most, those included that the caller has not put back.
pub const SAMPLES: u64 = 32;

pub struct Session {
    source: Arc<dyn Source>,
    layout: Layout,
    /// What the caller maps: [`SAMPLES`] samples.
    ring: File,
    /// The caller's eventfd, which counts the samples that wait; a descriptor of our own, for the caller closes his.
    event: OwnedFd,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    started: bool,
    /// The totals up to which counters have been sampled; empty for nothing.
    counted: Vec<u64>,
    time: u64,
    /// Samples taken and fetched (or discarded) since the beginning: the sequence numbers of the next ones.
    taken: u64,
    fetched: u64,
    /// The sample that the caller has.
    held: Option<u64>,
}

/// Nanoseconds of the clock that kbase stamps samples with.
fn now() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for a time; the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// A file descriptor that the C library has just given.
fn owned(fd: i32) -> Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else knows.
    if fd < 0 { Err(Errno::last()) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}

impl Session {
    /// A session that is stopped, and the descriptor that the caller gets.
    pub fn new(source: Arc<dyn Source>, layout: Layout) -> Result<(Session, OwnedFd)> {
        // SAFETY: plain calls that make descriptors.
        let (event, ring) = unsafe {
            let event = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK | libc::EFD_SEMAPHORE);
            (owned(event)?, owned(libc::memfd_create(c"kinstr_prfcnt".as_ptr(), libc::MFD_CLOEXEC))?)
        };
        let ring = File::from(ring);
        let failed = |e: std::io::Error| Errno(e.raw_os_error().unwrap_or(libc::EIO));
        ring.set_len(SAMPLES * layout.bytes() as u64).map_err(failed)?;
        let theirs = event.as_fd().try_clone_to_owned().map_err(failed)?;
        Ok((Session { source, layout, ring, event, state: Mutex::default() }, theirs))
    }

    pub fn ring_bytes(&self) -> usize {
        SAMPLES as usize * self.layout.bytes()
    }

    pub fn ioctl(&self, request: u32, argument: u64) -> Result<i32> {
        match request {
            KINSTR_CMD => self.command(&user::read(argument)?),
            KINSTR_GET_SAMPLE => self.get(argument),
            KINSTR_PUT_SAMPLE => self.put(&user::read(argument)?),
            _ => Err(Errno(libc::ENOTTY)),
        }
    }

    fn command(&self, command: &ControlCmd) -> Result<i32> {
        if command.pad != [0; 3] {
            return Err(Errno(libc::EINVAL));
        }
        let mut state = self.state.lock();
        match (command.cmd, state.started) {
            (CMD_START, false) => {
                state.started = true;
                state.counted = self.source.totals().unwrap_or_default();
                state.time = now();
            }
            (CMD_START, true) => {}
            (CMD_STOP, true) => {
                self.take(&mut state, command.user_data)?;
                state.started = false;
            }
            (CMD_SAMPLE_SYNC, true) => self.take(&mut state, command.user_data)?,
            (CMD_DISCARD, _) => {
                while state.fetched < state.taken {
                    self.wake(false)?;
                    state.fetched += 1;
                }
            }
            _ => return Err(Errno(libc::EINVAL)),
        }
        Ok(0)
    }

    /// Adds a sample of what was counted since the one before.
    fn take(&self, state: &mut State, user_data: u64) -> Result<()> {
        let oldest = state.held.unwrap_or(state.fetched);
        if state.taken - oldest >= SAMPLES {
            return Err(Errno(libc::EBUSY));
        }
        let totals = self.source.totals().unwrap_or_default();
        let before = |i: usize| state.counted.get(i).copied().unwrap_or(0);
        let events: Vec<u64> = totals.iter().enumerate().map(|(i, t)| t.wrapping_sub(before(i))).collect();
        let readings = self.source.readings(&events);
        let head = Head { start: state.time, stop: now(), sequence: state.taken, user_data };
        let at = self.offset(state.taken);
        let bytes = self.layout.write(at, &head, &readings);
        self.ring.write_all_at(&bytes, at as u64).map_err(|_| Errno(libc::ENOMEM))?;
        self.wake(true)?;
        state.counted = totals;
        state.time = head.stop;
        state.taken += 1;
        Ok(())
    }

    /// Where a sample lies in the ring.
    fn offset(&self, sequence: u64) -> usize {
        (sequence % SAMPLES) as usize * self.layout.bytes()
    }

    /// One more, or one fewer, that waits.
    fn wake(&self, more: bool) -> Result<()> {
        let mut one = 1u64;
        let fd = self.event.as_raw_fd();
        // SAFETY: eight bytes, as an eventfd wants them.
        let done = unsafe {
            if more {
                libc::write(fd, (&raw const one).cast(), 8)
            } else {
                libc::read(fd, (&raw mut one).cast(), 8)
            }
        };
        if done == 8 { Ok(()) } else { Err(Errno::last()) }
    }

    /// The oldest sample that waits. A caller has one at a time.
    fn get(&self, argument: u64) -> Result<i32> {
        let mut state = self.state.lock();
        if state.held.is_some() {
            return Err(Errno(libc::EBUSY));
        }
        if state.fetched == state.taken {
            return Err(Errno(libc::EAGAIN));
        }
        let sequence = state.fetched;
        let sample_metadata_offset = self.offset(sequence) as u64;
        user::write(argument, &SampleAccess { sequence, sample_metadata_offset })?;
        self.wake(false)?;
        state.fetched += 1;
        state.held = Some(sequence);
        Ok(0)
    }

    /// Gives the sample back that was got.
    fn put(&self, access: &SampleAccess) -> Result<i32> {
        let mut state = self.state.lock();
        let Some(held) = state.held else { return Err(Errno(libc::EINVAL)) };
        if (access.sequence, access.sample_metadata_offset) != (held, self.offset(held) as u64) {
            return Err(Errno(libc::EINVAL));
        }
        state.held = None;
        Ok(0)
    }

    /// The ring in the caller's memory: to be read alone, from its beginning.
    pub fn map(&self, wanted: Mapping) -> Result<*mut libc::c_void> {
        let Mapping { address, size, protection, flags, offset } = wanted;
        if protection & (libc::PROT_WRITE | libc::PROT_EXEC) != 0 {
            return Err(Errno(libc::EPERM));
        }
        let page = 4096;
        if offset != 0 || size == 0 || size > self.ring_bytes().next_multiple_of(page) {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: as the caller's own call would be, with our file; a private mapping of it shows what is written later.
        let at = unsafe { libc::mmap(address, size, protection, flags, self.ring.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(at) }
    }
}

//! Which file descriptors are ours. A device's is a real character device's (`/dev/null`), a session's a real eventfd, so
//! that `fstat` and `poll` need no answer from here.
//!
//! Whoever puts this before the C library asks [`is_ours`] of every call of the process, so that costs a few loads and
//! takes no lock; the table is locked for our own descriptors alone.

use crate::context::{Answer, Context};
use crate::session::Session;
use crate::source::{Driver, Source};
use crate::{Errno, Result};
use parking_lot::Mutex;
use std::os::fd::IntoRawFd;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

/// Descriptors at most.
const MOST: usize = 64;
const FREE: i32 = -1;

static FDS: [AtomicI32; MOST] = [const { AtomicI32::new(FREE) }; MOST];
static TABLE: Mutex<Vec<(i32, Open)>> = Mutex::new(Vec::new());

#[derive(Clone)]
enum Open {
    Device(Arc<Context>),
    Session(Arc<Session>),
}

/// A descriptor that [`open`] or the setup of a session gave, and that is not closed.
pub fn is_ours(fd: i32) -> bool {
    fd >= 0 && FDS.iter().any(|f| f.load(Relaxed) == fd)
}

fn find(fd: i32) -> Result<Open> {
    let table = TABLE.lock();
    table.iter().find(|(f, _)| *f == fd).map(|(_, open)| open.clone()).ok_or(Errno(libc::EBADF))
}

/// Takes in a new descriptor, or closes it where there is no room.
fn insert(fd: i32, open: Open) -> Result<i32> {
    let mut table = TABLE.lock();
    // A number comes back only after it was closed, perhaps past us: what it was is gone.
    table.retain(|(f, _)| *f != fd);
    let same = FDS.iter().find(|f| f.load(Relaxed) == fd);
    let Some(place) = same.or_else(|| FDS.iter().find(|f| f.load(Relaxed) == FREE)) else {
        // SAFETY: our own descriptor, which nobody has seen.
        unsafe { libc::close(fd) };
        return Err(Errno(libc::EMFILE));
    };
    table.push((fd, open));
    place.store(fd, Relaxed);
    Ok(fd)
}

/// Opens the device, with these flags of `open`.
pub fn open(flags: i32) -> Result<i32> {
    static DRIVER: LazyLock<Arc<dyn Source>> = LazyLock::new(|| Arc::new(Driver::default()));
    // SAFETY: a path that ends in 0.
    let fd = unsafe { libc::open(c"/dev/null".as_ptr(), flags & (libc::O_ACCMODE | libc::O_CLOEXEC)) };
    if fd < 0 {
        return Err(Errno::last());
    }
    let context = Context::new(DRIVER.clone(), counters::model::current());
    insert(fd, Open::Device(Arc::new(context)))
}

/// Closes one of our descriptors.
pub fn close(fd: i32) -> Result<i32> {
    let mut table = TABLE.lock();
    let at = table.iter().position(|(f, _)| *f == fd).ok_or(Errno(libc::EBADF))?;
    let gone = table.swap_remove(at);
    FDS.iter().filter(|f| f.load(Relaxed) == fd).for_each(|f| f.store(FREE, Relaxed));
    drop(table);
    // What it held goes without the lock: it has descriptors of its own.
    drop(gone);
    // SAFETY: our own descriptor; `close` of ours is not met again, for it has left the table.
    if unsafe { libc::close(fd) } < 0 { Err(Errno::last()) } else { Ok(0) }
}

/// An ioctl of one of our descriptors. `argument` is an address in the caller, or whatever the caller has made of it.
pub fn ioctl(fd: i32, request: u32, argument: u64) -> Result<i32> {
    match find(fd)? {
        Open::Session(session) => session.ioctl(request, argument),
        Open::Device(context) => match context.ioctl(request, argument)? {
            Answer::Value(value) => Ok(value),
            Answer::Session(session, fd) => insert(fd.into_raw_fd(), Open::Session(session)),
        },
    }
}

/// What a caller of mmap asks for, but for the descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub address: *mut libc::c_void,
    pub size: usize,
    pub protection: i32,
    pub flags: i32,
    pub offset: i64,
}

/// Maps a session's samples; a device has nothing to map. What comes is unmapped by `munmap`.
pub fn map(fd: i32, wanted: Mapping) -> Result<*mut libc::c_void> {
    match find(fd)? {
        Open::Session(session) => session.map(wanted),
        Open::Device(_) => Err(Errno(libc::EINVAL)),
    }
}

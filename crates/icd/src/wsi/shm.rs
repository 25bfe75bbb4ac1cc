//! Memory shared with an X server (MIT-SHM): pictures reach it without going over the wire.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::cookie::VoidCookie;
use x11rb::errors::ConnectionError;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{Gcontext, ImageFormat};
use x11rb::utils::RawFdContainer;
use x11rb::xcb_ffi::XCBConnection;

/// A request that the server has not answered yet.
pub(crate) type Sent<'a> = VoidCookie<'a, XCBConnection>;

/// Memory that the server reads.
pub(crate) struct Attached<'a> {
    connection: &'a XCBConnection,
    id: shm::Seg,
    bytes: usize,
}

/// Memory of our own that the server reads.
pub(crate) struct Segment<'a> {
    attached: Attached<'a>,
    at: *mut u8,
}

/// Whether the server is on this machine: a descriptor sent over anything but a local socket ends the connection.
fn local(connection: &XCBConnection) -> bool {
    // SAFETY: the structure is the kernel's to fill, up to the length given.
    unsafe {
        let mut address: libc::sockaddr_storage = std::mem::zeroed();
        let mut len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        libc::getsockname(connection.as_raw_fd(), (&raw mut address).cast(), &mut len) == 0
            && i32::from(address.ss_family) == libc::AF_UNIX
    }
}

impl<'a> Attached<'a> {
    /// Shows the server the `bytes` bytes behind a descriptor; `None` where that can't be. The wire is left then.
    pub fn new(connection: &'a XCBConnection, fd: OwnedFd, bytes: usize) -> Option<Attached<'a>> {
        if !local(connection) {
            return None;
        }
        connection.extension_information(shm::X11_EXTENSION_NAME).ok()??;
        let version = connection.shm_query_version().ok()?.reply().ok()?;
        // A descriptor, which servers take since 2013, works where server and application see different sets of
        // System V segments too, as in containers.
        if (version.major_version, version.minor_version) < (1, 2) {
            return None;
        }
        let id = connection.generate_id().ok()?;
        connection.shm_attach_fd(id, RawFdContainer::from(fd), true).ok()?.check().ok()?;
        Some(Attached { connection, id, bytes })
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Has the server copy the picture from `offset` on to a window; it has when the cookie says so.
    /// `size` in pixels: from row to row, width, height.
    pub fn put(
        &self,
        window: u32,
        gc: Gcontext,
        depth: u8,
        (pitch, width, height): (u16, u16, u16),
        offset: u32,
    ) -> Result<Sent<'a>, ConnectionError> {
        let format = u8::from(ImageFormat::Z_PIXMAP);
        self.connection.shm_put_image(
            window, gc, pitch, height, 0, 0, width, height, 0, 0, depth, format, false, self.id, offset,
        )
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        if let Ok(c) = self.connection.shm_detach(self.id) {
            c.ignore_error();
        }
    }
}

impl<'a> Segment<'a> {
    /// So many zeroed bytes, shared; `None` where that can't be.
    pub fn new(connection: &'a XCBConnection, bytes: usize) -> Option<Segment<'a>> {
        // SAFETY: a fresh descriptor, and a fresh mapping of all of it that the segment unmaps.
        let (fd, at) = unsafe {
            let fd = libc::memfd_create(c"tuff-wsi".as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return None;
            }
            let fd = OwnedFd::from_raw_fd(fd);
            if files::within_limits(|| libc::ftruncate(fd.as_raw_fd(), bytes as i64)) != 0 {
                return None;
            }
            let both = libc::PROT_READ | libc::PROT_WRITE;
            let at = libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, fd.as_raw_fd(), 0);
            if at == libc::MAP_FAILED {
                return None;
            }
            (fd, at.cast::<u8>())
        };
        let Some(attached) = Attached::new(connection, fd, bytes) else {
            // SAFETY: mapped above; no slice of it exists.
            unsafe { libc::munmap(at.cast(), bytes) };
            return None;
        };
        Some(Segment { attached, at })
    }

    pub fn attached(&self) -> &Attached<'a> {
        &self.attached
    }

    /// The first `bytes` bytes.
    pub fn memory(&mut self, bytes: usize) -> &mut [u8] {
        // SAFETY: mapped for as long as `self`; the server reads only what `Canvas::show` waits for, when nobody has the
        // slice.
        unsafe { std::slice::from_raw_parts_mut(self.at, bytes.min(self.attached.bytes)) }
    }
}

impl Drop for Segment<'_> {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`; the slice no longer exists.
        unsafe { libc::munmap(self.at.cast(), self.attached.bytes) };
    }
}

//! dma-bufs of plain memory (VK_EXT_external_memory_dma_buf): the kernel's udmabuf device makes one of a sealed memfd, and any
//! that can be mapped is memory. Where there is no such device, nothing of this is reported.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

const DEVICE: &str = "/dev/udmabuf";

/// `struct udmabuf_create` (linux/udmabuf.h)
#[repr(C)]
struct Create {
    memfd: u32,
    flags: u32,
    offset: u64,
    size: u64,
}

/// `_IOW('u', 0x42, struct udmabuf_create)`
const UDMABUF_CREATE: u64 = 1 << 30 | (size_of::<Create>() as u64) << 16 | (b'u' as u64) << 8 | 0x42;
const UDMABUF_FLAGS_CLOEXEC: u32 = 1;
/// What the file system of dma-bufs is called (linux/magic.h).
const DMA_BUF_MAGIC: i64 = 0x444d_4142;

/// Whether dma-bufs can be made here.
pub fn available() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| OpenOptions::new().read(true).write(true).open(DEVICE).is_ok())
}

/// A dma-buf of the first `size` bytes of a memfd that cannot shrink; whole pages.
pub fn of(memfd: BorrowedFd, size: u64) -> Option<OwnedFd> {
    let device = OpenOptions::new().read(true).write(true).open(DEVICE).ok()?;
    let ask = Create { memfd: memfd.as_raw_fd() as u32, flags: UDMABUF_FLAGS_CLOEXEC, offset: 0, size };
    // SAFETY: the request takes this structure, and answers with a new descriptor.
    unsafe {
        let fd = libc::ioctl(device.as_raw_fd(), UDMABUF_CREATE as _, &raw const ask);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }
}

/// Bytes of a dma-buf, which never change; none: the descriptor is of something else.
pub fn size(fd: i32) -> Option<u64> {
    // SAFETY: asks about a descriptor, whatever it is; zero is a value of the structure.
    unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        if libc::fstatfs(fd, &mut system) != 0 || system.f_type as i64 != DMA_BUF_MAGIC {
            return None;
        }
        u64::try_from(libc::lseek(fd, 0, libc::SEEK_END)).ok()
    }
}

//! Device memory: every allocation of a device lives in [its part](space) of one large reserved address range, committed by the system
//! page by page on first touch, so that "is this device address live memory" is one compare and a 1 GiB allocation is free until used.
//!
//! The range has two halves. In the first one every byte is like every other; the second one has sparse resources that need not be
//! bound everywhere, whose holes read as zero and keep nothing ([`sparse`]): stores ask there, and only there.

pub mod poison;
mod space;
pub mod sparse;

pub use space::{AddressSpace, Wanted};

use ash::vk;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Allocation granularity: the largest alignment any resource asks for.
pub const GRANULE: u64 = 64 << 10;

fn map(at: *mut u8, size: u64, fd: i32, flags: i32) -> Option<*mut u8> {
    let kind = if fd >= 0 { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
    map_part(at, size, fd, 0, flags, kind)
}

/// `kind`: whether what is written goes to the file.
fn map_part(at: *mut u8, size: u64, fd: i32, offset: u64, flags: i32, kind: i32) -> Option<*mut u8> {
    // SAFETY: maps fresh memory, or replaces (MAP_FIXED) a range that the arena owns.
    let p = unsafe {
        libc::mmap(
            at.cast(),
            size as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            kind | libc::MAP_NORESERVE | flags,
            fd,
            offset as libc::off_t,
        )
    };
    (p != libc::MAP_FAILED).then_some(p.cast())
}

enum Backing {
    Anonymous,
    /// A part of the [store](sparse::store), which sparse resources can be bound to.
    Stored,
    Fd(OwnedFd),
    /// Another's dma-buf.
    DmaBuf(OwnedFd),
    Host,
    /// Addresses of a sparse resource.
    Sparse(sparse::Table),
}

/// One VkDeviceMemory, or the addresses of a sparse resource. Its bytes stay readable for as long as the `Arc` lives.
pub struct DeviceMemory {
    space: Arc<AddressSpace>,
    ptr: *mut u8,
    size: u64,
    reserved: u64,
    backing: Backing,
    pub type_index: u32,
    /// Resources that are bound to it.
    users: AtomicU32,
    shared: AtomicBool,
}

// SAFETY: raw bytes; who may touch them when is the application's synchronisation.
unsafe impl Send for DeviceMemory {}
unsafe impl Sync for DeviceMemory {}

impl DeviceMemory {
    fn new(
        space: &Arc<AddressSpace>,
        ptr: *mut u8,
        size: u64,
        reserved: u64,
        backing: Backing,
        type_index: u32,
    ) -> DeviceMemory {
        let alone = matches!(backing, Backing::Anonymous);
        let (users, shared) = (AtomicU32::new(0), AtomicBool::new(!alone));
        DeviceMemory { space: space.clone(), ptr, size, reserved, backing, type_index, users, shared }
    }

    /// A resource is bound to it.
    pub fn used(&self) {
        if self.users.fetch_add(1, Relaxed) > 0 {
            self.share();
        }
    }

    /// The application has destroyed one.
    pub fn released(&self) {
        if !self.is_shared() {
            self.users.fetch_sub(1, Relaxed);
        }
    }

    /// The application has its address, or more than one resource in it: it may write it without a command that names the one.
    pub fn share(&self) {
        self.shared.store(true, Relaxed);
    }

    /// Whether others than one resource's own commands have ever been able to write it.
    pub fn is_shared(&self) -> bool {
        self.shared.load(Relaxed)
    }

    /// Zeroed memory of `size` bytes; with `exportable`, backed by a file descriptor that [`DeviceMemory::export`]
    /// hands out.
    pub fn allocate(
        space: &Arc<AddressSpace>,
        size: u64,
        type_index: u32,
        exportable: bool,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        Self::allocate_at(space, size, type_index, exportable, Wanted::Anywhere)
    }

    /// As [`DeviceMemory::allocate`], at this address.
    ///
    /// # Errors
    /// `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` besides: it is none of ours, or taken.
    pub fn allocate_at(
        space: &Arc<AddressSpace>,
        size: u64,
        type_index: u32,
        exportable: bool,
        wanted: Wanted,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let reserved =
            size.max(1).checked_next_multiple_of(GRANULE).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let own = &space.own;
        let ptr = space.find(own, reserved, wanted)?;
        let backing = if exportable {
            match memfd(reserved).filter(|fd| map(ptr, reserved, fd.as_raw_fd(), libc::MAP_FIXED).is_some()) {
                Some(fd) => Backing::Fd(fd),
                None => {
                    space.give(ptr as u64, reserved);
                    return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
                }
            }
        } else {
            Backing::Anonymous
        };
        Ok(DeviceMemory::new(space, ptr, size, reserved, backing, type_index).live())
    }

    /// Memory behind an opaque file descriptor that a Tuff device exported; takes the descriptor on success.
    pub fn import_fd(
        space: &Arc<AddressSpace>,
        fd: i32,
        size: u64,
        type_index: u32,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        // SAFETY: asks about a descriptor, whatever it is. What nobody can shrink stays readable to its end.
        let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
        if seals < 0 || seals & SEALS != SEALS {
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: fstat writes a stat struct, for which zero is a valid value.
        let mut st: libc::stat = unsafe { std::mem::zeroed() };
        if unsafe { libc::fstat(fd, &mut st) } != 0 || (st.st_size as u64) < size {
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        let reserved = (st.st_size as u64).next_multiple_of(GRANULE);
        let own = &space.own;
        let ptr = space.find(own, reserved, Wanted::Anywhere)?;
        if map(ptr, st.st_size as u64, fd, libc::MAP_FIXED).is_none() {
            own.give(ptr as u64, reserved);
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: the specification passes ownership of the descriptor on success.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(DeviceMemory::new(space, ptr, size, reserved, Backing::Fd(fd), type_index).live())
    }

    /// Memory of a dma-buf of any origin; takes the descriptor on success.
    pub fn import_dma_buf(
        space: &Arc<AddressSpace>,
        fd: i32,
        size: u64,
        type_index: u32,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let whole = crate::dma_buf::size(fd).filter(|whole| *whole >= size && *whole > 0);
        let whole = whole.ok_or(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?;
        let reserved =
            whole.checked_next_multiple_of(GRANULE).ok_or(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?;
        let own = &space.own;
        let ptr = space.find(own, reserved, Wanted::Anywhere)?;
        if map(ptr, whole, fd, libc::MAP_FIXED).is_none() {
            own.give(ptr as u64, reserved);
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: the specification passes ownership of the descriptor on success.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(DeviceMemory::new(space, ptr, size, reserved, Backing::DmaBuf(fd), type_index).live())
    }

    /// Memory that the application owns (VK_EXT_external_memory_host).
    ///
    /// # Safety
    /// `ptr .. ptr + size` stays valid until the memory is freed.
    pub unsafe fn import_host(
        space: &Arc<AddressSpace>,
        ptr: *mut u8,
        size: u64,
        type_index: u32,
    ) -> Arc<DeviceMemory> {
        let memory = Arc::new(DeviceMemory::new(space, ptr, size, 0, Backing::Host, type_index));
        space.add_foreign(&memory);
        memory
    }

    /// Known by its address from here on.
    fn live(self) -> Arc<DeviceMemory> {
        let memory = Arc::new(self);
        memory.space.add(&memory);
        memory
    }

    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    pub fn size(&self) -> u64 {
        self.size
    }
    /// The addresses that it has some of.
    /// Whether nothing outside of the device and its application's mappings can write it.
    pub fn is_own(&self) -> bool {
        matches!(self.backing, Backing::Anonymous | Backing::Stored)
    }
    /// The application has freed it: its pages go back to the system, though images, buffers and descriptors of them may
    /// still hold the range, which reads as zero from now on.
    pub fn discard(&self) {
        self.share();
        match self.backing {
            // SAFETY: a range of the arena that is this allocation's; nothing of Rust's lies there.
            Backing::Anonymous => unsafe {
                libc::madvise(self.ptr.cast(), self.reserved as usize, libc::MADV_DONTNEED);
            },
            Backing::Stored => sparse::empty(self.ptr as u64, self.reserved),
            _ => {}
        }
    }

    /// A new descriptor of exportable memory; the caller owns it.
    pub fn export(&self) -> Option<i32> {
        let Backing::Fd(fd) = &self.backing else { return None };
        use std::os::fd::IntoRawFd;
        fd.try_clone().ok().map(IntoRawFd::into_raw_fd)
    }
}

impl DeviceMemory {
    /// A new dma-buf of exportable memory; the caller owns it.
    pub fn export_dma_buf(&self) -> Option<i32> {
        use std::os::fd::{AsFd, IntoRawFd};
        let made = match &self.backing {
            Backing::Fd(fd) => crate::dma_buf::of(fd.as_fd(), self.reserved)?,
            Backing::DmaBuf(fd) => fd.try_clone().ok()?,
            _ => return None,
        };
        Some(made.into_raw_fd())
    }
}

/// What exported memory is sealed with: another process that shrank it would end this one by SIGBUS.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

fn memfd(size: u64) -> Option<OwnedFd> {
    // SAFETY: a fresh descriptor, owned below.
    let fd = unsafe { libc::memfd_create(c"tuff".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return None;
    }
    // SAFETY: nobody else has it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let size = i64::try_from(size).ok()?;
    // SAFETY: a live descriptor.
    let sealed = unsafe {
        files::within_limits(|| libc::ftruncate(fd.as_raw_fd(), size)) == 0
            && libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, SEALS) == 0
    };
    sealed.then_some(fd)
}

/// Whether all these bytes of the process are there to be read and written.
pub fn is_mapped(ptr: *const u8, size: u64) -> bool {
    let Some(end) = (ptr as u64).checked_add(size) else { return false };
    // Lines are "start-end perms …" in the order of their addresses (proc_pid_maps(5)).
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return false };
    let mut at = ptr as u64;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let range = fields.next().and_then(|r| r.split_once('-'));
        let (Some((from, to)), Some(access)) = (range, fields.next()) else { return false };
        let (Ok(from), Ok(to)) = (u64::from_str_radix(from, 16), u64::from_str_radix(to, 16)) else {
            return false;
        };
        if to <= at {
            continue;
        }
        if from > at || !access.starts_with("rw") {
            return false;
        }
        at = to;
        if at >= end {
            return true;
        }
    }
    false
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        match self.backing {
            Backing::Host => self.space.remove_foreign(self),
            // The range stays mapped and reads as zero: a stale address is harmless.
            _ => {
                self.space.remove(self);
                match &self.backing {
                    Backing::Stored => sparse::empty(self.ptr as u64, self.reserved),
                    Backing::Sparse(table) => table.forget(self.ptr as u64, self.reserved),
                    _ => {}
                }
                if map(self.ptr, self.reserved, -1, libc::MAP_FIXED).is_some() {
                    self.space.give(self.ptr as u64, self.reserved);
                }
            }
        }
    }
}

/// A resource's place in memory.
#[derive(Clone)]
pub struct Bound {
    pub memory: Arc<DeviceMemory>,
    pub offset: u64,
}

impl Bound {
    pub fn ptr(&self) -> *mut u8 {
        // SAFETY: binding checked that the offset lies inside.
        unsafe { self.memory.ptr.add(self.offset as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::space;

    #[test]
    fn an_address_is_given_once_or_not_at_all() {
        let none = Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        let at = |address| DeviceMemory::allocate_at(space(), GRANULE + 1, 0, false, Wanted::At(address));
        let first = DeviceMemory::allocate(space(), 3 * GRANULE, 0, false).expect("memory");
        let was = first.ptr() as u64;
        assert_eq!(at(was).err(), none, "it is taken");
        drop(first);
        let local = 0u64;
        for wrong in [
            was + 1,
            0,
            GRANULE,
            &raw const local as u64,
            space().arena().1 - GRANULE + 1,
            u64::MAX - GRANULE + 1,
        ] {
            assert_eq!(at(wrong).err(), none, "{wrong:#x}");
        }
        // Others may have taken it by now; the next allocation may have it.
        if let Ok(again) = at(was + GRANULE) {
            assert_eq!(again.ptr() as u64, was + GRANULE);
            assert_eq!(at(was + 2 * GRANULE).err(), none, "its last granule");
        }
    }

    #[test]
    fn allocations_are_zero_lazy_and_reused() {
        let m = DeviceMemory::allocate(space(), 64 << 30, 0, false).expect("address space is free of charge");
        // SAFETY: inside the allocation.
        unsafe {
            assert_eq!(*m.ptr().add(32 << 30), 0);
            *m.ptr() = 7;
        }
        let at = m.ptr();
        assert!(space().holds(at as u64 + 5, (64 << 30) - 5), "to the last byte");
        assert!(!space().holds(at as u64 + 5, (64 << 30) - 4), "and none more");
        drop(m);
        let m = DeviceMemory::allocate(space(), 64 << 30, 0, false).unwrap();
        // First fit; other tests may have taken a little of it.
        let moved = m.ptr() as usize - at as usize;
        assert!(moved < 1 << 30, "the range is used again");
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { *m.ptr() }, 0, "fresh memory is zero again");
    }

    #[test]
    fn exported_memory_is_shared() {
        let a = DeviceMemory::allocate(space(), 100, 0, true).unwrap();
        let b = DeviceMemory::import_fd(space(), a.export().unwrap(), 100, 0).unwrap();
        // SAFETY: within what the test has made.
        unsafe {
            *a.ptr().add(5) = 42;
            assert_eq!(*b.ptr().add(5), 42);
        }
    }

    #[test]
    fn what_others_may_shrink_is_not_imported() {
        let invalid = Some(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        // SAFETY: descriptors of this test's own.
        unsafe {
            let fd = libc::memfd_create(c"foreign".as_ptr(), libc::MFD_ALLOW_SEALING);
            assert_eq!(libc::ftruncate(fd, 1 << 20), 0);
            assert_eq!(DeviceMemory::import_fd(space(), fd, 100, 0).err(), invalid, "no seals");
            libc::close(fd);
            let ours = DeviceMemory::allocate(space(), 100, 0, true).unwrap();
            let fd = ours.export().unwrap();
            assert_ne!(libc::ftruncate(fd, 0), 0, "shrinking what was exported");
            assert_eq!(
                DeviceMemory::import_fd(space(), fd, GRANULE + 1, 0).err(),
                invalid,
                "more than there is"
            );
            libc::close(fd);
            assert_eq!(DeviceMemory::import_fd(space(), -1, 100, 0).err(), invalid, "no descriptor");
        }
    }

    #[test]
    fn mapped_is_what_can_be_read_and_written() {
        let page = 4096;
        let p = map(std::ptr::null_mut(), 4 * page, -1, 0).unwrap();
        assert!(is_mapped(p, 4 * page));
        // SAFETY: pages of this test's own.
        unsafe {
            libc::mprotect(p.add(2 * page as usize).cast(), page as usize, libc::PROT_READ);
            assert!(is_mapped(p, 2 * page) && !is_mapped(p, 3 * page), "a page that can only be read");
            libc::munmap(p.add(page as usize).cast(), page as usize);
            assert!(is_mapped(p, page) && !is_mapped(p, page + 1), "a hole");
            libc::munmap(p.cast(), 4 * page as usize);
        }
        assert!(!is_mapped(std::ptr::null(), 1) && !is_mapped(16 as *const u8, u64::MAX));
    }

    #[test]
    fn too_much_is_an_error() {
        assert_eq!(
            DeviceMemory::allocate(space(), u64::MAX, 0, false).err(),
            Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
        );
        assert_eq!(
            DeviceMemory::allocate(space(), 1 << 60, 0, false).err(),
            Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
        );
    }
}

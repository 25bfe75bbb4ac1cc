//! Device memory: every allocation lives in one large reserved address range, committed by the system page by page
//! on first touch, so that "is this device address live memory" is one compare and a 1 GiB allocation is free
//! until used.
//!
//! The range has two halves. In the first one every byte is like every other; the second one has sparse resources that need not be
//! bound everywhere, whose holes read as zero and keep nothing ([`sparse`]): who stores asks there, and only there.

pub mod sparse;

use crate::retried::Retried;
use ash::vk;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Weak};

/// Bytes of address space reserved for all devices of the process, and as many for sparse resources with holes.
const ARENA_BYTES: u64 = 1 << 40;
/// Where it lies if that is free: the same in all processes, so that one can be given the addresses of another.
const ARENA_HINT: *mut u8 = (32u64 << 40) as *mut u8;
/// Allocation granularity: the largest alignment any resource asks for.
pub const GRANULE: u64 = 64 << 10;

/// A stretch of reserved addresses.
struct Space {
    base: u64,
    size: u64,
    /// Free ranges by offset, coalesced.
    free: Mutex<BTreeMap<u64, u64>>,
}

struct Arena {
    /// Memory, and sparse resources without holes.
    own: Space,
    /// Sparse resources with holes.
    holed: Space,
    /// Live allocations by address: size, and the allocation.
    live: Mutex<BTreeMap<u64, (u64, Weak<DeviceMemory>)>>,
}

/// Imported host memory: (address, size, allocation).
static FOREIGN: Mutex<Vec<(u64, u64, Weak<DeviceMemory>)>> = Mutex::new(Vec::new());

/// The arena; an empty one while the system has no address space for it.
fn range() -> &'static Arena {
    static ARENA: Retried<Arena> = Retried::new();
    static NONE: Arena =
        Arena { own: Space::none(), holed: Space::none(), live: Mutex::new(BTreeMap::new()) };
    ARENA.get(reserve).unwrap_or(&NONE)
}

/// As much address space as there is: it may be limited (ulimit -v).
fn reserve() -> Option<Arena> {
    let mut size = ARENA_BYTES;
    while size >= GRANULE {
        if let Some(p) = map(ARENA_HINT, 2 * size, -1, 0) {
            // SAFETY: the range was just mapped. Core dumps need not hold terabytes.
            unsafe { libc::madvise(p.cast(), 2 * size as usize, libc::MADV_DONTDUMP) };
            let space = |base| Space { base, size, free: Mutex::new(BTreeMap::from([(0, size)])) };
            let live = Mutex::default();
            return Some(Arena { own: space(p as u64), holed: space(p as u64 + size), live });
        }
        size /= 2;
    }
    None
}

fn map(at: *mut u8, size: u64, fd: i32, flags: i32) -> Option<*mut u8> {
    map_part(at, size, fd, 0, flags)
}

fn map_part(at: *mut u8, size: u64, fd: i32, offset: u64, flags: i32) -> Option<*mut u8> {
    let kind = if fd >= 0 { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_ANONYMOUS };
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

impl Space {
    const fn none() -> Space {
        Space { base: 0, size: 0, free: Mutex::new(BTreeMap::new()) }
    }

    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.size
    }

    fn take(&self, size: u64) -> Option<u64> {
        let mut free = self.free.lock();
        let (&at, &len) = free.iter().find(|&(_, &len)| len >= size)?;
        free.remove(&at);
        if len > size {
            free.insert(at + size, len - size);
        }
        Some(self.base + at)
    }

    /// As [`Space::take`], of the range that begins at `address`, if all of it is free.
    fn take_at(&self, address: u64, size: u64) -> Option<u64> {
        if !self.holds(address) || !address.is_multiple_of(GRANULE) {
            return None;
        }
        let wanted = address - self.base;
        let mut free = self.free.lock();
        let (&at, &len) = free.range(..=wanted).next_back()?;
        let before = wanted - at;
        let behind = len.checked_sub(before)?.checked_sub(size)?;
        free.remove(&at);
        if before > 0 {
            free.insert(at, before);
        }
        if behind > 0 {
            free.insert(wanted + size, behind);
        }
        Some(address)
    }

    /// Addresses for so many bytes: at `wanted`, or anywhere.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY`, `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`
    fn find(&self, size: u64, wanted: Option<u64>) -> Result<*mut u8, vk::Result> {
        let (found, e) = match wanted {
            Some(at) => (self.take_at(at, size), vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
            None => (self.take(size), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
        };
        found.map(|p| p as *mut u8).ok_or(e)
    }

    fn give(&self, address: u64, size: u64) {
        let mut free = self.free.lock();
        let (mut at, mut len) = (address - self.base, size);
        if let Some((&p, &pl)) = free.range(..at).next_back()
            && p + pl == at
        {
            free.remove(&p);
            at = p;
            len += pl;
        }
        if let Some(&nl) = free.get(&(at + len)) {
            free.remove(&(at + len));
            len += nl;
        }
        free.insert(at, len);
    }
}

/// Addresses in which device memory lives, but for sparse resources with holes: [start, end).
pub fn arena() -> (u64, u64) {
    let Space { base, size, .. } = range().own;
    (base, base + size)
}

/// True when all the bytes lie where device memory lives: in the arena, among sparse resources, or in host memory that was imported.
pub fn is_live(address: u64, bytes: u64) -> bool {
    let (start, end) = arena();
    match address.checked_add(bytes) {
        Some(last) => address >= start && last <= end || is_foreign(address, bytes),
        None => false,
    }
}

/// True when the bytes lie outside the arena where device memory lives nevertheless: among sparse resources with holes, or in host
/// memory that a live allocation imported.
pub fn is_foreign(address: u64, bytes: u64) -> bool {
    foreign_from(address).is_some_and(|live| bytes <= live)
}

/// Bytes from `address` to the end of such memory, if it lies there.
pub fn foreign_from(address: u64) -> Option<u64> {
    let holed = &range().holed;
    if holed.holds(address) {
        return Some(holed.size - (address - holed.base));
    }
    let each = FOREIGN.lock();
    each.iter().filter_map(|&(a, n, _)| n.checked_sub(address.checked_sub(a)?)).max()
}

/// True when all the bytes lie in one live allocation. Slower than a compare with [`arena`], for what is written seldom.
pub fn holds(address: u64, bytes: u64) -> bool {
    let inside =
        |(&a, &(n, _)): (&u64, &(u64, Weak<DeviceMemory>))| address - a <= n && bytes <= n - (address - a);
    range().live.lock().range(..=address).next_back().is_some_and(inside) || is_foreign(address, bytes)
}

/// The allocation that an address lies in, and where.
pub fn at(address: u64) -> Option<Bound> {
    // Upgraded under the lock, dropped outside: an allocation's end takes it.
    let own = range().live.lock().range(..=address).next_back().and_then(|(_, (_, m))| m.upgrade());
    let found = own.filter(|m| address - m.ptr as u64 <= m.size).or_else(|| {
        let within = |&&(a, n, _): &&(u64, u64, Weak<DeviceMemory>)| address >= a && address - a <= n;
        FOREIGN.lock().iter().find(within).and_then(|(_, _, m)| m.upgrade())
    })?;
    let offset = address - found.ptr as u64;
    Some(Bound { memory: found, offset })
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
    fn new(ptr: *mut u8, size: u64, reserved: u64, backing: Backing, type_index: u32) -> DeviceMemory {
        let alone = matches!(backing, Backing::Anonymous);
        let (users, shared) = (AtomicU32::new(0), AtomicBool::new(!alone));
        DeviceMemory { ptr, size, reserved, backing, type_index, users, shared }
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
    pub fn allocate(size: u64, type_index: u32, exportable: bool) -> Result<Arc<DeviceMemory>, vk::Result> {
        Self::allocate_at(size, type_index, exportable, None)
    }

    /// As [`DeviceMemory::allocate`], at this address.
    ///
    /// # Errors
    /// `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS` besides: it is none of ours, or taken.
    pub fn allocate_at(
        size: u64,
        type_index: u32,
        exportable: bool,
        wanted: Option<u64>,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let reserved =
            size.max(1).checked_next_multiple_of(GRANULE).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let own = &range().own;
        let ptr = own.find(reserved, wanted)?;
        let backing = if exportable {
            match memfd(reserved).filter(|fd| map(ptr, reserved, fd.as_raw_fd(), libc::MAP_FIXED).is_some()) {
                Some(fd) => Backing::Fd(fd),
                None => {
                    own.give(ptr as u64, reserved);
                    return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
                }
            }
        } else {
            Backing::Anonymous
        };
        Ok(DeviceMemory::new(ptr, size, reserved, backing, type_index).live())
    }

    /// Memory behind an opaque file descriptor that a Tuff device exported; takes the descriptor on success.
    pub fn import_fd(fd: i32, size: u64, type_index: u32) -> Result<Arc<DeviceMemory>, vk::Result> {
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
        let own = &range().own;
        let ptr = own.take(reserved).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)? as *mut u8;
        if map(ptr, st.st_size as u64, fd, libc::MAP_FIXED).is_none() {
            own.give(ptr as u64, reserved);
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: the specification passes ownership of the descriptor on success.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(DeviceMemory::new(ptr, size, reserved, Backing::Fd(fd), type_index).live())
    }

    /// Memory behind a dma-buf, whoever made it; takes the descriptor on success.
    pub fn import_dma_buf(fd: i32, size: u64, type_index: u32) -> Result<Arc<DeviceMemory>, vk::Result> {
        let whole = crate::dma_buf::size(fd).filter(|whole| *whole >= size && *whole > 0);
        let whole = whole.ok_or(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?;
        let reserved =
            whole.checked_next_multiple_of(GRANULE).ok_or(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)?;
        let own = &range().own;
        let ptr = own.take(reserved).ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)? as *mut u8;
        if map(ptr, whole, fd, libc::MAP_FIXED).is_none() {
            own.give(ptr as u64, reserved);
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: the specification passes ownership of the descriptor on success.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(DeviceMemory::new(ptr, size, reserved, Backing::DmaBuf(fd), type_index).live())
    }

    /// Memory that the application owns (VK_EXT_external_memory_host).
    ///
    /// # Safety
    /// `ptr .. ptr + size` stays valid until the memory is freed.
    pub unsafe fn import_host(ptr: *mut u8, size: u64, type_index: u32) -> Arc<DeviceMemory> {
        let memory = Arc::new(DeviceMemory::new(ptr, size, 0, Backing::Host, type_index));
        FOREIGN.lock().push((ptr as u64, size, Arc::downgrade(&memory)));
        memory
    }

    /// Known by its address from here on.
    fn live(self) -> Arc<DeviceMemory> {
        let memory = Arc::new(self);
        range().live.lock().insert(memory.ptr as u64, (memory.size, Arc::downgrade(&memory)));
        memory
    }

    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    pub fn size(&self) -> u64 {
        self.size
    }
    fn space(&self) -> &'static Space {
        let arena = range();
        if arena.holed.holds(self.ptr as u64) { &arena.holed } else { &arena.own }
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
        libc::ftruncate(fd.as_raw_fd(), size) == 0
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
            Backing::Host => {
                let mut foreign = FOREIGN.lock();
                if let Some(i) = foreign.iter().position(|f| (f.0, f.1) == (self.ptr as u64, self.size)) {
                    foreign.swap_remove(i);
                }
            }
            // The range stays mapped and reads as zero: a stale address is harmless.
            _ => {
                range().live.lock().remove(&(self.ptr as u64));
                match &self.backing {
                    Backing::Stored => sparse::empty(self.ptr as u64, self.reserved),
                    Backing::Sparse(table) => table.forget(self.ptr as u64, self.reserved),
                    _ => {}
                }
                if map(self.ptr, self.reserved, -1, libc::MAP_FIXED).is_some() {
                    self.space().give(self.ptr as u64, self.reserved);
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

    #[test]
    fn an_address_is_given_once_or_not_at_all() {
        let none = Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        let at = |address| DeviceMemory::allocate_at(GRANULE + 1, 0, false, Some(address));
        let first = DeviceMemory::allocate(3 * GRANULE, 0, false).expect("memory");
        let was = first.ptr() as u64;
        assert_eq!(at(was).err(), none, "it is taken");
        drop(first);
        let local = 0u64;
        for wrong in [was + 1, 0, GRANULE, &raw const local as u64, arena().1, u64::MAX - GRANULE + 1] {
            assert_eq!(at(wrong).err(), none, "{wrong:#x}");
        }
        // Others may have taken it by now; whoever is given it has it.
        if let Ok(again) = at(was + GRANULE) {
            assert_eq!(again.ptr() as u64, was + GRANULE);
            assert_eq!(at(was + 2 * GRANULE).err(), none, "its last granule");
        }
    }

    #[test]
    fn allocations_are_zero_lazy_and_reused() {
        let m = DeviceMemory::allocate(64 << 30, 0, false).expect("address space is free of charge");
        // SAFETY: inside the allocation.
        unsafe {
            assert_eq!(*m.ptr().add(32 << 30), 0);
            *m.ptr() = 7;
        }
        let at = m.ptr();
        assert!(holds(at as u64 + 5, (64 << 30) - 5), "to the last byte");
        assert!(!holds(at as u64 + 5, (64 << 30) - 4), "and none more");
        drop(m);
        let m = DeviceMemory::allocate(64 << 30, 0, false).unwrap();
        // First fit; other tests may have taken a little of it.
        let moved = m.ptr() as usize - at as usize;
        assert!(moved < 1 << 30, "the range is used again");
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { *m.ptr() }, 0, "fresh memory is zero again");
    }

    #[test]
    fn exported_memory_is_shared() {
        let a = DeviceMemory::allocate(100, 0, true).unwrap();
        let b = DeviceMemory::import_fd(a.export().unwrap(), 100, 0).unwrap();
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
            assert_eq!(DeviceMemory::import_fd(fd, 100, 0).err(), invalid, "no seals");
            libc::close(fd);
            let ours = DeviceMemory::allocate(100, 0, true).unwrap();
            let fd = ours.export().unwrap();
            assert_ne!(libc::ftruncate(fd, 0), 0, "shrinking what was exported");
            assert_eq!(DeviceMemory::import_fd(fd, GRANULE + 1, 0).err(), invalid, "more than there is");
            libc::close(fd);
            assert_eq!(DeviceMemory::import_fd(-1, 100, 0).err(), invalid, "no descriptor");
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
            DeviceMemory::allocate(u64::MAX, 0, false).err(),
            Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
        );
        assert_eq!(
            DeviceMemory::allocate(1 << 60, 0, false).err(),
            Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
        );
    }
}

//! Device memory: every allocation of a device lives in [its part](space) of one large reserved address range, committed by the system
//! page by page on first touch, so that "is this device address live memory" is one compare and a 1 GiB allocation is free until used.
//!
//! The range has two halves. In the first one every byte is like every other; the second one has sparse resources that need not be
//! bound everywhere, whose holes read as zero and keep nothing ([`sparse`]): stores ask there, and only there.

#[cfg(unix)]
mod fd;
pub mod poison;
#[cfg(windows)]
pub mod section;
mod space;
pub mod sparse;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(windows, path = "system/windows.rs")]
mod system;

pub use space::{AddressSpace, Wanted};
pub use system::{fresh, is_mapped};

use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};

/// Allocation granularity: the largest alignment any resource asks for.
pub const GRANULE: u64 = 64 << 10;

enum Backing {
    Anonymous,
    /// A part of the [store](sparse::store), which sparse resources can be bound to.
    Stored,
    /// A file of its own, which others may map too.
    File(system::File),
    /// Another's dma-buf.
    #[cfg(unix)]
    DmaBuf(system::File),
    #[cfg(windows)]
    Section(section::Section),
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
    /// [`LIVE`], [`FREED`] or [`REPLACED`].
    life: AtomicU8,
}

/// The application has it.
const LIVE: u8 = 0;
/// The application has freed it; what was recorded or described may still hold it.
const FREED: u8 = 1;
/// Freed, and its addresses are another one's.
const REPLACED: u8 = 2;

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
        let life = AtomicU8::new(LIVE);
        DeviceMemory { space: space.clone(), ptr, size, reserved, backing, type_index, users, shared, life }
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

    /// As [`DeviceMemory::allocate`], at this address. It may be that of memory as large that was freed: what still holds that, such as a
    /// command buffer that nobody may submit any more, has the new one's bytes then.
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
        let replaced = match wanted {
            Wanted::At(at) => space.first_at(at).filter(|m| m.yields(reserved)),
            _ => None,
        };
        let ptr = match replaced {
            Some(old) => old.ptr,
            None => space.find(&space.own, reserved, wanted)?,
        };
        let backing = if exportable {
            system::file(reserved)
                .filter(|file| system::map_file(ptr, reserved, file, 0, false).is_some())
                .map(Backing::File)
        } else {
            Some(Backing::Anonymous).filter(|_| system::commit(ptr, reserved))
        };
        let Some(backing) = backing else {
            space.give(ptr as u64, reserved);
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        };
        Ok(DeviceMemory::new(space, ptr, size, reserved, backing, type_index).live())
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
    /// Bytes of it that the system has committed; `None`: it does not say.
    pub fn committed(&self) -> Option<u64> {
        system::resident(self.ptr, self.size)
    }
    /// Whether nothing outside of the device and its application's mappings can write it.
    pub fn is_own(&self) -> bool {
        matches!(self.backing, Backing::Anonymous | Backing::Stored)
    }
    /// The application has freed it: its pages go back to the system, though images, buffers and descriptors of them may
    /// still hold the range, which reads as zero from now on.
    pub fn discard(&self) {
        self.share();
        self.life.store(FREED, SeqCst);
        match self.backing {
            Backing::Anonymous => system::discard(self.ptr, self.reserved),
            Backing::Stored => sparse::empty(self.ptr as u64, self.reserved),
            _ => {}
        }
    }
}

impl DeviceMemory {
    /// Leaves its addresses to another one of so many bytes, if the application has freed it.
    fn yields(&self, reserved: u64) -> bool {
        matches!(self.backing, Backing::Anonymous)
            && self.reserved == reserved
            && self.life.compare_exchange(FREED, REPLACED, SeqCst, SeqCst).is_ok()
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if *self.life.get_mut() == REPLACED {
            return;
        }
        match self.backing {
            Backing::Host => self.space.remove_foreign(self),
            #[cfg(windows)]
            Backing::Section(_) => self.space.remove_foreign(self),
            // The range stays mapped and reads as zero: a stale address is harmless.
            _ => {
                self.space.remove(self);
                match &self.backing {
                    Backing::Stored => sparse::empty(self.ptr as u64, self.reserved),
                    Backing::Sparse(table) => table.forget(self.ptr as u64, self.reserved),
                    _ => {}
                }
                if system::reset(self.ptr, self.reserved) {
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
    fn addresses_of_freed_memory_can_be_had_again() {
        let none = Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
        let at = |address, bytes| DeviceMemory::allocate_at(space(), bytes, 0, false, Wanted::At(address));
        let old = DeviceMemory::allocate(space(), 2 * GRANULE, 0, false).expect("memory");
        let was = old.ptr() as u64;
        assert_eq!(at(was, 2 * GRANULE).err(), none, "the application has it");
        // SAFETY (all blocks): within what the test has made.
        unsafe { *old.ptr() = 7 };
        old.discard();
        assert_eq!(at(was, GRANULE).err(), none, "not as large");
        let new = at(was, 2 * GRANULE).expect("memory");
        assert_eq!((new.ptr() as u64, unsafe { *new.ptr() }), (was, 0));
        unsafe { *new.ptr() = 8 };
        assert_eq!(at(was, 2 * GRANULE).err(), none, "taken once");
        drop(old);
        assert_eq!(unsafe { *new.ptr() }, 8, "it goes on");
        assert!(space().holds(was, 2 * GRANULE));
        drop(new);
        assert!(!space().holds(was, 2 * GRANULE));
    }

    #[test]
    fn allocations_are_zero_lazy_and_reused() {
        // (What Windows commits, the machine must have.)
        const BYTES: u64 = if cfg!(unix) { 64 << 30 } else { 4 << 30 };
        let m = DeviceMemory::allocate(space(), BYTES, 0, false).expect("address space is free of charge");
        // SAFETY: inside the allocation.
        unsafe {
            assert_eq!(*m.ptr().add(BYTES as usize / 2), 0);
            *m.ptr() = 7;
        }
        let at = m.ptr();
        assert!(space().holds(at as u64 + 5, BYTES - 5), "to the last byte");
        assert!(!space().holds(at as u64 + 5, BYTES - 4), "and none more");
        drop(m);
        let m = DeviceMemory::allocate(space(), BYTES, 0, false).unwrap();
        // First fit; other tests may have taken a little of it.
        let moved = m.ptr() as usize - at as usize;
        assert!(moved < 1 << 30, "the range is used again");
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { *m.ptr() }, 0, "fresh memory is zero again");
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

//! Memory shared by file descriptors (VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf).

use super::system::{SEALS, length, map_file};
use super::{AddressSpace, Backing, DeviceMemory, GRANULE, Wanted};
use ash::vk;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

impl DeviceMemory {
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
        // SAFETY: a live descriptor, which stays the application's until it is mapped.
        let file = unsafe { ManuallyDrop::new(OwnedFd::from_raw_fd(fd)) };
        let whole = length(&file).filter(|whole| *whole >= size);
        Self::imported(space, file, whole, size, type_index, Backing::File)
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
        // SAFETY: as above.
        let file = unsafe { ManuallyDrop::new(OwnedFd::from_raw_fd(fd)) };
        Self::imported(space, file, Some(whole), size, type_index, Backing::DmaBuf)
    }

    /// Memory of all `whole` bytes of a file; none: it has not enough. The specification passes ownership of the descriptor on success.
    fn imported(
        space: &Arc<AddressSpace>,
        file: ManuallyDrop<OwnedFd>,
        whole: Option<u64>,
        size: u64,
        type_index: u32,
        backing: fn(OwnedFd) -> Backing,
    ) -> Result<Arc<DeviceMemory>, vk::Result> {
        let invalid = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
        let whole = whole.ok_or(invalid)?;
        let reserved = whole.checked_next_multiple_of(GRANULE).ok_or(invalid)?;
        let own = &space.own;
        let ptr = space.find(own, reserved, Wanted::Anywhere)?;
        if map_file(ptr, whole, &file, 0, false).is_none() {
            own.give(ptr as u64, reserved);
            return Err(invalid);
        }
        let backing = backing(ManuallyDrop::into_inner(file));
        Ok(DeviceMemory::new(space, ptr, size, reserved, backing, type_index).live())
    }

    /// A new descriptor of exportable memory; the caller owns it.
    pub fn export(&self) -> Option<i32> {
        let Backing::File(fd) = &self.backing else { return None };
        fd.try_clone().ok().map(IntoRawFd::into_raw_fd)
    }

    /// A new dma-buf of exportable memory; the caller owns it.
    pub fn export_dma_buf(&self) -> Option<i32> {
        let made = match &self.backing {
            Backing::File(fd) => crate::dma_buf::of(fd.as_fd(), self.reserved)?,
            Backing::DmaBuf(fd) => fd.try_clone().ok()?,
            _ => return None,
        };
        Some(made.into_raw_fd())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::space;

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
}

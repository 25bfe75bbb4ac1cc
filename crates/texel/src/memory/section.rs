//! Memory that processes share by handles: Windows' sections (VK_KHR_external_memory_win32, and payloads of semaphores and fences).
//!
//! Windows maps nothing to a part of a reserved range of addresses, so a section lies outside of the devices' range, as host memory that is
//! imported does.

use super::{AddressSpace, Backing, DeviceMemory, is_mapped};
use ash::vk;
use std::ffi::c_void;
use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawHandle, OwnedHandle, RawHandle};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use windows_sys::Win32::Foundation::{
    DUPLICATE_SAME_ACCESS, DuplicateHandle, ERROR_ALREADY_EXISTS, GetLastError, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    OpenFileMappingW, PAGE_READWRITE, UnmapViewOfFile,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// A section, mapped.
pub struct Section {
    handle: OwnedHandle,
    at: *mut u8,
    /// Whether children of the process get the handles that are made of it.
    inherited: bool,
}

// SAFETY: raw bytes, which nobody moves; who may touch them when is the application's synchronisation.
unsafe impl Send for Section {}
unsafe impl Sync for Section {}

impl Drop for Section {
    fn drop(&mut self) {
        // SAFETY: what was mapped when this was made.
        unsafe { UnmapViewOfFile(MEMORY_MAPPED_VIEW_ADDRESS { Value: self.at.cast() }) };
    }
}

impl Section {
    /// So many bytes of zero; `None`: the system has no memory for it.
    pub fn new(bytes: u64) -> Option<Section> {
        // SAFETY: neither is there.
        unsafe { Section::named(bytes, null(), null()) }
    }

    /// The same with an application's attributes and a name, each of which may be null; `None`, too, if there is such a name already.
    ///
    /// # Safety
    /// They are null, or what their types say; the name ends in 0.
    pub unsafe fn named(bytes: u64, attributes: *const c_void, name: *const u16) -> Option<Section> {
        let attributes: *const SECURITY_ATTRIBUTES = attributes.cast();
        // SAFETY: what the caller promises; the handle is new.
        unsafe {
            let (high, low) = ((bytes >> 32) as u32, bytes as u32);
            let made = CreateFileMappingW(INVALID_HANDLE_VALUE, attributes, PAGE_READWRITE, high, low, name);
            let there = GetLastError() == ERROR_ALREADY_EXISTS;
            let handle = owned(made).filter(|_| !there)?;
            let inherited = attributes.as_ref().is_some_and(|a| a.bInheritHandle != 0);
            Section::mapped(handle, bytes, inherited)
        }
    }

    /// That of another's handle, which stays the caller's; `None` if it is none, or has not so many bytes.
    pub fn import(handle: isize, bytes: u64) -> Option<Section> {
        Section::mapped(duplicate(handle as RawHandle, false)?, bytes, false)
    }

    /// That of a name.
    ///
    /// # Safety
    /// It ends in 0.
    pub unsafe fn open(name: *const u16, bytes: u64) -> Option<Section> {
        // SAFETY: what the caller promises; the handle is new.
        let handle = unsafe { owned(OpenFileMappingW(FILE_MAP_READ | FILE_MAP_WRITE, 0, name)) };
        Section::mapped(handle?, bytes, false)
    }

    fn mapped(handle: OwnedHandle, bytes: u64, inherited: bool) -> Option<Section> {
        // SAFETY: a live handle, whatever it is of.
        let at = unsafe { MapViewOfFile(handle.as_raw_handle(), FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, 0) };
        let section = (!at.Value.is_null()).then(|| Section { handle, at: at.Value.cast(), inherited })?;
        is_mapped(section.at, bytes).then_some(section)
    }

    /// Another handle of it, the caller's.
    pub fn export(&self) -> Option<isize> {
        let made = duplicate(self.handle.as_raw_handle(), self.inherited)?;
        Some(made.into_raw_handle() as isize)
    }

    /// Where it is mapped.
    pub fn at(&self) -> *mut u8 {
        self.at
    }
}

/// # Safety
/// A new handle, or null.
unsafe fn owned(handle: RawHandle) -> Option<OwnedHandle> {
    // SAFETY: as above.
    (!handle.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(handle) })
}

fn duplicate(handle: RawHandle, inherited: bool) -> Option<OwnedHandle> {
    let mut made = null_mut();
    // SAFETY: asks about a handle, whatever it is; what it makes is new.
    unsafe {
        let own = GetCurrentProcess();
        let done = DuplicateHandle(own, handle, own, &mut made, 0, inherited.into(), DUPLICATE_SAME_ACCESS);
        owned(made).filter(|_| done != 0)
    }
}

impl DeviceMemory {
    /// Memory of a section.
    pub fn of_section(
        space: &Arc<AddressSpace>,
        section: Section,
        size: u64,
        type_index: u32,
    ) -> Arc<DeviceMemory> {
        let ptr = section.at();
        let backing = Backing::Section(section);
        let memory = Arc::new(DeviceMemory::new(space, ptr, size, 0, backing, type_index));
        space.add_foreign(&memory);
        memory
    }

    /// A new handle of memory that is a section's; the caller owns it.
    ///
    /// # Errors
    /// `ERROR_TOO_MANY_OBJECTS`: the system has none left, or the memory is not to be shared.
    pub fn export_section(&self) -> Result<isize, vk::Result> {
        let handle = match &self.backing {
            Backing::Section(section) => section.export(),
            _ => None,
        };
        handle.ok_or(vk::Result::ERROR_TOO_MANY_OBJECTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::space;
    use windows_sys::Win32::Foundation::CloseHandle;

    #[test]
    fn a_section_is_shared_by_its_handles_and_its_name() {
        let name: Vec<u16> = format!("tuff-test-{}\0", std::process::id()).encode_utf16().collect();
        // SAFETY (all blocks): names that end in 0, and bytes of the test's own.
        let a = unsafe { Section::named(100, null(), name.as_ptr()) }.unwrap();
        assert!(unsafe { Section::named(100, null(), name.as_ptr()) }.is_none(), "the name is taken");
        let b = unsafe { Section::open(name.as_ptr(), 100) }.unwrap();
        let handle = a.export().unwrap();
        let c = Section::import(handle, 100).unwrap();
        unsafe {
            *a.at().add(5) = 42;
            assert_eq!((*b.at().add(5), *c.at().add(5)), (42, 42));
        }
        assert!(Section::import(handle, 1 << 20).is_none(), "it has not so many bytes");
        unsafe { CloseHandle(handle as RawHandle) };
        assert!(Section::import(handle, 100).is_none(), "the handle is closed");
        assert!(Section::import(0, 1).is_none());
    }

    #[test]
    fn memory_of_a_section_is_known_by_its_address() {
        let memory = DeviceMemory::of_section(space(), Section::new(100).unwrap(), 100, 0);
        let at = memory.ptr() as u64;
        assert!(space().holds(at, 100) && !space().holds(at, 101) && !memory.is_own());
        drop(memory);
        assert!(!space().holds(at, 1));
    }
}

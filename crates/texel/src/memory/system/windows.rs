//! Windows: addresses are reserved first, and memory is committed when it is allocated.
//!
//! An address of memory that is gone must read as zero, as on other systems. Its pages are not committed, so that an access
//! raises an exception; a handler commits the pages, and the access is repeated. Large tables of the driver's own are committed in this way only.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use windows_sys::Win32::Foundation::EXCEPTION_ACCESS_VIOLATION;
use windows_sys::Win32::System::Diagnostics::Debug::{
    AddVectoredExceptionHandler, EXCEPTION_CONTINUE_EXECUTION, EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS,
};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
    GetModuleHandleW, GetProcAddress,
};
use windows_sys::Win32::System::Memory::*;
use windows_sys::w;

/// Memory that can be mapped in several places. There is none yet.
pub enum File {}

/// Whether a part of a file can be mapped to any part of the reserved range.
pub const MAPS_PARTS: bool = false;

/// Bytes of address space for each half of the reserved range.
pub const RESERVED: u64 = 1 << 40;
/// Bytes that are reserved under Wine at most, which writes a byte for each page then: a second for 512 GiB.
const MOST_OF_WINE: u64 = 128 << 30;

/// What the handler commits at once.
const PART: u64 = super::GRANULE;

/// Ranges of addresses whose pages are committed when they are touched: base and bytes.
static LAZY: [(AtomicU64, AtomicU64); 8] = [const { (AtomicU64::new(0), AtomicU64::new(0)) }; 8];
static LAZIES: AtomicUsize = AtomicUsize::new(0);

/// Commits the pages of such a range that an access needs.
unsafe extern "system" fn touched(exception: *mut EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system's, which lives as long as the call.
    let record = unsafe { &*(*exception).ExceptionRecord };
    if record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record.NumberParameters < 2 {
        return EXCEPTION_CONTINUE_SEARCH;
    }
    let at = record.ExceptionInformation[1] as u64;
    let lazy = LAZY.iter().any(|(base, bytes)| at.wrapping_sub(base.load(SeqCst)) < bytes.load(SeqCst));
    match lazy && commit((at / PART * PART) as *mut u8, PART) {
        true => EXCEPTION_CONTINUE_EXECUTION,
        false => EXCEPTION_CONTINUE_SEARCH,
    }
}

/// Has the handler called, once.
fn handle() {
    static ONCE: Once = Once::new();
    // SAFETY: the handler is this library's, which stays in the process from now on.
    ONCE.call_once(|| unsafe {
        let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
        let mut module = std::ptr::null_mut();
        GetModuleHandleExW(flags, touched as *const u16, &mut module);
        AddVectoredExceptionHandler(1, Some(touched));
    });
}

/// Addresses that read as zero, at `hint` if they are free. Pages are committed when they are touched.
pub fn fresh(hint: *mut u8, bytes: u64) -> Option<*mut u8> {
    let at = |hint: *mut u8| {
        // SAFETY: fresh addresses.
        unsafe { VirtualAlloc(hint.cast(), bytes as usize, MEM_RESERVE, PAGE_READWRITE) }
    };
    let mut p = at(hint);
    if p.is_null() && !hint.is_null() {
        p = at(std::ptr::null_mut());
    }
    if p.is_null() {
        return None;
    }
    let Some(lazy) = LAZY.get(LAZIES.fetch_add(1, SeqCst)) else {
        // SAFETY: reserved just now.
        unsafe { VirtualFree(p, 0, MEM_RELEASE) };
        return None;
    };
    handle();
    lazy.0.store(p as u64, SeqCst);
    lazy.1.store(bytes.next_multiple_of(PART), SeqCst);
    Some(p.cast())
}

/// As [`fresh`], of the one range of devices' memory. `None`: it is too much.
pub fn reserve(hint: *mut u8, bytes: u64) -> Option<*mut u8> {
    let too_much = bytes > MOST_OF_WINE && is_wine();
    if too_much { None } else { fresh(hint, bytes) }
}

fn is_wine() -> bool {
    // SAFETY: names that end in 0, of a library that every process has.
    unsafe {
        let ntdll = GetModuleHandleW(w!("ntdll.dll"));
        GetProcAddress(ntdll, c"wine_get_version".as_ptr().cast()).is_some()
    }
}

/// Ends what [`map_file`] mapped at an address of its own.
///
/// # Safety
/// Nobody uses it any more.
pub unsafe fn unmap(_: *mut u8, _: u64) {}

/// A part of the reserved range is about to be used. False: there is no memory for it.
pub fn commit(at: *mut u8, bytes: u64) -> bool {
    // SAFETY: a part of a reserved range; pages that are committed already keep what they hold.
    unsafe { !VirtualAlloc(at.cast(), bytes as usize, MEM_COMMIT, PAGE_READWRITE).is_null() }
}

/// A part of the reserved range reads as zero, and its pages go back. False: it is as it was.
pub fn reset(at: *mut u8, bytes: u64) -> bool {
    // SAFETY: a range of the arena; nothing of Rust's lies there.
    unsafe { VirtualFree(at.cast(), bytes as usize, MEM_DECOMMIT) != 0 }
}

/// As [`reset`].
pub fn discard(at: *mut u8, bytes: u64) {
    reset(at, bytes);
}

pub fn map_file(_: *mut u8, _: u64, file: &File, _: u64, _: bool) -> Option<*mut u8> {
    match *file {}
}

/// A file of so many bytes: none.
pub fn file(_: u64) -> Option<File> {
    None
}

pub fn length(file: &File) -> Option<u64> {
    match *file {}
}

pub fn punch(file: &File, _: u64, _: u64) {
    match *file {}
}

/// Calls `each(bytes, state, protection)` for the ranges of pages that these bytes lie in, until it says no.
fn regions(ptr: *const u8, size: u64, mut each: impl FnMut(u64, u32, u32) -> bool) -> bool {
    let Some(end) = (ptr as u64).checked_add(size) else { return false };
    let mut at = ptr as u64;
    while at < end {
        let mut info = MEMORY_BASIC_INFORMATION::default();
        let bytes = size_of::<MEMORY_BASIC_INFORMATION>();
        // SAFETY: asks about an address, whatever it is; it fills the structure.
        if unsafe { VirtualQuery(at as *const _, &mut info, bytes) } == 0 {
            return false;
        }
        let to = (info.BaseAddress as u64).saturating_add(info.RegionSize as u64).min(end);
        if to <= at || !each(to - at, info.State, info.Protect) {
            return false;
        }
        at = to;
    }
    true
}

/// Whether all these bytes of the process are there to be read and written.
pub fn is_mapped(ptr: *const u8, size: u64) -> bool {
    const WRITABLE: u32 = PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    !ptr.is_null()
        && regions(ptr, size, |_, state, protect| {
            state == MEM_COMMIT && protect & WRITABLE != 0 && protect & PAGE_GUARD == 0
        })
}

/// How many of these bytes are committed; `None`: the system does not say.
pub fn resident(ptr: *const u8, size: u64) -> Option<u64> {
    let mut committed = 0;
    let told = regions(ptr, size, |bytes, state, _| {
        committed += if state == MEM_COMMIT { bytes } else { 0 };
        true
    });
    told.then_some(committed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_is_committed() {
        let p = fresh(std::ptr::null_mut(), 1 << 30).unwrap();
        assert_eq!(resident(p, 1 << 30), Some(0));
        // SAFETY: within what the test has made.
        unsafe {
            assert_eq!(*p.add(5 << 20), 0);
            *p.add(7 << 20) = 1;
            assert_eq!(resident(p, 1 << 30), Some(2 * PART));
            assert!(reset(p, 1 << 30));
            assert_eq!((*p.add(7 << 20), resident(p, 1 << 30)), (0, Some(PART)));
        }
    }

    #[test]
    fn mapped_is_what_can_be_read_and_written() {
        let page = 4096;
        // SAFETY: fresh memory.
        let p = unsafe {
            let all = MEM_RESERVE | MEM_COMMIT;
            VirtualAlloc(std::ptr::null_mut(), 4 * page as usize, all, PAGE_READWRITE).cast::<u8>()
        };
        assert!(is_mapped(p, 4 * page));
        // SAFETY: pages of this test's own.
        unsafe {
            let mut before = 0;
            VirtualProtect(p.add(2 * page as usize).cast(), page as usize, PAGE_READONLY, &mut before);
            assert!(is_mapped(p, 2 * page) && !is_mapped(p, 3 * page), "a page that can only be read");
            VirtualFree(p.add(page as usize).cast(), page as usize, MEM_DECOMMIT);
            assert!(is_mapped(p, page) && !is_mapped(p, page + 1), "a hole");
            assert_eq!(resident(p, 4 * page), Some(3 * page));
            VirtualFree(p.cast(), 0, MEM_RELEASE);
        }
        assert!(!is_mapped(std::ptr::null(), 1) && !is_mapped(16 as *const u8, u64::MAX));
    }
}

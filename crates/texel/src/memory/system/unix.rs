//! Linux: memory is mapped once, and committed by the kernel page by page on first touch.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Memory that can be mapped in several places, by several processes too.
pub type File = OwnedFd;

/// What exported memory is sealed with: another process that shrank it would end this one by SIGBUS.
pub const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Whether a part of a file can be mapped to any part of the reserved range.
pub const MAPS_PARTS: bool = true;

/// Bytes of address space for each half of the reserved range.
pub const RESERVED: u64 = 8 << 40;

fn map(at: *mut u8, size: u64, fd: i32, offset: u64, flags: i32) -> Option<*mut u8> {
    // SAFETY: maps fresh memory, or replaces (MAP_FIXED) a range that the arena owns.
    let p = unsafe {
        libc::mmap(
            at.cast(),
            size as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_NORESERVE | flags,
            fd,
            offset as libc::off_t,
        )
    };
    (p != libc::MAP_FAILED).then_some(p.cast())
}

/// Addresses that read as zero, at `hint` if they are free.
pub fn reserve(hint: *mut u8, bytes: u64) -> Option<*mut u8> {
    let p = fresh(hint, bytes)?;
    // SAFETY: the range was just mapped. Core dumps need not hold terabytes.
    unsafe { libc::madvise(p.cast(), bytes as usize, libc::MADV_DONTDUMP) };
    Some(p)
}

/// Memory that is zero, at `hint` if that is free.
pub fn fresh(hint: *mut u8, bytes: u64) -> Option<*mut u8> {
    map(hint, bytes, -1, 0, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
}

/// Ends what [`fresh`] made, or what [`map_file`] mapped at an address of its own.
///
/// # Safety
/// Nobody uses it any more.
pub unsafe fn unmap(at: *mut u8, bytes: u64) {
    // SAFETY: the caller's.
    unsafe { libc::munmap(at.cast(), bytes as usize) };
}

/// A part of the reserved range is about to be used. False: there is no memory for it.
pub fn commit(_: *mut u8, _: u64) -> bool {
    true
}

/// A part of the reserved range is mapped to nothing else any more, reads as zero, and its pages go back. False: it is as it was.
pub fn reset(at: *mut u8, bytes: u64) -> bool {
    map(at, bytes, -1, 0, libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS).is_some()
}

/// The pages of a part of the reserved range that is mapped to nothing else go back; it reads as zero.
pub fn discard(at: *mut u8, bytes: u64) {
    // SAFETY: a range of the arena; nothing of Rust's lies there.
    unsafe { libc::madvise(at.cast(), bytes as usize, libc::MADV_DONTNEED) };
}

/// Maps a part of a file: to a part of the reserved range, or anywhere if `at` is null. What is written goes to the file, unless `private`.
pub fn map_file(at: *mut u8, size: u64, file: &File, offset: u64, private: bool) -> Option<*mut u8> {
    let kind = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
    let place = if at.is_null() { 0 } else { libc::MAP_FIXED };
    map(at, size, file.as_raw_fd(), offset, kind | place)
}

/// A file of so many bytes, which are zero.
pub fn file(size: u64) -> Option<File> {
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

/// Bytes of a file.
pub fn length(file: &File) -> Option<u64> {
    // SAFETY: fstat writes a stat struct, for which zero is a valid value.
    let mut st: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a live descriptor.
    (unsafe { libc::fstat(file.as_raw_fd(), &mut st) } == 0).then_some(st.st_size as u64)
}

/// The pages of a part of a file go back; it reads as zero.
pub fn punch(file: &File, at: u64, bytes: u64) {
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a live descriptor.
    unsafe { libc::fallocate(file.as_raw_fd(), how, at as libc::off_t, bytes as libc::off_t) };
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

/// How many of these bytes have pages; `None`: the system does not say.
pub fn resident(ptr: *const u8, size: u64) -> Option<u64> {
    // SAFETY: it has no conditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
    let (mut resident, mut pages, mut at) = ([0u8; 4096], 0, 0);
    while at < size {
        let part = (size - at).min(resident.len() as u64 * page);
        let from = ptr.wrapping_add(at as usize).cast_mut().cast();
        // SAFETY: asks about addresses, whatever they are; the array has a byte for each page.
        if unsafe { libc::mincore(from, part as usize, resident.as_mut_ptr()) } != 0 {
            return None;
        }
        let here = &resident[..part.div_ceil(page) as usize];
        pages += here.iter().filter(|&&p| p & 1 != 0).count() as u64;
        at += part;
    }
    Some((pages * page).min(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_is_what_can_be_read_and_written() {
        let page = 4096;
        let p = fresh(std::ptr::null_mut(), 4 * page).unwrap();
        assert!(is_mapped(p, 4 * page));
        // SAFETY: pages of this test's own.
        unsafe {
            libc::mprotect(p.add(2 * page as usize).cast(), page as usize, libc::PROT_READ);
            assert!(is_mapped(p, 2 * page) && !is_mapped(p, 3 * page), "a page that can only be read");
            unmap(p.add(page as usize), page);
            assert!(is_mapped(p, page) && !is_mapped(p, page + 1), "a hole");
            unmap(p, 4 * page);
        }
        assert!(!is_mapped(std::ptr::null(), 1) && !is_mapped(16 as *const u8, u64::MAX));
    }
}

//! The caller's memory. A kernel answers EFAULT to an address that is not the caller's to read or write; so is it here,
//! by the kernel's own copies between processes, from this one to itself.

use crate::{Errno, Result};
use bytemuck::{AnyBitPattern, NoUninit};

/// Longest copy: no structure or list of this interface is near it.
const MAX: usize = 1 << 20;

type Copy = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

fn copy(way: Copy, own: *mut u8, address: u64, size: usize) -> Result<()> {
    let Ok(theirs) = usize::try_from(address) else { return Err(Errno(libc::EFAULT)) };
    if size > MAX || theirs == 0 {
        return Err(Errno(if theirs == 0 { libc::EFAULT } else { libc::EINVAL }));
    }
    let ours = libc::iovec { iov_base: own.cast(), iov_len: size };
    let theirs = libc::iovec { iov_base: theirs as *mut _, iov_len: size };
    // SAFETY: `ours` is memory of this size; the other address is checked by the kernel.
    let done = unsafe { way(libc::getpid(), &ours, 1, &theirs, 1, 0) };
    if done < 0 {
        return Err(Errno::last());
    }
    // What is cut short leads into memory that is not there.
    if done as usize == size { Ok(()) } else { Err(Errno(libc::EFAULT)) }
}

/// `size` bytes at `address`.
pub fn read_bytes(address: u64, size: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0u8; size.min(MAX)];
    copy(libc::process_vm_readv, bytes.as_mut_ptr(), address, size)?;
    Ok(bytes)
}

/// The structure at `address`.
pub fn read<T: AnyBitPattern>(address: u64) -> Result<T> {
    Ok(bytemuck::pod_read_unaligned(&read_bytes(address, size_of::<T>())?))
}

pub fn write_bytes(address: u64, bytes: &[u8]) -> Result<()> {
    copy(libc::process_vm_writev, bytes.as_ptr().cast_mut(), address, bytes.len())
}

pub fn write<T: NoUninit>(address: u64, value: &T) -> Result<()> {
    write_bytes(address, bytemuck::bytes_of(value))
}

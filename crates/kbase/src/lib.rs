//! The kernel device of a Mali GPU (kbase, `/dev/mali0`) as far as counters are read from it, answered in the process:
//! what libGPUCounters, and so Arm's layers and tools, ask of it. The values are those of Tuff's channel.
//!
//! Two libraries bring it into a program: `libmali` (functions of that library's names, for a libGPUCounters that is
//! built to call them) and `kbase-preload` (`open`, `ioctl`, `mmap` and `close` themselves). Both hand over to
//! [`open`], [`ioctl`], [`map`] and [`close`]; `docs/arm-layers.md` has the protocol.
//!
//! - [`abi`]: numbers and layouts of kbase's interface. They are facts of the interface, not of this crate.
//! - [`user`]: the caller's memory, looked at as a kernel does: a bad address is an error.
//! - [`context`]: an open device: version, flags, properties, what counters there are.
//! - [`session`]: a reader of counters (kinstr_prfcnt) with its samples; [`sample`]: how one lies in memory.
//! - [`source`]: where the counters come from.
//! - [`files`]: which file descriptors are ours.

mod abi;
mod context;
mod files;
mod props;
mod sample;
mod session;
mod source;
#[cfg(test)]
mod tests;
mod user;

pub use files::{Mapping, close, ioctl, is_ours, map, open};

/// The device's name.
pub const DEVICE: &std::ffi::CStr = c"/dev/mali0";

/// An error as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// What the last call of the C library left.
    fn last() -> Errno {
        Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
    }
}

pub type Result<T> = std::result::Result<T, Errno>;

/// A result as C functions give it: −1 with errno. A panic becomes EIO, for none may cross into C.
pub fn c_result(answer: impl FnOnce() -> Result<i32>) -> i32 {
    c_answer(-1, answer)
}

/// As [`c_result`], with the value that stands for failure.
pub fn c_answer<T>(failure: T, answer: impl FnOnce() -> Result<T>) -> T {
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(answer));
    match answer.unwrap_or(Err(Errno(libc::EIO))) {
        Ok(value) => value,
        Err(Errno(e)) => {
            // SAFETY: errno is this thread's own.
            unsafe { *libc::__errno_location() = e };
            failure
        }
    }
}

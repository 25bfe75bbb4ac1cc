//! The stack of compiled code.

/// What the frame of a compiled function takes at most, and the call of a kernel after it.
#[cfg(windows)]
const MOST: usize = 40 << 10;

/// Makes room for a compiled function's frame. Windows commits a stack's pages in order, when each is touched: code with a frame of several
/// pages must touch all of them, as compilers' own does, and compiled code does not.
#[cfg(windows)]
#[inline(never)]
pub fn make_room() {
    std::hint::black_box(&mut [std::mem::MaybeUninit::<u8>::uninit(); MOST]);
}

/// Makes room for a compiled function's frame: the system does.
#[cfg(not(windows))]
#[inline(always)]
pub fn make_room() {}

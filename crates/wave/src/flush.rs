//! The mode in which a thread computes with floats: denormals made zeros while shaders run that may have it so, and nothing of the
//! application's.
//!
//! A shader that does not ask for its denormals may lose them (§ Precision and Operation of SPIR-V Instructions), and on
//! Intel's cores an operation with one takes a hundred cycles and more. Where the CPU has a mode for it (x86: MXCSR's FTZ
//! and DAZ) all kernels of all levels and compiled code run in it, so that the bits are everywhere the same; elsewhere
//! denormals are kept.

/// MXCSR's FTZ (15) and DAZ (6): results that are denormals become zeros, and operands that are count as zeros, of their
/// signs (Intel SDM volume 1, 10.2.3).
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 1 << 15 | 1 << 6;

/// All exceptions masked, rounded to nearest, nothing flushed: how a process begins.
#[cfg(target_arch = "x86_64")]
const PLAIN: u32 = 0x1F80;

/// The thread's mode, until this is dropped.
#[must_use]
pub struct Mode {
    /// What it was, where it was another.
    #[cfg(target_arch = "x86_64")]
    before: Option<u32>,
}

#[cfg(target_arch = "x86_64")]
fn mode() -> u32 {
    let mut mode = 0u32;
    // SAFETY: four bytes are written.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    mode
}

#[cfg(target_arch = "x86_64")]
fn set(mode: u32) {
    // SAFETY: the mode in which Rust's code begins, or one that was read, with or without bits that say what becomes of denormals. Rust
    // takes them to be kept, but nothing that is computed meanwhile was known to the compiler beforehand.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "x86_64")]
impl Mode {
    /// As a process begins, whatever the application has made of its thread's mode: it may round otherwise, or want a signal for a
    /// division by zero.
    pub fn plain() -> Mode {
        let before = mode();
        set(PLAIN);
        Mode { before: Some(before) }
    }

    /// Denormals flushed, or kept.
    #[inline]
    pub fn flushed(flush: bool) -> Mode {
        let before = mode();
        let now = if flush { before | FLUSH } else { before & !FLUSH };
        if now == before {
            return Mode { before: None };
        }
        set(now);
        Mode { before: Some(before) }
    }
}
#[cfg(target_arch = "x86_64")]
impl Drop for Mode {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            set(before);
        }
    }
}
#[cfg(not(target_arch = "x86_64"))]
impl Mode {
    pub fn plain() -> Mode {
        Mode {}
    }
    pub fn flushed(_: bool) -> Mode {
        Mode {}
    }
}

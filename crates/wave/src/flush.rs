//! Denormals made zeros while shaders run that may have it so.
//!
//! A shader that does not ask for its denormals may lose them (§ Precision and Operation of SPIR-V Instructions), and on
//! Intel's cores an operation with one takes a hundred cycles and more. Where the CPU has a mode for it (x86: MXCSR's FTZ
//! and DAZ) all kernels of all levels and compiled code run in it, so that the bits are everywhere the same; elsewhere
//! denormals are kept.

/// MXCSR's FTZ (15) and DAZ (6): results that are denormals become zeros, and operands that are count as zeros, of their
/// signs (Intel SDM volume 1, 10.2.3).
#[cfg(target_arch = "x86_64")]
const FLUSH: u32 = 1 << 15 | 1 << 6;

/// The thread's mode, until this is dropped.
pub struct Denormals {
    #[cfg(target_arch = "x86_64")]
    before: u32,
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
    // SAFETY: a mode that was read, with or without bits that say what becomes of denormals. Rust takes them to be kept, but
    // nothing that is computed meanwhile was known to the compiler beforehand.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "x86_64")]
impl Denormals {
    /// Flushed, or kept.
    #[inline]
    pub fn flushed(flush: bool) -> Denormals {
        let before = mode();
        let now = if flush { before | FLUSH } else { before & !FLUSH };
        if now != before {
            set(now);
        }
        Denormals { before }
    }
}
#[cfg(target_arch = "x86_64")]
impl Drop for Denormals {
    #[inline]
    fn drop(&mut self) {
        if mode() & FLUSH != self.before & FLUSH {
            set(self.before);
        }
    }
}
#[cfg(not(target_arch = "x86_64"))]
impl Denormals {
    pub fn flushed(_: bool) -> Denormals {
        Denormals {}
    }
}

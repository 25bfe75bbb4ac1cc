//! The mode in which a thread computes with floats: denormals made zeros while shaders run that may have it so, and nothing of the
//! application's.
//!
//! A shader that does not ask for its denormals may lose them (§ Precision and Operation of SPIR-V Instructions), and on
//! Intel's cores an operation with one takes a hundred cycles and more. Where the CPU has a mode for it (x86: MXCSR's FTZ
//! and DAZ; AArch64: FPCR's FZ) all kernels of all levels and compiled code run in it, so that the bits are everywhere the same;
//! elsewhere denormals are kept.
//!
//! One difference is left. A product, quotient or fused sum that lies below the least normal number by less than half of what
//! separates numbers there rounds up to it on x86, which looks at the rounded result, and is zero on AArch64, which looks at the
//! exact one (Arm ARM, FPRound).

/// The thread's mode, until this is dropped.
#[must_use]
pub struct Mode {
    /// What it was, where it was another.
    before: Option<register::Word>,
}

impl Mode {
    /// As a process begins, whatever the application has made of its thread's mode: it may round otherwise, or want a signal for a
    /// division by zero.
    pub fn plain() -> Mode {
        let before = register::read();
        register::write(register::PLAIN);
        Mode { before: Some(before) }
    }

    /// Denormals flushed, or kept.
    #[inline]
    pub fn flushed(flush: bool) -> Mode {
        let before = register::read();
        let now = if flush { before | register::FLUSH } else { before & !register::FLUSH };
        if now == before {
            return Mode { before: None };
        }
        register::write(now);
        Mode { before: Some(before) }
    }
}

impl Drop for Mode {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            register::write(before);
        }
    }
}

// Of `write`: the mode in which Rust's code begins, or one that was read, with or without bits that say what becomes of denormals. Rust
// takes them to be kept, but nothing that is computed meanwhile was known to the compiler beforehand.

#[cfg(target_arch = "x86_64")]
mod register {
    pub type Word = u32;

    /// MXCSR's FTZ (15) and DAZ (6): results that are denormals become zeros, and operands that are count as zeros, of their
    /// signs (Intel SDM volume 1, 10.2.3).
    pub const FLUSH: Word = 1 << 15 | 1 << 6;

    /// All exceptions masked, rounded to nearest, nothing flushed: how a process begins.
    pub const PLAIN: Word = 0x1F80;

    #[inline]
    pub fn read() -> Word {
        let mut mode = 0u32;
        // SAFETY: four bytes are written.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub fn write(mode: Word) {
        // SAFETY: as said above.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    pub type Word = u64;

    /// FPCR's FZ (24): denormals become zeros as results and as operands, of their signs; not those of 16 bits (Arm ARM, FPCR).
    pub const FLUSH: Word = 1 << 24;

    /// No traps, rounded to nearest, NaNs as they come, nothing flushed: how a process begins.
    pub const PLAIN: Word = 0;

    #[inline]
    pub fn read() -> Word {
        let mode: u64;
        // SAFETY: a register is read.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
        mode
    }

    #[inline]
    pub fn write(mode: Word) {
        // SAFETY: as said above. What is computed may not move across it, and touches memory.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub type Word = u32;
    pub const FLUSH: Word = 0;
    pub const PLAIN: Word = 0;

    pub fn read() -> Word {
        0
    }

    pub fn write(_: Word) {}
}

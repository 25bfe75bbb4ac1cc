//! Instructions that were written as data become what the CPU executes.
//!
//! x86-64 keeps its caches coherent; AArch64 does not. There, the data cache may still hold the new instructions, and the instruction cache
//! the old contents. So the thread that writes code cleans the data cache and invalidates the instruction caches of all CPUs, before it
//! publishes the address (Arm ARM B2.7.4.2). A thread that gets the address executes an `isb` before it goes there, because it may have
//! fetched instructions in advance ([`ready`]).

/// What lies in `code` may be executed from now on by threads that call [`ready`].
#[cfg(target_arch = "aarch64")]
pub fn written(code: &[u8]) {
    let types: u64;
    // SAFETY: a register is read, which Linux lets programs read.
    unsafe { std::arch::asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags)) };
    // Words of the shortest line of data and of instructions, as powers of two.
    let (data, instructions) = (4usize << (types >> 16 & 15), 4usize << (types & 15));
    let range = code.as_ptr_range();
    let lines = |bytes: usize| (range.start as usize & !(bytes - 1)..range.end as usize).step_by(bytes);
    for at in lines(data) {
        // SAFETY: nothing is changed there.
        unsafe { std::arch::asm!("dc cvau, {}", in(reg) at, options(nostack, preserves_flags)) };
    }
    // SAFETY: it waits.
    unsafe { std::arch::asm!("dsb ish", options(nostack, preserves_flags)) };
    for at in lines(instructions) {
        // SAFETY: nothing is changed there.
        unsafe { std::arch::asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags)) };
    }
    // SAFETY: it waits.
    unsafe { std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}
#[cfg(not(target_arch = "aarch64"))]
pub fn written(_: &[u8]) {}

/// The thread was told of code and goes there next.
#[inline]
pub fn ready() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: what was fetched ahead is fetched again.
    unsafe {
        std::arch::asm!("isb", options(nostack, preserves_flags))
    };
}

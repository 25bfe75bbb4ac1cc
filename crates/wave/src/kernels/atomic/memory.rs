//! Atomics on memory: that of the device, which other threads may change, and a thread's own.

use super::apply::apply;
use shader::ir::{AtomicOp, Mem};
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

/// Where atomics act. Addresses are those of whole words of the widths asked for, of any alignment.
pub trait Memory {
    /// One atomic; the memory bits before it (of a store: anything).
    ///
    /// # Safety
    /// `p` is live memory.
    unsafe fn one(p: *mut u8, op: AtomicOp, mem: Mem, a: u64, b: u64) -> u64;

    /// Memory bits become what `f` makes of them, at once; `f` may be called several times.
    ///
    /// # Safety
    /// As [`Memory::one`].
    unsafe fn change(p: *mut u8, mem: Mem, f: impl FnMut(u64) -> u64);
}

/// Memory of nobody else (workgroup memory).
pub struct Own;

/// Device memory. Misaligned addresses (which the API forbids) and bytes are plain accesses.
pub struct Device;

macro_rules! by_width {
    ($mem:expr, $go:ident) => {
        match $mem {
            Mem::U8 => $go!(u8),
            Mem::U16 | Mem::F16 => $go!(u16),
            Mem::B32 => $go!(u32),
            Mem::B64 => $go!(u64),
        }
    };
}

impl Memory for Own {
    #[inline(always)]
    unsafe fn one(p: *mut u8, op: AtomicOp, mem: Mem, a: u64, b: u64) -> u64 {
        macro_rules! go {
            ($t:ty) => {{
                let p = p as *mut $t;
                // SAFETY: the caller's.
                let old = unsafe { p.read_unaligned() };
                if let Some(n) = apply(op, mem, old as u64, a, b) {
                    // SAFETY: the caller's.
                    unsafe { p.write_unaligned(n as $t) };
                }
                old as u64
            }};
        }
        by_width!(mem, go)
    }
    #[inline(always)]
    unsafe fn change(p: *mut u8, mem: Mem, mut f: impl FnMut(u64) -> u64) {
        macro_rules! go {
            ($t:ty) => {{
                let p = p as *mut $t;
                // SAFETY: the caller's.
                unsafe { p.write_unaligned(f(p.read_unaligned() as u64) as $t) };
            }};
        }
        by_width!(mem, go)
    }
}

impl Device {
    #[inline(always)]
    fn is_plain(p: *mut u8, mem: Mem) -> bool {
        mem == Mem::U8 || !(p as usize).is_multiple_of(mem.bytes() as usize)
    }
}

macro_rules! by_atomic {
    ($mem:expr, $go:ident) => {
        match $mem {
            Mem::U8 | Mem::U16 | Mem::F16 => $go!(AtomicU16, u16),
            Mem::B32 => $go!(AtomicU32, u32),
            Mem::B64 => $go!(AtomicU64, u64),
        }
    };
}

impl Memory for Device {
    #[inline(always)]
    unsafe fn one(p: *mut u8, op: AtomicOp, mem: Mem, a: u64, b: u64) -> u64 {
        if Self::is_plain(p, mem) {
            // SAFETY: the caller's.
            return unsafe { Own::one(p, op, mem, a, b) };
        }
        macro_rules! go {
            ($at:ty, $t:ty) => {{
                // SAFETY: the caller's; aligned, or it would be plain.
                let q = unsafe { <$at>::from_ptr(p as *mut $t) };
                match op {
                    AtomicOp::Load => q.load(Acquire) as u64,
                    // Nobody asks what a store found. Sequential consistency is not part of the memory model
                    // (§ Vulkan Memory Model, Availability and Visibility Semantics).
                    AtomicOp::Store => {
                        q.store(a as $t, Release);
                        0
                    }
                    AtomicOp::Exchange => q.swap(a as $t, SeqCst) as u64,
                    AtomicOp::CompareExchange => match q.compare_exchange(b as $t, a as $t, SeqCst, SeqCst) {
                        Ok(o) | Err(o) => o as u64,
                    },
                    AtomicOp::IAdd => q.fetch_add(a as $t, SeqCst) as u64,
                    AtomicOp::ISub => q.fetch_sub(a as $t, SeqCst) as u64,
                    AtomicOp::And => q.fetch_and(a as $t, SeqCst) as u64,
                    AtomicOp::Or => q.fetch_or(a as $t, SeqCst) as u64,
                    AtomicOp::Xor => q.fetch_xor(a as $t, SeqCst) as u64,
                    _ => match q
                        .fetch_update(SeqCst, SeqCst, |old| apply(op, mem, old as u64, a, b).map(|n| n as $t))
                    {
                        Ok(o) | Err(o) => o as u64,
                    },
                }
            }};
        }
        by_atomic!(mem, go)
    }
    #[inline(always)]
    unsafe fn change(p: *mut u8, mem: Mem, mut f: impl FnMut(u64) -> u64) {
        if Self::is_plain(p, mem) {
            // SAFETY: the caller's.
            return unsafe { Own::change(p, mem, f) };
        }
        macro_rules! go {
            ($at:ty, $t:ty) => {{
                // SAFETY: the caller's; aligned, or it would be plain.
                let q = unsafe { <$at>::from_ptr(p as *mut $t) };
                let mut old = q.load(SeqCst);
                while let Err(now) = q.compare_exchange_weak(old, f(old as u64) as $t, SeqCst, SeqCst) {
                    old = now;
                }
            }};
        }
        by_atomic!(mem, go)
    }
}

//! Ops that run compiled code (`jit`): what the code asks of the wave, and where the wave goes on afterwards.

/// A function that code calls, or a type of code's functions: System V's convention, on every system, and that of AArch64 (AAPCS64).
macro_rules! called {
    ($(#[$m:meta])* $v:vis type $name:ident = unsafe fn $($rest:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        $(#[$m])*
        $v type $name = unsafe extern "sysv64" fn $($rest)*
        #[cfg(target_arch = "aarch64")]
        $(#[$m])*
        $v type $name = unsafe extern "C" fn $($rest)*
    };
    ($(#[$m:meta])* $v:vis unsafe fn $($rest:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        $(#[$m])*
        $v unsafe extern "sysv64" fn $($rest)*
        #[cfg(target_arch = "aarch64")]
        $(#[$m])*
        $v unsafe extern "C" fn $($rest)*
    };
}

mod enter;
mod parts;
mod stack;

pub use enter::{Context, Entry, MOST_STORAGES, Memory, Storage, one as one_of_loop, tired};
pub use parts::{Part, load_parts};

use super::{Registry, mask};
use crate::state::{Kernel, State};
use shader::bytecode::{Code, Op, Reg};

/// A segment that reads all lanes of quads.
pub struct QuadSegment {
    pub function: Function,
    /// Words of ops that it did, and a copy of the first of them, for a wave that does them one by one.
    pub words: u32,
    pub fallback: u32,
}

called! {
    /// Compiled code: first byte of the registers, live warps, lanes that execute, and whose all that is.
    pub type Function = unsafe fn(*mut u8, u32, *const u16, *mut State);
}

/// An op that has an address where others have registers.
pub fn with_address(code: Code, address: u64, imm: u32) -> Op {
    let part = |i: u32| Reg((address >> (16 * i)) as u16);
    Op { code, d: part(0), a: part(1), b: part(2), c: part(3), e: 0, imm }
}

/// The address of [`with_address`].
fn address_of(o: &Op) -> usize {
    o.d.0 as usize | (o.a.0 as usize) << 16 | (o.b.0 as usize) << 32 | (o.c.0 as usize) << 48
}

/// The kernel of [`Code::SEGMENT`].
///
/// # Safety
/// As [`crate::Kernel`]; the op is one of [`compile`]'s.
unsafe fn run(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    let o = unsafe { &*op };
    // SAFETY: where `compile` put a function, which lives as long as the op.
    let function: Function = unsafe { std::mem::transmute(address_of(o)) };
    stack::make_room();
    // SAFETY: the state's registers and lanes; the code stays within what the program's ops name.
    unsafe { function(st.regs, st.live, st.exec.as_ptr(), st) };
    op.wrapping_add(o.imm as usize)
}

/// The kernel of [`Code::QUAD_SEGMENT`].
///
/// # Safety
/// As [`run`].
unsafe fn run_quads(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's; what `compile` put there lives as long as the op.
    let it = unsafe { &*(address_of(&*op) as *const QuadSegment) };
    if !mask::has_whole_quads(st) {
        return st.code.wrapping_add(it.fallback as usize);
    }
    stack::make_room();
    // SAFETY: the state's registers and lanes; the code stays within what the program's ops name.
    unsafe { (it.function)(st.regs, st.live, st.exec.as_ptr(), st) };
    op.wrapping_add(it.words as usize)
}

called! {
    /// Called by a segment's code: has a kernel do an op for one warp, whose registers are units of their own at `regs`.
    ///
    /// # Safety
    /// The state is that of a segment that runs; the kernel is the op's, which names units at `regs` and no other memory.
    pub unsafe fn one(st: *mut State, op: *const Op, regs: *mut u8, kernel: usize) {
        // SAFETY: the caller's.
        let st = unsafe { &mut *st };
        let (own, live) = (std::mem::replace(&mut st.regs, regs), std::mem::replace(&mut st.live, 1));
        // SAFETY: the address of a kernel, of the level that the code is for.
        let kernel: Kernel = unsafe { std::mem::transmute(kernel) };
        // SAFETY: as above.
        unsafe { kernel(st, op) };
        (st.regs, st.live) = (own, live);
    }
}

pub fn register(r: &mut Registry) {
    r.set(Code::SEGMENT, run);
    r.set(Code::QUAD_SEGMENT, run_quads);
    r.set(Code::REGION, enter::run);
}

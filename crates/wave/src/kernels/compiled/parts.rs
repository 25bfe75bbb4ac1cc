//! What lanes load of several scalars each, where some of them lie out of bounds.

use super::Context;
use crate::kernels::memory::cell::{C16, C32, CF16};
use crate::kernels::memory::warp::Extent;
use shader::bytecode::mem_of;
use shader::ir::Mem;

/// One of the scalars that a lane has next to each other, of at most 16 bytes in all. They are read together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Words, or scalars of 16 bits.
    pub mem: Mem,
    /// Scalars of a lane, 1, 2 or 4; of each of the loads that they come from; and which of them this is.
    pub n: u8,
    pub each: u8,
    pub i: u8,
}

impl Part {
    /// Bytes of a lane.
    pub fn bytes(self) -> u32 {
        self.n as u32 * self.mem.bytes()
    }
    /// As code names it for [`load_parts`], of the storage of that number.
    pub fn named(self, place: u32) -> u32 {
        place | (self.mem as u32) << 8 | u32::from(self.n) << 16 | u32::from(self.each) << 24
    }
}

called! {
    /// Called by code: loads scalar by scalar; those out of bounds are 0. At `rows`: the lanes' offsets, then a row for each scalar.
    ///
    /// # Safety
    /// The context is that of a region that runs; `what` is a [`Part::named`] of its own; the rows are there.
    pub unsafe fn load_parts(c: *const Context, what: u32, rows: *mut [u32; 16]) {
        // SAFETY: the caller's.
        unsafe { load(c, what, rows) }
    }
}

// A function of this convention that calls no other may use memory below the stack pointer, which Windows overwrites.
#[cfg_attr(windows, inline(never))]
#[cfg_attr(not(windows), inline(always))]
unsafe fn load(c: *const Context, what: u32, rows: *mut [u32; 16]) {
    let (place, n, each) = (what & 255, what >> 16 & 255, what >> 24);
    // SAFETY: the caller's: all storages are filled in.
    let m = unsafe { (*c).memory[place as usize].assume_init_ref() };
    // SAFETY: the storage was one.
    let r = unsafe { Extent::new(m.ptr.cast_mut(), m.size) };
    let mem = mem_of((what >> 8) as u16);
    let bytes = mem.bytes();
    // SAFETY: the caller's.
    let offsets = unsafe { *rows };
    for i in 0..n {
        // Each of the loads wraps by itself.
        let (load, scalar) = (i / each * each * bytes, i % each * bytes);
        let row = offsets.map(|o| {
            let o = u64::from(o.wrapping_add(load)) + u64::from(scalar);
            match mem {
                Mem::U16 => r.read::<C16>(o),
                Mem::F16 => r.read::<CF16>(o),
                _ => r.read::<C32>(o),
            }
        });
        // SAFETY: the caller's.
        unsafe { *rows.add(1 + i as usize) = row };
    }
}

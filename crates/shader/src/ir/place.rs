//! Where loads, stores and atomics go, and what scalars look like there.

use super::{Ty, Value};

/// The width and meaning of a scalar in memory. `F16` converts between the 16 bits and the f32 in the register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Mem {
    U8,
    U16,
    F16,
    B32,
    B64,
}

impl Mem {
    /// Bytes in memory.
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        match self {
            Mem::U8 => 1,
            Mem::U16 | Mem::F16 => 2,
            Mem::B32 => 4,
            Mem::B64 => 8,
        }
    }
    /// Type of the register that holds one.
    pub fn ty(self) -> Ty {
        if self == Mem::B64 { Ty::B64 } else { Ty::B32 }
    }
}

/// Where a load, store or atomic goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// `desc`: descriptor address (B64); `addr`: byte offset (B32). Out of bounds: loads 0, stores nothing (§
    /// robustBufferAccess2).
    Buffer { desc: Value, addr: Value },
    /// `addr`: byte address (B64). Outside device memory: a device fault.
    Global { addr: Value },
    /// `addr`: byte offset (B32) into the memory of the lane's workgroup. Out of bounds: as buffers.
    Shared { addr: Value },
    /// `addr`: word index (B32) into the invocation's private words.
    Scratch { addr: Value },
    /// `addr`: byte offset (B32) in the push constant block.
    Push { addr: Value },
}

/// What is known of a load or store beyond its place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct MemFlags {
    /// Nothing in this dispatch writes it (UBO, push constants, NonWritable without aliases): may be moved.
    pub read_only: bool,
    pub volatile: bool,
}

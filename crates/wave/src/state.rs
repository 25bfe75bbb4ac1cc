//! What a kernel sees: the register file, the masks, memory.

use crate::arena::Arena;
use crate::counting::tally::{Counting, RayCounts};
use crate::host::{HostRef, Table};
use crate::rays::Queries;
use shader::bytecode::{ImageCode, Op, Reg};
use std::ops::Deref;
use std::time::Instant;

/// One op's code: executes `op` and returns the next op to run.
///
/// # Safety
/// What `st` points at lives, and its register file is one of the program that `op` belongs to. That program was made by
/// lowering or let through by its check (`shader::bytecode_check`), and `op` is one of its ops, no extension word.
/// Kernels of a level are called where the CPU has its instructions.
pub type Kernel = unsafe fn(st: &mut State, op: *const Op) -> *const Op;

/// An op that a kernel is called for: proof of what [`Kernel`] asks for, so that what is handed one may be safe. It goes with
/// the state of the same call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct At(*const Op);

impl At {
    /// # Safety
    /// As [`Kernel`], of the state that it is used with.
    #[inline(always)]
    pub unsafe fn new(op: *const Op) -> At {
        At(op)
    }
    #[inline(always)]
    pub fn ptr(self) -> *const Op {
        self.0
    }
    /// The op that lies `n` on: where to go on.
    #[inline(always)]
    pub fn on(self, n: usize) -> *const Op {
        self.0.wrapping_add(n)
    }
    /// The registers of the extension word.
    ///
    /// # Safety
    /// The op has one: the check sees to it that they are there.
    #[inline(always)]
    pub unsafe fn ext(self) -> [Reg; 8] {
        // SAFETY: the caller's.
        unsafe { (*self.on(1)).regs() }
    }
    /// Register `i` of an op with `n` values: `d` when n is 1, else from the extension words.
    ///
    /// # Safety
    /// The op has `n` values (its bits say so, and the check goes by them), and `i` is below.
    #[inline(always)]
    pub unsafe fn value(self, n: usize, i: usize) -> Reg {
        // An extension word is eight u16 in a row: code, d, a, b, c, e, imm (low half, high half on little-endian machines).
        const { assert!(cfg!(target_endian = "little")) };
        if n == 1 {
            self.d
        } else {
            // SAFETY: n ÷ 8 words, rounded up, follow the op.
            Reg(unsafe { *(self.on(1) as *const u16).add(i) })
        }
    }
    /// Op after a memory op with `n` values.
    #[inline(always)]
    pub fn after(self, n: usize) -> *const Op {
        self.on(if n == 1 { 1 } else { 1 + n.div_ceil(8) })
    }
}

impl Deref for At {
    type Target = Op;
    #[inline(always)]
    fn deref(&self) -> &Op {
        // SAFETY: an op of a live program.
        unsafe { &*self.0 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Running,
    /// All lanes ended.
    Done,
    /// Waits at a control barrier; resume at [`State::pc`].
    Barrier,
    /// A device fault: access outside live memory by address, or a loop that was told to end.
    Fault(Fault),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Device address outside live memory.
    Address(u64),
    /// The wave ran for longer than one may ([`crate::Host::wave_time`]).
    Watchdog,
    /// The wave was told to stop, for what others do ([`crate::Host::expired`]).
    Stopped,
    /// Shaders of a ray tracing pipeline call each other deeper than it says.
    Depth,
    /// The program has an op without a kernel (an error of the engine).
    Code(u16),
}

/// A fault, and which op of the program led to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stop {
    pub fault: Fault,
    /// Index into the program's code.
    pub op: u32,
}

/// One wave's state. The register file and the masks are all of it: a wave can be put aside at a barrier.
///
/// Whoever makes one, or changes it, keeps what [`Kernel`] says of it: its pointers lead to what their names say, of the sizes
/// beside them, as long as kernels are called with it, and `live` is within `all`. Kernels may rely on that.
#[repr(C, align(64))]
pub struct State {
    /// Lanes that execute, one u16 a warp.
    pub exec: [u16; 32],
    /// Fragment shaders: lanes that are no helpers; side effects are theirs alone.
    pub alive: [u16; 32],
    /// 64-byte aligned register file.
    pub regs: *mut u8,
    /// Warps with any lane in `exec`; `all` = every warp of the wave has its bit.
    pub live: u32,
    pub all: u32,
    /// Warps of the wave: lanes / 16.
    pub warps: u32,
    /// First op of the program (jump targets are relative to it), and where to resume.
    pub code: *const Op,
    pub pc: *const Op,
    pub tables: *const Table,
    pub table_count: u32,
    pub push: *const u8,
    pub push_bytes: u32,
    /// Workgroup memory of the wave's first workgroup, and the bytes of each one's: offsets are within these.
    pub shared: *mut u8,
    pub shared_bytes: u32,
    /// Several workgroups share the wave: warp w's memory begins `shared_at[w]` bytes on.
    pub packed: bool,
    pub shared_at: [u32; 16],
    /// Private words: word i of lane l at `scratch + (i · lanes + l) · 4`.
    pub scratch: *mut u8,
    pub scratch_words: u32,
    /// The wave's ray queries, and how many a lane has.
    pub queries: *mut Queries,
    pub query_count: u32,
    /// Device memory.
    pub arena: Arena,
    pub images: *const ImageCode,
    /// What the wave runs.
    pub program: *const shader::bytecode::Program,
    /// [`shader::bytecode::Program::embedded`]
    pub embedded: *const [u64; 4],
    /// [`shader::bytecode::Program::data`]
    pub data: *const shader::data::Data,
    pub host: HostRef,
    /// Loop iterations until the host is asked whether to go on.
    pub patience: u32,
    /// When this wave ran out of them for the first time.
    pub asked: Option<Instant>,
    pub status: Status,
    /// [`shader::bytecode::Program::keeps_denormals`]
    pub keeps_denormals: bool,
    /// Control barriers suspend the wave (the workgroup has other waves).
    pub yields: bool,
    /// No other thread works for the device: atomics may be plain loads and stores.
    pub alone: bool,
    /// Descriptors that are in no table. The worker's; emptied between dispatches.
    pub made: *mut crate::made::MadeUp,
    /// Room for one image operation's operands; the worker's.
    pub image_warp: *mut crate::host::ImageWarp,
    pub count: Counting,
    /// What the ray tracing unit does is added up here. The worker's.
    pub rays: *mut RayCounts,
}

impl State {
    /// The wave's fault, if that is why it stopped.
    pub fn fault(&self) -> Result<(), Stop> {
        match self.status {
            // Both point into the program's code.
            Status::Fault(fault) => {
                let op = (self.pc as usize).saturating_sub(self.code as usize) / size_of::<Op>();
                Err(Stop { fault, op: op as u32 })
            }
            _ => Ok(()),
        }
    }
}

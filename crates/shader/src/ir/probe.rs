//! What a sanitised shader tells the machine that runs it (`tuff sanitize`).

use super::{Mem, Origin, Place, Ty, Value};

/// What happens at a [`Site`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum ProbeOp {
    /// A load, a store or an atomic is about to happen. Operands: [`ProbeOp::operands`].
    Read,
    Write,
    Atomic,
    /// The workgroup's invocations have met: what they did before is ordered before what they do next.
    Barrier,
    /// The invocation orders its own accesses, or works with others of its subgroup.
    Fence,
    /// A [`Self::Fence`] that makes a derivative of the values of a quad.
    Quad,
    /// Fragments that may be compared with others begin.
    Begin,
    /// A value decides something ([`Decides`]) that is undefined in the lanes where operand 0 is not 0: it is the number of the site
    /// where the undefined value was born, plus 2.
    Fault,
}

impl ProbeOp {
    pub const ALL: [ProbeOp; 8] = [
        ProbeOp::Read,
        ProbeOp::Write,
        ProbeOp::Atomic,
        ProbeOp::Barrier,
        ProbeOp::Fence,
        ProbeOp::Quad,
        ProbeOp::Begin,
        ProbeOp::Fault,
    ];

    pub fn is_access(self) -> bool {
        matches!(self, ProbeOp::Read | ProbeOp::Write | ProbeOp::Atomic)
    }
    /// Operands of 32 bits: at last the number of the workgroup in the dispatch, and that of the invocation in it with that of its subgroup
    /// in the upper half (of fragments 1 and the number of the pixel where an interlock orders those of a pixel, else zeros); of an access the byte offset (0 where
    /// the address is a B64) and the stored word before them, of a fault the number of the site and the value.
    pub fn operands(self) -> usize {
        match self {
            ProbeOp::Read | ProbeOp::Write | ProbeOp::Atomic | ProbeOp::Fault => 4,
            ProbeOp::Barrier | ProbeOp::Fence | ProbeOp::Quad | ProbeOp::Begin => 2,
        }
    }
}

/// Memory that an access goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Region {
    /// By descriptor and offset.
    Buffer,
    /// By device address.
    Global,
    /// The workgroup's.
    Shared,
    /// A texel, by descriptor and coordinates.
    Image,
}

impl Region {
    pub const ALL: [Region; 4] = [Region::Buffer, Region::Global, Region::Shared, Region::Image];

    /// The region of a place, and its B64 and B32 operands. `None`: the invocation's own memory, or push constants.
    pub fn of(place: &Place) -> Option<(Region, Option<Value>, Option<Value>)> {
        match *place {
            Place::Buffer { desc, addr } => Some((Region::Buffer, Some(desc), Some(addr))),
            Place::Global { addr } => Some((Region::Global, Some(addr), None)),
            Place::Shared { addr } => Some((Region::Shared, None, Some(addr))),
            Place::Scratch { .. } | Place::Push { .. } => None,
        }
    }
}

/// How an undefined value is born.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Undefined {
    /// A variable of the invocation's that nothing has written.
    Variable,
    /// Memory of the workgroup that nothing has written.
    Shared,
    /// A quotient or remainder of integers.
    DivisionByZero,
    /// A shift by as many bits as the operand has, or more.
    Shift,
    /// A NaN or an infinity from operands that were defined.
    NotFinite,
    /// A float that the integer type cannot hold.
    Conversion,
    /// Memory of the device that nothing has written.
    Memory,
    /// Texels that nothing has written.
    Texel,
    /// Push constants that nothing has set.
    Push,
    /// A vertex's attribute that nothing has written.
    Attribute,
    /// The whole state of a loop, which is as it was an iteration before. (Nothing is undefined, but told in the same way.)
    Unchanged,
}

impl Undefined {
    /// It is what undefined memory holds ([`crate::options::Options::undefined`]): a copy of it is as undefined.
    pub fn is_copied(self) -> bool {
        use Undefined::*;
        matches!(self, Memory | Texel | Push | Attribute)
    }
}

/// The bits of an undefined value, where undefined contents are to show as this word.
pub fn undefined_bits(ty: Ty, word: Option<u32>) -> u64 {
    let word = word.unwrap_or(0) as u64;
    match ty {
        Ty::B32 => word,
        Ty::B64 => word << 32 | word,
        _ => 0,
    }
}

/// What a value decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Decides {
    Branch,
    /// Where an access goes.
    Address,
    /// What others see: memory or an image, and so a copy of an undefined value may lie there.
    Stored,
    /// What others see of an output: a colour, a place on the screen.
    Shown,
    /// What the next stage gets.
    Handed,
    /// Whether a loop ever ends.
    End,
}

/// What an atomic or a memory barrier orders, and what any access makes available or visible (SPIR-V, "Memory Semantics", "Scope").
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Order {
    pub acquires: bool,
    pub releases: bool,
    /// Its scope is the device or the queue family.
    pub wide: bool,
    /// It makes the invocation's writes available to that scope, and what is available there visible to the invocation.
    pub available: bool,
    pub visible: bool,
}

/// A place in a shader that tells what happens there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub op: ProbeOp,
    /// Where it stands in the application's module.
    pub origin: Origin,
    /// Of an access.
    pub region: Region,
    /// Set and binding of the buffer, if it has them.
    pub binding: Option<(u32, u32)>,
    /// Where that binding's descriptors lie: table, byte offset, stride, number ([`crate::options::Binding`]).
    pub descriptors: Option<[u32; 4]>,
    /// Bytes after the operands' address, as an access's constant offset says.
    pub offset: u32,
    /// Bytes accessed by a lane.
    pub bytes: u32,
    /// Bytes that the shader's workgroup memory has, of an access to it.
    pub shared_bytes: u32,
    /// It is a write, and the probe tells the stored word, or a hash of the stored words.
    pub tells: bool,
    /// Of an atomic or a fence.
    pub order: Order,
    /// The atomic reads, and writes.
    pub atomic: [bool; 2],
    /// Undefined values are born here.
    pub undefined: Option<Undefined>,
    /// Of a fault's probe.
    pub decides: Option<Decides>,
}

impl Site {
    /// One that is no access.
    pub fn new(op: ProbeOp, origin: Origin) -> Site {
        Site {
            op,
            origin,
            region: Region::Shared,
            binding: None,
            descriptors: None,
            offset: 0,
            bytes: 0,
            shared_bytes: 0,
            tells: false,
            order: Order::default(),
            atomic: [false; 2],
            undefined: None,
            decides: None,
        }
    }
    /// It has a descriptor as an operand.
    pub fn is_buffer(&self) -> bool {
        self.op.is_access() && self.region == Region::Buffer
    }
    /// It has a device address as an operand.
    pub fn is_global(&self) -> bool {
        self.op.is_access() && self.region == Region::Global
    }
    /// An access of `n` scalars.
    pub fn access(op: ProbeOp, origin: Origin, region: Region, offset: u32, mem: Mem, n: u32) -> Site {
        Site {
            region,
            offset,
            bytes: n * mem.bytes(),
            tells: op == ProbeOp::Write && mem != Mem::B64,
            ..Site::new(op, origin)
        }
    }
}

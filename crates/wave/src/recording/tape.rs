//! What a kernel asks of the machine that writes it down ([`super::record`]): nodes, each once.

use super::Kind;
use rustc_hash::FxHashMap;
use shader::bytecode::Reg;
use simd::Table;

/// A node's number on its tape.
pub type Id = u32;

/// Operations of one operand. Masks and vectors go by what [`simd::Simd`] says of the method of the name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Un {
    FSqrt,
    FFloor,
    FCeil,
    FTrunc,
    FRoundEven,
    SToF,
    UToF,
    FToS,
    FToF16,
    F16ToF,
    /// [`simd::Simd::ihigh_bytes`]
    HighBytes,
    /// Both, one after the other.
    F16Round,
    /// The two of [`simd::Simd::fparts`]; not of the narrow level.
    Exponent,
    Mantissa,
    /// [`simd::Simd::fround16`]; not of the narrow level.
    FRound16,
    /// [`simd::Simd::ilook16`] and [`simd::Simd::ilook`].
    Look16(&'static Table<16>),
    Look(&'static Table<32>),
    /// Each lane has what a lane of its quad has: two bits a lane say which. Kernels of quads are none of [`simd::Simd`]'s: a segment's own.
    Quad(u8),
    MNot,
    // Of a part of 64-bit lanes ([`super::Wide`]).
    DSqrt,
    DFloor,
    DCeil,
    DTrunc,
    DRoundEven,
    /// Both words of a lane change places; of the narrow level alone.
    LSwap,
    /// To words of the lower half of a vector.
    DToF,
    DToS,
    // From 64-bit integers, and to unsigned ones; not of the narrow level.
    SlToD,
    UlToD,
    DToUl,
    // From words to the part of that number.
    SToD(u8),
    /// Not of the narrow level.
    UToD(u8),
    FToD(u8),
    Zext(u8),
    /// A mask of 32-bit lanes as that of the part of that number.
    MPart(u8),
    /// A mask's bits, in all lanes; not of the narrow level.
    Ballot,
    /// Of a part's lanes those that are so many on, or back, in its lanes' stead; not of the narrow level.
    LPartner(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bin {
    FAdd,
    FSub,
    FMul,
    FDiv,
    FMin,
    FMax,
    /// Not of the narrow level.
    FScale,
    IAdd,
    ISub,
    IMul,
    /// [`simd::Simd::imadd16`]
    IMadd16,
    And,
    Or,
    Xor,
    AndN,
    Shl,
    Shr,
    Sar,
    SMin,
    SMax,
    UMin,
    UMax,
    FEq,
    FNe,
    FLt,
    FLe,
    IEq,
    SGt,
    UGt,
    MAnd,
    MOr,
    MXor,
    // Of parts of 64-bit lanes ([`super::Wide`]).
    DAdd,
    DSub,
    DMul,
    DDiv,
    DMin,
    DMax,
    DEq,
    DNe,
    DLt,
    DLe,
    LAdd,
    LSub,
    /// Not of the narrow level.
    LMul,
    /// Products of the lanes' lower words.
    LMulLow,
    LAnd,
    LOr,
    LXor,
    LShl,
    LShr,
    /// Not of the narrow level.
    LSar,
    LEq,
    LGt,
    // Not of the narrow level.
    LSMin,
    LSMax,
    LUMin,
    LUMax,
    // Of both parts: the words of a warp.
    Lo,
    Hi,
    /// The lower half of one vector, then that of another.
    Join,
    /// A mask of the masks of both parts.
    MJoin,
    // Of a whole warp's lanes, which the narrow level has not in one vector.
    /// By a's numbers, mod 16, the words of b.
    Shuffle,
    /// Of the first lane of mask a, the word of b.
    First,
    /// The last so many lanes of a part, then the first ones of the next: of a, b. Not of the narrow level.
    LAfter(u8),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tri {
    /// a · b + c
    Fma,
    /// −(a · b) + c
    Fnma,
    /// Mask a ? b : c
    Sel,
    /// [`simd::Simd::ffix`] of c by the class of a, as table b says; not of the narrow level.
    Fix,
    /// a · b + c of a part of 64-bit lanes.
    DFma,
    /// −(a · b) + c
    DFnma,
    /// Bits of a where c has ones, else those of b; of words and of 64 bits, and not of the narrow level.
    Bits,
    LBits,
    /// The part's mask a ? b : c
    LSel,
    /// By a part's numbers a, mod 16, 64 bits of the parts b and c; not of the narrow level.
    LShuffle,
}

impl Un {
    pub fn is_mask(self) -> bool {
        matches!(self, Un::MNot | Un::MPart(_))
    }
}

impl Bin {
    pub fn is_mask(self) -> bool {
        use Bin::*;
        matches!(self, FEq | FNe | FLt | FLe | IEq | SGt | UGt | MAnd | MOr | MXor)
            || matches!(self, DEq | DNe | DLt | DLe | LEq | LGt | MJoin)
    }
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "no instruction of others reads memory")
    )]
    /// a and b may change places. Of two NaN operands the result's payload may differ then, which is nobody's business.
    pub fn commutes(self) -> bool {
        use Bin::*;
        matches!(
            self,
            FAdd | FMul
                | IAdd
                | IMul
                | IMadd16
                | And
                | Or
                | Xor
                | SMin
                | SMax
                | UMin
                | UMax
                | FEq
                | FNe
                | IEq
                | MAnd
                | MOr
                | MXor
                | DAdd
                | DMul
                | DEq
                | DNe
                | LAdd
                | LMul
                | LMulLow
                | LAnd
                | LOr
                | LXor
                | LEq
        )
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// What a register of 32-bit lanes held before the segment.
    Word(Reg),
    /// What a Bool register held.
    Mask(Reg),
    /// What a part of a register of 64-bit lanes held.
    Part(Reg, u8),
    /// A value of 64-bit lanes: its parts. It is computed nowhere, only they are.
    Parts(Id, Id),
    /// Lanes of the warp that execute.
    Exec,
    /// Words that the load of this number reads: at an offset of each lane's, to which one of all lanes' is added. A region's.
    Load(u32, Id, Id),
    /// After a branch: what there was before it, or, of a warp that went there, what it made. A segment's.
    Phi(Id, Id),
    /// The same 32 bits in all lanes.
    Splat(u32),
    /// The same 64 bits in all lanes of a part.
    Splat64(u64),
    /// The same truth in all lanes.
    Truth(bool),
    /// A number of its own for each lane.
    Line(&'static Table<16>),
    /// These lanes of a warp.
    Lanes(u16),
    Un(Un, Id),
    Bin(Bin, Id, Id),
    Tri(Tri, Id, Id, Id),
}

impl Node {
    pub fn is_mask(self) -> bool {
        match self {
            Node::Mask(_) | Node::Exec | Node::Truth(_) | Node::Lanes(_) => true,
            Node::Un(u, _) => u.is_mask(),
            Node::Bin(b, ..) => b.is_mask(),
            Node::Word(_) | Node::Splat(_) | Node::Tri(..) | Node::Load(..) | Node::Phi(..) => false,
            Node::Part(..) | Node::Parts(..) | Node::Splat64(_) | Node::Line(_) => false,
        }
    }
    /// How a register that is to hold it lies.
    pub fn kind(self) -> Kind {
        match self {
            Node::Parts(..) => Kind::Wide,
            _ if self.is_mask() => Kind::Mask,
            _ => Kind::Word,
        }
    }
    /// It is there, in a register or as a constant.
    pub fn is_given(self) -> bool {
        matches!(self, Node::Word(_) | Node::Mask(_) | Node::Exec | Node::Splat(_) | Node::Truth(_))
            || matches!(
                self,
                Node::Part(..) | Node::Parts(..) | Node::Splat64(_) | Node::Line(_) | Node::Lanes(_)
            )
    }
    /// The nodes that it is computed of.
    pub fn operands(self) -> impl Iterator<Item = Id> {
        let (list, n) = match self {
            Node::Un(_, a) => ([a, 0, 0], 1),
            Node::Bin(_, a, b) | Node::Load(_, a, b) | Node::Phi(a, b) | Node::Parts(a, b) => ([a, b, 0], 2),
            Node::Tri(_, a, b, c) => ([a, b, c], 3),
            _ => ([0; 3], 0),
        };
        list.into_iter().take(n)
    }
}

/// Nodes, each once.
#[derive(Default)]
pub struct Tape {
    pub nodes: Vec<Node>,
    known: FxHashMap<Node, Id>,
    /// Something was asked that no node says.
    pub unsaid: bool,
    /// Of the level without it: unsigned integers become floats in two steps.
    pub narrow: bool,
    /// Functions are written down by the way that is right for all lanes.
    pub one_way: bool,
    /// Where who writes has a way out for lanes out of the ordinary: the masks of those.
    pub odd: Option<Vec<Id>>,
    /// Where what is seldom needed may be jumped over, the lanes that execute; and what was written down of it.
    pub exec: Option<Id>,
    pub rare: Vec<Rare>,
}

/// Nodes that no warp needs but those with a lane in the mask.
#[derive(Clone, Copy)]
pub struct Rare {
    pub mask: Id,
    pub first: Id,
    /// One after the last: the merged ones ([`Node::Phi`]) are these two.
    pub phis: Id,
}

impl Tape {
    /// As it was with `n` nodes.
    pub fn cut(&mut self, n: usize) {
        for (id, node) in self.nodes.drain(n..).enumerate() {
            if self.known.get(&node) == Some(&((n + id) as Id)) {
                self.known.remove(&node);
            }
        }
        self.unsaid = false;
        self.rare.clear();
    }

    pub fn put(&mut self, node: Node) -> Id {
        if let Some(id) = self.simplify(node) {
            return id;
        }
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as Id - 1
        })
    }

    /// A node of its own, whatever others are like it.
    pub fn fresh(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() as Id - 1
    }
    /// Of the nodes from `n` on those that are computed, and `gone`, are not there for who comes now.
    pub fn forget(&mut self, n: usize, gone: impl Fn(Id) -> bool) {
        for id in (n..self.nodes.len()).filter(|id| gone(*id as Id)) {
            let node = self.nodes[id];
            if !node.is_given() && self.known.get(&node) == Some(&(id as Id)) {
                self.known.remove(&node);
            }
        }
    }
}

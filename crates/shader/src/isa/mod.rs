//! The instruction set: one table a kind of op, one row an op, and all that the rest of the compiler knows of an op
//! comes from its row.
//!
//! - [`alu`]: arithmetic of one to three operands. A row says types, what may change places, NaNs, cost, and what the
//!   op computes for one lane.
//! - [`across`]: atomics, reductions, quads.
//! - [`inst`]: every other instruction of the IR: operands, effects, what may be moved, which lanes agree, cost.
//! - [`code`]: the ops of the bytecode that are not arithmetic: which fields are registers, read or written.
//!
//! Which arithmetic is done in pairs is the list of [`crate::pairs`] and [`crate::twins`].

mod across;
mod alu;

pub mod code;
mod exact;
mod inst;

pub use across::{AtomicOp, Product, Quad, ReduceOp, Scan};
pub use alu::{Bin, Tri, Un};
pub use exact::is_nan;
pub(crate) use inst::image_operands;
pub use inst::{
    Effect, Motion, SameResult, cost, effect, has_effect, is_movable, lanes, motion, operands, operands_mut,
};

use crate::cost::Cost;
use crate::ir::{Inst, Ty};

/// What an operand must be, and what a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandType {
    /// 32 or 64 bits; the op comes in both widths, and this operand says which.
    Num,
    /// As `Num`, or Bool.
    Any,
    /// As the operand that is `Num` or `Any`.
    Same,
    Bool,
    B32,
    B64,
    /// 32 bits whatever the width: how far to shift, a place in a bit field, an exponent.
    Count,
}

/// What becomes of NaNs, whose bits arithmetic leaves to the CPU ([`crate::pass::nan`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nan {
    /// The result may be a NaN of whatever bits.
    Makes,
    /// It may hold the bits of an operand, or bits made of them.
    Keeps,
    /// It is the same for every NaN.
    Settles,
}

/// Of how many bits a result is, as far as registers that hold several narrow values are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultWidth {
    Full,
    /// 16 bits at most.
    Half,
    /// The operand brought to 16 or 8 bits: what computes the operand is done on two or four at once. Free.
    Cut16,
    Cut8,
    /// As wide as the operands.
    Keep,
}

/// What passes know of an arithmetic op.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub operands: &'static [OperandType],
    pub result: OperandType,
    /// Operands 0 and 1 may change places. (Of two NaNs the CPU may take the other then; see [`Nan`].)
    pub commutes: bool,
    pub nan: Nan,
    /// Executed on both sides of a small `if` rather than branched around ([`crate::pass::select`]).
    pub cheap: bool,
    pub width: ResultWidth,
    /// Instructions of the modelled GPU for operands of 32 bits.
    pub cost: Cost,
}

impl OperandType {
    /// The one type of this kind, if there is one.
    pub fn ty(self) -> Option<Ty> {
        match self {
            OperandType::Num | OperandType::Any | OperandType::Same => None,
            OperandType::Bool => Some(Ty::Bool),
            OperandType::B32 | OperandType::Count => Some(Ty::B32),
            OperandType::B64 => Some(Ty::B64),
        }
    }
}

impl Facts {
    /// Type of the result, for the type of the operand that picks the width (the first; of a select the second).
    pub fn result(&self, operand: Ty) -> Ty {
        self.result.ty().unwrap_or(operand)
    }

    /// Whether operands of these types are right.
    pub fn accepts(&self, types: &[Ty]) -> bool {
        let number = |ty: Ty| matches!(ty, Ty::B32 | Ty::B64);
        let lead = self.operands.iter().position(|k| matches!(k, OperandType::Num | OperandType::Any));
        types.len() == self.operands.len()
            && self.operands.iter().zip(types).all(|(kind, &ty)| match kind {
                OperandType::Num => number(ty),
                OperandType::Any => number(ty) || ty == Ty::Bool,
                OperandType::Same => lead.map_or(types[0], |i| types[i]) == ty,
                fixed => fixed.ty() == Some(ty),
            })
    }
}

/// The row of an instruction's op, where it is arithmetic.
pub fn facts(inst: &Inst) -> Option<&'static Facts> {
    match inst {
        Inst::Un(op, ..) => Some(op.facts()),
        Inst::Bin(op, ..) => Some(op.facts()),
        Inst::Tri(op, ..) => Some(op.facts()),
        _ => None,
    }
}

/// An enum of ops, and the list of them in order.
macro_rules! ops {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $op:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$note])* $op,)*
        }
        impl $name {
            /// All ops, by number.
            pub const ALL: &'static [$name] = &[$($name::$op,)*];
            /// The op of a number, as in `op as u16`.
            pub fn from_number(n: u16) -> Option<$name> {
                Self::ALL.get(n as usize).copied()
            }
        }
    };
}
use ops;

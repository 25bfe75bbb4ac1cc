//! Ops that reach beyond a lane: atomics, reductions over a warp, products of its matrices, quads.

use super::{Nan, ops};
use crate::cost::Cost;

ops! {
    /// What an atomic does to memory or a texel.
    #[repr(u8)]
    AtomicOp {
        Load,
        Store,
        Exchange,
        CompareExchange,
        IAdd,
        ISub,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMin,
        FMax,
    }
}

ops! {
    /// What combines the lanes of a warp.
    #[repr(u8)]
    ReduceOp {
        IAdd,
        IMul,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMul,
        FMin,
        FMax,
    }
}

impl ReduceOp {
    pub fn nan(self) -> Nan {
        use ReduceOp::*;
        match self {
            FAdd | FMul | FMin | FMax => Nan::Makes,
            IAdd | IMul | SMin | UMin | SMax | UMax | And | Or | Xor => Nan::Keeps,
        }
    }
}

ops! {
    /// Which lanes a reduction takes in: all of the cluster, or those up to the lane with it or without.
    #[repr(u8)]
    Scan {
        Reduce,
        Inclusive,
        Exclusive,
    }
}

ops! {
    /// What the elements of a warp's matrices are, of which [`crate::ir::Inst::Product`] is the product. Floats are f32 and each step
    /// (k ascending) is one fused multiply–add; integers are the low 8 bits of words, and sums wrap at 32 bits.
    #[repr(u8)]
    Product {
        F32,
        /// As `F32`, and results are rounded to 16 bits; the modelled GPU multiplies and adds 16-bit floats, two at once.
        F16,
        /// Both signed, both unsigned, and one of them signed.
        SS8,
        UU8,
        SU8,
        US8,
    }
}

impl Product {
    pub fn is_float(self) -> bool {
        matches!(self, Product::F32 | Product::F16)
    }
    /// Whether the elements of the left and of the right matrix are signed.
    pub fn signs(self) -> [bool; 2] {
        use Product::*;
        [matches!(self, F32 | F16 | SS8 | SU8), matches!(self, F32 | F16 | SS8 | US8)]
    }
    /// Multiply–adds of the modelled GPU, whose matrices are in ordinary registers (docs/model.md): of floats one (or two of 16
    /// bits) a lane, of bytes four.
    pub fn cost(self) -> Cost {
        Cost::arithmetic(
            if self == Product::F32 {
                256
            } else if self == Product::F16 {
                128
            } else {
                64
            },
            0,
            0,
        )
    }
    pub fn nan(self) -> Nan {
        if self.is_float() { Nan::Makes } else { Nan::Settles }
    }
}

ops! {
    /// Lane patterns within a quad of four consecutive lanes. What is read of a lane that does not execute: 0, or for derivatives
    /// the reading lane's own value, so that they are 0 in that direction.
    #[repr(u8)]
    Quad {
        Broadcast0,
        Broadcast1,
        Broadcast2,
        Broadcast3,
        /// lane ^ 1, lane ^ 2, lane ^ 3
        SwapX,
        SwapY,
        SwapDiagonal,
        /// Lane & 2 (left of the row), lane | 1 (right), lane & 1 (top), lane | 2 (bottom): for fine derivatives.
        Left,
        Right,
        Top,
        Bottom,
        /// Lane 0, its neighbour in x, and its neighbour in y: for coarse derivatives.
        Origin,
        AlongX,
        AlongY,
    }
}

impl Quad {
    /// Whether lanes have their own value in the place of one of a lane that does not execute.
    pub fn is_derivative(self) -> bool {
        use Quad::*;
        matches!(self, Left | Right | Top | Bottom | Origin | AlongX | AlongY)
    }
}

//! Ops that reach beyond a lane: atomics, reductions over a warp, quads.

use super::{Nan, ops};

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

//! What passes ask about the IR's ops: result types, parts, successors.

use crate::ir::*;

impl Un {
    /// Type of the result for an operand type.
    pub fn result(self, operand: Ty) -> Ty {
        use Un::*;
        match self {
            FIsNan | FIsInf | IntToBool | BNot => Ty::Bool,
            FrexpExp | BitCount | FindLsb | FindUMsb | FindSMsb | BoolToInt | Lo32 | Hi32 => Ty::B32,
            F64ToF32 | F64ToS32 | F64ToU32 | F64ToF16 | S64ToF32 | U64ToF32 => Ty::B32,
            F32ToF64 | S32ToF64 | U32ToF64 | F32ToS64 | F32ToU64 | S32ToS64 | U32ToU64 => Ty::B64,
            F64ToS64 | F64ToU64 | S64ToF64 | U64ToF64 => Ty::B64,
            _ => operand,
        }
    }
    /// The only operand type the op has, or `None` when it comes in both widths.
    pub fn operand(self) -> Option<Ty> {
        use Un::*;
        Some(match self {
            BNot | BoolToInt => Ty::Bool,
            F64ToF32 | F64ToS32 | F64ToU32 | F64ToF16 | S64ToF32 | U64ToF32 | Lo32 | Hi32 => Ty::B64,
            F64ToS64 | F64ToU64 | S64ToF64 | U64ToF64 => Ty::B64,
            F32ToF64 | S32ToF64 | U32ToF64 | F32ToS64 | F32ToU64 | S32ToS64 | U32ToU64 => Ty::B32,
            F32ToS32 | F32ToU32 | S32ToF32 | U32ToF32 | IntToBool => Ty::B32,
            F16Round | F16RoundRtz | F16Quantize | F16ToBits | BitsToF16 => Ty::B32,
            SExt8 | SExt16 | ZExt8 | ZExt16 => Ty::B32,
            _ => return None,
        })
    }
}

impl Bin {
    /// Type of the result for the type of the first operand.
    pub fn result(self, operand: Ty) -> Ty {
        use Bin::*;
        match self {
            FEq | FNe | FLt | FLe | IEq | INe | SLt | SLe | ULt | ULe | BAnd | BOr | BXor => Ty::Bool,
            Pack64 => Ty::B64,
            _ => operand,
        }
    }
    pub fn is_commutative(self) -> bool {
        use Bin::*;
        matches!(
            self,
            FAdd | FMul
                | FMin
                | FMax
                | FEq
                | FNe
                | IAdd
                | IMul
                | UMulHi
                | SMulHi
                | And
                | Or
                | Xor
                | SMin
                | SMax
                | UMin
                | UMax
                | IEq
                | INe
                | BAnd
                | BOr
                | BXor
        )
    }
    /// The second operand is B32 whatever the first one is.
    pub fn has_count(self) -> bool {
        matches!(self, Bin::Shl | Bin::LShr | Bin::AShr | Bin::FLdexp)
    }
}

impl ImageInst {
    /// Parts of the result tuple, the residency code counted; 0 for writes and atomics (an atomic's result is no
    /// tuple but one value of the texel's width).
    pub fn parts(&self) -> u32 {
        let n = match self.op {
            ImageOp::Write | ImageOp::Atomic(_) => return 0,
            ImageOp::Sample if self.dref.is_some() => 1,
            ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read => 4,
            ImageOp::QueryLevels | ImageOp::QuerySamples => 1,
            ImageOp::QueryLod => 2,
            ImageOp::QuerySize => {
                let d = match self.dim {
                    Dim::D1 | Dim::Buffer => 1,
                    Dim::D2 | Dim::Cube | Dim::SubpassData => 2,
                    Dim::D3 => 3,
                };
                d + self.arrayed as u32
            }
        };
        n + self.sparse as u32
    }
}

impl Term {
    pub fn each_successor(&self, mut f: impl FnMut(Block)) {
        match *self {
            Term::Jump(b) => f(b),
            Term::Branch { yes, no, .. } => {
                f(yes);
                f(no);
            }
            Term::Return => {}
        }
    }
}

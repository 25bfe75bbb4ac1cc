//! What passes ask about the IR's ops: result types, operands, purity.

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

impl Place {
    pub fn each(&self, mut f: impl FnMut(Value)) {
        match *self {
            Place::Buffer { desc, addr } => {
                f(desc);
                f(addr);
            }
            Place::Global { addr }
            | Place::Shared { addr }
            | Place::Scratch { addr }
            | Place::Push { addr } => f(addr),
        }
    }
    pub fn each_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Place::Buffer { desc, addr } => {
                f(desc);
                f(addr);
            }
            Place::Global { addr }
            | Place::Shared { addr }
            | Place::Scratch { addr }
            | Place::Push { addr } => f(addr),
        }
    }
}

impl ImageInst {
    pub fn each(&self, f: &mut dyn FnMut(Value)) {
        f(self.image);
        let options = [self.sampler, self.dref, self.lod, self.bias, self.sample, self.min_lod];
        options.into_iter().flatten().for_each(&mut *f);
        for list in [&self.coords, &self.grad, &self.offsets, &self.data] {
            list.iter().for_each(|&v| f(v));
        }
    }
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        f(&mut self.image);
        let options = [
            &mut self.sampler,
            &mut self.dref,
            &mut self.lod,
            &mut self.bias,
            &mut self.sample,
            &mut self.min_lod,
        ];
        options.into_iter().flatten().for_each(&mut *f);
        for list in [&mut self.coords, &mut self.grad, &mut self.offsets, &mut self.data] {
            list.iter_mut().for_each(&mut *f);
        }
    }
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

impl Inst {
    /// Calls `f` for each operand (phi operands too).
    pub fn each(&self, f: &mut dyn FnMut(Value)) {
        match self {
            Inst::Const(_) | Inst::Input(_) | Inst::Barrier | Inst::MemoryBarrier | Inst::Clock | Inst::Demote => {}
            Inst::Un(_, a) | Inst::Part(a, _) | Inst::Ballot(a) | Inst::First(a) | Inst::Quad(_, a) => f(*a),
            Inst::Descriptor { index: a, .. }
            | Inst::BufferSize { desc: a }
            | Inst::Reduce { value: a, .. }
            | Inst::Output { value: a, .. } => f(*a),
            Inst::Bin(_, a, b) | Inst::Shuffle(a, b) => {
                f(*a);
                f(*b);
            }
            Inst::Tri(_, a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Inst::Phi(args) => args.iter().for_each(|a| f(a.1)),
            Inst::Load { place, .. } => place.each(f),
            Inst::Store { place, values, .. } => {
                place.each(&mut *f);
                values.iter().for_each(|&v| f(v));
            }
            Inst::Atomic { place, a, b, .. } => {
                place.each(&mut *f);
                f(*a);
                if let Some(b) = b {
                    f(*b);
                }
            }
            Inst::Image(i) => i.each(f),
        }
    }
    /// As [`Inst::each`], to change operands.
    pub fn each_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            Inst::Const(_) | Inst::Input(_) | Inst::Barrier | Inst::MemoryBarrier | Inst::Clock | Inst::Demote => {}
            Inst::Un(_, a) | Inst::Part(a, _) | Inst::Ballot(a) | Inst::First(a) | Inst::Quad(_, a) => f(a),
            Inst::Descriptor { index: a, .. }
            | Inst::BufferSize { desc: a }
            | Inst::Reduce { value: a, .. }
            | Inst::Output { value: a, .. } => f(a),
            Inst::Bin(_, a, b) | Inst::Shuffle(a, b) => {
                f(a);
                f(b);
            }
            Inst::Tri(_, a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Inst::Phi(args) => args.iter_mut().for_each(|a| f(&mut a.1)),
            Inst::Load { place, .. } => place.each_mut(f),
            Inst::Store { place, values, .. } => {
                place.each_mut(&mut *f);
                values.iter_mut().for_each(f);
            }
            Inst::Atomic { place, a, b, .. } => {
                place.each_mut(&mut *f);
                f(a);
                if let Some(b) = b {
                    f(b);
                }
            }
            Inst::Image(i) => i.each_mut(f),
        }
    }
    /// No side effect, and no result that depends on anything but the operands.
    pub fn is_pure(&self) -> bool {
        matches!(
            self,
            Inst::Const(_)
                | Inst::Input(_)
                | Inst::Un(..)
                | Inst::Bin(..)
                | Inst::Tri(..)
                | Inst::Part(..)
                | Inst::Descriptor { .. }
                | Inst::BufferSize { .. }
        )
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

//! Functions that instructions call: OpFunctionCall's, and those that the instructions of cooperative matrices call for each element.

use super::{Code, MemoryAccess, Op};
use crate::options::Result;

/// The function that an instruction calls.
pub(crate) struct Callee {
    pub id: u32,
    /// Parameters before those that operands are for.
    pub own: usize,
    /// The word of the first such operand.
    pub first: usize,
}

/// The operands of OpCooperativeMatrixLoadTensorNV and OpCooperativeMatrixStoreTensorNV that are there if masks say so.
pub(crate) struct TensorOperands {
    pub volatile: bool,
    pub view: Option<u32>,
    pub decode: Option<u32>,
}

/// Bits of Tensor Addressing Operands.
const TENSOR_VIEW: u32 = 1;
const DECODE_FUNCTION: u32 = 2;

impl Code<'_> {
    pub fn callee(&self) -> Option<Callee> {
        Some(match self.op {
            Op::FunctionCall => Callee { id: self.get(3)?, own: 0, first: 4 },
            Op::CooperativeMatrixPerElementOpNV => Callee { id: self.get(4)?, own: 3, first: 5 },
            Op::CooperativeMatrixReduceNV => Callee { id: self.get(5)?, own: 2, first: self.len() },
            Op::CooperativeMatrixLoadTensorNV => {
                let id = self.tensor_operands(6).ok()?.decode?;
                Callee { id, own: 3, first: self.len() }
            }
            _ => return None,
        })
    }

    /// The operands whose masks begin at word `w`.
    pub fn tensor_operands(&self, w: usize) -> Result<TensorOperands> {
        let memory = self.word(w)?;
        let has = |bits: MemoryAccess| memory & bits.bits() != 0;
        // Those that an operand follows.
        let more = [
            MemoryAccess::ALIGNED,
            MemoryAccess::MAKE_POINTER_AVAILABLE,
            MemoryAccess::MAKE_POINTER_VISIBLE,
            MemoryAccess::ALIAS_SCOPE_INTEL_MASK,
            MemoryAccess::NO_ALIAS_INTEL_MASK,
        ];
        let at = w + 1 + more.into_iter().filter(|m| has(*m)).count();
        let mask = self.word(at)?;
        if mask & !(TENSOR_VIEW | DECODE_FUNCTION) != 0 {
            return Err(self.bad("unknown tensor addressing operands"));
        }
        let mut next = at;
        let mut operand = |bit: u32| {
            (mask & bit != 0).then(|| {
                next += 1;
                self.word(next)
            })
        };
        let (view, decode) = (operand(TENSOR_VIEW).transpose()?, operand(DECODE_FUNCTION).transpose()?);
        Ok(TensorOperands { volatile: has(MemoryAccess::VOLATILE), view, decode })
    }
}

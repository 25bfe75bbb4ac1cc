//! Constants, with specialisation.

use super::Builder;
use super::types::{MAX_SCALARS, Sk, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Scalars of a null constant (or undef) that is spelled out; larger ones cannot be used as values.
const NULL_SCALARS: u32 = 1 << 14;

impl<'m> Builder<'m> {
    pub(crate) fn declare_constant(&mut self, i: Code<'m>) -> Result<()> {
        let (ty, id) = self.result(&i)?;
        let start = self.pool.len();
        match i.op {
            Op::ConstantTrue => self.bool_constant(&i, ty, true)?,
            Op::ConstantFalse => self.bool_constant(&i, ty, false)?,
            Op::SpecConstantTrue | Op::SpecConstantFalse => {
                let default = i.op == Op::SpecConstantTrue;
                let v = self.specialised(id).map_or(default, |s| s as u32 != 0);
                self.bool_constant(&i, ty, v)?;
            }
            Op::Constant | Op::SpecConstant => {
                let TypeClass::Scalar(s, signed) = self.types.kind(ty) else {
                    return Err(i.bad("the type is no scalar"));
                };
                let wide = s.ty() == Ty::B64;
                if s == Sk::Bool || i.len() != 4 + wide as usize {
                    return Err(i.bad("the literal does not fit the type"));
                }
                let literal = i.word(3)? as u64 | if wide { (i.word(4)? as u64) << 32 } else { 0 };
                let bits =
                    if i.op == Op::SpecConstant { self.specialised(id).unwrap_or(literal) } else { literal };
                let v = self.scalar_constant(s, bits);
                let _ = signed;
                self.pool.push(v);
            }
            Op::ConstantSizeOfEXT => {
                let TypeClass::Scalar(s @ (Sk::I32 | Sk::I64), _) = self.types.kind(ty) else {
                    return Err(i.bad("the type is no integer"));
                };
                let of = self.types.of(i.word(3)?, i.at)?;
                if !self.types.in_heaps(of) {
                    return Err(i.bad("the size of what is no descriptor"));
                }
                let v = self.e.constant(s.ty(), self.types.get(of).size.into());
                self.pool.push(v);
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let n = self.parts_of(ty).ok_or_else(|| i.bad("the type is no composite"))?;
                if self.is_filled(ty) && i.len() == 4 {
                    (0..n).try_for_each(|k| self.constituent(&i, ty, k, i.word(3)?))?;
                    return self.define_checked(&i, start);
                }
                if i.len() - 3 != n as usize {
                    return Err(i.bad("the wrong number of constituents"));
                }
                for (k, &c) in i.rest(3).iter().enumerate() {
                    self.constituent(&i, ty, k as u32, c)?;
                }
                return self.define_checked(&i, start);
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let n = self.parts_of(ty).ok_or_else(|| i.bad("the type is no composite"))?;
                if self.types.get(ty).scalars > MAX_SCALARS {
                    return Err(i.bad("too many scalars"));
                }
                if self.types.get(ty).scalars == 0 {
                    self.constituent(&i, ty, 0, i.word(3)?)?;
                    return self.define_checked(&i, start);
                }
                for k in 0..n {
                    self.constituent(&i, ty, k, i.word(3)?)?;
                }
                return self.define_checked(&i, start);
            }
            Op::ConstantNull | Op::Undef => return self.null(ty, id),
            _ => return self.spec_op(i),
        }
        self.define(id, ty, start);
        Ok(())
    }

    /// The value of a constant that a decoration names, which may come later than what is decorated.
    pub(crate) fn constant_ahead(&mut self, id: u32, at: usize) -> Result<u32> {
        if let Some(place) = self.m.def_at(id)
            && self.ids.get(id as usize).is_some_and(|s| s.ty == 0)
        {
            let i = self.m.inst(place);
            if matches!(i.op, Op::Constant | Op::SpecConstant | Op::ConstantSizeOfEXT) {
                self.declare_constant(i)?;
            }
        }
        self.const_u32(id, at)
    }

    fn bool_constant(&mut self, i: &Code, ty: u32, x: bool) -> Result<()> {
        if self.types.kind(ty) != TypeClass::Scalar(Sk::Bool, false) {
            return Err(i.bad("the type is not bool"));
        }
        let v = self.e.bool(x);
        self.pool.push(v);
        Ok(())
    }

    /// A constant from its SPIR-V bits, in the register's form.
    pub(crate) fn scalar_constant(&mut self, s: Sk, bits: u64) -> Value {
        let bits = match s {
            Sk::Bool => (bits != 0) as u64,
            Sk::I8 => bits & 0xFF,
            Sk::I16 => bits & 0xFFFF,
            s if s.is_small() => {
                let v = self.e.u32(bits as u32 & ((1 << s.bits()) - 1));
                return self.e.of_small_bits(s, v);
            }
            Sk::F16 => half::f16::from_bits(bits as u16).to_f32().to_bits() as u64,
            _ => bits,
        };
        self.e.constant(s.ty(), bits)
    }

    /// The pipeline's value for a specialisation constant.
    fn specialised(&self, id: u32) -> Option<u64> {
        let spec = self.m.decoration(id, Decoration::SpecId)?;
        self.spec.get(&spec).copied()
    }

    /// Components that OpConstantComposite or OpCompositeConstruct lists for the type.
    pub(crate) fn parts_of(&self, ty: u32) -> Option<u32> {
        match self.types.kind(ty) {
            TypeClass::Vector(_, n)
            | TypeClass::Matrix(_, n)
            | TypeClass::Array(_, n)
            | TypeClass::Struct(_, n) => Some(n),
            TypeClass::Cooperative(..) => Some(self.types.get(ty).scalars),
            _ => None,
        }
    }

    /// The type's parts are one constituent, repeated: of cooperative matrices, which are made of one element.
    pub(crate) fn is_filled(&self, ty: u32) -> bool {
        matches!(self.types.kind(ty), TypeClass::Cooperative(..))
    }

    fn constituent(&mut self, i: &Code, ty: u32, k: u32, c: u32) -> Result<()> {
        let (want, _) = self.types.component(ty, k).ok_or_else(|| i.bad("too many constituents"))?;
        let (have, from, len) = self.value(c, i.at)?;
        if !self.types.same_shape(want, have) || len != self.types.get(want).scalars as usize {
            return Err(i.bad("a constituent of the wrong type"));
        }
        self.pool.extend_from_within(from..from + len);
        self.check_size()
    }

    /// All zero.
    pub(crate) fn null(&mut self, ty: u32, id: u32) -> Result<()> {
        let t = *self.types.get(ty);
        // Types without a value (and huge ones) stay undefined: only initialisers may name them.
        if t.scalars == 0 && !matches!(t.kind, TypeClass::Struct(_, 0)) || t.scalars > NULL_SCALARS {
            return Ok(());
        }
        self.check_size()?;
        let start = self.pool.len();
        let mut kinds = Vec::new();
        self.types.flatten(ty, &mut kinds)?;
        for s in kinds {
            let v = self.e.constant(s.ty(), 0);
            self.pool.push(v);
        }
        self.define(id, ty, start);
        Ok(())
    }

    /// OpSpecConstantOp: the same translation as the instruction's, on constants, so it folds.
    fn spec_op(&mut self, i: Code<'m>) -> Result<()> {
        let op = i.word(3)?;
        let op =
            Op::from_u32(op).filter(|&op| op != Op::SpecConstantOp).ok_or_else(|| i.bad("bad opcode"))?;
        let allowed = matches!(
            op,
            Op::SConvert
                | Op::UConvert
                | Op::FConvert
                | Op::SNegate
                | Op::FNegate
                | Op::Not
                | Op::IAdd
                | Op::ISub
                | Op::IMul
                | Op::UDiv
                | Op::SDiv
                | Op::UMod
                | Op::SRem
                | Op::SMod
                | Op::ShiftRightLogical
                | Op::ShiftRightArithmetic
                | Op::ShiftLeftLogical
                | Op::BitwiseOr
                | Op::BitwiseXor
                | Op::BitwiseAnd
                | Op::VectorShuffle
                | Op::CompositeExtract
                | Op::CompositeInsert
                | Op::LogicalOr
                | Op::LogicalAnd
                | Op::LogicalNot
                | Op::LogicalEqual
                | Op::LogicalNotEqual
                | Op::Select
                | Op::IEqual
                | Op::INotEqual
                | Op::ULessThan
                | Op::SLessThan
                | Op::UGreaterThan
                | Op::SGreaterThan
                | Op::ULessThanEqual
                | Op::SLessThanEqual
                | Op::UGreaterThanEqual
                | Op::SGreaterThanEqual
                | Op::QuantizeToF16
                | Op::FAdd
                | Op::FSub
                | Op::FMul
                | Op::FDiv
                | Op::FRem
                | Op::FMod
                | Op::ConvertFToS
                | Op::ConvertSToF
                | Op::ConvertFToU
                | Op::ConvertUToF
                | Op::Bitcast
                | Op::CopyLogical
        );
        if !allowed {
            return Err(i.bad(format!("{op:?} is not allowed")));
        }
        // The same words without the opcode's own.
        let mut w = Vec::with_capacity(i.len() - 1);
        w.extend_from_slice(&i.w[..3]);
        w.extend_from_slice(i.rest(4));
        let saved = std::mem::replace(&mut self.e.to_prelude, true);
        let r = self.folded(Code { op, w: &w, at: i.at });
        self.e.to_prelude = saved;
        r
    }
}

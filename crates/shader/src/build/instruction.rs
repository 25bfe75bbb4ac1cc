//! One instruction to its group.

use super::Builder;
use super::access::{Base, Chain};
use super::float::{is_float_group, is_float_instruction};
use super::types::{Sk, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

const SCOPE_WORKGROUP: u32 = 2;

impl<'m> Builder<'m> {
    /// Translates one instruction of a block (no terminator, call or phi).
    pub(crate) fn instruction(&mut self, i: Code<'m>) -> Result<()> {
        let first = self.e.values.len();
        self.one_instruction(i)?;
        if self.opt.sanitize {
            self.shares(&i, first);
        }
        Ok(())
    }

    fn one_instruction(&mut self, i: Code<'m>) -> Result<()> {
        match i.op {
            Op::Load => return self.op_load(i),
            Op::Store => return self.op_store(i),
            op if Chain::of(op).is_some() => return self.access_chain(i),
            Op::Variable => return self.local_variable(i),
            Op::BufferPointerEXT => return self.buffer_pointer(&i),
            Op::ExtInst => return self.extended(i),
            Op::Nop
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::AssumeTrueKHR
            | Op::NoLine
            | Op::Name
            | Op::MemberName => return Ok(()),
            Op::Undef => {
                let (ty, id) = self.result(&i)?;
                return self.null(ty, id);
            }
            Op::CopyMemory => return self.op_copy_memory(i),
            Op::CopyMemorySized => return self.op_copy_memory_sized(i),
            Op::ControlBarrier => {
                let scope = self.const_u32(i.word(1)?, i.at)?;
                if (scope <= SCOPE_WORKGROUP || scope == 5) && self.opt.stage.has_workgroups() {
                    let order = self.order(i.word(2)?, i.word(3)?);
                    self.e.push_order(Inst::Barrier, Ty::Void, order);
                } else {
                    let order = self.order(i.word(2)?, i.word(3)?);
                    self.e.push_order(Inst::MemoryBarrier, Ty::Void, order);
                }
                return Ok(());
            }
            Op::MemoryBarrier => {
                let order = self.order(i.word(1)?, i.word(2)?);
                self.e.push_order(Inst::MemoryBarrier, Ty::Void, order);
                return Ok(());
            }
            // Fragments that overlap run one after the other (`Interface::pixel_interlock`); memory is in that order.
            Op::BeginInvocationInterlockEXT | Op::EndInvocationInterlockEXT => {
                self.e.push(Inst::MemoryBarrier, Ty::Void);
                return Ok(());
            }
            Op::ArrayLength | Op::UntypedArrayLengthKHR => return self.array_length(&i),
            Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => return self.pointer_compare(&i),
            Op::ReadClockKHR => return self.clock(&i),
            Op::DemoteToHelperInvocation => {
                if self.opt.stage != Stage::Fragment {
                    return Err(i.bad("not in a fragment shader"));
                }
                self.e.push(Inst::Demote, Ty::Void);
                return Ok(());
            }
            Op::IsHelperInvocationEXT => {
                let v = if self.opt.stage == Stage::Fragment {
                    self.e.push(Inst::IsHelper, Ty::Bool)
                } else {
                    self.e.bool(false)
                };
                return self.define_list(&i, &[v]);
            }
            _ => {}
        }
        let done = self.folded_op(&i)?
            || self.derivative(&i)?
            || self.dot_product(&i)?
            || self.atomic(&i)?
            || self.image(&i)?
            || self.cooperative_op(&i)?
            || self.cooperative_vector_op(&i)?
            || self.tensor_op(&i)?
            || self.addressing_op(&i)?
            || self.ray_query(&i)?
            || self.trace(&i)?
            || self.hit_object(&i)?
            || self.emission_op(&i)?
            || self.set_mesh_outputs(&i)?
            || self.subgroup(&i)?;
        if !done {
            return Err(unsupported(format!("{:?}", i.op)));
        }
        if is_float_group(i.op) {
            self.flush_result(&i)?;
        }
        Ok(())
    }

    /// Groups that specialisation constants may use too.
    fn folded_op(&mut self, i: &Code) -> Result<bool> {
        let done = self.arithmetic(i)?
            || self.composite(i)?
            || self.bit_op(i)?
            || self.conversion(i)?
            || self.matrix_op(i)?;
        if done && is_float_instruction(i.op) {
            self.flush_result(i)?;
        }
        Ok(done)
    }
    pub(crate) fn folded(&mut self, i: Code) -> Result<()> {
        if !self.folded_op(&i)? {
            return Err(unsupported(format!("{:?} on constants", i.op)));
        }
        Ok(())
    }

    fn extended(&mut self, i: Code<'m>) -> Result<()> {
        let set = i.word(3)?;
        match self.m.ext_set(set) {
            Some(ExtSet::Glsl450) => self.glsl(&i),
            Some(ExtSet::ShaderDebugInfo) => {
                if self.debug_instruction(&i) {
                    self.note_line();
                }
                Ok(())
            }
            Some(ExtSet::NonSemantic) => Ok(()),
            Some(ExtSet::Marks) => self.mark(&i),
            Some(ExtSet::Tosa | ExtSet::Unknown) => Err(unsupported("an extended instruction set")),
            None => Err(i.bad(format!("id {set} is no extended instruction set"))),
        }
    }

    /// A basic block of the application's begins.
    fn mark(&mut self, i: &Code) -> Result<()> {
        let (_, at, _) = self.value(i.word(5)?, i.at)?;
        let index = self.e.as_const(self.pool[at]).ok_or_else(|| i.bad("a mark without a constant"))?;
        self.e.push(Inst::Mark(index as u32), Ty::Void);
        self.mark = Some(index as u32);
        Ok(())
    }

    fn array_length(&mut self, i: &Code) -> Result<()> {
        let untyped = i.op == Op::UntypedArrayLengthKHR;
        let at = 3 + untyped as usize;
        let mut p = self.pointer(i.word(at)?, i.at)?;
        if untyped {
            let ty = self.types.of(i.word(3)?, i.at)?;
            self.see_as(&mut p, ty, i.at)?;
        }
        let Base::Buffer(desc) = p.base else { return Err(i.bad("not a storage buffer")) };
        let m = self.types.member(p.ty, i.word(at + 1)?).ok_or_else(|| i.bad("no such member"))?;
        let TypeClass::Runtime(e) = self.types.kind(m.ty) else {
            return Err(i.bad("the member is no runtime array"));
        };
        let stride = self.array_stride(m.ty, e, true);
        if stride == 0 {
            return Err(i.bad("elements without a size"));
        }
        let size = self.e.push(Inst::BufferSize { desc }, Ty::B32);
        let base = self.whole_addr(&p);
        let k = self.e.u32(m.offset.unwrap_or(m.own_offset));
        let first = self.e.add(base, k);
        let size = self.e.bin(Bin::UMax, size, first);
        let bytes = self.e.bin(Bin::ISub, size, first);
        let k = self.e.u32(stride);
        let n = self.e.bin(Bin::UDiv, bytes, k);
        self.define_list(i, &[n])
    }

    fn pointer_compare(&mut self, i: &Code) -> Result<()> {
        let (ty, a, na) = self.value(i.word(3)?, i.at)?;
        let (_, b, nb) = self.value(i.word(4)?, i.at)?;
        if na != nb || na == 0 {
            return Err(i.bad("pointers of different kinds"));
        }
        for k in 0..na {
            if self.e.ty(self.pool[a + k]) != self.e.ty(self.pool[b + k]) {
                return Err(i.bad("pointers of different kinds"));
            }
        }
        if i.op == Op::PtrDiff {
            let (x, y) = (self.pool[a + na - 1], self.pool[b + nb - 1]);
            let d = self.e.bin(Bin::ISub, x, y);
            let TypeClass::Pointer(_, pointee) = self.types.kind(ty) else {
                return Err(i.bad("not pointers"));
            };
            // Without types the elements are bytes (SPV_KHR_untyped_pointers).
            let stride = match (pointee, self.types.get(ty).stride) {
                (0, _) => 1,
                (_, 0) => {
                    let elem = self.types.of(pointee, i.at)?;
                    self.types.get(elem).size.max(1)
                }
                (_, s) => s,
            };
            let k = self.e.int(self.e.ty(d), stride as i64);
            let q = self.e.bin(Bin::SDiv, d, k);
            let from = if self.e.ty(q) == Ty::B64 { Sk::I64 } else { Sk::I32 };
            let (_, _, to) = self.result_kind(i, super::arith::Class::Int, 1)?;
            let v = self.e.int_to_int(from, to, q, true);
            return self.define_list(i, &[v]);
        }
        let mut same = self.e.bool(true);
        for k in 0..na {
            let eq = self.e.bin(Bin::IEq, self.pool[a + k], self.pool[b + k]);
            same = self.e.bin(Bin::BAnd, same, eq);
        }
        let v = if i.op == Op::PtrEqual { same } else { self.e.un(Un::BNot, same) };
        self.define_list(i, &[v])
    }

    fn clock(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let v = self.e.push(Inst::Clock, Ty::B64);
        if self.types.get(ty).scalars == 2 {
            let (lo, hi) = (self.e.un(Un::Lo32, v), self.e.un(Un::Hi32, v));
            return self.define_list(i, &[lo, hi]);
        }
        self.define_list(i, &[v])
    }
}

//! Hit objects (SPV_EXT_shader_invocation_reorder). Like a ray query, a hit object is a number; what runs the pipeline keeps the rest.

use super::Builder;
use super::trace::RAY;
use super::types::TypeClass;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// What an instruction asks of a hit object: the first of its numbers in [`ray_input`], how many there are, and whether it is a Boolean.
fn asked(op: Op) -> Option<(u8, u8, bool)> {
    use ray_input as at;
    Some(match op {
        Op::HitObjectIsEmptyEXT => (at::IS_EMPTY, 1, true),
        Op::HitObjectIsHitEXT => (at::IS_HIT, 1, true),
        Op::HitObjectIsMissEXT => (at::IS_MISS, 1, true),
        Op::HitObjectGetRayTMinEXT => (at::T_MIN, 1, false),
        Op::HitObjectGetRayTMaxEXT => (at::T_MAX, 1, false),
        Op::HitObjectGetRayFlagsEXT => (at::RAY_FLAGS, 1, false),
        Op::HitObjectGetObjectRayOriginEXT => (at::OBJECT_ORIGIN, 3, false),
        Op::HitObjectGetObjectRayDirectionEXT => (at::OBJECT_DIRECTION, 3, false),
        Op::HitObjectGetWorldRayOriginEXT => (at::WORLD_ORIGIN, 3, false),
        Op::HitObjectGetWorldRayDirectionEXT => (at::WORLD_DIRECTION, 3, false),
        Op::HitObjectGetObjectToWorldEXT => (at::OBJECT_TO_WORLD, 12, false),
        Op::HitObjectGetWorldToObjectEXT => (at::WORLD_TO_OBJECT, 12, false),
        Op::HitObjectGetIntersectionTriangleVertexPositionsEXT => (at::POSITIONS, 9, false),
        Op::HitObjectGetInstanceCustomIndexEXT => (at::CUSTOM_INDEX, 1, false),
        Op::HitObjectGetInstanceIdEXT => (at::INSTANCE_ID, 1, false),
        Op::HitObjectGetGeometryIndexEXT => (at::GEOMETRY_INDEX, 1, false),
        Op::HitObjectGetPrimitiveIndexEXT => (at::PRIMITIVE_ID, 1, false),
        Op::HitObjectGetHitKindEXT => (at::HIT_KIND, 1, false),
        Op::HitObjectGetShaderBindingTableRecordIndexEXT => (at::RECORD_INDEX, 1, false),
        Op::HitObjectGetShaderRecordBufferHandleEXT => (at::RECORD, 2, false),
        _ => return None,
    })
}

impl<'m> Builder<'m> {
    fn object(&mut self, i: &Code<'m>, w: usize) -> Result<Value> {
        self.numbered(i, w, TypeClass::HitObject)
    }

    /// The optional hint and its number of bits, from word `w` on; 0 of 0.
    fn hint(&mut self, i: &Code<'m>, w: usize) -> Result<[Value; 2]> {
        if i.len() <= w {
            return Ok([self.e.u32(0); 2]);
        }
        Ok([self.int32(i.word(w)?, i.at)?, self.int32(i.word(w + 1)?, i.at)?])
    }

    pub(crate) fn hit_object(&mut self, i: &Code<'m>) -> Result<bool> {
        match i.op {
            Op::HitObjectTraceRayEXT | Op::HitObjectTraceReorderExecuteEXT => {
                let object = self.object(i, 1)?;
                let data = self.shared_words(i, 12)?;
                let mut args = self.ray_operands(i, 2, &RAY)?;
                if self.e.ty(args[0]) != Ty::B64 || args[1..].iter().any(|v| self.e.ty(*v) != Ty::B32) {
                    return Err(i.bad("an operand of a ray has another type"));
                }
                args.insert(1, object);
                self.trace_op(TraceOp::HitTrace, args, data);
                if i.op == Op::HitObjectTraceReorderExecuteEXT {
                    let [hint, bits] = self.hint(i, 13)?;
                    self.trace_op(TraceOp::Reorder, vec![object, hint, bits], [0; 2]);
                    let deeper = self.e.u32(1);
                    self.trace_op(TraceOp::HitExecute, vec![object, deeper], data);
                }
            }
            Op::HitObjectExecuteShaderEXT | Op::HitObjectReorderExecuteShaderEXT => {
                let object = self.object(i, 1)?;
                let data = self.shared_words(i, 2)?;
                if i.op == Op::HitObjectReorderExecuteShaderEXT {
                    let [hint, bits] = self.hint(i, 3)?;
                    self.trace_op(TraceOp::Reorder, vec![object, hint, bits], [0; 2]);
                }
                let deeper = self.e.u32(0);
                self.trace_op(TraceOp::HitExecute, vec![object, deeper], data);
            }
            Op::ReorderThreadWithHitObjectEXT => {
                let object = self.object(i, 1)?;
                let [hint, bits] = self.hint(i, 2)?;
                self.trace_op(TraceOp::Reorder, vec![object, hint, bits], [0; 2]);
            }
            Op::ReorderThreadWithHintEXT => {
                let none = self.e.u32(TraceOp::NO_OBJECT);
                let [hint, bits] = self.hint(i, 1)?;
                self.trace_op(TraceOp::Reorder, vec![none, hint, bits], [0; 2]);
            }
            Op::HitObjectRecordMissEXT => {
                let mut args = vec![self.object(i, 1)?];
                args.extend(self.ray_operands(i, 2, &[1, 1, 3, 1, 3, 1])?);
                if args.iter().any(|v| self.e.ty(*v) != Ty::B32) {
                    return Err(i.bad("an operand of a ray has another type"));
                }
                self.trace_op(TraceOp::HitMiss, args, [0; 2]);
            }
            Op::HitObjectRecordFromQueryEXT => {
                let (object, query) = (self.object(i, 1)?, self.open_query(i, 2)?);
                let index = self.int32(i.word(3)?, i.at)?;
                let data = self.shared_words(i, 4)?;
                let kind = if i.len() > 5 { self.int32(i.word(5)?, i.at)? } else { self.e.u32(0) };
                self.trace_op(TraceOp::HitQuery, vec![object, query, index, kind], data);
            }
            Op::HitObjectRecordEmptyEXT => {
                let object = self.object(i, 1)?;
                self.trace_op(TraceOp::HitEmpty, vec![object], [0; 2]);
            }
            Op::HitObjectSetShaderBindingTableRecordIndexEXT => {
                let object = self.object(i, 1)?;
                let index = self.int32(i.word(2)?, i.at)?;
                self.trace_op(TraceOp::HitRecord, vec![object, index], [0; 2]);
            }
            Op::HitObjectGetAttributesEXT => {
                let object = self.object(i, 1)?;
                let data = self.shared_words(i, 2)?;
                self.trace_op(TraceOp::HitAttributes, vec![object], data);
            }
            op => {
                let Some((first, n, boolean)) = asked(op) else { return Ok(false) };
                let object = self.object(i, 3)?;
                let mut parts = vec![];
                for k in 0..n {
                    let number = self.e.u32((first + k).into());
                    let got = self.trace_op(TraceOp::HitGet, vec![object, number], [0; 2]);
                    parts.push(if boolean { self.int_to_bool(got) } else { got });
                }
                self.define_list(i, &parts)?;
            }
        }
        Ok(true)
    }
}

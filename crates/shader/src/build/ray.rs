//! Acceleration structures and ray queries. A query is a number: each variable of a ray query's type has places of its own among
//! [`Shader::queries`], and so have hit objects.

use super::Builder;
use super::access::Base;
use super::types::TypeClass;
use crate::bytecode::MOST_QUERIES;
use crate::ir::*;
use crate::options::{Error, Result};
use crate::spirv::*;

/// What an instruction asks of a query; true: the operand that says which intersection is there.
fn attribute(op: Op) -> Option<(RayAttribute, bool)> {
    use RayAttribute::*;
    Some(match op {
        Op::RayQueryGetIntersectionTypeKHR => (Type, true),
        Op::RayQueryGetIntersectionTKHR => (T, true),
        Op::RayQueryGetIntersectionInstanceCustomIndexKHR => (InstanceCustomIndex, true),
        Op::RayQueryGetIntersectionInstanceIdKHR => (InstanceId, true),
        Op::RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR => {
            (ShaderBindingTableRecordOffset, true)
        }
        Op::RayQueryGetIntersectionGeometryIndexKHR => (GeometryIndex, true),
        Op::RayQueryGetIntersectionPrimitiveIndexKHR => (PrimitiveIndex, true),
        Op::RayQueryGetIntersectionBarycentricsKHR => (Barycentrics, true),
        Op::RayQueryGetIntersectionFrontFaceKHR => (FrontFace, true),
        Op::RayQueryGetIntersectionCandidateAABBOpaqueKHR => (CandidateAABBOpaque, false),
        Op::RayQueryGetIntersectionObjectRayDirectionKHR => (ObjectRayDirection, true),
        Op::RayQueryGetIntersectionObjectRayOriginKHR => (ObjectRayOrigin, true),
        Op::RayQueryGetIntersectionObjectToWorldKHR => (ObjectToWorld, true),
        Op::RayQueryGetIntersectionWorldToObjectKHR => (WorldToObject, true),
        Op::RayQueryGetIntersectionTriangleVertexPositionsKHR => (VertexPositions, true),
        Op::RayQueryGetRayTMinKHR => (RayTMin, false),
        Op::RayQueryGetRayFlagsKHR => (RayFlags, false),
        Op::RayQueryGetWorldRayDirectionKHR => (WorldRayDirection, false),
        Op::RayQueryGetWorldRayOriginKHR => (WorldRayOrigin, false),
        _ => return None,
    })
}

impl<'m> Builder<'m> {
    /// Whether variables of this type are ray queries or hit objects: one, or an array of them; how many.
    pub(crate) fn queries_of(&self, ty: u32) -> Option<u32> {
        match self.types.kind(ty) {
            TypeClass::RayQuery | TypeClass::HitObject => Some(1),
            TypeClass::Array(e, n) => self.queries_of(e)?.checked_mul(n),
            _ => None,
        }
    }

    /// The first of the places of a variable's `n` queries. Calls don't recur, so one place for each variable is enough.
    pub(crate) fn place_queries(&mut self, id: u32, n: u32) -> Result<u32> {
        if let Some(&first) = self.queries_at.get(&id) {
            return Ok(first);
        }
        let first = self.queries;
        self.queries = first.saturating_add(n);
        if self.queries > MOST_QUERIES {
            return Err(Error::TooLarge(format!("{} ray queries", self.queries)));
        }
        self.queries_at.insert(id, first);
        Ok(first)
    }

    pub(crate) fn ray_query(&mut self, i: &Code<'m>) -> Result<bool> {
        match i.op {
            Op::ConvertUToAccelerationStructureKHR => {
                let (_, start, len) = self.value(i.word(3)?, i.at)?;
                let word = self.pool[start];
                let address = match (len, self.e.ty(word)) {
                    (1, Ty::B64) => word,
                    (2, Ty::B32) => self.e.bin(Bin::Pack64, word, self.pool[start + 1]),
                    _ => return Err(i.bad("no address")),
                };
                self.define_list(i, &[address])?;
            }
            Op::RayQueryInitializeKHR => {
                let query = self.open_query(i, 1)?;
                let mut args = Vec::with_capacity(RayOp::BEGIN_OPERANDS);
                for (word, n) in [(2, 1), (3, 1), (4, 1), (5, 3), (6, 1), (7, 3), (8, 1)] {
                    let (_, start, len) = self.value(i.word(word)?, i.at)?;
                    if len != n {
                        return Err(i.bad("an operand of a ray has another number of components"));
                    }
                    args.extend_from_slice(&self.pool[start..start + n]);
                }
                let wide = |v: &Value| self.e.ty(*v) == Ty::B64;
                if !wide(&args[0]) || args[1..].iter().any(|v| self.e.ty(*v) != Ty::B32) {
                    return Err(i.bad("an operand of a ray has another type"));
                }
                self.e.push(Inst::Ray { op: RayOp::Begin, query, args }, Ty::Void);
            }
            Op::RayQueryProceedKHR => {
                let query = self.open_query(i, 3)?;
                let more = self.e.push(Inst::Ray { op: RayOp::Proceed, query, args: vec![] }, Ty::B32);
                let more = self.int_to_bool(more);
                self.define_list(i, &[more])?;
            }
            Op::RayQueryTerminateKHR | Op::RayQueryConfirmIntersectionKHR => {
                let op = if i.op == Op::RayQueryTerminateKHR { RayOp::Terminate } else { RayOp::Confirm };
                let query = self.open_query(i, 1)?;
                self.e.push(Inst::Ray { op, query, args: vec![] }, Ty::Void);
            }
            Op::RayQueryGenerateIntersectionKHR => {
                let query = self.open_query(i, 1)?;
                let (_, start, len) = self.value(i.word(2)?, i.at)?;
                let t = self.pool[start];
                if len != 1 || self.e.ty(t) != Ty::B32 {
                    return Err(i.bad("the distance of a hit is no 32-bit number"));
                }
                self.e.push(Inst::Ray { op: RayOp::Generate, query, args: vec![t] }, Ty::Void);
            }
            op => {
                let Some((attribute, of_intersection)) = attribute(op) else { return Ok(false) };
                let query = self.open_query(i, 3)?;
                let mut which = Intersection::Candidate;
                if of_intersection && self.const_u32(i.word(4)?, i.at)? != 0 {
                    which = Intersection::Committed;
                }
                let op = RayOp::Get(attribute, which);
                let got = self.e.push(Inst::Ray { op, query, args: vec![] }, op.ty());
                let n = attribute.components();
                let mut parts: Vec<Value> = match n {
                    1 => vec![got],
                    _ => (0..n).map(|k| self.e.part(got, k, Ty::B32)).collect(),
                };
                if matches!(attribute, RayAttribute::FrontFace | RayAttribute::CandidateAABBOpaque) {
                    parts[0] = self.int_to_bool(got);
                }
                self.define_list(i, &parts)?;
            }
        }
        Ok(true)
    }

    /// The number of the query that word `w` points at.
    pub(super) fn open_query(&mut self, i: &Code<'m>, w: usize) -> Result<Value> {
        self.numbered(i, w, TypeClass::RayQuery)
    }

    /// The number of the variable of this type that word `w` points at.
    pub(super) fn numbered(&mut self, i: &Code<'m>, w: usize, kind: TypeClass) -> Result<Value> {
        let p = self.pointer(i.word(w)?, i.at)?;
        if p.base != Base::Query || self.types.kind(p.ty) != kind {
            return Err(i.bad("not a ray query or hit object"));
        }
        Ok(self.whole_addr(&p))
    }

    /// The acceleration structure that a descriptor names.
    pub(crate) fn structure(&mut self, desc: Value) -> Value {
        self.e.push(Inst::Structure { desc }, Ty::B64)
    }
}

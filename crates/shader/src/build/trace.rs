//! Shaders of ray tracing pipelines: their variables, their built-ins, and what they ask of the pipeline.
//!
//! Payloads, hit attributes and callable data are private words, the first that a lane has ([`RayIo`]): what runs the pipeline copies them
//! from one shader's to another's.

use super::Builder;
use super::access::{Base, Pointer};
use super::types::TypeClass;
use crate::ir::*;
use crate::options::{Error, Result};
use crate::spirv::*;
use crate::stage_io::RayIo;

/// Components of the operands that are a ray: structure, flags, cull mask, offset, stride, miss index, origin, T min, direction, T max.
pub(super) const RAY: [usize; 10] = [1, 1, 1, 1, 1, 1, 3, 1, 3, 1];

/// Words of a lane that payloads and the like take in all.
const MAX_WORDS: u32 = 1 << 14;

/// Variables that other shaders of the pipeline see.
fn is_shared(class: StorageClass) -> bool {
    matches!(
        class,
        StorageClass::RayPayloadKHR
            | StorageClass::IncomingRayPayloadKHR
            | StorageClass::HitAttributeKHR
            | StorageClass::HitObjectAttributeEXT
            | StorageClass::CallableDataKHR
            | StorageClass::IncomingCallableDataKHR
    )
}

impl<'m> Builder<'m> {
    /// Gives the variables that other shaders see their places, before any other has one.
    pub(crate) fn place_ray_variables(&mut self) -> Result<()> {
        if !self.opt.stage.is_ray_tracing() {
            return Ok(());
        }
        let mut list = vec![];
        for k in 0..self.m.globals.len() {
            let i = self.m.inst(self.m.globals[k]);
            if i.op != Op::Variable || !self.in_interface(i.word(2)?) {
                continue;
            }
            let pointer = self.types.of(i.word(1)?, i.at)?;
            let TypeClass::Pointer(class, pointee) = self.types.kind(pointer) else { continue };
            if !is_shared(class) {
                continue;
            }
            let ty = self.types.of(pointee, i.at)?;
            // Refuses what is too large to be walked.
            self.types.flatten(ty, &mut Vec::new())?;
            list.push((i.word(2)?, pointer, class, ty, self.types.get(ty).words));
        }
        let is_incoming = |class| {
            matches!(class, StorageClass::IncomingRayPayloadKHR | StorageClass::IncomingCallableDataKHR)
        };
        // There should be one at most. Programs have more (VUID-StandaloneSpirv-IncomingRayPayloadKHR-04700), and Mesa gives them the
        // same place: so it is here.
        let incoming = list.iter().filter(|v| is_incoming(v.2)).map(|v| v.4).max();
        let mut io =
            RayIo { incoming: [0, incoming.unwrap_or(0)], words: incoming.unwrap_or(0), ..RayIo::default() };
        for (id, pointer, class, ty, words) in list {
            let first = if is_incoming(class) { 0 } else { io.words };
            io.words = io.words.max(first.saturating_add(words));
            if io.words > MAX_WORDS {
                return Err(Error::TooLarge(format!("{} words of payloads and hit attributes", io.words)));
            }
            if class == StorageClass::HitAttributeKHR {
                io.attribute = [first, words];
            }
            let p = Pointer { offset: first, ..Pointer::new(Base::Scratch, class, ty) };
            self.define_pointer(id, pointer, p);
            self.ids[id as usize].block = 0;
        }
        self.scratch_words = io.words;
        self.zeroed = [io.words; 2];
        self.interface.io.ray = Some(io);
        Ok(())
    }

    /// The shader record, as a pointer.
    pub(crate) fn shader_record(&mut self, ty: u32) -> Pointer {
        let saved = std::mem::replace(&mut self.e.to_prelude, true);
        let low = self.e.input(Input::Ray(ray_input::RECORD), Ty::B32);
        let high = self.e.input(Input::Ray(ray_input::RECORD + 1), Ty::B32);
        let address = self.e.bin(Bin::Pack64, low, high);
        self.e.to_prelude = saved;
        let mut p = Pointer::new(Base::Global, StorageClass::ShaderRecordBufferKHR, ty);
        p.addr = Some(address);
        p.flags.read_only = true;
        p
    }

    /// A built-in of these stages; false: it is none of theirs.
    pub(crate) fn ray_builtin(&mut self, b: BuiltIn, out: &mut Vec<Value>) -> bool {
        if !self.opt.stage.is_ray_tracing() {
            return false;
        }
        let (first, n) = match b {
            BuiltIn::LaunchIdKHR => (ray_input::LAUNCH_ID, 3),
            BuiltIn::LaunchSizeKHR => (ray_input::LAUNCH_SIZE, 3),
            BuiltIn::WorldRayOriginKHR => (ray_input::WORLD_ORIGIN, 3),
            BuiltIn::WorldRayDirectionKHR => (ray_input::WORLD_DIRECTION, 3),
            BuiltIn::ObjectRayOriginKHR => (ray_input::OBJECT_ORIGIN, 3),
            BuiltIn::ObjectRayDirectionKHR => (ray_input::OBJECT_DIRECTION, 3),
            BuiltIn::RayTminKHR => (ray_input::T_MIN, 1),
            BuiltIn::RayTmaxKHR => (ray_input::T_MAX, 1),
            BuiltIn::InstanceCustomIndexKHR => (ray_input::CUSTOM_INDEX, 1),
            BuiltIn::InstanceId => (ray_input::INSTANCE_ID, 1),
            BuiltIn::PrimitiveId => (ray_input::PRIMITIVE_ID, 1),
            BuiltIn::RayGeometryIndexKHR => (ray_input::GEOMETRY_INDEX, 1),
            BuiltIn::HitKindKHR => (ray_input::HIT_KIND, 1),
            BuiltIn::IncomingRayFlagsKHR => (ray_input::RAY_FLAGS, 1),
            BuiltIn::CullMaskKHR => (ray_input::CULL_MASK, 1),
            BuiltIn::ObjectToWorldKHR => (ray_input::OBJECT_TO_WORLD, 12),
            BuiltIn::WorldToObjectKHR => (ray_input::WORLD_TO_OBJECT, 12),
            BuiltIn::HitTriangleVertexPositionsKHR => (ray_input::POSITIONS, 9),
            _ => return false,
        };
        for k in 0..n {
            out.push(self.e.input(Input::Ray(first + k), Ty::B32));
        }
        true
    }

    /// Pushes an op; `data`: the private words that it shares with the shaders that it leads to.
    pub(super) fn trace_op(&mut self, op: TraceOp, mut args: Vec<Value>, data: [u32; 2]) -> Value {
        for word in data {
            args.push(self.e.u32(word));
        }
        self.e.push(Inst::Trace { op, args }, op.ty())
    }

    /// Words of the variable that operand `w` points at.
    pub(super) fn shared_words(&mut self, i: &Code<'m>, w: usize) -> Result<[u32; 2]> {
        let p = self.pointer(i.word(w)?, i.at)?;
        if p.base != Base::Scratch || p.addr.is_some() || !is_shared(p.class) {
            return Err(i.bad("not a payload or callable data"));
        }
        Ok([p.offset, self.types.get(p.ty).words])
    }

    pub(crate) fn trace(&mut self, i: &Code<'m>) -> Result<bool> {
        match i.op {
            Op::TraceRayKHR => {
                let data = self.shared_words(i, 11)?;
                let args = self.ray_operands(i, 1, &RAY)?;
                if self.e.ty(args[0]) != Ty::B64 || args[1..].iter().any(|v| self.e.ty(*v) != Ty::B32) {
                    return Err(i.bad("an operand of a ray has another type"));
                }
                self.trace_op(TraceOp::Trace, args, data);
            }
            Op::ExecuteCallableKHR => {
                let data = self.shared_words(i, 2)?;
                let index = self.int32(i.word(1)?, i.at)?;
                self.trace_op(TraceOp::Call, vec![index], data);
            }
            Op::ReportIntersectionKHR => {
                let (_, start, len) = self.value(i.word(3)?, i.at)?;
                let t = self.pool[start];
                if len != 1 || self.e.ty(t) != Ty::B32 || self.opt.stage != Stage::Intersection {
                    return Err(i.bad("the distance is no 32-bit number, or this is no intersection shader"));
                }
                let kind = self.int32(i.word(4)?, i.at)?;
                let data = self.interface.io.ray.map_or([0; 2], |r| r.attribute);
                let told = self.trace_op(TraceOp::Report, vec![t, kind], data);
                let [one, two] = [self.e.u32(1), self.e.u32(2)];
                let ended = self.e.bin(Bin::And, told, two);
                let ended = self.int_to_bool(ended);
                self.end_where(ended);
                let hit = self.e.bin(Bin::And, told, one);
                let hit = self.int_to_bool(hit);
                self.define_list(i, &[hit])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Operands from word `from` on, each of so many components.
    pub(super) fn ray_operands(&mut self, i: &Code<'m>, from: usize, shape: &[usize]) -> Result<Vec<Value>> {
        let mut args = Vec::with_capacity(16);
        for (k, n) in shape.iter().enumerate() {
            let (_, start, len) = self.value(i.word(from + k)?, i.at)?;
            if len != *n {
                return Err(i.bad("an operand of a ray has another number of components"));
            }
            args.extend_from_slice(&self.pool[start..start + n]);
        }
        Ok(args)
    }

    /// Invocations for which `cond` holds end here.
    fn end_where(&mut self, cond: Value) {
        let origin = self.e.blocks[self.e.cur as usize].origin;
        let [head, end, rest] = [0; 3].map(|_| self.e.new_block());
        // The current block may head a loop already, so a new one heads the selection.
        let before = self.e.cur;
        self.e.blocks[head as usize].preds.push((before, 0));
        self.e.end(Term::Jump(Block(head)));
        self.begin(head, origin);
        self.e.blocks[head as usize].merge = Merge::Selection(Block(rest));
        for to in [end, rest] {
            self.e.blocks[to as usize].preds.push((head, 0));
        }
        self.e.end(Term::Branch { cond, yes: Block(end), no: Block(rest) });
        self.begin(end, origin);
        self.e.end(Term::Return);
        self.begin(rest, origin);
    }

    /// OpIgnoreIntersectionKHR, OpTerminateRayKHR: the invocation ends.
    pub(crate) fn end_any_hit(&mut self, t: &Code<'m>) -> Result<()> {
        if self.opt.stage != Stage::AnyHit {
            return Err(t.bad("not in an any-hit shader"));
        }
        let op = if t.op == Op::IgnoreIntersectionKHR { TraceOp::Ignore } else { TraceOp::Terminate };
        self.trace_op(op, vec![], [0; 2]);
        self.e.end(Term::Return);
        Ok(())
    }

    /// Where the ray ends at present, of which hits that the shader reports may move the end.
    pub(crate) fn t_max_now(&mut self) -> Value {
        self.trace_op(TraceOp::TMax, vec![], [0; 2])
    }
}

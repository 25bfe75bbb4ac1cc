//! What is particular to geometry and tessellation shaders: inputs of several vertices, outputs of a patch, emitted
//! vertices, execution modes, and what transform feedback captures.

use super::Builder;
use super::access::{Base, Pointer};
use super::interface::{InterfacePlace, Scalar};
use super::ssa::ANYWHERE;
use super::types::{Sk, TypeClass};
use crate::interface::{CULL_PRIMITIVE, EMITTED, INDICES, PATCH, USER_SLOTS};
use crate::ir::*;
use crate::options::{Error, Result};
use crate::spirv::*;
use crate::stage_io::*;

/// Words of a patch's memory, or of what a geometry shader's invocation has in front of it and emits.
const MAX_WORDS: u32 = 1 << 16;
/// Vertices and primitives of a mesh shader, and bytes of a payload, that the engine takes; the device reports less.
const MAX_MESH: u32 = 1024;
const MAX_PAYLOAD: u32 = 1 << 16;
/// Values that one store takes.
const STORE: usize = 16;

/// A geometry shader's vertices so far.
#[derive(Default)]
pub(crate) struct Emission {
    /// SSA scalars: vertices emitted, and by stream whether the next one begins a strip.
    count: u32,
    starts: [u32; 4],
    /// SSA scalars of the outputs' words: kind, and whether it is the high half.
    words: Vec<(u32, Sk, bool)>,
    begun: bool,
}

impl Builder<'_> {
    /// Whether a variable, or the block that it is, belongs to a patch.
    fn says_patch(&self, id: u32) -> bool {
        if self.m.has(id, Decoration::Patch) {
            return true;
        }
        let ty = self.m.def(id, 0).ok().and_then(|i| self.types.of(i.get(1)?, 0).ok());
        let Some(TypeClass::Pointer(_, pointee)) = ty.map(|t| self.types.kind(t)) else { return false };
        let Ok(mut block) = self.types.of(pointee, 0) else { return false };
        while let TypeClass::Array(e, _) = self.types.kind(block) {
            block = e;
        }
        let of = self.types.get(block);
        let all = self.m.decorations(of.id);
        matches!(of.kind, TypeClass::Struct(..)) && all.iter().any(|d| d.kind == Decoration::Patch as u32)
    }

    /// Whether a variable of the interface is an array over vertices.
    pub(crate) fn is_arrayed(&self, id: u32, class: StorageClass) -> bool {
        let stage = self.opt.stage;
        let over_vertices = match class {
            StorageClass::Input => stage == Stage::Geometry || stage.is_tessellation(),
            StorageClass::Output => matches!(stage, Stage::TessControl | Stage::Mesh),
            _ => false,
        };
        let of_all = match self.m.decoration(id, Decoration::BuiltIn).and_then(BuiltIn::from_u32) {
            None => true,
            Some(b) => {
                matches!(
                    b,
                    BuiltIn::Position
                        | BuiltIn::PointSize
                        | BuiltIn::ClipDistance
                        | BuiltIn::CullDistance
                        | BuiltIn::Layer
                        | BuiltIn::ViewportIndex
                ) || stage == Stage::Mesh
            }
        };
        over_vertices && of_all && !self.says_patch(id)
    }

    /// Whether a variable lies in a patch's memory though it is no array over vertices.
    fn of_patch(&self, id: u32, class: StorageClass) -> bool {
        // Some compilers say Patch of TessCoord.
        let builtin = self.m.decoration(id, Decoration::BuiltIn).and_then(BuiltIn::from_u32);
        let level = match builtin {
            Some(b) => matches!(b, BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner),
            None => self.says_patch(id),
        };
        match (self.opt.stage, class) {
            (Stage::TessControl, StorageClass::Output) => !self.is_arrayed(id, class),
            (Stage::TessEval, StorageClass::Input) => level,
            _ => false,
        }
    }

    /// The pointer of a variable that lies in the stage's memory; `None` if it is like those of other stages.
    pub(crate) fn stage_variable(
        &mut self,
        id: u32,
        class: StorageClass,
        ty: u32,
    ) -> Result<Option<Pointer>> {
        if class == StorageClass::TaskPayloadWorkgroupEXT {
            let mut p = Pointer::new(Base::Shared, class, ty);
            (p.explicit, p.offset) = (false, PAYLOAD);
            return Ok(Some(p));
        }
        let arrayed = self.is_arrayed(id, class);
        if !arrayed && !self.of_patch(id, class) {
            return Ok(None);
        }
        let (element, count) = match self.types.kind(ty) {
            TypeClass::Array(e, n) if arrayed && self.opt.stage == Stage::Mesh => (e, n.min(MAX_MESH)),
            TypeClass::Array(e, n) if arrayed => (e, n.min(MAX_PATCH_VERTICES)),
            _ if arrayed => return Err(unsupported(format!("interface variable {id}, which is no array"))),
            _ => (ty, 1),
        };
        let scalars = self.interface_scalars(id, element)?;
        let stride = self.types.get(element).words;
        let patch = !arrayed;
        // A geometry shader has its primitive among its private words.
        let own = self.opt.stage == Stage::Geometry;
        let first = if own { self.scratch_words } else { self.stage_words };
        let past = stride.checked_mul(count).and_then(|n| n.checked_add(first)).filter(|n| *n <= MAX_WORDS);
        let past =
            past.ok_or_else(|| Error::TooLarge(format!("interface variable {id} has too many vertices")))?;
        *(if own { &mut self.scratch_words } else { &mut self.stage_words }) = past;
        let mut word = first;
        let mut cells = Vec::new();
        for s in scalars {
            let (at, bits) = (word, bits(s.kind));
            word += s.kind.words();
            let slot = match s.place {
                InterfacePlace::Slot(slot) if patch => slot + PATCH,
                InterfacePlace::Slot(slot) => slot,
                InterfacePlace::BuiltIn(b, k) => match super::interface::vertex_slot(b, k) {
                    Some(slot) => slot,
                    None => continue,
                },
            };
            for half in 0..s.kind.words() {
                cells.push(Cell { slot: slot + half as u16, bits, word: at + half, stride, count });
            }
        }
        if self.opt.stage == Stage::Mesh {
            let block = self.types.get(element).id;
            let of_primitive = [id, block].iter().any(|id| {
                self.m.decorations(*id).iter().any(|d| d.kind == Decoration::PerPrimitiveEXT as u32)
            });
            // Some say nothing of what can be nothing else's.
            let of_primitive =
                of_primitive || cells.iter().any(|c| (INDICES..=CULL_PRIMITIVE).contains(&c.slot));
            let m = self.mesh();
            if of_primitive { m.primitives.extend(cells) } else { m.vertices.extend(cells) }
        } else if class == StorageClass::Input {
            self.interface.io.inputs.extend(cells);
        } else {
            self.tessellation().outputs.extend(cells);
        }
        let base = if own { Base::Scratch } else { Base::Stage };
        Ok(Some(Pointer { offset: first, ..Pointer::new(base, class, ty) }))
    }

    fn mesh(&mut self) -> &mut Mesh {
        self.interface.io.mesh.get_or_insert_default()
    }
    fn tessellation(&mut self) -> &mut Tessellation {
        self.interface.io.tessellation.get_or_insert_default()
    }
    fn geometry(&mut self) -> &mut Geometry {
        self.interface.io.geometry.get_or_insert_default()
    }

    /// An execution mode of a stage between vertices and rasterisation.
    pub(crate) fn stage_mode(&mut self, mode: ExecutionMode, i: &Code) -> Result<()> {
        use ExecutionMode as M;
        if self.opt.stage == Stage::Geometry {
            let limit = |n: u32, most: u32, what: &str| {
                if n <= most {
                    Ok(n)
                } else {
                    Err(Error::TooLarge(format!("{n} {what} of a geometry shader")))
                }
            };
            let g = self.geometry();
            match mode {
                M::InputPoints => g.vertices = 1,
                M::InputLines => g.vertices = 2,
                M::InputLinesAdjacency => g.vertices = 4,
                M::Triangles => g.vertices = 3,
                M::InputTrianglesAdjacency => g.vertices = 6,
                M::OutputPoints => g.emitted = Emitted::Points,
                M::OutputLineStrip => g.emitted = Emitted::LineStrip,
                M::OutputTriangleStrip => g.emitted = Emitted::TriangleStrip,
                M::Invocations => g.invocations = limit(i.word(3)?, 127, "invocations")?,
                M::OutputVertices => g.max_vertices = limit(i.word(3)?, 4096, "vertices")?,
                _ => {}
            }
        }
        if self.opt.stage == Stage::Mesh {
            let limit = |n: u32, what: &str| {
                if n <= MAX_MESH {
                    Ok(n)
                } else {
                    Err(Error::TooLarge(format!("{n} {what} of a mesh shader")))
                }
            };
            let m = self.mesh();
            match mode {
                M::OutputPoints => m.emitted = Emitted::Points,
                M::OutputLinesEXT => m.emitted = Emitted::LineStrip,
                M::OutputTrianglesEXT => m.emitted = Emitted::TriangleStrip,
                M::OutputVertices => m.max_vertices = limit(i.word(3)?, "vertices")?,
                M::OutputPrimitivesEXT => m.max_primitives = limit(i.word(3)?, "primitives")?,
                _ => {}
            }
        }
        if self.opt.stage.is_tessellation() {
            let t = self.tessellation();
            match mode {
                M::Triangles => t.domain = Some(Domain::Triangles),
                M::Quads => t.domain = Some(Domain::Quads),
                M::Isolines => t.domain = Some(Domain::Isolines),
                M::SpacingEqual => t.spacing = Some(Spacing::Equal),
                M::SpacingFractionalEven => t.spacing = Some(Spacing::FractionalEven),
                M::SpacingFractionalOdd => t.spacing = Some(Spacing::FractionalOdd),
                M::VertexOrderCw => t.clockwise = Some(true),
                M::VertexOrderCcw => t.clockwise = Some(false),
                M::PointMode => t.point_mode = true,
                M::OutputVertices => {
                    t.vertices = i.word(3)?;
                    if t.vertices > MAX_PATCH_VERTICES {
                        return Err(Error::TooLarge(format!("{} control points of a patch", t.vertices)));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// After modes and before code: what must be there even if the module says nothing of it.
    pub(crate) fn begin_stage(&mut self) -> Result<()> {
        match self.opt.stage {
            Stage::Geometry => {
                let g = self.geometry();
                g.invocations = g.invocations.max(1);
                if g.vertices == 0 {
                    return Err(invalid(0, "a geometry shader without its input primitives"));
                }
            }
            Stage::TessControl => {
                let none = invalid(0, "a tessellation control shader without OutputVertices");
                return if self.tessellation().vertices == 0 { Err(none) } else { Ok(()) };
            }
            Stage::TessEval => drop(self.tessellation()),
            Stage::Task | Stage::Mesh => {
                let bytes = self.payload_bytes()?;
                self.mesh().payload = bytes;
                self.stage_words = (PAYLOAD + bytes).div_ceil(4);
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of the payload that the entry point lists.
    fn payload_bytes(&mut self) -> Result<u32> {
        for k in 0..self.entry_interface.len() {
            let Some(at) = self.m.def_at(self.entry_interface[k]) else { continue };
            let i = self.m.inst(at);
            if i.op != Op::Variable || i.get(3) != Some(StorageClass::TaskPayloadWorkgroupEXT as u32) {
                continue;
            }
            let ty = self.types.of(i.word(1)?, i.at)?;
            let TypeClass::Pointer(_, pointee) = self.types.kind(ty) else {
                return Err(i.bad("the type of a variable is no pointer"));
            };
            let size = self.types.get(self.types.of(pointee, i.at)?).size;
            if size > MAX_PAYLOAD {
                return Err(Error::TooLarge(format!("a payload of {size} bytes")));
            }
            return Ok(size);
        }
        Ok(0)
    }

    /// Words at the begin of the workgroup's memory.
    fn tell(&mut self, words: &[u32], i: &Code) -> Result<()> {
        let addr = self.e.u32(0);
        let mut values = Vec::with_capacity(words.len());
        for &id in words {
            values.push(self.int32(id, i.at)?);
        }
        let mem = Sk::I32.mem();
        let (values, flags) = (values.into(), MemFlags::default());
        self.e.push(Inst::Store { place: Place::Shared { addr }, offset: 0, mem, values, flags }, Ty::Void);
        Ok(())
    }

    /// OpSetMeshOutputsEXT.
    pub(crate) fn set_mesh_outputs(&mut self, i: &Code) -> Result<bool> {
        if i.op != Op::SetMeshOutputsEXT {
            return Ok(false);
        }
        if self.opt.stage != Stage::Mesh {
            return Err(i.bad("not in a mesh shader"));
        }
        self.tell(&[i.word(1)?, i.word(2)?], i)?;
        Ok(true)
    }

    /// OpEmitMeshTasksEXT, which ends the invocation.
    pub(crate) fn emit_mesh_tasks(&mut self, i: &Code) -> Result<()> {
        if self.opt.stage != Stage::Task {
            return Err(i.bad("not in a task shader"));
        }
        self.tell(&[i.word(1)?, i.word(2)?, i.word(3)?], i)
    }

    /// Places what a geometry shader emits, once its variables are known and before its code.
    pub(crate) fn begin_emission(&mut self) -> Result<()> {
        if self.opt.stage != Stage::Geometry {
            return Ok(());
        }
        let mut emission = Emission { begun: true, ..Emission::default() };
        let mut outputs = Vec::new();
        for (n, s) in std::mem::take(&mut self.emitted) {
            let stream = s.stream;
            let Some(slot) = self.output_slot(&s)? else { continue };
            for half in 0..s.kind.words() {
                outputs.push(EmittedScalar { slot: slot + half as u16, stream });
                emission.words.push((n, s.kind, half == 1));
            }
        }
        let (zero, one) = (self.e.u32(0), self.e.u32(1));
        emission.count = self.new_scalar(Ty::B32, ANYWHERE);
        self.init_scalar(emission.count, zero);
        for k in 0..4 {
            emission.starts[k] = self.new_scalar(Ty::B32, ANYWHERE);
            self.init_scalar(emission.starts[k], one);
        }
        self.emission = emission;
        let ring = self.scratch_words;
        let g = self.geometry();
        (g.outputs, g.ring) = (outputs, ring);
        // One more, for vertices beyond those announced.
        let words = g.entry().saturating_mul(g.max_vertices + 1).saturating_add(ring);
        if words > MAX_WORDS {
            return Err(Error::TooLarge(format!("{words} words of emitted vertices")));
        }
        self.scratch_words = words;
        Ok(())
    }

    /// OpEmitVertex, OpEmitStreamVertex, OpEndPrimitive, OpEndStreamPrimitive.
    pub(crate) fn emission_op(&mut self, i: &Code) -> Result<bool> {
        let (vertex, streams) = match i.op {
            Op::EmitVertex => (true, false),
            Op::EmitStreamVertex => (true, true),
            Op::EndPrimitive => (false, false),
            Op::EndStreamPrimitive => (false, true),
            _ => return Ok(false),
        };
        if !self.emission.begun {
            return Err(i.bad("not in a geometry shader"));
        }
        let stream = if streams { self.const_u32(i.word(1)?, i.at)? } else { 0 };
        let Some(&starts) = self.emission.starts.get(stream as usize) else {
            return Err(i.bad("no such vertex stream"));
        };
        if !vertex {
            let one = self.e.u32(1);
            self.write_scalar(starts, one);
            return Ok(true);
        }
        let (count, words) = (self.emission.count, std::mem::take(&mut self.emission.words));
        let g = self.geometry();
        g.streams |= 1 << stream;
        let (entry, most, ring) = (g.entry(), g.max_vertices, g.ring);
        let n = self.read_scalar(count)?;
        let most = self.e.u32(most);
        let at = self.e.bin(Bin::UMin, n, most);
        let entry = self.e.u32(entry);
        let addr = self.e.bin(Bin::IMul, at, entry);
        let mut values = Vec::with_capacity(words.len() + 1);
        for &(s, kind, high) in &words {
            let v = self.read_scalar(s)?;
            let v = self.e.observed(kind, v);
            values.push(match kind {
                Sk::I64 | Sk::F64 => self.e.un(if high { Un::Hi32 } else { Un::Lo32 }, v),
                Sk::Bool => return Err(unsupported("interface variables of Booleans")),
                _ => v,
            });
        }
        self.emission.words = words;
        let begins = self.read_scalar(starts)?;
        let own = self.e.u32(stream << 1);
        values.push(self.e.bin(Bin::Or, begins, own));
        let mut offset = ring;
        for part in values.chunks(STORE) {
            let inst = Inst::Store {
                place: Place::Scratch { addr },
                offset,
                mem: Sk::I32.mem(),
                values: part.to_vec().into(),
                flags: MemFlags::default(),
            };
            self.e.push(inst, Ty::Void);
            offset += part.len() as u32;
        }
        let (zero, one) = (self.e.u32(0), self.e.u32(1));
        let next = self.e.add(n, one);
        self.write_scalar(count, next);
        self.write_scalar(starts, zero);
        Ok(true)
    }

    /// At the entry point's end: how many vertices were emitted.
    pub(crate) fn end_emission(&mut self) -> Result<()> {
        if self.emission.begun {
            let value = self.read_scalar(self.emission.count)?;
            self.e.push(Inst::Output { slot: EMITTED, value }, Ty::Void);
        }
        Ok(())
    }

    /// What transform feedback captures of an output scalar.
    pub(crate) fn note_capture(&mut self, s: &Scalar) -> Result<()> {
        let Some((buffer, offset)) = s.capture else { return Ok(()) };
        let Some(slot) = self.output_slot(s)? else { return Ok(()) };
        if slot > USER_SLOTS && matches!(s.place, InterfacePlace::Slot(_))
            || buffer as usize >= FEEDBACK_BUFFERS
        {
            return Err(invalid(0, "transform feedback of an output that is none"));
        }
        let wide = s.kind.words() == 2;
        let bytes = if wide { 4 } else { s.kind.mem().bytes() as u8 };
        for half in 0..s.kind.words() {
            self.interface.io.feedback.captures.push(Capture {
                slot: slot + half as u16,
                buffer: buffer as u8,
                stream: s.stream,
                offset: offset.saturating_add(half * 4),
                bytes,
                half: s.kind == Sk::F16,
            });
        }
        Ok(())
    }

    /// Strides and streams of the buffers, from the decorations of all outputs.
    pub(crate) fn read_feedback(&mut self) -> Result<()> {
        for k in 0..self.entry_interface.len() {
            let id = self.entry_interface[k];
            let Some(at) = self.m.def_at(id) else { continue };
            let i = self.m.inst(at);
            if i.op != Op::Variable || i.get(3) != Some(StorageClass::Output as u32) {
                continue;
            }
            let (mut of, mut blocks) = (vec![id], 1);
            if let Ok(ty) = self.types.of(i.word(1)?, i.at)
                && let TypeClass::Pointer(_, pointee) = self.types.kind(ty)
                && let Ok(mut ty) = self.types.of(pointee, i.at)
            {
                while let TypeClass::Array(e, n) = self.types.kind(ty) {
                    (ty, blocks) = (e, n);
                }
                let block = self.types.get(ty);
                if !matches!(block.kind, TypeClass::Struct(..)) || !self.m.has(block.id, Decoration::Block) {
                    blocks = 1;
                }
                of.push(block.id);
            }
            for &target in &of {
                let all = self.m.decorations(target);
                for stride in all.iter().filter(|d| d.kind == Decoration::XfbStride as u32) {
                    let same = |kind: Decoration| {
                        let own = all.iter().find(|d| d.kind == kind as u32 && d.member == stride.member);
                        own.map(|d| d.value).or_else(|| self.m.decoration(id, kind))
                    };
                    let Some(buffer) = same(Decoration::XfbBuffer) else { continue };
                    let stream = same(Decoration::Stream).unwrap_or(0).min(3) as u8;
                    let f = &mut self.interface.io.feedback;
                    for b in (buffer as usize..FEEDBACK_BUFFERS).take(blocks as usize) {
                        (f.strides[b], f.streams[b]) = (stride.value, stream);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Bits of a scalar's word that count.
fn bits(kind: Sk) -> u8 {
    match kind {
        Sk::I8 => 8,
        Sk::I16 => 16,
        _ => 32,
    }
}

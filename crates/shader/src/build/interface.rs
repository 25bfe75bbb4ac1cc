//! Variables of the interfaces between stages: which slot ([`crate::interface`]) each scalar has, how it is
//! interpolated, and the outputs at the program's end. (Vulkan specification, § Shader Interfaces.)

use super::Builder;
use super::access::Base;
use super::types::{Sk, TypeClass};
use crate::interface::*;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;
use small_sort::SmallSort;

/// One scalar of an input or output variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub kind: Sk,
    pub signed: bool,
    pub place: InterfacePlace,
    pub flat: bool,
    pub no_perspective: bool,
    pub at: At,
    /// A float that may be computed at half precision.
    pub half: bool,
    /// Buffer of transform feedback and byte offset of it in a vertex; the vertex stream.
    pub capture: Option<(u32, u32)>,
    pub stream: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InterfacePlace {
    /// The slot; a 64-bit scalar has the next one too.
    Slot(u16),
    /// Component of a built-in.
    BuiltIn(BuiltIn, u32),
}

/// What is known on the way down a type.
#[derive(Clone, Copy)]
struct Way {
    builtin: Option<BuiltIn>,
    location: Option<u32>,
    component: u32,
    second_source: bool,
    flat: bool,
    no_perspective: bool,
    at: At,
    relaxed: bool,
    buffer: Option<u32>,
    offset: Option<u32>,
    stream: u8,
    per_vertex: bool,
    /// Added to slots: those of one vertex of the primitive.
    vertex: u16,
}

impl Way {
    /// Takes in one decoration of a variable or member.
    fn decorate(&mut self, d: &Deco) -> Result<()> {
        match Decoration::from_u32(d.kind) {
            Some(Decoration::BuiltIn) => {
                let b = BuiltIn::from_u32(d.value);
                self.builtin = Some(b.ok_or_else(|| unsupported(format!("built-in {}", d.value)))?);
            }
            Some(Decoration::Location) => self.location = Some(d.value),
            Some(Decoration::Component) => self.component = d.value & 3,
            Some(Decoration::Index) => self.second_source = d.value == 1,
            Some(Decoration::Flat | Decoration::PerPrimitiveEXT) => self.flat = true,
            Some(Decoration::NoPerspective) => self.no_perspective = true,
            Some(Decoration::Centroid) if self.at != At::Sample => self.at = At::Centroid,
            Some(Decoration::Sample) => self.at = At::Sample,
            Some(Decoration::RelaxedPrecision) => self.relaxed = true,
            Some(Decoration::XfbBuffer) => self.buffer = Some(d.value),
            Some(Decoration::Offset) => self.offset = Some(d.value),
            Some(Decoration::Stream) => self.stream = d.value.min(3) as u8,
            Some(Decoration::PerVertexKHR) => self.per_vertex = true,
            _ => {}
        }
        Ok(())
    }

    /// The scalars of a variable or member that says where it is captured lie one after another.
    fn capture(&mut self, out: &mut [Scalar]) {
        let (Some(buffer), Some(mut at)) = (self.buffer, self.offset.take()) else { return };
        for s in out {
            let size = s.kind.mem().bytes();
            at = at.saturating_add(size - 1) & !(size - 1);
            s.capture = Some((buffer, at));
            at = at.saturating_add(size);
        }
    }
}

impl Builder<'_> {
    /// The scalars of an interface variable in the order of its flattened type.
    pub(crate) fn interface_scalars(&self, id: u32, ty: u32) -> Result<Vec<Scalar>> {
        let mut way = Way {
            builtin: None,
            location: None,
            component: 0,
            second_source: false,
            flat: false,
            no_perspective: false,
            at: At::Center,
            relaxed: false,
            buffer: None,
            offset: None,
            stream: 0,
            per_vertex: false,
            vertex: 0,
        };
        // Refuses what is too large to be walked.
        self.types.flatten(ty, &mut Vec::new())?;
        for d in self.m.decorations(id).iter().filter(|d| d.member == WHOLE) {
            way.decorate(d)?;
        }
        let mut out = Vec::new();
        match way.builtin {
            Some(b) => self.builtin_scalars(ty, b, &way, &mut out)?,
            None if way.per_vertex || self.members_per_vertex(ty) => {
                self.per_vertex_scalars(ty, way, &mut out)?
            }
            None => {
                self.located_scalars(ty, way, &mut out)?;
            }
        }
        way.capture(&mut out);
        if out.len() != self.types.get(ty).scalars as usize {
            return Err(unsupported(format!("interface variable {id} of this type")));
        }
        Ok(out)
    }

    /// Whether the variable is an array of blocks whose members are per vertex.
    fn members_per_vertex(&self, ty: u32) -> bool {
        let TypeClass::Array(e, _) = self.types.kind(ty) else { return false };
        matches!(self.types.kind(e), TypeClass::Struct(..))
            && self
                .m
                .decorations(self.types.get(e).id)
                .iter()
                .any(|d| d.kind == Decoration::PerVertexKHR as u32)
    }

    /// Scalars of an input that has an element for each of the primitive's vertices (§ Barycentric Interpolation).
    fn per_vertex_scalars(&self, ty: u32, way: Way, out: &mut Vec<Scalar>) -> Result<()> {
        let TypeClass::Array(e, n) = self.types.kind(ty) else {
            return Err(unsupported("a PerVertexKHR input that is no array"));
        };
        if n > 3 || self.opt.stage != Stage::Fragment {
            return Err(unsupported("a PerVertexKHR input of this size or stage"));
        }
        for v in 0..n as u16 {
            self.located_scalars(e, Way { flat: true, vertex: (v + 1) * PER_VERTEX, ..way }, out)?;
        }
        Ok(())
    }

    fn builtin_scalars(&self, ty: u32, b: BuiltIn, way: &Way, out: &mut Vec<Scalar>) -> Result<()> {
        let mut kinds = Vec::new();
        self.types.flatten(ty, &mut kinds)?;
        let mut inner = ty;
        while let TypeClass::Array(e, _) = self.types.kind(inner) {
            inner = e;
        }
        let signed = self.types.signed(inner);
        let weights = match b {
            BuiltIn::BaryCoordKHR => Some((WEIGHTS, false)),
            BuiltIn::BaryCoordNoPerspKHR => Some((LINEAR_WEIGHTS, true)),
            _ => None,
        };
        if let Some((first, no_perspective)) = weights {
            if self.opt.stage != Stage::Fragment || kinds.len() != 3 || kinds[0] != Sk::F32 {
                return Err(unsupported(format!("{b:?} of this type or stage")));
            }
            out.extend((0..3).map(|k| Scalar {
                kind: Sk::F32,
                signed,
                place: InterfacePlace::Slot(first + k),
                flat: false,
                no_perspective,
                at: way.at,
                half: false,
                capture: None,
                stream: way.stream,
            }));
            return Ok(());
        }
        out.extend(kinds.iter().enumerate().map(|(k, &kind)| Scalar {
            kind,
            signed,
            place: InterfacePlace::BuiltIn(b, k as u32),
            flat: way.flat,
            no_perspective: way.no_perspective,
            at: way.at,
            half: false,
            capture: None,
            stream: way.stream,
        }));
        Ok(())
    }

    /// Scalars of a type from `way.location` on; returns the location after it.
    fn located_scalars(&self, ty: u32, way: Way, out: &mut Vec<Scalar>) -> Result<u32> {
        let Some(location) = way.location.or(match self.types.kind(ty) {
            TypeClass::Struct(..) => Some(0),
            _ => None,
        }) else {
            return Err(unsupported("an interface variable without BuiltIn or Location"));
        };
        match self.types.kind(ty) {
            TypeClass::Scalar(..) | TypeClass::Vector(..) => {
                let Some((kind, n)) = self.types.numeric(ty) else {
                    return Err(unsupported("an interface variable of this type"));
                };
                if kind == Sk::Bool {
                    return Err(unsupported("interface variables of Booleans"));
                }
                let words = kind.words();
                let first = location.saturating_mul(4).saturating_add(way.component);
                let past = first.saturating_add(n * words);
                if past > USER_SLOTS as u32 {
                    return Err(unsupported(format!("interface location {location}")));
                }
                if kind.is_small() {
                    return Err(unsupported(format!("an interface variable of {kind:?}")));
                }
                for k in 0..n {
                    let slot = (first + k * words) as u16;
                    out.push(Scalar {
                        kind,
                        signed: self.types.signed(ty),
                        place: InterfacePlace::Slot(if way.second_source {
                            slot + SECOND_SOURCE
                        } else {
                            slot + way.vertex
                        }),
                        // Integers and doubles are never interpolated.
                        flat: way.flat || !matches!(kind, Sk::F16 | Sk::F32),
                        no_perspective: way.no_perspective,
                        at: way.at,
                        half: kind == Sk::F16 || kind == Sk::F32 && way.relaxed,
                        capture: None,
                        stream: way.stream,
                    });
                }
                Ok(location + 1 + (n * words > 4) as u32)
            }
            TypeClass::Array(..) if self.types.get(ty).scalars == 0 => Ok(location),
            TypeClass::Matrix(e, n) | TypeClass::Array(e, n) => {
                let mut next = location;
                // Each block of an array is captured to a buffer of its own.
                let blocks = matches!(self.types.kind(e), TypeClass::Struct(..))
                    && self.m.has(self.types.get(e).id, Decoration::Block);
                for k in 0..n {
                    let buffer = way.buffer.map(|b| if blocks { b.saturating_add(k) } else { b });
                    next = self.located_scalars(e, Way { location: Some(next), buffer, ..way }, out)?;
                }
                Ok(next)
            }
            TypeClass::Struct(first, n) => {
                let decos = self.m.decorations(self.types.get(ty).id);
                let mut next = way.location;
                let mut at = 0;
                for k in 0..n {
                    let mut way = Way { location: next, offset: None, ..way };
                    // They come in order of members.
                    while let Some(d) = decos.get(at).filter(|d| d.member <= k) {
                        if d.member == k {
                            way.decorate(d)?;
                        }
                        at += 1;
                    }
                    let member = self.types.members[(first + k) as usize].ty;
                    let from = out.len();
                    match way.builtin {
                        Some(b) => self.builtin_scalars(member, b, &way, out)?,
                        None => next = Some(self.located_scalars(member, way, out)?),
                    }
                    way.capture(&mut out[from..]);
                }
                Ok(next.unwrap_or(0))
            }
            _ => Err(unsupported("an interface variable of this type")),
        }
    }

    /// Whether the entry point lists the variable.
    pub(crate) fn in_interface(&self, id: u32) -> bool {
        self.entry_interface.binary_search(&id).is_ok()
    }

    /// Input variables that ask for an invocation a sample, used or not (§ Sample Shading).
    pub(crate) fn read_sample_shading(&mut self) {
        if self.opt.stage != Stage::Fragment {
            return;
        }
        for &id in &self.entry_interface {
            let Some(at) = self.m.def_at(id) else { continue };
            let i = self.m.inst(at);
            let input = i.op == Op::Variable && i.get(3) == Some(StorageClass::Input as u32);
            let builtin = self.m.decoration(id, Decoration::BuiltIn);
            let per_sample =
                [BuiltIn::SampleId, BuiltIn::SamplePosition].iter().any(|b| builtin == Some(*b as u32));
            self.interface.per_sample |= input && (per_sample || self.m.has(id, Decoration::Sample));
        }
    }

    /// An execution mode of fragment shaders.
    pub(crate) fn fragment_mode(&mut self, mode: ExecutionMode) -> Result<()> {
        match mode {
            ExecutionMode::EarlyFragmentTests => self.interface.early_tests = true,
            ExecutionMode::PostDepthCoverage => self.interface.post_depth_coverage = true,
            ExecutionMode::SampleInterlockOrderedEXT | ExecutionMode::SampleInterlockUnorderedEXT => {
                self.interface.sample_interlock = true;
            }
            ExecutionMode::PixelInterlockOrderedEXT | ExecutionMode::PixelInterlockUnorderedEXT => {
                self.interface.pixel_interlock = true;
            }
            ExecutionMode::DepthReplacing if self.interface.depth == DepthMode::Unwritten => {
                self.interface.depth = DepthMode::Any;
            }
            ExecutionMode::DepthGreater => self.interface.depth = DepthMode::Greater,
            ExecutionMode::DepthLess => self.interface.depth = DepthMode::Less,
            ExecutionMode::DepthUnchanged => self.interface.depth = DepthMode::Unchanged,
            ExecutionMode::PixelCenterInteger | ExecutionMode::OriginLowerLeft => {
                return Err(unsupported(format!("execution mode {mode:?}")));
            }
            _ => {}
        }
        Ok(())
    }

    /// The value of an input scalar that has a slot; notes fragment inputs' interpolation.
    pub(crate) fn slot_input(&mut self, s: &Scalar, slot: u16) -> Value {
        self.note_varying(s, slot);
        let low = self.e.input(Input::Varying(slot), Ty::B32);
        match s.kind {
            Sk::I64 | Sk::F64 => {
                self.note_varying(s, slot + 1);
                let high = self.e.input(Input::Varying(slot + 1), Ty::B32);
                self.e.bin(Bin::Pack64, low, high)
            }
            Sk::F16 if self.opt.stage == Stage::Fragment => self.e.un(Un::F16Round, low),
            Sk::I8 => self.e.un(Un::ZExt8, low),
            Sk::I16 => self.e.un(Un::ZExt16, low),
            _ => low,
        }
    }

    /// Scalars from `from` on of the input at `first` are loaded in the current block: the varying unit's work there, if
    /// no block before has loaded them.
    pub(crate) fn note_varying_load(&mut self, first: u32, from: u32, count: u32) {
        let Some(scalars) = self.inputs.get(&first).filter(|_| self.opt.stage == Stage::Fragment) else {
            return;
        };
        let origin = self.here;
        for s in scalars.iter().skip(from as usize).take(count as usize) {
            let InterfacePlace::Slot(slot) = s.place else { continue };
            for slot in
                [Some(slot), matches!(s.kind, Sk::I64 | Sk::F64).then_some(slot + 1)].into_iter().flatten()
            {
                if !self.varying_loads.iter().any(|l| l.0 == slot) {
                    self.varying_loads.push((slot, (origin.function, origin.label)));
                }
            }
        }
    }

    fn note_varying(&mut self, s: &Scalar, slot: u16) {
        // As a member of a block the module's look at variables did not see it.
        self.interface.per_sample |= self.opt.stage == Stage::Fragment && s.at == At::Sample;
        if self.opt.stage == Stage::Fragment && !self.interface.varyings.iter().any(|v| v.slot == slot) {
            let (flat, no_perspective, at) = (s.flat, s.no_perspective, s.at);
            let half = s.half && !flat;
            self.interface.varyings.push(Varying { slot, flat, no_perspective, at, half });
        }
    }

    /// Variables of an output variable's scalars.
    pub(crate) fn output_variable(&mut self, id: u32, ty: u32, i: &Code) -> Result<Base> {
        let scalars = self.interface_scalars(id, ty)?;
        let (base, _) = self.new_variable(id, ty, true, i)?;
        let Base::Slots(first) = base else { return Err(unsupported("output variables this large")) };
        for (k, s) in scalars.into_iter().enumerate() {
            let n = first + k as u32;
            if i.len() > 4 {
                self.mark_stored(n);
            }
            self.note_capture(&s)?;
            if self.opt.stage == Stage::Geometry {
                self.emitted.push((n, s));
            } else {
                self.outputs.push((n, s));
            }
        }
        Ok(base)
    }

    /// What the stage hands on: the output variables' last values, at the end of the entry point.
    pub(crate) fn emit_outputs(&mut self) -> Result<()> {
        let list = std::mem::take(&mut self.outputs);
        for (n, s) in list {
            if !self.is_stored(n) {
                continue;
            }
            let Some(slot) = self.output_slot(&s)? else { continue };
            let v = self.read_scalar(n)?;
            // Only arithmetic reads built-ins of the vertex stage; others may be looked at as bits.
            let arithmetic = self.opt.stage.makes_vertices() && slot >= POSITION;
            let v = if arithmetic { v } else { self.e.observed(s.kind, v) };
            let fragment = self.opt.stage == Stage::Fragment && s.signed;
            let v = match s.kind {
                Sk::Bool => return Err(unsupported("interface variables of Booleans")),
                Sk::I64 | Sk::F64 => {
                    let high = self.e.un(Un::Hi32, v);
                    self.e.push(Inst::Output { slot: slot + 1, value: high }, Ty::Void);
                    self.e.un(Un::Lo32, v)
                }
                Sk::I8 if fragment => self.e.un(Un::SExt8, v),
                Sk::I16 if fragment => self.e.un(Un::SExt16, v),
                _ => v,
            };
            self.e.push(Inst::Output { slot, value: v }, Ty::Void);
        }
        self.end_emission()
    }

    /// The slot of an output scalar; `None` for those that nobody looks at.
    pub(crate) fn output_slot(&self, s: &Scalar) -> Result<Option<u16>> {
        let (b, k) = match s.place {
            InterfacePlace::Slot(slot) => return Ok(Some(slot)),
            InterfacePlace::BuiltIn(b, k) => (b, k),
        };
        let (base, n) = match (b, self.opt.stage) {
            (BuiltIn::FragDepth, Stage::Fragment) => (FRAG_DEPTH, 1),
            (BuiltIn::FragStencilRefEXT, Stage::Fragment) => (STENCIL_REF, 1),
            (BuiltIn::SampleMask, Stage::Fragment) => (SAMPLE_MASK, 1),
            (b, stage) if stage.makes_vertices() && vertex_builtin(b).is_some() => {
                vertex_builtin(b).unwrap_or_default()
            }
            _ => return Err(unsupported(format!("the output {b:?}"))),
        };
        if s.kind.ty() != Ty::B32 {
            return Err(unsupported(format!("the output {b:?} of this type")));
        }
        Ok((k < n).then(|| base + k as u16))
    }

    /// The interface as declared, in order of slots.
    pub(crate) fn finish_interface(&mut self) -> Interface {
        let mut interface = std::mem::take(&mut self.interface);
        interface.varyings.small_sort_by_key(|v| v.slot);
        interface
    }
}

/// First slot of a vertex's or patch's built-in, and its components.
fn vertex_builtin(b: BuiltIn) -> Option<(u16, u32)> {
    Some(match b {
        BuiltIn::Position => (POSITION, 4),
        BuiltIn::PointSize => (POINT_SIZE, 1),
        BuiltIn::ClipDistance => (CLIP_DISTANCE, 8),
        BuiltIn::CullDistance => (CULL_DISTANCE, 8),
        BuiltIn::Layer => (LAYER, 1),
        BuiltIn::ViewportIndex => (VIEWPORT_INDEX, 1),
        BuiltIn::PrimitiveId => (PRIMITIVE_ID, 1),
        BuiltIn::PrimitivePointIndicesEXT => (INDICES, 1),
        BuiltIn::PrimitiveLineIndicesEXT => (INDICES, 2),
        BuiltIn::PrimitiveTriangleIndicesEXT => (INDICES, 3),
        BuiltIn::CullPrimitiveEXT => (CULL_PRIMITIVE, 1),
        BuiltIn::PrimitiveShadingRateKHR => (SHADING_RATE, 1),
        BuiltIn::TessLevelOuter => (TESS_OUTER, 4),
        BuiltIn::TessLevelInner => (TESS_INNER, 2),
        _ => return None,
    })
}

/// The slot of component `k` of such a built-in; `None`: there is none.
pub(crate) fn vertex_slot(b: BuiltIn, k: u32) -> Option<u16> {
    vertex_builtin(b).filter(|(_, n)| k < *n).map(|(first, _)| first + k as u16)
}

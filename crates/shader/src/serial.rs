//! Programs as bytes, for pipeline caches. The form belongs to one build of the driver: the code that stores it stores a
//! version and a checksum with it. Anyone may write such bytes, so what is read goes through the check of finished programs.

use crate::bytecode::{BlockRange, Code, Compiled, ImageCode, Op, Program, Reg};
use crate::bytecode_check::check;
use crate::cost::{Cost, Half, Halves, MarkUse, Profile, Ways};
use crate::data::Data;
use crate::interface::{At, DepthMode, Interface, Varying};
use crate::ir::{
    AtomicOp, Checked, Decides, Dim, ImageOp, Input, Order, Origin, ProbeOp, Region, Site, Stage, TexelType,
    Ty, Undefined,
};
use crate::notes::{File, Frame, Made, Module, Note, Notes, Scalar, Warp, What};
use crate::stage_io::{
    Capture, Cell, Domain, Emitted, EmittedScalar, Feedback, Geometry, Mesh, RayIo, Spacing, StageIo,
    Tessellation,
};

struct Out(Vec<u8>);

struct In<'a>(&'a [u8]);

/// Something with a place in the byte stream. `None`: the bytes end too soon, or mean nothing.
trait Part: Sized {
    fn put(&self, o: &mut Out);
    fn take(i: &mut In) -> Option<Self>;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Part for $t {
            fn put(&self, o: &mut Out) {
                o.0.extend_from_slice(&self.to_le_bytes());
            }
            fn take(i: &mut In) -> Option<$t> {
                let (bytes, rest) = i.0.split_first_chunk()?;
                i.0 = rest;
                Some(<$t>::from_le_bytes(*bytes))
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64);

impl Part for bool {
    fn put(&self, o: &mut Out) {
        (*self as u8).put(o);
    }
    fn take(i: &mut In) -> Option<bool> {
        Some(u8::take(i)? != 0)
    }
}

impl<T: Part> Part for Vec<T> {
    fn put(&self, o: &mut Out) {
        (self.len() as u32).put(o);
        self.iter().for_each(|x| x.put(o));
    }
    fn take(i: &mut In) -> Option<Vec<T>> {
        let n = u32::take(i)?;
        // Every element has a byte at least: a wild length ends soon, without a wild allocation.
        let mut v = Vec::with_capacity((n as usize).min(i.0.len() / size_of::<T>().max(1)));
        for _ in 0..n {
            v.push(T::take(i)?);
        }
        Some(v)
    }
}

impl Part for String {
    fn put(&self, o: &mut Out) {
        self.as_bytes().to_vec().put(o);
    }
    fn take(i: &mut In) -> Option<String> {
        String::from_utf8(Vec::take(i)?).ok()
    }
}

impl<T: Part> Part for Option<T> {
    fn put(&self, o: &mut Out) {
        self.is_some().put(o);
        if let Some(x) = self {
            x.put(o);
        }
    }
    fn take(i: &mut In) -> Option<Option<T>> {
        Some(if bool::take(i)? { Some(T::take(i)?) } else { None })
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    fn put(&self, o: &mut Out) {
        self.0.put(o);
        self.1.put(o);
    }
    fn take(i: &mut In) -> Option<(A, B)> {
        Some((A::take(i)?, B::take(i)?))
    }
}

impl<A: Part, B: Part, C: Part> Part for (A, B, C) {
    fn put(&self, o: &mut Out) {
        self.0.put(o);
        self.1.put(o);
        self.2.put(o);
    }
    fn take(i: &mut In) -> Option<(A, B, C)> {
        Some((A::take(i)?, B::take(i)?, C::take(i)?))
    }
}

impl<T: Part + Copy + Default, const N: usize> Part for [T; N] {
    fn put(&self, o: &mut Out) {
        self.iter().for_each(|x| x.put(o));
    }
    fn take(i: &mut In) -> Option<[T; N]> {
        let mut all = [T::default(); N];
        for x in &mut all {
            *x = T::take(i)?;
        }
        Some(all)
    }
}

macro_rules! newtypes {
    ($($t:ident),*) => {$(
        impl Part for $t {
            fn put(&self, o: &mut Out) {
                self.0.put(o);
            }
            fn take(i: &mut In) -> Option<$t> {
                Some($t(Part::take(i)?))
            }
        }
    )*};
}
newtypes!(Reg, Code);

/// Structures field by field; the compiler says when one is forgotten.
macro_rules! structs {
    ($($t:ident { $($f:ident),* $(,)? })*) => {$(
        impl Part for $t {
            fn put(&self, o: &mut Out) {
                let $t { $($f),* } = self;
                $($f.put(o);)*
            }
            fn take(i: &mut In) -> Option<$t> {
                $(let $f = Part::take(i)?;)*
                Some($t { $($f),* })
            }
        }
    )*};
}
structs! {
    Op { code, d, a, b, c, e, imm }
    Origin { function, label, file, line }
    BlockRange { first_op, origin }
    ImageCode {
        op, dim, arrayed, multisampled, texel, format, image, sampler, coords, dref, lod, bias, grad, offsets,
        sample, min_lod, component, data, results, residency, half,
    }
    Varying { slot, flat, no_perspective, at, half }
    Interface {
        varyings, writes_memory, early_tests, depth, writes_stencil, writes_sample_mask, discards, per_sample,
        reads_tile, reads_depth, post_depth_coverage, sample_interlock, pixel_interlock, needs_quads, io,
    }
    Cell { slot, bits, word, stride, count }
    Capture { slot, buffer, stream, offset, bytes, half }
    Feedback { captures, strides, streams }
    EmittedScalar { slot, stream }
    Geometry { vertices, emitted, invocations, max_vertices, outputs, ring, streams }
    Tessellation { domain, spacing, clockwise, point_mode, vertices, outputs, words }
    Mesh { emitted, max_vertices, max_primitives, vertices, primitives, payload }
    RayIo { words, incoming, attribute }
    StageIo { inputs, geometry, tessellation, mesh, ray, feedback }
    Program {
        stage, interface, outputs, lanes, workgroup, code, images, embedded, sites, notes, data, units, handles, consts, inputs, prologue, shared_bytes, scratch_words, zeroed,
        queries,
        packed, multi_wave, keeps_denormals, quad_derivatives, blocks, files, profile, compiled,
    }
    Frame { parent, at, function }
    Note { at, frame, what, first, scalars }
    Made { version, process, frame, problems }
    Module { stage, entry, hash, spec, workgroup, words, frames, notes }
    Warp { module, frame, command, labels, pipeline, draw, lanes, records, lost }
    File { made, modules, warps }
    Site { op, origin, region, binding, descriptors, offset, bytes, shared_bytes, tells, order, atomic, undefined, decides }
    Order { acquires, releases, wide, available, visible }
    Cost { fma, cvt, sfu, ls, single, loads, tex, narrow, barriers, varying }
    MarkUse { counter, mark, entry, work, cost }
    Ways { total, shortest, longest }
    Half { costs, attributes, ways }
    Halves { position, others }
    Profile { counters, halves, marks, mark_count, registers, descriptors, ways, uniform, once }
}

impl Part for Data {
    fn put(&self, o: &mut Out) {
        self.words().put(o);
    }
    fn take(i: &mut In) -> Option<Data> {
        Some(Data::new(&Vec::take(i)?))
    }
}

/// No part of a program's bytes: who runs it makes it anew.
impl Part for Compiled {
    fn put(&self, _: &mut Out) {}
    fn take(_: &mut In) -> Option<Self> {
        Some(Compiled::default())
    }
}

/// Of a debugged program, which no cache keeps: its ops are then wrong, and it is compiled anew.
impl Part for Notes {
    fn put(&self, _: &mut Out) {}
    fn take(_: &mut In) -> Option<Self> {
        Some(Notes::default())
    }
}

/// Enums by the order told here; variants may carry one part.
macro_rules! enums {
    ($($t:ident { $($v:ident $(($x:ident))?),* $(,)? })*) => {$(
        impl Part for $t {
            fn put(&self, o: &mut Out) {
                let mut n = 0u8;
                $(
                    if let $t::$v $(($x))? = self {
                        n.put(o);
                        $($x.put(o);)?
                    }
                    n += 1;
                )*
                let _ = n;
                // Says at compile time when a variant is missing.
                match self { $($t::$v $(($x))? => { $(let _ = $x;)? })* }
            }
            fn take(i: &mut In) -> Option<$t> {
                let told = u8::take(i)?;
                let mut n = 0u8;
                $(
                    if told == n {
                        $(let $x = Part::take(i)?;)?
                        return Some($t::$v $(($x))?);
                    }
                    n += 1;
                )*
                let _ = n;
                None
            }
        }
    )*};
}
enums! {
    Ty { Void, Bool, B32, B64, Tuple }
    Stage {
        Vertex, TessControl, TessEval, Geometry, Task, Mesh, Fragment, Compute, RayGen, Intersection, AnyHit, ClosestHit, Miss, Callable,
    }
    ProbeOp { Read, Write, Atomic, Barrier, Fence, Quad, Begin, Fault }
    Region { Buffer, Global, Shared, Image }
    What { Begin, Step, Enter, Leave }
    Scalar { Bool, Int, F16, F32, I64, F64 }
    Undefined { Variable, Shared, DivisionByZero, Shift, NotFinite, Conversion, Memory, Texel, Push, Attribute, Unchanged }
    Decides { Branch, Address, Stored, Shown, Handed, End }
    Emitted { Points, LineStrip, TriangleStrip }
    Domain { Triangles, Quads, Isolines }
    Spacing { Equal, FractionalEven, FractionalOdd }
    At { Center, Centroid, Sample }
    DepthMode { Unwritten, Any, Greater, Less, Unchanged }
    Dim { D1, D2, D3, Cube, Buffer, SubpassData }
    TexelType { F32, S32, U32, S64, U64 }
    ImageOp { Sample, Gather, Fetch, Read, Write, Atomic(x), QuerySize, QueryLevels, QuerySamples, QueryLod, Check(x) }
    Checked { Sample, Gather, Fetch, Read, Write, Atomic }
    Input {
        LocalId(x), WorkgroupId(x), NumWorkgroups(x), SubgroupLane, SubgroupId, NumSubgroups,
        LocalIndex, DeviceIndex, VertexIndex, InstanceIndex, BaseVertex, BaseInstance, DrawIndex, ViewIndex,
        Varying(x), FragCoord(x), FrontFacing, PointCoord(x), SampleId, SampleMask, HelperInvocation, FullyCovered, PrimitiveId,
        Layer, ViewportIndex, ShadingRate, SamplePosition(x), PlaneAt(x), PlaneDx(x), PlaneDy(x), InvW(x), CentroidOffset(x),
        InvocationId, PatchVertices, PatchBase, TessCoord(x), SampleOffset(x), Ray(x), Undefined,
    }
}

impl Part for AtomicOp {
    fn put(&self, o: &mut Out) {
        (*self as u8).put(o);
    }
    fn take(i: &mut In) -> Option<AtomicOp> {
        AtomicOp::from_number(u8::take(i)? as u16)
    }
}

/// For the IR's text: hexadecimal digits.
fn to_text(part: &impl Part) -> String {
    let mut o = Out(Vec::new());
    part.put(&mut o);
    o.0.iter().map(|b| format!("{b:02x}")).collect()
}

/// What [`to_text`] made of a part; `None` for anything else.
fn from_text<T: Part>(text: &str) -> Option<T> {
    let digits = text.as_bytes();
    let byte = |d: &[u8]| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let bytes = bytes?;
    let mut i = In(&bytes);
    let part = T::take(&mut i)?;
    i.0.is_empty().then_some(part)
}

impl StageIo {
    pub fn to_text(&self) -> String {
        to_text(self)
    }
    pub fn from_text(text: &str) -> Option<StageIo> {
        from_text(text)
    }
}

impl Site {
    pub fn to_text(&self) -> String {
        to_text(self)
    }
    pub fn from_text(text: &str) -> Option<Site> {
        from_text(text)
    }
}

impl Frame {
    pub fn to_text(&self) -> String {
        to_text(self)
    }
    pub fn from_text(text: &str) -> Option<Frame> {
        from_text(text)
    }
}

impl Note {
    pub fn to_text(&self) -> String {
        to_text(self)
    }
    pub fn from_text(text: &str) -> Option<Note> {
        from_text(text)
    }
}

impl File {
    pub fn to_bytes(&self) -> Vec<u8> {
        let records: usize = self.warps.iter().map(|w| w.records.len()).sum();
        let mut o = Out(Vec::with_capacity(records * 4 + (1 << 16)));
        o.0.extend_from_slice(File::MAGIC);
        self.put(&mut o);
        o.0
    }

    /// `None` unless the bytes are exactly a file of this version whose parts fit each other.
    pub fn from_bytes(bytes: &[u8]) -> Option<File> {
        let mut i = In(bytes.strip_prefix(File::MAGIC)?);
        let file = File::take(&mut i)?;
        (i.0.is_empty() && file.fits()).then_some(file)
    }
}

impl Program {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut o = Out(Vec::with_capacity(self.code.len() * 16 + 1024));
        self.put(&mut o);
        o.0
    }

    /// `None` unless the bytes are exactly a program, and one that may run.
    pub fn from_bytes(bytes: &[u8]) -> Option<Program> {
        let mut i = In(bytes);
        let p = Program::take(&mut i)?;
        (i.0.is_empty() && check(&p).is_ok()).then_some(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Mem;

    fn program() -> Program {
        let reg = Reg::varying(7);
        Program {
            stage: Stage::Fragment,
            interface: Interface {
                varyings: vec![Varying {
                    slot: 5,
                    flat: false,
                    no_perspective: true,
                    at: At::Sample,
                    half: true,
                }],
                depth: DepthMode::Less,
                per_sample: true,
                ..Interface::default()
            },
            outputs: vec![(3, reg)],
            lanes: 128,
            workgroup: [8, 8, 4],
            code: vec![
                Op { d: reg, b: Reg::uniform(0), imm: 0xDEAD_BEEF, e: 3, ..Op::new(Code::LD_BUF) },
                Op::new(Code::END),
            ],
            images: vec![ImageCode {
                op: ImageOp::Atomic(AtomicOp::FMax),
                dim: Dim::Cube,
                arrayed: true,
                multisampled: false,
                texel: TexelType::U64,
                format: 5,
                image: Reg::uniform(0),
                sampler: Reg::NONE,
                coords: vec![reg, Reg::uniform(17)],
                dref: reg,
                lod: reg,
                bias: reg,
                grad: vec![],
                offsets: vec![reg],
                sample: reg,
                min_lod: reg,
                component: 3,
                data: vec![reg; 3],
                results: vec![],
                residency: reg,
                half: true,
            }],
            embedded: vec![[1, 2, 3, u64::MAX]],
            sites: vec![Site {
                binding: Some((1, 2)),
                undefined: Some(Undefined::Shift),
                ..Site::access(ProbeOp::Write, Origin::default(), Region::Buffer, 4, Mem::U16, 3)
            }],
            notes: Notes::default(),
            data: vec![Data::new(&[7, u32::MAX]), Data::default()],
            units: 99,
            handles: 4,
            consts: vec![(Reg::uniform(18), Ty::B64, u64::MAX)],
            inputs: vec![(Input::LocalId(2), reg), (Input::LocalIndex, reg), (Input::ViewportIndex, reg)],
            prologue: 1,
            shared_bytes: 4096,
            scratch_words: 12,
            zeroed: [2, 12],
            queries: 0,
            packed: false,
            multi_wave: true,
            keeps_denormals: false,
            quad_derivatives: false,
            blocks: vec![BlockRange {
                first_op: 1,
                origin: Origin { function: 4, label: 5, file: 0, line: 77 },
            }],
            files: vec!["späte.comp".into()],
            profile: Profile {
                counters: vec![Cost { sfu: 3, ..Cost::FREE }],
                halves: Some(Halves {
                    position: Half {
                        costs: vec![Cost { fma: 2, ..Cost::FREE }],
                        attributes: vec![3],
                        ways: Ways { total: Cost { fma: 7, ..Cost::FREE }, ..Ways::default() },
                    },
                    others: Half::default(),
                }),
                marks: vec![MarkUse { counter: 1, mark: 2, entry: true, work: true, cost: Cost::FREE }],
                ways: Ways { longest: Some(Cost { tex: 9, ..Cost::FREE }), ..Ways::default() },
                uniform: Cost { cvt: 5, ..Cost::FREE },
                once: vec![Cost { ls: 4, ..Cost::FREE }],
                ..Profile::default()
            },
            compiled: Default::default(),
        }
    }

    #[test]
    fn there_and_back() {
        let p = program();
        assert_eq!(Program::from_bytes(&p.to_bytes()), Some(p));
    }

    #[test]
    fn what_is_cut_or_longer_is_no_program() {
        let bytes = program().to_bytes();
        for n in 0..bytes.len() {
            assert_eq!(Program::from_bytes(&bytes[..n]), None, "{n} bytes");
        }
        assert_eq!(Program::from_bytes(&[&bytes[..], &[0]].concat()), None);
        // Whole, but it would leave its register file.
        assert_eq!(Program::from_bytes(&Program { units: 7, ..program() }.to_bytes()), None);
    }
}

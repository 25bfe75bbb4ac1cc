//! Translation of one entry point to [`crate::ir`]: everything scalarised, calls inlined, variables in SSA form on
//! the fly (after Braun et al.), expressions folded and shared as they are emitted.
//!
//! An id's value is a run of IR values in [`Builder::pool`], one per scalar; pointers that are no values (to
//! function variables, descriptors and the like) are [`access::Pointer`]s at translation time.

mod access;
mod analysis;
mod arith;
mod atomics;
mod bits;
mod builtins;
mod call;
pub mod capability;
mod composite;
mod constants;
mod control;
mod convert;
mod cooperative;
mod cooperative_calls;
mod cooperative_lanes;
mod cooperative_small;
mod cooperative_tensor;
mod cooperative_vector;
mod cooperative_workgroup;
mod debug;
mod derivatives;
mod dot;
mod emit;
mod endless;
mod finish;
mod float;
mod foresee;
mod function;
mod glsl450;
mod glsl_matrix;
mod glsl_pack;
pub(crate) mod handles;
mod heap;
mod hit_object;
mod image;
mod image_operands;
mod instruction;
mod interface;
mod interpolate;
mod matrix;
mod memory;
mod notes;
mod phi;
mod ray;
mod simplify;
mod small;
mod ssa;
mod stages;
mod subgroup;
mod sums;
mod tensor;
mod tensor_address;
mod tensor_layout;
mod tile_image;
mod trace;
mod turns;
mod types;
mod unroll;
mod untyped;
mod variables;
mod where_holds;

use crate::ir::*;
use crate::options::{Error, Options, Result};
use crate::spirv::*;
use crate::work::Work;
use access::Pointer;
use small_sort::SmallSort;
use std::rc::Rc;
use types::{Sk, Types};

/// Marks a [`Slot`] whose `start` indexes [`Builder::ptrs`].
const PTR: u32 = u32::MAX;
/// SPIR-V instructions translated, inlined ones counted each time.
pub const MAX_INSTRUCTIONS: u32 = 1 << 20;
const MAX_CALL_DEPTH: usize = 100;
/// Loops around one another: what looks at all loops around a block looks at no more than this.
const MAX_LOOPS: u32 = 200;
/// Scalars of all composites that are spelled out.
const MAX_SCALARS: usize = 1 << 24;
/// Bit of the FP fast-math mode.
const FAST_MATH_ALLOW_CONTRACT: u32 = 0x1_0000;
/// Signs of zeros do not matter.
const FAST_MATH_NSZ: u32 = 4;
/// NotNaN and NotInf.
const FAST_MATH_NUMBERS: u32 = 3;

/// What an id stands for: `len` values from `start` of the pool, defined in `block`. `ty` 0: nothing.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Slot {
    pub ty: u32,
    pub start: u32,
    pub len: u32,
    pub block: u32,
}

pub(crate) struct Builder<'m> {
    pub m: &'m Module,
    pub opt: &'m Options<'m>,
    /// Specialisation by SpecId.
    spec: rustc_hash::FxHashMap<u32, u64>,
    pub types: Types,
    pub e: emit::Emit,
    ids: Vec<Slot>,
    pub pool: Vec<Value>,
    ptrs: Vec<Pointer>,
    ssa: ssa::Ssa,
    uses: analysis::Analysis,
    infos: Vec<Option<Rc<control::FnInfo>>>,
    on_stack: Vec<bool>,
    depth: usize,
    instructions: u32,
    work: Work,
    workgroup: [u32; 3],
    shared_bytes: u32,
    /// Where matrices of a workgroup go through its memory.
    exchange: Option<u32>,
    shared_is_initialized: bool,
    /// Workgroup variables have explicit layout.
    explicit_shared: bool,
    scratch_words: u32,
    /// Private words in which rows of products wait: the first, and how many.
    rows_wait: [u32; 2],
    /// Ray queries that variables have, and the first of each variable's.
    queries: u32,
    queries_at: rustc_hash::FxHashMap<u32, u32>,
    zeroed: [u32; 2],
    scratch_of: rustc_hash::FxHashMap<u32, u32>,
    varying_loads: Vec<(u16, (u32, u32))>,
    /// The block of the application's that is translated, whatever IR block its code goes to.
    here: Origin,
    /// [`Shader::origins`]
    origins: Vec<(u32, Origin)>,
    /// The mark whose block that is.
    mark: Option<u32>,
    /// Loops around what is translated, callers' included.
    open_loops: u32,
    /// [`Shader::keeps_denormals`]
    keeps_denormals: bool,
    quad_derivatives: bool,
    signed_zero_inf_nan: bool,
    /// The long OpPhi met last, by its place: its operands by label.
    long_phi: (usize, rustc_hash::FxHashMap<u32, u32>),
    /// Scratch lists, kept for their capacity.
    tmp: Vec<(u32, Sk)>,
    texels: Vec<atomics::Texel>,
    /// Float results must not be contracted unless decorated otherwise.
    all_exact: bool,
    /// Signs of zeros matter where no decoration says otherwise.
    all_signs: bool,
    /// So do NaNs and infinities.
    all_numbers: bool,
    debug: debug::Lines,
    /// Written variables by set and binding, once asked for.
    written: Option<Rc<rustc_hash::FxHashMap<(u32, u32), Vec<u32>>>>,
    /// Ids that the entry point's OpEntryPoint lists, ascending.
    entry_interface: Vec<u32>,
    interface: crate::interface::Interface,
    /// Input variables' scalars by the first of their values in the pool; outputs with their SSA scalars.
    inputs: rustc_hash::FxHashMap<u32, Vec<interface::Scalar>>,
    outputs: Vec<(u32, interface::Scalar)>,
    /// Likewise a geometry shader's, until its code begins; and what it has emitted.
    emitted: Vec<(u32, interface::Scalar)>,
    emission: stages::Emission,
    /// Words of a patch's memory.
    stage_words: u32,
    /// The HelperInvocation variable's value.
    helper: Option<u32>,
    /// Values of the built-in RayTmaxKHR of an intersection shader, whose loads ask anew.
    t_max: Option<u32>,
    /// Embedded samplers ([`Shader::given`]).
    embedded: Vec<[u64; 4]>,
    /// Constant arrays that are read in place ([`Shader::data`]).
    data: Vec<Vec<u32>>,
    /// Instructions of loops that were unrolled, once for each copy.
    unrolled_size: u32,
    denied: &'m unroll::Denied,
    /// Why this translation is given up.
    again: Option<unroll::Again>,
    /// Of a debugged shader.
    notebook: Option<Box<notes::Notebook>>,
}

/// Translates the entry point that `options` names.
///
/// Errors: [`Error::Invalid`] when what it uses of the module is wrong (or a binding is not in the layout),
/// [`Error::Unsupported`], [`Error::TooLarge`].
pub fn build(module: &Module, options: &Options) -> Result<Shader> {
    let mut denied = unroll::Denied::default();
    let mut work = Work::default();
    loop {
        let mut b = Builder::new(module, options, &denied, work);
        match b.translate() {
            Ok(()) => return b.finish(),
            Err(e) => match b.again {
                None => return Err(e),
                Some(what) => {
                    work = b.work;
                    denied.add(what);
                }
            },
        }
    }
}

impl<'m> Builder<'m> {
    fn new(
        module: &'m Module,
        options: &'m Options<'m>,
        denied: &'m unroll::Denied,
        work: Work,
    ) -> Builder<'m> {
        let size = (module.words.len() / 4).clamp(64, 1 << 16);
        Builder {
            m: module,
            opt: options,
            // Of several for one id the first holds.
            spec: options.spec.iter().rev().copied().collect(),
            types: Types::new(module.ids()),
            e: emit::Emit::new(size),
            ids: vec![Slot::default(); module.ids()],
            pool: Vec::with_capacity(4096),
            ptrs: Vec::new(),
            ssa: ssa::Ssa::new(size),
            uses: analysis::Analysis::default(),
            infos: Vec::new(),
            on_stack: vec![false; module.functions.len()],
            depth: 0,
            instructions: 0,
            work,
            workgroup: [1; 3],
            shared_bytes: 0,
            exchange: None,
            shared_is_initialized: false,
            explicit_shared: false,
            scratch_words: 0,
            rows_wait: [0; 2],
            queries: 0,
            queries_at: Default::default(),
            zeroed: [0; 2],
            scratch_of: Default::default(),
            varying_loads: Vec::new(),
            here: Origin::default(),
            origins: Vec::new(),
            mark: None,
            open_loops: 0,
            keeps_denormals: false,
            quad_derivatives: false,
            signed_zero_inf_nan: false,
            long_phi: Default::default(),
            tmp: Vec::new(),
            texels: Vec::new(),
            all_exact: false,
            all_signs: false,
            all_numbers: false,
            debug: debug::Lines::new(),
            written: None,
            entry_interface: Vec::new(),
            interface: Default::default(),
            inputs: Default::default(),
            outputs: Vec::new(),
            emitted: Vec::new(),
            emission: stages::Emission::default(),
            stage_words: 0,
            helper: None,
            t_max: None,
            embedded: Vec::new(),
            data: Vec::new(),
            unrolled_size: 0,
            denied,
            again: None,
            notebook: None,
        }
    }

    fn translate(&mut self) -> Result<()> {
        let module = self.m;
        let b = self;
        b.check_capabilities()?;
        let entry = b.find_entry()?;
        b.read_float_modes(entry)?;
        b.declare_globals()?;
        b.read_modes(entry)?;
        let (_, after_name) = module.inst(entry).string(3)?;
        b.entry_interface = module.inst(entry).rest(after_name).to_vec();
        b.entry_interface.small_sort();
        b.read_sample_shading();
        b.read_feedback()?;
        let function = module.inst(entry).word(2)?;
        let f = module
            .function(function)
            .ok_or_else(|| invalid(entry as usize, format!("entry point {function} is not a function")))?;
        b.analyse(f)?;
        b.begin_stage()?;
        b.place_ray_variables()?;
        b.place_globals()?;
        b.begin_emission()?;
        b.begin_notes(function);
        b.run_entry(f)
    }

    fn find_entry(&self) -> Result<u32> {
        let model = self.opt.stage.model();
        for &at in &self.m.entries {
            let i = self.m.inst(at);
            if i.word(1)? == model as u32 && i.string(3)?.0 == self.opt.entry {
                return Ok(at);
            }
        }
        Err(invalid(0, format!("no {model:?} entry point named {:?}", self.opt.entry)))
    }

    /// Types, constants and other global definitions, in order.
    fn declare_globals(&mut self) -> Result<()> {
        for k in 0..self.m.globals.len() {
            let i = self.m.inst(self.m.globals[k]);
            match i.op {
                Op::TypeVoid
                | Op::TypeBool
                | Op::TypeInt
                | Op::TypeFloat
                | Op::TypeVector
                | Op::TypeMatrix
                | Op::TypeImage
                | Op::TypeSampler
                | Op::TypeSampledImage
                | Op::TypeArray
                | Op::TypeRuntimeArray
                | Op::TypeStruct
                | Op::TypePointer
                | Op::TypeUntypedPointerKHR
                | Op::TypeBufferEXT
                | Op::TypeFunction
                | Op::TypeAccelerationStructureKHR
                | Op::TypeRayQueryKHR
                | Op::TypeHitObjectEXT
                | Op::TypeTensorLayoutNV
                | Op::TypeTensorViewNV
                | Op::TypeCooperativeMatrixKHR
                | Op::TypeVectorIdEXT
                | Op::TypeTensorARM => self.declare_type(i)?,
                Op::ConstantTrue
                | Op::ConstantFalse
                | Op::Constant
                | Op::ConstantComposite
                | Op::ConstantNull
                | Op::SpecConstantTrue
                | Op::SpecConstantFalse
                | Op::SpecConstant
                | Op::SpecConstantComposite
                | Op::SpecConstantOp
                | Op::ConstantCompositeReplicateEXT
                | Op::SpecConstantCompositeReplicateEXT
                | Op::ConstantSizeOfEXT
                | Op::Undef => self.declare_constant(i)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Rounding and denormals, which hold for specialisation constants too.
    fn read_float_modes(&mut self, entry: u32) -> Result<()> {
        let f = self.m.inst(entry).word(2)?;
        for k in 0..self.m.modes.len() {
            let i = self.m.inst(self.m.modes[k]);
            if i.word(1)? != f {
                continue;
            }
            match ExecutionMode::from_u32(i.word(2)?) {
                Some(ExecutionMode::RoundingModeRTZ) => {
                    self.e.modes.set(i.word(3)?, |m| m.toward_zero = true);
                }
                // Of another width too: one mode of the CPU is for all.
                Some(ExecutionMode::DenormPreserve) => {}
                Some(ExecutionMode::DenormFlushToZero) => self.e.modes.set(i.word(3)?, |m| m.flush = true),
                _ => continue,
            }
            // The other modes are made of operations that keep them.
            self.keeps_denormals = true;
        }
        Ok(())
    }

    fn read_modes(&mut self, entry: u32) -> Result<()> {
        let f = self.m.inst(entry).word(2)?;
        let mut size = None;
        for k in 0..self.m.modes.len() {
            let i = self.m.inst(self.m.modes[k]);
            if i.word(1)? != f {
                continue;
            }
            match ExecutionMode::from_u32(i.word(2)?) {
                Some(ExecutionMode::LocalSize) => size = Some([i.word(3)?, i.word(4)?, i.word(5)?]),
                Some(ExecutionMode::LocalSizeId) => {
                    let mut s = [0; 3];
                    for (d, s) in s.iter_mut().enumerate() {
                        *s = self.const_u32(i.word(3 + d)?, i.at)?;
                    }
                    size = Some(s);
                }
                Some(ExecutionMode::SignedZeroInfNanPreserve) => {
                    (self.signed_zero_inf_nan, self.all_signs, self.all_numbers) = (true, true, true);
                }
                Some(ExecutionMode::FPFastMathDefault) => {
                    let mode = self.const_u32(i.word(4)?, i.at)?;
                    self.all_exact |= mode & FAST_MATH_ALLOW_CONTRACT == 0;
                    self.all_signs |= mode & FAST_MATH_NSZ == 0;
                    self.all_numbers |= mode & FAST_MATH_NUMBERS != FAST_MATH_NUMBERS;
                }
                Some(ExecutionMode::DerivativeGroupQuadsKHR) => self.quad_derivatives = true,
                Some(mode) if self.opt.stage == Stage::Fragment => self.fragment_mode(mode)?,
                Some(mode) => self.stage_mode(mode, &i)?,
                _ => {}
            }
        }
        // A constant decorated WorkgroupSize overrides the mode.
        for d in self.m.all_decorations() {
            if d.kind == Decoration::BuiltIn as u32
                && d.value == BuiltIn::WorkgroupSize as u32
                && d.member == WHOLE
                && self.ids.get(d.target as usize).is_some_and(|s| s.ty != 0 && s.len == 3)
            {
                let mut s = [0; 3];
                for (k, s) in s.iter_mut().enumerate() {
                    let v = self.pool[self.ids[d.target as usize].start as usize + k];
                    *s = self.e.as_const(v).unwrap_or(1) as u32;
                }
                size = Some(s);
            }
        }
        if self.opt.stage.has_workgroups() {
            let s = size.ok_or_else(|| invalid(entry as usize, "no workgroup size"))?;
            let total = s.iter().try_fold(1u32, |a, &b| a.checked_mul(b));
            match total {
                Some(1..=65536) => self.workgroup = s,
                _ => return Err(Error::TooLarge(format!("a workgroup of {s:?} invocations"))),
            }
        }
        Ok(())
    }

    /// Errors when the shader has grown beyond all bounds.
    fn check_size(&self) -> Result<()> {
        if self.pool.len() > MAX_SCALARS {
            let what = format!("the composites that it makes grow beyond {MAX_SCALARS} scalars");
            return Err(Error::TooLarge(what));
        }
        self.e.check_size()
    }

    // Ids and their values.

    /// Type, first pool index and length of a value.
    #[inline]
    pub(crate) fn value(&mut self, id: u32, at: usize) -> Result<(u32, usize, usize)> {
        let s = self.slot(id, at)?;
        if s.len == PTR {
            let n = self.pointer_value(s.start as usize, at)?;
            return Ok((s.ty, n.0, n.1));
        }
        Ok((s.ty, s.start as usize, s.len as usize))
    }
    /// What an id stands for, checked to be defined here.
    #[inline]
    fn slot(&mut self, id: u32, at: usize) -> Result<Slot> {
        let s = match self.ids.get(id as usize) {
            Some(s) if s.ty != 0 => *s,
            _ => {
                self.global_variable(id, at)?;
                self.ids[id as usize]
            }
        };
        if !self.e.dominates(s.block, self.e.cur) {
            return Err(invalid(at, format!("id {id} does not dominate its use")));
        }
        Ok(s)
    }
    /// Makes a pointer that a phi reads a value where it is defined: a later block could not add its parts.
    fn keep_phi_pointer(&mut self, id: u32, at: usize) -> Result<()> {
        let s = self.ids[id as usize];
        if s.len != PTR || !self.uses.phi_pointers.contains_key(&id) {
            return Ok(());
        }
        let (start, len) = self.pointer_value(s.start as usize, at)?;
        self.ids[id as usize] = Slot { ty: s.ty, start: start as u32, len: len as u32, block: self.e.cur };
        Ok(())
    }
    /// A value of one scalar.
    pub(crate) fn one(&mut self, id: u32, at: usize) -> Result<Value> {
        let (_, start, len) = self.value(id, at)?;
        if len != 1 {
            return Err(invalid(at, format!("id {id} is not a scalar")));
        }
        Ok(self.pool[start])
    }
    /// As [`Self::one`], checked for a type.
    pub(crate) fn one_of(&mut self, id: u32, ty: Ty, at: usize) -> Result<Value> {
        let v = self.one(id, at)?;
        if self.e.ty(v) != ty {
            return Err(invalid(at, format!("id {id} has the wrong type")));
        }
        Ok(v)
    }
    /// An integer as B32: cut if it has 64 bits, sign-extended if narrow and signed.
    pub(crate) fn int32(&mut self, id: u32, at: usize) -> Result<Value> {
        let (ty, start, len) = self.value(id, at)?;
        let signed = self.types.signed(ty);
        match self.types.numeric(ty) {
            Some((s, 1)) if len == 1 && !s.is_float() && s != Sk::Bool => {
                let v = self.pool[start];
                Ok(match s {
                    Sk::I64 => self.e.un(Un::Lo32, v),
                    Sk::I8 if signed => self.e.un(Un::SExt8, v),
                    Sk::I16 if signed => self.e.un(Un::SExt16, v),
                    _ => v,
                })
            }
            _ => Err(invalid(at, format!("id {id} is not an integer"))),
        }
    }
    /// Result type and id of an instruction.
    #[inline]
    pub(crate) fn result(&self, i: &Code) -> Result<(u32, u32)> {
        Ok((self.types.of(i.word(1)?, i.at)?, i.word(2)?))
    }
    /// Gives an id the values from `start` to the end of the pool.
    #[inline]
    pub(crate) fn define(&mut self, id: u32, ty: u32, start: usize) {
        let len = (self.pool.len() - start) as u32;
        let block = if self.e.to_prelude { 0 } else { self.e.cur };
        self.ids[id as usize] = Slot { ty, start: start as u32, len, block };
    }
    pub(crate) fn define_one(&mut self, id: u32, ty: u32, v: Value) {
        let start = self.pool.len();
        self.pool.push(v);
        self.define(id, ty, start);
    }
    /// As `define`, checking that the values are what the type says.
    pub(crate) fn define_checked(&mut self, i: &Code, start: usize) -> Result<()> {
        let (ty, id) = self.result(i)?;
        if self.types.get(ty).scalars as usize != self.pool.len() - start {
            return Err(i.bad("the result type does not fit the operands"));
        }
        if let Some((s, n)) = self.types.numeric(ty) {
            for k in 0..n as usize {
                if self.e.ty(self.pool[start + k]) != s.ty() {
                    return Err(i.bad("the result type does not fit the operands"));
                }
            }
        } else {
            let mut kinds = Vec::new();
            self.types.flatten(ty, &mut kinds)?;
            for (k, s) in kinds.iter().enumerate() {
                if self.e.ty(self.pool[start + k]) != s.ty() {
                    return Err(i.bad("the result type does not fit the operands"));
                }
            }
        }
        self.define(id, ty, start);
        Ok(())
    }
    /// An integer constant's value.
    pub(crate) fn const_u32(&mut self, id: u32, at: usize) -> Result<u32> {
        self.try_const(id).map(|c| c as u32).ok_or_else(|| invalid(at, format!("id {id} is not a constant")))
    }
    /// The bits of a constant integer (sign-extended from its width when signed), if `id` is one.
    pub(crate) fn try_const(&mut self, id: u32) -> Option<u64> {
        let s = *self.ids.get(id as usize)?;
        if s.ty == 0 || s.len != 1 {
            return None;
        }
        let v = self.e.res(self.pool[s.start as usize]);
        let c = self.e.as_const(v)?;
        Some(match self.types.kind(s.ty) {
            types::TypeClass::Scalar(Sk::I8, true) => c as u8 as i8 as u64,
            types::TypeClass::Scalar(Sk::I16, true) => c as u16 as i16 as u64,
            types::TypeClass::Scalar(Sk::I32, true) => c as u32 as i32 as u64,
            _ => c,
        })
    }
}

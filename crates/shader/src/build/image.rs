//! Images: sampling, fetching, storage images, queries.

use super::Builder;
use super::atomics::{dim_of, storage_coords, texel_type};
use super::image_operands::Operands;
use super::types::{ImageType, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Dimensionality SubpassData.
pub(super) const SUBPASS_DATA: u32 = 6;

/// How a sampling opcode differs from the plain one.
struct Form {
    dref: bool,
    proj: bool,
    gather: bool,
    sparse: bool,
}

fn sample_form(op: Op) -> Option<Form> {
    let f = |dref, proj, gather, sparse| Some(Form { dref, proj, gather, sparse });
    match op {
        Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod => f(false, false, false, false),
        Op::ImageSampleDrefImplicitLod | Op::ImageSampleDrefExplicitLod => f(true, false, false, false),
        Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => f(false, true, false, false),
        Op::ImageSampleProjDrefImplicitLod | Op::ImageSampleProjDrefExplicitLod => {
            f(true, true, false, false)
        }
        Op::ImageGather => f(false, false, true, false),
        Op::ImageDrefGather => f(true, false, true, false),
        Op::ImageSparseSampleImplicitLod | Op::ImageSparseSampleExplicitLod => f(false, false, false, true),
        Op::ImageSparseSampleDrefImplicitLod | Op::ImageSparseSampleDrefExplicitLod => {
            f(true, false, false, true)
        }
        Op::ImageSparseGather => f(false, false, true, true),
        Op::ImageSparseDrefGather => f(true, false, true, true),
        _ => None,
    }
}

impl<'m> Builder<'m> {
    /// Image operand `w`: type, descriptor of the image, descriptor of the sampler.
    pub(super) fn image_operand(&mut self, i: &Code, w: usize) -> Result<(ImageType, Value, Option<Value>)> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        match self.types.kind(ty) {
            TypeClass::Image(t) if len == 1 => Ok((t, self.pool[start], None)),
            TypeClass::SampledImage(image) if len == 2 => match self.types.kind(image) {
                TypeClass::Image(t) => Ok((t, self.pool[start], Some(self.pool[start + 1]))),
                _ => Err(i.bad("not an image")),
            },
            _ => Err(i.bad("not an image")),
        }
    }

    pub(super) fn image_inst(
        &self,
        op: ImageOp,
        t: &ImageType,
        image: Value,
        o: Operands,
    ) -> Result<ImageInst> {
        Ok(ImageInst {
            op,
            dim: dim_of(t.dim)?,
            arrayed: t.arrayed,
            multisampled: t.ms,
            texel: texel_type(t, o.extend),
            format: t.format,
            image,
            sampler: None,
            coords: Vec::new(),
            dref: None,
            lod: o.lod,
            bias: o.bias,
            grad: o.grad,
            offsets: o.offsets,
            sample: o.sample,
            min_lod: o.min_lod,
            component: 0,
            data: Vec::new(),
            sparse: false,
            half: false,
        })
    }

    pub(crate) fn image(&mut self, i: &Code) -> Result<bool> {
        if let Some(form) = sample_form(i.op) {
            self.sample(i, form)?;
            return Ok(true);
        }
        match i.op {
            Op::SampledImage => {
                let (_, image, _) = self.image_operand(i, 3)?;
                let (ty, start, len) = self.value(i.word(4)?, i.at)?;
                if self.types.kind(ty) != TypeClass::Sampler || len != 1 {
                    return Err(i.bad("not a sampler"));
                }
                let sampler = self.pool[start];
                self.define_list(i, &[image, sampler])?;
            }
            Op::Image => {
                let (_, image, _) = self.image_operand(i, 3)?;
                self.define_list(i, &[image])?;
            }
            Op::ImageFetch | Op::ImageSparseFetch => {
                self.fetch(i, i.op == Op::ImageSparseFetch, ImageOp::Fetch)?
            }
            Op::ImageRead | Op::ImageSparseRead => {
                self.fetch(i, i.op == Op::ImageSparseRead, ImageOp::Read)?
            }
            Op::ImageWrite => self.write(i)?,
            Op::ImageQuerySize | Op::ImageQuerySizeLod => {
                let (t, image, _) = self.image_operand(i, 3)?;
                let mut inst = self.image_inst(ImageOp::QuerySize, &t, image, Operands::default())?;
                if i.op == Op::ImageQuerySizeLod {
                    inst.lod = Some(self.int32(i.word(4)?, i.at)?);
                }
                self.query(i, inst, Ty::B32)?;
            }
            Op::ImageQueryLevels | Op::ImageQuerySamples => {
                let (t, image, _) = self.image_operand(i, 3)?;
                let op =
                    if i.op == Op::ImageQueryLevels { ImageOp::QueryLevels } else { ImageOp::QuerySamples };
                let inst = self.image_inst(op, &t, image, Operands::default())?;
                self.query(i, inst, Ty::B32)?;
            }
            Op::ImageQueryLod => {
                let (t, image, sampler) = self.image_operand(i, 3)?;
                let n = storage_coords(&ImageType { arrayed: false, ..t });
                let (coords, _) = self.float_coordinates(i, 4, n)?;
                let mut inst = self.image_inst(ImageOp::QueryLod, &t, image, Operands::default())?;
                inst.coords = coords;
                inst.sampler = sampler;
                inst.arrayed = false;
                self.query(i, inst, Ty::B32)?;
            }
            Op::ImageSparseTexelsResident => {
                let code = self.int32(i.word(3)?, i.at)?;
                let zero = self.e.u32(0);
                let v = self.e.bin(Bin::IEq, code, zero);
                self.define_list(i, &[v])?;
            }
            _ => return self.tile_read(i),
        }
        Ok(true)
    }

    /// Emits an image operation and defines the result from its parts.
    pub(super) fn query(&mut self, i: &Code, inst: ImageInst, part: Ty) -> Result<()> {
        let (parts, sparse) = (inst.parts(), inst.sparse);
        let (ty, _) = self.result(i)?;
        let v = self.e.push(Inst::Image(Box::new(inst)), Ty::Tuple);
        let mut out = Vec::with_capacity(5);
        let mut want = self.types.get(ty).scalars;
        if sparse {
            out.push(self.e.part(v, parts - 1, Ty::B32));
            want = want.saturating_sub(1);
        }
        if want > parts - sparse as u32 {
            return Err(i.bad("the result type has too many components"));
        }
        for k in 0..want {
            out.push(self.e.part(v, k, part));
        }
        self.define_list(i, &out)
    }

    /// Its result is of medium precision.
    fn is_relaxed(&self, i: &Code) -> bool {
        let relaxed = Decoration::RelaxedPrecision as u32;
        i.word(2)
            .is_ok_and(|id| self.m.decorations(id).iter().any(|d| d.kind == relaxed && d.member == u32::MAX))
    }

    fn sample(&mut self, i: &Code, form: Form) -> Result<()> {
        let (t, image, sampler) = self.image_operand(i, 3)?;
        let Some(sampler) = sampler else { return Err(i.bad("the image comes without a sampler")) };
        let n = match t.dim {
            3 => 3 + t.arrayed as u32,
            _ => storage_coords(&t),
        };
        let (mut coords, q) = self.float_coordinates(i, 4, n)?;
        let mut w = 5;
        let mut dref = None;
        let mut component = 0;
        if form.dref {
            dref = Some(self.one_of(i.word(5)?, Ty::B32, i.at)?);
            w = 6;
        } else if form.gather {
            component = self.const_u32(i.word(5)?, i.at)?;
            w = 6;
        }
        if form.proj {
            let q = q.ok_or_else(|| i.bad("no projection coordinate"))?;
            for c in &mut coords {
                *c = self.e.bin(Bin::FDiv, *c, q);
            }
            dref = dref.map(|d| self.e.bin(Bin::FDiv, d, q));
        }
        let o = self.operands(i, w, true)?;
        let op = if form.gather { ImageOp::Gather } else { ImageOp::Sample };
        let mut inst = self.image_inst(op, &t, image, o)?;
        inst.sampler = Some(sampler);
        inst.coords = coords;
        inst.dref = dref;
        inst.component = component;
        inst.sparse = form.sparse;
        inst.half = self.is_relaxed(i);
        self.query(i, inst, t.texel.ty())
    }

    fn fetch(&mut self, i: &Code, sparse: bool, op: ImageOp) -> Result<()> {
        let (t, image, _) = self.image_operand(i, 3)?;
        let mut coords = self.coordinates(i, 4, storage_coords(&t))?;
        if t.dim == SUBPASS_DATA {
            // Coordinates of input attachments are relative to the fragment's.
            if self.opt.stage != Stage::Fragment {
                return Err(i.bad("not in a fragment shader"));
            }
            for (k, c) in coords.iter_mut().enumerate() {
                let at = self.e.input(Input::FragCoord(k as u8), Ty::B32);
                let at = self.e.un(Un::F32ToS32, at);
                *c = self.e.add(at, *c);
            }
        }
        let o = self.operands(i, 5, false)?;
        let mut inst = self.image_inst(op, &t, image, o)?;
        inst.coords = coords;
        inst.sparse = sparse;
        inst.half = self.is_relaxed(i);
        self.query(i, inst, t.texel.ty())
    }

    fn write(&mut self, i: &Code) -> Result<()> {
        let (t, image, _) = self.image_operand(i, 1)?;
        let coords = self.coordinates(i, 2, storage_coords(&t))?;
        let (ty, start, len) = self.value(i.word(3)?, i.at)?;
        if self.types.numeric(ty).is_none() || len > 4 {
            return Err(i.bad("the texel has the wrong type"));
        }
        let mut data = self.pool[start..start + len].to_vec();
        let reg = t.texel.ty();
        if data.iter().any(|&v| self.e.ty(v) != reg) {
            return Err(i.bad("the texel has the wrong type"));
        }
        for v in &mut data {
            *v = self.e.observed(t.texel, *v);
        }
        while data.len() < 4 {
            data.push(self.e.constant(reg, 0));
        }
        let o = self.operands(i, 4, false)?;
        let mut inst = self.image_inst(ImageOp::Write, &t, image, o)?;
        inst.coords = coords;
        inst.data = data;
        self.e.push(Inst::Image(Box::new(inst)), Ty::Void);
        Ok(())
    }
}

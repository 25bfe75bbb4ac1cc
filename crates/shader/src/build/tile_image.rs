//! Reads of the pass's own attachments, at the fragment's pixel (SPV_EXT_shader_tile_image). They are reads of input
//! attachments without a descriptor: which attachment it is stands in the instruction.

use super::Builder;
use super::image_operands::Operands;
use super::types::{ImageType, Sk, TypeClass};
use crate::interface::{TILE_DEPTH, TILE_STENCIL};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Colour attachments that there may be.
const MOST: u32 = 64;

impl Builder<'_> {
    /// The values of a variable of tile images: the number of each one's attachment. Index into the pool.
    pub(super) fn tile_images(&mut self, id: u32, ty: u32) -> Result<u32> {
        let n = self.types.get(ty).scalars;
        let mut inner = ty;
        while let TypeClass::Array(e, _) = self.types.kind(inner) {
            inner = e;
        }
        let first = self.m.decoration(id, Decoration::Location).unwrap_or(0);
        if !matches!(self.types.kind(inner), TypeClass::Image(_)) || first.saturating_add(n) > MOST {
            return Err(unsupported("a variable of tile images of this type or location"));
        }
        let saved = std::mem::replace(&mut self.e.to_prelude, true);
        let list: Vec<Value> = (0..n).map(|k| self.e.int(Ty::B64, (first + k) as i64)).collect();
        self.e.to_prelude = saved;
        let start = self.pool.len() as u32;
        self.pool.extend(list);
        Ok(start)
    }

    /// OpColorAttachmentReadEXT and its like; false for others.
    pub(super) fn tile_read(&mut self, i: &Code) -> Result<bool> {
        let plain = |texel| ImageType {
            sampled: 2,
            texel,
            signed: false,
            dim: super::image::SUBPASS_DATA,
            arrayed: false,
            ms: true,
            format: 0,
        };
        let (t, which, at) = match i.op {
            Op::ColorAttachmentReadEXT => {
                let (t, image, _) = self.image_operand(i, 3)?;
                let image = self.e.res(image);
                let Some(k) = self.e.as_const(image).filter(|k| *k < MOST as u64) else {
                    return Err(unsupported("a tile image that is chosen at run time"));
                };
                (ImageType { signed: t.signed, ..plain(t.texel) }, k as u32 + 1, 4)
            }
            Op::DepthAttachmentReadEXT => (plain(Sk::F32), TILE_DEPTH, 3),
            Op::StencilAttachmentReadEXT => (plain(Sk::I32), TILE_STENCIL, 3),
            _ => return Ok(false),
        };
        if self.opt.stage != Stage::Fragment {
            return Err(i.bad("not in a fragment shader"));
        }
        let sample = match i.get(at) {
            Some(id) => self.int32(id, i.at)?,
            // The sample that is shaded, or the first.
            None => self.e.input(Input::SampleId, Ty::B32),
        };
        let none = self.e.int(Ty::B64, 0);
        let mut inst = self.image_inst(ImageOp::Read, &t, none, Operands::default())?;
        for k in 0..2 {
            let at = self.e.input(Input::FragCoord(k), Ty::B32);
            inst.coords.push(self.e.un(Un::F32ToS32, at));
        }
        (inst.sample, inst.component) = (Some(sample), which);
        self.query(i, inst, t.texel.ty())?;
        Ok(true)
    }
}

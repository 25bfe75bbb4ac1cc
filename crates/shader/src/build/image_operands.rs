//! The optional operands of image instructions, and coordinates.

use super::Builder;
use super::arith::Class;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// What an ImageOperands mask brings.
#[derive(Default)]
pub(crate) struct Operands {
    pub bias: Option<Value>,
    pub lod: Option<Value>,
    pub grad: Vec<Value>,
    pub offsets: Vec<Value>,
    pub sample: Option<Value>,
    pub min_lod: Option<Value>,
    /// Sign- or zero-extension of integer texels.
    pub extend: Option<bool>,
}

impl<'m> Builder<'m> {
    /// Reads the operands whose mask is at word `w` (if there). `float_lod`: Lod is a float.
    pub(crate) fn operands(&mut self, i: &Code, w: usize, float_lod: bool) -> Result<Operands> {
        let mut o = Operands::default();
        let Some(mask) = i.get(w) else { return Ok(o) };
        let mask = ImageOperands::from_bits_truncate(mask);
        let mut w = w + 1;
        let mut next = || {
            w += 1;
            i.word(w - 1)
        };
        if mask.contains(ImageOperands::BIAS) {
            o.bias = Some(self.float32(next()?, i)?);
        }
        if mask.contains(ImageOperands::LOD) {
            let id = next()?;
            o.lod = Some(if float_lod { self.float32(id, i)? } else { self.int32(id, i.at)? });
        }
        if mask.contains(ImageOperands::GRAD) {
            for _ in 0..2 {
                let (_, start, n) = self.value(next()?, i.at)?;
                o.grad.extend_from_slice(&self.pool[start..start + n]);
            }
        }
        if mask.contains(ImageOperands::CONST_OFFSET) {
            o.offsets = self.integers(next()?, i)?;
        }
        if mask.contains(ImageOperands::OFFSET) {
            o.offsets = self.integers(next()?, i)?;
        }
        if mask.contains(ImageOperands::CONST_OFFSETS) {
            let (_, start, n) = self.value(next()?, i.at)?;
            o.offsets = self.pool[start..start + n].to_vec();
        }
        if mask.contains(ImageOperands::SAMPLE) {
            o.sample = Some(self.int32(next()?, i.at)?);
        }
        if mask.contains(ImageOperands::MIN_LOD) {
            o.min_lod = Some(self.float32(next()?, i)?);
        }
        if mask.contains(ImageOperands::SIGN_EXTEND) {
            o.extend = Some(true);
        }
        if mask.contains(ImageOperands::ZERO_EXTEND) {
            o.extend = Some(false);
        }
        for &v in o.grad.iter().chain(&o.offsets) {
            if self.e.ty(v) != Ty::B32 {
                return Err(i.bad("an image operand has the wrong type"));
            }
        }
        Ok(o)
    }

    fn float32(&mut self, id: u32, i: &Code) -> Result<Value> {
        let (ty, start, len) = self.value(id, i.at)?;
        match self.types.numeric(ty) {
            Some((Sk::F16 | Sk::F32, 1)) if len == 1 => Ok(self.pool[start]),
            _ => Err(i.bad("an image operand is no float")),
        }
    }

    /// All components of an integer scalar or vector, as 32 bits.
    fn integers(&mut self, id: u32, i: &Code) -> Result<Vec<Value>> {
        let (ty, start, len) = self.value(id, i.at)?;
        match self.types.numeric(ty) {
            Some((s, n)) if Class::Int.holds(s) && n as usize == len => {
                let signed = self.types.signed(ty);
                Ok((0..len).map(|k| self.e.int_to_int(s, Sk::I32, self.pool[start + k], signed)).collect())
            }
            _ => Err(i.bad("an image operand is no integer")),
        }
    }

    /// The first `n` integer coordinates of operand `w`.
    pub(crate) fn coordinates(&mut self, i: &Code, w: usize, n: u32) -> Result<Vec<Value>> {
        let mut list = self.integers(i.word(w)?, i)?;
        if list.len() < n as usize {
            return Err(i.bad("too few coordinates"));
        }
        list.truncate(n as usize);
        Ok(list)
    }

    /// The first `n` float coordinates of operand `w`, and the one after them if there is one.
    pub(crate) fn float_coordinates(
        &mut self,
        i: &Code,
        w: usize,
        n: u32,
    ) -> Result<(Vec<Value>, Option<Value>)> {
        let (s, start, m) = self.numeric(i, w, Class::Float)?;
        if m < n || s == Sk::F64 {
            return Err(i.bad("too few coordinates"));
        }
        let list = self.pool[start..start + n as usize].to_vec();
        let next = (m > n).then(|| self.pool[start + n as usize]);
        Ok((list, next))
    }
}

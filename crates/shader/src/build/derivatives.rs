//! Derivatives: differences within a quad.

use super::Builder;
use super::arith::Class;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Builder<'_> {
    pub(crate) fn derivative(&mut self, i: &Code) -> Result<bool> {
        let (x, y, coarse) = match i.op {
            Op::DPdx | Op::DPdxFine => (true, false, false),
            Op::DPdy | Op::DPdyFine => (false, true, false),
            Op::Fwidth | Op::FwidthFine => (true, true, false),
            Op::DPdxCoarse => (true, false, true),
            Op::DPdyCoarse => (false, true, true),
            Op::FwidthCoarse => (true, true, true),
            _ => return Ok(false),
        };
        let (to_x, to_y) = if coarse {
            ((Quad::Origin, Quad::AlongX), (Quad::Origin, Quad::AlongY))
        } else {
            ((Quad::Left, Quad::Right), (Quad::Top, Quad::Bottom))
        };
        self.map1(i, Class::Float, |e, s, v| {
            let ty = e.ty(v);
            let mut diff = |(a, b): (Quad, Quad)| {
                let from = e.push(Inst::Quad(a, v), ty);
                let to = e.push(Inst::Quad(b, v), ty);
                e.fsub(s, to, from)
            };
            if x && y {
                let (dx, dy) = (diff(to_x), diff(to_y));
                let (dx, dy) = (e.un(Un::FAbs, dx), e.un(Un::FAbs, dy));
                return e.fadd(s, dx, dy);
            }
            diff(if x { to_x } else { to_y })
        })?;
        Ok(true)
    }
}

//! Input and output variables: built-in values and interface components.

use super::Builder;
use super::types::{Kind, Sk};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Lanes of a subgroup.
pub(crate) const SUBGROUP: u32 = 16;

impl<'m> Builder<'m> {
    /// Values of an Input variable: index into the pool.
    pub(crate) fn input_values(&mut self, id: u32, ty: u32, i: &Code) -> Result<u32> {
        let saved = std::mem::replace(&mut self.e.to_prelude, true);
        let r = self.collect_inputs(id, ty, i);
        self.e.to_prelude = saved;
        let list = r?;
        let start = self.pool.len();
        self.pool.extend(list);
        Ok(start as u32)
    }

    fn collect_inputs(&mut self, id: u32, ty: u32, i: &Code) -> Result<Vec<Value>> {
        let mut out = Vec::new();
        if let Some(b) = self.m.decoration(id, Decoration::BuiltIn) {
            self.builtin(b, ty, &mut out)?;
        } else if let Some(location) = self.m.decoration(id, Decoration::Location) {
            let component = self.m.decoration(id, Decoration::Component).unwrap_or(0);
            self.varying(ty, location * 4 + component, &mut out)?;
        } else {
            return Err(unsupported(format!("input variable {id} without BuiltIn or Location")));
        }
        if out.len() != self.types.get(ty).scalars as usize {
            return Err(i.bad("the built-in has another type"));
        }
        Ok(out)
    }

    /// Components of an interface variable from `slot` (location · 4 + component).
    fn varying(&mut self, ty: u32, slot: u32, out: &mut Vec<Value>) -> Result<()> {
        if slot > 0xFFF {
            return Err(unsupported("an interface location this high"));
        }
        match self.types.kind(ty) {
            Kind::Scalar(..) | Kind::Vector(..) => {
                let (s, n) = self.types.numeric(ty).unwrap_or((Sk::F32, 1));
                if s.ty() != Ty::B32 {
                    return Err(unsupported("interface variables of 64 bits"));
                }
                for k in 0..n {
                    out.push(self.e.input(Input::Varying((slot + k) as u16), Ty::B32));
                }
                Ok(())
            }
            Kind::Matrix(e, n) | Kind::Array(e, n) => {
                for k in 0..n.min(64) {
                    self.varying(e, slot + 4 * k, out)?;
                }
                Ok(())
            }
            _ => Err(unsupported("interface blocks")),
        }
    }

    /// First slot of an Output variable.
    pub(crate) fn output_slots(&mut self, id: u32, i: &Code) -> Result<u32> {
        if let Some(b) = self.m.decoration(id, Decoration::BuiltIn) {
            return Ok(0x1000 + b * 4);
        }
        match self.m.decoration(id, Decoration::Location) {
            Some(l) if l < 256 => Ok(l * 4 + self.m.decoration(id, Decoration::Component).unwrap_or(0)),
            _ => Err(i.bad("an output without a location")),
        }
    }

    fn builtin(&mut self, b: u32, ty: u32, out: &mut Vec<Value>) -> Result<()> {
        let b = BuiltIn::from_u32(b).ok_or_else(|| unsupported(format!("built-in {b}")))?;
        let [x, y, z] = self.workgroup;
        let warps = (x * y * z).div_ceil(SUBGROUP);
        let one = |out: &mut Vec<Value>, v: Value| out.push(v);
        match b {
            BuiltIn::NumWorkgroups => {
                for k in 0..3 {
                    out.push(self.e.input(Input::NumWorkgroups(k), Ty::B32));
                }
            }
            BuiltIn::WorkgroupId => {
                for k in 0..3 {
                    out.push(self.e.input(Input::WorkgroupId(k), Ty::B32));
                }
            }
            BuiltIn::WorkgroupSize => {
                for n in self.workgroup {
                    out.push(self.e.u32(n));
                }
            }
            BuiltIn::LocalInvocationId => {
                for k in 0..3 {
                    out.push(self.local_id(k));
                }
            }
            BuiltIn::GlobalInvocationId => {
                for k in 0..3 {
                    let group = self.e.input(Input::WorkgroupId(k), Ty::B32);
                    let size = self.e.u32(self.workgroup[k as usize]);
                    let base = self.e.bin(Bin::IMul, group, size);
                    let local = self.local_id(k);
                    out.push(self.e.add(base, local));
                }
            }
            BuiltIn::LocalInvocationIndex => one(out, self.local_index()),
            BuiltIn::SubgroupSize => one(out, self.e.u32(SUBGROUP)),
            BuiltIn::SubgroupLocalInvocationId => one(out, self.e.input(Input::SubgroupLane, Ty::B32)),
            BuiltIn::SubgroupId => {
                self.uses_subgroups = true;
                let v = if warps == 1 { self.e.u32(0) } else { self.e.input(Input::SubgroupId, Ty::B32) };
                one(out, v);
            }
            BuiltIn::NumSubgroups => {
                self.uses_subgroups = true;
                one(out, self.e.u32(warps));
            }
            BuiltIn::SubgroupEqMask
            | BuiltIn::SubgroupGeMask
            | BuiltIn::SubgroupGtMask
            | BuiltIn::SubgroupLeMask
            | BuiltIn::SubgroupLtMask => {
                let lane = self.e.input(Input::SubgroupLane, Ty::B32);
                let one_v = self.e.u32(1);
                let eq = self.e.bin(Bin::Shl, one_v, lane);
                let lt = self.e.bin(Bin::ISub, eq, one_v);
                let le = self.e.bin(Bin::Or, lt, eq);
                let all = self.e.u32((1 << SUBGROUP) - 1);
                let v = match b {
                    BuiltIn::SubgroupEqMask => eq,
                    BuiltIn::SubgroupLtMask => lt,
                    BuiltIn::SubgroupLeMask => le,
                    BuiltIn::SubgroupGtMask => self.e.bin(Bin::Xor, le, all),
                    _ => self.e.bin(Bin::Xor, lt, all),
                };
                let zero = self.e.u32(0);
                out.extend([v, zero, zero, zero]);
            }
            BuiltIn::DeviceIndex => one(out, self.e.input(Input::DeviceIndex, Ty::B32)),
            BuiltIn::ViewIndex => one(out, self.e.input(Input::ViewIndex, Ty::B32)),
            BuiltIn::VertexIndex => one(out, self.e.input(Input::VertexIndex, Ty::B32)),
            BuiltIn::InstanceIndex => one(out, self.e.input(Input::InstanceIndex, Ty::B32)),
            BuiltIn::BaseVertex => one(out, self.e.input(Input::BaseVertex, Ty::B32)),
            BuiltIn::BaseInstance => one(out, self.e.input(Input::BaseInstance, Ty::B32)),
            BuiltIn::DrawIndex => one(out, self.e.input(Input::DrawIndex, Ty::B32)),
            BuiltIn::FragCoord => {
                for k in 0..4 {
                    out.push(self.e.input(Input::FragCoord(k), Ty::B32));
                }
            }
            BuiltIn::PointCoord => {
                for k in 0..2 {
                    out.push(self.e.input(Input::PointCoord(k), Ty::B32));
                }
            }
            BuiltIn::FrontFacing => one(out, self.e.input(Input::FrontFacing, Ty::Bool)),
            BuiltIn::HelperInvocation => one(out, self.e.input(Input::HelperInvocation, Ty::Bool)),
            BuiltIn::SampleId => one(out, self.e.input(Input::SampleId, Ty::B32)),
            BuiltIn::SampleMask => one(out, self.e.input(Input::SampleMask, Ty::B32)),
            BuiltIn::PrimitiveId => one(out, self.e.input(Input::PrimitiveId, Ty::B32)),
            BuiltIn::Layer => one(out, self.e.input(Input::Layer, Ty::B32)),
            BuiltIn::ViewportIndex => one(out, self.e.input(Input::ViewportIndex, Ty::B32)),
            _ => return Err(unsupported(format!("built-in {b:?}"))),
        }
        // 64-bit and 16-bit forms of the integers.
        if let Some((Sk::I64, _)) = self.types.numeric(ty) {
            for v in out.iter_mut() {
                *v = self.e.un(Un::U32ToU64, *v);
            }
        }
        Ok(())
    }

    fn local_id(&mut self, k: u8) -> Value {
        if self.workgroup[k as usize] == 1 {
            return self.e.u32(0);
        }
        self.e.input(Input::LocalId(k), Ty::B32)
    }
    pub(crate) fn local_index(&mut self) -> Value {
        match self.workgroup {
            [1, 1, 1] => self.e.u32(0),
            [_, 1, 1] => self.e.input(Input::LocalId(0), Ty::B32),
            _ => self.e.input(Input::LocalIndex, Ty::B32),
        }
    }
}

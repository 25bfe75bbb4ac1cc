//! Input and output variables: built-in values and interface components.

use super::Builder;
use super::interface::{Place, Scalar};
use super::types::Sk;
use crate::interface::{CLIP_DISTANCE, CULL_DISTANCE};
use crate::ir::{Bin, Input, Stage, Ty, Un, Value};
use crate::options::Result;
use crate::spirv::*;

/// Lanes of a subgroup.
pub(crate) const SUBGROUP: u32 = 16;

impl<'m> Builder<'m> {
    /// Values of an Input variable: index into the pool.
    pub(crate) fn input_values(&mut self, id: u32, ty: u32, i: &Code) -> Result<u32> {
        let scalars = self.interface_scalars(id, ty)?;
        let saved = std::mem::replace(&mut self.e.to_prelude, true);
        let r = self.collect_inputs(&scalars, ty, i);
        self.e.to_prelude = saved;
        let list = r?;
        let start = self.pool.len() as u32;
        self.pool.extend(list);
        if let [Scalar { place: Place::BuiltIn(BuiltIn::HelperInvocation, _), .. }] = scalars[..] {
            self.helper = Some(start);
        }
        self.inputs.insert(start, scalars);
        Ok(start)
    }

    fn collect_inputs(&mut self, scalars: &[Scalar], ty: u32, i: &Code) -> Result<Vec<Value>> {
        let mut out = Vec::with_capacity(scalars.len());
        let mut k = 0;
        while k < scalars.len() {
            let s = scalars[k];
            match s.place {
                Place::Slot(slot) if self.opt.stage != Stage::Compute => {
                    out.push(self.slot_input(&s, slot));
                    k += 1;
                }
                Place::Slot(_) => return Err(i.bad("an input with a location in a compute shader")),
                Place::BuiltIn(b, _) => {
                    let n =
                        scalars[k..].iter().take_while(|x| matches!(x.place, Place::BuiltIn(c, _) if c == b));
                    let n = n.count();
                    let from = out.len();
                    self.builtin(b, &scalars[k..k + n], &mut out)?;
                    if out.len() - from != n {
                        return Err(i.bad("the built-in has another type"));
                    }
                    for (v, s) in out[from..].iter_mut().zip(&scalars[k..]) {
                        // 64-bit forms of the integers.
                        if s.kind == Sk::I64 {
                            *v = self.e.un(Un::U32ToU64, *v);
                        } else if self.e.ty(*v) != s.kind.ty() {
                            return Err(i.bad("the built-in has another type"));
                        }
                    }
                    k += n;
                }
            }
        }
        if out.len() != self.types.get(ty).scalars as usize {
            return Err(i.bad("the built-in has another type"));
        }
        Ok(out)
    }

    /// Appends a built-in's values; `scalars`: what the variable has of it.
    fn builtin(&mut self, b: BuiltIn, scalars: &[Scalar], out: &mut Vec<Value>) -> Result<()> {
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
            // There is one device.
            BuiltIn::DeviceIndex if self.opt.stage != Stage::Compute => one(out, self.e.u32(0)),
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
            BuiltIn::SamplePosition => {
                for k in 0..2 {
                    out.push(self.e.input(Input::SamplePosition(k), Ty::B32));
                }
            }
            BuiltIn::SampleMask => {
                out.push(self.e.input(Input::SampleMask, Ty::B32));
                let zero = self.e.u32(0);
                out.extend(scalars.iter().skip(1).map(|_| zero));
            }
            BuiltIn::ClipDistance | BuiltIn::CullDistance if self.opt.stage == Stage::Fragment => {
                let base = if b == BuiltIn::ClipDistance { CLIP_DISTANCE } else { CULL_DISTANCE };
                for (k, s) in scalars.iter().enumerate() {
                    if k >= 8 || s.kind != Sk::F32 {
                        return Err(unsupported("more than eight distances"));
                    }
                    out.push(self.slot_input(s, base + k as u16));
                }
            }
            BuiltIn::PrimitiveId => one(out, self.e.input(Input::PrimitiveId, Ty::B32)),
            BuiltIn::Layer => one(out, self.e.input(Input::Layer, Ty::B32)),
            BuiltIn::ViewportIndex => one(out, self.e.input(Input::ViewportIndex, Ty::B32)),
            _ => return Err(unsupported(format!("built-in {b:?}"))),
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

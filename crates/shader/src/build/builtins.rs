//! Input and output variables: built-in values and interface components.

use super::Builder;
use super::interface::{InterfacePlace, Scalar};
use super::types::Sk;
use crate::interface::{CLIP_DISTANCE, CULL_DISTANCE};
use crate::ir::{Bin, Input, Inst, Stage, Ty, Un, Value, ray_input};
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
        if let [Scalar { place: InterfacePlace::BuiltIn(BuiltIn::HelperInvocation, _), .. }] = scalars[..] {
            self.helper = Some(start);
        }
        if let [Scalar { place: InterfacePlace::BuiltIn(BuiltIn::RayTmaxKHR, _), .. }] = scalars[..]
            && self.opt.stage == Stage::Intersection
        {
            self.t_max = Some(start);
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
                InterfacePlace::Slot(slot) if self.opt.stage != Stage::Compute => {
                    out.push(self.slot_input(&s, slot));
                    k += 1;
                }
                InterfacePlace::Slot(_) => return Err(i.bad("an input with a location in a compute shader")),
                InterfacePlace::BuiltIn(b, _) => {
                    let n = scalars[k..]
                        .iter()
                        .take_while(|x| matches!(x.place, InterfacePlace::BuiltIn(c, _) if c == b));
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
        if self.ray_builtin(b, out) {
            return Ok(());
        }
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
                let v = if warps == 1 { self.e.u32(0) } else { self.e.input(Input::SubgroupId, Ty::B32) };
                one(out, v);
            }
            BuiltIn::NumSubgroups => {
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
            BuiltIn::FullyCoveredEXT => one(out, self.e.input(Input::FullyCovered, Ty::Bool)),
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
            BuiltIn::InvocationId => one(out, self.e.input(Input::InvocationId, Ty::B32)),
            BuiltIn::PatchVertices => one(out, self.e.input(Input::PatchVertices, Ty::B32)),
            BuiltIn::TessCoord => {
                for k in 0..3 {
                    out.push(self.e.input(Input::TessCoord(k), Ty::B32));
                }
            }
            BuiltIn::PrimitiveId => one(out, self.e.input(Input::PrimitiveId, Ty::B32)),
            BuiltIn::Layer => one(out, self.e.input(Input::Layer, Ty::B32)),
            BuiltIn::ViewportIndex => one(out, self.e.input(Input::ViewportIndex, Ty::B32)),
            BuiltIn::ShadingRateKHR => one(out, self.of_fragment(0, 15)),
            BuiltIn::FragInvocationCountEXT => one(out, self.of_fragment(4, u32::MAX)),
            BuiltIn::FragSizeEXT => {
                let (width, height) = (self.of_fragment(2, 3), self.of_fragment(0, 3));
                let one = self.e.u32(1);
                out.extend([width, height].map(|log| self.e.bin(Bin::Shl, one, log)));
            }
            BuiltIn::CoreCountARM => one(out, self.e.u32(self.opt.cores.cores)),
            BuiltIn::CoreMaxIDARM => one(out, self.e.u32(self.opt.cores.cores.max(1) - 1)),
            BuiltIn::WarpMaxIDARM => one(out, self.e.u32(self.opt.cores.warps.max(1) - 1)),
            BuiltIn::CoreIDARM => {
                let v = self.core_and_warp()[0];
                one(out, v);
            }
            BuiltIn::WarpIDARM => {
                let v = self.core_and_warp()[1];
                one(out, v);
            }
            _ => return Err(unsupported(format!("built-in {b:?}"))),
        }
        Ok(())
    }

    /// Bits of what is known of a fragment ([`Input::ShadingRate`]).
    fn of_fragment(&mut self, shift: u32, mask: u32) -> Value {
        let [shift, mask] = [shift, mask].map(|n| self.e.u32(n));
        let word = self.e.input(Input::ShadingRate, Ty::B32);
        let word = self.e.bin(Bin::LShr, word, shift);
        self.e.bin(Bin::And, word, mask)
    }

    /// Core and warp slot that a warp of the modelled GPU runs in (SPV_ARM_core_builtins): workgroups, tiles of 64 × 64
    /// pixels and vertices are dealt to the cores in turn, the same on every run; a core deals warps to its slots so.
    fn core_and_warp(&mut self) -> [Value; 2] {
        let (cores, warps) =
            (self.e.u32(self.opt.cores.cores.max(1)), self.e.u32(self.opt.cores.warps.max(1)));
        let mul_add = |b: &mut Self, a: Value, k: Value, c: Value| {
            let product = b.e.bin(Bin::IMul, a, k);
            b.e.add(product, c)
        };
        // The number of the task, and of the warp in it.
        let (task, in_task, per_task) = match self.opt.stage {
            Stage::Compute | Stage::Task | Stage::Mesh => {
                let id: [Value; 3] = [0, 1, 2].map(|k| self.e.input(Input::WorkgroupId(k), Ty::B32));
                let n: [Value; 2] = [0, 1].map(|k| self.e.input(Input::NumWorkgroups(k), Ty::B32));
                let row = mul_add(self, id[2], n[1], id[1]);
                let group = mul_add(self, row, n[0], id[0]);
                let [x, y, z] = self.workgroup;
                let per_group = (x * y * z).div_ceil(SUBGROUP);
                let warp = match per_group {
                    1 => self.e.u32(0),
                    _ => self.e.input(Input::SubgroupId, Ty::B32),
                };
                (group, warp, per_group)
            }
            Stage::Fragment => {
                let at = [0, 1].map(|k| {
                    let f = self.e.input(Input::FragCoord(k), Ty::B32);
                    self.e.un(Un::F32ToU32, f)
                });
                let shr = |b: &mut Self, v: Value, n: u32| {
                    let n = b.e.u32(n);
                    b.e.bin(Bin::LShr, v, n)
                };
                let tile = at.map(|v| shr(self, v, 6));
                // Neighbours on all sides lie on different cores.
                let three = self.e.u32(3);
                let task = mul_add(self, tile[1], three, tile[0]);
                // Blocks of 4 × 4 pixels; a warp of several blocks' quads is where its first quad is.
                let block = at.map(|v| {
                    let b = shr(self, v, 2);
                    let low = self.e.u32(15);
                    self.e.bin(Bin::And, b, low)
                });
                let side = self.e.u32(16);
                let block = mul_add(self, block[1], side, block[0]);
                (task, self.e.push(Inst::First(block), Ty::B32), 256)
            }
            Stage::TessControl | Stage::TessEval | Stage::Geometry => {
                let primitive = self.e.input(Input::PrimitiveId, Ty::B32);
                (self.e.push(Inst::First(primitive), Ty::B32), self.e.u32(0), 1)
            }
            Stage::RayGen
            | Stage::Intersection
            | Stage::AnyHit
            | Stage::ClosestHit
            | Stage::Miss
            | Stage::Callable => {
                let first = self.e.input(Input::Ray(ray_input::LAUNCH_ID), Ty::B32);
                let first = self.e.push(Inst::First(first), Ty::B32);
                let four = self.e.u32(4);
                (self.e.bin(Bin::LShr, first, four), self.e.u32(0), 1)
            }
            Stage::Vertex => {
                let vertex = self.e.input(Input::VertexIndex, Ty::B32);
                let first = self.e.push(Inst::First(vertex), Ty::B32);
                let four = self.e.u32(4);
                let task = self.e.bin(Bin::LShr, first, four);
                (task, self.e.u32(0), 1)
            }
        };
        let core = self.e.bin(Bin::URem, task, cores);
        let round = self.e.bin(Bin::UDiv, task, cores);
        let per_task = self.e.u32(per_task);
        let warp = mul_add(self, round, per_task, in_task);
        [core, self.e.bin(Bin::URem, warp, warps)]
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

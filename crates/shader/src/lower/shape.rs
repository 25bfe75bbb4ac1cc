//! How the lanes of one warp's addresses lie, where that is known at compile time: all the same, or consecutive. The
//! kernels then need not look.
//!
//! A value is *affine in the warp* when it is (something that the warp's 16 lanes share) + lane · step. What holds for
//! the lanes that exist; kernels use it only when all of a warp's lanes are active.

use super::Lowering;
use crate::cfg::NONE;
use crate::ir::{Bin, Input, Inst, Tri, Ty, Value};

/// How deep address arithmetic is followed.
const DEPTH: u32 = 8;

impl Lowering<'_> {
    /// The step of `v` as block `b` reads it, if it is affine in the warp.
    pub(super) fn step(&self, v: Value, b: u32) -> Option<u32> {
        self.step_within(v, b, DEPTH)
    }

    fn step_within(&self, v: Value, b: u32, depth: u32) -> Option<u32> {
        if self.uniform_at(v, b) {
            return Some(0);
        }
        let home = self.u.def_block[v.0 as usize];
        if depth == 0 || !self.same_time(home, b) {
            return None;
        }
        let data = self.shader.data(v);
        let of = |x: Value| self.step_within(x, if home == NONE { b } else { home }, depth - 1);
        match &data.inst {
            Inst::Const(_) => Some(0),
            Inst::Input(input) => self.input_step(*input),
            Inst::Bin(Bin::IAdd, x, y) if data.ty == Ty::B32 => Some(of(*x)?.wrapping_add(of(*y)?)),
            Inst::Bin(Bin::ISub, x, y) if data.ty == Ty::B32 => Some(of(*x)?.wrapping_sub(of(*y)?)),
            Inst::Bin(Bin::Shl, x, y) if data.ty == Ty::B32 => match (of(*x)?, self.shader.as_const(*y)) {
                (0, _) => (of(*y)? == 0).then_some(0),
                (s, Some(k)) => Some(s << (k & 31)),
                _ => None,
            },
            Inst::Bin(Bin::IMul, x, y) if data.ty == Ty::B32 => match (of(*x)?, of(*y)?) {
                (0, 0) => Some(0),
                (s, 0) => Some(s.wrapping_mul(self.shader.as_const(*y)? as u32)),
                (0, s) => Some(s.wrapping_mul(self.shader.as_const(*x)? as u32)),
                _ => None,
            },
            // Functions of their own lane alone.
            Inst::Un(_, x) => (of(*x)? == 0).then_some(0),
            Inst::Bin(_, x, y) => (of(*x)? == 0 && of(*y)? == 0).then_some(0),
            Inst::Tri(Tri::Select, ..) => None,
            Inst::Tri(_, x, y, z) => (of(*x)? == 0 && of(*y)? == 0 && of(*z)? == 0).then_some(0),
            _ => None,
        }
    }

    /// Whether block `b` reads what `home` computed in the same iteration of every loop around `home`.
    fn same_time(&self, home: u32, b: u32) -> bool {
        if home == NONE {
            return true;
        }
        let l = self.cfg.loop_of[home as usize];
        l == NONE || self.cfg.in_loop(b, l)
    }

    /// Steps of inputs: warps are 16 consecutive invocations of one workgroup.
    fn input_step(&self, input: Input) -> Option<u32> {
        let [x, y, _] = self.shader.workgroup;
        if self.shader.quad_derivatives {
            return None;
        }
        match input {
            Input::WorkgroupId(_) | Input::SubgroupId => Some(0),
            Input::SubgroupLane | Input::LocalIndex => Some(1),
            Input::LocalId(0) if x % 16 == 0 => Some(1),
            Input::LocalId(1) if x % 16 == 0 => Some(0),
            Input::LocalId(2) if x.wrapping_mul(y) % 16 == 0 => Some(0),
            _ => None,
        }
    }
}

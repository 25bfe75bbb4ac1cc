//! Interpolation at another place than the declared one: GLSL.std.450 InterpolateAt….

use super::Builder;
use super::access::Base;
use super::interface::{InterfacePlace, Scalar};
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Samples a fragment may have.
const SAMPLES: u8 = 16;

impl Builder<'_> {
    pub(crate) fn interpolate_at(&mut self, i: &Code, op: GLOp) -> Result<()> {
        if self.opt.stage != Stage::Fragment {
            return Err(i.bad("not in a fragment shader"));
        }
        let p = self.pointer(i.word(5)?, i.at)?;
        let Base::Values(first) = p.base else { return Err(i.bad("the interpolant is no input")) };
        let scalars = match self.inputs.get(&first) {
            Some(s) => s.clone(),
            None => return Err(i.bad("the interpolant is no input")),
        };
        let offset = match op {
            GLOp::InterpolateAtCentroid => [0, 1].map(|k| self.e.input(Input::CentroidOffset(k), Ty::B32)),
            GLOp::InterpolateAtSample => {
                let sample = self.int32(i.word(6)?, i.at)?;
                [0, 1].map(|axis| self.sample_offset(sample, axis))
            }
            _ => {
                let (ty, start, len) = self.value(i.word(6)?, i.at)?;
                if len != 2 || !matches!(self.types.numeric(ty), Some((Sk::F32 | Sk::F16, _))) {
                    return Err(i.bad("the offset is no vector of two floats"));
                }
                [self.pool[start], self.pool[start + 1]]
            }
        };
        let n = self.scalars_of(&p, i.at)?;
        let start = if p.n_steps != 0 {
            self.load_select(&p, n, |b, k| Ok(b.interpolate(first, &scalars, k, offset)))?
        } else {
            let list: Vec<Value> =
                (0..n).map(|k| self.interpolate(first, &scalars, p.offset + k, offset)).collect();
            let start = self.pool.len();
            self.pool.extend(list);
            start
        };
        self.define_checked(i, start)
    }

    /// From the pixel's centre to a sample, of which the number may be known only at run time.
    fn sample_offset(&mut self, sample: Value, axis: u8) -> Value {
        let sample = self.e.res(sample);
        if self.e.input(Input::SampleId, Ty::B32) == sample {
            // The invocation's own.
            let at = self.e.input(Input::SamplePosition(axis), Ty::B32);
            let half = self.e.f32(0.5);
            return self.e.bin(Bin::FSub, at, half);
        }
        if let Some(k) = self.e.as_const(sample) {
            let k = (k as u8).min(SAMPLES - 1);
            return self.e.input(Input::SampleOffset(2 * k + axis), Ty::B32);
        }
        let mut v = self.e.input(Input::SampleOffset(axis), Ty::B32);
        for k in 1..SAMPLES {
            let x = self.e.input(Input::SampleOffset(2 * k + axis), Ty::B32);
            let n = self.e.u32(k as u32);
            let hit = self.e.bin(Bin::IEq, sample, n);
            v = self.e.select(hit, x, v);
        }
        v
    }

    /// Scalar `k` of the variable whose values start at `first` of the pool, at `offset` from the pixel's centre.
    fn interpolate(&mut self, first: u32, scalars: &[Scalar], k: u32, offset: [Value; 2]) -> Value {
        let s = scalars[(k as usize).min(scalars.len() - 1)];
        let InterfacePlace::Slot(slot) = s.place else { return self.pool[(first + k) as usize] };
        if s.flat {
            return self.pool[(first + k) as usize];
        }
        let exact = std::mem::replace(&mut self.e.exact, true);
        let [at, dx, dy] = [Input::PlaneAt(slot), Input::PlaneDx(slot), Input::PlaneDy(slot)]
            .map(|input| self.e.input(input, Ty::B32));
        let mut v = self.linear([at, dx, dy], offset);
        if !s.no_perspective {
            let w = [0, 1, 2].map(|k| self.e.input(Input::InvW(k), Ty::B32));
            let w = self.linear(w, offset);
            v = self.e.bin(Bin::FDiv, v, w);
        }
        self.e.exact = exact;
        if s.kind == Sk::F16 { self.e.un(Un::F16Round, v) } else { v }
    }

    /// at + x · dx + y · dy
    fn linear(&mut self, [at, dx, dy]: [Value; 3], [x, y]: [Value; 2]) -> Value {
        let x = self.e.bin(Bin::FMul, x, dx);
        let y = self.e.bin(Bin::FMul, y, dy);
        let v = self.e.bin(Bin::FAdd, at, x);
        self.e.bin(Bin::FAdd, v, y)
    }
}

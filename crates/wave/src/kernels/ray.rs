//! Ray queries, and what shaders ask of a ray tracing pipeline: operands and results go to the host, a wave at a time.

use super::desc::structure_of;
use super::forms::kernels;
use super::mask::Bits;
use super::regs::{dst32, dst64, splat64, src32, src64};
use crate::flush::Mode;
use crate::rays::{Asked, OPERANDS, Operand, RAY_RESULTS, RayWave, TraceWave};
use crate::state::{At, State};
use shader::bytecode::{Reg, n_of, ray_attribute};
use shader::ir::{RayOp, TraceOp};
use simd::Steps;

fn narrow(st: &State, r: Reg) -> Operand {
    if r.is_none() {
        return Operand::NONE;
    }
    let (at, words) = src32(st, r);
    Operand { at: at.cast(), step: words * 4 }
}

/// The active lanes and the operands in these registers.
///
/// # Safety
/// Nobody else uses the worker's counts meanwhile: other shaders have workers of their own.
unsafe fn asked<'a>(st: &State, exec: &'a [u16; 32], structure: Reg, operands: &[Reg]) -> Asked<'a> {
    let mut rows = [Operand::NONE; OPERANDS];
    for (row, r) in rows.iter_mut().zip(operands) {
        *row = narrow(st, *r);
    }
    let structure = match structure.is_none() {
        true => Operand::NONE,
        false => {
            let (at, words) = src64(st, structure);
            Operand { at: at.cast(), step: words * 8 }
        }
    };
    // SAFETY: the caller's.
    Asked { live: st.live, exec, structure, operands: rows, counts: unsafe { &mut *st.rays } }
}

/// Where a result goes. One that is the same for all lanes has room for a warp's only; no program of ours has one.
fn result(st: &State, r: Reg) -> *mut u8 {
    if r.is_none() || r.is_uniform() { std::ptr::null_mut() } else { dst32(st, r, 0).cast() }
}

fn run(st: &mut State, at: At, op: RayOp, operands: &[Reg], results: &[Reg]) {
    let host = st.host;
    let mut to = [std::ptr::null_mut(); RAY_RESULTS];
    for (to, r) in to.iter_mut().zip(results) {
        *to = result(st, *r);
    }
    let exec = st.exec;
    let mut wave = RayWave {
        op,
        // SAFETY: the worker's own, used by nobody else while the kernel runs.
        queries: unsafe { &mut *st.queries },
        count: st.query_count,
        query: narrow(st, at.a),
        results: to,
        // SAFETY: as above.
        asked: unsafe { asked(st, &exec, if op == RayOp::Begin { at.c } else { Reg::NONE }, operands) },
    };
    // Where rays go is not for the shader's float controls to say.
    let _mode = Mode::flushed(false);
    host.rays(&mut wave);
}

#[inline(always)]
fn begin<L: Steps>(_: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let n = n_of(op.e);
    // SAFETY: the op has so many registers: the check goes by its bits.
    let operands: [Reg; 16] =
        std::array::from_fn(|i| if i < n { unsafe { op.value(n, i) } } else { Reg::NONE });
    run(st, op, RayOp::Begin, &operands[..n], &[]);
    op.after(n)
}

#[inline(always)]
fn step<L: Steps>(_: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let what = RayOp::STEPS.get(op.imm as usize).copied().unwrap_or(RayOp::Terminate);
    run(st, op, what, &[op.b], &[op.d]);
    op.on(1)
}

#[inline(always)]
fn get<L: Steps>(_: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let n = n_of(op.e);
    // SAFETY: the op has so many registers: the check goes by its bits.
    let results: [Reg; 16] =
        std::array::from_fn(|i| if i < n { unsafe { op.value(n, i) } } else { Reg::NONE });
    if let Some((attribute, which)) = ray_attribute(op.imm) {
        run(st, op, RayOp::Get(attribute, which), &[], &results[..n]);
    }
    op.after(n)
}

#[inline(always)]
fn structure<L: Steps>(_: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let (p, s) = src64(st, op.b);
    if s == 0 {
        // SAFETY: the op's registers; what DESC gave.
        unsafe { splat64(st, op.d, structure_of(*p)) };
        return op.on(1);
    }
    for w in Bits(st.live) {
        // SAFETY: the op's register, a live warp.
        let desc = unsafe { *(p.add(w * s) as *const [u64; 16]) };
        for i in Bits(st.exec[w] as u32) {
            // SAFETY: the op's register, a live warp; what DESC gave.
            unsafe { *dst64(st, op.d, w).add(i) = structure_of(desc[i]) };
        }
    }
    op.on(1)
}

#[inline(always)]
fn trace<L: Steps>(_: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let n = n_of(op.e);
    // SAFETY: the op has so many registers: the check goes by its bits.
    let operands: [Reg; OPERANDS] =
        std::array::from_fn(|i| if i < n { unsafe { op.value(n, i) } } else { Reg::NONE });
    let host = st.host;
    let exec = st.exec;
    let mut wave = TraceWave {
        op: TraceOp::ALL.get(op.imm as usize).copied().unwrap_or(TraceOp::Ignore),
        // SAFETY: the worker's own, used by nobody else while the kernel runs: other shaders have workers of their own.
        queries: unsafe { &mut *st.queries },
        given: n,
        result: result(st, op.d),
        private: st.scratch,
        words: st.scratch_words,
        lanes: st.warps * 16,
        // SAFETY: as above.
        asked: unsafe { asked(st, &exec, op.c, &operands[..n]) },
    };
    // Other shaders run meanwhile, with float controls of their own.
    let _mode = Mode::flushed(false);
    if let Err(fault) = host.trace(&mut wave) {
        return super::control::fault(st, op, fault);
    }
    op.after(n)
}

kernels! {
    RAY_BEGIN = begin;
    RAY_STEP = step;
    RAY_GET = get;
    STRUCTURE = structure;
    TRACE = trace;
}

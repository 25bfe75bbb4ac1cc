//! Probes of sanitised shaders: operands go to the host, a wave at a time.

use super::forms::kernels;
use super::regs::{src32, src64};
use crate::bits::Bits;
use crate::flush::Mode;
use crate::probe::{PROBE_OPERANDS, ProbeWave};
use crate::rays::Operand;
use crate::state::{At, State};
use shader::bytecode::{Reg, n_of};
use shader::ir::ProbeOp;
use simd::Steps;

/// Whether a row of a live warp has anything but zeros.
///
/// # Safety
/// The operand is a register's.
#[inline(always)]
unsafe fn any<L: Steps>(l: L, st: &State, of: Operand) -> bool {
    let mut all = l.isplat(0);
    for w in Bits(st.live) {
        // SAFETY: the caller's.
        all = l.ior(all, unsafe { l.iload(of.at.add(w * of.step)) });
    }
    l.mbits(l.ieq(all, l.isplat(0))) != 0xFFFF
}

#[inline(always)]
fn probe<L: Steps>(l: L, st: &mut State, op: At) -> *const shader::bytecode::Op {
    let n = n_of(op.e);
    let mut operands = [Operand::NONE; PROBE_OPERANDS];
    for (i, row) in operands.iter_mut().enumerate().take(n) {
        // SAFETY: the op has so many registers: the check goes by its bits.
        let (at, words) = src32(st, unsafe { op.value(n, i) });
        *row = Operand { at: at.cast(), step: words * 4 };
    }
    // SAFETY: the program that the wave runs lives as long as the wave does.
    let program = unsafe { &*st.program };
    // Most values are defined.
    // SAFETY: the rows of the op's first register, in live warps.
    if program.sites[op.imm as usize].op == ProbeOp::Fault && !unsafe { any(l, st, operands[0]) } {
        return op.after(n);
    }
    // Either a descriptor or an address, if there is one.
    let wide: Reg = if op.b.is_none() { op.c } else { op.b };
    let wide = match wide.is_none() {
        true => Operand::NONE,
        false => {
            let (at, words) = src64(st, wide);
            Operand { at: at.cast(), step: words * 8 }
        }
    };
    let host = st.host;
    let (exec, alive) = (st.exec, st.alive);
    let wave = ProbeWave { program, site: op.imm, live: st.live, exec: &exec, alive: &alive, wide, operands };
    let _mode = Mode::flushed(false);
    host.probe(&wave);
    op.after(n)
}

kernels! {
    PROBE = probe;
    PROBE_BUF = probe;
}

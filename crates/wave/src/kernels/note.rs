//! Notes of debugged shaders: words go to the host, for the warps that are asked for.

use super::forms::kernels;
use super::regs::src32;
use crate::bits::Bits;
use crate::flush::Mode;
use crate::note::NoteWave;
use crate::rays::Operand;
use crate::state::{At, State};
use shader::bytecode::{Op, n_of};
use shader::notes::MAX_WORDS;
use simd::Steps;

#[inline(always)]
fn note<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    let n = n_of(op.e);
    // SAFETY: the op has so many registers, one at least: the check goes by its bits.
    let aim = {
        let (at, words) = src32(st, unsafe { op.value(n, 0) });
        Operand { at: at.cast(), step: words * 4 }
    };
    let mut warps = 0;
    for w in Bits(st.live) {
        let lanes = st.exec[w];
        if lanes != 0 {
            // All lanes of a warp have the same.
            let lane = lanes.trailing_zeros() as usize;
            // SAFETY: the row of a live warp.
            let aimed = unsafe { aim.at.add(w * aim.step).cast::<u32>().add(lane).read() };
            warps |= u32::from(aimed != 0) << w;
        }
    }
    if warps == 0 {
        return op.after(n);
    }
    let mut words = [Operand::NONE; MAX_WORDS];
    for (i, row) in words.iter_mut().enumerate().take(n - 1) {
        // SAFETY: as above.
        let (at, words) = src32(st, unsafe { op.value(n, i + 1) });
        *row = Operand { at: at.cast(), step: words * 4 };
    }
    // SAFETY: the program that the wave runs lives as long as the wave does.
    let program = unsafe { &*st.program };
    let host = st.host;
    let (exec, alive) = (st.exec, st.alive);
    let wave = NoteWave { program, note: op.imm, warps, exec: &exec, alive: &alive, aim, words };
    let _mode = Mode::flushed(false);
    host.note(&wave);
    op.after(n)
}

kernels! {
    NOTE = note;
}

//! Operands out of the ordinary: the interpreter's kernel does the op for that warp.

use super::emit::{Emit, FIXED_ROWS};
use super::machine::{Jump, Made, Source, Width};
use crate::jit::segment::Fix;
use crate::state::{Kernel, State};
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::{Op, Reg};
use smallvec::SmallVec;

/// An op over rows of its own.
pub struct Slow {
    op: Op,
    pub kernel: Kernel,
}

/// Row of the first result.
const RESULTS: u16 = 5;

impl Slow {
    pub fn new(fix: &Fix, kernel: Kernel) -> Slow {
        let r = |i: u16| Reg::varying(i);
        let twin = shader::twins::of(fix.op.code).is_some();
        let mut op = Op { d: r(RESULTS), a: r(0), ..Op::new(fix.op.code) };
        if twin {
            (op.b, op.c, op.e) = (r(RESULTS + 1), r(1), 2);
            op.imm = 3 | 4 << 16;
        } else {
            (op.b, op.c, op.e) = (r(1), r(2), 3);
            op.imm = 4;
        }
        Slow { op, kernel }
    }
}

/// Does an op whose operands lie at `rows`, 64 bytes each, for one warp.
///
/// # Safety
/// Compiled code calls it, with what it was made with: a live op of a kernel that knows nothing of a state but registers and live
/// warps, room for seven rows, and its own caller's state.
unsafe extern "sysv64" fn slow(it: *const Slow, rows: *mut u8, st: *mut State) {
    // SAFETY: the caller's.
    unsafe {
        let st = &mut *st;
        let kept = (st.regs, st.live, st.all);
        // One warp of several: kernels go warp by warp.
        (st.regs, st.live, st.all) = (rows, 1, 3);
        ((*it).kernel)(st, &raw const (*it).op);
        (st.regs, st.live, st.all) = kept;
    }
}

/// Where code left its way.
pub struct Cold {
    pub from: Vec<Jump>,
    pub back: usize,
    pub operands: SmallVec<[Source; 5]>,
    pub results: SmallVec<[u8; 2]>,
    /// Where in [`super::Code::slow`].
    pub slow: *const Slow,
}

/// What a call may change: all of it is kept on the stack, from row 8 on.
const KEPT: [Register; 9] = [
    Register::RAX,
    Register::RCX,
    Register::RDX,
    Register::RSI,
    Register::RDI,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
];

/// A row of the stack frame.
pub fn row(i: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, (i * 64).into())
}

impl Emit<'_> {
    pub fn cold(&mut self, cold: Cold) -> Made<()> {
        const { assert!(FIXED_ROWS >= 8 + 2 + 3 + 32) };
        let vectors = self.vectors();
        for j in cold.from {
            self.m.land(j);
        }
        let word = |base: u32, i: usize| {
            MemoryOperand::with_base_displ(Register::RSP, (base * 64) as i64 + 8 * i as i64)
        };
        for (i, r) in KEPT.into_iter().enumerate() {
            self.m.mr(Code::Mov_rm64_r64, word(8, i), r)?;
        }
        if self.m.width == Width::Whole {
            for k in 0..8 {
                self.m.mr(Code::VEX_Kmovw_m16_kr, word(10, k), Register::K0 + k as u32)?;
            }
        }
        for v in 0..vectors {
            self.m.store(row(13 + v as u32), v)?;
        }
        for (i, s) in cold.operands.iter().enumerate() {
            if let Source::Reg(r) = s {
                self.m.store(row(i as u32), *r)?;
            }
        }
        for (i, s) in cold.operands.iter().enumerate() {
            if let Source::Mem(m) = s {
                self.m.load(0, *m)?;
                self.m.store(row(i as u32), 0)?;
            }
        }
        self.m.number(Register::RDI, cold.slow as u64)?;
        self.m.rr(Code::Mov_r64_rm64, Register::RSI, Register::RSP)?;
        self.m.rr(Code::Mov_r64_rm64, Register::RDX, Register::R10)?;
        let slow: unsafe extern "sysv64" fn(*const Slow, *mut u8, *mut State) = slow;
        self.m.number(Register::RAX, slow as usize as u64)?;
        self.m.r(Code::Call_rm64, Register::RAX)?;
        for (i, r) in KEPT.into_iter().enumerate() {
            self.m.rm(Code::Mov_r64_rm64, r, word(8, i))?;
        }
        if self.m.width == Width::Whole {
            for k in 0..8 {
                self.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + k as u32, word(10, k))?;
            }
        }
        for v in 0..vectors {
            match cold.results.iter().position(|r| *r == v) {
                Some(i) => self.m.load(v, row(RESULTS as u32 + i as u32))?,
                None => self.m.load(v, row(13 + v as u32))?,
            }
        }
        self.m.jump_back(Code::Jmp_rel32_64, cold.back)
    }
}

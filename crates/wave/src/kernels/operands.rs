//! Operands of 32 bits of what is made of several ops, compiled for vectors: pairs, twins and comparisons that branch.

use super::regs::reg;
use crate::state::State;
use shader::bytecode::Reg;
use simd::Simd;

/// Up to `K` operands of an op.
pub struct Operands<S: Simd, const K: usize> {
    /// Where they lie.
    pub p: [*const u8; K],
    /// A bit for each that is uniform.
    pub uniform: u8,
    /// The first warp of each.
    pub held: [S::I; K],
}

impl<S: Simd, const K: usize> Operands<S, K> {
    /// The first `n` of `names`.
    ///
    /// # Safety
    /// These are registers of the op that is executed ([`super::regs`]).
    #[inline(always)]
    pub unsafe fn new(s: S, st: &State, names: [Reg; K], n: usize) -> Self {
        let mut x = Operands { p: [st.regs as *const u8; K], uniform: 0, held: [s.isplat(0); K] };
        for i in 0..K {
            if i < n {
                x.p[i] = reg(st, names[i]);
                x.uniform |= (names[i].is_uniform() as u8) << i;
                // SAFETY: the caller's.
                x.held[i] = unsafe { s.iload(x.p[i]) };
            }
        }
        x
    }

    /// Bytes from warp to warp of operand `i`.
    #[inline(always)]
    pub fn step(&self, i: usize) -> usize {
        if self.uniform >> i & 1 != 0 { 0 } else { 64 }
    }
}

/// All five offsets, or what they are made of.
macro_rules! five {
    (|$i:ident| $e:expr) => {
        [
            {
                let $i = 0;
                $e
            },
            {
                let $i = 1;
                $e
            },
            {
                let $i = 2;
                $e
            },
            {
                let $i = 3;
                $e
            },
            {
                let $i = 4;
                $e
            },
        ]
    };
}

/// One warp of `$n` operands: those whose bit in `$u` is set are held, the others lie at `$p` + `$o` bytes.
macro_rules! warp_of {
    ($s:ident, $held:ident, $p:ident, $o:expr, $n:expr, $u:expr, $($i:literal)*) => {{
        let mut x = *$held;
        $(if $n > $i && $u & 1 << $i == 0 {
            // SAFETY: the caller's: the operand has the warp.
            x[$i] = unsafe { $s.iload($p[$i].add($o[$i])) };
        })*
        x
    }};
}
pub(crate) use {five, warp_of};

/// Runs `$run` with the constant `$U`, which operands of `$n` are uniform (a bit each), if that is one of the listed.
macro_rules! by_uniform {
    ($uniform:expr, $n:expr, [$($u:literal)*], $U:ident => $run:block) => {
        match $uniform {
            $($u if $u < 1 << $n => {
                const $U: u8 = $u;
                $run
            })*
            _ => {}
        }
    };
}
pub(super) use by_uniform;

//! The blend equation (§ Blending), logic operations and write masks: sixteen pixels at a time, in registers, for each kind of pixels.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::state::BlendAttachment;
use crate::tile::blend::{Warps, Writer};
use ash::vk::{BlendFactor as F, BlendOp, LogicOp};
use simd::{Level, Simd};
use texel::format::pixels::Pixels;
use texel::row::Row;

/// [`run`] of a kind of pixels.
pub(in crate::tile) type Blend = unsafe fn(&Writer, &[*mut u8], &Warps);

/// A function of its own a kind; none of portable code, which is for where nothing else runs.
pub(in crate::tile) fn of<P: Pixels>(level: Level) -> Option<Blend> {
    simd::form!(
        level,
        <P: Pixels> unsafe fn(
            writer: &Writer,
            at: &[*mut u8],
            warps: &Warps,
        ) = run::<_, P>;
        portable if false
    )
}

/// Writes warps of a wave into sixteen pixels each.
///
/// # Safety
/// Sixteen pixels of the writer's format, which is of this kind, are at each place; the rows hold these warps.
#[inline(always)]
unsafe fn run<S: Simd, P: Pixels>(
    s: S,
    writer: &Writer,
    at: &[*mut u8],
    &Warps { src, src1, first, masks }: &Warps,
) {
    let codes = &writer.codes;
    let zero = [s.isplat(0); 4];
    let (enable, keeps) = (writer.blend.enable, writer.keep.is_some() || writer.logic.is_some());
    let logic = Logic::new(s, writer.logic);
    let (mut old, mut below) = ([zero; APART], [[s.fsplat(0.0); 4]; APART]);
    for from in (0..at.len()).step_by(APART) {
        let n = APART.min(at.len() - from);
        if P::LONG && enable {
            for i in 0..n {
                // SAFETY: the caller's pixels (all of it).
                old[i] = unsafe { P::load(s, codes, at[from + i]) };
                below[i] = P::decode(s, codes, &old[i]);
            }
        }
        for i in 0..n {
            let (at, mask, w) = (at[from + i], masks[from + i], first + from + i);
            // SAFETY: the caller's rows (here and below).
            let a = unsafe { operands::<S, P>(s, src, w) };
            let (mut before, mut blended) = (old[i], a);
            if !(P::LONG && enable) && (enable || keeps || mask != 0xFFFF) {
                before = unsafe { P::load(s, codes, at) };
            }
            if enable {
                let d = if P::LONG { below[i] } else { P::decode(s, codes, &before) };
                let b = match src1 {
                    Some(src1) => unsafe { operands::<S, P>(s, src1, w) },
                    None => a,
                };
                blended = match writer.factors.usual {
                    true => usual(s, writer, P::CHANNELS, &a, &d),
                    false => Operands::new(s, writer, &a, &d, &b).blended(s, writer, P::CHANNELS),
                };
            }
            let mut new = P::encode(s, codes, &blended);
            if mask != 0xFFFF || keeps {
                let lanes = s.isel(s.mask(mask), s.isplat(!0), s.isplat(0));
                let select = P::select(s, lanes, &writer.keep.unwrap_or([!0; 4]));
                for k in 0..P::VECTORS {
                    let v = logic.of(s, new[k], before[k]);
                    new[k] = s.ior(s.iand(select[k], v), s.iandn(select[k], before[k]));
                }
            }
            unsafe { P::store(s, codes, at, &new) };
        }
    }
}

/// A logic operation on words: any function of two bits is c ⊕ (k · source) ⊕ (l · destination) ⊕ (m · source · destination).
#[derive(Clone, Copy)]
pub(in crate::tile) struct Logic<S: Simd>([S::I; 4]);

impl<S: Simd> Logic<S> {
    /// The source, if none is asked for.
    #[inline(always)]
    pub(in crate::tile) fn new(s: S, op: Option<LogicOp>) -> Logic<S> {
        let bits = terms(op.unwrap_or(LogicOp::COPY));
        let [c, k, l, m] = [3, 2, 1, 0].map(|n: u32| 0u32.wrapping_sub(bits >> n & 1));
        Logic([s.isplat(c), s.isplat(k), s.isplat(l), s.isplat(m)])
    }
    #[inline(always)]
    pub(in crate::tile) fn of(&self, s: S, source: S::I, destination: S::I) -> S::I {
        let [c, k, l, m] = self.0;
        let one = s.ixor(c, s.iand(k, source));
        let two = s.ixor(s.iand(l, destination), s.iand(m, s.iand(source, destination)));
        s.ixor(one, two)
    }
}

/// What a logic operation is made of, a bit each of c, k, l and m (§ Logical Operations).
fn terms(op: LogicOp) -> u32 {
    use LogicOp as L;
    match op {
        L::CLEAR => 0b0000,
        L::AND => 0b0001,
        L::AND_REVERSE => 0b0101,
        L::AND_INVERTED => 0b0011,
        L::NO_OP => 0b0010,
        L::XOR => 0b0110,
        L::OR => 0b0111,
        L::NOR => 0b1111,
        L::EQUIVALENT => 0b1110,
        L::INVERT => 0b1010,
        L::OR_REVERSE => 0b1011,
        L::COPY_INVERTED => 0b1100,
        L::OR_INVERTED => 0b1101,
        L::NAND => 0b1001,
        L::SET => 0b1000,
        _ => 0b0100,
    }
}

/// Warps whose pixels are read before any of them is blended, where that takes long: a CPU has only so many instructions in
/// flight, and what a warp does waits for what it did before.
const APART: usize = 4;

/// Channels of a warp as operands: those that pixels have, and alpha.
///
/// # Safety
/// The rows hold the warp.
#[inline(always)]
unsafe fn operands<S: Simd, P: Pixels>(s: S, rows: &[Row; 4], w: usize) -> [S::F; 4] {
    let mut out = [s.fsplat(0.0); 4];
    for c in 0..4 {
        if c < P::CHANNELS || c == 3 {
            // SAFETY: the caller's rows.
            let v = unsafe { rows[c].float(s, w) };
            out[c] = if P::UNIT { s.fmin_raw(s.fmax_raw(v, s.fsplat(0.0)), s.fsplat(1.0)) } else { v };
        }
    }
    out
}

/// What a factor is made of, as [`Operands`] take it: a row of operands, or its alpha, and whether it is that taken from one, or
/// nothing.
#[derive(Clone, Copy)]
struct Code {
    row: usize,
    alpha: bool,
    inverse: bool,
    zero: bool,
}

/// Rows of operands: source, destination, second source, constants, the lesser of the source's alpha and of what is left of the
/// destination's, and ones.
const ROWS: usize = 6;

impl Code {
    fn new(f: F, alpha: bool) -> Code {
        let of = |row, alpha, inverse| Code { row, alpha, inverse, zero: false };
        match f {
            F::ZERO => Code { zero: true, ..of(5, false, false) },
            F::SRC_COLOR => of(0, false, false),
            F::ONE_MINUS_SRC_COLOR => of(0, false, true),
            F::SRC_ALPHA => of(0, true, false),
            F::ONE_MINUS_SRC_ALPHA => of(0, true, true),
            F::DST_COLOR => of(1, false, false),
            F::ONE_MINUS_DST_COLOR => of(1, false, true),
            F::DST_ALPHA => of(1, true, false),
            F::ONE_MINUS_DST_ALPHA => of(1, true, true),
            F::SRC1_COLOR => of(2, false, false),
            F::ONE_MINUS_SRC1_COLOR => of(2, false, true),
            F::SRC1_ALPHA => of(2, true, false),
            F::ONE_MINUS_SRC1_ALPHA => of(2, true, true),
            F::CONSTANT_COLOR => of(3, false, false),
            F::ONE_MINUS_CONSTANT_COLOR => of(3, false, true),
            F::CONSTANT_ALPHA => of(3, true, false),
            F::ONE_MINUS_CONSTANT_ALPHA => of(3, true, true),
            // (Of alpha it is one.)
            F::SRC_ALPHA_SATURATE if !alpha => of(4, false, false),
            _ => of(5, false, false),
        }
    }
}

/// A writer's factors: source's and destination's, of colours and of alpha.
#[derive(Clone, Copy)]
pub(in crate::tile) struct Factors {
    codes: [[Code; 2]; 2],
    /// [`usual`] has them.
    usual: bool,
}

impl Factors {
    pub(in crate::tile) fn new(b: &BlendAttachment) -> Factors {
        let has = |f| matches!(f, F::ZERO | F::ONE | F::SRC_ALPHA | F::ONE_MINUS_SRC_ALPHA);
        Factors {
            codes: [
                [Code::new(b.src_color, false), Code::new(b.dst_color, false)],
                [Code::new(b.src_alpha, true), Code::new(b.dst_alpha, true)],
            ],
            usual: (b.color_op, b.alpha_op) == (BlendOp::ADD, BlendOp::ADD)
                && [b.src_color, b.dst_color, b.src_alpha, b.dst_alpha].into_iter().all(has),
        }
    }
}

/// [`Operands::blended`] of sums with the factors that most draws have.
#[inline(always)]
fn usual<S: Simd>(s: S, writer: &Writer, n: usize, a: &[S::F; 4], d: &[S::F; 4]) -> [S::F; 4] {
    let e = &writer.blend;
    let rest = s.fsub(s.fsplat(1.0), a[3]);
    let mut out = *a;
    for (from, to, sf, df) in [(0, n.min(3), e.src_color, e.dst_color), (3, n, e.src_alpha, e.dst_alpha)] {
        let (mut x, mut y) = (*a, *d);
        for (v, f) in [(&mut x, sf), (&mut y, df)] {
            match f {
                F::ZERO => {
                    for c in from..to {
                        v[c] = s.fsplat(0.0);
                    }
                }
                F::SRC_ALPHA => {
                    for c in from..to {
                        v[c] = s.fmul(v[c], a[3]);
                    }
                }
                F::ONE_MINUS_SRC_ALPHA => {
                    for c in from..to {
                        v[c] = s.fmul(v[c], rest);
                    }
                }
                _ => {}
            }
        }
        for c in from..to {
            out[c] = s.fadd(x[c], y[c]);
        }
    }
    out
}

/// Operands of an equation, as [`Code`] numbers them.
pub(in crate::tile) struct Operands<S: Simd>([[S::F; 4]; ROWS]);

impl<S: Simd> Operands<S> {
    /// Source `a`, destination `d`, second source `b`.
    #[inline(always)]
    pub(in crate::tile) fn new(
        s: S,
        writer: &Writer,
        a: &[S::F; 4],
        d: &[S::F; 4],
        b: &[S::F; 4],
    ) -> Operands<S> {
        let one = s.fsplat(1.0);
        let mut rows = [[one; 4]; ROWS];
        (rows[0], rows[1], rows[2]) = (*a, *d, *b);
        for c in 0..4 {
            rows[3][c] = s.fsplat(writer.constants[c]);
            rows[4][c] = s.fmin_raw(a[3], s.fsub(one, d[3]));
        }
        Operands(rows)
    }

    /// A number times channel `c`'s factor, of the source or of the destination.
    #[inline(always)]
    pub(in crate::tile) fn times(&self, s: S, writer: &Writer, destination: bool, c: usize, v: S::F) -> S::F {
        let code = &writer.factors.codes[c / 3][destination as usize];
        let k = self.0[code.row % ROWS][if code.alpha { 3 } else { c }];
        let k = if code.inverse { s.fsub(s.fsplat(1.0), k) } else { k };
        if code.zero { s.fsplat(0.0) } else { s.fmul(v, k) }
    }

    /// The first `n` channels by the equation, whatever its factors: these are looked up, so that the code is short, as it is there for each
    /// kind of pixels.
    #[inline(always)]
    pub(in crate::tile) fn blended(&self, s: S, writer: &Writer, n: usize) -> [S::F; 4] {
        let [a, d, ..] = &self.0;
        let mut out = *a;
        // (A loop, not the same four times.)
        for c in 0..std::hint::black_box(n).min(4) {
            let op = if c < 3 { writer.blend.color_op } else { writer.blend.alpha_op };
            out[c] = match op {
                BlendOp::MIN => s.fmin_raw(a[c], d[c]),
                BlendOp::MAX => s.fmax_raw(a[c], d[c]),
                _ => {
                    let x = self.times(s, writer, false, c, a[c]);
                    let y = self.times(s, writer, true, c, d[c]);
                    match op {
                        BlendOp::SUBTRACT => s.fsub(x, y),
                        BlendOp::REVERSE_SUBTRACT => s.fsub(y, x),
                        _ => s.fadd(x, y),
                    }
                }
            };
        }
        out
    }
}

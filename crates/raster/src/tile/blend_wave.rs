//! Blending, logic operations and write masks of any format, factors and equation: warps of a wave in steps, as
//! [`texel::format::wave`] takes formats. What is the same for all warps is asked once a step.

// Loops over warps index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::blend::Writer;
use super::blend_advanced::{self, is_advanced};
use ash::vk;
use simd::{Simd, ops};
use texel::format::wave::{self, Four, WARPS};
use texel::row::Row;

simd::by_level! {
    /// Writes the warps `first..first + at.len()` of a wave to sixteen pixels each; `masks`: lanes of each.
    ///
    /// # Safety
    /// Sixteen pixels of the format are at each place, no two the same; the rows hold these warps.
    #[inline(never)]
    pub(super) unsafe fn write_warps = body,
        (w: &Writer, at: &[*mut u8], first: usize, src: &[Row; 4], src1: Option<&[Row; 4]>, masks: &[u16])
}

/// # Safety
/// As [`write_warps`].
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn body<S: Simd>(
    s: S,
    writer: &Writer,
    at: &[*mut u8],
    first: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    masks: &[u16],
) {
    for (i, at) in at.chunks(WARPS).enumerate() {
        let done = i * WARPS;
        // SAFETY: the caller's.
        unsafe { step(s, writer, at, first + done, src, src1, &masks[done..done + at.len()]) };
    }
}

/// # Safety
/// As [`write_warps`], of [`WARPS`] at most.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn step<S: Simd>(
    s: S,
    writer: &Writer,
    at: &[*mut u8],
    first: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    masks: &[u16],
) {
    let n = at.len().min(WARPS);
    let all = masks.iter().fold(0xFFFF, |all, m| all & m) == 0xFFFF;
    let keeps = writer.keep.is_some() || writer.logic.is_some();
    let (plan, bytes) = (&writer.plan, writer.bytes);
    let (mut old, mut new) = (Four::new(), Four::new());
    if !all || keeps || writer.blend.enable {
        // SAFETY: the caller's pixels.
        unsafe { wave::load(s.level(), bytes, places(at), &mut old) };
    }
    if writer.blend.enable {
        let (mut below, mut out) = (Four::new(), Four::new());
        // SAFETY: the words were loaded; the caller's rows.
        unsafe {
            wave::decode(s.level(), plan, &old, n, &mut below);
            blend(s, writer, &below, first, n, src, src1, &mut out);
        }
        let out = [out.row(0), out.row(1), out.row(2), out.row(3)];
        // SAFETY: channels that texels have were blended.
        unsafe { wave::encode(s.level(), plan, &out, 0, n, &mut new) };
    } else {
        // SAFETY: the caller's rows.
        unsafe { wave::encode(s.level(), plan, src, first, n, &mut new) };
    }
    let words = bytes.div_ceil(4).min(4);
    if keeps {
        // SAFETY: words were loaded, and made (here and below).
        unsafe { mix(s, writer, &old, n, words, &mut new) };
    }
    if !all {
        for k in 0..words {
            for w in 0..n {
                let (new_word, old_word) = unsafe { (new.get(s, k, w), old.get(s, k, w)) };
                new.put(s, k, w, s.isel(s.mask(masks[w]), new_word, old_word));
            }
        }
    }
    // SAFETY: the caller's pixels.
    unsafe { wave::store(s.level(), bytes, &new, at) };
}

/// As places that are read.
#[inline(always)]
fn places(at: &[*mut u8]) -> &[*const u8] {
    // SAFETY: the two kinds of pointer lie in memory alike.
    unsafe { std::slice::from_raw_parts(at.as_ptr().cast(), at.len()) }
}

/// Logic operation and write mask, on words.
///
/// # Safety
/// The words of both are there.
#[inline(always)]
unsafe fn mix<S: Simd>(s: S, writer: &Writer, old: &Four, n: usize, words: usize, new: &mut Four) {
    // Any function of two bits is c ⊕ (k · source) ⊕ (l · destination) ⊕ (m · source · destination).
    let [c, k, l, m] = terms(writer.logic.unwrap_or(vk::LogicOp::COPY));
    let (c, k, l, m) = (s.isplat(c), s.isplat(k), s.isplat(l), s.isplat(m));
    let keep = writer.keep.unwrap_or([!0; 4]);
    for i in 0..words {
        let keep = s.isplat(keep[i]);
        for w in 0..n {
            // SAFETY: the caller's words.
            let (a, d) = unsafe { (new.get(s, i, w), old.get(s, i, w)) };
            let one = s.ixor(c, s.iand(k, a));
            let v = s.ixor(s.ixor(one, s.iand(l, d)), s.iand(m, s.iand(a, d)));
            new.put(s, i, w, s.ior(s.iand(v, keep), s.iandn(keep, d)));
        }
    }
}

/// What a logic operation is made of, as `mix` takes it (§ Logical Operations).
fn terms(op: vk::LogicOp) -> [u32; 4] {
    use vk::LogicOp as L;
    let bits = match op {
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
    };
    [3, 2, 1, 0].map(|i| if bits >> i & 1 != 0 { !0 } else { 0 })
}

/// `$do` for `$n` warps, of which `$w` is the number.
macro_rules! each {
    ($s:ident, $n:ident, $w:ident => $do:expr) => {
        for $w in 0..$n {
            $do
        }
    };
}

/// `$do` with `$v`, row `$row` times `$factor`, of each of `$n` warps: a loop a factor's kind, for what kind it is is not to be asked in it.
macro_rules! times {
    ($s:ident, $n:ident, $row:ident, $factor:expr, $v:ident, $w:ident => $do:expr) => {
        match $factor {
            Factor::Zero => each!($s, $n, $w => { let $v = $s.fsplat(0.0); $do }),
            Factor::One => each!($s, $n, $w => { let $v = $row.float($s, $w); $do }),
            Factor::Of(r) => each!($s, $n, $w => { let $v = $s.fmul($row.float($s, $w), r.float($s, $w)); $do }),
            Factor::Less(r) => {
                let one = $s.fsplat(1.0);
                each!($s, $n, $w => { let $v = $s.fmul($row.float($s, $w), $s.fsub(one, r.float($s, $w))); $do })
            }
        }
    };
}

/// What an operand is multiplied by.
#[derive(Clone, Copy)]
enum Factor {
    Zero,
    One,
    Of(Row),
    /// One less that.
    Less(Row),
}

/// Rows of the operands: source, destination, second source, constants.
struct Operands {
    a: [Row; 4],
    d: [Row; 4],
    b: [Row; 4],
    constants: [Row; 4],
    /// The lesser of the source's alpha and what is left of the destination's.
    saturate: Row,
}

impl Operands {
    #[inline(always)]
    fn factor(&self, f: vk::BlendFactor, c: usize) -> Factor {
        use vk::BlendFactor as F;
        match f {
            F::ZERO => Factor::Zero,
            F::SRC_COLOR => Factor::Of(self.a[c]),
            F::ONE_MINUS_SRC_COLOR => Factor::Less(self.a[c]),
            F::DST_COLOR => Factor::Of(self.d[c]),
            F::ONE_MINUS_DST_COLOR => Factor::Less(self.d[c]),
            F::SRC_ALPHA => Factor::Of(self.a[3]),
            F::ONE_MINUS_SRC_ALPHA => Factor::Less(self.a[3]),
            F::DST_ALPHA => Factor::Of(self.d[3]),
            F::ONE_MINUS_DST_ALPHA => Factor::Less(self.d[3]),
            F::CONSTANT_COLOR => Factor::Of(self.constants[c]),
            F::ONE_MINUS_CONSTANT_COLOR => Factor::Less(self.constants[c]),
            F::CONSTANT_ALPHA => Factor::Of(self.constants[3]),
            F::ONE_MINUS_CONSTANT_ALPHA => Factor::Less(self.constants[3]),
            F::SRC_ALPHA_SATURATE if c < 3 => Factor::Of(self.saturate),
            F::SRC1_COLOR => Factor::Of(self.b[c]),
            F::ONE_MINUS_SRC1_COLOR => Factor::Less(self.b[c]),
            F::SRC1_ALPHA => Factor::Of(self.b[3]),
            F::ONE_MINUS_SRC1_ALPHA => Factor::Less(self.b[3]),
            _ => Factor::One,
        }
    }
}

/// The channels that texels have, blended with what is `below`, which is read as [`wave::channel`] says.
///
/// # Safety
/// The rows hold these warps.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn blend<S: Simd>(
    s: S,
    writer: &Writer,
    below: &Four,
    first: usize,
    n: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    out: &mut Four,
) {
    let equation = &writer.blend;
    let channels = writer.plan.channels();
    let (mut own, mut own1, mut extra) = (Four::new(), Four::new(), Four::new());
    let read = channels | 8;
    // SAFETY: the caller's rows.
    let a = unsafe { operand(s, writer, src, first, n, read, &mut own) };
    let b = match src1 {
        // SAFETY: as above.
        Some(src1) => unsafe { operand(s, writer, src1, first, n, read, &mut own1) },
        None => [Row::zero(); 4],
    };
    let mut d = [Row::zero(); 4];
    for (k, d) in d.iter_mut().enumerate() {
        *d = wave::channel(&writer.plan, below, k);
    }
    if is_advanced(equation.color_op) {
        for w in 0..n {
            let mut operands = [[[0f32; 16]; 4]; 2];
            for k in 0..4 {
                // SAFETY: as above.
                unsafe {
                    operands[0][k] = ops::f_lanes(s, a[k].float(s, w));
                    operands[1][k] = ops::f_lanes(s, d[k].float(s, w));
                }
            }
            let [a, d] = &operands;
            let all = blend_advanced::blend(equation.color_op, &equation.advanced, writer.half(), a, d);
            for k in 0..4 {
                out.put(s, k, w, s.bits(ops::f_from(s, all[k])));
            }
        }
        return;
    }
    let saturate = vk::BlendFactor::SRC_ALPHA_SATURATE;
    if equation.src_color == saturate || equation.dst_color == saturate {
        for w in 0..n {
            // SAFETY: as above.
            let (a, d) = unsafe { (a[3].float(s, w), d[3].float(s, w)) };
            extra.put(s, 0, w, s.bits(s.fmin_raw(a, s.fsub(s.fsplat(1.0), d))));
        }
    }
    let constants = &writer.constant_rows;
    let constants =
        [Row::one(&constants[0]), Row::one(&constants[1]), Row::one(&constants[2]), Row::one(&constants[3])];
    let of = Operands { a, d, b, constants, saturate: extra.row(0) };
    for c in 0..4 {
        if channels >> c & 1 == 0 {
            continue;
        }
        let (sf, df, op) = match c {
            0..3 => (equation.src_color, equation.dst_color, equation.color_op),
            _ => (equation.src_alpha, equation.dst_alpha, equation.alpha_op),
        };
        let (x, y) = (of.a[c], of.d[c]);
        // SAFETY: rows of these warps, all that are read of them (here and below).
        match op {
            vk::BlendOp::MIN => unsafe { each!(s, n, w => out.put(s, c, w, s.bits(s.fmin_raw(x.float(s, w), y.float(s, w))))) },
            vk::BlendOp::MAX => unsafe { each!(s, n, w => out.put(s, c, w, s.bits(s.fmax_raw(x.float(s, w), y.float(s, w))))) },
            _ => unsafe {
                let x = match of.factor(sf, c) {
                    Factor::One => x,
                    f => {
                        times!(s, n, x, f, v, w => extra.put(s, 1, w, s.bits(v)));
                        extra.row(1)
                    }
                };
                let df = of.factor(df, c);
                match op {
                    vk::BlendOp::SUBTRACT => times!(s, n, y, df, v, w => out.put(s, c, w, s.bits(s.fsub(x.float(s, w), v)))),
                    vk::BlendOp::REVERSE_SUBTRACT => times!(s, n, y, df, v, w => out.put(s, c, w, s.bits(s.fsub(v, x.float(s, w))))),
                    _ => times!(s, n, y, df, v, w => out.put(s, c, w, s.bits(s.fadd(x.float(s, w), v)))),
                }
            },
        }
    }
}

/// Channels `read` as operands: clamped where the format's are (§ Blending), in `own`.
///
/// # Safety
/// The rows hold these warps.
#[inline(always)]
unsafe fn operand<S: Simd>(
    s: S,
    writer: &Writer,
    src: &[Row; 4],
    first: usize,
    n: usize,
    read: u32,
    own: &mut Four,
) -> [Row; 4] {
    let Some([lo, hi]) = writer.range else {
        return [src[0].from(first), src[1].from(first), src[2].from(first), src[3].from(first)];
    };
    for k in 0..4 {
        if read >> k & 1 == 0 {
            continue;
        }
        for w in 0..n {
            // SAFETY: the caller's rows.
            let v = unsafe { src[k].float(s, first + w) };
            own.put(s, k, w, s.bits(s.fmin_raw(s.fmax_raw(v, s.fsplat(lo)), s.fsplat(hi))));
        }
    }
    [own.row(0), own.row(1), own.row(2), own.row(3)]
}

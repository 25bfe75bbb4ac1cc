//! Writes of whole waves to attachments of any format. Blendable formats use [`super::equation`]. The others, and advanced blending, go
//! through the steps of [`texel::format::wave`].

// Loops over warps index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::advanced::{self, is_advanced};
use super::equation::{self, Logic, Operands};
use super::{Warps, Writer};
use simd::{Simd, ops};
use texel::format::wave::{self, Four, WARPS};
use texel::row::Row;

simd::by_level! {
    /// Writes warps of a wave to sixteen pixels each.
    ///
    /// # Safety
    /// Sixteen pixels of the format are at each place, no two the same; the rows hold these warps.
    #[inline(never)]
    pub(in crate::tile) unsafe fn write_warps = body,
        (w: &Writer, at: &[*mut u8], warps: &Warps)
}

/// # Safety
/// As [`write_warps`].
#[inline(always)]
unsafe fn body<S: Simd>(s: S, writer: &Writer, at: &[*mut u8], warps: &Warps) {
    let run = writer.equation.and_then(|k| texel::with_pixels!(k, P => equation::of::<P>(s.level())));
    if let Some(run) = run {
        // SAFETY: the caller's; of this level, and of the writer's kind.
        return unsafe { run(writer, at, warps) };
    }
    for (i, at) in at.chunks(WARPS).enumerate() {
        let done = i * WARPS;
        // SAFETY: the caller's.
        unsafe { step(s, writer, at, &warps.part(done..done + at.len())) };
    }
}

/// # Safety
/// As [`write_warps`], of [`WARPS`] at most.
#[inline(always)]
unsafe fn step<S: Simd>(s: S, writer: &Writer, at: &[*mut u8], warps: &Warps) {
    let n = at.len().min(WARPS);
    let &Warps { src, first, masks, .. } = warps;
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
            blend(s, writer, &below, n, warps, &mut out);
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
    let logic = Logic::new(s, writer.logic);
    let keep = writer.keep.unwrap_or([!0; 4]);
    for i in 0..words {
        let keep = s.isplat(keep[i]);
        for w in 0..n {
            // SAFETY: the caller's words.
            let (a, d) = unsafe { (new.get(s, i, w), old.get(s, i, w)) };
            let v = logic.of(s, a, d);
            new.put(s, i, w, s.ior(s.iand(v, keep), s.iandn(keep, d)));
        }
    }
}

/// The channels that texels have, blended with what is `below`, which is read as [`wave::channel`] says: by an advanced equation, or, of
/// portable code, by any.
///
/// # Safety
/// The rows hold these warps.
#[inline(always)]
unsafe fn blend<S: Simd>(
    s: S,
    writer: &Writer,
    below: &Four,
    n: usize,
    &Warps { src, src1, first, .. }: &Warps,
    out: &mut Four,
) {
    let of = &writer.blend;
    let by_lanes = is_advanced(of.color_op) || S::VECTORS;
    for w in 0..n {
        let (mut a, mut b, mut d) = ([s.fsplat(0.0); 4], [s.fsplat(0.0); 4], [s.fsplat(0.0); 4]);
        for k in 0..4 {
            // SAFETY: the caller's rows.
            unsafe {
                a[k] = operand(s, writer, &src[k], first + w);
                if let Some(src1) = src1 {
                    b[k] = operand(s, writer, &src1[k], first + w);
                }
                d[k] = wave::channel(&writer.plan, below, k).float(s, w);
            }
        }
        let mut blended = a;
        if !by_lanes {
            blended = Operands::new(s, writer, &a, &d, &b).blended(s, writer, 4);
        } else {
            let mut operands = [[[0f32; 16]; 4]; 2];
            for k in 0..4 {
                (operands[0][k], operands[1][k]) = (ops::f_lanes(s, a[k]), ops::f_lanes(s, d[k]));
            }
            let [a, d] = &operands;
            let all = advanced::blend(of.color_op, &of.advanced, writer.half(), a, d);
            for k in 0..4 {
                blended[k] = ops::f_from(s, all[k]);
            }
        }
        for k in 0..4 {
            out.put(s, k, w, s.bits(blended[k]));
        }
    }
}

/// A channel as an operand: clamped where the format's are (§ Blending).
///
/// # Safety
/// The row holds the warp.
#[inline(always)]
unsafe fn operand<S: Simd>(s: S, writer: &Writer, row: &Row, w: usize) -> S::F {
    // SAFETY: the caller's.
    let v = unsafe { row.float(s, w) };
    match writer.range {
        Some([lo, hi]) => s.fmin_raw(s.fmax_raw(v, s.fsplat(lo)), s.fsplat(hi)),
        None => v,
    }
}

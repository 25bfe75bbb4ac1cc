//! Blits to half the size, as mipmaps are made: a texel of four, by the operations of [`super::scaled`] with weights of one half, but in
//! registers from reading to writing.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::blit::{Axis, Tap};
use crate::format::FormatInfo;
use crate::format::pixels::{Codes, PixelKind, Pixels};
use crate::with_pixels;
use simd::{Level, Simd, ops};

/// Destination texels that are made at once.
const LANES: usize = 16;
/// Bytes of so many of the largest.
const WARP: usize = LANES * 16;

/// Whether a destination texel is the mean of two, and of those after the ones of the texel before it.
fn pairs(taps: &[Tap]) -> bool {
    let Some(&(first, ..)) = taps.first() else { return false };
    taps.iter().zip(0u32..).all(|(t, i)| *t == (first + 2 * i, first + 2 * i + 1, 0.5))
}

/// Writes a row: the format's codes, both rows' first texels, where to, and how many.
type Row = unsafe fn(&Codes, [*const u8; 2], *mut u8, usize);

/// Such blits of a format.
pub(super) struct Halves {
    row: Row,
    codes: Codes,
}

impl Halves {
    /// `None` of another blit.
    pub(super) fn new(
        level: Level,
        from: &FormatInfo,
        to: &FormatInfo,
        [x, y, z]: [&Axis; 3],
    ) -> Option<Halves> {
        let kind = PixelKind::of(from)?;
        let suits =
            from.format == to.format && pairs(&x.taps) && pairs(&y.taps) && z.taps.iter().all(|t| t.2 == 0.0);
        suits.then(|| Halves { row: with_pixels!(kind, P => of::<P>(level)), codes: Codes::new(from) })
    }

    /// # Safety
    /// `count` texels at `to`, and twice as many of both rows.
    pub(super) unsafe fn run(&self, rows: [*const u8; 2], to: *mut u8, count: usize) {
        // SAFETY: the caller's; picked for the level it was made for.
        unsafe { (self.row)(&self.codes, rows, to, count) };
    }
}

fn of<P: Pixels>(level: Level) -> Row {
    simd::form!(
        level,
        <P: Pixels> unsafe fn(codes: &Codes, rows: [*const u8; 2], to: *mut u8, count: usize) = row::<_, P>
    )
}

/// # Safety
/// As [`Halves::run`].
#[inline(always)]
unsafe fn row<S: Simd, P: Pixels>(s: S, codes: &Codes, rows: [*const u8; 2], to: *mut u8, count: usize) {
    let bytes = codes.bytes();
    let mut done = 0;
    while done + LANES <= count {
        let at = 2 * done * bytes;
        let from = [rows[0].wrapping_add(at), rows[1].wrapping_add(at)];
        // SAFETY: so many texels are left.
        unsafe { texels::<S, P>(s, codes, from, to.add(done * bytes)) };
        done += LANES;
    }
    let left = count - done;
    if left > 0 {
        let (mut own, mut out) = ([[0u8; 2 * WARP]; 2], [0u8; WARP]);
        // SAFETY: what is left of the rows; as many texels as are made have room.
        unsafe {
            for k in 0..2 {
                own[k].as_mut_ptr().copy_from(rows[k].add(2 * done * bytes), 2 * left * bytes);
            }
            texels::<S, P>(s, codes, [own[0].as_ptr(), own[1].as_ptr()], out.as_mut_ptr());
            to.add(done * bytes).copy_from(out.as_ptr(), left * bytes);
        }
    }
}

/// Sixteen texels of 32 of each row.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn texels<S: Simd, P: Pixels>(s: S, codes: &Codes, rows: [*const u8; 2], to: *mut u8) {
    let half = s.fsplat(0.5);
    let mut sum = [s.fsplat(0.0); 4];
    for k in 0..2 {
        // SAFETY: the caller's texels.
        let (a, b) =
            unsafe { (P::load(s, codes, rows[k]), P::load(s, codes, rows[k].add(LANES * codes.bytes()))) };
        let (a, b) = (P::decode(s, codes, &a), P::decode(s, codes, &b));
        for c in 0..P::CHANNELS {
            let [x, y] = ops::apart(s, [s.bits(a[c]), s.bits(b[c])]);
            let pair = s.fadd(s.fmul(s.from_bits(x), half), s.fmul(s.from_bits(y), half));
            sum[c] = s.fadd(sum[c], s.fmul(pair, half));
        }
    }
    let out = P::encode(s, codes, &sum);
    // SAFETY: the caller's texels.
    unsafe { P::store(s, codes, to, &out) };
}

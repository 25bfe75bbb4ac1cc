//! Nearest texels of a format that stays: their bytes as they are (§ Image Copies With Scaling: without a conversion nothing is decoded).

use super::blit::Axis;
use super::rows::rows_are_whole;
use crate::image::Surface;

/// Whether [`blit`] has a blit of the nearest texels; `d`: what is written.
pub(super) fn has(s: &Surface, d: &Surface) -> bool {
    s.format.format == d.format.format && rows_are_whole(s, d)
}

/// Columns that texels of a row come from, counted from the first one of all.
enum Columns {
    /// Every second one.
    Half,
    /// Each twice.
    Double,
    Any(Vec<u32>),
}

impl Columns {
    /// Those, and the first one of all.
    fn new(taps: &[u32]) -> (Columns, u32) {
        let first = taps[0];
        let all = |of: fn(u32) -> u32| (0..).zip(taps).all(|(i, t)| *t == first + of(i));
        if all(|i| 2 * i) {
            (Columns::Half, first)
        } else if all(|i| i / 2) {
            (Columns::Double, first)
        } else {
            let least = taps.iter().min().copied().unwrap_or(0);
            (Columns::Any(taps.iter().map(|t| t - least).collect()), least)
        }
    }

    /// # Safety
    /// The texels are readable from the first one on, and `n` are writable.
    unsafe fn row<T: Copy>(&self, from: *const u8, to: *mut u8, n: usize) {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        // SAFETY: the caller's texels (all of it).
        unsafe {
            match self {
                Columns::Half => {
                    (0..n).for_each(|i| to.add(i).write_unaligned(from.add(2 * i).read_unaligned()))
                }
                Columns::Double => {
                    for i in 0..n / 2 {
                        let t = from.add(i).read_unaligned();
                        to.add(2 * i).cast::<[T; 2]>().write_unaligned([t; 2]);
                    }
                    if !n.is_multiple_of(2) {
                        to.add(n - 1).write_unaligned(from.add(n / 2).read_unaligned());
                    }
                }
                Columns::Any(all) => {
                    for (i, x) in all[..n].iter().enumerate() {
                        to.add(i).write_unaligned(from.add(*x as usize).read_unaligned());
                    }
                }
            }
        }
    }
}

/// A blit whose axes were cut to both surfaces, where [`has`] says so.
pub(super) fn blit(s: &Surface, d: &Surface, [ax, ay, az]: [&Axis; 3], (sl, dl, layers): (u32, u32, u32)) {
    let taps: Vec<u32> = ax.taps.iter().map(|t| t.0).collect();
    let (columns, first) = Columns::new(&taps);
    let (n, bytes) = (taps.len(), s.format.block_bytes as usize);
    for layer in 0..layers {
        for (z, tz) in az.taps.iter().enumerate() {
            let mut before: Option<(u32, *mut u8)> = None;
            for (y, ty) in ay.taps.iter().enumerate() {
                // SAFETY: the axes were cut to both surfaces; a row above is another one.
                let to = unsafe {
                    let to = d.block(ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer);
                    let from = s.block(first, ty.0, tz.0, 0, sl + layer).cast_const();
                    match before {
                        Some((row, at)) if row == ty.0 => to.copy_from_nonoverlapping(at, n * bytes),
                        _ => match bytes {
                            1 => columns.row::<u8>(from, to, n),
                            2 => columns.row::<u16>(from, to, n),
                            3 => columns.row::<[u8; 3]>(from, to, n),
                            4 => columns.row::<u32>(from, to, n),
                            6 => columns.row::<[u16; 3]>(from, to, n),
                            8 => columns.row::<u64>(from, to, n),
                            12 => columns.row::<[u32; 3]>(from, to, n),
                            16 => columns.row::<u128>(from, to, n),
                            24 => columns.row::<[u64; 3]>(from, to, n),
                            _ => columns.row::<[u64; 4]>(from, to, n),
                        },
                    }
                    to
                };
                before = Some((ty.0, to));
            }
        }
    }
}

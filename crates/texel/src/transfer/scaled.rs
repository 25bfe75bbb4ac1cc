//! Blits sixteen texels at a time: each source row is filtered along x once, into channels; a destination row is a sum of such rows.

use super::blit::{Axis, Tap};
use super::halve;
use crate::format::ChannelClass;
use crate::format::codec;
use crate::format::kernels::{self, Channels, GatherFn};
use crate::image::Surface;
use crate::memory::sparse;

const LANES: usize = 16;

/// Sixteen destination columns: bytes from a source row's first texel to the texels of each, and the weight of the second.
struct Columns {
    first: [u64; LANES],
    second: [u64; LANES],
    weight: [f32; LANES],
    /// No second texel has a weight that counts.
    copies: bool,
    /// How many there are.
    count: u32,
}

impl Columns {
    fn new(taps: &[Tap], bytes: u64, linear: bool) -> Columns {
        // What lies beyond the last is as that.
        let tap = |lane: usize| taps[lane.min(taps.len() - 1)];
        Columns {
            first: std::array::from_fn(|lane| tap(lane).0 as u64 * bytes),
            second: std::array::from_fn(|lane| tap(lane).1 as u64 * bytes),
            weight: std::array::from_fn(|lane| tap(lane).2),
            copies: !linear || taps.iter().all(|t| t.2 == 0.0),
            count: taps.len() as u32,
        }
    }

    fn mask(&self) -> u16 {
        (u32::MAX >> (32 - self.count)) as u16
    }
}

/// Source rows, filtered along x: the last four that were asked for.
struct Rows<'a> {
    surface: &'a Surface,
    gather: GatherFn,
    columns: &'a [Columns],
    layer: u32,
    /// y, z and layer; `None` before the first use.
    rows: [(Option<[u32; 3]>, Vec<Channels>); 4],
    /// When each was last asked for.
    used: [u64; 4],
    now: u64,
    level: simd::Level,
}

impl<'a> Rows<'a> {
    fn new(level: simd::Level, surface: &'a Surface, columns: &'a [Columns]) -> Rows<'a> {
        let rows = std::array::from_fn(|_| (None, vec![[[0; LANES]; 4]; columns.len()]));
        let gather = kernels::gather_fn(surface.format);
        Rows { surface, gather, columns, layer: 0, rows, used: [0; 4], now: 0, level }
    }

    /// The place of a row, filtered if need be. The four asked for last all stay.
    fn row(&mut self, y: u32, z: u32) -> usize {
        self.now += 1;
        let at = Some([y, z, self.layer]);
        let found = self.rows.iter().position(|r| r.0 == at);
        let i = found.unwrap_or_else(|| (0..4).min_by_key(|&i| self.used[i]).unwrap_or(0));
        self.used[i] = self.now;
        if found.is_none() {
            self.rows[i].0 = at;
            // SAFETY: the row exists: taps were cut to the surface.
            let base = unsafe { self.surface.block(0, y, z, 0, self.layer) };
            let mut second = [[0; LANES]; 4];
            for (columns, out) in self.columns.iter().zip(&mut self.rows[i].1) {
                // SAFETY: texels of the row, of the surface's format (here and below).
                unsafe { (self.gather)(self.surface.format, base, &columns.first, out) };
                if !columns.copies {
                    unsafe { (self.gather)(self.surface.format, base, &columns.second, &mut second) };
                    beside(self.level, out, &second, &columns.weight);
                }
            }
        }
        i
    }
}

simd::by_level!(fn beside = plain beside_body, (a: &mut Channels, b: &Channels, w: &[f32; 16]));

/// A texel and its neighbour. One without a weight adds nothing.
#[inline(always)]
fn beside_body(a: &mut Channels, b: &Channels, w: &[f32; LANES]) {
    for k in 0..4 {
        for lane in 0..LANES {
            let (x, y) = (f32::from_bits(a[k][lane]), f32::from_bits(b[k][lane]));
            let v = x * (1.0 - w[lane]) + y * w[lane];
            a[k][lane] = if w[lane] == 0.0 { x.to_bits() } else { v.to_bits() };
        }
    }
}

simd::by_level!(fn weigh = plain weigh_body, (sum: &mut Channels, row: &Channels, w: f32));

/// Adds a row's share.
#[inline(always)]
fn weigh_body(sum: &mut Channels, row: &Channels, w: f32) {
    for k in 0..4 {
        for lane in 0..LANES {
            sum[k][lane] = (f32::from_bits(sum[k][lane]) + f32::from_bits(row[k][lane]) * w).to_bits();
        }
    }
}

/// Whether [`blit`] has such a blit; `d`: what is written.
pub(super) fn has(s: &Surface, d: &Surface) -> bool {
    // Where some of the memory may be absent, rows go in parts.
    !s.format.compressed() && s.split.is_none() && d.split.is_none() && !sparse::may_have_holes(d.base)
}

/// A blit whose axes were cut to both surfaces. `linear`: of floats, by the taps' weights; the nearest texel otherwise.
pub(super) fn blit(
    level: simd::Level,
    s: &Surface,
    d: &Surface,
    [ax, ay, az]: [&Axis; 3],
    (sl, dl, layers): (u32, u32, u32),
    linear: bool,
) {
    let bytes = s.format.block_bytes as u64;
    let columns: Vec<Columns> = ax.taps.chunks(LANES).map(|taps| Columns::new(taps, bytes, linear)).collect();
    let mut rows = Rows::new(level, s, &columns);
    let scatter = kernels::scatter_fn(d.format);
    let texel = d.format.block_bytes as u64;
    let side: [u64; LANES] = std::array::from_fn(|lane| lane as u64 * texel);
    let (from, to) = (s.format.channel_class(), d.format.channel_class());
    let halves = linear && halve::suits(s.format, d.format, [ax, ay, az]);
    for layer in 0..layers {
        rows.layer = sl + layer;
        for (z, tz) in az.taps.iter().enumerate() {
            for (y, ty) in ay.taps.iter().enumerate() {
                if halves {
                    // SAFETY: the axes were cut to both surfaces, and so many texels of four bytes are on them (all of it).
                    unsafe {
                        let from = [ty.0, ty.1].map(|y| s.block(ax.taps[0].0, y, tz.0, 0, sl + layer));
                        let at = d.block(ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer);
                        for (i, columns) in columns.iter().enumerate() {
                            let mut t = [[0; LANES]; 4];
                            let from = from.map(|row| row.cast_const().add(i * halve::BYTES));
                            halve::texels(level, s.format, from, columns.count as usize, &mut t);
                            scatter(d.format, at.add(i * LANES * 4), &side, columns.mask(), &t);
                        }
                    }
                    continue;
                }
                let mut shares = [(rows.row(ty.0, tz.0), 1.0); 4];
                let mut count = 1;
                if linear {
                    let all = [
                        (ty.0, tz.0, (1.0 - ty.2) * (1.0 - tz.2)),
                        (ty.1, tz.0, ty.2 * (1.0 - tz.2)),
                        (ty.0, tz.1, (1.0 - ty.2) * tz.2),
                        (ty.1, tz.1, ty.2 * tz.2),
                    ];
                    count = 0;
                    for (y, z, w) in all.into_iter().filter(|(.., w)| *w != 0.0) {
                        shares[count] = (rows.row(y, z), w);
                        count += 1;
                    }
                }
                // SAFETY: the axes were cut to both surfaces.
                let mut at =
                    unsafe { d.block(ax.first, ay.first + y as u32, az.first + z as u32, 0, dl + layer) };
                for (i, columns) in columns.iter().enumerate() {
                    let mut t = [[0; LANES]; 4];
                    if linear {
                        for &(row, w) in &shares[..count] {
                            weigh(level, &mut t, &rows.rows[row].1[i], w);
                        }
                    } else {
                        t = rows.rows[shares[0].0].1[i];
                    }
                    if from != to {
                        converted(&mut t, from, to);
                    }
                    // SAFETY: so many texels of the row, of this format.
                    unsafe {
                        scatter(d.format, at, &side, columns.mask(), &t);
                        at = at.add(columns.count as usize * texel as usize);
                    }
                }
            }
        }
    }
}

fn converted(t: &mut Channels, from: ChannelClass, to: ChannelClass) {
    let [r, g, b, a] = t;
    for (((r, g), b), a) in r.iter_mut().zip(g).zip(b).zip(a) {
        [*r, *g, *b, *a] = codec::convert_class([*r, *g, *b, *a], from, to);
    }
}

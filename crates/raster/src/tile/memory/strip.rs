//! How a tile's pixels, 4 × 4 blocks of quads, become rows of memory: four rows at a time with vectors, and single pixels where an edge cuts a
//! block. Each kind of plane has a type.

use simd::Simd;
use simd::ops;
use std::marker::PhantomData;
use texel::vector;

/// A kind of plane: what a step of some blocks, side by side, is in memory.
pub trait Strip {
    /// Bytes of a pixel in the tile and in memory.
    const TILE_BYTES: usize;
    const MEMORY_BYTES: usize;
    /// Blocks of a step, and the vectors that it is in memory.
    const BLOCKS: usize;
    const VECTORS: usize = 1;
    /// A step as in memory: the four words from `4 · q` on of vector `v` belong at [`place`].
    ///
    /// # Safety
    /// `tile` has a step's pixels (here and below).
    unsafe fn from_tile<S: Simd>(s: S, tile: *const u8, out: &mut [S::I; 4]);
    unsafe fn to_tile<S: Simd>(s: S, tile: *mut u8, v: &[S::I; 4]);
    /// Writes a pixel to memory; whether it differed.
    ///
    /// # Safety
    /// Pointers to a pixel in the tile and in memory (here and below).
    unsafe fn store(tile: *const u8, memory: *mut u8) -> bool;
    unsafe fn load(tile: *mut u8, memory: *const u8);
}

/// Row of the block, and bytes from the step's first, of quarter `q` of vector `v` of so many.
#[inline(always)]
pub const fn place(vectors: usize, v: usize, q: usize) -> (usize, usize) {
    match vectors {
        1 => (q, 0),
        2 => (2 * v + (q & 1), (q >> 1) * 16),
        _ => ((v >> 1) * 2 + (q >> 1), ((v & 1) * 2 + (q & 1)) * 16),
    }
}

/// Words for [`Simd::ishuffle`].
#[repr(C, align(64))]
struct Order([u32; 16]);

impl Order {
    #[inline(always)]
    fn of<S: Simd>(&self, s: S, v: S::I) -> S::I {
        s.ishuffle(v, vector::load(s, &self.0))
    }
}

/// A block's pixels by rows, and back: the order is its own inverse.
static ROWS: Order = Order([0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]);
/// Pairs of pixels of two blocks by rows, and back.
static PAIRS: Order = Order([0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15]);
static PAIRS_BACK: Order = Order([0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15]);
/// Words of four blocks' rows by rows: its own inverse.
static ACROSS: Order = Order([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
/// Each word's neighbour.
static NEXT: Order = Order([1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]);
/// Even words of each quarter, twice; and the words whose halves an even and an odd word are.
static EVEN: Order = Order([0, 2, 0, 2, 4, 6, 4, 6, 8, 10, 8, 10, 12, 14, 12, 14]);
static HALVES: [Order; 2] = [
    Order([0, 0, 1, 1, 4, 4, 5, 5, 8, 8, 9, 9, 12, 12, 13, 13]),
    Order([2, 2, 3, 3, 6, 6, 7, 7, 10, 10, 11, 11, 14, 14, 15, 15]),
];
const ODD: u16 = 0xAAAA;
/// The upper two words of each quarter.
const UPPER: u16 = 0xCCCC;

/// Four vectors of four quarters each, turned over: vector `n` is made of the others' quarters `n`.
#[inline(always)]
pub fn across<S: Simd>(s: S, v: &[S::I; 4]) -> [S::I; 4] {
    let mut all = [Order([0; 16]), Order([0; 16]), Order([0; 16]), Order([0; 16])];
    for k in 0..4 {
        vector::store(s, &mut all[k].0, v[k]);
    }
    let first = all.as_mut_ptr().cast::<u8>();
    let mut out = *v;
    for (n, out) in out.iter_mut().enumerate() {
        let at = first.wrapping_add(16 * n);
        // SAFETY: a quarter of each.
        *out = unsafe { s.iload4([at, at.wrapping_add(64), at.wrapping_add(128), at.wrapping_add(192)]) };
    }
    out
}

/// # Safety
/// `tile` has so many vectors.
#[inline(always)]
unsafe fn part<S: Simd>(s: S, tile: *const u8, n: usize) -> S::I {
    // SAFETY: the caller has the vector.
    unsafe { s.iloadu(tile.add(64 * n)) }
}

/// Bytes as in memory: `B` of 1, 2, 4, 8, 16.
pub struct Bytes<const B: usize>;

/// The two rows of quads in words, two pixels of a byte each row: upper rows in even words, lower ones in odd words of a
/// pair of quads; and back.
#[inline(always)]
fn bytes_by_rows<S: Simd>(s: S, v: S::I) -> S::I {
    let next = NEXT.of(s, v);
    let low = s.isplat(0xFFFF);
    let upper = s.ior(s.iand(v, low), ops::shl(s, next, 16));
    let lower = s.ior(ops::shr(s, next, 16), s.iandn(low, v));
    s.isel(s.mask(ODD), lower, upper)
}

impl<const B: usize> Strip for Bytes<B> {
    const TILE_BYTES: usize = B;
    const MEMORY_BYTES: usize = B;
    const BLOCKS: usize = if B < 4 { 4 / B } else { 1 };
    const VECTORS: usize = if B > 4 { B / 4 } else { 1 };
    #[inline(always)]
    unsafe fn from_tile<S: Simd>(s: S, tile: *const u8, out: &mut [S::I; 4]) {
        // SAFETY: a step's pixels (here and below).
        let v = unsafe { part(s, tile, 0) };
        match B {
            1 => out[0] = ACROSS.of(s, bytes_by_rows(s, v)),
            2 => out[0] = PAIRS.of(s, v),
            4 => out[0] = ROWS.of(s, v),
            _ => {
                for (n, out) in out.iter_mut().enumerate().take(Self::VECTORS) {
                    // SAFETY: as above.
                    *out = unsafe { part(s, tile, n) };
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn to_tile<S: Simd>(s: S, tile: *mut u8, v: &[S::I; 4]) {
        match B {
            // SAFETY: a step's pixels (here and below).
            1 => unsafe { s.istoreu(tile, bytes_by_rows(s, ACROSS.of(s, v[0]))) },
            2 => unsafe { s.istoreu(tile, PAIRS_BACK.of(s, v[0])) },
            4 => unsafe { s.istoreu(tile, ROWS.of(s, v[0])) },
            _ => {
                for (n, v) in v.iter().enumerate().take(Self::VECTORS) {
                    unsafe { s.istoreu(tile.add(64 * n), *v) };
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn store(tile: *const u8, memory: *mut u8) -> bool {
        // SAFETY: the caller's pixels, of so many bytes.
        unsafe {
            let new = tile.cast::<[u8; B]>().read_unaligned();
            let differs = new != memory.cast::<[u8; B]>().read_unaligned();
            memory.cast::<[u8; B]>().write_unaligned(new);
            differs
        }
    }
    #[inline(always)]
    unsafe fn load(tile: *mut u8, memory: *const u8) {
        // SAFETY: the caller's pixels, of so many bytes.
        unsafe { tile.copy_from_nonoverlapping(memory, B) };
    }
}

/// Fixed-point depth of a memory type: floats of the same value in the tile.
pub struct Depth<T>(PhantomData<T>);

const DEPTH24: u32 = 0xFF_FFFF;

/// The low 24 bits of a word.
impl Strip for Depth<u32> {
    const TILE_BYTES: usize = 4;
    const MEMORY_BYTES: usize = 4;
    const BLOCKS: usize = 1;
    #[inline(always)]
    unsafe fn from_tile<S: Simd>(s: S, tile: *const u8, out: &mut [S::I; 4]) {
        // SAFETY: a step's pixels, says the caller.
        let z = s.f_to_s_raw(s.from_bits(unsafe { part(s, tile, 0) }));
        out[0] = ROWS.of(s, s.iand(z, s.isplat(DEPTH24)));
    }
    #[inline(always)]
    unsafe fn to_tile<S: Simd>(s: S, tile: *mut u8, v: &[S::I; 4]) {
        let z = s.s_to_f(s.iand(v[0], s.isplat(DEPTH24)));
        // SAFETY: a step's pixels, says the caller.
        unsafe { s.istoreu(tile, ROWS.of(s, s.bits(z))) };
    }
    #[inline(always)]
    unsafe fn store(tile: *const u8, memory: *mut u8) -> bool {
        // SAFETY: the caller's pixels: a float in the tile, which begins with a cache line.
        unsafe { memory.cast::<u32>().write_unaligned(*tile.cast::<f32>() as u32 & DEPTH24) };
        true
    }
    #[inline(always)]
    unsafe fn load(tile: *mut u8, memory: *const u8) {
        // SAFETY: the caller's pixels: a float in the tile, which begins with a cache line.
        unsafe { *tile.cast::<f32>() = (memory.cast::<u32>().read_unaligned() & DEPTH24) as f32 };
    }
}

impl Strip for Depth<u16> {
    const TILE_BYTES: usize = 4;
    const MEMORY_BYTES: usize = 2;
    const BLOCKS: usize = 2;
    #[inline(always)]
    unsafe fn from_tile<S: Simd>(s: S, tile: *const u8, out: &mut [S::I; 4]) {
        let mut w = [s.isplat(0); 2];
        for (n, w) in w.iter_mut().enumerate() {
            // SAFETY: a step's pixels, says the caller.
            let z = s.from_bits(unsafe { part(s, tile, n) });
            let z = s.iand(s.f_to_s_raw(z), s.isplat(0xFFFF));
            let z = ROWS.of(s, z);
            *w = EVEN.of(s, s.ior(z, ops::shl(s, NEXT.of(s, z), 16)));
        }
        out[0] = s.isel(s.mask(UPPER), w[1], w[0]);
    }
    #[inline(always)]
    unsafe fn to_tile<S: Simd>(s: S, tile: *mut u8, v: &[S::I; 4]) {
        for (n, order) in HALVES.iter().enumerate() {
            let w = order.of(s, v[0]);
            let z = s.isel(s.mask(ODD), ops::shr(s, w, 16), s.iand(w, s.isplat(0xFFFF)));
            // SAFETY: a step's pixels, says the caller.
            unsafe { s.istoreu(tile.add(64 * n), ROWS.of(s, s.bits(s.s_to_f(z)))) };
        }
    }
    #[inline(always)]
    unsafe fn store(tile: *const u8, memory: *mut u8) -> bool {
        // SAFETY: the caller's pixels: a float in the tile, which begins with a cache line.
        unsafe { memory.cast::<u16>().write_unaligned(*tile.cast::<f32>() as u16) };
        true
    }
    #[inline(always)]
    unsafe fn load(tile: *mut u8, memory: *const u8) {
        // SAFETY: the caller's pixels: a float in the tile, which begins with a cache line.
        unsafe { *tile.cast::<f32>() = memory.cast::<u16>().read_unaligned() as f32 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::pixel;
    use simd::Portable as P;

    /// A step of four rows, where each number of the tile is to be; and back again.
    fn step<T: Strip>(tile_word: impl Fn(u32) -> u32) {
        let (n, width) = (T::BLOCKS * 16, T::BLOCKS * 4);
        // Pixel x, y holds 17 · y + x + 1.
        let mut tile = vec![0u8; n * T::TILE_BYTES];
        for y in 0..4 {
            for x in 0..width {
                let v = tile_word((17 * y + x + 1) as u32).to_le_bytes();
                let at = pixel(x, y) * T::TILE_BYTES;
                let bytes = T::TILE_BYTES.min(4);
                tile[at..at + bytes].copy_from_slice(&v[..bytes]);
            }
        }
        let mut rows = [[0u8; 64]; 4];
        // SAFETY: room for a step.
        unsafe {
            let mut v = [P.isplat(0); 4];
            T::from_tile(P, tile.as_ptr(), &mut v);
            for (k, v) in v.iter().enumerate().take(T::VECTORS) {
                for q in 0..4 {
                    let (row, at) = place(T::VECTORS, k, q);
                    let words = ops::i_lanes(P, *v);
                    for i in 0..4 {
                        rows[row][at + 4 * i..at + 4 * i + 4]
                            .copy_from_slice(&words[4 * q + i].to_le_bytes());
                    }
                }
            }
            for (y, row) in rows.iter().enumerate() {
                for x in 0..width {
                    let mut want = [0u8; 16];
                    T::store(tile.as_ptr().add(pixel(x, y) * T::TILE_BYTES), want.as_mut_ptr());
                    assert_eq!(want[0] as usize, 17 * y + x + 1);
                    assert_eq!(
                        row[x * T::MEMORY_BYTES..(x + 1) * T::MEMORY_BYTES],
                        want[..T::MEMORY_BYTES],
                        "{x} {y}"
                    );
                }
            }
            let mut back = vec![0u8; n * T::TILE_BYTES];
            T::to_tile(P, back.as_mut_ptr(), &v);
            assert_eq!(back, tile);
        }
    }

    #[test]
    fn steps_are_rows() {
        step::<Bytes<1>>(|v| v);
        step::<Bytes<2>>(|v| v | 0x700);
        step::<Bytes<4>>(|v| v | 0x5060_0700);
        step::<Bytes<8>>(|v| v);
        step::<Bytes<16>>(|v| v);
        step::<Depth<u16>>(|v| (v as f32).to_bits());
        step::<Depth<u32>>(|v| (v as f32).to_bits());
    }
}

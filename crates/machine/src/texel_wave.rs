//! Reads, writes and atomics by integer coordinates of storage images and texel buffers, all warps of a wave at once. The
//! bits are those of the operations of one warp (`texel/sample/texel.rs`), which the tests compare.
//!
//! Everything here is `inline(always)` and plain loops: closures that are not inlined would be compiled without the
//! features of the function around them.

use shader::ir::{AtomicOp, ImageOp, Mem};
use simd::Level;
use simd::rows::ImageRows;
use std::sync::atomic::{Ordering, fence};
use texel::format::FormatInfo;
use texel::format::kernels::{GatherFn, ScatterFn};
use texel::memory::sparse::{may_have_holes, resident_lanes};
use texel::sample::{BufferView, Grid, ImageView, Warp4, has_atomics, lanes, outside, store_wave};
use wave::kernels::atomic::{Device, each};

/// The texels that an operation is on.
pub struct Texels {
    grid: Grid,
    base: *mut u8,
    format: &'static FormatInfo,
    gather: GatherFn,
    scatter: ScatterFn,
    /// What a texel gives that does not exist; the channels that the format lacks are as this of every texel.
    none: [u32; 4],
    /// A texel is one 32-bit word, which lies at a multiple of four bytes.
    word: bool,
    /// Some of them may have no memory.
    holes: bool,
}

impl Texels {
    /// The first level of a view of one sample; `None` where it has no warp kernels.
    pub fn of_image(view: &ImageView) -> Option<Texels> {
        let l = view.levels.first().filter(|_| view.samples == 1)?;
        Self::new(Grid::new(view, l, false), l.base, view.format, view.gather, view.scatter)
    }

    pub fn of_buffer(view: &BufferView) -> Option<Texels> {
        let grid = Grid::buffer(view);
        Self::new(grid, view.base, view.format, view.gather, view.scatter).filter(|_| view.len > 0)
    }

    fn new(
        grid: Grid,
        base: *mut u8,
        format: &'static FormatInfo,
        gather: GatherFn,
        scatter: ScatterFn,
    ) -> Option<Texels> {
        let word = has_atomics(format) && format.block_bytes == 4 && grid.aligned(base, 4);
        let warps = !format.compressed() && !format.is_64bit();
        let holes = may_have_holes(base);
        warps.then(|| Texels { grid, base, format, gather, scatter, none: outside(format), word, holes })
    }

    /// Runs a read, a write or an atomic; false for what has no kernel.
    ///
    /// # Safety
    /// The texels are live memory; rows and results are those of a wave.
    pub unsafe fn run(&self, op: ImageOp, wave: &ImageRows) -> bool {
        // SAFETY: as the caller says.
        unsafe { self.run_on(settings::level(), op, wave) }
    }

    /// # Safety
    /// As [`Self::run`].
    unsafe fn run_on(&self, level: Level, op: ImageOp, wave: &ImageRows) -> bool {
        match op {
            ImageOp::Write if !self.holes => {
                // SAFETY: as the caller says; all texels have memory.
                if unsafe { store_wave(level, &self.grid, self.base, self.format, wave) } {
                    return true;
                }
            }
            ImageOp::Read | ImageOp::Write => {}
            ImageOp::Atomic(_) if self.word => {}
            _ => return false,
        }
        // SAFETY: as the caller says.
        unsafe { run_at(level, self, op, wave) };
        true
    }
}

simd::by_level!(unsafe fn run_at = plain run, (texels: &Texels, op: ImageOp, wave: &ImageRows));

/// # Safety
/// As [`Texels::run`].
#[inline(always)]
unsafe fn run(texels: &Texels, op: ImageOp, wave: &ImageRows) {
    let mut live = wave.live;
    while live != 0 {
        let w = live.trailing_zeros() as usize & 31;
        live &= live - 1;
        let exec = wave.exec[w];
        // SAFETY: the wave has rows of sixteen lanes for each warp, or null.
        let c = wave.coords.map(|c| unsafe { row(c.warp(w)) });
        let (at, inside) = texels.grid.offsets([c[0], c[1], c[2], c[3], None]);
        // Reads find zeros where there is no memory.
        let stored = if texels.holes && op != ImageOp::Read && op != ImageOp::Atomic(AtomicOp::Load) {
            resident_lanes(texels.base, &at, inside)
        } else {
            inside
        };
        // SAFETY: `at` are texels; the wave has warp `w`.
        unsafe {
            match op {
                ImageOp::Read => texels.read(wave, w, &at, exec, inside),
                // On hosts that may reorder stores: what came before is seen before an atomic one.
                ImageOp::Atomic(AtomicOp::Store) => {
                    fence(Ordering::Release);
                    texels.write(wave, w, &at, exec & stored);
                }
                ImageOp::Atomic(op) => texels.atomic(op, wave, w, &at, exec, stored),
                _ => texels.write(wave, w, &at, exec & stored),
            }
        }
    }
}

/// Sixteen lanes of an operand; `None` where there is none.
///
/// # Safety
/// `at` is null or sixteen lanes, which nobody writes meanwhile.
#[inline(always)]
unsafe fn row<'a>(at: *const u8) -> Option<&'a [u32; 16]> {
    // SAFETY: the caller's lanes, or null.
    unsafe { at.cast::<[u32; 16]>().as_ref() }
}

/// Whether sixteen words lie side by side.
#[inline(always)]
fn beside(at: &[u64; 16]) -> bool {
    let mut other = 0;
    for lane in 0..16 {
        other |= at[lane] ^ at[0].wrapping_add(4 * lane as u64);
    }
    other == 0
}

impl Texels {
    /// The texels at `at` where those are words. An aligned word is read as a whole, as an atomic load must.
    ///
    /// # Safety
    /// There is a word at each offset; [`Self::word`].
    #[inline(always)]
    unsafe fn words(&self, at: &[u64; 16]) -> [u32; 16] {
        if beside(at) {
            // SAFETY: sixteen words side by side, each at a multiple of its size.
            return unsafe { self.base.add(at[0] as usize).cast::<[u32; 16]>().read() };
        }
        let mut v = [0; 16];
        for lane in 0..16 {
            // SAFETY: a word, at a multiple of its size.
            v[lane] = unsafe { self.base.add(at[lane] as usize).cast::<u32>().read() };
        }
        v
    }

    /// # Safety
    /// `at` are offsets of texels, the first one where there is none; the wave has warp `w`.
    #[inline(always)]
    unsafe fn read(&self, wave: &ImageRows, w: usize, at: &[u64; 16], exec: u16, inside: u16) {
        let mut t = self.none.map(|n| [n; 16]);
        if self.word {
            // SAFETY: texels, and words.
            t[0] = unsafe { self.words(at) };
        } else {
            // SAFETY: texels of the format that this is of.
            unsafe { (self.gather)(self.format, self.base, at, &mut t) };
        }
        for (t, none) in t.iter_mut().zip(self.none) {
            keep(t, inside, [none; 16]);
        }
        // SAFETY: the caller's wave.
        unsafe { give(wave, w, &t, exec) };
    }

    /// # Safety
    /// As [`Self::read`], for lanes of the mask.
    #[inline(always)]
    unsafe fn write(&self, wave: &ImageRows, w: usize, at: &[u64; 16], mask: u16) {
        let zeros = [0; 16];
        if !self.word {
            // SAFETY: the wave has rows of sixteen lanes for each warp, or null.
            let t: Warp4 = wave.data.map(|d| *unsafe { row(d.warp(w)) }.unwrap_or(&zeros));
            // SAFETY: texels of the format that this is of.
            return unsafe { (self.scatter)(self.format, self.base, at, mask, &t) };
        }
        // SAFETY: as above.
        let v = unsafe { row(wave.data[0].warp(w)) }.unwrap_or(&zeros);
        if mask == 0xFFFF && beside(at) {
            // SAFETY: sixteen words side by side, each at a multiple of its size.
            return unsafe { self.base.add(at[0] as usize).cast::<[u32; 16]>().write(*v) };
        }
        for lane in lanes(mask) {
            // SAFETY: a word, at a multiple of its size.
            unsafe { self.base.add(at[lane] as usize).cast::<u32>().write(v[lane]) };
        }
    }

    /// # Safety
    /// As [`Self::read`], of texels that are words.
    #[inline(always)]
    unsafe fn atomic(
        &self,
        op: AtomicOp,
        wave: &ImageRows,
        w: usize,
        at: &[u64; 16],
        exec: u16,
        inside: u16,
    ) {
        let mut t = [[0; 16]; 4];
        if op == AtomicOp::Load {
            // SAFETY: texels, and words.
            t[0] = unsafe { self.words(at) };
            fence(Ordering::Acquire);
            keep(&mut t[0], inside, [0; 16]);
        } else {
            let (mut places, mut operands) = ([0; 16], [[0; 16]; 2]);
            for lane in 0..16 {
                places[lane] = (self.base as u64).wrapping_add(at[lane]);
            }
            for (to, d) in operands.iter_mut().zip(wave.data) {
                // SAFETY: the wave has rows of sixteen lanes for each warp, or null.
                if let Some(d) = unsafe { row(d.warp(w)) } {
                    for lane in 0..16 {
                        to[lane] = d[lane] as u64;
                    }
                }
            }
            // SAFETY: the lanes inside have words of the view's.
            let old =
                unsafe { each::<Device>(&places, op, Mem::B32, &operands[0], &operands[1], exec & inside) };
            for lane in 0..16 {
                t[0][lane] = old[lane] as u32;
            }
        }
        // SAFETY: the caller's wave.
        unsafe { give(wave, w, &t, exec) };
    }
}

/// Leaves the lanes of the mask as they are.
#[inline(always)]
fn keep(v: &mut [u32; 16], mask: u16, other: [u32; 16]) {
    if mask == 0xFFFF {
        return;
    }
    for lane in 0..16 {
        v[lane] = if mask >> lane & 1 == 1 { v[lane] } else { other[lane] };
    }
}

/// Results of the lanes of `exec`. The other lanes' stay.
///
/// # Safety
/// The wave has warp `w`.
#[inline(always)]
unsafe fn give(wave: &ImageRows, w: usize, t: &Warp4, exec: u16) {
    for (out, t) in wave.out.iter().zip(t) {
        if out.is_null() {
            continue;
        }
        // SAFETY: the warp's sixteen lanes; what may lie there too, operands, has been read.
        let out = unsafe { &mut *out.add(64 * w).cast::<[u32; 16]>() };
        let mut v = *t;
        keep(&mut v, exec, *out);
        *out = v;
    }
}

#[cfg(test)]
#[path = "texel_wave_tests.rs"]
mod tests;

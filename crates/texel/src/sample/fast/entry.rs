//! Samples, gathers and fetches as callers ask for them: of a warp or a wave, where view, sampler and operands are of a class that has a
//! kernel.

use super::Fast;
use crate::sample::args::{SampleArgs, Warp4, lanes};
use crate::sample::sampler::{Reduction, Sampler};
use crate::sample::view::ImageView;
use simd::rows::{ImageRows, LevelRows, Rows};

/// Kernels, where a test has not turned them off.
#[inline]
fn on(f: &Option<Box<Fast>>) -> Option<&Fast> {
    let f = f.as_deref();
    #[cfg(test)]
    let f = f.filter(|f| !f.off);
    f
}

/// Those of a view that is no 3D one.
#[inline]
pub fn flat_kernels(view: &ImageView) -> Option<&Fast> {
    on(&view.fast)
}

/// Samples if view, sampler and operands are of a class that has a kernel; false if not.
#[inline]
pub(in crate::sample) fn sample(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let Some(f) = flat_kernels(view) else { return false };
    let mut nearest = None;
    let sampler = f.sampler(sampler, &mut nearest);
    let mut row = Row::default();
    let Some(args) = flat(f, args, &mut row) else { return false };
    // Offsets have 32 bits.
    let reaches = args.shift.is_none_or(|shift| {
        let (up, block) = f.blocks.as_ref().map_or((0, 1), |b| (b.up(), f.bytes));
        let fits = |bytes: u32| bytes.checked_add(f.bytes_in_all).is_some_and(|n| n <= u32::MAX >> up);
        shift.0.iter().all(|bytes| fits(*bytes) && bytes.is_multiple_of(block))
    });
    let eligible = (args.dref.is_none() || f.compares) && sampler.reduction == Reduction::Average && reaches;
    if eligible {
        // SAFETY: the kernel was picked for this machine and format, and the operands are those of a 2D view; shifts were made
        // by `Alike` and have 32 bits.
        unsafe { (f.runs.warp)(f, view, sampler, &args, mask, out) };
    }
    eligible
}

/// Operands of a 1D image's sample as those of the only row of a 2D one.
#[derive(Default)]
pub struct Row {
    coords: Option<[[u32; 16]; 3]>,
    offsets: Option<[[u32; 16]; 2]>,
    grad: Option<[[u32; 16]; 6]>,
}

/// The middle of the only row: a filter gives no other one weight.
static MIDDLE: [u32; 16] = [0.5f32.to_bits(); 16];

/// Operands as of a sample of a 2D image (of a cube as they are), if they are of a sample of such a view.
#[inline]
pub fn flat<'a>(f: &Fast, args: &SampleArgs<'a>, row: &'a mut Row) -> Option<SampleArgs<'a>> {
    let dims = f.dims();
    let fits = args.dims == dims
        && args.coords.len() >= dims + args.arrayed as usize
        && args.offsets.is_none_or(|o| o.len() == dims && !f.cube);
    if !fits {
        return None;
    }
    if !f.line {
        return Some(*args);
    }
    let layer = if args.arrayed { args.coords[1] } else { [0; 16] };
    let coords = row.coords.insert([args.coords[0], MIDDLE, layer]);
    row.offsets = args.offsets.map(|o| [o[0], [0; 16]]);
    row.grad = args.grad.map(|g| [g[0], [0; 16], [0; 16], g[3], [0; 16], [0; 16]]);
    Some(SampleArgs {
        dims: 2,
        coords: &coords[..2 + args.arrayed as usize],
        offsets: row.offsets.as_ref().map(|o| &o[..]),
        grad: row.grad.as_ref(),
        ..*args
    })
}

/// How many cache lines a warp's sample touches, if that is of a class that has a kernel.
pub fn sample_lines(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> Option<u32> {
    let f = flat_kernels(view).filter(|f| f.aligned && !view.levels.is_empty())?;
    let mut nearest = None;
    let sampler = f.sampler(sampler, &mut nearest);
    let mut row = Row::default();
    let args = &flat(f, args, &mut row)?;
    // SAFETY: the kernel was picked for this machine.
    Some(unsafe { (f.runs.lines)(f, view, sampler, args, mask) })
}

/// Lanes of the mask that read texels without memory, of a sample that is of a class that has a kernel.
pub fn missing_samples(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> Option<u16> {
    let f = flat_kernels(view).filter(|f| f.knows_holes() && !view.levels.is_empty())?;
    let mut nearest = None;
    let sampler = f.sampler(sampler, &mut nearest);
    let mut row = Row::default();
    let args = &flat(f, args, &mut row).filter(|a| a.shift.is_none())?;
    // SAFETY: the operands are those of such a view.
    Some(unsafe { f.missing(view, sampler, args, mask) })
}

/// Fetches for all warps of a wave, if the view is of a class that has a kernel and all lanes read one level; false if not.
///
/// # Safety
/// Rows and results are those of a wave.
pub unsafe fn fetch_wave(view: &ImageView, dims: usize, arrayed: bool, wave: &ImageRows) -> bool {
    let fast = flat_kernels(view).filter(|f| f.planned && !f.cube && f.dims() == dims);
    let Some(f) = fast.filter(|_| arrayed == view.arrayed && wave.lines.is_none()) else { return false };
    let mut level = 0;
    if let Some(lod) = wave.lod {
        // Most often all warps have the same row, of one number.
        // SAFETY: the wave has rows of sixteen lanes for each warp.
        let row = unsafe { lod.at.cast::<[u32; 16]>().read_unaligned() };
        let same = lod.step == 0 && row == [row[0]; 16];
        let mut first = same.then_some(row[0]);
        for w in (0..32).filter(|w| !same && wave.live >> w & 1 != 0) {
            for lane in lanes(wave.exec[w]) {
                // SAFETY: the wave has rows of sixteen lanes for each warp.
                let own = unsafe { lod.warp(w).cast::<u32>().add(lane).read() };
                if *first.get_or_insert(own) != own {
                    return false;
                }
            }
        }
        level = first.unwrap_or(0);
    }
    if level as usize >= f.count || level as f32 + 1.0 <= view.min_lod {
        return false;
    }
    // SAFETY: the kernel was picked for this machine; the rows are the caller's.
    unsafe { (f.any.fetch)(f, view, level as usize, arrayed, wave) };
    true
}

/// Gathers if view and operands are of a class that has a kernel; false if not.
pub(in crate::sample) fn gather(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let Some(f) = flat_kernels(view).filter(|f| f.planned && (args.dref.is_none() || f.compares)) else {
        return false;
    };
    let dims = f.dims();
    let offsets = args.offsets.is_none_or(|o| matches!(o.len(), 2 | 8..) && !f.cube);
    let fits = !f.line && args.dims == dims && args.coords.len() >= dims + args.arrayed as usize && offsets;
    // SAFETY: the kernel was picked for this machine, and the operands are those of such a view.
    fits && unsafe { (f.any.gather)(f, view, sampler, args, mask, out) }
}

/// Samples of a 3D view, if view, sampler and operands are of a class that has a kernel; false if not.
pub(in crate::sample) fn sample_solid(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let Some(f) = on(&view.solid) else { return false };
    let fits = f.count == 1
        && args.dims == 3
        && args.coords.len() >= 3
        && args.offsets.is_none_or(|o| o.len() == 3)
        && args.dref.is_none()
        && sampler.mag_linear == sampler.min_linear
        && sampler.reduction == Reduction::Average
        && (sampler.anisotropy <= 1.0 || args.lod.is_some() || f.integers);
    if fits {
        // SAFETY: the kernel was picked for this machine, and the operands are those of such a view.
        unsafe { (f.any.solid)(f, view, sampler, args, mask, out) };
    }
    fits
}

/// The taps of a warp's lanes beyond one a lane, if the sample is of a class that has a kernel.
pub(in crate::sample) fn extra_taps(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
) -> Option<u32> {
    let f = view.fast.as_ref().filter(|f| !f.integers)?;
    let mut row = Row::default();
    let args = &flat(f, args, &mut row)?;
    // SAFETY: the kernel was picked for this machine.
    Some(unsafe { (f.any.taps)(f, view, sampler, args, mask) })
}

/// [`extra_taps`] of each warp of a wave, of samples by coordinates alone; false if the view is of no class that has a kernel.
///
/// # Safety
/// Rows are those of a wave.
pub unsafe fn extra_taps_wave(
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
    taps: &mut [u32; 32],
) -> bool {
    let Some(f) = view.fast.as_ref().filter(|f| !f.integers && !f.line && !f.cube) else { return false };
    // SAFETY: the kernel was picked for this machine; the rows are the caller's.
    unsafe { (f.any.all_taps)(f, view, sampler, wave, taps) };
    true
}

/// Samples for all warps of a wave, if view and sampler are of a class that has a kernel; false if not.
///
/// # Safety
/// Rows and results are those of a wave.
pub unsafe fn sample_wave(
    view: &ImageView,
    sampler: &Sampler,
    dims: usize,
    arrayed: bool,
    wave: &ImageRows,
) -> bool {
    // A descriptor may name a view of another kind than the shader says.
    let Some(f) = flat_kernels(view).filter(|f| f.dims() == dims) else { return false };
    if view.levels.is_empty() || sampler.reduction != Reduction::Average {
        return false;
    }
    if wave.lines.is_some() && !f.aligned || wave.dref.is_some() && !f.compares {
        return false;
    }
    if wave.holes.is_some() && !(f.split.is_some() && f.knows_holes()) {
        return false;
    }
    let mut nearest = None;
    let sampler = f.sampler(sampler, &mut nearest);
    if f.line {
        let middle = Rows { at: MIDDLE.as_ptr().cast(), step: 0 };
        let coords = [wave.coords[0], middle, wave.coords[1], wave.coords[2]];
        let none = Rows::zero();
        let grad = wave.levels.grad.map(|g| [g[0], none, none, g[3], none, none]);
        let levels = LevelRows { grad, ..wave.levels };
        // SAFETY: the kernel was picked for this machine and format; the rows are the caller's, and one for all warps.
        unsafe { (f.runs.wave)(f, view, sampler, arrayed, &ImageRows { coords, levels, ..*wave }) };
    } else {
        // SAFETY: the kernel was picked for this machine and format; the rows are the caller's.
        unsafe { (f.runs.wave)(f, view, sampler, arrayed, wave) };
    }
    true
}

/// The warps of a wave that kernels have left (a bit each), one by one; `dims`: coordinates but for the layer.
///
/// # Safety
/// Rows and results are those of a wave.
unsafe fn rest(
    wave: &ImageRows,
    left: u32,
    dims: usize,
    component: u32,
    each: impl Fn(&SampleArgs, u16, &mut Warp4),
) {
    for w in (0..32).filter(|w| left >> w & 1 != 0 && wave.exec[*w] != 0) {
        // SAFETY: the wave has rows of sixteen lanes for each warp.
        let row = |r: &Rows| unsafe { r.warp(w).cast::<[u32; 16]>().read_unaligned() };
        let mut coords = [[0; 16]; 3];
        for (to, r) in coords.iter_mut().zip(&wave.coords).take(dims) {
            *to = row(r);
        }
        let (lod, dref) = (wave.lod.as_ref().map(row), wave.dref.as_ref().map(row));
        let (lod, dref) = (lod.as_ref(), dref.as_ref());
        let args =
            SampleArgs { dims, coords: &coords[..dims], lod, dref, component, ..SampleArgs::default() };
        let (mask, mut out) = (wave.exec[w], [[0; 16]; 4]);
        each(&args, mask, &mut out);
        for (to, out) in wave.out.iter().zip(&out).filter(|(to, _)| !to.is_null()) {
            for lane in lanes(mask) {
                // SAFETY: as above.
                unsafe { to.add(64 * w).cast::<u32>().add(lane).write_unaligned(out[lane]) };
            }
        }
    }
}

/// Gathers for all warps of a wave, if view and sampler are of a class that has a kernel; false if not.
///
/// # Safety
/// Rows and results are those of a wave.
pub unsafe fn gather_wave(view: &ImageView, sampler: &Sampler, component: u32, wave: &ImageRows) -> bool {
    let Some(f) = flat_kernels(view).filter(|f| f.planned && !f.line && !f.cube) else { return false };
    if view.levels.is_empty() || view.min_lod >= 1.0 || sampler.unnormalized {
        return false;
    }
    if wave.lines.is_some() || wave.dref.is_some() && !f.compares {
        return false;
    }
    // SAFETY: the kernel was picked for this machine; the rows are the caller's.
    unsafe {
        let left = (f.any.gathers)(f, view, sampler, component, wave);
        rest(wave, left, 2, component, |a, mask, out| {
            crate::sample::gather_warp(view, sampler, a, mask, out)
        });
    }
    true
}

/// Samples of a 3D view for all warps of a wave, if view and sampler are of a class that has a kernel; false if not.
///
/// # Safety
/// Rows and results are those of a wave.
pub unsafe fn sample_solid_wave(view: &ImageView, sampler: &Sampler, wave: &ImageRows) -> bool {
    let Some(f) = on(&view.solid).filter(|f| f.count == 1) else { return false };
    let fits = !view.levels.is_empty()
        && !sampler.unnormalized
        && sampler.reduction == Reduction::Average
        && (sampler.mag_linear == sampler.min_linear || f.integers)
        && (sampler.anisotropy <= 1.0 || wave.lod.is_some() || f.integers)
        && wave.lines.is_none()
        && wave.dref.is_none();
    if !fits {
        return false;
    }
    // SAFETY: the kernel was picked for this machine; the rows are the caller's.
    unsafe {
        let left = (f.any.solids)(f, view, sampler, wave);
        rest(wave, left, 3, 0, |a, mask, out| crate::sample::sample_warp(view, sampler, a, mask, out));
    }
    true
}

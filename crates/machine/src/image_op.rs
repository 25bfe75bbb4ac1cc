//! Image operations of a shader, one warp at a time: from the wave engine's registers to [`texel::sample`].

use crate::texel_wave::Texels;
use crate::texture;
use shader::bytecode::ImageCode;
use shader::ir::{AtomicOp, Checked, Dim, ImageOp, Mem, TexelType};
use simd::rows::{Holes, ImageRows, Rows};
use std::cell::RefCell;
use texel::format::FormatInfo;
use texel::memory::sparse::{may_have_holes, resident};
use texel::sample::*;
use wave::kernels::atomic::{Device, each};
use wave::kernels::count::distinct;
use wave::{Filter, Filtering, ImageWarp, ImageWave, Own};

/// [`SampleArgs`] of a warp; a macro, for results are written into the same warp.
macro_rules! sample_args {
    ($code:ident, $w:ident) => {{
        let dims = match $code.dim {
            Dim::D1 => 1,
            Dim::D2 | Dim::SubpassData | Dim::Buffer => 2,
            Dim::D3 | Dim::Cube => 3,
        };
        SampleArgs {
            dims,
            arrayed: $code.arrayed,
            coords: &$w.coords[..(dims + $code.arrayed as usize).min(4)],
            dref: (!$code.dref.is_none()).then_some(&$w.dref),
            lod: (!$code.lod.is_none()).then_some(&$w.lod),
            bias: (!$code.bias.is_none()).then_some(&$w.bias),
            grad: (!$code.grad.is_empty()).then_some(&$w.grad),
            offsets: (!$code.offsets.is_empty()).then(|| &$w.offsets[..$code.offsets.len().min(8)]),
            min_lod: (!$code.min_lod.is_none()).then_some(&$w.min_lod),
            shift: None,
            component: $code.component,
        }
    }};
}

/// Runs `code` for the warp's active lanes. Null descriptors read as zero and drop writes (robustness2).
///
/// # Safety
/// `warp.view` and `warp.sampler` are null or addresses that descriptor writes stored: an [`ImageView`] (or
/// [`BufferView`] for [`Dim::Buffer`]) and a [`Sampler`].
pub unsafe fn run(code: &ImageCode, warp: &mut ImageWarp) {
    if !code.residency.is_none() {
        // SAFETY: the caller's.
        unsafe { residency(code, warp) };
    }
    if warp.view == 0 {
        return give(warp, [0; 4]);
    }
    // SAFETY: descriptor writes stored a view of this kind, and a sampler.
    unsafe {
        if code.dim == Dim::Buffer {
            buffer(code, &*(warp.view as *const BufferView), warp)
        } else {
            image(code, &*(warp.view as *const ImageView), warp)
        }
    }
}

/// Runs `code` for lanes with views and samplers of their own; `each`: as [`wave::Host::image_each`]. `accesses` is told of each view.
///
/// # Safety
/// As [`run`], of each active lane's view and sampler.
pub unsafe fn run_each(
    code: &ImageCode,
    warp: &mut ImageWarp,
    own: &Own,
    each: &mut dyn FnMut(Filtering, u16),
    accesses: impl Fn(u64),
) {
    let samples = code.op == ImageOp::Sample && code.dim != Dim::Buffer && code.residency.is_none();
    let mut alike: Option<Alike> = None;
    for group in own.groups(warp.mask) {
        accesses(group.view);
        // SAFETY: the lanes' descriptors are null or what descriptor writes stored.
        let mut filtering = unsafe { texture::filtering(code, group.view, group.sampler) };
        if filtering.filter == Filter::Aniso {
            let all = std::mem::replace(&mut warp.mask, group.mask);
            (warp.view, warp.sampler) = (group.view, group.sampler);
            // SAFETY: as above.
            filtering.taps = unsafe { taps(code, warp) };
            warp.mask = all;
        }
        each(filtering, group.mask);
        if !samples || group.view == 0 || group.sampler == 0 {
            (warp.view, warp.sampler, warp.mask) = (group.view, group.sampler, group.mask);
            // SAFETY: as above.
            unsafe { run(code, warp) };
            continue;
        }
        // SAFETY: as above, and neither is null.
        let (view, sampler) =
            unsafe { (&*(group.view as *const ImageView), &*(group.sampler as *const Sampler)) };
        if !alike.as_mut().is_some_and(|a| a.add(view, sampler, group.mask))
            && let Some(a) = alike.replace(Alike::new(view, sampler, group.mask))
        {
            // SAFETY: as above.
            unsafe { sample_alike(code, warp, own, &a) };
        }
    }
    if let Some(a) = alike {
        // SAFETY: as above.
        unsafe { sample_alike(code, warp, own, &a) };
    }
}

/// Samples at once, or view by view.
///
/// # Safety
/// As [`run`], of each of the lanes' views and samplers.
unsafe fn sample_alike(code: &ImageCode, w: &mut ImageWarp, own: &Own, alike: &Alike) {
    if alike.sample(&sample_args!(code, w), &mut w.out) {
        return;
    }
    for group in own.groups(alike.mask()) {
        (w.view, w.sampler, w.mask) = (group.view, group.sampler, group.mask);
        // SAFETY: the caller's lanes.
        unsafe { run(code, w) };
    }
}

/// The same texel for all active lanes.
fn give(w: &mut ImageWarp, texel: [u32; 4]) {
    for lane in (0..16).filter(|l| w.mask >> l & 1 != 0) {
        for (k, t) in texel.into_iter().enumerate() {
            (w.out[k][lane], w.out_hi[k][lane]) = (t, 0);
        }
    }
}

/// Runs `code` for all warps of a wave at once; false if view and sampler are of no class with a kernel for that.
///
/// # Safety
/// As [`run`]; rows and results are those of a wave.
pub unsafe fn run_wave(code: &ImageCode, wave: &ImageWave) -> bool {
    if wave.residency.is_null() {
        // SAFETY: the caller's (all below).
        return unsafe { results_wave(code, wave) };
    }
    let holes = Holes::default();
    let Some(asks) = (unsafe { holes_wave(code, wave, &holes) }) else { return false };
    let rows = ImageRows { holes: asks.then_some(&holes), ..wave.rows };
    if !unsafe { results_wave(code, &ImageWave { rows, ..*wave }) } {
        return false;
    }
    for w in (0..32).filter(|w| wave.rows.live >> w & 1 != 0) {
        // SAFETY: a result's rows have sixteen lanes for each warp.
        let codes = unsafe { &mut *wave.residency.add(64 * w).cast::<[u32; 16]>() };
        let (exec, missing) = (wave.rows.exec[w], holes.of(w));
        for (lane, code) in codes.iter_mut().enumerate() {
            *code = if exec >> lane & 1 != 0 { (missing >> lane & 1) as u32 } else { *code };
        }
    }
    true
}

/// Coordinates of a flat view or a cube, but for the layer.
fn flat_dims(dim: Dim) -> Option<usize> {
    match dim {
        Dim::D1 => Some(1),
        Dim::D2 => Some(2),
        Dim::Cube => Some(3),
        _ => None,
    }
}

/// Finds which lanes of each warp read a texel without memory, before results take operands' places; true: samples are to tell. `None` where
/// [`residency`] has to look lane by lane.
///
/// # Safety
/// As [`run_wave`].
unsafe fn holes_wave(code: &ImageCode, wave: &ImageWave, holes: &Holes) -> Option<bool> {
    if wave.view == 0 || code.dim == Dim::Buffer || code.multisampled {
        return None;
    }
    // SAFETY: not null: descriptor writes stored such a view.
    let view = unsafe { &*(wave.view as *const ImageView) };
    if !view.image.span().is_some_and(|(at, _)| may_have_holes(at)) {
        return Some(false);
    }
    match code.op {
        ImageOp::Sample => flat_dims(code.dim).map(|_| true),
        ImageOp::Fetch | ImageOp::Read => {
            let n = code.coords.len().min(4);
            for w in (0..32).filter(|w| wave.rows.live >> w & 1 != 0) {
                // SAFETY: the wave has rows of sixteen lanes for each warp.
                let row = |r: &Rows| unsafe { r.warp(w).cast::<[u32; 16]>().read_unaligned() };
                let mut coords = [[0; 16]; 4];
                coords.iter_mut().zip(&wave.rows.coords[..n]).for_each(|(to, r)| *to = row(r));
                let lod = wave.rows.lod.as_ref().map(row);
                holes.put(w, missing_texels(view, &coords, lod.as_ref(), None, wave.rows.exec[w]));
            }
            Some(false)
        }
        _ => None,
    }
}

/// [`run_wave`], but for residency codes.
///
/// # Safety
/// As there.
unsafe fn results_wave(code: &ImageCode, wave: &ImageWave) -> bool {
    let dims = flat_dims(code.dim);
    if matches!(code.op, ImageOp::Fetch | ImageOp::Read) && code.dim != Dim::Buffer {
        let dims = dims.filter(|d| code.coords.len() == d + code.arrayed as usize);
        let done = dims.filter(|_| wave.view != 0 && !code.multisampled).is_some_and(|dims| {
            // SAFETY: not null: descriptor writes stored a view; the rows are the caller's.
            unsafe { fetch_wave(&*(wave.view as *const ImageView), dims, code.arrayed, &wave.rows) }
        });
        // Storage images are read as they are sampled, but for 3D ones and those in parts.
        if done || code.op == ImageOp::Fetch {
            return done;
        }
    }
    let named = !code.multisampled && wave.view != 0 && wave.sampler != 0;
    if code.op == ImageOp::Gather {
        if code.dim != Dim::D2 || code.arrayed || code.coords.len() != 2 || !named {
            return false;
        }
        // SAFETY: neither is null: descriptor writes stored a view and a sampler; the rows are the caller's.
        return unsafe {
            let (view, sampler) = (&*(wave.view as *const ImageView), &*(wave.sampler as *const Sampler));
            gather_wave(view, sampler, code.component, &wave.rows)
        };
    }
    if code.op != ImageOp::Sample {
        // Texels of buffers are fetched as they are read.
        let op = if code.op == ImageOp::Fetch { ImageOp::Read } else { code.op };
        let texels = match code.dim {
            _ if wave.view == 0 || code.multisampled => None,
            // SAFETY: not null: descriptor writes stored such a view.
            Dim::Buffer => Texels::of_buffer(unsafe { &*(wave.view as *const BufferView) }),
            // Attachments of this pass, of which others know more.
            Dim::SubpassData => None,
            // SAFETY: as above.
            _ => Texels::of_image(unsafe { &*(wave.view as *const ImageView) }),
        };
        // SAFETY: the view keeps its memory; the rows are the caller's.
        return texels.is_some_and(|t| unsafe { t.run(op, &wave.rows) });
    }
    // 3D images have no layers.
    let solid = code.dim == Dim::D3 && !code.arrayed;
    let Some(dims) = (if solid { Some(3) } else { dims }) else { return false };
    if code.coords.len() != dims + code.arrayed as usize || !named {
        return false;
    }
    // SAFETY: neither is null: descriptor writes stored a view and a sampler; the rows are the caller's.
    unsafe {
        let (view, sampler) = (&*(wave.view as *const ImageView), &*(wave.sampler as *const Sampler));
        if solid {
            return sample_solid_wave(view, sampler, &wave.rows);
        }
        sample_wave(view, sampler, dims, code.arrayed, &wave.rows)
    }
}

fn buffer(code: &ImageCode, view: &BufferView, w: &mut ImageWarp) {
    match code.op {
        ImageOp::Fetch | ImageOp::Read => {
            let mut out = TexelData { lo: &mut w.out, hi: &mut w.out_hi };
            buffer_load_warp(view, &w.coords[0], w.mask, &mut out)
        }
        ImageOp::Write => buffer_store_warp(view, &w.coords[0], w.mask, &w.data, &w.data_hi),
        ImageOp::Atomic(op) => {
            let texels = view.texel_pointers(&w.coords[0], w.mask);
            // SAFETY: the view has the texels.
            unsafe { atomic(op, code.texel, view.format, &texels, w) }
        }
        ImageOp::QuerySize => give(w, [view.len, 0, 0, 0]),
        _ => give(w, [0; 4]),
    }
}

/// Coordinates of a fetch with its offsets added.
pub(crate) fn fetch_coords(code: &ImageCode, w: &ImageWarp) -> [[u32; 16]; 4] {
    let mut coords = w.coords;
    for (c, o) in coords.iter_mut().zip(&w.offsets[..code.offsets.len().min(3)]) {
        c.iter_mut().zip(o).for_each(|(c, o)| *c = c.wrapping_add(*o));
    }
    coords
}

/// Adds the cache lines of the texels that `code` touches for the warp's active lanes.
///
/// # Safety
/// As [`run`].
pub unsafe fn lines(code: &ImageCode, w: &ImageWarp, lines: &mut Vec<u64>) {
    let touched = Touched::new(std::mem::take(lines));
    // SAFETY: the caller's.
    unsafe { touch(code, w, &touched) };
    *lines = touched.into_lines();
}

/// Addresses and numbers of bytes of the texels that `code` touches for the warp's active lanes, after those that are there.
///
/// # Safety
/// As [`run`].
pub unsafe fn bytes(code: &ImageCode, w: &ImageWarp, bytes: &mut Vec<(u64, u32)>) {
    let touched = Touched::exact(std::mem::take(bytes));
    // SAFETY: the caller's.
    unsafe { touch(code, w, &touched) };
    *bytes = touched.into_bytes();
}

/// # Safety
/// As [`run`].
unsafe fn touch(code: &ImageCode, w: &ImageWarp, touched: &Touched) {
    if w.view == 0 {
        return;
    }
    if code.dim == Dim::Buffer {
        // SAFETY: not null: descriptor writes stored such a view.
        touched.buffer(unsafe { &*(w.view as *const BufferView) }, &w.coords[0], w.mask);
    } else {
        // SAFETY: as above.
        let view = unsafe { &*(w.view as *const ImageView) };
        // SAFETY: descriptor writes stored a sampler, if it is not null.
        let sampler = unsafe { (w.sampler as *const Sampler).as_ref() };
        let sample = code.multisampled.then_some(&w.sample);
        match code.op {
            ImageOp::Sample | ImageOp::Check(Checked::Sample) => {
                if let Some(sampler) = sampler {
                    touched.sample(view, sampler, &sample_args!(code, w), w.mask)
                }
            }
            ImageOp::Gather | ImageOp::Check(Checked::Gather) => {
                if let Some(sampler) = sampler {
                    touched.gather(view, sampler, &sample_args!(code, w), w.mask)
                }
            }
            ImageOp::Fetch => {
                let lod = (!code.lod.is_none()).then_some(&w.lod);
                touched.fetch(view, &fetch_coords(code, w), lod, sample, w.mask)
            }
            ImageOp::Read | ImageOp::Write | ImageOp::Atomic(_) => {
                touched.fetch(view, &w.coords, None, sample, w.mask)
            }
            _ => {}
        }
    }
}

/// Residency codes of the warp's active lanes: 0 where all texels that the lane touches have memory.
///
/// # Safety
/// As [`run`].
unsafe fn residency(code: &ImageCode, w: &mut ImageWarp) {
    // SAFETY: the caller's (all below).
    let (at, _) = unsafe { memory(code, w) };
    let all = w.mask;
    if !may_have_holes(at as *const u8) {
        return lanes(all).for_each(|l| w.residency[l] = 0);
    }
    // SAFETY: descriptor writes stored view and sampler, where they are not null.
    if code.op == ImageOp::Sample
        && flat_dims(code.dim).is_some()
        && let (Some(view), Some(sampler)) =
            unsafe { ((w.view as *const ImageView).as_ref(), (w.sampler as *const Sampler).as_ref()) }
        && let Some(missing) = missing_samples(view, sampler, &sample_args!(code, w), all)
    {
        return lanes(all).for_each(|l| w.residency[l] = (missing >> l & 1) as u32);
    }
    LINES.with_borrow_mut(|touched| {
        for lane in lanes(all) {
            touched.clear();
            w.mask = 1 << lane;
            unsafe { lines(code, w, touched) };
            w.residency[lane] = touched.iter().any(|line| !resident((line << 6) as *const u8)) as u32;
        }
    });
    w.mask = all;
}

/// The memory of the warp's image: where it begins, and its bytes.
///
/// # Safety
/// As [`run`].
pub unsafe fn memory(code: &ImageCode, w: &ImageWarp) -> (u64, u64) {
    if code.dim == Dim::Buffer {
        // SAFETY: null, or a view that descriptor writes stored.
        let view = unsafe { (w.view as *const BufferView).as_ref() };
        return view.map_or((0, 0), |v| (v.base as u64, v.len as u64 * v.format.block_bytes as u64));
    }
    // SAFETY: as above.
    let view = unsafe { (w.view as *const ImageView).as_ref() };
    view.and_then(|v| v.image.span()).map_or((0, 0), |(at, n)| (at as u64, n))
}

/// [`Filtering::taps`] of the warp's active lanes.
///
/// # Safety
/// As [`run`].
pub unsafe fn taps(code: &ImageCode, w: &ImageWarp) -> u32 {
    // SAFETY: descriptor writes stored a view and a sampler, where they are not null.
    let (view, sampler) =
        unsafe { ((w.view as *const ImageView).as_ref(), (w.sampler as *const Sampler).as_ref()) };
    match (view, sampler) {
        (Some(v), Some(s)) if code.dim != Dim::Buffer => extra_taps(v, s, &sample_args!(code, w), w.mask),
        _ => 0,
    }
}

/// [`taps`] of each warp of a wave.
///
/// # Safety
/// As [`run_wave`].
pub unsafe fn taps_wave(code: &ImageCode, wave: &ImageWave, taps: &mut [u32; 32]) -> bool {
    let plain = code.dim == Dim::D2 && code.lod.is_none() && code.bias.is_none() && code.grad.is_empty();
    if !plain || wave.view == 0 || wave.sampler == 0 {
        return false;
    }
    // SAFETY: neither is null: descriptor writes stored a view and a sampler; the rows are the caller's.
    unsafe {
        let (view, sampler) = (&*(wave.view as *const ImageView), &*(wave.sampler as *const Sampler));
        extra_taps_wave(view, sampler, &wave.rows, taps)
    }
}

thread_local! {
    /// For [`line_count`].
    static LINES: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// How many different lines [`lines`] gives.
///
/// # Safety
/// As [`run`].
pub unsafe fn line_count(code: &ImageCode, w: &ImageWarp) -> u64 {
    if code.op == ImageOp::Sample
        && matches!(code.dim, Dim::D1 | Dim::D2 | Dim::Cube)
        && w.view != 0
        && w.sampler != 0
    {
        // SAFETY: neither is null: descriptor writes stored a view and a sampler.
        let (view, sampler) = unsafe { (&*(w.view as *const ImageView), &*(w.sampler as *const Sampler)) };
        if let Some(n) = sample_lines(view, sampler, &sample_args!(code, w), w.mask) {
            return n as u64;
        }
    }
    LINES.with_borrow_mut(|all| {
        all.clear();
        // SAFETY: as the caller says.
        unsafe { lines(code, w, all) };
        distinct(all);
        all.len() as u64
    })
}

/// # Safety
/// As [`run`], of the sampler.
unsafe fn image(code: &ImageCode, view: &ImageView, w: &mut ImageWarp) {
    let sample = code.multisampled.then_some(&w.sample);
    match code.op {
        ImageOp::Sample | ImageOp::Gather | ImageOp::QueryLod => {
            if w.sampler == 0 {
                return give(w, [0; 4]);
            }
            // SAFETY: not null: descriptor writes stored a sampler.
            let sampler = unsafe { &*(w.sampler as *const Sampler) };
            let args = sample_args!(code, w);
            match code.op {
                ImageOp::Sample => sample_warp(view, sampler, &args, w.mask, &mut w.out),
                ImageOp::Gather => gather_warp(view, sampler, &args, w.mask, &mut w.out),
                _ => query_lod_warp(view, sampler, &args, w.mask, &mut w.out),
            }
        }
        ImageOp::Fetch => {
            let coords = fetch_coords(code, w);
            let lod = (!code.lod.is_none()).then_some(&w.lod);
            let mut out = TexelData { lo: &mut w.out, hi: &mut w.out_hi };
            fetch_warp(view, &coords, lod, sample, w.mask, &mut out)
        }
        ImageOp::Read => {
            let mut out = TexelData { lo: &mut w.out, hi: &mut w.out_hi };
            load_warp(view, &w.coords, sample, w.mask, &mut out)
        }
        ImageOp::Write => store_warp(view, &w.coords, sample, w.mask, &w.data, &w.data_hi),
        ImageOp::Atomic(op) => {
            let texels = texel_pointers(view, &w.coords, sample, w.mask);
            // SAFETY: the view has the texels.
            unsafe { atomic(op, code.texel, view.format, &texels, w) }
        }
        ImageOp::QuerySize => {
            for lane in (0..16).filter(|l| w.mask >> l & 1 != 0) {
                let lod = if code.lod.is_none() { 0 } else { w.lod[lane] };
                let size = view.query_size(lod);
                (0..4).for_each(|k| w.out[k][lane] = size[k]);
            }
        }
        ImageOp::QueryLevels => give(w, [view.query_levels(), 0, 0, 0]),
        // Who sanitises is asked in its place.
        ImageOp::Check(_) => give(w, [0; 4]),
        ImageOp::QuerySamples => give(w, [view.query_samples(), 0, 0, 0]),
    }
}

/// Atomics in lane order; lanes without a texel get 0, and all of them if texels have not the bits of the atomic.
///
/// # Safety
/// The texels are null or whole texels of the format, aligned to their size.
unsafe fn atomic(
    op: AtomicOp,
    texel: TexelType,
    format: &FormatInfo,
    texels: &[*mut u8; 16],
    w: &mut ImageWarp,
) {
    let wide = matches!(texel, TexelType::S64 | TexelType::U64);
    let fits = format.block_bytes == if wide { 8 } else { 4 };
    let mem = if wide { Mem::B64 } else { Mem::B32 };
    // All lanes, for vectors' sake: those that take no part are not looked at.
    let words = |k: usize| -> [u64; 16] {
        let (low, high) = (&w.data[k], &w.data_hi[k]);
        match wide {
            true => std::array::from_fn(|l| low[l] as u64 | (high[l] as u64) << 32),
            false => std::array::from_fn(|l| low[l] as u64),
        }
    };
    let (a, b) = (words(0), words(1));
    let places: [u64; 16] = std::array::from_fn(|l| texels[l] as u64);
    let exist = places.iter().enumerate().fold(0, |m, (l, p)| m | ((*p != 0) as u16) << l);
    let there = if fits { w.mask & exist } else { 0 };
    // SAFETY: the texels of `there` are not null, and have the size of the atomic.
    let old = unsafe { each::<Device>(&places, op, mem, &a, &b, there) };
    if w.mask == 0xFFFF {
        w.out[0] = old.map(|o| o as u32);
        w.out_hi[0] = old.map(|o| (o >> 32) as u32);
        return;
    }
    // Other lanes may have what other images gave them.
    for lane in lanes(w.mask) {
        w.out[0][lane] = old[lane] as u32;
        w.out_hi[0][lane] = (old[lane] >> 32) as u32;
    }
}

#[cfg(test)]
#[path = "image_op_tests.rs"]
mod tests;

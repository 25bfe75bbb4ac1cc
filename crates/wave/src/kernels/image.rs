//! Image operations: operands of each live warp go to the host, lanes with the same descriptors together.

use super::forms::kernels;
use super::mask::{Bits, broken_quads, has_whole_quads};
use super::regs::{dst32, dst64, src32, src64};
use crate::flush::Mode;
use crate::host::{ImageWarp, ImageWave, Own};
use crate::probe::ImageProbe;
use crate::state::{At, State};
use crate::{Filter, Filtering};
use shader::bytecode::{ImageCode, Op, Reg};
use shader::ir::{Checked, Dim, ImageOp, TexelType};
use shader::options::TEXELS;
use simd::Steps;
use simd::rows::{ImageRows, LevelRows, Rows};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// # Safety
/// `r` is one of the operation's registers, which are as an op's are ([`super::regs`]), or none; `w` is a live warp.
#[inline(always)]
unsafe fn fill(st: &State, r: Reg, w: usize, to: &mut [u32; 16]) {
    if !r.is_none() {
        let (p, s) = src32(st, r);
        // SAFETY: the caller's.
        *to = unsafe { *(p.add(w * s) as *const [u32; 16]) };
    }
}
/// # Safety
/// As [`fill`].
#[inline(always)]
unsafe fn fill_all(st: &State, r: &[Reg], w: usize, to: &mut [[u32; 16]]) {
    for (r, to) in r.iter().zip(to) {
        // SAFETY: the caller's.
        unsafe { fill(st, *r, w, to) };
    }
}
/// # Safety
/// As [`fill`].
unsafe fn addresses(st: &State, r: Reg, w: usize) -> [u64; 16] {
    if r.is_none() {
        return [super::desc::null(); 16];
    }
    let (p, s) = src64(st, r);
    // SAFETY: the caller's.
    unsafe { *(p.add(w * s) as *const [u64; 16]) }
}

/// The same descriptor for all lanes: by the register's kind.
#[inline(always)]
fn uniform(r: Reg) -> bool {
    r.is_none() || r.is_uniform()
}

/// A uniform descriptor's address.
///
/// # Safety
/// As [`fill`].
#[inline(always)]
unsafe fn address(st: &State, r: Reg) -> u64 {
    // SAFETY: the caller's.
    if r.is_none() { super::desc::null() } else { unsafe { *src64(st, r).0 } }
}

/// The view of a descriptor; 0 if it is a texel buffer's where the shader has an image, or the reverse.
///
/// # Safety
/// It is the address of a descriptor: what DESC gave, for active lanes.
#[inline(always)]
unsafe fn view(c: &ImageCode, image: u64) -> u64 {
    // SAFETY: the caller's.
    let view = unsafe { *(image as *const u64).add(2) };
    if (view & TEXELS != 0) == (c.dim == Dim::Buffer) { view & !TEXELS } else { 0 }
}

/// Takes the view and the sampler from their descriptors.
///
/// # Safety
/// These are addresses of descriptors: what DESC gave, for active lanes.
#[inline(always)]
unsafe fn name(c: &ImageCode, x: &mut ImageWarp, image: u64, sampler: u64) {
    // SAFETY: the caller's.
    (x.view, x.sampler) = unsafe { (view(c, image), *(sampler as *const u64).add(3)) };
}

/// Whether a lane's result depends on the coordinates of its quad's others.
#[inline(always)]
fn has_footprint(c: &ImageCode) -> bool {
    let filtered = matches!(c.op, ImageOp::Sample | ImageOp::QueryLod | ImageOp::Check(Checked::Sample));
    filtered && c.lod.is_none() && c.grad.is_empty()
}

/// Whether the level depends on nothing but coordinates and an explicit level.
#[inline(always)]
fn has_plain_level(c: &ImageCode) -> bool {
    c.bias.is_none() && c.min_lod.is_none() && c.grad.is_empty()
}

/// Puts coordinates in the place of those of lanes that are not active, which may be anybody's, for the footprints of the others in
/// their quads: where the other three say it, on the plane through theirs, else a neighbour's.
#[inline(never)]
fn extend_quads(coords: &mut [u32; 16], exec: u16) {
    let given = coords.map(f32::from_bits);
    for (i, to) in coords.iter_mut().enumerate().filter(|(i, _)| exec >> i & 1 == 0) {
        let [x, y, diagonal] = [i ^ 1, i ^ 2, i ^ 3];
        let active = |lane: usize| exec >> lane & 1 != 0;
        let value = match [x, y, diagonal].map(active) {
            [true, true, true] => given[x] + (given[y] - given[diagonal]),
            [true, ..] => given[x],
            [_, true, _] => given[y],
            [_, _, true] => given[diagonal],
            // A quad that is not there.
            _ => 0.0,
        };
        *to = value.to_bits();
    }
}

/// # Safety
/// As [`fill`].
#[inline(always)]
unsafe fn gather(st: &State, c: &ImageCode, wide: bool, w: usize, x: &mut ImageWarp) {
    // d/dx of every dimension, then d/dy, at 0 and 3.
    let (dx, dy) = c.grad.split_at(c.grad.len() / 2);
    // SAFETY: the caller's.
    unsafe {
        fill_all(st, &c.coords, w, &mut x.coords);
        if has_footprint(c) && broken_quads(st.exec[w]) != 0 {
            for to in x.coords.iter_mut().take(c.coords.len()) {
                extend_quads(to, st.exec[w]);
            }
        }
        fill(st, c.dref, w, &mut x.dref);
        fill(st, c.lod, w, &mut x.lod);
        fill(st, c.bias, w, &mut x.bias);
        fill_all(st, dx, w, &mut x.grad[..3]);
        fill_all(st, dy, w, &mut x.grad[3..]);
        fill_all(st, &c.offsets, w, &mut x.offsets);
        fill(st, c.sample, w, &mut x.sample);
        fill(st, c.min_lod, w, &mut x.min_lod);
    }
    if !wide {
        // SAFETY: the caller's.
        unsafe { fill_all(st, &c.data, w, &mut x.data) };
        return;
    }
    for (i, &r) in c.data.iter().take(4).enumerate() {
        // SAFETY: the caller's.
        let v = unsafe { addresses(st, r, w) };
        for l in 0..16 {
            x.data[i][l] = v[l] as u32;
            x.data_hi[i][l] = (v[l] >> 32) as u32;
        }
    }
}

/// # Safety
/// As [`fill`].
#[inline(always)]
unsafe fn scatter(st: &State, c: &ImageCode, wide: bool, w: usize, x: &ImageWarp) {
    for (i, &r) in c.results.iter().take(4).enumerate() {
        if r.is_none() {
            continue;
        }
        if r.is_uniform() {
            // Every operand was uniform: the first active lane speaks for all.
            let l = x.mask.trailing_zeros() as usize & 15;
            let v = x.out[i][l] as u64 | (x.out_hi[i][l] as u64) << 32;
            // SAFETY: the caller's.
            unsafe {
                if wide {
                    *(dst64(st, r, 0) as *mut [u64; 16]) = [v; 16];
                } else {
                    *(dst32(st, r, 0) as *mut [u32; 16]) = [v as u32; 16];
                }
            }
        } else if wide {
            for l in Bits(x.mask as u32) {
                let v = x.out[i][l] as u64 | (x.out_hi[i][l] as u64) << 32;
                // SAFETY: the caller's.
                unsafe { *dst64(st, r, w).add(l) = v };
            }
        } else if x.mask == 0xFFFF {
            // SAFETY: the caller's.
            unsafe { *(dst32(st, r, w) as *mut [u32; 16]) = x.out[i] };
        } else {
            for l in Bits(x.mask as u32) {
                // SAFETY: the caller's.
                unsafe { *dst32(st, r, w).add(l) = x.out[i][l] };
            }
        }
    }
    if !c.residency.is_none() {
        if c.residency.is_uniform() {
            let code = x.residency[x.mask.trailing_zeros() as usize & 15];
            // SAFETY: the caller's.
            unsafe { *(dst32(st, c.residency, 0) as *mut [u32; 16]) = [code; 16] };
            return;
        }
        for l in Bits(x.mask as u32) {
            // SAFETY: the caller's.
            unsafe { *dst32(st, c.residency, w).add(l) = x.residency[l] };
        }
    }
}

/// A wave's coordinates, as registers lie.
#[repr(align(64))]
struct Copies(#[allow(dead_code, reason = "room for rows")] [[[u32; 16]; 16]; 4]);

/// Puts copies at `to`, four times 16 rows, in the place of the rows, with [`extend_quads`].
///
/// # Safety
/// The rows are registers' of the wave; `to` has the room.
#[inline(never)]
unsafe fn extend_rows(st: &State, rows: &mut [Rows; 4], to: *mut [[u32; 16]; 16]) {
    for (k, rows) in rows.iter_mut().enumerate().filter(|(_, r)| !r.at.is_null()) {
        let to = to.wrapping_add(k).cast::<[u32; 16]>();
        for w in Bits(st.live) {
            // SAFETY: a live warp's row; the caller's.
            unsafe {
                let from = rows.warp(w).cast::<[u32; 16]>();
                let mut row = *from;
                extend_quads(&mut row, st.exec[w]);
                *to.add(w) = row;
            }
        }
        *rows = Rows { at: to.cast(), step: 64 };
    }
}

/// An operand's rows.
#[inline(always)]
fn rows(st: &State, r: Reg) -> Rows {
    if r.is_none() {
        return Rows::NONE;
    }
    let (at, words) = src32(st, r);
    Rows { at: at.cast(), step: words * 4 }
}

/// One image's operation for all warps; false if it is none of the plain ones, or the host has no way to. `counts`: with the
/// lines that it touches.
///
/// # Safety
/// `view` and `sampler` are as [`crate::Host::image`] has them.
#[inline(always)]
unsafe fn together(st: &mut State, c: &ImageCode, view: u64, sampler: u64, counts: bool) -> bool {
    let plain = match c.op {
        ImageOp::Sample => c.offsets.is_empty() && (c.dim != Dim::D3 || has_plain_level(c)),
        ImageOp::Gather => has_plain_level(c) && c.lod.is_none() && c.offsets.is_empty() && !counts,
        ImageOp::Fetch => c.sample.is_none() && c.offsets.is_empty() && !counts,
        ImageOp::Read | ImageOp::Write | ImageOp::Atomic(_) => c.sample.is_none() && !counts,
        _ => false,
    };
    let plain = plain
        && (c.residency.is_none() || c.dim != Dim::SubpassData)
        && c.coords.len() <= 4
        && c.results.iter().chain([&c.residency]).all(|r| r.is_none() || !r.is_uniform());
    if !plain {
        return false;
    }
    let (mut coords, mut data) = ([Rows::NONE; 4], [Rows::NONE; 4]);
    for (to, r) in coords.iter_mut().zip(&c.coords) {
        *to = rows(st, *r);
    }
    let mut copies = MaybeUninit::<Copies>::uninit();
    if has_footprint(c) && !has_whole_quads(st) {
        // SAFETY: the operation's registers, live warps; rows that nobody reads of other warps stay as they are.
        unsafe { extend_rows(st, &mut coords, copies.as_mut_ptr().cast()) };
    }
    for (to, r) in data.iter_mut().zip(&c.data) {
        *to = rows(st, *r);
    }
    let mut out = [std::ptr::null_mut(); 4];
    for (to, r) in out.iter_mut().zip(&c.results) {
        if !r.is_none() {
            *to = dst32(st, *r, 0).cast();
        }
    }
    let lod = (!c.lod.is_none()).then(|| rows(st, c.lod));
    let dref = (!c.dref.is_none()).then(|| rows(st, c.dref));
    let operand = |r: Reg| (!r.is_none()).then(|| rows(st, r));
    let mut levels = LevelRows { bias: operand(c.bias), min_lod: operand(c.min_lod), grad: None };
    if !c.grad.is_empty() {
        let (dx, dy) = c.grad.split_at(c.grad.len() / 2);
        let mut grad = [Rows::zero(); 6];
        for (k, (x, y)) in dx.iter().zip(dy).take(3).enumerate() {
            (grad[k], grad[3 + k]) = (rows(st, *x), rows(st, *y));
        }
        levels.grad = Some(grad);
    }
    let lines = Cell::new(0);
    let lines_to = counts.then_some(&lines);
    let rows = ImageRows {
        live: st.live,
        exec: &st.exec,
        coords,
        lod,
        levels,
        dref,
        data,
        out,
        lines: lines_to,
        holes: None,
    };
    let mut residency = std::ptr::null_mut();
    if !c.residency.is_none() {
        residency = dst32(st, c.residency, 0).cast();
    }
    let wave = ImageWave { view, sampler, rows, residency };
    // SAFETY: the caller's; the rows are the operation's registers.
    let done = unsafe { st.host.image_wave(c, &wave) };
    if done {
        st.count.row().texture[crate::counting::tally::Tex::Lines] += lines.get();
        let warps = st.live.count_ones();
        super::count::image_stores(st, c, warps);
    }
    done
}

/// Counts the lines of a warp's operation; `touches`: it is one that has any.
///
/// # Safety
/// As [`crate::Host::image`].
#[inline(always)]
unsafe fn lines(st: &mut State, c: &ImageCode, x: &mut ImageWarp, touches: bool) {
    if touches && st.count.counts_texels() {
        // SAFETY: the caller's.
        unsafe { super::count::texels(st, c, x) };
    } else {
        super::count::image_stores(st, c, 1);
    }
}

/// The descriptors' addresses of the image and the sampler, if all active lanes of the wave have the same: the index of
/// an array may be dynamically uniform though nothing says so.
///
/// # Safety
/// `c` is the op's.
#[inline(always)]
unsafe fn agreed(st: &State, c: &ImageCode) -> Option<(u64, u64)> {
    let mut found = [super::desc::null(); 2];
    for (found, r) in found.iter_mut().zip([c.image, c.sampler]) {
        if uniform(r) {
            // SAFETY: the operation's register.
            *found = unsafe { address(st, r) };
            continue;
        }
        let (p, words) = src64(st, r);
        let first = st.live.trailing_zeros() as usize & 15;
        // SAFETY: the operation's register, a live warp.
        *found = unsafe { *p.add(first * words + (st.exec[first].trailing_zeros() as usize & 15)) };
        for w in Bits(st.live) {
            // SAFETY: as above; nothing is written meanwhile.
            let (lanes, exec) = (unsafe { &*(p.add(w * words) as *const [u64; 16]) }, st.exec[w]);
            let mut other = 0;
            for l in 0..16 {
                let differs = lanes[l] ^ *found;
                other |= if exec >> l & 1 != 0 { differs } else { 0 };
            }
            if other != 0 {
                return None;
            }
        }
    }
    Some((found[0], found[1]))
}

/// The views and samplers of a warp's lanes `exec`.
///
/// # Safety
/// `c` is the op's, `w` a live warp and `exec` active lanes.
#[inline(always)]
unsafe fn named(st: &State, c: &ImageCode, w: usize, exec: u16) -> Own {
    // SAFETY: the operation's registers; the warp is the caller's.
    let (images, samplers) = unsafe { (addresses(st, c.image, w), addresses(st, c.sampler, w)) };
    let mut own = Own { views: [0; 16], samplers: [0; 16] };
    for l in Bits(exec as u32) {
        // SAFETY: active lanes have what DESC gave, or the null descriptor's address.
        (own.views[l], own.samplers[l]) =
            unsafe { (view(c, images[l]), *(samplers[l] as *const u64).add(3)) };
    }
    own
}

/// Counts what the texture unit does for warps whose lanes take as many taps as their footprints are long.
///
/// # Safety
/// As [`crate::Host::image`]: `x` has view and sampler.
#[inline(never)]
unsafe fn by_taps(st: &mut State, c: &ImageCode, x: &mut ImageWarp, filtering: Filtering, once: bool) {
    if !shader::cost::COUNTED {
        return;
    }
    let mut taps = [0; 32];
    let named = c.offsets.is_empty() && c.min_lod.is_none() && c.coords.len() <= 4;
    if !once && named && has_whole_quads(st) {
        let mut coords = [Rows::NONE; 4];
        for (to, r) in coords.iter_mut().zip(&c.coords) {
            *to = rows(st, *r);
        }
        let rows = ImageRows {
            live: st.live,
            exec: &st.exec,
            coords,
            lod: None,
            levels: LevelRows::default(),
            dref: None,
            data: [Rows::NONE; 4],
            out: [std::ptr::null_mut(); 4],
            lines: None,
            holes: None,
        };
        let wave = ImageWave { view: x.view, sampler: x.sampler, rows, residency: std::ptr::null_mut() };
        // SAFETY: the caller's view and sampler; the rows are the operation's registers.
        if unsafe { st.host.taps_wave(c, &wave, &mut taps) } {
            for w in Bits(st.live) {
                super::count::texture(st, Filtering { taps: taps[w], ..filtering }, st.exec[w]);
            }
            return;
        }
    }
    for w in Bits(st.live) {
        x.mask = st.exec[w];
        if x.mask != 0 {
            // SAFETY: a live warp; the caller's view and sampler.
            let taps = unsafe {
                gather(st, c, false, w, x);
                st.host.taps(c, x)
            };
            super::count::texture(st, Filtering { taps, ..filtering }, x.mask);
        }
        if once {
            break;
        }
    }
}

/// A warp whose lanes have descriptors of their own.
///
/// # Safety
/// As [`crate::Host::image_each`].
#[inline(always)]
unsafe fn each(st: &mut State, c: &ImageCode, x: &mut ImageWarp, own: &Own, stores: bool) {
    if !st.count.counts_texels() {
        let host = st.host;
        let mut counts = |filtering, mask| {
            super::count::texture(st, filtering, mask);
            super::count::image_stores(st, c, 1);
        };
        // SAFETY: the caller's.
        unsafe { host.image_each(c, x, own, &mut counts) };
        return;
    }
    for group in own.groups(x.mask) {
        (x.view, x.sampler, x.mask) = (group.view, group.sampler, group.mask);
        // SAFETY: the caller's.
        unsafe {
            let mut filtering = st.host.texture(c, x.view, x.sampler);
            if filtering.filter == Filter::Aniso {
                filtering.taps = st.host.taps(c, x);
            }
            super::count::texture(st, filtering, group.mask);
            lines(st, c, x, stores || filtering.operations > 0);
            st.host.image(c, x);
        }
    }
}

/// Tells the host what an operation is about to do, a warp at a time.
#[inline(never)]
fn check(st: &mut State, c: &ImageCode, op: At) -> *const Op {
    // SAFETY: the worker's own, used by nobody else while the kernel runs; the program that the wave runs lives as long as the wave does.
    let (x, program) = unsafe { (&mut *st.image_warp, &*st.program) };
    for w in Bits(st.live) {
        let exec = st.exec[w];
        if exec == 0 {
            continue;
        }
        let probe = ImageProbe { program, site: c.component, alive: st.alive[w], warp: w, executing: exec };
        // SAFETY: the op's registers, a live warp; descriptors that DESC gave, whose writer put views and samplers there.
        unsafe {
            gather(st, c, false, w, x);
            for group in named(st, c, w, exec).groups(exec) {
                (x.view, x.sampler, x.mask) = (group.view, group.sampler, group.mask);
                st.host.image_probe(c, x, &probe);
            }
            x.mask = exec;
            scatter(st, c, false, w, x);
        }
    }
    op.on(1)
}

#[inline(always)]
fn image<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // What texels are is not for the shader to say.
    let _mode = Mode::flushed(false);
    // SAFETY: the program has such an image operation: the check.
    let c = unsafe { &*st.images.add(op.imm as usize) };
    if matches!(c.op, ImageOp::Check(_)) {
        return check(st, c, op);
    }
    let texels = !matches!(
        c.op,
        ImageOp::QuerySize | ImageOp::QueryLevels | ImageOp::QuerySamples | ImageOp::QueryLod
    );
    let wide = texels && matches!(c.texel, TexelType::S64 | TexelType::U64);
    let once = c.results.iter().chain([&c.residency]).any(|r| !r.is_none() && r.is_uniform());
    // SAFETY: the worker's own, used by nobody else while the kernel runs.
    let x = unsafe { &mut *st.image_warp };
    // SAFETY: the op's registers.
    let same = unsafe {
        if uniform(c.image) && uniform(c.sampler) {
            Some((address(st, c.image), address(st, c.sampler)))
        } else {
            agreed(st, c)
        }
    };
    let stores = matches!(c.op, ImageOp::Write | ImageOp::Atomic(_));
    // Whether it touches lines of memory: stores do, and what the texture unit does something for; input attachments lie
    // in the tile.
    let mut touches = stores;
    if let Some((image, sampler)) = same {
        // SAFETY: descriptors that DESC gave; who wrote them put view and sampler there.
        let filtering = unsafe {
            name(c, x, image, sampler);
            st.host.texture(c, x.view, x.sampler)
        };
        touches |= filtering.operations > 0;
        if filtering.filter == Filter::Aniso {
            // SAFETY: as above.
            unsafe { by_taps(st, c, x, filtering, once) };
        } else if once {
            let exec = st.exec[st.live.trailing_zeros() as usize & 31];
            super::count::texture(st, filtering, exec);
        } else {
            super::count::texture_wave(st, filtering);
        }
        let counts = touches && st.count.counts_texels();
        let apart = wide || counts && st.count.follows_texels();
        // SAFETY: as above.
        if !apart && unsafe { together(st, c, x.view, x.sampler, counts) } {
            return op.on(1);
        }
    }
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp; views and samplers as above.
        unsafe {
            gather(st, c, wide, w, x);
            if same.is_some() {
                if st.exec[w] != 0 {
                    x.mask = st.exec[w];
                    lines(st, c, x, touches);
                    st.host.image(c, x);
                    scatter(st, c, wide, w, x);
                }
            } else {
                let exec = st.exec[w];
                if exec != 0 {
                    x.mask = exec;
                    each(st, c, x, &named(st, c, w, exec), stores);
                    x.mask = exec;
                    scatter(st, c, wide, w, x);
                }
            }
        }
        if once {
            break;
        }
    }
    op.on(1)
}

kernels! {
    IMAGE = image;
}

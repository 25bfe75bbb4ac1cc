//! What the modelled texture unit does for an operation: filter operations by sampler and view, and the cache lines that
//! texels lie in.
//!
//! The kind of filtering is told by sampler and view, not by each lane's level of detail: between levels where the
//! sampler asks for it and the view has several, along an axis with as many taps as the sampler allows. A bilinear
//! operation of texels up to 32 bits is one; trilinear and 3D filtering double it, 64 and 128 bits too.
//! Lines are told of fetches, and of samples of 1D and 2D views with one level.

use super::view::ImageView;
use super::{Sampler, sampler::Wrap};
use shader::bytecode::ImageCode;
use shader::ir::{Dim, ImageOp};
use wave::{Filter, Filtering, ImageWarp};

/// # Safety
/// `view` and `sampler` are null or a descriptor's.
pub unsafe fn filtering(code: &ImageCode, view: u64, sampler: u64) -> Filtering {
    match code.op {
        ImageOp::Sample | ImageOp::Gather => {}
        ImageOp::Fetch | ImageOp::Read => return Filtering { filter: Filter::Nearest, operations: 1 },
        _ => return Filtering::default(),
    }
    let nearest = Filtering { filter: Filter::Nearest, operations: 1 };
    if view == 0 || sampler == 0 {
        return nearest;
    }
    let (v, s) = (&*(view as *const ImageView), &*(sampler as *const Sampler));
    let wide = (v.format.block_bytes / if v.format.compressed() { 8 } else { 4 }).max(1);
    if code.op == ImageOp::Gather || !(s.mag_linear || s.min_linear) {
        return Filtering { operations: wide, ..nearest };
    }
    let levels = s.mip_linear && v.levels.len() > 1;
    let taps = if v.levels.len() > 1 { s.anisotropy.max(1.0).ceil() as u32 } else { 1 };
    let volume = v.dims == 3;
    let filter = match () {
        _ if taps > 1 => Filter::Aniso,
        _ if volume => Filter::Volume,
        _ if levels => Filter::Trilinear,
        _ => Filter::Bilinear,
    };
    Filtering { filter, operations: wide * (1 + levels as u32) * (1 + volume as u32) * taps }
}

/// A texel coordinate brought inside; `None`: the border.
fn wrapped(w: Wrap, i: i64, n: i64) -> Option<i64> {
    match w {
        Wrap::Repeat => Some(i.rem_euclid(n)),
        Wrap::Mirror => Some(match i.rem_euclid(2 * n) {
            i if i < n => i,
            i => 2 * n - 1 - i,
        }),
        Wrap::MirrorEdge => Some(if i < 0 { -1 - i } else { i }.min(n - 1)),
        Wrap::Edge => Some(i.clamp(0, n - 1)),
        Wrap::Border => (0..n).contains(&i).then_some(i),
    }
}

/// # Safety
/// As [`filtering`].
pub unsafe fn lines(code: &ImageCode, warp: &ImageWarp) -> u64 {
    let plain = matches!(code.dim, Dim::D1 | Dim::D2) && !code.multisampled && warp.view != 0;
    if !plain {
        return 0;
    }
    let v = &*(warp.view as *const ImageView);
    let dims = if code.dim == Dim::D1 { 1 } else { 2 };
    let mut found: Vec<u64> = Vec::with_capacity(64);
    for l in (0..16).filter(|l| warp.mask >> l & 1 != 0) {
        let layer = if code.arrayed { warp.coords[dims][l] } else { 0 };
        let mut touch = |level: usize, layer: u32, x: i64, y: i64| {
            let Some(at) = v.levels.get(level).filter(|_| layer < v.layers) else { return };
            if x < 0 || y < 0 || x >= at.size[0] as i64 || y >= at.size[1] as i64 || v.format.compressed() {
                return;
            }
            let bytes = v.format.block_bytes as u64;
            let a =
                at.base as u64 + layer as u64 * at.layer_pitch + y as u64 * at.row_pitch + x as u64 * bytes;
            found.extend(a >> 6..=(a + bytes - 1) >> 6);
        };
        match code.op {
            ImageOp::Fetch | ImageOp::Read | ImageOp::Write | ImageOp::Atomic(_) => {
                let level = if code.op == ImageOp::Fetch { warp.lod[l] as usize } else { 0 };
                let y = if dims == 2 { warp.coords[1][l] as i32 as i64 } else { 0 };
                touch(level, layer, warp.coords[0][l] as i32 as i64, y);
            }
            ImageOp::Sample if v.levels.len() == 1 && warp.sampler != 0 => {
                let s = &*(warp.sampler as *const Sampler);
                let linear = s.mag_linear || s.min_linear;
                let mut places = [[None; 2]; 2];
                for (d, places) in places.iter_mut().enumerate() {
                    let n = v.levels[0].size[d];
                    let u = if d < dims { f32::from_bits(warp.coords[d][l]) } else { 0.5 };
                    let scaled = if s.unnormalized || d >= dims { u } else { u * n as f32 };
                    let first = (scaled - if linear && d < dims { 0.5 } else { 0.0 }).floor();
                    for (k, p) in places.iter_mut().enumerate() {
                        if k == 0 || linear && d < dims {
                            *p = wrapped(s.wrap[d], first as i64 + k as i64, n.max(1) as i64);
                        }
                    }
                }
                let layer =
                    if code.arrayed { f32::from_bits(layer).round_ties_even().max(0.0) as u32 } else { 0 };
                for y in places[1].iter().flatten() {
                    for x in places[0].iter().flatten() {
                        touch(0, layer.min(v.layers.saturating_sub(1)), *x, *y);
                    }
                }
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found.len() as u64
}

//! Image operations of a shader, one warp at a time: from the wave engine's registers to [`crate::sample`].

use crate::sample::*;
use shader::bytecode::ImageCode;
use shader::ir::{AtomicOp, Dim, ImageOp, TexelType};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use wave::ImageWarp;

/// Runs `code` for the warp's active lanes. Null descriptors read as zero and drop writes (robustness2).
///
/// # Safety
/// `warp.view` and `warp.sampler` are null or addresses that descriptor writes stored: an [`ImageView`] (or
/// [`BufferView`] for [`Dim::Buffer`]) and a [`Sampler`].
pub unsafe fn run(code: &ImageCode, warp: &mut ImageWarp) {
    if warp.view == 0 {
        warp.out = [[0; 16]; 4];
        warp.out_hi = [[0; 16]; 4];
        return;
    }
    if code.dim == Dim::Buffer {
        buffer(code, &*(warp.view as *const BufferView), warp)
    } else {
        image(code, &*(warp.view as *const ImageView), warp)
    }
}

unsafe fn buffer(code: &ImageCode, view: &BufferView, w: &mut ImageWarp) {
    match code.op {
        ImageOp::Fetch | ImageOp::Read => {
            let mut out = TexelData { lo: &mut w.out, hi: &mut w.out_hi };
            buffer_load_warp(view, &w.coords[0], w.mask, &mut out)
        }
        ImageOp::Write => buffer_store_warp(view, &w.coords[0], w.mask, &w.data, &w.data_hi),
        ImageOp::Atomic(op) => {
            let texels = view.texel_pointers(&w.coords[0], w.mask);
            atomic(op, code.texel, &texels, w)
        }
        ImageOp::QuerySize => w.out[0] = [view.len; 16],
        _ => w.out = [[0; 16]; 4],
    }
}

unsafe fn image(code: &ImageCode, view: &ImageView, w: &mut ImageWarp) {
    let sample = code.multisampled.then_some(&w.sample);
    match code.op {
        ImageOp::Sample | ImageOp::Gather | ImageOp::QueryLod => {
            if w.sampler == 0 {
                w.out = [[0; 16]; 4];
                return;
            }
            let sampler = &*(w.sampler as *const Sampler);
            let dims = match code.dim {
                Dim::D1 => 1,
                Dim::D2 | Dim::SubpassData | Dim::Buffer => 2,
                Dim::D3 | Dim::Cube => 3,
            };
            let args = SampleArgs {
                dims,
                arrayed: code.arrayed,
                coords: &w.coords[..(dims + code.arrayed as usize).min(4)],
                dref: (!code.dref.is_none()).then_some(&w.dref),
                lod: (!code.lod.is_none()).then_some(&w.lod),
                bias: (!code.bias.is_none()).then_some(&w.bias),
                grad: (!code.grad.is_empty()).then_some(&w.grad),
                offsets: (!code.offsets.is_empty()).then(|| &w.offsets[..code.offsets.len().min(8)]),
                min_lod: (!code.min_lod.is_none()).then_some(&w.min_lod),
                component: code.component,
            };
            match code.op {
                ImageOp::Sample => sample_warp(view, sampler, &args, w.mask, &mut w.out),
                ImageOp::Gather => gather_warp(view, sampler, &args, w.mask, &mut w.out),
                _ => query_lod_warp(view, sampler, &args, w.mask, &mut w.out),
            }
        }
        ImageOp::Fetch => {
            let mut coords = w.coords;
            for (c, o) in coords.iter_mut().zip(&w.offsets[..code.offsets.len().min(3)]) {
                c.iter_mut().zip(o).for_each(|(c, o)| *c = c.wrapping_add(*o));
            }
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
            atomic(op, code.texel, &texels, w)
        }
        ImageOp::QuerySize => {
            for lane in 0..16 {
                let lod = if code.lod.is_none() { 0 } else { w.lod[lane] };
                let size = view.query_size(lod);
                (0..4).for_each(|k| w.out[k][lane] = size[k]);
            }
        }
        ImageOp::QueryLevels => w.out[0] = [view.query_levels(); 16],
        ImageOp::QuerySamples => w.out[0] = [view.query_samples(); 16],
    }
}

/// Atomics in lane order; lanes without a texel get 0.
unsafe fn atomic(op: AtomicOp, texel: TexelType, texels: &[*mut u8; 16], w: &mut ImageWarp) {
    for lane in (0..16).filter(|l| w.mask >> l & 1 != 0) {
        let p = texels[lane];
        let (old, old_hi) = if p.is_null() {
            (0, 0)
        } else if matches!(texel, TexelType::S64 | TexelType::U64) {
            let word = |d: &[[u32; 16]; 4], h: &[[u32; 16]; 4], k: usize| {
                d[k][lane] as u64 | (h[k][lane] as u64) << 32
            };
            let (a, b) = (word(&w.data, &w.data_hi, 0), word(&w.data, &w.data_hi, 1));
            let cell = AtomicU64::from_ptr(p.cast());
            let old = cell.fetch_update(SeqCst, SeqCst, |old| Some(next64(op, old, a, b))).unwrap_or(0);
            (old as u32, (old >> 32) as u32)
        } else {
            let (a, b) = (w.data[0][lane], w.data[1][lane]);
            let cell = AtomicU32::from_ptr(p.cast());
            let old = cell.fetch_update(SeqCst, SeqCst, |old| Some(next32(op, old, a, b))).unwrap_or(0);
            (old, 0)
        };
        w.out[0][lane] = old;
        w.out_hi[0][lane] = old_hi;
    }
}

fn next32(op: AtomicOp, old: u32, a: u32, b: u32) -> u32 {
    let f = |r: fn(f32, f32) -> f32| r(f32::from_bits(old), f32::from_bits(a)).to_bits();
    match op {
        AtomicOp::Load => old,
        AtomicOp::Store | AtomicOp::Exchange => a,
        AtomicOp::CompareExchange => {
            if old == b {
                a
            } else {
                old
            }
        }
        AtomicOp::IAdd => old.wrapping_add(a),
        AtomicOp::ISub => old.wrapping_sub(a),
        AtomicOp::SMin => (old as i32).min(a as i32) as u32,
        AtomicOp::UMin => old.min(a),
        AtomicOp::SMax => (old as i32).max(a as i32) as u32,
        AtomicOp::UMax => old.max(a),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
        AtomicOp::FAdd => f(|x, y| x + y),
        AtomicOp::FMin => f(f32::min),
        AtomicOp::FMax => f(f32::max),
    }
}

fn next64(op: AtomicOp, old: u64, a: u64, b: u64) -> u64 {
    match op {
        AtomicOp::Load | AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => old,
        AtomicOp::Store | AtomicOp::Exchange => a,
        AtomicOp::CompareExchange => {
            if old == b {
                a
            } else {
                old
            }
        }
        AtomicOp::IAdd => old.wrapping_add(a),
        AtomicOp::ISub => old.wrapping_sub(a),
        AtomicOp::SMin => (old as i64).min(a as i64) as u64,
        AtomicOp::UMin => old.min(a),
        AtomicOp::SMax => (old as i64).max(a as i64) as u64,
        AtomicOp::UMax => old.max(a),
        AtomicOp::And => old & a,
        AtomicOp::Or => old | a,
        AtomicOp::Xor => old ^ a,
    }
}

//! The machine as a fragment sees it: input attachments are read from the tile.

use super::target::{Plane, Targets};
use crate::layout::{PIXELS, TILE, pixel};
use ash::vk;
use machine::host::DeviceHost;
use shader::bytecode::ImageCode;
use shader::interface::{TILE_DEPTH, TILE_STENCIL};
use shader::ir::{Dim, ImageOp};
use std::cell::Cell;
use std::time::Duration;
use texel::format::kernels;
use texel::sample::{ImageView, few};
use wave::{Filtering, Host, ImageWarp, ImageWave, Meaning, Own};

pub struct TileHost<'a> {
    pub device: &'a DeviceHost<'a>,
    pub targets: &'a Targets,
    pub tile: *mut u8,
    pub layer: u32,
    pub origin: [i32; 2],
    /// The subpass whose draws are shaded.
    pub subpass: Cell<usize>,
}

// SAFETY: one thread works on a tile; the pointer is to its tile buffer.
unsafe impl Sync for TileHost<'_> {}

impl Host for TileHost<'_> {
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        if code.dim == Dim::SubpassData && code.component != 0 {
            // SAFETY: the tile is this thread's.
            return unsafe { self.own(code, warp) };
        }
        if code.dim == Dim::SubpassData && code.op == ImageOp::Read && warp.view != 0 {
            // SAFETY: not null: a descriptor write stored an image's view.
            if !unsafe { self.input(code, warp) } {
                // No attachment of this pass: as a plain image, at the tile's layer.
                warp.coords[2] = [self.layer; 16];
                // SAFETY: the caller's descriptors, for the device's host as for this.
                unsafe { self.device.image(code, warp) };
            }
            return;
        }
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.image(code, warp) }
    }
    unsafe fn image_each(
        &self,
        code: &ImageCode,
        warp: &mut ImageWarp,
        own: &Own,
        each: &mut dyn FnMut(Filtering, u16),
    ) {
        if code.dim == Dim::SubpassData && code.component != 0 {
            // SAFETY: as in `image`.
            return unsafe { self.own(code, warp) };
        }
        if code.dim != Dim::SubpassData {
            // SAFETY: the caller's descriptors, for the device's host as for this.
            return unsafe { self.device.image_each(code, warp, own, each) };
        }
        for group in own.groups(warp.mask) {
            (warp.view, warp.mask) = (group.view, group.mask);
            // SAFETY: a descriptor of the caller's.
            unsafe { self.image(code, warp) };
        }
    }
    unsafe fn image_wave(&self, code: &ImageCode, wave: &ImageWave) -> bool {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.image_wave(code, wave) }
    }
    unsafe fn texture(&self, code: &ImageCode, view: u64, sampler: u64) -> Filtering {
        // Input attachments come from the tile.
        if code.dim == Dim::SubpassData {
            Filtering::default()
        } else {
            // SAFETY: the caller's descriptors, for the device's host as for this.
            unsafe { self.device.texture(code, view, sampler) }
        }
    }
    unsafe fn taps(&self, code: &ImageCode, warp: &ImageWarp) -> u32 {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.taps(code, warp) }
    }
    unsafe fn taps_wave(&self, code: &ImageCode, wave: &ImageWave, taps: &mut [u32; 32]) -> bool {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.taps_wave(code, wave, taps) }
    }
    unsafe fn texel_lines(&self, code: &ImageCode, warp: &ImageWarp, lines: &mut Vec<u64>) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.texel_lines(code, warp, lines) }
    }
    unsafe fn texel_memory(&self, code: &ImageCode, warp: &ImageWarp) -> (u64, u64) {
        // SAFETY: the caller's.
        unsafe { self.device.texel_memory(code, warp) }
    }
    unsafe fn texel_line_count(&self, code: &ImageCode, warp: &ImageWarp) -> u64 {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.texel_line_count(code, warp) }
    }
    fn descriptor(&self, raw: &[u64; 4], texels: bool) -> Meaning {
        self.device.descriptor(raw, texels)
    }
    fn foreign_from(&self, addr: u64) -> Option<u64> {
        self.device.foreign_from(addr)
    }
    fn resident(&self, addr: u64) -> bool {
        self.device.resident(addr)
    }
    fn clock(&self) -> u64 {
        self.device.clock()
    }

    fn ticks(&self, passed: [u64; 3]) -> u64 {
        self.device.ticks(passed)
    }
    fn expired(&self) -> bool {
        self.device.expired()
    }
    fn wave_time(&self) -> Duration {
        self.device.wave_time()
    }
}

impl TileHost<'_> {
    /// Reads an attachment of the subpass, by its place in it.
    ///
    /// # Safety
    /// The tile buffer is laid out by the targets, and nobody else uses it.
    unsafe fn own(&self, code: &ImageCode, w: &mut ImageWarp) {
        let sub = self.targets.subpasses.get(self.subpass.get());
        let attachment = sub.and_then(|s| match code.component {
            TILE_DEPTH => s.depth,
            TILE_STENCIL => s.stencil,
            k => s.colors.get(k as usize - 1).copied().flatten(),
        });
        let target = attachment.and_then(|a| self.targets.list.get(a as usize));
        let plane = target.and_then(|t| match code.component {
            TILE_DEPTH => t.depth.as_ref(),
            TILE_STENCIL => t.stencil.as_ref(),
            _ => t.color.as_ref(),
        });
        let Some(p) = plane else {
            return (0..4).for_each(|k| w.out[k] = [0; 16]);
        };
        let (mut at, mut inside) = ([p.at as u64; 16], 0u16);
        for l in 0..16 {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            if w.mask >> l & 1 != 0 && (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                let here = pixel(x as usize, y as usize);
                // SAFETY: the caller's tile.
                let s = unsafe { p.sample_in(self.tile, w.sample[l].min(p.samples - 1), here / 16) };
                at[l] += ((s as usize * PIXELS + here) * p.bytes) as u64;
                inside |= 1 << l;
            }
        }
        let mut t = [[0; 16]; 4];
        if code.component < TILE_DEPTH {
            // SAFETY: pixels of the plane, the first one where the tile has none.
            unsafe { kernels::gather_fn(p.format)(p.format, self.tile, &at, &mut t) };
        } else {
            for l in 0..16 {
                // SAFETY: as above.
                let from = unsafe { self.tile.add(at[l] as usize) };
                t[0][l] = match code.component {
                    // SAFETY: stencil takes a byte.
                    TILE_STENCIL => unsafe { *from as u32 },
                    // SAFETY: depths are floats in tiles, which begin with a cache line.
                    _ => depth(p, unsafe { *from.cast::<f32>() }).to_bits(),
                };
            }
        }
        for k in 0..4 {
            for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
                w.out[k][l] = if inside >> l & 1 != 0 { t[k][l] } else { 0 };
            }
        }
    }

    /// Reads an input attachment that lives in the tile; false if the view is of something else.
    ///
    /// # Safety
    /// `w.view` is the address of a view; the tile buffer is laid out by the targets, and nobody else uses it.
    unsafe fn input(&self, code: &ImageCode, w: &mut ImageWarp) -> bool {
        // SAFETY: the caller's view.
        let view = unsafe { &*(w.view as *const ImageView) };
        let (mip, layer) = (view.range.base_mip_level, view.range.base_array_layer);
        let s = self.subpass.get();
        let Some(i) = self.targets.input(s, &*view.image, mip, layer) else { return false };
        let own = &self.targets.list;
        let t = self.targets.stand_in(s, i as u32).unwrap_or(&own[i]);
        let stencil = view.range.aspect_mask.contains(vk::ImageAspectFlags::STENCIL)
            && !view.range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH);
        let plane = if stencil { &t.stencil } else { t.depth.as_ref().map_or(&t.color, |_| &t.depth) };
        let Some(p) = plane else { return false };
        if t.depth.is_none() && !stencil && !code.multisampled && !few(w.mask) {
            // SAFETY: a plane of the targets.
            unsafe { self.colors(p, view, w) };
            return true;
        }
        for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            let mut texel = [0; 4];
            if (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                let here = pixel(x as usize, y as usize);
                let s = if code.multisampled { w.sample[l].min(p.samples - 1) } else { 0 };
                // SAFETY: the caller's tile.
                let s = unsafe { p.sample_in(self.tile, s, here / 16) };
                let at = p.at + (s as usize * PIXELS + here) * p.bytes;
                // SAFETY: a pixel of a plane that the tile buffer has.
                let at = unsafe { self.tile.add(at) };
                texel = if stencil {
                    // SAFETY: stencil takes a byte.
                    [unsafe { *at } as u32, 0, 0, 1]
                } else if t.depth.is_some() {
                    // SAFETY: depths are floats in tiles, which begin with a cache line.
                    let z = depth(p, unsafe { *at.cast::<f32>() });
                    [z.to_bits(), 0, 0, 1f32.to_bits()]
                } else {
                    // SAFETY: a colour of the view's format.
                    view.swizzled(unsafe { (view.load)(view.format, at) })
                };
            }
            (0..4).for_each(|k| w.out[k][l] = texel[k]);
        }
        true
    }

    /// The same of colours by whole warps.
    ///
    /// # Safety
    /// As [`Self::input`], `p` being of the targets.
    unsafe fn colors(&self, p: &Plane, view: &ImageView, w: &mut ImageWarp) {
        let (mut at, mut inside) = ([p.at as u64; 16], 0u16);
        for l in 0..16 {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            if (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                at[l] += (pixel(x as usize, y as usize) * p.bytes) as u64;
                inside |= 1 << l;
            }
        }
        let mut t = [[0; 16]; 4];
        // SAFETY: pixels of the plane, the first one where the tile has none; colours of the view's format.
        unsafe { (view.gather)(view.format, self.tile, &at, &mut t) };
        for k in 0..4 {
            let v = view.swizzled_warp(&t, k);
            for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
                w.out[k][l] = if inside >> l & 1 != 0 { v[l] } else { 0 };
            }
        }
    }
}

/// Depth as shaders see it, from what the tile holds.
fn depth(p: &Plane, z: f32) -> f32 {
    let scale = p.depth_scale();
    if scale == 0.0 { z } else { (z as f64 / scale as f64) as f32 }
}

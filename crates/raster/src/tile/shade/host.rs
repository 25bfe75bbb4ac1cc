//! What a fragment program sees of the machine: input attachments are read from the tile, and all else from the device.

use crate::tile::memory::target::Targets;
use machine::host::DeviceHost;
use shader::bytecode::ImageCode;
use shader::ir::{Dim, ImageOp};
use std::cell::Cell;
use std::time::Duration;
use wave::{Filtering, Host, ImageProbe, ImageWarp, ImageWave, Meaning, NoteWave, Own, ProbeWave, RayWave};

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
        if code.dim == Dim::SubpassData {
            // SAFETY: the tile is this thread's.
            return unsafe { self.inputs(code, wave) };
        }
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
    fn note(&self, wave: &NoteWave) {
        self.device.note(wave);
    }
    fn probe(&self, wave: &ProbeWave) {
        self.device.probe(wave);
    }
    unsafe fn image_probe(&self, code: &ImageCode, warp: &mut ImageWarp, probe: &ImageProbe) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.device.image_probe(code, warp, probe) }
    }
    fn rays(&self, wave: &mut RayWave) {
        self.device.rays(wave);
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

//! The device as a wave sees it: images, clock, watchdog.

use crate::lost::Place;
use crate::rays::{self, Structures};
use crate::sanitizer::Sanitizer;
use crate::shared::Shared;
use crate::{debugger, descriptor_memory, footprint, image_op, texture, undefined};
use shader::bytecode::ImageCode;
use shader::ir::{Dim, RayOp};
use std::cell::RefCell;
use std::time::Duration;
use texel::sample::ImageView;
use wave::{Filtering, Host, ImageProbe, ImageWarp, ImageWave, Meaning, NoteWave, Own, ProbeWave, RayWave};

pub struct DeviceHost<'a> {
    shared: &'a Shared,
    /// Modelled time at which the workload begins.
    clock: u64,
    /// Hears of what sanitised shaders do.
    sanitizer: Option<&'a Sanitizer>,
}

impl<'a> DeviceHost<'a> {
    /// `clock`: modelled time at which what runs begins.
    pub fn at(shared: &'a Shared, clock: u64) -> DeviceHost<'a> {
        DeviceHost { shared, clock, sanitizer: None }
    }

    /// With what hears of the shaders' accesses, if they are sanitised.
    pub fn sanitized(self, sanitizer: Option<&'a Sanitizer>) -> DeviceHost<'a> {
        DeviceHost { sanitizer, ..self }
    }

    /// As [`Sanitizer::draws`].
    pub fn draws(&self, draw: Option<(u64, &Place)>) {
        if let Some(sanitizer) = self.sanitizer {
            sanitizer.draws(draw);
        }
        if let Some((serial, _)) = draw {
            debugger::shades(serial);
        }
    }

    /// Which bytes a warp's operation touches is gathered, if shaders are sanitised.
    ///
    /// # Safety
    /// As [`image_op::run`].
    #[inline]
    unsafe fn gather(&self, code: &ImageCode, warp: &ImageWarp) {
        if self.sanitizer.is_some() {
            // SAFETY: the caller's.
            unsafe { gathered(code, warp) };
        }
    }

    /// A shader is about to run `code` on a view.
    ///
    /// # Safety
    /// `view` is null or what a descriptor write stored.
    #[inline]
    unsafe fn accesses(&self, code: &ImageCode, view: u64) {
        if view != 0 && code.dim != Dim::Buffer {
            // SAFETY: not null: a descriptor write stored an image's view.
            let view = unsafe { &*(view as *const ImageView) };
            if view.image.discarded.any() {
                undefined::accessed(&*self.shared.report, code, view);
            }
        }
    }
}

/// # Safety
/// As [`image_op::run`].
#[cold]
unsafe fn gathered(code: &ImageCode, warp: &ImageWarp) {
    thread_local! {
        static BYTES: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
    }
    BYTES.with_borrow_mut(|bytes| {
        bytes.clear();
        // SAFETY: the caller's.
        unsafe { image_op::bytes(code, warp, bytes) };
        footprint::image(code, bytes);
    });
}

impl DeviceHost<'_> {
    /// The structures that rays begin in are gathered.
    #[cold]
    fn begun(&self, wave: &RayWave) {
        let structures = Structures(&self.shared.memory);
        let mut last = 0;
        for (w, lanes) in wave.warps() {
            let tops = wave.structure(w);
            for (_, top) in tops.into_iter().enumerate().filter(|(l, _)| lanes >> l & 1 == 1) {
                if let Some(bytes) = structures.at(top).filter(|_| top != last) {
                    footprint::structure(top, bytes);
                }
                last = top;
            }
        }
    }
}

// Inline, for a tile's host, in the crate above, hands on to these.
impl Host for DeviceHost<'_> {
    #[inline]
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe {
            self.gather(code, warp);
            image_op::run(code, warp)
        }
    }
    #[inline]
    unsafe fn image_each(
        &self,
        code: &ImageCode,
        warp: &mut ImageWarp,
        own: &Own,
        each: &mut dyn FnMut(Filtering, u16),
    ) {
        if self.sanitizer.is_some() {
            let all = warp.mask;
            for group in own.groups(all) {
                (warp.view, warp.sampler, warp.mask) = (group.view, group.sampler, group.mask);
                // SAFETY: the caller's descriptors.
                unsafe { self.gather(code, warp) };
            }
            warp.mask = all;
        }
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::run_each(code, warp, own, each, |view| self.accesses(code, view)) }
    }
    #[inline]
    unsafe fn image_wave(&self, code: &ImageCode, wave: &ImageWave) -> bool {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored. What is gathered is gathered by warp.
        self.sanitizer.is_none() && unsafe { image_op::run_wave(code, wave) }
    }
    #[inline]
    unsafe fn texture(&self, code: &ImageCode, view: u64, sampler: u64) -> Filtering {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe {
            self.accesses(code, view);
            texture::filtering(code, view, sampler)
        }
    }
    unsafe fn taps(&self, code: &ImageCode, warp: &ImageWarp) -> u32 {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::taps(code, warp) }
    }
    unsafe fn taps_wave(&self, code: &ImageCode, wave: &ImageWave, taps: &mut [u32; 32]) -> bool {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::taps_wave(code, wave, taps) }
    }
    unsafe fn texel_lines(&self, code: &ImageCode, warp: &ImageWarp, lines: &mut Vec<u64>) {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::lines(code, warp, lines) }
    }
    #[inline]
    unsafe fn texel_memory(&self, code: &ImageCode, warp: &ImageWarp) -> (u64, u64) {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::memory(code, warp) }
    }
    unsafe fn texel_line_count(&self, code: &ImageCode, warp: &ImageWarp) -> u64 {
        // SAFETY: the caller's descriptors are null or what descriptor writes stored.
        unsafe { image_op::line_count(code, warp) }
    }
    fn note(&self, wave: &NoteWave) {
        debugger::note(wave);
    }
    fn probe(&self, wave: &ProbeWave) {
        if let Some(sanitizer) = self.sanitizer {
            sanitizer.probe(wave);
        }
    }
    unsafe fn image_probe(&self, code: &ImageCode, warp: &mut ImageWarp, probe: &ImageProbe) {
        match self.sanitizer {
            // SAFETY: the caller's descriptors are null or what descriptor writes stored.
            Some(sanitizer) => unsafe { sanitizer.image(code, warp, probe) },
            None => warp.out[0] = [0; 16],
        }
    }
    fn rays(&self, wave: &mut RayWave) {
        let counted = self.shared.observed.counts().then_some(&self.shared.rays_begun);
        if self.sanitizer.is_some() && wave.op == RayOp::Begin {
            self.begun(wave);
        }
        rays::run(wave, &Structures(&self.shared.memory), self.shared.level, counted);
    }
    fn descriptor(&self, raw: &[u64; 4], texels: bool) -> Meaning {
        descriptor_memory::meaning(&self.shared.names, &self.shared.memory, raw, texels)
    }
    fn foreign_from(&self, addr: u64) -> Option<u64> {
        self.shared.memory.from(addr)
    }
    fn resident(&self, addr: u64) -> bool {
        texel::memory::sparse::resident(addr as *const u8)
    }
    fn clock(&self) -> u64 {
        self.clock
    }

    fn ticks(&self, [arithmetic, accesses, textures]: [u64; 3]) -> u64 {
        let m = self.shared.model;
        m.nanoseconds(m.core.waits(arithmetic, accesses, textures))
    }
    fn expired(&self) -> bool {
        self.shared.hub.stops()
    }
    fn wave_time(&self) -> Duration {
        self.shared.watchdog
    }
}

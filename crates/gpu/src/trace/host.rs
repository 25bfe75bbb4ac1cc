//! What a wave of a ray tracing pipeline finds around it: the device, and the other shaders of the pipeline.

use super::launch::Context;
use super::object::Objects;
use super::shot::Shot;
use super::stage::{Caller, LANES, Levels, Words, lanes_of};
use super::table::record;
use parking_lot::Mutex;
use shader::bytecode::ImageCode;
use shader::ir::TraceOp;
use std::collections::BTreeMap;
use std::time::Duration;
use wave::{
    Fault, Filtering, Host, ImageProbe, ImageWarp, ImageWave, Meaning, NoteWave, Own, ProbeWave, RayWave,
    TraceWave,
};

/// What an any-hit shader decides.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Decision {
    #[default]
    Accept,
    Ignore,
    /// Accept, and end the ray.
    Terminate,
}

/// What a wave's shaders are for.
pub enum Role<'a> {
    /// They may trace rays and call.
    Plain,
    /// They judge candidates, lane by lane.
    AnyHit(Mutex<Box<[Decision; LANES]>>),
    /// They look for hits in boxes, of the rays of this shot.
    Intersection(Mutex<&'a mut Shot>),
}

/// `'r`: of what the role is about.
pub struct RayHost<'a, 'r> {
    pub context: &'a Context<'a>,
    pub levels: &'a Levels<'a>,
    /// Which level of shaders the wave is of.
    pub depth: usize,
    /// Rays within rays.
    pub recursion: u32,
    pub shader: usize,
    /// What each lane is about.
    pub callers: &'a [Caller],
    pub role: Role<'r>,
    /// Hit objects of the wave's lanes.
    pub objects: Mutex<Objects>,
}

impl RayHost<'_, '_> {
    /// Runs callable shaders.
    fn call(&self, wave: &mut TraceWave) -> Result<(), Fault> {
        let context = self.context;
        let mut words = Words::take(wave);
        let mut calls: BTreeMap<usize, Vec<Caller>> = BTreeMap::new();
        for (w, mask) in wave.warps() {
            let numbers = wave.operand(0, w);
            for l in (0..16).filter(|l| mask >> l & 1 != 0) {
                let lane = w * 16 + l;
                let Some(c) = self.callers.get(lane) else { continue };
                let found =
                    record(&context.shared.memory, context.pipeline, &context.regions[3], numbers[l].into());
                if let Some((r, shader)) = found.and_then(|r| Some((r, r.group.general?))) {
                    calls.entry(shader).or_default().push(Caller { lane, record: r.data, ..*c });
                }
            }
        }
        for (shader, callers) in calls {
            let plain = |_| Role::Plain;
            self.levels.run(
                self.depth + 1,
                self.recursion,
                shader,
                &callers,
                &mut words,
                &[],
                plain,
                |_, _| {},
            )?;
        }
        words.give(wave);
        Ok(())
    }

    fn decide(&self, wave: &TraceWave, decision: Decision) {
        let Role::AnyHit(decisions) = &self.role else { return };
        let mut decisions = decisions.lock();
        for lane in lanes_of(wave) {
            if let Some(d) = decisions.get_mut(lane) {
                *d = decision;
            }
        }
    }

    fn t_max(&self, wave: &mut TraceWave) {
        for lane in lanes_of(wave) {
            let Some(c) = self.callers.get(lane) else { continue };
            let now = match &self.role {
                Role::Intersection(shot) => shot.lock().t_max(c.lane),
                _ => c.t,
            };
            wave.set(lane / 16, lane % 16, now.to_bits());
        }
    }
}

impl Host for RayHost<'_, '_> {
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.image(code, warp) }
    }
    unsafe fn image_each(
        &self,
        code: &ImageCode,
        warp: &mut ImageWarp,
        own: &Own,
        each: &mut dyn FnMut(Filtering, u16),
    ) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.image_each(code, warp, own, each) }
    }
    unsafe fn image_wave(&self, code: &ImageCode, wave: &ImageWave) -> bool {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.image_wave(code, wave) }
    }
    unsafe fn texture(&self, code: &ImageCode, view: u64, sampler: u64) -> Filtering {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.texture(code, view, sampler) }
    }
    unsafe fn taps(&self, code: &ImageCode, warp: &ImageWarp) -> u32 {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.taps(code, warp) }
    }
    unsafe fn taps_wave(&self, code: &ImageCode, wave: &ImageWave, taps: &mut [u32; 32]) -> bool {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.taps_wave(code, wave, taps) }
    }
    unsafe fn texel_lines(&self, code: &ImageCode, warp: &ImageWarp, lines: &mut Vec<u64>) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.texel_lines(code, warp, lines) }
    }
    unsafe fn texel_memory(&self, code: &ImageCode, warp: &ImageWarp) -> (u64, u64) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.texel_memory(code, warp) }
    }
    unsafe fn texel_line_count(&self, code: &ImageCode, warp: &ImageWarp) -> u64 {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.texel_line_count(code, warp) }
    }
    fn note(&self, wave: &NoteWave) {
        self.context.device.note(wave);
    }
    fn probe(&self, wave: &ProbeWave) {
        self.context.device.probe(wave);
    }
    unsafe fn image_probe(&self, code: &ImageCode, warp: &mut ImageWarp, probe: &ImageProbe) {
        // SAFETY: the caller's descriptors, for the device's host as for this.
        unsafe { self.context.device.image_probe(code, warp, probe) }
    }
    fn rays(&self, wave: &mut RayWave) {
        self.context.device.rays(wave);
    }
    fn trace(&self, wave: &mut TraceWave) -> Result<(), Fault> {
        match wave.op {
            TraceOp::Trace | TraceOp::HitTrace => Shot::trace(self, wave),
            TraceOp::Report => Shot::report(self, wave),
            TraceOp::Ignore => {
                self.decide(wave, Decision::Ignore);
                Ok(())
            }
            TraceOp::Terminate => {
                self.decide(wave, Decision::Terminate);
                Ok(())
            }
            TraceOp::Call => self.call(wave),
            TraceOp::TMax => {
                self.t_max(wave);
                Ok(())
            }
            TraceOp::HitExecute => Objects::execute(self, wave),
            _ => {
                self.objects.lock().run(self, wave);
                Ok(())
            }
        }
    }
    fn descriptor(&self, raw: &[u64; 4], texels: bool) -> Meaning {
        self.context.device.descriptor(raw, texels)
    }
    fn foreign_from(&self, addr: u64) -> Option<u64> {
        self.context.device.foreign_from(addr)
    }
    fn resident(&self, addr: u64) -> bool {
        self.context.device.resident(addr)
    }
    fn clock(&self) -> u64 {
        self.context.device.clock()
    }
    fn ticks(&self, passed: [u64; 3]) -> u64 {
        self.context.device.ticks(passed)
    }
    fn expired(&self) -> bool {
        self.context.device.expired()
    }
    fn wave_time(&self) -> Duration {
        self.context.device.wave_time()
    }
}

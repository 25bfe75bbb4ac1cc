//! Which code a program runs by: its bytecode, or that with compiled segments ([`crate::jit`]), once it has run often enough
//! that compiling pays.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::jit::ready;
use shader::bytecode::{Op, Program};
use simd::Level;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// When a worker compiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compile {
    Never,
    /// What has run a while.
    Often,
    /// Whatever it runs.
    Always,
}

impl Compile {
    /// As `TUFF_JIT` says.
    pub fn by_settings() -> Compile {
        match settings::get().jit {
            settings::Jit::Off => Compile::Never,
            settings::Jit::On => Compile::Often,
            settings::Jit::Always => Compile::Always,
        }
    }
}

/// Waves until a program is compiled: an op takes about as long to compile as it does in so many.
const WAVES: u32 = 96;

/// The ops to run, for `waves` waves to come; compiled ones do the same.
pub(crate) fn code(p: &Program, level: Level, when: Compile, waves: u64) -> &[Op] {
    if when == Compile::Never || level == Level::PORTABLE {
        return &p.code;
    }
    let tried = match p.compiled.get() {
        None => {
            let before = p.compiled.runs.fetch_add(waves.min(WAVES as u64) as u32, Relaxed);
            let now = before.saturating_add(waves.min(WAVES as u64) as u32);
            // One worker compiles: others go on meanwhile.
            if when == Compile::Often && !(before < WAVES && now >= WAVES) {
                return &p.code;
            }
            p.compiled.set(|| compile(p, level));
            p.compiled.get()
        }
        some => some,
    };
    match tried {
        Some(Some(c)) if c.level() == level.index() => {
            ready();
            c.code()
        }
        _ => &p.code,
    }
}

/// How long it has run op by op, of a program that nobody has compiled: one with loops may take long in a few waves.
pub(crate) struct Watch(Option<(Instant, Duration)>);

impl Watch {
    pub fn new(p: &Program, level: Level, when: Compile) -> Watch {
        let compiles = when == Compile::Often && level != Level::PORTABLE && p.compiled.get().is_none();
        // About what compiling takes (Zen 3: the benchmarks' kernels 50 to 400 µs, shaders of some hundred lines 2.5 µs an op).
        let enough = Duration::from_micros(100 + 4 * p.code.len() as u64);
        Watch(compiles.then(|| (Instant::now(), enough)))
    }
    /// It would have been compiled in that time; said once.
    pub fn is_up(&mut self) -> bool {
        self.0.take_if(|(since, enough)| since.elapsed() >= *enough).is_some()
    }
    /// What it took counts as so many waves, but the next is still to come.
    pub fn end(self, p: &Program) {
        let Some((since, enough)) = self.0 else { return };
        let part = since.elapsed().as_secs_f32() / enough.as_secs_f32();
        let waves = (WAVES as f32 * part.min(1.0)) as u32;
        let more = |n: u32| (n < WAVES).then(|| (n + waves).min(WAVES - 1));
        let _ = p.compiled.runs.fetch_update(Relaxed, Relaxed, more);
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn compile(p: &Program, level: Level) -> Option<Box<dyn shader::bytecode::CompiledCode>> {
    crate::jit::compile(p, level).map(|c| Box::new(c) as _)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn compile(_: &Program, _: Level) -> Option<Box<dyn shader::bytecode::CompiledCode>> {
    None
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn ready() {}

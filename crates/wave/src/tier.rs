//! Which code a program runs by: its bytecode, or that with compiled segments ([`crate::jit`]), once it has run often enough
//! that compiling pays.

use shader::bytecode::{Op, Program};
use simd::Level;
use std::sync::atomic::Ordering::Relaxed;

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
    if when == Compile::Never || level == Level::Portable {
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
        Some(Some(c)) if c.level() == level.index() => c.code(),
        _ => &p.code,
    }
}

#[cfg(target_arch = "x86_64")]
fn compile(p: &Program, level: Level) -> Option<Box<dyn shader::bytecode::CompiledCode>> {
    crate::jit::compile(p, level).map(|c| Box::new(c) as _)
}
#[cfg(not(target_arch = "x86_64"))]
fn compile(_: &Program, _: Level) -> Option<Box<dyn shader::bytecode::CompiledCode>> {
    None
}

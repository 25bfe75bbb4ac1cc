//! Programs that were changed after they were made, as one who has the key of a pipeline cache could: what the check lets through must
//! stay within its memory on every SIMD level, compiled and not, whatever it computes.

use super::engine::Memory;
use random::Random;
use shader::bytecode::{Op, Program, Reg};
use shader::ir::Stage;
use shader::options::{Binding, Options, WaveWidth};

/// Descriptors of the one set.
const DESCRIPTORS: u32 = 64;

fn binding(n: u32) -> Binding {
    Binding::new(0, n % DESCRIPTORS * 32, DESCRIPTORS)
}

/// Whether its descriptors are the set's: the code that takes a program asks the pipeline's layout.
pub fn fits(p: &Program) -> bool {
    p.bindings().iter().all(|b| (0..DESCRIPTORS).any(|n| *b == binding(n)))
}

/// The programs of modules, at every width, with what they are of.
pub fn programs<'a>(modules: impl IntoIterator<Item = (&'a str, Vec<u32>)>) -> Vec<(String, Program)> {
    let mut all = vec![];
    for (name, words) in modules {
        let Ok(module) = shader::Module::parse(&words) else { continue };
        for (entry, model) in module.entry_points() {
            let Some(stage) = Stage::ALL.into_iter().find(|s| s.model() as u32 == model) else { continue };
            for lanes in [64, 128, 256] {
                let options = Options {
                    width: WaveWidth::Lanes(lanes),
                    ..Options::new(stage, &entry, &|_, b| Some(binding(b)))
                };
                if let Ok(p) = shader::compile(&module, &options) {
                    all.push((format!("{name} {entry} {lanes}"), p));
                }
            }
        }
    }
    all
}

/// A change of one to four places: of bytes, or of what an op's fields mean.
pub fn change(p: &Program, r: &mut Random) -> Vec<u8> {
    if r.index(2) == 0 {
        let mut bytes = p.to_bytes();
        for _ in 0..1 + r.index(4) {
            let at = r.index(bytes.len());
            bytes[at] = match r.index(4) {
                0 => bytes[at] ^ 1 << r.index(8),
                1 => bytes[at].wrapping_add(1),
                2 => [0, 1, 0x7F, 0x80, 0xFF][r.index(5)],
                _ => r.u64() as u8,
            };
        }
        return bytes;
    }
    let mut p = p.clone();
    for _ in 0..1 + r.index(4) {
        let at = r.index(p.code.len());
        let other = p.code[r.index(p.code.len())];
        let reg = match r.index(4) {
            0 => Reg::NONE,
            1 => [other.d, other.a, other.b, other.c][r.index(4)],
            2 => Reg(r.index(p.units as usize + 2) as u16 | (r.u64() as u16 & Reg::UNIFORM)),
            _ => Reg(p.code[at].a.0 ^ Reg::UNIFORM),
        };
        let op: &mut Op = &mut p.code[at];
        match r.index(9) {
            0 => op.code = other.code,
            1 => op.d = reg,
            2 => op.a = reg,
            3 => op.b = reg,
            4 => op.c = reg,
            5 => op.e = if r.index(2) == 0 { other.e } else { op.e ^ 1 << r.index(16) },
            6 => op.imm = if r.index(2) == 0 { other.imm } else { op.imm ^ 1 << r.index(32) },
            7 => op.code.0 = r.index(2048) as u16,
            _ => *op = other,
        }
    }
    p.to_bytes()
}

/// What came of programs.
#[derive(Default, Debug)]
pub struct Counts {
    pub changed: u64,
    /// Let through by the check.
    pub accepted: u64,
    /// Runs of these: by level, compiled and not.
    pub runs: u64,
}

impl Counts {
    /// One more: changes a program, and runs it if the check lets it.
    pub fn one(&mut self, p: &Program, memory: &mut Memory, r: &mut Random) -> Result<(), String> {
        let bytes = change(p, r);
        self.changed += 1;
        let Some(changed) = Program::from_bytes(&bytes) else { return Ok(()) };
        if !fits(&changed) {
            return Ok(());
        }
        self.accepted += 1;
        self.runs += memory.survive(&changed, r.u64())?;
        Ok(())
    }
}

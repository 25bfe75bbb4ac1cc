//! Programs on waves: every SIMD level must leave the same memory and outputs, and nothing beyond its buffers.

use super::guarded::Guarded;
use shader::bytecode::{ImageCode, Program};
use shader::ir::{Input, Stage};
use shader::options::{Binding, Options, WaveWidth};
use simd::Level;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wave::{Compile, Dispatch, Host, ImageWarp, Job, Stop, Table, Worker};

/// What programs for [`Memory`] are compiled with.
pub fn options(stage: Stage, entry: &str, lanes: u32) -> Options<'_> {
    Options {
        width: WaveWidth::Lanes(lanes),
        ..Options::new(stage, entry, &|_, b| Some(Binding::new(0, b % DESCRIPTORS as u32 * 32, 64)))
    }
}

/// How often a program may ask whether it is to stop (every some thousand iterations of a loop); one that asks more is not
/// compared.
const PATIENCE: u32 = 6;
/// Descriptors of the one table, and bytes of the buffers that they name in turn.
const DESCRIPTORS: usize = 64;
const SIZES: [usize; 8] = [16384, 4096, 256, 64, 8192, 16, 1024, 0];

/// No images: what is sampled or read is 0.
struct Machine {
    asked: AtomicU32,
}

impl Host for Machine {
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        for i in 0..code.results.len().min(4) {
            for l in (0..16).filter(|l| warp.mask >> l & 1 != 0) {
                (warp.out[i][l], warp.out_hi[i][l]) = (0, 0);
            }
        }
    }
    fn foreign_from(&self, _: u64) -> Option<u64> {
        None
    }
    fn clock(&self) -> u64 {
        1
    }
    fn expired(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= PATIENCE
    }
}

/// What a program left.
#[derive(PartialEq)]
struct Left {
    buffers: Vec<Vec<u8>>,
    /// Each output's lanes that ran to the end.
    outputs: Vec<Vec<u32>>,
}

/// How a program did.
pub enum Ran {
    Same,
    /// Time was up, or it faulted everywhere.
    Stopped,
    /// What is wrong.
    Wrong(String),
}

pub struct Memory {
    buffers: Vec<Guarded>,
    push: Vec<u8>,
}

impl Memory {
    pub fn new() -> Memory {
        Memory { buffers: SIZES.iter().map(|s| Guarded::new(*s)).collect(), push: vec![0; 256] }
    }

    fn fill(&mut self, seed: u64) {
        self.buffers.iter_mut().zip(seed..).for_each(|(b, s)| b.fill(s));
        let mut r = random::Random::new(!seed);
        self.push.iter_mut().for_each(|b| *b = r.u64() as u8 & 31);
    }

    /// On one level, compiled or not: what is left, or what stopped it; and whether something before a buffer changed.
    fn once(&mut self, p: &Program, level: Level, when: Compile, seed: u64) -> Result<Left, Stop> {
        self.fill(seed);
        let table: Vec<[u64; 4]> = (0..DESCRIPTORS)
            .map(|n| &self.buffers[n % SIZES.len()])
            .map(|b| if b.size() == 0 { [0; 4] } else { [b.address(), b.size(), 0, 0] })
            .collect();
        let tables = [Table { ptr: table.as_ptr().cast(), size: (DESCRIPTORS * 32) as u64 }];
        let host = Machine { asked: AtomicU32::new(0) };
        let mut worker = Worker::compiling(level, when);
        let arena = wave::Arena::NONE;
        let outputs = if p.stage == Stage::Compute {
            let d = Dispatch {
                serial: 1,
                program: p,
                tables: &tables,
                push: &self.push,
                host: &host,
                base: [0; 3],
                groups: [3, 1, 1],
                arena,
                draw: [0; 2],
            };
            worker.run(&d, 0, u64::MAX)?;
            vec![]
        } else {
            let job = Job { serial: 1, program: p, tables: &tables, push: &self.push, host: &host, arena };
            draw(&mut worker, &job, seed)?
        };
        Ok(Left { buffers: self.buffers.iter().map(Guarded::all).collect(), outputs })
    }

    /// On every level, whatever comes of it: how many runs there were, or what is wrong.
    #[allow(dead_code, reason = "each program uses a part")]
    pub fn survive(&mut self, p: &Program, seed: u64) -> Result<u64, String> {
        self.fill(seed);
        let before: Vec<Vec<u8>> = self.buffers.iter().map(Guarded::before).collect();
        let mut runs = 0;
        for way in ways() {
            // Time may be up, or an address none.
            let _ = self.once(&p.clone(), way.0, way.1, seed);
            runs += 1;
            if self.buffers.iter().zip(&before).any(|(b, was)| b.before() != *was) {
                return Err(format!("{way:?}: something before a buffer has changed"));
            }
        }
        Ok(runs)
    }

    /// On every level.
    pub fn run(&mut self, p: &Program, seed: u64) -> Ran {
        self.fill(seed);
        let before: Vec<Vec<u8>> = self.buffers.iter().map(Guarded::before).collect();
        let mut first: Option<((Level, Compile), Result<Left, Stop>)> = None;
        let mut stopped = false;
        for way in ways() {
            // A program keeps the compiled code of one level.
            let left = self.once(&p.clone(), way.0, way.1, seed);
            if self.buffers.iter().zip(&before).any(|(b, was)| b.before() != *was) {
                return Ran::Wrong(format!("{way:?}: something before a buffer has changed"));
            }
            stopped |= left.is_err();
            match &first {
                None => first = Some((way, left)),
                Some((one, was)) => match (was, &left) {
                    (Ok(a), Ok(b)) if a != b => {
                        return Ran::Wrong(format!("{one:?} and {way:?} differ: {}", difference(a, b)));
                    }
                    _ => {}
                },
            }
        }
        if stopped { Ran::Stopped } else { Ran::Same }
    }
}

/// Levels, compiled or not.
fn ways() -> impl Iterator<Item = (Level, Compile)> {
    let both = |level: Level| [(level, Compile::Never), (level, Compile::Always)];
    Level::tested().into_iter().flat_map(both).filter(|w| *w != (Level::PORTABLE, Compile::Always))
}

fn difference(a: &Left, b: &Left) -> String {
    for (n, (x, y)) in a.buffers.iter().zip(&b.buffers).enumerate() {
        if let Some(at) = (0..x.len()).find(|i| x[*i] != y[*i]) {
            let word = at & !3;
            return format!("buffer {n}, byte {at}: {:x?} {:x?}", &x[word..word + 4], &y[word..word + 4]);
        }
    }
    for (n, (x, y)) in a.outputs.iter().zip(&b.outputs).enumerate() {
        if let Some(at) = (0..x.len().min(y.len())).find(|i| x[*i] != y[*i]) {
            return format!("output {n}, lane {at}: {:#x} {:#x}", x[at], y[at]);
        }
    }
    "in how many lanes are left".into()
}

/// One wave of vertices or fragments with numbers that a seed decides for inputs; gives the outputs.
fn draw(worker: &mut Worker, job: &Job, seed: u64) -> Result<Vec<Vec<u32>>, Stop> {
    let p = job.program;
    let mut lanes = worker.open(job)?;
    for (i, &(input, _)) in p.inputs.iter().enumerate() {
        let mut r = random::Random::new(seed ^ (i as u64) << 40);
        match input {
            Input::SubgroupLane => {}
            Input::FrontFacing | Input::HelperInvocation | Input::FullyCovered => {
                lanes.input_mask(i).iter_mut().for_each(|m| *m = r.u64() as u16);
            }
            _ => {
                let mut number = || match r.index(3) {
                    0 => r.index(16) as u32,
                    1 => (r.index(1000) as f32 / 100.0 - 5.0).to_bits(),
                    _ => (r.index(256) as f32).to_bits(),
                };
                match lanes.input(i) {
                    // What all lanes have in common.
                    [one] => *one = [number(); 16],
                    rows => rows.iter_mut().for_each(|row| *row = std::array::from_fn(|_| number())),
                }
            }
        }
    }
    let warps = p.lanes as usize / 16;
    let all: [u16; 32] = std::array::from_fn(|w| if w < warps { 0xFFFF } else { 0 });
    *lanes.exec() = all;
    *lanes.alive() = all;
    lanes.run()?;
    let alive = *lanes.alive();
    let left = |l: &usize| alive[l / 16] >> (l % 16) & 1 != 0;
    let count = lanes.count();
    Ok((0..p.outputs.len())
        .map(|i| {
            let rows = lanes.output(i);
            // An output is a register: which NaN it is is nobody's promise.
            let settled = |bits: u32| if f32::from_bits(bits).is_nan() { f32::NAN.to_bits() } else { bits };
            let row = |l: usize| settled(rows[if rows.len() == 1 { 0 } else { l / 16 }][l % 16]);
            (0..count).filter(left).map(row).collect()
        })
        .collect())
}

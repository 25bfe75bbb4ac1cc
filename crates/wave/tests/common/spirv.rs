//! Runs compute shaders from SPIR-V on one thread: storage buffers at set 0, push constants.
#![allow(dead_code)]

use random::Random;
use shader::bytecode::{ImageCode, Program};
use shader::ir::Stage;
use shader::options::{Binding, DESCRIPTOR_BYTES, Options, WaveWidth};
use simd::Level;
use wave::{Dispatch, Host, ImageWarp, Table, Worker};

pub fn load(path: &str) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    shader::words(&bytes)
}

pub fn compile(words: &[u32], lanes: Option<u32>) -> shader::options::Result<Program> {
    let module = shader::Module::parse(words)?;
    let binding =
        |set: u32, binding: u32| (set == 0).then_some(Binding::new(0, binding * DESCRIPTOR_BYTES, 1));
    shader::compile(
        &module,
        &Options {
            width: lanes.map_or(WaveWidth::BEST, WaveWidth::Lanes),
            ..Options::new(Stage::Compute, "main", &binding)
        },
    )
}

pub struct NoHost;
impl Host for NoHost {
    unsafe fn image(&self, _: &ImageCode, _: &mut ImageWarp) {}
    fn foreign_from(&self, _: u64) -> Option<u64> {
        None
    }
    fn clock(&self) -> u64 {
        0
    }
    fn expired(&self) -> bool {
        false
    }
}

/// The same numbers on every run: floats in [0, 1) or raw words.
pub fn fill(bytes: usize, raw: bool, seed: u32) -> Vec<u32> {
    let mut r = Random::new(seed.into());
    (0..bytes / 4).map(|_| if raw { r.u32() } else { r.unit().to_bits() }).collect()
}

/// A benchmark shader of benches/kernels: buffer sizes in bytes, groups, n.
pub struct Kernel {
    pub name: &'static str,
    pub buffers: &'static [usize],
    pub groups: [u32; 3],
    pub push: &'static [u32],
    pub raw: bool,
}
const KI: usize = 1024;
const MI: usize = 1024 * 1024;
const fn kernel(
    name: &'static str,
    buffers: &'static [usize],
    x: u32,
    y: u32,
    push: &'static [u32],
    raw: bool,
) -> Kernel {
    Kernel { name, buffers, groups: [x, y, 1], push, raw }
}
pub const KERNELS: [Kernel; 10] = [
    kernel("mandel", &[4 * MI], 64, 64, &[], false),
    kernel("saxpy", &[64 * MI, 64 * MI], 65536, 1, &[], false),
    kernel("sgemm", &[MI, MI, MI], 32, 32, &[512], false),
    kernel("sgemmt", &[MI, MI, MI], 32, 32, &[512], false),
    kernel("nbody", &[64 * KI, 64 * KI], 16, 1, &[4096], false),
    kernel("trans", &[4 * MI, 4 * MI], 4096, 1, &[], false),
    kernel("lut", &[4 * MI, 4 * KI], 4096, 1, &[], true),
    kernel("march", &[MI], 32, 32, &[], false),
    kernel("med", &[4 * KI, 4 * KI], 256, 1, &[], false),
    kernel("large", &[4 * KI, 4 * KI], 256, 1, &[], false),
];

impl Kernel {
    pub fn path(&self) -> String {
        format!("{}/../../benches/kernels/{}.spv", env!("CARGO_MANIFEST_DIR"), self.name)
    }
    pub fn memory(&self) -> Vec<Vec<u32>> {
        self.buffers.iter().enumerate().map(|(i, &b)| fill(b, self.raw, i as u32 + 1)).collect()
    }
}

/// Runs workgroups `first .. first + count` on `worker`.
pub fn run(
    worker: &mut Worker,
    p: &Program,
    buffers: &mut [Vec<u32>],
    push: &[u32],
    groups: [u32; 3],
    serial: u64,
) {
    let table: Vec<[u64; 4]> =
        buffers.iter_mut().map(|b| [b.as_mut_ptr() as u64, b.len() as u64 * 4, 0, 0]).collect();
    let tables = [Table { ptr: table.as_ptr() as *const u8, size: table.len() as u64 * 32 }];
    let mut bytes = [0u8; 128];
    for (i, w) in push.iter().enumerate() {
        bytes[i * 4..][..4].copy_from_slice(&w.to_le_bytes());
    }
    let d = Dispatch {
        serial,
        program: p,
        tables: &tables,
        push: &bytes,
        host: &NoHost,
        base: [0; 3],
        groups,
        arena: wave::Arena::NONE,
        draw: [0; 2],
    };
    worker.run(&d, 0, u64::MAX).unwrap_or_else(|f| panic!("{f:?}"));
}

pub fn worker(level: Level) -> Worker {
    Worker::new(level)
}

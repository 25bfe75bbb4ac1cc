//! A small assembler of bytecode, and a host, for tests of the engine.
#![allow(dead_code)]

pub mod lab;

use shader::bytecode::*;
use shader::ir::{Input, Ty};
use simd::Level;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wave::{Dispatch, Host, ImageWarp, Stop, Table, Worker};

pub fn levels() -> Vec<Level> {
    Level::tested()
}

/// A program being written. Registers are handed out in order, never reused.
pub struct Asm {
    pub p: Program,
}

impl Asm {
    pub fn new(lanes: u32, workgroup: [u32; 3]) -> Asm {
        Asm {
            p: Program {
                lanes,
                workgroup,
                multi_wave: workgroup.iter().product::<u32>() > lanes,
                ..Program::empty()
            },
        }
    }
    fn units(&mut self, n: u32) -> u16 {
        let u = self.p.units;
        self.p.units += n;
        u as u16
    }
    /// A varying 32-bit register.
    pub fn v(&mut self) -> Reg {
        let n = self.p.lanes / 16;
        Reg::varying(self.units(n))
    }
    /// A varying 64-bit register.
    pub fn v64(&mut self) -> Reg {
        let n = self.p.lanes / 8;
        Reg::varying(self.units(n))
    }
    pub fn u(&mut self) -> Reg {
        Reg::uniform(self.units(1))
    }
    pub fn u64(&mut self) -> Reg {
        Reg::uniform(self.units(2))
    }
    /// A Bool register.
    pub fn m(&mut self) -> Reg {
        Reg::varying(self.units(1))
    }
    pub fn c(&mut self, v: u32) -> Reg {
        let r = self.u();
        self.p.consts.push((r, Ty::B32, v as u64));
        r
    }
    pub fn c64(&mut self, v: u64) -> Reg {
        let r = self.u64();
        self.p.consts.push((r, Ty::B64, v));
        r
    }
    pub fn input(&mut self, i: Input) -> Reg {
        let r = self.v();
        self.p.inputs.push((i, r));
        r
    }
    pub fn input_u(&mut self, i: Input) -> Reg {
        let r = self.u();
        self.p.inputs.push((i, r));
        r
    }
    pub fn op(&mut self, code: Code, d: Reg, a: Reg, b: Reg, c: Reg, e: u16, imm: u32) -> usize {
        self.p.code.push(Op { code, d, a, b, c, e, imm });
        self.p.code.len() - 1
    }
    pub fn ext(&mut self, r: &[Reg]) {
        for c in r.chunks(8) {
            let mut x = [Reg::NONE; 8];
            x[..c.len()].copy_from_slice(c);
            self.p.code.push(Op::ext(x));
        }
    }
    pub fn here(&self) -> u32 {
        self.p.code.len() as u32
    }
    /// Sets the jump target of op `i` to the next op.
    pub fn land(&mut self, i: usize) {
        self.p.code[i].imm = self.here();
    }
    /// Descriptor of element 0 of the table's slot `k`.
    pub fn desc(&mut self, table: u16, k: u32) -> Reg {
        let d = self.u64();
        self.op(Code::DESC, d, Reg::NONE, Reg::NONE, Reg::NONE, table, k * 32);
        self.words([32, 1, 0, 0]);
        d
    }
    pub fn words(&mut self, w: [u32; 4]) {
        let h: Vec<Reg> = w.iter().flat_map(|w| [Reg(*w as u16), Reg((w >> 16) as u16)]).collect();
        self.ext(&h);
    }
    pub fn end(&mut self) {
        self.op(Code::END, Reg::NONE, Reg::NONE, Reg::NONE, Reg::NONE, 0, 0);
    }
}

/// A host without images; `stop_after` questions it says that time is up.
pub struct TestHost {
    pub stop_after: u64,
    pub asked: AtomicU64,
    pub foreign: Option<(u64, u64)>,
    /// Addresses without memory.
    pub hole: Option<(u64, u64)>,
    pub wave_time: Duration,
}
impl Default for TestHost {
    fn default() -> TestHost {
        TestHost {
            stop_after: u64::MAX,
            asked: AtomicU64::new(0),
            foreign: None,
            hole: None,
            wave_time: Duration::MAX,
        }
    }
}
impl Host for TestHost {
    /// Result i of a lane = coordinate i + (view << 16) + (sampler << 24) + number of lanes served together << 28.
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp) {
        for i in 0..code.results.len() {
            for l in 0..16 {
                if warp.mask >> l & 1 != 0 {
                    let c = warp.coords[i.min(code.coords.len() - 1)][l];
                    let n = warp.mask.count_ones();
                    warp.out[i][l] =
                        c + ((warp.view as u32) << 16) + ((warp.sampler as u32) << 20) + (n << 24);
                    warp.out_hi[i][l] = 7;
                }
            }
        }
    }
    fn foreign_from(&self, addr: u64) -> Option<u64> {
        self.foreign.filter(|(a, _)| addr >= *a).and_then(|(_, b)| b.checked_sub(addr))
    }
    fn resident(&self, addr: u64) -> bool {
        self.hole.is_none_or(|(a, b)| addr < a || addr >= b)
    }
    fn clock(&self) -> u64 {
        0x1_0000_0002
    }
    fn expired(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.stop_after
    }
    fn wave_time(&self) -> Duration {
        self.wave_time
    }
}

/// Memory of a dispatch: a table of buffer descriptors over byte vectors.
pub struct Run<'a> {
    pub p: &'a Program,
    pub buffers: Vec<Vec<u8>>,
    /// Sizes in descriptors; the buffer's size where `None`.
    pub sizes: Vec<Option<u64>>,
    pub push: Vec<u8>,
    pub groups: [u32; 3],
    pub base: [u32; 3],
    pub host: TestHost,
    pub arena: wave::Arena,
}

pub fn words(w: &[u32]) -> Vec<u8> {
    w.iter().flat_map(|w| w.to_le_bytes()).collect()
}
pub fn to_words(b: &[u8]) -> Vec<u32> {
    b.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

impl<'a> Run<'a> {
    pub fn new(p: &'a Program, buffers: Vec<Vec<u8>>) -> Run<'a> {
        let sizes = vec![None; buffers.len()];
        Run {
            p,
            buffers,
            sizes,
            push: vec![],
            groups: [1; 3],
            base: [0; 3],
            host: TestHost::default(),
            arena: wave::Arena::NONE,
        }
    }
    /// Runs on a new worker of `level`, in two parts with one serial; returns the buffers.
    pub fn go(&self, level: Level) -> Result<Vec<Vec<u8>>, Stop> {
        let mut buffers = self.buffers.clone();
        let table: Vec<[u64; 4]> = buffers
            .iter_mut()
            .zip(&self.sizes)
            .map(|(b, s)| [b.as_mut_ptr() as u64, s.unwrap_or(b.len() as u64), 0, 0])
            .collect();
        let tables = [Table { ptr: table.as_ptr() as *const u8, size: table.len() as u64 * 32 }];
        let d = Dispatch {
            serial: 1,
            program: self.p,
            tables: &tables,
            push: &self.push,
            host: &self.host,
            base: self.base,
            groups: self.groups,
            arena: self.arena,
            draw: [0; 2],
        };
        let mut w = Worker::new(level);
        let total: u64 = self.groups.iter().map(|&g| g as u64).product();
        let half = total.div_ceil(2);
        w.run(&d, 0, half)?;
        w.run(&d, half, u64::MAX)?;
        Ok(buffers)
    }
    /// Runs on every level and checks that all give `want` in buffer 0.
    #[track_caller]
    pub fn expect(&self, want: &[u32]) {
        for level in levels() {
            let got = to_words(&self.go(level).unwrap_or_else(|f| panic!("{level:?}: {f:?}"))[0]);
            if got != want {
                let i = got.iter().zip(want).position(|(a, b)| a != b).unwrap_or(got.len().min(want.len()));
                panic!("{level:?}: word {i}: {:#x?}, expected {:#x?}", got.get(i), want.get(i));
            }
        }
    }
}

//! Runs single ops on a register file of its own.
#![allow(dead_code)]

use random::Random;
use shader::bytecode::{Code, Op, Reg};
use shader::ir::Ty;
use simd::Level;
use wave::host::{Host, ImageWarp};
use wave::kernels;
use wave::state::{State, Status};

pub struct NoHost;
impl Host for NoHost {
    unsafe fn image(&self, _: &shader::bytecode::ImageCode, _: &mut ImageWarp) {}
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

#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Unit(pub [u8; 64]);

/// Registers a, b, c at units 0, 32, 64 and the result at 96.
pub const UNITS: usize = 128;
pub const RESULT: u16 = 96;

pub fn levels() -> Vec<Level> {
    Level::tested()
}

pub struct Bench {
    pub regs: Vec<Unit>,
    pub lanes: usize,
    pub live: u32,
}

impl Bench {
    pub fn new(lanes: usize) -> Bench {
        Bench { regs: vec![Unit([0xA5; 64]); UNITS], lanes, live: (1 << (lanes / 16)) - 1 }
    }
    fn bytes(&mut self) -> &mut [u8] {
        let n = self.regs.len() * 64;
        // Units are plain bytes.
        unsafe { std::slice::from_raw_parts_mut(self.regs.as_mut_ptr().cast(), n) }
    }
    /// Byte and bit position of a lane's value.
    fn place(ty: Ty, unit: usize, lane: usize) -> usize {
        unit * 64
            + match ty {
                Ty::B64 => lane * 8,
                Ty::Bool => lane / 16 * 2,
                _ => lane * 4,
            }
    }
    pub fn set(&mut self, ty: Ty, unit: usize, lane: usize, v: u64) {
        let p = Self::place(ty, unit, lane);
        let bytes = self.bytes();
        match ty {
            Ty::B64 => bytes[p..p + 8].copy_from_slice(&v.to_le_bytes()),
            Ty::Bool => {
                let old = u16::from_le_bytes([bytes[p], bytes[p + 1]]);
                let bit = 1 << (lane % 16);
                let new = if v & 1 != 0 { old | bit } else { old & !bit };
                bytes[p..p + 2].copy_from_slice(&new.to_le_bytes());
            }
            _ => bytes[p..p + 4].copy_from_slice(&(v as u32).to_le_bytes()),
        }
    }
    pub fn get(&mut self, ty: Ty, unit: usize, lane: usize) -> u64 {
        let p = Self::place(ty, unit, lane);
        let bytes = self.bytes();
        match ty {
            Ty::B64 => u64::from_le_bytes(bytes[p..p + 8].try_into().unwrap()),
            Ty::Bool => (u16::from_le_bytes([bytes[p], bytes[p + 1]]) >> (lane % 16) & 1) as u64,
            _ => u32::from_le_bytes(bytes[p..p + 4].try_into().unwrap()) as u64,
        }
    }
    pub fn run(&mut self, level: Level, op: &Op) {
        let Code(code) = op.code;
        let kernel = kernels::table(level)[code as usize];
        with_state(self, |st| {
            // The state describes this register file, and the level is available.
            let next = unsafe { kernel(st, op) };
            assert_eq!(st.status, Status::Running, "{op:?} has no kernel");
            assert_eq!(next, (op as *const Op).wrapping_add(1));
        });
    }
}

pub fn with_state<R>(b: &mut Bench, f: impl FnOnce(&mut State) -> R) -> R {
    let warps = (b.lanes / 16) as u32;
    let mut rows = [wave::tally::Row::default()];
    let mut st = State {
        queries: std::ptr::null_mut(),
        query_count: 0,
        // SAFETY: rows and host outlive the state.
        count: unsafe { wave::tally::Counting::at(&mut rows) },
        alive: [!0; 32],
        exec: [0; 32],
        regs: b.regs.as_mut_ptr().cast(),
        live: b.live,
        all: (1 << warps) - 1,
        warps,
        code: std::ptr::null(),
        pc: std::ptr::null(),
        tables: std::ptr::null(),
        table_count: 0,
        push: std::ptr::null(),
        push_bytes: 0,
        shared: std::ptr::null_mut(),
        shared_bytes: 0,
        packed: false,
        shared_at: [0; 16],
        scratch: std::ptr::null_mut(),
        scratch_words: 0,
        arena: wave::Arena::NONE,
        images: std::ptr::null(),
        embedded: std::ptr::null(),
        program: std::ptr::null(),
        data: std::ptr::null(),
        // SAFETY: as above.
        host: unsafe { wave::HostRef::new(&NoHost) },
        patience: 0,
        keeps_denormals: true,
        asked: None,
        status: Status::Running,
        yields: false,
        alone: false,
        made: std::ptr::null_mut(),
        image_warp: std::ptr::null_mut(),
        rays: std::ptr::null_mut(),
    };
    for w in 0..warps as usize {
        if b.live >> w & 1 != 0 {
            st.exec[w] = 0xFFFF;
        }
    }
    f(&mut st)
}

pub fn operand(unit: u16, uniform: bool) -> Reg {
    if uniform { Reg::uniform(unit) } else { Reg::varying(unit) }
}

const SPECIAL: [u32; 16] = [
    0,
    0x8000_0000,
    1,
    0x8080_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0x4B80_0000,
    0xCF00_0001,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    31,
    0xFFFF_FFFF,
];

fn sample(rng: &mut Random) -> u32 {
    match rng.below(6) {
        0 => SPECIAL[rng.below(16) as usize],
        1 => rng.below(70),
        2 | 3 => ((rng.below(2000) as f32 - 1000.0) * 0.25).to_bits(),
        4 => (100 + rng.below(50)) << 23 | rng.u64() as u32 >> 9 | (rng.u64() as u32) << 31,
        _ => rng.u64() as u32,
    }
}

/// Units from one sampled operand to the next.
pub const STEP: u16 = 16;

/// Puts operands of 32 bits, random and special values, at units 0, [`STEP`], 2·`STEP`, …; `uniform` has a bit for each
/// that all lanes have the same of.
pub fn sampled(b: &mut Bench, operands: usize, uniform: u32, rng: &mut Random) -> Vec<Reg> {
    let one = |i: usize| {
        let (unit, uniform) = (i as u16 * STEP, uniform >> i & 1 != 0);
        let lanes = if uniform { 16 } else { b.lanes };
        let mut v = 0;
        for lane in 0..lanes {
            if lane == 0 || !uniform {
                v = sample(rng);
            }
            b.set(Ty::B32, unit as usize, lane, v as u64);
        }
        operand(unit, uniform)
    };
    (0..operands).map(one).collect()
}

/// A fused op's result against that of the same ops one after the other, for a NaN any; where a warp is dead, against
/// the registers as they were `before`.
pub fn assert_same(b: &mut Bench, before: &[Unit], result: u16, alone: u16, what: &dyn std::fmt::Debug) {
    for lane in 0..b.lanes {
        if b.live >> (lane / 16) & 1 == 0 {
            let unit = result as usize + lane / 16;
            assert_eq!(b.regs[unit].0, before[unit].0, "{what:?}: a dead warp was written");
            continue;
        }
        let got = b.get(Ty::B32, result as usize, lane) as u32;
        let want = b.get(Ty::B32, alone as usize, lane) as u32;
        let nan = f32::from_bits(got).is_nan() && f32::from_bits(want).is_nan();
        assert!(got == want || nan, "{what:?} lane {lane}: {got:#x}, expected {want:#x}");
    }
}

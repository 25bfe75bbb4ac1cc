//! Runs single ops on a register file of its own.
#![allow(dead_code)]

use shader::bytecode::{Code, Op, Reg};
use shader::ir::Ty;
use simd::Level;
use wave::host::{Host, ImageWarp};
use wave::kernels;
use wave::state::{State, Status};

pub struct NoHost;
impl Host for NoHost {
    unsafe fn image(&self, _: &shader::bytecode::ImageCode, _: &mut ImageWarp) {}
    fn foreign(&self, _: u64, _: u64) -> bool {
        false
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

/// xorshift64*
pub struct Rng(pub u64);
impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
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
        arena: (0, 0),
        images: std::ptr::null(),
        // SAFETY: as above.
        host: unsafe { wave::HostRef::new(&NoHost) },
        patience: 0,
        status: Status::Running,
        yields: false,
        made: std::ptr::null_mut(),
        image_warp: std::ptr::null_mut(),
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

//! One op on its own: a register file filled at will, run on every level.
#![allow(dead_code)]

use random::Random;
use shader::bytecode::{ImageCode, Op, Reg};
use simd::Level;
use wave::cache::Traced;
use wave::kernels::{control::PATIENCE, table};
use wave::{Host, ImageWarp, State, Status, Table};

/// Full, empty or random masks of 16 warps, not all empty.
pub fn masks(r: &mut Random) -> [u16; 16] {
    let mut m = [0; 16];
    while m == [0; 16] {
        m = std::array::from_fn(|_| match r.below(4) {
            0 => 0xFFFF,
            1 => 0,
            2 => 1 << r.below(16),
            _ => r.u32() as u16,
        });
    }
    m
}

#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Unit(pub [u32; 16]);

/// A wave of 256 lanes.
#[derive(Clone)]
pub struct Lab {
    pub regs: Vec<Unit>,
    pub exec: [u16; 16],
    /// Workgroup memory: one piece after the other for each of `groups` workgroups of as many warps.
    pub shared: Vec<u8>,
    pub groups: usize,
    pub scratch: Vec<u8>,
    pub scratch_words: u32,
    pub push: Vec<u8>,
    pub arena: wave::Arena,
    pub images: Vec<ImageCode>,
    /// Accesses are followed through the modelled caches, which begin empty.
    pub traced: bool,
    /// What the last run counted.
    pub row: wave::tally::Row,
    /// Lines looked up, and missed in the first cache.
    pub looked_up: (u64, u64),
}

impl Lab {
    pub fn new(units: usize, exec: [u16; 16]) -> Lab {
        Lab {
            regs: vec![Unit([0xDEAD_BEEF; 16]); units],
            exec,
            shared: vec![],
            groups: 1,
            scratch: vec![],
            scratch_words: 0,
            push: vec![],
            arena: wave::Arena::NONE,
            images: vec![],
            traced: false,
            row: Default::default(),
            looked_up: (0, 0),
        }
    }
    pub fn set(&mut self, r: Reg, lane: usize, v: u32) {
        self.regs[r.unit() + if r.is_uniform() { 0 } else { lane / 16 }].0[lane % 16] = v;
    }
    pub fn get(&self, r: Reg, lane: usize) -> u32 {
        self.regs[r.unit() + if r.is_uniform() { 0 } else { lane / 16 }].0[lane % 16]
    }
    fn at64(r: Reg, lane: usize) -> (usize, usize) {
        let w = if r.is_uniform() { 0 } else { lane / 16 };
        (r.unit() + w * 2 + lane % 16 / 8, lane % 8 * 2)
    }
    pub fn set64(&mut self, r: Reg, lane: usize, v: u64) {
        let (u, i) = Self::at64(r, lane);
        self.regs[u].0[i] = v as u32;
        self.regs[u].0[i + 1] = (v >> 32) as u32;
    }
    pub fn get64(&self, r: Reg, lane: usize) -> u64 {
        let (u, i) = Self::at64(r, lane);
        self.regs[u].0[i] as u64 | (self.regs[u].0[i + 1] as u64) << 32
    }
    /// All lanes of a uniform register.
    pub fn set_u(&mut self, r: Reg, v: u32) {
        (0..16).for_each(|l| self.set(r, l, v));
    }
    pub fn set_u64(&mut self, r: Reg, v: u64) {
        (0..16).for_each(|l| self.set64(r, l, v));
    }
    /// The workgroup of warp `w`.
    pub fn group_of(&self, w: usize) -> usize {
        w * self.groups / 16
    }
    pub fn active(&self) -> Vec<usize> {
        (0..256).filter(|l| self.exec[l / 16] >> (l % 16) & 1 != 0).collect()
    }
    /// Runs the op (and its ext words) once; returns the status and how many ops it took.
    pub fn run(&mut self, level: Level, ops: &[Op], host: &dyn Host) -> (Status, usize) {
        self.steps(level, ops, host, 1)
    }

    /// Runs ops one after the other until the last has run.
    pub fn run_through(&mut self, level: Level, ops: &[Op], host: &dyn Host) -> Status {
        self.steps(level, ops, host, usize::MAX).0
    }

    /// Runs so many ops; where that leads, in ops from the first.
    fn steps(&mut self, level: Level, ops: &[Op], host: &dyn Host, steps: usize) -> (Status, usize) {
        let mut exec = [0; 32];
        exec[..16].copy_from_slice(&self.exec);
        let live = (0..16).fold(0, |l, w| l | ((self.exec[w] != 0) as u32) << w);
        let mut made = wave::MadeUp::default();
        let mut rays = wave::tally::RayCounts::default();
        // SAFETY: plain numbers.
        let mut warp: Box<ImageWarp> = unsafe { Box::new(std::mem::zeroed()) };
        let mut cache = Box::<wave::cache::Cache>::default();
        cache.begin(wave::cache::Sizes::of_kib(16, 32, 2048));
        let mut code = ops.to_vec();
        code.push(Op::new(shader::bytecode::Code::END));
        // It begins a line, as the worker's does: lines are counted by address.
        let mut lines = vec![Unit([0; 16]); self.shared.len().div_ceil(64)];
        let shared: *mut u8 = lines.as_mut_ptr().cast();
        // SAFETY: everything the state points at outlives it; the aligned memory is as large as the test's.
        unsafe {
            shared.copy_from_nonoverlapping(self.shared.as_ptr(), self.shared.len());
            let mut rows = [wave::tally::Row::default(); 4];
            let count = wave::tally::Counting::at(&mut rows);
            let count = if self.traced { count.through(&mut cache) } else { count };
            let mut st = State {
                queries: std::ptr::null_mut(),
                query_count: 0,
                count,
                alive: [!0; 32],
                exec,
                regs: self.regs.as_mut_ptr() as *mut u8,
                live,
                all: 0xFFFF,
                warps: 16,
                code: code.as_ptr(),
                pc: code.as_ptr(),
                tables: std::ptr::null::<Table>(),
                table_count: 0,
                push: self.push.as_ptr(),
                push_bytes: self.push.len() as u32,
                shared,
                shared_bytes: (self.shared.len() / self.groups) as u32,
                packed: self.groups > 1,
                shared_at: std::array::from_fn(|w| {
                    (self.shared.len() / self.groups * self.group_of(w)) as u32
                }),
                scratch: self.scratch.as_mut_ptr(),
                scratch_words: self.scratch_words,
                arena: self.arena,
                images: self.images.as_ptr(),
                embedded: std::ptr::null(),
                program: std::ptr::null(),
                data: std::ptr::null(),
                host: wave::HostRef::new(host),
                patience: PATIENCE,
                keeps_denormals: false,
                asked: None,
                status: Status::Running,
                yields: false,
                alone: false,
                made: &mut made,
                image_warp: &mut *warp,
                rays: &mut rays,
            };
            let mut next = code.as_ptr();
            for _ in 0..steps {
                next = table(level)[(*next).code.0 as usize](&mut st, next);
                if next.is_null() {
                    break;
                }
            }
            self.shared.as_mut_ptr().copy_from_nonoverlapping(shared, self.shared.len());
            self.row = rows[0];
            let sum = |what: Traced| cache.lines.iter().map(|t| t[what]).sum();
            self.looked_up = (sum(Traced::Lookups), sum(Traced::Missed));
            let n = if next.is_null() { 0 } else { next.offset_from(code.as_ptr()) as usize };
            (st.status, n)
        }
    }
}

/// A load or store and its ext words: one component in each of `data`.
pub fn memory_ops(op: Op, data: impl IntoIterator<Item = Reg>) -> Vec<Op> {
    let data: Vec<Reg> = data.into_iter().collect();
    if let [one] = data[..] {
        return vec![Op { d: one, ..op }];
    }
    let mut v = vec![Op { d: Reg::NONE, ..op }];
    for c in data.chunks(8) {
        let mut x = [Reg::NONE; 8];
        x[..c.len()].copy_from_slice(c);
        v.push(Op::ext(x));
    }
    v
}

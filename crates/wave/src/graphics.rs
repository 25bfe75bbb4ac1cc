//! Vertex and fragment waves: lanes that the caller fills, runs and reads back, one wave at a time.
//!
//! ```text
//! let mut lanes = worker.open(&job)?;                 // once a draw and tile: cheap when the serial is known
//! for i in 0..program.inputs.len() {
//!     lanes.input(i)…                                 // every input before every run, uniform ones too
//! }
//! *lanes.exec() = …;                                  // lanes that run, helpers included
//! *lanes.alive() = …;                                 // fragment: those that are no helpers
//! lanes.run()?;
//! lanes.output(k)…                                    // program.outputs[k], for the lanes of `alive()`
//! ```
//! Registers of inputs are used again for other values while a wave runs, so that nothing of one run is left for the
//! next. Constants and what the prologue computed are kept for each of the last few programs of a worker.
//! [`Input::SubgroupLane`] and [`Input::DeviceIndex`] are filled here; the caller may leave them.

use crate::host::{Host, Table};
use crate::kernels::{self, control::PATIENCE, count};
use crate::made::MadeUp;
use crate::memory::Aligned;
use crate::state::{State, Status, Stop};
use crate::worker::{Worker, splat};
use shader::bytecode::{Code, Op, Program, Reg, UNIT_BYTES};
use shader::ir::Input;

/// Programs whose register files a worker keeps.
const FILES: usize = 8;

/// One program with what it reads, as in [`crate::Dispatch`].
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Names program, tables, push constants and descriptors; 0 is never known again.
    pub serial: u64,
    pub program: &'a Program,
    pub tables: &'a [Table],
    pub push: &'a [u8],
    pub host: &'a dyn Host,
    /// Addresses of device memory: first, and one past the last.
    pub arena: (u64, u64),
}

/// The register files of a worker's last programs.
#[derive(Default)]
pub(crate) struct Files {
    list: Vec<File>,
    clock: u64,
    scratch: Aligned,
}

struct File {
    serial: u64,
    used: u64,
    regs: Aligned,
    state: Option<Box<State>>,
    /// Inputs that are filled here.
    lane_numbers: Vec<Reg>,
    zeros: Vec<Reg>,
    made: MadeUp,
}

/// A wave of a job.
pub struct Lanes<'w> {
    program: &'w Program,
    kernels: &'static kernels::Table,
    file: &'w mut File,
}

impl Worker {
    /// Makes the job's program ready to run. Constants and prologue are kept from the last job of the same serial.
    ///
    /// # Errors
    /// The fault of the prologue.
    pub fn open<'w>(&'w mut self, job: &Job<'w>) -> Result<Lanes<'w>, Stop> {
        let p = job.program;
        let files = &mut self.files;
        files.clock += 1;
        let known = files.list.iter().position(|f| f.serial == job.serial && job.serial != 0);
        let i = match known {
            Some(i) => i,
            None => files.make_room(),
        };
        let scratch_bytes = p.scratch_words as usize * p.lanes as usize * 4;
        files.scratch.reserve(scratch_bytes + 64);
        let scratch = files.scratch.ptr();
        let file = &mut files.list[i];
        file.used = files.clock;
        // A file of this serial is as large already.
        file.regs.reserve((p.units as usize + 1) * UNIT_BYTES);
        let warps = p.lanes / 16;
        let count = self.tally.counting(p);
        let state = State {
            exec: [0; 32],
            alive: [0; 32],
            regs: file.regs.ptr(),
            live: 0,
            all: ((1u64 << warps) - 1) as u32,
            warps,
            code: p.code.as_ptr(),
            pc: p.code.as_ptr(),
            tables: job.tables.as_ptr(),
            table_count: job.tables.len() as u32,
            push: job.push.as_ptr(),
            push_bytes: job.push.len() as u32,
            shared: std::ptr::null_mut(),
            shared_bytes: 0,
            packed: false,
            shared_at: [0; 16],
            scratch,
            scratch_words: p.scratch_words,
            arena: job.arena,
            images: p.images.as_ptr(),
            // SAFETY: only the lifetime goes; nothing reads the state once the `Lanes` are gone, but `open`, which
            // writes it first.
            host: unsafe { std::mem::transmute::<*const (dyn Host + '_), *const dyn Host>(job.host) },
            patience: PATIENCE,
            status: Status::Done,
            yields: false,
            made: &mut file.made,
            image_warp: &mut *self.image_warp,
            count,
        };
        match &mut file.state {
            Some(s) => **s = state,
            none => *none = Some(Box::new(state)),
        }
        let mut lanes = Lanes { program: p, kernels: self.kernels, file };
        if known.is_none() {
            lanes.adopt()?;
            lanes.file.serial = job.serial;
        }
        Ok(lanes)
    }
}

impl Files {
    /// A file for a new program: the one not used for the longest time, once there are enough.
    fn make_room(&mut self) -> usize {
        if self.list.len() < FILES {
            self.list.push(File {
                serial: 0,
                used: 0,
                regs: Aligned::new(),
                state: None,
                lane_numbers: Vec::new(),
                zeros: Vec::new(),
                made: MadeUp::default(),
            });
            return self.list.len() - 1;
        }
        let oldest = (0..self.list.len()).min_by_key(|&i| self.list[i].used).unwrap_or(0);
        self.list[oldest].serial = 0;
        oldest
    }
}

impl Lanes<'_> {
    fn state(&mut self) -> &mut State {
        self.file.state.as_deref_mut().expect("set by open")
    }

    /// Constants and prologue.
    fn adopt(&mut self) -> Result<(), Stop> {
        let p = self.program;
        let file = &mut *self.file;
        file.made.clear();
        let of = |wanted: Input| p.inputs.iter().filter(move |i| i.0 == wanted).map(|i| i.1);
        file.lane_numbers = of(Input::SubgroupLane).collect();
        file.zeros = of(Input::DeviceIndex).collect();
        for &(reg, ty, v) in &p.consts {
            // SAFETY: registers lie within the file.
            unsafe { splat(file.regs.ptr(), reg, ty, v) };
        }
        if p.prologue == 0 {
            return Ok(());
        }
        let st = self.state();
        for w in 0..st.warps as usize {
            st.exec[w] = 0xFFFF;
        }
        st.live = st.all;
        // SAFETY: the prologue is within the code.
        let end = unsafe { st.code.add(p.prologue as usize) };
        let from = st.code;
        let r = self.execute(from, end);
        self.state().exec = [0; 32];
        r
    }

    /// Runs ops from `op` until `end` or the program's end.
    fn execute(&mut self, mut op: *const Op, end: *const Op) -> Result<(), Stop> {
        let kernels = self.kernels;
        let st = self.state();
        st.status = Status::Running;
        // SAFETY: the state describes a register file of the program's size; the program's ops are what lowering
        // made.
        unsafe {
            while !op.is_null() && op != end {
                let kernel = kernels.get_unchecked((*op).code.0 as usize % Code::COUNT);
                op = kernel(st, op);
            }
        }
        st.fault()
    }

    /// Lanes of the wave: 64, 128 or 256.
    pub fn count(&self) -> usize {
        self.program.lanes as usize
    }

    /// `program.inputs[i]`, 32 bits a lane: a row a warp, or one row if the register is uniform.
    ///
    /// # Panics
    /// If there is no such input.
    #[inline]
    pub fn input(&mut self, i: usize) -> &mut [[u32; 16]] {
        let (at, n) = self.rows(self.program.inputs[i].1);
        // SAFETY: the rows lie within the register file, which `self` borrows exclusively.
        unsafe { std::slice::from_raw_parts_mut(at, n) }
    }

    /// `program.inputs[i]`, a Bool: a mask a warp.
    ///
    /// # Panics
    /// If there is no such input.
    pub fn input_mask(&mut self, i: usize) -> &mut [u16; 32] {
        // One unit of 64 bytes, as a uniform register.
        let (at, _) = self.rows(Reg::uniform(self.program.inputs[i].1.unit() as u16));
        // SAFETY: as in `input`.
        unsafe { &mut *(at as *mut [u16; 32]) }
    }

    /// `program.outputs[i]`, as inputs are. Valid after a run, for lanes that have run.
    ///
    /// # Panics
    /// If there is no such output.
    #[inline]
    pub fn output(&self, i: usize) -> &[[u32; 16]] {
        let (at, n) = self.rows(self.program.outputs[i].1);
        // SAFETY: as in `input`.
        unsafe { std::slice::from_raw_parts(at, n) }
    }

    /// First unit and number of units of a 32-bit register. Programs are checked to keep within their units.
    #[inline]
    fn rows(&self, r: Reg) -> (*mut [u32; 16], usize) {
        let n = if r.is_uniform() { 1 } else { self.program.lanes as usize / 16 };
        assert!(r.unit() + n <= self.program.units as usize + 1, "a register outside the file");
        // SAFETY: checked.
        (unsafe { self.file.regs.ptr().add(r.unit() * UNIT_BYTES) as *mut [u32; 16] }, n)
    }

    /// Lanes that run, helpers included: to be set before each run.
    pub fn exec(&mut self) -> &mut [u16; 32] {
        &mut self.state().exec
    }

    /// Before a run: lanes that are no helpers. After it: those neither discarded nor demoted.
    pub fn alive(&mut self) -> &mut [u16; 32] {
        &mut self.state().alive
    }

    /// Runs the program on the lanes of [`Self::exec`]; does nothing when there are none.
    ///
    /// # Errors
    /// The fault that ended the wave; outputs are any then. The worker stays usable.
    pub fn run(&mut self) -> Result<(), Stop> {
        for k in 0..self.file.lane_numbers.len() {
            self.fill(self.file.lane_numbers[k], std::array::from_fn(|l| l as u32));
        }
        for k in 0..self.file.zeros.len() {
            self.fill(self.file.zeros[k], [0; 16]);
        }
        let prologue = self.program.prologue as usize;
        let st = self.state();
        st.exec[(st.warps as usize).min(32)..].fill(0);
        let mut live = 0;
        for w in 0..32 {
            st.alive[w] &= st.exec[w];
        }
        for w in 0..(st.warps as usize).min(32) {
            live |= ((st.exec[w] != 0) as u32) << w;
        }
        st.live = live;
        st.count.begin(st.exec);
        if live == 0 {
            return Ok(());
        }
        // SAFETY: the prologue is within the code.
        let from = unsafe { count::enter(st, st.code.add(prologue)) };
        let r = self.execute(from, std::ptr::null());
        if r.is_err() {
            // A wave that was cut short leaves its registers in any state.
            self.file.serial = 0;
        }
        r
    }

    fn fill(&mut self, r: Reg, v: [u32; 16]) {
        let (at, n) = self.rows(r);
        for w in 0..n {
            // SAFETY: as in `input`.
            unsafe { *at.add(w) = v };
        }
    }
}

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

use crate::arena::Arena;
use crate::counting::tally::AccessKind;
use crate::engine::{Engine, Setup};
use crate::host::{Host, Table};
use crate::kernels::count;
use crate::made::MadeUp;
use crate::memory::Aligned;
use crate::rays::Queries;
use crate::state::{At, State, Stop};
use crate::worker::{Worker, splat};
use shader::bytecode::{Program, Reg, UNIT_BYTES};
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
    /// Device memory.
    pub arena: Arena,
}

/// The register files of a worker's last programs.
#[derive(Default)]
pub(crate) struct Files {
    list: Vec<File>,
    clock: u64,
    scratch: Aligned,
    queries: Box<Queries>,
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
    /// Memory that the lanes share: a patch's.
    shared: Aligned,
}

/// A wave of a job.
pub struct Lanes<'w> {
    program: &'w Program,
    engine: Engine,
    file: &'w mut File,
}

impl Worker {
    /// Makes the job's program ready to run. Constants and prologue are kept from the last job of the same serial.
    ///
    /// # Errors
    /// The fault of the prologue.
    pub fn open<'w>(&'w mut self, job: &Job<'w>) -> Result<Lanes<'w>, Stop> {
        self.open_for(job, 1)
    }

    /// As [`Self::open`], for about so many runs.
    ///
    /// # Errors
    /// As there.
    pub fn open_for<'w>(&'w mut self, job: &Job<'w>, runs: u64) -> Result<Lanes<'w>, Stop> {
        let p = job.program;
        let files = &mut self.files;
        files.clock += 1;
        let known = files.list.iter().position(|f| f.serial == job.serial && job.serial != 0);
        let i = match known {
            Some(i) => i,
            None => files.make_room(),
        };
        files.scratch.reserve(Setup::scratch_bytes(p));
        let file = &mut files.list[i];
        file.used = files.clock;
        // A file of this serial is as large already.
        file.regs.reserve(Setup::register_bytes(p));
        let setup = Setup {
            program: p,
            code: self.engine.code(p, runs),
            tables: job.tables,
            push: job.push,
            host: job.host,
            arena: job.arena,
            regs: &file.regs,
            scratch: &files.scratch,
            queries: &mut *files.queries,
            made: &mut file.made,
            image_warp: &mut *self.image_warp,
            alone: self.alone,
            count: self.tally.counting(p),
            rays: &mut *self.tally.rays,
        };
        // SAFETY: reserved above; nothing reads the state once the `Lanes` are gone, but `open`, which writes it first.
        let state = State { alive: [0; 32], ..unsafe { setup.state(p.lanes / 16) } };
        match &mut file.state {
            Some(s) => **s = state,
            none => *none = Some(Box::new(state)),
        }
        let mut lanes = Lanes { program: p, engine: self.engine, file };
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
                shared: Aligned::new(),
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
        // SAFETY: `open` reserved them; no wave runs.
        unsafe { Setup::clear_handles(&file.regs, p) };
        for &(reg, ty, v) in &p.consts {
            // SAFETY: registers lie within the file.
            unsafe { splat(file.regs.ptr(), reg, ty, v) };
        }
        let engine = self.engine;
        let st = self.state();
        // SAFETY: `open` made the state.
        let r = unsafe { engine.prologue(st, p) };
        st.exec = [0; 32];
        r
    }

    /// Whether this stretch of work goes through modelled caches.
    pub fn follows(&mut self) -> bool {
        self.state().count.follows()
    }
    /// An access of the fixed units around the program, to a line of device memory by its number there, or to one after it:
    /// goes through the modelled caches, where this stretch does.
    pub fn follow(&mut self, kind: AccessKind, line: u64) {
        if let Some(cache) = self.state().count.cache() {
            cache.access(kind, line);
        }
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
        (self.file.regs.ptr().wrapping_add(r.unit() * UNIT_BYTES).cast(), n)
    }

    /// Lanes that run, helpers included: to be set before each run.
    pub fn exec(&mut self) -> &mut [u16; 32] {
        &mut self.state().exec
    }

    /// The first `n` lanes are to run, none of them a helper.
    pub fn begin(&mut self, n: usize) {
        let st = self.state();
        for (w, e) in st.exec.iter_mut().enumerate() {
            *e = match n.saturating_sub(w * 16) {
                0 => 0,
                left @ 1..16 => (1 << left) - 1,
                _ => 0xFFFF,
            };
        }
        st.alive = st.exec;
    }

    /// Private words: word i of lane l at `i · lanes + l`. As they are before a run the program finds them, and leaves them behind it.
    pub fn private(&mut self) -> &mut [u32] {
        let words = self.program.scratch_words as usize * self.program.lanes as usize;
        let st = self.state();
        if words == 0 {
            return &mut [];
        }
        // SAFETY: `open` reserved them, zeroed where they were new; `self` borrows the worker that they are of.
        unsafe { std::slice::from_raw_parts_mut(st.scratch.cast(), words) }
    }

    /// The wave's memory that its lanes share, `bytes` of it at least, as the next run finds it and the last one left it.
    pub fn shared(&mut self, bytes: u32) -> &mut [u32] {
        let bytes = bytes.next_multiple_of(64);
        let st = self.file.state.as_deref_mut().expect("set by open");
        if !self.file.shared.reserve(bytes as usize + 64) || st.shared_bytes == 0 {
            // What others left there is not this program's to see.
            // SAFETY: reserved above.
            unsafe { std::ptr::write_bytes(self.file.shared.ptr(), 0, bytes as usize) };
        }
        (st.shared, st.shared_bytes) = (self.file.shared.ptr(), bytes);
        // SAFETY: reserved above; `self` borrows it exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.file.shared.ptr().cast(), bytes as usize / 4) }
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
        let st = self.state();
        st.exec[(st.warps as usize).min(32)..].fill(0);
        let mut live = 0;
        for w in 0..32 {
            st.alive[w] &= st.exec[w];
        }
        for w in 0..(st.warps as usize).min(32) {
            live |= ((st.exec[w] != 0) as u32) << w;
        }
        self.go(live)
    }

    /// As [`Self::run`], on all lanes of the first `warps` warps, none of which is a helper: whether all are alive after it.
    ///
    /// # Errors
    /// As there.
    pub fn run_whole(&mut self, warps: usize) -> Result<bool, Stop> {
        // Not put together each time: who reads that at once waits for the cache.
        static ALL: [u16; 64] = {
            let mut all = [0; 64];
            let mut w = 0;
            while w < 32 {
                all[w] = 0xFFFF;
                w += 1;
            }
            all
        };
        let st = self.state();
        let warps = warps.min(st.warps as usize).min(32);
        let all = ALL[32 - warps..].first_chunk::<32>().expect("32 and more");
        (st.exec, st.alive) = (*all, *all);
        self.go(((1u64 << warps) - 1) as u32)?;
        Ok(self.state().alive == *all)
    }

    /// Runs on the lanes that the state has, of the warps `live`.
    fn go(&mut self, live: u32) -> Result<(), Stop> {
        for k in 0..self.file.lane_numbers.len() {
            self.fill(self.file.lane_numbers[k], std::array::from_fn(|l| l as u32));
        }
        for k in 0..self.file.zeros.len() {
            self.fill(self.file.zeros[k], [0; 16]);
        }
        let (engine, program) = (self.engine, self.program);
        let st = self.state();
        st.live = live;
        Setup::clear_private(st, program);
        st.count.begin(st.exec);
        st.asked = None;
        if live == 0 {
            return Ok(());
        }
        // SAFETY: where the prologue ends is an op; `open` made the state.
        let r = unsafe {
            let first = At::new(st.code.add(program.prologue as usize));
            let from = count::enter(st, first);
            engine.run(st, from, std::ptr::null())
        };
        if r.is_err() {
            // A wave that was cut short leaves its registers in any state.
            self.file.serial = 0;
        }
        r.map(drop)
    }

    fn fill(&mut self, r: Reg, v: [u32; 16]) {
        let (at, n) = self.rows(r);
        for w in 0..n {
            // SAFETY: as in `input`.
            unsafe { *at.add(w) = v };
        }
    }
}

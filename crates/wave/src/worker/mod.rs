//! Runs workgroups of a dispatch on one thread.

pub mod graphics;
pub mod packing;

use crate::arena::Arena;
use crate::engine::{Engine, Setup};
use crate::host::{Host, ImageWarp, Table};
use crate::kernels::count;
use crate::made::MadeUp;
use crate::memory::Aligned;
use crate::rays::Queries;
use crate::state::{At, State, Status, Stop};
use crate::tier::Compile;
use crate::worker::packing::{Packing, pattern};
use shader::bytecode::{Code, Op, Program, Reg, UNIT_BYTES};
use shader::ir::{Input, Ty};
use simd::Level;

/// One compute dispatch, as every thread that runs a part of it sees it.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// Names this dispatch: runs with the same number (not 0) on one worker share constants and prologue. Numbers are
    /// never used again for another program, push constants, tables or descriptors.
    pub serial: u64,
    pub program: &'a Program,
    /// Descriptor tables by [`shader::options::Binding::table`]; missing ones are unbound.
    pub tables: &'a [Table],
    pub push: &'a [u8],
    pub host: &'a dyn Host,
    /// First workgroup's id.
    pub base: [u32; 3],
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
    /// Device memory.
    pub arena: Arena,
    /// [`Input::DrawIndex`] and [`Input::ViewIndex`] of task and mesh shaders.
    pub draw: [u32; 2],
}

/// What is to be done with workgroups' memory around their runs.
pub trait Around {
    /// A workgroup is about to run; its memory is zero.
    fn before(&mut self, group: u64, memory: &mut [u8]);
    /// It has run.
    fn after(&mut self, group: u64, memory: &[u8]);
}

/// Nothing is.
struct Nothing;

impl Around for Nothing {
    fn before(&mut self, _: u64, _: &mut [u8]) {}
    fn after(&mut self, _: u64, _: &[u8]) {}
}

/// What a thread keeps from run to run.
pub struct Worker {
    pub(crate) engine: Engine,
    waves: Vec<Wave>,
    shared: Aligned,
    made: MadeUp,
    pub(crate) image_warp: Box<ImageWarp>,
    /// Serial of the dispatch that the members below belong to; 0 for none.
    serial: u64,
    packing: Option<Packing>,
    /// Size of a workgroup, and whether its lanes form quads.
    shape: ([u32; 3], bool),
    inputs: Vec<Filled>,
    /// Masks at the start of each wave of a workgroup (all packed workgroups present), and its live warps.
    masks: Vec<([u16; 32], u32)>,
    /// The program has control barriers that waves of one workgroup must meet at.
    meets: bool,
    /// Counts since somebody took them; of one program at a time.
    pub tally: crate::counting::tally::Tally,
    /// Register files of graphics programs.
    pub(crate) files: crate::worker::graphics::Files,
    /// No other thread works for the device.
    pub alone: bool,
}

// SAFETY: the descriptors and image operands are plain memory; pointers in states are renewed at each run.
unsafe impl Send for Worker {}

/// One wave's memory.
#[derive(Default)]
struct Wave {
    regs: Aligned,
    scratch: Aligned,
    queries: Box<Queries>,
    state: Option<Box<State>>,
    /// Dispatch whose constants and prologue results the registers hold.
    serial: u64,
}

/// An input and what fills it.
struct Filled {
    input: Input,
    reg: Reg,
    /// For inputs that repeat: the units of wave 0, wave 1 …
    patterns: Vec<Vec<[u32; 16]>>,
}

impl Worker {
    /// A worker whose kernels are those of `level`.
    pub fn new(level: Level) -> Worker {
        Worker::compiling(level, Compile::by_settings())
    }

    /// As [`Worker::new`], whatever the settings say of compiled code.
    pub fn compiling(level: Level, when: Compile) -> Worker {
        Worker {
            engine: Engine::new(level, when),
            waves: Vec::new(),
            shared: Aligned::new(),
            made: MadeUp::default(),
            // SAFETY: plain numbers, for which zero is a value.
            image_warp: unsafe { Box::new(std::mem::zeroed()) },
            serial: 0,
            packing: None,
            shape: ([0; 3], false),
            inputs: Vec::new(),
            masks: Vec::new(),
            meets: false,
            tally: Default::default(),
            files: Default::default(),
            alone: false,
        }
    }

    /// Runs workgroups `first .. first + count` in linear order (x fastest).
    ///
    /// # Errors
    /// The fault that ended a wave; workgroups after it have not run.
    pub fn run(&mut self, d: &Dispatch, first: u64, count: u64) -> Result<(), Stop> {
        self.run_around(d, first, count, &mut Nothing)
    }

    /// As [`Self::run`], with workgroups' memory given and taken.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_around(
        &mut self,
        d: &Dispatch,
        first: u64,
        count: u64,
        around: &mut dyn Around,
    ) -> Result<(), Stop> {
        let total = d.groups.iter().map(|&g| g as u64).product::<u64>();
        let last = first.saturating_add(count).min(total);
        if first >= last {
            return Ok(());
        }
        if d.serial == 0 || self.serial != d.serial {
            self.adopt(d);
        }
        let Some(packing) = self.packing.take() else { return Ok(()) };
        let result = self.groups(d, &packing, first, last, around);
        self.packing = Some(packing);
        if result.is_err() {
            // A wave that was cut short leaves its registers in any state.
            self.serial = 0;
        }
        // Nothing may point at the caller's data once it is gone.
        for w in &mut self.waves {
            w.state = None;
        }
        result
    }

    /// Gets ready for a dispatch.
    fn adopt(&mut self, d: &Dispatch) {
        let p = d.program;
        let k = Packing::new(p);
        self.made.clear();
        self.meets = k.waves > 1 && p.code.iter().any(|o| o.code == Code::BARRIER);
        for w in &mut self.waves {
            w.serial = 0;
        }
        self.serial = d.serial;
        // Programs of one shape, and the last one is as a rule, have the same ids in the same places.
        let shape = (p.workgroup, p.quad_derivatives);
        let same = self.inputs.iter().map(|f| (f.input, f.reg)).eq(p.inputs.iter().copied());
        if !(same && self.shape == shape && self.packing.as_ref() == Some(&k)) {
            self.lay_out(p, k);
            self.shape = shape;
        }
    }

    /// Works out what lanes have whatever the workgroup.
    fn lay_out(&mut self, p: &Program, k: Packing) {
        self.inputs.clear();
        for &(input, reg) in &p.inputs {
            let mut patterns = Vec::new();
            if pattern(p, &k, input, 0, 0, 0).is_some() {
                let units = if reg.is_uniform() { 1 } else { k.wave_warps };
                for wave in 0..k.waves {
                    let unit =
                        |w| std::array::from_fn(|l| pattern(p, &k, input, wave, w, l as u32).unwrap_or(0));
                    patterns.push((0..units).map(unit).collect());
                }
            }
            self.inputs.push(Filled { input, reg, patterns });
        }
        self.masks = (0..k.waves).map(|wave| masks(&k, wave, k.groups)).collect();
        self.packing = Some(k);
    }

    fn groups(
        &mut self,
        d: &Dispatch,
        k: &Packing,
        first: u64,
        last: u64,
        around: &mut dyn Around,
    ) -> Result<(), Stop> {
        // Shared memory and all register files first: their places do not change afterwards.
        self.shared.reserve((k.shared_step * k.groups) as usize + 64);
        let files = if self.meets { k.waves as usize } else { 1 };
        if self.waves.len() < files {
            self.waves.resize_with(files, Wave::default);
        }
        let code = self.engine.code(d.program, (last - first) * k.waves as u64 / k.groups as u64);
        for i in 0..files {
            self.prepare(d, code, k, i)?;
        }
        let mut watch = self.engine.watch(d.program);
        let mut g = first;
        while g < last {
            if watch.is_up() {
                let code = self.engine.code(d.program, u64::MAX);
                self.waves[..files]
                    .iter_mut()
                    .flat_map(|w| &mut w.state)
                    .for_each(|st| st.code = code.as_ptr());
            }
            let n = (k.groups as u64).min(last - g) as u32;
            // What earlier workgroups left must not show: which ones ran on this thread is chance.
            // SAFETY: reserved above.
            unsafe { std::ptr::write_bytes(self.shared.ptr(), 0, (k.shared_step * k.groups) as usize) };
            let (memory, step) = (self.shared.ptr(), k.shared_step as usize);
            for i in 0..n as usize {
                // SAFETY: reserved above; no wave runs.
                let own = unsafe { std::slice::from_raw_parts_mut(memory.wrapping_add(i * step), step) };
                around.before(g + i as u64, own);
            }
            for wave in 0..k.waves {
                self.start(d, k, wave, g, n);
                if !self.meets {
                    // Only waves that meet others stop at barriers.
                    self.resume(0)?;
                }
            }
            if self.meets {
                self.together(k.waves as usize)?;
            }
            for i in 0..n as usize {
                // SAFETY: reserved above; no wave runs.
                let own = unsafe { std::slice::from_raw_parts(memory.wrapping_add(i * step), step) };
                around.after(g + i as u64, own);
            }
            g += n as u64;
        }
        watch.end(d.program);
        Ok(())
    }

    /// Runs the waves of one workgroup, each to its next barrier, in turn until all have ended. Waves that end earlier
    /// than others wait at barriers are not waited for.
    fn together(&mut self, waves: usize) -> Result<(), Stop> {
        let mut done = vec![false; waves];
        while done.iter().any(|d| !d) {
            for (i, done) in done.iter_mut().enumerate() {
                if *done {
                    continue;
                }
                *done = self.resume(i)? != Status::Barrier;
            }
        }
        Ok(())
    }

    /// Runs wave `i` from its pc until it stops.
    fn resume(&mut self, i: usize) -> Result<Status, Stop> {
        let Some(st) = self.waves[i].state.as_deref_mut() else { return Ok(Status::Done) };
        let from = st.pc;
        // SAFETY: `prepare` made the state.
        unsafe { self.engine.run(st, from, std::ptr::null()) }
    }

    /// Makes wave `i`'s registers and state ready for the dispatch: constants and prologue.
    fn prepare<'d>(&mut self, d: &Dispatch<'d>, code: &'d [Op], k: &Packing, i: usize) -> Result<(), Stop> {
        let p = d.program;
        let count = self.tally.counting(p);
        let w = &mut self.waves[i];
        let kept = w.regs.reserve(Setup::register_bytes(p));
        w.scratch.reserve(Setup::scratch_bytes(p));
        let setup = Setup {
            program: p,
            code,
            tables: d.tables,
            push: d.push,
            host: d.host,
            arena: d.arena,
            regs: &w.regs,
            scratch: &w.scratch,
            queries: &mut *w.queries,
            made: &mut self.made,
            image_warp: &mut *self.image_warp,
            rays: &mut *self.tally.rays,
            alone: self.alone,
            count,
        };
        w.state = Some(Box::new(State {
            shared: self.shared.ptr(),
            shared_bytes: p.shared_bytes,
            packed: k.groups > 1,
            shared_at: std::array::from_fn(|w| {
                k.place(0, w as u32).map_or(0, |(group, _)| group * k.shared_step)
            }),
            yields: self.meets,
            // SAFETY: reserved above; the state is dropped before `run` returns.
            ..unsafe { setup.state(k.wave_warps) }
        }));
        if kept && d.serial != 0 && w.serial == d.serial {
            return Ok(());
        }
        w.serial = 0;
        // SAFETY: reserved above; no wave runs.
        unsafe { Setup::clear_handles(&w.regs, p) };
        for &(reg, ty, v) in &p.consts {
            // SAFETY: registers lie within the file.
            unsafe { splat(w.regs.ptr(), reg, ty, v) };
        }
        for f in &self.inputs {
            // The prologue may read them.
            let same = match f.input {
                Input::NumWorkgroups(c) => d.groups[(c as usize).min(2)],
                Input::DrawIndex => d.draw[0],
                Input::ViewIndex => d.draw[1],
                _ => continue,
            };
            // SAFETY: as above.
            unsafe { fill(w.regs.ptr(), f.reg, k.wave_warps, same) };
        }
        let w = &mut self.waves[i];
        if let Some(st) = w.state.as_deref_mut() {
            // SAFETY: the state was made above.
            unsafe { self.engine.prologue(st, p)? };
        }
        w.serial = d.serial;
        Ok(())
    }

    /// Sets up wave `wave` of workgroups `g .. g + n`: masks, inputs, pc.
    fn start(&mut self, d: &Dispatch, k: &Packing, wave: u32, g: u64, n: u32) {
        let file = if self.meets { wave as usize } else { 0 };
        let Some(st) = self.waves[file].state.as_deref_mut() else { return };
        (st.exec, st.live) = match self.masks.get(wave as usize) {
            Some(m) if n == k.groups => *m,
            _ => masks(k, wave, n),
        };
        Setup::clear_private(st, d.program);
        st.count.begin(st.exec);
        st.asked = None;
        // SAFETY: where the prologue ends is an op; `prepare` made the state.
        let first = unsafe { At::new(st.code.add(d.program.prologue as usize)) };
        st.pc = count::enter(st, first);
        for f in &self.inputs {
            // SAFETY: registers lie within the file.
            unsafe {
                if let Some(units) = f.patterns.get(wave as usize) {
                    let to = st.regs.add(f.reg.unit() * UNIT_BYTES) as *mut [u32; 16];
                    std::ptr::copy_nonoverlapping(units.as_ptr(), to, units.len());
                    continue;
                }
                match f.input {
                    Input::WorkgroupId(c) => workgroup_id(st.regs, d, k, f.reg, c, g, n),
                    Input::NumWorkgroups(c) => {
                        fill(st.regs, f.reg, k.wave_warps, d.groups[(c as usize).min(2)]);
                    }
                    Input::DrawIndex => fill(st.regs, f.reg, k.wave_warps, d.draw[0]),
                    Input::ViewIndex => fill(st.regs, f.reg, k.wave_warps, d.draw[1]),
                    _ => {}
                }
            }
        }
    }
}

/// Masks of a wave with `n` workgroups, and its live warps.
fn masks(k: &Packing, wave: u32, n: u32) -> ([u16; 32], u32) {
    let (mut exec, mut live) = ([0; 32], 0);
    for w in 0..k.wave_warps {
        let lanes = k.lanes(wave, w, n);
        exec[w as usize] = lanes;
        live |= ((lanes != 0) as u32) << w;
    }
    (exec, live)
}

/// Component `c` of the ids of workgroups `g .. g + n`.
///
/// # Safety
/// As [`fill`], of all warps of the wave.
unsafe fn workgroup_id(regs: *mut u8, d: &Dispatch, k: &Packing, r: Reg, c: u8, g: u64, n: u32) {
    let id = |g: u64| {
        let [x, y, _] = d.groups.map(|v| v.max(1) as u64);
        let v = match c {
            0 => g % x,
            1 => g / x % y,
            _ => g / x / y,
        };
        d.base[(c as usize).min(2)].wrapping_add(v as u32)
    };
    if k.groups == 1 {
        // SAFETY: the caller's.
        unsafe { fill(regs, r, k.wave_warps, id(g)) };
        return;
    }
    for i in 0..n {
        let v = [id(g + i as u64); 16];
        for w in 0..k.group_warps {
            let unit = r.unit() + (i * k.group_warps + w) as usize;
            // SAFETY: the caller's; the packed workgroups' warps are the wave's.
            unsafe { *(regs.add(unit * UNIT_BYTES) as *mut [u32; 16]) = v };
        }
    }
}

/// Writes all lanes of a 32-bit register.
///
/// # Safety
/// The register lies in the file at `regs`, with so many warps.
unsafe fn fill(regs: *mut u8, r: Reg, warps: u32, v: u32) {
    let n = if r.is_uniform() { 1 } else { warps as usize };
    for w in 0..n {
        // SAFETY: the caller's.
        unsafe { *(regs.add((r.unit() + w) * UNIT_BYTES) as *mut [u32; 16]) = [v; 16] };
    }
}

/// Writes a constant's uniform register.
///
/// # Safety
/// The register lies in the file at `regs`.
pub(crate) unsafe fn splat(regs: *mut u8, r: Reg, ty: Ty, v: u64) {
    // SAFETY: the caller's.
    unsafe {
        let p = regs.add(r.unit() * UNIT_BYTES);
        match ty {
            Ty::B64 => *(p as *mut [u64; 16]) = [v; 16],
            Ty::Bool => *(p as *mut [u16; 32]) = [if v != 0 { 0xFFFF } else { 0 }; 32],
            _ => *(p as *mut [u32; 16]) = [v as u32; 16],
        }
    }
}

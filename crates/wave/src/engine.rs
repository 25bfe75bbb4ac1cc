//! The one loop that runs ops: from op to op, kernel by kernel, for compute and graphics alike.

use crate::arena::Arena;
use crate::counting::tally::{Counting, RayCounts};
use crate::flush::Mode;
use crate::host::{Host, HostRef, ImageWarp, Table};
use crate::kernels::{self, control::PATIENCE};
use crate::made::MadeUp;
use crate::memory::Aligned;
use crate::rays::Queries;
use crate::state::{State, Status, Stop};
use crate::tier::{self, Compile, Watch};
use shader::bytecode::{Code, Op, Program, UNIT_BYTES};
use simd::Level;

/// The kernels of a level.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    kernels: &'static kernels::Table,
    level: Level,
    compile: Compile,
}

impl Engine {
    pub fn new(level: Level, compile: Compile) -> Engine {
        Engine { kernels: kernels::table(level), level, compile }
    }

    /// The ops by which it runs `p`, for about so many waves to come.
    pub fn code(self, p: &Program, waves: u64) -> &[Op] {
        tier::code(p, self.level, self.compile, waves)
    }

    /// Looks at the time that `p` takes from here on.
    pub fn watch(self, p: &Program) -> Watch {
        Watch::new(p, self.level, self.compile)
    }

    /// Runs ops from `from` on until the op `to`, or (null) until the wave stops by itself: why it stopped.
    ///
    /// # Safety
    /// The state describes a live register file of the size that its program asks for; both ops are that program's,
    /// which lowering made or [`Program`]'s check let through.
    pub unsafe fn run(self, st: &mut State, from: *const Op, to: *const Op) -> Result<Status, Stop> {
        st.status = Status::Running;
        let _mode = Mode::flushed(!st.keeps_denormals);
        // Most runs have no end to compare with at each op.
        if to.is_null() {
            // SAFETY: the caller's.
            unsafe { self.steps(st, from, |op| op.is_null()) };
        } else {
            // SAFETY: the caller's.
            unsafe { self.steps(st, from, |op| op.is_null() || op == to) };
        }
        st.fault()?;
        Ok(st.status)
    }

    /// # Safety
    /// As [`Engine::run`]; `ends` says so of null.
    #[inline(always)]
    unsafe fn steps(self, st: &mut State, mut op: *const Op, ends: impl Fn(*const Op) -> bool) {
        while !ends(op) {
            // SAFETY: an op of the program, for a kernel returns none but those, or null; the table has `COUNT` kernels, of a
            // level that the CPU has.
            op = unsafe {
                let kernel = self.kernels.get_unchecked((*op).code.0 as usize % Code::COUNT);
                kernel(st, op)
            };
        }
    }

    /// Runs the ops before the program's `prologue`, straight-line code, with all lanes.
    ///
    /// # Safety
    /// As [`Engine::run`]; `p` is the state's program.
    pub unsafe fn prologue(self, st: &mut State, p: &Program) -> Result<(), Stop> {
        if p.prologue == 0 {
            return Ok(());
        }
        st.exec[..st.warps as usize].fill(0xFFFF);
        st.live = st.all;
        let (from, to) = (st.code, st.code.wrapping_add(p.prologue as usize));
        // It runs once for each worker that comes to have it: what it counts would depend on their number.
        let mut aside = crate::counting::tally::Row::default();
        // SAFETY: it lives until counting is back.
        let cache = unsafe { st.count.leave(&mut aside) };
        // SAFETY: the caller's; where the prologue ends is an op.
        let done = unsafe { self.run(st, from, to) };
        st.count.back(cache);
        done.map(drop)
    }
}

/// Units of a 64-bit register of 16 warps.
const WIDEST: usize = 32;

/// What a wave's state is made of.
pub(crate) struct Setup<'a> {
    pub program: &'a Program,
    /// The program's ops, or what is run in their place ([`Engine::code`]).
    pub code: &'a [Op],
    pub tables: &'a [Table],
    pub push: &'a [u8],
    pub host: &'a dyn Host,
    /// Device memory.
    pub arena: Arena,
    pub regs: &'a Aligned,
    pub scratch: &'a Aligned,
    pub queries: *mut Queries,
    pub made: *mut MadeUp,
    pub image_warp: *mut ImageWarp,
    pub rays: *mut RayCounts,
    pub alone: bool,
    pub count: Counting,
}

impl Setup<'_> {
    /// Bytes of a program's register file. A program's check goes by registers' first units: after the program's units lie as
    /// many as the widest register has, so that no warp of any leaves the file.
    pub fn register_bytes(p: &Program) -> usize {
        (p.units as usize + WIDEST) * UNIT_BYTES
    }
    /// Bytes of a wave's private words.
    pub fn scratch_bytes(p: &Program) -> usize {
        p.scratch_words as usize * p.lanes as usize * 4 + 64
    }

    /// Puts the null descriptor's address where the program has addresses of descriptors.
    ///
    /// # Safety
    /// The registers are as large as the program asks for, and no wave runs.
    pub unsafe fn clear_handles(regs: &Aligned, p: &Program) {
        let words = p.handles as usize * UNIT_BYTES / 8;
        // SAFETY: the caller's.
        let handles = unsafe { std::slice::from_raw_parts_mut(regs.ptr().cast::<u64>(), words) };
        handles.fill(crate::kernels::desc::null());
    }

    /// Makes the private words zero that a program may read before it writes them, for a wave that is about to begin: others' must
    /// not show, nor which of the program's own waves ran on this thread before.
    pub fn clear_private(st: &State, p: &Program) {
        if st.query_count > 0 {
            // SAFETY: the wave's own, and no kernel runs.
            unsafe { (*st.queries).fresh = true };
        }
        let [from, to] = p.zeroed.map(|w| w.min(p.scratch_words) as usize);
        if from >= to {
            return;
        }
        let row = p.lanes as usize * 4;
        // Few lanes of a wave may be there.
        let bytes = (32 - st.live.leading_zeros()) as usize * 64;
        // SAFETY: `scratch_bytes` of these words are reserved, and no lane runs.
        unsafe {
            if bytes >= row {
                st.scratch.add(from * row).write_bytes(0, (to - from) * row);
            } else {
                (from..to).for_each(|w| st.scratch.add(w * row).write_bytes(0, bytes));
            }
        }
    }

    /// The state of a wave that has not begun: no lanes, `warps` warps, no workgroup memory.
    ///
    /// # Safety
    /// Registers and private words are as large as the program asks for. The state keeps what it is given beyond its
    /// lifetime: it is not run after any of it is gone.
    pub unsafe fn state(self, warps: u32) -> State {
        let p = self.program;
        State {
            exec: [0; 32],
            alive: [!0; 32],
            regs: self.regs.ptr(),
            live: 0,
            all: ((1u64 << warps) - 1) as u32,
            warps,
            code: self.code.as_ptr(),
            pc: self.code.as_ptr(),
            tables: self.tables.as_ptr(),
            table_count: self.tables.len() as u32,
            push: self.push.as_ptr(),
            push_bytes: self.push.len() as u32,
            shared: std::ptr::null_mut(),
            shared_bytes: 0,
            packed: false,
            shared_at: [0; 16],
            scratch: self.scratch.ptr(),
            scratch_words: p.scratch_words,
            queries: self.queries,
            query_count: p.queries,
            arena: self.arena,
            images: p.images.as_ptr(),
            program: p,
            embedded: p.embedded.as_ptr(),
            data: p.data.as_ptr(),
            // SAFETY: the caller's.
            host: unsafe { HostRef::new(self.host) },
            patience: PATIENCE,
            keeps_denormals: self.program.keeps_denormals,
            asked: None,
            status: Status::Done,
            yields: false,
            alone: self.alone,
            made: self.made,
            image_warp: self.image_warp,
            rays: self.rays,
            count: self.count,
        }
    }
}

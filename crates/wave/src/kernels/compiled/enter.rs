//! Going into a region: what its code asks of the wave, and where the wave goes on after it.

use crate::counting::tally::{Access, AccessKind, Row};
use crate::kernels::control::{fault, out_of_patience};
use crate::kernels::count;
use crate::kernels::mask;
use crate::kernels::memory::linear::{buffer, push, shared, shared_of};
use crate::kernels::regs::src64;
use crate::state::{At, State};
use shader::bytecode::{Code, Op, Reg};
use shader::cost::COUNTED;
use simd::Level;
use std::mem::MaybeUninit;

/// Words of one load at most.
const WORDS: usize = 16;
/// Workgroups that share a wave, at most one a warp.
const GROUPS: usize = 16;

/// Kinds of memory that a loop loads from, at most.
pub const MOST_STORAGES: usize = 8;

/// What loads read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// The buffer whose descriptor's address the register holds.
    Buffer(Reg),
    Shared,
    Push,
}

/// What loads read from, as code has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Memory {
    pub ptr: *const u8,
    /// 2^31 bytes on: what signed indices are added to.
    pub middle: *const u8,
    pub size: u64,
    /// Where offset 0 lies in its line.
    pub lead: u32,
    /// Word i of a load lies within at offsets below; and the same less 2^31.
    pub below: [u32; WORDS],
    pub ends: [i32; WORDS],
}

/// What a region's code has beside the registers.
#[repr(C)]
pub struct Context {
    pub state: *mut State,
    pub level: Level,
    pub rows: *mut Row,
    pub patience: u32,
    /// Warps to run.
    pub live: u32,
    /// Some warp left with lanes.
    pub lanes: u32,
    /// Of the warps side by side, those with lanes, and those with fewer than they began with.
    pub warps: u64,
    pub diverged: u64,
    /// Accesses by shape: of runs, and those of them that begin within a line, of one place, of no shape; lines told.
    pub runs: u64,
    pub odd: u64,
    pub same: u64,
    pub unknown: u64,
    pub lines: u64,
    pub exec: [u16; 16],
    pub began: [u16; 16],
    pub memory: [MaybeUninit<Memory>; MOST_STORAGES],
    /// Workgroups to come, the last of them first: their warps, and their memory's [`Memory::ptr`] and [`Memory::middle`].
    pub groups: u32,
    pub group_live: [u32; GROUPS],
    pub group_ptr: [*const u8; GROUPS],
    pub group_middle: [*const u8; GROUPS],
}

called! {
    /// A region's code: its context, first byte of the registers; 0, or 1 where a fault has stopped the wave.
    pub type Function = unsafe fn(*mut Context, *mut u8) -> u32;
}

/// What the engine knows of a region.
pub struct Entry {
    pub function: usize,
    pub level: Level,
    pub places: Vec<Storage>,
    /// Ops at which the wave goes on: with lanes, without any, and where the region is none for it.
    pub exits: [u32; 2],
    pub fallback: u32,
    /// Ops that code has done by kernels: it knows where they are.
    pub _ops: Box<[Op]>,
}

impl Entry {
    /// The op that leads there.
    pub fn op(&self) -> Op {
        super::with_address(Code::REGION, std::ptr::from_ref(self) as u64, 0)
    }

    /// Fills in the memory that it loads from; none where that is of a kind that its code does not know.
    fn memory(&self, st: &State, c: &mut Context) -> Option<()> {
        for (n, place) in self.places.iter().enumerate() {
            let r = match place {
                Storage::Buffer(reg) => {
                    // SAFETY: the op's register, which has a descriptor's address.
                    unsafe { buffer(*src64(st, *reg).0) }
                }
                Storage::Shared if st.packed => {
                    c.take_groups(st);
                    shared_of(st, c.live.trailing_zeros() as usize)
                }
                Storage::Shared => shared(st),
                Storage::Push => push(st),
            };
            let size = u32::try_from(r.size()).ok()?;
            // A loop is compiled into vectors. `from_fn` and `map` become sixteen calls each, a cost that short regions notice.
            let (mut below, mut ends) = ([0; WORDS], [0; WORDS]);
            for i in 0..WORDS {
                below[i] = size.saturating_sub(3 + 4 * i as u32);
                ends[i] = (below[i] ^ 1 << 31) as i32;
            }
            c.memory[n].write(Memory {
                ptr: r.ptr(),
                middle: r.ptr().wrapping_add(1 << 31),
                size: r.size(),
                lead: count::begin(st, &r) as u32 & 63,
                below,
                ends,
            });
        }
        Some(())
    }
}

impl Context {
    /// Leaves the first workgroup's warps to run, and has the others come after it: only warps of one workgroup, whose memory is
    /// the same, go side by side.
    fn take_groups(&mut self, st: &State) {
        let mut rest = self.live;
        while rest != 0 {
            let last = 31 - rest.leading_zeros() as usize;
            let same = |w: &usize| st.shared_at[*w & 15] == st.shared_at[last & 15];
            let live = mask::Bits(rest).filter(same).fold(0, |m, w| m | 1 << w);
            rest &= !live;
            if rest == 0 {
                self.live = live;
                break;
            }
            let (at, r) = (self.groups as usize, shared_of(st, last));
            self.group_live[at] = live;
            self.group_ptr[at] = r.ptr();
            self.group_middle[at] = r.ptr().wrapping_add(1 << 31);
            self.groups += 1;
        }
    }
}

/// The kernel of [`Code::REGION`].
///
/// # Safety
/// As [`crate::Kernel`]; the op is one of [`Entry::op`]'s.
pub unsafe fn run(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    let o = unsafe { &*op };
    // SAFETY: an entry, which lives as long as the op.
    let entry = unsafe { &*(super::address_of(o) as *const Entry) };
    let go = |st: &State, i: u32| st.code.wrapping_add(i as usize);
    if st.count.exact {
        return go(st, entry.fallback);
    }
    let mut c = Context {
        state: std::ptr::from_mut(st),
        level: entry.level,
        rows: st.count.rows(),
        patience: st.patience,
        live: st.live,
        lanes: 0,
        warps: 0,
        diverged: 0,
        runs: 0,
        odd: 0,
        same: 0,
        unknown: 0,
        lines: 0,
        exec: mask::exec(st),
        began: *st.count.began.first_chunk().expect("a wave has more entries"),
        memory: [MaybeUninit::uninit(); MOST_STORAGES],
        groups: 0,
        group_live: [0; GROUPS],
        group_ptr: [std::ptr::null(); GROUPS],
        group_middle: [std::ptr::null(); GROUPS],
    };
    if entry.memory(st, &mut c).is_none() {
        return go(st, entry.fallback);
    }
    let full = mask::is_full(st);
    let live = st.live;
    // SAFETY: where `compile` put a function, which lives as long as the op.
    let function: Function = unsafe { std::mem::transmute(entry.function) };
    super::stack::make_room();
    // SAFETY: the state's registers; the code stays within what the program's ops name.
    let stopped = unsafe { function(&mut c, st.regs) };
    st.patience = c.patience;
    if COUNTED {
        let row = st.count.row();
        let told = |n: u64| if full { n } else { 0 };
        row.lines[Access::ReadFull] += told(c.runs - c.odd);
        row.lines[Access::ReadPartial] += c.lines + told(2 * c.odd + c.same);
        row.unknown[AccessKind::Read] += c.unknown + (c.runs + c.same) - told(c.runs + c.same);
    }
    if stopped != 0 {
        return std::ptr::null();
    }
    for w in mask::Bits(live) {
        st.exec[w] = c.exec[w];
    }
    let exec = mask::exec(st);
    mask::set_exec(st, exec);
    go(st, entry.exits[(c.lanes == 0) as usize])
}

called! {
    /// Called by code that ran out of loop iterations: whether to go on; 1 if not, for the wave has stopped.
    ///
    /// # Safety
    /// The context is that of a region that runs, and the op one of its program's.
    pub unsafe fn tired(c: *mut Context, op: u64) -> u32 {
        // SAFETY: the caller's.
        let c = unsafe { &mut *c };
        // SAFETY: as above.
        let st = unsafe { &mut *c.state };
        let why = out_of_patience(st);
        c.patience = st.patience;
        let Some(why) = why else { return 0 };
        // SAFETY: one of the program's ops.
        let at = unsafe { At::new(st.code.add(op as usize)) };
        fault(st, at, why);
        1
    }
}

called! {
    /// Called by code: has a kernel do an op for one warp, whose registers are units of their own at `regs`.
    ///
    /// # Safety
    /// The context is that of a region that runs; the op names units at `regs`, and no other memory.
    pub unsafe fn one(c: *mut Context, op: *const Op, regs: *mut u8) {
        // SAFETY: the caller's.
        let (c, op) = unsafe { (&mut *c, &*op) };
        // SAFETY: as above.
        let st = unsafe { &mut *c.state };
        let (own, live) = (std::mem::replace(&mut st.regs, regs), std::mem::replace(&mut st.live, 1));
        // SAFETY: a kernel of the level that the code is for.
        unsafe { crate::kernels::table(c.level)[op.code.0 as usize](st, op) };
        (st.regs, st.live) = (own, live);
    }
}

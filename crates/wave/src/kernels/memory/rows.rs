//! Loads and stores of a matrix's rows: sixteen accesses of each warp, from one to the next a stride. Where the lanes' places follow
//! each other, a warp's matrix is one bounds check and sixteen vectors; anything else is done row by row, as by the ops of single rows.

use super::cell::{C8, C16, C32, CF16};
use super::global::{addend, ld_global, st_global};
use super::linear::{Packed, Regions, buffer, shared};
use super::offsets::Offsets;
use super::warp::Extent;
use super::{fast, holes};
use crate::counting::tally::{Access, AccessKind};
use crate::kernels::count;
use crate::kernels::forms::{call_kernel, kernels};
use crate::kernels::mask::{self, Bits, is_full};
use crate::kernels::regs::{dst32, src32, src64};
use crate::state::{At, State};
use shader::bytecode::{Op, Reg, SHAPE_RUN, UNIT_BYTES, mem_bits, mem_of};
use shader::ir::Mem;
use shader::isa::code::ROWS;
use simd::{Simd, Steps};

/// Bytes from a row to the next: a uniform register, or lanes of one.
fn stride(st: &State, op: At, w: usize) -> u32 {
    let (p, step) = src32(st, op.d);
    // A warp's lanes agree, those that execute at least.
    let lane = st.exec[w & 15].trailing_zeros() as usize & 15;
    // SAFETY: the op's register.
    unsafe { *p.add(if step == 0 { 0 } else { w * step + lane }) }
}

/// The warps' registers of each row.
#[inline(always)]
fn registers(op: At) -> [Reg; ROWS] {
    // Extension words are registers in a row ([`At::value`]).
    // SAFETY: the op has so many values.
    unsafe { *op.on(1).cast() }
}

/// Row by row: `step` does the op of one row for the live warps, and says where to go on; null: the wave has stopped.
#[inline(always)]
fn one_by_one(st: &mut State, op: At, mut step: impl FnMut(&mut State, At) -> *const Op) -> *const Op {
    let code = op.code.one_row().unwrap_or(op.code);
    let e = op.e & !0xFF | mem_bits(mem_of(op.e), 1);
    let (all, mut rest) = (mask::exec(st), st.live);
    // Warps with strides of their own go one after the other.
    let apart = !op.d.is_uniform();
    while rest != 0 {
        let w = rest.trailing_zeros() as usize & 15;
        if apart {
            mask::set_exec(st, std::array::from_fn(|i| if i == w { all[i] } else { 0 }));
        }
        rest &= if apart { rest - 1 } else { 0 };
        let stride = stride(st, op, w);
        for (i, d) in registers(op).into_iter().enumerate() {
            if d.is_none() {
                continue;
            }
            let imm = op.imm.wrapping_add(stride.wrapping_mul(i as u32));
            let row = Op { code, d, e, imm, ..*op };
            // SAFETY: its registers are the op's; it lives as long as the call.
            if step(st, unsafe { At::new(&row) }).is_null() {
                mask::set_exec(st, all);
                st.pc = op.ptr();
                return std::ptr::null();
            }
        }
    }
    mask::set_exec(st, all);
    op.after(ROWS)
}

/// What the op of one row counts as: full accesses, and their kind.
fn access(op: At) -> (Access, AccessKind) {
    let (full, _, kind) = count::access(&Op { code: op.code.one_row().unwrap_or(op.code), ..*op });
    (full, kind)
}

/// One stride, and scalars that have a vector a row.
fn takes(op: At) -> bool {
    op.d.is_uniform() && mem_of(op.e) != Mem::B64
}

/// Where the rows of full warps lie whose lanes follow each other.
#[derive(Clone, Copy)]
struct Run {
    p: *const u32,
    k: u32,
    stride: u32,
}

impl Run {
    /// `None`: it is not known of the op, or all lines have to be looked at.
    fn of(st: &State, op: At) -> Option<Run> {
        let plain = op.e & SHAPE_RUN != 0 && takes(op);
        let told = !st.count.exact || mem_of(op.e) == Mem::B32 && !st.count.follows();
        let off = Offsets::new(st, op);
        if !plain || !told || off.is_uniform() || !op.c.is_uniform() || !is_full(st) {
            return None;
        }
        Some(Run { p: off.lanes(0), k: off.k, stride: stride(st, op, 0) })
    }
    /// Where a warp's rows begin, if all of them lie within the region.
    #[inline(always)]
    fn within(self, r: Extent, w: usize, bytes: u32) -> Option<*mut u8> {
        // SAFETY: a live warp's offsets.
        let at = unsafe { *self.p.wrapping_add(w * 16) }.wrapping_add(self.k);
        let end = at as u64 + (ROWS as u64 - 1) * self.stride as u64 + 16 * bytes as u64;
        (end <= r.size().min(1 << 32)).then(|| r.ptr().wrapping_add(at as usize))
    }
    /// The offset of each lane of a warp in row `i`.
    fn lane(self, w: usize, i: usize, lane: usize) -> u64 {
        // SAFETY: a live warp's offsets.
        let at = unsafe { *self.p.wrapping_add(w * 16 + lane) };
        at.wrapping_add(self.k).wrapping_add(self.stride.wrapping_mul(i as u32)) as u64
    }
    /// Counts as the ops of single rows do.
    fn count(self, st: &mut State, op: At, first: Extent, rows: usize) {
        let (full, kind) = access(op);
        let lead = count::begin(st, &first) as u32 & 63;
        if mem_of(op.e) == Mem::B32 && self.stride & 63 == 0 {
            // SAFETY: the live warps' offsets, which nobody changes meanwhile.
            return unsafe { count::runs(st, self.p, self.k.wrapping_add(lead), full, rows as u64) };
        }
        for (i, d) in registers(op).into_iter().enumerate() {
            if d.is_none() {
                continue;
            }
            if mem_of(op.e) == Mem::B32 {
                let k = self.k.wrapping_add(self.stride.wrapping_mul(i as u32)).wrapping_add(lead);
                // SAFETY: the live warps' offsets, which nobody changes meanwhile.
                unsafe { count::run(st, self.p, k, full) };
            } else {
                count::unknown(st, kind);
            }
        }
    }
}

/// Where one row goes and comes from: bytes from the first warp's registers, and from the matrix's begin in memory.
#[derive(Clone, Copy, Default)]
struct Way {
    to: u32,
    from: u32,
}

/// The rows that something reads.
struct Ways {
    all: [Way; ROWS],
    rows: usize,
    /// All their registers are the warps' own; else [`Ways::load`] is not for them.
    varying: bool,
}

impl Ways {
    #[inline(always)]
    fn of(op: At, stride: u32) -> Ways {
        let mut it = Ways { all: [Way::default(); ROWS], rows: 0, varying: true };
        for (i, d) in registers(op).into_iter().enumerate() {
            let to = (d.unit() * UNIT_BYTES) as u32;
            it.all[it.rows] = Way { to, from: stride.wrapping_mul(i as u32) };
            it.rows += !d.is_none() as usize;
            it.varying &= d.is_none() || !d.is_uniform();
        }
        it
    }

    /// One warp's rows from memory.
    ///
    /// # Safety
    /// They lie at `from` and on; the registers are the op's, and varying.
    #[inline(always)]
    unsafe fn load<S: Simd>(&self, s: S, st: &State, mem: Mem, w: usize, from: *const u8) {
        let base = st.regs.wrapping_add(w * UNIT_BYTES);
        // No closures: they would be code for any CPU.
        macro_rules! each {
            (|$to:ident, $from:ident| $one:expr) => {
                for way in &self.all[..self.rows] {
                    let ($to, $from) = (base.wrapping_add(way.to as usize), from.wrapping_add(way.from as usize));
                    // The next matrix lies beside this one as a rule, in lines that no prefetcher of a CPU expects.
                    simd::prefetch($from.wrapping_add(64));
                    // SAFETY: the caller's.
                    unsafe { $one };
                }
            };
        }
        match mem {
            Mem::U8 => each!(|to, from| s.istore(to, s.iwiden8(from))),
            Mem::U16 => each!(|to, from| s.istore(to, s.iwiden16(from))),
            Mem::F16 => each!(|to, from| s.fstore(to, s.fload16(from))),
            _ => each!(|to, from| s.istore(to, s.iloadu(from))),
        }
    }
}

/// One row of one warp to memory.
///
/// # Safety
/// It lies at `to`; the register is the op's.
#[inline(always)]
unsafe fn store_row<L: Steps>(l: L, st: &State, v: Reg, mem: Mem, w: usize, to: *mut u8) {
    let (from, step) = src32(st, v);
    let from = from.wrapping_add(w * step).cast::<u8>();
    // SAFETY: the caller's.
    unsafe {
        match mem {
            Mem::U8 => l.inarrow8(to, l.iload(from)),
            Mem::U16 => l.inarrow16(to, l.iload(from)),
            Mem::F16 => l.fstore16(to, l.fload(from)),
            _ => l.copy64(to, from),
        }
    }
}

/// Lane by lane, where some lie outside.
///
/// # Safety
/// The registers are the op's, the warp is live.
#[cold]
#[inline(never)]
unsafe fn load_some(st: &State, d: &[Reg; ROWS], mem: Mem, r: Extent, w: usize, x: Run) {
    for (i, d) in d.iter().enumerate().filter(|(_, d)| !d.is_none()) {
        let v: [u32; 16] = std::array::from_fn(|lane| {
            let at = x.lane(w, i, lane);
            match mem {
                Mem::U8 => r.read::<C8>(at),
                Mem::U16 => r.read::<C16>(at),
                Mem::F16 => r.read::<CF16>(at),
                _ => r.read::<C32>(at),
            }
        });
        // SAFETY: the caller's.
        unsafe { *(dst32(st, *d, w) as *mut [u32; 16]) = v };
    }
}

/// As [`load_some`].
///
/// # Safety
/// As [`load_some`].
#[cold]
#[inline(never)]
unsafe fn store_some(st: &State, v: Reg, mem: Mem, r: Extent, w: usize, i: usize, x: Run) {
    let (from, step) = src32(st, v);
    for lane in 0..16 {
        // SAFETY: the caller's.
        let v = unsafe { *from.add(w * step + lane) };
        let at = x.lane(w, i, lane);
        match mem {
            Mem::U8 => r.write::<C8>(at, v),
            Mem::U16 => r.write::<C16>(at, v),
            Mem::F16 => r.write::<CF16>(at, v),
            _ => r.write::<C32>(at, v),
        }
    }
}

/// # Safety
/// `x` is what [`Run::of`] said of the op.
#[inline(always)]
unsafe fn load<S: Simd, R: Regions>(s: S, st: &mut State, op: At, regions: R, x: Run) -> *const Op {
    let (ways, mem) = (Ways::of(op, x.stride), mem_of(op.e));
    x.count(st, op, regions.of(st, 0), ways.rows);
    for w in Bits(st.live) {
        let r = regions.of(st, w);
        // SAFETY: the op's registers, a live warp; within the region where it is said so.
        unsafe {
            match x.within(r, w, mem.bytes()) {
                Some(from) if ways.varying => ways.load(s, st, mem, w, from),
                _ => load_some(st, &registers(op), mem, r, w, x),
            }
        }
    }
    op.after(ROWS)
}

/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn store<L: Steps, R: Regions>(l: L, st: &mut State, op: At, regions: R, x: Run) -> *const Op {
    let rows = registers(op).iter().filter(|v| !v.is_none()).count();
    x.count(st, op, regions.of(st, 0), rows);
    let mem = mem_of(op.e);
    let mut to = [None; 16];
    for w in Bits(st.live) {
        to[w & 15] = x.within(regions.of(st, w), w, mem.bytes());
    }
    // Row by row, as the ops of single rows go: where warps' places overlap, the same one stays.
    for (i, v) in registers(op).into_iter().enumerate() {
        for w in Bits(st.live) {
            // SAFETY: the op's registers, a live warp; within the region where it is said so.
            unsafe {
                match to[w & 15] {
                    Some(to) => store_row(l, st, v, mem, w, to.wrapping_add(i * x.stride as usize)),
                    None => store_some(st, v, mem, regions.of(st, w), w, i, x),
                }
            }
        }
    }
    op.after(ROWS)
}

/// Where a warp's rows lie by address: its lanes follow each other, and all of it is device memory.
#[inline(always)]
fn by_address(st: &State, op: At, p: *const u64, step: usize, w: usize, stride: u32) -> Option<*mut u8> {
    let bytes = mem_of(op.e).bytes();
    // SAFETY: the op's register, a live warp.
    let at = unsafe { &*(p.wrapping_add(w * step) as *const [u64; 16]) };
    let mut odd = 0;
    for (i, a) in at.iter().enumerate() {
        odd |= a.wrapping_sub(at[0]) ^ (i as u64 * bytes as u64);
    }
    let first = at[0].wrapping_add(addend(st, op));
    let all = (ROWS as u32 - 1).checked_mul(stride).and_then(|n| n.checked_add(16 * bytes))?;
    (odd == 0 && st.arena.holds(first, all) && !holes::may_be(st, first)).then_some(first as *mut u8)
}

/// The warps' rows by address, if all are plain.
#[inline(always)]
fn plain_addresses(st: &State, op: At) -> Option<([*mut u8; 16], u32)> {
    let (p, step) = src64(st, op.a);
    if st.count.exact || !is_full(st) || step == 0 || !takes(op) {
        return None;
    }
    let (mut all, stride) = ([std::ptr::null_mut(); 16], stride(st, op, 0));
    for w in Bits(st.live) {
        all[w & 15] = by_address(st, op, p, step, w, stride)?;
    }
    Some((all, stride))
}

#[inline(always)]
fn ld_rows_buf<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
    if op.b.is_uniform()
        && let Some(x) = Run::of(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address; `of` gave the offsets.
        return unsafe { load(s, st, op, buffer(*src64(st, op.b).0), x) };
    }
    one_by_one(st, op, |st, row| call_kernel!(s, fast::ld_buf, st, row))
}

#[inline(always)]
fn st_rows_buf<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if op.b.is_uniform()
        && let Some(x) = Run::of(st, op)
    {
        // SAFETY: the op's register, which has a descriptor's address.
        let r = unsafe { buffer(*src64(st, op.b).0) };
        if !holes::may_be_in(st, &r) {
            // SAFETY: `of` gave the offsets.
            return unsafe { store(l, st, op, r, x) };
        }
    }
    one_by_one(st, op, |st, row| call_kernel!(l, fast::st_buf, st, row))
}

#[inline(always)]
fn ld_rows_shared<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
    if let Some(x) = Run::of(st, op) {
        // SAFETY: `of` gave the offsets.
        return unsafe {
            if st.packed { load(s, st, op, Packed, x) } else { load(s, st, op, shared(st), x) }
        };
    }
    one_by_one(st, op, |st, row| call_kernel!(s, fast::ld_shared, st, row))
}

#[inline(always)]
fn st_rows_shared<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    if let Some(x) = Run::of(st, op) {
        // SAFETY: `of` gave the offsets.
        return unsafe {
            if st.packed { store(l, st, op, Packed, x) } else { store(l, st, op, shared(st), x) }
        };
    }
    one_by_one(st, op, |st, row| call_kernel!(l, fast::st_shared, st, row))
}

#[inline(always)]
fn ld_rows_global<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
    let known = plain_addresses(st, op).map(|(all, stride)| (all, Ways::of(op, stride)));
    let Some((all, ways)) = known.filter(|k| k.1.varying) else {
        return one_by_one(st, op, |st, row| call_kernel!(s, ld_global, st, row));
    };
    let mem = mem_of(op.e);
    (0..ways.rows).for_each(|_| count::unknown(st, access(op).1));
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp; the rows are device memory.
        unsafe { ways.load(s, st, mem, w, all[w & 15]) };
    }
    op.after(ROWS)
}

#[inline(always)]
fn st_rows_global<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let Some((all, stride)) = plain_addresses(st, op) else {
        return one_by_one(st, op, |st, row| call_kernel!(l, st_global, st, row));
    };
    for (i, v) in registers(op).into_iter().enumerate() {
        count::unknown(st, access(op).1);
        for w in Bits(st.live) {
            let to = all[w & 15].wrapping_add(i * stride as usize);
            // SAFETY: the op's registers, a live warp; the rows are device memory.
            unsafe { store_row(l, st, v, mem_of(op.e), w, to) };
        }
    }
    op.after(ROWS)
}

kernels! {
    ST_ROWS_BUF = st_rows_buf;
    ST_ROWS_GLOBAL = st_rows_global;
    ST_ROWS_SHARED = st_rows_shared;
    (wide LD_ROWS_BUF = ld_rows_buf)
    (wide LD_ROWS_GLOBAL = ld_rows_global)
    (wide LD_ROWS_SHARED = ld_rows_shared)
}

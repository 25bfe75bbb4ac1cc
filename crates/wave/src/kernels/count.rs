//! Counting what passes, and the cache lines that accesses touch.

use super::forms::kernels;
use super::mask::{self, Bits};
use super::memory::linear::{buffer, shared};
use super::memory::offsets::Offsets;
use super::memory::warp::Extent;
use super::regs::src64;
use crate::counting::tally::{Access, AccessKind, Tex, Texture};
use crate::host::{Filter, Filtering, ImageWarp};
use crate::state::{At, State};
use shader::bytecode::{Code, ImageCode, Op, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE, mem_of, n_of, parts_of};
use shader::cost::COUNTED;
use shader::ir::ImageOp;
use simd::Steps;
use std::ops::Range;

#[inline(always)]
fn tally<L: Steps>(_: L, st: &mut State, op: At) -> *const Op {
    // SAFETY: a counter of the program.
    unsafe { count(st, op.imm as usize) };
    if op.e != 0 {
        // Helpers are nobody's threads.
        // Four warps at a time, and in a loop of its own: only within the kernel are there instructions to count bits.
        let (e, a) = (st.exec.as_ptr() as *const [u64; 4], st.alive.as_ptr() as *const [u64; 4]);
        let mut threads = 0;
        for i in 0..4 {
            // SAFETY: both are 64 bytes, aligned to 64.
            threads += unsafe { (*e)[i] & (*a)[i] }.count_ones();
        }
        st.count.row().threads += threads as u64;
    }
    op.on(1)
}

#[inline(always)]
fn began(st: &State) -> &mask::Masks {
    // SAFETY: it has 32 entries.
    unsafe { &*(st.count.began.as_ptr() as *const mask::Masks) }
}

/// Counts the live warps that have fewer lanes than they began with.
#[inline(always)]
fn diverged(st: &mut State) {
    let fewer = mask::map2(mask::exec(st), *began(st), |x, y| x ^ y);
    let warps = (simd::non_zero(&fewer) & st.live).count_ones();
    st.count.row().diverged += warps as u64;
}

/// Counts live warps at row `i`, which memory and texture work then goes to.
///
/// # Safety
/// There is such a row.
#[inline(always)]
pub unsafe fn count(st: &mut State, i: usize) {
    let warps = st.live.count_ones();
    // SAFETY: the caller's.
    unsafe { st.count.pass(i) }.warps += warps as u64;
    if mask::exec(st) != *began(st) {
        diverged(st);
    }
}

/// A wave is at its first op: if that counts, it is done here, for all the wave's lanes are in it. Where to go on.
#[inline(always)]
pub fn enter(st: &mut State, op: At) -> *const Op {
    if op.code != Code::TALLY || op.e != 0 {
        return op.ptr();
    }
    let warps = st.live.count_ones();
    // SAFETY: a counter of the program.
    unsafe { st.count.pass(op.imm as usize) }.warps += warps as u64;
    op.on(1)
}

kernels! {
    TALLY = tally;
}

/// What an op's accesses are: full ones, others, and their kind.
#[inline(always)]
pub fn access(op: &Op) -> (Access, Access, AccessKind) {
    match op.code {
        Code::LD_BUF | Code::LD_GLOBAL | Code::LD_SHARED | Code::LD_SCRATCH | Code::LD_PUSH => {
            (Access::ReadFull, Access::ReadPartial, AccessKind::Read)
        }
        Code::ST_BUF | Code::ST_GLOBAL | Code::ST_SHARED | Code::ST_SCRATCH => {
            (Access::WriteFull, Access::WritePartial, AccessKind::Write)
        }
        _ => (Access::Atomic, Access::Atomic, AccessKind::Atomic),
    }
}

#[inline(always)]
fn add(st: &mut State, kind: Access, lines: u64) {
    if !COUNTED {
        return;
    }
    st.count.row().lines[kind] += lines;
}

/// Each live warp accesses an aligned word that all its lanes share.
#[inline(always)]
pub fn same(st: &mut State, partial: Access) {
    add(st, partial, st.live.count_ones() as u64);
}

/// Each live warp, all lanes active, accesses words that follow each other from `p[16 w] + k`, k with what the
/// region's begin lies after a line's.
///
/// # Safety
/// The live warps' offsets are at `p`, and nobody changes them meanwhile.
#[inline(always)]
pub unsafe fn run(st: &mut State, p: *const u32, k: u32, full: Access) {
    // SAFETY: the caller's.
    unsafe { runs(st, p, k, full, 1) };
}

/// As [`run`], so many times, whole lines apart.
///
/// # Safety
/// As [`run`].
#[inline(always)]
pub unsafe fn runs(st: &mut State, p: *const u32, k: u32, full: Access, times: u64) {
    // SAFETY: the caller's.
    let off = Bits(st.live).fold(0, |off, w| off | unsafe { *p.add(w * 16) }.wrapping_add(k));
    // SAFETY: the caller's.
    unsafe { run_known(st, p, k, full, off, times) };
}

/// As [`runs`]; `off`: bits of which the lowest six are 0 only if those of all places are.
///
/// # Safety
/// As [`run`].
#[inline(always)]
pub unsafe fn run_known(st: &mut State, p: *const u32, k: u32, full: Access, off: u32, times: u64) {
    let warps = times * st.live.count_ones() as u64;
    if off & 63 == 0 {
        return add(st, full, warps);
    }
    // SAFETY: the caller's.
    let odd = Bits(st.live).filter(|w| unsafe { *p.add(w * 16) }.wrapping_add(k) & 63 != 0).count();
    let odd = times * odd as u64;
    add(st, full, warps - odd);
    // Two lines for 64 bytes.
    st.count.row().lines.0[full as usize + 1] += 2 * odd;
}

/// Accesses of which it would take long to tell the lines: counted where tracing is on.
#[inline(always)]
pub fn unknown(st: &mut State, kind: AccessKind) {
    if !COUNTED {
        return;
    }
    let warps = st.live.count_ones();
    st.count.row().unknown[kind] += warps as u64;
}

/// What some warps ask of the texture unit.
#[derive(Default)]
struct Asked {
    warps: u64,
    lanes: u64,
    /// Two quads go in a message; of some there is one.
    messages: u64,
    single: u64,
}

impl Asked {
    /// One warp more, of lanes `ex`.
    #[inline(always)]
    fn warp(&mut self, ex: u16) {
        let quads = ((ex | ex >> 1 | ex >> 2 | ex >> 3) & 0x1111).count_ones() as u64;
        self.warps += (ex != 0) as u64;
        self.lanes += ex.count_ones() as u64;
        self.messages += quads.div_ceil(2);
        self.single += quads & 1;
    }

    /// Counts it: messages, and what each stage of the unit does for them; eight more taps are a footprint more.
    #[inline(always)]
    fn count(&self, t: &mut Texture, f: Filtering) {
        let footprints = self.messages + self.warps * (f.taps as u64).div_ceil(8);
        t[Tex::Messages] += self.messages;
        t[Tex::Single] += self.single;
        t[Tex::Indexes] += footprints * f.footprints as u64;
        t[Tex::Fetches] += footprints * f.operations as u64;
        t[Tex::In] += self.messages * f.beats as u64;
        if f.complex {
            t[Tex::Complex] += self.messages;
        }
        if f.half {
            t[Tex::Halves] += self.messages;
        }
        t[Tex::Operations] += (self.lanes + self.warps * f.taps as u64) * f.operations as u64;
        *of_filter(t, f.filter) += self.lanes;
    }
}

/// Counts what the texture unit does for all live warps.
#[inline(always)]
pub fn texture_wave(st: &mut State, f: Filtering) {
    if f.operations == 0 || !COUNTED {
        return;
    }
    let mut asked = Asked::default();
    if mask::is_full(st) {
        let warps = st.live.count_ones() as u64;
        asked = Asked { warps, lanes: 16 * warps, messages: 2 * warps, single: 0 };
    } else {
        for w in Bits(st.live) {
            asked.warp(st.exec[w]);
        }
    }
    asked.count(&mut st.count.row().texture, f);
}

/// Samples by filter.
#[inline(always)]
fn of_filter(t: &mut Texture, f: Filter) -> &mut u64 {
    match f {
        Filter::Nearest => &mut t[Tex::Nearest],
        Filter::Bilinear => &mut t[Tex::Bilinear],
        Filter::Trilinear => &mut t[Tex::Trilinear],
        Filter::Volume => &mut t[Tex::Volume],
        Filter::Aniso => &mut t[Tex::Aniso],
    }
}

/// Counts what the texture unit does for a warp's lanes `ex`.
#[inline(always)]
pub fn texture(st: &mut State, f: Filtering, ex: u16) {
    if !COUNTED {
        return;
    }
    if f.operations == 0 || ex == 0 {
        return;
    }
    let mut asked = Asked::default();
    asked.warp(ex);
    asked.count(&mut st.count.row().texture, f);
}

/// Leaves each line once, in ascending order.
pub fn distinct(lines: &mut Vec<u64>) {
    // Neighbours' texels mostly share lines: far fewer are left to sort.
    lines.dedup();
    lines.sort_unstable();
    lines.dedup();
}

/// Counts the lines of texels that an operation of a warp touches.
///
/// # Safety
/// As [`crate::Host::image`]; `x` holds the warp's operands.
#[inline(never)]
pub unsafe fn texels(st: &mut State, c: &ImageCode, x: &mut ImageWarp) {
    if !COUNTED {
        return;
    }
    let stores = matches!(c.op, ImageOp::Write | ImageOp::Atomic(_));
    let follows = if stores { st.count.follows() } else { st.count.follows_texels() };
    // SAFETY: the caller's.
    let lines = unsafe { if follows { follow_texels(st, c, x) } else { st.host.texel_line_count(c, x) } };
    let row = st.count.row();
    match c.op {
        ImageOp::Write => {
            row.lines[Access::WritePartial] += lines;
            row.sampled[AccessKind::Write] += 1;
            row.sampled_lines[AccessKind::Write] += lines;
        }
        ImageOp::Atomic(_) => row.lines[Access::Atomic] += x.mask.count_ones() as u64,
        _ => row.texture[Tex::Lines] += lines,
    }
}

/// Sends the lines of texels that an operation of a warp touches through the caches: message by message (two quads)
/// where the texture unit does it, by warp where load/store does. How many there are in all.
///
/// # Safety
/// As [`texels`].
unsafe fn follow_texels(st: &mut State, c: &ImageCode, x: &mut ImageWarp) -> u64 {
    let mut lines = Vec::new();
    if matches!(c.op, ImageOp::Write | ImageOp::Atomic(_)) {
        // SAFETY: the caller's.
        unsafe { st.host.texel_lines(c, x, &mut lines) };
        distinct(&mut lines);
        let kind = if c.op == ImageOp::Write { AccessKind::Write } else { AccessKind::Atomic };
        lines.iter().for_each(|l| follow(st, kind, *l));
        if let (AccessKind::Atomic, Some(cache)) = (kind, st.count.cache()) {
            cache.atomics(x.mask.count_ones() as u64, lines.len() as u64);
        }
        return lines.len() as u64;
    }
    // SAFETY: the caller's.
    let (base, bytes) = unsafe { st.host.texel_memory(c, x) };
    if let Some(first) = (base >> 6).checked_sub(st.arena.start >> 6)
        && let Some(cache) = st.count.cache()
    {
        cache.samples_of(first, ((base & 63) + bytes).div_ceil(64));
    }
    let mask = x.mask;
    let mut quads = (0..4).map(|q| 0xF << (4 * q)).filter(|q| q & mask != 0);
    let mut all = Vec::new();
    while let Some(first) = quads.next() {
        x.mask = mask & (first | quads.next().unwrap_or(0));
        lines.clear();
        // SAFETY: the caller's.
        unsafe { st.host.texel_lines(c, x, &mut lines) };
        distinct(&mut lines);
        all.extend_from_slice(&lines);
        // What is no device memory is as near as the L1, as in `follow`.
        let before = lines.len();
        lines.retain(|l| is_device(st, l << 6));
        lines.iter_mut().for_each(|l| *l -= st.arena.start >> 6);
        if let Some(cache) = st.count.cache() {
            cache.sample(&lines, (before - lines.len()) as u64);
        }
    }
    x.mask = mask;
    distinct(&mut all);
    all.len() as u64
}

/// Counts stores of so many warps to an image of which the lines are not told.
#[inline(always)]
pub fn image_stores(st: &mut State, c: &ImageCode, warps: u32) {
    if c.op == ImageOp::Write && COUNTED {
        st.count.row().unknown[AccessKind::Write] += warps as u64;
    }
}

#[inline(always)]
fn is_device(st: &State, p: u64) -> bool {
    st.arena.counts(p)
}

/// Where a region begins, for lines and caches: device memory by its address, anything else (workgroup memory, inline
/// uniform blocks) at the beginning of a line, for where the host keeps it must not show.
#[inline(always)]
pub fn begin(st: &State, r: &Extent) -> u64 {
    let p = r.ptr() as u64;
    if is_device(st, p) { p } else { 0 }
}

/// Tells the caches what buffer accesses are to, if it is device memory.
fn bounds(st: &mut State, r: &Extent) {
    let (from, first) = (r.ptr() as u64, st.arena.start >> 6);
    if is_device(st, from)
        && let Some(cache) = st.count.cache()
    {
        cache.accesses_of((from >> 6) - first, ((from & 63) + r.size()).div_ceil(64));
    }
}

/// Sends a line through the caches, if it is of device memory; anything else is as near as the first of them.
#[inline(always)]
fn follow(st: &mut State, kind: AccessKind, line: u64) {
    let device = is_device(st, line << 6);
    let first = st.arena.start >> 6;
    let Some(cache) = st.count.cache() else { return };
    if device {
        // Where the host keeps device memory must not show.
        cache.access(kind, line - first);
    } else {
        cache.near(kind);
    }
}

/// Distinct lines among the addresses of a warp's lanes `ex`, each of `bytes` bytes from its address on.
#[inline(always)]
pub fn each_line(a: &[u64; 16], ex: u16, bytes: u64, mut f: impl FnMut(u64)) {
    let first = (a[ex.trailing_zeros() as usize & 15] >> 6).wrapping_sub(32);
    let mut near = 0u64;
    // Not set to zeros, which would be a call a warp.
    let mut far = [std::mem::MaybeUninit::<u64>::uninit(); 48];
    let mut far_count = 0;
    for l in Bits(ex as u32) {
        let (mut line, last) = (a[l] >> 6, (a[l] + bytes - 1) >> 6);
        while line <= last {
            let at = line.wrapping_sub(first);
            if at < 64 {
                near |= 1 << at;
            } else if far_count < 48
                // SAFETY: so many have been written.
                && !far[..far_count].iter().any(|f| unsafe { f.assume_init() } == line)
            {
                far[far_count].write(line);
                far_count += 1;
            }
            line += 1;
        }
    }
    // One loop for both, so that what is done with a line stands in it.
    let mut told = 0;
    loop {
        f(if near != 0 {
            let at = near.trailing_zeros();
            near &= near - 1;
            first.wrapping_add(at as u64)
        } else if told < far_count {
            told += 1;
            // SAFETY: as above.
            unsafe { far[told - 1].assume_init() }
        } else {
            break;
        });
    }
}

/// Where an access by address counts: one that leads to a fault counts for no more than itself.
#[inline(always)]
pub fn address(p: u64, k: u64) -> u64 {
    p.wrapping_add(k).min(u64::MAX - 4096)
}

/// The lines of a full warp that the op's shape tells: `first`, `last` are the addresses of its lanes 0 and 15.
#[inline(always)]
pub fn told(shape: u16, first: u64, last: u64, bytes: u64) -> Range<u64> {
    // No further than lanes that follow each other reach: the lines are gone through one by one.
    let last = if shape == SHAPE_RUN { last.min(first + 15 * bytes) } else { first };
    first >> 6..((last + bytes - 1) >> 6) + 1
}

/// Whether an op with a shape tells its lines where they are not followed too: as words of whole waves do.
#[inline(always)]
pub fn is_told(st: &State, op: &Op, bytes: u64) -> bool {
    bytes == 4 && mask::is_full(st) && !matches!(op.code, Code::LD_GLOBAL | Code::ST_GLOBAL)
}

/// Counts the lines of one full warp that the op's shape tells, as [`told`].
fn shaped(st: &mut State, op: &Op, first: u64, last: u64, bytes: u64) {
    let shape = op.e & (SHAPE_RUN | SHAPE_SAME);
    let (full, partial, kind) = access(op);
    let mut n = 0;
    for line in told(shape, first, last, bytes) {
        n += 1;
        follow(st, kind, line);
    }
    // Counted with its block.
    if op.e & SHAPE_SINGLE == 0 {
        let whole = shape == SHAPE_RUN && 16 * bytes >= 64 * n;
        let is_told = is_told(st, op, bytes);
        let row = st.count.row();
        row.lines[if whole { full } else { partial }] += n;
        if !is_told {
            row.sampled[kind] += 1;
            row.sampled_lines[kind] += n;
        }
    }
}

/// Counts the lines of one warp's lanes `ex`.
fn warp(st: &mut State, op: &Op, a: &[u64; 16], ex: u16, bytes: u64) {
    let (full, partial, kind) = access(op);
    let mut n = 0;
    each_line(a, ex, bytes, |line| {
        n += 1;
        follow(st, kind, line);
    });
    let row = st.count.row();
    if kind == AccessKind::Atomic {
        let threads = ex.count_ones() as u64;
        row.lines[full] += threads;
        if let Some(cache) = st.count.cache() {
            cache.atomics(threads, n);
        }
        return;
    }
    // Counted with its block.
    if op.e & SHAPE_SINGLE != 0 {
        return;
    }
    let whole = ex == 0xFFFF && a.iter().any(|x| *x != a[0]);
    row.lines[if whole && 16 * bytes >= 64 * n { full } else { partial }] += n;
    row.sampled[kind] += 1;
    row.sampled_lines[kind] += n;
}

/// Counts the lines that a load, store or atomic touches. Before the op is executed, for its result may take its
/// operands' registers. Accesses out of bounds count as others do.
#[inline(never)]
pub fn touch(st: &mut State, op: At) {
    if !COUNTED {
        return;
    }
    for part in 0..parts(&op) {
        touch_part(st, op, part);
    }
}

/// How many loads an op stands for.
#[inline(always)]
pub fn parts(op: &Op) -> u32 {
    if op.code.is_plain_load() { parts_of(op.e) as u32 } else { 1 }
}

/// Bytes of a lane's access, of one of an op's parts.
#[inline(always)]
pub fn part_bytes(op: &Op) -> u32 {
    mem_of(op.e).bytes() * n_of(op.e) as u32 / parts(op)
}

fn touch_part(st: &mut State, op: At, part: u32) {
    let o = &*op;
    let (full, partial, kind) = access(o);
    let is_atomic = kind == AccessKind::Atomic;
    // What an atomic's bits say besides is which one it is.
    let shape = if is_atomic { 0 } else { o.e & (SHAPE_RUN | SHAPE_SAME) };
    let bytes = if is_atomic { mem_of(o.e).bytes() } else { part_bytes(o) } as u64;
    let skipped = part * bytes as u32;
    let warps = st.live.count_ones() as u64;
    if is_atomic && !st.count.follows() {
        let lanes = Bits(st.live).map(|w| st.exec[w].count_ones() as u64).sum();
        return add(st, full, lanes);
    }
    match o.code {
        Code::LD_GLOBAL | Code::ST_GLOBAL | Code::AT_GLOBAL => {
            if !st.count.exact {
                return unknown(st, kind);
            }
            let (p, s) = src64(st, o.a);
            let k = super::memory::global::addend(st, op) + skipped as u64;
            for w in Bits(st.live) {
                // SAFETY: the op's register, a live warp.
                let mut a = unsafe { *(p.add(w * s) as *const [u64; 16]) };
                if shape != 0 && st.exec[w] == 0xFFFF {
                    shaped(st, o, address(a[0], k), address(a[15], k), bytes);
                    continue;
                }
                a.iter_mut().for_each(|x| *x = address(*x, k));
                warp(st, o, &a, st.exec[w], bytes);
            }
            return;
        }
        // A word of all lanes lies together: a line a warp and word.
        Code::LD_SCRATCH | Code::ST_SCRATCH | Code::AT_SCRATCH => {
            if is_atomic {
                return add(st, full, Bits(st.live).map(|w| st.exec[w].count_ones() as u64).sum());
            }
            let all = Bits(st.live).filter(|w| st.exec[*w] == 0xFFFF).count() as u64;
            add(st, full, all * bytes.div_ceil(4));
            add(st, partial, (warps - all) * bytes.div_ceil(4));
            return;
        }
        _ => {}
    }
    let mut off = Offsets::new(st, op);
    off.k = off.k.wrapping_add(skipped);
    let is_shared = matches!(o.code, Code::LD_SHARED | Code::ST_SHARED | Code::AT_SHARED);
    let (d, s) = if is_shared { (std::ptr::null(), 0) } else { src64(st, o.b) };
    // The region's begin, where all lanes have the same one.
    // SAFETY: the op's register, whose lanes are descriptors' addresses.
    let common = match (is_shared, s) {
        (true, _) => Some(begin(st, &shared(st))),
        (_, 0) => Some(begin(st, &unsafe { buffer(*d) })),
        _ => None,
    };
    if s == 0 && !is_shared && st.count.follows() {
        // SAFETY: as above.
        bounds(st, &unsafe { buffer(*d) });
    }
    if let Some(from) = common
        && off.is_uniform()
        && !is_atomic
    {
        // All lanes at one place.
        let lines = told(SHAPE_SAME, from + off.k as u64, 0, bytes);
        if o.e & SHAPE_SINGLE == 0 {
            add(st, partial, lines.clone().count() as u64 * warps);
        }
        if st.count.follows() {
            for _ in 0..warps {
                lines.clone().for_each(|l| follow(st, kind, l));
            }
        }
        return;
    }
    if !is_atomic && o.e & SHAPE_SINGLE != 0 && shape == 0 {
        // The program's own words: a line a warp, which is not the device's.
        if st.count.follows() {
            (0..warps).for_each(|_| follow(st, kind, 0));
        }
        return;
    }
    if !st.count.exact {
        return unknown(st, kind);
    }
    for w in Bits(st.live) {
        let p = off.lanes(w);
        // SAFETY: one of sixteen lanes.
        let at = |l: usize| unsafe { *p.add(l) }.wrapping_add(off.k) as u64;
        let ex = st.exec[w];
        if let Some(from) = common
            && shape != 0
            && ex == 0xFFFF
        {
            shaped(st, o, from + at(0), from + at(15), bytes);
            continue;
        }
        let mut a = [0; 16];
        for (l, a) in a.iter_mut().enumerate() {
            *a = at(l)
                + match common {
                    Some(from) => from,
                    _ if ex >> l & 1 == 0 => 0,
                    // SAFETY: the op's register, an active lane: a descriptor's address.
                    _ => begin(st, &unsafe { buffer(*d.add(w * s + l)) }),
                };
        }
        warp(st, o, &a, ex, bytes);
    }
}

//! Accesses of instrumented programs: how many cache lines each warp's touches. Where lines are not followed through
//! caches only their number matters, and a warp's sixteen lanes are told apart by vectors.

use super::count::{self, access, each_line, told};
use super::forms::call_kernel;
use super::mask::Bits;
use super::memory::linear::{buffer, shared};
use super::memory::offsets::{Offsets, WORD, Words};
use super::memory::warp::{self, Extent, store32_full};
use super::regs::{reg, src32, src64};
use crate::counting::tally::{Access, AccessKind};
use crate::state::{At, State};
use shader::bytecode::{Code, Op, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE};
use shader::cost::COUNTED;
use simd::{Steps, WINDOW};

/// Bytes of a lane's access up to which it touches two lines at most.
const MOST: u64 = 64;

/// Where the last warp's lines lay, for the next one's mostly lie there too: a multiple of 64 that `WINDOW` bytes follow
/// below 2^32.
#[derive(Clone, Copy, Default)]
struct Window(u32);

impl Window {
    /// Lines that a warp's accesses touch: `bytes` (1 to 64) from `p[i] + k` (mod 2^32) on, all lanes.
    #[inline(always)]
    fn lines<L: Steps>(&mut self, l: L, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> u32 {
        if let Some(lines) = l.near(p, k.wrapping_sub(self.0), lead, bytes) {
            return lines.count_ones();
        }
        let first = p[0].wrapping_add(k);
        for at in [first & !(WINDOW - 1), first.saturating_sub(WINDOW / 2).min(WINDOW.wrapping_neg()) & !63] {
            if let Some(lines) = l.near(p, k.wrapping_sub(at), lead, bytes) {
                self.0 = at;
                return lines.count_ones();
            }
        }
        far(l, p, k, lead, bytes)
    }
    /// As [`Window::lines`] for words.
    #[inline(always)]
    fn words<L: Steps>(&mut self, l: L, p: &[u32; 16], k: u32, lead: u32) -> u32 {
        match l.near_words(p, k.wrapping_sub(self.0), lead) {
            Some(lines) => lines.count_ones(),
            None => self.lines(l, p, k, lead, 4),
        }
    }
}

/// As [`Window::lines`], wherever they lie.
#[inline(always)]
fn far<L: Steps>(l: L, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> u32 {
    let (mut lines, mut crosses) = ([0; 16], 0);
    for i in 0..16 {
        let o = p[i].wrapping_add(k);
        let at = (o & 63) + lead;
        lines[i] = (o >> 6) + (at >> 6);
        crosses |= (at >> 6) ^ (at + bytes - 1) >> 6;
    }
    if crosses == 0 {
        return l.distinct(&lines);
    }
    let mut a = [0; 16];
    for i in 0..16 {
        a[i] = p[i].wrapping_add(k) as u64 + lead as u64;
    }
    let mut n = 0;
    each_line(&a, 0xFFFF, bytes as u64, |_| n += 1);
    n
}

/// What an op's warps touched.
#[derive(Default)]
struct Sum {
    /// Lines in all, and of accesses that are full ones.
    lines: u64,
    full: u64,
    /// Accesses of which the shape did not tell the lines, and those lines.
    sampled: u64,
    sampled_lines: u64,
    /// The shape tells them where they are not all counted too.
    told: bool,
}

impl Sum {
    /// Adds to the row, once an op.
    #[inline(always)]
    fn leave(&self, st: &mut State, full: Access, partial: Access, kind: AccessKind) {
        let row = st.count.row();
        row.lines[full] += self.full;
        row.lines[partial] += self.lines - self.full;
        row.sampled[kind] += self.sampled;
        row.sampled_lines[kind] += self.sampled_lines;
    }
    /// One warp's words, all lanes active.
    #[inline(always)]
    fn words<L: Steps>(&mut self, l: L, at: &mut Window, p: &[u32; 16], k: u32, lead: u32) {
        let n = at.words(l, p, k, lead) as u64;
        self.sampled += 1;
        self.sampled_lines += n;
        self.lines += n;
        // Sixteen words are one line's: a full access has one, and more than one place.
        if n == 1 && !l.is_run(p, 0) {
            self.full += 1;
        }
    }
}

/// All lines are counted, and not followed.
#[inline(always)]
fn is_told(st: &State) -> bool {
    COUNTED && st.count.exact && !st.count.follows()
}

/// What [`load`] and [`store`] take: the usual ops, where all lines are counted and the shape tells none.
#[inline(always)]
pub fn takes(st: &State, o: At) -> Option<Words> {
    let shaped = o.e & (SHAPE_RUN | SHAPE_SAME | SHAPE_SINGLE) != 0;
    if is_told(st) && !shaped { Words::of(st, o) } else { None }
}

/// Counts and loads, warp by warp: one's vectors go along with another's loads.
///
/// # Safety
/// `x` is what [`takes`] said of the op.
#[inline(always)]
pub unsafe fn load<L: Steps>(l: L, st: &mut State, op: At, r: Extent, x: Words) -> *const Op {
    let Words { p, k } = x;
    let d = reg(st, op.d) as *mut u32;
    let lead = count::begin(st, &r) as u32 & 63;
    let (mut sum, mut at) = (Sum::default(), Window::default());
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp; its offsets are looked at before anything is written.
        unsafe {
            sum.words(l, &mut at, &*(p.add(w * 16) as *const [u32; 16]), k, lead);
            warp::load32_full(l, r, d.add(w * 16), p.add(w * 16), k);
        }
    }
    sum.leave(st, Access::ReadFull, Access::ReadPartial, AccessKind::Read);
    op.on(1)
}

/// As [`load`].
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub unsafe fn store<L: Steps>(l: L, st: &mut State, op: At, r: Extent, x: Words) -> *const Op {
    let Words { p, k } = x;
    let (v, s) = src32(st, op.d);
    let lead = count::begin(st, &r) as u32 & 63;
    let (mut sum, mut at) = (Sum::default(), Window::default());
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp.
        unsafe {
            sum.words(l, &mut at, &*(p.add(w * 16) as *const [u32; 16]), k, lead);
            store32_full(l, r, v.add(w * s), p.add(w * 16), k);
        }
    }
    sum.leave(st, Access::WriteFull, Access::WritePartial, AccessKind::Write);
    op.on(1)
}

/// One warp's places.
enum Touched<'a> {
    /// Offsets from a line's begin, without what all have in common: this, and where their begin lies in its line.
    Near(&'a [u32; 16], u32, u32),
    /// Addresses more than 2^32 bytes apart.
    Far([u64; 16]),
}

/// Adds one warp's lines. `first`, `last`: the addresses of its lanes 0 and 15, for lines that the shape tells.
#[inline(always)]
fn add<L: Steps>(
    l: L,
    sum: &mut Sum,
    place: &mut Window,
    o: &Op,
    ex: u16,
    bytes: u64,
    x: Touched<'_>,
    ends: [u64; 2],
) {
    let all = ex == 0xFFFF;
    let shape = if all { o.e & (SHAPE_RUN | SHAPE_SAME) } else { 0 };
    let (n, whole) = match shape {
        SHAPE_RUN | SHAPE_SAME => (told(shape, ends[0], ends[1], bytes).count() as u64, shape == SHAPE_RUN),
        _ => match x {
            Touched::Near(p, k, lead) => {
                // Lanes that are not active count where an active one does.
                let mut own = [p[ex.trailing_zeros() as usize & 15]; 16];
                // SAFETY: sixteen lanes each.
                unsafe { l.blend32(own.as_mut_ptr(), p.as_ptr(), ex) };
                let n = match (o.e & 0xFF) == WORD {
                    true => place.words(l, &own, k, lead),
                    false => place.lines(l, &own, k, lead, bytes as u32),
                };
                (n as u64, all && !l.is_run(p, 0))
            }
            Touched::Far(a) => {
                let mut n = 0;
                each_line(&a, ex, bytes, |_| n += 1);
                (n, all)
            }
        },
    };
    sum.lines += n;
    if whole && 16 * bytes >= 64 * n {
        sum.full += n;
    }
    if shape == 0 || !sum.told {
        sum.sampled += 1;
        sum.sampled_lines += n;
    }
}

/// Offsets of addresses, from the line of the lowest on.
#[inline(always)]
fn near_addresses(a: &[u64; 16], ex: u16, o: &mut [u32; 16]) -> Option<()> {
    let mut low = u64::MAX;
    for i in 0..16 {
        low = low.min(if ex >> i & 1 != 0 { a[i] } else { u64::MAX });
    }
    let base = low & !63;
    let mut high = 0;
    for i in 0..16 {
        let at = if ex >> i & 1 != 0 { a[i].wrapping_sub(base) } else { 0 };
        high |= at >> 32;
        o[i] = at as u32;
    }
    (high == 0).then_some(())
}

/// As [`count::touch`], by vectors where it fits. Returns `op`.
#[inline(always)]
pub fn touch<L: Steps>(l: L, st: &mut State, op: At) -> *const Op {
    let o = &*op;
    let bytes = count::part_bytes(o) as u64;
    // Counted with its block.
    if o.e & SHAPE_SINGLE != 0 && !st.count.follows() {
        return op.ptr();
    }
    if !is_told(st) || bytes > MOST {
        count::touch(st, op);
        return op.ptr();
    }
    let off = Offsets::new(st, op);
    let r = match o.code {
        Code::LD_GLOBAL | Code::ST_GLOBAL => None,
        _ if off.is_uniform() => {
            count::touch(st, op);
            return op.ptr();
        }
        Code::LD_SHARED | Code::ST_SHARED => Some(shared(st)),
        // SAFETY: the op's register, which has a descriptor's address.
        _ if o.b.is_uniform() => Some(unsafe { buffer(*src64(st, o.b).0) }),
        _ => {
            count::touch(st, op);
            return op.ptr();
        }
    };
    for part in 0..count::parts(o) {
        touch_part(l, st, op, off, r, bytes, part * bytes as u32);
    }
    op.ptr()
}

/// Counts one of an op's parts, which begins `skipped` bytes after the first one, in a region or by address.
#[inline(always)]
fn touch_part<L: Steps>(
    l: L,
    st: &mut State,
    op: At,
    off: Offsets,
    r: Option<Extent>,
    bytes: u64,
    skipped: u32,
) {
    let o = &*op;
    let (mut sum, mut place) =
        (Sum { told: count::is_told(st, o, bytes), ..Sum::default() }, Window::default());
    let (full, partial, kind) = access(o);
    let Some(r) = r else {
        let (p, s) = src64(st, o.a);
        let k = super::memory::global::addend(st, op) + skipped as u64;
        for w in Bits(st.live) {
            // SAFETY: the op's register, a live warp.
            let mut a = unsafe { *(p.add(w * s) as *const [u64; 16]) };
            for x in &mut a {
                *x = count::address(*x, k);
            }
            let mut own = [0; 16];
            let x = match near_addresses(&a, st.exec[w], &mut own) {
                Some(()) => Touched::Near(&own, 0, 0),
                None => Touched::Far(a),
            };
            add(l, &mut sum, &mut place, o, st.exec[w], bytes, x, [a[0], a[15]]);
        }
        return sum.leave(st, full, partial, kind);
    };
    let k = off.k.wrapping_add(skipped);
    let begin = count::begin(st, &r);
    for w in Bits(st.live) {
        // SAFETY: a live warp's offsets; nothing is written meanwhile.
        let p = unsafe { &*(off.lanes(w) as *const [u32; 16]) };
        let at = |i: usize| begin + p[i].wrapping_add(k) as u64;
        let x = Touched::Near(p, k, begin as u32 & 63);
        add(l, &mut sum, &mut place, o, st.exec[w], bytes, x, [at(0), at(15)]);
    }
    sum.leave(st, full, partial, kind);
}

/// [`touch`], out of line.
#[inline(always)]
pub fn count<L: Steps>(l: L, st: &mut State, op: At) {
    call_kernel!(l, touch, st, op);
}

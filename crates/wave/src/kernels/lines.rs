//! Accesses of instrumented programs: how many cache lines each warp's touches. Where lines are not followed through
//! caches only their number matters, and a warp's sixteen lanes are told apart by vectors.

use super::count::{self, access, each_line, told};
use super::levels::{General, Steps};
use super::mask::Bits;
use super::memory::linear::{buffer, shared};
use super::memory::offsets::{Offsets, WORD, Words};
use super::memory::warp::{Region, store32_full};
use super::regs::{reg, src32, src64};
use crate::state::{At, State};
use crate::tally::{Access, AccessKind};
use shader::bytecode::{Code, Op, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE, mem_of, n_of};
use shader::cost::COUNTED;

/// Bytes of the 64 lines that [`Lines::near`] tells apart.
const WINDOW: u32 = 4096;
/// Bytes of a lane's access up to which it touches two lines at most.
const MOST: u64 = 64;

/// The steps over a warp's 16 offsets that need hand-picked instructions.
pub trait Lines: Copy {
    /// Lane i touches `bytes` (1 to 64) from `r + lead` on, `r = p[i] + k` (mod 2^32), `lead` < 64. The lines touched,
    /// bit j for bytes 64 j to 64 j + 63; if any lane's r or any byte lies beyond line 63, nothing.
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64>;
    /// As [`Lines::near`] for four bytes; nothing, too, if a lane's lie at no multiple of four.
    #[inline(always)]
    fn near_words(self, p: &[u32; 16], k: u32, lead: u32) -> Option<u64> {
        self.near(p, k, lead, 4)
    }
    /// How many different numbers there are.
    fn distinct(self, l: &[u32; 16]) -> u32;
}

impl Lines for simd::Portable {
    #[inline(never)]
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64> {
        let (mut lines, mut all) = (0u64, 0u32);
        for i in 0..16 {
            let r = p[i].wrapping_add(k);
            let from = r.wrapping_add(lead);
            let to = from.wrapping_add(bytes - 1);
            all |= r | to;
            lines |= 1 << (from >> 6 & 63) | 1 << (to >> 6 & 63);
        }
        (all < WINDOW).then_some(lines)
    }
    #[inline(never)]
    fn distinct(self, l: &[u32; 16]) -> u32 {
        let mut n = 16;
        for i in 1..16 {
            let mut seen = false;
            for j in 0..i {
                seen |= l[j] == l[i];
            }
            n -= seen as u32;
        }
        n
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Lines, WINDOW};
    use simd::Avx2;
    use std::arch::x86_64::*;

    simd::avx2! {
        /// Bits of the lines below 32 and from 32 on. A shift by too much, or by less than 0, leaves 0.
        #[inline]
        fn spread(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
            let (one, half) = (_mm256_set1_epi32(1), _mm256_set1_epi32(32));
            // They are below 2^16. Of shifts of the whole lanes the compiler knows so much that it tests them before those below.
            let (a, b) = (_mm256_srli_epi16::<6>(a), _mm256_srli_epi16::<6>(b));
            let low = _mm256_or_si256(_mm256_sllv_epi32(one, a), _mm256_sllv_epi32(one, b));
            let (a, b) = (_mm256_sub_epi32(a, half), _mm256_sub_epi32(b, half));
            (low, _mm256_or_si256(_mm256_sllv_epi32(one, a), _mm256_sllv_epi32(one, b)))
        }

        /// All lanes' bits, those of `high` above those of `low`.
        #[inline]
        fn gather(low: __m256i, high: __m256i) -> u64 {
            let v = _mm256_or_si256(_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
            let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            _mm_cvtsi128_si64(_mm_or_si128(v, _mm_unpackhi_epi64(v, v))) as u64
        }

        /// Offsets from the window on, where offset 0 lies in its line added; and bits that must be 0 from `WINDOW` on.
        #[inline]
        fn places(p: &[u32; 16], k: u32, lead: u32) -> (__m256i, __m256i, __m256i) {
            let k = _mm256_set1_epi32(k as i32);
            let p = p.as_ptr() as *const __m256i;
            // SAFETY: two times eight of sixteen lanes.
            let (x, y) = unsafe { (_mm256_loadu_si256(p), _mm256_loadu_si256(p.add(1))) };
            let a = _mm256_add_epi32(x, k);
            let b = _mm256_add_epi32(y, k);
            let all = _mm256_or_si256(a, b);
            if lead == 0 {
                return (a, b, all);
            }
            let lead = _mm256_set1_epi32(lead as i32);
            let (a, b) = (_mm256_add_epi32(a, lead), _mm256_add_epi32(b, lead));
            let all = _mm256_and_si256(all, _mm256_set1_epi32(-(WINDOW as i32)));
            (a, b, _mm256_or_si256(all, _mm256_or_si256(a, b)))
        }

        /// Four lanes' words turned by `N` within each group of four.
        #[inline]
        fn same<const N: i32>(a: __m256i, b: __m256i) -> __m256i {
            _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<N>(b))
        }

        /// Lanes of `a` that are equal to any lane of the same half of `b`.
        #[inline]
        fn any_of(a: __m256i, b: __m256i) -> __m256i {
            let x = _mm256_or_si256(_mm256_cmpeq_epi32(a, b), same::<0b00_11_10_01>(a, b));
            _mm256_or_si256(x, _mm256_or_si256(same::<0b01_00_11_10>(a, b), same::<0b10_01_00_11>(a, b)))
        }

        /// Lanes equal to an earlier one of their half.
        #[inline]
        fn earlier(a: __m256i) -> __m256i {
            // Each lane against those one, two and three before it; the first ones have none.
            let one = _mm256_and_si256(
                same::<0b10_01_00_00>(a, a),
                _mm256_setr_epi32(0, -1, -1, -1, 0, -1, -1, -1),
            );
            let two =
                _mm256_and_si256(same::<0b01_00_00_00>(a, a), _mm256_setr_epi32(0, 0, -1, -1, 0, 0, -1, -1));
            let three = _mm256_and_si256(same::<0>(a, a), _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, -1));
            _mm256_or_si256(one, _mm256_or_si256(two, three))
        }

        #[inline]
        fn mask(a: __m256i) -> u32 {
            _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32
        }
    }

    impl Lines for Avx2 {
        #[inline(always)]
        fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64> {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let (a, b, all) = places(p, k, lead);
                let more = _mm256_set1_epi32(bytes as i32 - 1);
                let (c, d) = (_mm256_add_epi32(a, more), _mm256_add_epi32(b, more));
                let all = _mm256_or_si256(all, _mm256_or_si256(c, d));
                if _mm256_testz_si256(all, _mm256_set1_epi32(-(WINDOW as i32))) == 0 {
                    return None;
                }
                let (low, high) = spread(a, b);
                let (l, h) = spread(c, d);
                Some(gather(_mm256_or_si256(low, l), _mm256_or_si256(high, h)))
            }
        }
        #[inline(always)]
        fn near_words(self, p: &[u32; 16], k: u32, lead: u32) -> Option<u64> {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let (a, b, all) = places(p, k, lead);
                if _mm256_testz_si256(all, _mm256_set1_epi32(-(WINDOW as i32) | 3)) == 0 {
                    return None;
                }
                let (low, high) = spread(a, b);
                Some(gather(low, high))
            }
        }
        #[inline(always)]
        fn distinct(self, l: &[u32; 16]) -> u32 {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                // Four quarters of four lanes: every pair of quarters once, and each within itself.
                let a = _mm256_loadu_si256(l.as_ptr() as *const __m256i);
                let b = _mm256_loadu_si256(l.as_ptr().add(8) as *const __m256i);
                let swapped = _mm256_permute2x128_si256::<1>(a, a);
                let later = _mm256_or_si256(any_of(b, a), any_of(b, swapped));
                let even = _mm256_permute2x128_si256::<0x20>(a, b);
                let odd = _mm256_permute2x128_si256::<0x31>(a, b);
                let odd = mask(any_of(odd, even));
                let own = mask(earlier(a)) | mask(_mm256_or_si256(earlier(b), later)) << 8;
                16 - (own | (odd & 15) << 4 | (odd >> 4) << 12).count_ones()
            }
        }
    }
}

/// Where the last warp's lines lay, for the next one's mostly lie there too: a multiple of 64 that `WINDOW` bytes follow
/// below 2^32.
#[derive(Clone, Copy, Default)]
struct Place(u32);

impl Place {
    /// Lines that a warp's accesses touch: `bytes` (1 to 64) from `p[i] + k` (mod 2^32) on, all lanes.
    #[inline(always)]
    fn lines<L: Lines>(&mut self, l: L, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> u32 {
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
    /// As [`Place::lines`] for words.
    #[inline(always)]
    fn words<L: Lines>(&mut self, l: L, p: &[u32; 16], k: u32, lead: u32) -> u32 {
        match l.near_words(p, k.wrapping_sub(self.0), lead) {
            Some(lines) => lines.count_ones(),
            None => self.lines(l, p, k, lead, 4),
        }
    }
}

/// As [`Place::lines`], wherever they lie.
#[inline(always)]
fn far<L: Lines>(l: L, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> u32 {
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
    fn words<L: Steps>(&mut self, l: L, at: &mut Place, p: &[u32; 16], k: u32, lead: u32) {
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
pub unsafe fn load<L: Steps>(l: L, st: &mut State, op: At, r: Region, x: Words) -> *const Op {
    let Words { p, k } = x;
    let d = reg(st, op.d) as *mut u32;
    let lead = count::begin(st, &r) as u32 & 63;
    let (mut sum, mut at) = (Sum::default(), Place::default());
    for w in Bits(st.live) {
        // SAFETY: the op's registers, a live warp; its offsets are looked at before anything is written.
        unsafe {
            sum.words(l, &mut at, &*(p.add(w * 16) as *const [u32; 16]), k, lead);
            l.load32_full(r, d.add(w * 16), p.add(w * 16), k);
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
pub unsafe fn store<L: Steps>(l: L, st: &mut State, op: At, r: Region, x: Words) -> *const Op {
    let Words { p, k } = x;
    let (v, s) = src32(st, op.d);
    let lead = count::begin(st, &r) as u32 & 63;
    let (mut sum, mut at) = (Sum::default(), Place::default());
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
enum Places<'a> {
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
    place: &mut Place,
    o: &Op,
    ex: u16,
    bytes: u64,
    x: Places<'_>,
    ends: [u64; 2],
) {
    let all = ex == 0xFFFF;
    let shape = if all { o.e & (SHAPE_RUN | SHAPE_SAME) } else { 0 };
    let (n, whole) = match shape {
        SHAPE_RUN | SHAPE_SAME => (told(shape, ends[0], ends[1], bytes).count() as u64, shape == SHAPE_RUN),
        _ => match x {
            Places::Near(p, k, lead) => {
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
            Places::Far(a) => {
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
    let bytes = mem_of(o.e).bytes() as u64 * n_of(o.e) as u64;
    // Counted with its block.
    if o.e & SHAPE_SINGLE != 0 && !st.count.follows() {
        return op.ptr();
    }
    if !is_told(st) || bytes > MOST {
        count::touch(st, op);
        return op.ptr();
    }
    let (mut sum, mut place) =
        (Sum { told: count::is_told(st, o, bytes), ..Sum::default() }, Place::default());
    let (full, partial, kind) = access(o);
    if matches!(o.code, Code::LD_GLOBAL | Code::ST_GLOBAL) {
        let (p, s) = src64(st, o.a);
        let k = super::memory::global::addend(st, op);
        for w in Bits(st.live) {
            // SAFETY: the op's register, a live warp.
            let mut a = unsafe { *(p.add(w * s) as *const [u64; 16]) };
            for x in &mut a {
                *x = count::address(*x, k);
            }
            let mut own = [0; 16];
            let x = match near_addresses(&a, st.exec[w], &mut own) {
                Some(()) => Places::Near(&own, 0, 0),
                None => Places::Far(a),
            };
            add(l, &mut sum, &mut place, o, st.exec[w], bytes, x, [a[0], a[15]]);
        }
        sum.leave(st, full, partial, kind);
        return op.ptr();
    }
    let off = Offsets::new(st, op);
    let r = match o.code {
        Code::LD_SHARED | Code::ST_SHARED => shared(st),
        // SAFETY: the op's register, which has a descriptor's address.
        _ if o.b.is_uniform() => unsafe { buffer(*src64(st, o.b).0) },
        _ => {
            count::touch(st, op);
            return op.ptr();
        }
    };
    if off.is_uniform() {
        count::touch(st, op);
        return op.ptr();
    }
    let begin = count::begin(st, &r);
    for w in Bits(st.live) {
        // SAFETY: a live warp's offsets; nothing is written meanwhile.
        let p = unsafe { &*(off.lanes(w) as *const [u32; 16]) };
        let at = |i: usize| begin + p[i].wrapping_add(off.k) as u64;
        let x = Places::Near(p, off.k, begin as u32 & 63);
        add(l, &mut sum, &mut place, o, st.exec[w], bytes, x, [at(0), at(15)]);
    }
    sum.leave(st, full, partial, kind);
    op.ptr()
}

/// [`touch`], out of line.
#[inline(always)]
pub fn count<L: Steps>(l: L, st: &mut State, op: At) {
    l.call(General::Touch, st, op);
}

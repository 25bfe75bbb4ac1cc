//! Loads and stores of one warp: 16 byte offsets into one region.

use super::cell::{C32, Cell};
use crate::kernels::forms::inlined_with_vectors;
use crate::kernels::mask::Bits;
use simd::Steps;

/// Memory that offsets are checked against: proof that it may be read and written, though others may do so at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    ptr: *mut u8,
    /// Bytes.
    size: u64,
}

impl Extent {
    /// # Safety
    /// The memory lives, and may be written if it is stored to, as long as this is used.
    #[inline(always)]
    pub unsafe fn new(ptr: *mut u8, size: u64) -> Extent {
        Extent { ptr, size }
    }
    #[inline(always)]
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    #[inline(always)]
    pub fn size(&self) -> u64 {
        self.size
    }
    /// Whether `bytes` at offset `o` lie within.
    #[inline(always)]
    pub fn holds(&self, o: u64, bytes: u32) -> bool {
        o + bytes as u64 <= self.size
    }
    /// The largest 32-bit offset at which `bytes` lie within.
    #[inline(always)]
    pub fn limit(&self, bytes: u32) -> Option<u32> {
        (self.size >= bytes as u64).then(|| (self.size - bytes as u64).min(u32::MAX as u64) as u32)
    }
    /// Whether 16 lanes from offset `o`, each `step` after the last, and `bytes` of the last lie within, without
    /// wrapping around 2^32.
    #[inline(always)]
    pub fn holds_run(&self, o: u32, step: u32, bytes: u32) -> bool {
        let end = o as u64 + 15 * step as u64;
        end < 1 << 32 && end + bytes as u64 <= self.size
    }
    /// Whether each of lanes `ex` has `bytes` within from offset `p + k` on.
    #[inline(always)]
    pub fn holds_lanes<L: Steps>(&self, l: L, p: &[u32; 16], k: u32, bytes: u32, ex: u16) -> bool {
        // (No closure: one that stays a function of its own has not the level's instructions.)
        match self.limit(bytes) {
            Some(limit) => l.bound_mask(p, k, limit) | !ex == 0xFFFF,
            None => false,
        }
    }
    /// Offsets below this have `bytes` after them, and do not wrap around 2^32 before the last word of these.
    #[inline(always)]
    pub fn run_end(&self, bytes: u32) -> u64 {
        (self.size + 1).saturating_sub(bytes as u64).min((1 << 32) + 4 - bytes as u64)
    }
    /// Reads one scalar; 0 out of bounds.
    #[inline(always)]
    pub fn read<C: Cell>(&self, o: u64) -> C::Lane {
        // SAFETY: just asked.
        if self.holds(o, C::SIZE) { unsafe { C::read(self.ptr.add(o as usize)) } } else { C::Lane::default() }
    }
    /// Writes one scalar; nothing out of bounds.
    #[inline(always)]
    pub fn write<C: Cell>(&self, o: u64, v: C::Lane) {
        if self.holds(o, C::SIZE) {
            // SAFETY: just asked.
            unsafe { C::write(self.ptr.add(o as usize), v) };
        }
    }
}

/// A warp's offsets, to be looked at before anything is written: a result may take their register.
///
/// # Safety
/// They are there, for as long as the reference is used.
#[inline(always)]
unsafe fn offsets<'a>(p: *const u32) -> &'a [u32; 16] {
    // SAFETY: the caller's.
    unsafe { &*(p as *const [u32; 16]) }
}

/// One 32-bit word a lane at offsets `p[lane] + k`.
///
/// # Safety
/// Sixteen lanes are at `p` and fit at `d`; `d` is `p` or does not overlap it.
#[inline(always)]
pub unsafe fn load32<L: Steps>(l: L, r: Extent, d: *mut u32, p: *const u32, k: u32, ex: u16) {
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    let f = ex.trailing_zeros() & 15;
    let first = at[f as usize];
    let t = first.wrapping_sub(f * 4);
    let o = t.wrapping_add(k);
    if l.stride_mask(at, t, 4) | !ex == 0xFFFF && r.holds_run(o, 4, 4) {
        // SAFETY: within the region, which is no register; `d` is the caller's.
        unsafe { l.copy64(d as *mut u8, r.ptr.add(o as usize)) };
    } else if l.same_mask(at, first) | !ex == 0xFFFF {
        // SAFETY: the caller's.
        unsafe { l.splat32(d, r.read::<C32>(first.wrapping_add(k) as u64)) };
    } else {
        // SAFETY: the caller's.
        unsafe { gather32(l, r, d, p, k) };
    }
}

/// As [`load32`], wherever the words lie.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
unsafe fn gather32<L: Steps>(l: L, r: Extent, d: *mut u32, p: *const u32, k: u32) {
    if let Some(limit) = r.limit(4) {
        // SAFETY: offsets up to `limit` have a word in the region; pointers are the caller's.
        unsafe { l.gather32(d, r.ptr, p, k, limit) };
    } else {
        // SAFETY: the caller's.
        unsafe { l.splat32(d, 0) };
    }
}

inlined_with_vectors! {
    /// As [`load32`] with all lanes active.
    ///
    /// # Safety
    /// As [`load32`].
    pub unsafe fn load32_full = load32_full_here, (r: Extent, d: *mut u32, p: *const u32, k: u32)
}

/// # Safety
/// As [`load32`].
#[inline(always)]
unsafe fn load32_full_here<L: Steps>(l: L, r: Extent, d: *mut u32, p: *const u32, k: u32) {
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    let o = at[0].wrapping_add(k);
    // Two lanes say which shape is worth looking for.
    match at[1].wrapping_sub(at[0]) {
        4 if r.holds_run(o, 4, 4) && l.is_run(at, 4) => {
            // SAFETY: within the region, which is no register; `d` is the caller's.
            unsafe { l.copy64(d as *mut u8, r.ptr.add(o as usize)) };
        }
        // SAFETY: the caller's.
        0 if l.is_run(at, 0) => unsafe { l.splat32(d, r.read::<C32>(o as u64)) },
        // SAFETY: the caller's.
        _ => unsafe { gather32(l, r, d, p, k) },
    }
}

/// As [`load32`] for any scalar; a lane's next scalar is `step` bytes on (used to find runs; `p` has this scalar's
/// offsets).
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn load_any<L: Steps, C: Cell>(
    l: L,
    r: Extent,
    d: *mut C::Lane,
    p: *const u32,
    k: u32,
    add: u32,
    step: u32,
    ex: u16,
) {
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    let f = ex.trailing_zeros() & 15;
    let first = at[f as usize];
    let t = first.wrapping_sub(f * step);
    let o = t.wrapping_add(k);
    // Through a local array: memory and registers might overlap for all the compiler knows.
    let mut v = [C::Lane::default(); 16];
    // One lane's, at an offset that was found to be within.
    macro_rules! lane {
        ($i:expr) => {
            // SAFETY: `limit` below leaves room for what is added and for the scalar.
            v[$i] = unsafe { C::read(r.ptr.add(at[$i].wrapping_add(k) as usize + add as usize)) }
        };
    }
    if l.stride_mask(at, t, step) | !ex == 0xFFFF && r.holds_run(o, step, add + C::SIZE) {
        let q = r.ptr.wrapping_add(o as usize + add as usize);
        if step == C::SIZE {
            for i in 0..16 {
                // SAFETY: the run is within.
                v[i] = unsafe { C::read(q.add(i * C::SIZE as usize)) };
            }
        } else {
            for i in 0..16 {
                // SAFETY: as above.
                v[i] = unsafe { C::read(q.add(i * step as usize)) };
            }
        }
    } else if l.same_mask(at, first) | !ex == 0xFFFF {
        v = [r.read::<C>(first.wrapping_add(k) as u64 + add as u64); 16];
    } else if let Some(limit) = r.limit(add + C::SIZE) {
        let m = l.bound_mask(at, k, limit);
        if m == 0xFFFF {
            for i in 0..16 {
                lane!(i);
            }
        } else {
            for i in Bits(m as u32) {
                lane!(i);
            }
        }
    }
    // SAFETY: the caller's.
    unsafe { *(d as *mut [C::Lane; 16]) = v };
}

/// `d.len()` (2 to 16) consecutive words a lane. Destinations that nobody reads may be any 64 bytes.
///
/// # Safety
/// As [`load32`], of each of `d`.
#[inline(always)]
pub unsafe fn load32n<L: Steps>(l: L, r: Extent, d: &[*mut u32], p: *const u32, k: u32, ex: u16) {
    let n = d.len();
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    let first = at[ex.trailing_zeros() as usize & 15];
    if l.same_mask(at, first) | !ex == 0xFFFF {
        let o = first.wrapping_add(k) as u64;
        for (i, &d) in d.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { l.splat32(d, r.read::<C32>(o + i as u64 * 4)) };
        }
        return;
    }
    // SAFETY: as the caller's; two lanes say which shape is worth looking for.
    if ex == 0xFFFF && unsafe { load_run(l, r, d, at, k) } {
        return;
    }
    // Three words are read as four.
    let bytes = if n % 4 == 3 { n as u32 * 4 + 4 } else { n as u32 * 4 };
    if let Some(limit) = r.limit(bytes) {
        let inside = l.bound_mask(at, k, limit);
        if inside | !ex == 0xFFFF {
            let mut o = *at;
            for x in &mut o {
                *x = x.wrapping_add(k);
            }
            if inside != 0xFFFF {
                // Inactive lanes may point anywhere; offset 0 is as good.
                for i in Bits(!inside as u32 & 0xFFFF) {
                    o[i] = 0;
                }
            }
            // SAFETY: `bytes` from each of these offsets lie within the region; destinations are the caller's.
            unsafe {
                match d {
                    [a, b] => l.words2(r.ptr, &o, *a, *b),
                    [a, b, c, d] => l.words4(r.ptr, &o, [*a, *b, *c, *d]),
                    _ => {
                        for (c, d) in d.chunks(4).enumerate() {
                            let q = r.ptr.add(c * 16);
                            match d {
                                [a] => words1(q, &o, *a),
                                [a, b] => l.words2(q, &o, *a, *b),
                                [a, b, c] => {
                                    let mut unread = [0u32; 16];
                                    l.words4(q, &o, [*a, *b, *c, unread.as_mut_ptr()])
                                }
                                [a, b, c, d, ..] => l.words4(q, &o, [*a, *b, *c, *d]),
                                [] => {}
                            }
                        }
                    }
                }
            }
            return;
        }
    }
    // Destinations may take the offsets' register.
    let own = *at;
    for (i, &d) in d.iter().enumerate() {
        for l in 0..16 {
            // SAFETY: the caller's.
            unsafe { *d.add(l) = r.read::<C32>(own[l].wrapping_add(k) as u64 + i as u64 * 4) };
        }
    }
}

/// As [`load32n`], if each lane's words follow the one's before, or its first one does; all lanes are active.
///
/// # Safety
/// As [`load32n`].
#[inline(always)]
unsafe fn load_run<L: Steps>(l: L, r: Extent, d: &[*mut u32], at: &[u32; 16], k: u32) -> bool {
    let n = d.len();
    let (o, step) = (at[0].wrapping_add(k), at[1].wrapping_sub(at[0]));
    if !(step == 4 || step == 4 * n as u32) || !r.holds_run(o, step, 4 * n as u32) || !l.is_run(at, step) {
        return false;
    }
    // SAFETY: the lanes' words are within the region, which is no register; destinations are the caller's, and may be that of `at`,
    // which nobody looks at any more.
    unsafe {
        let q = r.ptr.add(o as usize);
        match *d {
            _ if step == 4 => {
                for (i, &d) in d.iter().enumerate() {
                    l.copy64(d as *mut u8, q.add(4 * i));
                }
            }
            [a, b] => l.run2(q, a, b),
            [a, b, c, d] => l.run4(q, [a, b, c, d]),
            _ => return false,
        }
    }
    true
}

/// One word at each offset.
///
/// # Safety
/// Words are there, and `d` is good for sixteen.
#[inline(always)]
unsafe fn words1(q: *const u8, o: &[u32; 16], d: *mut u32) {
    let mut v = [0; 16];
    for i in 0..16 {
        // SAFETY: the caller's.
        v[i] = unsafe { C32::read(q.add(o[i] as usize)) };
    }
    // SAFETY: the caller's.
    unsafe { *(d as *mut [u32; 16]) = v };
}

/// As [`store32`] with all lanes active.
///
/// # Safety
/// As [`store32`].
#[inline(always)]
pub unsafe fn store32_full<L: Steps>(l: L, r: Extent, v: *const u32, p: *const u32, k: u32) {
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    let o = at[0].wrapping_add(k);
    if l.is_run(at, 4) && r.holds_run(o, 4, 4) {
        // SAFETY: within the region, which is no register; `v` is the caller's.
        unsafe { l.copy64(r.ptr.add(o as usize), v as *const u8) };
        return;
    }
    for i in 0..16 {
        // SAFETY: the caller's.
        unsafe { r.write::<C32>((*p.add(i)).wrapping_add(k) as u64, *v.add(i)) };
    }
}

/// Stores one word a lane of `ex`, in lane order. `v`: 16 values.
///
/// # Safety
/// Sixteen lanes are at `p` and at `v`.
#[inline(always)]
pub unsafe fn store32<L: Steps>(l: L, r: Extent, v: *const u32, p: *const u32, k: u32, ex: u16) {
    // SAFETY: the caller's.
    let at = unsafe { offsets(p) };
    if ex == 0xFFFF {
        let o = at[0].wrapping_add(k);
        if l.is_run(at, 4) && r.holds_run(o, 4, 4) {
            // SAFETY: within the region, which is no register; `v` is the caller's.
            unsafe { l.copy64(r.ptr.add(o as usize), v as *const u8) };
            return;
        }
    }
    let Some(limit) = r.limit(4) else { return };
    let m = l.bound_mask(at, k, limit) & ex;
    let f = m.trailing_zeros() & 15;
    let t = at[f as usize].wrapping_sub(f * 4);
    if m != 0xFFFF && l.stride_mask(at, t, 4) | !m == 0xFFFF && t.wrapping_add(k) <= u32::MAX - 64 {
        // Consecutive, some lanes absent.
        // SAFETY: each lane of `m` is within the region, and lies where it would among all sixteen; `v` is the caller's.
        unsafe { l.store_mask(r.ptr.wrapping_add(t.wrapping_add(k) as usize), v, m) };
        return;
    }
    // One lane's, at an offset that was found to be within.
    macro_rules! lane {
        ($i:expr) => {
            // SAFETY: a lane of `m`.
            unsafe { C32::write(r.ptr.add((*p.add($i)).wrapping_add(k) as usize), *v.add($i)) }
        };
    }
    if m == 0xFFFF {
        for i in 0..16 {
            lane!(i);
        }
    } else {
        for i in Bits(m as u32) {
            lane!(i);
        }
    }
}

/// As [`store32`] for any scalar.
///
/// # Safety
/// As [`store32`].
#[inline(always)]
pub unsafe fn store_any<L: Steps, C: Cell>(
    l: L,
    r: Extent,
    v: *const C::Lane,
    p: *const u32,
    k: u32,
    ex: u16,
) {
    if ex == 0xFFFF {
        // SAFETY: the caller's.
        let at = unsafe { offsets(p) };
        let t = at[0];
        let o = t.wrapping_add(k);
        if l.stride_mask(at, t, C::SIZE) == 0xFFFF && r.holds_run(o, C::SIZE, C::SIZE) {
            let q = r.ptr.wrapping_add(o as usize);
            for i in 0..16 {
                // SAFETY: the run is within the region; `v` is the caller's.
                unsafe { C::write(q.add(i * C::SIZE as usize), *v.add(i)) };
            }
            return;
        }
    }
    for i in Bits(ex as u32) {
        // SAFETY: the caller's.
        unsafe { r.write::<C>((*p.add(i)).wrapping_add(k) as u64, *v.add(i)) };
    }
}

/// `v.len()` (2 to 16) consecutive words a lane.
///
/// # Safety
/// As [`store32`], of each of `v`.
#[inline(always)]
pub unsafe fn store32n<L: Steps>(l: L, r: Extent, v: &[*const u32], p: *const u32, k: u32, ex: u16) {
    let n = v.len();
    if ex == 0xFFFF
        && let Some(limit) = r.limit(n as u32 * 4)
        // SAFETY: the caller's.
        && l.bound_mask(unsafe { offsets(p) }, k, limit) == 0xFFFF
    {
        // SAFETY: all words of each lane are within the region; `p` and `v` are the caller's.
        unsafe {
            if let [a, b, c, d] = v {
                let mut o = *offsets(p);
                for x in &mut o {
                    *x = x.wrapping_add(k);
                }
                l.store_words4(r.ptr, &o, [*a, *b, *c, *d]);
            } else {
                for i in 0..16 {
                    let to = r.ptr.add((*p.add(i)).wrapping_add(k) as usize);
                    for (j, v) in v.iter().enumerate() {
                        C32::write(to.add(j * 4), *v.add(i));
                    }
                }
            }
        }
        return;
    }
    for i in Bits(ex as u32) {
        // SAFETY: the caller's.
        let o = unsafe { *p.add(i) }.wrapping_add(k) as u64;
        for (j, v) in v.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { r.write::<C32>(o + j as u64 * 4, *v.add(i)) };
        }
    }
}

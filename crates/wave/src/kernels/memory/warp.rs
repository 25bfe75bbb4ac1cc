//! Loads and stores of one warp: 16 byte offsets into one region.

use super::cell::{C32, Cell};
use crate::kernels::levels::Steps;

/// Memory that offsets are checked against.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub ptr: *mut u8,
    /// Bytes.
    pub size: u64,
}

impl Region {
    pub const EMPTY: Region = Region { ptr: std::ptr::null_mut(), size: 0 };

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
    /// Offsets below this have `bytes` after them, and do not wrap around 2^32 before the last word of these.
    #[inline(always)]
    pub fn run_end(&self, bytes: u32) -> u64 {
        (self.size + 1).saturating_sub(bytes as u64).min((1 << 32) + 4 - bytes as u64)
    }
    /// Reads one scalar; 0 out of bounds.
    ///
    /// # Safety
    /// The region is live memory.
    #[inline(always)]
    pub unsafe fn read<C: Cell>(&self, o: u64) -> C::Lane {
        if self.holds(o, C::SIZE) { C::read(self.ptr.add(o as usize)) } else { C::Lane::default() }
    }
    /// Writes one scalar; nothing out of bounds.
    ///
    /// # Safety
    /// The region is live memory.
    #[inline(always)]
    pub unsafe fn write<C: Cell>(&self, o: u64, v: C::Lane) {
        if self.holds(o, C::SIZE) {
            C::write(self.ptr.add(o as usize), v);
        }
    }
}

/// One 32-bit word a lane at offsets `p[lane] + k`.
///
/// # Safety
/// Pointers are valid for 16 lanes, the region is live memory, `ex` is not 0.
#[inline(always)]
pub unsafe fn load32<L: Steps>(r: Region, d: *mut u32, p: *const u32, k: u32, ex: u16) {
    let f = ex.trailing_zeros() & 15;
    let first = *p.add(f as usize);
    let t = first.wrapping_sub(f * 4);
    let o = t.wrapping_add(k);
    if L::stride_mask(p, t, 4) | !ex == 0xFFFF && r.holds_run(o, 4, 4) {
        L::copy64(d as *mut u8, r.ptr.add(o as usize));
    } else if L::same_mask(p, first) | !ex == 0xFFFF {
        L::splat32(d, r.read::<C32>(first.wrapping_add(k) as u64));
    } else if let Some(limit) = r.limit(4) {
        L::gather32(d, r.ptr, p, k, limit);
    } else {
        L::splat32(d, 0);
    }
}

/// As [`load32`] with all lanes active.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn load32_full<L: Steps>(r: Region, d: *mut u32, p: *const u32, k: u32) {
    let o = (*p).wrapping_add(k);
    // Two lanes say which shape is worth looking for.
    match (*p.add(1)).wrapping_sub(*p) {
        4 if r.holds_run(o, 4, 4) && L::is_run(p, 4) => {
            L::copy64(d as *mut u8, r.ptr.add(o as usize));
        }
        0 if L::is_run(p, 0) => L::splat32(d, r.read::<C32>(o as u64)),
        _ => {
            if let Some(limit) = r.limit(4) {
                L::gather32(d, r.ptr, p, k, limit);
            } else {
                L::splat32(d, 0);
            }
        }
    }
}

/// As [`load32`] for any scalar; a lane's next scalar is `step` bytes on (used to find runs; `p` has this scalar's
/// offsets).
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn load_any<L: Steps, C: Cell>(
    r: Region,
    d: *mut C::Lane,
    p: *const u32,
    k: u32,
    add: u32,
    step: u32,
    ex: u16,
) {
    let f = ex.trailing_zeros() & 15;
    let first = *p.add(f as usize);
    let t = first.wrapping_sub(f * step);
    let o = t.wrapping_add(k);
    // Through a local array: memory and registers might overlap for all the compiler knows.
    let mut v = [C::Lane::default(); 16];
    if L::stride_mask(p, t, step) | !ex == 0xFFFF && r.holds_run(o, step, add + C::SIZE) {
        let q = r.ptr.add(o as usize + add as usize);
        if step == C::SIZE {
            for i in 0..16 {
                v[i] = C::read(q.add(i * C::SIZE as usize));
            }
        } else {
            for i in 0..16 {
                v[i] = C::read(q.add(i * step as usize));
            }
        }
    } else if L::same_mask(p, first) | !ex == 0xFFFF {
        v = [r.read::<C>(first.wrapping_add(k) as u64 + add as u64); 16];
    } else if let Some(limit) = r.limit(add + C::SIZE) {
        let m = L::bound_mask(p, k, limit);
        if m == 0xFFFF {
            for i in 0..16 {
                v[i] = C::read(r.ptr.add((*p.add(i)).wrapping_add(k) as usize + add as usize));
            }
        } else {
            for i in crate::kernels::mask::Bits(m as u32) {
                v[i] = C::read(r.ptr.add((*p.add(i)).wrapping_add(k) as usize + add as usize));
            }
        }
    }
    *(d as *mut [C::Lane; 16]) = v;
}

/// `d.len()` (2 to 16) consecutive words a lane. Destinations that nobody reads may be any 64 bytes.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn load32n<L: Steps>(r: Region, d: &[*mut u32], p: *const u32, k: u32, ex: u16) {
    let n = d.len();
    let first = *p.add(ex.trailing_zeros() as usize & 15);
    if L::same_mask(p, first) | !ex == 0xFFFF {
        let o = first.wrapping_add(k) as u64;
        for (i, &d) in d.iter().enumerate() {
            L::splat32(d, r.read::<C32>(o + i as u64 * 4));
        }
        return;
    }
    // Three words are read as four.
    let bytes = if n % 4 == 3 { n as u32 * 4 + 4 } else { n as u32 * 4 };
    if let Some(limit) = r.limit(bytes) {
        let inside = L::bound_mask(p, k, limit);
        if inside | !ex == 0xFFFF {
            let mut o = *(p as *const [u32; 16]);
            for x in &mut o {
                *x = x.wrapping_add(k);
            }
            if inside != 0xFFFF {
                // Inactive lanes may point anywhere; offset 0 is as good.
                for i in crate::kernels::mask::Bits(!inside as u32 & 0xFFFF) {
                    o[i] = 0;
                }
            }
            match d {
                [a, b] => L::words2(r.ptr, &o, *a, *b),
                [a, b, c, d] => L::words4(r.ptr, &o, [*a, *b, *c, *d]),
                _ => {
                    for (c, d) in d.chunks(4).enumerate() {
                        let q = r.ptr.add(c * 16);
                        match d {
                            [a] => words1(q, &o, *a),
                            [a, b] => L::words2(q, &o, *a, *b),
                            [a, b, c] => {
                                let mut unread = [0u32; 16];
                                L::words4(q, &o, [*a, *b, *c, unread.as_mut_ptr()])
                            }
                            [a, b, c, d, ..] => L::words4(q, &o, [*a, *b, *c, *d]),
                            [] => {}
                        }
                    }
                }
            }
            return;
        }
    }
    // Destinations may take the offsets' register.
    let own = *(p as *const [u32; 16]);
    for (i, &d) in d.iter().enumerate() {
        for l in 0..16 {
            *d.add(l) = r.read::<C32>(own[l].wrapping_add(k) as u64 + i as u64 * 4);
        }
    }
}

/// One word at each offset, no checks.
#[inline(always)]
unsafe fn words1(q: *const u8, o: &[u32; 16], d: *mut u32) {
    let mut v = [0; 16];
    for i in 0..16 {
        v[i] = C32::read(q.add(o[i] as usize));
    }
    *(d as *mut [u32; 16]) = v;
}
/// As [`store32`] with all lanes active.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn store32_full<L: Steps>(r: Region, v: *const u32, p: *const u32, k: u32) {
    let o = (*p).wrapping_add(k);
    if L::is_run(p, 4) && r.holds_run(o, 4, 4) {
        L::copy64(r.ptr.add(o as usize), v as *const u8);
        return;
    }
    for i in 0..16 {
        r.write::<C32>((*p.add(i)).wrapping_add(k) as u64, *v.add(i));
    }
}

/// Stores one word a lane of `ex`, in lane order. `v`: 16 values.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn store32<L: Steps>(r: Region, v: *const u32, p: *const u32, k: u32, ex: u16) {
    if ex == 0xFFFF {
        let t = *p;
        let o = t.wrapping_add(k);
        if L::is_run(p, 4) && r.holds_run(o, 4, 4) {
            L::copy64(r.ptr.add(o as usize), v as *const u8);
            return;
        }
    }
    let Some(limit) = r.limit(4) else { return };
    let m = L::bound_mask(p, k, limit) & ex;
    let f = m.trailing_zeros() & 15;
    let t = (*p.add(f as usize)).wrapping_sub(f * 4);
    if m != 0xFFFF && L::stride_mask(p, t, 4) | !m == 0xFFFF && t.wrapping_add(k) <= u32::MAX - 64 {
        // Consecutive, some lanes absent.
        L::store_mask(r.ptr.wrapping_add(t.wrapping_add(k) as usize), v, m);
        return;
    }
    if m == 0xFFFF {
        for i in 0..16 {
            C32::write(r.ptr.add((*p.add(i)).wrapping_add(k) as usize), *v.add(i));
        }
    } else {
        for i in crate::kernels::mask::Bits(m as u32) {
            C32::write(r.ptr.add((*p.add(i)).wrapping_add(k) as usize), *v.add(i));
        }
    }
}

/// As [`store32`] for any scalar.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn store_any<L: Steps, C: Cell>(r: Region, v: *const C::Lane, p: *const u32, k: u32, ex: u16) {
    if ex == 0xFFFF {
        let t = *p;
        let o = t.wrapping_add(k);
        if L::stride_mask(p, t, C::SIZE) == 0xFFFF && r.holds_run(o, C::SIZE, C::SIZE) {
            let q = r.ptr.add(o as usize);
            for i in 0..16 {
                C::write(q.add(i * C::SIZE as usize), *v.add(i));
            }
            return;
        }
    }
    for i in crate::kernels::mask::Bits(ex as u32) {
        r.write::<C>((*p.add(i)).wrapping_add(k) as u64, *v.add(i));
    }
}

/// `v.len()` (2 to 16) consecutive words a lane.
///
/// # Safety
/// As [`load32`].
#[inline(always)]
pub unsafe fn store32n<L: Steps>(r: Region, v: &[*const u32], p: *const u32, k: u32, ex: u16) {
    let n = v.len();
    if ex == 0xFFFF
        && let Some(limit) = r.limit(n as u32 * 4)
        && L::bound_mask(p, k, limit) == 0xFFFF
    {
        if let [a, b, c, d] = v {
            let mut o = *(p as *const [u32; 16]);
            for x in &mut o {
                *x = x.wrapping_add(k);
            }
            L::store_words4(r.ptr, &o, [*a, *b, *c, *d]);
        } else {
            for i in 0..16 {
                let to = r.ptr.add((*p.add(i)).wrapping_add(k) as usize);
                for (j, v) in v.iter().enumerate() {
                    C32::write(to.add(j * 4), *v.add(i));
                }
            }
        }
        return;
    }
    for i in crate::kernels::mask::Bits(ex as u32) {
        let o = (*p.add(i)).wrapping_add(k) as u64;
        for (j, v) in v.iter().enumerate() {
            r.write::<C32>(o + j as u64 * 4, *v.add(i));
        }
    }
}

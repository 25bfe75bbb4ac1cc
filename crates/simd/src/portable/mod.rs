//! [`Simd`] as loops over arrays, for any CPU.

mod steps;

use super::{Level, Simd};
use half::f16;

/// Plain arrays; the compiler vectorises what it can.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Portable;

impl Portable {
    pub(crate) fn detect() -> Option<Portable> {
        Some(Portable)
    }
}

/// An array of the expression at each index. A loop and no closure: closures are not inlined reliably.
macro_rules! each {
    ($i:ident => $e:expr) => {{
        // Every one is replaced.
        let mut r = [Default::default(); 16];
        #[allow(clippy::needless_range_loop)]
        for $i in 0..16 {
            r[$i] = $e;
        }
        r
    }};
}
macro_rules! lanes1 {
    ($($name:ident($a:ident: $ta:ident) -> $r:ident = $e:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta) -> Self::$r {
            each!(i => { let $a = a[i]; $e })
        }
    )* };
}
/// As `lanes1` and so on, of what takes many instructions: with SSE2 alone, dozens. CPUs of x86-64 that have nothing better are rare,
/// and of AArch64 there are none: these would be a good part of all code for them.
macro_rules! lanes1_apart {
    ($($name:ident($a:ident: $ta:ident) -> $r:ident = $e:expr;)*) => { $(
        #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
        #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
        fn $name(self, a: Self::$ta) -> Self::$r {
            each!(i => { let $a = a[i]; $e })
        }
    )* };
}
macro_rules! lanes2_apart {
    ($($name:ident($a:ident: $ta:ident, $b:ident: $tb:ident) -> $r:ident = $e:expr;)*) => { $(
        #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
        #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
        fn $name(self, a: Self::$ta, b: Self::$tb) -> Self::$r {
            each!(i => { let ($a, $b) = (a[i], b[i]); $e })
        }
    )* };
}
macro_rules! lanes3_apart {
    ($($name:ident($a:ident: $ta:ident, $b:ident: $tb:ident, $c:ident: $tc:ident) -> $r:ident = $e:expr;)*) => { $(
        #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
        #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
        fn $name(self, a: Self::$ta, b: Self::$tb, c: Self::$tc) -> Self::$r {
            each!(i => { let ($a, $b, $c) = (a[i], b[i], c[i]); $e })
        }
    )* };
}
macro_rules! lanes2 {
    ($($name:ident($a:ident: $ta:ident, $b:ident: $tb:ident) -> $r:ident = $e:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb) -> Self::$r {
            each!(i => { let ($a, $b) = (a[i], b[i]); $e })
        }
    )* };
}
macro_rules! lanes3 {
    ($($name:ident($a:ident: $ta:ident, $b:ident: $tb:ident, $c:ident: $tc:ident) -> $r:ident = $e:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb, c: Self::$tc) -> Self::$r {
            each!(i => { let ($a, $b, $c) = (a[i], b[i], c[i]); $e })
        }
    )* };
}
macro_rules! memory {
    ($($load:ident, $store:ident, $t:ident;)*) => { $(
        #[inline(always)]
        unsafe fn $load(self, p: *const u8) -> Self::$t {
            // SAFETY: the trait's: that many bytes may be read.
            unsafe { p.cast::<Self::$t>().read_unaligned() }
        }
        #[inline(always)]
        unsafe fn $store(self, p: *mut u8, a: Self::$t) {
            // SAFETY: the trait's: that many bytes may be written.
            unsafe { p.cast::<Self::$t>().write_unaligned(a) }
        }
    )* };
}

/// All ones or zeros: a mask lane, so that selects are bit operations.
#[inline(always)]
fn m(b: bool) -> u32 {
    (b as u32).wrapping_neg()
}

/// a < b, for what picks one of the two. Elsewhere than on x86 by their bits: where LLVM sees that a comparison of
/// floats picks one of them it takes the CPU's minimum or maximum, and AArch64's turn a signalling NaN into a quiet
/// one where the number is asked for.
macro_rules! less {
    ($($name:ident($float:ident as $bits:ident, $int:ident);)*) => { $(
        #[inline(always)]
        fn $name(a: $float, b: $float) -> bool {
            if cfg!(target_arch = "x86_64") && !cfg!(test) {
                return a < b;
            }
            let magnitude = |x: $float| x.to_bits() & ($bits::MAX >> 1);
            let number = |x| magnitude(x) <= $float::INFINITY.to_bits();
            // Sign and magnitude as a two's complement: both zeros are 0.
            let order = |x: $float| {
                let sign = x.to_bits() as $int >> ($bits::BITS - 1);
                (magnitude(x) as $int ^ sign) - sign
            };
            // No short cuts, so that sixteen lanes go at once.
            number(a) & number(b) & (order(a) < order(b))
        }
    )* };
}
less! {
    less32(f32 as u32, i32);
    less64(f64 as u64, i64);
}

/// A whole number near `a`. Where the CPU takes denormals for zeros they are zeros here too, as to its own instructions:
/// Rust's functions look at bits.
macro_rules! whole {
    ($($name:ident $float:ident;)*) => { $(
        #[inline(always)]
        fn $name(a: $float, near: fn($float) -> $float) -> $float {
            if a == 0.0 { $float::copysign(0.0, a) } else { near(a) }
        }
    )* };
}
whole! {
    whole32 f32;
    whole64 f64;
}

/// An operand of a minimum or maximum: where the CPU takes denormals for zeros it is one. (x86's own instruction does this, which the
/// compiler makes of the comparison.)
macro_rules! settled {
    ($($name:ident $float:ident;)*) => { $(
        #[inline(always)]
        fn $name(a: $float) -> $float {
            if cfg!(target_arch = "x86_64") { a } else if a == 0.0 { $float::copysign(0.0, a) } else { a }
        }
    )* };
}
settled! {
    settled32 f32;
    settled64 f64;
}

impl Simd for Portable {
    #[inline(always)]
    unsafe fn assume() -> Self {
        Portable
    }
    /// A function of its own: many kernels blend, and its code is large.
    #[inline(never)]
    unsafe fn iblend8(self, p: *const u8, term: [Self::I; 2], factor: [Self::I; 2]) -> Self::I {
        // SAFETY: the caller's.
        let bytes = unsafe { p.cast::<[[u8; 4]; 16]>().read_unaligned() };
        crate::ops::blend8(self, bytes, term, factor)
    }
    #[inline(always)]
    fn level(self) -> Level {
        Level::Portable(self)
    }
    const UNROLL: u32 = 1;
    type F = [f32; 16];
    type I = [u32; 16];
    type D = [f64; 16];
    type L = [u64; 16];
    type M = [u32; 16];

    memory! {
        fload, fstore, F;
        iload, istore, I;
        iloadu, istoreu, I;
        dload, dstore, D;
        lload, lstore, L;
    }
    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    unsafe fn iload_mask(self, p: *const u8, m: Self::M) -> Self::I {
        // SAFETY: the trait's: lanes in `m` may be read.
        each!(i => if m[i] != 0 { unsafe { p.cast::<u32>().add(i).read_unaligned() } } else { 0 })
    }
    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    unsafe fn istore_mask(self, p: *mut u8, m: Self::M, a: Self::I) {
        for i in 0..16 {
            if m[i] != 0 {
                // SAFETY: the trait's: lanes in `m` may be written.
                unsafe { p.cast::<u32>().add(i).write_unaligned(a[i]) };
            }
        }
    }
    #[inline(always)]
    unsafe fn istore_packed(self, p: *mut u8, m: Self::M, a: Self::I) {
        // SAFETY: the trait's: 64 bytes may be written.
        unsafe { pack(p, self.mbits(m), &a) }
    }
    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    unsafe fn igather(self, base: *const u8, off: Self::I, m: Self::M) -> Self::I {
        // SAFETY: the trait's: 32 bits may be read at the offsets of lanes in `m`.
        each!(i => if m[i] != 0 { unsafe { base.add(off[i] as usize).cast::<u32>().read_unaligned() } } else { 0 })
    }

    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    unsafe fn lgather(self, base: *const u8, off: Self::I) -> Self::L {
        // SAFETY: the trait's: 64 bits may be read at every offset.
        each!(i => unsafe { base.add(off[i] as usize).cast::<u64>().read_unaligned() })
    }

    #[inline(always)]
    fn fsplat(self, x: f32) -> Self::F {
        [x; 16]
    }
    #[inline(always)]
    fn isplat(self, x: u32) -> Self::I {
        [x; 16]
    }
    #[inline(always)]
    fn dsplat(self, x: f64) -> Self::D {
        [x; 16]
    }
    #[inline(always)]
    fn lsplat(self, x: u64) -> Self::L {
        [x; 16]
    }

    lanes1_apart! {
        ffloor(a: F) -> F = whole32(a, f32::floor);
        fceil(a: F) -> F = whole32(a, f32::ceil);
        ftrunc(a: F) -> F = a.trunc();
        fround_even(a: F) -> F = a.round_ties_even();
        f_to_f16(a: F) -> I = f16::from_f32(a).to_bits() as u32;
        f16_to_f(a: I) -> F = f16::from_bits(a as u16).to_f32();
        u_to_f(a: I) -> F = a as f32;
        f_to_s_raw(a: F) -> I =
            if (-2147483648.0..2147483648.0).contains(&a) { a as i32 as u32 } else { 0x8000_0000 };
        dsqrt(a: D) -> D = a.sqrt();
        dfloor(a: D) -> D = whole64(a, f64::floor);
        dceil(a: D) -> D = whole64(a, f64::ceil);
        dtrunc(a: D) -> D = a.trunc();
        dround_even(a: D) -> D = a.round_ties_even();
        s_to_d(a: I) -> D = a as i32 as f64;
        d_to_s_raw(a: D) -> I =
            if a > -2147483649.0 && a < 2147483648.0 { a as i32 as u32 } else { 0x8000_0000 };
        f_to_d(a: F) -> D = a as f64;
        d_to_f(a: D) -> F = a as f32;
    }
    lanes1! {
        fsqrt(a: F) -> F = a.sqrt();
        bits(a: F) -> I = a.to_bits();
        from_bits(a: I) -> F = f32::from_bits(a);
        s_to_f(a: I) -> F = a as i32 as f32;
        dbits(a: D) -> L = a.to_bits();
        from_dbits(a: L) -> D = f64::from_bits(a);
        lo(a: L) -> I = a as u32;
        hi(a: L) -> I = (a >> 32) as u32;
        ihigh_bytes(a: I) -> I = (a as i16 >> 8) as u16 as u32 | ((a as i32 >> 24) as u32) << 16;
        mnot(a: M) -> M = !a;
    }
    lanes2_apart! {
        imul(a: I, b: I) -> I = a.wrapping_mul(b);
        imadd16(a: I, b: I) -> I = {
            let low = (a as i16 as i32).wrapping_mul(b as i16 as i32);
            low.wrapping_add((a as i32 >> 16).wrapping_mul(b as i32 >> 16)) as u32
        };
        umul_hi(a: I, b: I) -> I = ((a as u64 * b as u64) >> 32) as u32;
        smul_hi(a: I, b: I) -> I = ((a as i32 as i64 * b as i32 as i64) >> 32) as u32;
        isar(a: I, n: I) -> I = ((a as i32) >> n.min(31)) as u32;
        smin(a: I, b: I) -> I = (a as i32).min(b as i32) as u32;
        smax(a: I, b: I) -> I = (a as i32).max(b as i32) as u32;
        umin(a: I, b: I) -> I = a.min(b);
        umax(a: I, b: I) -> I = a.max(b);
        ugt(a: I, b: I) -> M = m(a > b);
        ddiv(a: D, b: D) -> D = a / b;
        dmin_raw(a: D, b: D) -> D = {
            let (a, b) = (settled64(a), settled64(b));
            if less64(a, b) { a } else { b }
        };
        dmax_raw(a: D, b: D) -> D = {
            let (a, b) = (settled64(a), settled64(b));
            if less64(b, a) { a } else { b }
        };
        deq(a: D, b: D) -> M = m(a == b);
        dne(a: D, b: D) -> M = m(a != b);
        dlt(a: D, b: D) -> M = m(a < b);
        dle(a: D, b: D) -> M = m(a <= b);
        lmul(a: L, b: L) -> L = a.wrapping_mul(b);
        lshl(a: L, n: I) -> L = a << (n & 63);
        lshr(a: L, n: I) -> L = a >> (n & 63);
        lsar(a: L, n: I) -> L = ((a as i64) >> (n & 63)) as u64;
        leq(a: L, b: L) -> M = m(a == b);
        lgt(a: L, b: L) -> M = m(a as i64 > b as i64);
    }
    lanes2! {
        fadd(a: F, b: F) -> F = a + b;
        fsub(a: F, b: F) -> F = a - b;
        fmul(a: F, b: F) -> F = a * b;
        fdiv(a: F, b: F) -> F = a / b;
        fmin_raw(a: F, b: F) -> F = {
            let (a, b) = (settled32(a), settled32(b));
            if less32(a, b) { a } else { b }
        };
        fmax_raw(a: F, b: F) -> F = {
            let (a, b) = (settled32(a), settled32(b));
            if less32(b, a) { a } else { b }
        };
        feq(a: F, b: F) -> M = m(a == b);
        fne(a: F, b: F) -> M = m(a != b);
        flt(a: F, b: F) -> M = m(a < b);
        fle(a: F, b: F) -> M = m(a <= b);
        iadd(a: I, b: I) -> I = a.wrapping_add(b);
        isub(a: I, b: I) -> I = a.wrapping_sub(b);
        iand(a: I, b: I) -> I = a & b;
        ior(a: I, b: I) -> I = a | b;
        ixor(a: I, b: I) -> I = a ^ b;
        iandn(a: I, b: I) -> I = !a & b;
        ishl(a: I, n: I) -> I = if n < 32 { a << n } else { 0 };
        ishr(a: I, n: I) -> I = if n < 32 { a >> n } else { 0 };
        ieq(a: I, b: I) -> M = m(a == b);
        sgt(a: I, b: I) -> M = m(a as i32 > b as i32);
        mand(a: M, b: M) -> M = a & b;
        mor(a: M, b: M) -> M = a | b;
        mxor(a: M, b: M) -> M = a ^ b;
        dadd(a: D, b: D) -> D = a + b;
        dsub(a: D, b: D) -> D = a - b;
        dmul(a: D, b: D) -> D = a * b;
        ladd(a: L, b: L) -> L = a.wrapping_add(b);
        lsub(a: L, b: L) -> L = a.wrapping_sub(b);
        land(a: L, b: L) -> L = a & b;
        lor(a: L, b: L) -> L = a | b;
        lxor(a: L, b: L) -> L = a ^ b;
        pack(a: I, b: I) -> L = a as u64 | (b as u64) << 32;
    }
    lanes3_apart! {
        fma(a: F, b: F, c: F) -> F = a.mul_add(b, c);
        fnma(a: F, b: F, c: F) -> F = (-a).mul_add(b, c);
        dfma(a: D, b: D, c: D) -> D = a.mul_add(b, c);
        dsel(m: M, a: D, b: D) -> D = if m != 0 { a } else { b };
        lsel(m: M, a: L, b: L) -> L = if m != 0 { a } else { b };
    }
    lanes3! {
        fsel(m: M, a: F, b: F) -> F = f32::from_bits((m & a.to_bits()) | (!m & b.to_bits()));
        isel(m: M, a: I, b: I) -> I = (m & a) | (!m & b);
    }
    #[inline(always)]
    unsafe fn iload4(self, p: [*mut u8; 4]) -> Self::I {
        // SAFETY: the trait's: four words may be read at each place.
        each!(i => unsafe { p[i / 4].cast::<u32>().add(i % 4).read_unaligned() })
    }
    #[inline(always)]
    unsafe fn istore4(self, p: [*mut u8; 4], a: Self::I) {
        for (p, a) in p.iter().zip(a.chunks_exact(4)) {
            // SAFETY: the trait's: four words may be written at each place.
            unsafe { p.copy_from_nonoverlapping(a.as_ptr().cast(), 16) };
        }
    }
    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    fn itranspose4(self, words: [Self::I; 4]) -> [Self::I; 4] {
        let of = |k: usize| each!(i => words[i % 4][i / 4 * 4 + k]);
        [of(0), of(1), of(2), of(3)]
    }
    #[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), inline(never))]
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), inline(always))]
    fn ishuffle(self, a: Self::I, idx: Self::I) -> Self::I {
        each!(i => a[(idx[i] & 15) as usize])
    }
    #[inline(always)]
    fn fquads(self, v: [f32; 4]) -> Self::F {
        each!(i => v[i / 4])
    }
    #[inline(always)]
    unsafe fn fquads3(self, p: [*const f32; 4]) -> [Self::F; 3] {
        // SAFETY: the trait's: three numbers may be read at each place.
        let of = |q: usize| unsafe { [*p[q], *p[q].add(1), *p[q].add(2)] };
        let v = [of(0), of(1), of(2), of(3)];
        [each!(i => v[i / 4][0]), each!(i => v[i / 4][1]), each!(i => v[i / 4][2])]
    }
    #[inline(always)]
    unsafe fn fquads4(self, p: [*const f32; 4]) -> [Self::F; 4] {
        // SAFETY: the trait's: four numbers may be read at each place.
        let v = p.map(|p| unsafe { p.cast::<[f32; 4]>().read_unaligned() });
        [each!(i => v[i / 4][0]), each!(i => v[i / 4][1]), each!(i => v[i / 4][2]), each!(i => v[i / 4][3])]
    }
    #[inline(always)]
    fn mask(self, bits: u16) -> Self::M {
        each!(i => m(bits >> i & 1 != 0))
    }
    #[inline(always)]
    fn mbits(self, m: Self::M) -> u16 {
        let mut r = 0;
        for (i, &m) in m.iter().enumerate() {
            r |= (m as u16 & 1) << i;
        }
        r
    }
    #[inline(always)]
    fn mbits4(self, m: [Self::M; 4]) -> u64 {
        let mut r = 0;
        for (i, &m) in m.as_flattened().iter().enumerate() {
            r |= (m as u64 & 1) << i;
        }
        r
    }
    #[inline(always)]
    unsafe fn mstore(self, p: *mut u8, words: [u64; 4]) {
        // SAFETY: the trait's: 32 bytes may be written.
        unsafe { p.cast::<[u64; 4]>().write_unaligned(words) }
    }
    #[inline(always)]
    fn many(self, a: Self::M) -> bool {
        a.iter().fold(0, |r, m| r | m) != 0
    }
}

/// [`Simd::istore_packed`], lane by lane.
///
/// # Safety
/// 64 bytes at `p`, of any alignment, may be written.
#[inline(always)]
pub(crate) unsafe fn pack(p: *mut u8, bits: u16, lanes: &[u32; 16]) {
    let (mut left, mut n) = (bits, 0);
    while left != 0 {
        let l = left.trailing_zeros() as usize % 16;
        left &= left - 1;
        // SAFETY: sixteen words at most, says the caller.
        unsafe { p.cast::<u32>().add(n).write_unaligned(lanes[l]) };
        n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{less32, less64};

    #[test]
    fn less_is_the_comparison() {
        let special = [
            0,
            1,
            0x7F_FFFF,
            0x80_0000,
            0x3F80_0000,
            0x3F80_0001,
            0x7F7F_FFFF,
            0x7F80_0000,
            0x7F80_0001,
            0x7FC0_0000,
        ];
        let values: Vec<u32> = special.into_iter().flat_map(|b| [b, b | 1 << 31]).collect();
        for (a, b) in
            values.iter().flat_map(|&a| values.iter().map(move |&b| (f32::from_bits(a), f32::from_bits(b))))
        {
            assert_eq!(less32(a, b), a < b, "{a:?} {b:?}");
            assert_eq!(less64(a as f64, b as f64), (a as f64) < b as f64, "{a:?} {b:?}");
        }
    }
}

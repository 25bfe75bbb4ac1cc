//! Sixteen lanes at a time: one trait, three machines.
//!
//! Every kernel is written once over [`Simd`] and compiled for each [`Level`]. The levels give the same bits: the
//! trait has only correctly rounded float operations and integer operations. The methods are `inline(always)`, and
//! fast only inside a function compiled with the level's CPU features: [`by_level`] makes such.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod vectors;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod forms;
mod level;
pub mod ops;
mod portable;
pub mod rows;
mod stream;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use level::{Avx2Proof, Avx512Proof, Level, gathers_are_slow, pretend_slow_gathers};
pub use portable::Portable;
pub use stream::{stream, streamed};

/// What [`Simd::ilook16`] and [`Simd::ilook`] look things up in.
#[repr(C, align(64))]
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Table<const N: usize>(pub [u32; N]);

/// What [`Simd::rarely`] is about; `of` is to be `inline(always)`. (Closures are not inlined reliably.)
pub trait Seldom {
    fn of<S: Simd>(s: S, x: S::F) -> (S::F, S::I);
}

/// Sixteen lanes of a machine. Float operations round to nearest even; NaN payloads and signs are nobody's business.
///
/// Names: `f` 16 × f32, `i` 16 × 32-bit int, `d` 16 × f64, `l` 16 × 64-bit int, `m` one bool a lane.
///
/// A value takes no room and is proof that the CPU has the level's instructions, so that what only computes is safe. Methods
/// with pointers are not: these must be good for the bytes named.
// `self` is the machine, not what is converted.
#[allow(clippy::wrong_self_convention)]
pub trait Simd: Copy + 'static {
    /// # Safety
    /// The CPU has the level's instructions.
    unsafe fn assume() -> Self;
    /// The level.
    fn level(self) -> Level;
    /// Warps that a straight loop should handle per turn.
    const UNROLL: u32;
    type F: Copy;
    type I: Copy;
    type D: Copy;
    type L: Copy;
    type M: Copy;

    // memory: 64 bytes (f, i) or 128 (d, l), aligned to 64; `iloadu`, `istoreu`: any alignment
    unsafe fn fload(self, p: *const u8) -> Self::F;
    unsafe fn fstore(self, p: *mut u8, a: Self::F);
    unsafe fn iload(self, p: *const u8) -> Self::I;
    unsafe fn istore(self, p: *mut u8, a: Self::I);
    unsafe fn iloadu(self, p: *const u8) -> Self::I;
    unsafe fn istoreu(self, p: *mut u8, a: Self::I);
    /// [`Self::istore`], past the caches where the CPU can, as [`stream()`].
    ///
    /// # Safety
    /// As [`Self::istore`].
    #[inline(always)]
    unsafe fn istream(self, p: *mut u8, a: Self::I) {
        // SAFETY: the caller's.
        unsafe { self.istore(p, a) };
    }
    /// Unaligned; lanes outside `m` are not touched in memory and read as 0.
    unsafe fn iload_mask(self, p: *const u8, m: Self::M) -> Self::I;
    unsafe fn istore_mask(self, p: *mut u8, m: Self::M, a: Self::I);
    /// 32 bits at base + off (unsigned bytes) of each lane in `m`; 0 elsewhere.
    unsafe fn igather(self, base: *const u8, off: Self::I, m: Self::M) -> Self::I;
    /// [`Self::igather`] of every lane.
    ///
    /// # Safety
    /// As [`Self::igather`].
    #[inline(always)]
    unsafe fn iwords(self, base: *const u8, off: Self::I) -> Self::I {
        // SAFETY: the caller's.
        unsafe { self.igather(base, off, self.mask(0xFFFF)) }
    }
    /// 64 bits at base + off (unsigned bytes, any alignment) of every lane.
    unsafe fn lgather(self, base: *const u8, off: Self::I) -> Self::L;
    /// The low and the high words of [`Self::lgather`].
    #[inline(always)]
    unsafe fn igather2(self, base: *const u8, off: Self::I) -> [Self::I; 2] {
        // SAFETY: the caller's, as for these.
        unsafe {
            let both = self.lgather(base, off);
            [self.lo(both), self.hi(both)]
        }
    }
    unsafe fn dload(self, p: *const u8) -> Self::D;
    unsafe fn dstore(self, p: *mut u8, a: Self::D);
    unsafe fn lload(self, p: *const u8) -> Self::L;
    unsafe fn lstore(self, p: *mut u8, a: Self::L);

    fn fsplat(self, x: f32) -> Self::F;
    /// Four words from each of four places, of any alignment: lanes `4 · k` and on are `p[k]`'s.
    unsafe fn iload4(self, p: [*mut u8; 4]) -> Self::I;
    unsafe fn istore4(self, p: [*mut u8; 4], a: Self::I);
    fn isplat(self, x: u32) -> Self::I;
    fn dsplat(self, x: f64) -> Self::D;
    fn lsplat(self, x: u64) -> Self::L;

    // f32
    fn fadd(self, a: Self::F, b: Self::F) -> Self::F;
    fn fsub(self, a: Self::F, b: Self::F) -> Self::F;
    fn fmul(self, a: Self::F, b: Self::F) -> Self::F;
    fn fdiv(self, a: Self::F, b: Self::F) -> Self::F;
    fn fsqrt(self, a: Self::F) -> Self::F;
    /// a · b + c, one rounding.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// −(a · b) + c, one rounding.
    fn fnma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// a < b ? a : b; so b when either is NaN or both are zero.
    fn fmin_raw(self, a: Self::F, b: Self::F) -> Self::F;
    /// a > b ? a : b.
    fn fmax_raw(self, a: Self::F, b: Self::F) -> Self::F;
    fn ffloor(self, a: Self::F) -> Self::F;
    /// [`Self::ffloor`] of numbers that an `i32` holds, and as integers; of zeros the sign may be lost.
    #[inline(always)]
    fn ffloor_int(self, a: Self::F) -> (Self::F, Self::I) {
        let whole = self.ffloor(a);
        (whole, self.f_to_s_raw(whole))
    }
    fn fceil(self, a: Self::F) -> Self::F;
    fn ftrunc(self, a: Self::F) -> Self::F;
    fn fround_even(self, a: Self::F) -> Self::F;
    fn feq(self, a: Self::F, b: Self::F) -> Self::M;
    /// True for NaN.
    fn fne(self, a: Self::F, b: Self::F) -> Self::M;
    fn flt(self, a: Self::F, b: Self::F) -> Self::M;
    fn fle(self, a: Self::F, b: Self::F) -> Self::M;
    fn fsel(self, m: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// There are instructions for the five that follow: what is right for all lanes costs little more than to look for a lane out
    /// of the ordinary.
    #[inline(always)]
    fn parts_are_cheap(self) -> bool {
        false
    }
    /// x, or something between it and ±200 if it is beyond: as [`Self::fround16`] and [`Self::fscale`] have need of. NaN stays.
    #[inline(always)]
    fn fbound(self, x: Self::F) -> Self::F {
        ops::bound(self, x)
    }
    /// x to the nearest sixteenth, of two the even one.
    #[inline(always)]
    fn fround16(self, x: Self::F) -> Self::F {
        ops::round16(self, x)
    }
    /// p · 2^⌊n⌋, rounded once: n of at most 252 either way, p of [1/2, 4) or NaN.
    #[inline(always)]
    fn fscale(self, p: Self::F, n: Self::F) -> Self::F {
        ops::scale(self, p, n)
    }
    /// Of positive finite x: e with 2^e ≤ x < 2^(e + 1), and x by that power of two which makes it lie in [3/4, 3/2). Something
    /// otherwise.
    #[inline(always)]
    fn fparts(self, x: Self::F) -> [Self::F; 2] {
        ops::parts(self, x)
    }
    /// r, but for x of some classes what `TABLE` says ([`ops::Fix`]).
    #[inline(always)]
    fn ffix<const TABLE: u32>(self, r: Self::F, x: Self::F) -> Self::F {
        ops::fix::<Self, TABLE>(self, r, x)
    }
    fn bits(self, a: Self::F) -> Self::I;
    fn from_bits(self, a: Self::I) -> Self::F;
    /// f32 → f16 bits, nearest even; NaN keeps sign and high payload, made quiet. And back (exact).
    fn f_to_f16(self, a: Self::F) -> Self::I;
    fn f16_to_f(self, a: Self::I) -> Self::F;

    // i32
    fn iadd(self, a: Self::I, b: Self::I) -> Self::I;
    fn isub(self, a: Self::I, b: Self::I) -> Self::I;
    fn imul(self, a: Self::I, b: Self::I) -> Self::I;
    /// High words of the unsigned and signed products.
    fn umul_hi(self, a: Self::I, b: Self::I) -> Self::I;
    fn smul_hi(self, a: Self::I, b: Self::I) -> Self::I;
    fn iand(self, a: Self::I, b: Self::I) -> Self::I;
    fn ior(self, a: Self::I, b: Self::I) -> Self::I;
    fn ixor(self, a: Self::I, b: Self::I) -> Self::I;
    /// !a & b.
    fn iandn(self, a: Self::I, b: Self::I) -> Self::I;
    /// Counts of 32 and more (unsigned) shift everything out.
    fn ishl(self, a: Self::I, n: Self::I) -> Self::I;
    fn ishr(self, a: Self::I, n: Self::I) -> Self::I;
    fn isar(self, a: Self::I, n: Self::I) -> Self::I;
    fn smin(self, a: Self::I, b: Self::I) -> Self::I;
    fn smax(self, a: Self::I, b: Self::I) -> Self::I;
    fn umin(self, a: Self::I, b: Self::I) -> Self::I;
    fn umax(self, a: Self::I, b: Self::I) -> Self::I;
    fn ieq(self, a: Self::I, b: Self::I) -> Self::M;
    /// a > b, signed.
    fn sgt(self, a: Self::I, b: Self::I) -> Self::M;
    /// a > b, unsigned.
    fn ugt(self, a: Self::I, b: Self::I) -> Self::M;
    fn isel(self, m: Self::M, a: Self::I, b: Self::I) -> Self::I;
    /// Writes the lanes in `m` one after the other; of the 64 bytes at `p` (any alignment), what lies behind them is whatever.
    unsafe fn istore_packed(self, p: *mut u8, m: Self::M, a: Self::I);
    /// Lane i = a[idx[i] mod 16].
    fn ishuffle(self, a: Self::I, idx: Self::I) -> Self::I;
    /// As [`Self::ishuffle`], of pairs of words.
    #[inline(always)]
    fn lshuffle(self, a: Self::L, idx: Self::I) -> Self::L {
        self.pack(self.ishuffle(self.lo(a), idx), self.ishuffle(self.hi(a), idx))
    }
    /// Lane i = table[i].
    #[inline(always)]
    fn iline(self, table: &'static Table<16>) -> Self::I {
        // SAFETY: sixteen words, aligned.
        unsafe { self.iload(table.0.as_ptr().cast()) }
    }
    /// Lane i = table[idx[i] mod 16].
    #[inline(always)]
    fn ilook16(self, table: &'static Table<16>, idx: Self::I) -> Self::I {
        // SAFETY: sixteen words, aligned.
        let all = unsafe { self.iload(table.0.as_ptr().cast()) };
        self.ishuffle(all, idx)
    }
    /// Lane i = table[idx[i] mod 32].
    #[inline(always)]
    fn ilook(self, table: &'static Table<32>, idx: Self::I) -> Self::I {
        ops::look(self, table, idx)
    }
    /// `old`, but in lanes of `m`, of which there are seldom any, `K`'s of x.
    #[inline(always)]
    fn rarely<K: Seldom>(self, m: Self::M, x: Self::F, old: (Self::F, Self::I)) -> (Self::F, Self::I) {
        if !self.many(m) {
            return old;
        }
        let new = K::of(self, x);
        (self.fsel(m, new.0, old.0), self.isel(m, new.1, old.1))
    }
    /// Four words of each lane, given as a vector a word: result k has those of lanes k, 4 + k, 8 + k and 12 + k, one lane's
    /// after the other's. And back: done twice it is nothing.
    fn itranspose4(self, words: [Self::I; 4]) -> [Self::I; 4];
    /// Lane i = that of number idx[i] (the lowest five bits of it) of a's and then b's.
    #[inline(always)]
    fn ishuffle2(self, a: Self::I, b: Self::I, idx: Self::I) -> Self::I {
        let second = self.sgt(self.isplat(0), ops::shl(self, idx, 27));
        self.isel(second, self.ishuffle(b, idx), self.ishuffle(a, idx))
    }
    /// Eight words from each place.
    ///
    /// # Safety
    /// 32 bytes are readable at each.
    #[inline(always)]
    unsafe fn iload2(self, p: [*const u8; 2]) -> Self::I {
        // SAFETY: the caller's.
        let [a, b] = p.map(|p| unsafe { p.cast::<[u32; 8]>().read_unaligned() });
        ops::i_from(self, std::array::from_fn(|i| if i < 8 { a[i] } else { b[i - 8] }))
    }
    /// Texels of four 16-bit floats, a float of each lane's in a vector: that of number `at` of sixteen (0 to 14), and the next one.
    /// Lanes 0 to 7 have them from the two vectors of `rows[0]`, the others from `rows[1]`.
    #[inline(always)]
    fn fhalves(self, rows: [[Self::I; 2]; 2], at: Self::I) -> [[Self::F; 4]; 2] {
        let at = ops::i_lanes(self, at);
        let words = rows.map(|of| of.map(|row| ops::i_lanes(self, row)));
        let texel = |next: usize, k: usize| {
            let half = std::array::from_fn(|l| {
                let n = at[l] as usize % 16 + next;
                words[l / 8][n / 8 % 2][n % 8 * 2 + k / 2] >> (k % 2 * 16)
            });
            self.f16_to_f(ops::i_from(self, half))
        };
        let all = |next| [texel(next, 0), texel(next, 1), texel(next, 2), texel(next, 3)];
        [all(0), all(1)]
    }
    /// Eight 16-bit floats from each place, as floats: the first four of each, one place's after the other's, and the last four.
    ///
    /// # Safety
    /// Sixteen bytes are readable at each.
    #[inline(always)]
    unsafe fn fload_halves(self, p: [*const u8; 4]) -> [Self::F; 2] {
        // SAFETY: the caller's.
        let all = p.map(|p| unsafe { p.cast::<[u16; 8]>().read_unaligned() });
        let four = |n: usize| {
            self.f16_to_f(ops::i_from(self, std::array::from_fn(|i| all[i / 4][i % 4 + n] as u32)))
        };
        [four(0), four(4)]
    }
    /// Bytes as words, one of each lane's in a vector: that of number `at` of sixteen (0 to 14), and the next one. Lanes 0 to 7 have them
    /// of the eight at each place of `rows[0]`, the others of `rows[1]`.
    ///
    /// # Safety
    /// Eight bytes are readable at each.
    #[inline(always)]
    unsafe fn iload_bytes(self, rows: [[*const u8; 2]; 2], at: Self::I) -> [Self::I; 2] {
        let at = ops::i_lanes(self, at);
        // SAFETY: the caller's.
        let all = rows.map(|of| of.map(|row| unsafe { row.cast::<[u8; 8]>().read_unaligned() }));
        let byte = |next: usize| {
            let of = |l: usize| (l / 8, at[l] as usize % 16 + next);
            ops::i_from(self, std::array::from_fn(|l| all[of(l).0][of(l).1 / 8 % 2][of(l).1 % 8] as u32))
        };
        [byte(0), byte(1)]
    }
    /// Sixteen bytes, each as a word.
    ///
    /// # Safety
    /// They are readable at `p`.
    #[inline(always)]
    unsafe fn iwiden8(self, p: *const u8) -> Self::I {
        // SAFETY: the caller's.
        ops::i_from(self, unsafe { p.cast::<[u8; 16]>().read_unaligned() }.map(u32::from))
    }
    /// Sixteen 16-bit numbers, each as a word.
    ///
    /// # Safety
    /// 32 bytes are readable at `p`.
    #[inline(always)]
    unsafe fn iwiden16(self, p: *const u8) -> Self::I {
        // SAFETY: the caller's.
        ops::i_from(self, unsafe { p.cast::<[u16; 16]>().read_unaligned() }.map(u32::from))
    }
    /// The lowest byte of each word, one after the other.
    ///
    /// # Safety
    /// Sixteen bytes are writable at `p`.
    #[inline(always)]
    unsafe fn inarrow8(self, p: *mut u8, a: Self::I) {
        // SAFETY: the caller's.
        unsafe { p.cast::<[u8; 16]>().write_unaligned(ops::i_lanes(self, a).map(|v| v as u8)) }
    }
    /// The lower half of each word, one after the other.
    ///
    /// # Safety
    /// 32 bytes are writable at `p`.
    #[inline(always)]
    unsafe fn inarrow16(self, p: *mut u8, a: Self::I) {
        // SAFETY: the caller's.
        unsafe { p.cast::<[u16; 16]>().write_unaligned(ops::i_lanes(self, a).map(|v| v as u16)) }
    }
    /// Sixteen 16-bit floats.
    ///
    /// # Safety
    /// 32 bytes are readable at `p`.
    #[inline(always)]
    unsafe fn fload16(self, p: *const u8) -> Self::F {
        // SAFETY: the caller's.
        self.f16_to_f(unsafe { self.iwiden16(p) })
    }
    /// Numbers as sixteen 16-bit floats.
    ///
    /// # Safety
    /// 32 bytes are writable at `p`.
    #[inline(always)]
    unsafe fn fstore16(self, p: *mut u8, a: Self::F) {
        // SAFETY: the caller's.
        unsafe { self.inarrow16(p, self.f_to_f16(a)) };
    }
    /// Of sixteen texels of four 16-bit floats, which are the two vectors, the first of each, and so on.
    #[inline(always)]
    fn fapart16(self, v: [Self::I; 2]) -> [Self::F; 4] {
        let [a, b] = ops::apart(self, v);
        let (c, d) = (ops::shr(self, a, 16), ops::shr(self, b, 16));
        [self.f16_to_f(a), self.f16_to_f(c), self.f16_to_f(b), self.f16_to_f(d)]
    }
    /// The reverse of [`Self::fapart16`].
    #[inline(always)]
    fn ftogether16(self, v: [Self::F; 4]) -> [Self::I; 2] {
        let (r, g, b, a) =
            (self.f_to_f16(v[0]), self.f_to_f16(v[1]), self.f_to_f16(v[2]), self.f_to_f16(v[3]));
        let words = [self.ior(r, ops::shl(self, g, 16)), self.ior(b, ops::shl(self, a, 16))];
        ops::together(self, words)
    }
    /// Of each vector, lane i = table[idx[i] mod 256].
    #[inline(always)]
    fn ilook256<const N: usize>(self, table: &Table<256>, idx: [Self::I; N]) -> [Self::I; N] {
        let mut out = idx;
        for k in 0..N {
            let at = ops::shl(self, self.iand(idx[k], self.isplat(255)), 2);
            // SAFETY: 256 words.
            out[k] = unsafe { self.iwords(table.0.as_ptr().cast(), at) };
        }
        out
    }
    /// Lane i = that of a which is `LANE` of its quad.
    #[inline(always)]
    fn fquad<const LANE: u32>(self, a: Self::F) -> Self::F {
        match LANE {
            0 => self.fpick::<0x00>(a, a),
            1 => self.fpick::<0x55>(a, a),
            2 => self.fpick::<0xAA>(a, a),
            _ => self.fpick::<0xFF>(a, a),
        }
    }
    /// Of each quad, two lanes of a and then two of b: `WHICH` has two bits for each, the lowest first.
    #[inline(always)]
    fn fpick<const WHICH: i32>(self, a: Self::F, b: Self::F) -> Self::F {
        let (a, b) = (ops::f_lanes(self, a), ops::f_lanes(self, b));
        let of = |l: usize| l & 12 | (WHICH >> (2 * (l & 3)) & 3) as usize;
        ops::f_from(self, std::array::from_fn(|l| if l & 2 == 0 { a[of(l)] } else { b[of(l)] }))
    }
    /// Lane i = v[i / 4]: a number a quad.
    fn fquads(self, v: [f32; 4]) -> Self::F;
    /// Three numbers a quad: lane i of the k-th result = p[i / 4][k]. The pointers are good for three numbers each.
    unsafe fn fquads3(self, p: [*const f32; 4]) -> [Self::F; 3];
    /// As [`Self::fquads3`], of four numbers.
    unsafe fn fquads4(self, p: [*const f32; 4]) -> [Self::F; 4];

    // conversions of 32 bits
    fn s_to_f(self, a: Self::I) -> Self::F;
    fn u_to_f(self, a: Self::I) -> Self::F;
    /// Truncates; out of range and NaN → 0x8000_0000.
    fn f_to_s_raw(self, a: Self::F) -> Self::I;

    // masks
    fn mask(self, bits: u16) -> Self::M;
    fn mbits(self, m: Self::M) -> u16;
    /// Bits of four masks, the first lowest.
    fn mbits4(self, m: [Self::M; 4]) -> u64;
    /// Writes the 32 bytes in one go, so that a vector load of them forwards from the store. Any alignment.
    unsafe fn mstore(self, p: *mut u8, words: [u64; 4]);
    fn mand(self, a: Self::M, b: Self::M) -> Self::M;
    fn mor(self, a: Self::M, b: Self::M) -> Self::M;
    fn mxor(self, a: Self::M, b: Self::M) -> Self::M;
    fn mnot(self, a: Self::M) -> Self::M;
    /// True if any lane is.
    fn many(self, a: Self::M) -> bool;

    // f64
    fn dadd(self, a: Self::D, b: Self::D) -> Self::D;
    fn dsub(self, a: Self::D, b: Self::D) -> Self::D;
    fn dmul(self, a: Self::D, b: Self::D) -> Self::D;
    fn ddiv(self, a: Self::D, b: Self::D) -> Self::D;
    fn dsqrt(self, a: Self::D) -> Self::D;
    fn dfma(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    fn dmin_raw(self, a: Self::D, b: Self::D) -> Self::D;
    fn dmax_raw(self, a: Self::D, b: Self::D) -> Self::D;
    fn dfloor(self, a: Self::D) -> Self::D;
    fn dceil(self, a: Self::D) -> Self::D;
    fn dtrunc(self, a: Self::D) -> Self::D;
    fn dround_even(self, a: Self::D) -> Self::D;
    fn deq(self, a: Self::D, b: Self::D) -> Self::M;
    fn dne(self, a: Self::D, b: Self::D) -> Self::M;
    fn dlt(self, a: Self::D, b: Self::D) -> Self::M;
    fn dle(self, a: Self::D, b: Self::D) -> Self::M;
    fn dsel(self, m: Self::M, a: Self::D, b: Self::D) -> Self::D;
    fn dbits(self, a: Self::D) -> Self::L;
    fn from_dbits(self, a: Self::L) -> Self::D;

    // i64
    fn ladd(self, a: Self::L, b: Self::L) -> Self::L;
    fn lsub(self, a: Self::L, b: Self::L) -> Self::L;
    fn lmul(self, a: Self::L, b: Self::L) -> Self::L;
    fn land(self, a: Self::L, b: Self::L) -> Self::L;
    fn lor(self, a: Self::L, b: Self::L) -> Self::L;
    fn lxor(self, a: Self::L, b: Self::L) -> Self::L;
    /// Counts below 64, one 32-bit count a lane.
    fn lshl(self, a: Self::L, n: Self::I) -> Self::L;
    fn lshr(self, a: Self::L, n: Self::I) -> Self::L;
    fn lsar(self, a: Self::L, n: Self::I) -> Self::L;
    fn leq(self, a: Self::L, b: Self::L) -> Self::M;
    /// a > b, signed.
    fn lgt(self, a: Self::L, b: Self::L) -> Self::M;
    #[inline(always)]
    fn lsmin(self, a: Self::L, b: Self::L) -> Self::L {
        self.lsel(self.lgt(a, b), b, a)
    }
    #[inline(always)]
    fn lsmax(self, a: Self::L, b: Self::L) -> Self::L {
        self.lsel(self.lgt(a, b), a, b)
    }
    #[inline(always)]
    fn lumin(self, a: Self::L, b: Self::L) -> Self::L {
        self.lsel(ops::above(self, a, b), b, a)
    }
    #[inline(always)]
    fn lumax(self, a: Self::L, b: Self::L) -> Self::L {
        self.lsel(ops::above(self, a, b), a, b)
    }
    fn lsel(self, m: Self::M, a: Self::L, b: Self::L) -> Self::L;

    // between widths
    fn lo(self, a: Self::L) -> Self::I;
    fn hi(self, a: Self::L) -> Self::I;
    fn pack(self, lo: Self::I, hi: Self::I) -> Self::L;
    fn s_to_d(self, a: Self::I) -> Self::D;
    #[inline(always)]
    fn u_to_d(self, a: Self::I) -> Self::D {
        ops::u_to_d(self, a)
    }
    /// From 64-bit integers with one rounding.
    #[inline(always)]
    fn sl_to_d(self, a: Self::L) -> Self::D {
        ops::sl_to_d(self, a)
    }
    #[inline(always)]
    fn ul_to_d(self, a: Self::L) -> Self::D {
        ops::ul_to_d(self, a)
    }
    /// A whole number from 0 to below 2^64; of others anything.
    #[inline(always)]
    fn d_to_ul(self, a: Self::D) -> Self::L {
        ops::d_to_ul(self, a)
    }
    /// Truncates; out of range and NaN → 0x8000_0000.
    fn d_to_s_raw(self, a: Self::D) -> Self::I;
    fn f_to_d(self, a: Self::F) -> Self::D;
    fn d_to_f(self, a: Self::D) -> Self::F;
}

/// Asks for the line of memory at an address, which may be any; nothing where a CPU has no such instruction.
#[inline(always)]
pub fn prefetch(p: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; every x86-64 CPU has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quads_body<S: Simd>(s: S) {
        // The last three end where memory that may be read does.
        let v: Vec<f32> = (0..12).map(|i| i as f32 * 1.5 - 4.0).collect();
        let p = [3, 0, 9, 6].map(|i| v[i..].as_ptr());
        let lanes = |f: S::F| ops::f_lanes(s, f);
        // SAFETY: three numbers are there at each place.
        let rows = unsafe { s.fquads3(p) }.map(lanes);
        let quads = [lanes(s.fquads([0.5, -2.0, 7.0, 9.0])); 3];
        // SAFETY: four are.
        let fours = unsafe { s.fquads4([1, 0, 8, 5].map(|i| v[i..].as_ptr())) }.map(lanes);
        for (at, rows) in [([3, 0, 9, 6], &rows[..]), ([1, 0, 8, 5], &fours[..])] {
            for (k, got) in rows.iter().enumerate() {
                let want: [f32; 16] = std::array::from_fn(|i| v[at[i / 4] + k]);
                assert_eq!(*got, want);
            }
        }
        let want: [f32; 16] = std::array::from_fn(|i| [0.5, -2.0, 7.0, 9.0][i / 4]);
        assert_eq!(quads[0], want);
    }
    by_level!(fn quads = quads_body, ());

    #[test]
    fn numbers_of_quads() {
        Level::all().into_iter().for_each(quads);
    }

    fn wide_body<S: Simd>(s: S) {
        let x: [u64; 16] = std::array::from_fn(|l| l as u64 * 0x1_0000_0003);
        let idx: [u32; 16] = std::array::from_fn(|l| (l as u32 * 7 + 21) * 16 + (l as u32 * 5 + 3) % 16);
        let got = ops::l_lanes(s, s.lshuffle(ops::l_from(s, x), ops::i_from(s, idx)));
        assert_eq!(got, idx.map(|i| x[i as usize % 16]));
    }
    by_level!(fn wide = wide_body, ());

    #[test]
    fn pairs_of_words_are_shuffled() {
        Level::all().into_iter().for_each(wide);
    }

    fn quad_body<S: Simd>(s: S) {
        let x: [f32; 16] = std::array::from_fn(|l| l as f32 / 16.0);
        let a = ops::f_from(s, x);
        assert_eq!(ops::f_lanes(s, s.fquad::<0>(a)), std::array::from_fn(|l| x[l & 12]));
        assert_eq!(ops::f_lanes(s, s.fquad::<1>(a)), std::array::from_fn(|l| x[(l & 12) + 1]));
        assert_eq!(ops::f_lanes(s, s.fquad::<2>(a)), std::array::from_fn(|l| x[(l & 12) + 2]));
        assert_eq!(ops::f_lanes(s, s.fquad::<3>(a)), std::array::from_fn(|l| x[l | 3]));
        let b = s.fadd(a, s.fsplat(1.0));
        let of = |l: usize| x[(l & 12) + [2, 0, 1, 3][l & 3]] + (l >> 1 & 1) as f32;
        assert_eq!(ops::f_lanes(s, s.fpick::<0b11_01_00_10>(a, b)), std::array::from_fn(of));
    }
    by_level!(fn quad = quad_body, ());

    #[test]
    fn one_lane_of_each_quad() {
        Level::all().into_iter().for_each(quad);
    }

    fn transposed_body<S: Simd>(s: S) {
        let words = [0, 1, 2, 3].map(|k| ops::i_from(s, std::array::from_fn(|l| (l * 4 + k) as u32)));
        let rows = s.itranspose4(words);
        for (k, row) in rows.into_iter().enumerate() {
            let want: [u32; 16] = std::array::from_fn(|i| ((i / 4 * 4 + k) * 4 + i % 4) as u32);
            assert_eq!(ops::i_lanes(s, row), want, "{k}");
        }
        for (back, words) in s.itranspose4(rows).into_iter().zip(words) {
            assert_eq!(ops::i_lanes(s, back), ops::i_lanes(s, words));
        }
    }
    by_level!(fn transposed = transposed_body, ());

    fn halves_body<S: Simd>(s: S) {
        // 1, 2, 3 and so on, as 16-bit floats, row by row.
        let half = |n: usize| half::f16::from_f32(n as f32).to_bits() as u32;
        let row = |r: usize| {
            let word = |i: usize| half(r * 32 + 2 * i + 1) | half(r * 32 + 2 * i + 2) << 16;
            ops::i_from(s, std::array::from_fn(word))
        };
        let at: [u32; 16] = std::array::from_fn(|l| (l * 7 % 15) as u32);
        let got = s.fhalves([[row(0), row(1)], [row(2), row(3)]], ops::i_from(s, at));
        for (next, texel) in got.into_iter().enumerate() {
            for (k, lanes) in texel.into_iter().enumerate() {
                let want: [f32; 16] = std::array::from_fn(|l| {
                    let first = l / 8 * 64 + (at[l] as usize + next) * 4;
                    (first + k + 1) as f32
                });
                assert_eq!(ops::f_lanes(s, lanes), want, "{next}, channel {k}");
            }
        }
    }
    by_level!(fn halves = halves_body, ());

    fn pairs_body<S: Simd>(s: S) {
        let some: [u16; 80] = std::array::from_fn(|n| half::f16::from_f32(n as f32 - 7.5).to_bits());
        let first = [3, 71, 16, 40];
        // SAFETY: eight of them at each place.
        let got = unsafe { s.fload_halves(first.map(|n| some[n..].as_ptr().cast())) };
        for (of, got) in got.into_iter().enumerate() {
            let want: [f32; 16] = std::array::from_fn(|i| (first[i / 4] + of * 4 + i % 4) as f32 - 7.5);
            assert_eq!(ops::f_lanes(s, got), want, "{of}");
        }
    }
    by_level!(fn pairs = pairs_body, ());

    fn gathered_body<S: Simd>(s: S) {
        let some: [u8; 90] = std::array::from_fn(|n| (n * 37 + 200) as u8);
        let at: [u32; 16] = std::array::from_fn(|l| (l * 29 % 83) as u32);
        let word = |n: u32| u32::from_le_bytes(std::array::from_fn(|b| some[n as usize + b]));
        let off = ops::i_from(s, at);
        for slow in [false, true] {
            pretend_slow_gathers(slow);
            // SAFETY: eight bytes at each offset.
            let (one, two) = unsafe { (s.iwords(some.as_ptr(), off), s.igather2(some.as_ptr(), off)) };
            assert_eq!(ops::i_lanes(s, one), at.map(word), "{slow}");
            assert_eq!(two.map(|w| ops::i_lanes(s, w)), [at.map(word), at.map(|n| word(n + 4))], "{slow}");
        }
    }
    by_level!(fn gathered = gathered_body, ());

    #[test]
    fn words_at_offsets() {
        Level::all().into_iter().for_each(gathered);
    }

    fn bytes_body<S: Simd>(s: S) {
        let some: [u8; 60] = std::array::from_fn(|n| (n * 37 + 200) as u8);
        let first = [[3, 41], [16, 52]];
        let at: [u32; 16] = std::array::from_fn(|l| (l * 11 % 15) as u32);
        // SAFETY: eight of them at each place.
        let got =
            unsafe { s.iload_bytes(first.map(|of| of.map(|n| some[n..].as_ptr())), ops::i_from(s, at)) };
        for (next, got) in got.into_iter().enumerate() {
            let want: [u32; 16] = std::array::from_fn(|l| {
                let n = at[l] as usize + next;
                some[first[l / 8][n / 8] + n % 8] as u32
            });
            assert_eq!(ops::i_lanes(s, got), want, "{next}");
        }
    }
    by_level!(fn bytes = bytes_body, ());

    #[test]
    fn bytes_of_rows() {
        Level::all().into_iter().for_each(bytes);
    }

    #[test]
    fn pairs_of_texels_of_halves() {
        Level::all().into_iter().for_each(pairs);
    }

    #[test]
    fn texels_of_halves() {
        Level::all().into_iter().for_each(halves);
    }

    fn floors_body<S: Simd>(s: S) {
        let some =
            [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.4999998, -2.5, 8388607.5, -8388607.5, 16777216.0];
        for a in some.into_iter().chain([-16777216.0, 1e-45, -1e-45, 0.99999994, -0.99999994]) {
            let (f, i) = s.ffloor_int(s.fsplat(a));
            assert_eq!(ops::f_lanes(s, f), [a.floor(); 16], "{a}");
            assert_eq!(ops::i_lanes(s, i), [a.floor() as i32 as u32; 16], "{a}");
        }
    }
    by_level!(fn floors = floors_body, ());

    #[test]
    fn floors_as_integers() {
        Level::all().into_iter().for_each(floors);
    }

    fn of_two_body<S: Simd>(s: S) {
        let words: [u32; 40] = std::array::from_fn(|i| i as u32 * 3 + 1);
        let at = |n: usize| words[n..].as_ptr().cast();
        // SAFETY: eight words at each place.
        let (a, b) = unsafe { (s.iload2([at(3), at(20)]), s.iload2([at(32), at(0)])) };
        let of = |n: usize| words[[3, 20, 32, 0][n / 8 % 4] + n % 8];
        assert_eq!(ops::i_lanes(s, a), std::array::from_fn(of));
        assert_eq!(ops::i_lanes(s, b), std::array::from_fn(|i| of(16 + i)));
        let idx: [u32; 16] = std::array::from_fn(|i| i as u32 * 37 + 5);
        let got = ops::i_lanes(s, s.ishuffle2(a, b, ops::i_from(s, idx)));
        assert_eq!(got, idx.map(|n| of(n as usize % 32)));
    }
    by_level!(fn of_two = of_two_body, ());

    #[test]
    fn lanes_of_two() {
        Level::all().into_iter().for_each(of_two);
    }

    fn widths_body<S: Simd>(s: S) {
        let some: [u16; 20] = std::array::from_fn(|n| (n * 0x3A71 + 0x80C3) as u16);
        let bytes = some[1..].as_ptr().cast::<u8>();
        // SAFETY: sixteen of them, and as many bytes off their alignment.
        let (wide8, wide16) = unsafe { (s.iwiden8(bytes.add(1)), s.iwiden16(bytes)) };
        let byte = |n: usize| (some[1 + n / 2] >> (8 * (n % 2))) as u32 & 255;
        assert_eq!(ops::i_lanes(s, wide8), std::array::from_fn(|i| byte(i + 1)));
        assert_eq!(ops::i_lanes(s, wide16), std::array::from_fn(|i| some[1 + i] as u32));
        // What is above does not count.
        let words: [u32; 16] = std::array::from_fn(|l| (l as u32 + 1).wrapping_mul(0x9E37_79B9));
        let (mut got8, mut got16) = ([0u8; 18], [0u16; 18]);
        // SAFETY: room for sixteen.
        unsafe {
            s.inarrow8(got8[1..].as_mut_ptr(), ops::i_from(s, words));
            s.inarrow16(got16[1..].as_mut_ptr().cast(), ops::i_from(s, words));
        }
        assert_eq!((got8[0], got8[17], got16[0], got16[17]), (0, 0, 0, 0));
        assert_eq!(got8[1..17], words.map(|w| w as u8));
        assert_eq!(got16[1..17], words.map(|w| w as u16));
        // Texels of four halves.
        let halves: [u16; 64] = std::array::from_fn(|n| half::f16::from_f32(n as f32 - 9.5).to_bits());
        let mut back = [0u16; 18];
        // SAFETY: sixteen halves, and as much room; 64 of them.
        let (one, all) = unsafe {
            let at = |n: usize| halves[n..].as_ptr().cast();
            let one = s.fload16(at(3));
            s.fstore16(back[1..].as_mut_ptr().cast(), one);
            (one, [s.iloadu(at(0)), s.iloadu(at(32))])
        };
        assert_eq!(ops::f_lanes(s, one), std::array::from_fn(|i| i as f32 - 6.5));
        assert_eq!((back[0], &back[1..17], back[17]), (0, &halves[3..19], 0));
        let channels = s.fapart16(all);
        for (k, c) in channels.into_iter().enumerate() {
            assert_eq!(ops::f_lanes(s, c), std::array::from_fn(|i| (4 * i + k) as f32 - 9.5));
        }
        for (got, want) in s.ftogether16(channels).into_iter().zip(all) {
            assert_eq!(ops::i_lanes(s, got), ops::i_lanes(s, want));
        }
        for (got, want) in ops::together(s, ops::apart(s, all)).into_iter().zip(all) {
            assert_eq!(ops::i_lanes(s, got), ops::i_lanes(s, want));
        }
        let table = Table(std::array::from_fn(|i| (i * i) as u32 ^ 0xA5A5_0000));
        let of = |w: u32| table.0[w as usize % 256];
        let next = words.map(|w| w + 1);
        let got = s.ilook256(&table, [ops::i_from(s, words), ops::i_from(s, next)]);
        assert_eq!(got.map(|v| ops::i_lanes(s, v)), [words.map(of), next.map(of)]);
    }
    by_level!(fn widths = widths_body, ());

    #[test]
    fn narrow_lanes_and_large_tables() {
        Level::all().into_iter().for_each(widths);
    }

    fn long_body<S: Simd>(s: S) {
        let some = [0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 53) - 1, (1 << 53) + 1, (1 << 53) + 3];
        let more = [
            1 << 63,
            (1 << 63) - 1,
            u64::MAX,
            u64::MAX - 1024,
            0x8000_0000_0000_0400,
            !0 << 11,
            0x1234_5678_9ABC_DEF0,
        ];
        let a: [u64; 16] = std::array::from_fn(|i| if i < 9 { some[i] } else { more[i - 9] });
        let b: [u64; 16] = std::array::from_fn(|i| a[(i * 7 + 3) % 16]);
        let (x, y) = (ops::l_from(s, a), ops::l_from(s, b));
        assert_eq!(ops::d_lanes(s, s.ul_to_d(x)), a.map(|n| n as f64));
        assert_eq!(ops::d_lanes(s, s.sl_to_d(x)), a.map(|n| n as i64 as f64));
        assert_eq!(ops::d_lanes(s, s.u_to_d(s.lo(x))), a.map(|n| n as u32 as f64));
        let whole = a.map(|n| (n >> 11) as f64 * 2040.0);
        assert_eq!(ops::l_lanes(s, s.d_to_ul(ops::d_from(s, whole))), whole.map(|n| n as u64));
        let both = |f: fn(u64, u64) -> u64| std::array::from_fn::<u64, 16, _>(|i| f(a[i], b[i]));
        assert_eq!(ops::l_lanes(s, s.lumin(x, y)), both(u64::min));
        assert_eq!(ops::l_lanes(s, s.lumax(x, y)), both(u64::max));
        assert_eq!(ops::l_lanes(s, s.lsmin(x, y)), both(|a, b| (a as i64).min(b as i64) as u64));
        assert_eq!(ops::l_lanes(s, s.lsmax(x, y)), both(|a, b| (a as i64).max(b as i64) as u64));
    }
    by_level!(fn long = long_body, ());

    #[test]
    fn integers_of_64_bits() {
        Level::all().into_iter().for_each(long);
    }

    fn packed_body<S: Simd>(s: S) {
        let lanes = std::array::from_fn(|l| l as u32 * 3 + 1);
        for bits in [0u16, 1, 0x8000, 0x8421, 0x0FF0, 0xABCD, 0xFFFF] {
            let mut got = [0u32; 17];
            // SAFETY: sixteen words, off their alignment.
            unsafe { s.istore_packed(got[1..].as_mut_ptr().cast(), s.mask(bits), ops::i_from(s, lanes)) };
            let want: Vec<u32> = (0..16).filter(|l| bits >> l & 1 != 0).map(|l| lanes[l]).collect();
            assert_eq!((got[0], &got[1..1 + want.len()]), (0, &want[..]), "{bits:x}");
        }
    }
    by_level!(fn packed = packed_body, ());

    #[test]
    fn lanes_one_after_the_other() {
        Level::all().into_iter().for_each(packed);
    }

    fn looked_up_body<S: Simd>(s: S) {
        static LOW: Table<16> = Table([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 12, 13, 14, 15, 16]);
        static ALL: Table<32> = {
            let mut t = [0; 32];
            let mut i = 0;
            while i < 32 {
                t[i] = (i * i + 1) as u32;
                i += 1;
            }
            Table(t)
        };
        // Beyond the tables the lowest bits count.
        let at: [u32; 16] = std::array::from_fn(|l| (l as u32).wrapping_mul(0x9E37_79B9) ^ 0x8000_0013);
        let idx = ops::i_from(s, at);
        assert_eq!(ops::i_lanes(s, s.ilook16(&LOW, idx)), at.map(|i| LOW.0[i as usize % 16]));
        assert_eq!(ops::i_lanes(s, s.ilook(&ALL, idx)), at.map(|i| ALL.0[i as usize % 32]));
    }
    by_level!(fn looked_up = looked_up_body, ());

    fn parted_body<S: Simd>(s: S) {
        let x = [
            1.0,
            1.49,
            1.5,
            1.99,
            0.75,
            3.0,
            1e-45,
            1e-40,
            f32::MIN_POSITIVE,
            f32::MAX,
            0.7499,
            2.9,
            6.0,
            1e20,
            7e-39,
            0.1,
        ];
        let [e, m] = s.fparts(ops::f_from(s, x));
        let (e, m) = (ops::f_lanes(s, e), ops::f_lanes(s, m));
        for (i, x) in x.into_iter().enumerate() {
            let x = x as f64;
            assert!((0.75..1.5).contains(&m[i]), "{x}: {}", m[i]);
            assert_eq!(e[i] as f64, x.log2().floor(), "{x}");
            // Half of x by 2^e where that is 3/2 or more.
            let whole = x / (e[i] as f64).exp2();
            assert_eq!(m[i] as f64, if whole < 1.5 { whole } else { whole / 2.0 }, "{x}");
        }
        let n = [
            0.0, 0.5, -0.25, 3.9375, -3.0625, 100.0, -140.5, 127.0, -126.0, 8.0, -8.0, 1.0, -1.0, 2.5, -2.5,
            60.0,
        ];
        let got = ops::f_lanes(s, s.fscale(s.fsplat(1.5), ops::f_from(s, n)));
        assert_eq!(got, n.map(|n: f32| (1.5 * (n as f64).floor().exp2()) as f32));
        let x = [
            0.031, 0.03125, 0.09375, -0.03125, 7.97, -7.97, 0.0, 1.0, 19.99, -0.2, 5.5, 6.01, -6.01, 126.9,
            -125.3, 0.5,
        ];
        let got = ops::f_lanes(s, s.fround16(ops::f_from(s, x)));
        assert_eq!(got, x.map(|x: f32| (x * 16.0).round_ties_even() / 16.0));
    }
    by_level!(fn parted = parted_body, ());

    #[test]
    fn parts_of_floats() {
        Level::all().into_iter().for_each(parted);
    }

    #[test]
    fn tables() {
        Level::all().into_iter().for_each(looked_up);
    }

    #[test]
    fn words_of_lanes() {
        Level::all().into_iter().for_each(transposed);
    }
}

//! Sixteen lanes at a time: one trait, a machine for each level.
//!
//! Every kernel is written once over [`Simd`] and compiled for each [`Level`]. The levels give the same bits: the
//! trait has only correctly rounded float operations and integer operations. The methods are `inline(always)`, and
//! fast only inside a function compiled with the level's CPU features: [`by_level`] makes such.

// (`mul_add` calls it on Windows.)
use fused as _;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[macro_use]
mod vectors;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod baseline;
mod forms;
mod levels;
#[cfg(target_arch = "aarch64")]
mod neon;
pub mod ops;
mod portable;
mod quad;
pub mod rows;
mod steps;
mod walk;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use baseline::{LARGE_PAGE, large_pages, non_zero, prefetch, stream, streamed};
pub use levels::{Level, NAMES, Name, gathers_are_slow, machines, pretend_slow_gathers};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;
pub use portable::Portable;
pub use quad::Quad;
pub use steps::{Steps, WINDOW};

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
    /// The level has vector instructions of its own. Where it has none, large code should be a function and not be inlined.
    const VECTORS: bool = false;
    /// The CPU holds sixteen words in one vector, and has instructions that pick words from two such vectors.
    const ONE_VECTOR: bool = false;
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
    /// The products of both signed halves of the words, added.
    fn imadd16(self, a: Self::I, b: Self::I) -> Self::I;
    /// The high bytes of both halves of the words, as signed halves.
    fn ihigh_bytes(self, a: Self::I) -> Self::I;
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
    /// Writes the lanes in `m` one after the other; of the 64 bytes at `p` (any alignment), what lies after them is whatever.
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
    /// Sixteen pixels of four bytes at `p` after blending in 16-bit fixed point: byte · factor + term, rounded to the nearest byte and
    /// at most 255. A word of `factor` and `term` has the numbers of two channels in its halves, in the order of the bytes: a factor
    /// is a 32767th, a term is a 128th of a byte's step.
    ///
    /// # Safety
    /// 64 bytes are readable at `p`.
    #[inline(always)]
    unsafe fn iblend8(self, p: *const u8, term: [Self::I; 2], factor: [Self::I; 2]) -> Self::I {
        // SAFETY: the caller's.
        let bytes = unsafe { p.cast::<[[u8; 4]; 16]>().read_unaligned() };
        ops::blend8(self, bytes, term, factor)
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
    /// The upper eight lanes and then the lower ones.
    #[inline(always)]
    fn fother_half(self, a: Self::F) -> Self::F {
        let a = ops::f_lanes(self, a);
        ops::f_from(self, std::array::from_fn(|l| a[l ^ 8]))
    }
    /// Of four quads the second, the third, the first and the last.
    #[inline(always)]
    fn fnext_quad(self, a: Self::F) -> Self::F {
        let a = ops::f_lanes(self, a);
        ops::f_from(self, std::array::from_fn(|l| a[if l < 12 { (l + 4) % 12 } else { l }]))
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

#[cfg(test)]
mod tests;

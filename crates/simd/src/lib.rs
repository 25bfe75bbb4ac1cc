//! Sixteen lanes at a time: one trait, three machines.
//!
//! Every kernel is written once over [`Simd`] and compiled for each [`Level`]. The levels give the same bits: the
//! trait has only correctly rounded float operations and integer operations. The methods are `inline(always)`, and
//! only sound to run inside a function compiled with the level's CPU features: [`by_level`] makes such.

#![deny(unsafe_op_in_unsafe_fn)]

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

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use level::{Level, Proof};
pub use portable::Portable;

/// Sixteen lanes of a machine. Float operations round to nearest even; NaN payloads and signs are nobody's business.
///
/// Names: `f` 16 × f32, `i` 16 × 32-bit int, `d` 16 × f64, `l` 16 × 64-bit int, `m` one bool a lane.
///
/// # Safety
/// Call methods only where the CPU has the level's features. Pointers must be good for the bytes named.
pub trait Simd: Copy + 'static {
    /// The level.
    unsafe fn level() -> Level;
    /// Warps that a straight loop should handle per turn.
    const UNROLL: u32;
    type F: Copy;
    type I: Copy;
    type D: Copy;
    type L: Copy;
    type M: Copy;

    // memory: 64 bytes (f, i) or 128 (d, l), aligned to 64; `iloadu`, `istoreu`: any alignment
    unsafe fn fload(p: *const u8) -> Self::F;
    unsafe fn fstore(p: *mut u8, a: Self::F);
    unsafe fn iload(p: *const u8) -> Self::I;
    unsafe fn istore(p: *mut u8, a: Self::I);
    unsafe fn iloadu(p: *const u8) -> Self::I;
    unsafe fn istoreu(p: *mut u8, a: Self::I);
    /// Unaligned; lanes outside `m` are not touched in memory and read as 0.
    unsafe fn iload_mask(p: *const u8, m: Self::M) -> Self::I;
    unsafe fn istore_mask(p: *mut u8, m: Self::M, a: Self::I);
    /// 32 bits at base + off (unsigned bytes) of each lane in `m`; 0 elsewhere.
    unsafe fn igather(base: *const u8, off: Self::I, m: Self::M) -> Self::I;
    /// 64 bits at base + off (unsigned bytes, any alignment) of every lane.
    unsafe fn lgather(base: *const u8, off: Self::I) -> Self::L;
    /// The low and the high words of [`Self::lgather`].
    #[inline(always)]
    unsafe fn igather2(base: *const u8, off: Self::I) -> [Self::I; 2] {
        // SAFETY: the caller's, as for these.
        unsafe {
            let both = Self::lgather(base, off);
            [Self::lo(both), Self::hi(both)]
        }
    }
    unsafe fn dload(p: *const u8) -> Self::D;
    unsafe fn dstore(p: *mut u8, a: Self::D);
    unsafe fn lload(p: *const u8) -> Self::L;
    unsafe fn lstore(p: *mut u8, a: Self::L);

    unsafe fn fsplat(x: f32) -> Self::F;
    /// Four words from each of four places, of any alignment: lanes `4 · k` and on are `p[k]`'s.
    unsafe fn iload4(p: [*mut u8; 4]) -> Self::I;
    unsafe fn istore4(p: [*mut u8; 4], a: Self::I);
    unsafe fn isplat(x: u32) -> Self::I;
    unsafe fn dsplat(x: f64) -> Self::D;
    unsafe fn lsplat(x: u64) -> Self::L;

    // f32
    unsafe fn fadd(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn fsub(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn fmul(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn fdiv(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn fsqrt(a: Self::F) -> Self::F;
    /// a · b + c, one rounding.
    unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// −(a · b) + c, one rounding.
    unsafe fn fnma(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// a < b ? a : b; so b when either is NaN or both are zero.
    unsafe fn fmin_raw(a: Self::F, b: Self::F) -> Self::F;
    /// a > b ? a : b.
    unsafe fn fmax_raw(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn ffloor(a: Self::F) -> Self::F;
    unsafe fn fceil(a: Self::F) -> Self::F;
    unsafe fn ftrunc(a: Self::F) -> Self::F;
    unsafe fn fround_even(a: Self::F) -> Self::F;
    unsafe fn feq(a: Self::F, b: Self::F) -> Self::M;
    /// True for NaN.
    unsafe fn fne(a: Self::F, b: Self::F) -> Self::M;
    unsafe fn flt(a: Self::F, b: Self::F) -> Self::M;
    unsafe fn fle(a: Self::F, b: Self::F) -> Self::M;
    unsafe fn fsel(m: Self::M, a: Self::F, b: Self::F) -> Self::F;
    unsafe fn bits(a: Self::F) -> Self::I;
    unsafe fn from_bits(a: Self::I) -> Self::F;
    /// f32 → f16 bits, nearest even; NaN keeps sign and high payload, made quiet. And back (exact).
    unsafe fn f_to_f16(a: Self::F) -> Self::I;
    unsafe fn f16_to_f(a: Self::I) -> Self::F;

    // i32
    unsafe fn iadd(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn isub(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn imul(a: Self::I, b: Self::I) -> Self::I;
    /// High words of the unsigned and signed products.
    unsafe fn umul_hi(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn smul_hi(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn iand(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn ior(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn ixor(a: Self::I, b: Self::I) -> Self::I;
    /// !a & b.
    unsafe fn iandn(a: Self::I, b: Self::I) -> Self::I;
    /// Counts of 32 and more (unsigned) shift everything out.
    unsafe fn ishl(a: Self::I, n: Self::I) -> Self::I;
    unsafe fn ishr(a: Self::I, n: Self::I) -> Self::I;
    unsafe fn isar(a: Self::I, n: Self::I) -> Self::I;
    unsafe fn smin(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn smax(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn umin(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn umax(a: Self::I, b: Self::I) -> Self::I;
    unsafe fn ieq(a: Self::I, b: Self::I) -> Self::M;
    /// a > b, signed.
    unsafe fn sgt(a: Self::I, b: Self::I) -> Self::M;
    /// a > b, unsigned.
    unsafe fn ugt(a: Self::I, b: Self::I) -> Self::M;
    unsafe fn isel(m: Self::M, a: Self::I, b: Self::I) -> Self::I;
    /// Lane i = a[idx[i] mod 16].
    unsafe fn ishuffle(a: Self::I, idx: Self::I) -> Self::I;
    /// Lane i = v[i / 4]: a number a quad.
    unsafe fn fquads(v: [f32; 4]) -> Self::F;
    /// Three numbers a quad: lane i of the k-th result = p[i / 4][k]. The pointers are good for three numbers each.
    unsafe fn fquads3(p: [*const f32; 4]) -> [Self::F; 3];

    // conversions of 32 bits
    unsafe fn s_to_f(a: Self::I) -> Self::F;
    unsafe fn u_to_f(a: Self::I) -> Self::F;
    /// Truncates; out of range and NaN → 0x8000_0000.
    unsafe fn f_to_s_raw(a: Self::F) -> Self::I;

    // masks
    unsafe fn mask(bits: u16) -> Self::M;
    unsafe fn mbits(m: Self::M) -> u16;
    /// Bits of four masks, the first lowest.
    unsafe fn mbits4(m: [Self::M; 4]) -> u64;
    /// Writes the 32 bytes in one go, so that a vector load of them forwards from the store. Any alignment.
    unsafe fn mstore(p: *mut u8, words: [u64; 4]);
    unsafe fn mand(a: Self::M, b: Self::M) -> Self::M;
    unsafe fn mor(a: Self::M, b: Self::M) -> Self::M;
    unsafe fn mxor(a: Self::M, b: Self::M) -> Self::M;
    unsafe fn mnot(a: Self::M) -> Self::M;
    /// True if any lane is.
    unsafe fn many(a: Self::M) -> bool;

    // f64
    unsafe fn dadd(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dsub(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dmul(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn ddiv(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dsqrt(a: Self::D) -> Self::D;
    unsafe fn dfma(a: Self::D, b: Self::D, c: Self::D) -> Self::D;
    unsafe fn dmin_raw(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dmax_raw(a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dfloor(a: Self::D) -> Self::D;
    unsafe fn dceil(a: Self::D) -> Self::D;
    unsafe fn dtrunc(a: Self::D) -> Self::D;
    unsafe fn dround_even(a: Self::D) -> Self::D;
    unsafe fn deq(a: Self::D, b: Self::D) -> Self::M;
    unsafe fn dne(a: Self::D, b: Self::D) -> Self::M;
    unsafe fn dlt(a: Self::D, b: Self::D) -> Self::M;
    unsafe fn dle(a: Self::D, b: Self::D) -> Self::M;
    unsafe fn dsel(m: Self::M, a: Self::D, b: Self::D) -> Self::D;
    unsafe fn dbits(a: Self::D) -> Self::L;
    unsafe fn from_dbits(a: Self::L) -> Self::D;

    // i64
    unsafe fn ladd(a: Self::L, b: Self::L) -> Self::L;
    unsafe fn lsub(a: Self::L, b: Self::L) -> Self::L;
    unsafe fn lmul(a: Self::L, b: Self::L) -> Self::L;
    unsafe fn land(a: Self::L, b: Self::L) -> Self::L;
    unsafe fn lor(a: Self::L, b: Self::L) -> Self::L;
    unsafe fn lxor(a: Self::L, b: Self::L) -> Self::L;
    /// Counts below 64, one 32-bit count a lane.
    unsafe fn lshl(a: Self::L, n: Self::I) -> Self::L;
    unsafe fn lshr(a: Self::L, n: Self::I) -> Self::L;
    unsafe fn lsar(a: Self::L, n: Self::I) -> Self::L;
    unsafe fn leq(a: Self::L, b: Self::L) -> Self::M;
    /// a > b, signed.
    unsafe fn lgt(a: Self::L, b: Self::L) -> Self::M;
    unsafe fn lsel(m: Self::M, a: Self::L, b: Self::L) -> Self::L;

    // between widths
    unsafe fn lo(a: Self::L) -> Self::I;
    unsafe fn hi(a: Self::L) -> Self::I;
    unsafe fn pack(lo: Self::I, hi: Self::I) -> Self::L;
    unsafe fn s_to_d(a: Self::I) -> Self::D;
    /// Truncates; out of range and NaN → 0x8000_0000.
    unsafe fn d_to_s_raw(a: Self::D) -> Self::I;
    unsafe fn f_to_d(a: Self::F) -> Self::D;
    unsafe fn d_to_f(a: Self::D) -> Self::F;
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn quads_body<S: Simd>() {
        // The last three end where memory that may be read does.
        let v: Vec<f32> = (0..12).map(|i| i as f32 * 1.5 - 4.0).collect();
        let p = [3, 0, 9, 6].map(|i| v[i..].as_ptr());
        // SAFETY: the caller's.
        let lanes = |f: S::F| unsafe { ops::f_lanes::<S>(f) };
        // SAFETY: three numbers are there at each place; the caller's: the CPU has the instructions.
        let [rows, quads] =
            unsafe { [S::fquads3(p).map(lanes), [lanes(S::fquads([0.5, -2.0, 7.0, 9.0])); 3]] };
        for (k, got) in rows.into_iter().enumerate() {
            let want: [f32; 16] = std::array::from_fn(|i| v[[3, 0, 9, 6][i / 4] + k]);
            assert_eq!(got, want);
        }
        let want: [f32; 16] = std::array::from_fn(|i| [0.5, -2.0, 7.0, 9.0][i / 4]);
        assert_eq!(quads[0], want);
    }

    #[test]
    fn numbers_of_quads() {
        // SAFETY: the levels that the CPU has.
        unsafe {
            quads_body::<Portable>();
            #[cfg(target_arch = "x86_64")]
            {
                if Level::all().len() > 1 {
                    quads_body::<Avx2>();
                }
                if Level::all().len() > 2 {
                    quads_body::<Avx512>();
                }
            }
        }
    }
}

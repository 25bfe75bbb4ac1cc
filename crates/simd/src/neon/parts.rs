//! Steps on vectors that several of the level's operations consist of. Their functions are `inline(always)` and safe: every CPU of the
//! architecture has the instructions.

#![allow(unused_unsafe, reason = "which intrinsics are safe to call depends on the compiler's version")]

use std::arch::aarch64::*;
use std::arch::asm;

/// Functions of intrinsics that touch no memory.
macro_rules! parts {
    ($($(#[$m:meta])* fn $name:ident $(<const $n:ident: $nt:ty>)? ($($a:ident: $t:ty),* $(,)?) -> $r:ty $body:block)*) => { $(
        $(#[$m])*
        #[inline(always)]
        pub fn $name $(<const $n: $nt>)? ($($a: $t),*) -> $r {
            // SAFETY: every CPU of the architecture has the instructions.
            unsafe { $body }
        }
    )* };
}

/// `if a < b { a } else { b }` and its like. In assembly: where the compiler sees such a choice with a constant it takes the CPU's
/// minimum or maximum, which make a quiet NaN of a signalling one where the number is asked for. The last instruction makes a zero of
/// a denormal where the thread flushes them, as x86's minimum does.
macro_rules! choose {
    ($($name:ident($v:ty, $lanes:literal, $compare:literal);)*) => { $(
        #[inline(always)]
        pub fn $name(a: $v, b: $v) -> $v {
            let mut r: $v;
            // SAFETY: registers only.
            unsafe {
                asm!(
                    concat!("fcmgt {r:v}.", $lanes, ", ", $compare),
                    "bsl {r:v}.16b, {a:v}.16b, {b:v}.16b",
                    concat!("fmin {r:v}.", $lanes, ", {r:v}.", $lanes, ", {r:v}.", $lanes),
                    r = out(vreg) r,
                    a = in(vreg) a,
                    b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
            r
        }
    )* };
}
choose! {
    min(float32x4_t, "4s", "{b:v}.4s, {a:v}.4s");
    max(float32x4_t, "4s", "{a:v}.4s, {b:v}.4s");
    min_wide(float64x2_t, "2d", "{b:v}.2d, {a:v}.2d");
    max_wide(float64x2_t, "2d", "{a:v}.2d, {b:v}.2d");
}

/// Comparisons. In assembly: of "a is above c or b is above c" the compiler makes "the larger one is above c", by the CPU's maximum
/// of numbers, which is NaN if one is a signalling NaN.
macro_rules! compare {
    ($($name:ident($v:ty, $m:ty, $lanes:literal, $compare:literal);)*) => { $(
        #[inline(always)]
        pub fn $name(a: $v, b: $v) -> $m {
            let mut r: $m;
            // SAFETY: registers only.
            unsafe {
                asm!(
                    concat!($compare, " {r:v}.", $lanes, ", {b:v}.", $lanes, ", {a:v}.", $lanes),
                    r = lateout(vreg) r,
                    a = in(vreg) a,
                    b = in(vreg) b,
                    options(pure, nomem, nostack, preserves_flags)
                )
            };
            r
        }
    )* };
}
compare! {
    less(float32x4_t, uint32x4_t, "4s", "fcmgt");
    at_most(float32x4_t, uint32x4_t, "4s", "fcmge");
    less_wide(float64x2_t, uint64x2_t, "2d", "fcmgt");
    at_most_wide(float64x2_t, uint64x2_t, "2d", "fcmge");
}

parts! {
    fn bytes(a: uint32x4_t) -> uint8x16_t { vreinterpretq_u8_u32(a) }
    fn words(a: uint8x16_t) -> uint32x4_t { vreinterpretq_u32_u8(a) }
    fn signed(a: uint32x4_t) -> int32x4_t { vreinterpretq_s32_u32(a) }
    fn unsigned(a: int32x4_t) -> uint32x4_t { vreinterpretq_u32_s32(a) }

    fn differ(a: float32x4_t, b: float32x4_t) -> uint32x4_t { vmvnq_u32(vceqq_f32(a, b)) }
    fn fused(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t { vfmaq_f32(c, a, b) }
    fn fused_negated(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t { vfmsq_f32(c, a, b) }
    fn fused_wide(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t { vfmaq_f64(c, a, b) }
    fn signed_to_float(a: uint32x4_t) -> float32x4_t { vcvtq_f32_s32(signed(a)) }
    fn signed_to_double(a: uint64x2_t) -> float64x2_t { vcvtq_f64_s64(vreinterpretq_s64_u64(a)) }
    /// Truncates. The instruction saturates, and makes 0 of NaN.
    fn to_signed(a: float32x4_t) -> uint32x4_t {
        let fits = less(a, vdupq_n_f32(2147483648.0));
        vbslq_u32(fits, unsigned(vcvtq_s32_f32(a)), vdupq_n_u32(0x8000_0000))
    }
    /// As [`to_signed`], of two vectors.
    fn doubles_to_signed(a: float64x2_t, b: float64x2_t) -> uint32x4_t {
        let limit = vdupq_n_f64(2147483648.0);
        let fits = vuzp1q_u32(
            vreinterpretq_u32_u64(less_wide(a, limit)),
            vreinterpretq_u32_u64(less_wide(b, limit)),
        );
        let whole = vcombine_s32(vqmovn_s64(vcvtq_s64_f64(a)), vqmovn_s64(vcvtq_s64_f64(b)));
        vbslq_u32(fits, unsigned(whole), vdupq_n_u32(0x8000_0000))
    }
    fn from_halves(a: uint16x4_t) -> float32x4_t { vcvt_f32_f16(vreinterpret_f16_u16(a)) }
    fn to_halves(a: float32x4_t) -> uint16x4_t { vreinterpret_u16_f16(vcvt_f16_f32(a)) }
    /// Of the low halves of words.
    fn from_wide_halves(a: uint32x4_t) -> float32x4_t { from_halves(vmovn_u32(a)) }
    fn to_wide_halves(a: float32x4_t) -> uint32x4_t { vmovl_u16(to_halves(a)) }
    /// Those of a in the low halves of words, those of b in the high ones.
    fn halves_of(a: float32x4_t, b: float32x4_t) -> uint32x4_t {
        let (a, b) = (to_halves(a), to_halves(b));
        vreinterpretq_u32_u16(vcombine_u16(vzip1_u16(a, b), vzip2_u16(a, b)))
    }

    fn high_bytes(a: uint32x4_t) -> uint32x4_t {
        vreinterpretq_u32_s16(vshrq_n_s16::<8>(vreinterpretq_s16_u32(a)))
    }
    /// The products of both signed halves of the words, added.
    fn add_products(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        let (a, b) = (vreinterpretq_s16_u32(a), vreinterpretq_s16_u32(b));
        let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
        unsigned(vpaddq_s32(low, vmull_high_s16(a, b)))
    }
    fn unsigned_high(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        let low = vmull_u32(vget_low_u32(a), vget_low_u32(b));
        vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(vmull_high_u32(a, b)))
    }
    fn signed_high(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        let (a, b) = (signed(a), signed(b));
        let low = vmull_s32(vget_low_s32(a), vget_low_s32(b));
        vuzp2q_u32(vreinterpretq_u32_s64(low), vreinterpretq_u32_s64(vmull_high_s32(a, b)))
    }
    fn and_not(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { vbicq_u32(b, a) }
    /// The instructions take the lowest byte of a count, and its sign for the direction.
    fn left(a: uint32x4_t, n: uint32x4_t) -> uint32x4_t {
        vshlq_u32(a, signed(vminq_u32(n, vdupq_n_u32(32))))
    }
    fn right(a: uint32x4_t, n: uint32x4_t) -> uint32x4_t {
        vshlq_u32(a, vnegq_s32(signed(vminq_u32(n, vdupq_n_u32(32)))))
    }
    fn right_signed(a: uint32x4_t, n: uint32x4_t) -> uint32x4_t {
        unsigned(vshlq_s32(signed(a), vnegq_s32(signed(vminq_u32(n, vdupq_n_u32(31))))))
    }
    fn signed_min(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { unsigned(vminq_s32(signed(a), signed(b))) }
    fn signed_max(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { unsigned(vmaxq_s32(signed(a), signed(b))) }
    fn signed_above(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t { vcgtq_s32(signed(a), signed(b)) }

    /// Two lanes of a and two of b, as `WHICH` says. (The compiler makes one or two shuffles of it.)
    fn pick<const WHICH: i32>(a: float32x4_t, b: float32x4_t) -> float32x4_t {
        let a = std::mem::transmute::<float32x4_t, [f32; 4]>(a);
        let b = std::mem::transmute::<float32x4_t, [f32; 4]>(b);
        let of = [WHICH & 3, WHICH >> 2 & 3, WHICH >> 4 & 3, WHICH >> 6 & 3];
        let picked = [a[of[0] as usize], a[of[1] as usize], b[of[2] as usize], b[of[3] as usize]];
        std::mem::transmute::<[f32; 4], float32x4_t>(picked)
    }
    fn transpose(v: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        let (ab, cd) = (vzip1q_u32(v[0], v[1]), vzip1q_u32(v[2], v[3]));
        let (ab2, cd2) = (vzip2q_u32(v[0], v[1]), vzip2q_u32(v[2], v[3]));
        [low_pairs(ab, cd), high_pairs(ab, cd), low_pairs(ab2, cd2), high_pairs(ab2, cd2)]
    }
    fn low_pairs(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vreinterpretq_u32_u64(vzip1q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)))
    }
    fn high_pairs(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        vreinterpretq_u32_u64(vzip2q_u64(vreinterpretq_u64_u32(a), vreinterpretq_u64_u32(b)))
    }
    /// Sixteen words as a table of bytes.
    fn table(a: [uint32x4_t; 4]) -> uint8x16x4_t {
        uint8x16x4_t(bytes(a[0]), bytes(a[1]), bytes(a[2]), bytes(a[3]))
    }
    /// The places of words' bytes.
    fn places(idx: uint32x4_t) -> uint8x16_t {
        bytes(vmlaq_u32(vdupq_n_u32(0x0302_0100), idx, vdupq_n_u32(0x0404_0404)))
    }
    /// Words of two tables: the lowest five bits of the indices count.
    fn of_two(tables: [uint8x16x4_t; 2], idx: uint32x4_t) -> uint32x4_t {
        let at = places(vandq_u32(idx, vdupq_n_u32(31)));
        // A place outside of a table leaves what there is, or 0.
        let first = vqtbl4q_u8(tables[0], at);
        words(vqtbx4q_u8(first, tables[1], vsubq_u8(at, vdupq_n_u8(64))))
    }
    /// The lowest byte of each word.
    fn narrow8(a: [uint32x4_t; 4]) -> uint8x16_t {
        let [a, b, c, d] = a.map(|v| vreinterpretq_u16_u32(v));
        vuzp1q_u8(vreinterpretq_u8_u16(vuzp1q_u16(a, b)), vreinterpretq_u8_u16(vuzp1q_u16(c, d)))
    }
    /// One bit of its own within eight lanes for each true lane, a byte a lane.
    fn truth_bits(m: [uint32x4_t; 4]) -> uint8x16_t {
        const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        vandq_u8(narrow8(m), vld1q_u8(BITS.as_ptr()))
    }
    /// Eight channels of bytes, blended as [`crate::Simd::iblend8`] says.
    fn blend(pixels: uint8x8_t, term: uint32x4_t, factor: uint32x4_t) -> uint8x8_t {
        let scaled = vreinterpretq_s16_u16(vshll_n_u8::<7>(pixels));
        let kept = vqrdmulhq_s16(scaled, vreinterpretq_s16_u32(factor));
        let sum = vqaddq_s16(kept, vreinterpretq_s16_u32(term));
        // 256 is as good as 255: narrowing saturates.
        vqmovun_s16(vrshrq_n_s16::<7>(sum))
    }

    // 64 bits
    fn half(a: uint32x4_t, which: usize) -> uint32x2_t {
        if which == 0 { vget_low_u32(a) } else { vget_high_u32(a) }
    }
    fn half_signed(a: uint32x4_t, which: usize) -> int32x2_t { vreinterpret_s32_u32(half(a, which)) }
    /// 32-bit truths as 64-bit ones.
    fn truths(m: uint32x4_t, which: usize) -> uint64x2_t {
        vreinterpretq_u64_u32(if which == 0 { vzip1q_u32(m, m) } else { vzip2q_u32(m, m) })
    }
    fn counts(n: uint32x4_t, which: usize) -> int64x2_t {
        vreinterpretq_s64_u64(vmovl_u32(half(n, which)))
    }
    /// low · low + ((low · high + high · low) << 32)
    fn product_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        let cross = vmulq_u32(vreinterpretq_u32_u64(a), vrev64q_u32(vreinterpretq_u32_u64(b)));
        let high = vshlq_n_u64::<32>(vpaddlq_u32(cross));
        vmlal_u32(high, vmovn_u64(a), vmovn_u64(b))
    }
    fn signed_above_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t {
        vcgtq_s64(vreinterpretq_s64_u64(a), vreinterpretq_s64_u64(b))
    }
    fn unsigned_min_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t { vbslq_u64(vcgtq_u64(a, b), b, a) }
    fn unsigned_max_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t { vbslq_u64(vcgtq_u64(a, b), a, b) }
    fn signed_min_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t { vbslq_u64(signed_above_wide(a, b), b, a) }
    fn signed_max_wide(a: uint64x2_t, b: uint64x2_t) -> uint64x2_t { vbslq_u64(signed_above_wide(a, b), a, b) }
}

/// 32 bits at each of four offsets.
///
/// # Safety
/// They may be read there.
#[inline(always)]
pub unsafe fn words4(base: *const u8, at: uint32x4_t) -> uint32x4_t {
    // SAFETY: the caller's.
    unsafe {
        let at: [u32; 4] = std::mem::transmute(at);
        let p = |i: usize| base.wrapping_add(at[i] as usize).cast::<u32>();
        let v = vdupq_n_u32(0);
        let v = vld1q_lane_u32::<0>(p(0), v);
        let v = vld1q_lane_u32::<1>(p(1), v);
        let v = vld1q_lane_u32::<2>(p(2), v);
        vld1q_lane_u32::<3>(p(3), v)
    }
}

/// 64 bits at each of four offsets.
///
/// # Safety
/// They may be read there.
#[inline(always)]
pub unsafe fn pairs4(base: *const u8, at: uint32x4_t) -> [uint64x2_t; 2] {
    // SAFETY: the caller's.
    unsafe {
        let at: [u32; 4] = std::mem::transmute(at);
        let p = |i: usize| base.wrapping_add(at[i] as usize);
        [
            vcombine_u64(vld1_u64(p(0).cast()), vld1_u64(p(1).cast())),
            vcombine_u64(vld1_u64(p(2).cast()), vld1_u64(p(3).cast())),
        ]
    }
}

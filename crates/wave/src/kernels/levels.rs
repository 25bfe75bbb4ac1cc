//! The few vector steps of memory kernels that need hand-picked instructions, and the macro that makes each kernel's
//! three forms.

use super::memory::linear;
use super::memory::warp::{self, Region};
use crate::state::State;
use shader::bytecode::Op;

/// Kernels called out of line by their fast forms.
#[derive(Clone, Copy)]
pub enum General {
    LdBuf,
    StBuf,
    LdShared,
    StShared,
    /// [`crate::kernels::lines::touch`]; returns its op.
    Touch,
}

macro_rules! call_general {
    ($module:path) => {
        #[inline(always)]
        unsafe fn call(g: General, st: &mut State, op: *const Op) -> *const Op {
            use $module as m;
            match g {
                General::LdBuf => m::ld_buf(st, op),
                General::StBuf => m::st_buf(st, op),
                General::LdShared => m::ld_shared(st, op),
                General::StShared => m::st_shared(st, op),
                General::Touch => m::touch(st, op),
            }
        }
    };
}

/// Steps over one warp of 16 lanes. `p` points at 16 offsets.
///
/// # Safety
/// Pointers are valid for 16 lanes; the CPU has the level's instructions.
pub trait Steps: super::lines::Lines + Sized {
    /// Plain Rust: where code is called rather than compiled into each kernel that has use for it.
    const PORTABLE: bool = false;
    /// Runs a general kernel of this level.
    unsafe fn call(g: General, st: &mut State, op: *const Op) -> *const Op;
    /// [`linear::load_warp`].
    #[inline(always)]
    unsafe fn load_warp(st: &State, op: *const Op, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        linear::load_warp::<Self>(st, op, r, w, p, k, ex)
    }
    /// [`linear::store_warp`].
    #[inline(always)]
    unsafe fn store_warp(st: &State, op: *const Op, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        linear::store_warp::<Self>(st, op, r, w, p, k, ex)
    }
    /// [`warp::load32_full`].
    #[inline(always)]
    unsafe fn load32_full(r: Region, d: *mut u32, p: *const u32, k: u32) {
        warp::load32_full::<Self>(r, d, p, k)
    }
    /// Lanes whose offset is `t + lane · s` (mod 2^32).
    unsafe fn stride_mask(p: *const u32, t: u32, s: u32) -> u16;
    /// Lanes whose offset is `b`.
    #[inline(always)]
    unsafe fn same_mask(p: *const u32, b: u32) -> u16 {
        Self::stride_mask(p, b, 0)
    }
    /// Whether every lane's offset is the first one's + lane · s.
    #[inline(always)]
    unsafe fn is_run(p: *const u32, s: u32) -> bool {
        Self::stride_mask(p, *p, s) == 0xFFFF
    }
    /// Lanes whose offset some other lane has too.
    #[inline(always)]
    unsafe fn repeated(p: *const u32) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= Self::same_mask(p, *p.add(i)) & !(1 << i);
        }
        m
    }
    /// Two words at each offset of `o` from `q`, no checks.
    #[inline(always)]
    unsafe fn words2(q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
        let (mut x, mut y) = ([0; 16], [0; 16]);
        for i in 0..16 {
            let v = (q.add(o[i] as usize) as *const u64).read_unaligned();
            (x[i], y[i]) = (v as u32, (v >> 32) as u32);
        }
        *(a as *mut [u32; 16]) = x;
        *(b as *mut [u32; 16]) = y;
    }
    /// Four words at each offset of `o` from `q`, no checks.
    #[inline(always)]
    unsafe fn words4(q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
        let mut v = [[0u32; 16]; 4];
        for i in 0..16 {
            let row = (q.add(o[i] as usize) as *const [u32; 4]).read_unaligned();
            for j in 0..4 {
                v[j][i] = row[j];
            }
        }
        for j in 0..4 {
            *(d[j] as *mut [u32; 16]) = v[j];
        }
    }
    /// Stores four words at each offset, in lane order, no checks.
    #[inline(always)]
    unsafe fn store_words4(q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
        for i in 0..16 {
            let row = [*v[0].add(i), *v[1].add(i), *v[2].add(i), *v[3].add(i)];
            (q.add(o[i] as usize) as *mut [u32; 4]).write_unaligned(row);
        }
    }
    /// Lanes `m` of `d` become those of `s`; both are aligned registers.
    #[inline(always)]
    unsafe fn blend32(d: *mut u32, s: *const u32, m: u16) {
        let (old, new) = (*(d as *const [u32; 16]), *(s as *const [u32; 16]));
        let mut r = old;
        for i in 0..16 {
            r[i] = if m & (1 << i) != 0 { new[i] } else { old[i] };
        }
        *(d as *mut [u32; 16]) = r;
    }
    /// Stores the words of lanes `m`; touches no other memory.
    #[inline(always)]
    unsafe fn store_mask(d: *mut u8, v: *const u32, m: u16) {
        for i in crate::kernels::mask::Bits(m as u32) {
            (d as *mut u32).add(i).write_unaligned(*v.add(i));
        }
    }
    /// Lanes whose `offset + k` (mod 2^32) is at most `limit`.
    unsafe fn bound_mask(p: *const u32, k: u32, limit: u32) -> u16;
    /// Words at `base + ((p[i] + k) mod 2^32)`, 0 where that exceeds `limit`; `base` must be readable for 4 bytes at
    /// 0 to `limit`.
    unsafe fn gather32(d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32);
    /// Lanes for which the 32-bit comparison holds.
    #[inline(always)]
    unsafe fn compare<C: Compare>(a: *const u32, b: *const u32) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= (C::one(*a.add(i), *b.add(i)) as u16) << i;
        }
        m
    }
    /// As [`Steps::compare`] for four warps, `sa` and `sb` words apart; the first warp's bits lowest.
    #[inline(always)]
    unsafe fn compare4<C: Compare>(a: *const u32, sa: usize, b: *const u32, sb: usize) -> u64 {
        let mut m = 0;
        for w in 0..4 {
            m |= (Self::compare::<C>(a.add(w * sa), b.add(w * sb)) as u64) << (16 * w);
        }
        m
    }
    /// Lane i of each quad becomes that quad's lane `FROM >> 2 i & 3`.
    #[inline(always)]
    unsafe fn quads32<const FROM: i32>(d: *mut u32, s: *const u32) {
        let v = *(s as *const [u32; 16]);
        let mut r = v;
        for i in 0..16 {
            r[i] = v[i & !3 | (FROM >> (2 * (i & 3)) & 3) as usize];
        }
        *(d as *mut [u32; 16]) = r;
    }
    #[inline(always)]
    unsafe fn copy64(d: *mut u8, s: *const u8) {
        std::ptr::copy_nonoverlapping(s, d, 64);
    }
    #[inline(always)]
    unsafe fn splat32(d: *mut u32, v: u32) {
        *(d as *mut [u32; 16]) = [v; 16];
    }
}

/// A 32-bit comparison: one lane's meaning, and its AVX2 form on eight lanes (all ones where it holds).
pub trait Compare {
    fn one(a: u32, b: u32) -> bool;
    #[cfg(target_arch = "x86_64")]
    unsafe fn eight(
        a: std::arch::x86_64::__m256i,
        b: std::arch::x86_64::__m256i,
    ) -> std::arch::x86_64::__m256i;
}

macro_rules! compares {
    ($($name:ident: |$a:ident, $b:ident| $one:expr, $eight:expr;)*) => {
        /// The comparisons of `Bin`, by its names.
        pub mod compare {
            use super::Compare;
            #[cfg(target_arch = "x86_64")]
            use std::arch::x86_64::*;
            $(pub struct $name;
            impl Compare for $name {
                #[inline(always)]
                fn one($a: u32, $b: u32) -> bool {
                    $one
                }
                #[cfg(target_arch = "x86_64")]
                #[inline(always)]
                unsafe fn eight($a: __m256i, $b: __m256i) -> __m256i {
                    $eight
                }
            })*
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn ps<const P: i32>(a: __m256i, b: __m256i) -> __m256i {
                _mm256_castps_si256(_mm256_cmp_ps::<P>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn not(a: __m256i) -> __m256i {
                _mm256_xor_si256(a, _mm256_set1_epi32(-1))
            }
        }
    };
}
compares! {
    FEq: |a, b| f32::from_bits(a) == f32::from_bits(b), ps::<_CMP_EQ_OQ>(a, b);
    FNe: |a, b| f32::from_bits(a) != f32::from_bits(b), ps::<_CMP_NEQ_UQ>(a, b);
    FLt: |a, b| f32::from_bits(a) < f32::from_bits(b), ps::<_CMP_LT_OQ>(a, b);
    FLe: |a, b| f32::from_bits(a) <= f32::from_bits(b), ps::<_CMP_LE_OQ>(a, b);
    IEq: |a, b| a == b, _mm256_cmpeq_epi32(a, b);
    INe: |a, b| a != b, not(_mm256_cmpeq_epi32(a, b));
    SLt: |a, b| (a as i32) < b as i32, _mm256_cmpgt_epi32(b, a);
    SLe: |a, b| a as i32 <= b as i32, not(_mm256_cmpgt_epi32(a, b));
    ULt: |a, b| a < b, not(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a));
    ULe: |a, b| a <= b, _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), b);
}

/// Plain Rust; the compiler's baseline vectors.
#[derive(Clone, Copy)]
pub struct Portable;
impl Steps for Portable {
    const PORTABLE: bool = true;
    call_general!(crate::kernels::memory::general::portable);
    #[inline(never)]
    unsafe fn load_warp(st: &State, op: *const Op, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        linear::load_warp::<Self>(st, op, r, w, p, k, ex)
    }
    #[inline(never)]
    unsafe fn store_warp(st: &State, op: *const Op, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        linear::store_warp::<Self>(st, op, r, w, p, k, ex)
    }
    #[inline(never)]
    unsafe fn load32_full(r: Region, d: *mut u32, p: *const u32, k: u32) {
        warp::load32_full::<Self>(r, d, p, k)
    }
    #[inline(always)]
    unsafe fn stride_mask(p: *const u32, t: u32, s: u32) -> u16 {
        let mut m = 0;
        for i in 0..16u32 {
            m |= ((*p.add(i as usize) == t.wrapping_add(i.wrapping_mul(s))) as u16) << i;
        }
        m
    }
    #[inline(always)]
    unsafe fn bound_mask(p: *const u32, k: u32, limit: u32) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= (((*p.add(i)).wrapping_add(k) <= limit) as u16) << i;
        }
        m
    }
    #[inline(always)]
    unsafe fn gather32(d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
        for i in 0..16 {
            let o = (*p.add(i)).wrapping_add(k);
            *d.add(i) = if o <= limit { (base.add(o as usize) as *const u32).read_unaligned() } else { 0 };
        }
    }
}

/// AVX2; also used at the AVX-512 level. No intrinsics in closures: a closure does not take on the features of the
/// kernel around it, so they would become calls.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2;
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Avx2, Compare, General, Steps};
    use crate::state::State;
    use shader::bytecode::Op;
    use std::arch::x86_64::*;

    #[inline(always)]
    unsafe fn load(p: *const u32) -> (__m256i, __m256i) {
        (_mm256_loadu_si256(p as *const __m256i), _mm256_loadu_si256(p.add(8) as *const __m256i))
    }
    #[inline(always)]
    unsafe fn bits(a: __m256i, b: __m256i) -> u16 {
        let lo = _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32;
        let hi = _mm256_movemask_ps(_mm256_castsi256_ps(b)) as u32;
        (lo | hi << 8) as u16
    }
    /// 4×4 transposes of both halves.
    #[inline(always)]
    unsafe fn transpose(v: [__m256i; 4]) -> [__m256i; 4] {
        let (ab, cd) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpacklo_epi32(v[2], v[3]));
        let (ef, gh) = (_mm256_unpackhi_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[2], v[3]));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ef, gh),
            _mm256_unpackhi_epi64(ef, gh),
        ]
    }
    impl Steps for Avx2 {
        call_general!(crate::kernels::memory::general::avx2);
        #[inline(always)]
        unsafe fn stride_mask(p: *const u32, t: u32, s: u32) -> u16 {
            let (a, b) = load(p);
            let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let sv = _mm256_set1_epi32(s as i32);
            let e = _mm256_add_epi32(_mm256_set1_epi32(t as i32), _mm256_mullo_epi32(i, sv));
            let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
            bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f))
        }
        #[inline(always)]
        unsafe fn quads32<const FROM: i32>(d: *mut u32, s: *const u32) {
            let (a, b) = load(s);
            _mm256_storeu_si256(d as *mut __m256i, _mm256_shuffle_epi32::<FROM>(a));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_shuffle_epi32::<FROM>(b));
        }
        #[inline(always)]
        unsafe fn compare<C: Compare>(a: *const u32, b: *const u32) -> u16 {
            let (a0, a1) = load(a);
            let (b0, b1) = load(b);
            bits(C::eight(a0, b0), C::eight(a1, b1))
        }
        #[inline(always)]
        unsafe fn compare4<C: Compare>(a: *const u32, sa: usize, b: *const u32, sb: usize) -> u64 {
            // 32 lanes a turn: packs interleave the halves of their operands, the permutation puts them right.
            #[inline(always)]
            unsafe fn two<C: Compare>(a: *const u32, sa: usize, b: *const u32, sb: usize) -> u64 {
                let (a0, a1) = load(a);
                let (b0, b1) = load(b);
                let (c0, c1) = load(a.add(sa));
                let (d0, d1) = load(b.add(sb));
                let p = _mm256_packs_epi32(C::eight(a0, b0), C::eight(a1, b1));
                let q = _mm256_packs_epi32(C::eight(c0, d0), C::eight(c1, d1));
                let r = _mm256_packs_epi16(p, q);
                let r = _mm256_permutevar8x32_epi32(r, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
                _mm256_movemask_epi8(r) as u32 as u64
            }
            let high = two::<C>(a.add(2 * sa), sa, b.add(2 * sb), sb);
            two::<C>(a, sa, b, sb) | high << 32
        }
        #[inline(always)]
        unsafe fn is_run(p: *const u32, s: u32) -> bool {
            let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let sv = _mm256_set1_epi32(s as i32);
            let (a, b) = load(p);
            let first = _mm256_set1_epi32(*p as i32);
            let e = _mm256_add_epi32(first, _mm256_mullo_epi32(i, sv));
            let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
            let eq = _mm256_and_si256(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f));
            _mm256_movemask_epi8(eq) == -1
        }
        #[inline(always)]
        unsafe fn words2(q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
            for g in [0, 8] {
                // Lanes i and i + 1, each two words.
                #[inline(always)]
                unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m128 {
                    let lo = _mm_load_sd(q.add(i as usize) as *const f64);
                    _mm_castpd_ps(_mm_loadh_pd(lo, q.add(j as usize) as *const f64))
                }
                let (a0, a4) = (pair(q, o[g], o[g + 1]), pair(q, o[g + 4], o[g + 5]));
                let (a2, a6) = (pair(q, o[g + 2], o[g + 3]), pair(q, o[g + 6], o[g + 7]));
                let x = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a0), a4);
                let y = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a2), a6);
                _mm256_storeu_ps(a.add(g) as *mut f32, _mm256_shuffle_ps::<0x88>(x, y));
                _mm256_storeu_ps(b.add(g) as *mut f32, _mm256_shuffle_ps::<0xDD>(x, y));
            }
        }
        #[inline(always)]
        unsafe fn words4(q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
            for g in [0, 8] {
                // Lanes i and i + 4, each four words.
                #[inline(always)]
                unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m256i {
                    let lo = _mm_loadu_si128(q.add(i as usize) as *const __m128i);
                    let hi = _mm_loadu_si128(q.add(j as usize) as *const __m128i);
                    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lo), hi)
                }
                let v = transpose([
                    pair(q, o[g], o[g + 4]),
                    pair(q, o[g + 1], o[g + 5]),
                    pair(q, o[g + 2], o[g + 6]),
                    pair(q, o[g + 3], o[g + 7]),
                ]);
                for j in 0..4 {
                    _mm256_storeu_si256(d[j].add(g) as *mut __m256i, v[j]);
                }
            }
        }
        #[inline(always)]
        unsafe fn store_words4(q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
            for g in [0, 8] {
                let r = transpose([
                    _mm256_loadu_si256(v[0].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[1].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[2].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[3].add(g) as *const __m256i),
                ]);
                for i in 0..4 {
                    let to = q.add(o[g + i] as usize) as *mut __m128i;
                    _mm_storeu_si128(to, _mm256_castsi256_si128(r[i]));
                }
                for i in 0..4 {
                    let to = q.add(o[g + i + 4] as usize) as *mut __m128i;
                    _mm_storeu_si128(to, _mm256_extracti128_si256::<1>(r[i]));
                }
            }
        }
        #[inline(always)]
        unsafe fn blend32(d: *mut u32, s: *const u32, m: u16) {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let (a, b) = load(s);
            let (x, y) = load(d);
            let ma = _mm256_set1_epi32(m as i32);
            let mb = _mm256_srli_epi32::<8>(ma);
            let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
            let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
            _mm256_storeu_si256(d as *mut __m256i, _mm256_blendv_epi8(x, a, ma));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_blendv_epi8(y, b, mb));
        }
        #[inline(always)]
        unsafe fn store_mask(d: *mut u8, v: *const u32, m: u16) {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let (a, b) = load(v);
            let ma = _mm256_set1_epi32(m as i32);
            let mb = _mm256_srli_epi32::<8>(ma);
            let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
            let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
            _mm256_maskstore_epi32(d as *mut i32, ma, a);
            _mm256_maskstore_epi32((d as *mut i32).wrapping_add(8), mb, b);
        }
        #[inline(always)]
        unsafe fn same_mask(p: *const u32, v: u32) -> u16 {
            let (a, b) = load(p);
            let e = _mm256_set1_epi32(v as i32);
            bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, e))
        }
        #[inline(always)]
        unsafe fn repeated(p: *const u32) -> u16 {
            let (a, b) = load(p);
            let next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
            // Each half beside the other, and both beside themselves and each other turned by one to seven lanes.
            let mut x = _mm256_cmpeq_epi32(a, b);
            let mut y = x;
            let (mut ra, mut rb) = (a, b);
            for _ in 0..7 {
                ra = _mm256_permutevar8x32_epi32(ra, next);
                rb = _mm256_permutevar8x32_epi32(rb, next);
                let own = _mm256_or_si256(_mm256_cmpeq_epi32(a, ra), _mm256_cmpeq_epi32(a, rb));
                x = _mm256_or_si256(x, own);
                let own = _mm256_or_si256(_mm256_cmpeq_epi32(b, ra), _mm256_cmpeq_epi32(b, rb));
                y = _mm256_or_si256(y, own);
            }
            bits(x, y)
        }
        #[inline(always)]
        unsafe fn bound_mask(p: *const u32, k: u32, limit: u32) -> u16 {
            let (a, b) = load(p);
            let k = _mm256_set1_epi32(k as i32);
            let l = _mm256_set1_epi32(limit as i32);
            let (a, b) = (_mm256_add_epi32(a, k), _mm256_add_epi32(b, k));
            let x = _mm256_cmpeq_epi32(_mm256_min_epu32(a, l), a);
            let y = _mm256_cmpeq_epi32(_mm256_min_epu32(b, l), b);
            bits(x, y)
        }
        #[inline(always)]
        unsafe fn gather32(d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
            let (a, b) = load(p);
            let k = _mm256_set1_epi32(k as i32);
            let l = _mm256_set1_epi32(limit as i32);
            let (a, b) = (_mm256_add_epi32(a, k), _mm256_add_epi32(b, k));
            let x = _mm256_cmpeq_epi32(_mm256_min_epu32(a, l), a);
            let y = _mm256_cmpeq_epi32(_mm256_min_epu32(b, l), b);
            // Sixteen scalar loads beat vpgatherdd on Zen 3 (see examples/op_bench.rs).
            let mut o = [0u32; 16];
            _mm256_storeu_si256(o.as_mut_ptr() as *mut __m256i, _mm256_and_si256(a, x));
            _mm256_storeu_si256(o.as_mut_ptr().add(8) as *mut __m256i, _mm256_and_si256(b, y));
            let r = |i: usize| (base.add(o[i] as usize) as *const i32).read_unaligned();
            let lo = _mm256_setr_epi32(r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7));
            let hi = _mm256_setr_epi32(r(8), r(9), r(10), r(11), r(12), r(13), r(14), r(15));
            _mm256_storeu_si256(d as *mut __m256i, _mm256_and_si256(lo, x));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_and_si256(hi, y));
        }
    }
}

/// Makes the three forms of kernels written as `unsafe fn name<L: Steps>(&mut State, *const Op) -> *const Op`
/// (`#[inline(always)]`), and `register(level, table)`.
macro_rules! kernel_forms {
    ($($($code:ident)+ = $name:ident;)*) => {
        pub(crate) mod portable {
            use crate::kernels::levels::Portable;
            use crate::state::State;
            use shader::bytecode::Op;
            $(pub unsafe fn $name(st: &mut State, op: *const Op) -> *const Op {
                super::$name::<Portable>(st, op)
            })*
        }
        #[cfg(target_arch = "x86_64")]
        pub(crate) mod avx2 {
            use crate::kernels::levels::Avx2;
            use crate::state::State;
            use shader::bytecode::Op;
            $(simd::avx2! {
                pub unsafe fn $name(st: &mut State, op: *const Op) -> *const Op {
                    super::$name::<Avx2>(st, op)
                }
            })*
        }
        /// Puts this file's kernels into a level's table.
        pub fn register(level: simd::Level, table: &mut [crate::Kernel]) {
            use shader::bytecode::Code;
            match level {
                #[cfg(target_arch = "x86_64")]
                simd::Level::Avx2(_) | simd::Level::Avx512(_) => {
                    $($(table[Code::$code.0 as usize] = avx2::$name as crate::Kernel;)+)*
                }
                #[allow(unreachable_patterns)]
                _ => {
                    $($(table[Code::$code.0 as usize] = portable::$name as crate::Kernel;)+)*
                }
            }
        }
    };
}
pub(crate) use kernel_forms;

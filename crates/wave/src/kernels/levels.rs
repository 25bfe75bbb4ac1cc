//! The few vector steps of memory kernels that need hand-picked instructions, and the macro that makes each kernel's
//! three forms.

use super::memory::linear;
use super::memory::warp::{self, Region};
use crate::state::{At, State};
use shader::bytecode::Op;
use simd::{Portable, Simd};

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
        fn call(self, g: General, st: &mut State, op: At) -> *const Op {
            use $module as m;
            let kernel: crate::Kernel = match g {
                General::LdBuf => m::ld_buf,
                General::StBuf => m::st_buf,
                General::LdShared => m::ld_shared,
                General::StShared => m::st_shared,
                General::Touch => m::touch,
            };
            // SAFETY: `op` is proof of what a kernel asks for, `self` that the CPU has the level's instructions.
            unsafe { kernel(st, op.ptr()) }
        }
    };
}

/// Steps over one warp of 16 lanes, for the machines that [`Simd`] is for.
///
/// # Safety
/// Of what has pointers: these are good for 16 lanes of what they point at, of any alignment.
pub trait Steps: super::lines::Lines + Simd {
    /// Plain Rust: where code is called rather than compiled into each kernel that has use for it.
    const PORTABLE: bool = false;
    /// Runs a general kernel of this level.
    fn call(self, g: General, st: &mut State, op: At) -> *const Op;
    /// [`linear::load_warp`].
    #[inline(always)]
    unsafe fn load_warp(self, st: &State, op: At, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        // SAFETY: the caller's.
        unsafe { linear::load_warp(self, st, op, r, w, p, k, ex) }
    }
    /// [`linear::store_warp`].
    #[inline(always)]
    unsafe fn store_warp(self, st: &State, op: At, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        // SAFETY: the caller's.
        unsafe { linear::store_warp(self, st, op, r, w, p, k, ex) }
    }
    /// [`warp::load32_full`].
    #[inline(always)]
    unsafe fn load32_full(self, r: Region, d: *mut u32, p: *const u32, k: u32) {
        // SAFETY: the caller's.
        unsafe { warp::load32_full(self, r, d, p, k) }
    }
    /// Lanes whose offset is `t + lane · s` (mod 2^32).
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16;
    /// Lanes whose offset is `b`.
    #[inline(always)]
    fn same_mask(self, p: &[u32; 16], b: u32) -> u16 {
        self.stride_mask(p, b, 0)
    }
    /// Whether every lane's offset is the first one's + lane · s.
    #[inline(always)]
    fn is_run(self, p: &[u32; 16], s: u32) -> bool {
        self.stride_mask(p, p[0], s) == 0xFFFF
    }
    /// Lanes whose offset some other lane has too.
    #[inline(always)]
    fn repeated(self, p: &[u32; 16]) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= self.same_mask(p, p[i]) & !(1 << i);
        }
        m
    }
    /// Two words at each offset of `o` from `q`, which are there.
    #[inline(always)]
    unsafe fn words2(self, q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
        let (mut x, mut y) = ([0; 16], [0; 16]);
        for i in 0..16 {
            // SAFETY: the caller's.
            let v = unsafe { (q.add(o[i] as usize) as *const u64).read_unaligned() };
            (x[i], y[i]) = (v as u32, (v >> 32) as u32);
        }
        // SAFETY: the caller's.
        unsafe {
            *(a as *mut [u32; 16]) = x;
            *(b as *mut [u32; 16]) = y;
        }
    }
    /// Four words at each offset of `o` from `q`, which are there.
    #[inline(always)]
    unsafe fn words4(self, q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
        let mut v = [[0u32; 16]; 4];
        for i in 0..16 {
            // SAFETY: the caller's.
            let row = unsafe { (q.add(o[i] as usize) as *const [u32; 4]).read_unaligned() };
            for j in 0..4 {
                v[j][i] = row[j];
            }
        }
        for j in 0..4 {
            // SAFETY: the caller's.
            unsafe { *(d[j] as *mut [u32; 16]) = v[j] };
        }
    }
    /// Stores four words at each offset, in lane order; there is room.
    #[inline(always)]
    unsafe fn store_words4(self, q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
        for i in 0..16 {
            // SAFETY: the caller's.
            unsafe {
                let row = [*v[0].add(i), *v[1].add(i), *v[2].add(i), *v[3].add(i)];
                (q.add(o[i] as usize) as *mut [u32; 4]).write_unaligned(row);
            }
        }
    }
    /// Lanes `m` of `d` become those of `s`, which may be the same.
    #[inline(always)]
    unsafe fn blend32(self, d: *mut u32, s: *const u32, m: u16) {
        // SAFETY: the caller's.
        let (old, new) = unsafe { (*(d as *const [u32; 16]), *(s as *const [u32; 16])) };
        let mut r = old;
        for i in 0..16 {
            r[i] = if m & (1 << i) != 0 { new[i] } else { old[i] };
        }
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = r };
    }
    /// Stores the words of lanes `m`; touches no other memory, so `d` need be good for no other.
    #[inline(always)]
    unsafe fn store_mask(self, d: *mut u8, v: *const u32, m: u16) {
        for i in crate::kernels::mask::Bits(m as u32) {
            // SAFETY: the caller's.
            unsafe { (d as *mut u32).wrapping_add(i).write_unaligned(*v.add(i)) };
        }
    }
    /// Lanes whose `offset + k` (mod 2^32) is at most `limit`.
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16;
    /// Words at `base + ((p[i] + k) mod 2^32)`, 0 where that exceeds `limit`; `base` must be readable for 4 bytes at
    /// 0 to `limit`. `d` may be `p`.
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32);
    /// Lane i of each quad becomes that quad's lane `FROM >> 2 i & 3`.
    #[inline(always)]
    unsafe fn quads32<const FROM: i32>(self, d: *mut u32, s: *const u32) {
        // SAFETY: the caller's.
        let v = unsafe { *(s as *const [u32; 16]) };
        let mut r = v;
        for i in 0..16 {
            r[i] = v[i & !3 | (FROM >> (2 * (i & 3)) & 3) as usize];
        }
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = r };
    }
    /// The 64 bytes at `s`, which may not overlap those at `d`.
    #[inline(always)]
    unsafe fn copy64(self, d: *mut u8, s: *const u8) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(s, d, 64) };
    }
    #[inline(always)]
    unsafe fn splat32(self, d: *mut u32, v: u32) {
        // SAFETY: the caller's.
        unsafe { *(d as *mut [u32; 16]) = [v; 16] };
    }
}

impl Steps for Portable {
    const PORTABLE: bool = true;
    call_general!(crate::kernels::memory::general::portable);
    #[inline(never)]
    unsafe fn load_warp(self, st: &State, op: At, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        // SAFETY: the caller's.
        unsafe { linear::load_warp(self, st, op, r, w, p, k, ex) }
    }
    #[inline(never)]
    unsafe fn store_warp(self, st: &State, op: At, r: Region, w: usize, p: *const u32, k: u32, ex: u16) {
        // SAFETY: the caller's.
        unsafe { linear::store_warp(self, st, op, r, w, p, k, ex) }
    }
    #[inline(never)]
    unsafe fn load32_full(self, r: Region, d: *mut u32, p: *const u32, k: u32) {
        // SAFETY: the caller's.
        unsafe { warp::load32_full(self, r, d, p, k) }
    }
    #[inline(always)]
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16 {
        let mut m = 0;
        for i in 0..16u32 {
            m |= ((p[i as usize] == t.wrapping_add(i.wrapping_mul(s))) as u16) << i;
        }
        m
    }
    #[inline(always)]
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16 {
        let mut m = 0;
        for i in 0..16 {
            m |= ((p[i].wrapping_add(k) <= limit) as u16) << i;
        }
        m
    }
    #[inline(always)]
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
        for i in 0..16 {
            // SAFETY: the caller's; offsets that are read at are no more than `limit`.
            unsafe {
                let o = (*p.add(i)).wrapping_add(k);
                *d.add(i) =
                    if o <= limit { (base.add(o as usize) as *const u32).read_unaligned() } else { 0 };
            }
        }
    }
}

/// Also used at the AVX-512 level. No intrinsics in closures: a closure does not take on the features of the kernel around
/// it, so they would become calls.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{General, Steps};
    use crate::state::{At, State};
    use shader::bytecode::Op;
    use simd::Avx2;
    use std::arch::x86_64::*;

    simd::avx2! {
        #[inline]
        fn load(p: &[u32; 16]) -> (__m256i, __m256i) {
            let p = p.as_ptr() as *const __m256i;
            // SAFETY: two times eight of sixteen lanes.
            unsafe { (_mm256_loadu_si256(p), _mm256_loadu_si256(p.add(1))) }
        }

        #[inline]
        fn bits(a: __m256i, b: __m256i) -> u16 {
            let lo = _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32;
            let hi = _mm256_movemask_ps(_mm256_castsi256_ps(b)) as u32;
            (lo | hi << 8) as u16
        }

        /// 4×4 transposes of both halves.
        #[inline]
        fn transpose(v: [__m256i; 4]) -> [__m256i; 4] {
            let (ab, cd) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpacklo_epi32(v[2], v[3]));
            let (ef, gh) = (_mm256_unpackhi_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[2], v[3]));
            [
                _mm256_unpacklo_epi64(ab, cd),
                _mm256_unpackhi_epi64(ab, cd),
                _mm256_unpacklo_epi64(ef, gh),
                _mm256_unpackhi_epi64(ef, gh),
            ]
        }
    }

    impl Steps for Avx2 {
        call_general!(crate::kernels::memory::general::avx2);
        #[inline(always)]
        fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16 {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let (a, b) = load(p);
                let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                let sv = _mm256_set1_epi32(s as i32);
                let e = _mm256_add_epi32(_mm256_set1_epi32(t as i32), _mm256_mullo_epi32(i, sv));
                let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
                bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f))
            }
        }
        #[inline(always)]
        unsafe fn quads32<const FROM: i32>(self, d: *mut u32, s: *const u32) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                let (a, b) = load(&*(s as *const [u32; 16]));
                _mm256_storeu_si256(d as *mut __m256i, _mm256_shuffle_epi32::<FROM>(a));
                _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_shuffle_epi32::<FROM>(b));
            }
        }
        #[inline(always)]
        fn is_run(self, p: &[u32; 16], s: u32) -> bool {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
                let sv = _mm256_set1_epi32(s as i32);
                let (a, b) = load(p);
                let first = _mm256_set1_epi32(p[0] as i32);
                let e = _mm256_add_epi32(first, _mm256_mullo_epi32(i, sv));
                let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
                let eq = _mm256_and_si256(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f));
                _mm256_movemask_epi8(eq) == -1
            }
        }
        #[inline(always)]
        unsafe fn words2(self, q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                for g in [0, 8] {
                    /// Lanes i and i + 1, each two words.
                    #[inline(always)]
                    unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m128 {
                        // SAFETY: the caller's.
                        unsafe {
                            let lo = _mm_load_sd(q.add(i as usize) as *const f64);
                            _mm_castpd_ps(_mm_loadh_pd(lo, q.add(j as usize) as *const f64))
                        }
                    }
                    let (a0, a4) = (pair(q, o[g], o[g + 1]), pair(q, o[g + 4], o[g + 5]));
                    let (a2, a6) = (pair(q, o[g + 2], o[g + 3]), pair(q, o[g + 6], o[g + 7]));
                    let x = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a0), a4);
                    let y = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a2), a6);
                    _mm256_storeu_ps(a.add(g) as *mut f32, _mm256_shuffle_ps::<0x88>(x, y));
                    _mm256_storeu_ps(b.add(g) as *mut f32, _mm256_shuffle_ps::<0xDD>(x, y));
                }
            }
        }
        #[inline(always)]
        unsafe fn words4(self, q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                for g in [0, 8] {
                    /// Lanes i and i + 4, each four words.
                    #[inline(always)]
                    unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m256i {
                        // SAFETY: the caller's.
                        unsafe {
                            let lo = _mm_loadu_si128(q.add(i as usize) as *const __m128i);
                            let hi = _mm_loadu_si128(q.add(j as usize) as *const __m128i);
                            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lo), hi)
                        }
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
        }
        #[inline(always)]
        unsafe fn store_words4(self, q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
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
        }
        #[inline(always)]
        unsafe fn blend32(self, d: *mut u32, s: *const u32, m: u16) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let (a, b) = load(&*(s as *const [u32; 16]));
                let (x, y) = load(&*(d as *const [u32; 16]));
                let ma = _mm256_set1_epi32(m as i32);
                let mb = _mm256_srli_epi32::<8>(ma);
                let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
                let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
                _mm256_storeu_si256(d as *mut __m256i, _mm256_blendv_epi8(x, a, ma));
                _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_blendv_epi8(y, b, mb));
            }
        }
        #[inline(always)]
        unsafe fn store_mask(self, d: *mut u8, v: *const u32, m: u16) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                let (a, b) = load(&*(v as *const [u32; 16]));
                let ma = _mm256_set1_epi32(m as i32);
                let mb = _mm256_srli_epi32::<8>(ma);
                let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
                let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
                _mm256_maskstore_epi32(d as *mut i32, ma, a);
                _mm256_maskstore_epi32((d as *mut i32).wrapping_add(8), mb, b);
            }
        }
        #[inline(always)]
        fn same_mask(self, p: &[u32; 16], v: u32) -> u16 {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let (a, b) = load(p);
                let e = _mm256_set1_epi32(v as i32);
                bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, e))
            }
        }
        #[inline(always)]
        fn repeated(self, p: &[u32; 16]) -> u16 {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
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
        }
        #[inline(always)]
        fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16 {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe {
                let (a, b) = load(p);
                let k = _mm256_set1_epi32(k as i32);
                let l = _mm256_set1_epi32(limit as i32);
                let (a, b) = (_mm256_add_epi32(a, k), _mm256_add_epi32(b, k));
                let x = _mm256_cmpeq_epi32(_mm256_min_epu32(a, l), a);
                let y = _mm256_cmpeq_epi32(_mm256_min_epu32(b, l), b);
                bits(x, y)
            }
        }
        #[inline(always)]
        unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
            // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
            unsafe {
                let (a, b) = load(&*(p as *const [u32; 16]));
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
}

/// Makes the three forms of kernels written as `fn name<L: Steps>(L, &mut State, At) -> *const Op` (`#[inline(always)]`), and
/// `register(level, table)`.
macro_rules! kernel_forms {
    ($($($code:ident)+ = $name:ident;)*) => {
        pub(crate) mod portable {
            use crate::state::{At, State};
            use shader::bytecode::Op;
            $(/// # Safety
            /// As [`crate::Kernel`].
            pub unsafe fn $name(st: &mut State, op: *const Op) -> *const Op {
                // SAFETY: the caller's.
                super::$name(simd::Portable, st, unsafe { At::new(op) })
            })*
        }
        #[cfg(target_arch = "x86_64")]
        pub(crate) mod avx2 {
            use crate::state::{At, State};
            use shader::bytecode::Op;
            use simd::{Avx2, Simd};
            $(simd::avx2! {
                /// # Safety
                /// As [`crate::Kernel`].
                pub unsafe fn $name(st: &mut State, op: *const Op) -> *const Op {
                    // SAFETY: the caller's.
                    let (l, op) = unsafe { (Avx2::assume(), At::new(op)) };
                    super::$name(l, st, op)
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

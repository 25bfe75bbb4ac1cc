//! Small operations that are the same on every level, made of [`Simd`]'s.

/// Functions over any machine `S`, made of its operations.
macro_rules! of_level {
    ($S:ident; $($(#[$m:meta])* $vis:vis fn $name:ident($($a:ident: $t:ty),* $(,)?) -> $r:ty $body:block)*) => { $(
        $(#[$m])*
        ///
        /// # Safety
        /// The CPU has `S`'s instructions.
        #[inline(always)]
        $vis unsafe fn $name<$S: $crate::Simd>($($a: $t),*) -> $r {
            // SAFETY: the caller's: the CPU has the instructions. Pointers are to arrays of sixteen lanes, aligned.
            unsafe { $body }
        }
    )* };
}

of_level! { S;
    /// −a (sign bit flipped, NaN too).
    pub fn fneg(a: S::F) -> S::F {
        S::from_bits(S::ixor(S::bits(a), S::isplat(0x8000_0000)))
    }
    pub fn fabs(a: S::F) -> S::F {
        S::from_bits(S::iand(S::bits(a), S::isplat(0x7FFF_FFFF)))
    }
    /// Any NaN made the quiet one of sign 0 without payload.
    pub fn canon(a: S::F) -> S::F {
        S::fsel(S::fne(a, a), S::fsplat(f32::from_bits(0x7FC0_0000)), a)
    }
    /// |a| with the sign of s.
    pub fn copysign(a: S::F, s: S::F) -> S::F {
        let sign = S::iand(S::bits(s), S::isplat(0x8000_0000));
        S::from_bits(S::ior(S::iand(S::bits(a), S::isplat(0x7FFF_FFFF)), sign))
    }
    /// The sign bit of s flips the sign of a.
    pub fn xorsign(a: S::F, s: S::F) -> S::F {
        S::from_bits(S::ixor(S::bits(a), S::iand(S::bits(s), S::isplat(0x8000_0000))))
    }
    /// A NaN operand gives the other one; −0 < +0.
    pub fn fmin(a: S::F, b: S::F) -> S::F {
        // Both orders differ only for zeros of two signs (the or is −0) and for NaNs, put right after.
        let r = S::from_bits(S::ior(S::bits(S::fmin_raw(a, b)), S::bits(S::fmin_raw(b, a))));
        let r = S::fsel(S::fne(a, a), b, r);
        S::fsel(S::fne(b, b), a, r)
    }
    pub fn fmax(a: S::F, b: S::F) -> S::F {
        let r = S::from_bits(S::iand(S::bits(S::fmax_raw(a, b)), S::bits(S::fmax_raw(b, a))));
        let r = S::fsel(S::fne(a, a), b, r);
        S::fsel(S::fne(b, b), a, r)
    }
    pub fn shl(a: S::I, n: u32) -> S::I {
        S::ishl(a, S::isplat(n))
    }
    pub fn shr(a: S::I, n: u32) -> S::I {
        S::ishr(a, S::isplat(n))
    }
    pub fn sar(a: S::I, n: u32) -> S::I {
        S::isar(a, S::isplat(n))
    }
    pub fn inot(a: S::I) -> S::I {
        S::ixor(a, S::isplat(!0))
    }
    pub fn ineg(a: S::I) -> S::I {
        S::isub(S::isplat(0), a)
    }
    /// Saturating; NaN → 0.
    pub fn f_to_s(a: S::F) -> S::I {
        // Too large gives 0x8000_0000, which the all-ones mask flips to the largest; too small is right already.
        let raw = S::f_to_s_raw(a);
        let big = S::fle(S::fsplat(2147483648.0), a);
        let r = S::isel(big, S::isplat(0x7FFF_FFFF), raw);
        S::isel(S::fne(a, a), S::isplat(0), r)
    }
    /// Saturating; NaN and negative → 0.
    pub fn f_to_u(a: S::F) -> S::I {
        let half = S::fsplat(2147483648.0);
        let low = S::f_to_s_raw(a);
        let high = S::ixor(S::f_to_s_raw(S::fsub(a, half)), S::isplat(0x8000_0000));
        let r = S::isel(S::fle(half, a), high, low);
        let r = S::isel(S::fle(S::fsplat(4294967296.0), a), S::isplat(!0), r);
        // False for NaN.
        S::isel(S::flt(S::fsplat(0.0), a), r, S::isplat(0))
    }
    /// 64-bit int from 32 bits, signed and unsigned.
    pub fn s_to_l(a: S::I) -> S::L {
        S::pack(a, sar::<S>(a, 31))
    }
    pub fn u_to_l(a: S::I) -> S::L {
        S::pack(a, S::isplat(0))
    }
    /// A value's sixteen lanes as an array, and back: for the few operations done a lane at a time.
    pub fn i_lanes(a: S::I) -> [u32; 16] {
        let mut r = Line([0u32; 16]);
        S::istore(r.0.as_mut_ptr().cast(), a);
        r.0
    }
    pub fn i_from(a: [u32; 16]) -> S::I {
        S::iload(Line(a).0.as_ptr().cast())
    }
    pub fn f_lanes(a: S::F) -> [f32; 16] {
        let mut r = Line([0f32; 16]);
        S::fstore(r.0.as_mut_ptr().cast(), a);
        r.0
    }
    pub fn f_from(a: [f32; 16]) -> S::F {
        S::fload(Line(a).0.as_ptr().cast())
    }
    pub fn l_lanes(a: S::L) -> [u64; 16] {
        let mut r = Line([0u64; 16]);
        S::lstore(r.0.as_mut_ptr().cast(), a);
        r.0
    }
    pub fn l_from(a: [u64; 16]) -> S::L {
        S::lload(Line(a).0.as_ptr().cast())
    }
    pub fn d_lanes(a: S::D) -> [f64; 16] {
        let mut r = Line([0f64; 16]);
        S::dstore(r.0.as_mut_ptr().cast(), a);
        r.0
    }
    pub fn d_from(a: [f64; 16]) -> S::D {
        S::dload(Line(a).0.as_ptr().cast())
    }
}

#[repr(C, align(64))]
struct Line<T>(T);

/// An operation a lane at a time: `lanes!(l_from, f_lanes, x = a => x as u64)`. A loop and no closure: closures are
/// not inlined reliably.
#[macro_export]
macro_rules! lanes {
    ($S:ident, $from:ident; $($x:ident = $lanes:ident $a:ident),* => $e:expr) => {{
        $(let $x = $crate::ops::$lanes::<$S>($a);)*
        let mut r = [Default::default(); 16];
        for i in 0..16 {
            $(let $x = $x[i];)*
            r[i] = $e;
        }
        $crate::ops::$from::<$S>(r)
    }};
}
pub use lanes;

//! Small operations that are the same on every level, made of [`Simd`]'s.

/// Functions over any machine `S`, made of its operations.
macro_rules! of_level {
    ($S:ident, $s:ident; $($(#[$m:meta])* $vis:vis fn $name:ident($($a:ident: $t:ty),* $(,)?) -> $r:ty $body:block)*) => { $(
        $(#[$m])*
        #[inline(always)]
        $vis fn $name<$S: $crate::Simd>($s: $S, $($a: $t),*) -> $r $body
    )* };
}

of_level! { S, s;
    /// −a (sign bit flipped, NaN too).
    pub fn fneg(a: S::F) -> S::F {
        s.from_bits(s.ixor(s.bits(a), s.isplat(0x8000_0000)))
    }
    pub fn fabs(a: S::F) -> S::F {
        s.from_bits(s.iand(s.bits(a), s.isplat(0x7FFF_FFFF)))
    }
    /// Any NaN made the quiet one of sign 0 without payload.
    pub fn canon(a: S::F) -> S::F {
        s.fsel(s.fne(a, a), s.fsplat(f32::from_bits(0x7FC0_0000)), a)
    }
    /// |a| with the sign of b.
    pub fn copysign(a: S::F, b: S::F) -> S::F {
        let sign = s.iand(s.bits(b), s.isplat(0x8000_0000));
        s.from_bits(s.ior(s.iand(s.bits(a), s.isplat(0x7FFF_FFFF)), sign))
    }
    /// The sign bit of b flips the sign of a.
    pub fn xorsign(a: S::F, b: S::F) -> S::F {
        s.from_bits(s.ixor(s.bits(a), s.iand(s.bits(b), s.isplat(0x8000_0000))))
    }
    /// A NaN operand gives the other one; −0 < +0.
    pub fn fmin(a: S::F, b: S::F) -> S::F {
        // Both orders differ only for zeros of two signs (the or is −0) and for NaNs, put right after.
        let r = s.from_bits(s.ior(s.bits(s.fmin_raw(a, b)), s.bits(s.fmin_raw(b, a))));
        let r = s.fsel(s.fne(a, a), b, r);
        s.fsel(s.fne(b, b), a, r)
    }
    pub fn fmax(a: S::F, b: S::F) -> S::F {
        let r = s.from_bits(s.iand(s.bits(s.fmax_raw(a, b)), s.bits(s.fmax_raw(b, a))));
        let r = s.fsel(s.fne(a, a), b, r);
        s.fsel(s.fne(b, b), a, r)
    }
    /// [`crate::Simd::fbound`].
    pub fn bound(x: S::F) -> S::F {
        s.fmin_raw(s.fsplat(200.0), s.fmax_raw(s.fsplat(-200.0), x))
    }
    /// [`crate::Simd::fround16`], of numbers up to 2^18.
    pub fn round16(x: S::F) -> S::F {
        let magic = s.fsplat(786432.0);
        s.fsub(s.fadd(x, magic), magic)
    }
    /// [`crate::Simd::fscale`]: two products, of which the first is exact.
    pub fn scale(p: S::F, n: S::F) -> S::F {
        // Two exponents' biases, and 1.5 · 2^23, which has n in the low bits and nothing in those that the shifts leave.
        let t = s.bits(s.fadd(s.ffloor(n), s.fsplat(12582912.0 + 254.0)));
        let half = sar(s, t, 1);
        let rest = s.isub(t, half);
        let p = s.fmul(p, s.from_bits(shl(s, half, 23)));
        s.fmul(p, s.from_bits(shl(s, rest, 23)))
    }
    /// [`crate::Simd::fparts`].
    pub fn parts(x: S::F) -> [S::F; 2] {
        let small = s.sgt(s.isplat(0x0080_0000), s.bits(x));
        let bits = s.bits(s.fsel(small, s.fmul(x, s.fsplat(16777216.0)), x));
        let bias = s.fsel(small, s.fsplat(127.0 + 24.0), s.fsplat(127.0));
        let m = s.ior(s.iand(bits, s.isplat(0x007F_FFFF)), s.isplat(0x3F80_0000));
        // From 3/2 on an exponent less.
        let m = s.isub(m, shl(s, s.iand(bits, s.isplat(0x0040_0000)), 1));
        [s.fsub(s.s_to_f(shr(s, bits, 23)), bias), s.from_bits(m)]
    }
    /// [`crate::Simd::ilook`].
    pub fn look(table: &'static crate::Table<32>, idx: S::I) -> S::I {
        // SAFETY: 32 words, aligned.
        let (low, high) = unsafe { (s.iload(table.0.as_ptr().cast()), s.iload(table.0.as_ptr().add(16).cast())) };
        s.isel(s.sgt(s.isplat(0), shl(s, idx, 27)), s.ishuffle(high, idx), s.ishuffle(low, idx))
    }
    /// The even words of two vectors, and the odd ones.
    pub fn apart(v: [S::I; 2]) -> [S::I; 2] {
        // SAFETY (both): sixteen words, aligned.
        let even = unsafe { s.iload(EVEN.0.as_ptr().cast()) };
        [s.ishuffle2(v[0], v[1], even), s.ishuffle2(v[0], v[1], s.iadd(even, s.isplat(1)))]
    }
    /// The reverse of [`apart`].
    pub fn together(v: [S::I; 2]) -> [S::I; 2] {
        let first = unsafe { s.iload(TURNS.0.as_ptr().cast()) };
        [s.ishuffle2(v[0], v[1], first), s.ishuffle2(v[0], v[1], s.iadd(first, s.isplat(8)))]
    }
    pub fn shl(a: S::I, n: u32) -> S::I {
        s.ishl(a, s.isplat(n))
    }
    pub fn shr(a: S::I, n: u32) -> S::I {
        s.ishr(a, s.isplat(n))
    }
    pub fn sar(a: S::I, n: u32) -> S::I {
        s.isar(a, s.isplat(n))
    }
    pub fn inot(a: S::I) -> S::I {
        s.ixor(a, s.isplat(!0))
    }
    pub fn ineg(a: S::I) -> S::I {
        s.isub(s.isplat(0), a)
    }
    /// Saturating; NaN → 0.
    pub fn f_to_s(a: S::F) -> S::I {
        // Too large gives 0x8000_0000, which the all-ones mask flips to the largest; too small is right already.
        let raw = s.f_to_s_raw(a);
        let big = s.fle(s.fsplat(2147483648.0), a);
        let r = s.isel(big, s.isplat(0x7FFF_FFFF), raw);
        s.isel(s.fne(a, a), s.isplat(0), r)
    }
    /// Saturating; NaN and negative → 0.
    pub fn f_to_u(a: S::F) -> S::I {
        let half = s.fsplat(2147483648.0);
        let low = s.f_to_s_raw(a);
        let high = s.ixor(s.f_to_s_raw(s.fsub(a, half)), s.isplat(0x8000_0000));
        let r = s.isel(s.fle(half, a), high, low);
        let r = s.isel(s.fle(s.fsplat(4294967296.0), a), s.isplat(!0), r);
        // False for NaN.
        s.isel(s.flt(s.fsplat(0.0), a), r, s.isplat(0))
    }
    /// 64-bit int from 32 bits, signed and unsigned.
    pub fn s_to_l(a: S::I) -> S::L {
        s.pack(a, sar(s, a, 31))
    }
    pub fn u_to_l(a: S::I) -> S::L {
        s.pack(a, s.isplat(0))
    }
    /// a > b of unsigned 64-bit integers.
    pub fn above(a: S::L, b: S::L) -> S::M {
        let sign = s.lsplat(1 << 63);
        s.lgt(s.lxor(a, sign), s.lxor(b, sign))
    }
    /// [`crate::Simd::u_to_d`]: exact.
    pub fn u_to_d(a: S::I) -> S::D {
        s.dadd(s.s_to_d(s.ixor(a, s.isplat(0x8000_0000))), s.dsplat(2147483648.0))
    }
    /// [`crate::Simd::ul_to_d`]: the halves are exact.
    pub fn ul_to_d(a: S::L) -> S::D {
        let high = less_whole(s, s.lor(s.lshr(a, s.isplat(32)), s.lsplat(WHOLE)));
        let low = less_whole(s, s.lor(s.land(a, s.lsplat(0xFFFF_FFFF)), s.lsplat(WHOLE)));
        s.dfma(high, s.dsplat(4294967296.0), low)
    }
    /// [`crate::Simd::sl_to_d`].
    pub fn sl_to_d(a: S::L) -> S::D {
        // The high half and 2^31.
        let high = s.lxor(s.lshr(a, s.isplat(32)), s.lsplat(WHOLE | 1 << 31));
        let high = s.dsub(s.from_dbits(high), s.dsplat(4503599627370496.0 + 2147483648.0));
        let low = less_whole(s, s.lor(s.land(a, s.lsplat(0xFFFF_FFFF)), s.lsplat(WHOLE)));
        s.dfma(high, s.dsplat(4294967296.0), low)
    }
    fn less_whole(bits: S::L) -> S::D {
        s.dsub(s.from_dbits(bits), s.from_dbits(s.lsplat(WHOLE)))
    }
    /// [`crate::Simd::d_to_ul`].
    pub fn d_to_ul(a: S::D) -> S::L {
        let whole = s.from_dbits(s.lsplat(WHOLE));
        let high = s.dfloor(s.dmul(a, s.dsplat(1.0 / 4294967296.0)));
        let low = s.dfma(high, s.dsplat(-4294967296.0), a);
        // (What lies above the high half is shifted out.)
        let low = s.land(s.dbits(s.dadd(low, whole)), s.lsplat(0xFFFF_FFFF));
        s.lor(s.lshl(s.dbits(s.dadd(high, whole)), s.isplat(32)), low)
    }
    /// A value's sixteen lanes as an array, and back: for the few operations done a lane at a time.
    pub fn i_lanes(a: S::I) -> [u32; 16] {
        let mut r = Line([0u32; 16]);
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.istore(r.0.as_mut_ptr().cast(), a) };
        r.0
    }
    pub fn i_from(a: [u32; 16]) -> S::I {
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.iload(Line(a).0.as_ptr().cast()) }
    }
    pub fn f_lanes(a: S::F) -> [f32; 16] {
        let mut r = Line([0f32; 16]);
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.fstore(r.0.as_mut_ptr().cast(), a) };
        r.0
    }
    pub fn f_from(a: [f32; 16]) -> S::F {
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.fload(Line(a).0.as_ptr().cast()) }
    }
    pub fn l_lanes(a: S::L) -> [u64; 16] {
        let mut r = Line([0u64; 16]);
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.lstore(r.0.as_mut_ptr().cast(), a) };
        r.0
    }
    pub fn l_from(a: [u64; 16]) -> S::L {
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.lload(Line(a).0.as_ptr().cast()) }
    }
    pub fn d_lanes(a: S::D) -> [f64; 16] {
        let mut r = Line([0f64; 16]);
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.dstore(r.0.as_mut_ptr().cast(), a) };
        r.0
    }
    pub fn d_from(a: [f64; 16]) -> S::D {
        // SAFETY: sixteen lanes, aligned.
        unsafe { s.dload(Line(a).0.as_ptr().cast()) }
    }
}

/// [`crate::Simd::iblend8`], a lane at a time.
#[inline(always)]
pub fn blend8<S: crate::Simd>(s: S, bytes: [[u8; 4]; 16], term: [S::I; 2], factor: [S::I; 2]) -> S::I {
    let t = [i_lanes(s, term[0]), i_lanes(s, term[1])];
    let k = [i_lanes(s, factor[0]), i_lanes(s, factor[1])];
    let half = |of: &[[u32; 16]; 2], l: usize, c: usize| (of[c / 2][l] >> (16 * (c % 2)) & 0xFFFF) as i32;
    let mut out = [[0; 4]; 16];
    for l in 0..16 {
        for c in 0..4 {
            let kept = ((bytes[l][c] as i32 * 128) * half(&k, l, c) + 0x4000) >> 15;
            let sum = (kept + half(&t, l, c)).min(32767);
            out[l][c] = ((sum + 64) >> 7).min(255) as u8;
        }
    }
    i_from(s, out.map(u32::from_le_bytes))
}

/// 2^52: numbers from there to 2^53 have whole ones as their last 52 bits.
pub const WHOLE: u64 = 0x433 << 52;

/// What [`Simd::ffix`] makes of a class of operands, four bits each: the numbers of vfixupimmps (Intel's manual, volume 2).
#[derive(Clone, Copy)]
pub struct Fix {
    pub nan: u32,
    pub zero: u32,
    pub negative: u32,
    pub negative_infinity: u32,
    pub infinity: u32,
}

impl Fix {
    /// What there is.
    pub const NOTHING: u32 = 0;
    /// The operand itself.
    pub const SELF: u32 = 1;
    /// NaN of sign 1 without payload.
    pub const NAN: u32 = 3;
    pub const NEGATIVE_INFINITY: u32 = 4;
    pub const INFINITY: u32 = 5;
    pub const ZERO: u32 = 8;

    pub const fn table(self) -> u32 {
        // One (class 3) and other positive ones (7) keep what they have.
        self.nan
            | self.nan << 4
            | self.zero << 8
            | self.negative_infinity << 16
            | self.infinity << 20
            | self.negative << 24
    }
}

/// [`crate::Simd::ffix`].
#[inline(always)]
pub fn fix<S: crate::Simd, const TABLE: u32>(s: S, r: S::F, x: S::F) -> S::F {
    let (inf, zero) = (s.fsplat(f32::INFINITY), s.fsplat(0.0));
    // Classes: NaN 0, zero 2, −∞ 4, +∞ 5, other negative ones 6.
    let r = put::<S>(s, TABLE >> 24, s.flt(x, zero), x, r);
    let r = put::<S>(s, TABLE >> 16, s.feq(x, s.fsplat(f32::NEG_INFINITY)), x, r);
    let r = put::<S>(s, TABLE >> 20, s.feq(x, inf), x, r);
    let r = put::<S>(s, TABLE, s.fne(x, x), x, r);
    put::<S>(s, TABLE >> 8, s.feq(x, zero), x, r)
}
/// What the lowest four bits of `what` say, where `m` is true.
#[inline(always)]
fn put<S: crate::Simd>(s: S, what: u32, m: S::M, x: S::F, r: S::F) -> S::F {
    let inf = s.fsplat(f32::INFINITY);
    match what & 15 {
        Fix::SELF => s.fsel(m, x, r),
        Fix::NAN => s.fsel(m, s.fsplat(f32::from_bits(0xFFC0_0000)), r),
        Fix::NEGATIVE_INFINITY => s.fsel(m, s.fsplat(f32::NEG_INFINITY), r),
        Fix::INFINITY => s.fsel(m, inf, r),
        Fix::ZERO => s.fsel(m, s.fsplat(0.0), r),
        _ => r,
    }
}

#[repr(C, align(64))]
struct Line<T>(T);

/// Every second number, and those of two vectors by turns.
static EVEN: crate::Table<16> = crate::Table([0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]);
static TURNS: crate::Table<16> = crate::Table([0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]);

/// An operation a lane at a time: `lanes!(l_from, f_lanes, x = a => x as u64)`. A loop and no closure: closures are
/// not inlined reliably.
#[macro_export]
macro_rules! lanes {
    ($s:ident, $from:ident; $($x:ident = $lanes:ident $a:ident),* => $e:expr) => {{
        $(let $x = $crate::ops::$lanes($s, $a);)*
        let mut r = [Default::default(); 16];
        for i in 0..16 {
            $(let $x = $x[i];)*
            r[i] = $e;
        }
        $crate::ops::$from($s, r)
    }};
}
pub use lanes;

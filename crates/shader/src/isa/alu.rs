//! Arithmetic: the table of ops of one to three operands.
//!
//! | column | says |
//! |---|---|
//! | operands → result | the types ([`OperandType`]) |
//! | swap | whether operands 0 and 1 may change places |
//! | NaN | [`Nan`] |
//! | if | cheap enough to be executed on both sides of a small `if` |
//! | width | [`ResultWidth`] |
//! | cost | instructions in the pipes FMA, CVT, SFU; twice that for 64 bits ([`crate::cost`] says where they come from) |
//! | lane | what it computes for one lane, which folding uses and kernels are tested against |
//!
//! The last is written for both widths at once, with operands read as floats (`f`), as unsigned (`u`) or as signed
//! integers (`s`), or for one width (`f32`, `u64` …) or for each. It is empty where the operation is not exact
//! (transcendental, or without one agreed rounding): kernels define it. An op's number in the bytecode is its place.

use super::exact::*;
use super::{Facts, Nan, OperandType, ResultWidth, ops};
use crate::cost::Cost;
use crate::ir::Ty;

/// The names that columns use.
macro_rules! column {
    (num) => {
        OperandType::Num
    };
    (any) => {
        OperandType::Any
    };
    (same) => {
        OperandType::Same
    };
    (bool) => {
        OperandType::Bool
    };
    (b32) => {
        OperandType::B32
    };
    (b64) => {
        OperandType::B64
    };
    (count) => {
        OperandType::Count
    };
    (swaps) => {
        true
    };
    (ordered) => {
        false
    };
    (cheap) => {
        true
    };
    (dear) => {
        false
    };
    (makes) => {
        Nan::Makes
    };
    (keeps) => {
        Nan::Keeps
    };
    (settles) => {
        Nan::Settles
    };
    (full) => {
        ResultWidth::Full
    };
    (half) => {
        ResultWidth::Half
    };
    (cut16) => {
        ResultWidth::Cut16
    };
    (cut8) => {
        ResultWidth::Cut8
    };
    (keep) => {
        ResultWidth::Keep
    };
}

/// A row's last column for the bits of its operands.
macro_rules! lane {
    ([$wide:ident $($a:ident)*]) => {
        None
    };
    ([$wide:ident $($a:ident)*] f($($x:ident),*) $e:expr) => {
        lane!([$wide $($a)*] f32($($x),*) $e, f64($($x),*) $e)
    };
    ([$wide:ident $($a:ident)*] u($($x:ident),*) $e:expr) => {
        lane!([$wide $($a)*] u32($($x),*) $e, u64($($x),*) $e)
    };
    ([$wide:ident $($a:ident)*] s($($x:ident),*) $e:expr) => {
        lane!([$wide $($a)*] i32($($x),*) $e, i64($($x),*) $e)
    };
    ([$wide:ident $($a:ident)*] bits($($x:ident),*) $e:expr) => {{
        $(let $x = $a;)*
        Some($e)
    }};
    ([$wide:ident $($a:ident)*] $t:ident($($x:ident),*) $e:expr) => {
        if $wide == (std::mem::size_of::<$t>() == 8) {
            $(let $x = <$t as Word>::of($a);)*
            Some(Word::bits($e))
        } else {
            None
        }
    };
    ([$wide:ident $($a:ident)*] $t:ident($($x:ident),*) $e:expr, $u:ident($($y:ident),*) $g:expr) => {
        Some(if $wide {
            $(let $y = <$u as Word>::of($a);)*
            Word::bits($g)
        } else {
            $(let $x = <$t as Word>::of($a);)*
            Word::bits($e)
        })
    };
}

macro_rules! table {
    ($(#[$meta:meta])* $name:ident $args:tt {
        $(
            $(#[$note:meta])*
            $op:ident $($kind:ident)+ -> $result:ident $swap:ident $nan:ident $cheap:ident $width:ident
            [$fma:literal $cvt:literal $sfu:literal] $lane:tt
        )*
    }) => {
        ops! {
            $(#[$meta])*
            #[repr(u16)]
            $name { $($(#[$note])* $op,)* }
        }
        impl $name {
            const FACTS: &'static [Facts] = &[$(Facts {
                operands: &[$(column!($kind)),+],
                result: column!($result),
                commutes: column!($swap),
                nan: column!($nan),
                cheap: column!($cheap),
                width: column!($width),
                // Values of 8 and 16 bits are kept extended by the engine; the machine reads parts of registers.
                cost: Cost {
                    narrow: matches!(column!($width), ResultWidth::Cut16 | ResultWidth::Cut8) as u32,
                    ..Cost::arithmetic($fma, $cvt, $sfu)
                },
            },)*];
            /// The op's row.
            #[inline]
            pub const fn facts(self) -> &'static Facts {
                &Self::FACTS[self as usize]
            }
            /// Type of the result, for the type of the operand that picks the width.
            pub fn result(self, operand: Ty) -> Ty {
                self.facts().result(operand)
            }
        }
        table!(@fold $name $args $($op $lane)*);
    };
    (@fold $name:ident $args:tt $($op:ident $lane:tt)*) => {
        impl $name {
            table!(@function $name $args $($op $lane)*);
        }
    };
    (@function $name:ident ($($a:ident)+) $($op:ident $lane:tt)*) => {
        /// What one lane's operands give; `wide`: the 64-bit form.
        pub(crate) fn lane(self, wide: bool, $($a: u64),+) -> Option<u64> {
            table!(@match self wide ($($a)+) $name $($op $lane)*)
        }
    };
    (@match $self:ident $wide:ident $args:tt $name:ident $($op:ident $lane:tt)*) => {
        match $self {
            $($name::$op => table!(@lane $wide $args $lane),)*
        }
    };
    (@lane $wide:ident ($($a:ident)+) { $($lane:tt)* }) => {
        lane!([$wide $($a)+] $($lane)*)
    };
}

/// Rows without the column of what changes places.
macro_rules! unary {
    ($($(#[$note:meta])* $op:ident $kind:ident -> $result:ident $nan:ident $cheap:ident $width:ident $cost:tt $lane:tt)*) => {
        table! {
            /// One operand. The operand's `Ty` picks the 32- or 64-bit form; floats of 64 bits are f64.
            Un (p) { $($(#[$note])* $op $kind -> $result ordered $nan $cheap $width $cost $lane)* }
        }
    };
}

unary! {
    // op          operand → result NaN   if    width   cost     lane
    Mov           num  -> same  keeps   cheap full   [0 0 0]  { u(x) x }
    FNeg          num  -> same  keeps   cheap keep   [0 0 0]  { u(x) x ^ x.sign() }
    FAbs          num  -> same  keeps   cheap keep   [0 0 0]  { u(x) x & !x.sign() }
    FSqrt         num  -> same  makes   dear  full   [1 0 1]  { f(x) x.sqrt() }
    FRsqrt        num  -> same  makes   dear  full   [0 0 1]  {}
    FRcp          num  -> same  makes   dear  full   [0 0 1]  {}
    FFloor        num  -> same  makes   cheap full   [0 1 0]  { f(x) x.floor() }
    FCeil         num  -> same  makes   cheap full   [0 1 0]  { f(x) x.ceil() }
    FTrunc        num  -> same  makes   cheap full   [0 1 0]  { f(x) x.trunc() }
    FRoundEven    num  -> same  makes   cheap full   [0 1 0]  { f(x) x.round_ties_even() }
    FFract        num  -> same  makes   dear  full   [1 1 0]  { f(x) x - x.floor() }
    /// Zeros stay; NaN → +0.
    FSign         num  -> same  settles dear  full   [0 2 0]  { f(x) x.sign_of() }
    FSaturate     num  -> same  makes   cheap keep   [0 0 0]  { f(x) x.n_max(0.0).n_min(1.0) }
    // GLSL.std.450, f32 only
    FExp2         b32  -> b32   makes   dear  full   [1 1 1]  {}
    FLog2         b32  -> b32   makes   dear  full   [2 2 1]  {}
    FExp          b32  -> b32   makes   dear  full   [2 1 1]  {}
    FLog          b32  -> b32   makes   dear  full   [3 2 1]  {}
    FSin          b32  -> b32   makes   dear  full   [7 0 2]  {}
    FCos          b32  -> b32   makes   dear  full   [7 0 2]  {}
    FTan          b32  -> b32   makes   dear  full   [11 0 3]  {}
    FAsin         b32  -> b32   makes   dear  full   [14 3 6]  {}
    FAcos         b32  -> b32   makes   dear  full   [14 4 6]  {}
    FAtan         b32  -> b32   makes   dear  full   [12 3 5]  {}
    FSinh         b32  -> b32   makes   dear  full   [4 2 2]  {}
    FCosh         b32  -> b32   makes   dear  full   [4 2 2]  {}
    FTanh         b32  -> b32   makes   dear  full   [4 2 3]  {}
    FAsinh        b32  -> b32   makes   dear  full   [5 2 2]  {}
    FAcosh        b32  -> b32   makes   dear  full   [5 2 2]  {}
    FAtanh        b32  -> b32   makes   dear  full   [4 2 2]  {}
    /// f32 → f32 of the nearest f16 value (round to nearest even, overflow to infinity, denormals kept).
    F16Round      b32  -> b32   makes   dear  cut16  [0 0 0]  { f32(x) to_f16(x, Round::Nearest).to_f32() }
    /// As [`Un::F16Round`], rounding toward zero.
    F16RoundRtz   b32  -> b32   makes   dear  cut16  [0 0 0]  { f32(x) to_f16(x, Round::Zero).to_f32() }
    /// OpQuantizeToF16: as [`Un::F16Round`], results that are f16 denormals become zero of the same sign.
    F16Quantize   b32  -> b32   makes   dear  half   [0 1 0]  { f32(x) to_f16(x, Round::Nearest).flushed().to_f32() }
    /// f32 that is an f16 value → its 16 bits, zero-extended; and back.
    F16ToBits     b32  -> b32   keeps   dear  full   [0 1 0]  { f32(x) to_f16(x, Round::Nearest).0 as u32 }
    BitsToF16     b32  -> b32   keeps   dear  half   [0 1 0]  { u32(x) F16(x as u16).to_f32().to_bits() }
    /// Denormal f32 or f64 → zero of the same sign.
    FlushDenorm   num  -> same  keeps   dear  keep   [0 0 0]  { u(x) if x & x.exponent() == 0 { x & x.sign() } else { x } }
    /// Any NaN → the quiet NaN of sign 0 without payload; all else stays. Where floats become bits (see `pass::nan`).
    FCanon        num  -> same  settles dear  keep   [0 0 0]  { f(x) x }
    /// FClass tests, result Bool.
    FIsNan        num  -> bool  keeps   dear  full   [0 1 0]  { f(x) x.is_nan() }
    FIsInf        num  -> bool  keeps   dear  full   [0 1 0]  { f(x) x.is_infinite() }
    /// frexp: significand (float) and exponent (i32, result B32 for either width).
    FrexpSig      num  -> same  makes   dear  full   [0 1 0]  { f32(x) frexp(x).0 as f32, f64(x) frexp(x).0 }
    FrexpExp      num  -> b32   settles dear  full   [0 1 0]  { f(x) frexp(x).1 }
    INeg          num  -> same  keeps   cheap full   [0 1 0]  { s(x) x.wrapping_neg() }
    IAbs          num  -> same  keeps   cheap full   [0 1 0]  { s(x) x.wrapping_abs() }
    ISign         num  -> same  keeps   dear  full   [0 2 0]  { s(x) x.signum() }
    Not           num  -> same  keeps   cheap full   [0 0 1]  { u(x) !x }
    BitReverse    num  -> same  keeps   dear  full   [0 0 1]  { u(x) x.reverse_bits() }
    BitCount      num  -> b32   keeps   dear  full   [0 0 1]  { u(x) x.count_ones() }
    /// Index of the lowest set bit / highest bit (unsigned) / highest bit that differs from the sign; −1 for none.
    FindLsb       num  -> b32   keeps   dear  full   [0 2 1]  { u(x) if x == 0 { u32::MAX } else { x.trailing_zeros() } }
    FindUMsb      num  -> b32   keeps   dear  full   [0 2 0]  { u(x) x.checked_ilog2().unwrap_or(u32::MAX) }
    FindSMsb      num  -> b32   keeps   dear  full   [0 2 1]  { s(x) (if x < 0 { !x } else { x }).checked_ilog2().unwrap_or(u32::MAX) }
    SExt8         b32  -> b32   keeps   cheap cut8   [0 0 0]  { u32(x) x as i8 as i32 }
    SExt16        b32  -> b32   keeps   cheap cut16  [0 0 0]  { u32(x) x as i16 as i32 }
    ZExt8         b32  -> b32   keeps   cheap cut8   [0 0 0]  { u32(x) x & 0xFF }
    ZExt16        b32  -> b32   keeps   cheap cut16  [0 0 0]  { u32(x) x & 0xFFFF }
    // conversions; names say from and to. Float to int: truncation, saturating, NaN → 0.
    F32ToS32      b32  -> b32   settles cheap full   [0 1 0]  { f32(x) x as i32 }
    F32ToU32      b32  -> b32   settles cheap full   [0 1 0]  { f32(x) x as u32 }
    S32ToF32      b32  -> b32   keeps   cheap full   [0 1 0]  { i32(x) x as f32 }
    U32ToF32      b32  -> b32   keeps   cheap full   [0 1 0]  { u32(x) x as f32 }
    F32ToF64      b32  -> b64   makes   dear  full   [0 1 0]  { f32(x) x as f64 }
    F64ToF32      b64  -> b32   makes   dear  full   [0 1 0]  { f64(x) x as f32 }
    F64ToS32      b64  -> b32   settles dear  full   [0 1 0]  { f64(x) x as i32 }
    F64ToU32      b64  -> b32   settles dear  full   [0 1 0]  { f64(x) x as u32 }
    S32ToF64      b32  -> b64   keeps   dear  full   [0 1 0]  { i32(x) x as f64 }
    U32ToF64      b32  -> b64   keeps   dear  full   [0 1 0]  { u32(x) x as f64 }
    F32ToS64      b32  -> b64   settles dear  full   [0 1 0]  { f32(x) x as i64 }
    F32ToU64      b32  -> b64   settles dear  full   [0 1 0]  { f32(x) x as u64 }
    S64ToF32      b64  -> b32   keeps   dear  full   [0 1 0]  { i64(x) x as f32 }
    U64ToF32      b64  -> b32   keeps   dear  full   [0 1 0]  { u64(x) x as f32 }
    F64ToS64      b64  -> b64   settles dear  full   [0 1 0]  { f64(x) x as i64 }
    F64ToU64      b64  -> b64   settles dear  full   [0 1 0]  { f64(x) x as u64 }
    S64ToF64      b64  -> b64   keeps   dear  full   [0 1 0]  { i64(x) x as f64 }
    U64ToF64      b64  -> b64   keeps   dear  full   [0 1 0]  { u64(x) x as f64 }
    /// f64 → the f32 of the nearest f16 value, rounded once.
    F64ToF16      b64  -> b32   makes   dear  full   [0 1 0]  { f64(x) to_f16(x, Round::Nearest).to_f32() }
    S32ToS64      b32  -> b64   keeps   dear  full   [0 1 0]  { i32(x) x as i64 }
    U32ToU64      b32  -> b64   keeps   dear  full   [0 1 0]  { u32(x) x as u64 }
    /// B64 → its low / high word.
    Lo32          b64  -> b32   keeps   cheap full   [0 0 0]  { u64(x) x as u32 }
    Hi32          b64  -> b32   keeps   cheap full   [0 0 0]  { u64(x) (x >> 32) as u32 }
    // packing, GLSL.std.450 (one component each is enough; translation combines them)
    /// f32 → 8/16 bit norm code in the low bits.
    PackUnorm8    b32  -> b32   settles dear  full   [0 1 0]  { f32(x) norm(x, 0.0, 255.0) as u32 }
    PackSnorm8    b32  -> b32   settles dear  full   [0 1 0]  { f32(x) norm(x, -1.0, 127.0) as u32 & 0xFF }
    PackUnorm16   b32  -> b32   settles dear  full   [0 1 0]  { f32(x) norm(x, 0.0, 65535.0) as u32 }
    PackSnorm16   b32  -> b32   settles dear  full   [0 1 0]  { f32(x) norm(x, -1.0, 32767.0) as u32 & 0xFFFF }
    UnpackUnorm8  b32  -> b32   keeps   dear  full   [0 1 0]  { u32(x) (x & 0xFF) as f32 / 255.0 }
    UnpackSnorm8  b32  -> b32   keeps   dear  full   [0 1 0]  { u32(x) (x as i8 as f32 / 127.0).max(-1.0) }
    UnpackUnorm16 b32  -> b32   keeps   dear  full   [0 1 0]  { u32(x) (x & 0xFFFF) as f32 / 65535.0 }
    UnpackSnorm16 b32  -> b32   keeps   dear  full   [0 1 0]  { u32(x) (x as i16 as f32 / 32767.0).max(-1.0) }
    /// Bool → 0 or 1 (B32).
    BoolToInt     bool -> b32   keeps   cheap full   [0 1 0]  { u32(x) x & 1 }
    /// B32 → Bool, true if not zero.
    IntToBool     b32  -> bool  keeps   cheap full   [0 1 0]  { u(x) x != 0 }
    BNot          bool -> bool  keeps   cheap full   [0 0 0]  { u32(x) x & 1 == 0 }
}

table! {
    /// Two operands of one type, but for shift counts; it picks the form as in [`Un`].
    Bin (p q) {
    // op         operands  → result swap     NaN     if    width cost     lane
    FAdd         num  same  -> same  swaps   makes   cheap full  [1 0 0]  { f(x, y) x + y }
    FSub         num  same  -> same  ordered  makes   cheap full  [1 0 0]  { f(x, y) x - y }
    FMul         num  same  -> same  swaps   makes   cheap full  [1 0 0]  { f(x, y) x * y }
    /// The three with a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
    FAddCanon    b32  same  -> b32   swaps   settles cheap full  [1 0 0]  { f32(x, y) x + y }
    FSubCanon    b32  same  -> b32   ordered  settles cheap full  [1 0 0]  { f32(x, y) x - y }
    FMulCanon    b32  same  -> b32   swaps   settles cheap full  [1 0 0]  { f32(x, y) x * y }
    /// a·a + b·b and a·a − b·b, each product rounded; 32 bits only. [`crate::pass::squares`] makes them.
    FSumSquares  b32  same  -> b32   swaps   makes   cheap full  [2 0 0]  { f32(x, y) x * x + y * y }
    FDiffSquares b32  same  -> b32   ordered  makes   cheap full  [2 0 0]  { f32(x, y) x * x - y * y }
    FDiv         num  same  -> same  ordered  makes   dear  full  [1 0 1]  { f(x, y) x / y }
    /// Of NaN and of zeros of two signs the second operand, which is a constant where one is.
    FMin         num  same  -> same  swaps   makes   cheap keep  [0 1 0]  { f(x, y) if x < y { x } else { y } }
    FMax         num  same  -> same  swaps   makes   cheap keep  [0 1 0]  { f(x, y) if x > y { x } else { y } }
    /// A NaN operand gives the other one; −0 < +0.
    NMin         num  same  -> same  swaps   makes   cheap keep  [0 1 0]  { f(x, y) x.n_min(y) }
    NMax         num  same  -> same  swaps   makes   cheap keep  [0 1 0]  { f(x, y) x.n_max(y) }
    FRem         num  same  -> same  ordered  makes   dear  full  [2 1 1]  {}
    FMod         num  same  -> same  ordered  makes   dear  full  [2 1 1]  {}
    FPow         b32  same  -> b32   ordered  makes   dear  full  [2 1 1]  {}
    FAtan2       b32  same  -> b32   ordered  makes   dear  full  [13 4 6]  {}
    FStep        num  same  -> same  ordered  keeps   cheap full  [0 1 0]  { f(x, y) x.step(y) }
    /// ldexp(float, i32 exponent as B32).
    FLdexp       num  count -> same  ordered  makes   dear  full  [1 0 0]  { f32(x, y) ldexp(x, y.to_bits() as i32) }
    // comparisons, result Bool; ordered (NaN → false) except FNe (NaN → true)
    FEq          num  same  -> bool  swaps   keeps   cheap full  [0 1 0]  { f(x, y) x == y }
    FNe          num  same  -> bool  swaps   keeps   cheap full  [0 1 0]  { f(x, y) x != y }
    FLt          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { f(x, y) x < y }
    FLe          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { f(x, y) x <= y }
    IAdd         num  same  -> same  swaps   keeps   cheap full  [0 1 0]  { u(x, y) x.wrapping_add(y) }
    ISub         num  same  -> same  ordered  keeps   cheap full  [0 1 0]  { u(x, y) x.wrapping_sub(y) }
    IMul         num  same  -> same  swaps   keeps   cheap full  [0 0 1]  { u(x, y) x.wrapping_mul(y) }
    UMulHi       num  same  -> same  swaps   keeps   cheap full  [0 0 1]  {
        u32(x, y) (x as u64 * y as u64) >> 32,
        u64(x, y) ((x as u128 * y as u128) >> 64) as u64
    }
    SMulHi       num  same  -> same  swaps   keeps   cheap full  [0 0 1]  {
        i32(x, y) ((x as i64 * y as i64) >> 32) as i32,
        i64(x, y) ((x as i128 * y as i128) >> 64) as i64
    }
    /// The products of four bytes each, added: all signed, all unsigned, those of the first operand alone signed.
    SDot4        b32  same  -> b32   swaps   keeps   cheap full  [1 0 0]  { u32(x, y) dot4(x, y, [true; 2]) }
    UDot4        b32  same  -> b32   swaps   keeps   cheap full  [1 0 0]  { u32(x, y) dot4(x, y, [false; 2]) }
    SUDot4       b32  same  -> b32   ordered  keeps   cheap full  [1 0 0]  { u32(x, y) dot4(x, y, [true, false]) }
    /// Division by zero gives 0 (quotient) or the dividend (remainder): never a trap. MIN / −1 = MIN, rem 0.
    UDiv         num  same  -> same  ordered  keeps   dear  full  [4 6 5]  { u(x, y) x.checked_div(y).unwrap_or(0) }
    URem         num  same  -> same  ordered  keeps   dear  full  [4 7 6]  { u(x, y) x.checked_rem(y).unwrap_or(x) }
    SDiv         num  same  -> same  ordered  keeps   dear  full  [4 6 5]  { s(x, y) if y == 0 { 0 } else { x.wrapping_div(y) } }
    SRem         num  same  -> same  ordered  keeps   dear  full  [4 7 6]  { s(x, y) if y == 0 { x } else { x.wrapping_rem(y) } }
    SMod         num  same  -> same  ordered  keeps   dear  full  [4 8 6]  { s(x, y) x.floor_mod(y) }
    And          num  same  -> same  swaps   keeps   cheap keep  [0 0 1]  { u(x, y) x & y }
    Or           num  same  -> same  swaps   keeps   cheap keep  [0 0 1]  { u(x, y) x | y }
    Xor          num  same  -> same  swaps   keeps   cheap keep  [0 0 1]  { u(x, y) x ^ y }
    /// Shift counts (B32 for either width) are taken modulo the width.
    Shl          num  count -> same  ordered  keeps   cheap full  [0 0 1]  { u(x, y) x.wrapping_shl(y as u32) }
    LShr         num  count -> same  ordered  keeps   cheap full  [0 0 1]  { u(x, y) x.wrapping_shr(y as u32) }
    AShr         num  count -> same  ordered  keeps   cheap full  [0 0 1]  { s(x, y) x.wrapping_shr(y as u32) }
    SMin         num  same  -> same  swaps   keeps   cheap full  [0 1 0]  { s(x, y) x.min(y) }
    SMax         num  same  -> same  swaps   keeps   cheap full  [0 1 0]  { s(x, y) x.max(y) }
    UMin         num  same  -> same  swaps   keeps   cheap full  [0 1 0]  { u(x, y) x.min(y) }
    UMax         num  same  -> same  swaps   keeps   cheap full  [0 1 0]  { u(x, y) x.max(y) }
    IEq          num  same  -> bool  swaps   keeps   cheap full  [0 1 0]  { u(x, y) x == y }
    INe          num  same  -> bool  swaps   keeps   cheap full  [0 1 0]  { u(x, y) x != y }
    SLt          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { s(x, y) x < y }
    SLe          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { s(x, y) x <= y }
    ULt          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { u(x, y) x < y }
    ULe          num  same  -> bool  ordered  keeps   cheap full  [0 1 0]  { u(x, y) x <= y }
    /// Bit-field mask: ((count ≥ 32 ? ~0 : (1 << count) − 1) << (offset & 31)); operands (count, offset).
    BitMask      b32  same  -> b32   ordered  keeps   cheap full  [0 1 2]  { u32(x, y) ones(x) << (y & 31) }
    /// (low, high) words → B64.
    Pack64       b32  same  -> b64   ordered  keeps   cheap full  [0 0 0]  { u32(x, y) x as u64 | (y as u64) << 32 }
    BAnd         bool same  -> bool  swaps   keeps   cheap full  [0 1 0]  { u32(x, y) x & y & 1 }
    BOr          bool same  -> bool  swaps   keeps   cheap full  [0 1 0]  { u32(x, y) (x | y) & 1 }
    BXor         bool same  -> bool  swaps   keeps   cheap full  [0 1 0]  { u32(x, y) (x ^ y) & 1 }
    }
}

table! {
    /// Three operands.
    Tri (p q r) {
    // op      operands          result   swap     NaN     if    width cost     lane
    /// Fused: one rounding.
    Fma       num same same    -> same   swaps   makes   cheap full  [1 0 0]  { f(x, y, z) x.mul_add(y, z) }
    /// With a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
    FmaCanon  num same same    -> same   swaps   settles cheap full  [1 0 0]  { f32(x, y, z) x.mul_add(y, z) }
    /// (cond: Bool, a, b); also on Bool operands.
    Select    bool any same    -> same   ordered  keeps   cheap keep  [0 1 0]  { bits(c, x, y) if c & 1 == 1 { x } else { y } }
    /// (m & a) | (!m & b)
    BitSelect num same same    -> same   ordered  keeps   cheap full  [0 0 1]  { u(m, x, y) m & x | !m & y }
    /// Bit field extract: (value, offset, count); count 0 → 0.
    UBfe      num count count  -> same   ordered  keeps   cheap full  [0 0 2]  {
        u32(x, o, n) field(x.into(), o.into(), n.into(), 32) as u32,
        u64(x, o, n) field(x, o, n, 64)
    }
    SBfe      num count count  -> same   ordered  keeps   cheap full  [0 0 2]  {
        u32(x, o, n) signed_field(x.into(), o.into(), n.into(), 32) as u32,
        u64(x, o, n) signed_field(x, o, n, 64)
    }
    /// GLSL mix: x·(1−a)+y·a evaluated as fma(a, y, fma(−a, x, x)); (x, y, a)
    FMix      num same same    -> same   ordered  makes   cheap full  [2 0 0]  { f(x, y, a) a.mul_add(y, (-a).mul_add(x, x)) }
    /// FMin(FMax(x, lo), hi); (x, lo, hi)
    FClamp    num same same    -> same   ordered  makes   cheap full  [0 2 0]  {
        f(x, lo, hi) {
            let x = if x > lo { x } else { lo };
            if x < hi { x } else { hi }
        }
    }
    }
}

//! What an instruction computes, by name: arithmetic of one to three operands, atomics, reductions, quads.

/// An enum of ops, and the list of them in order.
macro_rules! ops {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $op:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$note])* $op,)*
        }
        impl $name {
            /// All ops, by number.
            pub const ALL: &'static [$name] = &[$($name::$op,)*];
            /// The op of a number, as in `op as u16`.
            pub fn from_number(n: u16) -> Option<$name> {
                Self::ALL.get(n as usize).copied()
            }
        }
    };
}

ops! {
    /// One operand. The operand's `Ty` picks the 32- or 64-bit form; floats of 64 bits are f64.
    #[repr(u16)]
    Un {
        Mov,
        FNeg,
        FAbs,
        FSqrt,
        FRsqrt,
        FRcp,
        FFloor,
        FCeil,
        FTrunc,
        FRoundEven,
        FFract,
        /// Zeros stay; NaN → +0.
        FSign,
        FSaturate,
        // GLSL.std.450, f32 only
        FExp2,
        FLog2,
        FExp,
        FLog,
        FSin,
        FCos,
        FTan,
        FAsin,
        FAcos,
        FAtan,
        FSinh,
        FCosh,
        FTanh,
        FAsinh,
        FAcosh,
        FAtanh,
        /// f32 → f32 of the nearest f16 value (round to nearest even, overflow to infinity, denormals kept).
        F16Round,
        /// As [`Un::F16Round`], rounding toward zero.
        F16RoundRtz,
        /// OpQuantizeToF16: as [`Un::F16Round`], results that are f16 denormals become zero of the same sign.
        F16Quantize,
        /// f32 that is an f16 value → its 16 bits, zero-extended; and back.
        F16ToBits,
        BitsToF16,
        /// Denormal f32 or f64 → zero of the same sign.
        FlushDenorm,
        /// Any NaN → the quiet NaN of sign 0 without payload; all else stays. Where floats become bits (see `pass::nan`).
        FCanon,
        /// FClass tests, result Bool.
        FIsNan,
        FIsInf,
        /// frexp: significand (float) and exponent (i32, result B32 for either width).
        FrexpSig,
        FrexpExp,
        INeg,
        IAbs,
        ISign,
        Not,
        BitReverse,
        BitCount,
        /// Index of the lowest set bit / highest bit (unsigned) / highest bit that differs from the sign; −1 for none.
        FindLsb,
        FindUMsb,
        FindSMsb,
        SExt8,
        SExt16,
        ZExt8,
        ZExt16,
        // conversions; names say from and to. Float to int: truncation, saturating, NaN → 0.
        F32ToS32,
        F32ToU32,
        S32ToF32,
        U32ToF32,
        F32ToF64,
        F64ToF32,
        F64ToS32,
        F64ToU32,
        S32ToF64,
        U32ToF64,
        F32ToS64,
        F32ToU64,
        S64ToF32,
        U64ToF32,
        F64ToS64,
        F64ToU64,
        S64ToF64,
        U64ToF64,
        /// f64 → the f32 of the nearest f16 value, rounded once.
        F64ToF16,
        S32ToS64,
        U32ToU64,
        /// B64 → its low / high word.
        Lo32,
        Hi32,
        // packing, GLSL.std.450 (one component each is enough; translation combines them)
        /// f32 → 8/16 bit norm code in the low bits.
        PackUnorm8,
        PackSnorm8,
        PackUnorm16,
        PackSnorm16,
        UnpackUnorm8,
        UnpackSnorm8,
        UnpackUnorm16,
        UnpackSnorm16,
        /// Bool → 0 or 1 (B32).
        BoolToInt,
        /// B32 → Bool, true if not zero.
        IntToBool,
        BNot,
    }
}

ops! {
    /// Two operands of one type, but for shift counts; it picks the form as in [`Un`].
    #[repr(u16)]
    Bin {
        FAdd,
        FSub,
        FMul,
        /// The three with a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
        FAddCanon,
        FSubCanon,
        FMulCanon,
        /// a·a + b·b and a·a − b·b, each product rounded; 32 bits only. [`crate::pass::squares`] makes them.
        FSumSquares,
        FDiffSquares,
        FDiv,
        /// GLSL.std.450 FMin/FMax are the N forms: a NaN operand gives the other one; −0 < +0.
        FMin,
        FMax,
        FRem,
        FMod,
        FPow,
        FAtan2,
        FStep,
        /// ldexp(float, i32 exponent as B32).
        FLdexp,
        // comparisons, result Bool; ordered (NaN → false) except FNe (NaN → true)
        FEq,
        FNe,
        FLt,
        FLe,
        IAdd,
        ISub,
        IMul,
        UMulHi,
        SMulHi,
        /// Division by zero gives 0 (quotient) or the dividend (remainder): never a trap. MIN / −1 = MIN, rem 0.
        UDiv,
        URem,
        SDiv,
        SRem,
        SMod,
        And,
        Or,
        Xor,
        /// Shift counts (B32 for either width) are taken modulo the width.
        Shl,
        LShr,
        AShr,
        SMin,
        SMax,
        UMin,
        UMax,
        IEq,
        INe,
        SLt,
        SLe,
        ULt,
        ULe,
        /// Bit-field mask: ((count ≥ 32 ? ~0 : (1 << count) − 1) << (offset & 31)); operands (count, offset).
        BitMask,
        /// (low, high) words → B64.
        Pack64,
        BAnd,
        BOr,
        BXor,
    }
}

ops! {
    /// Three operands.
    #[repr(u16)]
    Tri {
        /// Fused: one rounding.
        Fma,
        /// With a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
        FmaCanon,
        /// (cond: Bool, a, b); also on Bool operands.
        Select,
        /// (m & a) | (!m & b)
        BitSelect,
        /// Bit field extract: (value, offset, count); count 0 → 0.
        UBfe,
        SBfe,
        /// GLSL mix: x·(1−a)+y·a evaluated as fma(a, y, fma(−a, x, x)); (x, y, a)
        FMix,
        /// min(max(x, lo), hi) with the N forms; (x, lo, hi)
        FClamp,
    }
}

ops! {
    /// What an atomic does to memory or a texel.
    #[repr(u8)]
    AtomicOp {
        Load,
        Store,
        Exchange,
        CompareExchange,
        IAdd,
        ISub,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMin,
        FMax,
    }
}

ops! {
    /// What combines the lanes of a warp.
    #[repr(u8)]
    ReduceOp {
        IAdd,
        IMul,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMul,
        FMin,
        FMax,
    }
}

/// Which lanes a reduction takes in: all of the cluster, or those up to the lane with it or without.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
}

ops! {
    /// Lane patterns within a quad of four consecutive lanes.
    #[repr(u8)]
    Quad {
        Broadcast0,
        Broadcast1,
        Broadcast2,
        Broadcast3,
        /// lane ^ 1, lane ^ 2, lane ^ 3
        SwapX,
        SwapY,
        SwapDiagonal,
        /// Lane & 2 (left of the row), lane | 1 (right), lane & 1 (top), lane | 2 (bottom): for fine derivatives.
        Left,
        Right,
        Top,
        Bottom,
    }
}

//! Pairs: two lane-wise ops of 32 bits as one, where the second is the only reader of the first's result. A register
//! that nobody else reads is neither written nor read, and an op is dispatched less.
//!
//! The list is here once: lowering looks pairs up in it, the wave engine makes its kernels from it.

use crate::bytecode::Code;
use crate::ir::{Bin, Tri, Ty, Un};

/// Calls a macro with all pairs: first op, second op, which operand of the second is the first's result. An op is
/// written with its kind. Of operands that may be swapped only the first is listed.
#[macro_export]
macro_rules! pairs {
    ($then:ident) => {
        $then! {
            bin FMul > bin FAdd 0; bin FMul > bin FSub 0; bin FMul > bin FSub 1; bin FMul > bin FMul 0;
            bin FMul > tri Fma 0; bin FMul > tri Fma 2; bin FMul > un FFract 0; bin FMul > un FFloor 0;
            bin FMul > bin FMin 0; bin FMul > bin FMin 1; bin FMul > bin FMax 0; bin FMul > bin FMax 1;
            bin FMul > tri FClamp 0; bin FMul > tri FMix 0; bin FMul > tri FMix 1; bin FMul > tri FMix 2;
            bin FMul > bin FDiv 0; bin FMul > bin FDiv 1; bin FMul > un FSqrt 0; bin FMul > un FRsqrt 0;
            bin FMul > un F32ToU32 0; bin FMul > un F32ToS32 0;
            bin FAdd > bin FAdd 0; bin FAdd > bin FSub 0; bin FAdd > bin FSub 1; bin FAdd > bin FMul 0;
            bin FAdd > tri Fma 0; bin FAdd > tri Fma 2; bin FAdd > un FFract 0; bin FAdd > un FFloor 0;
            bin FAdd > bin FMin 0; bin FAdd > bin FMin 1; bin FAdd > bin FMax 0; bin FAdd > bin FMax 1;
            bin FAdd > tri FClamp 0; bin FAdd > tri FMix 0; bin FAdd > tri FMix 1; bin FAdd > bin FDiv 0;
            bin FAdd > bin FDiv 1; bin FAdd > un FSqrt 0; bin FAdd > un FAbs 0;
            bin FSub > bin FAdd 0; bin FSub > bin FSub 0; bin FSub > bin FSub 1; bin FSub > bin FMul 0;
            bin FSub > tri Fma 0; bin FSub > tri Fma 2; bin FSub > un FAbs 0; bin FSub > bin FMax 0;
            bin FSub > bin FMin 0; bin FSub > bin FDiv 0; bin FSub > tri FClamp 0; bin FSub > un FFract 0;
            tri Fma > bin FAdd 0; tri Fma > bin FSub 0; tri Fma > bin FSub 1; tri Fma > bin FMul 0;
            tri Fma > tri Fma 0; tri Fma > tri Fma 2; tri Fma > un FFract 0; tri Fma > un FFloor 0;
            tri Fma > bin FMin 0; tri Fma > bin FMin 1; tri Fma > bin FMax 0; tri Fma > bin FMax 1;
            tri Fma > un FSqrt 0; tri Fma > un FRsqrt 0; tri Fma > un FAbs 0; tri Fma > tri FMix 0;
            tri Fma > tri FMix 1; tri Fma > tri FMix 2; tri Fma > tri FClamp 0; tri Fma > un F32ToU32 0;
            tri Fma > un F32ToS32 0;
            tri FMix > bin FAdd 0; tri FMix > bin FMul 0; tri FMix > tri Fma 0; tri FMix > tri Fma 2;
            tri FMix > tri FMix 0; tri FMix > tri FMix 1;
            un FFract > bin FMul 0; un FFract > bin FAdd 0; un FFract > bin FSub 0; un FFract > tri Fma 0;
            un FFract > tri FMix 0; un FFract > tri FMix 1;
            un FFloor > bin FMul 0; un FFloor > bin FSub 1; un FFloor > bin FAdd 0; un FFloor > tri Fma 0;
            un FAbs > bin FAdd 0; un FAbs > bin FSub 0; un FAbs > bin FSub 1; un FAbs > bin FMul 0;
            un FAbs > un FNeg 0; un FAbs > bin FMax 0; un FAbs > bin FMin 0; un FAbs > tri Fma 0;
            un FNeg > bin FMul 0; un FNeg > tri Fma 0; un FNeg > bin FMax 0;
            bin FMax > bin FAdd 0; bin FMax > bin FSub 0; bin FMax > bin FSub 1; bin FMax > bin FMul 0;
            bin FMax > bin FMin 0; bin FMax > bin FMin 1; bin FMax > bin FMax 0; bin FMax > bin FMax 1;
            bin FMax > tri Fma 0; bin FMax > tri Fma 2; bin FMax > un FSqrt 0;
            bin FMin > bin FAdd 0; bin FMin > bin FSub 0; bin FMin > bin FSub 1; bin FMin > bin FMul 0;
            bin FMin > bin FMax 0; bin FMin > bin FMax 1; bin FMin > bin FMin 0; bin FMin > bin FMin 1;
            tri FClamp > bin FMul 0; tri FClamp > bin FAdd 0; tri FClamp > bin FSub 1; tri FClamp > tri Fma 0;
            tri FClamp > tri FMix 2; tri FClamp > un FSqrt 0;
            bin FDiv > bin FAdd 0; bin FDiv > bin FSub 0; bin FDiv > bin FSub 1; bin FDiv > bin FMul 0;
            un FSqrt > bin FAdd 0; un FSqrt > bin FSub 0; un FSqrt > bin FSub 1; un FSqrt > bin FMul 0;
            un FRsqrt > bin FMul 0; un FRcp > bin FMul 0;
            un U32ToF32 > bin FMul 0; un U32ToF32 > bin FAdd 0; un U32ToF32 > tri Fma 0;
            un S32ToF32 > bin FMul 0; un S32ToF32 > bin FAdd 0; un S32ToF32 > tri Fma 0;
            bin IAdd > bin IAdd 0; bin IAdd > bin IMul 0; bin IAdd > bin Shl 0; bin IAdd > bin LShr 0;
            bin IAdd > bin And 0; bin IAdd > bin Xor 0; bin IAdd > un U32ToF32 0; bin IAdd > un S32ToF32 0;
            bin ISub > bin IAdd 0; bin ISub > bin IMul 0;
            bin IMul > bin IAdd 0; bin IMul > bin IMul 0; bin IMul > bin Xor 0;
            bin Shl > bin IAdd 0; bin Shl > bin Or 0; bin Shl > bin Xor 0;
            bin LShr > bin And 0; bin LShr > bin Xor 0; bin LShr > bin Or 0; bin LShr > bin IAdd 0;
            bin And > bin IAdd 0; bin And > bin Or 0; bin And > bin Xor 0; bin And > bin Shl 0;
            bin And > bin LShr 0; bin And > un U32ToF32 0; bin And > un S32ToF32 0;
            bin Xor > bin IMul 0; bin Xor > bin And 0; bin Xor > bin Xor 0; bin Xor > bin IAdd 0;
            bin Or > bin Or 0;
            bin FSumSquares > bin FAdd 0; bin FSumSquares > bin FSub 0; bin FSumSquares > bin FMul 0;
            bin FSumSquares > un FSqrt 0; bin FSumSquares > un FRsqrt 0; bin FSumSquares > tri Fma 2;
            bin FDiffSquares > bin FAdd 0; bin FDiffSquares > bin FSub 0; bin FDiffSquares > bin FMul 0;
            bin FDiffSquares > tri Fma 2;
        }
    };
}

macro_rules! code {
    (un $op:ident) => {
        Code::un(Un::$op, Ty::B32)
    };
    (bin $op:ident) => {
        Code::bin(Bin::$op, Ty::B32)
    };
    (tri $op:ident) => {
        Code::tri(Tri::$op, Ty::B32)
    };
}
macro_rules! operands {
    (un) => {
        1
    };
    (bin) => {
        2
    };
    (tri) => {
        3
    };
}
macro_rules! list {
    ($($ka:ident $a:ident > $kb:ident $b:ident $at:literal;)*) => {
        /// All pairs, in the order of their codes.
        pub const PAIRS: &[Pair] = &[$(Pair {
            first: code!($ka $a),
            second: code!($kb $b),
            at: $at,
            split: operands!($ka),
            operands: operands!($ka) + operands!($kb) - 1,
            name: concat!(stringify!($a), ">", stringify!($b), ".", stringify!($at)),
        },)*];
    };
}

/// One pair: second(…, first(…), …).
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub first: Code,
    pub second: Code,
    /// Which operand of the second the first's result is.
    pub at: u8,
    /// Operands of the first, and of both (2 to 5): the first's, then the second's others.
    pub split: u8,
    pub operands: u8,
    pub name: &'static str,
}
pairs!(list);

/// Ops that occur in pairs have a small number here; 255: none.
const SMALL: [u8; Code::UNPAIRED] = {
    let mut t = [255; Code::UNPAIRED];
    let (mut i, mut n) = (0, 0);
    while i < PAIRS.len() {
        let mut k = 0;
        while k < 2 {
            let code = if k == 0 { PAIRS[i].first } else { PAIRS[i].second };
            if t[code.0 as usize] == 255 {
                t[code.0 as usize] = n;
                n += 1;
            }
            k += 1;
        }
        i += 1;
    }
    assert!(n < 64);
    t
};

/// Number of a pair + 1 by its first op, second op and place.
const BY_OPS: [[[u8; 3]; 64]; 64] = {
    let mut t = [[[0; 3]; 64]; 64];
    assert!(PAIRS.len() < 255);
    let mut i = 0;
    while i < PAIRS.len() {
        let p = &PAIRS[i];
        let (a, b) = (SMALL[p.first.0 as usize] as usize, SMALL[p.second.0 as usize] as usize);
        assert!(t[a][b][p.at as usize] == 0);
        t[a][b][p.at as usize] = i as u8 + 1;
        i += 1;
    }
    t
};

/// The pair of `second` with `first` as its operand `at`.
pub fn find(first: Code, second: Code, at: usize) -> Option<(Code, &'static Pair)> {
    let a = *SMALL.get(first.0 as usize)?;
    let b = *SMALL.get(second.0 as usize)?;
    if a == 255 || b == 255 {
        return None;
    }
    let i = BY_OPS[a as usize][b as usize][at] as usize;
    (i != 0).then(|| (Code::pair(i - 1), &PAIRS[i - 1]))
}

/// The pair that `code` is.
pub fn of(code: Code) -> Option<&'static Pair> {
    PAIRS.get((code.0 as usize).checked_sub(Code::UNPAIRED)?)
}

/// Operands 0 and 1 may be swapped: the op is one where they may, and both places are not listed apart.
pub fn swaps(code: Code) -> bool {
    SWAPS.get(code.0 as usize).is_some_and(|s| *s)
}

const SWAPS: [bool; Code::UNPAIRED] = {
    let mut t = [false; Code::UNPAIRED];
    let mut i = 0;
    while i < Bin::ALL.len() {
        t[Code::bin(Bin::ALL[i], Ty::B32).0 as usize] = Bin::ALL[i].facts().commutes;
        i += 1;
    }
    i = 0;
    while i < Tri::ALL.len() {
        t[Code::tri(Tri::ALL[i], Ty::B32).0 as usize] = Tri::ALL[i].facts().commutes;
        i += 1;
    }
    i = 0;
    while i < PAIRS.len() {
        if PAIRS[i].at == 1 {
            t[PAIRS[i].second.0 as usize] = false;
        }
        i += 1;
    }
    t
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_found_again() {
        for (i, p) in PAIRS.iter().enumerate() {
            let (code, found) = find(p.first, p.second, p.at as usize).expect(p.name);
            assert_eq!((code, found.name), (Code::pair(i), p.name));
            assert_eq!(of(code).map(|f| f.name), Some(p.name));
            assert!(p.at == 0 || !swaps(p.second) || p.at == 2, "{}: operands that may be swapped", p.name);
        }
        assert!(find(Code::END, Code::END, 0).is_none());
        assert!(of(Code::END).is_none());
    }
}

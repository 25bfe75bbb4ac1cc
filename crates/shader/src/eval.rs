//! One-lane reference of every exact operation of the IR: what constant folding uses and kernels are tested against.
//! What each op computes is the last column of its row in [`crate::isa`].
//!
//! Values are raw bits in the low end of a `u64`: Bool 0 or 1, B32 zero-extended. `ty` is the operand's type as in
//! [`crate::bytecode::Code`] (for `Select` the result's). `None` means that the operation is not exact
//! (transcendental or without one agreed rounding) and kernels define it.

use crate::ir::{Bin, Tri, Ty, Un};

pub use crate::isa::is_nan;

/// One operand.
pub fn un(op: Un, ty: Ty, a: u64) -> Option<u64> {
    op.lane(ty == Ty::B64, a)
}

/// Two operands; `ty` is the first one's.
pub fn bin(op: Bin, ty: Ty, a: u64, b: u64) -> Option<u64> {
    op.lane(ty == Ty::B64, a, b)
}

/// Three operands. `ty`: the result's type for `Select`, else the first operand's.
pub fn tri(op: Tri, ty: Ty, a: u64, b: u64, c: u64) -> Option<u64> {
    op.lane(ty == Ty::B64, a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: f32) -> u64 {
        x.to_bits() as u64
    }

    #[test]
    fn corners() {
        assert_eq!(bin(Bin::NMin, Ty::B32, f(0.0), f(-0.0)), Some(f(-0.0)));
        assert_eq!(bin(Bin::NMin, Ty::B32, f(-0.0), f(0.0)), Some(f(-0.0)));
        assert_eq!(bin(Bin::NMax, Ty::B32, f(-0.0), f(0.0)), Some(0));
        assert_eq!(bin(Bin::NMax, Ty::B32, f(0.0), f(-0.0)), Some(0));
        assert_eq!(bin(Bin::NMax, Ty::B32, f(f32::NAN), f(2.0)), Some(f(2.0)));
        assert_eq!(bin(Bin::FMax, Ty::B32, f(f32::NAN), f(2.0)), Some(f(2.0)));
        assert_eq!(bin(Bin::FMin, Ty::B32, f(-3.0), f(2.0)), Some(f(-3.0)));
        assert_eq!(tri(Tri::FClamp, Ty::B32, f(f32::NAN), f(-1.0), f(2.0)), Some(f(-1.0)));
        assert_eq!(bin(Bin::SMod, Ty::B32, -7i32 as u32 as u64, 3), Some(2));
        assert_eq!(bin(Bin::SMod, Ty::B32, 7, -3i32 as u32 as u64), Some(-2i32 as u32 as u64));
        assert_eq!(bin(Bin::SDiv, Ty::B32, 0x8000_0000, 0xFFFF_FFFF), Some(0x8000_0000));
        assert_eq!(bin(Bin::SRem, Ty::B32, 0x8000_0000, 0xFFFF_FFFF), Some(0));
        assert_eq!(bin(Bin::URem, Ty::B32, 7, 0), Some(7));
        assert_eq!(tri(Tri::SBfe, Ty::B32, 0xF0, 4, 4), Some(0xFFFF_FFFF));
        assert_eq!(tri(Tri::UBfe, Ty::B32, 0xF0, 4, 4), Some(0xF));
        assert_eq!(tri(Tri::UBfe, Ty::B32, 0xF0, 4, 0), Some(0));
        assert_eq!(un(Un::FrexpExp, Ty::B32, f(f32::from_bits(1))), Some((-148i32) as u32 as u64));
        assert_eq!(un(Un::FrexpSig, Ty::B32, f(8.0)), Some(f(0.5)));
        assert_eq!(bin(Bin::FLdexp, Ty::B32, f(1.0), (-149i32) as u32 as u64), Some(1));
        assert_eq!(un(Un::FindSMsb, Ty::B32, 0xFFFF_FFFF), Some(0xFFFF_FFFF));
        assert_eq!(un(Un::F32ToS32, Ty::B32, f(f32::NAN)), Some(0));
        assert_eq!(un(Un::F32ToU32, Ty::B32, f(-1.0)), Some(0));
        assert_eq!(un(Un::PackSnorm8, Ty::B32, f(-2.0)), Some(0x81));
        assert_eq!(bin(Bin::BitMask, Ty::B32, 4, 8), Some(0xF00));
    }
}

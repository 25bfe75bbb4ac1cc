//! Scalars in memory and in registers.

use half::f16;
use std::mem::MaybeUninit;

/// One kind of scalar in memory. Accesses are unaligned and by raw pointer: other threads may write the same bytes at
/// the same time, as on any GPU; the values then are whatever the CPU gives.
pub trait Cell {
    /// The register's lane.
    type Lane: Copy + Default;
    /// Bytes in memory.
    const SIZE: u32;
    /// # Safety
    /// `p` is good for that many bytes.
    unsafe fn read(p: *const u8) -> Self::Lane;
    /// # Safety
    /// As [`Cell::read`].
    unsafe fn write(p: *mut u8, v: Self::Lane);
}

macro_rules! cells {
    ($($name:ident $mem:ty, $lane:ty, $size:expr, |$x:ident| $rd:expr, |$y:ident| $wr:expr;)*) => {
        $(pub struct $name;
        impl Cell for $name {
            type Lane = $lane;
            const SIZE: u32 = $size;
            #[inline(always)]
            unsafe fn read(p: *const u8) -> $lane {
                // SAFETY: the caller's.
                let $x = unsafe { (p as *const $mem).read_unaligned() };
                $rd
            }
            #[inline(always)]
            unsafe fn write(p: *mut u8, $y: $lane) {
                // SAFETY: the caller's.
                unsafe { (p as *mut $mem).write_unaligned($wr) };
            }
        })*
    };
}
cells! {
    C8 u8, u32, 1, |x| x as u32, |y| y as u8;
    C16 u16, u32, 2, |x| x as u32, |y| y as u16;
    CF16 u16, u32, 2, |x| f16_to_f32(x), |y| f32_to_f16(y);
    C32 u32, u32, 4, |x| x, |y| y;
    C64 u64, u64, 8, |x| x, |y| y;
}

/// Bits of the f32 of the same value; NaNs become quiet and keep their payload.
#[inline(always)]
pub fn f16_to_f32(h: u16) -> u32 {
    let m = (h as u32 & 0x7FFF) << 13;
    let sign = (h as u32 & 0x8000) << 16;
    let v = if m >= 0x0F80_0000 {
        m | 0x7F80_0000 | if m > 0x0F80_0000 { 0x0040_0000 } else { 0 }
    } else if m >= 0x0080_0000 {
        // The exponent's bias is 127, no longer 15.
        m + (112 << 23)
    } else {
        // Denormals count in steps of 2^-24. By no float whose exponent is 0: the CPU may flush those.
        ((m >> 13) as f32 * f32::from_bits(0x3380_0000)).to_bits()
    };
    v | sign
}

/// Bits of the nearest f16 (ties to even) of an f32 given by bits; NaNs become quiet.
#[inline(always)]
pub fn f32_to_f16(f: u32) -> u16 {
    if f & 0x7FFF_FFFF > 0x7F80_0000 {
        return (f >> 16 & 0x8000) as u16 | 0x7E00 | (f >> 13 & 0x1FF) as u16;
    }
    f16::from_f32_const(f32::from_bits(f)).to_bits()
}

/// A word of each lane, for values on their way between memory and registers.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Row(MaybeUninit<[u32; 16]>);

impl Row {
    pub const NEW: Row = Row(MaybeUninit::uninit());
    #[inline(always)]
    pub fn at(&mut self) -> *mut u32 {
        self.0.as_mut_ptr().cast()
    }
}

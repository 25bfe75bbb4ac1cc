//! Types of elements, and their conversion to and from the types that are computed with: f32, f64 and i64.

use std::mem::MaybeUninit;

/// The type of a tensor's elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A byte that is 0 or 1.
    Bool,
    I8,
    I16,
    I32,
    /// In eight bytes, as SPIR-V has it.
    I48,
    F8E4M3,
    F8E5M2,
    F16,
    BF16,
    F32,
}

/// A set of types.
pub(crate) type Set = u16;

impl Type {
    pub const ALL: [Type; 10] = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I48,
        Type::F8E4M3,
        Type::F8E5M2,
        Type::F16,
        Type::BF16,
        Type::F32,
    ];

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Type::Bool | Type::I8 | Type::F8E4M3 | Type::F8E5M2 => 1,
            Type::I16 | Type::F16 | Type::BF16 => 2,
            Type::I32 | Type::F32 => 4,
            Type::I48 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        self.is_in(F8 | FLOAT)
    }

    pub(crate) fn is_in(self, set: Set) -> bool {
        set & self.bit() != 0
    }

    pub(crate) const fn bit(self) -> Set {
        1 << self as u16
    }

    /// The least and the greatest integer of the type.
    pub(crate) fn range(self) -> [i64; 2] {
        match self {
            Type::Bool => [0, 1],
            Type::I8 => [i8::MIN as i64, i8::MAX as i64],
            Type::I16 => [i16::MIN as i64, i16::MAX as i64],
            Type::I48 => [-(1 << 47), (1 << 47) - 1],
            _ => [i32::MIN as i64, i32::MAX as i64],
        }
    }
}

/// f16, bf16 and f32.
pub(crate) const FLOAT: Set = Type::F16.bit() | Type::BF16.bit() | Type::F32.bit();
pub(crate) const F8: Set = Type::F8E4M3.bit() | Type::F8E5M2.bit();
/// Of 8, 16 and 32 bits.
pub(crate) const INT: Set = Type::I8.bit() | Type::I16.bit() | Type::I32.bit();
/// All that layouts of data are changed of.
pub(crate) const ANY: Set = INT | FLOAT | F8 | Type::Bool.bit();

/// Without branches, so that compilers use vectors.
fn from_f16(h: u16) -> f32 {
    let m = (h & 0x7fff) as u32;
    let exponent = if m >= 0x7c00 { 224 << 23 } else { 112 << 23 };
    // Denormals are multiples of 2^-24.
    let denormal = (m as i32 as f32 * (1.0 / 16_777_216.0)).to_bits();
    let value = if m < 0x400 { denormal } else { (m << 13) + exponent };
    f32::from_bits(value | (h as u32 & 0x8000) << 16)
}

/// Rounds to nearest even a float with `mantissa` bits, whose least normal exponent is `low`; bits without a sign. What is above all finite
/// ones carries into the exponent.
fn rounded(magnitude: u32, mantissa: u32, low: i32) -> u32 {
    let shift = 23 - mantissa;
    let least = ((low + 127) as u32) << 23;
    if magnitude < least {
        // The sum's last bit is worth one of the least denormal.
        let one = ((low - mantissa as i32 + 23 + 127) as u32) << 23;
        return (f32::from_bits(magnitude) + f32::from_bits(one)).to_bits() - one;
    }
    let up = (1 << (shift - 1)) - 1 + ((magnitude >> shift) & 1);
    (magnitude + up - least + (1 << 23)) >> shift
}

fn to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let (sign, magnitude) = ((bits >> 16 & 0x8000) as u16, bits & 0x7fff_ffff);
    match magnitude {
        m if m > 0x7f80_0000 => 0x7e00,
        m if m >= 0x4780_0000 => sign | 0x7c00,
        m => sign | rounded(m, 10, -14) as u16,
    }
}

fn to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        return 0x7fc0;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn from_e4m3(b: u8) -> f32 {
    let value = match (b & 0x78, b & 0x7f) {
        (_, 0x7f) => f32::NAN,
        (0, m) => m as f32 / 512.0,
        (_, m) => f32::from_bits(((m as u32) << 20) + (120 << 23)),
    };
    if b & 0x80 != 0 { -value } else { value }
}

/// Without infinities: what is too large is NaN (OFP8, non-saturating).
fn to_e4m3(x: f32) -> u8 {
    let bits = x.to_bits();
    let (sign, magnitude) = ((bits >> 24 & 0x80) as u8, bits & 0x7fff_ffff);
    // 464 is midway between the greatest value and what would follow it.
    if magnitude > 464f32.to_bits() { 0x7f } else { sign | rounded(magnitude, 3, -6) as u8 }
}

fn to_e5m2(x: f32) -> u8 {
    let bits = x.to_bits();
    let (sign, magnitude) = ((bits >> 24 & 0x80) as u8, bits & 0x7fff_ffff);
    match magnitude {
        m if m > 0x7f80_0000 => 0x7e,
        m if m >= 0x4780_0000 => sign | 0x7c,
        m => sign | rounded(m, 2, -14) as u8,
    }
}

/// A type that is computed with.
pub(crate) trait Wide: Copy + Default + PartialOrd + Send + Sync + 'static {
    fn of_int(v: i64) -> Self;
    fn of_float(v: f32) -> Self;
    fn int(self) -> i64;
    fn float(self) -> f32;
    /// The bytes of elements that are computed with as they lie in memory.
    fn stored(_of: Type, _all: &mut [Self]) -> Option<&mut [MaybeUninit<u8>]> {
        None
    }
}

impl Wide for f32 {
    fn stored(of: Type, all: &mut [f32]) -> Option<&mut [MaybeUninit<u8>]> {
        let (at, bytes) = (all.as_mut_ptr().cast(), size_of_val(all));
        // SAFETY: the same bytes, of which any are a float.
        (of == Type::F32 && cfg!(target_endian = "little"))
            .then(|| unsafe { std::slice::from_raw_parts_mut(at, bytes) })
    }
    fn of_int(v: i64) -> f32 {
        v as f32
    }
    fn of_float(v: f32) -> f32 {
        v
    }
    fn int(self) -> i64 {
        self as i64
    }
    fn float(self) -> f32 {
        self
    }
}

impl Wide for f64 {
    fn of_int(v: i64) -> f64 {
        v as f64
    }
    fn of_float(v: f32) -> f64 {
        v as f64
    }
    fn int(self) -> i64 {
        self as i64
    }
    fn float(self) -> f32 {
        self as f32
    }
}

/// Integers; the narrower ones are cut.
macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Wide for $ty {
            fn of_int(v: i64) -> $ty {
                v as $ty
            }
            fn of_float(v: f32) -> $ty {
                v as $ty
            }
            fn int(self) -> i64 {
                self as i64
            }
            fn float(self) -> f32 {
                self as f32
            }
        }
    )*};
}
integers! { i16 i32 i64 }

fn read<const N: usize, T: Wide>(raw: &[u8], out: &mut [T], one: impl Fn([u8; N]) -> T) {
    for (o, b) in out.iter_mut().zip(raw.as_chunks::<N>().0) {
        *o = one(*b);
    }
}

/// Elements of `ty` as wide ones.
pub(crate) fn widen<T: Wide>(ty: Type, raw: &[u8], out: &mut [T]) {
    match ty {
        Type::Bool => {
            let [no, yes] = [0, 1].map(T::of_int);
            read(raw, out, |b: [u8; 1]| if b[0] != 0 { yes } else { no });
        }
        Type::I8 => read(raw, out, |b: [u8; 1]| T::of_int(b[0] as i8 as i64)),
        Type::I16 => read(raw, out, |b| T::of_int(i16::from_le_bytes(b) as i64)),
        Type::I32 => read(raw, out, |b| T::of_int(i32::from_le_bytes(b) as i64)),
        Type::I48 => read(raw, out, |b| T::of_int(i64::from_le_bytes(b))),
        Type::F8E4M3 => read(raw, out, |b: [u8; 1]| T::of_float(from_e4m3(b[0]))),
        Type::F8E5M2 => read(raw, out, |b: [u8; 1]| T::of_float(from_f16((b[0] as u16) << 8))),
        Type::F16 => read(raw, out, |b| T::of_float(from_f16(u16::from_le_bytes(b)))),
        Type::BF16 => read(raw, out, |b| T::of_float(f32::from_bits((u16::from_le_bytes(b) as u32) << 16))),
        Type::F32 => read(raw, out, |b| T::of_float(f32::from_le_bytes(b))),
    }
}

fn write<const N: usize, T: Wide>(of: &[T], raw: &mut [u8], one: impl Fn(T) -> [u8; N]) {
    for (b, v) in raw.as_chunks_mut::<N>().0.iter_mut().zip(of) {
        *b = one(*v);
    }
}

/// A NaN without sign and payload, for these are the CPU's choice.
fn settled(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(0x7fc0_0000) } else { x }
}

/// Wide elements as those of `ty`: integers are cut, floats rounded to nearest even.
pub(crate) fn narrow<T: Wide>(ty: Type, of: &[T], raw: &mut [u8]) {
    match ty {
        Type::Bool => write(of, raw, |v| [(v != T::default()) as u8]),
        Type::I8 => write(of, raw, |v| [v.int() as u8]),
        Type::I16 => write(of, raw, |v| (v.int() as i16).to_le_bytes()),
        Type::I32 => write(of, raw, |v| (v.int() as i32).to_le_bytes()),
        Type::I48 => write(of, raw, |v| v.int().to_le_bytes()),
        Type::F8E4M3 => write(of, raw, |v| [to_e4m3(v.float())]),
        Type::F8E5M2 => write(of, raw, |v| [to_e5m2(v.float())]),
        Type::F16 => write(of, raw, |v| to_f16(v.float()).to_le_bytes()),
        Type::BF16 => write(of, raw, |v| to_bf16(v.float()).to_le_bytes()),
        Type::F32 => write(of, raw, |v| settled(v.float()).to_le_bytes()),
    }
}

/// What a float of this type would be if it were stored and read.
pub(crate) fn round(ty: Type, x: f32) -> f32 {
    match ty {
        Type::F16 => from_f16(to_f16(x)),
        Type::BF16 => f32::from_bits((to_bf16(x) as u32) << 16),
        Type::F8E4M3 => from_e4m3(to_e4m3(x)),
        Type::F8E5M2 => from_f16((to_e5m2(x) as u16) << 8),
        _ => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_float_comes_back() {
        for bits in 0..=u16::MAX {
            let x = from_f16(bits);
            if x.is_nan() {
                assert_eq!((bits & 0x7c00, to_f16(x)), (0x7c00, 0x7e00));
            } else {
                assert_eq!(to_f16(x), bits, "{x}");
            }
        }
        for b in 0..=u8::MAX {
            let (four, five) = (from_e4m3(b), from_f16((b as u16) << 8));
            assert!(to_e4m3(four) == b || four.is_nan() && b & 0x7f == 0x7f, "{b:#x} {four}");
            assert!(to_e5m2(five) == b || five.is_nan() && b & 0x7c == 0x7c, "{b:#x} {five}");
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        // Between 1 and 1 + 2^-10: the midpoint goes to the even one.
        assert_eq!(to_f16(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(to_f16(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!([to_f16(65519.0), to_f16(65520.0)], [0x7bff, 0x7c00]);
        // Half of the least denormal, and a little more.
        assert_eq!([to_f16(2f32.powi(-25)), to_f16(2f32.powi(-25) * 1.01)], [0, 1]);
        assert_eq!([to_e4m3(448.0), to_e4m3(464.0), to_e4m3(465.0), to_e4m3(-2.0)], [0x7e, 0x7e, 0x7f, 0xc0]);
        assert_eq!([to_e5m2(57344.0), to_e5m2(61440.0), to_e5m2(61439.0)], [0x7b, 0x7c, 0x7b]);
        assert_eq!(to_bf16(f32::from_bits(0x3f80_8000)), 0x3f80);
        assert_eq!(to_bf16(f32::from_bits(0x3f81_8000)), 0x3f82);
    }
}

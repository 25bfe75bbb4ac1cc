//! Texel codecs: a texel's bytes to a raw texel (`[u32; 4]`, see the module above) and back.
//!
//! [`Codec`] is implemented by zero-sized types for the formats programs really use, so that loops over rows and lanes
//! compile to straight code; [`Generic`] reads the component list of the format table and serves all others.

use super::warp::words;
use super::{ChannelClass, FormatInfo, NumClass, block::BlockKind, num};
use ash::vk;
use std::marker::PhantomData;

/// Reads and writes one texel.
pub trait Codec: Copy + Send + Sync + 'static {
    /// Bytes of a texel.
    fn size(self) -> usize;
    /// # Safety
    /// `p` must be readable for `size()` bytes; no alignment is asked.
    unsafe fn load(self, p: *const u8) -> [u32; 4];
    /// # Safety
    /// `p` must be writable for `size()` bytes; no alignment is asked.
    unsafe fn store(self, p: *mut u8, t: [u32; 4]);
    /// Sixteen texels at `base + offsets`, by channel.
    ///
    /// # Safety
    /// Every one of them must be readable.
    #[inline(always)]
    unsafe fn load16(self, base: *const u8, offsets: &[u64; 16], out: &mut [[u32; 16]; 4]) {
        // SAFETY: the caller has every texel readable.
        unsafe {
            for lane in 0..16 {
                let t = self.load(base.add(offsets[lane] as usize));
                for k in 0..4 {
                    out[k][lane] = t[k];
                }
            }
        }
    }
}

/// One component of a format whose components are all alike.
pub trait Elem: Copy + Send + Sync + 'static {
    const SIZE: usize;
    /// Bits of one, for a missing alpha.
    const ONE: u32;
    /// Channel of a component's bits; bits above its size are ignored.
    fn decode(bits: u32) -> u32;
    /// # Safety
    /// `p` must be readable for `SIZE` bytes; no alignment is asked.
    unsafe fn load(p: *const u8) -> u32;
    /// # Safety
    /// `p` must be writable for `SIZE` bytes; no alignment is asked.
    unsafe fn store(p: *mut u8, v: u32);
}

const ONE_F: u32 = 0x3f80_0000;

macro_rules! elems {
    ($($(#[$doc:meta])* $name:ident: $ty:ty, $one:expr, |$l:ident| $load:expr, |$s:ident| $store:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;
        impl Elem for $name {
            const SIZE: usize = size_of::<$ty>();
            const ONE: u32 = $one;
            #[inline(always)]
            fn decode(bits: u32) -> u32 {
                let $l = bits as $ty;
                $load
            }
            #[inline(always)]
            unsafe fn load(p: *const u8) -> u32 {
                // SAFETY: the caller has as many bytes readable there.
                Self::decode(unsafe { p.cast::<$ty>().read_unaligned() } as u32)
            }
            #[inline(always)]
            unsafe fn store(p: *mut u8, $s: u32) {
                // SAFETY: the caller has as many bytes writable there.
                unsafe { p.cast::<$ty>().write_unaligned($store) }
            }
        }
    )*};
}

elems! {
    Un8: u8, ONE_F, |v| (v as f32 / 255.0).to_bits(), |v| num::f32_to_unorm(f32::from_bits(v), 8) as u8;
    Sn8: i8, ONE_F, |v| num::snorm_to_f32(v as i32, 8).to_bits(), |v| num::f32_to_snorm(f32::from_bits(v), 8) as i8;
    Ui8: u8, 1, |v| v as u32, |v| v.min(255) as u8;
    Si8: i8, 1, |v| v as i32 as u32, |v| (v as i32).clamp(-128, 127) as i8;
    Un16: u16, ONE_F, |v| (v as f32 / 65535.0).to_bits(), |v| num::f32_to_unorm(f32::from_bits(v), 16) as u16;
    Sn16: i16, ONE_F, |v| num::snorm_to_f32(v as i32, 16).to_bits(), |v| num::f32_to_snorm(f32::from_bits(v), 16) as i16;
    Ui16: u16, 1, |v| v as u32, |v| v.min(65535) as u16;
    Si16: i16, 1, |v| v as i32 as u32, |v| (v as i32).clamp(-32768, 32767) as i16;
    F16: u16, ONE_F, |v| num::f16_to_f32(v).to_bits(), |v| num::f32_to_f16(f32::from_bits(v));
    F32: u32, ONE_F, |v| v, |v| v;
    /// 32-bit integers, of either sign.
    I32: u32, 1, |v| v, |v| v;
    /// The low 24 bits.
    D24: u32, ONE_F, |v| num::unorm_to_f32(v & 0xff_ffff, 24).to_bits(), |v| num::f32_to_unorm(f32::from_bits(v), 24);
    /// Eight bits through the sRGB curve.
    Srgb8: u8, ONE_F, |v| num::srgb8_to_f32(v).to_bits(), |v| num::f32_to_srgb8(f32::from_bits(v));
}

/// `N` like components in order R, G, B, A.
#[derive(Clone, Copy)]
pub struct Arr<E, const N: usize>(PhantomData<E>);

impl<E: Elem, const N: usize> Codec for Arr<E, N> {
    #[inline(always)]
    fn size(self) -> usize {
        E::SIZE * N
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> [u32; 4] {
        let mut t = [0, 0, 0, E::ONE];
        for (i, c) in t.iter_mut().enumerate().take(N) {
            // SAFETY: component `i` is of the texel, which the caller has readable.
            *c = unsafe { E::load(p.add(i * E::SIZE)) };
        }
        t
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, t: [u32; 4]) {
        for (i, c) in t.iter().enumerate().take(N) {
            // SAFETY: component `i` is of the texel, which the caller has writable.
            unsafe { E::store(p.add(i * E::SIZE), *c) };
        }
    }
    #[inline(always)]
    unsafe fn load16(self, base: *const u8, offsets: &[u64; 16], out: &mut [[u32; 16]; 4]) {
        let bytes = (E::SIZE * N).min(4);
        let per = bytes / E::SIZE;
        *out = [[0; 16], [0; 16], [0; 16], [E::ONE; 16]];
        for word in 0..N / per {
            // SAFETY: the word is of the texels, which the caller has readable.
            let w = unsafe { words(base, offsets, word * 4, bytes) };
            for i in 0..per {
                for lane in 0..16 {
                    out[word * per + i][lane] = E::decode(w[lane] >> (8 * E::SIZE * i));
                }
            }
        }
    }
}

/// Three components of one kind and an alpha of another (sRGB with linear alpha), red and blue exchanged if `BGR`.
#[derive(Clone, Copy)]
pub struct Color4<E, A, const BGR: bool>(PhantomData<(E, A)>);

impl<E: Elem, A: Elem, const BGR: bool> Codec for Color4<E, A, BGR> {
    #[inline(always)]
    fn size(self) -> usize {
        4 * E::SIZE
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> [u32; 4] {
        // SAFETY: four components, which the caller has readable.
        let (a, b, c, alpha) = unsafe {
            (E::load(p), E::load(p.add(E::SIZE)), E::load(p.add(2 * E::SIZE)), A::load(p.add(3 * E::SIZE)))
        };
        if BGR { [c, b, a, alpha] } else { [a, b, c, alpha] }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, t: [u32; 4]) {
        let (r, b) = if BGR { (t[2], t[0]) } else { (t[0], t[2]) };
        // SAFETY: four components, which the caller has writable.
        unsafe {
            E::store(p, r);
            E::store(p.add(E::SIZE), t[1]);
            E::store(p.add(2 * E::SIZE), b);
            A::store(p.add(3 * E::SIZE), t[3]);
        }
    }
    #[inline(always)]
    unsafe fn load16(self, base: *const u8, offsets: &[u64; 16], out: &mut [[u32; 16]; 4]) {
        // All formats of this kind have components of eight bits.
        // SAFETY: texels of four bytes, which the caller has readable.
        let w = unsafe { words(base, offsets, 0, 4) };
        let (r, b) = if BGR { (16, 0) } else { (0, 16) };
        for lane in 0..16 {
            out[0][lane] = E::decode(w[lane] >> r);
            out[1][lane] = E::decode(w[lane] >> 8);
            out[2][lane] = E::decode(w[lane] >> b);
            out[3][lane] = A::decode(w[lane] >> 24);
        }
    }
}

/// B10G11R11.
#[derive(Clone, Copy)]
pub struct R11G11B10;

impl Codec for R11G11B10 {
    #[inline(always)]
    fn size(self) -> usize {
        4
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> [u32; 4] {
        // SAFETY: a texel of four bytes, which the caller has readable.
        let v = unsafe { p.cast::<u32>().read_unaligned() };
        let (r, g, b) = (v & 0x7ff, v >> 11 & 0x7ff, v >> 22);
        let f = |v, mant| num::ufloat_to_f32(v, mant).to_bits();
        [f(r, 6), f(g, 6), f(b, 5), ONE_F]
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, t: [u32; 4]) {
        let f = |v, mant| num::f32_to_ufloat(f32::from_bits(v), mant);
        // SAFETY: a texel of four bytes, which the caller has writable.
        unsafe { p.cast::<u32>().write_unaligned(f(t[0], 6) | f(t[1], 6) << 11 | f(t[2], 5) << 22) }
    }
}

/// E5B9G9R9.
#[derive(Clone, Copy)]
pub struct Rgb9e5;

impl Codec for Rgb9e5 {
    #[inline(always)]
    fn size(self) -> usize {
        4
    }
    #[inline(always)]
    unsafe fn load(self, p: *const u8) -> [u32; 4] {
        // SAFETY: a texel of four bytes, which the caller has readable.
        let v = unsafe { p.cast::<u32>().read_unaligned() };
        let c = num::rgb9e5_to_f32(v).map(f32::to_bits);
        [c[0], c[1], c[2], ONE_F]
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut u8, t: [u32; 4]) {
        let f = f32::from_bits;
        // SAFETY: a texel of four bytes, which the caller has writable.
        unsafe { p.cast::<u32>().write_unaligned(num::f32_to_rgb9e5([f(t[0]), f(t[1]), f(t[2])])) }
    }
}

/// Any uncompressed format, by its component list. 64-bit components are cut to 32 bits (floats are rounded); see
/// [`load64`] for the whole value.
#[derive(Clone, Copy)]
pub struct Generic(pub &'static FormatInfo);

impl Codec for Generic {
    #[inline]
    fn size(self) -> usize {
        self.0.block_bytes as usize
    }
    unsafe fn load(self, p: *const u8) -> [u32; 4] {
        let class = self.0.class;
        // SAFETY: the caller has the texel readable.
        let wide = unsafe { load64(self.0, p) };
        let mut t = [0, 0, 0, self.0.channel_class().one()];
        for c in self.0.components().iter().filter(|c| c.name != b's') {
            let (k, bits) = (c.channel(), c.bits as u32);
            let v = wide[k] as u32;
            t[k] = match class {
                _ if bits == 64 => match class {
                    NumClass::Sfloat => (f64::from_bits(wide[k]) as f32).to_bits(),
                    _ => v,
                },
                NumClass::Srgb if c.name != b'a' => num::srgb8_to_f32(v as u8).to_bits(),
                NumClass::Unorm | NumClass::Srgb => num::unorm_to_f32(v, bits).to_bits(),
                NumClass::Snorm => num::snorm_to_f32(num::sext(v, bits), bits).to_bits(),
                NumClass::Uscaled => (v as f32).to_bits(),
                NumClass::Sscaled => (num::sext(v, bits) as f32).to_bits(),
                NumClass::Uint => v,
                NumClass::Sint => num::sext(v, bits) as u32,
                NumClass::Sfloat | NumClass::Ufloat if bits == 16 => num::f16_to_f32(v as u16).to_bits(),
                NumClass::Sfloat | NumClass::Ufloat => v,
            };
        }
        t
    }
    unsafe fn store(self, p: *mut u8, t: [u32; 4]) {
        let class = self.0.class;
        let mut wide = [0u64; 4];
        for c in self.0.components().iter().filter(|c| c.name != b's') {
            let (k, bits) = (c.channel(), c.bits as u32);
            let (v, x) = (t[k], f32::from_bits(t[k]));
            let mask = u32::MAX >> (32 - bits.min(32));
            let top = (mask >> 1) as i32;
            wide[k] = match class {
                NumClass::Sfloat if bits == 64 => (x as f64).to_bits(),
                NumClass::Sint if bits == 64 => v as i32 as i64 as u64,
                NumClass::Srgb if c.name != b'a' => num::f32_to_srgb8(x) as u64,
                NumClass::Unorm | NumClass::Srgb => num::f32_to_unorm(x, bits) as u64,
                NumClass::Snorm => (num::f32_to_snorm(x, bits) as u32 & mask) as u64,
                NumClass::Uscaled => (x as u32).min(mask) as u64,
                NumClass::Sscaled => ((x as i32).clamp(-top - 1, top) as u32 & mask) as u64,
                NumClass::Uint => v.min(mask) as u64,
                NumClass::Sint => ((v as i32).clamp(-top - 1, top) as u32 & mask) as u64,
                NumClass::Sfloat | NumClass::Ufloat if bits == 16 => num::f32_to_f16(x) as u64,
                NumClass::Sfloat | NumClass::Ufloat => v as u64,
            };
        }
        // SAFETY: the caller has the texel writable.
        unsafe { store64(self.0, p, wide) }
    }
}

/// The components of a texel as the unsigned numbers they are stored as, up to 64 bits each, in RGBA order; missing
/// ones are 0. Stencil is left out of packed depth/stencil.
///
/// # Safety
/// `p` must be readable for the format's block.
pub unsafe fn load64(info: &FormatInfo, p: *const u8) -> [u64; 4] {
    let mut bytes = [0u8; 40];
    // SAFETY: the caller has the block readable; 32 bytes fit.
    unsafe { std::ptr::copy_nonoverlapping(p, bytes.as_mut_ptr(), (info.block_bytes as usize).min(32)) };
    let mut out = [0u64; 4];
    for c in info.components().iter().filter(|c| c.name != b's') {
        let at = c.offset as usize / 8;
        let word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        out[c.channel()] = word >> (c.offset % 8) & (u64::MAX >> (64 - c.bits as u32));
    }
    out
}

/// The reverse of [`load64`]; padding bits are written as 0.
///
/// # Safety
/// `p` must be writable for the format's block.
pub unsafe fn store64(info: &FormatInfo, p: *mut u8, v: [u64; 4]) {
    let mut bytes = [0u8; 40];
    for c in info.components().iter().filter(|c| c.name != b's') {
        let at = c.offset as usize / 8;
        let mut word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        word |= (v[c.channel()] & (u64::MAX >> (64 - c.bits as u32))) << (c.offset % 8);
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    // SAFETY: the caller has the block writable; 32 bytes are there.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, (info.block_bytes as usize).min(32)) };
}

macro_rules! kinds {
    ($d:tt $($kind:ident = $codec:expr, [$($format:ident)*];)*) => {
        /// Which codec reads a format: the common ones by name, the rest generically, or a block decoder.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TexelKind {
            $($kind,)*
            Generic,
            Block(BlockKind),
        }

        impl TexelKind {
            pub(super) const fn of(format: vk::Format) -> Self {
                match format {
                    $($(vk::Format::$format => TexelKind::$kind,)*)*
                    _ => match BlockKind::of(format) {
                        Some(b) => TexelKind::Block(b),
                        None => TexelKind::Generic,
                    },
                }
            }
        }

        /// Runs `$body` with `$c` bound to the codec of `$info: &'static FormatInfo`, once compiled for every common
        /// format. Compressed formats are met by [`Generic`](crate::format::codec::Generic), which cannot read them:
        /// callers see to those first.
        macro_rules! with_codec {
            ($d info:expr, |$d c:ident| $d body:expr) => {{
                #[allow(unused_imports)]
                use $crate::format::codec::*;
                match $d info.kind {
                    $($crate::format::TexelKind::$kind => { let $d c = $codec; $d body })*
                    _ => { let $d c = Generic($d info); $d body }
                }
            }};
        }
    };
}

impl<E: Elem, const N: usize> Arr<E, N> {
    #[inline(always)]
    pub const fn new() -> Self {
        Arr(PhantomData)
    }
}
impl<E: Elem, const N: usize> Default for Arr<E, N> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Elem, A: Elem, const BGR: bool> Color4<E, A, BGR> {
    #[inline(always)]
    pub const fn new() -> Self {
        Color4(PhantomData)
    }
}
impl<E: Elem, A: Elem, const BGR: bool> Default for Color4<E, A, BGR> {
    fn default() -> Self {
        Self::new()
    }
}

#[rustfmt::skip]
kinds! {
    $
    R8Unorm = Arr::<Un8, 1>::new(), [R8_UNORM];
    R8Snorm = Arr::<Sn8, 1>::new(), [R8_SNORM];
    R8Uint = Arr::<Ui8, 1>::new(), [R8_UINT S8_UINT];
    R8Sint = Arr::<Si8, 1>::new(), [R8_SINT];
    R16Unorm = Arr::<Un16, 1>::new(), [R16_UNORM D16_UNORM];
    R16Snorm = Arr::<Sn16, 1>::new(), [R16_SNORM];
    R16Uint = Arr::<Ui16, 1>::new(), [R16_UINT];
    R16Sint = Arr::<Si16, 1>::new(), [R16_SINT];
    R16Sfloat = Arr::<F16, 1>::new(), [R16_SFLOAT];
    Rg8Unorm = Arr::<Un8, 2>::new(), [R8G8_UNORM];
    Rg8Snorm = Arr::<Sn8, 2>::new(), [R8G8_SNORM];
    Rg8Uint = Arr::<Ui8, 2>::new(), [R8G8_UINT];
    Rg8Sint = Arr::<Si8, 2>::new(), [R8G8_SINT];
    Rg16Unorm = Arr::<Un16, 2>::new(), [R16G16_UNORM];
    Rg16Snorm = Arr::<Sn16, 2>::new(), [R16G16_SNORM];
    Rg16Uint = Arr::<Ui16, 2>::new(), [R16G16_UINT];
    Rg16Sint = Arr::<Si16, 2>::new(), [R16G16_SINT];
    Rg16Sfloat = Arr::<F16, 2>::new(), [R16G16_SFLOAT];
    Rgba8Unorm = Arr::<Un8, 4>::new(), [R8G8B8A8_UNORM A8B8G8R8_UNORM_PACK32];
    Rgba8Snorm = Arr::<Sn8, 4>::new(), [R8G8B8A8_SNORM A8B8G8R8_SNORM_PACK32];
    Rgba8Uint = Arr::<Ui8, 4>::new(), [R8G8B8A8_UINT A8B8G8R8_UINT_PACK32];
    Rgba8Sint = Arr::<Si8, 4>::new(), [R8G8B8A8_SINT A8B8G8R8_SINT_PACK32];
    Rgba16Unorm = Arr::<Un16, 4>::new(), [R16G16B16A16_UNORM];
    Rgba16Snorm = Arr::<Sn16, 4>::new(), [R16G16B16A16_SNORM];
    Rgba16Uint = Arr::<Ui16, 4>::new(), [R16G16B16A16_UINT];
    Rgba16Sint = Arr::<Si16, 4>::new(), [R16G16B16A16_SINT];
    Rgba16Sfloat = Arr::<F16, 4>::new(), [R16G16B16A16_SFLOAT];
    R32Sfloat = Arr::<F32, 1>::new(), [R32_SFLOAT D32_SFLOAT];
    D24 = Arr::<D24, 1>::new(), [X8_D24_UNORM_PACK32];
    R32Int = Arr::<I32, 1>::new(), [R32_UINT R32_SINT];
    Rg32Sfloat = Arr::<F32, 2>::new(), [R32G32_SFLOAT];
    Rg32Int = Arr::<I32, 2>::new(), [R32G32_UINT R32G32_SINT];
    Rgb32Sfloat = Arr::<F32, 3>::new(), [R32G32B32_SFLOAT];
    Rgb32Int = Arr::<I32, 3>::new(), [R32G32B32_UINT R32G32B32_SINT];
    Rgba32Sfloat = Arr::<F32, 4>::new(), [R32G32B32A32_SFLOAT];
    Rgba32Int = Arr::<I32, 4>::new(), [R32G32B32A32_UINT R32G32B32A32_SINT];
    Bgra8Unorm = Color4::<Un8, Un8, true>::new(), [B8G8R8A8_UNORM];
    Rgba8Srgb = Color4::<Srgb8, Un8, false>::new(), [R8G8B8A8_SRGB A8B8G8R8_SRGB_PACK32];
    Bgra8Srgb = Color4::<Srgb8, Un8, true>::new(), [B8G8R8A8_SRGB];
    R11g11b10 = R11G11B10, [B10G11R11_UFLOAT_PACK32];
    Rgb9e5 = Rgb9e5, [E5B9G9R9_UFLOAT_PACK32];
}

pub(crate) use with_codec;

/// Raw texel of a float colour.
pub fn raw(c: [f32; 4]) -> [u32; 4] {
    c.map(f32::to_bits)
}

/// The raw texel converted to another channel class by value, as blits between formats do (they never cross from
/// floats to integers; sign changes clamp).
pub fn convert_class(t: [u32; 4], from: ChannelClass, to: ChannelClass) -> [u32; 4] {
    use ChannelClass::*;
    match (from, to) {
        (Uint, Sint) => t.map(|v| v.min(i32::MAX as u32)),
        (Sint, Uint) => t.map(|v| (v as i32).max(0) as u32),
        (Uint, Float) => t.map(|v| (v as f32).to_bits()),
        (Sint, Float) => t.map(|v| (v as i32 as f32).to_bits()),
        (Float, Uint) => t.map(|v| f32::from_bits(v) as u32),
        (Float, Sint) => t.map(|v| f32::from_bits(v) as i32 as u32),
        _ => t,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pack::Pack as _;
    use super::super::{all, info, kernels::*};
    use super::*;

    fn enc(f: vk::Format, t: [u32; 4]) -> Vec<u8> {
        let i = info(f).unwrap();
        let mut b = vec![0xee; i.block_bytes as usize];
        // SAFETY: within what the test has made.
        unsafe { encode_row(i, &[t], b.as_mut_ptr()) };
        b
    }

    #[test]
    fn hand_values() {
        let half = raw([0.5, 0.0, 1.0, 0.25]);
        assert_eq!(enc(vk::Format::R8G8B8A8_UNORM, half), [128, 0, 255, 64]);
        assert_eq!(enc(vk::Format::B8G8R8A8_UNORM, half), [255, 0, 128, 64]);
        assert_eq!(enc(vk::Format::R8G8B8A8_SRGB, half), [188, 0, 255, 64]);
        assert_eq!(enc(vk::Format::R5G6B5_UNORM_PACK16, raw([1.0, 0.0, 0.0, 1.0])), [0x00, 0xf8]);
        assert_eq!(enc(vk::Format::A2B10G10R10_UNORM_PACK32, raw([1.0, 0.0, 0.0, 1.0])), [0xff, 3, 0, 0xc0]);
        assert_eq!(enc(vk::Format::R16G16_SFLOAT, raw([1.0, -2.0, 0.0, 0.0])), [0, 0x3c, 0, 0xc0]);
        assert_eq!(enc(vk::Format::R8_UINT, [300, 0, 0, 0]), [255]);
        assert_eq!(enc(vk::Format::R8_SINT, [-300i32 as u32, 0, 0, 0]), [0x80]);
        assert_eq!(enc(vk::Format::X8_D24_UNORM_PACK32, raw([1.0, 0.0, 0.0, 0.0])), [255, 255, 255, 0]);
        assert_eq!(enc(vk::Format::R10X6_UNORM_PACK16, raw([1.0, 0.0, 0.0, 0.0])), [0xc0, 0xff]);
        // VK_ARM_format_pack: numbers in the high bits of 16.
        assert_eq!(enc(vk::Format::R14X2_UNORM_PACK16_ARM, raw([1.0, 0.0, 0.0, 0.0])), [0xfc, 0xff]);
        assert_eq!(enc(vk::Format::R10X6_UINT_PACK16_ARM, [5, 0, 0, 0]), [0x40, 0x01]);
        assert_eq!(enc(vk::Format::R12X4G12X4_UINT_2PACK16_ARM, [5000, 1, 0, 0]), [0xf0, 0xff, 0x10, 0]);
        assert_eq!(
            enc(vk::Format::R14X2G14X2B14X2A14X2_UINT_4PACK16_ARM, [1, 2, 3, 16383]),
            [4, 0, 8, 0, 12, 0, 0xfc, 0xff]
        );
        assert_eq!(enc(vk::Format::A8_UNORM_KHR, half), [64]);
        assert_eq!(enc(vk::Format::B10G11R11_UFLOAT_PACK32, raw([1.0, 0.0, 0.0, 0.0])), [0xc0, 3, 0, 0]);
        let mut t = [[0; 4]];
        // SAFETY: within what the test has made.
        unsafe { decode_row(info(vk::Format::R8_UINT).unwrap(), [7u8].as_ptr(), &mut t) };
        assert_eq!(t[0], [7, 0, 0, 1]);
        // SAFETY: within what the test has made.
        unsafe { decode_row(info(vk::Format::A8_UNORM_KHR).unwrap(), [255u8].as_ptr(), &mut t) };
        assert_eq!(t[0], raw([0.0, 0.0, 0.0, 1.0]));
    }

    #[test]
    fn named_codecs_agree_with_the_component_list() {
        let mut r = random::Random::new(1);
        for i in all()
            .iter()
            .filter(|i| !i.compressed() && !i.is_64bit() && !i.has_stencil() && i.block_extent == [1; 3])
        {
            if matches!(i.kind, TexelKind::R11g11b10 | TexelKind::Rgb9e5 | TexelKind::Generic) {
                continue;
            }
            for _ in 0..200 {
                let mut b = [0u8; 16];
                b.fill_with(|| r.u32() as u8);
                let mut t = [[0; 4]];
                // SAFETY: within what the test has made.
                unsafe { decode_row(i, b.as_ptr(), &mut t) };
                // SAFETY: within what the test has made.
                assert_eq!(t[0], unsafe { Generic(i).load(b.as_ptr()) }, "{}", i.name);
                // SAFETY: within what the test has made.
                assert_eq!(t[0], unsafe { load_fn(i)(i, b.as_ptr()) }, "{}", i.name);
                let mut wide = [[0; 16]; 4];
                // SAFETY: within what the test has made.
                unsafe { gather_fn(i)(i, b.as_ptr(), &[0; 16], &mut wide) };
                assert_eq!(t[0], wide.map(|c| c[11]), "{}", i.name);
                let (mut p, mut q) = ([0u8; 16], [0u8; 16]);
                // SAFETY: within what the test has made.
                unsafe {
                    store_fn(i)(i, p.as_mut_ptr(), t[0]);
                    Generic(i).store(q.as_mut_ptr(), t[0]);
                }
                assert_eq!(p, q, "{}", i.name);
            }
        }
    }

    #[test]
    fn every_uncompressed_format_round_trips() {
        for i in all()
            .iter()
            .filter(|i| !i.compressed() && !i.is_64bit() && !i.has_stencil() && i.block_extent == [1; 3])
        {
            for seed in 0..64u32 {
                // Small values keep every float class finite and every component canonical.
                let b: Vec<u8> = (0..i.block_bytes).map(|k| (seed * 37 + k * 11) as u8 & 0x3b).collect();
                let mut t = [[0; 4]];
                // SAFETY: within what the test has made.
                unsafe { decode_row(i, b.as_ptr(), &mut t) };
                let mut c = vec![0; b.len()];
                // SAFETY: within what the test has made.
                unsafe { encode_row(i, &t, c.as_mut_ptr()) };
                let mut u = [[0; 4]];
                // SAFETY: within what the test has made.
                unsafe { decode_row(i, c.as_ptr(), &mut u) };
                assert_eq!(t, u, "{}", i.name);
            }
        }
    }
}

//! Texel loops and function pointers made of the codecs: one texel, a row, the sixteen lanes of a warp.

use super::FormatInfo;
use super::codec::{Codec, Generic, with_codec};

/// Loads one texel of a format through a function pointer, for paths that are not monomorphised.
pub type LoadFn = unsafe fn(&'static FormatInfo, *const u8) -> [u32; 4];
/// Stores one texel of a format through a function pointer.
pub type StoreFn = unsafe fn(&'static FormatInfo, *mut u8, [u32; 4]);

/// The loader of an uncompressed format.
pub fn load_fn(info: &'static FormatInfo) -> LoadFn {
    fn pick<C: Codec>(_: C) -> LoadFn {
        // Zero-sized codecs are rebuilt from nothing; only `Generic` needs the row.
        unsafe fn load<C: Codec>(info: &'static FormatInfo, p: *const u8) -> [u32; 4] {
            if size_of::<C>() == 0 {
                // SAFETY: a zero-sized Copy type has exactly one value.
                std::mem::transmute_copy::<(), C>(&()).load(p)
            } else {
                Generic(info).load(p)
            }
        }
        load::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// The storer of an uncompressed format.
pub fn store_fn(info: &'static FormatInfo) -> StoreFn {
    fn pick<C: Codec>(_: C) -> StoreFn {
        unsafe fn store<C: Codec>(info: &'static FormatInfo, p: *mut u8, t: [u32; 4]) {
            if size_of::<C>() == 0 {
                // SAFETY: a zero-sized Copy type has exactly one value.
                std::mem::transmute_copy::<(), C>(&()).store(p, t)
            } else {
                Generic(info).store(p, t)
            }
        }
        store::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// Loads texels of 16 lanes from `base + offsets` by channel.
pub type GatherFn = unsafe fn(&'static FormatInfo, *const u8, &[u64; 16], &mut [[u32; 16]; 4]);
/// Stores texels of the lanes of a mask at `base + offsets`.
pub type ScatterFn = unsafe fn(&'static FormatInfo, *mut u8, &[u64; 16], u16, &[[u32; 16]; 4]);

/// Whether the AVX2 forms of kernels may run.
#[inline]
pub fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The warp loader of an uncompressed format, in the form for this machine. All forms give the same bits.
pub fn gather_fn(info: &'static FormatInfo) -> GatherFn {
    fn pick<C: Codec>(_: C) -> GatherFn {
        #[inline(always)]
        unsafe fn body<C: Codec>(
            info: &'static FormatInfo,
            base: *const u8,
            offsets: &[u64; 16],
            out: &mut [[u32; 16]; 4],
        ) {
            if size_of::<C>() == 0 {
                // SAFETY: a zero-sized Copy type has exactly one value.
                std::mem::transmute_copy::<(), C>(&()).load16(base, offsets, out)
            } else {
                Generic(info).load16(base, offsets, out)
            }
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            unsafe fn avx2<C: Codec>(
                info: &'static FormatInfo,
                base: *const u8,
                offsets: &[u64; 16],
                out: &mut [[u32; 16]; 4],
            ) {
                body::<C>(info, base, offsets, out)
            }
            if has_avx2() {
                return avx2::<C>;
            }
        }
        unsafe fn plain<C: Codec>(
            info: &'static FormatInfo,
            base: *const u8,
            offsets: &[u64; 16],
            out: &mut [[u32; 16]; 4],
        ) {
            body::<C>(info, base, offsets, out)
        }
        plain::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// The warp storer of an uncompressed format.
pub fn scatter_fn(info: &'static FormatInfo) -> ScatterFn {
    fn pick<C: Codec>(_: C) -> ScatterFn {
        unsafe fn scatter<C: Codec>(
            info: &'static FormatInfo,
            base: *mut u8,
            offsets: &[u64; 16],
            mask: u16,
            t: &[[u32; 16]; 4],
        ) {
            for lane in 0..16 {
                if mask >> lane & 1 == 0 {
                    continue;
                }
                let p = base.add(offsets[lane] as usize);
                let t = [t[0][lane], t[1][lane], t[2][lane], t[3][lane]];
                if size_of::<C>() == 0 {
                    // SAFETY: a zero-sized Copy type has exactly one value.
                    std::mem::transmute_copy::<(), C>(&()).store(p, t)
                } else {
                    Generic(info).store(p, t)
                }
            }
        }
        scatter::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// Decodes `out.len()` consecutive texels of an uncompressed format.
///
/// # Safety
/// `src` must be readable for that many texels.
pub unsafe fn decode_row(info: &'static FormatInfo, src: *const u8, out: &mut [[u32; 4]]) {
    with_codec!(info, |c| for (i, t) in out.iter_mut().enumerate() {
        *t = c.load(src.add(i * c.size()));
    })
}

/// Encodes consecutive texels of an uncompressed format.
///
/// # Safety
/// `dst` must be writable for that many texels.
pub unsafe fn encode_row(info: &'static FormatInfo, texels: &[[u32; 4]], dst: *mut u8) {
    with_codec!(info, |c| for (i, t) in texels.iter().enumerate() {
        c.store(dst.add(i * c.size()), *t);
    })
}

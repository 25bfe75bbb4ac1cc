//! Texel loops and function pointers made of the codecs: one texel, a row, the sixteen lanes of a warp.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::codec::{Codec, Generic, with_codec};
use super::table::ROWS;
pub use super::warp::Channels;
use super::warp::{self, Plan};
use super::{FormatInfo, TexelKind};
use ash::vk;
use simd::{Level, Simd};
use std::mem::MaybeUninit;

/// Loads one texel of a format through a function pointer, for paths that are not monomorphised. As [`Codec::load`].
pub type LoadFn = unsafe fn(&'static FormatInfo, *const u8) -> [u32; 4];
/// Stores one texel of a format through a function pointer.
pub type StoreFn = unsafe fn(&'static FormatInfo, *mut u8, [u32; 4]);

/// Runs `$body` with `$c` bound to a `$C`, or to [`Generic`]. Function pointers have no room for a codec: zero-sized ones
/// are rebuilt from nothing, and only `Generic` needs the row of the table.
macro_rules! codec {
    ($C:ident, $info:expr, |$c:ident| $body:expr) => {
        if size_of::<$C>() == 0 {
            let $c = zero_sized::<$C>();
            $body
        } else {
            let $c = Generic($info);
            $body
        }
    };
}

#[inline(always)]
fn zero_sized<C: Codec>() -> C {
    assert!(size_of::<C>() == 0);
    // SAFETY: a zero-sized Copy type has exactly one value.
    unsafe { std::mem::transmute_copy::<(), C>(&()) }
}

/// The loader of an uncompressed format.
pub fn load_fn(info: &'static FormatInfo) -> LoadFn {
    fn pick<C: Codec>(_: C) -> LoadFn {
        /// As [`Codec::load`].
        unsafe fn load<C: Codec>(info: &'static FormatInfo, p: *const u8) -> [u32; 4] {
            // SAFETY: the caller has a texel there.
            unsafe { codec!(C, info, |c| c.load(p)) }
        }
        load::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// The storer of an uncompressed format.
pub fn store_fn(info: &'static FormatInfo) -> StoreFn {
    fn pick<C: Codec>(_: C) -> StoreFn {
        /// As [`Codec::store`].
        unsafe fn store<C: Codec>(info: &'static FormatInfo, p: *mut u8, t: [u32; 4]) {
            // SAFETY: the caller has a texel there.
            unsafe { codec!(C, info, |c| c.store(p, t)) }
        }
        store::<C>
    }
    with_codec!(info, |c| pick(c))
}

/// Loads texels of 16 lanes from `base + offsets` by channel.
pub type GatherFn = unsafe fn(&'static FormatInfo, *const u8, &[u64; 16], &mut Channels);
/// Stores texels of the lanes of a mask at `base + offsets`, in order of the lanes.
pub type ScatterFn = unsafe fn(&'static FormatInfo, *mut u8, &[u64; 16], u16, &Channels);
/// Stores texels of 16 lanes side by side.
pub type PackFn = unsafe fn(&'static FormatInfo, &Channels, *mut u8);

/// A format that is only known when the kernel runs.
const ANY: usize = usize::MAX;

/// The format of a row of the table, as a constant.
struct Row<const ROW: usize>;

impl<const ROW: usize> Row<ROW> {
    const PLAN: Plan = Plan::new(&ROWS[if ROW == ANY { 0 } else { ROW }]);

    #[inline(always)]
    fn plan(info: &FormatInfo) -> Plan {
        if ROW == ANY { Plan::new(info) } else { Self::PLAN }
    }
}

/// [`warp::pack`] of a format known when it runs.
///
/// # Safety
/// Room for sixteen texels at `out`.
#[inline(always)]
unsafe fn pack<S: Simd>(s: S, info: &'static FormatInfo, t: &Channels, out: *mut u8) {
    // SAFETY: the caller has sixteen texels writable.
    unsafe { warp::pack(s, &Plan::new(info), false, t, out) }
}

fn pack_at(level: Level) -> PackFn {
    simd::form!(level, unsafe fn(info: &'static FormatInfo, t: &Channels, out: *mut u8) = pack)
}

/// Texels of the lanes of `mask` to `base + offsets`.
///
/// # Safety
/// Room for a texel at each of them.
#[inline(always)]
unsafe fn scatter<S: Simd, const ROW: usize>(
    s: S,
    info: &'static FormatInfo,
    base: *mut u8,
    offsets: &[u64; 16],
    mask: u16,
    t: &Channels,
) {
    let plan = Row::<ROW>::plan(info);
    let mut beside = mask == 0xffff;
    for lane in 1..16 {
        beside &= offsets[lane] == offsets[0].wrapping_add((lane * plan.bytes) as u64);
    }
    let mut texels = MaybeUninit::<[u8; 16 * warp::MOST]>::uninit();
    // SAFETY: the first of sixteen texels side by side, which the caller has writable.
    let texels =
        if beside { unsafe { base.add(offsets[0] as usize) } } else { texels.as_mut_ptr().cast::<u8>() };
    // SAFETY: the texels themselves, or room for them.
    unsafe { warp::pack(s, &plan, ROW != ANY, t, texels) };
    if beside {
        return;
    }
    match plan.bytes {
        // SAFETY: the lanes' texels are the caller's, and sixteen have been packed.
        1 => unsafe { spread::<1>(texels, base, offsets, mask) },
        // SAFETY: as below.
        2 => unsafe { spread::<2>(texels, base, offsets, mask) },
        // SAFETY: as below.
        4 => unsafe { spread::<4>(texels, base, offsets, mask) },
        // SAFETY: as below.
        8 => unsafe { spread::<8>(texels, base, offsets, mask) },
        // SAFETY: as below.
        16 => unsafe { spread::<16>(texels, base, offsets, mask) },
        bytes => {
            for lane in (0..16).filter(|l| mask >> l & 1 != 0) {
                // SAFETY: the lanes' texels are the caller's, and sixteen have been packed.
                unsafe { base.add(offsets[lane] as usize).copy_from(texels.add(lane * bytes), bytes) };
            }
        }
    }
}

fn scatter_at<const ROW: usize>(level: Level) -> ScatterFn {
    simd::form!(
        level,
        <const ROW: usize> unsafe fn(
            info: &'static FormatInfo,
            base: *mut u8,
            offsets: &[u64; 16],
            mask: u16,
            t: &Channels,
        ) = scatter::<_, ROW>;
        // Portable code is for where nothing else runs: one form is enough for all formats.
        portable = scatter::<_, ANY>
    )
}

/// Texels side by side to where the lanes of the mask have them.
///
/// # Safety
/// There are sixteen at `texels`, and room for one of each lane of the mask at `base + offsets`.
#[inline(always)]
unsafe fn spread<const B: usize>(texels: *const u8, base: *mut u8, offsets: &[u64; 16], mask: u16) {
    let texels = texels.cast::<[u8; B]>();
    if mask == 0xffff {
        for lane in 0..16 {
            // SAFETY: the caller has room for the lane's texel, and sixteen texels.
            unsafe { base.add(offsets[lane] as usize).cast::<[u8; B]>().write_unaligned(*texels.add(lane)) };
        }
        return;
    }
    let mut left = mask;
    while left != 0 {
        let lane = left.trailing_zeros() as usize & 15;
        left &= left - 1;
        // SAFETY: the caller has room for the lane's texel, and sixteen texels.
        unsafe { base.add(offsets[lane] as usize).cast::<[u8; B]>().write_unaligned(*texels.add(lane)) };
    }
}

/// As [`warp::unpack`].
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn gather<S: Simd>(
    s: S,
    info: &'static FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    // SAFETY: the caller has every texel readable.
    unsafe { warp::unpack(s, info, base, offsets, out) }
}

fn gather_at(level: Level) -> GatherFn {
    simd::form!(
        level,
        unsafe fn(info: &'static FormatInfo, base: *const u8, offsets: &[u64; 16], out: &mut Channels) = gather
    )
}

/// Formats with codecs of their own whose warps go by the component list all the same.
fn by_components(info: &FormatInfo) -> bool {
    matches!(info.kind, TexelKind::Generic | TexelKind::R11g11b10 | TexelKind::Rgb9e5) && !info.is_64bit()
}

/// The packer of an uncompressed format, and whether texels have one: not those of 64-bit components or a shared exponent.
pub fn pack_fn(info: &'static FormatInfo) -> Option<PackFn> {
    packs(info).then(|| pack_at(settings::level()))
}

/// Warps of the format are written over vectors.
pub fn packs(info: &FormatInfo) -> bool {
    !info.compressed() && !info.is_64bit() && info.kind != TexelKind::Rgb9e5
}

/// The warp loader of an uncompressed format, in the form for this machine. All forms give the same bits.
pub fn gather_fn(info: &'static FormatInfo) -> GatherFn {
    gather_fn_at(info, settings::level())
}

fn gather_fn_at(info: &'static FormatInfo, level: Level) -> GatherFn {
    if by_components(info) {
        return gather_at(level);
    }
    with_codec!(info, |c| load16_at(c, level))
}

/// As [`Codec::load16`]: plain loops.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn load16<S: Simd, C: Codec>(
    _: S,
    info: &'static FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    // SAFETY: the caller has every texel readable.
    unsafe { codec!(C, info, |c| c.load16(base, offsets, out)) }
}

/// As [`load16`], by the component list where it has the format.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn load16_any<S: Simd>(
    s: S,
    info: &'static FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    // SAFETY: the caller has every texel readable.
    unsafe {
        match info.is_64bit() {
            true => Generic(info).load16(base, offsets, out),
            false => warp::unpack(s, info, base, offsets, out),
        }
    }
}

fn load16_at<C: Codec>(_: C, level: Level) -> GatherFn {
    simd::form!(
        level,
        <C: Codec> unsafe fn(
            info: &'static FormatInfo,
            base: *const u8,
            offsets: &[u64; 16],
            out: &mut Channels,
        ) = load16::<_, C>;
        // (One for all formats, as of `scatter_at`.)
        cold, portable = load16_any
    )
}

/// The warp storer of an uncompressed format, in the form for this machine. All forms give the same bits.
pub fn scatter_fn(info: &'static FormatInfo) -> ScatterFn {
    scatter_fn_at(info, settings::level())
}

fn scatter_fn_at(info: &'static FormatInfo, level: Level) -> ScatterFn {
    /// As [`scatter`], a texel at a time.
    unsafe fn lanes(info: &'static FormatInfo, base: *mut u8, offsets: &[u64; 16], mask: u16, t: &Channels) {
        let store = store_fn(info);
        for lane in (0..16).filter(|l| mask >> l & 1 != 0) {
            // SAFETY: the caller has room for the lane's texel.
            unsafe {
                store(
                    info,
                    base.add(offsets[lane] as usize),
                    [t[0][lane], t[1][lane], t[2][lane], t[3][lane]],
                )
            };
        }
    }
    if !packs(info) {
        return lanes;
    }
    /// The storer for formats of this layout alone.
    macro_rules! known {
        ($format:ident) => {
            scatter_at::<{ vk::Format::$format.as_raw() as usize - 1 }>(level)
        };
    }
    use TexelKind as K;
    match info.kind {
        // What programs write most.
        K::R8Unorm => known!(R8_UNORM),
        K::Rgba8Unorm => known!(R8G8B8A8_UNORM),
        K::Bgra8Unorm => known!(B8G8R8A8_UNORM),
        K::Rgba16Sfloat => known!(R16G16B16A16_SFLOAT),
        K::R11g11b10 => known!(B10G11R11_UFLOAT_PACK32),
        K::R32Sfloat | K::R32Int => known!(R32_UINT),
        K::Rg32Sfloat | K::Rg32Int => known!(R32G32_UINT),
        K::Rgba32Sfloat | K::Rgba32Int => known!(R32G32B32A32_UINT),
        _ if info.format == vk::Format::A2B10G10R10_UNORM_PACK32 => known!(A2B10G10R10_UNORM_PACK32),
        _ => scatter_at::<ANY>(level),
    }
}

/// Decodes `out.len()` consecutive texels of an uncompressed format.
///
/// # Safety
/// `src` must be readable for that many texels.
pub unsafe fn decode_row(info: &'static FormatInfo, src: *const u8, out: &mut [[u32; 4]]) {
    with_codec!(info, |c| for (i, t) in out.iter_mut().enumerate() {
        // SAFETY: the caller has as many texels readable.
        *t = unsafe { c.load(src.add(i * c.size())) };
    })
}

/// Encodes consecutive texels of an uncompressed format.
///
/// # Safety
/// `dst` must be writable for that many texels.
pub unsafe fn encode_row(info: &'static FormatInfo, texels: &[[u32; 4]], dst: *mut u8) {
    let slow = matches!(info.kind, TexelKind::Generic | TexelKind::R11g11b10);
    let Some(pack) = pack_fn(info).filter(|_| slow && texels.len() > 4) else {
        with_codec!(info, |c| for (i, t) in texels.iter().enumerate() {
            // SAFETY: the caller has room for as many texels.
            unsafe { c.store(dst.add(i * c.size()), *t) };
        });
        return;
    };
    let bytes = info.block_bytes as usize;
    for (i, part) in texels.chunks(16).enumerate() {
        let mut t = [[0; 16]; 4];
        for (lane, texel) in part.iter().enumerate() {
            for k in 0..4 {
                t[k][lane] = texel[k];
            }
        }
        let mut packed = [0u8; 16 * warp::MOST];
        // SAFETY: room for sixteen of the largest; picked for this machine.
        unsafe { pack(info, &t, packed.as_mut_ptr()) };
        // SAFETY: the caller has room for as many texels.
        unsafe { dst.add(i * 16 * bytes).copy_from(packed.as_ptr(), part.len() * bytes) };
    }
}

#[cfg(test)]
pub(crate) use tests::warps_are_their_texels;
#[cfg(test)]
pub(crate) mod tests {
    use super::super::all;
    use super::*;
    use random::Random;

    /// Uncompressed formats whose aspects are one.
    pub fn whole_formats() -> impl Iterator<Item = &'static FormatInfo> {
        let whole = |i: &&FormatInfo| !i.compressed() && !i.is_64bit() && i.block_extent == [1; 3];
        all().iter().filter(whole).filter(|i| !i.has_depth() || !i.has_stencil())
    }

    /// Floats of every kind and size, and any bits.
    pub fn any_channel(r: &mut Random) -> u32 {
        const SPECIAL: [u32; 24] = [
            0,
            1,
            2,
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7f80_0001,
            0xffc1_2345,
            0x3f7f_ffff,
            0x3f80_0001,
            0x477f_e000,
            0x477f_f000,
            0x387f_ffff,
            0x3300_0001,
            0xbf80_0000,
        ];
        let n = r.u32();
        match n >> 28 {
            0..=3 => SPECIAL[n as usize % SPECIAL.len()],
            // Within 0 to 1, near 0, and to either side of both.
            4..=9 => ((n & 0xff_ffff) as f32 / (1 << 24) as f32).to_bits(),
            10 => (2.0 - (n & 0xff_ffff) as f32 / (1 << 22) as f32).to_bits(),
            11 => ((n & 0xff_ffff) as f32 / 1e12).to_bits(),
            12 => ((n & 0xff_ffff) as f32 / 64.0).to_bits(),
            // Halves of steps.
            13 => (((n & 0x3ff) as f32 + 0.5) / 1023.0).to_bits(),
            _ => n,
        }
    }

    /// Every uncompressed format whose aspects are one against the codec that does one texel.
    pub(crate) fn warps_are_their_texels(level: Level) {
        let mut random = Random::new(1);
        for i in whole_formats() {
            let (load, store) = (load_fn(i), store_fn(i));
            let bytes = i.block_bytes as usize;
            for case in 0..200 {
                let t: Channels = std::array::from_fn(|_| std::array::from_fn(|_| any_channel(&mut random)));
                let before: [u8; 1024] = std::array::from_fn(|_| random.u32() as u8);
                let mask = if case % 3 == 0 { 0xffff } else { random.u32() as u16 };
                // Side by side, or apart with an odd number of bytes between.
                let apart = if case % 2 == 0 { bytes } else { bytes + 1 + (case / 2) % 4 * bytes / 3 };
                let offsets: [u64; 16] = std::array::from_fn(|l| (l * apart) as u64);
                let (mut want, mut loaded) = (before, [[0; 16]; 4]);
                for lane in 0..16 {
                    let at = offsets[lane] as usize;
                    if mask >> lane & 1 != 0 {
                        // SAFETY: within the array.
                        unsafe { store(i, want.as_mut_ptr().add(at), t.map(|c| c[lane])) };
                    }
                    // SAFETY: within the array.
                    let texel = unsafe { load(i, before.as_ptr().add(at)) };
                    (0..4).for_each(|k| loaded[k][lane] = texel[k]);
                }
                let mut got = before;
                // SAFETY: within the array; the machine has the level.
                unsafe { scatter_fn_at(i, level)(i, got.as_mut_ptr(), &offsets, mask, &t) };
                assert!(got == want, "{} on {level:?}, {t:x?}", i.name);
                let mut got = [[9; 16]; 4];
                // SAFETY: as above.
                unsafe { gather_at(level)(i, before.as_ptr(), &offsets, &mut got) };
                assert_eq!(got, loaded, "{} on {level:?}", i.name);
                if packs(i) {
                    let (mut got, mut row) = ([0; 256], [0; 256]);
                    let texels: [[u32; 4]; 16] = std::array::from_fn(|l| t.map(|c| c[l]));
                    // SAFETY: as above.
                    unsafe {
                        pack_at(level)(i, &t, got.as_mut_ptr());
                        encode_row(i, &texels[..13], row.as_mut_ptr());
                    }
                    for (lane, texel) in texels.iter().enumerate() {
                        let mut want = [0; 16];
                        // SAFETY: as above.
                        unsafe { store(i, want.as_mut_ptr(), *texel) };
                        let at = lane * bytes..(lane + 1) * bytes;
                        assert_eq!(got[at.clone()], want[..bytes], "{} on {level:?}", i.name);
                        assert!(lane >= 13 || row[at] == want[..bytes], "a row of {}", i.name);
                    }
                }
                let mut got = [[9; 16]; 4];
                // SAFETY: as above.
                unsafe { gather_fn_at(i, level)(i, before.as_ptr(), &offsets, &mut got) };
                assert_eq!(got, loaded, "{}", i.name);
            }
        }
    }
}

//! One plane of an attachment: its pixels in memory and in the tile buffer.

/// One plane (colour, depth or stencil) of an attachment.
use super::traffic::Writes;
use crate::layout::{PIXELS, TILE, pixel};
use crate::state::Rect;
use ash::vk;
use texel::format::{FormatInfo, NumClass, kernels};
use texel::image::{Blank, Packed, Split};

#[derive(Clone, Copy)]
pub struct Plane {
    /// First byte of layer 0, sample 0, in memory.
    pub(in crate::tile) base: *mut u8,
    pub(in crate::tile) row_pitch: u64,
    pub(in crate::tile) sample_pitch: u64,
    pub(in crate::tile) layer_pitch: u64,
    pub(in crate::tile) split: Split,
    pub(super) layers: u32,
    /// Texels of the level.
    pub(in crate::tile) width: i32,
    pub(in crate::tile) height: i32,
    pub format: &'static FormatInfo,
    /// Bytes of a pixel in the tile: the format's for colour, 4 (an f32) for depth, 1 for stencil.
    pub bytes: usize,
    /// Where sample 0's pixels start in the tile buffer; each sample's [`PIXELS`] follow those of the one before, and then the bits of
    /// `alike`.
    pub at: usize,
    pub samples: u32,
    pub(in crate::tile) kind: PlaneKind,
    pub(super) load: vk::AttachmentLoadOp,
    pub(super) store: vk::AttachmentStoreOp,
    /// A pixel of the clear value, as the tile holds it.
    pub(in crate::tile) clear: [u8; 16],
    /// What is known of the image's tiles, or null; the image lasts as long as the pass.
    pub(in crate::tile) blank: *const Blank,
    /// Of an image that is kept compressed, or null; likewise.
    pub(in crate::tile) packed: *const Packed,
    pub(in crate::tile) writes: Writes,
    /// Counters are observed.
    pub(in crate::tile) counted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tile) enum PlaneKind {
    /// Bytes as in memory.
    Color,
    /// f32 in the tile; memory holds an f32, a u16 or the low 24 bits of a u32. Fixed-point values stay integers.
    Depth32,
    Depth16,
    Depth24,
    Stencil,
}

// SAFETY: addresses of device memory; tiles of different threads touch different pixels.
unsafe impl Send for Plane {}
unsafe impl Sync for Plane {}

/// Fixed-function blending has the format: up to eight bits a channel, and ten with two of alpha.
pub fn has_format(f: &FormatInfo) -> bool {
    let least = |bits| f.components().iter().all(|c| c.bits <= bits);
    matches!(f.class, NumClass::Unorm | NumClass::Srgb) && (least(8) || (least(10) && f.block_bytes == 4))
}

/// Bits that a Mali's tile buffer has for a sample: 32 of what has fixed-function blending, else a power of two.
pub fn bits(f: &FormatInfo) -> u64 {
    if has_format(f) { 32 } else { 8 * (f.block_bytes as u64).next_power_of_two() }
}

impl Plane {
    /// What the modelled GPU's tile buffer has of a pixel: colour of all samples.
    pub(super) fn bits(&self) -> u64 {
        bits(self.format) * self.samples as u64
    }
    /// The largest fixed-point depth, or 0 where depth is floating point.
    pub fn depth_scale(&self) -> f32 {
        depth_scale(self.kind)
    }
    /// Whether the two share memory, or may.
    pub(super) fn memory_meets(&self, o: &Plane) -> bool {
        let bytes = |p: &Plane| {
            let rows = p.row_pitch * p.height.max(0) as u64;
            let samples = p.sample_pitch * (p.samples as u64 - 1);
            let blocks = p.split.offset(p.width.max(1) as u32 - 1, p.height.max(1) as u32 - 1);
            rows + samples + blocks + p.layer_pitch * (p.layers.max(1) as u64 - 1)
        };
        let (a, b) = (self.base as u64, o.base as u64);
        a < b + bytes(o) && b < a + bytes(self)
    }
    /// Bytes in the tile buffer.
    pub fn size(&self) -> usize {
        PIXELS * self.bytes * self.samples as usize + self.alike_bytes()
    }
    /// A plane of `samples` samples in place of this one, which memory has no room for: it lives at `at` in the tile
    /// buffer and nowhere else.
    pub fn expanded(&self, samples: u32, at: usize) -> Plane {
        let none = (vk::AttachmentLoadOp::DONT_CARE, vk::AttachmentStoreOp::DONT_CARE);
        Plane { samples, at, load: none.0, store: none.1, ..*self }
    }
    /// Pixels of one sample.
    ///
    /// # Safety
    /// `tile` is a tile buffer laid out for this plane.
    #[inline]
    pub unsafe fn sample(&self, tile: *mut u8, s: u32) -> *mut u8 {
        // SAFETY: the tile has the plane.
        unsafe { tile.add(self.at + s as usize * PIXELS * self.bytes) }
    }
}

fn depth_scale(kind: PlaneKind) -> f32 {
    match kind {
        PlaneKind::Depth16 => 65535.0,
        PlaneKind::Depth24 => 16777215.0,
        _ => 0.0,
    }
}

/// Depth as the tile holds it: clamped and rounded to the nearest integer for fixed-point formats (scale not 0).
#[inline(always)]
pub fn quantise(z: f32, scale: f32) -> f32 {
    if scale == 0.0 {
        return z;
    }
    // What is no number becomes 0, as `Tests::value` has it.
    let unit = if z > 0.0 { z.min(1.0) } else { 0.0 };
    // SAFETY: at most 2^24.
    unsafe { (unit as f64 * scale as f64 + 0.5).to_int_unchecked::<i32>() as f32 }
}

#[cfg(test)]
impl Plane {
    /// A plane of one sample of one layer.
    pub(in crate::tile) fn of(
        format: &'static FormatInfo,
        kind: PlaneKind,
        base: *mut u8,
        row_pitch: u64,
        size: i32,
    ) -> Plane {
        let none = (vk::AttachmentLoadOp::LOAD, vk::AttachmentStoreOp::STORE);
        let bytes = match kind {
            PlaneKind::Color => format.block_bytes as usize,
            PlaneKind::Stencil => 1,
            _ => 4,
        };
        Plane {
            base,
            row_pitch,
            sample_pitch: 0,
            layer_pitch: 0,
            split: Split::NONE,
            layers: 1,
            width: size,
            height: size,
            format,
            bytes,
            at: 0,
            samples: 1,
            kind,
            load: none.0,
            store: none.1,
            clear: [0; 16],
            blank: std::ptr::null(),
            packed: std::ptr::null(),
            writes: Writes::default(),
            counted: false,
        }
    }
}

impl Plane {
    /// The clear value in all pixels and samples.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub(super) unsafe fn fill(&self, tile: *mut u8) {
        // SAFETY: the caller's tile.
        unsafe { self.fill_with(tile, &self.clear) };
    }

    /// # Safety
    /// As [`Targets::load`].
    pub(super) unsafe fn fill_with(&self, tile: *mut u8, pixel: &[u8; 16]) {
        // SAFETY: the caller's tile.
        unsafe { self.set_alike(tile, true) };
        let n = PIXELS * if self.kind == PlaneKind::Color { 1 } else { self.samples as usize };
        // SAFETY: the plane's pixels of the caller's tile, which begins with a cache line as its planes do.
        unsafe {
            let p = tile.add(self.at);
            match self.bytes {
                1 => p.write_bytes(pixel[0], n),
                2 => std::slice::from_raw_parts_mut(p.cast::<[u8; 2]>(), n).fill([pixel[0], pixel[1]]),
                4 => std::slice::from_raw_parts_mut(p.cast::<u32>(), n)
                    .fill(u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]])),
                8 => std::slice::from_raw_parts_mut(p.cast::<[u8; 8]>(), n)
                    .fill(std::array::from_fn(|i| pixel[i])),
                16 => std::slice::from_raw_parts_mut(p.cast::<[u8; 16]>(), n).fill(*pixel),
                b => (0..n).for_each(|i| p.add(i * b).copy_from(pixel.as_ptr(), b)),
            }
        }
    }

    /// A pixel of a clear value as the tile holds it.
    pub fn encode_clear(&self, color: [u32; 4], depth: f32, stencil: u32) -> [u8; 16] {
        let mut out = [0; 16];
        match self.kind {
            // SAFETY: room for a texel.
            PlaneKind::Color => unsafe { kernels::encode_row(self.format, &[color], out.as_mut_ptr()) },
            PlaneKind::Stencil => out[0] = stencil as u8,
            k => out[..4].copy_from_slice(&quantise(depth, depth_scale(k)).to_le_bytes()),
        }
        out
    }

    /// Fills a rectangle (tile coordinates, within the tile) of all samples.
    ///
    /// # Safety
    /// As [`Targets::load`].
    pub unsafe fn clear_rect(&self, tile: *mut u8, r: &Rect, value: &[u8; 16]) {
        if (r.x0, r.y0, r.x1, r.y1) == (0, 0, TILE, TILE) {
            // SAFETY: the caller's tile.
            return unsafe { self.fill_with(tile, value) };
        }
        for y in r.y0..r.y1 {
            for x in r.x0..r.x1 {
                let at = pixel(x as usize, y as usize);
                // SAFETY: a pixel of the plane, in the caller's tile.
                unsafe {
                    for s in 0..self.samples_in(tile, at / 16) {
                        let p = self.sample(tile, s).add(at * self.bytes);
                        p.copy_from(value.as_ptr(), self.bytes);
                    }
                }
            }
        }
    }
}

/// The sample of a plane that holds sample `s` (attachments with one sample hold all).
#[inline(always)]
pub fn sample_of(p: &Plane, s: usize) -> u32 {
    (s as u32).min(p.samples - 1)
}

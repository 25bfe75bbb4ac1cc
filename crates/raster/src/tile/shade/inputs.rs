//! Input attachments and attachments of the subpass itself, which fragments read from the tile.

use crate::layout::{PIXELS, TILE, pixel, pixels};
use crate::tile::memory::plane::Plane;
use crate::tile::memory::target::Target;
use crate::tile::shade::host::TileHost;
use ash::vk;
use shader::bytecode::ImageCode;
use shader::interface::{TILE_DEPTH, TILE_STENCIL};
use shader::ir::ImageOp;
use simd::rows::ImageRows;
use simd::{Simd, ops};
use texel::format::kernels;
use texel::sample::{ImageView, few};
use texel::vector;
use wave::{ImageWarp, ImageWave};

impl TileHost<'_> {
    /// The plane of an attachment of the subpass, by its place in it.
    fn own_plane(&self, code: &ImageCode) -> Option<&Plane> {
        let sub = self.targets.subpasses.get(self.subpass.get())?;
        let target = |a: Option<u32>| self.targets.list.get(a? as usize);
        match code.component {
            TILE_DEPTH => target(sub.depth)?.depth.as_ref(),
            TILE_STENCIL => target(sub.stencil)?.stencil.as_ref(),
            k => target(sub.colors.get(k as usize - 1).copied().flatten())?.color.as_ref(),
        }
    }

    /// The attachment of the pass that a view is of.
    fn target(&self, view: &ImageView) -> Option<&Target> {
        let (mip, layer) = (view.range.base_mip_level, view.range.base_array_layer);
        let s = self.subpass.get();
        let i = self.targets.input(s, &*view.image, mip, layer)?;
        self.targets.stand_in(s, i as u32).or(self.targets.list.get(i))
    }

    /// Reads colours of one sample from the tile for all warps of a wave; false for what is none, or lies elsewhere.
    ///
    /// # Safety
    /// As [`wave::Host::image_wave`]; the tile buffer is laid out by the targets, and nobody else uses it.
    pub(in crate::tile) unsafe fn inputs(&self, code: &ImageCode, wave: &ImageWave) -> bool {
        if code.op != ImageOp::Read || code.multisampled {
            return false;
        }
        let from = if code.component != 0 {
            let plane = self.own_plane(code).filter(|_| code.component < TILE_DEPTH);
            plane.map(|p| Colors { plane: p, view: None, gather: kernels::gather_fn(p.format) })
        } else if wave.view != 0 {
            // SAFETY: not null: a descriptor write stored an image's view.
            let view = unsafe { &*(wave.view as *const ImageView) };
            let target = self.target(view).filter(|t| t.depth.is_none());
            let plane = target.and_then(|t| t.color.as_ref());
            plane.map(|p| Colors { plane: p, view: Some(view), gather: view.gather })
        } else {
            None
        };
        let Some(from) = from.filter(|c| c.plane.samples == 1) else { return false };
        // SAFETY: the caller's.
        unsafe { colors(settings::level(), self.tile, self.origin, &from, &wave.rows) };
        true
    }

    /// Reads an attachment of the subpass, by its place in it.
    ///
    /// # Safety
    /// The tile buffer is laid out by the targets, and nobody else uses it.
    pub(in crate::tile) unsafe fn own(&self, code: &ImageCode, w: &mut ImageWarp) {
        let Some(p) = self.own_plane(code) else {
            return (0..4).for_each(|k| w.out[k] = [0; 16]);
        };
        let (mut at, mut inside) = ([p.at as u64; 16], 0u16);
        for l in 0..16 {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            if w.mask >> l & 1 != 0 && (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                let here = pixel(x as usize, y as usize);
                // SAFETY: the caller's tile.
                let s = unsafe { p.sample_in(self.tile, w.sample[l].min(p.samples - 1), here / 16) };
                at[l] += ((s as usize * PIXELS + here) * p.bytes) as u64;
                inside |= 1 << l;
            }
        }
        let mut t = [[0; 16]; 4];
        if code.component < TILE_DEPTH {
            // SAFETY: pixels of the plane, the first one where the tile has none.
            unsafe { kernels::gather_fn(p.format)(p.format, self.tile, &at, &mut t) };
        } else {
            for l in 0..16 {
                // SAFETY: as above.
                let from = unsafe { self.tile.add(at[l] as usize) };
                t[0][l] = match code.component {
                    // SAFETY: stencil takes a byte.
                    TILE_STENCIL => unsafe { *from as u32 },
                    // SAFETY: depths are floats in tiles, which begin with a cache line.
                    _ => depth(p, unsafe { *from.cast::<f32>() }).to_bits(),
                };
            }
        }
        for k in 0..4 {
            for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
                w.out[k][l] = if inside >> l & 1 != 0 { t[k][l] } else { 0 };
            }
        }
    }

    /// Reads an input attachment that lives in the tile; false if the view is of something else.
    ///
    /// # Safety
    /// `w.view` is the address of a view; the tile buffer is laid out by the targets, and nobody else uses it.
    pub(in crate::tile) unsafe fn input(&self, code: &ImageCode, w: &mut ImageWarp) -> bool {
        // SAFETY: the caller's view.
        let view = unsafe { &*(w.view as *const ImageView) };
        let Some(t) = self.target(view) else { return false };
        let stencil = view.range.aspect_mask.contains(vk::ImageAspectFlags::STENCIL)
            && !view.range.aspect_mask.contains(vk::ImageAspectFlags::DEPTH);
        let plane = if stencil { &t.stencil } else { t.depth.as_ref().map_or(&t.color, |_| &t.depth) };
        let Some(p) = plane else { return false };
        if t.depth.is_none() && !stencil && !code.multisampled && !few(w.mask) {
            // SAFETY: a plane of the targets.
            unsafe { self.colors(p, view, w) };
            return true;
        }
        for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            let mut texel = [0; 4];
            if (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                let here = pixel(x as usize, y as usize);
                let s = if code.multisampled { w.sample[l].min(p.samples - 1) } else { 0 };
                // SAFETY: the caller's tile.
                let s = unsafe { p.sample_in(self.tile, s, here / 16) };
                let at = p.at + (s as usize * PIXELS + here) * p.bytes;
                // SAFETY: a pixel of a plane that the tile buffer has.
                let at = unsafe { self.tile.add(at) };
                texel = if stencil {
                    // SAFETY: stencil takes a byte.
                    [unsafe { *at } as u32, 0, 0, 1]
                } else if t.depth.is_some() {
                    // SAFETY: depths are floats in tiles, which begin with a cache line.
                    let z = depth(p, unsafe { *at.cast::<f32>() });
                    [z.to_bits(), 0, 0, 1f32.to_bits()]
                } else {
                    // SAFETY: a colour of the view's format.
                    view.swizzled(unsafe { (view.load)(view.format, at) })
                };
            }
            (0..4).for_each(|k| w.out[k][l] = texel[k]);
        }
        true
    }

    /// The same of colours by whole warps.
    ///
    /// # Safety
    /// As [`Self::input`], `p` being of the targets.
    unsafe fn colors(&self, p: &Plane, view: &ImageView, w: &mut ImageWarp) {
        let (mut at, mut inside) = ([p.at as u64; 16], 0u16);
        for l in 0..16 {
            let (x, y) = (w.coords[0][l] as i32 - self.origin[0], w.coords[1][l] as i32 - self.origin[1]);
            if (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                at[l] += (pixel(x as usize, y as usize) * p.bytes) as u64;
                inside |= 1 << l;
            }
        }
        let mut t = [[0; 16]; 4];
        // SAFETY: pixels of the plane, the first one where the tile has none; colours of the view's format.
        unsafe { (view.gather)(view.format, self.tile, &at, &mut t) };
        for k in 0..4 {
            let v = view.swizzled_warp(&t, k);
            for l in (0..16).filter(|l| w.mask >> l & 1 != 0) {
                w.out[k][l] = if inside >> l & 1 != 0 { v[l] } else { 0 };
            }
        }
    }
}

/// Depth as shaders see it, from what the tile holds.
fn depth(p: &Plane, z: f32) -> f32 {
    let scale = p.depth_scale();
    if scale == 0.0 { z } else { (z as f64 / scale as f64) as f32 }
}

/// Colours of a tile that a wave reads.
struct Colors<'a> {
    plane: &'a Plane,
    view: Option<&'a ImageView>,
    gather: kernels::GatherFn,
}

simd::by_level! {
    /// Reads colours for all warps of a wave; pixels that the tile has not are zero.
    ///
    /// # Safety
    /// The tile has the plane, of the kernel's format; rows and results are those of a wave.
    #[inline(never)]
    unsafe fn colors = colors_body, (tile: *mut u8, origin: [i32; 2], from: &Colors, wave: &ImageRows)
}

#[inline(always)]
unsafe fn colors_body<S: Simd>(s: S, tile: *mut u8, origin: [i32; 2], from: &Colors, wave: &ImageRows) {
    let p = from.plane;
    for w in (0..32).filter(|w| wave.live >> w & 1 != 0) {
        let mask = wave.exec[w];
        // SAFETY: the wave has rows of sixteen lanes for each warp.
        let [x, y] =
            [0, 1].map(|k| unsafe { s.isub(s.iloadu(wave.coords[k].warp(w)), s.isplat(origin[k] as u32)) });
        let inside = s.mnot(s.ugt(s.ior(x, y), s.isplat(TILE as u32 - 1)));
        let at = s.iadd(s.imul(pixels(s, x, y), s.isplat(p.bytes as u32)), s.isplat(p.at as u32));
        let at = ops::i_lanes(s, s.isel(inside, at, s.isplat(p.at as u32)));
        let mut t = [[0; 16]; 4];
        // SAFETY: pixels of the plane, the first one where the tile has none; colours of the kernel's format.
        unsafe { (from.gather)(p.format, tile, &at.map(u64::from), &mut t) };
        for k in 0..4 {
            let out = wave.out[k];
            if out.is_null() {
                continue;
            }
            let v = from.view.map_or(t[k], |view| view.swizzled_warp(&t, k));
            let v = s.isel(inside, vector::load(s, &v), s.isplat(0));
            // SAFETY: the warp's sixteen lanes.
            unsafe {
                let to = out.add(64 * w);
                s.istoreu(to, if mask == 0xFFFF { v } else { s.isel(s.mask(mask), v, s.iloadu(to)) });
            }
        }
    }
}

#[cfg(test)]
pub(crate) use tests::reads_are_of_pixels;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::SIDE;
    use crate::tile::memory::plane::PlaneKind;
    use simd::rows::Rows;
    use wave::memory::Aligned;

    /// Pixels within the tile and around it, of warps that are whole, partly active and not there, of one column for all warps too.
    pub(crate) fn reads_are_of_pixels(level: simd::Level) {
        let mut seed = 5u32;
        let mut next = |below: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % below
        };
        let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::R32G32_UINT, vk::Format::R16_SFLOAT];
        for (n, format) in formats.into_iter().enumerate() {
            let info = texel::format::info(format).unwrap();
            let mut plane = Plane::of(info, PlaneKind::Color, std::ptr::null_mut(), 0, TILE);
            plane.at = 128;
            let mut room = Aligned::new();
            room.reserve(plane.at + plane.size());
            let tile = room.ptr();
            for i in 0..plane.at + plane.size() {
                // SAFETY: as many bytes as there is room for. (No infinities in small floats.)
                unsafe { *tile.add(i) = next(256) as u8 & 0x3B };
            }
            let origin = [64 * n as i32, 640];
            let mut coords = [[[0u32; 16]; 32]; 2];
            for (k, c) in coords.as_flattened_mut().as_flattened_mut().iter_mut().enumerate() {
                let from = origin[k / 512] - 3;
                *c = (from + next(TILE as u32 + 6) as i32) as u32;
            }
            let same = n == 1;
            let exec: [u16; 32] =
                std::array::from_fn(|w| if w % 3 == 0 { 0xFFFF } else { next(1 << 16) as u16 });
            let live = 0x5FFF_3FFF;
            let before = [[7u32; 16]; 32];
            let mut out = [before; 3];
            let rows =
                |k: usize| Rows { at: coords[k].as_ptr().cast(), step: if same && k == 0 { 0 } else { 64 } };
            let [a, b, c] = out.each_mut().map(|o| o.as_mut_ptr().cast::<u8>());
            let wave = ImageRows {
                live,
                exec: &exec,
                coords: [rows(0), rows(1), Rows::zero(), Rows::zero()],
                lod: None,
                levels: Default::default(),
                dref: None,
                data: [Rows::NONE; 4],
                // The third channel is not wanted.
                out: [a, b, std::ptr::null_mut(), c],
                lines: None,
                holes: None,
            };
            let from = Colors { plane: &plane, view: None, gather: kernels::gather_fn(info) };
            // SAFETY: a tile of the plane; rows of 32 warps.
            unsafe { colors(level, tile, origin, &from, &wave) };
            for (w, l) in (0..32).flat_map(|w| (0..16).map(move |l| (w, l))) {
                let [x, y] = [coords[0][if same { 0 } else { w }][l], coords[1][w][l]];
                let [x, y] = [x as i32 - origin[0], y as i32 - origin[1]];
                let mut want = [0; 4];
                if (0..TILE).contains(&x) && (0..TILE).contains(&y) {
                    // Blocks of four by four quads' pixels, row by row.
                    let [x, y] = [x as usize, y as usize];
                    let in_block = (y % 4 / 2 * 2 + x % 4 / 2) * 4 + y % 2 * 2 + x % 2;
                    let at = plane.at + ((y / 4 * SIDE + x / 4) * 16 + in_block) * plane.bytes;
                    // SAFETY: a pixel of the plane.
                    want = unsafe { kernels::load_fn(info)(info, tile.add(at)) };
                }
                let active = live >> w & 1 != 0 && exec[w] >> l & 1 != 0;
                for (k, o) in [0, 1, 3].into_iter().zip(&out) {
                    let want = if active { want[k] } else { 7 };
                    assert_eq!(o[w][l], want, "{format:?}, channel {k}, warp {w}, lane {l}, {level:?}");
                }
            }
        }
    }
}

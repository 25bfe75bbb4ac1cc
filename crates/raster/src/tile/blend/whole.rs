//! Writing of whole blocks to all samples of an attachment, each once where the samples of a block are alike.

use super::blocks::write_blocks;
use super::{Warps, Writer};
use crate::tile::memory::alike::has;
use crate::tile::memory::plane::Plane;
use simd::Level;

impl Plane {
    /// Writes warps of a wave, which are whole blocks, to all samples.
    ///
    /// # Safety
    /// As [`Self::alike`]; the writer is of the plane's format, the rows hold these warps.
    #[inline(always)]
    pub(in crate::tile) unsafe fn write_whole(
        &self,
        level: Level,
        tile: *mut u8,
        writer: &Writer,
        blocks: &[u8],
        warps: &Warps,
    ) {
        // SAFETY: the caller's.
        unsafe {
            if self.has_alike() {
                self.write_samples(level, tile, writer, blocks, warps);
            } else {
                write_blocks(level, writer, self.sample(tile, 0), blocks, warps);
            }
        }
    }

    /// [`Self::write_whole`] of a plane that has bits.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn write_samples(
        &self,
        level: Level,
        tile: *mut u8,
        writer: &Writer,
        blocks: &[u8],
        warps: &Warps,
    ) {
        // SAFETY: the caller's (all of it).
        unsafe {
            let Some(bits) = self.alike(tile) else { return };
            if writer.opaque() && warps.masks.iter().all(|m| *m == 0xFFFF) {
                blocks.iter().for_each(|b| bits[*b as usize / 64] |= 1 << (b % 64));
            }
            let mut done = 0;
            while done < blocks.len() {
                let one = has(bits, blocks[done] as usize);
                let n = blocks[done..].iter().take_while(|b| has(bits, **b as usize) == one).count();
                let part = warps.part(done..done + n);
                for s in 0..if one { 1 } else { self.samples } {
                    write_blocks(level, writer, self.sample(tile, s), &blocks[done..done + n], &part);
                }
                done += n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{PIXELS, TILE};
    use crate::state::{Advanced, Blend, BlendAttachment, Rect};
    use crate::tile::memory::plane::PlaneKind;
    use ash::vk;
    use texel::row::Row;
    use wave::memory::Aligned;

    const SAMPLES: usize = 4;

    fn writer(enable: bool) -> Writer {
        let one = vk::BlendFactor::ONE;
        let attachment = BlendAttachment {
            enable,
            src_color: one,
            dst_color: one,
            color_op: vk::BlendOp::ADD,
            src_alpha: one,
            dst_alpha: one,
            alpha_op: vk::BlendOp::ADD,
            write: vk::ColorComponentFlags::RGBA,
            advanced: Advanced::default(),
        };
        let attachments = vec![attachment];
        let blend = Blend { logic_op: None, constants: [0.0; 4], attachments, locations: Vec::new() };
        Writer::new(texel::format::info(vk::Format::R32_SFLOAT).unwrap(), &blend, 0)
    }

    /// Clears, whole blocks and parts of them in any order, against samples that each have their own value all the time.
    #[test]
    fn samples_are_what_was_written() {
        let mut seed = 3u32;
        let mut next = |n: usize| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) as usize % n
        };
        let info = texel::format::info(vk::Format::R32_SFLOAT).unwrap();
        let mut plane = Plane::of(info, PlaneKind::Color, std::ptr::null_mut(), 0, TILE);
        plane.samples = SAMPLES as u32;
        let mut room = Aligned::new();
        room.reserve(plane.size());
        let tile = room.ptr();
        let (replace, add) = (writer(false), writer(true));
        let level = settings::level();
        let mut want = vec![[0f32; SAMPLES]; PIXELS];
        let (mut shared, mut parted) = (0, 0);
        // SAFETY: a tile of the one plane.
        unsafe { plane.clear_rect(tile, &Rect { x0: 0, y0: 0, x1: TILE, y1: TILE }, &[0; 16]) };
        for n in 0..3000 {
            let value = (n % 61) as f32;
            match next(8) {
                0 => {
                    let [x0, y0] = [next(64) as i32, next(64) as i32];
                    let whole = next(20) == 0;
                    let r = if whole {
                        Rect { x0: 0, y0: 0, x1: TILE, y1: TILE }
                    } else {
                        Rect { x0, y0, x1: (x0 + 9).min(TILE), y1: (y0 + 5).min(TILE) }
                    };
                    let mut texel = [0; 16];
                    texel[..4].copy_from_slice(&value.to_le_bytes());
                    // SAFETY: as above.
                    unsafe { plane.clear_rect(tile, &r, &texel) };
                    for (y, x) in (r.y0..r.y1).flat_map(|y| (r.x0..r.x1).map(move |x| (y, x))) {
                        want[crate::layout::pixel(x as usize, y as usize)] = [value; SAMPLES];
                    }
                }
                1..5 => {
                    // Blocks of a wave, some of them twice, from its second warp on.
                    let first = next(250);
                    let blocks: [u8; 5] = std::array::from_fn(|i| (first + [0, 1, 2, 2, 4][i]) as u8);
                    let masks: [u16; 5] =
                        std::array::from_fn(|_| if next(3) > 0 { 0xFFFF } else { next(1 << 16) as u16 });
                    let blended = next(2) == 0;
                    let row = [[value.to_bits(); 16]; 6];
                    let src = [Row::new(&row); 4];
                    let w = if blended { &add } else { &replace };
                    // SAFETY: as above; the rows have six warps.
                    unsafe {
                        let warps = Warps { src: &src, src1: None, first: 1, masks: &masks };
                        plane.write_whole(level, tile, w, &blocks, &warps)
                    };
                    for (b, m) in blocks.iter().zip(masks) {
                        for l in (0..16).filter(|l| m >> l & 1 != 0) {
                            for v in &mut want[*b as usize * 16 + l] {
                                *v = if blended { *v + value } else { value };
                            }
                        }
                    }
                }
                _ => {
                    // Quads of two blocks.
                    let first = next(255);
                    let pixels = [0, 4, 16, 28].map(|p| (first * 16 + p) as u16);
                    let same = next(2) == 0;
                    let mut masks = [next(1 << 16) as u16; SAMPLES];
                    if !same {
                        masks = [(); SAMPLES].map(|_| next(1 << 16) as u16);
                    }
                    // SAFETY: as above.
                    let one = unsafe { plane.one_for_all(tile, &masks, &pixels) };
                    assert!(same || !one || masks == [masks[0]; SAMPLES]);
                    (shared, parted) = (shared + one as u32, parted + !one as u32);
                    for (s, l) in (0..SAMPLES).flat_map(|s| (0..16).map(move |l| (s, l))) {
                        if masks[s] >> l & 1 != 0 {
                            let p = pixels[l / 4] as usize + l % 4;
                            want[p][s] = value;
                            if s == 0 || !one {
                                // SAFETY: a pixel of the plane.
                                unsafe { *plane.sample(tile, s as u32).cast::<f32>().add(p) = value };
                            }
                        }
                    }
                }
            }
            let apart = n % 500 == 499;
            for (p, want) in want.iter().enumerate() {
                for (s, want) in want.iter().enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        let s = plane.sample_in(tile, s as u32, p / 16);
                        assert_eq!(*plane.sample(tile, s).cast::<f32>().add(p), *want, "pixel {p}, {n}");
                    }
                }
            }
            if apart {
                // SAFETY: as above.
                let samples = unsafe { plane.stored_samples(tile) };
                for (p, want) in want.iter().enumerate() {
                    for s in 0..SAMPLES {
                        // SAFETY: as above.
                        let at =
                            unsafe { plane.sample(tile, (s as u32).min(samples - 1)).cast::<f32>().add(p) };
                        // SAFETY: as above.
                        assert_eq!(unsafe { *at }, want[s]);
                    }
                }
            }
        }
        assert!(shared > 100 && parted > 100, "{shared} {parted}");
    }
}

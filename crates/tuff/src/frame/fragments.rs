//! Fragments of a draw in a tile, as streams have them (docs/frame.md).

use super::data::Plane;

/// Fragments of one primitive in a block of 4 × 4 pixels. Masks have a bit for each lane.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// gl_PrimitiveID.
    pub id: u32,
    pub block: usize,
    /// Quads that were shaded, a bit each.
    pub quads: u8,
    pub shaded: u16,
    pub discarded: u16,
    /// By sample: what the primitive covers, what failed each test, what was written.
    pub covered: Vec<u16>,
    pub bounds: Vec<u16>,
    pub stencil: Vec<u16>,
    pub depth: Vec<u16>,
    pub passed: Vec<u16>,
    /// Depths that were compared, of lanes that are covered.
    pub z: Vec<(usize, f32)>,
    /// By colour: what the shader gave to each lane that it shaded, and what each lane that was written holds afterwards.
    pub outputs: Vec<Vec<(usize, [u32; 4])>>,
    pub after: Vec<Vec<(usize, Vec<u8>)>>,
}

/// Of a draw, in a tile.
#[derive(Debug, PartialEq)]
pub struct Fragments {
    pub samples: usize,
    /// Attachment, and bytes of a pixel.
    pub colors: Vec<(usize, usize)>,
    pub pieces: Vec<Piece>,
}

struct From<'b>(&'b [u8]);

impl<'b> From<'b> {
    fn take(&mut self, n: usize) -> Option<&'b [u8]> {
        let (own, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(own)
    }
    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(*self.take(4)?.first_chunk()?))
    }
    fn half(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(*self.take(2)?.first_chunk()?))
    }
    fn masks(&mut self, n: usize) -> Option<Vec<u16>> {
        (0..n).map(|_| self.half()).collect()
    }
}

fn lanes(mask: u16) -> impl Iterator<Item = usize> {
    (0..16).filter(move |l| mask >> l & 1 != 0)
}

fn any(masks: &[u16]) -> u16 {
    masks.iter().fold(0, |a, m| a | m)
}

impl Fragments {
    /// `None`: the bytes are none.
    pub fn read(bytes: &[u8]) -> Option<Fragments> {
        let mut from = From(bytes);
        let head = from.take(4)?;
        let (samples, n, tested) = (head[0] as usize, head[1] as usize, head[2] != 0);
        if !(1..=16).contains(&samples) || n > 16 {
            return None;
        }
        let mut colors = vec![];
        for _ in 0..n {
            let c = from.take(2)?;
            if !(1..=16).contains(&c[1]) {
                return None;
            }
            colors.push((c[0] as usize, c[1] as usize));
        }
        let mut pieces = vec![];
        while !from.0.is_empty() {
            let (id, block) = (from.word()?, from.half()? as usize);
            let quads = from.take(2)?[0];
            if block >= super::tiles::BLOCKS {
                return None;
            }
            let (shaded, discarded) = (from.half()?, from.half()?);
            let mut masks = || from.masks(samples);
            let (covered, bounds, stencil, depth, passed) =
                (masks()?, masks()?, masks()?, masks()?, masks()?);
            let mut z = vec![];
            if tested {
                for l in lanes(any(&covered)) {
                    z.push((l, f32::from_bits(from.word()?)));
                }
            }
            let (mut outputs, mut after) = (vec![], vec![]);
            for (_, bytes) in &colors {
                let own = lanes(shaded).map(|l| {
                    let [a, b, c, d] = [from.word(), from.word(), from.word(), from.word()];
                    Some((l, [a?, b?, c?, d?]))
                });
                outputs.push(own.collect::<Option<Vec<_>>>()?);
                let own = lanes(any(&passed)).map(|l| Some((l, from.take(*bytes)?.to_vec())));
                after.push(own.collect::<Option<Vec<_>>>()?);
            }
            pieces.push(Piece {
                id,
                block,
                quads,
                shaded,
                discarded,
                covered,
                bounds,
                stencil,
                depth,
                passed,
                z,
                outputs,
                after,
            });
        }
        Some(Fragments { samples, colors, pieces })
    }

    /// The same bytes without what shaders gave, and what pixels held after each fragment.
    pub fn without_colors(&self) -> Vec<u8> {
        let mut out = vec![self.samples as u8, 0, 0, 0];
        for p in &self.pieces {
            out.extend(p.id.to_le_bytes());
            out.extend((p.block as u16).to_le_bytes());
            out.extend([p.quads, 0]);
            out.extend(p.shaded.to_le_bytes());
            out.extend(p.discarded.to_le_bytes());
            for masks in [&p.covered, &p.bounds, &p.stencil, &p.depth, &p.passed] {
                out.extend(masks.iter().flat_map(|m| m.to_le_bytes()));
            }
        }
        out
    }
}

/// What became of a draw's fragments.
#[derive(Default, Clone, Copy, serde::Serialize, Debug, PartialEq)]
pub struct Sums {
    /// Pixels that primitives cover, each as often as they do; of them what was shaded and what was discarded.
    pub covered: u64,
    pub shaded: u64,
    pub discarded: u64,
    /// Samples.
    pub samples: u64,
    pub failed_bounds: u64,
    pub failed_stencil: u64,
    pub failed_depth: u64,
    pub passed: u64,
    /// Quads that were shaded, and lanes in them that only help.
    pub quads: u64,
    pub helpers: u64,
}

impl Sums {
    pub fn add(&mut self, f: &Fragments) {
        for p in &f.pieces {
            let all = |m: &[u16]| m.iter().map(|m| m.count_ones() as u64).sum::<u64>();
            self.covered += any(&p.covered).count_ones() as u64;
            self.shaded += p.shaded.count_ones() as u64;
            self.discarded += p.discarded.count_ones() as u64;
            self.samples += all(&p.covered);
            self.failed_bounds += all(&p.bounds);
            self.failed_stencil += all(&p.stencil);
            self.failed_depth += all(&p.depth);
            self.passed += all(&p.passed);
            let quads = p.quads.count_ones() as u64;
            self.quads += quads;
            self.helpers += (4 * quads).saturating_sub(p.shaded.count_ones() as u64);
        }
    }
}

/// Whether fragments say nothing that planes contradict.
pub fn fits(f: &Fragments, planes: &[Plane]) -> bool {
    let has = |(a, bytes): &(usize, usize)| {
        planes
            .iter()
            .any(|p| p.aspect == "colour" && p.bytes == *bytes && (p.attachment == *a || p.stands_in))
    };
    f.colors.iter().all(has)
}

//! What happened in a tile, out of its streams: what each step changed in each plane, and its fragments.

use super::data::{Pass, Plane};

/// Blocks of 4 × 4 pixels in a tile.
pub const BLOCKS: usize = 256;

const INITIAL: u32 = u32::MAX;
const RESOLVED: u32 = 0xFFFE_0000;
const BEGUN: u32 = 0xFFFD_0000;

/// Pixels of a block that have changed.
pub struct Change {
    /// 0: as the pass begins; n + 1: after its command n; one after the last: as it ends.
    pub step: u32,
    pub plane: u8,
    pub sample: u8,
    /// Numbers of blocks, and their bytes, in the order of lanes: old and new, exclusive or.
    pub blocks: Vec<(u8, Vec<u8>)>,
}

/// What a tile's streams say.
#[derive(Default)]
pub struct Told {
    pub changes: Vec<Change>,
    /// Step, and bytes for [`super::fragments::Fragments::read`].
    pub fragments: Vec<(u32, Vec<u8>)>,
    /// In the order in which they came: which of `changes` (false) or `fragments` (true).
    pub order: Vec<(bool, usize)>,
}

/// Steps of a pass: one for its begin, one a command, one for its end.
pub fn steps(pass: &Pass) -> u32 {
    pass.commands.len() as u32 + 2
}

/// A tile as its streams are read.
pub struct Reader<'p> {
    planes: &'p [Plane],
    /// The step of each subpass's begin.
    subpasses: Vec<u32>,
    last: u32,
    /// Pixels: plane by plane, sample by sample.
    now: Vec<u8>,
    pub told: Told,
    step: u32,
}

impl<'p> Reader<'p> {
    pub fn new(pass: &'p Pass) -> Reader<'p> {
        let begins = pass.commands.iter().zip(1u32..).filter(|(c, _)| c.kind == "subpass").map(|(_, n)| n);
        Reader {
            planes: &pass.planes,
            subpasses: std::iter::once(0).chain(begins).collect(),
            last: steps(pass) - 1,
            now: vec![0; pass.planes.iter().map(|p| BLOCKS * 16 * p.bytes * p.samples).sum()],
            told: Told::default(),
            step: 0,
        }
    }

    /// The step that a command's number in a stream stands for.
    fn step_of(&self, command: u32) -> Option<u32> {
        let subpass = |n: u32| self.subpasses.get(n as usize).copied();
        let step = match command {
            INITIAL => self.step,
            _ if command >> 16 == RESOLVED >> 16 => subpass((command & 0xFFFF) + 1).unwrap_or(self.last),
            _ if command >> 16 == BEGUN >> 16 => subpass(command & 0xFFFF)?,
            n => n.checked_add(1).filter(|s| *s < self.last)?,
        };
        // Parts of a pass that is drawn in several turns resolve nothing before the last.
        Some(step.max(self.step))
    }

    /// Reads a stream, which follows those before it; `None`: it is none.
    pub fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        while let Some((kind, rest)) = bytes.split_first() {
            let (command, rest) = rest.split_first_chunk::<4>()?;
            let step = self.step_of(u32::from_le_bytes(*command))?;
            self.step = step;
            bytes = match kind {
                1 => self.changes(step, rest)?,
                2 => {
                    let (n, rest) = rest.split_first_chunk::<4>()?;
                    let (own, rest) = rest.split_at_checked(u32::from_le_bytes(*n) as usize)?;
                    self.told.order.push((true, self.told.fragments.len()));
                    self.told.fragments.push((step, own.to_vec()));
                    rest
                }
                _ => return None,
            };
        }
        Some(())
    }

    fn changes<'b>(&mut self, step: u32, rest: &'b [u8]) -> Option<&'b [u8]> {
        let ([plane, sample], rest) = rest.split_first_chunk::<2>()?;
        let (bits, mut rest) = rest.split_first_chunk::<{ BLOCKS / 8 }>()?;
        let p = self.planes.get(*plane as usize).filter(|p| (*sample as usize) < p.samples)?;
        let before: usize = self.planes[..*plane as usize].iter().map(|p| p.bytes * p.samples).sum();
        let n = 16 * p.bytes;
        let first = BLOCKS * (16 * before + n * *sample as usize);
        let mut blocks = vec![];
        for b in (0..BLOCKS).filter(|b| bits[b / 8] >> (b % 8) & 1 != 0) {
            let (new, more) = rest.split_at_checked(n)?;
            rest = more;
            let now = self.now.get_mut(first + b * n..first + (b + 1) * n)?;
            let xor: Vec<u8> = now.iter().zip(new).map(|(a, b)| a ^ b).collect();
            if xor.iter().any(|x| *x != 0) {
                now.copy_from_slice(new);
                blocks.push((b as u8, xor));
            }
        }
        if !blocks.is_empty() {
            self.told.order.push((false, self.told.changes.len()));
            self.told.changes.push(Change { step, plane: *plane, sample: *sample, blocks });
        }
        Some(rest)
    }
}

/// Column and row of a lane within its block.
pub const fn lane(l: usize) -> [usize; 2] {
    [((l >> 2) & 1) * 2 + (l & 1), (l >> 3) * 2 + ((l >> 1) & 1)]
}

/// The block and lane of a pixel of a tile.
pub fn place([x, y]: [usize; 2]) -> (usize, usize) {
    let lane = ((y >> 1 & 1) * 2 + (x >> 1 & 1)) * 4 + (y & 1) * 2 + (x & 1);
    ((y / 4) * 16 + x / 4, lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_where_their_pixels_are() {
        for l in 0..16 {
            assert_eq!(place(lane(l)), (0, l));
        }
        assert_eq!(place([5, 3]), (1, 11));
        assert_eq!(place([0, 4]), (16, 0));
    }
}

//! What happens in a tile of a recorded pass: which blocks of which attachments each command changes, and every fragment with what became
//! of it. A stream of bytes, whose form docs/frame.md describes. While a pass is recorded, all its draws take the general path
//! ([`super::item::plan::Plan`]), so that each fragment comes by here in the order of primitives.

mod fragments;

use fragments::Fragments;
pub use fragments::{LateTold, explain};

use crate::layout::BLOCKS;
use crate::tile::memory::plane::Plane;
use crate::tile::memory::target::Targets;

/// Kinds of the stream's parts.
const CHANGES: u8 = 1;
const FRAGMENTS: u8 = 2;

/// In a command's place: what a tile begins with, and subpasses' ends (with resolves) and begins; the subpass is in the low bits.
pub const INITIAL: u32 = u32::MAX;
pub const RESOLVED: u32 = 0xFFFE_0000;
pub const BEGUN: u32 = 0xFFFD_0000;

/// Of one tile.
pub struct Recorder {
    stream: Vec<u8>,
    /// Pixels as they were after the last command: plane by plane, sample by sample, block by block.
    shadow: Vec<u8>,
    pub(in crate::tile) fragments: Fragments,
    /// The command of each op.
    commands: Vec<u32>,
}

/// The planes of attachments, in the order of their numbers in a stream.
pub fn planes(targets: &Targets) -> impl Iterator<Item = &Plane> {
    targets.list.iter().flat_map(|t| t.planes())
}

impl Recorder {
    /// Of a tile that has just been loaded; `commands`: of each op that will come.
    ///
    /// # Safety
    /// The tile is laid out by the targets, and nobody else uses it.
    pub unsafe fn new(targets: &Targets, tile: *mut u8, commands: &[u32]) -> Box<Recorder> {
        let bytes = planes(targets).map(|p| BLOCKS * 16 * p.bytes * p.samples as usize).sum();
        let mut r = Box::new(Recorder {
            stream: vec![],
            shadow: vec![0; bytes],
            fragments: Fragments::default(),
            commands: commands.into(),
        });
        // SAFETY: the caller's tile.
        unsafe { r.changes(targets, tile, INITIAL) };
        r
    }

    /// The command of an op.
    pub fn command(&self, op: usize) -> u32 {
        self.commands.get(op).copied().unwrap_or(INITIAL)
    }

    /// What has changed since the last call is this command's.
    ///
    /// # Safety
    /// As [`Recorder::new`].
    pub unsafe fn changes(&mut self, targets: &Targets, tile: *mut u8, command: u32) {
        let mut from = 0;
        for (number, p) in planes(targets).enumerate() {
            let n = 16 * p.bytes;
            for s in 0..p.samples {
                let shadow = &mut self.shadow[from..from + BLOCKS * n];
                from += BLOCKS * n;
                let (head, mut changed) = (self.stream.len(), [0u8; BLOCKS / 8]);
                self.stream.push(CHANGES);
                self.stream.extend(command.to_le_bytes());
                self.stream.extend([number as u8, s as u8]);
                let bits = self.stream.len();
                self.stream.extend(changed);
                for (b, old) in shadow.chunks_exact_mut(n).enumerate() {
                    // SAFETY: a block of the plane's, in the caller's tile.
                    let new = unsafe {
                        let at = p.sample(tile, p.sample_in(tile, s, b)).add(b * n);
                        std::slice::from_raw_parts(at, n)
                    };
                    if new != old {
                        old.copy_from_slice(new);
                        changed[b / 8] |= 1 << (b % 8);
                        self.stream.extend_from_slice(new);
                    }
                }
                match changed == [0; BLOCKS / 8] {
                    true => self.stream.truncate(head),
                    false => self.stream[bits..bits + BLOCKS / 8].copy_from_slice(&changed),
                }
            }
        }
    }

    /// A draw has been drawn in the tile: its fragments are this command's.
    pub fn drew(&mut self, command: u32) {
        let bytes = self.fragments.take();
        if !bytes.is_empty() {
            self.stream.push(FRAGMENTS);
            self.stream.extend(command.to_le_bytes());
            self.stream.extend((bytes.len() as u32).to_le_bytes());
            self.stream.extend(bytes);
        }
    }

    pub fn stream(&self) -> &[u8] {
        &self.stream
    }
}

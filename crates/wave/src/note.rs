//! What a debugged shader tells the machine around it, a wave at a time.

use crate::bits::Bits;
use crate::rays::{Operand, Row};
use shader::bytecode::Program;
use shader::notes::{MAX_WORDS, Note};

/// What the lanes of a wave's warps have done.
pub struct NoteWave<'a> {
    pub program: &'a Program,
    /// Index into the program's notes.
    pub note: u32,
    /// Warps of which it is told.
    pub(crate) warps: u32,
    pub(crate) exec: &'a [u16; 32],
    /// Lanes that are no helpers: of fragment shaders.
    pub(crate) alive: &'a [u16; 32],
    pub(crate) aim: Operand,
    pub(crate) words: [Operand; MAX_WORDS],
}

impl NoteWave<'_> {
    pub fn note(&self) -> &Note {
        // The check of programs sees to it that it is there.
        &self.program.notes.all[self.note as usize]
    }

    /// Warps of which it is told, the lanes that execute it, and those of these that are helpers.
    pub fn warps(&self) -> impl Iterator<Item = (usize, u16, u16)> {
        Bits(self.warps).map(|w| (w, self.exec[w], self.exec[w] & !self.alive[w]))
    }

    fn row(&self, of: Operand, warp: usize) -> Row {
        debug_assert!(!of.at.is_null());
        // SAFETY: the op's register, which its kernel named (`kernels::note`); `warp` is one of the wave's, of which a register has the
        // rows, and a row of a uniform register has its 16 copies.
        unsafe { of.at.add(warp % 32 * of.step).cast::<Row>().read() }
    }

    /// The lanes that are what was asked for.
    pub fn aimed(&self, warp: usize) -> u16 {
        let lane = self.exec[warp].trailing_zeros() as usize & 15;
        self.row(self.aim, warp)[lane] as u16
    }

    /// Word `k` of the note's ([`Note::words`]).
    pub fn word(&self, k: usize, warp: usize) -> Row {
        self.row(self.words[k], warp)
    }
}

//! What ops are made of, for compiled code: each kernel's own function, run on a machine that writes down what it is asked.

#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, unused_imports, reason = "code is compiled for these alone")
)]

pub mod lines;
mod record;
mod simplify;
mod tape;

pub use record::{Record, Wide, with};
pub use tape::{Bin, Id, Node, Tape, Tri, Un};

/// How an operand or a result lies in registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Lanes of 32 bits.
    Word,
    /// A mask a warp.
    Mask,
    /// Lanes of 64 bits.
    Wide,
}

/// One op.
pub struct Recording {
    pub operands: &'static [Kind],
    pub results: &'static [Kind],
    /// Writes down the nodes of the results of these operands ([`with`]).
    pub run: fn(&[Id; 5]) -> [Id; 2],
}

impl Recording {
    pub const fn of(
        operands: &'static [Kind],
        results: &'static [Kind],
        run: fn(&[Id; 5]) -> [Id; 2],
    ) -> Option<Recording> {
        Some(Recording { operands, results, run })
    }

    /// None of its registers is of 64-bit lanes.
    pub fn is_narrow(&self) -> bool {
        self.operands.iter().chain(self.results).all(|k| *k != Kind::Wide)
    }

    /// `n` operands of 32 bits, five at most.
    pub const fn words(n: usize) -> &'static [Kind] {
        const WORDS: &[Kind] = &[Kind::Word; 5];
        WORDS.split_at(n).0
    }
}

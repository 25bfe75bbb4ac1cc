//! A tree along a Morton curve, quickly built.
//!
//! 1. [`keys`]: the place on the curve and the number of each active primitive, sorted.
//! 2. [`cut`]: nodes of eight children, by the places alone: where a range of the curve is split follows from the bits in which its ends differ
//!    (Lauterbach et al., "Fast BVH Construction on GPUs", 2009), and the part whose ends differ in the highest bit is split next.
//! 3. [`fill`]: nodes and leaves from the last to the first, so that a node's boxes are known when it is written.

mod cut;
mod fill;
mod keys;
mod sort;

pub use cut::Plan;
pub use fill::write;

use super::shapes::Chunk;
use crate::layout::Kind;
use crate::{Error, Input, Pool};
use simd::Level;

/// The primitives of an input, by numbers that count through all geometries.
pub struct Source<'a> {
    input: &'a Input<'a>,
    /// The first number of each geometry, if there are several.
    starts: Vec<usize>,
    chunks: Vec<Chunk>,
    total: usize,
}

impl<'a> Source<'a> {
    fn new(input: &'a Input<'a>) -> Result<Source<'a>, Error> {
        let (chunks, total) = super::shapes::chunks(input)?;
        let mut starts = Vec::new();
        if let Input::Geometries(all) = input
            && all.len() > 1
        {
            starts = super::room(all.len())?;
            let mut at = 0;
            for g in *all {
                starts.push(at);
                at += g.primitives();
            }
        }
        Ok(Source { input, starts, chunks, total })
    }

    /// Geometry and primitive.
    #[inline(always)]
    fn find(&self, number: usize) -> (usize, usize) {
        if self.starts.is_empty() {
            return (0, number);
        }
        self.search(number)
    }

    fn search(&self, number: usize) -> (usize, usize) {
        let geometry = self.starts.partition_point(|start| *start <= number) - 1;
        (geometry, number - self.starts[geometry])
    }
}

/// Sorted keys and what nodes are made of them.
pub struct Made<'a> {
    source: Source<'a>,
    keys: keys::Keys,
    pub plan: Plan,
}

pub fn plan<'a>(level: Level, kind: Kind, input: &'a Input<'a>, pool: &dyn Pool) -> Result<Made<'a>, Error> {
    let source = Source::new(input)?;
    let keys = keys::sorted(level, &source, pool)?;
    let plan = cut::plan(kind, &keys, pool)?;
    Ok(Made { source, keys, plan })
}

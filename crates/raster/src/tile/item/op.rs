//! The operations of a pass, which tiles are drawn with.

use crate::geometry::Batch;
use crate::tile::item::Item;
use crate::tile::item::lists::Lists;
use crate::tile::memory::clear::Clear;
use std::mem::replace;
use std::sync::Arc;

/// An operation of a subpass.
pub enum Op {
    Draw(Item),
    Clear(Clear),
}

/// One of the ops of a pass.
pub struct Step {
    pub subpass: usize,
    /// Of [`crate::statistics::Epochs`].
    pub cell: usize,
    pub op: Op,
}

/// Ops for which memory is kept from pass to pass.
const KEPT: usize = 1 << 18;

/// What a pass has gathered for its tiles.
#[derive(Default)]
pub struct Gathered {
    pub ops: Vec<Step>,
    /// By op: which of the draws that a capture tells apart it is of.
    pub told: Vec<Option<usize>>,
    pub lists: Lists,
    /// Primitives of draws that have none of their own: each adds to it. Not there while one does.
    pub open: Option<Box<Batch>>,
    /// The first op whose primitives these may be.
    opened: usize,
}

impl Gathered {
    /// Closes the open primitives, because what comes next has others: gives them to their draws, if there are any.
    pub fn close(&mut self, open: &mut Box<Batch>) -> Option<Arc<Batch>> {
        let mut batch: Option<Arc<Batch>> = None;
        for step in &mut self.ops[self.opened..] {
            if let Op::Draw(item) = &mut step.op {
                item.batch = batch.get_or_insert_with(|| replace(open, Batch::recycled()).into()).clone();
            }
        }
        self.opened = self.ops.len();
        batch
    }

    /// Adds an op whose primitives are not the open ones.
    pub fn push_closed(&mut self, (subpass, cell): (usize, usize), op: Op, told: Option<usize>) {
        debug_assert_eq!(self.opened, self.ops.len());
        self.push((subpass, cell), op, told);
        self.opened = self.ops.len();
    }

    pub fn push(&mut self, (subpass, cell): (usize, usize), op: Op, told: Option<usize>) {
        self.ops.push(Step { subpass, cell, op });
        self.told.push(told);
    }

    /// Empty again; the memory is kept.
    pub fn clear(&mut self) {
        self.ops.clear();
        self.ops.shrink_to(KEPT);
        self.told.clear();
        self.told.shrink_to(KEPT);
        self.lists.clear();
        self.opened = 0;
    }
}

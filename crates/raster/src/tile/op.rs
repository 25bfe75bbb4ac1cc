//! What tiles are drawn with.

use super::clear::Clear;
use super::item::Item;

/// Something a subpass does, in order.
pub enum Op {
    Draw(Box<Item>),
    Clear(Clear),
}

impl Op {
    /// It does nothing in a tile.
    pub fn misses(&self, layer: u32, tx: i32, ty: i32) -> bool {
        match self {
            Op::Draw(item) => item.bins.list(layer, tx as u32, ty as u32).is_empty(),
            Op::Clear(_) => false,
        }
    }
}

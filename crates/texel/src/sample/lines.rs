//! Cache lines of texels.

use super::view::{ImageView, Level};
use std::cell::RefCell;

/// Lines back from the last in which one that is touched again is found: those of two levels of the lane before, twice.
const NEAR: usize = 8;

/// Gathers cache lines (address / 64): each once at least, for those that were touched long ago come again. Or the bytes themselves.
#[derive(Default)]
pub struct Touched {
    lines: RefCell<Vec<u64>>,
    /// Address and number of the bytes of each texel, if these are asked for in place of lines.
    bytes: Option<RefCell<Vec<(u64, u32)>>>,
}

impl Touched {
    /// Goes on with lines that are there already.
    pub fn new(lines: Vec<u64>) -> Touched {
        Touched { lines: RefCell::new(lines), bytes: None }
    }
    pub fn into_lines(self) -> Vec<u64> {
        self.lines.into_inner()
    }
    /// Goes on with the bytes that are there already.
    pub fn exact(bytes: Vec<(u64, u32)>) -> Touched {
        Touched { lines: RefCell::default(), bytes: Some(RefCell::new(bytes)) }
    }
    pub fn into_bytes(self) -> Vec<(u64, u32)> {
        self.bytes.map(RefCell::into_inner).unwrap_or_default()
    }

    /// A texel of a view, or the block that holds it.
    ///
    /// # Safety
    /// The texel exists.
    pub(super) unsafe fn texel(&self, view: &ImageView, l: &Level, [x, y, z, layer]: [u32; 4], sample: u32) {
        // SAFETY: the caller knows that the texel exists.
        let at = unsafe { view.block(l, x, y, z, layer, sample) };
        self.bytes(at as u64, view.format.block_bytes as u64);
    }

    /// Bytes of texels, `size` each, in any order; false if lines are asked for.
    pub(super) fn exactly(&self, size: u32, texels: impl Iterator<Item = u64>) -> bool {
        let Some(bytes) = &self.bytes else { return false };
        let mut bytes = bytes.borrow_mut();
        texels.for_each(|at| join(&mut bytes, at, size));
        true
    }

    /// Some bytes.
    pub(super) fn bytes(&self, at: u64, n: u64) {
        if let Some(bytes) = &self.bytes {
            return join(&mut bytes.borrow_mut(), at, n as u32);
        }
        let mut lines = self.lines.borrow_mut();
        for line in at >> 6..=(at + n - 1) >> 6 {
            let near = lines.len().saturating_sub(NEAR);
            if !lines[near..].contains(&line) {
                lines.push(line);
            }
        }
    }
}

/// Adds bytes, to those before where they are the same or follow them.
#[inline]
fn join(to: &mut Vec<(u64, u32)>, at: u64, n: u32) {
    if let Some((first, bytes)) = to.last_mut() {
        let before = at.wrapping_sub(*first);
        if before <= *bytes as u64 {
            *bytes = (*bytes).max(before as u32 + n);
            return;
        }
    }
    to.push((at, n));
}

//! Tensors in memory that others may change meanwhile: elements are copied out and in, and no reference to them is kept.

use crate::op::room;
use crate::plan::Stop;
use crate::types::{Type, Wide, narrow, widen};

/// Bytes of memory, as a raw address: other threads of the graph's run write other bytes of it at the same time.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    base: *mut u8,
    bytes: u64,
}

// SAFETY: an address. What `Tensor::new` promises of it holds on every thread.
unsafe impl Send for Span {}
// SAFETY: as above.
unsafe impl Sync for Span {}

impl Span {
    /// # Safety
    /// `base` leads to `bytes` that may be read and written for as long as this is used, or `bytes` is 0.
    pub unsafe fn new(base: *mut u8, bytes: u64) -> Span {
        Span { base, bytes }
    }

    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// A part of it; what lies outside is cut.
    pub fn part(self, at: u64, bytes: u64) -> Span {
        let at = at.min(self.bytes);
        // SAFETY: at most one past the end.
        Span { base: unsafe { self.base.add(at as usize) }, bytes: bytes.min(self.bytes - at) }
    }

    fn has(self, at: u64, bytes: usize) -> bool {
        at.checked_add(bytes as u64).is_some_and(|end| end <= self.bytes)
    }

    /// What lies outside reads as 0.
    pub fn get(self, at: u64, out: &mut [u8]) {
        if !self.has(at, out.len()) {
            return out.fill(0);
        }
        // SAFETY: in bounds; `out` is the caller's alone.
        unsafe { std::ptr::copy_nonoverlapping(self.base.add(at as usize), out.as_mut_ptr(), out.len()) }
    }

    /// What lies outside is not written.
    pub fn put(self, at: u64, of: &[u8]) {
        if self.has(at, of.len()) {
            // SAFETY: in bounds; `of` is no part of it, for nobody else has references to it.
            unsafe { std::ptr::copy_nonoverlapping(of.as_ptr(), self.base.add(at as usize), of.len()) }
        }
    }

    /// Copies bytes from another span, or from this.
    pub fn copy(self, at: u64, from: Span, from_at: u64, bytes: usize) {
        if self.has(at, bytes) && from.has(from_at, bytes) {
            // SAFETY: in bounds of both.
            unsafe { std::ptr::copy(from.base.add(from_at as usize), self.base.add(at as usize), bytes) }
        }
    }
}

/// A tensor that a graph is connected to.
#[derive(Clone)]
pub struct Tensor {
    pub(crate) span: Span,
    pub(crate) strides: Vec<u64>,
}

impl Tensor {
    /// `strides`: bytes from one index to the next of each dimension, the last one an element's.
    ///
    /// # Safety
    /// `base` leads to `bytes` that may be read and written until the run has ended, or `bytes` is 0. Accesses outside are not made.
    pub unsafe fn new(base: *mut u8, bytes: u64, strides: Vec<u64>) -> Tensor {
        // SAFETY: the caller's.
        Tensor { span: unsafe { Span::new(base, bytes) }, strides }
    }
}

/// A value while the graph runs.
#[derive(Clone)]
pub(crate) struct View {
    pub span: Span,
    pub ty: Type,
    pub shape: Vec<u64>,
    /// In bytes.
    pub strides: Vec<u64>,
}

/// Strides of elements without gaps.
pub(crate) fn packed(shape: &[u64], element: usize) -> Vec<u64> {
    let mut strides = vec![0; shape.len()];
    let mut within = element as u64;
    for (s, n) in strides.iter_mut().zip(shape).rev() {
        *s = within;
        within *= n;
    }
    strides
}

/// Elements that are converted at once.
const CHUNK: usize = 256;

impl View {
    /// Elements of dimension `d`; 1 beyond the last.
    pub fn dim(&self, d: usize) -> usize {
        self.shape.get(d).map_or(1, |n| *n as usize)
    }

    /// Byte offset of an element.
    pub fn at(&self, index: &[usize]) -> u64 {
        self.strides.iter().zip(index).map(|(s, i)| s * *i as u64).sum()
    }

    /// Consecutive elements from byte `at` on.
    pub fn read<T: Wide>(&self, mut at: u64, out: &mut [T]) {
        let size = self.ty.bytes();
        let mut raw = [0; CHUNK * 8];
        for part in out.chunks_mut(CHUNK) {
            let raw = &mut raw[..part.len() * size];
            self.span.get(at, raw);
            widen(self.ty, raw, part);
            at += raw.len() as u64;
        }
    }

    pub fn write<T: Wide>(&self, mut at: u64, of: &[T]) {
        let size = self.ty.bytes();
        let mut raw = [0; CHUNK * 8];
        for part in of.chunks(CHUNK) {
            let raw = &mut raw[..part.len() * size];
            narrow(self.ty, part, raw);
            self.span.put(at, raw);
            at += raw.len() as u64;
        }
    }

    /// All of it, without gaps.
    ///
    /// # Errors
    /// There is no memory.
    pub fn all<T: Wide>(&self) -> Result<Vec<T>, Stop> {
        let mut out = room(self.shape.iter().product::<u64>() as usize)?;
        let inner = self.shape.last().map_or(1, |n| *n as usize);
        for (i, row) in out.chunks_mut(inner).enumerate() {
            self.read(self.row(i as u64), row);
        }
        Ok(out)
    }

    /// Byte offset of a row: of the elements of the last dimension, by number.
    pub fn row(&self, mut number: u64) -> u64 {
        let mut at = 0;
        let outer = self.shape.len().saturating_sub(1);
        for d in (0..outer).rev() {
            at += number % self.shape[d] * self.strides[d];
            number /= self.shape[d];
        }
        at
    }
}

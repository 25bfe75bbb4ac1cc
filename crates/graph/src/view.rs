//! Tensors in memory that others may change meanwhile: elements are copied out and in, and no reference to them is kept.

use crate::op::room;
use crate::plan::Stop;
use crate::types::{Type, Wide, narrow, widen};
use crate::value::Value;
use std::mem::MaybeUninit;
use std::ops::Range;

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
    pub fn get(self, at: u64, out: &mut [MaybeUninit<u8>]) -> &mut [u8] {
        let (to, n) = (out.as_mut_ptr().cast::<u8>(), out.len());
        // SAFETY: in bounds; `out` is the caller's alone, and all of it is written.
        unsafe {
            match self.has(at, n) {
                true => std::ptr::copy_nonoverlapping(self.base.add(at as usize), to, n),
                false => to.write_bytes(0, n),
            }
            std::slice::from_raw_parts_mut(to, n)
        }
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

impl Tensor {
    /// The bytes of its elements, in stretches that are as long as they can be, as addresses; `None`: there are more stretches than `most`.
    pub fn stretches(&self, value: &Value, most: usize) -> Option<Vec<Range<u64>>> {
        let mut bytes = value.ty.bytes() as u64;
        let mut outer: Vec<(u64, u64)> = vec![];
        for (n, stride) in value.shape.iter().zip(&self.strides).rev() {
            if outer.is_empty() && *stride == bytes {
                bytes *= *n as u64;
            } else {
                outer.push((*n as u64, *stride));
            }
        }
        let count = outer.iter().try_fold(1u64, |c, (n, _)| c.checked_mul(*n))?;
        if count > most as u64 {
            return None;
        }
        let base = self.span.base as u64;
        let stretch = |mut i: u64| {
            let mut at = 0;
            for (n, stride) in &outer {
                at += i % n * stride;
                i /= n;
            }
            base + at..base + at + bytes
        };
        Some((0..count).map(stretch).filter(|r| r.end <= base + self.span.bytes).collect())
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
const WRITTEN: usize = 64;

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
        if let Some(bytes) = T::stored(self.ty, out) {
            self.span.get(at, bytes);
            return;
        }
        let size = self.ty.bytes();
        let mut raw = [MaybeUninit::uninit(); CHUNK * 8];
        for part in out.chunks_mut(CHUNK) {
            let raw = self.span.get(at, &mut raw[..part.len() * size]);
            widen(self.ty, raw, part);
            at += raw.len() as u64;
        }
    }

    pub fn write<T: Wide>(&self, mut at: u64, of: &[T]) {
        let size = self.ty.bytes();
        let mut raw = [0; WRITTEN * 8];
        for part in of.chunks(WRITTEN) {
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

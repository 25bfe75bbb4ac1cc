//! Transform feedback: primitives' vertices into buffers, in the primitives' order (§ Transform Feedback).

use super::assembly::{Assembled, TopologyClass};
use super::vertex::{Outputs, Vertices};
use counters::model::LINE;
use half::f16;
use shader::stage_io::{FEEDBACK_BUFFERS, Feedback as Layout};
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::memory::sparse;

/// A bound buffer.
#[derive(Clone)]
pub struct Target {
    pub buffer: Arc<Buffer>,
    pub offset: u64,
    /// Bytes from `offset` that may be written.
    pub size: u64,
    /// Bytes of them that have been.
    pub written: u64,
}

/// Transform feedback that is under way.
#[derive(Clone, Default)]
pub struct Feedback {
    pub targets: [Option<Target>; FEEDBACK_BUFFERS],
}

/// What became of a piece's primitives.
#[derive(Clone, Copy, Default)]
pub struct Captured {
    pub primitives: u64,
    /// Lines of memory that were written.
    pub lines: u64,
}

impl Feedback {
    /// Writes the primitives of a stream, all those for which every buffer has room.
    pub fn write(
        &mut self,
        layout: &Layout,
        outputs: &Outputs,
        stream: usize,
        vertices: &Vertices,
        flow: &Assembled,
        kind: TopologyClass,
    ) -> Captured {
        let each = match kind {
            TopologyClass::Point => 1,
            TopologyClass::Line => 2,
            TopologyClass::Triangle => 3,
        };
        let mut count = flow.v[0].len() as u64;
        let mut places = [(std::ptr::null_mut::<u8>(), 0u64); FEEDBACK_BUFFERS];
        let mine = |b: usize| layout.strides[b] > 0 && layout.streams[b] as usize == stream;
        for b in (0..FEEDBACK_BUFFERS).filter(|b| mine(*b)) {
            let stride = layout.strides[b] as u64;
            // A buffer that is not bound has no room.
            let Some(t) = &self.targets[b] else { return Captured::default() };
            let (at, room) = t.buffer.range(t.offset, t.size);
            let left = room.saturating_sub(t.written);
            count = count.min(left / (stride * each));
            places[b] = (at.wrapping_add(t.written as usize), left);
        }
        let mut lines = 0;
        for b in (0..FEEDBACK_BUFFERS).filter(|b| mine(*b)) {
            let bytes = count * each * layout.strides[b] as u64;
            if let Some(t) = &mut self.targets[b] {
                t.written += bytes;
            }
            lines += bytes.div_ceil(LINE);
        }
        for (c, column) in &outputs.captures {
            let (at, left) = places[c.buffer as usize & 3];
            let stride = layout.strides[c.buffer as usize & 3] as u64;
            if at.is_null() || !mine(c.buffer as usize & 3) || c.offset as u64 + c.bytes as u64 > stride {
                continue;
            }
            debug_assert!(count * each * stride <= left);
            let place = Place {
                to: at.wrapping_add(c.offset as usize),
                stride: stride as usize,
                column: vertices.column(*column),
                flow: &flow.v,
                count: count as usize,
                each: each as usize,
            };
            // SAFETY: `count` primitives of `each` vertices lie within what is left of the buffer, and the scalar within its
            // vertex's stride.
            unsafe {
                match (c.bytes, c.half) {
                    (4, _) => place.fill(|to, word| to.cast::<u32>().write_unaligned(word)),
                    (2, true) => place.fill(|to, word| {
                        to.cast::<u16>().write_unaligned(f16::from_f32(f32::from_bits(word)).to_bits());
                    }),
                    (2, false) => place.fill(|to, word| to.cast::<u16>().write_unaligned(word as u16)),
                    _ => place.fill(|to, word| to.write(word as u8)),
                }
            }
        }
        Captured { primitives: count, lines }
    }
}

/// Where a scalar of each captured vertex goes, and its values.
struct Place<'p> {
    to: *mut u8,
    stride: usize,
    column: &'p [u32],
    flow: &'p [Vec<u32>; 3],
    count: usize,
    each: usize,
}

impl Place<'_> {
    /// # Safety
    /// `write` may write what it writes at `to` and `count` · `each` strides from there.
    #[inline(always)]
    unsafe fn fill(&self, write: impl Fn(*mut u8, u32)) {
        let mut to = self.to;
        let holes = sparse::may_have_holes(to);
        let mut put = |v: u32| {
            if !holes || sparse::resident(to) {
                write(to, self.column[v as usize]);
            }
            to = to.wrapping_add(self.stride);
        };
        let [a, b, c] = [0, 1, 2].map(|k| if k < self.each { &self.flow[k][..self.count] } else { &[] });
        match self.each {
            1 => a.iter().for_each(|v| put(*v)),
            2 => a.iter().zip(b).for_each(|(a, b)| {
                put(*a);
                put(*b);
            }),
            _ => a.iter().zip(b).zip(c).for_each(|((a, b), c)| {
                put(*a);
                put(*b);
                put(*c);
            }),
        }
    }
}

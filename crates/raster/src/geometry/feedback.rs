//! Transform feedback: primitives' vertices into buffers, in the primitives' order (§ Transform Feedback).

use super::assembly::{Assembled, TopologyClass};
use super::vertex::{Outputs, Vertices};
use counters::model::LINE;
use half::f16;
use shader::stage_io::{Capture, FEEDBACK_BUFFERS, Feedback as Layout};
use simd::Simd;
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::memory::sparse;
use texel::vector;

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
    order: Ordered,
}

/// What became of a piece's primitives.
#[derive(Clone, Copy, Default)]
pub struct Captured {
    pub primitives: u64,
    /// Lines of memory that were written.
    pub lines: u64,
}

impl Feedback {
    pub fn to(targets: [Option<Target>; FEEDBACK_BUFFERS]) -> Feedback {
        Feedback { targets, order: Ordered::default() }
    }

    /// How many primitives of a stream every buffer has room for; none where one is not bound.
    fn room(&self, layout: &Layout, stream: usize, kind: TopologyClass) -> u64 {
        let mine = |b: &usize| layout.strides[*b] > 0 && layout.streams[*b] as usize == stream;
        let fits = |b: usize| {
            let t = self.targets[b].as_ref()?;
            let left = t.buffer.range(t.offset, t.size).1.saturating_sub(t.written);
            Some(left / (layout.strides[b] as u64 * vertices_of(kind)))
        };
        (0..FEEDBACK_BUFFERS).filter(mine).map(|b| fits(b).unwrap_or(0)).min().unwrap_or(u64::MAX)
    }

    /// As it is once so many more primitives of the first stream, of which there is no other, have been written.
    pub fn advanced(&self, layout: &Layout, primitives: u64, kind: TopologyClass) -> Feedback {
        let mut after = Feedback::to(self.targets.clone());
        let count = self.room(layout, 0, kind).min(primitives);
        for (b, t) in after.targets.iter_mut().enumerate() {
            if let Some(t) = t.as_mut().filter(|_| layout.streams[b] == 0) {
                t.written += count * vertices_of(kind) * layout.strides[b] as u64;
            }
        }
        after
    }

    /// Writes the primitives of a stream, all those for which every buffer has room.
    pub fn write(&mut self, level: simd::Level, layout: &Layout, made: &Made) -> Captured {
        let &Made { outputs, stream, vertices, flow, kind } = made;
        let each = vertices_of(kind);
        let count = self.room(layout, stream, kind).min(flow.v[0].len() as u64);
        let mut places = [(std::ptr::null_mut::<u8>(), 0u64); FEEDBACK_BUFFERS];
        let mine = |b: usize| layout.strides[b] > 0 && layout.streams[b] as usize == stream;
        for b in (0..FEEDBACK_BUFFERS).filter(|b| mine(*b)) {
            // A buffer that is not bound has no room.
            let Some(t) = &self.targets[b] else { return Captured::default() };
            let (at, room) = t.buffer.range(t.offset, t.size);
            places[b] = (at.wrapping_add(t.written as usize), room.saturating_sub(t.written));
        }
        let mut lines = 0;
        for b in (0..FEEDBACK_BUFFERS).filter(|b| mine(*b)) {
            let bytes = count * each * layout.strides[b] as u64;
            if let Some(t) = &mut self.targets[b] {
                t.written += bytes;
            }
            lines += bytes.div_ceil(LINE);
        }
        if count == 0 {
            return Captured { primitives: 0, lines };
        }
        let order = self.order.of(flow, count as usize, each as usize);
        let taken = |c: &Capture| {
            let b = c.buffer as usize & 3;
            let fits = c.offset as u64 + c.bytes as u64 <= layout.strides[b] as u64;
            mine(b) && fits && !places[b].0.is_null()
        };
        let mut left = &outputs.captures[..];
        while let Some(((c, column), rest)) = left.split_first() {
            left = rest;
            if !taken(c) {
                continue;
            }
            let (at, room) = places[c.buffer as usize & 3];
            let stride = layout.strides[c.buffer as usize & 3] as usize;
            debug_assert!(count * each * stride as u64 <= room);
            let to = at.wrapping_add(c.offset as usize);
            let first = vertices.column(*column);
            // Words that lie one after the other are written together.
            let (mut columns, mut words) = ([first; 4], 1);
            while let Some(((next, column), rest)) = left.split_first()
                && (c.bytes, next.bytes, next.buffer) == (4, 4, c.buffer)
                && next.offset as usize == c.offset as usize + 4 * words
                && words < 4
                && taken(next)
            {
                columns[words] = vertices.column(*column);
                words += 1;
                left = rest;
            }
            let place = Place { to, stride, column: first, order: order.vertices };
            // SAFETY: `count` primitives of `each` vertices lie within what is left of the buffer, and the scalars within their
            // vertex's stride; assembly numbers vertices that columns hold.
            unsafe {
                match (c.bytes, c.half) {
                    (4, _) if sparse::may_have_holes(to) => {
                        for (k, column) in columns.into_iter().take(words).enumerate() {
                            let place = Place { to: to.wrapping_add(4 * k), column, ..place };
                            place.fill(|to, word| to.cast::<u32>().write_unaligned(word));
                        }
                    }
                    (4, _) => rows(level, columns, words, order, to, stride),
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

fn vertices_of(kind: TopologyClass) -> u64 {
    match kind {
        TopologyClass::Point => 1,
        TopologyClass::Line => 2,
        TopologyClass::Triangle => 3,
    }
}

/// Primitives of the last stage before rasterisation, of one vertex stream.
pub struct Made<'m> {
    pub outputs: &'m Outputs,
    pub stream: usize,
    pub vertices: &'m Vertices,
    pub flow: &'m Assembled,
    pub kind: TopologyClass,
}

/// Captured vertices, one after the other.
#[derive(Clone, Copy)]
struct Order<'o> {
    vertices: &'o [u32],
    /// Each is the one after the one before it.
    neighbours: bool,
}

/// Room for an order.
#[derive(Clone, Default)]
struct Ordered(Vec<u32>);

impl Ordered {
    /// The first `count` primitives' vertices, `each` of each.
    fn of<'o>(&'o mut self, flow: &'o Assembled, count: usize, each: usize) -> Order<'o> {
        let [a, b, c] = [0, 1, 2].map(|k| if k < each { &flow.v[k][..count] } else { &[] });
        self.0.clear();
        let vertices = match each {
            1 => a,
            2 => {
                self.0.extend(a.iter().zip(b).flat_map(|(a, b)| [*a, *b]));
                &self.0[..]
            }
            _ => {
                self.0.extend(a.iter().zip(b).zip(c).flat_map(|((a, b), c)| [*a, *b, *c]));
                &self.0[..]
            }
        };
        let first = vertices.first().map_or(0, |v| *v);
        let apart = vertices.iter().zip(first..).fold(0, |apart, (v, n)| apart | (v ^ n));
        Order { vertices, neighbours: apart == 0 }
    }
}

simd::by_level! {
    /// Writes one to four words of each vertex, each from a column of its own.
    ///
    /// # Safety
    /// The columns hold the vertices; `words` words may be written at `to` and at as many strides from there as there are vertices.
    unsafe fn rows = rows_body, (columns: [&[u32]; 4], words: usize, order: Order, to: *mut u8, stride: usize)
}

/// Bytes between a row that is written and the line that is asked for.
const AHEAD: usize = 2048;

#[inline(always)]
#[allow(clippy::needless_range_loop)]
unsafe fn rows_body<S: Simd>(
    s: S,
    columns: [&[u32]; 4],
    words: usize,
    order: Order,
    to: *mut u8,
    stride: usize,
) {
    // Sixteen vertices of four words at a time; else word by word.
    let whole = if words == 4 { order.vertices.len() / 16 * 16 } else { 0 };
    for (n, v) in order.vertices[..whole].as_chunks::<16>().0.iter().enumerate() {
        let mut lanes = [s.isplat(0); 4];
        for k in 0..4 {
            // SAFETY: the columns hold the vertices, says the caller.
            lanes[k] = unsafe {
                if order.neighbours {
                    s.iloadu(columns[k].as_ptr().add(v[0] as usize).cast())
                } else {
                    let mut own = [0u32; 16];
                    for i in 0..16 {
                        own[i] = *columns[k].as_ptr().add(v[i] as usize);
                    }
                    vector::load(s, &own)
                }
            };
        }
        let rows = s.itranspose4(lanes);
        let first = to.wrapping_add(n * 16 * stride);
        for k in 0..4 {
            let mut at = [first; 4];
            for q in 0..4 {
                at[q] = first.wrapping_add((4 * q + k) * stride);
                // What will be written is on its way by then.
                if k == 0 {
                    simd::prefetch(at[q].wrapping_add(AHEAD));
                }
            }
            // SAFETY: the caller has room for them.
            unsafe { s.istore4(at, rows[k]) };
        }
    }
    let mut to = to.wrapping_add(whole * stride);
    for v in &order.vertices[whole..] {
        for k in 0..words.min(4) {
            // SAFETY: as above.
            unsafe { to.cast::<u32>().add(k).write_unaligned(*columns[k].as_ptr().add(*v as usize)) };
        }
        to = to.wrapping_add(stride);
    }
}

/// Where a scalar of each captured vertex goes, and its values.
struct Place<'p> {
    to: *mut u8,
    stride: usize,
    column: &'p [u32],
    order: &'p [u32],
}

impl Place<'_> {
    /// # Safety
    /// `write` may write what it writes at `to` and at as many strides from there as there are vertices.
    #[inline(always)]
    unsafe fn fill(&self, write: impl Fn(*mut u8, u32)) {
        let mut to = self.to;
        let holes = sparse::may_have_holes(to);
        for v in self.order {
            if !holes || sparse::resident(to) {
                write(to, self.column[*v as usize]);
            }
            to = to.wrapping_add(self.stride);
        }
    }
}

#[cfg(test)]
pub(crate) use tests::rows_are_columns;
#[cfg(test)]
mod tests {
    use super::*;
    use texel::for_tests::space;
    use texel::memory::DeviceMemory;

    /// Chunks of which each knows what those before it write come to where one does that writes all, at the end of a buffer too.
    #[test]
    fn advanced_by_parts_is_advanced_by_the_whole() {
        let memory = DeviceMemory::allocate(space(), 1 << 16, 0, false).unwrap();
        let target = |offset: u64, size: u64| {
            let buffer = Arc::new(Buffer::at(space(), memory.ptr() as u64, 1 << 16).unwrap());
            Some(Target { buffer, offset, size, written: 0 })
        };
        let layout = Layout { captures: vec![], strides: [12, 8, 16, 0], streams: [0, 0, 1, 0] };
        let written = |f: &Feedback| f.targets.each_ref().map(|t| t.as_ref().map(|t| t.written));
        let begun =
            Feedback::to([target(0, 12 * 3 * 100 + 5), target(8192, 8 * 3 * 90 + 7), target(4, 64), None]);
        let triangles = |f: &Feedback, n| f.advanced(&layout, n, TopologyClass::Triangle);
        for (a, b) in [(0, 0), (40, 30), (80, 30), (90, 1), (200, 5)] {
            let parts = written(&triangles(&triangles(&begun, a), b));
            assert_eq!(parts, written(&triangles(&begun, a + b)), "{a} and {b}");
            let n = (a + b).min(90);
            assert_eq!(parts, [Some(36 * n), Some(24 * n), Some(0), None], "{a} and {b}");
        }
        // A buffer that is not bound has no room, and without it nothing is captured.
        let without = Feedback::to([target(0, 1 << 12), None, None, None]);
        assert_eq!(written(&triangles(&without, 7))[0], Some(0));
    }

    /// Rows of one to four words, of neighbours and of vertices anywhere, against the columns.
    pub(crate) fn rows_are_columns(level: simd::Level) {
        let columns: [Vec<u32>; 4] = std::array::from_fn(|k| (0..64).map(|v| v * 16 + k as u32).collect());
        let columns = [0, 1, 2, 3].map(|k| &columns[k][..]);
        let orders = [(3..26).collect::<Vec<u32>>(), vec![7, 7, 3, 60, 1, 0, 2, 9, 8]];
        for (vertices, words) in orders.iter().flat_map(|o| (1..=4).map(move |w| (o, w))) {
            for neighbours in [false, vertices.len() == 23] {
                let stride = 4 * words + 4;
                let mut got = vec![0xAAu8; stride * vertices.len()];
                // SAFETY: vertices below 64; room for all of them.
                unsafe {
                    rows(level, columns, words, Order { vertices, neighbours }, got.as_mut_ptr(), stride)
                };
                for (row, v) in got.chunks(stride).zip(vertices) {
                    let want = (0..words).flat_map(|k| (v * 16 + k as u32).to_le_bytes()).chain([0xAA; 4]);
                    assert!(row.iter().copied().eq(want), "vertex {v} of {words} words: {row:?}");
                }
            }
        }
    }
}

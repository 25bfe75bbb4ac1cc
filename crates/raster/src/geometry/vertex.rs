//! The vertex stage of a chunk: waves, their outputs as columns, and what clipping and set-up want to know of each
//! vertex.

use super::assembly::Assembled;
use super::fetch::Fetch;
use super::viewport::{Map, in_guard, snap};
use crate::prim::Plane;
use shader::bytecode::Program;
use shader::interface as slot;
use shader::ir::Input;
use shader::stage_io::Capture;
use simd::Simd;
use texel::vector;
use wave::Stop;
use wave::graphics::Lanes;

/// A fragment input and the column that it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Varying {
    pub column: usize,
    /// As the fragment program calls it ([`shader::interface`]).
    pub slot: u16,
    pub flat: bool,
    pub no_perspective: bool,
    /// Flat: the vertex that it is of, where that is not the provoking one.
    pub vertex: Option<u8>,
    /// The weight of this vertex, not an output.
    pub weight: Option<u8>,
}

/// Which outputs of a stage's program are kept, as columns. Column 0 is all zeros: outputs that are not written.
#[derive(Default)]
pub struct Outputs {
    /// Index in what the program makes ([`made`]) of columns 1, 2 …
    pub(super) sources: Vec<usize>,
    stream: u8,
    pub position: [usize; 4],
    pub point_size: usize,
    pub layer: usize,
    pub viewport: usize,
    /// Distances that are written.
    pub clip: Vec<usize>,
    pub cull: Vec<usize>,
    pub varyings: Vec<Varying>,
    /// That a vertex leaves of them for tiles.
    pub bytes: u64,
    /// The fragment program reads PointCoord.
    pub point_coord: bool,
    /// The fragment program reads primitives' ids.
    pub ids: bool,
    /// PrimitiveId as a geometry shader writes it.
    pub primitive: usize,
    /// What transform feedback writes, and the column of each.
    pub captures: Vec<(Capture, usize)>,
}

/// Where the program has a slot among what it makes of a vertex of `stream`: its outputs, or the words of a vertex that it emits.
fn made(program: &Program, stream: u8, slot: u16) -> Option<usize> {
    if let Some(m) = &program.interface.io.mesh {
        return m.cells().position(|(c, _)| c.slot == slot);
    }
    match &program.interface.io.geometry {
        Some(g) => g.outputs.iter().position(|o| (o.slot, o.stream) == (slot, stream)),
        None => program.outputs.iter().position(|(s, _)| *s == slot),
    }
}

/// Whether the last stage before rasterization says how primitives are shaded: then its rate follows the planes of
/// the fragment program's inputs.
pub fn has_rate(program: &Program, stream: u8) -> bool {
    made(program, stream, slot::SHADING_RATE).is_some()
}

impl Outputs {
    /// Bytes of a vertex that another stage reads.
    pub fn left(&self) -> u64 {
        4 * self.sources.len() as u64
    }

    /// Columns of these slots, and which each is.
    pub fn of(program: &Program, slots: impl Iterator<Item = u16>) -> (Outputs, Vec<usize>) {
        let mut o = Outputs::default();
        let columns = slots.map(|s| o.column(program, s)).collect();
        (o, columns)
    }

    /// What transform feedback captures of a stream.
    pub fn captured(&mut self, program: &Program, stream: u8) {
        for c in program.interface.io.feedback.captures.iter().filter(|c| c.stream == stream) {
            let column = self.column_of(program, stream, c.slot);
            self.captures.push((*c, column));
        }
    }

    /// What rasterisation wants of the last program before it, of the vertex stream that it takes.
    pub fn new(vertex: &Program, fragment: Option<&Program>, stream: u8) -> Outputs {
        let mut o = Outputs { stream, ..Outputs::default() };
        o.position = std::array::from_fn(|i| o.column(vertex, slot::POSITION + i as u16));
        o.point_size = o.column(vertex, slot::POINT_SIZE);
        o.layer = o.column(vertex, slot::LAYER);
        o.viewport = o.column(vertex, slot::VIEWPORT_INDEX);
        for i in 0..8 {
            let c = o.column(vertex, slot::CLIP_DISTANCE + i);
            if c > 0 {
                o.clip.push(c);
            }
            let c = o.column(vertex, slot::CULL_DISTANCE + i);
            if c > 0 {
                o.cull.push(c);
            }
        }
        for v in fragment.iter().flat_map(|f| &f.interface.varyings) {
            let (source, of, weight) = match slot::Source::of(v.slot) {
                slot::Source::Slot(s) => (Some(s), None, None),
                slot::Source::Vertex(s, k) => (Some(s), Some(k), None),
                slot::Source::Weight(k) => (None, None, Some(k)),
            };
            // A vertex leaves its output once, however many of a primitive's are read.
            let again = |o: &slot::Varying| match slot::Source::of(o.slot) {
                slot::Source::Vertex(s, k) => Some(s) == source && Some(k) < of,
                _ => false,
            };
            if source.is_some() && !fragment.is_some_and(|f| f.interface.varyings.iter().any(again)) {
                o.bytes += v.bytes();
            }
            let column = source.map_or(0, |s| o.column(vertex, s));
            let (flat, no_perspective) = (v.flat, v.no_perspective);
            o.varyings.push(Varying { column, slot: v.slot, flat, no_perspective, vertex: of, weight });
        }
        if fragment.is_some() && has_rate(vertex, stream) {
            let column = o.column(vertex, slot::SHADING_RATE);
            let (flat, no_perspective) = (true, false);
            let slot = slot::SHADING_RATE;
            o.varyings.push(Varying { column, slot, flat, no_perspective, vertex: None, weight: None });
        }
        o.primitive = o.column(vertex, slot::PRIMITIVE_ID);
        let reads = |of: fn(&Input) -> bool| fragment.is_some_and(|f| f.inputs.iter().any(|(i, _)| of(i)));
        o.point_coord = reads(|i| matches!(i, Input::PointCoord(_)));
        o.ids = reads(|i| *i == Input::PrimitiveId);
        o
    }

    /// [`Prim::planes`](crate::prim::Prim::planes) of the primitive that comes next: its id is before them.
    pub fn first(&self, planes: &[Plane]) -> u32 {
        planes.len() as u32 + self.ids as u32
    }

    /// Planes of a primitive, at most.
    pub fn planes(&self) -> usize {
        self.ids as usize + self.varyings.len() + if self.point_coord { 2 } else { 0 }
    }

    /// The column of a slot; 0 if the program doesn't write it.
    fn column(&mut self, program: &Program, slot: u16) -> usize {
        self.column_of(program, self.stream, slot)
    }
    fn column_of(&mut self, program: &Program, stream: u8, slot: u16) -> usize {
        let Some(source) = made(program, stream, slot) else { return 0 };
        if let Some(i) = self.sources.iter().position(|&s| s == source) {
            return i + 1;
        }
        self.sources.push(source);
        self.sources.len()
    }
}

/// Bits of [`Vertices::codes`]: where a vertex lies.
pub mod code {
    /// Outside the view volume: x, y (four bits), near, far.
    pub const XY: u32 = 0xF;
    pub const NEAR: u32 = 1 << 4;
    pub const FAR: u32 = 1 << 5;
    /// Too far out for set-up, or w not positive.
    pub const GUARD: u32 = 1 << 6;
    /// Clip distance i is negative: bit 8 + i; cull distance: 16 + i.
    pub const CLIP: u32 = 8;
    pub const CULL: u32 = 16;
    /// Not a number.
    pub const NAN: u32 = 1 << 24;
    /// A primitive vanishes if all its vertices share one of these.
    pub const REJECT: u32 = XY | NEAR | FAR | 0xFFFF << CLIP;
    /// It must be clipped if any vertex has one of these.
    pub const CUT: u32 = NEAR | FAR | GUARD | 0xFF << CLIP | NAN;
}

/// The shaded vertices of a chunk.
#[derive(Default)]
pub struct Vertices {
    columns: Vec<u32>,
    capacity: usize,
    pub count: usize,
    /// Snapped framebuffer coordinates.
    pub x: Vec<i32>,
    pub y: Vec<i32>,
    pub z: Vec<f32>,
    /// 1/w.
    pub w: Vec<f64>,
    /// Bits of [`code`].
    pub codes: Vec<u32>,
    /// x, y, z and code of each, for who takes a vertex's together.
    pub placed: Vec<[u32; 4]>,
    /// The varyings' columns likewise, four by four: all vertices' of the first four, then of the next.
    pub varied: Vec<[u32; 4]>,
}

impl Vertices {
    #[inline(always)]
    pub fn column(&self, c: usize) -> &[u32] {
        &self.columns[c * self.capacity..c * self.capacity + self.capacity]
    }
    pub fn float(&self, c: usize, v: usize) -> f32 {
        f32::from_bits(self.column(c)[v])
    }
    pub fn position(&self, o: &Outputs, v: usize) -> [f32; 4] {
        o.position.map(|c| self.float(c, v))
    }

    /// Runs the vertex program for a chunk.
    pub fn shade(
        &mut self,
        level: simd::Level,
        o: &Outputs,
        fetch: &Fetch,
        chunk: &Assembled,
        lanes: &mut Lanes,
    ) -> Result<(), Stop> {
        let wave = lanes.count();
        self.room(o, chunk.index.len());
        let mut first = 0;
        while first < self.count {
            let n = (self.count - first).min(wave);
            fetch.fill(level, chunk, first, n, lanes);
            lanes.begin(n);
            lanes.run()?;
            self.take(o, lanes, first, n);
            first += n;
        }
        Ok(())
    }

    /// Makes room for so many vertices.
    pub fn room(&mut self, o: &Outputs, count: usize) {
        self.count = count;
        // Column 0 is never written, so it stays zero from draw to draw.
        if self.count > self.capacity {
            self.capacity = self.count.next_multiple_of(256);
            self.columns.clear();
        }
        let size = self.capacity * (o.sources.len() + 1);
        if self.columns.len() < size {
            self.columns.resize(size, 0);
        }
    }

    /// Takes the outputs of a wave's first `n` lanes for vertices from `first` on.
    pub fn take(&mut self, o: &Outputs, lanes: &Lanes, first: usize, n: usize) {
        for (k, &source) in o.sources.iter().enumerate() {
            let rows = lanes.output(source);
            let at = (k + 1) * self.capacity + first;
            let room = (self.capacity - first).min(n.next_multiple_of(16));
            let to = &mut self.columns[at..at + room];
            if let [row] = rows {
                to.fill(row[0]);
            } else {
                for (to, row) in to.as_chunks_mut::<16>().0.iter_mut().zip(rows) {
                    *to = *row;
                }
            }
        }
    }

    /// Values of column `c`, which is not 0, for vertices from `first` on.
    #[inline(always)]
    pub fn set(&mut self, c: usize, first: usize, values: &[u32]) {
        let at = c.max(1) * self.capacity + first;
        self.columns[at..at + values.len()].copy_from_slice(values);
    }

    /// The values of column `c`, which is not 0.
    pub fn fill(&mut self, c: usize, values: impl Iterator<Item = u32>) {
        let at = c.max(1) * self.capacity;
        self.columns[at..at + self.count].iter_mut().zip(values).for_each(|(to, v)| *to = v);
    }

    /// Framebuffer coordinates and [`code`]s of all vertices.
    pub fn place(&mut self, level: simd::Level, o: &Outputs, maps: &[Map], clip_z: ClipZ) {
        // Whole vectors: the columns have room.
        let n = self.count.next_multiple_of(16).min(self.capacity);
        self.x.resize(n, 0);
        self.y.resize(n, 0);
        self.z.resize(n, 0.0);
        self.w.resize(n, 0.0);
        self.codes.resize(n, 0);
        let column = |c: usize| -> &[f32] {
            bytemuck::cast_slice(&self.columns[c * self.capacity..c * self.capacity + n])
        };
        let p = o.position.map(column);
        let out =
            Out { x: &mut self.x, y: &mut self.y, z: &mut self.z, w: &mut self.w, codes: &mut self.codes };
        if o.viewport > 0 {
            let which = &self.columns[o.viewport * self.capacity..o.viewport * self.capacity + n];
            place_each(p, which, maps, clip_z, out);
        } else {
            place_all(level, p, &maps[0], clip_z, out);
        }
        let distances = [(&o.clip, code::CLIP), (&o.cull, code::CULL)];
        for (&c, bit) in distances.iter().flat_map(|(c, b)| c.iter().zip(*b..)) {
            let d: &[f32] = bytemuck::cast_slice(&self.columns[c * self.capacity..c * self.capacity + n]);
            for (code, &d) in self.codes.iter_mut().zip(d) {
                // Not a number: cut away, but never a reason to cull.
                let outside = if bit < code::CULL { d < 0.0 || d.is_nan() } else { d < 0.0 };
                *code |= (outside as u32) << bit;
            }
        }
        let fours = o.varyings.len().div_ceil(4);
        self.placed.resize(n, [0; 4]);
        self.varied.resize(n * fours, [0; 4]);
        let (x, y) = (bytemuck::cast_slice(&self.x), bytemuck::cast_slice(&self.y));
        together(level, [x, y, bytemuck::cast_slice(&self.z), &self.codes], &mut self.placed);
        for (four, to) in o.varyings.chunks(4).zip(self.varied.chunks_exact_mut(n.max(1))) {
            let of = |k: usize| four.get(k).map_or(0, |v| v.column);
            let column = |k: usize| &self.columns[of(k) * self.capacity..of(k) * self.capacity + n];
            together(level, [column(0), column(1), column(2), column(3)], to);
        }
    }

    /// Which vertices four varyings are of in [`Self::varied`].
    #[inline(always)]
    pub fn four(&self, four: usize) -> &[[u32; 4]] {
        let n = self.placed.len();
        &self.varied[four * n..four * n + n]
    }
}

simd::by_level! {
    /// Columns of whole vectors as rows.
    fn together = together_body, (columns: [&[u32]; 4], to: &mut [[u32; 4]])
}

#[inline(always)]
fn together_body<S: Simd>(s: S, columns: [&[u32]; 4], to: &mut [[u32; 4]]) {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k: usize| columns[k].as_chunks::<16>().0);
    for (i, to) in to.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let rows = s.itranspose4([
            vector::load(s, &a[i]),
            vector::load(s, &b[i]),
            vector::load(s, &c[i]),
            vector::load(s, &d[i]),
        ]);
        for k in 0..4 {
            let at =
                [to[k].as_mut_ptr(), to[4 + k].as_mut_ptr(), to[8 + k].as_mut_ptr(), to[12 + k].as_mut_ptr()];
            // SAFETY: four words each, none twice.
            unsafe { s.istore4([at[0].cast(), at[1].cast(), at[2].cast(), at[3].cast()], rows[k]) };
        }
    }
}

/// How depth is clipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClipZ {
    None,
    /// 0 to w.
    Zero,
    /// −w to w.
    Minus,
}

pub(super) struct Out<'a> {
    x: &'a mut [i32],
    y: &'a mut [i32],
    z: &'a mut [f32],
    w: &'a mut [f64],
    codes: &'a mut [u32],
}

/// `N` vertices placed.
struct Placed<const N: usize> {
    x: [i32; N],
    y: [i32; N],
    z: [f32; N],
    w: [f64; N],
    codes: [u32; N],
}

/// Loops without branches over several arrays, so that the compiler makes vectors of them.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
fn place<const N: usize>([x, y, z, w]: [&[f32; N]; 4], map: &Map, clip_z: ClipZ) -> Placed<N> {
    let mut out = Placed { x: [0; N], y: [0; N], z: [0.0; N], w: [0.0; N], codes: [0; N] };
    let clips = if clip_z == ClipZ::None { 0 } else { code::NEAR | code::FAR };
    let low = if clip_z == ClipZ::Minus { -1.0 } else { 0.0 };
    let mut fx = [0f32; N];
    let mut fy = [0f32; N];
    for i in 0..N {
        let f = map.window([x[i], y[i], z[i], w[i]]);
        fx[i] = f[0];
        fy[i] = f[1];
        out.z[i] = f[2];
    }
    for i in 0..N {
        out.x[i] = snap(fx[i]);
        out.y[i] = snap(fy[i]);
    }
    for i in 0..N {
        out.w[i] = 1.0 / w[i] as f64;
    }
    for i in 0..N {
        let (x, y, z, w) = (x[i], y[i], z[i], w[i]);
        let xy = (x < -w) as u32 | ((x > w) as u32) << 1 | ((y < -w) as u32) << 2 | ((y > w) as u32) << 3;
        let depth = ((z < low * w) as u32) << 4 | ((z > w) as u32) << 5;
        let clear = in_guard(fx[i]) & in_guard(fy[i]) & (w >= super::clip::LEAST_W as f32);
        let odd = !(x.is_finite() & y.is_finite() & z.is_finite() & w.is_finite());
        out.codes[i] = xy | depth & clips | (!clear as u32) << 6 | (odd as u32) << 24;
    }
    out
}

#[inline(always)]
fn place_body(p: [&[f32]; 4], map: &Map, clip_z: ClipZ, out: Out) {
    // The columns are whole vectors.
    let [px, py, pz, pw] = p.map(|c| c.as_chunks::<16>().0);
    let (x, y) = (out.x.as_chunks_mut::<16>().0, out.y.as_chunks_mut::<16>().0);
    let (z, w) = (out.z.as_chunks_mut::<16>().0, out.w.as_chunks_mut::<16>().0);
    for (i, codes) in out.codes.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let placed = place([&px[i], &py[i], &pz[i], &pw[i]], map, clip_z);
        x[i] = placed.x;
        y[i] = placed.y;
        z[i] = placed.z;
        w[i] = placed.w;
        *codes = placed.codes;
    }
}

simd::by_level! {
    /// All vertices by one viewport.
    fn place_all = plain place_body, (p: [&[f32]; 4], map: &Map, clip_z: ClipZ, out: Out)
}

/// Each vertex by the viewport it names itself. Primitives whose vertices disagree are placed anew.
fn place_each(p: [&[f32]; 4], which: &[u32], maps: &[Map], clip_z: ClipZ, out: Out) {
    for i in 0..out.x.len() {
        let map = maps.get(which[i] as usize).unwrap_or(&maps[0]);
        let at = place([&[p[0][i]], &[p[1][i]], &[p[2][i]], &[p[3][i]]], map, clip_z);
        (out.x[i], out.y[i], out.z[i], out.w[i], out.codes[i]) =
            (at.x[0], at.y[0], at.z[0], at.w[0], at.codes[0]);
    }
}

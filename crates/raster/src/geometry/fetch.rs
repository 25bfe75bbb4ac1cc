//! Vertex fetch: attributes and built-ins into the inputs of a wave (Vulkan specification, "Vertex Input Extraction").

use super::assembly::Assembled;
use super::traffic::Stream;
use crate::draw::{Call, Draw};
use shader::bytecode::Program;
use shader::cost::Half;
use shader::ir::Input;
use simd::{Level, Simd};
use texel::format::codec::load64;
use texel::format::kernels::{GatherFn, gather_fn, load_fn};
use texel::format::{Component, FormatInfo, NumClass};
use wave::graphics::Lanes;

/// Bytes of the widest attribute.
const MOST: usize = 32;
const NOBODY: usize = usize::MAX;

/// One attribute that the program reads.
struct Attribute {
    info: &'static FormatInfo,
    gather: GatherFn,
    /// Address of element 0, the bytes between elements, and how many may be read.
    base: *const u8,
    stride: u64,
    readable: u64,
    /// `None`: an element a vertex. Instances an element; 0: always the first one.
    divisor: Option<u32>,
    /// The program's input of each 32-bit scalar; [`NOBODY`] where it has none.
    inputs: [usize; 8],
    /// What an element out of bounds reads as.
    zero: [u32; 8],
    /// Components, if they are whole words that are taken as they are.
    words: usize,
}

/// Where a program's inputs come from, for one draw.
pub struct Fetch {
    attributes: Vec<Attribute>,
    vertex_index: Option<usize>,
    instance_index: Option<usize>,
    /// The same for all vertices.
    constants: Vec<(usize, u32)>,
    pub(super) first_instance: u32,
    /// The bindings that attributes are read from, by half of the program (all of one that has none are the first's), and by both.
    pub(super) streams: [Vec<Stream>; 3],
    /// Those bindings of the second half that the first reads nothing of.
    pub(super) others: Vec<Stream>,
}

// SAFETY: the addresses are only read; the draw keeps the buffers.
unsafe impl Sync for Fetch {}

/// All scalars of one texel of a format.
///
/// # Safety
/// A texel is readable at `p`.
unsafe fn scalars(info: &'static FormatInfo, p: *const u8) -> [u32; 8] {
    if info.is_64bit() {
        // SAFETY: the caller's texel.
        let v = unsafe { load64(info, p) };
        return std::array::from_fn(|i| (v[i / 2] >> (32 * (i % 2))) as u32);
    }
    // SAFETY: the caller's texel, and its format's loader.
    let t = unsafe { load_fn(info)(info, p) };
    [t[0], t[1], t[2], t[3], 0, 0, 0, 0]
}

impl Fetch {
    pub fn new(draw: &Draw, call: &Call, program: &Program, draw_index: u32, view: Option<u32>) -> Fetch {
        let mut fetch = Fetch {
            attributes: Vec::new(),
            vertex_index: None,
            instance_index: None,
            constants: Vec::new(),
            first_instance: call.first_instance,
            streams: Default::default(),
            others: Vec::new(),
        };
        let input = &draw.state.input;
        let base_vertex = if call.indexed { call.vertex_offset as u32 } else { call.first };
        for (i, (what, _)) in program.inputs.iter().enumerate() {
            match what {
                Input::VertexIndex => fetch.vertex_index = Some(i),
                Input::InstanceIndex => fetch.instance_index = Some(i),
                Input::BaseVertex => fetch.constants.push((i, base_vertex)),
                Input::BaseInstance => fetch.constants.push((i, call.first_instance)),
                Input::DrawIndex => fetch.constants.push((i, draw_index)),
                Input::ViewIndex => fetch.constants.push((i, view.unwrap_or(0))),
                Input::DeviceIndex => fetch.constants.push((i, 0)),
                // Those of attributes are filled below; without an attribute: 0.
                Input::Varying(_) => {
                    let slot = slot_of(*what);
                    let covered = |a: &crate::state::VertexAttribute| {
                        let first = a.location as usize * 4;
                        (first..first + scalars_of(a.format)).contains(&slot)
                    };
                    if !input.attributes.iter().any(covered) {
                        fetch.constants.push((i, 0));
                    }
                }
                _ => {}
            }
        }
        let mut bindings = [const { Vec::new() }; 3];
        for a in &input.attributes {
            let mut inputs = [NOBODY; 8];
            for (i, (what, _)) in program.inputs.iter().enumerate() {
                let Input::Varying(_) = what else { continue };
                if let Some(k) = slot_of(*what).checked_sub(a.location as usize * 4)
                    && k < scalars_of(a.format)
                {
                    inputs[k] = i;
                }
            }
            if inputs == [NOBODY; 8] || a.format.compressed() {
                continue;
            }
            let binding = input.bindings.iter().find(|b| b.binding == a.binding);
            let stride = binding.map_or(0, |b| b.stride) as u64;
            let (mut base, mut readable) = (std::ptr::null::<u8>(), 0);
            if let Some(v) = draw.vertex_buffers.get(a.binding as usize)
                && let Some(b) = &v.buffer
            {
                let (p, n) = b.range(v.offset, v.size);
                let bytes = a.format.block_bytes as u64;
                if let Some(room) = n.checked_sub(a.offset as u64 + bytes)
                    && !p.is_null()
                {
                    base = p.wrapping_add(a.offset as usize);
                    readable = room.checked_div(stride).map_or(u64::MAX, |n| n + 1);
                }
            }
            if readable > 0 {
                let bytes = a.format.block_bytes as u64;
                let divisor = binding.and_then(|b| b.divisor);
                let stream = || Stream { base: base as u64, bytes, stride, readable, divisor };
                let last = a.location + (scalars_of(a.format) as u32 - 1) / 4;
                let reads =
                    |h: &Half| h.attributes.iter().any(|l| (a.location..=last).contains(&(*l as u32)));
                let halves = program.profile.halves.as_ref();
                let by = halves.map_or([true, false], |h| [reads(&h.position), reads(&h.others)]);
                let by = [by[0], by[1], by[0] || by[1]];
                for (k, _) in by.into_iter().enumerate().filter(|(_, reads)| *reads) {
                    join(&mut fetch.streams[k], &mut bindings[k], a.binding, stream());
                }
            }
            // SAFETY: no attribute is longer.
            let zero = unsafe { scalars(a.format, [0u8; MOST].as_ptr()) };
            fetch.attributes.push(Attribute {
                info: a.format,
                gather: gather_fn(a.format),
                base,
                stride,
                readable,
                divisor: binding.and_then(|b| b.divisor),
                inputs,
                zero,
                words: words_of(a.format),
            });
        }
        let own = |(i, _): &(usize, &Stream)| !bindings[0].contains(&bindings[1][*i]);
        fetch.others = fetch.streams[1].iter().enumerate().filter(own).map(|(_, s)| *s).collect();
        fetch
    }

    /// Fills the inputs of a wave with vertices `first .. first + n` of a chunk.
    pub fn fill(&self, level: Level, chunk: &Assembled, first: usize, n: usize, lanes: &mut Lanes) {
        let index = &chunk.index[first..first + n];
        let instance = &chunk.instance[first..first + n];
        if let Some(i) = self.vertex_index {
            copy(index, lanes.input(i));
        }
        if let Some(i) = self.instance_index {
            copy(instance, lanes.input(i));
        }
        for &(i, v) in &self.constants {
            lanes.input(i).fill([v; 16]);
        }
        for a in &self.attributes {
            if a.words > 0 && a.divisor.is_none() && index.iter().all(|&i| (i as u64) < a.readable) {
                a.quick(level, index, lanes);
                continue;
            }
            let mut rows = [[[0u32; 16]; 8]; 16];
            for (w, (index, instance)) in index.chunks(16).zip(instance.chunks(16)).enumerate() {
                a.warp(index, instance, self.first_instance, &mut rows[w]);
            }
            for (k, &i) in a.inputs.iter().enumerate().filter(|(_, i)| **i != NOBODY) {
                let input = lanes.input(i);
                for (to, from) in input.iter_mut().zip(&rows[..n.div_ceil(16)]) {
                    *to = from[k];
                }
            }
        }
    }
}

fn slot_of(i: Input) -> usize {
    match i {
        Input::Varying(s) => s as usize,
        _ => NOBODY,
    }
}

/// An attribute's stream goes with that of others of its binding; `bindings`: of the streams so far.
fn join(streams: &mut Vec<Stream>, bindings: &mut Vec<u32>, binding: u32, new: Stream) {
    match bindings.iter().position(|b| *b == binding) {
        Some(i) => {
            let s = &mut streams[i];
            let end = (s.base + s.bytes).max(new.base + new.bytes);
            s.base = s.base.min(new.base);
            s.bytes = end - s.base;
            s.readable = s.readable.min(new.readable);
        }
        None => {
            bindings.push(binding);
            streams.push(new);
        }
    }
}

/// 32-bit scalars that an attribute of a format fills, missing components included.
fn scalars_of(info: &FormatInfo) -> usize {
    if info.is_64bit() { 2 * info.components().len() } else { 4 }
}

fn copy(from: &[u32], to: &mut [[u32; 16]]) {
    for (from, to) in from.chunks(16).zip(to) {
        to[..from.len()].copy_from_slice(from);
    }
}

/// Components of a format that has nothing but 32-bit ones in order, else 0.
fn words_of(info: &FormatInfo) -> usize {
    let plain = matches!(info.class, NumClass::Sfloat | NumClass::Uint | NumClass::Sint);
    let order = |(i, c): (usize, &Component)| c.bits == 32 && c.channel() == i && c.offset as usize == i * 32;
    if plain && info.components().iter().enumerate().all(order) { info.components().len() } else { 0 }
}

/// Four elements of `WORDS` words as columns.
///
/// # Safety
/// `WORDS` words are readable at each place.
#[inline(always)]
unsafe fn columns<const WORDS: usize>(p: [*const u8; 4], one: u32) -> [[u32; 4]; 4] {
    let mut c = [[0; 4], [0; 4], [0; 4], [one; 4]];
    for (i, p) in p.into_iter().enumerate() {
        // SAFETY: the caller's words.
        let e = unsafe { p.cast::<[u32; WORDS]>().read_unaligned() };
        for k in 0..WORDS {
            c[k][i] = e[k];
        }
    }
    c
}

/// Bytes between an element that is read and what is asked for.
const AHEAD: usize = 2048;

simd::by_level! {
    /// Four words of each element as columns, a row of each for sixteen elements; those that do not fill a row are left out.
    ///
    /// # Safety
    /// Four words are readable at each element's place; there is room for the rows.
    unsafe fn fours = fours_body, (base: *const u8, stride: usize, index: &[u32], to: [*mut [u32; 16]; 4])
}

#[inline(always)]
unsafe fn fours_body<S: Simd>(s: S, base: *const u8, stride: usize, index: &[u32], to: [*mut [u32; 16]; 4]) {
    for (w, i) in index.as_chunks::<16>().0.iter().enumerate() {
        let mut rows = [s.isplat(0); 4];
        for k in 0..4 {
            let mut at = [base.cast_mut(); 4];
            for q in 0..4 {
                at[q] = base.wrapping_add(i[4 * q + k] as usize * stride).cast_mut();
                // Most are read one after the other, and a CPU does not look beyond a page by itself.
                if k % 2 == 0 {
                    simd::prefetch(at[q].wrapping_add(AHEAD));
                }
            }
            // SAFETY: the caller's elements, which are only read.
            rows[k] = unsafe { s.iload4(at) };
        }
        let words = s.itranspose4(rows);
        for k in 0..4 {
            // SAFETY: the caller has room for it.
            unsafe { s.istoreu(to[k].add(w).cast(), words[k]) };
        }
    }
}

#[cfg(test)]
pub(crate) fn fours_are_columns(level: Level) {
    let data: Vec<u32> = (0..40 * 5).collect();
    let index: Vec<u32> = (0..37).map(|i| i * 7 % 40).collect();
    let mut columns = [[[0u32; 16]; 2]; 4];
    let mut to = [std::ptr::null_mut(); 4];
    to.iter_mut().zip(&mut columns).for_each(|(to, c)| *to = c.as_mut_ptr());
    // SAFETY: elements of five words below 40, of which four are read; two rows each.
    unsafe { fours(level, data.as_ptr().cast(), 20, &index, to) };
    for (k, column) in columns.iter().enumerate() {
        assert!(column.as_flattened().iter().zip(&index).all(|(got, i)| *got == i * 5 + k as u32), "{k}");
    }
}

impl Attribute {
    /// Vertices of one wave, all of them in bounds, of a format of plain words.
    fn quick(&self, level: Level, index: &[u32], lanes: &mut Lanes) {
        let mut unused = [[0u32; 16]; 16];
        // Inputs are registers of their own.
        let mut to = [unused.as_mut_ptr(); 4];
        for (to, &i) in to.iter_mut().zip(&self.inputs).filter(|(_, i)| **i != NOBODY) {
            let rows = lanes.input(i);
            if rows.len() >= index.len().div_ceil(16) {
                *to = rows.as_mut_ptr();
            }
        }
        let one = self.info.channel_class().one();
        // SAFETY: the indices are in bounds; rows have room for the wave.
        unsafe {
            match self.words {
                1 => self.transpose::<1>(index, to, one),
                2 => self.transpose::<2>(index, to, one),
                3 => self.transpose::<3>(index, to, one),
                _ => {
                    let (stride, whole) = (self.stride as usize, index.len() / 16);
                    fours(level, self.base, stride, index, to);
                    // What does not fill a warp.
                    let rest = [0, 1, 2, 3].map(|k: usize| to[k].add(whole));
                    self.transpose::<4>(&index[whole * 16..], rest, one);
                }
            }
        }
    }

    /// # Safety
    /// The vertices are readable; there is room for as many at each of `to`.
    #[inline(always)]
    unsafe fn transpose<const WORDS: usize>(&self, index: &[u32], to: [*mut [u32; 16]; 4], one: u32) {
        // SAFETY: vertices are readable, says the caller.
        let at = |i: u32| unsafe { self.base.add(i as usize * self.stride as usize) };
        let quads = index.as_chunks::<4>();
        for (q, i) in quads.0.iter().enumerate() {
            for i in *i {
                simd::prefetch(at(i).wrapping_add(AHEAD));
            }
            // SAFETY: four vertices.
            let c = unsafe { columns::<WORDS>([at(i[0]), at(i[1]), at(i[2]), at(i[3])], one) };
            for k in 0..4 {
                // SAFETY: the caller has room for these four.
                unsafe { to[k].cast::<[u32; 4]>().add(q).write(c[k]) };
            }
        }
        for (n, &i) in quads.1.iter().enumerate() {
            let p = at(i);
            // SAFETY: a vertex.
            let c = unsafe { columns::<WORDS>([p; 4], one) };
            for k in 0..4 {
                // SAFETY: the caller has room for it.
                unsafe { to[k].cast::<u32>().add(quads.0.len() * 4 + n).write(c[k][0]) };
            }
        }
    }

    /// Up to sixteen vertices of these VertexIndex and InstanceIndex.
    fn warp(&self, index: &[u32], instance: &[u32], first_instance: u32, out: &mut [[u32; 16]; 8]) {
        let n = index.len();
        let mut element = [0u64; 16];
        match self.divisor {
            None => {
                for (e, &i) in element.iter_mut().zip(index) {
                    *e = i as u64;
                }
            }
            Some(d) => {
                let of = |i: u32| match d {
                    0 => first_instance as u64,
                    1 => i as u64,
                    _ => first_instance as u64 + (i.wrapping_sub(first_instance) / d) as u64,
                };
                let (a, b) = (of(instance[0]), of(instance[n - 1]));
                if a == b {
                    // SAFETY: in bounds, or not read.
                    let t = if a < self.readable {
                        unsafe { scalars(self.info, self.base.add((a * self.stride) as usize)) }
                    } else {
                        self.zero
                    };
                    *out = t.map(|v| [v; 16]);
                    return;
                }
                for (e, &i) in element.iter_mut().zip(instance) {
                    *e = of(i);
                }
            }
        }
        let mut bad = 0u32;
        let mut offsets = [0u64; 16];
        for i in 0..16 {
            let out = element[i] >= self.readable;
            bad |= ((out && i < n) as u32) << i;
            offsets[i] = if out { 0 } else { element[i].wrapping_mul(self.stride) };
        }
        if self.readable == 0 {
            *out = self.zero.map(|v| [v; 16]);
            return;
        }
        if self.info.is_64bit() {
            for i in 0..n {
                // SAFETY: offset 0 and those of elements in bounds can be read.
                let t = unsafe { scalars(self.info, self.base.add(offsets[i] as usize)) };
                for (row, v) in out.iter_mut().zip(t) {
                    row[i] = v;
                }
            }
        } else if let Some((low, _)) = out.split_first_chunk_mut::<4>() {
            // SAFETY: as above.
            unsafe { (self.gather)(self.info, self.base, &offsets, low) };
        }
        while bad != 0 {
            let i = bad.trailing_zeros() as usize;
            bad &= bad - 1;
            for (row, zero) in out.iter_mut().zip(self.zero) {
                row[i] = zero;
            }
        }
    }
}

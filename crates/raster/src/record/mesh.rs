//! Vertices that a draw reads, and what its geometry makes of them, both cut at a limit.

use super::FormatFact;
use crate::draw::{Draw, IndexBuffer};
use crate::state::VertexBinding;
use ash::vk;
use machine::record::{Blob, Record};
use rustc_hash::FxHashMap;
use serde::Serialize;
use texel::memory::sparse::resident;

/// References of a draw that are looked at, and vertices that its geometry makes that are kept.
const MOST: usize = 16384;
/// Instances whose own attributes are kept.
const MOST_INSTANCES: u64 = 256;

/// What stands for a restart among references, and for an index that lies outside its buffer.
const NONE: u32 = u32::MAX;

/// Vertices that a draw reads, of one instance.
#[derive(Serialize)]
pub struct MeshIn {
    /// All that there are.
    pub references: u64,
    /// u32 each, numbers of `vertices`; all bits: a restart.
    pub indices: Option<Blob>,
    /// u32 each: what gl_VertexIndex says.
    pub vertices: Option<Blob>,
    pub attributes: Vec<AttributeIn>,
}

#[derive(Serialize)]
pub struct AttributeIn {
    pub location: u32,
    pub format: FormatFact,
    pub per_instance: bool,
    /// Of each vertex, or of the first instances. What lies outside its buffer is 0.
    pub data: Option<Blob>,
}

impl MeshIn {
    /// `None`: it reads none.
    pub fn of(to: &Record, d: &Draw) -> Option<MeshIn> {
        let call = d.what.nth(0)?;
        let (mut numbers, mut vertices, mut indices) = (FxHashMap::default(), vec![], vec![]);
        for i in 0..(call.count as usize).min(MOST) as u64 {
            let vertex = match (call.indexed, &d.index_buffer) {
                (false, _) => Some(call.first.wrapping_add(i as u32)),
                (true, Some(b)) => match index(b, call.first as u64 + i) {
                    Some(v) if d.state.primitive_restart && v == b.restart => None,
                    v => Some(v.unwrap_or(0).wrapping_add(call.vertex_offset as u32)),
                },
                (true, None) => Some(call.vertex_offset as u32),
            };
            indices.push(vertex.map_or(NONE, |v| {
                *numbers.entry(v).or_insert_with(|| {
                    vertices.push(v);
                    vertices.len() as u32 - 1
                })
            }));
        }
        let instances = (call.instances as u64).min(MOST_INSTANCES) as u32;
        let instances: Vec<u32> = (0..instances).map(|i| call.first_instance.wrapping_add(i)).collect();
        let attributes = d.state.input.attributes.iter().filter_map(|a| {
            let b = d.state.input.bindings.iter().find(|b| b.binding == a.binding)?;
            let bytes = a.format.block_bytes as usize;
            let of = if b.divisor.is_some() { &instances } else { &vertices };
            let mut all = vec![0; bytes * of.len()];
            for (to, n) in all.chunks_exact_mut(bytes.max(1)).zip(of) {
                fetch(d, b, element(b, *n, call.first_instance), a.offset, to);
            }
            Some(AttributeIn {
                location: a.location,
                format: FormatFact::of(a.format),
                per_instance: b.divisor.is_some(),
                data: to.once(&all),
            })
        });
        Some(MeshIn {
            references: call.count as u64,
            attributes: attributes.collect(),
            indices: to.once(&words(&indices)),
            vertices: to.once(&words(&vertices)),
        })
    }
}

fn words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// The element that a vertex or instance reads.
fn element(b: &VertexBinding, n: u32, first_instance: u32) -> u64 {
    match b.divisor {
        None => n as u64,
        Some(0) => first_instance as u64,
        Some(by) => first_instance as u64 + (n.wrapping_sub(first_instance) / by) as u64,
    }
}

fn fetch(d: &Draw, b: &VertexBinding, element: u64, offset: u32, to: &mut [u8]) {
    let Some(v) = d.vertex_buffers.get(b.binding as usize) else { return };
    let Some(buffer) = &v.buffer else { return };
    let (p, room) = buffer.range(v.offset, v.size);
    let Some(from) = element.checked_mul(b.stride as u64).and_then(|at| at.checked_add(offset as u64)) else {
        return;
    };
    let within = from.checked_add(to.len() as u64).is_some_and(|end| end <= room);
    if within && resident(p.wrapping_add(from as usize)) {
        // SAFETY: in the buffer, as just checked.
        unsafe { to.as_mut_ptr().copy_from_nonoverlapping(p.add(from as usize), to.len()) };
    }
}

/// The index at a place; `None`: it is outside the buffer.
fn index(b: &IndexBuffer, at: u64) -> Option<u32> {
    let (p, room) = b.buffer.as_ref()?.range(b.offset, b.size);
    let bytes = match b.ty {
        vk::IndexType::UINT8_EXT => 1,
        vk::IndexType::UINT16 => 2,
        _ => 4,
    };
    let from = at.checked_mul(bytes).filter(|from| from + bytes <= room)?;
    let p = p.wrapping_add(from as usize);
    if !resident(p) {
        return Some(0);
    }
    let mut word = [0u8; 4];
    // SAFETY: in the buffer, as just checked.
    unsafe { word.as_mut_ptr().copy_from_nonoverlapping(p, bytes as usize) };
    Some(u32::from_le_bytes(word))
}

/// Vertices after the last stage before rasterisation, and the primitives that they make.
#[derive(Default)]
pub struct MeshOut {
    /// Vertices of a primitive.
    pub corners: usize,
    positions: Vec<[f32; 4]>,
    /// By varying: the slot ([`shader::interface`]), and a word for each vertex.
    varyings: Vec<(u16, Vec<u32>)>,
    primitives: Vec<[u32; 3]>,
    ids: Vec<u32>,
    lost: u64,
}

#[derive(Serialize)]
pub struct MeshOutFact {
    /// Which of its command's draws, and the view.
    pub draw: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<u32>,
    pub corners: usize,
    pub vertices: usize,
    pub primitives: usize,
    /// Primitives that are left out.
    pub lost: u64,
    /// Four f32 each: clip space.
    pub positions: Option<Blob>,
    /// Slot (location · 4 + component) and a word for each vertex.
    pub varyings: Vec<(u16, Option<Blob>)>,
    /// `corners` u32 each.
    pub indices: Option<Blob>,
    /// u32 each: what gl_PrimitiveID says.
    pub ids: Option<Blob>,
}

impl MeshOut {
    /// Whether there is room for more vertices; if not, so many primitives are lost.
    pub fn has_room(&mut self, vertices: usize, primitives: usize) -> bool {
        let has = self.positions.len() + vertices <= MOST;
        self.lost += if has { 0 } else { primitives as u64 };
        has
    }

    /// Appends a chunk: vertices, words of each varying, and primitives by numbers of these vertices.
    pub fn add(
        &mut self,
        positions: impl Iterator<Item = [f32; 4]>,
        varyings: impl Iterator<Item = (u16, Vec<u32>)>,
        primitives: impl Iterator<Item = ([u32; 3], u32)>,
    ) {
        let first = self.positions.len() as u32;
        self.positions.extend(positions);
        for (i, (slot, words)) in varyings.enumerate() {
            if self.varyings.len() <= i {
                self.varyings.push((slot, vec![]));
            }
            self.varyings[i].1.extend(words);
        }
        for (corners, id) in primitives {
            self.primitives.push(corners.map(|c| first + c));
            self.ids.push(id);
        }
    }

    /// `None`: there was nothing. `of`: which of its command's draws, and the view.
    fn fact_of(&self, to: &Record, (draw, view): (u32, Option<u32>)) -> Option<MeshOutFact> {
        let indices: Vec<u32> =
            self.primitives.iter().flat_map(|p| p[..self.corners.min(3)].to_vec()).collect();
        let positions: Vec<u32> = self.positions.iter().flatten().map(|v| v.to_bits()).collect();
        (!self.positions.is_empty() || self.lost > 0).then(|| MeshOutFact {
            draw,
            view,
            corners: self.corners,
            vertices: self.positions.len(),
            primitives: self.primitives.len(),
            lost: self.lost,
            positions: to.once(&words(&positions)),
            varyings: self.varyings.iter().map(|(slot, w)| (*slot, to.once(&words(w)))).collect(),
            indices: to.once(&words(&indices)),
            ids: to.once(&words(&self.ids)),
        })
    }

    pub(super) fn fact(self, to: &Record, of: (u32, Option<u32>)) -> Option<MeshOutFact> {
        self.fact_of(to, of)
    }
}

//! Reads the primitives of a build from memory. Whatever lies there is read once and checked.

use super::micromap::Indexed;
use super::run::{Failure, Memory};
use super::{Geometry, Indices, Range};
use ash::vk;
use std::sync::Mutex;
use texel::format::kernels::load_fn;
use texel::format::{FormatInfo, NumClass, info};

/// Whether acceleration structures are built of vertices of this format: any of vertex buffers whose x and y are read as floats. (The
/// specification asks for six of them, "Required Format Support".)
pub fn is_vertex_format(f: &FormatInfo) -> bool {
    let floats = !matches!(f.class, NumClass::Uint | NumClass::Sint | NumClass::Srgb);
    f.vertex() && floats && f.components().iter().filter(|c| c.channel() < 2).count() == 2
}

/// Primitives that one task reads.
const CHUNK: usize = 1 << 14;

/// What a build reads.
pub enum Inputs {
    Geometries(Vec<Primitives>),
    Instances(Vec<bvh::Instance>),
}

/// One geometry's.
pub enum Primitives {
    /// Three positions a triangle.
    Triangles(Vec<[f32; 3]>, vk::GeometryFlagsKHR, Option<Indexed>),
    Boxes(Vec<[f32; 6]>, vk::GeometryFlagsKHR),
}

impl Primitives {
    pub fn geometry(&self) -> bvh::Geometry<'_> {
        match self {
            Primitives::Triangles(positions, f, _) => {
                bvh::Geometry::Triangles { positions, flags: f.as_raw() }
            }
            Primitives::Boxes(bounds, f) => bvh::Geometry::Boxes { bounds, flags: f.as_raw() },
        }
    }
}

/// So many elements; an error if there is no memory for them.
pub(super) fn room<T: Clone>(n: usize, value: T) -> Result<Vec<T>, Failure> {
    let mut list = Vec::new();
    list.try_reserve_exact(n).map_err(|_| Failure::NoMemory)?;
    list.resize(n, value);
    Ok(list)
}

/// A list whose elements are made in parallel.
fn made<T: Copy + Send>(
    n: usize,
    pool: &dyn bvh::Pool,
    f: impl Fn(u64) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let mut list = Vec::<T>::new();
    list.try_reserve_exact(n).map_err(|_| Failure::NoMemory)?;
    let parts: Vec<Mutex<_>> =
        list.spare_capacity_mut()[..n].chunks_mut(CHUNK).enumerate().map(Mutex::new).collect();
    pool.run(parts.len(), &|i| {
        let mut part = parts[i].lock().unwrap_or_else(|e| e.into_inner());
        let (number, part) = &mut *part;
        let first = (*number * CHUNK) as u64;
        for (i, place) in part.iter_mut().enumerate() {
            place.write(f(first + i as u64));
        }
    });
    drop(parts);
    // SAFETY: all elements were written.
    unsafe { list.set_len(n) };
    Ok(list)
}

/// Reads all primitives of a build.
pub fn read(
    memory: &Memory,
    geometries: &[Geometry],
    ranges: &[Range],
    pool: &dyn bvh::Pool,
) -> Result<Inputs, Failure> {
    let mut all = vec![];
    for (g, r) in geometries.iter().zip(ranges) {
        match g {
            &Geometry::Instances { data, pointers } => {
                return Ok(Inputs::Instances(instances(memory, data, pointers, r)?));
            }
            &Geometry::Boxes { data, stride, flags } => {
                all.push(Primitives::Boxes(boxes(memory, data, stride, r, pool)?, flags));
            }
            Geometry::Triangles { flags, micromap, .. } => {
                let map = micromap.as_ref().map(|m| m.read(memory, r.count)).transpose()?;
                all.push(Primitives::Triangles(triangles(memory, g, r, pool)?, *flags, map));
            }
        }
    }
    Ok(Inputs::Geometries(all))
}

/// The bytes of a list: `n` elements of `size` bytes, `stride` apart.
pub(super) fn list(memory: &Memory, at: u64, n: u64, stride: u64, size: u64) -> Result<*const u8, Failure> {
    let Some(last) = n.checked_sub(1) else { return Ok(std::ptr::null()) };
    let bytes = last.checked_mul(stride).and_then(|b| b.checked_add(size)).ok_or(Failure::Address(at))?;
    if memory.readable(at) < bytes {
        return Err(Failure::Address(at));
    }
    Ok(at as *const u8)
}

fn boxes(
    memory: &Memory,
    data: u64,
    stride: u64,
    r: &Range,
    pool: &dyn bvh::Pool,
) -> Result<Vec<[f32; 6]>, Failure> {
    let from = Bytes(list(memory, data.wrapping_add(r.offset.into()), r.count.into(), stride, 24)?);
    made(r.count as usize, pool, |i| {
        // SAFETY: `list` has checked that all elements are there.
        unsafe { from.at(i * stride).cast::<[f32; 6]>().read_unaligned() }
    })
}

/// An address that several threads read from.
#[derive(Clone, Copy)]
struct Bytes(*const u8);

// SAFETY: an address; those who read there say why they may.
unsafe impl Sync for Bytes {}

impl Bytes {
    fn at(self, offset: u64) -> *const u8 {
        self.0.wrapping_add(offset as usize)
    }
}

fn triangles(
    memory: &Memory,
    g: &Geometry,
    r: &Range,
    pool: &dyn bvh::Pool,
) -> Result<Vec<[f32; 3]>, Failure> {
    let Geometry::Triangles { format, vertices, stride, max_vertex, indices, transform, .. } = *g else {
        return Ok(vec![]);
    };
    let format = info(format).filter(|f| is_vertex_format(f)).ok_or(Failure::Format)?;
    let matrix = match transform {
        0 => None,
        at => {
            let at = list(memory, at.wrapping_add(r.transform_offset.into()), 1, 0, 48)?;
            // SAFETY: `list` has checked that the matrix is there.
            Some(unsafe { at.cast::<[f32; 12]>().read_unaligned() })
        }
    };
    // Of a list without indices, the offset is one of vertices; of one with, of indices.
    let (index_bytes, vertex_offset) = match indices {
        Indices::None => (0, r.offset),
        Indices::At(_, vk::IndexType::UINT8_KHR) => (1, 0),
        Indices::At(_, vk::IndexType::UINT16) => (2, 0),
        Indices::At(..) => (4, 0),
    };
    let count = 3 * r.count as u64;
    let index_list = match indices {
        Indices::None => Bytes(std::ptr::null()),
        Indices::At(at, _) => {
            Bytes(list(memory, at.wrapping_add(r.offset.into()), count, index_bytes, index_bytes)?)
        }
    };
    let vertices = vertices.wrapping_add(vertex_offset.into());
    let size = format.block_bytes as u64;
    let there = memory.readable(vertices);
    let matrix = matrix.as_ref();
    // Most have such vertices, one after the other.
    let plain = format.format == vk::Format::R32G32B32_SFLOAT;
    // SAFETY: of callers: twelve bytes are there.
    let three = |at: *const u8| unsafe { at.cast::<[f32; 3]>().read_unaligned() };
    if plain && index_bytes == 0 && matrix.is_none() {
        let first = vertices.wrapping_add((r.first_vertex as u64).wrapping_mul(stride));
        if let Ok(from) = list(memory, first, count, stride, size) {
            let from = Bytes(from);
            return made(count as usize, pool, |i| three(from.at(i * stride)));
        }
    }
    let load = load_fn(format);
    let with_three = format.components().iter().any(|c| c.channel() == 2);
    // A vertex that is no memory of the device is the application's fault, and loses the device. Vertices beyond `maxVertex` that are
    // memory are harmless.
    let wild = std::sync::atomic::AtomicU64::new(0);
    let position = |i: u64| {
        let index = match index_bytes {
            0 => i,
            // SAFETY: `list` has checked that all indices are there.
            1 => unsafe { index_list.at(i).read() }.into(),
            // SAFETY: as above.
            2 => unsafe { index_list.at(2 * i).cast::<u16>().read_unaligned() }.into(),
            // SAFETY: as above.
            _ => unsafe { index_list.at(4 * i).cast::<u32>().read_unaligned() }.into(),
        };
        let index = index + r.first_vertex as u64;
        let offset =
            index.checked_mul(stride).filter(|o| o.checked_add(size).is_some_and(|end| end <= there));
        let Some(offset) = offset else {
            if index <= max_vertex.into() {
                wild.store(
                    vertices.wrapping_add(index.wrapping_mul(stride)).max(1),
                    std::sync::atomic::Ordering::Relaxed,
                );
            }
            return [f32::NAN; 3];
        };
        let at = (vertices as *const u8).wrapping_add(offset as usize);
        let p = if plain {
            three(at)
        } else {
            // SAFETY: so many bytes are there, and it is the format's loader.
            let [x, y, z, _] = unsafe { load(format, at) }.map(f32::from_bits);
            [x, y, if with_three { z } else { 0.0 }]
        };
        match matrix {
            None => p,
            // A vertex that makes its triangle inactive stays one.
            Some(_) if p[0].is_nan() => p,
            Some(m) => {
                [0, 1, 2].map(|k| m[4 * k] * p[0] + m[4 * k + 1] * p[1] + m[4 * k + 2] * p[2] + m[4 * k + 3])
            }
        }
    };
    let all = made(count as usize, pool, position)?;
    match wild.into_inner() {
        0 => Ok(all),
        at => Err(Failure::Address(at)),
    }
}

/// Bytes of a VkAccelerationStructureInstanceKHR.
pub(super) const INSTANCE_BYTES: u64 = 64;

fn instances(memory: &Memory, data: u64, pointers: bool, r: &Range) -> Result<Vec<bvh::Instance>, Failure> {
    let stride = if pointers { 8 } else { INSTANCE_BYTES };
    let from = list(memory, data.wrapping_add(r.offset.into()), r.count.into(), stride, stride)?;
    let mut all = Vec::new();
    all.try_reserve_exact(r.count as usize).map_err(|_| Failure::NoMemory)?;
    for i in 0..r.count as u64 {
        let mut at = from.wrapping_add((i * stride) as usize);
        if pointers {
            // SAFETY: `list` has checked that all pointers are there.
            let address = unsafe { at.cast::<u64>().read_unaligned() };
            at = list(memory, address, 1, 0, INSTANCE_BYTES)?;
        }
        // SAFETY: `list` has checked that the instance is there.
        let words = unsafe { at.cast::<[u32; 16]>().read_unaligned() };
        let low = words[14] as u64 | (words[15] as u64) << 32;
        let structure = memory.structure(low);
        let header = memory.bytes(structure).and_then(bvh::header);
        all.push(bvh::Instance {
            transform: std::array::from_fn(|k| f32::from_bits(words[k])),
            custom_index: words[12] & 0xFF_FFFF,
            mask: (words[12] >> 24) as u8,
            sbt_offset: words[13] & 0xFF_FFFF,
            flags: (words[13] >> 24) as u8,
            structure,
            bounds: header.map_or([f32::NAN; 6], |h| h.bounds),
            all: header.map_or(0, |h| h.all),
        });
    }
    Ok(all)
}

//! Opacity micromaps: which parts of a triangle are opaque, transparent, or for a shader to judge (VK_EXT_opacity_micromap).
//!
//! A micromap is bytes in the application's memory, as a structure is, without pointers:
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 256 | magic, number of triangles, bytes of values |
//! | triangles | 8 each, to a multiple of 128 | offset of the values (48 bits), subdivision level (8), bits of a value (8) |
//! | values | | one or two bits for each of `4^level` parts of a triangle, the lowest bits first |
//!
//! A bottom structure refers to it. The record of a geometry has the micromap's address, and word `12 + lane` of a block's third row says
//! what a triangle has: [`PLAIN`], one of the four values for all of it, or its index in the micromap plus [`FIRST`]. [`attach`]
//! writes both after a build or an update, so the builders know nothing of micromaps.
//!
//! Like a structure, a micromap is read without trust: an address without a micromap, an index beyond its end or damaged bytes
//! give [`State::UnknownOpaque`], so that shaders judge the hit.

use crate::layout::{GEOMETRY, HEADER, Header, Kind, LANES, OPAQUE, View};
use crate::{Bytes, Error, Hit, Pool, Scene, instance_flags, ray_flags};

const MAGIC: u64 = u64::from_le_bytes(*b"tuffOMM\x01");
/// Bytes of a triangle's record.
const TRIANGLE: u64 = 8;

/// The finest subdivision of a triangle.
pub const MAX_LEVEL: u32 = 12;

/// A triangle without a micromap.
pub(crate) const PLAIN: u32 = 1;
/// One value for all of a triangle: this plus the value.
const WHOLE: u32 = 2;
/// The word of a micromap's first triangle.
const FIRST: u32 = 8;

/// A value of a micromap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Transparent,
    Opaque,
    UnknownTransparent,
    UnknownOpaque,
}

impl State {
    const ALL: [State; 4] =
        [State::Transparent, State::Opaque, State::UnknownTransparent, State::UnknownOpaque];
}

/// Bits of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Two = 1,
    Four = 2,
}

impl Format {
    /// The format that Vulkan gives this number (VkOpacityMicromapFormatEXT).
    pub fn of(number: u32) -> Option<Format> {
        match number {
            1 => Some(Format::Two),
            2 => Some(Format::Four),
            _ => None,
        }
    }

    /// Bytes of a triangle's values. `None`: the level is too high.
    pub fn bytes(self, level: u32) -> Option<u64> {
        (level <= MAX_LEVEL).then(|| ((self as u64) << (2 * level)).div_ceil(8))
    }
}

/// What a micromap is built from.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub format: Format,
    pub level: u32,
    /// Where the values are.
    pub values: *const u8,
}

/// A micromap's counts, read and checked once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    at: *const u8,
    triangles: u32,
    /// Bytes of values.
    values: u64,
}

// SAFETY: the pointer is to memory that `Bytes::new` allows any thread to use.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

/// Where values begin.
fn values_at(triangles: u64) -> Option<u64> {
    HEADER.checked_add(triangles.checked_mul(TRIANGLE)?)?.checked_next_multiple_of(128)
}

/// Bytes of a micromap with so many triangles, whose values have so many bytes.
pub fn size(triangles: u64, values: u64) -> Result<u64, Error> {
    let size = values_at(triangles).and_then(|at| at.checked_add(values)?.checked_next_multiple_of(128));
    size.filter(|_| triangles <= (u32::MAX - FIRST) as u64).ok_or(Error::TooMany)
}

/// Bytes of the micromap that lies there.
pub(crate) fn extent(of: Bytes) -> Option<u64> {
    let map = Map::of(of)?;
    size(map.triangles.into(), map.values).ok()
}

/// Writes a micromap; the bytes that it has.
///
/// # Safety
/// The values of each source have as many bytes as its format and level say.
///
/// # Errors
/// A level is too high, or `to` is too small.
pub unsafe fn build(to: Bytes, sources: &[Source]) -> Result<u64, Error> {
    let values = sources.iter().try_fold(0u64, |n, s| n.checked_add(s.format.bytes(s.level)?));
    let values = values.ok_or(Error::TooMany)?;
    let size = size(sources.len() as u64, values)?;
    if size > to.len() as u64 {
        return Err(Error::TooSmall);
    }
    let mut words = [0u64; HEADER as usize / 8];
    words[..3].copy_from_slice(&[MAGIC, sources.len() as u64, values]);
    let first = values_at(sources.len() as u64).ok_or(Error::TooMany)?;
    let mut offset = 0;
    // SAFETY: all lies below `size`, as just compared; sources have their bytes by the caller's word.
    unsafe {
        to.pointer().cast::<[u64; HEADER as usize / 8]>().write(words);
        for (i, s) in sources.iter().enumerate() {
            let record = offset | (s.level as u64) << 48 | (s.format as u64) << 56;
            to.pointer().add((HEADER + i as u64 * TRIANGLE) as usize).cast::<u64>().write(record);
            let bytes = s.format.bytes(s.level).unwrap_or(0);
            std::ptr::copy(s.values, to.pointer().add((first + offset) as usize), bytes as usize);
            offset += bytes;
        }
    }
    Ok(size)
}

impl Map {
    fn of(bytes: Bytes) -> Option<Map> {
        if (bytes.len() as u64) < HEADER || bytes.pointer().is_null() {
            return None;
        }
        // SAFETY: the first bytes of the memory; read once.
        let [magic, triangles, values] = unsafe { bytes.pointer().cast::<[u64; 3]>().read_volatile() };
        if magic != MAGIC || size(triangles, values).ok()? > bytes.len() as u64 {
            return None;
        }
        Some(Map { at: bytes.pointer(), triangles: triangles as u32, values })
    }

    /// The value of a triangle at a hit's barycentrics.
    fn value(&self, triangle: u32, [u, v]: [f32; 2]) -> Option<State> {
        if triangle >= self.triangles {
            return None;
        }
        // SAFETY: one of the records, which the memory has.
        let record = unsafe {
            let at = self.at.add((HEADER + triangle as u64 * TRIANGLE) as usize);
            at.cast::<u64>().read_volatile()
        };
        let (offset, level) = (record & ((1 << 48) - 1), (record >> 48) as u32 & 0xFF);
        let format = Format::of((record >> 56) as u32)?;
        if offset.checked_add(format.bytes(level)?)? > self.values {
            return None;
        }
        let bit = index(u, v, level) as u64 * format as u64;
        let at = values_at(self.triangles.into())? + offset + bit / 8;
        // SAFETY: the index is one of `4^level`, and so many values lie in the memory.
        let byte = unsafe { self.at.add(at as usize).read_volatile() };
        let mask = (1u8 << format as u8) - 1;
        State::ALL.get((byte >> (bit % 8) & mask) as usize).copied()
    }
}

/// The number of the part in which barycentrics lie (weights of the second and third vertex). The curve goes through the part at the first
/// vertex, the middle one in reverse, the one at the second vertex, and the one at the third in reverse; and so within each
/// (Vulkan specification, "Ray Opacity Micromap").
///
/// The parts of a level are the cells of a grid of u and v, each divided by its diagonal. A cell's three coordinates `u`, `v` and `w` have a bit
/// per level; those of a level say which of the four parts, and parity of the middle parts above says in which sense.
pub(crate) fn index(u: f32, v: f32, level: u32) -> u32 {
    let side = 1u32 << level;
    let scaled = |x: f32| if x > 0.0 { x.min(1.0) * side as f32 } else { 0.0 };
    let (u, v) = (scaled(u), scaled(v));
    let (column, row) = (u as u32, v as u32);
    let beyond = (u - column as f32) + (v - row as f32) >= 1.0;
    let (mut column, row) = (column.min(side - 1), row.min(side - 1));
    let sum = column + row;
    // Rounding may put a point outside the triangle.
    if sum >= side {
        column -= sum - (side - 1);
    }
    let third = !(column + row);
    // The other half of the cell, where there is one.
    let third = if beyond && sum < side - 1 { third.wrapping_sub(1) } else { third };
    let all = side - 1;
    let low = !(column ^ third) & all;
    let turned = (column ^ row) & low;
    // Bit k: parity of the bits of `turned` from k on.
    let mut parity = turned;
    for shift in [1, 2, 4, 8] {
        parity ^= parity >> shift;
    }
    let high = (parity ^ column) & !low & all | turned;
    spread(low) | spread(high) << 1
}

/// Bit k goes to bit 2k.
fn spread(x: u32) -> u32 {
    let x = (x | x << 8) & 0x00FF_00FF;
    let x = (x | x << 4) & 0x0F0F_0F0F;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

/// The micromap of a geometry.
#[derive(Clone, Copy, Debug)]
pub struct Attached<'a> {
    /// The micromap's address; 0: there is none, and all indices are special ones.
    pub map: u64,
    /// For each triangle its index in the micromap, or -1 to -4 for one of the four values (VkOpacityMicromapSpecialIndexEXT).
    pub indices: &'a [u32],
}

/// The word that stands for an index.
fn word(index: u32) -> u32 {
    match !index {
        special @ 0..4 => WHOLE + special,
        _ => index.saturating_add(FIRST),
    }
}

/// Makes the geometries of a bottom structure refer to micromaps.
///
/// # Errors
/// The structure is none of triangles with so many geometries.
pub fn attach(structure: Bytes, of: &[Option<Attached>], pool: &dyn Pool) -> Result<(), Error> {
    const CHUNK: usize = 1 << 12;
    let (view, header) = View::of(structure).ok_or(Error::NotAStructure)?;
    if view.kind != Kind::Triangles || header.geometries as usize != of.len() {
        return Err(Error::Different);
    }
    for (i, a) in of.iter().enumerate() {
        let address = a.map_or(0, |a| a.map);
        // SAFETY: a record of a geometry, by the header's check.
        unsafe { structure.pointer().add(record_at(i as u64) as usize).cast::<u64>().write(address) };
    }
    if of.iter().any(Option::is_some) {
        // SAFETY: a structure's header.
        unsafe { Header { all: header.all & !OPAQUE, ..header }.write(structure) };
    }
    let leaves = view.leaf_count as usize;
    pool.run(leaves.div_ceil(CHUNK), &|task| {
        for leaf in task * CHUNK..((task + 1) * CHUNK).min(leaves) {
            let Some(block) = view.leaf(leaf as u32) else { continue };
            for lane in 12..12 + LANES {
                // Unused.
                if view.word(block, 2, lane) == 0 {
                    continue;
                }
                let (primitive, geometry) =
                    (view.word(block, 0, lane), view.word(block, 1, lane) & 0xFF_FFFF);
                let own = of.get(geometry as usize).copied().flatten();
                let own = own.and_then(|a| a.indices.get(primitive as usize)).map_or(PLAIN, |i| word(*i));
                // SAFETY: a word of the block; each leaf is one task's.
                unsafe { block.cast::<u32>().add(2 * 16 + lane).write(own) };
            }
        }
    });
    Ok(())
}

/// Where the record of a geometry has a micromap's address.
fn record_at(geometry: u64) -> u64 {
    HEADER + geometry * GEOMETRY + 8
}

/// The micromap that a traversal used last: of which structure and geometry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known(Option<(u64, u32, Option<Map>)>);

impl Known {
    fn map(&mut self, scene: &dyn Scene, hit: &Hit) -> Option<Map> {
        if let Some((structure, geometry, map)) = self.0
            && (structure, geometry) == (hit.structure, hit.geometry)
        {
            return map;
        }
        let find = || {
            let bytes = scene.bottom(hit.structure)?;
            let header = Header::read(bytes).filter(|h| hit.geometry < h.geometries)?;
            debug_assert!(header.kind == Kind::Triangles);
            // SAFETY: a record of a geometry, by the header's check.
            let address = unsafe {
                bytes.pointer().add(record_at(hit.geometry.into()) as usize).cast::<u64>().read_volatile()
            };
            Map::of(scene.bottom(address)?)
        };
        let map = find();
        self.0 = Some((hit.structure, hit.geometry, map));
        map
    }
}

/// Whether a hit of a triangle with a micromap is opaque before flags of instances and rays override it. `None`: there is nothing
/// to hit. `word`: the triangle's.
#[cold]
#[inline(never)]
pub(crate) fn judge(known: &mut Known, scene: &dyn Scene, word: u32, hit: &Hit, ray: u32) -> Option<bool> {
    let value = match word {
        WHOLE..FIRST => State::ALL.get((word - WHOLE) as usize).copied(),
        _ => known.map(scene, hit).and_then(|m| m.value(word.wrapping_sub(FIRST), hit.barycentrics)),
    };
    let two = hit.instance_flags & instance_flags::FORCE_MICROMAP_2_STATE != 0
        || ray & ray_flags::FORCE_MICROMAP_2_STATE != 0;
    match value.unwrap_or(State::UnknownOpaque) {
        State::Transparent => None,
        State::Opaque => Some(true),
        State::UnknownTransparent if two => None,
        State::UnknownOpaque if two => Some(true),
        _ => Some(false),
    }
}

#[cfg(test)]
#[path = "micromap_tests.rs"]
mod tests;

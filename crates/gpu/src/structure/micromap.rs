//! Opacity micromaps: builds, and what the triangles of a structure's build refer to.

use super::input::{self, Primitives};
use super::run::{Failure, Memory, Moved, failure};
use super::{AccelerationStructure, Indices};
use ash::vk;
use bvh::micromap::{self, Format, Source};
use std::sync::Arc;

/// VkMicromapBuildInfoEXT.
#[derive(Clone)]
pub struct BuildMicromap {
    pub to: Arc<AccelerationStructure>,
    pub triangles: u32,
    /// Address and stride of VkMicromapTriangleEXTs.
    pub array: u64,
    pub stride: u64,
    /// Address of the values.
    pub data: u64,
}

/// Bytes of a VkMicromapTriangleEXT.
const TRIANGLE_BYTES: u64 = 8;

impl BuildMicromap {
    pub(super) fn run(&self, memory: &Memory) -> Result<Moved, Failure> {
        let to = self.to.bytes().ok_or(Failure::Room)?;
        // Compared before memory for them is allocated: with a stride of 0 there may be any number.
        if micromap::size(self.triangles.into(), 0).map_err(failure)? > to.len() as u64 {
            return Err(Failure::Room);
        }
        let array = input::list(memory, self.array, self.triangles.into(), self.stride, TRIANGLE_BYTES)?;
        let none = Source { format: Format::Two, level: 0, values: std::ptr::null() };
        let mut sources = input::room(self.triangles as usize, none)?;
        let mut values = 0u64;
        for (i, to) in sources.iter_mut().enumerate() {
            let at = array.wrapping_add(i * self.stride as usize);
            // SAFETY: `list` has checked that the triangle is there.
            let [offset, shape] = unsafe { at.cast::<[u32; 2]>().read_unaligned() };
            let (level, format) = (shape & 0xFFFF, Format::of(shape >> 16));
            let format = format.ok_or(Failure::Micromap)?;
            let bytes = format.bytes(level).ok_or(Failure::Micromap)?;
            let at = self.data.wrapping_add(offset.into());
            *to = Source { format, level, values: input::list(memory, at, 1, 0, bytes)? };
            values += bytes;
        }
        // SAFETY: `list` has checked that all values are there.
        let written = unsafe { micromap::build(to, &sources) }.map_err(failure)?;
        Ok(Moved { read: values + self.triangles as u64 * TRIANGLE_BYTES, written })
    }
}

/// Bytes of a micromap with these triangles.
pub fn micromap_size(usages: &[vk::MicromapUsageEXT]) -> Option<u64> {
    let mut sum = (0u64, 0u64);
    for u in usages {
        let bytes = Format::of(u.format)?.bytes(u.subdivision_level)?;
        sum = (sum.0 + u.count as u64, sum.1.checked_add(bytes.checked_mul(u.count.into())?)?);
    }
    micromap::size(sum.0, sum.1).ok()
}

/// VkAccelerationStructureTrianglesOpacityMicromapEXT.
#[derive(Clone)]
pub struct Attached {
    pub map: Option<Arc<AccelerationStructure>>,
    pub indices: Indices,
    pub stride: u64,
    pub base: u32,
}

/// The micromap of a geometry, and what each triangle has of it ([`bvh::micromap::Attached`]).
pub struct Indexed {
    map: u64,
    indices: Vec<u32>,
}

impl Attached {
    /// Reads the indices of `count` triangles.
    pub(super) fn read(&self, memory: &Memory, count: u32) -> Result<Indexed, Failure> {
        let (at, bytes) = match self.indices {
            Indices::None => (std::ptr::null(), 0),
            Indices::At(at, ty) => {
                let bytes = match ty {
                    vk::IndexType::UINT8_KHR => 1,
                    vk::IndexType::UINT16 => 2,
                    _ => 4,
                };
                (input::list(memory, at, count.into(), self.stride, bytes)?, bytes)
            }
        };
        let mut indices = input::room(count as usize, 0u32)?;
        for (i, to) in indices.iter_mut().enumerate() {
            let at = at.wrapping_add(i * self.stride as usize);
            // SAFETY: `list` has checked that all indices are there.
            let (index, ones) = unsafe {
                match bytes {
                    0 => (i as u32, u32::MAX),
                    1 => (at.read() as u32, 0xFF),
                    2 => (at.cast::<u16>().read_unaligned() as u32, 0xFFFF),
                    _ => (at.cast::<u32>().read_unaligned(), u32::MAX),
                }
            };
            // The four highest numbers of the type are special.
            *to = match ones - index {
                special @ 0..4 => !special,
                // An index beyond all of them is none of the micromap's.
                _ => index.saturating_add(self.base).min(!4),
            };
        }
        Ok(Indexed { map: self.map.as_ref().map_or(0, |m| m.address()), indices })
    }
}

/// Makes a structure that was built from `list` refer to its micromaps.
pub(super) fn attach(list: &[Primitives], to: bvh::Bytes, pool: &dyn bvh::Pool) -> Result<(), Failure> {
    let all: Vec<_> = list
        .iter()
        .map(|p| match p {
            Primitives::Triangles(_, _, Some(m)) => {
                Some(micromap::Attached { map: m.map, indices: &m.indices })
            }
            _ => None,
        })
        .collect();
    if all.iter().all(Option::is_none) {
        return Ok(());
    }
    micromap::attach(to, &all, pool).map_err(failure)
}

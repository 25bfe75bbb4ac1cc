//! Commands on acceleration structures.

use crate::base::given::{Call, In, array};
use crate::device::query_pool::QueryPool;
use crate::memory::acceleration_structure as structure;
use crate::memory::micromap;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::query::StructureProperty;
use gpu::structure::{AccelerationStructure, Command as Work, Ranges};
use std::sync::Arc;

fn push(b: &CommandBuffer, work: Option<Work>) {
    if let (Some(work), Some(mut r)) = (work, b.recording()) {
        r.push(Command::Structure(Box::new(work)));
    }
}

pub(crate) fn cmd_build_acceleration_structures_khr(
    b: &CommandBuffer,
    infos: In<[vk::AccelerationStructureBuildGeometryInfoKHR]>,
    ranges: &[*const vk::AccelerationStructureBuildRangeInfoKHR],
) {
    let builds = structure::builds(infos, ranges);
    push(b, builds.ok().map(Work::Build));
}

pub(crate) fn cmd_build_acceleration_structures_indirect_khr(
    b: &CommandBuffer,
    infos: In<[vk::AccelerationStructureBuildGeometryInfoKHR]>,
    addresses: &[u64],
    strides: &[u32],
    most: &[*const u32],
) {
    let mut builds = vec![];
    for (i, ((&address, &stride), &most)) in infos.iter().zip(addresses.iter().zip(strides).zip(most)) {
        // SAFETY: valid usage: as many counts as geometries.
        let most = unsafe { array(most, i.geometry_count as usize) }.iter().copied().collect();
        let ranges = Ranges::Indirect { address, stride, most };
        match structure::build(i, ranges) {
            Ok(b) => builds.extend(b),
            Err(_) => return,
        }
    }
    push(b, Some(Work::Build(builds)));
}

pub(crate) fn cmd_copy_acceleration_structure_khr(
    b: &CommandBuffer,
    info: In<vk::CopyAccelerationStructureInfoKHR>,
) {
    push(b, structure::copy(info));
}

pub(crate) fn cmd_copy_acceleration_structure_to_memory_khr(
    b: &CommandBuffer,
    info: In<vk::CopyAccelerationStructureToMemoryInfoKHR>,
) {
    push(b, structure::serialize(info));
}

pub(crate) fn cmd_copy_memory_to_acceleration_structure_khr(
    b: &CommandBuffer,
    info: In<vk::CopyMemoryToAccelerationStructureInfoKHR>,
) {
    push(b, structure::deserialize(info));
}

pub(crate) fn cmd_write_acceleration_structures_properties_khr(
    b: &CommandBuffer,
    structures: &[vk::AccelerationStructureKHR],
    query: vk::QueryType,
    pool: vk::QueryPool,
    first: u32,
) {
    write(b, structures.iter().filter_map(|s| structure::get(b, *s)).collect(), query, pool, first);
}

fn write(
    b: &CommandBuffer,
    of: Vec<Arc<AccelerationStructure>>,
    query: vk::QueryType,
    pool: vk::QueryPool,
    first: u32,
) {
    let (Some(property), Some(pool)) = (StructureProperty::of(query), b.object::<QueryPool>(pool)) else {
        return;
    };
    push(b, Some(Work::WriteProperties { of, property, pool: pool.gpu.clone(), first }));
}

pub(crate) fn cmd_build_micromaps_ext(b: &CommandBuffer, infos: In<[vk::MicromapBuildInfoEXT]>) {
    push(b, micromap::builds(infos).ok().flatten());
}

pub(crate) fn cmd_copy_micromap_ext(b: &CommandBuffer, info: In<vk::CopyMicromapInfoEXT>) {
    push(b, micromap::copy(info));
}

pub(crate) fn cmd_copy_micromap_to_memory_ext(b: &CommandBuffer, info: In<vk::CopyMicromapToMemoryInfoEXT>) {
    push(b, micromap::serialize(info));
}

pub(crate) fn cmd_copy_memory_to_micromap_ext(b: &CommandBuffer, info: In<vk::CopyMemoryToMicromapInfoEXT>) {
    push(b, micromap::deserialize(info));
}

pub(crate) fn cmd_write_micromaps_properties_ext(
    b: &CommandBuffer,
    micromaps: &[vk::MicromapEXT],
    query: vk::QueryType,
    pool: vk::QueryPool,
    first: u32,
) {
    write(b, micromaps.iter().filter_map(|m| micromap::get(b, *m)).collect(), query, pool, first);
}

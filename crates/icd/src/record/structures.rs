//! Commands on acceleration structures.

use crate::base::chain;
use crate::base::object;
use crate::device::query_pool::QueryPool;
use crate::memory::acceleration_structure as structure;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::structure::{Command as Work, Property, Ranges};

fn push(b: &CommandBuffer, work: Option<Work>) {
    if let (Some(work), Some(mut r)) = (work, b.recording()) {
        r.push(Command::Structure(Box::new(work)));
    }
}

pub(crate) unsafe fn cmd_build_acceleration_structures_khr(
    b: &CommandBuffer,
    count: u32,
    infos: *const vk::AccelerationStructureBuildGeometryInfoKHR,
    ranges: *const *const vk::AccelerationStructureBuildRangeInfoKHR,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    let builds = unsafe { structure::builds(count, infos, ranges) };
    push(b, builds.ok().map(Work::Build));
}

pub(crate) unsafe fn cmd_build_acceleration_structures_indirect_khr(
    b: &CommandBuffer,
    count: u32,
    infos: *const vk::AccelerationStructureBuildGeometryInfoKHR,
    addresses: *const u64,
    strides: *const u32,
    most: *const *const u32,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut builds = vec![];
        for (k, i) in chain::slice(infos, count).iter().enumerate() {
            let most = chain::slice(*most.add(k), i.geometry_count).iter().copied().collect();
            let ranges = Ranges::Indirect { address: *addresses.add(k), stride: *strides.add(k), most };
            match structure::build(i, ranges) {
                Ok(b) => builds.extend(b),
                Err(_) => return,
            }
        }
        push(b, Some(Work::Build(builds)));
    }
}

pub(crate) unsafe fn cmd_copy_acceleration_structure_khr(
    b: &CommandBuffer,
    info: *const vk::CopyAccelerationStructureInfoKHR,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    push(b, unsafe { structure::copy(&*info) });
}

pub(crate) unsafe fn cmd_copy_acceleration_structure_to_memory_khr(
    b: &CommandBuffer,
    info: *const vk::CopyAccelerationStructureToMemoryInfoKHR,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    push(b, unsafe { structure::serialize(&*info) });
}

pub(crate) unsafe fn cmd_copy_memory_to_acceleration_structure_khr(
    b: &CommandBuffer,
    info: *const vk::CopyMemoryToAccelerationStructureInfoKHR,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    push(b, unsafe { structure::deserialize(&*info) });
}

pub(crate) unsafe fn cmd_write_acceleration_structures_properties_khr(
    b: &CommandBuffer,
    count: u32,
    structures: *const vk::AccelerationStructureKHR,
    query: vk::QueryType,
    pool: vk::QueryPool,
    first: u32,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let (Some(property), Some(pool)) = (Property::of(query), object::get::<QueryPool>(pool)) else {
            return;
        };
        let of = chain::slice(structures, count).iter().filter_map(|s| structure::get(*s)).collect();
        push(b, Some(Work::WriteProperties { of, property, pool: pool.gpu.clone(), first }));
    }
}
